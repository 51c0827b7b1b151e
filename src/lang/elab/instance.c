// Instances: a body is elaborated once for each distinct set of options and argument types
// (monomorphisation); the cache key is everything the body depends on.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/subst.h"
#include "lang/elab/builtin.h"
#include "lang/elab/call.h"

// Keys are arrays of numbers, each part with its length, so that they are unambiguous.
static void key_numbers(Buf *key, const uint32_t *number, uint32_t n) {
  buf_add(key, (const char *)number, n * sizeof *number);
}

static void key_type(Buf *key, World *w, const Type *t, bool labels) {
  key_numbers(
      key,
      (uint32_t[]){t->base, t->base == BASE_LABEL ? size_now(w, t->count) : 0, t->names, t->rank},
      4);
  for (uint32_t i = 0; i < t->rank; i++) {
    const Axis *a = &t->axis[i];
    key_numbers(
        key,
        (uint32_t[]){a->pass, size_now(w, a->size), labels ? a->label : 0, labels ? a->decl : 0},
        4);
  }
}

static void key_binding(Buf *key, World *w, const Binding *bind) {
  uint32_t turn = 0; // a box that mentions a loop variable differs in each iteration
  for (const Env *e = bind->box.node ? bind->box.env : NULL; e; e = e->outer)
    turn = e->turn > turn ? e->turn : turn;
  const char *text = bind->text ? bind->text : "";
  Closure box = bind->box.node ? bind->box : (Closure){0};
  double number = bind->has_number ? bind->number : 0;
  key_numbers(key,
              (uint32_t[]){bind->kind, size_now(w, bind->size), bind->has_number, turn,
                           (uint32_t)strlen(text), bind->naxis},
              6);
  buf_add(key, (const char *)&box.node, sizeof box.node);
  buf_add(key, (const char *)&box.env, sizeof box.env);
  buf_add(key, (const char *)&number, sizeof number);
  buf_text(key, text);
  for (uint32_t i = 0; i < bind->naxis; i++)
    key_numbers(key, (uint32_t[]){size_now(w, bind->axis[i].size)}, 1);
}

static Buf instance_key(const Call *c, Body *home, const char *family, const Inputs *in,
                        bool labels) {
  World *w = c->b->w;
  Buf key = buf_new(w->arena);
  uint32_t named = family ? (uint32_t)strlen(family) : 0;
  const MachineText *machine = machine_seen(c->b->in);
  key_numbers(&key,
              (uint32_t[]){c->def->id, home ? home->id : 0, c->b->in->training, c->b->in->freezes,
                           c->b->generic, named, c->to->binding.n, c->b->in->owned,
                           machine ? machine->home->id : 0},
              9);
  if (family) buf_text(&key, family);
  for (uint32_t i = 0; i < c->to->binding.n; i++) key_binding(&key, w, &c->to->binding.at[i]);
  for (uint32_t i = 0; i < in->n; i++) key_type(&key, w, &in->in[i], labels);
  for (uint32_t i = 0; i < in->npass; i++)
    key_numbers(&key, (uint32_t[]){in->pass[i].pass, size_now(w, in->pass[i].size)}, 2);
  for (uint32_t i = 0; i < c->to->binding.n; i++) // a box option may refer to the caller's axes
    if (c->to->binding.at[i].box.node)
      for (uint32_t k = 0; k < c->to->binding.n; k++)
        key_numbers(&key, &c->to->binding.at[k].label, 1);
  return key;
}

static void collect_labels(Body *b, const Syntax *n) {
  if (!n) return;
  const Syntax *slot = brackets_first(n->kind == N_TYPE  ? type_brackets(n)
                                      : n->kind == N_LHS ? lhs_brackets(n)
                                                         : NULL);
  if (n->kind == N_TYPE && slot) {
    Nodes item = items_in(slot);
    for (uint32_t i = 0; i < item.n; i++)
      if (item.at[i]->kind == N_NAME || item.at[i]->kind == N_SIZED)
        table_put(b->labels, &item.at[i]->name, sizeof(Name), 1);
  }
  if (n->kind == N_LHS && slot && slot->kind == N_ITEMS) {
    Nodes item = items_in(slot);
    for (uint32_t i = 0; i < item.n && item.n > 1; i++)
      if (item.at[i]->kind == N_SIZED) table_put(b->labels, &item.at[i]->name, sizeof(Name), 1);
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) collect_labels(b, syntax_parts(n).at[i]);
}

// A result axis with the caller's label.
Axis outer_axis(Env *inner, const Axis *axis, bool flows) {
  Axis a = *axis;
  Binding *bind = axis->label ? env_find(inner, axis->label) : NULL;
  if (flows) return a;
  a.label = bind && (bind->kind == BIND_SIZE || bind->kind == BIND_OPTION) ? bind->label : 0;
  a.decl = bind ? bind->decl : 0;
  if (!bind && axis->decl) a.label = axis->label, a.decl = axis->decl;
  return a;
}

const Syntax *only_type(const Syntax *types) {
  if (!types) return NULL;
  if (types->kind == N_TYPE) return types;
  const Syntax *only = nodes_only(syntax_parts(types)); // of N_TYPES or N_PARAMS
  return only && only->kind == N_PARAM ? param_type(only) : only;
}

// a, ...s, or a:3 in both: the result has this axis of the parameter.
static bool names_axis(const Syntax *in, const Syntax *out) {
  if (in->name != out->name) return false;
  if (in->kind == N_SIZED) return out->kind == N_NAME || tree_equal(in, out);
  return in->kind == out->kind && (in->kind == N_NAME || in->kind == N_SPREAD);
}

// The result has the axes of the first parameter, in the same order: every axis of the argument
// stays where it was.
bool keeps_places(const Formals *f, const Syntax *result) {
  if (!f->n || !f->at[0].type || !result || result->kind != N_TYPE || !type_brackets(result))
    return false;
  Nodes a = brackets_items(type_brackets(f->at[0].type)), z = brackets_items(type_brackets(result));
  if (!a.n || a.n != z.n) return false;
  for (uint32_t i = 0; i < a.n; i++)
    if (!names_axis(a.at[i], z.at[i])) return false;
  return true;
}

static const char *number_word(World *w, double number) {
  Buf b = buf_new(w->arena);
  buf_number(&b, number);
  return b.at;
}

// Stores the options of the call with the diagram, for display.
void keep_options(const Call *c, Diagram *d) {
  World *w = c->b->w;
  for (uint32_t i = 0; c->h->cfg && i < cfg_in(c->h->cfg).n; i++) {
    Name name = cfg_in(c->h->cfg).at[i]->name;
    Id id = c->to->names ? table_get(c->to->names, &name, sizeof name) : 0;
    if (!id) continue;
    const Binding *bind = &c->to->binding.at[id - 1];
    Option o = {
        .name = name, .by_default = bind->by_default, .nsize = bind->size ? 1 : bind->naxis};
    if (bind->box.node)
      o.text = box_word(w, &bind->box), o.nsize = 0;
    else if (bind->text)
      o.text = bind->text, o.nsize = 0;
    else if (!bind->size && bind->has_number)
      o.text = number_word(w, bind->number);
    o.size = NEW_ARRAY(w->arena, Size, o.nsize + 1);
    o.label = bind->size ? NULL : NEW_ARRAY(w->arena, Name, o.nsize + 1);
    for (uint32_t k = 0; k < o.nsize; k++) o.size[k] = bind->size ? bind->size : bind->axis[k].size;
    for (uint32_t k = 0; o.label && k < o.nsize; k++) o.label[k] = bind->axis[k].label;
    if (o.nsize || o.text) vec_push(w->arena, &d->option, o);
  }
}

// Elaborates the body. An untyped input in error is an error value on its wire.
Body *elaborate_instance(const Call *c, const Formals *formals, const Inputs *in, bool *good) {
  Elab *infer = c->b->in;
  World *w = c->b->w;
  Body *body = body_new(infer, c->def->name);
  body->generic = c->b->generic;
  body->def = c->def;
  body->env = c->to;
  body->trace = c->trace;
  c->to->body = body;
  body->labels = table_new(w->arena);
  body->header_result = result_types(c->h);
  collect_labels(body, c->h->params);
  collect_labels(body, c->h->result);
  collect_labels(body, c->h->body);
  pass_members(body);
  for (uint32_t i = 0; i < in->npass; i++) body_pass(body, in->pass[i].pass, in->pass[i]);
  Value args = {.n = in->n, .at = NEW_ARRAY(w->arena, Val, in->n)};
  for (uint32_t i = 0; i < in->n; i++) {
    Name name = i < formals->n ? formals->at[i].name : 0;
    Span span = i < formals->n ? formals->at[i].span : c->span;
    for (uint32_t k = 0; k < in->in[i].rank; k++)
      if (in->in[i].axis[k].pass) body_pass(body, in->in[i].axis[k].pass, in->in[i].axis[k]);
    args.at[i] =
        val_wire(body, diagram_input(w, body->d, in->in[i], name, origin_at(body, span)), span);
    if (!in->in[i].base) args.at[i] = val_ghost(args.at[i].x->wire, span);
  }
  keep_options(c, body->d);
  *good = body_work(body, c->to, c->def, c->h->params, result_types(c->h), c->h->body, args);
  return body;
}

static void note_call(Elab *in, const Call *c, uint32_t before) {
  Diags *d = in->w->diags;
  uint32_t library = in->library->file;
  for (uint32_t i = before; i < d->list.n; i++) // errors inside the library are reported at the use
    if (d->list.at[i].span.file == library && c->span.file != library) {
      diag_note(d, i, d->list.at[i].span, "here, in `%s`", call_name(c));
      d->list.at[i].span = c->span;
    }
  for (uint32_t i = before; i < d->list.n; i++)
    if (c->span.at != c->def->span.at && !d->list.at[i].note && d->list.at[i].span.file &&
        !inside(d->list.at[i].span, c->span) &&
        (d->list.at[i].span.file != c->span.file || d->list.at[i].span.at != c->span.at))
      diag_note(d, i, c->span, "in this use of `%s`", call_name(c));
}

// Sums over batch axes of g that an input of f lacks, and permutes the others to the input's order.
static void sum_rows(Body *back, uint32_t i, const Type *want) {
  const Type *have = &back->out_type.at[i];
  bool axes[RANK_LIMIT] = {false}, any = false;
  for (uint32_t k = 0; k < have->rank; k++) {
    bool there = !have->axis[k].pass;
    for (uint32_t j = 0; j < want->rank; j++) there |= want->axis[j].pass == have->axis[k].pass;
    axes[k] = !there;
    any |= !there;
  }
  uint32_t own[RANK_LIMIT], kept[RANK_LIMIT];
  Val v = val_wire(back, back->d->out.at[i], (Span){0});
  if (any) v = val_reduce(back, v, SUM, axes);
  val_settle(back, &v);
  if (own_axes(&v.type, own) == own_axes(want, kept))
    v = arrange_axes(back, v, want->axis, want->rank, (Span){0});
  back->d->out.at[i] = val_to_wire(back, &v, 0);
  back->out_type.at[i] = v.type;
}

// Labels have no cotangent; the label itself is returned in its place and ignored.
static void give_labels_nothing(Body *back, uint32_t n, const Type *types) {
  World *w = back->w;
  Diagram *d = back->d;
  Ids out = {0};
  Types type = {0};
  uint32_t labels = 0, next = 0;
  for (uint32_t i = 0; i < n; i++) labels += types[i].base == BASE_LABEL;
  if (!labels || d->out.n + labels != n) return;
  for (uint32_t i = 0; i < n; i++) {
    bool label = types[i].base == BASE_LABEL;
    vec_push(w->arena, &out, label ? d->in.at[i] : d->out.at[next]);
    vec_push(w->arena, &type, label ? types[i] : back->out_type.at[next]);
    next += !label;
  }
  d->out.n = 0;
  for (uint32_t i = 0; i < n; i++) diagram_output(w, d, out.at[i]);
  back->out_type = type;
}

// box f … reverse g: g takes the inputs of f and a cotangent for each output, and returns a
// cotangent for each input.
static bool own_reverse(const Call *c, Body *body) {
  World *w = body->w;
  const Syntax *g = c->h->reverse;
  Diagram *d = body->d;
  uint32_t n = d->in.n + d->out.n;
  Type *types = NEW_ARRAY(w->arena, Type, n);
  for (uint32_t i = 0; i < d->in.n; i++) types[i] = d->wire.at[d->in.at[i]].type;
  for (uint32_t i = 0; i < d->out.n; i++) types[d->in.n + i] = body->out_type.at[i];
  Body *back = box_alone(body, env_new(body->in, NULL, c->h->scope, body), g, n, types, g->span);
  if (!back) return false;
  give_labels_nothing(back, d->in.n, types);
  bool fits = back->d->out.n == d->in.n;
  for (uint32_t i = 0; fits && i < d->in.n; i++) {
    const Type *want = &types[i];
    if (want->base != BASE_LABEL) sum_rows(back, i, want);
    const Type *have = &back->out_type.at[i];
    fits = want->base == BASE_LABEL || (want->base == have->base && want->rank == have->rank);
    for (uint32_t k = 0; fits && want->base != BASE_LABEL && k < want->rank; k++)
      fits = sizes_agree(body, want->axis[k].size, have->axis[k].size, g->span, g->span,
                         "a reverse of its own");
  }
  if (!fits || back->d->param.n) {
    Id e = diag_error(w->diags, g->span,
                      back->d->param.n
                          ? "the reverse of `%s` may not have weights of its own"
                          : "`%s` wants a reverse that gives a cotangent for each of its inputs",
                      call_name(c));
    return diag_note(w->diags, e, c->def->span, "its inputs are here");
  }
  d->reverse = back->d;
  return true;
}

// -- substitution of size variables ---------------------------------------------------------------
typedef struct {
  Id var;      // a size variable of the generic instance
  Size actual; // its substitute
} SizeSubst;
typedef VEC(SizeSubst) SizeSubsts;

static bool size_matches(World *w, Size formal, Size actual, SizeSubsts *s) {
  Id var;
  if (!size_is_var(w, formal, &var) || !size_is_var(w, actual, NULL)) return false;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].var == var) return size_now(w, s->at[i].actual) == size_now(w, actual);
  vec_push(w->arena, s, (SizeSubst){var, actual});
  return true;
}

static bool type_matches(World *w, const Type *formal, const Type *actual, SizeSubsts *s) {
  if (formal->base != actual->base || formal->rank != actual->rank || formal->names) return false;
  if (formal->base == BASE_LABEL && !size_matches(w, formal->count, actual->count, s)) return false;
  for (uint32_t i = 0; i < formal->rank; i++)
    if (actual->axis[i].pass || !size_matches(w, formal->axis[i].size, actual->axis[i].size, s))
      return false;
  return true;
}

static void copy_labels(Env *to, const Env *from) { // labels come from this call
  for (uint32_t i = 0; from->names && i < table_count(from->names); i++) {
    Name name;
    memcpy(&name, table_key(from->names, i, NULL), sizeof name);
    Id id = to->names ? table_get(to->names, &name, sizeof name) : 0;
    const Binding *bind = &from->binding.at[table_value(from->names, i) - 1];
    if (id) to->binding.at[id - 1].label = bind->label, to->binding.at[id - 1].decl = bind->decl;
  }
}

// In generic elaboration, a call whose sizes are plain variables reuses the callee's generic
// instance by substituting its size variables. NULL: the callee must be elaborated.
Body *instance_by_substitution(const Call *c, const Body *home, const Inputs *in) {
  World *w = c->b->w;
  Body *alone = c->def->alone;
  if (!alone || !c->b->generic || home || c->h->cfg || c->b->in->training || alone->d->param.n)
    return NULL;
  SizeSubsts s = {0};
  if (alone->d->in.n != in->n || in->npass) return NULL;
  for (uint32_t i = 0; i < in->n; i++)
    if (!type_matches(w, &alone->d->wire.at[alone->d->in.at[i]].type, &in->in[i], &s)) return NULL;
  Body *twin = arena_copy(w->arena, alone, sizeof *alone);
  twin->out_type = (Types){0};
  for (uint32_t i = 0; i < alone->out_type.n; i++) {
    Type t = alone->out_type.at[i];
    t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
    for (uint32_t v = 0; v < s.n; v++) {
      if (t.count) t.count = size_subst(w, size_now(w, t.count), s.at[v].var, s.at[v].actual);
      for (uint32_t k = 0; k < t.rank; k++)
        t.axis[k].size = size_subst(w, size_now(w, t.axis[k].size), s.at[v].var, s.at[v].actual);
    }
    vec_push(w->arena, &twin->out_type, t);
  }
  copy_labels(alone->env, c->to);
  return twin;
}

// A result size that neither inputs nor options determine, as in `lut(x: B[k]) -> B[n]`, is solved
// by each caller, so the instance is not shared.
static bool has_open_size(const Call *c, const Inputs *in, const Body *body) {
  World *w = c->b->w;
  Ids known = {0}, vars = {0};
  for (uint32_t i = 0; i < in->n; i++) type_vars(w, &in->in[i], &known);
  for (uint32_t i = 0; i < c->to->binding.n; i++) {
    const Binding *bind = &c->to->binding.at[i];
    if (bind->kind != BIND_OPTION) continue;
    if (bind->size) size_vars(w, bind->size, &known);
    for (uint32_t k = 0; k < bind->naxis; k++) size_vars(w, bind->axis[k].size, &known);
  }
  for (uint32_t i = 0; i < body->out_type.n; i++)
    for (uint32_t k = 0; k < body->out_type.at[i].rank; k++)
      size_vars(w, body->out_type.at[i].axis[k].size, &vars);
  for (uint32_t i = 0; i < vars.n; i++) {
    bool said = size_var_kind(w, vars.at[i]) != VAR_LOCAL;
    for (uint32_t k = 0; k < known.n; k++) said |= known.at[k] == vars.at[i];
    if (!said) return true;
  }
  return false;
}

Body *find_instance(const Call *c, Body *home, const char *family, const Formals *formals,
                    const Inputs *in) {
  Elab *infer = c->b->in;
  Buf key = instance_key(c, home, family, in, true);
  Id known = table_get(infer->instances, key.at, key.n);
  if (known) {
    Body *old = infer->made_body.at[known - 1];
    if (old && old->env) copy_labels(old->env, c->to);
    return old;
  }
  if (table_get(infer->working, key.at, key.n)) { // recursion
    Buf cycle = buf_new(infer->w->arena);
    uint32_t first = infer->stack.n;
    while (first && infer->stack.at[first - 1] != c->def) first--;
    for (uint32_t i = first; i < infer->stack.n; i++)
      buf_printf(&cycle, ", through `%s`", name_text(infer->w->names, infer->stack.at[i]->name));
    Id e = diag_error(infer->w->diags, c->span, "`%s` is made of itself%s", call_name(c),
                      cycle.n ? cycle.at : "");
    diag_note(infer->w->diags, e, c->def->span, "declared here");
    diag_help(infer->w->diags, e, "there is no recursion: a loop is `scan`, `^` or `for`");
    if (!infer->w->diags->muted) c->def->broken = true;
    return NULL;
  }
  if (infer->depth >= DEPTH_LIMIT) {
    diag_error(infer->w->diags, c->span, "boxes are nested more than %d levels deep here",
               DEPTH_LIMIT);
    work_stop(infer); // boxes that call themselves twice would not end
    return NULL;
  }
  if (!work_on(c->b, INSTANCE_WORK, c->span)) return NULL;
  uint32_t before = infer->w->diags->list.n, errors = infer->w->diags->met;
  bool good;
  infer->depth++;
  table_put(infer->working, key.at, key.n, 1);
  vec_push(infer->w->arena, &infer->stack, c->def);
  Body *body = elaborate_instance(c, formals, in, &good);
  table_put(infer->working, key.at, key.n, 0);
  infer->stack.n--;
  infer->depth--;
  if (good && c->h->reverse) good = own_reverse(c, body);
  if (infer->w->diags->met > errors) note_call(infer, c, before);
  if (!good) body = NULL;
  if (!body && infer->w->diags->muted) return NULL; // tried while muted: reported by nobody
  if (body && has_open_size(c, in, body)) return body;
  vec_push(infer->w->arena, &infer->made_body, body);
  table_put(infer->instances, key.at, key.n, infer->made_body.n);
  return body;
}

// The inputs of a box without a header: those of its first box, or as many as given.
static bool formals_of_body(const Call *c, const Instance *how, Formals *out) {
  World *w = c->b->w;
  const Syntax *body = c->h->body;
  bool given = how && how->nin;
  int n = body && body->kind != N_BLOCK ? arity_of(c->b, c->to, body) : -1;
  Types types = {0};
  if (!given && (n < 0 || !box_formals(c->b, c->to, body, &types) || types.n != (uint32_t)n))
    return false;
  for (uint32_t i = 0; i < types.n; i++)
    vec_push(w->arena, out, (Formal){.known = types.at[i], .fixed = true, .span = c->def->span});
  for (uint32_t i = 0; given && i < how->nin; i++)
    vec_push(w->arena, out, (Formal){.span = c->def->span});
  return true;
}

// Strips the box's own name from weight paths, so that they are the same whether it was elaborated
// by a call or not.
static void without_site(World *w, Body *caller, Name box) {
  const char *site = arena_format(w->arena, "%s/", name_text(w->names, box));
  size_t n = strlen(site);
  for (uint32_t i = 0; i < caller->d->param.n; i++) {
    Param *p = &caller->d->param.at[i];
    if (!p->rooted && strncmp(p->path, site, n) == 0) p->path += n;
  }
  caller->d->param_table = NULL;
}

static const Diagram *only_callee(const Diagram *d) {
  for (Id i = 1; i < d->box.n; i++)
    if (d->box.at[i].op == OP_call) return d->box.at[i].callee;
  return NULL;
}

// Elaborates by a call with wires of the given types.
static Body *called_with(const Call *c, const char *family, const Formals *formals,
                         const Instance *how) {
  World *w = c->b->w;
  Def *d = c->def;
  Body *caller = body_new(c->b->in, d->name);
  caller->generic = how->open;
  Value args = {.n = how->nin, .at = NEW_ARRAY(w->arena, Val, how->nin)};
  for (uint32_t i = 0; i < how->nin; i++) {
    Name name = i < formals->n ? formals->at[i].name : 0;
    for (uint32_t k = 0; k < how->in[i].rank; k++)
      if (how->in[i].axis[k].pass) body_pass(caller, how->in[i].axis[k].pass, how->in[i].axis[k]);
    args.at[i] = val_wire(caller, diagram_input(w, caller->d, how->in[i], name, 0), d->span);
  }
  caller->env = env_new(c->b->in, NULL, d->scope, caller);
  BoxUse use = {.def = d, .family = family, .node = d->node, .name = d->name, .span = d->span};
  Value out = call_def(caller, caller->env, &use, NULL, args, NULL);
  const Diagram *called = only_callee(caller->d);
  for (uint32_t i = 0; i < out.n; i++) {
    Id wire = out.at[i].error ? 0 : val_to_wire(caller, &out.at[i], 0);
    if (!wire) return NULL;
    diagram_output_as(w, caller->d, wire, called ? diagram_output_name(called, i) : 0);
  }
  body_finish(caller);
  if (d->kind == DEF_BOX) without_site(w, caller, d->name);
  return caller;
}

// With the declared input types.
static bool declared_inputs(const Call *c, const Formals *formals, Inputs *in) {
  World *w = c->b->w;
  *in = (Inputs){.in = NEW_ARRAY(w->arena, Type, formals->n), .n = formals->n};
  for (uint32_t i = 0; i < formals->n; i++) {
    Types t = {0};
    if (!formal_types(c->b, c->to, &formals->at[i], &t) || t.n != 1) return false;
    in->in[i] = t.at[0];
  }
  return true;
}

Body *instance_alone(Elab *in, Def *d, const char *family, const Instance *how) {
  World *w = in->w;
  Body *b = NEW(w->arena, Body);
  *b = (Body){.in = in, .w = w, .generic = !how || !how->nin};
  Header h = header_of(d);
  Call c = {.b = b, .env = env_new(in, NULL, d->scope, b), .def = d, .h = &h, .span = d->span};
  c.to = env_new(in, NULL, h.scope, NULL);
  Formals formals = {0};
  Inputs inputs;
  bool good = true;
  if (!bind_options(&c, NULL, true)) return NULL;
  bool typed = formals_of(b, c.to, d, &h, &formals, &good);
  if (!good || (!typed && !formals_of_body(&c, how, &formals))) return NULL;
  if (!b->generic && typed && how->nin != formals.n) {
    diag_error(w->diags, d->span, "`%s` takes %u %s, but %u %s given", name_text(w->names, d->name),
               formals.n, formals.n == 1 ? "input" : "inputs", how->nin,
               how->nin == 1 ? "is" : "are");
    return NULL;
  }
  if (!b->generic) return called_with(&c, family, &formals, how);
  if (!declared_inputs(&c, &formals, &inputs)) return NULL;
  return find_instance(&c, NULL, family, &formals, &inputs);
}
