// Identity of spaces and maps: their text is printed with every name resolved, and equal texts are
// interned to equal numbers. So two diagrams may each declare `space X = R[2]` and mean the same,
// and an edge `= small` is the learner `small` everywhere.
//
// The same walk copies expressions from one scope to another, keeping their meaning.
#include "base/names.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

#include "io/data/data.h"

static Id number_of(Elab *in, const char *text) {
  if (!in->same) in->same = table_new(in->w->arena);
  Id id = table_get(in->same, text, strlen(text));
  if (id) return id;
  id = table_count(in->same) + 1;
  table_put(in->same, text, strlen(text), id);
  return id;
}

static void resolved_text(Elab *in, Scope *s, const Syntax *n, Buf *out) {
  if (!n) {
    buf_char(out, '_');
    return;
  }
  if (n->kind == N_PAREN) {
    resolved_text(in, s, paren_inner(n), out);
    return;
  }
  const Def *d = n->kind == N_NAME ? scope_find(s, n->name) : NULL;
  if (d) {
    buf_printf(out, "#%u", d->id);
    return;
  }
  buf_printf(out, "(%u %s", n->kind, name_text(in->w->names, n->name));
  if (n->kind == N_NUM) buf_number(out, n->num);
  if (n->text && n->kind != N_NUM) buf_json(out, n->text, strlen(n->text));
  buf_text(out, syntax_signs(n));
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) {
    buf_char(out, ' ');
    resolved_text(in, s, syntax_parts(n).at[i], out);
  }
  buf_char(out, ')');
}

Id same_map(Elab *in, Scope *s, const Syntax *n) {
  Buf b = buf_new(in->w->arena);
  resolved_text(in, s, n, &b);
  return number_of(in, b.at);
}

// Equal sets of learners get equal numbers, whatever their order.
Id same_learners(Elab *in, const Ids *all) {
  Buf b = buf_new(in->w->arena);
  buf_text(&b, "learners");
  for (Id last = 0, next = UINT32_MAX; next; last = next) {
    next = 0;
    for (uint32_t i = 0; i < all->n; i++)
      if (all->at[i] > last && (!next || all->at[i] < next)) next = all->at[i];
    if (next) buf_printf(&b, " %u", next);
  }
  return number_of(in, b.at);
}

Id same_space(Elab *in, const GraphSpace *space) {
  Buf b = buf_new(in->w->arena);
  if (space->source) {
    buf_text(&b, "index ");
    resolved_text(in, space->home, space->source, &b);
    return number_of(in, b.at);
  }
  if (!space->def) return 0;
  Types types = {0};
  const Syntax *n = space->def->node;
  Scope *s = space->def->scope;
  buf_text(&b, "space");
  if (!space_points(in, (Def *)space->def, &types)) return 0;
  for (uint32_t i = 0; i < types.n; i++) buf_printf(&b, " %s", type_text(in->w, &types.at[i]));
  if (space_distance(n)) {
    buf_text(&b, " by ");
    resolved_text(in, s, space_distance(n), &b);
  }
  return number_of(in, b.at);
}

// -- data -----------------------------------------------------------------------------------------

// The data source that a type denotes.
const Syntax *index_source(Elab *in, const Syntax *types) {
  const Syntax *type = types_in(types).at[0];
  if (!type_brackets(type)) return type_base(type);
  return node_at(in->w->arena, type->span, (AtParts){type_base(type), type_brackets(type)});
}

// -- copies ---------------------------------------------------------------------------------------
Name name_of_def(Elab *in, Scope *to, const Def *d) {
  if (scope_find(to, d->name) == d) return d->name;
  const char *text = name_text(in->w->names, d->name);
  Name key = name_from(in->w->names, arena_format(in->w->arena, "%s#%u", text, d->id));
  scope_alias(to, key, (Def *)d);
  return key;
}

static Name name_in(Elab *in, Scope *from, Scope *to, Name name) {
  const Def *d = scope_find(from, name);
  return !d || scope_find(to, name) == d ? name : name_of_def(in, to, d);
}

Syntax *copy_resolved(Elab *in, Scope *from, Scope *to, const Syntax *n) {
  if (!n) return NULL;
  Syntax *copy = syntax_copy(in->w->arena, n);
  if (n->kind == N_NAME) copy->name = name_in(in, from, to, n->name);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    syntax_put(copy, i, copy_resolved(in, from, to, syntax_parts(n).at[i]));
  return copy;
}
