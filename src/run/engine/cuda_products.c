// Matrix products on the GPU. cuBLASLt computes large products of strided operands, if the library is
// installed; limn's own kernels (cuda_tiles.c) compute small ones and those with tables of offsets, such as
// convolutions.
#include "base/files.h"
#include "base/table.h"
#include "run/engine/cuda/blas.h"
#include "run/engine/cuda_own.h"

#include <stdlib.h>

enum {
  BLAS_WORK = 1 << 17, // multiplications of the smallest product for cuBLASLt
  BLAS_CALLS = 16,     // the most calls for one product
};
static const double tuning_seconds = 1; // for autotuning when an engine is opened

static CudaLength length_of(const PlanNode *x, const uint32_t *group, uint32_t n) {
  CudaLength l = {1, 0};
  for (uint32_t i = 0; i < n; i++) {
    Extent d = x->index[group[i]];
    int64_t fixed = l.fixed * d.c, per = l.fixed * d.per + l.per * d.c;
    l = (CudaLength){fixed, per};
  }
  return l;
}

static void reserve_parts(CudaEngine *o, const CudaProduct *c) {
  const Plan *p = o->plan;
  int64_t cells = length_most(p, c->m) * length_most(p, c->n) * length_most(p, c->batch);
  size_t bytes = c->parts > 1 ? (size_t)(c->parts * cells) * (p->wide ? 8 : 4) : 0;
  if (bytes > o->parts_bytes) o->parts_bytes = bytes;
}

// -- tables ---------------------------------------------------------------------------------------
// A table of offsets on the host. Until the device is ready, CudaAxis.at is a pointer to a Table32.
typedef struct {
  const int32_t *offset;
  int64_t count;
} Table32;

static void axis_of(Engine *e, CudaEngine *o, const PlanNode *x, const Operand *at,
                    const uint32_t *group, uint32_t n, CudaAxis *line) {
  int64_t step;
  const int32_t *offset = product_offsets(o->plan, x, at, group, n, &step);
  line->step = step;
  if (!offset) return;
  Table32 *table = NEW(e->arena, Table32);
  *table = (Table32){offset, product_length(x, group, n, o->plan->samples)};
  line->at = (DeviceAddress)(uintptr_t)table;
}

static bool send_axis(Engine *e, CudaEngine *o, CudaAxis *line) {
  const CudaCalls *c = &o->d->call;
  const Table32 *table = (const Table32 *)(uintptr_t)line->at;
  line->at = 0;
  if (!table) return true;
  size_t bytes = (size_t)table->count * sizeof *table->offset;
  return cuda_check(e, c->cuMemAlloc_v2(&line->at, bytes), "a table of a product") &&
         cuda_check(e, c->cuMemcpyHtoDAsync_v2(line->at, table->offset, bytes, o->d->stream),
                    "a table of a product");
}

enum { AXES = 9 };
static CudaAxis *nth_axis(CudaProduct *c, uint32_t k) {
  CudaAxis *line[AXES] = {&c->am, &c->ak, &c->bk, &c->bn, &c->cm, &c->cn, &c->ta, &c->tb, &c->tc};
  return line[k];
}

static bool send_axes(Engine *e, CudaEngine *o) {
  bool all = true;
  o->axes_sent = true;
  for (uint32_t i = 0; i < o->plan->kernel.n; i++)
    for (uint32_t k = 0; k < AXES; k++) all &= send_axis(e, o, nth_axis(&o->call[i].product, k));
  return all;
}

void products_free(CudaEngine *o) {
  for (uint32_t i = 0; o->axes_sent && i < o->plan->kernel.n; i++)
    for (uint32_t k = 0; k < AXES; k++) {
      const CudaAxis *line = nth_axis(&o->call[i].product, k);
      if (line->at) o->d->call.cuMemFree_v2(line->at);
    }
}

static void prepare_axes(Engine *e, CudaEngine *o, uint32_t i) {
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  const Operand *a = &x->in[q->a], *b = &x->in[q->b];
  CudaProduct *c = &o->call[i].product;
  c->narrow = o->plan->wire.at[a->wire].number == NUMBER_BF16;
  c->narrow_c = o->plan->wire.at[x->out.wire].number == NUMBER_BF16;
  axis_of(e, o, x, a, q->m, q->nm, &c->am);
  axis_of(e, o, x, a, q->k, q->nk, &c->ak);
  axis_of(e, o, x, b, q->k, q->nk, &c->bk);
  axis_of(e, o, x, b, q->n, q->nn, &c->bn);
  axis_of(e, o, x, &x->out, q->m, q->nm, &c->cm);
  axis_of(e, o, x, &x->out, q->n, q->nn, &c->cn);
  axis_of(e, o, x, a, q->batch, q->nbatch, &c->ta);
  axis_of(e, o, x, b, q->batch, q->nbatch, &c->tb);
  axis_of(e, o, x, &x->out, q->batch, q->nbatch, &c->tc);
}

// -- by cuBLASLt ----------------------------------------------------------------------------------
static int64_t length_at(CudaLength l, int64_t samples) { return l.fixed + l.per * samples; }

// All axes but the batch have constant strides.
static bool is_strided(const CudaProduct *c) {
  return !c->am.at && !c->ak.at && !c->bk.at && !c->bn.at && !c->cm.at && !c->cn.at;
}

// The first batch loop from which on the batch has one stride in each of the three operands. The loops
// before it become separate calls.
static uint32_t batch_inner(const Plan *p, const PlanNode *x) {
  const Product *q = x->product;
  const Operand *of[] = {&x->in[q->a], &x->in[q->b], &x->out};
  uint32_t first = q->nbatch ? q->nbatch - 1 : 0;
  for (; first > 0; first--)
    for (uint32_t i = 0; i < COUNT(of); i++)
      if (!product_group_is_strided(p, x, of[i], q->batch + first - 1, 2)) return first;
  return first;
}

static BlasProduct blas_product(const Engine *e, const CudaEngine *o, uint32_t i, int64_t samples) {
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  const CudaProduct *c = &o->call[i].product;
  uint32_t inner = batch_inner(o->plan, x), last = q->nbatch ? q->batch[q->nbatch - 1] : 0;
  return (BlasProduct){
      .m = length_at(c->m, samples),
      .n = length_at(c->n, samples),
      .k = length_at(c->k, samples),
      .batch = product_length(x, q->batch + inner, q->nbatch - inner, samples),
      .am = c->am.step,
      .ak = c->ak.step,
      .bk = c->bk.step,
      .bn = c->bn.step,
      .cm = c->cm.step,
      .cn = c->cn.step,
      .ta = q->nbatch ? operand_step(o->plan, &x->in[q->a], last) : 0,
      .tb = q->nbatch ? operand_step(o->plan, &x->in[q->b], last) : 0,
      .tc = q->nbatch ? operand_step(o->plan, &x->out, last) : 0,
      .a = c->a,
      .b = c->b,
      .c = c->c,
      .row = c->row,
      .has_row = x->nin > 2,
      .precision = store_precision(e->store),
      .narrow = c->narrow,
      .narrow_c = c->narrow_c,
      .stream_index = o->current_stream,
  };
}

// The number of calls of cuBLASLt for this product; 0: it is not computed by cuBLASLt.
static int64_t blas_calls(const Engine *e, const CudaEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  BlasProduct b = blas_product(e, o, i, p->samples);
  int64_t calls = product_length(x, x->product->batch, batch_inner(p, x), p->samples);
  double work = (double)b.m * (double)b.n * (double)b.k * (double)b.batch;
  bool rounds = b.precision == PRECISION_BF16 && !b.narrow; // bfloat16 factors are not in memory
  return is_strided(&o->call[i].product) && !rounds && work >= BLAS_WORK && calls <= BLAS_CALLS &&
                 blas_supports(&b)
             ? calls
             : 0;
}

static Blas *blas_of(CudaEngine *o, Arena *a) {
  if (!o->d->blas && !o->d->no_blas) o->d->blas = blas_open(o->d, a);
  o->d->no_blas = !o->d->blas;
  return o->d->blas;
}

// The offset of a call's batch in an operand.
static int64_t call_start(const Plan *p, const PlanNode *x, const Operand *of, int64_t call,
                          int64_t samples) {
  const Product *q = x->product;
  int64_t start = 0;
  for (uint32_t i = batch_inner(p, x); i-- > 0;) {
    int64_t length = extent_at(x->index[q->batch[i]], samples);
    start += call % length * operand_step(p, of, q->batch[i]);
    call /= length;
  }
  return start;
}

// False, and nothing was launched: the library does not support the product, or e->error is set.
static bool blas_launch(Engine *e, CudaEngine *o, uint32_t i, int64_t samples) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  BlasProduct all = blas_product(e, o, i, samples);
  int64_t calls = product_length(x, q->batch, batch_inner(p, x), samples),
          cell_c = (int64_t)number_bytes(p->wire.at[x->out.wire].number),
          cell = (int64_t)number_bytes(p->wire.at[x->in[q->a].wire].number);
  for (int64_t call = 0; call < calls; call++) {
    BlasProduct b = all;
    CudaResult r = 0;
    b.a += (uint64_t)(call_start(p, x, &x->in[q->a], call, samples) * cell);
    b.b += (uint64_t)(call_start(p, x, &x->in[q->b], call, samples) * cell);
    b.c += (uint64_t)(call_start(p, x, &x->out, call, samples) * cell_c);
    if (!blas_supports(&b) || !blas_multiply(o->d->blas, o->d, &b, o->call[i].choice, &r))
      return false;
    if (r) {
      e->error = arena_format(e->arena, "a product: cuBLASLt says %d", r);
      return false;
    }
  }
  return true;
}

// Sets the addresses of a product's operands at the current scan positions.
static void set_addresses(const Engine *e, CudaEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  CudaProduct *c = &o->call[i].product;
  uint64_t cell_c = number_bytes(p->wire.at[x->out.wire].number),
           cell = number_bytes(p->wire.at[x->in[q->a].wire].number);
  c->a = cuda_wire(e, o, x->in[q->a].wire) + (uint64_t)operand_start(p, &x->in[q->a]) * cell;
  c->b = cuda_wire(e, o, x->in[q->b].wire) + (uint64_t)operand_start(p, &x->in[q->b]) * cell;
  c->c = cuda_wire(e, o, x->out.wire) + (uint64_t)operand_start(p, &x->out) * cell_c;
  c->row = x->nin > 2 ? cuda_wire(e, o, x->in[2].wire) : 0;
  c->twos = o->call[i].twos && c->c % (2 * cell_c) == 0;
}

typedef struct {
  uint32_t kernel;
  double work;
} TunedProduct;

static int by_work(const void *a, const void *b) {
  const TunedProduct *x = a, *y = b;
  if (x->work != y->work) return x->work < y->work ? 1 : -1;
  return (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

// Autotuning overwrites the result, so only products into the arena are tuned; the arena is still unused.
static bool can_autotune(const CudaEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  if (p->kernel.at[i].kind != KERNEL_PRODUCT || !o->call[i].blas) return false;
  const PlanNode *x = &p->node.at[p->kernel.at[i].node.at[0]];
  return p->wire.at[wire_root(p, x->out.wire)].place == AT_ARENA;
}

// Autotunes cuBLASLt's algorithms, the products with most work first, and caches the choices. Without a
// cache the library's first algorithm is used, so that every run gives the same bytes.
void products_autotune(Engine *e, CudaEngine *o) {
  const char *asked = getenv("LIMN_SEARCH"), *word = NULL, *error = NULL;
  VEC(TunedProduct) all = {0};
  CodeFolder folder;
  if (asked && !strcmp(asked, "0")) return;
  for (uint32_t i = 0; i < o->plan->kernel.n; i++) {
    if (!can_autotune(o, i)) continue;
    set_addresses(e, o, i);
    BlasProduct b = blas_product(e, o, i, o->plan->samples);
    double work = (double)b.m * (double)b.n * (double)b.k * (double)b.batch;
    vec_push(e->arena, &all, (TunedProduct){i, work});
  }
  if (!all.n || !code_folder_open(&folder, e->arena, e->target.cache, &word, &error)) return;
  qsort(all.at, all.n, sizeof *all.at, by_work);
  double until = clock_seconds() + tuning_seconds;
  for (uint32_t k = 0; k < all.n; k++) {
    uint32_t i = all.at[k].kernel;
    BlasProduct b = blas_product(e, o, i, o->plan->samples);
    o->call[i].choice = blas_choose(o->d->blas, o->d, e->arena, &folder, &b, until);
  }
  code_folder_close(&folder, e->arena);
}

// The arguments of a product with an epilogue: the product, then the epilogue's pointers.
static void *epilogue_arguments(Engine *e, CudaEngine *o, uint32_t i) {
  CudaCall *call = &o->call[i];
  size_t pointers = call->k.emit.slot.n * sizeof *call->wire;
  cuda_fill_pointers(e, o, i);
  if (!call->arguments)
    call->arguments = arena_alloc(e->arena, sizeof call->product + pointers + 8);
  memcpy(call->arguments, &call->product, sizeof call->product);
  memcpy((char *)call->arguments + sizeof call->product, call->wire, pointers);
  return call->arguments;
}

// -- by limn's kernels ----------------------------------------------------------------------------
static bool launch_tiles(Engine *e, CudaEngine *o, uint32_t i) {
  const Plan *p = o->plan;
  CudaProduct *c = &o->call[i].product;
  int64_t cells = length_most(p, c->m) * length_most(p, c->n) * length_most(p, c->batch);
  CudaLaunch tiles = tile_launch(o, &o->call[i]);
  if (p->kernel.at[i].nest.n) tiles.wires = epilogue_arguments(e, o, i);
  if (!cuda_launch(e, o, &tiles)) return false;
  return c->parts == 1 || cuda_launch(e, o,
                                      &(CudaLaunch){.fn = o->gather,
                                                    .blocks = (cells + 255) / 256,
                                                    .threads = 256,
                                                    .wires = c});
}

static void prepare_product(Engine *e, CudaEngine *o, uint32_t i) {
  const PlanNode *x = &o->plan->node.at[o->plan->kernel.at[i].node.at[0]];
  const Product *q = x->product;
  CudaProduct *c = &o->call[i].product;
  c->samples = o->plan->samples;
  c->m = length_of(x, q->m, q->nm);
  c->n = length_of(x, q->n, q->nn);
  c->k = length_of(x, q->k, q->nk);
  c->batch = length_of(x, q->batch, q->nbatch);
  prepare_axes(e, o, i);
  tile_choose(e, o, x, &o->call[i]);
  reserve_parts(o, c);
  o->call[i].blas = !o->call[i].stripes.warps && blas_calls(e, o, i) > 0 && blas_of(o, e->arena);
  o->depends_on_samples |= o->call[i].blas && (c->m.per || c->n.per || c->k.per || c->batch.per);
}

// -- all products ---------------------------------------------------------------------------------
// Numbers the different kinds of tiles (CudaCall.text), and gives how many there are.
static uint32_t assign_modules(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  Table *known = table_new(e->arena);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (p->kernel.at[i].kind != KERNEL_PRODUCT) continue;
    const char *name = tile_name(e, &o->call[i]);
    Id found = table_get(known, name, strlen(name));
    if (!found) table_put(known, name, strlen(name), ++n);
    o->call[i].text = (found ? found : n) - 1;
  }
  return n;
}

// Every product gets a kernel of limn, because cuBLASLt may refuse a product at run time. The texts are
// compiled in parallel.
uint32_t products_text(Engine *e, CudaEngine *o, CudaKernel *kernel, Buf front, Buf *text,
                       size_t *same) {
  enum { TILES_EACH = 2 };
  const Plan *p = o->plan;
  buf_text(&front, tiles_text);
  buf_text(&front, stripes_text);
  emit_epilogues(o->plan, kernel, &front);
  *same = front.n;
  for (uint32_t i = 0; i < p->kernel.n; i++) o->call[i].k = kernel[i];
  uint32_t texts = cuda_modules((assign_modules(e, o) + TILES_EACH - 1) / TILES_EACH), next = 0;
  for (uint32_t i = 0; i < texts; i++) {
    text[i] = buf_new(e->arena);
    if (!i) buf_text(&text[i], "#define LIMN_GATHERS\n");
    buf_add(&text[i], front.at, front.n);
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    CudaCall *call = &o->call[i];
    if (p->kernel.at[i].kind != KERNEL_PRODUCT) continue;
    bool first = call->text == next;
    if (first) next++;
    call->text %= texts;
    if (first) tile_write(e, call, &text[call->text]);
  }
  return texts;
}

bool products_open(Engine *e, CudaEngine *o) {
  const Plan *p = o->plan;
  bool all = send_axes(e, o) && cuda_function(e, o, o->module[TILES], "limn_gather", &o->gather);
  blas_start(o->d->blas);
  for (uint32_t i = 0; all && i < p->kernel.n; i++)
    if (p->kernel.at[i].kind == KERNEL_PRODUCT)
      all = cuda_function(e, o, o->module[TILES + o->call[i].text], tile_name(e, &o->call[i]),
                          &o->call[i].fn) &&
            cuda_shared(e, o, o->call[i].fn, tile_shared(&o->call[i]));
  return all;
}

void products_prepare(Engine *e, CudaEngine *o) {
  for (uint32_t i = 0; i < o->plan->kernel.n; i++)
    if (o->plan->kernel.at[i].kind == KERNEL_PRODUCT) prepare_product(e, o, i);
}

bool product_launch(Engine *e, CudaEngine *o, uint32_t i, int64_t samples) {
  set_addresses(e, o, i);
  if (o->call[i].blas && blas_launch(e, o, i, samples)) return true;
  return !e->error && launch_tiles(e, o, i);
}
