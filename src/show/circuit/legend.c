// The legend: a plate with the meaning of names in a picture: for circuits, sizes of labels and
// sizes that vary between iterations; for wirings, constants and options. It is placed in the
// corner with the most space, or below.
#include "show/circuit/circuit.h"

#include <math.h>
#include <stdlib.h>

enum { LABEL = 14, HEAD = 13, LINE_HEIGHT = 19, PAD = 10, EDGE = 10, AWAY = 10, SIZES = 4 };

static Row *row_of(RowList *rows, const char *label) {
  for (uint32_t i = 0; i < rows->n; i++)
    if (strcmp(rows->at[i].label, label) == 0) return &rows->at[i];
  return NULL;
}

static bool has_value(const char *list, const char *value) {
  size_t n = strlen(value);
  for (const char *at = list; (at = strstr(at, value)); at += n)
    if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ',')) return true;
  return false;
}

void legend_add(Arena *a, RowList *rows, const char *label, const char *value) {
  Row *row = row_of(rows, label);
  if (!row) {
    vec_push(a, rows, (Row){label, value});
    return;
  }
  uint32_t n = 1;
  for (const char *at = row->value; *at; at++) n += *at == ',';
  if (has_value(row->value, value) || n > SIZES) return;
  row->value = arena_format(a, "%s, %s", row->value, n == SIZES ? "…" : value);
}

static int by_label(const void *a, const void *b) {
  return strcmp(((const Row *)a)->label, ((const Row *)b)->label);
}

// Does a label of this size occur: o_{l}, o_{l−1} or 2o_{l}?
static bool is_written(const Layout *l, const char *label) {
  size_t n = strcspn(label, "{");
  for (uint32_t x = 1; x < l->s->strand.n; x++) {
    const char *own = l->label[x] ? l->s->strand.at[x].label : "";
    for (const char *at = own; *at; at++)
      if (strncmp(at, label, n) == 0 && (at == own || !char_is_letter(at[-1]))) return true;
  }
  return false;
}

static bool is_on_page(const SketchPage *p, const char *label) {
  for (uint32_t i = 0; i < p->row.n; i++)
    if (is_written(p->row.at[i], label)) return true;
  return false;
}

static void add_sizes(Arena *a, RowList *rows, const Layout *l) {
  const Sketch *s = l->s;
  for (uint32_t x = 1; x < s->strand.n; x++)
    if (l->label[x] && s->strand.at[x].size)
      legend_add(a, rows, s->strand.at[x].label, s->strand.at[x].size);
  for (uint32_t i = 0; i < l->placed.n; i++)
    if (l->placed.at[i].glyph->kind == GLYPH_INSET)
      add_sizes(a, rows, l->placed.at[i].glyph->inset);
}

// Only what occurs in the picture is listed.
static RowList rows_of(Arena *a, const SketchPage *p) {
  RowList rows = {0};
  const Sketch *s = p->row.at[0]->s;
  for (uint32_t i = 0; i < p->row.n; i++) add_sizes(a, &rows, p->row.at[i]);
  if (rows.n) qsort(rows.at, rows.n, sizeof(Row), by_label);
  for (uint32_t i = 0; i < s->row.n; i++)
    if (is_on_page(p, s->row.at[i].label)) vec_push(a, &rows, s->row.at[i]);
  return rows;
}

typedef struct {
  bool plain;                         // values are not math
  double label, value, width, height; // of the columns, and of the plate
} Plate;

static double words_width(const Plate *p, const char *text) {
  return p->plain ? text_width(FACE_ITALIC, LABEL, text) : math_width(FACE_ITALIC, LABEL, text);
}

static void words_paint(Canvas *c, const Plate *p, double x, double y, Anchor anchor,
                        const char *text) {
  Text how = {.face = FACE_ITALIC, .size = LABEL, .ink = INK_TEXT, .anchor = anchor};
  (p->plain ? canvas_text : math_text)(c, x, y, &how, text);
}

static Plate plate_of(const RowList *rows, bool plain) {
  Plate p = {.plain = plain};
  for (uint32_t i = 0; i < rows->n; i++) {
    p.label = fmax(p.label, words_width(&p, rows->at[i].label));
    p.value = fmax(p.value, words_width(&p, rows->at[i].value));
  }
  double head = text_width(FACE_SANS, HEAD, "Legend");
  p.width = fmax(p.label + 24 + p.value, head) + 2 * PAD;
  p.height = 2 * PAD + HEAD + 2 + LINE_HEIGHT * rows->n;
  return p;
}

static void plate_paint(Canvas *c, const Plate *p, const RowList *rows, double x, double y) {
  canvas_open(c, "", "glyph", "Legend");
  path_rect(c, x, y, p->width, p->height, 0);
  canvas_paint(c, &(Paint){.fill = INK_LEARNED});
  canvas_text(c, x + PAD, y + PAD + HEAD - 2, &(Text){.face = FACE_SANS, .size = HEAD}, "Legend");
  path_move(c, x + PAD, y + PAD + HEAD + 4), path_line(c, x + p->width - PAD, y + PAD + HEAD + 4);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  for (uint32_t i = 0; i < rows->n; i++) {
    double at = y + PAD + HEAD + 4 + LINE_HEIGHT * (i + 1) - 3;
    words_paint(c, p, x + PAD + p->label, at, ANCHOR_END, rows->at[i].label);
    words_paint(c, p, x + PAD + p->label + 8, at, ANCHOR_START, "=");
    words_paint(c, p, x + PAD + p->label + 24, at, ANCHOR_START, rows->at[i].value);
  }
  canvas_close(c);
}

// The least y at which the plate fits at x.
static double free_from(const MarkBoxes *marks, double h, const Plate *p, double x) {
  double y = EDGE;
  while (y < h && boxes_room(marks, &(Area){x, y, x + p->width, h}) < AWAY) y += 2;
  return y < h ? y : h;
}

// A corner with enough space; otherwise below the contents of the left or right side, whichever is
// less high.
static void find_place(const Canvas *c, const Plate *p, double *x, double *y) {
  double w = canvas_width(c), h = canvas_height(c);
  double side[] = {fmax(EDGE, w - EDGE - p->width), EDGE}, low = INFINITY;
  MarkBoxes *marks = boxes_new(c, NULL);
  bool found = false;
  for (int k = 0; k < 2 && !found && p->width + 2 * EDGE < w; k++) {
    Area top = {side[k], EDGE, side[k] + p->width, EDGE + p->height};
    found = boxes_room(marks, &top) >= AWAY;
    if (found) *x = side[k], *y = EDGE;
  }
  for (int k = 0; k < 2 && !found; k++) {
    double from = free_from(marks, h, p, side[k]);
    if (from < low) low = from, *x = side[k];
  }
  if (!found) *y = fmax(low, h - EDGE - p->height);
  boxes_free(marks);
}

void legend_plate(Canvas *c, const RowList *rows, bool plain, bool below) {
  double x = EDGE, y = canvas_height(c);
  if (!rows->n) return;
  Plate p = plate_of(rows, plain);
  if (!below) find_place(c, &p, &x, &y);
  canvas_resize(c, fmax(canvas_width(c), x + p.width + EDGE),
                fmax(canvas_height(c), y + p.height + EDGE));
  plate_paint(c, &p, rows, x, y);
}

void legend_paint(Canvas *c, Arena *a, const SketchPage *page) {
  RowList rows = rows_of(a, page);
  legend_plate(c, &rows, false, page->row.n > 1);
}
