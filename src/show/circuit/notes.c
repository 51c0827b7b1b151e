// Notes: a comment at the end of a line is shown on a yellow plate above or below its row, with a
// tail to what the line makes: its last glyph, or its wire.
#include "base/source.h"
#include "show/circuit/circuit.h"

#include <math.h>

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

// The target of a stage: its last glyph, or else its first wire.
static bool find_target(const Layout *l, uint32_t stage, Message *n) {
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

// Adds comments of a file at lines that make something in this row and nothing in a later row.
static Messages find_notes(World *w, Arena *a, const Layout *l, uint32_t file, Ids *lines) {
  Messages all = {0};
  Ids own = {0};
  for (uint32_t k = 0; k < l->s->stage.n; k++) {
    Span span = origin_span(w, l->s->stage.at[k].origin);
    uint32_t line, column;
    if (!span.file || span.file != file) continue;
    source_place(w->sources, (Span){span.file, span.at + (span.n ? span.n - 1 : 0), 1}, &line,
                 &column);
    if (ids_find(lines, line) < lines->n) continue;
    uint32_t known = ids_find(&own, line);
    Message n = {.head = "", .text = comment_of(a, &w->sources->file.at[file], line)};
    n.note = n.tied = true;
    if (!n.text || !find_target(l, k, known < own.n ? &all.at[known] : &n) || known < own.n)
      continue;
    vec_push(a, &all, n);
    vec_push(a, &own, line);
  }
  for (uint32_t i = 0; i < own.n; i++) vec_push(a, lines, own.at[i]);
  return all;
}

Canvas *notes_paint(World *w, Arena *a, const SketchPage *page, uint32_t file) {
  uint32_t rows = page->row.n;
  Canvas **row = NEW_ARRAY(a, Canvas *, rows);
  Plating *plan = NEW_ARRAY(a, Plating, rows);
  Ids lines = {0};
  double width = page->width, height = 0, down = 0;
  for (uint32_t i = rows; i-- > 0;) {
    const Layout *l = page->row.at[i];
    Messages notes = find_notes(w, a, l, file, &lines);
    row[i] = canvas_new(a, width, l->height, "", "");
    page_row_paint(row[i], a, page, i);
    plan[i] = plates_plan(a, row[i], &notes, (PlateRoom){.height = l->height, .all = true});
    width = fmax(width, plan[i].width);
    height += plan[i].above + l->height + plan[i].below + (i ? ROW_GAP : 0);
  }
  const Sketch *s = page->row.at[0]->s;
  Canvas *c = canvas_new(a, width, height, s->title, s->about);
  for (uint32_t i = 0; i < rows; i++) {
    double high = canvas_height(row[i]), step = plan[i].above + high + plan[i].below + ROW_GAP;
    canvas_append(c, row[i], 0, plan[i].above);
    plates_paint(c, &plan[i], high);
    canvas_shift(c, 0, step);
    down += step;
  }
  canvas_shift(c, 0, -down);
  return c;
}
