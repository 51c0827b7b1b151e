// Vector loads and stores of four or eight cells; loads of several unrolled turns issued before their uses;
// and rows that stay in registers from one nest of a kernel to the next.
#include "run/engine/cuda/emit_cuda_own.h"

// -- vectors of four or eight cells ---------------------------------------------------------------
// A vector is 16 bytes: four floats, or eight bfloat16 if these are most of the memory traffic. It must be
// aligned.
bool vector_divides(Extent e, uint32_t lot) { return !e.per && !e.part && e.c % lot == 0; }

static bool has_vector_type(const PlanWire *w) {
  return w->number == NUMBER_F32 || w->number == NUMBER_BF16;
}

// The operand's address has no labels, and its bounds checks do not depend on this index: either all cells of
// a vector are in bounds or none.
static bool is_uniform_in_bounds(const Plan *p, const Operand *o, uint32_t along) {
  for (uint32_t i = 0; i < p->wire.at[o->wire].rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++) {
      const PlanTerm *t = &o->coord[i].term[k];
      if (t->operand || (o->coord[i].check && t->var == along)) return false;
    }
  return true;
}

// The operand's first cell is aligned for vectors of `vector` cells.
static bool begins_aligned(const Plan *p, const Operand *o, uint32_t vector) {
  const PlanWire *w = &p->wire.at[o->wire];
  return operand_start(p, o) % vector == 0 && wire_is_aligned(p, o->wire, vector) &&
         (w->place != AT_TILE || w->at % 16 == 0);
}

static bool is_vectorisable(const TeamNest *nest, const PlanNode *x, const Operand *o,
                            uint32_t last) {
  const Plan *p = nest->e->p;
  const PlanWire *w = &p->wire.at[o->wire];
  uint32_t along = PLAN_NONE, vector = w->number == NUMBER_BF16 ? nest->vector : FOUR;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == last)
      along = i;
    else if (extent_most(p, x->index[i]) > 1 && operand_step(p, o, i) % vector)
      return false;
  if (along == PLAN_NONE || !w->rank || x->var[along] < nest->e->k->np) return false;
  return is_uniform_in_bounds(p, o, along) && operand_step(p, o, along) == 1 &&
         begins_aligned(p, o, vector);
}

bool vector_loads(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  uint32_t node;
  return has_vector_type(&p->wire.at[o->wire]) &&
         !producer_in_nest(p, t->e->k, w, o->wire, &node) &&
         is_vectorisable(t, w->x, o, t->e->k->np + loop);
}

static bool stores_vectors(const TeamNest *t, const NodeLevels *w) {
  const PlanWire *out = &t->e->p->wire.at[w->x->out.wire];
  return !node_has_reduction(w->x) && has_vector_type(out) && wire_has_memory(out) &&
         operand_is_affine(t->e->p, &w->x->out) &&
         is_vectorisable(t, w->x, &w->x->out, t->e->k->np + t->s->ndim - 1);
}

// The operand has a different cell at every point: nothing is reused from the cache.
static bool is_read_once(const Plan *p, const PlanNode *x, const Operand *o) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (extent_most(p, x->index[i]) > 1 && !operand_step(p, o, i)) return false;
  return true;
}

// Counts an access by vectors: *narrow if it is bfloat16 and can use vectors of eight, else *others.
static void count_vector(const TeamNest *by_eight, const PlanNode *x, const Operand *o,
                         uint32_t loop, uint32_t *narrow, uint32_t *others) {
  const Plan *p = by_eight->e->p;
  if (p->wire.at[o->wire].number != NUMBER_BF16)
    *others += is_read_once(p, x, o);
  else if (is_vectorisable(by_eight, x, o, by_eight->e->k->np + loop))
    ++*narrow;
  else
    ++*others;
}

uint32_t choose_vector(const TeamNest *t, uint32_t loop) {
  TeamNest by_eight = *t;
  uint32_t narrow = 0, others = 0;
  by_eight.vector = EIGHT;
  if (t->e->wire_address || !vector_divides(t->s->dim[loop], EIGHT)) return FOUR;
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (w->packed[k]) count_vector(&by_eight, w->x, &w->x->in[k], loop, &narrow, &others);
    if (w->vector_store) count_vector(&by_eight, w->x, &w->x->out, loop, &narrow, &others);
    others +=
        w->x->as_floats && node_has_reduction(w->x); // the order of a sum depends on the vector
  }
  return narrow && !others ? EIGHT : FOUR;
}

bool choose_vectorised(const TeamNest *t) {
  const Nest *s = t->s;
  bool any = false;
  if (!s->ndim || !vector_divides(s->dim[s->ndim - 1], t->vector)) return false;
  for (uint32_t i = 0; i < s->node.n; i++) {
    NodeLevels *w = &t->w[i];
    if (node_wants_winner(w->x) || w->x->scatter || w->sum_loop == s->ndim + 1) return false;
    for (uint32_t k = 0; k < w->x->nin; k++)
      any |= w->packed[k] = vector_loads(t, w, k, s->ndim - 1);
    any |= w->vector_store = stores_vectors(t, w);
  }
  return any;
}

// -- preloads -------------------------------------------------------------------------------------
// A compiler keeps loads close to their uses. So the loads of several unrolled turns are printed before all
// computations, and are in flight together: vectors (ahead…), and scalars that all cells of a vector share
// (early…).
static uint32_t vector_words(const TeamNest *t, const Operand *o) {
  return t->vector * (uint32_t)number_bytes(t->e->p->wire.at[o->wire].number) / 4;
}

// Operands that other points read, too, are in the cache and need no preload.
bool preload_has(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  return w->packed[k] && !operand_checked(t->e->p, &w->x->in[k]) &&
         is_read_once(t->e->p, w->x, &w->x->in[k]);
}

static int64_t step_by_loop(const Plan *p, const PlanNode *x, const Operand *o, uint32_t loop) {
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] == loop) return operand_step(p, o, i);
  return 0;
}

bool same_cells_in_loops(const Plan *p, const PlanNode *x, const Operand *o, const PlanNode *y,
                         const Operand *q, uint32_t loops) {
  if (o->wire != q->wire || operand_start(p, o) != operand_start(p, q)) return false;
  for (uint32_t d = 0; d < loops; d++)
    if (step_by_loop(p, x, o, d) != step_by_loop(p, y, q, d)) return false;
  return true;
}

// Common subexpression elimination of preloads: the first node and operand of the nest with the same cells.
static const NodeLevels *preload_first(const TeamNest *t, const NodeLevels *w, uint32_t *k) {
  const Operand *o = &w->x->in[*k];
  for (const NodeLevels *v = t->w; v <= w; v++)
    for (uint32_t j = 0; j < v->x->nin && (v < w || j < *k); j++)
      if (preload_has(t, v, j) &&
          same_cells_in_loops(t->e->p, w->x, o, v->x, &v->x->in[j], t->e->k->np + t->s->ndim)) {
        *k = j;
        return v;
      }
  return w;
}

// -- reuse of registers between nests -------------------------------------------------------------
// If several nests of a kernel run over the same short row, each lane has the same cells in all of them.
// Loaded and computed cells stay in registers for later nests. `from`: the node that loaded (`at`: which
// operand) or computed (at = PLAN_NONE) the cells.
typedef struct {
  const NodeLevels *from;
  uint32_t at;
} ReusedCells;

// Looks for an operand's cells in the registers of an earlier nest. *gone: that nest overwrites the cells.
static bool reused_from(const TeamNest *b, bool fits, const NodeLevels *w, const Operand *o,
                        ReusedCells *hand, bool *gone) {
  const Plan *p = b->e->p;
  uint32_t loops = b->e->k->np + 1;
  for (uint32_t i = b->s->node.n; i-- > 0;) {
    const NodeLevels *v = &b->w[i];
    *gone |= wire_root(p, v->x->out.wire) == wire_root(p, o->wire);
    if (!fits || !v->vector_store || !same_cells_in_loops(p, w->x, o, v->x, &v->x->out, loops))
      continue;
    *hand = (ReusedCells){v, PLAN_NONE};
    return true;
  }
  for (uint32_t i = 0; i < b->s->node.n && fits && !*gone; i++)
    for (uint32_t k = 0; k < b->w[i].x->nin; k++) {
      uint32_t at = k;
      if (!preload_has(b, &b->w[i], k) ||
          !same_cells_in_loops(p, w->x, o, b->w[i].x, &b->w[i].x->in[k], loops))
        continue;
      hand->from = preload_first(b, &b->w[i], &at);
      hand->at = at;
      return true;
    }
  return false;
}

static bool find_reused(const TeamNest *t, const NodeLevels *w, uint32_t k, ReusedCells *hand) {
  const Operand *o = &w->x->in[k];
  bool gone = false;
  if (!t->row_turns || !t->all || !w->packed[k] || !operand_is_affine(t->e->p, o)) return false;
  for (uint32_t j = t->number; j-- > 0 && !gone;) {
    const TeamNest *b = &t->all[j];
    bool fits =
        b->row_turns == t->row_turns && b->vector == t->vector && b->row_vectors == t->row_vectors;
    if (!reused_from(b, fits, w, o, hand, &gone)) continue;
    ReusedCells before;
    if (hand->at != PLAN_NONE && find_reused(b, hand->from, hand->at, &before)) *hand = before;
    return true;
  }
  return false;
}

static bool is_reused(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  ReusedCells hand;
  return find_reused(t, w, k, &hand);
}

// A later nest reuses these registers. all: every later read of the wire does.
static bool is_reused_later(const TeamNest *t, const NodeLevels *w, uint32_t at, bool all) {
  bool any = false;
  for (uint32_t j = t->number + 1; t->row_turns && t->all && j < t->e->k->nest.n; j++)
    for (uint32_t i = 0; i < t->all[j].s->node.n; i++)
      for (uint32_t k = 0; k < t->all[j].w[i].x->nin; k++) {
        const NodeLevels *v = &t->all[j].w[i];
        uint32_t node;
        ReusedCells hand;
        bool reads = all && v->x->in[k].wire == w->x->out.wire &&
                     !producer_in_nest(t->e->p, t->e->k, v, v->x->in[k].wire, &node);
        bool takes =
            find_reused(&t->all[j], v, k, &hand) && hand.from->id == w->id && hand.at == at;
        if (reads && !takes) return false;
        any |= takes;
      }
  return any;
}

// A tile whose every reader uses registers is not stored.
static bool needs_no_memory(const TeamNest *t, const NodeLevels *w) {
  return t->e->p->wire.at[w->x->out.wire].place == AT_TILE &&
         is_reused_later(t, w, PLAN_NONE, true);
}

static bool is_first_preload(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  uint32_t first = k;
  return preload_has(t, w, k) && preload_first(t, w, &first) == w && first == k &&
         !is_reused(t, w, k);
}

void declare_reused(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++) {
    const NodeLevels *w = &t->w[i];
    for (uint32_t k = 0; k < w->x->nin; k++)
      if (is_first_preload(t, w, k) && is_reused_later(t, w, k, false))
        emit_line(t->e, "Bits32 ahead%u_%u[%u][%u];", w->id, k, 2 * AHEAD_TURNS,
                  vector_words(t, &w->x->in[k]));
    if (w->vector_store && is_reused_later(t, w, PLAN_NONE, false))
      emit_line(t->e, "Bits32 kept%u[%u][%u];", w->id, 2 * AHEAD_TURNS,
                vector_words(t, &w->x->out));
  }
}

// The operand is a scalar for all cells of a vector along `loop`, and worth a preload.
static bool is_preloaded_scalar(const TeamNest *t, const NodeLevels *w, uint32_t k, uint32_t loop) {
  const Plan *p = t->e->p;
  const Operand *o = &w->x->in[k];
  const PlanWire *wire = &p->wire.at[o->wire];
  uint32_t node, of_dim[64];
  node_dims(t->e->k, w->x, of_dim);
  bool is_loaded = wire_has_memory(wire) && !producer_in_nest(p, t->e->k, w, o->wire, &node);
  if (!is_loaded || w->packed[k] || wire->base != BASE_R || !wire->rank) return false;
  return w->load_level[k] > t->split_loop && operand_is_affine(p, o) &&
         !operand_uses_index(p, o, of_dim[loop]);
}

uint32_t preload_words(const TeamNest *t) {
  uint32_t words = 0;
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (is_first_preload(t, &t->w[i], k)) words += vector_words(t, &t->w[i].x->in[k]);
  return words;
}

void preload_declare(const TeamNest *t, uint32_t loop) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      if (is_first_preload(t, w, k) && is_reused_later(t, w, k, false)) continue;
      if (is_first_preload(t, w, k))
        emit_line(t->e, "Bits32 ahead%u_%u[%u][%u];", w->id, k,
                  t->row_turns ? 2 * AHEAD_TURNS : t->unrolled, vector_words(t, &w->x->in[k]));
      else if (is_preloaded_scalar(t, w, k, loop))
        emit_line(t->e, "real early%u_%u[%u];", w->id, k, t->unrolled);
    }
}

void preload_emit(const TeamNest *t, uint32_t loop) {
  Emit *e = t->e;
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      const Operand *o = &w->x->in[k];
      if (is_first_preload(t, w, k))
        emit_line(e, "LIMN_TAKE_%u(ahead%u_%u[nth], &%s)", vector_words(t, o), w->id, k,
                  emit_cell_at(e, w, o));
      else if (is_preloaded_scalar(t, w, k, loop))
        emit_line(e, "early%u_%u[row] = %s;", w->id, k, emit_load(e, w, k));
    }
}

// Declares nth, the number of this turn of the lane.
static void emit_nth(const TeamNest *t) {
  if (t->row_turns)
    emit_line(t->e, "const int nth = round * %u + row;", t->unrolled);
  else
    emit_line(t->e, "const int nth = row;");
  emit_line(t->e, "(void)nth;");
}

void preload_hold(const TeamNest *t, uint32_t loop) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int row = 0; row < %u; row++) {", t->unrolled);
  e->indent++;
  emit_nth(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++) {
      const NodeLevels *w = &t->w[i];
      if (is_first_preload(t, w, k))
        emit_line(e, "UNROLL for (int u = 0; u < %u; u++) LIMN_HOLD(ahead%u_%u[nth][u], \"+r\")",
                  vector_words(t, &w->x->in[k]), w->id, k);
      else if (is_preloaded_scalar(t, w, k, loop))
        emit_line(e, "LIMN_HOLD(early%u_%u[row], \"+f\")", w->id, k);
    }
  emit_close(e);
}

void preload_mark(const TeamNest *t, uint32_t loop) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      t->w[i].preloaded[k] = is_preloaded_scalar(t, &t->w[i], k, loop);
}

void preload_open_row(const TeamNest *t, const char *first, const char *last, uint32_t step) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int row = 0; row < %u; row++) {", t->unrolled);
  e->indent++;
  emit_nth(t);
  if (t->no_remainder) {
    emit_line(e, "const long m = %s + row * %u;", first, step);
    return;
  }
  emit_line(e, "const int there = %s + row * %u < %s;", first, step, last);
  emit_line(e, "const long m = there ? %s + row * %u : %s;", first, step,
            t->row_turns ? "LANE" : first);
}

// A select instead of a branch, because compilers would move loads after a branch.
void remainder_save(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && !t->no_remainder)
      emit_line(t->e, "const %s before%u = s%u;", emit_sum_type(t->e, t->w[i].x), t->w[i].id,
                t->w[i].id);
}

void remainder_restore(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (team_keeps_sum(t, &t->w[i]) && !t->no_remainder)
      emit_line(t->e, "s%u = there ? s%u : before%u;", t->w[i].id, t->w[i].id, t->w[i].id);
}

// Out-of-bounds vectors are not loaded.
static void emit_vector_load(const TeamNest *t, const NodeLevels *w, uint32_t k) {
  Emit *e = t->e;
  const Operand *o = &w->x->in[k];
  bool narrow = e->p->wire.at[o->wire].number == NUMBER_BF16, tested = operand_checked(e->p, o);
  const char *none = o->padded ? emit_constant(e, o->pad, false) : "0";
  ReusedCells hand = {w, k};
  if (t->unrolled && (find_reused(t, w, k, &hand) || preload_has(t, w, k))) {
    if (hand.from == w && hand.at == k) hand.from = preload_first(t, w, &hand.at);
    const char *name = hand.at == PLAN_NONE
                           ? arena_format(e->p->arena, "kept%u", hand.from->id)
                           : arena_format(e->p->arena, "ahead%u_%u", hand.from->id, hand.at);
    emit_line(e, "float p%u_%u[%u];", w->id, k, t->vector);
    emit_line(e, "LIMN_TAKEN%s(p%u_%u, %s[nth], %u)", narrow ? "_NARROW" : "", w->id, k, name,
              vector_words(t, o));
    return;
  }
  emit_line(e, "float p%u_%u[%u];", w->id, k, t->vector);
  if (tested)
    emit_line(e, "UNROLL for (int u = 0; u < %u; u++) p%u_%u[u] = %s;", t->vector, w->id, k, none);
  if (tested) emit_line(e, "if (%s)", emit_bounds_test(e, w, o));
  emit_line(e, "LIMN_%s%s(p%u_%u, &%s)", t->vector == EIGHT ? "EIGHT" : "FOUR",
            narrow ? "_NARROW" : "", w->id, k, emit_cell_at(e, w, o));
}

static void emit_vector_store(const TeamNest *t, const NodeLevels *w) {
  const Operand *out = &w->x->out;
  bool narrow = t->e->p->wire.at[out->wire].number == NUMBER_BF16;
  if (is_reused_later(t, w, PLAN_NONE, false))
    emit_line(t->e, "LIMN_KEPT%s(kept%u[nth], o%u, %u)", narrow ? "_NARROW" : "", w->id, w->id,
              vector_words(t, out));
  if (needs_no_memory(t, w)) return;
  if (t->unrolled && !t->no_remainder) emit_line(t->e, "if (there)");
  emit_line(t->e, "LIMN_PUT_%s%s(&%s, o%u, %d)", t->vector == EIGHT ? "EIGHT" : "FOUR",
            narrow ? "_NARROW" : "", emit_cell_at(t->e, w, out), w->id, t->e->streaming_stores);
}

void emit_vector_loads(const TeamNest *t) {
  for (uint32_t i = 0; i < t->s->node.n; i++)
    for (uint32_t k = 0; k < t->w[i].x->nin; k++)
      if (t->w[i].packed[k]) emit_vector_load(t, &t->w[i], k);
}

// Prints the innermost level; if vectorised, for all cells of a vector, between vector loads and stores.
void team_last_level(const TeamNest *t) {
  Emit *e = t->e;
  uint32_t last = e->k->np + t->s->ndim - 1;
  if (!t->vectorised) {
    team_levels(t, t->s->ndim, t->s->ndim);
    return;
  }
  e->vectorised = true;
  emit_line(e, "const long four%u = i%u * %u;", last, last, t->vector);
  emit_open(e);
  emit_line(e, "const long i%u = four%u;", last, last);
  emit_vector_loads(t);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].vector_store) emit_line(e, "float o%u[%u];", t->w[i].id, t->vector);
  emit_line(e, "UNROLL for (int u = 0; u < %u; u++) {", t->vector);
  e->indent++;
  emit_line(e, "const long i%u = four%u + u;", last, last);
  team_levels(t, t->s->ndim, t->s->ndim);
  emit_close(e);
  for (uint32_t i = 0; i < t->s->node.n; i++)
    if (t->w[i].vector_store) emit_vector_store(t, &t->w[i]);
  emit_close(e);
  e->vectorised = false;
}

const Extent *team_loops(const TeamNest *t) {
  Extent *dim = NEW_ARRAY(t->e->p->arena, Extent, t->s->ndim + 1);
  memcpy(dim, t->s->dim, t->s->ndim * sizeof *dim);
  if (t->vectorised) dim[t->s->ndim - 1].c /= t->vector;
  if (t->column_sums) dim[t->cell_loops - 1].c /= t->vector;
  return dim;
}
