// Converts marks to things. Input: a canvas whose groups have classes; output: things with their
// bounding boxes, their lines as segments, and two grids for spatial queries.
//
// Only direct marks belong to a group: a nested group with a class is a thing of its own. Text
// counts with its outlines, not with its line height.
#include "show/canvas/lint_own.h"

#include <math.h>
#include <stdlib.h>

// -- areas and segments ---------------------------------------------------------------------------
bool areas_meet(const Area *a, const Area *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

bool area_holds(const Area *a, double x, double y) {
  return x >= a->x0 && x <= a->x1 && y >= a->y0 && y <= a->y1;
}

Area area_grown(Area a, double by) { return (Area){a.x0 - by, a.y0 - by, a.x1 + by, a.y1 + by}; }

Area segment_area(const Segment *s) {
  return (Area){fmin(s->x0, s->x1), fmin(s->y0, s->y1), fmax(s->x0, s->x1), fmax(s->y0, s->y1)};
}

// Clips the segment by each side of the area.
bool segment_enters(const Segment *s, const Area *a) {
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

double segment_distance(const Segment *s, double x, double y) {
  double dx = s->x1 - s->x0, dy = s->y1 - s->y0, n = dx * dx + dy * dy;
  double t = n > 0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / n : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(x - s->x0 - t * dx, y - s->y0 - t * dy);
}

static bool segments_meet(const Segment *a, const Segment *b) {
  double ax = a->x1 - a->x0, ay = a->y1 - a->y0, bx = b->x1 - b->x0, by = b->y1 - b->y0;
  double turn = ax * by - ay * bx;
  if (fabs(turn) < 1e-12) return false;
  double s = ((b->x0 - a->x0) * by - (b->y0 - a->y0) * bx) / turn;
  double t = ((b->x0 - a->x0) * ay - (b->y0 - a->y0) * ax) / turn;
  return s >= 0 && s <= 1 && t >= 0 && t <= 1;
}

// Even-odd rule: counts crossings of a ray to the right.
static bool is_inside(const Scene *s, const Thing *t, double x, double y) {
  bool in = false;
  for (uint32_t i = t->first; i < t->first + t->n; i++) {
    const Segment *k = &s->segment.at[i];
    if (k->half > 0 || (k->y0 > y) == (k->y1 > y)) continue;
    if (x < k->x0 + (y - k->y0) / (k->y1 - k->y0) * (k->x1 - k->x0)) in = !in;
  }
  return in;
}

bool thing_touches(const Scene *s, const Thing *t, const Segment *line) {
  for (uint32_t i = t->first; i < t->first + t->n; i++)
    if (segments_meet(&s->segment.at[i], line)) return true;
  return is_inside(s, t, (line->x0 + line->x1) / 2, (line->y0 + line->y1) / 2);
}

// -- marks ----------------------------------------------------------------------------------------
static ThingKind kind_of(const char *class) {
  static const struct {
    const char *class;
    ThingKind kind;
  } rows[] = {{"wire", THING_WIRE},   {"cup", THING_CUP},     {"divider", THING_DIVIDER},
              {"label", THING_LABEL}, {"title", THING_TITLE}, {"parenthesis", THING_STROKE},
              {"dot", THING_DOT},     {"frame", THING_FRAME}, {"touch", THING_STROKE},
              {"tail", THING_STROKE}, {"line", THING_STROKE}};
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (strcmp(rows[i].class, class) == 0) return rows[i].kind;
  return THING_GLYPH;
}

// Adds the outline of each letter, rotated like its text.
static void add_text(Scene *s, Thing *t, const Mark *m) {
  double c, sine, size = m->text.how.size / EM;
  Path path = {0};
  GlyphRun run = {.face = m->text.how.face, .rest = m->text.words};
  angle_parts(m->text.how.angle, &c, &sine);
  while (run_next(&run)) {
    glyph_path(s->arena, run.found.glyph, &path);
    for (uint32_t i = 0; i < path.n; i++) {
      double x = m->text.start + ((double)run.x + path.at[i].x) * size, y = -path.at[i].y * size;
      area_add(&t->area, m->text.x + x * c - y * sine, m->text.y + x * sine + y * c);
    }
  }
  t->least = fmin(t->least, m->text.how.size);
}

static void add_path(Scene *s, Thing *t, uint32_t thing, const Mark *m, Lines *lines) {
  double half = m->path.paint.stroke && !m->path.paint.fill ? m->path.paint.width / 2 : 0;
  path_flatten(s->arena, s->canvas->path.at + m->path.first, m->path.n, NULL, lines);
  for (uint32_t i = 0; i < lines->piece.n; i++) {
    const PathPiece *piece = &lines->piece.at[i];
    const Point *p = &lines->point.at[piece->first];
    for (uint32_t k = 0; k < piece->n; k++) {
      area_add(&t->area, p[k].x, p[k].y);
      uint32_t next = k + 1 < piece->n ? k + 1 : 0;
      if (!next && !(piece->closed || half == 0)) break;
      Segment line = {p[k].x, p[k].y, p[next].x, p[next].y, half, thing, k == 0};
      vec_push(s->arena, &s->segment, line);
      t->n++;
    }
  }
}

#define ASIDE UINT32_MAX // belongs to no thing

typedef struct {
  // Open groups as things, outermost first; a group without class belongs to the enclosing one.
  VEC(uint32_t) open;
  VEC(uint32_t) owner; // [mark] its thing + 1; 0: none
} SceneWalk;

static uint32_t thing_new(Scene *s, ThingKind kind, const char *words, const char *id) {
  Thing t = {.kind = kind, .area = area_none, .words = words, .id = id, .least = INFINITY};
  vec_push(s->arena, &s->thing, t);
  return s->thing.n;
}

static ThingKind loose_kind(const Mark *m) {
  if (m->kind == MARK_TEXT) return THING_LABEL;
  return m->kind == MARK_PATH && !m->path.paint.fill ? THING_STROKE : THING_GLYPH;
}

// Gaps at crossings, and arrowheads on lines, are no obstacles.
static bool is_aside(const char *class) {
  return strcmp(class, "gap") == 0 || strcmp(class, "arrow") == 0 || strcmp(class, "tail") == 0;
}

static void find_owners(Scene *s, SceneWalk *w) {
  const Canvas *c = s->canvas;
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    uint32_t inside = w->open.n ? w->open.at[w->open.n - 1] : 0, owner = 0;
    if (m->kind == MARK_OPEN && is_aside(m->group.class))
      vec_push(s->arena, &w->open, ASIDE);
    else if (m->kind == MARK_OPEN)
      vec_push(s->arena, &w->open,
               m->group.class[0]
                   ? thing_new(s, kind_of(m->group.class), m->group.words, m->group.id)
                   : inside);
    else if (m->kind == MARK_CLOSE)
      w->open.n--;
    else
      owner = inside == ASIDE ? 0 : inside ? inside : thing_new(s, loose_kind(m), "", "");
    vec_push(s->arena, &w->owner, owner);
  }
}

// A thing without description is named by its text.
static void name_by_text(Scene *s, Thing *t, Buf *b, const Mark *m) {
  if (!b->arena) *b = buf_new(s->arena);
  if (b->n < 200) buf_printf(b, "%.80s", m->text.words);
  t->words = b->at;
}

static void read_thing(Scene *s, uint32_t thing, uint32_t mark, const uint32_t *next) {
  Thing *t = &s->thing.at[thing];
  Lines lines = {0};
  Buf words = {0};
  bool named = t->words[0] != 0;
  t->first = s->segment.n;
  for (; mark; mark = next[mark - 1]) {
    const Mark *m = &s->canvas->mark.at[mark - 1];
    if (m->kind == MARK_TEXT) {
      add_text(s, t, m);
      if (!named) name_by_text(s, t, &words, m);
    } else if (m->kind == MARK_PATH && m->path.paint.opacity < 1) {
      continue; // transparent: the tail of a note
    } else if (m->kind == MARK_PATH) {
      add_path(s, t, thing, m, &lines);
    } else if (m->kind == MARK_IMAGE) {
      area_add(&t->area, m->image.x, m->image.y);
      area_add(&t->area, m->image.x + m->image.w, m->image.y + m->image.h);
    }
  }
}

// -- the grid -------------------------------------------------------------------------------------
typedef struct {
  uint32_t x0, y0, x1, y1;
} GridCells;

static uint32_t cell_at(double x, double size, uint32_t n) {
  return x < 0 ? 0 : x / size >= n ? n - 1 : (uint32_t)(x / size);
}

uint32_t grid_cell(const LintGrid *g, double x, double y) {
  return cell_at(y, g->size, g->rows) * g->columns + cell_at(x, g->size, g->columns);
}

static GridCells cells_of(const LintGrid *g, const Area *a) {
  return (GridCells){cell_at(a->x0, g->size, g->columns), cell_at(a->y0, g->size, g->rows),
                     cell_at(a->x1, g->size, g->columns), cell_at(a->y1, g->size, g->rows)};
}

static void grid_size(LintGrid *g, const Canvas *c, uint32_t n) {
  g->size = fmax(24, sqrt(c->width * c->height / (4.0 * n + 64)));
  g->columns = (uint32_t)(c->width / g->size) + 1;
  g->rows = (uint32_t)(c->height / g->size) + 1;
}

// Two passes: counts per cell, then entries.
static void grid_fill(Scene *s, LintGrid *g, const Area *area, uint32_t n) {
  grid_size(g, s->canvas, n);
  uint32_t cells = g->columns * g->rows;
  g->first = NEW_ARRAY(s->arena, uint32_t, cells + 1);
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < n; i++) {
      if (area[i].x0 > area[i].x1) continue;
      GridCells at = cells_of(g, &area[i]);
      for (uint32_t y = at.y0; y <= at.y1; y++)
        for (uint32_t x = at.x0; x <= at.x1; x++) {
          uint32_t *to = &g->first[y * g->columns + x + 1];
          if (round) g->item[*to] = i;
          ++*to;
        }
    }
    if (round) continue;
    uint32_t sum = 0;
    for (uint32_t k = 1; k <= cells; k++) {
      uint32_t own = g->first[k];
      g->first[k] = sum, sum += own;
    }
    g->item = NEW_ARRAY(s->arena, uint32_t, sum + 1);
  }
}

static int by_number(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static Near grid_find(Scene *s, const LintGrid *g, const Area *a) {
  GridCells at = cells_of(g, a);
  Ids *out = &s->near;
  uint32_t n = 0;
  out->n = 0;
  for (uint32_t y = at.y0; y <= at.y1; y++)
    for (uint32_t x = at.x0; x <= at.x1; x++) {
      uint32_t cell = y * g->columns + x;
      for (uint32_t i = g->first[cell]; i < g->first[cell + 1]; i++)
        vec_push(s->arena, out, g->item[i]);
    }
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_number);
  for (uint32_t i = 0; i < out->n; i++)
    if (!n || out->at[n - 1] != out->at[i]) out->at[n++] = out->at[i];
  out->n = n;
  return (Near){.s = s, .line = g == &s->segments ? s->segment.at : NULL};
}

Near near_things(Scene *s, Area a) { return grid_find(s, &s->things, &a); }
Near near_lines(Scene *s, Area a) { return grid_find(s, &s->segments, &a); }

bool near_next(Near *n) {
  Scene *s = n->s;
  if (n->next == s->near.n) return false;
  n->index = s->near.at[n->next++];
  if (n->line) n->line = &s->segment.at[n->index], n->index = n->line->thing;
  n->thing = &s->thing.at[n->index];
  return true;
}

void scene_of(Scene *s) {
  SceneWalk w = {0};
  find_owners(s, &w);
  uint32_t *next = NEW_ARRAY(s->arena, uint32_t, w.owner.n + 1);
  uint32_t *first = NEW_ARRAY(s->arena, uint32_t, s->thing.n + 1);
  for (uint32_t i = w.owner.n; i-- > 0;)
    if (w.owner.at[i]) next[i] = first[w.owner.at[i] - 1], first[w.owner.at[i] - 1] = i + 1;
  for (uint32_t i = 0; i < s->thing.n; i++) read_thing(s, i, first[i], next);
  Area *area = NEW_ARRAY(s->arena, Area, s->thing.n + s->segment.n + 1);
  for (uint32_t i = 0; i < s->thing.n; i++) // lines are found by their segments
    area[i] = s->thing.at[i].kind <= THING_STROKE ? area_none : s->thing.at[i].area;
  grid_fill(s, &s->things, area, s->thing.n);
  for (uint32_t i = 0; i < s->segment.n; i++) area[i] = segment_area(&s->segment.at[i]);
  grid_fill(s, &s->segments, area, s->segment.n);
}
