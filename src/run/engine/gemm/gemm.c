// Matrix products by lines. In: a product, how large it can get, and at each run its operands. Out:
// C, in tasks that any thread may run in any order.
//
// Planning chooses which operand is spread cell by cell (A) and which is read as vectors (B): the
// product as it is given, or its transpose. A is read where it lies, whatever its lines; B too, if
// its columns lie side by side, else phase 0 packs it. Phase 1 multiplies: a task is a block of C
// and a piece of k. It goes over k in chunks, over tiles of rows, and over panels of columns, so
// that a tile of A stays in the first cache and the block of B in the second. A long sum with a
// small C is cut into pieces that phase 2 adds up. bf16 is always packed.
//
// Each cell of C is summed in the order of k within a chunk, then by chunks, then by pieces, and
// all three depend on the plan alone. So neither threads nor the order of tasks nor the size of the
// run change any bit.
#include "run/engine/gemm/gemm_kernel.h"

enum {
  CHUNK = 512,         // places of k between two visits of C
  BLOCK_COLUMNS = 256, // of a task at most: with CHUNK, what the second cache holds of B
  BLOCK_ROWS = 112,    // the same
  PACK_LINES = 256,    // places of k that a task of phase 0 packs,
  PACK_PANELS = 8,     // of so many panels
  TASKS = 64,          // enough for 16 threads
  GRAIN = 32,          // of k: chunks and pieces are multiples of it, and it of any kernel's grain
};
static const double TASK_FLOPS = 1 << 20; // less is not worth a task

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts(int64_t n, int64_t part) { return (n + part - 1) / part; }
static size_t aligned(size_t bytes) { return (bytes + 63) & ~(size_t)63; }
static size_t cell_bytes(Precision p) { return p == PRECISION_64 ? sizeof(double) : sizeof(float); }

// Planning

// Lines so far apart share few places in a cache.
static bool far(const Gemm *g, GemmLine l) {
  return !l.at && l.step != 0 && l.step * (int64_t)cell_bytes(g->precision) % 4096 == 0;
}

// B can be read where it lies. With many rows it is still better packed if lines push each other
// out of the cache, or if vectors straddle its lines.
static bool b_lies_well(const Gemm *g) {
  if (!line_is(g->bn, 1) || g->precision == PRECISION_BF16) return false;
  if (g->bk.at) return true;
  bool straddles = g->bk.step * (int64_t)cell_bytes(g->precision) % 64 != 0;
  return !(straddles && g->m >= 256) && !(far(g, g->bk) && g->m >= 512);
}

// A is read where it lies, unless its columns push each other out of the cache and are read often.
static bool a_lies_well(const Gemm *g) {
  if (g->precision == PRECISION_BF16) return false;
  return !(line_is(g->am, 1) && far(g, g->ak) && g->n >= 2 * BLOCK_COLUMNS && g->k >= 64);
}

// How long it takes, roughly, in cycles of a CPU that does two vectors at once.
static double cost_of(const Gemm *g, const GemmKernel *q) {
  double m = (double)g->m, n = (double)g->n, k = (double)g->k;
  double vectors = (double)parts(g->n, q->lanes), sums = vectors > 1 ? 2 * m : m;
  double cost = m * vectors * k / (2 * q->speed);
  if (sums < 8) cost *= 8 / sums; // each waits for the one before
  if (g->am.at || g->ak.at) cost *= vectors > 1 ? 1.05 : 1.2;
  if (!b_lies_well(g)) cost += k * n * (line_is(g->bn, 1) ? 0.3 : line_is(g->bk, 1) ? 0.6 : 1.2);
  if (!a_lies_well(g)) cost += k * m * 0.4;
  return cost + m * n * (line_is(g->cn, 1) ? 0.1 : 0.7);
}

static Gemm transpose_of(const Gemm *g) {
  Gemm t = *g;
  t.m = g->n, t.n = g->m;
  t.am = g->bn, t.ak = g->bk;
  t.bk = g->ak, t.bn = g->am;
  t.cm = g->cn, t.cn = g->cm;
  return t;
}

// Tiles that are stored turned: the rows of a tile are the columns of C.
static bool stored_turned(GemmLine cm, GemmLine cn) { return line_is(cm, 1) && !line_is(cn, 1); }

// Rows of a task come in so many: whole tiles, or what fills lines of the cache, so that two
// threads do not write to one line.
static int64_t row_unit(const GemmPlan *p) {
  if (!stored_turned(p->in.cm, p->in.cn)) return p->kernel->rows;
  return 64 / (int64_t)cell_bytes(p->g.precision);
}

// Halves what a task takes until there are enough tasks: rows first, since a block of B stays in
// the cache from one task to the next. Columns stay if each task packs its rows of A.
static void split_blocks(GemmPlan *p, int64_t rows, int64_t columns, int64_t want) {
  const GemmKernel *q = p->kernel;
  int64_t panel = q->vectors * q->lanes, unit = row_unit(p);
  for (;;) {
    p->m_blocks = parts(p->in.m, p->mb);
    p->n_blocks = parts(p->in.n, p->nb);
    if (p->m_blocks * p->n_blocks * p->pieces >= want) return;
    if (2 * p->mb > 3 * rows && p->mb > unit)
      p->mb = parts(parts(p->mb, 2), unit) * unit;
    else if (p->nb > columns && p->nb > panel && !p->pack_a)
      p->nb = parts(parts(p->nb, 2), panel) * panel;
    else
      return;
  }
}

// Each piece writes sums of its own, so it should be long.
static void split_sum(GemmPlan *p, int64_t want) {
  int64_t blocks = p->m_blocks * p->n_blocks;
  p->pieces = least(parts(want, blocks), p->in.k / CHUNK);
  if (p->pieces < 2) p->pieces = 1;
  p->piece = parts(parts(p->in.k, p->pieces), GRAIN) * GRAIN;
}

// A small C under a long sum is cut along k first: then no factor is read twice. Other
// products are cut into blocks of a good size, then along k, then into smaller blocks.
static void plan_tasks(GemmPlan *p) {
  const Gemm *g = &p->in;
  const GemmKernel *q = p->kernel;
  double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  int64_t panel = q->vectors * q->lanes;
  double tasks = flops / (TASK_FLOPS * q->speed);
  int64_t want = tasks > TASKS ? TASKS : (int64_t)tasks;
  p->mb = parts(least(g->m, BLOCK_ROWS), row_unit(p)) * row_unit(p);
  p->nb = parts(least(g->n, (p->pack_a ? 2 : 1) * BLOCK_COLUMNS), panel) * panel;
  p->pieces = 1;
  p->piece = g->k;
  if (g->k >= 4 * CHUNK && g->m * g->n <= 1 << 14) {
    split_blocks(p, g->m, g->n, 1);
    split_sum(p, want);
  }
  split_blocks(p, BLOCK_ROWS / 2, BLOCK_COLUMNS / 2, want);
  if (2 * p->m_blocks * p->n_blocks * p->pieces < want) split_sum(p, want);
  split_blocks(p, BLOCK_ROWS / 4, BLOCK_COLUMNS / 4, want);
  split_blocks(p, BLOCK_ROWS / 8, BLOCK_COLUMNS / 8, least(want, TASKS / 3));
  p->kb = parts(parts(p->piece, parts(p->piece > 0 ? p->piece : 1, CHUNK)), GRAIN) * GRAIN;
}

// Packed factors in k places: cells, or pairs of them, by whole grains.
static int64_t factors(const GemmKernel *q, int64_t k) {
  return parts(k, q->grain) * (q->pairs ? q->grain / 2 : 1);
}

// Cells between two rows of a piece's sums: whole panels, so that kernels need not mind where C
// ends.
static int64_t partial_step(const GemmPlan *p) {
  int64_t wide = p->kernel->vectors * p->kernel->lanes;
  return parts(p->in.n, wide) * wide;
}

// A vector for very few columns is wasted on them. Along k a row of A must lie side by side.
static void plan_dots(GemmPlan *p) {
  const Gemm *g = &p->in;
  int64_t lanes = p->kernel->lanes, few = g->n % lanes;
  if (few <= DOT_COLUMNS && 4 * few <= lanes && g->k >= 2 * lanes && !p->pack_a && !g->am.at &&
      !g->bk.at && line_is(g->ak, 1))
    p->dots = few;
}

static void plan_memory(GemmPlan *p) {
  const GemmKernel *q = p->kernel;
  int64_t wide = q->vectors * q->lanes, panels = parts(p->in.n, wide);
  size_t cell = cell_bytes(p->g.precision), line = (size_t)wide * cell;
  size_t chunk = (size_t)factors(q, p->kb);
  p->tasks[1] = p->m_blocks * p->n_blocks * p->pieces;
  if (p->pack_b) {
    p->tasks[0] = parts(panels, PACK_PANELS) * parts(p->in.k, PACK_LINES);
    p->partial_at = aligned((size_t)(panels * factors(q, p->in.k)) * line);
  } else {
    p->tile_at = aligned(chunk * line);
  }
  p->shared_bytes = p->partial_at;
  if (p->pieces > 1) {
    p->tasks[2] = p->m_blocks;
    p->shared_bytes += aligned((size_t)(p->pieces * p->in.m * partial_step(p)) * cell);
  }
  p->column_at = p->tile_at + (p->pack_a ? aligned(chunk * (size_t)q->rows * cell) : 0);
  p->thread_bytes = p->column_at + aligned((size_t)p->dots * chunk * cell);
}

void gemm_plan(const Gemm *g, GemmPlan *p) {
  *p = (GemmPlan){.g = *g, .in = *g, .kernel = gemm_kernel(g->precision), .pieces = 1};
  if (g->m <= 0 || g->n <= 0) return;
  Gemm t = transpose_of(g);
  p->turned = cost_of(&t, p->kernel) < 0.95 * cost_of(g, p->kernel);
  if (p->turned) p->in = t;
  p->pack_a = !a_lies_well(&p->in);
  p->pack_b = !b_lies_well(&p->in);
  plan_dots(p);
  plan_tasks(p);
  plan_memory(p);
}

// Running

// A run, with the operands in their roles.
typedef struct {
  const GemmPlan *p;
  const GemmKernel *q;
  const GemmRun *run;
  const char *a, *b;
  int64_t m, n, k;
  size_t cell;
  int64_t wide; // columns of a panel
} GemmJob;

// What a task computes: a block of C, or of a piece's sums, over places [k0, k1).
typedef struct {
  int64_t m0, m1, n0, n1, k0, k1;
  int64_t rows; // of a tile
  int64_t dots; // of the columns, those at the end that are summed along k
  char *c;
  GemmLine cm, cn;
  bool add, partial;
} GemmBlock;

static GemmJob job_of(const GemmPlan *p, const GemmRun *r) {
  return (GemmJob){.p = p,
                   .q = p->kernel,
                   .run = r,
                   .a = p->turned ? r->b : r->a,
                   .b = p->turned ? r->a : r->b,
                   .m = p->turned ? r->n : r->m,
                   .n = p->turned ? r->m : r->n,
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
    panel_pair(p, to);
  else
    panel_pack(p, j->p->g.precision, to);
}

static GemmPanel panel_of_b(const GemmJob *j, int64_t n, int64_t count, int64_t width, int64_t k0,
                            int64_t k) {
  return (GemmPanel){j->b, j->p->in.bn, j->p->in.bk, n, count, width, k0, k};
}

// Some lines of k of some panels, a few lines at a time: they are read as they lie, and written as
// they will be read.
static void pack_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t cuts = parts(p->in.k, PACK_LINES), k0 = task % cuts * PACK_LINES;
  int64_t n0 = task / cuts * PACK_PANELS * j->wide, n1 = least(n0 + PACK_PANELS * j->wide, j->n);
  n1 = least(n1, p->in.n - p->dots);
  int64_t k1 = least(k0 + PACK_LINES, j->k), some = line_is(p->in.bn, 1) ? GRAIN : PACK_LINES;
  for (int64_t k = k0; k < k1; k += some)
    for (int64_t n = n0; n < n1; n += j->wide) {
      int64_t line = n / j->wide * factors(j->q, p->in.k) + factors(j->q, k);
      GemmPanel from = panel_of_b(j, n, least(n1 - n, j->wide), j->wide, k, least(k1 - k, some));
      pack_panel(j, &from, (char *)j->run->shared + (size_t)(line * j->wide) * j->cell);
    }
}

// Columns that do not fill a vector, and those to be summed along k, are packed by each task.
static void pack_last(const GemmJob *j, const GemmBlock *b) {
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

// Points a tile at rows [m, m + rows) of A. Says whether by steps; `row` is where pointers to rows
// can stand.
static bool take_a(const GemmJob *j, const GemmBlock *b, int64_t m, int64_t rows, const void **row,
                   Tile *t) {
  const Gemm *g = &j->p->in;
  if (j->p->pack_a) {
    char *tile = (char *)j->run->thread + j->p->tile_at;
    GemmPanel from = {j->a, g->am, g->ak, m, rows, rows, b->k0, b->k1 - b->k0};
    t->a = tile;
    if (j->q->pack_a) {
      t->ak = j->q->rows * factors(j->q, j->q->grain);
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
    row[i] = j->a + (line_at(g->am, m + i) + k0) * (int64_t)j->cell;
  return false;
}

static void take_b(const GemmJob *j, const GemmBlock *b, int64_t n, int64_t width, bool whole,
                   Tile *t) {
  const GemmPlan *p = j->p;
  const GemmLine bk = p->in.bk;
  t->kb = NULL;
  if (p->pack_b) {
    int64_t line = n / j->wide * factors(j->q, p->in.k) + factors(j->q, b->k0);
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
  bool direct = line_is(b->cn, 1) && (b->partial || columns == width);
  take_b(j, b, n, width, columns == width, t);
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
  TileFn *const *by = steps ? j->q->by_steps : j->q->by_rows;
  (j->q->tile ? j->q->tile : by[(vectors - 1) * j->q->rows + rows - 1])(t);
  if (direct) return;
  PanelPlace place = {b->c, b->cm, b->cn, m, rows, n, columns, b->add};
  place_store(&place, j->p->g.precision, tile, j->wide);
}

static void multiply_dots(const GemmJob *j, const GemmBlock *b, int64_t m, int64_t rows,
                          const Tile *t) {
  _Alignas(64) char sums[TILE_ROWS * DOT_COLUMNS * sizeof(double)];
  const char *columns = (const char *)j->run->thread + j->p->column_at;
  j->q->dot(&(Dot){rows, b->dots, t->k, t->a, columns, t->am, j->p->kb, sums, DOT_COLUMNS});
  PanelPlace place = {b->c, b->cm, b->cn, m, rows, b->n1 - b->dots, b->dots, b->add};
  place_store(&place, j->p->g.precision, sums, DOT_COLUMNS);
}

// One chunk of k: each tile by all panels while it is in the first cache.
static void multiply_chunk(const GemmJob *j, const GemmBlock *b) {
  const void *row[TILE_ROWS];
  Tile t = {.k = factors(j->q, b->k1 - b->k0)};
  pack_last(j, b);
  if (j->q->begin) j->q->begin();
  for (int64_t m = b->m0, rows; m < b->m1; m += rows) {
    rows = least(b->rows, b->m1 - m);
    bool steps = take_a(j, b, m, rows, row, &t);
    for (int64_t n = b->n0; n < b->n1 - b->dots; n += j->wide)
      multiply_tile(j, b, steps, m, rows, n, &t);
    if (b->dots) multiply_dots(j, b, m, rows, &t);
  }
  if (j->q->finish) j->q->finish();
}

// Tiles are of about equal height; those that are stored turned are whole squares.
static int64_t tile_rows(const GemmJob *j, const GemmBlock *b) {
  int64_t square = stored_turned(b->cm, b->cn) ? 4 : 1, rows = b->m1 - b->m0;
  int64_t tiles = 1, most = j->q->rows & ~(square - 1);
  while (tiles * most < rows) tiles++;
  return parts(parts(rows, tiles), square) * square;
}

static void multiply_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = 0, n0 = 0, piece = 0;
  if (task) {
    m0 = task % p->m_blocks * p->mb, task /= p->m_blocks;
    n0 = task % p->n_blocks * p->nb, piece = task / p->n_blocks;
  }
  int64_t k0 = piece * p->piece;
  GemmBlock b = {.m0 = m0, .m1 = least(m0 + p->mb, j->m), .n0 = n0, .n1 = least(n0 + p->nb, j->n)};
  if (b.m0 >= b.m1 || b.n0 >= b.n1 || (piece > 0 && k0 >= j->k)) return;
  if (b.n1 > p->in.n - p->dots) b.dots = b.n1 - (p->in.n - p->dots);
  int64_t end = least(k0 + p->piece, j->k);
  b.c = j->run->c, b.cm = p->in.cm, b.cn = p->in.cn, b.add = j->run->add;
  if (p->pieces > 1) {
    int64_t step = partial_step(p);
    b.c = (char *)j->run->shared + p->partial_at + (size_t)(piece * p->in.m * step) * j->cell;
    b.cm = (GemmLine){.step = step}, b.cn = (GemmLine){.step = 1}, b.add = false, b.partial = true;
  }
  b.rows = tile_rows(j, &b);
  for (bool last = false; !last; b.add = true, k0 = b.k1) {
    b.k0 = k0, b.k1 = least(k0 + p->kb, end);
    last = b.k1 >= end;
    multiply_chunk(j, &b);
  }
}

// The pieces of some rows, added up in order. Where C's columns do not lie side by side, in the
// place of the first piece.
static void sum_task(const GemmJob *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = task * p->mb, m1 = least(m0 + p->mb, j->m), step = partial_step(p);
  int64_t pieces = j->k > 0 ? parts(j->k, p->piece) : 1;
  if (m0 >= m1 || j->n <= 0) return;
  char *partial = (char *)j->run->shared + p->partial_at;
  for (int64_t m = m0; m < m1; m++) {
    char *from = partial + (size_t)(m * step) * j->cell, *c = j->run->c;
    if (line_is(p->in.cn, 1)) {
      c += line_at(p->in.cm, m) * (int64_t)j->cell;
      j->q->sum(c, from, p->in.m * step, pieces, j->n, j->run->add);
    } else {
      j->q->sum(from, from, p->in.m * step, pieces, j->n, false);
      PanelPlace place = {c, p->in.cm, p->in.cn, m, 1, 0, j->n, j->run->add};
      place_store(&place, p->g.precision, from, step);
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
