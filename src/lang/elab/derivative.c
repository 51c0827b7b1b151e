// fwd[f] and rev[f]: the forward and reverse derivative of f as boxes. They take the inputs of f
// (the point) and a change, that is a tangent for each input or a cotangent for each output. Batch
// axes of f are batch axes of the derivative. Axes that only a change has are rows of changes of
// one point: f, its noise and its batch statistics are evaluated once for all of them.
//
// f is elaborated twice: first as called, to find its batch axes, then with these axes on every
// input, so that no input collects cotangents of other rows. The derivative is then mapped over the
// rows of changes (core/pass/rows.c).
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "lang/elab/builtin.h"

typedef struct {
  Body *b;
  Env *env;
  const Syntax *box;
  const Syntax *over_named; // … over h, where an input has h; or NULL
  Span span;
  bool back;
  uint32_t n; // number of inputs of f
  Type *type; // input types, with all batch axes
  uint64_t *over;
  Ids moves;        // the inputs that have tangents: labels have none
  const Axis *rows; // the axes that only changes have
  uint32_t nrows;
} Derivative;

static const char *word_of(const Derivative *d) { return d->back ? "rev" : "fwd"; }

static const char *changes_of(const Derivative *d) {
  return d->back ? "a cotangent for each output" : "a tangent for each input that is not a label";
}

static bool inner_fault(Body *, Env *, const Syntax *box);

static bool count_inputs(Derivative *d, const Value *args) {
  int n = arity_of(d->b, d->env, d->box);
  if (n < 0 && inner_fault(d->b, d->env, d->box)) return false;
  if (n < 0 || (uint32_t)n > args->n)
    return diag_refuse(d->b->w->diags, d->span, "`%s[f]` takes the inputs of f, then %s",
                       word_of(d), changes_of(d));
  d->n = (uint32_t)n;
  d->type = NEW_ARRAY(d->b->w->arena, Type, d->n + 1);
  d->over = NEW_ARRAY(d->b->w->arena, uint64_t, d->n + 1);
  return true;
}

static Body *box_of(const Derivative *d, uint64_t *over) {
  return box_for_itself(
      d->b, &(Alone){.env = d->env,
                     .box = d->box,
                     .in = d->type,
                     .n = d->n,
                     .over = over,
                     .named = over ? d->over_named : NULL, // then they are batch axes already
                     .rows = true,
                     .span = d->span});
}

// Elaborates f on the given inputs, to find which axes it consumes.
static Body *elaborate_probe(Derivative *d, Value *args) {
  for (uint32_t i = 0; i < d->n; i++) {
    if (!val_to_wire(d->b, &args->at[i], 0)) return NULL;
    d->type[i] = args->at[i].type;
    d->over[i] = UINT64_MAX;
    if (d->type[i].base != BASE_LABEL) vec_push(d->b->w->arena, &d->moves, i);
  }
  Body *sub = box_of(d, d->over);
  for (uint32_t i = 0; i < d->n; i++)
    if (d->over[i] == UINT64_MAX)
      d->over[i] = 0; // no box was called with it: all axes are consumed
  if (!sub) return NULL;
  uint32_t more = d->back ? sub->d->out.n : d->moves.n;
  if (args->n == d->n + more) return sub;
  diag_error(d->b->w->diags, d->span,
             "`%s[f]` takes %u + %u values here, but %u are given: the inputs of f, then %s",
             word_of(d), d->n, more, args->n, changes_of(d));
  return NULL;
}

// The axes that f does not consume become batch axes.
static bool lift_inputs(Derivative *d, Lift *l, const Value *args) {
  Match *m = NEW_ARRAY(d->b->w->arena, Match, d->n);
  for (uint32_t i = 0; i < d->n; i++)
    for (uint32_t k = 0; k < args->at[i].type.rank; k++)
      if (d->over[i] >> k & 1) m[i].rest[m[i].nrest++] = k;
  return lift_over(l, &(Value){d->n, args->at, NULL}, m);
}

static bool same_passing(const Type *a, const Type *z) {
  bool same = a->rank == z->rank;
  for (uint32_t i = 0; same && i < a->rank; i++) same = a->axis[i].pass == z->axis[i].pass;
  return same;
}

// Broadcasts every input to the union of the batch axes.
static bool widen_inputs(Derivative *d, Value *args, bool *changed) {
  Axis pass[RANK_LIMIT];
  uint32_t npass = all_passing(args, pass);
  for (uint32_t i = 0; i < d->n; i++) {
    Val *v = &args->at[i];
    if (!rank_fits(d->b->w, (uint64_t)npass + v->type.rank + 1, d->span)) return false;
    *v = for_each_row(d->b, *v, pass, npass, d->span);
    if (!val_to_wire(d->b, v, 0)) return false;
    *changed |= !same_passing(&d->type[i], &v->type);
    d->type[i] = v->type;
  }
  return true;
}

static const Type *point_of(const Derivative *d, const Body *sub, uint32_t change) {
  return d->back ? &sub->out_type.at[change] : &d->type[d->moves.at[change]];
}

// Aligns the axes of a change with those of its point from the right; the rest in front are rows.
static bool meet_point(Derivative *d, const Lift *l, Val *v, const Type *point, uint32_t least,
                       Match *m) {
  uint32_t own[RANK_LIMIT], at[RANK_LIMIT], n = own_axes(&v->type, own), meet = 0;
  for (uint32_t i = 0; i < point->rank; i++)
    if (!point->axis[i].pass || point->axis[i].pass > l->npass) at[meet++] = i;
  if (v->literal || n < least) return true;
  for (uint32_t k = 0; k < n && k < meet; k++) {
    const Axis *there = &point->axis[at[meet - 1 - k]], *here = &v->type.axis[own[n - 1 - k]];
    if (there->pass && there->label && here->label && there->label != here->label)
      return diag_refuse(d->b->w->diags, v->span,
                         "axis %s of this change meets axis %s, which passes over `%s`",
                         name_text(d->b->w->names, here->label),
                         name_text(d->b->w->names, there->label), word_of(d));
    mark_axis(d->b, v, own[n - 1 - k], there->pass);
  }
  for (uint32_t k = 0; k + meet < n; k++) m->rest[m->nrest++] = own[k];
  return true;
}

// least[i]: the number of axes the point of change i had when f was called
static bool lift_changes(Derivative *d, Lift *l, const Body *sub, Value *args,
                         const uint32_t *least) {
  Value changes = {args->n - d->n, args->at + d->n, NULL};
  Match *m = NEW_ARRAY(d->b->w->arena, Match, changes.n);
  for (uint32_t i = 0; i < changes.n; i++)
    if (!meet_point(d, l, &changes.at[i], point_of(d, sub, i), least[i], &m[i])) return false;
  return lift_over(l, &changes, m);
}

static Type on_rows(const Derivative *d, const Type *t) {
  Axis axis[RANK_LIMIT * 2];
  if (d->nrows) memcpy(axis, d->rows, d->nrows * sizeof(Axis));
  if (t->rank) memcpy(axis + d->nrows, t->axis, t->rank * sizeof(Axis));
  return type_like(d->b->w, t, d->nrows + t->rank, axis);
}

// A change for a value of this type: a literal, or a value with the same axes, broadcast along
// batch axes it lacks.
static Id change_wire(Derivative *d, Val v, const Type *point) {
  Body *b = d->b;
  uint32_t own[RANK_LIMIT], kept[RANK_LIMIT];
  Type rows = on_rows(d, point), *want = &rows;
  if (v.literal) v = val_fill(b, v, *point);
  Val wide = v;
  bool fits = own_axes(&v.type, own) == own_axes(want, kept) && want->base == v.type.base;
  if (fits) wide = arrange_axes(b, v, want->axis, want->rank, d->span);
  for (uint32_t i = 0; fits && i < want->rank; i++)
    fits = sizes_agree(b, want->axis[i].size, wide.type.axis[i].size, d->span, d->span, "a change");
  if (fits) return val_to_wire(b, &wide, 0);
  diag_error(b->w->diags, v.span, "a change of %s is wanted here, but this is %s",
             own_text(b->w, point), own_text(b->w, &v.type));
  return 0;
}

static Body *as_body(Body *b, Diagram *d) {
  Body *r = NEW(b->w->arena, Body);
  r->in = b->in;
  r->w = b->w;
  r->d = d;
  return r;
}

// f with all batch axes on every input; finds the row axes of its changes.
static Body *elaborate_lifted(Derivative *d, Lift *l, Value *args) {
  uint32_t own[RANK_LIMIT];
  bool changed = false;
  Body *sub = elaborate_probe(d, args);
  if (!sub) return NULL;
  uint32_t *least = NEW_ARRAY(d->b->w->arena, uint32_t, args->n + 1);
  for (uint32_t i = 0; i < args->n - d->n; i++) least[i] = own_axes(point_of(d, sub, i), own);
  if (!lift_inputs(d, l, args) || !widen_inputs(d, args, &changed)) return NULL;
  if (changed) sub = box_of(d, NULL);
  uint32_t points = d->b->npass;
  if (!sub || !lift_changes(d, l, sub, args, least)) return NULL;
  d->rows = d->b->pass + points;
  d->nrows = d->b->npass - points;
  for (uint32_t i = 0; i < args->n - d->n; i++)
    if (!rank_fits(d->b->w, (uint64_t)d->nrows + point_of(d, sub, i)->rank + 1, d->span))
      return NULL;
  return sub;
}

// The largest number of scalar steps in one loop, in a diagram and its callees (each visited once).
static uint32_t longest_equation(World *w, const Diagram *d, Table *seen) {
  uint32_t longest = 0;
  if (table_get(seen, &d, sizeof d)) return 0;
  table_put(seen, &d, sizeof d, 1);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *box = &d->box.at[i];
    const Diagram *inner = box->op == OP_call   ? box->callee
                           : box->op == OP_scan ? box->scan->body
                                                : NULL;
    uint32_t n = box->op == OP_loop ? box->loop->nscalar : 1;
    if (inner) n = longest_equation(w, inner, seen);
    if (n > longest) longest = n;
  }
  return longest;
}

// Limits the size of nested derivatives, each of which is a few times larger than the last.
static bool may_derive(Derivative *d, const Diagram *of) {
  enum { DERIVED_LIMIT = 5000 };
  World *w = d->b->w;
  uint32_t longest = longest_equation(w, of, table_new(w->arena));
  uint64_t boxes = diagram_boxes(w, of);
  if (boxes > DERIVED_LIMIT)
    return diag_refuse(
        w->diags, d->span,
        "this derivative is too large: what it is of has %llu boxes, written out, and "
        "%d are the most",
        (unsigned long long)boxes, DERIVED_LIMIT);
  if (longest <= X_LIMIT) return true;
  return diag_refuse(w->diags, d->span,
                     "this derivative is too large: what it is of has an equation of %u steps, and "
                     "%d are the most",
                     longest, X_LIMIT);
}

static Diagram *derive_body(Derivative *d, Body *sub) {
  World *w = d->b->w;
  bool *none = NEW_ARRAY(w->arena, bool, sub->d->param.n);
  Wanted wanted = {.want_param = none};
  diagram_resolve(w, sub->d);
  Diagram *made =
      d->back ? diagram_reverse(w, sub->d, &wanted) : diagram_forward(w, sub->d, &wanted);
  uint32_t outs = d->back ? 0 : sub->d->out.n; // keep only the tangents of the outputs
  for (uint32_t i = outs; i < made->out.n; i++) made->out.at[i - outs] = made->out.at[i];
  made->out.n -= outs;
  bool *changes = NEW_ARRAY(w->arena, bool, made->in.n + 1);
  for (uint32_t i = d->n; i < made->in.n; i++) changes[i] = true;
  for (uint32_t i = d->nrows; i-- > 0;)
    made = diagram_vmap(w, made, changes, (Index){d->rows[i].label, d->rows[i].size});
  made->name = name_from(w->names, word_of(d));
  vec_push(w->arena, &made->option,
           (Option){.text = box_word(w, &(Closure){.node = d->box, .env = d->env})});
  return made;
}

static Value apply_derived(Derivative *d, Body *sub, const Value *args, const Syntax *use) {
  Body *b = d->b;
  Ids wire = {0};
  for (uint32_t i = 0; i < args->n; i++) {
    Id in =
        i < d->n ? args->at[i].x->wire : change_wire(d, args->at[i], point_of(d, sub, i - d->n));
    if (!in) return value_error(b, d->span);
    vec_push(b->w->arena, &wire, in);
  }
  if (!may_derive(d, sub->d)) return value_error(b, d->span);
  Diagram *made = derive_body(d, sub);
  BoxUse call = {
      .def = box_called(b, word_of(d)), .node = use, .name = made->name, .span = d->span};
  Id first = body_call(b, as_body(b, made), wire.at, &call);
  Value out = {.n = made->out.n, .at = NEW_ARRAY(b->w->arena, Val, made->out.n)};
  for (uint32_t i = 0; i < out.n; i++) {
    b->d->wire.at[first + i].type =
        on_rows(d, d->back ? &d->type[d->moves.at[i]] : &sub->out_type.at[i]);
    out.at[i] = val_wire(b, first + i, d->span);
  }
  return out;
}

// -- over h ---------------------------------------------------------------------------------------
static bool has_axis(const Val *v, Name name, uint32_t *at) {
  for (uint32_t i = 0; i < v->type.rank; i++)
    if (!v->type.axis[i].pass && v->type.axis[i].label == name) {
      *at = i;
      return true;
    }
  return false;
}

// An axis that only changes have is a row axis: it is moved to the front.
static bool rows_in_front(const Derivative *d, const Value *args, const Syntax *name) {
  bool any = false;
  uint32_t at;
  for (uint32_t i = d->n; i < args->n; i++) {
    Val *v = &args->at[i];
    uint32_t order[RANK_LIMIT], n = 0;
    if (v->literal || !has_axis(v, name->name, &at)) continue;
    order[n++] = at;
    for (uint32_t k = 0; k < v->type.rank; k++)
      if (k != at) order[n++] = k;
    *v = val_permute(d->b, *v, order, n);
    any = true;
  }
  return any || diag_refuse(d->b->w->diags, name->span, "no argument has an axis %s to go over",
                            name_text(d->b->w->names, name->name));
}

static bool take_over(Derivative *d, const Value *args, const Syntax *over) {
  Arena *arena = d->b->w->arena;
  VEC(Syntax *) points = {0};
  uint32_t at;
  for (uint32_t i = over ? over_names(over).n : 0;
       i-- > 0;) { // in reverse, so that the first ends in front
    Syntax *name = over_names(over).at[i];
    bool point = false;
    for (uint32_t k = 0; k < d->n; k++) point |= has_axis(&args->at[k], name->name, &at);
    if (point)
      vec_push(arena, &points, name);
    else if (!rows_in_front(d, args, name))
      return false;
  }
  for (uint32_t i = 0; i < points.n / 2; i++) {
    Syntax *other = points.at[i];
    points.at[i] = points.at[points.n - 1 - i];
    points.at[points.n - 1 - i] = other;
  }
  if (points.n)
    d->over_named =
        node_over(arena, over->span, (OverParts){over_base(over), (Nodes){points.n, points.at}});
  return true;
}

Value builtin_derivative(const BuiltinUse *u) {
  Body *b = u->b;
  Derivative d = {.b = b, .env = u->env, .span = u->span, .back = u->box->kind == BACK};
  d.box = boxed_option(b, u->config, 0, u->span, word_of(&d));
  if (!d.box || value_failed(&u->args) || !count_inputs(&d, &u->args))
    return value_error(b, u->span);
  Lift l;
  Value given = {u->args.n, arena_copy(b->w->arena, u->args.at, u->args.n * sizeof(Val)), NULL};
  if (!take_over(&d, &given, u->over)) return value_error(b, u->span);
  lift_begin(&l, b, word_of(&d), u->span);
  Body *sub = elaborate_lifted(&d, &l, &given);
  Value out = sub ? apply_derived(&d, sub, &given, u->use) : value_error(b, u->span);
  lift_end(&l, &out);
  return out;
}

// -- the inputs of a derivative -------------------------------------------------------------------
// Elaborates f on its declared types; NULL if the header is incomplete. The result is dropped;
// `loud` keeps its diagnostics.
static Body *declared_alone(Body *b, Env *env, const Syntax *box, const BoxInputs *in, bool loud) {
  Type *type = NEW_ARRAY(b->w->arena, Type, in->n + 1);
  for (uint32_t i = 0; i < in->n; i++) type[i] = in->at[i].type;
  Body *around = body_new(b->in, name_from(b->w->names, "rev"));
  around->generic = true;
  b->w->diags->muted += !loud;
  Body *sub = box_alone(around, env, box, in->n, type, box->span);
  b->w->diags->muted -= !loud;
  return sub;
}

static const Syntax *derived_box(const Syntax *config) {
  const Syntax *box = config && brackets_slots(config).n == 1 ? brackets_slots(config).at[0] : NULL;
  return box && slot_item(box)->kind != N_ITEMS ? slot_item(box) : NULL;
}

// Reports errors in f, since they leave the inputs of its derivative unknown.
static bool inner_fault(Body *b, Env *env, const Syntax *box) {
  uint32_t errors = b->w->diags->met;
  if (uses_broken(env, box)) return true;
  while (box->kind == N_PAREN) box = paren_inner(box);
  const Syntax *of = derivative_named(b, env, box) ? derived_box(at_brackets(box)) : NULL;
  BoxInputs in = {0};
  if (!of) return false;
  if (inner_fault(b, env, of)) return true;
  if (box_inputs(b, env, of, &in)) declared_alone(b, env, of, &in, true);
  return b->w->diags->met > errors;
}

bool derivative_inputs(Body *b, Env *env, const BuiltinBox *word, const Syntax *config,
                       BoxInputs *out) {
  const Syntax *box = derived_box(config);
  if (!box) return false;
  uint32_t from = out->n;
  if (!box_inputs(b, env, box, out)) return false;
  BoxInputs own = {.n = out->n - from, .at = out->at + from};
  if (word->kind == FORTH) {
    for (uint32_t i = 0, n = own.n; i < n; i++) {
      Type t = out->at[from + i].type;
      if (t.base != BASE_LABEL) vec_push(b->w->arena, out, (BoxInput){.type = t});
    }
    return true;
  }
  Body *sub = declared_alone(b, env, box, &own, false);
  for (uint32_t i = 0; sub && i < sub->out_type.n; i++)
    vec_push(b->w->arena, out, (BoxInput){.type = own_type(b->w, &sub->out_type.at[i])});
  return sub != NULL;
}
