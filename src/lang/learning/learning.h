// learning: learning diagrams as they are read, for drawing and listing.
//
//   for (i = 0; i < program->learning.n; i++) {
//     const Learning *g = program->learning.at[i];
//     g->graph->edge.at[k].name, g->edge.at[k].def, g->pairs.at[j].left …
#ifndef LIMN_LANG_LEARNING_LEARNING_H
#define LIMN_LANG_LEARNING_LEARNING_H

#include "core/graph/graph.h"
#include "lang/declare/declare.h"

// How the ends of two paths go together in a distance.
typedef enum {
  FITS,
  FITS_NOT,      // it takes no such types
  FITS_NO_SCORES // it wants shares of 1 on its right, and there would be scores
} Fitting;

// list_pairs.c: the pairs of learning diagrams with their routes, distances, factors and learners;
// of one, or of all (NULL)
void elab_paths(Elab *, const Program *, const Learning *, Buf *);
void elab_paths_json(Elab *, const Program *, const Learning *, Buf *);
Ids learning_frozen(Elab *, const Learning *);               // by `freeze` of it, not of its parts
const char *learning_distance(Elab *, const Def *space);     // as it is written
bool learning_freezes(Elab *, const Learning *, Id learner); // in all of its pairs
// What the goal of a pair is called; NULL: it has none
const char *learning_goal(Elab *, const Program *, const Learning *, uint32_t pair);
void edge_learners(Elab *, const GraphEdge *, Ids *);            // read.c: DEF ids, some twice
const OrderTargets *pair_trains(const Learning *, const Pair *); // list_pairs.c: NULL: all

// find_in_bodies.c: every place where a route of boxes is, in bodies and learning diagrams. False with
// a diagnostic.
bool elab_find(Elab *, const Program *, const char *pattern, bool json, Buf *);

// For lang/program, which reads a whole file.
void learnings_read(Elab *, Program *, Scope *); // all of a file, and what is done to them
void learnings_name(Scope *);                    // distill.guess, in the expressions of a file
void sets_read(Elab *, Program *);               // those of the command line that are not numbers
// `set` of spaces of the file; with settings, those of the command line too
void spaces_set(Elab *, Scope *, bool settings);
void learnings_check(Elab *, Program *);
bool learning_meant(Elab *, Scope *, const Syntax *path); // false with a diagnostic
void learnings_goals(Elab *, Program *, Scope *);
// The path of a goal, distill.Y, ends in a space: an editor is told so.
void goal_is_of(Elab *, const Learning *, const Syntax *path);
typedef struct {
  Ids learner;
  bool *was; // [of learner] frozen before
} FreezeStack;
FreezeStack learning_freeze(Elab *, const Learning *, const Pair *); // what it freezes is frozen …
void learning_thaw(Elab *, const FreezeStack *);                     // … until here
// What is measured of a diagram that is trained on each small task by itself: a
// claim over the fields of one. NULL with a diagnostic.
const Syntax *learning_refit(Elab *, Program *, Learning *, const Syntax *clause);

#endif
