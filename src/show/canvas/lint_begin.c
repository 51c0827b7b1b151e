// Checks that every wire has a source. A line may begin at a glyph, a frame, another line, a cup,
// or the position of inputs. A line that begins at an isolated dot, or in the air, is a begun axis:
// this is valid if another line of its wire exists there, otherwise the wire has no source. As all
// lines are checked, every output is connected to an input, a weight, a constant or noise.
#include "show/canvas/lint_own.h"

#include <math.h>

#define TOUCHES 3.0 // tandem lines end at this distance from what they meet
#define BESIDE 6.0  // maximal distance between the starts of a wire's lines
#define LEFT 60.0   // maximal distance of inputs from the leftmost one

typedef struct { // the left end of a line
  const Thing *wire;
  uint32_t first; // segment
  double x, y, to;
} LineBegin;
typedef VEC(LineBegin) LineBegins;

static LineBegins lines_of(Scene *s) {
  LineBegins all = {0};
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    for (uint32_t k = t->first; t->kind == THING_WIRE && k < t->first + t->n; k++) {
      const Segment *g = &s->segment.at[k];
      if (g->begins) vec_push(s->arena, &all, (LineBegin){t, k, g->x0, g->y0, g->x1});
      LineBegin *last = &all.at[all.n - 1];
      if (g->x1 < last->x) last->x = g->x1, last->y = g->y1;
      last->to = fmax(last->to, fmax(g->x0, g->x1));
    }
  }
  return all;
}

// Another line of the wire ends here, and does not also begin here.
static bool line_comes(Scene *s, const LineBegin *b, const LineBegins *all) {
  Area near = {b->x - TOUCHES, b->y - TOUCHES, b->x + TOUCHES, b->y + TOUCHES};
  for (Near n = near_lines(s, near); near_next(&n);) {
    if (n.thing->kind > THING_CUP || segment_distance(n.line, b->x, b->y) > TOUCHES) continue;
    if (n.thing->kind == THING_CUP) return true;
    uint32_t segment = (uint32_t)(n.line - s->segment.at), low = 0, high = all->n;
    while (low + 1 < high) { // binary search for the line of the segment
      uint32_t middle = (low + high) / 2;
      if (all->at[middle].first <= segment)
        low = middle;
      else
        high = middle;
    }
    const LineBegin *o = &all->at[low];
    if (o->first != b->first && fabs(o->x - b->x) > TOUCHES) return true;
  }
  return false;
}

static bool begins_at_something(Scene *s, const LineBegin *b) {
  Area near = {b->x - TOUCHES, b->y - TOUCHES, b->x + TOUCHES, b->y + TOUCHES};
  for (Near n = near_things(s, near); near_next(&n);)
    if ((n.thing->kind == THING_GLYPH || n.thing->kind == THING_FRAME) &&
        areas_meet(&n.thing->area, &near))
      return true;
  for (Near n = near_lines(s, near); near_next(&n);)
    if (n.thing->kind == THING_STROKE && segment_enters(n.line, &near)) return true;
  return false;
}

static bool at_a_dot(Scene *s, const LineBegin *b) {
  for (Near n = near_things(s, (Area){b->x - 1, b->y - 1, b->x + 1, b->y + 1}); near_next(&n);)
    if (n.thing->kind == THING_DOT && area_holds(&n.thing->area, b->x, b->y)) return true;
  return false;
}

// In a circuit, what begins freely at the left is an input.
static bool is_joined(Scene *s, const LineBegin *b, const LineBegins *all, double left, bool air) {
  if (at_a_dot(s, b) == air || b->x < left) return true;
  return line_comes(s, b, all) || begins_at_something(s, b);
}

// Is there another line of the same wire with a source?
static bool wire_is_there(const LineBegins *all, const bool *joined, const LineBegin *b) {
  for (uint32_t i = 0; i < all->n; i++) {
    const LineBegin *o = &all->at[i];
    if (joined[i] && b->wire->id[0] && strcmp(o->wire->id, b->wire->id) == 0 &&
        o->x < b->x + BESIDE && o->to > b->x + BESIDE)
      return true;
  }
  return false;
}

void check_beginnings(Scene *s, bool air) {
  LineBegins all = lines_of(s);
  bool *joined = NEW_ARRAY(s->arena, bool, all.n + 1);
  double left = INFINITY;
  for (uint32_t i = 0; i < all.n; i++) left = fmin(left, all.at[i].x);
  left = air ? left + LEFT : -INFINITY;
  for (uint32_t i = 0; i < all.n; i++) joined[i] = is_joined(s, &all.at[i], &all, left, air);
  for (uint32_t i = 0; i < all.n; i++) {
    const LineBegin *b = &all.at[i];
    if (!joined[i] && !wire_is_there(&all, joined, b))
      add_fault(s, FAULT_NOWHERE, b->x, b->y, "%.60s",
                b->wire->words[0] ? b->wire->words : "a wire");
  }
}
