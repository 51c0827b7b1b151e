// Inlining, and the functions by which passes copy boxes.
//
// A call is wiring: the callee's boxes are copied with its boundary wires replaced by the caller's
// wires, and its size variables by the caller's sizes (subst_call). Bodies of scans are inlined in
// the same way and stay bodies. The call's site is prefixed to the sites inside, so noise does not
// depend on inlining.
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/diagram/subst.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

// -- copying --------------------------------------------------------------------------------------
Id *new_map(World *w, const Diagram *from) { return NEW_ARRAY(w->arena, Id, from->wire.n); }

void copy_inputs(World *w, Diagram *to, const Diagram *from, Id *map) {
  for (uint32_t i = 0; i < from->in.n; i++) {
    const Wire *x = &from->wire.at[from->in.at[i]];
    map[from->in.at[i]] = diagram_input(w, to, x->type, x->name, x->origin);
  }
}

void copy_params(World *w, Diagram *to, const Diagram *from, Id *map) {
  for (uint32_t i = 0; i < from->param.n; i++) {
    Param p = from->param.at[i];
    const Wire *x = &from->wire.at[p.wire];
    p.next = 0;
    map[from->param.at[i].wire] = diagram_wire(w, to, x->type, x->name, x->origin);
    p.wire = map[from->param.at[i].wire];
    vec_push(w->arena, &to->param, p);
  }
}

void copy_nexts(Diagram *to, const Diagram *from, const Id *map) {
  for (uint32_t i = 0; i < from->param.n; i++)
    if (from->param.at[i].next) to->param.at[i].next = map[from->param.at[i].next];
}

Diagram *copy_begin(World *w, const Diagram *from, Id **map) {
  Diagram *to = diagram_new(w, from->name);
  to->origin = from->origin;
  *map = new_map(w, from);
  copy_inputs(w, to, from, *map);
  copy_params(w, to, from, *map);
  return to;
}

Diagram *copy_end(World *w, Diagram *to, const Diagram *from, const Id *map) {
  diagram_outputs(w, to, from, map);
  copy_nexts(to, from, map);
  return to;
}

void copy_box(World *w, Diagram *to, const Diagram *from, const Box *b, Id *map, Id origin) {
  Id few[8], *in = b->nin <= COUNT(few) ? few : NEW_ARRAY(w->arena, Id, b->nin), first = 0;
  for (uint32_t i = 0; i < b->nin; i++) in[i] = map[b->in[i]];
  const Type *type = b->nout ? &from->wire.at[b->out[0]].type : NULL;
  switch (b->op) {
  case OP_loop: first = box_loop_shared(w, to, b->loop, in, b->nin, *type, origin); break;
  case OP_call:
    first = box_call(w, to, b->callee, in, b->nin, origin);
    to->box.at[to->box.n - 1].site = b->site;
    break;
  case OP_scan: first = box_scan(w, to, b->scan, in, b->nin, origin); break;
  case OP_join: first = box_join(w, to, b->axis, in, b->nin, origin); break;
  case OP_order: first = box_order(w, to, b->axis, in[0], origin); break;
  case OP_random:
    first = box_random(w, to, b->random->noise, b->random->site, *type, origin);
    break;
  default: return;
  }
  to->box.at[to->box.n - 1].turn = b->turn;
  for (uint32_t i = 0; i < b->nout; i++) {
    const Wire *x = &from->wire.at[b->out[i]];
    to->wire.at[first + i].name = x->name;
    to->wire.at[first + i].kept = x->kept;
    to->wire.at[first + i].type = x->type;
    map[b->out[i]] = first + i;
  }
}

void copy_boxes(World *w, Diagram *to, const Diagram *from, Id *map) {
  for (Id i = 1; i < from->box.n; i++)
    copy_box(w, to, from, &from->box.at[i], map, from->box.at[i].origin);
}

static uint32_t *count_reads(World *w, const Diagram *d) {
  uint32_t *reads = NEW_ARRAY(w->arena, uint32_t, d->wire.n + 1);
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t k = 0; k < d->box.at[i].nin; k++) reads[d->box.at[i].in[k]]++;
  for (uint32_t i = 0; i < d->out.n; i++) reads[d->out.at[i]] += 2;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) reads[d->param.at[i].next] += 2;
  return reads;
}

Diagram *rewrite_boxes(World *w, const Diagram *d, Rewrite *rewrite) {
  Rewriting r = {.w = w, .from = d, .reads = count_reads(w, d)};
  r.to = copy_begin(w, d, &r.map);
  r.to->reverse = d->reverse;
  for (Id i = 1; i < d->box.n; i++) {
    Box b = d->box.at[i];
    Scan scan;
    if (b.op == OP_scan) {
      scan = *b.scan;
      scan.body = rewrite_boxes(w, scan.body, rewrite);
      b.scan = &scan;
    }
    if (!rewrite(&r, &b)) copy_box(w, r.to, d, &b, r.map, b.origin);
  }
  return copy_end(w, r.to, d, r.map);
}

// -- inlining -------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Diagram *to;
  bool keep_reversible; // keep calls of diagrams with a custom reverse
  Name keep_name;       // keep calls of diagrams with this name; 0: none
  uint64_t path;        // site prefix of the enclosing calls
} Inline;

static void inline_boxes(const Inline *, const Diagram *from, Id *map, const Subst *, Id around);

static Id origin_inside(World *w, Id own, Id around) {
  if (!around) return own;
  return origin_new(w, w->origin.at[own].span, around,
                    origin_is_reverse(w, own) ? WHY_REVERSE : WHY_EXPANDED);
}

static void inline_call(const Inline *p, const Diagram *from, const Box *b, Id *map, const Subst *s,
                        Id origin) {
  const Diagram *f = b->callee;
  Id *inner = new_map(p->w, f), *in = NEW_ARRAY(p->w->arena, Id, b->nin);
  Subst own = *s;
  uint32_t before = p->to->wire.n, port = 0;
  for (uint32_t i = 0; i < b->nin; i++) {
    in[i] = map[b->in[i]];
    inner[i < f->in.n ? f->in.at[i] : f->param.at[i - f->in.n].wire] = in[i];
  }
  subst_call(p->w, &own, f, p->to, in, 0);
  inline_boxes(
      &(Inline){p->w, p->to, p->keep_reversible, p->keep_name, site_join(p->path, b->site)}, f,
      inner, &own, origin);
  for (; port < f->out.n; port++) map[b->out[port]] = inner[f->out.at[port]];
  for (uint32_t i = 0; i < f->param.n; i++)
    if (f->param.at[i].next) map[b->out[port++]] = inner[f->param.at[i].next];
  for (uint32_t i = 0; i < b->nout; i++) { // the caller's names of results take precedence
    Name name = from->wire.at[b->out[i]].name;
    if (name && map[b->out[i]] >= before) p->to->wire.at[map[b->out[i]]].name = name;
  }
}

static Diagram *inline_body(World *w, const Diagram *d, bool keep_reversible, Name keep_name,
                            const Subst *s, uint64_t path) {
  Id *map;
  Diagram *to = copy_begin(w, d, &map);
  for (uint32_t i = 1; i < to->wire.n; i++)
    to->wire.at[i].type = subst_type(w, s, to->wire.at[i].type);
  inline_boxes(&(Inline){w, to, keep_reversible, keep_name, path}, d, map, s, 0);
  return copy_end(w, to, d, map);
}

static void inline_scan(const Inline *p, const Box *b, Id *map, const Subst *s, Id origin) {
  Scan scan = *b->scan;
  Subst own = *s;
  Id *in = NEW_ARRAY(p->w->arena, Id, b->nin);
  for (uint32_t i = 0; i < b->nin; i++) in[i] = map[b->in[i]];
  subst_call(p->w, &own, scan.body, p->to, in, scan.slice);
  scan.body = inline_body(p->w, scan.body, p->keep_reversible, p->keep_name, &own, p->path);
  scan.axis.size = subst_size(p->w, s, scan.axis.size);
  Id first = box_scan(p->w, p->to, &scan, in, b->nin, origin);
  for (uint32_t i = 0; i < b->nout; i++) map[b->out[i]] = first + i;
}

static void inline_box(const Inline *p, const Diagram *from, const Box *b, Id *map, const Subst *s,
                       Id origin) {
  Box copy = *b;
  copy.turn = 0; // two calls of one diagram must not look like one unrolled loop
  switch (b->op) {
  case OP_call:
    if ((!p->keep_reversible || !b->callee->reverse) &&
        (!p->keep_name || b->callee->name != p->keep_name)) {
      inline_call(p, from, b, map, s, origin);
      return;
    }
    copy.site = site_join(p->path, b->site);
    break;
  case OP_random:
    copy.random = arena_copy(p->w->arena, b->random, sizeof *b->random);
    copy.random->site = site_join(p->path, b->random->site);
    break;
  case OP_scan: inline_scan(p, b, map, s, origin); break;
  case OP_loop:
    if (s->n) subst_loop(p->w, s, copy.loop = loop_copy(p->w, b->loop));
    break;
  default: break;
  }
  if (b->op != OP_scan) copy_box(p->w, p->to, from, &copy, map, origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    Wire *x = &p->to->wire.at[map[b->out[i]]];
    x->type = subst_type(p->w, s, from->wire.at[b->out[i]].type);
    x->name = from->wire.at[b->out[i]].name;
  }
}

static void inline_boxes(const Inline *p, const Diagram *from, Id *map, const Subst *s, Id around) {
  for (Id i = 1; i < from->box.n; i++) {
    const Box *b = &from->box.at[i];
    inline_box(p, from, b, map, s, origin_inside(p->w, b->origin, around));
  }
}

// known: diagram id to count + 1 (memoised)
static uint64_t count_boxes(const Diagram *d, Table *known) {
  Id have = table_get(known, &d->id, sizeof d->id);
  if (have) return have - 1;
  uint64_t n = 0;
  for (Id i = 1; i < d->box.n && n < UINT32_MAX; i++) {
    const Box *b = &d->box.at[i];
    n += 1 + (b->op == OP_call   ? count_boxes(b->callee, known)
              : b->op == OP_scan ? count_boxes(b->scan->body, known)
                                 : 0);
  }
  if (n >= UINT32_MAX) n = UINT32_MAX - 1;
  table_put(known, &d->id, sizeof d->id, (Id)(n + 1));
  return n;
}

uint64_t diagram_boxes(World *w, const Diagram *d) { return count_boxes(d, table_new(w->arena)); }

Diagram *inline_calls(World *w, const Diagram *d, bool keep_own_reverse) {
  return inline_body(w, d, keep_own_reverse, 0, &(Subst){0}, 0);
}

Diagram *diagram_inline(World *w, const Diagram *d) {
  Diagram *to = inline_calls(w, d, true);
  to->reverse = d->reverse;
  return to;
}

Diagram *diagram_inline_all(World *w, const Diagram *d) { return inline_calls(w, d, false); }

Diagram *diagram_inline_but(World *w, const Diagram *d, Name kept) {
  return inline_body(w, d, true, kept, &(Subst){0}, 0);
}
