// Machines: dynamical systems, alone or wired together.
//
//   System *s = elab_system(in, program, "Ecosystem", NULL);
//
// A system is one flat diagram: inputs and outputs are ports, states are params. A wiring is first
// a lens: from its inputs and the outputs of its parts to its outputs and the inputs of its parts.
// Lens and parts are then connected into one diagram, box by box in topological order. So
// simultaneous update needs no rule, an algebraic loop is a cycle in the graph, and nested wirings
// equal flat ones bit for bit.
#ifndef LIMN_LANG_MACHINE_MACHINE_H
#define LIMN_LANG_MACHINE_MACHINE_H

#include "lang/declare/declare.h"

typedef struct System System;

// A machine with neither rates nor ticks inherits its time from the wiring it is used in.
typedef enum { TIME_OPEN, TIME_FLOWS, TIME_TICKS } MachineTime;

typedef struct {
  Name name;
  Type type;      // with the axes of arrays of parts in front
  uint64_t modes; // bit set of the modes in which it is open; all ones: always
  Span span;
} Port;

typedef struct {
  uint32_t param;   // index in the diagram's params
  const char *path; // worker/w
  Id rate;          // x' = …: the wire of the rate, or 0
  bool constrained; // determined by an algebraic equation, whose residual is `rate`
  Id next;          // next x = …: the wire of the value after a tick; 0: constant
  double every;     // period, in ticks of the whole system or in time; 1: each tick
  bool inner;       // belongs to a learner: recorded only if shown
  bool held;        // trained or used by training: not backpropagated through by `unroll`
  bool reborn;      // of a mortal part: reset at birth
} SystemState;

typedef struct {       // next x = … when …, in continuous time; jump m when …
  Id guard;            // zero-crossing function: the event is a rise through 0
  VEC(uint32_t) state; // indices of the states that are set
  Ids value;           // their new values
  Ids named;           // the elements that are set, as bits; 0: all
  const char *path;    // heater, or a.b.heater
  Name jump;           // the target mode of a jump; 0: none
  uint32_t level;      // nesting depth of the mode: jumps of outer modes win
  bool either;         // the states also have a `next`, for use in discrete time
  bool each;           // a guard for each element of the state, with separate events
  bool birth;          // resets a part; what exists at the start is not born
  bool death;          // the end of a part; sets nothing
  Span span;
} SystemEvent;

#define NO_STATE UINT32_MAX
typedef struct { // next x = … when …, in discrete time, if another line may set the same element
  uint32_t state;   // NO_STATE: a shared variable, set by the sum of what is added
  uint32_t group;   // index of the first writer of the same state
  const char *path; // worker/w
  double every;     // period, as in SystemState
  Id when;          // bit, or a bit for each element; 0: always
  Id named;         // the elements it sets, as bits; 0: all
  Id value;
  Name jump;      // the target mode of a jump; 0: none
  uint32_t level; // nesting depth of the mode: jumps of outer modes win
  Span span;
} SystemWriter;

typedef struct {  // delay[1](x), in continuous time
  uint32_t param; // the input param of the delayed value
  Id value;       // the value to delay
  double time;
  Span span;
} SystemLag;

typedef struct {  // white[3], in a rate
  uint32_t param; // its value for the length of a step
  Span span;
} SystemWhite;

typedef struct { // the mode of a system or a part
  uint32_t state;
  uint64_t stops; // bit set of the labels that stop it
  Id is;          // a bit, or one for each member: it is in such a mode
} SystemHalt;

enum { PART_AXES = 4 };
typedef struct {
  Name name;
  System *of;
  uint32_t axes; // rank of an array of parts; 0: a single part
  Axis axis[PART_AXES];
  double every; // period, in ticks of the whole system or in time
  bool sampled; // `every` is written: it ticks, even if it has conditions only
  Span span;
} Part;

typedef struct {
  uint32_t part; // index + 1; 0: the wiring itself
  uint32_t port; // of a part: output as source, input as target; of the wiring itself the reverse
} PortEnd;

typedef struct {        // the value of one port
  VEC(PortEnd) from;    // ports it reads
  VEC(uint32_t) states; // the wiring's own states it reads, as indices into `own`
  VEC(PortEnd) lines;   // lines it reads: part is an index into `said` + 1, port one of its names
  VEC(uint32_t) asked;  // states the guard reads,
  VEC(PortEnd) asked_ports, asked_lines; // ports of parts and lines the guard reads
  PortEnd to;
  const Syntax *value; // the expression
  const Syntax *guard; // when …, or NULL
  const Syntax *pad;   // … pad 0, or NULL
  const Syntax *at;    // the port, or elements of it: p.v[0]; NULL: all
  bool plain;          // a plain connection: the value is the port, or (NULL) the state
  bool zero;           // an algebraic equation, which determines the state
  bool each;           // x[i] -> p[i].x: each member has its own
} WireRoute;

typedef struct { // a line with a computed value
  VEC(Name) name;
  const Syntax *node; // N_EQUATION
  WireRoute route;    // what it reads
  bool late;          // it contains a delay
} WireLine;

typedef struct {
  PortEnd end;
  Id adds;                 // the wire of the lens with the amount it adds
  const Syntax *at, *call; // v[i+1], of Leak(v[i+1])
} JunctionMember;

typedef struct {
  Name name;
  bool outer;                 // also a port of the wiring
  VEC(JunctionMember) member; // the ports of parts that share it
} Junction;

typedef struct {
  Name name;
  Type type;
  bool learns; // next … by …
  bool late;   // of a delay, without a name of its own
  Span span;
} OwnState;

typedef struct { // a line that a check or show names
  Name name;
  Type own; // without the axes of arrays of parts
  Id wire;
} SystemLine;

typedef struct {
  Name name; // of a part; 0: the system before it was closed or connected to a source
  const System *of;
  const Id *map; // wires of the part to wires of the whole
  bool array;
} SystemInner;

typedef struct { // a wire found by its path: p.a.level
  Name name;
  Id wire;
} SystemInside;

struct System {
  const Def *def;
  Name name;
  Span span;
  Diagram *d; // in, out: the ports; params: states, weights, the clock `time`, delayed values
  VEC(Port) in, out;
  VEC(Name) mode;    // empty: a single mode
  uint64_t stops;    // bit set of the modes that stop it
  uint32_t quiet;    // the number of trailing inputs that are life bits of the system around it
  VEC(OwnState) own; // states declared in its own text
  VEC(SystemState) state; // all, including those of its parts
  VEC(SystemEvent) event;
  VEC(SystemWriter) writer; // grouped by what they set
  VEC(SystemHalt) halt; // when all of these have stopped, nothing changes any more; empty: never
  VEC(SystemLag) lag;
  VEC(SystemWhite) white;
  Id time;       // the wire of the clock `time`, or 0
  bool flows;    // it has a rate somewhere
  bool timeless; // it has delays whose time is inherited
  bool
      shares; // a share: its ports are shared variables; inputs are their values, outputs the rates or differences it adds
  bool
      unordered; // the order of members of an array depends on open sizes: the types of the diagram are right, its boxes are not
  bool wiring;   // a wiring, with the following fields
  VEC(Part) part;
  VEC(SystemInner) inner;
  VEC(SystemLine) line;
  VEC(SystemInside) inside; // wires found by path so far
  VEC(WireRoute) route;
  VEC(WireLine) said; // lines that are read
  VEC(WireRoute)
  move;            // to.port: index into `own`, then `learner`; the update of that state or learner
  WireRoute modes; // what the modes read; to.port: the index of the state `mode` + 1
  VEC(uint32_t) mode_port, mode_state; // ports that modes define, states that they change
  VEC(OwnState) learner;               // learners it owns: next net by …
  VEC(Junction) junction;
  Ids own_param, own_rate, own_next; // of `own`: params and wires of the lens, 0 = none
  uint32_t learnt_from, learnt_to;   // range of states that belong to optimisers
  Diagram *lens; // in: its inputs, then outputs of parts; out: its outputs, then inputs of parts
};

// -- observable values ----------------------------------------------------------------------------
typedef enum { SEES_IN, SEES_OUT, SEES_STATE, SEES_INSIDE } SightKind;
typedef struct {
  Name name; // rabbits, worker.w
  Type type;
  SightKind kind;
  uint32_t at; // index into ports, states or `inside`
} Sight;
typedef VEC(Sight) Sights;
// The ports and states of a system, then the wires found by path.
void system_sights(World *, const System *, Sights *);

// An expression over observable values at one moment.
typedef struct {
  Diagram *diagram; // one output
  Ids sight;        // the observable value of each input
} Seen;

// The same route with lines replaced by what they read; for pictures.
WireRoute route_through(Arena *, const System *, const WireRoute *);

// rates.c: the rates of a continuous system as a diagram. Inputs: ports, states with rates, `time`.
Diagram *system_rates(World *, const System *);
Diagram *system_noisy_rates(World *, const System *); // and each `white`, after `time`
Diagram *system_nexts(World *, const System *);       // the next values of states that step
// One step of fixed length. Additional input: the length, a scalar or one for each leading axis of
// the states; with noise, also its increments. Outputs: the states after the step.
typedef enum { STEP_RK4, STEP_EULER, STEP_MARUYAMA, STEP_MILSTEIN } StepMethod;
Diagram *system_step(World *, const System *, StepMethod, const Type *length);
// The Milstein correction, times two. Inputs as above without the length, then two vectors a, b for
// each `white`; with G the noise coefficient, the derivative of G a along G b.
Diagram *system_correction(World *, const System *);

// chance.c: checks that noise is used only where it can be simulated; `alone`: outputs are not
// checked, since it may become a part. False with a diagnostic.
bool noise_has_place(World *, const System *, bool alone);
// The same for one wire.
bool noise_has_value(World *, const System *, Id wire, const char *name);

// `call`: NULL, or a use such as `Team[3]`, with its options. NULL with a diagnostic.
System *elab_system(Elab *, Program *, const char *name, const Syntax *call);
bool has_machine(Elab *, const Program *, const char *name);

// For the simulator.
const SystemState *first_constrained(const System *); // determined by an equation `0 = …`, or NULL
// The first event that sets a state, or NULL. `either`: one that is a tick in discrete time.
const SystemEvent *event_setting(const System *, uint32_t state, bool either);
Syntax *as_root(World *, const Syntax *cond);   // the zero-crossing function of a condition
int port_named(const Port *, uint32_t n, Name); // its index, or -1
bool check_ticks(Elab *, const System *,
                 Span); // checks that periods in discrete time are whole numbers
// Like elab_system, in a given time; TIME_OPEN: inherited time stays open.
System *system_in(Elab *, Program *, const Syntax *use, MachineTime);
// The time of a system with open delays: that of its states, or `alone`.
MachineTime time_of(const System *, MachineTime alone);
System *system_closed(Elab *, System *); // makes shared variables states of the system
// Adds the states, events etc. of two systems whose diagrams are connected in `both`; `map` maps
// their wires, and those of the second get a path prefix.
void system_woven(World *, System *, const System *, const System *source, Id *const *map,
                  const char *prefix);

// starts.c: a value assigned by elements, as in x[0] = 1, x[i+1] = i.
typedef struct {
  const Syntax *brackets, *value, *pad; // pad may be NULL
  Span span;
} PlaceLine;
typedef VEC(PlaceLine) PlaceLines;
typedef struct {
  const char *what; // for messages
  bool timed;       // may depend on `time`
  Span span;
} ValueWords;
// base: the value of the other elements; INIT_NONE: there are none. NULL with a diagnostic.
Diagram *value_by_places(Elab *, Program *, PlaceLines, const Init *base, const Type *own,
                         const ValueWords *);

// For lang/program.
void check_machines(Elab *, Scope *);    // checks every machine of the file without a use
Diagram *machine_diagram(Elab *, Def *); // flat; next values are those of a tick, or rates
void machine_builtins(Elab *);           // the boxes `delay` and `white`

// -- for lang/machine -----------------------------------------------------------------------------
typedef struct {
  bool mortal; // it exists only while a condition holds: it has an input port `while`
  bool halts;  // the system around it may stop: it has an input port `stop`
  bool quiet;  // the condition is inherited from the system around it
  Ids born;    // states with initial values from ports at birth
  Span span;
} PartLife;
typedef struct { // a use of a machine
  Def *def;
  struct Env *from; // where its options are resolved
  const Syntax *config;
  const Axis *pass; // axes of the arrays of parts it is in
  uint32_t npass;
  bool generic; // elaborated without a use: options stay open
  PartLife life;
  Span span;
  MachineTime time;
} MachineUse;
System *system_of(Elab *, const MachineUse *);
// Adds the params of `of` to `to`, as arguments of a call.
void called_params(World *, Diagram *to, const Diagram *of, Ids *in);
// x + c h y, or x + c h if y is 0, with h a number for each leading axis; and a + 2 b + 2 c + d.
Id step_moved(World *, Diagram *, Id x, double c, Id h, Id y);
Id step_weighed(World *, Diagram *, const Id k[4]);
// Adds the params of `d` that `map` lacks to `to`.
void hold_rest(World *, Diagram *to, const Diagram *d, Id *map);

#endif
