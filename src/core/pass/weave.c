// Several diagrams become one.
//
// Each input of each part knows where its value comes from: an output of some part, or an input
// of the whole. Boxes are taken over one by one, each behind those that make what it reads; parts
// are not units, so two parts may well feed each other as long as no number needs itself. Where
// boxes need each other as wholes, all are handed on as a knot (knot.c), which looks at elements.
//
// Depth first, with a stack of its own: chains may be as long as the diagram is large.
#include "core/pass/knot.h"

typedef enum { NEW_BOX, OPEN_BOX, DONE_BOX } BoxState;

typedef struct {
  uint32_t part;
  Id box;
  uint32_t next; // the input that is looked at next
} Visit;

typedef struct {
  World *w;
  const Weave *how;
  Diagram *to;
  Id **map;         // [part][wire]
  uint32_t **input; // [part][wire] its number among the inputs + 1
  uint8_t **state;  // [part][box]
  uint32_t **param; // [part][param] its number in the result
  VEC(Visit) stack;
} Weaver;

// Where a wire's value really comes from: a wire that is not an input of its part. False: a
// cycle. UINT32_MAX as part: the input `wire` of the whole.
static bool real_source(const Weaver *v, uint32_t *part, Id *wire) {
  for (uint64_t turns = 0;; turns++) {
    uint32_t number = v->input[*part][*wire];
    if (!number) return true;
    WeaveEnd end = v->how->part[*part].in[number - 1];
    if (!end.part) {
      *part = UINT32_MAX;
      *wire = v->to->in.at[end.port];
      return true;
    }
    *part = end.part - 1;
    *wire = v->how->part[*part].d->out.at[end.port];
    if (turns > (uint64_t)v->how->nparts * 4096) return false;
  }
}

static void add_params(Weaver *v, uint32_t p) {
  const WeavePart *part = &v->how->part[p];
  for (uint32_t i = 0; i < part->d->param.n; i++) {
    Param copy = part->d->param.at[i];
    const Wire *x = &part->d->wire.at[copy.wire];
    copy.next = 0;
    if (!copy.rooted)
      copy.path = arena_format(v->w->arena, "%s%s", part->prefix ? part->prefix : "", copy.path);
    uint32_t k = diagram_param(v->w, v->to, copy, x->type, x->name, x->origin);
    v->map[p][part->d->param.at[i].wire] = v->to->param.at[k].wire;
    v->param[p][i] = k;
  }
}

// The wire of the result, or 0 and the box that must come first.
static Id source_of(Weaver *v, uint32_t p, Id wire, uint32_t *part, Id *box) {
  *part = p;
  *box = 0;
  if (v->map[p][wire]) return v->map[p][wire];
  Id source = wire;
  if (!real_source(v, part, &source)) return 0;
  if (*part == UINT32_MAX) return v->map[p][wire] = source;
  Id made = v->map[*part][source];
  if (made) return v->map[p][wire] = made;
  *box = v->how->part[*part].d->wire.at[source].box;
  return 0;
}

// The same part twice has noise of its own each time.
void noise_of_part(Box *b, const char *prefix) {
  if (!prefix || (b->op != OP_random && b->op != OP_call)) return;
  uint64_t path = site_hash(0, prefix);
  if (b->op == OP_random)
    b->random->site = site_join(path, b->random->site);
  else
    b->site = site_join(path, b->site);
}

// Takes over a box and all that it needs; false: it needs itself.
static bool visit(Weaver *v, uint32_t part, Id box) {
  vec_push(v->w->arena, &v->stack, (Visit){part, box, 0});
  v->state[part][box] = OPEN_BOX;
  while (v->stack.n) {
    Visit *top = &v->stack.at[v->stack.n - 1];
    const Diagram *d = v->how->part[top->part].d;
    const Box *b = &d->box.at[top->box];
    if (top->next == b->nin) {
      copy_box(v->w, v->to, d, b, v->map[top->part], b->origin);
      noise_of_part(&v->to->box.at[v->to->box.n - 1], v->how->part[top->part].prefix);
      v->state[top->part][top->box] = DONE_BOX;
      v->stack.n--;
      continue;
    }
    uint32_t from;
    Id needed;
    if (source_of(v, top->part, b->in[top->next], &from, &needed)) {
      top->next++;
      continue;
    }
    if (!needed || v->state[from][needed] == OPEN_BOX) return false;
    v->state[from][needed] = OPEN_BOX;
    vec_push(v->w->arena, &v->stack, (Visit){from, needed, 0});
  }
  return true;
}

static void begin(Weaver *v, Name name) {
  const Weave *how = v->how;
  World *w = v->w;
  v->to = diagram_new(w, name);
  v->map = NEW_ARRAY(w->arena, Id *, how->nparts);
  v->input = NEW_ARRAY(w->arena, uint32_t *, how->nparts);
  v->state = NEW_ARRAY(w->arena, uint8_t *, how->nparts);
  v->param = NEW_ARRAY(w->arena, uint32_t *, how->nparts);
  for (uint32_t i = 0; i < how->nin; i++) {
    const Diagram *d = how->part[how->like[i].part - 1].d;
    const Wire *x = &d->wire.at[d->in.at[how->like[i].port]];
    diagram_input(w, v->to, x->type, x->name, x->origin);
  }
  for (uint32_t p = 0; p < how->nparts; p++) {
    const Diagram *d = how->part[p].d;
    v->map[p] = NEW_ARRAY(w->arena, Id, d->wire.n);
    v->input[p] = NEW_ARRAY(w->arena, uint32_t, d->wire.n);
    v->state[p] = NEW_ARRAY(w->arena, uint8_t, d->box.n + 1);
    v->param[p] = NEW_ARRAY(w->arena, uint32_t, d->param.n + 1);
    for (uint32_t i = 0; i < d->in.n; i++) v->input[p][d->in.at[i]] = i + 1;
    add_params(v, p);
  }
}

// Every wire of every part has its place in the result; those that only pass through too.
static void settle_wires(Weaver *v) {
  for (uint32_t p = 0; p < v->how->nparts; p++)
    for (uint32_t i = 0; i < v->how->part[p].d->in.n; i++) {
      uint32_t from;
      Id needed;
      source_of(v, p, v->how->part[p].d->in.at[i], &from, &needed);
    }
}

static bool weave_boxes(Weaver *v) {
  for (uint32_t p = 0; p < v->how->nparts; p++)
    for (Id box = 1; box < v->how->part[p].d->box.n; box++)
      if (v->state[p][box] == NEW_BOX && !visit(v, p, box)) return false;
  return true;
}

// -- where boxes need each other ------------------------------------------------------------------
// All boxes in one knot; known: [wire of the knot] what comes from outside. False: some wire comes
// from itself, without any box.
static bool tie_knot(Weaver *v, Knot *k, Id **wire, Ids *known) {
  World *w = v->w;
  for (uint32_t p = 0; p < v->how->nparts; p++) {
    const Diagram *d = v->how->part[p].d;
    wire[p] = NEW_ARRAY(w->arena, Id, d->wire.n);
    for (Id i = 1; i < d->wire.n; i++) {
      const Wire *x = &d->wire.at[i];
      if (v->input[p][i]) continue;
      wire[p][i] = knot_wire(w, k, &x->type, x->name, x->origin);
      k->d->wire.at[wire[p][i]].kept = x->kept;
    }
  }
  Id *outer = NEW_ARRAY(w->arena, Id, v->to->wire.n);
  for (uint32_t i = 0; i < v->how->nin; i++) {
    const Wire *x = &v->to->wire.at[v->to->in.at[i]];
    outer[v->to->in.at[i]] = knot_wire(w, k, &x->type, x->name, x->origin);
  }
  for (Id i = 0; i < k->d->wire.n; i++) vec_push(w->arena, known, 0);
  for (uint32_t i = 0; i < v->how->nin; i++) known->at[outer[v->to->in.at[i]]] = v->to->in.at[i];
  for (uint32_t p = 0; p < v->how->nparts; p++) {
    const Diagram *d = v->how->part[p].d;
    for (uint32_t i = 0; i < d->param.n; i++)
      known->at[wire[p][d->param.at[i].wire]] = v->map[p][d->param.at[i].wire];
    for (uint32_t i = 0; i < d->in.n; i++) {
      uint32_t from = p;
      Id source = d->in.at[i];
      if (!real_source(v, &from, &source)) return false;
      wire[p][d->in.at[i]] = from == UINT32_MAX ? outer[source] : wire[from][source];
    }
  }
  return true;
}

static void fill_knot(Weaver *v, Knot *k, Id *const *wire) {
  World *w = v->w;
  for (uint32_t p = 0; p < v->how->nparts; p++) {
    const Diagram *d = v->how->part[p].d;
    for (Id box = 1; box < d->box.n; box++) {
      const Box *b = &d->box.at[box];
      Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1), *out = NEW_ARRAY(w->arena, Id, b->nout + 1);
      for (uint32_t i = 0; i < b->nin; i++) in[i] = wire[p][b->in[i]];
      for (uint32_t i = 0; i < b->nout; i++) out[i] = wire[p][b->out[i]];
      knot_box(w, k, b, in, out, (WeavePlace){.part = p});
    }
  }
}

static bool weave_knot(Weaver *v, Name name, WeaveFault *fault) {
  World *w = v->w;
  Knot k;
  Id **wire = NEW_ARRAY(w->arena, Id *, v->how->nparts);
  const char **prefix = NEW_ARRAY(w->arena, const char *, v->how->nparts);
  Ids known = {0};
  for (uint32_t p = 0; p < v->how->nparts; p++) prefix[p] = v->how->part[p].prefix;
  begin(v, name);
  knot_begin(w, &k, name);
  Knotting run = {.w = w, .prefix = prefix, .stub = v->how->stub};
  bool good = tie_knot(v, &k, wire, &known);
  if (good) fill_knot(v, &k, wire);
  good = good && knot_emit(&run, &k, v->to, known.at);
  *fault = (WeaveFault){run.answer, run.loop};
  for (uint32_t p = 0; good && p < v->how->nparts; p++)
    for (Id i = 1; i < v->how->part[p].d->wire.n; i++) v->map[p][i] = known.at[wire[p][i]];
  return good;
}

Diagram *diagram_weave(World *w, Name name, const Weave *how, Id ***map, WeaveFault *fault) {
  Weaver v = {.w = w, .how = how};
  begin(&v, name);
  if (!weave_boxes(&v) && !weave_knot(&v, name, fault)) return NULL;
  settle_wires(&v);
  for (uint32_t p = 0; p < how->nparts; p++) {
    const Diagram *d = how->part[p].d;
    v.to->noisy |= d->noisy;
    for (uint32_t i = 0; i < d->param.n; i++)
      if (d->param.at[i].next) v.to->param.at[v.param[p][i]].next = v.map[p][d->param.at[i].next];
  }
  for (uint32_t i = 0; i < how->nout; i++) {
    uint32_t p = how->out[i].part - 1;
    Id wire = v.map[p][how->part[p].d->out.at[how->out[i].port]];
    if (!wire) return NULL;
    diagram_output(w, v.to, wire);
  }
  *map = v.map;
  return v.to;
}
