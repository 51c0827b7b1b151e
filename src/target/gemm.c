// Matrix products by lines. In: a product, how large it can get, and at each run its operands. Out:
// C, in tasks that any thread may run in any order.
//
// Planning chooses which operand is spread cell by cell (A) and which is read as vectors (B): the
// product as it is given, or its transpose. A is read where it lies, whatever its lines. B is read
// where it lies if its columns lie side by side, and packed in phase 0 if not. Phase 1 multiplies:
// a task is a block of C and a piece of k. It goes over k in chunks, over tiles of rows, and over
// panels of columns, so that a tile of A stays in the first cache and the block of B in the second.
// A long sum with a small C is cut into pieces that phase 2 adds up.
//
// Each cell of C is summed in the order of k within a chunk, then by chunks, then by pieces, and
// all three depend on the plan alone. So neither threads nor the order of tasks nor the other cells
// of a run change any bit.
#include "target/gemm.h"
#include "target/gemm_kernel.h"
#include "target/gemm_move.h"

enum {
  CHUNK = 512,         // places in k between two visits of C
  BLOCK_COLUMNS = 256, // of a task at most: with CHUNK, what the second cache holds of B
  BLOCK_ROWS = 112,
  PACK_LINES = 1024, // places in k that a task of phase 0 packs
  TASKS = 64,        // enough for 16 threads
};
static const double TASK_FLOPS = 1 << 20; // less is not worth a task

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts(int64_t n, int64_t part) { return (n + part - 1) / part; }
static size_t aligned(size_t bytes) { return (bytes + 63) & ~(size_t)63; }
static size_t cell_bytes(Precision p) { return p == PRECISION_64 ? sizeof(double) : sizeof(float); }

// Planning

static bool b_lies_well(const Gemm *g) {
  return line_is(g->bn, 1) && g->precision != PRECISION_BF16;
}

// How long it takes, roughly, in cycles of a CPU that does two vectors at once.
static double cost_of(const Gemm *g, const GemmKernel *q) {
  double m = (double)g->m, n = (double)g->n, k = (double)g->k;
  double vectors = (double)parts(g->n, q->lanes), sums = vectors > 1 ? 2 * m : m;
  double cost = m * vectors * k / 2;
  if (sums < 8) cost *= 8 / sums; // each waits for the one before
  if (g->am.at || g->ak.at) cost *= vectors > 1 ? 1.05 : 1.3;
  if (!b_lies_well(g)) cost += k * n * (line_is(g->bk, 1) || line_is(g->bn, 1) ? 0.5 : 1.0);
  if (g->precision == PRECISION_BF16) cost += k * m;
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

// Halves what a task takes until there are enough tasks: rows first, since a block of B stays in
// the cache from one task to the next.
static void split_blocks(GemmPlan *p, int64_t rows, int64_t columns, int64_t want) {
  const GemmKernel *q = p->kernel;
  int64_t panel = q->vectors * q->lanes;
  for (;;) {
    p->m_blocks = parts(p->in.m, p->mb);
    p->n_blocks = parts(p->in.n, p->nb);
    if (p->m_blocks * p->n_blocks * p->pieces >= want) return;
    if (p->mb > rows)
      p->mb = parts(parts(p->mb, 2), q->rows) * q->rows;
    else if (p->nb > columns)
      p->nb = parts(parts(p->nb, 2), panel) * panel;
    else
      return;
  }
}

static void split_sum(GemmPlan *p, int64_t want) {
  int64_t blocks = p->m_blocks * p->n_blocks;
  p->pieces = least(parts(want, blocks), p->in.k / CHUNK);
  if (p->pieces < 2) p->pieces = 1;
  p->piece = parts(parts(p->in.k, p->pieces), 2) * 2;
}

static void plan_tasks(GemmPlan *p) {
  const Gemm *g = &p->in;
  const GemmKernel *q = p->kernel;
  double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  int64_t panel = q->vectors * q->lanes;
  int64_t want = flops / TASK_FLOPS > TASKS ? TASKS : (int64_t)(flops / TASK_FLOPS);
  p->mb = parts(least(g->m, BLOCK_ROWS), q->rows) * q->rows;
  p->nb = parts(least(g->n, BLOCK_COLUMNS), panel) * panel;
  p->pieces = 1;
  p->piece = g->k;
  if (g->k >= 4 * CHUNK && g->m * g->n <= 1 << 14) {
    split_blocks(p, g->m, g->n, 1);
    split_sum(p, want);
  }
  split_blocks(p, 2 * q->rows, 2 * panel, want);
  if (p->pieces == 1 && 2 * p->m_blocks * p->n_blocks < want) split_sum(p, want);
  split_blocks(p, q->rows, panel, want);
  p->kb = parts(parts(p->piece, parts(p->piece > 0 ? p->piece : 1, CHUNK)), 2) * 2;
}

// Factors of a chunk or of all of k: cells, or pairs of them.
static int64_t factors(const GemmKernel *q, int64_t k) { return q->pairs ? parts(k, 2) : k; }

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
  if (p->b == GEMM_DIRECT && few <= DOT_COLUMNS && 4 * few <= lanes && g->k >= 2 * lanes &&
      !g->am.at && !g->bk.at && line_is(g->ak, 1))
    p->dots = few;
}

static void plan_memory(GemmPlan *p) {
  const GemmKernel *q = p->kernel;
  int64_t wide = q->vectors * q->lanes, panels = parts(p->in.n, wide);
  size_t cell = cell_bytes(p->g.precision), line = (size_t)wide * cell;
  size_t chunk = (size_t)factors(q, p->kb);
  p->tasks[1] = p->m_blocks * p->n_blocks * p->pieces;
  if (p->b == GEMM_PACKED) {
    p->tasks[0] = panels * parts(p->in.k, PACK_LINES);
    p->partial_at = aligned((size_t)(panels * factors(q, p->in.k)) * line);
  } else {
    p->tile_at = aligned(chunk * line);
  }
  p->shared_bytes = p->partial_at;
  if (p->pieces > 1) {
    p->tasks[2] = p->m_blocks;
    p->shared_bytes += (size_t)(p->pieces * p->in.m) * (size_t)partial_step(p) * cell;
  }
  p->column_at = p->tile_at + (p->pack_a ? aligned(chunk * (size_t)q->rows * cell) : 0);
  p->thread_bytes = p->column_at + (p->b == GEMM_DIRECT ? aligned(DOT_COLUMNS * chunk * cell) : 0);
}

void gemm_plan(const Gemm *g, GemmPlan *p) {
  *p = (GemmPlan){.g = *g, .in = *g, .kernel = gemm_kernel(g->precision), .pieces = 1};
  if (g->m <= 0 || g->n <= 0) return;
  Gemm t = transpose_of(g);
  p->turned = cost_of(&t, p->kernel) < 0.95 * cost_of(g, p->kernel);
  if (p->turned) p->in = t;
  p->pack_a = g->precision == PRECISION_BF16;
  p->b = b_lies_well(&p->in) ? GEMM_DIRECT : GEMM_PACKED;
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
} Job;

// What a task computes: a block of C, or of a piece's sums, over places [k0, k1).
typedef struct {
  int64_t m0, m1, n0, n1, k0, k1;
  int64_t dots; // of the columns, those at the end that are summed along k
  char *c;
  Line cm, cn;
  bool add, partial;
} Block;

static Job job_of(const GemmPlan *p, const GemmRun *r) {
  return (Job){.p = p,
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

static void call_end(const Job *j, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
  const GemmRun *r = j->run;
  if (!r->end) return;
  if (j->p->turned)
    r->end(r->end_context, n0, n1, m0, m1);
  else
    r->end(r->end_context, m0, m1, n0, n1);
}

static void pack(const Job *j, const Panel *p, void *to) {
  if (j->q->pairs)
    panel_pair(p, to);
  else
    panel_pack(p, j->p->g.precision, to);
}

static Panel panel_of_b(const Job *j, int64_t n, int64_t count, int64_t width, int64_t k0,
                        int64_t k) {
  return (Panel){j->b, j->p->in.bn, j->p->in.bk, n, count, width, k0, k};
}

static void pack_task(const Job *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t cuts = parts(p->in.k, PACK_LINES), panel = task / cuts, k0 = task % cuts * PACK_LINES;
  int64_t n = panel * j->wide, k = least(j->k - k0, PACK_LINES);
  if (n >= j->n || k <= 0) return;
  int64_t line = panel * factors(j->q, p->in.k) + factors(j->q, k0);
  Panel from = panel_of_b(j, n, least(j->n - n, j->wide), j->wide, k0, k);
  pack(j, &from, (char *)j->run->shared + (size_t)(line * j->wide) * j->cell);
}

// Columns that do not fill a vector are packed by each task.
static void pack_last(const Job *j, const Block *b) {
  const GemmPlan *p = j->p;
  int64_t columns = b->n1 - b->dots - b->n0, last = columns % j->wide, k = b->k1 - b->k0;
  char *memory = j->run->thread;
  if (p->b != GEMM_DIRECT) return;
  if (last % j->q->lanes) {
    int64_t width = parts(last, j->q->lanes) * j->q->lanes;
    Panel from = panel_of_b(j, b->n0 + columns - last, last, width, b->k0, k);
    panel_pack(&from, p->g.precision, memory);
  }
  for (int64_t i = 0; i < b->dots; i++) {
    Panel from = panel_of_b(j, b->n0 + columns + i, 1, 1, b->k0, k);
    panel_pack(&from, p->g.precision, memory + p->column_at + (size_t)(i * p->kb) * j->cell);
  }
}

// Points a tile at rows [m, m + rows) of A. Says whether by steps; `row` is where pointers to rows
// can stand.
static bool take_a(const Job *j, const Block *b, int64_t m, int64_t rows, const void **row,
                   Tile *t) {
  const Gemm *g = &j->p->in;
  if (j->p->pack_a) {
    char *tile = (char *)j->run->thread + j->p->tile_at;
    Panel from = {j->a, g->am, g->ak, m, rows, rows, b->k0, b->k1 - b->k0};
    pack(j, &from, tile);
    t->a = tile, t->am = 1, t->ak = rows;
    return true;
  }
  int64_t k0 = g->ak.at ? 0 : b->k0 * g->ak.step;
  t->ak = g->ak.step;
  if (!g->am.at && !g->ak.at && !(g->bk.at && j->p->b == GEMM_DIRECT)) {
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

static void take_b(const Job *j, const Block *b, int64_t n, int64_t columns, Tile *t) {
  const GemmPlan *p = j->p;
  const Line bk = p->in.bk;
  t->kb = NULL;
  if (p->b == GEMM_PACKED) {
    int64_t line = n / j->wide * factors(j->q, p->in.k) + factors(j->q, b->k0);
    t->b = (char *)j->run->shared + (size_t)(line * j->wide) * j->cell;
    t->bk = j->wide;
  } else if (columns % j->q->lanes) {
    t->b = j->run->thread;
    t->bk = parts(columns, j->q->lanes) * j->q->lanes;
  } else {
    t->b = j->b + (n + (bk.at ? 0 : b->k0 * bk.step)) * (int64_t)j->cell;
    t->bk = bk.step;
    if (bk.at) t->kb = bk.at + b->k0;
  }
}

static void multiply_tile(const Job *j, const Block *b, bool steps, int64_t m, int64_t rows,
                          int64_t n, Tile *t) {
  _Alignas(64) char tile[TILE_ROWS * TILE_BYTES];
  void *to[TILE_ROWS];
  int64_t columns = least(b->n1 - b->dots - n, j->wide), vectors = parts(columns, j->q->lanes);
  bool direct = line_is(b->cn, 1) && (b->partial || columns == vectors * j->q->lanes);
  take_b(j, b, n, columns, t);
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
  (steps ? j->q->by_steps : j->q->by_rows)[(vectors - 1) * j->q->rows + rows - 1](t);
  if (direct) return;
  Place place = {b->c, b->cm, b->cn, m, rows, n, columns, b->add};
  place_store(&place, j->p->g.precision, tile, j->wide);
}

static void multiply_dots(const Job *j, const Block *b, int64_t m, int64_t rows, const Tile *t) {
  _Alignas(64) char sums[TILE_ROWS * DOT_COLUMNS * sizeof(double)];
  const char *columns = (const char *)j->run->thread + j->p->column_at;
  j->q->dot(&(Dot){rows, b->dots, t->k, t->a, columns, t->am, j->p->kb, sums, DOT_COLUMNS});
  Place place = {b->c, b->cm, b->cn, m, rows, b->n1 - b->dots, b->dots, b->add};
  place_store(&place, j->p->g.precision, sums, DOT_COLUMNS);
}

// One chunk of k: tiles of about equal height, each by all panels while it is in the first cache.
static void multiply_chunk(const Job *j, const Block *b, bool last) {
  const void *row[TILE_ROWS];
  Tile t = {.k = factors(j->q, b->k1 - b->k0)};
  int64_t tiles = parts(b->m1 - b->m0, j->q->rows);
  pack_last(j, b);
  for (int64_t i = 0; i < tiles; i++) {
    int64_t m = b->m0 + (b->m1 - b->m0) * i / tiles;
    int64_t rows = b->m0 + (b->m1 - b->m0) * (i + 1) / tiles - m;
    bool steps = take_a(j, b, m, rows, row, &t);
    for (int64_t n = b->n0; n < b->n1 - b->dots; n += j->wide)
      multiply_tile(j, b, steps, m, rows, n, &t);
    if (b->dots) multiply_dots(j, b, m, rows, &t);
    if (last && !b->partial && !j->p->turned) call_end(j, m, m + rows, b->n0, b->n1);
  }
}

static void multiply_task(const Job *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = task % p->m_blocks * p->mb, n0 = task / p->m_blocks % p->n_blocks * p->nb;
  int64_t piece = task / (p->m_blocks * p->n_blocks), k0 = piece * p->piece;
  Block b = {.m0 = m0, .m1 = least(m0 + p->mb, j->m), .n0 = n0, .n1 = least(n0 + p->nb, j->n)};
  if (b.m0 >= b.m1 || b.n0 >= b.n1 || (piece > 0 && k0 >= j->k)) return;
  if (b.n1 > p->in.n - p->dots) b.dots = b.n1 - (p->in.n - p->dots);
  int64_t end = least(k0 + p->piece, j->k);
  b.c = j->run->c, b.cm = p->in.cm, b.cn = p->in.cn, b.add = p->in.add;
  if (p->pieces > 1) {
    int64_t step = partial_step(p);
    b.c = (char *)j->run->shared + p->partial_at + (size_t)(piece * p->in.m * step) * j->cell;
    b.cm = (Line){.step = step}, b.cn = (Line){.step = 1}, b.add = false, b.partial = true;
  }
  for (bool last = false; !last; b.add = true, k0 = b.k1) {
    b.k0 = k0, b.k1 = least(k0 + p->kb, end);
    last = b.k1 >= end;
    multiply_chunk(j, &b, last);
  }
  if (p->turned && !b.partial) call_end(j, b.m0, b.m1, b.n0, b.n1);
}

// The pieces of some rows, added up in order. Where C's columns do not lie side by side, in the
// place of the first piece.
static void sum_task(const Job *j, int64_t task) {
  const GemmPlan *p = j->p;
  int64_t m0 = task * p->mb, m1 = least(m0 + p->mb, j->m), step = partial_step(p);
  int64_t pieces = j->k > 0 ? parts(j->k, p->piece) : 1;
  if (m0 >= m1 || j->n <= 0) return;
  char *partial = (char *)j->run->shared + p->partial_at;
  for (int64_t m = m0; m < m1; m++) {
    char *from = partial + (size_t)(m * step) * j->cell, *c = j->run->c;
    if (line_is(p->in.cn, 1)) {
      c += line_at(p->in.cm, m) * (int64_t)j->cell;
      j->q->sum(c, from, p->in.m * step, pieces, j->n, p->in.add);
    } else {
      j->q->sum(from, from, p->in.m * step, pieces, j->n, false);
      Place place = {c, p->in.cm, p->in.cn, m, 1, 0, j->n, p->in.add};
      place_store(&place, p->g.precision, from, step);
    }
  }
  call_end(j, m0, m1, 0, j->n);
}

void gemm_task(const GemmPlan *p, const GemmRun *r, int phase, int64_t task) {
  Job j = job_of(p, r);
  if (phase == 0) pack_task(&j, task);
  if (phase == 1) multiply_task(&j, task);
  if (phase == 2) sum_task(&j, task);
}

size_t gemm_small_bytes(const GemmPlan *p) { return p->shared_bytes + p->thread_bytes; }

void gemm_small(const GemmPlan *p, const void *a, const void *b, void *c, void *scratch) {
  GemmRun r = {.a = a, .b = b, .c = c, .m = p->g.m, .n = p->g.n, .k = p->g.k, .shared = scratch};
  r.thread = (char *)scratch + p->shared_bytes;
  for (int phase = 0; phase < 3; phase++)
    for (int64_t task = 0; task < p->tasks[phase]; task++) gemm_task(p, &r, phase, task);
}

const char *gemm_kernel_name(void) { return gemm_kernel(PRECISION_32)->name; }

double gemm_peak(Precision precision) {
  double best = 0;
  for (int i = 0; i < 10; i++) {
    double now = gemm_kernel(precision)->peak();
    if (now > best) best = now;
  }
  return best;
}
