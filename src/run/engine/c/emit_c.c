// Kernels as C without headers. In front stands the prelude (scalar functions, noise); then one
// function for each kernel of loops:
//
//   void limn_k3(const Context *c, char **w, long low, long high, char *s) {
//     for (long q = low; q < high; q++) {              the divided parallel loops
//       long i0 = q / 64, i1 = q % 64;
//       for (long i2 = 0; i2 < 8; i2++) {              the other parallel loops
//         …                                            nest after nest
//
// Inside a nest every load, test and scalar stands at the outermost loop at which its variables are
// known, so that what does not change in the inner loop is computed outside of it. Memory comes in
// as a table of pointers, so kernels that do the same on other memory (the blocks of a deep
// network) share one function. The innermost loop is marked as free of dependences. Numbers that
// are the same at every point (rates, counters) are computed in double, in front.
#include "run/engine/c/emit_own.h"

#include <math.h>

enum { LONG_SUM = 4096 };

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

static void open_range(Emit *e, uint32_t v, const char *from, const char *to) {
  emit_line(e, "for (long i%u = %s; i%u < %s; i%u++) {", v, from, v, to, v);
  e->indent++;
}

// -- small texts ----------------------------------------------------------------------------------
static const char *text_of_number(Number n) {
  static const char *const text[] = {[NUMBER_F32] = "float",
                                     [NUMBER_F64] = "double",
                                     [NUMBER_I32] = "int",
                                     [NUMBER_U8] = "unsigned char"};
  return text[n];
}

// What a pointer points at. In a text that stands for itself all memory is one array of the
// caller's, whose bytes are now floats and then labels: these types may lie where others do.
const char *emit_cell(const Emit *e, Number n) {
  static const char *const text[] = {[NUMBER_F32] = "FloatCell",
                                     [NUMBER_F64] = "DoubleCell",
                                     [NUMBER_I32] = "LabelCell",
                                     [NUMBER_U8] = "unsigned char"};
  return e->alone ? text[n] : text_of_number(n);
}

const char *emit_extent(Emit *e, Extent x) {
  if (x.part) return "rows";
  if (e->full) x = (Extent){.c = extent_most(e->p, x)};
  if (!x.per) return arena_format(e->p->arena, "%lldL", (long long)x.c);
  return arena_format(e->p->arena, "(%lldL * c->n + %lldL)", (long long)x.per, (long long)x.c);
}

// A constant of the kernel's precision.
static const char *constant_text(Emit *e, double k, bool wide) {
  if (isnan(k)) return wide ? "__builtin_nan(\"\")" : "((real)__builtin_nan(\"\"))";
  if (isinf(k)) return k < 0 ? "(-(real)__builtin_inf())" : "((real)__builtin_inf())";
  if (!wide) k = real_constant(e->p, k);
  return arena_format(e->p->arena, "(%s%a)", wide ? "" : "(real)", k);
}

// The same of a scalar, which may be a label or a bit.
static const char *scalar_constant(Emit *e, const Scalar *s, bool wide) {
  if (s->base != BASE_R) return arena_format(e->p->arena, "%lld", (long long)s->k);
  return constant_text(e, s->k, wide);
}

static const char *base_text(Base b) { return b == BASE_R ? "real" : "int"; }

// -- variables and addresses ----------------------------------------------------------------------
static const char *term_name(const Emit *e, const NodeLevels *w, const PlanTerm *t) {
  if (t->operand) return arena_format(e->p->arena, "a%u_%u", w->id, t->var);
  return arena_format(e->p->arena, "i%u", w->x->var[t->var]);
}

static void coord_text(Emit *e, const NodeLevels *w, const PlanCoord *c, Buf *b) {
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
static const char *cell_text(Emit *e, const NodeLevels *w, const Operand *o) {
  return arena_format(e->p->arena, "w%u[%s]", e->slot[o->wire], address_text(e, w, o));
}

// How the innermost loop moves a coordinate; NULL: not at all.
static const PlanTerm *inner_term(const Emit *e, const NodeLevels *w, const PlanCoord *c) {
  uint32_t last = e->k->np + e->k->nest.at[w->nest].ndim - 1;
  for (uint32_t k = 0; k < c->n; k++)
    if (!c->term[k].operand && w->x->var[c->term[k].var] == last) return &c->term[k];
  return NULL;
}

static const char *test_text(Emit *e, const NodeLevels *w, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  const PlanWire *x = &e->p->wire.at[o->wire];
  buf_char(&b, '1');
  for (uint32_t i = 0; i < x->rank; i++) {
    if (!o->coord[i].check) continue;
    if (e->stretch && inner_term(e, w, &o->coord[i])) {
      if (e->stretch == STRETCH_OUTSIDE) return "0";
      continue;
    }
    buf_text(&b, " & ((unsigned long)(");
    coord_text(e, w, &o->coord[i], &b);
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

// Where a wire's memory begins: equal for wires that share it.
static uint64_t memory_of(const Plan *p, uint32_t wire) {
  const PlanWire *r = &p->wire.at[wire_root(p, wire)];
  return (uint64_t)r->place << 56 |
         (r->place == AT_STATE || r->place == AT_INPUT ? r->number_of : (uint64_t)r->at);
}

// No other wire of the kernel lies in the same memory.
static bool is_alone(const Emit *e, uint32_t wire) {
  uint64_t own = memory_of(e->p, wire);
  for (uint32_t i = 0; i < e->k->node.n; i++) {
    const PlanNode *x = &e->p->node.at[e->k->node.at[i]];
    for (uint32_t k = 0; k < node_wires(x); k++) {
      uint32_t other = node_wire(x, k);
      if (other != PLAN_NONE && other != wire && memory_of(e->p, other) == own) return false;
    }
  }
  return true;
}

// -- scalars --------------------------------------------------------------------------------------
static const char *scalar_name(Emit *e, const NodeLevels *w, uint32_t i) {
  const Scalar *s = &w->x->scalar[i];
  if (s->fn == FN_CONST) return scalar_constant(e, s, w->same[i]);
  return arena_format(e->p->arena, "t%u_%u", w->id, i);
}

// As an argument of scalar `of`: narrowed when it is the same everywhere and `of` is not.
static const char *argument(Emit *e, const NodeLevels *w, uint32_t i, uint32_t of) {
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
      if (x->var[i] != e->k->np + d || !operand_has(e->p, o, i)) continue;
      buf_printf(&b, " + %lldL * i%u", (long long)size, x->var[i]);
      size *= s->dim[d].c;
    }
  if (cells) *cells = size;
  return b.at;
}

static void emit_packs(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    if (!w->packed[k]) continue;
    const Operand *o = &x->in[k];
    int64_t cells;
    const char *to = pack_text(e, w, o, &cells);
    emit_line(e, "%s p%u_%u[%lld];", text_of_number(e->p->wire.at[o->wire].number), w->id, k,
              (long long)cells);
    for (uint32_t i = 0; i < x->nindex; i++)
      if (operand_has(e->p, o, i))
        emit_line(e, "for (long i%u = 0; i%u < %s; i%u++)", x->var[i], x->var[i],
                  emit_extent(e, x->index[i]), x->var[i]);
    emit_line(e, "  p%u_%u[%s] = %s;", w->id, k, to, cell_text(e, w, o));
  }
}

static const char *load_text(Emit *e, const NodeLevels *w, uint32_t k) {
  const Operand *o = &w->x->in[k];
  uint32_t node;
  Arena *a = e->p->arena;
  const char *base = base_text(e->p->wire.at[o->wire].base);
  if (maker_here(e->p, e->k, w, o->wire, &node))
    return arena_format(a, "(%s)v%u", base, kernel_place(e->k, node));
  if (w->packed[k]) return arena_format(a, "p%u_%u[%s]", w->id, k, pack_text(e, w, o, NULL));
  const char *cell = cell_text(e, w, o);
  if (!operand_checked(e->p, o)) return cell;
  const char *other = o->padded ? constant_text(e, o->pad, false) : "0";
  return arena_format(a, "(g%u_%u ? (%s)%s : (%s)%s)", w->id, k, base, cell, base, other);
}

// A label or a test. Where others read the text, what no node reads after all is said to be so.
static void emit_known(Emit *e, const char *name, const char *value) {
  if (e->alone)
    emit_line(e, "const int %s = %s; (void)%s;", name, value, name);
  else
    emit_line(e, "const int %s = %s;", name, value);
}

static void emit_operands(Emit *e, const NodeLevels *w, uint32_t level) {
  const PlanNode *x = w->x;
  for (uint32_t k = 0; k < x->nin; k++) {
    const PlanWire *wire = &e->p->wire.at[x->in[k].wire];
    if (operand_checked(e->p, &x->in[k]) && w->test[k] == level)
      emit_known(e, arena_format(e->p->arena, "g%u_%u", w->id, k), test_text(e, w, &x->in[k]));
    if (wire->base == BASE_LABEL && w->load[k] == level)
      emit_known(e, arena_format(e->p->arena, "a%u_%u", w->id, k), load_text(e, w, k));
  }
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
      emit_line(e, "const %s %s = %s%s;", type, name, cast, load_text(e, w, s->ref));
    return;
  case FN_AT: emit_line(e, "const %s %s = (%s)i%u;", type, name, type, w->x->var[s->ref]); return;
  case FN_SIZE:
    emit_line(e, "const %s %s = (%s)%s;", type, name, type,
              emit_extent(e, plan_extent(e->p, s->ref)));
    return;
  default: break;
  }
  const char *a[3] = {"0", "0", "0"};
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) a[k] = argument(e, w, s->arg[k], i);
  const Scalar *base = &w->x->scalar[s->arg[0]];
  if (s->fn == FN_pow && w->same[i] && base->fn == FN_CONST && base->k > 0) { // a rate's decay: b^t
    emit_line(e, "const double %s = double_exp(%s * %s);", name, a[1],
              constant_text(e, log(base->k), true));
    return;
  }
  if (divides_by_fixed(w, i)) {
    const Scalar *d = &w->x->scalar[s->arg[1]];
    if (d->fn == FN_CONST)
      emit_line(e, "const real %s = %s * (real)(1.0 / %s);", name, a[0],
                constant_text(e, d->k, true));
    else
      emit_line(e, "const real %s = %s * r%u_%u;", name, a[0], w->id, s->arg[1]);
    return;
  }
  if (chooses_by_fixed(w, i)) a[0] = arena_format(e->p->arena, "c%u_%u != 0", w->id, s->arg[0]);
  Buf call = buf_new(e->p->arena);
  for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++)
    buf_printf(&call, "%s%s", k ? ", " : "", a[k]);
  emit_line(e, "const %s %s = %s%s_%s(%s);", type, name,
            s->fn == FN_number || s->base != BASE_R ? cast : "", w->same[i] ? "op_wide" : "op",
            fn_rows[s->fn].name, call.at);
}

// A scalar; its inverse if inner loops divide by it; if they choose by it, the same as a number:
// knowing how several bits depend on each other, a compiler makes branches of the choices, and the
// loop stays scalar.
static void emit_scalar(Emit *e, const NodeLevels *w, uint32_t i) {
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

// -- sums -----------------------------------------------------------------------------------------
static const char *identity_text(Emit *e, const PlanNode *x) {
  static const char *const text[2][4] = {
      {"0", "1", "(-(real)__builtin_inf())", "((real)__builtin_inf())"}, {"0", "1", "0", "1"}};
  return text[e->p->wire.at[x->out.wire].base == BASE_BIT][x->combine];
}

// Long sums without axes are kept in double.
static const char *sum_type(const Emit *e, const PlanNode *x) {
  const PlanWire *w = &e->p->wire.at[x->out.wire];
  double points = 1;
  for (uint32_t i = 0; i < x->nindex; i++) points *= (double)extent_most(e->p, x->index[i]);
  if (w->base != BASE_R) return "int";
  return w->number == NUMBER_F64 && points > LONG_SUM ? "double" : "real";
}

// ⊕ of numbers and of bits, in the order of Combine
static const char *const combine_text[2][4] = {{"+", "*", "max", "min"}, {"^", "&", "|", "&"}};

// acc ⊕= v
static void emit_combine(Emit *e, const PlanNode *x, const char *acc, const char *v) {
  bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT, chosen = x->combine >= MAX && !bit;
  const char *op = chosen ? x->combine == MAX ? ">" : "<" : combine_text[bit][x->combine];
  if (chosen)
    emit_line(e, "%s = %s %s %s ? %s : %s;", acc, v, op, acc, v, acc);
  else if (e->p->wire.at[x->out.wire].number == NUMBER_U8)
    emit_line(e, "%s = (unsigned char)(%s %s %s);", acc, acc, op, v);
  else
    emit_line(e, "%s %s= %s;", acc, op, v);
}

static const char *winner_cell(Emit *e, const NodeLevels *w,
                               uint32_t k) { // winners have the output's shape
  Operand o = w->x->out;
  o.wire = w->x->winner[k];
  return cell_text(e, w, &o);
}

static void emit_best(Emit *e, const NodeLevels *w, const char *acc, const char *v, bool in_memory,
                      const char *place) {
  const PlanNode *x = w->x;
  const char *op = x->combine == MAX ? ">" : "<";
  emit_line(e, "const int b%u = (%s %s %s) | ((%s != %s) & (%s == %s));", w->id, v, op, acc, v, v,
            acc, acc);
  emit_line(e, "%s = b%u ? %s : %s;", acc, w->id, v, acc);
  for (uint32_t k = 0; k < x->nwinner; k++) {
    if (x->winner[k] == PLAN_NONE) continue;
    const char *cell =
        in_memory ? winner_cell(e, w, k) : arena_format(e->p->arena, "n%u_%u%s", w->id, k, place);
    emit_line(e, "%s = b%u ? (int)i%u : %s;", cell, w->id, x->var[node_reduced(x, k)], cell);
  }
}

static void open_sum(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  emit_line(e, "%s s%u = %s;", sum_type(e, x), w->id, identity_text(e, x));
  if (x->nwinner && !node_wants_winner(x)) emit_line(e, "int bad%u = 0;", w->id);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "int n%u_%u = 0;", w->id, k);
}

static void close_sum(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  if (x->nwinner && !node_wants_winner(x))
    emit_line(e, "if (bad%u) s%u = (real)__builtin_nan(\"\");", w->id, w->id);
  emit_line(e, "%s = (%s)s%u;", cell_text(e, w, &x->out),
            text_of_number(e->p->wire.at[x->out.wire].number), w->id);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "%s = n%u_%u;", winner_cell(e, w, k), w->id, k);
}

static void open_row(Emit *e, const NodeLevels *w, uint32_t last, int64_t n) {
  const PlanNode *x = w->x;
  emit_line(e, "%s s%u[%lld];", sum_type(e, x), w->id, (long long)n);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "int n%u_%u[%lld];", w->id, k, (long long)n);
  emit_line(e, "for (long i%u = 0; i%u < %lldL; i%u++) {", last, last, (long long)n, last);
  emit_line(e, "  s%u[i%u] = %s;", w->id, last, identity_text(e, x));
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "  n%u_%u[i%u] = 0;", w->id, k, last);
  emit_line(e, "}");
}

static void close_row(Emit *e, const NodeLevels *w, uint32_t last, int64_t n) {
  const PlanNode *x = w->x;
  emit_line(e, "for (long i%u = 0; i%u < %lldL; i%u++) {", last, last, (long long)n, last);
  emit_line(e, "  %s = (%s)s%u[i%u];", cell_text(e, w, &x->out),
            text_of_number(e->p->wire.at[x->out.wire].number), w->id, last);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE)
      emit_line(e, "  %s = n%u_%u[i%u];", winner_cell(e, w, k), w->id, k, last);
  emit_line(e, "}");
}

// -- one node at the innermost point --------------------------------------------------------------
// Noise whose last axis is the innermost loop is made a row at a time, four numbers from each block
// of bits; alone, each would take a block.
static bool noise_in_rows(const Emit *e, const NodeLevels *w) {
  enum { SHORT = 32, LONG = 1024 };
  const Nest *s = &e->k->nest.at[w->nest];
  const PlanWire *wire = &e->p->wire.at[w->x->out.wire];
  if (!w->x->noise || !wire->rank || !s->ndim || (e->k->ranged && s->ndim == 1)) return false;
  Extent row = s->dim[s->ndim - 1];
  return w->x->var[wire->rank - 1] == e->k->np + s->ndim - 1 && !row.per && row.c >= SHORT &&
         row.c <= LONG && row.c % 4 == 0;
}

// Which kind, and where: the element's number at the actual lengths, or that of its row's first.
static const char *noise_arguments(Emit *e, const NodeLevels *w, bool first) {
  const PlanNode *x = w->x;
  const PlanWire *wire = &e->p->wire.at[x->out.wire];
  const char *at = "0";
  for (uint32_t i = 0; i < wire->rank; i++) { // Horner
    const char *index = arena_format(e->p->arena, "i%u", x->var[i]);
    if (first && i + 1 == wire->rank) index = "0L";
    at = i ? arena_format(e->p->arena, "(%s) * %s + %s", at, emit_extent(e, wire->shape[i]), index)
           : index;
  }
  const char *step = e->p->ticks && w->x->depth ? "(Bits64)0" : "c->step";
  return arena_format(e->p->arena, "c->seed, %s, site%u, (Bits64)(%s)", step, w->id, at);
}

static const char *noise_text(Emit *e, const NodeLevels *w) {
  const char *kind = w->x->noise->noise == NOISE_NORMAL ? "normal" : "uniform";
  uint32_t last = e->k->np + e->k->nest.at[w->nest].ndim - 1;
  if (noise_in_rows(e, w)) return arena_format(e->p->arena, "z%u[i%u]", w->id, last);
  return arena_format(e->p->arena, "noise_%s_real(%s)", kind, noise_arguments(e, w, false));
}

static void emit_noise_row(Emit *e, const NodeLevels *w) {
  const Nest *s = &e->k->nest.at[w->nest];
  long long row = (long long)s->dim[s->ndim - 1].c;
  emit_line(e, "real z%u[%lld];", w->id, row);
  emit_line(e, "noise_%ss_real(%s, %lldL, z%u);",
            w->x->noise->noise == NOISE_NORMAL ? "normal" : "uniform", noise_arguments(e, w, true),
            row, w->id);
}

static void emit_site(Emit *e, const NodeLevels *w) {
  emit_line(e, "Bits64 site%u = %lluUL;", w->id, (unsigned long long)w->x->noise->site);
  for (uint32_t d = 0; d < w->x->depth; d++)
    emit_line(e, "site%u = noise_site(site%u, %s(Bits64)c->at[%u]);", w->id, w->id,
              e->p->ticks && !d ? "c->step + " : "", d);
}

// A sum of products takes one instruction for both.
static bool is_fused_sum(const Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  if (!x->nscalar || x->noise || w->tested || x->combine != SUM ||
      (w->reduce == PLAN_NONE && !x->scatter))
    return false;
  uint32_t last = x->nscalar - 1;
  return x->scalar[last].fn == FN_mul && !w->same[last] &&
         w->scalar[last] == e->k->nest.at[w->nest].ndim &&
         e->p->wire.at[x->out.wire].base == BASE_R;
}

static void emit_value(Emit *e, const NodeLevels *w) {
  if (is_fused_sum(e, w)) return;
  const PlanNode *x = w->x;
  const PlanWire *wire = &e->p->wire.at[x->out.wire];
  bool summed = w->reduce != PLAN_NONE && w->reduce <= e->k->nest.at[w->nest].ndim;
  const char *type = summed                       ? sum_type(e, x)
                     : wire->base != BASE_R       ? "int"
                     : wire->number == NUMBER_F64 ? "double"
                                                  : "real",
             *v;
  if (x->noise)
    v = noise_text(e, w);
  else
    v = argument(e, w, x->nscalar - 1, x->nscalar - 1);
  if (!x->noise && w->same[x->nscalar - 1] && strcmp(type, "double") != 0)
    v = arena_format(e->p->arena, "(%s)%s", type, v);
  if (!w->tested) {
    emit_line(e, "const %s v%u = %s;", type, w->id, v);
    return;
  }
  Buf ok = buf_new(e->p->arena);
  buf_char(&ok, '1');
  for (uint32_t k = 0; k < x->nin; k++)
    if (operand_checked(e->p, &x->in[k]) && !x->in[k].padded)
      buf_printf(&ok, " & g%u_%u", w->id, k);
  if (operand_checked(e->p, &x->out)) buf_printf(&ok, " & %s", test_text(e, w, &x->out));
  emit_line(e, "const int ok%u = %s;", w->id, ok.at);
  emit_line(e, "const %s v%u = ok%u ? %s : %s;", type, w->id, w->id, v, identity_text(e, x));
}

// wide: the sum is a double
static void emit_fused_sum(Emit *e, const NodeLevels *w, const char *acc, bool wide) {
  const Scalar *s = &w->x->scalar[w->x->nscalar - 1];
  uint32_t last = w->x->nscalar - 1;
  emit_line(e, "%s = %s_fma(%s, %s, %s);", acc, wide ? "double" : "real",
            argument(e, w, s->arg[0], last), argument(e, w, s->arg[1], last), acc);
}

static void emit_effect(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  const PlanWire *wire = &e->p->wire.at[x->out.wire];
  Arena *a = e->p->arena;
  const char *v = arena_format(a, "v%u", w->id), *number = text_of_number(wire->number);
  if (w->reduce != PLAN_NONE && w->reduce <= e->k->nest.at[w->nest].ndim) {
    const char *acc = arena_format(a, "s%u", w->id);
    if (is_fused_sum(e, w)) {
      emit_fused_sum(e, w, acc, strcmp(sum_type(e, x), "double") == 0);
      return;
    }
    if (node_wants_winner(x))
      emit_best(e, w, acc, v, false, "");
    else
      emit_combine(e, x, acc, v);
    if (x->nwinner && !node_wants_winner(x)) emit_line(e, "bad%u |= %s != %s;", w->id, v, v);
    return;
  }
  if (!wire_has_memory(wire)) return;
  const char *cell = cell_text(e, w, &x->out);
  const char *place = arena_format(a, "[i%u]", e->k->np + e->k->nest.at[w->nest].ndim - 1);
  if (w->row != PLAN_NONE) cell = arena_format(a, "s%u%s", w->id, place);
  if (w->reduce == PLAN_NONE && !x->scatter) {
    emit_line(e, "%s = (%s)v%u;", cell, number, w->id);
    return;
  }
  if (is_fused_sum(e, w)) {
    emit_fused_sum(e, w, cell,
                   w->row != PLAN_NONE ? strcmp(sum_type(e, x), "double") == 0
                                       : wire->number == NUMBER_F64);
    return;
  }
  if (operand_checked(e->p, &x->out)) emit_line(e, "if (ok%u)", w->id);
  emit_line(e, "{");
  if (x->nwinner && x->combine != SUM)
    emit_best(e, w, cell, v, w->row == PLAN_NONE, place);
  else
    emit_combine(e, x, cell, v);
  emit_line(e, "}");
}

// -- nests ----------------------------------------------------------------------------------------
// Cells of a wire shaped like the output hold a value before anything is added to them.
static void emit_fill_wire(Emit *e, const NodeLevels *w, uint32_t wire, const char *value) {
  const PlanNode *x = w->x;
  const PlanWire *to = &e->p->wire.at[wire];
  Buf at = buf_new(e->p->arena);
  uint32_t loops = 0, index;
  buf_char(&at, '0');
  for (uint32_t i = 0; i < to->rank; i++) {
    if (operand_plain(e->p, &x->out, i, &index) && x->var[index] < e->k->np) {
      buf_printf(&at, " + %lldL * i%u", (long long)to->stride[i], x->var[index]);
      continue;
    }
    Extent dim = to->shape[i];
    const PlanTerm *block = operand_block(e->p, e->k, x, &x->out, i, &dim);
    if (block)
      buf_printf(&at, " + %lldL * i%u", (long long)(to->stride[i] * block->coef),
                 x->var[block->var]);
    emit_open_loop(e, 'f', i, emit_extent(e, dim));
    loops++;
    buf_printf(&at, " + %lldL * f%u", (long long)to->stride[i], i);
  }
  emit_line(e, "w%u[%s] = %s;", e->slot[wire], at.at, value);
  emit_close_all(e, loops);
}

static void emit_fill(Emit *e, const NodeLevels *w) {
  emit_fill_wire(e, w, w->x->out.wire, identity_text(e, w->x));
  for (uint32_t k = 0; k < w->x->nwinner; k++)
    if (w->x->winner[k] != PLAN_NONE) emit_fill_wire(e, w, w->x->winner[k], "0");
}

static void emit_level(Emit *e, const NodeLevels *w, uint32_t n, uint32_t level, uint32_t ndim) {
  for (uint32_t i = 0; i < n; i++) {
    if (level == 0 && w[i].x->noise) emit_site(e, &w[i]);
    if (level + 1 == ndim && noise_in_rows(e, &w[i])) emit_noise_row(e, &w[i]);
    emit_operands(e, &w[i], level);
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].scalar[k] == level && !(w[i].same[k] && level == 0) &&
          !(k + 1 == w[i].x->nscalar && is_fused_sum(e, &w[i])))
        emit_scalar(e, &w[i], k);
    if (level == ndim) {
      emit_value(e, &w[i]);
      emit_effect(e, &w[i]);
    }
  }
}

static void emit_pragma(Emit *e, const NodeLevels *w, uint32_t n, uint32_t ndim) {
  Buf b = buf_new(e->p->arena);
  for (uint32_t i = 0; i < n; i++) {
    const PlanNode *x = w[i].x;
    if (x->scatter) { // two points may hit one cell, unless the innermost loop is an axis of it
      uint32_t index, last = PLAN_NONE;
      for (uint32_t k = 0; k < x->nindex; k++)
        if (x->var[k] == e->k->np + ndim - 1) last = k;
      bool plain = false;
      for (uint32_t a = 0; a < e->p->wire.at[x->out.wire].rank; a++)
        plain |= operand_plain(e->p, &x->out, a, &index) && index == last;
      if (!plain) return;
    }
    if (w[i].reduce == PLAN_NONE || w[i].reduce >= ndim) continue;
    if (node_wants_winner(x)) return;
    bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT;
    buf_printf(&b, " reduction(%s:s%u)", combine_text[bit][x->combine], w[i].id);
    if (x->nwinner) buf_printf(&b, " reduction(|:bad%u)", w[i].id);
  }
  emit_line(e, "#pragma omp simd%s", b.at);
}

// Where the innermost loop moves a coordinate by one place at a time, where it lies inside is one
// stretch of the loop: there nothing is asked, and the loop stays one of vectors.
typedef struct {
  Emit *e;
  const Nest *s;
  const NodeLevels *w; // [node]
  const char *from, *to;
} InnerLoop;

static bool moves_by_one(const Emit *e, const NodeLevels *w, const PlanCoord *c) {
  const PlanTerm *inner = inner_term(e, w, c);
  for (uint32_t k = 0; k < c->n; k++)
    if (c->term[k].operand || (&c->term[k] != inner && c->term[k].var == inner->var)) return false;
  return inner->coef == 1 || inner->coef == -1;
}

// The next coordinate that is asked at each point, behind those already seen.
typedef struct {
  uint32_t node, operand, axis;
} AskedAt;

static const PlanCoord *next_asked(const InnerLoop *l, AskedAt *at) {
  for (; at->node < l->s->node.n; at->node++, at->operand = 0) {
    const NodeLevels *w = &l->w[at->node];
    for (; at->operand < w->x->nin; at->operand++, at->axis = 0) {
      const Operand *o = &w->x->in[at->operand];
      while (at->axis < l->e->p->wire.at[o->wire].rank) {
        const PlanCoord *c = &o->coord[at->axis++];
        if (c->check && inner_term(l->e, w, c)) return c;
      }
    }
  }
  return NULL;
}

// How many are asked at each point, all by one such stretch; 0: some are not.
static uint32_t count_asked(const InnerLoop *l) {
  enum { SHORT = 32 };
  AskedAt at = {0};
  uint32_t n = 0;
  if (extent_most(l->e->p, l->s->dim[l->s->ndim - 1]) < SHORT) return 0;
  for (uint32_t i = 0; i < l->s->node.n; i++)
    if (l->w[i].x->scatter || (l->w[i].reduce != PLAN_NONE && l->w[i].reduce <= l->s->ndim))
      return 0;
  for (const PlanCoord *c; (c = next_asked(l, &at)); n++)
    if (!moves_by_one(l->e, &l->w[at.node], c)) return 0;
  return n;
}

// The ends of the stretch where a coordinate is inside: lo and hi come closer.
static void emit_bound(Emit *e, const NodeLevels *w, const PlanCoord *c, Extent size) {
  const PlanTerm *inner = inner_term(e, w, c);
  PlanCoord rest = *c;
  rest.term = NEW_ARRAY(e->p->arena, PlanTerm, c->n + 1);
  rest.n = 0;
  for (uint32_t k = 0; k < c->n; k++)
    if (&c->term[k] != inner) rest.term[rest.n++] = c->term[k];
  Buf b = buf_new(e->p->arena);
  coord_text(e, w, &rest, &b);
  const char *n = emit_extent(e, size);
  emit_open(e);
  emit_line(e, "const long x = %s;", b.at);
  if (inner->coef > 0)
    emit_line(e, "const long l = -x, h = %s - x;", n);
  else
    emit_line(e, "const long l = x - %s + 1, h = x + 1;", n);
  emit_line(e, "lo = l > lo ? l : lo; hi = h < hi ? h : hi;");
  emit_close(e);
}

static void emit_bounds(const InnerLoop *l) {
  Emit *e = l->e;
  AskedAt at = {0};
  emit_line(e, "long lo = %s, hi = %s;", l->from, l->to);
  for (const PlanCoord *c; (c = next_asked(l, &at));) {
    const NodeLevels *w = &l->w[at.node];
    const PlanWire *x = &e->p->wire.at[w->x->in[at.operand].wire];
    emit_bound(e, w, c, x->shape[at.axis - 1]);
  }
  emit_line(e, "lo = lo < %s ? lo : %s; hi = hi > lo ? hi : lo;", l->to, l->to);
}

static void emit_stretch(const InnerLoop *l, const char *from, const char *to, Stretch known) {
  Emit *e = l->e;
  uint32_t n = l->s->node.n, ndim = l->s->ndim;
  e->stretch = known;
  emit_pragma(e, l->w, n, ndim);
  open_range(e, e->k->np + ndim - 1, from, to);
  emit_level(e, l->w, n, ndim, ndim);
  emit_close(e);
  e->stretch = STRETCH_ANY;
}

static void emit_inner(const InnerLoop *l) {
  uint32_t asked = count_asked(l);
  if (!asked) {
    emit_stretch(l, l->from, l->to, STRETCH_ANY);
    return;
  }
  Stretch outer = asked == 1 ? STRETCH_OUTSIDE : STRETCH_ANY;
  emit_bounds(l);
  emit_stretch(l, l->from, "lo", outer);
  emit_stretch(l, "lo", "hi", STRETCH_INSIDE);
  emit_stretch(l, "hi", l->to, outer);
}

static void emit_nest(Emit *e, uint32_t nest) {
  const Nest *s = &e->k->nest.at[nest];
  uint32_t n = s->node.n;
  const NodeLevels *w = nest_work(e->p, e->k, nest);
  uint32_t last = e->k->np + s->ndim - 1; // the innermost loop
  emit_open(e);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < w[i].x->nscalar; k++)
      if (w[i].same[k]) emit_scalar(e, &w[i], k);
  for (uint32_t i = 0; i < n; i++) emit_packs(e, &w[i]);
  for (uint32_t i = 0; i < n; i++)
    if (w[i].x->scatter || (w[i].reduce == s->ndim + 1 && w[i].row == PLAN_NONE))
      emit_fill(e, &w[i]);
  for (uint32_t d = 0; d == 0 || d < s->ndim; d++) {
    for (uint32_t i = 0; i < n; i++)
      if (w[i].reduce == d && w[i].reduce <= s->ndim)
        open_sum(e, &w[i]);
      else if (w[i].row == d)
        open_row(e, &w[i], last, s->dim[s->ndim - 1].c);
    emit_level(e, w, n, d, s->ndim);
    if (d == s->ndim) break;
    bool ranged = e->k->ranged && d == 0;
    if (d + 1 == s->ndim)
      emit_inner(
          &(InnerLoop){e, s, w, ranged ? "low" : "0", ranged ? "high" : emit_extent(e, s->dim[d])});
    else if (ranged)
      open_range(e, e->k->np, "low", "high");
    else
      emit_open_loop(e, 'i', e->k->np + d, emit_extent(e, s->dim[d]));
  }
  for (uint32_t d = s->ndim; d-- > 0;) {
    if (d + 1 < s->ndim) emit_close(e);
    for (uint32_t i = 0; i < n; i++)
      if (w[i].reduce == d)
        close_sum(e, &w[i]);
      else if (w[i].row == d)
        close_row(e, &w[i], last, s->dim[s->ndim - 1].c);
  }
  if (!s->ndim)
    for (uint32_t i = 0; i < n; i++)
      if (w[i].reduce == 0) close_sum(e, &w[i]);
  emit_close(e);
}

// The corner of an operand of a small product: its address with all inner indices 0.
static const char *corner_text(Emit *e, const PlanNode *x, const Operand *o) {
  Buf b = buf_new(e->p->arena);
  buf_printf(&b, "w%u + %lldL", e->slot[o->wire], (long long)operand_start(e->p, o));
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->var[i] < e->k->np && operand_step(e->p, o, i))
      buf_printf(&b, " + %lldL * i%u", (long long)operand_step(e->p, o, i), x->var[i]);
  return b.at;
}

// How many points a group of indices has.
static const char *length_text(Emit *e, const PlanNode *x, const uint32_t *group, uint32_t n) {
  Buf b = buf_new(e->p->arena);
  int64_t known = 1;
  for (uint32_t i = 0; i < n; i++) {
    Extent length = x->index[group[i]];
    if (length.per || length.part)
      buf_printf(&b, "%s * ", emit_extent(e, length));
    else
      known *= length.c;
  }
  buf_printf(&b, "%lldL", (long long)known);
  return b.at;
}

static void emit_small(Emit *e, const PlanNode *x) {
  const Product *q = x->product;
  uint32_t extra = 0;
  for (uint32_t i = 0; i < q->nbatch; i++) { // batch indices that are not parallel loops
    uint32_t v = x->var[q->batch[i]];
    if (v < e->k->np) continue;
    emit_open_loop(e, 'i', v, emit_extent(e, x->index[q->batch[i]]));
    extra++;
  }
  Buf at[3];
  const Operand *o[3] = {&x->in[q->a], &x->in[q->b], &x->out};
  for (int s = 0; s < 3; s++) {
    at[s] = buf_new(e->p->arena);
    buf_text(&at[s], corner_text(e, x, o[s]));
    for (uint32_t i = 0; i < q->nbatch; i++)
      if (x->var[q->batch[i]] >= e->k->np)
        buf_printf(&at[s], " + %lldL * i%u", (long long)operand_step(e->p, o[s], q->batch[i]),
                   x->var[q->batch[i]]);
  }
  const char *add = "0";
  if (e->k->ordered && x->reduced[x->walk])
    add = arena_format(e->p->arena, "i%u > 0", e->k->np - 1);
  emit_line(e, "c->small(w[%u], %s, %s, %s, s + %lldL, %s, %s, %s, %s);", e->small++, at[0].at,
            at[1].at, at[2].at, (long long)e->k->tile_bytes, length_text(e, x, q->m, q->nm),
            length_text(e, x, q->n, q->nn), length_text(e, x, q->k, q->nk), add);
  emit_close_all(e, extra);
}

// -- kernels --------------------------------------------------------------------------------------
static void emit_pointers(Emit *e) {
  const Ids *slot = &e->now->slot;
  for (e->small = 0; e->small < slot->n && slot->at[e->small] < e->p->wire.n; e->small++) {
    uint32_t i = e->small;
    const PlanWire *w = &e->p->wire.at[slot->at[i]];
    const char *number = emit_cell(e, w->number);
    const char *mark = is_alone(e, slot->at[i]) ? "restrict " : "";
    e->slot[slot->at[i]] = i;
    if (e->held && e->held[slot->at[i]])
      emit_line(e, "%s *w%u = &m%u;", number, i, slot->at[i]);
    else if (w->place == AT_TILE)
      emit_line(e, "%s *%sw%u = (%s *)(s + %lldL);", number, mark, i, number, (long long)w->at);
    else
      emit_line(e, "%s *%sw%u = (%s *)w[%u]%s;", number, mark, i, number, i,
                emit_moves(e, slot->at[i]));
    if (e->alone) emit_line(e, "(void)w%u;", i); // a wire that only guards
  }
}

static void emit_divided(Emit *e) {
  const Kernel *k = e->k;
  emit_line(e, "for (long q = low; q < high; q++) {");
  e->indent++;
  emit_line(e, "long r = q;");
  for (uint32_t d = k->split; d-- > 0;) {
    if (d)
      emit_line(e, "const long i%u = r %% %s; r /= %s;", d, emit_extent(e, k->p[d]),
                emit_extent(e, k->p[d]));
    else
      emit_line(e, "const long i0 = r;");
  }
}

void emit_loops(Emit *e) {
  const Kernel *k = e->k;
  bool divided = !k->ranged && k->split;
  emit_pointers(e);
  if (divided) emit_divided(e);
  for (uint32_t d = k->split; d < k->np; d++) emit_open_loop(e, 'i', d, emit_extent(e, k->p[d]));
  if (k->block && k->walk.c % k->block)
    emit_line(e, "const long rows = i%u < %lldL ? %lldL : %lldL;", k->np - 1,
              (long long)(k->walk.c / k->block), (long long)k->block,
              (long long)(k->walk.c % k->block));
  for (uint32_t i = 0; i < k->nest.n; i++) {
    const PlanNode *x = &e->p->node.at[k->nest.at[i].node.at[0]];
    if (x->kind == NODE_PRODUCT)
      emit_small(e, x);
    else
      emit_nest(e, i);
  }
  emit_close_all(e, divided + k->np - k->split);
}

void emit_order(Emit *e) {
  const PlanNode *x = &e->p->node.at[e->k->node.at[0]];
  const PlanWire *in = &e->p->wire.at[x->in[0].wire];
  Buf at = buf_new(e->p->arena);
  emit_pointers(e);
  buf_char(&at, '0');
  for (uint32_t i = 0; i < in->rank; i++) {
    if (i == x->axis) continue;
    emit_open_loop(e, 'i', i, emit_extent(e, in->shape[i]));
    buf_printf(&at, " + %lldL * i%u", (long long)in->stride[i], i);
  }
  const char *n = emit_extent(e, in->shape[x->axis]);
  int64_t most = extent_most(e->p, in->shape[x->axis]), step = in->stride[x->axis];
  emit_line(e, "int *o = (int *)s;");
  emit_line(e, "order_row(w%u + %s, %lldL, %s, o, o + %lldL);", e->slot[x->in[0].wire], at.at,
            (long long)step, n, (long long)most);
  emit_line(e, "for (long k = 0; k < %s; k++) w%u[%s + %lldL * k] = o[k];", n, e->slot[x->out.wire],
            at.at, (long long)step);
  emit_close_all(e, in->rank - 1);
}
