// The sparsity derived from the wires of a diagram contains all nonzero derivatives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/diagram/interpret.h"
#include "core/pass/pipeline.h"
#include "derive_help.h"
#include "random_diagram.h"
#include "run/sim/sim_own.h"

static bool has(const Pattern *p, uint32_t r, uint32_t c) {
  for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++)
    if (p->row[k] == r) return true;
  return false;
}

typedef struct {
  uint64_t places, slopes;
} Covered;

// Each number of one input is moved; whatever moves with it is in the pattern.
static void covers(T *t, const Diagram *d, uint32_t input, uint64_t seed, Covered *sum) {
  const Pattern *p = structure_find(t->w, t->arena, d, input, 1);
  bool *want = NEW_ARRAY(t->arena, bool, d->in.n),
       *none = NEW_ARRAY(t->arena, bool, d->param.n + 1);
  want[input] = true;
  const Diagram *f = diagram_forward(t->w, d, &(Wanted){.want_in = want, .want_param = none});
  Tensor *in = random_tensors(t->w, t->arena, f, seed);
  Tensor *v = &in[d->in.n];
  if (!p) return;
  assert_int_equal(p->n, v->count);
  for (uint32_t c = 0; c < v->count; c++) {
    for (uint32_t k = 0; k < v->count; k++) v->data[k] = k == c;
    const Tensor *y = t_run(t, f, in, NULL);
    uint32_t row = 0;
    for (uint32_t i = 0, n = d->out.n; i < d->out.n; i++) {
      const Type *type = &d->wire.at[d->out.at[i]].type;
      for (uint32_t k = 0; k < y[i].count && type->base == BASE_R; k++) {
        sum->slopes += y[n].data[k] != 0;
        if (y[n].data[k] != 0 && !has(p, row + k, c))
          fail_msg("seed %llu: number %u of output %u", (unsigned long long)seed, k, i);
      }
      row += (uint32_t)y[i].count;
      n += type->base != BASE_LABEL;
    }
  }
  sum->places += p->start[p->n];
}

static void structure_covers_slopes(void **state) {
  (void)state;
  Covered sum = {0};
  for (uint64_t seed = 0; seed < 1000; seed++) {
    T *t = t_new(seed);
    const Chance how = {.boxes = (uint32_t)(2 + seed % 5), .smooth = seed % 3 == 0, .quiet = true};
    Diagram *d = passes_flat(t->w, random_diagram(t->w, seed + 7000, &how));
    for (uint32_t i = 0; i < d->in.n; i++)
      if (d->wire.at[d->in.at[i]].type.base == BASE_R) covers(t, d, i, seed, &sum);
    t_free(t);
  }
  assert_true(sum.slopes > 3000);
  assert_true(sum.places < 4 * sum.slopes); // and it does not say "everything"
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structure_covers_slopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
