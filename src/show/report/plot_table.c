// Numbers as tables, labels as text.
//
// Arrays give columns: [n] one, [n k] k, further axes are flattened. Numbers are aligned at the
// decimal point; labels are shown by name. Truncation is shown by "…" and a caption.
#include "show/report/plot_own.h"

#include <math.h>

enum { ROWS_MOST = 20, COLUMNS_MOST = 8, ROW_HEIGHT = 20, COLUMN_GAP = 22, COLUMN_MOST = 160 };

typedef struct {
  const char *head;
  const double *value;
  int64_t n, stride;
  uint32_t array;
  bool labels;
  const char **cell;        // [rows]
  double width, point_room; // point_room: space left of the decimal point
} TableColumn;
typedef VEC(TableColumn) TableColumns;

// -- columns --------------------------------------------------------------------------------------
static void add_columns(Plot *p, uint32_t array, TableColumns *to, int64_t *rows) {
  const Array *x = &p->s->value.array.at[array];
  int64_t n = x->rank ? x->shape[0] : 1, of = x->count / n;
  for (int64_t k = 0; k < of && to->n < COLUMNS_MOST; k++) {
    TableColumn c = {
        .head = line_name(p, array, k, of), .value = x->data + k, .n = n, .stride = of};
    c.array = array;
    c.labels = labels_known(p, array);
    vec_push(p->arena, to, c);
  }
  if (of > COLUMNS_MOST)
    plot_note(p, "%s has %lld columns", line_name(p, array, 0, 1), (long long)of);
  if (n > *rows) *rows = n;
}

// Four significant digits of the largest number, without trailing zeros.
static int column_decimals(const TableColumn *c, int64_t rows) {
  double most = 0;
  bool whole = true;
  for (int64_t i = 0; i < c->n && i < rows; i++) {
    double v = c->value[i * c->stride];
    if (!is_seen(v)) continue;
    most = fmax(most, fabs(v));
    whole &= v == floor(v);
  }
  if (whole || !(most > 0)) return 0;
  if (most < 1e-4 || most >= 1e7) return -1;
  int decimals = 3 - (int)floor(log10(most));
  return decimals < 1 ? 1 : decimals;
}

static const char *cell_text(Plot *p, const TableColumn *c, int64_t row, int decimals) {
  if (row >= c->n) return "";
  double v = c->value[row * c->stride];
  if (!is_seen(v)) return isnan(v) ? "nan" : v > 0 ? "inf" : "−inf";
  if (c->labels && is_label(v)) return label_text(p, c->array, (int64_t)v);
  if (decimals < 0 || fabs(v) >= 1e7) return number_text(p->arena, v);
  return number_fixed(p->arena, v, decimals);
}

static double point_at(Plot *p, const char *text) {
  size_t n = strcspn(text, ".e");
  return text_width(FACE_SANS, HEAD_SIZE, arena_text(p->arena, text, n));
}

static void measure_column(Plot *p, TableColumn *c, int64_t rows) {
  double behind = 0;
  int decimals = column_decimals(c, rows);
  c->cell = NEW_ARRAY(p->arena, const char *, rows);
  c->head = text_cut(p->arena, FACE_SANS, LABEL_SIZE, c->head, COLUMN_MOST);
  for (int64_t i = 0; i < rows; i++) {
    c->cell[i] =
        text_cut(p->arena, FACE_SANS, HEAD_SIZE, cell_text(p, c, i, decimals), COLUMN_MOST);
    double point = c->labels ? 0 : point_at(p, c->cell[i]);
    c->point_room = fmax(c->point_room, point);
    behind = fmax(behind, text_width(FACE_SANS, HEAD_SIZE, c->cell[i]) - point);
  }
  double head = small_width(c->head), body = c->point_room + behind;
  c->width = fmax(head, body);
  if (!c->labels) c->point_room += c->width - body; // numbers and their head are right-aligned
}

// -- drawing --------------------------------------------------------------------------------------
static void draw_column(Plot *p, Canvas *c, const TableColumn *k, double x, int64_t rows,
                        bool more) {
  Text head = {.size = LABEL_SIZE, .ink = INK_SOFT};
  if (!k->labels) head.anchor = ANCHOR_END;
  canvas_text(c, k->labels ? x : x + k->width, 13, &head, k->head);
  for (int64_t i = 0; i < rows; i++) {
    double at = k->labels ? x : x + k->point_room - point_at(p, k->cell[i]);
    Ink ink = i < k->n && !is_seen(k->value[i * k->stride]) ? INK_ALARM : INK_TEXT;
    if (*k->cell[i])
      canvas_text(c, at, 38 + (double)i * ROW_HEIGHT, &(Text){.size = HEAD_SIZE, .ink = ink},
                  k->cell[i]);
  }
  if (more)
    canvas_text(c, k->labels ? x : x + k->width, 38 + (double)rows * ROW_HEIGHT,
                &(Text){.size = HEAD_SIZE, .ink = INK_SOFT, .anchor = head.anchor}, "…");
}

// The head of a row: a moment, or its index.
static const char *row_head(Plot *p, int64_t i, bool moments) {
  return number_text(p->arena, moments ? p->s->moment[i] : (double)i);
}

static double draw_heads(Plot *p, Canvas *c, int64_t rows) {
  bool moments = p->s->over && !p->s->samples;
  double w = moments ? small_width(p->s->over) : 0;
  for (int64_t i = moments ? 0 : rows - 1; i < rows; i++)
    w = fmax(w, small_width(row_head(p, i, moments)));
  if (moments) soft_text(c, w, 13, ANCHOR_END, p->s->over);
  for (int64_t i = 0; i < rows; i++)
    soft_text(c, w, 38 + (double)i * ROW_HEIGHT, ANCHOR_END, row_head(p, i, moments));
  return w + COLUMN_GAP;
}

Canvas *plot_table(Plot *p) {
  TableColumns columns = {0};
  int64_t all = 0;
  for (uint32_t i = 0; i < p->s->value.array.n; i++) add_columns(p, i, &columns, &all);
  int64_t rows = all < ROWS_MOST ? all : ROWS_MOST;
  Canvas *c = plot_canvas(p, "Table");
  double x = rows == 1 ? 0 : draw_heads(p, c, rows);
  for (uint32_t i = 0; i < columns.n; i++) {
    TableColumn *k = &columns.at[i];
    measure_column(p, k, rows);
    draw_column(p, c, k, x, rows, rows < all);
    x += k->width + COLUMN_GAP;
  }
  line_draw(c, 0, 20, x - COLUMN_GAP, 20, INK_GRID, 1);
  if (rows < all) plot_note(p, "%lld of %lld rows", (long long)rows, (long long)all);
  double bottom = 28 + (double)(rows + (rows < all)) * ROW_HEIGHT;
  return plot_end(p, c, fmax(x - COLUMN_GAP, p->note.n ? 260 : 0), bottom);
}

// -- text -----------------------------------------------------------------------------------------
enum { TEXT_LINES = 60, TEXT_WIDTH = 600, TEXT_STEP = 18, TEXT_SAMPLES = 20 };

typedef struct {
  Plot *p;
  Canvas *c;
  double y, widest;
  uint32_t lines;
} TablePage;

static bool page_line(TablePage *g, const char *text, size_t n) {
  if (g->lines == TEXT_LINES) return false;
  const char *line = arena_text(g->p->arena, text, n);
  g->lines++;
  g->y += TEXT_STEP;
  if (n) canvas_text(g->c, 0, g->y - 4, &(Text){.size = HEAD_SIZE}, line);
  g->widest = fmax(g->widest, text_width(FACE_SANS, HEAD_SIZE, line));
  return true;
}

static bool page_text(TablePage *g, const char *text) {
  for (const char *at = text;;) {
    size_t n = strcspn(at, "\n");
    do {
      size_t fit = text_line(g->p->arena, FACE_SANS, HEAD_SIZE, at, TEXT_WIDTH);
      if (at[fit] == ' ') fit++;
      if (!page_line(g, at, fit)) return false;
      at += fit, n -= fit;
    } while (n);
    if (!*at) return true;
    at++;
  }
}

// Letters are concatenated, words separated by spaces.
static const char *labels_joined(Plot *p, uint32_t array, const double *label, int64_t n,
                                 int64_t *gaps) {
  Buf b = buf_new(p->arena);
  bool words = false;
  for (int64_t i = 0; i < n; i++) {
    if (!is_label(label[i])) continue;
    const char *name = label_text(p, array, (int64_t)label[i]);
    words |= character_length(name, strlen(name)) < strlen(name);
  }
  buf_text(&b, "");
  for (int64_t i = 0; i < n; i++) {
    bool good = is_label(label[i]);
    *gaps += !good;
    if (words && i) buf_char(&b, ' ');
    buf_text(&b, good ? label_text(p, array, (int64_t)label[i]) : "·");
  }
  return b.at;
}

static bool all_letters(Plot *p) {
  for (uint32_t i = 0; i < p->s->value.array.n; i++) {
    const Array *x = &p->s->value.array.at[i];
    if (!labels_known(p, i) || x->rank > 2)
      return plot_wrong(p, x, "labels that have names, as letters do, [t] or [n t]");
  }
  return true;
}

const char *plot_words(Arena *a, const Shown *s) {
  const char *error;
  Plot p = {.arena = a, .s = s, .error = &error};
  int64_t gaps = 0;
  Buf b = buf_new(a);
  if (!s->view || strcmp(s->view, "text") != 0 || !all_letters(&p)) return NULL;
  for (uint32_t i = 0; i < s->value.array.n; i++) {
    const Array *x = &s->value.array.at[i];
    int64_t n = x->rank == 2 ? x->shape[0] : 1, t = x->count / n;
    for (int64_t k = 0; k < n && k < TEXT_SAMPLES; k++) {
      if (b.n) buf_text(&b, "\n\n");
      buf_text(&b, labels_joined(&p, i, x->data + k * t, t, &gaps));
    }
  }
  return b.at;
}

Canvas *plot_text(Plot *p) {
  const Shown *s = p->s;
  if (!all_letters(p)) return NULL;
  TablePage g = {.p = p, .c = plot_canvas(p, "Text")};
  bool whole = true;
  for (uint32_t i = 0; i < s->value.array.n; i++) {
    const Array *x = &s->value.array.at[i];
    int64_t n = x->rank == 2 ? x->shape[0] : 1, t = x->count / n, gaps = 0;
    for (int64_t k = 0; whole && k < n; k++) {
      if (k || i) g.y += TEXT_STEP / 2.0;
      whole = k < TEXT_SAMPLES && page_text(&g, labels_joined(p, i, x->data + k * t, t, &gaps));
    }
    plot_note_gaps(p, gaps, line_name(p, i, 0, 1));
  }
  if (!whole) plot_note(p, "… and so on");
  return plot_end(p, g.c, fmax(g.widest + 1, p->note.n ? 260 : 1), g.y + 4);
}
