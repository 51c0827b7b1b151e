// Machines: systems with a state of their own, alone or wired together.
//
//   System *s = elab_system(in, program, "Ecosystem", NULL);
//
// A system is one flat diagram, whatever it was put together from. Its inputs and outputs are the
// ports, its states are params. A wiring is first a lens: from what its parts show (and what comes
// from outside) to what its parts take (and what goes outside). Lens and parts are then woven into
// one diagram, box by box; so "all reads first, then all updates" needs no rule of its own, a loop
// without a delay is a loop in the diagram, and nested equals flat to the last bit.
#ifndef LIMN_LANG_MACHINE_MACHINE_H
#define LIMN_LANG_MACHINE_MACHINE_H

#include "lang/declare/declare.h"

typedef struct System System;

// Where a text has neither rates nor ticks, its time is that of what it is wired into.
typedef enum { TIME_OPEN, TIME_FLOWS, TIME_TICKS } MachineTime;

typedef struct {
  Name name;
  Type type;      // with the axes of an array of parts in front
  uint64_t modes; // the modes of its system in which it is open, a bit for each; all: always
  Span span;
} Port;

typedef struct {
  uint32_t param;   // of the diagram
  const char *path; // worker/w
  Id rate;          // x' = …: the wire that holds it; 0: it does not flow
  bool constrained; // instead, what `rate` holds is 0 at every moment: 0 = …
  Id next;          // next x = …: its value after a tick; 0: it stays
  double every;     // ticks of the whole for one of its own, or time where it flows; 1: each
  bool inner;       // of a learner: a run keeps it only if it is shown
  bool held;        // it learns, or learning has it: `unroll` does not go through it
  bool reborn;      // of a part that is born and dies: then it begins anew
} SystemState;

typedef struct {       // next x = … when …, in a system that flows; jump m when …
  Id guard;            // a number that rises through 0 when it happens
  VEC(uint32_t) state; // what is set, as numbers of states
  Ids value;           // and to what
  const char *path;    // heater, or a.b.heater
  Name jump;           // the mode that it jumps to; 0: none
  uint32_t level;      // of modes in modes: a jump of an outer one wins over one of an inner one
  bool either;         // the states have a `next` too, which holds where nothing flows
  bool birth;          // it makes a part begin anew; what is alive at the start is not born then
  Span span;
} SystemEvent;

typedef struct {  // delay[1](x), in a system that flows
  uint32_t param; // where the late value comes in
  Id value;       // what is late
  double time;
  Span span;
} SystemLag;

typedef struct {  // white[3], in a rate
  uint32_t param; // what it is, for the length of a step
  Span span;
} SystemWhite;

enum { PART_AXES = 4 };
typedef struct {
  Name name;
  System *of;
  uint32_t axes; // of an array of parts; 0: it is one
  Axis axis[PART_AXES];
  double every; // ticks of the whole for one of its own, or time where that flows
  bool sampled; // `every` is written: it ticks, also where only conditions are waited for
  Span span;
} Part;

typedef struct {
  uint32_t part; // its number + 1; 0: the wiring itself
  uint32_t port; // of the part's outputs (a source) or inputs (a target); the other way round for
                 // the wiring itself
} PortEnd;

typedef struct {        // what one port gets
  VEC(PortEnd) from;    // the ports that the value is made of
  VEC(uint32_t) states; // and the wiring's own states, as numbers into `own`
  VEC(PortEnd) lines;   // and its lines: part is a number into `said` + 1, port one of its names
  VEC(uint32_t) asked;  // the states that the guard refers to,
  VEC(PortEnd) asked_ports, asked_lines; // ports of parts (modes, say) and lines
  PortEnd to;
  const Syntax *value; // the expression
  const Syntax *guard; // when …; NULL: always
  const Syntax *pad;   // … pad 0; NULL: it has none
  bool plain;          // nothing but a wire: the value is the port, or (NULL) the state
  bool each;           // x[i] -> p[i].x: each of an array has its own
} WireRoute;

typedef struct { // a line that computes something
  VEC(Name) name;
  const Syntax *node; // N_EQUATION
  WireRoute route;    // what it is made of
  bool late;          // it has a delay
} WireLine;

typedef struct {
  PortEnd end;
  Id adds;                 // the wire of the lens that holds what it adds, in its places
  const Syntax *at, *call; // v[i+1], of Leak(v[i+1])
} JunctionMember;

typedef struct {
  Name name;
  bool outer;                 // a port of the wiring too
  VEC(JunctionMember) member; // which ports of which parts are this variable
} Junction;

typedef struct {
  Name name;
  Type type;
  bool learns; // next … by …
  bool late;   // of a delay: it has no name of its own
  Span span;
} OwnState;

typedef struct { // a line of its text that a check or show asks for
  Name name;
  Type own; // without the axes of arrays of parts
  Id wire;
} SystemLine;

typedef struct {
  Name name; // of a part; 0: what the whole was before it was closed or stood on another
  const System *of;
  const Id *map; // where its wires went
  bool array;
} SystemInner;

typedef struct { // seen by its path: p.a.level
  Name name;
  Id wire;
} SystemInside;

struct System {
  const Def *def;
  Name name;
  Span span;
  Diagram *d; // in, out: the ports; params: states, weights, the clocks `time` and those of lags
  VEC(Port) in, out;
  VEC(Name) mode;    // empty: it has only one
  uint64_t stops;    // those in which nothing changes any more, a bit for each
  uint32_t quiet;    // how many of the last of `in` say what the system around does: no wire is
                     // written for them
  VEC(OwnState) own; // states that its own text declares
  VEC(SystemState) state; // all, those of its parts too
  VEC(SystemEvent) event;
  VEC(SystemLag) lag;
  VEC(SystemWhite) white;
  Id time;        // the wire of the clock `time`; 0: it is not read
  bool flows;     // something in it has a rate
  bool timeless;  // it has delays whose time is that of what it is wired into
  bool shares;    // its ports are shared variables: in are their values, out what is added to them
                  // (rates, or differences)
  bool unordered; // which member of an array needs which depends on open sizes: its diagram has the
                  // right types, and is not to be followed
  bool wiring;    // put together from what follows
  VEC(Part) part;
  VEC(SystemInner) inner;
  VEC(SystemLine) line;
  VEC(SystemInside) inside; // what was asked for so far
  VEC(WireRoute) route;
  VEC(WireLine) said; // lines that something reads
  VEC(WireRoute)
  move; // to.port: a number into `own` and, behind it, `learner`; the value that it steps to, moves
        // by or learns on
  VEC(OwnState) learner; // learners that are its own: next net by …
  VEC(Junction) junction;
  Ids own_param, own_rate, own_next; // of `own`: param and wires of the lens, 0 = none
  uint32_t learnt_from, learnt_to;   // states that only optimisers have
  Diagram *lens; // in: its ports, then what parts show; out: its ports, then what parts take
};

// -- what can be seen of a system -----------------------------------------------------------------
typedef enum { SEES_IN, SEES_OUT, SEES_STATE, SEES_INSIDE } SightKind;
typedef struct {
  Name name; // rabbits, worker.w
  Type type;
  SightKind kind;
  uint32_t at; // of its ports, its states, or what was found inside
} Sight;
typedef VEC(Sight) Sights;
// What is kept of a run; behind it what is inside, as far as it was asked for.
void system_sights(World *, const System *, Sights *);

// An expression over what can be seen, at one moment.
typedef struct {
  Diagram *diagram; // one output
  Ids sight;        // behind each input
} Seen;

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
#include "lang/machine/watches.def"
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

// The same with what its lines are made of in their place; for pictures.
WireRoute route_through(Arena *, const System *, const WireRoute *);

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

// rates.c: diagrams made of a system that flows. Inputs: its ports, the states that flow, `time`.
Diagram *system_rates(World *, const System *);
Diagram *system_noisy_rates(World *, const System *); // and each `white`, behind `time`
Diagram *system_nexts(World *, const System *); // of states that step, what they are after a tick
// The same inputs and the length of the step, of this type: a number, or one for each of the axes
// that the states have in front. Outputs: the states after it. Steps with noise also take, for each
// `white`, how far it goes in the step.
typedef enum { STEP_RK4, STEP_EULER, STEP_MARUYAMA, STEP_MILSTEIN } StepMethod;
Diagram *system_step(World *, const System *, StepMethod, const Type *length);
// What Milstein's step adds, twice: inputs as above without the length, then two rows a, b for each
// `white`; with G what noise is multiplied by, the change of G a along G b.
Diagram *system_correction(World *, const System *);

// chance.c: is noise only where it can be followed? `alone`: it may be a part of others, so what it
// shows is not looked at. False with a diagnostic.
bool noise_has_place(World *, const System *, bool alone);
// The same of one wire that is looked at.
bool noise_has_value(World *, const System *, Id wire, const char *name);

// `call`: NULL, or a use as in `Team[3]`, with its options. NULL with a diagnostic.
System *elab_system(Elab *, Program *, const char *name, const Syntax *call);
bool has_machine(Elab *, const Program *, const char *name);

// For lang/program, which reads a whole file.
void check_machines(Elab *, Scope *);    // every machine of the file, for itself
Diagram *machine_diagram(Elab *, Def *); // flat; next values are those of a tick, or rates
void do_machines(Elab *, Program *);     // `run`, `check` and `show`, in the order of the text
void machine_builtins(Elab *);           // the boxes `delay`, `flow` and `white`

#endif
