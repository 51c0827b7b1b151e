// Products by cuBLASLt, whose matrices are column-major and may be transposed; a row-major C is computed as
// Cᵀ = Bᵀ Aᵀ. Of the algorithms that the library offers, the first one is used, which depends on sizes and
// addresses only, or one that autotuning found and cached. Atomic reductions are excluded, so the same
// program gives the same bytes.
#define _DEFAULT_SOURCE
#include "run/engine/cuda/blas.h"
#include "base/files.h"
#include "base/hash.h"

#include <dlfcn.h>
#include <stdlib.h>

enum {
  // cudaDataType_t
  REAL_32 = 0,
  REAL_64 = 1,
  REAL_BF16 = 14,
  // cublasComputeType_t
  SUM_32 = 68,
  SUM_64 = 70,
  SUM_TF32 = 77,
  // attributes of cublasLtMatmulDesc, cublasLtMatrixLayout and cublasLtMatmulPreference
  PRODUCT_TRANSPOSE_A = 3,
  PRODUCT_EPILOGUE = 7,
  PRODUCT_BIAS = 8,
  EPILOGUE_BIAS = 4,
  PRODUCT_TRANSPOSE_B = 4,
  MATRIX_BATCH = 5,
  MATRIX_BATCH_STEP = 6,
  PREFER_WORKSPACE = 1,
  PREFER_REDUCTION = 3,
  PREFER_ALIGNED_A = 5, // … B, C, D follow
};
enum { WORKSPACES = 3 };
static const size_t workspace_bytes[WORKSPACES] = {1 << 20, 8 << 20, 32 << 20};
enum { IN_ORDER = 2 | 4, ALIGNED_MOST = 256 };
enum { ALGORITHMS = 8, TIMES_MOST = 12, TRIES = 2 }; // of autotuning
// The seconds of measuring one algorithm; a better one takes at most this part of the best time so far.
static const double tuning_seconds = 0.002, much_better = 0.97;

typedef struct {
  uint64_t own[8];
} BlasAlgorithm;
typedef struct {
  BlasAlgorithm way;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} BlasHeuristic;
typedef struct {
  BlasAlgorithm way;
  size_t workspace; // bytes
} BlasSelected;

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
    (void *, void *, void *, void *, void *, void *, void *, int, BlasHeuristic *, int *))         \
  F(cublasLtMatmul, (void *, void *, const void *, DeviceAddress, void *, DeviceAddress, void *,   \
                     const void *, DeviceAddress, void *, DeviceAddress, void *,                   \
                     const BlasAlgorithm *, DeviceAddress, size_t, CudaStream))

struct Blas {
#define BLAS_MEMBER(name, takes) int(*name) takes;
  BLAS_FUNCTIONS(BLAS_MEMBER)
  void *library, *handle;
  size_t version;
  // [size][stream] workspaces, allocated when an algorithm first needs one; 0: not allocated.
  DeviceAddress workspace[WORKSPACES][STREAMS];
};

// -- the library ----------------------------------------------------------------------------------
static bool find_functions(Blas *b) {
  void *at;
#define FIND_IN_BLAS(name, takes)                                                                  \
  at = dlsym(b->library, #name);                                                                   \
  memcpy(&b->name, &at, sizeof at);                                                                \
  if (!at) return false;
  BLAS_FUNCTIONS(FIND_IN_BLAS)
  size_t (*version)(void);
  at = dlsym(b->library, "cublasLtGetVersion");
  memcpy(&version, &at, sizeof at);
  b->version = at ? version() : 0;
  return true;
}

Blas *blas_open(const Device *d, Arena *a) {
  static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                      NULL};
  static const char *const folders[] = {"/usr/local/cuda/lib64", "/opt/cuda/lib64", NULL};
  Blas *b = calloc(1, sizeof *b);
  if (!b) return NULL;
  b->library = device_library(a, names, folders);
  if (b->library && find_functions(b)) return b;
  blas_close(b, d);
  return NULL;
}

// Without a handle no product is supported.
void blas_start(Blas *b) {
  if (b && !b->handle && b->cublasLtCreate(&b->handle)) b->handle = NULL;
}

void blas_close(Blas *b, const Device *d) {
  if (!b) return;
  for (uint32_t i = 0; i < WORKSPACES; i++)
    for (uint32_t stream = 0; stream < STREAMS; stream++)
      if (b->workspace[i][stream]) d->call.cuMemFree_v2(b->workspace[i][stream]);
  if (b->handle) b->cublasLtDestroy(b->handle);
  if (b->library) dlclose(b->library);
  free(b);
}

// -- matrices -------------------------------------------------------------------------------------
// A column-major matrix: its columns, of `rows` cells, are contiguous.
typedef struct {
  int64_t rows, columns, step, batch_step;
  bool transposed; // it is used transposed
  DeviceAddress at;
  int kind;
} BlasMatrix;

// Lays out a matrix of x by y with strides xs and ys. False: neither loop is contiguous. A loop of length 1
// counts as contiguous.
static bool lay_out_matrix(BlasMatrix *m, int64_t x, int64_t y, int64_t xs, int64_t ys) {
  bool plain = (xs == 1 || x == 1) && (ys >= x || y == 1),
       transposed = (ys == 1 || y == 1) && (xs >= y || x == 1);
  if (!plain && !transposed) return false;
  m->transposed = !plain;
  m->rows = plain ? x : y;
  m->columns = plain ? y : x;
  m->step = plain ? ys : xs;
  if (m->columns == 1 || m->step < m->rows) m->step = m->rows;
  return true;
}

// As passed to cuBLASLt: sum = first · second.
typedef struct {
  BlasMatrix first, second, sum;
} BlasLayout;

static bool lay_out(const BlasProduct *p, BlasLayout *l) {
  *l = (BlasLayout){0};
  if (!lay_out_matrix(&l->sum, p->m, p->n, p->cm, p->cn)) return false;
  bool rows = l->sum.transposed; // C is row-major: Cᵀ[n m] = Bᵀ[n k] Aᵀ[k m]
  l->sum.transposed = false;
  BlasMatrix *a = rows ? &l->second : &l->first, *b = rows ? &l->first : &l->second;
  bool good = rows ? lay_out_matrix(b, p->n, p->k, p->bn, p->bk) &&
                         lay_out_matrix(a, p->k, p->m, p->ak, p->am)
                   : lay_out_matrix(a, p->m, p->k, p->am, p->ak) &&
                         lay_out_matrix(b, p->k, p->n, p->bk, p->bn);
  a->at = p->a, b->at = p->b, l->sum.at = p->c;
  a->batch_step = p->ta, b->batch_step = p->tb, l->sum.batch_step = p->tc;
  int real = p->precision == PRECISION_64 ? REAL_64 : REAL_32;
  l->sum.kind = p->narrow_c ? REAL_BF16 : real;
  a->kind = b->kind = p->narrow ? REAL_BF16 : real;
  return good;
}

bool blas_supports(const BlasProduct *p) {
  BlasLayout l;
  bool good = p->m > 0 && p->n > 0 && p->k > 0 && p->batch > 0 && lay_out(p, &l);
  return good && (!p->has_row || (p->cn == 1 && p->batch == 1 && p->narrow_c));
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
  int32_t turn_first = l->first.transposed, turn_second = l->second.transposed;
  void *x = NULL;
  int scale = p->precision == PRECISION_64 ? REAL_64 : REAL_32;
  if (b->cublasLtMatmulDescCreate(&x, sums, scale)) return NULL;
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TRANSPOSE_A, &turn_first, sizeof turn_first);
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TRANSPOSE_B, &turn_second, sizeof turn_second);
  if (!p->has_row) return x;
  int32_t end = EPILOGUE_BIAS;
  if (!b->cublasLtMatmulDescSetAttribute(x, PRODUCT_EPILOGUE, &end, sizeof end) &&
      !b->cublasLtMatmulDescSetAttribute(x, PRODUCT_BIAS, &p->row, sizeof p->row))
    return x;
  b->cublasLtMatmulDescDestroy(x);
  return NULL;
}

static uint32_t aligned_to(DeviceAddress at) {
  uint32_t n = 1;
  while (n < ALIGNED_MOST && !(at & n)) n *= 2;
  return n;
}

static void *preference_new(const Blas *b, const BlasLayout *l) {
  const DeviceAddress at[] = {l->first.at, l->second.at, l->sum.at, l->sum.at};
  size_t workspace = workspace_bytes[WORKSPACES - 1];
  uint32_t reduction = IN_ORDER;
  void *x = NULL;
  if (b->cublasLtMatmulPreferenceCreate(&x)) return NULL;
  b->cublasLtMatmulPreferenceSetAttribute(x, PREFER_WORKSPACE, &workspace, sizeof workspace);
  b->cublasLtMatmulPreferenceSetAttribute(x, PREFER_REDUCTION, &reduction, sizeof reduction);
  for (int i = 0; i < (int)COUNT(at); i++) {
    uint32_t bytes = aligned_to(at[i]);
    b->cublasLtMatmulPreferenceSetAttribute(x, PREFER_ALIGNED_A + i, &bytes, sizeof bytes);
  }
  return x;
}

// The library's descriptors of a product.
typedef struct {
  BlasLayout l;
  void *product, *preference, *first, *second, *sum;
  bool wide;
  uint32_t stream_index;
} BlasCall;

static bool call_open(const Blas *b, const BlasProduct *p, BlasCall *c) {
  *c = (BlasCall){.wide = p->precision == PRECISION_64, .stream_index = p->stream_index};
  if (!b->handle || !lay_out(p, &c->l)) return false;
  c->product = product_new(b, p, &c->l);
  c->preference = preference_new(b, &c->l);
  c->first = matrix_new(b, &c->l.first, p->batch);
  c->second = matrix_new(b, &c->l.second, p->batch);
  c->sum = matrix_new(b, &c->l.sum, p->batch);
  return c->product && c->preference && c->first && c->second && c->sum;
}

static void call_close(const Blas *b, const BlasCall *c) {
  if (c->product) b->cublasLtMatmulDescDestroy(c->product);
  if (c->preference) b->cublasLtMatmulPreferenceDestroy(c->preference);
  if (c->first) b->cublasLtMatrixLayoutDestroy(c->first);
  if (c->second) b->cublasLtMatrixLayoutDestroy(c->second);
  if (c->sum) b->cublasLtMatrixLayoutDestroy(c->sum);
}

// Asks for at most `most` algorithms, by the library's heuristic, the best guess first. Gives their number.
static int call_algorithms(const Blas *b, const BlasCall *c, int most, BlasHeuristic *found) {
  int n = 0, good = 0;
  memset(found, 0, (size_t)most * sizeof *found);
  if (b->cublasLtMatmulAlgoGetHeuristic(b->handle, c->product, c->first, c->second, c->sum, c->sum,
                                        c->preference, most, found, &n))
    return 0;
  for (int i = 0; i < n; i++)
    if (!found[i].state && found[i].workspace <= workspace_bytes[WORKSPACES - 1])
      found[good++] = found[i];
  return good;
}

int64_t blas_bytes(const Blas *b) {
  size_t all = 0;
  for (uint32_t i = 0; b && i < WORKSPACES; i++)
    for (uint32_t stream = 0; stream < STREAMS; stream++)
      if (b->workspace[i][stream]) all += workspace_bytes[i];
  return (int64_t)all;
}

// The smallest workspace of at least `wanted` bytes, on this stream; 0 bytes need none.
static CudaResult get_workspace(Blas *b, const Device *d, uint32_t stream, size_t wanted,
                                DeviceAddress *at, size_t *bytes) {
  uint32_t i = 0;
  *at = *bytes = 0;
  if (!wanted) return 0;
  while (i + 1 < WORKSPACES && workspace_bytes[i] < wanted) i++;
  CudaResult r = b->workspace[i][stream]
                     ? 0
                     : d->call.cuMemAlloc_v2(&b->workspace[i][stream], workspace_bytes[i]);
  *at = b->workspace[i][stream];
  *bytes = workspace_bytes[i];
  return r;
}

static CudaResult call_launch(Blas *b, const Device *d, const BlasCall *c, const BlasSelected *w) {
  static const double one = 1, zero = 0;
  static const float one_32 = 1, zero_32 = 0;
  const BlasLayout *l = &c->l;
  DeviceAddress room;
  size_t bytes;
  CudaResult r = get_workspace(b, d, c->stream_index, w->workspace, &room, &bytes);
  if (r) return r;
  return b->cublasLtMatmul(b->handle, c->product, c->wide ? (const void *)&one : &one_32,
                           l->first.at, c->first, l->second.at, c->second,
                           c->wide ? (const void *)&zero : &zero_32, l->sum.at, c->sum, l->sum.at,
                           c->sum, &w->way, room, bytes, d->streams[c->stream_index]);
}

// -- autotuning -----------------------------------------------------------------------------------
// Everything that the choice of an algorithm depends on; hashed and stored as bytes.
typedef struct {
  int64_t rows, columns, step, batch_step;
  int32_t transposed, kind, aligned, unused;
} MatrixKey;
typedef struct {
  MatrixKey first, second, sum;
  int64_t batch, precision, row;
} BlasKey;
struct BlasChoice {
  BlasKey key;
  BlasSelected taken;
};

static MatrixKey matrix_key(const BlasMatrix *m) {
  return (MatrixKey){.rows = m->rows,
                     .columns = m->columns,
                     .step = m->step,
                     .batch_step = m->batch_step,
                     .transposed = m->transposed,
                     .kind = m->kind,
                     .aligned = (int32_t)aligned_to(m->at)};
}

static BlasKey key_of(const BlasProduct *p, const BlasLayout *l) {
  return (BlasKey){.first = matrix_key(&l->first),
                   .second = matrix_key(&l->second),
                   .sum = matrix_key(&l->sum),
                   .batch = p->batch,
                   .precision = (int64_t)p->precision,
                   .row = p->has_row};
}

bool blas_multiply(Blas *b, const Device *d, const BlasProduct *p, const BlasChoice *choice,
                   CudaResult *result) {
  BlasCall c;
  BlasHeuristic found;
  *result = 0;
  bool takes = call_open(b, p, &c), done = false;
  if (takes && choice) {
    BlasKey key = key_of(p, &c.l);
    done = !memcmp(&key, &choice->key, sizeof key) && !call_launch(b, d, &c, &choice->taken);
  }
  if (takes && !done) {
    takes = call_algorithms(b, &c, 1, &found) > 0;
    if (takes) *result = call_launch(b, d, &c, &(BlasSelected){found.way, found.workspace});
    if (*result == CUDA_OUT_OF_MEMORY) { // no memory for its workspace
      *result = 0;
      takes = false;
    }
  }
  call_close(b, &c);
  return takes;
}

// A graph that repeats the product, so that the cost of launching does not count; NULL: capturing failed.
static CudaGraphExec capture_repeated(Blas *b, const Device *d, const BlasCall *c,
                                      const BlasSelected *way, int times) {
  CudaGraph graph = NULL;
  CudaGraphExec exec = NULL;
  CudaResult r = d->call.cuStreamBeginCapture_v2(d->stream, CUDA_CAPTURE_RELAXED);
  if (r) return NULL;
  for (int i = 0; !r && i < times; i++) r = call_launch(b, d, c, way);
  if (d->call.cuStreamEndCapture(d->stream, &graph)) return NULL;
  if (r || d->call.cuGraphInstantiateWithFlags(&exec, graph, 0)) exec = NULL;
  d->call.cuGraphDestroy(graph);
  return exec;
}

// The seconds from an idle stream to an idle stream.
static bool run_seconds(const Device *d, CudaGraphExec exec, double *seconds) {
  double start = clock_seconds();
  if (d->call.cuGraphLaunch(exec, d->stream) || d->call.cuStreamSynchronize(d->stream))
    return false;
  *seconds = clock_seconds() - start;
  return true;
}

// The best time of an algorithm. False: the library refuses it.
static bool time_algorithm(Blas *b, const Device *d, const BlasCall *c, const BlasSelected *way,
                           double *best) {
  double seconds = 0;
  CudaGraphExec once = capture_repeated(b, d, c, way, 1);
  // the first run also loads code onto the device
  bool good = once && run_seconds(d, once, &seconds) && run_seconds(d, once, &seconds);
  if (once) d->call.cuGraphExecDestroy(once);
  if (!good) return false;
  double wanted = tuning_seconds / (seconds > 1e-6 ? seconds : 1e-6);
  int times = wanted < 1 ? 1 : wanted > TIMES_MOST ? TIMES_MOST : (int)wanted;
  CudaGraphExec exec = capture_repeated(b, d, c, way, times);
  *best = -1;
  for (int i = 0; exec && good && i < TRIES; i++) {
    good = run_seconds(d, exec, &seconds);
    if (good && (*best < 0 || seconds / times < *best)) *best = seconds / times;
  }
  if (exec) d->call.cuGraphExecDestroy(exec);
  return exec && good;
}

// Frees the workspaces that only autotuning has used.
static void free_workspaces(Blas *b, const Device *d, const Blas *before) {
  for (uint32_t i = 0; i < WORKSPACES; i++)
    for (uint32_t stream = 0; stream < STREAMS; stream++) {
      if (b->workspace[i][stream] == before->workspace[i][stream]) continue;
      d->call.cuMemFree_v2(b->workspace[i][stream]);
      b->workspace[i][stream] = 0;
    }
}

// The fastest algorithm that was tried before `until`; without time, the first one.
static bool find_algorithm(Blas *b, const Device *d, const BlasCall *c, double until,
                           BlasSelected *way) {
  BlasHeuristic found[ALGORITHMS];
  double best = -1, seconds;
  const Blas before = *b;
  int n = call_algorithms(b, c, ALGORITHMS, found);
  if (!n) return false;
  *way = (BlasSelected){found[0].way, found[0].workspace};
  for (int i = 0; i < n && clock_seconds() < until; i++) {
    BlasSelected other = {found[i].way, found[i].workspace};
    if (!time_algorithm(b, d, c, &other, &seconds)) continue;
    if (best >= 0 && seconds > much_better * best) continue;
    best = seconds;
    *way = other;
  }
  free_workspaces(b, d, &before);
  return true;
}

static const char *choice_key(const Blas *b, const Device *d, Arena *a, const BlasKey *key) {
  CodeHash h = {HASH_START, 0};
  const uint64_t versions[] = {2, b->version, (uint64_t)d->driver_version};
  code_hash(&h, d->name, strlen(d->name));
  code_hash(&h, versions, sizeof versions);
  code_hash(&h, key, sizeof *key);
  return code_key(a, h);
}

const BlasChoice *blas_choose(Blas *b, const Device *d, Arena *a, CodeFolder *folder,
                              const BlasProduct *p, double until) {
  BlasCall c;
  BlasChoice *choice = NULL;
  if (folder->temporary || !call_open(b, p, &c)) return NULL;
  BlasKey key = key_of(p, &c.l);
  const char *name = choice_key(b, d, a, &key);
  BlasSelected way;
  FileText kept = code_read(folder, a, name);
  if (kept.n != sizeof way && find_algorithm(b, d, &c, until, &way))
    kept = code_store_first(folder, a, name, (const char *)&way, sizeof way);
  if (kept.n == sizeof way) {
    choice = NEW(a, BlasChoice);
    choice->key = key;
    memcpy(&choice->taken, kept.text, sizeof way);
  }
  call_close(b, &c);
  return choice;
}
