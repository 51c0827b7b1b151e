// Learning diagrams, from their text to goals.
//
// A learning diagram has a scope of its own, inside that of its file; there its spaces and learners
// are declared, and its edges are boxes. In a glued diagram things have their names in the whole:
// one.h.
#ifndef LIMN_LANG_LEARNING_LEARNING_OWN_H
#define LIMN_LANG_LEARNING_LEARNING_OWN_H

#include "base/diag.h"
#include "lang/declare/statements.h"
#include "lang/learning/learning.h"

#define NOWHERE UINT32_MAX

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Learning *g;
} LearningReader; // a learning diagram that is being read

// Like diag_error, and marks the diagram as broken.
#define drawing_error(r, ...) ((r)->g->broken = true, diag_error((r)->w->diags, __VA_ARGS__))

// read.c
Learning *learning_of(Elab *, Program *, Def *);                // read at first use
void near_edge(LearningReader *, Id message, const char *path); // adds "did you mean …?"
uint32_t vertex_at(const Learning *, const char *path);         // NOWHERE if there is none
uint32_t edge_at(const Learning *, const char *path);
// The same for a name in the text, recorded for editors.
uint32_t vertex_meant(LearningReader *, const Syntax *n, const char *path);
uint32_t edge_meant(LearningReader *, const Syntax *n, const char *path);
Name learning_key(LearningReader *, const char *name); // the name, in the file, of a thing inside
void edge_map(LearningReader *,
              uint32_t edge); // declares a box or learner for its body, with the types of its ends
const Syntax *
body_of_edge(LearningReader *, Name own,
             const Syntax *body); // the body may use the edge's own name for something of the file
void space_set(LearningReader *, uint32_t vertex, const Syntax *types, const Syntax *by, Span);

// same.c: identity of spaces and maps
Id same_space(Elab *, const GraphSpace *);
Id same_map(Elab *, Scope *, const Syntax *);
Id same_learners(Elab *, const Ids *);
const Syntax *index_source(Elab *, const Syntax *types);
Name name_of_def(Elab *, Scope *to, const Def *); // a name for the declaration in scope `to`
// A copy of an expression, renamed so that it means in `to` what it means in `from`.
Syntax *copy_resolved(Elab *, Scope *from, Scope *to, const Syntax *);

// frozen.c: the learners that the goal of a pair does not train (DEF ids, without duplicates)
Ids pair_frozen(Elab *, const Learning *, const Pair *);
// Of a pair of a part, with the maps of its edges in the whole.
Ids pair_frozen_in_part(Elab *, const Learning *whole, const GraphPart *, const Pair *);
bool pair_freezes(Elab *, const Learning *, const Pair *, Id learner);
void ids_add(Arena *, const Ids *from, Ids *to); // without duplicates

// list_pairs.c
void target_learners(Elab *, const Learning *, const OrderTarget *,
                     Ids *); // DEF ids, without duplicates

// glue_diagrams.c
bool read_glued(LearningReader *); // false after an error, with no parts

// set.c
void learner_set(Elab *, Scope *, Def *, const Syntax *body);
void learning_set(LearningReader *, const Syntax *set, const char *path);
void edge_set(LearningReader *, uint32_t edge, const Syntax *body, Scope *);

// carry.c: redirects the orders of a diagram after rewriting
typedef struct {
  LearningReader *draw;
  const Graph *old;          // before
  const GraphEdge *was;      // [edge of old]
  const Graph *left, *right; // of the rule
  const PatternMatch *at;    // the match of the left side
  const Rewritten *now;
  const Learning *comes; // the right side, if it is a diagram
  Span place;            // of the `find`
} Carrying;
void orders_carry(const Carrying *);
// Adds targets; edge[i]: the index in the whole of edge i of the part.
void add_targets(Arena *, const OrderTargets *own, const uint32_t *edge, OrderTargets *out);

// find.c
void learning_find(LearningReader *, const Syntax *find, Scope *);

// fit.c: maps and spaces
bool fits_space(LearningReader *, const Types *, uint32_t vertex, Span);
bool is_symmetric(Elab *, const GraphSpace *);
bool space_wires(Elab *, const GraphSpace *, Types *); // false: reported already
// The distance on wires of these types, as a diagram; NULL: wrong types.
Diagram *distance_on(Elab *, const GraphSpace *, const Types *left, const Types *right);
bool distance_at(World *, const Diagram *, const Tensor *in, double *out);
bool random_tensor(World *, const Type *, uint64_t site, Tensor *); // reals in [0, 1]

// compare.c: can a path that ends with edge `left` be compared with one that ends with `right`?
Fitting ends_fit(LearningReader *, uint32_t left, uint32_t right);

// samples.c: index sets
void index_given(LearningReader *, uint32_t vertex);
bool index_has_tasks(const LearningReader *, uint32_t vertex); // its samples are episodes
// The value an edge reads from an index set, for a goal; of an episode: the support set, or the
// query (`asked`).
Syntax *index_read(LearningReader *, uint32_t edge, bool asked);

// find_pairs.c
void learning_pairs(Elab *, Program *, Learning *);
bool pair_is_stated(const Graph *, const Pair *);          // directly, without following edges
bool learning_is_asked(const Program *, const Learning *); // its goals are made

// goals.c
Syntax *value_along(LearningReader *, const uint32_t *edge, uint32_t n, bool asked, Span);
Syntax *distance_in(LearningReader *, uint32_t vertex); // as resolved inside

#endif
