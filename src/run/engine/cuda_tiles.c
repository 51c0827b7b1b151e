// Chooses limn's kernel for a product by cost models: the size of tiles and the number of split-K parts
// (tiles.h), or slice-K stripes for small products (stripes.h).
#include "run/engine/cuda_own.h"

#include <math.h>
#include <stdlib.h>

enum {
  PRODUCT_DEEP = 128, // the least k of a split-K part
  ALONG = 8,          // the least contiguous cells along k that are worth coalesced reads along k
  EIGHT = 8,          // bfloat16 in a vector load
  FOUR_CELLS = 4,     // cells in a vector load of stripes
};
// The most microseconds of a product by stripes, by stripe_time; STRIPES_MORE: if neither cuBLASLt nor
// tiles with vector loads can compute it.
static const double STRIPES_MOST = 2.5, STRIPES_MORE = 40;
enum { PARTS_MOST = 256 }; // split-K parts of a product by stripes

// Kinds of tiles, the largest first. The kinds from WIDE on use vector loads of eight bfloat16. `each`: the
// argument of limn_product; the other members are the arguments of LIMN_WIDE (tiles.h). `rate`: flop/s of a
// full multiprocessor in units of 1e12, measured on an H200 with the convolutions of a residual network.
typedef struct {
  int64_t m, n;
  uint32_t each;
  uint32_t rows, columns, warps_m, warps_n, deep, ahead, blocks;
  double rate;
  bool uses_wgmma; // four warps multiply together (Hopper's wgmma)
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

static int64_t ceil_div(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

static int64_t tiles_in(const Plan *p, const CudaProduct *c, int64_t tm, int64_t tn) {
  return ceil_div(length_most(p, c->m), tm) * ceil_div(length_most(p, c->n), tn) *
         length_most(p, c->batch);
}
static int64_t tiles_of(const Plan *p, const CudaProduct *c, uint32_t kind) {
  return tiles_in(p, c, tile_kind[kind].m, tile_kind[kind].n);
}

// The largest tiles that give every multiprocessor one, and are no larger than the matrix.
static uint32_t choose_square(const CudaEngine *o, const CudaProduct *c) {
  int64_t m = length_most(o->plan, c->m), n = length_most(o->plan, c->n), least = m < n ? m : n;
  uint32_t kind = 0;
  while (kind + 1 < WIDE &&
         (tiles_of(o->plan, c, kind) < o->d->processors || tile_kind[kind + 1].m >= least))
    kind++;
  return kind;
}

// A cost model: microseconds of a product by tiles of this kind with split-K: waves of blocks, each with a
// fixed cost, then the addition of the parts.
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

// The fastest kind of tile with vector loads, and its split-K parts.
static uint32_t choose_vector_tile(const CudaEngine *o, CudaProduct *c) {
  static const int64_t cuts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  int64_t k = length_most(o->plan, c->k), parts = 1;
  uint32_t best = WIDE;
  double least = INFINITY;
  for (uint32_t kind = WIDE; kind < KINDS; kind++) {
    if (tile_kind[kind].uses_wgmma != device_is_hopper(o->d)) continue;
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

// Split-K for the other kinds, if there are few tiles.
static void choose_parts(const CudaEngine *o, CudaProduct *c, uint32_t kind) {
  int64_t k = length_most(o->plan, c->k), tiles = tiles_of(o->plan, c, kind),
          wanted = tiles ? 2 * o->d->processors / tiles : 1, most = k / PRODUCT_DEEP,
          parts = wanted < most ? wanted : most;
  set_parts(c, k, parts < 1 ? 1 : parts, 16);
}

// -- layouts of operands --------------------------------------------------------------------------
// The innermost loop of k is contiguous in the operand.
static bool is_contiguous(const CudaEngine *o, const PlanNode *x, const Operand *at) {
  const Product *q = x->product;
  return q->nk && operand_step(o->plan, at, q->k[q->nk - 1]) == 1 &&
         extent_most(o->plan, x->index[q->k[q->nk - 1]]) >= ALONG;
}

// The operand can be accessed by vectors of `cells` cells along a group: the group's innermost loop is
// contiguous, and its length, the start and all other strides are multiples of `cells`.
static bool is_contiguous_by(const Plan *p, const PlanNode *x, const Operand *o,
                             const uint32_t *group, uint32_t n, int64_t cells) {
  if (!n || operand_step(p, o, group[n - 1]) != 1 || x->index[group[n - 1]].per ||
      x->index[group[n - 1]].c % cells || operand_start(p, o) % cells)
    return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (i != group[n - 1] && extent_most(p, x->index[i]) > 1 && operand_step(p, o, i) % cells)
      return false;
  return true;
}

// Offsets in the operand fit in an int.
static bool fits_int32(const Plan *p, const Operand *o) {
  return p->wire.at[o->wire].count <= INT32_MAX;
}

// Both operands allow vector loads of eight bfloat16; sets along which loops.
static bool allows_vector_loads(const CudaEngine *o, const PlanNode *x, CudaProduct *c) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  const Plan *p = o->plan;
  bool ak = is_contiguous_by(p, x, a, q->k, q->nk, EIGHT),
       am = is_contiguous_by(p, x, a, q->m, q->nm, EIGHT),
       bk = is_contiguous_by(p, x, b, q->k, q->nk, EIGHT),
       bn = is_contiguous_by(p, x, b, q->n, q->nn, EIGHT);
  if (!c->narrow || !fits_int32(p, a) || !fits_int32(p, b) || !(ak || am) || !(bk || bn))
    return false;
  c->along_a = ak;
  c->along_b = bk;
  return true;
}

// -- stripes --------------------------------------------------------------------------------------
static uint32_t stripe_layout(const Plan *p, const PlanNode *x, const Operand *o,
                              const uint32_t *group, uint32_t n) {
  const Product *q = x->product;
  if (!wire_is_aligned(p, o->wire, FOUR_CELLS)) return NOT_CONTIGUOUS;
  return is_contiguous_by(p, x, o, q->k, q->nk, FOUR_CELLS) ? CONTIGUOUS_K
         : is_contiguous_by(p, x, o, group, n, FOUR_CELLS)  ? CONTIGUOUS_SLOTS
                                                            : NOT_CONTIGUOUS;
}

// A cost model: microseconds of a product by stripes: the reads and multiplications of the busiest
// multiprocessor, plus, for each wave of blocks, the latency of loads and the addition of stripes.
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

// The fastest tile whose accumulators fit in registers, number of warps, and, if `cut`, split-K parts.
static double choose_stripes(const CudaEngine *o, const CudaProduct *c, bool cut,
                             CudaStripes *best) {
  static const struct {
    uint32_t a, b, warps;
  } shape[] = {{2, 2, 16}, {2, 4, 16}, {4, 2, 16}, {4, 4, 16}, {4, 8, 8}, {8, 4, 8}};
  double least = INFINITY;
  int64_t chunks = ceil_div(length_most(o->plan, c->k), 16);
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

static bool uses_tensor_cores(const Engine *e) {
  Precision p = store_precision(e->store);
  return p == PRECISION_BF16 || p == PRECISION_TF32;
}

// The most microseconds of a product by stripes.
static double stripes_most(double otherwise) {
  const char *asked = getenv("LIMN_STRIPES");
  return asked ? atof(asked) : otherwise;
}

bool products_have_epilogues(const Engine *e) {
  return uses_tensor_cores(e) && stripes_most(STRIPES_MOST) > 0;
}

// The product is small enough for stripes, or has an epilogue, which only stripes have.
static bool suits_stripes(const Engine *e, const CudaEngine *o, const PlanNode *x, CudaProduct *c,
                          CudaStripes *s) {
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  s->tables = c->am.at || c->ak.at || c->bk.at || c->bn.at || c->cm.at || c->cn.at;
  bool alone = s->tables && !allows_vector_loads(o, x, c),
       finishes = o->plan->kernel.at[x->kernel].nest.n > 0;
  double most = stripes_most(alone ? STRIPES_MORE : STRIPES_MOST);
  if (x->nin > 2 || !uses_tensor_cores(e) || !fits_int32(o->plan, a) || !fits_int32(o->plan, b) ||
      !fits_int32(o->plan, &x->out))
    return false;
  if (choose_stripes(o, c, alone && !finishes, s) > most && !finishes) return false;
  s->layout_a = stripe_layout(o->plan, x, a, q->m, q->nm);
  s->layout_b = stripe_layout(o->plan, x, b, q->n, q->nn);
  s->whole = !c->k.per && c->k.fixed % 16 == 0; // parts are whole chunks
  return true;
}

// -- one product ----------------------------------------------------------------------------------
void tile_choose(const Engine *e, const CudaEngine *o, const PlanNode *x, CudaCall *call) {
  const Product *q = x->product;
  CudaProduct *c = &call->product;
  c->along_a = is_contiguous(o, x, &x->in[q->a]);
  c->along_b = is_contiguous(o, x, &x->in[q->b]);
  call->twos = is_contiguous_by(o->plan, x, &x->out, q->n, q->nn, 2);
  call->stripes = (CudaStripes){0};
  if (suits_stripes(e, o, x, c, &call->stripes)) {
    set_parts(c, length_most(o->plan, c->k), call->stripes.parts, 16);
    return;
  }
  call->stripes = (CudaStripes){0};
  bool wide = allows_vector_loads(o, x, c);
  call->kind = wide ? choose_vector_tile(o, c) : choose_square(o, c);
  if (!wide) choose_parts(o, c, call->kind);
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

// The number of its epilogue's function; PLAN_NONE: it has no epilogue.
static uint32_t epilogue_kind(const CudaEngine *o, const CudaCall *call) {
  const Kernel *k = &o->plan->kernel.at[call - o->call];
  return k->nest.n ? call->k.emit.fn : PLAN_NONE;
}
static bool stores_result(const CudaEngine *o, const CudaCall *call) {
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
                        c->parts > 1, s->layout_a, s->layout_b, c->narrow, s->tables, s->whole,
                        stores_result(o, call), epilogue_kind(o, call) + 1);
  if (k->each) return arena_format(e->arena, "limn_product%u", k->each);
  return arena_format(e->arena, "limn_wide%u_%d%d%d%d", call->kind, c->along_a, c->along_b,
                      c->parts > 1, c->narrow_c);
}

void tile_write(Engine *e, const CudaCall *call, Buf *text) {
  const TileKind *k = &tile_kind[call->kind];
  const CudaStripes *s = &call->stripes;
  const CudaProduct *c = &call->product;
  const char *name = tile_name(e, call), *of = "LimnProduct", *finish = "LIMN_AS_IT_IS";
  uint32_t fn = epilogue_kind(e->impl, call);
  if (fn != PLAN_NONE) {
    of = arena_format(e->arena, "LimnProduct%u", fn);
    finish = arena_format(e->arena, "limn_finish%u", fn);
  }
  if (s->warps)
    buf_printf(text, "LIMN_STRIPES(%s, %s, %u, %u, %u, %d, %u, %u, %d, %d, %d, %d, %s)\n", name, of,
               s->a, s->b, s->warps, c->parts > 1, s->layout_a, s->layout_b, c->narrow, s->tables,
               s->whole, stores_result(e->impl, call), finish);
  else if (k->each)
    buf_printf(text, "LIMN_PRODUCT(%s, %u)\n", name, k->each);
  else
    buf_printf(text, "LIMN_WIDE(%s, %u, %u, %u, %u, %u, %u, %u, %d, %d, %d, %d, %d)\n", name,
               k->rows, k->columns, k->warps_m, k->warps_n, k->deep, k->ahead, k->blocks,
               k->uses_wgmma, c->along_a, c->along_b, c->parts > 1, c->narrow_c);
}
