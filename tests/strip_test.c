// Prebuilt kernels equal the interpreter: on random diagrams and their reverses, and on diagrams
// whose size is no multiple of a strip. For each kind of CPU that this CPU supports.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "diagram_help.h"
#include "random_diagram.h"
#include "run/engine/engine.h"
#include "run/engine/prebuilt/strip.h"
#include "run/plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEED = 5, STEP = 3 };

typedef struct {
  const char *name, *text;
} Sample;

// -- running --------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Arena *arena;
  const Diagram *d;
  Tensor *in;         // inputs, then params
  Tensor *out, *next; // as the interpreter has them
  int64_t samples, n; // the most, and how many there are
  const char *name;
} Case;

static bool eval_case(Case *c, const Tensor *in, Tensor *out, Tensor *next) {
  Eval e = {.arena = c->arena, .seed = SEED, .step = STEP, .in = in, .param = in + c->d->in.n};
  e.out = out;
  e.next = next;
  return diagram_eval(c->w, c->d, &e);
}

static Tensor *new_tensors(const Case *c, uint32_t n) { return NEW_ARRAY(c->arena, Tensor, n + 1); }

static Store *store_of(const Case *c, Precision precision) {
  Store *s = store_new(precision);
  for (uint32_t i = 0; i < c->d->param.n; i++) {
    const Tensor *t = &c->in[c->d->in.n + i];
    const Param *p = &c->d->param.at[i];
    uint32_t k = store_add(s, p->path, c->d->wire.at[p->wire].type.base, t->rank, t->shape);
    state_set(store_at(s, k), t->data);
  }
  return s;
}

static Engine *open_engine(const Case *c, Store *s, const Target *how) {
  Target target = *how;
  target.seed = SEED;
  Engine *e = engine_new(c->w, c->d, s, c->samples, &target);
  Buf b = buf_new(c->arena);
  diags_print(c->w->diags, &b);
  if (!e) fail_msg("%s: %s", c->name, b.at);
  for (uint32_t i = 0; i < c->d->in.n; i++)
    numbers_set(engine_in_number(e, i), engine_in(e, i), c->in[i].data, c->in[i].count);
  return e;
}

// -- comparing ------------------------------------------------------------------------------------
// How far results move when inputs do by as much as a float is rounded.
static const Tensor *moved_results(Case *c, bool next) {
  uint32_t n = c->d->in.n + c->d->param.n;
  Tensor *in = new_tensors(c, n), *out = new_tensors(c, c->d->out.n),
         *after = new_tensors(c, c->d->param.n);
  for (uint32_t i = 0; i < n; i++) {
    in[i] = tensor_new(c->arena, c->in[i].rank, c->in[i].shape);
    for (int64_t k = 0; k < in[i].count; k++) {
      double x = c->in[i].data[k];
      in[i].data[k] = x == floor(x) ? x : x * (1 + (double)(k % 3 - 1) * 1e-7);
    }
  }
  assert_true(eval_case(c, in, out, after));
  return next ? after : out;
}

static bool is_near(double x, double y, double within) {
  return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= within * (1 + fabs(y));
}

static void compare(Case *c, const Tensor *want, Number number, const void *got, bool next,
                    uint32_t i, double within) {
  double *x = malloc((size_t)(want->count + 1) * sizeof *x);
  const Tensor *moved = NULL;
  numbers_get(number, got, x, want->count);
  for (int64_t k = 0; k < want->count; k++) {
    double y = want->data[k];
    if ((number == NUMBER_I32 || number == NUMBER_U8) && !isfinite(y)) continue;
    if (is_near(x[k], y, within)) continue;
    if (within > 1e-6 && !moved) moved = moved_results(c, next);
    if (moved && !is_near(moved[i].data[k], y, fabs(x[k] - y) / (1 + fabs(y)) / 8)) continue;
    fail_msg("%s: %s %u, number %lld is %.17g, should be %.17g", c->name, next ? "state" : "output",
             i, (long long)k, x[k], y);
  }
  free(x);
}

static void check_case(Case *c, Precision precision, Target how) {
  Store *s = store_of(c, precision);
  Engine *e = open_engine(c, s, &how);
  double within = precision == PRECISION_64 ? 1e-9 : 2e-4;
  RunStatus status = engine_run(e, c->n, STEP);
  bool finite = true; // otherwise the step ends early and states stay
  for (uint32_t i = 0; i < c->d->out.n; i++)
    if (!c->out[i].rank && c->d->wire.at[c->d->out.at[i]].type.base == BASE_R)
      finite &= isfinite(c->out[i].data[0]);
  if (precision == PRECISION_64) assert_int_equal(status, finite ? RUN_GOOD : RUN_NOT_FINITE);
  for (uint32_t i = 0; status == RUN_GOOD && i < c->d->out.n; i++)
    compare(c, &c->out[i], engine_out_number(e, i), engine_out(e, i), false, i, within);
  for (uint32_t i = 0; status == RUN_GOOD && i < c->d->param.n; i++) {
    if (!c->d->param.at[i].next) continue;
    const State *state = store_find(s, c->d->param.at[i].path);
    compare(c, &c->next[i], state->number, state->data, true, i, within);
  }
  engine_free(e);
  store_free(s);
}

// -- random diagrams ------------------------------------------------------------------------------
static void check_random(uint64_t seed, bool reverse, Precision precision, Target how) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Chance chance = {.boxes = 4 + (uint32_t)(seed % 6), .smooth = reverse, .odd = seed % 4 == 0};
  Diagram *d = random_diagram(w, seed, &chance);
  if (reverse) d = diagram_reverse(w, d, &(Wanted){0});
  d = diagram_simplify(w, inline_calls(w, d, false));
  Case c = {.w = w, .arena = a, .d = d, .name = arena_format(a, "%llu", (unsigned long long)seed)};
  c.in = random_tensors(w, a, d, seed);
  c.out = new_tensors(&c, d->out.n);
  c.next = new_tensors(&c, d->param.n);
  if (is_testable(d) && eval_case(&c, c.in, c.out, c.next)) check_case(&c, precision, how);
  arena_free(a);
}

// LIMN_LONG=1: more of them.
static void check_many(uint64_t from, uint64_t n, bool reverse, Precision precision, Target how) {
  how.no_compiler = true;
  if (getenv("LIMN_LONG")) n *= 10;
  for (uint64_t i = 0; i < n; i++) check_random(from + i, reverse, precision, how);
}

static void random_diagrams(void **state) {
  check_many(0, 2000, false, PRECISION_64, (Target){.threads = 1});
  check_many(10000, 1000, false, PRECISION_64, (Target){.threads = 1, .unfused = true});
  check_many(20000, 1000, false, PRECISION_32, (Target){.threads = 1});
  (void)state;
}

static void random_reverses(void **state) {
  check_many(30000, 2000, true, PRECISION_64, (Target){.threads = 1});
  check_many(40000, 1000, true, PRECISION_64, (Target){.threads = 1, .unfused = true});
  check_many(50000, 1000, true, PRECISION_32, (Target){.threads = 1});
  (void)state;
}

// -- written diagrams -----------------------------------------------------------------------------
static const Sample smooth[] = {
    {"softmax", "diagram softmax(x: R[20 300])\n"
                "  a[i]: R[20], k: {300}[20] = max x[i j] over i:20 j:300 : $0\n"
                "  e[i j]: R[20 300] = map x[i j] a[i] over i:20 j:300 : exp($0 - $1)\n"
                "  s[i]: R[20] = sum e[i j] over i:20 j:300 : $0\n"
                "  y[i j]: R[20 300] = map e[i j] s[i] over i:20 j:300 : $0 / $1\n"
                "  return y\n"},
    {"gelu", "diagram gelu(x: R[30 70])\n"
             "  y[i j]: R[30 70] = map x[i j] over i:30 j:70 : 0.5 * $0 * (1 + erf($0 / 1.4142))\n"
             "  return y\n"},
    {"norm", "diagram norm(x: R[40 600])\n"
             "  weight g: R[600] \"g\" init const 1\n"
             "  s[i]: R[40] = sum x[i j] over i:40 j:600 : $0\n"
             "  d[i j]: R[40 600] = map x[i j] s[i] over i:40 j:600 : $0 - $1 / 600\n"
             "  v[i]: R[40] = sum d[i j] over i:40 j:600 : $0 * $0\n"
             "  y[i j]: R[40 600] = map d[i j] v[i] g[j] over i:40 j:600 : "
             "$0 / sqrt($1 / 600 + 1e-05) * $2\n"
             "  return y\n"},
    {"bias", "diagram bias(x: R[7 9 11 3])\n"
             "  weight b: R[3] \"b\" init const 0\n"
             "  y[n i j c]: R[7 9 11 3] = map x[n i j c] b[c] over n:7 i:9 j:11 c:3 : "
             "tanh($0 + $1 * at(j) - at(c))\n"
             "  return y\n"},
    {"pool", "diagram pool(x: R[6 12 14 5])\n"
             "  y[n i j c]: R[6 6 7 5], a: {2}[6 6 7 5], b: {2}[6 6 7 5] = "
             "max x[n 2*i+p 2*j+q c] over n:6 i:6 j:7 c:5 p:2 q:2 : $0\n"
             "  return y\n"},
    {"thirds", "diagram thirds(x: R[50 40 3])\n"
               "  y[i j]: R[50 40] = sum x[i j k] over i:50 j:40 k:3 : $0 * $0\n"
               "  return y\n"},
    {"window", "diagram window(x: R[4 700])\n"
               "  weight w: R[5] \"w\" init const 1\n"
               "  y[n i]: R[4 700] = sum x[n i+p-2] else 0.25 w[p] over n:4 i:700 p:5 : $0 * $1\n"
               "  z[n i]: R[4 350] = sum x[n -2*i+p+698] w[p] over n:4 i:350 p:5 : $0 + $1 * $1\n"
               "  return y z\n"},
    {"columns", "diagram columns(x: R[300 90])\n"
                "  y[j]: R[90] = sum x[i j] over i:300 j:90 : $0 * $0\n"
                "  z: R = sum x[i j] over i:300 j:90 : $0\n"
                "  return y z\n"},
    {"three axes", "diagram softmax(x: R[70 5 20])\n"
                   "  e[h i j]: R[70 5 20] = map x[h i j] over h:70 i:5 j:20 : exp($0)\n"
                   "  s[h i]: R[70 5] = sum e[h i j] over h:70 i:5 j:20 : $0\n"
                   "  y[h i j]: R[70 5 20] = map e[h i j] s[h i] over h:70 i:5 j:20 : $0 / $1\n"
                   "  p[i j]: R[5 20] = prod x[h i j] over h:70 i:5 j:20 : 1 + $0 / 10\n"
                   "  return y p\n"},
    {"by label", "diagram rows(k: {50}[400], x: R[400 6])\n"
                 "  weight e: R[50 6] \"e\" init const 1\n"
                 "  y[i j]: R[400 6] = map k[i] e[$0 j] over i:400 j:6 : $1 * $1\n"
                 "  z[$0+$0 j]: R[100 6] = sum k[i] x[i j] over i:400 j:6 : $1 / 3\n"
                 "  u[i]: R[400] = map k[i] e[-$0+40 2] else 0.5 over i:400 : $1\n"
                 "  return y z u\n"},
    {"small attention",
     "diagram attention(q: R[b:3 y:20 h:2 c:12], k: R[b:3 x:18 h:2 c:12], v: R[b:3 x:18 h:2 "
     "c:12])\n"
     "  s[b h y x]: R[b:3 h:2 y:20 x:18] = sum q[b y h c] k[b x h c] over b:3 h:2 y:20 x:18 c:12 : "
     "$0 * $1\n"
     "  e[b h y x]: R[b:3 h:2 y:20 x:18] = map s[b h y x] over b:3 h:2 y:20 x:18 : exp($0 / 8)\n"
     "  z[b h y]: R[b:3 h:2 y:20] = sum e[b h y x] over b:3 h:2 y:20 x:18 : $0\n"
     "  p[b h y x]: R[b:3 h:2 y:20 x:18] = map e[b h y x] z[b h y] over b:3 h:2 y:20 x:18 : $0 / "
     "$1\n"
     "  o[b y h c]: R[b:3 y:20 h:2 c:12] = sum p[b h y x] v[b x h c] over b:3 h:2 y:20 x:18 c:12 : "
     "$0 * $1\n"
     "  return o\n"},
    {"attention",
     "diagram attention(q: R[b:4 y:30 h:3 c:16], k: R[b:4 x:28 h:3 c:16], v: R[b:4 x:28 h:3 "
     "c:16])\n"
     "  s[b h y x]: R[b:4 h:3 y:30 x:28] = sum q[b y h c] k[b x h c] over b:4 h:3 y:30 x:28 c:16 : "
     "$0 * $1\n"
     "  e[b h y x]: R[b:4 h:3 y:30 x:28] = map s[b h y x] over b:4 h:3 y:30 x:28 : exp($0 / 8)\n"
     "  z[b h y]: R[b:4 h:3 y:30] = sum e[b h y x] over b:4 h:3 y:30 x:28 : $0\n"
     "  p[b h y x]: R[b:4 h:3 y:30 x:28] = map e[b h y x] z[b h y] over b:4 h:3 y:30 x:28 : $0 / "
     "$1\n"
     "  o[b y h c]: R[b:4 y:30 h:3 c:16] = sum p[b h y x] v[b x h c] over b:4 h:3 y:30 x:28 c:16 : "
     "$0 * $1\n"
     "  return o\n"},
};

static const Sample rough[] = {
    {"adam",
     "diagram adam(g: R[1000])\n"
     "  weight w: R[1000] \"w\" init const 0\n"
     "  buffer m: R[1000] \"m\" init const 0\n"
     "  buffer s: R[1000] \"s\" init const 0\n"
     "  buffer t: R \"t\" init const 0\n"
     "  t1: R = map t over : $0 * $0 + 1\n"
     "  m1[i]: R[1000] = map m[i] g[i] over i:1000 : 0.9 * $0 + 0.1 * $1\n"
     "  s1[i]: R[1000] = map s[i] g[i] over i:1000 : 0.999 * ($0 * $0) + 0.001 * ($1 * $1)\n"
     "  a: R = map t1 over : 0.001 / (1 - 0.9^$0)\n"
     "  b: R = map t1 over : (1 - 0.999^$0)^-0.5\n"
     "  w1[i]: R[1000] = map w[i] m1[i] s1[i] a b over i:1000 : "
     "$0 - $3 * $1 / (sqrt($2) * $4 + 1e-08)\n"
     "  return t1\n"
     "  next w = w1\n  next m = m1\n  next s = s1\n  next t = t1\n"},
    {"old and new", "diagram old(g: R[700])\n"
                    "  buffer s: R[700] \"s\" init const 0\n"
                    "  a[i]: R[700] = map g[i] over i:700 : $0 * $0\n"
                    "  y[i]: R[700] = map s[i] a[i] over i:700 : stop($0)\n"
                    "  s1[i]: R[700] = map s[i] a[i] over i:700 : $0 + $1\n"
                    "  z[i]: R[700] = map y[i] s1[i] over i:700 : $0 * $1\n"
                    "  return z\n"
                    "  next s = s1\n"},
    {"winners", "diagram winners(x: R[300 5], y: R[5 300], z: R[3 4 90])\n"
                "  a[j]: R[5], ka: {300}[5] = max x[i j] over i:300 j:5 : $0\n"
                "  b[i]: R[5], kb: {300}[5] = min y[i j] over i:5 j:300 : $0 * $0\n"
                "  c[k]: R[90], ci: {3}[90], cj: {4}[90] = max z[i j k] over i:3 j:4 k:90 : $0\n"
                "  d[k]: R[90], di: {3}[90], dj: {4}[90] = min z[i j k] over i:3 j:4 k:90 : $0\n"
                "  p[i]: R[5] = prod y[i j] over i:5 j:300 : 1 + $0 / 100\n"
                "  return a ka b kb c ci cj d p\n"},
    {"bits", "diagram bits(x: R[20 333], k: {7}[333])\n"
             "  b[i j]: B[20 333] = map x[i j] over i:20 j:333 : 0 < $0\n"
             "  s[i]: B[20] = sum b[i j] over i:20 j:333 : $0\n"
             "  t[j]: B[333] = sum b[i j] over i:20 j:333 : $0\n"
             "  u[i]: B[20] = prod b[i j] over i:20 j:333 : $0\n"
             "  v[j]: B[333], w: {20}[333] = max b[i j] over i:20 j:333 : $0\n"
             "  n[i]: R[20] = sum b[i j] k[j] over i:20 j:333 : "
             "select(and($0, $1 < $1), 1, number($0)) + number($1) + select($0 = $0, 2, 3)\n"
             "  return s t u v n\n"},
    {"order", "diagram order(x: R[4 300 3])\n"
              "  k: {300}[4 300 3] = order 1 x\n"
              "  y[i j c]: R[4 300 3] = map k[i j c] x[i $0 c] over i:4 j:300 c:3 : $1\n"
              "  return k y\n"},
    {"noise", "diagram step(x: R[300], c: R[300])\n"
              "  z: R[300] = random normal 0x77\n"
              "  u: R[3 100] = random uniform 0x78\n"
              "  y[i]: R[300] = map x[i] c[i] z[i] over i:300 : $0 + $1 / 2 + $2\n"
              "  v[j]: R[100] = sum u[i j] over i:3 j:100 : $0\n"
              "  return y v\n\n"
              "diagram noise(x: R[4 300])\n"
              "  c[i]: R[300] = map over i:300 : 0\n"
              "  y: R[300], v: R[4 100] = scan step over t:4 (x; c; ; )\n"
              "  w: R[4 5 70] = random normal 0x79\n"
              "  t[k i j]: R[70 4 5] = map w[i j k] over k:70 i:4 j:5 : $0\n"
              "  return y v t\n"},
};

static const Sample samples[] = {
    {"samples", "sizes batch:sample\n\n"
                "diagram samples(x: R[batch~1 17], k: {5}[batch~1])\n"
                "  weight w: R[17 5] \"w\" init const 1\n"
                "  y[n j]: R[batch~1 5] = sum x[n i] w[i j] over n:batch i:17 j:5 : "
                "tanh($0 * $1)\n"
                "  m[n]: R[batch~1], a: {5}[batch~1] = max y[n j] over n:batch j:5 : $0\n"
                "  e[n j]: R[batch~1 5] = map y[n j] m[n] k[n] over n:batch j:5 : "
                "exp($0 - $1) - number($2) / size(batch)\n"
                "  l: R = sum e[n j] over n:batch j:5 : $0 / size(batch)\n"
                "  z: R[batch~1 17] = random normal 0x55\n"
                "  g[i]: R[17] = sum x[n i] z[n i] over n:batch i:17 : $0 * $1\n"
                "  return l e a g\n"},
};

static Tensor random_tensor(const Case *c, const Type *t, uint64_t site) {
  int64_t shape[8], labels = 2;
  assert_true(engine_shape(c->w, t, c->n, shape));
  if (t->base == BASE_LABEL) assert_true(size_value(c->w, t->count, &labels));
  Tensor x = tensor_new(c->arena, t->rank, shape);
  for (int64_t i = 0; i < x.count; i++)
    x.data[i] = t->base == BASE_R ? noise_normal(9, 0, site, (uint64_t)i)
                                  : floor(noise_uniform(9, 0, site, (uint64_t)i) * (double)labels);
  return x;
}

static void fill_case(Case *c) {
  const Diagram *d = c->d;
  c->in = new_tensors(c, d->in.n + d->param.n);
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++) {
    Id wire = i < d->in.n ? d->in.at[i] : d->param.at[i - d->in.n].wire;
    c->in[i] = random_tensor(c, &d->wire.at[wire].type, i);
  }
  c->out = new_tensors(c, d->out.n);
  c->next = new_tensors(c, d->param.n);
}

static Diagram *read_sample(World *w, const Sample *s) {
  Diagram *d = diagram_read(w, source_add(w->sources, s->name, s->text, strlen(s->text)));
  Buf b = buf_new(w->arena);
  diags_print(w->diags, &b);
  if (!d) fail_msg("%s", b.at);
  return d;
}

static void check_each_way(Case *c, int64_t most) {
  c->samples = most;
  fill_case(c);
  if (!strcmp(c->name, "winners")) // the first NaN wins
    c->in[0].data[77] = c->in[0].data[222] = c->in[1].data[1190] = c->in[2].data[200] = NAN;
  assert_true(eval_case(c, c->in, c->out, c->next));
  for (uint32_t i = 0; i < 4; i++)
    check_case(c, i & 1 ? PRECISION_32 : PRECISION_64,
               (Target){.threads = 1 + i / 2, .unfused = i == 2, .no_compiler = true});
}

static void check_sample(const Sample *s, bool reverse, int64_t n, int64_t most) {
  Arena *a = arena_new();
  World *w = world_new(a);
  const Diagram *d = read_sample(w, s);
  if (reverse) d = diagram_simplify(w, diagram_reverse(w, d, &(Wanted){0}));
  Case c = {.w = w, .arena = a, .d = d, .n = n, .name = s->name};
  check_each_way(&c, most);
  arena_free(a);
}

static void check_samples(void) {
  for (uint32_t i = 0; i < COUNT(smooth); i++) {
    check_sample(&smooth[i], false, 0, 0);
    check_sample(&smooth[i], true, 0, 0);
  }
  for (uint32_t i = 0; i < COUNT(rough); i++) check_sample(&rough[i], false, 0, 0);
  for (uint32_t i = 0; i < COUNT(samples); i++) check_sample(&samples[i], false, 13, 40);
}

static void written_diagrams(void **state) {
  static const char *const cpus[] = {"plain", "avx2", "avx512"};
  uint32_t seen = 0;
  for (uint32_t i = 0; i < COUNT(cpus); i++) {
    setenv("LIMN_CPU", cpus[i], 1);
    if (strcmp(strip_cpu(), cpus[i])) continue; // this CPU is none
    check_samples();
    seen++;
  }
  unsetenv("LIMN_CPU");
  assert_true(seen > 0);
  (void)state;
}

// Small products are in the last two, or they say nothing about those.
static void small_products(void **state) {
  Arena *a = arena_new();
  World *w = world_new(a);
  uint32_t n = 0;
  for (uint32_t s = COUNT(smooth) - 2; s < COUNT(smooth); s++) {
    Plan *p = plan_make(w, read_sample(w, &smooth[s]), &(PlanOptions){.fuse = true});
    const Ids *slot = kernel_slots(p);
    for (uint32_t i = 0; i < p->kernel.n; i++)
      for (uint32_t k = 0; k < slot[i].n; k++) n += slot[i].at[k] >= p->wire.n;
  }
  assert_int_equal(n, 4);
  arena_free(a);
  (void)state;
}

// -- what is said, and the bits -------------------------------------------------------------------
static Case open_case(const Sample *s) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Case c = {.w = w, .arena = a, .d = read_sample(w, s), .name = s->name};
  fill_case(&c);
  return c;
}

static void says_so(void **state) {
  Case c = open_case(&smooth[1]);
  Store *s = store_new(PRECISION_32);
  Engine *e = open_engine(&c, s, &(Target){.threads = 1, .cc = ""});
  assert_non_null(strstr(engine_description(e), "no C compiler found: prebuilt kernels"));
  assert_non_null(strstr(engine_description(e), "install gcc"));
  engine_free(e);
  store_free(s);
  arena_free(c.arena);
  (void)state;
}

static bool is_fused(void) { // both round the same way only then
#ifdef __x86_64__
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

// Without sums there is one order, and the functions are the same: so are the bits.
static void bits_of_compiled(void **state) {
  if (!is_fused() || access("/usr/bin/gcc", X_OK)) skip();
  unsetenv("LIMN_CPU");
  for (int wide = 0; wide < 2; wide++) {
    Case c = open_case(&smooth[1]);
    Store *s = store_new(wide ? PRECISION_64 : PRECISION_32);
    Engine *e[2] = {open_engine(&c, s, &(Target){.threads = 1, .cc = "gcc"}),
                    open_engine(&c, s, &(Target){.threads = 1, .no_compiler = true})};
    for (int i = 0; i < 2; i++) assert_int_equal(engine_run(e[i], 0, STEP), RUN_GOOD);
    assert_memory_equal(engine_out(e[0], 0), engine_out(e[1], 0), (wide ? 8 : 4) * 30 * 70);
    for (int i = 0; i < 2; i++) engine_free(e[i]);
    store_free(s);
    arena_free(c.arena);
  }
  (void)state;
}

int main(void) {
  char cache[] = "/tmp/limn-strip-XXXXXX", command[64];
  bool own = !getenv("LIMN_CACHE") && mkdtemp(cache);
  if (own) setenv("LIMN_CACHE", cache, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_diagrams),  cmocka_unit_test(random_reverses),
      cmocka_unit_test(written_diagrams), cmocka_unit_test(small_products),
      cmocka_unit_test(says_so),          cmocka_unit_test(bits_of_compiled),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", cache);
  return own && system(command) ? 1 : failed;
}
