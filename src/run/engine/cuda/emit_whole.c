// A whole step as one function, by the lanes of one block (emit_cuda.h says when).
#include "run/engine/cuda/emit_cuda_own.h"

// The lanes of one block do kernel after kernel. What it shares is far nearer than the device's memory: tiles come first;
// then, where they have room, the arena, states, and what a launch's steps take from their slots.
enum { WHOLE_LANES = 512, TOGETHER = 64, TOGETHER_LEAST = 4 };
// What a nest costs, in cycles or so: each time that its lanes go round, and for each warp that it has to send there and wait for.
enum { ROUND_COST = 120, WARP_COST = 8 };
enum { BESIDE_WORK = 12 }; // operations that are worth a warp of their own: a root, an exponential

struct Whole {
  Emit *e;
  const CudaKernel *kernel;
  CudaWhole *whole;
  size_t tiles, arena_bytes, states_bytes, slots_at;
  bool arena, states; // they are shared
  size_t *piece_at;   // [piece] among the states
  // Of each wire that a warp beside the others makes: its place among these, from 1 on. They lie behind the arena.
  uint32_t *beside, nbeside;
  size_t beside_at;
};

// A sum's lanes have several terms each.
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

// The lanes of the block that does a small step at once: 0: each kernel is launched.
static uint32_t whole_lanes(const Plan *p) {
  uint32_t best = WARP;
  if (!p->tiny) return 0;
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    KernelKind kind = p->kernel.at[i].kind;
    if (kind == KERNEL_PRODUCT || kind == KERNEL_ATTENTION || kind == KERNEL_ORDER) return 0;
  }
  for (uint32_t lanes = 2 * WARP; lanes <= WHOLE_LANES; lanes *= 2)
    if (step_cost(p, lanes) < step_cost(p, best)) best = lanes;
  return best;
}

static size_t tile_most(const Plan *p) {
  int64_t most = 0;
  for (uint32_t i = 0; i < p->kernel.n; i++)
    if (kernel_has_text(&p->kernel.at[i]) && p->kernel.at[i].tile_bytes > most)
      most = p->kernel.at[i].tile_bytes;
  return (size_t)most;
}

static size_t in_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static void lay_whole(Whole *w) {
  const Plan *p = w->e->p;
  CudaWhole *to = w->whole;
  const CudaSlot *slot = to->slot;
  size_t tiles = tile_most(p);
  to->scratch = tiles > SHARED_BYTES;
  to->scratch_bytes = tiles;
  w->tiles = to->scratch ? 0 : in_lines(tiles);
  w->beside_at = in_lines((size_t)p->arena_bytes);
  w->arena_bytes = w->beside_at + in_lines(w->nbeside * sizeof(double));
  w->arena = w->arena_bytes <= SHARED_BYTES && w->tiles + w->arena_bytes <= slot->room;
  w->piece_at = NEW_ARRAY(p->arena, size_t, slot->pieces + 1);
  for (uint32_t i = 0; i < slot->pieces; i++) {
    w->piece_at[i] = w->states_bytes;
    w->states_bytes += slot->piece_bytes[i];
  }
  to->shared = w->tiles + (w->arena ? w->arena_bytes : 0);
  to->together = TOGETHER;
  w->states = w->arena &&
              to->shared + in_lines(w->states_bytes) + TOGETHER_LEAST * slot->bytes <= slot->room;
  if (!w->states) return;
  w->slots_at = in_lines(w->states_bytes);
  to->shared += w->slots_at;
  size_t fit = slot->bytes ? (slot->room - to->shared) / slot->bytes : TOGETHER;
  if (fit < TOGETHER) to->together = (uint32_t)fit;
  to->shared += to->together * slot->bytes;
}

// Where the plan has put a wire, when all scans are at 0, as text; NULL: it is a tile, or a state that has no room here.
static const char *plan_place(const Whole *w, uint32_t wire) {
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
  if (param->of == PLAN_NONE || param->brings)
    return arena_format(p->arena, "slot + %lldL",
                        (long long)slot->clock_at + 8LL * r->number_of + (long long)bytes);
  if (!w->states) return NULL;
  return arena_format(p->arena, "states + %lldL",
                      (long long)(w->piece_at[param->of] + param->at) + (long long)bytes);
}

static bool is_beside(const Whole *w, uint32_t wire) {
  return w->whole->threads > w->whole->lanes && w->beside[wire];
}

static const char *whole_place(const Whole *w, uint32_t wire) {
  if (!is_beside(w, wire)) return plan_place(w, wire);
  return arena_format(w->e->p->arena, "arena + %zuL",
                      w->beside_at + (w->beside[wire] - 1) * sizeof(double));
}

static const char *const *whole_places(const Whole *w) {
  const char **near = NEW_ARRAY(w->e->p->arena, const char *, w->e->p->wire.n + 1);
  for (uint32_t i = 0; i < w->e->p->wire.n; i++) near[i] = whole_place(w, i);
  return near;
}

// A param's own memory, not what the step has of it.
static const char *state_place(const Whole *w, const CudaParamAt *param) {
  return w->states
             ? arena_format(w->e->p->arena, "states + %zuL", w->piece_at[param->of] + param->at)
             : arena_format(w->e->p->arena, "wires.state[%u] + %zuL", param->of, param->at);
}

// The same for the function of the whole step, which has states' pointers.
static const char *step_place(const Whole *w, uint32_t wire) {
  const Plan *p = w->e->p;
  int64_t at[8] = {0};
  uint32_t root;
  if (w->e->wire_address[wire]) return w->e->wire_address[wire];
  int64_t bytes = wire_offset(p, wire, at, &root) * (int64_t)number_bytes(p->wire.at[wire].number);
  return arena_format(p->arena, "%s + %lldL",
                      state_place(w, &w->whole->slot->param[p->wire.at[root].number_of]),
                      (long long)bytes);
}

// -- where lanes meet -------------------------------------------------------------------------------
typedef enum { IN_TILES, IN_ARENA, IN_STATES, IN_SLOT } Space;
enum { OWN_LOOPS = 4 };
typedef struct {
  Space space;
  int64_t from, to; // bytes
  bool writes;
  // Of a nest whose point number p is lane p's, or whose it is when they go round: points have one cell each. Where the first one's
  // is, and how the loops go on from there, the innermost first, joined where one continues the other.
  bool own;
  int64_t first, step[OWN_LOOPS], length[OWN_LOOPS]; // 0: the outermost, of any length
  uint32_t loops;
} Touch;
struct LaneAccesses {
  const Whole *w;
  VEC(Touch) all;
};

// The cells of a wire, from the first to behind the last one, in what it is a part of; of one that a scan moves: all of that.
static void touched_cells(const Plan *p, uint32_t wire, int64_t *from, int64_t *to) {
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

// The bytes of a wire. False: it has none, or nobody writes it.
static bool touch_of(const Whole *w, uint32_t wire, bool writes, Touch *to) {
  const Plan *p = w->e->p;
  const PlanWire *x = &p->wire.at[wire], *r = &p->wire.at[wire_root(p, wire)];
  const CudaSlot *slot = w->whole->slot;
  if (x->place == AT_TILE) r = x;
  int64_t at[8] = {0};
  uint32_t root;
  *to = (Touch){.from = r->at, .writes = writes};
  if (r->place == AT_TILE) {
    to->space = IN_TILES;
  } else if (r->place == AT_ARENA) {
    to->space = IN_ARENA;
  } else if (r->place == AT_STATE) {
    const CudaParamAt *param = &slot->param[r->number_of];
    bool clock = param->of == PLAN_NONE || param->brings;
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
  if (x != r) touched_cells(p, wire, &from, &behind);
  to->to = to->from + behind * bytes;
  to->from += from * bytes;
  return true;
}

static bool touches_meet(const Touch *a, const Touch *b) {
  return a->space == b->space && (a->writes || b->writes) && a->from < b->to && b->from < a->to;
}

// One more loop around those that are known. Only the outermost may be of any length.
static bool own_loop(Touch *to, int64_t step, Extent dim, bool outermost) {
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

// Does each lane touch cells that are its own? (Labels are not asked for: lanes that have no cell look at the first one, and go
// where it says.)
static bool touches_own(const TeamNest *t, const PlanNode *x, const Operand *o, Touch *to) {
  const Plan *p = t->e->p;
  const PlanWire *w = &p->wire.at[o->wire];
  int64_t bytes = (int64_t)number_bytes(w->number);
  bool dealt = !t->e->k->np && !t->e->k->depth && t->turns == 1 && t->width == t->lanes &&
               !t->columns && !x->scatter && (!t->vectorised || t->kept < t->s->ndim);
  if (!dealt || w->base != BASE_R || !operand_is_affine(p, o) || to->to == INT64_MAX) return false;
  for (uint32_t d = t->kept; d < t->s->ndim; d++)
    if (loop_step(p, x, o, d)) return false;
  for (uint32_t d = t->kept; d-- > 0;)
    if (!own_loop(to, loop_step(p, x, o, d) * bytes, t->s->dim[d], !d)) return false;
  to->first += operand_start(p, o) * bytes;
  return true;
}

static bool same_cells(const Touch *a, const Touch *b) {
  bool same = a->own && b->own && a->first == b->first && a->loops == b->loops;
  for (uint32_t i = 0; same && i < a->loops; i++)
    same = a->step[i] == b->step[i] && a->length[i] == b->length[i];
  return same;
}

// What the warp beside has made is there when all lanes have looked at the losses.
static void touch(const TeamNest *t, const PlanNode *x, const Operand *o, bool writes,
                  struct LaneAccesses *now) {
  const Whole *w = t->e->accesses->w;
  Touch to;
  if (o->wire == PLAN_NONE || is_beside(w, o->wire) || !touch_of(w, o->wire, writes, &to)) return;
  to.own = touches_own(t, x, o, &to);
  vec_push(t->e->p->arena, &now->all, to);
}

static void touch_wire(Emit *e, uint32_t wire, struct LaneAccesses *now) {
  Touch to;
  if (wire != PLAN_NONE && touch_of(e->accesses->w, wire, true, &to))
    vec_push(e->p->arena, &now->all, to);
}

static Meeting touched_meet(Emit *e, const struct LaneAccesses *now) {
  Meeting meets = APART;
  for (uint32_t i = 0; i < now->all.n; i++)
    for (uint32_t k = 0; k < e->accesses->all.n; k++) {
      const Touch *a = &now->all.at[i], *b = &e->accesses->all.at[k];
      if (touches_meet(a, b) && meets != MEETING) meets = same_cells(a, b) ? OWN_CELLS : MEETING;
    }
  if (meets == MEETING) e->accesses->all.n = 0;
  for (uint32_t i = 0; i < now->all.n; i++)
    vec_push(e->p->arena, &e->accesses->all, now->all.at[i]);
  return meets;
}

// Does a nest read what others have written since the lanes last met, or write what they have touched? Then
// they meet in front of it.
Meeting whole_meets(Emit *e, const TeamNest *t) {
  struct LaneAccesses now = {.w = e->accesses->w};
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const PlanNode *x = &e->p->node.at[t->s->node.at[i]];
    for (uint32_t k = 0; k < x->nin; k++) touch(t, x, &x->in[k], false, &now);
    for (uint32_t k = 0; k < x->nwinner; k++) touch_wire(e, x->winner[k], &now);
    touch(t, x, &x->out, true, &now);
  }
  return touched_meet(e, &now);
}

// In front of this kernel all lanes meet, whatever it does.
static bool meets_before(const Plan *p, uint32_t i) {
  KernelKind kind = p->kernel.at[i].kind, before = i ? p->kernel.at[i - 1].kind : KERNEL_SCAN_END;
  return i == plan_first_state_write(p) || kind == KERNEL_COPY || before == KERNEL_COPY ||
         before == KERNEL_SCAN || before == KERNEL_SCAN_END;
}

// -- beside the others ---------------------------------------------------------------------------------
// Numbers by themselves that are made of states, clocks and inputs alone, and wanted only when the losses are known, such as what
// Adam divides by: long chains of doubles in one lane. A warp of its own makes them while all others make the losses and
// their gradients. What it makes has memory of its own. States are put in their places where the step would have written them.

// No node makes it.
static bool comes_in(const Plan *p, const bool *made, uint32_t wire) {
  uint32_t root = wire_root(p, wire);
  Place place = p->wire.at[root].place;
  return (place == AT_STATE || place == AT_INPUT) && !made[wire] && !made[root];
}

static bool stands_alone(const Plan *p, uint32_t wire) {
  const PlanWire *x = &p->wire.at[wire];
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (p->wire.at[i].alias_of == wire) return false;
  return !x->rank && x->alias_of == PLAN_NONE &&
         (x->place == AT_STATE || x->place == AT_ARENA || x->place == AT_TILE ||
          x->place == AT_REGISTER);
}

// Takes a nest, if all of it may be made beside the others: *work grows by what it takes.
static void take_beside(Whole *w, const bool *made, const Nest *s, uint32_t *work) {
  const Plan *p = w->e->p;
  uint32_t before = w->nbeside, flops = 0;
  bool all = !s->ndim;
  for (uint32_t i = 0; all && i < s->node.n; i++) {
    const PlanNode *x = &p->node.at[s->node.at[i]];
    all = !x->scatter && !x->noise && !x->nwinner && stands_alone(p, x->out.wire);
    for (uint32_t k = 0; all && k < x->nin; k++)
      all = w->beside[x->in[k].wire] || comes_in(p, made, x->in[k].wire);
    if (all) w->beside[x->out.wire] = ++w->nbeside;
    flops += emit_flops(x, NULL);
  }
  if (all) {
    *work += flops;
    return;
  }
  for (uint32_t i = 0; i < p->wire.n; i++)
    if (w->beside[i] > before) w->beside[i] = 0;
  w->nbeside = before;
}

static void find_beside(Whole *w) {
  const Plan *p = w->e->p;
  bool scans = false, *made = NEW_ARRAY(p->arena, bool, p->wire.n + 1);
  uint32_t work = 0;
  w->beside = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1);
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    const Kernel *k = &p->kernel.at[i];
    scans |= k->kind != KERNEL_LOOPS && k->kind != KERNEL_COPY; // they are one text
    for (uint32_t c = 0; c < k->to.n; c++) made[k->to.at[c]] = true;
    for (uint32_t n = 0; n < k->node.n; n++) made[p->node.at[k->node.at[n]].out.wire] = true;
  }
  for (uint32_t i = plan_first_state_write(p); !scans && i < p->kernel.n; i++)
    for (uint32_t n = 0; !p->kernel.at[i].np && n < p->kernel.at[i].nest.n; n++)
      take_beside(w, made, &p->kernel.at[i].nest.at[n], &work);
  if (work < BESIDE_WORK) w->nbeside = 0;
}

// Everything is at hand, and lanes of different warps meet at no other barrier than their own.
static bool beside_fits(const Whole *w) {
  Emit e = *w->e;
  if (!w->nbeside || !w->states) return false;
  for (uint32_t i = 0; i < e.p->kernel.n; i++) {
    e.k = &e.p->kernel.at[i];
    for (uint32_t n = 0; n < e.k->nest.n; n++)
      if (team_nest(&e, n, w->whole->lanes).turns > WARP) return false;
  }
  return true;
}

bool whole_beside(const Emit *e, const Nest *s) {
  return e->accesses && is_beside(e->accesses->w, e->p->node.at[s->node.at[0]].out.wire);
}

void whole_put_back(Emit *e, const Nest *s) {
  const Whole *w = e->accesses->w;
  for (uint32_t i = 0; i < s->node.n; i++) {
    struct LaneAccesses now = {.w = w};
    uint32_t wire = e->p->node.at[s->node.at[i]].out.wire;
    const char *number = emit_number(e->p->wire.at[wire].number);
    if (e->p->wire.at[wire].place != AT_STATE) continue;
    touch_wire(e, wire, &now);
    if (touched_meet(e, &now) == MEETING) emit_line(e, "TEAM_SYNC();");
    // the last lane most often has no cell
    emit_line(e, "if (LANE == TEAM - 1) *(%s *)(%s) = *(const %s *)(%s);", number,
              plan_place(w, wire), number, whole_place(w, wire));
  }
}

static void emit_calls_beside(const Whole *w) {
  Emit *e = w->e;
  for (uint32_t i = 0; i < e->p->kernel.n; i++) {
    const Kernel *k = &e->p->kernel.at[i];
    bool any = false;
    for (uint32_t n = 0; n < k->nest.n; n++) any |= whole_beside(e, &k->nest.at[n]);
    if (any) emit_line(e, "limn_beside%u(&here, s, arena, states, slot, wires.k%u);", i, i);
  }
}

// -- its text -------------------------------------------------------------------------------------
static void emit_whole_kernel(const Whole *w, uint32_t i, const char *unless) {
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
      emit_line(e, "%slimn_copied(%s, %s, %lldL, %u);", unless, step_place(w, k->to.at[c]),
                step_place(w, k->from.at[c]),
                (long long)(to->count * (int64_t)number_bytes(to->number)), w->whole->lanes);
    }
  } else {
    emit_line(e, "%slimn_k%u(&here, s, arena, states, slot, wires.k%u);", unless,
              w->kernel[i].emit.fn, i);
  }
}

// The thread that gives has nothing else to do then, if there is a warp beside the others.
static uint32_t giver(const Whole *w) {
  return w->whole->threads > w->whole->lanes ? w->whole->lanes : 0;
}

// All lanes look: they have met behind what made the losses.
static void emit_look(const Whole *w) {
  const Plan *p = w->e->p;
  for (uint32_t i = 0; i < p->out.n; i++) {
    const PlanWire *out = &p->wire.at[p->out.at[i]];
    if (out->rank || out->base != BASE_R) continue;
    emit_line(w->e, "stopped |= limn_not_finite(*(const %s *)(%s));", emit_number(out->number),
              step_place(w, p->out.at[i]));
  }
  emit_line(w->e, "if (stopped && threadIdx.x == %u) *wires.steps.stop = 1;", giver(w));
}

static void emit_give(const Whole *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  emit_line(e, "if (threadIdx.x == %u) {", giver(w));
  e->indent++;
  emit_line(e, "char *to = limn_slot(&wires.steps, step);");
  for (uint32_t i = 0; i < p->out.n; i++) {
    const char *number = emit_number(p->wire.at[p->out.at[i]].number);
    emit_line(e, "*(%s *)(to + %zuL) = *(const %s *)(%s);", number, w->whole->slot->output_at[i],
              number, step_place(w, p->out.at[i]));
  }
  emit_close(e);
}

// Numbers that lie in rows of floats become doubles in front of a step, and go back behind it. One thread does both.
static bool emit_brought(const Whole *w, bool back, const char *when) {
  Emit *e = w->e;
  const CudaSlot *slot = w->whole->slot;
  bool any = false;
  for (uint32_t i = 0; i < slot->params; i++) {
    const CudaParamAt *param = &slot->param[i];
    if (!param->brings || (back && !param->back)) continue;
    if (!any) emit_line(e, "if (%s) {", when);
    any = true;
    const char *narrow = state_place(w, param);
    size_t wide = slot->clock_at + 8 * (size_t)i;
    if (back)
      emit_line(e, "  *(float *)(%s) = (float)*(const double *)(slot + %zuL);", narrow, wide);
    else
      emit_line(e, "  *(double *)(slot + %zuL) = *(const float *)(%s);", wide, narrow);
  }
  if (any) emit_line(e, "}");
  return any;
}

// What is given stays as it is from the look at it to the end of the step.
static bool gives_early(const Plan *p) {
  for (uint32_t i = 0; i < p->out.n; i++)
    if (p->wire.at[wire_root(p, p->out.at[i])].place != AT_ARENA) return false;
  return plan_first_state_write(p) < p->kernel.n;
}

// What a step does once its slot is here.
static void emit_step_kernels(const Whole *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  uint32_t first_write = plan_first_state_write(p);
  bool early = gives_early(p);
  bool beside = w->whole->threads > w->whole->lanes;
  const char *unless = "";
  if (beside) {
    emit_line(e, "if (threadIdx.x >= %u) {", w->whole->lanes);
    e->indent++;
    emit_calls_beside(w);
    emit_close(e);
    emit_line(e, "else {");
    e->indent++;
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (i == first_write) {
      if (beside) emit_close(e);
      if (i || beside) emit_line(e, "__syncthreads();");
      emit_look(w);
      unless = "if (!stopped) ";
      if (early) emit_give(w);
      if (beside) emit_line(e, "if (threadIdx.x < %u) {", w->whole->lanes), e->indent++;
    } else if (i && meets_before(p, i)) {
      emit_line(e, "BLOCK_SYNC();");
    }
    emit_whole_kernel(w, i, unless);
  }
  if (beside) emit_close(e);
  emit_line(e, "__syncthreads();");
  if (first_write >= p->kernel.n) emit_look(w);
  if (!early) emit_give(w);
  if (emit_brought(w, true, "threadIdx.x == 0 && !stopped") || !early)
    emit_line(e, "__syncthreads();");
}

static bool has_samples(const Plan *p) {
  for (uint32_t i = 0; i < p->wire.n; i++)
    for (uint32_t d = 0; d < p->wire.at[i].rank; d++)
      if (p->wire.at[i].shape[d].per) return true;
  return false;
}

// Nearly all batches are full ones. For these the number of samples is part of the text: loops over them are spelled out, and
// means are products.
static void emit_whole_step(const Whole *w) {
  Emit *e = w->e;
  long long most = (long long)e->p->samples;
  emit_line(e, "char *slot = slots + step * %zu;", w->whole->slot->bytes);
  emit_line(e, "Context here = *(const Context *)slot;");
  emit_line(e, "for (int d = 0; d < 8; d++) here.at[d] = 0;");
  emit_line(e, "char *s = in_scratch ? here.scratch : (char *)tiles;");
  if (emit_brought(w, false, "threadIdx.x == 0")) emit_line(e, "__syncthreads();");
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

static void emit_whole_given(const Whole *w) {
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

// States come when a launch begins and go when it ends: one loop over all of them, by 16 bytes.
static const char *piece_cells(const Whole *w) {
  const CudaSlot *slot = w->whole->slot;
  Buf b = buf_new(w->e->p->arena);
  for (uint32_t i = 0; i < slot->pieces; i++) {
    if (i + 1 < slot->pieces) buf_printf(&b, "k < %zu ? ", w->piece_at[i + 1] / 16);
    buf_printf(&b, "(float4 *)wires.state[%u] + (k - %zu)", i, w->piece_at[i] / 16);
    if (i + 1 < slot->pieces) buf_text(&b, " : ");
  }
  return b.at;
}

static void emit_states_moved(const Whole *w, bool back) {
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

void whole_emit(const Whole *w) {
  if (!w) return;
  Emit *e = w->e;
  e->indent = 0;
  emit_whole_given(w);
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
  // slots are the caller's: they come while the launch before this one still runs, if where they go is the block's own
  if (!w->states) emit_line(e, "AWAIT_ALONE();");
  emit_line(e, "limn_slots_taken(&wires.steps, slots, %zu);", w->whole->slot->bytes);
  if (w->states) emit_line(e, "AWAIT_ALONE();");
  emit_states_moved(w, false);
  emit_line(e, "int stopped = *wires.steps.stop;");
  emit_line(e, "__syncthreads();");
  emit_line(e, "for (int step = 0; step < steps && !stopped; step++) {");
  e->indent++;
  emit_whole_step(w);
  emit_close(e);
  emit_states_moved(w, true);
  emit_line(e, "if (threadIdx.x == %u) limn_steps_whole(&wires.steps);", giver(w));
  emit_close(e);
}

Whole *whole_new(Emit *e, const CudaKernel *kernel, CudaWhole *whole) {
  *whole = (CudaWhole){.slot = whole->slot, .lanes = whole->slot ? whole_lanes(e->p) : 0};
  if (!whole->lanes) return NULL;
  Whole *w = NEW(e->p->arena, Whole);
  *w = (Whole){.e = e, .kernel = kernel, .whole = whole};
  whole->threads = whole->lanes;
  find_beside(w);
  lay_whole(w);
  e->wire_address = whole_places(w);
  e->all_shared = w->states;
  if (beside_fits(w)) {
    whole->threads += WARP;
    e->wire_address = whole_places(w);
    emit_line(e, "#undef BLOCK_SYNC");
    emit_line(e, "#define BLOCK_SYNC() LIMN_MEET(%u)", whole->lanes);
  }
  e->accesses = NEW(e->p->arena, struct LaneAccesses);
  *e->accesses = (struct LaneAccesses){.w = w};
  return w;
}

void whole_before(const Whole *w, uint32_t kernel) {
  if (w && meets_before(w->e->p, kernel)) w->e->accesses->all.n = 0;
}
