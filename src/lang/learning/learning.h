// Learning diagrams after reading, for pictures and lists.
//
//   for (i = 0; i < program->learning.n; i++) {
//     const Learning *g = program->learning.at[i];
//     g->graph->edge.at[k].name, g->edge.at[k].def, g->pairs.at[j].left …
#ifndef LIMN_LANG_LEARNING_LEARNING_H
#define LIMN_LANG_LEARNING_LEARNING_H

#include "core/graph/graph.h"
#include "lang/declare/declare.h"

// Whether the ends of two paths can be compared by a distance.
typedef enum {
  FITS,
  FITS_NOT,      // wrong types
  FITS_NO_SCORES // it needs probabilities on its right, but there are scores
} Fitting;

// list_pairs.c: prints the pairs of learning diagrams with their routes, distances, factors and
// learners; of one, or of all (NULL)
void elab_paths(Elab *, const Program *, const Learning *, Buf *);
void elab_paths_json(Elab *, const Program *, const Learning *, Buf *);
Ids learning_frozen(Elab *, const Learning *);           // by its own `freeze`, not by its parts
const char *learning_distance(Elab *, const Def *space); // as written
bool learning_freezes(Elab *, const Learning *, Id learner); // in all its pairs
// The name of the goal of a pair, or NULL.
const char *learning_goal(Elab *, const Program *, const Learning *, uint32_t pair);
void edge_learners(Elab *, const GraphEdge *, Ids *);            // read.c: DEF ids, with duplicates
const OrderTargets *pair_trains(const Learning *, const Pair *); // list_pairs.c: NULL: all

// find_in_bodies.c: every match of a route of boxes, in bodies and learning diagrams. False with a
// diagnostic.
bool elab_find(Elab *, const Program *, const char *pattern, bool json, Buf *);

// For lang/program, which reads a whole file.
void learnings_read(Elab *, Program *, Scope *); // all of a file, with edits
void learnings_name(Scope *);                    // resolves distill.guess in expressions of a file
void sets_read(Elab *, Program *); // settings of the command line that are not numbers
// `set` of spaces of the file; settings: also those of the command line
void spaces_set(Elab *, Scope *, bool settings);
void learnings_check(Elab *, Program *);
bool learning_meant(Elab *, Scope *,
                    const Syntax *path); // resolves the diagram of a path; false with a diagnostic
void learnings_goals(Elab *, Program *, Scope *);
// Records, for editors, that the path of a goal, distill.Y, names a space.
void goal_is_of(Elab *, const Learning *, const Syntax *path);
typedef struct {
  Ids learner;
  bool *was; // [of learner] frozen before
} FreezeStack;
FreezeStack learning_freeze(Elab *, const Learning *,
                            const Pair *);       // freezes the pair's frozen learners …
void learning_thaw(Elab *, const FreezeStack *); // … and undoes it
// The claim that measures a diagram after training on each episode (refit). NULL with a diagnostic.
const Syntax *learning_refit(Elab *, Program *, Learning *, const Syntax *clause);

#endif
