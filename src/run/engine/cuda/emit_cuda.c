// Kernels as CUDA C. In front stands the prelude; then one function for each kernel of loops:
//
//   extern "C" __global__ void limn_k3(const Context *g, Wires7 wires, Places at) {
//     for (long q = first team; q < points; q += teams) {     the parallel loops
//       const long i1 = q % 64, i0 = q / 64;
//       …                                                     nest after nest, by the team's lanes
//
// A kernel of one nest without sums has no teams: each point is a thread. In others a team of lanes
// works on a point of the parallel loops, and walks through nest after nest together. The cells of a
// nest, which are its loops that nothing sums over, are dealt out to the lanes. What is summed is a
// chain of its own for each cell where there are cells enough; else several lanes take turns at one
// cell, and what they have is put together in a fixed order, so that the same numbers give the same
// sums on every device.
#include "run/engine/cuda/emit_cuda_own.h"

enum { BLOCK_LANES = 256, SHARED_BYTES = 96 * 1024 };
enum { ENOUGH_LANES = 256 * 1024 }; // of large devices
enum { FEW_POINTS = 256 }; // of which the largest devices have one for each multiprocessor or two
enum { MANY_POINTS = 4096, LONG_ROW = 1024, SHORT_ROW = 512 };
enum { FOUR = 4 };
enum { SLICES = 128, SLICED_BYTES = 64 << 20, SERIAL = 64, BUCKETS = 64 };

// How the lanes of a team share a nest.
typedef struct {
  Emit *e;
  const Nest *s;
  NodeLevels *w;
  uint32_t kept;   // loops that are cells: the first ones
  uint32_t summed; // the first loop that lanes take turns at; loops between are every lane's
  uint32_t turns;  // lanes that take turns at one cell
  uint32_t width;  // cells that the team works on at once
  bool across;     // neighbouring lanes have neighbouring cells, not neighbouring turns
  bool sliced;     // a point is a slice of one
  bool bucketed;   // … or a bucket of labels
  bool fours;      // the last loop goes by four: operands and results along memory are moved so
  bool columns;    // a cell is four of them, side by side in memory, each with a sum of its own
} TeamNest;

// -- lengths --------------------------------------------------------------------------------------
const char *cuda_length(Emit *e, const Extent *dim, uint32_t from, uint32_t to) {
  Buf b = buf_new(e->p->arena);
  int64_t known = 1;
  for (uint32_t d = from; d < to; d++)
    if (dim[d].per)
      buf_printf(&b, "%s * ", emit_extent(e, dim[d]));
    else
      known *= dim[d].c;
  buf_printf(&b, "%lldL", (long long)known);
  return b.at;
}

int64_t cuda_length_most(const Plan *p, const Extent *dim, uint32_t from, uint32_t to) {
  int64_t n = 1;
  for (uint32_t d = from; d < to; d++) n *= extent_most(p, dim[d]);
  return n;
}

// The loops [from, to) of a number that counts all their points, the last one fastest. Numbers of 32
// bits are divided in a few instructions, those of 64 in a hundred.
void cuda_digits(Emit *e, const char *of, uint32_t first, const Extent *dim, uint32_t from,
                 uint32_t to) {
  if (from == to) return;
  const char *number = cuda_length_most(e->p, dim, from, to) <= INT32_MAX ? "unsigned" : "long";
  emit_line(e, "%s r%u = (%s)(%s);", number, first + from, number, of);
  for (uint32_t d = to; d-- > from;) {
    if (d == from) {
      emit_line(e, "const long i%u = r%u;", first + d, first + from);
      continue;
    }
    const char *n = emit_extent(e, dim[d]);
    emit_line(e, "const long i%u = r%u %% (%s)(%s); r%u /= (%s)(%s);", first + d, first + from,
              number, n, first + from, number, n);
  }
}

// -- pointers -------------------------------------------------------------------------------------
static void emit_wires(Emit *e) {
  const Ids *slot = &e->now->slot;
  for (uint32_t i = 0; i < slot->n; i++) {
    const PlanWire *w = &e->p->wire.at[slot->at[i]];
    const char *number = emit_number(w->number);
    e->slot[slot->at[i]] = i;
    if (e->near && e->near[slot->at[i]])
      emit_line(e, "%s *w%u = (%s *)(%s)%s;", number, i, number, e->near[slot->at[i]],
                emit_moves(e, slot->at[i]));
    else if (w->place == AT_TILE)
      emit_line(e, "%s *w%u = (%s *)(s + %lldL);", number, i, number, (long long)w->at);
    else
      emit_line(e, "%s *w%u = (%s *)wires.at[%u]%s;", number, i, number, i,
                emit_moves(e, slot->at[i]));
  }
}

// -- nests ----------------------------------------------------------------------------------------
void cuda_same(Emit *e, const NodeLevels *w, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].same[k]) emit_scalar(e, &w[i], k);
}

static bool keeps_sum(const TeamNest *t, const NodeLevels *w) {
  return w->reduce != PLAN_NONE && w->reduce <= t->s->ndim;
}

// What another lane has joins what this one has. A best of equal ones is the first in the order of the
// loops.
void cuda_join(Emit *e, const NodeLevels *w, const char *way) {
  const PlanNode *x = w->x;
  const char *type = emit_sum_type(e, x);
  bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT;
  uint32_t s = w->id;
  emit_line(e, "const %s v = %s_%s(s%u, other);", type, way, type, s);
  if (x->nwinner && !node_wants_winner(x))
    emit_line(e, "bad%u |= %s_int(bad%u, other);", s, way, s);
  if (!node_wants_winner(x)) {
    if (x->combine >= MAX && !bit)
      emit_line(e, "s%u = v %s s%u ? v : s%u;", s, x->combine == MAX ? ">" : "<", s, s);
    else
      emit_line(e, "s%u = s%u %s v;", s, s, emit_combine_text[bit][x->combine]);
    return;
  }
  emit_line(e, "const long a = %s_long(at%u, other);", way, s);
  emit_line(e, "const int b = (v %s s%u) | ((v != v) & (s%u == s%u)) |",
            x->combine == MAX ? ">" : "<", s, s, s);
  emit_line(e, "              ((a < at%u) & ((v == s%u) | ((v != v) & (s%u != s%u))));", s, s, s,
            s);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE)
      emit_line(e, "{ const int n = %s_int(n%u_%u, other); n%u_%u = b ? n : n%u_%u; }", way, s, k,
                s, k, s, k);
  emit_line(e, "s%u = b ? v : s%u; at%u = b ? a : at%u;", s, s, s, s);
}

// Another lane's part joins this one's, over and over: each time the other is twice as far.
static void emit_joins_over(const TeamNest *t, const NodeLevels *w, uint32_t from, uint32_t to,
                            const char *way) {
  Emit *e = t->e;
  if (from >= to) return;
  emit_line(e, "for (int far = %u; far < %u; far *= 2) {", from, to);
  e->indent++;
  if (t->across)
    emit_line(e, "const int other = LANE ^ far * %u;", t->width);
  else
    emit_line(e, "const int other = LANE ^ far;");
  cuda_join(e, w, way);
  emit_close(e);
}

// What the lanes of a warp have is the same; now each takes what another warp of its cell has, so that all that is
// left to join is inside the warp.
static void emit_exchange(const TeamNest *t, const NodeLevels *w, uint32_t warps) {
  Emit *e = t->e;
  const PlanNode *x = w->x;
  uint32_t s = w->id;
  emit_open(e);
  emit_line(e, "const int other = LANE / %u * %u + LANE %% %u * %u;", t->turns, t->turns, warps,
            WARP);
  emit_line(e, "s%u = far_%s(s%u, other);", s, emit_sum_type(e, x), s);
  if (x->nwinner && !node_wants_winner(x)) emit_line(e, "bad%u = far_int(bad%u, other);", s, s);
  if (node_wants_winner(x)) emit_line(e, "at%u = far_long(at%u, other);", s, s);
  for (uint32_t k = 0; node_wants_winner(x) && k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "n%u_%u = far_int(n%u_%u, other);", s, k, s, k);
  emit_close(e);
}

// All lanes show what they have, and each goes through those that took turns at its cell, in order.
static void emit_joins_in_order(const TeamNest *t, const NodeLevels *w, uint32_t near) {
  Emit *e = t->e;
  const char *type = emit_sum_type(e, w->x);
  uint32_t first = near * t->width;
  emit_open(e);
  emit_line(e, "const %s *all = shown_%s(s%u);", type, type, w->id);
  emit_line(e, "s%u = all[LANE %% %u];", w->id, first);
  emit_line(e, "for (int far = %u; far < %u; far += %u) {", first, t->turns * t->width, first);
  e->indent++;
  emit_line(e, "const int other = LANE %% %u + far;", first);
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close(e);
}

// All lanes that took turns at a cell exchange what they have, so that in the end all have the same:
// inside a warp at once, beyond it through memory.
static void emit_joins(const TeamNest *t, const NodeLevels *w) {
  uint32_t near = t->across ? WARP / t->width : WARP, warps = t->turns / WARP;
  if (near < 1) near = 1;
  if (near > t->turns) near = t->turns;
  emit_joins_over(t, w, 1, near, "near");
  if (t->across && near < t->turns && !w->x->nwinner) {
    emit_joins_in_order(t, w, near);
  } else if (!t->across && warps > 1) {
    emit_exchange(t, w, warps);
    emit_joins_over(t, w, 1, warps, "near");
  } else {
    emit_joins_over(t, w, near, t->turns, "far");
  }
}

static void open_sums(const TeamNest *t, uint32_t level) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (!keeps_sum(t, w) || w->reduce != level) continue;
    emit_open_sum(t->e, w);
    if (node_wants_winner(w->x)) emit_line(t->e, "long at%u = 0;", w->id);
  }
}

static void close_sums(const TeamNest *t, uint32_t level) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (!keeps_sum(t, w) || w->reduce != level) continue;
    emit_joins(t, w);
    emit_line(e, "if (ok & (turn == 0)) {");
    e->indent++;
    emit_close_sum(e, w);
    emit_close(e);
  }
}

static void emit_levels(const TeamNest *t, uint32_t from, uint32_t to) {
  for (uint32_t d = from; d <= to; d++) emit_level(t->e, t->w, t->s->node.n, d, t->s->ndim);
}

// -- four points at once --------------------------------------------------------------------------
// Along memory, an operand's four cells are moved at once: if they begin at multiples of four.
static bool is_four(int64_t cells) { return cells % FOUR == 0; }

static bool goes_by_four(Extent e) { return !e.per && !e.part && is_four(e.c); }

static bool begins_even(const Plan *p, uint32_t root) {
  const PlanWire *w = &p->wire.at[root];
  return w->place != AT_STATE || (p->odd && !p->odd[w->number_of]);
}

// May an operand be read four at a time along this index? Its cells are in the order of indices, and either all four lie
// inside or none.
static bool same_for_four(const Plan *p, const Operand *o, uint32_t along) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++) {
      const PlanTerm *t = &o->coord[i].term[k];
      if (t->operand || (o->coord[i].check && t->var == along)) return false;
    }
  return true;
}

static bool in_fours(const Plan *p, const Kernel *k, const PlanNode *x, const Operand *o,
                     uint32_t last) {
  uint32_t along = PLAN_NONE, root;
  int64_t at[8] = {0}, offset = wire_offset(p, o->wire, at, &root);
  for (uint32_t w = o->wire; w != root; w = p->wire.at[w].of)
    if (p->wire.at[w].moves) return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == last)
      along = i;
    else if (extent_most(p, x->index[i]) > 1 && !is_four(operand_step(p, o, i)))
      return false;
  return along != PLAN_NONE && same_for_four(p, o, along) && operand_step(p, o, along) == 1 &&
         is_four(operand_start(p, o)) && is_four(offset) && begins_even(p, root) &&
         p->wire.at[o->wire].rank &&
         (p->wire.at[o->wire].place != AT_TILE || is_four(p->wire.at[o->wire].at / 4)) &&
         x->var[along] >= k->np;
}

// Are four cells of an operand along this loop of the nest moved at once?
static bool loads_four(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  uint32_t node;
  Number number = p->wire.at[o->wire].number;
  return (number == NUMBER_F32 || number == NUMBER_BF16) &&
         !maker_here(p, t->e->k, w, o->wire, &node) &&
         in_fours(p, t->e->k, w->x, o, t->e->k->np + loop);
}

static bool stores_four(const TeamNest *t, const NodeLevels *w) {
  const PlanWire *out = &t->e->p->wire.at[w->x->out.wire];
  return !node_sums(w->x) && (out->number == NUMBER_F32 || out->number == NUMBER_BF16) &&
         wire_has_memory(out) && operand_free(t->e->p, &w->x->out) &&
         in_fours(t->e->p, t->e->k, w->x, &w->x->out, t->e->k->np + t->s->ndim - 1);
}

// May the last loop go by four, and is anything moved so?
static bool choose_fours(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!s->ndim || !goes_by_four(s->dim[s->ndim - 1])) return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t->w[i];
    if (node_wants_winner(w->x) || w->x->scatter || w->reduce == s->ndim + 1) return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= w->packed[k] = loads_four(t, w, k, s->ndim - 1);
    any |= w->four = stores_four(t, w);
  }
  return any;
}

// What lies outside of its wire is not read.
static void emit_load_of_four(Emit *e, const NodeLevels *w, uint32_t k) {
  const Operand *o = &w->x->in[k];
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16, tested = operand_checked(e->p, o);
  const char *none = o->padded ? emit_constant(e, o->pad, false) : "0";
  if (tested)
    emit_line(e, "float p%u_%u[4] = {%s, %s, %s, %s};", w->id, k, none, none, none, none);
  else
    emit_line(e, "float p%u_%u[4];", w->id, k);
  if (tested) emit_line(e, "if (%s)", emit_test(e, w, o));
  emit_line(e, "%s(p%u_%u, &%s)", narrow ? "LIMN_FOUR_NARROW" : "LIMN_FOUR", w->id, k,
            emit_cell_at(e, w, o));
}

static void emit_loads_of_four(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (t->w[i].packed[k]) emit_load_of_four(t->e, &t->w[i], k);
}

// The last loop, by four: what the innermost level says stands in it four times.
static void emit_last_level(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t last = e->k->np + t->s->ndim - 1;
  if (!t->fours) {
    emit_levels(t, t->s->ndim, t->s->ndim);
    return;
  }
  e->fours = true;
  emit_line(e, "const long four%u = i%u * 4;", last, last);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", last, last);
  emit_loads_of_four(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].four)
      emit_line(e, "%s o%u[4];", emit_number(e->p->wire.at[t->w[i].x->out.wire].number),
                t->w[i].id);
  emit_line(e, "UNROLL for (int u = 0; u < 4; u++) {");
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", last, last);
  emit_levels(t, t->s->ndim, t->s->ndim);
  emit_close(e);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].four)
      emit_line(e, "LIMN_PUT_FOUR(&%s, o%u, %s)", emit_cell_at(e, &t->w[i], &t->w[i].x->out),
                t->w[i].id,
                e->p->wire.at[t->w[i].x->out.wire].number == NUMBER_BF16 ? "ushort4" : "float4");
  emit_close(e);
  e->fours = false;
}

// The loops of a nest as they are dealt out: the last one, or the last of a cell, counts fours.
static const Extent *dealt_loops(const TeamNest *t) {
  Extent *dim = NEW_ARRAY(t->e->p->arena, Extent, t->s->ndim + 1);
  memcpy(dim, t->s->dim, t->s->ndim * sizeof *dim);
  if (t->fours) dim[t->s->ndim - 1].c /= FOUR;
  if (t->columns) dim[t->kept - 1].c /= FOUR;
  return dim;
}

// -- four sums side by side -----------------------------------------------------------------------
static bool only_sums(const TeamNest *);

// Sums of which four lie side by side in memory, as what they are made of does.
static bool choose_columns(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!t->across || !t->kept || t->kept != t->summed || !goes_by_four(s->dim[t->kept - 1]) ||
      !only_sums(t))
    return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (w->x->nwinner || w->x->scatter || w->x->noise ||
        (keeps_sum(t, w) && w->reduce != t->kept) || w->reduce == s->ndim + 1)
      return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= loads_four(t, w, k, t->kept - 1);
  }
  return any;
}

static void mark_columns(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    t->w[i].four = false;
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].packed[k] = loads_four(t, &t->w[i], k, t->kept - 1);
  }
}

static void open_column(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  emit_line(e, "UNROLL for (int u = 0; u < 4; u++) {");
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", loop, loop);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]))
      emit_line(e, "%s s%u = sums%u[u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->w[i].id);
}

// What is known of a cell, and all behind it, stands here four times.
static void emit_columns(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  e->fours = true;
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_loads_of_four(t);
  open_column(t);
  emit_levels(t, t->kept, t->s->ndim);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i])) emit_line(e, "sums%u[u] = s%u;", t->w[i].id, t->w[i].id);
  emit_close(e);
  e->fours = false;
}

static void emit_turns(const TeamNest *);
static void close_sums(const TeamNest *, uint32_t level);

static void emit_column_sums(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  for (uint32_t d = 0; d < t->kept; d++) emit_levels(t, d, d);
  emit_line(e, "const long four%u = i%u * 4;", loop, loop);
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    if (!keeps_sum(t, &t->w[i])) continue;
    const char *none = emit_identity(e, t->w[i].x);
    emit_line(e, "%s sums%u[4] = {%s, %s, %s, %s};", emit_sum_type(e, t->w[i].x), t->w[i].id, none,
              none, none, none);
  }
  emit_turns(t);
  open_column(t);
  close_sums(t, t->kept);
  emit_close(e);
}

// -- turns ----------------------------------------------------------------------------------------
// Nothing is stored on the way: several turns' loads may be under way at once.
static bool only_sums(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]))
      return false;
  return true;
}

// The loops of which each lane has its share.
static void emit_turns(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  const Extent *dim = dealt_loops(t);
  emit_line(e, "const long turns = ok ? %s : 0;", cuda_length(e, dim, t->summed, s->ndim));
  if (only_sums(t)) emit_line(e, "UNROLL_SOME");
  if (t->sliced)
    emit_line(
        e,
        "for (long m = slice * turns / SLICES + turn, last = (slice + 1) * turns / SLICES; m < "
        "last; m += %u) {",
        t->turns);
  else
    emit_line(e, "for (long m = turn; m < turns; m += %u) {", t->turns);
  e->indent++;
  emit_line(e, "const long at = %s;",
            t->kept < t->summed ? arena_format(e->p->arena, "before * %s + m",
                                               cuda_length(e, dim, t->summed, s->ndim))
                                : "m");
  emit_line(e, "(void)at;");
  cuda_digits(e, "m", e->k->np, dim, t->summed, s->ndim);
  if (t->columns) {
    emit_columns(t);
  } else {
    emit_levels(t, t->summed + 1, s->ndim - 1);
    emit_last_level(t);
  }
  emit_close(e);
}

// In a step that is one block's, the text is run again and again: what needs no loop has none.
static bool once(const TeamNest *t, const Extent *dim, uint32_t ndim, uint32_t lanes) {
  return t->e->near && cuda_length_most(t->e->p, dim, 0, ndim) <= lanes;
}

static void emit_sum_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  uint32_t np = e->k->np;
  const Extent *dim = dealt_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->kept));
  emit_line(e, "const int turn = %s %s %u;", "LANE", t->across ? "/" : "%",
            t->across ? t->width : t->turns);
  if (once(t, dim, t->kept, t->width))
    emit_line(e, "{ const long base = 0;");
  else
    emit_line(e, "for (long base = 0; base < cells; base += %u) {", t->width);
  e->indent++;
  emit_line(e, "const long cell = base + LANE %s %u;", t->across ? "%" : "/",
            t->across ? t->width : t->turns);
  emit_line(e, "const int ok = (cell < cells) & (turn < %u);", t->turns);
  cuda_digits(e, "ok ? cell : 0", np, dim, 0, t->kept);
  if (t->columns) {
    emit_column_sums(t);
    emit_close(e);
    return;
  }
  emit_levels(t, 0, t->kept);
  open_sums(t, t->kept);
  if (t->kept < t->summed) emit_line(e, "long before = 0;");
  for (uint32_t d = t->kept; d < t->summed; d++) {
    emit_open_loop(e, 'i', np + d, emit_extent(e, s->dim[d]));
    emit_levels(t, d + 1, d + 1);
    open_sums(t, d + 1);
  }
  emit_turns(t);
  for (uint32_t d = t->summed; d > t->kept; d--) {
    close_sums(t, d);
    if (d == t->summed) emit_line(e, "before++;");
    emit_close(e);
  }
  close_sums(t, t->kept);
  emit_close(e);
}

// -- nests without sums ---------------------------------------------------------------------------
static void emit_plain_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = dealt_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->s->ndim));
  if (once(t, dim, t->s->ndim, t->width)) {
    emit_line(e, "const long cell = LANE;");
    emit_line(e, "if (cell < cells) {");
  } else {
    emit_line(e, "for (long cell = LANE; cell < cells; cell += TEAM) {");
  }
  e->indent++;
  cuda_digits(e, "cell", e->k->np, dim, 0, t->s->ndim);
  for (uint32_t d = 0; d < t->s->ndim; d++) emit_levels(t, d, d);
  emit_last_level(t);
  emit_close(e);
}

// The cells of a wire shaped like the output that belong to this point hold a value. Along an axis that
// is cut into blocks, they are those of the point's block.
static void emit_fill(const TeamNest *t, uint32_t wire, const char *value) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  const PlanWire *to = &e->p->wire.at[wire];
  Buf at = buf_new(e->p->arena);
  Extent dim[64];
  uint32_t index, n = 0, axis[64];
  buf_char(&at, '0');
  for (uint32_t i = 0; i < to->rank; i++) {
    if (operand_plain(e->p, &x->out, i, &index) && x->var[index] < e->k->np) {
      buf_printf(&at, " + %lldL * i%u", (long long)to->stride[i], x->var[index]);
      continue;
    }
    dim[n] = to->shape[i];
    axis[n] = i;
    const PlanTerm *block = operand_block(e->p, e->k, x, &x->out, i, &dim[n++]);
    if (block)
      buf_printf(&at, " + %lldL * i%u", (long long)(to->stride[i] * block->coef),
                 x->var[block->var]);
  }
  emit_open(e);
  emit_line(e, "const long all = %s;", cuda_length(e, dim, 0, n));
  emit_line(e, "for (long f = LANE; f < all; f += TEAM) {");
  e->indent++;
  emit_line(e, "long r = f, to = %s;", at.at);
  while (n-- > 0) {
    const char *length = emit_extent(e, dim[n]);
    emit_line(e, "to += r %% %s * %lldL; r /= %s;", length, (long long)to->stride[axis[n]], length);
  }
  emit_line(e, "w%u[to] = %s;", e->slot[wire], value);
  emit_close(e);
  emit_close(e);
}

// The operand that says which rows of the output are added to; PLAN_NONE: none does so by itself.
static uint32_t label_of(const Plan *p, const PlanNode *x) {
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    const PlanCoord *c = &x->out.coord[i];
    if (c->n == 1 && c->term[0].operand && !c->check && operand_free(p, &x->in[c->term[0].var]))
      return c->term[0].var;
  }
  return PLAN_NONE;
}

// Has each value of the index cells of the output of its own, at this point of the kernel? So it has
// where it counts inside a block, and the point says which block.
static bool owns(const Plan *p, const Kernel *k, const PlanNode *x, uint32_t index) {
  uint32_t uses = 0;
  bool block = false;
  if (node_owns(p, x, index)) return true;
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    const PlanCoord *c = &x->out.coord[i];
    for (uint32_t t = 0; t < c->n; t++) {
      if (c->term[t].operand || c->term[t].var != index) continue;
      const PlanTerm *other = c->n == 2 ? &c->term[1 - t] : NULL;
      uses++;
      block |= other && !other->operand && x->var[other->var] < k->np && c->term[t].coef == 1 &&
               other->coef == extent_most(p, x->index[index]) && !x->index[index].per && !c->check;
    }
  }
  return block && uses == 1;
}

// Several points may hit one cell: lanes have loops that no two cells share, and take all others in
// order.
static const char *owned_length(const TeamNest *t, const uint32_t *of_dim, bool owned) {
  Emit *e = t->e;
  Buf count = buf_new(e->p->arena);
  buf_text(&count, "1L");
  for (uint32_t d = 0; d < t->s->ndim; d++)
    if (owns(e->p, e->k, t->w->x, of_dim[d]) == owned)
      buf_printf(&count, " * %s", emit_extent(e, t->s->dim[d]));
  return count.at;
}

// The loops that cells own, or the others, of a number that counts their points.
static void emit_owned_digits(const TeamNest *t, const uint32_t *of_dim, bool owned,
                              const char *of) {
  Emit *e = t->e;
  emit_line(e, "long r%s = %s;", owned ? "" : "_in", of);
  for (uint32_t d = t->s->ndim; d-- > 0;) {
    if (owns(e->p, e->k, t->w->x, of_dim[d]) != owned) continue;
    const char *n = emit_extent(e, t->s->dim[d]), *r = owned ? "r" : "r_in";
    emit_line(e, "const long i%u = %s %% %s; %s /= %s;", e->k->np + d, r, n, r, n);
  }
}

// What has a label of this bucket: the lanes of a warp look at 32 labels at once, and then follow each that is of it.
static void emit_bucket(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  emit_line(e, "const long added = %s;", owned_length(t, of_dim, false));
  emit_line(e, "for (long base = 0; base < added; base += 32) {");
  e->indent++;
  emit_line(e, "const long look = base + (long)threadIdx.x %% 32;");
  emit_line(e, "int of_it = 0;");
  emit_line(e, "if (look < added) {");
  e->indent++;
  emit_owned_digits(t, of_dim, false, "look");
  emit_line(e, "of_it = (unsigned)%s %% %uu == bucket;",
            emit_cell_at(e, t->w, &x->in[label_of(e->p, x)]), BUCKETS);
  emit_close(e);
  emit_line(e, "unsigned found = __ballot_sync(0xFFFFFFFFu, of_it);");
  emit_line(e, "for (; found; found &= found - 1) {");
  e->indent++;
  emit_line(e, "if (!ok) continue;");
  emit_owned_digits(t, of_dim, false, "base + __ffs((int)found) - 1");
  emit_levels(t, 0, t->s->ndim);
  emit_close(e);
  emit_close(e);
}

static void emit_in_order(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  uint32_t loops = 0;
  emit_line(e, "if (!ok) continue;");
  for (uint32_t d = 0; d < t->s->ndim; d++) {
    if (owns(e->p, e->k, t->w->x, of_dim[d])) continue;
    const char *n = emit_extent(e, t->s->dim[d]);
    uint32_t i = e->k->np + d;
    if (t->sliced && !loops) {
      emit_line(e,
                "for (long i%u = slice * %s / SLICES, last = (slice + 1) * %s / SLICES; i%u < "
                "last; i%u++) {",
                i, n, n, i, i);
      e->indent++;
    } else {
      emit_open_loop(e, 'i', i, n);
    }
    loops++;
  }
  emit_levels(t, 0, t->s->ndim);
  emit_close_all(e, loops);
}

static void emit_scatter(const TeamNest *t) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  uint32_t of_dim[64];
  if (!t->bucketed) emit_fill(t, x->out.wire, emit_identity(e, x));
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_fill(t, x->winner[k], "0");
  emit_line(e, "TEAM_SYNC();");
  node_dims(e->k, x, of_dim);
  emit_line(e, "const long cells = %s;", owned_length(t, of_dim, true));
  emit_line(e, "for (long cells_before = 0; cells_before < cells; cells_before += TEAM) {");
  e->indent++;
  emit_line(e, "const long cell = cells_before + LANE;");
  emit_line(e, "const int ok = cell < cells;");
  emit_owned_digits(t, of_dim, true, "ok ? cell : 0");
  if (t->bucketed)
    emit_bucket(t, of_dim);
  else
    emit_in_order(t, of_dim);
  emit_close(e);
}

// -- how a team shares a nest ---------------------------------------------------------------------
static uint32_t power_up(int64_t n, uint32_t most) {
  uint32_t x = 1;
  while (x < most && x < n) x *= 2;
  return x;
}

// Are more of the operands read along the last cell's loop than along the last summed one?
static bool is_across(const TeamNest *t) {
  const Plan *p = t->e->p;
  int along = 0;
  if (!t->kept) return false;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const PlanNode *x = t->w[i].x;
    uint32_t of_dim[64];
    node_dims(t->e->k, x, of_dim);
    for (uint32_t k = 0; k < x->nin; k++) {
      along += operand_step(p, &x->in[k], of_dim[t->kept - 1]) == 1;
      along -= operand_step(p, &x->in[k], of_dim[t->s->ndim - 1]) == 1;
    }
  }
  return along > 0;
}

static TeamNest team_nest(Emit *e, uint32_t nest, uint32_t team) {
  const Nest *s = &e->k->nest.at[nest];
  TeamNest t = {.e = e, .s = s, .w = nest_work(e->p, e->k, nest), .kept = s->ndim, .turns = 1};
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t.w[i];
    for (uint32_t k = 0; k < w->x->nin; k++) w->packed[k] = false;
    if (!keeps_sum(&t, w)) continue;
    if (w->reduce < t.kept) t.kept = w->reduce;
    if (w->reduce > t.summed) t.summed = w->reduce;
  }
  if (t.summed < t.kept) t.summed = t.kept;
  t.fours = choose_fours(&t);
  if (team == 1 || t.kept == s->ndim) {
    t.width = team;
    return t;
  }
  t.across = !e->at_hand && is_across(&t); // at hand, it does not matter what lies along memory
  t.columns = choose_columns(&t);
  if (t.columns) t.fours = false, mark_columns(&t);
  const Extent *dim = dealt_loops(&t);
  int64_t cells = cuda_length_most(e->p, dim, 0, t.kept),
          turns = cuda_length_most(e->p, dim, t.summed, s->ndim);
  uint32_t wide = power_up(cells, team), share = team / wide;
  if (!t.across && share < WARP && !e->at_hand) share = WARP < team ? WARP : team;
  if (e->at_hand) turns = t.fours ? turns : (turns + FOUR - 1) / FOUR;
  t.turns = power_up(turns, share);
  t.width = t.across ? wide : team / t.turns;
  return t;
}

static bool has_sum(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i])) return true;
  return false;
}

static void emit_nest(Emit *e, uint32_t nest, const CudaKernel *c) {
  TeamNest t = team_nest(e, nest, c->team);
  t.sliced = c->slices > 0;
  t.bucketed = c->buckets > 0;
  // others need not make what is the same for all cells, which may be long
  bool few = e->near && !t.w->x->scatter && !has_sum(&t) &&
             cuda_length_most(e->p, dealt_loops(&t), 0, t.s->ndim) <= WARP;
  if (few && c->team > WARP) emit_line(e, "if (LANE < %d)", WARP);
  emit_open(e);
  cuda_same(e, t.w, t.s->node.n);
  if (t.w->x->scatter)
    emit_scatter(&t);
  else if (has_sum(&t))
    emit_sum_nest(&t);
  else
    emit_plain_nest(&t);
  emit_close(e);
}

// -- kernels --------------------------------------------------------------------------------------
static bool is_flat(const Plan *p, const Kernel *k) {
  if (k->nest.n != 1) return false;
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    if (node_sums(x) || x->scatter) return false;
  }
  return true;
}

// Each point of the parallel loops and of the nest is a thread.
static void emit_flat(Emit *e) {
  const Kernel *k = e->k;
  const Nest *s = &k->nest.at[0];
  TeamNest t = team_nest(e, 0, 1);
  Extent all[64];
  memcpy(all, k->p, k->np * sizeof *all);
  memcpy(all + k->np, dealt_loops(&t), s->ndim * sizeof *all);
  cuda_same(e, t.w, s->node.n);
  emit_line(e, "const long points = %s;", cuda_length(e, all, 0, k->np + s->ndim));
  emit_line(e, "for (long q = GRID_THREAD; q < points; q += GRID_THREADS) {");
  e->indent++;
  cuda_digits(e, "q", 0, all, 0, k->np + s->ndim);
  for (uint32_t d = 0; d < s->ndim; d++) emit_levels(&t, d, d);
  emit_last_level(&t);
  emit_close(e);
}

// Slices have an output each, as far as it reaches: if memory has room for them. (A wire that lies inside
// another one has steps of its own: its cells reach as far as its last one.)
static int64_t output_reach(const Plan *p, const PlanNode *x) {
  const PlanWire *out = &p->wire.at[x->out.wire];
  int64_t reach = 1;
  for (uint32_t d = 0; d < out->rank; d++)
    reach += (extent_most(p, out->shape[d]) - 1) * out->stride[d];
  return reach;
}

// Where the outputs of a kernel's first n nodes end in a slice.
static int64_t slice_reach(const Plan *p, const Kernel *k, uint32_t n) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    Number number = p->wire.at[x->out.wire].number;
    bytes += (output_reach(p, x) * (int64_t)number_bytes(number) + 255) / 256 * 256;
  }
  return bytes;
}

static bool must_meet(Emit *, const Nest *);

static void emit_teams(Emit *e, const CudaKernel *c) {
  const Kernel *k = e->k;
  const char *points = cuda_length(e, k->p, 0, k->np);
  if (c->slices) emit_line(e, "enum { SLICES = %u };", c->slices);
  if (c->buckets) emit_line(e, "enum { SLICES = %u };", c->buckets);
  bool cut = c->slices || c->buckets;
  emit_line(e, "const long points = %s%s;", points, cut ? " * SLICES" : "");
  if (e->near && !k->np)
    emit_line(e, "{ const long q = 0;");
  else
    emit_line(e, "for (long q = GRID_TEAM; q < points; q += GRID_TEAMS) {");
  e->indent++;
  if (c->slices) emit_line(e, "const long slice = q %% SLICES;");
  for (uint32_t i = 0; c->slices && i < k->node.n; i++) {
    uint32_t out = e->p->node.at[k->node.at[i]].out.wire;
    emit_line(e, "w%u = (%s *)(c->parts + slice * %lldL + %lldL);", e->slot[out],
              emit_number(e->p->wire.at[out].number), (long long)c->slice_bytes,
              (long long)slice_reach(e->p, k, i));
  }
  if (c->buckets) emit_line(e, "const unsigned bucket = (unsigned)(q %% SLICES);");
  cuda_digits(e, cut ? "q / SLICES" : "q", 0, k->p, 0, k->np);
  for (uint32_t i = 0; i < k->nest.n; i++) {
    if (e->touched && must_meet(e, &k->nest.at[i])) emit_line(e, "TEAM_SYNC();");
    emit_nest(e, i, c);
    if (!e->touched || k->np) emit_line(e, "TEAM_SYNC();");
  }
  emit_close(e);
}

static void emit_order(Emit *e) {
  const PlanNode *x = &e->p->node.at[e->k->node.at[0]];
  const PlanWire *in = &e->p->wire.at[x->in[0].wire];
  Buf count = buf_new(e->p->arena);
  buf_text(&count, "1L");
  for (uint32_t i = 0; i < in->rank; i++)
    if (i != x->axis) buf_printf(&count, " * %s", emit_extent(e, in->shape[i]));
  emit_line(e, "const long points = %s;", count.at);
  emit_line(e, "for (long q = GRID_TEAM; q < points; q += GRID_TEAMS) {");
  e->indent++;
  emit_line(e, "long r = q, row = 0;");
  for (uint32_t i = in->rank; i-- > 0;) {
    if (i == x->axis) continue;
    const char *n = emit_extent(e, in->shape[i]);
    emit_line(e, "row += r %% %s * %lldL; r /= %s;", n, (long long)in->stride[i], n);
  }
  int64_t most = extent_most(e->p, in->shape[x->axis]);
  emit_line(e, "limn_order(w%u + row, %lldL, %s, (int *)s, (int *)s + %lldL, w%u + row);",
            e->slot[x->in[0].wire], (long long)in->stride[x->axis],
            emit_extent(e, in->shape[x->axis]), (long long)most, e->slot[x->out.wire]);
  emit_line(e, "TEAM_SYNC();");
  emit_close(e);
}

// The lanes of a team: as many as the largest nest can use.
static void choose_team(const Plan *p, const Kernel *k, uint32_t lanes, CudaKernel *c) {
  int64_t inner = 1;
  c->points = cuda_length_most(p, k->p, 0, k->np);
  for (uint32_t i = 0; i < k->nest.n; i++) {
    int64_t n = cuda_length_most(p, k->nest.at[i].dim, 0, k->nest.at[i].ndim);
    if (n > inner) inner = n;
  }
  c->tile_bytes = k->tile_bytes;
  c->teams = 1;
  bool few = c->points < FEW_POINTS && inner > 4 * BLOCK_LANES;
  bool many = c->points >= MANY_POINTS; // a row for each warp: no lane waits for another warp
  c->team = few || inner > 64 * 1024                ? 4 * BLOCK_LANES
            : inner > (many ? LONG_ROW : SHORT_ROW) ? BLOCK_LANES
                                                    : WARP;
  if (c->team == WARP && c->tile_bytes * (BLOCK_LANES / WARP) <= SHARED_BYTES)
    c->teams = BLOCK_LANES / WARP;
  if (lanes) c->team = lanes, c->teams = 1;
  c->shared = c->tile_bytes * c->teams <= SHARED_BYTES;
}

static void cut_slices(const Plan *p, const Kernel *k, CudaKernel *c, int64_t most) {
  int64_t bytes = slice_reach(p, k, k->node.n), slices = SLICED_BYTES / bytes;
  if (slices > SLICES) slices = SLICES;
  if (slices > most) slices = most;
  if (slices < 2) return;
  c->slice_bytes = bytes;
  c->slices = (uint32_t)slices;
  c->points *= slices;
}

// One node that adds numbers up, from where its output begins, or several that do so side by side.
static bool adds_alone(const Plan *p, const Kernel *k) {
  for (uint32_t i = 0; i < k->node.n; i++) {
    const PlanNode *x = &p->node.at[k->node.at[i]];
    if (x->nwinner || x->combine != SUM || x->noise || p->wire.at[x->out.wire].base != BASE_R ||
        operand_start(p, &x->out) || (k->node.n > 1 && !node_sums(x)))
      return false;
  }
  return k->nest.n == 1;
}

// A scatter whose lanes have much to do in order: slices of what is added, or buckets of labels.
static void cut_scatter(const Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  uint32_t of_dim[64], first = PLAN_NONE;
  int64_t serial = 1, cells = 1;
  node_dims(k, x, of_dim);
  for (uint32_t d = 0; d < k->nest.at[0].ndim; d++) {
    int64_t length = extent_most(p, k->nest.at[0].dim[d]);
    bool owned = owns(p, k, x, of_dim[d]);
    *(owned ? &cells : &serial) *= length;
    if (!owned && first == PLAN_NONE) first = d;
  }
  if (cells < c->team && c->team > WARP) c->team = cells > WARP ? power_up(cells, c->team) : WARP;
  if (serial < SERIAL) return;
  cut_slices(p, k, c, extent_most(p, k->nest.at[0].dim[first]));
  bool dense = output_reach(p, x) == p->wire.at[x->out.wire].count;
  if (c->slices || !dense || k->depth || label_of(p, x) == PLAN_NONE) return;
  c->buckets = BUCKETS;
  c->points *= BUCKETS;
}

// A long sum of which there are few: in slices.
static void cut_sum(Plan *p, const Kernel *k, CudaKernel *c) {
  Emit e = {.p = p, .k = k, .lanes = true};
  TeamNest t = team_nest(&e, 0, c->team);
  const Nest *s = &k->nest.at[0];
  int64_t lanes = c->points * c->team;
  if (t.kept != t.summed || t.kept == s->ndim || lanes >= ENOUGH_LANES) return;
  int64_t long_enough = cuda_length_most(p, s->dim, t.summed, s->ndim) / t.turns / SERIAL * 4,
          wanted = (t.columns ? 1 : 2) * ENOUGH_LANES / lanes;
  if (t.columns) long_enough *= FOUR;
  cut_slices(p, k, c, wanted < long_enough ? wanted : long_enough);
}

static void choose_slices(Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  if (!adds_alone(p, k)) return;
  if (x->scatter)
    cut_scatter(p, k, c);
  else if (node_sums(x))
    cut_sum(p, k, c);
}

static void choose_flat(Emit *e, CudaKernel *c) {
  const Kernel *k = e->k;
  TeamNest t = team_nest(e, 0, 1);
  c->team = 1;
  c->teams = BLOCK_LANES;
  c->points = cuda_length_most(e->p, k->p, 0, k->np) *
              cuda_length_most(e->p, dealt_loops(&t), 0, t.s->ndim);
}

static void choose_order(const Plan *p, const Kernel *k, CudaKernel *c) {
  const PlanNode *x = &p->node.at[k->node.at[0]];
  const PlanWire *in = &p->wire.at[x->in[0].wire];
  int64_t most = extent_most(p, in->shape[x->axis]);
  c->team = BLOCK_LANES;
  c->teams = 1;
  c->points = most ? in->count / most : 0;
  c->tile_bytes = 8 * most;
  c->shared = c->tile_bytes <= SHARED_BYTES;
}

// lanes: of the one block that does the whole step, or 0
static void emit_body(Emit *e, CudaKernel *c, uint32_t lanes) {
  if (e->k->kind == KERNEL_ORDER)
    choose_order(e->p, e->k, c);
  else if (e->k->kind == KERNEL_PAIRS)
    pairs_choose(e, c);
  else if (!lanes && is_flat(e->p, e->k))
    choose_flat(e, c);
  else
    choose_team(e->p, e->k, lanes, c);
  if (e->k->kind == KERNEL_LOOPS && !lanes && c->team > 1) choose_slices(e->p, e->k, c);
  emit_wires(e);
  if (e->k->kind == KERNEL_ORDER)
    emit_order(e);
  else if (e->k->kind == KERNEL_PAIRS)
    pairs_emit(e, c);
  else if (c->team == 1)
    emit_flat(e);
  else
    emit_teams(e, c);
}

// The slices of an output, one after the other, cell by cell.
static void emit_sum_of_slices(Emit *e, const CudaKernel *c, uint32_t node) {
  const PlanWire *out = &e->p->wire.at[e->p->node.at[e->k->node.at[node]].out.wire];
  const char *number = emit_number(out->number);
  emit_line(e, "for (long q = GRID_THREAD, points = %s; q < points; q += GRID_THREADS) {",
            cuda_length(e, out->shape, 0, out->rank));
  e->indent++;
  emit_line(e, "long r = q, at = 0;");
  for (uint32_t d = out->rank; d-- > 0;) {
    const char *n = emit_extent(e, out->shape[d]);
    emit_line(e, "at += r %% %s * %lldL; r /= %s;", n, (long long)out->stride[d], n);
  }
  emit_line(e, "%s sum = 0;", number);
  emit_line(e, "UNROLL_MANY"); // few threads: each has many loads under way
  emit_line(e,
            "for (int slice = 0; slice < %u; slice++) sum += ((const %s *)(c->parts + slice * "
            "%lldL + %lldL))[at];",
            c->slices, number, (long long)c->slice_bytes, (long long)slice_reach(e->p, e->k, node));
  emit_line(e, "w%u[at] = sum;", e->slot[e->p->node.at[e->k->node.at[node]].out.wire]);
  emit_close(e);
}

static void emit_sums_of_slices(Emit *e, const CudaKernel *c, uint32_t i) {
  emit_line(e, "KERNEL(limn_k%u_sum, Wires%u, %u) {", i, i, BLOCK_LANES);
  e->indent = 1;
  emit_line(e, "BEGIN(Wires%u, 1, 0, 1)", i);
  emit_wires(e);
  for (uint32_t k = 0; k < e->k->node.n; k++) emit_sum_of_slices(e, c, k);
  e->indent = 0;
  emit_line(e, "}");
}

// The text as it comes: parts, and which kernel has which body.
typedef struct {
  Buf *part;
  uint32_t parts;
  Table *known;
  CudaKernel *kernel;
} CudaText;

static uint32_t shortest_part(const CudaText *t) {
  uint32_t least = 0;
  for (uint32_t i = 1; i < t->parts; i++)
    if (t->part[i].n < t->part[least].n) least = i;
  return least;
}

static void emit_kernel(Emit *e, const CudaText *t, uint32_t i, uint32_t lanes) {
  CudaKernel *c = &t->kernel[i];
  Buf body = buf_new(e->p->arena);
  e->k = &e->p->kernel.at[i];
  e->now = &c->emit;
  e->b = &body;
  e->indent = 1;
  emit_body(e, c, lanes);
  e->indent = 0;
  c->part = shortest_part(t);
  e->b = &t->part[c->part];
  buf_printf(&body, "// %u lanes, %lld bytes%s\n", c->team, (long long)c->tile_bytes,
             c->shared ? ", shared" : "");
  Id found = table_get(t->known, body.at, body.n);
  c->emit.fn = found ? found - 1 : i;
  if (found) c->part = t->kernel[found - 1].part;
  if (found) return;
  table_put(t->known, body.at, body.n, i + 1);
  uint32_t wires = c->emit.slot.n ? c->emit.slot.n : 1;
  emit_line(e, "typedef struct { char *at[%u]; } Wires%u;", wires, i);
  if (lanes) {
    emit_line(e, "PART(limn_k%u, Wires%u, %u)", i, i, lanes);
  } else {
    const char *room = c->room ? arena_format(e->p->arena, ", %u", c->room) : "";
    emit_line(e, "KERNEL(limn_k%u, Wires%u, %u%s) {", i, i, c->team * c->teams, room);
    emit_line(e, "  BEGIN(Wires%u, %u, %lldL, %d)", i, c->team, (long long)c->tile_bytes,
              c->shared);
  }
  buf_add(e->b, body.at, body.n);
  emit_line(e, "}");
  if (c->slices) emit_sums_of_slices(e, c, i);
}

// -- a whole step ---------------------------------------------------------------------------------
// The lanes of one block do kernel after kernel. What it shares is far nearer than the device's memory: tiles come first;
// then, where they have room, the arena, states, and what a launch's steps take from their slots.
enum { WHOLE_LANES = 512, TOGETHER = 32, TOGETHER_LEAST = 4 };
// What a nest costs, in cycles or so: each time that its lanes go round, and for each warp that it has to send there and wait for.
enum { ROUND_COST = 120, WARP_COST = 8 };

typedef struct {
  Emit *e;
  const CudaKernel *kernel;
  CudaWhole *whole;
  size_t tiles, arena_bytes, states_bytes, slots_at;
  bool arena, states; // they are shared
  size_t *piece_at;   // [piece] among the states
} Whole;

// A sum's lanes have several terms each.
static double nest_cost(const Plan *p, const Nest *s, uint32_t lanes) {
  bool sums = false;
  for (uint32_t i = 0; i < s->node.n; i++) sums |= node_sums(&p->node.at[s->node.at[i]]);
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
    if (kind == KERNEL_PRODUCT || kind == KERNEL_PAIRS || kind == KERNEL_ORDER) return 0;
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
  w->arena_bytes = in_lines((size_t)p->arena_bytes);
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

// Where a wire lies when all scans are at 0, as text; NULL: it is a tile, or a state that has no room here.
static const char *whole_place(const Whole *w, uint32_t wire) {
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
  if (w->e->near[wire]) return w->e->near[wire];
  int64_t bytes = wire_offset(p, wire, at, &root) * (int64_t)number_bytes(p->wire.at[wire].number);
  return arena_format(p->arena, "%s + %lldL",
                      state_place(w, &w->whole->slot->param[p->wire.at[root].number_of]),
                      (long long)bytes);
}

// -- where lanes meet -------------------------------------------------------------------------------
typedef enum { IN_TILES, IN_ARENA, IN_STATES, IN_SLOT } Space;
typedef struct {
  Space space;
  int64_t from, to; // bytes
  bool writes;
} Touch;
struct Touched {
  const Whole *w;
  VEC(Touch) all;
};

// The bytes of a wire, or of all that it is a part of. False: it has none, or nobody writes it.
static bool touch_of(const Whole *w, uint32_t wire, bool writes, Touch *to) {
  const Plan *p = w->e->p;
  const PlanWire *x = &p->wire.at[wire], *r = &p->wire.at[wire_root(p, wire)];
  const CudaSlot *slot = w->whole->slot;
  if (x->place == AT_TILE) r = x;
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
  to->to = to->from + r->count * (int64_t)number_bytes(r->number);
  if (r->place == AT_TILE && r->of != PLAN_NONE) to->from = 0, to->to = INT64_MAX;
  return true;
}

static bool touches_meet(const Touch *a, const Touch *b) {
  return a->space == b->space && (a->writes || b->writes) && a->from < b->to && b->from < a->to;
}

static void touch(Emit *e, uint32_t wire, bool writes, struct Touched *now) {
  Touch t;
  if (wire != PLAN_NONE && touch_of(e->touched->w, wire, writes, &t))
    vec_push(e->p->arena, &now->all, t);
}

// Does a nest read what others have written since the lanes last met, or write what they have touched? Then
// they meet in front of it.
static bool must_meet(Emit *e, const Nest *s) {
  struct Touched now = {.w = e->touched->w};
  bool meets = false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const PlanNode *x = &e->p->node.at[s->node.at[i]];
    for (uint32_t k = 0; k < x->nin; k++) touch(e, x->in[k].wire, false, &now);
    for (uint32_t k = 0; k < x->nwinner; k++) touch(e, x->winner[k], true, &now);
    touch(e, x->out.wire, true, &now);
  }
  for (uint32_t i = 0; i < now.all.n; i++)
    for (uint32_t k = 0; !meets && k < e->touched->all.n; k++)
      meets = touches_meet(&now.all.at[i], &e->touched->all.at[k]);
  if (meets) e->touched->all.n = 0;
  for (uint32_t i = 0; i < now.all.n; i++) vec_push(e->p->arena, &e->touched->all, now.all.at[i]);
  return meets;
}

// In front of this kernel all lanes meet, whatever it does.
static bool meets_before(const Plan *p, uint32_t i) {
  bool checked;
  uint32_t first_write = plan_first_write(p, &checked);
  KernelKind kind = p->kernel.at[i].kind, before = i ? p->kernel.at[i - 1].kind : KERNEL_SCAN_END;
  return (i == first_write && checked) || kind == KERNEL_COPY || before == KERNEL_COPY ||
         before == KERNEL_SCAN || before == KERNEL_SCAN_END;
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
    emit_line(e, "%slimn_copied(%s, %s, %lldL);", unless, step_place(w, k->to),
              step_place(w, k->from),
              (long long)(e->p->wire.at[k->to].count *
                          (int64_t)number_bytes(e->p->wire.at[k->to].number)));
  } else {
    emit_line(e, "%slimn_k%u(&here, s, arena, states, slot, wires.k%u);", unless,
              w->kernel[i].emit.fn, i);
  }
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
  emit_line(w->e, "if (stopped && threadIdx.x == 0) *wires.steps.stop = 1;");
}

static void emit_give(const Whole *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  emit_line(e, "if (threadIdx.x == 0) {");
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
static bool gives_early(const Plan *p, uint32_t first_write, bool checked) {
  for (uint32_t i = 0; i < p->out.n; i++)
    if (p->wire.at[wire_root(p, p->out.at[i])].place != AT_ARENA) return false;
  return checked && first_write < p->kernel.n;
}

static void emit_whole_step(const Whole *w) {
  Emit *e = w->e;
  const Plan *p = e->p;
  bool checked;
  uint32_t first_write = plan_first_write(p, &checked);
  bool early = gives_early(p, first_write, checked);
  emit_line(e, "char *slot = slots + step * %zu;", w->whole->slot->bytes);
  emit_line(e, "Context here = *(const Context *)slot;");
  emit_line(e, "for (int d = 0; d < 8; d++) here.at[d] = 0;");
  emit_line(e, "char *s = in_scratch ? here.scratch : (char *)tiles;");
  if (emit_brought(w, false, "threadIdx.x == 0")) emit_line(e, "__syncthreads();");
  const char *unless = "";
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    if (i && meets_before(p, i)) emit_line(e, "__syncthreads();");
    if (i == first_write && checked) {
      emit_look(w);
      unless = "if (!stopped) ";
      if (early) emit_give(w);
    }
    emit_whole_kernel(w, i, unless);
  }
  emit_line(e, "__syncthreads();");
  if (first_write >= p->kernel.n && checked) emit_look(w);
  if (!early) emit_give(w);
  if (emit_brought(w, true, "threadIdx.x == 0 && !stopped") || !early)
    emit_line(e, "__syncthreads();");
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
    emit_line(e, "LIMN_FETCHED(%d, states, *(%s), %zu);", all > 2 * w->whole->lanes ? 8 : 1,
              piece_cells(w), all);
  else
    emit_line(e, "for (int k = (int)threadIdx.x; k < %zu; k += %u) *(%s) = ((float4 *)states)[k];",
              all, w->whole->lanes, piece_cells(w));
}

static void emit_whole(const Whole *w) {
  Emit *e = w->e;
  e->indent = 0;
  emit_whole_given(w);
  emit_line(e, "KERNEL(limn_step, LimnStep, %u) {", w->whole->lanes);
  e->indent = 1;
  emit_line(e, "TILES(tiles);");
  emit_line(e, "ARGUMENTS(LimnStep)");
  emit_line(e, "const int in_scratch = %d, steps = (int)wires.steps.steps;", w->whole->scratch);
  emit_line(e, "char *arena = %s;",
            w->arena ? arena_format(e->p->arena, "(char *)tiles + %zu", w->tiles)
                     : "wires.steps.arena");
  emit_line(e, "char *states = arena + %zu;", w->states ? w->arena_bytes : 0);
  emit_line(e, "char *slots = %s;",
            w->states ? arena_format(e->p->arena, "states + %zu", w->slots_at)
                      : "wires.steps.near");
  emit_line(e, "limn_slots_taken(&wires.steps, slots, %zu);", w->whole->slot->bytes);
  emit_states_moved(w, false);
  emit_line(e, "int stopped = *wires.steps.stop;");
  emit_line(e, "__syncthreads();");
  emit_line(e, "for (int step = 0; step < steps && !stopped; step++) {");
  e->indent++;
  emit_whole_step(w);
  emit_close(e);
  emit_states_moved(w, true);
  emit_line(e, "if (threadIdx.x == 0) limn_steps_whole(&wires.steps);");
  emit_close(e);
}

void emit_cuda(Plan *p, CudaKernel *kernel, CudaWhole *whole, Buf *part, uint32_t parts) {
  Emit e = {.p = p, .b = part, .slot = NEW_ARRAY(p->arena, uint32_t, p->wire.n + 1), .lanes = true};
  CudaText t = {part, parts, table_new(p->arena), kernel};
  const Ids *slot = kernel_slots(p);
  *whole = (CudaWhole){.slot = whole->slot, .lanes = whole->slot ? whole_lanes(p) : 0};
  Whole w = {.e = &e, .kernel = kernel, .whole = whole};
  struct Touched touched = {.w = &w};
  if (whole->lanes) {
    lay_whole(&w);
    e.near = whole_places(&w);
    e.at_hand = w.states;
    e.touched = &touched;
  }
  for (uint32_t i = 0; i < p->kernel.n; i++) {
    kernel[i].emit.slot = slot[i];
    if (whole->lanes && meets_before(p, i)) touched.all.n = 0;
    if (kernel_has_text(&p->kernel.at[i])) emit_kernel(&e, &t, i, whole->lanes);
  }
  e.b = part;
  if (whole->lanes) emit_whole(&w);
}
