// Operations that only move data. On constants they are folded, and a weight keeps its name; two
// consecutive operations of the same kind become one.
#include "port/arrays/arrays.h"

// An existing value that is the same weight in the same form; or 0.
static Id find_weight_form(ArrayGraph *o, const GraphValue *w, uint32_t rank, const Size *dim,
                           const double *data) {
  for (Id i = 1; i < o->value.n; i++) {
    const GraphValue *v = &o->value.at[i];
    if (v->weight && v->rank == rank && v->count == w->count && v->type == w->type &&
        !strcmp(v->name, w->name) && !memcmp(v->dim, dim, rank * sizeof *dim) &&
        !memcmp(v->data, data, (size_t)w->count * sizeof *data))
      return i;
  }
  return 0;
}

// A constant with other sizes or axis order; for a weight, records its origin. turn may be NULL.
static Id folded_constant(ArrayGraph *o, Id from, uint32_t rank, const Size *dim,
                          const double *data, const int64_t *turn) {
  GraphValue v = *arrays_value(o, from);
  if (!v.weight) return arrays_data(o, v.type, rank, dim, data);
  Id made = rank ? find_weight_form(o, &v, rank, dim, data) : 0;
  if (made) return made;
  made = arrays_input(o, v.name, v.type, rank, dim);
  GraphValue *to = arrays_value(o, made);
  to->data = arena_copy(o->a, data, (size_t)v.count * sizeof *data);
  to->count = v.count;
  to->weight = true;
  to->form_of = from;
  to->turn = turn;
  return made;
}

static const double *permuted_data(ArrayGraph *o, const GraphValue *v, const uint32_t *axis) {
  double *to = NEW_ARRAY(o->a, double, v->count + 1);
  int64_t stride[ARRAY_RANK_LIMIT], n[ARRAY_RANK_LIMIT], at[ARRAY_RANK_LIMIT] = {0}, run = 1;
  for (uint32_t k = v->rank; k-- > 0;) {
    arrays_is_number(o, v->dim[k], &n[k]);
    stride[k] = run;
    run *= n[k];
  }
  for (int64_t i = 0; i < v->count; i++) {
    int64_t from = 0;
    for (uint32_t k = 0; k < v->rank; k++) from += at[k] * stride[axis[k]];
    to[i] = v->data[from];
    for (uint32_t k = v->rank; k-- > 0;) {
      if (++at[k] < n[axis[k]]) break;
      at[k] = 0;
    }
  }
  return to;
}

// An existing transpose of the same value by the same permutation; or 0.
static Id find_transpose(ArrayGraph *o, Id id, uint32_t rank, const int64_t *perm) {
  for (uint32_t i = 0; i < o->level->node.n; i++) {
    const GraphNode *n = &o->node.at[o->level->node.at[i]];
    if (n->in.n == 1 && n->in.at[0] == id && !strcmp(n->op, "Transpose") &&
        !memcmp(n->attribute.at[0].numbers, perm, rank * sizeof *perm))
      return n->out.at[0];
  }
  return 0;
}

Id arrays_transpose(ArrayGraph *o, Id id, const uint32_t *axis) {
  GraphValue v = *arrays_value(o, id);
  bool same = true;
  Size *dim = NEW_ARRAY(o->a, Size, v.rank + 1);
  int64_t *perm = NEW_ARRAY(o->a, int64_t, v.rank + 1);
  for (uint32_t k = 0; k < v.rank; k++) {
    same &= axis[k] == k;
    dim[k] = v.dim[axis[k]];
    perm[k] = axis[k];
  }
  if (same) return id;
  if (v.data) return folded_constant(o, id, v.rank, dim, permuted_data(o, &v, axis), perm);
  if (v.node && !strcmp(arrays_maker(o, id)->op, "Transpose")) {
    const GraphNode *before = arrays_maker(o, id);
    uint32_t *both = NEW_ARRAY(o->a, uint32_t, v.rank + 1);
    for (uint32_t k = 0; k < v.rank; k++)
      both[k] = (uint32_t)before->attribute.at[0].numbers[axis[k]];
    return arrays_transpose(o, before->in.at[0], both);
  }
  Id made = find_transpose(o, id, v.rank, perm);
  if (made) return made;
  made = arrays_node(o, "Transpose", 1, &id,
                     &(GraphValue){.type = v.type, .rank = v.rank, .dim = dim});
  arrays_attribute_list(o, made, "perm", v.rank, perm);
  return made;
}

static bool same_sizes(const GraphValue *v, uint32_t rank, const Size *dim) {
  return v->rank == rank && (!rank || memcmp(v->dim, dim, rank * sizeof *dim) == 0);
}

// A Reshape target: one unknown size can be -1.
static Id shape_to(ArrayGraph *o, uint32_t rank, const Size *dim) {
  int64_t *n = NEW_ARRAY(o->a, int64_t, rank + 1);
  uint32_t open = 0;
  for (uint32_t k = 0; k < rank; k++)
    if (!arrays_is_number(o, dim[k], &n[k])) n[k] = -1, open++;
  return open > 1 ? arrays_shape(o, rank, dim) : arrays_list(o, rank, n);
}

Id arrays_reshape(ArrayGraph *o, Id id, uint32_t rank, const Size *dim) {
  GraphValue v = *arrays_value(o, id);
  if (same_sizes(&v, rank, dim)) return id;
  if (v.data) return folded_constant(o, id, rank, dim, v.data, NULL);
  if (v.node && !strcmp(arrays_maker(o, id)->op, "Reshape"))
    return arrays_reshape(o, arrays_maker(o, id)->in.at[0], rank, dim);
  Id in[] = {id, shape_to(o, rank, dim)};
  GraphValue like = {
      .type = v.type, .rank = rank, .dim = arena_copy(o->a, dim, rank * sizeof *dim)};
  return arrays_node(o, "Reshape", 2, in, &like);
}

Id arrays_unsqueeze(ArrayGraph *o, Id id, uint32_t rank, const bool *fresh) {
  GraphValue v = *arrays_value(o, id);
  Size *dim = NEW_ARRAY(o->a, Size, rank + 1);
  int64_t *axis = NEW_ARRAY(o->a, int64_t, rank + 1);
  uint32_t from = 0, n = 0;
  for (uint32_t k = 0; k < rank; k++) {
    dim[k] = fresh[k] ? arrays_one(o) : v.dim[from++];
    if (fresh[k]) axis[n++] = k;
  }
  if (!n) return id;
  if (v.data) return folded_constant(o, id, rank, dim, v.data, NULL);
  Id in[] = {id, arrays_list(o, n, axis)};
  return arrays_node(o, "Unsqueeze", 2, in,
                     &(GraphValue){.type = v.type, .rank = rank, .dim = dim});
}

Id arrays_expand(ArrayGraph *o, Id id, uint32_t rank, const Size *dim) {
  GraphValue v = *arrays_value(o, id);
  if (same_sizes(&v, rank, dim)) return id;
  Id in[] = {id, arrays_shape(o, rank, dim)};
  GraphValue like = {
      .type = v.type, .rank = rank, .dim = arena_copy(o->a, dim, rank * sizeof *dim)};
  return arrays_node(o, "Expand", 2, in, &like);
}

Id arrays_gather(ArrayGraph *o, Id id, Id places, uint32_t axis) {
  GraphValue v = *arrays_value(o, id), p = *arrays_value(o, places);
  uint32_t rank = v.rank - 1 + p.rank, n = 0;
  Size *dim = NEW_ARRAY(o->a, Size, rank + 1);
  for (uint32_t k = 0; k < axis; k++) dim[n++] = v.dim[k];
  for (uint32_t k = 0; k < p.rank; k++) dim[n++] = p.dim[k];
  for (uint32_t k = axis + 1; k < v.rank; k++) dim[n++] = v.dim[k];
  Id in[] = {id, places};
  Id made =
      arrays_node(o, "Gather", 2, in, &(GraphValue){.type = v.type, .rank = rank, .dim = dim});
  arrays_attribute_number(o, made, "axis", axis);
  return made;
}

// As in ONNX, `to` is exclusive; -1 with a negative step means: through the first element.
Id arrays_slice(ArrayGraph *o, Id id, uint32_t axis, int64_t from, int64_t to, int64_t step) {
  GraphValue v = *arrays_value(o, id);
  int64_t along = axis, end = to < 0 ? INT32_MIN : to;
  int64_t n = step > 0 ? (to - from + step - 1) / step : (from - to - step - 1) / -step;
  Id in[] = {id, arrays_list(o, 1, &from), arrays_list(o, 1, &end), arrays_list(o, 1, &along),
             arrays_list(o, 1, &step)};
  v.dim = arena_copy(o->a, v.dim, v.rank * sizeof *v.dim);
  v.dim[axis] = size_of(o->w, n);
  return arrays_node(o, "Slice", 5, in, &v);
}

Id arrays_pad(ArrayGraph *o, Id id, uint32_t axis, int64_t before, int64_t behind, double with) {
  GraphValue v = *arrays_value(o, id);
  int64_t *pads = NEW_ARRAY(o->a, int64_t, 2 * v.rank + 1);
  pads[axis] = before;
  pads[v.rank + axis] = behind;
  Id in[] = {id, arrays_list(o, 2 * v.rank, pads), arrays_number(o, v.type, with)};
  v.dim = arena_copy(o->a, v.dim, v.rank * sizeof *v.dim);
  v.dim[axis] = size_add(o->w, v.dim[axis], size_of(o->w, before + behind));
  return arrays_node(o, "Pad", 3, in, &v);
}

Id arrays_cast(ArrayGraph *o, Id id, OutType type) {
  GraphValue v = *arrays_value(o, id);
  if (v.type == type) return id;
  if (v.data && type != OUT_BOOL) return arrays_data(o, type, v.rank, v.dim, v.data);
  v.type = type;
  Id made = arrays_node(o, "Cast", 1, &id, &v);
  arrays_attribute_number(o, made, "to", type);
  arrays_maker(o, made)->each = true;
  return made;
}
