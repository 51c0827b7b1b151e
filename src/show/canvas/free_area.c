// Finds free space: the distance from an area to the nearest mark. Filled shapes count with their
// interior, lines with their course, text with its bounding box.
#include "show/canvas/marks.h"

#include <math.h>

typedef struct {
  const Area *area;
  double least;
} NearestMark;

static void look_at(NearestMark *n, double x0, double y0, double x1, double y1) {
  const Area *a = n->area;
  double dx = fmax(0, fmax(x0 - a->x1, a->x0 - x1)), dy = fmax(0, fmax(y0 - a->y1, a->y0 - y1));
  n->least = fmin(n->least, fmax(dx, dy));
}

static void look_at_text(NearestMark *n, const Mark *m) {
  const Text *how = &m->text.how;
  double x = m->text.x + m->text.start;
  look_at(n, x, m->text.y - text_ascent(how->face, how->size),
          x + text_width(how->face, how->size, m->text.words),
          m->text.y + text_descent(how->face, how->size));
}

static void look_at_path(NearestMark *n, Arena *a, const Canvas *c, const Mark *m) {
  Lines lines = {0};
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
  path_flatten(a, c->path.at + m->path.first, m->path.n, NULL, &lines);
  for (uint32_t i = 0; i < lines.piece.n; i++)
    for (uint32_t k = 1; k < lines.piece.at[i].n; k++) {
      const Point *p = &lines.point.at[lines.piece.at[i].first + k - 1];
      x0 = fmin(x0, fmin(p[0].x, p[1].x)), x1 = fmax(x1, fmax(p[0].x, p[1].x));
      y0 = fmin(y0, fmin(p[0].y, p[1].y)), y1 = fmax(y1, fmax(p[0].y, p[1].y));
      look_at(n, fmin(p[0].x, p[1].x), fmin(p[0].y, p[1].y), fmax(p[0].x, p[1].x),
              fmax(p[0].y, p[1].y));
    }
  if (m->path.paint.fill && x0 <= x1) look_at(n, x0, y0, x1, y1);
}

double canvas_room(const Canvas *c, const Area *area, const char *only, const char *but) {
  Arena *scratch = arena_child(c->arena);
  Area at = {area->x0 + c->shift[0], area->y0 + c->shift[1], area->x1 + c->shift[0],
             area->y1 + c->shift[1]};
  NearestMark n = {&at, INFINITY};
  const char *now = "";
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) now = m->group.class;
    if (m->kind == MARK_CLOSE) now = "";
    if ((only && strcmp(now, only) != 0) || (but && strcmp(now, but) == 0)) continue;
    if (m->kind == MARK_TEXT) look_at_text(&n, m);
    if (m->kind == MARK_PATH) look_at_path(&n, scratch, c, m);
    if (m->kind == MARK_IMAGE)
      look_at(&n, m->image.x, m->image.y, m->image.x + m->image.w, m->image.y + m->image.h);
  }
  arena_free(scratch);
  return n.least;
}
