// Pairs the statements of two programs and describes their changes.
//
// Statements of the same kind and name are paired first; then statements that are equal up to
// renaming, which finds renamed declarations, in order of use; then named statements that share
// most of their words; unnamed ones in order; and a learner with the only one left. All others were
// added or removed.
#include "base/names.h"
#include "base/table.h"
#include "show/diff/trees.h"

enum { ALIKE_MOST = 4000 }; // number of pairs compared
#define ALIKE 0.6           // the least share of common words

typedef struct {
  const Syntax *node;
  Name name; // 0: unnamed
  bool met;
} Statement;
typedef VEC(Statement) Statements;

typedef struct {
  Arena *arena;
  TreeSide side[2];
  Statements all[2];
  int32_t *to; // [statement of the first] its partner, or -1
  Renaming global, member;
} StatementMeeting;

// -- collecting statements ------------------------------------------------------------------------
static void add_statement(StatementMeeting *m, int side, const Syntax *n, Name name) {
  vec_push(m->arena, &m->all[side], (Statement){n, name, false});
  if (name && n->kind != N_REFINE) table_put(m->side[side].declared, &name, sizeof name, 1);
}

static void add_fields(StatementMeeting *m, int side, const Syntax *given) {
  Nodes fields = syntax_parts(given_params(given));
  for (uint32_t i = 0; i < fields.n; i++)
    table_put(m->side[side].declared, &fields.at[i]->name, sizeof(Name), 1);
}

// A statement that declares several things is split.
static void add_all(StatementMeeting *m, int side, const Syntax *n) {
  Nodes parts = syntax_parts(n);
  if (n->kind == N_USE || n->kind == N_ERROR) return;
  if (n->kind == N_AXES || n->kind == N_CONSTS || n->kind == N_LEARN) {
    for (uint32_t i = 0; i < parts.n; i++) add_all(m, side, parts.at[i]);
    return;
  }
  if (n->kind == N_LEARNER) {
    Nodes names = names_in(learner_names(n));
    for (uint32_t i = 0; i < names.n; i++) add_statement(m, side, n, names.at[i]->name);
    return;
  }
  if (n->kind == N_GIVEN) add_fields(m, side, n);
  add_statement(m, side, n, n->kind == N_TRAIN ? 0 : n->name);
}

// Any name bound somewhere can be a member.
static void collect_side(StatementMeeting *m, int side, const DiffSource *source) {
  m->side[side] = (TreeSide){source, table_new(m->arena), table_new(m->arena)};
  for (uint32_t i = 0; i < source->tree.n; i++) {
    Nodes all = syntax_parts(source->tree.at[i]);
    for (uint32_t k = 0; k < all.n; k++) add_all(m, side, all.at[k]);
  }
  for (uint32_t i = 0; i < m->all[side].n; i++) {
    Table *bound = names_bound(m->arena, &m->side[side], m->all[side].at[i].node);
    for (uint32_t k = 0; k < table_count(bound); k++) {
      size_t n;
      const char *key = table_key(bound, k, &n);
      table_put(m->side[side].members, key, n, 1);
    }
  }
}

// -- pairing --------------------------------------------------------------------------------------
static const char *name_in(const StatementMeeting *m, int side, Name name) {
  return name_text(m->side[side].source->names, name);
}

static TreeWalk walk_of(StatementMeeting *m, const Statement *a, const Statement *b,
                        const Renaming *global) {
  TreeWalk w = {.arena = m->arena, .side = {m->side[0], m->side[1]}, .global = global};
  w.bound[0] = names_bound(m->arena, &m->side[0], a->node);
  w.bound[1] = names_bound(m->arena, &m->side[1], b->node);
  w.member = renaming_new(m->arena, &m->member);
  w.local = renaming_new(m->arena, NULL);
  return w;
}

static bool pair_names(Renaming *r, const Statement *a, const Statement *b) {
  bool good = !a->name || a->node->kind == N_REFINE || renaming_pair(r, a->name, b->name);
  if (a->node->kind != N_GIVEN) return good;
  Nodes x = syntax_parts(given_params(a->node)), y = syntax_parts(given_params(b->node));
  for (uint32_t i = 0; good && x.n == y.n && i < x.n; i++)
    good = renaming_pair(r, x.at[i]->name, y.at[i]->name);
  return good;
}

static void pair_statements(StatementMeeting *m, uint32_t i, uint32_t j) {
  m->to[i] = (int32_t)j;
  m->all[0].at[i].met = m->all[1].at[j].met = true;
  pair_names(&m->global, &m->all[0].at[i], &m->all[1].at[j]);
}

// Kinds of statements whose order matters.
static bool is_ordered(SyntaxKind kind) {
  return kind == N_TRAIN || kind == N_FIND || kind == N_SET || kind == N_FOR;
}

static bool crosses(const StatementMeeting *m, uint32_t i, uint32_t j) {
  const Statements *a = &m->all[0];
  SyntaxKind kind = (SyntaxKind)a->at[i].node->kind;
  for (uint32_t k = 0; is_ordered(kind) && k < a->n; k++)
    if (a->at[k].node->kind == kind && m->to[k] >= 0 && (k < i) != ((uint32_t)m->to[k] < j))
      return true;
  return false;
}

static bool can_pair(const StatementMeeting *m, uint32_t i, uint32_t j) {
  const Statement *a = &m->all[0].at[i], *b = &m->all[1].at[j];
  return !a->met && !b->met && a->node->kind == b->node->kind && !a->name == !b->name &&
         !crosses(m, i, j);
}

static bool same_up_to_names(StatementMeeting *m, const Statement *a, const Statement *b) {
  Renaming global = renaming_new(m->arena, &m->global);
  if (!pair_names(&global, a, b)) return false;
  if (a->node->kind == N_REFINE &&
      !names_pair(&(TreeWalk){.side = {m->side[0], m->side[1]}, .global = &m->global}, a->name,
                  b->name, NAME_VALUE))
    return false;
  TreeWalk w = walk_of(m, a, b, &global);
  if (!trees_same(&w, a->node, b->node)) return false;
  renaming_keep(&m->member, &w.member);
  return true;
}

static void pair_by_name(StatementMeeting *m) {
  for (uint32_t i = 0; i < m->all[0].n; i++)
    for (uint32_t j = 0; m->all[0].at[i].name && j < m->all[1].n; j++)
      if (can_pair(m, i, j) &&
          !strcmp(name_in(m, 0, m->all[0].at[i].name), name_in(m, 1, m->all[1].at[j].name)))
        pair_statements(m, i, j);
}

static bool is_model(const Statement *s) {
  return s->name && (s->node->kind == N_LEARNER || s->node->kind == N_BOX);
}

// `model` of an ONNX import is the learner or box that it was exported from or that was asked for;
// a box with weights is imported as a learner.
static void pair_by_alias(StatementMeeting *m, int side) {
  const char *alias = m->side[side].source->alias;
  const Statements *own = &m->all[side], *other = &m->all[!side];
  for (uint32_t i = 0; alias && i < own->n; i++)
    for (uint32_t j = 0; j < other->n; j++) {
      const Statement *a = &own->at[i], *b = &other->at[j];
      if (!a->met && !b->met && is_model(a) && is_model(b) &&
          !strcmp(name_in(m, side, a->name), "model") && !strcmp(name_in(m, !side, b->name), alias))
        pair_statements(m, side ? j : i, side ? i : j);
    }
}

static bool pair_equal(StatementMeeting *m) {
  bool any = false;
  for (uint32_t i = 0; i < m->all[0].n; i++)
    for (uint32_t j = 0; j < m->all[1].n; j++)
      if (can_pair(m, i, j) && same_up_to_names(m, &m->all[0].at[i], &m->all[1].at[j]))
        pair_statements(m, i, j), any = true;
  return any;
}

// The share of common words, from 0 to 1.
static double similarity(StatementMeeting *m, const Statement *a, const Statement *b) {
  Arena *scratch = arena_child(m->arena);
  TreeWalk w = {.arena = scratch, .side = {m->side[0], m->side[1]}};
  const char *text[2] = {tree_words(&w, 0, a->node), tree_words(&w, 1, b->node)};
  Table *seen = table_new(scratch);
  uint32_t n[2] = {0, 0}, both = 0;
  for (int side = 0; side < 2; side++)
    for (const char *at = text[side]; *at;) {
      size_t k = 0;
      while (char_is_word(at[k]) || at[k] == '_') k++;
      if (!k) k = 1;
      Id left = table_get(seen, at, k);
      if (*at != ' ') n[side]++;
      if (*at != ' ' && !side) table_put(seen, at, k, left + 1);
      if (*at != ' ' && side && left) table_put(seen, at, k, left - 1), both++;
      at += k;
    }
  arena_free(scratch);
  return n[0] + n[1] ? 2.0 * both / (n[0] + n[1]) : 1;
}

typedef struct {
  uint32_t i, j;
  double alike;
} AlikePair;
typedef VEC(AlikePair) AlikePairs;

static AlikePairs alike_pairs(StatementMeeting *m) {
  AlikePairs out = {0};
  uint32_t tried = 0;
  for (uint32_t i = 0; i < m->all[0].n; i++)
    for (uint32_t j = 0; m->all[0].at[i].name && j < m->all[1].n; j++) {
      if (!can_pair(m, i, j) || tried++ >= ALIKE_MOST) continue;
      double alike = similarity(m, &m->all[0].at[i], &m->all[1].at[j]);
      if (alike > ALIKE) vec_push(m->arena, &out, (AlikePair){i, j, alike});
    }
  return out;
}

// Pairs remaining named statements, most similar first.
static void pair_similar(StatementMeeting *m) {
  AlikePairs all = alike_pairs(m);
  for (bool more = true; more;) {
    const AlikePair *best = NULL;
    for (uint32_t k = 0; k < all.n; k++)
      if (can_pair(m, all.at[k].i, all.at[k].j) && (!best || all.at[k].alike > best->alike))
        best = &all.at[k];
    more = best != NULL;
    if (more) pair_statements(m, best->i, best->j);
  }
}

static uint32_t single_remaining(const Statements *all, SyntaxKind kind) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < all->n; i++) n += !all->at[i].met && all->at[i].node->kind == kind;
  return n;
}

static void pair_by_kind(StatementMeeting *m) {
  for (uint32_t i = 0; i < m->all[0].n; i++)
    for (uint32_t j = 0; j < m->all[1].n; j++) {
      SyntaxKind kind = (SyntaxKind)m->all[0].at[i].node->kind;
      bool named = m->all[0].at[i].name;
      bool last = kind == N_LEARNER && single_remaining(&m->all[0], kind) == 1 &&
                  single_remaining(&m->all[1], kind) == 1;
      if (can_pair(m, i, j) && (!named || last)) pair_statements(m, i, j);
    }
}

// -- changes of statements ------------------------------------------------------------------------
static const char *kind_word(const Syntax *n) {
  switch (n->kind) {
  case N_TYPED: return "const";
  case N_SIMULATE: return "run";
  case N_MACHINE: return machine_form(n) == SIGN_WIRING ? "wiring" : "machine";
  default: return node_kind_name((SyntaxKind)n->kind);
  }
}

static DiffThing thing_of(StatementMeeting *m, const Statement *a, const Statement *b) {
  const Syntax *node = a ? a->node : b->node;
  DiffThing t = {.kind = (SyntaxKind)node->kind, .word = kind_word(node)};
  t.mark = a && b ? DIFF_SAME : a ? DIFF_GONE : DIFF_ADDED;
  if (a && a->name) t.name[0] = name_in(m, 0, a->name);
  if (b && b->name) t.name[1] = name_in(m, 1, b->name);
  if (a) t.node[0] = a->node;
  if (b) t.node[1] = b->node;
  if (b && b->node->kind == N_LEARNER) t.kind = N_LEARNER, t.word = kind_word(b->node);
  return t;
}

// Do the statements differ outside of the body and its inputs and results, or by something that the
// function does not show?
static bool is_other_beside(TreeWalk *w, const Syntax *a, const Syntax *b) {
  bool learner = a->kind == N_LEARNER, box = a->kind == N_BOX;
  if ((!learner && !box) || headers_differ(w, a, b)) return true;
  const Syntax *x[] = {learner ? learner_family(a) : box_cfg(a), learner ? learner_from(a) : NULL};
  const Syntax *y[] = {learner ? learner_family(b) : box_cfg(b), learner ? learner_from(b) : NULL};
  for (uint32_t i = 0; i < COUNT(x); i++)
    if (!x[i] != !y[i] || (x[i] && !trees_try(w, x[i], y[i]))) return true;
  return false;
}

// Restores the keyword of a statement that was split.
static const char *with_word(StatementMeeting *m, const Syntax *n, const char *text) {
  const char *word = n->kind == N_LEARNER ? "learn" : kind_word(n);
  bool lacks = n->kind == N_LEARNER || n->kind == N_AXIS || n->kind == N_TYPED;
  return lacks ? arena_format(m->arena, "%s %s", word, text) : text;
}

static DiffThing met_thing(StatementMeeting *m, const Statement *a, const Statement *b) {
  DiffThing t = thing_of(m, a, b);
  TreeWalk w = walk_of(m, a, b, &m->global);
  DiffLines lines = {0};
  const char *moved = results_moved(&w, a->node, b->node);
  if (!moved && trees_try(&w, a->node, b->node)) {
    renaming_keep(&m->member, &w.member);
    return t;
  }
  TreeWalk beside = walk_of(m, a, b, &m->global);
  t.beside = is_other_beside(&beside, a->node, b->node);
  trees_lines(&w, a->node, b->node, 0, &lines);
  for (uint32_t i = 0; i < lines.n; i++) {
    if (!i) lines.at[i].text = with_word(m, a->node, lines.at[i].text);
    vec_push(m->arena, &t.line, lines.at[i]);
  }
  if (moved) vec_push(m->arena, &t.line, (DiffLine){0, DIFF_CHANGED, moved});
  t.mark = DIFF_CHANGED;
  return t;
}

static DiffThing lone_thing(StatementMeeting *m, int side, const Statement *s) {
  DiffThing t = thing_of(m, side ? NULL : s, side ? s : NULL);
  TreeWalk w = {.arena = m->arena, .side = {m->side[0], m->side[1]}};
  vec_push(m->arena, &t.line,
           (DiffLine){0, t.mark, with_word(m, s->node, tree_head(&w, side, s->node))});
  return t;
}

DiffThings statements_pair(Arena *arena, const DiffSource source[2]) {
  StatementMeeting m = {.arena = arena};
  DiffThings out = {0};
  m.global = renaming_new(arena, NULL), m.member = renaming_new(arena, NULL);
  for (int i = 0; i < 2; i++) collect_side(&m, i, &source[i]);
  m.to = NEW_ARRAY(arena, int32_t, m.all[0].n + 1);
  for (uint32_t i = 0; i < m.all[0].n; i++) m.to[i] = -1;
  for (int i = 0; i < 2; i++) pair_by_alias(&m, i);
  pair_by_name(&m);
  for (int round = 0; round < 2; round++) { // renamed declarations allow more statements to match
    bool more = true;
    while (more) more = pair_equal(&m);
    if (!round) pair_similar(&m);
  }
  pair_by_kind(&m);
  for (uint32_t i = 0; i < m.all[0].n; i++) {
    const Statement *a = &m.all[0].at[i];
    vec_push(arena, &out,
             m.to[i] < 0 ? lone_thing(&m, 0, a) : met_thing(&m, a, &m.all[1].at[m.to[i]]));
  }
  for (uint32_t j = 0; j < m.all[1].n; j++)
    if (!m.all[1].at[j].met) vec_push(arena, &out, lone_thing(&m, 1, &m.all[1].at[j]));
  return out;
}
