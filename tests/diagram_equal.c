// equal.c: whether two diagrams are the same.
//
// The same means: the same boxes in the same order between the same wires, with the same names,
// types, labels and passing axes; the same params; and so for everything they call. Not compared
// are origins, numbers of wires (they correspond by position: inputs, params, outputs of boxes),
// numbers of axis declarations, and which size variables these are: the k-th variable of one
// corresponds to the k-th of the other, by age. Bodies of loops are compared by what they compute:
// shared or written out twice is the same.
#include "base/table.h"
#include "core/diagram/print.h"
#include "core/diagram/text_own.h"
#include "diagram_help.h"

#include <math.h>

typedef struct {
  const PrintNames *cast;
  const Diagram *d;
  uint32_t *place; // [wire] its position + 1
} EqualSide;

typedef struct {
  World *w;
  Table *pairs; // of diagrams, compared or being compared
  EqualSide a, b;
} Compare;

static bool diagrams_equal(Compare *c, const Diagram *a, const Diagram *b);

static bool same_number(double x, double y) {
  return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

static bool same_size(const Compare *c, Size x, Size y) {
  int64_t m, n;
  if (x && y && size_value(c->w, x, &m) && size_value(c->w, y, &n)) return m == n;
  return strcmp(size_by_names(c->w, c->a.cast, x), size_by_names(c->w, c->b.cast, y)) == 0;
}

static bool same_offset(const Compare *c, Size x, Size y) { // none is 0
  return same_size(c, x ? x : size_of(c->w, 0), y ? y : size_of(c->w, 0));
}

static bool same_wires(const Compare *c, const Id *x, const Id *y, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (c->a.place[x[i]] != c->b.place[y[i]]) return false;
  return true;
}

static bool same_label_names(const Compare *c, Id x, Id y) {
  const Ids *p = &c->w->label_names.at[x], *q = &c->w->label_names.at[y];
  if (!x != !y || p->n != q->n) return false;
  for (uint32_t i = 0; i < p->n; i++)
    if (p->at[i] != q->at[i]) return false;
  return true;
}

static bool same_type(const Compare *c, const Type *x, const Type *y) {
  if (x->base != y->base || x->rank != y->rank) return false;
  if (x->base == BASE_LABEL &&
      (!same_size(c, x->count, y->count) || !same_label_names(c, x->names, y->names)))
    return false;
  for (uint32_t i = 0; i < x->rank; i++) {
    const Axis *p = &x->axis[i], *q = &y->axis[i];
    if (p->label != q->label || p->pass != q->pass || !same_size(c, p->size, q->size)) return false;
  }
  return true;
}

// -- loops ----------------------------------------------------------------------------------------
static bool same_coord(const Compare *c, const Coord *x, const Coord *y) {
  if (x->n != y->n || !same_offset(c, x->c, y->c)) return false;
  for (uint32_t i = 0; i < x->n; i++) {
    const Term *p = &x->term[i], *q = &y->term[i];
    if (p->var != q->var || p->operand != q->operand || !same_size(c, p->coef, q->coef))
      return false;
  }
  return true;
}

static bool same_access(const Compare *c, const Access *x, const Access *y) {
  if (x->rank != y->rank || x->padded != y->padded || (x->padded && !same_number(x->pad, y->pad)))
    return false;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!same_coord(c, &x->coord[i], &y->coord[i])) return false;
  return true;
}

static bool same_body(const Compare *c, const Loop *x, const Loop *y) {
  if (!x->nscalar || !y->nscalar) return x->nscalar == y->nscalar;
  Table *table = table_new(c->w->arena);
  const uint32_t *p = scalar_numbers(c->w, c->a.cast, x, table),
                 *q = scalar_numbers(c->w, c->b.cast, y, table);
  return p[x->nscalar - 1] == q[y->nscalar - 1];
}

static bool same_loop(const Compare *c, const Loop *x, const Loop *y) {
  if (x->combine != y->combine || x->nindex != y->nindex || x->nin != y->nin) return false;
  for (uint32_t i = 0; i < x->nindex; i++)
    if (x->index[i].name != y->index[i].name || !same_size(c, x->index[i].size, y->index[i].size))
      return false;
  for (uint32_t i = 0; i < x->nin; i++)
    if (!same_access(c, &x->in[i], &y->in[i])) return false;
  return same_access(c, &x->out, &y->out) && same_body(c, x, y);
}

// -- boxes and params -----------------------------------------------------------------------------
static bool same_scan(Compare *c, const Scan *x, const Scan *y) {
  return x->slice == y->slice && x->carry == y->carry && x->hold == y->hold && x->back == y->back &&
         x->axis.name == y->axis.name && same_size(c, x->axis.size, y->axis.size) &&
         diagrams_equal(c, x->body, y->body);
}

static bool same_box(Compare *c, const Box *x, const Box *y) {
  if (x->op != y->op || x->nin != y->nin || x->nout != y->nout) return false;
  if (!same_wires(c, x->in, y->in, x->nin) || !same_wires(c, x->out, y->out, x->nout)) return false;
  switch (x->op) {
  case OP_loop: return same_loop(c, x->loop, y->loop);
  case OP_scan: return same_scan(c, x->scan, y->scan);
  case OP_call: return x->site == y->site && diagrams_equal(c, x->callee, y->callee);
  case OP_random: return x->random->noise == y->random->noise && x->random->site == y->random->site;
  default: return x->axis == y->axis;
  }
}

static bool same_data(const Compare *c, const Param *x, const Param *y) {
  int64_t count;
  if (!type_count(c->w, &c->a.d->wire.at[x->wire].type, &count)) return true;
  for (int64_t i = 0; i < count; i++)
    if (!same_number(x->init.data[i], y->init.data[i])) return false;
  return true;
}

static bool same_init(Compare *c, const Param *x, const Param *y) {
  const Init *p = &x->init, *q = &y->init;
  if (p->kind != q->kind) return false;
  switch (p->kind) {
  case INIT_CONST: return same_number(p->k, q->k);
  case INIT_GLOROT:
  case INIT_HE: return same_size(c, p->fan_in, q->fan_in) && same_size(c, p->fan_out, q->fan_out);
  case INIT_DIAGRAM: return diagrams_equal(c, p->diagram, q->diagram);
  case INIT_DATA: return same_data(c, x, y);
  default: return true;
  }
}

static bool same_param(Compare *c, const Param *x, const Param *y) {
  return strcmp(x->path, y->path) == 0 && x->rooted == y->rooted && x->role == y->role &&
         c->a.place[x->wire] == c->b.place[y->wire] && c->a.place[x->next] == c->b.place[y->next] &&
         same_init(c, x, y);
}

// -- diagrams -------------------------------------------------------------------------------------
static EqualSide side_of(Compare *c, const EqualSide *from, const Diagram *d, Ids *wire) {
  EqualSide s = {.cast = from->cast, .d = d, .place = NEW_ARRAY(c->w->arena, uint32_t, d->wire.n)};
  *wire = wires_in_order(c->w, d);
  for (uint32_t i = 0; i < wire->n; i++) s.place[wire->at[i]] = i + 1;
  return s;
}

static bool same_contents(Compare *c, const Ids *wire_a, const Ids *wire_b) {
  const Diagram *a = c->a.d, *b = c->b.d;
  if (a->name != b->name || a->in.n != b->in.n || a->out.n != b->out.n || a->param.n != b->param.n)
    return false;
  if (a->box.n != b->box.n || wire_a->n != wire_b->n || !a->reverse != !b->reverse) return false;
  for (uint32_t i = 0; i < wire_a->n; i++) {
    const Wire *x = &a->wire.at[wire_a->at[i]], *y = &b->wire.at[wire_b->at[i]];
    if (x->name != y->name || !same_type(c, &x->type, &y->type)) return false;
  }
  for (uint32_t i = 0; i < a->param.n; i++)
    if (!same_param(c, &a->param.at[i], &b->param.at[i])) return false;
  for (uint32_t i = 1; i < a->box.n; i++)
    if (!same_box(c, &a->box.at[i], &b->box.at[i])) return false;
  if (!same_wires(c, a->out.at, b->out.at, a->out.n)) return false;
  return !a->reverse || diagrams_equal(c, a->reverse, b->reverse);
}

static bool diagrams_equal(Compare *c, const Diagram *a, const Diagram *b) {
  Id key[2] = {a->id, b->id};
  Ids wire_a, wire_b;
  if (table_get(c->pairs, key, sizeof key))
    return true; // if they differ, that is found where they were met first
  table_put(c->pairs, key, sizeof key, 1);
  Compare inner = *c;
  inner.a = side_of(c, &c->a, a, &wire_a);
  inner.b = side_of(c, &c->b, b, &wire_b);
  return same_contents(&inner, &wire_a, &wire_b);
}

bool diagram_equal(World *w, const Diagram *a, const Diagram *b) {
  Compare c = {.w = w,
               .pairs = table_new(w->arena),
               .a.cast = print_names(w, a),
               .b.cast = print_names(w, b)};
  const Ids *x = &c.a.cast->vars, *y = &c.b.cast->vars;
  if (x->n != y->n) return false;
  for (uint32_t i = 0; i < x->n; i++)
    if (size_var_name(w, x->at[i]) != size_var_name(w, y->at[i]) ||
        size_var_kind(w, x->at[i]) != size_var_kind(w, y->at[i]))
      return false;
  return diagrams_equal(&c, a, b);
}
