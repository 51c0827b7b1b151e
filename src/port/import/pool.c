// Pooling: the maximum, mean or norm over windows.
#include "port/import/window.h"

// -- MaxPool --------------------------------------------------------------------------------------
// The flat index of the maximum; column-major on request.
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
  const char *at = arena_format(m->arena, "i j %s", window_places(m, &w)),
             *left = arena_format(m->arena, "i j %s", window_left(m, &w, true)),
             *kernel = window_kernel(m, &w, true), *pad = w.hangs ? " pad -inf" : "";
  Id y = equation(n, n->in, "[%s] = max[%s]($0[%s])%s", left, kernel, at, pad);
  if (!op_set_result(n, 0, y)) return false;
  if (n->node->out.n < 2 || !*n->node->out.at[1]) return true;
  if (!window_read(n, &x, NULL, &w)) return false;
  const char *place = flat_place(m, &x, &w, attr_int(n, "storage_order", 0));
  return op_set_result(n, 1,
                       add_equation(n, ONNX_INT64, IN(n->in[0], y),
                                    "[%s] = min[%s]((%s when ($0[%s] = $1[*]) else inf))%s", left,
                                    kernel, place, at, pad));
}

// -- AveragePool ----------------------------------------------------------------------------------
// The number of elements in each window along an axis: a number if all are equal, otherwise a list,
// whose id is stored in `in`.
static const char *counts(ImpNode *n, const Window *w, uint32_t i, Id *in) {
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
  in[1 + i] = value_const(m, ONNX_FLOAT, &(ImpShape){1, {dim_of(w->out[i])}}, data);
  return arena_format(m->arena, "$%u[%s]", 1 + i, window_at(i));
}

bool op_averagepool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  Id in[ONNX_RANK_LIMIT + 1] = {n->in[0]};
  ImpShape x = op_value(n, 0)->shape;
  if (!window_read_any(n, &x, NULL, &w)) return false;
  Buf by = buf_new(m->arena);
  for (uint32_t i = 0; i < w.n; i++) buf_printf(&by, " / %s", counts(n, &w, i, in));
  return op_set_result(n, 0,
                       equation(n, in, "[i j %s] = sum[%s]($0[i j %s])%s%s",
                                window_left(m, &w, true), window_kernel(m, &w, true),
                                window_places(m, &w), by.at, w.hangs ? " pad 0" : ""));
}

bool op_lppool(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  long long p = attr_int(n, "p", 2);
  ImpShape x = op_value(n, 0)->shape;
  if (!window_read_any(n, &x, NULL, &w)) return false;
  return op_gives(n, "[i j %s] = sum[%s](abs($0[i j %s])^%lld)^(1 / %lld)%s",
                  window_left(m, &w, true), window_kernel(m, &w, true), window_places(m, &w), p, p,
                  w.hangs ? " pad 0" : "");
}

// -- all of it ------------------------------------------------------------------------------------
bool op_globalpool(ImpNode *n) {
  const char *op = n->node->op;
  uint32_t rank = op_value(n, 0)->shape.rank;
  if (rank < 3) return op_refuse(n, "it wants samples, channels and at least one axis more");
  const char *thin = letters_of_one(n->m, 2, rank);
  long long p = attr_int(n, "p", 2);
  bool most = !strcmp(op, "GlobalMaxPool"), mean = !strcmp(op, "GlobalAveragePool");
  return op_set_result(
      n, 0,
      most   ? equation(n, n->in, "[i j %s] = max[&]($0[i j &])", thin)
      : mean ? equation(n, n->in, "[i j %s] = mean[&]($0[i j &])", thin)
             : equation(n, n->in, "[i j %s] = sum[&](abs($0[i j &])^%lld)^(1 / %lld)", thin, p, p));
}

// -- MaxUnpool ------------------------------------------------------------------------------------
// Scatters each element to the position from MaxPool; others are 0.
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
  Buf left = buf_new(m->arena);
  for (uint32_t i = 2; i < x.rank; i++)
    buf_printf(&left, " %s:%lld", imp_letter[i], (long long)out.dim[i].n);
  Id y = equation(n, n->in, "[i j%s] = sum[&](($0[i j &] when ($1[i j &] = %s) else 0))", left.at,
                  place.at);
  int64_t zero[ONNX_RANK_LIMIT] = {0}, after[ONNX_RANK_LIMIT] = {0};
  for (uint32_t i = 2; op_in(n, 2) && i < x.rank; i++) after[i] = given.dim[i].n - out.dim[i].n;
  return op_set_result(n, 0, y ? add_pad(n, y, zero, after, 0) : 0);
}
