// Which of our own kernels makes a product: tiles of which size, its sum in how many parts (tiles.h), or by stripes, where it
// is small (stripes.h).
#include "run/engine/cuda_own.h"

#include <math.h>
#include <stdlib.h>

enum {
  PRODUCT_DEEP = 128, // of a sum, at least, for each of its parts
  ALONG = 8,          // cells that follow each other: worth reading along them
  EIGHT = 8,          // bfloat16 that are read at once
  FOUR_CELLS = 4,
};
// Microseconds of a product that is small, by the estimate below; more where the library cannot take it, and no tiles that are
// read by eight.
static const double STRIPES_MOST = 2.5, STRIPES_MORE = 40;
enum { PARTS_MOST = 256 };

// Kinds of tiles, the largest first; the wide ones are read by eight cells at once. `each`: of limn_product; the others are
// the arguments of LIMN_WIDE (tiles.h); on Hopper four warps multiply together. `rate`: how much of a sum a full
// multiprocessor adds up, in millions of multiplications and additions a microsecond, measured on an H200 at the
// convolutions of a residual network.
typedef struct {
  int64_t m, n;
  uint32_t each;
  uint32_t rows, columns, warps_m, warps_n, deep, ahead, blocks;
  double rate;
  bool together; // by units that only Hopper has
} TileKind;
static const TileKind tile_kind[] = {
    {128, 128, .each = 8},
    {64, 64, .each = 4},
    {32, 32, .each = 2},
    {128, 128, 0, 4, 4, 2, 4, 32, 4, 2, 1.85, false},
    {256, 64, 0, 4, 4, 4, 2, 32, 4, 2, 1.6, false},
    {128, 64, 0, 2, 4, 4, 2, 32, 4, 2, 1.65, false},
    {64, 64, 0, 2, 4, 2, 2, 64, 3, 4, 1.5, false},
    {128, 128, 0, 1, 16, 8, 1, 64, 3, 2, 4, true},
    {128, 64, 0, 1, 8, 8, 1, 64, 4, 2, 3, true},
    {64, 128, 0, 1, 16, 4, 1, 64, 4, 2, 3, true},
    {64, 64, 0, 1, 8, 4, 1, 64, 4, 3, 2.5, true},
};
enum { WIDE = 3, KINDS = COUNT(tile_kind) };

static int64_t cut_into(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

static int64_t tiles_in(const Plan *p, const CudaProduct *c, int64_t tm, int64_t tn) {
  return cut_into(length_most(p, c->m), tm) * cut_into(length_most(p, c->n), tn) *
         length_most(p, c->batch);
}
static int64_t tiles_of(const Plan *p, const CudaProduct *c, uint32_t kind) {
  return tiles_in(p, c, tile_kind[kind].m, tile_kind[kind].n);
}

// The largest tiles of which every multiprocessor has one, and no larger than the matrix.
static uint32_t choose_square(const CudaEngine *o, const CudaProduct *c) {
  int64_t m = length_most(o->plan, c->m), n = length_most(o->plan, c->n), least = m < n ? m : n;
  uint32_t kind = 0;
  while (kind + 1 < WIDE &&
         (tiles_of(o->plan, c, kind) < o->d->processors || tile_kind[kind + 1].m >= least))
    kind++;
  return kind;
}

// About how long a product takes, in microseconds, by tiles of this kind and with its sum in so many parts: waves of
// blocks, each with a beginning and an end, and at last the parts are put together.
static double tile_time(const CudaEngine *o, const CudaProduct *c, uint32_t kind, int64_t parts) {
  enum { ENOUGH_WARPS = 16 };
  const TileKind *t = &tile_kind[kind];
  const Plan *p = o->plan;
  double blocks = (double)(tiles_of(p, c, kind) * parts), processors = o->d->processors,
         waves = ceil(blocks / (processors * t->blocks)), at_once = ceil(blocks / processors),
         deep = (double)length_most(p, c->k) / (double)parts;
  if (at_once > t->blocks) at_once = t->blocks;
  double warps = at_once * t->warps_m * t->warps_n,
         rate = t->rate * (warps < ENOUGH_WARPS ? 0.4 + 0.6 * warps / ENOUGH_WARPS : 1),
         cells = (double)length_most(p, c->m) * (double)length_most(p, c->n) *
                 (double)length_most(p, c->batch);
  double time = waves * (3 + 2e-6 * (double)(t->m * t->n) * deep * at_once / rate);
  return parts > 1 ? time + 3 + cells * (double)(8 * parts + 2) / 2.5e6 : time;
}

static void set_parts(CudaProduct *c, int64_t k, int64_t parts, int64_t each) {
  c->part = ((k + parts - 1) / parts + each - 1) / each * each;
  if (c->part < each) c->part = each;
  c->parts = (k + c->part - 1) / c->part;
  if (c->parts < 1) c->parts = 1;
}

// Of those that are read by eight, the kind of tile, and in how many parts the sum.
static uint32_t choose_wide(const CudaEngine *o, CudaProduct *c) {
  static const int64_t cuts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  int64_t k = length_most(o->plan, c->k), parts = 1;
  uint32_t best = WIDE;
  double least = INFINITY;
  for (uint32_t kind = WIDE; kind < KINDS; kind++) {
    if (tile_kind[kind].together != device_is_hopper(o->d)) continue;
    for (uint32_t i = 0; i < COUNT(cuts) && (!i || k / cuts[i] >= PRODUCT_DEEP); i++) {
      double time = tile_time(o, c, kind, cuts[i]);
      if (time >= least) continue;
      least = time;
      best = kind;
      parts = cuts[i];
    }
  }
  set_parts(c, k, parts, tile_kind[best].deep);
  return best;
}

// Of the others: where there are few tiles, the sum is cut into parts.
static void cut_product(const CudaEngine *o, CudaProduct *c, uint32_t kind) {
  int64_t k = length_most(o->plan, c->k), tiles = tiles_of(o->plan, c, kind),
          wanted = tiles ? 2 * o->d->processors / tiles : 1, most = k / PRODUCT_DEEP,
          parts = wanted < most ? wanted : most;
  set_parts(c, k, parts < 1 ? 1 : parts, 16);
}

// -- how operands lie -----------------------------------------------------------------------------
// Does the sum's loop lie along an operand's memory, at least where it begins?
static bool is_along(const CudaEngine *o, const PlanNode *x, const Operand *at) {
  const Product *q = x->product;
  return q->nk && operand_step(o->plan, at, q->k[q->nk - 1]) == 1 &&
         extent_most(o->plan, x->index[q->k[q->nk - 1]]) >= ALONG;
}

// So many cells at a time: a group's fastest loop lies along memory and is a multiple of it long, and
// every other step is one, too.
static bool lies_by(const Plan *p, const PlanNode *x, const Operand *o, const uint32_t *group,
                    uint32_t n, int64_t cells) {
  if (!n || operand_step(p, o, group[n - 1]) != 1 || x->index[group[n - 1]].per ||
      x->index[group[n - 1]].c % cells || operand_start(p, o) % cells)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != group[n - 1] && extent_most(p, x->index[i]) > 1 && operand_step(p, o, i) % cells)
      return false;
  return true;
}

// Is an int enough to say where a cell lies?
static bool is_near(const Plan *p, const Operand *o) {
  return p->wire.at[o->wire].count <= INT32_MAX;
}

// Are both operands read by eight? Then along which of their loops.
static bool is_wide(const CudaEngine *o, const PlanNode *x, CudaProduct *c) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  const Plan *p = o->plan;
  bool ak = lies_by(p, x, a, q->k, q->nk, EIGHT), am = lies_by(p, x, a, q->m, q->nm, EIGHT),
       bk = lies_by(p, x, b, q->k, q->nk, EIGHT), bn = lies_by(p, x, b, q->n, q->nn, EIGHT);
  if (!c->narrow || !is_near(p, a) || !is_near(p, b) || !(ak || am) || !(bk || bn)) return false;
  c->along_a = ak;
  c->along_b = bk;
  return true;
}

// -- stripes --------------------------------------------------------------------------------------
static uint32_t stripe_lies(const Plan *p, const PlanNode *x, const Operand *o,
                            const uint32_t *group, uint32_t n) {
  const Product *q = x->product;
  if (!wire_is_aligned(p, o->wire, FOUR_CELLS)) return LIES_ANYHOW;
  return lies_by(p, x, o, q->k, q->nk, FOUR_CELLS) ? LIES_ALONG_SUM
         : lies_by(p, x, o, group, n, FOUR_CELLS)  ? LIES_ALONG_SLOTS
                                                   : LIES_ANYHOW;
}

// About how long it takes by stripes, in microseconds: what the busiest multiprocessor reads and multiplies, and for each
// time that it is full of blocks, their first numbers and what is done when stripes are whole.
static double stripe_time(const CudaEngine *o, const CudaProduct *c, const CudaStripes *s) {
  enum { ENOUGH_WARPS = 16 };
  const Plan *p = o->plan;
  double rows = 8 * s->a, columns = 8 * s->b, k = (double)length_most(p, c->k) / s->parts,
         tiles = (double)tiles_in(p, c, 8 * s->a, 8 * s->b) * s->parts,
         turns = ceil(tiles / o->d->processors), room = ENOUGH_WARPS / s->warps,
         full = ceil(turns / room), warps = s->warps * (turns < room ? turns : room);
  double reads = (rows + columns) * k * (c->narrow ? 2 : 4) / 1.1e5,
         multiplies = rows * columns * k / (5e5 * (warps < 8 ? warps / 8 : 1)),
         each = reads > multiplies ? reads : multiplies;
  double waits = 0.5 * ceil(k / 16 / s->warps),
         ends = 0.3 + rows * columns / (64 * s->warps) * (60 + 4 * s->warps) / 1750;
  double parts = s->parts > 1 ? 3 + tiles * rows * columns * 8 / 2.5e6 : 0;
  return turns * each + full * (waits + ends) + parts;
}

// Tiles of a kind whose cells registers have room for, by as many warps as the sum has work for, and the sum in parts, if it may
// be cut.
static double choose_stripes(const CudaEngine *o, const CudaProduct *c, bool cut,
                             CudaStripes *best) {
  static const struct {
    uint32_t a, b, warps;
  } shape[] = {{2, 2, 16}, {2, 4, 16}, {4, 2, 16}, {4, 4, 16}, {4, 8, 8}, {8, 4, 8}};
  double least = INFINITY;
  int64_t chunks = cut_into(length_most(o->plan, c->k), 16);
  if (chunks < 1) chunks = 1;
  for (uint32_t i = 0; i < COUNT(shape); i++)
    for (uint32_t parts = 1; parts == 1 || (cut && parts <= PARTS_MOST); parts *= 2)
      for (uint32_t warps = shape[i].warps; warps > 0; warps /= 2) {
        CudaStripes s = {shape[i].a, shape[i].b, warps, parts, .tables = best->tables};
        if (warps * parts > 1 && (parts > 1 ? 4 : 1) * warps * parts > chunks) continue;
        double time = stripe_time(o, c, &s);
        if (time >= least) continue;
        least = time;
        *best = s;
      }
  return least;
}

static bool has_units(const Engine *e) {
  Precision p = store_precision(e->store);
  return p == PRECISION_BF16 || p == PRECISION_TF32;
}

// Microseconds that a product by stripes may take.
static double stripes_most(double otherwise) {
  const char *asked = getenv("LIMN_STRIPES");
  return asked ? atof(asked) : otherwise;
}

bool stripes_finish(const Engine *e) { return has_units(e) && stripes_most(STRIPES_MOST) > 0; }

// Is this one so small that others would wait longer than they multiply?
static bool is_small(const Engine *e, const CudaEngine *o, const PlanNode *x, CudaProduct *c,
                     CudaStripes *s) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  s->tables = c->am.at || c->ak.at || c->bk.at || c->bn.at || c->cm.at || c->cn.at;
  bool alone = s->tables && !is_wide(o, x, c), finishes = o->plan->kernel.at[x->kernel].nest.n > 0;
  double most = stripes_most(alone ? STRIPES_MORE : STRIPES_MOST);
  if (x->nin > 2 || !has_units(e) || !is_near(o->plan, a) || !is_near(o->plan, b) ||
      !is_near(o->plan, &x->out))
    return false;
  if (choose_stripes(o, c, alone && !finishes, s) > most && !finishes) return false;
  s->lies_a = stripe_lies(o->plan, x, a, q->m, q->nm);
  s->lies_b = stripe_lies(o->plan, x, b, q->n, q->nn);
  s->whole = !c->k.per && c->k.fixed % 16 == 0; // parts are whole chunks
  return true;
}

// -- of a call ------------------------------------------------------------------------------------
void tile_choose(const Engine *e, const CudaEngine *o, const PlanNode *x, CudaCall *call) {
  const Product *q = x->product;
  CudaProduct *c = &call->product;
  c->along_a = is_along(o, x, &x->in[q->a]);
  c->along_b = is_along(o, x, &x->in[q->b]);
  call->twos = lies_by(o->plan, x, &x->out, q->n, q->nn, 2);
  call->stripes = (CudaStripes){0};
  if (is_small(e, o, x, c, &call->stripes)) {
    set_parts(c, length_most(o->plan, c->k), call->stripes.parts, 16);
    return;
  }
  call->stripes = (CudaStripes){0};
  bool wide = is_wide(o, x, c);
  call->kind = wide ? choose_wide(o, c) : choose_square(o, c);
  if (!wide) cut_product(o, c, call->kind);
}

CudaLaunch tile_launch(const CudaEngine *o, CudaCall *call) {
  const TileKind *k = &tile_kind[call->kind];
  const CudaStripes *s = &call->stripes;
  CudaProduct *c = &call->product;
  CudaLaunch l = {.fn = call->fn, .shared = tile_shared(call), .wires = c};
  if (s->warps) {
    l.blocks = tiles_in(o->plan, c, 8 * s->a, 8 * s->b) * c->parts;
    l.threads = 32 * s->warps;
  } else {
    l.blocks = tiles_of(o->plan, c, call->kind) * c->parts;
    l.threads = k->each ? 256 : 32 * k->warps_m * k->warps_n;
  }
  return l;
}

size_t tile_shared(const CudaCall *call) {
  const TileKind *k = &tile_kind[call->kind];
  const CudaStripes *s = &call->stripes;
  if (s->warps) return (size_t)s->warps * 64 * s->a * s->b * sizeof(float);
  return k->each ? 0 : (size_t)(k->m + k->n) * k->deep * 2 * k->ahead;
}

// What finishes its cells: a kind of such kernels, or PLAN_NONE.
static uint32_t finish_kind(const CudaEngine *o, const CudaCall *call) {
  const Kernel *k = &o->plan->kernel.at[call - o->call];
  return k->nest.n ? call->k.emit.fn : PLAN_NONE;
}
static bool keeps_result(const CudaEngine *o, const CudaCall *call) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[call - o->call].node.at[0]];
  return p->wire.at[x->out.wire].place != AT_REGISTER;
}

const char *tile_name(Engine *e, const CudaCall *call) {
  const CudaEngine *o = e->impl;
  const TileKind *k = &tile_kind[call->kind];
  const CudaStripes *s = &call->stripes;
  const CudaProduct *c = &call->product;
  if (s->warps)
    return arena_format(e->arena, "limn_stripes_%u_%u_%u_%d_%u%u%d%d%d_%d_%u", s->a, s->b, s->warps,
                        c->parts > 1, s->lies_a, s->lies_b, c->narrow, s->tables, s->whole,
                        keeps_result(o, call), finish_kind(o, call) + 1);
  if (k->each) return arena_format(e->arena, "limn_product%u", k->each);
  return arena_format(e->arena, "limn_wide%u_%d%d%d%d", call->kind, c->along_a, c->along_b,
                      c->parts > 1, c->narrow_c);
}

void tile_write(Engine *e, const CudaCall *call, Buf *text) {
  const TileKind *k = &tile_kind[call->kind];
  const CudaStripes *s = &call->stripes;
  const CudaProduct *c = &call->product;
  const char *name = tile_name(e, call), *of = "LimnProduct", *finish = "LIMN_AS_IT_IS";
  uint32_t fn = finish_kind(e->impl, call);
  if (fn != PLAN_NONE) {
    of = arena_format(e->arena, "LimnProduct%u", fn);
    finish = arena_format(e->arena, "limn_finish%u", fn);
  }
  if (s->warps)
    buf_printf(text, "LIMN_STRIPES(%s, %s, %u, %u, %u, %d, %u, %u, %d, %d, %d, %d, %s)\n", name, of,
               s->a, s->b, s->warps, c->parts > 1, s->lies_a, s->lies_b, c->narrow, s->tables,
               s->whole, keeps_result(e->impl, call), finish);
  else if (k->each)
    buf_printf(text, "LIMN_PRODUCT(%s, %u)\n", name, k->each);
  else
    buf_printf(text, "LIMN_WIDE(%s, %u, %u, %u, %u, %u, %u, %u, %d, %d, %d, %d, %d)\n", name,
               k->rows, k->columns, k->warps_m, k->warps_n, k->deep, k->ahead, k->blocks,
               k->together, c->along_a, c->along_b, c->parts > 1, c->narrow_c);
}
