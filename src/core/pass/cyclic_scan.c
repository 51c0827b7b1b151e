// Evaluates a cycle by a scan, if element i depends on elements at constant distances before it:
//
//   y[i] = f(x[i], y[i-1] pad 0)      slices   x
//                                     carries  y of the previous step, at first the pad
//                                     holds    operands read whole, or at several positions
//
// The body holds every box of the cycle without the axis; dependencies that are cyclic inside the
// body are ordered along another axis. If all distances are positive, the scan runs backwards.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/cyclic.h"

typedef struct {
  Id outside, inside; // wires of the enclosing diagram and of the body
  uint32_t axis;      // of a slice: its axis, offset and padding
  int64_t from;
  bool padded;
  double pad;
} ScanInput;

typedef struct {
  Id wire; // a wire read with a delay
  double pad;
  Ids ago;             // [k] the value k + 1 steps ago: wires of the body
  int64_t line_length; // length of the delay line; 0: there is none
  Id line;      // the delay line (a shift register), the latest value first: a wire of the body
  Id line_next; // the line after this step
} Delayed;

// Delays of up to 8 steps have a carry each; longer ones share a delay line.
enum { NEAR_LIMIT = 8 };

typedef struct {
  CyclicRun *run;
  const CyclicCut *c;
  World *w;
  Diagram *to;
  Id *map; // [wire] of the enclosing diagram
  Size n;
  bool back;
  Cyclic body;
  Id *inner; // [wire] produced in the cycle: the wire of the body
  VEC(ScanInput) slice, hold;
  VEC(Delayed) delayed;
  Id label, number; // the position, as wires of the body; 0: not used yet
} CyclicScan;

// -- recurrence test ------------------------------------------------------------------------------
static bool is_shift(World *w, const Coord *c, int64_t *by) {
  return c->n == 1 && !c->term[0].operand && size_now(w, c->term[0].coef) == size_of(w, 1) &&
         size_value(w, c->c, by);
}

// The constant distance at which the box reads the operand; false: the distance is not constant.
static bool distance(const CyclicCut *c, Id box, uint32_t operand, int64_t *by) {
  const Box *b = &c->k->d->box.at[box];
  int32_t axis = c->axis[b->in[operand]];
  *by = 0;
  if (axis < 0) return false;
  if (b->op == OP_scan) return axis == operand_axis(c, box, operand);
  if (b->op != OP_loop) return axis == c->index[box] && b->axis != (uint32_t)axis;
  const Access *a = &b->loop->in[operand];
  return access_axis(a, (uint32_t)c->index[box]) == axis && is_shift(c->w, &a->coord[axis], by) &&
         (!*by || a->padded);
}

// True if all distances have one sign. alone: true if all are 0 instead.
static bool is_recurrence(CyclicScan *s, bool alone) {
  const CyclicCut *c = s->c;
  bool forward = false, back = false;
  for (uint32_t i = 0; i < c->box->n; i++) {
    Id box = c->box->at[i];
    const Box *b = &c->k->d->box.at[box];
    if (c->index[box] < 0) return false;
    const Type *t = &c->k->d->wire.at[b->out[0]].type;
    Size n = size_now(c->w, t->axis[c->axis[b->out[0]]].size);
    if (!s->n) s->n = n;
    if (n != s->n) return false;
    for (uint32_t k = 0; k < b->nin; k++) {
      int64_t by;
      if (!in_cycle(c, b->in[k])) continue;
      if (!distance(c, box, k, &by)) return false;
      forward |= by<0, back |= by> 0;
    }
  }
  s->back = back;
  return alone ? !forward && !back : forward != back;
}

// -- the body's inputs ----------------------------------------------------------------------------
// The body is a diagram of its own, so none of its axes is a batch axis.
static Type type_without_axis(World *w, const Type *t, uint32_t axis) {
  Axis all[64];
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (i == axis) continue;
    all[n] = t->axis[i];
    all[n++].pass = 0;
  }
  Type out = *t;
  out.rank = n;
  out.axis = arena_copy(w->arena, all, n * sizeof(Axis));
  return out;
}

static Type outside_type(const CyclicScan *s, Id wire) { return s->to->wire.at[wire].type; }

static Id pass_as_broadcast(CyclicScan *s, Id wire) {
  Id outside = s->map[wire];
  for (uint32_t i = 0; i < s->hold.n; i++)
    if (s->hold.at[i].outside == outside) return s->hold.at[i].inside;
  Type whole = outside_type(s, outside), t = type_without_axis(s->w, &whole, UINT32_MAX);
  ScanInput in = {.outside = outside, .inside = cyclic_wire(s->w, &s->body, &t, 0, 0)};
  vec_push(s->w->arena, &s->hold, in);
  return in.inside;
}

static Id slice(CyclicScan *s, Id wire, ScanInput want) {
  want.outside = s->map[wire];
  for (uint32_t i = 0; i < s->slice.n; i++) {
    const ScanInput *x = &s->slice.at[i];
    if (x->outside == want.outside && x->axis == want.axis && x->from == want.from &&
        x->padded == want.padded && (!x->padded || x->pad == want.pad))
      return x->inside;
  }
  Type whole = outside_type(s, want.outside), t = type_without_axis(s->w, &whole, want.axis);
  want.inside = cyclic_wire(s->w, &s->body, &t, 0, 0);
  vec_push(s->w->arena, &s->slice, want);
  return want.inside;
}

// Adds an operand whose first coordinate is `c` (the position in the delay line; NULL: no such
// axis); the other axes are read at indices from `first` on.
static void line_operand(World *w, Loop *loop, const Coord *c, uint32_t first, uint32_t rank) {
  Access a = {.rank = rank + (c != NULL), .padded = c != NULL};
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank + 1);
  if (c) a.coord[0] = *c;
  for (uint32_t i = 0; i < rank; i++) a.coord[i + (c != NULL)] = coord_index(w, first + i);
  loop->in[loop->nin++] = a;
}

// The value `steps` ago, read from the delay line.
static Id read_line(CyclicScan *s, Delayed *delayed, int64_t steps) {
  World *w = s->w;
  Type t = s->body.d->wire.at[s->inner[delayed->wire]].type;
  if (!delayed->line) delayed->line = cyclic_wire(w, &s->body, &t, 0, 0);
  if (delayed->line_length < steps) delayed->line_length = steps;
  Id read = cyclic_wire(w, &s->body, &t, 0, 0);
  Loop *loop = loop_over(w, &t);
  Coord at = coord_const(w, size_of(w, steps - 1));
  loop->in = NEW_ARRAY(w->arena, Access, 1);
  line_operand(w, loop, &at, 0, t.rank);
  loop->in[0].padded = false;
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base});
  cyclic_box(w, &s->body, &(Box){.op = OP_loop, .nin = 1, .nout = 1, .loop = loop}, &delayed->line,
             &read, (ConnectPlace){0});
  return read;
}

// Called after all reads, when the length is known: sets the line's type and emits its shift by one
// step.
static void make_line(CyclicScan *s, Delayed *delayed) {
  World *w = s->w;
  if (!delayed->line_length) return;
  Wire *line = &s->body.d->wire.at[delayed->line];
  Type t = line->type, row = t;
  row.rank = t.rank + 1;
  row.axis = NEW_ARRAY(w->arena, Axis, row.rank);
  row.axis[0].size = size_of(w, delayed->line_length);
  if (t.rank) memcpy(row.axis + 1, t.axis, t.rank * sizeof(Axis));
  line->type = row;
  delayed->line_next = cyclic_wire(w, &s->body, &row, 0, 0);
  Loop *loop = loop_over(w, &row);
  loop->in = NEW_ARRAY(w->arena, Access, 2);
  Coord before = coord_index(w, 0);
  before.c = size_of(w, -1);
  line_operand(w, loop, &before, 1, t.rank);
  line_operand(w, loop, NULL, 1, t.rank);
  uint32_t zero = scalar_push(w, loop, (Scalar){.fn = FN_CONST, .base = BASE_R});
  uint32_t at = scalar_push(w, loop, (Scalar){.fn = FN_AT, .base = BASE_R});
  uint32_t moves = scalar_fn(w, loop, FN_lt, zero, at, 0);
  uint32_t old = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base});
  uint32_t now = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base, .ref = 1});
  scalar_fn(w, loop, FN_select, moves, old, now);
  Id in[] = {delayed->line, s->inner[delayed->wire]};
  cyclic_box(w, &s->body, &(Box){.op = OP_loop, .nin = 2, .nout = 1, .loop = loop}, in,
             &delayed->line_next, (ConnectPlace){0});
}

static Id read_delayed(CyclicScan *s, Id wire, double pad, int64_t steps) {
  Delayed *delayed = NULL;
  for (uint32_t i = 0; i < s->delayed.n && !delayed; i++)
    if (s->delayed.at[i].wire == wire && s->delayed.at[i].pad == pad) delayed = &s->delayed.at[i];
  if (!delayed) {
    vec_push(s->w->arena, &s->delayed, (Delayed){.wire = wire, .pad = pad});
    delayed = &s->delayed.at[s->delayed.n - 1];
  }
  if (steps > NEAR_LIMIT) return read_line(s, delayed, steps);
  Type t = s->body.d->wire.at[s->inner[wire]].type;
  while (delayed->ago.n < (uint64_t)steps) {
    Id ago = cyclic_wire(s->w, &s->body, &t, 0, 0);
    vec_push(s->w->arena, &delayed->ago, ago);
  }
  return delayed->ago.at[steps - 1];
}

// The position of the scan, as a label or a number.
static Id position(CyclicScan *s, Base base) {
  Id *known = base == BASE_LABEL ? &s->label : &s->number;
  if (*known) return *known;
  Axis axis = {.size = s->n};
  Type t = type_make(s->w, base, 1, &axis), one;
  if (base == BASE_LABEL) t.count = s->n;
  Loop *loop = loop_over(s->w, &t);
  scalar_push(s->w, loop, (Scalar){.fn = FN_AT, .base = (uint8_t)base});
  Id outside = box_loop(s->w, s->to, loop, NULL, 0, t, 0);
  one = type_without_axis(s->w, &t, 0);
  *known = cyclic_wire(s->w, &s->body, &one, 0, 0);
  vec_push(s->w->arena, &s->slice, (ScanInput){.outside = outside, .inside = *known});
  return *known;
}

// -- the body's boxes -----------------------------------------------------------------------------
typedef struct {
  CyclicScan *s;
  const Box *b;
  uint32_t index; // the index along which the scan runs
  bool at;        // the position is operand 0, as a label
  Loop loop;
  Ids in;
} ElementLoop;

static ConnectPlace place_of(const CyclicScan *s, Id box) {
  const Box *b = &s->c->k->d->box.at[box];
  return place_fixed(s->c->k->from.at[box], (uint32_t)s->c->axis[b->out[0]], -1);
}

// The coordinate without the scan's index, which becomes a term of the position operand.
static Coord element_coord(const ElementLoop *e, const Coord *c) {
  Coord out = *c;
  out.term = arena_copy(e->s->w->arena, c->term, c->n * sizeof(Term));
  for (uint32_t i = 0; i < c->n; i++) {
    Term *t = &out.term[i];
    if (t->operand)
      t->var += e->at;
    else if (t->var == e->index)
      t->operand = true, t->var = 0;
    else
      t->var -= t->var > e->index;
  }
  return out;
}

static Access element_access(const ElementLoop *e, const Access *a, int32_t dropped) {
  Access out = *a;
  out.coord = NEW_ARRAY(e->s->w->arena, Coord, a->rank + 1);
  out.rank = 0;
  for (uint32_t i = 0; i < a->rank; i++)
    if ((int32_t)i != dropped) out.coord[out.rank++] = element_coord(e, &a->coord[i]);
  return out;
}

// True if an outside operand with this access can be a slice of the scan.
static bool is_slice(const ElementLoop *e, const Access *a, Id wire, int64_t *from) {
  CyclicScan *s = e->s;
  int32_t axis = access_axis(a, e->index);
  if (axis < 0 || !is_shift(s->w, &a->coord[axis], from)) return false;
  Type t = outside_type(s, s->map[wire]);
  return a->padded || (!*from && size_now(s->w, t.axis[axis].size) == s->n);
}

static bool reads_by_position(const ElementLoop *e) {
  int64_t from;
  for (uint32_t k = 0; k < e->b->nin; k++) {
    const Access *a = &e->b->loop->in[k];
    if (in_cycle(e->s->c, e->b->in[k]) || access_axis(a, e->index) == -1) continue;
    if (!is_slice(e, a, e->b->in[k], &from)) return true;
  }
  return false;
}

static void element_operand(ElementLoop *e, uint32_t k) {
  CyclicScan *s = e->s;
  const Access *a = &e->b->loop->in[k];
  Id wire = e->b->in[k], read;
  int32_t axis = access_axis(a, e->index);
  int64_t by = 0;
  if (in_cycle(s->c, wire)) {
    is_shift(s->w, &a->coord[axis], &by);
    read = by ? read_delayed(s, wire, a->pad, by < 0 ? -by : by) : s->inner[wire];
  } else if (is_slice(e, a, wire, &by)) {
    read =
        slice(s, wire,
              (ScanInput){.axis = (uint32_t)axis, .from = by, .padded = a->padded, .pad = a->pad});
  } else {
    read = pass_as_broadcast(s, wire);
    axis = -1;
  }
  e->loop.in[e->loop.nin++] = element_access(e, a, axis);
  vec_push(s->w->arena, &e->in, read);
}

// Adds the position as an operand, a scalar.
static uint32_t position_operand(ElementLoop *e, Base base) {
  e->loop.in[e->loop.nin] = (Access){0};
  vec_push(e->s->w->arena, &e->in, position(e->s, base));
  return e->loop.nin++;
}

static void element_loop(CyclicScan *s, Id box) {
  World *w = s->w;
  const Box *b = &s->c->k->d->box.at[box];
  ElementLoop e = {.s = s, .b = b, .index = (uint32_t)s->c->index[box], .loop = *b->loop};
  e.at = reads_by_position(&e);
  e.loop.nindex = e.loop.nin = 0;
  e.loop.index = NEW_ARRAY(w->arena, Index, b->loop->nindex + 1);
  e.loop.in = NEW_ARRAY(w->arena, Access, b->nin + 3);
  e.loop.scalar = arena_copy(w->arena, b->loop->scalar, b->loop->nscalar * sizeof(Scalar));
  for (uint32_t i = 0; i < b->loop->nindex; i++)
    if (i != e.index) e.loop.index[e.loop.nindex++] = b->loop->index[i];
  if (e.at) position_operand(&e, BASE_LABEL);
  for (uint32_t k = 0; k < b->nin; k++) element_operand(&e, k);
  uint32_t place[BASE_BIT + 1] = {0};
  for (uint32_t i = 0; i < e.loop.nscalar; i++) {
    Scalar *x = &e.loop.scalar[i];
    if (x->fn == FN_ARG) x->ref += e.at;
    if (x->fn != FN_AT) continue;
    if (x->ref != e.index) {
      x->ref -= x->ref > e.index;
      continue;
    }
    if (!place[x->base]) place[x->base] = position_operand(&e, (Base)x->base) + 1;
    *x = (Scalar){.fn = FN_ARG, .base = x->base, .ref = place[x->base] - 1};
  }
  e.loop.out = element_access(&e, &b->loop->out, s->c->axis[b->out[0]]);
  Box copy = *b;
  copy.loop = arena_copy(w->arena, &e.loop, sizeof e.loop);
  copy.nin = e.in.n;
  Id *out = NEW_ARRAY(w->arena, Id, b->nout);
  for (uint32_t i = 0; i < b->nout; i++) out[i] = s->inner[b->out[i]];
  cyclic_box(w, &s->body, &copy, e.in.at, out, place_of(s, box));
}

// A join or an order along another axis.
static void element_join(CyclicScan *s, Id box) {
  World *w = s->w;
  const Box *b = &s->c->k->d->box.at[box];
  uint32_t axis = (uint32_t)s->c->index[box];
  Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1);
  for (uint32_t k = 0; k < b->nin; k++)
    in[k] = in_cycle(s->c, b->in[k]) ? s->inner[b->in[k]]
                                     : slice(s, b->in[k], (ScanInput){.axis = axis});
  Box copy = *b;
  copy.axis -= axis < b->axis;
  cyclic_box(w, &s->body, &copy, in, &s->inner[b->out[0]], place_of(s, box));
}

// Copies a wire, adding (back) or dropping an axis of size 1.
static void copy_unit_axis(CyclicScan *s, Id from, Id to, const Type *t, int32_t axis, bool back) {
  World *w = s->w;
  Type less = type_without_axis(w, t, (uint32_t)axis);
  Loop *loop = loop_over(w, back ? &less : t);
  Access a = {.rank = back ? t->rank : less.rank};
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank + 1);
  for (uint32_t i = 0, n = 0; i < t->rank; i++) {
    if ((int32_t)i == axis && !back) continue;
    uint32_t index = back ? i - ((int32_t)i > axis) : i;
    a.coord[n] = coord_const(w, size_of(w, 0));
    if ((int32_t)i != axis) a.coord[n] = coord_add(w, a.coord[n], size_of(w, 1), index, false);
    n++;
  }
  loop->nin = 1;
  loop->in = arena_copy(w->arena, &a, sizeof a);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base});
  cyclic_box(w, &s->body, &(Box){.op = OP_loop, .nin = 1, .nout = 1, .loop = loop}, &from, &to,
             (ConnectPlace){0});
}

// A nested scan: restricted to one position of the axis.
static void element_scan(CyclicScan *s, Id box) {
  World *w = s->w;
  const Diagram *d = s->c->k->d;
  const Box *b = &d->box.at[box];
  Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1), *out = NEW_ARRAY(w->arena, Id, b->nout + 1);
  for (uint32_t k = 0; k < b->nin; k++) {
    int32_t axis = operand_axis(s->c, box, k);
    if (axis < 0) {
      in[k] = pass_as_broadcast(s, b->in[k]);
      continue;
    }
    Id less = in_cycle(s->c, b->in[k]) ? s->inner[b->in[k]]
                                       : slice(s, b->in[k], (ScanInput){.axis = (uint32_t)axis});
    Type t = type_of_one(w, d->wire.at[b->in[k]].type, axis),
         own = type_without_axis(w, &t, UINT32_MAX);
    in[k] = cyclic_wire(w, &s->body, &own, 0, 0);
    copy_unit_axis(s, less, in[k], &own, axis, false);
  }
  Box copy = *b;
  copy.scan = scan_of_one(s->c->scan[box]);
  for (uint32_t k = 0; k < b->nout; k++) {
    int32_t axis = s->c->axis[b->out[k]];
    Type t = type_of_one(w, d->wire.at[b->out[k]].type, axis),
         own = type_without_axis(w, &t, UINT32_MAX);
    out[k] = cyclic_wire(w, &s->body, &own, 0, 0);
    copy_unit_axis(s, out[k], s->inner[b->out[k]], &own, axis, true);
  }
  cyclic_box(w, &s->body, &copy, in, out, place_of(s, box));
}

static void make_body(CyclicScan *s) {
  World *w = s->w;
  const Diagram *d = s->c->k->d;
  cyclic_begin(w, &s->body, name_from(w->names, "chain"));
  s->inner = NEW_ARRAY(w->arena, Id, d->wire.n);
  for (uint32_t i = 0; i < s->c->box->n; i++) {
    const Box *b = &d->box.at[s->c->box->at[i]];
    for (uint32_t k = 0; k < b->nout; k++) {
      const Wire *x = &d->wire.at[b->out[k]];
      Type t = type_without_axis(w, &x->type, (uint32_t)s->c->axis[b->out[k]]);
      s->inner[b->out[k]] = cyclic_wire(w, &s->body, &t, x->name, x->origin);
    }
  }
  for (uint32_t i = 0; i < s->c->box->n; i++) {
    Id box = s->c->box->at[i];
    if (d->box.at[box].op == OP_loop)
      element_loop(s, box);
    else if (d->box.at[box].op == OP_scan)
      element_scan(s, box);
    else
      element_join(s, box);
  }
  for (uint32_t i = 0; i < s->delayed.n; i++) make_line(s, &s->delayed.at[i]);
}

// -- the scan -------------------------------------------------------------------------------------
// Moves the axis of a slice to the front, shifted and padded to the length of the scan.
static Id slice_wire(CyclicScan *s, const ScanInput *in) {
  World *w = s->w;
  Type t = outside_type(s, in->outside);
  if (!in->axis && !in->from && size_now(w, t.axis[0].size) == s->n) return in->outside;
  Type out = t;
  out.axis = NEW_ARRAY(w->arena, Axis, t.rank);
  out.axis[0] = t.axis[in->axis];
  out.axis[0].size = s->n;
  uint32_t each[64], n = 1;
  for (uint32_t i = 0; i < t.rank; i++) {
    each[i] = i == in->axis ? 0 : n;
    if (i != in->axis) out.axis[n++] = t.axis[i];
  }
  Loop *loop = loop_over(w, &out);
  Access a = access_plain(w, t.rank, each);
  a.coord[in->axis].c = size_of(w, in->from);
  a.padded = in->padded;
  a.pad = in->pad;
  loop->nin = 1;
  loop->in = arena_copy(w->arena, &a, sizeof a);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base});
  return box_loop(w, s->to, loop, &in->outside, 1, out, 0);
}

// Moves the axis of an emitted wire back to its place.
static Id restore_axis(CyclicScan *s, Id wire, Id emitted) {
  World *w = s->w;
  const Wire *x = &s->c->k->d->wire.at[wire];
  uint32_t axis = (uint32_t)s->c->axis[wire], each[64], n = 0;
  Id out = emitted;
  if (axis) {
    Loop *loop = loop_over(w, &x->type);
    each[n++] = axis;
    for (uint32_t i = 0; i < x->type.rank; i++)
      if (i != axis) each[n++] = i;
    Access a = access_plain(w, x->type.rank, each);
    loop->nin = 1;
    loop->in = arena_copy(w->arena, &a, sizeof a);
    scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = x->type.base});
    out = box_loop(w, s->to, loop, &emitted, 1, x->type, x->origin);
  }
  s->to->wire.at[out].type = x->type;
  s->to->wire.at[out].name = x->name;
  s->to->wire.at[out].kept = x->kept;
  return out;
}

static Id body_input(CyclicScan *s, Diagram *body, Id *map, Id inside) {
  return map[inside] = diagram_input(s->w, body, s->body.d->wire.at[inside].type, 0, 0);
}

// Adds the body's inputs, and collects the enclosing diagram's wires for them.
static void body_inputs(CyclicScan *s, Diagram *body, Id *map, Scan *scan, Ids *in) {
  Arena *a = s->w->arena;
  for (uint32_t i = 0; i < s->slice.n; i++) {
    body_input(s, body, map, s->slice.at[i].inside);
    vec_push(a, in, slice_wire(s, &s->slice.at[i]));
  }
  for (uint32_t i = 0; i < s->delayed.n; i++) {
    const Delayed *delayed = &s->delayed.at[i];
    for (uint32_t k = 0; k < delayed->ago.n + (delayed->line != 0); k++) {
      Id inside = k < delayed->ago.n ? delayed->ago.at[k] : delayed->line;
      body_input(s, body, map, inside);
      Type t = s->body.d->wire.at[inside].type;
      vec_push(a, in, wire_filled(s->w, s->to, &t, delayed->pad, 0, 0));
      scan->carry++;
    }
  }
  for (uint32_t i = 0; i < s->hold.n; i++) {
    body_input(s, body, map, s->hold.at[i].inside);
    vec_push(a, in, s->hold.at[i].outside);
  }
  scan->slice = s->slice.n;
  scan->hold = s->hold.n;
}

bool cyclic_scan(CyclicRun *run, const CyclicCut *c, bool alone, Diagram *to, Id *around,
                 bool *good) {
  World *w = run->w;
  CyclicScan s = {.run = run, .c = c, .w = w, .to = to, .map = around};
  if (!is_recurrence(&s, alone)) return false;
  make_body(&s);
  Diagram *body = diagram_new(w, name_from(w->names, "chain"));
  Id *map = new_map(w, s.body.d);
  Scan scan = {.body = body, .axis = {.size = s.n}, .back = s.back};
  Ids in = {0};
  body_inputs(&s, body, map, &scan, &in);
  CyclicRun inner = {.w = w, .stub = run->stub};
  *good = cyclic_emit(&inner, &s.body, body, map);
  run->answer = inner.answer;
  run->loop = inner.loop;
  if (!*good) return true;
  for (uint32_t i = 0; i < s.delayed.n; i++) {
    const Delayed *delayed = &s.delayed.at[i];
    for (uint32_t k = 0; k < delayed->ago.n; k++)
      diagram_output(w, body, map[k ? delayed->ago.at[k - 1] : s.inner[delayed->wire]]);
    if (delayed->line) diagram_output(w, body, map[delayed->line_next]);
  }
  Ids out = {0};
  for (uint32_t i = 0; i < c->box->n; i++) {
    const Box *b = &c->k->d->box.at[c->box->at[i]];
    for (uint32_t k = 0; k < b->nout; k++) {
      diagram_output(w, body, map[s.inner[b->out[k]]]);
      vec_push(w->arena, &out, b->out[k]);
    }
  }
  Id origin = c->k->d->box.at[c->box->at[0]].origin;
  Id first = box_scan(w, to, &scan, in.at, in.n, origin) + scan.carry;
  for (uint32_t i = 0; i < out.n; i++) around[out.at[i]] = restore_axis(&s, out.at[i], first + i);
  return true;
}
