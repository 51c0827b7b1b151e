// Products by cuBLASLt. To it a matrix lies column after column, and may be read transposed; a C whose
// rows lie along memory is the transposed product Cᵀ = Bᵀ Aᵀ. Of the ways it offers, the first one is
// taken, which depends on sizes and addresses alone; or one that was faster in a short search and is
// kept in the cache from then on: either way the same program gives the same bytes twice. Sums that
// several blocks add to in any order are not asked for.
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
  PRODUCT_END = 7,
  PRODUCT_ROW = 8,
  END_WITH_ROW = 4,
  PRODUCT_TURN_B = 4,
  MATRIX_BATCH = 5,
  MATRIX_BATCH_STEP = 6,
  WANTED_WORKSPACE = 1,
  WANTED_REDUCTION = 3,
  WANTED_ALIGNED_A = 5, // … B, C, D follow
};
enum { ROOMS = 3 };
static const size_t room_bytes[ROOMS] = {1 << 20, 8 << 20, 32 << 20};
enum { IN_ORDER = 2 | 4, ALIGNED_MOST = 256 };
enum { WAYS = 8, TIMES_MOST = 12, TRIES = 2 };                  // of a search
static const double search_seconds = 0.002, much_better = 0.97; // for a way; of what is best so far

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
typedef struct {
  BlasWay way;
  size_t room; // bytes that it wants
} BlasTaken;

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
  size_t version;
  // What ways put down on each track, if one of them wanted so much; 0: none did.
  DeviceAddress room[ROOMS][TRACKS];
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

// Without a handle no product is taken.
void blas_start(Blas *b) {
  if (b && !b->handle && b->cublasLtCreate(&b->handle)) b->handle = NULL;
}

void blas_close(Blas *b, const Device *d) {
  if (!b) return;
  for (uint32_t i = 0; i < ROOMS; i++)
    for (uint32_t track = 0; track < TRACKS; track++)
      if (b->room[i][track]) d->call.cuMemFree_v2(b->room[i][track]);
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
  int32_t turn_first = l->first.turned, turn_second = l->second.turned;
  void *x = NULL;
  int scale = p->precision == PRECISION_64 ? REAL_64 : REAL_32;
  if (b->cublasLtMatmulDescCreate(&x, sums, scale)) return NULL;
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TURN_A, &turn_first, sizeof turn_first);
  b->cublasLtMatmulDescSetAttribute(x, PRODUCT_TURN_B, &turn_second, sizeof turn_second);
  if (!p->has_row) return x;
  int32_t end = END_WITH_ROW;
  if (!b->cublasLtMatmulDescSetAttribute(x, PRODUCT_END, &end, sizeof end) &&
      !b->cublasLtMatmulDescSetAttribute(x, PRODUCT_ROW, &p->row, sizeof p->row))
    return x;
  b->cublasLtMatmulDescDestroy(x);
  return NULL;
}

static uint32_t aligned_to(DeviceAddress at) {
  uint32_t n = 1;
  while (n < ALIGNED_MOST && !(at & n)) n *= 2;
  return n;
}

static void *wanted_new(const Blas *b, const BlasLayout *l) {
  const DeviceAddress at[] = {l->first.at, l->second.at, l->sum.at, l->sum.at};
  size_t workspace = room_bytes[ROOMS - 1];
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

// All that the library wants to know of a product.
typedef struct {
  BlasLayout l;
  void *product, *wanted, *first, *second, *sum;
  bool wide;
  uint32_t track;
} BlasCall;

static bool call_open(const Blas *b, const BlasProduct *p, BlasCall *c) {
  *c = (BlasCall){.wide = p->precision == PRECISION_64, .track = p->track};
  if (!b->handle || !lay_out(p, &c->l)) return false;
  c->product = product_new(b, p, &c->l);
  c->wanted = wanted_new(b, &c->l);
  c->first = matrix_new(b, &c->l.first, p->batch);
  c->second = matrix_new(b, &c->l.second, p->batch);
  c->sum = matrix_new(b, &c->l.sum, p->batch);
  return c->product && c->wanted && c->first && c->second && c->sum;
}

static void call_close(const Blas *b, const BlasCall *c) {
  if (c->product) b->cublasLtMatmulDescDestroy(c->product);
  if (c->wanted) b->cublasLtMatmulPreferenceDestroy(c->wanted);
  if (c->first) b->cublasLtMatrixLayoutDestroy(c->first);
  if (c->second) b->cublasLtMatrixLayoutDestroy(c->second);
  if (c->sum) b->cublasLtMatrixLayoutDestroy(c->sum);
}

// How many ways there are: the library's best guess first.
static int call_ways(const Blas *b, const BlasCall *c, int most, BlasFound *found) {
  int n = 0, good = 0;
  memset(found, 0, (size_t)most * sizeof *found);
  if (b->cublasLtMatmulAlgoGetHeuristic(b->handle, c->product, c->first, c->second, c->sum, c->sum,
                                        c->wanted, most, found, &n))
    return 0;
  for (int i = 0; i < n; i++)
    if (!found[i].state && found[i].workspace <= room_bytes[ROOMS - 1]) found[good++] = found[i];
  return good;
}

int64_t blas_bytes(const Blas *b) {
  size_t all = 0;
  for (uint32_t i = 0; b && i < ROOMS; i++)
    for (uint32_t track = 0; track < TRACKS; track++)
      if (b->room[i][track]) all += room_bytes[i];
  return (int64_t)all;
}

// The smallest room that a way has enough of, on its track. A way that wants none gets none.
static CudaResult find_room(Blas *b, const Device *d, uint32_t track, size_t wanted,
                            DeviceAddress *at, size_t *bytes) {
  uint32_t i = 0;
  *at = *bytes = 0;
  if (!wanted) return 0;
  while (i + 1 < ROOMS && room_bytes[i] < wanted) i++;
  CudaResult r = b->room[i][track] ? 0 : d->call.cuMemAlloc_v2(&b->room[i][track], room_bytes[i]);
  *at = b->room[i][track];
  *bytes = room_bytes[i];
  return r;
}

static CudaResult call_launch(Blas *b, const Device *d, const BlasCall *c, const BlasTaken *w) {
  static const double one = 1, zero = 0;
  static const float one_32 = 1, zero_32 = 0;
  const BlasLayout *l = &c->l;
  DeviceAddress room;
  size_t bytes;
  CudaResult r = find_room(b, d, c->track, w->room, &room, &bytes);
  if (r) return r;
  return b->cublasLtMatmul(b->handle, c->product, c->wide ? (const void *)&one : &one_32,
                           l->first.at, c->first, l->second.at, c->second,
                           c->wide ? (const void *)&zero : &zero_32, l->sum.at, c->sum, l->sum.at,
                           c->sum, &w->way, room, bytes, d->track[c->track]);
}

// -- which way ------------------------------------------------------------------------------------
// Everything that a way depends on, as bytes.
typedef struct {
  int64_t rows, columns, step, batch_step;
  int32_t turned, kind, aligned, unused;
} MatrixKey;
typedef struct {
  MatrixKey first, second, sum;
  int64_t batch, precision, row;
} BlasKey;
struct BlasChoice {
  BlasKey key;
  BlasTaken taken;
};

static MatrixKey matrix_key(const BlasMatrix *m) {
  return (MatrixKey){.rows = m->rows,
                     .columns = m->columns,
                     .step = m->step,
                     .batch_step = m->batch_step,
                     .turned = m->turned,
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
  BlasFound found;
  *result = 0;
  bool takes = call_open(b, p, &c), done = false;
  if (takes && choice) {
    BlasKey key = key_of(p, &c.l);
    done = !memcmp(&key, &choice->key, sizeof key) && !call_launch(b, d, &c, &choice->taken);
  }
  if (takes && !done) {
    takes = call_ways(b, &c, 1, &found) > 0;
    if (takes) *result = call_launch(b, d, &c, &(BlasTaken){found.way, found.workspace});
    if (*result == CUDA_OUT_OF_MEMORY) { // there is no room for what it wants
      *result = 0;
      takes = false;
    }
  }
  call_close(b, &c);
  return takes;
}

// A graph that does it so often, so that launching costs nothing; NULL: it cannot be.
static CudaGraphExec repeated(Blas *b, const Device *d, const BlasCall *c, const BlasTaken *way,
                              int times) {
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

// From a stream that is empty to the next time that it is.
static bool run_seconds(const Device *d, CudaGraphExec exec, double *seconds) {
  double start = clock_seconds();
  if (d->call.cuGraphLaunch(exec, d->stream) || d->call.cuStreamSynchronize(d->stream))
    return false;
  *seconds = clock_seconds() - start;
  return true;
}

// False: the library refuses this way.
static bool way_seconds(Blas *b, const Device *d, const BlasCall *c, const BlasTaken *way,
                        double *best) {
  double seconds = 0;
  CudaGraphExec once = repeated(b, d, c, way, 1);
  // the first run brings code to the device
  bool good = once && run_seconds(d, once, &seconds) && run_seconds(d, once, &seconds);
  if (once) d->call.cuGraphExecDestroy(once);
  if (!good) return false;
  double wanted = search_seconds / (seconds > 1e-6 ? seconds : 1e-6);
  int times = wanted < 1 ? 1 : wanted > TIMES_MOST ? TIMES_MOST : (int)wanted;
  CudaGraphExec exec = repeated(b, d, c, way, times);
  *best = -1;
  for (int i = 0; exec && good && i < TRIES; i++) {
    good = run_seconds(d, exec, &seconds);
    if (good && (*best < 0 || seconds / times < *best)) *best = seconds / times;
  }
  if (exec) d->call.cuGraphExecDestroy(exec);
  return exec && good;
}

// Rooms that only trying has wanted are given back.
static void leave_rooms(Blas *b, const Device *d, const Blas *before) {
  for (uint32_t i = 0; i < ROOMS; i++)
    for (uint32_t track = 0; track < TRACKS; track++) {
      if (b->room[i][track] == before->room[i][track]) continue;
      d->call.cuMemFree_v2(b->room[i][track]);
      b->room[i][track] = 0;
    }
}

// The fastest that was tried until then; the first one if there is no time.
static bool find_way(Blas *b, const Device *d, const BlasCall *c, double until, BlasTaken *way) {
  BlasFound found[WAYS];
  double best = -1, seconds;
  const Blas before = *b;
  int n = call_ways(b, c, WAYS, found);
  if (!n) return false;
  *way = (BlasTaken){found[0].way, found[0].workspace};
  for (int i = 0; i < n && clock_seconds() < until; i++) {
    BlasTaken other = {found[i].way, found[i].workspace};
    if (!way_seconds(b, d, c, &other, &seconds)) continue;
    if (best >= 0 && seconds > much_better * best) continue;
    best = seconds;
    *way = other;
  }
  leave_rooms(b, d, &before);
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
  BlasTaken way;
  FileText kept = code_read(folder, a, name);
  if (kept.n != sizeof way && find_way(b, d, &c, until, &way))
    kept = code_store_first(folder, a, name, (const char *)&way, sizeof way);
  if (kept.n == sizeof way) {
    choice = NEW(a, BlasChoice);
    choice->key = key;
    memcpy(&choice->taken, kept.text, sizeof way);
  }
  call_close(b, &c);
  return choice;
}
