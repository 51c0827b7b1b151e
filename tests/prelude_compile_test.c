// The prelude in generated code: compiled by each installed compiler, with the flags of compiled
// steps and without any library. Every scalar function becomes a vector loop; its values are those
// of the interpreter, with the same bits from every compiler.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "prelude_help.h"
#include "run/engine/c/compile.h"
#include "run/engine/kernel/prelude_text.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MORE                                                                                       \
  "-fno-semantic-interposition -Wl,--no-undefined -Wall -Wextra -Wno-unused-parameter "            \
  "-Wno-unused-function -Werror"

typedef struct {
  const char *name, *reports; // an option that makes it name the loops it turned into vector code
} Compiler;
static const Compiler compilers[] = {{"gcc", "-fopt-info-vec-optimized"},
                                     {"clang", "-Rpass=loop-vectorize"}};

typedef void FloatLoop(const float *, const float *, const float *, float *, long);
typedef void DoubleLoop(const double *, const double *, const double *, double *, long);
typedef void NoiseRow(uint64_t seed, uint64_t step, uint64_t site, uint64_t first, long n,
                      void *out);
typedef void OrderRow(const void *x, long stride, long n, int *out, int *work);

enum { DRAWS = 2000, LONG = 1000 };

typedef struct {
  Arena *arena;
  char folder[64];
} Place;

static Place place_new(void) {
  Place p = {.arena = arena_new(), .folder = "/tmp/limn_prelude_XXXXXX"};
  assert_non_null(mkdtemp(p.folder));
  return p;
}

static void place_free(Place *p) {
  assert_int_equal(system(arena_format(p->arena, "rm -r '%s'", p->folder)), 0);
  arena_free(p->arena);
}

static bool have_compiler(const char *name) {
  char command[64];
  snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
  return system(command) == 0;
}

static bool is_copy(Fn fn) { return strcmp(fn_rows[fn].text, "a") == 0; } // becomes memcpy

// One loop a line, so that reports can be counted by lines. Operands are read first, as in
// generated code.
static void write_loop(Buf *b, Fn fn, const char *type) {
  const FnRow *row = &fn_rows[fn];
  buf_printf(b, "void %s_%s(", type, row->name);
  for (uint32_t i = 0; i < 3; i++) buf_printf(b, "const %s *restrict x%u, ", type, i);
  buf_printf(b, "%s *restrict y, long n) { for (long i = 0; i < n; i++) {", type);
  for (uint32_t i = 0; i < row->arity; i++) buf_printf(b, " %s t%u = x%u[i];", type, i, i);
  buf_printf(b, " y[i] = %s_%s(", strcmp(type, "wide") == 0 ? "op_wide" : "op", row->name);
  for (uint32_t i = 0; i < row->arity; i++) buf_printf(b, "%st%u", i ? ", " : "", i);
  buf_text(b, "); } }\n");
}

static uint32_t write_program(Place *p, const char *path,
                              Precision precision) { // gives the number of loops
  Buf b = buf_new(p->arena);
  uint32_t loops = 0;
  prelude_write(&b, precision);
  for (int fn = FN_SIZE + 1; fn < FN_COUNT && precision == PRECISION_32; fn++) {
    if (is_copy((Fn)fn)) continue;
    write_loop(&b, (Fn)fn, "real");
    write_loop(&b, (Fn)fn, "wide");
    loops += 2;
  }
  buf_text(
      &b,
      "void normals(Bits64 seed, Bits64 step, Bits64 site, Bits64 first, long n, real *out) {\n"
      "  noise_normals_real(seed, step, noise_site(site, 1), first, n, out);\n}\n"
      "void uniforms(Bits64 seed, Bits64 step, Bits64 site, Bits64 first, long n, real *out) {\n"
      "  noise_uniforms_real(seed, step, site, first, n, out);\n"
      "  out[0] = noise_uniform_real(seed, step, site, first);\n}\n"
      "void order(const real *x, long stride, long n, int *out, int *work) {\n"
      "  order_row(x, stride, n, out, work);\n}\n");
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(b.at, f);
  assert_int_equal(fclose(f), 0);
  return loops;
}

static const char *file_text(Arena *a, const char *path) {
  Buf b = buf_new(a);
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  for (int c; (c = fgetc(f)) != EOF;) buf_char(&b, (char)c);
  fclose(f);
  return b.at;
}

// Those of compiled steps, except that warnings are heard.
static const char *all_flags(Arena *a) {
  const char *flag[COMPILE_FLAGS];
  Buf b = buf_new(a);
  uint32_t n = compile_flags(flag);
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(flag[i], "-w")) buf_printf(&b, "%s ", flag[i]);
  buf_text(&b, MORE);
  return b.at;
}

static void *compile(Place *p, const Compiler *c, const char *source, const char *object,
                     const char *report) {
  int status = system(arena_format(p->arena, "%s %s %s -o '%s' '%s' 2>'%s'", c->name,
                                   all_flags(p->arena), c->reports, object, source, report));
  if (status) fail_msg("%s: %s", c->name, file_text(p->arena, report));
  void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail_msg("%s", dlerror());
  return library;
}

static void *find(void *library, const char *prefix, const char *name) {
  char symbol[64];
  snprintf(symbol, sizeof symbol, "%s%s", prefix, name);
  void *at = dlsym(library, symbol);
  assert_non_null(at);
  return at;
}

// -- values ---------------------------------------------------------------------------------------
static void check_floats(Arena *a, void *library, Fn fn, uint64_t *sum) {
  Arguments list = row_arguments(a, &kinds[0], fn, DRAWS);
  float *x[4];
  FloatLoop *loop;
  *(void **)&loop = find(library, "real_", fn_rows[fn].name);
  for (int k = 0; k < 4; k++) x[k] = NEW_ARRAY(a, float, list.n);
  for (uint32_t i = 0; i < list.n; i++)
    for (int k = 0; k < 3; k++) x[k][i] = (float)list.x[k][i];
  loop(x[0], x[1], x[2], x[3], list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    uint32_t bits;
    row_check(&kinds[0], fn, &list, i, x[3][i]);
    memcpy(&bits, &x[3][i], sizeof bits);
    if (x[3][i] == x[3][i]) *sum = *sum * 31 + bits; // NaN has many faces
  }
}

static void check_doubles(Arena *a, void *library, Fn fn, uint64_t *sum) {
  Arguments list = row_arguments(a, &kinds[1], fn, DRAWS);
  double *y = NEW_ARRAY(a, double, list.n);
  DoubleLoop *loop;
  *(void **)&loop = find(library, "wide_", fn_rows[fn].name);
  loop(list.x[0], list.x[1], list.x[2], y, list.n);
  for (uint32_t i = 0; i < list.n; i++) {
    uint64_t bits;
    row_check(&kinds[1], fn, &list, i, y[i]);
    memcpy(&bits, &y[i], sizeof bits);
    if (y[i] == y[i]) *sum = *sum * 31 + bits;
  }
}

static void check_noise(void *library, bool wide, uint64_t *sum) {
  double d[LONG], close = wide ? 1e-13 : 2e-6;
  float f[LONG];
  for (int normal = 0; normal < 2; normal++) {
    NoiseRow *row;
    *(void **)&row = find(library, normal ? "normals" : "uniforms", "");
    row(1, 2, 3, 4, LONG, wide ? (void *)d : (void *)f);
    for (uint64_t i = 0; i < LONG; i++) {
      double have = wide ? d[i] : (double)f[i];
      double want =
          normal ? noise_normal(1, 2, site_step(3, 1), 4 + i) : noise_uniform(1, 2, 3, 4 + i);
      uint64_t bits;
      assert_true(have - want <= close && want - have <= close);
      memcpy(&bits, &have, sizeof bits);
      *sum = *sum * 31 + bits;
    }
  }
}

static void check_order(void *library, bool wide) {
  const float f[] = {3, 1, 2, 1};
  const double d[] = {3, 1, 2, 1};
  int out[4], work[4];
  OrderRow *order;
  *(void **)&order = find(library, "order", "");
  order(wide ? (const void *)d : (const void *)f, 1, 4, out, work);
  assert_memory_equal(out, ((int[]){1, 3, 2, 0}), sizeof out);
}

static uint64_t check_values(Arena *a, void *library, Precision precision) { // a sum over all bits
  uint64_t sum = 0;
  bool wide = precision == PRECISION_64;
  for (int fn = FN_SIZE + 1; fn < FN_COUNT && !wide; fn++) {
    if (is_copy((Fn)fn)) continue;
    check_floats(a, library, (Fn)fn, &sum);
    check_doubles(a, library, (Fn)fn, &sum);
  }
  check_noise(library, wide, &sum);
  check_order(library, wide);
  return sum;
}

// -- vector code ----------------------------------------------------------------------------------
static uint32_t line_of(const char *source, const char *text) {
  uint32_t line = 1;
  const char *end = strstr(source, text);
  for (const char *c = source; c < end; c++) line += *c == '\n';
  return line;
}

// How many of the loops, one a line, the report names: "step.c:LINE: … vectorized …".
static uint32_t count_vector_loops(const char *source, const char *report, uint32_t loops) {
  uint32_t count = 0, first = line_of(source, "void real_add(");
  for (uint32_t i = 0; i < loops; i++) {
    char place[32];
    snprintf(place, sizeof place, ".c:%u:", first + i);
    for (const char *at = strstr(report, place); at; at = strstr(at + 1, place)) {
      const char *end = strchr(at, '\n'), *word = strstr(at, "vectorized");
      if (!end || !word || word > end) continue;
      count++;
      break;
    }
  }
  return count;
}

static bool has_vectors(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx2");
#else
  return true;
#endif
}

static void test_precision(Precision precision) {
  Place p = place_new();
  uint64_t sum[COUNT(compilers)];
  uint32_t done = 0;
  const char *source = arena_format(p.arena, "%s/step.c", p.folder);
  uint32_t loops = write_program(&p, source, precision);
  for (uint32_t i = 0; i < COUNT(compilers); i++) {
    if (!have_compiler(compilers[i].name)) continue;
    const char *object = arena_format(p.arena, "%s/%s.so", p.folder, compilers[i].name);
    const char *report = arena_format(p.arena, "%s/%s.txt", p.folder, compilers[i].name);
    void *library = compile(&p, &compilers[i], source, object, report);
    sum[done++] = check_values(p.arena, library, precision);
    if (has_vectors() && loops)
      assert_int_equal(
          count_vector_loops(file_text(p.arena, source), file_text(p.arena, report), loops), loops);
    dlclose(library);
  }
  for (uint32_t i = 1; i < done; i++) assert_true(sum[i] == sum[0]);
  place_free(&p);
}

static void floats_compiled(void **state) {
  (void)state;
  test_precision(PRECISION_32);
}

static void doubles_compiled(void **state) {
  (void)state;
  test_precision(PRECISION_64);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(floats_compiled),
                                     cmocka_unit_test(doubles_compiled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
