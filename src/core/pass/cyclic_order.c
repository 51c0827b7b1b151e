// Evaluation order of a diagram with cyclic dependencies.
//
// Strongly connected components are emitted in topological order (Tarjan's algorithm with an
// explicit stack). A component of one box is copied. A larger component is cut along an axis, the
// same one in all its boxes. If element i depends only on elements at constant distances before it,
// a scan along the axis evaluates the component; otherwise every element becomes a box of its own,
// and these are ordered recursively. If no axis is left, an element depends on itself: an algebraic
// loop.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/cyclic.h"

void cyclic_begin(World *w, Cyclic *k, Name name) {
  *k = (Cyclic){.d = diagram_new(w, name)};
  vec_push(w->arena, &k->from, (ConnectPlace){0});
}

static bool is_gone(const ConnectPlace *p, uint32_t axis) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->axis[i] == axis && p->at[i] < 0) return true;
  return false;
}

ConnectPlace place_fixed(ConnectPlace p, uint32_t axis, int64_t at) {
  uint32_t first = 0;
  if (p.n == CONNECT_PLACES) return p;
  for (uint32_t there = 0;; first++)
    if (!is_gone(&p, first) && there++ == axis) break;
  p.axis[p.n] = first;
  p.at[p.n++] = at;
  return p;
}

Id cyclic_wire(World *w, Cyclic *k, const Type *type, Name name, Id origin) {
  return diagram_wire(w, k->d, *type, name, origin);
}

// A padded operand that is always out of bounds is no dependency: it is replaced by its pad.
static void drop_padded_operands(World *w, const Cyclic *k, Box *b, const Id *out) {
  Draft f = {.loop = NULL};
  for (uint32_t i = 0; b->op == OP_loop && i < b->nin; i++) {
    const Access *a = &b->loop->in[i];
    if (!a->padded || !access_outside(w, b->loop, a, &k->d->wire.at[b->in[i]].type)) continue;
    if (!f.loop) f.loop = loop_copy(w, b->loop);
    for (uint32_t s = 0; s < f.loop->nscalar; s++) {
      Scalar *x = &f.loop->scalar[s];
      if (x->fn == FN_ARG && x->ref == i)
        *x = (Scalar){.fn = FN_CONST, .base = x->base, .k = a->pad};
    }
  }
  if (!f.loop) return;
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, b->in[i]);
  draft_tidy(w, k->d, &f, f.loop->nscalar - 1, &k->d->wire.at[out[0]].type);
  b->loop = f.loop;
  b->in = f.in.at;
  b->nin = f.in.n;
}

void cyclic_box(World *w, Cyclic *k, const Box *like, const Id *in, const Id *out,
                ConnectPlace from) {
  Box b = *like;
  b.in = arena_copy(w->arena, in, b.nin * sizeof(Id));
  drop_padded_operands(w, k, &b, out);
  b.out = arena_copy(w->arena, out, b.nout * sizeof(Id));
  for (uint32_t i = 0; i < b.nout; i++) {
    k->d->wire.at[out[i]].box = k->d->box.n;
    k->d->wire.at[out[i]].port = i;
  }
  vec_push(w->arena, &k->d->box, b);
  vec_push(w->arena, &k->from, from);
}

typedef struct {
  CyclicRun *run;
  const Cyclic *k;
  Diagram *to;
  Id *map;
  uint32_t *number, *low, *next; // [box]
  bool *open;                    // [box] on Tarjan's stack
  Ids stack, path;
  uint32_t count;
} CyclicOrder;

static Id maker(const Cyclic *k, Id box, uint32_t input) {
  return k->d->wire.at[k->d->box.at[box].in[input]].box;
}

static bool needs_itself(const Cyclic *k, Id box) {
  for (uint32_t i = 0; i < k->d->box.at[box].nin; i++)
    if (maker(k, box, i) == box) return true;
  return false;
}

// -- reporting an algebraic loop ------------------------------------------------------------------
static bool same_place(const ConnectPlace *a, const ConnectPlace *b) {
  if (a->part != b->part || a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->axis[i] != b->axis[i] || a->at[i] != b->at[i]) return false;
  return true;
}

// Reports one cycle of boxes.
static void report_cycle(CyclicOrder *o, const Ids *box) {
  World *w = o->run->w;
  bool *inside = NEW_ARRAY(w->arena, bool, o->k->d->box.n),
       *seen = NEW_ARRAY(w->arena, bool, o->k->d->box.n);
  Ids path = {0};
  for (uint32_t i = 0; i < box->n; i++) {
    uint8_t op = o->k->d->box.at[box->at[i]].op;
    inside[box->at[i]] = true;
    if (op == OP_scan || op == OP_call) o->run->answer = CONNECT_WHOLE;
  }
  Id at = box->at[0];
  while (!seen[at]) {
    seen[at] = true;
    vec_push(w->arena, &path, at);
    for (uint32_t i = 0; i < o->k->d->box.at[at].nin; i++)
      if (inside[maker(o->k, at, i)]) {
        at = maker(o->k, at, i);
        break;
      }
  }
  o->run->loop.n = 0;
  uint32_t first = 0;
  while (path.at[first] != at) first++;
  for (uint32_t i = path.n; i-- > first;) { // from producer to reader
    const ConnectPlace *p = &o->k->from.at[path.at[i]];
    ConnectPlaces *loop = &o->run->loop;
    if (!loop->n || !same_place(&loop->at[loop->n - 1], p)) vec_push(w->arena, loop, *p);
  }
}

// -- order ----------------------------------------------------------------------------------------
static void copy_alone(CyclicOrder *o, Id box) {
  const Box *b = &o->k->d->box.at[box];
  copy_box(o->run->w, o->to, o->k->d, b, o->map, b->origin);
  if (o->run->prefix)
    noise_of_part(&o->to->box.at[o->to->box.n - 1], o->run->prefix[o->k->from.at[box].part]);
}

typedef enum { CUT_BY_SCAN, CUT_BY_MAP, CUT_BY_UNROLLING, CUT_WAYS } CutWay;

static bool order_cycle_along(CyclicOrder *o, CutWay way, CyclicCut *cut, bool *good) {
  return way == CUT_BY_UNROLLING ? cyclic_unroll(o->run, cut, o->to, o->map, good)
                                 : cyclic_scan(o->run, cut, way == CUT_BY_MAP, o->to, o->map, good);
}

// Only the types of this diagram are used (stub): zeros stand for the values.
static bool fill_with_zeros(CyclicOrder *o, const Ids *box) {
  for (uint32_t i = 0; i < box->n; i++) {
    const Box *b = &o->k->d->box.at[box->at[i]];
    for (uint32_t k = 0; k < b->nout; k++) {
      const Wire *x = &o->k->d->wire.at[b->out[k]];
      o->map[b->out[k]] = wire_filled(o->run->w, o->to, &x->type, 0, x->name, x->origin);
    }
  }
  return true;
}

// True if some box treats elements differently, by position. Otherwise cutting an axis of size 1
// would recur without end.
static bool depends_on_position(const CyclicCut *c) {
  for (uint32_t i = 0; i < c->box->n; i++) {
    const Box *b = &c->k->d->box.at[c->box->at[i]];
    int32_t index = c->index[c->box->at[i]];
    if (index < 0 || b->op != OP_loop) continue;
    for (uint32_t k = 0; k < b->loop->nscalar; k++)
      if (b->loop->scalar[k].fn == FN_AT && b->loop->scalar[k].ref == (uint32_t)index) return true;
    for (uint32_t k = 0; k < b->nin; k++) {
      int32_t axis = access_axis(&b->loop->in[k], (uint32_t)index);
      uint32_t plain;
      if (axis == -2 || (axis >= 0 && !coord_is_plain(c->w, &b->loop->in[k].coord[axis], &plain)))
        return true;
    }
  }
  return false;
}

// Scans whose body has an algebraic loop. Unrolling may still find an order, because it decides
// conditions on the position.
typedef struct {
  uint32_t n;
  ConnectAnswer answer; // of the first failure
  ConnectPlaces loop;
} FailedScans;
enum { FAILED_SCANS_LIMIT = 3 };

static bool scan_failed(CyclicOrder *o, CutWay way, FailedScans *failed) {
  CyclicRun *run = o->run;
  if (way == CUT_BY_UNROLLING || (run->answer != CONNECT_CYCLE && run->answer != CONNECT_WHOLE))
    return false;
  if (!failed->n++) failed->answer = run->answer, failed->loop = run->loop;
  run->answer = CONNECT_CYCLE;
  return true;
}

// If nothing else worked, the cycle in the body of the first scan is the most useful message.
static bool report_first_failure(CyclicOrder *o, const FailedScans *failed) {
  if (!failed->n) return false;
  o->run->answer = failed->answer;
  o->run->loop = failed->loop;
  return true;
}

// Tries every axis of the box's first output. False: none works.
static bool order_cycle_from(CyclicOrder *o, const Ids *box, const Box *b, CutWay way,
                             FailedScans *failed, bool *good) {
  World *w = o->run->w;
  const Type *t = b->nout ? &o->k->d->wire.at[b->out[0]].type : NULL;
  for (uint32_t axis = 0; t && axis < t->rank; axis++) {
    bool one = size_now(w, t->axis[axis].size) == size_of(w, 1);
    if (one && way == CUT_BY_MAP) continue;
    if (way != CUT_BY_UNROLLING && failed->n == FAILED_SCANS_LIMIT) return false;
    CyclicCut cut = cyclic_cut(w, o->k, box, b->out[0], axis);
    if (cut.axis[b->out[0]] < 0) continue;
    if (one && way == CUT_BY_UNROLLING && !depends_on_position(&cut)) continue;
    uint32_t boxes = o->to->box.n, wires = o->to->wire.n;
    if (order_cycle_along(o, way, &cut, good)) {
      if (*good) return true;
      if (!scan_failed(o, way, failed)) return report_first_failure(o, failed), true;
      o->to->box.n = boxes;
      o->to->wire.n = wires;
      continue;
    }
    if (o->run->answer == CONNECT_CYCLE) continue;
    *good = !report_first_failure(o, failed) && o->run->answer == CONNECT_OPEN && o->run->stub &&
            fill_with_zeros(o, box);
    return true;
  }
  return false;
}

// Starts at each box of the cycle; scans come first, because they have the fewest axes that can be
// cut.
static bool order_cycle(CyclicOrder *o, const Ids *box) {
  bool good = true;
  FailedScans failed = {0};
  for (CutWay way = CUT_BY_SCAN; way < CUT_WAYS; way++)
    for (uint32_t scans = 2; scans-- > 0;)
      for (uint32_t i = 0; i < box->n; i++) {
        const Box *b = &o->k->d->box.at[box->at[i]];
        if ((b->op == OP_scan) == scans && order_cycle_from(o, box, b, way, &failed, &good))
          return good;
      }
  if (!report_first_failure(o, &failed)) report_cycle(o, box);
  return false;
}

static bool close_box(CyclicOrder *o, Id box) {
  Ids set = {0};
  if (o->low[box] != o->number[box]) return true;
  for (Id top = 0; top != box;) {
    top = o->stack.at[--o->stack.n];
    o->open[top] = false;
    vec_push(o->run->w->arena, &set, top);
  }
  if (set.n > 1 || needs_itself(o->k, box)) return order_cycle(o, &set);
  copy_alone(o, box);
  return true;
}

static void open_box(CyclicOrder *o, Id box) {
  o->number[box] = o->low[box] = ++o->count;
  o->open[box] = true;
  vec_push(o->run->w->arena, &o->stack, box);
  vec_push(o->run->w->arena, &o->path, box);
}

static void lower(uint32_t *low, uint32_t to) {
  if (to < *low) *low = to;
}

static bool visit(CyclicOrder *o, Id first) {
  open_box(o, first);
  while (o->path.n) {
    Id box = o->path.at[o->path.n - 1];
    if (o->next[box] < o->k->d->box.at[box].nin) {
      Id needed = maker(o->k, box, o->next[box]++);
      if (needed && !o->number[needed])
        open_box(o, needed);
      else if (needed && o->open[needed])
        lower(&o->low[box], o->number[needed]);
      continue;
    }
    o->path.n--;
    if (o->path.n) lower(&o->low[o->path.at[o->path.n - 1]], o->low[box]);
    if (!close_box(o, box)) return false;
  }
  return true;
}

bool cyclic_emit(CyclicRun *run, const Cyclic *k, Diagram *to, Id *map) {
  Arena *a = run->w->arena;
  CyclicOrder o = {.run = run, .k = k, .to = to, .map = map};
  o.number = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.low = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.next = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.open = NEW_ARRAY(a, bool, k->d->box.n);
  for (Id box = 1; box < k->d->box.n; box++)
    if (!o.number[box] && !visit(&o, box)) return false;
  return true;
}
