// Compares two trees up to names and layout, and locates differences.
#include "show/diff/trees.h"
#include "base/source.h"

enum { MOST_LEFT_OUT = 400 }; // statements skipped in the search for the next equal pair

// -- equal ----------------------------------------------------------------------------------------
static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

// The node's own contents, without its name.
static bool same_atom(const Syntax *a, const Syntax *b) {
  if (a->kind != b->kind || syntax_parts(a).n != syntax_parts(b).n) return false;
  if (strcmp(syntax_signs(a), syntax_signs(b)) != 0) return false;
  return a->kind == N_NUM ? a->num == b->num : same_text(a->text, b->text);
}

typedef struct {
  const Syntax *parent;
  bool in_type;
  bool glued; // names of shared spaces when learning diagrams are glued, which the parts declare
} TreePlace;

static NameUse name_use(const Syntax *n, const TreePlace *at) {
  const Syntax *parent = at->parent;
  switch (n->kind) {
  case N_NAME: return at->glued ? NAME_MEMBER : NAME_VALUE;
  case N_TRAIN:
  case N_LASTS:
  case N_REFIT: return NAME_EXACT; // a unit
  case N_DOT:
  case N_ARG: return NAME_MEMBER;
  case N_SIZED: return at->in_type ? NAME_VALUE : NAME_MEMBER;
  case N_PARAM: return parent && parent->kind == N_GIVEN ? NAME_FIELD : NAME_VALUE;
  default: return NAME_VALUE;
  }
}

static bool compare_trees(TreeWalk *w, const Syntax *a, const Syntax *b, TreePlace at);
static bool try_inside(TreeWalk *w, const Syntax *a, const Syntax *b, const Syntax *parent);

static bool walk_parts(TreeWalk *w, const Syntax *a, const Syntax *b, TreePlace at) {
  bool same = true, outer = a->kind == N_PARAMS && at.parent && at.parent->kind == N_GIVEN;
  TreePlace below = {.parent = outer ? at.parent : a, .in_type = is_typed(a, at.in_type)};
  Nodes x = syntax_parts(a), y = syntax_parts(b);
  bool glue = at.glued && (a->kind == N_NAMES || a->kind == N_SAME || a->kind == N_TUPLE);
  for (uint32_t i = 0; i < x.n; i++) {
    if (a->kind == N_LEARNER && !at.parent && x.at[i] == learner_names(a)) continue;
    below.glued = glue || (a->kind == N_DIAGRAM && x.at[i] == diagram_along(a));
    same &= compare_trees(w, x.at[i], y.at[i], below);
    if (!same && !w->differ) return false;
  }
  return same;
}

static bool note_difference(TreeWalk *w, const Syntax *a, const Syntax *b) {
  if (w->differ) vec_push(w->arena, w->differ, (TreePair){.a = a, .b = b});
  return false;
}

// Exactly one is missing.
static bool has_gap(const Syntax *a, const Syntax *b) {
  Nodes x = syntax_parts(a), y = syntax_parts(b);
  for (uint32_t i = 0; i < x.n; i++)
    if (!x.at[i] != !y.at[i]) return true;
  return false;
}

// The names that the statement declares are paired already.
static bool own_name_met(const TreePlace *at) { return !at->parent; }

// Is the node a plain list of items?
static bool is_list(const Syntax *a, const Syntax *b) {
  return a->kind == b->kind && !*syntax_signs(a) && !*syntax_signs(b) && a->kind != N_NUM &&
         same_text(a->text, b->text) && syntax_parts(a).n && syntax_parts(b).n;
}

static Nodes present_items(Arena *arena, Nodes list) {
  Nodes out = {0, NEW_ARRAY(arena, Syntax *, list.n + 1)};
  for (uint32_t i = 0; i < list.n; i++)
    if (list.at[i]) out.at[out.n++] = list.at[i];
  return out;
}

// The end of the previous item: a keyword of this item may follow it.
static uint32_t words_begin(Nodes list, uint32_t i) {
  if (!i) return list.at[i]->span.at;
  uint32_t end = list.at[i - 1]->span.at + list.at[i - 1]->span.n;
  return end < list.at[i]->span.at ? end : list.at[i]->span.at;
}

// Compares lists: strips the common prefix and suffix, pairs the rest in order; the remaining items
// were added or removed. False: that does not describe the difference.
static bool lists_differ(TreeWalk *w, const Syntax *a, const Syntax *b, TreePlace at) {
  Nodes x = present_items(w->arena, syntax_parts(a)), y = present_items(w->arena, syntax_parts(b));
  uint32_t first = 0, n = x.n, k = y.n;
  if (!x.n || !y.n) return false;
  while (first < n && first < k && try_inside(w, x.at[first], y.at[first], a)) first++;
  while (n > first && k > first && try_inside(w, x.at[n - 1], y.at[k - 1], a)) n--, k--;
  uint32_t both = n < k ? n : k;
  if (both == 0) return false; // nothing to insert after
  for (uint32_t i = first; i < both; i++)
    compare_trees(w, x.at[i], y.at[i],
                  (TreePlace){.parent = a, .in_type = is_typed(a, at.in_type)});
  for (uint32_t i = both; i < n; i++) {
    TreePair gone = {.a = x.at[i], .from = words_begin(x, i)};
    vec_push(w->arena, w->differ, gone);
  }
  for (uint32_t i = both; i < k; i++) {
    TreePair added = {x.at[both - 1], y.at[i], true, words_begin(y, i)};
    vec_push(w->arena, w->differ, added);
  }
  return true;
}

static bool compare_trees(TreeWalk *w, const Syntax *a, const Syntax *b, TreePlace at) {
  if (!a || !b) return a == b;
  bool lists = a->kind == N_BLOCK || a->kind == N_PROGRAM;
  if (w->block && lists && a->kind == b->kind) {
    vec_push(w->arena, w->block, (TreePair){.a = a, .b = b});
    return true;
  }
  bool unit = a->kind == N_TRAIN || a->kind == N_LASTS;
  bool shape = same_atom(a, b) && !has_gap(a, b);
  bool name = a->kind == b->kind &&
              ((!unit && own_name_met(&at)) || names_pair(w, a->name, b->name, name_use(a, &at)));
  if (!shape && name && w->differ && is_list(a, b) && lists_differ(w, a, b, at)) return false;
  if (!shape || !name) return note_difference(w, a, b);
  return walk_parts(w, a, b, at);
}

bool trees_same(TreeWalk *w, const Syntax *a, const Syntax *b) {
  return compare_trees(w, a, b, (TreePlace){0});
}

static bool try_inside(TreeWalk *w, const Syntax *a, const Syntax *b, const Syntax *parent) {
  if (!same_atom(a, b)) return false;
  TreeWalk trial = *w;
  trial.differ = NULL, trial.block = NULL;
  trial.member = renaming_new(w->arena, &w->member);
  trial.local = renaming_new(w->arena, &w->local);
  if (!compare_trees(&trial, a, b, (TreePlace){.parent = parent})) return false;
  renaming_keep(&w->member, &trial.member);
  renaming_keep(&w->local, &trial.local);
  return true;
}

bool trees_try(TreeWalk *w, const Syntax *a, const Syntax *b) { return try_inside(w, a, b, NULL); }

// -- differences ----------------------------------------------------------------------------------
// Generated nodes have no text.
static const char *raw(const TreeWalk *w, int side, uint32_t file, uint32_t from, uint32_t to) {
  const Source *source = &w->side[side].source->sources->file.at[file];
  if (to > source->n) to = source->n;
  return to > from ? arena_text(w->arena, source->text + from, to - from) : "";
}

// Joins lines and drops comments.
static const char *on_one_line(TreeWalk *w, const char *text) {
  Sources *one = sources_new(w->arena);
  uint32_t n = (uint32_t)strlen(text), file = source_add(one, "", text, n);
  const char *words = source_words(w->arena, one, (Span){file, 0, n});
  size_t end = strlen(words);
  while (end && words[end - 1] == ' ') end--;
  return arena_text(w->arena, words, end);
}

const char *tree_words(TreeWalk *w, int side, const Syntax *n) {
  return on_one_line(w, raw(w, side, n->span.file, n->span.at, n->span.at + n->span.n));
}

// An insertion is placed after its predecessor.
static uint32_t place_of(const TreePair *p) {
  return p->behind ? p->a->span.at + p->a->span.n : p->b ? p->a->span.at : p->from;
}

static void sort_pairs(TreePairs *p) {
  for (uint32_t i = 1; i < p->n; i++)
    for (uint32_t k = i; k && place_of(&p->at[k]) < place_of(&p->at[k - 1]); k--) {
      TreePair swap = p->at[k];
      p->at[k] = p->at[k - 1], p->at[k - 1] = swap;
    }
}

// Without the separator before it.
static const char *words_from(TreeWalk *w, int side, const Syntax *n, uint32_t from) {
  const char *text = on_one_line(w, raw(w, side, n->span.file, from, n->span.at + n->span.n));
  while (*text == ' ' || *text == ',') text++;
  return text;
}

static void put_change(TreeWalk *w, const TreePair *p, Buf *out) {
  if (p->behind)
    buf_printf(out, " {+ %s}", words_from(w, 1, p->b, p->from));
  else if (!p->b)
    buf_printf(out, " {- %s}", words_from(w, 0, p->a, p->from));
  else if (p->a->kind == N_BLOCK || p->a->kind == N_PROGRAM)
    buf_text(out, "{ … }");
  else
    buf_printf(out, "%s → %s", tree_words(w, 0, p->a), tree_words(w, 1, p->b));
}

// The text of the first side, with `old → new` at differences and `{ … }` for bodies.
static const char *changed_words(TreeWalk *w, int side, const Syntax *a, TreePairs *cut) {
  Buf out = buf_new(w->arena);
  uint32_t at = a->span.at, file = a->span.file;
  sort_pairs(cut);
  for (uint32_t i = 0; i < cut->n; i++) {
    const TreePair *p = &cut->at[i];
    if (p->a->span.file != file || place_of(p) < at) continue;
    buf_text(&out, raw(w, side, file, at, place_of(p)));
    put_change(w, p, &out);
    at = p->a->span.at + p->a->span.n;
  }
  buf_text(&out, raw(w, side, file, at, a->span.at + a->span.n));
  return on_one_line(w, out.at);
}

static void blocks_in(Arena *arena, const Syntax *n, TreePairs *out) {
  if (!n) return;
  if (n->kind == N_BLOCK || n->kind == N_PROGRAM) {
    vec_push(arena, out, (TreePair){.a = n, .b = n});
    return;
  }
  Nodes parts = syntax_parts(n);
  for (uint32_t i = 0; i < parts.n; i++) blocks_in(arena, parts.at[i], out);
}

const char *tree_head(TreeWalk *w, int side, const Syntax *n) {
  TreePairs cut = {0};
  blocks_in(w->arena, n, &cut);
  return changed_words(w, side, n, &cut);
}

static void put_line(TreeWalk *w, uint32_t level, DiffMark mark, const char *text, DiffLines *out) {
  vec_push(w->arena, out, (DiffLine){level, mark, text});
}

// Statements between two equal ones: those of the same kind are paired in order.
static void gap_lines(TreeWalk *w, Nodes a, Nodes b, uint32_t level, DiffLines *out) {
  uint32_t j = 0;
  for (uint32_t i = 0; i < a.n; i++) {
    uint32_t k = j;
    while (k < b.n && b.at[k]->kind != a.at[i]->kind) k++;
    if (k == b.n) {
      put_line(w, level, DIFF_GONE, tree_head(w, 0, a.at[i]), out);
      continue;
    }
    for (; j < k; j++) put_line(w, level, DIFF_ADDED, tree_head(w, 1, b.at[j]), out);
    trees_lines(w, a.at[i], b.at[j++], level, out);
  }
  for (; j < b.n; j++) put_line(w, level, DIFF_ADDED, tree_head(w, 1, b.at[j]), out);
}

// Finds the next pair of equal statements with the fewest skipped.
static bool next_same(TreeWalk *w, Nodes a, Nodes b, const Syntax *parent, uint32_t *i,
                      uint32_t *j) {
  for (uint32_t off = 0; off < a.n + b.n && off < MOST_LEFT_OUT; off++)
    for (uint32_t x = 0; x <= off && x < a.n; x++)
      if (off - x < b.n && try_inside(w, a.at[x], b.at[off - x], parent))
        return *i = x, *j = off - x, true;
  return false;
}

static void block_lines(TreeWalk *w, const Syntax *x, const Syntax *y, uint32_t level,
                        DiffLines *out) {
  Nodes a = syntax_parts(x), b = syntax_parts(y);
  for (uint32_t i, j; a.n || b.n; a = nodes_from(a, i + 1), b = nodes_from(b, j + 1)) {
    bool more = next_same(w, a, b, x, &i, &j);
    gap_lines(w, more ? (Nodes){i, a.at} : a, more ? (Nodes){j, b.at} : b, level, out);
    if (!more) return;
  }
}

void trees_lines(TreeWalk *w, const Syntax *a, const Syntax *b, uint32_t level, DiffLines *out) {
  TreePairs differ = {0}, block = {0};
  TreeWalk inner = *w;
  inner.differ = &differ, inner.block = &block;
  compare_trees(&inner, a, b, (TreePlace){.parent = level ? a : NULL});
  uint32_t first = out->n, found = differ.n;
  for (uint32_t i = 0; i < block.n; i++) vec_push(w->arena, &differ, block.at[i]);
  put_line(w, level, DIFF_CHANGED, changed_words(w, 0, a, &differ), out);
  for (uint32_t i = 0; i < block.n; i++)
    block_lines(w, block.at[i].a, block.at[i].b, level + 1, out);
  if (!found && out->n == first + 1) out->n = first; // there was no difference
}
