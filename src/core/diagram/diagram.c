// Construction of diagrams. A box can only be added after the producers of its inputs, so the order
// of boxes is topological by construction.
#include "core/diagram/diagram.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/diagram/subst.h"

World *world_new(Arena *a) {
  World *w = NEW(a, World);
  w->arena = a;
  w->names = names_new(a);
  w->sources = sources_new(a);
  w->diags = diags_new(a, w->sources);
  vec_push(a, &w->origin, (Origin){0});
  vec_push(a, &w->turn, (LoopTurn){0});
  vec_push(a, &w->diagram, NULL);
  vec_push(a, &w->label_names, (Ids){0});
  return w;
}

Id origin_new(World *w, Span span, Id parent, Why why) {
  vec_push(w->arena, &w->origin, (Origin){span, parent, why});
  return w->origin.n - 1;
}

Span origin_span(const World *w, Id id) {
  while (id && !w->origin.at[id].span.file) id = w->origin.at[id].parent;
  return w->origin.at[id].span;
}

bool origin_is_reverse(const World *w, Id id) {
  while (id && w->origin.at[id].why != WHY_REVERSE) id = w->origin.at[id].parent;
  return id != 0;
}

Id turn_new(World *w, Id first, Id parent, Name name, int64_t value) {
  Id id = w->turn.n;
  vec_push(w->arena, &w->turn, (LoopTurn){first ? first : id, parent, name, value});
  return id;
}

// A nested iteration has a larger id than the iterations around it, so the larger id is replaced by
// its parent.
Id turn_common(const World *w, Id a, Id b) {
  while (a != b) {
    if (a > b)
      a = w->turn.at[a].parent;
    else
      b = w->turn.at[b].parent;
  }
  return a;
}

Diagram *diagram_new(World *w, Name name) {
  Diagram *d = NEW(w->arena, Diagram);
  d->id = w->diagram.n;
  d->name = name;
  vec_push(w->arena, &w->diagram, d);
  vec_push(w->arena, &d->wire, (Wire){0});
  vec_push(w->arena, &d->box, (Box){0});
  return d;
}

// -- wires ----------------------------------------------------------------------------------------
Id diagram_wire(World *w, Diagram *d, Type type, Name name, Id origin) {
  vec_push(w->arena, &d->wire, (Wire){.type = type, .name = name, .origin = origin});
  return d->wire.n - 1;
}

Id diagram_input(World *w, Diagram *d, Type type, Name name, Id origin) {
  Id wire = diagram_wire(w, d, type, name, origin);
  vec_push(w->arena, &d->in, wire);
  return wire;
}

void diagram_output(World *w, Diagram *d, Id wire) { vec_push(w->arena, &d->out, wire); }

void diagram_output_as(World *w, Diagram *d, Id wire, Name name) {
  while (name && d->out_name.n < d->out.n) vec_push(w->arena, &d->out_name, 0);
  if (name) vec_push(w->arena, &d->out_name, name);
  diagram_output(w, d, wire);
}

void diagram_outputs(World *w, Diagram *d, const Diagram *from, const Id *map) {
  for (uint32_t i = 0; i < from->out.n; i++)
    diagram_output_as(w, d, map[from->out.at[i]], diagram_output_name(from, i));
}

Name diagram_output_name(const Diagram *d, uint32_t i) {
  return i < d->out_name.n ? d->out_name.at[i] : 0;
}

// The header's names take precedence: a result whose wire name is the name of another result gets
// none.
Name diagram_result(const Diagram *d, uint32_t i) {
  Name declared = diagram_output_name(d, i), own = d->wire.at[d->out.at[i]].name;
  for (uint32_t k = 0; !declared && own && k < d->out.n; k++) {
    Name other = diagram_output_name(d, k);
    if (other == own || (k < i && !other && d->wire.at[d->out.at[k]].name == own)) return 0;
  }
  return declared ? declared : own;
}

const char *diagram_result_text(const World *w, Arena *a, const Diagram *d, uint32_t i) {
  Name name = diagram_result(d, i);
  if (name) return name_text(w->names, name);
  return d->out.n == 1 ? "out" : arena_format(a, "out.%u", i + 1);
}

uint32_t diagram_param(World *w, Diagram *d, Param p, Type type, Name name, Id origin) {
  const char *key = arena_format(w->arena, "%c%u/%s", p.rooted ? '/' : '.', p.home, p.path);
  if (!d->param_table) d->param_table = table_new(w->arena);
  Id old = table_get(d->param_table, key, strlen(key));
  if (old) return old - 1;
  p.wire = diagram_wire(w, d, type, name, origin);
  vec_push(w->arena, &d->param, p);
  table_put(d->param_table, key, strlen(key), d->param.n);
  return d->param.n - 1;
}

// -- boxes ----------------------------------------------------------------------------------------
static Id box_add(World *w, Diagram *d, Op op, const Id *in, uint32_t nin, uint32_t nout,
                  Id origin) {
  Box b = {.op = (uint8_t)op, .nin = nin, .nout = nout, .origin = origin, .turn = d->turn};
  b.in = arena_copy(w->arena, in, nin * sizeof(Id));
  b.out = NEW_ARRAY(w->arena, Id, nout);
  vec_push(w->arena, &d->box, b);
  return d->box.n - 1;
}

static Id box_out(World *w, Diagram *d, Id box, uint32_t port, Type type, Name name) {
  Id wire = diagram_wire(w, d, type, name, d->box.at[box].origin);
  d->wire.at[wire].box = box;
  d->wire.at[wire].port = port;
  d->box.at[box].out[port] = wire;
  return wire;
}

Id box_loop(World *w, Diagram *d, const Loop *loop, const Id *in, uint32_t nin, Type out,
            Id origin) {
  return box_loop_shared(w, d, loop_copy(w, loop), in, nin, out, origin);
}

Id box_loop_shared(World *w, Diagram *d, Loop *loop, const Id *in, uint32_t nin, Type out,
                   Id origin) {
  Id box = box_add(w, d, OP_loop, in, nin, 1 + loop_winners(w, loop), origin);
  d->box.at[box].loop = loop;
  Id first = box_out(w, d, box, 0, out, 0);
  if (loop->combine != MAX && loop->combine != MIN) return first;
  uint32_t port = 1;
  for (uint32_t i = 0; i < loop->nindex; i++) {
    if (!loop_is_reduced(w, loop, i)) continue;
    Type t = out;
    t.base = BASE_LABEL;
    t.count = loop->index[i].size;
    t.names = 0;
    box_out(w, d, box, port++, t, 0);
  }
  return first;
}

Id box_call(World *w, Diagram *d, Diagram *callee, const Id *in, uint32_t nin, Id origin) {
  Id box = box_add(w, d, OP_call, in, nin, call_outputs(callee), origin);
  d->box.at[box].callee = callee;
  d->noisy |= callee->noisy;
  Id first = d->wire.n;
  uint32_t port = 0;
  Subst sizes = {0}; // result types are expressed in the caller's sizes
  if (nin == callee->in.n + callee->param.n) subst_call(w, &sizes, callee, d, in, 0);
  for (uint32_t i = 0; i < callee->out.n; i++) {
    const Wire *o = &callee->wire.at[callee->out.at[i]];
    box_out(w, d, box, port++, subst_type(w, &sizes, o->type), o->name);
  }
  for (uint32_t i = 0; i < callee->param.n; i++)
    if (callee->param.at[i].next)
      box_out(w, d, box, port++,
              subst_type(w, &sizes, callee->wire.at[callee->param.at[i].next].type), 0);
  return first;
}

uint32_t call_outputs(const Diagram *callee) {
  uint32_t n = callee->out.n;
  for (uint32_t i = 0; i < callee->param.n; i++) n += callee->param.at[i].next != 0;
  return n;
}

Type type_along(World *w, Type t, const Index *axis) {
  Axis *all = NEW_ARRAY(w->arena, Axis, t.rank + 1);
  all[0] = (Axis){.label = axis->name, .size = axis->size};
  if (t.rank) memcpy(all + 1, t.axis, t.rank * sizeof(Axis));
  t.axis = all;
  t.rank++;
  return t;
}

Id box_scan(World *w, Diagram *d, const Scan *scan, const Id *in, uint32_t nin, Id origin) {
  const Diagram *body = scan->body;
  Id box = box_add(w, d, OP_scan, in, nin, body->out.n, origin);
  d->box.at[box].scan = arena_copy(w->arena, scan, sizeof *scan);
  d->noisy |= body->noisy;
  Id first = d->wire.n;
  for (uint32_t i = 0; i < body->out.n; i++) {
    const Wire *o = &body->wire.at[body->out.at[i]];
    box_out(w, d, box, i, i < scan->carry ? o->type : type_along(w, o->type, &scan->axis), o->name);
  }
  return first;
}

Id box_join(World *w, Diagram *d, uint32_t axis, const Id *in, uint32_t nin, Id origin) {
  Id box = box_add(w, d, OP_join, in, nin, 1, origin);
  d->box.at[box].axis = axis;
  Type t = d->wire.at[in[0]].type;
  t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
  for (uint32_t i = 1; i < nin; i++)
    t.axis[axis].size = size_add(w, t.axis[axis].size, d->wire.at[in[i]].type.axis[axis].size);
  return box_out(w, d, box, 0, t, 0);
}

Id box_order(World *w, Diagram *d, uint32_t axis, Id in, Id origin) {
  Id box = box_add(w, d, OP_order, &in, 1, 1, origin);
  d->box.at[box].axis = axis;
  Type t = d->wire.at[in].type;
  t.base = BASE_LABEL;
  t.count = t.axis[axis].size;
  return box_out(w, d, box, 0, t, 0);
}

Id box_random(World *w, Diagram *d, Noise noise, uint64_t site, Type type, Id origin) {
  Id box = box_add(w, d, OP_random, NULL, 0, 1, origin);
  d->noisy = true;
  d->box.at[box].random = NEW(w->arena, Random);
  *d->box.at[box].random = (Random){noise, site};
  return box_out(w, d, box, 0, type, 0);
}

// -- loops ----------------------------------------------------------------------------------------
Coord coord_const(World *w, Size c) {
  (void)w;
  return (Coord){.c = c};
}

Coord coord_add(World *w, Coord c, Size coef, uint32_t var, bool operand) {
  Term *term = NEW_ARRAY(w->arena, Term, c.n + 1);
  if (c.n) memcpy(term, c.term, c.n * sizeof(Term));
  term[c.n] = (Term){coef, var, operand};
  return (Coord){c.c, c.n + 1, term};
}

Coord coord_index(World *w, uint32_t index) {
  return coord_add(w, coord_const(w, size_of(w, 0)), size_of(w, 1), index, false);
}

Access access_plain(World *w, uint32_t rank, const uint32_t *index) {
  Access a = {.rank = rank, .coord = NEW_ARRAY(w->arena, Coord, rank)};
  for (uint32_t i = 0; i < rank; i++) a.coord[i] = coord_index(w, index[i]);
  return a;
}

bool coord_is_plain(World *w, const Coord *c, uint32_t *index) {
  if (c->n != 1 || c->term[0].operand || size_now(w, c->c) != size_of(w, 0)) return false;
  if (size_now(w, c->term[0].coef) != size_of(w, 1)) return false;
  if (index) *index = c->term[0].var;
  return true;
}

bool loop_is_reduced(World *w, const Loop *loop, uint32_t index) {
  uint32_t found;
  for (uint32_t i = 0; i < loop->out.rank; i++)
    if (coord_is_plain(w, &loop->out.coord[i], &found) && found == index) return false;
  return true;
}

uint32_t loop_winners(World *w, const Loop *loop) {
  uint32_t n = 0;
  if (loop->combine != MAX && loop->combine != MIN) return 0;
  for (uint32_t i = 0; i < loop->nindex; i++) n += loop_is_reduced(w, loop, i);
  return n;
}

static Access access_copy(World *w, const Access *a) {
  Access c = *a;
  c.coord = arena_copy(w->arena, a->coord, a->rank * sizeof(Coord));
  for (uint32_t i = 0; i < a->rank; i++)
    c.coord[i].term = arena_copy(w->arena, a->coord[i].term, a->coord[i].n * sizeof(Term));
  return c;
}

Loop *loop_copy(World *w, const Loop *loop) {
  Loop *c = arena_copy(w->arena, loop, sizeof *loop);
  c->index = arena_copy(w->arena, loop->index, loop->nindex * sizeof(Index));
  c->in = NEW_ARRAY(w->arena, Access, loop->nin);
  for (uint32_t i = 0; i < loop->nin; i++) c->in[i] = access_copy(w, &loop->in[i]);
  c->out = access_copy(w, &loop->out);
  uint32_t room = 1; // the capacity that scalar_push expects: a power of two
  while (room < loop->nscalar) room *= 2;
  c->scalar = NEW_ARRAY(w->arena, Scalar, room);
  if (loop->nscalar) memcpy(c->scalar, loop->scalar, loop->nscalar * sizeof(Scalar));
  return c;
}

uint32_t scalar_push(World *w, Loop *loop, Scalar s) {
  if ((loop->nscalar & (loop->nscalar - 1)) == 0) { // the capacity doubles at powers of two
    Scalar *more = NEW_ARRAY(w->arena, Scalar, loop->nscalar ? loop->nscalar * 2 : 1);
    if (loop->nscalar) memcpy(more, loop->scalar, loop->nscalar * sizeof(Scalar));
    loop->scalar = more;
  }
  loop->scalar[loop->nscalar] = s;
  return loop->nscalar++;
}

static uint8_t base_of_letter(char c, const Loop *loop, const FnRow *row, const uint32_t *arg) {
  if (c == 'R') return BASE_R;
  if (c == 'B') return BASE_BIT;
  if (c == 'L') return BASE_LABEL;
  for (uint32_t i = 0; i < row->arity; i++)
    if (row->sig[i] == '*') return loop->scalar[arg[i]].base;
  return BASE_R;
}

uint32_t scalar_fn(World *w, Loop *loop, Fn fn, uint32_t a, uint32_t b, uint32_t c) {
  const FnRow *row = &fn_rows[fn];
  Scalar s = {.fn = (uint8_t)fn, .arg = {a, b, c}};
  s.base = base_of_letter(row->sig[row->arity + 1], loop, row, s.arg);
  return scalar_push(w, loop, s);
}

// -- substitution of bound size variables ---------------------------------------------------------
void diagram_resolve(World *w, Diagram *d) {
  for (uint32_t i = 1; i < d->wire.n; i++) {
    Type *t = &d->wire.at[i].type;
    t->count = size_now(w, t->count);
    for (uint32_t k = 0; k < t->rank; k++) t->axis[k].size = size_now(w, t->axis[k].size);
  }
  for (uint32_t i = 1; i < d->box.n; i++) {
    Box *b = &d->box.at[i];
    if (b->op == OP_loop) subst_loop(w, &(Subst){0}, b->loop);
    if (b->op == OP_scan) b->scan->axis.size = size_now(w, b->scan->axis.size);
  }
  for (uint32_t i = 0; i < d->param.n; i++) {
    d->param.at[i].init.fan_in = size_now(w, d->param.at[i].init.fan_in);
    d->param.at[i].init.fan_out = size_now(w, d->param.at[i].init.fan_out);
  }
}

// Called after each declaration. A diagram that was resolved before is visited again only if a
// variable that it may contain was bound since.
void diagrams_resolve(World *w) {
  if (sizes_settle(w)) w->resolved = 0;
  for (Id i = w->resolved ? w->resolved : 1; i < w->diagram.n; i++)
    diagram_resolve(w, w->diagram.at[i]);
  w->resolved = w->diagram.n;
}
