// Diagrams become functions and classes: what a diagram calls stands in front of it, and what is the
// same text is written once.
#include "core/pass/pass.h"
#include "port/export/python_own.h"

// -- calls ----------------------------------------------------------------------------------------
// A diagram that only calls another one, with everything that it has: its callee stands for it.
static const Diagram *peeled(const Diagram *d, Arena *a, Id **in) {
  for (;;) {
    if (d->reverse || d->box.n != 2 || d->box.at[1].op != OP_call) return d;
    const Box *box = &d->box.at[1];
    const Diagram *inner = box->callee;
    if (box->nin != d->in.n + d->param.n || d->out.n != inner->out.n) return d;
    for (uint32_t i = 0; i < d->out.n; i++)
      if (d->out.at[i] != box->out[i]) return d;
    for (uint32_t i = 0; i < d->in.n; i++)
      if (box->in[i] != d->in.at[i]) return d;
    Id *own = NEW_ARRAY(a, Id, box->nin + 1);
    for (uint32_t i = 0; i < box->nin; i++) {
      own[i] = i < d->in.n ? (*in)[i] : 0;
      for (uint32_t k = 0; k < d->param.n; k++)
        if (i >= d->in.n && d->param.at[k].wire == box->in[i]) own[i] = (*in)[d->in.n + k];
    }
    *in = own;
    d = inner;
  }
}

static const char *path_of(const Diagram *d, Id wire) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].wire == wire) return d->param.at[i].path;
  return NULL;
}

// "dense.1" where all its weights are called dense.1/…; NULL: they have nothing in common.
static const char *prefix_of(Arena *a, const Diagram *d, const Diagram *callee, const Id *in) {
  const char *all = NULL;
  for (uint32_t i = 0; i < callee->param.n; i++) {
    const char *outer = path_of(d, in[callee->in.n + i]), *inner = callee->param.at[i].path;
    if (!outer || !text_ends(outer, inner)) return NULL;
    size_t n = strlen(outer) - strlen(inner);
    if (!n || outer[n - 1] != '/') return NULL;
    const char *own = arena_text(a, outer, n - 1);
    if (all && strcmp(all, own) != 0) return NULL;
    all = own;
  }
  return all;
}

// False: another module has this name.
static bool add_member(PythonWork *k, const char *path, const Diagram *d, const PythonMade *made) {
  for (uint32_t i = 0; i < k->member.n; i++) {
    if (strcmp(k->member.at[i].path, path) != 0) continue;
    const PythonMade *other = k->member.at[i].made;
    bool same = other->name == made->name && other->size.n == made->size.n;
    for (uint32_t s = 0; same && s < made->size.n; s++)
      same = other->size.at[s].value == made->size.at[s].value;
    return same;
  }
  vec_push(k->p->a, &k->member, (PythonMember){path, d, made});
  return true;
}

static const char *callee_text(Onnx *o, const Diagram *d, const Diagram *callee, const Id *in,
                               bool *flat) {
  PythonWork *k = o->python;
  Python *p = k->p;
  *flat = false;
  if (callee->param.n) {
    const char *prefix = k->flat ? NULL : prefix_of(p->a, d, callee, in);
    const PythonMade *made = prefix && d == k->now ? python_define(p, callee, false, NULL) : NULL;
    if (made && add_member(k, prefix, callee, made)) {
      const char *path = python_path(p, prefix);
      return p->jax ? arena_format(p->a, "%s(%s", made->name, path) : path;
    }
    *flat = true;
  }
  const PythonMade *made = python_define(p, callee, true, NULL);
  return made ? made->name : NULL;
}

// Are its weights called as here? Goals are so, and learners that only use others.
static bool paths_agree(const PythonWork *k, const Diagram *d, const Box *box) {
  const Diagram *callee = box->callee;
  if (callee->reverse || d != k->now || k->flat || k->p->jax || !callee->param.n) return false;
  for (uint32_t i = 0; i < callee->param.n; i++) {
    const char *own = path_of(d, box->in[callee->in.n + i]);
    if (!own || strcmp(own, callee->param.at[i].path) != 0) return false;
  }
  return true;
}

// What such a diagram does stands here as it is.
static void call_inside(Onnx *o, const Box *box, Id *of_wire) {
  const Diagram *goal = box->callee;
  Id *inside = NEW_ARRAY(o->a, Id, goal->wire.n + 1);
  for (uint32_t i = 0; i < goal->in.n; i++) inside[goal->in.at[i]] = of_wire[box->in[i]];
  for (uint32_t i = 0; i < goal->param.n; i++)
    inside[goal->param.at[i].wire] = of_wire[box->in[goal->in.n + i]];
  const Diagram *before = o->python->now;
  o->python->now = goal;
  onnx_boxes(o, goal, inside);
  o->python->now = before;
  for (uint32_t i = 0; i < goal->out.n; i++) of_wire[box->out[i]] = inside[goal->out.at[i]];
}

void python_call(Onnx *o, const Diagram *d, const Box *box, Id *of_wire) {
  bool flat;
  Id *in = arena_copy(o->a, box->in, box->nin * sizeof *in), first = 0;
  const Diagram *callee = peeled(box->callee, o->a, &in);
  bool goal = o->python->goals && d == o->python->d;
  if (goal || (callee == box->callee && paths_agree(o->python, d, box))) {
    call_inside(o, box, of_wire);
    return;
  }
  const char *text = callee_text(o, d, callee, in, &flat);
  if (!text) {
    o->failed = true;
    return;
  }
  uint32_t nin = callee->in.n + (flat ? callee->param.n : 0);
  Id *value = NEW_ARRAY(o->a, Id, nin + 1);
  for (uint32_t i = 0; i < nin; i++) value[i] = of_wire[in[i]];
  for (uint32_t i = 0; i < callee->out.n; i++) {
    const Type *t = &d->wire.at[box->out[i]].type;
    Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
    OutType type = onnx_type_of(o, (Base)t->base);
    for (uint32_t j = 0; j < t->rank; j++) dim[j] = t->axis[j].size;
    Id made = i ? onnx_more(o, first, type, t->rank, dim)
                : onnx_node(o, "Call", nin, value,
                            &(GraphValue){.type = type, .rank = t->rank, .dim = dim});
    if (!i) first = made;
    of_wire[box->out[i]] = made;
    if (i) onnx_value(o, made)->name = name_text(o->w->names, d->wire.at[box->out[i]].name);
  }
  onnx_attribute_text(o, first, "call", text);
}

Id python_noise(Onnx *o, const Type *t, Noise noise) {
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  Id shape = onnx_shape(o, t->rank, dim);
  Id made = onnx_node(o, "Noise", t->rank ? 1 : 0, &shape,
                      &(GraphValue){.type = o->real, .rank = t->rank, .dim = dim});
  onnx_attribute_number(o, made, "normal", noise == NOISE_NORMAL);
  return made;
}

// -- the boundary ---------------------------------------------------------------------------------
static Id boundary_value(Onnx *o, const Type *t, const char *name) {
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  Id made = onnx_input(o, name, onnx_type_of(o, (Base)t->base), t->rank, dim);
  onnx_see_sizes(o, made, t);
  return made;
}

// Its arguments, by name; the names are put into `name` when all values are there.
static void boundary(Onnx *o, PythonWork *k, Table *taken, Id *of_wire, Buf *arguments) {
  const Diagram *d = k->d;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Wire *wire = &d->wire.at[d->in.at[i]];
    const char *own = name_text(o->w->names, wire->name);
    own = python_local(k->p, taken, python_name(o->a, *own ? own : "x"));
    buf_printf(arguments, "%s%s", arguments->n ? ", " : "", own);
    of_wire[d->in.at[i]] = boundary_value(o, &wire->type, own);
  }
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *param = &d->param.at[i];
    const char *own = python_path(k->p, param->path), *last = strrchr(param->path, '/');
    if (k->flat) {
      own = python_local(k->p, taken, python_name(o->a, last ? last + 1 : param->path));
      buf_printf(arguments, "%s%s", arguments->n ? ", " : "", own);
    }
    of_wire[param->wire] = boundary_value(o, &d->wire.at[param->wire].type, own);
  }
}

static bool lowered(Onnx *o, PythonWork *k, Table *taken, Buf *arguments) {
  const Diagram *d = k->d;
  o->level = NEW(o->a, GraphLevel);
  vec_push(o->a, &o->value, (GraphValue){0});
  vec_push(o->a, &o->node, (GraphNode){0});
  Id *of_wire = NEW_ARRAY(o->a, Id, d->wire.n + 1);
  boundary(o, k, taken, of_wire, arguments);
  Id inputs = o->value.n;
  onnx_boxes(o, d, of_wire);
  for (uint32_t i = 0; !o->failed && i < d->out.n; i++)
    vec_push(o->a, &o->level->out, of_wire[d->out.at[i]]);
  const char **name = NEW_ARRAY(o->a, const char *, o->value.n + 1);
  for (Id i = 1; i < inputs; i++) name[i] = o->value.at[i].name;
  Buf body = buf_new(o->a);
  if (!o->failed) python_body(o, k->p, taken, name, &body);
  buf_char(arguments, '\n');
  buf_text(arguments, body.at);
  return !o->failed;
}

// -- definitions ----------------------------------------------------------------------------------
static const char *sizes_of_class(PythonWork *k) {
  Buf b = buf_new(k->p->a);
  for (uint32_t i = 0; i < k->size.n; i++) buf_printf(&b, ", %s", k->size.at[i].name);
  return b.at;
}

static const char *definition(PythonWork *k, const char *arguments, const char *body) {
  Buf b = buf_new(k->p->a);
  const char *comma = *arguments ? ", " : "";
  bool module = k->d->param.n && !k->flat;
  if (module && !k->p->jax) {
    Buf init = buf_new(k->p->a);
    python_members(k, &init);
    buf_printf(&b, "(nn.Module):\n    def __init__(self%s):\n        super().__init__()\n%s\n",
               sizes_of_class(k), init.at);
    buf_printf(&b, "    def forward(self%s%s):\n%s", comma, arguments, body);
  } else {
    buf_printf(&b, "(%s%s%s):\n%s", module ? "p" : "", module ? comma : "", arguments, body);
  }
  return b.at;
}

const PythonMade *python_define(Python *p, const Diagram *d, bool flat, const char *root) {
  const char *key = arena_format(p->a, "%u %d", d->id, flat && d->param.n);
  Id there = table_get(p->of, key, strlen(key));
  if (there && !root) return p->made.at[there];
  PythonWork k = {.p = p, .d = d, .now = d, .flat = flat, .root = root, .goals = root && p->goals};
  bool module = d->param.n && !flat;
  Onnx o = {.e = p->e, .w = p->w, .a = p->a, .constant = table_new(p->a), .real = p->real};
  o.python = &k;
  if (d->reverse) {
    onnx_refuse(&o, d->origin,
                "`%s` has a derivative of its own, and those have no form in Python yet",
                name_text(p->w->names, d->name));
    return NULL;
  }
  Table *taken = table_new(p->a);
  if (p->jax) table_put(taken, "p", 1, 1);
  Buf both = buf_new(p->a);
  if (!lowered(&o, &k, taken, &both)) return NULL;
  char *body = strchr(both.at, '\n');
  *body++ = 0;
  const char *text = definition(&k, both.at, body);
  Id same = root ? 0 : table_get(p->by_text, text, strlen(text));
  const char *said = root ? root : name_text(p->w->names, d->name);
  said = *said ? said : "box";
  said = module && !p->jax ? python_class(p->a, said) : python_name(p->a, said);
  PythonMade *made = NEW(p->a, PythonMade);
  made->size = k.size;
  made->name = same ? p->made.at[same]->name : python_unique(p->a, p->taken, said);
  vec_push(p->a, &p->made, made);
  table_put(p->of, key, strlen(key), p->made.n - 1);
  if (same) return made;
  table_put(p->by_text, text, strlen(text), p->made.n - 1);
  buf_printf(&p->text, "\n\n%s %s%s", module && !p->jax ? "class" : "def", made->name, text);
  return made;
}
