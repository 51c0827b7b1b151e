// Lays out a panel as a layered layout: the gaps and pulls of wirings, and the ends of cables
// between rows.
#include "show/wiring/wiring_own.h"

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

void panel_tie(Panel *p, uint32_t cable, uint32_t unit, uint32_t pin, bool right) {
  (right ? &p->unit.at[unit].out : &p->unit.at[unit].in)->at[pin].cable = cable + 1;
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

static void add_unit(Layers *l, const Panel *p, const Unit *u) {
  LayerUnit to = {.kind = kind_of[u->kind], .owner = u->owner + 1, .away = stands_away(p, u)};
  to.x = u->x, to.y = u->y, to.layer = u->layer;
  to.width = u->width, to.height = u->height;
  to.right = u->width - (u->count ? LIFT : 0);
  if (to.kind == LAY_PORT && !p->depth) to.kind = LAY_OUTER;
  if (u->behind) to.kind = LAY_BEHIND;
  if (u->kind == UNIT_IN) to.edge = EDGE_FIRST, to.right = 0;
  if (u->kind == UNIT_OUT) to.edge = EDGE_LAST, to.left = u->width;
  if (u->kind == UNIT_SHARED) to.left = to.right = floor(u->width / 2);
  uint32_t unit = layers_unit(l, to);
  for (int right = 0; right < 2; right++) {
    const Pins *pins = right ? &u->out : &u->in;
    for (uint32_t i = 0; i < pins->n; i++)
      if (pins->at[i].cable) {
        uint32_t pin = layers_pin(l, unit, pins->at[i].cable - 1, right, pins->at[i].y);
        l->pin.at[pin].weak = pins->at[i].weak;
      }
  }
}

static Layers layers_of(Arena *a, const Panel *p, LayerRules *rules) {
  Layers l = {.arena = arena_child(a), .out = a, .rules = rules, .framed = true};
  *rules = panel_rules;
  l.title = p->title, l.width = p->width;
  if (p->shares) pull_less(rules);
  if (p->graph) rules->nearer = 4; // arrows between neighbouring modes may be close
  for (uint32_t i = 0; i < p->cable.n; i++)
    layers_cable(&l, (LayerCable){.peer = p->cable.at[i].peer});
  for (uint32_t i = 0; i < p->unit.n; i++) add_unit(&l, p, &p->unit.at[i]);
  return l;
}

static void read_places(Panel *p, const Layers *l) {
  for (uint32_t i = 0; i < p->unit.n; i++)
    p->unit.at[i].x = l->unit.at[i].x, p->unit.at[i].y = l->unit.at[i].y,
    p->unit.at[i].layer = l->unit.at[i].layer;
  for (uint32_t i = 0; i < p->cable.n; i++) p->cable.at[i].way = l->cable.at[i].way;
  p->width = l->width, p->height = l->height;
}

void panel_lay(Arena *a, Panel *p) {
  LayerRules rules;
  Layers l = layers_of(a, p, &rules);
  layers_rank(&l), layers_order(&l), layers_place(&l);
  read_places(p, &l);
  arena_free(l.arena);
}

// -- rows -----------------------------------------------------------------------------------------
typedef struct {
  Arena *arena;
  const Panel *p;
} RowNames;

// The name of a cut cable; numbered if it is not unique.
static const char *cut_name(const RowNames *m, const bool *cut, uint32_t cable) {
  const char *name = m->p->cable.at[cable].label;
  uint32_t same = 1;
  if (!name) return arena_format(m->arena, "%u", cable + 1);
  for (uint32_t i = 0; i < cable; i++) {
    const char *other = m->p->cable.at[i].label;
    same += cut[i] && other && !strcmp(other, name);
  }
  return same > 1 ? arena_format(m->arena, "%s (%u)", name, same) : name;
}

// The unit at which a cable leaves or enters a row.
static Unit unit_of_end(Arena *a, const LayerEnd *e) {
  Unit u = {.kind = e->leaves ? UNIT_LEAVES : UNIT_ENTERS, .text = e->text};
  if (u.text)
    u.words = arena_format(a, "%s %s another row", u.text, e->leaves ? "goes to" : "comes from");
  vec_push(a, e->leaves ? &u.in : &u.out, (Pin){.cable = e->cable.at[0] + 1});
  unit_measure(&u, false);
  return u;
}

static void measure_end(const void *context, const bool *cut, LayerEnd *e) {
  const RowNames *m = context;
  if (!m->p->graph)
    e->text = text_cut(m->arena, FACE_ITALIC, PORT_SIZE, cut_name(m, cut, e->cable.at[0]), 120);
  Unit u = unit_of_end(m->arena, e);
  e->unit = (LayerUnit){.kind = kind_of[u.kind], .width = u.width, .height = u.height};
  e->pin = (e->leaves ? u.in : u.out).at[0].y;
}

void panel_rows(Arena *a, Panel *p, double width) {
  enum { ROWS_GAP = 14 };
  LayerRules rules;
  RowNames names = {a, p};
  if (p->shares || p->width <= width) return;
  Layers l = layers_of(a, p, &rules);
  RowRules how = {ROWS_GAP, p->graph, .framed = true, measure_end, &names};
  LayerEnds ends = layers_rows(&l, &how, width);
  if (ends.n) read_places(p, &l);
  for (uint32_t i = 0; i < ends.n && !p->graph; i++) {
    Unit u = unit_of_end(a, &ends.at[i]);
    u.owner = p->unit.n, u.x = ends.at[i].unit.x, u.y = ends.at[i].unit.y;
    vec_push(a, &p->unit, u);
  }
  arena_free(l.arena);
}
