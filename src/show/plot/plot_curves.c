// Curves over time, and two of them against each other.
//
// An array [t] is one line, [t k] is k of them. Where samples stand in front, each sample is a
// line. What runs along the axis is what the program said: values of `for t in …`, steps of
// training, or positions.
#include "show/plot/plot_own.h"

#include <math.h>

typedef struct {
  VEC(PlotLine) line;
} CurveLines;

// The values along the axis that lines run over; NULL: positions 0, 1, 2 …
static const double *axis_values(Plot *p, int64_t n) {
  const Shown *s = p->s;
  if (s->over) return s->moment;
  if (!s->step) return NULL;
  double *x = NEW_ARRAY(p->arena, double, n);
  for (int64_t i = 0; i < n; i++) x[i] = (double)s->step[i];
  return x;
}

static bool add_lines(Plot *p, uint32_t array, CurveLines *to) {
  const Array *x = &p->s->value.array.at[array];
  bool across = p->s->samples && x->rank == 2; // [n t]
  if (x->rank < 1 || x->rank > 2)
    return plot_wrong(p, x, p->s->samples ? "[n] or [n t]" : "[t] or [t k]");
  int64_t of = x->rank == 1 ? 1 : across ? x->shape[0] : x->shape[1];
  int64_t n = across ? x->shape[1] : x->shape[0];
  for (int64_t k = 0; k < of && to->line.n <= LINE_LIMIT; k++) {
    const char *name = !across && of > 1 && labels_known(p, array) ? label_text(p, array, k)
                                                                   : line_name(p, array, k, of);
    PlotLine line = {.name = name, .x = axis_values(p, n), .n = n, .smooth = p->s->whole};
    line.y = x->data + (across ? k * n : k);
    line.stride = across ? 1 : of;
    vec_push(p->arena, &to->line, line);
  }
  if (of > LINE_LIMIT) plot_note(p, "%s has %lld lines", line_name(p, array, 0, 1), (long long)of);
  return true;
}

Canvas *plot_curves(Plot *p) {
  const Shown *s = p->s;
  CurveLines lines = {0};
  for (uint32_t i = 0; i < s->value.array.n; i++)
    if (!add_lines(p, i, &lines)) return NULL;
  Canvas *c = plot_canvas(p, "Curves");
  LinesWish wish = {.x_title = s->over                                        ? s->over
                               : s->step                                      ? "step"
                               : s->samples && s->value.array.at[0].rank == 1 ? "sample"
                                                                              : NULL,
                    .whole_x = !s->over || s->whole,
                    .marks = true,
                    .log_from = s->over ? 1e4 : 0,
                    .log_most = s->over ? 1e12 : 0};
  double y = lines_draw(p, c, 0, lines.line.at, lines.line.n, &wish);
  canvas_resize(c, PLOT_WIDTH, plot_caption(p, c, y));
  return c;
}

// -- phase ----------------------------------------------------------------------------------------
typedef struct {
  const double *x, *y;
  int64_t n, stride;
  const char *x_name, *y_name;
} PhasePair;

static bool find_pair(Plot *p, PhasePair *out) {
  const Array *a = p->s->value.array.at;
  if (p->s->value.array.n == 2 && a[0].rank == 1 && a[1].rank == 1) {
    *out = (PhasePair){
        a[0].data, a[1].data, a[0].shape[0], 1, line_name(p, 0, 0, 1), line_name(p, 1, 0, 1)};
    return a[0].shape[0] == a[1].shape[0] ||
           plot_wrong(p, &a[1],
                      arena_format(p->arena, "as many as %s has, %s", line_name(p, 0, 0, 1),
                                   shape_text(p->arena, &a[0])));
  }
  if (p->s->value.array.n == 1 && a[0].rank == 2 && a[0].shape[1] == 2) {
    *out = (PhasePair){a[0].data, a[0].data + 1,         a[0].shape[0],
                       2,         line_name(p, 0, 0, 2), line_name(p, 0, 1, 2)};
    return true;
  }
  return plot_wrong(p, &a[0], "two arrays [t], or one [t 2]");
}

Canvas *plot_phase(Plot *p) {
  PhasePair pair = {0};
  if (!find_pair(p, &pair)) return NULL;
  enum { SIDE = 420 };
  Canvas *c = plot_canvas(p, "Phase portrait");
  FrameWish w = {.outer = {0, 0, SIDE, SIDE}, .x_title = pair.x_name, .y_title = pair.y_name};
  int64_t gaps = 0;
  for (int64_t i = 0; i < pair.n; i++) {
    double x = pair.x[i * pair.stride], y = pair.y[i * pair.stride];
    gaps += !is_seen(x) || !is_seen(y);
    if (!is_seen(x) || !is_seen(y)) continue;
    range_add(&w.x, x);
    range_add(&w.y, y);
  }
  PlotFrame f = frame_draw(p, c, &w);
  double(*at)[2] = (double(*)[2])NEW_ARRAY(p->arena, double, 2 * pair.n);
  for (int64_t i = 0; i < pair.n; i++) {
    at[i][0] = scale_at(&f.x, pair.x[i * pair.stride]);
    at[i][1] = scale_at(&f.y, pair.y[i * pair.stride]);
  }
  trail_draw(c, p->arena, (const double(*)[2])at, pair.n, INK_SERIES1);
  plot_note(p, "Time runs from light to strong; the dot is the end.");
  if (gaps) plot_note(p, "%lld points are not finite and left out", (long long)gaps);
  canvas_resize(c, SIDE, plot_caption(p, c, SIDE));
  return c;
}
