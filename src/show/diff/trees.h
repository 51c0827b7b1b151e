// Private to this folder: statements as trees, names apart.
#ifndef LIMN_SHOW_DIFF_TREES_H
#define LIMN_SHOW_DIFF_TREES_H

#include "show/diff/diff.h"

// names.c
typedef struct Renaming Renaming;
struct Renaming { // one to one
  Table *to[2];   // Name to Name: of the first to the second, and back
  const Renaming *outer;
};
Renaming renaming_new(Arena *, const Renaming *outer);
bool renaming_pair(Renaming *, Name a, Name b); // false: one of them has another partner
void renaming_keep(Renaming *into, const Renaming *from);

typedef struct {
  const DiffSource *source;
  Table *declared; // by the program
  Table *members;  // bound anywhere in it
} TreeSide;
typedef enum { NAME_VALUE, NAME_MEMBER, NAME_FIELD, NAME_EXACT } NameUse;
// Are names before a colon below it labels of axes? Otherwise they are options.
static inline bool is_typed(const Syntax *n, bool outside) {
  bool type = n->kind == N_TYPE || n->kind == N_LHS;
  return type || (outside && n->kind != N_AT && n->kind != N_CALL);
}
Table *names_bound(Arena *, const TreeSide *, const Syntax *top);

// trees.c
typedef struct {
  const Syntax *a, *b; // b is NULL: it is gone
  bool behind;         // b was put behind a, which is left alone
  uint32_t from;       // of what was added or is gone: where its words begin, as `times` does
} TreePair;
typedef VEC(TreePair) TreePairs;
typedef struct {
  Arena *arena;
  TreeSide side[2];
  Table *bound[2];        // in the statement
  const Renaming *global; // what is declared
  Renaming member, local;
  TreePairs *differ; // where they differ, the innermost; NULL: nobody asks
  TreePairs *block;  // bodies, which are looked at for themselves; NULL: as all else
} TreeWalk;
bool names_pair(TreeWalk *, Name a, Name b, NameUse);
bool trees_same(TreeWalk *, const Syntax *a, const Syntax *b);
// Without effect on the walk unless they are the same.
bool trees_try(TreeWalk *, const Syntax *a, const Syntax *b);
// How a statement has changed, as lines; the first at this level.
typedef VEC(DiffLine) DiffLines;
void trees_lines(TreeWalk *, const Syntax *a, const Syntax *b, uint32_t level, DiffLines *);
const char *tree_words(TreeWalk *, int side, const Syntax *);
const char *tree_head(TreeWalk *, int side, const Syntax *); // with `{ … }` for what is in a body

#endif
