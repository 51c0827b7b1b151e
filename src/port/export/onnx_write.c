// Writes the live part of a graph with distinct names. Inputs, results and weights get their names
// first; other values are named by their wire in the program or by their operator.
#include "base/table.h"
#include "port/export/onnx_own.h"

typedef struct {
  ArrayGraph *o;
  bool *node, *value; // [node], [value]: is it live?
  const char **name;  // [value]
  Table *taken;
} GraphWriting;

// -- live values ----------------------------------------------------------------------------------
static void mark_value(ArrayGraph *o, Id id, bool *node, bool *value) {
  const GraphValue *v = &o->value.at[id];
  if (value[id]) return;
  value[id] = true;
  if (!v->node || node[v->node]) return;
  node[v->node] = true;
  const GraphNode *n = &o->node.at[v->node];
  for (uint32_t i = 0; i < n->in.n; i++) mark_value(o, n->in.at[i], node, value);
  for (uint32_t i = 0; n->inside && i < n->inside->out.n; i++)
    mark_value(o, n->inside->out.at[i], node, value);
}

void onnx_mark_live(ArrayGraph *o, bool *node, bool *value) {
  for (uint32_t i = 0; i < o->level->out.n; i++) mark_value(o, o->level->out.at[i], node, value);
}

// -- names ----------------------------------------------------------------------------------------
static void name_value(GraphWriting *g, Id id, const char *name) {
  Arena *a = g->o->a;
  const char *own = name;
  if (g->name[id]) return;
  for (uint32_t i = 2; table_get(g->taken, own, strlen(own)); i++)
    own = arena_format(a, "%s.%u", name, i);
  table_put(g->taken, own, strlen(own), 1);
  g->name[id] = own;
}

// ReduceSum becomes reduce_sum.
static const char *lower_text(Arena *a, const char *text) {
  Buf low = buf_new(a);
  for (const char *at = text; *at; at++) {
    bool capital = *at >= 'A' && *at <= 'Z';
    if (capital && at > text) buf_char(&low, '_');
    buf_char(&low, capital ? (char)(*at - 'A' + 'a') : *at);
  }
  return low.at;
}

static void name_level(GraphWriting *g, const GraphLevel *level) {
  ArrayGraph *o = g->o;
  for (uint32_t i = 0; i < level->in.n; i++) {
    const char *name = arrays_value(o, level->in.at[i])->name;
    name_value(g, level->in.at[i], *name ? name : "state");
  }
  for (uint32_t i = 0; i < level->node.n; i++) {
    const GraphNode *n = &o->node.at[level->node.at[i]];
    if (!g->node[level->node.at[i]]) continue;
    for (uint32_t k = 0; k < n->out.n; k++) {
      const char *name = arrays_value(o, n->out.at[k])->name;
      name_value(g, n->out.at[k], *name ? name : lower_text(o->a, n->op));
    }
    if (n->inside) name_level(g, n->inside);
  }
}

static void name_all(GraphWriting *g) {
  ArrayGraph *o = g->o;
  for (uint32_t i = 0; i < o->level->in.n; i++)
    name_value(g, o->level->in.at[i], arrays_value(o, o->level->in.at[i])->name);
  for (uint32_t i = 0; i < o->level->out.n; i++)
    name_value(g, o->level->out.at[i], arrays_value(o, o->level->out.at[i])->name);
  for (Id i = 1; i < o->value.n; i++)
    if (g->value[i] && o->value.at[i].data && o->value.at[i].weight)
      name_value(g, i, o->value.at[i].name);
  for (Id i = 1; i < o->value.n; i++)
    if (g->value[i] && o->value.at[i].data)
      name_value(g, i, *o->value.at[i].name ? o->value.at[i].name : "constant");
  name_level(g, o->level);
}

// -- structs of port/onnx -------------------------------------------------------------------------
static const char *const *names_of(GraphWriting *g, const Ids *of) {
  const char **all = NEW_ARRAY(g->o->a, const char *, of->n + 1);
  for (uint32_t i = 0; i < of->n; i++) all[i] = of->at[i] ? g->name[of->at[i]] : "";
  return all;
}

// The sample axis is N; other open sizes keep their names.
static OutInfo info_of(GraphWriting *g, Id id) {
  ArrayGraph *o = g->o;
  const GraphValue *v = arrays_value(o, id);
  OutDim *dim = NEW_ARRAY(o->a, OutDim, v->rank + 1);
  for (uint32_t k = 0; k < v->rank; k++) {
    Id var;
    if (arrays_is_number(o, v->dim[k], &dim[k].size)) continue;
    bool samples = size_is_var(o->w, v->dim[k], &var) && size_var_kind(o->w, var) == VAR_SAMPLE;
    dim[k].symbol = samples ? "N" : size_text(o->w, v->dim[k]);
  }
  return (OutInfo){g->name[id], v->type, v->rank, dim};
}

static OutGraph graph_of(GraphWriting *g, const GraphLevel *level, const char *name) {
  ArrayGraph *o = g->o;
  OutGraph to = {.name = name};
  for (uint32_t i = 0; i < level->node.n; i++) {
    if (!g->node[level->node.at[i]]) continue;
    GraphNode *n = &o->node.at[level->node.at[i]];
    if (n->inside) {
      OutGraph *body = NEW(o->a, OutGraph);
      *body = graph_of(g, n->inside, "body");
      vec_push(o->a, &n->attribute,
               (OutAttribute){.name = "body", .kind = OUT_A_GRAPH, .graph = body});
    }
    OutNode node = {.op = n->op, .nin = n->in.n, .nout = n->out.n, .nattribute = n->attribute.n};
    node.in = names_of(g, &n->in);
    node.out = names_of(g, &n->out);
    node.attribute = n->attribute.at;
    vec_push(o->a, &to.node, node);
  }
  for (uint32_t i = 0; i < level->in.n; i++) vec_push(o->a, &to.input, info_of(g, level->in.at[i]));
  for (uint32_t i = 0; i < level->out.n; i++)
    vec_push(o->a, &to.output, info_of(g, level->out.at[i]));
  return to;
}

static void add_constants(GraphWriting *g, OutGraph *to) {
  ArrayGraph *o = g->o;
  for (Id i = 1; i < o->value.n; i++) {
    const GraphValue *v = &o->value.at[i];
    if (!g->value[i] || !v->data) continue;
    int64_t *dim = NEW_ARRAY(o->a, int64_t, v->rank + 1);
    for (uint32_t k = 0; k < v->rank; k++) arrays_is_number(o, v->dim[k], &dim[k]);
    OutTensor t = {g->name[i], v->type, v->rank, dim, v->count, v->data, v->weight};
    vec_push(o->a, &to->tensor, t);
  }
}

bool onnx_written(ArrayGraph *o, const char *name, Bytes *bytes) {
  const char *error;
  GraphWriting g = {.o = o,
                    .node = NEW_ARRAY(o->a, bool, o->node.n),
                    .value = NEW_ARRAY(o->a, bool, o->value.n),
                    .name = NEW_ARRAY(o->a, const char *, o->value.n),
                    .taken = table_new(o->a)};
  onnx_mark_live(o, g.node, g.value);
  name_all(&g);
  OutGraph graph = graph_of(&g, o->level, name);
  add_constants(&g, &graph);
  return onnx_bytes(o->a, &graph, bytes, &error) || export_error(o->e, OUTCOME_WRONG, "%s", error);
}
