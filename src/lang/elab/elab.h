// infer: a program's text gets its meaning: names are resolved, sizes solved, axes matched, and
// every box, learner and goal becomes a typed diagram.
//
//   Elab *in = elab_new(world);
//   Program *p = elab_program(in, "net.limn", text, n);      // all errors are in world->diags
//   Diagram *d = elab_diagram(in, p, name, NULL);            // a box or learner as a diagram
//
// A box is a pattern: each use with new sizes is checked again (an instance), the same sizes share
// one diagram.
#ifndef LIMN_INFER_H
#define LIMN_INFER_H

#include "core/diagram/diagram.h"
#include "io/data/data.h"
#include "lang/syntax/syntax.h"

enum { TEXT_LIMIT = 8 << 20 }; // bytes of a file: a hundred thousand boxes are half of it

typedef struct Elab Elab;
typedef struct Scope Scope;
typedef struct Def Def;
typedef struct Program Program;
typedef struct Learning Learning;

typedef enum {
  DEF_AXIS,
  DEF_CONST,
  DEF_SPACE,
  DEF_BOX,
  DEF_LEARNER,
  DEF_STALE,
  DEF_OPTIMISER,
  DEF_GIVEN,
  DEF_DIAGRAM,
  DEF_MACHINE,
} DefKind;

struct Def {
  DefKind kind;
  Id id;
  Name name;
  Span span; // where the name is declared
  Scope *scope;
  const Syntax *node; // the declaration (N_AXIS, N_TYPED, N_SPACE, N_BOX, N_LEARNER, N_STALE,
                      // N_OPTIMISER, N_PARAM, N_DIAGRAM, N_MACHINE)
  Def *overload;      // library boxes may have several headers
  bool broken;        // already reported: its uses are silent
  bool busy;          // being worked on: meeting it again is a cycle
  bool used;
  uint32_t visited;      // the last search for learners that came here
  Size size;             // DEF_AXIS
  bool has_number;       // DEF_CONST: its number was found
  double number;         // also of DEF_STALE: `every` or `by` this
  const Array *file;     // DEF_CONST: what was read
  const Syntax *refined; // DEF_LEARNER: the N_REFINE that gives it a body, or NULL
  Scope *refined_in;     // the file of that: its body speaks of the names there
  bool frozen;           // DEF_LEARNER: `freeze`
  bool refitted;         // DEF_LEARNER: it is trained inside a diagram
  const Diagram *made;   // DEF_LEARNER: checked for itself
  struct Body *alone;    // DEF_BOX: worked off with symbols for sizes
  const char *fallback;  // DEF_LEARNER: it has no body, and this stands in for it; or NULL
  Def *of;               // DEF_STALE: the learner it follows
  uint32_t given, field; // DEF_GIVEN: which `given` of the program, which field
  Learning *learning;    // DEF_DIAGRAM: once it is read
  struct System *system; // DEF_MACHINE: once it is made, if nothing about it is open
};

// What the program asks for, resolved. Diagrams of goals take the fields of the givens they use as
// inputs.
typedef struct {
  Name name; // 0 = none was written
  const Syntax *node;
  Span span;
  Diagram *diagram; // inputs: sources; outputs: one scalar, the mean over the samples. NULL when it
                    // has errors
  Ids fields;       // the given field (DEF id) behind each input of the diagram
  bool *trains;     // one for each param of the diagram
  Ids targets;      // the learners that it names (DEF ids); empty = all that occur
  double weight;    // times
  int sign;         // -1 for maximise
  Id shown; // the wire of the diagram that people see: the mean distance, or what is maximised;
            // before `times` and the sign
  const char *distance;
  Scope *scope;       // of its file: where its names are found
  struct Env *turn;   // of a loop, with its number; or NULL
  Learning *learning; // the learning diagram that asks for it; NULL: a `goal` of the program
} Goal;

typedef struct {
  Name name;
  const Syntax *node;
  Span span;
  Diagram *diagram;
  Ids fields;
  const char *distance; // NULL = none
  Name set, split;      // `on mnist.test`: every source of this set is replaced; 0 = training data
  const char *path;     // `on "t.csv"`
} Measure;

enum { VIEWS = 4, VIEW_OPTIONS = 4 };
typedef struct { // images[8, 8]
  const char *name;
  uint32_t options;
  double option[VIEW_OPTIONS];
} ShowAs;

typedef struct {
  const Syntax *node;
  enum { SHOW_VALUES, SHOW_CONFUSION, SHOW_TEXT } kind; // confusion(f(x), y); generate[f]("to")
  Diagram
      *diagram; // inputs: sources; an output for each value. NULL when it has errors, or is text
  Ids fields;
  uint32_t views;
  ShowAs view[VIEWS];
  Name over; // `for t in [0, 0.5, 1]`: t is a row of these numbers, with an axis of that name
  uint32_t moments;
  const double *moment;
  Name set, split; // `on mnist.test`, as for a measure
  const char *path;
  uint64_t every; // steps of training; 0 = at its end
} Show;

typedef struct {
  Name set, split;    // mnist, test;  0 when not a named set
  const char *path;   // a file, or NULL
  Diagram *noise;     // `from normal[64]`: a diagram without inputs
  const char *beside; // the program's file, which a path is relative to
  bool bits;          // [bits: 1]
  Episodes episodes;  // [way: 5, shot: 1]
  Size window;        // how many rows make one sample; 0 = one row, without an axis for it
  const Syntax *node;
  VEC(Def *) field;
  VEC(Type) type;
  VEC(Name) column; // the set's own name for each field; "a..b" is a run of columns of a table
} Given;

struct Program {
  Scope *scope;
  Scope *acting; // the file whose goals are being read
  const Syntax *tree;
  VEC(Goal) goal;
  VEC(Measure) measure;
  VEC(Given) given;
  VEC(const Syntax *) train;
  VEC(Show) show;
  VEC(Learning *) learning; // in the order of the text, used files first
  VEC(Def *) learner, box;  // in the order of the text
  uint32_t machines;        // how many are declared
  struct Machines *ran;     // what is run and checked (machines.h)
};

Elab *elab_new(World *);
World *elab_world(Elab *);
// `set` holds "name=value" pairs that replace the right side of an axis or const.
void elab_set(Elab *, const char *name, const char *value);
void elab_settings(Elab *, Buf *); // all of them: "n=3 m=4"
// Checks every box of the library for itself, with symbols for sizes, and calls back with each that
// could be made a diagram.
void elab_library(Elab *, void (*each)(void *context, const Def *, Diagram *), void *context);
Program *elab_program(Elab *, const char *path, const char *text, size_t n);

typedef struct {
  bool training;
  uint32_t nin; // concrete argument types, or 0 for the declared (symbolic) ones
  const Type *in;
  Span *use; // not NULL: a box that cannot be looked at for itself is as it is first used, here
} Instance;
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

// optimiser.c
// An optimiser for weights of one type. Inputs: p, grad. Outputs: what the model sees of p (look),
// and the next p. Its states are params with their next values; `step` and `steps` are clocks.
// `call` has its settings, as in `adam(0.1, b1: 0.8)`; NULL: the usual ones. With `quiet` nothing
// is said when it cannot be made for this type.
Diagram *elab_optimiser(Elab *, Program *, const char *name, const Syntax *call, Type, bool quiet);
// What steps the weights that an optimiser of matrices cannot: `adam` with a twentieth of its rate.
// NULL: with its usual one.
const Syntax *elab_stand_in(Elab *, Program *, const char *name, const Syntax *call);

// train.c: a `train` statement, read
typedef struct {
  Def *learner;       // NULL: for all that have none of their own
  const Syntax *call; // adam(0.001)
  const char *name;   // adam
  Span span;
} Stepper;
typedef struct {
  Def *learner;
  uint32_t times;
  Span span;
} LearnerTurn;
typedef struct {
  Ids goals;               // which goals of the program it trains, as numbers from 0
  double epochs, steps;    // how long; the other is 0
  double clip, decay;      // 0 = none
  int64_t batch, patience; // 0 = not said
  int64_t accumulate;      // batches for one step; 1 = plain
  uint64_t seed;
  bool has_seed;
  VEC(Stepper) stepper;
  VEC(LearnerTurn) turn; // empty: all step together
} Training;
bool elab_training(Elab *, Program *, const Syntax *train, Training *); // false with diagnostics
// Who steps this weight: the optimiser of its learner, else of a learner that has it inside, else
// the one for all.
const Stepper *training_stepper(Elab *, const Training *, const Param *); // NULL = nobody
bool learner_holds(Elab *, Def *, const Param *); // is it the learner's, or of one inside it?

// partial.c: what can be shown of a program with errors. Its diagrams hold boxes that stand for
// what could not be done: they are for pictures, and nothing may be done with them.
typedef struct {
  Id wire;
  uint32_t axis; // + 1; 0: all of it
} FaultyWire;
typedef struct {
  Span span;
  const char *text; // the message
  Id box;           // what could not be done; 0: the diagram has no such box
  VEC(FaultyWire) wire;
  bool end; // it is about what comes out
} ErrorMark;
typedef struct {
  Diagram *diagram; // a wire without a base is of unknown type
  Ids unknown;      // boxes of it that stand for something, with its name
  VEC(ErrorMark) slip;
  VEC(const char *) end; // the types of what comes out, in words
  bool ends;             // they are at fault
} PartialDiagram;
typedef struct {
  PartialDiagram *left, *right; // right: NULL where there is one side
  Ids fields[2];                // the given fields behind their inputs
  VEC(ErrorMark) slip;          // of the two together
} BrokenGoal;
PartialDiagram *elab_broken(Elab *, Program *,
                            const char *name); // a box or learner; NULL: it is well
BrokenGoal elab_broken_goal(Elab *, Program *, const Goal *);
const char *elab_first_broken(Elab *, Program *); // the first box that is not well, or NULL

Def *def_of(Elab *, Id);
// Does this param belong to the learner, or to this member (".2") of the family?
bool def_owns(World *, const Param *, const Def *, const char *member);
void def_closure(Elab *, Def *, Ids *); // a learner, and every learner in its body or refinement

#endif
