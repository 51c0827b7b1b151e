// Lines of random programs that are index equations: products with arbitrary index names, windows,
// groups, gathers by label.
#include "whole_program.h"

enum { INDICES = 8 };
typedef struct {
  Id name;
  WholeAxis axis;
} Index_;
typedef struct {
  Index_ at[INDICES];
  uint32_t n;
} Indices;

// An index for an axis: one that is there and of its size, the axis' own label, or a new name.
static Id index_for(Maker *m, Indices *all, const WholeAxis *a) {
  for (uint32_t i = 0; i < all->n; i++)
    if (axis_meets(&all->at[i].axis, a) && one_in(m, 2)) return all->at[i].name;
  bool own = a->label && one_in(m, 3);
  for (uint32_t i = 0; i < all->n; i++) own &= all->at[i].name != a->label;
  Id name = own ? a->label : maker_name(m, NAME_INDEX);
  WholeAxis made = *a;
  made.label = name;
  if (!own) made.axis = 0;
  if (all->n < INDICES) all->at[all->n++] = (Index_){name, made};
  return name;
}

static void add_text(Maker *m, WholeNode *n, const char *text) {
  vec_push(m->p->arena, &n->piece, (WholePiece){.text = text});
}
static void add_name(Maker *m, WholeNode *n, Id name) {
  vec_push(m->p->arena, &n->piece, (WholePiece){.name = name});
}

// x[i j]; for 0 axes x alone
static WholeNode *access_of(Maker *m, const WholeWire *w, const Id *index) {
  WholeNode *n = whole_node(m->p, NULL, "%n", w->name);
  for (uint32_t i = 0; i < w->type.rank; i++) {
    add_text(m, n, i ? " " : "[");
    add_name(m, n, index[i]);
  }
  if (w->type.rank) add_text(m, n, "]");
  n->atom = true;
  return n;
}

static WholeNode *factor(Maker *m, Indices *all, const WholeWire *w) {
  Id index[WHOLE_AXES];
  for (uint32_t i = 0; i < w->type.rank; i++) index[i] = index_for(m, all, &w->type.axis[i]);
  return access_of(m, w, index);
}

// "Y[i j] = …", and the wire Y.
static bool equation(Maker *m, const WholeType *t, WholeNode *right, const char *end) {
  Id name = maker_name(m, NAME_WIRE);
  WholeNode *line = whole_node(m->p, NULL, "%n", name);
  for (uint32_t i = 0; i < t->rank; i++) {
    add_text(m, line, i ? " " : "[");
    add_name(m, line, t->axis[i].label);
  }
  add_text(m, line, t->rank ? "] = " : " = ");
  vec_push(m->p->arena, &line->piece, (WholePiece){.node = right, .bare = true});
  add_text(m, line, end);
  WholeLine *l = maker_line(m, line);
  vec_push(m->p->arena, &l->makes, name);
  vec_push(m->p->arena, &m->wire, (WholeWire){name, *t});
  return true;
}

// Some of the indices, in an order by chance.
static WholeType some_of(Maker *m, const Indices *all, uint32_t most) {
  WholeType t = {0};
  uint32_t first = all->n ? below(m, all->n) : 0;
  for (uint32_t i = 0; i < all->n && t.rank < most; i++)
    if (!one_in(m, 3)) t.axis[t.rank++] = all->at[(first + i) % all->n].axis;
  return t;
}

bool turn_product(Maker *m) {
  const WholeWire *a = maker_wire(m, 1, 3), *b = maker_wire(m, 0, 2);
  if (!a || !b) return false;
  Indices all = {0};
  WholeNode *x = factor(m, &all, a), *y = factor(m, &all, b);
  WholeType t = some_of(m, &all, 3);
  if (!t.rank) return false; // without a left side other indices are summed
  WholeNode *right = whole_node(m->p, NULL, one_in(m, 2) ? "%e * %e" : "%e %e", x, y);
  if (!a->type.rank || !b->type.rank) right = whole_node(m->p, NULL, "%e * %e", x, y);
  for (uint32_t i = 0; i < m->wire.n && one_in(m, 2); i++) {
    const WholeWire *c = &m->wire.at[i];
    Id index[WHOLE_AXES];
    bool fits = !c->type.labels && c->type.rank == t.rank;
    for (uint32_t k = 0; fits && k < t.rank; k++)
      fits = axis_meets(&c->type.axis[k], &t.axis[k]), index[k] = t.axis[k].label;
    if (!fits) continue;
    right = whole_node(m->p, NULL, one_in(m, 2) ? "%E + %e" : "%E - tanh(%E)", right,
                       access_of(m, c, index));
    break;
  }
  return equation(m, &t, right, "");
}

bool turn_turned(Maker *m) {
  const WholeWire *a = maker_wire(m, 2, 3);
  if (!a) return false;
  Id index[WHOLE_AXES];
  WholeType t = {.rank = a->type.rank};
  for (uint32_t i = 0; i < t.rank; i++) {
    index[i] = maker_name(m, NAME_INDEX);
    WholeAxis *to = &t.axis[t.rank - 1 - i];
    *to = a->type.axis[i];
    to->label = index[i], to->axis = 0;
  }
  return equation(m, &t, access_of(m, a, index), "");
}

bool turn_summed(Maker *m) {
  static const char *const f[] = {"sum", "max", "mean", "min"};
  const WholeWire *a = maker_wire(m, 2, 3);
  if (!a) return false;
  Id index[WHOLE_AXES];
  WholeType t = {0};
  uint32_t gone = below(m, a->type.rank);
  for (uint32_t i = 0; i < a->type.rank; i++) {
    index[i] = maker_name(m, NAME_INDEX);
    if (i == gone) continue;
    t.axis[t.rank] = a->type.axis[i];
    t.axis[t.rank].axis = 0;
    t.axis[t.rank++].label = index[i];
  }
  return equation(
      m, &t,
      whole_node(m->p, NULL, "%s[%n](tanh(%E))", PICK(m, f), index[gone], access_of(m, a, index)),
      "");
}

bool turn_masked(Maker *m) {
  const WholeWire *a = maker_wire(m, 2, 2);
  if (!a) return false;
  Id index[2] = {maker_name(m, NAME_INDEX), maker_name(m, NAME_INDEX)};
  WholeType t = a->type;
  for (uint32_t i = 0; i < 2; i++) t.axis[i].label = index[i], t.axis[i].axis = 0;
  WholeNode *x = access_of(m, a, index);
  return equation(m, &t,
                  whole_node(m->p, NULL,
                             one_in(m, 2) ? "%e when %n <= %n else 0" : "%e + 0.1 * (%n - %n)", x,
                             index[0], index[1]),
                  "");
}

// Of one axis; sizes are known.
static const WholeWire *row_of(Maker *m, uint32_t least) {
  const WholeWire *a = maker_wire(m, 1, 1);
  return a && !a->type.axis[0].variable && a->type.axis[0].n >= least ? a : NULL;
}

bool turn_window(Maker *m) {
  const WholeWire *a = row_of(m, 2);
  if (!a) return false;
  Id i = maker_name(m, NAME_INDEX), p = maker_name(m, NAME_INDEX), w = maker_name(m, NAME_WIRE);
  bool padded = one_in(m, 2);
  WholeType t = {.rank = 1, .axis = {{.label = i, .n = a->type.axis[0].n - (padded ? 0 : 1)}}};
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "const %n : R[2] = [0.5, -0.25]", w));
  vec_push(m->p->arena, &l->makes, w);
  if (!padded)
    return equation(m, &t, whole_node(m->p, NULL, "%n[%n+%n] %n[%n]", a->name, i, p, w, p), "");
  WholeNode *line = whole_node(m->p, NULL, "%n[%n+%n-1] %n[%n]", a->name, i, p, w, p);
  Id name = maker_name(m, NAME_WIRE);
  l = maker_line(m,
                 whole_node(m->p, NULL, "%n[%n:%d] = %E pad 0", name, i, (int)t.axis[0].n, line));
  vec_push(m->p->arena, &l->makes, name);
  vec_push(m->p->arena, &m->wire, (WholeWire){name, t});
  return true;
}

bool turn_pooled(Maker *m) {
  const WholeWire *a = row_of(m, 2);
  if (!a || a->type.axis[0].n % 2) return false;
  Id i = maker_name(m, NAME_INDEX), p = maker_name(m, NAME_INDEX);
  WholeType t = {.rank = 1, .axis = {{.label = i, .n = a->type.axis[0].n / 2}}};
  return equation(m, &t, whole_node(m->p, NULL, "max[%n:2](%n[2*%n+%n])", p, a->name, i, p), "");
}

bool turn_group(Maker *m) {
  const WholeWire *a = maker_wire(m, 2, 2);
  if (!a || a->type.axis[0].variable || a->type.axis[1].variable) return false;
  if (a->type.axis[0].n * a->type.axis[1].n > 12) return false;
  Id i = maker_name(m, NAME_INDEX), k = maker_name(m, NAME_INDEX), y = maker_name(m, NAME_WIRE);
  WholeType t = {.rank = 1, .axis = {{.n = a->type.axis[0].n * a->type.axis[1].n}}};
  WholeLine *l =
      maker_line(m, whole_node(m->p, NULL, "%n[(%n %n)] = %n[%n %n]", y, i, k, a->name, i, k));
  vec_push(m->p->arena, &l->makes, y);
  vec_push(m->p->arena, &m->wire, (WholeWire){y, t});
  return true;
}

bool turn_split(Maker *m) {
  const WholeWire *a = row_of(m, 2);
  if (!a || a->type.axis[0].n % 2) return false;
  Id i = maker_name(m, NAME_INDEX), p = maker_name(m, NAME_INDEX), y = maker_name(m, NAME_WIRE);
  WholeType t = {.rank = 2,
                 .axis = {{.label = i, .n = a->type.axis[0].n / 2}, {.label = p, .n = 2}}};
  WholeLine *l =
      maker_line(m, whole_node(m->p, NULL, "%n[%n %n:2] = %n[(%n %n)]", y, i, p, a->name, i, p));
  vec_push(m->p->arena, &l->makes, y);
  vec_push(m->p->arena, &m->wire, (WholeWire){y, t});
  return true;
}

bool turn_diagonal(Maker *m) {
  const WholeWire *a = maker_wire(m, 1, 2);
  if (!a) return false;
  Id i = maker_name(m, NAME_INDEX);
  WholeType t = {.rank = 3 - a->type.rank};
  for (uint32_t k = 0; k < t.rank; k++) {
    t.axis[k] = a->type.axis[0];
    t.axis[k].label = i, t.axis[k].axis = 0;
  }
  if (a->type.rank == 1) return equation(m, &t, whole_node(m->p, NULL, "%n[%n]", a->name, i), "");
  if (!axis_meets(&a->type.axis[0], &a->type.axis[1])) return false;
  return equation(m, &t, whole_node(m->p, NULL, "%n[%n %n]", a->name, i, i), "");
}

bool turn_copies(Maker *m) {
  const WholeWire *a = maker_wire(m, 0, 2);
  if (!a) return false;
  Id index[WHOLE_AXES], k = maker_name(m, NAME_INDEX), y = maker_name(m, NAME_WIRE);
  WholeType t = {.rank = 1, .axis = {{.label = k, .n = 2}}};
  WholeNode *left = whole_node(m->p, NULL, "%n[%n:2", y, k);
  for (uint32_t i = 0; i < a->type.rank; i++) {
    index[i] = maker_name(m, NAME_INDEX);
    add_text(m, left, " ");
    add_name(m, left, index[i]);
    t.axis[t.rank] = a->type.axis[i];
    t.axis[t.rank].axis = 0;
    t.axis[t.rank++].label = index[i];
  }
  WholeLine *l = maker_line(m, whole_node(m->p, NULL, "%E] = %E", left, access_of(m, a, index)));
  vec_push(m->p->arena, &l->makes, y);
  vec_push(m->p->arena, &m->wire, (WholeWire){y, t});
  return true;
}

bool turn_slice(Maker *m) {
  const WholeWire *a = row_of(m, 2);
  if (!a) return false;
  WholeType t = {.rank = 1, .axis = {{.n = a->type.axis[0].n - 1}}}, one = {0};
  if (one_in(m, 2))
    maker_let(m, whole_node(m->p, &one, "%n[%d]", a->name, (int)below(m, a->type.axis[0].n)));
  else
    maker_let(m, whole_node(m->p, &t, "%n[1..%d]", a->name, (int)a->type.axis[0].n - 1));
  return true;
}

// E[k m], E[k[i] m]
bool turn_gather(Maker *m) {
  const WholeWire *e = maker_wire(m, 1, 2);
  for (uint32_t i = 0; e && i < m->wire.n; i++) {
    const WholeWire *k = &m->wire.at[i];
    if (!k->type.labels || k->type.rank > 1 || !axis_meets(&k->type.range, &e->type.axis[0]))
      continue;
    Id a = maker_name(m, NAME_INDEX), b = maker_name(m, NAME_INDEX);
    WholeType t = {0};
    WholeNode *right = whole_node(m->p, NULL, "%n[%n", e->name, k->name);
    if (k->type.rank) {
      t.axis[t.rank] = k->type.axis[0];
      t.axis[t.rank].axis = 0, t.axis[t.rank++].label = a;
      add_text(m, right, "[");
      add_name(m, right, a);
      add_text(m, right, "]");
    }
    if (e->type.rank > 1) {
      t.axis[t.rank] = e->type.axis[1];
      t.axis[t.rank].axis = 0, t.axis[t.rank++].label = b;
      add_text(m, right, " ");
      add_name(m, right, b);
    }
    add_text(m, right, "]");
    return equation(m, &t, right, "");
  }
  return false;
}

bool turn_sorted(Maker *m) {
  const WholeWire *a = maker_wire(m, 1, 1);
  if (!a || !a->type.axis[0].label) return false;
  Id o = maker_name(m, NAME_WIRE), i = maker_name(m, NAME_INDEX);
  WholeLine *l = maker_line(
      m, whole_node(m->p, NULL, "%n = order[%n](%n)", o, a->type.axis[0].label, a->name));
  vec_push(m->p->arena, &l->makes, o);
  WholeType t = a->type;
  t.axis[0].label = i, t.axis[0].axis = 0;
  return equation(m, &t, whole_node(m->p, NULL, "%n[%n[%n]]", a->name, o, i), "");
}

// Y[k[i]] = …: what meets in one place is added.
bool turn_scatter(Maker *m) {
  for (uint32_t i = 0; i < m->wire.n; i++) {
    const WholeWire *k = &m->wire.at[i];
    if (!k->type.labels || k->type.rank != 1) continue;
    Id y = maker_name(m, NAME_WIRE), a = maker_name(m, NAME_INDEX);
    WholeType t = {.rank = 1, .axis = {k->type.range}};
    t.axis[0].label = 0;
    WholeLine *l =
        maker_line(m, whole_node(m->p, NULL, "%n[%n[%n]] = 1 + 0.5 * %n", y, k->name, a, a));
    vec_push(m->p->arena, &l->makes, y);
    vec_push(m->p->arena, &m->wire, (WholeWire){y, t});
    return true;
  }
  return false;
}
