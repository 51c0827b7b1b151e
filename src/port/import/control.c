// Subgraphs: If with a constant condition imports one branch, otherwise both with a selection. Loop
// and Scan become scans if all steps are alike; otherwise loops of known length are unrolled.
#include "base/diag.h"
#include "port/import/own.h"

enum { STEPS_LIMIT = 1000 };

// -- graphs of functions --------------------------------------------------------------------------
static const OnnxAttribute *attribute_given(const OnnxFunction *f, const OnnxNode *call,
                                            const char *name) {
  const OnnxAttribute *a = onnx_attribute(call, name);
  for (uint32_t i = 0; !a && i < f->standard.n; i++)
    if (!strcmp(f->standard.at[i].name, name)) a = &f->standard.at[i];
  return a;
}

static OnnxGraph *graph_with(Importer *m, const OnnxFunction *f, const OnnxNode *call,
                             const OnnxGraph *g) {
  OnnxGraph *copy = arena_copy(m->arena, g, sizeof *g);
  copy->node.at = nodes_with(m, f, call, g->node.at, g->node.n);
  return copy;
}

OnnxNode *nodes_with(Importer *m, const OnnxFunction *f, const OnnxNode *call, const OnnxNode *all,
                     uint32_t n) {
  OnnxNode *node = arena_copy(m->arena, all, sizeof *all * n);
  for (uint32_t i = 0; i < n; i++) {
    memset(&node[i].attribute, 0, sizeof node[i].attribute);
    for (uint32_t k = 0; k < all[i].attribute.n; k++) {
      OnnxAttribute a = all[i].attribute.at[k];
      const OnnxAttribute *given = a.ref ? attribute_given(f, call, a.ref) : &a;
      if (!given) continue;
      const char *name = a.name;
      a = *given, a.name = name, a.ref = NULL;
      if (a.g && a.type == ONNX_ATTR_GRAPH) a.g = graph_with(m, f, call, a.g);
      vec_push(m->arena, &node[i].attribute, a);
    }
  }
  return node;
}

// -- a graph with values for its inputs -----------------------------------------------------------
static const OnnxGraph *inner(const ImpNode *n, const char *name) {
  return onnx_attribute(n->node, name)->g;
}

Id *run_graph(ImpNode *n, const OnnxGraph *g, const Id *in, uint32_t nin) {
  Importer *m = n->m;
  ImpScope *s = imp_new(m, n->scope, n->scope->opset, g);
  Id *out = NEW_ARRAY(m->arena, Id, g->output.n + 1);
  if (++s->nested > ONNX_DEPTH_LIMIT) return op_refuse(n, "graphs are nested too deeply"), NULL;
  if (nin != g->input.n)
    return op_refuse(n, "its graph has %u inputs, but %u values are there", g->input.n, nin), NULL;
  for (uint32_t i = 0; i < nin; i++) {
    if (!declared_fits(m, n->node, &g->input.at[i], in[i])) return NULL;
    if (!imp_define(m, s, g->input.at[i].name, in[i])) return NULL;
  }
  if (!import_initializers(m, s, g) || !import_nodes(m, s, g->node.at, g->node.n)) return NULL;
  for (uint32_t i = 0; i < g->output.n; i++) {
    out[i] = imp_find(s, g->output.at[i].name);
    if (!out[i]) return op_refuse(n, "its graph does not make its output"), NULL;
    if (!declared_fits(m, n->node, &g->output.at[i], out[i])) return NULL;
  }
  return out;
}

// -- If -------------------------------------------------------------------------------------------
static bool choose(ImpNode *n, const Id *then, const Id *other, uint32_t count) {
  Importer *m = n->m;
  for (uint32_t i = 0; i < count; i++) {
    const ImpShape *a = &value_at(m, then[i])->shape, *b = &value_at(m, other[i])->shape;
    bool same = a->rank == b->rank && value_at(m, then[i])->type == value_at(m, other[i])->type;
    for (uint32_t k = 0; same && k < a->rank; k++) same = dim_same(a->dim[k], b->dim[k]);
    if (!same)
      return op_refuse(
          n,
          "its branches give other sizes, and which of them is taken is not known before it runs");
    op_set_result(n, i,
                  add_equation(n, value_at(m, then[i])->type, IN(n->in[0], then[i], other[i]),
                               "[*] = $1 when $0[%s] else $2",
                               op_value(n, 0)->shape.rank ? "0" : ""));
  }
  return true;
}

bool op_if(ImpNode *n) {
  const OnnxGraph *then = inner(n, "then_branch"), *other = inner(n, "else_branch");
  const ImpValue *c = op_value(n, 0);
  if (c->data && shape_count(&c->shape) == 1) {
    const OnnxGraph *g = c->data[0] != 0 ? then : other;
    const Id *out = run_graph(n, g, NULL, 0);
    for (uint32_t i = 0; out && i < g->output.n; i++) op_set_result(n, i, out[i]);
    return out;
  }
  const Id *a = run_graph(n, then, NULL, 0), *b = a ? run_graph(n, other, NULL, 0) : NULL;
  if (!b) return false;
  if (then->output.n != other->output.n) return op_refuse(n, "its branches give other values");
  return choose(n, a, b, then->output.n);
}

// -- what loops gather ----------------------------------------------------------------------------
typedef VEC(Id) Gathered;

// Stacks values of one shape along a new axis. 0 with a message.
static Id add_stack(ImpNode *n, const Gathered *all, uint32_t axis, bool backwards) {
  Importer *m = n->m;
  if (!all->n) return op_refuse(n, "it gathers nothing: an axis has at least one place"), 0;
  ImpShape one = value_at(m, all->at[0])->shape, wide = {.rank = one.rank + 1};
  if (wide.rank > ONNX_RANK_LIMIT || axis > one.rank)
    return op_refuse(n, "it would have too many axes"), 0;
  for (uint32_t i = 0; i < wide.rank; i++)
    wide.dim[i] = i == axis ? dim_of(1) : one.dim[i - (i > axis)];
  Id *in = NEW_ARRAY(m->arena, Id, all->n);
  Buf list = buf_new(m->arena);
  for (uint32_t i = 0; i < all->n; i++) {
    in[i] = add_reshape(n, all->at[backwards ? all->n - 1 - i : i], &wide);
    if (!in[i]) return 0;
    buf_printf(&list, "%s$%u[%s]", i ? ", " : "", i, index_letters(m, wide.rank));
  }
  return all->n == 1 ? in[0]
                     : add_equation(n, value_at(m, all->at[0])->type, in, "concat[%s](%s)",
                                    imp_letter[axis], list.at);
}

// Stacks constants.
static Id stack_known(ImpNode *n, const Gathered *all) {
  Importer *m = n->m;
  for (uint32_t i = 0; i < all->n; i++)
    if (!value_at(m, all->at[i])->data) return 0;
  ImpShape one = all->n ? value_at(m, all->at[0])->shape : (ImpShape){0},
           out = {.rank = one.rank + 1};
  if (!all->n || out.rank > ONNX_RANK_LIMIT) return 0;
  int64_t count = shape_count(&one);
  out.dim[0] = dim_of(all->n);
  for (uint32_t i = 0; i < one.rank; i++) out.dim[i + 1] = one.dim[i];
  double *data = NEW_ARRAY(m->arena, double, count * all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) {
    if (shape_count(&value_at(m, all->at[i])->shape) != count) return 0;
    for (int64_t k = 0; k < count; k++) data[i * count + k] = value_at(m, all->at[i])->data[k];
  }
  return value_const(m, value_at(m, all->at[0])->type, &out, data);
}

// -- Loop -----------------------------------------------------------------------------------------
// cond: 1 or 0, or -1: unknown.
static int known_condition(ImpNode *n, Id v) {
  const ImpValue *c = v ? value_at(n->m, v) : NULL;
  if (!c) return 1;
  return c->data && shape_count(&c->shape) == 1 ? c->data[0] != 0 : -1;
}

bool op_loop(ImpNode *n) {
  Importer *m = n->m;
  const OnnxGraph *g = inner(n, "body");
  double most = STEPS_LIMIT + 1;
  if (op_in(n, 0) && !op_scalar(n, 0, &most)) return false;
  uint32_t carried = n->nin > 2 ? n->nin - 2 : 0,
           gathered = g->output.n > carried ? g->output.n - carried - 1 : 0;
  Id *in = NEW_ARRAY(m->arena, Id, carried + 2), condition = op_in(n, 1);
  Gathered *all = NEW_ARRAY(m->arena, Gathered, gathered + 1);
  for (uint32_t i = 0; i < carried; i++) in[2 + i] = n->in[2 + i];
  for (int64_t step = 0; (double)step < most; step++) {
    int go = known_condition(n, condition);
    if (go < 0) return op_refuse(n, "how often it runs is not known before it does");
    if (!go) break;
    if (step == STEPS_LIMIT) return op_refuse(n, "it runs more than %d times", STEPS_LIMIT);
    in[0] = value_number(m, ONNX_INT64, (double)step);
    in[1] = condition ? condition : value_number(m, ONNX_BOOL, 1);
    const Id *out = run_graph(n, g, in, 2 + carried);
    if (!out) return false;
    condition = out[0];
    for (uint32_t i = 0; i < carried; i++) in[2 + i] = out[1 + i];
    for (uint32_t i = 0; i < gathered; i++) vec_push(m->arena, &all[i], out[1 + carried + i]);
  }
  for (uint32_t i = 0; i < carried; i++) op_set_result(n, i, in[2 + i]);
  for (uint32_t i = 0; i < gathered; i++) {
    bool wanted = carried + i < n->node->out.n && *n->node->out.at[carried + i];
    Id v = wanted ? stack_known(n, &all[i]) : 0;
    if (wanted && !v && !(v = add_stack(n, &all[i], 0, false))) return false;
    if (wanted) op_set_result(n, carried + i, v);
  }
  return true;
}

// -- Scan -----------------------------------------------------------------------------------------
static int64_t listed(ImpNode *n, const char *name, uint32_t k) {
  ImpInts list = attr_ints(n, name);
  return list.there && k < list.n ? list.at[k] : 0;
}

// One index of an axis, which is removed.
static Id add_index_select(ImpNode *n, Id v, uint32_t axis, int64_t place) {
  Importer *m = n->m;
  uint32_t rank = value_at(m, v)->shape.rank;
  const char *const *letter = imp_letter + axis;
  return equation(n, IN(v), "[%s] = $0[%s %lld %s]", index_letters(m, rank - 1),
                  index_letters(m, axis), (long long)place, join_words(m, rank - axis - 1, letter));
}

typedef struct {
  const OnnxGraph *graph;
  uint32_t scanned, carried, gathered;
  uint32_t *axis; // [scanned]
  ImpSize steps;
} ScanNode;

static bool scan_read(ImpNode *n, ScanNode *s) {
  s->graph = inner(n, "body");
  int64_t along = attr_int(n, "num_scan_inputs", 0);
  if (along < 1 || along > n->nin || n->nin - (uint32_t)along > s->graph->output.n)
    return op_refuse(n, "its inputs do not fit its graph");
  s->scanned = (uint32_t)along, s->carried = n->nin - s->scanned;
  s->gathered = s->graph->output.n - s->carried;
  s->axis = NEW_ARRAY(n->m->arena, uint32_t, s->scanned);
  for (uint32_t i = 0; i < s->scanned; i++) {
    const ImpShape *x = &op_value(n, s->carried + i)->shape;
    if (!op_axis(n, listed(n, "scan_input_axes", i), x->rank, &s->axis[i])) return false;
    if (i && !dim_same(x->dim[s->axis[i]], s->steps))
      return op_refuse(n, "what it goes along has different lengths");
    s->steps = x->dim[s->axis[i]];
  }
  return true;
}

// A scan input with the step axis first and in order.
static Id add_scan_row(ImpNode *n, const ScanNode *s, uint32_t i) {
  Importer *m = n->m;
  Id v = n->in[s->carried + i];
  uint32_t rank = value_at(m, v)->shape.rank, axis = s->axis[i];
  bool back = listed(n, "scan_input_directions", i) == 1;
  const char *steps = dim_inside(m, s->steps),
             *at = back ? arena_format(m->arena, "%s-1-i", steps) : "i";
  Id row = equation(n, IN(v), "[i:%s %s] = $0[%s %s %s]", dim_text(m, s->steps),
                    join_words(m, rank - 1, imp_letter + 1), join_words(m, axis, imp_letter + 1),
                    at, join_words(m, rank - axis - 1, imp_letter + axis + 1));
  if (row) value_at(m, row)->onnx = value_at(m, v)->onnx;
  return row;
}

// A scan output with the step axis where it is wanted. 0 with a message.
static Id add_scan_output(ImpNode *n, uint32_t i, Id all) {
  Importer *m = n->m;
  uint32_t rank = value_at(m, all)->shape.rank, to;
  ImpSize steps = value_at(m, all)->shape.dim[0];
  if (!op_axis(n, listed(n, "scan_output_axes", i), rank, &to)) return 0;
  bool back = listed(n, "scan_output_directions", i) == 1;
  if (!to && !back) return all;
  const char *at = back ? arena_format(m->arena, "%s-1-i", dim_inside(m, steps)) : "i";
  return equation(n, IN(all), "[%s i:%s %s] = $0[%s %s]", join_words(m, to, imp_letter + 1),
                  dim_text(m, steps), join_words(m, rank - to - 1, imp_letter + to + 1), at,
                  join_words(m, rank - 1, imp_letter + 1));
}

static bool scan_as_scan(ImpNode *n, const ScanNode *s) {
  Importer *m = n->m;
  uint32_t before = m->line.n;
  Id *row = NEW_ARRAY(m->arena, Id, s->scanned);
  for (uint32_t i = 0; i < s->scanned; i++) row[i] = add_scan_row(n, s, i);
  Steps steps = {.graph = s->graph,
                 .steps = s->steps,
                 .rows = s->scanned,
                 .carried = s->carried,
                 .gathered = s->gathered,
                 .row = row,
                 .start = n->in,
                 .in = NEW_ARRAY(m->arena, Id, n->nin + 1),
                 .row_in = s->carried,
                 .last = NEW_ARRAY(m->arena, Id, s->carried + 1),
                 .all = NEW_ARRAY(m->arena, Id, s->gathered + 1)};
  if (m->diags->errors || s->graph->input.n != n->nin || !add_step_scan(n, &steps)) {
    m->line.n = before;
    return false;
  }
  for (uint32_t i = 0; i < s->carried; i++) op_set_result(n, i, steps.last[i]);
  for (uint32_t i = 0; i < s->gathered; i++) {
    Id v = add_scan_output(n, i, steps.all[i]);
    if (v) op_set_result(n, s->carried + i, v);
  }
  return true;
}

bool op_scan(ImpNode *n) {
  Importer *m = n->m;
  ScanNode s = {0};
  if (!scan_read(n, &s)) return false;
  if (scan_as_scan(n, &s) || m->diags->errors) return !m->diags->errors;
  Id *in = NEW_ARRAY(m->arena, Id, n->nin + 1);
  Gathered *all = NEW_ARRAY(m->arena, Gathered, s.gathered + 1);
  for (uint32_t i = 0; i < s.carried; i++) in[i] = n->in[i];
  if (!op_fixed_axis(n, s.carried, s.axis[0])) return false;
  if (s.steps.n > STEPS_LIMIT) return op_refuse(n, "it runs more than %d times", STEPS_LIMIT);
  for (int64_t step = 0; step < s.steps.n; step++) {
    for (uint32_t i = 0; i < s.scanned; i++) {
      bool back = listed(n, "scan_input_directions", i) == 1;
      in[s.carried + i] =
          add_index_select(n, n->in[s.carried + i], s.axis[i], back ? s.steps.n - 1 - step : step);
    }
    const Id *out = run_graph(n, s.graph, in, n->nin);
    if (!out) return false;
    for (uint32_t i = 0; i < s.carried; i++) in[i] = out[i];
    for (uint32_t i = 0; i < s.gathered; i++) vec_push(m->arena, &all[i], out[s.carried + i]);
  }
  for (uint32_t i = 0; i < s.carried; i++) op_set_result(n, i, in[i]);
  for (uint32_t i = 0; i < s.gathered; i++) {
    int64_t to = listed(n, "scan_output_axes", i);
    if (to < 0) to += value_at(m, all[i].at[0])->shape.rank + 1;
    Id v = add_stack(n, &all[i], (uint32_t)to, listed(n, "scan_output_directions", i) == 1);
    if (!v) return false;
    op_set_result(n, s.carried + i, v);
  }
  return true;
}

// -- numbers that are drawn -----------------------------------------------------------------------
static bool sizes_of(ImpNode *n, const ImpInts *list, ImpShape *shape) {
  if (list->n > ONNX_RANK_LIMIT) return op_refuse(n, "%u axes are too many", list->n);
  *shape = shape_of(list->n, list->at);
  return shape_count(shape) > 0 || op_refuse(n, "an axis has at least one place");
}

// Noise differs in each run, as in the model; random streams of other systems cannot be reproduced.
bool op_random(ImpNode *n) {
  Importer *m = n->m;
  const char *op = n->node->op;
  bool like = text_ends(op, "Like"), normal = !strncmp(op, "RandomNormal", 12),
       coin = !strcmp(op, "Bernoulli");
  ImpInts list = attr_ints(n, "shape");
  ImpShape shape = {0};
  if (like || coin)
    shape = op_value(n, 0)->shape;
  else if (!sizes_of(n, &list, &shape))
    return false;
  Buf right = buf_new(m->arena);
  float a = attr_float(n, normal ? "mean" : "low", 0),
        b = attr_float(n, normal ? "scale" : "high", 1);
  buf_text(&right, normal ? "normal[" : "uniform[");
  for (uint32_t i = 0; i < shape.rank; i++)
    buf_printf(&right, "%s%s", i ? " " : "", dim_text(m, shape.dim[i]));
  buf_char(&right, ']');
  if (!coin) buf_printf(&right, " * %s + %s", short_term(m, normal ? b : b - a), short_term(m, a));
  OnnxType type = like || coin ? op_value(n, 0)->type : ONNX_FLOAT;
  int64_t asked = attr_int(n, "dtype", type);
  if (asked < 1 || asked >= ONNX_TYPES || (!coin && !is_float((OnnxType)asked)))
    return op_refuse(n, "its type is not known");
  Id v = add_line(n, coin ? ONNX_FLOAT : (OnnxType)asked, &shape, (ImpForm){.right = right.at},
                  NULL, 0);
  if (coin)
    v = add_equation(n, (OnnxType)asked, IN(n->in[0], v),
                     asked == ONNX_BOOL ? "[*] = ($1 < $0)" : "[*] = number($1 < $0)");
  return op_set_result(n, 0, v);
}
