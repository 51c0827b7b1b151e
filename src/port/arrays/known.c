// Sums of products: MatMul for two factors, Einsum for more.
#include "core/diagram/ops.h"
#include "port/arrays/arrays.h"

static bool mark_factors(const Loop *loop, uint32_t at, bool *of) {
  const Scalar *s = &loop->scalar[at];
  if (s->fn == FN_stop) return mark_factors(loop, s->arg[0], of);
  if (s->fn == FN_mul)
    return mark_factors(loop, s->arg[0], of) && mark_factors(loop, s->arg[1], of);
  if (s->fn != FN_ARG || of[s->ref]) return false;
  return of[s->ref] = true;
}

bool loop_is_product(const Loop *loop, bool *of) {
  return loop->combine == SUM && mark_factors(loop, loop->nscalar - 1, of);
}

// -- indices --------------------------------------------------------------------------------------
typedef struct {
  uint32_t n, *at;
} IndexList;

static bool placed_has(const Placed *p, uint32_t index, uint32_t *axis) {
  for (uint32_t i = 0; i < p->rank; i++)
    if (p->index[i] == index) return *axis = i, true;
  return false;
}

// Indices in operand a, in operand b, and kept, as the flags say.
static IndexList indices_of(LoopWork *l, const Placed *a, const Placed *b, bool in_a, bool in_b,
                            bool kept) {
  IndexList all = {0, NEW_ARRAY(l->o->a, uint32_t, l->n + 1)};
  uint32_t axis;
  for (uint32_t k = 0; k < l->n; k++) {
    uint32_t i = l->order[k];
    if (placed_has(a, i, &axis) == in_a && placed_has(b, i, &axis) == in_b &&
        !index_is_reduced(l, i) == kept)
      all.at[all.n++] = i;
  }
  return all;
}

static Size size_of_all(LoopWork *l, const IndexList *of) {
  Size all = arrays_one(l->o);
  for (uint32_t i = 0; i < of->n; i++) all = size_mul(l->o->w, all, l->loop->index[of->at[i]].size);
  return all;
}

// Transposes to the order of the three lists.
static Id in_order(LoopWork *l, const Placed *p, const IndexList *list[3]) {
  uint32_t *axis = NEW_ARRAY(l->o->a, uint32_t, p->rank + 1), n = 0;
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < list[k]->n; i++)
      if (placed_has(p, list[k]->at[i], &axis[n])) n++;
  return arrays_transpose(l->o, p->value, axis);
}

// Sums over reduced indices that only this factor has.
static void sum_own(LoopWork *l, Placed *p, const Placed *others, uint32_t n) {
  ArrayGraph *o = l->o;
  int64_t *axis = NEW_ARRAY(o->a, int64_t, p->rank + 1);
  uint32_t gone = 0, left = 0, at;
  GraphValue v = *arrays_value(o, p->value);
  Size *dim = NEW_ARRAY(o->a, Size, p->rank + 1);
  uint32_t *index = NEW_ARRAY(o->a, uint32_t, p->rank + 1);
  for (uint32_t k = 0; k < p->rank; k++) {
    bool shared = !index_is_reduced(l, p->index[k]);
    for (uint32_t i = 0; i < n; i++)
      shared |= &others[i] != p && placed_has(&others[i], p->index[k], &at);
    if (!shared) axis[gone++] = k;
    if (shared) dim[left] = v.dim[k], index[left++] = p->index[k];
  }
  if (!gone) return;
  p->value = arrays_node(o, "ReduceSum", 2, (const Id[]){p->value, arrays_list(o, gone, axis)},
                         &(GraphValue){.type = v.type, .rank = left, .dim = dim});
  arrays_attribute_number(o, p->value, "keepdims", 0);
  p->rank = left;
  p->index = index;
}

// -- two factors ----------------------------------------------------------------------------------
// One operand as [both…, rows, columns]: multiple or missing row and column axes are merged into
// one. (MatMul with vectors is avoided: ONNX Runtime 1.30 computes some wrongly.)
static Id product_operand(LoopWork *l, const Placed *p, const IndexList *both,
                          const IndexList *rows, const IndexList *columns, bool keep_rows) {
  Size *dim = NEW_ARRAY(l->o->a, Size, l->n + 4);
  uint32_t n = 0;
  for (uint32_t i = 0; i < both->n; i++) dim[n++] = l->loop->index[both->at[i]].size;
  for (uint32_t i = 0; keep_rows && i < rows->n; i++) dim[n++] = l->loop->index[rows->at[i]].size;
  if (!keep_rows) dim[n++] = size_of_all(l, rows);
  dim[n++] = size_of_all(l, columns);
  return arrays_reshape(l->o, in_order(l, p, (const IndexList *[]){both, rows, columns}), n, dim);
}

static Placed multiplied(LoopWork *l, const Placed *a, const Placed *b) {
  ArrayGraph *o = l->o;
  if (arrays_is_known(o, a->value) && !arrays_is_known(o, b->value)) return multiplied(l, b, a);
  IndexList both = indices_of(l, a, b, true, true, true),
            rows = indices_of(l, a, b, true, false, true),
            columns = indices_of(l, a, b, false, true, true),
            inner = indices_of(l, a, b, true, true, false);
  Id in[] = {product_operand(l, a, &both, &rows, &inner, !both.n && rows.n),
             product_operand(l, b, &both, &inner, &columns, false)};
  GraphValue x = *arrays_value(o, in[0]), y = *arrays_value(o, in[1]);
  Size *dim = NEW_ARRAY(o->a, Size, l->n + 4);
  uint32_t n = 0;
  for (uint32_t k = 0; k + 1 < x.rank; k++) dim[n++] = x.dim[k];
  dim[n++] = y.dim[y.rank - 1];
  Placed out = {.index = NEW_ARRAY(o->a, uint32_t, l->n + 1)};
  out.value = arrays_node(o, "MatMul", 2, in, &(GraphValue){.type = x.type, .rank = n, .dim = dim});
  const IndexList *all[] = {&both, &rows, &columns};
  Size *whole = NEW_ARRAY(o->a, Size, l->n + 1);
  for (uint32_t k = 0; k < 3; k++)
    for (uint32_t i = 0; i < all[k]->n; i++) {
      whole[out.rank] = l->loop->index[all[k]->at[i]].size;
      out.index[out.rank++] = all[k]->at[i];
    }
  out.value = arrays_reshape(o, out.value, out.rank, whole);
  return out;
}

// -- more factors ---------------------------------------------------------------------------------
static Placed einsum(LoopWork *l, const Placed *factor, uint32_t n) {
  ArrayGraph *o = l->o;
  Placed out = {.index = NEW_ARRAY(o->a, uint32_t, l->n + 1)};
  Size *dim = NEW_ARRAY(o->a, Size, l->n + 1);
  Id *in = NEW_ARRAY(o->a, Id, n + 1);
  Buf text = buf_new(o->a);
  uint32_t axis;
  for (uint32_t k = 0; k < n; k++) {
    in[k] = factor[k].value;
    if (k) buf_char(&text, ',');
    for (uint32_t i = 0; i < factor[k].rank; i++)
      for (uint32_t at = 0; at < l->n; at++)
        if (l->order[at] == factor[k].index[i]) buf_char(&text, (char)('a' + at));
  }
  buf_text(&text, "->");
  for (uint32_t at = 0; at < l->kept; at++)
    for (uint32_t k = 0; k < n; k++)
      if (placed_has(&factor[k], l->order[at], &axis)) {
        dim[out.rank] = l->loop->index[l->order[at]].size;
        out.index[out.rank++] = l->order[at];
        buf_char(&text, (char)('a' + at));
        break;
      }
  out.value =
      arrays_node(o, "Einsum", n, in, &(GraphValue){.type = o->real, .rank = out.rank, .dim = dim});
  arrays_attribute_text(o, out.value, "equation", text.at);
  return out;
}

// -- the whole ------------------------------------------------------------------------------------
// Can this operand, which is no factor, be out of bounds?
static bool is_always_inside(LoopWork *l, uint32_t operand) {
  const Access *a = &l->loop->in[operand];
  GraphValue v = *arrays_value(l->o, l->in[operand]);
  for (uint32_t k = 0; !a->padded && k < a->rank; k++)
    if (!coord_is_inside(l, &a->coord[k], v.dim[k])) return false;
  return true;
}

// Sets a factor to 0, or to its pad value, where it is out of bounds.
static void fill_outside(LoopWork *l, const Access *a, Placed *p) {
  ArrayGraph *o = l->o;
  Id in[] = {p->live, place_on_box(l, p), arrays_number(o, o->real, a->padded ? a->pad : 0)};
  Id filled = arrays_each(o, "Where", o->real, 3, in);
  GraphValue v = *arrays_value(o, filled);
  Size *dim = NEW_ARRAY(o->a, Size, v.rank + 1);
  *p = (Placed){.index = NEW_ARRAY(o->a, uint32_t, v.rank + 1)};
  for (uint32_t k = 0; k < v.rank; k++) {
    if (arrays_is_one(o, v.dim[k])) continue;
    dim[p->rank] = v.dim[k];
    p->index[p->rank++] = l->order[l->n - v.rank + k];
  }
  p->value = arrays_reshape(o, filled, p->rank, dim);
}

static bool read_factors(LoopWork *l, Placed *factor, uint32_t *n) {
  bool *of = NEW_ARRAY(l->o->a, bool, l->loop->nin + 1);
  uint32_t axis;
  *n = 0;
  if (!loop_is_product(l->loop, of)) return false;
  for (uint32_t i = 0; i < l->loop->nin; i++) {
    if (!of[i] && !is_always_inside(l, i)) return false;
    if (!of[i]) continue;
    if (!place_axes(l, i, &factor[*n])) return false;
    if (factor[*n].live) fill_outside(l, &l->loop->in[i], &factor[*n]);
    ++*n;
  }
  for (uint32_t k = l->kept; k < l->n; k++) {
    bool there = false;
    for (uint32_t i = 0; i < *n; i++) there |= placed_has(&factor[i], l->order[k], &axis);
    if (!there) return false;
  }
  return true;
}

static bool output_is_inside(LoopWork *l) {
  const Type *out = &l->d->wire.at[l->box->out[0]].type;
  for (uint32_t k = 0; k < out->rank; k++)
    if (!coord_is_inside(l, &l->loop->out.coord[k], out->axis[k].size)) return false;
  return true;
}

Id known_product(LoopWork *l) {
  Placed *factor = NEW_ARRAY(l->o->a, Placed, l->loop->nin + 1), out;
  const Type *type = &l->d->wire.at[l->box->out[0]].type;
  uint32_t n;
  if (type->base != BASE_R || l->n == l->kept || l->n > 26 || !output_is_inside(l)) return 0;
  if (!read_factors(l, factor, &n) || n < 2) return 0;
  for (uint32_t i = 0; i < n; i++) sum_own(l, &factor[i], factor, n);
  bool inner = indices_of(l, &factor[0], &factor[1], true, true, false).n;
  out = n == 2 && inner ? multiplied(l, &factor[0], &factor[1]) : einsum(l, factor, n);
  LoopWork small = *l;
  small.n = l->kept;
  return put_output(&small, place_on_box(&small, &out));
}
