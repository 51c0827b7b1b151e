// Automatic differentiation of diagrams, forward (JVP) and reverse (VJP).
//
// Both modes take the inlined diagram and build a new one: the primal boxes, then (or interleaved)
// those of the derivative. Forward mode visits boxes in order, with at most one tangent per wire.
// Reverse mode visits them backwards, with a list of cotangents per wire. A missing tangent or
// cotangent is zero, so nothing is emitted for constants.
//
// Reverse mode serves several losses at once. The wanted weights and inputs are partitioned into
// classes; a *key* is a set of classes. A loss starts with the key of the classes that it trains;
// at each wire the key is intersected with the classes upstream. Cotangents with equal keys are
// added, those with empty keys are dropped. The plain reverse has one class.
//
// Derivatives of loops are in derive_loop.c, of scans in derive_scan.c; here are the others:
//   join     slices of the cotangent; a join of tangents
//   call     a custom reverse: a call of it
//   order, random    zero
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "core/pass/derive_own.h"
#include "core/pass/pass.h"

#include <assert.h>

bool type_has_tangent(const Type *t) { return t->base == BASE_R || t->base == BASE_BIT; }

Name name_d(World *w, Name name) {
  return name ? name_from(w->names, arena_format(w->arena, "d%s", name_text(w->names, name))) : 0;
}

static Name name_with(World *w, Name name, const char *end) {
  return name_from(w->names, arena_format(w->arena, "%s%s", name_text(w->names, name), end));
}

Id origin_of_derived(const Derive *e, Id origin) {
  return origin_new(e->w, e->w->origin.at[origin].span, origin, e->why);
}

// -- small loops ----------------------------------------------------------------------------------
static Id add_few(World *w, Diagram *d, const Id *part, uint32_t n, Id origin) {
  const Type t = d->wire.at[part[0]].type;
  Loop *loop = loop_over(w, &t);
  uint32_t sum = 0;
  loop->nin = n;
  loop->in = NEW_ARRAY(w->arena, Access, n);
  for (uint32_t i = 0; i < n; i++) {
    loop->in[i] = loop->out;
    uint32_t x = scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t.base, .ref = i});
    sum = i ? scalar_fn(w, loop, t.base == BASE_BIT ? FN_xor : FN_add, sum, x, 0) : x;
  }
  return box_loop(w, d, loop, part, n, t, origin);
}

Id sum_wires(World *w, Diagram *d, const Id *part, uint32_t n, Id origin) {
  enum { AT_ONCE = 8 };
  while (n > 1) { // a tree of sums of up to 8, so thousands of readers cost little more
    Id *sum = NEW_ARRAY(w->arena, Id, (n + AT_ONCE - 1) / AT_ONCE);
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i += AT_ONCE) {
      uint32_t few = n - i < AT_ONCE ? n - i : AT_ONCE;
      sum[m++] = few > 1 ? add_few(w, d, part + i, few, origin) : part[i];
    }
    part = sum;
    n = m;
  }
  return part[0];
}

// -- what lies upstream ---------------------------------------------------------------------------
typedef struct {
  uint32_t words; // 64-bit words per set of classes
  uint64_t *set;  // [wire][words] the classes upstream of the wire
} Upstream;

static Upstream upstream_new(World *w, const Diagram *f, uint32_t classes) {
  Upstream u = {classes / 64 + 1, NULL};
  u.set = NEW_ARRAY(w->arena, uint64_t, (size_t)f->wire.n * u.words);
  return u;
}

static uint64_t *upstream_of(const Upstream *u, Id wire) {
  return u->set + (size_t)wire * u->words;
}

static void upstream_mark(const Upstream *u, const Diagram *f, Id wire, uint32_t class) {
  if (type_has_tangent(&f->wire.at[wire].type))
    upstream_of(u, wire)[class / 64] |= (uint64_t)1 << (class % 64);
}

static bool add_set(const Upstream *u, uint64_t *to, const uint64_t *from) {
  bool more = false;
  for (uint32_t i = 0; i < u->words; i++) {
    more |= (from[i] & ~to[i]) != 0;
    to[i] |= from[i];
  }
  return more;
}

// Fixed point over the carries: a carry depends on everything that the next carries depend on.
static void upstream_scan(World *w, const Upstream *u, const Diagram *f, const Box *b) {
  const Scan *s = b->scan;
  const bool *moving = output_dependence(w, s->body); // [out][in]
  uint64_t **set = NEW_ARRAY(w->arena, uint64_t *, b->nin + 1);
  for (uint32_t i = 0; i < b->nin; i++)
    set[i] = arena_copy(w->arena, upstream_of(u, b->in[i]), u->words * sizeof(uint64_t));
  for (bool more = true; more;) {
    more = false;
    for (uint32_t c = 0; c < s->carry; c++)
      for (uint32_t i = 0; i < b->nin; i++)
        if (moving[c * b->nin + i]) more |= add_set(u, set[s->slice + c], set[i]);
  }
  for (uint32_t o = 0; o < b->nout; o++)
    for (uint32_t i = 0; i < b->nin; i++)
      if (moving[o * b->nin + i] && type_has_tangent(&f->wire.at[b->out[o]].type))
        add_set(u, upstream_of(u, b->out[o]), set[i]);
}

// Propagates the sets of classes from the inputs of a box to its outputs.
static void upstream_spread(World *w, const Upstream *u, const Diagram *f, const Box *b) {
  if (b->op == OP_order || b->op == OP_random) return;
  if (b->op == OP_scan && b->scan->body->in.n == b->nin && !b->scan->body->param.n &&
      b->scan->body->out.n == b->nout) {
    upstream_scan(w, u, f, b);
    return;
  }
  uint64_t few = 0, *sum = u->words == 1 ? &few : NEW_ARRAY(w->arena, uint64_t, u->words);
  const bool *moving = b->op == OP_loop ? loop_dependence(w, b->loop) : NULL;
  for (uint32_t k = 0; k < b->nin; k++)
    if (!moving || moving[k]) add_set(u, sum, upstream_of(u, b->in[k]));
  for (uint32_t k = 0; k < b->nout; k++)
    if (type_has_tangent(&f->wire.at[b->out[k]].type)) add_set(u, upstream_of(u, b->out[k]), sum);
}

bool *output_dependence(World *w, const Diagram *f) {
  uint32_t n = f->in.n + f->param.n;
  Upstream u = upstream_new(w, f, n);
  bool *moving = NEW_ARRAY(w->arena, bool, (size_t)f->out.n *n);
  for (uint32_t i = 0; i < n; i++) upstream_mark(&u, f, diagram_source(f, i), i);
  for (Id i = 1; i < f->box.n; i++) upstream_spread(w, &u, f, &f->box.at[i]);
  for (uint32_t o = 0; o < f->out.n; o++)
    for (uint32_t i = 0; i < n; i++)
      moving[o * n + i] = upstream_of(&u, f->out.at[o])[i / 64] >> (i % 64) & 1;
  return moving;
}

// -- cotangents -----------------------------------------------------------------------------------
typedef struct {
  Id key;
  Id next;  // the wire's next cotangent, with another key
  Ids part; // the summands
} Cot;

typedef struct {
  Derive d;
  Upstream up;
  Table *keys;         // set to key
  VEC(uint64_t *) key; // [key] the set; [0] is empty
  VEC(Cot) cot;        // [0] is unused
  Id *first;           // [wire] head of the list of cotangents
  Id *saved;           // [box] of a scan: the first wire of saved carries
} Reverse;

static Id key_of(Reverse *r, const uint64_t *set) {
  bool empty = true;
  for (uint32_t i = 0; i < r->up.words; i++) empty &= set[i] == 0;
  if (empty) return 0;
  Id id = table_get(r->keys, set, r->up.words * sizeof(uint64_t));
  if (id) return id;
  vec_push(r->d.w->arena, &r->key, arena_copy(r->d.w->arena, set, r->up.words * sizeof(uint64_t)));
  table_put(r->keys, set, r->up.words * sizeof(uint64_t), r->key.n - 1);
  return r->key.n - 1;
}

// Intersects a key with the classes upstream of a wire.
static Id key_at(Reverse *r, Id key, Id wire) {
  const uint64_t *a = r->key.at[key], *b = upstream_of(&r->up, wire);
  uint64_t one, *set = r->up.words == 1 ? &one : NEW_ARRAY(r->d.w->arena, uint64_t, r->up.words);
  for (uint32_t i = 0; i < r->up.words; i++) set[i] = a[i] & b[i];
  return key_of(r, set);
}

static void cot_add(Reverse *r, Id wire, Id key, Id part) {
  Id here = key_at(r, key, wire), i = r->first[wire];
  if (!here) return;
  while (i && r->cot.at[i].key != here) i = r->cot.at[i].next;
  if (!i) {
    vec_push(r->d.w->arena, &r->cot, (Cot){here, r->first[wire], {0}});
    i = r->first[wire] = r->cot.n - 1;
  }
  vec_push(r->d.w->arena, &r->cot.at[i].part, part);
}

static Id cot_sum(Reverse *r, Id wire, Id cot) {
  Ids *part = &r->cot.at[cot].part;
  const Wire *x = &r->d.f->wire.at[wire];
  if (part->n > 1) {
    part->at[0] =
        sum_wires(r->d.w, r->d.to, part->at, part->n, origin_of_derived(&r->d, x->origin));
    part->n = 1;
  }
  Wire *sum = &r->d.to->wire.at[part->at[0]];
  if (!sum->name && sum->box) sum->name = name_d(r->d.w, x->name);
  return part->at[0];
}

static Id cot_of(Reverse *r, Id wire, Id key) { // 0 = zero
  for (Id i = r->first[wire]; i; i = r->cot.at[i].next)
    if (r->cot.at[i].key == key) return cot_sum(r, wire, i);
  return 0;
}

// -- reverse --------------------------------------------------------------------------------------
static Reverse *reverse_new(World *w, const Diagram *f, uint32_t classes) {
  Reverse *r = NEW(w->arena, Reverse);
  r->d =
      (Derive){w, f, diagram_new(w, name_with(w, f->name, "_reverse")), new_map(w, f), WHY_REVERSE};
  r->d.to->origin = f->origin;
  r->up = upstream_new(w, f, classes);
  r->keys = table_new(w->arena);
  r->first = NEW_ARRAY(w->arena, Id, f->wire.n);
  r->saved = NEW_ARRAY(w->arena, Id, f->box.n);
  vec_push(w->arena, &r->key, NULL);
  vec_push(w->arena, &r->cot, (Cot){0});
  copy_inputs(w, r->d.to, f, r->d.map);
  copy_params(w, r->d.to, f, r->d.map);
  return r;
}

static bool wire_is_moved(const Reverse *r, Id wire) {
  for (uint32_t i = 0; i < r->up.words; i++)
    if (upstream_of(&r->up, wire)[i]) return true;
  return false;
}

// Copies the primal boxes and computes the classes upstream of each wire.
static void reverse_copy(Reverse *r) {
  const Diagram *f = r->d.f;
  for (Id i = 1; i < f->box.n; i++) {
    const Box *b = &f->box.at[i];
    bool moved = false;
    upstream_spread(r->d.w, &r->up, f, b);
    for (uint32_t k = 0; k < b->nout; k++) moved |= wire_is_moved(r, b->out[k]);
    if (b->op == OP_scan && moved)
      r->saved[i] = scan_saving_carries(&r->d, b);
    else
      copy_box(r->d.w, r->d.to, f, b, r->d.map, b->origin);
  }
}

static void reverse_join(const Derive *e, const Box *b, Id g, const bool *want, Id *d_in) {
  World *w = e->w;
  Size offset = size_of(w, 0);
  for (uint32_t k = 0; k < b->nin; k++) {
    const Type *t = &e->f->wire.at[b->in[k]].type;
    if (want[k]) {
      Loop *loop = loop_over(w, t);
      Access slice = loop->out;
      slice.coord = arena_copy(w->arena, slice.coord, slice.rank * sizeof(Coord));
      slice.coord[b->axis].c = offset;
      loop->nin = 1;
      loop->in = arena_copy(w->arena, &slice, sizeof slice);
      scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = t->base});
      d_in[k] = box_loop(w, e->to, loop, &g, 1, *t, origin_of_derived(e, b->origin));
    }
    offset = size_add(w, offset, size_now(w, t->axis[b->axis].size));
  }
}

static Id param_by_path(const Derive *e, const Box *b, const Param *p) {
  const Diagram *f = b->callee;
  for (uint32_t i = 0; i < f->param.n; i++)
    if (f->param.at[i].rooted == p->rooted && strcmp(f->param.at[i].path, p->path) == 0)
      return e->map[b->in[f->in.n + i]];
  assert(false && "a reverse has a param that its diagram lacks");
  return 0;
}

// Calls a custom reverse: (in, d out) -> d in. Its params are params of the diagram, found by path.
// Further results are the cotangents of the params.
static void reverse_call(const Derive *e, const Box *b, const Id *d_out, Id *d_in) {
  const Diagram *f = b->callee;
  Diagram *own = f->reverse;
  Ids in = {0};
  Id origin = origin_of_derived(e, b->origin);
  for (uint32_t i = 0; i < f->in.n; i++) vec_push(e->w->arena, &in, e->map[b->in[i]]);
  for (uint32_t i = 0; i < f->out.n; i++) {
    const Wire *y = &e->f->wire.at[b->out[i]];
    if (!type_has_tangent(&y->type)) continue;
    vec_push(e->w->arena, &in,
             d_out[i] ? d_out[i]
                      : wire_filled(e->w, e->to, &y->type, 0, name_d(e->w, y->name), origin));
  }
  assert(in.n == own->in.n);
  for (uint32_t i = 0; i < own->param.n; i++)
    vec_push(e->w->arena, &in, param_by_path(e, b, &own->param.at[i]));
  Id next = box_call(e->w, e->to, own, in.at, in.n, origin), end = next + own->out.n;
  e->to->box.at[e->to->box.n - 1].site = b->site;
  for (uint32_t k = 0; k < b->nin; k++)
    if (type_has_tangent(&e->f->wire.at[b->in[k]].type) && next < end) d_in[k] = next++;
}

static void reverse_box(Reverse *r, Id box, Id key) {
  const Derive *e = &r->d;
  const Box *b = &e->f->box.at[box];
  Id *d_out = NEW_ARRAY(e->w->arena, Id, b->nout), *d_in = NEW_ARRAY(e->w->arena, Id, b->nin);
  bool *want = NEW_ARRAY(e->w->arena, bool, b->nin), any = false;
  for (uint32_t k = 0; k < b->nin; k++) any |= want[k] = key_at(r, key, b->in[k]) != 0;
  if (!any) return;
  for (uint32_t k = 0; k < b->nout; k++) d_out[k] = cot_of(r, b->out[k], key);
  switch (b->op) {
  case OP_loop: reverse_loop(e, b, d_out[0], want, d_in); break;
  case OP_join: reverse_join(e, b, d_out[0], want, d_in); break;
  case OP_scan: reverse_scan(e, b, r->saved[box], d_out, want, d_in); break;
  case OP_call: reverse_call(e, b, d_out, d_in); break;
  default: break;
  }
  for (uint32_t k = 0; k < b->nin; k++)
    if (d_in[k]) cot_add(r, b->in[k], key, d_in[k]);
}

static void reverse_walk(Reverse *r) {
  const Diagram *f = r->d.f;
  for (Id i = f->box.n; i-- > 1;) {
    const Box *b = &f->box.at[i];
    Ids keys = {0};
    for (uint32_t k = 0; k < b->nout; k++)
      for (Id c = r->first[b->out[k]]; c; c = r->cot.at[c].next) {
        bool known = false;
        for (uint32_t j = 0; j < keys.n; j++) known |= keys.at[j] == r->cot.at[c].key;
        if (!known) vec_push(r->d.w->arena, &keys, r->cot.at[c].key);
      }
    for (uint32_t j = 0; j < keys.n; j++) reverse_box(r, i, keys.at[j]);
  }
}

// Outputs the sum of the wire's cotangents. A param has one key; an inner wire may have several.
// True: the cotangent is zero.
static bool reverse_output(Reverse *r, Id wire) {
  const Wire *x = &r->d.f->wire.at[wire];
  Id origin = origin_of_derived(&r->d, x->origin);
  Ids part = {0};
  for (Id c = r->first[wire]; c; c = r->cot.at[c].next)
    vec_push(r->d.w->arena, &part, cot_sum(r, wire, c));
  Id d = part.n ? sum_wires(r->d.w, r->d.to, part.at, part.n, origin)
                : wire_filled(r->d.w, r->d.to, &x->type, 0, name_d(r->d.w, x->name), origin);
  diagram_output(r->d.w, r->d.to, d);
  return !part.n;
}

static Derived reverse_by(World *w, const Diagram *f, const bool *want, const bool *have_out,
                          bool keep_out) {
  Reverse *r = reverse_new(w, f, 1);
  uint32_t n = f->in.n + f->param.n, zeros = 0;
  Derived result = {r->d.to, NEW_ARRAY(w->arena, bool, n)};
  Ids seed = {0};
  for (uint32_t i = 0; i < n; i++)
    if (want[i]) upstream_mark(&r->up, f, diagram_source(f, i), 0);
  for (uint32_t i = 0; i < f->out.n; i++) {
    const Wire *y = &f->wire.at[f->out.at[i]];
    bool have = have_out[i] && type_has_tangent(&y->type);
    vec_push(w->arena, &seed,
             have ? diagram_input(w, r->d.to, y->type, name_d(w, y->name), y->origin) : 0);
  }
  reverse_copy(r);
  Id key = key_of(r, &(uint64_t){1});
  for (uint32_t i = 0; i < f->out.n; i++)
    if (seed.at[i]) cot_add(r, f->out.at[i], key, seed.at[i]);
  reverse_walk(r);
  for (uint32_t i = 0; keep_out && i < f->out.n; i++)
    diagram_output(w, r->d.to, r->d.map[f->out.at[i]]);
  if (keep_out) copy_nexts(r->d.to, f, r->d.map);
  for (uint32_t i = 0; i < n; i++)
    if (want[i] && type_has_tangent(&f->wire.at[diagram_source(f, i)].type))
      result.zero[zeros++] = reverse_output(r, diagram_source(f, i));
  return result;
}

Derived reverse_flat(World *w, const Diagram *f, const bool *want, const bool *have_out) {
  return reverse_by(w, f, want, have_out, false);
}

// Wraps a diagram with a custom reverse into a diagram with one call of it.
static Diagram *wrapped(World *w, const Diagram *d) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  Ids in = {0};
  copy_inputs(w, to, d, map);
  copy_params(w, to, d, map);
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++)
    vec_push(w->arena, &in, map[diagram_source(d, i)]);
  Id next = box_call(w, to, w->diagram.at[d->id], in.at, in.n, d->origin);
  for (uint32_t i = 0; i < d->out.n; i++)
    diagram_output_as(w, to, next++, diagram_output_name(d, i));
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) to->param.at[i].next = next++;
  return to;
}

static Diagram *flat_for_reverse(World *w, const Diagram *d) {
  return d->reverse ? wrapped(w, d) : inline_calls(w, d, true);
}

static bool *sources_wanted(World *w, const Diagram *d, const Wanted *wanted) {
  bool *want = NEW_ARRAY(w->arena, bool, d->in.n + d->param.n);
  for (uint32_t i = 0; i < d->in.n; i++)
    want[i] = !wanted || !wanted->want_in || wanted->want_in[i];
  for (uint32_t i = 0; i < d->param.n; i++)
    want[d->in.n + i] =
        wanted && wanted->want_param ? wanted->want_param[i] : d->param.at[i].role == ROLE_WEIGHT;
  return want;
}

uint32_t label_results(const Diagram *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->out.n; i++) n += d->wire.at[d->out.at[i]].type.base == BASE_LABEL;
  return n;
}

Diagram *diagram_reverse(World *w, const Diagram *d, const Wanted *wanted) {
  const Diagram *f = flat_for_reverse(w, d);
  bool *have = NEW_ARRAY(w->arena, bool, f->out.n);
  for (uint32_t i = 0; i < f->out.n; i++) have[i] = true;
  Derived r = reverse_by(w, f, sources_wanted(w, f, wanted), have, wanted && wanted->keep_out);
  return diagram_prune(w, r.diagram);
}

// -- several losses -------------------------------------------------------------------------------
// Params with equal columns of the mask form one class. Returns each param's class + 1; 0: no loss
// trains it.
static uint32_t *param_classes(World *w, const Diagram *f, const bool *const *mask, uint32_t *count,
                               Ids *member) {
  Table *known = table_new(w->arena);
  uint32_t *class = NEW_ARRAY(w->arena, uint32_t, f->param.n);
  Ids *goals = NEW_ARRAY(w->arena, Ids, f->param.n); // [param] the losses that train it
  for (uint32_t o = 0; o < f->out.n; o++)
    for (uint32_t p = 0; p < f->param.n; p++)
      if (mask[o][p]) vec_push(w->arena, &goals[p], o);
  for (uint32_t p = 0; p < f->param.n; p++) {
    if (!goals[p].n) continue;
    class[p] = table_get(known, goals[p].at, goals[p].n * sizeof *goals[p].at);
    if (class[p]) continue;
    vec_push(w->arena, member, p);
    class[p] = member->n;
    table_put(known, goals[p].at, goals[p].n * sizeof *goals[p].at, class[p]);
  }
  *count = member->n;
  return class;
}

static void class_add(uint64_t *set, uint32_t class) {
  set[class / 64] |= (uint64_t)1 << (class % 64);
}

// The requested inner wires form one more class, to which every loss contributes.
Diagram *diagram_gradient_at(World *w, const Diagram *f, const bool *const *mask,
                             const Ids *wires) {
  uint32_t classes;
  Ids member = {0}; // a representative of each class
  uint32_t *class = param_classes(w, f, mask, &classes, &member);
  Reverse *r = reverse_new(w, f, classes + 1);
  r->d.to->name = name_with(w, f->name, "_gradient");
  for (uint32_t p = 0; p < f->param.n; p++)
    if (class[p]) upstream_mark(&r->up, f, f->param.at[p].wire, class[p] - 1);
  for (uint32_t i = 0; i < wires->n; i++) upstream_mark(&r->up, f, wires->at[i], classes);
  reverse_copy(r);
  for (uint32_t o = 0; o < f->out.n; o++) {
    const Wire *y = &f->wire.at[f->out.at[o]];
    uint64_t *set = NEW_ARRAY(w->arena, uint64_t, r->up.words);
    for (uint32_t c = 0; c < classes; c++)
      if (mask[o][member.at[c]]) class_add(set, c);
    if (wires->n) class_add(set, classes);
    Id key = key_of(r, set);
    if (!key || !key_at(r, key, f->out.at[o])) continue;
    cot_add(r, f->out.at[o], key,
            wire_filled(w, r->d.to, &y->type, 1, name_d(w, y->name),
                        origin_of_derived(&r->d, y->origin)));
  }
  reverse_walk(r);
  for (uint32_t i = 0; i < f->out.n; i++) diagram_output(w, r->d.to, r->d.map[f->out.at[i]]);
  copy_nexts(r->d.to, f, r->d.map);
  for (uint32_t p = 0; p < f->param.n; p++)
    if (class[p]) reverse_output(r, f->param.at[p].wire);
  for (uint32_t i = 0; i < wires->n; i++) {
    diagram_output(w, r->d.to, r->d.map[wires->at[i]]);
    reverse_output(r, wires->at[i]);
  }
  return diagram_prune(w, r->d.to);
}

Diagram *diagram_gradient(World *w, const Diagram *d, const bool *const *mask) {
  return diagram_gradient_at(w, flat_for_reverse(w, d), mask, &(Ids){0});
}

// -- forward --------------------------------------------------------------------------------------
static Id forward_join(const Derive *e, const Box *b, const Id *d_in) {
  Id *part = NEW_ARRAY(e->w->arena, Id, b->nin), origin = origin_of_derived(e, b->origin);
  bool any = false;
  for (uint32_t k = 0; k < b->nin; k++) any |= d_in[k] != 0;
  if (!any) return 0;
  for (uint32_t k = 0; k < b->nin; k++)
    part[k] =
        d_in[k] ? d_in[k] : wire_filled(e->w, e->to, &e->f->wire.at[b->in[k]].type, 0, 0, origin);
  return box_join(e->w, e->to, b->axis, part, b->nin, origin);
}

static void forward_box(const Derive *e, const Box *b, Id *tangent) {
  Id *d_in = NEW_ARRAY(e->w->arena, Id, b->nin), *d_out = NEW_ARRAY(e->w->arena, Id, b->nout);
  for (uint32_t k = 0; k < b->nin; k++) d_in[k] = tangent[b->in[k]];
  if (b->op != OP_scan) copy_box(e->w, e->to, e->f, b, e->map, b->origin);
  switch (b->op) {
  case OP_loop: d_out[0] = forward_loop(e, b, d_in); break;
  case OP_join: d_out[0] = forward_join(e, b, d_in); break;
  case OP_scan: forward_scan(e, b, d_in, d_out); break;
  default: break;
  }
  for (uint32_t k = 0; k < b->nout; k++) {
    tangent[b->out[k]] = d_out[k];
    if (d_out[k]) e->to->wire.at[d_out[k]].name = name_d(e->w, e->f->wire.at[b->out[k]].name);
  }
}

Derived forward_flat(World *w, const Diagram *f, const bool *have) {
  Derive e = {w, f, diagram_new(w, name_with(w, f->name, "_forward")), new_map(w, f), WHY_FORWARD};
  Derived result = {e.to, NEW_ARRAY(w->arena, bool, f->out.n)};
  Id *tangent = NEW_ARRAY(w->arena, Id, f->wire.n);
  uint32_t zeros = 0;
  e.to->origin = f->origin;
  copy_inputs(w, e.to, f, e.map);
  copy_params(w, e.to, f, e.map);
  for (uint32_t i = 0; i < f->in.n + f->param.n; i++) {
    const Wire *x = &f->wire.at[diagram_source(f, i)];
    if (have[i] && type_has_tangent(&x->type))
      tangent[diagram_source(f, i)] =
          diagram_input(w, e.to, x->type, name_d(w, x->name), x->origin);
  }
  for (Id i = 1; i < f->box.n; i++) forward_box(&e, &f->box.at[i], tangent);
  for (uint32_t i = 0; i < f->out.n; i++) diagram_output(w, e.to, e.map[f->out.at[i]]);
  for (uint32_t i = 0; i < f->out.n; i++) {
    const Wire *y = &f->wire.at[f->out.at[i]];
    Id d = tangent[f->out.at[i]];
    if (!type_has_tangent(&y->type)) continue;
    result.zero[zeros++] = !d;
    diagram_output(w, e.to,
                   d ? d
                     : wire_filled(w, e.to, &y->type, 0, name_d(w, y->name),
                                   origin_of_derived(&e, y->origin)));
  }
  copy_nexts(e.to, f, e.map);
  return result;
}

Diagram *diagram_forward(World *w, const Diagram *d, const Wanted *wanted) {
  const Diagram *f = inline_calls(w, d, false);
  return diagram_prune(w, forward_flat(w, f, sources_wanted(w, f, wanted)).diagram);
}
