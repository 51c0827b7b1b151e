// Exports a box or learner, in use, as an ONNX model: lowers the inlined and simplified diagram box
// by box. A sample axis of size N precedes all inputs and results; weights are initializers named
// by their paths.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/interpret.h"
#include "core/pass/pass.h"
#include "port/export/onnx_own.h"

// -- the boundary ---------------------------------------------------------------------------------
static void put_inputs(ArrayGraph *o, const Diagram *d, Id *of_wire) {
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *name = name_text(o->w->names, wire->name);
    GraphValue v = arrays_like(o, &wire->type);
    if (!*name) name = d->in.n == 1 ? "in" : arena_format(o->a, "in.%u", i + 1);
    Id made = of_wire[d->in.at[i]] = arrays_input(o, name, v.type, v.rank, v.dim);
    vec_push(o->a, &o->level->in, made);
    arrays_note_sizes(o, made, &wire->type);
  }
}

// A model is one protobuf message, which is limited to 2 GB.
static bool weights_fit(ArrayGraph *o, const Diagram *d) {
  double bytes = 0;
  int64_t n;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (type_count(o->w, &d->wire.at[d->param.at[i].wire].type, &n))
      bytes += (double)n * (o->real == OUT_FLOAT ? 4 : 8);
  return bytes < INT32_MAX ||
         export_error(o->e, OUTCOME_WRONG,
                      "`%s` has %.3g GB of weights, and an ONNX file has less than 2 GB",
                      o->e->name, bytes / 1e9);
}

static bool put_weights(ArrayGraph *o, const Diagram *d, Id *of_wire) {
  Tensor *param;
  if (!weights_fit(o, d) || !export_params(o->e, d, &param)) return false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    GraphValue v = arrays_like(o, &d->wire.at[p->wire].type);
    for (uint32_t k = 0; k < v.rank; k++) v.dim[k] = size_of(o->w, param[i].shape[k]);
    Id made = of_wire[p->wire] = arrays_input(o, p->path, v.type, v.rank, v.dim);
    GraphValue *to = arrays_value(o, made);
    to->data = param[i].data;
    to->count = param[i].count;
    to->weight = p->role != ROLE_CONST;
  }
  return true;
}

// Each result needs a node of its own and has its name in the program.
static void put_outputs(ArrayGraph *o, const Diagram *d, const Id *of_wire) {
  for (uint32_t i = 0; i < d->out.n; i++) {
    Id made = of_wire[d->out.at[i]];
    GraphValue v = *arrays_value(o, made);
    bool taken = !v.node;
    for (uint32_t k = 0; k < i; k++) taken |= o->level->out.at[k] == made;
    if (taken) made = arrays_node(o, "Identity", 1, &made, &v);
    arrays_value(o, made)->name = diagram_result_text(o->w, o->a, d, i);
    vec_push(o->a, &o->level->out, made);
  }
}

bool export_onnx(Export *e) {
  const Diagram *d = export_diagram(e, true);
  if (!d || !diagram_is_small(e->w, d)) return false;
  d = diagram_simplify(e->w, diagram_inline_all(e->w, d));
  ArrayGraph o = {.e = e, .w = e->w, .a = e->arena, .constant = table_new(e->arena)};
  o.real = e->how->precision == LIMN_PRECISION_64 ? OUT_DOUBLE : OUT_FLOAT;
  o.level = NEW(e->arena, GraphLevel);
  vec_push(o.a, &o.value, (GraphValue){0});
  vec_push(o.a, &o.node, (GraphNode){0});
  Id *of_wire = NEW_ARRAY(o.a, Id, d->wire.n + 1);
  put_inputs(&o, d, of_wire);
  if (!put_weights(&o, d, of_wire)) return false;
  arrays_boxes(&o, d, of_wire);
  if (o.failed) return false;
  o.said = 0;
  put_outputs(&o, d, of_wire);
  onnx_tidy(&o);
  Bytes bytes;
  return !o.failed && onnx_written(&o, e->name, &bytes) &&
         export_write_file(e, export_file(e), bytes.at, bytes.n);
}
