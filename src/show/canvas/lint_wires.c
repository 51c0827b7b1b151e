// Checks lines.
//
// Crossings: wires must not cross at less than 30 degrees, three must not meet in a point, and two
// must not overlap. An end of a wire at another one is a dot or port and no crossing.
//
// Bends: the wires that continue each other from stage to stage form a chain with horizontal runs.
// A bend is needless if the run up to the opposite bend could move to the height of a neighbouring
// run, or a free end to the height of the run next to it, that is, if the strip it would occupy is
// empty.
//
// Dividers: an end must be at a glyph, dot, cup, frame, parenthesis, an end or bend of a wire, or
// an end of another divider. The nearest wires above and below count at any distance, since tensors
// may be far apart.
#include "base/table.h"
#include "show/canvas/lint_own.h"

#include <math.h>
#include <stdlib.h>

#define FLAT 0.5 // sine of 30 degrees
enum { STRIP = 17, HELD = 3, BESIDE = 12, REACH = 25 };

static bool is_kind(const Scene *s, const Segment *k, ThingKind kind) {
  return s->thing.at[k->thing].kind == kind;
}

static bool is_last(const Scene *s, const Segment *k) {
  const Thing *t = &s->thing.at[k->thing];
  return k + 1 == s->segment.at + t->first + t->n || k[1].begins;
}

static bool is_level(const Segment *k) { return fabs(k->y1 - k->y0) <= 0.02 * fabs(k->x1 - k->x0); }

static bool is_near(double x, double y, double to_x, double to_y, double dx, double dy) {
  return fabs(x - to_x) <= dx && fabs(y - to_y) <= dy;
}

// -- crossings ------------------------------------------------------------------------------------
typedef struct {
  double x, y;
  uint32_t a, b; // wires
} WireCrossing;
typedef VEC(WireCrossing) Crossings;

// Extends a segment at both ends.
static Segment longer(const Segment *k, double by) {
  double n = hypot(k->x1 - k->x0, k->y1 - k->y0), dx = (k->x1 - k->x0) / n * by,
         dy = (k->y1 - k->y0) / n * by;
  return (Segment){.x0 = k->x0 - dx, .y0 = k->y0 - dy, .x1 = k->x1 + dx, .y1 = k->y1 + dy};
}

// Does a wire end here, or on the other wire near this point?
static bool ends_near(const Scene *s, const Thing *t, const Segment *other, double x, double y) {
  Segment line = longer(other, 10);
  for (uint32_t i = t->first; i < t->first + t->n; i++) {
    const Segment *k = &s->segment.at[i];
    double end[2][2] = {{k->x0, k->y0}, {k->x1, k->y1}};
    for (int e = 0; e < 2; e++) {
      if (!(e ? is_last(s, k) : k->begins)) continue;
      double on = segment_distance(&line, end[e][0], end[e][1]);
      if (is_near(x, y, end[e][0], end[e][1], 1, 1)) return true;
      if (on < 0.6 && is_near(x, y, end[e][0], end[e][1], 10, 2)) return true;
    }
  }
  return false;
}

static bool segments_cross(const Segment *a, const Segment *b, double *sine, double *x, double *y) {
  double ax = a->x1 - a->x0, ay = a->y1 - a->y0, bx = b->x1 - b->x0, by = b->y1 - b->y0;
  double turn = ax * by - ay * bx, na = hypot(ax, ay), nb = hypot(bx, by);
  if (na < 1e-9 || nb < 1e-9 || fabs(turn) < 1e-9 * na * nb) return false;
  double s = ((b->x0 - a->x0) * by - (b->y0 - a->y0) * bx) / turn;
  double t = ((b->x0 - a->x0) * ay - (b->y0 - a->y0) * ax) / turn;
  *sine = fabs(turn) / (na * nb);
  *x = a->x0 + s * ax, *y = a->y0 + s * ay;
  return s >= 0 && s < 1 && t >= 0 && t < 1;
}

// The length of the overlap of two horizontal lines; *x: where it begins.
static double overlap_of(const Segment *a, const Segment *b, double *x) {
  if (!is_level(a) || !is_level(b) || fabs(a->y0 - b->y0) > 0.7) return 0;
  Area p = segment_area(a), q = segment_area(b);
  *x = fmax(p.x0, q.x0);
  return fmin(p.x1, q.x1) - *x;
}

// A pair in several cells is handled in the cell of its intersection.
static void look_at_pair(Scene *s, const Segment *a, const Segment *b, uint32_t cell,
                         Crossings *out) {
  double sine, x, y;
  const Thing *p = &s->thing.at[a->thing], *q = &s->thing.at[b->thing];
  if (overlap_of(a, b, &x) > 8 && grid_cell(&s->segments, x, a->y0) == cell)
    add_fault(s, FAULT_SAME, x, a->y0, "wires %.60s and %.60s", p->words, q->words);
  if (!segments_cross(a, b, &sine, &x, &y) || grid_cell(&s->segments, x, y) != cell) return;
  if (ends_near(s, p, b, x, y) || ends_near(s, q, a, x, y)) return;
  vec_push(s->arena, out, (WireCrossing){x, y, a->thing, b->thing});
  if (sine < FLAT - 0.005)
    add_fault(s, FAULT_FLAT, x, y, "wires %.60s and %.60s, %.0f degrees", p->words, q->words,
              asin(sine) * 57.29578);
}

static int by_x(const void *a, const void *b) {
  double x = ((const WireCrossing *)a)->x, y = ((const WireCrossing *)b)->x;
  return x < y ? -1 : x > y;
}

static void check_triples(Scene *s, Crossings *all) {
  if (all->n) qsort(all->at, all->n, sizeof *all->at, by_x);
  for (uint32_t i = 0; i < all->n; i++)
    for (uint32_t k = i + 1; k < all->n && all->at[k].x - all->at[i].x < 1; k++) {
      const WireCrossing *p = &all->at[i], *q = &all->at[k];
      if (fabs(p->y - q->y) >= 1) continue;
      uint32_t third = q->a == p->a || q->a == p->b ? q->b : q->a;
      if (third == p->a || third == p->b) continue;
      add_fault(s, FAULT_TRIPLE, p->x, p->y, "wires %.60s, %.60s and %.60s",
                s->thing.at[p->a].words, s->thing.at[p->b].words, s->thing.at[third].words);
      break;
    }
}

void check_crossings(Scene *s) {
  const LintGrid *g = &s->segments;
  Crossings all = {0};
  for (uint32_t cell = 0; cell < g->rows * g->columns; cell++)
    for (uint32_t i = g->first[cell]; i < g->first[cell + 1]; i++)
      for (uint32_t k = i + 1; k < g->first[cell + 1]; k++) {
        const Segment *a = &s->segment.at[g->item[i]], *b = &s->segment.at[g->item[k]];
        if (a->thing != b->thing && is_kind(s, a, THING_WIRE) && is_kind(s, b, THING_WIRE))
          look_at_pair(s, a, b, cell, &all);
      }
  check_triples(s, &all);
}

// -- bends ----------------------------------------------------------------------------------------
typedef struct { // a horizontal part of a chain
  double x0, x1, y;
} WireReach;
typedef VEC(WireReach) Reaches;

typedef struct {
  uint32_t *next;     // [thing] the wire that continues it + 1
  bool *has_previous; // [thing]
  uint32_t *chain;    // [thing] the first wire of its chain + 1
} Chains;

typedef struct {
  int64_t x, y;
} Key;

static Key key_of(double x, double y) { return (Key){llround(x * 4), llround(y * 4)}; }

static void wire_ends(const Scene *s, const Thing *t, Key *from, Key *to) {
  const Segment *first = &s->segment.at[t->first], *last = first;
  while (!is_last(s, last)) last++;
  *from = key_of(first->x0, first->y0), *to = key_of(last->x1, last->y1);
}

static bool is_wire(const Thing *t) { return t->kind == THING_WIRE && t->n; }

// A wire continues another one if one ends where the other begins.
static void find_chains(Scene *s, Chains *c) {
  Table *begin = table_new(s->arena), *begins = table_new(s->arena), *ends = table_new(s->arena);
  Key from, to;
  c->next = NEW_ARRAY(s->arena, uint32_t, s->thing.n + 1);
  c->has_previous = NEW_ARRAY(s->arena, bool, s->thing.n + 1);
  c->chain = NEW_ARRAY(s->arena, uint32_t, s->thing.n + 1);
  for (uint32_t i = 0; i < s->thing.n; i++) {
    if (!is_wire(&s->thing.at[i])) continue;
    wire_ends(s, &s->thing.at[i], &from, &to);
    table_put(begin, &from, sizeof from, i + 1);
    table_put(begins, &from, sizeof from, table_get(begins, &from, sizeof from) + 1);
    table_put(ends, &to, sizeof to, table_get(ends, &to, sizeof to) + 1);
  }
  for (uint32_t i = 0; i < s->thing.n; i++) {
    if (!is_wire(&s->thing.at[i])) continue;
    wire_ends(s, &s->thing.at[i], &from, &to);
    uint32_t next = table_get(begin, &to, sizeof to);
    if (!next || next == i + 1 || table_get(begins, &to, sizeof to) != 1 ||
        table_get(ends, &to, sizeof to) != 1)
      continue;
    c->next[i] = next;
    c->has_previous[next - 1] = true;
  }
  for (uint32_t i = 0; i < s->thing.n; i++)
    for (uint32_t k = i + 1; !c->has_previous[i] && k && !c->chain[k - 1]; k = c->next[k - 1])
      c->chain[k - 1] = i + 1;
}

// Adds the horizontal parts of a wire. *x: where it ends.
static void add_runs(Scene *s, const Thing *t, Reaches *out, double *x) {
  for (const Segment *k = &s->segment.at[t->first];; k++) {
    WireReach *last = out->n ? &out->at[out->n - 1] : NULL;
    if (is_level(k) && last && fabs(last->y - k->y0) < 0.05 && fabs(last->x1 - k->x0) < 0.05)
      last->x1 = k->x1;
    else if (is_level(k) && fabs(k->x1 - k->x0) > 0.5)
      vec_push(s->arena, out, (WireReach){k->x0, k->x1, k->y0});
    *x = k->x1;
    if (is_last(s, k)) return;
  }
}

static bool is_own_label(const Thing *t, const WireReach *run) {
  return t->kind == THING_LABEL && t->area.y1 > run->y - 12 && t->area.y1 < run->y + 2 &&
         t->area.x0 > run->x0 - 8 && t->area.x0 < run->x1 + 2;
}

// Is a strip free for a wire at this height? `run` would be moved, and must not pass other wires.
static bool is_free(Scene *s, const Chains *c, uint32_t chain, WireReach to, const WireReach *run) {
  double y = to.y;
  Area strip = {fmin(to.x0, to.x1) + 1, y - STRIP, fmax(to.x0, to.x1) - 1, y + STRIP};
  Area thin = {strip.x0, y - HELD, strip.x1, y + HELD},
       now = {run->x0, run->y, run->x1, run->y + 0.1};
  for (Near n = near_things(s, strip); near_next(&n);) {
    if (!areas_meet(&n.thing->area, &thin) || is_own_label(n.thing, run)) continue;
    if (n.thing->kind != THING_FRAME || !areas_meet(&n.thing->area, &now)) return false;
  }
  Area swept = {run->x0, fmin(run->y, y) - HELD, run->x1, fmax(run->y, y) + HELD};
  Area all = {fmin(strip.x0, swept.x0), fmin(strip.y0, swept.y0), fmax(strip.x1, swept.x1),
              fmax(strip.y1, swept.y1)};
  for (Near n = near_lines(s, all); near_next(&n);) {
    bool wire = n.thing->kind == THING_WIRE;
    if (n.thing->kind > THING_STROKE || c->chain[n.index] == chain + 1) continue;
    if (segment_enters(n.line, wire ? &strip : &thin)) return false;
    if (wire && segment_enters(n.line, &swept)) return false;
  }
  return true;
}

// Is there something at the end of a chain, x = `end`, which is the end of its run?
static bool is_held(Scene *s, double x, double y, double end) {
  if (fabs(x - end) > 0.5) return true; // the chain curves at its end
  Area here = area_grown((Area){x, y, x, y}, HELD);
  for (Near n = near_things(s, here); near_next(&n);)
    if (is_solid(n.thing) && areas_meet(&n.thing->area, &here)) return true;
  for (Near n = near_lines(s, here); near_next(&n);) {
    bool stands = n.thing->kind == THING_CUP || n.thing->kind == THING_STROKE; // or a port
    if (stands && segment_enters(n.line, &here)) return true;
  }
  return false;
}

// Does another wire begin or end on this run?
static bool is_tied(Scene *s, const WireReach *run) {
  Area here = {run->x0 - HELD, run->y - 1, run->x1 + HELD, run->y + 1};
  for (Near n = near_things(s, here); near_next(&n);)
    if (n.thing->kind == THING_DOT && areas_meet(&n.thing->area, &here)) return true;
  return false;
}

static void check_chain(Scene *s, const Chains *c, uint32_t chain, const Reaches *r, double end) {
  const char *words = s->thing.at[chain].words;
  for (uint32_t i = 1; i + 1 < r->n; i++) {
    const WireReach *a = &r->at[i - 1], *b = &r->at[i], *d = &r->at[i + 1];
    double y = fabs(b->y - a->y) < fabs(d->y - b->y) ? a->y : d->y;
    if ((b->y - a->y) * (d->y - b->y) >= 0 || fabs(b->y - y) < 1 || is_tied(s, b)) continue;
    if (is_free(s, c, chain, (WireReach){a->x1, d->x0, y}, b))
      add_fault(s, FAULT_BEND, b->x0, b->y, "wire %.60s goes away from %.0f and comes back", words,
                y);
  }
  double begin = s->segment.at[s->thing.at[chain].first].x0;
  for (uint32_t last = 0; last < 2 && r->n > 1; last++) {
    const WireReach *own = last ? &r->at[r->n - 1] : r->at, *next = last ? own - 1 : own + 1;
    WireReach to = {last ? next->x1 : own->x0, last ? own->x1 : next->x0, next->y};
    if (fabs(own->y - next->y) < 1 || is_tied(s, own) || !is_free(s, c, chain, to, own) ||
        is_held(s, last ? own->x1 : own->x0, own->y, last ? end : begin))
      continue;
    add_fault(s, FAULT_BEND, last ? own->x0 : own->x1, own->y, "wire %.60s could %s at height %.0f",
              words, last ? "end" : "begin", next->y);
  }
}

void check_bends(Scene *s) {
  Chains c;
  find_chains(s, &c);
  for (uint32_t i = 0; i < s->thing.n; i++) {
    Reaches runs = {0};
    double end = 0;
    if (!is_wire(&s->thing.at[i]) || c.has_previous[i]) continue;
    for (uint32_t k = i + 1; k; k = c.next[k - 1]) add_runs(s, &s->thing.at[k - 1], &runs, &end);
    check_chain(s, &c, i, &runs, end);
  }
}

// -- dividers -------------------------------------------------------------------------------------
static bool thing_holds(const Thing *t, double x, double y) {
  const Area *a = &t->area;
  if (t->kind == THING_FRAME)
    return y > a->y0 && y < a->y1 && fmin(fabs(x - a->x0), fabs(x - a->x1)) <= BESIDE;
  Area around = area_grown(*a, BESIDE);
  return is_solid(t) && area_holds(&around, x, y);
}

// Does a segment begin or end nearby?
static bool ends_at(const Scene *s, const Segment *k, double x, double y, double dx, double dy) {
  return (k->begins && is_near(x, y, k->x0, k->y0, dx, dy)) ||
         (is_last(s, k) && is_near(x, y, k->x1, k->y1, dx, dy));
}

static bool line_holds(const Scene *s, const Segment *k, uint32_t divider, double x, double y) {
  Area beside = {x - BESIDE, y - REACH, x + BESIDE, y + REACH};
  switch (s->thing.at[k->thing].kind) {
  case THING_CUP:
  case THING_STROKE: return segment_enters(k, &beside);
  case THING_WIRE:
    return ends_at(s, k, x, y, BESIDE, REACH) || (!is_level(k) && segment_enters(k, &beside));
  case THING_DIVIDER: return k->thing != divider && ends_at(s, k, x, y, 8, 8);
  default: return false;
  }
}

// Does a wire at this height begin, end or bend near x?
static bool wire_turns(Scene *s, double x, double y) {
  Area here = {x - BESIDE, y - HELD, x + BESIDE, y + HELD};
  for (Near n = near_lines(s, here); near_next(&n);) {
    if (n.thing->kind != THING_WIRE) continue;
    if (ends_at(s, n.line, x, y, BESIDE, HELD)) return true;
    if (!is_level(n.line) && segment_enters(n.line, &here)) return true;
  }
  return false;
}

static bool is_held_there(Scene *s, uint32_t divider, double x, double y) {
  Area around = {x - BESIDE, y - REACH, x + BESIDE, y + REACH};
  for (Near n = near_things(s, around); near_next(&n);)
    if (thing_holds(n.thing, x, y)) return true;
  for (Near n = near_lines(s, around); near_next(&n);)
    if (line_holds(s, n.line, divider, x, y)) return true;
  return false;
}

// The height of the nearest wire above or below, or of its end near x; y if there is none.
static double nearest_wire(Scene *s, double x, double y, bool above) {
  double best = above ? -INFINITY : INFINITY;
  Area column = {x - BESIDE, above ? -1e6 : y, x + BESIDE, above ? y : 1e6};
  for (Near n = near_lines(s, column); near_next(&n);) {
    const Segment *k = n.line;
    if (n.thing->kind != THING_WIRE || !segment_enters(k, &column)) continue;
    double to = above ? fmax(k->y0, k->y1) : fmin(k->y0, k->y1);
    if (above ? to > y : to < y) continue; // it crosses the divider
    best = above ? fmax(best, to) : fmin(best, to);
  }
  return isfinite(best) ? best : y;
}

static bool is_in_air(Scene *s, uint32_t divider, double x, double y) {
  if (is_held_there(s, divider, x, y)) return false;
  for (int above = 0; above < 2; above++) {
    double to = nearest_wire(s, x, y, above);
    if (fabs(to - y) > REACH && wire_turns(s, x, to)) return false;
  }
  return true;
}

// A divider described as "outer product" ends where two tensors become one without a glyph.
void check_dividers(Scene *s) {
  for (uint32_t i = 0; i < s->thing.n; i++) {
    const Thing *t = &s->thing.at[i];
    if (t->kind != THING_DIVIDER || !t->n) continue;
    const Segment *first = &s->segment.at[t->first], *last = first + t->n - 1;
    if (is_in_air(s, i, first->x0, first->y0))
      add_fault(s, FAULT_DIVIDER, first->x0, first->y0, "it begins there");
    if (strcmp(t->words, "outer product") != 0 && is_in_air(s, i, last->x1, last->y1))
      add_fault(s, FAULT_DIVIDER, last->x1, last->y1, "it ends there");
  }
}
