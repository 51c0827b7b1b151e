// units.h: tiles of bfloat16 for the matrix units; it stands behind team.h in CUDA text of that precision.
//
// A tile is rows of chunks, of eight cells each, in shared memory. Chunks are sent from memory while others
// are multiplied. A tile's rows are either one of the loops that stay, with chunks along the sum, or
// the sum's own, with chunks along a loop that stays: the units take both, so nothing is turned on its way.
#ifdef LIMN_EMULATED
#define LIMN_ALIGNED __attribute__((aligned(16)))
#define LIMN_ALIGNED_TWO __attribute__((aligned(8)))
#else
#define LIMN_ALIGNED __align__(16)
#define LIMN_ALIGNED_TWO __align__(8)
#endif
typedef struct LIMN_ALIGNED {
  Bits32 two[4];
} LimnEight;

// Where a chunk lies: mixed, so that the chunks of eight rows below each other are in all banks.
INLINE int limn_chunk(int row, int chunk, int chunks) {
  return row * chunks + (chunk ^ (chunks >= 8 ? row & 7 : row >> 1 & 3));
}

// -- on their way ---------------------------------------------------------------------------------
// limn_send: one chunk, or zeros. limn_sent: what was sent since the last time is one bundle.
// LIMN_ARRIVED: all bundles are there but the last n.
#ifdef LIMN_EMULATED
INLINE void limn_send(LimnEight *to, const char *from, int inside) {
  LimnEight none = {{0, 0, 0, 0}};
  LIMN_EVEN(from, 16)
  *to = inside ? *(const LimnEight *)from : none;
}
#define limn_sent()
#define LIMN_ARRIVED(n)
#else
INLINE unsigned limn_shared(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
INLINE void limn_send(LimnEight *to, const char *from, int inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(limn_shared(to)), "l"(from),
               "r"(inside ? 16 : 0)
               : "memory");
}
INLINE void limn_sent(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define LIMN_ARRIVED(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#endif

// -- out of a tile --------------------------------------------------------------------------------
// What the units take at once is four pieces of 8 × 8 cells. `first` pieces: 16 of the loop that stays by 16
// of the sum, as the left factor; second: two times 8 of the loop that stays, as the right one. Lane l
// says where one row of piece l / 8 lies; `rows_stay`: rows of the tile are the loop that stays.
typedef struct {
  int row, chunk;
} LimnSpot;
INLINE LimnSpot limn_spot(int lane, int first, int rows_stay) {
  LimnSpot s;
  if (first == rows_stay) {
    s.row = lane % 16;
    s.chunk = lane / 16;
  } else {
    s.row = lane % 8 + lane / 16 * 8;
    s.chunk = lane / 8 % 2;
  }
  return s;
}

#ifdef LIMN_EMULATED
INLINE Bits32 limn_cell(const LimnEight *tile, int chunks, LimnSpot s, int cell) {
  return tile[limn_chunk(s.row, s.chunk, chunks)].two[cell / 2] >> cell % 2 * 16 & 0xFFFF;
}
INLINE void limn_pieces(Bits32 *to, const LimnEight *tile, int chunks, int row, int chunk,
                        int first, int rows_stay) {
  const int lane = (int)threadIdx.x % 32, along = lane % 4 * 2, across = lane / 4;
  for (int i = 0; i < 4; i++) {
    Bits32 two[2];
    for (int j = 0; j < 2; j++) {
      LimnSpot s = limn_spot(8 * i + (rows_stay ? across : along + j), first, rows_stay);
      s.row += row, s.chunk += chunk;
      two[j] = limn_cell(tile, chunks, s, rows_stay ? along + j : across);
    }
    to[i] = two[0] | two[1] << 16;
  }
}
#else
INLINE void limn_pieces(Bits32 *to, const LimnEight *tile, int chunks, int row, int chunk,
                        int first, int rows_stay) {
  const LimnSpot s = limn_spot((int)(threadIdx.x % 32), first, rows_stay);
  const unsigned at = limn_shared(&tile[limn_chunk(row + s.row, chunk + s.chunk, chunks)]);
  if (rows_stay)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at));
}
#endif

// -- pairs ----------------------------------------------------------------------------------------
// A warp has 16 rows of numbers for pairs, and works on 32 or 64 columns at a time: groups of 16 × 8, of which a lane has
// four cells each: two neighbours in row lane / 4, and two in the row eight below.
INLINE void limn_clear(float (*x)[4], int groups) {
  UNROLL for (int i = 0; i < groups; i++) UNROLL for (int s = 0; s < 4; s++) x[i][s] = 0;
}

// The larger of two, of which x may be no number: then y.
INLINE float limn_larger(float x, float y) {
#ifdef LIMN_EMULATED
  return x > y ? x : y;
#else
  return fmaxf(x, y);
#endif
}

// Row h of what a lane has is made smaller.
INLINE void limn_shrink(float (*x)[4], int groups, int h, float by) {
  UNROLL for (int i = 0; i < groups; i++) UNROLL for (int s = 0; s < 2; s++) x[i][2 * h + s] *= by;
}

// exp where factors of the units are made, which are rounded to bfloat16: 2^-22 of it is nothing there. The device's
// own knows what is infinite, and what is no number.
INLINE float limn_quick_exp(float x) {
#ifdef LIMN_EMULATED
  return float_exp(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
#endif
}

// exp(x - y), where y is the same for many x: what is made of y is made once, and is finite where y is, since x may
// be -inf.
INLINE float limn_quick_exp_less(float x, float y) {
#ifdef LIMN_EMULATED
  return float_exp(x - y);
#else
  const float log2_e = 1.44269504f, low = -3.40282347e38f, all = y * log2_e;
  float z;
  asm("ex2.approx.ftz.f32 %0, %1;"
      : "=f"(z)
      : "f"(float_fused(x, log2_e, -(y >= low && all < low ? low : all))));
  return z;
#endif
}

// What the units take of 16 rows of a left factor, from memory; `row` is this lane's.
INLINE void limn_left(Bits32 (*to)[4], const char *base, long step, int row, int rows, int steps) {
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int s = 0; s < 4; s++) {
    const int r = row + s % 2 * 8, at = 16 * i + (int)threadIdx.x % 4 * 2 + s / 2 * 8;
    to[i][s] = r < rows ? *(const Bits32 *)(base + 2 * (r * step + at)) : 0;
  }
}

// Numbers of two neighbouring columns, which are read at once.
typedef struct LIMN_ALIGNED_TWO {
  real at[2];
} LimnTwo_real;
typedef struct LIMN_ALIGNED_TWO {
  int at[2];
} LimnTwo_int;

// 64 rows of a right factor, by all threads of a block; rows: how many there are, or 0 where all lie inside.
INLINE void limn_send_rows(LimnEight *tile, const char *base, long step, int first, int rows,
                           int chunks) {
  for (unsigned x = threadIdx.x; x < 64u * chunks; x += blockDim.x) {
    const int r = (int)(x / chunks), c = (int)(x % chunks), inside = !rows || first + r < rows;
    limn_send(tile + limn_chunk(r, c, chunks), base + 2 * (inside ? (first + r) * step + 8 * c : 0),
              inside);
  }
}

// pairs += left · tileᵀ, for so many rows of the tile
INLINE void limn_pairs(float (*pairs)[4], Bits32 (*left)[4], const LimnEight *tile, int rows,
                       int steps, int chunks) {
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int j = 0; j < rows / 16; j++) {
    Bits32 right[4];
    limn_pieces(right, tile, chunks, 16 * j, 2 * i, 0, 1);
    limn_unit(pairs[2 * j], left[i], right);
    limn_unit(pairs[2 * j + 1], left[i], right + 2);
  }
}

// sum += weights · tile, over so many rows of the tile: weights of two groups are one left factor, as they are.
INLINE Bits32 limn_two(float low, float high) {
#if !defined LIMN_EMULATED && __CUDA_ARCH__ >= 800
  Bits32 two;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
#else
  return (Bits32)limn_narrow(low) | (Bits32)limn_narrow(high) << 16;
#endif
}
// Two neighbours of a result, which begin at an even cell.
INLINE void limn_put_two(float *to, float low, float high) {
  LimnTwo_real two;
  two.at[0] = low;
  two.at[1] = high;
  *(LimnTwo_real *)to = two;
}
INLINE void limn_put_two_narrow(unsigned short *to, float low, float high) {
  *(Bits32 *)to = limn_two(low, high);
}
INLINE void limn_weigh(float (*sum)[4], float (*weight)[4], const LimnEight *tile, int rows,
                       int chunks) {
  UNROLL for (int i = 0; i < rows / 16; i++) {
    const Bits32 left[4] = {limn_two(weight[2 * i][0], weight[2 * i][1]),
                            limn_two(weight[2 * i][2], weight[2 * i][3]),
                            limn_two(weight[2 * i + 1][0], weight[2 * i + 1][1]),
                            limn_two(weight[2 * i + 1][2], weight[2 * i + 1][3])};
    UNROLL for (int j = 0; j < chunks / 2; j++) {
      Bits32 right[4];
      limn_pieces(right, tile, chunks, 16 * i, 2 * j, 0, 0);
      limn_unit(sum[2 * j], left, right);
      limn_unit(sum[2 * j + 1], left, right + 2);
    }
  }
}

#ifdef LIMN_COMMON
// -- products -------------------------------------------------------------------------------------
// Products of operands whose cells lie eight by eight along memory (as LimnProduct has them). Of a tile of C a
// warp has ROWS × 16 by COLUMNS × 8 cells, and there are two by four warps. AHEAD slices of 32
// steps of the sum are on their way or being multiplied.
#define LIMN_WIDE(name, ROWS, COLUMNS, AHEAD)                                                      \
  KERNEL(name, LimnProduct, 256, 2) {                                                              \
    enum {                                                                                         \
      TILE_M = 32 * ROWS,                                                                          \
      TILE_N = 32 * COLUMNS,                                                                       \
      SLICE = 4 * (TILE_M + TILE_N),                                                               \
      EACH_A = ROWS / 2,                                                                           \
      EACH_B = COLUMNS / 2                                                                         \
    };                                                                                             \
    BEGIN(LimnProduct, 256, 0, 1)                                                                  \
    LIMN_LENGTHS()                                                                                 \
    LimnEight *slices = (LimnEight *)tiles;                                                        \
    const int chunks_a = wires.along_a ? 4 : TILE_M / 8,                                           \
              chunks_b = wires.along_b ? 4 : TILE_N / 8;                                           \
    const int warp = (int)threadIdx.x / 32, row = warp / 4 * 16 * ROWS,                            \
              column = warp % 4 * 8 * COLUMNS;                                                     \
    for (long q = blockIdx.x; q < all; q += gridDim.x) {                                           \
      LIMN_TILE_AT(2)                                                                              \
      LimnShare sa[EACH_A], sb[EACH_B];                                                            \
      float sum[ROWS][COLUMNS][4];                                                                 \
      LIMN_SHARES(sa, EACH_A, a, wires.am, wires.ak, m0, m, chunks_a, wires.along_a)               \
      LIMN_SHARES(sb, EACH_B, b, wires.bn, wires.bk, n0, n, chunks_b, wires.along_b)               \
      UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < COLUMNS; j++)               \
          UNROLL for (int s_ = 0; s_ < 4; s_++) sum[i][j][s_] = 0;                                 \
      for (int s_ = 0; s_ < AHEAD - 1; s_++) {                                                     \
        LIMN_SEND(sa, EACH_A, slices + s_ * SLICE, wires.ak, from + 32 * s_)                       \
        LIMN_SEND(sb, EACH_B, slices + s_ * SLICE + 4 * TILE_M, wires.bk, from + 32 * s_)          \
        limn_sent();                                                                               \
      }                                                                                            \
      int stage = 0;                                                                               \
      for (long k0 = from; k0 < to; k0 += 32) {                                                    \
        LIMN_ARRIVED(AHEAD - 2);                                                                   \
        __syncthreads();                                                                           \
        const int free_ = stage ? stage - 1 : AHEAD - 1;                                           \
        LIMN_SEND(sa, EACH_A, slices + free_ * SLICE, wires.ak, k0 + 32 * (AHEAD - 1))             \
        LIMN_SEND(sb, EACH_B, slices + free_ * SLICE + 4 * TILE_M, wires.bk,                       \
                  k0 + 32 * (AHEAD - 1))                                                           \
        limn_sent();                                                                               \
        const LimnEight *ta = slices + stage * SLICE, *tb = ta + 4 * TILE_M;                       \
        LIMN_MULTIPLY_TILES(ROWS, COLUMNS)                                                         \
        stage = stage + 1 == AHEAD ? 0 : stage + 1;                                                \
      }                                                                                            \
      LIMN_ARRIVED(0);                                                                             \
      LIMN_TILE_OUT(ROWS, COLUMNS)                                                                 \
      __syncthreads();                                                                             \
    }                                                                                              \
  }

// A thread's share of each slice: chunks, by where they are to lie and where they begin. `offset` is that of
// the loop that stays, `next` what the sum's loop adds in the slice that is sent next.
typedef struct {
  const char *base;
  long next;
  short to, moves;
  int inside;
} LimnShare;
#define LIMN_SHARES(share, EACH, operand, stays_line, moves_line, first, size, chunks, along)      \
  for (int s_ = 0; s_ < EACH; s_++) {                                                              \
    const int x_ = (int)threadIdx.x + 256 * s_, r_ = x_ / (chunks), c_ = x_ % (chunks);            \
    const long stays_ = (first) + ((along) ? r_ : 8 * c_);                                         \
    share[s_].inside = stays_ < (size);                                                            \
    share[s_].base = (operand) + 2 * (share[s_].inside ? limn_line(stays_line, stays_) : 0);       \
    share[s_].to = (short)limn_chunk(r_, c_, chunks);                                              \
    share[s_].moves = (short)((along) ? 8 * c_ : r_);                                              \
    share[s_].next =                                                                               \
        from + share[s_].moves < to ? limn_line(moves_line, from + share[s_].moves) : 0;           \
  }
// What the line of the following slice says is asked for now, and used then.
#define LIMN_SEND(share, EACH, slice, line, k)                                                     \
  for (int s_2 = 0; s_2 < EACH; s_2++) {                                                           \
    const long k_ = (k) + share[s_2].moves;                                                        \
    limn_send((slice) + share[s_2].to, share[s_2].base + 2 * share[s_2].next,                      \
              share[s_2].inside && k_ < to);                                                       \
    share[s_2].next = k_ + 32 < to ? limn_line(line, k_ + 32) : 0;                                 \
  }
#ifdef LIMN_EMULATED
INLINE float limn_at(const LimnEight *tile, int chunks, int along, int stays, int moves) {
  LimnSpot s = {along ? stays : moves, (along ? moves : stays) / 8};
  return float_from_bits(limn_cell(tile, chunks, s, (along ? moves : stays) % 8) << 16);
}
#define LIMN_MULTIPLY_TILES(ROWS, COLUMNS)                                                         \
  for (int d = 0; d < 32; d++)                                                                     \
    for (int i = 0; i < ROWS; i++)                                                                 \
      for (int j = 0; j < COLUMNS; j++)                                                            \
        for (int s_ = 0; s_ < 4; s_++)                                                             \
          sum[i][j][s_] += limn_at(ta, chunks_a, wires.along_a,                                    \
                                   row + i * 16 + (int)threadIdx.x % 32 / 4 + s_ / 2 * 8, d) *     \
                           limn_at(tb, chunks_b, wires.along_b,                                    \
                                   column + j * 8 + (int)threadIdx.x % 4 * 2 + s_ % 2, d);
#else
#define LIMN_MULTIPLY_TILES(ROWS, COLUMNS)                                                         \
  UNROLL for (int d = 0; d < 32; d += 16) {                                                        \
    Bits32 x[ROWS][4], y[COLUMNS / 2][4];                                                          \
    UNROLL for (int i = 0; i < ROWS; i++) {                                                        \
      const int r_ = row + 16 * i;                                                                 \
      if (wires.along_a)                                                                           \
        limn_pieces(x[i], ta, 4, r_, d / 8, 1, 1);                                                 \
      else                                                                                         \
        limn_pieces(x[i], ta, TILE_M / 8, d, r_ / 8, 1, 0);                                        \
    }                                                                                              \
    UNROLL for (int j = 0; j < COLUMNS / 2; j++) {                                                 \
      const int c_ = column + 16 * j;                                                              \
      if (wires.along_b)                                                                           \
        limn_pieces(y[j], tb, 4, c_, d / 8, 0, 1);                                                 \
      else                                                                                         \
        limn_pieces(y[j], tb, TILE_N / 8, d, c_ / 8, 0, 0);                                        \
    }                                                                                              \
    UNROLL for (int i = 0; i < ROWS; i++) UNROLL for (int j = 0; j < COLUMNS; j++)                 \
        limn_unit(sum[i][j], x[i], &y[j / 2][j % 2 * 2]);                                          \
  }
#endif
#define LIMN_TILE_OUT(ROWS, COLUMNS)                                                               \
  UNROLL for (int i = 0; i < 2 * ROWS; i++) {                                                      \
    const long y = m0 + row + i / 2 * 16 + i % 2 * 8 + (int)threadIdx.x % 32 / 4;                  \
    if (y >= m) continue;                                                                          \
    const long at_y = wires.parts > 1 ? ((part * batch + t) * m + y) * n                           \
                                      : limn_line(wires.tc, t) + limn_line(wires.cm, y);           \
    UNROLL for (int j = 0; j < 2 * COLUMNS; j++) {                                                 \
      const long x = n0 + column + j / 2 * 8 + (int)threadIdx.x % 4 * 2 + j % 2;                   \
      const float cell = sum[i / 2][j / 2][i % 2 * 2 + j % 2];                                     \
      if (x >= n) continue;                                                                        \
      if (wires.parts > 1)                                                                         \
        ((float *)c->parts)[at_y + x] = cell;                                                      \
      else                                                                                         \
        limn_write(wires.c, at_y + limn_line(wires.cn, x), cell, wires.narrow_c);                  \
    }                                                                                              \
  }
LIMN_WIDE(limn_wide_large, 4, 4, 4)
LIMN_WIDE(limn_wide_long, 4, 2, 4)
LIMN_WIDE(limn_wide_small, 2, 2, 4)
#endif
