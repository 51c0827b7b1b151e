// A nest as the lanes of a team share it. Its cells, which are the loops that nothing sums over, are dealt out to the lanes. What is
// summed is a chain of its own for each cell where there are cells enough; else several lanes take turns at one cell, and
// what they have is put together in a fixed order, so that the same numbers give the same sums on every device.
#include "run/engine/cuda/emit_cuda_own.h"

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
  // a team may be a part of a warp
  const char *lane = strcmp(way, "near") == 0 ? "(int)threadIdx.x" : "LANE";
  if (t->across)
    emit_line(e, "const int other = %s ^ far * %u;", lane, t->width);
  else
    emit_line(e, "const int other = %s ^ far;", lane);
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

void team_levels(const TeamNest *t, uint32_t from, uint32_t to) {
  for (uint32_t d = from; d <= to; d++) emit_level(t->e, t->w, t->s->node.n, d, t->s->ndim);
}

// -- four points at once, or eight ----------------------------------------------------------------
// Along memory, an operand's four cells are moved at once: if they begin at multiples of four. Of bfloat16 it is eight,
// the same sixteen bytes, where these are most of what is moved.
static bool goes_by(Extent e, uint32_t lot) { return !e.per && !e.part && e.c % lot == 0; }

static bool is_moved_by_lots(const PlanWire *w) {
  return w->number == NUMBER_F32 || w->number == NUMBER_BF16;
}

static bool begins_even(const Plan *p, uint32_t root) {
  const PlanWire *w = &p->wire.at[root];
  return w->place != AT_STATE || (p->odd && !p->odd[w->number_of]);
}

// May an operand be read a lot at a time along this index? Its cells are in the order of indices, and either all of them lie
// inside or none.
static bool same_for_lot(const Plan *p, const Operand *o, uint32_t along) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++) {
      const PlanTerm *t = &o->coord[i].term[k];
      if (t->operand || (o->coord[i].check && t->var == along)) return false;
    }
  return true;
}

static bool in_lots(const TeamNest *nest, const PlanNode *x, const Operand *o, uint32_t last) {
  const Plan *p = nest->e->p;
  uint32_t along = PLAN_NONE, root,
           lot = p->wire.at[o->wire].number == NUMBER_BF16 ? nest->lot : FOUR;
  int64_t at[8] = {0}, offset = wire_offset(p, o->wire, at, &root);
  for (uint32_t w = o->wire; w != root; w = p->wire.at[w].of)
    if (p->wire.at[w].moves) return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == last)
      along = i;
    else if (extent_most(p, x->index[i]) > 1 && operand_step(p, o, i) % lot)
      return false;
  return along != PLAN_NONE && same_for_lot(p, o, along) && operand_step(p, o, along) == 1 &&
         operand_start(p, o) % lot == 0 && offset % lot == 0 && begins_even(p, root) &&
         p->wire.at[o->wire].rank &&
         (p->wire.at[o->wire].place != AT_TILE || p->wire.at[o->wire].at % 16 == 0) &&
         x->var[along] >= nest->e->k->np;
}

// Is a lot of an operand's cells along this loop of the nest moved at once?
static bool loads_lot(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  uint32_t node;
  return is_moved_by_lots(&p->wire.at[o->wire]) && !maker_here(p, t->e->k, w, o->wire, &node) &&
         in_lots(t, w->x, o, t->e->k->np + loop);
}

static bool stores_lot(const TeamNest *t, const NodeLevels *w) {
  const PlanWire *out = &t->e->p->wire.at[w->x->out.wire];
  return !node_sums(w->x) && is_moved_by_lots(out) && wire_has_memory(out) &&
         operand_free(t->e->p, &w->x->out) &&
         in_lots(t, w->x, &w->x->out, t->e->k->np + t->s->ndim - 1);
}

// Is every cell of an operand another one at every point? Else much of what is read of it is at hand.
static bool is_stream(const Plan *p, const PlanNode *x, const Operand *o) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (extent_most(p, x->index[i]) > 1 && !operand_step(p, o, i)) return false;
  return true;
}

// Counts an operand that is moved by four: a bfloat16 that may be moved by eight, or what keeps from it.
static void count_lot(const TeamNest *by_eight, const PlanNode *x, const Operand *o, uint32_t loop,
                      uint32_t *narrow, uint32_t *others) {
  const Plan *p = by_eight->e->p;
  if (p->wire.at[o->wire].number != NUMBER_BF16)
    *others += is_stream(p, x, o);
  else if (in_lots(by_eight, x, o, by_eight->e->k->np + loop))
    ++*narrow;
  else
    ++*others;
}

// How many cells a lane moves at once, where it may be four.
static uint32_t choose_lot(const TeamNest *t, uint32_t loop) {
  TeamNest by_eight = *t;
  uint32_t narrow = 0, others = 0;
  by_eight.lot = EIGHT;
  if (t->e->near || !goes_by(t->s->dim[loop], EIGHT)) return FOUR;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (w->packed[k]) count_lot(&by_eight, w->x, &w->x->in[k], loop, &narrow, &others);
    if (w->four) count_lot(&by_eight, w->x, &w->x->out, loop, &narrow, &others);
  }
  return narrow && !others ? EIGHT : FOUR;
}

// May the last loop go by lots, and is anything moved so?
static bool choose_fours(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!s->ndim || !goes_by(s->dim[s->ndim - 1], t->lot)) return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t->w[i];
    if (node_wants_winner(w->x) || w->x->scatter || w->reduce == s->ndim + 1) return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= w->packed[k] = loads_lot(t, w, k, s->ndim - 1);
    any |= w->four = stores_lot(t, w);
  }
  return any;
}

// -- loads in front of what they are for ----------------------------------------------------------
// A compiler keeps loads close to where they are used; so those of several turns stand in front of all of them, and are
// under way together: lots as they lie in memory, and numbers that are the same for a lot.
static uint32_t lot_words(const TeamNest *t, const Operand *o) {
  return t->lot * (uint32_t)number_bytes(t->e->p->wire.at[o->wire].number) / 4;
}

// What is at hand anyway, since other points read it too, need not stand in front.
static bool is_ahead(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  return w->packed[k] && !operand_checked(t->e->p, &w->x->in[k]) &&
         is_stream(t->e->p, w->x, &w->x->in[k]);
}

static int64_t step_by_loop(const Plan *p, const PlanNode *x, const Operand *o, uint32_t loop) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == loop) return operand_step(p, o, i);
  return 0;
}

// Do two operands without tests and labels have the same cell at every point of these loops?
static bool same_cells(const Plan *p, const PlanNode *x, const Operand *o, const PlanNode *y,
                       const Operand *q, uint32_t loops) {
  if (o->wire != q->wire || operand_start(p, o) != operand_start(p, q)) return false;
  for (uint32_t d = 0; d < loops; d++)
    if (step_by_loop(p, x, o, d) != step_by_loop(p, y, q, d)) return false;
  return true;
}

// Which node and operand of the nest stand for this one, that is read in front: the first that reads the same.
static const NodeLevels *ahead_first(const TeamNest *t, const NodeLevels *w, uint32_t *k) {
  const Operand *o = &w->x->in[*k];
  for (const NodeLevels *v = t->w; v <= w; v++)
    for (uint32_t j = 0; j < v->x->nin && (v < w || j < *k); j++)
      if (is_ahead(t, v, j) &&
          same_cells(t->e->p, w->x, o, v->x, &v->x->in[j], t->e->k->np + t->s->ndim)) {
        *k = j;
        return v;
      }
  return w;
}

// -- rows at hand ---------------------------------------------------------------------------------
// Where the nests of a kernel go over the same short row, each lane has the same cells in all of them: what one has read
// or made stays in its registers for the next. at: the operand that was read; PLAN_NONE: it was made.
typedef struct {
  const NodeLevels *from;
  uint32_t at;
} Hand;

// What a nest has made or read of an operand's cells; *gone: they are no longer what they were before it.
static bool hand_of(const TeamNest *b, bool fits, const NodeLevels *w, const Operand *o, Hand *hand,
                    bool *gone) {
  const Plan *p = b->e->p;
  uint32_t loops = b->e->k->np + 1;
  for (uint32_t i = b->s->node.n; i-- > 0;) {
    const NodeLevels *v = &b->w[i];
    *gone |= wire_root(p, v->x->out.wire) == wire_root(p, o->wire);
    if (!fits || !v->four || !same_cells(p, w->x, o, v->x, &v->x->out, loops)) continue;
    *hand = (Hand){v, PLAN_NONE};
    return true;
  }
  for (uint32_t i = 0; i < b->s->node.n && fits && !*gone; i++)
    for (uint32_t k = 0; k < b->w[i].x->nin; k++) {
      uint32_t at = k;
      if (!is_ahead(b, &b->w[i], k) || !same_cells(p, w->x, o, b->w[i].x, &b->w[i].x->in[k], loops))
        continue;
      hand->from = ahead_first(b, &b->w[i], &at);
      hand->at = at;
      return true;
    }
  return false;
}

static bool find_hand(const TeamNest *t, const NodeLevels *w, uint32_t k, Hand *hand) {
  const Operand *o = &w->x->in[k];
  bool gone = false;
  if (!t->trips || !t->all || !w->packed[k] || !operand_free(t->e->p, o)) return false;
  for (uint32_t j = t->number; j-- > 0 && !gone;) {
    const TeamNest *b = &t->all[j];
    bool fits = b->trips == t->trips && b->lot == t->lot && b->lots == t->lots;
    if (!hand_of(b, fits, w, o, hand, &gone)) continue;
    Hand before;
    if (hand->at != PLAN_NONE && find_hand(b, hand->from, hand->at, &before)) *hand = before;
    return true;
  }
  return false;
}

static bool is_at_hand(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  Hand hand;
  return find_hand(t, w, k, &hand);
}

// Does a later nest take this from registers? all: does every one that reads the wire?
static bool is_wanted(const TeamNest *t, const NodeLevels *w, uint32_t at, bool all) {
  bool any = false;
  for (uint32_t j = t->number + 1; t->trips && t->all && j < t->e->k->nest.n; j++)
    for (uint32_t i = 0; i < t->all[j].s->node.n; i++)
      for (uint32_t k = 0; k < t->all[j].w[i].x->nin; k++) {
        const NodeLevels *v = &t->all[j].w[i];
        uint32_t node;
        Hand hand;
        bool reads = all && v->x->in[k].wire == w->x->out.wire &&
                     !maker_here(t->e->p, t->e->k, v, v->x->in[k].wire, &node);
        bool takes = find_hand(&t->all[j], v, k, &hand) && hand.from->id == w->id && hand.at == at;
        if (reads && !takes) return false;
        any |= takes;
      }
  return any;
}

// A tile that nobody reads from memory needs none.
static bool needs_no_memory(const TeamNest *t, const NodeLevels *w) {
  return t->e->p->wire.at[w->x->out.wire].place == AT_TILE && is_wanted(t, w, PLAN_NONE, true);
}

static bool is_ahead_first(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  uint32_t first = k;
  return is_ahead(t, w, k) && ahead_first(t, w, &first) == w && first == k && !is_at_hand(t, w, k);
}

// What stays for later nests is declared in front of its own.
static void emit_hands(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (is_ahead_first(t, w, k) && is_wanted(t, w, k, false))
        emit_line(t->e, "Bits32 ahead%u_%u[%u][%u];", w->id, k, 2 * AHEAD_TURNS,
                  lot_words(t, &w->x->in[k]));
    if (w->four && is_wanted(t, w, PLAN_NONE, false))
      emit_line(t->e, "Bits32 kept%u[%u][%u];", w->id, 2 * AHEAD_TURNS, lot_words(t, &w->x->out));
  }
}

// `loop`: of the nest, that lots lie along.
static bool is_early(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  const PlanWire *wire = &p->wire.at[o->wire];
  uint32_t node, of_dim[64];
  node_dims(t->e->k, w->x, of_dim);
  return !w->packed[k] && wire->base == BASE_R && wire->rank && w->load[k] > t->summed &&
         operand_free(p, o) && !operand_has(p, o, of_dim[loop]) && wire_has_memory(wire) &&
         !maker_here(p, t->e->k, w, o->wire, &node);
}

// How many words of a turn stand in front.
static uint32_t ahead_words(const TeamNest *t) {
  uint32_t words = 0;
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (is_ahead_first(t, &t->w[i], k)) words += lot_words(t, &t->w[i].x->in[k]);
  return words;
}

static void emit_ahead_arrays(const TeamNest *t, uint32_t loop) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      if (is_ahead_first(t, w, k) && is_wanted(t, w, k, false)) continue;
      if (is_ahead_first(t, w, k))
        emit_line(t->e, "Bits32 ahead%u_%u[%u][%u];", w->id, k,
                  t->trips ? 2 * AHEAD_TURNS : t->ahead, lot_words(t, &w->x->in[k]));
      else if (is_early(t, w, k, loop))
        emit_line(t->e, "real early%u_%u[%u];", w->id, k, t->ahead);
    }
}

static void emit_ahead_loads(const TeamNest *t, uint32_t loop) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      const Operand *o = &w->x->in[k];
      if (is_ahead_first(t, w, k))
        emit_line(e, "LIMN_TAKE_%u(ahead%u_%u[nth], &%s)", lot_words(t, o), w->id, k,
                  emit_cell_at(e, w, o));
      else if (is_early(t, w, k, loop))
        emit_line(e, "early%u_%u[row] = %s;", w->id, k, emit_load(e, w, k));
    }
}

// Which turn of this lane's it is.
static void emit_nth(const TeamNest *t) {
  if (t->trips)
    emit_line(t->e, "const int nth = round * %u + row;", t->ahead);
  else
    emit_line(t->e, "const int nth = row;");
  emit_line(t->e, "(void)nth;");
}

// All of them are wanted here, whatever is asked next.
static void emit_ahead_held(const TeamNest *t, uint32_t loop) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int row = 0; row < %u; row++) {", t->ahead);
  e->indent++;
  emit_nth(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      if (is_ahead_first(t, w, k))
        emit_line(e, "UNROLL for (int u = 0; u < %u; u++) LIMN_HOLD(ahead%u_%u[nth][u], \"+r\")",
                  lot_words(t, &w->x->in[k]), w->id, k);
      else if (is_early(t, w, k, loop))
        emit_line(e, "LIMN_HOLD(early%u_%u[row], \"+f\")", w->id, k);
    }
  emit_close(e);
}

static void mark_early(const TeamNest *t, uint32_t loop) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) t->w[i].early[k] = is_early(t, &t->w[i], k, loop);
}

static void open_row(const TeamNest *t, const char *first, const char *last, uint32_t step) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int row = 0; row < %u; row++) {", t->ahead);
  e->indent++;
  emit_nth(t);
  if (t->even) {
    emit_line(e, "const long m = %s + row * %u;", first, step);
    return;
  }
  emit_line(e, "const int there = %s + row * %u < %s;", first, step, last);
  emit_line(e, "const long m = there ? %s + row * %u : %s;", first, step,
            t->trips ? "LANE" : first);
}

// Behind the last turn nothing is added. (No branch: a compiler would put loads behind it.)
static void open_doubt(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]) && !t->even)
      emit_line(t->e, "const %s before%u = s%u;", emit_sum_type(t->e, t->w[i].x), t->w[i].id,
                t->w[i].id);
}

static void close_doubt(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]) && !t->even)
      emit_line(t->e, "s%u = there ? s%u : before%u;", t->w[i].id, t->w[i].id, t->w[i].id);
}

// What lies outside of its wire is not read.
static void emit_load_of_lot(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  Emit *e = t->e;
  const Operand *o = &w->x->in[k];
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16, tested = operand_checked(e->p, o);
  const char *none = o->padded ? emit_constant(e, o->pad, false) : "0";
  Hand hand = {w, k};
  if (t->ahead && (find_hand(t, w, k, &hand) || is_ahead(t, w, k))) {
    if (hand.from == w && hand.at == k) hand.from = ahead_first(t, w, &hand.at);
    const char *name = hand.at == PLAN_NONE
                           ? arena_format(e->p->arena, "kept%u", hand.from->id)
                           : arena_format(e->p->arena, "ahead%u_%u", hand.from->id, hand.at);
    emit_line(e, "float p%u_%u[%u];", w->id, k, t->lot);
    emit_line(e, "LIMN_TAKEN%s(p%u_%u, %s[nth], %u)", narrow ? "_NARROW" : "", w->id, k, name,
              lot_words(t, o));
    return;
  }
  emit_line(e, "float p%u_%u[%u];", w->id, k, t->lot);
  if (tested)
    emit_line(e, "UNROLL for (int u = 0; u < %u; u++) p%u_%u[u] = %s;", t->lot, w->id, k, none);
  if (tested) emit_line(e, "if (%s)", emit_test(e, w, o));
  emit_line(e, "LIMN_%s%s(p%u_%u, &%s)", t->lot == EIGHT ? "EIGHT" : "FOUR",
            narrow ? "_NARROW" : "", w->id, k, emit_cell_at(e, w, o));
}

static void emit_store_of_lot(const TeamNest *t, const NodeLevels *w) {
  const Operand *out = &w->x->out;
  bool narrow = t->e->p->wire.at[out->wire].number == NUMBER_BF16;
  if (is_wanted(t, w, PLAN_NONE, false))
    emit_line(t->e, "LIMN_KEPT%s(kept%u[nth], o%u, %u)", narrow ? "_NARROW" : "", w->id, w->id,
              lot_words(t, out));
  if (needs_no_memory(t, w)) return;
  if (t->ahead && !t->even) emit_line(t->e, "if (there)");
  emit_line(t->e, "LIMN_PUT_%s%s(&%s, o%u)", t->lot == EIGHT ? "EIGHT" : "FOUR",
            narrow ? "_NARROW" : "", emit_cell_at(t->e, w, out), w->id);
}

static void emit_loads_of_lots(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (t->w[i].packed[k]) emit_load_of_lot(t, &t->w[i], k);
}

// The last loop, by lots: what the innermost level says stands in it four times, or eight.
void team_last_level(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t last = e->k->np + t->s->ndim - 1;
  if (!t->fours) {
    team_levels(t, t->s->ndim, t->s->ndim);
    return;
  }
  e->fours = true;
  emit_line(e, "const long four%u = i%u * %u;", last, last, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", last, last);
  emit_loads_of_lots(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].four) emit_line(e, "float o%u[%u];", t->w[i].id, t->lot);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", last, last);
  team_levels(t, t->s->ndim, t->s->ndim);
  emit_close(e);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].four) emit_store_of_lot(t, &t->w[i]);
  emit_close(e);
  e->fours = false;
}

// The loops of a nest as they are dealt out: the last one, or the last of a cell, counts lots.
const Extent *team_loops(const TeamNest *t) {
  Extent *dim = NEW_ARRAY(t->e->p->arena, Extent, t->s->ndim + 1);
  memcpy(dim, t->s->dim, t->s->ndim * sizeof *dim);
  if (t->fours) dim[t->s->ndim - 1].c /= t->lot;
  if (t->columns) dim[t->kept - 1].c /= t->lot;
  return dim;
}

// -- sums side by side ----------------------------------------------------------------------------
// Nothing is stored on the way: several turns' loads may be under way at once.
static bool only_sums(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]))
      return false;
  return true;
}

// Sums of which four lie side by side in memory, as what they are made of does.
static bool choose_columns(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!t->across || !t->kept || t->kept != t->summed || !goes_by(s->dim[t->kept - 1], t->lot) ||
      !only_sums(t))
    return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    if (w->x->nwinner || w->x->scatter || w->x->noise ||
        (keeps_sum(t, w) && w->reduce != t->kept) || w->reduce == s->ndim + 1)
      return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= loads_lot(t, w, k, t->kept - 1);
  }
  return any;
}

static void mark_columns(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    t->w[i].four = false;
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].packed[k] = loads_lot(t, &t->w[i], k, t->kept - 1);
  }
}

static void take_columns(TeamNest *t) {
  uint32_t lot = t->lot;
  t->lot = FOUR;
  t->columns = choose_columns(t);
  if (!t->columns) {
    t->lot = lot;
    return;
  }
  t->fours = false;
  mark_columns(t);
  t->lot = choose_lot(t, t->kept - 1);
  mark_columns(t);
}

static void open_column(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", loop, loop);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]))
      emit_line(e, "%s s%u = sums%u[u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->w[i].id);
}

// What is known of a cell, and all behind it, stands here for each of a lot.
static void emit_columns(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  e->fours = true;
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_loads_of_lots(t);
  open_column(t);
  team_levels(t, t->kept, t->s->ndim);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]))
      emit_line(e, t->even ? "sums%u[u] = s%u;" : "sums%u[u] = there ? s%u : sums%u[u];",
                t->w[i].id, t->w[i].id, t->w[i].id);
  emit_close(e);
  e->fours = false;
}

// -- turns ----------------------------------------------------------------------------------------
// A short row's turns, in rounds that are spelled out.
static void open_rounds(const TeamNest *t) {
  emit_line(t->e, "UNROLL for (int round = 0; round < %u; round++) {",
            (t->trips + t->ahead - 1) / t->ahead);
  t->e->indent++;
  emit_line(t->e, "const long first = LANE + round * %u;", t->ahead * t->lanes);
}

static void open_turns(const TeamNest *t, const char *name, uint32_t step) {
  if (t->sliced)
    emit_line(
        t->e,
        "for (long %s = LIMN_SLICE(slice, turns) + turn, last = LIMN_SLICE(slice + 1, turns); "
        "%s < last; %s += %u) {",
        name, name, name, step);
  else
    emit_line(t->e, "for (long %s = turn, last = turns; %s < last; %s += %u) {", name, name, name,
              step);
  t->e->indent++;
}

// All loads of several turns at the loops from `from` on. Beyond the last turn, the first is read once more.
static void emit_loads_ahead(const TeamNest *t, uint32_t from, const char *last, uint32_t step) {
  Emit *e = t->e;
  uint32_t along = t->columns ? t->kept - 1 : t->s->ndim - 1, loop = e->k->np + along;
  emit_ahead_arrays(t, along);
  open_row(t, "first", last, step);
  cuda_digits(e, "m", e->k->np, team_loops(t), from, t->s->ndim);
  if (!t->columns) emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_ahead_loads(t, along);
  emit_close(e);
  emit_close(e);
  emit_ahead_held(t, along);
  mark_early(t, along);
}

// Several turns together.
static void emit_turns_ahead(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  const char *last = t->trips ? "turns" : "last";
  emit_line(e, "const long turns = ok ? %s : 0;", cuda_length(e, dim, t->summed, t->s->ndim));
  if (t->trips)
    open_rounds(t);
  else
    open_turns(t, "first", t->ahead * t->turns);
  emit_loads_ahead(t, t->summed, last, t->turns);
  open_row(t, "first", last, t->turns);
  cuda_digits(e, "m", e->k->np, dim, t->summed, t->s->ndim);
  if (t->columns) {
    emit_columns(t);
  } else {
    open_doubt(t);
    team_levels(t, t->summed + 1, t->s->ndim - 1);
    team_last_level(t);
    close_doubt(t);
  }
  emit_close(e);
  emit_close(e);
}

// The loops of which each lane has its share.
static void emit_turns(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long turns = ok ? %s : 0;", cuda_length(e, dim, t->summed, s->ndim));
  if (only_sums(t)) emit_line(e, "UNROLL_SOME");
  open_turns(t, "m", t->turns);
  emit_line(e, "const long at = %s;",
            t->kept < t->summed ? arena_format(e->p->arena, "before * %s + m",
                                               cuda_length(e, dim, t->summed, s->ndim))
                                : "m");
  emit_line(e, "(void)at;");
  cuda_digits(e, "m", e->k->np, dim, t->summed, s->ndim);
  team_levels(t, t->summed + 1, s->ndim - 1);
  team_last_level(t);
  emit_close(e);
}

// In a step that is one block's, the text is run again and again: what needs no loop has none.
static bool once(const TeamNest *t, const Extent *dim, uint32_t ndim, uint32_t lanes) {
  return t->e->near && cuda_length_most(t->e->p, dim, 0, ndim) <= lanes;
}

// Lanes that took turns at a cell and are near each other: they exchange what they have at once.
static uint32_t near_turns(const TeamNest *t) {
  uint32_t near = !t->across ? WARP : t->width < WARP ? WARP / t->width : 1;
  return near < t->turns ? near : t->turns;
}

static bool all_are_real(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i]) && strcmp(emit_sum_type(t->e, t->w[i].x), "real") != 0) return false;
  return true;
}

// What the warps have of columns: all of them are shown at once, and each lane goes through those of a column, in order.
static void emit_column_joins(const TeamNest *t, const NodeLevels *w) {
  Emit *e = t->e;
  uint32_t near = near_turns(t), columns = t->lot * t->width, loop = e->k->np + t->kept - 1;
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "real s%u = sums%u[u];", w->id, w->id);
  emit_joins_over(t, w, 1, near, "near");
  emit_line(e, "sums%u[u] = s%u;", w->id, w->id);
  emit_close(e);
  emit_line(e, "TEAM_SYNC();"); // some may still look at what was shown before
  emit_line(e, "if (ok & (LANE %% %u < %u))", near * t->width, t->width);
  emit_line(e, "  UNROLL for (int u = 0; u < %u; u++)", t->lot);
  emit_line(e, "    all[(LANE / %u * %u + u) * %u + LANE %% %u] = sums%u[u];", near * t->width,
            t->lot, t->width, t->width, w->id);
  emit_line(e, "TEAM_SYNC();");
  emit_line(e, "for (int column = LANE; ok & (column < %u); column += %u) {", columns,
            t->turns * t->width);
  e->indent++;
  emit_line(e, "const long i%u = four%u + column / %u;", loop, loop, t->width);
  emit_line(e, "real s%u = all[column];", w->id);
  emit_line(e, "UNROLL_SOME");
  emit_line(e, "for (int other = column + %u; other < %u; other += %u) {", columns,
            t->turns / near * columns, columns);
  e->indent++;
  cuda_join(e, w, "seen");
  emit_close(e);
  emit_close_sum(e, w);
  emit_close(e);
}

static void emit_joined_columns(const TeamNest *t) {
  uint32_t near = near_turns(t);
  bool alone = t->e->k->nest.n == 1; // shared memory has room for one nest's
  if (near == t->turns || !alone || !all_are_real(t)) {
    open_column(t);
    close_sums(t, t->kept);
    emit_close(t->e);
    return;
  }
  emit_line(t->e, "SHARED(real, all, %u);", t->turns / near * t->lot * t->width);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i])) emit_column_joins(t, &t->w[i]);
}

static void emit_column_sums(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t loop = e->k->np + t->kept - 1;
  for (uint32_t d = 0; d < t->kept; d++) team_levels(t, d, d);
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    if (!keeps_sum(t, &t->w[i])) continue;
    emit_line(e, "%s sums%u[%u];", emit_sum_type(e, t->w[i].x), t->w[i].id, t->lot);
    emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sums%u[u] = %s;", t->lot, t->w[i].id,
              emit_identity(e, t->w[i].x));
  }
  emit_turns_ahead(t);
  emit_joined_columns(t);
}

static void emit_sum_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Nest *s = t->s;
  uint32_t np = e->k->np;
  const Extent *dim = team_loops(t);
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
  team_levels(t, 0, t->kept);
  open_sums(t, t->kept);
  if (t->kept < t->summed) emit_line(e, "long before = 0;");
  for (uint32_t d = t->kept; d < t->summed; d++) {
    emit_open_loop(e, 'i', np + d, emit_extent(e, s->dim[d]));
    team_levels(t, d + 1, d + 1);
    open_sums(t, d + 1);
  }
  if (t->ahead)
    emit_turns_ahead(t);
  else
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
static void emit_plain_ahead(const TeamNest *t) {
  Emit *e = t->e;
  team_levels(t, 0, 0);
  if (t->trips) {
    open_rounds(t);
  } else {
    emit_line(e, "for (long first = LANE; first < cells; first += %u * TEAM) {", t->ahead);
    e->indent++;
  }
  emit_loads_ahead(t, 0, "cells", t->width);
  open_row(t, "first", "cells", t->width);
  cuda_digits(e, "m", e->k->np, team_loops(t), 0, t->s->ndim);
  for (uint32_t d = 1; d < t->s->ndim; d++) team_levels(t, d, d);
  team_last_level(t);
  emit_close(e);
  emit_close(e);
}

static void emit_plain_nest(const TeamNest *t) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long cells = %s;", cuda_length(e, dim, 0, t->s->ndim));
  if (t->ahead) {
    emit_plain_ahead(t);
    return;
  }
  if (once(t, dim, t->s->ndim, t->width)) {
    emit_line(e, "const long cell = LANE;");
    emit_line(e, "if (cell < cells) {");
  } else {
    emit_line(e, "for (long cell = LANE; cell < cells; cell += TEAM) {");
  }
  e->indent++;
  cuda_digits(e, "cell", e->k->np, dim, 0, t->s->ndim);
  for (uint32_t d = 0; d < t->s->ndim; d++) team_levels(t, d, d);
  team_last_level(t);
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
uint32_t scatter_label(const Plan *p, const PlanNode *x) {
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    const PlanCoord *c = &x->out.coord[i];
    if (c->n == 1 && c->term[0].operand && !c->check && operand_free(p, &x->in[c->term[0].var]))
      return c->term[0].var;
  }
  return PLAN_NONE;
}

// Has each value of the index cells of the output of its own, at this point of the kernel? So it has
// where it counts inside a block, and the point says which block.
bool scatter_owns(const Plan *p, const Kernel *k, const PlanNode *x, uint32_t index) {
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
    if (scatter_owns(e->p, e->k, t->w->x, of_dim[d]) == owned)
      buf_printf(&count, " * %s", emit_extent(e, t->s->dim[d]));
  return count.at;
}

// The loops that cells own, or the others, of a number that counts their points.
static void emit_owned_digits(const TeamNest *t, const uint32_t *of_dim, bool owned,
                              const char *of) {
  Emit *e = t->e;
  emit_line(e, "long r%s = %s;", owned ? "" : "_in", of);
  for (uint32_t d = t->s->ndim; d-- > 0;) {
    if (scatter_owns(e->p, e->k, t->w->x, of_dim[d]) != owned) continue;
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
            emit_cell_at(e, t->w, &x->in[scatter_label(e->p, x)]), BUCKETS);
  emit_close(e);
  emit_line(e, "unsigned found = __ballot_sync(0xFFFFFFFFu, of_it);");
  emit_line(e, "for (; found; found &= found - 1) {");
  e->indent++;
  emit_line(e, "if (!ok) continue;");
  emit_owned_digits(t, of_dim, false, "base + __ffs((int)found) - 1");
  team_levels(t, 0, t->s->ndim);
  emit_close(e);
  emit_close(e);
}

static void emit_in_order(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  uint32_t loops = 0;
  emit_line(e, "if (!ok) continue;");
  for (uint32_t d = 0; d < t->s->ndim; d++) {
    if (scatter_owns(e->p, e->k, t->w->x, of_dim[d])) continue;
    const char *n = emit_extent(e, t->s->dim[d]);
    uint32_t i = e->k->np + d;
    if (t->sliced && !loops) {
      emit_line(e,
                "for (long i%u = LIMN_SLICE(slice, %s), last = LIMN_SLICE(slice + 1, %s); i%u < "
                "last; i%u++) {",
                i, n, n, i, i);
      e->indent++;
    } else {
      emit_open_loop(e, 'i', i, n);
    }
    loops++;
  }
  team_levels(t, 0, t->s->ndim);
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
uint32_t cuda_power_up(int64_t n, uint32_t most) {
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

static bool stores_lots_only(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (!keeps_sum(t, &t->w[i]) && wire_has_memory(&t->e->p->wire.at[t->w[i].x->out.wire]) &&
        !t->w[i].four)
      return false;
  return true;
}

// How many of so many turns are taken together: as few rounds as registers allow.
static uint32_t turns_ahead(const TeamNest *t, int64_t turns) {
  uint32_t words = ahead_words(t), most = words ? AHEAD_WORDS / words : 0;
  if (most > AHEAD_TURNS) most = AHEAD_TURNS;
  if (!words && turns <= AHEAD_TURNS) most = AHEAD_TURNS;
  if (most < 2) return 0;
  int64_t rounds = (turns + most - 1) / most;
  return (uint32_t)((turns + rounds - 1) / rounds);
}

// Turns at loops that are the same for all samples, by so many lanes.
static void take_ahead(TeamNest *t, uint32_t from, uint32_t lanes) {
  const Extent *dim = team_loops(t);
  if (!t->fours || t->e->near || !stores_lots_only(t)) return;
  for (uint32_t d = from; d < t->s->ndim; d++)
    if (dim[d].per || dim[d].part) return;
  int64_t all = cuda_length_most(t->e->p, dim, from, t->s->ndim), turns = (all + lanes - 1) / lanes;
  t->ahead = turns_ahead(t, turns);
  t->even = t->ahead && all % ((int64_t)t->ahead * lanes) == 0;
  if (!t->ahead || t->s->ndim != 1 || turns > AHEAD_TURNS || all < lanes || lanes != t->lanes)
    return;
  t->trips = (uint32_t)turns;
  t->lots = all;
}

TeamNest team_nest(Emit *e, uint32_t nest, uint32_t team) {
  const Nest *s = &e->k->nest.at[nest];
  TeamNest t = {.e = e,
                .s = s,
                .w = nest_work(e->p, e->k, nest),
                .kept = s->ndim,
                .turns = 1,
                .lot = FOUR,
                .lanes = team};
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t.w[i];
    for (uint32_t k = 0; k < w->x->nin; k++) w->packed[k] = false;
    if (!keeps_sum(&t, w)) continue;
    if (w->reduce < t.kept) t.kept = w->reduce;
    if (w->reduce > t.summed) t.summed = w->reduce;
  }
  if (t.summed < t.kept) t.summed = t.kept;
  t.fours = choose_fours(&t);
  if (t.fours && choose_lot(&t, s->ndim - 1) == EIGHT) t.lot = EIGHT, choose_fours(&t);
  if (team == 1 || t.kept == s->ndim) {
    t.width = team;
    if (team > 1) take_ahead(&t, 0, team);
    return t;
  }
  t.across = !e->at_hand && is_across(&t); // at hand, it does not matter what lies along memory
  take_columns(&t);
  const Extent *dim = team_loops(&t);
  int64_t cells = cuda_length_most(e->p, dim, 0, t.kept),
          turns = cuda_length_most(e->p, dim, t.summed, s->ndim);
  uint32_t wide = cuda_power_up(cells, team), share = team / wide;
  if (!t.across && share < WARP && !e->at_hand) share = WARP < team ? WARP : team;
  if (e->at_hand) turns = t.fours ? turns : (turns + FOUR - 1) / FOUR;
  t.turns = cuda_power_up(turns, share);
  t.width = t.across ? wide : team / t.turns;
  if (t.columns)
    t.ahead = ROWS;
  else if (t.kept == t.summed)
    take_ahead(&t, t.summed, t.turns);
  return t;
}

static bool has_sum(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (keeps_sum(t, &t->w[i])) return true;
  return false;
}

// -- a largest number and the exponentials made smaller by it, in one walk ------------------------
// Three nests: M, the largest number of a long row; m, which is M but no less than a bound; the sum of exp(x - m). Instead of
// walking over the row twice, each lane has the largest number so far, and makes its sum smaller when that grows.
typedef struct {
  const NodeLevels *largest, *sum;
  double bound;
} RowWalk;

static const NodeLevels *only_node(const TeamNest *t) { return t->s->node.n == 1 ? t->w : NULL; }

// m = max(M, bound), which may be under a `stop`
static bool is_bounded(const PlanNode *x, uint32_t of, double *bound) {
  uint32_t last = x->nscalar - 1;
  if (node_sums(x) || x->scatter || x->nin != 1 || x->in[0].wire != of) return false;
  if (x->scalar[last].fn == FN_stop) last = x->scalar[last].arg[0];
  const Scalar *s = &x->scalar[last];
  if (s->fn != FN_maximum) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Scalar *c = &x->scalar[s->arg[k]];
    *bound = c->k;
    if (c->fn == FN_CONST && c->k - c->k == 0 && x->scalar[s->arg[1 - k]].fn == FN_ARG) return true;
  }
  return false;
}

// The sum of exp(x - m); *of: which operand is x.
static bool sums_exp_less(const PlanNode *x, uint32_t m, uint32_t *of) {
  const Scalar *s = &x->scalar[x->nscalar - 1];
  if (x->combine != SUM || x->nin != 2 || x->nscalar != 4 || s->fn != FN_exp) return false;
  s = &x->scalar[s->arg[0]];
  const Scalar *a = &x->scalar[s->arg[0]], *b = &x->scalar[s->arg[1]];
  if (s->fn != FN_sub || a->fn != FN_ARG || b->fn != FN_ARG) return false;
  *of = a->ref;
  return a->ref != b->ref && x->in[b->ref].wire == m;
}

static bool shares_memory(const Plan *p, uint32_t a, uint32_t b) {
  const PlanWire *x = &p->wire.at[wire_root(p, a)], *y = &p->wire.at[wire_root(p, b)];
  return x == y || (x->place == y->place && x->at == y->at && x->number_of == y->number_of);
}

static bool walks_alone(const TeamNest *t, const NodeLevels *w) {
  return t->fours && t->ahead && !t->trips && !t->sliced && !t->e->near && !t->kept && !t->summed &&
         !t->across && t->turns == t->lanes && !t->e->p->wide && keeps_sum(t, w) &&
         !node_wants_winner(w->x) && strcmp(emit_sum_type(t->e, w->x), "real") == 0;
}

static bool find_walk(const TeamNest *all, uint32_t nest, RowWalk *walk) {
  const TeamNest *t = &all[nest];
  const Plan *p = t->e->p;
  uint32_t of;
  if (nest + 2 >= t->e->k->nest.n) return false;
  const NodeLevels *largest = only_node(t), *m = only_node(t + 1), *sum = only_node(t + 2);
  *walk = (RowWalk){largest, sum, 0};
  if (!largest || !m || !sum || t[1].s->ndim || largest->x->combine != MAX ||
      largest->x->nscalar != 1 || largest->x->nin != 1 || largest->tested || sum->tested ||
      !walks_alone(t, largest) || !walks_alone(t + 2, sum))
    return false;
  return is_bounded(m->x, largest->x->out.wire, &walk->bound) &&
         sums_exp_less(sum->x, m->x->out.wire, &of) && t[0].lot == t[2].lot &&
         is_ahead(t, largest, 0) && is_ahead(t + 2, sum, of) &&
         same_cells(p, largest->x, &largest->x->in[0], sum->x, &sum->x->in[of], t->e->k->np + 1) &&
         !shares_memory(p, sum->x->out.wire, m->x->out.wire) &&
         !shares_memory(p, sum->x->out.wire, largest->x->out.wire);
}

bool team_walks(const TeamNest *all, uint32_t nest) {
  RowWalk walk;
  return find_walk(all, nest, &walk);
}

static void emit_walk_joins(const TeamNest *t, const RowWalk *w, const char *bound, uint32_t to) {
  Emit *e = t->e;
  uint32_t a = w->largest->id, b = w->sum->id;
  emit_line(e, "for (int far = 1; far < %u; far *= 2) {", to);
  e->indent++;
  emit_line(e, "const int other = (int)threadIdx.x ^ far;");
  emit_line(e, "const real v = near_real(s%u, other), sum = near_real(s%u, other);", a, b);
  emit_line(e, "const real top = limn_top(v, s%u);", a);
  emit_line(e, "s%u = s%u * limn_exp_fall(s%u, top, %s) + sum * limn_exp_fall(v, top, %s);", b, b,
            a, bound, bound);
  emit_line(e, "s%u = top;", a);
  emit_close(e);
}

// A lot: its largest number, and then its exponentials.
static void emit_walk_lot(const TeamNest *t, const RowWalk *w, const char *bound) {
  Emit *e = t->e;
  uint32_t a = w->largest->id, b = w->sum->id, loop = e->k->np;
  emit_line(e, "const long four%u = i%u * %u;", loop, loop, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", loop, loop);
  emit_line(e, "(void)i%u;", loop);
  emit_loads_of_lots(t);
  emit_line(e, "real top = s%u, sum = 0;", a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) top = limn_top(p%u_0[u], top);", t->lot, a);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) sum += limn_exp_of(p%u_0[u], top, %s);", t->lot,
            a, bound);
  emit_line(e, "sum += s%u * limn_exp_fall(s%u, top, %s);", b, a, bound);
  emit_line(e, t->even ? "s%u = sum;" : "s%u = there ? sum : s%u;", b, b);
  emit_line(e, "s%u = top;", a);
  emit_close(e);
}

static void emit_walk_turns(const TeamNest *t, const RowWalk *w, const char *bound) {
  Emit *e = t->e;
  const Extent *dim = team_loops(t);
  emit_line(e, "const long turns = %s;", cuda_length(e, dim, 0, t->s->ndim));
  open_turns(t, "first", t->ahead * t->turns);
  emit_loads_ahead(t, 0, "last", t->turns);
  open_row(t, "first", "last", t->turns);
  cuda_digits(e, "m", e->k->np, dim, 0, t->s->ndim);
  emit_walk_lot(t, w, bound);
  emit_close(e);
  emit_close(e);
}

void team_emit_walk(const TeamNest *all, uint32_t nest) {
  const TeamNest *t = &all[nest];
  Emit *e = t->e;
  RowWalk w;
  find_walk(all, nest, &w);
  uint32_t a = w.largest->id, b = w.sum->id, warps = t->turns / WARP;
  const char *bound = emit_constant(e, w.bound, false);
  emit_open(e);
  emit_line(e, "const int turn = LANE;");
  emit_open_sum(e, w.largest);
  emit_open_sum(e, w.sum);
  emit_walk_turns(t, &w, bound);
  emit_walk_joins(t, &w, bound, t->turns < WARP ? t->turns : WARP);
  if (warps > 1) {
    emit_open(e);
    emit_line(e, "const int other = LANE %% %u * %u;", warps, WARP);
    emit_line(e, "s%u = far_real(s%u, other);", a, a);
    emit_line(e, "s%u = far_real(s%u, other);", b, b);
    emit_close(e);
    emit_walk_joins(t, &w, bound, warps);
  }
  emit_line(e, "if (turn == 0) {");
  e->indent++;
  if (w.largest->x->nwinner) emit_line(e, "bad%u = s%u != s%u;", a, a, a);
  emit_close_sum(e, w.largest);
  emit_close_sum(e, w.sum);
  emit_close(e);
  emit_close(e);
}

const TeamNest *team_nests(Emit *e, const CudaKernel *c) {
  TeamNest *all = NEW_ARRAY(e->p->arena, TeamNest, e->k->nest.n + 1);
  for (uint32_t i = 0; i < e->k->nest.n; i++) {
    all[i] = team_nest(e, i, c->team);
    all[i].all = all;
    all[i].number = i;
    all[i].sliced = c->slices > 0;
    all[i].bucketed = c->buckets > 0;
    if (all[i].sliced) all[i].even = false, all[i].trips = 0;
  }
  return all;
}

void team_emit(const TeamNest *all, uint32_t nest, const CudaKernel *c) {
  TeamNest t = all[nest];
  Emit *e = t.e;
  if (t.sliced) t.even = false;
  // others need not make what is the same for all cells, which may be long
  bool few = e->near && !t.w->x->scatter && !has_sum(&t) &&
             cuda_length_most(e->p, team_loops(&t), 0, t.s->ndim) <= WARP;
  emit_hands(&t);
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
