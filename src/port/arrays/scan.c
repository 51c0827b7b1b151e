// Lowers a scan to ONNX Scan: carried states first, sliced inputs as scan inputs. Held values and
// weights are captured: a body may read outer values.
#include "base/names.h"
#include "port/arrays/arrays.h"

static Id body_input(ArrayGraph *o, const Wire *wire) {
  const Type *t = &wire->type;
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  const char *name = name_text(o->w->names, wire->name);
  Id made = arrays_input(o, name, arrays_type_of(o, (Base)t->base), t->rank, dim);
  vec_push(o->a, &o->level->in, made);
  return made;
}

// Carried states come first. Scan needs a scan input: without slices, a counter.
static void body_inputs(ArrayGraph *o, const Box *box, const Id *of_wire, Id *inside) {
  const Scan *s = box->scan;
  const Diagram *body = s->body;
  uint32_t given = s->slice + s->carry;
  for (uint32_t i = s->slice; i < given; i++)
    inside[body->in.at[i]] = body_input(o, &body->wire.at[body->in.at[i]]);
  for (uint32_t i = 0; i < s->slice; i++)
    inside[body->in.at[i]] = body_input(o, &body->wire.at[body->in.at[i]]);
  if (!s->slice) vec_push(o->a, &o->level->in, arrays_input(o, "step", OUT_INT64, 0, NULL));
  for (uint32_t i = given; i < body->in.n; i++) inside[body->in.at[i]] = of_wire[box->in[i]];
  for (uint32_t i = 0; i < body->param.n; i++)
    inside[body->param.at[i].wire] = of_wire[box->in[body->in.n + i]];
}

// Outputs of the body must be made in it and be distinct.
static void body_outputs(ArrayGraph *o, const Scan *s, const Id *inside) {
  for (uint32_t i = 0; i < s->body->out.n; i++) {
    Id made = inside[s->body->out.at[i]];
    GraphValue v = *arrays_value(o, made);
    bool own = false;
    for (uint32_t k = 0; v.node && k < o->level->node.n; k++) own |= o->level->node.at[k] == v.node;
    for (uint32_t k = 0; k < o->level->out.n; k++) own &= o->level->out.at[k] != made;
    if (!own) made = arrays_node(o, "Identity", 1, &made, &v);
    vec_push(o->a, &o->level->out, made);
  }
}

static void directions(ArrayGraph *o, Id made, const Scan *s, uint32_t emitted) {
  uint32_t slices = s->slice ? s->slice : 1;
  int64_t *back = NEW_ARRAY(o->a, int64_t, slices + emitted + 1);
  for (uint32_t i = 0; i < slices + emitted; i++) back[i] = 1;
  arrays_attribute_number(o, made, "num_scan_inputs", slices);
  if (!s->back) return;
  arrays_attribute_list(o, made, "scan_input_directions", slices, back);
  if (emitted) arrays_attribute_list(o, made, "scan_output_directions", emitted, back);
}

static GraphLevel *scan_body(ArrayGraph *o, const Box *box, const Id *of_wire) {
  GraphLevel *level = NEW(o->a, GraphLevel);
  Id *inside = NEW_ARRAY(o->a, Id, box->scan->body->wire.n + 1);
  level->around = o->level;
  o->level = level;
  body_inputs(o, box, of_wire, inside);
  arrays_boxes(o, box->scan->body, inside);
  if (!o->failed) body_outputs(o, box->scan, inside);
  o->level = level->around;
  return level;
}

void arrays_scan(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  const Scan *s = box->scan;
  uint32_t n = 0;
  Id *in = NEW_ARRAY(o->a, Id, s->carry + s->slice + 1);
  GraphLevel *body = scan_body(o, box, of_wire);
  if (o->failed) return;
  for (uint32_t i = 0; i < s->carry; i++) in[n++] = of_wire[box->in[s->slice + i]];
  for (uint32_t i = 0; i < s->slice; i++) in[n++] = of_wire[box->in[i]];
  if (!s->slice) in[n++] = arrays_count_up(o, s->axis.size);
  Id first = 0;
  for (uint32_t i = 0; i < box->nout; i++) {
    const Type *t = &d->wire.at[box->out[i]].type;
    Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
    OutType type = arrays_type_of(o, (Base)t->base);
    for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
    of_wire[box->out[i]] =
        i ? arrays_add_result(o, first, type, t->rank, dim)
          : arrays_node(o, "Scan", n, in, &(GraphValue){.type = type, .rank = t->rank, .dim = dim});
    if (!i) first = of_wire[box->out[0]];
  }
  directions(o, first, s, box->nout - s->carry);
  arrays_maker(o, first)->inside = body;
}
