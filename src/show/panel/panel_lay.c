// Lays out a panel in layers (layers.h), and breaks it into rows: the only place where units and
// cables become those of a layout. Also the gaps and pulls of wirings.
#include "show/panel/panel_own.h"

#include <math.h>

enum { LAY_BOX = 1, LAY_LABEL, LAY_BEHIND, LAY_LOW, LAY_PORT, LAY_OUTER, LAY_KINDS };

static const uint32_t kind_of[] = {
    [UNIT_BOX] = LAY_BOX,      [UNIT_PANEL] = LAY_BOX,    [UNIT_SHARED] = LAY_BOX,
    [UNIT_STATE] = LAY_BOX,    [UNIT_GUARD] = LAY_LABEL,  [UNIT_PLATE] = LAY_LOW,
    [UNIT_CHOICE] = LAY_LOW,   [UNIT_IN] = LAY_PORT,      [UNIT_OUT] = LAY_PORT,
    [UNIT_LEAVES] = LAY_LABEL, [UNIT_ENTERS] = LAY_LABEL, [UNIT_START] = LAY_LABEL,
};

// Labels are above their lines, where there is space, so labels can be as close as pins. Pulls
// decrease in this order: wires that leave labels, wires that leave plates, wires that enter labels
// behind boxes. Names of inner ports are parts of these.
static const LayerRules panel_rules = {
    .apart = {{12, 12, 3, 3, 6, 12, 12},  // a cable that passes
              {12, 18, 6, 6, 18, 18, 18}, // a box
              {9, 9, 0, 0, 3, 9, 9},      // a label
              {9, 9, 0, 0, 9, 9, 9},      // a label behind its box
              {6, 18, 6, 6, 18, 18, 18},  // a plate, a choice
              {12, 0, 0, 0, 0, 0, 0},     // a port
              {12, 4, 0, 0, 4, 4, 4}},    // a port of the outermost panel
    .pull = {{96, 32, 32, 32, 32, 32, 32},
             {32, 12, 12, 1024, 12, 12, 12},
             {1024, 1024, 1024, 1024, 1024, 1024, 1024},
             {32, 12, 12, 12, 12, 12, 12},
             {32, 32, 32, 32, 32, 32, 32},
             {32, 12, 12, 12, 12, 12, 12},
             {32, 12, 12, 12, 12, 12, 12}},
    .first = 3,
    .near = 6,
    .nearer = 5,
    .jog = 16,
    .margin = 6,
    .least = LANE,
    .over = 8,
    .under = 12,
};

// Parts connected by shared variables are aligned with each other rather than with ports.
static void pull_less(LayerRules *r) {
  for (uint32_t a = 0; a < LAY_KINDS; a++)
    for (uint32_t b = 0; b < LAY_KINDS; b++)
      if ((a || b) && (!a || !b || a >= LAY_PORT || b >= LAY_PORT)) r->pull[a][b] = 6;
}

static bool leads_to(const Unit *u, const Unit *other) {
  for (uint32_t i = 0; u->out.n && i < other->in.n; i++)
    if (other->in.at[i].cable && other->in.at[i].cable == u->out.at[0].cable) return true;
  return false;
}

// A plate is higher than the distance of two pins: where labels precede other pins of its target, a
// plate without inputs gets a layer of its own.
static bool stands_away(const Panel *p, const Unit *u) {
  if (u->kind != UNIT_PLATE || u->in.n || !leads_to(u, &p->unit.at[u->owner])) return false;
  for (uint32_t i = 0; i < p->unit.n; i++)
    if (p->unit.at[i].kind == UNIT_GUARD && p->unit.at[i].owner == u->owner) return true;
  return false;
}

static LayerUnit layer_unit(const Panel *p, const Unit *u) {
  LayerUnit to = {.kind = u->kind == UNIT_CARD ? u->rule : kind_of[u->kind],
                  .edge = u->edge,
                  .free = u->kind == UNIT_CARD,
                  .block = u->block,
                  .layer = u->layer};
  to.x = u->x, to.y = u->y, to.width = u->width, to.height = u->height;
  to.right = u->width - (u->count ? LIFT : 0);
  if (to.free) { // in a layout before it may have grown
    Unit fresh = *u;
    card_measure(&fresh);
    to.height = fresh.height;
  }
  if (to.kind == LAY_PORT && u->kind != UNIT_CARD && !p->depth) to.kind = LAY_OUTER;
  if (u->behind) to.kind = LAY_BEHIND;
  if (u->kind == UNIT_IN) to.edge = EDGE_FIRST, to.right = 0;
  if (u->kind == UNIT_OUT) to.edge = EDGE_LAST, to.left = u->width;
  if (u->kind == UNIT_SHARED) to.left = to.right = floor(u->width / 2);
  return to;
}

static void add_unit(Layers *l, const Panel *p, const Unit *u) {
  uint32_t unit = layers_unit(l, layer_unit(p, u));
  l->unit.at[unit].owner = u->owner + 1, l->unit.at[unit].away = stands_away(p, u);
  for (int right = 0; right < 2; right++) {
    const Pins *pins = right ? &u->out : &u->in;
    for (uint32_t i = 0; i < pins->n; i++)
      if (pins->at[i].cable) {
        uint32_t pin = layers_pin(l, unit, pins->at[i].cable - 1, right, pins->at[i].y);
        l->pin.at[pin].weak = pins->at[i].weak;
      }
  }
}

static Layers layers_of(const Panel *p, LayerRules *rules) {
  Layers l = {.arena = arena_child(p->arena), .out = p->arena, .rules = rules};
  *rules = *p->kind->rules;
  l.framed = p->kind->framed, l.title = p->title, l.width = p->width;
  if (p->shares) pull_less(rules);
  if (p->kind->nearer > 0) rules->nearer = p->kind->nearer;
  for (uint32_t i = 0; i < p->cable.n; i++) {
    const Cable *k = &p->cable.at[i];
    layers_cable(&l, (LayerCable){.peer = k->peer,
                                  .label = k->tag.width,
                                  .below = bands_height(k),
                                  .group = k->group});
  }
  for (uint32_t i = 0; i < p->unit.n; i++) add_unit(&l, p, &p->unit.at[i]);
  return l;
}

static void read_place(Unit *u, const LayerUnit *from) {
  u->x = from->x, u->y = from->y, u->layer = from->layer;
  if (from->free) u->height = from->height;
}

static void read_places(Panel *p, const Layers *l) {
  for (uint32_t i = 0; i < p->unit.n; i++) read_place(&p->unit.at[i], &l->unit.at[i]);
  for (uint32_t i = 0; i < p->cable.n; i++) {
    Cable *k = &p->cable.at[i];
    k->way = l->cable.at[i].way;
    k->tag.x = l->cable.at[i].label_x, k->tag.y = l->cable.at[i].label_y;
  }
  p->width = l->width, p->height = l->height;
}

void panel_lay(Panel *p) {
  LayerRules rules;
  Layers l = layers_of(p, &rules);
  if (!p->kind->layered) layers_rank(&l);
  layers_order(&l), layers_place(&l);
  read_places(p, &l);
  arena_free(l.arena);
}

// -- rows -----------------------------------------------------------------------------------------
// The name of a cut cable; numbered if it is not unique.
static const char *cut_name(const Panel *p, const bool *cut, uint32_t cable) {
  const char *name = p->cable.at[cable].label;
  uint32_t same = 1;
  if (!name) return arena_format(p->arena, "%u", cable + 1);
  for (uint32_t i = 0; i < cable && !p->cable.at[cable].group; i++) {
    const char *other = p->cable.at[i].label;
    same += cut[i] && other && !strcmp(other, name);
  }
  return same > 1 ? arena_format(p->arena, "%s (%u)", name, same) : name;
}

static void measure_end(const void *context, const bool *cut, LayerEnd *e) {
  const Panel *p = context;
  e->text = cut_name(p, cut, e->cable.at[0]);
  Unit u = p->kind->end(p, e);
  e->unit = layer_unit(p, &u);
  e->pin = (e->leaves ? u.in : u.out).at[0].y;
}

void panel_rows(Panel *p, double width) {
  LayerRules rules;
  const PanelKind *k = p->kind;
  if (p->shares || p->width <= width) return;
  Layers l = layers_of(p, &rules);
  RowRules how = {k->gap, k->lanes, k->framed && !k->loose, measure_end, p};
  LayerEnds ends = layers_rows(&l, &how, width);
  if (ends.n) read_places(p, &l);
  for (uint32_t i = 0; i < ends.n && !k->lanes; i++) {
    Unit u = k->end(p, &ends.at[i]);
    read_place(&u, &ends.at[i].unit);
    panel_add(p, u);
  }
  arena_free(l.arena);
}

// -- wirings --------------------------------------------------------------------------------------
// Arrows between modes have no names: they run on in lanes.
static Unit end_of_wire(const Panel *p, const LayerEnd *e) {
  Unit u = {.kind = e->leaves ? UNIT_LEAVES : UNIT_ENTERS};
  const char *does = e->leaves ? "goes to" : "comes from";
  if (!p->kind->lanes) u.text = text_cut(p->arena, FACE_ITALIC, PORT_SIZE, e->text, 120);
  if (u.text) u.words = arena_format(p->arena, "%s %s another row", u.text, does);
  vec_push(p->arena, e->leaves ? &u.in : &u.out, (Pin){.cable = e->cable.at[0] + 1});
  unit_measure(&u, false);
  return u;
}

const PanelKind wiring_kind = {
    .rules = &panel_rules, .corner = 5, .framed = true, .gap = 14, .end = end_of_wire};
const PanelKind modes_kind = {.rules = &panel_rules,
                              .nearer = 4, // arrows between neighbouring modes may be close
                              .corner = 5,
                              .framed = true,
                              .lanes = true,
                              .gap = 14,
                              .end = end_of_wire};
