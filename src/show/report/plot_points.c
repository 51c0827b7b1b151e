// Points in the plane: given directly, or codes projected to their principal axes; and phase
// portraits.
//
// Points come from [n 2], two arrays [n], or [n z]; another array [n] colours them: few integers
// are labels, each with a colour and mark and a legend, otherwise a colour scale. Of very many
// points every k-th is drawn.
#include "show/report/plot_own.h"

#include <math.h>

enum { LABEL_MOST = 32, LEGEND_WIDTH = 120, BINS = 12, SIDE = 460 };

// Reads two arrays [n], or one [n 2].
static void read_points(Plot *p, bool two, Points *out) {
  const Array *a = p->s->value.array.at;
  out->n = a[0].shape[0];
  out->at = (double(*)[2])NEW_ARRAY(p->arena, double, 2 * out->n);
  for (int64_t i = 0; i < out->n; i++) {
    out->at[i][0] = two ? a[0].data[i] : a[0].data[2 * i];
    out->at[i][1] = two ? a[1].data[i] : a[0].data[2 * i + 1];
  }
  out->x_name = with_unit(p, 0, line_name(p, 0, 0, two ? 1 : 2));
  out->y_name = with_unit(p, two, two ? line_name(p, 1, 0, 1) : line_name(p, 0, 1, 2));
  out->next = two ? 2 : 1;
}

static bool find_points(Plot *p, Points *out) {
  const Shown *s = p->s;
  const Array *a = s->value.array.at;
  bool two = s->value.array.n >= 2 && a[0].rank == 1 && a[1].rank == 1 &&
             a[0].shape[0] == a[1].shape[0] && !labels_known(p, 1);
  if (!two && (a[0].rank != 2 || a[0].shape[1] != 2))
    return plot_wrong(p, &a[0], "[n z] with z of 2 or more, or two arrays [n]");
  read_points(p, two, out);
  return true;
}

static void add_points(const Points *q, FrameWish *w, int64_t *gaps) {
  *gaps = 0;
  for (int64_t i = 0; i < q->n; i++) *gaps += !frame_add(w, q->at[i][0], q->at[i][1]);
}

static void note_lost(Plot *p, int64_t gaps) {
  if (gaps) plot_note(p, "%lld points are not finite and left out", (long long)gaps);
}

// -- colours --------------------------------------------------------------------------------------
typedef struct {
  const double *value; // [n]; NULL: one colour
  int64_t labels;      // 0: numbers
  uint32_t array;
  PlotRange range;
} Colours;

static bool find_colours(Plot *p, const Points *q, Colours *out) {
  *out = (Colours){.array = q->next};
  if (q->next >= p->s->value.array.n) return true;
  const Array *x = &p->s->value.array.at[q->next];
  if (x->rank != 1 || x->shape[0] != q->n)
    return plot_wrong(
        p, x,
        arena_format(p->arena, "[%lld]: a label or a number for each point", (long long)q->n));
  bool whole = true;
  for (int64_t i = 0; i < q->n; i++) {
    range_add(&out->range, x->data[i]);
    whole &= !is_seen(x->data[i]) || x->data[i] == floor(x->data[i]);
  }
  out->value = x->data;
  if (whole && out->range.any && out->range.low >= 0 && out->range.high < LABEL_MOST)
    out->labels = (int64_t)out->range.high + 1;
  return true;
}

// The group in which a point is painted; -1: none.
static int64_t group_of(const Colours *k, int64_t i) {
  if (!k->value) return 0;
  if (!is_seen(k->value[i])) return -1;
  if (k->labels) return (int64_t)k->value[i];
  double part = (k->value[i] - k->range.low) / fmax(k->range.high - k->range.low, 1e-300);
  int64_t bin = (int64_t)(part * BINS);
  return bin >= BINS ? BINS - 1 : bin;
}

static int64_t groups_of(const Colours *k) { return !k->value ? 1 : k->labels ? k->labels : BINS; }

// Dots, then rings, squares and crosses, for labels beyond the number of colours.
static void draw_mark(Canvas *c, double x, double y, int64_t kind) {
  if (kind == 0) path_circle(c, x, y, 2.2);
  if (kind == 1) path_circle(c, x, y, 2.4);
  if (kind == 2) path_rect(c, x - 2, y - 2, 4, 4, 0);
  if (kind == 3) {
    path_move(c, x - 2.2, y - 2.2), path_line(c, x + 2.2, y + 2.2);
    path_move(c, x - 2.2, y + 2.2), path_line(c, x + 2.2, y - 2.2);
  }
}

static Paint group_paint(const Colours *k, int64_t group, double opacity) {
  Ink ink = k->labels ? series_ink((uint32_t)group) : INK_SERIES1;
  int64_t kind = k->labels ? group / SERIES : 0;
  Paint paint = {.opacity = opacity};
  if (kind % 2)
    paint.stroke = ink, paint.width = 1.2;
  else
    paint.fill = ink;
  if (k->value && !k->labels) paint.opacity = 0.15 + 0.85 * (double)(group + 1) / BINS;
  return paint;
}

static bool is_drawn(const Points *q, const Colours *k, int64_t i, int64_t group) {
  return is_seen(q->at[i][0]) && is_seen(q->at[i][1]) && group_of(k, i) == group;
}

static void draw_points(Plot *p, Canvas *c, const PlotFrame *f, const Points *q, const Colours *k) {
  int64_t step = 1 + (q->n - 1) / POINT_LIMIT;
  for (int64_t g = 0; g < groups_of(k); g++) {
    bool any = false;
    for (int64_t i = 0; i < q->n; i += step) {
      if (!is_drawn(q, k, i, g)) continue;
      draw_mark(c, scale_at(&f->x, q->at[i][0]), scale_at(&f->y, q->at[i][1]),
                k->labels ? g / SERIES : 0);
      any = true;
    }
    Paint paint = group_paint(k, g, q->n > 300 ? 0.65 : 0.85);
    if (any) canvas_paint(c, &paint);
  }
  if (step > 1)
    plot_note(p, "%lld of %lld points", (long long)((q->n - 1) / step + 1), (long long)q->n);
}

static bool label_used(const Colours *k, int64_t n, int64_t label) {
  for (int64_t i = 0; i < n; i++)
    if (k->value[i] == (double)label) return true;
  return false;
}

static double draw_legend(Plot *p, Canvas *c, const Points *q, const Colours *k, double x,
                          double y) {
  for (int64_t g = 0; g < k->labels; g++) {
    if (!label_used(k, q->n, g)) continue;
    Paint paint = group_paint(k, g, 1);
    draw_mark(c, x + 4, y - 4, g / SERIES);
    canvas_paint(c, &paint);
    canvas_text(
        c, x + 14, y, &(Text){.size = LABEL_SIZE},
        text_cut(p->arena, FACE_SANS, LABEL_SIZE, label_text(p, k->array, g), LEGEND_WIDTH - 20));
    y += LINE_STEP;
  }
  return y;
}

static double draw_strengths(Plot *p, Canvas *c, const Colours *k, double x, double y) {
  const char *name = line_name(p, k->array, 0, 1);
  soft_text(c, x, y, ANCHOR_START,
            text_cut(p->arena, FACE_SANS, LABEL_SIZE, name, LEGEND_WIDTH - 8));
  const double value[] = {k->range.low, k->range.high};
  for (int i = 0; i < 2; i++) {
    Paint paint = group_paint(k, i * (BINS - 1), 1);
    y += LINE_STEP;
    draw_mark(c, x + 4, y - 4, 0);
    canvas_paint(c, &paint);
    canvas_text(c, x + 14, y, &(Text){.size = LABEL_SIZE}, number_text(p->arena, value[i]));
  }
  return y + LINE_STEP;
}

static Canvas *draw_plane(Plot *p, const Points *q, const Colours *k, bool equal,
                          const char *kind) {
  Canvas *c = plot_canvas(p, kind);
  FrameWish w = {
      .outer = {0, 0, SIDE, SIDE - 60}, .equal = equal, .x_title = q->x_name, .y_title = q->y_name};
  int64_t gaps;
  add_points(q, &w, &gaps);
  PlotFrame f = frame_draw(p, c, &w);
  draw_points(p, c, &f, q, k);
  double y = f.area.y + 8, width = SIDE;
  if (k->value) {
    width += LEGEND_WIDTH;
    y = k->labels ? draw_legend(p, c, q, k, SIDE + 4, y) : draw_strengths(p, c, k, SIDE + 4, y);
  }
  note_lost(p, gaps);
  return plot_end(p, c, width, fmax(y, w.outer.h));
}

static bool has_axes(const Array *x) { return x->rank == 2 && x->shape[1] > 2; }

Canvas *plot_scatter(Plot *p) {
  Points q = {0};
  Colours k;
  if (has_axes(&p->s->value.array.at[0])) return plot_latent(p);
  if (!find_points(p, &q) || !find_colours(p, &q, &k)) return NULL;
  return draw_plane(p, &q, &k, false, "Points");
}

Canvas *plot_latent(Plot *p) {
  const Array *x = &p->s->value.array.at[0];
  bool good = x->rank == 2 && x->shape[1] >= 2;
  if (!good && !plot_wrong(p, x, "[n z] with z of 2 or more")) return NULL;
  Points q = {.n = x->shape[0], .next = 1};
  Colours k;
  double share[2];
  if (!find_colours(p, &q, &k)) return NULL;
  q.at = (double(*)[2])NEW_ARRAY(p->arena, double, 2 * q.n);
  if (!has_axes(x)) {
    memcpy(q.at, x->data, sizeof *q.at * (size_t)q.n);
    q.x_name = line_name(p, 0, 0, 2), q.y_name = line_name(p, 0, 1, 2);
  } else {
    principal_axes(p->arena, x->data, q.n, x->shape[1], q.at, share);
    q.x_name = arena_format(p->arena, "first axis, %.0f %% of the spread", 100 * share[0]);
    q.y_name = arena_format(p->arena, "second axis, %.0f %%", 100 * share[1]);
    plot_note(p, "%s has %lld numbers; seen along its two principal axes.", line_name(p, 0, 0, 1),
              (long long)x->shape[1]);
  }
  return draw_plane(p, &q, &k, true, "Codes");
}

// -- phase ----------------------------------------------------------------------------------------
bool phase_points(Plot *p, Points *out) {
  const Array *a = p->s->value.array.at;
  uint32_t n = p->s->value.array.n;
  bool two = n == 2 && a[0].rank == 1 && a[1].rank == 1;
  if (two && a[0].shape[0] != a[1].shape[0])
    return plot_wrong(p, &a[1],
                      arena_format(p->arena, "as many as %s has, %s", line_name(p, 0, 0, 1),
                                   shape_text(p->arena, &a[0])));
  if (!two && (n != 1 || a[0].rank != 2 || a[0].shape[1] != 2))
    return plot_wrong(p, &a[0], "two arrays [t], or one [t 2]");
  read_points(p, two, out);
  return true;
}

Canvas *plot_phase(Plot *p) {
  enum { PHASE_SIDE = 420 };
  Points q = {0};
  int64_t gaps;
  if (!phase_points(p, &q)) return NULL;
  Canvas *c = plot_canvas(p, "Phase portrait");
  FrameWish w = {.outer = {0, 0, PHASE_SIDE, PHASE_SIDE}, .x_title = q.x_name, .y_title = q.y_name};
  add_points(&q, &w, &gaps);
  PlotFrame f = frame_draw(p, c, &w);
  for (int64_t i = 0; i < q.n; i++) {
    q.at[i][0] = scale_at(&f.x, q.at[i][0]);
    q.at[i][1] = scale_at(&f.y, q.at[i][1]);
  }
  trail_draw(c, p->arena, (const double(*)[2])q.at, q.n, INK_SERIES1);
  if (p->cursor && p->s->over)
    *p->cursor = (PlotCursor){.point = (const double(*)[2])q.at, .points = q.n};
  plot_note(p, "Time runs from light to strong; the dot is the end.");
  note_lost(p, gaps);
  return plot_end(p, c, PHASE_SIDE, PHASE_SIDE);
}
