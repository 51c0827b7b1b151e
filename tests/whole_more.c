// Lines of random programs that use declarations: weights as wires, families in loops, small
// trainings, systems in continuous time, bits.
#include "whole_program.h"

static void add_to_file(Maker *m, WholeDecl *d, WholeNode *text) {
  d->text = text;
  vec_push(m->p->arena, &m->p->decl, d);
}

// -- what stands at the top -----------------------------------------------------------------------
static void some_weight(Maker *m) {
  WholeDecl *d = maker_decl(m, DECL_LEARNER, NAME_LEARNER);
  WholeType t = {.rank = 1, .axis = {{.n = 2}}};
  const WholeDecl *axis = m->p->decl.at[0];
  bool named = one_in(m, 2);
  if (named) t.axis[0] = (WholeAxis){.label = axis->name, .axis = axis->name, .n = axis->family};
  vec_push(m->p->arena, &d->out, t);
  add_to_file(m, d,
              whole_node(m->p, NULL, named ? "learn %n : %t = 0.4" : "learn %n : %t = [0.5, -0.25]",
                         d->name, &t));
}

static WholeDecl *learner_of(Maker *m, uint32_t n) {
  WholeDecl *d = maker_decl(m, DECL_LEARNER, NAME_LEARNER);
  WholeType t = {.rank = 1, .axis = {{.n = n}}};
  vec_push(m->p->arena, &d->in, (WholeWire){0, t});
  vec_push(m->p->arena, &d->out, t);
  return d;
}

// learn f(x: R[2]) -> R[2] { learn W : R[2 3] = 0.3, h[o] = x[i] W[i o], return … }
static void named_learner(Maker *m) {
  WholeDecl *d = learner_of(m, 2);
  Id x = maker_name(m, NAME_WIRE), w = maker_name(m, NAME_WEIGHT), h = maker_name(m, NAME_WIRE);
  Id i = maker_name(m, NAME_INDEX), o = maker_name(m, NAME_INDEX);
  d->in.at[0].name = x;
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "learn %n : R[2 3] = 0.3", w));
  vec_push(m->p->arena, &l->makes, w);
  l->weighted = true;
  l = maker_line(m, whole_node(m->p, NULL, "%n[%n] = %n[%n] %n[%n %n]", h, o, x, i, w, i, o));
  vec_push(m->p->arena, &l->makes, h);
  l = maker_line(m, whole_node(m->p, NULL, "return linear[2](sin(%n))", h));
  l->last = l->weighted = true;
  vec_push(m->p->arena, &m->p->decl, d);
}

// Learners that boxes may use, and no goal does.
void maker_things(Maker *m) {
  for (uint32_t i = below(m, 3); i; i--) some_weight(m);
  if (one_in(m, 3)) named_learner(m);
  if (one_in(m, 2)) {
    WholeDecl *d = learner_of(m, 2);
    add_to_file(
        m, d,
        whole_node(m->p, NULL, "learn %n : R[2] -> R[2] = dense[3] ; tanh ; dense[2]", d->name));
  }
  if (one_in(m, 2)) {
    WholeDecl *d = learner_of(m, 2);
    d->family = 2;
    add_to_file(m, d,
                whole_node(m->p, NULL, "learn %n[2] : R[2] -> R[2] = dense[2] ; sin", d->name));
  }
  if (one_in(m, 4)) {
    WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_BOX);
    Id v = maker_name(m, NAME_WEIGHT);
    d->flows = true;
    add_to_file(
        m, d,
        whole_node(m->p, NULL, "share %n(%n) { %n' = sin(%n) - 0.5 * %n }", d->name, v, v, v, v));
  }
  if (one_in(m, 5)) maker_use(m);
}

// Boxes of another file.
void maker_use(Maker *m) {
  static const char text[] = "const half = 0.5\n"
                             "learn inner : R[2] -> R[2] = dense[2]\n"
                             "box mild(x: R[n]) -> R[n] = half * tanh(x)\n"
                             "box deep(x: R[2]) -> R[2] = inner(mild(x))\n";
  vec_push(m->p->arena, &m->p->file, (WholeFile){"other.limn", text, sizeof text - 1});
  WholeDecl *u = maker_decl(m, DECL_OTHER, NAME_FIELD);
  add_to_file(m, u, whole_node(m->p, NULL, "use \"other.limn\""));
  for (uint32_t k = 0; k < 2; k++) {
    WholeDecl *d = maker_decl(m, DECL_BOX, NAME_FIELD);
    d->name = whole_name_add(m->p, NAME_FIELD, 0, k ? "deep" : "mild");
    Id n = maker_name(m, NAME_AXIS);
    WholeType t = {.rank = 1, .axis = {{.n = 2}}};
    if (!k) t.axis[0] = (WholeAxis){.label = n, .variable = n, .n = 3};
    vec_push(m->p->arena, &d->in, (WholeWire){maker_name(m, NAME_WIRE), t});
    vec_push(m->p->arena, &d->out, t);
    d->elsewhere = true, d->learns = k;
    vec_push(m->p->arena, &m->p->decl, d);
  }
}

// Weights of the top are wires of every body.
void maker_sees_weights(Maker *m) {
  for (uint32_t i = 0; i < m->p->decl.n; i++) {
    const WholeDecl *d = m->p->decl.at[i];
    if (d->kind != DECL_LEARNER || d->in.n || one_in(m, 2)) continue;
    vec_push(m->p->arena, &m->wire, (WholeWire){d->name, d->out.at[0]});
    m->d->learns = true;
  }
}

// -- lines ----------------------------------------------------------------------------------------
// A weight of the box, as large as a wire.
bool turn_weight(Maker *m) {
  const WholeWire *x = maker_wire(m, 0, 2);
  if (!x || m->depth) return false;
  for (uint32_t i = 0; i < x->type.rank; i++)
    if (!x->type.axis[i].label || m->p->name.at[x->type.axis[i].label].kind == NAME_INDEX)
      return false;
  Id w = maker_name(m, NAME_WEIGHT);
  WholeType t = x->type;
  if (t.rank == 2 && t.axis[0].label == t.axis[1].label) return false;
  WholeNode *a = maker_operand(m, x);
  WholeLine *l = maker_line(
      m, whole_node(m->p, NULL, one_in(m, 2) ? "learn %n : %t = 0.7" : "learn %n : %t = normal", w,
                    &t));
  vec_push(m->p->arena, &l->makes, w);
  l->weighted = true;
  vec_push(m->p->arena, &m->wire, (WholeWire){w, t});
  m->d->weighted = true;
  maker_let(m, whole_node(m->p, &t, "%e * %e", a, whole_node(m->p, NULL, "%n", w)));
  return true;
}

static bool ends_in(const WholeType *t, uint32_t n) {
  const WholeAxis *a = &t->axis[t->rank - 1];
  return t->rank && !a->variable && !a->axis && a->n == n;
}

static const WholeDecl *some_thing(Maker *m, bool family) {
  for (uint32_t turn = 0; turn < 12; turn++) {
    const WholeDecl *d = m->p->decl.at[below(m, m->p->decl.n)];
    if (d->kind == DECL_LEARNER && d->in.n == 1 && !!d->family == family && !d->noisy &&
        !d->batched && d->in.at[0].type.axis[0].n == 2 && d->out.at[0].axis[0].n == 2)
      return d;
  }
  return NULL;
}

// Wires of R[… 2], the last of them by a dense layer if there is none.
static const WholeWire *wire_of_two(Maker *m, uint32_t rank) {
  for (uint32_t i = 0; i < m->wire.n; i++) {
    const WholeWire *w = &m->wire.at[m->wire.n - 1 - i];
    if (!w->type.labels && w->type.rank == rank && ends_in(&w->type, 2)) return w;
  }
  return NULL;
}

// Two rows of R[2] out of one, so that there is something to be trained on.
static const WholeWire *pairs_of(Maker *m) {
  const WholeWire *x = wire_of_two(m, 2);
  if (x) return x;
  x = wire_of_two(m, 1);
  if (!x) return NULL;
  WholeType t = {.rank = 2, .axis = {{.n = 2}, {.n = 2}}};
  WholeNode *a = maker_ref(m, x), *b = whole_node(m->p, &x->type, "sin(%E)", maker_ref(m, x));
  return maker_let(m, whole_node(m->p, &t, "[%E, %E]", a, b));
}

bool turn_refit(Maker *m) {
  static const char *const how[] = {"refit[%n, gd, steps: 2, rate: 0.1](%E, %E, %E)",
                                    "refit[%n, gd, steps: 1, rate: 0.2, by: l1](%E, %E, %E)",
                                    "refit[%n, adam, steps: 2, rate: 0.05](%E, %E, %E)"};
  const WholeDecl *f = some_thing(m, false);
  const WholeWire *x = f && !m->depth ? pairs_of(m) : NULL;
  if (!x) return false;
  WholeType t = x->type;
  t.axis[1] = (WholeAxis){.n = 2};
  WholeNode *y = whole_node(m->p, NULL, "tanh(%E)", maker_ref(m, x));
  maker_let(m, whole_node(m->p, &t, PICK(m, how), f->name, maker_ref(m, x), y, maker_ref(m, x)));
  m->d->learns = true;
  return true;
}

// flow[S](x, T): at the first of the times it is where it starts.
bool turn_flow(Maker *m) {
  const WholeDecl *s = NULL;
  for (uint32_t i = 0; i < m->p->decl.n; i++)
    if (m->p->decl.at[i]->flows) s = m->p->decl.at[i];
  const WholeWire *x = maker_wire(m, 0, 2);
  if (!s || !x || m->depth) return false;
  WholeType t = x->type;
  t.axis[t.rank++] = (WholeAxis){.n = 3};
  WholeNode *start = maker_operand(m, x);
  Id at = maker_name(m, NAME_WIRE);
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "const %n : R[3] = [0.1, 0.3, 0.7]", at));
  vec_push(m->p->arena, &l->makes, at);
  maker_let(m, whole_node(m->p, &t, "flow[%n, steps: 2](%E, %n)", s->name, start, at));
  return true;
}

// for k in 0..1 { y = f[k](y) }, with what was seen kept
bool turn_family(Maker *m) {
  const WholeDecl *f = some_thing(m, true);
  uint32_t rank = 1 + below(m, 2);
  const WholeWire *x = wire_of_two(m, rank);
  if (!x) x = wire_of_two(m, 3 - rank);
  if (!f || !x || m->depth) return false;
  WholeType t = x->type;
  t.axis[t.rank - 1] = (WholeAxis){.n = 2};
  WholeNode *first = maker_operand(m, x);
  m->d->learns = true;
  Id y = maker_name(m, NAME_WIRE), k = maker_name(m, NAME_INDEX);
  bool kept = one_in(m, 2);
  Id c = kept ? maker_name(m, NAME_WIRE) : 0, j = kept ? maker_name(m, NAME_INDEX) : 0;
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "%n = %n[1](%E)", y, f->name, first));
  vec_push(m->p->arena, &l->makes, y);
  WholeNode *loop =
      kept ? whole_node(m->p, NULL,
                        "for %n in 0..1 { %n = %n[%n](%n), %n[%n] = %n }\n  for %n "
                        "in 0..1 down { %n = %n + 0.5 * %n[%n] }",
                        k, y, f->name, k, y, c, k, y, j, y, y, c, j)
           : whole_node(m->p, NULL, "for %n in [1, 0, 1] { %n = %n[%n](%n) }", k, y, f->name, k, y);
  l = maker_line(m, loop);
  vec_push(m->p->arena, &l->makes, y);
  vec_push(m->p->arena, &m->wire, (WholeWire){y, t});
  return true;
}

bool turn_bits(Maker *m) {
  static const char *const how[] = {"number(bit(%E) + bit(%E))", "number(bit(%E) * bit(%E))",
                                    "number(not bit(%E) and bit(%E))",
                                    "number(bit(%E) or bit(%E))"};
  const WholeWire *x = maker_wire(m, 0, 3), *y = maker_wire(m, 0, 3);
  if (!x || !y || !type_same(&x->type, &y->type)) return false;
  WholeType t = x->type;
  for (uint32_t i = 0; i < t.rank; i++)
    if (!t.axis[i].label) return false;
  for (uint32_t i = 1; i < t.rank; i++)
    for (uint32_t k = 0; k < i; k++)
      if (t.axis[k].label == t.axis[i].label) return false;
  WholeNode *a = maker_operand(m, x), *b = maker_ref(m, y);
  maker_let(m, whole_node(m->p, &t, PICK(m, how), a, b));
  return true;
}
