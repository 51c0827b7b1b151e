// Paths of points of a simplex during training: one panel per learner. Other values become curves
// over the steps.
//
// Two choices are a curve of the first one's probability; three are a triangle, more a regular
// polygon, whose corners are weighted by the probabilities. A path fades in over time, and its end
// is marked.
#include "show/report/plot_own.h"

#include <math.h>

enum { PANEL = 300, PANEL_GAP = 28, RADIUS = 104, PANEL_MOST = 64 };
static const double turn = 6.283185307179586;

typedef struct {
  const char *name;
  uint32_t array;
  const double *row; // [steps k], strided
  int64_t steps, k, stride;
} SimplexPath;
typedef VEC(SimplexPath) Paths;

static bool is_simplex(const double *row, int64_t k) {
  double sum = 0;
  for (int64_t i = 0; i < k; i++) {
    if (!is_seen(row[i]) || row[i] < -1e-3) return false;
    sum += row[i];
  }
  return fabs(sum - 1) < 1e-2;
}

static bool row_seen(const SimplexPath *q, int64_t step) {
  for (int64_t i = 0; i < q->k; i++)
    if (!is_seen(q->row[step * q->stride + i])) return false;
  return true;
}

static bool all_inside(Plot *p, const SimplexPath *q) {
  for (int64_t i = 0; i < q->steps; i++) {
    const double *row = q->row + i * q->stride;
    double sum = 0;
    if (!row_seen(q, i) || is_simplex(row, q->k)) continue;
    for (int64_t k = 0; k < q->k; k++) sum += row[k];
    return file_error(p->arena, p->error,
                      "`%s` cannot be shown as paths: found a row that sums to %g, or with a "
                      "negative number; wanted probabilities",
                      q->name, sum);
  }
  return true;
}

bool all_simplex(const Array *x) {
  SimplexPath q = {.row = x->data, .steps = x->shape[0], .k = x->rank == 2 ? x->shape[1] : 0};
  q.stride = q.k;
  for (int64_t i = 0; q.k > 1 && i < q.steps; i++)
    if (row_seen(&q, i) && !is_simplex(q.row + i * q.k, q.k)) return false;
  return q.k > 1;
}

// [steps k] is one path, [steps m k] is m of them.
static bool find_paths(Plot *p, Paths *out) {
  for (uint32_t i = 0; i < p->s->value.array.n; i++) {
    const Array *x = &p->s->value.array.at[i];
    if (x->rank < 2 || x->rank > 3 || x->shape[x->rank - 1] < 2)
      return plot_wrong(p, x, "[steps k] with k of 2 or more, rows that sum to 1");
    int64_t m = x->rank == 3 ? x->shape[1] : 1, k = x->shape[x->rank - 1];
    for (int64_t j = 0; j < m && out->n < PANEL_MOST; j++) {
      SimplexPath q = {line_name(p, i, j, m), i, x->data + j * k, x->shape[0], k, m * k};
      if (!all_inside(p, &q)) return false;
      vec_push(p->arena, out, q);
    }
  }
  return true;
}

// -- polygons -------------------------------------------------------------------------------------
static void corner(int64_t k, int64_t i, double *x, double *y) {
  double angle = turn * ((double)i / (double)k - 0.25);
  *x = cos(angle);
  *y = sin(angle);
}

static void draw_corners(Plot *p, Canvas *c, const SimplexPath *q, double cx, double cy) {
  double x, y;
  for (int64_t i = 0; i < q->k; i++) {
    corner(q->k, i, &x, &y);
    if (i)
      path_line(c, cx + RADIUS * x, cy + RADIUS * y);
    else
      path_move(c, cx + RADIUS * x, cy + RADIUS * y);
  }
  path_close(c);
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 1});
  path_circle(c, cx, cy, 1.5); // the uniform distribution
  canvas_paint(c, &(Paint){.fill = INK_SOFT});
  int64_t step = 1 + (q->k - 1) / 24;
  for (int64_t i = 0; i < q->k; i += step) {
    corner(q->k, i, &x, &y);
    Anchor anchor = x > 0.1 ? ANCHOR_START : x < -0.1 ? ANCHOR_END : ANCHOR_MIDDLE;
    canvas_text(c, cx + (RADIUS + 8) * x, cy + (RADIUS + 8) * y + 4 + 5 * y,
                &(Text){.size = LABEL_SIZE, .anchor = anchor},
                text_cut(p->arena, FACE_SANS, LABEL_SIZE, label_text(p, q->array, i), 56));
  }
}

static void draw_polygon(Plot *p, Canvas *c, const SimplexPath *q, PlotArea at, Ink ink) {
  double cx = at.x + at.w / 2, cy = at.y + at.h / 2 + (q->k == 3 ? RADIUS / 4.0 : 0);
  double(*point)[2] = (double(*)[2])NEW_ARRAY(p->arena, double, 2 * q->steps);
  draw_corners(p, c, q, cx, cy);
  for (int64_t i = 0; i < q->steps; i++) {
    double sx = 0, sy = 0, x, y;
    for (int64_t k = 0; k < q->k; k++) {
      corner(q->k, k, &x, &y);
      sx += x * q->row[i * q->stride + k];
      sy += y * q->row[i * q->stride + k];
    }
    point[i][0] = cx + RADIUS * sx;
    point[i][1] = cy + RADIUS * sy;
  }
  trail_draw(c, p->arena, (const double(*)[2])point, q->steps, ink);
}

// -- two choices ----------------------------------------------------------------------------------
static void draw_share(Plot *p, Canvas *c, const SimplexPath *q, PlotArea at, Ink ink) {
  FrameWish w = {.outer = at,
                 .x_title = "step",
                 .y = {0, 1, true},
                 .fixed_y = true,
                 .tight_x = true,
                 .whole_x = true};
  double(*point)[2] = (double(*)[2])NEW_ARRAY(p->arena, double, 2 * q->steps);
  for (int64_t i = 0; i < q->steps; i++)
    range_add(&w.x, p->s->step ? (double)p->s->step[i] : (double)i);
  PlotFrame f = frame_draw(p, c, &w);
  for (int64_t i = 0; i < q->steps; i++) {
    point[i][0] = scale_at(&f.x, p->s->step ? (double)p->s->step[i] : (double)i);
    point[i][1] = scale_at(&f.y, q->row[i * q->stride]);
  }
  trail_draw(c, p->arena, (const double(*)[2])point, q->steps, ink);
}

// -- panels ---------------------------------------------------------------------------------------
static const char *end_text(Plot *p, const SimplexPath *q) {
  Buf b = buf_new(p->arena);
  for (int64_t i = q->steps; i-- > 0;) {
    if (!row_seen(q, i)) continue;
    buf_text(&b, "ends at ");
    for (int64_t k = 0; k < q->k && k < 6; k++)
      buf_printf(&b, "%s%s", k ? ", " : "", number_fixed(p->arena, q->row[i * q->stride + k], 3));
    if (q->k > 6) buf_text(&b, ", …");
    break;
  }
  return b.at ? b.at : "";
}

static void draw_panel(Plot *p, Canvas *c, const SimplexPath *q, PlotArea at, Ink ink) {
  const char *name = q->name;
  if (q->k == 2)
    name = arena_format(p->arena, "%s: probability of %s", name, label_text(p, q->array, 0));
  canvas_text(c, at.x, at.y + 12, &(Text){.size = HEAD_SIZE, .ink = ink},
              text_cut(p->arena, FACE_SANS, HEAD_SIZE, name, at.w));
  PlotArea inner = {at.x, at.y + 22, at.w, at.h - 22 - LINE_STEP};
  if (q->k == 2)
    draw_share(p, c, q, inner, ink);
  else
    draw_polygon(p, c, q, inner, ink);
  soft_text(c, at.x, at.y + at.h - 2, ANCHOR_START,
            text_cut(p->arena, FACE_SANS, LABEL_SIZE, end_text(p, q), at.w));
}

// The leading axis is steps, not samples.
static Canvas *plain_paths(Plot *p) {
  Shown over = *p->s;
  Plot q = {.arena = p->arena, .s = &over, .error = p->error};
  over.samples = false;
  return plot_curves(&q);
}

Canvas *plot_paths(Plot *p) {
  Paths paths = {0};
  for (uint32_t i = 0; p->s->step && i < p->s->value.array.n; i++)
    if (!all_simplex(&p->s->value.array.at[i])) return plain_paths(p);
  if (!find_paths(p, &paths)) return NULL;
  Canvas *c = plot_canvas(p, "Paths");
  uint32_t columns = paths.n < 2 ? 1 : 2, rows = (paths.n + columns - 1) / columns;
  for (uint32_t i = 0; i < paths.n; i++) {
    PlotArea at = {(i % columns) * (PANEL + PANEL_GAP), (i / columns) * (PANEL + PANEL_GAP), PANEL,
                   PANEL};
    int64_t gaps = 0;
    draw_panel(p, c, &paths.at[i], at, series_ink(i));
    for (int64_t k = 0; k < paths.at[i].steps; k++) gaps += !row_seen(&paths.at[i], k);
    if (gaps)
      plot_note(p, "%lld steps of %s are not finite and left out", (long long)gaps,
                paths.at[i].name);
  }
  return plot_end(p, c, columns * (PANEL + PANEL_GAP) - PANEL_GAP,
                  rows * (PANEL + PANEL_GAP) - PANEL_GAP);
}
