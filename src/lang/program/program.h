// Elaboration of whole programs: names are resolved, sizes solved, axes matched, and every box,
// learner and goal becomes a typed diagram.
//
//   Elab *in = elab_new(world);
//   Program *p = elab_program(in, "net.limn", text, n);      // errors are in world->diags
//   Diagram *d = elab_diagram(in, p, name, NULL);            // a box or learner as a diagram
//
// A box is polymorphic in sizes: it is elaborated once for each set of sizes (an instance).
#ifndef LIMN_LANG_PROGRAM_PROGRAM_H
#define LIMN_LANG_PROGRAM_PROGRAM_H

#include "lang/declare/declare.h"

Elab *elab_new(World *);
// Replaces the value of an axis or constant.
void elab_set(Elab *, const char *name, const char *value);
void elab_words(Elab *,
                const char *const *words); // elaborate only boxes whose text has one of these words
void elab_settings(Elab *, Buf *);         // prints them: "n=3 m=4"
Program *elab_program(Elab *, const char *path, const char *text, size_t n);

// The diagram of a box, learner, goal or measure of the program or the library. NULL with a
// diagnostic. A member of a family is head.1 or head[1]; a family alone is its first member.
Diagram *elab_diagram(Elab *, Program *, const char *name, const Instance *);
// How many members the family of this name has; 0: it is no family, or the number is not known.
int64_t family_members(Elab *, Program *, const char *name);
// A goal outside training (no dropout), weighted as in the loss. False, silently, if it has errors.
bool elab_outside(Elab *, Program *, const Goal *, Measure *out);
// The two sides of a goal, with an output for each wire; the second is NULL for maximise and
// minimise. A literal has the type of the other side. False: it has errors, which are reported with
// the goal.
bool elab_sides(Elab *, Program *, const Goal *, Diagram *side[2], Ids fields[2]);
Axis elab_samples(Elab *); // the batch axis of samples
const char *elab_names(Elab *, Program *,
                       const char *near); // the nearest name that elab_diagram knows, or NULL

// The partial diagrams of a goal with errors.
BrokenGoal elab_broken_goal(Elab *, Program *, const Goal *);

#endif
