// What a node does at one point: its value, made of scalars or of noise, and where that goes: into
// memory, or into a sum that the loops around keep.
#include "run/engine/point/point.h"

enum { LONG_SUM = 4096 };

// -- sums -----------------------------------------------------------------------------------------
const char *emit_identity(Emit *e, const PlanNode *x) {
  static const char *const text[2][4] = {
      {"0", "1", "(-(real)double_infinite)", "((real)double_infinite)"}, {"0", "1", "0", "1"}};
  return text[e->p->wire.at[x->out.wire].base == BASE_BIT][x->combine];
}

// Long sums without axes are kept in double.
const char *emit_sum_type(const Emit *e, const PlanNode *x) {
  const PlanWire *w = &e->p->wire.at[x->out.wire];
  double points = 1;
  for (uint32_t i = 0; i < x->nindex; i++) points *= (double)extent_most(e->p, x->index[i]);
  if (w->base != BASE_R) return "int";
  return w->number == NUMBER_F64 && points > LONG_SUM ? "double" : "real";
}

// ⊕ of numbers and of bits, in the order of Combine
const char *const emit_combine_text[2][4] = {{"+", "*", "max", "min"}, {"^", "&", "|", "&"}};

// acc ⊕= v
static void emit_combine(Emit *e, const PlanNode *x, const char *acc, const char *v) {
  bool bit = e->p->wire.at[x->out.wire].base == BASE_BIT, chosen = x->combine >= MAX && !bit;
  const char *op = chosen ? x->combine == MAX ? ">" : "<" : emit_combine_text[bit][x->combine];
  if (chosen)
    emit_line(e, "%s = %s %s %s ? %s : %s;", acc, v, op, acc, v, acc);
  else if (e->p->wire.at[x->out.wire].number == NUMBER_U8)
    emit_line(e, "%s = (unsigned char)(%s %s %s);", acc, acc, op, v);
  else
    emit_line(e, "%s %s= %s;", acc, op, v);
}

const char *emit_winner(Emit *e, const NodeLevels *w,
                        uint32_t k) { // winners have the output's shape
  Operand o = w->x->out;
  o.wire = w->x->winner[k];
  return emit_cell_at(e, w, &o);
}

static void emit_best(Emit *e, const NodeLevels *w, const char *acc, const char *v, bool in_memory,
                      const char *place) {
  const PlanNode *x = w->x;
  const char *op = x->combine == MAX ? ">" : "<";
  emit_line(e, "const int b%u = (%s %s %s) | ((%s != %s) & (%s == %s));", w->id, v, op, acc, v, v,
            acc, acc);
  emit_line(e, "%s = b%u ? %s : %s;", acc, w->id, v, acc);
  if (e->lanes && !in_memory) emit_line(e, "at%u = b%u ? at : at%u;", w->id, w->id, w->id);
  for (uint32_t k = 0; k < x->nwinner; k++) {
    if (x->winner[k] == PLAN_NONE) continue;
    const char *cell =
        in_memory ? emit_winner(e, w, k) : arena_format(e->p->arena, "n%u_%u%s", w->id, k, place);
    emit_line(e, "%s = b%u ? (int)i%u : %s;", cell, w->id, x->var[node_reduced(x, k)], cell);
  }
}

void emit_open_sum(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  emit_line(e, "%s s%u = %s;", emit_sum_type(e, x), w->id, emit_identity(e, x));
  if (x->nwinner && !node_wants_winner(x)) emit_line(e, "int bad%u = 0;", w->id);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "int n%u_%u = 0;", w->id, k);
}

void emit_close_sum(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  if (x->nwinner && !node_wants_winner(x))
    emit_line(e, "if (bad%u) s%u = (real)double_unknown;", w->id, w->id);
  emit_line(e, "%s = (%s)s%u;", emit_cell_at(e, w, &x->out),
            emit_number(e->p->wire.at[x->out.wire].number), w->id);
  for (uint32_t k = 0; k < x->nwinner; k++)
    if (x->winner[k] != PLAN_NONE) emit_line(e, "%s = n%u_%u;", emit_winner(e, w, k), w->id, k);
}

// -- one node at the innermost point --------------------------------------------------------------
// Noise whose last axis is the innermost loop is made a row at a time, four numbers from each block
// of bits; alone, each would take a block.
static bool noise_in_rows(const Emit *e, const NodeLevels *w) {
  enum { SHORT = 32, LONG = 1024 };
  const Nest *s = &e->k->nest.at[w->nest];
  const PlanWire *wire = &e->p->wire.at[w->x->out.wire];
  if (e->lanes || !w->x->noise || !wire->rank || !s->ndim || (e->k->ranged && s->ndim == 1))
    return false;
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
  const char *type = summed                       ? emit_sum_type(e, x)
                     : wire->base != BASE_R       ? "int"
                     : wire->number == NUMBER_F64 ? "double"
                                                  : "real",
             *v;
  if (x->noise)
    v = noise_text(e, w);
  else
    v = emit_argument(e, w, x->nscalar - 1, x->nscalar - 1);
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
  if (operand_checked(e->p, &x->out)) buf_printf(&ok, " & %s", emit_test(e, w, &x->out));
  emit_line(e, "const int ok%u = %s;", w->id, ok.at);
  emit_line(e, "const %s v%u = ok%u ? %s : %s;", type, w->id, w->id, v, emit_identity(e, x));
}

// wide: the sum is a double
static void emit_fused_sum(Emit *e, const NodeLevels *w, const char *acc, bool wide) {
  const Scalar *s = &w->x->scalar[w->x->nscalar - 1];
  uint32_t last = w->x->nscalar - 1;
  emit_line(e, "%s = %s_fma(%s, %s, %s);", acc, wide ? "double" : "real",
            emit_argument(e, w, s->arg[0], last), emit_argument(e, w, s->arg[1], last), acc);
}

static void emit_effect(Emit *e, const NodeLevels *w) {
  const PlanNode *x = w->x;
  const PlanWire *wire = &e->p->wire.at[x->out.wire];
  Arena *a = e->p->arena;
  const char *v = arena_format(a, "v%u", w->id), *number = emit_number(wire->number);
  if (w->reduce != PLAN_NONE && w->reduce <= e->k->nest.at[w->nest].ndim) {
    const char *acc = arena_format(a, "s%u", w->id);
    if (is_fused_sum(e, w)) {
      emit_fused_sum(e, w, acc, strcmp(emit_sum_type(e, x), "double") == 0);
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
  const char *cell = emit_cell_at(e, w, &x->out);
  const char *place = arena_format(a, "[i%u]", e->k->np + e->k->nest.at[w->nest].ndim - 1);
  if (w->row != PLAN_NONE) cell = arena_format(a, "s%u%s", w->id, place);
  if (e->fours && w->four) cell = arena_format(a, "o%u[u]", w->id);
  if (e->onto && x->scatter) cell = e->onto;
  if (w->reduce == PLAN_NONE && !x->scatter) {
    if (wire->number == NUMBER_BF16 && !(e->fours && w->four))
      emit_line(e, "%s = limn_narrow((float)v%u);", cell, w->id);
    else
      emit_line(e, "%s = (%s)v%u;", cell, e->fours && w->four ? "float" : number, w->id);
    return;
  }
  if (is_fused_sum(e, w)) {
    emit_fused_sum(e, w, cell,
                   w->row != PLAN_NONE ? strcmp(emit_sum_type(e, x), "double") == 0
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

void emit_level(Emit *e, const NodeLevels *w, uint32_t n, uint32_t level, uint32_t ndim) {
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
