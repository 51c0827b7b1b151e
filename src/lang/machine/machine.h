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
  Ids named;           // and which places of it, as bits; 0: all
  const char *path;    // heater, or a.b.heater
  Name jump;           // the mode that it jumps to; 0: none
  uint32_t level;      // of modes in modes: a jump of an outer one wins over one of an inner one
  bool either;         // the states have a `next` too, which holds where nothing flows
  bool each;           // a guard for each place of the state: each is an event of its own
  bool birth;          // it makes a part begin anew; what is alive at the start is not born then
  bool death;          // the other way round; it sets nothing
  Span span;
} SystemEvent;

#define NO_STATE UINT32_MAX
typedef struct {    // next x = … when …, at ticks, where another line may set the same place
  uint32_t state;   // NO_STATE: a variable that it shares, and is set by what is added to it
  uint32_t group;   // the number of the first writer of the same thing
  const char *path; // worker/w
  double every;     // like that of a state
  Id when;          // a bit, or one for each place; 0: always
  Id named;         // a bit for each place that it sets; 0: all
  Id value;
  Name jump;      // the mode that it jumps to; 0: none
  uint32_t level; // of modes in modes: a jump of an outer one wins over one of an inner one
  Span span;
} SystemWriter;

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

typedef struct { // a mode, of a part too
  uint32_t state;
  uint64_t stops; // a bit for each label that stops
  Id is;          // a bit, or one for each member: it is one of these
} SystemHalt;

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
  const Syntax *at;    // the port, or places of it: p.v[0]; NULL: all of it
  bool plain;          // nothing but a wire: the value is the port, or (NULL) the state
  bool zero;           // an equation 0 = …, which says what the state is
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
  VEC(SystemWriter) writer; // those of one thing side by side
  VEC(SystemHalt) halt; // where all of these have stopped, nothing changes any more; empty: never
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
  WireRoute modes; // of a wiring: what its modes read; to.port: the number of the state `mode` + 1
  VEC(uint32_t) mode_port, mode_state; // ports that they say, states that they move
  VEC(OwnState) learner;               // learners that are its own: next net by …
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

// The same with what its lines are made of in their place; for pictures.
WireRoute route_through(Arena *, const System *, const WireRoute *);

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

// For what runs them.
const SystemState *first_constrained(const System *); // by an equation `0 = …`; NULL: none is
Syntax *as_root(World *, const Syntax *cond);   // a number that rises through 0 when it comes true
int port_named(const Port *, uint32_t n, Name); // its number; -1: none
bool check_ticks(Elab *, const System *,
                 Span); // a whole that goes by ticks: are all of them whole?
// Like elab_system, in this time; TIME_OPEN: what takes its time from others stays open.
System *system_in(Elab *, Program *, const Syntax *use, MachineTime);
// The time that a system with open delays has: that of its states; without any, `alone`.
MachineTime time_of(const System *, MachineTime alone);
System *system_closed(Elab *, System *); // with its shared variables as states of its own
// States, events and all else of two systems whose diagrams are woven into that of the third; `map`
// says where their wires went, and what the second has is under the prefix.
void system_woven(World *, System *, const System *, const System *source, Id *const *map,
                  const char *prefix);

// starts.c: a value that lines say, each for some places, as in x[0] = 1, x[i+1] = i.
typedef struct {
  const Syntax *brackets, *value, *pad; // pad: or NULL
  Span span;
} PlaceLine;
typedef VEC(PlaceLine) PlaceLines;
typedef struct {
  const char *what; // for messages
  bool timed;       // it may depend on `time`
  Span span;
} ValueWords;
// base: what the other places have; INIT_NONE: there are none. NULL with a diagnostic.
Diagram *value_by_places(Elab *, Program *, PlaceLines, const Init *base, const Type *own,
                         const ValueWords *);

// For lang/program, which reads a whole file.
void check_machines(Elab *, Scope *);    // every machine of the file, for itself
Diagram *machine_diagram(Elab *, Def *); // flat; next values are those of a tick, or rates
void machine_builtins(Elab *);           // the boxes `delay` and `white`

// -- for those who follow a machine inside a diagram ----------------------------------------------
typedef struct {
  bool mortal; // it is there only while a condition holds: a port says so, `while`
  bool halts;  // something around it may stop: a port says so, `stop`
  bool quiet;  // the condition is that of what is around it
  Ids born;    // states that begin as ports say when it is born
  Span span;
} PartLife;
typedef struct { // a machine as it is used
  Def *def;
  struct Env *from; // where its options are written
  const Syntax *config;
  const Axis *pass; // of the arrays of parts that it is in
  uint32_t npass;
  bool generic; // checked for itself: options stay open
  PartLife life;
  Span span;
  MachineTime time;
} MachineUse;
System *system_of(Elab *, const MachineUse *);
// Params of a diagram as params of the one that calls it, for the call.
void called_params(World *, Diagram *to, const Diagram *of, Ids *in);
// x + c h y, or x + c h where y is 0, with h a number for each of the first axes; and
// a + 2 b + 2 c + d
Id step_moved(World *, Diagram *, Id x, double c, Id h, Id y);
Id step_weighed(World *, Diagram *, const Id k[4]);
// Params of `d` that `map` does not have yet stay params of `to`.
void hold_rest(World *, Diagram *to, const Diagram *d, Id *map);

#endif
