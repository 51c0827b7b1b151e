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
#define KERNEL(name, Wires, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                        \
      name(const Context *g, Wires wires, Places at)
// A kernel is sent to its place while the one before it still runs; here it waits until that one is whole,
// and lets the next one come.
#if __CUDA_ARCH__ >= 900
#define ARGUMENTS(Wires)                                                                           \
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");                                  \
  asm volatile("griddepcontrol.wait;" ::: "memory");
#else
#define ARGUMENTS(Wires)
#endif
#define TILES(name) extern __shared__ __align__(128) double name[]
#define SHARED(type, name, n) __shared__ type name[n]
#define UNROLL _Pragma("unroll")
#define UNROLL_SOME _Pragma("unroll 4")
#else
#define UNROLL
#define UNROLL_SOME
#endif

#define GRID_THREAD ((long)blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_THREADS ((long)gridDim.x * blockDim.x)
#define GRID_TEAM (GRID_THREAD / TEAM)
#define GRID_TEAMS (GRID_THREADS / TEAM)
#define LANE ((int)(threadIdx.x % (unsigned)TEAM))

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
// One of the kernels that a small step does in one launch: its block is one team.
#define PART(name, Wires, team)                                                                    \
  INLINE void name(const Context *c, char *s, char *arena, char *states, char *slot,               \
                   Wires wires) {                                                                  \
    enum { TEAM = team };                                                                          \
    (void)c, (void)s, (void)arena, (void)states, (void)slot, (void)wires;
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

// A bfloat16: the upper half of a float, rounded to the nearest.
#if !defined LIMN_EMULATED && __CUDA_ARCH__ >= 800
INLINE unsigned short limn_narrow(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
#else
INLINE unsigned short limn_narrow(float x) {
  Bits32 bits = float_bits(x);
  Bits32 near = bits + 0x7FFFu + (bits >> 16 & 1);
  return (unsigned short)((x == x ? near : bits | 0x10000u) >> 16);
}
#endif

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

// -- four cells at once ---------------------------------------------------------------------------
#ifdef LIMN_EMULATED
typedef struct {
  float x, y, z, w;
} float4;
typedef struct {
  unsigned short x, y, z, w;
} ushort4;
// A GPU refuses what lies askew; so do we.
#define LIMN_EVEN(at, bytes)                                                                       \
  if ((unsigned long)(at) % (bytes)) __builtin_trap();
#else
#define LIMN_EVEN(at, bytes)
#endif
#define LIMN_FOUR(to, from)                                                                        \
  {                                                                                                \
    LIMN_EVEN(from, 16)                                                                            \
    const float4 four_ = *(const float4 *)(from);                                                  \
    to[0] = four_.x, to[1] = four_.y, to[2] = four_.z, to[3] = four_.w;                            \
  }
#define LIMN_PUT_FOUR(to, from, Four)                                                              \
  {                                                                                                \
    LIMN_EVEN(to, sizeof(Four))                                                                    \
    Four four_;                                                                                    \
    four_.x = from[0], four_.y = from[1], four_.z = from[2], four_.w = from[3];                    \
    *(Four *)(to) = four_;                                                                         \
  }

// -- matrix units ---------------------------------------------------------------------------------
// Sixteen rows of a left factor, eight columns of a right one, 16 steps of the sum, of bfloat16 (8 of tf32):
// each lane of a warp has its cells of all three, as NVIDIA has dealt them out.
#if defined LIMN_BF16 || defined LIMN_TF32
#define LIMN_UNITS
#ifndef LIMN_EMULATED
INLINE void limn_unit(float *c, const Bits32 *a, const Bits32 *b) {
#ifdef LIMN_BF16
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#else
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
#endif
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#elif defined LIMN_BF16
INLINE float limn_half(const Bits32 *two, int high) {
  return float_from_bits(high ? *two & 0xFFFF0000u : *two << 16);
}
INLINE void limn_unit(float *c, const Bits32 *a, const Bits32 *b) {
  SHARED(Bits32, left, 4096);
  SHARED(Bits32, right, 2048);
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x - lane;
  for (int i = 0; i < 4; i++) left[threadIdx.x * 4 + i] = a[i];
  for (int i = 0; i < 2; i++) right[threadIdx.x * 2 + i] = b[i];
  __syncwarp(0xFFFFFFFFu);
  for (int s = 0; s < 4; s++)
    for (int k = 0; k < 16; k++) {
      const int row = lane / 4, column = lane % 4 * 2 + s % 2, two = k % 8 / 2;
      c[s] += limn_half(&left[(warp + row * 4 + two) * 4 + s / 2 + k / 8 * 2], k % 2) *
              limn_half(&right[(warp + column * 4 + two) * 2 + k / 8], k % 2);
    }
  __syncwarp(0xFFFFFFFFu);
}
#endif
#endif

// -- what a step begins and ends with --------------------------------------------------------------
// The caller's memory is a ring of slots, one for each step that waits. A step takes what is small (the
// context, clocks, small inputs, numbers of rows) from its slot, and gives losses back to it. `counter`
// says which step this is; `done`, which the caller watches, how many are whole.
typedef struct {
  const char *ring;
  char *here;
  long slot_bytes, slots, bytes;
  const long *counter;
} LimnTake;
INLINE void limn_taken(const LimnTake *t) { // by a block
  const double *from = (const double *)(t->ring + *t->counter % t->slots * t->slot_bytes);
  double *to = (double *)t->here;
  for (long k = threadIdx.x; k < t->bytes / 8; k += blockDim.x) to[k] = from[k];
}
typedef struct {
  const double *from[20];
  int at[20], bytes[20]; // in a slot
  char *ring;
  long slot_bytes, slots;
  long *counter, *done;
  int n, last;
} LimnGive;
INLINE void limn_whole(const LimnGive *w) { // what is given so far may be seen
  __threadfence_system();
  *(volatile long *)w->done = *w->counter;
}
INLINE void limn_given(const LimnGive *w) { // by a thread
  char *slot = w->ring + *w->counter % w->slots * w->slot_bytes;
  for (int i = 0; i < w->n; i++)
    if (w->bytes[i] == 8)
      *(double *)(slot + w->at[i]) = *w->from[i];
    else
      for (int k = 0; k < w->bytes[i]; k++) slot[w->at[i] + k] = ((const char *)w->from[i])[k];
  if (w->last) ++*w->counter;
}

// One thread: a step whose losses are not finite ends here.
typedef struct {
  const double *loss[30];
  int n;
} LimnLosses;
INLINE void limn_looked(const LimnLosses *w, int *stop) {
  for (int i = 0; i < w->n; i++)
    if (*w->loss[i] - *w->loss[i] != 0) *stop = 1;
}

// One thread: numbers by themselves are doubles to the code; those that lie in a row of floats are
// brought in front of a step and taken back behind it.
typedef struct {
  double *wide[15];
  float *narrow[15];
  int n, back;
} LimnBrought;
INLINE void limn_brought(const LimnBrought *w, int back) {
  for (int i = 0; i < w->n; i++)
    if (back)
      *w->narrow[i] = (float)*w->wide[i];
    else
      *w->wide[i] = *w->narrow[i];
}

// All lanes of a block: a state's next value, put in its place.
INLINE void limn_copied(char *to, const char *from, long bytes) {
  for (long k = threadIdx.x; k < bytes; k += blockDim.x) to[k] = from[k];
}

// Several small steps in one launch. What they take from their slots is brought at its beginning, into
// memory that the block shares if that has room; so are states, which go back at its end.
typedef struct {
  char *ring, *arena, *near; // near, arena: where there is no room
  long slot_bytes, slots;
  long first, steps; // the slot of the first one, and how many there are
  long whole;        // that are whole then
  long *done;
  int *stop;
} LimnSteps;
INLINE char *limn_slot(const LimnSteps *w, int step) {
  const int at = (int)w->first + step, slots = (int)w->slots;
  return w->ring + (at < slots ? at : at - slots) * w->slot_bytes;
}
// Several loads are under way before the first is waited for: the caller's memory is far.
#define LIMN_FETCHED(n, to, from, all)                                                             \
  for (int k0_ = (int)threadIdx.x; k0_ < (all); k0_ += n * (int)blockDim.x) {                      \
    float4 x_[n];                                                                                  \
    UNROLL for (int u_ = 0; u_ < n; u_++) {                                                        \
      const int k = k0_ + u_ * (int)blockDim.x;                                                    \
      if (k < (all)) x_[u_] = (from);                                                              \
    }                                                                                              \
    UNROLL for (int u_ = 0; u_ < n; u_++) {                                                        \
      const int k = k0_ + u_ * (int)blockDim.x;                                                    \
      if (k < (all)) ((float4 *)(to))[k] = x_[u_];                                                 \
    }                                                                                              \
  }
INLINE void limn_slots_taken(const LimnSteps *w, char *to, int bytes) {
  const int each = bytes / 16, all = (int)w->steps * each;
  LIMN_FETCHED(8, to, ((const float4 *)limn_slot(w, k / each))[k % each], all);
}
INLINE int limn_not_finite(double x) { return x - x != 0; }
INLINE void limn_steps_whole(const LimnSteps *w) { // by the thread that has given
  __threadfence_system();
  *(volatile long *)w->done = w->whole;
}

#ifdef LIMN_COMMON // what no program changes is compiled once for all of them
typedef struct {
  char *to;
  const char *from;
  long bytes;
} LimnCopy;
KERNEL(limn_copy, LimnCopy, 256) {
  BEGIN(LimnCopy, 1, 0, 1)
  for (long k = GRID_THREAD; k < wires.bytes; k += GRID_THREADS) wires.to[k] = wires.from[k];
}
KERNEL(limn_take, LimnTake, 1024) {
  ARGUMENTS(LimnTake)
  limn_taken(&wires);
}
KERNEL(limn_give, LimnGive, 1) {
  ARGUMENTS(LimnGive)
  limn_given(&wires);
  if (wires.last) limn_whole(&wires);
}
KERNEL(limn_look, LimnLosses, 1) {
  BEGIN(LimnLosses, 1, 0, 1)
  limn_looked(&wires, g->stop);
}
KERNEL(limn_bring, LimnBrought, 1) {
  BEGIN(LimnBrought, 1, 0, 1)
  limn_brought(&wires, wires.back);
}

// Rows of a table that is here, by their numbers; unless the samples themselves were sent.
typedef struct {
  const char *table;
  const int *rows; // by rows at all; then, from the fifth on, their numbers
  char *to;
  long words; // of four bytes, in a row; or of one byte
  int word;
} LimnRows;
KERNEL(limn_rows, LimnRows, 256) {
  BEGIN(LimnRows, 1, 0, 1)
  if (!wires.rows[0]) return;
  const long all = c->n * wires.words;
  for (long k = GRID_THREAD; k < all; k += GRID_THREADS) {
    const long from = wires.rows[4 + k / wires.words] * wires.words + k % wires.words;
    if (wires.word == 4)
      ((int *)wires.to)[k] = ((const int *)wires.table)[from];
    else
      wires.to[k] = wires.table[from];
  }
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
  long part;            // of the sum, for each part; parts lie behind each other in `parts`
  long parts;           // 1: straight into C
  int along_a, along_b; // the sum's loop lies along memory
  int narrow, narrow_c; // A and B, or C, are bfloat16 in memory
} LimnProduct;

INLINE real limn_read(const char *base, long i, int narrow) {
#ifdef LIMN_BF16
  if (narrow) return float_from_bits((Bits32)((const unsigned short *)base)[i] << 16);
#endif
  return ((const real *)base)[i];
}
INLINE void limn_write(char *base, long i, real x, int narrow) {
#ifdef LIMN_BF16
  if (narrow) {
    ((unsigned short *)base)[i] = limn_narrow(x);
    return;
  }
#endif
  ((real *)base)[i] = x;
}

INLINE long limn_line(LimnLine l, long i) { return l.at ? l.at[i] : i * l.step; }
INLINE long limn_length(LimnLength l, long n) { return l.fixed + l.per * n; }

// Under precision bf16 factors are rounded to bfloat16, to the nearest, as on the CPU; under tf32 to 10
// bits behind the point. Both are multiplied by the matrix units, whose sums are floats.
#ifdef LIMN_BF16
#define limn_factor(x) limn_narrow(x)
#elif defined LIMN_TF32
INLINE Bits32 limn_factor(float x) {
  Bits32 bits = float_bits(x);
  return x - x == 0 ? (bits + 0x1000u) & 0xFFFFE000u : x == x ? bits : bits | 0x400000u;
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

// A slice of a tile in shared memory: row after row of the sum's loop. For the matrix units two
// bfloat16 that follow each other in the sum share a word, and rows are eight words apart from a
// multiple of 32, so that the 32 lanes that read four rows by eight cells meet 32 banks.
#ifdef LIMN_BF16
typedef unsigned short LimnCell;
#define LIMN_PITCH(tile) ((tile) + 8)
#define LIMN_CELL(moves, stays, tile) (((moves) / 2 * LIMN_PITCH(tile) + (stays)) * 2 + (moves) % 2)
#define LIMN_CELLS(tile) (16 * LIMN_PITCH(tile))
#elif defined LIMN_TF32
typedef Bits32 LimnCell;
#define LIMN_PITCH(tile) ((tile) + 8)
#define LIMN_CELL(moves, stays, tile) ((moves)*LIMN_PITCH(tile) + (stays))
#define LIMN_CELLS(tile) (16 * LIMN_PITCH(tile))
#else
typedef real LimnCell;
#define LIMN_PITCH(tile) ((tile) + 4)
#define LIMN_CELL(moves, stays, tile) ((moves)*LIMN_PITCH(tile) + (stays))
#define LIMN_CELLS(tile) (16 * LIMN_PITCH(tile))
#endif

#define LIMN_FETCHES(fetch, line_stays, along_memory, first, size, tile, each)                     \
  for (int s_ = 0; s_ < each; s_++) {                                                              \
    const int x_ = (int)threadIdx.x + 256 * s_, stays_ = along_memory ? x_ / 16 : x_ % tile,       \
              moves_ = along_memory ? x_ % 16 : x_ / tile;                                         \
    fetch[s_].inside = first + stays_ < size;                                                      \
    fetch[s_].offset = fetch[s_].inside ? limn_line(line_stays, first + stays_) : 0;               \
    fetch[s_].along = moves_;                                                                      \
    fetch[s_].at = LIMN_CELL(moves_, stays_, tile);                                                \
  }
#define LIMN_FETCH(fetch, value, base, line_moves, k0, to, each)                                   \
  for (int s_ = 0; s_ < each; s_++)                                                                \
    value[s_] =                                                                                    \
        fetch[s_].inside && k0 + fetch[s_].along < to                                              \
            ? limn_read(base, fetch[s_].offset + limn_line(line_moves, k0 + fetch[s_].along),      \
                        wires.narrow)                                                              \
            : 0;

// A thread's cells of the tile, cell s of EACH × EACH: a square of its own; or, with the matrix units,
// what they give it of each 16 × 8 cells, of which a warp has EACH / 2 by EACH / 2.
#ifdef LIMN_UNITS
#define LIMN_ROW(s, EACH)                                                                          \
  ((int)threadIdx.x / 128 * 8 * EACH + (s) / 4 / (EACH / 2) * 16 + (int)threadIdx.x % 32 / 4 +     \
   (s) / 2 % 2 * 8)
#define LIMN_COLUMN(s, EACH)                                                                       \
  ((int)threadIdx.x / 32 % 4 * 4 * EACH + (s) / 4 % (EACH / 2) * 8 + (int)threadIdx.x % 4 * 2 +    \
   (s) % 2)
#else
#define LIMN_ROW(s, EACH) ((int)threadIdx.x / 16 * EACH + (s) / EACH)
#define LIMN_COLUMN(s, EACH) ((int)threadIdx.x % 16 * EACH + (s) % EACH)
#endif

#ifndef LIMN_UNITS
#define LIMN_MULTIPLY(EACH)                                                                        \
  for (int d = 0; d < 16; d++) {                                                                   \
    real x[EACH], y[EACH];                                                                         \
    for (int i = 0; i < EACH; i++)                                                                 \
      x[i] = ta[d * LIMN_PITCH(TILE) + (int)threadIdx.x / 16 * EACH + i];                          \
    for (int j = 0; j < EACH; j++)                                                                 \
      y[j] = tb[d * LIMN_PITCH(TILE) + (int)threadIdx.x % 16 * EACH + j];                          \
    for (int i = 0; i < EACH; i++)                                                                 \
      for (int j = 0; j < EACH; j++) sum[i * EACH + j] = real_fma(x[i], y[j], sum[i * EACH + j]);  \
  }
#elif defined LIMN_EMULATED
#ifdef LIMN_BF16
#define limn_unit_factor(x) float_from_bits((Bits32)(x) << 16)
#else
#define limn_unit_factor(x) float_from_bits(x)
#endif
#define LIMN_MULTIPLY(EACH)                                                                        \
  for (int d = 0; d < 16; d++)                                                                     \
    for (int s_ = 0; s_ < EACH * EACH; s_++)                                                       \
      sum[s_] += limn_unit_factor(ta[LIMN_CELL(d, LIMN_ROW(s_, EACH), TILE)]) *                    \
                 limn_unit_factor(tb[LIMN_CELL(d, LIMN_COLUMN(s_, EACH), TILE)]);
#else
// Eight rows of words are what the units take at once.
#define LIMN_MULTIPLY(EACH)                                                                        \
  {                                                                                                \
    const Bits32 *wa = (const Bits32 *)ta, *wb = (const Bits32 *)tb;                               \
    const int g_ = (int)threadIdx.x % 32 / 4, t_ = (int)threadIdx.x % 4,                           \
              m_ = (int)threadIdx.x / 128 * 8 * EACH + g_,                                         \
              n_ = (int)threadIdx.x / 32 % 4 * 4 * EACH + g_;                                      \
    UNROLL for (int d = 0; d < 16 * (int)sizeof(LimnCell) / 4; d += 8) {                           \
      Bits32 x[EACH / 2][4], y[EACH / 2][2];                                                       \
      UNROLL for (int i = 0; i < EACH / 2; i++) for (int r_ = 0; r_ < 4; r_++) x[i][r_] =          \
          wa[(d + t_ + r_ / 2 * 4) * LIMN_PITCH(TILE) + m_ + i * 16 + r_ % 2 * 8];                 \
      UNROLL for (int j = 0; j < EACH / 2; j++) for (int r_ = 0; r_ < 2; r_++) y[j][r_] =          \
          wb[(d + t_ + r_ * 4) * LIMN_PITCH(TILE) + n_ + j * 8];                                   \
      UNROLL for (int i = 0; i < EACH / 2; i++) UNROLL for (int j = 0; j < EACH / 2; j++)          \
          limn_unit(&sum[(i * (EACH / 2) + j) * 4], x[i], y[j]);                                   \
    }                                                                                              \
  }
#endif

// What both kinds of products below begin and end a tile with: the lengths of this step, what tile
// number q is of, and its cells, into C or among the parts of a sum.
#define LIMN_LENGTHS()                                                                             \
  const long m = limn_length(wires.m, c->n), n = limn_length(wires.n, c->n),                       \
             k = limn_length(wires.k, c->n), batch = limn_length(wires.batch, c->n);               \
  const long mt = (m + TILE_M - 1) / TILE_M, nt = (n + TILE_N - 1) / TILE_N,                       \
             all = mt * nt * batch * wires.parts;
#define LIMN_TILE_AT(cell_bytes)                                                                   \
  long r = q;                                                                                      \
  const long n0 = r % nt * TILE_N;                                                                 \
  r /= nt;                                                                                         \
  const long m0 = r % mt * TILE_M;                                                                 \
  r /= mt;                                                                                         \
  const long t = r % batch, part = r / batch;                                                      \
  const char *a = wires.a + limn_line(wires.ta, t) * (cell_bytes),                                 \
             *b = wires.b + limn_line(wires.tb, t) * (cell_bytes);                                 \
  const long from = part * wires.part, to = from + wires.part < k ? from + wires.part : k;
#define LIMN_CELLS_OUT(EACH)                                                                       \
  UNROLL for (int s_ = 0; s_ < EACH * EACH; s_++) {                                                \
    const long y = m0 + LIMN_ROW(s_, EACH), x = n0 + LIMN_COLUMN(s_, EACH);                        \
    if (y >= m || x >= n) continue;                                                                \
    if (wires.parts > 1)                                                                           \
      ((real *)c->parts)[((part * batch + t) * m + y) * n + x] = sum[s_];                          \
    else                                                                                           \
      limn_write(wires.c,                                                                          \
                 limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x),         \
                 sum[s_], wires.narrow_c);                                                         \
  }                                                                                                \
  __syncthreads();

#define LIMN_PRODUCT(name, EACH)                                                                   \
  KERNEL(name, LimnProduct, 256) {                                                                 \
    enum { TILE = 16 * EACH, TILE_M = TILE, TILE_N = TILE, DEEP = 16 };                            \
    BEGIN(LimnProduct, 256, 0, 1)                                                                  \
    SHARED(LimnCell, ta, LIMN_CELLS(16 * EACH));                                                   \
    SHARED(LimnCell, tb, LIMN_CELLS(16 * EACH));                                                   \
    LIMN_LENGTHS()                                                                                 \
    for (long q = blockIdx.x; q < all; q += gridDim.x) {                                           \
      LIMN_TILE_AT(wires.narrow ? 2 : (long)sizeof(real))                                          \
      LimnFetch fa[EACH], fb[EACH];                                                                \
      real va[EACH], vb[EACH], sum[EACH * EACH];                                                   \
      LIMN_FETCHES(fa, wires.am, wires.along_a, m0, m, TILE, EACH)                                 \
      LIMN_FETCHES(fb, wires.bn, wires.along_b, n0, n, TILE, EACH)                                 \
      UNROLL for (int s_ = 0; s_ < EACH * EACH; s_++) sum[s_] = 0;                                 \
      LIMN_FETCH(fa, va, a, wires.ak, from, to, EACH)                                              \
      LIMN_FETCH(fb, vb, b, wires.bk, from, to, EACH)                                              \
      for (long k0 = from; k0 < to; k0 += DEEP) {                                                  \
        __syncthreads();                                                                           \
        for (int s_ = 0; s_ < EACH; s_++) {                                                        \
          ta[fa[s_].at] = (LimnCell)limn_factor(va[s_]);                                           \
          tb[fb[s_].at] = (LimnCell)limn_factor(vb[s_]);                                           \
        }                                                                                          \
        __syncthreads();                                                                           \
        LIMN_FETCH(fa, va, a, wires.ak, k0 + DEEP, to, EACH)                                       \
        LIMN_FETCH(fb, vb, b, wires.bk, k0 + DEEP, to, EACH)                                       \
        LIMN_MULTIPLY(EACH)                                                                        \
      }                                                                                            \
      LIMN_CELLS_OUT(EACH)                                                                         \
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
    limn_write(wires.c, limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x),
               sum, wires.narrow_c);
  }
}
#endif
