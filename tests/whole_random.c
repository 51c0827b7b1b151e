// Generates random whole programs: axes, then boxes that use earlier ones, then learners and goals.
// The generator keeps the wires of the current body with their types; each iteration adds a line
// whose operands have the right types by the rules of the manual, so a program that limn refuses is
// an error of the generator or of limn.
#include "whole_program.h"

// -- chance and names -----------------------------------------------------------------------------
uint64_t maker_draw(Maker *m) {
  uint64_t x = m->state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static Id name_in(Maker *m, WholeNameKind kind, uint32_t scope) {
  static const char *const stem[] = {"w", "i", "n", "box", "op", "W", "net", "goal", "f"};
  uint32_t k = m->p->name.n ? m->p->name.n : 1;
  return whole_name_add(m->p, kind, scope, arena_format(m->p->arena, "%s%u", stem[kind], k));
}
Id maker_name(Maker *m, WholeNameKind kind) { return name_in(m, kind, m->d->scope); }
Id maker_global(Maker *m, WholeNameKind kind) { return name_in(m, kind, 0); }

// -- types ----------------------------------------------------------------------------------------
bool axis_meets(const WholeAxis *a, const WholeAxis *b) {
  if (a->variable || b->variable) return a->variable == b->variable;
  return a->n == b->n && !(a->axis && b->axis && a->axis != b->axis);
}

bool type_same(const WholeType *a, const WholeType *b) {
  bool same = a->rank == b->rank && a->labels == b->labels;
  for (uint32_t i = 0; same && i < a->rank; i++)
    same = a->axis[i].label == b->axis[i].label && axis_meets(&a->axis[i], &b->axis[i]);
  return same;
}

// Every axis has a label of its own.
static bool is_labelled(const WholeType *t) {
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!t->axis[i].label) return false;
    for (uint32_t k = 0; k < i; k++)
      if (t->axis[k].label == t->axis[i].label) return false;
  }
  return true;
}

// b may be added to a: by label, in the same order, or one number.
static bool fits_in(const WholeType *b, const WholeType *a) {
  uint32_t at = 0;
  if (!is_labelled(b) || !is_labelled(a) || a->labels || b->labels) return false;
  for (uint32_t i = 0; i < b->rank; i++, at++) {
    while (at < a->rank && a->axis[at].label != b->axis[i].label) at++;
    if (at == a->rank || !axis_meets(&a->axis[at], &b->axis[i])) return false;
  }
  return true;
}

static WholeType without(const WholeType *t, uint32_t k) {
  WholeType r = *t;
  for (uint32_t i = k; i + 1 < r.rank; i++) r.axis[i] = r.axis[i + 1];
  r.rank--;
  return r;
}

// -- lines ----------------------------------------------------------------------------------------
const WholeWire *maker_wire(Maker *m, uint32_t least, uint32_t most) {
  for (uint32_t turn = 0; turn < 16 && m->wire.n; turn++) {
    uint32_t k = below(m, m->wire.n), late = below(m, m->wire.n);
    const WholeWire *w = &m->wire.at[one_in(m, 2) || late < k ? k : late];
    if (!w->type.labels && w->type.rank >= least && w->type.rank <= most) return w;
  }
  return NULL;
}

WholeNode *maker_ref(Maker *m, const WholeWire *w) {
  return whole_node(m->p, &w->type, "%n", w->name);
}

WholeNode *maker_operand(Maker *m, const WholeWire *w) {
  static const char *const soft[] = {"tanh", "relu", "sigmoid", "sin", "square", "softsign"};
  WholeNode *x = maker_ref(m, w);
  if (w->type.labels || !one_in(m, 3)) return x;
  if (one_in(m, 2)) return whole_node(m->p, &w->type, "0.5 * %e", x);
  return whole_node(m->p, &w->type, "%s(%E)", PICK(m, soft), x);
}

WholeLine *maker_line(Maker *m, WholeNode *line) {
  vec_push(m->p->arena, &m->d->line, (WholeLine){.line = line});
  return &m->d->line.at[m->d->line.n - 1];
}

const WholeWire *maker_let(Maker *m, WholeNode *value) {
  Id name = maker_name(m, NAME_WIRE);
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "%n = %E", name, value));
  vec_push(m->p->arena, &l->makes, name);
  l->let = true;
  vec_push(m->p->arena, &m->wire, (WholeWire){name, value->type});
  return &m->wire.at[m->wire.n - 1];
}

// What callers see of an axis is what the type says: its size has a name, or its label stands there.
static Id name_said(const WholeAxis *a) {
  return a->variable ? a->variable : a->axis ? a->axis : a->label;
}

void maker_return(Maker *m, WholeNode *value) {
  WholeType out = value->type;
  for (uint32_t i = 0; i < out.rank; i++) out.axis[i].label = name_said(&out.axis[i]);
  vec_push(m->p->arena, &m->d->out, out);
  maker_line(m, whole_node(m->p, NULL, "return %E", value))->last = true;
}

// -- at each place, and along axes ----------------------------------------------------------------
static bool turn_each(Maker *m) {
  static const char *const f[] = {
      "tanh",      "relu",       "sigmoid", "sin",       "softplus",
      "abs",       "gelu",       "silu",    "square",    "scale[0.5]",
      "elu",       "leaky_relu", "stop",    "hard_tanh", "leaky_relu[0.2]",
      "divide[2]", "dropout",    "erf",     "cos",       "clamp[-1, 1]"};
  const WholeWire *x = maker_wire(m, 0, WHOLE_AXES);
  if (!x) return false;
  const char *name = PICK(m, f);
  m->d->stops |= !strcmp(name, "stop");
  maker_let(m, whole_node(m->p, &x->type, "%s(%E)", name, maker_operand(m, x)));
  return true;
}

static bool turn_two(Maker *m) {
  static const char *const how[] = {
      "%e + %e", "%e - %e", "%e * %e", "%e / (2 + abs(%E))", "max(%E, %E)", "through(%E, %E)"};
  const WholeWire *x = maker_wire(m, 0, WHOLE_AXES);
  for (uint32_t turn = 0; x && turn < 8; turn++) {
    const WholeWire *y = maker_wire(m, 0, WHOLE_AXES);
    if (!y || !fits_in(&y->type, &x->type)) continue;
    uint32_t k = below(m, COUNT(how));
    if (k == 5 && !type_same(&x->type, &y->type)) k = 2;
    m->d->stops |= k == 5;
    WholeType t = x->type;
    WholeNode *a = maker_operand(m, x), *b = maker_operand(m, y);
    if (k < 3 && one_in(m, 3))
      maker_let(m, whole_node(m->p, &t, how[k], b, a));
    else
      maker_let(m, whole_node(m->p, &t, how[k], a, b));
    return true;
  }
  return false;
}

// Each less the other, both ways.
static bool turn_mirrored(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, WHOLE_AXES);
  for (uint32_t i = 0; x && i < m->wire.n; i++) {
    const WholeWire *y = &m->wire.at[i];
    if (y == x || !type_same(&x->type, &y->type) || !fits_in(&y->type, &x->type)) continue;
    WholeType t = x->type;
    WholeNode *a = maker_ref(m, x), *b = maker_ref(m, y);
    maker_let(m, whole_node(m->p, &t, "tanh(%e - %e) + 0.5 * sin(%e - %e)", a, b, b, a));
    return true;
  }
  return false;
}

static bool turn_when(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, WHOLE_AXES), *y = maker_wire(m, 0, WHOLE_AXES);
  if (!x || !y) return false;
  WholeType t = x->type;
  WholeNode *a = maker_operand(m, x), *b = maker_ref(m, x);
  if (type_same(&x->type, &y->type) && is_labelled(&t))
    maker_let(m, whole_node(m->p, &t, "%e when %e > 0.1 else %e", a, maker_ref(m, y), b));
  else if (!t.rank || is_labelled(&t))
    maker_let(m, whole_node(m->p, &t, "%e when %e < 0.2 and %e > -0.7 else -0.3", a, b, b));
  else
    return false;
  return true;
}

static bool turn_reduce(Maker *m) {
  static const char *const f[] = {"sum", "mean", "max", "min", "sum", "mean", "prod"};
  const WholeWire *x = maker_wire(m, 1, WHOLE_AXES);
  if (!x) return false;
  uint32_t k = below(m, x->type.rank);
  WholeType t = without(&x->type, k), none = {0};
  Id label = x->type.axis[k].label;
  if (one_in(m, 5))
    maker_let(m, whole_node(m->p, &none, "%s(%E)", PICK(m, f), maker_operand(m, x)));
  else if (is_labelled(&x->type))
    maker_let(m, whole_node(m->p, &t, "%s[%n](%E)", PICK(m, f), label, maker_operand(m, x)));
  else
    return false;
  return true;
}

// With an axis by its label, or without one along the last.
static bool turn_along(Maker *m) {
  static const char *const f[] = {"softmax",   "log_softmax", "cumulative_sum",
                                  "logsumexp", "argmax",      "argmin"};
  const WholeWire *x = maker_wire(m, 1, WHOLE_AXES);
  if (!x) return false;
  uint32_t what = below(m, COUNT(f)), k = below(m, x->type.rank);
  bool last = one_in(m, 4) && what != 2;
  if (last) k = x->type.rank - 1;
  WholeType t = what >= 3 ? without(&x->type, k) : x->type;
  Id label = x->type.axis[k].label;
  if (what >= 4) t.labels = true, t.range = x->type.axis[k], t.range.label = 0;
  if (!last && !is_labelled(&x->type)) return false;
  if (last && what >= 4 && x->type.rank > 1) return false; // without brackets: of all axes
  WholeNode *a = maker_operand(m, x);
  if (last)
    maker_let(m, whole_node(m->p, &t, "%s(%E)", f[what], a));
  else
    maker_let(m, whole_node(m->p, &t, "%s[%n](%E)", f[what], label, a));
  return true;
}

static const WholeWire *label_wire(Maker *m) {
  for (uint32_t turn = 0; turn < 12 && m->wire.n; turn++) {
    const WholeWire *w = &m->wire.at[below(m, m->wire.n)];
    if (w->type.labels) return w;
  }
  return NULL;
}

static bool turn_label(Maker *m) {
  const WholeWire *k = label_wire(m);
  if (!k) return false;
  WholeType t = k->type;
  t.labels = false;
  WholeNode *x = maker_ref(m, k);
  if (one_in(m, 2)) {
    maker_let(m, whole_node(m->p, &t, "number(%E)", x));
    return true;
  }
  if (t.rank == WHOLE_AXES) return false;
  t.axis[t.rank] = t.range;
  t.axis[t.rank++].label = 0;
  maker_let(m, whole_node(m->p, &t, "one_hot(%E)", x));
  return true;
}

static bool turn_concat(Maker *m) {
  const WholeWire *x = maker_wire(m, 1, WHOLE_AXES), *y = maker_wire(m, 1, WHOLE_AXES);
  if (!x || !y || !type_same(&x->type, &y->type) || !is_labelled(&x->type)) return false;
  uint32_t k = one_in(m, 2) ? x->type.rank - 1 : below(m, x->type.rank);
  WholeType t = x->type;
  if (t.axis[k].variable || t.axis[k].n > 4) return false;
  t.axis[k] = (WholeAxis){.n = 2 * t.axis[k].n};
  WholeNode *a = maker_operand(m, x), *b = maker_operand(m, y);
  if (k == t.rank - 1 && one_in(m, 2))
    maker_let(m, whole_node(m->p, &t, "concat(%E, %E)", a, b));
  else if (x->type.axis[k].label)
    maker_let(m, whole_node(m->p, &t, "concat[%n](%E, %E)", x->type.axis[k].label, a, b));
  else
    return false;
  return true;
}

static bool turn_noise(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, 2);
  if (!x || !is_labelled(&x->type)) return false;
  WholeNode *noise = whole_node(m->p, NULL, one_in(m, 2) ? "normal[" : "uniform[");
  for (uint32_t i = 0; i < x->type.rank; i++) {
    const WholeAxis *a = &x->type.axis[i];
    // Its axes are named by their sizes: only so they are those of the wire.
    if ((!a->variable && !a->axis) || a->label != name_said(a)) return false;
    vec_push(m->p->arena, &noise->piece, (WholePiece){.text = i ? " " : ""});
    vec_push(m->p->arena, &noise->piece, (WholePiece){.name = name_said(a)});
  }
  vec_push(m->p->arena, &noise->piece, (WholePiece){.text = "]"});
  WholeNode *value = whole_node(m->p, &x->type, "%e + 0.1 * %e", maker_ref(m, x), noise);
  maker_let(m, value);
  m->d->noisy = true;
  return true;
}

// -- a body ---------------------------------------------------------------------------------------
void maker_body(Maker *m, uint32_t lines) {
  static Turn *const turns[] = {
      turn_each,    turn_two,     turn_two,      turn_mirrored, turn_when,    turn_reduce,
      turn_along,   turn_along,   turn_label,    turn_concat,   turn_noise,   turn_product,
      turn_product, turn_turned,  turn_summed,   turn_masked,   turn_window,  turn_pooled,
      turn_group,   turn_split,   turn_diagonal, turn_copies,   turn_slice,   turn_gather,
      turn_sorted,  turn_scatter, turn_call,     turn_call,     turn_call,    turn_over,
      turn_slope,   turn_slope,   turn_scan,     turn_layers,   turn_compose, turn_repeat,
      turn_state,   turn_learner, turn_embed,    turn_several,  turn_weight,  turn_refit,
      turn_flow,    turn_family,  turn_family,   turn_family,   turn_family,  turn_bits,
      turn_window,  turn_over,    turn_over,     turn_learner,  turn_along};
  for (uint32_t i = 0, turn = 0; i < lines && turn < 60; turn++) i += PICK(m, turns)(m);
}

static WholeAxis some_axis(Maker *m) {
  const Whole *p = m->p;
  uint32_t n = 1 + below(m, 4);
  if (one_in(m, 3)) { // a size that is open
    Id name = maker_name(m, NAME_AXIS);
    return (WholeAxis){.label = name, .variable = name, .n = n};
  }
  for (uint32_t turn = 0; turn < 8 && one_in(m, 2); turn++) {
    const WholeDecl *d = p->decl.at[below(m, p->decl.n)];
    if (d->kind == DECL_OTHER && d->name && p->name.at[d->name].kind == NAME_AXIS)
      return (WholeAxis){.label = d->name, .axis = d->name, .n = d->family};
  }
  if (one_in(m, 3)) return (WholeAxis){.n = n};
  return (WholeAxis){.label = maker_name(m, NAME_AXIS), .n = n};
}

static WholeType some_type(Maker *m) {
  WholeType t = {.rank = one_in(m, 8) ? 3 : below(m, 3)};
  for (uint32_t i = 0; i < t.rank; i++) {
    // often an axis that another input has: then they meet
    const WholeType *other = m->d->in.n ? &m->d->in.at[below(m, m->d->in.n)].type : NULL;
    bool again = other && other->rank && one_in(m, 2);
    t.axis[i] = again ? other->axis[below(m, other->rank)] : some_axis(m);
    for (uint32_t k = 0; k < i; k++)
      if (t.axis[k].label == t.axis[i].label) t.axis[i] = some_axis(m);
  }
  if (one_in(m, 6)) {
    t.labels = true;
    t.range = some_axis(m);
    // a size that only a label has cannot be found from it
    if (t.range.variable) t.range = (WholeAxis){.n = t.range.n};
    t.range.label = 0;
    if (t.rank > 1) t.rank = 1;
  }
  return t;
}

WholeDecl *maker_decl(Maker *m, WholeKind kind, WholeNameKind name) {
  WholeDecl *d = NEW(m->p->arena, WholeDecl);
  d->kind = kind;
  d->scope = ++m->p->scopes;
  d->name = maker_global(m, name);
  m->d = d;
  m->wire.n = 0;
  return d;
}

static void some_options(Maker *m) {
  static const char *const starts[] = {"2", "0.5", "1"};
  for (uint32_t i = below(m, 4) < 3 ? 0 : 1 + below(m, 2); i; i--) {
    Id name = maker_name(m, NAME_OPTION);
    vec_push(m->p->arena, &m->d->option, (WholeOption){name, PICK(m, starts)});
  }
  for (uint32_t i = 0; i < m->d->option.n; i++) {
    const WholeWire *x = maker_wire(m, 0, WHOLE_AXES);
    if (!x) return;
    maker_let(m, whole_node(m->p, &x->type, "%n * %e", m->d->option.at[i].name, maker_ref(m, x)));
  }
}

// The types of another box, its open sizes under names of this one: then it can be called.
static bool types_like(Maker *m, const WholeDecl *other) {
  Id from[16], to[16];
  uint32_t n = 0;
  for (uint32_t i = 0; i < other->in.n; i++) {
    WholeType t = other->in.at[i].type;
    for (uint32_t k = 0; k < t.rank; k++) {
      WholeAxis *a = &t.axis[k];
      if (!a->label || a->axis) continue;
      uint32_t at = 0;
      while (at < n && from[at] != a->label) at++;
      if (at == n && n == COUNT(from)) return false;
      if (at == n) from[n] = a->label, to[n++] = maker_name(m, NAME_AXIS);
      a->variable = a->variable ? to[at] : 0, a->label = to[at];
    }
    WholeWire w = {maker_name(m, NAME_WIRE), t};
    vec_push(m->p->arena, &m->d->in, w);
    vec_push(m->p->arena, &m->wire, w);
  }
  return true;
}

static void some_inputs(Maker *m, uint32_t n) {
  for (; n; n--) {
    WholeType t = some_type(m);
    WholeWire w = {maker_name(m, NAME_WIRE), t};
    vec_push(m->p->arena, &m->d->in, w);
    vec_push(m->p->arena, &m->wire, w);
  }
}

static void some_box(Maker *m) {
  WholeDecl *d = maker_decl(m, DECL_BOX, NAME_BOX);
  const WholeDecl *other = m->p->decl.at[below(m, m->p->decl.n)];
  bool like = other->kind == DECL_BOX && other->in.n < 3 && types_like(m, other);
  some_inputs(m, like ? below(m, 2) : 1 + below(m, 3));
  maker_sees_weights(m);
  for (uint32_t turn = 0; like && turn < 12; turn++)
    if (one_in(m, 2) ? turn_slope(m) : turn_call(m)) break;
  some_options(m);
  maker_body(m, 1 + below(m, 5));
  const WholeWire *last = &m->wire.at[m->wire.n - 1];
  maker_return(m, maker_ref(m, last));
  d->asked = true;
  vec_push(m->p->arena, &m->p->decl, d);
}

static void some_axes(Maker *m) {
  for (uint32_t i = 1 + below(m, 2); i; i--) {
    WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_AXIS);
    d->family = 1 + below(m, 4);
    d->text = whole_node(m->p, NULL, "axis %n = %d", d->name, (int)d->family);
    vec_push(m->p->arena, &m->p->decl, d);
  }
}

Whole *whole_random(Arena *a, uint64_t seed) {
  Whole *p = NEW(a, Whole);
  p->arena = a;
  p->seed = seed;
  Maker m = {.p = p, .state = seed};
  m.state = maker_draw(&m); // programs of neighbouring seeds have nothing in common
  some_axes(&m);
  maker_things(&m);
  for (uint32_t i = 2 + below(&m, 3); i; i--) some_box(&m);
  if (!one_in(&m, 3)) maker_training(&m);
  if (one_in(&m, 6)) maker_machine(&m);
  for (uint32_t i = 0; i < p->decl.n; i++) p->noisy |= p->decl.at[i]->noisy;
  return p;
}
