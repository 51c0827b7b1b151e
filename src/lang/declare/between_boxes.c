// Equations between boxes, enc ; dec ~ id, are rewritten to equations between values: both boxes
// are applied to the `given` of their input space, (enc ; dec)(x) ~ id(x).
#include "base/diag.h"
#include "base/names.h"
#include "lang/declare/statements.h"

bool is_between_boxes(Body *b, Env *env, const Syntax *left, const Syntax *right) {
  return left && right && is_box(b, env, left) && is_box(b, env, right);
}

static void open_sizes(World *w, Size s, Ids *out) {
  Ids vars = {0};
  size_vars(w, s, &vars);
  for (uint32_t i = 0; i < vars.n; i++) {
    bool there = size_var_kind(w, vars.at[i]) != VAR_LOCAL;
    for (uint32_t k = 0; k < out->n; k++) there |= out->at[k] == vars.at[i];
    if (!there) vec_push(w->arena, out, vars.at[i]);
  }
}

Ids inputs_open(World *w, const BoxInputs *in) {
  Ids open = {0};
  for (uint32_t i = 0; i < in->n; i++) {
    const Type *t = &in->at[i].type;
    for (uint32_t k = 0; k < t->rank; k++) open_sizes(w, t->axis[k].size, &open);
    if (t->base == BASE_LABEL) open_sizes(w, t->count, &open);
  }
  return open;
}

static bool side_inputs(Body *b, Env *env, const Syntax *side, BoxInputs *out) {
  b->w->diags->muted++;
  bool says = box_inputs(b, env, side, out);
  b->w->diags->muted--;
  for (uint32_t i = 0; i < out->n; i++) says &= out->at[i].type.base != BASE_NONE;
  return says && out->n;
}

// Does some input of the one have more axes than that of the other? The other box then maps over
// them.
static bool asks_more(const BoxInputs *one, const BoxInputs *other) {
  for (uint32_t i = 0; i < one->n && i < other->n; i++)
    if (one->at[i].type.rank > other->at[i].type.rank) return true;
  return false;
}

static uint32_t spaces_in(const BoxInputs *in) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < in->n; i++) n += in->at[i].space != NULL;
  return n;
}

// Which side determines the input types: the one with more axes, then the one with fewer open
// sizes, then the one that names spaces.
static bool says_more(World *w, const BoxInputs *one, const BoxInputs *other) {
  bool more = asks_more(one, other), less = asks_more(other, one);
  if (more != less) return more;
  uint32_t mine = inputs_open(w, one).n, theirs = inputs_open(w, other).n;
  if (!mine != !theirs) return !mine;
  return spaces_in(one) > spaces_in(other);
}

bool equation_inputs(Body *b, Env *env, const Syntax *left, const Syntax *right, BoxInputs *out) {
  BoxInputs side[2] = {{0}, {0}};
  bool says[2] = {side_inputs(b, env, left, &side[0]), side_inputs(b, env, right, &side[1])};
  bool other = says[1] && (!says[0] || says_more(b->w, &side[1], &side[0]));
  *out = side[other];
  return says[other];
}

// The library's id, which is applied to a value as that value.
bool is_identity(Body *b, Env *env, const Syntax *box) {
  while (box->kind == N_PAREN) box = paren_inner(box);
  const Def *d =
      box->kind == N_NAME && !env_meaning(env, box) ? scope_meaning(env->scope, box) : NULL;
  return d && !d->scope->library && !strcmp(name_text(b->w->names, d->name), "id");
}

// box(x, y)
static Syntax *box_on_names(Body *b, Env *env, Syntax *box, const Name *name, uint32_t n) {
  World *w = b->w;
  Nodes args = {n, NEW_ARRAY(w->arena, Syntax *, n + 1)};
  for (uint32_t i = 0; i < n; i++) args.at[i] = syntax_name(w->arena, name[i], box->span);
  if (n && is_identity(b, env, box))
    return n == 1 ? args.at[0] : node_tuple(w->arena, box->span, (TupleParts){args});
  return node_call(w->arena, box->span, (CallParts){box, args});
}

// -- choosing the `given` -------------------------------------------------------------------------
// Can a value of this type be given? An open size matches any.
static bool could_be(World *w, const Type *wanted, const Type *have) {
  Id var;
  if (wanted->base != have->base || wanted->rank != have->rank) return false;
  for (uint32_t i = 0; i <= wanted->rank; i++) {
    bool count = i == wanted->rank;
    if (count && wanted->base != BASE_LABEL) break;
    Size a = size_now(w, count ? wanted->count : wanted->axis[i].size),
         b = size_now(w, count ? have->count : have->axis[i].size);
    bool open = size_is_var(w, a, &var) && size_var_kind(w, var) == VAR_LOCAL;
    if (a != b && !open) return false;
  }
  return true;
}

static const Def *space_of_given(const Def *d) {
  const Syntax *type = param_type(d->node);
  if (!type || type->kind != N_TYPE || type_base(type)->kind != N_NAME) return NULL;
  const Def *space = scope_meaning(d->scope, type_base(type));
  return space && space->kind == DEF_SPACE ? space : NULL;
}

typedef VEC(const Def *) GivenDefs;

// The givens declared to be of its space, or if there are none, those of its type.
static GivenDefs givens_for(Elab *in, Program *p, const BoxInput *x) {
  GivenDefs typed = {0}, spaced = {0};
  for (uint32_t i = 0; i < p->given.n; i++)
    for (uint32_t k = 0; k < p->given.at[i].field.n; k++) {
      const Def *d = p->given.at[i].field.at[k];
      if (!d || d->broken || scope_find(p->acting, d->name) != d) continue;
      if (!could_be(in->w, &x->type, &p->given.at[i].type.at[k])) continue;
      vec_push(in->w->arena, &typed, d);
      if (x->space && space_of_given(d) == x->space) vec_push(in->w->arena, &spaced, d);
    }
  return spaced.n ? spaced : typed;
}

static const char *input_text(World *w, const BoxInput *x) {
  return x->space ? name_text(w->names, x->space->name) : own_text(w, &x->type);
}

static bool no_given(Elab *in, const BoxInput *x, Span span) {
  const char *type = input_text(in->w, x);
  Id e =
      diag_error(in->w->diags, span,
                 "this goal is about every point of %s, and none is given to draw it from", type);
  return diag_help(in->w->diags, e, "as in `given x : %s from \"points.npy\"`", type);
}

static bool many_givens(Elab *in, const BoxInput *x, const GivenDefs *found, Span span) {
  World *w = in->w;
  Buf all = buf_new(w->arena);
  for (uint32_t i = 0; i < found->n; i++)
    buf_printf(&all, "%s`%s`",
               i == 0             ? ""
               : i + 1 < found->n ? ", "
                                  : " and ",
               name_text(w->names, found->at[i]->name));
  Id e = diag_error(w->diags, span,
                    "this goal is about every point of %s, and %s are given there: which is meant?",
                    input_text(w, x), all.at);
  diag_help(w->diags, e, "write it out: `f(%s) ~ g(%s)`", name_text(w->names, found->at[0]->name),
            name_text(w->names, found->at[0]->name));
  return diag_note(w->diags, e, found->at[1]->span, "one of them");
}

static bool twice_given(Elab *in, const BoxInput *x, Name name, Span span) {
  World *w = in->w;
  Id e = diag_error(w->diags, span,
                    "two inputs of this goal are points of %s, and `%s` alone is given there",
                    input_text(w, x), name_text(w->names, name));
  return diag_help(w->diags, e, "write it out, with a `given` for each: `f(a, b) ~ g(a, b)`");
}

static bool name_points(Elab *in, Program *p, const BoxInputs *inputs, Span span, Name *name) {
  for (uint32_t i = 0; i < inputs->n; i++) {
    GivenDefs found = givens_for(in, p, &inputs->at[i]);
    if (!found.n) return no_given(in, &inputs->at[i], span);
    if (found.n > 1) return many_givens(in, &inputs->at[i], &found, span);
    name[i] = found.at[0]->name;
    for (uint32_t k = 0; k < i; k++)
      if (name[k] == name[i]) return twice_given(in, &inputs->at[i], name[i], span);
  }
  return true;
}

const Syntax *claim_written_out(Body *b, Program *p, const Syntax *claim) {
  World *w = b->w;
  if (claim->kind != N_EQUAL) return claim;
  Syntax *left = equal_left(claim), *right = equal_right(claim);
  if (!is_between_boxes(b, b->env, left, right)) return claim;
  BoxInputs inputs;
  if (!equation_inputs(b, b->env, left, right, &inputs)) {
    if (uses_broken(b->env, left) || uses_broken(b->env, right)) return NULL;
    Id e = diag_error(w->diags, claim->span,
                      "nothing says what these boxes take: neither side has a type");
    diag_help(w->diags, e, "give them their wires: `f(x) ~ g(x)`");
    return NULL;
  }
  Name *name = NEW_ARRAY(w->arena, Name, inputs.n);
  if (!name_points(b->in, p, &inputs, claim->span, name)) return NULL;
  EqualParts sides = {box_on_names(b, b->env, left, name, inputs.n),
                      box_on_names(b, b->env, right, name, inputs.n)};
  return node_equal(w->arena, claim->span, sides);
}
