// Draws a loop by its indices. An index in one operand and the result passes; in several operands
// and the result, their strands merge; in two operands only, they meet in a cup; in one operand
// only, it is reduced; in the result only, it begins. An index that the result has several times
// branches from a dot, or begins in a cap. Non-trivial coordinates come first, or last for the
// result: views, windows, constant indices. The formula of the body is above.
#include "base/names.h"
#include "core/diagram/ops.h"
#include "show/circuit/circuit_own.h"

#include <math.h>

// -- what loops mean ------------------------------------------------------------------------------
// The product of the sizes of the reduced indices.
static Size reduced_size(World *w, const Loop *l) {
  Size n = size_of(w, 1);
  for (uint32_t i = 0; i < l->nindex; i++)
    if (loop_is_reduced(w, l, i)) n = size_mul(w, n, l->index[i].size);
  return size_now(w, n);
}

bool is_count(World *w, const Loop *sum, const Loop *l, uint32_t scalar) {
  const Scalar *x = &l->scalar[scalar];
  Size n = reduced_size(w, sum);
  int64_t k;
  if (sum->combine != SUM || n == size_of(w, 1)) return false;
  if (x->fn == FN_SIZE) return size_now(w, x->ref) == n;
  return x->fn == FN_CONST && size_value(w, n, &k) && (double)k == x->k;
}

uint32_t index_place(World *w, const Access *a, uint32_t index) {
  uint32_t i = 0, x;
  while (i < a->rank && !(coord_is_plain(w, &a->coord[i], &x) && x == index)) i++;
  return i;
}

// A permutation of axes, or the identity.
static bool is_whole_read(World *w, const Access *a, const Access *out) {
  uint32_t x, y;
  if (a->rank != out->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!coord_is_plain(w, &a->coord[i], &x) || !coord_is_plain(w, &out->coord[i], &y) || x != y)
      return false;
  return true;
}

// Does this box divide a sum that only it reads, making it a mean?
static bool ends_mean(CircuitPart *p, const Box *box) {
  const Loop *l = box->loop;
  if (l->nin != 1 || l->nscalar != 3 || box->nout != 1) return false;
  const Scalar *x = &l->scalar[2];
  Id made = p->d->wire.at[box->in[0]].box;
  const Box *sum = made ? &p->d->box.at[made] : NULL;
  return x->fn == FN_div && l->scalar[x->arg[0]].fn == FN_ARG && sum && sum->op == OP_loop &&
         is_count(p->c->w, sum->loop, l, x->arg[1]) && part_reads(p, box->in[0]) == 1 &&
         is_whole_read(p->c->w, &l->in[0], &l->out);
}

static bool begins_mean(CircuitPart *p, const Box *box) {
  if (box->loop->combine != SUM || part_reads(p, box->out[0]) != 1) return false;
  const Box *next = &p->d->box.at[p->reader[box->out[0]]];
  return next->op == OP_loop && next->nin == 1 && ends_mean(p, next);
}

// Matches S when x <= y else -inf: which index is at most the other?
static bool is_mask(const Loop *l, uint32_t *small, uint32_t *large, bool *strict) {
  const Scalar *x = &l->scalar[l->nscalar - 1];
  if (l->nin != 1 || x->fn != FN_select) return false;
  const Scalar *when = &l->scalar[x->arg[0]], *other = &l->scalar[x->arg[2]];
  if (when->fn != FN_le && when->fn != FN_lt) return false;
  const Scalar *a = &l->scalar[when->arg[0]], *b = &l->scalar[when->arg[1]];
  if (l->scalar[x->arg[1]].fn != FN_ARG || other->fn != FN_CONST || other->k != -INFINITY)
    return false;
  *small = a->ref, *large = b->ref, *strict = when->fn == FN_lt;
  return a->fn == FN_AT && b->fn == FN_AT;
}

bool loop_is_mask(const Loop *l) {
  uint32_t a, b;
  bool strict;
  return is_mask(l, &a, &b, &strict);
}

const char *body_text(CircuitPart *p, const Box *box) {
  FormulaOf of = {p->c->w, p->d, box->loop, box->in};
  return formula_text(&of, p->c->s->arena);
}

// -- loops ----------------------------------------------------------------------------------------
typedef struct {
  CircuitPart *p;
  const Box *box;
  const Loop *l;
  Id made;          // the wire that is drawn: the result, or an argmax
  uint32_t winner;  // the index of that argmax + 1; 0: the result
  uint32_t *bundle; // [operand] with a strand per index
  Ids *index;       // [operand] the index of each of these strands + 1; 0: a scalar
  bool *gone;       // [operand] a label that was consumed by a gather
} LoopReading;

// The axis of a wire at which a coordinate of the loop points.
static const Axis *axis_at(const LoopReading *r, const Coord *k) {
  const Diagram *d = r->p->d;
  for (uint32_t i = 0; i <= r->l->nin; i++) {
    const Access *a = i < r->l->nin ? &r->l->in[i] : &r->l->out;
    const Type *t = &d->wire.at[i < r->l->nin ? r->box->in[i] : r->made].type;
    for (uint32_t n = 0; n < a->rank && n < t->rank; n++)
      if (&a->coord[n] == k) return &t->axis[n];
  }
  return NULL;
}

// An index that covers a whole axis.
static bool plain_index(const LoopReading *r, const Coord *k, uint32_t *index) {
  World *w = r->p->c->w;
  const Axis *axis = axis_at(r, k);
  return coord_is_plain(w, k, index) &&
         (!axis || size_now(w, axis->size) == size_now(w, r->l->index[*index].size));
}

// Adds the indices of the coordinates + 1; 0 for a scalar. False: some coordinate is not a plain
// index.
static bool plain_indices(const LoopReading *r, const Access *a, Ids *out) {
  for (uint32_t i = 0, index; i < a->rank; i++) {
    if (!plain_index(r, &a->coord[i], &index)) return false;
    vec_push(r->p->c->s->arena, out, index + 1);
  }
  if (!a->rank) vec_push(r->p->c->s->arena, out, 0);
  return true;
}

static bool is_plain_access(const LoopReading *r, const Access *a) {
  Ids indices = {0};
  return plain_indices(r, a, &indices);
}

static const char *index_label(const LoopReading *r, uint32_t index) {
  Axis a = {.label = r->l->index[index].name, .size = r->l->index[index].size};
  return axis_label(r->p->c, &a);
}

// Is the coordinate a flattened group of indices, (h w)? Each stride is then the product of the
// smaller sizes; otherwise it is a window. The terms are returned slowest first.
static bool is_view(const LoopReading *r, const Coord *k, Ids *slowest) {
  World *w = r->p->c->w;
  Size each = size_of(w, 1);
  if (k->c && size_now(w, k->c) != size_of(w, 0)) return false;
  for (uint32_t n = 0, i; n < k->n; n++) {
    for (i = 0; i < k->n && (k->term[i].operand || size_now(w, k->term[i].coef) != each);) i++;
    if (i == k->n) return false;
    each = size_now(w, size_mul(w, each, r->l->index[k->term[i].var].size));
    if (slowest) vec_push(r->p->c->s->arena, slowest, i);
  }
  for (uint32_t i = 0; slowest && i < slowest->n / 2; i++) {
    uint32_t x = slowest->at[i];
    slowest->at[i] = slowest->at[slowest->n - 1 - i], slowest->at[slowest->n - 1 - i] = x;
  }
  return k->n > 1;
}

static const char *wire_text(const LoopReading *r, uint32_t operand) {
  const char *name = name_text(r->p->c->w->names, r->p->d->wire.at[r->box->in[operand]].name);
  return *name ? name : NULL;
}

static const char *size_words(const LoopReading *r, Size x) {
  return size_label(r->p->c->w, r->p->c->s->arena, x);
}

// A coordinate without indices, or with too many: 2, t, 2n + p − q.
static const char *coord_text(const LoopReading *r, const Coord *k) {
  World *w = r->p->c->w;
  Size one = size_of(w, 1), none = size_of(w, 0);
  Buf b = buf_new(r->p->c->s->arena);
  for (uint32_t i = 0; i < k->n; i++) {
    const Term *t = &k->term[i];
    const char *name = t->operand ? wire_text(r, t->var) : index_label(r, t->var);
    Size coef = size_now(w, t->coef), turned = size_sub(w, none, coef);
    double sign;
    bool below = size_number(w, coef, &sign) && sign < 0;
    if (t->operand && !name && k->n == 1 && coef == one && size_now(w, k->c) == none) return NULL;
    if (b.n || below) buf_text(&b, !b.n ? "−" : below ? " − " : " + ");
    if ((below ? turned : coef) != one)
      buf_text(&b, size_words(r, below ? turned : coef)), buf_text(&b, "·");
    buf_text(&b, name ? name : "?");
  }
  Size c = k->c ? size_now(w, k->c) : none;
  double sign;
  bool below = size_number(w, c, &sign) && sign < 0;
  if (!b.n) return size_words(r, c);
  if (c != none)
    buf_printf(&b, " %s %s", below ? "−" : "+", size_words(r, below ? size_sub(w, none, c) : c));
  return b.at;
}

// A strided range: 1..3, or 0, 2..8.
static const char *range_text(const LoopReading *r, const Coord *k) {
  World *w = r->p->c->w;
  Size c = k->c ? size_now(w, k->c) : size_of(w, 0), coef = size_now(w, k->term[0].coef);
  Size n = size_sub(w, r->l->index[k->term[0].var].size, size_of(w, 1));
  Size last = size_now(w, size_add(w, c, size_mul(w, coef, n)));
  const char *from = size_words(r, c), *to = size_words(r, last);
  bool next = coef == size_of(w, 1) || coef == size_of(w, -1);
  if (next) return arena_format(r->p->c->s->arena, "%s..%s", from, to);
  return arena_format(r->p->c->s->arena, "%s, %s..%s", from, size_words(r, size_add(w, c, coef)),
                      to);
}

// Does the index occur only here, so that it is reduced?
static bool is_alone(const LoopReading *r, uint32_t index) {
  uint32_t n = 0;
  if (loop_writes_index(r->l, index)) return false;
  for (uint32_t i = 0; i < r->l->nin; i++)
    for (uint32_t k = 0; k < r->l->in[i].rank; k++)
      for (uint32_t t = 0; t < r->l->in[i].coord[k].n; t++)
        n += !r->l->in[i].coord[k].term[t].operand && r->l->in[i].coord[k].term[t].var == index;
  return n == 1;
}

// A window moves along an axis: one index is the position, another is inside the window.
// another one what is in it.
static bool is_window(const LoopReading *r, const Coord *k) {
  for (uint32_t i = 0; i < k->n; i++)
    if (k->n > 1 && !k->term[i].operand && is_alone(r, k->term[i].var)) return true;
  return !is_view(r, k, NULL);
}

// The position index of a window is in the result; for a written window, in the first operand.
static bool is_place(const LoopReading *r, uint32_t index) {
  const Access *out = &r->l->out, *in = r->l->in;
  return index_place(r->p->c->w, out, index) < out->rank ||
         (r->l->nin && index_place(r->p->c->w, in, index) < in->rank);
}

// The terms of a window, positions first; of a view, slowest first.
static void order_terms(const LoopReading *r, const Coord *k, bool window, Ids *out) {
  if (!window && is_view(r, k, out)) return;
  out->n = 0;
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < k->n; i++)
      if (!k->term[i].operand && is_place(r, k->term[i].var) == !pass)
        vec_push(r->p->c->s->arena, out, i);
}

static const char *term_factor(const LoopReading *r, const Coord *k, uint32_t term) {
  Size one = size_of(r->p->c->w, 1), coef = size_now(r->p->c->w, k->term[term].coef);
  return coef == one ? NULL : size_label(r->p->c->w, r->p->c->s->arena, coef);
}

static const char *window_words(const LoopReading *r, const Glyph *g, const char *axis) {
  Arena *a = r->p->c->s->arena;
  return arena_format(
      a, "windows along %s%s%s%s%s%s%s%s", axis ? axis : "an axis", g->above ? ", stride " : "",
      g->above ? g->above : "", g->below ? ", dilation " : "", g->below ? g->below : "",
      g->second ? ", from " : "", g->second ? g->second : "", g->text ? ", transposed" : "");
}

// Assigns the indices of coordinates to the next strands of a bundle.
typedef struct {
  uint32_t stage, bundle;
  uint32_t at; // strands assigned so far
  Ids *index;  // of a read; NULL: the result is written
} CoordStrands;

static const char *strand_words(const LoopReading *r, uint32_t strand, const char *otherwise) {
  const char *label = r->p->c->s->strand.at[strand].label;
  return label ? label : otherwise;
}

// A pentagon that says which positions are read or written.
static Glyph *place_glyph(LoopReading *r, const Coord *k, uint32_t stage, uint32_t axis, bool out) {
  Sketch *s = r->p->c->s;
  bool range = k->n == 1 && !k->term[0].operand;
  Glyph *g = stage_glyph(s, stage, GLYPH_INDEX, range ? range_text(r, k) : coord_text(r, k));
  g->flip = out;
  g->words =
      arena_format(s->arena, "%s at %s", strand_words(r, axis, "an axis"), g->text ? g->text : "?");
  return g;
}

static Glyph *window_glyph(LoopReading *r, const Coord *k, const Ids *terms, uint32_t stage,
                           uint32_t axis, bool out) {
  Sketch *s = r->p->c->s;
  World *w = r->p->c->w;
  Glyph *g = stage_glyph(s, stage, GLYPH_CONV, out ? "T" : NULL);
  g->above = term_factor(r, k, terms->at[0]);
  g->below = terms->n > 1 ? term_factor(r, k, terms->at[1]) : NULL;
  if (k->c && size_now(w, k->c) != size_of(w, 0)) g->second = size_words(r, size_now(w, k->c));
  g->words = window_words(r, g, s->strand.at[axis].label);
  return g;
}

static Glyph *view_glyph(LoopReading *r, uint32_t stage, uint32_t axis, bool out) {
  Sketch *s = r->p->c->s;
  Glyph *g = stage_glyph(s, stage, GLYPH_BAR, NULL);
  g->words = arena_format(s->arena, out ? "joining into %s" : "splitting %s",
                          strand_words(r, axis, "axes"));
  return g;
}

// The pad value is shown above.
static void put_pad(LoopReading *r, const Access *a, uint32_t stage, uint32_t bundle) {
  Sketch *s = r->p->c->s;
  if (!a->padded) return;
  const char *text = formula_number(s->arena, a->pad);
  stage_glyph(s, stage, GLYPH_WISE, arena_format(s->arena, "pad %s", text))->over = bundle;
}

// A non-trivial coordinate: one axis on one side, its indices on the other.
static void coord_glyph(LoopReading *r, const Coord *k, uint32_t axis, CoordStrands *to) {
  Sketch *s = r->p->c->s;
  uint32_t stage = to->stage;
  bool out = !to->index;
  uint32_t plain;
  if (plain_index(r, k, &plain)) {
    uint32_t strand = strand_at(s, to->bundle, to->at++);
    if (!out) vec_push(s->arena, to->index, plain + 1);
    stage_link(s, stage, LINK_PASS, out ? strand : axis, out ? axis : strand);
    return;
  }
  Ids terms = {0};
  bool window = is_window(r, k);
  order_terms(r, k, window, &terms);
  Glyph *g = !terms.n || (window && k->n != 2) ? place_glyph(r, k, stage, axis, out)
             : window                          ? window_glyph(r, k, &terms, stage, axis, out)
                                               : view_glyph(r, stage, axis, out);
  vec_push(s->arena, out ? &g->out : &g->in, axis);
  for (uint32_t i = 0; i < terms.n; i++) {
    if (!out) vec_push(s->arena, to->index, k->term[terms.at[i]].var + 1);
    vec_push(s->arena, out ? &g->in : &g->out, strand_at(s, to->bundle, to->at++));
  }
}

// Two neighbouring windowed axes are the spatial axes of an image.
static void mark_tandem(LoopReading *r, const Access *a, uint32_t bundle) {
  for (uint32_t i = 0; i + 1 < a->rank; i++)
    if (is_moved(r->p->c->w, &a->coord[i], &a->coord[i + 1]))
      strand_of(r->p->c->s, bundle, i)->pair = true;
}

static uint32_t terms_of(const Access *a) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++) n += !a->coord[i].term[k].operand;
  return n;
}

static void label_indices(LoopReading *r, uint32_t bundle, const Ids *index) {
  for (uint32_t i = 0; i < index->n; i++) {
    if (!index->at[i]) continue;
    const Index *at = &r->l->index[index->at[i] - 1];
    Strand *x = strand_of(r->p->c->s, bundle, i);
    x->label = index_label(r, index->at[i] - 1);
    x->size = axis_value(r->p->c, &(Axis){.label = at->name, .size = at->size});
    turn_label(r->p, r->box, index->at[i] - 1, x);
  }
}

static uint32_t label_at(const Coord *k) { // the operand that is the label; UINT32_MAX: none
  return k->n == 1 && k->term[0].operand ? k->term[0].var : UINT32_MAX;
}

static uint32_t gather_axis(const Access *a) {
  uint32_t i = 0;
  while (i < a->rank && label_at(&a->coord[i]) == UINT32_MAX) i++;
  return i;
}

// Is the operand a weight?
static bool is_weight(const CircuitPart *p, Id wire) {
  uint32_t i = param_number(p->d, wire);
  return i < p->d->param.n && p->d->param.at[i].role == ROLE_WEIGHT;
}

static bool is_in_body(const Loop *l, uint32_t operand) {
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_ARG && l->scalar[i].ref == operand) return true;
  return false;
}

// A gather of a row by a label. A learned table is an embedding glyph from label to row. Otherwise
// the label enters the pentagon on which the table's axis ends.
static void gather_operand(LoopReading *r, uint32_t i, uint32_t axis) {
  CircuitPart *p = r->p;
  Sketch *s = p->c->s;
  const Access *a = &r->l->in[i];
  uint32_t label = label_at(&a->coord[axis]), use = 0;
  bool learned = is_weight(p, r->box->in[i]) && !axis;
  uint32_t table = learned ? 0 : bundle_of(p, r->box->in[i]);
  uint32_t stage = sketch_stage(s, p->block, "a row of a table");
  if (table) use = sketch_use(s, stage, table);
  if (table) say_use(p, r->box->in, i, use);
  uint32_t from = sketch_use(s, stage, r->bundle[label]);
  say_use(p, r->box->in, label, from);
  const char *name = learned ? param_name(p, r->box->in[i]) : wire_text(r, label);
  Glyph g = {.kind = learned ? GLYPH_LEARNED : GLYPH_INDEX, .text = name, .bold = learned};
  g.words =
      arena_format(s->arena, learned ? "embedding %s" : "a row at %s", name ? name : "a label");
  uint32_t places = r->index[label].n && r->index[label].at[0] ? r->index[label].n : 0;
  uint32_t terms = terms_of(a) + places, b = sketch_make(s, stage, NULL, terms ? terms : 1);
  CoordStrands to = {.stage = stage, .bundle = b, .index = &r->index[i]};
  if (table) vec_push(s->arena, &g.in, strand_at(s, use, axis));
  add_ports(s, &g.in, from);
  for (uint32_t k = 0; k < places; k++) {
    vec_push(s->arena, &r->index[i], r->index[label].at[k]);
    vec_push(s->arena, &g.out, strand_at(s, b, to.at++));
  }
  for (uint32_t k = 0; k < a->rank; k++) {
    if (k == axis) continue;
    uint32_t plain;
    if (learned && plain_index(r, &a->coord[k], &plain)) {
      vec_push(s->arena, &r->index[i], plain + 1);
      vec_push(s->arena, &g.out, strand_at(s, b, to.at++));
    } else if (table) {
      coord_glyph(r, &a->coord[k], strand_at(s, use, k), &to);
    }
  }
  if (!terms) vec_push(s->arena, &r->index[i], 0), vec_push(s->arena, &g.out, strand_at(s, b, 0));
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
  label_indices(r, b, &r->index[i]);
  r->bundle[i] = b;
  r->gone[label] = !is_in_body(r->l, label);
}

// Gives an operand a strand for each index.
static void read_operand(LoopReading *r, uint32_t i) {
  Sketch *s = r->p->c->s;
  const Access *a = &r->l->in[i];
  uint32_t gather = gather_axis(a), index;
  bool simple = gather < a->rank;
  for (uint32_t k = 0; simple && k < a->rank; k++)
    simple = k == gather || plain_index(r, &a->coord[k], &index);
  if (simple) {
    gather_operand(r, i, gather);
    return;
  }
  uint32_t made = bundle_of(r->p, r->box->in[i]);
  r->bundle[i] = made;
  if (plain_indices(r, a, &r->index[i])) return;
  r->index[i].n = 0;
  uint32_t stage = sketch_stage(s, r->p->block, "read"), use = sketch_use(s, stage, made);
  say_use(r->p, r->box->in, i, use);
  uint32_t terms = terms_of(a), b = sketch_make(s, stage, NULL, terms ? terms : 1);
  CoordStrands to = {.stage = stage, .bundle = b, .index = &r->index[i]};
  mark_tandem(r, a, use);
  for (uint32_t k = 0; k < a->rank; k++) coord_glyph(r, &a->coord[k], strand_at(s, use, k), &to);
  if (!terms) {
    vec_push(s->arena, &r->index[i], 0);
    Glyph *g = &s->stage.at[stage].glyph.at[s->stage.at[stage].glyph.n - 1];
    vec_push(s->arena, &g->out, strand_at(s, b, 0));
  }
  put_pad(r, a, stage, b);
  label_indices(r, b, &r->index[i]);
  r->bundle[i] = b;
}

typedef struct {
  // The resulting bundle, with a strand for each index in `order`, twice only if both begin
  // together.
  uint32_t stage, result;
  // where one is there twice only if both begin together
  uint32_t *use; // [operand]
  Ids order;
  bool mean; // a mean instead of a sum
} AxisJoining;

static uint32_t uses_of(const LoopReading *r, const AxisJoining *j, uint32_t index, Ids *out) {
  const Sketch *s = r->p->c->s;
  for (uint32_t i = 0; i < r->l->nin; i++)
    for (uint32_t k = 0; !r->gone[i] && k < r->index[i].n; k++)
      if (r->index[i].at[k] == index + 1) vec_push(s->arena, out, strand_at(s, j->use[i], k));
  return out->n;
}

static bool begins_twice(const AxisJoining *j, uint32_t at) {
  return at + 1 < j->order.n && j->order.at[at] == j->order.at[at + 1];
}

// Two strands that begin as one.
static void put_unit(Sketch *s, uint32_t stage, uint32_t first) {
  Glyph *g = stage_glyph(s, stage, GLYPH_CAP, NULL);
  g->words = "unit";
  vec_push(s->arena, &g->out, first), vec_push(s->arena, &g->out, first + 1);
}

const char *combine_text(Combine c, bool place) {
  static const char *const word[] = {[SUM] = "Σ", [PROD] = "Π", [MAX] = "Max", [MIN] = "Min"};
  if (place) return c == MAX ? "ArgMax" : "ArgMin";
  return word[c];
}

// A reduction: a word at the end of the index.
static Glyph *reduce_glyph(LoopReading *r, const AxisJoining *j, uint32_t index) {
  static const char *const said[] = {
      [SUM] = "sum", [PROD] = "product", [MAX] = "largest", [MIN] = "smallest"};
  Sketch *s = r->p->c->s;
  bool place = r->winner == index + 1;
  const char *words = j->mean ? "mean" : said[r->l->combine];
  Glyph *g =
      stage_glyph(s, j->stage, GLYPH_REDUCE, j->mean ? "𝔼" : combine_text(r->l->combine, place));
  g->words = arena_format(s->arena, "%s%s over %s", place ? "place of the " : "", words,
                          index_label(r, index));
  return g;
}

static void join_index(LoopReading *r, AxisJoining *j, uint32_t index, bool product) {
  Sketch *s = r->p->c->s;
  Ids uses = {0};
  uint32_t n = uses_of(r, j, index, &uses), at = 0;
  while (at < j->order.n && j->order.at[at] != index + 1) at++;
  if (at < j->order.n) {
    uint32_t to = strand_at(s, j->result, at);
    if (begins_twice(j, at)) {
      put_unit(s, j->stage, to);
      return;
    }
    if (!n) stage_link(s, j->stage, LINK_BEGIN, 0, to);
    for (uint32_t i = 0; i < n; i++)
      stage_link(s, j->stage, n == 1 ? LINK_PASS : LINK_MERGE, uses.at[i], to);
    return;
  }
  if (n == 2 && product && r->l->combine == SUM) {
    stage_link(s, j->stage, LINK_CUP, uses.at[0], uses.at[1]);
    return;
  }
  if (n) reduce_glyph(r, j, index)->in = uses;
}

// Does a strand begin here without a link?
static bool begins_alone(const Stage *t, uint32_t strand) {
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].to == strand) return t->link.at[i].kind == LINK_BEGIN;
  return false;
}

// All axes of the result begin here: no operand's index continues.
static bool all_begin(const LoopReading *r, const AxisJoining *j) {
  const Sketch *s = r->p->c->s;
  const Bundle *b = &s->bundle.at[j->result];
  for (uint32_t i = 0; i < b->n; i++)
    if (!begins_alone(&s->stage.at[j->stage], b->first + i)) return false;
  return true;
}

// A constant without operands begins on a plate with its formula.
static bool put_constant(LoopReading *r, const AxisJoining *j, const char *text) {
  Sketch *s = r->p->c->s;
  if (r->l->nin || !text || !all_begin(r, j)) return false;
  s->stage.at[j->stage].link.n = 0;
  Glyph *g = stage_glyph(s, j->stage, formula_letters(text) > 6 ? GLYPH_BOX : GLYPH_START, text);
  add_ports(s, &g->out, j->result);
  return true;
}

static void drop_beginning(Stage *t, uint32_t strand) {
  for (uint32_t k = 0; k < t->link.n; k++)
    if (t->link.at[k].to == strand) t->link.at[k] = t->link.at[--t->link.n];
}

static bool is_bare(const LoopReading *r, uint32_t operand) {
  return !r->gone[operand] && r->index[operand].n == 1 && !r->index[operand].at[0];
}

// Is the result a scalar made of one scalar only?
static bool number_goes_on(const LoopReading *r, const AxisJoining *j, const Stage *t) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->l->nin; i++) n += is_bare(r, i);
  return n == 1 && !j->order.n && !t->link.n && !t->glyph.n;
}

// Scalars end where they are used; if the result is made of scalars only, it begins at their ends.
static void join_scalars(LoopReading *r, AxisJoining *j) {
  Sketch *s = r->p->c->s;
  Stage *t = &s->stage.at[j->stage];
  bool begin = j->order.n && all_begin(r, j), on = number_goes_on(r, j, t);
  for (uint32_t i = 0; i < r->l->nin; i++) {
    if (!is_bare(r, i)) continue;
    uint32_t x = strand_at(s, j->use[i], 0), to = strand_at(s, j->result, 0);
    if (begin && begins_alone(t, to)) drop_beginning(t, to);
    if (!j->order.n || begin)
      stage_link(s, j->stage, on ? LINK_PASS : LINK_MERGE, x, to);
    else
      stage_link(s, j->stage, LINK_END, x, 0);
  }
}

// A result without continuing axes begins where the last reduction ends.
static void begin_scalar(LoopReading *r, AxisJoining *j) {
  Sketch *s = r->p->c->s;
  Stage *t = &s->stage.at[j->stage];
  uint32_t x = strand_at(s, j->result, 0);
  if (j->order.n && !(t->glyph.n && all_begin(r, j))) return;
  if (j->order.n) drop_beginning(t, x);
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].to == x) return;
  if (t->glyph.n)
    vec_push(s->arena, &t->glyph.at[0].out, x);
  else
    stage_link(s, j->stage, LINK_BEGIN, 0, x);
}

// The indices of the result, in order.
static Ids result_order(LoopReading *r) {
  Ids order = {0};
  for (uint32_t i = 0; i < r->l->out.rank; i++) {
    const Coord *k = &r->l->out.coord[i];
    Ids terms = {0};
    order_terms(r, k, k->n > 1 && is_window(r, k), &terms);
    for (uint32_t t = 0; t < terms.n; t++)
      vec_push(r->p->c->s->arena, &order, k->term[terms.at[t]].var + 1);
  }
  return order;
}

static uint32_t times_in(const Ids *ids, uint32_t end, Id x) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < end; i++) n += ids->at[i] == x;
  return n;
}

static bool is_read(const LoopReading *r, Id index) {
  for (uint32_t i = 0; i < r->l->nin; i++)
    if (!r->gone[i] && ids_find(&r->index[i], index) < r->index[i].n) return true;
  return false;
}

// Each index of the result once; a begun index that occurs twice is kept twice.
static Ids joined_order(const LoopReading *r, const Ids *whole) {
  Ids order = {0};
  Arena *a = r->p->c->s->arena;
  for (uint32_t i = 0; i < whole->n; i++) {
    Id index = whole->at[i];
    if (times_in(whole, i, index)) continue;
    vec_push(a, &order, index);
    if (times_in(whole, whole->n, index) == 2 && !is_read(r, index)) vec_push(a, &order, index);
  }
  return order;
}

static bool is_counted(const Loop *l, uint32_t index) {
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_AT && l->scalar[i].ref == index) return true;
  return false;
}

// The resulting bundle, a strand for each index.
static uint32_t make_result(LoopReading *r, uint32_t stage, const Ids *order) {
  Sketch *s = r->p->c->s;
  if (is_plain_access(r, &r->l->out)) return part_make(r->p, stage, r->made);
  uint32_t b = sketch_make(s, stage, NULL, order->n ? order->n : 1);
  label_indices(r, b, order);
  return b;
}

// An index that the result has more often than strands exist branches.
static uint32_t spread_indices(LoopReading *r, const AxisJoining *j, const Ids *whole) {
  Sketch *s = r->p->c->s;
  uint32_t stage = sketch_stage(s, r->p->block, "diagonal");
  uint32_t use = sketch_use(s, stage, j->result), b = make_result(r, stage, whole);
  for (uint32_t i = 0; i < whole->n; i++) {
    uint32_t before = times_in(whole, i, whole->at[i]);
    uint32_t from = ids_find(&j->order, whole->at[i]);
    bool own = before < times_in(&j->order, j->order.n, whole->at[i]);
    stage_link(s, stage, own ? LINK_PASS : LINK_COPY, strand_at(s, use, from + (own ? before : 0)),
               strand_at(s, b, i));
  }
  return b;
}

static void write_result(LoopReading *r, uint32_t joined) {
  Sketch *s = r->p->c->s;
  uint32_t stage = sketch_stage(s, r->p->block, "write");
  uint32_t use = sketch_use(s, stage, joined), b = part_make(r->p, stage, r->made);
  CoordStrands from = {.stage = stage, .bundle = use};
  mark_tandem(r, &r->l->out, b);
  for (uint32_t k = 0; k < r->l->out.rank; k++)
    coord_glyph(r, &r->l->out.coord[k], strand_at(s, b, k), &from);
}

// A causal mask: a square on two axes; the others pass.
static bool draw_mask(CircuitPart *p, const Box *box) {
  Sketch *s = p->c->s;
  World *w = p->c->w;
  uint32_t small, large, index;
  bool strict;
  if (!is_mask(box->loop, &small, &large, &strict) ||
      !is_whole_read(w, &box->loop->in[0], &box->loop->out))
    return false;
  uint32_t stage, use = *part_uses(p, box->in, 1, "mask", &stage);
  uint32_t b = part_make(p, stage, box->out[0]);
  Glyph g = {.kind = GLYPH_MASK, .strict = strict};
  g.words = strict ? "mask: only places before" : "mask: only places up to it";
  for (uint32_t i = 0; i < box->loop->out.rank; i++) {
    coord_is_plain(w, &box->loop->out.coord[i], &index);
    uint32_t x = strand_at(s, use, i), y = strand_at(s, b, i);
    if (index != small && index != large) {
      stage_link(s, stage, LINK_PASS, x, y);
      continue;
    }
    if (!g.in.n) g.upper = index == small;
    vec_push(s->arena, &g.in, x), vec_push(s->arena, &g.out, y);
  }
  vec_push(s->arena, &s->stage.at[stage].glyph, g);
  return true;
}

static bool is_one(const Scalar *x) {
  return x->fn == FN_CONST && x->k > 0.999999 && x->k < 1.000001;
}

// Matches x when i = j else 0, a diagonal matrix: the operand's axis continues as one axis, and the
// other branches off; the identity matrix begins in a cap.
static bool is_diagonal(const Loop *l, uint32_t *i, uint32_t *j) {
  const Scalar *x = &l->scalar[l->nscalar - 1];
  if (l->nin > 1 || x->fn != FN_select) return false;
  const Scalar *when = &l->scalar[x->arg[0]], *yes = &l->scalar[x->arg[1]];
  const Scalar *no = &l->scalar[x->arg[2]];
  if (when->fn != FN_eq || no->fn != FN_CONST || no->k < 0 || no->k > 0) return false;
  const Scalar *a = &l->scalar[when->arg[0]], *b = &l->scalar[when->arg[1]];
  *i = a->ref, *j = b->ref;
  return a->fn == FN_AT && b->fn == FN_AT && a->ref != b->ref &&
         (l->nin ? yes->fn == FN_ARG : is_one(yes));
}

static bool draw_unit(CircuitPart *p, const Box *box, uint32_t i, uint32_t j) {
  Sketch *s = p->c->s;
  World *w = p->c->w;
  uint32_t a = index_place(w, &box->loop->out, i), b = index_place(w, &box->loop->out, j);
  if (box->loop->out.rank != 2 || a + b != 1) return false;
  uint32_t stage = sketch_stage(s, p->block, "unit");
  put_unit(s, stage, strand_at(s, part_make(p, stage, box->out[0]), 0));
  return true;
}

static bool draw_diagonal(CircuitPart *p, const Box *box) {
  Sketch *s = p->c->s;
  World *w = p->c->w;
  const Loop *l = box->loop;
  uint32_t i, j, x;
  if (l->combine != SUM || !is_diagonal(l, &i, &j)) return false;
  if (!l->nin) return draw_unit(p, box, i, j);
  if (index_place(w, &l->in[0], i) == l->in[0].rank) x = i, i = j, j = x;
  uint32_t from = index_place(w, &l->in[0], i), to = index_place(w, &l->out, j);
  if (from == l->in[0].rank || to == l->out.rank || l->out.rank != l->in[0].rank + 1) return false;
  for (uint32_t k = 0; k < l->in[0].rank; k++)
    if (!coord_is_plain(w, &l->in[0].coord[k], &x) || index_place(w, &l->out, x) == l->out.rank)
      return false;
  uint32_t stage, use = *part_uses(p, box->in, 1, "diagonal", &stage);
  uint32_t b = part_make(p, stage, box->out[0]);
  for (uint32_t k = 0; k < l->in[0].rank; k++) {
    coord_is_plain(w, &l->in[0].coord[k], &x);
    stage_link(s, stage, LINK_PASS, strand_at(s, use, k),
               strand_at(s, b, index_place(w, &l->out, x)));
  }
  stage_link(s, stage, LINK_COPY, strand_at(s, use, from), strand_at(s, b, to));
  return true;
}

// The stage in which operands meet, and its result.
static AxisJoining join_operands(LoopReading *r, const char *text, const Ids *whole) {
  CircuitPart *p = r->p;
  Sketch *s = p->c->s;
  const Loop *l = r->l;
  AxisJoining j = {.order = joined_order(r, whole), .mean = begins_mean(p, r->box)};
  j.stage = sketch_stage(s, p->block, text ? text : "combine");
  s->stage.at[j.stage].free = true;
  j.use = NEW_ARRAY(s->arena, uint32_t, l->nin + 1);
  for (uint32_t i = 0; i < l->nin; i++)
    if (!r->gone[i]) {
      j.use[i] = sketch_use(s, j.stage, r->bundle[i]);
      say_use(p, r->box->in, i, j.use[i]);
    }
  if (same_ids(&j.order, whole)) {
    j.result = make_result(r, j.stage, whole);
  } else {
    j.result = sketch_make(s, j.stage, NULL, j.order.n);
    label_indices(r, j.result, &j.order);
  }
  return j;
}

// The bundle of an embedding if the loop is nothing else; 0 otherwise.
static uint32_t only_read(const LoopReading *r, const char *text) {
  uint32_t left = 0, last = 0;
  Ids out = {0};
  if (text || r->winner || !plain_indices(r, &r->l->out, &out)) return 0;
  for (uint32_t i = 0; i < r->l->nin; i++)
    if (!r->gone[i]) left++, last = i;
  if (left != 1 || r->bundle[last] == r->p->made[r->box->in[last]]) return 0;
  bool number = r->index[last].n == 1 && !r->index[last].at[0];
  return (r->l->out.rank ? same_ids(&out, &r->index[last]) : number) ? r->bundle[last] : 0;
}

// Is a scalar multiplied with a tensor? It ends there without a visible connection.
static bool scales(const LoopReading *r) {
  bool any = false;
  for (uint32_t i = 0; i < r->l->nin; i++)
    any |= !r->gone[i] && is_in_body(r->l, i) && r->index[i].n == 1 && !r->index[i].at[0];
  return any && terms_of(&r->l->out) && r->l->nin > 1;
}

// Writes the formula above the result, with names of its operands.
static void put_formula(const LoopReading *r, const AxisJoining *j, const char *text) {
  Sketch *s = r->p->c->s;
  FormulaOf of = {r->p->c->w, r->p->d, r->l, r->box->in};
  Glyph *g = stage_glyph(s, j->stage, GLYPH_WISE, text);
  g->over = j->result;
  g->turned = formula_named(&of, s->arena);
  for (uint32_t i = 0; i < r->l->nin; i++)
    if (!r->gone[i] && is_in_body(r->l, i)) s->bundle.at[j->use[i]].as = formula_operand(&of, i);
}

// Reduces an index that no operand has: a multiplication by its size.
static uint32_t put_times(LoopReading *r, const AxisJoining *j, uint32_t bundle) {
  Sketch *s = r->p->c->s;
  World *w = r->p->c->w;
  Size n = size_of(w, 1);
  for (uint32_t i = 0; i < r->l->nindex; i++)
    if (loop_is_reduced(w, r->l, i) && !is_read(r, i + 1) && !is_counted(r->l, i))
      n = size_mul(w, n, r->l->index[i].size);
  if (j->mean || r->l->combine > PROD || size_now(w, n) == size_of(w, 1)) return bundle;
  uint32_t made = pass_stage(r->p, r->p->block, bundle, "as often");
  const char *times = size_words(r, size_now(w, n));
  Glyph *g = stage_glyph(s, maker_of(s, made), GLYPH_WISE,
                         arena_format(s->arena, r->l->combine == SUM ? "*%s" : "x^{%s}", times));
  g->over = made;
  return made;
}

// An index used as value but on no wire is reduced in the formula: Σ_{i} f(i).
static const char *reduced_text(const LoopReading *r, const char *text) {
  for (uint32_t i = r->l->nindex; text && i-- > 0;)
    if (loop_is_reduced(r->p->c->w, r->l, i) && !is_read(r, i + 1) && is_counted(r->l, i))
      text = arena_format(r->p->c->s->arena, "%s_{%s<%s} (%s)",
                          combine_text(r->l->combine, r->winner == i + 1),
                          name_text(r->p->c->w->names, r->l->index[i].name),
                          size_words(r, r->l->index[i].size), text);
  return text;
}

// Draws one result of a loop: the reduction or its argmax.
static void draw_made(CircuitPart *p, const Box *box, Id made, uint32_t winner) {
  Sketch *s = p->c->s;
  const Loop *l = box->loop;
  LoopReading r = {.p = p, .box = box, .l = l, .made = made, .winner = winner};
  r.bundle = NEW_ARRAY(s->arena, uint32_t, l->nin + 1);
  r.index = NEW_ARRAY(s->arena, Ids, l->nin + 1);
  r.gone = NEW_ARRAY(s->arena, bool, l->nin + 1);
  for (uint32_t i = 0; i < l->nin; i++) read_operand(&r, i);
  const char *text = body_text(p, box);
  bool product = is_product(l, l->nscalar - 1);
  uint32_t only = only_read(&r, text);
  if (product && scales(&r)) text = fn_rows[FN_mul].glyph;
  text = reduced_text(&r, text);
  if (only) {
    p->made[made] = only;
    label_wire(p, made);
    return;
  }
  Ids whole = result_order(&r);
  AxisJoining j = join_operands(&r, text, &whole);
  for (uint32_t i = 0; i < l->nindex; i++) join_index(&r, &j, i, product);
  join_scalars(&r, &j);
  begin_scalar(&r, &j);
  bool unit =
      !l->nin && j.order.n == 2 && begins_twice(&j, 0) && is_one(&l->scalar[l->nscalar - 1]);
  if (!unit && !put_constant(&r, &j, text) && text) put_formula(&r, &j, text);
  uint32_t joined = same_ids(&j.order, &whole) ? j.result : spread_indices(&r, &j, &whole);
  if (!is_plain_access(&r, &l->out)) write_result(&r, joined);
  p->made[made] = put_times(&r, &j, p->made[made]);
}

// Does each index cover all of its axes?
static bool reads_whole(CircuitPart *p, const Box *box) {
  LoopReading r = {.p = p, .box = box, .l = box->loop, .made = box->out[0]};
  for (uint32_t i = 0; i <= r.l->nin; i++) {
    const Access *a = i < r.l->nin ? &r.l->in[i] : &r.l->out;
    for (uint32_t k = 0, index; k < a->rank; k++)
      if (coord_is_plain(p->c->w, &a->coord[k], &index) && !plain_index(&r, &a->coord[k], &index))
        return false;
  }
  return true;
}

// An argmax is drawn beside the result, on copies of the operands.
void draw_loop(CircuitPart *p, const Box *box) {
  const Loop *l = box->loop;
  if (ends_mean(p, box)) {
    p->made[box->out[0]] = p->made[box->in[0]];
    label_wire(p, box->out[0]);
    return;
  }
  if (reads_whole(p, box) && (draw_mask(p, box) || draw_diagonal(p, box))) return;
  bool places = false;
  for (uint32_t k = 1; k < box->nout; k++) places |= part_reads(p, box->out[k]) > 0;
  if (!places || part_reads(p, box->out[0])) draw_made(p, box, box->out[0], 0);
  for (uint32_t i = 0, k = 1; i < l->nindex && k < box->nout; i++) {
    if (!loop_is_reduced(p->c->w, l, i)) continue;
    if (part_reads(p, box->out[k])) draw_made(p, box, box->out[k], i + 1);
    k++;
  }
}
