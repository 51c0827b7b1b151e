// Resize: along each axis a result is a weighted sum with constant weights. Nearest neighbour
// becomes a gather, linear interpolation a formula, other modes a matrix.
#include "port/import/own.h"

#include <math.h>

enum { RESIZE_LIMIT = 1 << 24 }; // elements of a matrix

typedef struct {
  int64_t in, out;
  double scale, start, end; // start, end: a region of interest, from 0 to 1
  bool asked;               // the axis is resized
} ResizeAxis;

typedef struct {
  const char *mode, *coordinates, *nearest;
  bool antialias, exclude;
  bool single; // compute in float: the nearest neighbour depends on the last bit
  double a;    // of cubic interpolation
  ResizeAxis axis[ONNX_RANK_LIMIT];
} Resizing;

// -- padding --------------------------------------------------------------------------------------
static double round_to_float(double x) { return (double)(float)x; }

static double original(const Resizing *r, const ResizeAxis *x, int64_t o) {
  double at = (double)o, in = (double)x->in, out = (double)x->out, half = 0.5;
  if (!strcmp(r->coordinates, "align_corners"))
    return x->out > 1 ? at * (in - 1) / (x->scale * in - 1) : 0;
  if (!strcmp(r->coordinates, "half_pixel_symmetric"))
    return in / 2 * (1 - out / (x->scale * in)) + (at + 0.5) / x->scale - 0.5;
  if (!strcmp(r->coordinates, "tf_crop_and_resize"))
    return x->out > 1 ? x->start * (in - 1) + at * (x->end - x->start) * (in - 1) / (out - 1)
                      : 0.5 * (x->start + x->end) * (in - 1);
  if (!strcmp(r->coordinates, "pytorch_half_pixel") && x->out == 1) return 0;
  if (!strcmp(r->coordinates, "asymmetric")) at -= 0.5, half = 0;
  if (!strcmp(r->coordinates, "tf_half_pixel_for_nn")) half = 0;
  double there = (at + 0.5) / x->scale;
  return r->single ? round_to_float(round_to_float(there) - half) : there - half;
}

static int64_t clamped(double at, int64_t size) {
  return at < 0 ? 0 : at > (double)size - 1 ? size - 1 : (int64_t)at;
}

static int64_t nearest(const Resizing *r, const ResizeAxis *x, int64_t o) {
  double at = original(r, x, o), down = floor(at);
  if (!strcmp(r->nearest, "floor")) return clamped(down, x->in);
  if (!strcmp(r->nearest, "ceil")) return clamped(ceil(at), x->in);
  bool up = !strcmp(r->nearest, "round_prefer_ceil") ? at - down >= 0.5 : at - down > 0.5;
  return clamped(down + up, x->in);
}

// -- weights --------------------------------------------------------------------------------------
static double kernel(const Resizing *r, double x) {
  x = fabs(x);
  if (!strcmp(r->mode, "linear")) return x < 1 ? 1 - x : 0;
  if (x <= 1) return (r->a + 2) * x * x * x - (r->a + 3) * x * x + 1;
  return x < 2 ? r->a * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

// A row of the matrix: positions out of bounds are clamped or have weight 0.
static void fill_weights(const Resizing *r, const ResizeAxis *x, int64_t o, double *row) {
  double at = original(r, x, o), stretch = r->antialias && x->scale < 1 ? x->scale : 1, sum = 0;
  double reach = (!strcmp(r->mode, "linear") ? 1 : 2) / stretch;
  for (int64_t k = (int64_t)floor(at - reach); k <= (int64_t)ceil(at + reach); k++) {
    bool outside = k < 0 || k >= x->in;
    double w = outside && r->exclude ? 0 : kernel(r, ((double)k - at) * stretch);
    row[clamped((double)k, x->in)] += w;
    sum += w;
  }
  for (int64_t k = 0; k < x->in && sum != 0; k++) row[k] /= sum;
}

static Id add_weighted_sum(ImpNode *n, Id v, uint32_t axis, const Resizing *r) {
  Importer *m = n->m;
  const ResizeAxis *x = &r->axis[axis];
  ImpShape shape = value_at(m, v)->shape, matrix = {2, {dim_of(x->out), dim_of(x->in)}};
  double *data = NEW_ARRAY(m->arena, double, x->in * x->out);
  const char *at[ONNX_RANK_LIMIT], *from = imp_letter[ONNX_RANK_LIMIT];
  for (int64_t o = 0; o < x->out; o++) fill_weights(r, x, o, data + o * x->in);
  Id w = value_const(m, ONNX_DOUBLE, &matrix, data);
  for (uint32_t i = 0; i < shape.rank; i++) at[i] = i == axis ? from : imp_letter[i];
  return equation(n, IN(v, w), "[%s] = $0[%s] $1[%s %s]", index_letters(m, shape.rank),
                  join_words(m, shape.rank, at), imp_letter[axis], from);
}

// Linear interpolation of two neighbours, as a formula of the index.
static Id add_linear_resize(ImpNode *n, Id v, uint32_t axis, const Resizing *r) {
  Importer *m = n->m;
  const ResizeAxis *x = &r->axis[axis];
  ImpShape shape = value_at(m, v)->shape;
  const char *at[ONNX_RANK_LIMIT], *from = imp_letter[ONNX_RANK_LIMIT], *here = imp_letter[axis];
  double zero = original(r, x, 0),
         step = x->out > 1 ? (original(r, x, x->out - 1) - zero) / (double)(x->out - 1) : 0;
  for (uint32_t i = 0; i < shape.rank; i++) at[i] = i == axis ? from : imp_letter[i];
  shape.dim[axis] = dim_of(x->out);
  const char *place =
      arena_format(m->arena, "min(max(%s * %s + %s, 0), %lld)", number_term(m, step), here,
                   number_term(m, zero), (long long)x->in - 1);
  return equation(n, IN(v), "[%s] = sum[%s]($0[%s] * max(1 - abs(%s - %s), 0))",
                  letters_sized(m, &shape, axis, axis + 1), from, join_words(m, shape.rank, at),
                  place, from);
}

// Nearest neighbour: integer repetition, or a list of positions.
static Id add_nearest_resize(ImpNode *n, Id v, uint32_t axis, const Resizing *r) {
  Importer *m = n->m;
  const ResizeAxis *x = &r->axis[axis];
  int64_t *place = NEW_ARRAY(m->arena, int64_t, x->out), times = x->out / x->in;
  bool even = times > 1 && x->out % x->in == 0;
  for (int64_t o = 0; o < x->out; o++) {
    place[o] = nearest(r, x, o);
    even = even && place[o] == o / times;
  }
  if (!even) return add_gather(n, v, axis, place, x->out);
  uint32_t rank = value_at(m, v)->shape.rank;
  const char *left[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < rank; i++) left[i] = imp_letter[i];
  left[axis] = arena_format(m->arena, "(%s %s:%lld)", imp_letter[axis], imp_letter[ONNX_RANK_LIMIT],
                            (long long)times);
  return equation(n, IN(v), "[%s] = $0[%s]", join_words(m, rank, left), index_letters(m, rank));
}

// -- sizes ----------------------------------------------------------------------------------------
// One scale for all axes, to preserve the aspect ratio.
static void keep_aspect(const char *policy, ResizeAxis *axis, uint32_t rank) {
  bool larger = !strcmp(policy, "not_smaller");
  double scale = larger ? 0 : (double)INFINITY;
  if (strcmp(policy, "not_smaller") != 0 && strcmp(policy, "not_larger") != 0) return;
  for (uint32_t i = 0; i < rank; i++)
    if (axis[i].asked) scale = larger ? fmax(scale, axis[i].scale) : fmin(scale, axis[i].scale);
  for (uint32_t i = 0; i < rank; i++)
    if (axis[i].asked)
      axis[i].scale = scale, axis[i].out = whole_of(floor(scale * (double)axis[i].in + 0.5));
}

static bool resize_axis(ImpNode *n, ResizeAxis *x, double scale, double size, bool crop) {
  x->asked = true;
  x->scale = size > 0 ? size / (double)x->in : scale;
  double part = crop ? round_to_float(round_to_float(x->end - x->start) * scale) : scale;
  // In float, as other implementations compute it.
  double out = size > 0 ? size : floor(round_to_float((double)x->in * part));
  if (!(out >= 1 && out < 1 << 24)) return op_refuse(n, "%g is no size", out);
  x->out = (int64_t)out;
  return true;
}

static bool resize_read(ImpNode *n, const ImpShape *x, Resizing *r) {
  bool old = !strcmp(n->node->op, "Upsample") || n->version < 11,
       crop = !strcmp(r->coordinates, "tf_crop_and_resize");
  const OnnxAttribute *listed = onnx_attribute(n->node, "scales");
  uint32_t k = old ? 1 : 2;
  bool sized = !old && op_in(n, 3) && shape_count(&op_value(n, 3)->shape) > 0;
  ImpInts axes = attr_ints(n, "axes");
  if (sized) k = 3;
  if (!listed && !op_known(n, k)) return false;
  uint32_t count = axes.there ? axes.n : x->rank;
  int64_t have = listed ? listed->floats.n : shape_count(&op_value(n, k)->shape);
  if (have != count)
    return op_refuse(n, "%lld scales or sizes for %u axes", (long long)have, count);
  const double *roi =
      crop && op_in(n, 1) && op_known(n, 1) && shape_count(&op_value(n, 1)->shape) == 2 * count
          ? op_value(n, 1)->data
          : NULL;
  if (crop && !roi) return op_refuse(n, "its region is not known");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis;
    if (!op_axis(n, axes.there ? axes.at[i] : i, x->rank, &axis)) return false;
    double given = listed ? (double)listed->floats.at[i] : op_value(n, k)->data[i];
    ResizeAxis *to = &r->axis[axis];
    if (roi) to->start = roi[i], to->end = roi[count + i];
    if (x->dim[axis].text && given == 1 && !sized) continue;
    if (x->dim[axis].text)
      return op_refuse(n, "axis %u has size %s, and a number is wanted there", axis,
                       x->dim[axis].text);
    if (!resize_axis(n, to, given, sized ? given : 0, roi != NULL)) return false;
  }
  if (sized) keep_aspect(attr_text(n, "keep_aspect_ratio_policy", "stretch"), r->axis, x->rank);
  return true;
}

// A region has a constant outside of the image.
static Id add_region_constant(ImpNode *n, Id v, const Resizing *r) {
  Importer *m = n->m;
  ImpShape shape = value_at(m, v)->shape;
  Id in[ONNX_RANK_LIMIT + 1] = {v};
  Buf inside = buf_new(m->arena);
  for (uint32_t i = 0; i < shape.rank; i++) {
    const ResizeAxis *x = &r->axis[i];
    bool all = true;
    if (!x->asked) continue;
    double *data = NEW_ARRAY(m->arena, double, x->out);
    for (int64_t o = 0; o < x->out; o++) {
      double at = original(r, x, o);
      data[o] = at >= 0 && at <= (double)x->in - 1;
      all = all && data[o] != 0;
    }
    if (all) continue;
    in[1 + i] = value_const(m, ONNX_BOOL, &(ImpShape){1, {dim_of(x->out)}}, data);
    buf_printf(&inside, "%s$%u[%s]", inside.n ? " and " : "", 1 + i, imp_letter[i]);
  }
  if (!inside.n) return v;
  return add_equation(n, value_at(m, v)->type, in, "[*] = $0 when %s else %s", inside.at,
                      short_term(m, attr_float(n, "extrapolation_value", 0)));
}

bool op_resize(ImpNode *n) {
  Importer *m = n->m;
  bool old = !strcmp(n->node->op, "Upsample") || n->version < 11;
  Resizing *r = NEW(m->arena, Resizing);
  r->mode = attr_text(n, "mode", "nearest");
  r->single = !strcmp(r->mode, "nearest");
  r->coordinates =
      old ? "asymmetric" : attr_text(n, "coordinate_transformation_mode", "half_pixel");
  r->nearest = old ? "floor" : attr_text(n, "nearest_mode", "round_prefer_floor");
  r->antialias = attr_int(n, "antialias", 0), r->exclude = attr_int(n, "exclude_outside", 0);
  r->a = (double)attr_float(n, "cubic_coeff_a", -0.75F);
  ImpShape x = op_value(n, 0)->shape;
  for (uint32_t i = 0; i < x.rank; i++)
    r->axis[i] = (ResizeAxis){.in = x.dim[i].n, .out = x.dim[i].n, .scale = 1, .end = 1};
  if (!resize_read(n, &x, r)) return false;
  bool near = r->single, crop = !strcmp(r->coordinates, "tf_crop_and_resize");
  bool linear = !strcmp(r->mode, "linear") && !r->antialias && !r->exclude;
  Id v = n->in[0];
  for (uint32_t i = 0; i < x.rank; i++) {
    const ResizeAxis *a = &r->axis[i];
    bool stays = a->in == a->out && a->scale == 1 && original(r, a, 0) == 0;
    if (!a->asked || (stays && !crop)) continue;
    if (!near && !linear && a->in > RESIZE_LIMIT / a->out)
      return op_refuse(n, "weights of %lld by %lld places are too many", (long long)a->out,
                       (long long)a->in);
    v = near     ? add_nearest_resize(n, v, i, r)
        : linear ? add_linear_resize(n, v, i, r)
                 : add_weighted_sum(n, v, i, r);
  }
  op_set_result(n, 0, crop ? add_region_constant(n, v, r) : v);
  return true;
}
