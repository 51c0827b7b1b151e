// Convolutions and pooling in Python.
#include "port/python/python_own.h"

enum { WINDOW_MOST = 3 };
typedef struct {
  uint32_t n;
  int64_t kernel[WINDOW_MOST], stride[WINDOW_MOST], dilation[WINDOW_MOST], before[WINDOW_MOST],
      behind[WINDOW_MOST], more[WINDOW_MOST], group;
} PythonWindow;

static void window_list(const GraphNode *n, const char *name, uint32_t count, int64_t *to,
                        uint32_t from) {
  const OutAttribute *x = python_attribute(n, name);
  for (uint32_t i = 0; x && i < count; i++) to[i] = x->numbers[from + i];
}

static bool window_of(const GraphNode *n, PythonWindow *w) {
  const OutAttribute *stride = python_attribute(n, "strides"),
                     *group = python_attribute(n, "group");
  if (!stride || stride->n > WINDOW_MOST) return false;
  *w = (PythonWindow){.n = stride->n, .group = group ? group->number : 1};
  window_list(n, "strides", w->n, w->stride, 0);
  window_list(n, "dilations", w->n, w->dilation, 0);
  window_list(n, "kernel_shape", w->n, w->kernel, 0);
  window_list(n, "pads", w->n, w->before, 0);
  window_list(n, "pads", w->n, w->behind, w->n);
  window_list(n, "output_padding", w->n, w->more, 0);
  return true;
}

// A single number if all are equal.
static const char *window_numbers(Arena *a, uint32_t n, const int64_t *x) {
  bool same = true;
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < n; i++) same &= x[i] == x[0];
  if (same) return arena_format(a, "%lld", (long long)x[0]);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%s%lld", i ? ", " : "(", (long long)x[i]);
  buf_text(&b, ")");
  return b.at;
}

static void window_option(Arena *a, Buf *b, const char *name, uint32_t n, const int64_t *x,
                          int64_t usual) {
  bool plain = true;
  for (uint32_t i = 0; i < n; i++) plain &= x[i] == usual;
  if (!plain) buf_printf(b, ", %s=%s", name, window_numbers(a, n, x));
}

static bool window_even(const PythonWindow *w) {
  for (uint32_t i = 0; i < w->n; i++)
    if (w->before[i] != w->behind[i]) return false;
  return true;
}

// Asymmetric padding is applied by a separate pad.
static const char *window_input(PythonText *t, const GraphNode *n, PythonWindow *w,
                                const char *with) {
  const char *x = python_operand(t, n->in.at[0], PREC_ANY);
  if (window_even(w)) return x;
  Buf b = buf_new(t->p->a);
  buf_printf(&b, "F.pad(%s, (", x);
  for (uint32_t i = w->n; i-- > 0;)
    buf_printf(&b, "%s%lld, %lld", i + 1 < w->n ? ", " : "", (long long)w->before[i],
               (long long)w->behind[i]);
  buf_printf(&b, "), value=%s)", with);
  for (uint32_t i = 0; i < w->n; i++) w->before[i] = w->behind[i] = 0;
  return b.at;
}

static const char *torch_window(PythonText *t, const GraphNode *n, PythonWindow *w) {
  Arena *a = t->p->a;
  Buf b = buf_new(a);
  bool most = !strcmp(n->op, "MaxPool"), mean = !strcmp(n->op, "AveragePool"),
       back = !strcmp(n->op, "ConvTranspose");
  if (back && !window_even(w)) return NULL;
  for (uint32_t i = 0; i < w->n; i++) {
    if (mean && w->dilation[i] != 1) return NULL;
    if ((mean || most) && 2 * w->before[i] > w->kernel[i])
      w->behind[i]++; // torch allows less padding: apply it separately
  }
  const char *x = back ? python_operand(t, n->in.at[0], PREC_ANY)
                       : window_input(t, n, w, most ? "-float(\"inf\")" : "0.0");
  if (most || mean) {
    buf_printf(&b, "F.%s_pool%ud(%s, %s", most ? "max" : "avg", w->n, x,
               window_numbers(a, w->n, w->kernel));
    if (memcmp(w->stride, w->kernel, w->n * sizeof w->stride[0]) != 0)
      buf_printf(&b, ", %s", window_numbers(a, w->n, w->stride));
  } else {
    buf_printf(&b, "F.conv%s%ud(%s, %s", back ? "_transpose" : "", w->n, x,
               python_operand(t, n->in.at[1], PREC_ANY));
    window_option(a, &b, "stride", w->n, w->stride, 1);
  }
  window_option(a, &b, "padding", w->n, w->before, 0);
  if (back) window_option(a, &b, "output_padding", w->n, w->more, 0);
  if (!mean) window_option(a, &b, "dilation", w->n, w->dilation, 1);
  if (w->group > 1) buf_printf(&b, ", groups=%lld", (long long)w->group);
  buf_text(&b, ")");
  return b.at;
}

static const char *jax_tuple(Arena *a, uint32_t n, const int64_t *x, const char *front) {
  Buf b = buf_new(a);
  buf_printf(&b, "(%s", front);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%lld,%s", (long long)x[i], i + 1 < n ? " " : "");
  buf_text(&b, ")");
  return b.at;
}

static const char *jax_pads(Arena *a, const PythonWindow *w, const char *front) {
  Buf b = buf_new(a);
  buf_printf(&b, "[%s", front);
  for (uint32_t i = 0; i < w->n; i++)
    buf_printf(&b, "%s(%lld, %lld)", i ? ", " : "", (long long)w->before[i],
               (long long)w->behind[i]);
  buf_text(&b, "]");
  return b.at;
}

static const char *jax_window(PythonText *t, const GraphNode *n, PythonWindow *w) {
  Arena *a = t->p->a;
  const char *x = python_operand(t, n->in.at[0], PREC_ANY);
  bool most = !strcmp(n->op, "MaxPool");
  if (!strcmp(n->op, "Conv"))
    return arena_format(a,
                        "jax.lax.conv_general_dilated(%s, %s, %s, %s, rhs_dilation=%s, "
                        "feature_group_count=%lld)",
                        x, python_operand(t, n->in.at[1], PREC_ANY),
                        jax_tuple(a, w->n, w->stride, ""), jax_pads(a, w, ""),
                        jax_tuple(a, w->n, w->dilation, ""), (long long)w->group);
  if (!strcmp(n->op, "ConvTranspose")) {
    const char *kernel = python_operand(t, n->in.at[1], PREC_ANY);
    if (w->group > 1) return NULL;
    for (uint32_t i = 0; i < w->n; i++) {
      int64_t reach = (w->kernel[i] - 1) * w->dilation[i];
      w->before[i] = reach - w->before[i];
      w->behind[i] = reach - w->behind[i] + w->more[i];
    }
    const char *flips = w->n == 1 ? "(2,)" : w->n == 2 ? "(2, 3)" : "(2, 3, 4)";
    return arena_format(a,
                        "jax.lax.conv_general_dilated(%s, jnp.flip(%s, %s).swapaxes(0, 1), %s, %s, "
                        "lhs_dilation=%s, rhs_dilation=%s)",
                        x, kernel, flips, jax_tuple(a, w->n, (const int64_t[]){1, 1, 1}, ""),
                        jax_pads(a, w, ""), jax_tuple(a, w->n, w->stride, ""),
                        jax_tuple(a, w->n, w->dilation, ""));
  }
  int64_t cells = 1;
  for (uint32_t i = 0; i < w->n; i++) cells *= w->kernel[i];
  return arena_format(a, "jax.lax.reduce_window(%s, %s, %s, %s, %s, %s, window_dilation=%s)%s", x,
                      most ? "-jnp.inf" : "0.0", most ? "jax.lax.max" : "jax.lax.add",
                      jax_tuple(a, w->n, w->kernel, "1, 1, "),
                      jax_tuple(a, w->n, w->stride, "1, 1, "), jax_pads(a, w, "(0, 0), (0, 0), "),
                      jax_tuple(a, w->n, w->dilation, "1, 1, "),
                      most ? "" : arena_format(a, ".__truediv__(%lld)", (long long)cells));
}

const char *python_window(PythonText *t, const GraphNode *n) {
  static const char *const all[] = {"Conv", "ConvTranspose", "MaxPool", "AveragePool"};
  PythonWindow w;
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (!strcmp(n->op, all[i]) && window_of(n, &w))
      return t->p->jax ? jax_window(t, n, &w) : torch_window(t, n, &w);
  return NULL;
}
