// `check f ; g = h`: property checks of boxes, for every point that both sides accept.
//
// Both sides are boxes, or values over otherwise unbound names: check f(a, b) = f(b, a). A name has
// the input type of the first box it is passed to, or is a vector. Open sizes, n of R[n], are tried
// with three small numbers; for each choice the check is a diagram from points to both sides.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/ops.h"
#include "core/diagram/subst.h"
#include "lang/declare/statements.h"
#include "lang/program/claim_own.h"

// -- the statement --------------------------------------------------------------------------------
typedef struct {
  Elab *in;
  Program *p;
  const Syntax *left, *right;
  bool boxes;       // the sides are boxes; otherwise values over the names of `inputs`
  BoxInputs inputs; // a type without a base: not known yet
  Body *b;          // for name resolution
} BoxEquation;

static bool is_word_of_values(const char *name) {
  static const char *const word[] = {"inf", "training", "batch", "step", "steps", "time"};
  for (uint32_t i = 0; i < COUNT(word); i++)
    if (!strcmp(word[i], name)) return true;
  return false;
}

// An unbound name, or a given field: a universally quantified point. Its index + 1.
static uint32_t point_named(BoxEquation *q, const Syntax *n) {
  if (n->kind != N_NAME) return 0;
  for (uint32_t i = 0; i < q->inputs.n; i++)
    if (q->inputs.at[i].name == n->name) return i + 1;
  World *w = q->in->w;
  const Def *d = scope_meaning(q->p->scope, n);
  const char *name = name_text(w->names, n->name);
  bool given = d && d->kind == DEF_GIVEN && !d->broken;
  bool known = builtin_find(q->in, n->name) || fn_find(name) != FN_COUNT || is_word_of_values(name);
  if (d ? !given : known) return 0;
  BoxInput x = {.name = n->name};
  if (given) x.type = q->p->given.at[d->given].type.at[d->field];
  vec_push(w->arena, &q->inputs, x);
  return q->inputs.n;
}

static void find_points(BoxEquation *q, const Syntax *n) {
  if (!n) return;
  point_named(q, n);
  for (uint32_t i = n->kind == N_CALL; i < syntax_parts(n).n; i++) { // skip the callee
    const Syntax *part = syntax_parts(n).at[i];
    if (part && part->kind != N_BRACKETS) find_points(q, part); // indices are bound there
  }
}

// Unifies the sizes of two uses of one point.
static void same_sizes(World *w, const Type *a, const Type *b) {
  if (a->base != b->base || a->rank != b->rank) return; // reported when it is called
  for (uint32_t i = 0; i < a->rank; i++) size_equate(w, a->axis[i].size, b->axis[i].size, true);
  if (a->base == BASE_LABEL) size_equate(w, a->count, b->count, true);
}

static void type_points(BoxEquation *q, const Syntax *n) {
  if (!n) return;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) type_points(q, syntax_parts(n).at[i]);
  if (n->kind != N_CALL) return;
  BoxInputs wanted = {0};
  if (!box_inputs(q->b, q->b->env, call_callee(n), &wanted) || wanted.n != call_args(n).n) return;
  for (uint32_t i = 0; i < wanted.n; i++) {
    uint32_t at = point_named(q, call_args(n).at[i]);
    if (!at || !wanted.at[i].type.base) continue;
    BoxInput *x = &q->inputs.at[at - 1];
    if (x->type.base)
      same_sizes(q->in->w, &x->type, &wanted.at[i].type);
    else
      x->type = wanted.at[i].type;
  }
}

// A vector, where no box determines the type.
static Type any_row(World *w, const char *length, Span span) {
  Axis row = {.label = name_from(w->names, length)};
  row.size = size_var(w, row.label, VAR_LOCAL, span);
  return type_make(w, BASE_R, 1, &row);
}

// False: the names belong to a machine.
static bool type_others(const BoxEquation *q, const Syntax *claim) {
  bool any = !q->p->machines || (!q->inputs.n && !q->p->ran->run.n);
  for (uint32_t i = 0; i < q->inputs.n; i++) any |= q->inputs.at[i].type.base != BASE_NONE;
  Type row = any_row(q->in->w, "m", claim->span);
  for (uint32_t i = 0; any && i < q->inputs.n; i++)
    if (!q->inputs.at[i].type.base) q->inputs.at[i].type = row;
  return any;
}

// -- the two sides --------------------------------------------------------------------------------
static bool boxes_take(BoxEquation *q, const Syntax *claim) {
  World *w = q->in->w;
  if (!equation_inputs(q->b, q->b->env, q->left, q->right, &q->inputs)) {
    int n = arity_of(q->b, q->b->env, q->left);
    if (n < 1) n = arity_of(q->b, q->b->env, q->right);
    Type row = any_row(w, "n", claim->span);
    q->inputs = (BoxInputs){0};
    for (int i = 0; i < n; i++) vec_push(w->arena, &q->inputs, (BoxInput){.type = row});
  }
  for (uint32_t i = 0; i < q->inputs.n; i++) {
    BoxInput *x = &q->inputs.at[i];
    const char *plain = q->inputs.n == 1 ? "x" : arena_format(w->arena, "x%u", i + 1);
    if (!x->name) x->name = name_from(w->names, plain);
  }
  return q->inputs.n > 0;
}

static Type with_sizes(World *w, const Type *t, const Ids *open, const Size *size, Axis sample) {
  Axis axis[RANK_LIMIT];
  Size count = t->count;
  axis[0] = sample;
  for (uint32_t i = 0; i < t->rank; i++) axis[i + 1] = t->axis[i];
  for (uint32_t k = 0; size && k < open->n; k++) {
    for (uint32_t i = 0; i < t->rank; i++)
      axis[i + 1].size = size_subst(w, size_now(w, axis[i + 1].size), open->at[k], size[k]);
    if (count) count = size_subst(w, size_now(w, count), open->at[k], size[k]);
  }
  Type own = *t;
  own.count = count;
  return type_like(w, &own, t->rank + 1, axis);
}

static Value one_side(const BoxEquation *q, Body *b, const Syntax *side, Value points) {
  if (!side) return value_one(b, val_literal(b, 1, q->left->span)); // a comparison: it must be true
  bool same = q->boxes && is_identity(b, b->env, side);
  Value v = same       ? value_copy(b, points)
            : q->boxes ? apply(b, b->env, side, value_copy(b, points), NULL, side->span)
                       : eval_alone(b, b->env, side);
  v.at = arena_copy(b->w->arena, v.at, v.n * sizeof(Val));
  for (uint32_t i = 0; i < v.n; i++)
    if (!v.at[i].error) val_settle(b, &v.at[i]);
  return v;
}

static const char *side_text(World *w, const Value *v) {
  Buf text = buf_new(w->arena);
  for (uint32_t i = 0; i < v->n; i++)
    buf_printf(&text, "%s%s", i ? ", " : "", own_text(w, &v->at[i].type));
  return v->n ? text.at : "nothing";
}

static bool sides_agree(Body *b, Value *left, Value *right, Span span) {
  bool good = left->n == right->n;
  for (uint32_t i = 0; good && i < left->n; i++) {
    Val *l = &left->at[i], *r = &right->at[i];
    Type number = {.base = BASE_R};
    if (l->literal) *l = val_fill(b, *l, r->literal ? number : own_type(b->w, &r->type));
    if (r->literal) *r = val_fill(b, *r, own_type(b->w, &l->type));
    Type t[2] = {own_type(b->w, &l->type), own_type(b->w, &r->type)};
    good = shapes_agree(b, &t[0], &t[1], span, "a check");
  }
  if (good) return true;
  return diag_refuse(b->w->diags, span,
                     "the two sides of this check are of different types: %s on the left, %s on "
                     "the right",
                     side_text(b->w, left), side_text(b->w, right));
}

// f(1), where f takes a vector: its length is undetermined.
static bool lengths_known(Body *b, Span span) {
  World *w = b->w;
  for (Id i = 1; i < b->d->wire.n; i++) {
    const Type *t = &b->d->wire.at[i].type;
    Ids vars = {0};
    for (uint32_t k = 0; k < t->rank; k++) size_vars(w, t->axis[k].size, &vars);
    for (uint32_t k = 0; k < vars.n; k++)
      if (size_var_kind(w, vars.at[k]) == VAR_LOCAL)
        return diag_refuse(w->diags, span, "nothing settles size %s of what is checked here",
                           name_text(w->names, size_var_name(w, vars.at[k])));
  }
  return true;
}

// Inputs of these types, in a batch. size: NULL leaves open sizes open.
static Value take_points(const BoxEquation *q, Body *b, const Ids *open, const Size *size) {
  World *w = q->in->w;
  Value points = {0};
  for (uint32_t i = 0; i < q->inputs.n; i++) {
    const BoxInput *x = &q->inputs.at[i];
    Id wire = diagram_input(w, b->d, with_sizes(w, &x->type, open, size, b->pass[0]), x->name, 0);
    Value v = value_one(b, val_wire(b, wire, q->left->span));
    if (!q->boxes) bind_value(b->env, x->name, v, q->left->span);
    points = value_concat(b, points, v);
  }
  return points;
}

// A diagram from a batch of points to both sides. *clash: only the comparison has errors.
static Diagram *both_sides(const BoxEquation *q, const Ids *open, const Size *size, bool *clash) {
  World *w = q->in->w;
  uint32_t errors = w->diags->met;
  Body *b = goal_body(q->in, q->p, name_from(w->names, "claim"));
  Value points = take_points(q, b, open, size);
  Value left = one_side(q, b, q->left, points), right = one_side(q, b, q->right, points);
  *clash = false;
  if (w->diags->met > errors || value_failed(&left) || value_failed(&right)) return NULL;
  *clash = !sides_agree(b, &left, &right,
                        span_join(q->left->span, (q->right ? q->right : q->left)->span));
  if (*clash) return NULL;
  for (uint32_t i = 0; i < left.n + right.n; i++) {
    Val *v = i < left.n ? &left.at[i] : &right.at[i - left.n];
    diagram_output(w, b->d, val_to_wire(b, v, 0));
  }
  body_finish(b);
  return weights_owned(b, q->left->span) && lengths_known(b, q->left->span) &&
                 w->diags->met == errors
             ? b->d
             : NULL;
}

// -- sizes ----------------------------------------------------------------------------------------
enum { CHOICES = 3, TRIES = 24 };

static void choose_sizes(World *w, uint32_t try, const Ids *open, Size *size, int64_t *number) {
  static const int64_t some[] = {3, 1, 4, 2, 6, 8, 5, 12, 7, 16, 9, 32};
  for (uint32_t k = 0; k < open->n; k++) { // distinct numbers first, then equal ones
    uint32_t at = try < COUNT(some) ? try + k : try - COUNT(some);
    number[k] = some[at % COUNT(some)];
    size[k] = size_of(w, number[k]);
  }
}

static const char *sizes_text(World *w, const Ids *open, const int64_t *number) {
  Buf b = buf_new(w->arena);
  for (uint32_t k = 0; k < open->n; k++)
    buf_printf(&b, "%s%s = %lld", k ? ", " : "", name_text(w->names, size_var_name(w, open->at[k])),
               (long long)number[k]);
  return open->n ? b.at : "";
}

static void add_case(const BoxEquation *q, Diagram *d, const char *sizes, Check *c) {
  BoxCase one = {.diagram = d, .sizes = sizes};
  vec_push(q->in->w->arena, &c->boxes, one);
}

// Reports an open size that cannot be chosen, such as that of a declared axis.
static bool sizes_settled(const BoxEquation *q, const Ids *open) {
  World *w = q->in->w;
  for (uint32_t i = 0; i < q->inputs.n; i++) {
    const Type *t = &q->inputs.at[i].type;
    Ids vars = {0};
    type_vars(w, t, &vars);
    for (uint32_t k = 0; k < vars.n; k++) {
      bool drawn = false;
      for (uint32_t o = 0; o < open->n; o++) drawn |= open->at[o] == vars.at[k];
      if (drawn || size_var_kind(w, vars.at[k]) == VAR_SPACE) continue;
      Id e = diag_error(w->diags, q->left->span,
                        "nothing settles size %s, so no point of %s can be drawn",
                        name_text(w->names, size_var_name(w, vars.at[k])), own_text(w, t));
      return diag_note(w->diags, e, size_var_span(w, vars.at[k]), "declared here");
    }
  }
  return true;
}

// Adds a case for each choice of sizes that the boxes accept. Rejected choices, such as half of 3,
// are skipped; if all are rejected, the errors are reported.
static void add_cases(const BoxEquation *q, Check *c) {
  World *w = q->in->w;
  Ids open = inputs_open(w, &q->inputs);
  if (!sizes_settled(q, &open)) return;
  Size *size = NEW_ARRAY(w->arena, Size, open.n + 1);
  int64_t *number = NEW_ARRAY(w->arena, int64_t, open.n + 1);
  Diags *own = w->diags, *first = NULL;
  uint32_t tries = open.n ? TRIES : 1;
  for (uint32_t try = 0; try < tries && c->boxes.n < CHOICES; try++) {
    choose_sizes(w, try, &open, size, number);
    bool clash;
    uint32_t waiting = q->in->open.n;
    w->diags = diags_new(w->arena, w->sources);
    Diagram *d = both_sides(q, &open, size, &clash);
    if (!first || clash) first = w->diags;
    w->diags = own;
    if (d) add_case(q, d, sizes_text(w, &open, number), c);
    if (!d) q->in->open.n = waiting;
    if (clash) c->boxes.n = 0;
    if (clash) break;
  }
  if (!c->boxes.n && first) diags_append(w->diags, first);
}

// -- kind of claim --------------------------------------------------------------------------------
static BoxEquation equation_of(Elab *in, Program *p, const Syntax *n) {
  BoxEquation q = {.in = in, .p = p, .left = check_left(n), .right = check_right(n)};
  q.b = body_new(in, name_from(in->w->names, "claim"));
  q.b->env = env_new(in, NULL, p->scope, q.b);
  q.boxes = is_between_boxes(q.b, q.b->env, q.left, q.right);
  return q;
}

static bool speaks_of_boxes(BoxEquation *q, const Syntax *n) {
  if (q->boxes) return boxes_take(q, n);
  find_points(q, q->left);
  find_points(q, q->right);
  q->in->w->diags->muted++;
  type_points(q, q->left);
  type_points(q, q->right);
  q->in->w->diags->muted--;
  return type_others(q, n);
}

// -- for pictures ---------------------------------------------------------------------------------
static Diagram *side_alone(const BoxEquation *q, const Syntax *side) {
  World *w = q->in->w;
  Body *b = goal_body(q->in, q->p, name_from(w->names, "side"));
  Value points = take_points(q, b, NULL, NULL);
  Value v = one_side(q, b, side, points);
  Ids fields = {0};
  if (value_failed(&v)) return NULL;
  goal_outputs(b, v, &fields);
  diagram_resolve(w, b->d);
  return b->d;
}

bool check_sides(Elab *in, Program *p, const Check *c, Diagram *side[2]) {
  if (c->kind != CHECK_BOXES || !c->boxes.n || !check_right(c->node)) return false;
  in->w->diags->muted++;
  BoxEquation q = equation_of(in, p, c->node);
  bool known = speaks_of_boxes(&q, c->node);
  side[0] = known ? side_alone(&q, q.left) : NULL;
  side[1] = known ? side_alone(&q, q.right) : NULL;
  in->w->diags->muted--;
  return side[0] && side[1];
}

// -- entry point ----------------------------------------------------------------------------------
bool do_box_check(Elab *in, Program *p, const Syntax *n, Check *c) {
  BoxEquation q = equation_of(in, p, n);
  if (!speaks_of_boxes(&q, n)) return false;
  c->kind = CHECK_BOXES;
  c->of = "";
  if (!check_within(n)) c->within = BOXES_WITHIN;
  add_cases(&q, c);
  return true;
}
