// Lines in a frame, each named at its end.
//
// Of many points only the visible ones are drawn: in each pixel column the first, minimal, maximal
// and last one, so single spikes are kept. A non-finite value interrupts its line. Names are on the
// right, spread where lines end close together.
#include "show/report/plot_own.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_ROOM = 150, NAME_GAP = 14 };

Ink series_ink(uint32_t i) { return (Ink)(INK_SERIES1 + i % SERIES); }

static uint32_t series_of(const PlotLine *l, uint32_t i) { return l->as ? l->as - 1 : i; }

static Paint series_paint(uint32_t i, double width) {
  static const double on[] = {0, 5, 1.5}; // solid, dashed, dotted
  Paint p = {.stroke = series_ink(i), .width = width, .round = true};
  if (i >= SERIES) p.dash[0] = on[i / SERIES], p.dash[1] = 3;
  return p;
}

// -- names ----------------------------------------------------------------------------------------
void labels_spread(double *place, uint32_t n, double gap, double low, double high) {
  if (n > 1 && gap * (n - 1) > high - low) gap = (high - low) / (n - 1);
  for (uint32_t i = 0; i < n; i++) {
    double least = i ? place[i - 1] + gap : low;
    if (place[i] < least) place[i] = least;
  }
  for (uint32_t i = n; i-- > 0;) {
    double most = i + 1 < n ? place[i + 1] - gap : high;
    if (place[i] > most) place[i] = most;
  }
}

static const char *label_of(const PlotLine *l) { return l->label ? l->label : l->name; }

static double name_room(const PlotLine *line, uint32_t n) {
  double w = 0;
  for (uint32_t i = 0; i < n; i++) w = fmax(w, small_width(label_of(&line[i])));
  return fmin(w, NAME_ROOM);
}

typedef struct {
  double y;
  uint32_t line;
} End;

static int by_place(const void *a, const void *b) {
  const End *x = a, *y = b;
  return x->y != y->y ? (x->y < y->y ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

static double end_of(const PlotFrame *f, const PlotLine *l) {
  for (int64_t i = l->n; i-- > 0;)
    if (is_seen(l->y[i * l->stride])) return scale_at(&f->y, l->y[i * l->stride]);
  return f->area.y + f->area.h;
}

static void draw_names(Plot *p, Canvas *c, const PlotFrame *f, const PlotLine *line, uint32_t n) {
  End *end = NEW_ARRAY(p->arena, End, n);
  double *place = NEW_ARRAY(p->arena, double, n), x = f->area.x + f->area.w;
  for (uint32_t i = 0; i < n; i++) end[i] = (End){end_of(f, &line[i]), i};
  qsort(end, n, sizeof *end, by_place);
  for (uint32_t i = 0; i < n; i++) place[i] = end[i].y;
  labels_spread(place, n, NAME_GAP, f->area.y, f->area.y + f->area.h);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t series = series_of(&line[end[i].line], end[i].line);
    Paint paint = series_paint(series, 1);
    path_move(c, x + 2, end[i].y);
    path_line(c, x + 14, place[i]);
    canvas_paint(c, &paint);
    canvas_text(c, x + 18, place[i] + 4, &(Text){.size = LABEL_SIZE, .ink = series_ink(series)},
                text_cut(p->arena, FACE_SANS, LABEL_SIZE, label_of(&line[end[i].line]), NAME_ROOM));
  }
}

// -- lines ----------------------------------------------------------------------------------------
double line_x(const PlotLine *l, int64_t i) { return l->x ? l->x[i] : (double)i; }
double line_y(const PlotLine *l, int64_t i) { return l->y[i * l->stride]; }

typedef struct {
  Canvas *c;
  const PlotFrame *f;
  const PlotLine *line;
  bool down; // a line is being drawn
} PlotPen;

static void pen_to(PlotPen *pen, int64_t i) {
  (pen->down ? path_line : path_move)(pen->c, scale_at(&pen->f->x, line_x(pen->line, i)),
                                      scale_at(&pen->f->y, line_y(pen->line, i)));
  pen->down = true;
}

// The last event between the previous point and this one; NAN: none
static double last_mark(const PlotLine *l, int64_t i) {
  double before = line_x(l, i - 1), now = line_x(l, i);
  uint32_t low = 0, high = l->marks; // marks below `low` are not later than this point
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (l->mark[middle] <= now)
      low = middle + 1;
    else
      high = middle;
  }
  return low && l->mark[low - 1] > before ? l->mark[low - 1] : NAN;
}

typedef struct {
  double when, from; // from: the value just before
} LineJump;

static double change_at(const PlotLine *l, int64_t i) {
  return i > 0 && i < l->n ? fabs(line_y(l, i) - line_y(l, i - 1)) : 0;
}

// Events add a second point at the same time.
static bool same_point(const PlotLine *l, int64_t i) {
  double size = fabs(line_y(l, i)) + fabs(line_y(l, i - 1));
  return line_x(l, i) == line_x(l, i - 1) && change_at(l, i) <= 1e-6 * size;
}

// The slope before a point. NAN: unknown
static double slope_before(const PlotLine *l, int64_t i) {
  while (i > 0 && same_point(l, i)) i--;
  if (i < 1 || !isnan(last_mark(l, i)) || !(line_x(l, i) > line_x(l, i - 1))) return NAN;
  return (line_y(l, i) - line_y(l, i - 1)) / (line_x(l, i) - line_x(l, i - 1));
}

// Does the line jump between these points? A continuous quantity jumps at an event if it changes
// far more than its slope predicts; if that is unknown, more than afterwards.
static bool jumps_at(const PlotLine *l, int64_t i, LineJump *out) {
  enum { FAR_MORE = 2 };
  double now = line_y(l, i), before = i ? line_y(l, i - 1) : now;
  if (!is_seen(now) || !is_seen(before) || before == now) return false;
  double mark = last_mark(l, i), slope = l->held ? NAN : slope_before(l, i - 1);
  *out = (LineJump){isnan(mark) ? line_x(l, i) : mark, before};
  if (l->held) return true;
  if (isnan(mark)) return false;
  if (!is_seen(slope)) return change_at(l, i) > 2 * FAR_MORE * change_at(l, i + 1);
  out->from = before + slope * (mark - line_x(l, i - 1));
  return fabs(now - out->from) > FAR_MORE * fabs(out->from - before);
}

static int64_t line_range(FrameWish *w, const PlotLine *l) {
  int64_t gaps = 0;
  LineJump jump;
  for (int64_t i = 0; i < l->n; i++) {
    gaps += !frame_add(w, line_x(l, i), line_y(l, i));
    if (jumps_at(l, i, &jump)) frame_add(w, jump.when, jump.from);
  }
  return gaps;
}

// Draws to the first point of a column, vertically at a jump
static void pen_on(PlotPen *pen, int64_t i) {
  LineJump jump;
  if (pen->down && jumps_at(pen->line, i, &jump)) {
    double x = scale_at(&pen->f->x, jump.when);
    path_line(pen->c, x, scale_at(&pen->f->y, jump.from));
    path_line(pen->c, x, scale_at(&pen->f->y, line_y(pen->line, i)));
  }
  pen_to(pen, i);
}

static int64_t column_of(const PlotPen *pen, int64_t i) {
  return (int64_t)floor(scale_at(&pen->f->x, line_x(pen->line, i)));
}

static bool visible(const PlotPen *pen, int64_t i) {
  return is_seen(line_x(pen->line, i)) && is_seen(line_y(pen->line, i));
}

// Draws finite points of one column from `i`; returns the first that is not.
static int64_t draw_column(PlotPen *pen, int64_t i) {
  const PlotLine *l = pen->line;
  int64_t column = column_of(pen, i), least = i, most = i, end = i + 1;
  for (; end < l->n && visible(pen, end) && column_of(pen, end) == column; end++) {
    if (line_y(l, end) < line_y(l, least)) least = end;
    if (line_y(l, end) > line_y(l, most)) most = end;
  }
  int64_t one = least < most ? least : most, two = least < most ? most : least;
  pen_on(pen, i);
  if (one > i) pen_to(pen, one);
  if (two > one && two > i) pen_to(pen, two);
  if (end - 1 > two) pen_to(pen, end - 1);
  return end;
}

static void draw_alone(Canvas *c, const PlotFrame *f, const PlotLine *l, int64_t i, Ink ink) {
  path_circle(c, scale_at(&f->x, line_x(l, i)), scale_at(&f->y, line_y(l, i)), 2);
  canvas_paint(c, &(Paint){.fill = ink});
}

// A point between two gaps is drawn as a dot.
void curve_draw(Canvas *c, const PlotFrame *f, const PlotLine *l, const Paint *paint) {
  PlotPen pen = {.c = c, .f = f, .line = l};
  for (int64_t i = 0; i < l->n;) {
    bool drawn = visible(&pen, i);
    i = drawn ? draw_column(&pen, i) : i + 1;
    pen.down = drawn;
  }
  canvas_paint(c, paint);
  for (int64_t i = 0; i < l->n; i++) {
    bool before = i && visible(&pen, i - 1), after = i + 1 < l->n && visible(&pen, i + 1);
    if (visible(&pen, i) && !before && !after) draw_alone(c, f, l, i, paint->stroke);
  }
}

static void draw_line(Canvas *c, const PlotFrame *f, const PlotLine *l, uint32_t index,
                      double opacity) {
  Paint paint = series_paint(series_of(l, index), opacity < 1 ? 1 : 1.5);
  paint.opacity = opacity;
  curve_draw(c, f, l, &paint);
}

// The description of a line, for tooltips and screen readers.
const char *line_words(Plot *p, const PlotLine *l) {
  PlotRange r = {0};
  Buf b = buf_new(p->arena);
  for (int64_t i = 0; i < l->n; i++) range_add(&r, line_y(l, i));
  buf_printf(&b, "%s: ", l->name);
  if (!r.any)
    buf_text(&b, "nothing finite");
  else
    buf_printf(&b, "from %s to %s, at the end %s", number_text(p->arena, r.low),
               number_text(p->arena, r.high), number_text(p->arena, line_y(l, l->n - 1)));
  return b.at;
}

static bool is_dense(const PlotFrame *f, const PlotLine *l) {
  return l->smooth && (double)l->n > 2 * f->area.w;
}

// The running mean over a hundredth of all values. Gaps stay.
static const double *running_mean(Arena *a, const PlotLine *l) {
  double *mean = NEW_ARRAY(a, double, l->n), sum = 0;
  int64_t half = l->n / 200 + 1, from = 0, to = 0, count = 0; // from <= i < to is in the sum
  for (int64_t i = 0; i < l->n; i++) {
    for (; to < l->n && to <= i + half; to++)
      if (is_seen(line_y(l, to))) sum += line_y(l, to), count++;
    for (; from < i - half; from++)
      if (is_seen(line_y(l, from))) sum -= line_y(l, from), count--;
    mean[i] = is_seen(line_y(l, i)) ? sum / (double)count : NAN;
  }
  return mean;
}

static void draw_smoothed(Plot *p, Canvas *c, const PlotFrame *f, const PlotLine *l,
                          uint32_t index) {
  PlotLine mean = *l;
  mean.y = running_mean(p->arena, l);
  mean.stride = 1;
  draw_line(c, f, l, index, 0.3);
  draw_line(c, f, &mean, index, 1);
}

int64_t best_of(const double *y, int64_t n, int64_t stride, bool up) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; i++) {
    double x = y[i * stride], most = best < 0 ? x : y[best * stride];
    if (is_seen(x) && (best < 0 || (up ? x > most : x < most))) best = i;
  }
  return best;
}

static void mark_best(Canvas *c, const PlotFrame *f, const PlotLine *l, uint32_t index) {
  int64_t best = best_of(l->y, l->n, l->stride, l->up);
  if (best < 0) return;
  path_circle(c, scale_at(&f->x, line_x(l, best)), scale_at(&f->y, line_y(l, best)), 3.5);
  canvas_paint(
      c, &(Paint){.fill = INK_PAPER, .stroke = series_ink(series_of(l, index)), .width = 1.5});
}

// -- what happened --------------------------------------------------------------------------------
enum { MARKS_MOST = 200, KINDS_MOST = 4 };

// Explains event marks if there are few kinds: h: on, h: off
static void note_marks(Plot *p) {
  const Shown *s = p->s;
  VEC(const char *) kind = {0};
  for (uint32_t i = 0; i < s->marks && kind.n <= KINDS_MOST; i++) {
    uint32_t k = 0;
    while (k < kind.n && strcmp(kind.at[k], s->mark_text[i]) != 0) k++;
    if (k == kind.n) vec_push(p->arena, &kind, s->mark_text[i]);
  }
  Buf b = buf_new(p->arena);
  for (uint32_t k = 0; k < kind.n && kind.n <= KINDS_MOST; k++)
    buf_printf(&b, "%s%s", k ? "; " : ": ", kind.at[k]);
  plot_note(p, "Thin lines: what happened%s.", b.n ? b.at : "");
}

static void draw_marks(Plot *p, Canvas *c, const PlotFrame *f) {
  const Shown *s = p->s;
  if (!s->marks) return;
  if (s->marks > MARKS_MOST) {
    plot_note(p, "%u things happened, too many to be marked.", s->marks);
    return;
  }
  for (uint32_t i = 0; i < s->marks; i++) {
    double x = scale_at(&f->x, s->mark[i]);
    if (!(x >= f->area.x && x <= f->area.x + f->area.w)) continue;
    canvas_open(
        c, "", "mark",
        arena_format(p->arena, "%s at %s", s->mark_text[i], number_text(p->arena, s->mark[i])));
    path_move(c, x, f->area.y);
    path_line(c, x, f->area.y + f->area.h);
    canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 0.75, .dash = {2, 2}, .opacity = 0.55});
    canvas_close(c);
  }
  note_marks(p);
}

// Its scale is logarithmic if the ratio of values is between these; 0: from 1000 on; any.
PlotFrame lines_frame(Plot *p, Canvas *c, FrameWish *w, const PlotLine *line, uint32_t n,
                      double log_from, double log_most) {
  for (uint32_t i = 0; i < n; i++) plot_note_gaps(p, line_range(w, &line[i]), line[i].name);
  w->log_y = wants_log(w->y, log_from > 0 ? log_from : 1000) &&
             !(log_most > 0 && wants_log(w->y, log_most));
  PlotFrame f = frame_draw(p, c, w);
  if (p->s && p->s->over) time_along(p, &f.x, f.area.y, f.area.h);
  return f;
}

double lines_draw(Plot *p, Canvas *c, double y, const PlotLine *line, uint32_t n,
                  const LinesWish *l) {
  if (n > LINE_LIMIT) {
    plot_note(p, "%d of %u lines", LINE_LIMIT, n);
    n = LINE_LIMIT;
  }
  double height = fmax(PLOT_HEIGHT, 80 + NAME_GAP * n);
  FrameWish w = {.outer = {0, y, PLOT_WIDTH, height},
                 .x_title = l->x_title,
                 .y_title = l->y_title,
                 .tight_x = true,
                 .whole_x = l->whole_x,
                 .right = name_room(line, n) + 24};
  PlotFrame f = lines_frame(p, c, &w, line, n, l->log_from, l->log_most);
  if (l->marks) draw_marks(p, c, &f);
  bool dense = false;
  for (uint32_t i = 0; i < n; i++) {
    canvas_open(c, "", "line", line_words(p, &line[i]));
    if (is_dense(&f, &line[i]))
      draw_smoothed(p, c, &f, &line[i], i), dense = true;
    else
      draw_line(c, &f, &line[i], i, 1);
    canvas_close(c);
  }
  if (dense) plot_note(p, "Strong: a running mean. Light: every value.");
  for (uint32_t i = 0; i < n; i++)
    if (line[i].mark_best) mark_best(c, &f, &line[i], i);
  draw_names(p, c, &f, line, n);
  return y + height;
}

static bool is_gap(const double at[2]) { return !is_seen(at[0]) || !is_seen(at[1]); }

// -- trails ---------------------------------------------------------------------------------------
enum { SHADES = 20 };

// Skips points that move less than a third of a pixel, so that a path at rest costs nothing.
static int64_t trail_thin(const double (*point)[2], int64_t n, double (*to)[2]) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++) {
    double dx = kept ? point[i][0] - to[kept - 1][0] : 1;
    double dy = kept ? point[i][1] - to[kept - 1][1] : 1;
    if (!is_gap(point[i]) && kept && i + 1 < n && dx * dx + dy * dy < 0.1) continue;
    to[kept][0] = point[i][0], to[kept][1] = point[i][1];
    kept++;
  }
  return kept;
}

static void trail_piece(Canvas *c, const double (*point)[2], int64_t from, int64_t to,
                        const Paint *paint) {
  bool down = false;
  for (int64_t i = from; i <= to; i++) {
    bool gap = is_gap(point[i]);
    if (!gap) (down ? path_line : path_move)(c, point[i][0], point[i][1]);
    down = !gap;
  }
  canvas_paint(c, paint);
}

void trail_draw(Canvas *c, Arena *a, const double (*point)[2], int64_t n, Ink ink) {
  double(*thin)[2] = (double(*)[2])NEW_ARRAY(a, double, 2 * n);
  int64_t kept = trail_thin(point, n, thin);
  for (int64_t k = 0; k < SHADES && kept > 1; k++) {
    int64_t from = k * (kept - 1) / SHADES, to = (k + 1) * (kept - 1) / SHADES;
    Paint paint = {.stroke = ink, .width = 1.4, .round = true};
    paint.opacity = 0.12 + 0.88 * (double)(k + 1) / SHADES;
    if (to > from) trail_piece(c, (const double(*)[2])thin, from, to, &paint);
  }
  for (int64_t i = kept; i-- > 0;) {
    if (is_gap(thin[i])) continue;
    path_circle(c, thin[i][0], thin[i][1], 4);
    canvas_paint(c, &(Paint){.fill = ink, .stroke = INK_PAPER, .width = 1.5});
    break;
  }
}
