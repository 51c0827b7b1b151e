// Draws the scheme of a difference. Sides can be told apart without colour: dashed lines are of the
// first side, double lines of the second.
#include "show/diff/picture_own.h"

#include <math.h>

enum { NAME_SIZE = 13, SMALL_SIZE = 11, PAD = 10, CORNER = 6 };

Ink side_ink(uint8_t sides) {
  return sides == SIDE_FIRST ? INK_SERIES2 : sides == SIDE_SECOND ? INK_SERIES1 : INK_SOFT;
}

Paint side_paint(uint8_t sides, bool changed) {
  Paint p = {.stroke = changed ? INK_LINE : side_ink(sides), .width = changed ? 1.8 : 1.1};
  if (sides == SIDE_FIRST) p.dash[0] = 5, p.dash[1] = 3, p.width = 1.6;
  if (sides == SIDE_SECOND) p.width = 2.2;
  return p;
}

static Text line_text(const DiffUnit *u, uint32_t i) {
  bool name = !i && !u->port && !u->soft;
  Ink ink = u->sides == SIDE_BOTH ? (u->changed ? INK_TEXT : INK_SOFT) : side_ink(u->sides);
  return (Text){.face = name ? FACE_SANS_BOLD : FACE_SANS,
                .size = name ? NAME_SIZE : SMALL_SIZE,
                .ink = ink,
                .anchor = ANCHOR_MIDDLE};
}

double unit_width(const DiffUnit *u) {
  double w = 0;
  for (uint32_t i = 0; i < UNIT_LINES && u->line[i]; i++) {
    Text how = line_text(u, i);
    w = fmax(w, text_width(how.face, how.size, u->line[i]));
  }
  return ceil(u->port ? w + 8 : fmax(w + 2 * PAD, 40));
}

static uint32_t lines_of(const DiffUnit *u) {
  uint32_t n = 0;
  while (n < UNIT_LINES && u->line[n]) n++;
  return n;
}

double unit_height(const DiffUnit *u) { return u->port ? 18 : 14 + 15.0 * lines_of(u); }

static void outline(Canvas *c, const DiffUnit *u, double x, double y) {
  Paint paint = side_paint(u->sides, u->changed);
  paint.fill = u->sides == SIDE_BOTH && !u->changed ? INK_PLATE : INK_PAPER;
  if (u->soft) paint.dash[0] = 1.5, paint.dash[1] = 2.5;
  if (u->sides == SIDE_SECOND) paint.width = 1.1;
  path_rect(c, x, y, u->width, u->height, CORNER);
  canvas_paint(c, &paint);
  if (u->sides != SIDE_SECOND) return;
  path_rect(c, x + 3, y + 3, u->width - 6, u->height - 6, CORNER - 2);
  canvas_paint(c, &(Paint){.stroke = paint.stroke, .width = 1.1});
}

void unit_paint(Canvas *c, const DiffUnit *u, double x, double y) {
  double middle = x + u->width / 2, at = y + (u->height - 15.0 * lines_of(u)) / 2 + 11.5;
  canvas_open(c, "", "glyph", u->words);
  if (!u->port) outline(c, u, x, y);
  if (u->port && u->wires > 1) {
    double side = u->edge == EDGE_FIRST ? x + u->width : x;
    line_draw(c, side, y + 4, side, y + u->height - 4, side_ink(u->sides), 1.1);
  }
  for (uint32_t i = 0; i < UNIT_LINES && u->line[i]; i++) {
    Text how = line_text(u, i);
    canvas_text(c, middle, at + 15.0 * i, &how, u->line[i]);
  }
  canvas_close(c);
}

static bool enters_unit(const DiffUnit *u, Knee end) {
  return fabs(end.x - u->x) < 0.5 && end.y > u->y && end.y < u->y + u->height;
}

// A wire between rows has a line in each; it has an arrowhead where it enters its unit.
static void wire_draw(Canvas *c, const DiffScheme *s, const DiffWire *w, double x, double y) {
  Paint paint = side_paint(w->sides, false);
  const DiffUnit *to = &s->unit.at[w->to];
  canvas_open(c, "", "wire",
              arena_format(s->arena, "%s to %s", s->unit.at[w->from].words, to->words));
  for (uint32_t i = 0; i < w->way.line.n; i++) {
    knees_path(c, w->way.spot.at + w->way.line.at[i].first, w->way.line.at[i].n, CORNER, x, y);
    canvas_paint(c, &paint);
  }
  canvas_close(c);
  for (uint32_t i = 0; i < w->way.line.n && !to->port; i++) {
    Knee end = w->way.spot.at[w->way.line.at[i].first + w->way.line.at[i].n - 1];
    if (enters_unit(to, end)) arrowhead(c, end.x + x - 5, end.y + y, false, false, paint.stroke);
  }
}

void scheme_draw(Canvas *c, const DiffScheme *s, double x, double y) {
  for (uint32_t i = 0; i < s->wire.n; i++) wire_draw(c, s, &s->wire.at[i], x, y);
  for (uint32_t i = 0; i < s->unit.n; i++)
    if (!s->unit.at[i].stands)
      unit_paint(c, &s->unit.at[i], s->unit.at[i].x + x, s->unit.at[i].y + y);
}
