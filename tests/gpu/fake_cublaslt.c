// Products for a GPU that is not there: the part of cuBLASLt that limn uses, as plain loops. It is as
// strict as the real one: a matrix whose columns overlap, or memory that is less aligned than was said,
// is refused. Launches join those of fake_cuda.c. $FAKE_CUDA=products makes it take none.
//
// It offers four ways: a slow one, one that it refuses when it is used, one that needs more memory than there
// is, and a fast one, whose sums go backwards. $FAKE_CUDA=changed makes it refuse the fast one, too, and
// =searches writes a line for each time that several ways are asked for.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GOOD = 0, INVALID = 7, NOT_SUPPORTED = 15 };
enum { REAL_32 = 0, REAL_64 = 1, REAL_BF16 = 14, SUM_32 = 68, SUM_64 = 70, SUM_TF32 = 77 };
typedef unsigned long long Address;
typedef int Result;

typedef struct {
  int sums, kind, turn[2], end;
  Address row; // of bfloat16, added to each column
} Product;
typedef struct {
  int kind, batch;
  int64_t rows, columns, step, batch_step;
} Matrix;
typedef struct {
  size_t workspace;
  uint32_t aligned[4];
} Wanted;
typedef struct {
  uint64_t own[8];
} Way;
typedef struct {
  Way way;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Found;

enum { ROW = 4 };                                   // how a product may end
enum { PUT_DOWN = 2000 };                           // bytes that the slow way wants for itself
enum { SLOW, REFUSED, LARGE, FAST, WAYS, WAY = 7 }; // WAY: where a way says which it is

static int asked(const char *what) {
  const char *all = getenv("FAKE_CUDA");
  return all && strstr(all, what);
}

size_t cublasLtGetVersion(void) { return 130000; }
int cublasLtCreate(void **h) { return *h = malloc(1), GOOD; }
int cublasLtDestroy(void *h) { return free(h), GOOD; }

int cublasLtMatmulDescCreate(Product **p, int sums, int kind) {
  *p = calloc(1, sizeof **p);
  (*p)->sums = sums;
  (*p)->kind = kind;
  return GOOD;
}
int cublasLtMatmulDescSetAttribute(Product *p, int which, const void *x, size_t n) {
  if (which == 7 && n == sizeof p->end)
    return memcpy(&p->end, x, n), p->end == ROW ? GOOD : INVALID;
  if (which == 8 && n == sizeof p->row) return memcpy(&p->row, x, n), GOOD;
  if ((which != 3 && which != 4) || n != sizeof(int)) return INVALID;
  return memcpy(&p->turn[which - 3], x, n), GOOD;
}
int cublasLtMatmulDescDestroy(Product *p) { return free(p), GOOD; }

int cublasLtMatrixLayoutCreate(Matrix **m, int kind, uint64_t rows, uint64_t columns,
                               int64_t step) {
  *m = calloc(1, sizeof **m);
  **m = (Matrix){kind, 1, (int64_t)rows, (int64_t)columns, step, 0};
  return step < (int64_t)rows ? INVALID : GOOD;
}
int cublasLtMatrixLayoutSetAttribute(Matrix *m, int which, const void *x, size_t n) {
  if (which == 5 && n == sizeof m->batch) return memcpy(&m->batch, x, n), GOOD;
  if (which == 6 && n == sizeof m->batch_step) return memcpy(&m->batch_step, x, n), GOOD;
  return INVALID;
}
int cublasLtMatrixLayoutDestroy(Matrix *m) { return free(m), GOOD; }

int cublasLtMatmulPreferenceCreate(Wanted **w) { return *w = calloc(1, sizeof **w), GOOD; }
int cublasLtMatmulPreferenceSetAttribute(Wanted *w, int which, const void *x, size_t n) {
  if (which == 1 && n == sizeof w->workspace) return memcpy(&w->workspace, x, n), GOOD;
  if (which == 3 && n == sizeof(uint32_t)) return GOOD;
  if (which < 5 || which > 8 || n != sizeof(uint32_t)) return INVALID;
  return memcpy(&w->aligned[which - 5], x, n), GOOD;
}
int cublasLtMatmulPreferenceDestroy(Wanted *w) { return free(w), GOOD; }

int cublasLtMatmulAlgoGetHeuristic(void *h, Product *p, Matrix *a, Matrix *b, Matrix *c, Matrix *d,
                                   Wanted *w, int most, Found *found, int *n) {
  int wide = p->sums == SUM_64;
  *n = 0;
  if (!h || c != d || most < 1 || asked("products")) return NOT_SUPPORTED;
  int real = wide ? REAL_64 : REAL_32, narrow = c->kind == REAL_BF16 && a->kind == REAL_BF16;
  if ((c->kind != real && !narrow) || a->kind != b->kind || p->kind != real) return NOT_SUPPORTED;
  if (p->end == ROW && (!narrow || c->batch > 1)) return NOT_SUPPORTED;
  if (most > 1 && asked("searches"))
    fprintf(stderr, "a search%s\n", p->end == ROW ? ", with a row" : "");
  for (int i = 0; i < most && i < WAYS; i++) {
    memset(&found[i], 0, sizeof *found);
    memcpy(found[i].way.own, w->aligned, sizeof w->aligned); // asked for again when it is used
    found[i].way.own[WAY] = (uint64_t)i;
    found[i].workspace = i == FAST ? 0 : i == SLOW ? PUT_DOWN : w->workspace + (i == LARGE);
    ++*n;
  }
  return GOOD;
}

// -- a product ------------------------------------------------------------------------------------
typedef struct {
  Product p;
  Matrix a, b, c;
  Address at[3];
  int way;
} Call;

static double read_cell(int kind, Address at, int64_t i) {
  float x;
  uint32_t bits;
  if (kind == REAL_64) return ((const double *)(size_t)at)[i];
  if (kind == REAL_32) return ((const float *)(size_t)at)[i];
  bits = (uint32_t)((const uint16_t *)(size_t)at)[i] << 16;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint16_t narrow(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof x);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Cells of one matrix of many, as floats or doubles, with those that are multiplied side by side, in the order in which they are
// added.
typedef struct {
  int64_t side, depth;
  int turn, wide;
} Side;
static void *cells(const Matrix *m, Address at, int64_t t, Side s, int backwards) {
  void *to = malloc((size_t)(s.side * s.depth) * (s.wide ? sizeof(double) : sizeof(float)));
  for (int64_t k = 0; to && k < s.depth; k++)
    for (int64_t i = 0; i < s.side; i++) {
      int64_t from = (s.turn ? k + i * m->step : i + k * m->step) + t * m->batch_step,
              cell = (backwards ? s.depth - 1 - k : k) * s.side + i;
      if (s.wide)
        ((double *)to)[cell] = read_cell(m->kind, at, from);
      else
        ((float *)to)[cell] = (float)read_cell(m->kind, at, from);
    }
  return to;
}

// sum[y] += a[y] * b, rounded once where the machine can, and otherwise behind a double
#pragma GCC optimize("O3")
static void add_floats(float *restrict sum, const float *restrict a, float b, int64_t n) {
#ifdef __FP_FAST_FMAF
  for (int64_t y = 0; y < n; y++) sum[y] = __builtin_fmaf(a[y], b, sum[y]);
#else
  for (int64_t y = 0; y < n; y++) sum[y] = (float)(sum[y] + (double)a[y] * b);
#endif
}
static void add_doubles(double *restrict sum, const double *restrict a, double b, int64_t n) {
  for (int64_t y = 0; y < n; y++) sum[y] += a[y] * b;
}

static void write_column(const Call *q, const void *sum, int64_t to) {
  for (int64_t y = 0; y < q->c.rows; y++) {
    double x = q->c.kind == REAL_64 ? ((const double *)sum)[y] : ((const float *)sum)[y];
    if (q->p.end == ROW) x = (float)(x + read_cell(REAL_BF16, q->p.row, y));
    if (q->c.kind == REAL_BF16)
      ((uint16_t *)(size_t)q->at[2])[to + y] = narrow((float)x);
    else if (q->c.kind == REAL_64)
      ((double *)(size_t)q->at[2])[to + y] = x;
    else
      ((float *)(size_t)q->at[2])[to + y] = (float)x;
  }
}

// All rows of a column at once, each summed in order: in floats, it matters in which
static void multiply_once(const Call *q) {
  int64_t rows = q->c.rows, columns = q->c.columns;
  int64_t depth = q->p.turn[0] ? q->a.rows : q->a.columns;
  int wide = q->c.kind == REAL_64;
  void *sum = malloc((size_t)rows * sizeof(double));
  for (int64_t t = 0; t < q->c.batch; t++) {
    void *a = cells(&q->a, q->at[0], t, (Side){rows, depth, q->p.turn[0], wide}, q->way == FAST);
    void *b =
        cells(&q->b, q->at[1], t, (Side){columns, depth, !q->p.turn[1], wide}, q->way == FAST);
    if (!sum || !a || !b) abort();
    for (int64_t x = 0; x < columns; x++) {
      memset(sum, 0, (size_t)rows * sizeof(double));
      for (int64_t k = 0; k < depth; k++)
        if (wide)
          add_doubles(sum, (double *)a + k * rows, ((double *)b)[k * columns + x], rows);
        else
          add_floats(sum, (float *)a + k * rows, ((float *)b)[k * columns + x], rows);
      write_column(q, sum, x * q->c.step + t * q->c.batch_step);
    }
    free(a), free(b);
  }
  free(sum);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
// The slow way takes three times as long, but only once as much of a processor.
static void multiply(void *context) {
  const Call *q = context;
  double begun = seconds();
  multiply_once(q);
  if (q->way == SLOW) usleep((useconds_t)(2e6 * (seconds() - begun)));
}

static Result launch(const Call *q, void *stream) {
  char path[512];
  const char *folder = getenv("LIMN_CUDA");
  snprintf(path, sizeof path, "%s/libcuda.so.1", folder ? folder : ".");
  void *driver = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *at = NULL;
  Result (*call)(void (*)(void *), const void *, size_t, void *);
  if (driver) at = dlsym(driver, "fake_call");
  if (!at) return INVALID;
  memcpy(&call, &at, sizeof at);
  return call(multiply, q, sizeof *q, stream);
}

int cublasLtMatmul(void *h, Product *p, const void *alpha, Address a, Matrix *am, Address b,
                   Matrix *bm, const void *beta, Address c, Matrix *cm, Address d, Matrix *dm,
                   const Way *way, Address workspace, size_t bytes, void *stream) {
  uint32_t aligned[4];
  memcpy(aligned, way->own, sizeof aligned);
  int wide = cm->kind == REAL_64;
  double one = wide ? *(const double *)alpha : *(const float *)alpha,
         zero = wide ? *(const double *)beta : *(const float *)beta;
  int64_t rows = p->turn[0] ? am->columns : am->rows, deep = p->turn[0] ? am->rows : am->columns,
          deep_b = p->turn[1] ? bm->columns : bm->rows,
          columns = p->turn[1] ? bm->rows : bm->columns;
  if (!h || !stream || c != d || cm != dm || one != 1 || zero != 0 || !workspace != !bytes ||
      rows != cm->rows || columns != cm->columns || deep != deep_b || am->batch != bm->batch ||
      am->batch != cm->batch || a % aligned[0] || b % aligned[1] || c % aligned[2])
    return INVALID;
  int which = (int)way->own[WAY];
  if (which == LARGE || (which == SLOW && bytes < PUT_DOWN)) abort();
  if (bytes) memset((void *)(size_t)workspace, 0xAB, bytes);
  if (which == REFUSED || asked("products") || (which == FAST && asked("changed")))
    return NOT_SUPPORTED;
  return launch(&(Call){*p, *am, *bm, *cm, {a, b, c}, which}, stream);
}
