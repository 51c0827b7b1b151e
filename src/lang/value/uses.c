// Records name resolution during elaboration, for editors.
//
// Input: every name that is looked up, with its binding or declaration. Output: one entry per
// position in the text, with the declaration it refers to. A name may be looked up several times,
// as a wire of the body and as a declaration of the file; the entry of higher rank stays, the first
// among equals.
//
// All assignments to one name refer to the first. An index that runs over a declared axis of its
// name refers to that axis.
#include "base/names.h"
#include "base/source.h"
#include "lang/value/value.h"

enum { RANK_FILE = 1, RANK_BODY, RANK_INDEX, RANK_AXIS };

void elab_note_uses(Elab *in, const volatile sig_atomic_t *stop) {
  Arena *a = in->w->arena;
  in->stop = stop;
  in->uses = NEW(a, NameUses);
  in->uses->at = span_numbers_new(a, in->w->sources);
  in->uses->type_at = span_numbers_new(a, in->w->sources);
}

const NameUses *elab_uses(Elab *in) { return in->uses; }

// Does this name stand at this position? Synthesised nodes borrow positions of other text.
static bool stands_at(Elab *in, const char *name, Span at) {
  if (!at.file) return false;
  const Source *s = &in->w->sources->file.at[at.file];
  size_t n = strlen(name);
  return n == at.n && at.at + n <= s->n && memcmp(s->text + at.at, name, n) == 0;
}

// ...s and h:28 begin or end with their name; other nodes have a name_span.
static Span name_place(Elab *in, const Syntax *n) {
  Span at = n->name_span.file ? n->name_span : n->span;
  const char *name = name_text(in->w->names, n->name);
  uint32_t length = (uint32_t)strlen(name);
  if (at.n < length || at.n == length) return at;
  Span head = {at.file, at.at, length}, tail = {at.file, at.at + at.n - length, length};
  return stands_at(in, name, head) ? head : tail;
}

static void record_use(Elab *in, Name name, NameUse u) {
  const char *text = name_text(in->w->names, name);
  if (!stands_at(in, text, u.use)) return;
  if (!stands_at(in, text, u.first)) u.first = (Span){0};
  uint32_t *known = span_number(in->uses->at, u.use);
  if (*known) {
    NameUse *old = &in->uses->use.at[*known - 1];
    if (u.rank > old->rank || (u.rank == old->rank && !old->first.file)) *old = u;
    return;
  }
  vec_push(in->w->arena, &in->uses->use, u);
  *known = in->uses->use.n;
}

void use_of_def(Elab *in, Span use, const Def *d) {
  if (!in->uses) return;
  NameUse u = {use, d->span, NAMED_DEF, RANK_FILE, d};
  const char *name = name_text(in->w->names, d->name);
  if (stands_at(in, name, d->span)) record_use(in, d->name, u);
}

static NamedKind bound_kind(BindKind kind) {
  static const NamedKind as[] = {
      [BIND_OPTION] = NAMED_OPTION, [BIND_SIZE] = NAMED_SIZE,       [BIND_SPREAD] = NAMED_SPREAD,
      [BIND_VALUE] = NAMED_WIRE,    [BIND_LEARNER] = NAMED_LEARNER, [BIND_LOOP] = NAMED_LOOP,
      [BIND_KEPT] = NAMED_KEPT,     [BIND_STATE] = NAMED_STATE};
  return as[kind];
}

void use_of_binding(Elab *in, Name name, Span use, const Binding *bind) {
  if (in->uses)
    record_use(in, name, (NameUse){use, bind->named, bound_kind(bind->kind), RANK_BODY, NULL});
}

void use_of_index(Elab *in, Name name, Span use, Span first) {
  if (in->uses) record_use(in, name, (NameUse){use, first, NAMED_INDEX, RANK_INDEX, NULL});
}

void use_index_as_axis(Elab *in, Name name, Span index, const Binding *bind, const Def *d) {
  if (!in->uses) return;
  Span first = bind ? bind->named : d->span;
  record_use(in, name, (NameUse){index, first, NAMED_INDEX, RANK_AXIS, NULL});
}

void use_of_name(Elab *in, const Syntax *use, Span first, NamedKind kind) {
  if (!in->uses || !use->name) return;
  record_use(in, use->name, (NameUse){name_place(in, use), first, kind, RANK_BODY, NULL});
}

void use_label_as_axis(Env *env, const Syntax *n) {
  if (!env->scope->in->uses || n->kind != N_NAME) return;
  const Binding *bind = env_find(env, n->name);
  const Def *d = bind ? NULL : scope_find(env->scope, n->name);
  if (bind && bind->kind <= BIND_SPREAD) env_meaning(env, n);
  if (d && d->kind == DEF_AXIS) scope_meaning(env->scope, n);
}

Def *scope_meaning(Scope *s, const Syntax *n) {
  Def *d = scope_find(s, n->name);
  if (d && d->scope != s) scope_refuse_ambiguous(s, n->name, name_place(s->in, n));
  if (d && s->in->uses) {
    NameUse u = {name_place(s->in, n), d->span, NAMED_DEF, RANK_FILE, d};
    record_use(s->in, n->name, u);
  }
  return d;
}

Binding *env_meaning(Env *e, const Syntax *n) {
  Binding *bind = env_find(e, n->name);
  if (bind && e->scope->in->uses)
    use_of_binding(e->scope->in, n->name, name_place(e->scope->in, n), bind);
  return bind;
}

// For a box that is a pattern, the first types are those of the header with symbolic sizes, the
// second those of a use.
void use_of_value(Elab *in, Span name, const Value *v) {
  if (!in->uses || !name.file || value_failed(v) || !v->n) return;
  Type *types = NEW_ARRAY(in->w->arena, Type, v->n);
  for (uint32_t i = 0; i < v->n; i++) types[i] = v->at[i].literal ? (Type){0} : v->at[i].type;
  uint32_t *known = span_number(in->uses->type_at, name);
  if (!*known) {
    vec_push(in->w->arena, &in->uses->type, (NamedTypes){.name = name});
    *known = in->uses->type.n;
  }
  NamedTypes *t = &in->uses->type.at[*known - 1];
  uint32_t which = t->type[0] ? 1 : 0;
  t->n[which] = v->n;
  t->type[which] = types;
}
