// Products by cuBLASLt. To it a matrix lies column after column, and may be read transposed; a C whose
// rows lie along memory is the transposed product Cᵀ = Bᵀ Aᵀ. Of the ways it offers, the first one is
// taken: which one that is depends on sizes and addresses alone, so that the same program gives the
// same bytes twice, and sums that several blocks add to in any order are not asked for.
#define _DEFAULT_SOURCE
#include "run/engine/cuda/blas.h"

#include <dlfcn.h>
#include <stdlib.h>

enum {
  // kinds of numbers
  REAL_32 = 0,
  REAL_64 = 1,
  REAL_BF16 = 14,
  // how sums are made
  SUM_32 = 68,
  SUM_64 = 70,
  SUM_TF32 = 77,
  // attributes of a product, of a matrix, and of what is wanted
  PRODUCT_TURN_A = 3,
  PRODUCT_TURN_B = 4,
  MATRIX_BATCH = 5,
  MATRIX_BATCH_STEP = 6,
  WANTED_WORKSPACE = 1,
  WANTED_REDUCTION = 3,
  WANTED_ALIGNED_A = 5, // … B, C, D follow
};
enum { WORKSPACE = 32 << 20, IN_ORDER = 2 | 4, ALIGNED_MOST = 256 };

typedef struct {
  uint64_t own[8];
} BlasWay;
typedef struct {
  BlasWay way;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} BlasFound;

#define BLAS_FUNCTIONS(F)                                                                          \
  F(cublasLtCreate, (void **))                                                                     \
  F(cublasLtDestroy, (void *))                                                                     \
  F(cublasLtMatmulDescCreate, (void **, int, int))                                                 \
  F(cublasLtMatmulDescSetAttribute, (void *, int, const void *, size_t))                           \
  F(cublasLtMatmulDescDestroy, (void *))                                                           \
  F(cublasLtMatrixLayoutCreate, (void **, int, uint64_t, uint64_t, int64_t))                       \
  F(cublasLtMatrixLayoutSetAttribute, (void *, int, const void *, size_t))                         \
  F(cublasLtMatrixLayoutDestroy, (void *))                                                         \
  F(cublasLtMatmulPreferenceCreate, (void **))                                                     \
  F(cublasLtMatmulPreferenceSetAttribute, (void *, int, const void *, size_t))                     \
  F(cublasLtMatmulPreferenceDestroy, (void *))                                                     \
  F(cublasLtMatmulAlgoGetHeuristic,                                                                \
    (void *, void *, void *, void *, void *, void *, void *, int, BlasFound *, int *))             \
  F(cublasLtMatmul, (void *, void *, const void *, DeviceAddress, void *, DeviceAddress, void *,   \
                     const void *, DeviceAddress, void *, DeviceAddress, void *, const BlasWay *,  \
                     DeviceAddress, size_t, CudaStream))

struct Blas {
#define BLAS_MEMBER(name, takes) int(*name) takes;
  BLAS_FUNCTIONS(BLAS_MEMBER)
  void *library, *handle;
  DeviceAddress workspace;
};

// -- the library ----------------------------------------------------------------------------------
static bool find_functions(Blas *b) {
  void *at;
#define FIND_IN_BLAS(name, takes)                                                                  \
  at = dlsym(b->library, #name);                                                                   \
  memcpy(&b->name, &at, sizeof at);                                                                \
  if (!at) return false;
  BLAS_FUNCTIONS(FIND_IN_BLAS)
  return true;
}

Blas *blas_open(const Device *d, Arena *a) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                      NULL};
  static const char *const folders[] = {"/usr/local/cuda/lib64", "/opt/cuda/lib64", NULL};
  Blas *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->library = device_library(a, names, folders);
  if (b->library && find_functions(b) && !b->cublasLtCreate(&b->handle) &&
      !d->call.cuMemAlloc_v2(&b->workspace, WORKSPACE))
    return b;
  blas_close(b, d);
  return NULL;
}

void blas_close(Blas *b, const Device *d) {
  if (!b) return;
  if (b->workspace) d->call.cuMemFree_v2(b->workspace);
  if (b->handle) b->cublasLtDestroy(b->handle);
  if (b->library) dlclose(b->library);
  free(b);
}

// -- matrices -------------------------------------------------------------------------------------
// One matrix: `rows` along memory.
typedef struct {
  int64_t rows, columns, step, batch_step;
  bool turned; // it is to be read so that its columns become rows
  DeviceAddress at;
  int kind;
} BlasMatrix;

// A matrix of x by y: whichever loop lies along memory is its rows. One of length 1 lies along any.
static bool lay(BlasMatrix *m, int64_t x, int64_t y, int64_t xs, int64_t ys) {
  bool plain = (xs == 1 || x == 1) && (ys >= x || y == 1),
       turned = (ys == 1 || y == 1) && (xs >= y || x == 1);
  if (!plain && !turned) return false;
  m->turned = !plain;
  m->rows = plain ? x : y;
  m->columns = plain ? y : x;
  m->step = plain ? ys : xs;
  if (m->columns == 1 || m->step < m->rows) m->step = m->rows;
  return true;
}

// As cuBLASLt sees it: D = first · second.
typedef struct {
  BlasMatrix first, second, sum;
} BlasLayout;

static bool lay_out(const BlasProduct *p, BlasLayout *l) {
  *l = (BlasLayout){0};
  if (!lay(&l->sum, p->m, p->n, p->cm, p->cn)) return false;
  bool rows = l->sum.turned; // C's rows lie along memory: Cᵀ[n m] = Bᵀ[n k] Aᵀ[k m]
  l->sum.turned = false;
  BlasMatrix *a = rows ? &l->second : &l->first, *b = rows ? &l->first : &l->second;
  bool good = rows ? lay(b, p->n, p->k, p->bn, p->bk) && lay(a, p->k, p->m, p->ak, p->am)
                   : lay(a, p->m, p->k, p->am, p->ak) && lay(b, p->k, p->n, p->bk, p->bn);
  a->at = p->a, b->at = p->b, l->sum.at = p->c;
  a->batch_step = p->ta, b->batch_step = p->tb, l->sum.batch_step = p->tc;
  int real = p->precision == PRECISION_64 ? REAL_64 : REAL_32;
  l->sum.kind = p->narrow_c ? REAL_BF16 : real;
  a->kind = b->kind = p->narrow ? REAL_BF16 : real;
  return good;
}

bool blas_takes(const BlasProduct *p) {
  BlasLayout l;
  return p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && lay_out(p, &l);
}

static void *matrix_new(const Blas *b, const BlasMatrix *m, int64_t batch) {
  void *x = NULL;
  int32_t count = (int32_t)batch;
  if (b->cublasLtMatrixLayoutCreate(&x, m->kind, (uint64_t)m->rows, (uint64_t)m->columns, m->step))
    return NULL;
  if (count > 1) {
    b->cublasLtMatrixLayoutSetAttribute(x, MATRIX_BATCH, &count, sizeof count);
    b->cublasLtMatrixLayoutSetAttribute(x, MATRIX_BATCH_STEP, &m->batch_step, sizeof m->batch_step);
  }
  return x;
}

// -- one product ----------------------------------------------------------------------------------
static void *product_new(const Blas *b, const BlasProduct *p, const BlasLayout *l) {
  int sums = p->precision == PRECISION_64     ? SUM_64
             : p->precision == PRECISION_TF32 ? SUM_TF32
                                              : SUM_32;
  int32_t turn_first = l->first.turned, turn_second = l->second.turned;
  void *x = NULL;
  int scale = p->precision == PRECISION_64 ? REAL_64 : REAL_32;
  if (b->cublasLtMatmulDescCreate(&x, sums, scale)) return NULL;
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TURN_A, &turn_first, sizeof turn_first);
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TURN_B, &turn_second, sizeof turn_second);
  return x;
}

static uint32_t aligned_to(DeviceAddress at) {
  uint32_t n = 1;
  while (n < ALIGNED_MOST && !(at & n)) n *= 2;
  return n;
}

static void *wanted_new(const Blas *b, const BlasLayout *l) {
  const DeviceAddress at[] = {l->first.at, l->second.at, l->sum.at, l->sum.at};
  size_t workspace = WORKSPACE;
  uint32_t reduction = IN_ORDER;
  void *x = NULL;
  if (b->cublasLtMatmulPreferenceCreate(&x)) return NULL;
  b->cublasLtMatmulPreferenceSetAttribute(x, WANTED_WORKSPACE, &workspace, sizeof workspace);
  b->cublasLtMatmulPreferenceSetAttribute(x, WANTED_REDUCTION, &reduction, sizeof reduction);
  for (int i = 0; i < (int)COUNT(at); i++) {
    uint32_t bytes = aligned_to(at[i]);
    b->cublasLtMatmulPreferenceSetAttribute(x, WANTED_ALIGNED_A + i, &bytes, sizeof bytes);
  }
  return x;
}

bool blas_multiply(Blas *b, const Device *d, const BlasProduct *p, CudaResult *result) {
  static const double one = 1, zero = 0;
  static const float one_32 = 1, zero_32 = 0;
  bool wide = p->precision == PRECISION_64;
  BlasLayout l;
  BlasFound found = {0};
  int n = 0;
  *result = 0;
  if (!lay_out(p, &l)) return false;
  void *product = product_new(b, p, &l), *wanted = wanted_new(b, &l),
       *first = matrix_new(b, &l.first, p->batch), *second = matrix_new(b, &l.second, p->batch),
       *sum = matrix_new(b, &l.sum, p->batch);
  bool takes = product && wanted && first && second && sum &&
               !b->cublasLtMatmulAlgoGetHeuristic(b->handle, product, first, second, sum, sum,
                                                  wanted, 1, &found, &n) &&
               n > 0 && !found.state;
  if (takes)
    *result = b->cublasLtMatmul(b->handle, product, wide ? (const void *)&one : &one_32, l.first.at,
                                first, l.second.at, second, wide ? (const void *)&zero : &zero_32,
                                l.sum.at, sum, l.sum.at, sum, &found.way, b->workspace, WORKSPACE,
                                d->stream);
  if (product) b->cublasLtMatmulDescDestroy(product);
  if (wanted) b->cublasLtMatmulPreferenceDestroy(wanted);
  if (first) b->cublasLtMatrixLayoutDestroy(first);
  if (second) b->cublasLtMatrixLayoutDestroy(second);
  if (sum) b->cublasLtMatrixLayoutDestroy(sum);
  return takes;
}
