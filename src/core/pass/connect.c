// Connects several diagrams (parts) into one.
//
// Each input of each part names its source: an output of some part, or an input of the result.
// Boxes are copied in topological order (depth-first, with an explicit stack, because chains may be
// as long as the diagram is large). The order is one of boxes, not of parts, so parts may feed each
// other. If there is a cycle of boxes, cyclic_order.c looks for an order of elements.
#include "core/pass/cyclic.h"

typedef enum { NEW_BOX, OPEN_BOX, DONE_BOX } BoxState;

typedef struct {
  uint32_t part;
  Id box;
  uint32_t next; // the next input to visit
} Visit;

typedef struct {
  World *w;
  const Connect *how;
  Diagram *to;
  Id **map;         // [part][wire]
  uint32_t **input; // [part][wire] index among the part's inputs + 1; 0: no input
  uint8_t **state;  // [part][box]
  uint32_t **param; // [part][param] param index in the result
  VEC(Visit) stack;
} Connecting;

// Finds the source of a wire: while the wire is an input of its part, goes to the wire that is connected
// to that input. The source is a wire that some box computes, or an input of the result (*part is
// UINT32_MAX then). False: the connections form a cycle without any box.
static bool resolve_source(const Connecting *v, uint32_t *part, Id *wire) {
  for (uint64_t steps = 0;; steps++) {
    uint32_t number = v->input[*part][*wire];
    if (!number) return true;
    ConnectEnd end = v->how->part[*part].in[number - 1];
    if (!end.part) {
      *part = UINT32_MAX;
      *wire = v->to->in.at[end.port];
      return true;
    }
    *part = end.part - 1;
    *wire = v->how->part[*part].d->out.at[end.port];
    if (steps > (uint64_t)v->how->nparts * 4096) return false;
  }
}

static void add_params(Connecting *v, uint32_t p) {
  const ConnectPart *part = &v->how->part[p];
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

// The wire of the result; 0: the wire's producer `box` of `part` must be copied first.
static Id source_of(Connecting *v, uint32_t p, Id wire, uint32_t *part, Id *box) {
  *part = p;
  *box = 0;
  if (v->map[p][wire]) return v->map[p][wire];
  Id source = wire;
  if (!resolve_source(v, part, &source)) return 0;
  if (*part == UINT32_MAX) return v->map[p][wire] = source;
  Id made = v->map[*part][source];
  if (made) return v->map[p][wire] = made;
  *box = v->how->part[*part].d->wire.at[source].box;
  return 0;
}

void noise_of_part(Box *b, const char *prefix) {
  if (!prefix || (b->op != OP_random && b->op != OP_call)) return;
  uint64_t path = site_hash(0, prefix);
  if (b->op == OP_random)
    b->random->site = site_join(path, b->random->site);
  else
    b->site = site_join(path, b->site);
}

// Copies a box after all boxes that it depends on; false: a cycle of boxes.
static bool visit(Connecting *v, uint32_t part, Id box) {
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

static void connect_begin(Connecting *v, Name name) {
  const Connect *how = v->how;
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

// Maps the inputs of all parts too.
static void map_inputs(Connecting *v) {
  for (uint32_t p = 0; p < v->how->nparts; p++)
    for (uint32_t i = 0; i < v->how->part[p].d->in.n; i++) {
      uint32_t from;
      Id needed;
      source_of(v, p, v->how->part[p].d->in.at[i], &from, &needed);
    }
}

static bool connect_boxes(Connecting *v) {
  for (uint32_t p = 0; p < v->how->nparts; p++)
    for (Id box = 1; box < v->how->part[p].d->box.n; box++)
      if (v->state[p][box] == NEW_BOX && !visit(v, p, box)) return false;
  return true;
}

// -- cyclic dependencies --------------------------------------------------------------------------
// Collects the wires of all parts in one cyclic diagram; known: [wire] the wire of the result for
// inputs and params. False: a cycle of connections without any box.
static bool collect_wires(Connecting *v, Cyclic *k, Id **wire, Ids *known) {
  World *w = v->w;
  for (uint32_t p = 0; p < v->how->nparts; p++) {
    const Diagram *d = v->how->part[p].d;
    wire[p] = NEW_ARRAY(w->arena, Id, d->wire.n);
    for (Id i = 1; i < d->wire.n; i++) {
      const Wire *x = &d->wire.at[i];
      if (v->input[p][i]) continue;
      wire[p][i] = cyclic_wire(w, k, &x->type, x->name, x->origin);
      k->d->wire.at[wire[p][i]].kept = x->kept;
    }
  }
  Id *outer = NEW_ARRAY(w->arena, Id, v->to->wire.n);
  for (uint32_t i = 0; i < v->how->nin; i++) {
    const Wire *x = &v->to->wire.at[v->to->in.at[i]];
    outer[v->to->in.at[i]] = cyclic_wire(w, k, &x->type, x->name, x->origin);
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
      if (!resolve_source(v, &from, &source)) return false;
      wire[p][d->in.at[i]] = from == UINT32_MAX ? outer[source] : wire[from][source];
    }
  }
  return true;
}

static void collect_boxes(Connecting *v, Cyclic *k, Id *const *wire) {
  World *w = v->w;
  for (uint32_t p = 0; p < v->how->nparts; p++) {
    const Diagram *d = v->how->part[p].d;
    for (Id box = 1; box < d->box.n; box++) {
      const Box *b = &d->box.at[box];
      Id *in = NEW_ARRAY(w->arena, Id, b->nin + 1), *out = NEW_ARRAY(w->arena, Id, b->nout + 1);
      for (uint32_t i = 0; i < b->nin; i++) in[i] = wire[p][b->in[i]];
      for (uint32_t i = 0; i < b->nout; i++) out[i] = wire[p][b->out[i]];
      cyclic_box(w, k, b, in, out, (ConnectPlace){.part = p});
    }
  }
}

static bool connect_cyclic(Connecting *v, Name name, ConnectFault *fault) {
  World *w = v->w;
  Cyclic k;
  Id **wire = NEW_ARRAY(w->arena, Id *, v->how->nparts);
  const char **prefix = NEW_ARRAY(w->arena, const char *, v->how->nparts);
  Ids known = {0};
  for (uint32_t p = 0; p < v->how->nparts; p++) prefix[p] = v->how->part[p].prefix;
  connect_begin(v, name);
  cyclic_begin(w, &k, name);
  CyclicRun run = {.w = w, .prefix = prefix, .stub = v->how->stub};
  bool good = collect_wires(v, &k, wire, &known);
  if (good) collect_boxes(v, &k, wire);
  good = good && cyclic_emit(&run, &k, v->to, known.at);
  *fault = (ConnectFault){run.answer, run.loop};
  for (uint32_t p = 0; good && p < v->how->nparts; p++)
    for (Id i = 1; i < v->how->part[p].d->wire.n; i++) v->map[p][i] = known.at[wire[p][i]];
  return good;
}

Diagram *diagram_connect(World *w, Name name, const Connect *how, Id ***map, ConnectFault *fault) {
  Connecting v = {.w = w, .how = how};
  connect_begin(&v, name);
  if (!connect_boxes(&v) && !connect_cyclic(&v, name, fault)) return NULL;
  map_inputs(&v);
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
