// Compares the lines of a finished picture with the axes of the diagram's types, which are found by
// the names of wires, independently of the layout.
//
// The picture is cut at its labels, where all lines are horizontal. Cuts through glyphs or curves
// are skipped. In each cut, a wire of rank n has n lines, or 2n, 3n … if it was copied; scalars,
// and wires of string diagrams, count as one. A tandem line counts as many axes as it has names. At
// the left end, the number of lines is the number of the inputs' axes.
#include "base/names.h"
#include "base/table.h"
#include "show/canvas/lint_own.h"

#include <math.h>

typedef struct {
  const char *id; // as in the picture: "attend/Q"
  uint32_t rank;  // 0: wires with this name differ in rank
  uint32_t lines; // in the current cut
} NamedWire;
typedef VEC(NamedWire) NamedList;

static uint32_t rank_of(const Type *t, bool strings) { return strings || !t->rank ? 1 : t->rank; }

static NamedList wires_by_name(World *w, Arena *a, const Diagram *d, bool strings, Table *at) {
  NamedList all = {0};
  for (Id i = 1; i < d->wire.n; i++) {
    const char *name = name_text(w->names, d->wire.at[i].name);
    const char *id = arena_format(a, "%s/%s", name_text(w->names, d->name), name);
    uint32_t rank = rank_of(&d->wire.at[i].type, strings);
    if (!*name) continue;
    uint32_t k = table_get(at, id, strlen(id));
    if (k && all.at[k - 1].rank != rank) all.at[k - 1].rank = 0;
    if (k) continue;
    vec_push(a, &all, (NamedWire){.id = id, .rank = rank});
    table_put(at, id, strlen(id), all.n);
  }
  return all;
}

// The number of axes of a line. A tandem line is two strokes, described as "h and w".
static uint32_t axes_of(const Scene *s, const Thing *t) {
  uint32_t pieces = 0, names = 1;
  for (uint32_t i = t->first; i < t->first + t->n; i++) pieces += s->segment.at[i].begins;
  if (pieces < 2) return 1;
  for (const char *k = t->words; (k = strstr(k, " and ")); k++) names++;
  return names < 2 ? 2 : names;
}

static bool is_cut_clear(Scene *s, double x) {
  Area line = {x - 0.5, 0, x + 0.5, s->canvas->height}, wide = {x - 30, 0, x + 30, line.y1};
  for (Near n = near_things(s, wide); near_next(&n);)
    if (n.thing->kind == THING_GLYPH && areas_meet(&n.thing->area, &wide)) return false;
  for (Near n = near_lines(s, line); near_next(&n);)
    if (n.thing->kind <= THING_CUP && fabs(n.line->y1 - n.line->y0) > 0.01 &&
        segment_enters(n.line, &line))
      return false;
  return true;
}

// Counts the lines at x, in total and per wire.
static uint32_t count_lines(Scene *s, double x, const Table *at, NamedList *all) {
  Area line = {x - 0.5, 0, x + 0.5, s->canvas->height};
  uint32_t last = UINT32_MAX, sum = 0;
  for (uint32_t i = 0; i < all->n; i++) all->at[i].lines = 0;
  for (Near n = near_lines(s, line); near_next(&n);) {
    const Thing *t = n.thing;
    if (t->kind != THING_WIRE || n.index == last || !segment_enters(n.line, &line)) continue;
    last = n.index;
    uint32_t named = table_get(at, t->id, strlen(t->id)), axes = axes_of(s, t);
    if (named) all->at[named - 1].lines += axes;
    sum += axes;
  }
  return sum;
}

static void check_cut(Scene *s, double x, const Table *at, NamedList *all) {
  if (!is_cut_clear(s, x)) return;
  count_lines(s, x, at, all);
  for (uint32_t i = 0; i < all->n; i++) {
    const NamedWire *k = &all->at[i];
    if (k->rank && k->lines % k->rank)
      add_fault(s, FAULT_AXES, x, 0, "%.60s has %u axes and is drawn with %u lines", k->id, k->rank,
                k->lines);
  }
}

// At the left end, there are only inputs.
static void check_left(Scene *s, const Diagram *d, bool strings) {
  uint32_t want = 0;
  double left = INFINITY;
  NamedList none = {0};
  for (uint32_t i = 0; i < d->in.n; i++) want += rank_of(&d->wire.at[d->in.at[i]].type, strings);
  for (uint32_t i = 0; i < s->thing.n; i++)
    if (s->thing.at[i].kind == THING_WIRE) left = fmin(left, s->thing.at[i].area.x0);
  if (!d->in.n || !isfinite(left) || !is_cut_clear(s, left + 1)) return;
  uint32_t n = count_lines(s, left + 1, table_new(s->arena), &none);
  if (n != want)
    add_fault(s, FAULT_AXES, left, 0, "inputs have %u axes, and %u lines begin", want, n);
}

void circuit_check(World *w, Arena *a, const Diagram *whole, bool strings, const Canvas *c,
                   Faults *out) {
  const Diagram *d = whole;
  while (d->box.n == 2 && d->box.at[1].op == OP_call && d->box.at[1].callee->name == d->name)
    d = d->box.at[1].callee; // a learner on its own is a call of itself
  Scene s = {.arena = a, .canvas = c, .out = out};
  Table *at = table_new(a), *cuts = table_new(a);
  scene_of(&s);
  NamedList all = wires_by_name(w, a, d, strings, at);
  check_left(&s, d, strings);
  check_beginnings(&s, true);
  for (uint32_t i = 0; i < s.thing.n; i++) {
    const Thing *t = &s.thing.at[i];
    int64_t x = (int64_t)floor(t->area.x0);
    if (t->kind != THING_LABEL || table_get(cuts, &x, sizeof x)) continue;
    table_put(cuts, &x, sizeof x, 1);
    check_cut(&s, (double)x - 0.5, at, &all);
  }
}
