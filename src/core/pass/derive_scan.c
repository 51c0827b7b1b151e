// Derivatives of scans.
//
// Reverse (backpropagation through time): the primal scan also emits its carries before each step.
// A scan in the opposite direction recomputes each step from its slices, saved carries and holds,
// and applies the body's reverse:
//
//   slices    the primal slices, the saved carries, cotangents of emitted wires
//   carries   cotangents of the carries; sums of the cotangents of holds and params
//   emitted   cotangents of the slices
//
// Forward: one scan with carries and their tangents. Noise in the body is reproduced, because it
// depends on site and position, which both scans keep. prune.c removes unused results.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/pass/derive_own.h"
#include "core/pass/pass.h"

static Diagram *body_new(const Derive *e, const Scan *s, const char *end) {
  Diagram *body = diagram_new(
      e->w, name_from(e->w->names, arena_format(e->w->arena, "%s%s",
                                                name_text(e->w->names, s->body->name), end)));
  body->origin = s->body->origin;
  return body;
}

static void name_results(const Derive *e, const Box *b, const Id *to) {
  for (uint32_t i = 0; i < b->nout; i++) {
    e->map[b->out[i]] = to[i];
    e->to->wire.at[to[i]].name = e->f->wire.at[b->out[i]].name;
    e->to->wire.at[to[i]].type = e->f->wire.at[b->out[i]].type;
  }
}

Id scan_saving_carries(const Derive *e, const Box *b) {
  Scan scan = *b->scan;
  const Diagram *old = scan.body;
  Diagram *body = scan.body = body_new(e, b->scan, "_saving");
  Id *map = new_map(e->w, old), *in = NEW_ARRAY(e->w->arena, Id, b->nin),
     *out = NEW_ARRAY(e->w->arena, Id, b->nout);
  copy_inputs(e->w, body, old, map);
  copy_params(e->w, body, old, map);
  copy_boxes(e->w, body, old, map);
  for (uint32_t i = 0; i < old->out.n; i++) diagram_output(e->w, body, map[old->out.at[i]]);
  for (uint32_t i = 0; i < scan.carry; i++)
    diagram_output(e->w, body, map[old->in.at[scan.slice + i]]);
  for (uint32_t i = 0; i < b->nin; i++) in[i] = e->map[b->in[i]];
  Id first = box_scan(e->w, e->to, &scan, in, b->nin, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) out[i] = first + i;
  name_results(e, b, out);
  return first + b->nout;
}

// -- a new scan around a derivative of the body ---------------------------------------------------
// A scan under construction: its body, and the enclosing wires for the body's inputs.
typedef struct {
  const Derive *e;
  const Box *b;
  Scan scan;
  Ids in; // wires of the enclosing diagram
} NewScan;

static Id new_scan_input(NewScan *a, Id outside, const Type *type, Name name, uint32_t *count) {
  vec_push(a->e->w->arena, &a->in, outside);
  ++*count;
  return diagram_input(a->e->w, a->scan.body, *type, name, 0);
}

static Id zero_outside(const NewScan *a, const Type *t) {
  return wire_filled(a->e->w, a->e->to, t, 0, 0, origin_of_derived(a->e, a->b->origin));
}

static const Wire *body_in(const NewScan *a, uint32_t i) {
  const Diagram *body = a->b->scan->body;
  return &body->wire.at[i < body->in.n ? body->in.at[i] : body->param.at[i - body->in.n].wire];
}

static NewScan new_scan_begin(const Derive *e, const Box *b, const char *end) {
  NewScan a = {e, b, *b->scan, {0}};
  a.scan.body = body_new(e, b->scan, end);
  a.scan.slice = a.scan.carry = a.scan.hold = 0;
  return a;
}

static Id new_scan_finish(NewScan *a) {
  const Scan *old = a->b->scan;
  uint32_t own = old->slice + old->carry + old->hold;
  for (uint32_t i = own; i < a->b->nin; i++)
    vec_push(a->e->w->arena, &a->in, a->e->map[a->b->in[i]]);
  return box_scan(a->e->w, a->e->to, &a->scan, a->in.at, a->in.n,
                  origin_of_derived(a->e, a->b->origin));
}

// -- reverse --------------------------------------------------------------------------------------
typedef struct {
  uint32_t n; // inputs and params of the primal body
  bool *want; // [n] the cotangent is computed
  bool *zero; // [n] the cotangent is wanted, and identically zero
  Id *inside; // [n] the step's cotangent in the new body
  Id *sum;    // [n] the accumulated cotangent, a carry of the new body
  Id *input;  // [n] the primal input in the new body
  Id *d_out;  // [out] the cotangent of a primal output in the new body
} BodyCotangents;

static bool is_carry(const Scan *s, uint32_t i) { return i >= s->slice && i < s->slice + s->carry; }

static void reverse_inputs(NewScan *a, BodyCotangents *m, Id saved, const Id *d_out) {
  const Derive *e = a->e;
  const Scan *old = a->b->scan;
  Scan *s = &a->scan;
  for (uint32_t i = 0; i < old->slice; i++)
    m->input[i] = new_scan_input(a, e->map[a->b->in[i]], &body_in(a, i)->type, body_in(a, i)->name,
                                 &s->slice);
  for (uint32_t i = 0; i < old->carry; i++) {
    const Wire *x = body_in(a, old->slice + i);
    m->input[old->slice + i] = new_scan_input(a, saved + i, &x->type, x->name, &s->slice);
  }
  for (uint32_t i = old->carry; i < a->b->nout; i++) {
    const Wire *y = &old->body->wire.at[old->body->out.at[i]];
    if (d_out[i])
      m->d_out[i] = new_scan_input(a, d_out[i], &y->type, name_d(e->w, y->name), &s->slice);
  }
  for (uint32_t i = 0; i < m->n; i++) { // carries: cotangents of carries, then accumulators
    uint32_t k = i < old->carry ? i + old->slice : i < old->slice + old->carry ? i - old->carry : i;
    const Wire *x = body_in(a, k);
    if (!m->want[k] || m->zero[k] || k < old->slice) continue;
    Id start = is_carry(old, k) ? d_out[k - old->slice] : 0;
    m->sum[k] = new_scan_input(a, start ? start : zero_outside(a, &x->type), &x->type,
                               name_d(e->w, x->name), &s->carry);
    if (is_carry(old, k)) m->d_out[k - old->slice] = m->sum[k];
  }
  for (uint32_t i = 0; i < old->hold; i++) {
    uint32_t k = old->slice + old->carry + i;
    m->input[k] =
        new_scan_input(a, e->map[a->b->in[k]], &body_in(a, k)->type, body_in(a, k)->name, &s->hold);
  }
}

// Copies the boxes of the body's reverse into the new body.
static void reverse_inside(NewScan *a, BodyCotangents *m, const Diagram *reverse) {
  World *w = a->e->w;
  const Diagram *old = a->b->scan->body;
  Id *map = new_map(w, reverse);
  uint32_t next = old->in.n, port = 0;
  copy_params(w, a->scan.body, reverse, map);
  for (uint32_t i = 0; i < old->in.n; i++) map[reverse->in.at[i]] = m->input[i];
  for (uint32_t i = 0; i < old->out.n; i++)
    if (m->d_out[i]) map[reverse->in.at[next++]] = m->d_out[i];
  copy_boxes(w, a->scan.body, reverse, map);
  for (uint32_t i = 0; i < m->n; i++)
    if (m->want[i]) m->inside[i] = map[reverse->out.at[port++]];
}

static void reverse_outputs(NewScan *a, const BodyCotangents *m) {
  World *w = a->e->w;
  const Scan *old = a->b->scan;
  Diagram *body = a->scan.body;
  for (uint32_t i = 0; i < old->carry; i++)
    if (m->sum[old->slice + i]) diagram_output(w, body, m->inside[old->slice + i]);
  for (uint32_t i = 0; i < m->n; i++)
    if (m->sum[i] && !is_carry(old, i))
      diagram_output(w, body,
                     sum_wires(w, body, (Id[]){m->sum[i], m->inside[i]}, 2,
                               origin_of_derived(a->e, a->b->origin)));
  for (uint32_t i = 0; i < old->slice; i++)
    if (m->want[i] && !m->zero[i]) diagram_output(w, body, m->inside[i]);
}

// Fixed point over the carries. A carry has a cotangent if an output with a cotangent depends on
// it, now or in a later step; the cotangent is wanted if the carry depends on a wanted input. Marks
// such carries in `want`, and restricts `have` to them.
static void needed_cotangents(World *w, const Scan *s, uint32_t n, bool *want, bool *have) {
  const bool *moving = output_dependence(w, s->body); // [out][n]
  for (bool more = true; more;) {
    more = false;
    for (uint32_t c = 0; c < s->carry; c++) {
      bool wanted = want[s->slice + c], has = have[c];
      for (uint32_t i = 0; i < n; i++) wanted |= want[i] && moving[c * n + i];
      for (uint32_t o = 0; o < s->body->out.n; o++) has |= have[o] && moving[o * n + s->slice + c];
      more |= wanted != want[s->slice + c] || has != have[c];
      want[s->slice + c] = wanted;
      have[c] = has;
    }
  }
  for (uint32_t c = 0; c < s->carry; c++)
    want[s->slice + c] = have[c] = want[s->slice + c] && have[c];
}

static BodyCotangents body_cotangents_new(const Derive *e, const Box *b, const bool *want) {
  Arena *arena = e->w->arena;
  BodyCotangents m = {.n = b->nin,
                      .want = arena_copy(arena, want, b->nin * sizeof(bool)),
                      .zero = NEW_ARRAY(arena, bool, b->nin),
                      .inside = NEW_ARRAY(arena, Id, b->nin),
                      .sum = NEW_ARRAY(arena, Id, b->nin),
                      .input = NEW_ARRAY(arena, Id, b->nin),
                      .d_out = NEW_ARRAY(arena, Id, b->nout)};
  return m;
}

void reverse_scan(const Derive *e, const Box *b, Id saved, const Id *d_out, const bool *want,
                  Id *d_in) {
  const Scan *old = b->scan;
  BodyCotangents m = body_cotangents_new(e, b, want);
  bool *have = NEW_ARRAY(e->w->arena, bool, b->nout);
  for (uint32_t i = 0; i < b->nout; i++) have[i] = d_out[i] != 0;
  needed_cotangents(e->w, old, m.n, m.want, have);
  Derived r = reverse_flat(e->w, old->body, m.want, have);
  for (uint32_t i = 0, port = 0; i < m.n; i++)
    if (m.want[i]) m.zero[i] = r.zero[port++] && !is_carry(old, i);
  NewScan a = new_scan_begin(e, b, "_reverse");
  a.scan.back = !old->back;
  reverse_inputs(&a, &m, saved, d_out);
  reverse_inside(&a, &m, r.diagram);
  reverse_outputs(&a, &m);
  Id next = new_scan_finish(&a);
  for (uint32_t i = 0; i < old->carry; i++)
    if (m.sum[old->slice + i]) d_in[old->slice + i] = next++;
  for (uint32_t i = 0; i < m.n; i++)
    if (m.sum[i] && !is_carry(old, i)) d_in[i] = next++;
  for (uint32_t i = 0; i < old->slice; i++)
    if (m.want[i] && !m.zero[i]) d_in[i] = next++;
}

// -- forward --------------------------------------------------------------------------------------
typedef struct {  // each [input of the body]
  const Id *d_in; // the tangent in the enclosing diagram
  const bool *have;
  Id *input, *tangent; // inside
} ForwardInputs;

// Adds inputs of one kind: the primal ones, then their tangents.
static void forward_inputs(NewScan *a, const ForwardInputs *of, uint32_t first, uint32_t n,
                           uint32_t *count) {
  const Derive *e = a->e;
  for (uint32_t i = first; i < first + n; i++)
    if (i < a->b->scan->body->in.n)
      of->input[i] =
          new_scan_input(a, e->map[a->b->in[i]], &body_in(a, i)->type, body_in(a, i)->name, count);
  for (uint32_t i = first; i < first + n; i++) {
    const Wire *x = body_in(a, i);
    if (!of->have[i]) continue;
    Id outside = of->d_in[i] ? of->d_in[i] : zero_outside(a, &x->type);
    of->tangent[i] = new_scan_input(a, outside, &x->type, name_d(e->w, x->name), count);
  }
}

static void forward_inside(NewScan *a, const Diagram *forward, const Id *input, const Id *tangent,
                           Id *map) {
  World *w = a->e->w;
  const Diagram *old = a->b->scan->body;
  uint32_t next = old->in.n;
  copy_params(w, a->scan.body, forward, map);
  for (uint32_t i = 0; i < old->in.n; i++) map[forward->in.at[i]] = input[i];
  for (uint32_t i = 0; i < a->b->nin; i++)
    if (tangent[i]) map[forward->in.at[next++]] = tangent[i];
  copy_boxes(w, a->scan.body, forward, map);
}

// Adds the outputs of the new body: carries, their tangents, emitted wires, their tangents. Sets
// the port of each in out and d_out.
static void forward_outputs(NewScan *a, const Derived *r, const bool *have, const Id *map, Id *out,
                            Id *d_out) {
  const Scan *old = a->b->scan;
  const Diagram *body = old->body;
  uint32_t *d_port = NEW_ARRAY(a->e->w->arena, uint32_t, body->out.n), moving = 0;
  Id place = 0; // ports; the caller adds the id of the first output
  for (uint32_t i = 0; i < body->out.n; i++)
    if (type_has_tangent(&body->wire.at[body->out.at[i]].type)) d_port[i] = ++moving;
  for (uint32_t half = 0; half < 2; half++) {
    uint32_t first = half ? old->carry : 0, end = half ? body->out.n : old->carry;
    for (uint32_t i = first; i < end; i++) {
      diagram_output(a->e->w, a->scan.body, map[r->diagram->out.at[i]]);
      out[i] = place++;
    }
    for (uint32_t i = first; i < end; i++) {
      d_out[i] = UINT32_MAX;
      bool carried = !half && have[old->slice + i];
      if (!d_port[i] || (!carried && (!half || r->zero[d_port[i] - 1]))) continue;
      diagram_output(a->e->w, a->scan.body, map[r->diagram->out.at[body->out.n + d_port[i] - 1]]);
      d_out[i] = place++;
    }
  }
}

// A carry has a tangent if it depends on an input with a tangent (a fixed point).
static void needed_tangents(World *w, const Scan *s, uint32_t n, bool *have) {
  const bool *moving = output_dependence(w, s->body);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t c = 0; c < s->carry; c++)
      for (uint32_t i = 0; i < n; i++)
        if (have[i] && moving[c * n + i] && !have[s->slice + c]) more = have[s->slice + c] = true;
  }
}

void forward_scan(const Derive *e, const Box *b, const Id *d_in, Id *d_out) {
  const Scan *old = b->scan;
  Arena *arena = e->w->arena;
  bool *have = NEW_ARRAY(arena, bool, b->nin), any = false;
  for (uint32_t i = 0; i < b->nin; i++) any |= d_in[i] != 0;
  if (!any) {
    copy_box(e->w, e->to, e->f, b, e->map, b->origin);
    return;
  }
  for (uint32_t i = 0; i < b->nin; i++) have[i] = d_in[i] != 0;
  needed_tangents(e->w, old, b->nin, have);
  Derived r = forward_flat(e->w, old->body, have);
  NewScan a = new_scan_begin(e, b, "_forward");
  Id *input = NEW_ARRAY(arena, Id, b->nin), *tangent = NEW_ARRAY(arena, Id, b->nin),
     *out = NEW_ARRAY(arena, Id, b->nout);
  Id *map = new_map(e->w, r.diagram);
  ForwardInputs of = {d_in, have, input, tangent};
  forward_inputs(&a, &of, 0, old->slice, &a.scan.slice);
  forward_inputs(&a, &of, old->slice, old->carry, &a.scan.carry);
  forward_inputs(&a, &of, old->slice + old->carry, b->nin - old->slice - old->carry, &a.scan.hold);
  forward_inside(&a, r.diagram, input, tangent, map);
  forward_outputs(&a, &r, have, map, out, d_out);
  Id first = new_scan_finish(&a);
  for (uint32_t i = 0; i < b->nout; i++) {
    out[i] += first;
    d_out[i] = d_out[i] == UINT32_MAX ? 0 : d_out[i] + first;
  }
  name_results(e, b, out);
}
