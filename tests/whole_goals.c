// The training part of random programs: data sets, learners with and without bodies, goals,
// measures, training, shows; also learning diagrams and small machines.
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

static void write_csv(Maker *m, uint32_t width, uint32_t kinds, bool packed) {
  static const char *const word[] = {"ant", "bee", "cat"};
  Buf b = buf_new(m->p->arena);
  for (uint32_t i = 0; i < width; i++) buf_printf(&b, "c%u,", i);
  buf_text(&b, "kind\n");
  for (uint32_t r = 0; r < ROWS; r++) {
    for (uint32_t i = 0; i < width; i++) buf_printf(&b, "%.3f,", number_at(m));
    buf_printf(&b, "%s\n", word[r % kinds]);
  }
  if (packed) b = whole_gzip(m->p->arena, &b);
  add_file(m, packed ? "table.csv.gz" : "table.csv", &b);
}

// Rows of numbers; the name of the file.
static const char *write_numbers(Maker *m, uint32_t width) {
  static const char *const name[] = {"table.npy", "table.npz", "table.idx"};
  double *x = NEW_ARRAY(m->p->arena, double, ROWS *width);
  for (uint32_t i = 0; i < ROWS * width; i++) x[i] = number_at(m);
  Buf b = whole_npy(m->p->arena, x, ROWS, width);
  uint32_t k = below(m, 3);
  if (k == 1) b = whole_npz(m->p->arena, &b);
  if (k == 2) b = whole_idx(m->p->arena, x, ROWS, width);
  add_file(m, name[k], &b);
  return name[k];
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
  uint32_t form = below(m, 12), k = below(m, COUNT(sets));
  if (form < 2) {
    d.n = sets[k].n, d.kinds = sets[k].kinds,
    d.test = arena_format(m->p->arena, "%s.test", sets[k].name);
    d.y = maker_global(m, NAME_WIRE);
    add_decl(m, g, whole_node(m->p, NULL, "given %n, %n from %s", d.x, d.y, sets[k].name));
    return d;
  }
  d.n = 1 + below(m, 3), d.kinds = form < 6 ? 2 + below(m, 2) : 0;
  if (form < 6) {
    write_csv(m, d.n, d.kinds, form > 3);
    d.y = maker_global(m, NAME_WIRE);
    add_decl(m, g,
             whole_node(m->p, NULL, "given %n : R[%d], %n : {%d} from \"table.csv%s\"", d.x,
                        (int)d.n, d.y, (int)d.kinds, form > 3 ? ".gz" : ""));
  } else {
    const char *file = write_numbers(m, d.n);
    add_decl(m, g, whole_node(m->p, NULL, "given %n : R[%d] from \"%s\"", d.x, (int)d.n, file));
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
  d->bodiless = one_in(m, 8);
  if (d->bodiless) return learner_added(m, d, in, out, head);
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
// A distance of the program: any box with two inputs and one number out.
static const char *some_distance(Maker *m, const char *other) {
  if (!one_in(m, 3)) return other;
  WholeDecl *d = maker_decl(m, DECL_OTHER, NAME_FIELD);
  const char *name = whole_name(m->p, d->name, false);
  Id a = maker_name(m, NAME_WIRE), b = maker_name(m, NAME_WIRE), n = maker_name(m, NAME_AXIS);
  Id i = maker_name(m, NAME_INDEX);
  if (one_in(m, 2))
    add_decl(
        m, d,
        whole_node(m->p, NULL,
                   "box %n(%n, %n: R[...%n]) -> R[] = sum(abs(%n - %n)) + max(square(%n - %n))",
                   d->name, a, b, n, a, b, a, b));
  else
    add_decl(m, d,
             whole_node(m->p, NULL,
                        "box %n(%n, %n: R[%n]) -> R[] = sum[%n]((%n[%n] - %n[%n])^2 * (%n + 1))",
                        d->name, a, b, n, i, a, i, b, i, i));
  return name;
}

static WholeNode *sides(Maker *m, const Data *d, const WholeDecl *f, const WholeDecl *g,
                        bool *stopped) {
  static const char *const numbers[] = {"l2", "l1", "huber", "huber[0.5]", "bce", "bernoulli"};
  WholeNode *x = whole_node(m->p, NULL, "%n", d->x);
  WholeNode *first = use_of(m, f, x), *both = use_of(m, g, first);
  *stopped = one_in(m, 4);
  if (*stopped) both = use_of(m, g, whole_node(m->p, NULL, "stop(%E)", first));
  if (d->y && one_in(m, 2)) return whole_node(m->p, NULL, "%e ~ %n   by cross_entropy", both, d->y);
  if (one_in(m, 3))
    return whole_node(m->p, NULL, "%e ~ 0.5   by %s", first, some_distance(m, PICK(m, numbers)));
  return whole_node(m->p, NULL, "tanh(%E) ~ 0.3 * %e   by %s", both,
                    whole_node(m->p, NULL, "one_hot(argmax(%E))", both),
                    some_distance(m, PICK(m, numbers)));
}

// Does it move g, whatever happens to f?
static bool some_goal(Maker *m, const Data *d, const WholeDecl *f, const WholeDecl *g) {
  bool stopped = false;
  WholeNode *equal = sides(m, d, f, g, &stopped);
  WholeDecl *goal = maker_decl(m, DECL_LAST, NAME_GOAL);
  WholeNode *text = whole_node(m->p, NULL, "goal %n : %E", goal->name, equal);
  bool chosen = one_in(m, 3) && !stopped; // a goal that moves nobody is not trained
  if (chosen) {
    const WholeDecl *who = one_in(m, 2) || !whole_uses(text, g->name) ? f : g;
    if (!who->family)
      text = whole_node(m->p, NULL, "%E   trains %n", text, who->name);
    else
      chosen = false;
  }
  if (one_in(m, 4)) text = whole_node(m->p, NULL, "%E   times 0.5", text);
  vec_push(m->p->arena, &m->p->goal, goal->name);
  add_decl(m, goal, text);
  return whole_uses(text, g->name) && !chosen;
}

// for k in 0..1 { goal g : f[k](x) ~ … trains f[k] }
static void some_loop(Maker *m, const Data *d, const WholeDecl *f) {
  WholeDecl *goal = maker_decl(m, DECL_LAST, NAME_GOAL);
  Id k = maker_name(m, NAME_INDEX);
  vec_push(m->p->arena, &m->p->goal, goal->name);
  add_decl(m, goal,
           whole_node(m->p, NULL,
                      "for %n in 0..1 {\n  goal %n : %n[%n](%n) ~ 0.25   by l2   trains %n[%n]   "
                      "times 0.5\n}",
                      k, goal->name, f->name, k, d->x, f->name, k));
}

// A copy that follows from afar, and a goal that pulls to it.
static void some_stale(Maker *m, const Data *d, const WholeDecl *f) {
  WholeDecl *s = maker_decl(m, DECL_OTHER, NAME_LEARNER), *goal;
  add_decl(m, s,
           whole_node(m->p, NULL, one_in(m, 2) ? "stale %n = %n every 1" : "stale %n = %n by 0.9",
                      s->name, f->name));
  goal = maker_decl(m, DECL_LAST, NAME_GOAL);
  vec_push(m->p->arena, &m->p->goal, goal->name);
  add_decl(m, goal,
           whole_node(m->p, NULL, "goal %n : %n(%n) ~ 0.5 * %n(%n)   by l2", goal->name, f->name,
                      d->x, s->name, d->x));
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
  m->p->shows = true;
}

void maker_training(Maker *m) {
  static const char *const by[] = {"adam(0.01)", "gd(0.1)",       "momentum",       "adamw(0.01)",
                                   "lion(0.01)", "rmsprop(0.01)", "nesterov(0.05)", "muon(0.01)"};
  enum { LION = 4, MUON = 7 };
  if (one_in(m, 3)) {
    maker_diagram(m);
    return;
  }
  Data d = some_data(m);
  uint32_t middle = 1 + below(m, 3), last = d.kinds ? d.kinds : 1 + below(m, 3);
  const WholeDecl *f = some_learner(m, d.n, middle), *g = some_learner(m, middle, last);
  bool moves = false;
  for (uint32_t i = 1 + below(m, 2); i; i--) moves |= some_goal(m, &d, f, g);
  if (f->family && !f->noisy) some_loop(m, &d, f), moves = true;
  if (!f->family && one_in(m, 3)) some_stale(m, &d, f);
  some_measures(m, &d, f, g);
  if (moves && one_in(m, 3) && !f->family) {
    WholeDecl *k = maker_decl(m, DECL_OTHER, NAME_GOAL);
    add_decl(m, k, whole_node(m->p, NULL, "freeze %n", f->name));
  }
  WholeDecl *t = maker_decl(m, DECL_LAST, NAME_GOAL);
  uint32_t how = below(m, COUNT(by));
  // Without a body a learner has 128 × 128 weights: the interpreter takes seconds to make those orthogonal.
  if (how == MUON && (f->bodiless || g->bodiless)) how = LION;
  add_decl(m, t, whole_node(m->p, NULL, "train 2 steps, batch 8, %s, seed 1", by[how]));
  m->p->trains = true;
}
