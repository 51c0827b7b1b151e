// Breaks a wide layered layout into rows.
//
// The input has layers and positions of units in one row. The layers are partitioned into rows, and
// each row is laid out on its own. A cable between rows leaves the first one at its end and enters
// the other at its start, each at an end unit; or it continues in a lane between the rows. Units
// with a fixed edge are placed in the first row that needs them.
#include "show/panel/layers.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_END = 60 }; // approximate width of an end's name

typedef struct { // a cable that continues between rows
  uint32_t cable;
  uint32_t from, to;     // rows
  double source, target; // heights: in one row while the order is determined, then in their rows
  double lane;
  uint32_t track[2]; // tracks at the left and right
} RowLink;
typedef VEC(RowLink) RowLinks;

typedef struct {
  Arena *arena;
  const Layers *all;
  const RowRules *rules;
  Layers *row; // [row]
  uint32_t rows;
  uint32_t *of;    // [unit] its row
  uint32_t *at;    // [unit] its index in the row
  uint32_t *cable; // [row * cables + cable] its index in the row + 1; 0: absent
  bool *cut;       // [cable] it crosses rows
  LayerEnds end;
  Ids number; // [end] index of its unit in the row
  RowLinks link;
  double *y;          // [row] top
  double left, width; // left side of rows; total width
} RowMaker;

// -- selecting the row ----------------------------------------------------------------------------
typedef struct {      // of a layer
  double left, right; // extent of its units; left > right: only units with a fixed edge
  uint32_t crossing;  // number of cables cut before this layer
  double cost;        // minimal cost of rows for all layers before it,
  uint32_t first;     // and the first layer of the last of these rows
} RowCut;

// Counts cables that each cut would cross. Units with a fixed edge move with what they are
// connected to.
static void count_crossing(const RowMaker *m, RowCut *cut, uint32_t layers) {
  const Layers *l = m->all;
  for (uint32_t c = 0; c < l->cable.n; c++) {
    const Ids *pin = &l->cable.at[c].pin;
    uint32_t low = layers, high = 0;
    for (uint32_t k = 0; k < pin->n; k++) {
      const LayerUnit *u = &l->unit.at[l->pin.at[pin->at[k]].unit];
      if (!u->edge && u->layer < low) low = u->layer;
      if (!u->edge && u->layer > high) high = u->layer;
    }
    // Difference array: starts and ends.
    if (low < high) cut[low + 1].crossing++, cut[high + 1].crossing--;
  }
  for (uint32_t k = 1; k <= layers; k++) cut[k].crossing += cut[k - 1].crossing;
}

typedef struct { // the layers of a row
  double left, right;
  uint32_t wide; // number of layers with a width
} RowSpan;

static void span_extend(RowSpan *s, const RowCut *layer) {
  s->left = fmin(s->left, layer->left), s->right = fmax(s->right, layer->right);
  s->wide += layer->right > layer->left;
}

// The cost of a row: cables cut before it, then unused width.
static double row_cost(const RowCut *cut, uint32_t from, uint32_t to, const RowSpan *s,
                       double width) {
  // A row must not consist of units with a fixed edge only.
  if (!s->wide) return from ? INFINITY : 0;
  double ends = ROW_END * ((from && cut[from].crossing) + (cut[to].crossing > 0));
  double lacks = (width - (s->right - s->left) - ends) / width;
  if (lacks < 0 && s->wide > 1) return INFINITY;
  return (from ? 1 + cut[from].crossing : 0) + 0.5 * lacks * lacks;
}

// The best last row before a layer: extends it to the left as far as the width allows.
static void best_row(RowCut *cut, uint32_t to, double width) {
  RowSpan s = {INFINITY, -INFINITY, 0};
  cut[to].cost = INFINITY;
  for (uint32_t from = to; from-- && (s.wide < 2 || s.right - s.left <= width);) {
    span_extend(&s, &cut[from]);
    double cost = cut[from].cost + row_cost(cut, from, to, &s, width);
    if (cost <= cut[to].cost && cost < INFINITY) cut[to].cost = cost, cut[to].first = from;
  }
}

// Dynamic programming: rows are narrow enough, cut few cables, and are even.
static void cut_layers(RowMaker *m, double width) {
  const Layers *l = m->all;
  uint32_t layers = 0;
  for (uint32_t i = 0; i < l->unit.n; i++)
    if (l->unit.at[i].layer >= layers) layers = l->unit.at[i].layer + 1;
  RowCut *cut = NEW_ARRAY(m->arena, RowCut, layers + 1);
  uint32_t *row = NEW_ARRAY(m->arena, uint32_t, layers + 1);
  for (uint32_t i = 0; i <= layers; i++) cut[i].left = INFINITY, cut[i].right = -INFINITY;
  for (uint32_t i = 0; i < l->unit.n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    if (u->edge) continue;
    cut[u->layer].left = fmin(cut[u->layer].left, u->x);
    cut[u->layer].right = fmax(cut[u->layer].right, u->x + u->width);
  }
  count_crossing(m, cut, layers);
  for (uint32_t to = 1; to <= layers; to++) best_row(cut, to, width);
  m->rows = 1;
  for (uint32_t at = layers; at; at = cut[at].first) row[cut[at].first] = cut[at].first > 0;
  for (uint32_t i = 1; i < layers; i++) row[i] += row[i - 1], m->rows = row[i] + 1;
  for (uint32_t i = 0; i < l->unit.n; i++) m->of[i] = row[l->unit.at[i].layer];
}

// Moves units with a fixed edge to the first row that needs them, or to the row of their input.
// With lanes, helper units are placed beside their owners.
static void move_units(RowMaker *m) {
  const Layers *l = m->all;
  for (uint32_t i = 0; i < l->unit.n && m->rules->lanes; i++)
    if (!l->unit.at[i].edge && l->unit.at[i].owner) m->of[i] = m->of[l->unit.at[i].owner - 1];
  for (uint32_t i = 0; i < l->unit.n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    bool last = u->edge == EDGE_LAST;
    const Ids *pin = &u->side[!last];
    uint32_t row = m->rows;
    if (!u->edge) continue;
    const Ids *other = pin->n ? &l->cable.at[l->pin.at[pin->at[0]].cable].pin : pin;
    for (uint32_t k = 0; k < other->n; k++) {
      const LayerPin *p = &l->pin.at[other->at[k]];
      if (l->unit.at[p->unit].edge || p->right != last) continue;
      if (row == m->rows || (last ? m->of[p->unit] > row : m->of[p->unit] < row))
        row = m->of[p->unit];
    }
    m->of[i] = row < m->rows ? row : last && !pin->n ? m->rows - 1 : 0;
  }
}

// -- the rows as layouts --------------------------------------------------------------------------
static uint32_t *cable_in_row(const RowMaker *m, uint32_t row, uint32_t cable) {
  return &m->cable[(size_t)row * m->all->cable.n + cable];
}

static uint32_t cable_in(RowMaker *m, uint32_t row, uint32_t cable) {
  uint32_t *at = cable_in_row(m, row, cable);
  const LayerCable *like = &m->all->cable.at[cable];
  if (!*at)
    *at = 1 + layers_cable(&m->row[row], (LayerCable){.peer = like->peer, .below = like->below});
  return *at - 1;
}

static void add_units(RowMaker *m) {
  const Layers *l = m->all;
  for (uint32_t i = 0; i < l->unit.n; i++) {
    LayerUnit u = l->unit.at[i];
    u.side[0] = u.side[1] = (Ids){0}, u.owner = 0;
    m->at[i] = layers_unit(&m->row[m->of[i]], u);
  }
  for (uint32_t i = 0; i < l->unit.n; i++) { // the unit that it helps, if it is in the same row
    uint32_t owner = l->unit.at[i].owner;
    if (owner && m->of[owner - 1] == m->of[i])
      m->row[m->of[i]].unit.at[m->at[i]].owner = m->at[owner - 1] + 1;
  }
  for (uint32_t i = 0; i < l->unit.n; i++)
    for (int right = 0; right < 2; right++) {
      const Ids *side = &l->unit.at[i].side[right];
      for (uint32_t k = 0; k < side->n; k++) {
        const LayerPin *p = &l->pin.at[side->at[k]];
        Layers *row = &m->row[m->of[i]];
        uint32_t cable = cable_in(m, m->of[i], p->cable);
        uint32_t pin = layers_pin(row, m->at[i], cable, right, p->y);
        row->pin.at[pin].weak = p->weak;
      }
    }
}

static uint32_t group_of(const RowMaker *m, uint32_t cable) {
  uint32_t group = m->all->cable.at[cable].group;
  return group ? group - 1 : cable;
}

// Cables of a group share one end per row.
static void add_end(RowMaker *m, uint32_t row, uint32_t cable, bool leaves) {
  uint32_t i = 0, group = group_of(m, cable);
  for (; i < m->end.n; i++) {
    const LayerEnd *e = &m->end.at[i];
    if (e->row == row && e->leaves == leaves && group_of(m, e->cable.at[0]) == group) break;
  }
  if (i == m->end.n) {
    LayerEnd end = {.row = row, .leaves = leaves};
    vec_push(m->arena, &end.cable, cable);
    m->rules->measure(m->rules->context, m->cut, &end);
    end.unit.edge = leaves ? EDGE_LAST : EDGE_FIRST;
    end.unit.right = end.unit.width;
    vec_push(m->arena, &m->number, layers_unit(&m->row[row], end.unit));
    vec_push(m->arena, &m->end, end);
  } else
    vec_push(m->arena, &m->end.at[i].cable, cable);
  layers_pin(&m->row[row], m->number.at[i], cable_in(m, row, cable), !leaves, m->end.at[i].pin);
}

// The last unit on one side of a cable. NULL: none
static const LayerPin *last_pin(const RowMaker *m, uint32_t cable, bool right) {
  const Ids *ids = &m->all->cable.at[cable].pin;
  for (uint32_t k = ids->n; k-- > 0;)
    if (m->all->pin.at[ids->at[k]].right == right) return &m->all->pin.at[ids->at[k]];
  return NULL;
}

static void add_ends(RowMaker *m) {
  uint32_t n = m->all->cable.n;
  for (uint32_t c = 0; c < n; c++) {
    const LayerPin *from = last_pin(m, c, true);
    for (uint32_t r = 0; from && r < m->rows; r++)
      m->cut[c] |= r != m->of[from->unit] && *cable_in_row(m, r, c);
  }
  for (uint32_t c = 0; c < n; c++) {
    if (!m->cut[c]) continue;
    uint32_t source = m->of[last_pin(m, c, true)->unit];
    for (uint32_t r = 0; r < m->rows; r++)
      if (r != source && *cable_in_row(m, r, c)) add_end(m, r, c, false);
    add_end(m, source, c, true);
  }
}

// -- cables that run on between rows --------------------------------------------------------------
static void find_links(RowMaker *m) {
  const Layers *l = m->all;
  for (uint32_t c = 0; c < l->cable.n; c++) {
    const LayerPin *from = last_pin(m, c, true), *to = last_pin(m, c, false);
    if (!from || !to || m->of[from->unit] == m->of[to->unit]) continue;
    RowLink k = {.cable = c, .from = m->of[from->unit], .to = m->of[to->unit]};
    k.source = l->unit.at[from->unit].y + from->y, k.target = l->unit.at[to->unit].y + to->y;
    vec_push(m->arena, &m->link, k);
  }
}

static int by_source(const void *a, const void *b) {
  const RowLink *x = a, *y = b;
  if (x->source != y->source) return x->source < y->source ? -1 : 1;
  return x->cable < y->cable ? -1 : x->cable > y->cable;
}

static int by_target(const void *a, const void *b) {
  const RowLink *x = a, *y = b;
  if (x->target != y->target) return x->target < y->target ? -1 : 1;
  return x->cable < y->cable ? -1 : x->cable > y->cable;
}

// Ends are ordered by their sources and targets.
static void add_links(RowMaker *m) {
  find_links(m);
  for (int enters = 0; enters < 2; enters++) {
    if (m->link.n) qsort(m->link.at, m->link.n, sizeof *m->link.at, enters ? by_target : by_source);
    for (uint32_t i = 0; i < m->link.n; i++) {
      const RowLink *k = &m->link.at[i];
      add_end(m, enters ? k->to : k->from, k->cable, !enters);
    }
  }
}

// The row above its lane: upward cables use the lane above their row.
static uint32_t gap_of(const RowLink *k) { return k->from < k->to ? k->from : k->from - 1; }

static uint32_t lanes_below(const RowLinks *all, uint32_t row) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->n; i++) n += gap_of(&all->at[i]) == row;
  return n;
}

// Downward cables are above upward ones; among each, the lowest source comes first.
static bool lane_before(const RowLink *a, const RowLink *b) {
  bool up = a->from > a->to;
  if (up != (b->from > b->to)) return !up;
  return a->source != b->source ? a->source > b->source : a->cable < b->cable;
}

static void place_lanes(RowMaker *m) {
  for (uint32_t i = 0; i < m->link.n; i++) {
    RowLink *k = &m->link.at[i];
    uint32_t before = 0;
    for (uint32_t j = 0; j < m->link.n; j++)
      before += gap_of(&m->link.at[j]) == gap_of(k) && lane_before(&m->link.at[j], k);
    k->lane = m->y[gap_of(k)] + m->row[gap_of(k)].height + LANE * (before + 0.5);
  }
}

typedef struct {
  double low, high;
  RowLink *of;
} TrackSpan;

static int by_span(const void *a, const void *b) {
  const TrackSpan *x = a, *y = b;
  double p = x->high - x->low, q = y->high - y->low;
  if (p != q) return p < q ? -1 : 1;
  return x->of->cable < y->of->cable ? -1 : x->of->cable > y->of->cable;
}

// Beside the rows, cables run in vertical tracks, shorter ones inside: cables with the same order
// at both ends do not cross.
static void place_tracks(RowMaker *m, bool right) {
  uint32_t n = m->link.n;
  TrackSpan *span = NEW_ARRAY(m->arena, TrackSpan, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    RowLink *k = &m->link.at[i];
    double y = right ? k->source : k->target;
    span[i] = (TrackSpan){fmin(y, k->lane), fmax(y, k->lane), k};
  }
  qsort(span, n, sizeof *span, by_span);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t track = 0;
    for (uint32_t j = 0; j < i; j++)
      if (span[j].low < span[i].high + LANE && span[i].low < span[j].high + LANE &&
          span[j].of->track[right] >= track)
        track = span[j].of->track[right] + 1;
    span[i].of->track[right] = track;
  }
}

// -- put together ---------------------------------------------------------------------------------
static const LayerUnit *end_unit(const RowMaker *m, const RowLink *k, bool leaves) {
  for (uint32_t i = 0; i < m->end.n; i++)
    if (m->end.at[i].leaves == leaves && m->end.at[i].cable.at[0] == k->cable)
      return &m->row[m->end.at[i].row].unit.at[m->number.at[i]];
  return NULL;
}

// Positions of rows and of their ends. Tracks are on both sides.
static double place_rows(RowMaker *m) {
  double y = 0;
  for (uint32_t r = 0; r < m->rows; r++) {
    m->y[r] = y, m->width = fmax(m->width, m->row[r].width);
    y += m->row[r].height;
    if (r + 1 < m->rows) y += m->rules->gap + LANE * lanes_below(&m->link, r);
  }
  for (uint32_t i = 0; i < m->link.n; i++) {
    RowLink *k = &m->link.at[i];
    k->source = m->y[k->from] + end_unit(m, k, true)->y + m->end.at[0].pin;
    k->target = m->y[k->to] + end_unit(m, k, false)->y + m->end.at[0].pin;
  }
  place_lanes(m);
  for (int right = 0; right < 2; right++) place_tracks(m, right);
  for (uint32_t i = 0; i < m->link.n; i++) {
    const RowLink *k = &m->link.at[i];
    m->left = fmax(m->left, LANE * (k->track[0] + 1.5));
    m->width = fmax(m->width, m->row[k->from].width + LANE * (k->track[1] + 1.5));
  }
  m->width += m->left;
  return y;
}

// Translates a point; points on the row's frame are moved to the common frame.
static Knee point_in_whole(const RowMaker *m, uint32_t row, Knee at) {
  at.y += m->y[row];
  if (m->rules->framed && fabs(at.x - m->row[row].width) < 0.01)
    at.x = m->width;
  else if (!m->rules->framed || at.x > 0.01)
    at.x += m->left;
  return at;
}

static void add_way(const RowMaker *m, uint32_t row, const CableWay *from, CableWay *to) {
  Arena *out = m->all->out;
  for (uint32_t i = 0; i < from->line.n; i++)
    vec_push(out, &to->line,
             ((CableLine){from->line.at[i].first + to->spot.n, from->line.at[i].n}));
  for (uint32_t i = 0; i < from->spot.n; i++)
    vec_push(out, &to->spot, point_in_whole(m, row, from->spot.at[i]));
  for (uint32_t i = 0; i < from->dot.n; i++)
    vec_push(out, &to->dot, point_in_whole(m, row, from->dot.at[i]));
  for (uint32_t i = 0; i < from->back.n; i++)
    vec_push(out, &to->back, point_in_whole(m, row, from->back.at[i]));
}

// A cable turns as soon as possible after leaving a row.
static void add_link_way(const RowMaker *m, const RowLink *k, CableWay *to) {
  const LayerUnit *from = end_unit(m, k, true), *end = end_unit(m, k, false);
  double right = m->left + m->row[k->from].width + 6 + LANE * k->track[1];
  double left = m->left - LANE / 2.0 - LANE * k->track[0];
  const Knee way[] = {{m->left + from->x, k->source},
                      {right, k->source},
                      {right, k->lane},
                      {left, k->lane},
                      {left, k->target},
                      {m->left + end->x + end->width, k->target}};
  vec_push(m->all->out, &to->line, ((CableLine){to->spot.n, COUNT(way)}));
  for (uint32_t i = 0; i < COUNT(way); i++) vec_push(m->all->out, &to->spot, way[i]);
  vec_push(m->all->out, &to->back, ((Knee){(left + right) / 2, k->lane}));
}

static void place_unit(const RowMaker *m, uint32_t row, const LayerUnit *from, bool end,
                       LayerUnit *to) {
  bool edge = m->rules->framed && !end;
  to->x = from->x + (edge && from->edge == EDGE_LAST    ? m->width - m->row[row].width
                     : edge && from->edge == EDGE_FIRST ? 0
                                                        : m->left);
  to->y = from->y + m->y[row], to->height = from->height;
}

// Combines the rows into one layout, top to bottom.
static void stack_rows(const RowMaker *m, double height, Layers *l, LayerEnds *ends) {
  l->width = m->width, l->height = height;
  for (uint32_t i = 0; i < l->unit.n; i++)
    place_unit(m, m->of[i], &m->row[m->of[i]].unit.at[m->at[i]], false, &l->unit.at[i]);
  for (uint32_t c = 0; c < l->cable.n; c++)
    for (uint32_t r = 0; r < m->rows; r++)
      if (*cable_in_row(m, r, c))
        add_way(m, r, &m->row[r].cable.at[*cable_in_row(m, r, c) - 1].way, &l->cable.at[c].way);
  for (uint32_t i = 0; i < m->link.n; i++)
    add_link_way(m, &m->link.at[i], &l->cable.at[m->link.at[i].cable].way);
  for (uint32_t i = 0; i < m->end.n; i++) {
    LayerEnd e = m->end.at[i];
    place_unit(m, e.row, &m->row[e.row].unit.at[m->number.at[i]], true, &e.unit);
    vec_push(l->out, ends, e);
  }
}

// Makes rows with layers of this width; false: impossible.
static bool make_rows(RowMaker *m, double width) {
  const Layers *l = m->all;
  m->of = NEW_ARRAY(m->arena, uint32_t, l->unit.n + 1);
  m->at = NEW_ARRAY(m->arena, uint32_t, l->unit.n + 1);
  cut_layers(m, width);
  if (m->rows < 2) return false;
  move_units(m);
  m->y = NEW_ARRAY(m->arena, double, m->rows);
  m->row = NEW_ARRAY(m->arena, Layers, m->rows);
  m->cable = NEW_ARRAY(m->arena, uint32_t, (size_t)m->rows * l->cable.n + 1);
  m->cut = NEW_ARRAY(m->arena, bool, l->cable.n + 1);
  for (uint32_t r = 0; r < m->rows; r++)
    m->row[r] = (Layers){.arena = m->arena,
                         .out = m->arena,
                         .rules = l->rules,
                         .framed = l->framed,
                         .title = r ? 0 : l->title};
  add_units(m);
  (m->rules->lanes ? add_links : add_ends)(m);
  for (uint32_t r = 0; r < m->rows; r++)
    layers_rank(&m->row[r]), layers_order(&m->row[r]), layers_place(&m->row[r]);
  return true;
}

// The width of a row including its ends is known after its layout: retries with less space until
// everything fits.
LayerEnds layers_rows(Layers *l, const RowRules *rules, double width) {
  enum { TRIES = 12 };
  RowMaker best = {.width = l->width};
  LayerEnds ends = {0};
  double height = 0;
  for (uint32_t i = 0; i < TRIES && best.width > width; i++) {
    RowMaker m = {.arena = l->arena, .all = l, .rules = rules};
    if (!make_rows(&m, width * (1.1 - 0.06 * i))) continue;
    double high = place_rows(&m);
    if (m.width < best.width) best = m, height = high;
  }
  if (best.rows) stack_rows(&best, height, l, &ends);
  return ends;
}
