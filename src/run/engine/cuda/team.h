// team.h: what CUDA text has between the prelude and its kernels: how threads are called, how the lanes
// of a team meet, and the kernels that every plan may need. LIMN_EMULATED gives the same text, as C,
// threads on a machine without a GPU.
//
// `real` is the type of numbers. Memory comes in as pointers; what changes from step to step lies in a
// Context in the device's memory, so that one captured step can be run again and again.

typedef struct {
  long at[8]; // positions of the scans around
} Places;
typedef struct {
  long n;
  Bits64 seed, step;
  long at[8];
  char *scratch; // of teams whose tiles are too large for shared memory
  char *parts;   // of products whose sum is cut into parts
  int stop;      // a loss was not finite: nothing more is done
} Context;

#ifndef LIMN_EMULATED
#define KERNEL(name, Wires, threads)                                                               \
  extern "C" __global__ void __launch_bounds__(threads)                                            \
      name(const Context *g, Wires wires, Places at)
#define ARGUMENTS(Wires)
#define TILES(name) extern __shared__ double name[]
#define SHARED(type, name, n) __shared__ type name[n]
#endif

#define GRID_THREAD ((long)blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_THREADS ((long)gridDim.x * blockDim.x)
#define GRID_TEAM (GRID_THREAD / TEAM)
#define GRID_TEAMS (GRID_THREADS / TEAM)
#define LANE ((int)threadIdx.x % TEAM)

// What each kernel begins with. A team is a warp or a block, or a thread where lanes never meet.
#define BEGIN(Wires, team, bytes, shared)                                                          \
  enum { TEAM = team };                                                                            \
  TILES(tiles);                                                                                    \
  ARGUMENTS(Wires)                                                                                 \
  if (g->stop) return;                                                                             \
  Context here = *g;                                                                               \
  for (int d = 0; d < 8; d++) here.at[d] = at.at[d];                                               \
  const Context *c = &here;                                                                        \
  char *s =                                                                                        \
      (shared) ? (char *)tiles + threadIdx.x / TEAM * (bytes) : g->scratch + GRID_TEAM * (bytes);  \
  (void)c, (void)s;
#define TEAM_SYNC()                                                                                \
  do {                                                                                             \
    if (TEAM > 32)                                                                                 \
      __syncthreads();                                                                             \
    else                                                                                           \
      __syncwarp(0xFFFFFFFFu);                                                                     \
  } while (0)

// What another lane has: of the same warp, or of the same block.
#define EXCHANGES(type)                                                                            \
  INLINE type near_##type(type x, int other) {                                                     \
    return __shfl_sync(0xFFFFFFFFu, x, other & 31, 32);                                            \
  }                                                                                                \
  HELPER type far_##type(type x, int other) {                                                      \
    SHARED(type, all, 1024);                                                                       \
    __syncthreads();                                                                               \
    all[threadIdx.x] = x;                                                                          \
    __syncthreads();                                                                               \
    return all[other];                                                                             \
  }
EXCHANGES(int)
EXCHANGES(long)
EXCHANGES(float)
EXCHANGES(double)
#define near_real LIMN_OF(near_, LIMN_REAL)
#define far_real LIMN_OF(far_, LIMN_REAL)

// -- order ----------------------------------------------------------------------------------------
// How many of the n positions in `run` have keys that come before x; with `also`, or are equal.
HELPER long limn_before(const real *key, long stride, const int *run, long n, real x, int also) {
  long low = 0, high = n;
  while (low < high) {
    long middle = (low + high) / 2;
    real y = key[run[middle] * stride];
    int before = also ? !real_sorts_before(x, y) : real_sorts_before(y, x);
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}

// The positions that sort a row, ascending, NaN last, equal keys in their order. Runs are merged by
// all lanes of a block: each position finds its place in the other run.
HELPER void limn_order(const real *key, long stride, long n, int *from, int *to, int *out) {
  for (long k = threadIdx.x; k < n; k += blockDim.x) from[k] = (int)k;
  __syncthreads();
  for (long run = 1; run < n; run *= 2) {
    for (long k = threadIdx.x; k < n; k += blockDim.x) {
      long low = k / (2 * run) * 2 * run, middle = low + run < n ? low + run : n,
           high = middle + run < n ? middle + run : n;
      int right = k >= middle;
      real x = key[from[k] * stride];
      long others = right ? limn_before(key, stride, from + low, middle - low, x, 1)
                          : limn_before(key, stride, from + middle, high - middle, x, 0);
      to[right ? low + (k - middle) + others : k + others] = from[k];
    }
    __syncthreads();
    int *other = from;
    from = to;
    to = other;
  }
  for (long k = threadIdx.x; k < n; k += blockDim.x) out[k * stride] = from[k];
  __syncthreads();
}

// -- copies, and the look at losses ---------------------------------------------------------------
typedef struct {
  char *to;
  const char *from;
  long bytes;
} LimnCopy;
KERNEL(limn_copy, LimnCopy, 256) {
  BEGIN(LimnCopy, 1, 0, 1)
  for (long k = GRID_THREAD; k < wires.bytes; k += GRID_THREADS) wires.to[k] = wires.from[k];
}

// One thread: a step whose losses are not finite ends here. The count says how many steps were whole.
typedef struct {
  Context *g;
  const double *loss[30];
  int n;
} LimnLosses;
KERNEL(limn_look, LimnLosses, 1) {
  BEGIN(LimnLosses, 1, 0, 1)
  for (int i = 0; i < wires.n; i++)
    if (*wires.loss[i] - *wires.loss[i] != 0) wires.g->stop = 1;
}

// -- products -------------------------------------------------------------------------------------
// C[m n] = Σ_k A[m k] B[k n] at each point of a batch. An address is a sum of one part for each group
// of loops: a step, or a table where the group is not one stretch of memory.
typedef struct {
  long step;
  const int *at;
} LimnLine;
typedef struct {
  long fixed, per; // fixed + per · samples
} LimnLength;
typedef struct {
  const char *a, *b;
  char *c;
  LimnLine am, ak, bk, bn, cm, cn, ta, tb, tc;
  LimnLength m, n, k, batch;
  long part;  // of the sum, for each part; parts lie behind each other in `parts`
  long parts; // 1: straight into C
} LimnProduct;

INLINE long limn_line(LimnLine l, long i) { return l.at ? l.at[i] : i * l.step; }
INLINE long limn_length(LimnLength l, long n) { return l.fixed + l.per * n; }

// Under precision bf16 factors are rounded to bfloat16, to the nearest, as on the CPU.
#ifdef LIMN_BF16
INLINE float limn_factor(float x) {
  Bits32 bits = float_bits(x);
  Bits32 near = (bits + 0x7FFFu + (bits >> 16 & 1)) & 0xFFFF0000u;
  return x == x ? float_from_bits(near) : x;
}
#else
#define limn_factor(x) (x)
#endif

KERNEL(limn_product, LimnProduct, 256) {
  enum { TILE = 64, DEEP = 16, EACH = 4 };
  BEGIN(LimnProduct, 256, 0, 1)
  SHARED(real, ta, DEEP * (TILE + 1));
  SHARED(real, tb, DEEP * (TILE + 1));
  const long m = limn_length(wires.m, c->n), n = limn_length(wires.n, c->n),
             k = limn_length(wires.k, c->n), batch = limn_length(wires.batch, c->n);
  const long mt = (m + TILE - 1) / TILE, nt = (n + TILE - 1) / TILE,
             all = mt * nt * batch * wires.parts;
  const int row = (int)threadIdx.x / 16, column = (int)threadIdx.x % 16;
  for (long q = blockIdx.x; q < all; q += gridDim.x) {
    long r = q;
    const long n0 = r % nt * TILE;
    r /= nt;
    const long m0 = r % mt * TILE;
    r /= mt;
    const long t = r % batch, part = r / batch;
    const real *a = (const real *)wires.a + limn_line(wires.ta, t),
               *b = (const real *)wires.b + limn_line(wires.tb, t);
    const long from = part * wires.part, to = from + wires.part < k ? from + wires.part : k;
    real sum[EACH][EACH];
    for (int i = 0; i < EACH; i++)
      for (int j = 0; j < EACH; j++) sum[i][j] = 0;
    for (long k0 = from; k0 < to; k0 += DEEP) {
      __syncthreads();
      for (int x = (int)threadIdx.x; x < TILE * DEEP; x += 256) {
        // neighbouring threads read along whichever of the two loops lies along memory
        const int ai = wires.ak.step == 1 && !wires.ak.at ? x / DEEP : x % TILE,
                  ak = wires.ak.step == 1 && !wires.ak.at ? x % DEEP : x / TILE;
        const int bj = wires.bk.step == 1 && !wires.bk.at ? x / DEEP : x % TILE,
                  bk = wires.bk.step == 1 && !wires.bk.at ? x % DEEP : x / TILE;
        ta[ak * (TILE + 1) + ai] =
            m0 + ai < m && k0 + ak < to
                ? limn_factor(a[limn_line(wires.am, m0 + ai) + limn_line(wires.ak, k0 + ak)])
                : 0;
        tb[bk * (TILE + 1) + bj] =
            n0 + bj < n && k0 + bk < to
                ? limn_factor(b[limn_line(wires.bn, n0 + bj) + limn_line(wires.bk, k0 + bk)])
                : 0;
      }
      __syncthreads();
      for (int d = 0; d < DEEP; d++)
        for (int i = 0; i < EACH; i++)
          for (int j = 0; j < EACH; j++)
            sum[i][j] = real_fma(ta[d * (TILE + 1) + row + 16 * i],
                                 tb[d * (TILE + 1) + column + 16 * j], sum[i][j]);
    }
    for (int i = 0; i < EACH; i++)
      for (int j = 0; j < EACH; j++) {
        const long y = m0 + row + 16 * i, x = n0 + column + 16 * j;
        if (y >= m || x >= n) continue;
        if (wires.parts > 1)
          ((real *)c->parts)[((part * batch + t) * m + y) * n + x] = sum[i][j];
        else
          ((real *)
               wires.c)[limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x)] =
              sum[i][j];
      }
    __syncthreads();
  }
}

// The parts of a sum, one after the other.
KERNEL(limn_gather, LimnProduct, 256) {
  BEGIN(LimnProduct, 1, 0, 1)
  const long m = limn_length(wires.m, c->n), n = limn_length(wires.n, c->n),
             batch = limn_length(wires.batch, c->n), all = m * n * batch;
  for (long q = GRID_THREAD; q < all; q += GRID_THREADS) {
    const long x = q % n, y = q / n % m, t = q / n / m;
    real sum = 0;
    for (long part = 0; part < wires.parts; part++) sum += ((const real *)c->parts)[part * all + q];
    ((real *)wires.c)[limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x)] =
        sum;
  }
}
