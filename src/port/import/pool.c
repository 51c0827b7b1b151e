// Pools: the largest, the mean or the length of what a window sees.
#include "port/import/window.h"

static ImpShape pooled(const ImpShape *x, const Window *w) {
  ImpShape out = *x;
  for (uint32_t i = 0; i < w->n; i++) out.dim[2 + i] = w->result[i];
  return out;
}

// -- MaxPool -------------------------------------------------------------------------------------
// Where the largest is, counted through all axes: columns first if asked.
static const char *flat_place(Importer *m, const ImpShape *x, const Window *w, bool columns) {
  Buf b = buf_new(m->arena);
  buf_printf(&b, "(i*%s+j)", dim_inside(m, x->dim[1]));
  for (uint32_t i = 0; i < w->n; i++) buf_printf(&b, "*%lld", (long long)w->size[i]);
  for (uint32_t i = 0; i < w->n; i++) {
    buf_printf(&b, " + (%s)", window_place(m, w, i));
    uint32_t from = columns ? 0 : i + 1, to = columns ? i : w->n;
    for (uint32_t k = from; k < to; k++) buf_printf(&b, "*%lld", (long long)w->size[k]);
  }
  return b.at;
}

bool op_maxpool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  ImpShape x = op_value(n, 0)->shape;
  if (!window_read_any(n, &x, NULL, &w)) return false;
  ImpShape out = pooled(&x, &w);
  const char *at = arena_format(m->arena, "i j %s", window_places(m, &w)),
             *kernel = window_kernel(m, &w, true);
  const char *left = letters(m, x.rank), *pad = w.hangs ? "-inf" : NULL;
  ImpForm form = {left, arena_format(m->arena, "max[%s]($0)", kernel), pad};
  Id y = say(n, op_value(n, 0)->type, &out, form, READS({n->in[0], at}));
  op_give(n, 0, y);
  if (n->node->out.n < 2 || !*n->node->out.at[1]) return true;
  if (!window_read(n, &x, NULL, &w)) return false;
  const char *place = flat_place(m, &x, &w, attr_int(n, "storage_order", 0));
  form.right = arena_format(m->arena, "min[%s]((%s when ($0 = $1) else inf))", kernel, place);
  op_give(n, 1, say(n, ONNX_INT64, &out, form, READS({n->in[0], at}, {y, left})));
  return true;
}

// -- AveragePool ---------------------------------------------------------------------------------
// How many numbers each window sees along an axis. The same for all: only that number.
static const char *counts(ImpNode *n, const Window *w, uint32_t i, ImpRead *read, uint32_t *reads) {
  Importer *m = n->m;
  bool padded = attr_int(n, "count_include_pad", 0), even = true;
  ImpSize size = op_value(n, 0)->shape.dim[2 + i];
  if (size.text && (padded || (!w->before[i] && !w->after[i])))
    return number_term(m, (double)w->kernel[i]);
  if (size.text) {
    const char *at = window_place(m, w, i);
    return arena_format(m->arena, "sum[%s:%lld](number(%s >= 0 and %s < %s))", window_in(i),
                        (long long)w->kernel[i], at, at, dim_inside(m, size));
  }
  double *data = NEW_ARRAY(m->arena, double, w->out[i]);
  for (int64_t k = 0; k < w->out[i]; k++) {
    for (int64_t p = 0; p < w->kernel[i]; p++) {
      int64_t at = k * w->stride[i] + p * w->dilation[i] - w->before[i];
      data[k] += padded ? at < w->size[i] + w->after[i] : at >= 0 && at < w->size[i];
    }
    even = even && data[k] == data[0];
  }
  if (even) return number_term(m, data[0]);
  Id v = value_const(m, ONNX_FLOAT, &(ImpShape){1, {dim_of(w->out[i])}}, data);
  read[*reads] = (ImpRead){v, window_at(i)};
  return arena_format(m->arena, "$%u", (*reads)++);
}

bool op_averagepool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  ImpRead read[ONNX_RANK_LIMIT + 1];
  uint32_t reads = 1;
  ImpShape x = op_value(n, 0)->shape;
  if (!window_read_any(n, &x, NULL, &w)) return false;
  ImpShape out = pooled(&x, &w);
  Buf right = buf_new(m->arena);
  read[0] = (ImpRead){n->in[0], arena_format(m->arena, "i j %s", window_places(m, &w))};
  buf_printf(&right, "sum[%s]($0)", window_kernel(m, &w, true));
  for (uint32_t i = 0; i < w.n; i++) buf_printf(&right, " / %s", counts(n, &w, i, read, &reads));
  ImpForm form = {letters(m, x.rank), right.at, w.hangs ? "0" : NULL};
  op_give(n, 0, say(n, op_value(n, 0)->type, &out, form, read, reads));
  return true;
}

bool op_lppool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  long long p = attr_int(n, "p", 2);
  ImpShape x = op_value(n, 0)->shape;
  if (!window_read_any(n, &x, NULL, &w)) return false;
  ImpShape out = pooled(&x, &w);
  const char *right =
      arena_format(m->arena, "sum[%s](abs($0)^%lld)^(1 / %lld)", window_kernel(m, &w, true), p, p);
  ImpForm form = {letters(m, x.rank), right, w.hangs ? "0" : NULL};
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &out, form,
              READS({n->in[0], arena_format(m->arena, "i j %s", window_places(m, &w))})));
  return true;
}

// -- all of it -----------------------------------------------------------------------------------
bool op_globalpool(ImpNode *n) {
  Importer *m = n->m;
  ImpShape x = op_value(n, 0)->shape, out = x;
  if (x.rank < 3) return op_refuse(n, "it wants samples, channels and at least one axis more");
  for (uint32_t i = 2; i < x.rank; i++) out.dim[i] = dim_of(1);
  const char *gone = words(m, x.rank - 2, imp_letter + ONNX_RANK_LIMIT);
  long long p = attr_int(n, "p", 2);
  const char *op = n->node->op;
  const char *right = !strcmp(op, "GlobalMaxPool") ? arena_format(m->arena, "max[%s]($0)", gone)
                      : !strcmp(op, "GlobalAveragePool")
                          ? arena_format(m->arena, "mean[%s]($0)", gone)
                          : arena_format(m->arena, "sum[%s](abs($0)^%lld)^(1 / %lld)", gone, p, p);
  ImpForm form = {.left = letters(m, x.rank), .right = right};
  op_give(n, 0,
          say(n, op_value(n, 0)->type, &out, form,
              READS({n->in[0], arena_format(m->arena, "i j %s", gone)})));
  return true;
}

// -- MaxUnpool -----------------------------------------------------------------------------------
// Each number goes to the place that MaxPool said; the rest is 0.
bool op_maxunpool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  ImpShape given, x, out;
  x = out = op_value(n, 0)->shape;
  if (!window_read(n, &x, NULL, &w)) return false;
  for (uint32_t i = 0; i < w.n; i++)
    out.dim[2 + i] = dim_of((w.size[i] - 1) * w.stride[i] - w.before[i] - w.after[i] + w.kernel[i]);
  if (op_in(n, 2) && !op_sizes(n, 2, &given)) return false;
  if (op_in(n, 2) && given.rank != x.rank)
    return op_refuse(n, "its output has other axes than its input");
  Buf place = buf_new(m->arena);
  buf_printf(&place, "i*%s+j", dim_inside(m, x.dim[1]));
  for (uint32_t i = 2; i < x.rank; i++) {
    const char *before = arena_text(m->arena, place.at, place.n);
    place = buf_new(m->arena);
    buf_printf(&place, "(%s)*%s+%s", before, dim_inside(m, out.dim[i]), imp_letter[i]);
  }
  const char *gone = words(m, x.rank - 2, imp_letter + ONNX_RANK_LIMIT);
  const char *at = arena_format(m->arena, "i j %s", gone);
  const char *right = arena_format(m->arena, "sum[%s](($0 when ($1 = %s) else 0))", gone, place.at);
  ImpForm form = {.left = letters(m, x.rank), .right = right};
  Id y = say(n, op_value(n, 0)->type, &out, form, READS({n->in[0], at}, {n->in[1], at}));
  int64_t zero[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  for (uint32_t i = 2; op_in(n, 2) && i < x.rank; i++) after[i] = given.dim[i].n - out.dim[i].n;
  y = say_padded(n, y, zero, after, 0);
  if (y) op_give(n, 0, y);
  return y;
}
