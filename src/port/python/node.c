// Writes a node of the graph as a Python expression.
#include "base/table.h"
#include "port/python/python_own.h"

const OutAttribute *python_attribute(const GraphNode *n, const char *name) {
  for (uint32_t i = 0; i < n->attribute.n; i++)
    if (!strcmp(n->attribute.at[i].name, name)) return &n->attribute.at[i];
  return NULL;
}

static const char *library(const PythonText *t) { return t->p->jax ? "jnp" : "torch"; }

// -- constants ------------------------------------------------------------------------------------
static bool counts_up(const GraphValue *v) {
  for (int64_t i = 0; i < v->count; i++)
    if (v->data[i] != v->data[0] + (double)i) return false;
  return v->type == OUT_INT64 && v->rank == 1 && v->count > 1;
}

static bool all_equal(const GraphValue *v) {
  for (int64_t i = 1; i < v->count; i++)
    if (v->data[i] != v->data[0]) return false;
  return v->count > 1;
}

static void sizes_text(ArrayGraph *o, const GraphValue *v, Buf *b) {
  int64_t n;
  for (uint32_t k = 0; k < v->rank; k++) {
    arrays_is_number(o, v->dim[k], &n);
    buf_printf(b, "%s%lld", k ? ", " : "", (long long)n);
  }
}

static const char *table_text(PythonText *t, const GraphValue *v) {
  Buf b = buf_new(t->p->a);
  const char *lib = library(t);
  if (counts_up(v) && v->data[0] == 0) {
    buf_printf(&b, "%s.arange(%lld)", lib, (long long)v->count);
    return b.at;
  }
  if (counts_up(v)) {
    buf_printf(&b, "%s.arange(%lld, %lld)", lib, (long long)v->data[0],
               (long long)(v->data[0] + (double)v->count));
    return b.at;
  }
  if (all_equal(v)) {
    buf_printf(&b, "%s.full((", lib);
    sizes_text(t->o, v, &b);
    buf_text(&b, v->rank == 1 ? ",), " : "), ");
    python_number(&b, v->data[0], v->type);
    buf_text(&b, ")");
    return b.at;
  }
  buf_printf(&b, "%s.%s([", lib, t->p->jax ? "array" : "tensor");
  for (int64_t i = 0; i < v->count; i++) {
    if (i) buf_text(&b, i % 16 ? ", " : ",\n    ");
    python_number(&b, v->data[i], v->type);
  }
  buf_text(&b, "])");
  if (v->rank == 1) return b.at;
  buf_text(&b, ".reshape(");
  sizes_text(t->o, v, &b);
  buf_text(&b, ")");
  return b.at;
}

// Long constants are written once, before the definitions.
const char *python_constant(PythonText *t, Id value, bool array) {
  const GraphValue *v = arrays_value(t->o, value);
  Buf b = buf_new(t->p->a);
  if (!v->rank) {
    python_number(&b, v->data[0], v->type);
    if (!array) return b.at;
    return arena_format(t->p->a, "%s.%s(%s)", library(t), t->p->jax ? "array" : "tensor", b.at);
  }
  const char *text = table_text(t, v);
  size_t n = strlen(text);
  if (n < 60) return text;
  Id there = table_get(t->p->constant, text, n);
  if (!there) table_put(t->p->constant, text, n, there = ++t->p->constants);
  return arena_format(t->p->a, "TABLE_%u", there);
}

// -- operands -------------------------------------------------------------------------------------
const char *python_operand(PythonText *t, Id value, int prec) {
  const GraphValue *v = arrays_value(t->o, value);
  if (v->data) {
    const char *text = python_constant(t, value, false);
    bool low = *text == '-' && prec > PREC_NEG;
    return low ? arena_format(t->p->a, "(%s)", text) : text;
  }
  return t->prec[value] < prec ? arena_format(t->p->a, "(%s)", t->text[value]) : t->text[value];
}

static const char *whole_operand(PythonText *t, Id value, int prec) {
  const GraphValue *v = arrays_value(t->o, value);
  if (!v->data || v->count != 1) return python_operand(t, value, prec);
  Buf b = buf_new(t->p->a);
  python_number(&b, v->data[0], v->type);
  return b.at;
}

const char *python_array(PythonText *t, Id value, int prec) {
  if (arrays_is_known(t->o, value)) return python_constant(t, value, true);
  if (!t->host[value]) return python_operand(t, value, prec);
  bool whole =
      arrays_value(t->o, value)->type == OUT_INT64 || arrays_value(t->o, value)->type == OUT_BOOL;
  return arena_format(t->p->a, whole ? "%s.%s(%s)" : "%s.%s(float(%s))", library(t),
                      t->p->jax ? "array" : "tensor", t->text[value]);
}

// Comma-separated numbers: a shape, or axes.
static const char *number_list(PythonText *t, Id value) {
  const GraphValue *v = arrays_value(t->o, value);
  if (!v->data) return python_operand(t, value, PREC_ANY);
  Buf b = buf_new(t->p->a);
  for (int64_t i = 0; i < v->count; i++)
    buf_printf(&b, "%s%lld", i ? ", " : "", (long long)v->data[i]);
  return b.at;
}

static const char *tuple_of(PythonText *t, const char *list, bool one) {
  return one ? list : arena_format(t->p->a, "(%s)", list);
}

// -- rows -----------------------------------------------------------------------------------------
static const char *by_row(PythonText *t, const PythonRow *row, const GraphNode *n, bool host) {
  Buf b = buf_new(t->p->a);
  bool infix = row->prec < PREC_ATOM;
  const char *text = t->p->jax && row->jax ? row->jax : row->torch;
  if (host && !strcmp(n->op, "Max")) text = "max($0, $1)";
  if (host && !strcmp(n->op, "Min")) text = "min($0, $1)";
  for (const char *at = text; *at; at++) {
    if (at[0] == 'T' && at[1] == '.') {
      buf_text(&b, library(t));
    } else if (*at != '$') {
      buf_char(&b, *at);
    } else {
      uint32_t k = (uint32_t)(*++at - '0');
      bool postfix = at[1] == '.' || at[1] == '[';
      int want = postfix ? PREC_ATOM : infix ? row->prec + (k > 0 || row->prec == PREC_COMPARE) : 0;
      Id v = n->in.at[k];
      buf_text(&b, host          ? whole_operand(t, v, want)
                   : row->arrays ? python_array(t, v, want)
                                 : python_operand(t, v, want));
    }
  }
  return b.at;
}

// -- moving data ----------------------------------------------------------------------------------
// x[:, :, …] with `what` at one axis
static const char *at_axis(PythonText *t, Id value, int64_t axis, const char *what) {
  Buf b = buf_new(t->p->a);
  buf_printf(&b, "%s[", python_array(t, value, PREC_ATOM));
  for (int64_t k = 0; k < axis; k++) buf_text(&b, ":, ");
  buf_printf(&b, "%s]", what);
  return b.at;
}

static const char *unsqueezed(PythonText *t, const GraphNode *n) {
  const GraphValue *axes = arrays_value(t->o, n->in.at[1]);
  Buf b = buf_new(t->p->a);
  int64_t last = (int64_t)axes->data[axes->count - 1], i = 0;
  buf_printf(&b, "%s[", python_array(t, n->in.at[0], PREC_ATOM));
  for (int64_t k = 0; k <= last; k++) {
    bool fresh = i < axes->count && (int64_t)axes->data[i] == k;
    i += fresh;
    buf_printf(&b, "%s%s", k ? ", " : "", fresh ? "None" : ":");
  }
  buf_text(&b, "]");
  return b.at;
}

static const char *permuted(PythonText *t, const GraphNode *n) {
  const OutAttribute *perm = python_attribute(n, "perm");
  Buf b = buf_new(t->p->a);
  const char *x = python_array(t, n->in.at[0], PREC_ATOM);
  if (perm->n == 2) return arena_format(t->p->a, "%s.T", x);
  buf_printf(&b, "%s.%s(", x, t->p->jax ? "transpose" : "permute");
  for (uint32_t i = 0; i < perm->n; i++)
    buf_printf(&b, "%s%lld", i ? ", " : "", (long long)perm->numbers[i]);
  buf_text(&b, ")");
  return b.at;
}

static const char *expanded(PythonText *t, const GraphNode *n) {
  const GraphValue *v = arrays_value(t->o, n->in.at[0]);
  uint32_t rank = arrays_value(t->o, n->out.at[0])->rank;
  const char *shape = number_list(t, n->in.at[1]);
  const char *list = arena_format(t->p->a, rank == 1 ? "(%s,)" : "(%s)", shape);
  if (v->data && v->count == 1)
    return arena_format(t->p->a, "%s.full(%s, %s)", library(t), list,
                        python_constant(t, arrays_number(t->o, v->type, v->data[0]), false));
  if (t->p->jax)
    return arena_format(t->p->a, "jnp.broadcast_to(%s, %s)", python_array(t, n->in.at[0], 0), list);
  return arena_format(t->p->a, "%s.expand(%s)", python_array(t, n->in.at[0], PREC_ATOM), shape);
}

static const char *sliced(PythonText *t, const GraphNode *n) {
  int64_t of[4] = {0, 0, 0, 1};
  for (uint32_t i = 1; i < n->in.n; i++)
    of[i - 1] = (int64_t)arrays_value(t->o, n->in.at[i])->data[0];
  Arena *a = t->p->a;
  if (of[3] < 0)
    return at_axis(t, n->in.at[0], of[2],
                   arena_format(a, "%s.arange(%lld, %lld, %lld)", library(t), (long long)of[0],
                                (long long)(of[1] == INT32_MIN ? -1 : of[1]), (long long)of[3]));
  const char *step = of[3] == 1 ? "" : arena_format(a, ":%lld", (long long)of[3]);
  const char *from = of[0] ? arena_format(a, "%lld", (long long)of[0]) : "";
  return at_axis(t, n->in.at[0], of[2], arena_format(a, "%s:%lld%s", from, (long long)of[1], step));
}

static const char *pad_text(PythonText *t, const GraphNode *n) {
  const GraphValue *pads = arrays_value(t->o, n->in.at[1]);
  uint32_t rank = (uint32_t)pads->count / 2;
  Buf b = buf_new(t->p->a);
  const char *with = python_constant(t, n->in.at[2], false);
  buf_printf(&b, t->p->jax ? "jnp.pad(%s, (" : "F.pad(%s, (", python_array(t, n->in.at[0], 0));
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t axis = t->p->jax ? k : rank - 1 - k;
    buf_printf(&b, t->p->jax ? "%s(%lld, %lld)" : "%s%lld, %lld", k ? ", " : "",
               (long long)pads->data[axis], (long long)pads->data[rank + axis]);
  }
  if (t->p->jax && rank == 1) buf_text(&b, ",");
  buf_printf(&b, t->p->jax ? "), constant_values=%s)" : "), value=%s)", with);
  return b.at;
}

static const char *cast(PythonText *t, const GraphNode *n, int64_t to) {
  const char *type = to == OUT_INT64   ? t->p->jax ? "int" : "long"
                     : to == OUT_BOOL  ? "bool"
                     : t->p->jax       ? "jnp.float_"
                     : to == OUT_FLOAT ? "float"
                                       : "double";
  const char *x = python_array(t, n->in.at[0], PREC_ATOM);
  if (t->p->jax && to != OUT_INT64 && to != OUT_BOOL)
    type = to == OUT_FLOAT ? "jnp.float32" : "jnp.float64";
  return arena_format(t->p->a, t->p->jax ? "%s.astype(%s)" : "%s.%s()", x, type);
}

// -- reductions and joins -------------------------------------------------------------------------
static const char *reduce_text(PythonText *t, const GraphNode *n) {
  const GraphValue *axes = arrays_value(t->o, n->in.at[1]);
  const char *x = python_array(t, n->in.at[0], PREC_ATOM), *what = n->op + strlen("Reduce");
  const char *list = number_list(t, n->in.at[1]);
  if (!strcmp(what, "Sum"))
    return arena_format(t->p->a, "%s.sum(%s)", x, tuple_of(t, list, axes->count == 1));
  // the first of equal maxima gets the gradient; the axes are trailing
  if (axes->count > 1)
    x = t->p->jax ? arena_format(t->p->a, "%s.reshape(%s.shape[:-%lld] + (-1,))", x, x,
                                 (long long)axes->count)
                  : arena_format(t->p->a, "%s.flatten(-%lld)", x, (long long)axes->count);
  if (!strcmp(what, "Prod")) return arena_format(t->p->a, "%s.prod(-1)", x);
  const char *name = !strcmp(what, "Max") ? "max" : "min";
  return t->p->jax ? arena_format(t->p->a, "first_%s(%s)", name, x)
                   : arena_format(t->p->a, "%s.%s(-1).values", x, name);
}

static const char *joined(PythonText *t, const GraphNode *n, bool *host) {
  const OutAttribute *axis = python_attribute(n, "axis");
  Buf b = buf_new(t->p->a);
  *host = true;
  for (uint32_t i = 0; i < n->in.n; i++)
    *host &= t->host[n->in.at[i]] || arrays_is_known(t->o, n->in.at[i]);
  *host &= arrays_value(t->o, n->out.at[0])->type == OUT_INT64;
  if (!*host) buf_text(&b, t->p->jax ? "jnp.concatenate([" : "torch.cat([");
  for (uint32_t i = 0; i < n->in.n; i++)
    buf_printf(&b, "%s%s", i ? ", " : "",
               *host ? number_list(t, n->in.at[i]) : python_array(t, n->in.at[i], PREC_ANY));
  if (!*host) buf_printf(&b, "], %lld)", (long long)axis->number);
  return b.at;
}

static const char *sum_text(PythonText *t, const GraphNode *n) {
  Buf b = buf_new(t->p->a);
  buf_printf(&b, "%s.einsum(\"%s\"", library(t), python_attribute(n, "equation")->text);
  for (uint32_t i = 0; i < n->in.n; i++)
    buf_printf(&b, ", %s", python_array(t, n->in.at[i], PREC_ANY));
  buf_text(&b, ")");
  return b.at;
}

static const char *call_text_of(PythonText *t, const GraphNode *n) {
  Buf b = buf_new(t->p->a);
  buf_text(&b, python_attribute(n, "call")->text);
  bool first = b.at[b.n - 1] == '(';
  if (!first && !strchr(b.at, '(')) buf_text(&b, "("), first = true;
  for (uint32_t i = 0; i < n->in.n; i++) {
    buf_printf(&b, "%s%s", first ? "" : ", ", python_array(t, n->in.at[i], PREC_ANY));
    first = false;
  }
  buf_text(&b, ")");
  return b.at;
}

static const char *noise(PythonText *t, const GraphNode *n) {
  const char *shape = n->in.n ? number_list(t, n->in.at[0]) : "";
  bool normal = python_attribute(n, "normal")->number;
  t->p->noise = true;
  if (t->p->jax)
    return arena_format(t->p->a, "jax.random.%s(%s, (%s), REAL)", normal ? "normal" : "uniform",
                        python_attribute(n, "key")->text,
                        strchr(shape, ',') || !*shape ? shape
                                                      : arena_format(t->p->a, "%s,", shape));
  return arena_format(t->p->a, *shape ? "torch.%s(%s)" : "torch.%s(())", normal ? "randn" : "rand",
                      shape);
}

static const char *move_text(PythonText *t, const GraphNode *n) {
  Arena *a = t->p->a;
  if (!strcmp(n->op, "Transpose")) return permuted(t, n);
  if (!strcmp(n->op, "Unsqueeze")) return unsqueezed(t, n);
  if (!strcmp(n->op, "Expand")) return expanded(t, n);
  if (!strcmp(n->op, "Slice")) return sliced(t, n);
  if (!strcmp(n->op, "Pad")) return pad_text(t, n);
  if (!strcmp(n->op, "Cast")) return cast(t, n, python_attribute(n, "to")->number);
  if (!strcmp(n->op, "Gather"))
    return at_axis(t, n->in.at[0], python_attribute(n, "axis")->number,
                   python_operand(t, n->in.at[1], PREC_ANY));
  if (!strcmp(n->op, "Reshape")) {
    const char *shape = number_list(t, n->in.at[1]);
    return arena_format(a, *shape ? "%s.reshape(%s)" : "%s.reshape(())",
                        python_array(t, n->in.at[0], PREC_ATOM), shape);
  }
  return NULL;
}

static const char *special_text(PythonText *t, const GraphNode *n) {
  Arena *a = t->p->a;
  const OutAttribute *axis = python_attribute(n, "axis");
  const char *text = move_text(t, n);
  if (text) return text;
  if (!strncmp(n->op, "Reduce", strlen("Reduce"))) return reduce_text(t, n);
  if (!strcmp(n->op, "Einsum")) return sum_text(t, n);
  if (!strcmp(n->op, "Call")) return call_text_of(t, n);
  if (!strcmp(n->op, "Noise")) return noise(t, n);
  if (!strcmp(n->op, "Range"))
    return arena_format(a, "%s.arange(%s)", library(t), number_list(t, n->in.at[1]));
  if (!strncmp(n->op, "Arg", 3))
    return arena_format(a, "%s.%s(-1)", python_array(t, n->in.at[0], PREC_ATOM),
                        !strcmp(n->op, "ArgMax") ? "argmax" : "argmin");
  if (!strcmp(n->op, "TopK"))
    return arena_format(a,
                        t->p->jax ? "jnp.argsort(%s, %lld, stable=True)"
                                  : "torch.sort(%s, dim=%lld, stable=True).indices",
                        python_array(t, n->in.at[0], PREC_ANY), (long long)axis->number);
  return python_window(t, n);
}

const char *python_node(PythonText *t, const GraphNode *n, int *prec, bool *host) {
  *prec = PREC_ATOM;
  *host = false;
  Id x = n->in.n ? n->in.at[0] : 0;
  if (!strcmp(n->op, "Shape")) {
    *host = true;
    return arena_format(t->p->a, "%s.shape[%lld]", python_operand(t, x, PREC_ATOM),
                        (long long)python_attribute(n, "start")->number);
  }
  if (!strcmp(n->op, "Concat")) return joined(t, n, host);
  bool number = t->host[x] && (!strcmp(n->op, "Reshape") || !strcmp(n->op, "Cast"));
  if (!strcmp(n->op, "Identity") || number) {
    *host = t->host[x];
    *prec = arrays_is_known(t->o, x) ? PREC_ATOM : t->prec[x];
    return python_array(t, x, PREC_ANY) && *host ? t->text[x] : python_array(t, x, PREC_ANY);
  }
  PythonRow row;
  if (python_row(n->op, &row)) {
    bool some = false, all = !row.arrays || n->op[0] < 'a';
    for (uint32_t i = 0; i < n->in.n; i++) {
      some |= t->host[n->in.at[i]];
      all &= t->host[n->in.at[i]] || arrays_is_known(t->o, n->in.at[i]);
    }
    *host = some && all;
    *prec = row.prec;
    return by_row(t, &row, n, *host);
  }
  const char *text = special_text(t, n);
  if (!text)
    arrays_refuse(t->o, 0, "`%s` needs the array operation %s, which has no form in %s yet",
                  t->o->e->name ? t->o->e->name : "the program", n->op,
                  t->p->jax ? "JAX" : "PyTorch");
  return text ? text : "";
}
