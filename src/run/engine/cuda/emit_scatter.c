// A nest that adds up in places, some of which labels name: each lane has cells of its own, and adds in order.
#include "run/engine/cuda/emit_cuda_own.h"

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

// The label of the point that is `of`-th in order.
static void emit_label(const TeamNest *t, const uint32_t *of_dim, const char *of) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  emit_owned_digits(t, of_dim, false, of);
  emit_line(e, "const int it = (int)%s;", emit_cell_at(e, t->w, &x->in[scatter_label(e->p, x)]));
}

// Does nothing but the label say which of a lane's cells is added to? Then all that have the same one are added up first.
static bool label_says_all(const TeamNest *t) {
  const Plan *p = t->e->p;
  const PlanNode *x = t->w->x;
  for (uint32_t i = 0; i < p->wire.at[x->out.wire].rank; i++)
    for (uint32_t k = 0; k < x->out.coord[i].n; k++) {
      const PlanTerm *term = &x->out.coord[i].term[k];
      bool known = term->operand
                       ? term->var == scatter_label(p, x)
                       : x->var[term->var] < t->e->k->np || scatter_owns(p, t->e->k, x, term->var);
      if (!known) return false;
    }
  return x->combine == SUM && !x->nwinner && t->s->node.n == 1;
}

// The values at all places of a mask, some of which are on their way at once.
static void emit_values(const TeamNest *t, const uint32_t *of_dim, const char *type) {
  Emit *e = t->e;
  emit_line(e, "while (same) {");
  e->indent++;
  emit_line(e, "%s value[%d];", type, VALUES);
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) {", VALUES);
  e->indent++;
  emit_line(e, "value[u] = 0;");
  emit_line(e, "if (!same) continue;");
  emit_owned_digits(t, of_dim, false,
                    arena_format(e->p->arena, "base + %d * k + __ffs((int)same) - 1", WARP));
  emit_line(e, "same &= same - 1;");
  e->onto = "value[u]";
  team_levels(t, 0, t->s->ndim);
  e->onto = NULL;
  emit_close(e);
  emit_line(e, "UNROLL for (int u = 0; u < %d; u++) sum += value[u];", VALUES);
  emit_close(e);
}

// Of the labels that a warp has found, one after the other: all its values are added up, and then to its cell.
static void emit_by_label(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  const PlanNode *x = t->w->x;
  const char *type = e->p->wire.at[x->out.wire].number == NUMBER_F64 ? "double" : "real";
  emit_line(e, "int label = -1;");
  emit_line(e, "if (of_it >> k & 1) {");
  e->indent++;
  emit_label(t, of_dim, arena_format(e->p->arena, "base + %d * k + lane", WARP));
  emit_line(e, "label = it;");
  emit_close(e);
  emit_line(e, "while (found) {");
  e->indent++;
  emit_line(e, "const int it = near_int(label, __ffs((int)found) - 1);");
  emit_line(e, "unsigned same = __ballot_sync(0xFFFFFFFFu, label == it);");
  emit_line(e, "found &= ~same;");
  emit_line(e, "if (!ok) continue;");
  emit_line(e, "%s sum = 0;", type);
  emit_values(t, of_dim, type);
  emit_line(e, "const int a%u_%u = it;", t->w->id, scatter_label(e->p, x));
  emit_line(e, "%s += sum;", emit_cell_at(e, t->w, &x->out));
  emit_close(e);
}

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

// What has a label of this bucket: the lanes of a warp look at some labels each, which are on their way at once, and then
// follow those that are of it.
static void emit_bucket(const TeamNest *t, const uint32_t *of_dim) {
  Emit *e = t->e;
  emit_line(e, "const int lane = (int)(threadIdx.x %% %d);", WARP);
  emit_line(e, "const long added = %s;", owned_length(t, of_dim, false));
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
  label_says_all(t) ? emit_by_label(t, of_dim) : emit_one_by_one(t, of_dim);
  emit_close_all(e, 2);
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
  if (!t->bucketed && !x->onto) emit_fill(t, x->out.wire, emit_identity(e, x));
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
