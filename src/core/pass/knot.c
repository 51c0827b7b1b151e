// Boxes that need each other, brought into an order.
//
// What is known comes from outside; the strongly connected sets of boxes are put into the result
// one after the other (Tarjan's way, with a stack of its own). A box that is alone is copied. Boxes
// that need each other are cut along an axis, the same one in all: either each element needs only
// those before it, at constant distances, and a scan goes along the axis; or every element is a box
// of its own, and the order is looked for again among these. Where no axis is left to be cut, a
// number really needs itself.
#include "core/pass/knot.h"

void knot_begin(World *w, Knot *k, Name name) {
  *k = (Knot){.d = diagram_new(w, name)};
  vec_push(w->arena, &k->from, (WeavePlace){0});
}

static bool is_gone(const WeavePlace *p, uint32_t axis) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->axis[i] == axis && p->at[i] < 0) return true;
  return false;
}

WeavePlace place_with(WeavePlace p, uint32_t axis, int64_t at) {
  uint32_t first = 0;
  if (p.n == WEAVE_PLACES) return p;
  for (uint32_t there = 0;; first++)
    if (!is_gone(&p, first) && there++ == axis) break;
  p.axis[p.n] = first;
  p.at[p.n++] = at;
  return p;
}

Id knot_wire(World *w, Knot *k, const Type *type, Name name, Id origin) {
  return diagram_wire(w, k->d, *type, name, origin);
}

// A loop needs nothing of what it never reads inside.
static void drop_pads(World *w, const Knot *k, Box *b, const Id *out) {
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

void knot_box(World *w, Knot *k, const Box *like, const Id *in, const Id *out, WeavePlace from) {
  Box b = *like;
  b.in = arena_copy(w->arena, in, b.nin * sizeof(Id));
  drop_pads(w, k, &b, out);
  b.out = arena_copy(w->arena, out, b.nout * sizeof(Id));
  for (uint32_t i = 0; i < b.nout; i++) {
    k->d->wire.at[out[i]].box = k->d->box.n;
    k->d->wire.at[out[i]].port = i;
  }
  vec_push(w->arena, &k->d->box, b);
  vec_push(w->arena, &k->from, from);
}

typedef struct {
  Knotting *run;
  const Knot *k;
  Diagram *to;
  Id *map;
  uint32_t *number, *low, *next; // [box]
  bool *open;                    // [box] on the stack
  Ids stack, way;
  uint32_t count;
} KnotOrder;

static Id maker(const Knot *k, Id box, uint32_t input) {
  return k->d->wire.at[k->d->box.at[box].in[input]].box;
}

static bool needs_itself(const Knot *k, Id box) {
  for (uint32_t i = 0; i < k->d->box.at[box].nin; i++)
    if (maker(k, box, i) == box) return true;
  return false;
}

// -- what really needs itself ---------------------------------------------------------------------
static bool same_place(const WeavePlace *a, const WeavePlace *b) {
  if (a->part != b->part || a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->axis[i] != b->axis[i] || a->at[i] != b->at[i]) return false;
  return true;
}

// A way round, from box to box.
static void tell_loop(KnotOrder *o, const Ids *box) {
  World *w = o->run->w;
  bool *inside = NEW_ARRAY(w->arena, bool, o->k->d->box.n),
       *seen = NEW_ARRAY(w->arena, bool, o->k->d->box.n);
  Ids way = {0};
  for (uint32_t i = 0; i < box->n; i++) {
    uint8_t op = o->k->d->box.at[box->at[i]].op;
    inside[box->at[i]] = true;
    if (op == OP_scan || op == OP_call) o->run->answer = WEAVE_WHOLE;
  }
  Id at = box->at[0];
  while (!seen[at]) {
    seen[at] = true;
    vec_push(w->arena, &way, at);
    for (uint32_t i = 0; i < o->k->d->box.at[at].nin; i++)
      if (inside[maker(o->k, at, i)]) {
        at = maker(o->k, at, i);
        break;
      }
  }
  o->run->loop.n = 0;
  uint32_t first = 0;
  while (way.at[first] != at) first++;
  for (uint32_t i = way.n; i-- > first;) { // from what is needed to what needs it
    const WeavePlace *p = &o->k->from.at[way.at[i]];
    WeavePlaces *loop = &o->run->loop;
    if (!loop->n || !same_place(&loop->at[loop->n - 1], p)) vec_push(w->arena, loop, *p);
  }
}

// -- order ----------------------------------------------------------------------------------------
static void copy_alone(KnotOrder *o, Id box) {
  const Box *b = &o->k->d->box.at[box];
  copy_box(o->run->w, o->to, o->k->d, b, o->map, b->origin);
  if (o->run->prefix)
    noise_of_part(&o->to->box.at[o->to->box.n - 1], o->run->prefix[o->k->from.at[box].part]);
}

typedef enum { IN_A_ROW, EACH_ALONE, IN_PIECES, WAYS_TO_CUT } WayToCut;

static bool untie_along(KnotOrder *o, WayToCut way, KnotCut *cut, bool *good) {
  return way == IN_PIECES ? knot_unroll(o->run, cut, o->to, o->map, good)
                          : knot_scan(o->run, cut, way == EACH_ALONE, o->to, o->map, good);
}

// Only the types count: nobody follows this diagram.
static bool leave_out(KnotOrder *o, const Ids *box) {
  for (uint32_t i = 0; i < box->n; i++) {
    const Box *b = &o->k->d->box.at[box->at[i]];
    for (uint32_t k = 0; k < b->nout; k++) {
      const Wire *x = &o->k->d->wire.at[b->out[k]];
      o->map[b->out[k]] = wire_filled(o->run->w, o->to, &x->type, 0, x->name, x->origin);
    }
  }
  return true;
}

// Does some box do something else at one element than at another? Else an axis of size 1 is cut for
// nothing, again and again.
static bool asks_where(const KnotCut *c) {
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

// Scans that were begun, and in which something needs itself: every element for itself may still
// have an order, where conditions on the position are decided.
typedef struct {
  uint32_t n;
  WeaveAnswer answer; // of the first
  WeavePlaces loop;
} FailedScans;
enum { FAILED_SCANS_LIMIT = 3 };

static bool scan_failed(KnotOrder *o, WayToCut way, FailedScans *failed) {
  Knotting *run = o->run;
  if (way == IN_PIECES || (run->answer != WEAVE_LOOP && run->answer != WEAVE_WHOLE)) return false;
  if (!failed->n++) failed->answer = run->answer, failed->loop = run->loop;
  run->answer = WEAVE_LOOP;
  return true;
}

// Where nothing else worked either, the loop in the first scan says most.
static bool tell_first(KnotOrder *o, const FailedScans *failed) {
  if (!failed->n) return false;
  o->run->answer = failed->answer;
  o->run->loop = failed->loop;
  return true;
}

// Along every axis of what this box makes, until one works. False: none does.
static bool untie_from(KnotOrder *o, const Ids *box, const Box *b, WayToCut way,
                       FailedScans *failed, bool *good) {
  World *w = o->run->w;
  const Type *t = b->nout ? &o->k->d->wire.at[b->out[0]].type : NULL;
  for (uint32_t axis = 0; t && axis < t->rank; axis++) {
    bool one = size_now(w, t->axis[axis].size) == size_of(w, 1);
    if (one && way == EACH_ALONE) continue;
    if (way != IN_PIECES && failed->n == FAILED_SCANS_LIMIT) return false;
    KnotCut cut = knot_cut(w, o->k, box, b->out[0], axis);
    if (cut.axis[b->out[0]] < 0) continue;
    if (one && way == IN_PIECES && !asks_where(&cut)) continue;
    uint32_t boxes = o->to->box.n, wires = o->to->wire.n;
    if (untie_along(o, way, &cut, good)) {
      if (*good) return true;
      if (!scan_failed(o, way, failed)) return tell_first(o, failed), true;
      o->to->box.n = boxes;
      o->to->wire.n = wires;
      continue;
    }
    if (o->run->answer == WEAVE_LOOP) continue;
    *good =
        !tell_first(o, failed) && o->run->answer == WEAVE_OPEN && o->run->stub && leave_out(o, box);
    return true;
  }
  return false;
}

// From each box that makes something here; first from scans, which have the fewest axes to be cut.
static bool untie(KnotOrder *o, const Ids *box) {
  bool good = true;
  FailedScans failed = {0};
  for (WayToCut way = IN_A_ROW; way < WAYS_TO_CUT; way++)
    for (uint32_t scans = 2; scans-- > 0;)
      for (uint32_t i = 0; i < box->n; i++) {
        const Box *b = &o->k->d->box.at[box->at[i]];
        if ((b->op == OP_scan) == scans && untie_from(o, box, b, way, &failed, &good)) return good;
      }
  if (!tell_first(o, &failed)) tell_loop(o, box);
  return false;
}

static bool close_box(KnotOrder *o, Id box) {
  Ids set = {0};
  if (o->low[box] != o->number[box]) return true;
  for (Id top = 0; top != box;) {
    top = o->stack.at[--o->stack.n];
    o->open[top] = false;
    vec_push(o->run->w->arena, &set, top);
  }
  if (set.n > 1 || needs_itself(o->k, box)) return untie(o, &set);
  copy_alone(o, box);
  return true;
}

static void open_box(KnotOrder *o, Id box) {
  o->number[box] = o->low[box] = ++o->count;
  o->open[box] = true;
  vec_push(o->run->w->arena, &o->stack, box);
  vec_push(o->run->w->arena, &o->way, box);
}

static void lower(uint32_t *low, uint32_t to) {
  if (to < *low) *low = to;
}

static bool visit(KnotOrder *o, Id first) {
  open_box(o, first);
  while (o->way.n) {
    Id box = o->way.at[o->way.n - 1];
    if (o->next[box] < o->k->d->box.at[box].nin) {
      Id needed = maker(o->k, box, o->next[box]++);
      if (needed && !o->number[needed])
        open_box(o, needed);
      else if (needed && o->open[needed])
        lower(&o->low[box], o->number[needed]);
      continue;
    }
    o->way.n--;
    if (o->way.n) lower(&o->low[o->way.at[o->way.n - 1]], o->low[box]);
    if (!close_box(o, box)) return false;
  }
  return true;
}

bool knot_emit(Knotting *run, const Knot *k, Diagram *to, Id *map) {
  Arena *a = run->w->arena;
  KnotOrder o = {.run = run, .k = k, .to = to, .map = map};
  o.number = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.low = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.next = NEW_ARRAY(a, uint32_t, k->d->box.n);
  o.open = NEW_ARRAY(a, bool, k->d->box.n);
  for (Id box = 1; box < k->d->box.n; box++)
    if (!o.number[box] && !visit(&o, box)) return false;
  return true;
}
