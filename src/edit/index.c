// Builds the index of a program from the notes of elaboration: every name of every file with its
// symbol, sorted by offset, and the nodes of the tree that editors need.
//
// A note says where a name was first given. Notes form chains: an index leads to the axis that
// gives its length. All notes that end at one declaration are one symbol.
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "edit/edit_own.h"

#include <stdlib.h>

enum { FOLLOW_LIMIT = 8 };

const Syntax *edit_def_node(const Def *d) { return d->node; }

// -- symbols --------------------------------------------------------------------------------------
typedef struct {
  EditIndex *x;
  const NameUses *uses;
  Arena *arena;
  SpanNumbers *symbol_at; // offset of the first declaration to symbol number + 1
} IndexMaker;

static const NameUse *note_at(const NameUses *uses, Span at) {
  uint32_t id = at.file ? *span_number(uses->at, at) : 0;
  return id ? &uses->use.at[id - 1] : NULL;
}

// The end of the chain of notes.
static const NameUse *follow(const NameUses *uses, const NameUse *u) {
  for (uint32_t i = 0; i < FOLLOW_LIMIT; i++) {
    const NameUse *next = note_at(uses, u->first);
    if (!next || next == u || (next->first.file == u->first.file && next->first.at == u->first.at))
      return next ? next : u;
    u = next;
  }
  return u;
}

static const char *types_text(World *w, const Type *type, uint32_t n) {
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_text(&b, ", ");
    buf_text(&b, type[i].base ? own_text(w, &type[i]) : "a number");
  }
  return b.at ? b.at : "";
}

static void give_types(IndexMaker *m, EditSymbol *s) {
  uint32_t id = s->first.file ? *span_number(m->uses->type_at, s->first) : 0;
  if (!id) return;
  const NamedTypes *t = &m->uses->type.at[id - 1];
  for (uint32_t k = 0; k < 2; k++)
    if (t->type[k]) s->types[k] = types_text(m->x->w, t->type[k], t->n[k]);
  if (s->types[0] && s->types[1] && strcmp(s->types[0], s->types[1]) == 0) s->types[1] = NULL;
}

static uint32_t symbol_of(IndexMaker *m, const NameUse *u) {
  const NameUse *last = follow(m->uses, u);
  Span first = last->first.file ? last->first : u->use;
  uint32_t *known = span_number(m->symbol_at, first);
  if (*known) return *known - 1;
  EditSymbol s = {
      .first = last->first.file ? first : (Span){0}, .kind = last->kind, .def = last->def};
  if (s.def) s.decl = edit_def_node(s.def);
  if (s.kind != NAMED_DEF && first.file == m->x->file)
    s.inside = edit_declaration_at(m->x, first.at);
  give_types(m, &s);
  vec_push(m->arena, &m->x->symbol, s);
  *known = m->x->symbol.n;
  return m->x->symbol.n - 1;
}

static int by_offset(const void *a, const void *b) {
  const EditUse *p = a, *q = b;
  if (p->at.file != q->at.file) return p->at.file < q->at.file ? -1 : 1;
  return p->at.at < q->at.at ? -1 : p->at.at > q->at.at;
}

static void collect_uses(IndexMaker *m) {
  for (uint32_t i = 0; i < m->uses->use.n; i++) {
    const NameUse *u = &m->uses->use.at[i];
    EditUse use = {u->use, symbol_of(m, u)};
    vec_push(m->arena, &m->x->use, use);
  }
  if (m->x->use.n) qsort(m->x->use.at, m->x->use.n, sizeof *m->x->use.at, by_offset);
}

// -- the tree -------------------------------------------------------------------------------------
static bool collect_node(void *context, const Syntax *n) {
  IndexMaker *m = context;
  if (n->kind == N_LHS) vec_push(m->arena, &m->x->equated, n);
  if (n->kind == N_BLOCK) vec_push(m->arena, &m->x->block, n);
  return false;
}

static void collect_tree(IndexMaker *m) {
  Nodes all = program_declarations(m->x->tree);
  for (uint32_t i = 0; i < all.n; i++) vec_push(m->arena, &m->x->declaration, all.at[i]->span);
  syntax_any(m->x->tree, collect_node, m);
}

// -- names of files -------------------------------------------------------------------------------
static void collect_scope(IndexMaker *m, const Scope *s) {
  for (uint32_t i = 0; s && i < table_count(s->names); i++) {
    const Def *d = def_of(m->x->in, table_value(s->names, i));
    const char *text = name_text(m->x->w->names, d->name);
    if (table_get(m->x->named, text, strlen(text))) continue;
    vec_push(m->arena, &m->x->def, d);
    table_put(m->x->named, text, strlen(text), m->x->def.n);
  }
}

// Texts about definitions are made here, so that answers need none of the elaborator's memory.
static void collect_facts(IndexMaker *m) {
  EditIndex *x = m->x;
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->def.n; i++)
    if (x->def.at[i]->id >= n) n = x->def.at[i]->id + 1;
  x->fact = NEW_ARRAY(m->arena, const char *, n);
  for (uint32_t i = 0; i < x->def.n; i++) {
    const Def *d = x->def.at[i];
    const Given *g = d->kind == DEF_GIVEN && d->given < x->program->given.n
                         ? &x->program->given.at[d->given]
                         : NULL;
    if (d->kind == DEF_AXIS && d->size) x->fact[d->id] = size_text(x->w, size_now(x->w, d->size));
    if (g && d->field < g->type.n && g->type.at[d->field].base)
      x->fact[d->id] = own_text(x->w, &g->type.at[d->field]);
  }
}

const char *edit_fact(const EditIndex *x, const Def *d) {
  const char *name = name_text(x->w->names, d->name);
  return edit_def_named(x, name, strlen(name)) == d ? x->fact[d->id] : NULL;
}

EditIndex *edit_index(Arena *a, Elab *in, Program *p) {
  EditIndex *x = NEW(a, EditIndex);
  x->w = elab_world(in);
  IndexMaker m = {x, elab_uses(in), a, span_numbers_new(a, x->w->sources)};
  x->in = in;
  x->program = p;
  x->sources = x->w->sources;
  x->file = p->scope->file;
  x->tree = p->tree;
  x->named = table_new(a);
  collect_tree(&m);
  collect_scope(&m, p->scope);
  for (uint32_t i = p->scope->uses.n; i-- > 0;) collect_scope(&m, p->scope->uses.at[i]);
  collect_scope(&m, p->scope->library);
  collect_facts(&m);
  if (m.uses) collect_uses(&m);
  return x;
}

// -- queries --------------------------------------------------------------------------------------
const EditUse *edit_use_at(const EditIndex *x, uint32_t file, uint32_t at) {
  uint32_t low = 0, high = x->use.n;
  while (low < high) { // binary search for the last use that begins at or before `at`
    uint32_t mid = low + (high - low) / 2;
    const EditUse *u = &x->use.at[mid];
    if (u->at.file < file || (u->at.file == file && u->at.at <= at))
      low = mid + 1;
    else
      high = mid;
  }
  const EditUse *u = low ? &x->use.at[low - 1] : NULL;
  return u && u->at.file == file && at - u->at.at <= u->at.n ? u : NULL;
}

const EditSymbol *edit_symbol(const EditIndex *x, const EditUse *u) {
  return u ? &x->symbol.at[u->symbol] : NULL;
}

const Def *edit_def_named(const EditIndex *x, const char *text, size_t n) {
  Id id = table_get(x->named, text, n);
  return id ? x->def.at[id - 1] : NULL;
}

uint32_t edit_declaration_at(const EditIndex *x, uint32_t at) {
  uint32_t low = 0, high = x->declaration.n;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (x->declaration.at[mid].at <= at)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}
