// Compiles a node to instructions at each loop level, in the order in which compiled code would compute.
// Takes the node's operands, scalars and output with their levels.
//
// Contiguous loads become aliases of memory, and results are computed in place. This is safe because all
// accesses of a nest to memory that the nest overwrites are at the same element.
#include "core/diagram/ops.h"
#include "run/engine/prebuilt/strip_own.h"

#include <math.h>

// -- operands -------------------------------------------------------------------------------------
static const StripNode *producer_of(const StripBuild *b, const StripNode *m, uint32_t wire) {
  uint32_t node;
  if (!producer_in_nest(b->p, b->k, m->w, wire, &node)) return NULL;
  for (uint32_t i = 0; i < b->nnodes; i++)
    if (b->nodes[i].w->node == node) return &b->nodes[i];
  return NULL;
}

// Operand k may be an alias of memory, unless other nodes of the nest read it as this node's value: by
// then the memory may be overwritten.
static bool may_alias_memory(const StripNode *m, uint32_t k) {
  const PlanNode *x = m->w->x;
  const Scalar *last = x->nscalar ? &x->scalar[x->nscalar - 1] : NULL;
  while (last && last->fn > FN_SIZE && !strcmp(fn_rows[last->fn].text, "a"))
    last = &x->scalar[last->arg[0]];
  return !m->has_readers || !last || last->fn != FN_ARG || last->ref != k;
}

static uint32_t load_operand(StripBuild *b, StripNode *m, uint32_t k, RegKind kind) {
  const Operand *o = &m->w->x->in[k];
  const StripNode *maker = producer_of(b, m, o->wire);
  if (m->operand[k] != PLAN_NONE) return m->operand[k];
  if (maker) return m->operand[k] = maker->value;
  uint32_t level = strip_level(b, m->w->load_level[k]), reg = reg_new(b, kind, level);
  StripMemory *memory = memory_of(b, m, o, kind);
  bool here = level == b->inner && m->guard[k] == PLAN_NONE && may_alias_memory(m, k) &&
              memory_is_register(b, memory, kind);
  StripInstr *s = instr_push(b, level, here ? DO_ALIAS : DO_LOAD, reg);
  s->memory = memory;
  s->guard = m->guard[k];
  s->other = reg_cell(b, kind, o->padded ? o->pad : 0);
  b->reg.at[reg].in_memory = here;
  return m->operand[k] = reg;
}

// Guards and labels, which addresses depend on.
static void build_operands(StripBuild *b, StripNode *m, uint32_t level) {
  const PlanNode *x = m->w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    if (operand_checked(b->p, &x->in[k]) && strip_level(b, m->w->test_level[k]) == level)
      m->guard[k] = guard_operand(b, m, &x->in[k], level);
    if (b->p->wire.at[x->in[k].wire].base == BASE_LABEL &&
        strip_level(b, m->w->load_level[k]) == level)
      load_operand(b, m, k, REG_INT);
  }
}

// -- scalars --------------------------------------------------------------------------------------
static uint32_t narrowed(StripBuild *b, uint32_t reg, uint32_t level) {
  StripMemory *memory = NEW(b->arena, StripMemory);
  uint32_t out = reg_new(b, REG_REAL, level);
  memory->cells = b->s->real->cells[NUMBER_F64];
  StripInstr *s = instr_push(b, level, DO_NARROW, out);
  s->a = reg;
  s->memory = memory;
  return out;
}

// Scalar i as an argument: a double if `wide`; otherwise uniform scalars are narrowed.
static uint32_t argument(StripBuild *b, StripNode *m, uint32_t i, bool wide, uint32_t level) {
  const Scalar *s = &m->w->x->scalar[i];
  if (s->fn == FN_CONST) {
    return reg_constant(b, reg_kind(b, s->base, wide), s->k);
  }
  if (b->reg.at[m->scalar[i]].kind != REG_WIDE || wide) return reg_use(b, m->scalar[i], level);
  if (m->narrow[i] == PLAN_NONE) m->narrow[i] = narrowed(b, m->scalar[i], 0);
  return reg_use(b, m->narrow[i], level);
}

static uint32_t build_position(StripBuild *b, StripNode *m, const Scalar *s, uint32_t level) {
  RegKind kind = reg_kind(b, s->base, false);
  uint32_t var = m->w->x->var[s->ref];
  if (strip_has(b, var) && b->dims > 1) return reg_positions(b, kind, var);
  uint32_t reg = reg_new(b, kind, level);
  StripInstr *step = instr_push(b, level, DO_COUNT, reg);
  step->a = strip_has(b, var) ? PLAN_NONE : var;
  step->count = kind == REG_INT ? b->s->real->count_ints : b->s->real->count;
  return reg;
}

static uint32_t build_size(StripBuild *b, const NodeLevels *w, uint32_t i, uint32_t level) {
  const Scalar *s = &w->x->scalar[i];
  RegKind kind = reg_kind(b, s->base, w->uniform[i]);
  uint32_t reg = reg_new(b, kind, level);
  StripInstr *step = instr_push(b, level, DO_SIZE, reg);
  step->size = plan_extent(b->p, s->ref);
  step->count = kind == REG_INT ? b->s->real->count_ints : reg_loops(b, kind)->count;
  return reg;
}

static double inverse_of(const StripBuild *b, double k) {
  return b->p->wide ? 1 / k : (float)(1 / k);
}

static uint32_t build_op(StripBuild *b, StripNode *m, uint32_t i, uint32_t level) {
  const Scalar *s = &m->w->x->scalar[i];
  const FnRow *row = &fn_rows[s->fn];
  RegKind kind = reg_kind(b, s->base, m->w->uniform[i]);
  uint32_t arg[3] = {PLAN_NONE, PLAN_NONE, PLAN_NONE};
  Fn fn = (Fn)s->fn;
  bool ints = true;
  for (uint32_t k = 0; k < row->arity; k++) {
    const Scalar *d = &m->w->x->scalar[s->arg[k]];
    if (k == 1 && divides_by_invariant(m->w, i)) {
      fn = FN_mul;
      arg[k] = d->fn == FN_CONST ? reg_constant(b, REG_REAL, inverse_of(b, d->k))
                                 : reg_use(b, m->inverse[s->arg[k]], level);
    } else {
      arg[k] = argument(b, m, s->arg[k], m->w->uniform[i], level);
    }
    ints &= row->sig[k] == 'B' || b->reg.at[arg[k]].kind == REG_INT;
  }
  if (!strcmp(row->text, "a") && b->reg.at[arg[0]].kind == kind) return arg[0];
  uint32_t reg = reg_new(b, kind, level);
  StripInstr *step = instr_push(b, level, DO_OP, reg);
  const StripLoops *loops = reg_loops(b, kind);
  step->op = ints ? loops->op_of_ints[fn] : loops->op[fn];
  step->a = arg[0];
  step->b = row->arity > 1 ? arg[1] : arg[0];
  step->c = row->arity > 2 ? arg[2] : arg[0];
  return reg;
}

// Computes the inverse of a scalar if an inner loop divides by it.
static void build_inverse(StripBuild *b, StripNode *m, uint32_t i) {
  const PlanNode *x = m->w->x;
  bool wanted = false;
  for (uint32_t k = i + 1; k < x->nscalar; k++)
    wanted |= x->scalar[k].arg[1] == i && divides_by_invariant(m->w, k);
  if (!wanted || x->scalar[i].fn == FN_CONST) return;
  uint32_t of = m->scalar[i], level = strip_level(b, m->w->scalar_level[i]);
  RegKind kind = b->reg.at[of].kind;
  uint32_t one = reg_constant(b, kind, 1), reg = reg_new(b, kind, level);
  StripInstr *s = instr_push(b, level, DO_OP, reg);
  s->op = reg_loops(b, kind)->op[FN_div];
  s->a = one;
  s->b = s->c = of;
  m->inverse[i] = kind == REG_WIDE ? narrowed(b, reg, level) : reg;
}

static void build_scalar(StripBuild *b, StripNode *m, uint32_t i) {
  const Scalar *s = &m->w->x->scalar[i];
  uint32_t level = strip_level(b, m->w->scalar_level[i]);
  switch (s->fn) {
  case FN_CONST: return;
  case FN_ARG:
    m->scalar[i] = load_operand(b, m, s->ref, reg_kind(b, s->base, m->w->uniform[i]));
    break;
  case FN_AT: m->scalar[i] = build_position(b, m, s, level); break;
  case FN_SIZE: m->scalar[i] = build_size(b, m->w, i, level); break;
  default: m->scalar[i] = build_op(b, m, i, level);
  }
  build_inverse(b, m, i);
}

// -- values ---------------------------------------------------------------------------------------
static double identity_of(const StripBuild *b, const PlanNode *x) {
  Base base = b->p->wire.at[x->out.wire].base;
  if (base == BASE_BIT) return x->combine == PROD || x->combine == MIN;
  if (x->combine == SUM || x->combine == PROD) return x->combine == PROD;
  return base != BASE_R ? 0 : x->combine == MAX ? -INFINITY : INFINITY;
}

static uint32_t build_noise(StripBuild *b, const PlanNode *x) {
  StripNoise *noise = NEW(b->arena, StripNoise);
  uint32_t reg = reg_new(b, REG_REAL, b->inner);
  *noise = (StripNoise){.x = x, .rank = b->p->wire.at[x->out.wire].rank};
  noise->var = NEW_ARRAY(b->arena, uint32_t, noise->rank + 1);
  noise->in_strip = NEW_ARRAY(b->arena, bool, noise->rank + 1);
  for (uint32_t i = 0; i < noise->rank; i++) {
    noise->var[i] = x->var[i];
    noise->in_strip[i] = strip_has(b, x->var[i]) && !strip_takes_rows(b, x->var[i]);
  }
  instr_push(b, b->inner, DO_NOISE, reg)->noise = noise;
  return reg;
}

static uint32_t build_select(StripBuild *b, const PlanNode *x, uint32_t v, uint32_t guard) {
  uint32_t reg = reg_new(b, b->reg.at[v].kind, b->inner);
  StripInstr *s = instr_push(b, b->inner, DO_SELECT, reg);
  s->a = v;
  s->guard = guard;
  s->other = reg_cell(b, b->reg.at[v].kind, identity_of(b, x));
  return reg;
}

// The register of the node's value. A uniform value for a scalar output stays a double.
static uint32_t build_value(StripBuild *b, StripNode *m, uint32_t *guard) {
  const PlanNode *x = m->w->x;
  uint32_t last = x->nscalar - 1, v;
  bool wide = !x->noise && m->w->uniform[last] && !b->p->wide &&
              b->p->wire.at[x->out.wire].number == NUMBER_F64;
  v = x->noise ? build_noise(b, x) : argument(b, m, last, wide, b->inner);
  m->value = wide && m->has_readers ? argument(b, m, last, false, b->inner) : v;
  *guard = PLAN_NONE;
  if (!m->w->bounds_checked) return v;
  *guard = guard_node(b, m);
  bool both = m->value != v;
  v = build_select(b, x, v, *guard);
  m->value = both ? build_select(b, x, m->value, *guard) : v;
  return v;
}

// -- stores and reductions ------------------------------------------------------------------------
static void add_winners(StripBuild *b, const StripNode *m, StripSum *sum) {
  const PlanNode *x = m->w->x;
  sum->winner = NEW_ARRAY(b->arena, StripWinner, x->nwinner + 1);
  for (uint32_t k = 0; k < x->nwinner; k++) {
    Operand o = x->out; // winners have the output's shape and access
    if (x->winner[k] == PLAN_NONE) continue;
    o.wire = x->winner[k];
    uint32_t var = x->var[node_reduced(x, k)];
    sum->winner[sum->nwinner++] = (StripWinner){.to = *memory_of(b, m, &o, REG_INT),
                                                .var = strip_has(b, var) ? PLAN_NONE : var};
  }
}

static StripSum *new_sum(StripBuild *b, const StripNode *m, RegKind kind, uint32_t level) {
  const PlanNode *x = m->w->x;
  StripSum *sum = NEW(b->arena, StripSum);
  *sum = (StripSum){.combine = x->combine,
                    .identity = identity_of(b, x),
                    .to = *memory_of(b, m, &x->out, kind),
                    .level = level,
                    .total = b->s->ntotal};
  add_winners(b, m, sum);
  if (level != PLAN_NONE) b->s->ntotal += 1 + sum->nwinner;
  vec_push(b->arena, &b->nest->sum, sum);
  return sum;
}

// If possible, makes the instruction that computes the value write directly to memory.
static bool computed_in_place(StripBuild *b, const StripNode *m, uint32_t v,
                              const StripMemory *to) {
  StripCode *code = &b->nest->code[b->inner];
  if (m->w->bounds_checked || !code->n || !memory_is_register(b, to, b->reg.at[v].kind))
    return false;
  StripInstr last = code->at[code->n - 1];
  if ((last.what != DO_OP && last.what != DO_NOISE) || last.out != v || b->reg.at[v].in_memory)
    return false;
  code->n--;
  instr_push(b, b->inner, DO_ALIAS, v)->memory = to;
  vec_push(b->arena, code, last);
  b->reg.at[v].in_memory = true;
  return true;
}

// The element-wise operation of a reduction.
static StripOp *combine_op(const StripLoops *loops, const PlanNode *x) {
  static const Fn fn[] = {[SUM] = FN_add, [PROD] = FN_mul, [MAX] = FN_maximum, [MIN] = FN_minimum};
  return loops->op[fn[x->combine]];
}

static void build_combine(StripBuild *b, const StripNode *m, uint32_t v, uint32_t guard) {
  const PlanNode *x = m->w->x;
  RegKind kind = b->reg.at[v].kind;
  StripMemory *to = memory_of(b, m, &x->out, kind);
  bool strips = kind != REG_INT && b->dims && memory_has_strips(b, to, kind);
  bool best = x->nwinner && x->combine != SUM && (node_wants_winner(x) || !strips);
  StripInstr *s = instr_push(b, b->inner, best ? DO_COMBINE_WINNERS : DO_COMBINE, PLAN_NONE);
  s->a = v;
  s->eight_bytes = reg_is_8_bytes(b, kind);
  s->combine = x->combine;
  s->guard = operand_checked(b->p, &x->out) ? guard : PLAN_NONE;
  s->memory = to;
  if (best)
    s->sum = new_sum(b, m, kind, PLAN_NONE);
  else if (strips)
    s->op = combine_op(reg_loops(b, kind), x);
}

static void build_result(StripBuild *b, StripNode *m, uint32_t v, uint32_t guard) {
  const PlanNode *x = m->w->x;
  if (sums_in_variable(b->k, m->w)) {
    StripInstr *s =
        instr_push(b, b->inner, node_wants_winner(x) ? DO_REDUCE_WINNER : DO_REDUCE, PLAN_NONE);
    s->a = v;
    s->combine = x->combine;
    s->sum = new_sum(b, m, b->reg.at[v].kind, m->w->sum_loop);
    return;
  }
  if (!wire_has_memory(&b->p->wire.at[x->out.wire])) return;
  if (m->w->sum_loop != PLAN_NONE || x->scatter) {
    build_combine(b, m, v, guard);
    return;
  }
  StripMemory *to = memory_of(b, m, &x->out, b->reg.at[v].kind);
  if (computed_in_place(b, m, v, to)) return;
  StripInstr *s = instr_push(b, b->inner, DO_STORE, PLAN_NONE);
  s->a = v;
  s->memory = to;
}

// Initialises the cells to which a reduction in memory adds: the output's cells for one point of the
// parallel loops.
static void build_fill(StripBuild *b, const StripNode *m, uint32_t wire, double value) {
  const PlanNode *x = m->w->x;
  const PlanWire *w = &b->p->wire.at[wire];
  StripFill f = {.value = value,
                 .dim = NEW_ARRAY(b->arena, Extent, w->rank + 1),
                 .stride = NEW_ARRAY(b->arena, int64_t, w->rank + 1)};
  f.to = memory_without_address(b, wire);
  for (uint32_t i = 0; i < w->rank; i++) {
    const PlanCoord *c = &x->out.coord[i];
    uint32_t index;
    bool whole = true;
    Extent dim = w->shape[i];
    operand_block(b->p, b->k, x, &x->out, i, &dim);
    for (uint32_t k = 0; k < c->n; k++) {
      uint32_t var = c->term[k].operand ? PLAN_NONE : x->var[c->term[k].var];
      if (var >= b->k->np) continue;
      address_term(b, &f.to.at.loop, &f.to.at.nloop, var, w->stride[i] * c->term[k].coef);
      whole = !operand_axis_is_index(b->p, &x->out, i, &index);
    }
    if (!whole) continue;
    f.dim[f.ndim] = dim;
    f.stride[f.ndim++] = w->stride[i];
  }
  vec_push(b->arena, &b->nest->fill, f);
}

static void build_fills(StripBuild *b, const StripNode *m) {
  const PlanNode *x = m->w->x;
  if (!x->scatter && m->w->sum_loop != b->k->nest.at[b->number].ndim + 1) return;
  if (!wire_has_memory(&b->p->wire.at[x->out.wire])) return;
  build_fill(b, m, x->out.wire, identity_of(b, x));
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) build_fill(b, m, x->winner[k], 0);
}

// -- nodes ----------------------------------------------------------------------------------------
StripNode strip_node(StripBuild *b, const NodeLevels *w) {
  const PlanNode *x = w->x;
  StripNode m = {.w = w,
                 .operand = NEW_ARRAY(b->arena, uint32_t, x->nin + 1),
                 .guard = NEW_ARRAY(b->arena, uint32_t, x->nin + 1),
                 .scalar = NEW_ARRAY(b->arena, uint32_t, x->nscalar + 1),
                 .narrow = NEW_ARRAY(b->arena, uint32_t, x->nscalar + 1),
                 .inverse = NEW_ARRAY(b->arena, uint32_t, x->nscalar + 1),
                 .value = PLAN_NONE};
  const Nest *s = &b->k->nest.at[b->number];
  for (uint32_t i = 0; i < x->nin; i++) m.operand[i] = m.guard[i] = PLAN_NONE;
  for (uint32_t i = 0; i < x->nscalar; i++) m.scalar[i] = m.narrow[i] = m.inverse[i] = PLAN_NONE;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *y = &b->p->node.at[s->node.at[i]];
    for (uint32_t k = 0; k < y->nin; k++) m.has_readers |= y->in[k].wire == x->out.wire;
  }
  return m;
}

// Uniform scalars and initialised cells.
void node_prologue(StripBuild *b, StripNode *m) {
  for (uint32_t k = 0; k < m->w->x->nscalar; k++)
    if (m->w->uniform[k]) build_scalar(b, m, k);
  build_fills(b, m);
}

void node_level(StripBuild *b, StripNode *m, uint32_t level) {
  build_operands(b, m, level);
  for (uint32_t k = 0; k < m->w->x->nscalar; k++)
    if (strip_level(b, m->w->scalar_level[k]) == level && !m->w->uniform[k]) build_scalar(b, m, k);
  if (level != b->inner) return;
  uint32_t guard, v = build_value(b, m, &guard);
  build_result(b, m, v, guard);
}
