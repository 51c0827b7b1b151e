// units.h: tiles of bfloat16 for tensor cores. It follows team.h in CUDA text of that precision.
//
// A tile in shared memory has rows of chunks, and a chunk has eight cells. Chunks are copied
// asynchronously while others are multiplied. The rows of a tile are either m or n, with chunks
// along k, or k, with chunks along m or n: ldmatrix and wgmma read both, so nothing is transposed.
#ifdef LIMN_EMULATED
#define LIMN_ALIGNED __attribute__((aligned(16)))
#define LIMN_ALIGNED_TWO __attribute__((aligned(8)))
// Emulated products spend most time on addresses of cells: these are always inlined.
#define LIMN_NEAR static inline __attribute__((__always_inline__, unused))
#else
#define LIMN_NEAR INLINE
#define LIMN_ALIGNED __align__(16)
#define LIMN_ALIGNED_TWO __align__(8)
#endif
typedef struct LIMN_ALIGNED {
  Bits32 two[4];
} LimnEight;

// The position of a chunk, swizzled so that the chunks of eight consecutive rows are in different
// banks. Longer rows are stored as panels of eight chunks, each with all rows of the tile.
LIMN_NEAR int limn_chunk(int row, int chunk, int chunks, int rows) {
  return chunks < 8 ? row * chunks + (chunk ^ (row >> 1 & 3))
                    : (chunk / 8 * rows + row) * 8 + ((chunk ^ row) & 7);
}

// -- asynchronous copies --------------------------------------------------------------------------
// limn_send: copies one chunk, or zeros. limn_sent: commits a group of copies. LIMN_ARRIVED: waits
// for all groups but the last n.
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

// -- fragments ------------------------------------------------------------------------------------
// One ldmatrix loads four pieces of 8 × 8 cells. `first`: the left factor, 16 rows (m) by 16 steps
// of k; otherwise the right factor, two groups of 8 columns (n). Lane l gives the address of one
// row of piece l / 8. `rows_stay`: the rows of the tile are m or n.
typedef struct {
  int row, chunk;
} LimnSpot;
INLINE LimnSpot limn_from(int row, int chunk) {
  const LimnSpot s = {row, chunk};
  return s;
}
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
LIMN_NEAR Bits32 limn_cell(const LimnEight *tile, int chunks, int rows, LimnSpot s, int cell) {
  return tile[limn_chunk(s.row, s.chunk, chunks, rows)].two[cell / 2] >> cell % 2 * 16 & 0xFFFF;
}
INLINE void limn_pieces(Bits32 *to, const LimnEight *tile, int chunks, int rows, LimnSpot from,
                        int first, int rows_stay) {
  const int lane = (int)threadIdx.x % 32, along = lane % 4 * 2, across = lane / 4;
  for (int i = 0; i < 4; i++) {
    Bits32 two[2];
    for (int j = 0; j < 2; j++) {
      LimnSpot s = limn_spot(8 * i + (rows_stay ? across : along + j), first, rows_stay);
      s.row += from.row, s.chunk += from.chunk;
      two[j] = limn_cell(tile, chunks, rows, s, rows_stay ? along + j : across);
    }
    to[i] = two[0] | two[1] << 16;
  }
}
#else
INLINE void limn_pieces(Bits32 *to, const LimnEight *tile, int chunks, int rows, LimnSpot from,
                        int first, int rows_stay) {
  const LimnSpot s = limn_spot((int)(threadIdx.x % 32), first, rows_stay);
  const unsigned at =
      limn_shared(&tile[limn_chunk(from.row + s.row, from.chunk + s.chunk, chunks, rows)]);
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

// -- scores ---------------------------------------------------------------------------------------
// A warp has 16 rows of scores, and computes 32 or 64 columns at a time: groups of 16 × 8 cells in
// the accumulator layout, four cells for each lane: two neighbours in row lane / 4, and two in row
// lane / 4 + 8.
INLINE void limn_clear(float (*x)[4], int groups) {
  UNROLL for (int i = 0; i < groups; i++) UNROLL for (int s = 0; s < 4; s++) x[i][s] = 0;
}

// The maximum; y if x is NaN.
INLINE float limn_larger(float x, float y) {
#ifdef LIMN_EMULATED
  return x > y ? x : y;
#else
  return fmaxf(x, y);
#endif
}

// Scales row h of a lane's cells.
INLINE void limn_shrink(float (*x)[4], int groups, int h, float by) {
  UNROLL for (int i = 0; i < groups; i++) UNROLL for (int s = 0; s < 2; s++) x[i][2 * h + s] *= by;
}

// exp(x - y), for many x with the same y: what depends on y alone is computed once, and is finite
// if y is, since x may be -inf.
INLINE float limn_exp_less(float x, float y) {
#ifdef LIMN_EMULATED
  return float_exp(x - y);
#else
  const float log2_e = float_log2_e, low = -3.40282347e38f, all = y * log2_e;
  float z;
  asm("ex2.approx.ftz.f32 %0, %1;"
      : "=f"(z)
      : "f"(float_fused(x, log2_e, -(y >= low && all < low ? low : all))));
  return z;
#endif
}

// Loads the fragments of 16 rows of a left factor from memory; `row` is this lane's.
INLINE void limn_left(Bits32 (*to)[4], const char *base, long step, int row, int rows, int steps) {
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int s = 0; s < 4; s++) {
    const int r = row + s % 2 * 8, at = 16 * i + (int)threadIdx.x % 4 * 2 + s / 2 * 8;
    to[i][s] = r < rows ? *(const Bits32 *)(base + 2 * (r * step + at)) : 0;
  }
}

// Values of two neighbouring columns, loaded together.
typedef struct LIMN_ALIGNED_TWO {
  real at[2];
} LimnTwo_real;
typedef struct LIMN_ALIGNED_TWO {
  int at[2];
} LimnTwo_int;

enum { LIMN_TILE_ROWS = 64 };
// Copies rows of a right factor, by all threads of a block. rows: their number; 0: all are in
// bounds.
INLINE void limn_send_rows(LimnEight *tile, const char *base, long step, int first, int rows,
                           int chunks) {
  for (unsigned x = threadIdx.x; x < (unsigned)(LIMN_TILE_ROWS * chunks); x += blockDim.x) {
    const int r = (int)(x / chunks), c = (int)(x % chunks), inside = !rows || first + r < rows;
    limn_send(tile + limn_chunk(r, c, chunks, LIMN_TILE_ROWS),
              base + 2 * (inside ? (first + r) * step + 8 * c : 0), inside);
  }
}

// -- warpgroups -----------------------------------------------------------------------------------
// On Hopper, wgmma lets four warps with 64 rows multiply by a tile directly in shared memory. The
// fragments of the left factor and of the result are those of mma. wgmma runs asynchronously.
// LIMN_TILE_READY: makes this thread's copies visible to it. LIMN_UNITS_SENT: commits a group;
// LIMN_UNITS_MADE: waits for all groups but the last n; limn_held: keeps the compiler from moving
// uses of the result.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define LIMN_TILE_READY() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define LIMN_UNITS_BEGIN() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define LIMN_UNITS_SENT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define LIMN_UNITS_MADE(n) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory")
INLINE void limn_held(float (*x)[4], int groups) {
  UNROLL for (int i = 0; i < groups; i++)
      UNROLL for (int s = 0; s < 4; s++) asm volatile("" : "+f"(x[i][s])::"memory");
}

// The matrix descriptor of a tile: its address, the strides between panels of chunks and between
// groups of eight rows, and the swizzle mode.
INLINE Bits64 limn_words(const LimnEight *tile, int chunks, int rows) {
  return limn_shared(tile) >> 4 | (Bits64)(8 * rows) << 16 |
         (Bits64)(8 * (chunks < 8 ? chunks : 8)) << 32 | (Bits64)(chunks < 8 ? 2 : 1) << 62;
}

#define LIMN_GROUP(i) "+f"(x[i][0]), "+f"(x[i][1]), "+f"(x[i][2]), "+f"(x[i][3])
#define LIMN_GROUPS(i) LIMN_GROUP(i), LIMN_GROUP(i + 1), LIMN_GROUP(i + 2), LIMN_GROUP(i + 3)
// x += left · tile, or x = left · tile if !more. down: the rows of the tile are k; otherwise n.
template <int down>
INLINE void limn_by_32(float (*x)[4], const Bits32 *left, Bits64 tile, int more) {
  asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, %21, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, "
               "{%16,%17,%18,%19}, %20, more, 1, 1, %22;\n}"
               : LIMN_GROUPS(0)
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(tile), "r"(more),
                 "n"(down)
               : "memory");
}
template <int down>
INLINE void limn_by_64(float (*x)[4], const Bits32 *left, Bits64 tile, int more) {
  asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, %37, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
               "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
               "{%32,%33,%34,%35}, %36, more, 1, 1, %38;\n}"
               : LIMN_GROUPS(0), LIMN_GROUPS(4)
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(tile), "r"(more),
                 "n"(down)
               : "memory");
}
template <int down>
INLINE void limn_by(float (*x)[4], const Bits32 *left, Bits64 tile, int columns, int more) {
  columns == 64 ? limn_by_64<down>(x, left, tile, more) : limn_by_32<down>(x, left, tile, more);
}
// The same with both factors in shared memory, for wide results.
template <int down_a, int down_b> INLINE void limn_tiles_64(float (*x)[4], Bits64 a, Bits64 b) {
  asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, 1, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
               "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
               "}, %32, %33, more, 1, 1, %34, %35;\n}"
               : LIMN_GROUPS(0), LIMN_GROUPS(4)
               : "l"(a), "l"(b), "n"(down_a), "n"(down_b)
               : "memory");
}
template <int down_a, int down_b> INLINE void limn_tiles_128(float (*x)[4], Bits64 a, Bits64 b) {
  asm volatile("{\n.reg .pred more;\nsetp.ne.b32 more, 1, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
               "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
               "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
               "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
               "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
               "}, %64, %65, more, 1, 1, %66, %67;\n}"
               : LIMN_GROUPS(0), LIMN_GROUPS(4), LIMN_GROUPS(8), LIMN_GROUPS(12)
               : "l"(a), "l"(b), "n"(down_a), "n"(down_b)
               : "memory");
}
// A slice of the sum: x += a · b, 64 rows and all columns. `down`: the rows of the tile are k, and
// there are `deep` of them.
template <int down_a, int down_b, int deep>
INLINE void limn_tiles(float (*x)[4], const LimnEight *a, const LimnEight *b, int columns) {
  const Bits64 left = limn_words(a, 8, deep), right = limn_words(b, 8, deep);
  UNROLL for (int i = 0; i < deep / 16; i++) UNROLL for (int j = 0; j < columns; j += 128) {
    const Bits64 at_a = left + i * (down_a ? 128 : 2),
                 at_b = right + i * (down_b ? 128 : 2) + j * (down_b ? deep / 8 : 8);
    columns >= 128 ? limn_tiles_128<down_a, down_b>(x + j / 8, at_a, at_b)
                   : limn_tiles_64<down_a, down_b>(x + j / 8, at_a, at_b);
  }
}
#else
#define LIMN_TILE_READY()
#define LIMN_UNITS_BEGIN()
#define LIMN_UNITS_SENT()
#define LIMN_UNITS_MADE(n)
INLINE void limn_held(float (*x)[4], int groups) { (void)x, (void)groups; }
#endif

// scores = left · tileᵀ, for these rows of the tile
INLINE void limn_pairs(float (*pairs)[4], Bits32 (*left)[4], const LimnEight *tile, int rows,
                       int steps, int chunks, int together) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (together) {
    UNROLL for (int i = 0; i < steps; i++)
        limn_by<0>(pairs, left[i], limn_words(tile, chunks, LIMN_TILE_ROWS) + 2 * i, rows, i);
    return;
  }
#endif
  limn_clear(pairs, rows / 8);
  UNROLL for (int i = 0; i < steps; i++) UNROLL for (int j = 0; j < rows / 16; j++) {
    Bits32 right[4];
    limn_pieces(right, tile, chunks, LIMN_TILE_ROWS, limn_from(16 * j, 2 * i), 0, 1);
    limn_unit(pairs[2 * j], left[i], right);
    limn_unit(pairs[2 * j + 1], left[i], right + 2);
  }
}

// The fragments of the weights: two groups of accumulators are one left factor, in the same layout.
INLINE void limn_weights(Bits32 (*to)[4], float (*weight)[4], int rows) {
  UNROLL for (int i = 0; i < rows / 16; i++) UNROLL for (int s = 0; s < 4; s++) to[i][s] =
      limn_two(weight[2 * i + s / 2][s % 2 * 2], weight[2 * i + s / 2][s % 2 * 2 + 1]);
}

// sum += weights · tile, over these rows of the tile
INLINE void limn_weigh(float (*sum)[4], Bits32 (*weight)[4], const LimnEight *tile, int rows,
                       int chunks, int together) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if (together) {
    UNROLL for (int i = 0; i < rows / 16; i++) limn_by<1>(
        sum, weight[i], limn_words(tile, chunks, LIMN_TILE_ROWS) + 16 * chunks * i, 8 * chunks, 1);
    return;
  }
#endif
  UNROLL for (int i = 0; i < rows / 16; i++) UNROLL for (int j = 0; j < chunks / 2; j++) {
    Bits32 right[4];
    limn_pieces(right, tile, chunks, LIMN_TILE_ROWS, limn_from(16 * i, 2 * j), 0, 0);
    limn_unit(sum[2 * j], weight[i], right);
    limn_unit(sum[2 * j + 1], weight[i], right + 2);
  }
}
