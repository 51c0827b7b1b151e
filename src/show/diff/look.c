// The units and wires of a difference as a panel. Sides can be told apart without colour: dashed
// lines are of the first side, double lines of the second. A wire between rows ends in a port and
// continues from a port of the same name.
#include "show/diff/picture_own.h"

enum { ROW_WIDTH = 1000, WIDEST_ROW = 1300, LAY_UNIT = 1, LAY_PORT };

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

Ink side_ink(uint8_t sides) {
  return sides == SIDE_FIRST ? INK_SERIES2 : sides == SIDE_SECOND ? INK_SERIES1 : INK_SOFT;
}

static Paint side_paint(uint8_t sides, bool changed) {
  Paint p = {.stroke = changed ? INK_LINE : side_ink(sides), .width = changed ? 1.8 : 1.1};
  if (sides == SIDE_FIRST) p.dash[0] = 5, p.dash[1] = 3, p.width = 1.6;
  if (sides == SIDE_SECOND) p.width = 2.2;
  return p;
}

static Paint outline_paint(const DiffUnit *u) {
  Paint p = side_paint(u->sides, u->changed);
  p.fill = u->sides == SIDE_BOTH && !u->changed ? INK_PLATE : INK_PAPER;
  if (u->soft) p.dash[0] = 1.5, p.dash[1] = 2.5;
  if (u->sides == SIDE_SECOND) p.width = 1.1;
  return p;
}

Unit unit_card(Arena *a, const DiffUnit *u) {
  Card *k = NEW(a, Card);
  Ink ink = u->sides == SIDE_BOTH && u->changed ? INK_TEXT : side_ink(u->sides);
  *k = (Card){.least = 40, .side = 10, .below = 3.5, .corner = 6, .outline = outline_paint(u)};
  if (u->port) k->bare = true, k->least = 0, k->side = 4, k->tie = side_ink(u->sides);
  if (u->sides == SIDE_SECOND) k->inner = 4;
  for (uint32_t i = 0; i < UNIT_LINES && u->line[i]; i++) {
    bool name = !i && !u->port && !u->soft;
    Text how = {.face = name ? FACE_SANS_BOLD : FACE_SANS, .size = name ? 13 : 11, .ink = ink};
    k->line[i] = (CardLine){u->line[i], how, i ? 15 : 11.5};
  }
  Unit out = {.kind = UNIT_CARD, .card = k, .words = u->words, .edge = u->edge};
  out.rule = u->port ? LAY_PORT : LAY_UNIT;
  card_measure(&out);
  return out;
}

// The end of all wires of a unit in a row has the looks of these.
static Unit end_of_row(const Panel *p, const LayerEnd *e) {
  const Cable *first = &p->cable.at[e->cable.at[0]];
  const Unit *from = &p->unit.at[first->group - 1];
  DiffUnit u = {.port = true, .edge = e->leaves ? EDGE_LAST : EDGE_FIRST, .words = from->words};
  u.line[0] = e->text;
  for (uint32_t i = 0; i < e->cable.n; i++) u.sides |= (uint8_t)p->cable.at[e->cable.at[i]].own;
  Unit out = unit_card(p->arena, &u);
  for (uint32_t i = 0; i < e->cable.n; i++)
    vec_push(p->arena, e->leaves ? &out.in : &out.out, (Pin){.cable = e->cable.at[i] + 1});
  return out;
}

static const PanelKind diff_kind = {
    .rules = &diff_rules, .corner = 6, .framed = true, .gap = 26, .loose = true, .end = end_of_row};

Panel scheme_panel(const DiffScheme *s) {
  Panel p = {.arena = s->arena, .kind = &diff_kind, .bare = true};
  uint32_t *at = NEW_ARRAY(s->arena, uint32_t, s->unit.n + 1);
  for (uint32_t i = 0; i < s->unit.n; i++)
    if (!s->unit.at[i].stands) at[i] = panel_add(&p, unit_card(s->arena, &s->unit.at[i]));
  for (uint32_t i = 0; i < s->wire.n; i++) {
    const DiffWire *w = &s->wire.at[i];
    const DiffUnit *from = &s->unit.at[w->from], *to = &s->unit.at[w->to];
    Cable k = {.own = w->sides, .paint = side_paint(w->sides, false), .group = at[w->from] + 1};
    k.words = arena_format(s->arena, "%s to %s", from->words, to->words);
    k.label = from->times > 1 ? from->word : from->line[0];
    if (!to->port) k.head = at[w->to] + 1;
    panel_join(&p, at[w->from], at[w->to], k);
  }
  panel_finish(&p);
  // A slightly wider picture is better than an almost empty row.
  if (p.width > WIDEST_ROW) panel_rows(&p, ROW_WIDTH);
  return p;
}
