// Loop-invariant code motion out of scans.
//
// The boxes of a scan's body are of three kinds:
//
//   before    depends on slices and holds only, as a product x W of each step's row with a weight
//   core      needed for the carries
//   after     the rest: only emitted, or only added up
//
// Boxes before and after the core leave the body; outside they get one more index, the position.
// What the core reads of the former becomes a slice (or a hold, if it is the same at every
// position); what the latter read of the core is emitted. A carry that only accumulates a sum
// becomes a reduction outside:
//
//   dW' = dW + sum h[b i] g[b o] over b i o        dW = start + sum H[t b i] G[t b o] over t b i o
//
// So the gradient of a recurrent weight is one large product instead of one small product per step.
// Values of all positions need memory, so a scan is changed only if a product leaves it. Only
// accumulated sums are reordered, and so rounded differently. For flat diagrams.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

typedef enum {
  IN_SCAN,  // computed in the scan
  PER_STEP, // available outside: one value for each position
  INVARIANT // available outside: the same value at every position
} BoxPlace;

typedef struct {
  World *w;
  const Diagram *from; // the diagram of the scan
  Diagram *to;
  Id *map;
  const Box *b;
  const Scan *s;
  const Diagram *body;
  uint8_t *place; // [wire of the body] BoxPlace
  Id *outside;    // [wire of the body] the wire of `to` with its value; 0 = not emitted yet
  bool *before;   // [box of the body] depends on slices and holds only
  bool *stays;    // [box of the body] part of the core
  bool *need;     // [wire of the body] read by core boxes or carries
  Id *sum;        // [carry] the box that accumulates it, if nothing else reads the carry; 0: none
} ScanHoist;

static bool is_liftable(const Box *b) {
  return b->op == OP_loop || b->op == OP_join || b->op == OP_order;
}

static Id carry_wire(const ScanHoist *k, uint32_t carry) {
  return k->body->in.at[k->s->slice + carry];
}

// -- classification -------------------------------------------------------------------------------
static void find_before(ScanHoist *k) {
  const Diagram *body = k->body;
  for (uint32_t i = 0; i < k->b->nin; i++) {
    bool slice = i < k->s->slice, carry = !slice && i < k->s->slice + k->s->carry;
    if (carry) continue;
    k->place[diagram_source(body, i)] = slice ? PER_STEP : INVARIANT;
    k->outside[diagram_source(body, i)] = k->map[k->b->in[i]];
  }
  for (Id i = 1; i < body->box.n; i++) {
    const Box *b = &body->box.at[i];
    bool all = is_liftable(b), rows = false;
    for (uint32_t j = 0; j < b->nin; j++) {
      all &= k->place[b->in[j]] != IN_SCAN;
      rows |= k->place[b->in[j]] == PER_STEP;
    }
    k->before[i] = all;
    for (uint32_t j = 0; all && j < b->nout; j++) k->place[b->out[j]] = rows ? PER_STEP : INVARIANT;
  }
}

static uint32_t readers(const Diagram *d, Id wire) {
  uint32_t n = 0;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t j = 0; j < d->box.at[i].nin; j++) n += d->box.at[i].in[j] == wire;
  for (uint32_t i = 0; i < d->out.n; i++) n += d->out.at[i] == wire;
  return n;
}

static bool reads_operand(const Loop *loop, uint32_t scalar, uint32_t operand) {
  const Scalar *s = &loop->scalar[scalar];
  if (s->fn == FN_ARG) return s->ref == operand;
  for (uint32_t i = 0; i < fn_rows[s->fn].arity; i++)
    if (reads_operand(loop, s->arg[i], operand)) return true;
  return false;
}

// True if the loop is element-wise over its result.
static bool is_map(World *w, const Loop *loop, const Type *t) {
  if (loop->combine != SUM || loop->nindex != t->rank) return false;
  for (uint32_t i = 0, index; i < t->rank; i++)
    if (!coord_is_plain(w, &loop->out.coord[i], &index) || index != i) return false;
  return true;
}

// True if the box is an accumulation `c + rest`; gives the operand of c and the scalar `rest`.
static bool is_sum(const ScanHoist *k, const Box *b, Id c, uint32_t *operand, uint32_t *rest) {
  const Loop *loop = b->loop;
  const Type *t = &k->body->wire.at[b->out[0]].type;
  if (b->op != OP_loop || b->nout != 1 || !is_map(k->w, loop, t)) return false;
  const Scalar *top = &loop->scalar[loop->nscalar - 1];
  if (top->fn != FN_add && top->fn != FN_xor) return false;
  for (*operand = 0; *operand < b->nin && b->in[*operand] != c;) ++*operand;
  if (*operand == b->nin || loop->in[*operand].padded ||
      !access_same(k->w, &loop->in[*operand], &loop->out))
    return false;
  for (uint32_t i = 0; i < 2; i++) {
    const Scalar *side = &loop->scalar[top->arg[i]];
    *rest = top->arg[1 - i];
    if (side->fn == FN_ARG && side->ref == *operand && !reads_operand(loop, *rest, *operand))
      return true;
  }
  return false;
}

static void find_sums(ScanHoist *k) {
  uint32_t operand, rest;
  for (uint32_t i = 0; i < k->s->carry; i++) {
    Id out = k->body->out.at[i], box = k->body->wire.at[out].box;
    if (box && readers(k->body, carry_wire(k, i)) == 1 && readers(k->body, out) == 1 &&
        is_sum(k, &k->body->box.at[box], carry_wire(k, i), &operand, &rest))
      k->sum[i] = box;
  }
}

static void find_core(ScanHoist *k) {
  const Diagram *body = k->body;
  for (uint32_t i = 0; i < k->s->carry; i++)
    if (!k->sum[i]) k->need[body->out.at[i]] = true;
  for (Id i = body->box.n; i-- > 1;) {
    const Box *b = &body->box.at[i];
    bool needed = !is_liftable(b);
    for (uint32_t j = 0; j < b->nout; j++) needed |= k->need[b->out[j]];
    k->stays[i] = needed && !k->before[i];
    for (uint32_t j = 0; k->stays[i] && j < b->nin; j++) k->need[b->in[j]] = true;
  }
}

static bool is_product(World *w, const Box *b) {
  if (b->op != OP_loop || b->loop->combine != SUM || b->nin < 2) return false;
  for (uint32_t i = 0; i < b->loop->nindex; i++)
    if (loop_is_reduced(w, b->loop, i)) return true;
  return false;
}

static bool removes_product(const ScanHoist *k) {
  for (Id i = 1; i < k->body->box.n; i++)
    if (!k->stays[i] && is_product(k->w, &k->body->box.at[i])) return true;
  return false;
}

// -- boxes outside the scan -----------------------------------------------------------------------
static Id outside_wire(ScanHoist *, Id wire);

// The access with the position as new index 0, and (row) as first coordinate.
static Access access_per_step(World *w, const Access *old, bool row) {
  Access a = *old;
  a.rank += row;
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank);
  if (row) a.coord[0] = coord_index(w, 0);
  for (uint32_t i = 0; i < old->rank; i++) {
    Coord c = old->coord[i];
    c.term = arena_copy(w->arena, c.term, c.n * sizeof(Term));
    for (uint32_t j = 0; j < c.n; j++)
      if (!c.term[j].operand) c.term[j].var++;
    a.coord[i + row] = c;
  }
  return a;
}

// Emits a loop of the body over all positions; with `total`, its results are summed over them.
static Id lift_loop(ScanHoist *k, const Loop *old, const Id *wire, Type type, bool total,
                    Id origin) {
  World *w = k->w;
  Loop *loop = loop_copy(w, old);
  Id *in = NEW_ARRAY(w->arena, Id, old->nin);
  bool rows = total;
  for (uint32_t i = 0; i < old->nin; i++) {
    in[i] = outside_wire(k, wire[i]);
    rows |= k->place[wire[i]] == PER_STEP;
  }
  if (!rows) return box_loop_shared(w, k->to, loop, in, old->nin, type, origin);
  loop->index = NEW_ARRAY(w->arena, Index, old->nindex + 1);
  loop->index[0] = k->s->axis;
  if (old->nindex) memcpy(loop->index + 1, old->index, old->nindex * sizeof(Index));
  loop->nindex++;
  for (uint32_t i = 0; i < old->nin; i++)
    loop->in[i] = access_per_step(w, &old->in[i], k->place[wire[i]] == PER_STEP);
  loop->out = access_per_step(w, &old->out, !total);
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_AT) loop->scalar[i].ref++;
  Type t = total ? type : type_along(k->w, type, &k->s->axis);
  return box_loop_shared(w, k->to, loop, in, old->nin, t, origin);
}

// Broadcasts a wire over all positions.
static Id broadcast_over_steps(ScanHoist *k, Id wire, const Type *t, Id origin) {
  World *w = k->w;
  Type rows = type_along(w, *t, &k->s->axis);
  Loop *loop = loop_over(w, &rows);
  loop->nin = 1;
  loop->in = NEW(w->arena, Access);
  loop->in[0] = access_from(w, 1, t->rank);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base});
  return box_loop_shared(w, k->to, loop, &wire, 1, rows, origin);
}

static Id per_step_wire(ScanHoist *k, Id wire) {
  const Wire *x = &k->body->wire.at[wire];
  Id made = outside_wire(k, wire);
  return k->place[wire] == PER_STEP ? made : broadcast_over_steps(k, made, &x->type, x->origin);
}

static Id lift_other(ScanHoist *k, const Box *b, bool rows) {
  World *w = k->w;
  Id *in = NEW_ARRAY(w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++)
    in[i] = rows ? per_step_wire(k, b->in[i]) : outside_wire(k, b->in[i]);
  return b->op == OP_join ? box_join(w, k->to, b->axis + rows, in, b->nin, b->origin)
                          : box_order(w, k->to, b->axis + rows, in[0], b->origin);
}

static void lift_box(ScanHoist *k, const Box *b) {
  bool rows = false;
  for (uint32_t i = 0; i < b->nin; i++) {
    outside_wire(k, b->in[i]);
    rows |= k->place[b->in[i]] == PER_STEP;
  }
  const Type *type = &k->body->wire.at[b->out[0]].type;
  Id first = b->op == OP_loop ? lift_loop(k, b->loop, b->in, *type, false, b->origin)
                              : lift_other(k, b, rows);
  for (uint32_t i = 0; i < b->nout; i++) {
    const Wire *x = &k->body->wire.at[b->out[i]];
    k->outside[b->out[i]] = first + i;
    k->place[b->out[i]] = rows ? PER_STEP : INVARIANT;
    k->to->wire.at[first + i].type = rows ? type_along(k->w, x->type, &k->s->axis) : x->type;
    k->to->wire.at[first + i].name = x->name;
  }
}

static Id outside_wire(ScanHoist *k, Id wire) {
  if (!k->outside[wire]) lift_box(k, &k->body->box.at[k->body->wire.at[wire].box]);
  return k->outside[wire];
}

// -- the remaining scan ---------------------------------------------------------------------------
// Wires of the core that are read outside the scan.
static Ids emitted_wires(ScanHoist *k) {
  const Diagram *body = k->body;
  bool *wanted = NEW_ARRAY(k->w->arena, bool, body->wire.n);
  Ids list = {0};
  for (uint32_t i = k->s->carry; i < body->out.n; i++) wanted[body->out.at[i]] = true;
  for (Id i = 1; i < body->box.n; i++) {
    const Box *b = &body->box.at[i];
    for (uint32_t j = 0; !k->before[i] && !k->stays[i] && j < b->nin; j++) wanted[b->in[j]] = true;
  }
  for (uint32_t i = 0; i < k->s->carry; i++)
    if (k->sum[i]) wanted[carry_wire(k, i)] = false;
  for (Id i = 1; i < body->wire.n; i++) {
    Id box = body->wire.at[i].box;
    if (wanted[i] && k->place[i] == IN_SCAN && (!box || k->stays[box]))
      vec_push(k->w->arena, &list, i);
  }
  return list;
}

// Adds inputs of the new body for the values at `place`.
static void inputs_from_outside(ScanHoist *k, Diagram *body, BoxPlace place, Ids *in, Id *map,
                                uint32_t *count) {
  for (Id i = 1; i < k->body->wire.n; i++) {
    const Wire *x = &k->body->wire.at[i];
    if (!k->need[i] || k->place[i] != place || map[i]) continue;
    vec_push(k->w->arena, in, outside_wire(k, i));
    map[i] = diagram_input(k->w, body, x->type, x->name, x->origin);
    ++*count;
  }
}

static void build_scan(ScanHoist *k) {
  World *w = k->w;
  Scan scan = *k->s;
  Diagram *body = scan.body = diagram_new(w, k->body->name);
  Id *map = new_map(w, k->body);
  Ids in = {0}, emitted = emitted_wires(k);
  bool *param = NEW_ARRAY(w->arena, bool, k->body->wire.n);
  body->origin = k->body->origin;
  scan.slice = scan.carry = scan.hold = 0;
  inputs_from_outside(k, body, PER_STEP, &in, map, &scan.slice);
  for (uint32_t i = 0; i < k->s->carry; i++) {
    const Wire *x = &k->body->wire.at[carry_wire(k, i)];
    if (k->sum[i]) continue;
    vec_push(w->arena, &in, k->map[k->b->in[k->s->slice + i]]);
    map[carry_wire(k, i)] = diagram_input(w, body, x->type, x->name, x->origin);
    scan.carry++;
  }
  for (uint32_t i = 0; i < k->body->param.n; i++) param[k->body->param.at[i].wire] = true;
  for (Id i = 1; i < k->body->wire.n; i++)
    if (param[i]) map[i] = UINT32_MAX; // params are not holds
  inputs_from_outside(k, body, INVARIANT, &in, map, &scan.hold);
  copy_params(w, body, k->body, map);
  for (uint32_t i = 0; i < k->body->param.n; i++)
    vec_push(w->arena, &in, k->map[k->b->in[k->body->in.n + i]]);
  for (Id i = 1; i < k->body->box.n; i++)
    if (k->stays[i])
      copy_box(w, body, k->body, &k->body->box.at[i], map, k->body->box.at[i].origin);
  for (uint32_t i = 0; i < k->s->carry; i++)
    if (!k->sum[i]) diagram_output(w, body, map[k->body->out.at[i]]);
  for (uint32_t i = 0; i < emitted.n; i++) diagram_output(w, body, map[emitted.at[i]]);
  if (!body->out.n) return;
  Id next = box_scan(w, k->to, &scan, in.at, in.n, k->b->origin);
  for (uint32_t i = 0; i < k->s->carry; i++)
    if (!k->sum[i]) k->map[k->b->out[i]] = next++;
  for (uint32_t i = 0; i < emitted.n; i++) {
    k->outside[emitted.at[i]] = next++;
    k->place[emitted.at[i]] = PER_STEP;
  }
}

// -- accumulated sums -----------------------------------------------------------------------------
static bool is_zero(const Diagram *d, Id wire) {
  const Box *b = &d->box.at[d->wire.at[wire].box];
  return d->wire.at[wire].box && b->op == OP_loop && !b->nin && b->loop->nscalar == 1 &&
         b->loop->scalar[0].fn == FN_CONST && b->loop->scalar[0].k == 0;
}

// The sum of an accumulated term over all positions: a reduction of the body, or the term in the
// accumulating box.
static Id total_of(ScanHoist *k, uint32_t carry) {
  World *w = k->w;
  const Box *b = &k->body->box.at[k->sum[carry]];
  const Type *type = &k->body->wire.at[b->out[0]].type;
  uint32_t operand = 0, rest = 0;
  is_sum(k, b, carry_wire(k, carry), &operand, &rest);
  const Scalar *s = &b->loop->scalar[rest];
  if (s->fn == FN_ARG && !b->loop->in[s->ref].padded &&
      access_same(w, &b->loop->in[s->ref], &b->loop->out)) {
    Id box = k->body->wire.at[b->in[s->ref]].box;
    const Box *made = &k->body->box.at[box];
    if (box && !k->stays[box] && made->op == OP_loop && made->loop->combine == SUM)
      return lift_loop(k, made->loop, made->in, *type, true, made->origin);
  }
  Draft f = {loop_copy(w, b->loop), {0}};
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, b->in[i]);
  draft_tidy(w, k->body, &f, rest, type); // removes the carry from the operands
  return lift_loop(k, f.loop, f.in.at, *type, true, b->origin);
}

static Id sum_outside(ScanHoist *k, uint32_t carry) {
  World *w = k->w;
  Id total = total_of(k, carry), start = k->map[k->b->in[k->s->slice + carry]];
  if (is_zero(k->to, start)) return total;
  const Box *b = &k->body->box.at[k->sum[carry]];
  const Type *t = &k->body->wire.at[b->out[0]].type;
  Loop *loop = NEW(w->arena, Loop);
  loop->nindex = b->loop->nindex;
  loop->index = b->loop->index;
  loop->out = b->loop->out;
  loop->nin = 2;
  loop->in = NEW_ARRAY(w->arena, Access, 2);
  for (uint32_t i = 0; i < 2; i++) {
    loop->in[i] = loop->out;
    scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base, .ref = i});
  }
  scalar_fn(w, loop, t->base == BASE_BIT ? FN_xor : FN_add, 0, 1, 0);
  return box_loop(w, k->to, loop, (Id[]){start, total}, 2, *t, b->origin);
}

// -- the whole ------------------------------------------------------------------------------------
static bool hoist_scan(ScanHoist *k) {
  Arena *arena = k->w->arena;
  k->place = NEW_ARRAY(arena, uint8_t, k->body->wire.n);
  k->outside = NEW_ARRAY(arena, Id, k->body->wire.n);
  k->need = NEW_ARRAY(arena, bool, k->body->wire.n);
  k->before = NEW_ARRAY(arena, bool, k->body->box.n);
  k->stays = NEW_ARRAY(arena, bool, k->body->box.n);
  k->sum = NEW_ARRAY(arena, Id, k->s->carry);
  find_before(k);
  find_sums(k);
  find_core(k);
  if (!removes_product(k)) return false;
  build_scan(k);
  for (uint32_t i = 0; i < k->b->nout; i++) {
    const Wire *y = &k->from->wire.at[k->b->out[i]];
    if (i >= k->s->carry)
      k->map[k->b->out[i]] = per_step_wire(k, k->body->out.at[i]);
    else if (k->sum[i])
      k->map[k->b->out[i]] = sum_outside(k, i);
    Wire *made = &k->to->wire.at[k->map[k->b->out[i]]];
    if (made->box && !made->name) made->name = y->name;
  }
  return true;
}

static bool hoist_box(const Rewriting *r, const Box *b) {
  if (b->op != OP_scan) return false;
  ScanHoist k = {.w = r->w,
                 .from = r->from,
                 .to = r->to,
                 .map = r->map,
                 .b = b,
                 .s = b->scan,
                 .body = b->scan->body};
  return hoist_scan(&k);
}

Diagram *diagram_hoist_scans(World *w, const Diagram *d) { return rewrite_boxes(w, d, hoist_box); }
