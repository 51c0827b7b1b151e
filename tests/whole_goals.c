// What is learned in random programs: sets of data, learners with and without bodies, goals,
// measures, training, what is shown; learning diagrams and small machines beside it.
#include "whole_program.h"

enum { ROWS = 40 };

static void add_decl(Maker *m, WholeDecl *d, WholeNode *text) {
  d->text = text;
  vec_push(m->p->arena, &m->p->decl, d);
}

static WholeType row(uint32_t n) { return (WholeType){.rank = 1, .axis = {{.n = n}}}; }

// -- files ----------------------------------------------------------------------------------------
static double number_at(Maker *m) { return (double)(int)below(m, 4000) / 1000 - 2; }

static void add_file(Maker *m, const char *path, const Buf *b) {
  vec_push(m->p->arena, &m->p->file, (WholeFile){path, b->at, b->n});
}

static void write_csv(Maker *m, uint32_t width, uint32_t kinds) {
  static const char *const word[] = {"ant", "bee", "cat"};
  Buf b = buf_new(m->p->arena);
  for (uint32_t i = 0; i < width; i++) buf_printf(&b, "c%u,", i);
  buf_text(&b, "kind\n");
  for (uint32_t r = 0; r < ROWS; r++) {
    for (uint32_t i = 0; i < width; i++) buf_printf(&b, "%.3f,", number_at(m));
    buf_printf(&b, "%s\n", word[r % kinds]);
  }
  add_file(m, "table.csv", &b);
}

static void write_npy(Maker *m, uint32_t width) {
  Buf b = buf_new(m->p->arena);
  char head[119];
  int n =
      snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u), }",
               (uint32_t)ROWS, width);
  memset(head + n, ' ', sizeof head - 1 - (size_t)n);
  head[117] = '\n';
  buf_add(&b, "\x93NUMPY\x01\x00\x76\x00", 10);
  buf_add(&b, head, 118);
  for (uint32_t i = 0; i < ROWS * width; i++) {
    double x = number_at(m);
    buf_add(&b, (const char *)&x, sizeof x); // of this machine: tests of little-endian ones
  }
  add_file(m, "table.npy", &b);
}

// -- data -----------------------------------------------------------------------------------------
typedef struct {
  Id x, y;           // y may be 0
  uint32_t n, kinds; // x : R[n], y : {kinds}
  const char *test;
} Data;

static Data some_data(Maker *m) {
  static const struct {
    const char *name;
    uint32_t n, kinds;
  } sets[] = {{"iris", 4, 3}, {"moons", 2, 2}, {"blobs", 2, 3}, {"spirals", 2, 2}};
  Data d = {.x = maker_global(m, NAME_WIRE)};
  WholeDecl *g = maker_decl(m, DECL_OTHER, NAME_FIELD);
  uint32_t k = below(m, 6);
  if (k < 4) {
    d.n = sets[k].n, d.kinds = sets[k].kinds,
    d.test = arena_format(m->p->arena, "%s.test", sets[k].name);
    d.y = maker_global(m, NAME_WIRE);
    add_decl(m, g, whole_node(m->p, NULL, "given %n, %n from %s", d.x, d.y, sets[k].name));
    return d;
  }
  d.n = 1 + below(m, 3), d.kinds = k == 4 ? 2 + below(m, 2) : 0;
  if (k == 4) {
    write_csv(m, d.n, d.kinds);
    d.y = maker_global(m, NAME_WIRE);
    add_decl(m, g,
             whole_node(m->p, NULL, "given %n : R[%d], %n : {%d} from \"table.csv\"", d.x, (int)d.n,
                        d.y, (int)d.kinds));
  } else {
    write_npy(m, d.n);
    add_decl(m, g, whole_node(m->p, NULL, "given %n : R[%d] from \"table.npy\"", d.x, (int)d.n));
  }
  return d;
}

// -- learners -------------------------------------------------------------------------------------
static const WholeDecl *learner_added(Maker *m, WholeDecl *d, uint32_t in, uint32_t out,
                                      WholeNode *text) {
  WholeWire w = {0, row(in)};
  vec_push(m->p->arena, &d->in, w);
  vec_push(m->p->arena, &d->out, row(out));
  d->weighted = true;
  add_decl(m, d, text);
  return d;
}

static const WholeDecl *some_learner(Maker *m, uint32_t in, uint32_t out) {
  static const char *const how[] = {
      "dense[%d]", "dense[3] ; tanh ; dense[%d]", "linear[2] ; relu ; layer_norm ; dense[%d]",
      "batch_norm ; dense[%d]", "dropout ; dense[4] ; sin ; dense[%d]"};
  WholeDecl *d = maker_decl(m, DECL_LEARNER, NAME_LEARNER);
  uint32_t k = below(m, COUNT(how));
  WholeNode *head = whole_node(m->p, NULL, "learn %n : R[%d] -> R[%d]", d->name, (int)in, (int)out);
  if (one_in(m, 8)) return learner_added(m, d, in, out, head);
  d->batched = k == 3, d->noisy = k == 4;
  if (one_in(m, 4)) {
    d->family = 2;
    head = whole_node(m->p, NULL, "learn %n[2] : R[%d] -> R[%d]", d->name, (int)in, (int)out);
  }
  WholeNode *body = whole_node(m->p, NULL, how[k], (int)out);
  return learner_added(m, d, in, out, whole_node(m->p, NULL, "%E = %E", head, body));
}

static WholeNode *use_of(Maker *m, const WholeDecl *d, WholeNode *x) {
  if (d->family) return whole_node(m->p, NULL, "%n[%d](%E)", d->name, (int)below(m, d->family), x);
  return whole_node(m->p, NULL, "%n(%E)", d->name, x);
}

// -- goals ----------------------------------------------------------------------------------------
static WholeNode *sides(Maker *m, const Data *d, const WholeDecl *f, const WholeDecl *g) {
  static const char *const numbers[] = {"l2", "l1", "huber", "huber[0.5]", "bce", "bernoulli"};
  WholeNode *x = whole_node(m->p, NULL, "%n", d->x);
  WholeNode *first = use_of(m, f, x), *both = use_of(m, g, first);
  if (one_in(m, 4)) both = use_of(m, g, whole_node(m->p, NULL, "stop(%E)", first));
  if (d->y && one_in(m, 2)) return whole_node(m->p, NULL, "%e ~ %n   by cross_entropy", both, d->y);
  if (one_in(m, 3)) return whole_node(m->p, NULL, "%e ~ 0.5   by %s", first, PICK(m, numbers));
  return whole_node(m->p, NULL, "tanh(%E) ~ 0.3 * %e   by %s", both,
                    whole_node(m->p, NULL, "one_hot(argmax(%E))", both), PICK(m, numbers));
}

// Does it move g, whatever happens to f?
static bool some_goal(Maker *m, const Data *d, const WholeDecl *f, const WholeDecl *g) {
  WholeDecl *goal = maker_decl(m, DECL_LAST, NAME_GOAL);
  WholeNode *text = whole_node(m->p, NULL, "goal %n : %E", goal->name, sides(m, d, f, g));
  bool chosen = one_in(m, 4);
  if (chosen) {
    const WholeDecl *who = one_in(m, 2) || !whole_uses(text, g->name) ? f : g;
    if (!who->family) text = whole_node(m->p, NULL, "%E   trains %n", text, who->name);
  }
  if (one_in(m, 4)) text = whole_node(m->p, NULL, "%E   times 0.5", text);
  vec_push(m->p->arena, &m->p->goal, goal->name);
  add_decl(m, goal, text);
  return whole_uses(text, g->name) && !chosen;
}

static void some_measures(Maker *m, const Data *d, const WholeDecl *f, const WholeDecl *g) {
  WholeNode *x = whole_node(m->p, NULL, "%n", d->x), *both = use_of(m, g, use_of(m, f, x));
  WholeDecl *k = maker_decl(m, DECL_LAST, NAME_GOAL);
  if (d->y && one_in(m, 2))
    add_decl(m, k,
             whole_node(m->p, NULL, "measure %n : %E ~ %n   by hits%s%s", k->name, both, d->y,
                        d->test ? " on " : "", d->test ? d->test : ""));
  else
    add_decl(m, k, whole_node(m->p, NULL, "measure %n : sum(square(%E))", k->name, both));
  m->p->measures = true;
  if (one_in(m, 2)) return;
  k = maker_decl(m, DECL_LAST, NAME_GOAL);
  add_decl(m, k, whole_node(m->p, NULL, "show %E, %n as table[3]", both, d->x));
}

// -- a learning diagram ---------------------------------------------------------------------------
static void some_diagram(Maker *m) {
  WholeDecl *f = maker_decl(m, DECL_LEARNER, NAME_LEARNER);
  learner_added(m, f, 4, 3, whole_node(m->p, NULL, "learn %n : R[4] -> R[3] = dense[3]", f->name));
  WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_BOX);
  Id n = maker_name(m, NAME_LEARNER), x = maker_name(m, NAME_LEARNER),
     y = maker_name(m, NAME_LEARNER);
  Id a = maker_name(m, NAME_LEARNER), b = maker_name(m, NAME_LEARNER),
     c = maker_name(m, NAME_LEARNER);
  add_decl(m, d,
           whole_node(m->p, NULL,
                      "diagram %n {\n  space %n = iris\n  space %n = R[4]\n  space %n = {3} by "
                      "cross_entropy\n  box %n : %n -> %n = iris.x\n  box %n : %n -> %n = "
                      "iris.label\n  box %n : %n -> %n = %n\n  %n ; %n <= %n\n}",
                      d->name, n, x, y, a, n, x, b, n, y, c, x, y, f->name, a, c, b));
  WholeDecl *t = maker_decl(m, DECL_LAST, NAME_GOAL);
  add_decl(m, t, whole_node(m->p, NULL, "train %n 2 steps, batch 8, seed 1", d->name));
  m->p->trains = true;
}

void maker_training(Maker *m) {
  static const char *const by[] = {"adam(0.01)", "gd(0.1)",       "momentum",       "adamw(0.01)",
                                   "lion(0.01)", "rmsprop(0.01)", "nesterov(0.05)", "muon(0.01)"};
  if (one_in(m, 6)) {
    some_diagram(m);
    return;
  }
  Data d = some_data(m);
  uint32_t middle = 1 + below(m, 3), last = d.kinds ? d.kinds : 1 + below(m, 3);
  const WholeDecl *f = some_learner(m, d.n, middle), *g = some_learner(m, middle, last);
  bool moves = false;
  for (uint32_t i = 1 + below(m, 2); i; i--) moves |= some_goal(m, &d, f, g);
  some_measures(m, &d, f, g);
  if (moves && one_in(m, 5) && !f->family) {
    WholeDecl *k = maker_decl(m, DECL_OTHER, NAME_GOAL);
    add_decl(m, k, whole_node(m->p, NULL, "freeze %n", f->name));
  }
  WholeDecl *t = maker_decl(m, DECL_LAST, NAME_GOAL);
  add_decl(m, t, whole_node(m->p, NULL, "train 2 steps, batch 8, %s, seed 1", PICK(m, by)));
  m->p->trains = true;
}

// -- machines -------------------------------------------------------------------------------------
void maker_machine(Maker *m) {
  WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_BOX);
  Id in = maker_name(m, NAME_WEIGHT), x = maker_name(m, NAME_WEIGHT),
     y = maker_name(m, NAME_WEIGHT);
  bool flows = one_in(m, 2);
  const char *text = flows ? "machine %n(%n: R[]) -> (%n: R[]) {\n  state %n = 0.5, %n = 1\n  "
                             "%n' = tanh(%n + %n)\n  %n' = 0.5 * %n - %n\n}"
                           : "machine %n(%n: R[]) -> (%n: R[]) {\n  state %n = 0.5, %n = 1\n  "
                             "next %n = tanh(%n + %n)\n  next %n = 0.5 * %n - %n\n}";
  add_decl(m, d, whole_node(m->p, NULL, text, d->name, in, x, x, y, x, y, in, y, x, y));
  WholeDecl *r = maker_decl(m, DECL_LAST, NAME_GOAL);
  add_decl(
      m, r,
      whole_node(m->p, NULL, "run %n(%n: 0.25) %s", d->name, in, flows ? "to 1" : "for 5 ticks"));
  m->p->runs = true;
}
