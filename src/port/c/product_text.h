// product_text.h: what exported C has beside the prelude: cells of memory, copies, and matrix
// products. Its text is embedded; it is C99 and calls nothing. Vectors are those of gcc and clang,
// as wide as the flags allow; other compilers get one number at a time.
//
// C[m n] = Σ_k A[m k] B[k n], each operand addressed by lines: place i of a line is a row of digits
// (its axes, slowest first) by as many steps. Columns of B lie side by side, or some of them are
// packed so; rows of A are read where they lie, one number for a vector of columns.
#ifndef LIMN_PORT_C_PRODUCT_TEXT_H
#define LIMN_PORT_C_PRODUCT_TEXT_H

// -- memory ---------------------------------------------------------------------------------------
#if defined __GNUC__
#define LIMN_ANY __attribute__((may_alias)) // bytes are now floats and then labels
#define LIMN_APART __attribute__((noinline))
#else
#define LIMN_ANY
#define LIMN_APART
#endif
typedef float LIMN_ANY FloatCell;
typedef double LIMN_ANY DoubleCell;
typedef int LIMN_ANY LabelCell;
typedef real LIMN_ANY RealCell;

HELPER void limn_copy(void *to, const void *from, long bytes) {
  for (long i = 0; i < bytes; i++) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

// A real without axes, for who has floats.
HELPER float limn_float(const void *at) { return (float)*(const DoubleCell *)at; }

// The next place that vectors like.
HELPER char *limn_aligned(char *at) { return at + (64 - ((uintptr_t)at & 63)) % 64; }

// -- products -------------------------------------------------------------------------------------
#ifdef LIMN_AXES // the most axes of a line
#if defined __GNUC__ && defined __AVX512F__
#define VECTOR_BYTES 64
#define TILE_ROWS 8
#define TILE_VECTORS 2
#elif defined __GNUC__ && defined __AVX__
#define VECTOR_BYTES 32
#define TILE_ROWS 6
#define TILE_VECTORS 2
#elif defined __clang__ && defined __aarch64__
#define VECTOR_BYTES 16
#define TILE_ROWS 6
#define TILE_VECTORS 4
#elif defined __GNUC__ && defined __aarch64__
#define VECTOR_BYTES 16
#define TILE_ROWS 5 // with 6, gcc 12 runs out of registers
#define TILE_VECTORS 4
#elif defined __GNUC__ && (defined __SSE2__ || defined __ARM_NEON || defined __wasm_simd128__)
#define VECTOR_BYTES 16
#define TILE_ROWS 6
#define TILE_VECTORS 2
#else
#define TILE_ROWS 4
#define TILE_VECTORS 4
#endif
#ifdef VECTOR_BYTES
typedef real Vector __attribute__((vector_size(VECTOR_BYTES)));
typedef real VectorCell __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(4)));
#else
typedef real Vector;
typedef RealCell VectorCell;
#endif
enum {
  LANES = (int)(sizeof(Vector) / sizeof(real)),
  PANEL = TILE_VECTORS * LANES, // columns of a tile
  CHUNK = 256,                  // places of k between two visits of C
  BLOCK = 256                   // columns of B that are packed at once
};

// A multiply-add in one instruction, also under -std=c99; and sums that stay in registers.
#if defined __clang__
#define LIMN_FUSES
#define UNROLLED _Pragma("clang loop unroll(full)")
#elif defined __GNUC__
#define LIMN_FUSES __attribute__((optimize("fp-contract=fast")))
#define UNROLLED _Pragma("GCC unroll 16")
#else
#define LIMN_FUSES
#define UNROLLED
#endif

typedef struct {
  int axes;
  long size[LIMN_AXES], step[LIMN_AXES];
} Line;
typedef struct {
  Line am, ak, bk, bn, cm, cn;
  int turned; // A is what is called B, and m what is called n: as that is faster
  int pack;   // columns of B do not lie side by side
} Product;

// Offsets of the places of a line, in `to`; NULL where it is one axis and steps do. *at is moved on.
static inline const Int32 *line_table(const Line *l, int always, long n, char **at) {
  Int32 *to = (Int32 *)(void *)*at;
  long digit[LIMN_AXES] = {0}, offset = 0, last = l->axes - 1;
  if (l->axes <= 1 && !always) return (const Int32 *)0;
  for (long i = 0; i < n;) {
    long size = l->axes ? l->size[last] : n, step = l->axes ? l->step[last] : 0, d = last - 1;
    for (long k = 0; k < size && i < n; k++) to[i++] = (Int32)(offset + k * step);
    for (; d >= 0; d--) { // the digits in front count up
      offset += l->step[d];
      if (++digit[d] < l->size[d]) break;
      offset -= l->step[d] * l->size[d];
      digit[d] = 0;
    }
  }
  *at = limn_aligned(*at + n * (long)sizeof(Int32));
  return to;
}

static inline long line_at(const Line *l, const Int32 *table, long i) {
  return table ? table[i] : l->axes ? i * l->step[0] : 0;
}

// A product under way.
typedef struct {
  const Product *p;
  const RealCell *a, *b;
  RealCell *c;
  const Int32 *am, *ak, *bk, *bn, *cm, *cn; // tables
  RealCell *packed;
  int add;
} Multiply;

// Some rows by some panels of columns, over a chunk of k. Row i of A is row[i][ka[…]]; row k of a
// panel of B is b + k * bk, and the next panel is b_step on. Row i of C begins at to[i].
typedef struct {
  const RealCell *row[TILE_ROWS], *b;
  const Int32 *ka;
  long k, bk, panels, b_step;
  RealCell *to[TILE_ROWS];
  int add;
} Tile;

// What it reads is copied first: what it writes might be anything.
INLINE LIMN_FUSES void tile_any(const Tile *t, int rows, int vectors) {
  const long n = t->k, bk = t->bk, panels = t->panels, b_step = t->b_step;
  const int add = t->add;
  const Int32 *ka = t->ka;
  const RealCell *panel = t->b, *row[TILE_ROWS];
  RealCell *to[TILE_ROWS];
  UNROLLED
  for (int i = 0; i < rows; i++) row[i] = t->row[i], to[i] = t->to[i];
  for (long p = 0; p < panels; p++, panel += b_step) {
    Vector sum[TILE_ROWS][TILE_VECTORS], y[TILE_VECTORS];
    const RealCell *b = panel;
    UNROLLED
    for (int i = 0; i < rows; i++) {
      UNROLLED
      for (int j = 0; j < vectors; j++) sum[i][j] = (Vector){0};
    }
    for (long k = 0; k < n; k++, b += bk) {
      long at = ka[k];
      UNROLLED
      for (int j = 0; j < vectors; j++) y[j] = *(const VectorCell *)(b + j * LANES);
      UNROLLED
      for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < vectors; j++) sum[i][j] += row[i][at] * y[j];
      }
    }
    UNROLLED
    for (int i = 0; i < rows; i++) {
      UNROLLED
      for (int j = 0; j < vectors; j++) {
        VectorCell *cell = (VectorCell *)(to[i] + j * LANES);
        if (add) sum[i][j] += *cell;
        *cell = sum[i][j];
      }
      to[i] += PANEL;
    }
  }
}

#define TILE_OF(rows, vectors)                                                                     \
  case (rows)*8 + (vectors):                                                                       \
    tile_any(t, rows, vectors);                                                                    \
    break
#define TILES_OF(rows)                                                                             \
  TILE_OF(rows, 1);                                                                                \
  TILE_OF(rows, 2);                                                                                \
  TILES_WIDE(rows)
#if TILE_VECTORS > 2
#define TILES_WIDE(rows)                                                                           \
  TILE_OF(rows, 3);                                                                                \
  TILE_OF(rows, 4)
#else
#define TILES_WIDE(rows)
#endif

static LIMN_APART LIMN_FUSES void tile_multiply(const Tile *t, long rows, long vectors) {
  switch (rows * 8 + vectors) {
    TILES_OF(1);
    TILES_OF(2);
    TILES_OF(3);
    TILES_OF(4);
#if TILE_ROWS > 4
    TILES_OF(5);
#endif
#if TILE_ROWS > 5
    TILES_OF(6);
#endif
#if TILE_ROWS > 6
    TILES_OF(7);
    TILES_OF(8);
#endif
  }
}

// Places [k0, k0 + k) of columns [n0, n0 + n) of B, side by side in panels, the last one filled up
// with zeros.
static LIMN_APART void pack_columns(const Multiply *q, long k0, long k, long n0, long n) {
  RealCell *to = q->packed;
  for (long j0 = 0; j0 < n; j0 += PANEL)
    for (long i = 0; i < k; i++, to += PANEL) {
      const RealCell *from = q->b + line_at(&q->p->bk, q->bk, k0 + i);
      long wide = n - j0 < PANEL ? n - j0 : PANEL;
      for (long j = 0; j < wide; j++) to[j] = from[line_at(&q->p->bn, q->bn, n0 + j0 + j)];
      for (long j = wide; j < PANEL; j++) to[j] = 0;
    }
}

// The panels of some columns that lie side by side in B, or are packed, and as well in C.
static void multiply_panels(const Multiply *q, Tile *t, const long *block, long m0, long rows) {
  long n0 = block[0], k0 = block[2];
  t->b = q->p->pack ? q->packed : q->b + line_at(&q->p->bk, q->bk, k0) + n0;
  t->bk = q->p->pack ? PANEL : q->p->bk.axes ? q->p->bk.step[0] : 0;
  t->b_step = q->p->pack ? PANEL * t->k : PANEL;
  t->panels = block[1] / PANEL;
  t->add = q->add || k0;
  for (long i = 0; i < rows; i++) t->to[i] = q->c + line_at(&q->p->cm, q->cm, m0 + i) + n0;
  tile_multiply(t, rows, TILE_VECTORS);
}

// Columns from j0 on, a panel at a time, by a tile of our own.
static void multiply_edges(const Multiply *q, Tile *t, const long *block, long j0, long m0,
                           long rows) {
  long n0 = block[0], n = block[1], k0 = block[2];
  RealCell edge[TILE_ROWS * PANEL];
  t->panels = 1;
  t->add = 0;
  for (; j0 < n; j0 += PANEL) {
    long wide = n - j0 < PANEL ? n - j0 : PANEL;
    int whole = wide % LANES == 0;
    t->b = q->p->pack ? q->packed + j0 * t->k : q->packed;
    t->bk = PANEL;
    if (!q->p->pack && whole) {
      t->b = q->b + line_at(&q->p->bk, q->bk, k0) + n0 + j0;
      t->bk = q->p->bk.axes ? q->p->bk.step[0] : 0;
    }
    for (long i = 0; i < rows; i++) t->to[i] = edge + i * (long)PANEL;
    tile_multiply(t, rows, (wide + LANES - 1) / LANES);
    for (long i = 0; i < rows; i++) {
      RealCell *c = q->c + line_at(&q->p->cm, q->cm, m0 + i);
      for (long j = 0; j < wide; j++) {
        RealCell *to = c + line_at(&q->p->cn, q->cn, n0 + j0 + j);
        *to = (q->add || k0 ? *to : 0) + edge[i * PANEL + j];
      }
    }
  }
}

// Rows [m0, m0 + rows) of the columns of a block: n0, how many, k0.
static void multiply_rows(const Multiply *q, Tile *t, const long *block, long m0, long rows) {
  int direct = q->p->cn.axes == 1 && q->p->cn.step[0] == 1;
  for (long i = 0; i < rows; i++) t->row[i] = q->a + line_at(&q->p->am, q->am, m0 + i);
  if (direct) multiply_panels(q, t, block, m0, rows);
  multiply_edges(q, t, block, direct ? block[1] / PANEL * PANEL : 0, m0, rows);
}

static void multiply_block(const Multiply *q, const long *block, long m, long k) {
  long n = block[1], k0 = block[2], last = n % PANEL;
  Tile t = {.ka = q->ak + k0, .k = k};
  if (q->p->pack)
    pack_columns(q, k0, k, block[0], n);
  else if (last % LANES)
    pack_columns(q, k0, k, block[0] + n - last, last);
  for (long m0 = 0; m0 < m; m0 += TILE_ROWS)
    multiply_rows(q, &t, block, m0, m - m0 < TILE_ROWS ? m - m0 : TILE_ROWS);
}

static void small_product(const void *product, const void *a, const void *b, void *c, void *scratch,
                          long m, long n, long k, int add) {
  const Product *p = (const Product *)product;
  char *at = limn_aligned((char *)scratch);
  Multiply q = {.p = p, .c = (RealCell *)c, .add = add};
  q.a = (const RealCell *)(p->turned ? b : a);
  q.b = (const RealCell *)(p->turned ? a : b);
  if (p->turned) {
    long rows = n;
    n = m;
    m = rows;
  }
  q.am = line_table(&p->am, 0, m, &at);
  q.ak = line_table(&p->ak, 1, k, &at);
  q.bk = line_table(&p->bk, 0, k, &at);
  q.bn = line_table(&p->bn, 0, n, &at);
  q.cm = line_table(&p->cm, 0, m, &at);
  q.cn = line_table(&p->cn, 0, n, &at);
  q.packed = (RealCell *)(void *)at;
  for (long k0 = 0; k0 < k || !k0; k0 += CHUNK)
    for (long n0 = 0; n0 < n; n0 += BLOCK) {
      long block[] = {n0, n - n0 < BLOCK ? n - n0 : BLOCK, k0};
      multiply_block(&q, block, m, k - k0 < CHUNK ? k - k0 : CHUNK);
    }
}
#endif
#endif
