// Coordinates of windows: stride * position + dilation * position in the window - pad. Output sizes
// follow the rules of ONNX, including auto_pad and ceil_mode.
#include "port/import/window.h"

const char *window_at(uint32_t k) { return imp_letter[2 + k]; }
const char *window_in(uint32_t k) { return imp_letter[ONNX_RANK_LIMIT + k]; }

static bool filled(ImpNode *n, const char *name, uint32_t want, int64_t otherwise, int64_t *to) {
  ImpInts list = attr_ints(n, name);
  if (list.there && list.n != want)
    return op_refuse(n, "%s has %u numbers, not %u", name, list.n, want);
  for (uint32_t i = 0; i < want; i++) {
    to[i] = list.there ? list.at[i] : otherwise;
    if (to[i] < -(1 << 30) || to[i] > 1 << 30) return op_refuse(n, "%s is too large", name);
  }
  return true;
}

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// SAME padding: the output size is the input size divided by the stride, rounded up.
static void same_pads(Window *w, uint32_t i, bool lower) {
  int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
  int64_t total = (divide_up(w->size[i], w->stride[i]) - 1) * w->stride[i] + reach - w->size[i];
  if (total < 0) total = 0;
  w->before[i] = lower ? total - total / 2 : total / 2;
  w->after[i] = total - w->before[i];
}

static int64_t out_size(const Window *w, uint32_t i, bool ceil) {
  int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
  int64_t room = w->size[i] + w->before[i] + w->after[i] - reach;
  if (room < 0) return 0;
  int64_t count = (ceil ? divide_up(room, w->stride[i]) : room / w->stride[i]) + 1;
  // a window that begins after the input and its leading pad is dropped
  if (ceil && (count - 1) * w->stride[i] >= w->size[i] + w->before[i]) count--;
  return count;
}

static bool window_sizes(ImpNode *n, const ImpShape *x, const ImpSize *kernel, Window *w) {
  int64_t pads[2 * ONNX_RANK_LIMIT];
  w->n = x->rank - 2;
  if (!filled(n, "strides", w->n, 1, w->stride) || !filled(n, "dilations", w->n, 1, w->dilation) ||
      !filled(n, "pads", 2 * w->n, 0, pads) || !filled(n, "kernel_shape", w->n, 0, w->kernel))
    return false;
  for (uint32_t i = 0; i < w->n; i++) {
    if (kernel && kernel[i].text) return op_refuse(n, "its kernel has no size");
    w->size[i] = x->dim[2 + i].n;
    w->before[i] = pads[i], w->after[i] = pads[w->n + i];
    if (kernel) w->kernel[i] = kernel[i].n;
    if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1)
      return op_refuse(n, "its window has no size");
  }
  return true;
}

static bool number_wanted(ImpNode *n, uint32_t axis, ImpSize size) {
  op_refuse(n, "axis %u of its input has size %s, and a number is wanted there", axis, size.text);
  return op_wants_sizes(n);
}

bool window_read(ImpNode *n, const ImpShape *x, const ImpSize *kernel, Window *w) {
  for (uint32_t i = 2; i < x->rank; i++)
    if (x->dim[i].text) return number_wanted(n, i, x->dim[i]);
  return window_read_any(n, x, kernel, w);
}

// A symbolic size: the pads must not depend on it.
static bool open_axis(ImpNode *n, Window *w, uint32_t i, ImpSize size, bool same, bool ceil) {
  Importer *m = n->m;
  int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
  if ((same || ceil) && w->stride[i] != 1) return number_wanted(n, 2 + i, size);
  int64_t more = w->before[i] + w->after[i] - reach;
  ImpSize room = dim_op(m, '+', size, dim_of(more));
  w->result[i] = dim_op(m, '+', dim_op(m, '/', room, dim_of(w->stride[i])), dim_of(1));
  w->hangs |= w->before[i] > 0 || w->after[i] > 0;
  return true;
}

bool window_read_any(ImpNode *n, const ImpShape *x, const ImpSize *kernel, Window *w) {
  const char *pad = attr_text(n, "auto_pad", "NOTSET");
  bool lower = !strcmp(pad, "SAME_LOWER"), same = lower || !strcmp(pad, "SAME_UPPER");
  bool ceil = attr_int(n, "ceil_mode", 0);
  *w = (Window){0};
  if (x->rank < 3) return op_refuse(n, "it wants samples, channels and at least one axis more");
  if (!window_sizes(n, x, kernel, w)) return false;
  for (uint32_t i = 0; i < w->n; i++) {
    if (!strcmp(pad, "VALID")) w->before[i] = w->after[i] = 0;
    if (same) same_pads(w, i, lower);
    if (x->dim[2 + i].text) {
      if (!open_axis(n, w, i, x->dim[2 + i], same, ceil)) return false;
      continue;
    }
    w->out[i] = out_size(w, i, ceil && !same);
    if (w->out[i] < 1) return op_refuse(n, "its window is larger than axis %u", 2 + i);
    int64_t last =
        (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] - w->before[i];
    w->hangs |= w->before[i] > 0 || last >= w->size[i];
    w->result[i] = dim_of(w->out[i]);
  }
  return true;
}

const char *window_place(Importer *m, const Window *w, uint32_t i) {
  Buf b = buf_new(m->arena);
  if (w->stride[i] != 1) buf_printf(&b, "%lld*", (long long)w->stride[i]);
  buf_printf(&b, "%s+", window_at(i));
  if (w->dilation[i] != 1) buf_printf(&b, "%lld*", (long long)w->dilation[i]);
  buf_text(&b, window_in(i));
  if (w->before[i]) buf_printf(&b, "-%lld", (long long)w->before[i]);
  return b.at;
}

const char *window_places(Importer *m, const Window *w) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = 0; i < w->n; i++) buf_printf(&b, "%s%s", i ? " " : "", window_place(m, w, i));
  return b.at;
}

const char *window_kernel(Importer *m, const Window *w, bool sizes) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = 0; i < w->n; i++) {
    buf_printf(&b, "%s%s", i ? " " : "", window_in(i));
    if (sizes) buf_printf(&b, ":%lld", (long long)w->kernel[i]);
  }
  return b.at;
}

const char *window_left(Importer *m, const Window *w, bool sizes) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = 0; i < w->n; i++) {
    buf_printf(&b, "%s%s", i ? " " : "", window_at(i));
    if (sizes) buf_printf(&b, ":%s", dim_text(m, w->result[i]));
  }
  return b.at;
}
