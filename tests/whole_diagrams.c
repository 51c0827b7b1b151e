// Learning diagrams and machines of random programs: glued, rewritten, wired.
#include "whole_program.h"

static void add_text(Maker *m, WholeNameKind kind, WholeKind where, WholeNode *text) {
  WholeDecl *d = maker_decl(m, where, kind);
  d->text = text;
  vec_push(m->p->arena, &m->p->decl, d);
}

static Id learner(Maker *m) {
  WholeDecl *f = maker_decl(m, DECL_LEARNER, NAME_LEARNER);
  WholeType in = {.rank = 1, .axis = {{.n = 4}}}, out = {.rank = 1, .axis = {{.n = 3}}};
  vec_push(m->p->arena, &f->in, (WholeWire){0, in});
  vec_push(m->p->arena, &f->out, out);
  f->text = whole_node(m->p, NULL, "learn %n : R[4] -> R[3] = dense[3]", f->name);
  f->weighted = true;
  vec_push(m->p->arena, &m->p->decl, f);
  return f->name;
}

// The spaces and edges of both are called alike, so that they can be glued.
typedef struct {
  Id n, x, y, measures, kind;
} Flowers;

static Id diagram(Maker *m, const Flowers *k, Id f, Id *guess) {
  WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_BOX);
  *guess = maker_name(m, NAME_LEARNER);
  d->text =
      whole_node(m->p, NULL,
                 "diagram %n {\n  space %n = iris\n  space %n = R[4]\n  space %n = {3} by "
                 "cross_entropy\n  box %n : %n -> %n = iris.x\n  box %n : %n -> %n = "
                 "iris.label\n  box %n : %n -> %n = %n ; scale[0.5]\n  %n ; %n <= %n%s\n}",
                 d->name, k->n, k->x, k->y, k->measures, k->n, k->x, k->kind, k->n, k->y, *guess,
                 k->x, k->y, f, k->measures, *guess, k->kind, one_in(m, 3) ? "   times 0.5" : "");
  vec_push(m->p->arena, &m->p->decl, d);
  return d->name;
}

void maker_diagram(Maker *m) {
  Flowers k = {.n = 0};
  Id f = learner(m), guess, other;
  k.n = maker_global(m, NAME_LEARNER), k.x = maker_global(m, NAME_LEARNER);
  k.y = maker_global(m, NAME_LEARNER), k.measures = maker_global(m, NAME_LEARNER);
  k.kind = maker_global(m, NAME_LEARNER);
  Id one = diagram(m, &k, f, &guess), whole = one;
  if (one_in(m, 3))
    add_text(m, NAME_GOAL, DECL_OTHER,
             whole_node(m->p, NULL, "set %n.%n = dense[2] ; tanh ; dense[3]", one, f));
  if (one_in(m, 3))
    add_text(m, NAME_GOAL, DECL_OTHER,
             whole_node(m->p, NULL, "find scale[0.5] in %n => set scale[0.25]", one));
  if (one_in(m, 2)) {
    Id g = learner(m), two = diagram(m, &k, g, &other);
    if (one_in(m, 2))
      add_text(m, NAME_GOAL, DECL_OTHER, whole_node(m->p, NULL, "freeze %n in %n", f, one));
    whole = maker_global(m, NAME_BOX);
    add_text(m, NAME_GOAL, DECL_OTHER,
             whole_node(m->p, NULL, "diagram %n = %n + %n along %n, %n", whole, one, two, k.n,
                        k.measures));
  }
  add_text(m, NAME_GOAL, DECL_LAST,
           whole_node(m->p, NULL, "train %n 2 steps, batch 8, seed 1", whole));
  m->p->trains = m->p->diagram = true;
}

// -- machines -------------------------------------------------------------------------------------
void maker_machine(Maker *m) {
  WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_BOX);
  Id in = maker_name(m, NAME_WEIGHT), x = maker_name(m, NAME_WEIGHT),
     y = maker_name(m, NAME_WEIGHT), machine = d->name;
  bool flows = one_in(m, 2);
  const char *text = flows ? "machine %n(%n: R[]) -> (%n: R[]) {\n  state %n = 0.5, %n = 1\n  "
                             "%n' = tanh(%n + %n)\n  %n' = 0.5 * %n - %n\n}"
                           : "machine %n(%n: R[]) -> (%n: R[]) {\n  state %n = 0.5, %n = 1\n  "
                             "next %n = tanh(%n + %n)\n  next %n = 0.5 * %n - %n\n}";
  d->text = whole_node(m->p, NULL, text, d->name, in, x, x, y, x, y, in, y, x, y);
  vec_push(m->p->arena, &m->p->decl, d);
  if (one_in(m, 2)) { // two of them, each hears the other
    WholeDecl *w = maker_decl(m, DECL_OTHER, NAME_BOX);
    Id a = maker_name(m, NAME_WEIGHT), b = maker_name(m, NAME_WEIGHT);
    w->text = whole_node(m->p, NULL,
                         "wiring %n(%n: R[]) -> (%n: R[]) {\n  %n, %n : %n\n  %n + %n.%n -> "
                         "%n.%n\n  tanh(%n.%n) -> %n.%n\n  %n = %n.%n\n}",
                         w->name, in, x, a, b, machine, in, b, x, a, in, a, x, b, in, x, b, x);
    vec_push(m->p->arena, &m->p->decl, w);
    machine = w->name;
  }
  add_text(
      m, NAME_GOAL, DECL_LAST,
      whole_node(m->p, NULL, "run %n(%n: 0.25) %s", machine, in, flows ? "to 1" : "for 5 ticks"));
  m->p->runs = true;
}
