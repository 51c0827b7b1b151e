// stripes.h: small matrix products, where synchronisation would cost more than the multiplications.
// It follows tiles.h in CUDA text of a precision with tensor cores. A block has a tile of C. Each
// warp computes the whole tile over a stripe of k: chunks of 16 steps, interleaved among the warps.
// There is no shared memory and no barrier until all stripes are finished; then they are added in
// the order of the warps.
//
// A lane loads four contiguous cells wherever possible. It has four steps of each chunk, the same
// for both factors, since the order of the 16 steps inside an mma does not matter. A tile has slots
// of eight rows (or columns), one for each lane position; four slots are neighbours in memory.
#ifdef LIMN_UNITS
// Contiguous cells as floats; zeros if out of bounds.
INLINE void limn_next4(float *to, const char *from, int inside, int narrow) {
  UNROLL for (int i = 0; i < 4; i++) to[i] = 0;
  if (inside && narrow) LIMN_FOUR_NARROW(to, from)
  if (inside && !narrow) LIMN_FOUR(to, from)
}
INLINE void limn_next2(float *to, const char *from, int inside, int narrow) {
  Bits32 two[2] = {0, 0};
  if (inside && narrow) two[0] = *(const Bits32 *)from;
  if (inside && !narrow) LIMN_TAKE_2(two, from)
  if (narrow)
    limn_widen_two(to, two[0]);
  else
    LIMN_TAKEN(to, two, 2)
}

// The layout of a factor: contiguous along k by four; contiguous along its slots; or neither.
#define LIMN_ALONG_SUM 0
#define LIMN_ALONG_SLOTS 1
#define LIMN_ANYHOW 2

// A small product is dominated by startup, and instructions are fetched for the first time, so the
// code is short. The context of a step, with the number of samples, is loaded at the start and used
// at the end: factors are loaded up to the largest number of samples. Indices are ints. TABLES:
// some line may be a table. WHOLE: k is a multiple of the chunk.
#define LIMN_INT_LINE(TABLES, line, i) ((TABLES) ? (int)limn_line(line, i) : (i) * (int)(line).step)

// The number of neighbouring slots, and the row of slot s at lane position g.
#define LIMN_NEAR(SLOTS) ((SLOTS) < 4 ? (SLOTS) : 4)
#define LIMN_SLOT(SLOTS, s, g)                                                                     \
  ((s) / LIMN_NEAR(SLOTS) * 8 * LIMN_NEAR(SLOTS) + (g)*LIMN_NEAR(SLOTS) + (s) % LIMN_NEAR(SLOTS))

// Offsets of a lane's rows of a factor. After the last row, the first one is repeated; its results
// are not stored.
#define LIMN_STRIPE_ROWS(at, SLOTS, TABLES, line, first, size)                                     \
  int at[SLOTS];                                                                                   \
  UNROLL for (int s_ = 0; s_ < SLOTS; s_++) {                                                      \
    const int row_ = (first) + LIMN_SLOT(SLOTS, s_, place);                                        \
    at[s_] = row_ < (size) ? LIMN_INT_LINE(TABLES, line, row_) : 0;                                \
  }

// A lane's four steps from k_ on, of all its slots. SURE: all steps are in bounds.
#define LIMN_STRIPE_READ(value, SLOTS, base, at, line, LIES, NARROW, TABLES, SURE)                 \
  if ((LIES) == LIMN_ALONG_SUM) {                                                                  \
    const int inside_ = (SURE) || k_ < till, off_ = inside_ ? LIMN_INT_LINE(TABLES, line, k_) : 0; \
    UNROLL for (int s_ = 0; s_ < SLOTS; s_++)                                                      \
        limn_next4(value[s_], (base) + ((NARROW) ? 2L : 4L) * (at[s_] + off_), inside_, NARROW);   \
  } else {                                                                                         \
    UNROLL for (int j_ = 0; j_ < 4; j_++) {                                                        \
      const int inside_ = (SURE) || k_ + j_ < till,                                                \
                off_ = inside_ ? LIMN_INT_LINE(TABLES, line, k_ + j_) : 0;                         \
      if ((LIES) == LIMN_ALONG_SLOTS) {                                                            \
        UNROLL for (int s_ = 0; s_ < SLOTS; s_ += LIMN_NEAR(SLOTS)) {                              \
          const char *from_ = (base) + ((NARROW) ? 2L : 4L) * (at[s_] + off_);                     \
          float next_[4];                                                                          \
          if (LIMN_NEAR(SLOTS) == 4)                                                               \
            limn_next4(next_, from_, inside_, NARROW);                                             \
          else                                                                                     \
            limn_next2(next_, from_, inside_, NARROW);                                             \
          UNROLL for (int i_ = 0; i_ < LIMN_NEAR(SLOTS); i_++) value[s_ + i_][j_] = next_[i_];     \
        }                                                                                          \
      } else {                                                                                     \
        UNROLL for (int s_ = 0; s_ < SLOTS; s_++) value[s_][j_] =                                  \
            inside_ ? limn_read(base, at[s_] + off_, NARROW) : 0;                                  \
      }                                                                                            \
    }                                                                                              \
  }

// The fragments of four steps: two bfloat16 are one word.
#ifdef LIMN_BF16
#define LIMN_STRIPE_WORDS 2
#define limn_stripe_word(value, i) limn_two(value[2 * (i)], value[2 * (i) + 1])
#else
#define LIMN_STRIPE_WORDS 4
#define limn_stripe_word(value, i) limn_factor(value[i])
#endif
#define LIMN_STRIPE_MULTIPLY(SLOTS_A, SLOTS_B)                                                     \
  UNROLL for (int w_ = 0; w_ < LIMN_STRIPE_WORDS; w_ += 2) {                                       \
    Bits32 left_[SLOTS_A / 2][4], right_[SLOTS_B][2];                                              \
    UNROLL for (int i = 0; i < SLOTS_A / 2; i++) UNROLL for (int r_ = 0; r_ < 4; r_++)             \
        left_[i][r_] = limn_stripe_word(x[2 * i + r_ % 2], w_ + r_ / 2);                           \
    UNROLL for (int j = 0; j < SLOTS_B; j++) UNROLL for (int r_ = 0; r_ < 2; r_++) right_[j][r_] = \
        limn_stripe_word(y[j], w_ + r_);                                                           \
    UNROLL for (int i = 0; i < SLOTS_A / 2; i++) UNROLL for (int j = 0; j < SLOTS_B; j++)          \
        limn_unit(sum[i][j], left_[i], right_[j]);                                                 \
  }

// A warp's tile in shared memory. Neighbours are stored together, and every other position is
// rotated by two, so that lanes access different banks.
#define LIMN_STRIPE_AT(SLOTS_B, row, group, turn)                                                  \
  ((row)*8 * (SLOTS_B) + ((group) ^ ((turn)&1)) * LIMN_NEAR(SLOTS_B))
#define LIMN_STRIPE_SHOW(SLOTS_A, SLOTS_B)                                                         \
  UNROLL for (int s_ = 0; s_ < SLOTS_A; s_++) {                                                    \
    const int row_ = LIMN_SLOT(SLOTS_A, s_, place);                                                \
    UNROLL for (int j = 0; j < SLOTS_B; j += LIMN_NEAR(SLOTS_B))                                   \
        UNROLL for (int e_ = 0; e_ < 2; e_++) {                                                    \
      const int group_ = LIMN_SLOT(SLOTS_B, j, lane % 4 * 2 + e_) / LIMN_NEAR(SLOTS_B);            \
      float *to_ = stripe + LIMN_STRIPE_AT(SLOTS_B, row_, group_, row_ / LIMN_NEAR(SLOTS_A));      \
      if (LIMN_NEAR(SLOTS_B) == 4) {                                                               \
        float near_[4];                                                                            \
        UNROLL for (int i_ = 0; i_ < 4; i_++) near_[i_] =                                          \
            sum[s_ / 2][(j + i_) % SLOTS_B][s_ % 2 * 2 + e_];                                      \
        LIMN_PUT_FOUR(to_, near_, 0)                                                               \
      } else {                                                                                     \
        UNROLL for (int i_ = 0; i_ < LIMN_NEAR(SLOTS_B); i_++) to_[i_] =                           \
            sum[s_ / 2][j + i_][s_ % 2 * 2 + e_];                                                  \
      }                                                                                            \
    }                                                                                              \
  }

// Adds the stripes of two neighbouring cells, and stores them.
#define LIMN_STRIPES_OUT(SLOTS_A, SLOTS_B, WARPS, CUT, TABLES, KEEP, FINISH)                       \
  UNROLL for (int e_ = 0; e_ < PAIRS; e_++) {                                                      \
    LIMN_STRIPES_PAIR(SLOTS_A, SLOTS_B, WARPS)                                                     \
    if (q_ >= 32 * SLOTS_A * SLOTS_B) break;                                                       \
    const float *from_ =                                                                           \
        (const float *)tiles +                                                                     \
        LIMN_STRIPE_AT(SLOTS_B, row_, column_ / LIMN_NEAR(SLOTS_B), row_ / LIMN_NEAR(SLOTS_A)) +   \
        column_ % LIMN_NEAR(SLOTS_B);                                                              \
    float low_ = 0, high_ = 0;                                                                     \
    UNROLL for (int w_ = 0; w_ < WARPS; w_++) {                                                    \
      const float2 two_ = *(const float2 *)(from_ + w_ * 64 * SLOTS_A * SLOTS_B);                  \
      low_ += two_.x;                                                                              \
      high_ += two_.y;                                                                             \
    }                                                                                              \
    const int y_ = m0 + row_, x_ = n0 + column_;                                                   \
    if (y_ >= m || x_ >= n || t >= batch) continue;                                                \
    if (CUT) {                                                                                     \
      float *cell_ = (float *)c->parts + ((part * batch + t) * m + y_) * (long)n + x_;             \
      cell_[0] = low_;                                                                             \
      if (x_ + 1 < n) cell_[1] = high_;                                                            \
      continue;                                                                                    \
    }                                                                                              \
    if (KEEP) {                                                                                    \
      const int at_ = to_ + LIMN_INT_LINE(TABLES, wires.cm, y_),                                   \
                low_at_ = at_ + LIMN_INT_LINE(TABLES, wires.cn, x_);                               \
      if (wires.twos) {                                                                            \
        limn_write_two(wires.c, low_at_, low_, high_, wires.narrow_c);                             \
      } else {                                                                                     \
        limn_write(wires.c, low_at_, low_, wires.narrow_c);                                        \
        if (x_ + 1 < n)                                                                            \
          limn_write(wires.c, at_ + LIMN_INT_LINE(TABLES, wires.cn, x_ + 1), high_,                \
                     wires.narrow_c);                                                              \
      }                                                                                            \
    }                                                                                              \
    FINISH(c, wires, y_, x_, t, low_, read[e_][0]);                                                \
    if (x_ + 1 < n) FINISH(c, wires, y_, x_ + 1, t, high_, read[e_][1]);                           \
  }
#define LIMN_AS_IT_IS(c, wires, y, x, t, v0, read) (void)read
#define LIMN_AS_IT_IS_first(c, wires, y, x, t, read) (void)read
typedef struct {
  int none;
} LIMN_AS_IT_IS_read;

// A thread's cells of C, in pairs.
#define LIMN_STRIPES_PAIR(SLOTS_A, SLOTS_B, WARPS)                                                 \
  const int q_ = (int)threadIdx.x + e_ * 32 * WARPS, row_ = q_ / (4 * SLOTS_B),                    \
            column_ = q_ % (4 * SLOTS_B) * 2;
// Preloads the operands of the epilogue while the product is computed.
#define LIMN_STRIPES_FIRST(SLOTS_A, SLOTS_B, WARPS, FINISH)                                        \
  FINISH##_read read[PAIRS][2];                                                                    \
  UNROLL for (int e_ = 0; e_ < PAIRS; e_++) {                                                      \
    LIMN_STRIPES_PAIR(SLOTS_A, SLOTS_B, WARPS)                                                     \
    const int y_ = m0 + row_, x_ = n0 + column_;                                                   \
    if (q_ >= 32 * SLOTS_A * SLOTS_B || y_ >= m_most || x_ >= n_most) continue;                    \
    FINISH##_first(c, wires, y_, x_, t, &read[e_][0]);                                             \
    if (x_ + 1 < n_most) FINISH##_first(c, wires, y_, x_ + 1, t, &read[e_][1]);                    \
  }

// Wires: a LimnProduct, or one with pointers for the epilogue FINISH. KEEP: C itself is stored,
// too. CUT: split-K; partial sums are consecutive.
#define LIMN_STRIPES(name, Wires, SLOTS_A, SLOTS_B, WARPS, CUT, LIES_A, LIES_B, NARROW, TABLES,    \
                     WHOLE, KEEP, FINISH)                                                          \
  KERNEL(name, Wires, 32 * WARPS, SLOTS_A * SLOTS_B > 16 ? 1 : 16 / WARPS) {                       \
    enum {                                                                                         \
      TILE_M = 8 * SLOTS_A,                                                                        \
      TILE_N = 8 * SLOTS_B,                                                                        \
      PAIRS = (SLOTS_A * SLOTS_B + WARPS - 1) / WARPS                                              \
    };                                                                                             \
    TILES(tiles);                                                                                  \
    ARGUMENTS_ALONE(Wires)                                                                         \
    const int m_most = (int)limn_length(wires.m, wires.samples),                                   \
              n_most = (int)limn_length(wires.n, wires.samples),                                   \
              batch_most = (int)limn_length(wires.batch, wires.samples);                           \
    const unsigned mt = (unsigned)(m_most + TILE_M - 1) / TILE_M,                                  \
                   nt = (unsigned)(n_most + TILE_N - 1) / TILE_N,                                  \
                   all = mt * nt * (unsigned)(batch_most * ((CUT) ? (int)wires.parts : 1));        \
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, place = lane / 4;        \
    float *stripe = (float *)tiles + warp * 64 * SLOTS_A * SLOTS_B;                                \
    UNROLL_BY(1)                                                                                   \
    for (unsigned q = blockIdx.x; q < all; q += gridDim.x) {                                       \
      const int n0 = (int)(q % nt) * TILE_N, m0 = (int)(q / nt % mt) * TILE_M,                     \
                t = (CUT) ? (int)(q / nt / mt) % batch_most : (int)(q / nt / mt),                  \
                part = (CUT) ? (int)(q / nt / mt) / batch_most : 0,                                \
                from = (CUT) ? part * (int)wires.part : 0, to_ = (int)limn_line(wires.tc, t);      \
      const char *a = wires.a + limn_line(wires.ta, t) * ((NARROW) ? 2 : 4),                       \
                 *b = wires.b + limn_line(wires.tb, t) * ((NARROW) ? 2 : 4);                       \
      float sum[SLOTS_A / 2][SLOTS_B][4];                                                          \
      LIMN_STRIPE_ROWS(at_a, SLOTS_A, TABLES, wires.am, m0, m_most)                                \
      LIMN_STRIPE_ROWS(at_b, SLOTS_B, TABLES, wires.bn, n0, n_most)                                \
      AWAIT();                                                                                     \
      const int stopped = *at.stop;                                                                \
      Context here = *g;                                                                           \
      for (int d = 0; d < 8; d++) here.at[d] = at.at[d];                                           \
      const Context *c = &here;                                                                    \
      const int k = wires.k.per ? (int)limn_length(wires.k, c->n) : (int)wires.k.fixed,            \
                till = (CUT) && from + (int)wires.part < k ? from + (int)wires.part : k;           \
      LIMN_STRIPES_FIRST(SLOTS_A, SLOTS_B, WARPS, FINISH)                                          \
      UNROLL for (int i = 0; i < SLOTS_A / 2; i++) UNROLL for (int j = 0; j < SLOTS_B; j++)        \
          UNROLL for (int s_ = 0; s_ < 4; s_++) sum[i][j][s_] = 0;                                 \
      UNROLL_BY(1)                                                                                 \
      for (int k0 = from + 16 * warp; k0 < till; k0 += 16 * WARPS) {                               \
        const int k_ = k0 + 4 * (lane % 4);                                                        \
        float x[SLOTS_A][4], y[SLOTS_B][4];                                                        \
        LIMN_STRIPE_READ(x, SLOTS_A, a, at_a, wires.ak, LIES_A, NARROW, TABLES, WHOLE)             \
        LIMN_STRIPE_READ(y, SLOTS_B, b, at_b, wires.bk, LIES_B, NARROW, TABLES, WHOLE)             \
        LIMN_STRIPE_MULTIPLY(SLOTS_A, SLOTS_B)                                                     \
      }                                                                                            \
      LIMN_STRIPE_SHOW(SLOTS_A, SLOTS_B)                                                           \
      __syncthreads();                                                                             \
      if (stopped) return;                                                                         \
      const int m = (int)limn_length(wires.m, c->n), n = (int)limn_length(wires.n, c->n),          \
                batch = (int)limn_length(wires.batch, c->n);                                       \
      LIMN_STRIPES_OUT(SLOTS_A, SLOTS_B, WARPS, CUT, TABLES, KEEP, FINISH)                         \
      __syncthreads();                                                                             \
    }                                                                                              \
  }
#endif
