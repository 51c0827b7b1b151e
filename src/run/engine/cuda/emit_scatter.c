// Prints scatter-add nests, whose output cells may depend on labels. Each lane owns cells that no other lane
// adds to, and adds in order: no atomics, so results are deterministic.
#include "run/engine/cuda/emit_cuda_own.h"

// Initialises the cells of a wire of the output's shape that belong to this point; along a blocked axis, the
// cells of the point's block.
static void emit_fill(const TeamNest *t, uint32_t wire, const char *value) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  const PlanWire *to = &e->p->wire.at[wire];
  Buf at = buf_new(e->p->arena);
  Extent dim[64];
  uint32_t index, n = 0, axis[64];
  buf_char(&at, '0');
  for (uint32_t i = 0; i < to->rank; i++) {
    if (operand_axis_is_index(e->p, &x->out, i, &index) && x->var[index] < e->k->np) {
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

uint32_t scatter_label(const Plan *p, const PlanNode *x) {
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++) {
    const PlanCoord *c = &x->out.coord[i];
    if (c->n == 1 && c->term[0].operand && !c->check &&
        operand_is_affine(p, &x->in[c->term[0].var]))
      return c->term[0].var;
  }
  return PLAN_NONE;
}

// Also true for an index inside a block whose number is a parallel loop of the kernel.
bool scatter_owns(const Plan *p, const Kernel *k, const PlanNode *x, uint32_t index) {
  uint32_t uses = 0;
  bool block = false;
  if (node_owns_slices(p, x, index)) return true;
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

// Lanes share the loops that own cells, and run all other loops in order. The number of points of the owned
// loops, or of the others.
static const char *owned_length(const TeamNest *t, const uint32_t *of_dim, bool owned) {
  Emit *e = t->e;
  Buf count = buf_new(e->p->arena);
  buf_text(&count, "1L");
  for (uint32_t d = 0; d < t->s->ndim; d++)
    if (scatter_owns(e->p, e->k, t->w->x, of_dim[d]) == owned)
      buf_printf(&count, " * %s", emit_extent(e, t->s->dim[d]));
  return count.at;
}

// Declares the indices of the owned loops, or of the others, from their linear index.
static void emit_owned_digits(const TeamNest *t, const uint32_t *of_dim, bool owned,
                              const char *of) {
  Emit *e = t->e;
  const char *r = owned ? "r" : "r_in";
  uint32_t slowest = 0;
  emit_line(e, "unsigned long %s = %s;", r, of);
  while (slowest < t->s->ndim && scatter_owns(e->p, e->k, t->w->x, of_dim[slowest]) != owned)
    slowest++;
  for (uint32_t d = t->s->ndim; d-- > slowest;) {
    if (scatter_owns(e->p, e->k, t->w->x, of_dim[d]) != owned) continue;
    const char *n = emit_extent(e, t->s->dim[d]);
    if (d == slowest)
      emit_line(e, "const long i%u = (long)%s;", e->k->np + d, r);
    else
      emit_line(e, "const long i%u = (long)(%s %% %s); %s /= %s;", e->k->np + d, r, n, r, n);
  }
}

// Declares `it`, the label of point number `of` of the other loops.
static void emit_label(const TeamNest *t, const uint32_t *of_dim, const char *of) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  emit_owned_digits(t, of_dim, false, of);
  emit_line(e, "const int it = (int)%s;", emit_cell_at(e, t->w, &x->in[scatter_label(e->p, x)]));
}

// The label alone determines the lane's cell, so terms with equal labels can be added before the cell is
// updated.
static bool label_determines_cell(const Plan *p, const Kernel *k, const PlanNode *x) {
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++)
    for (uint32_t n = 0; n < x->out.coord[i].n; n++) {
      const PlanTerm *term = &x->out.coord[i].term[n];
      bool known = term->operand ? term->var == scatter_label(p, x)
                                 : x->var[term->var] < k->np || scatter_owns(p, k, x, term->var);
      if (!known) return false;
    }
  return !operand_checked(p, &x->out) && x->combine == SUM && !x->nwinner && k->node.n == 1;
}

// -- the list of a bucket -------------------------------------------------------------------------
// The labels that a team compacts into one list at a time. Lane k of a warp keeps the ballot of the warp's
// look k, so there are at most WARP looks.
static uint32_t list_length(uint32_t lanes) {
  return lanes * WARP < LISTED ? lanes * WARP : LISTED;
}

int64_t scatter_list_bytes(const Plan *p, const Kernel *k, const PlanNode *x, uint32_t lanes) {
  int64_t counts = lanes / WARP * 4, entries = list_length(lanes) * (4 + 2);
  return label_determines_cell(p, k, x) ? (counts + entries + 15) / 16 * 16 : 0;
}

// The warps share the labels. A warp loads consecutive labels, with several loads in flight; lane k keeps the
// ballot of look k. After the last label, the first one is loaded again and ignored.
static void emit_ballots(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  uint32_t all = list_length(t->lanes) / t->lanes, looks = all < LOOKS ? all : LOOKS;
  emit_line(e, "unsigned found = 0;");
  emit_line(e, "UNROLL_BY(1) for (int look = 0; look < %u; look += %u) {", all, looks);
  e->indent++;
  emit_line(e, "const long at = base + of_warp + %d * look + lane;", WARP);
  emit_line(e, "int of_it[%u];", looks);
  emit_line(e, "UNROLL for (int k = 0; k < %u; k++) {", looks);
  e->indent++;
  emit_line(e, "const int there = at + %d * k < added;", WARP);
  emit_label(t, of_dim, arena_format(e->p->arena, "there ? at + %d * k : base", WARP));
  emit_line(e, "of_it[k] = there & ((unsigned)it %% %uu == bucket);", BUCKETS);
  emit_close(e);
  emit_line(e, "UNROLL for (int k = 0; k < %u; k++) {", looks);
  e->indent++;
  emit_line(e, "const unsigned all = __ballot_sync(0xFFFFFFFFu, of_it[k]);");
  emit_line(e, "found = lane == look + k ? all : found;");
  emit_close_all(e, 2);
}

// Stream compaction: a prefix sum of the lanes' counts gives the position of each lane's entries.
static void emit_list(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "const int own = __popc(found), so_far = limn_so_far(own);");
  emit_line(e, "if (lane == %d) count[warp] = so_far;", WARP - 1);
  emit_line(e, "TEAM_SYNC();");
  emit_line(e, "int listed = 0, to = so_far - own;");
  emit_line(e, "for (int k = 0; k < %u; k++) {", t->lanes / WARP);
  emit_line(e, "  to += k < warp ? count[k] : 0;");
  emit_line(e, "  listed += count[k];");
  emit_line(e, "}");
  emit_line(e, "for (; found; found &= found - 1) {");
  e->indent++;
  emit_line(e, "const int at = of_warp + %d * lane + __ffs((int)found) - 1;", WARP);
  emit_label(t, of_dim, "base + at");
  emit_line(e, "label[to] = it;");
  emit_line(e, "place[to++] = (unsigned short)at;");
  emit_close(e);
  emit_line(e, "TEAM_SYNC();");
}

// Computes the values of VALUES entries. After the last entry, the first one is computed again and ignored.
static void emit_values(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) {", VALUES);
  e->indent++;
  emit_line(e, "const int there = first + u < listed, entry = there ? first + u : first;");
  emit_owned_digits(t, of_dim, false, "base + place[entry]");
  emit_line(e, "it[u] = label[entry];");
  emit_line(e, "value[u] = 0;");
  e->accumulator = "value[u]";
  team_levels(t, 0, t->s->ndim);
  e->accumulator = NULL;
  emit_line(e, "value[u] = there ? value[u] : 0;");
  emit_close(e);
}

// For each entry, prints `before`, the cell of its label, and `behind`.
static void emit_cells(const TeamNest *t, const char *before, const char *behind) {
  Emit *e = t->e;
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) {", VALUES);
  e->indent++;
  emit_line(e, "const int a%u_%u = it[u];", t->w->id, scatter_label(e->p, t->w->x));
  emit_line(e, "%s%s%s;", before, emit_cell_at(e, t->w, &t->w->x->out), behind);
  emit_close(e);
}

// Adds VALUES entries at a time, with all loads in flight before the first use. The first entry of each label
// adds the values of the others, in order, and is the only one that writes.
static void emit_entries(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  bool wide = e->p->wire.at[t->w->x->out.wire].number == NUMBER_F64;
  emit_line(e, "for (int first = 0; ok && first < listed; first += %d) {", VALUES);
  e->indent++;
  emit_line(e, "%s value[%d], was[%d];", wide ? "double" : "real", VALUES, VALUES);
  emit_line(e, "int it[%d], is_first[%d];", VALUES, VALUES);
  emit_values(t, of_dim);
  emit_cells(t, "was[u] = ", "");
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) LIMN_HOLD(was[u], \"+%c\")", VALUES,
            wide ? 'd' : 'f');
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) {", VALUES);
  e->indent++;
  emit_line(e, "is_first[u] = 1;");
  emit_line(e, "UNROLL for (int v = 0; v < %d; v++) {", VALUES);
  emit_line(e, "  if ((v < u) & (it[v] == it[u])) is_first[u] = 0;");
  emit_line(e, "  if ((v > u) & (it[v] == it[u])) value[u] += value[v];");
  emit_line(e, "}");
  emit_close(e);
  emit_cells(t, "if (is_first[u]) ", " = was[u] + value[u]");
  emit_close(e);
}

static void emit_by_list(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  uint32_t warps = t->lanes / WARP, labels = list_length(t->lanes);
  emit_line(e, "const int warp = LANE / %d, of_warp = warp * %u;", WARP, labels / warps);
  emit_line(e, "int *const count = (int *)(s + %lldL), *const label = count + %u;",
            (long long)e->k->tile_bytes, warps);
  emit_line(e, "unsigned short *const place = (unsigned short *)(label + %u);", labels);
  emit_line(e, "for (long base = 0; base < added; base += %u) {", labels);
  e->indent++;
  emit_ballots(t, of_dim);
  emit_list(t, of_dim);
  emit_entries(t, of_dim);
  emit_close(e);
}

// -- buckets --------------------------------------------------------------------------------------
static void emit_one_by_one(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "for (; found; found &= found - 1) {");
  e->indent++;
  emit_line(e, "if (!ok) continue;");
  emit_owned_digits(t, of_dim, false,
                    arena_format(e->p->arena, "base + %d * k + __ffs((int)found) - 1", WARP));
  team_levels(t, 0, t->s->ndim);
  emit_close(e);
}

// Without a list, each warp by itself: its lanes load some labels each, with all loads in flight, and then
// process the points whose labels are in the bucket.
static void emit_by_warp(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "for (long base = 0; base < added; base += %d) {", LOOKS * WARP);
  e->indent++;
  emit_line(e, "unsigned of_it = 0;");
  emit_line(e, "UNROLL for (int k = 0; k < %d; k++) {", LOOKS);
  e->indent++;
  emit_line(e, "if (base + %d * k + lane >= added) continue;", WARP);
  emit_label(t, of_dim, arena_format(e->p->arena, "base + %d * k + lane", WARP));
  emit_line(e, "of_it |= (unsigned)((unsigned)it %% %uu == bucket) << k;", BUCKETS);
  emit_close(e);
  emit_line(e, "UNROLL_BY(1) for (int k = 0; k < %d; k++) {", LOOKS);
  e->indent++;
  emit_line(e, "unsigned found = __ballot_sync(0xFFFFFFFFu, (int)(of_it >> k & 1));");
  emit_line(e, "if (!found) continue;");
  emit_one_by_one(t, of_dim);
  emit_close_all(e, 2);
}

// Adds the points whose labels are in this bucket.
static void emit_bucket(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "const int lane = (int)(threadIdx.x %% %d);", WARP);
  emit_line(e, "const long added = %s;", owned_length(t, of_dim, false));
  if (label_determines_cell(e->p, e->k, t->w->x))
    emit_by_list(t, of_dim);
  else
    emit_by_warp(t, of_dim);
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

void scatter_emit(const TeamNest *t) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  uint32_t of_dim[64];
  if (!t->bucketed && !x->accumulate) emit_fill(t, x->out.wire, emit_identity(e, x));
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
