// team.h: the beginning of generated CUDA C, after the prelude: launch macros, communication
// between the lanes of a team, and the kernels that every plan may need. With LIMN_EMULATED the
// same text is C, whose threads run on the CPU.
//
// `real` is the type of numbers. Memory is passed as pointers; values that change from step to step
// are in a Context in device memory, so a captured step can be launched repeatedly.

typedef struct {
  long at[8]; // positions of the surrounding scans
  int *stop;  // device flag: a loss was not finite, and all later kernels do nothing
} Places;
typedef struct {
  long n;
  Bits64 seed, step;
  long at[8];
  char *scratch; // of teams whose tiles do not fit in shared memory
  char *parts;   // partial sums of split-K products
} Context;

#ifndef LIMN_EMULATED
#define KERNEL(name, Wires, ...)                                                                   \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__)                                        \
      name(const Context *g, Wires wires, Places at)
#define ARGUMENTS_ALONE(Wires)
// Programmatic dependent launch: a kernel may be scheduled while its predecessors still run. It
// waits for their results, then allows the next launch: an earlier permission would occupy
// multiprocessors that others can use.
#if __CUDA_ARCH__ >= 900
#define AWAIT_ALONE() asm volatile("griddepcontrol.wait;" ::: "memory")
#define LET_NEXT() asm volatile("griddepcontrol.launch_dependents;" ::: "memory")
#else
#define AWAIT_ALONE()
#define LET_NEXT()
#endif
#define AWAIT()                                                                                    \
  AWAIT_ALONE();                                                                                   \
  LET_NEXT()
#define ARGUMENTS(Wires) AWAIT();
#define TILES(name) extern __shared__ __align__(1024) double name[]
#define SHARED(type, name, n) __shared__ type name[n]
#define UNROLL _Pragma("unroll")
#define UNROLL_SOME _Pragma("unroll 4")
#define UNROLL_MANY _Pragma("unroll 32")
#define UNROLL_BY(n) UNROLL_AS(unroll n)
#define UNROLL_AS(text) _Pragma(#text)
#else
#define UNROLL
#define UNROLL_SOME
#define UNROLL_MANY
#define UNROLL_BY(n)
#endif

#define GRID_THREAD ((long)blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_THREADS ((long)gridDim.x * blockDim.x)
#define GRID_TEAM (GRID_THREAD / TEAM)
#define GRID_TEAMS (GRID_THREADS / TEAM)
#define LANE ((int)(threadIdx.x % (unsigned)TEAM))

// The start of a slice. The product may overflow an int.
#define LIMN_SLICE(slice, all) (long)((Bits64)(slice) * (Bits64)(all) / SLICES)

// The beginning of each kernel. A team is a warp, a block, or a single thread if lanes never
// communicate.
#define BEGIN(Wires, team, bytes, shared)                                                          \
  enum { TEAM = team };                                                                            \
  TILES(tiles);                                                                                    \
  ARGUMENTS(Wires)                                                                                 \
  const int stopped = *at.stop;                                                                    \
  Context here = *g;                                                                               \
  if (stopped) return;                                                                             \
  for (int d = 0; d < 8; d++) here.at[d] = at.at[d];                                               \
  const Context *c = &here;                                                                        \
  char *s =                                                                                        \
      (shared) ? (char *)tiles + threadIdx.x / TEAM * (bytes) : g->scratch + GRID_TEAM * (bytes);  \
  (void)c, (void)s;
// A kernel of a fused step: its block is one team.
#define PART(name, Wires, team)                                                                    \
  INLINE void name(const Context *c, char *s, char *arena, char *states, char *slot,               \
                   Wires wires) {                                                                  \
    enum { TEAM = team };                                                                          \
    (void)c, (void)s, (void)arena, (void)states, (void)slot, (void)wires;
// A text whose block has more warps than its team defines its own barrier (LIMN_MEET).
#define BLOCK_SYNC() __syncthreads()
#ifndef LIMN_EMULATED
#define LIMN_MEET(lanes) asm volatile("bar.sync 1, %0;" ::"r"(lanes) : "memory")
#endif
#define TEAM_SYNC()                                                                                \
  do {                                                                                             \
    if (TEAM > 32)                                                                                 \
      BLOCK_SYNC();                                                                                \
    else                                                                                           \
      __syncwarp(0xFFFFFFFFu);                                                                     \
  } while (0)

// Reads the value of another lane, of the same warp or of the same block.
#define EXCHANGES(type)                                                                            \
  INLINE type near_##type(type x, int other) {                                                     \
    return __shfl_sync(0xFFFFFFFFu, x, other & 31, 32);                                            \
  }                                                                                                \
  HELPER const type *shown_##type(type x) {                                                        \
    SHARED(type, all, 1024);                                                                       \
    __syncthreads();                                                                               \
    all[threadIdx.x] = x;                                                                          \
    __syncthreads();                                                                               \
    return all;                                                                                    \
  }                                                                                                \
  INLINE type far_##type(type x, int other) { return shown_##type(x)[other]; }
EXCHANGES(int)
EXCHANGES(long)
EXCHANGES(float)
EXCHANGES(double)
#define near_real LIMN_OF(near_, LIMN_REAL)
#define far_real LIMN_OF(far_, LIMN_REAL)
#define shown_real LIMN_OF(shown_, LIMN_REAL)
// From the array that all lanes have written.
#define seen_int(x, other) all[other]
#define seen_float(x, other) all[other]
#define seen_double(x, other) all[other]
#define seen_real(x, other) all[other]

// Inclusive prefix sum over the lanes of a warp.
INLINE int limn_so_far(int n) {
  const int lane = (int)threadIdx.x % 32;
  UNROLL for (int far = 1; far < 32; far *= 2) {
    const int more = near_int(n, lane - far);
    n += lane >= far ? more : 0;
  }
  return n;
}

// Conversion to bfloat16: the upper half of a float, rounded to nearest.
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
INLINE float limn_widen(unsigned short x) { return float_from_bits((Bits32)x << 16); }

// -- sorting --------------------------------------------------------------------------------------
// The number of the n positions in `run` whose keys are less than x; with `also`, or equal.
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

// Argsort of a row: ascending, NaN last, stable. Runs are merged by all lanes of a block: each
// position finds its rank in the other run by binary search.
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

// -- vectors of four or eight cells ---------------------------------------------------------------
#ifdef LIMN_EMULATED
typedef struct {
  float x, y;
} float2;
typedef struct {
  float x, y, z, w;
} float4;
typedef struct {
  Bits32 x, y;
} uint2;
typedef struct {
  Bits32 x, y, z, w;
} uint4;
// A GPU faults on misaligned vector accesses; emulation checks the same.
#define LIMN_EVEN(at, bytes)                                                                       \
  if ((unsigned long)(at) % (bytes)) __builtin_trap();
#else
#define LIMN_EVEN(at, bytes)
#endif
#ifdef LIMN_EMULATED
#define LIMN_HOLD(x, kind) (void)(x);
#else
#define LIMN_HOLD(x, kind) asm volatile("" : kind(x));
#endif
// Two bfloat16 in a word, the first in the lower half.
INLINE void limn_widen_two(float *to, Bits32 two) {
  to[0] = float_from_bits(two << 16);
  to[1] = float_from_bits(two & 0xFFFF0000u);
}
INLINE Bits32 limn_two(float low, float high) {
#if !defined LIMN_EMULATED && __CUDA_ARCH__ >= 800
  Bits32 two;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
#else
  return (Bits32)limn_narrow(low) | (Bits32)limn_narrow(high) << 16;
#endif
}
// Stores two neighbours; the first has an even index.
INLINE void limn_put_two(float *to, float low, float high) {
  float2 two;
  two.x = low, two.y = high;
  *(float2 *)to = two;
}
INLINE void limn_put_two_narrow(unsigned short *to, float low, float high) {
  *(Bits32 *)to = limn_two(low, high);
}
#define LIMN_FOUR(to, from)                                                                        \
  {                                                                                                \
    LIMN_EVEN(from, 16)                                                                            \
    const float4 four_ = *(const float4 *)(from);                                                  \
    (to)[0] = four_.x, (to)[1] = four_.y, (to)[2] = four_.z, (to)[3] = four_.w;                    \
  }
#define LIMN_EIGHT(to, from)                                                                       \
  {                                                                                                \
    LIMN_FOUR(to, from)                                                                            \
    LIMN_FOUR((to) + 4, (from) + 4)                                                                \
  }
#define LIMN_FOUR_NARROW(to, from)                                                                 \
  {                                                                                                \
    LIMN_EVEN(from, 8)                                                                             \
    const uint2 four_ = *(const uint2 *)(from);                                                    \
    limn_widen_two(to, four_.x), limn_widen_two((to) + 2, four_.y);                                \
  }
#define LIMN_EIGHT_NARROW(to, from)                                                                \
  {                                                                                                \
    LIMN_EVEN(from, 16)                                                                            \
    const uint4 eight_ = *(const uint4 *)(from);                                                   \
    limn_widen_two(to, eight_.x), limn_widen_two((to) + 2, eight_.y);                              \
    limn_widen_two((to) + 4, eight_.z), limn_widen_two((to) + 6, eight_.w);                        \
  }
// Loads words, and converts them.
#define LIMN_TAKE_2(to, from)                                                                      \
  {                                                                                                \
    LIMN_EVEN(from, 8)                                                                             \
    const uint2 two_ = *(const uint2 *)(from);                                                     \
    (to)[0] = two_.x, (to)[1] = two_.y;                                                            \
  }
#define LIMN_TAKE_4(to, from)                                                                      \
  {                                                                                                \
    LIMN_EVEN(from, 16)                                                                            \
    const uint4 four_ = *(const uint4 *)(from);                                                    \
    (to)[0] = four_.x, (to)[1] = four_.y, (to)[2] = four_.z, (to)[3] = four_.w;                    \
  }
#define LIMN_TAKE_8(to, from)                                                                      \
  {                                                                                                \
    LIMN_TAKE_4(to, from)                                                                          \
    LIMN_TAKE_4((to) + 4, (from) + 4)                                                              \
  }
#define LIMN_TAKEN(to, words, n)                                                                   \
  UNROLL for (int word_ = 0; word_ < (n); word_++)(to)[word_] = float_from_bits((words)[word_]);
#define LIMN_TAKEN_NARROW(to, words, n)                                                            \
  UNROLL for (int word_ = 0; word_ < (n); word_++) limn_widen_two(&(to)[2 * word_], (words)[word_]);
#define LIMN_KEPT(words, from, n)                                                                  \
  UNROLL for (int word_ = 0; word_ < (n); word_++)(words)[word_] = float_bits((from)[word_]);
#define LIMN_KEPT_NARROW(words, from, n)                                                           \
  UNROLL for (int word_ = 0; word_ < (n); word_++)(words)[word_] =                                 \
      limn_two((from)[2 * word_], (from)[2 * word_ + 1]);
// passes: a streaming store, for data that will be evicted from the caches before they are read.
#ifdef LIMN_EMULATED
#define LIMN_STORE(T, to, value, passes) *(T *)(to) = value
#else
#define LIMN_STORE(T, to, value, passes)                                                           \
  if (passes)                                                                                      \
    __stcs((T *)(to), value);                                                                      \
  else                                                                                             \
    *(T *)(to) = value
#endif
#define LIMN_PUT_FOUR(to, from, passes)                                                            \
  {                                                                                                \
    LIMN_EVEN(to, 16)                                                                              \
    float4 four_;                                                                                  \
    four_.x = (from)[0], four_.y = (from)[1], four_.z = (from)[2], four_.w = (from)[3];            \
    LIMN_STORE(float4, to, four_, passes);                                                         \
  }
#define LIMN_PUT_EIGHT(to, from, passes)                                                           \
  {                                                                                                \
    LIMN_PUT_FOUR(to, from, passes)                                                                \
    LIMN_PUT_FOUR((to) + 4, (from) + 4, passes)                                                    \
  }
#define LIMN_PUT_FOUR_NARROW(to, from, passes)                                                     \
  {                                                                                                \
    LIMN_EVEN(to, 8)                                                                               \
    uint2 four_;                                                                                   \
    four_.x = limn_two((from)[0], (from)[1]), four_.y = limn_two((from)[2], (from)[3]);            \
    LIMN_STORE(uint2, to, four_, passes);                                                          \
  }
#define LIMN_PUT_EIGHT_NARROW(to, from, passes)                                                    \
  {                                                                                                \
    LIMN_EVEN(to, 16)                                                                              \
    uint4 eight_;                                                                                  \
    eight_.x = limn_two((from)[0], (from)[1]), eight_.y = limn_two((from)[2], (from)[3]);          \
    eight_.z = limn_two((from)[4], (from)[5]), eight_.w = limn_two((from)[6], (from)[7]);          \
    LIMN_STORE(uint4, to, eight_, passes);                                                         \
  }

// -- fast functions -------------------------------------------------------------------------------
// If factors are rounded to eight bits, an exponential with 21 correct bits is as good as one with
// 24, and takes two instructions instead of twenty. Infinities and NaN give the correct results.
#if defined LIMN_BF16 && !defined LIMN_EMULATED
INLINE float limn_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
INLINE float limn_exp(float x) { return limn_exp2(x * float_log2_e); }
INLINE float limn_inverse(float x) { // not for values near 0
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
#define NAME(x) float_##x // in the prelude's polynomials
INLINE float limn_erf(float x) {
  float a = fabsf(x);
  a = a > float_erf_max ? float_erf_max : a;
  const float small = fmaf(a, float_erf_small((a * a)), a),
              large = 1 - limn_exp(float_erf_large(a));
  return copysignf(a < 1 ? small : large, x);
}
#undef NAME
// 1 - 2/(exp(2x) + 1), with an error of 2^-22; near 0, where that leaves few correct bits, x itself
// is used
INLINE float limn_tanh(float x) {
  const float far = fmaf(-2, limn_inverse(limn_exp2(x * (2 * float_log2_e)) + 1), 1);
  return fabsf(x) < 0x1p-7f ? x : far;
}
#define float_exp(x) limn_exp(x)
#define float_tanh(x) limn_tanh(x)
#define float_erf(x) limn_erf(x)
#define float_sigmoid(x) limn_inverse(1 + limn_exp(-(x)))
#endif

// Online softmax: exp(x - top), where the running maximum is at least a bound; and the factor by
// which sums are rescaled when the maximum grows from x to top.
INLINE float limn_top(float a, float b) { // the maximum; NaN, if one of them is
#if !defined LIMN_EMULATED && __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return ((a > b) | (a != a)) ? a : b;
#endif
}
INLINE real limn_exp_of(real x, real top, real bound) {
  const real less = x - (top > bound ? top : bound);
  return op_exp(less);
}
INLINE real limn_exp_fall(real x, real top, real bound) {
  return limn_exp_of(x > bound ? x : bound, top, bound);
}

// -- tensor cores ---------------------------------------------------------------------------------
// One mma instruction: 16 rows of the left factor, 8 columns of the right one, 16 steps of the sum
// in bfloat16 (8 in tf32). Each lane of a warp holds the cells of NVIDIA's fragment layout.
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
#else
// Emulation: all lanes widen rows of the left factor and columns of the right one once, and sum in
// order. Four lanes share two rows of the left factor, by halves, or one column.
#ifdef LIMN_BF16
enum { LIMN_UNIT_STEPS = 16 };
#define limn_unit_widen(to, word) limn_widen_two(to, word)
#else
enum { LIMN_UNIT_STEPS = 8 };
#define limn_unit_widen(to, word) (*(to) = float_from_bits(word))
#endif
HELPER __attribute__((noinline, optimize("O2"))) void limn_unit(float *c, const Bits32 *a,
                                                                const Bits32 *b) {
  enum { STEPS = LIMN_UNIT_STEPS, HALF = STEPS / 2, WORD = STEPS / 8 };
  SHARED(float, left, 1024 / 2 * STEPS);
  SHARED(float, right, 1024 / 4 * STEPS);
  const int lane = (int)threadIdx.x % 32, four = (int)threadIdx.x / 4, own = lane % 4 * WORD;
  for (int i = 0; i < 4; i++)
    limn_unit_widen(&left[(four * 2 + i % 2) * STEPS + i / 2 * HALF + own], a[i]);
  for (int i = 0; i < 2; i++) limn_unit_widen(&right[four * STEPS + i * HALF + own], b[i]);
  __syncwarp(0xFFFFFFFFu);
  const float *row = &left[four * 2 * STEPS],
              *column = &right[((int)threadIdx.x / 32 * 8 + lane % 4 * 2) * STEPS];
  float sum[4] = {c[0], c[1], c[2], c[3]};
  for (int k = 0; k < STEPS; k++)
    for (int s = 0; s < 4; s++) sum[s] += row[s / 2 * STEPS + k] * column[s % 2 * STEPS + k];
  for (int s = 0; s < 4; s++) c[s] = sum[s];
  __syncwarp(0xFFFFFFFFu);
}
#endif
#endif

// -- the beginning and the end of a step ----------------------------------------------------------
// Host memory has a ring buffer with a slot for each queued step. A step copies small data
// (context, clocks, small inputs, row numbers) from its slot, and writes losses back to it.
// `counter` is the number of this step; `done`, which the host polls, the number of finished steps.
// Reading a slot has a high latency, so after writing its losses a step checks whether the next
// slot is filled, and prefetches its small data into `ahead`; the last word there is then the next
// step's number, counted from 1.
// For a data set in device memory, a step gathers rows by their numbers, unless samples were sent.
typedef struct {
  const char *from;
  char *to;
  long bytes; // of one row
  long at;    // offset in a slot; its ints from the fifth on are row numbers
  long most;  // most rows
} LimnTable;
typedef struct {
  const char *ring, *ahead;
  char *here;
  long slot_bytes, slots, bytes, small; // bytes: copied now; small: prefetched
  const long *counter;
  LimnTable table[8];
  int tables, next; // next: read the slot of the next step
} LimnTake;
INLINE const char *limn_next_slot(const LimnTake *w) {
  const long now = *w->counter + w->next;
  const char *far_away = w->ring + now % w->slots * w->slot_bytes;
  return *(const long *)(w->ahead + w->small - 8) == now + 1 ? w->ahead : far_away;
}
INLINE void limn_taken(double *to, const double *from, long bytes) { // by a block
  for (long k = threadIdx.x; k < bytes / 8; k += blockDim.x) to[k] = from[k];
}
INLINE void limn_row(char *to, const char *from, long bytes) { // by a block
  const int four = ((Bits64)to | (Bits64)from | (Bits64)bytes) % 16 == 0;
  for (long k = threadIdx.x; four && k < bytes / 16; k += blockDim.x)
    ((float4 *)to)[k] = ((const float4 *)from)[k];
  for (long k = threadIdx.x; !four && k < bytes; k += blockDim.x) to[k] = from[k];
}
// One block for each row. The slot is read once, because of its latency; a negative number is no
// row.
INLINE void limn_rows(const LimnTable *t, const char *slot) {
  SHARED(int, row, 1);
  for (long r = blockIdx.x; r < t->most; r += gridDim.x) {
    __syncthreads();
    if (threadIdx.x == 0) row[0] = ((const int *)(slot + t->at))[4 + r];
    __syncthreads();
    if (row[0] >= 0) limn_row(t->to + r * t->bytes, t->from + row[0] * t->bytes, t->bytes);
  }
}
typedef struct {
  const double *from[20];
  int at[20], bytes[20]; // offset in a slot
  char *ring, *ahead;
  long slot_bytes, slots, small;
  long *counter, *done;
  int n, last;
} LimnGive;
INLINE void limn_peeked(const LimnGive *w, long next) { // by a block
  const char *slot = w->ring + next % w->slots * w->slot_bytes;
  SHARED(int, filled, 1);
  if (threadIdx.x == 0) filled[0] = *(const volatile long *)(slot + w->small - 8) == next + 1;
  __syncthreads();
  __threadfence_system();
  for (long k = threadIdx.x; filled[0] && k < w->small / 8; k += blockDim.x)
    ((double *)w->ahead)[k] = ((const double *)slot)[k];
}
INLINE void limn_whole(const LimnGive *w) { // publishes the results so far
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

// By one thread: a step whose losses are not finite stops here.
typedef struct {
  const double *loss[30];
  int n;
} LimnLosses;
INLINE void limn_looked(const LimnLosses *w, int *stop) {
  for (int i = 0; i < w->n; i++)
    if (*w->loss[i] - *w->loss[i] != 0) *stop = 1;
}

// By one thread: scalar states are doubles in the code; those that are stored in a row of floats
// are widened before a step and rounded after it.
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

// By some lanes: copies the next value of a state.
INLINE void limn_copied(char *to, const char *from, long bytes, int lanes) {
  for (long k = threadIdx.x; k < bytes; k += lanes) to[k] = from[k];
}

// A fused step: several steps in one launch. The slots are copied at the start, into shared memory
// if they fit; likewise states, which are copied back at the end.
typedef struct {
  char *ring, *arena, *near; // near, arena: if they do not fit in shared memory
  long slot_bytes, slots;
  long first, steps; // first slot, number of steps
  long whole;        // steps that are finished then
  long *done;
  int *stop;
} LimnSteps;
INLINE char *limn_slot(const LimnSteps *w, int step) {
  const int at = (int)w->first + step, slots = (int)w->slots;
  return w->ring + (at < slots ? at : at - slots) * w->slot_bytes;
}
// Unrolled copies: several loads are in flight, since host memory has a high latency.
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
INLINE int limn_not_finite(double x) { return (double_bits(x) >> 52 & 0x7FF) == 0x7FF; }
INLINE void limn_steps_whole(const LimnSteps *w) { // by the thread that writes outputs
  __threadfence_system();
  *(volatile long *)w->done = w->whole;
}

#ifdef LIMN_COMMON // what no program changes is compiled once for all of them
typedef struct {
  struct {
    char *to;
    const char *from;
    long bytes;
  } each[32];
  int n;
} LimnCopy;
KERNEL(limn_copy, LimnCopy, 256) {
  BEGIN(LimnCopy, 1, 0, 1)
  for (int i = 0; i < wires.n; i++)
    for (long k = GRID_THREAD; k < wires.each[i].bytes; k += GRID_THREADS)
      wires.each[i].to[k] = wires.each[i].from[k];
}
KERNEL(limn_take, LimnTake, 256) {
  ARGUMENTS(LimnTake)
  const char *slot = limn_next_slot(&wires);
  if (blockIdx.x == 0) limn_taken((double *)wires.here, (const double *)slot, wires.bytes);
  for (int i = 0; i < wires.tables; i++) limn_rows(&wires.table[i], slot);
}
KERNEL(limn_give, LimnGive, 256) {
  ARGUMENTS(LimnGive)
  const long next = *wires.counter + 1;
  __syncthreads();
  if (threadIdx.x == 0) limn_given(&wires);
  if (threadIdx.x == 0 && wires.last) limn_whole(&wires);
  if (wires.ahead) limn_peeked(&wires, next);
}
// Conversion of weights runs even after a stop.
typedef struct {
  const float *from;
  unsigned short *to;
  long n;
} LimnRound;
KERNEL(limn_round, LimnRound, 256) {
  ARGUMENTS(LimnRound)
  for (long k = GRID_THREAD; k < wires.n; k += GRID_THREADS)
    wires.to[k] = limn_narrow(wires.from[k]);
}
KERNEL(limn_look, LimnLosses, 1) {
  BEGIN(LimnLosses, 1, 0, 1)
  limn_looked(&wires, at.stop);
}
KERNEL(limn_bring, LimnBrought, 1) {
  BEGIN(LimnBrought, 1, 0, 1)
  limn_brought(&wires, wires.back);
}
#endif
