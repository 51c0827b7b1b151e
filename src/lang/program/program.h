// program: a program's text gets its meaning: names are resolved, sizes solved, axes matched, and
// every box, learner and goal becomes a typed diagram.
//
//   Elab *in = elab_new(world);
//   Program *p = elab_program(in, "net.limn", text, n);      // all errors are in world->diags
//   Diagram *d = elab_diagram(in, p, name, NULL);            // a box or learner as a diagram
//
// A box is a pattern: each use with new sizes is checked again (an instance), the same sizes share
// one diagram.
#ifndef LIMN_LANG_PROGRAM_PROGRAM_H
#define LIMN_LANG_PROGRAM_PROGRAM_H

#include "lang/declare/declare.h"

Elab *elab_new(World *);
// `set` holds "name=value" pairs that replace the right side of an axis or const.
void elab_set(Elab *, const char *name, const char *value);
void elab_words(Elab *, const char *const *words); // of uses: only those in boxes that have one
void elab_settings(Elab *, Buf *);                 // all of them: "n=3 m=4"
Program *elab_program(Elab *, const char *path, const char *text, size_t n);

// The diagram of a box, learner, goal or measure of the program or the library. NULL with a
// diagnostic.
Diagram *elab_diagram(Elab *, Program *, const char *name, const Instance *);
// A goal as it is outside of training (no dropout), weighted as in the loss; its distance on other
// data. False when it cannot be said again; nothing is reported.
bool elab_outside(Elab *, Program *, const Goal *, Measure *out);
// The two sides of a goal, each with an output for each wire; the second is NULL where a number is
// made large or small. A bare number has the type of the other side. False: it has errors, which
// were reported with the goal.
bool elab_sides(Elab *, Program *, const Goal *, Diagram *side[2], Ids fields[2]);
Axis elab_samples(Elab *); // the axis in front of everything
const char *elab_names(Elab *, Program *,
                       const char *near); // the nearest name that elab_diagram knows, or NULL

// What can be shown of a program with errors.
BrokenGoal elab_broken_goal(Elab *, Program *, const Goal *);

#endif
