// Private to infer: what the files about a whole program share.
#ifndef LIMN_PROGRAM_H
#define LIMN_PROGRAM_H

#include "lang/elab/elab_own.h"

// given.c
bool read_source(Infer *in, Scope *s, const Node *n, Given *g, Name *field, const Node **config);
void source_options(Infer *in, Scope *s, const Node *config, Given *g); // what its brackets say
void no_such_field(Infer *in, const Given *, Name name, const Node *source, Span span, bool split);
void do_given(Infer *in, Program *p, Scope *s, const Node *n);
// The same, where it is known which column each name stands for.
void do_given_columns(Infer *in, Program *p, Scope *s, const Node *n, const Name *column);

// goal.c
void add_learner(Infer *in, Def *d, Ids *out);
void add_closure(Infer *in, Scope *s, const Node *n, Ids *out); // after a new in->closure
void add_whole_learner(Infer *in, Def *d, Ids *out);
void do_goal(Infer *in, Program *p, const Node *n, Env *loop, const char *suffix);
void do_measure(Infer *in, Program *p, const Node *n);
void goal_outside(Infer *in, Program *p, const Goal *g, Measure *m);
Body *goal_body(Infer *in, Program *p, Name name);
bool is_frozen(Infer *in, const Program *p, const Param *); // of a frozen learner
void goal_outputs(Body *b, Value v, Ids *fields);
void goal_sides(Infer *in, Program *p, const Goal *g, Diagram *side[2], Ids fields[2]);
void read_on(Infer *in, Program *p, const Node *on, Given *g); // `on mnist.test`
Val mean_of_all(Body *b, Val v, Span span);                    // over every axis
const Node *clause(const Node *n, NodeKind kind);

// program.c
Def *learner_named(Infer *in, Scope *s, const Node *n);

// optimiser.c
Def *optimiser_named(Infer *in, Program *p, const char *name); // NULL: there is none

// system.c
void check_machines(Infer *, Scope *);    // every machine of the file, for itself
Diagram *machine_diagram(Infer *, Def *); // flat; next values are those of a tick, or rates

// show.c
void do_show(Infer *in, Program *p, const Node *n);
void read_views(Body *, const Node *as, Show *);

// run.c
void do_machines(Infer *in, Program *p); // `run`, `check` and `show`, in the order of the text

// train.c
void do_train(Infer *in, Program *p, const Node *n);
void check_optimiser_call(Infer *in, Program *p, const Def *, const Node *call); // its settings

#endif
