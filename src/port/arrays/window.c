// Windows: an output index and a reduced index read one axis together, at stride · i + dilation · p
// - pad. A product with weights is a convolution, a maximum or sum is pooling; if the output is
// written so, the convolution is transposed. ONNX wants channels before spatial axes: transposes
// are added, and adjacent ones cancel later.
#include "core/diagram/ops.h"
#include "port/arrays/arrays.h"

enum { WINDOWS_MOST = 3 };

typedef struct {
  uint32_t outer, inner; // the strided index, and the index inside the window
  int64_t stride, dilation, before, behind, places;
} WindowAxis;

typedef struct {
  uint32_t n, at[ARRAY_RANK_LIMIT];
} WindowIndices;

typedef struct {
  LoopWork *l;
  uint32_t windows;
  WindowAxis window[WINDOWS_MOST];
  uint32_t picture, kernel;                     // operand numbers: the input image and the kernel
  WindowIndices batch, group, channel, feature; // plain indices by role
  bool *in_picture, *in_kernel, *in_out;        // [nindex]
} WindowWork;

static Size index_size(const LoopWork *l, uint32_t index) { return l->loop->index[index].size; }

// Matches stride · outer + dilation · inner - before; which of the two is kept is determined later.
static bool window_axis(LoopWork *l, const Coord *c, Size axis, WindowAxis *to) {
  World *w = l->o->w;
  int64_t coef[2], c0, beyond;
  uint32_t index[2], n = 0;
  if (!size_value(w, c->c, &c0) || c0 > 0) return false;
  for (uint32_t i = 0; i < c->n; i++) {
    const Term *t = &c->term[i];
    if (t->operand) return false;
    if (arrays_is_one(l->o, index_size(l, t->var))) continue;
    if (n == 2 || !size_value(w, t->coef, &coef[n]) || coef[n] < 1) return false;
    index[n++] = t->var;
  }
  if (n != 2) return false;
  *to = (WindowAxis){index[0], index[1], coef[0], coef[1], -c0, 0, 0};
  Size last = size_sub(w, c->c, axis); // how far the last window exceeds the axis
  for (uint32_t i = 0; i < 2; i++)
    last = size_add(
        w, last,
        size_mul(w, size_of(w, coef[i]), size_sub(w, index_size(l, index[i]), size_of(w, 1))));
  if (!size_value(w, size_add(w, last, size_of(w, 1)), &beyond)) return false;
  to->behind = beyond;
  return true;
}

static void turn_window(WindowAxis *x) {
  *x = (WindowAxis){x->inner, x->outer, x->dilation, x->stride, x->before, x->behind, 0};
}

// Classifies the coordinates of an access as plain axes and windows.
static bool read_access(WindowWork *k, const Access *a, const Size *dim, bool *has, bool windows) {
  LoopWork *l = k->l;
  for (uint32_t i = 0; i < a->rank; i++) {
    uint32_t index, n, one[ARRAY_RANK_LIMIT];
    if (a->padded) return false;
    if (coord_is_whole(l, &a->coord[i], dim[i], &index)) {
      if (has[index]) return false;
      has[index] = true;
    } else if (coord_counts(l, &a->coord[i], dim[i], &n, one) && !n) {
      continue; // an axis of size 1
    } else if (!windows || k->windows == WINDOWS_MOST ||
               !window_axis(l, &a->coord[i], dim[i], &k->window[k->windows++])) {
      return false;
    }
  }
  return true;
}

static void add_index(WindowIndices *to, uint32_t index) { to->at[to->n++] = index; }

static Size size_of_indices(const LoopWork *l, const WindowIndices *of) {
  Size all = arrays_one(l->o);
  for (uint32_t i = 0; i < of->n; i++) all = size_mul(l->o->w, all, index_size(l, of->at[i]));
  return all;
}

// -- transposes -----------------------------------------------------------------------------------
// An operand transposed to this order of axes, then reshaped.
static Id transposed_operand(LoopWork *l, uint32_t operand, const WindowIndices *order,
                             uint32_t rank, const Size *dim) {
  ArrayGraph *o = l->o;
  const Access *a = &l->loop->in[operand];
  GraphValue v = *arrays_value(o, l->in[operand]);
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, a->rank + 1), n = 0;
  bool *used = NEW_ARRAY(o->a, bool, a->rank + 1);
  for (uint32_t k = 0; k < order->n; k++)
    for (uint32_t i = 0; i < a->rank; i++)
      for (uint32_t t = 0; t < a->coord[i].n; t++)
        if (!used[i] && a->coord[i].term[t].var == order->at[k]) axis[n++] = i, used[i] = true;
  for (uint32_t i = 0; i < a->rank; i++)
    if (!used[i] && arrays_is_one(o, v.dim[i])) axis[n++] = i;
  return arrays_reshape(o, arrays_transpose(o, l->in[operand], axis), rank, dim);
}

// Transposes [batch, channels…, places…] to the order of the output.
static Id transposed_output(WindowWork *k, Id value, const WindowIndices *order) {
  LoopWork *l = k->l;
  Placed p = {.rank = order->n, .index = (uint32_t *)(uintptr_t)order->at};
  Size *dim = NEW_ARRAY(l->o->a, Size, order->n + 1);
  for (uint32_t i = 0; i < order->n; i++) dim[i] = index_size(l, order->at[i]);
  p.value = arrays_reshape(l->o, value, order->n, dim);
  LoopWork small = *l;
  small.n = l->kept;
  return put_output(&small, place_on_box(&small, &p));
}

static void window_attributes(WindowWork *k, Id node, bool kernel) {
  ArrayGraph *o = k->l->o;
  int64_t stride[WINDOWS_MOST], dilation[WINDOWS_MOST], shape[WINDOWS_MOST], pads[2 * WINDOWS_MOST];
  for (uint32_t i = 0; i < k->windows; i++) {
    const WindowAxis *x = &k->window[i];
    stride[i] = x->stride;
    dilation[i] = x->dilation;
    arrays_is_number(o, index_size(k->l, x->inner), &shape[i]);
    pads[i] = x->before;
    pads[k->windows + i] = x->behind > 0 ? x->behind : 0;
  }
  if (kernel) arrays_attribute_list(o, node, "kernel_shape", k->windows, shape);
  arrays_attribute_list(o, node, "strides", k->windows, stride);
  arrays_attribute_list(o, node, "dilations", k->windows, dilation);
  arrays_attribute_list(o, node, "pads", 2 * k->windows, pads);
}

// If the last window ends before the axis, ONNX may compute more windows than there are.
static bool has_no_further_window(const WindowWork *k) {
  for (uint32_t i = 0; i < k->windows; i++)
    if (k->window[i].behind <= -k->window[i].stride) return false;
  return true;
}

// -- convolutions ---------------------------------------------------------------------------------
// Assigns roles to the plain indices; false: an index fits none.
static bool assign_roles(WindowWork *k) {
  const Loop *loop = k->l->loop;
  for (uint32_t i = 0; i < loop->nindex; i++) {
    bool x = k->in_picture[i], w = k->in_kernel[i], y = k->in_out[i], inside = false;
    for (uint32_t n = 0; n < k->windows; n++)
      inside |= k->window[n].outer == i || k->window[n].inner == i;
    if (inside || arrays_is_one(k->l->o, loop->index[i].size)) continue;
    if (x && !w && y)
      add_index(&k->batch, i);
    else if (x && w)
      add_index(y ? &k->group : &k->channel, i);
    else if (w && y)
      add_index(&k->feature, i);
    else
      return false;
  }
  return true;
}

static bool numbers_are_known(WindowWork *k) {
  int64_t n;
  for (uint32_t i = 0; i < k->windows; i++)
    if (!arrays_is_number(k->l->o, index_size(k->l, k->window[i].inner), &n)) return false;
  return arrays_is_number(k->l->o, size_of_indices(k->l, &k->group), &n);
}

static void append(WindowIndices *to, const WindowIndices *from) {
  for (uint32_t i = 0; i < from->n; i++) add_index(to, from->at[i]);
}

// The input as [batch, group · channel, places…].
static Id transposed_input(WindowWork *k) {
  LoopWork *l = k->l;
  WindowIndices order = {0};
  Size dim[2 + WINDOWS_MOST];
  append(&order, &k->batch);
  append(&order, &k->group);
  append(&order, &k->channel);
  dim[0] = size_of_indices(l, &k->batch);
  dim[1] = size_mul(l->o->w, size_of_indices(l, &k->group), size_of_indices(l, &k->channel));
  GraphValue v = *arrays_value(l->o, l->in[k->picture]);
  const Access *a = &l->loop->in[k->picture];
  for (uint32_t i = 0; i < k->windows; i++) {
    add_index(&order, k->window[i].outer);
    for (uint32_t at = 0; at < a->rank; at++)
      for (uint32_t t = 0; t < a->coord[at].n; t++)
        if (a->coord[at].term[t].var == k->window[i].outer) dim[2 + i] = v.dim[at];
  }
  return transposed_operand(l, k->picture, &order, 2 + k->windows, dim);
}

// The kernel as [group · feature, channel, window…]; for a transposed convolution [group · channel,
// feature, window…].
static Id transposed_kernel(WindowWork *k, bool transposed) {
  LoopWork *l = k->l;
  const WindowIndices *first = transposed ? &k->channel : &k->feature,
                      *second = transposed ? &k->feature : &k->channel;
  WindowIndices order = {0};
  Size dim[2 + WINDOWS_MOST];
  append(&order, &k->group);
  append(&order, first);
  append(&order, second);
  dim[0] = size_mul(l->o->w, size_of_indices(l, &k->group), size_of_indices(l, first));
  dim[1] = size_of_indices(l, second);
  for (uint32_t i = 0; i < k->windows; i++) {
    add_index(&order, k->window[i].inner);
    dim[2 + i] = index_size(l, k->window[i].inner);
  }
  return transposed_operand(l, k->kernel, &order, 2 + k->windows, dim);
}

static Id convolved(WindowWork *k, const char *op, bool transposed, const Size *places) {
  ArrayGraph *o = k->l->o;
  Id in[] = {transposed_input(k), transposed_kernel(k, transposed)};
  Size dim[2 + WINDOWS_MOST];
  int64_t groups = 1;
  arrays_is_number(o, size_of_indices(k->l, &k->group), &groups);
  dim[0] = size_of_indices(k->l, &k->batch);
  dim[1] = size_mul(o->w, size_of(o->w, groups), size_of_indices(k->l, &k->feature));
  for (uint32_t i = 0; i < k->windows; i++) dim[2 + i] = places[i];
  Id made =
      arrays_node(o, op, 2, in, &(GraphValue){.type = o->real, .rank = 2 + k->windows, .dim = dim});
  arrays_attribute_number(o, made, "group", groups);
  return made;
}

static Id known_convolution(WindowWork *k) {
  LoopWork *l = k->l;
  Size places[WINDOWS_MOST];
  if (!k->windows || !assign_roles(k) || !numbers_are_known(k) || !has_no_further_window(k))
    return 0;
  if (k->windows == 1 && !k->channel.n && !k->window[0].before && k->window[0].behind <= 0)
    return 0; // this is a plain matrix product
  WindowIndices order = {0};
  append(&order, &k->batch);
  append(&order, &k->group);
  append(&order, &k->feature);
  for (uint32_t i = 0; i < k->windows; i++) {
    const WindowAxis *x = &k->window[i];
    if (!k->in_out[x->outer] || k->in_out[x->inner] || !k->in_kernel[x->inner] ||
        k->in_kernel[x->outer])
      return 0;
    places[i] = index_size(l, x->outer);
    add_index(&order, x->outer);
  }
  Id made = convolved(k, "Conv", false, places);
  window_attributes(k, made, true);
  return transposed_output(k, made, &order);
}

// -- transposed convolutions ----------------------------------------------------------------------
// The window is in the output; the kernel has the other index.
static Id known_transposed(WindowWork *k, const Type *out) {
  LoopWork *l = k->l;
  ArrayGraph *o = l->o;
  Size places[WINDOWS_MOST];
  int64_t more[WINDOWS_MOST];
  if (!k->windows || !assign_roles(k) || !numbers_are_known(k)) return 0;
  WindowIndices order = {0};
  append(&order, &k->batch);
  append(&order, &k->group);
  append(&order, &k->feature);
  for (uint32_t i = 0; i < k->windows; i++) {
    WindowAxis *x = &k->window[i];
    if (!k->in_picture[x->outer] || !k->in_kernel[x->inner] || k->in_kernel[x->outer] ||
        k->in_picture[x->inner])
      return 0;
    more[i] = x->behind < 0 ? -x->behind : 0;
    if (more[i] && more[i] >= x->stride) return 0;
    add_index(&order, x->outer);
  }
  for (uint32_t i = 0; i < k->windows; i++)
    for (uint32_t a = 0; a < out->rank; a++)
      for (uint32_t t = 0; t < l->loop->out.coord[a].n; t++)
        if (l->loop->out.coord[a].term[t].var == k->window[i].outer) places[i] = out->axis[a].size;
  Id made = convolved(k, "ConvTranspose", true, places);
  window_attributes(k, made, true);
  arrays_attribute_list(o, made, "output_padding", k->windows, more);
  // From [batch, group · feature, places…] to the order of the output.
  uint32_t *axis = NEW_ARRAY(o->a, uint32_t, out->rank + 1), n = 0;
  Size *dim = NEW_ARRAY(o->a, Size, order.n + 1), *to = NEW_ARRAY(o->a, Size, out->rank + 1);
  for (uint32_t i = 0; i < order.n; i++)
    dim[i] =
        i + k->windows < order.n ? index_size(l, order.at[i]) : places[i + k->windows - order.n];
  made = arrays_reshape(o, made, order.n, dim);
  for (uint32_t a = 0; a < out->rank; a++) {
    to[a] = out->axis[a].size;
    for (uint32_t i = 0; i < order.n; i++)
      for (uint32_t t = 0; t < l->loop->out.coord[a].n; t++)
        if (l->loop->out.coord[a].term[t].var == order.at[i]) axis[n++] = i;
  }
  return n == order.n ? arrays_reshape(o, arrays_transpose(o, made, axis), out->rank, to) : 0;
}

// -- pools ----------------------------------------------------------------------------------------
static Id known_pool(WindowWork *k) {
  LoopWork *l = k->l;
  ArrayGraph *o = l->o;
  bool largest = l->loop->combine == MAX;
  WindowIndices order = {0}, rest = {0};
  int64_t n, cells = 1;
  if (!k->windows || !has_no_further_window(k)) return 0;
  for (uint32_t i = 0; i < l->loop->nindex; i++) {
    if (!k->in_picture[i]) continue;
    if (!k->in_out[i]) return 0;
    add_index(k->batch.n ? &rest : &k->batch, i);
  }
  for (uint32_t i = 0; i < k->windows; i++) {
    const WindowAxis *x = &k->window[i];
    if (!k->in_out[x->outer] || k->in_out[x->inner]) return 0;
    if (!arrays_is_number(o, index_size(l, x->inner), &n) || x->before >= n || x->behind >= n)
      return 0;
    cells *= n;
  }
  if (rest.n) k->channel = rest;
  append(&order, &k->batch);
  append(&order, &k->channel);
  Id in = transposed_input(k);
  GraphValue v = *arrays_value(o, in);
  v.dim = arena_copy(o->a, v.dim, v.rank * sizeof *v.dim);
  for (uint32_t i = 0; i < k->windows; i++) {
    v.dim[2 + i] = index_size(l, k->window[i].outer);
    add_index(&order, k->window[i].outer);
  }
  Id made = arrays_node(o, largest ? "MaxPool" : "AveragePool", 1, &in, &v);
  window_attributes(k, made, true);
  if (!largest) arrays_attribute_number(o, made, "count_include_pad", 1);
  if (!largest)
    made = arrays_each(o, "Mul", v.type, 2,
                       (const Id[]){made, arrays_number(o, v.type, (double)cells)});
  return transposed_output(k, made, &order);
}

// -- the whole ------------------------------------------------------------------------------------
static const Size *sizes_of(LoopWork *l, const Type *t) {
  Size *dim = NEW_ARRAY(l->o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  return dim;
}

static WindowWork window_work(LoopWork *l, uint32_t picture) {
  uint32_t n = l->loop->nindex + 1;
  return (WindowWork){.l = l,
                      .picture = picture,
                      .kernel = 1 - picture,
                      .in_picture = NEW_ARRAY(l->o->a, bool, n),
                      .in_kernel = NEW_ARRAY(l->o->a, bool, n),
                      .in_out = NEW_ARRAY(l->o->a, bool, n)};
}

// The strided index is the kept one, or the one of the input.
static void swap_window_roles(WindowWork *k, const bool *outer) {
  for (uint32_t i = 0; i < k->windows; i++)
    if (!outer[k->window[i].outer]) turn_window(&k->window[i]);
}

static Id product_window(LoopWork *l, uint32_t picture, const Type *out) {
  WindowWork k = window_work(l, picture);
  const Size *x = arrays_value(l->o, l->in[picture])->dim,
             *w = arrays_value(l->o, l->in[1 - picture])->dim;
  if (!read_access(&k, &l->loop->in[picture], x, k.in_picture, true) ||
      !read_access(&k, &l->loop->in[1 - picture], w, k.in_kernel, false))
    return 0;
  if (k.windows) {
    if (!read_access(&k, &l->loop->out, sizes_of(l, out), k.in_out, false)) return 0;
    swap_window_roles(&k, k.in_out);
    return known_convolution(&k);
  }
  if (!read_access(&k, &l->loop->out, sizes_of(l, out), k.in_out, true)) return 0;
  swap_window_roles(&k, k.in_picture);
  return known_transposed(&k, out);
}

Id known_window(LoopWork *l) {
  const Loop *loop = l->loop;
  const Type *out = &l->d->wire.at[l->box->out[0]].type;
  bool of[2] = {false, false};
  if (out->base != BASE_R || !loop->nin || loop->nin > 2) return 0;
  if (l->o->real != OUT_FLOAT && !l->o->calls) return 0; // ONNX Runtime has no Conv for doubles
  if (loop->nin == 2) {
    if (!loop_is_product(loop, of) || !of[0] || !of[1]) return 0;
    Id made = product_window(l, 0, out);
    return made ? made : product_window(l, 1, out);
  }
  WindowWork k = window_work(l, 0);
  if (loop->scalar[loop->nscalar - 1].fn != FN_ARG ||
      (loop->combine != SUM && loop->combine != MAX))
    return 0;
  if (!read_access(&k, &loop->in[0], arrays_value(l->o, l->in[0])->dim, k.in_picture, true) ||
      !read_access(&k, &loop->out, sizes_of(l, out), k.in_out, false))
    return 0;
  swap_window_roles(&k, k.in_out);
  return known_pool(&k);
}
