// Private to diff: comparison of syntax trees up to renaming.
#ifndef LIMN_SHOW_DIFF_TREES_H
#define LIMN_SHOW_DIFF_TREES_H

#include "show/diff/diff.h"

// names.c
typedef struct Renaming Renaming;
struct Renaming { // a bijection
  Table *to[2];   // Name to Name: of the first side to the second, and back
  const Renaming *outer;
};
Renaming renaming_new(Arena *, const Renaming *outer);
bool renaming_pair(Renaming *, Name a, Name b); // false: one of them is paired with another name
void renaming_keep(Renaming *into, const Renaming *from);

typedef struct {
  const DiffSource *source;
  Table *declared; // declared by the program
  Table *members;  // bound anywhere in the program
} TreeSide;
typedef enum { NAME_VALUE, NAME_MEMBER, NAME_FIELD, NAME_EXACT } NameUse;
// Do names before a colon label axes in this node? Otherwise they are options.
static inline bool is_typed(const Syntax *n, bool outside) {
  bool type = n->kind == N_TYPE || n->kind == N_LHS;
  return type || (outside && n->kind != N_AT && n->kind != N_CALL);
}
Table *names_bound(Arena *, const TreeSide *, const Syntax *top);

// trees.c
typedef struct {
  const Syntax *a, *b; // b is NULL: removed
  bool behind;         // b was inserted after a
  // Of an insertion or removal: where its text begins, including a word such as `times`.
  uint32_t from;
} TreePair;
typedef VEC(TreePair) TreePairs;
typedef struct {
  Arena *arena;
  TreeSide side[2];
  Table *bound[2];        // names bound in the statement
  const Renaming *global; // of declared names
  Renaming member, local;
  TreePairs *differ; // innermost differences; NULL: not wanted
  TreePairs *block;  // bodies, to be compared separately; NULL: compare them here
} TreeWalk;
bool names_pair(TreeWalk *, Name a, Name b, NameUse);
bool trees_same(TreeWalk *, const Syntax *a, const Syntax *b);
// Leaves the walk unchanged unless they are equal.
bool trees_try(TreeWalk *, const Syntax *a, const Syntax *b);
// The changes of a statement as lines, the first at this level.
typedef VEC(DiffLine) DiffLines;
void trees_lines(TreeWalk *, const Syntax *a, const Syntax *b, uint32_t level, DiffLines *);
const char *tree_words(TreeWalk *, int side, const Syntax *);
const char *tree_head(TreeWalk *, int side, const Syntax *); // with `{ … }` instead of bodies

// headers.c
// Named results that stand at other positions, as a line; NULL: none.
const char *results_moved(TreeWalk *, const Syntax *, const Syntax *);
// Do other labels, results or a better direction make two statements differ, whatever they compute?
bool headers_differ(TreeWalk *, const Syntax *, const Syntax *);

#endif
