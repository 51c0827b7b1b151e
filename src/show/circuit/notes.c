// Notes: a comment at the end of a line is shown on a yellow plate above or below the picture, with
// a tail to what the line makes: its last glyph, or its wire.
//
// Each row is first painted on a trial canvas. Then notes are placed from left to right at the
// nearest position where the plate meets no other plate and the tail meets no label or other glyph;
// the row gets space for the plates. The result is deterministic.
#include "base/source.h"
#include "show/circuit/circuit.h"

#include <math.h>
#include <stdlib.h>

enum {
  SIZE = 12,
  LINE_STEP = 15,
  WRAP = 24,
  PAD = 6,
  AWAY = 10,
  EDGE = 8,
  STEPS = 24,
  FARTHEST = 40
};

typedef VEC(const char *) NoteWords;

typedef struct {
  uint32_t line;
  const char *text;
  NoteWords words;  // wrapped
  double w, h;      // of its plate
  double x, y0, y1; // the target: centre, top and bottom
  double left;      // left side of the plate
  bool below;
} Note;
typedef VEC(Note) Notes;

// -- what there is to say -------------------------------------------------------------------------
// The comment at the end of a line, after other text; NULL: none.
static const char *comment_of(Arena *a, const Source *file, uint32_t line) {
  uint32_t at = file->line[line - 1], end = line < file->nline ? file->line[line] : file->n;
  bool quoted = false;
  while (at < end && (quoted || file->text[at] != '#')) {
    if (file->text[at] == '"') quoted = !quoted;
    at++;
  }
  while (at < end && strchr("# \t", file->text[at])) at++;
  while (end > at && strchr(" \t\r\n", file->text[end - 1])) end--;
  return at < end ? arena_format(a, "%.*s", (int)(end - at), file->text + at) : NULL;
}

static void wrap_note(Arena *a, Note *n) {
  const char *at = n->text;
  while (*at) {
    size_t take = strcspn(at, " "), more;
    while (at[take] && (more = strcspn(at + take + 1, " ")) + take + 1 <= WRAP) take += more + 1;
    const char *words = arena_format(a, "%.*s", (int)take, at);
    vec_push(a, &n->words, words);
    n->w = fmax(n->w, text_width(FACE_SANS, SIZE, words) + 2 * PAD);
    at += take + strspn(at + take, " ");
  }
  n->h = n->words.n * (double)LINE_STEP + 2 * PAD - 2;
}

static Note *note_at(Notes *all, uint32_t line) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->at[i].line == line) return &all->at[i];
  return NULL;
}

// The target of a stage: its last glyph, or else its first wire.
static bool find_target(const Layout *l, uint32_t stage, Note *n) {
  for (uint32_t i = l->placed.n; i-- > 0;) {
    if (l->placed.at[i].stage != stage) continue;
    n->x = l->placed.at[i].x;
    glyph_extent(l, &l->placed.at[i], &n->y0, &n->y1);
    return true;
  }
  const Stage *t = &l->s->stage.at[stage];
  if (n->y1 > n->y0 || !t->out.n) return false; // a glyph is preferred
  n->x = l->section.at[l->at[stage]].end;
  n->y0 = n->y1 = l->y[l->s->bundle.at[t->out.at[0]].first];
  return true;
}

static int by_place(const void *a, const void *b) {
  const Note *x = a, *y = b;
  if (x->x < y->x || x->x > y->x) return x->x < y->x ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}

// Comments of a file at lines that make something in this row and nothing in a later row.
static Notes find_notes(World *w, Arena *a, const Layout *l, uint32_t file, Notes *later) {
  Notes all = {0};
  for (uint32_t k = 0; k < l->s->stage.n; k++) {
    Span span = origin_span(w, l->s->stage.at[k].origin);
    uint32_t line, column;
    if (!span.file || span.file != file) continue;
    source_place(w->sources, (Span){span.file, span.at + (span.n ? span.n - 1 : 0), 1}, &line,
                 &column);
    if (note_at(later, line)) continue;
    Note *known = note_at(&all, line);
    Note n = {.line = line, .text = comment_of(a, &w->sources->file.at[file], line)};
    if (!n.text || !find_target(l, k, known ? known : &n) || known) continue;
    wrap_note(a, &n);
    vec_push(a, &all, n);
  }
  if (all.n) qsort(all.at, all.n, sizeof(Note), by_place);
  for (uint32_t i = 0; i < all.n; i++) vec_push(a, later, all.at[i]);
  return all;
}

// -- places ---------------------------------------------------------------------------------------
typedef struct {
  const Canvas *trial;
  double width;  // of the page, in which plates stay if possible
  double height; // of the row
  double row[2]; // heights of the rows of plates above and below
  Notes *notes;
  uint32_t placed; // number of placed notes
} NotePlaces;

// The start of a plate whose tail is at x, and the end of the tail.
static void tail_of(const NotePlaces *p, const Note *n, double *x, double *y, double *to) {
  *x = fmin(fmax(n->x, n->left + 10), n->left + n->w - 10);
  *y = n->below ? p->height : 0;
  *to = n->below ? n->y1 + 2 : n->y0 - 2;
}

static bool tail_is_free(const NotePlaces *p, const Note *n) {
  double x, y, to;
  tail_of(p, n, &x, &y, &to);
  for (int k = 0; k <= STEPS; k++) {
    double part = (double)k / STEPS, cx = x + (n->x - x) * part, cy = y + (to - y) * part;
    Area at = {cx - 3, cy - 2, cx + 3, cy + 2};
    if (canvas_room(p->trial, &at, "label", NULL) < 1 ||
        canvas_room(p->trial, &at, "title", NULL) < 1)
      return false;
    if (fabs(cy - to) > 4 && canvas_room(p->trial, &at, "glyph", NULL) <= 0) return false;
  }
  return true;
}

static bool plate_is_free(const NotePlaces *p, const Note *n) {
  for (uint32_t i = 0; i < p->placed; i++) {
    const Note *other = &p->notes->at[i];
    if (other->below == n->below && n->left < other->left + other->w + AWAY &&
        other->left < n->left + n->w + AWAY)
      return false;
  }
  return n->left >= EDGE;
}

// The nearest position with a free tail, above first; otherwise the nearest one for the plate;
// inside the page if possible.
static void place_note(NotePlaces *p, Note *n) {
  for (int strict = 3; strict >= 0; strict--)
    for (int k = 0; k < 2 * FARTHEST; k++) {
      double by = (k / 2 + 1) / 2 * 20.0 * (k / 2 % 2 ? 1 : -1);
      n->below = k % 2;
      n->left = fmax(EDGE, n->x - n->w / 2) + by;
      if (strict / 2 && n->left + n->w + EDGE > p->width) continue;
      if (plate_is_free(p, n) && (!(strict % 2) || tail_is_free(p, n))) return;
    }
}

static void place_all(NotePlaces *p) {
  for (uint32_t i = 0; i < p->notes->n; i++) {
    Note *n = &p->notes->at[i];
    place_note(p, n);
    p->row[n->below] = fmax(p->row[n->below], n->h + AWAY + EDGE);
    p->placed++;
  }
}

// -- painting -------------------------------------------------------------------------------------
static void note_paint(Canvas *c, const NotePlaces *p, const Note *n) {
  double x, y, to, top = n->below ? p->row[0] + p->height : p->row[0] - AWAY - n->h;
  tail_of(p, n, &x, &y, &to);
  y = n->below ? top + 1 : top + n->h - 1;
  canvas_open(c, "", "tail", "");
  path_move(c, x - 5, y), path_line(c, x + 5, y), path_line(c, n->x, to + p->row[0]);
  path_close(c);
  canvas_paint(c, &(Paint){.fill = INK_NOTE, .opacity = 0.75});
  canvas_close(c);
  canvas_open(c, "", "note", n->text);
  path_rect(c, n->left, top, n->w, n->h, 3);
  canvas_paint(c, &(Paint){.fill = INK_NOTE});
  for (uint32_t i = 0; i < n->words.n; i++)
    canvas_text(c, n->left + PAD, top + PAD + SIZE - 2 + LINE_STEP * (double)i,
                &(Text){.face = FACE_SANS, .size = SIZE}, n->words.at[i]);
  canvas_close(c);
}

static NotePlaces place_row(World *w, Arena *a, const SketchPage *page, uint32_t row, uint32_t file,
                            Notes *later) {
  const Layout *l = page->row.at[row];
  Canvas *trial = canvas_new(a, l->width, l->height, "", "");
  Notes *notes = NEW(a, Notes);
  *notes = find_notes(w, a, l, file, later);
  NotePlaces p = {.trial = trial, .width = page->width, .height = l->height, .notes = notes};
  paint(trial, a, l);
  place_all(&p);
  return p;
}

Canvas *notes_paint(World *w, Arena *a, const SketchPage *page, uint32_t file) {
  uint32_t rows = page->row.n;
  NotePlaces *p = NEW_ARRAY(a, NotePlaces, rows);
  Notes later = {0};
  for (uint32_t i = rows; i-- > 0;) p[i] = place_row(w, a, page, i, file, &later);
  double width = page->width, height = (rows - 1) * (double)ROW_GAP, down = 0;
  for (uint32_t i = 0; i < rows; i++) height += p[i].height + p[i].row[0] + p[i].row[1];
  for (uint32_t i = 0; i < later.n; i++)
    if (later.at[i].left + later.at[i].w + EDGE > width)
      width = later.at[i].left + later.at[i].w + EDGE;
  const Sketch *s = page->row.at[0]->s;
  Canvas *c = canvas_new(a, width, height, s->title, s->about);
  for (uint32_t i = 0; i < rows; i++) {
    canvas_shift(c, 0, p[i].row[0]);
    page_row_paint(c, a, page, i);
    canvas_shift(c, 0, -p[i].row[0]);
    for (uint32_t k = 0; k < p[i].notes->n; k++) note_paint(c, &p[i], &p[i].notes->at[k]);
    double step = p[i].height + p[i].row[0] + p[i].row[1] + ROW_GAP;
    canvas_shift(c, 0, step);
    down += step;
  }
  canvas_shift(c, 0, -down);
  return c;
}
