// Draws a learning diagram: spaces, arrows with their bands, labels.
//
// Everything can be told apart without colour. An index is a stack of sheets, a space with a
// distance has a double outline, other spaces a single one. A learned map is a thick line, a frozen
// one is dashed with a snowflake, other maps are thin. The bands of a pair run below the lines of
// its two routes, one solid and one dashed.
#include "show/layout/sketch.h"
#include "show/wiring/graph_own.h"

#include <math.h>

enum { NAME = 16, SMALL = 11, EDGE_NAME = 13, SHEET = 3, SIDE = 12, TIP = 11, FLAKE = 12 };
#define BAND 3.5  // distance of bands
#define FIRST 5.0 // from the line to the first band
#define CORNER 7.0

static Paint band_paint(const Band *b) {
  Paint p = {.stroke = (Ink)(INK_SERIES1 + b->pair % BANDS), .width = 2};
  if (b->dashed) p.dash[0] = 5, p.dash[1] = 3;
  return p;
}

// -- spots ----------------------------------------------------------------------------------------
static double line_width(const char *text, double size, Face face) {
  return text ? math_width(face, size, text) : 0;
}

void spot_measure(Spot *s) {
  double w = fmax(line_width(s->name, NAME, FACE_ITALIC), line_width(s->type, SMALL, FACE_SANS));
  w = fmax(w, line_width(s->by, SMALL, FACE_SANS));
  s->width = ceil(fmax(44, w + 2 * SIDE));
  s->height = 34 + (s->type ? 15 : 0) + (s->by ? 14 : 0);
}

static void outline(Canvas *c, const Spot *s, double x, double y) {
  Ink fill = s->joined ? INK_KEPT : s->index ? INK_FUNCTION : s->by ? INK_LEARNED : INK_PLATE;
  for (int k = s->index ? 2 : 0; k >= 0; k--) {
    path_rect(c, x - k * SHEET, y + k * SHEET, s->width, s->height, s->index ? 0 : 9);
    canvas_paint(c, &(Paint){.fill = fill, .stroke = INK_LINE, .width = 1});
  }
  if (!s->by || s->index) return;
  path_rect(c, x + 3, y + 3, s->width - 6, s->height - 6, 6.5);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
}

static void draw_alarm(Canvas *c, const Spot *s, double x, double y) {
  path_rect(c, x, y, s->width, s->height, s->index ? 0 : 9);
  canvas_paint(c, &(Paint){.stroke = INK_ALARM, .width = 2, .dash = {5, 3}});
}

static void spot_paint(Canvas *c, const Spot *s, double x, double y) {
  double middle = x + s->width / 2, height = 20 + (s->type ? 15 : 0) + (s->by ? 14 : 0);
  double at = y + (s->height - height) / 2 + 15;
  Text small = {.face = FACE_SANS, .size = SMALL, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT};
  canvas_open(c, "", "glyph", s->words);
  canvas_of(c, s->said);
  outline(c, s, x, y);
  if (s->alarm) draw_alarm(c, s, x, y);
  math_text(c, middle, at,
            &(Text){.face = FACE_ITALIC, .size = NAME, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
            s->name);
  if (s->type) math_text(c, middle, at += 15, &small, s->type);
  if (s->by) math_text(c, middle, at + 14, &small, s->by);
  canvas_close(c);
}

// -- lines ----------------------------------------------------------------------------------------
// The parallel of a rectilinear path at a distance to the right, shortened by `less` at the ends.
static void shifted(const Arrow *w, double by, double less, double dx, double dy, Knee *out) {
  uint32_t n = w->knees;
  const Knee *at = w->path;
  for (uint32_t i = 0; i < n; i++) {
    Knee k = {at[i].x + dx, at[i].y + dy};
    for (int end = 0; end < 2; end++) { // the segments before and after
      const Knee *a = end ? &at[i] : &at[i - 1], *b = a + 1;
      if ((!end && !i) || (end && i + 1 == n)) continue;
      if (fabs(a->y - b->y) < 0.01)
        k.y = at[i].y + dy + (b->x > a->x ? by : -by);
      else
        k.x = at[i].x + dx + (b->y > a->y ? -by : by);
    }
    out[i] = k;
  }
  out[0].x += less;
  out[n - 1].x += out[n - 2].x < out[n - 1].x ? -less : less;
}

static Paint line_paint(const Arrow *w) {
  if (w->alarm) return (Paint){.stroke = INK_ALARM, .width = 2.4, .dash = {5, 3}};
  if (w->link) return (Paint){.stroke = INK_SOFT, .width = 1, .dash = {2, 3}};
  if (w->frozen) return (Paint){.stroke = INK_SOFT, .width = 2.2, .dash = {7, 4}};
  return (Paint){.stroke = INK_LINE, .width = w->learned ? 2.4 : 1.1};
}

static void arrow_tip(Canvas *c, const Arrow *w, double dx, double dy) {
  uint32_t n = w->knees;
  Knee end = w->back ? w->path[0] : w->path[n - 1];
  bool left = w->back || w->path[n - 2].x > w->path[n - 1].x;
  arrowhead(c, end.x + dx + (left ? 5 : -5), end.y + dy, left, false,
            w->alarm    ? INK_ALARM
            : w->frozen ? INK_SOFT
                        : INK_LINE);
}

static void arrow_paint(Canvas *c, Arena *a, const Arrow *w, double dx, double dy) {
  Knee *at = NEW_ARRAY(a, Knee, w->knees + 1);
  canvas_open(c, "", "wire", w->words);
  canvas_of(c, w->said);
  for (uint32_t i = 0; i <= w->band.n; i++) { // the line, then its bands
    Paint paint = i ? band_paint(&w->band.at[i - 1]) : line_paint(w);
    shifted(w, i ? FIRST + BAND * (i - 1) : 0, i ? TIP : !w->link, dx, dy, at);
    knees_path(c, at, w->knees, CORNER, 0, 0);
    canvas_paint(c, &paint);
  }
  canvas_close(c);
  if (!w->link) arrow_tip(c, w, dx, dy);
}

// -- labels ---------------------------------------------------------------------------------------
static double inner_gap(const Arrow *w) { return w->name && w->inner ? 6 : 0; }

void arrow_measure(Arrow *w) {
  w->label = line_width(w->name, EDGE_NAME - 1, FACE_SANS) + inner_gap(w) +
             line_width(w->inner, EDGE_NAME + 1, FACE_ITALIC) + (w->frozen ? FLAKE + 4 : 0);
  w->under = w->band.n ? FIRST + BAND * w->band.n : 0;
}

// Six arms with forked ends.
static void snowflake(Canvas *c, double x, double y) {
  for (int i = 0; i < 6; i++) {
    double dx = sin(i * 1.0471975512), dy = cos(i * 1.0471975512);
    path_move(c, x, y), path_line(c, x + 5.2 * dx, y + 5.2 * dy);
    path_move(c, x + 4.8 * dx - 1.6 * dy, y + 4.8 * dy + 1.6 * dx);
    path_line(c, x + 3.2 * dx, y + 3.2 * dy);
    path_line(c, x + 4.8 * dx + 1.6 * dy, y + 4.8 * dy - 1.6 * dx);
  }
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 0.9});
}

static void label_paint(Canvas *c, const Arrow *w, double dx, double dy) {
  double x = w->label_x + dx - w->label / 2, y = w->label_y + dy - 5.5;
  Ink ink = w->alarm ? INK_ALARM : w->frozen ? INK_SOFT : INK_TEXT;
  if (w->label <= 0) return;
  canvas_open(c, "", "label", w->words);
  canvas_of(c, w->said);
  if (w->frozen) {
    canvas_open(c, "", "sign", "*");
    snowflake(c, x + FLAKE / 2.0, y - 4);
    canvas_close(c);
    x += FLAKE + 4;
  }
  if (w->name) {
    math_text(c, x, y, &(Text){.face = FACE_SANS, .size = EDGE_NAME - 1, .ink = ink}, w->name);
    x += math_width(FACE_SANS, EDGE_NAME - 1, w->name) + inner_gap(w);
  }
  if (w->inner)
    math_text(c, x, y, &(Text){.face = FACE_ITALIC, .size = EDGE_NAME + 1, .ink = ink}, w->inner);
  canvas_close(c);
}

void band_key(Canvas *c, uint32_t pair, double x, double y) {
  canvas_open(c, "", "touch", "");
  for (int k = 0; k < 2; k++) {
    Paint paint = band_paint(&(Band){pair, k});
    path_move(c, x, y + (k ? 3.5 : -1)), path_line(c, x + 34, y + (k ? 3.5 : -1));
    canvas_paint(c, &paint);
  }
  canvas_close(c);
}

void scheme_paint(Canvas *c, const Scheme *s, double x, double y) {
  for (uint32_t i = 0; i < s->arrow.n; i++) arrow_paint(c, s->arena, &s->arrow.at[i], x, y);
  for (uint32_t i = 0; i < s->spot.n; i++)
    spot_paint(c, &s->spot.at[i], s->spot.at[i].x + x, s->spot.at[i].y + y);
  for (uint32_t i = 0; i < s->arrow.n; i++) label_paint(c, &s->arrow.at[i], x, y);
}
