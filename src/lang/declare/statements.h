// The statements of a program, for the rooms of the language: givens, goals, shows, optimisers and
// training.
#ifndef LIMN_LANG_DECLARE_STATEMENTS_H
#define LIMN_LANG_DECLARE_STATEMENTS_H

#include "lang/declare/declare.h"
#include "lang/elab/elab.h"

// between_boxes.c: f ; g ~ h, where both sides are boxes
bool is_between_boxes(Body *, Env *, const Syntax *left, const Syntax *right);
// The inputs of both sides, from the side with more axes, then from the one with fewer open sizes.
// False: neither declares them.
bool equation_inputs(Body *, Env *, const Syntax *left, const Syntax *right, BoxInputs *);
Ids inputs_open(World *, const BoxInputs *);        // their open sizes
bool is_identity(Body *, Env *, const Syntax *box); // the library's id, of any number of wires
// Rewrites a claim between boxes to one between values; others are returned unchanged. NULL with a
// diagnostic.
const Syntax *claim_written_out(Body *, Program *, const Syntax *claim);

// given.c
bool read_source(Elab *in, Scope *s, const Syntax *n, Given *g, Name *field, const Syntax **config);
void source_options(Elab *in, Scope *s, const Syntax *config, Given *g); // the options in brackets
Id no_such_field(Elab *in, const Given *, Name name, const Syntax *source, Span span, bool split);
bool is_split(const char *text); // train, valid, test
// column: the source's name of each, or NULL
void do_given(Elab *in, Program *p, Scope *s, const Syntax *n, const Name *column);

// goal.c
void add_closure(Elab *in, Scope *s, const Syntax *n, Ids *out); // in->closure must be new
void add_whole_learner(Elab *in, Def *d, Ids *out);
void do_goal(Elab *in, Program *p, const Syntax *n, Env *loop, const char *suffix);
void goal_outside(Elab *in, Program *p, const Goal *g, Measure *m);
bool weights_owned(Body *, Span); // by learners; false with a diagnostic
Body *goal_body(Elab *in, Program *p, Name name);
bool is_frozen(Elab *in, const Program *p, const Param *); // it belongs to a frozen learner
void goal_outputs(Body *b, Value v, Ids *fields);
void goal_sides(Elab *in, Program *p, const Goal *g, Diagram *side[2], Ids fields[2]);
Val mean_of_all(Body *b, Val v, Span span); // over every axis
// Is the distance a box? False with a diagnostic.
bool distance_is_box(Elab *, Scope *, const Syntax *distance);
Def *learner_named(Elab *in, Scope *s, const Syntax *n);
// f[2], where d is f: ".2"; NULL if it names no member, with a diagnostic if it has brackets.
const char *target_member(Elab *in, Body *b, const Syntax *target, const Def *d);
bool samples_are_read(Body *,
                      Span); // false with a diagnostic: a measure counts samples it does not read
// The diagram of a measure, or of a goal outside training: a claim, by a distance, times a factor.
void measure_value(Elab *in, Program *p, const Syntax *claim, const Syntax *by, double factor,
                   Measure *m);

// on.c
void read_on(Elab *in, Program *p, const Syntax *on, OnData *out); // `on mnist.test`
void check_on(Elab *in, const Program *p, const Ids *fields,
              OnData *on); // checks it for these fields

// optimiser.c
Type weight_type(World *, Base, uint32_t rank, Span); // of any size, at most a matrix
void check_domains(Elab *, const Program *, const Def *, const Syntax *call); // of its settings
Def *optimiser_named(Elab *in, Program *p, const char *name);                 // NULL: there is none

// show.c
void do_show(Elab *in, Program *p, const Syntax *n);
void read_views(Body *, const Syntax *as, Show *);

// train.c
void do_train(Elab *in, Program *p, const Syntax *n);
void check_optimiser_call(Elab *in, Program *p, const Def *, const Syntax *call); // its settings

// refit.c: the box `refit`
void declare_builtins(Elab *);

#endif
