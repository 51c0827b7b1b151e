// Dead code elimination: boxes, scalars of a loop's body, operands of a loop, and the carries,
// slices, holds and emitted results of a scan.
//
// An operand that the body does not read may still guard: a point at which it is out of bounds is
// skipped. Such an operand is removed only if the guard is redundant: the operand is padded,
// interval arithmetic over the iteration domain proves the access in bounds, or the output or
// another operand has the same access into the same shape.
//
// A carry of a scan is live if its last value is read, or if a live result of the body depends on
// it (a fixed point over the carries). The boundary of the whole diagram never changes.
#include "core/diagram/ops.h"
#include "core/pass/rewrite.h"

// -- bounds ---------------------------------------------------------------------------------------
static bool size_is_nonnegative(World *w, Size s) {
  int64_t n;
  return size_value(w, s, &n) ? n >= 0 : size_is_var(w, s, NULL);
}

static bool size_is_negative(World *w, Size s) {
  int64_t n;
  return size_value(w, s, &n) && n < 0;
}

// The smallest and largest value of a coordinate over the iteration domain; false: unknown.
static bool coord_range(World *w, const Loop *loop, const Coord *c, Size *least, Size *most) {
  Size low = size_now(w, c->c), high = low, one = size_of(w, 1);
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (t->operand) return false; // a label is unbounded
    Size reach =
        size_mul(w, size_now(w, t->coef), size_sub(w, size_now(w, loop->index[t->var].size), one));
    if (size_is_nonnegative(w, t->coef))
      high = size_add(w, high, reach);
    else if (size_is_negative(w, t->coef))
      low = size_add(w, low, reach);
    else
      return false;
  }
  *least = low;
  *most = high;
  return true;
}

static bool coord_in_bounds(World *w, const Loop *loop, const Coord *c, Size dim) {
  uint32_t index;
  Size low, high, one = size_of(w, 1);
  if (coord_is_plain(w, c, &index) && size_now(w, loop->index[index].size) == size_now(w, dim))
    return true;
  return coord_range(w, loop, c, &low, &high) && size_is_nonnegative(w, low) &&
         size_is_nonnegative(w, size_sub(w, size_sub(w, size_now(w, dim), one), high));
}

bool access_in_bounds(World *w, const Loop *loop, const Access *a, const Type *t) {
  for (uint32_t i = 0; i < a->rank; i++)
    if (!coord_in_bounds(w, loop, &a->coord[i], t->axis[i].size)) return false;
  return true;
}

bool access_outside(World *w, const Loop *loop, const Access *a, const Type *t) {
  Size low, high;
  for (uint32_t i = 0; i < a->rank; i++)
    if (coord_range(w, loop, &a->coord[i], &low, &high) &&
        (size_is_negative(w, high) ||
         size_is_nonnegative(w, size_sub(w, low, size_now(w, t->axis[i].size)))))
      return true;
  return false;
}

static bool coord_same(World *w, const Coord *a, const Coord *b) {
  if (a->n != b->n || size_now(w, a->c) != size_now(w, b->c)) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    const Term *s = &a->term[i], *t = &b->term[i];
    if (s->var != t->var || s->operand != t->operand ||
        size_now(w, s->coef) != size_now(w, t->coef))
      return false;
  }
  return true;
}

bool access_same(World *w, const Access *a, const Access *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!coord_same(w, &a->coord[i], &b->coord[i])) return false;
  return true;
}

static bool shape_same(World *w, const Type *a, const Type *b) {
  for (uint32_t i = 0; i < a->rank; i++)
    if (i >= b->rank || size_now(w, a->axis[i].size) != size_now(w, b->axis[i].size)) return false;
  return a->rank == b->rank;
}

// -- loops ----------------------------------------------------------------------------------------
uint32_t draft_operand(World *w, Draft *f, Id wire, Access a) {
  Access *more = NEW_ARRAY(w->arena, Access, f->loop->nin + 1);
  if (f->loop->nin) memcpy(more, f->loop->in, f->loop->nin * sizeof(Access));
  more[f->loop->nin] = a;
  f->loop->in = more;
  vec_push(w->arena, &f->in, wire);
  return f->loop->nin++;
}

// Removes scalars that `result` does not need; `result` becomes the last.
static void tidy_scalars(World *w, Loop *loop, uint32_t result) {
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, result + 1), n = 0;
  now[result] = 1;
  for (uint32_t i = result + 1; i-- > 0;) {
    const Scalar *s = &loop->scalar[i];
    if (now[i])
      for (uint32_t k = 0; k < fn_rows[s->fn].arity; k++) now[s->arg[k]] = 1;
  }
  for (uint32_t i = 0; i <= result; i++) {
    if (!now[i]) continue;
    Scalar s = loop->scalar[i];
    for (uint32_t k = 0; k < 3; k++) s.arg[k] = k < fn_rows[s.fn].arity ? now[s.arg[k]] : 0;
    loop->scalar[n] = s;
    now[i] = n++;
  }
  loop->nscalar = n;
  uint32_t room = 1; // the capacity that scalar_push expects
  while (room < n) room *= 2;
  Scalar *exact = NEW_ARRAY(w->arena, Scalar, room);
  memcpy(exact, loop->scalar, n * sizeof(Scalar));
  loop->scalar = exact;
}

static bool guard_is_empty(World *w, const Diagram *d, const Draft *f, uint32_t k, const bool *kept,
                           const Type *out) {
  const Loop *loop = f->loop;
  const Access *a = &loop->in[k];
  const Type *type = &d->wire.at[f->in.at[k]].type;
  if (a->padded || access_in_bounds(w, loop, a, type)) return true;
  if (shape_same(w, type, out) && access_same(w, a, &loop->out)) return true;
  for (uint32_t j = 0; j < loop->nin; j++)
    if (j != k && kept[j] && !loop->in[j].padded &&
        shape_same(w, type, &d->wire.at[f->in.at[j]].type) && access_same(w, a, &loop->in[j]))
      return true;
  return false;
}

static void renumber_operands(Access *a, const uint32_t *now) {
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      if (a->coord[i].term[k].operand) a->coord[i].term[k].var = now[a->coord[i].term[k].var];
}

static void drop_operands(World *w, Draft *f, const bool *kept) {
  Loop *loop = f->loop = loop_copy(w, f->loop); // a copy, because terms change in place
  uint32_t *now = NEW_ARRAY(w->arena, uint32_t, loop->nin), n = 0;
  Ids in = {0};
  for (uint32_t k = 0; k < loop->nin; k++) {
    if (!kept[k]) continue;
    now[k] = n;
    loop->in[n] = loop->in[k];
    renumber_operands(&loop->in[n++], now);
    vec_push(w->arena, &in, f->in.at[k]);
  }
  renumber_operands(&loop->out, now);
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_ARG) loop->scalar[i].ref = now[loop->scalar[i].ref];
  loop->nin = n;
  f->in = in;
}

void draft_tidy(World *w, const Diagram *d, Draft *f, uint32_t result, const Type *out) {
  Loop *loop = f->loop;
  tidy_scalars(w, loop, result);
  bool *kept = NEW_ARRAY(w->arena, bool, loop->nin), all = true;
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_ARG) kept[loop->scalar[i].ref] = true;
  access_mark_labels(&loop->out, kept);
  for (uint32_t k = loop->nin; k-- > 0;) {
    if (!kept[k] && d && !guard_is_empty(w, d, f, k, kept, out)) kept[k] = true;
    if (kept[k]) access_mark_labels(&loop->in[k], kept);
    all &= kept[k];
  }
  if (!all) drop_operands(w, f, kept);
}

// -- diagrams -------------------------------------------------------------------------------------
typedef struct {
  bool *in, *out; // live inputs and outputs of the scan box
  Scan scan;
} Trim;

static Diagram *prune_to(World *, const Diagram *, const bool *out, const bool *in);

void mark_needed(const Diagram *d, bool *live) {
  for (Id i = d->box.n; i-- > 1;) {
    const Box *b = &d->box.at[i];
    bool read = false;
    for (uint32_t k = 0; k < b->nout; k++) read |= live[b->out[k]];
    for (uint32_t k = 0; read && k < b->nin; k++) live[b->in[k]] = true;
  }
}

void mark_dependent(const Diagram *d, bool *moved) {
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool any = false;
    for (uint32_t k = 0; k < b->nin; k++) any |= moved[b->in[k]];
    for (uint32_t k = 0; k < b->nout; k++) moved[b->out[k]] |= any;
  }
}

static void mark_read(const Diagram *d, const bool *out, bool *live) {
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!out || out[i]) live[d->out.at[i]] = true;
  mark_needed(d, live);
}

static void needed_carries(World *w, const Scan *s, bool *out) {
  bool *live = NEW_ARRAY(w->arena, bool, s->body->wire.n);
  for (bool more = true; more;) {
    more = false;
    memset(live, 0, s->body->wire.n * sizeof(bool));
    mark_read(s->body, out, live);
    for (uint32_t i = 0; i < s->carry; i++)
      if (!out[i] && live[s->body->in.at[s->slice + i]]) more = out[i] = true;
  }
}

static Trim *trim_scan(World *w, const Box *b, const bool *live) {
  Trim *t = NEW(w->arena, Trim);
  t->scan = *b->scan;
  t->out = NEW_ARRAY(w->arena, bool, b->nout);
  for (uint32_t i = 0; i < b->nout; i++) t->out[i] = live[b->out[i]];
  needed_carries(w, b->scan, t->out);
  Diagram *body = prune_to(w, b->scan->body, t->out, NULL);
  bool *used = NEW_ARRAY(w->arena, bool, body->wire.n), all = true;
  mark_read(body, NULL, used);
  t->in = NEW_ARRAY(w->arena, bool, b->nin);
  uint32_t first_hold = t->scan.slice + t->scan.carry;
  for (uint32_t i = 0; i < b->nin; i++) {
    Id inner = i < body->in.n ? body->in.at[i] : body->param.at[i - body->in.n].wire;
    bool carry = i >= b->scan->slice && i < first_hold;
    t->in[i] = carry ? t->out[i - b->scan->slice] : used[inner];
    all &= t->in[i];
    if (t->in[i]) continue;
    if (carry)
      t->scan.carry--;
    else if (i < b->scan->slice)
      t->scan.slice--;
    else if (i < body->in.n)
      t->scan.hold--;
  }
  t->scan.body = all ? body : prune_to(w, body, NULL, t->in);
  return t;
}

static void copy_trimmed(World *w, Diagram *to, const Diagram *from, const Box *b, const Trim *t,
                         Id *map) {
  Ids in = {0};
  for (uint32_t i = 0; i < b->nin; i++)
    if (t->in[i]) vec_push(w->arena, &in, map[b->in[i]]);
  Id next = box_scan(w, to, &t->scan, in.at, in.n, b->origin);
  to->box.at[to->box.n - 1].turn = b->turn;
  for (uint32_t i = 0; i < b->nout; i++) {
    if (!t->out[i]) continue;
    to->wire.at[next].name = from->wire.at[b->out[i]].name;
    to->wire.at[next].type = from->wire.at[b->out[i]].type;
    map[b->out[i]] = next++;
  }
}

static void copy_boundary(World *w, Diagram *to, const Diagram *d, const bool *in, Id *map) {
  if (!in) {
    copy_inputs(w, to, d, map);
    copy_params(w, to, d, map);
    return;
  }
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++) {
    Id inner = i < d->in.n ? d->in.at[i] : d->param.at[i - d->in.n].wire;
    const Wire *x = &d->wire.at[inner];
    if (!in[i]) continue;
    if (i < d->in.n) {
      map[inner] = diagram_input(w, to, x->type, x->name, x->origin);
    } else {
      Param p = d->param.at[i - d->in.n];
      p.next = 0;
      map[inner] = p.wire = diagram_wire(w, to, x->type, x->name, x->origin);
      vec_push(w->arena, &to->param, p);
    }
  }
}

// Keeps the boxes that the outputs marked in `out` need, and the inputs and params marked in `in`.
// NULL: all.
static Diagram *prune_to(World *w, const Diagram *d, const bool *out, const bool *in) {
  Diagram *to = diagram_new(w, d->name);
  Id *map = new_map(w, d);
  bool *live = NEW_ARRAY(w->arena, bool, d->wire.n);
  Trim **trim = NEW_ARRAY(w->arena, Trim *, d->box.n);
  to->origin = d->origin;
  to->reverse = d->reverse;
  to->option = d->option;
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!out || out[i]) live[d->out.at[i]] = true;
  for (uint32_t i = 0; i < d->param.n; i++) live[d->param.at[i].next] = true;
  for (Id i = d->box.n; i-- > 1;) {
    const Box *b = &d->box.at[i];
    bool read = false;
    for (uint32_t k = 0; k < b->nout; k++) read |= live[b->out[k]];
    if (!read) continue;
    if (b->op == OP_scan) trim[i] = trim_scan(w, b, live);
    for (uint32_t k = 0; k < b->nin; k++)
      if (!trim[i] || trim[i]->in[k]) live[b->in[k]] = true;
  }
  copy_boundary(w, to, d, in, map);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool read = false;
    for (uint32_t k = 0; k < b->nout; k++) read |= live[b->out[k]];
    if (trim[i])
      copy_trimmed(w, to, d, b, trim[i], map);
    else if (read)
      copy_box(w, to, d, b, map, b->origin);
  }
  for (uint32_t i = 0; i < d->out.n; i++)
    if (!out || out[i]) diagram_output_as(w, to, map[d->out.at[i]], diagram_output_name(d, i));
  if (!in) copy_nexts(to, d, map);
  return to;
}

Diagram *diagram_prune(World *w, const Diagram *d) { return prune_to(w, d, NULL, NULL); }
