// Blocked matrix products with generalised strides, as tasks that any thread may run in any order.
//
// Planning decides which operand is broadcast (A) and which is loaded as vectors (B): the product as
// given, or its transpose. A is usually read in place; B too if its columns are contiguous, else phase 0
// packs B; bf16 is always packed. Phase 1 multiplies: a task is a block of C and a part of k; it loops
// over chunks of k, tiles of rows, and panels of columns, so that a tile of A stays in the L1 cache and
// the block of B in L2. A long sum with a small C is split along k (split-K); phase 2 adds the parts.
//
// Each cell of C is summed in the order of k within a chunk, then by chunks, then by parts. All three
// depend on the plan alone, so results are bit-identical for any threads, order of tasks, or run size.
#include "run/engine/prebuilt/gemm_kernel.h"

enum {
  CHUNK = 512,         // of k, between two updates of C
  BLOCK_COLUMNS = 256, // at most, of a task: CHUNK × BLOCK_COLUMNS cells of B fit in the L2 cache
  BLOCK_ROWS = 112,    // at most, of a task
  PACK_LINES = 256,    // of k, packed by a task of phase 0,
  PACK_PANELS = 8,     // in this many panels
  TASKS = 64,          // enough for 16 threads
  GRAIN = 32, // chunks and parts of k are multiples of GRAIN, and GRAIN of any kernel's grain
};
static const double TASK_FLOPS = 1 << 20; // the least work worth a task

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t n, int64_t part) { return (n + part - 1) / part; }
static size_t aligned(size_t bytes) { return (bytes + 63) & ~(size_t)63; }
static size_t cell_bytes(Precision p) { return p == PRECISION_64 ? sizeof(double) : sizeof(float); }

// Planning

// Rows whose distance is a multiple of 4096 bytes map to the same few cache sets.
static bool conflicts_in_cache(const Gemm *g, GemmAxis l) {
  return !l.at && l.step != 0 && l.step * (int64_t)cell_bytes(g->precision) % 4096 == 0;
}

// B's columns are contiguous, and packing does not pay off. For many rows of A it does if rows of B
// conflict in the cache, or if vectors straddle cache lines.
static bool reads_b_in_place(const Gemm *g) {
  if (!axis_has_stride(g->bn, 1) || g->precision == PRECISION_BF16) return false;
  if (g->bk.at) return true;
  bool straddles = g->bk.step * (int64_t)cell_bytes(g->precision) % 64 != 0;
  return !(straddles && g->m >= 256) && !(conflicts_in_cache(g, g->bk) && g->m >= 512);
}

// A is packed only if its columns conflict in the cache and are read often.
static bool reads_a_in_place(const Gemm *g) {
  if (g->precision == PRECISION_BF16) return false;
  return !(axis_has_stride(g->am, 1) && conflicts_in_cache(g, g->ak) && g->n >= 2 * BLOCK_COLUMNS &&
           g->k >= 64);
}

// A cost model: cycles of a CPU with two vector units.
static double cost_of(const Gemm *g, const GemmKernel *q) {
  double m = (double)g->m, n = (double)g->n, k = (double)g->k;
  double vectors = (double)ceil_div(g->n, q->lanes), sums = vectors > 1 ? 2 * m : m;
  double cost = m * vectors * k / (2 * q->speed);
  if (sums < 8) cost *= 8 / sums; // latency: too few independent accumulators
  if (g->am.at || g->ak.at) cost *= vectors > 1 ? 1.05 : 1.2;
  if (!reads_b_in_place(g))
    cost += k * n * (axis_has_stride(g->bn, 1) ? 0.3 : axis_has_stride(g->bk, 1) ? 0.6 : 1.2);
  if (!reads_a_in_place(g)) cost += k * m * 0.4;
  return cost + m * n * (axis_has_stride(g->cn, 1) ? 0.1 : 0.7);
}

static Gemm transpose_of(const Gemm *g) {
  Gemm t = *g;
  t.m = g->n, t.n = g->m;
  t.am = g->bn, t.ak = g->bk;
  t.bk = g->ak, t.bn = g->am;
  t.cm = g->cn, t.cn = g->cm;
  return t;
}

// Tiles are stored transposed: cells of a column of C are contiguous.
static bool stored_transposed(GemmAxis cm, GemmAxis cn) {
  return axis_has_stride(cm, 1) && !axis_has_stride(cn, 1);
}

// The rows of a task are a multiple of this: whole tiles or, stored transposed, whole cache lines, to
// avoid false sharing.
static int64_t row_unit(const GemmPlan *p) {
  if (!stored_transposed(p->in.cm, p->in.cn)) return p->kernel->rows;
  return 64 / (int64_t)cell_bytes(p->g.precision);
}

// Halves the blocks until there are `want` tasks: rows first, because a block of B stays in the cache from
// one task to the next. Columns are not halved if each task packs its rows of A.
static void split_blocks(GemmPlan *p, int64_t rows, int64_t columns, int64_t want) {
  const GemmKernel *q = p->kernel;
  int64_t panel = q->vectors * q->lanes, unit = row_unit(p);
  for (;;) {
    p->m_blocks = ceil_div(p->in.m, p->mb);
    p->n_blocks = ceil_div(p->in.n, p->nb);
    if (p->m_blocks * p->n_blocks * p->splits >= want) return;
    if (2 * p->mb > 3 * rows && p->mb > unit)
      p->mb = ceil_div(ceil_div(p->mb, 2), unit) * unit;
    else if (p->nb > columns && p->nb > panel && !p->pack_a)
      p->nb = ceil_div(ceil_div(p->nb, 2), panel) * panel;
    else
      return;
  }
}

// Split-K. Each part writes its own partial sums, so a part has at least a chunk of k.
static void split_sum(GemmPlan *p, int64_t want) {
  int64_t blocks = p->m_blocks * p->n_blocks;
  p->splits = least(ceil_div(want, blocks), p->in.k / CHUNK);
  if (p->splits < 2) p->splits = 1;
  p->split_length = ceil_div(ceil_div(p->in.k, p->splits), GRAIN) * GRAIN;
}

// A small C with a long sum is split along k first: then no factor is read twice. Other products are cut
// into blocks of a good size, then along k, then into smaller blocks.
static void plan_tasks(GemmPlan *p) {
  const Gemm *g = &p->in;
  const GemmKernel *q = p->kernel;
  double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  int64_t panel = q->vectors * q->lanes;
  double tasks = flops / (TASK_FLOPS * q->speed);
  int64_t want = tasks > TASKS ? TASKS : (int64_t)tasks;
  p->mb = ceil_div(least(g->m, BLOCK_ROWS), row_unit(p)) * row_unit(p);
  p->nb = ceil_div(least(g->n, (p->pack_a ? 2 : 1) * BLOCK_COLUMNS), panel) * panel;
  p->splits = 1;
  p->split_length = g->k;
  if (g->k >= 4 * CHUNK && g->m * g->n <= 1 << 14) {
    split_blocks(p, g->m, g->n, 1);
    split_sum(p, want);
  }
  split_blocks(p, BLOCK_ROWS / 2, BLOCK_COLUMNS / 2, want);
  if (2 * p->m_blocks * p->n_blocks * p->splits < want) split_sum(p, want);
  split_blocks(p, BLOCK_ROWS / 4, BLOCK_COLUMNS / 4, want);
  split_blocks(p, BLOCK_ROWS / 8, BLOCK_COLUMNS / 8, least(want, TASKS / 3));
  p->kb = ceil_div(
              ceil_div(p->split_length, ceil_div(p->split_length > 0 ? p->split_length : 1, CHUNK)),
              GRAIN) *
          GRAIN;
}

// The packed factors for a length k, rounded up to whole groups: cells, or pairs of bf16.
static int64_t packed_factors(const GemmKernel *q, int64_t k) {
  return ceil_div(k, q->grain) * (q->pairs ? q->grain / 2 : 1);
}

// The row stride of partial sums: whole panels, so that kernels can store whole vectors.
static int64_t partial_step(const GemmPlan *p) {
  int64_t wide = p->kernel->vectors * p->kernel->lanes;
  return ceil_div(p->in.n, wide) * wide;
}

// The last columns, if they fill little of a vector, are computed as dot products; these need A contiguous
// along k.
static void plan_dots(GemmPlan *p) {
  const Gemm *g = &p->in;
  int64_t lanes = p->kernel->lanes, few = g->n % lanes;
  bool pays = few <= DOT_COLUMNS && 4 * few <= lanes && g->k >= 2 * lanes;
  bool strided = !g->am.at && !g->bk.at && axis_has_stride(g->ak, 1);
  if (pays && strided && !p->pack_a) p->dots = few;
}

static void plan_memory(GemmPlan *p) {
  const GemmKernel *q = p->kernel;
  int64_t wide = q->vectors * q->lanes, panels = ceil_div(p->in.n, wide);
  size_t cell = cell_bytes(p->g.precision), line = (size_t)wide * cell;
  size_t chunk = (size_t)packed_factors(q, p->kb);
  p->tasks[1] = p->m_blocks * p->n_blocks * p->splits;
  if (p->pack_b) {
    p->tasks[0] = ceil_div(panels, PACK_PANELS) * ceil_div(p->in.k, PACK_LINES);
    p->partial_at = aligned((size_t)(panels * packed_factors(q, p->in.k)) * line);
  } else {
    p->tile_at = aligned(chunk * line);
  }
  p->shared_bytes = p->partial_at;
  if (p->splits > 1) {
    p->tasks[2] = p->m_blocks;
    p->shared_bytes += aligned((size_t)(p->splits * p->in.m * partial_step(p)) * cell);
  }
  p->column_at = p->tile_at + (p->pack_a ? aligned(chunk * (size_t)q->rows * cell) : 0);
  p->thread_bytes = p->column_at + aligned((size_t)p->dots * chunk * cell);
}

void gemm_plan(const Gemm *g, GemmPlan *p) {
  *p = (GemmPlan){.g = *g, .in = *g, .kernel = gemm_kernel(g->precision), .splits = 1};
  if (g->m <= 0 || g->n <= 0) return;
  Gemm t = transpose_of(g);
  p->transposed = cost_of(&t, p->kernel) < 0.95 * cost_of(g, p->kernel);
  if (p->transposed) p->in = t;
  p->pack_a = !reads_a_in_place(&p->in);
  p->pack_b = !reads_b_in_place(&p->in);
  plan_dots(p);
  plan_tasks(p);
  plan_memory(p);
}

// Running

// A run, with a and b swapped if the plan is transposed.
typedef struct {
  const GemmPlan *p;
  const GemmKernel *q;
  const GemmRun *run;
  const char *a, *b;
  int64_t m, n, k;
  size_t cell;
  int64_t wide; // the columns of a panel
} GemmJob;

// What a task computes: a block of C or of partial sums, over k0 ≤ k < k1.
typedef struct {
  int64_t m0, m1, n0, n1, k0, k1;
  int64_t rows; // of a tile
  int64_t dots; // of the columns, the last ones, computed as dot products
  char *c;
  GemmAxis cm, cn;
  bool add, partial;
} GemmBlock;

static GemmJob job_of(const GemmPlan *p, const GemmRun *r) {
  return (GemmJob){.p = p,
                   .q = p->kernel,
                   .run = r,
                   .a = p->transposed ? r->b : r->a,
                   .b = p->transposed ? r->a : r->b,
                   .m = p->transposed ? r->n : r->m,
                   .n = p->transposed ? r->m : r->n,
                   .k = r->k,
                   .cell = cell_bytes(p->g.precision),
                   .wide = p->kernel->vectors * p->kernel->lanes};
}

static int64_t vectors_of(const GemmJob *j, int64_t columns) {
  int64_t n = 1;
  while (n * j->q->lanes < columns) n++;
  return n;
}

static void pack_panel(const GemmJob *j, const GemmPanel *p, void *to) {
  if (j->q->pack_b)
    j->q->pack_b(p, to);
  else if (j->q->pairs)
    panel_pack_pairs(p, to);
  else
    panel_pack(p, j->p->g.precision, to);
}

static GemmPanel panel_of_b(const GemmJob *j, int64_t n, int64_t count, int64_t width, int64_t k0,
                            int64_t k) {
  return (GemmPanel){j->b, j->p->in.bn, j->p->in.bk, n, count, width, k0, k};
}

// Packs PACK_LINES of k of PACK_PANELS panels, a few rows of k at a time when B's rows are contiguous.
static void pack_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t cuts = ceil_div(p->in.k, PACK_LINES), k0 = task % cuts * PACK_LINES;
  int64_t n0 = task / cuts * PACK_PANELS * j->wide, n1 = least(n0 + PACK_PANELS * j->wide, j->n);
  n1 = least(n1, p->in.n - p->dots);
  int64_t k1 = least(k0 + PACK_LINES, j->k),
          some = axis_has_stride(p->in.bn, 1) ? GRAIN : PACK_LINES;
  for (int64_t k = k0; k < k1; k += some)
    for (int64_t n = n0; n < n1; n += j->wide) {
      int64_t line = n / j->wide * packed_factors(j->q, p->in.k) + packed_factors(j->q, k);
      GemmPanel from = panel_of_b(j, n, least(n1 - n, j->wide), j->wide, k, least(k1 - k, some));
      pack_panel(j, &from, (char *)j->run->shared + (size_t)(line * j->wide) * j->cell);
    }
}

// Each task packs the columns that do not fill a vector, and those of dot products.
static void pack_edge(const GemmJob *j, const GemmBlock *b) {
  const GemmPlan *p = j->p;
  int64_t columns = b->n1 - b->dots - b->n0, k = b->k1 - b->k0, last = columns;
  char *memory = j->run->thread;
  while (last > j->wide) last -= j->wide;
  int64_t width = vectors_of(j, last) * j->q->lanes;
  if (!p->pack_b && last > 0 && last < width) {
    GemmPanel from = panel_of_b(j, b->n0 + columns - last, last, width, b->k0, k);
    panel_pack(&from, p->g.precision, memory);
  }
  for (int64_t i = 0; i < b->dots; i++) {
    GemmPanel from = panel_of_b(j, b->n0 + columns + i, 1, 1, b->k0, k);
    panel_pack(&from, p->g.precision, memory + p->column_at + (size_t)(i * p->kb) * j->cell);
  }
}

// Sets a tile's operand A to the rows [m, m + rows). True: strided; false: by row pointers, in `row`.
static bool set_tile_a(const GemmJob *j, const GemmBlock *b, int64_t m, int64_t rows,
                       const void **row, Tile *t) {
  const Gemm *g = &j->p->in;
  if (j->p->pack_a) {
    char *tile = (char *)j->run->thread + j->p->tile_at;
    GemmPanel from = {j->a, g->am, g->ak, m, rows, rows, b->k0, b->k1 - b->k0};
    t->a = tile;
    if (j->q->pack_a) {
      t->ak = j->q->rows * packed_factors(j->q, j->q->grain);
      j->q->pack_a(&from, t->ak, tile);
    } else {
      t->am = 1, t->ak = rows;
      pack_panel(j, &from, tile);
    }
    return true;
  }
  int64_t k0 = g->ak.at ? 0 : b->k0 * g->ak.step;
  t->ak = g->ak.step;
  if (!g->am.at && !g->ak.at && !(g->bk.at && !j->p->pack_b)) {
    t->a = j->a + (m * g->am.step + k0) * (int64_t)j->cell;
    t->am = g->am.step;
    return true;
  }
  t->row = row;
  t->ka = g->ak.at ? g->ak.at + b->k0 : NULL;
  for (int64_t i = 0; i < rows; i++)
    row[i] = j->a + (axis_offset(g->am, m + i) + k0) * (int64_t)j->cell;
  return false;
}

static void set_tile_b(const GemmJob *j, const GemmBlock *b, int64_t n, int64_t width, bool whole,
                       Tile *t) {
  const GemmPlan *p = j->p;
  const GemmAxis bk = p->in.bk;
  t->kb = NULL;
  if (p->pack_b) {
    int64_t line = n / j->wide * packed_factors(j->q, p->in.k) + packed_factors(j->q, b->k0);
    t->b = (char *)j->run->shared + (size_t)(line * j->wide) * j->cell;
    t->bk = j->wide;
  } else if (!whole) {
    t->b = j->run->thread;
    t->bk = width;
  } else {
    t->b = j->b + (n + (bk.at ? 0 : b->k0 * bk.step)) * (int64_t)j->cell;
    t->bk = bk.step;
    if (bk.at) t->kb = bk.at + b->k0;
  }
}

static void multiply_tile(const GemmJob *j, const GemmBlock *b, bool steps, int64_t m, int64_t rows,
                          int64_t n, Tile *t) {
  _Alignas(64) char tile[TILE_ROWS * TILE_BYTES];
  void *to[TILE_ROWS];
  int64_t columns = least(b->n1 - b->dots - n, j->wide), vectors = vectors_of(j, columns);
  int64_t width = vectors * j->q->lanes;
  bool direct = axis_has_stride(b->cn, 1) && (b->partial || columns == width);
  set_tile_b(j, b, n, width, columns == width, t);
  t->to = NULL;
  t->add = direct && b->add;
  if (!direct) {
    t->c = tile, t->cm = j->wide;
  } else if (!b->cm.at) {
    t->c = b->c + (m * b->cm.step + n) * (int64_t)j->cell, t->cm = b->cm.step;
  } else {
    for (int64_t i = 0; i < rows; i++) to[i] = b->c + (b->cm.at[m + i] + n) * (int64_t)j->cell;
    t->to = to;
  }
  t->rows = rows, t->vectors = vectors;
  TileFn *const *by = steps ? j->q->strided : j->q->by_pointers;
  (j->q->tile ? j->q->tile : by[(vectors - 1) * j->q->rows + rows - 1])(t);
  if (direct) return;
  TileTarget place = {b->c, b->cm, b->cn, m, rows, n, columns, b->add};
  tile_store(&place, j->p->g.precision, tile, j->wide);
}

static void multiply_dots(const GemmJob *j, const GemmBlock *b, int64_t m, int64_t rows,
                          const Tile *t) {
  _Alignas(64) char sums[TILE_ROWS * DOT_COLUMNS * sizeof(double)];
  const char *columns = (const char *)j->run->thread + j->p->column_at;
  j->q->dot(&(Dot){rows, b->dots, t->k, t->a, columns, t->am, j->p->kb, sums, DOT_COLUMNS});
  TileTarget place = {b->c, b->cm, b->cn, m, rows, b->n1 - b->dots, b->dots, b->add};
  tile_store(&place, j->p->g.precision, sums, DOT_COLUMNS);
}

// One chunk of k: each tile of A by all panels of B while the tile is in the L1 cache.
static void multiply_chunk(const GemmJob *j, const GemmBlock *b) {
  const void *row[TILE_ROWS];
  Tile t = {.k = packed_factors(j->q, b->k1 - b->k0)};
  pack_edge(j, b);
  if (j->q->begin) j->q->begin();
  for (int64_t m = b->m0, rows; m < b->m1; m += rows) {
    rows = least(b->rows, b->m1 - m);
    bool steps = set_tile_a(j, b, m, rows, row, &t);
    for (int64_t n = b->n0; n < b->n1 - b->dots; n += j->wide)
      multiply_tile(j, b, steps, m, rows, n, &t);
    if (b->dots) multiply_dots(j, b, m, rows, &t);
  }
  if (j->q->finish) j->q->finish();
}

// Tiles have about equal heights; a transposed store needs a multiple of 4.
static int64_t tile_rows(const GemmJob *j, const GemmBlock *b) {
  int64_t square = stored_transposed(b->cm, b->cn) ? 4 : 1, rows = b->m1 - b->m0;
  int64_t tiles = 1, most = j->q->rows & ~(square - 1);
  while (tiles * most < rows) tiles++;
  return ceil_div(ceil_div(rows, tiles), square) * square;
}

static void multiply_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = 0, n0 = 0, piece = 0;
  if (task) {
    m0 = task % p->m_blocks * p->mb, task /= p->m_blocks;
    n0 = task % p->n_blocks * p->nb, piece = task / p->n_blocks;
  }
  int64_t k0 = piece * p->split_length;
  GemmBlock b = {.m0 = m0, .m1 = least(m0 + p->mb, j->m), .n0 = n0, .n1 = least(n0 + p->nb, j->n)};
  if (b.m0 >= b.m1 || b.n0 >= b.n1 || (piece > 0 && k0 >= j->k)) return;
  if (b.n1 > p->in.n - p->dots) b.dots = b.n1 - (p->in.n - p->dots);
  int64_t end = least(k0 + p->split_length, j->k);
  b.c = j->run->c, b.cm = p->in.cm, b.cn = p->in.cn, b.add = j->run->add;
  if (p->splits > 1) {
    int64_t step = partial_step(p);
    b.c = (char *)j->run->shared + p->partial_at + (size_t)(piece * p->in.m * step) * j->cell;
    b.cm = (GemmAxis){.step = step}, b.cn = (GemmAxis){.step = 1}, b.add = false, b.partial = true;
  }
  b.rows = tile_rows(j, &b);
  for (bool last = false; !last; b.add = true, k0 = b.k1) {
    b.k0 = k0, b.k1 = least(k0 + p->kb, end);
    last = b.k1 >= end;
    multiply_chunk(j, &b);
  }
}

// Adds the partial sums of some rows, in order. If C's columns are not contiguous, the first part
// accumulates them, and the row is then stored cell by cell.
static void sum_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = task * p->mb, m1 = least(m0 + p->mb, j->m), step = partial_step(p);
  int64_t splits = j->k > 0 ? ceil_div(j->k, p->split_length) : 1;
  if (m0 >= m1 || j->n <= 0) return;
  char *partial = (char *)j->run->shared + p->partial_at;
  for (int64_t m = m0; m < m1; m++) {
    char *from = partial + (size_t)(m * step) * j->cell, *c = j->run->c;
    if (axis_has_stride(p->in.cn, 1)) {
      c += axis_offset(p->in.cm, m) * (int64_t)j->cell;
      j->q->sum(c, from, p->in.m * step, splits, j->n, j->run->add);
    } else {
      j->q->sum(from, from, p->in.m * step, splits, j->n, false);
      TileTarget place = {c, p->in.cm, p->in.cn, m, 1, 0, j->n, j->run->add};
      tile_store(&place, p->g.precision, from, step);
    }
  }
}

void gemm_task(const GemmPlan *p, const GemmRun *r, int phase, int64_t task) {
  GemmJob j = job_of(p, r);
  if (phase == 0) pack_task(&j, task);
  if (phase == 1) multiply_task(&j, task);
  if (phase == 2) sum_task(&j, task);
}

size_t gemm_small_bytes(const GemmPlan *p) { return p->shared_bytes + p->thread_bytes; }

void gemm_small(const GemmPlan *p, GemmRun r, void *scratch) {
  r.shared = scratch;
  r.thread = (char *)scratch + p->shared_bytes;
  for (int phase = 0; phase < 3; phase++)
    for (int64_t task = 0; task < p->tasks[phase]; task++) gemm_task(p, &r, phase, task);
}

const char *gemm_kernel_name(void) { return gemm_kernel(PRECISION_32)->name; }

double gemm_peak(Precision precision) {
  const GemmKernel *q = gemm_kernel(precision);
  double best = 0;
  for (int i = 0; i < 10; i++) {
    double now = q->peak();
    if (now > best) best = now;
  }
  return best;
}
