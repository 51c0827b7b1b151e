// Convolutions: affine indices on the right; for transposed ones, on the left.
#include "port/import/window.h"

// -- Conv -----------------------------------------------------------------------------------------
// i batch, j output channel in its group, k l … positions; c1 input channel, g group.
#define GROUP imp_letter[IMP_LETTERS - 1]
#define CHANNEL imp_letter[IMP_LETTERS - 2]

Id add_convolution(ImpNode *n, Id x, Id w, Id bias, OnnxType type) {
  Importer *m = n->m;
  ImpShape xs = value_at(m, x)->shape, ws = value_at(m, w)->shape;
  int64_t group = attr_int(n, "group", 1);
  Window win;
  if (ws.rank != xs.rank || !window_read_any(n, &xs, ws.dim + 2, &win)) {
    if (ws.rank != xs.rank)
      op_refuse(n, "its weights have %u axes, its input %u", ws.rank, xs.rank);
    return 0;
  }
  if (group < 1 || ws.dim[0].text || ws.dim[0].n % group ||
      !dim_is(dim_op(m, '-', xs.dim[1], dim_op(m, '*', ws.dim[1], dim_of(group))), 0))
    return op_refuse(n, "its groups do not fit its channels"), 0;
  bool one = group == 1, single = dim_is(ws.dim[0], group), narrow = dim_is(ws.dim[1], 1);
  const char *g = arena_format(m->arena, "%s:%lld", GROUP, (long long)group);
  const char *to = one ? "j" : single ? GROUP : arena_format(m->arena, "(%s j)", g);
  const char *from = one ? CHANNEL : narrow ? GROUP : arena_format(m->arena, "(%s %s)", g, CHANNEL);
  if (!one && single && !narrow) to = GROUP;
  const char *channel = !one && narrow ? "0" : CHANNEL;
  const char *kernel = window_kernel(m, &win, false);
  return add_equation(n, type, IN(x, w, bias), "[i %s %s] = $0[i %s %s] $1[%s %s %s]%s%s", to,
                      window_left(m, &win, true), from, window_places(m, &win), to, channel, kernel,
                      bias ? arena_format(m->arena, " + $2[%s]", to) : "",
                      win.hangs ? " pad 0" : "");
}

bool op_conv(ImpNode *n) {
  return op_set_result(n, 0,
                       add_convolution(n, n->in[0], n->in[1], op_in(n, 2), op_value(n, 0)->type));
}

// -- ConvTranspose --------------------------------------------------------------------------------
// The extent of the dilated kernel.
static int64_t reach_of(const Window *w, uint32_t i) {
  return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

// Pads remove elements of the result; output_shape and SAME determine them.
static bool transposed_pads(ImpNode *n, const Window *w, const ImpSize *full, int64_t *before,
                            int64_t *after) {
  ImpInts extra = attr_ints(n, "output_padding"), shape = attr_ints(n, "output_shape");
  const char *pad = attr_text(n, "auto_pad", "NOTSET");
  bool lower = !strcmp(pad, "SAME_LOWER"), same = lower || !strcmp(pad, "SAME_UPPER");
  if ((shape.there && shape.n < w->n) || (extra.there && extra.n < w->n))
    return op_refuse(n, "its sizes are too few");
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t more = extra.there ? extra.at[i] : 0, cut_before = w->before[i],
            cut_after = w->after[i];
    if (more < 0 || more > 1 << 30) return op_refuse(n, "output_padding is not a size");
    if (shape.there || same) {
      if (shape.there && !op_fixed_axis(n, 0, 2 + i)) return false;
      int64_t total = more + (shape.there ? full[i].n - shape.at[shape.n - w->n + i]
                                          : reach_of(w, i) - w->stride[i]);
      cut_before = lower || (shape.there && !same) ? total - total / 2 : total / 2;
      if (shape.there && !same && strcmp(pad, "NOTSET") == 0) cut_before = total / 2;
      cut_after = total - cut_before;
    }
    before[2 + i] = -cut_before;
    after[2 + i] = more - cut_after;
  }
  return true;
}

static const char *transposed_left(Importer *m, const Window *w) {
  Window inside = *w;
  memset(inside.before, 0, sizeof inside.before);
  return window_places(m, &inside);
}

bool op_convtranspose(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  int64_t group = attr_int(n, "group", 1);
  ImpShape x = op_value(n, 0)->shape, ws = op_value(n, 1)->shape, wide = x;
  if (ws.rank != x.rank)
    return op_refuse(n, "its weights have %u axes, its input %u", ws.rank, x.rank);
  // So that every window is in bounds.
  for (uint32_t i = 2; i < x.rank; i++) wide.dim[i] = dim_of(1 << 30);
  if (!window_read(n, &wide, ws.dim + 2, &w)) return false;
  if (group < 1 || !dim_same(x.dim[1], ws.dim[0]))
    return op_refuse(n, "its groups do not fit its channels");
  const char *g = arena_format(m->arena, "%s:%lld", GROUP, (long long)group);
  const char *to = group == 1 ? "j" : arena_format(m->arena, "(%s j)", g);
  const char *from = group == 1 ? CHANNEL : arena_format(m->arena, "(%s %s)", g, CHANNEL);
  Id y = equation(n, n->in, "[i %s %s] = $0[i %s %s] $1[%s j %s]", to, transposed_left(m, &w), from,
                  window_left(m, &w, false), from, window_kernel(m, &w, false));
  if (!y || !transposed_pads(n, &w, value_at(m, y)->shape.dim + 2, before, after)) return false;
  y = add_pad(n, y, before, after, 0);
  if (y && op_in(n, 2)) y = equation(n, IN(y, n->in[2]), "[i j &] = $0[i j &] + $1[j]");
  return op_set_result(n, 0, y);
}

// -- Col2Im ---------------------------------------------------------------------------------------
bool op_col2im(ImpNode *n) {
  Importer *m = n->m;
  ImpShape image, block, wide = {0};
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  Window w;
  if (!op_sizes(n, 1, &image) || !op_sizes(n, 2, &block)) return false;
  ImpShape x = op_value(n, 0)->shape;
  if (x.rank != 3 || image.rank != block.rank || image.rank + 2 > ONNX_RANK_LIMIT)
    return op_refuse(n, "its image has other axes than its blocks");
  wide.rank = 2 + image.rank;
  for (uint32_t i = 0; i < image.rank; i++) wide.dim[2 + i] = image.dim[i];
  if (!window_read(n, &wide, block.dim, &w)) return false;
  for (uint32_t i = 0; i < w.n; i++) {
    before[2 + i] = -w.before[i];
    after[2 + i] = w.size[i] + w.before[i] - w.stride[i] * (w.out[i] - 1) - reach_of(&w, i);
  }
  Id y = equation(n, n->in, "[i j %s] = $0[i (j %s) (%s)]", transposed_left(m, &w),
                  window_kernel(m, &w, true), window_left(m, &w, true));
  return op_set_result(n, 0, y ? add_pad(n, y, before, after, 0) : 0);
}
