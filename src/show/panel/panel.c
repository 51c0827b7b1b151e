// Adds units, pins and cables to a panel.
#include "show/panel/panel_own.h"

uint32_t panel_add(Panel *p, Unit u) {
  u.owner = u.owner ? u.owner - 1 : p->unit.n;
  vec_push(p->arena, &p->unit, u);
  return p->unit.n - 1;
}

uint32_t panel_cable(Panel *p, Cable k) {
  vec_push(p->arena, &p->cable, k);
  return p->cable.n - 1;
}

static Pins *side_of(Panel *p, uint32_t unit, bool right) {
  return right ? &p->unit.at[unit].out : &p->unit.at[unit].in;
}

void panel_tie(Panel *p, uint32_t cable, uint32_t unit, uint32_t pin, bool right) {
  side_of(p, unit, right)->at[pin].cable = cable + 1;
}

void panel_plug(Panel *p, uint32_t cable, uint32_t unit, bool right) {
  vec_push(p->arena, side_of(p, unit, right), (Pin){.cable = cable + 1});
}

// If the layers are given, a cable to an earlier layer is turned, and one inside a layer joins two
// right sides.
uint32_t panel_join(Panel *p, uint32_t from, uint32_t to, Cable k) {
  bool layered = p->kind->layered;
  uint32_t first = p->unit.at[from].layer, last = p->unit.at[to].layer;
  k.turned = layered && last < first;
  uint32_t cable = panel_cable(p, k);
  panel_plug(p, cable, k.turned ? to : from, true);
  panel_plug(p, cable, k.turned ? from : to, layered && first == last);
  return cable;
}

void panel_finish(Panel *p) {
  panel_title(p);
  for (uint32_t i = 0; i < p->unit.n; i++) unit_measure(&p->unit.at[i], p->depth == 0);
  for (uint32_t i = 0; i < p->cable.n; i++) tag_measure(&p->cable.at[i].tag);
  panel_lay(p);
}
