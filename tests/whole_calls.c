// Lines of random programs that use boxes: boxes of the program with batch axes, their derivatives,
// scans, layers of the library, learners, states.
#include "whole_program.h"

// -- binding --------------------------------------------------------------------------------------
enum { BOUND = 12 };
typedef struct {
  struct {
    Id variable;
    WholeAxis to;
  } at[BOUND];
  uint32_t n;
} Bound;

static WholeAxis *bound_to(Bound *b, Id variable) {
  for (uint32_t i = 0; i < b->n; i++)
    if (b->at[i].variable == variable) return &b->at[i].to;
  return NULL;
}

static bool axis_takes(Bound *b, const WholeAxis *param, const WholeAxis *arg) {
  if (!param->variable && (arg->variable || !axis_meets(param, arg))) return false;
  Id name = param->variable ? param->variable : param->axis ? 0 : param->label;
  if (!name) return true;
  WholeAxis *to = bound_to(b, name);
  if (!to) {
    if (b->n == BOUND) return false;
    b->at[b->n].variable = name;
    b->at[b->n++].to = *arg;
    return true;
  }
  if (!axis_meets(to, arg)) return false;
  if (to->label != arg->label) to->label = 0, to->axis = to->axis == arg->axis ? to->axis : 0;
  return true;
}

// The parameter takes the last axes of the argument.
static bool type_takes(Bound *b, const WholeType *param, const WholeType *arg) {
  if (param->labels != arg->labels || param->rank > arg->rank) return false;
  if (param->labels && !axis_takes(b, &param->range, &arg->range)) return false;
  uint32_t skip = arg->rank - param->rank;
  for (uint32_t i = 0; i < param->rank; i++)
    if (!axis_takes(b, &param->axis[i], &arg->axis[skip + i])) return false;
  return true;
}

// What the caller gets: the axes that the box declares, under the caller's labels.
static WholeType result_of(Maker *m, Bound *b, const WholeType *out) {
  WholeType t = *out;
  if (t.labels && t.range.variable) {
    WholeAxis *to = bound_to(b, t.range.variable);
    if (to) t.range = *to;
  }
  t.range.label = 0;
  for (uint32_t i = 0; i < t.rank; i++) {
    WholeAxis *a = &t.axis[i];
    Id name = a->variable ? a->variable : a->axis ? 0 : a->label;
    WholeAxis *to = name ? bound_to(b, name) : NULL;
    if (to)
      *a = *to;
    else if (a->axis)
      a->label = a->axis;
    else if (a->label) // it goes into another body, where letters may be taken
      m->p->name.at[a->label].other =
          arena_format(m->p->arena, "%s_", m->p->name.at[a->label].text);
  }
  return t;
}

static bool in_front(WholeType *t, const WholeAxis *axis, uint32_t n) {
  if (t->rank + n > WHOLE_AXES) return false;
  for (uint32_t i = t->rank; i; i--) t->axis[i - 1 + n] = t->axis[i - 1];
  for (uint32_t i = 0; i < n; i++) t->axis[i] = axis[i];
  t->rank += n;
  return true;
}

// -- calls ----------------------------------------------------------------------------------------
static const WholeDecl *some_box(Maker *m) {
  for (uint32_t turn = 0; turn < 10; turn++) {
    const WholeDecl *d = m->p->decl.at[below(m, m->p->decl.n)];
    if (d->kind == DECL_BOX && (d->asked || d->elsewhere) && d->out.n == 1) return d;
  }
  return NULL;
}

typedef struct {
  const WholeDecl *d;
  Bound bound;
  WholeType extra; // axes that pass over
  const WholeWire *arg[4];
} Call;

// Arguments that fit, with the same axes in front, or none.
static bool find_arguments(Maker *m, Call *c, bool rows) {
  for (uint32_t i = 0; i < c->d->in.n; i++) {
    const WholeType *want = &c->d->in.at[i].type;
    c->arg[i] = NULL;
    for (uint32_t turn = 0; !c->arg[i] && turn < 12; turn++) {
      const WholeWire *w = &m->wire.at[below(m, m->wire.n)];
      Bound before = c->bound;
      uint32_t more = w->type.rank - want->rank;
      bool fits = type_takes(&c->bound, want, &w->type) && (!more || rows);
      if (fits && more && c->extra.rank) {
        fits = more == c->extra.rank;
        for (uint32_t k = 0; fits && k < more; k++)
          fits = w->type.axis[k].label && w->type.axis[k].label == c->extra.axis[k].label &&
                 axis_meets(&w->type.axis[k], &c->extra.axis[k]);
      }
      if (fits && more && !c->extra.rank)
        for (c->extra.rank = 0; c->extra.rank < more; c->extra.rank++)
          c->extra.axis[c->extra.rank] = w->type.axis[c->extra.rank];
      if (fits)
        c->arg[i] = w;
      else
        c->bound = before;
    }
    if (!c->arg[i]) return false;
  }
  return true;
}

static void inherit(Maker *m, const WholeDecl *d) {
  m->d->weighted |= d->weighted, m->d->noisy |= d->noisy, m->d->slopes |= d->slopes;
  m->d->batched |= d->batched, m->d->remembers |= d->remembers, m->d->stops |= d->stops;
  m->d->learns |= d->learns;
}

// The name of the box with its options: in order, by name, or computed from those of the caller.
static WholeNode *callee(Maker *m, const WholeDecl *d) {
  WholeNode *n = whole_node(m->p, NULL, "%n", d->name);
  if (!d->option.n || one_in(m, 3)) return n;
  Id o = d->option.at[d->option.n - 1].name;
  if (m->d->option.n && one_in(m, 2)) {
    Id own = m->d->option.at[below(m, m->d->option.n)].name;
    n = whole_node(m->p, NULL, one_in(m, 2) ? "%n[%n: 2*%n]" : "%n[%n: %n+1]", d->name, o, own);
  } else if (one_in(m, 2))
    n = whole_node(m->p, NULL, "%n[%n: %d]", d->name, o, 1 + (int)below(m, 3));
  else
    n = whole_node(m->p, NULL, "%n[%d]", d->name, 1 + (int)below(m, 3));
  n->atom = true;
  return n;
}

static void add_argument(Maker *m, WholeNode *call, WholeNode *x, bool first) {
  if (!first) vec_push(m->p->arena, &call->piece, (WholePiece){.text = ", "});
  vec_push(m->p->arena, &call->piece, (WholePiece){.node = x, .bare = true});
}

static void mark_weighted(Maker *m, bool weighted) {
  if (m->d->line.n) m->d->line.at[m->d->line.n - 1].weighted |= weighted;
}

bool turn_call(Maker *m) {
  Call c = {.d = some_box(m)};
  if (!c.d || !find_arguments(m, &c, true)) return false;
  WholeType t = result_of(m, &c.bound, &c.d->out.at[0]);
  if (!in_front(&t, c.extra.axis, c.extra.rank)) return false;
  WholeNode *call = whole_node(m->p, &t, "%e(", callee(m, c.d));
  for (uint32_t i = 0; i < c.d->in.n; i++) add_argument(m, call, maker_operand(m, c.arg[i]), !i);
  vec_push(m->p->arena, &call->piece, (WholePiece){.text = ")"});
  call->atom = true;
  maker_let(m, call);
  mark_weighted(m, c.d->weighted || c.d->remembers);
  inherit(m, c.d);
  return true;
}

// f(x) over h: the axis h stands anywhere.
static bool try_over(Maker *m) {
  const WholeDecl *d = some_box(m);
  const WholeWire *x = maker_wire(m, 1, WHOLE_AXES);
  if (!d || !x || d->in.n != 1 || d->in.at[0].type.labels ||
      x->type.rank != d->in.at[0].type.rank + 1)
    return false;
  uint32_t k = below(m, x->type.rank);
  WholeAxis h = x->type.axis[k];
  Bound b = {0};
  WholeType rest = x->type;
  for (uint32_t i = k; i + 1 < rest.rank; i++) rest.axis[i] = rest.axis[i + 1];
  rest.rank--;
  bool twice = !h.label;
  for (uint32_t i = 0; i < rest.rank; i++) twice |= rest.axis[i].label == h.label;
  if (twice || !type_takes(&b, &d->in.at[0].type, &rest)) return false;
  WholeType t = result_of(m, &b, &d->out.at[0]);
  if (!in_front(&t, &h, 1)) return false;
  const WholeType *in = &d->in.at[0].type, *out = &d->out.at[0];
  bool stays = out->rank == in->rank;
  for (uint32_t i = 0; stays && i < in->rank; i++) {
    if (!in->axis[i].label && !out->axis[i].label) return false;
    stays = in->axis[i].label == out->axis[i].label;
  }
  if (stays && in->rank) { // its first parameter's axes: every axis stays where it was
    t.rank = x->type.rank;
    memcpy(t.axis, x->type.axis, sizeof t.axis);
  }
  WholeNode *call = whole_node(m->p, &t, "%e(%E) over %n", callee(m, d), maker_ref(m, x), h.label);
  call->atom = false;
  maker_let(m, call);
  mark_weighted(m, d->weighted || d->remembers);
  inherit(m, d);
  return true;
}

bool turn_over(Maker *m) {
  for (uint32_t turn = 0; turn < 12; turn++)
    if (try_over(m)) return true;
  return false;
}

// -- slopes ---------------------------------------------------------------------------------------
static bool all_real(const WholeDecl *d) {
  bool real = !d->out.at[0].labels;
  for (uint32_t i = 0; i < d->in.n; i++) real &= !d->in.at[i].type.labels;
  return real;
}

// Like this type; the first axes, which pass over, under the same labels.
static const WholeWire *wire_like(Maker *m, const WholeType *t, uint32_t rows) {
  for (uint32_t i = 0; i < m->wire.n; i++) {
    const WholeWire *w = &m->wire.at[(i + 3) % m->wire.n];
    bool same = !w->type.labels && w->type.rank == t->rank;
    for (uint32_t k = 0; same && k < t->rank; k++)
      same = axis_meets(&w->type.axis[k], &t->axis[k]) &&
             (k >= rows || w->type.axis[k].label == t->axis[k].label);
    if (same) return w;
  }
  return NULL;
}

static bool forward(Maker *m, Call *c, WholeNode *call, const WholeType *out) {
  for (uint32_t i = 0; i < c->d->in.n; i++) {
    const WholeWire *change =
        wire_like(m, &c->arg[i]->type, c->arg[i]->type.rank - c->d->in.at[i].type.rank);
    add_argument(m, call, maker_operand(m, change), false);
  }
  vec_push(m->p->arena, &call->piece, (WholePiece){.text = ")"});
  call->type = *out, call->value = call->atom = true;
  maker_let(m, call);
  return true;
}

static bool backward(Maker *m, Call *c, WholeNode *call, const WholeType *out) {
  const WholeWire *dy = wire_like(m, out, c->extra.rank);
  if (!dy && out->rank) return false;
  add_argument(m, call, dy && !one_in(m, 3) ? maker_operand(m, dy) : whole_node(m->p, NULL, "0.5"),
               false);
  vec_push(m->p->arena, &call->piece, (WholePiece){.text = ")"});
  call->atom = true;
  WholeType own[4];
  for (uint32_t i = 0; i < c->d->in.n; i++) {
    own[i] = c->arg[i]->type; // each row has cotangents of its own
    if (own[i].rank == c->d->in.at[i].type.rank && !in_front(&own[i], c->extra.axis, c->extra.rank))
      return false;
  }
  if (c->d->in.n == 1) {
    call->type = own[0], call->value = true;
    maker_let(m, call);
    return true;
  }
  WholeNode *line = whole_node(m->p, NULL, "");
  WholeLine made = {0};
  for (uint32_t i = 0; i < c->d->in.n; i++) {
    Id name = maker_name(m, NAME_WIRE);
    if (i) vec_push(m->p->arena, &line->piece, (WholePiece){.text = ", "});
    vec_push(m->p->arena, &line->piece, (WholePiece){.name = name});
    vec_push(m->p->arena, &made.makes, name);
  }
  vec_push(m->p->arena, &line->piece, (WholePiece){.text = " = "});
  vec_push(m->p->arena, &line->piece, (WholePiece){.node = call, .bare = true});
  made.line = line;
  vec_push(m->p->arena, &m->d->line, made);
  for (uint32_t i = 0; i < c->d->in.n; i++)
    vec_push(m->p->arena, &m->wire, (WholeWire){made.makes.at[i], own[i]});
  return true;
}

bool turn_slope(Maker *m) {
  Call c = {.d = some_box(m)};
  if (!c.d || !all_real(c.d) || !find_arguments(m, &c, true)) return false;
  if (c.d->noisy || c.d->remembers) return false;
  WholeType t = result_of(m, &c.bound, &c.d->out.at[0]);
  if (!in_front(&t, c.extra.axis, c.extra.rank)) return false;
  bool push = one_in(m, 2);
  WholeNode *call = whole_node(m->p, NULL, push ? "fwd[%E](" : "rev[%E](", callee(m, c.d));
  for (uint32_t i = 0; i < c.d->in.n; i++) add_argument(m, call, maker_operand(m, c.arg[i]), !i);
  bool good = push ? forward(m, &c, call, &t) : backward(m, &c, call, &t);
  if (!good) return false;
  mark_weighted(m, c.d->weighted);
  inherit(m, c.d);
  m->d->slopes = true;
  return true;
}

// -- scans ----------------------------------------------------------------------------------------
// A cell of its own: x and what is carried, both like a row of the wire.
static Id some_cell(Maker *m, const WholeType *row) {
  Maker inner = {.p = m->p, .state = maker_draw(m), .depth = m->depth + 1};
  WholeDecl *d = maker_decl(&inner, DECL_BOX, NAME_BOX);
  WholeType t = *row;
  for (uint32_t i = 0; i < t.rank; i++) {
    Id name = maker_name(&inner, NAME_AXIS);
    t.axis[i] = (WholeAxis){.label = name, .variable = name, .n = row->axis[i].n};
  }
  for (uint32_t i = 0; i < 2; i++) {
    WholeWire w = {maker_name(&inner, NAME_WIRE), t};
    vec_push(m->p->arena, &d->in, w);
    vec_push(m->p->arena, &inner.wire, w);
  }
  WholeNode *x = maker_operand(&inner, &d->in.at[0]), *h = maker_ref(&inner, &d->in.at[1]);
  const WholeWire *y = maker_let(&inner, whole_node(m->p, &t, "%e * 0.7 - %e", x, h));
  maker_return(&inner, whole_node(m->p, &t, "tanh(%e + %e)", maker_ref(&inner, y), h));
  d->asked = true;
  vec_push(m->p->arena, &m->p->decl, d);
  return d->name;
}

bool turn_scan(Maker *m) {
  const WholeWire *x = maker_wire(m, 1, 3);
  if (!x || m->depth || !x->type.axis[0].label) return false;
  Id label = x->type.axis[0].label;
  WholeType row = x->type;
  for (uint32_t i = 0; i + 1 < row.rank; i++) {
    row.axis[i] = row.axis[i + 1];
    if (row.axis[i].label == label) return false;
  }
  row.rank--;
  WholeType t = x->type;
  const WholeWire *start = one_in(m, 2) ? wire_like(m, &row, 0) : NULL;
  WholeNode *a = maker_operand(m, x);
  Id cell = some_cell(m, &row);
  for (uint32_t i = 0; start && i < start->type.rank; i++)
    if (start->type.axis[i].label == label) start = NULL; // it would run along the axis
  if (start)
    maker_let(m, whole_node(m->p, &t, "scan[%n, %n](%E, %E)", label, cell, a, maker_ref(m, start)));
  else
    maker_let(m, whole_node(m->p, &t, "scan[%n, %n](%E)", label, cell, a));
  return true;
}

// -- layers ---------------------------------------------------------------------------------------
bool turn_layers(Maker *m) {
  const WholeWire *x = maker_wire(m, 1, 3);
  if (!x) return false;
  WholeType t = x->type, made = x->type;
  uint32_t last = t.rank - 1;
  made.axis[last] = (WholeAxis){.n = 2};
  WholeNode *a = maker_operand(m, x);
  switch (below(m, 6)) {
  case 0: maker_let(m, whole_node(m->p, &made, "dense[2](%E)", a)); break;
  case 1: maker_let(m, whole_node(m->p, &made, "linear[2](%E)", a)); break;
  case 2: maker_let(m, whole_node(m->p, &t, "layer_norm(%E)", a)); break;
  case 3: maker_let(m, whole_node(m->p, &t, "rms_norm(%E)", a)); break;
  case 4: maker_let(m, whole_node(m->p, &t, "bias(%E)", a)); break;
  default: maker_let(m, whole_node(m->p, &t, "batch_norm(%E)", a)), m->d->batched = true;
  }
  mark_weighted(m, true);
  m->d->weighted = true;
  return true;
}

bool turn_embed(Maker *m) {
  for (uint32_t i = 0; i < m->wire.n; i++) {
    const WholeWire *k = &m->wire.at[i];
    if (!k->type.labels || k->type.rank >= WHOLE_AXES) continue;
    WholeType t = k->type;
    t.labels = false;
    t.axis[t.rank++] = (WholeAxis){.n = 2};
    maker_let(m, whole_node(m->p, &t, "embed[2](%E)", maker_ref(m, k)));
    mark_weighted(m, true);
    m->d->weighted = true;
    return true;
  }
  return false;
}

bool turn_compose(Maker *m) {
  static const char *const how[] = {"(relu & tanh ; add)(%E)",
                                    "(tanh ; square)(%E)",
                                    "(sin ^ 2)(%E)",
                                    "add((tanh & sin)(%E))",
                                    "residual[tanh ; scale[0.5]](%E)",
                                    "(copy ; (tanh, relu) ; swap ; add)(%E)"};
  const WholeWire *x = maker_wire(m, 0, 3);
  if (!x) return false;
  WholeType t = x->type;
  maker_let(m, whole_node(m->p, &t, PICK(m, how), maker_operand(m, x)));
  return true;
}

bool turn_repeat(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, 3);
  if (!x) return false;
  WholeType t = x->type;
  const WholeWire *y = maker_let(m, maker_operand(m, x));
  Id k = maker_name(m, NAME_INDEX), name = y->name;
  WholeLine *l = maker_line(
      m, whole_node(m->p, NULL, "for %n in 1..2 { %n = tanh(%n + 0.1 * %n) }", k, name, name, k));
  vec_push(m->p->arena, &l->makes, name);
  (void)t;
  return true;
}

// A label that is remembered, or a number.
bool turn_state(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, 2);
  if (!x || m->d->kind != DECL_BOX || m->depth) return false;
  Id s = maker_name(m, NAME_WEIGHT);
  const WholeAxis *a = x->type.rank ? &x->type.axis[0] : NULL;
  bool label = a && !a->variable && one_in(m, 2);
  WholeType t = x->type, none = {0};
  WholeLine *l = maker_line(
      m, label ? whole_node(m->p, NULL, "state %n : {%d} = %d", s, (int)a->n, (int)a->n - 1)
               : whole_node(m->p, NULL, "state %n : %t = 0.3", s, &none));
  vec_push(m->p->arena, &l->makes, s);
  l->weighted = true;
  maker_line(m, label ? whole_node(m->p, NULL, "next %n = %n", s, s)
                      : whole_node(m->p, NULL, "next %n = 0.5 * %n + 1", s, s))
      ->weighted = true;
  m->d->remembers = true;
  if (!label) {
    maker_let(m, whole_node(m->p, &t, "%n + %e", s, maker_ref(m, x)));
    return true;
  }
  WholeType rest = t;
  WholeNode *place = whole_node(m->p, NULL, "%n[%n", x->name, s);
  Id y = maker_name(m, NAME_WIRE), i = maker_name(m, NAME_INDEX);
  rest.rank = t.rank - 1;
  if (rest.rank) {
    rest.axis[0] = t.axis[1];
    rest.axis[0].label = i, rest.axis[0].axis = 0;
    l = maker_line(m, whole_node(m->p, NULL, "%n[%n] = %e %n]", y, i, place, i));
  } else
    l = maker_line(m, whole_node(m->p, NULL, "%n = %e]", y, place));
  place->atom = true;
  vec_push(m->p->arena, &l->makes, y);
  vec_push(m->p->arena, &m->wire, (WholeWire){y, rest});
  return true;
}

// A learner of the program, or a member of a family.
bool turn_learner(Maker *m) {
  for (uint32_t turn = 0; turn < 10; turn++) {
    const WholeDecl *d = m->p->decl.at[below(m, m->p->decl.n)];
    const WholeWire *x = maker_wire(m, 1, 3);
    if (d->kind != DECL_LEARNER || d->in.n != 1 || !x || d->in.at[0].type.rank != 1) continue;
    Bound b = {0};
    if (!type_takes(&b, &d->in.at[0].type, &x->type)) continue;
    WholeType t = x->type;
    t.axis[t.rank - 1] = result_of(m, &b, &d->out.at[0]).axis[0];
    WholeNode *a = maker_operand(m, x);
    if (d->family)
      maker_let(m, whole_node(m->p, &t, "%n[%d](%E)", d->name, (int)below(m, d->family), a));
    else
      maker_let(m, whole_node(m->p, &t, "%n(%E)", d->name, a));
    m->d->batched |= d->batched, m->d->noisy |= d->noisy, m->d->learns = true;
    return true;
  }
  return false;
}

// Wires side by side.
bool turn_several(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, 2), *y = maker_wire(m, 0, 2);
  if (!x || !y) return false;
  WholeType tx = x->type, ty = y->type;
  if (type_same(&tx, &ty) && tx.rank < 3 && one_in(m, 2)) {
    WholeType t = tx;
    WholeAxis two = {.n = 2};
    in_front(&t, &two, 1);
    maker_let(m, whole_node(m->p, &t, "[%E, %E]", maker_ref(m, x), maker_ref(m, y)));
    return true;
  }
  Id a = maker_name(m, NAME_WIRE), b = maker_name(m, NAME_WIRE);
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "%n, %n = swap(%E, %E)", a, b,
                                          maker_operand(m, x), maker_operand(m, y)));
  vec_push(m->p->arena, &l->makes, a);
  vec_push(m->p->arena, &l->makes, b);
  vec_push(m->p->arena, &m->wire, (WholeWire){a, ty});
  vec_push(m->p->arena, &m->wire, (WholeWire){b, tx});
  return true;
}
