// Lays out a scheme, in rows if it is wide. A wire between rows ends in a port and continues from a
// port of the same name.
#include "show/diff/picture_own.h"

enum { ROW_WIDTH = 1000, WIDEST_ROW = 1300, ROW_GAP = 26, LAY_UNIT = 1, LAY_PORT };

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

static LayerUnit layer_unit(const DiffUnit *u) {
  LayerUnit to = {.kind = u->port ? LAY_PORT : LAY_UNIT, .edge = u->edge, .free = true};
  to.width = to.right = u->width, to.height = unit_height(u);
  to.x = u->x, to.y = u->y, to.layer = u->layer;
  return to;
}

// at: [unit] its index in the layout; folded units have none
static Layers layers_of(const DiffScheme *s, uint32_t *at) {
  Layers l = {.arena = arena_child(s->arena), .out = s->arena, .rules = &diff_rules};
  l.framed = true, l.width = s->width;
  for (uint32_t i = 0; i < s->unit.n; i++)
    if (!s->unit.at[i].stands) at[i] = layers_unit(&l, layer_unit(&s->unit.at[i]));
  for (uint32_t i = 0; i < s->wire.n; i++) {
    uint32_t cable = layers_wire(&l, at[s->wire.at[i].from], at[s->wire.at[i].to]);
    l.cable.at[cable].group = s->wire.at[i].from + 1;
  }
  return l;
}

static void place_unit(DiffUnit *u, const LayerUnit *from, uint32_t wires) {
  u->x = from->x, u->y = from->y, u->height = from->height, u->layer = from->layer;
  u->wires = wires;
}

static void read_places(DiffScheme *s, const Layers *l, const uint32_t *at) {
  for (uint32_t i = 0; i < s->unit.n; i++) {
    const LayerUnit *u = &l->unit.at[at[i]];
    if (!s->unit.at[i].stands) place_unit(&s->unit.at[i], u, u->side[0].n + u->side[1].n);
  }
  for (uint32_t i = 0; i < s->wire.n; i++) s->wire.at[i].way = l->cable.at[i].way;
  s->width = l->width, s->height = l->height;
}

static DiffUnit port_of(const DiffScheme *s, const LayerEnd *e) {
  const DiffUnit *from = &s->unit.at[s->wire.at[e->cable.at[0]].from];
  DiffUnit u = {.port = true, .edge = e->leaves ? EDGE_LAST : EDGE_FIRST, .words = from->words};
  u.line[0] = from->times > 1 ? from->word : from->line[0];
  u.width = unit_width(&u);
  return u;
}

static void measure_port(const void *context, const bool *cut, LayerEnd *e) {
  DiffUnit u = port_of(context, e);
  (void)cut;
  e->unit = layer_unit(&u);
}

static void break_rows(DiffScheme *s, uint32_t *at) {
  Layers l = layers_of(s, at);
  RowRules how = {.gap = ROW_GAP, .measure = measure_port, .context = s};
  LayerEnds ends = layers_rows(&l, &how, ROW_WIDTH);
  if (ends.n) read_places(s, &l, at);
  for (uint32_t i = 0; i < ends.n; i++) {
    DiffUnit u = port_of(s, &ends.at[i]);
    const Ids *wires = &ends.at[i].cable;
    for (uint32_t k = 0; k < wires->n; k++) u.sides |= s->wire.at[wires->at[k]].sides;
    place_unit(&u, &ends.at[i].unit, wires->n);
    vec_push(s->arena, &s->unit, u);
  }
  arena_free(l.arena);
}

void scheme_lay(DiffScheme *s) {
  uint32_t *at = NEW_ARRAY(s->arena, uint32_t, s->unit.n + 1);
  Layers l = layers_of(s, at);
  layers_rank(&l), layers_order(&l), layers_place(&l);
  read_places(s, &l, at);
  arena_free(l.arena);
  // A slightly wider picture is better than an almost empty row.
  if (s->width > WIDEST_ROW) break_rows(s, at);
}
