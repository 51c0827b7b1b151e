// Lowers a diagram box by box.
#include "port/arrays/arrays.h"

GraphValue arrays_like(ArrayGraph *o, const Type *t) {
  GraphValue v = {.type = arrays_type_of(o, (Base)t->base), .rank = t->rank};
  v.dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) v.dim[k] = t->axis[k].size;
  return v;
}

static void arrays_join(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  GraphValue like = arrays_like(o, &d->wire.at[box->out[0]].type);
  Id *in = NEW_ARRAY(o->a, Id, box->nin + 1);
  for (uint32_t i = 0; i < box->nin; i++) in[i] = of_wire[box->in[i]];
  Id made = arrays_node(o, "Concat", box->nin, in, &like);
  arrays_attribute_number(o, made, "axis", box->axis);
  of_wire[box->out[0]] = made;
}

// TopK of all elements, smallest first; it is stable.
static void arrays_order(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  const Type *t = &d->wire.at[box->out[0]].type;
  GraphValue like = arrays_like(o, t), from = *arrays_value(o, of_wire[box->in[0]]);
  Id value = arrays_cast(o, of_wire[box->in[0]], o->real);
  Id in[] = {value, arrays_size(o, t->axis[box->axis].size)};
  from.type = o->real;
  Id made = arrays_node(o, "TopK", 2, in, &from);
  arrays_attribute_number(o, made, "axis", box->axis);
  arrays_attribute_number(o, made, "largest", 0);
  arrays_attribute_number(o, made, "sorted", 1);
  of_wire[box->out[0]] = arrays_add_result(o, made, OUT_INT64, like.rank, like.dim);
}

static void arrays_box(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  Id known = box->op == OP_loop && !o->calls ? known_pattern(o, d, box, of_wire) : 0;
  if (known) {
    of_wire[box->out[0]] = known;
    return;
  }
  switch (box->op) {
  case OP_loop: arrays_loop(o, d, box, of_wire); break;
  case OP_join: arrays_join(o, d, box, of_wire); break;
  case OP_order: arrays_order(o, d, box, of_wire); break;
  case OP_scan: arrays_scan(o, d, box, of_wire); break;
  case OP_call: o->calls->call(o, d, box, of_wire); break; // without `calls`, they were inlined
  default:
    if (o->calls) {
      of_wire[box->out[0]] = o->calls->noise(o, &d->wire.at[box->out[0]].type, box->random->noise);
      return;
    }
    arrays_refuse(
        o, box->origin,
        "`%s` makes noise here, and ONNX has none that is the same everywhere: name a box "
        "that takes the noise as an input",
        o->e->name);
  }
}

void arrays_boxes(ArrayGraph *o, const Diagram *d, Id *of_wire) {
  for (Id i = 1; i < d->box.n && !o->failed; i++) {
    const Box *box = &d->box.at[i];
    o->said = d->wire.at[box->out[0]].name;
    arrays_box(o, d, box, of_wire);
  }
}

void arrays_note_sizes(ArrayGraph *o, Id value, const Type *t) {
  for (uint32_t k = 0; k < t->rank; k++) {
    Id var;
    bool there = false;
    if (!size_is_var(o->w, t->axis[k].size, &var)) continue;
    for (uint32_t i = 0; i < o->source.n; i++) there |= o->source.at[i].var == var;
    if (!there) vec_push(o->a, &o->source, (SizeSource){var, value, k});
  }
}
