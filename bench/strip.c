// Prebuilt kernels against compiled code: time of one run, float, on one thread.
//   bench/strip [PART [ROUNDS]]        only rows whose name has PART
// Both are measured in turn, since a shared machine does not keep its speed; the best of each
// counts.
#include "base/diag.h"
#include "base/files.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "diagram_help.h"
#include "run/engine/engine.h"

#include <stdlib.h>

typedef struct {
  const char *name, *text;
} Row;

static const Row rows[] = {
    {"adam 700 000", "diagram adam(g: R[700000])\n"
                     "  weight w: R[700000] \"w\" init const 0\n"
                     "  buffer m: R[700000] \"m\" init const 0\n"
                     "  buffer s: R[700000] \"s\" init const 0\n"
                     "  buffer t: R \"t\" init const 0\n"
                     "  t1: R = map t over : $0 + 1\n"
                     "  m1[i]: R[700000] = map m[i] g[i] over i:700000 : 0.9 * $0 + 0.1 * $1\n"
                     "  s1[i]: R[700000] = map s[i] g[i] over i:700000 : "
                     "0.999 * $0 + 0.001 * ($1 * $1)\n"
                     "  a: R = map t1 over : 0.001 / (1 - 0.9^$0)\n"
                     "  b: R = map t1 over : (1 - 0.999^$0)^-0.5\n"
                     "  w1[i]: R[700000] = map w[i] m1[i] s1[i] a b over i:700000 : "
                     "$0 - $3 * $1 / (sqrt($2) * $4 + 1e-08)\n"
                     "  return t1\n"
                     "  next w = w1\n  next m = m1\n  next s = s1\n  next t = t1\n"},
    {"softmax 2048 x 64", "diagram softmax(x: R[2048 64])\n"
                          "  a[i]: R[2048], k: {64}[2048] = max x[i j] over i:2048 j:64 : $0\n"
                          "  e[i j]: R[2048 64] = map x[i j] a[i] over i:2048 j:64 : exp($0 - $1)\n"
                          "  s[i]: R[2048] = sum e[i j] over i:2048 j:64 : $0\n"
                          "  y[i j]: R[2048 64] = map e[i j] s[i] over i:2048 j:64 : $0 / $1\n"
                          "  return y\n"},
    {"softmax 2048 x 10", "diagram softmax(x: R[2048 10])\n"
                          "  a[i]: R[2048], k: {10}[2048] = max x[i j] over i:2048 j:10 : $0\n"
                          "  e[i j]: R[2048 10] = map x[i j] a[i] over i:2048 j:10 : exp($0 - $1)\n"
                          "  s[i]: R[2048] = sum e[i j] over i:2048 j:10 : $0\n"
                          "  y[i j]: R[2048 10] = map e[i j] s[i] over i:2048 j:10 : $0 / $1\n"
                          "  return y\n"},
    {"gelu 2048 x 512", "diagram gelu(x: R[2048 512])\n"
                        "  y[i j]: R[2048 512] = map x[i j] over i:2048 j:512 : "
                        "0.5 * $0 * (1 + erf($0 / 1.4142135623730951))\n"
                        "  return y\n"},
    {"layer norm 2048 x 512",
     "diagram norm(x: R[2048 512])\n"
     "  weight g: R[512] \"g\" init const 1\n"
     "  weight b: R[512] \"b\" init const 0\n"
     "  s[i]: R[2048] = sum x[i j] over i:2048 j:512 : $0\n"
     "  d[i j]: R[2048 512] = map x[i j] s[i] over i:2048 j:512 : $0 - $1 / 512\n"
     "  v[i]: R[2048] = sum d[i j] over i:2048 j:512 : $0 * $0\n"
     "  y[i j]: R[2048 512] = map d[i j] v[i] g[j] b[j] over i:2048 j:512 : "
     "$0 / sqrt($1 / 512 + 1e-05) * $2 + $3\n"
     "  return y\n"},
    {"bias, relu 512 x 28 x 28 x 8",
     "diagram bias(x: R[512 28 28 8])\n"
     "  weight b: R[8] \"b\" init const 0\n"
     "  y[n i j c]: R[512 28 28 8] = map x[n i j c] b[c] over n:512 i:28 j:28 c:8 : "
     "relu($0 + $1)\n"
     "  return y\n"},
    {"pool 512 x 28 x 28 x 8",
     "diagram pool(x: R[512 28 28 8])\n"
     "  y[n i j c]: R[512 14 14 8], a: {2}[512 14 14 8], b: {2}[512 14 14 8] = "
     "max x[n 2*i+p 2*j+q c] over n:512 i:14 j:14 c:8 p:2 q:2 : $0\n"
     "  return y\n"},
    {"sum of columns 2048 x 512", "diagram columns(x: R[2048 512])\n"
                                  "  y[j]: R[512] = sum x[i j] over i:2048 j:512 : $0 * $0\n"
                                  "  return y\n"},
    {"rows by label 2048 of 1000 x 64",
     "diagram rows(k: {1000}[2048])\n"
     "  weight e: R[1000 64] \"e\" init const 1\n"
     "  y[i j]: R[2048 64] = map k[i] e[$0 j] over i:2048 j:64 : $1\n"
     "  return y\n"},
    {"noise 2048 x 512", "diagram noise()\n"
                         "  x: R[2048 512] = random normal 0x1234\n"
                         "  return x\n"},
};

static Engine *open(World *w, Diagram *d, Store *s, bool prebuilt) {
  Engine *e = engine_new(w, d, s, 0, &(Target){.threads = 1, .no_compiler = prebuilt});
  if (!e) {
    Buf b = buf_new(w->arena);
    diags_print(w->diags, &b);
    fprintf(stderr, "%s", b.at);
    exit(3);
  }
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    int64_t n;
    type_count(w, t, &n);
    double *x = NEW_ARRAY(w->arena, double, n);
    for (int64_t k = 0; k < n; k++)
      x[k] = t->base == BASE_R ? noise_normal(1, 0, i, (uint64_t)k) : (double)(k * 7919 % 1000);
    numbers_set(engine_in_number(e, i), engine_in(e, i), x, n);
  }
  return e;
}

static double seconds(Engine *e) {
  double start = clock_seconds();
  engine_run(e, 0, 1);
  return clock_seconds() - start;
}

static void measure(const Row *row, int rounds) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Diagram *d = diagram_read(w, source_add(w->sources, row->name, row->text, strlen(row->text)));
  Store *s = store_new(PRECISION_32);
  if (!d) exit(3);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Type *t = &d->wire.at[d->param.at[i].wire].type;
    int64_t shape[8];
    engine_shape(w, t, 0, shape);
    store_add(s, d->param.at[i].path, t->base, t->rank, shape);
  }
  Engine *e[2] = {open(w, d, s, false), open(w, d, s, true)};
  double best[2] = {1e9, 1e9};
  for (int i = 0; i < rounds; i++)
    for (int k = 0; k < 2; k++) {
      double t = seconds(e[k]);
      if (t < best[k]) best[k] = t;
    }
  printf("%-34s %9.3f ms %9.3f ms %6.2f\n", row->name, best[0] * 1e3, best[1] * 1e3,
         best[1] / best[0]);
  for (int k = 0; k < 2; k++) engine_free(e[k]);
  store_free(s);
  arena_free(a);
}

int main(int count, char **argument) {
  printf("%-34s %12s %12s %6s\n", "", "compiled", "prebuilt", "ratio");
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (count < 2 || strstr(rows[i].name, argument[1]))
      measure(&rows[i], count > 2 ? atoi(argument[2]) : 50);
  return 0;
}
