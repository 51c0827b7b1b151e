// The shape of strands before and after the glyphs of a stage. By default, all strands of a stage
// bend in parallel, so that bundles stay together. If two would cross at too small an angle to be
// told apart, each bends as late as necessary, or bundles bend one after the other; the variant
// with the largest crossing angle wins. If all are too flat, each strand searches its own start and
// end, iteratively, until no crossing is too flat or nothing improves.
#include "show/layout/lay_own.h"

#include <math.h>

enum { MOST_STRANDS = 64, LENGTHS = 4, MOST_POINTS = 96, STAGGER = 4 };
enum { MOST_LOOSE = 16, STEPS = 12, ROUNDS = 8, SHORTEST = 24, MOST_ROOM = 4 };
#define FLAT 31.0   // degrees; lint.c requires 30
#define TRIPLE 20.0 // penalty of a triple crossing
#define APART 1.5   // crossings within this distance coincide
#define APART_2 4.0 // for lines with two strokes

typedef struct {
  double y0, y1, from,
      to; // the horizontal range, from the start of the stage's curves, in which it goes from y0 to
          // y1
  uint32_t strand, bundle; // index of the bundle in the stage
  bool meets;              // it ends or begins on another strand
  bool two;                // a tandem line, with two strokes
  Knee spot[MOST_POINTS];  // its polyline
  uint32_t spots;
} CurveArc;
typedef VEC(CurveArc) Arcs;

typedef struct { // a crossing of two arcs
  double x, y;
  uint32_t a, b;
  bool two; // one of them has two strokes
} Meeting;
typedef VEC(Meeting) Meetings;

static double curve_room(double dy) {
  if (dy < 0.5) return 0;
  double x = 0.45 * dy;
  return x < CURVE_LEAST ? CURVE_LEAST : x > CURVE_MOST ? CURVE_MOST : x;
}

// The curve as a polyline, horizontal before and after, as it is drawn and checked.
static void arc_draw(CurveArc *b, double length) {
  double dx = b->to - b->from, dy = b->y1 - b->y0;
  double n = fmin(1 + sqrt(0.75 * hypot(dx / 2, dy) / 0.03), MOST_POINTS - 4);
  b->spots = 0;
  b->spot[b->spots++] = (Knee){-1, b->y0};
  for (uint32_t i = 0; i <= (uint32_t)n; i++) {
    double t = i / floor(n);
    b->spot[b->spots++] =
        (Knee){b->from + dx * t * (1.5 - 1.5 * t + t * t), b->y0 + dy * t * t * (3 - 2 * t)};
  }
  b->spot[b->spots++] = (Knee){length + 1, b->y1};
}

static double height_at(const Knee *p, double x) {
  double dx = p[1].x - p[0].x;
  return dx < 1e-9 ? p[1].y : p[0].y + (p[1].y - p[0].y) * (x - p[0].x) / dx;
}

static double degrees(const Knee *p) {
  return atan2(p[1].y - p[0].y, p[1].x - p[0].x) * 57.29577951308232;
}

static bool is_apart(const CurveArc *a, const CurveArc *b) {
  return fmax(a->y0, a->y1) < fmin(b->y0, b->y1) || fmax(b->y0, b->y1) < fmin(a->y0, a->y1);
}

// The smallest angle at which two arcs cross; 90 if they do not, 0 if they cross twice, or cross
// and then meet.
static double crossing_angle(const CurveArc *a, const CurveArc *b, Knee *at) {
  double least = 90, sides = (a->y0 - b->y0) * (a->y1 - b->y1), x = -1, last = a->y0 - b->y0;
  if (is_apart(a, b)) return 90;
  for (uint32_t i = 0, k = 0; i + 1 < a->spots && k + 1 < b->spots;) {
    const Knee *p = &a->spot[i], *q = &b->spot[k];
    double end = fmin(p[1].x, q[1].x), y = height_at(p, end), z = height_at(q, end);
    if (fabs(y - z) > 1e-6 && last * (y - z) < 0) {
      if (sides > -0.01) return 0;
      // Two steep lines are flat relative to each other.
      double turn = fabs(degrees(p) - degrees(q));
      least = fmin(least, fmin(turn, 180 - turn));
      at->x = x + (end - x) * last / (last - (y - z)), at->y = height_at(p, at->x);
    }
    if (fabs(y - z) > 1e-6) last = y - z;
    x = end;
    i += p[1].x <= end, k += q[1].x <= end;
  }
  return least;
}

// Does a third arc cross at this point?
static bool is_triple(const Meetings *all, const Meeting *m) {
  for (uint32_t i = 0; i < all->n; i++) {
    const Meeting *o = &all->at[i];
    double apart = o->two || m->two ? APART_2 : APART;
    if (fabs(o->x - m->x) < apart && fabs(o->y - m->y) < apart &&
        (o->a == m->a || o->a == m->b || o->b == m->a || o->b == m->b))
      return true;
  }
  return false;
}

// The crossing angle of two arcs, which is recorded. *triple: a third arc crosses there.
static double note_crossing(Arena *arena, const Arcs *all, uint32_t i, uint32_t k, Meetings *met,
                            bool *triple) {
  Knee at = {0, 0};
  double angle = crossing_angle(&all->at[i], &all->at[k], &at);
  Meeting m = {at.x, at.y, i, k, all->at[i].two || all->at[k].two};
  *triple = angle != 90 && is_triple(met, &m);
  if (angle != 90) vec_push(arena, met, m);
  return angle;
}

// The smallest crossing angle.
static double flattest(Arena *arena, Arcs *all, double length) {
  double least = 90;
  Meetings met = {0};
  if (all->n > MOST_STRANDS) return least;
  for (uint32_t i = 0; i < all->n; i++) arc_draw(&all->at[i], length);
  for (uint32_t i = 0; i < all->n; i++)
    for (uint32_t k = i + 1; k < all->n; k++) {
      bool triple;
      least = fmin(least, note_crossing(arena, all, i, k, &met, &triple));
      if (triple) least = fmin(least, TRIPLE);
    }
  return least;
}

// Variants of bending, simplest first. Returns the total length.
enum {
  WAY_TOGETHER,
  WAY_FALL, // each strand a little after the one above it
  WAY_RISE,
  WAY_OWN,
  WAY_BUNDLES,
  WAY_STRANDS = WAY_BUNDLES + 6,
  WAY_TURNS = WAY_STRANDS + 6,
  WAYS = WAY_TURNS + 6
};

// Should o bend before b, if both go the same way? If they keep their order, the one ahead bends
// first, to avoid a double crossing; otherwise they should cross far from horizontal parts.
static bool is_before(const CurveArc *o, const CurveArc *b) {
  double sign = b->y1 > b->y0 ? 1 : -1, start = sign * (o->y0 - b->y0),
         end = sign * (o->y1 - b->y1);
  if (start * end >= 0) return start + end > 0;
  return start < 0 ? -start > end : start < -end;
}

static uint32_t turn_of_arc(const Arcs *all, uint32_t i) {
  const CurveArc *b = &all->at[i];
  uint32_t n = 0;
  for (uint32_t k = 0; k < all->n; k++) {
    const CurveArc *o = &all->at[k];
    if (fabs(o->y1 - o->y0) > 0.5 && (o->y1 > o->y0) == (b->y1 > b->y0)) n += is_before(o, b);
  }
  return n;
}

static double bend_all(Arcs *all, uint32_t way, double length, bool to_glyph) {
  static const double late[] = {0.4, 0.7, 1};
  double most = length;
  bool together = way >= WAY_TURNS && (way - WAY_TURNS) % 2; // aligned at the end
  for (uint32_t i = 0; i < all->n; i++) {
    CurveArc *b = &all->at[i];
    double own = fmin(length, fmax(24, 1.3 * fabs(b->y1 - b->y0)));
    b->from = 0, b->to = length;
    if (way == WAY_OWN && to_glyph) b->from = length - own;
    if (way == WAY_OWN && !to_glyph) b->to = own;
    if (way == WAY_FALL || way == WAY_RISE) {
      b->from = STAGGER * (way == WAY_FALL ? i : all->n - 1 - i);
      b->to = b->from + length;
      most = fmax(most, b->to);
    }
    if (way < WAY_BUNDLES) continue;
    uint32_t kind = (way - WAY_BUNDLES) % 6, last = all->n - 1, at = i;
    if (way < WAY_STRANDS) last = all->at[last].bundle, at = b->bundle;
    if (way >= WAY_TURNS) at = turn_of_arc(all, i);
    bool back = kind % 2 && way < WAY_TURNS;
    b->from = late[kind / 2] * length * (back ? last - at : at);
    b->to = b->from + length;
    most = fmax(most, b->to);
  }
  for (uint32_t i = 0; i < all->n; i++) { // (otherwise at the beginning)
    CurveArc *b = &all->at[i];
    if ((b->meets || together) && to_glyph) b->to = most;
    if (b->meets && !to_glyph) b->from = 0;
  }
  return most;
}

// -- each by itself -------------------------------------------------------------------------------
// The sum of degrees by which crossings of one arc are too flat.
static double flatness(const Arcs *all, uint32_t i) {
  double sum = 0;
  Meeting room[MOST_LOOSE];
  Meetings met = {.at = room, .cap = MOST_LOOSE}; // never reallocated
  for (uint32_t k = 0; k < all->n; k++) {
    bool triple = false;
    if (k != i) sum += fmax(0, FLAT - note_crossing(NULL, all, i, k, &met, &triple));
    if (triple) sum += FLAT - TRIPLE;
  }
  return sum;
}

static double flatness_of(const Arcs *all, uint32_t first, uint32_t n) {
  double sum = 0;
  for (uint32_t i = first; i < first + n; i++) sum += flatness(all, i);
  return sum;
}

static void bend_between(CurveArc *b, double from, double to, double length, bool to_glyph) {
  b->from = b->meets && !to_glyph ? 0 : from;
  b->to = b->meets && to_glyph ? length : to;
  arc_draw(b, length);
}

// Searches for these arcs the common start and end with the least flat crossings.
static bool loosen(Arcs *all, uint32_t first, uint32_t n, double length, bool to_glyph) {
  double least = flatness_of(all, first, n), from = -1, to = 0, shortest = SHORTEST;
  CurveArc was[MOST_LOOSE];
  if (least <= 0) return false;
  for (uint32_t i = 0; i < n; i++) {
    was[i] = all->at[first + i];
    shortest = fmax(shortest, 0.35 * fabs(was[i].y1 - was[i].y0));
  }
  for (uint32_t p = 0; p <= STEPS; p++)
    for (uint32_t q = p + 1; q <= STEPS; q++) {
      double x0 = length * p / STEPS, x1 = length * q / STEPS;
      if (x1 - x0 < shortest) continue;
      for (uint32_t i = first; i < first + n; i++)
        bend_between(&all->at[i], x0, x1, length, to_glyph);
      double flat = flatness_of(all, first, n);
      if (flat < least - 1e-6) least = flat, from = x0, to = x1;
    }
  for (uint32_t i = 0; i < n; i++) {
    all->at[first + i] = was[i];
    if (from >= 0) bend_between(&all->at[first + i], from, to, length, to_glyph);
  }
  return from >= 0;
}

// First per bundle, then per strand. Returns the remaining flatness.
static double bend_loose(Arcs *all, double length, bool to_glyph) {
  bool better = true;
  for (uint32_t i = 0; i < all->n; i++) arc_draw(&all->at[i], length);
  for (uint32_t round = 0; better && round < ROUNDS; round++) {
    better = false;
    for (uint32_t i = 0, n; i < all->n; i += n) {
      for (n = 1; i + n < all->n && all->at[i + n].bundle == all->at[i].bundle;) n++;
      better |= loosen(all, i, n, length, to_glyph);
    }
    for (uint32_t i = 0; i < all->n && !better; i++) better = loosen(all, i, 1, length, to_glyph);
  }
  return flatness_of(all, 0, all->n);
}

// Starts from each simple variant until nothing is too flat; otherwise keeps the best.
static double bend_freely(Arcs *all, double room, bool to_glyph) {
  static const double lengths[] = {1, 1.5, 2.5};
  double least = INFINITY, flat = INFINITY, length = 0;
  uint32_t best = 0;
  for (uint32_t k = 0; k < COUNT(lengths) * WAYS && least > 0; k++) {
    length = bend_all(all, k / COUNT(lengths), room * lengths[k % COUNT(lengths)], to_glyph);
    flat = length > MOST_ROOM * room ? INFINITY : bend_loose(all, length, to_glyph);
    if (flat < least - 1e-6) least = flat, best = k;
  }
  if (flat <= least) return length;
  length = bend_all(all, best / COUNT(lengths), room * lengths[best % COUNT(lengths)], to_glyph);
  bend_loose(all, length, to_glyph);
  return length;
}

static double bend_best(Arena *arena, Arcs *all, bool to_glyph) {
  static const double lengths[LENGTHS] = {1, 1.25, 1.5, 2};
  double most = 0, best = -1, length = 0;
  uint32_t way = WAY_TOGETHER;
  for (uint32_t i = 0; i < all->n; i++) most = fmax(most, fabs(all->at[i].y1 - all->at[i].y0));
  most = length = curve_room(most);
  for (uint32_t k = 0; k < LENGTHS * WAYS && best < FLAT && most > 0; k++) {
    double longer = most * lengths[k % LENGTHS];
    double angle = flattest(arena, all, bend_all(all, k / LENGTHS, longer, to_glyph));
    if (angle > best + 1e-6) best = angle, way = k / LENGTHS, length = longer;
  }
  if (best < FLAT && most > 0 && all->n <= MOST_LOOSE) return bend_freely(all, most, to_glyph);
  return bend_all(all, way, length, to_glyph);
}

static Arcs arcs_of(Lay *y, const Ids *bundles, bool in, const uint32_t *other) {
  Arcs all = {0};
  const Layout *l = y->l;
  for (uint32_t i = 0; i < bundles->n; i++)
    for (uint32_t k = 0; k < y->s->bundle.at[bundles->at[i]].n; k++) {
      uint32_t x = strand_at(y->s, bundles->at[i], k), o = other[x];
      CurveArc b = {.y0 = l->y[x], .y1 = o ? l->out[o] : l->in[x], .strand = x, .bundle = i};
      b.meets = o > 0, b.two = y->s->strand.at[x].line == LINE_TANDEM;
      if (!in) b.y0 = o ? l->y[o] : l->out[x], b.y1 = l->y[x];
      vec_push(y->arena, &all, b);
    }
  return all;
}

void find_curves(Lay *y) {
  Layout *l = y->l;
  Arena *whole = y->arena;
  // [strand] the strand it merges into.
  uint32_t *merges = NEW_ARRAY(y->arena, uint32_t, y->s->strand.n);
  // [strand] the strand it begins on.
  uint32_t *begins = NEW_ARRAY(y->arena, uint32_t, y->s->strand.n);
  for (uint32_t k = 0; k < y->s->stage.n; k++)
    for (uint32_t i = 0; i < y->s->stage.at[k].link.n; i++) {
      const Link *x = &y->s->stage.at[k].link.at[i];
      if (x->kind == LINK_MERGE) merges[x->a] = x->to;
      if (x->kind == LINK_COPY) begins[x->to] = x->a;
    }
  for (uint32_t k = 0; k < y->s->stage.n; k++) {
    const Stage *t = &y->s->stage.at[k];
    y->arena = arena_child(whole);
    Arcs in = arcs_of(y, &t->in, true, merges), out = arcs_of(y, &t->out, false, begins);
    l->gather[k] = bend_best(y->arena, &in, true);
    l->spread[k] = bend_best(y->arena, &out, false);
    for (uint32_t i = 0; i < in.n; i++)
      l->bend_in[in.at[i].strand] =
          (Bend){l->gather[k] - in.at[i].from, l->gather[k] - in.at[i].to};
    for (uint32_t i = 0; i < out.n; i++)
      l->bend_out[out.at[i].strand] = (Bend){out.at[i].from, out.at[i].to};
    arena_free(y->arena);
  }
  y->arena = whole;
}
