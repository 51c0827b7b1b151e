// Faults of a picture, found by looking at its marks: labels that meet each other, a line or a
// glyph, lines that run through a glyph, lines that cross too flatly, marks outside. Marks say what
// they are by the class of their group: wire, label, glyph.
#include "view/marks.h"

#include <math.h>

typedef struct {
  double x0, y0, x1, y1;
  const char *words;
  uint32_t wire; // of a segment: which line it is part of
} Area;
typedef VEC(Area) Areas;

typedef struct {
  Arena *arena;
  Areas label, glyph, segment;
  uint32_t wires;
  Faults *out;
} Check;

#define FLAT 0.5 // sine of 30 degrees

__attribute__((format(printf, 2, 3))) static void fault(Check *k, const char *format, ...) {
  Buf b = buf_new(k->arena);
  va_list args;
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  vec_push(k->arena, k->out, b.at);
}

// -- what is there --------------------------------------------------------------------------------
static void area_add(Area *a, double x, double y) {
  a->x0 = fmin(a->x0, x), a->x1 = fmax(a->x1, x);
  a->y0 = fmin(a->y0, y), a->y1 = fmax(a->y1, y);
}

static void add_text(Area *a, const Mark *m) {
  double ascent = text_ascent(m->text.how.face, m->text.how.size),
         width = text_width(m->text.how.face, m->text.how.size, m->text.words),
         x = m->text.x + m->text.start;
  area_add(a, x, m->text.y - ascent);
  area_add(a, x + width, m->text.y);
}

static void add_lines(Check *k, const Lines *l) {
  k->wires++;
  for (uint32_t i = 0; i < l->piece.n; i++)
    for (uint32_t j = 1; j < l->piece.at[i].n; j++) {
      const Point *p = &l->point.at[l->piece.at[i].first + j - 1];
      Area s = {p[0].x, p[0].y, p[1].x, p[1].y, NULL, k->wires};
      vec_push(k->arena, &k->segment, s);
    }
}

static void collect(Check *k, const Canvas *c) {
  const Affine same = {1, 0, 0, 1, 0, 0};
  const char *class = "";
  Area open = {0};
  Lines lines = {0};
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) {
      class = m->group.class;
      open = (Area){INFINITY, INFINITY, -INFINITY, -INFINITY, m->group.words, 0};
    } else if (m->kind == MARK_CLOSE) {
      if (strcmp(class, "label") == 0) vec_push(k->arena, &k->label, open);
      if (strcmp(class, "glyph") == 0) vec_push(k->arena, &k->glyph, open);
      class = "";
    } else if (m->kind == MARK_TEXT) {
      add_text(&open, m);
      if (strcmp(class, "label") == 0) open.words = m->text.words;
    } else if (m->kind == MARK_PATH) {
      path_flatten(k->arena, c->path.at + m->path.first, m->path.n, &same, &lines);
      for (uint32_t j = 0; j < lines.point.n; j++)
        area_add(&open, lines.point.at[j].x, lines.point.at[j].y);
      if (strcmp(class, "wire") == 0 && !m->path.paint.fill) add_lines(k, &lines);
    }
  }
}

// -- what is wrong with it ------------------------------------------------------------------------
static bool meet(const Area *a, const Area *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

static Area inside(Area a, double by) {
  return (Area){a.x0 + by, a.y0 + by, a.x1 - by, a.y1 - by, a.words, 0};
}

// Does a part of the segment lie in the area? The segment is cut by each side in turn.
static bool enters(const Area *s, const Area *a) {
  double t0 = 0, t1 = 1, d[2] = {s->x1 - s->x0, s->y1 - s->y0};
  double from[2] = {s->x0, s->y0}, low[2] = {a->x0, a->y0}, high[2] = {a->x1, a->y1};
  for (int i = 0; i < 2; i++) {
    if (fabs(d[i]) < 1e-9) {
      if (from[i] <= low[i] || from[i] >= high[i]) return false;
      continue;
    }
    double u = (low[i] - from[i]) / d[i], v = (high[i] - from[i]) / d[i];
    t0 = fmax(t0, fmin(u, v)), t1 = fmin(t1, fmax(u, v));
  }
  return t1 - t0 > 1e-6;
}

static void check_labels(Check *k, const Canvas *c) {
  Area page = {0, 0, c->width, c->height, NULL, 0};
  for (uint32_t i = 0; i < k->label.n; i++) {
    Area a = inside(k->label.at[i], 0.5);
    for (uint32_t j = i + 1; j < k->label.n; j++)
      if (meet(&a, &k->label.at[j]))
        fault(k, "labels %s and %s meet", a.words, k->label.at[j].words);
    for (uint32_t j = 0; j < k->glyph.n; j++)
      if (meet(&a, &k->glyph.at[j])) fault(k, "label %s lies on %s", a.words, k->glyph.at[j].words);
    for (uint32_t j = 0; j < k->segment.n; j++)
      if (enters(&k->segment.at[j], &a)) {
        fault(k, "a line runs through label %s", a.words);
        break;
      }
    if (a.x0 < page.x0 || a.y0 < page.y0 || a.x1 > page.x1 || a.y1 > page.y1)
      fault(k, "label %s leaves the picture", a.words);
  }
}

static void check_glyphs(Check *k) {
  for (uint32_t i = 0; i < k->glyph.n; i++) {
    Area a = inside(k->glyph.at[i], 8);
    for (uint32_t j = i + 1; j < k->glyph.n; j++) {
      Area b = inside(k->glyph.at[j], 0.5);
      if (meet(&k->glyph.at[i], &b)) fault(k, "%s and %s meet", k->glyph.at[i].words, b.words);
    }
    for (uint32_t j = 0; j < k->segment.n && a.x0 < a.x1 && a.y0 < a.y1; j++)
      if (enters(&k->segment.at[j], &a)) {
        fault(k, "a line runs through %s", a.words);
        break;
      }
  }
}

static bool cross(const Area *a, const Area *b, double *sine) {
  double ax = a->x1 - a->x0, ay = a->y1 - a->y0, bx = b->x1 - b->x0, by = b->y1 - b->y0;
  double turn = ax * by - ay * bx, na = hypot(ax, ay), nb = hypot(bx, by);
  if (na < 1e-9 || nb < 1e-9 || fabs(turn) < 1e-9 * na * nb) return false;
  double s = ((b->x0 - a->x0) * by - (b->y0 - a->y0) * bx) / turn;
  double t = ((b->x0 - a->x0) * ay - (b->y0 - a->y0) * ax) / turn;
  *sine = fabs(turn) / (na * nb);
  return s > 0.01 && s < 0.99 && t > 0.01 && t < 0.99;
}

static void check_crossings(Check *k) {
  for (uint32_t i = 0; i < k->segment.n; i++)
    for (uint32_t j = i + 1; j < k->segment.n; j++) {
      const Area *a = &k->segment.at[i], *b = &k->segment.at[j];
      double sine;
      if (a->wire == b->wire || fmax(a->x0, a->x1) < fmin(b->x0, b->x1) ||
          fmax(b->x0, b->x1) < fmin(a->x0, a->x1))
        continue;
      if (cross(a, b, &sine) && sine < FLAT)
        fault(k, "two lines cross at %.0f degrees, at %.0f, %.0f", asin(sine) * 57.29578, a->x0,
              a->y0);
    }
}

void canvas_check(Arena *a, const Canvas *c, Faults *out) {
  Check k = {.arena = a, .out = out};
  collect(&k, c);
  check_labels(&k, c);
  check_glyphs(&k);
  check_crossings(&k);
}
