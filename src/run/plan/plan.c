// The passes that make a plan, the targets, and the printed form of a plan.
#include "run/plan/plan.h"
#include "base/names.h"

// Compile time grows faster than the length of a function, so long_kernel bounds a kernel.
const PlanTarget plan_cpu = {.tiny_work = 400 * 1000,
                             .small_work = 64 * 1024,
                             .enough_points = 16,
                             .tile_cells = 32 * 1024,
                             .alone_work = 48 * 1024,
                             .inner_work = 4096,
                             .long_kernel = 400};
// Tiles are in shared memory. A launch takes microseconds, in which a thread block makes some
// hundred thousand operations.
#define GPU_TARGET                                                                                 \
  .small_work = 1000 * 1000, .enough_points = 128, .tile_cells = 4 * 1024,                         \
  .alone_work = 48 * 1024, .inner_work = 4096, .long_kernel = 400, .lanes = true
const PlanTarget plan_gpu = {.tiny_work = 200 * 1000,
                             .partition_cells = 1 << 21,
                             .hoist_saves = 50,
                             .unshared_bytes = 16 << 20,
                             .bf16_work = 1 << 20,
                             .bf16_cells = 1 << 16,
                             .bf16_weight_bytes = 16 << 20,
                             .far_row = 16 * 1024,
                             GPU_TARGET};
#define GPU_LAUNCHES                                                                               \
  .partition_cells = 64, .bf16_work = 1 << 17, .bf16_weight_bytes = INT64_MAX, .far_row = 1024,    \
  GPU_TARGET
const PlanTarget plan_gpu_launches = {.bf16_cells = 1 << 16, GPU_LAUNCHES};
const PlanTarget plan_gpu_bf16 = {.bf16_cells = 64, GPU_LAUNCHES};

int64_t extent_at(Extent e, int64_t samples) { return e.c + e.per * samples; }
bool extent_same(Extent a, Extent b) { return a.c == b.c && a.per == b.per && a.part == b.part; }

Plan *plan_make(World *w, const Diagram *d, const PlanOptions *o) {
  Plan *p = NEW(w->arena, Plan);
  *p = (Plan){.w = w, .arena = w->arena, .samples = o->samples, .fuse = o->fuse, .wide = o->wide};
  p->ticks = o->ticks;
  p->bf16 = o->bf16;
  p->epilogues = o->epilogues && o->fuse;
  p->target = o->target ? o->target : &plan_cpu;
  p->d = plan_scatter_to_gather(
      w, plan_views(w, o->fuse && !p->target->lanes ? plan_rematerialise(w, d) : d));
  plan_nodes(p, p->d);
  if (p->error) return p;
  plan_aliases(p);
  plan_products(p);
  if (p->target->lanes && p->fuse) plan_merge_sums(p);
  if (p->bf16) plan_bf16_values(p);
  if (p->bf16 && p->fuse) plan_flash_attention(p);
  if (p->target->lanes && p->fuse) plan_concat_in_place(p);
  if (p->target->lanes && p->fuse) plan_scatter_add(p);
  if (p->target->lanes && p->fuse) plan_sink_producers(p);
  if (p->bf16 && p->target->lanes && p->fuse) plan_rematerialise_sums(p);
  if (p->bf16 && p->target->lanes && p->fuse) plan_bias_epilogue(p);
  if (p->bf16 && p->target->lanes && p->fuse && !plan_is_tiny(p)) plan_bf16_weights(p);
  if (p->target->lanes && p->fuse && !plan_is_tiny(p)) plan_partition_optimisers(p);
  plan_kernels(p);
  if (!p->wide) plan_exact_quotients(p);
  plan_memory(p);
  return p;
}

// -- printed form ---------------------------------------------------------------------------------
static void print_extent(Extent e, Buf *b) {
  if (!e.per) {
    buf_printf(b, "%lld", (long long)e.c);
    return;
  }
  if (e.per != 1) buf_printf(b, "%lld·", (long long)e.per);
  buf_text(b, "n");
  if (e.c) buf_printf(b, "%+lld", (long long)e.c);
}

static void print_extents(const Extent *e, uint32_t n, Buf *b) {
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_char(b, ' ');
    print_extent(e[i], b);
  }
}

static void print_wire(const Plan *p, uint32_t wire, Buf *b) {
  const PlanWire *w = &p->wire.at[wire];
  const char *name = name_text(p->w->names, w->name);
  static const char *const place[] = {
      [AT_NOWHERE] = "",    [AT_ARENA] = "",     [AT_STATE] = " state",      [AT_INPUT] = " in",
      [AT_OUTPUT] = " out", [AT_TILE] = " tile", [AT_REGISTER] = " register"};
  buf_printf(b, "%s.%u[", *name ? name : "%", wire);
  print_extents(w->shape, w->rank, b);
  buf_printf(b, "]%s%s", w->number == NUMBER_BF16 ? " bf16" : "", place[w->place]);
  if (w->alias_of != PLAN_NONE) buf_printf(b, " in .%u", w->alias_of);
}

static const char *node_text(const PlanNode *x) {
  if (x->kind == NODE_PRODUCT) return " = product";
  if (x->noise) return " = noise";
  if (x->accumulate) return " += scatter";
  return x->scatter ? " = scatter" : " =";
}

static void print_node(const Plan *p, const PlanNode *x, Buf *b) {
  buf_text(b, "      ");
  print_wire(p, x->out.wire, b);
  buf_text(b, node_text(x));
  for (uint32_t i = 0; i < x->nin; i++) {
    buf_char(b, ' ');
    print_wire(p, x->in[i].wire, b);
  }
  buf_char(b, '\n');
}

static void print_kernel(const Plan *p, uint32_t i, double seconds, Buf *b) {
  static const char *const kind[] = {"loops", "product",     "order", "pairs",
                                     "scan",  "end of scan", "copy"};
  const Kernel *k = &p->kernel.at[i];
  buf_printf(b, "  kernel %u: %s", i, kind[k->kind]);
  if (k->np) {
    buf_text(b, " over [");
    print_extents(k->p, k->np, b);
    buf_printf(b, "] by %u", k->split);
  }
  if (k->block) buf_printf(b, " in blocks of %lld rows", (long long)k->block);
  if (seconds > 0) buf_printf(b, ", %.1f us", seconds * 1e6);
  buf_printf(b, ", about %lld operations", (long long)k->work);
  if (k->tile_bytes) buf_printf(b, ", %lld bytes of scratch", (long long)k->tile_bytes);
  buf_char(b, '\n');
  if (k->kind == KERNEL_PRODUCT || k->kind == KERNEL_ORDER)
    print_node(p, &p->node.at[k->node.at[0]], b);
  for (uint32_t s = 0; s < k->nest.n; s++) {
    buf_text(b, "    loops [");
    print_extents(k->nest.at[s].dim, k->nest.at[s].ndim, b);
    buf_text(b, "]\n");
    for (uint32_t j = 0; j < k->nest.at[s].node.n; j++)
      print_node(p, &p->node.at[k->nest.at[s].node.at[j]], b);
  }
  for (uint32_t j = 0; k->kind == KERNEL_ATTENTION && j < k->node.n; j++)
    if (p->node.at[k->node.at[j]].kind == NODE_PRODUCT)
      print_node(p, &p->node.at[k->node.at[j]], b);
}

void plan_print(const Plan *p, const double *seconds, uint64_t runs, Buf *b) {
  int64_t sum = 0;
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].place == AT_ARENA)
      sum += p->wire.at[i].count * (int64_t)number_bytes(p->wire.at[i].number);
  buf_printf(b,
             "%u kernel%s, %lld bytes at once (%lld if nothing were shared), %lld bytes of scratch "
             "a thread\n",
             p->kernel.n, p->kernel.n == 1 ? "" : "s", (long long)p->arena_bytes, (long long)sum,
             (long long)p->scratch_bytes);
  for (uint32_t i = 0; i < p->kernel.n; i++)
    print_kernel(p, i, seconds && runs ? seconds[i] / (double)runs : 0, b);
}
