// Cells that are moved by lots, four or eight at once; their loads in front of what they are for; and rows that stay in registers from
// one nest of a kernel to the next.
#include "run/engine/cuda/emit_cuda_own.h"

// -- four points at once, or eight ----------------------------------------------------------------
// Along memory, an operand's four cells are moved at once: if they begin at multiples of four. Of bfloat16 it is eight,
// the same sixteen bytes, where these are most of what is moved.
bool lot_divides(Extent e, uint32_t lot) { return !e.per && !e.part && e.c % lot == 0; }

static bool is_moved_by_lots(const PlanWire *w) {
  return w->number == NUMBER_F32 || w->number == NUMBER_BF16;
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
  uint32_t along = PLAN_NONE, lot = p->wire.at[o->wire].number == NUMBER_BF16 ? nest->lot : FOUR;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == last)
      along = i;
    else if (extent_most(p, x->index[i]) > 1 && operand_step(p, o, i) % lot)
      return false;
  return along != PLAN_NONE && same_for_lot(p, o, along) && operand_step(p, o, along) == 1 &&
         operand_start(p, o) % lot == 0 && wire_is_aligned(p, o->wire, lot) &&
         p->wire.at[o->wire].rank &&
         (p->wire.at[o->wire].place != AT_TILE || p->wire.at[o->wire].at % 16 == 0) &&
         x->var[along] >= nest->e->k->np;
}

// Is a lot of an operand's cells along this loop of the nest moved at once?
bool lot_loads(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  uint32_t node;
  return is_moved_by_lots(&p->wire.at[o->wire]) &&
         !producer_in_nest(p, t->e->k, w, o->wire, &node) &&
         in_lots(t, w->x, o, t->e->k->np + loop);
}

static bool stores_lot(const TeamNest *t, const NodeLevels *w) {
  const PlanWire *out = &t->e->p->wire.at[w->x->out.wire];
  return !node_has_reduction(w->x) && is_moved_by_lots(out) && wire_has_memory(out) &&
         operand_is_affine(t->e->p, &w->x->out) &&
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
uint32_t lot_choose(const TeamNest *t, uint32_t loop) {
  TeamNest by_eight = *t;
  uint32_t narrow = 0, others = 0;
  by_eight.lot = EIGHT;
  if (t->e->wire_address || !lot_divides(t->s->dim[loop], EIGHT)) return FOUR;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (w->packed[k]) count_lot(&by_eight, w->x, &w->x->in[k], loop, &narrow, &others);
    if (w->vector_store) count_lot(&by_eight, w->x, &w->x->out, loop, &narrow, &others);
    others += w->x->as_floats && node_has_reduction(w->x); // the order of a sum depends on the lot
  }
  return narrow && !others ? EIGHT : FOUR;
}

// May the last loop go by lots, and is anything moved so?
bool lots_choose(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!s->ndim || !lot_divides(s->dim[s->ndim - 1], t->lot)) return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t->w[i];
    if (node_wants_winner(w->x) || w->x->scatter || w->sum_loop == s->ndim + 1) return false;
    for (uint32_t k = 0; k < w->x->nin; k++) any |= w->packed[k] = lot_loads(t, w, k, s->ndim - 1);
    any |= w->vector_store = stores_lot(t, w);
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
bool ahead_has(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  return w->packed[k] && !operand_checked(t->e->p, &w->x->in[k]) &&
         is_stream(t->e->p, w->x, &w->x->in[k]);
}

static int64_t step_by_loop(const Plan *p, const PlanNode *x, const Operand *o, uint32_t loop) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == loop) return operand_step(p, o, i);
  return 0;
}

// Do two operands without tests and labels have the same cell at every point of these loops?
bool lot_same_cells(const Plan *p, const PlanNode *x, const Operand *o, const PlanNode *y,
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
      if (ahead_has(t, v, j) &&
          lot_same_cells(t->e->p, w->x, o, v->x, &v->x->in[j], t->e->k->np + t->s->ndim)) {
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
    if (!fits || !v->vector_store || !lot_same_cells(p, w->x, o, v->x, &v->x->out, loops)) continue;
    *hand = (Hand){v, PLAN_NONE};
    return true;
  }
  for (uint32_t i = 0; i < b->s->node.n && fits && !*gone; i++)
    for (uint32_t k = 0; k < b->w[i].x->nin; k++) {
      uint32_t at = k;
      if (!ahead_has(b, &b->w[i], k) ||
          !lot_same_cells(p, w->x, o, b->w[i].x, &b->w[i].x->in[k], loops))
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
  if (!t->trips || !t->all || !w->packed[k] || !operand_is_affine(t->e->p, o)) return false;
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
                     !producer_in_nest(t->e->p, t->e->k, v, v->x->in[k].wire, &node);
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
  return ahead_has(t, w, k) && ahead_first(t, w, &first) == w && first == k && !is_at_hand(t, w, k);
}

// What stays for later nests is declared in front of its own.
void lot_hands(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (is_ahead_first(t, w, k) && is_wanted(t, w, k, false))
        emit_line(t->e, "Bits32 ahead%u_%u[%u][%u];", w->id, k, 2 * AHEAD_TURNS,
                  lot_words(t, &w->x->in[k]));
    if (w->vector_store && is_wanted(t, w, PLAN_NONE, false))
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
  return !w->packed[k] && wire->base == BASE_R && wire->rank && w->load_level[k] > t->summed &&
         operand_is_affine(p, o) && !operand_uses_index(p, o, of_dim[loop]) && wire_has_memory(wire) &&
         !producer_in_nest(p, t->e->k, w, o->wire, &node);
}

// How many words of a turn stand in front.
uint32_t ahead_words(const TeamNest *t) {
  uint32_t words = 0;
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (is_ahead_first(t, &t->w[i], k)) words += lot_words(t, &t->w[i].x->in[k]);
  return words;
}

void ahead_arrays(const TeamNest *t, uint32_t loop) {
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

void ahead_loads(const TeamNest *t, uint32_t loop) {
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
void ahead_held(const TeamNest *t, uint32_t loop) {
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

void ahead_mark(const TeamNest *t, uint32_t loop) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].preloaded[k] = is_early(t, &t->w[i], k, loop);
}

void ahead_open_row(const TeamNest *t, const char *first, const char *last, uint32_t step) {
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
void ahead_open_doubt(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && !t->even)
      emit_line(t->e, "const %s before%u = s%u;", emit_sum_type(t->e, t->w[i].x), t->w[i].id,
                t->w[i].id);
}

void ahead_close_doubt(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && !t->even)
      emit_line(t->e, "s%u = there ? s%u : before%u;", t->w[i].id, t->w[i].id, t->w[i].id);
}

// What lies outside of its wire is not read.
static void emit_load_of_lot(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  Emit *e = t->e;
  const Operand *o = &w->x->in[k];
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16, tested = operand_checked(e->p, o);
  const char *none = o->padded ? emit_constant(e, o->pad, false) : "0";
  Hand hand = {w, k};
  if (t->ahead && (find_hand(t, w, k, &hand) || ahead_has(t, w, k))) {
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
  if (tested) emit_line(e, "if (%s)", emit_bounds_test(e, w, o));
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
  emit_line(t->e, "LIMN_PUT_%s%s(&%s, o%u, %d)", t->lot == EIGHT ? "EIGHT" : "FOUR",
            narrow ? "_NARROW" : "", emit_cell_at(t->e, w, out), w->id, t->e->streaming_stores);
}

void lots_load(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (t->w[i].packed[k]) emit_load_of_lot(t, &t->w[i], k);
}

// The last loop, by lots: what the innermost level says stands in it four times, or eight.
void team_last_level(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t last = e->k->np + t->s->ndim - 1;
  if (!t->vectorised) {
    team_levels(t, t->s->ndim, t->s->ndim);
    return;
  }
  e->vectorised = true;
  emit_line(e, "const long four%u = i%u * %u;", last, last, t->lot);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", last, last);
  lots_load(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].vector_store) emit_line(e, "float o%u[%u];", t->w[i].id, t->lot);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->lot);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", last, last);
  team_levels(t, t->s->ndim, t->s->ndim);
  emit_close(e);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].vector_store) emit_store_of_lot(t, &t->w[i]);
  emit_close(e);
  e->vectorised = false;
}

// The loops of a nest as they are dealt out: the last one, or the last of a cell, counts lots.
const Extent *team_loops(const TeamNest *t) {
  Extent *dim = NEW_ARRAY(t->e->p->arena, Extent, t->s->ndim + 1);
  memcpy(dim, t->s->dim, t->s->ndim * sizeof *dim);
  if (t->vectorised) dim[t->s->ndim - 1].c /= t->lot;
  if (t->columns) dim[t->kept - 1].c /= t->lot;
  return dim;
}
