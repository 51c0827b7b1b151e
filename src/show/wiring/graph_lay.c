// Lays out a scheme with layers.h: spaces are units with free pins, arrows are cables. An arrow
// that runs back is reversed, and one inside a layer connects two right sides.
#include "show/wiring/graph_own.h"

enum { LAY_SPOT = 1, LAY_PILE };

// Labels are only at ends of arrows, so other lines can be close. The sheets of an index extend
// below it.
static const LayerRules scheme_rules = {
    .apart = {{17, 10, 10}, {10, 26, 26}, {16, 32, 32}},
    .pull = {{96, 24, 24}, {24, 12, 12}, {24, 12, 12}},
    .near = 14,
    .nearer = 10,
    .jog = 19,
    .margin = 16,
    .blocks = 34,
    .pad = 16,
    .pitch = 22,
    .growth = 6,
};

void scheme_place(Scheme *s) {
  Layers l = {.arena = arena_child(s->arena), .out = s->arena, .rules = &scheme_rules};
  for (uint32_t i = 0; i < s->spot.n; i++) {
    const Spot *p = &s->spot.at[i];
    LayerUnit u = {.kind = p->index ? LAY_PILE : LAY_SPOT, .layer = p->layer, .block = p->block};
    u.free = true, u.width = u.right = p->width, u.height = p->height;
    layers_unit(&l, u);
  }
  for (uint32_t i = 0; i < s->arrow.n; i++) {
    Arrow *w = &s->arrow.at[i];
    uint32_t from = s->spot.at[w->from].layer, to = s->spot.at[w->to].layer;
    w->back = to < from;
    layers_cable(&l, (LayerCable){.label = w->label, .below = w->under});
    layers_pin(&l, w->back ? w->to : w->from, i, true, 0);
    layers_pin(&l, w->back ? w->from : w->to, i, from == to, 0);
  }
  layers_order(&l);
  layers_place(&l);
  for (uint32_t i = 0; i < s->spot.n; i++) {
    Spot *p = &s->spot.at[i];
    p->x = l.unit.at[i].x, p->y = l.unit.at[i].y, p->height = l.unit.at[i].height;
  }
  for (uint32_t i = 0; i < s->arrow.n; i++) {
    Arrow *w = &s->arrow.at[i];
    const LayerCable *c = &l.cable.at[i];
    w->path = c->way.spot.at, w->knees = c->way.spot.n;
    w->label_x = c->label_x, w->label_y = c->label_y;
  }
  s->width = l.width, s->height = l.height;
  arena_free(l.arena);
}
