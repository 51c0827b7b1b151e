// A line of level and upright pieces on a canvas: its corners are round.
#include "show/layout/layers.h"

#include <math.h>

static Knee toward(const Knee *from, const Knee *to, double by) {
  double n = hypot(to->x - from->x, to->y - from->y);
  return (Knee){from->x + (to->x - from->x) / n * by, from->y + (to->y - from->y) / n * by};
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
