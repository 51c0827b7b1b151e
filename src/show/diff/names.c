// Pairs names of two programs.
//
// There are three kinds of names. Names bound in the statement (inputs, indices, wires, size
// variables) may be renamed consistently within it. Names declared by the program follow the
// pairing of their declarations. Names after a dot or before a colon are members (options, ports),
// with one pairing for the program. Any other name has a fixed meaning and must be equal.
#include "base/names.h"
#include "base/table.h"
#include "show/diff/trees.h"

// -- pairs ----------------------------------------------------------------------------------------
static Id lookup(const Renaming *r, int side, Name name) {
  for (; r; r = r->outer) {
    Id found = table_get(r->to[side], &name, sizeof name);
    if (found) return found;
  }
  return 0;
}

Renaming renaming_new(Arena *arena, const Renaming *outer) {
  return (Renaming){{table_new(arena), table_new(arena)}, outer};
}

bool renaming_pair(Renaming *r, Name a, Name b) {
  Id to = lookup(r, 0, a), from = lookup(r, 1, b);
  if (to || from) return to == b && from == a;
  table_put(r->to[0], &a, sizeof a, b);
  table_put(r->to[1], &b, sizeof b, a);
  return true;
}

void renaming_keep(Renaming *into, const Renaming *from) {
  for (uint32_t i = 0; i < table_count(from->to[0]); i++) {
    size_t n;
    Name a;
    memcpy(&a, table_key(from->to[0], i, &n), sizeof a);
    renaming_pair(into, a, table_value(from->to[0], i));
  }
}

// -- bound names ----------------------------------------------------------------------------------
static bool in_table(const Table *t, Name name) { return t && table_get(t, &name, sizeof name); }
static void into_table(Table *t, Name name) {
  if (name) table_put(t, &name, sizeof name, 1);
}

// Nodes that bind their name.
static bool is_binding(SyntaxKind kind) {
  switch (kind) {
  case N_LHS:
  case N_CFGPAR:
  case N_PARAM:
  case N_TYPED:
  case N_AXIS:
  case N_FOR:
  case N_FORIN:
  case N_MODE:
  case N_SPREAD:
  case N_SPACE:
  case N_BOX:
  case N_GOAL:
  case N_MEASURE:
  case N_ORDER: return true;
  default: return false;
  }
}

typedef struct {
  const TreeSide *side;
  Table *bound;
  const Syntax *top;
} BindWalk;

// Names in brackets without another meaning are sizes and indices.
static void bind_items(const BindWalk *w, const Syntax *n) {
  Nodes in = syntax_parts(n);
  for (uint32_t i = 0; i < in.n; i++) {
    const Syntax *item = in.at[i];
    if (!item) continue;
    if (item->kind == N_NAME && !in_table(w->side->source->fixed, item->name) &&
        !in_table(w->side->declared, item->name))
      into_table(w->bound, item->name);
    if (item->kind != N_AT && item->kind != N_CALL && item->kind != N_SIZED) bind_items(w, item);
  }
}

static void bind_name(const BindWalk *w, const Syntax *n, bool in_type) {
  if (!n) return;
  SyntaxKind kind = (SyntaxKind)n->kind;
  if (n != w->top && is_binding(kind)) into_table(w->bound, n->name);
  if (kind == N_SIZED && in_type) into_table(w->bound, n->name);
  if (kind == N_ITEMS) bind_items(w, n);
  if (kind == N_LEARNER && n != w->top) {
    Nodes names = names_in(learner_names(n));
    for (uint32_t i = 0; i < names.n; i++) into_table(w->bound, names.at[i]->name);
  }
  Nodes parts = syntax_parts(n);
  for (uint32_t i = 0; i < parts.n; i++) bind_name(w, parts.at[i], is_typed(n, in_type));
}

Table *names_bound(Arena *arena, const TreeSide *side, const Syntax *top) {
  BindWalk w = {side, table_new(arena), top};
  bind_name(&w, top, false);
  return w.bound;
}

// -- the pairing of two ---------------------------------------------------------------------------
static bool same_word(const TreeWalk *w, Name a, Name b) {
  return !strcmp(name_text(w->side[0].source->names, a), name_text(w->side[1].source->names, b));
}

// A field stands for its column of the data, if known.
static Name column_of(const TreeSide *side, Name field) {
  Name column = table_get(side->source->column, &field, sizeof field);
  return column ? column : field;
}

bool names_pair(TreeWalk *w, Name a, Name b, NameUse use) {
  if (!a || !b) return !a && !b;
  bool word = same_word(w, a, b);
  if (use == NAME_EXACT) return word;
  if (use == NAME_FIELD) return same_word(w, column_of(&w->side[0], a), column_of(&w->side[1], b));
  if (use == NAME_MEMBER) {
    bool known = in_table(w->side[0].members, a) && in_table(w->side[1].members, b);
    if (in_table(w->side[0].declared, a) && lookup(w->global, 0, a) == b) return true;
    return known ? renaming_pair(&w->member, a, b) : word;
  }
  bool here = in_table(w->bound[0], a), there = in_table(w->bound[1], b);
  if (here != there) return false;
  if (here) return renaming_pair(&w->local, a, b);
  bool mine = in_table(w->side[0].declared, a), theirs = in_table(w->side[1].declared, b);
  if (mine != theirs) return false;
  return mine ? lookup(w->global, 0, a) == b : word;
}
