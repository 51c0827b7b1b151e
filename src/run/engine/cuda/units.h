// units.h: tiles of bfloat16 for the matrix units; it stands behind team.h in CUDA text of that precision.
//
// A tile is rows of chunks, of eight cells each, in shared memory. Chunks are sent from memory while others
// are multiplied. A tile's rows are either one of the loops that stay, with chunks along the sum, or
// the sum's own, with chunks along a loop that stays: the units take both, so nothing is turned on its way.
#ifdef LIMN_EMULATED
#define LIMN_ALIGNED __attribute__((aligned(16)))
#else
#define LIMN_ALIGNED __align__(16)
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
  const LimnSpot s = limn_spot((int)threadIdx.x % 32, first, rows_stay);
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
// A warp has 16 rows of numbers for pairs, and works on 32 columns at a time: four groups of 16 × 8, of which a lane has
// four cells each: two neighbours in row lane / 4, and two in the row eight below.
INLINE void limn_clear(float (*x)[4], int groups) {
  UNROLL for (int i = 0; i < groups; i++) UNROLL for (int s = 0; s < 4; s++) x[i][s] = 0;
}

// What the units take of 16 rows of a left factor, from memory; `row` is this lane's.
INLINE void limn_left(Bits32 (*to)[4], const char *base, long step, long row, long rows,
                      int steps) {
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int s = 0; s < 4; s++) {
    const long r = row + s % 2 * 8, at = 16 * i + (long)threadIdx.x % 4 * 2 + s / 2 * 8;
    to[i][s] = r < rows ? *(const Bits32 *)(base + 2 * (r * step + at)) : 0;
  }
}

// 64 rows of a right factor, by all threads of a block.
INLINE void limn_send_rows(LimnEight *tile, const char *base, long step, long first, long rows,
                           int chunks) {
  for (int x = (int)threadIdx.x; x < 64 * chunks; x += (int)blockDim.x) {
    const int r = x / chunks, c = x % chunks, inside = first + r < rows;
    limn_send(tile + limn_chunk(r, c, chunks), base + 2 * (inside ? (first + r) * step + 8 * c : 0),
              inside);
  }
}

// pairs += left · tileᵀ, for 32 rows of the tile
INLINE void limn_pairs(float (*pairs)[4], Bits32 (*left)[4], const LimnEight *tile, int steps,
                       int chunks) {
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int j = 0; j < 2; j++) {
    Bits32 right[4];
    limn_pieces(right, tile, chunks, 16 * j, 2 * i, 0, 1);
    limn_unit(pairs[2 * j], left[i], right);
    limn_unit(pairs[2 * j + 1], left[i], right + 2);
  }
}

// sum += weights · tile, over 32 rows of the tile: weights of two groups are one left factor, as they are.
INLINE Bits32 limn_two(float low, float high) {
#if !defined LIMN_EMULATED && __CUDA_ARCH__ >= 800
  Bits32 two;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(two) : "f"(high), "f"(low));
  return two;
#else
  return (Bits32)limn_narrow(low) | (Bits32)limn_narrow(high) << 16;
#endif
}
INLINE void limn_weigh(float (*sum)[4], float (*weight)[4], const LimnEight *tile, int chunks) {
  UNROLL for (int i = 0; i < 2; i++) {
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
