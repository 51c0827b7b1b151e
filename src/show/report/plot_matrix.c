// Matrices as colour: cells, and space against time as an image.
//
// The strength of a cell is the magnitude of its number, with one colour per sign. In a confusion
// matrix rows are the truth, columns are predictions, and strength is the share of the row. Numbers
// are written into cells if all fit. Matrices too fine for cells become an image.
#include "show/report/plot_own.h"

#include <math.h>

enum {
  CELLS_MOST = 64,
  CELL_LARGEST = 44,
  MATRIX_SIDE = 480,
  LABEL_ROOM = 110,
  SIDE_TITLE = 18,
  TOLD_MOST = 400
};

typedef struct {
  const Array *array;
  int64_t rows, columns;
  bool confusion;
  double cell, left, top;
  const char **number; // [rows columns] texts; NULL: they do not fit
  PlotRange range;
  int64_t gaps;    // number of non-finite values
  double *row_sum; // [rows] of a confusion matrix
} Matrix;

static double value_at(const Matrix *m, int64_t r, int64_t c) {
  return m->array->data[r * m->columns + c];
}

// -- cells ----------------------------------------------------------------------------------------
// Strength with sign, from -1 to 1. Of shares the square root is used, to make rare errors visible.
static double strength(const Matrix *m, int64_t r, int64_t c) {
  double v = value_at(m, r, c), low = m->range.low, high = m->range.high;
  if (m->confusion) return m->row_sum[r] > 0 && v > 0 ? sqrt(v / m->row_sum[r]) : 0;
  if (low < 0) return v / fmax(-low, fmax(high, 1e-300));
  double base = low > high / 2 && high > low ? low : 0;
  return (v - base) / fmax(high - base, 1e-300);
}

static int decimals_of(PlotRange r, bool whole) {
  double most = fmax(fabs(r.low), fabs(r.high));
  if (whole || !(most > 0)) return 0;
  int decimals = 2 - (int)floor(log10(most));
  return decimals < 0 ? 0 : decimals > 3 ? 3 : decimals;
}

static void find_numbers(Plot *p, Matrix *m) {
  bool whole = true;
  double widest = 0;
  for (int64_t i = 0; i < m->array->count; i++) {
    double v = m->array->data[i];
    whole &= !is_seen(v) || v == floor(v);
  }
  int decimals = decimals_of(m->range, whole);
  m->number = NEW_ARRAY(p->arena, const char *, m->array->count);
  for (int64_t i = 0; i < m->array->count; i++) {
    double v = m->array->data[i];
    if (!is_seen(v))
      m->number[i] = "";
    else
      m->number[i] = fabs(v) < 1e7 ? number_fixed(p->arena, v, decimals) : number_text(p->arena, v);
    widest = fmax(widest, small_width(m->number[i]));
  }
  if (widest + 8 > m->cell) m->number = NULL;
}

static void draw_cell(Canvas *c, const Matrix *m, int64_t r, int64_t k) {
  double x = m->left + (double)k * m->cell, y = m->top + (double)r * m->cell, s = 0;
  bool seen = is_seen(value_at(m, r, k));
  if (seen) s = fmax(-1, fmin(1, strength(m, r, k)));
  Paint paint = {.fill = seen ? s < 0 ? INK_SERIES2 : INK_SERIES1 : INK_GRID};
  if (seen) paint.opacity = fabs(s);
  if (!seen || fabs(s) > 0.004) {
    path_rect(c, x + 0.5, y + 0.5, m->cell - 1, m->cell - 1, 0);
    canvas_paint(c, &paint);
  }
  if (!m->number || !seen) return;
  Ink ink = fabs(s) > 0.5 ? INK_PAPER : value_at(m, r, k) == 0 ? INK_SOFT : INK_TEXT;
  canvas_text(c, x + m->cell / 2, y + m->cell / 2 + 4,
              &(Text){.size = LABEL_SIZE, .anchor = ANCHOR_MIDDLE, .ink = ink},
              m->number[r * m->columns + k]);
}

static const char *cell_words(Plot *p, const Matrix *m, int64_t r, int64_t k) {
  double v = value_at(m, r, k);
  const char *row = label_text(p, 0, r), *column = label_text(p, 0, k);
  const char *value = number_text(p->arena, v);
  if (m->confusion && is_seen(v) && m->row_sum[r] > 0)
    return arena_format(p->arena, "truth %s, said %s: %s, %s %% of the row", row, column, value,
                        number_fixed(p->arena, 100 * v / m->row_sum[r], 1));
  return arena_format(p->arena, "%s, %s: %s", row, column, value);
}

// -- labels ---------------------------------------------------------------------------------------
static double widest_label(Plot *p, int64_t n) {
  double w = 0;
  for (int64_t i = 0; i < n; i++) w = fmax(w, small_width(label_text(p, 0, i)));
  return fmin(w, LABEL_ROOM);
}

static int64_t label_step(double cell) { return cell >= 14 ? 1 : cell >= 7 ? 5 : 10; }

static void draw_labels(Plot *p, Canvas *c, const Matrix *m, bool upright) {
  int64_t step = label_step(m->cell);
  for (int64_t i = 0; i < m->rows; i += step)
    soft_text(c, m->left - 7, m->top + ((double)i + 0.5) * m->cell + 4, ANCHOR_END,
              text_cut(p->arena, FACE_SANS, LABEL_SIZE, label_text(p, 0, i), LABEL_ROOM));
  for (int64_t i = 0; i < m->columns; i += step) {
    double x = m->left + ((double)i + 0.5) * m->cell;
    const char *text = text_cut(p->arena, FACE_SANS, LABEL_SIZE, label_text(p, 0, i), LABEL_ROOM);
    Text look = {.size = LABEL_SIZE, .ink = INK_SOFT, .anchor = ANCHOR_MIDDLE};
    if (upright) look.angle = -90, look.anchor = ANCHOR_START, x += 4;
    canvas_text(c, x, m->top - 7, &look, text);
  }
}

static void draw_sides(Canvas *c, const Matrix *m, double left) {
  Text look = {.size = LABEL_SIZE, .anchor = ANCHOR_MIDDLE};
  canvas_text(c, m->left + (double)m->columns * m->cell / 2, 10, &look, "said");
  look.angle = -90;
  canvas_text(c, left + 10, m->top + (double)m->rows * m->cell / 2, &look, "truth");
}

static void note_confusion(Plot *p, Matrix *m) {
  double right = 0, all = 0;
  m->row_sum = NEW_ARRAY(p->arena, double, m->rows);
  for (int64_t r = 0; r < m->rows; r++)
    for (int64_t k = 0; k < m->columns; k++) {
      double v = is_seen(value_at(m, r, k)) ? value_at(m, r, k) : 0;
      m->row_sum[r] += v;
      all += v;
      if (r == k) right += v;
    }
  if (all > 0)
    plot_note(p, "Colour grows with the share of the row. %s %% are on the diagonal.",
              number_fixed(p->arena, 100 * right / all, 1));
}

static void note_strength(Plot *p, const PlotRange *r) {
  plot_note(p, "Strength is the size of the number%s; they go from %s to %s.",
            r->low < 0 ? ", and its sign is the colour" : "", number_text(p->arena, r->low),
            number_text(p->arena, r->high));
}

static void draw_cells(Plot *p, Canvas *c, const Matrix *m, bool told) {
  for (int64_t r = 0; r < m->rows; r++)
    for (int64_t k = 0; k < m->columns; k++) {
      if (told) canvas_open(c, "", "cell", cell_words(p, m, r, k));
      draw_cell(c, m, r, k);
      if (told) canvas_close(c);
    }
  path_rect(c, m->left, m->top, (double)m->columns * m->cell, (double)m->rows * m->cell, 0);
  canvas_paint(c, &(Paint){.stroke = INK_GRID, .width = 1});
}

static Canvas *draw_matrix(Plot *p, Matrix *m) {
  int64_t larger = m->rows > m->columns ? m->rows : m->columns;
  m->cell = fmin(CELL_LARGEST, floor((double)MATRIX_SIDE / (double)larger));
  find_numbers(p, m);
  double label = widest_label(p, larger), side = m->confusion ? SIDE_TITLE : 0;
  bool upright = label + 4 > m->cell * (double)label_step(m->cell);
  m->left = side + widest_label(p, m->rows) + 8;
  m->top = side + (upright ? widest_label(p, m->columns) + 10 : LINE_STEP + 4);
  if (m->confusion)
    note_confusion(p, m);
  else if (!m->number && m->range.any)
    note_strength(p, &m->range);
  plot_note_gaps(p, m->gaps, line_name(p, 0, 0, 1));
  Canvas *c = plot_canvas(p, m->confusion ? "Confusion matrix" : "Matrix");
  double w = (double)m->columns * m->cell, h = (double)m->rows * m->cell;
  draw_cells(p, c, m, m->array->count <= TOLD_MOST);
  draw_labels(p, c, m, upright);
  if (m->confusion) draw_sides(c, m, 0);
  return plot_end(p, c, fmax(m->left + w + 1, p->note.n ? 340 : 0), m->top + h + 2);
}

// -- images of numbers ----------------------------------------------------------------------------
enum { IMAGE_MOST = 1024, IMAGE_WIDTH = 520, IMAGE_HEIGHT = 420, BAR = 10 };

// A colour scale that is monotone in lightness.
static void shade(double part, uint8_t to[3]) {
  static const uint8_t stop[][3] = {
      {27, 30, 61}, {39, 93, 140}, {47, 156, 149}, {159, 207, 106}, {253, 243, 176}};
  double at = fmin(fmax(part, 0), 1) * (COUNT(stop) - 1);
  int i = (int)fmin(floor(at), COUNT(stop) - 2);
  for (int k = 0; k < 3; k++)
    to[k] = (uint8_t)(stop[i][k] + (at - i) * (stop[i + 1][k] - stop[i][k]) + 0.5);
}

typedef struct {
  const Array *array;
  int64_t rows, columns;
  PlotRange range;
} MatrixSheet;

// The mean of the finite numbers in a pixel.
static double sheet_mean(const MatrixSheet *s, int64_t y0, int64_t y1, int64_t x0, int64_t x1) {
  double sum = 0;
  int64_t n = 0;
  for (int64_t y = y0; y < y1; y++)
    for (int64_t x = x0; x < x1; x++) {
      double v = s->array->data[y * s->columns + x];
      if (is_seen(v)) sum += v, n++;
    }
  return n ? sum / (double)n : NAN;
}

static Picture *sheet_picture(Arena *a, const MatrixSheet *s, bool *hole) {
  int64_t h = s->rows < IMAGE_MOST ? s->rows : IMAGE_MOST;
  int64_t w = s->columns < IMAGE_MOST ? s->columns : IMAGE_MOST;
  Picture *q = NEW(a, Picture);
  *q = (Picture){(uint32_t)h, (uint32_t)w, 3, NEW_ARRAY(a, uint8_t, h * w * 3)};
  for (int64_t y = 0; y < h; y++)
    for (int64_t x = 0; x < w; x++) {
      double v = sheet_mean(s, y * s->rows / h, (y + 1) * s->rows / h, x * s->columns / w,
                            (x + 1) * s->columns / w);
      uint8_t *to = q->at + 3 * (y * w + x);
      if (is_seen(v))
        shade((v - s->range.low) / fmax(s->range.high - s->range.low, 1e-300), to);
      else
        to[0] = to[1] = to[2] = 150, *hole = true;
    }
  return q;
}

static void draw_bar(Plot *p, Canvas *c, const MatrixSheet *s, double x, double y, double h) {
  enum { STEPS = 64 };
  Picture *q = NEW(p->arena, Picture);
  *q = (Picture){STEPS, 1, 3, NEW_ARRAY(p->arena, uint8_t, STEPS * 3)};
  for (int i = 0; i < STEPS; i++) shade(1 - i / (STEPS - 1.0), q->at + 3 * i);
  canvas_image(c, x, y, BAR, h, q);
  Text look = {.size = LABEL_SIZE, .ink = INK_SOFT};
  canvas_text(c, x + BAR + 6, y + 9, &look, number_text(p->arena, s->range.high));
  canvas_text(c, x + BAR + 6, y + h, &look, number_text(p->arena, s->range.low));
}

// The first and last value of each axis, with its name between.
static void draw_ends(Plot *p, Canvas *c, const MatrixSheet *s, PlotArea at, const char *row_name,
                      const char *column_name) {
  const Shown *shown = p->s;
  double first = 0, last = (double)(s->rows - 1);
  if (shown->over) first = shown->moment[0], last = shown->moment[shown->moments - 1];
  if (shown->step) first = (double)shown->step[0], last = (double)shown->step[s->rows - 1];
  Text look = {.size = LABEL_SIZE, .ink = INK_SOFT, .anchor = ANCHOR_END};
  canvas_text(c, at.x - 7, at.y + 9, &look, number_text(p->arena, first));
  canvas_text(c, at.x - 7, at.y + at.h, &look, number_text(p->arena, last));
  if (at.h > 4 * LINE_STEP) canvas_text(c, at.x - 7, at.y + at.h / 2 + 4, &look, row_name);
  look.anchor = ANCHOR_START;
  canvas_text(c, at.x, at.y + at.h + LINE_STEP, &look, "0");
  look.anchor = ANCHOR_END;
  canvas_text(c, at.x + at.w, at.y + at.h + LINE_STEP, &look,
              number_text(p->arena, (double)(s->columns - 1)));
  look.anchor = ANCHOR_MIDDLE;
  if (at.w > 120) canvas_text(c, at.x + at.w / 2, at.y + at.h + LINE_STEP, &look, column_name);
}

// The side of a cell: integral if possible.
static double sheet_side(int64_t n, double room) {
  if (n > (int64_t)room) return room;
  double each = floor(room / (double)n);
  return (double)n * fmin(each, 12);
}

static double draw_sheet(Plot *p, Canvas *c, uint32_t array, double y, const char *row_name,
                         const char *column_name) {
  MatrixSheet s = {.array = &p->s->value.array.at[array]};
  bool hole = false;
  int64_t gaps;
  s.rows = s.array->shape[0], s.columns = s.array->shape[1];
  s.range = array_range(s.array, &gaps);
  if (p->s->value.array.n > 1) {
    canvas_text(c, 0, y + 12, &(Text){.size = HEAD_SIZE},
                text_cut(p->arena, FACE_SANS, HEAD_SIZE, line_name(p, array, 0, 1), IMAGE_WIDTH));
    y += 20;
  }
  PlotArea at = {52, y, sheet_side(s.columns, IMAGE_WIDTH), sheet_side(s.rows, IMAGE_HEIGHT)};
  at.h = fmax(at.h, 2 * LINE_STEP), at.w = fmax(at.w, 60);
  canvas_image(c, at.x, at.y, at.w, at.h, sheet_picture(p->arena, &s, &hole));
  if (p->cursor && p->s->over && p->s->value.array.n == 1)
    *p->cursor = (PlotCursor){.x = at.x,
                              .y = at.y,
                              .w = at.w,
                              .h = at.h,
                              .from = p->s->moment[0],
                              .to = p->s->moment[p->s->moments - 1],
                              .down = true};
  if (s.range.any) draw_bar(p, c, &s, at.x + at.w + 12, at.y, at.h);
  draw_ends(p, c, &s, at, row_name, column_name);
  plot_note_gaps(p, gaps, line_name(p, array, 0, 1));
  if (hole) plot_note(p, "Grey: nothing finite");
  return y + at.h + LINE_STEP + 6;
}

static Canvas *draw_sheets(Plot *p, const char *kind, const char *rows, const char *columns) {
  Canvas *c = plot_canvas(p, kind);
  double y = 0;
  for (uint32_t i = 0; i < p->s->value.array.n; i++) y = draw_sheet(p, c, i, y, rows, columns);
  return plot_end(p, c, PLOT_WIDTH, y);
}

static bool all_sheets(Plot *p, const char *wanted) {
  for (uint32_t i = 0; i < p->s->value.array.n; i++)
    if (p->s->value.array.at[i].rank != 2) return plot_wrong(p, &p->s->value.array.at[i], wanted);
  return true;
}

Canvas *plot_spacetime(Plot *p) {
  if (!all_sheets(p, "[t x]")) return NULL;
  return draw_sheets(p, "Space against time", p->s->over ? p->s->over : "t", "x");
}

// -- a matrix over time ---------------------------------------------------------------------------
enum { TILE = 132, TILE_GAP = 22, TILE_CELLS = 32 };

static const char *tile_head(Plot *p, uint32_t i) {
  return arena_format(p->arena, p->s->whole ? "%s %s" : "%s = %s", p->s->over,
                      number_text(p->arena, p->s->moment[i]));
}

static void draw_tile(Plot *p, Canvas *c, Matrix *m, uint32_t i, double x, double y) {
  const Array *all = &p->s->value.array.at[0];
  Array one = {.name = all->name, .rank = 2, .shape = all->shape + 1};
  one.count = m->rows * m->columns;
  one.data = all->data + i * one.count;
  m->array = &one, m->left = x, m->top = y + LINE_STEP;
  find_numbers(p, m);
  canvas_open(c, "", "moment", tile_head(p, i));
  soft_text(c, x, y + 9, ANCHOR_START, tile_head(p, i));
  draw_cells(p, c, m, false);
  canvas_close(c);
}

// [t rows columns]: one after the other, with a common scale.
static Canvas *plot_moments(Plot *p) {
  const Array *x = &p->s->value.array.at[0];
  Matrix m = {.rows = x->shape[1], .columns = x->shape[2]};
  if (m.rows > TILE_CELLS || m.columns > TILE_CELLS) {
    plot_wrong(p, x, "at most 32 rows and columns at several moments");
    return NULL;
  }
  m.range = array_range(x, &m.gaps);
  int64_t larger = m.rows > m.columns ? m.rows : m.columns;
  m.cell = fmin(CELL_LARGEST, floor(TILE / (double)larger));
  double w = fmax((double)m.columns * m.cell, 60) + TILE_GAP;
  double h = (double)m.rows * m.cell + LINE_STEP + TILE_GAP;
  uint32_t columns = (uint32_t)fmax(1, floor((PLOT_WIDTH + TILE_GAP) / w));
  uint32_t rows = (p->s->moments + columns - 1) / columns;
  columns = (p->s->moments + rows - 1) / rows;
  Canvas *c = plot_canvas(p, "Matrix at several moments");
  for (uint32_t i = 0; i < p->s->moments; i++)
    draw_tile(p, c, &m, i, i % columns * w + 1, i / columns * h);
  if (m.range.any) note_strength(p, &m.range);
  plot_note_gaps(p, m.gaps, line_name(p, 0, 0, 1));
  return plot_end(p, c, fmax(columns * w - TILE_GAP + 2, 340), rows * h - TILE_GAP + 2);
}

Canvas *plot_matrix(Plot *p) {
  if (p->s->over && p->s->value.array.n == 1 && p->s->value.array.at[0].rank == 3 && !p->s->samples)
    return plot_moments(p);
  if (!all_sheets(p, "[rows columns]")) return NULL;
  const Array *x = &p->s->value.array.at[0];
  Matrix m = {.array = x, .rows = x->shape[0], .columns = x->shape[1]};
  if (p->s->value.array.n > 1 || m.rows > CELLS_MOST || m.columns > CELLS_MOST)
    return draw_sheets(p, "Matrix", "row", "column");
  m.range = array_range(x, &m.gaps);
  m.confusion = m.rows == m.columns && strncmp(p->s->text, "confusion(", 10) == 0;
  return draw_matrix(p, &m);
}
