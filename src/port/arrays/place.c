// Brings operands to the iteration space. If each axis has its own indices, axis by axis: a single
// index leaves the axis as it is, a strided one becomes a Slice, several that enumerate it become a
// Reshape, others a Gather by a table, and labels a Gather by their values. Other accesses, such as
// a diagonal, are gathered from the flattened operand by computed offsets.
//
// Reads out of bounds are clamped to a valid element; the mask `live` says where the operand is in
// bounds.
#include "port/arrays/arrays.h"

// -- coordinates ----------------------------------------------------------------------------------
typedef struct {
  int64_t c, coef[ARRAY_RANK_LIMIT];
  uint32_t n, index[ARRAY_RANK_LIMIT];
} PlainCoord; // indices of more than one element, with constant coefficients

static bool term_counts(LoopWork *l, const Term *t) {
  return t->operand || !arrays_is_one(l->o, l->loop->index[t->var].size);
}

static bool coord_plain(LoopWork *l, const Coord *c, PlainCoord *p) {
  *p = (PlainCoord){0};
  if (!size_value(l->o->w, c->c, &p->c)) return false;
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (!term_counts(l, t)) continue;
    if (t->operand || p->n == ARRAY_RANK_LIMIT) return false;
    if (!size_value(l->o->w, t->coef, &p->coef[p->n])) return false;
    p->index[p->n++] = t->var;
  }
  return true;
}

bool coord_is_whole(LoopWork *l, const Coord *c, Size axis, uint32_t *index) {
  PlainCoord p;
  if (!coord_plain(l, c, &p) || p.c || p.n != 1 || p.coef[0] != 1) return false;
  *index = p.index[0];
  return l->loop->index[*index].size == axis;
}

bool coord_counts(LoopWork *l, const Coord *c, Size axis, uint32_t *n, uint32_t *index) {
  World *w = l->o->w;
  Size run = size_of(w, 1);
  bool used[ARRAY_RANK_LIMIT] = {false};
  *n = 0;
  if (c->c != size_of(w, 0) || c->n > ARRAY_RANK_LIMIT) return false;
  for (bool found = true; found;) {
    found = false;
    for (uint32_t i = 0; i < c->n && !found; i++) {
      const Term *t = &c->term[i];
      if (used[i] || t->operand || !term_counts(l, t) || size_now(w, t->coef) != run) continue;
      used[i] = found = true;
      index[(*n)++] = t->var;
      run = size_mul(w, run, l->loop->index[t->var].size);
    }
  }
  for (uint32_t i = 0; i < c->n; i++)
    if (!used[i] && term_counts(l, &c->term[i])) return false;
  for (uint32_t i = 0; i < *n / 2; i++) {
    uint32_t swap = index[i];
    index[i] = index[*n - 1 - i];
    index[*n - 1 - i] = swap;
  }
  return run == size_now(w, axis);
}

// Bounds the coordinate from below and above.
bool coord_is_inside(LoopWork *l, const Coord *c, Size axis) {
  World *w = l->o->w;
  Size low = c->c, high = c->c, zero = size_of(w, 0);
  int64_t k, least, room;
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (t->operand && !l->d->wire.at[l->box->in[t->var]].type.count) return false;
    Size n =
        t->operand ? l->d->wire.at[l->box->in[t->var]].type.count : l->loop->index[t->var].size;
    Size far = size_mul(w, t->coef, size_sub(w, n, size_of(w, 1)));
    bool known = size_value(w, t->coef, &k);
    if (!known && !size_value(w, far, &k)) k = 1; // sizes are at least 0
    low = size_add(w, low, k < 0 ? far : zero);
    high = size_add(w, high, k < 0 ? zero : far);
  }
  return size_value(w, low, &least) && least >= 0 &&
         size_value(w, size_sub(w, axis, high), &room) && room >= 1;
}

// -- on the box -----------------------------------------------------------------------------------
Id place_on_box(LoopWork *l, const Placed *p) {
  uint32_t n = l->n, *axis = NEW_ARRAY(l->o->a, uint32_t, p->rank + 1), k = 0, first = n;
  bool *fresh = NEW_ARRAY(l->o->a, bool, n + 1);
  for (uint32_t at = 0; at < n; at++) {
    fresh[at] = true;
    for (uint32_t i = 0; i < p->rank; i++)
      if (p->index[i] == l->order[at]) axis[k++] = i, fresh[at] = false;
    if (!fresh[at] && first == n) first = at;
  }
  return arrays_unsqueeze(l->o, arrays_transpose(l->o, p->value, axis), n - first, fresh + first);
}

static Id index_positions(LoopWork *l, uint32_t index) {
  if (arrays_is_one(l->o, l->loop->index[index].size)) return arrays_number(l->o, OUT_INT64, 0);
  Placed up = {
      .value = arrays_count_up(l->o, l->loop->index[index].size), .rank = 1, .index = &index};
  return place_on_box(l, &up);
}

static Id size_alone(LoopWork *l, Size size) {
  return arrays_reshape(l->o, arrays_size(l->o, size), 0, NULL);
}

Id place_coord(LoopWork *l, const Coord *c) {
  ArrayGraph *o = l->o;
  Size one = size_of(o->w, 1), zero = size_of(o->w, 0);
  Id all = c->c == zero && c->n ? 0 : size_alone(l, c->c);
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    Id x = t->operand ? l->operand[t->var] : index_positions(l, t->var);
    if (size_now(o->w, t->coef) != one) x = arrays_whole(o, "Mul", x, size_alone(l, t->coef));
    all = all ? arrays_whole(o, "Add", all, x) : x;
  }
  return all;
}

Id coord_live(LoopWork *l, const Coord *c, Size axis) {
  ArrayGraph *o = l->o;
  Id x = place_coord(l, c);
  Id low = arrays_whole(o, "Less", arrays_number(o, OUT_INT64, -1), x);
  return arrays_whole(o, "And", low, arrays_whole(o, "Less", x, size_alone(l, axis)));
}

void mask_and(LoopWork *l, Id *live, Id more) {
  *live = !*live ? more : !more ? *live : arrays_whole(l->o, "And", *live, more);
}

// -- in a row -------------------------------------------------------------------------------------
Id place_flat(LoopWork *l, uint32_t operand, Id *live) {
  ArrayGraph *o = l->o;
  const Access *a = &l->loop->in[operand];
  Id wire = l->in[operand], row = 0;
  GraphValue v = *arrays_value(o, wire);
  *live = 0;
  for (uint32_t k = 0; k < a->rank; k++) {
    Id at = place_coord(l, &a->coord[k]);
    if (!coord_is_inside(l, &a->coord[k], v.dim[k])) {
      mask_and(l, live, coord_live(l, &a->coord[k], v.dim[k]));
      Id last = size_alone(l, size_sub(o->w, v.dim[k], arrays_one(o)));
      at = arrays_whole(o, "Min", arrays_whole(o, "Max", at, arrays_number(o, OUT_INT64, 0)), last);
    }
    if (row) row = arrays_whole(o, "Mul", row, size_alone(l, v.dim[k]));
    row = row ? arrays_whole(o, "Add", row, at) : at;
  }
  if (!row) return wire;
  Size all = arrays_product(o, v.rank, v.dim);
  return arrays_gather(o, arrays_reshape(o, wire, 1, &all), row, 0);
}

// -- axis by axis ---------------------------------------------------------------------------------
typedef enum {
  AXIS_NONE,
  AXIS_ONE,
  AXIS_WHOLE,
  AXIS_SPLIT,
  AXIS_SLICE,
  AXIS_TABLE,
  AXIS_LABEL
} AxisKind;
typedef struct {
  AxisKind kind;
  uint32_t n, index[ARRAY_RANK_LIMIT]; // the axes that it becomes
  PlainCoord plain;
  uint32_t label; // AXIS_LABEL: the operand that holds the labels
} AxisPlan;

// Coordinates with constant coefficients can be tabulated.
static bool has_table(LoopWork *l, const PlainCoord *p) {
  int64_t n, all = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    if (!arrays_is_number(l->o, l->loop->index[p->index[i]].size, &n)) return false;
    all *= n;
  }
  return all <= 1 << 22;
}

static AxisKind axis_by_label(LoopWork *l, const Coord *c, Size axis, AxisPlan *p) {
  World *w = l->o->w;
  if (c->n != 1 || !c->term[0].operand || c->c != size_of(w, 0)) return AXIS_NONE;
  if (size_now(w, c->term[0].coef) != size_of(w, 1)) return AXIS_NONE;
  Placed label;
  p->label = c->term[0].var;
  if (!coord_is_inside(l, c, axis) || !place_axes(l, p->label, &label) || label.live)
    return AXIS_NONE;
  p->n = label.rank;
  for (uint32_t i = 0; i < p->n; i++) p->index[i] = label.index[i];
  return AXIS_LABEL;
}

static AxisKind axis_plan(LoopWork *l, const Coord *c, Size axis, AxisPlan *p) {
  int64_t n;
  p->n = 1;
  if (coord_is_whole(l, c, axis, &p->index[0])) return AXIS_WHOLE;
  if (coord_counts(l, c, axis, &p->n, p->index) && p->n) return AXIS_SPLIT;
  p->n = 0;
  if (!coord_plain(l, c, &p->plain)) return axis_by_label(l, c, axis, p);
  p->n = p->plain.n;
  for (uint32_t i = 0; i < p->n; i++) p->index[i] = p->plain.index[i];
  bool inside = coord_is_inside(l, c, axis);
  if (!p->n) return inside ? AXIS_ONE : AXIS_NONE;
  if (!has_table(l, &p->plain) || !arrays_is_number(l->o, axis, &n)) return AXIS_NONE;
  return p->n == 1 && inside && p->plain.coef[0] ? AXIS_SLICE : AXIS_TABLE;
}

static Id axis_table(LoopWork *l, const AxisPlan *p, int64_t most) {
  ArrayGraph *o = l->o;
  Size dim[ARRAY_RANK_LIMIT];
  int64_t n[ARRAY_RANK_LIMIT], at[ARRAY_RANK_LIMIT] = {0}, all = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    dim[i] = l->loop->index[p->index[i]].size;
    arrays_is_number(o, dim[i], &n[i]);
    all *= n[i];
  }
  double *to = NEW_ARRAY(o->a, double, all + 1);
  for (int64_t k = 0; k < all; k++) {
    int64_t x = p->plain.c;
    for (uint32_t i = 0; i < p->n; i++) x += p->plain.coef[i] * at[i];
    to[k] = (double)(x < 0 ? 0 : x >= most ? most - 1 : x);
    for (uint32_t i = p->n; i-- > 0;) {
      if (++at[i] < n[i]) break;
      at[i] = 0;
    }
  }
  return arrays_data(o, OUT_INT64, p->n, dim, to);
}

// Splits or gathers one axis into the axes of its indices.
static Id apply_axis_plan(LoopWork *l, Id value, uint32_t axis, const AxisPlan *p) {
  ArrayGraph *o = l->o;
  GraphValue v = *arrays_value(o, value);
  int64_t most = 1, n = 1;
  Size dim[2 * ARRAY_RANK_LIMIT];
  arrays_is_number(o, v.dim[axis], &most);
  if (p->n) arrays_is_number(o, l->loop->index[p->index[0]].size, &n);
  if (p->kind == AXIS_ONE)
    return arrays_gather(o, value, arrays_number(o, OUT_INT64, (double)p->plain.c), axis);
  if (p->kind == AXIS_TABLE) return arrays_gather(o, value, axis_table(l, p, most), axis);
  if (p->kind == AXIS_SLICE) {
    int64_t step = p->plain.coef[0], end = p->plain.c + step * n;
    if (step > 0) end -= step - 1;
    if (step < 0) end -= step + 1;
    return arrays_slice(o, value, axis, p->plain.c, end, step);
  }
  if (p->kind == AXIS_LABEL) {
    Placed label;
    place_axes(l, p->label, &label);
    return arrays_gather(o, value, label.value, axis);
  }
  if (p->kind != AXIS_SPLIT) return value;
  for (uint32_t k = 0; k < axis; k++) dim[k] = v.dim[k];
  for (uint32_t k = 0; k < p->n; k++) dim[axis + k] = l->loop->index[p->index[k]].size;
  for (uint32_t k = axis + 1; k < v.rank; k++) dim[k + p->n - 1] = v.dim[k];
  return arrays_reshape(o, value, v.rank - 1 + p->n, dim);
}

// An axis of size 1, read at an index of size 1.
static bool axis_is_unit(LoopWork *l, const Coord *c, Size axis) {
  PlainCoord p;
  return arrays_is_one(l->o, axis) && coord_plain(l, c, &p) && !p.n && !p.c;
}

// Marks axes that share no index with others, and plans each; false: a label occurs, or all axes
// are free, or none.
static bool free_axes(LoopWork *l, const Access *a, const GraphValue *v, AxisPlan *plan) {
  uint32_t *users = NEW_ARRAY(l->o->a, uint32_t, l->loop->nindex + 1), tangled = 0;
  PlainCoord p;
  int64_t n;
  for (uint32_t k = 0; k < a->rank; k++)
    for (uint32_t i = 0; i < a->coord[k].n; i++) {
      if (a->coord[k].term[i].operand) return false;
      users[a->coord[k].term[i].var]++;
    }
  for (uint32_t k = 0; k < a->rank; k++) {
    bool alone = true;
    for (uint32_t i = 0; i < a->coord[k].n; i++)
      alone &= !term_counts(l, &a->coord[k].term[i]) || users[a->coord[k].term[i].var] == 1;
    plan[k].kind = alone ? axis_plan(l, &a->coord[k], v->dim[k], &plan[k]) : AXIS_NONE;
    if (plan[k].kind != AXIS_NONE) continue;
    tangled++;
    if (!coord_plain(l, &a->coord[k], &p) || !has_table(l, &p) ||
        !arrays_is_number(l->o, v->dim[k], &n))
      return false;
  }
  return tangled && tangled < a->rank;
}

// Flat offsets of the axes that share indices, over these indices.
static Id tangled_table(LoopWork *l, const Access *a, const GraphValue *v, const AxisPlan *plan,
                        Placed *out) {
  ArrayGraph *o = l->o;
  Id row = 0;
  LoopWork own = *l; // an iteration space of these indices only
  own.order = NEW_ARRAY(o->a, uint32_t, l->loop->nindex + 1);
  own.n = 0;
  for (uint32_t k = 0; k < a->rank; k++)
    for (uint32_t i = 0; plan[k].kind == AXIS_NONE && i < a->coord[k].n; i++) {
      bool there = !term_counts(l, &a->coord[k].term[i]);
      for (uint32_t n = 0; n < own.n; n++) there |= own.order[n] == a->coord[k].term[i].var;
      if (!there) own.order[own.n++] = a->coord[k].term[i].var;
    }
  for (uint32_t k = 0; k < a->rank; k++) {
    if (plan[k].kind != AXIS_NONE) continue;
    Id at = place_coord(&own, &a->coord[k]),
       last = size_alone(l, size_sub(o->w, v->dim[k], arrays_one(o)));
    at = arrays_whole(o, "Min", arrays_whole(o, "Max", at, arrays_number(o, OUT_INT64, 0)), last);
    if (row) row = arrays_whole(o, "Mul", row, size_alone(l, v->dim[k]));
    row = row ? arrays_whole(o, "Add", row, at) : at;
    if (!coord_is_inside(l, &a->coord[k], v->dim[k]))
      mask_and(l, &out->live, coord_live(l, &a->coord[k], v->dim[k]));
  }
  for (uint32_t i = 0; i < own.n; i++) out->index[out->rank++] = own.order[i];
  return row;
}

// Keeps free axes and gathers the others, flattened, by a table.
static bool place_tangled(LoopWork *l, uint32_t operand, Placed *out) {
  ArrayGraph *o = l->o;
  const Access *a = &l->loop->in[operand];
  GraphValue v = *arrays_value(o, l->in[operand]);
  AxisPlan *plan = NEW_ARRAY(o->a, AxisPlan, a->rank + 1);
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, a->rank + 1),
           *of = NEW_ARRAY(o->a, uint32_t, a->rank + 1), n = 0, all = 0;
  Size dim[ARRAY_RANK_LIMIT], rest = arrays_one(o);
  if (a->rank >= ARRAY_RANK_LIMIT || !free_axes(l, a, &v, plan)) return false;
  *out = (Placed){.index = NEW_ARRAY(o->a, uint32_t, l->loop->nindex + 1)};
  for (uint32_t k = 0; k < a->rank; k++) {
    if (plan[k].kind == AXIS_NONE) continue;
    for (uint32_t i = 0; i < plan[k].n; i++) out->index[out->rank++] = plan[k].index[i];
    of[n] = k;
    dim[n] = v.dim[k];
    axis[n++] = k;
  }
  all = n;
  for (uint32_t k = 0; k < a->rank; k++)
    if (plan[k].kind == AXIS_NONE) axis[all++] = k, rest = size_mul(o->w, rest, v.dim[k]);
  dim[n] = rest;
  out->value = arrays_reshape(o, arrays_transpose(o, l->in[operand], axis), n + 1, dim);
  out->value = arrays_gather(o, out->value, tangled_table(l, a, &v, plan, out), n);
  for (uint32_t k = n; k-- > 0;) {
    out->value = apply_axis_plan(l, out->value, k, &plan[of[k]]);
    const Coord *c = &a->coord[of[k]];
    if (plan[of[k]].kind == AXIS_TABLE && !coord_is_inside(l, c, v.dim[of[k]]))
      mask_and(l, &out->live, coord_live(l, c, v.dim[of[k]]));
  }
  return true;
}

bool place_axes(LoopWork *l, uint32_t operand, Placed *out) {
  ArrayGraph *o = l->o;
  const Access *a = &l->loop->in[operand];
  GraphValue v = *arrays_value(o, l->in[operand]);
  AxisPlan *plan = NEW_ARRAY(o->a, AxisPlan, a->rank + 1);
  bool *taken = NEW_ARRAY(o->a, bool, l->loop->nindex + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < a->rank; k++) {
    plan[k].kind = axis_plan(l, &a->coord[k], v.dim[k], &plan[k]);
    if (plan[k].kind == AXIS_NONE) return place_tangled(l, operand, out);
    for (uint32_t i = 0; i < plan[k].n; i++) {
      if (taken[plan[k].index[i]]) return place_tangled(l, operand, out);
      taken[plan[k].index[i]] = true;
    }
    n += plan[k].n;
  }
  *out = (Placed){.value = l->in[operand], .rank = n, .index = NEW_ARRAY(o->a, uint32_t, n + 1)};
  for (uint32_t k = a->rank; k-- > 0;) {
    for (uint32_t i = plan[k].n; i-- > 0;) out->index[--n] = plan[k].index[i];
    if (plan[k].kind == AXIS_ONE && axis_is_unit(l, &a->coord[k], v.dim[k])) {
      GraphValue x = *arrays_value(o, out->value);
      Size dim[2 * ARRAY_RANK_LIMIT];
      for (uint32_t i = 0; i + 1 < x.rank; i++) dim[i] = x.dim[i < k ? i : i + 1];
      out->value = arrays_reshape(o, out->value, x.rank - 1, dim);
    } else {
      out->value = apply_axis_plan(l, out->value, k, &plan[k]);
    }
    if (plan[k].kind == AXIS_TABLE && !coord_is_inside(l, &a->coord[k], v.dim[k]))
      mask_and(l, &out->live, coord_live(l, &a->coord[k], v.dim[k]));
  }
  return true;
}
