// How strands bend before the glyphs of a stage and behind them. All of a stage bend side by side,
// so that a bundle stays parallel, unless two of them would cross so flatly that one cannot tell
// which goes where: then each bends for as long as it has to, or one bundle after the other. What
// crosses least flatly is found by trying.
#include "view/lay.h"

#include <math.h>

enum { SAMPLES = 96, MOST_STRANDS = 64, LENGTHS = 3 };
#define FLAT 31.5 // degrees; the eye, and check.c, want 30

typedef struct {
  double y0, y1, from,
      to; // it goes from y0 to y1 between these, from where the stage's curves begin
  uint32_t strand, bundle; // the bundle by its number in the stage
  bool meets;              // it ends on another strand, or begins there
} Arc;
typedef VEC(Arc) Arcs;

static double curve_room(double dy) {
  if (dy < 0.5) return 0;
  double x = 0.45 * dy;
  return x < CURVE_LEAST ? CURVE_LEAST : x > CURVE_MOST ? CURVE_MOST : x;
}

// The height, from 0 to 1, of a curve with level ends and its handles in the middle.
static double height_at(double x) {
  double t = x;
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  for (int i = 0; i < 8; i++)
    t -= (1.5 * t - 1.5 * t * t + t * t * t - x) / (1.5 - 3 * t + 3 * t * t);
  return t * t * (3 - 2 * t);
}

static double arc_at(const Arc *b, double x) {
  if (b->to - b->from < 1e-9) return x < b->from ? b->y0 : b->y1;
  return b->y0 + (b->y1 - b->y0) * height_at((x - b->from) / (b->to - b->from));
}

static double degrees(double dy, double dx) { return atan2(dy, dx) * 57.29577951308232; }

// The angle at which two cross; 90 if they do not.
static double crossing_angle(const Arc *a, const Arc *b, double length) {
  if ((a->y0 - b->y0) * (a->y1 - b->y1) > -0.01) return 90;
  double least = 90, step = length / SAMPLES, p = a->y0, q = b->y0;
  for (uint32_t i = 1; i <= SAMPLES; i++) {
    double u = arc_at(a, i * step), v = arc_at(b, i * step);
    if ((p - q) * (u - v) <= 0 && fabs(p - q) + fabs(u - v) > 1e-9)
      least = fmin(least, fabs(degrees(u - p, step) - degrees(v - q, step)));
    p = u, q = v;
  }
  return least;
}

static double flattest(const Arcs *all, double length) {
  double least = 90;
  if (all->n > MOST_STRANDS) return least;
  for (uint32_t i = 0; i < all->n; i++)
    for (uint32_t k = i + 1; k < all->n; k++)
      least = fmin(least, crossing_angle(&all->at[i], &all->at[k], length));
  return least;
}

// Ways to bend, from the plainest on. How long the whole is, comes back.
enum { WAY_TOGETHER, WAY_OWN, WAY_BUNDLES, WAY_STRANDS = WAY_BUNDLES + 6, WAYS = WAY_STRANDS + 6 };

static double bend(Arcs *all, uint32_t way, double length, bool to_glyph) {
  static const double late[] = {0.4, 0.7, 1};
  double most = length;
  for (uint32_t i = 0; i < all->n; i++) {
    Arc *b = &all->at[i];
    double own = fmin(length, fmax(24, 1.3 * fabs(b->y1 - b->y0)));
    b->from = 0, b->to = length;
    if (way == WAY_OWN && to_glyph) b->from = length - own;
    if (way == WAY_OWN && !to_glyph) b->to = own;
    if (way < WAY_BUNDLES) continue;
    uint32_t kind = way - (way < WAY_STRANDS ? WAY_BUNDLES : WAY_STRANDS);
    uint32_t last = all->at[all->n - 1].bundle, at = way < WAY_STRANDS ? b->bundle : i;
    if (way >= WAY_STRANDS) last = all->n - 1;
    b->from = late[kind / 2] * length * (kind % 2 ? last - at : at);
    b->to = b->from + length;
    most = fmax(most, b->to);
  }
  for (uint32_t i = 0; i < all->n; i++) { // and not beside it
    Arc *b = &all->at[i];
    if (b->meets && to_glyph) b->to = most;
    if (b->meets && !to_glyph) b->from = 0;
  }
  return most;
}

static double bend_best(Arcs *all, bool to_glyph) {
  double most = 0, best = -1, length = 0;
  uint32_t way = WAY_TOGETHER;
  for (uint32_t i = 0; i < all->n; i++) most = fmax(most, fabs(all->at[i].y1 - all->at[i].y0));
  most = length = curve_room(most);
  for (uint32_t k = 0; k < LENGTHS * WAYS && best < FLAT && most > 0; k++) {
    double longer = most * (1 + 0.5 * (k / WAYS));
    double angle = flattest(all, bend(all, k % WAYS, longer, to_glyph));
    if (angle > best + 1e-6) best = angle, way = k % WAYS, length = longer;
  }
  return bend(all, way, length, to_glyph);
}

static Arcs arcs_of(Lay *y, const Ids *bundles, bool in, const uint32_t *other) {
  Arcs all = {0};
  const Layout *l = y->l;
  for (uint32_t i = 0; i < bundles->n; i++)
    for (uint32_t k = 0; k < y->s->bundle.at[bundles->at[i]].n; k++) {
      uint32_t x = strand_at(y->s, bundles->at[i], k), o = other[x];
      Arc b = {.y0 = l->y[x], .y1 = o ? l->out[o] : l->in[x], .strand = x, .bundle = i};
      b.meets = o > 0;
      if (!in) b.y0 = o ? l->y[o] : l->out[x], b.y1 = l->y[x];
      vec_push(y->arena, &all, b);
    }
  return all;
}

void find_curves(Lay *y) {
  Layout *l = y->l;
  uint32_t *merges = NEW_ARRAY(y->arena, uint32_t, y->s->strand.n); // into which
  uint32_t *begins = NEW_ARRAY(y->arena, uint32_t, y->s->strand.n); // on which
  for (uint32_t k = 0; k < y->s->stage.n; k++)
    for (uint32_t i = 0; i < y->s->stage.at[k].link.n; i++) {
      const Link *x = &y->s->stage.at[k].link.at[i];
      if (x->kind == LINK_MERGE) merges[x->a] = x->to;
      if (x->kind == LINK_COPY) begins[x->to] = x->a;
    }
  for (uint32_t k = 0; k < y->s->stage.n; k++) {
    const Stage *t = &y->s->stage.at[k];
    Arcs in = arcs_of(y, &t->in, true, merges), out = arcs_of(y, &t->out, false, begins);
    l->gather[k] = bend_best(&in, true);
    l->spread[k] = bend_best(&out, false);
    for (uint32_t i = 0; i < in.n; i++)
      l->bend_in[in.at[i].strand] =
          (Bend){l->gather[k] - in.at[i].from, l->gather[k] - in.at[i].to};
    for (uint32_t i = 0; i < out.n; i++)
      l->bend_out[out.at[i].strand] = (Bend){out.at[i].from, out.at[i].to};
  }
}
