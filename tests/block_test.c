// Kernels with blocked loops: attention whose scores exceed the cache. Compiled code and prebuilt
// kernels equal the interpreter, forward and reverse, for lengths that are multiples of the block
// and others; the scores are never in memory as a whole; the number of threads does not change a
// bit.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "diagram_help.h"
#include "run/engine/engine.h"
#include "run/plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 3, SEED = 5, STEP = 3 }; // MOST: samples

typedef struct {
  int heads, y, x, c;
  bool causal;
  bool turned;  // scores lie as [x y]
  bool second;  // each score is multiplied by another one
  bool columns; // what is looked at is also summed over y
  bool joined;  // q, k and v lie side by side in one input
  bool reverse;
} Shape;

// -- programs -------------------------------------------------------------------------------------
static void print_scores(Buf *b, const Shape *s, const char *name) {
  const char *at = s->turned ? "x y" : "y x";
  int first = s->turned ? s->x : s->y, last = s->turned ? s->y : s->x;
  buf_printf(b,
             "  %s[b h %s]: R[batch~1 %d %d %d] = sum %s "
             "over b:batch h:%d y:%d x:%d c:%d : $0 * $1\n",
             name, at, s->heads, first, last,
             s->joined ? "p0[b y 0 h c] p0[b x 1 h c]" : "q[b y h c] k[b x h c]", s->heads, s->y,
             s->x, s->c);
}

// Names of places are [b h y x], whatever order they lie in.
static void print_map(Buf *b, const Shape *s, const char *name, const char *reads,
                      const char *value) {
  buf_printf(b, "  %s[b h y x]: R[batch~1 %d %d %d] = map %s over b:batch h:%d y:%d x:%d : %s\n",
             name, s->heads, s->y, s->x, reads, s->heads, s->y, s->x, value);
}

static void print_rows(Buf *b, const Shape *s, const char *name, const char *what,
                       const char *reads, const char *value) {
  bool best = !strcmp(what, "max");
  buf_printf(b, "  %s[b h y]: R[batch~1 %d %d]", name, s->heads, s->y);
  if (best) buf_printf(b, ", k%s: {%d}[batch~1 %d %d]", name, s->x, s->heads, s->y);
  buf_printf(b, " = %s %s over b:batch h:%d y:%d%s : %s\n", what, reads, s->heads, s->y,
             strcmp(what, "map") ? arena_format(b->arena, " x:%d", s->x) : "", value);
}

static void print_inputs(Buf *b, const Shape *s) {
  static const char *const name[] = {"q", "k", "v"};
  buf_text(b, "sizes batch:sample\n\ndiagram attend(");
  if (s->joined) buf_printf(b, "p0: R[batch~1 %d 3 %d %d])\n", s->y, s->heads, s->c);
  for (int i = 0; i < 3 && !s->joined; i++)
    buf_printf(b, "%s: R[batch~1 %d %d %d]%s", name[i], i ? s->x : s->y, s->heads, s->c,
               i < 2 ? ", " : ")\n");
}

static const char *program_of(Arena *a, const Shape *s) {
  Buf b = buf_new(a);
  const char *read = s->turned ? "s[b h x y]" : "s[b h y x]";
  print_inputs(&b, s);
  print_scores(&b, s, "s");
  print_map(&b, s, "a", read, s->causal ? "select(at(x) <= at(y), $0 / 3, -inf)" : "$0 / 3");
  print_rows(&b, s, "t", "max", "a[b h y x]", "$0");
  print_rows(&b, s, "m", "map", "t[b h y]", "stop(maximum($0, -1e+300))");
  print_map(&b, s, "e", "a[b h y x] m[b h y]", "exp($0 - $1)");
  print_rows(&b, s, "z", "sum", "e[b h y x]", "$0");
  print_map(&b, s, "p", "e[b h y x] z[b h y]", "$0 / maximum($1, 1e-300)");
  if (s->second) {
    print_scores(&b, s, "g");
    print_map(&b, s, "r", s->turned ? "p[b h y x] g[b h x y]" : "p[b h y x] g[b h y x]",
              "$0 * tanh($1)");
  }
  const char *last = s->second ? "r" : "p";
  buf_printf(&b,
             "  o[b h y c]: R[batch~1 %d %d %d] = sum %s[b h y x] %s "
             "over b:batch h:%d y:%d x:%d c:%d : $0 * $1\n",
             s->heads, s->y, s->c, last, s->joined ? "p0[b x 2 h c]" : "v[b x h c]", s->heads, s->y,
             s->x, s->c);
  if (s->columns)
    buf_printf(&b,
               "  u[b x h c]: R[batch~1 %d %d %d] = sum %s[b h y x] q[b y h c] "
               "over b:batch h:%d x:%d y:%d c:%d : $0 * $1\n",
               s->x, s->heads, s->c, last, s->heads, s->x, s->y, s->c);
  buf_printf(&b, "  return o%s\n", s->columns ? " u" : "");
  return b.at;
}

// -- running --------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Arena *arena;
  const Diagram *d;
  int64_t n; // samples of the run
  Tensor *in, *out;
} Case;

static Tensor random_tensor(const Case *c, const Type *t, uint64_t site) {
  int64_t shape[8];
  assert_true(engine_shape(c->w, t, c->n, shape));
  Tensor x = tensor_new(c->arena, t->rank, shape);
  for (int64_t i = 0; i < x.count; i++) x.data[i] = noise_normal(9, 0, site, (uint64_t)i);
  return x;
}

static Case case_new(const Shape *s, int64_t n) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Case c = {.w = w, .arena = a, .n = n};
  const char *text = program_of(a, s);
  Diagram *d = diagram_read(w, source_add(w->sources, "attend", text, strlen(text)));
  Buf b = buf_new(a);
  diags_print(w->diags, &b);
  if (!d) fail_msg("%s", b.at);
  c.d = s->reverse ? diagram_simplify(w, diagram_reverse(w, d, &(Wanted){0})) : d;
  return c;
}

static void case_values(Case *c) {
  c->in = NEW_ARRAY(c->arena, Tensor, c->d->in.n + 1);
  c->out = NEW_ARRAY(c->arena, Tensor, c->d->out.n + 1);
  for (uint32_t i = 0; i < c->d->in.n; i++)
    c->in[i] = random_tensor(c, &c->d->wire.at[c->d->in.at[i]].type, i);
  Eval e = {.arena = c->arena, .seed = SEED, .step = STEP, .in = c->in, .out = c->out};
  assert_true(diagram_eval(c->w, c->d, &e));
}

static Engine *run_engine(const Case *c, Store *s, Target how) {
  how.seed = SEED;
  Engine *e = engine_new(c->w, c->d, s, MOST, &how);
  Buf b = buf_new(c->arena);
  diags_print(c->w->diags, &b);
  if (!e) fail_msg("%s", b.at);
  for (uint32_t i = 0; i < c->d->in.n; i++)
    numbers_set(engine_in_number(e, i), engine_in(e, i), c->in[i].data, c->in[i].count);
  assert_int_equal(engine_run(e, c->n, STEP), RUN_GOOD);
  return e;
}

static void check_engine(const Case *c, Target how) {
  Store *s = store_new(PRECISION_64);
  Engine *e = run_engine(c, s, how);
  for (uint32_t i = 0; i < c->d->out.n; i++)
    for (int64_t k = 0; k < c->out[i].count; k++) {
      double got = ((const double *)engine_out(e, i))[k], want = c->out[i].data[k];
      if (!(fabs(got - want) <= 1e-9 * (1 + fabs(want))))
        fail_msg("output %u, number %lld is %.17g, should be %.17g", i, (long long)k, got, want);
    }
  engine_free(e);
  store_free(s);
}

// In floats, with so many threads.
static float *bits_of(const Case *c, Target how, size_t *count) {
  Store *s = store_new(PRECISION_32);
  Engine *e = run_engine(c, s, how);
  *count = 0;
  for (uint32_t i = 0; i < c->d->out.n; i++) *count += (size_t)c->out[i].count;
  float *all = NEW_ARRAY(c->arena, float, *count + 1), *to = all;
  for (uint32_t i = 0; i < c->d->out.n; to += c->out[i++].count)
    memcpy(to, engine_out(e, i), (size_t)c->out[i].count * sizeof *to);
  engine_free(e);
  store_free(s);
  return all;
}

static void check_bits(const Case *c, bool no_compiler) {
  size_t n, m;
  float *one = bits_of(c, (Target){.threads = 1, .no_compiler = no_compiler}, &n);
  float *three = bits_of(c, (Target){.threads = 3, .no_compiler = no_compiler}, &m);
  assert_memory_equal(one, three, n * sizeof *one);
}

static uint32_t kernels_in_blocks(const Plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) n += p->kernel.at[i].block > 0;
  return n;
}

static void check_shape(const Shape *s, bool compiled) {
  Case c = case_new(s, MOST - 1);
  bool large = s->y * s->x > plan_cpu.tile_cells;
  assert_true(!large ||
              kernels_in_blocks(plan_make(
                  c.w, c.d, &(PlanOptions){.samples = MOST, .fuse = true, .wide = true})) >
                  s->reverse);
  case_values(&c);
  if (compiled) {
    check_engine(&c, (Target){.threads = 2});
    check_bits(&c, false);
  }
  check_engine(&c, (Target){.threads = 2, .no_compiler = true});
  check_bits(&c, true);
  arena_free(c.arena);
}

// -- tests ----------------------------------------------------------------------------------------
static void attention(void **state) {
  static const Shape shapes[] = {
      {.heads = 2, .y = 176, .x = 200, .c = 4},
      {.heads = 1, .y = 187, .x = 187, .c = 4, .causal = true},
      {.heads = 2, .y = 176, .x = 200, .c = 4, .reverse = true},
      {.heads = 1, .y = 187, .x = 187, .c = 4, .causal = true, .reverse = true},
      {.heads = 1, .y = 176, .x = 207, .c = 4, .second = true, .reverse = true},
      {.heads = 1, .y = 401, .x = 90, .c = 5, .reverse = true, .columns = true},
  };
  for (uint32_t i = 0; i < COUNT(shapes); i++) check_shape(&shapes[i], true);
  (void)state;
}

static uint64_t draw(uint64_t *seed, uint64_t n) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (*seed >> 33) % n;
}

static void random_chains(void **state) {
  uint64_t seed = 11, programs = getenv("LIMN_LONG") ? 100 : 5;
  for (uint64_t i = 0; i < programs; i++) {
    int x = 60 + (int)draw(&seed, 240);
    Shape s = {.heads = 1 + (int)draw(&seed, 2),
               .y = (int)plan_cpu.tile_cells / x + 1 + (int)draw(&seed, 150),
               .x = x,
               .c = 4 + (int)draw(&seed, 3),
               .causal = draw(&seed, 2),
               .turned = draw(&seed, 2),
               .second = draw(&seed, 2),
               .columns = draw(&seed, 2),
               .reverse = draw(&seed, 2)};
    check_shape(&s, i % 4 == 0);
  }
  (void)state;
}

// What is in memory is no score matrix, and little in all.
static void check_memory(const Shape *s) {
  Case c = case_new(s, MOST);
  Plan *p = plan_make(c.w, c.d, &(PlanOptions){.samples = 4, .fuse = true});
  int64_t inputs = 0, scores = (int64_t)s->y * s->x;
  for (uint32_t i = 0; i < p->in.n; i++) inputs += 4 * p->wire.at[p->in.at[i]].count;
  for (uint32_t i = 0; i < p->wire.n; i++) {
    const PlanWire *x = &p->wire.at[i];
    if (x->place == AT_ARENA || x->place == AT_TILE) assert_true(x->count < 4 * s->heads * scores);
  }
  assert_int_equal(kernels_in_blocks(p), 1 + s->reverse);
  assert_true(p->arena_bytes < 4 * inputs);
  assert_true(p->scratch_bytes < 2 * 1024 * 1024);
  arena_free(c.arena);
}

static void no_scores_in_memory(void **state) {
  static const int lengths[] = {1024, 1021, 2048, 4099};
  for (uint32_t i = 0; i < 4 * COUNT(lengths); i++)
    check_memory(&(Shape){.heads = 4,
                          .y = lengths[i / 4],
                          .x = lengths[i / 4],
                          .c = 32,
                          .causal = i % 2,
                          .reverse = i / 2 % 2});
  (void)state;
}

// The gradients of q, k and v are laid into the gradient of their input in one pass: nothing else
// of its size is stored.
static void gradients_side_by_side(void **state) {
  Shape s = {.heads = 2, .y = 40, .x = 40, .c = 16, .joined = true, .reverse = true};
  Case c = case_new(&s, MOST);
  Plan *p = plan_make(c.w, c.d, &(PlanOptions){.samples = MOST, .fuse = true});
  uint32_t stored = 0;
  for (uint32_t i = 0; i < p->wire.n; i++)
    stored += p->wire.at[i].place == AT_ARENA && p->wire.at[i].count == MOST * 40 * 3 * 2 * 16;
  assert_int_equal(stored, 1);
  arena_free(c.arena);
  check_shape(&s, true);
  (void)state;
}

int main(void) {
  char cache[] = "/tmp/limn-block-XXXXXX";
  bool own = !getenv("LIMN_CACHE") && mkdtemp(cache);
  if (own) setenv("LIMN_CACHE", cache, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attention),
      cmocka_unit_test(random_chains),
      cmocka_unit_test(no_scores_in_memory),
      cmocka_unit_test(gradients_side_by_side),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", cache);
  if (own && system(command)) return 1;
  return failed;
}
