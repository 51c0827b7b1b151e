// A box or learner as an ONNX model, as it is in use: the diagram after inlining and simplifying,
// box by box. Samples stand in front of every input and result, as the size N; weights are
// initializers under their paths.
#include "core/pass/pass.h"
#include "port/export/onnx_own.h"

// -- boxes ----------------------------------------------------------------------------------------
static GraphValue like_wire(Onnx *o, const Type *t) {
  GraphValue v = {.type = onnx_type_of(o, (Base)t->base), .rank = t->rank};
  v.dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) v.dim[k] = t->axis[k].size;
  return v;
}

static void onnx_join(Onnx *o, const Diagram *d, const Box *box, Id *of_wire) {
  GraphValue like = like_wire(o, &d->wire.at[box->out[0]].type);
  Id *in = NEW_ARRAY(o->a, Id, box->nin + 1);
  for (uint32_t i = 0; i < box->nin; i++) in[i] = of_wire[box->in[i]];
  Id made = onnx_node(o, "Concat", box->nin, in, &like);
  onnx_attribute_number(o, made, "axis", box->axis);
  of_wire[box->out[0]] = made;
}

// TopK of all, the smallest first: equal ones keep their order.
static void onnx_order(Onnx *o, const Diagram *d, const Box *box, Id *of_wire) {
  const Type *t = &d->wire.at[box->out[0]].type;
  GraphValue like = like_wire(o, t), from = *onnx_value(o, of_wire[box->in[0]]);
  Id value = onnx_cast(o, of_wire[box->in[0]], o->real);
  Id in[] = {value, onnx_size(o, t->axis[box->axis].size)};
  from.type = o->real;
  Id made = onnx_node(o, "TopK", 2, in, &from);
  onnx_attribute_number(o, made, "axis", box->axis);
  onnx_attribute_number(o, made, "largest", 0);
  onnx_attribute_number(o, made, "sorted", 1);
  of_wire[box->out[0]] = onnx_more(o, made, OUT_INT64, like.rank, like.dim);
}

static void onnx_box(Onnx *o, const Diagram *d, const Box *box, Id *of_wire) {
  Id known = box->op == OP_loop && !o->python ? known_pattern(o, d, box, of_wire) : 0;
  if (known) {
    of_wire[box->out[0]] = known;
    return;
  }
  switch (box->op) {
  case OP_loop: onnx_loop(o, d, box, of_wire); break;
  case OP_join: onnx_join(o, d, box, of_wire); break;
  case OP_order: onnx_order(o, d, box, of_wire); break;
  case OP_scan: onnx_scan(o, d, box, of_wire); break;
  case OP_call: python_call(o, d, box, of_wire); break;
  default:
    if (o->python) {
      of_wire[box->out[0]] = python_noise(o, &d->wire.at[box->out[0]].type, box->random->noise);
      return;
    }
    onnx_refuse(o, box->origin,
                "`%s` makes noise here, and ONNX has none that is the same everywhere: name a box "
                "that takes the noise as an input",
                o->e->name);
  }
}

void onnx_boxes(Onnx *o, const Diagram *d, Id *of_wire) {
  for (Id i = 1; i < d->box.n && !o->failed; i++) {
    const Box *box = &d->box.at[i];
    o->said = d->wire.at[box->out[0]].name;
    onnx_box(o, d, box, of_wire);
  }
}

// -- the boundary ---------------------------------------------------------------------------------
void onnx_see_sizes(Onnx *o, Id value, const Type *t) {
  for (uint32_t k = 0; k < t->rank; k++) {
    Id var;
    bool there = false;
    if (!size_is_var(o->w, t->axis[k].size, &var)) continue;
    for (uint32_t i = 0; i < o->source.n; i++) there |= o->source.at[i].var == var;
    if (!there) vec_push(o->a, &o->source, (SizeSource){var, value, k});
  }
}

static void put_inputs(Onnx *o, const Diagram *d, Id *of_wire) {
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *name = name_text(o->w->names, wire->name);
    GraphValue v = like_wire(o, &wire->type);
    if (!*name) name = d->in.n == 1 ? "in" : arena_format(o->a, "in.%u", i + 1);
    Id made = of_wire[d->in.at[i]] = onnx_input(o, name, v.type, v.rank, v.dim);
    vec_push(o->a, &o->level->in, made);
    onnx_see_sizes(o, made, &wire->type);
  }
}

// A model is one message of protobuf, which has less than 2 GB.
static bool weights_fit(Onnx *o, const Diagram *d) {
  double bytes = 0;
  int64_t n;
  for (uint32_t i = 0; i < d->param.n; i++)
    if (type_count(o->w, &d->wire.at[d->param.at[i].wire].type, &n))
      bytes += (double)n * (o->real == OUT_FLOAT ? 4 : 8);
  return bytes < INT32_MAX ||
         export_wrong(o->e, OUTCOME_WRONG,
                      "`%s` has %.3g GB of weights, and an ONNX file has less than 2 GB",
                      o->e->name, bytes / 1e9);
}

static bool put_weights(Onnx *o, const Diagram *d, Id *of_wire) {
  Tensor *param;
  if (!weights_fit(o, d) || !export_params(o->e, d, &param)) return false;
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    GraphValue v = like_wire(o, &d->wire.at[p->wire].type);
    for (uint32_t k = 0; k < v.rank; k++) v.dim[k] = size_of(o->w, param[i].shape[k]);
    Id made = of_wire[p->wire] = onnx_input(o, p->path, v.type, v.rank, v.dim);
    GraphValue *to = onnx_value(o, made);
    to->data = param[i].data;
    to->count = param[i].count;
    to->weight = true;
  }
  return true;
}

// A result is made by a node, one for each, and has the name that it has in the program.
static void put_outputs(Onnx *o, const Diagram *d, const Id *of_wire) {
  for (uint32_t i = 0; i < d->out.n; i++) {
    const char *name = name_text(o->w->names, d->wire.at[d->out.at[i]].name);
    Id made = of_wire[d->out.at[i]];
    GraphValue v = *onnx_value(o, made);
    bool taken = !v.node;
    for (uint32_t k = 0; k < i; k++) taken |= o->level->out.at[k] == made;
    if (taken) made = onnx_node(o, "Identity", 1, &made, &v);
    if (!*name) name = d->out.n == 1 ? "out" : arena_format(o->a, "out.%u", i + 1);
    onnx_value(o, made)->name = name;
    vec_push(o->a, &o->level->out, made);
  }
}

bool export_onnx(Export *e) {
  const Diagram *d = export_diagram(e, true);
  if (!d || !diagram_is_small(e->w, d)) return false;
  d = diagram_simplify(e->w, diagram_inline_all(e->w, d));
  Onnx o = {.e = e, .w = e->w, .a = e->arena, .constant = table_new(e->arena)};
  o.real = e->how->precision == LIMN_PRECISION_64 ? OUT_DOUBLE : OUT_FLOAT;
  o.level = NEW(e->arena, GraphLevel);
  vec_push(o.a, &o.value, (GraphValue){0});
  vec_push(o.a, &o.node, (GraphNode){0});
  Id *of_wire = NEW_ARRAY(o.a, Id, d->wire.n + 1);
  put_inputs(&o, d, of_wire);
  if (!put_weights(&o, d, of_wire)) return false;
  onnx_boxes(&o, d, of_wire);
  if (o.failed) return false;
  o.said = 0;
  put_outputs(&o, d, of_wire);
  onnx_tidy(&o);
  Bytes bytes;
  return !o.failed && onnx_written(&o, e->name, &bytes) &&
         export_put(e, export_file(e), bytes.at, bytes.n);
}
