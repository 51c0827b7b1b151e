// Decides which initializers are trainable. ONNX does not distinguish weights from running means,
// masks or tables. So:
//
//   what the caller says, by name                                      decides
//   a file that limn has written: every initializer of floats          is learned: its constants are Constant nodes
//   floats of more than one number, and of one with an axis, called … weight or … bias     are learned,
//     unless one of them is no finite number, as in a mask,
//     or only comparisons, roundings and quantised operators read them, through which no derivative comes
//   everything else                                                    is a constant
//
// Doubtful decisions are reported as warnings.
#include "base/diag.h"
#include "base/hash.h"
#include "base/table.h"
#include "base/words.h"
#include "port/import/own.h"

#include <math.h>

// -- readers --------------------------------------------------------------------------------------
typedef struct {
  const OnnxNode *node; // NULL: an unknown reader, such as a subgraph
  uint32_t next;        // index + 1 of the next reader; 0: none
} ImpReader;
struct ImpLearned {
  Table *first; // name to its first reader, from 1
  VEC(ImpReader) reader;
  uint32_t work; // number of readers visited
  Ids one, two;  // constants that may be trainable; weights with two distinct values
};

static void add_reader(Importer *m, const char *name, const OnnxNode *node) {
  ImpLearned *all = m->learned;
  size_t n = strlen(name);
  vec_push(m->arena, &all->reader, (ImpReader){node, table_get(all->first, name, n)});
  table_put(all->first, name, n, all->reader.n);
}

// inside: a subgraph, whose names may refer to outer ones.
static void read_graph(Importer *m, const OnnxGraph *g, bool inside) {
  for (uint32_t i = 0; i < g->output.n; i++) add_reader(m, g->output.at[i].name, NULL);
  for (uint32_t i = 0; i < g->node.n; i++) {
    const OnnxNode *node = &g->node.at[i];
    for (uint32_t k = 0; k < node->in.n; k++) add_reader(m, node->in.at[k], inside ? NULL : node);
    for (uint32_t k = 0; k < node->attribute.n; k++)
      if (node->attribute.at[k].g) read_graph(m, node->attribute.at[k].g, true);
  }
}

static bool stops_gradient(const OnnxNode *node) {
  const OnnxAttribute *to = !strcmp(node->op, "Cast") ? onnx_attribute(node, "to") : NULL;
  if (to) return to->i <= 0 || to->i >= ONNX_TYPES || !is_float((OnnxType)to->i);
  return text_has_word(" Equal Less LessOrEqual Greater GreaterOrEqual Sign Floor Ceil Round IsNaN "
                       "IsInf ArgMax ArgMin "
                       "Shape Size QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul ",
                       node->op);
}

static bool only_moves_data(const OnnxNode *node) {
  return node->out.n == 1 && text_has_word(" Identity Reshape Transpose Slice Squeeze Expand "
                                           "Unsqueeze Flatten Gather Cast ",
                                           node->op);
}

enum { MOVES_MOST = 16, WORK_MOST = 1 << 22 };

// Does a gradient flow back to this name? If the search takes too long: yes.
static bool has_derivative(Importer *m, const char *name, uint32_t depth) {
  ImpLearned *all = m->learned;
  uint32_t at = table_get(all->first, name, strlen(name));
  for (bool none = !at; at || none; at = all->reader.at[at - 1].next) {
    const OnnxNode *node = none ? NULL : all->reader.at[at - 1].node;
    if (!node || depth > MOVES_MOST || ++all->work > WORK_MOST) return true;
    if (stops_gradient(node)) continue;
    if (!only_moves_data(node) || has_derivative(m, node->out.at[0], depth + 1)) return true;
  }
  return false;
}

// -- what the caller says -------------------------------------------------------------------------
// Comma-separated names; one that ends in * matches a prefix.
static bool is_listed(const char *list, const char *name) {
  while (list && *list) {
    size_t n = strcspn(list, ",");
    bool star = n && list[n - 1] == '*';
    if (star ? !strncmp(list, name, n - 1) : strlen(name) == n && !strncmp(list, name, n))
      return true;
    list += n + (list[n] == ',');
  }
  return false;
}

static bool list_is_known(Importer *m, const char *list) {
  const OnnxGraph *g = m->model->graph;
  while (list && *list) {
    size_t n = strcspn(list, ",");
    const char *one = arena_text(m->arena, list, n);
    bool found = false;
    for (uint32_t i = 0; i < g->initializer.n && !found; i++)
      found = is_listed(one, g->initializer.at[i].name);
    if (!found)
      return diag_refuse(m->diags, (Span){0}, "the model has no initializer that is called `%s`",
                         text_shown(m->arena, one, n));
    list += n + (list[n] == ',');
  }
  return true;
}

bool trainable_begin(Importer *m) {
  m->learned = NEW(m->arena, ImpLearned);
  m->learned->first = table_new(m->arena);
  read_graph(m, m->model->graph, false);
  return list_is_known(m, m->how->learned) && list_is_known(m, m->how->fixed);
}

// -- the rule -------------------------------------------------------------------------------------
static bool is_finite(const OnnxTensor *t, const double *data) {
  for (int64_t i = 0; i < t->count; i++)
    if (!isfinite(data[i])) return false;
  return true;
}

bool is_trainable(Importer *m, const OnnxTensor *t, const double *data) {
  if (!is_float(t->type) || is_listed(m->how->fixed, t->name)) return false;
  if (is_listed(m->how->learned, t->name) || !strcmp(m->model->producer, "limn")) return true;
  bool named = text_ends(t->name, "bias") || text_ends(t->name, "weight");
  return (t->count > 1 || (t->rank && named)) && is_finite(t, data) &&
         has_derivative(m, t->name, 0);
}

// -- what may be otherwise ------------------------------------------------------------------------
// PyTorch names parameters and buffers by path; generated names are onnx::Mul_12, /Cast_3 and 345.
static bool is_path(const Importer *m, const char *name) {
  return !strcmp(m->model->producer, "pytorch") && *name != '/' && !strstr(name, "::") &&
         strspn(name, "0123456789") < strlen(name);
}

// Has it exactly two distinct values, as a mask?
static bool is_twofold(const double *data, int64_t n) {
  double other = NAN;
  for (int64_t i = 1; i < n; i++) {
    if (data[i] == data[0] || data[i] == other) continue;
    if (!isnan(other)) return false;
    other = data[i];
  }
  return n > 2 && !isnan(other);
}

void trainable_note(Importer *m, const OnnxTensor *t, Id v, const double *data) {
  bool said = is_listed(m->how->fixed, t->name) || is_listed(m->how->learned, t->name) ||
              !strcmp(m->model->producer, "limn");
  bool weight = value_at(m, v)->kind == IMP_WEIGHT;
  if (said || !is_float(t->type)) return;
  if (!weight && t->count == 1 && is_path(m, t->name) && has_derivative(m, t->name, 0))
    vec_push(m->arena, &m->learned->one, v);
  if (weight && is_twofold(data, t->count)) vec_push(m->arena, &m->learned->two, v);
}

static void warn_about_list(Importer *m, const Ids *list, const char *what, const char *option) {
  enum { NAMED_MOST = 8 };
  Buf names = buf_new(m->arena);
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const ImpValue *v = value_at(m, list->at[i]);
    if (!v->reads) continue;
    if (n++ < NAMED_MOST)
      buf_printf(&names, "%s`%s`", names.n ? ", " : "",
                 text_shown(m->arena, v->onnx, strlen(v->onnx)));
  }
  if (!n) return;
  if (n > NAMED_MOST) buf_printf(&names, " and %u more", n - NAMED_MOST);
  Id said = diag_warning(m->diags, (Span){0}, "%s: %s", what, names.at);
  diag_help(m->diags, said, "`limn import %s NAME` says otherwise", option);
}

// A hash of the values, independent of their order.
static uint64_t numbers_hash(const double *data, int64_t n) {
  uint64_t all = 0;
  for (int64_t i = 0; i < n; i++) all += hash_bytes(HASH_START, &data[i], sizeof data[i]);
  return all;
}

static void warn_about_equal_weights(Importer *m) {
  enum { TWIN_LEAST = 16 }; // elements
  Table *seen = table_new(m->arena);
  for (Id i = 1; i < m->value.n; i++) {
    const ImpValue *v = value_at(m, i);
    int64_t n = v->kind == IMP_WEIGHT && v->reads && v->data ? shape_count(&v->shape) : 0;
    bool alike = true;
    for (int64_t k = 1; k < n && alike; k++) alike = v->data[k] == v->data[0];
    if (n < TWIN_LEAST || alike) continue;
    uint64_t key[2] = {(uint64_t)n, numbers_hash(v->data, n)};
    Id twin = table_get(seen, key, sizeof key);
    table_put(seen, key, sizeof key, i);
    if (twin)
      diag_warning(m->diags, (Span){0},
                   "`%s` and `%s` hold the same numbers, and are two weights: if one was used "
                   "twice, its exporter has written it twice",
                   text_shown(m->arena, value_at(m, twin)->onnx, strlen(value_at(m, twin)->onnx)),
                   text_shown(m->arena, v->onnx, strlen(v->onnx)));
  }
}

void trainable_warn(Importer *m) {
  warn_about_list(m, &m->learned->one, "single numbers that may have been learned are constants",
                  "--learned");
  warn_about_list(m, &m->learned->two, "what looks like a mask is learned", "--fixed");
  if (strcmp(m->model->producer, "limn") != 0) warn_about_equal_weights(m);
}
