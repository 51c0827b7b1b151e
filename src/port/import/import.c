// Imports the nodes in order, with a value for each name. Functions of the model are inlined at
// their calls.
#include "base/diag.h"
#include "base/table.h"
#include "port/import/own.h"

enum { WORK_LIMIT = 200000, CALL_LIMIT = 24, INPUTS_LIMIT = 4096 };
enum { MEMORY_FOR_EACH = 40, MEMORY_MORE = 64 << 20 }; // bytes: per byte of the file, and in total

// -- names of values ------------------------------------------------------------------------------
ImpScope *imp_new(Importer *m, ImpScope *outer, const OnnxOpsets *opset, const OnnxGraph *g) {
  ImpScope *s = NEW(m->arena, ImpScope);
  *s = (ImpScope){.names = table_new(m->arena), .path = "", .outer = outer, .opset = opset};
  if (outer) s->path = outer->path, s->depth = outer->depth, s->nested = outer->nested;
  s->graph = g;
  if (g) declared_record(m, s);
  return s;
}

Id imp_find(const ImpScope *s, const char *name) {
  for (; s; s = s->outer) {
    Id v = table_get(s->names, name, strlen(name));
    if (v) return v;
  }
  return 0;
}

void imp_put(ImpScope *s, const char *name, Id v) { table_put(s->names, name, strlen(name), v); }

bool imp_define(Importer *m, ImpScope *s, const char *name, Id v) {
  if (table_get(s->names, name, strlen(name)))
    return diag_refuse(m->diags, (Span){0}, "there are two values that are called `%s`",
                       text_shown(m->arena, name, strlen(name)));
  imp_put(s, name, v);
  return true;
}

static int64_t version_of(const ImpScope *s, const char *domain) {
  for (uint32_t i = 0; i < s->opset->n; i++)
    if (!strcmp(s->opset->at[i].domain, domain)) return s->opset->at[i].version;
  return 0;
}

// -- functions of the model -----------------------------------------------------------------------
static const OnnxFunction *function_find(const Importer *m, const OnnxNode *node) {
  for (uint32_t i = 0; i < m->model->function.n; i++) {
    const OnnxFunction *f = &m->model->function.at[i];
    if (!strcmp(f->name, node->op) && !strcmp(f->domain, node->domain)) return f;
  }
  return NULL;
}

static bool open_function(ImpNode *n, const OnnxFunction *f) {
  Importer *m = n->m;
  ImpScope *s = imp_new(m, NULL, &f->opset, NULL);
  s->path = n->scope->path;
  s->depth = n->scope->depth + 1;
  if (s->depth > CALL_LIMIT) return op_refuse(n, "functions call each other too deeply");
  if (n->nin > f->in.n || n->node->out.n > f->out.n)
    return op_refuse(n, "the function has other inputs or outputs");
  for (uint32_t i = 0; i < n->nin; i++)
    if (n->in[i] && !imp_define(m, s, f->in.at[i], n->in[i])) return false;
  if (!import_nodes(m, s, nodes_with(m, f, n->node, f->node.at, f->node.n), f->node.n))
    return false;
  for (uint32_t i = 0; i < n->node->out.n; i++) {
    Id v = imp_find(s, f->out.at[i]);
    if (!v && *n->node->out.at[i]) return op_refuse(n, "the function does not make its output");
    if (v) op_set_result(n, i, v);
  }
  return true;
}

// -- nodes ----------------------------------------------------------------------------------------
static bool resolve_inputs(ImpNode *n) {
  n->nin = n->node->in.n;
  n->in = NEW_ARRAY(n->m->arena, Id, n->nin + 1);
  for (uint32_t i = 0; i < n->nin; i++) {
    const char *name = n->node->in.at[i];
    n->in[i] = *name ? imp_find(n->scope, name) : 0;
    if (*name && !n->in[i] && !n->scope->depth) // a function's input that was omitted
      return op_refuse(n, "nothing before it makes `%s`",
                       text_shown(n->m->arena, name, strlen(name)));
  }
  while (n->nin && !n->in[n->nin - 1]) n->nin--;
  return true;
}

// Checks that the names of its outputs are new.
static bool outputs_are_new(ImpNode *n) {
  for (uint32_t i = 0; i < n->node->out.n; i++) {
    const char *name = n->node->out.at[i];
    bool twice = *name && table_get(n->scope->names, name, strlen(name));
    for (uint32_t k = 0; k < i && *name && !twice; k++) twice = !strcmp(n->node->out.at[k], name);
    if (twice)
      return op_refuse(n, "there is a `%s` before it", text_shown(n->m->arena, name, strlen(name)));
  }
  return true;
}

static bool node_is_valid(ImpNode *n) {
  if (!n->version)
    return op_refuse(n, "the model does not say which version of operator set `%s` it uses",
                     *n->node->domain
                         ? text_shown(n->m->arena, n->node->domain, strlen(n->node->domain))
                         : "ai.onnx");
  OnnxType *type = NEW_ARRAY(n->m->arena, OnnxType, n->nin + 1);
  for (uint32_t i = 0; i < n->nin; i++) type[i] = n->in[i] ? op_value(n, i)->type : ONNX_UNDEFINED;
  const char *why = onnx_node_fault(n->m->arena, n->node, n->version, type, n->nin);
  return !why || op_refuse(n, "%s", why);
}

// Does a size contain a number that no axis can have, as n+144115188075855872?
static bool has_huge_number(const char *size) {
  enum { DIGITS_MOST = 15 };
  uint32_t digits = 0;
  for (; size && *size; size++) {
    digits = *size >= '0' && *size <= '9' ? digits + 1 : 0;
    if (digits > DIGITS_MOST) return true;
  }
  return false;
}

// Results must not be empty and their elements must be countable. Constants may be empty, as lists
// of sizes are.
static bool sizes_made(ImpNode *n) {
  enum { PLACES_MOST = 1 << 30 };
  for (uint32_t i = 0; i < n->node->out.n; i++) {
    const char *name = n->node->out.at[i];
    Id v = table_get(n->scope->names, name, strlen(name));
    const ImpValue *x = v ? value_at(n->m, v) : NULL;
    for (uint32_t k = 0; x && k < x->shape.rank; k++) {
      const ImpSize *d = &x->shape.dim[k];
      if (!d->text && (d->n < (x->kind == IMP_MADE) || d->n > PLACES_MOST))
        return op_refuse(n, "axis %u of what it makes would have %lld places", k, (long long)d->n);
      if (has_huge_number(d->text))
        return op_refuse(n, "axis %u of what it makes is too large: %s", k, d->text);
    }
  }
  return true;
}

static bool import_node(Importer *m, ImpScope *s, const OnnxNode *node) {
  ImpNode n = {.m = m, .scope = s, .node = node, .version = version_of(s, node->domain)};
  if (++m->work > WORK_LIMIT)
    return diag_refuse(m->diags, (Span){0}, "the model has more than %d nodes once it is opened",
                       WORK_LIMIT);
  if (arena_used(m->arena) > m->memory)
    return op_refuse(&n, "what is computed before the program runs takes too much memory");
  if (node->in.n > INPUTS_LIMIT || node->out.n > INPUTS_LIMIT)
    return op_refuse(&n, "it has more than %d inputs or outputs", INPUTS_LIMIT);
  if (!resolve_inputs(&n) || !outputs_are_new(&n)) return false;
  const OnnxFunction *f = function_find(m, node);
  if (f) return open_function(&n, f);
  n.row = row_find(m->arena, node);
  if (n.row && !node_is_valid(&n)) return false;
  if (!n.row) return op_refuse(&n, "this operator is not known");
  bool good = fold_node(&n) || (!m->diags->errors && n.row->write(&n));
  return good && !m->diags->errors && sizes_made(&n) && declared_made(&n);
}

bool import_nodes(Importer *m, ImpScope *s, const OnnxNode *node, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!import_node(m, s, &node[i])) return false;
  return true;
}

// -- the graph ------------------------------------------------------------------------------------
bool import_initializers(Importer *m, ImpScope *s, const OnnxGraph *g) {
  const char *why;
  if (g->sparse) return diag_refuse(m->diags, (Span){0}, "sparse initializers cannot be imported");
  for (uint32_t i = 0; i < g->initializer.n; i++) {
    const OnnxTensor *t = &g->initializer.at[i];
    ImpShape shape = shape_of(t->rank, t->dim);
    double *data;
    Id there = table_get(m->initializer, &t, sizeof t); // of a subgraph imported several times
    if (there && !imp_define(m, s, t->name, there)) return false;
    if (there) continue;
    if (!onnx_numbers(m->arena, t, m->model->folder, &data, &why))
      return diag_refuse(m->diags, (Span){0}, "%s", why);
    ImpKind kind = is_trainable(m, t, data) ? IMP_WEIGHT : IMP_CONST;
    Id v = value_new(m, t->type, &shape, kind, t->name);
    value_at(m, v)->data = data;
    trainable_note(m, t, v, data);
    table_put(m->initializer, &t, sizeof t, v);
    if (!imp_define(m, s, t->name, v)) return false;
  }
  return true;
}

// A symbolic size by name: a number if the caller gave one.
static ImpSize *symbol_size(Importer *m, const char *symbol) {
  symbol_make(m, symbol);
  ImpSize *size = value_at(m, table_get(m->symbols, symbol, strlen(symbol)))->known;
  for (uint32_t i = 0; i < m->how->sizes; i++)
    if (!strcmp(m->how->size[i].name, symbol)) *size = dim_of(m->how->size[i].n);
  return size;
}

// An input given as constant is no input any more.
static bool import_given(Importer *m, ImpScope *s, const OnnxValueInfo *in, const Array *given) {
  ImpShape shape = shape_of(given->rank, given->shape);
  Id v = value_new(m, in->type, &shape, IMP_CONST, in->name);
  value_at(m, v)->data = given->data;
  imp_put(s, in->name, v);
  for (uint32_t i = 0; i < in->dim.n && i < shape.rank; i++)
    if (in->dim.at[i].symbol && symbol_size(m, in->dim.at[i].symbol)->text)
      *symbol_size(m, in->dim.at[i].symbol) = shape.dim[i];
  return declared_fits(m, NULL, in, v);
}

const char *symbol_names(Importer *m) {
  Buf b = buf_new(m->arena);
  for (uint32_t k = 0; k < m->value.n; k++)
    if (value_at(m, k)->symbol)
      buf_printf(&b, "%s`%s`", b.n ? ", " : "",
                 text_shown(m->arena, value_at(m, k)->symbol, strlen(value_at(m, k)->symbol)));
  return b.at;
}

// Does every size given by the caller occur in an input?
static bool sizes_are_known(Importer *m) {
  for (uint32_t i = 0; i < m->how->sizes; i++) {
    const char *name = m->how->size[i].name;
    if (m->symbols && table_get(m->symbols, name, strlen(name))) continue;
    diag_error(m->diags, (Span){0}, "no input of the model has a size that is called `%s`", name);
    const char *names = symbol_names(m);
    if (*names) diag_help(m->diags, m->diags->list.n - 1, "there are %s", names);
    return false;
  }
  return true;
}

static bool import_input(Importer *m, ImpScope *s, const OnnxValueInfo *in) {
  static const char *const kinds[] = {"",      "a sequence", "an optional",
                                      "a map", "sparse",     "without a type"};
  const char *name = text_shown(m->arena, in->name, strlen(in->name));
  const OnnxTypeInfo *t = &onnx_type_info[in->type];
  ImpShape shape = {.rank = in->dim.n};
  Id there = imp_find(s, in->name);
  // An initializer: older files list them as inputs.
  if (there) return declared_fits(m, NULL, in, there);
  const Array *given = m->how->given ? arrays_find(m->how->given, in->name) : NULL;
  if (given) return import_given(m, s, in, given);
  if (in->kind != ONNX_TENSOR)
    return diag_refuse(m->diags, (Span){0}, "input `%s` is %s, which a program has not", name,
                       kinds[in->kind]);
  if (!t->bits || t->kind == 'c')
    return diag_refuse(m->diags, (Span){0}, "input `%s` has elements of type %s", name, t->name);
  if (!in->has_shape)
    return diag_refuse(m->diags, (Span){0},
                       "input `%s` has no shape: how many axes it has must be known", name);
  for (uint32_t i = 0; i < in->dim.n; i++) {
    const OnnxDim *d = &in->dim.at[i];
    const char *symbol =
        d->symbol && *d->symbol ? d->symbol : arena_format(m->arena, "%s_%u", in->name, i);
    shape.dim[i] = d->size >= 0 ? dim_of(d->size) : *symbol_size(m, symbol);
  }
  bool empty = false; // an empty input is a constant
  for (uint32_t i = 0; i < shape.rank; i++) empty |= dim_is(shape.dim[i], 0);
  Id v = value_new(m, in->type, &shape, empty ? IMP_CONST : IMP_INPUT, in->name);
  if (empty) value_at(m, v)->data = NEW(m->arena, double);
  if (!empty) vec_push(m->arena, &m->input, v);
  imp_put(s, in->name, v);
  return true;
}

static bool import_output(Importer *m, ImpScope *s, const OnnxValueInfo *out) {
  Id v = imp_find(s, out->name);
  const char *name = text_shown(m->arena, out->name, strlen(out->name));
  if (!v) return diag_refuse(m->diags, (Span){0}, "nothing makes output `%s`", name);
  for (uint32_t i = 0; i < value_at(m, v)->shape.rank; i++)
    if (dim_is(value_at(m, v)->shape.dim[i], 0))
      return diag_refuse(m->diags, (Span){0},
                         "axis %u of output `%s` has no places: an axis has at least one", i, name);
  if (value_at(m, v)->kind == IMP_CONST && !value_at(m, v)->data)
    return diag_refuse(
        m->diags, (Span){0},
        "output `%s` is made of sizes that only have a name: --set gives them a number", name);
  // a scalar number is broadcast over axes, a bit is not
  if (value_at(m, v)->type == ONNX_BOOL && value_at(m, v)->shape.rank) value_at(m, v)->spelt = true;
  vec_push(m->arena, &m->output, v);
  return declared_fits(m, NULL, out, v);
}

static bool inputs_differ(Importer *m, const OnnxGraph *g) {
  Table *seen = table_new(m->arena);
  for (uint32_t i = 0; i < g->input.n; i++) {
    const char *name = g->input.at[i].name;
    if (table_get(seen, name, strlen(name)))
      return diag_refuse(m->diags, (Span){0}, "there are two inputs that are called `%s`",
                         text_shown(m->arena, name, strlen(name)));
    table_put(seen, name, strlen(name), 1);
  }
  return true;
}

enum { IR_NEWEST = 13 };

static const struct {
  const char *domain, *name;
  int oldest, newest;
} opsets_known[] = {{"", "", 7, 26},
                    {"ai.onnx.ml", "ai.onnx.ml ", 1, 5},
                    {"ai.onnx.preview.training", "ai.onnx.preview.training ", 1, 1},
                    {"com.microsoft", "com.microsoft ", 1, 1}};

static bool check_opsets(Importer *m, const OnnxOpsets *list) {
  Table *seen = table_new(m->arena);
  for (uint32_t i = 0; i < list->n; i++) {
    const OnnxOpset *o = &list->at[i];
    for (uint32_t k = 0; k < COUNT(opsets_known); k++)
      if (!strcmp(o->domain, opsets_known[k].domain) &&
          (o->version < opsets_known[k].oldest || o->version > opsets_known[k].newest))
        return diag_refuse(m->diags, (Span){0},
                           "the model uses operator set %s%lld, but %d to %d are known",
                           opsets_known[k].name, (long long)o->version, opsets_known[k].oldest,
                           opsets_known[k].newest);
    Id before = table_get(seen, o->domain, strlen(o->domain));
    if (before && list->at[before - 1].version != o->version)
      return diag_refuse(m->diags, (Span){0}, "the model uses two versions of operator set `%s`",
                         *o->domain ? text_shown(m->arena, o->domain, strlen(o->domain))
                                    : "ai.onnx");
    table_put(seen, o->domain, strlen(o->domain), i + 1);
  }
  return true;
}

static bool check_versions(Importer *m) {
  const OnnxModel *x = m->model;
  Table *seen = table_new(m->arena);
  if (x->ir_version < 1 || x->ir_version > IR_NEWEST)
    return diag_refuse(m->diags, (Span){0},
                       "the model is of IR version %lld, but 1 to %d are known",
                       (long long)x->ir_version, IR_NEWEST);
  for (uint32_t i = 0; i < x->function.n; i++) {
    const OnnxFunction *f = &x->function.at[i];
    const char *key = arena_format(m->arena, "%s %s", f->domain, f->name);
    if (!check_opsets(m, &f->opset)) return false;
    if (table_get(seen, key, strlen(key)))
      return diag_refuse(m->diags, (Span){0}, "there are two functions that are called `%s`",
                         text_shown(m->arena, f->name, strlen(f->name)));
    table_put(seen, key, strlen(key), 1);
  }
  return check_opsets(m, &x->opset);
}

static bool is_input(const OnnxGraph *g, const char *name) {
  for (uint32_t i = 0; i < g->input.n; i++)
    if (!strcmp(g->input.at[i].name, name)) return true;
  return false;
}

static bool import_graph(Importer *m) {
  const OnnxGraph *g = m->model->graph;
  ImpScope *s = imp_new(m, NULL, &m->model->opset, g);
  for (uint32_t i = 0; m->how->given && i < m->how->given->array.n; i++)
    if (!is_input(g, m->how->given->array.at[i].name))
      return diag_refuse(m->diags, (Span){0}, "the model has no input `%s`",
                         m->how->given->array.at[i].name);
  if (!check_versions(m) || !inputs_differ(m, g) || !trainable_begin(m)) return false;
  if (!import_initializers(m, s, g)) return false;
  for (uint32_t i = 0; i < g->input.n; i++) // inputs first that determine the sizes of others
    if (m->how->given && arrays_find(m->how->given, g->input.at[i].name) &&
        !import_input(m, s, &g->input.at[i]))
      return false;
  for (uint32_t i = 0; i < g->input.n; i++)
    if (!import_input(m, s, &g->input.at[i])) return false;
  if (!sizes_are_known(m)) return false;
  if (!import_nodes(m, s, g->node.at, g->node.n)) return false;
  for (uint32_t i = 0; i < g->output.n; i++)
    if (!import_output(m, s, &g->output.at[i])) return false;
  if (!g->output.n) return diag_refuse(m->diags, (Span){0}, "the model has no outputs");
  for (uint32_t i = 1; i < m->value.n && !m->input.n; i++)
    if (value_at(m, i)->box)
      return diag_refuse(m->diags, (Span){0}, "the model has no inputs, but a loop with weights");
  return true;
}

bool import_onnx(Arena *a, Diags *diags, const ImportOptions *how, Imported *out) {
  Importer *m = NEW(a, Importer);
  OnnxModel *model;
  const char *why = NULL;
  *m = (Importer){.arena = a, .diags = diags, .how = how, .initializer = table_new(a)};
  vec_push(a, &m->value, (ImpValue){0});
  bool read = how->bytes ? onnx_read_bytes(a, how->bytes, how->n, NULL, &model, &why)
                         : onnx_read(a, how->path, &model, &why);
  if (!read) return diag_refuse(diags, (Span){0}, "%s", why);
  m->model = model;
  m->memory = arena_used(a) + MEMORY_FOR_EACH * model->size + MEMORY_MORE;
  if (!import_graph(m)) return false;
  write_program(m, out);
  out->graph = model->graph->name;
  trainable_warn(m);
  return true;
}
