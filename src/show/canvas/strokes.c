// Lines, shapes, dots, words and arrowheads, common to all kinds of pictures.
#include "show/canvas/strokes.h"

#include <math.h>

static Knee toward(const Knee *from, const Knee *to, double by) {
  double n = hypot(to->x - from->x, to->y - from->y);
  return (Knee){from->x + (to->x - from->x) / n * by, from->y + (to->y - from->y) / n * by};
}

Knee knee_along(Knee from, Knee way, double by, double aside) {
  return (Knee){from.x + way.x * by - way.y * aside, from.y + way.y * by + way.x * aside};
}

void knees_path(Canvas *c, const Knee *at, uint32_t n, double corner, double x, double y) {
  path_move(c, at[0].x + x, at[0].y + y);
  for (uint32_t i = 1; i + 1 < n; i++) {
    double before = hypot(at[i].x - at[i - 1].x, at[i].y - at[i - 1].y);
    double after = hypot(at[i].x - at[i + 1].x, at[i].y - at[i + 1].y);
    double r = fmin(corner, fmin(before, after) / 2);
    if (r < 0.1) path_line(c, at[i].x + x, at[i].y + y);
    if (r < 0.1) continue;
    Knee a = toward(&at[i], &at[i - 1], r), b = toward(&at[i], &at[i + 1], r);
    Knee p = toward(&at[i], &at[i - 1], r * 0.45), q = toward(&at[i], &at[i + 1], r * 0.45);
    path_line(c, a.x + x, a.y + y);
    path_cubic(c, p.x + x, p.y + y, q.x + x, q.y + y, b.x + x, b.y + y);
  }
  path_line(c, at[n - 1].x + x, at[n - 1].y + y);
}

void line_draw(Canvas *c, double x0, double y0, double x1, double y1, Ink ink, double width) {
  path_move(c, x0, y0), path_line(c, x1, y1);
  canvas_paint(c, &(Paint){.stroke = ink, .width = width});
}

void shape_draw(Canvas *c, const Knee *at, uint32_t n, const Paint *how) {
  for (uint32_t i = 0; i < n; i++) (i ? path_line : path_move)(c, at[i].x, at[i].y);
  path_close(c);
  canvas_paint(c, how);
}

void dot_draw(Canvas *c, double x, double y, double r, Ink ink) {
  canvas_open(c, "", "dot", "");
  path_circle(c, x, y, r);
  canvas_paint(c, &(Paint){.fill = ink});
  canvas_close(c);
}

void words_draw(Canvas *c, const char *class, double x, double y, const Text *how,
                const char *words) {
  canvas_open(c, "", class, "");
  canvas_text(c, x, y, how, words);
  canvas_close(c);
}

void label_draw(Canvas *c, double x, double y, const Text *how, const char *text) {
  canvas_open(c, "", "label", "");
  math_text(c, x, y, how, text);
  canvas_close(c);
}

void arrowhead(Canvas *c, double x, double y, bool back, bool turn, Ink ink) {
  static const double shape[4][2] = {{5, 0}, {-5, 4.6}, {-2, 0}, {-5, -4.6}};
  double s = back ? -1 : 1;
  canvas_open(c, "", "arrow", "");
  for (int i = 0; i < 4; i++) {
    double u = s * shape[i][0], v = s * shape[i][1];
    (i ? path_line : path_move)(c, x + (turn ? v : u), y + (turn ? u : v));
  }
  path_close(c);
  canvas_paint(c, &(Paint){.fill = ink});
  canvas_close(c);
}

void tip_draw(Canvas *c, double x, double y) {
  double back = x - 10.72, neck = x - 7.12;
  shape_draw(c, (Knee[]){{x, y}, {back, y + 5.15}, {neck, y}, {back, y - 5.15}}, 4,
             &(Paint){.fill = INK_LINE});
}

void plus_circle(Canvas *c, double x, double y) {
  canvas_open(c, "", "dot", "");
  path_circle(c, x, y, 5);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  path_move(c, x - 3, y), path_line(c, x + 3, y), path_move(c, x, y - 3), path_line(c, x, y + 3);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}
