// Writes diagrams as functions and classes. Called diagrams are defined first; equal definitions
// are written once.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "port/python/python_own.h"

// -- calls ----------------------------------------------------------------------------------------
bool python_gives_next(const Python *p, const Param *param) { return p->goals && param->next; }

const char *python_key(PythonWork *k) {
  return arena_format(k->p->a, "jax.random.fold_in(key, %u)", k->draws++);
}

static bool states_move(const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].next) return true;
  return false;
}

// The callee of a diagram that does nothing but call it with all of its inputs and weights.
static const Diagram *skip_forwarding(const Diagram *d, Arena *a, Id **in) {
  for (;;) {
    if (d->reverse || d->box.n != 2 || d->box.at[1].op != OP_call || states_move(d)) return d;
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

// The common prefix of the callee's weights, "dense.1" for dense.1/…; NULL: none.
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

// False: the name belongs to another module.
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

static const char *callee_text(ArrayGraph *o, const Diagram *d, const Diagram *callee, const Id *in,
                               bool *flat) {
  PythonWork *k = python_work(o);
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

// Do the callee's weights have the same paths here? True for goals and learners that call other
// learners.
static bool paths_agree(const PythonWork *k, const Diagram *d, const Box *box) {
  const Diagram *callee = box->callee;
  if (callee->reverse || d != k->now || k->flat || !callee->param.n) return false;
  for (uint32_t i = 0; i < callee->param.n; i++) {
    const char *own = path_of(d, box->in[callee->in.n + i]);
    if (!own || strcmp(own, callee->param.at[i].path) != 0) return false;
  }
  return true;
}

static bool is_read(const PythonWork *k, const Diagram *d, Id wire) {
  bool read = false;
  for (Id i = 1; i < d->box.n; i++)
    for (uint32_t j = 0; j < d->box.at[i].nin; j++) read |= d->box.at[i].in[j] == wire;
  for (uint32_t i = 0; i < d->out.n; i++) read |= d->out.at[i] == wire;
  for (uint32_t i = 0; k->moves && i < d->param.n; i++) read |= d->param.at[i].next == wire;
  return read;
}

// Functions return next states only in goals. If they are read elsewhere, as the optimiser's state
// in `refit`, the callee is inlined.
static bool states_are_read(const PythonWork *k, const Diagram *d, const Box *box) {
  bool read = false;
  for (uint32_t i = box->callee->out.n; !k->p->goals && i < box->nout; i++)
    read |= is_read(k, d, box->out[i]);
  return read;
}

// Inlines a callee; `now`: the diagram whose weights keep their paths.
static void inline_call(ArrayGraph *o, const Box *box, Id *of_wire, const Diagram *now) {
  const Diagram *goal = box->callee;
  Id *inside = NEW_ARRAY(o->a, Id, goal->wire.n + 1);
  for (uint32_t i = 0; i < goal->in.n; i++) inside[goal->in.at[i]] = of_wire[box->in[i]];
  for (uint32_t i = 0; i < goal->param.n; i++)
    inside[goal->param.at[i].wire] = of_wire[box->in[goal->in.n + i]];
  PythonWork *work = python_work(o);
  const Diagram *before = work->now;
  bool moves = work->moves;
  work->now = now;
  work->moves = moves || now != goal;
  arrays_boxes(o, goal, inside);
  work->now = before;
  work->moves = moves;
  for (uint32_t i = 0; i < goal->out.n; i++) of_wire[box->out[i]] = inside[goal->out.at[i]];
  for (uint32_t i = 0, at = goal->out.n; i < goal->param.n; i++)
    if (goal->param.at[i].next) of_wire[box->out[at++]] = inside[goal->param.at[i].next];
}

// JAX: passes a key to a callee that draws noise.
static const char *with_key(PythonWork *k, const char *text, const Diagram *callee) {
  if (!k->p->jax || !callee->noisy) return text;
  return arena_format(k->p->a, strchr(text, '(') ? "%s, %s" : "%s(%s", text, python_key(k));
}

static Id call_result(ArrayGraph *o, const Diagram *d, Id wire, Id first) {
  const Type *t = &d->wire.at[wire].type;
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t j = 0; j < t->rank; j++) dim[j] = t->axis[j].size;
  Id made = arrays_add_result(o, first, arrays_type_of(o, (Base)t->base), t->rank, dim);
  arrays_value(o, made)->name = name_text(o->w->names, d->wire.at[wire].name);
  return made;
}

static void python_call(ArrayGraph *o, const Diagram *d, const Box *box, Id *of_wire) {
  bool flat;
  Id *in = arena_copy(o->a, box->in, box->nin * sizeof *in);
  const Diagram *callee = skip_forwarding(box->callee, o->a, &in);
  if (callee == box->callee && paths_agree(python_work(o), d, box)) {
    inline_call(o, box, of_wire, callee);
    return;
  }
  if (states_are_read(python_work(o), d, box)) {
    inline_call(o, box, of_wire, python_work(o)->now);
    return;
  }
  const char *text = callee_text(o, d, callee, in, &flat);
  if (!text) {
    o->failed = true;
    return;
  }
  uint32_t nin = callee->in.n + (flat ? callee->param.n : 0), at = callee->out.n;
  Id *value = NEW_ARRAY(o->a, Id, nin + 1);
  for (uint32_t i = 0; i < nin; i++) value[i] = of_wire[in[i]];
  const Type *t = &d->wire.at[box->out[0]].type;
  GraphValue like = {.type = arrays_type_of(o, (Base)t->base), .rank = t->rank};
  like.dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t j = 0; j < t->rank; j++) like.dim[j] = t->axis[j].size;
  Id first = of_wire[box->out[0]] = arrays_node(o, "Call", nin, value, &like);
  for (uint32_t i = 1; i < callee->out.n; i++)
    of_wire[box->out[i]] = call_result(o, d, box->out[i], first);
  for (uint32_t i = 0; i < callee->param.n; i++)
    if (python_gives_next(python_work(o)->p, &callee->param.at[i]))
      of_wire[box->out[at]] = call_result(o, d, box->out[at], first), at++;
  arrays_attribute_text(o, first, "call", with_key(python_work(o), text, callee));
}

static Id python_noise(ArrayGraph *o, const Type *t, Noise noise) {
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  Id shape = arrays_shape(o, t->rank, dim);
  Id made = arrays_node(o, "Noise", t->rank ? 1 : 0, &shape,
                        &(GraphValue){.type = o->real, .rank = t->rank, .dim = dim});
  arrays_attribute_number(o, made, "normal", noise == NOISE_NORMAL);
  if (python_work(o)->p->jax) arrays_attribute_text(o, made, "key", python_key(python_work(o)));
  return made;
}

// -- the boundary ---------------------------------------------------------------------------------
static Id boundary_value(ArrayGraph *o, const Type *t, const char *name) {
  Size *dim = NEW_ARRAY(o->a, Size, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->axis[k].size;
  Id made = arrays_input(o, name, arrays_type_of(o, (Base)t->base), t->rank, dim);
  arrays_note_sizes(o, made, t);
  return made;
}

// Writes the arguments; names are assigned once all values exist.
static void boundary(ArrayGraph *o, PythonWork *k, Table *taken, Id *of_wire, Buf *arguments) {
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

static bool lower(ArrayGraph *o, PythonWork *k, Table *taken, Buf *arguments, Buf *body) {
  const Diagram *d = k->d;
  o->level = NEW(o->a, GraphLevel);
  vec_push(o->a, &o->value, (GraphValue){0});
  vec_push(o->a, &o->node, (GraphNode){0});
  Id *of_wire = NEW_ARRAY(o->a, Id, d->wire.n + 1);
  boundary(o, k, taken, of_wire, arguments);
  Id inputs = o->value.n;
  arrays_boxes(o, d, of_wire);
  for (uint32_t i = 0; !o->failed && i < d->out.n; i++)
    vec_push(o->a, &o->level->out, of_wire[d->out.at[i]]);
  for (uint32_t i = 0; !o->failed && i < d->param.n; i++)
    if (python_gives_next(k->p, &d->param.at[i]))
      vec_push(o->a, &o->level->out, of_wire[d->param.at[i].next]);
  const char **name = NEW_ARRAY(o->a, const char *, o->value.n + 1);
  for (Id i = 1; i < inputs; i++) name[i] = o->value.at[i].name;
  if (!o->failed) python_body(o, k->p, taken, name, body);
  return !o->failed;
}

bool python_lowered(PythonWork *k, const char **arguments, const char **body) {
  Python *p = k->p;
  ArrayGraph o = {.e = p->e, .w = p->w, .a = p->a, .constant = table_new(p->a), .real = p->real};
  Table *taken = table_new(p->a);
  Buf args = buf_new(p->a), text = buf_new(p->a);
  const ArrayCalls calls = {python_call, python_noise, k};
  o.calls = &calls;
  if (p->jax && k->d->param.n && !k->flat) table_put(taken, "p", 1, 1);
  if (p->jax && k->d->noisy) table_put(taken, "key", 3, 1);
  if (!lower(&o, k, taken, &args, &text)) return false;
  *arguments = args.at;
  *body = text.at;
  return true;
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
    bool key = k->p->jax && k->d->noisy;
    buf_printf(&b, "(%s%s%s%s%s):\n%s", module ? "p" : "", module && key ? ", " : "",
               key ? "key" : "", module || key ? comma : "", arguments, body);
  }
  return b.at;
}

static const PythonMade *put_definition(Python *p, const char *key, PythonMade *made,
                                        const char *said, const char *text, const char *format) {
  Id same = key ? table_get(p->by_text, text, strlen(text)) : 0;
  made->name = same ? p->made.at[same]->name : python_defined(p, said);
  vec_push(p->a, &p->made, made);
  if (key) table_put(p->of, key, strlen(key), p->made.n - 1);
  if (same) return made;
  table_put(p->by_text, text, strlen(text), p->made.n - 1);
  PythonDefined d = {made->name, arena_format(p->a, format, made->name, text)};
  vec_push(p->a, &p->defined, d);
  return made;
}

// -- boxes with a custom derivative ---------------------------------------------------------------
static const Diagram *renamed_copy(Python *p, const Diagram *d, const char *behind) {
  const char *name = arena_format(p->a, "%s_%s", name_text(p->w->names, d->name), behind);
  Diagram *made = diagram_new(p->w, name_from(p->w->names, name));
  Id id = made->id;
  *made = *d;
  made->id = id;
  made->name = name_from(p->w->names, name);
  made->reverse = NULL;
  return made;
}

static bool all_reals(const Diagram *d) {
  for (uint32_t i = 0; i < d->in.n + d->out.n; i++)
    if (d->wire.at[i < d->in.n ? d->in.at[i] : d->out.at[i - d->in.n]].type.base != BASE_R)
      return false;
  return d->in.n && !d->param.n && !d->noisy;
}

static const PythonMade *define_reversed(Python *p, const Diagram *d, const char *key) {
  const char *said = name_text(p->w->names, d->name);
  if (!all_reals(d) || !all_reals(d->reverse) || d->reverse->out.n != d->in.n) {
    diag_error(p->w->diags, origin_span(p->w, d->origin),
               "`%s` has a derivative of its own, and those have a form in Python only for boxes "
               "of reals without weights and noise",
               said);
    p->e->status = OUTCOME_WRONG;
    return NULL;
  }
  const PythonMade *value = python_define(p, renamed_copy(p, d, "value"), true, NULL),
                   *back = value
                               ? python_define(p, renamed_copy(p, d->reverse, "slope"), true, NULL)
                               : NULL;
  if (!back) return NULL;
  const char *text = arena_format(p->a, "with_slope(%s, %s)\n", value->name, back->name);
  return put_definition(p, key, NEW(p->a, PythonMade), python_name(p->a, said), text,
                        "\n\n%s = %s");
}

const PythonMade *python_define(Python *p, const Diagram *d, bool flat, const char *root) {
  const char *key = arena_format(p->a, "%u %d", d->id, flat && d->param.n);
  Id there = table_get(p->of, key, strlen(key));
  if (there && !root) return p->made.at[there];
  if (d->reverse) return define_reversed(p, d, key);
  PythonWork k = {.p = p, .d = d, .now = d, .flat = flat, .root = root};
  bool class = d->param.n && !flat && !p->jax;
  const char *arguments, *body, *said = root ? root : name_text(p->w->names, d->name);
  if (!python_lowered(&k, &arguments, &body)) return NULL;
  said = *said ? said : "box";
  said = class ? python_class(p->a, said) : python_name(p->a, said);
  const char *text = definition(&k, arguments, body); // determines the sizes
  PythonMade *made = NEW(p->a, PythonMade);
  made->size = k.size;
  return put_definition(p, root ? NULL : key, made, said, text,
                        class ? "\n\nclass %s%s" : "\n\ndef %s%s");
}
