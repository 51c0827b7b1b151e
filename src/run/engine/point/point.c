// A kernel's text, below its loops: names, constants, addresses, tests, loads and scalars. Whoever
// writes the loops around, for a CPU or for a GPU, decides at which of them each thing stands
// (loop_levels.c); what stands there is the same.
#include "run/engine/point/point.h"

#include <math.h>

void emit_line(Emit *e, const char *format, ...) {
  va_list args;
  for (uint32_t i = 0; i < e->indent; i++) buf_text(e->b, "  ");
  va_start(args, format);
  buf_vprintf(e->b, format, args);
  va_end(args);
  buf_char(e->b, '\n');
}

// The lines up to the matching `close` stand inside.
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

// for (long i3 = 0; i3 < n; i3++) {
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

// What a pointer points at. In a text that stands for itself all memory is one array of the
// caller's, whose bytes are now floats and then labels: these types may lie where others do.
const char *emit_cell(const Emit *e, Number n) {
  static const char *const text[] = {[NUMBER_F32] = "FloatCell",
                                     [NUMBER_F64] = "DoubleCell",
                                     [NUMBER_I32] = "LabelCell",
                                     [NUMBER_U8] = "unsigned char"};
  return e->alone ? text[n] : emit_number(n);
}

const char *emit_extent(Emit *e, Extent x) {
  if (x.part) return "rows";
  if (e->full) x = (Extent){.c = extent_most(e->p, x)};
  if (!x.per) return arena_format(e->p->arena, "%lldL", (long long)x.c);
  return arena_format(e->p->arena, "(%lldL * c->n + %lldL)", (long long)x.per, (long long)x.c);
}

// A constant of the kernel's precision.
const char *emit_constant(Emit *e, double k, bool wide) {
  if (isnan(k)) return wide ? "double_unknown" : "((real)double_unknown)";
  if (isinf(k)) return k < 0 ? "(-(real)double_infinite)" : "((real)double_infinite)";
  if (!wide) k = real_constant(e->p, k);
  return arena_format(e->p->arena, "(%s%a)", wide ? "" : "(real)", k);
}

// The same of a scalar, which may be a label or a bit.
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

// The cell of an access, in cells from the wire's pointer.
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

// The same, in its memory.
const char *emit_cell_at(Emit *e, const NodeLevels *w, const Operand *o) {
  return arena_format(e->p->arena, "w%u[%s]", e->slot[o->wire], address_text(e, w, o));
}

// How the innermost loop moves a coordinate; NULL: not at all.
const PlanTerm *emit_inner_term(const Emit *e, const NodeLevels *w, const PlanCoord *c) {
  uint32_t last = e->k->np + e->k->nest.at[w->nest].ndim - 1;
  for (uint32_t k = 0; k < c->n; k++)
    if (!c->term[k].operand && w->x->var[c->term[k].var] == last) return &c->term[k];
  return NULL;
}

const char *emit_test(Emit *e, const NodeLevels *w, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  const PlanWire *x = &e->p->wire.at[o->wire];
  buf_char(&b, '1');
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!o->coord[i].check) continue;
    if (e->stretch && emit_inner_term(e, w, &o->coord[i])) {
      if (e->stretch == STRETCH_OUTSIDE) return "0";
      continue;
    }
    buf_text(&b, " & ((unsigned long)(");
    emit_coord(e, w, &o->coord[i], &b);
    buf_printf(&b, ") < (unsigned long)%s)", emit_extent(e, x->shape[i]));
  }
  return b.at;
}

// -- pointers -------------------------------------------------------------------------------------
// How the positions of scans move a wire.
const char *emit_moves(Emit *e, uint32_t wire) {
  const Plan *p = e->p;
  Buf b = buf_new(p->arena);
  for (; p->wire.at[wire].of != PLAN_NONE; wire = p->wire.at[wire].of)
    if (p->wire.at[wire].moves)
      buf_printf(&b, " + %lldL * c->at[%u]", (long long)p->wire.at[wire].move,
                 p->wire.at[wire].depth);
  return b.at;
}

// -- scalars --------------------------------------------------------------------------------------
static const char *scalar_name(Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn == FN_CONST) return scalar_constant(e, s, w->same[i]);
  return arena_format(e->p->arena, "t%u_%u", w->id, i);
}

// As an argument of scalar `of`: narrowed when it is the same everywhere and `of` is not.
const char *emit_argument(Emit *e, const NodeLevels *w, uint32_t i, uint32_t of) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn == FN_CONST) return scalar_constant(e, s, w->same[of]);
  if (w->same[i] && !w->same[of] && s->base == BASE_R)
    return arena_format(e->p->arena, "((real)%s)", scalar_name(e, w, i));
  return scalar_name(e, w, i);
}

// The cell of an access in a copy whose axes are the loops, the innermost last; and how many cells
// there are.
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

void emit_packs(Emit *e, const NodeLevels *w) {
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
  if (maker_here(e->p, e->k, w, o->wire, &node))
    return arena_format(a, "(%s)v%u", base, kernel_place(e->k, node));
  if (w->early[k])
    return arena_format(a, e->read ? "read.early%u_%u" : "early%u_%u[row]", w->id, k);
  if (w->packed[k] && e->fours) return arena_format(a, "p%u_%u[u]", w->id, k);
  if (w->packed[k]) return arena_format(a, "p%u_%u[%s]", w->id, k, pack_text(e, w, o, NULL));
  const char *cell = emit_cell_at(e, w, o);
  if (e->p->wire.at[o->wire].number == NUMBER_BF16) cell = arena_format(a, "limn_widen(%s)", cell);
  if (!operand_checked(e->p, o)) return cell;
  const char *other = o->padded ? emit_constant(e, o->pad, false) : "0";
  return arena_format(a, "(g%u_%u ? (%s)%s : (%s)%s)", w->id, k, base, cell, base, other);
}

// A label or a test. Where others read the text, what no node reads after all is said to be so.
static void emit_known(Emit *e, const char *name, const char *value) {
  if (e->alone)
    emit_line(e, "const int %s = %s; (void)%s;", name, value, name);
  else
    emit_line(e, "const int %s = %s;", name, value);
}

void emit_operands(Emit *e, const NodeLevels *w, uint32_t level) {
  const PlanNode *x = w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    const PlanWire *wire = &e->p->wire.at[x->in[k].wire];
    if (operand_checked(e->p, &x->in[k]) && w->test[k] == level)
      emit_known(e, arena_format(e->p->arena, "g%u_%u", w->id, k), emit_test(e, w, &x->in[k]));
    if (wire->base == BASE_LABEL && w->load[k] == level)
      emit_known(e, arena_format(e->p->arena, "a%u_%u", w->id, k), emit_load(e, w, k));
  }
}

// x - y, where y has not all of the node's loops.
static bool less_by_row(const Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn != FN_sub || w->same[i]) return false;
  const Scalar *y = &w->x->scalar[s->arg[1]];
  return y->fn == FN_ARG && e->p->wire.at[w->x->in[y->ref].wire].rank < w->x->nindex;
}

// Is it a loop's position == a label? Lanes compare them as the whole numbers they are, which need not become reals: those are
// made by the few units that also make exponentials.
static bool is_label_here(const Emit *e, const NodeLevels *w, uint32_t i, const Scalar **at,
                          uint32_t *label) {
  const PlanNode *x = w->x;
  const Scalar *s = &x->scalar[i];
  if (!e->lanes || s->fn != FN_eq || w->same[i]) return false;
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

static void emit_one_scalar(Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  const char *type = w->same[i] ? "double" : base_text(s->base), *name = scalar_name(e, w, i);
  const char *cast = w->same[i] ? "" : arena_format(e->p->arena, "(%s)", type);
  switch (s->fn) {
  case FN_CONST: return;
  case FN_ARG:
    if (e->p->wire.at[w->x->in[s->ref].wire].base == BASE_LABEL)
      emit_line(e, "const int %s = a%u_%u;", name, w->id, s->ref);
    else
      emit_line(e, "const %s %s = %s%s;", type, name, cast, emit_load(e, w, s->ref));
    return;
  case FN_AT: // on a GPU a long takes many times as long to become a real as an int
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
  if (is_label_here(e, w, i, &at, &label)) {
    emit_line(e, "const int %s = i%u == %s;", name, w->x->var[at->ref], scalar_name(e, w, label));
    return;
  }
  const char *a[3] = {"0", "0", "0"};
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) a[k] = emit_argument(e, w, s->arg[k], i);
  const Scalar *base = &w->x->scalar[s->arg[0]];
  if (s->fn == FN_pow && w->same[i] && base->fn == FN_CONST && base->k > 0) { // a rate's decay: b^t
    emit_line(e, "const double %s = double_exp(%s * %s);", name, a[1],
              emit_constant(e, log(base->k), true));
    return;
  }
  if (divides_by_fixed(w, i)) {
    const Scalar *d = &w->x->scalar[s->arg[1]];
    if (d->fn == FN_CONST)
      emit_line(e, "const real %s = %s * (real)(1.0 / %s);", name, a[0],
                emit_constant(e, d->k, true));
    else
      emit_line(e, "const real %s = %s * r%u_%u;", name, a[0], w->id, s->arg[1]);
    return;
  }
  if (chooses_by_fixed(w, i)) a[0] = arena_format(e->p->arena, "c%u_%u != 0", w->id, s->arg[0]);
  if (s->fn == FN_exp && e->exp_less && less_by_row(e, w, s->arg[0])) {
    const Scalar *less = &w->x->scalar[s->arg[0]];
    emit_line(e, "const real %s = limn_exp_less(%s, %s);", name,
              emit_argument(e, w, less->arg[0], i), emit_argument(e, w, less->arg[1], i));
    return;
  }
  Buf call = buf_new(e->p->arena);
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++)
    buf_printf(&call, "%s%s", k ? ", " : "", a[k]);
  const char *front = w->same[i] ? "op_wide" : "op";
  emit_line(e, "const %s %s = %s%s_%s(%s);", type, name,
            s->fn == FN_number || s->base != BASE_R ? cast : "", front, fn_rows[s->fn].name,
            call.at);
}

uint32_t emit_work(const PlanNode *x, const bool *but) {
  uint32_t work = 0;
  for (uint32_t i = 0; i < x->nscalar; i++)
    if (!but || !but[i]) work += fn_rows[x->scalar[i].fn].flops;
  return work;
}

// A scalar; its inverse if inner loops divide by it; if they choose by it, the same as a number:
// knowing how several bits depend on each other, a compiler makes branches of the choices, and the
// loop stays scalar.
void emit_scalar(Emit *e, const NodeLevels *w, uint32_t i) {
  bool divides = false, chooses = false;
  emit_one_scalar(e, w, i);
  for (uint32_t k = i + 1; w->x->scalar[i].fn != FN_CONST && k < w->x->nscalar; k++) {
    divides |= w->x->scalar[k].arg[1] == i && divides_by_fixed(w, k);
    chooses |= w->x->scalar[k].arg[0] == i && chooses_by_fixed(w, k);
  }
  const char *name = scalar_name(e, w, i);
  if (divides) emit_line(e, "const real r%u_%u = (real)(1 / %s);", w->id, i, name);
  if (chooses) emit_line(e, "const real c%u_%u = (real)%s;", w->id, i, name);
}
