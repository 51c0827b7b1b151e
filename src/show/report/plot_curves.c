// Curves over time.
//
// [t] is one line, [t k] is k lines. With samples, each sample is a line. The horizontal axis is
// given by the program: values of `for t in …`, training steps, or positions.
#include "show/report/plot_own.h"

#include <math.h>

typedef struct {
  VEC(PlotLine) line;
  VEC(uint32_t) array; // of each
} CurveLines;

// The values along the horizontal axis; NULL: 0, 1, 2 …
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
    line.held = p->s->held && p->s->held[array];
    line.mark = p->s->mark, line.marks = p->s->marks;
    vec_push(p->arena, &to->line, line);
    vec_push(p->arena, &to->array, array);
  }
  if (of > LINE_LIMIT) plot_note(p, "%s has %lld lines", line_name(p, array, 0, 1), (long long)of);
  return true;
}

// The axis title: the quantity, or a common unit. With several units, each line has its own.
static const char *axis_title(Plot *p, CurveLines *to) {
  const Shown *s = p->s;
  uint32_t n = s->value.array.n, same = 0, any = 0;
  for (uint32_t i = 0; s->unit && i < n; i++) {
    any += s->unit[i] != NULL;
    same += s->unit[i] && s->unit[0] && !strcmp(s->unit[i], s->unit[0]);
  }
  if (!any) return NULL;
  if (same == n) return n == 1 ? with_unit(p, 0, line_name(p, 0, 0, 1)) : s->unit[0];
  for (uint32_t i = 0; i < to->line.n; i++)
    to->line.at[i].name = with_unit(p, to->array.at[i], to->line.at[i].name);
  return NULL;
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
                    .y_title = axis_title(p, &lines),
                    .whole_x = !s->over || s->whole,
                    .marks = true,
                    .log_from = s->over ? 1e4 : 0,
                    .log_most = s->over ? 1e12 : 0};
  double y = lines_draw(p, c, 0, lines.line.at, lines.line.n, &wish);
  return plot_end(p, c, PLOT_WIDTH, y);
}
