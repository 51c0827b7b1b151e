// Prints the expressions of a kernel: names, constants, addresses, bounds checks, loads and scalars. The
// printers for CPU and GPU print the loops and place each expression at its loop level (loop_levels.c).
#include "run/engine/kernel/point.h"
#include "core/diagram/ops.h"

#include <math.h>

void emit_line(Emit *e, const char *format, ...) {
  va_list args;
  for (uint32_t i = 0; i < e->indent; i++) buf_text(e->b, "  ");
  va_start(args, format);
  buf_vprintf(e->b, format, args);
  va_end(args);
  buf_char(e->b, '\n');
}

void emit_open(Emit *e) {
  emit_line(e, "{");
  e->indent++;
}

void emit_close(Emit *e) {
  e->indent--;
  emit_line(e, "}");
}

void emit_close_all(Emit *e, uint32_t n) {
  while (n--) emit_close(e);
}

void emit_open_loop(Emit *e, char letter, uint32_t v, const char *n) {
  emit_line(e, "for (long %c%u = 0; %c%u < %s; %c%u++) {", letter, v, letter, v, n, letter, v);
  e->indent++;
}

// -- small texts ----------------------------------------------------------------------------------
const char *emit_number(Number n) {
  static const char *const text[] = {[NUMBER_F32] = "float",
                                     [NUMBER_F64] = "double",
                                     [NUMBER_I32] = "int",
                                     [NUMBER_U8] = "unsigned char",
                                     [NUMBER_BF16] = "unsigned short"};
  return text[n];
}

// In exported C, all memory is one array of the caller that holds cells of different types; the *Cell
// types are declared may_alias.
const char *emit_cell(const Emit *e, Number n) {
  static const char *const text[] = {[NUMBER_F32] = "FloatCell",
                                     [NUMBER_F64] = "DoubleCell",
                                     [NUMBER_I32] = "LabelCell",
                                     [NUMBER_U8] = "unsigned char"};
  return e->export_prefix ? text[n] : emit_number(n);
}

const char *emit_extent(Emit *e, Extent x) {
  if (x.part) return "rows";
  if (e->full_batch) x = (Extent){.c = extent_most(e->p, x)};
  if (!x.per) return arena_format(e->p->arena, "%lldL", (long long)x.c);
  return arena_format(e->p->arena, "(%lldL * c->n + %lldL)", (long long)x.per, (long long)x.c);
}

const char *emit_constant(Emit *e, double k, bool wide) {
  if (isnan(k)) return wide ? "double_unknown" : "((real)double_unknown)";
  if (isinf(k)) return k < 0 ? "(-(real)double_infinite)" : "((real)double_infinite)";
  if (!wide) k = real_constant(e->p, k);
  return arena_format(e->p->arena, "(%s%a)", wide ? "" : "(real)", k);
}

// A constant scalar, which may be a label or a bit.
static const char *scalar_constant(Emit *e, const Scalar *s, bool wide) {
  if (s->base != BASE_R) return arena_format(e->p->arena, "%lld", (long long)s->k);
  return emit_constant(e, s->k, wide);
}

static const char *base_text(Base b) { return b == BASE_R ? "real" : "int"; }

// -- variables and addresses ----------------------------------------------------------------------
static const char *term_name(const Emit *e, const NodeLevels *w, const PlanTerm *t) {
  if (t->operand) return arena_format(e->p->arena, "a%u_%u", w->id, t->var);
  return arena_format(e->p->arena, "i%u", w->x->var[t->var]);
}

void emit_coord(Emit *e, const NodeLevels *w, const PlanCoord *c, Buf *b) {
  buf_printf(b, "%lldL", (long long)c->c);
  for (uint32_t k = 0; k < c->n; k++)
    buf_printf(b, " + %lldL * %s", (long long)c->term[k].coef, term_name(e, w, &c->term[k]));
}

// The address of an access, in cells from the wire's pointer.
static const char *address_text(Emit *e, const NodeLevels *w, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  const PlanWire *x = &e->p->wire.at[o->wire];
  buf_printf(&b, "%lldL", (long long)operand_start(e->p, o));
  for (uint32_t i = 0; i < x->rank; i++)
    for (uint32_t k = 0; k < o->coord[i].n; k++) {
      int64_t step = x->stride[i] * o->coord[i].term[k].coef;
      if (step == 1)
        buf_printf(&b, " + %s", term_name(e, w, &o->coord[i].term[k]));
      else if (step)
        buf_printf(&b, " + %lldL * %s", (long long)step, term_name(e, w, &o->coord[i].term[k]));
    }
  return b.at;
}

const char *emit_cell_at(Emit *e, const NodeLevels *w, const Operand *o) {
  return arena_format(e->p->arena, "w%u[%s]", e->slot[o->wire], address_text(e, w, o));
}

const PlanTerm *emit_inner_term(const Emit *e, const NodeLevels *w, const PlanCoord *c) {
  uint32_t last = e->k->np + e->k->nest.at[w->nest].ndim - 1;
  for (uint32_t k = 0; k < c->n; k++)
    if (!c->term[k].operand && w->x->var[c->term[k].var] == last) return &c->term[k];
  return NULL;
}

const char *emit_bounds_test(Emit *e, const NodeLevels *w, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  const PlanWire *x = &e->p->wire.at[o->wire];
  buf_char(&b, '1');
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!o->coord[i].check) continue;
    if (e->bounds && emit_inner_term(e, w, &o->coord[i])) {
      if (e->bounds == BOUNDS_OUTSIDE) return "0";
      continue;
    }
    buf_text(&b, " & ((unsigned long)(");
    emit_coord(e, w, &o->coord[i], &b);
    buf_printf(&b, ") < (unsigned long)%s)", emit_extent(e, x->shape[i]));
  }
  return b.at;
}

// -- pointers -------------------------------------------------------------------------------------
const char *emit_scan_offset(Emit *e, uint32_t wire) {
  const Plan *p = e->p;
  Buf b = buf_new(p->arena);
  for (; p->wire.at[wire].alias_of != PLAN_NONE; wire = p->wire.at[wire].alias_of)
    if (p->wire.at[wire].scan_moves)
      buf_printf(&b, " + %lldL * c->at[%u]", (long long)p->wire.at[wire].scan_stride,
                 p->wire.at[wire].depth);
  return b.at;
}

// -- scalars --------------------------------------------------------------------------------------
static const char *scalar_name(Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn == FN_CONST) return scalar_constant(e, s, w->uniform[i]);
  return arena_format(e->p->arena, "t%u_%u", w->id, i);
}

// A uniform scalar is a double: it is narrowed for an argument that is not uniform.
const char *emit_argument(Emit *e, const NodeLevels *w, uint32_t i, uint32_t of) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn == FN_CONST) return scalar_constant(e, s, w->uniform[of]);
  if (w->uniform[i] && !w->uniform[of] && s->base == BASE_R)
    return arena_format(e->p->arena, "((real)%s)", scalar_name(e, w, i));
  return scalar_name(e, w, i);
}

// The index of an access in its packed copy, whose axes are the nest's loops, the innermost last. *cells:
// the size of the copy.
static const char *pack_text(Emit *e, const NodeLevels *w, const Operand *o, int64_t *cells) {
  const PlanNode *x = w->x;
  const Nest *s = &e->k->nest.at[w->nest];
  Buf b = buf_new(e->p->arena);
  int64_t size = 1;
  buf_text(&b, "0L");
  for (uint32_t d = s->ndim; d-- > 0;)
    for (uint32_t i = 0; i < x->nindex; i++) {
      if (x->var[i] != e->k->np + d || !operand_uses_index(e->p, o, i)) continue;
      buf_printf(&b, " + %lldL * i%u", (long long)size, x->var[i]);
      size *= s->dim[d].c;
    }
  if (cells) *cells = size;
  return b.at;
}

void emit_packed_copies(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    if (!w->packed[k]) continue;
    const Operand *o = &x->in[k];
    int64_t cells;
    const char *to = pack_text(e, w, o, &cells);
    emit_line(e, "%s p%u_%u[%lld];", emit_number(e->p->wire.at[o->wire].number), w->id, k,
              (long long)cells);
    for (uint32_t i = 0; i < x->nindex; i++)
      if (operand_uses_index(e->p, o, i))
        emit_line(e, "for (long i%u = 0; i%u < %s; i%u++)", x->var[i], x->var[i],
                  emit_extent(e, x->index[i]), x->var[i]);
    emit_line(e, "  p%u_%u[%s] = %s;", w->id, k, to, emit_cell_at(e, w, o));
  }
}

const char *emit_load(Emit *e, const NodeLevels *w, uint32_t k) {
  const Operand *o = &w->x->in[k];
  uint32_t node;
  Arena *a = e->p->arena;
  const char *base = base_text(e->p->wire.at[o->wire].base);
  if (producer_in_nest(e->p, e->k, w, o->wire, &node))
    return arena_format(a, "(%s)v%u", base, node_position(e->k, node));
  if (w->preloaded[k])
    return arena_format(a, e->preload_struct ? "read.early%u_%u" : "early%u_%u[row]", w->id, k);
  if (w->packed[k] && e->vectorised) return arena_format(a, "p%u_%u[u]", w->id, k);
  if (w->packed[k]) return arena_format(a, "p%u_%u[%s]", w->id, k, pack_text(e, w, o, NULL));
  const char *cell = emit_cell_at(e, w, o);
  if (e->p->wire.at[o->wire].number == NUMBER_BF16) cell = arena_format(a, "limn_widen(%s)", cell);
  if (!operand_checked(e->p, o)) return cell;
  const char *other = o->padded ? emit_constant(e, o->pad, false) : "0";
  return arena_format(a, "(g%u_%u ? (%s)%s : (%s)%s)", w->id, k, base, cell, base, other);
}

// Declares a label or a bounds check. In exported C, (void) avoids a warning if no node uses it.
static void emit_int(Emit *e, const char *name, const char *value) {
  if (e->export_prefix)
    emit_line(e, "const int %s = %s; (void)%s;", name, value, name);
  else
    emit_line(e, "const int %s = %s;", name, value);
}

void emit_operands(Emit *e, const NodeLevels *w, uint32_t level) {
  const PlanNode *x = w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    const PlanWire *wire = &e->p->wire.at[x->in[k].wire];
    if (operand_checked(e->p, &x->in[k]) && w->test_level[k] == level)
      emit_int(e, arena_format(e->p->arena, "g%u_%u", w->id, k), emit_bounds_test(e, w, &x->in[k]));
    if (wire->base == BASE_LABEL && w->load_level[k] == level)
      emit_int(e, arena_format(e->p->arena, "a%u_%u", w->id, k), emit_load(e, w, k));
  }
}

// Scalar i is x - y, where y is an operand of lower rank than the node: one y for a row of x.
static bool subtracts_row_value(const Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn != FN_sub || w->uniform[i]) return false;
  const Scalar *y = &w->x->scalar[s->arg[1]];
  return y->fn == FN_ARG && e->p->wire.at[w->x->in[y->ref].wire].rank < w->x->nindex;
}

// Scalar i compares a loop's index with a label. On a GPU they are compared as integers: conversions to
// float use the special function units, of which there are few.
static bool compares_label(const Emit *e, const NodeLevels *w, uint32_t i, const Scalar **at,
                           uint32_t *label) {
  const PlanNode *x = w->x;
  const Scalar *s = &x->scalar[i];
  if (!e->lanes || s->fn != FN_eq || w->uniform[i]) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Scalar *number = &x->scalar[s->arg[1 - k]];
    *at = &x->scalar[s->arg[k]];
    *label = number->arg[0];
    if ((*at)->fn == FN_AT && (*at)->base == BASE_R && number->fn == FN_number &&
        x->scalar[*label].fn == FN_ARG &&
        e->p->wire.at[x->in[x->scalar[*label].ref].wire].base == BASE_LABEL)
      return true;
  }
  return false;
}

static void emit_scalar_value(Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  const char *type = w->uniform[i] ? "double" : base_text(s->base), *name = scalar_name(e, w, i);
  const char *cast = w->uniform[i] ? "" : arena_format(e->p->arena, "(%s)", type);
  switch (s->fn) {
  case FN_CONST: return;
  case FN_ARG:
    if (e->p->wire.at[w->x->in[s->ref].wire].base == BASE_LABEL)
      emit_line(e, "const int %s = a%u_%u;", name, w->id, s->ref);
    else
      emit_line(e, "const %s %s = %s%s;", type, name, cast, emit_load(e, w, s->ref));
    return;
  case FN_AT: // on a GPU, converting a long to a float is many times slower than converting an int
    emit_line(e, "const %s %s = (%s)%si%u;", type, name, type,
              e->lanes && extent_most(e->p, w->x->index[s->ref]) <= INT32_MAX ? "(int)" : "",
              w->x->var[s->ref]);
    return;
  case FN_SIZE:
    emit_line(e, "const %s %s = (%s)%s;", type, name, type,
              emit_extent(e, plan_extent(e->p, s->ref)));
    return;
  default: break;
  }
  const Scalar *at;
  uint32_t label;
  if (compares_label(e, w, i, &at, &label)) {
    emit_line(e, "const int %s = i%u == %s;", name, w->x->var[at->ref], scalar_name(e, w, label));
    return;
  }
  const char *a[3] = {"0", "0", "0"};
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) a[k] = emit_argument(e, w, s->arg[k], i);
  const Scalar *base = &w->x->scalar[s->arg[0]];
  if (s->fn == FN_pow && w->uniform[i] && base->fn == FN_CONST &&
      base->k > 0) { // b^t, the decay of a rate
    emit_line(e, "const double %s = double_exp(%s * %s);", name, a[1],
              emit_constant(e, log(base->k), true));
    return;
  }
  if (divides_by_invariant(w, i)) {
    const Scalar *d = &w->x->scalar[s->arg[1]];
    if (d->fn == FN_CONST)
      emit_line(e, "const real %s = %s * (real)(1.0 / %s);", name, a[0],
                emit_constant(e, d->k, true));
    else
      emit_line(e, "const real %s = %s * r%u_%u;", name, a[0], w->id, s->arg[1]);
    return;
  }
  if (e->lanes && w->x->exact && w->x->exact[i] && !w->uniform[i]) {
    emit_line(e, "const real %s = real_quotient(%s, %s);", name, a[0], a[1]);
    return;
  }
  if (selects_by_invariant(w, i)) a[0] = arena_format(e->p->arena, "c%u_%u != 0", w->id, s->arg[0]);
  if (s->fn == FN_exp && e->exp_less && subtracts_row_value(e, w, s->arg[0])) {
    const Scalar *less = &w->x->scalar[s->arg[0]];
    emit_line(e, "const real %s = limn_exp_less(%s, %s);", name,
              emit_argument(e, w, less->arg[0], i), emit_argument(e, w, less->arg[1], i));
    return;
  }
  Buf call = buf_new(e->p->arena);
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++)
    buf_printf(&call, "%s%s", k ? ", " : "", a[k]);
  const char *front = w->uniform[i] ? "op_wide" : "op";
  emit_line(e, "const %s %s = %s%s_%s(%s);", type, name,
            s->fn == FN_number || s->base != BASE_R ? cast : "", front, fn_rows[s->fn].name,
            call.at);
}

uint32_t emit_flops(const PlanNode *x, const bool *but) {
  uint32_t work = 0;
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (!but || !but[i]) work += fn_rows[x->scalar[i].fn].flops;
  return work;
}

// Prints a scalar, and its inverse if an inner loop divides by it. If an inner loop selects by it, also
// prints it as a real: from several related bits a compiler makes branches, and the loop is not vectorised.
void emit_scalar(Emit *e, const NodeLevels *w, uint32_t i) {
  bool divides = false, chooses = false;
  emit_scalar_value(e, w, i);
  for (uint32_t k = i + 1; w->x->scalar[i].fn != FN_CONST && k < w->x->nscalar; k++) {
    divides |= w->x->scalar[k].arg[1] == i && divides_by_invariant(w, k);
    chooses |= w->x->scalar[k].arg[0] == i && selects_by_invariant(w, k);
  }
  const char *name = scalar_name(e, w, i);
  if (divides) emit_line(e, "const real r%u_%u = (real)(1 / %s);", w->id, i, name);
  if (chooses) emit_line(e, "const real c%u_%u = (real)%s;", w->id, i, name);
}
