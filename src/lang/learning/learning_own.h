// Private to learning: learning diagrams, from their text to goals.
//
// A learning diagram has a scope of its own, in which its spaces and learners are declared and its
// edges are boxes; a name that it does not have is looked for in the file around it. In a diagram
// that is glued, things have the names that they have in the whole: one.h.
#ifndef LIMN_LANG_LEARNING_LEARNING_OWN_H
#define LIMN_LANG_LEARNING_LEARNING_OWN_H

#include "lang/declare/statements.h"
#include "lang/learning/learning.h"

#define NOWHERE UINT32_MAX

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Learning *g;
} Drawing; // a learning diagram that is being read

// Like diag_error, and nothing is done with the diagram.
#define drawing_error(r, ...) ((r)->g->broken = true, diag_error((r)->w->diags, __VA_ARGS__))

// read.c
Learning *learning_of(Elab *, Program *, Def *);         // read once
void near_edge(Drawing *, Id message, const char *path); // "did you mean …?"
uint32_t vertex_at(const Learning *, const char *path);  // NOWHERE: there is none
uint32_t edge_at(const Learning *, const char *path);
// The same, where the text says it: an editor is told what `n`, or its last name, means.
uint32_t vertex_meant(Drawing *, const Syntax *n, const char *path);
uint32_t edge_meant(Drawing *, const Syntax *n, const char *path);
Name learning_key(Drawing *, const char *name); // of a thing inside, as it is called outside
void edge_map(Drawing *,
              uint32_t edge); // a box or learner for its body, with the types of its ends
const Syntax *body_of_edge(Drawing *, Name own,
                           const Syntax *body); // its name is not its own there
void space_set(Drawing *, uint32_t vertex, const Syntax *types, const Syntax *by, Span);

// same.c: when are two things the same?
Id same_space(Elab *, const GraphSpace *);
Id same_map(Elab *, Scope *, const Syntax *);
Id same_learners(Elab *, const Ids *);
const Syntax *index_source(Elab *, const Syntax *types);
Name name_of_def(Elab *, Scope *to, const Def *); // a name by which it is known there
// A copy whose names mean in `to` what they mean in `from`.
Syntax *copy_resolved(Elab *, Scope *from, Scope *to, const Syntax *);

// frozen.c: the learners that the goal of a pair does not move (DEF ids, each once)
Ids pair_frozen(Elab *, const Learning *, const Pair *);
// Of a pair of the part, with the maps that its edges have in the whole.
Ids pair_frozen_in_part(Elab *, const Learning *whole, const GraphPart *, const Pair *);
bool pair_freezes(Elab *, const Learning *, const Pair *, Id learner);
void ids_add(Arena *, const Ids *from, Ids *to); // each once

// list_pairs.c
void target_learners(Elab *, const Learning *, const OrderTarget *, Ids *); // DEF ids, each once

// glue_diagrams.c
bool read_glued(Drawing *); // false: it could not be glued, and nothing of it is there

// set.c
void learner_set(Elab *, Scope *, Def *, const Syntax *body);
void learning_set(Drawing *, const Syntax *set, const char *path);
void edge_set(Drawing *, uint32_t edge, const Syntax *body, Scope *);

// carry.c: the orders of a diagram after a part of it was replaced
typedef struct {
  Drawing *draw;
  const Graph *old;          // before, with its edges
  const GraphEdge *was;      // [edge of old]
  const Graph *left, *right; // of the rule
  const PatternMatch *at;    // where the left side was
  const Rewritten *now;
  const Learning *comes; // the right side, if it is a diagram
  Span place;            // of the `find`
} Carrying;
void orders_carry(const Carrying *);

// find.c
void learning_find(Drawing *, const Syntax *find, Scope *);

// fit.c: do maps fit their spaces?
bool fits_space(Drawing *, const Types *, uint32_t vertex, Span);
bool is_symmetric(Elab *, const GraphSpace *);
bool space_wires(Elab *, const GraphSpace *, Types *); // false: said already
// The distance on wires of these types, as a diagram; NULL: it does not take them.
Diagram *distance_on(Elab *, const GraphSpace *, const Types *left, const Types *right);
bool distance_at(World *, const Diagram *, const Tensor *in, double *out);
bool random_tensor(World *, const Type *, uint64_t site, Tensor *); // reals from 0 to 1

// compare.c: what ends with one edge on the left, what ends with another one on the right
Fitting ends_fit(Drawing *, uint32_t left, uint32_t right);

// samples.c: the samples of an index
void index_given(Drawing *, uint32_t vertex);
bool index_has_tasks(const Drawing *, uint32_t vertex); // its samples are small tasks
// What an edge from an index reads, for a goal; of small tasks: of what is learned from, or of what
// is asked.
Syntax *index_read(Drawing *, uint32_t edge, bool asked);

// find_pairs.c
void learning_pairs(Elab *, Program *, Learning *);
bool pair_is_stated(const Graph *, const Pair *); // it is what an order says, with nothing behind
bool learning_is_asked(const Program *, const Learning *); // its goals are made

// goals.c
Syntax *value_along(Drawing *, const uint32_t *edge, uint32_t n, bool asked, Span);
Syntax *distance_in(Drawing *, uint32_t vertex); // as it is called inside

#endif
