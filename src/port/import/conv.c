// Convolutions: an affine index on the right, and turned round on the left.
#include "port/import/window.h"

// -- Conv ----------------------------------------------------------------------------------------
// i samples, j a channel of the result in its group, k l … places; c1 of the input's channels, g a group.
#define GROUP imp_letter[IMP_LETTERS - 1]
#define CHANNEL imp_letter[IMP_LETTERS - 2]

Id say_conv(ImpNode *n, Id x, Id w, Id bias, OnnxType type) {
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
  ImpShape out = {.rank = xs.rank, .dim = {xs.dim[0], ws.dim[0]}};
  for (uint32_t i = 0; i < win.n; i++) out.dim[2 + i] = win.result[i];
  bool one = group == 1, single = dim_is(ws.dim[0], group), narrow = dim_is(ws.dim[1], 1);
  const char *g = arena_format(m->arena, "%s:%lld", GROUP, (long long)group);
  const char *to = one ? "j" : single ? GROUP : arena_format(m->arena, "(%s j)", g);
  const char *from = one ? CHANNEL : narrow ? GROUP : arena_format(m->arena, "(%s %s)", g, CHANNEL);
  if (!one && single && !narrow) to = GROUP;
  const char *channel = !one && narrow ? "0" : CHANNEL;
  const char *places = window_places(m, &win), *kernel = window_kernel(m, &win, false);
  const char *left = arena_format(m->arena, "i %s %s", to, window_left(m, &win));
  ImpRead read[] = {{x, arena_format(m->arena, "i %s %s", from, places)},
                    {w, arena_format(m->arena, "%s %s %s", to, channel, kernel)},
                    {bias, to}};
  ImpForm form = {left, bias ? "$0 $1 + $2" : "$0 $1", win.hangs ? "0" : NULL};
  return say(n, type, &out, form, read, bias ? 3 : 2);
}

bool op_conv(ImpNode *n) {
  Id y = say_conv(n, n->in[0], n->in[1], op_in(n, 2), op_value(n, 0)->type);
  if (y) op_give(n, 0, y);
  return y;
}

// -- ConvTranspose -------------------------------------------------------------------------------
static int64_t reach_of(const Window *w, uint32_t i) {
  return w->dilation[i] * (w->kernel[i] - 1) + 1;
}

// Pads cut the result; what output_shape or SAME want decides about them.
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

// The window of what the transposed one makes: every window is inside it.
static bool transposed_window(ImpNode *n, const ImpShape *x, const ImpSize *kernel, Window *w,
                              ImpSize *full) {
  ImpShape wide = *x;
  for (uint32_t i = 2; i < x->rank; i++) wide.dim[i] = dim_of(1 << 30);
  if (!window_read(n, &wide, kernel, w)) return false;
  for (uint32_t i = 0; i < w->n; i++) {
    ImpSize begins = dim_op(n->m, '*', x->dim[2 + i], dim_of(w->stride[i]));
    full[i] = dim_op(n->m, '+', begins, dim_of(reach_of(w, i) - w->stride[i]));
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
  ImpSize full[ONNX_RANK_LIMIT];
  int64_t before[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  int64_t group = attr_int(n, "group", 1);
  ImpShape x = op_value(n, 0)->shape, ws = op_value(n, 1)->shape;
  if (ws.rank != x.rank)
    return op_refuse(n, "its weights have %u axes, its input %u", ws.rank, x.rank);
  if (!transposed_window(n, &x, ws.dim + 2, &w, full)) return false;
  if (group < 1 || !dim_same(x.dim[1], ws.dim[0]))
    return op_refuse(n, "its groups do not fit its channels");
  ImpShape out = {.rank = x.rank, .dim = {x.dim[0], dim_op(m, '*', ws.dim[1], dim_of(group))}};
  for (uint32_t i = 0; i < w.n; i++) out.dim[2 + i] = full[i];
  bool one = group == 1;
  const char *g = arena_format(m->arena, "%s:%lld", GROUP, (long long)group);
  const char *to = one ? "j" : arena_format(m->arena, "(%s j)", g);
  const char *from = one ? CHANNEL : arena_format(m->arena, "(%s %s)", g, CHANNEL);
  ImpForm form = {.left = arena_format(m->arena, "i %s %s", to, transposed_left(m, &w)),
                  .right = "$0 $1"};
  OnnxType type = op_value(n, 0)->type;
  Id y =
      say(n, type, &out, form,
          READS({n->in[0], arena_format(m->arena, "i %s %s", from, window_left(m, &w))},
                {n->in[1], arena_format(m->arena, "%s j %s", from, window_kernel(m, &w, false))}));
  if (!transposed_pads(n, &w, full, before, after)) return false;
  y = say_padded(n, y, before, after, 0);
  if (!y) return false;
  if (op_in(n, 2)) {
    out = value_at(m, y)->shape;
    const char *all = letters(m, out.rank);
    y = say(n, type, &out, (ImpForm){.left = all, .right = "$0 + $1"},
            READS({y, all}, {n->in[2], "j"}));
  }
  op_give(n, 0, y);
  return true;
}

// -- Col2Im --------------------------------------------------------------------------------------
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
  ImpSize many = dim_of(1);
  for (uint32_t i = 0; i < image.rank; i++)
    wide.dim[2 + i] = image.dim[i], many = dim_op(m, '*', many, block.dim[i]);
  if (!window_read(n, &wide, block.dim, &w)) return false;
  ImpShape out = {.rank = wide.rank, .dim = {x.dim[0], dim_op(m, '/', x.dim[1], many)}};
  Buf places = buf_new(m->arena);
  for (uint32_t i = 0; i < w.n; i++) {
    int64_t full = w.stride[i] * (w.out[i] - 1) + reach_of(&w, i);
    out.dim[2 + i] = dim_of(full);
    before[2 + i] = -w.before[i];
    after[2 + i] = w.size[i] + w.before[i] - full;
    buf_printf(&places, "%s%s:%lld", i ? " " : "", window_at(i), (long long)w.out[i]);
  }
  ImpForm form = {.left = arena_format(m->arena, "i j %s", transposed_left(m, &w)), .right = "$0"};
  const char *at = arena_format(m->arena, "i (j %s) (%s)", window_kernel(m, &w, true), places.at);
  Id y = say(n, op_value(n, 0)->type, &out, form, READS({n->in[0], at}));
  y = say_padded(n, y, before, after, 0);
  if (y) op_give(n, 0, y);
  return y;
}
