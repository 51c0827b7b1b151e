// Bounds of diagrams: for all params within their bounds, each value is within its computed bounds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/diagram/interpret.h"
#include "core/pass/bounds.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "derive_help.h"
#include "random_diagram.h"

#ifdef LIMN_GUARD
enum { SEEDS = 400 }; // the sanitizers are slow
#else
enum { SEEDS = 4000 };
#endif
enum { LOOKS = 6 };

typedef struct {
  uint64_t numbers, known; // those of which something finite was said
} Told;

// The same with a param in the place of each input.
static Diagram *with_params(T *t, const Diagram *d) {
  Diagram *to = diagram_new(t->w, d->name);
  Id *map = new_map(t->w, d);
  copy_params(t->w, to, d, map);
  for (uint32_t i = 0; i < d->in.n; i++) {
    Param p = {.path = arena_format(t->arena, "in.%u", i), .rooted = true, .role = ROLE_BUFFER};
    uint32_t k = diagram_param(t->w, to, p, d->wire.at[d->in.at[i]].type, 0, 0);
    map[d->in.at[i]] = to->param.at[k].wire;
  }
  copy_boxes(t->w, to, d, map);
  for (uint32_t i = 0; i < d->out.n; i++) diagram_output(t->w, to, map[d->out.at[i]]);
  return to;
}

static void holds(double low, double x, double high, Told *told) {
  bool known = isfinite(low) && isfinite(high);
  double off = 1e-9 * (1 + fabs(x));
  told->numbers++, told->known += known;
  if (known && !(low - off <= x && x <= high + off))
    fail_msg("%.17g, not from %.17g to %.17g", x, low, high);
}

static void within_bounds(T *t, const Diagram *d, const Tensor *first, double wide, Told *told) {
  bool *moves = NEW_ARRAY(t->arena, bool, d->param.n + 1);
  Tensor *ends = NEW_ARRAY(t->arena, Tensor, 2 * d->param.n + 1);
  uint32_t n = d->param.n;
  for (uint32_t i = 0; i < d->param.n; i++) {
    moves[i] = d->wire.at[d->param.at[i].wire].type.base == BASE_R && t_below(t, 4);
    ends[i] = first[i];
    if (!moves[i]) continue;
    ends[n] = t_copy(t, &first[i]);
    for (int64_t k = 0; k < first[i].count; k++) ends[n].data[k] += wide * t_uniform(t, 0, 1);
    n++;
  }
  const Diagram *bounds = diagram_bounds(t->w, d, moves);
  if (!bounds) return;
  t_valid(t, bounds);
  const Tensor *said = t_run(t, bounds, ends, NULL);
  for (int look = 0; look < LOOKS; look++) {
    Tensor *at = NEW_ARRAY(t->arena, Tensor, d->param.n + 1);
    for (uint32_t i = 0, high = d->param.n; i < d->param.n; i++) {
      at[i] = t_copy(t, &ends[i]);
      if (!moves[i]) continue;
      for (int64_t k = 0; k < at[i].count; k++) {
        double part = look < 2 ? look : t_uniform(t, 0, 1);
        at[i].data[k] += part * (ends[high].data[k] - ends[i].data[k]);
      }
      high++;
    }
    const Tensor *x = t_run(t, d, at, NULL);
    for (uint32_t i = 0; i < d->out.n; i++)
      for (int64_t k = 0; k < x[i].count; k++)
        holds(said[i].data[k], x[i].data[k], said[d->out.n + i].data[k], told);
  }
}

static void random_diagrams(void **state) {
  (void)state;
  Told told = {0};
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    T *t = t_new(seed);
    Chance c = {.flat = seed % 8, .quiet = seed % 5, .smooth = seed % 2, .real = seed % 3 == 0};
    Diagram *d = with_params(t, diagram_inline_all(t->w, random_diagram(t->w, seed + 80000, &c)));
    within_bounds(t, d, t_tensors(t, d, -2, 2), pow(10, -(double)t_below(t, 5)), &told);
    t_free(t);
  }
  print_message("%llu numbers, %llu known\n", (unsigned long long)told.numbers,
                (unsigned long long)told.known);
  assert_true(told.known > told.numbers / 2);
}

static const char *const texts[] = {"a + b",
                                    "a - b",
                                    "a*b",
                                    "a*a",
                                    "a/b",
                                    "-a",
                                    "mod(a, 0.7)",
                                    "mod(a, b)",
                                    "exp(a)",
                                    "log(a)",
                                    "log1p(a)",
                                    "expm1(a)",
                                    "sqrt(a)",
                                    "sin(9*a)",
                                    "cos(9*a)",
                                    "sin(a)",
                                    "cos(a)",
                                    "tan(a)",
                                    "tanh(a)",
                                    "atan(a)",
                                    "asinh(a)",
                                    "sigmoid(a)",
                                    "softplus(a)",
                                    "erf(a)",
                                    "relu(a)",
                                    "abs(a)",
                                    "sign(a)",
                                    "floor(3*a)",
                                    "maximum(a, b)",
                                    "minimum(a, b)",
                                    "select(a < b, a, c)",
                                    "select(a <= b, a*b, c)",
                                    "select(a = b, 1, 2)",
                                    "number(and(a < b, b < c))",
                                    "number(or(a < b, b < c))",
                                    "number(xor(a < b, b < c))",
                                    "number(not(a < b))",
                                    "number(bit(a))",
                                    "number(a < b)",
                                    "number(not(a = b))",
                                    "pow(a, 2)",
                                    "pow(a, 3)",
                                    "pow(a, b)",
                                    "pow(a, 0.5)",
                                    "exp(-(a*a)) - b",
                                    "a - floor(a/b)*b"};

static void functions(void **state) {
  (void)state;
  for (uint32_t f = 0; f < COUNT(texts); f++) {
    Told told = {0};
    for (uint64_t seed = 0; seed < SEEDS / 10; seed++) {
      T *t = t_new(seed);
      Diagram *d = t_diagram(t, "f");
      Operand of[3];
      for (int k = 0; k < 3; k++)
        of[k] = (Operand){t_param(t, d, BASE_R, arena_format(t->arena, "p%d", k), "4"), "i"};
      diagram_output(t->w, d, t_loop(t, d, "i:4", SUM, "i", "4", texts[f], 3, of));
      within_bounds(t, d, t_tensors(t, d, -2, 2), pow(10, -(double)t_below(t, 4)), &told);
      t_free(t);
    }
    if (!told.known) print_message("nothing is known of %s\n", texts[f]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions),
      cmocka_unit_test(random_diagrams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
