// What a program declares, after name resolution. The rooms of the language fill these structs in;
// all other rooms read them (lang/program/program.h makes them from a text).
#ifndef LIMN_LANG_VALUE_DECLARED_H
#define LIMN_LANG_VALUE_DECLARED_H

#include "core/diagram/diagram.h"
#include "core/graph/graph.h"
#include "io/data/data.h"
#include "lang/syntax/syntax.h"

#include <signal.h>

enum { TEXT_LIMIT = 8 << 20 }; // bytes in a file, enough for two hundred thousand boxes

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
  Span span; // of the name in the declaration
  Scope *scope;
  const Syntax *node; // the declaration (N_AXIS, N_TYPED, N_SPACE, N_BOX, N_LEARNER, N_STALE,
                      // N_OPTIMISER, N_PARAM, N_DIAGRAM, N_MACHINE)
  Def *overload;      // library boxes may have several headers
  bool broken;        // already reported: no further messages about its uses
  bool busy;          // being elaborated: meeting it again is a cycle
  bool used;
  uint32_t visited;      // the id of the last search for learners that visited it
  Size size;             // DEF_AXIS; DEF_SPACE: dimension of a point while the space is open
  bool has_number;       // DEF_CONST: its number is known
  double number;         // the value of a DEF_CONST; of a DEF_STALE the `every` or `by` value
  const Array *file;     // DEF_CONST: the array read from a file
  const Syntax *refined; // DEF_LEARNER: the N_REFINE that supplies its body, or NULL
  Scope *refined_in;     // the scope of that N_REFINE, where names of the body are resolved
  bool frozen;           // DEF_LEARNER: `freeze`
  bool refitted;         // DEF_LEARNER: trained inside a diagram
  const Diagram *made;   // DEF_LEARNER: elaborated without a use
  struct Body *alone;    // DEF_BOX: elaborated with symbolic sizes
  const char *fallback;  // DEF_LEARNER without a body: the name of its default body, or NULL
  Def *of;               // DEF_STALE: the learner it follows
  const char *member;    // DEF_STALE: the followed member of a family, ".2"; NULL: all
  uint32_t given, field; // DEF_GIVEN: index of the `given`, and of the field in it
  Learning *learning;    // DEF_DIAGRAM: after reading
  struct System *system; // DEF_MACHINE: its system without options, if it has no open sizes
  bool
      open_loops; // DEF_MACHINE: cannot be elaborated without a use, since a `for` has an open bound
};

// What a program asks for, after name resolution. The inputs of a goal's diagram are the fields of
// the givens it uses.
typedef struct {
  Name name; // 0 = unnamed
  const Syntax *node;
  Span span;
  Diagram *
      diagram; // inputs: given fields; output: one scalar, the mean over the samples. NULL if it has errors
  Ids fields;    // the given field (DEF id) of each input
  bool *trains;  // one for each param of the diagram
  Ids targets;   // the learners named by `trains` (DEF ids); empty = all that occur
  double weight; // the factor of `times`
  int sign;      // -1 for maximise
  Id shown; // the wire to display: the mean distance or the maximised value, before `times` and the sign
  const char *distance;
  Scope *scope;       // of its file, for name resolution
  struct Env *turn;   // the environment of the loop iteration that made it, or NULL
  Learning *learning; // the learning diagram it follows from; NULL: a `goal` statement
} Goal;

// `on mnist.test`: replaces the split of the set, or all data, for one measure
typedef struct {
  const Syntax *node; // NULL: no `on`, use the given data
  Name set, split;
  const char *path, *beside; // `on "t.csv"`; the program file that the path is relative to
  bool other; // the set is not among the givens: it replaces all data, field by field
} OnData;

typedef struct {
  Name name;
  const Syntax *node;
  Span span;
  Diagram *diagram;
  Ids fields;
  const char *distance; // NULL = none
  OnData on;
  int better; // 1: more is better, -1: less, 0: unknown
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
  Diagram *diagram; // inputs: given fields; one output per value. NULL if it has errors or is text
  Ids fields;
  uint32_t views;
  ShowAs view[VIEWS];
  Name over; // `for t in [0, 0.5, 1]`: t is the vector of these numbers, with an axis of this name
  uint32_t moments;
  const double *moment;
  OnData on;      // as for a measure
  uint64_t every; // interval in training steps; 0 = only at the end
} Show;

typedef struct {
  Name set, split;    // mnist, test; 0 if not a named set
  const char *path;   // a file, or NULL
  Diagram *noise;     // `from normal[64]`: a diagram without inputs
  const char *beside; // the program file that `path` is relative to
  bool absent;        // the file does not exist
  bool bits;          // [bits: 1]
  Episodes episodes;  // [way: 5, shot: 1]
  int64_t pieces;     // [pieces: 300]; 0: none
  Size window;        // rows of one sample; 0 = one row, without an axis
  const Syntax *node;
  VEC(Def *) field;
  VEC(Type) type;
  VEC(Name) column; // the set's own name of each field; "a..b" is a range of table columns
} Given;

struct Program {
  Scope *scope;
  Scope *acting; // the file whose goals are being elaborated
  const Syntax *tree;
  VEC(Goal) goal;
  VEC(Measure) measure;
  VEC(Given) given;
  VEC(const Syntax *) train;
  VEC(Show) show;
  VEC(Learning *) learning; // in textual order, used files first
  VEC(Def *) learner, box;  // in textual order
  VEC(Def *) space;         // in textual order; a space with a size is open
  uint32_t machines;        // number of machine declarations
  Table *asked;             // names that checks and shows of runs refer to; NULL: not collected yet
  struct Machines *ran;     // runs and checks of machines (lang/machine/machine.h)
};

// A learning diagram: a graph of spaces and maps, with what each stands for.
typedef struct {
  Span span;                 // where it is declared
  const Def *def;            // type and distance; NULL: an index set, or a pattern variable
  const Syntax *source;      // of an index set: mnist, "t.csv", normal[64]
  Name task[EPISODE_FIELDS]; // of an index set of episodes: its fields, if known
  Scope *home;               // where names in `source` are resolved
} GraphSpace;
typedef struct {
  Span span;
  const Syntax *node; // N_BOX or N_LEARNER
  Def *def;           // the box or learner; NULL: it begins in an index set or has no body
  const Syntax *body; // its body as written, or NULL
  Scope *home;        // where names in `body` are resolved
  bool loose;         // its result need only be comparable with points of the target space
  const Type *gives;  // of an edge from an index set: its result types, once known
  uint32_t given;     // the number of these
} GraphEdge;
typedef struct {
  Name name; // in the whole diagram
  Learning *of;
  Inclusion in;
} GraphPart;
typedef struct { // a match of a `find`
  const Syntax *node;
  const char *text; // its text: student ; divide at image ; student
} GraphFound;
typedef struct {      // a target of `trains` or `freeze`
  uint32_t edge;      // the edge whose learners are meant; UINT32_MAX: a single learner
  const Syntax *node; // as written
  Scope *home;        // where its names are resolved
  Def *learner;       // NULL: not resolved yet
} OrderTarget;
typedef VEC(OrderTarget) OrderTargets;
typedef struct { // the attributes of `f ; g <= h`
  Span span;
  OrderTargets trains; // empty: all
  VEC(OrderTargets)
  frozen; // for each glued part with this order, what it freezes; frozen is the intersection
} GraphOrder;
struct Learning {
  Name name;
  const Syntax *node;
  Def *def;
  Scope *inside; // scope of its spaces, edges and learners, inside that of the file
  Graph *graph;
  Table *vertex_of, *edge_of; // name to index + 1
  VEC(GraphSpace) space;      // [vertex]
  VEC(GraphEdge) edge;        // [edge]
  VEC(GraphOrder) order;      // [order]
  VEC(GraphPart) part;        // the diagrams it is glued from
  VEC(GraphFound) found;
  OrderTargets frozen; // frozen in all its goals; those of a glued part apply to its own orders
  bool counted;        // `pairs` is computed
  bool pattern;        // a pattern for `find`, with variables
  bool broken;         // already reported
  bool is_part;        // glued into another diagram
  Pairs pairs;
  Pairs lost;     // pairs that would follow but cannot be compared
  Table *fitting; // cache: the last edges of two paths, to their compatibility + 1
};

// A `train` statement
typedef struct {
  Def *learner;       // NULL: the optimiser of all learners without their own
  const char *member; // ".2": one member of a family; NULL: all
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
  Ids goals;               // indices of the goals it trains
  double epochs, steps;    // its length, in one of these; the other is 0
  double clip, decay;      // 0 = none
  int64_t batch, patience; // 0 = not given
  int64_t accumulate;      // batches per step (gradient accumulation)
  uint64_t seed;
  bool has_seed;
  VEC(Stepper) stepper;
  VEC(LearnerTurn) turn; // empty: all learners step together
} Training;

// How a box is elaborated for display
typedef struct {
  bool training;
  uint32_t nin; // number of concrete argument types; 0: the declared, symbolic ones
  const Type *in;
  bool open; // argument sizes are open: what they leave unsolved is left open
  Span *
      use; // if not NULL: a box that cannot be elaborated alone is elaborated as at its first use, stored here
} Instance;

// The partial diagram of a program with errors, for pictures only. Placeholder boxes stand for
// expressions that failed.
typedef struct {
  Id wire;
  uint32_t axis; // axis + 1; 0: the whole wire
} FaultyWire;
typedef struct {
  Span span;
  const char *text; // the message
  Id box;           // the placeholder box, or 0
  VEC(FaultyWire) wire;
  bool end; // the error concerns the results
} ErrorMark;
typedef struct {
  Diagram *diagram; // a wire without a base has unknown type
  Ids unknown;      // placeholder boxes, with their names
  VEC(ErrorMark) slip;
  VEC(const char *) end; // the types of the results, as text
  bool ends;             // the results have an error
} PartialDiagram;
typedef struct {
  PartialDiagram *left, *right; // right: NULL if there is one side
  Ids fields[2];                // the given fields of their inputs
  VEC(ErrorMark) slip;          // errors about both sides together
} BrokenGoal;
PartialDiagram *elab_broken(Elab *, Program *,
                            const char *name);    // a box or learner; NULL if it has no errors
const char *elab_first_broken(Elab *, Program *); // the first box with errors, or NULL

// Name resolution, recorded during elaboration for editors: which declaration each name refers to.
// Text that was not elaborated is absent.
typedef enum {
  NAMED_DEF, // a declaration in a file
  NAMED_OPTION,
  NAMED_SIZE,
  NAMED_SPREAD,
  NAMED_WIRE,
  NAMED_LEARNER, // in a body
  NAMED_LOOP,
  NAMED_KEPT,
  NAMED_STATE,
  NAMED_INDEX,
  NAMED_GOAL, // or a measure
  NAMED_PART, // in a wiring
  NAMED_MODE,
  NAMED_MAP, // in a learning diagram
  NAMED_SPACE,
} NamedKind;
typedef struct {
  Span use, first; // the name; its declaration
  NamedKind kind;
  uint8_t rank;   // confidence: the highest wins
  const Def *def; // NAMED_DEF
} NameUse;
typedef struct { // a name bound to values, with their types: first and last, if these differ
  Span name;
  uint32_t n[2];
  const Type *type[2];
} NamedTypes;
typedef struct {
  SpanNumbers *at; // position to index + 1
  VEC(NameUse) use;
  SpanNumbers *type_at;
  VEC(NamedTypes) type;
} NameUses;
// For the next elaboration, which is cancelled when *stop is not 0 (stop may be NULL).
void elab_note_uses(Elab *, const volatile sig_atomic_t *stop);
const NameUses *elab_uses(Elab *);

World *elab_world(Elab *);
// Writes every value of the named box to `out` when it is lowered to a box of the diagram. For the
// next elaboration.
typedef struct {
  const char *name;
  Buf out;
  const struct Body *body; // the first instance elaborated
} ValueWatch;
void elab_watch(Elab *, ValueWatch *);
Def *def_of(Elab *, Id);

#endif
