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
  int *stop;     // of the device: a loss was not finite, and nothing more is done
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
  if (*g->stop) return;                                                                            \
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

#ifdef LIMN_COMMON // what no program changes is compiled once for all of them
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

// One thread: a step whose losses are not finite ends here.
typedef struct {
  const double *loss[30];
  int n;
} LimnLosses;
KERNEL(limn_look, LimnLosses, 1) {
  BEGIN(LimnLosses, 1, 0, 1)
  for (int i = 0; i < wires.n; i++)
    if (*wires.loss[i] - *wires.loss[i] != 0) *g->stop = 1;
}

// One thread: numbers by themselves are doubles to the code; those that lie in a row of floats are
// brought in front of a step and taken back behind it.
typedef struct {
  double *wide[15];
  float *narrow[15];
  int n, back;
} LimnBrought;
KERNEL(limn_bring, LimnBrought, 1) {
  BEGIN(LimnBrought, 1, 0, 1)
  for (int i = 0; i < wires.n; i++)
    if (wires.back)
      *wires.narrow[i] = (float)*wires.wide[i];
    else
      *wires.wide[i] = *wires.narrow[i];
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

// A tile of C for each block: TILE × TILE cells, EACH × EACH of them a thread's. While a slice of A and
// B is multiplied, the next one is on its way from memory. Neighbouring threads read along whichever
// of an operand's two loops lies along memory.
typedef struct {
  long offset; // of the loop that stays, in cells
  int along;   // place in the slice of the loop that moves
  int at;      // cell of the tile
  int inside;
} LimnFetch;

#define LIMN_FETCHES(fetch, line_stays, line_moves, first, size, tile, each)                       \
  for (int s_ = 0; s_ < each; s_++) {                                                              \
    const int x_ = (int)threadIdx.x + 256 * s_, along_ = !line_moves.at && line_moves.step == 1,   \
              stays_ = along_ ? x_ / 16 : x_ % tile, moves_ = along_ ? x_ % 16 : x_ / tile;        \
    fetch[s_].inside = first + stays_ < size;                                                      \
    fetch[s_].offset = fetch[s_].inside ? limn_line(line_stays, first + stays_) : 0;               \
    fetch[s_].along = moves_;                                                                      \
    fetch[s_].at = moves_ * (tile + 4) + stays_;                                                   \
  }
#define LIMN_FETCH(fetch, value, base, line_moves, k0, to, each)                                   \
  for (int s_ = 0; s_ < each; s_++)                                                                \
    value[s_] = fetch[s_].inside && k0 + fetch[s_].along < to                                      \
                    ? base[fetch[s_].offset + limn_line(line_moves, k0 + fetch[s_].along)]         \
                    : 0;

#define LIMN_PRODUCT(name, EACH)                                                                   \
  KERNEL(name, LimnProduct, 256) {                                                                 \
    enum { TILE = 16 * EACH, DEEP = 16 };                                                          \
    BEGIN(LimnProduct, 256, 0, 1)                                                                  \
    SHARED(real, ta, 16 * (16 * EACH + 4));                                                        \
    SHARED(real, tb, 16 * (16 * EACH + 4));                                                        \
    const long m = limn_length(wires.m, c->n), n = limn_length(wires.n, c->n),                     \
               k = limn_length(wires.k, c->n), batch = limn_length(wires.batch, c->n);             \
    const long mt = (m + TILE - 1) / TILE, nt = (n + TILE - 1) / TILE,                             \
               all = mt * nt * batch * wires.parts;                                                \
    const int row = (int)threadIdx.x / 16 * EACH, column = (int)threadIdx.x % 16 * EACH;           \
    for (long q = blockIdx.x; q < all; q += gridDim.x) {                                           \
      long r = q;                                                                                  \
      const long n0 = r % nt * TILE;                                                               \
      r /= nt;                                                                                     \
      const long m0 = r % mt * TILE;                                                               \
      r /= mt;                                                                                     \
      const long t = r % batch, part = r / batch;                                                  \
      const real *a = (const real *)wires.a + limn_line(wires.ta, t),                              \
                 *b = (const real *)wires.b + limn_line(wires.tb, t);                              \
      const long from = part * wires.part, to = from + wires.part < k ? from + wires.part : k;     \
      LimnFetch fa[EACH], fb[EACH];                                                                \
      real va[EACH], vb[EACH], sum[EACH][EACH];                                                    \
      LIMN_FETCHES(fa, wires.am, wires.ak, m0, m, TILE, EACH)                                      \
      LIMN_FETCHES(fb, wires.bn, wires.bk, n0, n, TILE, EACH)                                      \
      for (int i = 0; i < EACH; i++)                                                               \
        for (int j = 0; j < EACH; j++) sum[i][j] = 0;                                              \
      LIMN_FETCH(fa, va, a, wires.ak, from, to, EACH)                                              \
      LIMN_FETCH(fb, vb, b, wires.bk, from, to, EACH)                                              \
      for (long k0 = from; k0 < to; k0 += DEEP) {                                                  \
        __syncthreads();                                                                           \
        for (int s_ = 0; s_ < EACH; s_++) {                                                        \
          ta[fa[s_].at] = limn_factor(va[s_]);                                                     \
          tb[fb[s_].at] = limn_factor(vb[s_]);                                                     \
        }                                                                                          \
        __syncthreads();                                                                           \
        LIMN_FETCH(fa, va, a, wires.ak, k0 + DEEP, to, EACH)                                       \
        LIMN_FETCH(fb, vb, b, wires.bk, k0 + DEEP, to, EACH)                                       \
        for (int d = 0; d < DEEP; d++) {                                                           \
          real x[EACH], y[EACH];                                                                   \
          for (int i = 0; i < EACH; i++) x[i] = ta[d * (TILE + 4) + row + i];                      \
          for (int j = 0; j < EACH; j++) y[j] = tb[d * (TILE + 4) + column + j];                   \
          for (int i = 0; i < EACH; i++)                                                           \
            for (int j = 0; j < EACH; j++) sum[i][j] = real_fma(x[i], y[j], sum[i][j]);            \
        }                                                                                          \
      }                                                                                            \
      for (int i = 0; i < EACH; i++)                                                               \
        for (int j = 0; j < EACH; j++) {                                                           \
          const long y = m0 + row + i, x = n0 + column + j;                                        \
          if (y >= m || x >= n) continue;                                                          \
          if (wires.parts > 1)                                                                     \
            ((real *)c->parts)[((part * batch + t) * m + y) * n + x] = sum[i][j];                  \
          else                                                                                     \
            ((real *)wires                                                                         \
                 .c)[limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x)] =   \
                sum[i][j];                                                                         \
        }                                                                                          \
      __syncthreads();                                                                             \
    }                                                                                              \
  }
LIMN_PRODUCT(limn_product2, 2)
LIMN_PRODUCT(limn_product4, 4)
LIMN_PRODUCT(limn_product8, 8)

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
#endif
