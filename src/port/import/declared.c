// Checks declared types and shapes against inferred ones. A contradiction is refused, since it is
// unclear which is meant. Names of symbolic sizes are often written by hand, so a conflicting name
// is only a warning.
#include "base/diag.h"
#include "base/table.h"
#include "port/import/own.h"

void declared_record(Importer *m, ImpScope *s) {
  const OnnxGraph *g = s->graph;
  s->declared = table_new(m->arena);
  for (uint32_t i = 0; i < g->value.n; i++)
    table_put(s->declared, g->value.at[i].name, strlen(g->value.at[i].name), i + 1);
  for (uint32_t i = 0; i < g->output.n; i++)
    table_put(s->declared, g->output.at[i].name, strlen(g->output.at[i].name), g->value.n + i + 1);
}

static const char *value_text(Importer *m, OnnxType type, const ImpShape *shape) {
  Buf b = buf_new(m->arena);
  buf_printf(&b, "%s[", onnx_type_info[type].name);
  for (uint32_t i = 0; i < shape->rank; i++)
    buf_printf(&b, "%s%s", i ? " " : "", dim_text(m, shape->dim[i]));
  buf_char(&b, ']');
  return b.at;
}

static const char *declared_text(Importer *m, const OnnxValueInfo *d) {
  Buf b = buf_new(m->arena);
  buf_text(&b, onnx_type_info[d->type].name);
  if (d->has_shape) buf_char(&b, '[');
  for (uint32_t i = 0; i < d->dim.n; i++) {
    const OnnxDim *s = &d->dim.at[i];
    if (i) buf_char(&b, ' ');
    if (s->size >= 0)
      buf_printf(&b, "%lld", (long long)s->size);
    else
      buf_text(&b,
               s->symbol && *s->symbol ? text_shown(m->arena, s->symbol, strlen(s->symbol)) : "?");
  }
  if (d->has_shape) buf_char(&b, ']');
  return b.at;
}

// The size of inputs with this name; NULL: none.
static const ImpSize *size_named(Importer *m, const char *symbol) {
  Id v = symbol && m->symbols ? table_get(m->symbols, symbol, strlen(symbol)) : 0;
  return v ? value_at(m, v)->known : NULL;
}

bool declared_fits(Importer *m, const OnnxNode *node, const OnnxValueInfo *d, Id v) {
  const ImpValue *x = value_at(m, v);
  bool right = d->type == ONNX_UNDEFINED || d->type == x->type, named = true;
  if (d->kind != ONNX_TENSOR) return true;
  if (d->has_shape && d->dim.n != x->shape.rank) right = false;
  for (uint32_t i = 0; right && d->has_shape && i < d->dim.n; i++) {
    const OnnxDim *said = &d->dim.at[i];
    ImpSize size = x->shape.dim[i];
    const ImpSize *other = size_named(m, said->symbol);
    if (said->size >= 0 && !size.text && said->size != size.n) right = false;
    if (said->size < 0 && other && !dim_same(*other, size)) named = false;
  }
  if (right && named) return true;
  const char *what = text_shown(m->arena, d->name, strlen(d->name));
  const char *who = node ? arena_format(m->arena, "%s: `%s`", node_shown(m->arena, node), what)
                         : arena_format(m->arena, "`%s`", what);
  const char *is = value_text(m, x->type, &x->shape), *said = declared_text(m, d);
  if (right)
    return diag_warning(m->diags, (Span){0}, "%s is %s, but the model says %s", who, is, said),
           true;
  return diag_refuse(m->diags, (Span){0}, "%s is %s, but the model says %s", who, is, said);
}

bool declared_made(ImpNode *n) {
  ImpScope *s = n->scope;
  for (uint32_t i = 0; s->declared && i < n->node->out.n; i++) {
    const char *name = n->node->out.at[i];
    size_t length = strlen(name);
    Id v = table_get(s->names, name, length), said = table_get(s->declared, name, length);
    uint32_t values = s->graph->value.n;
    if (v && said &&
        !declared_fits(n->m, n->node,
                       said > values ? &s->graph->output.at[said - values - 1]
                                     : &s->graph->value.at[said - 1],
                       v))
      return false;
  }
  return true;
}
