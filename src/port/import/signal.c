// Signal processing: window functions, Fourier transforms, and affine grids.
#include "base/diag.h"
#include "port/import/own.h"

#include <math.h>

static const double circle = 6.283185307179586;

// -- windows: numbers that only depend on a size --------------------------------------------------
bool op_window(ImpNode *n) {
  double size, a, b, c;
  bool hann = !strcmp(n->node->op, "HannWindow"), hamming = !strcmp(n->node->op, "HammingWindow");
  if (!op_scalar(n, 0, &size)) return false;
  if (!(size >= 1 && size <= 1 << 20)) return op_refuse(n, "%g is not a size of a window", size);
  int64_t type = attr_int(n, "output_datatype", ONNX_FLOAT);
  if (type < 1 || type >= ONNX_TYPES || !is_float((OnnxType)type))
    return op_refuse(n, "its numbers are no floats");
  double around = attr_int(n, "periodic", 1) ? size : size - 1;
  a = hann ? 0.5 : hamming ? 25.0 / 46 : 0.42;
  b = hann ? 0.5 : hamming ? 1 - 25.0 / 46 : 0.5;
  c = hann || hamming ? 0 : 0.08;
  double *data = NEW_ARRAY(n->m->arena, double, (int64_t)size);
  for (int64_t i = 0; i < (int64_t)size; i++) {
    double at = around > 0 ? circle * (double)i / around : 0;
    data[i] = a - b * cos(at) + c * cos(2 * at);
  }
  ImpShape shape = {1, {dim_of((int64_t)size)}};
  op_set_result(n, 0, value_const(n->m, (OnnxType)type, &shape, data));
  return true;
}

// -- Fourier transforms ---------------------------------------------------------------------------
// y[k] = Σ x[t] exp(∓2πi k t / n), where the last axis holds real and imaginary part. `at`: the
// letters of y without it; t is summed.
typedef struct {
  const char *in, *left; // without the last axis
  const char *k, *t;     // letters of frequency and time
  ImpSize n;             // the transform length
  bool complex, inverse;
} Fourier;

static Id add_fourier(ImpNode *n, Id v, const Fourier *f) {
  Importer *m = n->m;
  const char *part = imp_letter[value_at(m, v)->shape.rank - 1], *size = dim_inside(m, f->n);
  const char *angle = arena_format(m->arena, "%s * mod(%s*%s, %s) / %s", number_term(m, circle),
                                   f->k, f->t, size, size);
  const char *sign = f->inverse ? "" : "0 - ", *other = f->inverse ? "0 - " : "";
  const char *scale = f->inverse ? arena_format(m->arena, " / %s", size) : "";
  const char *imaginary =
      f->complex ? arena_format(m->arena, " + $0[%s 1] * (%ssin(%s) when (%s = 0) else cos(%s))",
                                f->in, other, angle, part, angle)
                 : "";
  return equation(n, IN(v),
                  "[%s %s:2] = sum[%s]($0[%s 0] * (cos(%s) when (%s = 0) else %ssin(%s))%s)%s",
                  f->left, part, f->t, f->in, angle, part, sign, angle, imaginary, scale);
}

// Truncates the signal, or pads it with zeros.
static Id to_length(ImpNode *n, Id v, uint32_t axis, int64_t length) {
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  ImpSize size = value_at(n->m, v)->shape.dim[axis];
  if (size.text) return v;
  after[axis] = length - size.n;
  return add_pad(n, v, before, after, 0);
}

bool op_dft(ImpNode *n) {
  Importer *m = n->m;
  double number, axis_at = (double)attr_int(n, "axis", n->version < 20 ? 1 : -2);
  uint32_t axis;
  bool one = attr_int(n, "onesided", 0), inverse = attr_int(n, "inverse", 0);
  if (n->version >= 20 && op_in(n, 2) && !op_scalar(n, 2, &axis_at)) return false;
  ImpShape x = op_value(n, 0)->shape;
  if (x.rank < 2 || !op_axis(n, whole_of(axis_at), x.rank, &axis) || axis + 1 == x.rank)
    return m->diags->errors
               ? false
               : op_refuse(n, "it wants an axis of places and one of real and imaginary parts");
  Id v = n->in[0];
  if (op_in(n, 1)) {
    if (!op_scalar(n, 1, &number)) return false;
    if (!(number >= 1 && number < 1 << 30) || !(v = to_length(n, v, axis, (int64_t)number)))
      return op_refuse(n, "%g is no length", number);
    x = value_at(m, v)->shape;
  }
  if (one && inverse) return op_refuse(n, "the inverse of one side is not known");
  ImpSize half = dim_op(m, '+', dim_op(m, '/', x.dim[axis], dim_of(2)), dim_of(1));
  const char *in[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < x.rank; i++)
    in[i] = i == axis ? imp_letter[ONNX_RANK_LIMIT] : imp_letter[i];
  Fourier f = {.in = join_words(m, x.rank - 1, in),
               .k = imp_letter[axis],
               .t = imp_letter[ONNX_RANK_LIMIT],
               .n = x.dim[axis],
               .complex = dim_is(x.dim[x.rank - 1], 2),
               .inverse = inverse};
  x.rank--;
  if (one) x.dim[axis] = half;
  f.left = letters_sized(m, &x, axis, axis + 1);
  return op_set_result(n, 0, add_fourier(n, v, &f));
}

// STFT: frames of the signal, windowed and transformed.
bool op_stft(ImpNode *n) {
  Importer *m = n->m;
  double step, length = 0;
  if (!op_scalar(n, 1, &step) || !op_fixed(n, 0)) return false;
  ImpShape x = op_value(n, 0)->shape;
  if (op_in(n, 3) && !op_scalar(n, 3, &length)) return false;
  if (!op_in(n, 3) && op_in(n, 2)) length = (double)op_value(n, 2)->shape.dim[0].n;
  if (x.rank < 2 || !(length >= 1 && length <= (double)x.dim[1].n) ||
      !(step >= 1 && step < 1 << 30))
    return op_refuse(n, "its frames do not fit the signal");
  int64_t frame = (int64_t)length, by = (int64_t)step, frames = (x.dim[1].n - frame) / by + 1;
  bool complex = x.rank == 3 && dim_is(x.dim[2], 2), one = attr_int(n, "onesided", 1) && !complex;
  const char *at = arena_format(m->arena, "i %lld*j+k%s", (long long)by, x.rank == 3 ? " l" : "");
  Id v = equation(n, n->in, "[i j:%lld k:%lld l%s] = $0[%s]%s", (long long)frames, (long long)frame,
                  x.rank == 3 ? "" : ":1", at, op_in(n, 2) ? " * $2[k]" : "");
  const char *t = imp_letter[ONNX_RANK_LIMIT];
  Fourier f = {.in = arena_format(m->arena, "i j %s", t),
               .left =
                   arena_format(m->arena, "i j k:%lld", (long long)(one ? frame / 2 + 1 : frame)),
               .k = "k",
               .t = t,
               .n = dim_of(frame),
               .complex = complex};
  return op_set_result(n, 0, v ? add_fourier(n, v, &f) : 0);
}

// -- AffineGrid -----------------------------------------------------------------------------------
// Positions from -1 to 1 along each axis, last axis first, and 1; times a matrix per sample.
bool op_affinegrid(ImpNode *n) {
  Importer *m = n->m;
  ImpShape size;
  bool align = attr_int(n, "align_corners", 0);
  if (!op_sizes(n, 1, &size)) return false;
  if (size.rank < 4 || size.rank > 5) return op_refuse(n, "its grid has two or three axes");
  uint32_t axes = size.rank - 2;
  Buf right = buf_new(m->arena);
  const char *to = imp_letter[axes + 1];
  for (uint32_t i = 0; i < axes; i++) {
    uint32_t axis = axes - 1 - i;
    const char *letter = imp_letter[1 + axis], *places = dim_inside(m, size.dim[2 + axis]);
    const char *at = align ? arena_format(m->arena, "(2 * %s / max(%s - 1, 1) - 1)", letter, places)
                           : arena_format(m->arena, "((2 * %s + 1) / %s - 1)", letter, places);
    size.dim[1 + i] = size.dim[2 + i];
    buf_printf(&right, "$0[i %s %u] * %s + ", to, i, at);
  }
  size.rank--;
  return op_gives(n, "[%s %s:%u] = %s$0[i %s %u]", letters_sized(m, &size, 1, axes + 1), to, axes,
                  right.at, to, axes);
}
