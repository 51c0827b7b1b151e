// Prints a fused step: one function that runs whole steps in one thread block (see CudaFusedStep).
#include "run/engine/cuda/emit_cuda_own.h"

// The lanes of one block run kernel after kernel. Shared memory holds the tiles; then, if they fit, the arena,
// the states, and the slots of the launch's steps.
enum { FUSED_LANES = 512, STEPS_PER_LAUNCH = 64, STEPS_LEAST = 4 };
// A cost model for nests, in cycles: each round of the lanes, and each warp that is scheduled and waited for.
enum { ROUND_COST = 120, WARP_COST = 8 };
enum { SIDE_WORK = 12 }; // the least operations worth a side warp: a root, an exponential

struct FusedStep {
  Emit *e;
  const CudaKernel *kernel;
  CudaFusedStep *whole;
  size_t tiles, arena_bytes, states_bytes, slots_at;
  bool arena, states; // are in shared memory
  size_t *piece_at;   // [piece] its offset in the states
  // [wire] computed by the side warp: its number among these wires, from 1 on; 0: it is not. They are stored
  // after the arena.
  uint32_t *side_wire, nside;
  size_t side_at;
};

// In a reduction each lane adds several terms.
static double nest_cost(const Plan *p, const Nest *s, uint32_t lanes) {
  bool sums = false;
  for (uint32_t i = 0; i < s->node.n; i++) sums |= node_has_reduction(&p->node.at[s->node.at[i]]);
  int64_t each = sums ? (int64_t)FOUR * lanes : lanes,
          rounds = (cuda_length_most(p, s->dim, 0, s->ndim) + each - 1) / each;
  return (double)rounds * ROUND_COST + lanes / WARP * WARP_COST;
}

static double step_cost(const Plan *p, uint32_t lanes) {
  double cost = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++)
    for (uint32_t s = 0; s < p->kernel.at[i].nest.n; s++)
      cost += nest_cost(p, &p->kernel.at[i].nest.at[s], lanes);
  return cost;
}

// The number of lanes with the least cost; 0: the step cannot be fused.
static uint32_t choose_fused_lanes(const Plan *p) {
  uint32_t best = WARP;
  if (!p->tiny) return 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    KernelKind kind = p->kernel.at[i].kind;
    if (kind == KERNEL_PRODUCT || kind == KERNEL_ATTENTION || kind == KERNEL_ORDER) return 0;
  }
  for (uint32_t lanes = 2 * WARP; lanes <= FUSED_LANES; lanes *= 2)
    if (step_cost(p, lanes) < step_cost(p, best)) best = lanes;
  return best;
}

static size_t largest_tile(const Plan *p) {
  int64_t most = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++)
    if (kernel_has_text(&p->kernel.at[i]) && p->kernel.at[i].tile_bytes > most)
      most = p->kernel.at[i].tile_bytes;
  return (size_t)most;
}

static size_t align_64(size_t bytes) { return (bytes + 63) / 64 * 64; }

static void lay_out_fused(FusedStep *w) {
  const Plan *p = w->e->p;
  CudaFusedStep *to = w->whole;
  const CudaSlot *slot = to->slot;
  size_t tiles = largest_tile(p);
  to->scratch = tiles > SHARED_BYTES;
  to->scratch_bytes = tiles;
  w->tiles = to->scratch ? 0 : align_64(tiles);
  w->side_at = align_64((size_t)p->arena_bytes);
  w->arena_bytes = w->side_at + align_64(w->nside * sizeof(double));
  w->arena = w->arena_bytes <= SHARED_BYTES && w->tiles + w->arena_bytes <= slot->shared_limit;
  w->piece_at = NEW_ARRAY(p->arena, size_t, slot->pieces + 1);
  for (uint32_t i = 0; i < slot->pieces; i++) {
    w->piece_at[i] = w->states_bytes;
    w->states_bytes += slot->piece_bytes[i];
  }
  to->shared = w->tiles + (w->arena ? w->arena_bytes : 0);
  to->steps_per_launch = STEPS_PER_LAUNCH;
  w->states = w->arena && to->shared + align_64(w->states_bytes) + STEPS_LEAST * slot->bytes <=
                              slot->shared_limit;
  if (!w->states) return;
  w->slots_at = align_64(w->states_bytes);
  to->shared += w->slots_at;
  size_t fit = slot->bytes ? (slot->shared_limit - to->shared) / slot->bytes : STEPS_PER_LAUNCH;
  if (fit < STEPS_PER_LAUNCH) to->steps_per_launch = (uint32_t)fit;
  to->shared += to->steps_per_launch * slot->bytes;
}

// The address of a wire in the plan at scan positions 0, as text; NULL: a tile, or a state that is not in
// shared memory.
static const char *plan_address(const FusedStep *w, uint32_t wire) {
  const Plan *p = w->e->p;
  const CudaSlot *slot = w->whole->slot;
  Place place = p->wire.at[wire].place;
  int64_t at[8] = {0};
  uint32_t root;
  if (place == AT_TILE || place == AT_REGISTER) return NULL;
  int64_t bytes = wire_offset(p, wire, at, &root) * (int64_t)number_bytes(p->wire.at[wire].number);
  const PlanWire *r = &p->wire.at[root];
  if (r->place == AT_ARENA)
    return arena_format(p->arena, "arena + %lldL", (long long)(r->at + bytes));
  if (r->place == AT_INPUT)
    return arena_format(p->arena, "slot + %lldL",
                        (long long)slot->input_at[r->number_of] + (long long)bytes);
  if (r->place != AT_STATE) return NULL;
  const CudaParamAt *param = &slot->param[r->number_of];
  if (param->of == PLAN_NONE || param->widens)
    return arena_format(p->arena, "slot + %lldL",
                        (long long)slot->clock_at + 8LL * r->number_of + (long long)bytes);
  if (!w->states) return NULL;
  return arena_format(p->arena, "states + %lldL",
                      (long long)(w->piece_at[param->of] + param->at) + (long long)bytes);
}

static bool is_on_side(const FusedStep *w, uint32_t wire) {
  return w->whole->threads > w->whole->lanes && w->side_wire[wire];
}

static const char *side_address(const FusedStep *w, uint32_t wire) {
  if (!is_on_side(w, wire)) return plan_address(w, wire);
  return arena_format(w->e->p->arena, "arena + %zuL",
                      w->side_at + (w->side_wire[wire] - 1) * sizeof(double));
}

static const char *const *fused_addresses(const FusedStep *w) {
  const char **near = NEW_ARRAY(w->e->p->arena, const char *, w->e->p->wire.n + 1);
  for (uint32_t i = 0; i < w->e->p->wire.n; i++) near[i] = side_address(w, i);
  return near;
}

// The address of a param in its piece, not of its widened copy.
static const char *state_address(const FusedStep *w, const CudaParamAt *param) {
  return w->states
             ? arena_format(w->e->p->arena, "states + %zuL", w->piece_at[param->of] + param->at)
             : arena_format(w->e->p->arena, "wires.state[%u] + %zuL", param->of, param->at);
}

// The address of a wire in the function limn_step, which also has the addresses of pieces.
static const char *step_address(const FusedStep *w, uint32_t wire) {
  const Plan *p = w->e->p;
  int64_t at[8] = {0};
  uint32_t root;
  if (w->e->wire_address[wire]) return w->e->wire_address[wire];
  int64_t bytes = wire_offset(p, wire, at, &root) * (int64_t)number_bytes(p->wire.at[wire].number);
  return arena_format(p->arena, "%s + %lldL",
                      state_address(w, &w->whole->slot->param[p->wire.at[root].number_of]),
                      (long long)bytes);
}

// -- barriers: dependence analysis of memory accesses ---------------------------------------------
typedef enum { IN_TILES, IN_ARENA, IN_STATES, IN_SLOT } Space;
enum { OWN_LOOPS = 4 };
typedef struct {
  Space space;
  int64_t from, to; // bytes
  bool writes;
  // own: point p of the nest accesses one cell and is computed by lane p mod lanes. The affine access: the
  // first cell, and strides and lengths of the loops, the innermost first, collapsed where possible.
  bool own;
  int64_t first, step[OWN_LOOPS], length[OWN_LOOPS]; // length 0: the outermost loop, of any length
  uint32_t loops;
} MemoryAccess;
struct LaneAccesses {
  const FusedStep *w;
  VEC(MemoryAccess) all;
};

// The range of a wire's cells in its root; if a scan moves the wire, all cells of the root.
static void accessed_cells(const Plan *p, uint32_t wire, int64_t *from, int64_t *to) {
  const PlanWire *x = &p->wire.at[wire];
  int64_t at[8] = {0};
  uint32_t root;
  *from = wire_offset(p, wire, at, &root);
  *to = *from + 1;
  for (uint32_t d = 0; d < x->rank; d++) {
    int64_t last = (extent_most(p, x->shape[d]) - 1) * x->stride[d];
    *(last < 0 ? from : to) += last;
  }
  for (uint32_t i = wire; i != root; i = p->wire.at[i].alias_of)
    if (p->wire.at[i].scan_moves) *from = 0, *to = p->wire.at[root].count;
}

// The byte range of a wire. False: it has no memory, or nothing writes it.
static bool access_of(const FusedStep *w, uint32_t wire, bool writes, MemoryAccess *to) {
  const Plan *p = w->e->p;
  const PlanWire *x = &p->wire.at[wire], *r = &p->wire.at[wire_root(p, wire)];
  const CudaSlot *slot = w->whole->slot;
  if (x->place == AT_TILE) r = x;
  int64_t at[8] = {0};
  uint32_t root;
  *to = (MemoryAccess){.from = r->at, .writes = writes};
  if (r->place == AT_TILE) {
    to->space = IN_TILES;
  } else if (r->place == AT_ARENA) {
    to->space = IN_ARENA;
  } else if (r->place == AT_STATE) {
    const CudaParamAt *param = &slot->param[r->number_of];
    bool clock = param->of == PLAN_NONE || param->widens;
    to->space = clock ? IN_SLOT : IN_STATES;
    to->from = clock ? (int64_t)slot->clock_at + 8 * (int64_t)r->number_of
                     : (int64_t)(w->piece_at[param->of] + param->at);
  } else {
    return false;
  }
  if (r->place == AT_TILE && r->alias_of != PLAN_NONE) {
    to->from = 0, to->to = INT64_MAX;
    return true;
  }
  int64_t from = 0, behind = r->count, bytes = (int64_t)number_bytes(x->number);
  to->first = to->from + (x != r ? wire_offset(p, wire, at, &root) * bytes : 0);
  if (x != r) accessed_cells(p, wire, &from, &behind);
  to->to = to->from + behind * bytes;
  to->from += from * bytes;
  return true;
}

static bool accesses_conflict(const MemoryAccess *a, const MemoryAccess *b) {
  return a->space == b->space && (a->writes || b->writes) && a->from < b->to && b->from < a->to;
}

// Adds one more surrounding loop. Only the outermost loop may have a variable length.
static bool add_own_loop(MemoryAccess *to, int64_t step, Extent dim, bool outermost) {
  bool known = !dim.per && !dim.part;
  uint32_t n = to->loops;
  if (known && dim.c == 1) return true;
  if ((!known && !outermost) || (to->writes && !step)) return false;
  if (n && step == to->step[n - 1] * to->length[n - 1]) {
    to->length[n - 1] *= known && !outermost ? dim.c : 0;
    return true;
  }
  if (n == OWN_LOOPS) return false;
  to->step[n] = step;
  to->length[n] = outermost ? 0 : dim.c;
  to->loops++;
  return true;
}

static int64_t loop_step(const Plan *p, const PlanNode *x, const Operand *o, uint32_t loop) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == loop) return operand_step(p, o, i);
  return 0;
}

// Each lane accesses its own cells only. (Not for labels: lanes without a cell read the first label and follow
// it.)
static bool accesses_own_cells(const TeamNest *t, const PlanNode *x, const Operand *o,
                               MemoryAccess *to) {
  const Plan *p = t->e->p;
  const PlanWire *w = &p->wire.at[o->wire];
  int64_t bytes = (int64_t)number_bytes(w->number);
  bool dealt = !t->e->k->np && !t->e->k->depth && t->lanes_per_cell == 1 &&
               t->cells_at_once == t->lanes && !t->column_sums && !x->scatter &&
               (!t->vectorised || t->cell_loops < t->s->ndim);
  if (!dealt || w->base != BASE_R || !operand_is_affine(p, o) || to->to == INT64_MAX) return false;
  for (uint32_t d = t->cell_loops; d < t->s->ndim; d++)
    if (loop_step(p, x, o, d)) return false;
  for (uint32_t d = t->cell_loops; d-- > 0;)
    if (!add_own_loop(to, loop_step(p, x, o, d) * bytes, t->s->dim[d], !d)) return false;
  to->first += operand_start(p, o) * bytes;
  return true;
}

static bool same_cells(const MemoryAccess *a, const MemoryAccess *b) {
  bool same = a->own && b->own && a->first == b->first && a->loops == b->loops;
  for (uint32_t i = 0; same && i < a->loops; i++)
    same = a->step[i] == b->step[i] && a->length[i] == b->length[i];
  return same;
}

// Results of the side warp are not recorded: the barrier before the test of the losses orders them.
static void record_access(const TeamNest *t, const PlanNode *x, const Operand *o, bool writes,
                          struct LaneAccesses *now) {
  const FusedStep *w = t->e->accesses->w;
  MemoryAccess to;
  if (o->wire == PLAN_NONE || is_on_side(w, o->wire) || !access_of(w, o->wire, writes, &to)) return;
  to.own = accesses_own_cells(t, x, o, &to);
  vec_push(t->e->p->arena, &now->all, to);
}

static void record_write(Emit *e, uint32_t wire, struct LaneAccesses *now) {
  MemoryAccess to;
  if (wire != PLAN_NONE && access_of(e->accesses->w, wire, true, &to))
    vec_push(e->p->arena, &now->all, to);
}

static Conflict find_conflict(Emit *e, const struct LaneAccesses *now) {
  Conflict meets = NO_CONFLICT;
  for (uint32_t i = 0; i < now->all.n; i++)
    for (uint32_t k = 0; k < e->accesses->all.n; k++) {
      const MemoryAccess *a = &now->all.at[i], *b = &e->accesses->all.at[k];
      if (accesses_conflict(a, b) && meets != NEEDS_BARRIER)
        meets = same_cells(a, b) ? OWN_CELLS : NEEDS_BARRIER;
    }
  if (meets == NEEDS_BARRIER) e->accesses->all.n = 0;
  for (uint32_t i = 0; i < now->all.n; i++)
    vec_push(e->p->arena, &e->accesses->all, now->all.at[i]);
  return meets;
}

// Also records the nest's accesses, after forgetting all earlier ones if a barrier is needed.
Conflict fused_conflict(Emit *e, const TeamNest *t) {
  struct LaneAccesses now = {.w = e->accesses->w};
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const PlanNode *x = &e->p->node.at[t->s->node.at[i]];
    for (uint32_t k = 0; k < x->nin; k++) record_access(t, x, &x->in[k], false, &now);
    for (uint32_t k = 0; k < x->nwinner; k++) record_write(e, x->winner[k], &now);
    record_access(t, x, &x->out, true, &now);
  }
  return find_conflict(e, &now);
}

// There is a barrier before this kernel in any case.
static bool has_barrier_before(const Plan *p, uint32_t i) {
  KernelKind kind = p->kernel.at[i].kind, before = i ? p->kernel.at[i - 1].kind : KERNEL_SCAN_END;
  return i == plan_first_state_write(p) || kind == KERNEL_COPY || before == KERNEL_COPY ||
         before == KERNEL_SCAN || before == KERNEL_SCAN_END;
}

// -- the side warp (warp specialisation) ----------------------------------------------------------
// Scalars that depend on states, clocks and inputs only and are needed only after the test of the losses,
// such as the bias corrections of Adam, are long chains of operations in double. A side warp computes them,
// in memory of their own, while the other warps compute losses and gradients. Those that are states are
// copied into the states at the point where the step would have written them.

// No node computes the wire: it is an input or an unchanged state.
static bool is_input(const Plan *p, const bool *made, uint32_t wire) {
  uint32_t root = wire_root(p, wire);
  Place place = p->wire.at[root].place;
  return (place == AT_STATE || place == AT_INPUT) && !made[wire] && !made[root];
}

static bool is_separate_scalar(const Plan *p, uint32_t wire) {
  const PlanWire *x = &p->wire.at[wire];
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].alias_of == wire) return false;
  return !x->rank && x->alias_of == PLAN_NONE &&
         (x->place == AT_STATE || x->place == AT_ARENA || x->place == AT_TILE ||
          x->place == AT_REGISTER);
}

// Gives a nest to the side warp, if all of its nodes qualify; *work counts its operations.
static void move_to_side(FusedStep *w, const bool *made, const Nest *s, uint32_t *work) {
  const Plan *p = w->e->p;
  uint32_t before = w->nside, flops = 0;
  bool all = !s->ndim;
  for (uint32_t i = 0; all && i < s->node.n; i++) {
    const PlanNode *x = &p->node.at[s->node.at[i]];
    all = !x->scatter && !x->noise && !x->nwinner && is_separate_scalar(p, x->out.wire);
    for (uint32_t k = 0; all && k < x->nin; k++)
      all = w->side_wire[x->in[k].wire] || is_input(p, made, x->in[k].wire);
    if (all) w->side_wire[x->out.wire] = ++w->nside;
    flops += emit_flops(x, NULL);
  }
  if (all) {
    *work += flops;
    return;
  }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (w->side_wire[i] > before) w->side_wire[i] = 0;
  w->nside = before;
}

static void find_side_work(FusedStep *w) {
  const Plan *p = w->e->p;
  bool scans = false, *made = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  uint32_t work = 0;
  w->side_wire = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    const Kernel *k = &p->kernel.at[i];
    scans |=
        k->kind != KERNEL_LOOPS && k->kind != KERNEL_COPY; // the side warp runs no loops of scans
    for (uint32_t c = 0; c < k->to.n; c++) made[k->to.at[c]] = true;
    for (uint32_t n = 0; n < k->node.n; n++) made[p->node.at[k->node.at[n]].out.wire] = true;
  }
  for (uint32_t i = plan_first_state_write(p); !scans && i < p->kernel.n; i++)
    for (uint32_t n = 0; !p->kernel.at[i].np && n < p->kernel.at[i].nest.n; n++)
      move_to_side(w, made, &p->kernel.at[i].nest.at[n], &work);
  if (work < SIDE_WORK) w->nside = 0;
}

// The data are in shared memory, and no nest combines accumulators between warps: its barriers would include
// the side warp.
static bool side_warp_fits(const FusedStep *w) {
  Emit e = *w->e;
  if (!w->nside || !w->states) return false;
  for (uint32_t i = 0; i < e.p->kernel.n; i++) {
    e.k = &e.p->kernel.at[i];
    for (uint32_t n = 0; n < e.k->nest.n; n++)
      if (team_nest(&e, n, w->whole->lanes).lanes_per_cell > WARP) return false;
  }
  return true;
}

bool fused_is_on_side(const Emit *e, const Nest *s) {
  return e->accesses && is_on_side(e->accesses->w, e->p->node.at[s->node.at[0]].out.wire);
}

void fused_store_side(Emit *e, const Nest *s) {
  const FusedStep *w = e->accesses->w;
  for (uint32_t i = 0; i < s->node.n; i++) {
    struct LaneAccesses now = {.w = w};
    uint32_t wire = e->p->node.at[s->node.at[i]].out.wire;
    const char *number = emit_number(e->p->wire.at[wire].number);
    if (e->p->wire.at[wire].place != AT_STATE) continue;
    record_write(e, wire, &now);
    if (find_conflict(e, &now) == NEEDS_BARRIER) emit_line(e, "TEAM_SYNC();");
    // the last lane usually has no cell
    emit_line(e, "if (LANE == TEAM - 1) *(%s *)(%s) = *(const %s *)(%s);", number,
              plan_address(w, wire), number, side_address(w, wire));
  }
}

static void emit_side_calls(const FusedStep *w) {
  Emit *e = w->e;
  for (uint32_t i = 0; i < e->p->kernel.n; i++) {
    const Kernel *k = &e->p->kernel.at[i];
    bool any = false;
    for (uint32_t n = 0; n < k->nest.n; n++) any |= fused_is_on_side(e, &k->nest.at[n]);
    if (any) emit_line(e, "limn_beside%u(&here, s, arena, states, slot, wires.k%u);", i, i);
  }
}

// -- printing -------------------------------------------------------------------------------------
static void emit_kernel_call(const FusedStep *w, uint32_t i, const char *unless) {
  Emit *e = w->e;
  const Kernel *k = &e->p->kernel.at[i];
  const PlanNode *x = k->node.n ? &e->p->node.at[k->node.at[0]] : NULL;
  if (k->kind == KERNEL_SCAN) {
    emit_open_loop(e, 't', i, emit_extent(e, x->times));
    if (x->back)
      emit_line(e, "here.at[%u] = %s - 1 - t%u;", k->depth, emit_extent(e, x->times), i);
    else
      emit_line(e, "here.at[%u] = t%u;", k->depth, i);
  } else if (k->kind == KERNEL_SCAN_END) {
    emit_close(e);
    emit_line(e, "here.at[%u] = 0;", k->depth);
  } else if (k->kind == KERNEL_COPY) {
    for (uint32_t c = 0; c < k->to.n; c++) {
      const PlanWire *to = &e->p->wire.at[k->to.at[c]];
      emit_line(e, "%slimn_copied(%s, %s, %lldL, %u);", unless, step_address(w, k->to.at[c]),
                step_address(w, k->from.at[c]),
                (long long)(to->count * (int64_t)number_bytes(to->number)), w->whole->lanes);
    }
  } else {
    emit_line(e, "%slimn_k%u(&here, s, arena, states, slot, wires.k%u);", unless,
              w->kernel[i].emit.fn, i);
  }
}

// The thread that writes outputs to the slot: one of the side warp, if there is one, because it is idle then.
static uint32_t output_thread(const FusedStep *w) {
  return w->whole->threads > w->whole->lanes ? w->whole->lanes : 0;
}

// All lanes test the losses, after a barrier.
static void emit_loss_test(const FusedStep *w) {
  const Plan *p = w->e->p;
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *out = &p->wire.at[p->out.at[i]];
    if (out->rank || out->base != BASE_R) continue;
    emit_line(w->e, "stopped |= limn_not_finite(*(const %s *)(%s));", emit_number(out->number),
              step_address(w, p->out.at[i]));
  }
  emit_line(w->e, "if (stopped && threadIdx.x == %u) *wires.steps.stop = 1;", output_thread(w));
}

static void emit_outputs(const FusedStep *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  emit_line(e, "if (threadIdx.x == %u) {", output_thread(w));
  e->indent++;
  emit_line(e, "char *to = limn_slot(&wires.steps, step);");
  for (uint32_t i = 0; i < p->out.n; i++) {
    const char *number = emit_number(p->wire.at[p->out.at[i]].number);
    emit_line(e, "*(%s *)(to + %zuL) = *(const %s *)(%s);", number, w->whole->slot->output_at[i],
              number, step_address(w, p->out.at[i]));
  }
  emit_close(e);
}

// One thread widens the scalar states that are stored as floats (engine_widens) before a step; or, `back`,
// rounds them after it.
static bool emit_widened(const FusedStep *w, bool back, const char *when) {
  Emit *e = w->e;
  const CudaSlot *slot = w->whole->slot;
  bool any = false;
  for (uint32_t i = 0; i < slot->params; i++) {
    const CudaParamAt *param = &slot->param[i];
    if (!param->widens || (back && !param->back)) continue;
    if (!any) emit_line(e, "if (%s) {", when);
    any = true;
    const char *narrow = state_address(w, param);
    size_t wide = slot->clock_at + 8 * (size_t)i;
    if (back)
      emit_line(e, "  *(float *)(%s) = (float)*(const double *)(slot + %zuL);", narrow, wide);
    else
      emit_line(e, "  *(double *)(slot + %zuL) = *(const float *)(%s);", wide, narrow);
  }
  if (any) emit_line(e, "}");
  return any;
}

// Outputs can be given back right after the test of the losses: they are in the arena and not overwritten.
static bool outputs_are_stable(const Plan *p) {
  for (uint32_t i = 0; i < p->out.n; i++)
    if (p->wire.at[wire_root(p, p->out.at[i])].place != AT_ARENA) return false;
  return plan_first_state_write(p) < p->kernel.n;
}

// Prints a step, after its slot has been copied.
static void emit_step_kernels(const FusedStep *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  uint32_t first_write = plan_first_state_write(p);
  bool early = outputs_are_stable(p);
  bool beside = w->whole->threads > w->whole->lanes;
  const char *unless = "";
  if (beside) {
    emit_line(e, "if (threadIdx.x >= %u) {", w->whole->lanes);
    e->indent++;
    emit_side_calls(w);
    emit_close(e);
    emit_line(e, "else {");
    e->indent++;
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (i == first_write) {
      if (beside) emit_close(e);
      if (i || beside) emit_line(e, "__syncthreads();");
      emit_loss_test(w);
      unless = "if (!stopped) ";
      if (early) emit_outputs(w);
      if (beside) emit_line(e, "if (threadIdx.x < %u) {", w->whole->lanes), e->indent++;
    } else if (i && has_barrier_before(p, i)) {
      emit_line(e, "BLOCK_SYNC();");
    }
    emit_kernel_call(w, i, unless);
  }
  if (beside) emit_close(e);
  emit_line(e, "__syncthreads();");
  if (first_write >= p->kernel.n) emit_loss_test(w);
  if (!early) emit_outputs(w);
  if (emit_widened(w, true, "threadIdx.x == 0 && !stopped") || !early)
    emit_line(e, "__syncthreads();");
}

static bool has_samples(const Plan *p) {
  for (uint32_t i = 0; i < p->wire.n; i++)
    for (uint32_t d = 0; d < p->wire.at[i].rank; d++)
      if (p->wire.at[i].shape[d].per) return true;
  return false;
}

// Nearly all batches are full. A copy of the step for full batches has the number of samples as a constant, so
// loops over samples are unrolled and means multiply by a constant.
static void emit_step(const FusedStep *w) {
  Emit *e = w->e;
  long long most = (long long)e->p->samples;
  emit_line(e, "char *slot = slots + step * %zu;", w->whole->slot->bytes);
  emit_line(e, "Context here = *(const Context *)slot;");
  emit_line(e, "for (int d = 0; d < 8; d++) here.at[d] = 0;");
  emit_line(e, "char *s = in_scratch ? here.scratch : (char *)tiles;");
  if (emit_widened(w, false, "threadIdx.x == 0")) emit_line(e, "__syncthreads();");
  if (has_samples(e->p)) {
    emit_line(e, "if (here.n == %lldL) {", most);
    e->indent++;
    emit_line(e, "here.n = %lldL;", most);
    emit_step_kernels(w);
    emit_close(e);
    emit_line(e, "else {");
    e->indent++;
    emit_step_kernels(w);
    emit_close(e);
  } else {
    emit_step_kernels(w);
  }
}

static void emit_arguments(const FusedStep *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  uint32_t pieces = w->whole->slot->pieces;
  emit_line(e, "typedef struct {");
  emit_line(e, "  LimnSteps steps;");
  if (pieces) emit_line(e, "  char *state[%u];", pieces);
  for (uint32_t i = 0; i < p->kernel.n; i++)
    if (kernel_has_text(&p->kernel.at[i])) emit_line(e, "  Wires%u k%u;", w->kernel[i].emit.fn, i);
  emit_line(e, "} LimnStep;");
}

// States are copied into shared memory at the start of a launch and back at its end: one loop over all pieces,
// 16 bytes at a time.
static const char *piece_cells(const FusedStep *w) {
  const CudaSlot *slot = w->whole->slot;
  Buf b = buf_new(w->e->p->arena);
  for (uint32_t i = 0; i < slot->pieces; i++) {
    if (i + 1 < slot->pieces) buf_printf(&b, "k < %zu ? ", w->piece_at[i + 1] / 16);
    buf_printf(&b, "(float4 *)wires.state[%u] + (k - %zu)", i, w->piece_at[i] / 16);
    if (i + 1 < slot->pieces) buf_text(&b, " : ");
  }
  return b.at;
}

static void emit_states_moved(const FusedStep *w, bool back) {
  Emit *e = w->e;
  size_t all = w->states_bytes / 16;
  if (!w->states || !all || (back && !w->whole->slot->changes)) return;
  if (!back)
    emit_line(e, "LIMN_FETCHED(%d, states, *(%s), %zu);", all > 2 * w->whole->threads ? 8 : 1,
              piece_cells(w), all);
  else
    emit_line(e, "for (int k = (int)threadIdx.x; k < %zu; k += %u) *(%s) = ((float4 *)states)[k];",
              all, w->whole->threads, piece_cells(w));
}

void fused_emit(const FusedStep *w) {
  if (!w) return;
  Emit *e = w->e;
  e->indent = 0;
  emit_arguments(w);
  emit_line(e, "KERNEL(limn_step, LimnStep, %u) {", w->whole->threads);
  e->indent = 1;
  emit_line(e, "TILES(tiles);");
  emit_line(e, "ARGUMENTS_ALONE(LimnStep)");
  emit_line(e, "LET_NEXT();");
  emit_line(e, "const int in_scratch = %d, steps = (int)wires.steps.steps;", w->whole->scratch);
  emit_line(e, "char *arena = %s;",
            w->arena ? arena_format(e->p->arena, "(char *)tiles + %zu", w->tiles)
                     : "wires.steps.arena");
  emit_line(e, "char *states = arena + %zu;", w->states ? w->arena_bytes : 0);
  emit_line(e, "char *slots = %s;",
            w->states ? arena_format(e->p->arena, "states + %zu", w->slots_at)
                      : "wires.steps.near");
  // slots are host memory: they are copied into shared memory while the previous launch still runs
  if (!w->states) emit_line(e, "AWAIT_ALONE();");
  emit_line(e, "limn_slots_taken(&wires.steps, slots, %zu);", w->whole->slot->bytes);
  if (w->states) emit_line(e, "AWAIT_ALONE();");
  emit_states_moved(w, false);
  emit_line(e, "int stopped = *wires.steps.stop;");
  emit_line(e, "__syncthreads();");
  emit_line(e, "for (int step = 0; step < steps && !stopped; step++) {");
  e->indent++;
  emit_step(w);
  emit_close(e);
  emit_states_moved(w, true);
  emit_line(e, "if (threadIdx.x == %u) limn_steps_whole(&wires.steps);", output_thread(w));
  emit_close(e);
}

FusedStep *fused_new(Emit *e, const CudaKernel *kernel, CudaFusedStep *whole) {
  *whole =
      (CudaFusedStep){.slot = whole->slot, .lanes = whole->slot ? choose_fused_lanes(e->p) : 0};
  if (!whole->lanes) return NULL;
  FusedStep *w = NEW(e->p->arena, FusedStep);
  *w = (FusedStep){.e = e, .kernel = kernel, .whole = whole};
  whole->threads = whole->lanes;
  find_side_work(w);
  lay_out_fused(w);
  e->wire_address = fused_addresses(w);
  e->all_shared = w->states;
  if (side_warp_fits(w)) {
    whole->threads += WARP;
    e->wire_address = fused_addresses(w);
    emit_line(e, "#undef BLOCK_SYNC");
    emit_line(e, "#define BLOCK_SYNC() LIMN_MEET(%u)", whole->lanes);
  }
  e->accesses = NEW(e->p->arena, struct LaneAccesses);
  *e->accesses = (struct LaneAccesses){.w = w};
  return w;
}

void fused_before(const FusedStep *w, uint32_t kernel) {
  if (w && has_barrier_before(w->e->p, kernel)) w->e->accesses->all.n = 0;
}
