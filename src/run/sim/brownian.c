// Brownian paths that do not depend on the step size (Lévy's construction as a virtual tree).
//
// A path is known at the ends of long intervals of 2^levels steps, and refined by halving: the
// midpoint is the mean of both ends plus a normal number, drawn for this interval and level. With
// half the step there is one more level, so the same path is seen in more detail. The numbers
// depend on the seed, the site and the position in the tree. From one step to the next most of the
// tree stays the same; one number is drawn per step.
#include "run/sim/brownian.h"
#include "core/diagram/interpret.h"

#include <math.h>

static const double longest_span = 2048; // in time; longer steps are intervals of their own

struct Brownian {
  uint64_t seed, site;
  int64_t cells;
  double step;
  uint32_t levels;
  bool begun;
  uint64_t *at;       // [level] index of the present interval
  double **increment; // [level][cells] increment of the path over the interval
  double **deviation; // [level][cells] deviation of the midpoint from the straight line
  double *rest;       // [cells] remaining increment of a step that was split
  double from;        // start of the remainder
};

Brownian *brownian_new(Arena *a, uint64_t seed, uint64_t site, int64_t cells, double step) {
  Brownian *b = NEW(a, Brownian);
  *b = (Brownian){.seed = seed, .site = site, .cells = cells, .step = step, .from = -1};
  for (double span = step; 2 * span < longest_span; span *= 2) b->levels++;
  b->at = NEW_ARRAY(a, uint64_t, b->levels + 1);
  b->increment = NEW_ARRAY(a, double *, b->levels + 1);
  b->deviation = NEW_ARRAY(a, double *, b->levels + 1);
  for (uint32_t i = 0; i <= b->levels; i++) {
    b->increment[i] = NEW_ARRAY(a, double, cells + 1);
    b->deviation[i] = NEW_ARRAY(a, double, cells + 1);
  }
  b->rest = NEW_ARRAY(a, double, cells + 1);
  return b;
}

// Levels are counted from the top, so the numbers do not depend on the smallest step.
static void draw_normals(const Brownian *b, uint32_t level, uint64_t span, double scale,
                         double *out) {
  uint64_t site = site_step(b->site, level);
  for (int64_t i = 0; i < b->cells; i++)
    out[i] = scale * noise_normal(b->seed, span, site, (uint64_t)i);
}

const double *brownian_step(Brownian *b, uint64_t k) {
  double span = ldexp(b->step, (int)b->levels);
  for (uint32_t level = 0; level <= b->levels; level++, span /= 2) {
    uint64_t at = k >> (b->levels - level);
    if (b->begun && b->at[level] == at) continue;
    if (level == 0) draw_normals(b, 0, at, sqrt(span), b->increment[0]);
    // span belongs to this level: the midpoint of the interval above has variance span / 2
    bool drawn = b->begun && level && b->at[level] >> 1 == at >> 1 && (at & 1);
    if (level && !drawn) draw_normals(b, level, at >> 1, sqrt(span / 2), b->deviation[level]);
    double side = at & 1 ? -1 : 1;
    for (int64_t i = 0; level && i < b->cells; i++)
      b->increment[level][i] = b->increment[level - 1][i] / 2 + side * b->deviation[level][i];
    b->at[level] = at;
  }
  b->begun = true;
  return b->increment[b->levels];
}

// Splits the present step: between its ends the path is a Brownian bridge.
static void bridge(Brownian *b, double from, double to, double end, double *out) {
  double all = end - from, part = to - from, wide = sqrt(part * (all - part) / all);
  uint64_t when;
  memcpy(&when, &to, sizeof when);
  for (int64_t i = 0; i < b->cells; i++) {
    out[i] = b->rest[i] * part / all +
             wide * noise_normal(b->seed, when, site_step(b->site, UINT64_MAX), (uint64_t)i);
    b->rest[i] -= out[i];
  }
  b->from = to;
}

void brownian_between(Brownian *b, double from, double to, double *out) {
  enum { CLOSE = 1000000 }; // times are multiples of the step up to rounding
  double k = floor(from / b->step + 1.0 / CLOSE), end = (k + 1) * b->step;
  bool whole = fabs(from - k * b->step) * CLOSE < b->step, last = (end - to) * CLOSE < b->step;
  size_t row = (size_t)b->cells * sizeof(double);
  if (whole || b->from != from) memcpy(b->rest, brownian_step(b, (uint64_t)k), row);
  if (last)
    memcpy(out, b->rest, row);
  else
    bridge(b, whole ? k * b->step : from, to, end, out);
}

void brownian_archive(Brownian *b, Archive *c) {
  archive_reals(c, &b->from, 1);
  archive_reals(c, b->rest, (uint64_t)b->cells);
}
