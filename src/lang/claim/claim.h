// claim: what is run, and what is claimed of it and shown: `run`, `check`, `show`, and loops around
// them.
#ifndef LIMN_LANG_CLAIM_CLAIM_H
#define LIMN_LANG_CLAIM_CLAIM_H

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
struct SweepTurn { // one turn of a loop around runs
  const SweepTurn *outer;
  const Syntax *loop;
  Name name;
  Syntax *value;    // what stands in the place of the name
  const char *text; // 0.5
};

typedef struct {
  Name name;             // as written, or the machine's; in a loop, `Spring, k = 0.5`
  Name base;             // without what the loop says
  const Syntax *node;    // with the loop's values in the place of its names
  const Syntax *said;    // as written: runs of one family have the same
  const SweepTurn *turn; // the innermost; NULL: it is in no loop
  uint32_t order;        // among all runs and checks
  Span span;
  System *system; // NULL after an error
  System *own;    // without what it stands on
  uint32_t
      shared; // so many of its first states are variables that it shares: the run says their starts
  MachineTime time;
  double end;   // in time, or in ticks
  double every; // from one moment that is kept to the next; 0: the default
  Follow follow;
  double step;      // of a fixed length, or the longest; 0: the default
  double tolerance; // 0: the default
  VEC(RunStart) start;
  const char *path; // a table with a column for each input; NULL: none
  const char *set;  // a set of data with a field for each input, a row for each tick; NULL: none
} Run;

typedef enum {
#define WATCH(name, word) WATCH_##name,
#include "lang/claim/watches.def"
#undef WATCH
  WATCH_KINDS
} WatchKind;
typedef struct { // a number that a whole run gives
  WatchKind kind;
  const Syntax *node;  // the call, as period(foxes)
  double number;       // at[5](x): 5
  Seen seen;           // what is watched; for `when` and `count` a number that rises through 0
  VEC(RunStart) point; // fixed(x: 1, y: 2)
  bool truth;          // a condition at one moment: it is true or not
  bool aside;          // only the figure of the claim tells it
  Id names;            // of labels: World.label_names, or 0
} Watch;

typedef struct { // a weight of a stale copy, which starts as what it follows
  const char *path, *of;
} StaleWeight;
typedef struct { // a claim about boxes, with sizes
  Diagram *
      diagram; // in: points, for each sample; out: what the left side makes of them, then the right
  const char *sizes; // "n = 3"; "": none was open
  VEC(StaleWeight) stale;
} BoxCase;
#define BOXES_WITHIN 1e-6 // unless `within` says something else

typedef enum { CHECK_CLAIM, CHECK_TRUTH, CHECK_NESTED, CHECK_BOXES } CheckKind;
typedef struct {
  CheckKind kind;
  bool condition; // CLAIM: one side, which is true or not
  bool compares;  // and that is because of how two numbers compare
  uint32_t order; // among all runs and checks
  const Syntax *node;
  Span span;
  const char *text;   // the claim, as written
  const char *of;     // the machine or run it refers to, as written; "": boxes
  uint32_t run;       // its number + 1; 0: none is needed
  System *system;     // NULL after an error, and of boxes
  VEC(Watch) watch;   // CLAIM: the numbers that it refers to
  double within;      // how far off it may be
  Seen truth;         // TRUTH: a bit, or the difference of both sides
  VEC(BoxCase) boxes; // BOXES: with some sizes, and with others
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
  const SweepTurn *turn; // while it is read
} Machines;

// sweep.c: does this loop at the top of a program hold runs, or what is said of them?
bool loop_has_runs(const Syntax *);
bool turn_is_in(const SweepTurn *, const SweepTurn *outer); // outer NULL: always
const char *turn_text(Arena *, World *, const SweepTurn *); // k = 0.5, c = 1

// Both sides of a claim as numbers, once its watches are known; of a comparison those too. Of one side:
// 1 where it is a condition, else 0.
typedef struct { // what the weights of a claim are
  bool (*of)(const void *context, const Diagram *, Arena *, Tensor *param);
  const void *context;
} ClaimWeights;
bool claim_sides(Elab *, Program *, const Check *, const double *watch, const ClaimWeights *,
                 double side[2]);

// The two sides of a claim about boxes, each alone, with sizes open as they are; for pictures. False:
// it is none, or has errors.
bool check_sides(Elab *, Program *, const Check *, Diagram *side[2]);

// sight_units.c: the unit that is said of what is seen, as "m/s"; NULL: none. `name`: as it is written,
// tank[2].level
const char *sight_unit(World *, const System *, const char *name);

// For lang/program, which reads a whole file.
void do_machines(Elab *, Program *); // `run`, `check` and `show`, in the order of the text

#endif
