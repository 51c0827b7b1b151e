// Areas of marks, and free space: the distance from an area to the nearest mark. Filled shapes count with their
// interior, lines with their course, text with its bounding box.
#include "show/canvas/marks.h"

#include <math.h>

const Area area_none = {INFINITY, INFINITY, -INFINITY, -INFINITY};

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

void area_add(Area *a, double x, double y) {
  a->x0 = smaller(a->x0, x), a->x1 = larger(a->x1, x);
  a->y0 = smaller(a->y0, y), a->y1 = larger(a->y1, y);
}

Area text_area(const Mark *m) {
  const Text *how = &m->text.how;
  double x = m->text.x + m->text.start;
  return (Area){x, m->text.y - text_ascent(how->face, how->size),
                x + text_width(how->face, how->size, m->text.words),
                m->text.y + text_descent(how->face, how->size)};
}

Area path_area(const PathStep *step, uint32_t n) {
  Area a = area_none;
  for (uint32_t i = 0; i < n; i++) area_add(&a, step[i].x, step[i].y);
  return a;
}

struct MarkBoxes {
  Arena *arena;
  double shift[2]; // of the canvas
  VEC(Area) box;
};

static void add_path(MarkBoxes *b, const Canvas *c, const Mark *m) {
  Lines lines = {0};
  Area all = area_none;
  path_flatten(b->arena, c->path.at + m->path.first, m->path.n, NULL, &lines);
  for (uint32_t i = 0; i < lines.piece.n; i++)
    for (uint32_t k = 1; k < lines.piece.at[i].n; k++) {
      const Point *p = &lines.point.at[lines.piece.at[i].first + k - 1];
      Area line = area_none;
      area_add(&line, p[0].x, p[0].y), area_add(&line, p[1].x, p[1].y);
      area_add(&all, line.x0, line.y0), area_add(&all, line.x1, line.y1);
      vec_push(b->arena, &b->box, line);
    }
  if (m->path.paint.fill && all.x0 <= all.x1) vec_push(b->arena, &b->box, all);
}

MarkBoxes *boxes_new(const Canvas *c, const char *but) {
  Arena *arena = arena_child(c->arena);
  MarkBoxes *b = NEW(arena, MarkBoxes);
  *b = (MarkBoxes){.arena = arena, .shift = {c->shift[0], c->shift[1]}};
  const char *now = "";
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) now = m->group.class;
    if (m->kind == MARK_CLOSE) now = "";
    if (but && strcmp(now, but) == 0) continue;
    if (m->kind == MARK_TEXT) vec_push(arena, &b->box, text_area(m));
    if (m->kind == MARK_PATH) add_path(b, c, m);
    if (m->kind == MARK_IMAGE)
      vec_push(arena, &b->box,
               ((Area){m->image.x, m->image.y, m->image.x + m->image.w, m->image.y + m->image.h}));
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

double canvas_room(const Canvas *c, const Area *area, const char *but) {
  MarkBoxes *b = boxes_new(c, but);
  double least = boxes_room(b, area);
  boxes_free(b);
  return least;
}
