// tiles.h: matrix products, one block for each tile of the result. It follows team.h, and units.h
// under bf16. A program's text instantiates only the kinds of tiles that it uses, by LIMN_PRODUCT
// and LIMN_WIDE (cuda_products.c).
//
// C[m n] = Σ_k A[m k] B[k n], batched. An address is the sum of one term for each group of loops: a
// stride, or a table of offsets if the group is not contiguous.
typedef struct {
  long step;
  const int *at;
} LimnLine;
typedef struct {
  long fixed, per; // length: fixed + per · samples
} LimnLength;
// part: length of k in each part of split-K; partial sums are consecutive in `parts`; with one part
// C is written directly. row: a bias added to each row of C, or NULL. along: the loop over k is
// contiguous. samples: the largest number. narrow: A and B, or C, are bfloat16 in memory. twos:
// pairs of cells of C are contiguous along n.
#define LIMN_PRODUCT_FIELDS                                                                        \
  const char *a, *b;                                                                               \
  char *c;                                                                                         \
  const unsigned short *row;                                                                       \
  LimnLine am, ak, bk, bn, cm, cn, ta, tb, tc;                                                     \
  LimnLength m, n, k, batch;                                                                       \
  long part, parts, samples;                                                                       \
  int along_a, along_b, narrow, narrow_c, twos;
typedef struct {
  LIMN_PRODUCT_FIELDS
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

// The bias of column x.
INLINE real limn_row_cell(const unsigned short *row, long x) {
#ifdef LIMN_BF16
  if (row) return float_from_bits((Bits32)row[x] << 16);
#endif
  return 0;
}

// Stores two neighbours at once.
INLINE void limn_write_two(char *base, long at, float low, float high, int narrow) {
  if (narrow)
    limn_put_two_narrow((unsigned short *)base + at, low, high);
  else
    limn_put_two((float *)base + at, low, high);
}

INLINE long limn_line(LimnLine l, long i) { return l.at ? l.at[i] : i * l.step; }
INLINE long limn_length(LimnLength l, long n) { return l.fixed + l.per * n; }

// Under bf16, factors are rounded to bfloat16, to nearest, as on the CPU; under tf32, to a 10-bit
// mantissa. Tensor cores multiply both, with sums in float.
#ifdef LIMN_BF16
#define limn_factor(x) limn_narrow(x)
#elif defined LIMN_TF32
#ifndef LIMN_EMULATED
INLINE Bits32 limn_factor(float x) {
  Bits32 y;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
  return y;
}
#else
INLINE Bits32 limn_factor(float x) {
  Bits32 bits = float_bits(x);
  return x - x == 0 ? (bits + 0x1000u) & 0xFFFFE000u : x == x ? bits : bits | 0x400000u;
}
#endif
#else
#define limn_factor(x) (x)
#endif

// One block for each tile of C, TILE × TILE cells, EACH × EACH for each thread. While a slice of A
// and B is multiplied, the next one is loaded. Neighbouring threads read along the contiguous loop
// of each operand.
typedef struct {
  long offset; // of the loop over m or n, in cells
  int along;   // position in the slice, along k
  int at;      // cell of the tile in shared memory
  int inside;
} LimnFetch;

// A slice of a tile in shared memory, stored by rows of k. For tensor cores, two bfloat16 that are
// neighbours along k share a word, and the row pitch is 8 words modulo 32, so the 32 lanes that
// read four rows of eight cells access 32 different banks.
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

// A thread's cells of the tile, cell s of EACH × EACH: a square; with tensor cores, the accumulator
// fragments of 16 × 8 cells, EACH / 2 by EACH / 2 for each warp.
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
// Tensor cores take eight rows of words at a time.
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

// Shared by both kinds of products: the lengths of this step, the position of tile q, and storing
// its cells to C or to a partial sum.
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
                 sum[s_] + limn_row_cell(wires.row, x), wires.narrow_c);                           \
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

// Adds the partial sums in order; if there are many, sixteen loads are in flight.
INLINE real limn_sum_of_parts(const real *cell, long parts, long step) {
  enum { COMING = 16 };
  real sum = 0;
  long part = 0;
  for (; part + COMING <= parts; part += COMING) {
    real x[COMING];
    UNROLL for (int k = 0; k < COMING; k++) x[k] = cell[(part + k) * step];
    UNROLL for (int k = 0; k < COMING; k++) sum += x[k];
  }
  UNROLL_SOME
  for (; part < parts; part++) sum += cell[part * step];
  return sum;
}
#ifdef LIMN_GATHERS // one text of the program defines it
KERNEL(limn_gather, LimnProduct, 256) {
  BEGIN(LimnProduct, 1, 0, 1)
  const long m = limn_length(wires.m, c->n), n = limn_length(wires.n, c->n),
             batch = limn_length(wires.batch, c->n), all = m * n * batch;
  for (long q = GRID_THREAD; q < all; q += GRID_THREADS) {
    const long x = q % n, y = q / n % m, t = q / n / m;
    const real sum = limn_sum_of_parts((const real *)c->parts + q, wires.parts, all);
    limn_write(wires.c, limn_line(wires.tc, t) + limn_line(wires.cm, y) + limn_line(wires.cn, x),
               sum + limn_row_cell(wires.row, x), wires.narrow_c);
  }
}
#endif

#ifdef LIMN_BF16
// -- vectorised products --------------------------------------------------------------------------
// Products of operands whose cells are contiguous in groups of eight (see LimnProduct). Each warp
// has ROWS × 16 by COLUMNS × 8 cells of a tile of C, and there are WARPS_M by WARPS_N warps. A
// pipeline of AHEAD slices, of DEEP steps along k each. ALONG_A, ALONG_B: k is the contiguous loop.
// BLOCKS: blocks on a multiprocessor. CUT: split-K. NARROW_C: C is bfloat16. TOGETHER: warpgroup
// instructions of four warps, asynchronous to the next slice; ROWS and WARPS_N are 1.
#define LIMN_WIDE(name, ROWS, COLUMNS, WARPS_M, WARPS_N, DEEP, AHEAD, BLOCKS, TOGETHER, ALONG_A,   \
                  ALONG_B, CUT, NARROW_C)                                                          \
  KERNEL(name, LimnProduct, 32 * WARPS_M * WARPS_N, BLOCKS) {                                      \
    enum {                                                                                         \
      THREADS = 32 * WARPS_M * WARPS_N,                                                            \
      DEPTH = DEEP,                                                                                \
      COMING = AHEAD - 1 - TOGETHER,                                                               \
      TILE_M = 16 * ROWS * WARPS_M,                                                                \
      TILE_N = 8 * COLUMNS * WARPS_N,                                                              \
      SLICE = DEEP / 8 * (TILE_M + TILE_N),                                                        \
      EACH_A = DEEP / 8 * TILE_M / THREADS,                                                        \
      EACH_B = DEEP / 8 * TILE_N / THREADS,                                                        \
      CHUNKS_A = ALONG_A ? DEEP / 8 : TILE_M / 8,                                                  \
      CHUNKS_B = ALONG_B ? DEEP / 8 : TILE_N / 8                                                   \
    };                                                                                             \
    BEGIN(LimnProduct, 32 * WARPS_M * WARPS_N, 0, 1)                                               \
    LIMN_LENGTHS()                                                                                 \
    LimnEight *slices = (LimnEight *)tiles;                                                        \
    const int warp = (int)threadIdx.x / 32, row = warp / WARPS_N * 16 * ROWS,                      \
              column = warp % WARPS_N * 8 * COLUMNS;                                               \
    for (long q = blockIdx.x; q < all; q += gridDim.x) {                                           \
      LIMN_TILE_AT(2)                                                                              \
      float sum[ROWS][COLUMNS][4];                                                                 \
      LIMN_SHARES(sa, EACH_A, a, wires.am, wires.ak, m0, m, CHUNKS_A, ALONG_A)                     \
      LIMN_SHARES(sb, EACH_B, b, wires.bn, wires.bk, n0, n, CHUNKS_B, ALONG_B)                     \
      UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < COLUMNS; j++)               \
          UNROLL for (int s_ = 0; s_ < 4; s_++) sum[i][j][s_] = 0;                                 \
      for (int s_ = 0; s_ < COMING; s_++) {                                                        \
        LIMN_SEND(sa, EACH_A, slices + s_ * SLICE, wires.a, wires.ak, from + DEEP * s_, ALONG_A)   \
        LIMN_SEND(sb, EACH_B, slices + s_ * SLICE + DEEP / 8 * TILE_M, wires.b, wires.bk,          \
                  from + DEEP * s_, ALONG_B)                                                       \
        limn_sent();                                                                               \
      }                                                                                            \
      int stage = 0, free_ = COMING;                                                               \
      for (long k0 = from; k0 < to; k0 += DEEP) {                                                  \
        LIMN_ARRIVED(COMING - 1);                                                                  \
        if (TOGETHER) LIMN_TILE_READY();                                                           \
        __syncthreads();                                                                           \
        LIMN_SEND(sa, EACH_A, slices + free_ * SLICE, wires.a, wires.ak, k0 + DEEP * COMING,       \
                  ALONG_A)                                                                         \
        LIMN_SEND(sb, EACH_B, slices + free_ * SLICE + DEEP / 8 * TILE_M, wires.b, wires.bk,       \
                  k0 + DEEP * COMING, ALONG_B)                                                     \
        limn_sent();                                                                               \
        const LimnEight *ta = slices + stage * SLICE, *tb = ta + DEEP / 8 * TILE_M;                \
        LIMN_MULTIPLY_TILES(ROWS, COLUMNS, DEEP, TOGETHER, ALONG_A, ALONG_B)                       \
        stage = stage + 1 == AHEAD ? 0 : stage + 1;                                                \
        free_ = free_ + 1 == AHEAD ? 0 : free_ + 1;                                                \
      }                                                                                            \
      LIMN_ARRIVED(0);                                                                             \
      if (TOGETHER) {                                                                              \
        LIMN_UNITS_MADE(0);                                                                        \
        limn_held(sum[0], COLUMNS);                                                                \
      }                                                                                            \
      LIMN_TILE_OUT(ROWS, COLUMNS, CUT, NARROW_C)                                                  \
      __syncthreads();                                                                             \
    }                                                                                              \
  }

// A thread's part of each slice, EACH chunks. If k is contiguous, the chunks differ in m or n: each
// has a base address (NULL: out of bounds), and they share the offset along k of the next slice;
// otherwise the other way round.
#define LIMN_SHARES(share, EACH, operand, stays_line, moves_line, first, size, chunks, along)      \
  enum {                                                                                           \
    share##_every = THREADS / (chunks),                                                            \
    share##_far = share##_every * ((chunks) < 8 ? (chunks) : 8)                                    \
  };                                                                                               \
  const int share##_row = (int)threadIdx.x / (chunks),                                             \
            share##_chunk = (int)threadIdx.x % (chunks);                                           \
  const int share##_to = limn_chunk(share##_row, share##_chunk, chunks, DEPTH),                    \
            share##_moves = (along) ? 8 * share##_chunk : share##_row;                             \
  const char *share##_base[(along) ? EACH : 1];                                                    \
  int share##_next[(along) ? 1 : EACH];                                                            \
  UNROLL for (int s_ = 0; s_ < ((along) ? EACH : 1); s_++) {                                       \
    const long stays_ =                                                                            \
        (first) + ((along) ? share##_row + s_ * share##_every : 8 * share##_chunk);                \
    share##_base[s_] =                                                                             \
        stays_ < (size) ? (operand) + 2 * limn_line(stays_line, stays_) : (const char *)0;         \
  }                                                                                                \
  LIMN_NEXT(share, EACH, moves_line, from, along)
// Loads the table entry for the slice after the next one, so that its latency is hidden.
#define LIMN_NEXT(share, EACH, line, k, along)                                                     \
  UNROLL for (int s_1 = 0; s_1 < ((along) ? 1 : EACH); s_1++) {                                    \
    const long k_ = (k) + share##_moves + s_1 * share##_every;                                     \
    share##_next[s_1] = k_ < to ? (int)limn_line(line, k_) : 0;                                    \
  }
#define LIMN_SEND(share, EACH, slice, operand, line, k, along)                                     \
  UNROLL for (int s_2 = 0; s_2 < EACH; s_2++) {                                                    \
    const long k_ = (k) + share##_moves + ((along) ? 0 : s_2 * share##_every);                     \
    const char *base_ = share##_base[(along) ? s_2 : 0];                                           \
    const int inside_ = (base_ != 0) & (k_ < to);                                                  \
    limn_send((slice) + share##_to + share##_far * s_2,                                            \
              inside_ ? base_ + 2L * share##_next[(along) ? 0 : s_2] : (operand), inside_);        \
  }                                                                                                \
  LIMN_NEXT(share, EACH, line, (k) + DEPTH, along)
#ifdef LIMN_EMULATED
LIMN_NEAR float limn_at(const LimnEight *tile, int chunks, int deep, int along, int stays,
                        int moves) {
  LimnSpot s = {along ? stays : moves, (along ? moves : stays) / 8};
  return float_from_bits(limn_cell(tile, chunks, deep, s, (along ? moves : stays) % 8) << 16);
}
// A factor: its tile, and this lane's first row or column of the result.
typedef struct {
  const LimnEight *tile;
  int chunks, deep, along, first;
} LimnSide;
// Eight steps along k for one row or column, stored with stride `far`. If k is contiguous they are
// one chunk.
LIMN_NEAR void limn_eight(float *to, int far, const LimnSide *s, int stays, int moves) {
  if (s->along) {
    const LimnEight *chunk = &s->tile[limn_chunk(stays, moves / 8, s->chunks, s->deep)];
    for (int i = 0; i < 8; i++)
      to[i * far] = float_from_bits(chunk->two[i / 2] >> i % 2 * 16 << 16);
  } else
    for (int i = 0; i < 8; i++)
      to[i * far] = limn_at(s->tile, s->chunks, s->deep, 0, stays, moves + i);
}
// Emulation: the four cells of a group together, each summed in order. Always optimised, because it
// is most of the work of a product.
typedef float LimnCells __attribute__((vector_size(16), aligned(4), may_alias));
HELPER __attribute__((noinline, optimize("O2"))) void
limn_multiply_tiles(float *sum, int rows, int columns, const LimnSide *a, const LimnSide *b) {
  float x[8][8], y[8][32]; // at most 4 × 16 groups
  for (int d = 0; d < a->deep; d += 8) {
    for (int i = 0; i < 2 * rows; i++)
      limn_eight(&x[0][i], 8, a, a->first + i / 2 * 16 + i % 2 * 8, d);
    for (int j = 0; j < 2 * columns; j++)
      limn_eight(&y[0][j], 32, b, b->first + j / 2 * 8 + j % 2, d);
    for (int i = 0; i < rows * columns; i++) {
      LimnCells *to = (LimnCells *)(sum + 4 * i), four = *to;
      const float *u = &x[0][i / columns * 2], *v = &y[0][i % columns * 2];
      for (int k = 0; k < 8; k++, u += 8, v += 32)
        four += (LimnCells){u[0], u[0], u[1], u[1]} * (LimnCells){v[0], v[1], v[0], v[1]};
      *to = four;
    }
  }
}
#define LIMN_MULTIPLY_TILES(ROWS, COLUMNS, DEEP, TOGETHER, ALONG_A, ALONG_B)                       \
  {                                                                                                \
    const LimnSide a_ = {ta, CHUNKS_A, DEEP, ALONG_A, row + (int)threadIdx.x % 32 / 4};            \
    const LimnSide b_ = {tb, CHUNKS_B, DEEP, ALONG_B, column + (int)threadIdx.x % 4 * 2};          \
    limn_multiply_tiles(sum[0][0], ROWS, COLUMNS, &a_, &b_);                                       \
  }
#else
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// The 64 rows of A are rows of its tile, or eight chunks of each row.
#define LIMN_TILES_TOGETHER(COLUMNS, DEEP, ALONG_A, ALONG_B)                                       \
  LIMN_UNITS_BEGIN();                                                                              \
  limn_tiles<!(ALONG_A), !(ALONG_B), DEEP>(                                                        \
      sum[0], ta + (int)threadIdx.x / 128 * ((ALONG_A) ? 64 : DEEP) * 8, tb, 8 * COLUMNS);         \
  LIMN_UNITS_SENT();                                                                               \
  LIMN_UNITS_MADE(1);
#else
#define LIMN_TILES_TOGETHER(COLUMNS, DEEP, ALONG_A, ALONG_B)
#endif
#define LIMN_MULTIPLY_TILES(ROWS, COLUMNS, DEEP, TOGETHER, ALONG_A, ALONG_B)                       \
  if (TOGETHER) {                                                                                  \
    LIMN_TILES_TOGETHER(COLUMNS, DEEP, ALONG_A, ALONG_B)                                           \
  } else                                                                                           \
    UNROLL for (int d = 0; d < DEEP; d += 16) {                                                    \
      Bits32 x[ROWS][4], y[COLUMNS / 2][4];                                                        \
      UNROLL for (int i = 0; i < ROWS; i++) {                                                      \
        const int r_ = row + 16 * i;                                                               \
        limn_pieces(x[i], ta, CHUNKS_A, DEEP, limn_from(ALONG_A ? r_ : d, (ALONG_A ? d : r_) / 8), \
                    1, ALONG_A);                                                                   \
      }                                                                                            \
      UNROLL for (int j = 0; j < COLUMNS / 2; j++) {                                               \
        const int c_ = column + 16 * j;                                                            \
        limn_pieces(y[j], tb, CHUNKS_B, DEEP, limn_from(ALONG_B ? c_ : d, (ALONG_B ? d : c_) / 8), \
                    0, ALONG_B);                                                                   \
      }                                                                                            \
      UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < COLUMNS; j++)               \
          limn_unit(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);                                        \
    }
#endif
// Stores rows of cells to C or to a partial sum; all rows have the same column offsets. A lane's
// cells are pairs of neighbours, and stored as pairs if C's are contiguous.
#define LIMN_TILE_ROWS(ROWS, COLUMNS, CUT, ...)                                                    \
  UNROLL for (int i = 0; i < 2 * ROWS; i++) {                                                      \
    const long y = m0 + row + i / 2 * 16 + i % 2 * 8 + (int)threadIdx.x % 32 / 4;                  \
    if (y >= m) continue;                                                                          \
    const long at_y = first + ((CUT) ? y * n : limn_line(wires.cm, y));                            \
    UNROLL for (int j = 0; j < COLUMNS; j++) {                                                     \
      const long x = n0 + column + j * 8 + (int)threadIdx.x % 4 * 2;                               \
      const float *two = &sum[i / 2][j][i % 2 * 2];                                                \
      if (x < n) __VA_ARGS__                                                                       \
    }                                                                                              \
  }
#define LIMN_ADD_ROW(ROWS, COLUMNS)                                                                \
  UNROLL for (int j = 0; j < 2 * COLUMNS; j++) {                                                   \
    const long x = n0 + column + j / 2 * 8 + (int)threadIdx.x % 4 * 2 + j % 2;                     \
    const float more = x < n ? limn_row_cell(wires.row, x) : 0;                                    \
    UNROLL for (int i = 0; i < 2 * ROWS; i++) sum[i / 2][j / 2][i % 2 * 2 + j % 2] += more;        \
  }
#define LIMN_TILE_OUT(ROWS, COLUMNS, CUT, NARROW_C)                                                \
  {                                                                                                \
    if (!(CUT) && wires.row) LIMN_ADD_ROW(ROWS, COLUMNS)                                           \
    enum { NARROW_OUT = (NARROW_C) && !(CUT) };                                                    \
    char *out = (CUT) ? c->parts : wires.c;                                                        \
    const long first = (CUT) ? (part * batch + t) * m * n : limn_line(wires.tc, t);                \
    long at_x[COLUMNS];                                                                            \
    UNROLL for (int j = 0; j < COLUMNS; j++) {                                                     \
      const long x = n0 + column + j * 8 + (int)threadIdx.x % 4 * 2;                               \
      at_x[j] = (CUT) || x >= n ? x : limn_line(wires.cn, x);                                      \
    }                                                                                              \
    if (wires.twos)                                                                                \
      LIMN_TILE_ROWS(ROWS, COLUMNS, CUT,                                                           \
                     limn_write_two(out, at_y + at_x[j], two[0], two[1], NARROW_OUT);)             \
    else                                                                                           \
      LIMN_TILE_ROWS(ROWS, COLUMNS, CUT, {                                                         \
        limn_write(out, at_y + at_x[j], two[0], NARROW_OUT);                                       \
        if (x + 1 < n)                                                                             \
          limn_write(out, at_y + ((CUT) ? x + 1 : limn_line(wires.cn, x + 1)), two[1],             \
                     NARROW_OUT);                                                                  \
      })                                                                                           \
  }
#endif
