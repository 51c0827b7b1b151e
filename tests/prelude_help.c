// Arguments for the rows of ops.def, and the comparison with the interpreter. See prelude_help.h.
#include "prelude_help.h"
#include "core/diagram/ops.h"
#include "run/engine/kernel/prelude.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

const Kind kinds[2] = {{false, 24, FLT_MAX, FLT_MIN}, {true, 53, DBL_MAX, DBL_MIN}};

static const double edges[] = {
    0,       -0.0,  1,     -1,     0.5,      -0.5,  2,        -2,         3,        -3,   5,
    1e-3,    -1e-3, 1e-10, -1e-10, 1e-30,    -1e30, 1e30,     100,        -100,     1000, -1000,
    87.5,    -87.5, 88.8,  -0.75,  0.999999, 7.5,   -7.5,     4294967296, 16777217, 3e38, -3e38,
    1.5e-38, 1e-42, 1e300, -1e300, 1e-310,   NAN,   INFINITY, -INFINITY};

uint64_t next_random(uint64_t *state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t x = (*state ^ *state >> 32) * 0xD6E8FEB86659FD93u;
  return x ^ x >> 32;
}

double draw(uint64_t *state, double low, double high) {
  return low + (high - low) * ((double)(next_random(state) >> 11) * 0x1p-53);
}

double rounded(double x) { // by way of memory: gcc 12 may drop a pair of casts
  volatile float f = (float)x;
  return f;
}

// -- arguments ------------------------------------------------------------------------------------
static void push_argument(Arguments *list, const Kind *k, const FnRow *row, const double *x) {
  for (uint32_t i = 0; i < 3; i++) {
    bool bit = i < row->arity && row->sig[i] == 'B';
    list->x[i][list->n] = bit ? x[i] != 0 : k->wide ? x[i] : rounded(x[i]);
  }
  list->n++;
}

static void push_drawn(Arguments *list, const Kind *k, const FnRow *row, uint32_t n) {
  uint64_t random = 1;
  double x[3];
  for (uint32_t i = 0; i < n; i++) {
    for (int j = 0; j < 3; j++) {
      x[j] = i & 1 ? draw(&random, row->low, row->high) : draw(&random, -2, 2);
      if (i & 1) continue;
      x[j] = ldexp(x[j], (int)draw(&random, -40, i & 2 ? 40 : 7)); // of every size and sign
    }
    push_argument(list, k, row, x);
  }
}

Arguments row_arguments(Arena *a, const Kind *k, Fn fn, uint32_t draws) {
  const FnRow *row = &fn_rows[fn];
  uint32_t n[3], all = 1;
  Arguments list = {0};
  for (uint32_t i = 0; i < 3; i++) all *= n[i] = i < row->arity ? COUNT(edges) : 1;
  for (uint32_t i = 0; i < 3; i++) list.x[i] = NEW_ARRAY(a, double, all + draws);
  for (uint32_t i = 0; i < all; i++)
    push_argument(&list, k, row,
                  (double[]){edges[i % n[0]], edges[i / n[0] % n[1]], edges[i / n[0] / n[1]]});
  push_drawn(&list, k, row, draws);
  return list;
}

// -- comparison -----------------------------------------------------------------------------------
// How far off a row may be, in units of the last place. The interpreter may be off by one itself.
static double allowed(const Kind *k, Fn fn) {
  if (fn == FN_pow) return k->wide ? 20 : 8; // 20 only near the largest and least numbers
  return k->wide ? 5 : 3;
}

static bool agrees(const Kind *k, Fn fn, double have, double want) {
  int e;
  if (!k->wide) want = fabs(want) > FLT_MAX ? rounded(want) : want;
  if (isnan(want) || isnan(have)) return isnan(want) && isnan(have);
  if (isinf(want) || isinf(have))
    return want == have || (isinf(have) && fabs(want) > k->most * (1 - 1e-6));
  frexp(want, &e);
  return fabs(have - want) <= allowed(k, fn) * ldexp(1, e - k->digits) + k->least;
}

// A remainder inherits the rounding of its arguments, and is not compared where the quotient may be
// rounded to a whole number on one side only.
static bool remainder_agrees(const Kind *k, double a, double b, double have, double want) {
  double q = a / b;
  if (!(fabs(q) < 1e6 && fabs(a) < 1e30 && fabs(a) > 1e-30)) return true;
  if (fabs(q - nearbyint(q)) < 1e-6 * (1 + fabs(q))) return true;
  return fabs(have - want) <= 4 * ldexp(fabs(a) + fabs(b), -k->digits);
}

// Far from 0 an angle's last digit is a large part of a turn: then only the size is certain.
static bool angle_agrees(const Kind *k, Fn fn, double a, double have, double want) {
  bool far = isfinite(a) && fabs(a) > (LIMN_FUSED && !k->wide ? 1e9 : 1e6);
  if (far) return fn == FN_tan || fabs(have) <= 1;
  return agrees(k, fn, have, want);
}

void row_check(const Kind *k, Fn fn, const Arguments *list, uint32_t i, double have) {
  double a = list->x[0][i], b = list->x[1][i], c = list->x[2][i];
  double want = fn_rows[fn].value(a, b, c);
  bool good = fn == FN_mod                                   ? remainder_agrees(k, a, b, have, want)
              : fn == FN_sin || fn == FN_cos || fn == FN_tan ? angle_agrees(k, fn, a, have, want)
                                                             : agrees(k, fn, have, want);
  if (!good)
    fail_msg("%s(%.17g, %.17g, %.17g) in %d bits is %.17g, wanted %.17g", fn_rows[fn].name, a, b, c,
             k->digits, have, want);
}
