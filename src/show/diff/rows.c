// Units become rows, and each row is laid out as other graphs are.
//
// A unit is one step behind those that it reads. Where a row would be too wide it ends between two
// steps, where few wires are; a wire that goes on ends in a port and begins in one of that name.
#include "show/diff/picture_own.h"

#include <math.h>

enum { ROW_WIDTH = 1000, STEP_GAP = 40, ROW_GAP = 26, LAY_UNIT = 1, LAY_PORT };

static const LayerRules diff_rules = {
    .apart = {{12, 10, 10}, {10, 18, 14}, {10, 14, 8}},
    .pull = {{96, 24, 24}, {24, 12, 12}, {24, 12, 12}},
    .near = 8,
    .nearer = 8,
    .jog = 14,
    .margin = 14,
    .least = 22,
    .pad = 12,
    .pitch = 12,
    .growth = 6,
};

static bool is_there(const DiffUnit *u) { return !u->stands; }

// -- steps ----------------------------------------------------------------------------------------
// It closes a loop, or could: it goes to what stands before it.
static bool runs_back(const DiffScheme *s, const DiffWire *w) {
  return w->from > w->to && !s->unit.at[w->from].port;
}

static void ranks(DiffScheme *s) {
  bool moved = true;
  for (uint32_t round = 0; moved && round <= s->unit.n; round++) {
    moved = false;
    for (uint32_t i = 0; i < s->wire.n; i++) {
      DiffUnit *from = &s->unit.at[s->wire.at[i].from], *to = &s->unit.at[s->wire.at[i].to];
      if (to->rank > from->rank || runs_back(s, &s->wire.at[i])) continue;
      to->rank = from->rank + 1, moved = true;
    }
  }
}

// What nothing leads to stands right before the first that reads it.
static void ranks_late(DiffScheme *s) {
  for (uint32_t i = 0; i < s->unit.n; i++) {
    uint32_t least = UINT32_MAX;
    bool fed = false;
    for (uint32_t k = 0; k < s->wire.n; k++) {
      fed |= s->wire.at[k].to == i;
      if (s->wire.at[k].from == i && s->unit.at[s->wire.at[k].to].rank < least)
        least = s->unit.at[s->wire.at[k].to].rank;
    }
    if (!fed && least != UINT32_MAX && least) s->unit.at[i].rank = least - 1;
  }
}

// -- where rows end -------------------------------------------------------------------------------
static uint32_t crossing(const DiffScheme *s, uint32_t rank) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->unit.n; i++) {
    bool goes = false;
    for (uint32_t k = 0; k < s->wire.n && s->unit.at[i].rank < rank; k++)
      goes |= s->wire.at[k].from == i && s->unit.at[s->wire.at[k].to].rank >= rank;
    n += goes;
  }
  return n;
}

static double step_width(const DiffScheme *s, uint32_t rank) {
  double w = 0;
  for (uint32_t i = 0; i < s->unit.n; i++)
    if (is_there(&s->unit.at[i]) && s->unit.at[i].rank == rank) w = fmax(w, s->unit.at[i].width);
  return w + STEP_GAP;
}

// The step with which the next row begins.
static uint32_t row_end(const DiffScheme *s, uint32_t first, uint32_t last) {
  double w = 0, all = 0;
  uint32_t best = last + 1, least = UINT32_MAX;
  for (uint32_t r = first; r <= last; r++) all += step_width(s, r);
  if (all <= 1.3 * ROW_WIDTH) return best; // rather a little wide than a row with little in it
  for (uint32_t r = first; r <= last; r++) {
    w += step_width(s, r);
    if (w > ROW_WIDTH && best <= last) return best;
    uint32_t n = w > ROW_WIDTH / 2.0 && r < last ? crossing(s, r + 1) : UINT32_MAX;
    if (n <= least && n != UINT32_MAX) best = r + 1, least = n;
  }
  return last + 1;
}

static void cut_rows(DiffScheme *s) {
  uint32_t last = 0, first = 0;
  for (uint32_t i = 0; i < s->unit.n; i++)
    if (s->unit.at[i].rank > last) last = s->unit.at[i].rank;
  for (s->rows = 0; first <= last; s->rows++) {
    uint32_t end = row_end(s, first, last);
    for (uint32_t i = 0; i < s->unit.n; i++)
      if (s->unit.at[i].rank >= first && s->unit.at[i].rank < end) s->unit.at[i].row = s->rows;
    first = end;
  }
}

// -- wires that go on -----------------------------------------------------------------------------
static uint32_t port_in(DiffScheme *s, uint32_t of, uint32_t row, LayerEdge edge) {
  DiffUnit u = {.port = true, .edge = edge, .row = row};
  const DiffUnit *from = &s->unit.at[of];
  u.line[0] = from->times > 1 ? from->word : from->line[0], u.words = from->words;
  u.width = unit_width(&u), u.height = unit_height(&u);
  vec_push(s->arena, &s->unit, u);
  return s->unit.n - 1;
}

static uint32_t port_of(DiffScheme *s, uint32_t *known, uint32_t of, uint32_t row, LayerEdge edge) {
  if (!*known) *known = port_in(s, of, row, edge) + 1;
  return *known - 1;
}

static void join(DiffScheme *s, uint32_t from, uint32_t to, uint8_t sides) {
  s->unit.at[from].sides |= s->unit.at[from].port ? sides : 0;
  s->unit.at[to].sides |= s->unit.at[to].port ? sides : 0;
  for (uint32_t i = 0; i < s->wire.n; i++)
    if (s->wire.at[i].from == from && s->wire.at[i].to == to) {
      s->wire.at[i].sides |= sides;
      return;
    }
  vec_push(s->arena, &s->wire, (DiffWire){.from = from, .to = to, .sides = sides});
}

static void wires_cut(DiffScheme *s) {
  uint32_t units = s->unit.n, wires = s->wire.n;
  uint32_t *leaves = NEW_ARRAY(s->arena, uint32_t, units + 1);
  uint32_t *enters = NEW_ARRAY(s->arena, uint32_t, (size_t)units * s->rows + 1);
  DiffScheme old = *s;
  s->wire.at = NULL, s->wire.n = s->wire.cap = 0;
  for (uint32_t i = 0; i < wires; i++) {
    const DiffWire *w = &old.wire.at[i];
    uint32_t from = s->unit.at[w->from].row, to = s->unit.at[w->to].row;
    if (from == to) {
      join(s, w->from, w->to, w->sides);
      continue;
    }
    uint32_t out = port_of(s, &leaves[w->from], w->from, from, EDGE_LAST);
    uint32_t in = port_of(s, &enters[(size_t)w->from * s->rows + to], w->from, to, EDGE_FIRST);
    join(s, w->from, out, w->sides);
    join(s, in, w->to, w->sides);
  }
}

// -- places ---------------------------------------------------------------------------------------
static void lay_row(DiffScheme *s, uint32_t row, double top) {
  Layers l = {
      .arena = arena_child(s->arena), .out = s->arena, .rules = &diff_rules, .framed = true};
  uint32_t *to = NEW_ARRAY(l.arena, uint32_t, s->unit.n + 1), cable = 0;
  for (uint32_t i = 0; i < s->unit.n; i++) {
    const DiffUnit *u = &s->unit.at[i];
    if (!is_there(u) || u->row != row) continue;
    LayerUnit unit = {.kind = u->port ? LAY_PORT : LAY_UNIT, .edge = u->edge, .free = true};
    unit.width = unit.right = u->width, unit.height = u->height;
    to[i] = layers_unit(&l, unit);
  }
  for (uint32_t i = 0; i < s->wire.n; i++)
    if (s->unit.at[s->wire.at[i].from].row == row)
      layers_wire(&l, to[s->wire.at[i].from], to[s->wire.at[i].to]);
  layers_rank(&l), layers_order(&l), layers_place(&l);
  for (uint32_t i = 0; i < s->unit.n; i++) {
    DiffUnit *u = &s->unit.at[i];
    if (!is_there(u) || u->row != row) continue;
    const LayerUnit *unit = &l.unit.at[to[i]];
    u->x = unit->x, u->y = unit->y + top, u->height = unit->height;
    u->wires = unit->side[0].n + unit->side[1].n;
  }
  for (uint32_t i = 0; i < s->wire.n; i++) {
    DiffWire *w = &s->wire.at[i];
    if (s->unit.at[w->from].row != row) continue;
    const LayerCable *c = &l.cable.at[cable++];
    Knee *path = arena_copy(s->arena, c->way.spot.at, c->way.spot.n * sizeof(Knee));
    for (uint32_t k = 0; k < c->way.spot.n; k++) path[k].y += top;
    w->path = path, w->knees = c->way.spot.n;
  }
  s->width = fmax(s->width, l.width), s->height = top + l.height;
  arena_free(l.arena);
}

void scheme_rows(DiffScheme *s) {
  ranks(s);
  ranks_late(s);
  cut_rows(s);
  wires_cut(s);
  for (uint32_t row = 0; row < s->rows; row++) lay_row(s, row, row ? s->height + ROW_GAP : 0);
}
