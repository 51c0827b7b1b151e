// Runs of machines, and what is checked and shown of them: `run`, `check`, `show`, and loops around
// these.
#ifndef LIMN_LANG_PROGRAM_CLAIM_H
#define LIMN_LANG_PROGRAM_CLAIM_H

#include "lang/machine/machine.h"

// -- runs and checks ------------------------------------------------------------------------------
typedef enum {
  FOLLOW_USUAL,
  FOLLOW_DORMAND,
  FOLLOW_RK4,
  FOLLOW_EULER,
  FOLLOW_STIFF,
  FOLLOW_MARUYAMA,
  FOLLOW_MILSTEIN
} Follow;

typedef struct {
  Name name; // of an input or state
  SightKind kind;
  uint32_t at;
  Diagram *value; // without inputs
} RunStart;

typedef struct SweepTurn SweepTurn;
struct SweepTurn { // one iteration of a loop around runs
  const SweepTurn *outer;
  const Syntax *loop;
  Name name;
  Syntax *value;    // substituted for the name
  const char *text; // 0.5
};

typedef struct {
  Name name;             // as written, or the machine's; in a loop, `Spring, k = 0.5`
  Name base;             // without the suffix of the loop
  const Syntax *node;    // after substitution of loop variables
  const Syntax *said;    // as written: shared by the runs of a loop
  const SweepTurn *turn; // the innermost iteration, or NULL
  uint32_t order;        // position among all runs and checks
  Span span;
  System *system; // NULL after an error
  System *own;    // without its source
  uint32_t
      shared; // the number of leading states that are shared variables: the run gives their initial values
  MachineTime time;
  double end;   // in time, or in ticks
  double every; // recording interval; 0: the default
  Follow follow;
  double step;      // fixed or maximal step; 0: the default
  double tolerance; // 0: the default
  VEC(RunStart) start;
  const char *path; // a table with a column for each input, or NULL
  const char *set;  // a data set with a field for each input and a row for each tick, or NULL
} Run;
// The start that the run gives this input or state, or NULL
const RunStart *run_start(const Run *, SightKind, uint32_t at);

typedef enum {
#define WATCH(name, word) WATCH_##name,
#include "lang/program/watches.def"
#undef WATCH
  WATCH_KINDS
} WatchKind;
typedef struct { // a number computed from a whole run
  WatchKind kind;
  const Syntax *node;  // the call: period(foxes)
  double number;       // at[5](x): 5
  Seen seen;           // the watched expression; for `when` and `count` its zero-crossing function
  VEC(RunStart) point; // fixed(x: 1, y: 2)
  bool truth;          // a condition at one moment
  bool aside;          // only for the message of the check
  Id names;            // names of labels (World.label_names), or 0
} Watch;

typedef struct {     // a claim about boxes, for some sizes
  Diagram *diagram;  // in: points; out: the left side, then the right
  const char *sizes; // "n = 3"; "": none was open
} BoxCase;
#define BOXES_WITHIN 1e-6 // default of `within`

typedef enum { CHECK_CLAIM, CHECK_TRUTH, CHECK_NESTED, CHECK_BOXES } CheckKind;
typedef struct {
  CheckKind kind;
  bool condition; // CLAIM: one side, a condition
  bool compares;  // the condition compares two numbers
  uint32_t order; // position among all runs and checks
  const Syntax *node;
  Span span;
  const char *text;   // the claim, as written
  const char *of;     // the machine or run as written; "": boxes
  uint32_t run;       // index + 1; 0: none
  System *system;     // NULL after an error, and for boxes
  VEC(Watch) watch;   // CLAIM: the numbers it needs
  double within;      // tolerance
  Seen truth;         // TRUTH: a bit, or the difference of both sides
  VEC(BoxCase) boxes; // BOXES: one for each choice of sizes
} Check;

typedef struct {
  const Syntax *node;
  uint32_t run; // its number
  VEC(Seen) seen;
  VEC(const char *) text;
  uint32_t views;
  ShowAs view[VIEWS];
  double every;
} RunShow;

typedef struct Machines {
  VEC(Run) run;
  VEC(Check) check;
  VEC(RunShow) show;
  uint32_t ordered;
  const SweepTurn *turn; // the current iteration while reading
} Machines;

// sweep.c: does a top-level loop contain runs, checks or shows?
bool loop_has_runs(const Syntax *);
bool turn_is_in(const SweepTurn *, const SweepTurn *outer); // outer NULL: always
const char *turn_text(Arena *, World *, const SweepTurn *); // k = 0.5, c = 1

// Both sides of a claim as numbers, given its watches; of a comparison too. One side: 1 if true,
// else 0.
typedef struct { // gives the weights that a claim reads
  bool (*of)(const void *context, const Diagram *, Arena *, Tensor *param);
  const void *context;
} ClaimWeights;
bool claim_sides(Elab *, Program *, const Check *, const double *watch, const ClaimWeights *,
                 double side[2]);

// The sides of a claim about boxes as separate diagrams, with open sizes; for pictures. False:
// another kind of claim, or errors.
bool check_sides(Elab *, Program *, const Check *, Diagram *side[2]);

// sight_units.c: the declared unit of an observable value, "m/s", or NULL. `name`: as written,
// tank[2].level
const char *sight_unit(World *, const System *, const char *name);

// For lang/program.
void do_machines(Elab *, Program *); // reads `run`, `check` and `show` in textual order

#endif
