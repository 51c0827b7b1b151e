// declared: what a program declares, once its names are resolved. The rooms of the language fill
// these in; all other rooms read them (lang/program/program.h makes them from a text).
#ifndef LIMN_LANG_VALUE_DECLARED_H
#define LIMN_LANG_VALUE_DECLARED_H

#include "core/diagram/diagram.h"
#include "core/graph/graph.h"
#include "io/data/data.h"
#include "lang/syntax/syntax.h"

#include <signal.h>

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
  Size size;             // DEF_AXIS; DEF_SPACE: of a point, while it is open
  bool has_number;       // DEF_CONST: its number was found
  double number;         // also of DEF_STALE: `every` or `by` this
  const Array *file;     // DEF_CONST: what was read
  const Syntax *refined; // DEF_LEARNER: the N_REFINE that gives it a body, or NULL
  Scope *refined_in;     // the file of that: its body refers to the names there
  bool frozen;           // DEF_LEARNER: `freeze`
  bool refitted;         // DEF_LEARNER: it is trained inside a diagram
  const Diagram *made;   // DEF_LEARNER: checked for itself
  struct Body *alone;    // DEF_BOX: elaborated with symbols for sizes
  const char *fallback;  // DEF_LEARNER: it has no body, and this stands in for it; or NULL
  Def *of;               // DEF_STALE: the learner it follows
  const char *member;    // DEF_STALE: ".2": of a family, this one; NULL: all of it
  uint32_t given, field; // DEF_GIVEN: which `given` of the program, which field
  Learning *learning;    // DEF_DIAGRAM: once it is read
  struct System *system; // DEF_MACHINE: once it is made, if nothing about it is open
  bool open_loops;       // DEF_MACHINE: for itself it is not known, as a `for` runs over open sizes
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

// `on mnist.test`: every source of this set is replaced by its split, or all by another set
typedef struct {
  const Syntax *node; // NULL: nothing is said, and data come from where they are given
  Name set, split;
  const char *path, *beside; // `on "t.csv"`; the program's file, which it is relative to
  bool other; // nothing is given from there: it stands in the place of all data, field by field
} OnData;

typedef struct {
  Name name;
  const Syntax *node;
  Span span;
  Diagram *diagram;
  Ids fields;
  const char *distance; // NULL = none
  OnData on;
  int better; // 1: more is better, -1: less; 0: nothing says so
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
  OnData on;      // as for a measure
  uint64_t every; // steps of training; 0 = at its end
} Show;

typedef struct {
  Name set, split;    // mnist, test;  0 when not a named set
  const char *path;   // a file, or NULL
  Diagram *noise;     // `from normal[64]`: a diagram without inputs
  const char *beside; // the program's file, which a path is relative to
  bool absent;        // the file is not there
  bool bits;          // [bits: 1]
  Episodes episodes;  // [way: 5, shot: 1]
  int64_t pieces;     // [pieces: 300]; 0: none
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
  VEC(Def *) space;         // the same; those with a size are open
  uint32_t machines;        // how many are declared
  Table *asked; // names that checks and shows of runs have in them; NULL: not looked for yet
  struct Machines *ran; // what is run and checked (lang/machine/machine.h)
};

// A learning diagram: a graph of spaces and maps, and what stands behind each of them.
typedef struct {
  Span span;                 // where it is declared
  const Def *def;            // its type and distance; NULL: an index, or in a pattern anything
  const Syntax *source;      // of an index: mnist, "t.csv", normal[64]
  Name task[EPISODE_FIELDS]; // of an index whose samples are small tasks: their fields, when known
  Scope *home;               // where the words of `source` are found
} GraphSpace;
typedef struct {
  Span span;
  const Syntax *node; // N_BOX or N_LEARNER
  Def *def;           // its map, a box or learner; NULL: it begins in an index, or has no body
  const Syntax *body; // as it is written; NULL: none
  Scope *home;        // where the words of `body` are found
  bool loose;         // what the map gives need only be comparable with points of its end
  const Type *gives;  // of an edge that begins in an index, once it is known
  uint32_t given;     // how many
} GraphEdge;
typedef struct {
  Name name; // in the whole
  Learning *of;
  Inclusion in;
} GraphPart;
typedef struct { // what a `find` found
  const Syntax *node;
  const char *text; // student ; divide at image ; student
} GraphFound;
typedef struct {      // one of those that an order trains, or that are frozen
  uint32_t edge;      // whose learners; UINT32_MAX: a learner
  const Syntax *node; // as it is written
  Scope *home;        // where its words are found
  Def *learner;       // NULL: it is to be looked for
} OrderTarget;
typedef VEC(OrderTarget) OrderTargets;
typedef struct { // what stands behind `f ; g <= h`
  Span span;
  OrderTargets trains;      // none: all
  VEC(OrderTargets) frozen; // what each part that states it freezes: frozen is what all do
} GraphOrder;
struct Learning {
  Name name;
  const Syntax *node;
  Def *def;
  Scope *inside; // its names: spaces, edges, learners; then those of the file
  Graph *graph;
  Table *vertex_of, *edge_of; // names to numbers + 1
  VEC(GraphSpace) space;      // [vertex]
  VEC(GraphEdge) edge;        // [edge]
  VEC(GraphOrder) order;      // [order]
  VEC(GraphPart) part;        // glued from these
  VEC(GraphFound) found;
  OrderTargets frozen; // what none of its goals moves; parts freeze for their orders
  bool counted;        // .pairs is what it asks for
  bool pattern;        // some spaces or edges may be anything: it is for `find`
  bool broken;         // already reported
  bool is_part;        // of another one
  Pairs pairs;
  Pairs lost;     // what would follow, but cannot be compared
  Table *fitting; // the last edges of two paths to how they fit + 1
};

// A `train` statement, read
typedef struct {
  Def *learner;       // NULL: for all that have none of their own
  const char *member; // ".2": of a family, this one; NULL: all of it
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

// How a box is to be looked at
typedef struct {
  bool training;
  uint32_t nin; // concrete argument types, or 0 for the declared (symbolic) ones
  const Type *in;
  bool open; // their sizes may be any: what is not settled between them is left to a use
  Span *use; // not NULL: a box that cannot be looked at for itself is as it is first used, here
} Instance;

// What can be shown of a program with errors. Its diagrams hold boxes that stand for what could not
// be done: they are for pictures, and nothing may be done with them.
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
                            const char *name);    // a box or learner; NULL: it is well
const char *elab_first_broken(Elab *, Program *); // the first box that is not well, or NULL

// What the names of a text mean: which declaration each of them was found to be while the text was
// elaborated. There is one way to find out, and it is that of the elaboration: what it did not look
// at is not in here.
typedef enum {
  NAMED_DEF, // a declaration of a file
  NAMED_OPTION,
  NAMED_SIZE,
  NAMED_SPREAD,
  NAMED_WIRE,
  NAMED_LEARNER, // of a body
  NAMED_LOOP,
  NAMED_KEPT,
  NAMED_STATE,
  NAMED_INDEX,
  NAMED_GOAL, // or a measure
  NAMED_PART, // of a wiring
  NAMED_MODE,
  NAMED_MAP, // of a learning diagram
  NAMED_SPACE,
} NamedKind;
typedef struct {
  Span use, first; // the name in the text; where it is declared
  NamedKind kind;
  uint8_t rank;   // how sure it is: the surer one stays
  const Def *def; // NAMED_DEF
} NameUse;
typedef struct { // a name that was given to wires, and their types; the last time with other types
  Span name;
  uint32_t n[2];
  const Type *type[2];
} NamedTypes;
typedef struct {
  SpanNumbers *at; // the number of a use, + 1
  VEC(NameUse) use;
  SpanNumbers *type_at;
  VEC(NamedTypes) type;
} NameUses;
// In a program that is elaborated after this, which is given up when *stop (or NULL) is not 0.
void elab_note_uses(Elab *, const volatile sig_atomic_t *stop);
const NameUses *elab_uses(Elab *);

World *elab_world(Elab *);
// Every value of this box is written to `out` when it becomes a box of its diagram. For a program
// that is elaborated after this.
typedef struct {
  const char *name;
  Buf out;
  const struct Body *body; // the first of this name
} ValueWatch;
void elab_watch(Elab *, ValueWatch *);
Def *def_of(Elab *, Id);

#endif
