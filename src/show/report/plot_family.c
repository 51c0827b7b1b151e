// Families: the same quantity in several runs, as curves or phase portraits in one frame.
//
// Colours follow the order of the runs, and names beside it are in the same order. With very many
// runs, all are drawn and some are named.
#include "show/report/plot_own.h"

#include <math.h>

enum { ORDERED = 10, NAMED_MOST = 24, NAME_STEP = 14, NAME_WIDE = 170, DRAWN_MOST = 200 };

typedef struct {
  Plot p;
  const ShownFamily *f;
  uint32_t n; // number of runs drawn
} Family;

static Ink order_ink(uint32_t i, uint32_t n) {
  return (Ink)(INK_ORDER1 + (n > 1 ? (i * (ORDERED - 1) + (n - 1) / 2) / (n - 1) : 0));
}

static uint32_t named_count(const Family *y) { return y->n < NAMED_MOST ? y->n : NAMED_MOST; }

static double legend_width(const Family *y) {
  double w = 0;
  for (uint32_t i = 0; i < y->n; i++) w = fmax(w, small_width(y->f->label[i]));
  return fmin(w, NAME_WIDE) + 34;
}

static double family_height(const Family *y) {
  return fmax(PLOT_HEIGHT, 60 + NAME_STEP * (double)named_count(y));
}

static void draw_legend(Family *y, Canvas *c, double x, double top) {
  uint32_t n = named_count(y);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = n > 1 ? (k * (y->n - 1) + (n - 1) / 2) / (n - 1) : 0;
    double at = top + NAME_STEP * (k + 0.5);
    Ink ink = order_ink(i, y->n);
    line_draw(c, x, at, x + 14, at, ink, 2);
    canvas_text(c, x + 20, at + 4, &(Text){.size = LABEL_SIZE, .ink = ink},
                text_cut(y->p.arena, FACE_SANS, LABEL_SIZE, y->f->label[i], NAME_WIDE));
  }
  if (n < y->n) plot_note(&y->p, "%u of %u runs are named.", n, y->n);
}

// -- curves ---------------------------------------------------------------------------------------
static PlotLine family_line(const Family *y, uint32_t run, int64_t k) {
  const Shown *s = &y->f->run[run];
  const Array *x = &s->value.array.at[0];
  int64_t of = x->rank == 2 ? x->shape[1] : 1;
  const char *name = *x->name ? x->name : s->text, *label = y->f->label[run];
  return (PlotLine){.name =
                        of > 1 ? arena_format(y->p.arena, "%s[%lld], %s", name, (long long)k, label)
                               : arena_format(y->p.arena, "%s, %s", name, label),
                    .x = s->moment,
                    .y = x->data + k,
                    .n = x->shape[0],
                    .stride = of,
                    .held = s->held && s->held[0],
                    .mark = s->mark,
                    .marks = s->marks};
}

static int64_t lines_of(const Family *y, uint32_t run) {
  const Array *x = &y->f->run[run].value.array.at[0];
  return x->rank == 2 ? x->shape[1] : 1;
}

// The colour identifies the run, the dash pattern one of its curves.
static const struct {
  const char *name;
  double dash[2];
} strokes[] = {
    {"solid", {0, 0}}, {"dashed", {7, 4}}, {"dotted", {1.5, 3}}, {"long dashes", {14, 4}}};

static void note_strokes(Family *y) {
  const Array *x = &y->f->run[0].value.array.at[0];
  Buf b = buf_new(y->p.arena);
  int64_t n = lines_of(y, 0), named = n < (int64_t)COUNT(strokes) ? n : (int64_t)COUNT(strokes);
  if (n < 2) return;
  for (int64_t k = 0; k < named; k++)
    buf_printf(&b, "%s%s[%lld] %s", k ? ", " : "", x->name, (long long)k, strokes[k].name);
  plot_note(&y->p, "%s%s.", b.at, n > named ? ", and so on from the first" : "");
}

static Canvas *family_curves(Family *y) {
  const Shown *s = &y->f->run[0];
  double height = family_height(y), right = legend_width(y);
  Canvas *c = plot_canvas(&y->p, "Curves of several runs");
  FrameWish w = {.outer = {0, 0, PLOT_WIDTH, height},
                 .x_title = s->over,
                 .y_title = with_unit(&y->p, 0, s->value.array.at[0].name),
                 .tight_x = true,
                 .whole_x = s->whole,
                 .right = right};
  VEC(PlotLine) line = {0};
  for (uint32_t i = 0; i < y->n; i++)
    for (int64_t k = 0; k < lines_of(y, i); k++) vec_push(y->p.arena, &line, family_line(y, i, k));
  PlotFrame f = lines_frame(&y->p, c, &w, line.at, line.n, 1e4, 1e12);
  for (uint32_t i = 0, at = 0; i < y->n; i++) {
    Paint paint = {.stroke = order_ink(i, y->n), .width = y->n > 12 ? 1.2 : 1.6, .round = true};
    for (int64_t k = 0; k < lines_of(y, i); k++, at++) {
      memcpy(paint.dash, strokes[k % (int64_t)COUNT(strokes)].dash, sizeof paint.dash);
      canvas_open(c, "", "line", line_words(&y->p, &line.at[at]));
      curve_draw(c, &f, &line.at[at], &paint);
      canvas_close(c);
    }
  }
  draw_legend(y, c, f.area.x + f.area.w + 14, f.area.y);
  note_strokes(y);
  return plot_end(&y->p, c, PLOT_WIDTH, height);
}

// -- phase portraits ------------------------------------------------------------------------------
static Canvas *family_phase(Family *y) {
  enum { PHASE_WIDE = 420 };
  double height = fmax(PHASE_WIDE, family_height(y)), right = legend_width(y);
  Canvas *c = plot_canvas(&y->p, "Phase portraits of several runs");
  Points *q = NEW_ARRAY(y->p.arena, Points, y->n + 1);
  FrameWish w = {.outer = {0, 0, PHASE_WIDE + right, height}, .right = right};
  int64_t gaps = 0;
  for (uint32_t i = 0; i < y->n; i++) {
    y->p.s = &y->f->run[i];
    if (!phase_points(&y->p, &q[i])) return NULL;
    for (int64_t k = 0; k < q[i].n; k++) gaps += !frame_add(&w, q[i].at[k][0], q[i].at[k][1]);
  }
  w.x_title = q[0].x_name, w.y_title = q[0].y_name;
  PlotFrame f = frame_draw(&y->p, c, &w);
  for (uint32_t i = 0; i < y->n; i++) {
    for (int64_t k = 0; k < q[i].n; k++) {
      q[i].at[k][0] = scale_at(&f.x, q[i].at[k][0]);
      q[i].at[k][1] = scale_at(&f.y, q[i].at[k][1]);
    }
    canvas_open(c, "", "line", y->f->label[i]);
    trail_draw(c, y->p.arena, (const double(*)[2])q[i].at, q[i].n, order_ink(i, y->n));
    canvas_close(c);
  }
  draw_legend(y, c, f.area.x + f.area.w + 14, f.area.y);
  plot_note(&y->p, "Time runs from light to strong; the dots are the ends.");
  if (gaps) plot_note(&y->p, "%lld points are not finite and left out", (long long)gaps);
  return plot_end(&y->p, c, PHASE_WIDE + right, height);
}

Canvas *plot_family(Arena *a, const ShownFamily *f, PlotCursor *cursor, const char **error) {
  Family y = {
      .p = {.arena = a, .s = &f->run[0], .error = error, .cursor = cursor}, .f = f, .n = f->n};
  if (y.n > DRAWN_MOST) {
    plot_note(&y.p, "%d of %u runs", DRAWN_MOST, y.n);
    y.n = DRAWN_MOST;
  }
  return strcmp(f->run[0].view, "phase") == 0 ? family_phase(&y) : family_curves(&y);
}
