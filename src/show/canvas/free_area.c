// Finds free space: the distance from an area to the nearest mark. Filled shapes count with their
// interior, lines with their course, text with its bounding box.
#include "show/canvas/marks.h"

#include <math.h>

struct MarkBoxes {
  Arena *arena;
  double shift[2]; // of the canvas
  VEC(Area) box;
};

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

static void add_box(MarkBoxes *b, double x0, double y0, double x1, double y1) {
  vec_push(b->arena, &b->box, (Area){x0, y0, x1, y1});
}

static void add_text(MarkBoxes *b, const Mark *m) {
  const Text *how = &m->text.how;
  double x = m->text.x + m->text.start;
  add_box(b, x, m->text.y - text_ascent(how->face, how->size),
          x + text_width(how->face, how->size, m->text.words),
          m->text.y + text_descent(how->face, how->size));
}

static void add_path(MarkBoxes *b, const Canvas *c, const Mark *m) {
  Lines lines = {0};
  Area all = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  path_flatten(b->arena, c->path.at + m->path.first, m->path.n, NULL, &lines);
  for (uint32_t i = 0; i < lines.piece.n; i++)
    for (uint32_t k = 1; k < lines.piece.at[i].n; k++) {
      const Point *p = &lines.point.at[lines.piece.at[i].first + k - 1];
      Area line = {smaller(p[0].x, p[1].x), smaller(p[0].y, p[1].y), larger(p[0].x, p[1].x),
                   larger(p[0].y, p[1].y)};
      all = (Area){smaller(all.x0, line.x0), smaller(all.y0, line.y0), larger(all.x1, line.x1),
                   larger(all.y1, line.y1)};
      add_box(b, line.x0, line.y0, line.x1, line.y1);
    }
  if (m->path.paint.fill && all.x0 <= all.x1) add_box(b, all.x0, all.y0, all.x1, all.y1);
}

MarkBoxes *boxes_new(const Canvas *c, const char *only, const char *but) {
  Arena *arena = arena_child(c->arena);
  MarkBoxes *b = NEW(arena, MarkBoxes);
  *b = (MarkBoxes){.arena = arena, .shift = {c->shift[0], c->shift[1]}};
  const char *now = "";
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) now = m->group.class;
    if (m->kind == MARK_CLOSE) now = "";
    if ((only && strcmp(now, only) != 0) || (but && strcmp(now, but) == 0)) continue;
    if (m->kind == MARK_TEXT) add_text(b, m);
    if (m->kind == MARK_PATH) add_path(b, c, m);
    if (m->kind == MARK_IMAGE)
      add_box(b, m->image.x, m->image.y, m->image.x + m->image.w, m->image.y + m->image.h);
  }
  return b;
}

double boxes_room(const MarkBoxes *b, const Area *area) {
  Area a = {area->x0 + b->shift[0], area->y0 + b->shift[1], area->x1 + b->shift[0],
            area->y1 + b->shift[1]};
  double least = INFINITY;
  for (uint32_t i = 0; i < b->box.n; i++) {
    const Area *m = &b->box.at[i];
    double dx = larger(m->x0 - a.x1, a.x0 - m->x1), dy = larger(m->y0 - a.y1, a.y0 - m->y1);
    least = smaller(least, larger(0, larger(dx, dy)));
  }
  return least;
}

void boxes_free(MarkBoxes *b) { arena_free(b->arena); }

double canvas_room(const Canvas *c, const Area *area, const char *only, const char *but) {
  MarkBoxes *b = boxes_new(c, only, but);
  double least = boxes_room(b, area);
  boxes_free(b);
  return least;
}
