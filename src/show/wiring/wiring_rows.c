// A wide panel in rows.
//
// Its layers are cut into rows that are narrow enough, and each row is laid out by itself. A cable
// that goes from one row to another leaves the first at its end and enters the other at its
// beginning, with the same name at both; between rows of modes it has no name but a line. Ports stand
// in the first row that they have to do with.
#include "show/wiring/wiring_own.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_END = 60 }; // about what a name at an end of a row takes

typedef struct {
  Arena *arena;
  const Panel *p;
  Panel *row; // [row]
  uint32_t rows;
  uint32_t *of;    // [unit] its row
  uint32_t *at;    // [unit] its number in the row
  uint32_t *cable; // [row * cables + cable] its number there + 1; 0: it is not there
  bool *cut;       // [cable] it goes from one row to another
  RowLinks link;   // of modes
  double *y;       // [row] its top in the panel
} RowMaker;

// -- which row ------------------------------------------------------------------------------------
static bool is_port(const Unit *u) { return u->kind == UNIT_IN || u->kind == UNIT_OUT; }

typedef struct {      // of a layer
  double left, right; // of its units; left > right: there are only ports
  uint32_t crossing;  // cables that a cut before it cuts
  double cost;        // of the best rows for all layers before it,
  uint32_t first;     // of which the last one begins here
} RowCut;

// Cables from units before a layer to others there or behind it. Ports go with what needs them.
static void count_crossing(const RowMaker *m, RowCut *cut, uint32_t layers) {
  const Panel *p = m->p;
  uint32_t *low = NEW_ARRAY(m->arena, uint32_t, p->cable.n + 1),
           *high = NEW_ARRAY(m->arena, uint32_t, p->cable.n + 1);
  for (uint32_t i = 0; i < p->cable.n; i++) low[i] = layers;
  for (uint32_t i = 0; i < p->unit.n; i++)
    for (int right = 0; right < 2 && !is_port(&p->unit.at[i]); right++) {
      const Pins *pins = right ? &p->unit.at[i].out : &p->unit.at[i].in;
      uint32_t layer = p->unit.at[i].layer;
      for (uint32_t k = 0; k < pins->n; k++) {
        uint32_t c = pins->at[k].cable;
        if (c && layer < low[c - 1]) low[c - 1] = layer;
        if (c && layer > high[c - 1]) high[c - 1] = layer;
      }
    }
  for (uint32_t c = 0; c < p->cable.n; c++) // where one begins and ends to be crossed
    if (low[c] < high[c]) cut[low[c] + 1].crossing++, cut[high[c] + 1].crossing--;
  for (uint32_t k = 1; k <= layers; k++) cut[k].crossing += cut[k - 1].crossing;
}

typedef struct { // layers of a row
  double left, right;
  uint32_t wide; // those that have a width
} RowSpan;

static void span_take(RowSpan *s, const RowCut *layer) {
  s->left = fmin(s->left, layer->left), s->right = fmax(s->right, layer->right);
  s->wide += layer->right > layer->left;
}

// What a row of these layers costs: those that it cuts off before it, then what it lacks.
static double row_cost(const RowCut *cut, uint32_t from, uint32_t to, const RowSpan *s,
                       double width) {
  if (!s->wide) return from ? INFINITY : 0; // no row of ports
  double ends = ROW_END * ((from && cut[from].crossing) + (cut[to].crossing > 0));
  double lacks = (width - (s->right - s->left) - ends) / width;
  if (lacks < 0 && s->wide > 1) return INFINITY;
  return (from ? 1 + cut[from].crossing : 0) + 0.5 * lacks * lacks;
}

// The best last row of those before a layer: it grows to the left, as long as it may be so wide.
static void best_row(RowCut *cut, uint32_t to, double width) {
  RowSpan s = {INFINITY, -INFINITY, 0};
  cut[to].cost = INFINITY;
  for (uint32_t from = to; from-- && (s.wide < 2 || s.right - s.left <= width);) {
    span_take(&s, &cut[from]);
    double cost = cut[from].cost + row_cost(cut, from, to, &s, width);
    if (cost <= cut[to].cost && cost < INFINITY) cut[to].cost = cost, cut[to].first = from;
  }
}

// Units of a layer stay together. Cuts are chosen together: rows are narrow enough, and cut few
// cables; then they are even.
static void cut_layers(RowMaker *m, double width) {
  const Panel *p = m->p;
  uint32_t layers = 0;
  for (uint32_t i = 0; i < p->unit.n; i++)
    if (p->unit.at[i].layer >= layers) layers = p->unit.at[i].layer + 1;
  RowCut *cut = NEW_ARRAY(m->arena, RowCut, layers + 1);
  uint32_t *row = NEW_ARRAY(m->arena, uint32_t, layers + 1);
  for (uint32_t i = 0; i <= layers; i++) cut[i].left = INFINITY, cut[i].right = -INFINITY;
  for (uint32_t i = 0; i < p->unit.n; i++) {
    const Unit *u = &p->unit.at[i];
    if (is_port(u)) continue;
    cut[u->layer].left = fmin(cut[u->layer].left, u->x);
    cut[u->layer].right = fmax(cut[u->layer].right, u->x + u->width);
  }
  count_crossing(m, cut, layers);
  for (uint32_t to = 1; to <= layers; to++) best_row(cut, to, width);
  m->rows = 1;
  for (uint32_t at = layers; at; at = cut[at].first) row[cut[at].first] = cut[at].first > 0;
  for (uint32_t i = 1; i < layers; i++) row[i] += row[i - 1], m->rows = row[i] + 1;
  for (uint32_t i = 0; i < p->unit.n; i++) m->of[i] = row[p->unit.at[i].layer];
}

// Ports go where they are needed first.
static void move_ports(RowMaker *m) {
  const Panel *p = m->p;
  uint32_t *first = NEW_ARRAY(m->arena, uint32_t, p->cable.n + 1),
           *source = NEW_ARRAY(m->arena, uint32_t, p->cable.n + 1);
  for (uint32_t i = 0; i < p->cable.n; i++) first[i] = m->rows;
  for (uint32_t i = 0; i < p->unit.n; i++) {
    const Unit *u = &p->unit.at[i];
    for (uint32_t k = 0; k < u->out.n && !is_port(u); k++)
      if (u->out.at[k].cable) source[u->out.at[k].cable - 1] = m->of[i];
    for (uint32_t k = 0; k < u->in.n && !is_port(u); k++)
      if (u->in.at[k].cable && m->of[i] < first[u->in.at[k].cable - 1])
        first[u->in.at[k].cable - 1] = m->of[i];
  }
  for (uint32_t i = 0; i < p->unit.n; i++) {
    const Unit *u = &p->unit.at[i];
    uint32_t in = u->kind == UNIT_IN ? u->out.at[0].cable : 0,
             out = u->kind == UNIT_OUT ? u->in.at[0].cable : 0;
    if (u->kind == UNIT_IN) m->of[i] = in && first[in - 1] < m->rows ? first[in - 1] : 0;
    if (u->kind == UNIT_OUT) m->of[i] = out ? source[out - 1] : m->rows - 1;
  }
}

// The dot from which modes start and the conditions of arrows stand beside the mode that they lead to.
static void move_helpers(RowMaker *m) {
  for (uint32_t i = 0; i < m->p->unit.n; i++)
    if (!is_port(&m->p->unit.at[i])) m->of[i] = m->of[m->p->unit.at[i].owner];
}

// -- the rows as panels ---------------------------------------------------------------------------
static void add_units(RowMaker *m) {
  for (uint32_t i = 0; i < m->p->unit.n; i++) {
    Panel *row = &m->row[m->of[i]];
    Unit u = m->p->unit.at[i];
    u.in.at = arena_copy(m->arena, u.in.at, u.in.n * sizeof(Pin));
    u.out.at = arena_copy(m->arena, u.out.at, u.out.n * sizeof(Pin));
    for (uint32_t k = 0; k < u.in.n; k++) u.in.at[k].cable = 0;
    for (uint32_t k = 0; k < u.out.n; k++) u.out.at[k].cable = 0;
    m->at[i] = row->unit.n;
    vec_push(m->arena, &row->unit, u);
  }
  for (uint32_t i = 0; i < m->p->unit.n; i++) { // what it belongs to, where that is in the same row
    uint32_t owner = m->p->unit.at[i].owner;
    m->row[m->of[i]].unit.at[m->at[i]].owner = m->of[owner] == m->of[i] ? m->at[owner] : m->at[i];
  }
}

static uint32_t *there(const RowMaker *m, uint32_t row, uint32_t cable) {
  return &m->cable[(size_t)row * m->p->cable.n + cable];
}

static uint32_t cable_in(RowMaker *m, uint32_t row, uint32_t cable) {
  uint32_t *at = there(m, row, cable);
  if (*at) return *at - 1;
  vec_push(m->arena, &m->row[row].cable, m->p->cable.at[cable]);
  *at = m->row[row].cable.n;
  return *at - 1;
}

// What a cable is called where it is cut; the second of a name has a number.
static const char *cut_name(const RowMaker *m, uint32_t cable) {
  const char *name = m->p->cable.at[cable].label;
  uint32_t same = 1;
  if (!name) return arena_format(m->arena, "%u", cable + 1);
  for (uint32_t i = 0; i < cable; i++) {
    const char *other = m->p->cable.at[i].label;
    same += m->cut[i] && other && !strcmp(other, name);
  }
  return same > 1 ? arena_format(m->arena, "%s (%u)", name, same) : name;
}

// Its unit in the row
static uint32_t add_end(RowMaker *m, uint32_t row, uint32_t cable, bool leaves) {
  Unit u = {.kind = leaves ? UNIT_LEAVES : UNIT_ENTERS, .owner = m->row[row].unit.n};
  if (!m->p->graph) {
    u.text = text_cut(m->arena, FACE_ITALIC, PORT_SIZE, cut_name(m, cable), 120);
    u.words =
        arena_format(m->arena, "%s %s another row", u.text, leaves ? "goes to" : "comes from");
  }
  vec_push(m->arena, leaves ? &u.in : &u.out, (Pin){0});
  uint32_t here = cable_in(m, row, cable);
  vec_push(m->arena, &m->row[row].unit, u);
  panel_tie(&m->row[row], here, m->row[row].unit.n - 1, 0, !leaves);
  return m->row[row].unit.n - 1;
}

static void tie_units(RowMaker *m) {
  for (uint32_t i = 0; i < m->p->unit.n; i++) {
    const Unit *u = &m->p->unit.at[i];
    for (int right = 0; right < 2; right++) {
      const Pins *pins = right ? &u->out : &u->in;
      for (uint32_t k = 0; k < pins->n; k++) {
        if (!pins->at[k].cable) continue;
        uint32_t cable = cable_in(m, m->of[i], pins->at[k].cable - 1);
        panel_tie(&m->row[m->of[i]], cable, m->at[i], k, right);
      }
    }
  }
}

static void tie_rows(RowMaker *m) {
  uint32_t n = m->p->cable.n;
  uint32_t *source = NEW_ARRAY(m->arena, uint32_t, n + 1); // its row + 1
  for (uint32_t i = 0; i < m->p->unit.n; i++)
    for (uint32_t k = 0; k < m->p->unit.at[i].out.n; k++)
      if (m->p->unit.at[i].out.at[k].cable)
        source[m->p->unit.at[i].out.at[k].cable - 1] = m->of[i] + 1;
  m->cut = NEW_ARRAY(m->arena, bool, n + 1);
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t r = 0; source[c] && r < m->rows; r++)
      m->cut[c] |= r != source[c] - 1 && *there(m, r, c);
  for (uint32_t c = 0; c < n; c++) {
    if (!m->cut[c]) continue;
    for (uint32_t r = 0; r < m->rows; r++)
      if (r != source[c] - 1 && *there(m, r, c)) add_end(m, r, c, false);
    add_end(m, source[c] - 1, c, true);
  }
}

// -- arrows between rows of modes ------------------------------------------------------------------
static void find_links(RowMaker *m) {
  RowLink *all = NEW_ARRAY(m->arena, RowLink, m->p->cable.n + 1);
  bool *ends = NEW_ARRAY(m->arena, bool, m->p->cable.n + 1);
  for (uint32_t i = 0; i < m->p->unit.n; i++) {
    const Unit *u = &m->p->unit.at[i];
    for (uint32_t k = 0; k < u->out.n; k++)
      if (u->out.at[k].cable) {
        RowLink *link = &all[u->out.at[k].cable - 1];
        link->from = m->of[i], link->source = u->y + u->out.at[k].y;
      }
    for (uint32_t k = 0; k < u->in.n; k++)
      if (u->in.at[k].cable) {
        RowLink *link = &all[u->in.at[k].cable - 1];
        link->to = m->of[i], link->target = u->y + u->in.at[k].y;
        ends[u->in.at[k].cable - 1] = true;
      }
  }
  for (uint32_t c = 0; c < m->p->cable.n; c++) {
    all[c].cable = c;
    if (ends[c] && all[c].from != all[c].to) vec_push(m->arena, &m->link, all[c]);
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

// At both ends they stand in the order of what they come from and lead to.
static void tie_links(RowMaker *m) {
  find_links(m);
  for (int enters = 0; enters < 2; enters++) {
    if (m->link.n) qsort(m->link.at, m->link.n, sizeof *m->link.at, enters ? by_target : by_source);
    for (uint32_t i = 0; i < m->link.n; i++) {
      RowLink *k = &m->link.at[i];
      if (enters)
        k->enters = add_end(m, k->to, k->cable, false);
      else
        k->leaves = add_end(m, k->from, k->cable, true);
    }
  }
}

// -- put together ---------------------------------------------------------------------------------
typedef struct {
  double left, width; // where rows begin; of the panel
} RowFrame;

// Down by y, and to the right; what touched an edge of its row goes on to that of the panel.
static void move_way(CableWay *way, double y, double row_width, const RowFrame *f) {
  for (uint32_t i = 0; i < way->spot.n; i++) {
    Knee *at = &way->spot.at[i];
    at->y += y;
    if (fabs(at->x - row_width) < 0.01)
      at->x = f->width;
    else if (at->x > 0.01)
      at->x += f->left;
  }
  for (uint32_t i = 0; i < way->dot.n; i++) way->dot.at[i].x += f->left, way->dot.at[i].y += y;
  for (uint32_t i = 0; i < way->back.n; i++) way->back.at[i].x += f->left, way->back.at[i].y += y;
}

static void place_unit(RowMaker *m, Panel *p, uint32_t r, uint32_t unit, const RowFrame *f) {
  uint32_t cables = 0;
  for (uint32_t i = 0; i < r; i++) cables += m->row[i].cable.n;
  Unit u = m->row[r].unit.at[unit];
  u.y += m->y[r];
  if (u.kind != UNIT_IN) u.x += u.kind == UNIT_OUT ? f->width - m->row[r].width : f->left;
  for (uint32_t k = 0; k < u.in.n; k++) u.in.at[k].cable += u.in.at[k].cable ? cables : 0;
  for (uint32_t k = 0; k < u.out.n; k++) u.out.at[k].cable += u.out.at[k].cable ? cables : 0;
  vec_push(m->arena, &p->unit, u);
}

// Where rows are, and what leaves and enters them there
static void place_rows(RowMaker *m, Panel *p) {
  double *end = NEW_ARRAY(m->arena, double, m->rows), y = 0;
  for (uint32_t r = 0; r < m->rows; r++) {
    m->y[r] = y, end[r] = y + m->row[r].height;
    y = end[r] + (r + 1 < m->rows ? ROWS_GAP + LANE * lanes_below(&m->link, r) : 0);
  }
  p->height = y;
  for (uint32_t i = 0; i < m->link.n; i++) {
    RowLink *k = &m->link.at[i];
    const Unit *from = &m->row[k->from].unit.at[k->leaves], *to = &m->row[k->to].unit.at[k->enters];
    k->source = m->y[k->from] + from->y + from->in.at[0].y;
    k->target = m->y[k->to] + to->y + to->out.at[0].y;
  }
  links_place(m->arena, &m->link, end);
}

// Tracks of arrows are at both sides of the rows.
static RowFrame frame_rows(const RowMaker *m) {
  double left = 0, width = 0;
  for (uint32_t r = 0; r < m->rows; r++) width = fmax(width, m->row[r].width);
  for (uint32_t i = 0; i < m->link.n; i++) {
    const RowLink *k = &m->link.at[i];
    left = fmax(left, LANE * (k->track[0] + 1.5));
    width = fmax(width, m->row[k->from].width + LANE * (k->track[1] + 1.5));
  }
  return (RowFrame){left, left + width};
}

// What leaves a row turns as soon as it can.
static void add_links(RowMaker *m, Panel *p, const RowFrame *f) {
  for (uint32_t i = 0; i < m->link.n; i++) {
    const RowLink *k = &m->link.at[i];
    const Unit *from = &m->row[k->from].unit.at[k->leaves], *to = &m->row[k->to].unit.at[k->enters];
    const double x[2] = {f->left + from->x, f->left + to->x + to->width};
    const double side[2] = {f->left - LANE / 2.0, f->left + m->row[k->from].width + 6};
    vec_push(m->arena, &p->cable, link_cable(m->arena, k, &m->p->cable.at[k->cable], x, side));
  }
}

// All rows in the one panel, one below the other. Ports that are seen from outside keep
// their order.
static void stack_rows(RowMaker *m, Panel *p) {
  place_rows(m, p);
  RowFrame f = frame_rows(m);
  p->width = f.width;
  bool inner = m->p->graph || m->p->depth;
  for (uint32_t i = 0; inner && i < m->p->unit.n; i++) place_unit(m, p, m->of[i], m->at[i], &f);
  for (uint32_t r = 0; r < m->rows; r++) {
    for (uint32_t i = 0; i < m->row[r].unit.n; i++) {
      const Unit *u = &m->row[r].unit.at[i];
      bool end = u->kind == UNIT_LEAVES || u->kind == UNIT_ENTERS;
      if (!inner || (end && !m->p->graph)) place_unit(m, p, r, i, &f);
    }
    for (uint32_t i = 0; i < m->row[r].cable.n; i++) {
      move_way(&m->row[r].cable.at[i].way, m->y[r], m->row[r].width, &f);
      vec_push(m->arena, &p->cable, m->row[r].cable.at[i]);
    }
  }
  add_links(m, p, &f);
}

// The panel in rows of layers that are so wide; false: it cannot be cut.
static bool make_rows(Arena *a, const Panel *whole, double width, Panel *out) {
  RowMaker m = {.arena = a, .p = whole};
  m.of = NEW_ARRAY(a, uint32_t, whole->unit.n + 1);
  m.at = NEW_ARRAY(a, uint32_t, whole->unit.n + 1);
  cut_layers(&m, width);
  if (m.rows < 2) return false;
  if (whole->graph) move_helpers(&m);
  move_ports(&m);
  m.y = NEW_ARRAY(a, double, m.rows);
  m.row = NEW_ARRAY(a, Panel, m.rows);
  m.cable = NEW_ARRAY(a, uint32_t, (size_t)m.rows * whole->cable.n + 1);
  for (uint32_t r = 0; r < m.rows; r++) {
    m.row[r] = (Panel){.name = "", .of = "", .words = "", .depth = whole->depth};
    m.row[r].graph = whole->graph;
    if (!r) m.row[r].title = whole->title;
  }
  add_units(&m);
  tie_units(&m);
  if (whole->graph)
    tie_links(&m);
  else
    tie_rows(&m);
  for (uint32_t r = 0; r < m.rows; r++) {
    for (uint32_t i = 0; i < m.row[r].unit.n; i++)
      if (m.row[r].unit.at[i].kind == UNIT_LEAVES || m.row[r].unit.at[i].kind == UNIT_ENTERS)
        unit_measure(&m.row[r].unit.at[i], false);
    panel_lay(a, &m.row[r]);
  }
  *out = *whole;
  out->unit.at = NULL, out->unit.n = out->unit.cap = 0;
  out->cable.at = NULL, out->cable.n = out->cable.cap = 0;
  stack_rows(&m, out);
  return true;
}

// How wide a row is, with what enters and leaves it, is known when it is laid out: layers get less
// room until all fits.
void panel_rows(Arena *a, Panel *p, double width) {
  enum { TRIES = 12 };
  Panel whole = *p, rows;
  if (p->shares || p->width <= width) return;
  for (uint32_t i = 0; i < TRIES && p->width > width; i++) {
    if (!make_rows(a, &whole, width * (1.1 - 0.06 * i), &rows)) continue;
    if (rows.width < p->width) *p = rows;
  }
}
