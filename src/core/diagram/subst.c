// Substitution of size variables. A callee's sizes are expressed in the caller's sizes: the
// callee's input types are matched with the types of the argument wires, and each equation is
// solved for its unknown variable.
#include "core/diagram/subst.h"
#include "core/diagram/ops.h"

Size subst_size(World *w, const Subst *s, Size size) {
  size = size_now(w, size);
  for (uint32_t i = 0; i < s->n; i++) size = size_subst(w, size, s->at[i].var, s->at[i].value);
  return size;
}

Type subst_type(World *w, const Subst *s, Type t) {
  if (!s->n) return t;
  t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
  for (uint32_t i = 0; i < t.rank; i++) t.axis[i].size = subst_size(w, s, t.axis[i].size);
  t.count = subst_size(w, s, t.count);
  return t;
}

static void subst_access(World *w, const Subst *s, Access *a) {
  for (uint32_t i = 0; i < a->rank; i++) {
    Coord *c = &a->coord[i];
    c->c = subst_size(w, s, c->c);
    for (uint32_t k = 0; k < c->n; k++) c->term[k].coef = subst_size(w, s, c->term[k].coef);
  }
}

void subst_loop(World *w, const Subst *s, Loop *loop) {
  for (uint32_t i = 0; i < loop->nindex; i++)
    loop->index[i].size = subst_size(w, s, loop->index[i].size);
  for (uint32_t i = 0; i < loop->nin; i++) subst_access(w, s, &loop->in[i]);
  subst_access(w, s, &loop->out);
  for (uint32_t i = 0; i < loop->nscalar; i++)
    if (loop->scalar[i].fn == FN_SIZE) loop->scalar[i].ref = subst_size(w, s, loop->scalar[i].ref);
}

void type_vars(World *w, const Type *t, Ids *out) {
  if (t->count) size_vars(w, t->count, out);
  for (uint32_t i = 0; i < t->rank; i++) size_vars(w, t->axis[i].size, out);
}

// A variable that callee and caller share maps to itself, unless matching finds another value.
static bool subst_knows(const Subst *s, Id var) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].var == var) return true;
  return false;
}

// Solves formal = actual if the formal size is affine in its one unknown v: formal = a·v + b.
static void subst_match(World *w, Subst *s, Size formal, Size actual) {
  Ids vars = {0};
  formal = size_now(w, formal);
  size_vars(w, formal, &vars);
  Id unknown = 0;
  for (uint32_t i = 0; i < vars.n; i++) {
    if (subst_knows(s, vars.at[i])) continue;
    if (unknown) return;
    unknown = vars.at[i];
  }
  if (!unknown) return;
  Size known = subst_size(w, s, formal);
  Size at0 = size_subst(w, known, unknown, size_of(w, 0)),
       at1 = size_subst(w, known, unknown, size_of(w, 1));
  Size slope = size_sub(w, at1, at0);
  if (!slope || slope == size_of(w, 0)) return;
  Size value = size_quotient(w, size_sub(w, size_now(w, actual), at0), slope);
  if (value && size_subst(w, known, unknown, value) == size_now(w, actual))
    vec_push(w->arena, s, (Replaced){unknown, value});
}

static void match_types(World *w, Subst *s, const Type *formal, const Type *actual, uint32_t skip) {
  for (uint32_t i = 0; i < formal->rank && i + skip < actual->rank; i++)
    subst_match(w, s, formal->axis[i].size, actual->axis[i + skip].size);
  if (formal->base == BASE_LABEL && actual->base == BASE_LABEL)
    subst_match(w, s, formal->count, actual->count);
}

// subst_size replaces the variables one after the other, which must not replace inside values that
// were substituted before. On such a clash the substitution goes through fresh variables.
static void subst_order(World *w, Subst *s) {
  Subst kept = {0}, back = {0};
  bool clash = false;
  for (uint32_t i = 0; i < s->n; i++) {
    Ids vars = {0};
    size_vars(w, s->at[i].value, &vars);
    Id self;
    if (size_is_var(w, s->at[i].value, &self) && self == s->at[i].var) continue;
    for (uint32_t k = 0; k < vars.n; k++) clash |= subst_knows(s, vars.at[k]);
    vec_push(w->arena, &kept, s->at[i]);
  }
  for (uint32_t i = 0; clash && i < kept.n; i++) {
    Id var = kept.at[i].var;
    Size fresh = size_var(w, size_var_name(w, var), VAR_LOCAL, size_var_span(w, var));
    Id fresh_var = 0;
    size_is_var(w, fresh, &fresh_var);
    vec_push(w->arena, &back, (Replaced){fresh_var, kept.at[i].value});
    kept.at[i].value = fresh;
  }
  for (uint32_t i = 0; i < back.n; i++) vec_push(w->arena, &kept, back.at[i]);
  *s = kept;
}

static bool type_has_vars(World *w, const Type *t) {
  int64_t n;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(w, t->axis[i].size, &n)) return true;
  return t->base == BASE_LABEL && !size_value(w, t->count, &n);
}

void subst_call(World *w, Subst *s, const Diagram *callee, const Diagram *d, const Id *in,
                uint32_t slices) {
  Subst found = {0};
  uint32_t nin = callee->in.n + callee->param.n;
  for (int round = 0; round < 2; round++) // the second round solves sizes of several variables
    for (uint32_t i = 0; i < nin; i++) {
      Id inner = i < callee->in.n ? callee->in.at[i] : callee->param.at[i - callee->in.n].wire;
      const Type *formal = &callee->wire.at[inner].type;
      if (type_has_vars(w, formal))
        match_types(w, &found, formal, &d->wire.at[in[i]].type, i < slices);
    }
  for (uint32_t i = 0; i < s->n; i++)
    if (!subst_knows(&found, s->at[i].var)) vec_push(w->arena, &found, s->at[i]);
  subst_order(w, &found);
  *s = found;
}
