// Private to sim: a system with its memory and the functions that are asked of it.
#ifndef LIMN_RUN_SIM_SIM_OWN_H
#define LIMN_RUN_SIM_SIM_OWN_H

#include "core/pass/rewrite.h"
#include "run/sim/sim.h"

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Arena *arena;
  const System *s;
  const Run *run; // NULL: none, only points are looked at
  const SimOptions *how;
  Store *store;
  Arena *own; // goes with the simulation, and the store with it
  Sights sights;
  double **input;  // [in-port] its number or numbers
  bool *early;     // engines work by prebuilt kernels as long as it holds
  int64_t numbers; // in all wires of the system
  Table *constant; // paths of what the program says, and nothing moves
  bool ticks;      // engines that are made run rows of ticks: noise depends on the tick alone
} Sim;

// sim.c
bool sim_begin(const SimOptions *, Store *); // what begins as another run left it
bool sim_fill(const SimOptions *, Store *);  // then what is trained
bool sim_params(World *, const SimOptions *, const Diagram *, Arena *,
                Tensor *param); // of no system
bool sim_open(Sim *, Elab *, Program *, const System *, const Run *, const SimOptions *);
void sim_close(Sim *);
uint64_t sim_early(const Sim *); // so many steps or ticks are made before a compiler is asked
State *sim_state(const Sim *, uint32_t state);
State *sim_clock(const Sim *, const char *path);         // `time`, a lag; NULL: nothing reads it
const char *sim_state_name(const Sim *, uint32_t state); // as it is written: ball.v
const char *sim_place(const Sim *, uint32_t state, int64_t cell); // one place of it: v[0 1]
const char *sim_place_of(const Sim *, const char *path, const Type *, int64_t cell);
Engine *sim_engine(const Sim *, const Diagram *);
bool sim_run(const Sim *, Engine *, uint64_t step); // false with a diagnostic
// The same where numbers that are not finite are no error.
bool sim_try(const Sim *, Engine *, uint64_t step, bool *finite);
// The diagnostic of the last numbers that were not finite: `what`, or NULL, and then where they come
// from. Always false.
bool sim_blame(const Sim *, Engine *, uint64_t step, const char *what);
bool sim_set(const Sim *, const RunStart *); // an input or a state
int64_t sim_cells(const Sim *, const Type *);
int64_t sim_in_cells(const Sim *, uint32_t port);

// sim_diagrams.c: diagrams made of a system's
// The system up to these wires. Its clocks are states in the store.
Diagram *pick_wires(World *, const System *, const Id *wire, uint32_t n);
// The same before loops are put together.
Diagram *pick_whole(World *, const System *, const Id *wire, uint32_t n);
typedef struct { // what is looked at
  const Sights *sights;
  const uint32_t *sight; // of those
  uint32_t n;
  const Seen *const *seen; // expressions over what can be seen
  uint32_t nseen;
} SightList;
// The system up to what is looked at.
Diagram *pick_seen(World *, const System *, const SightList *);
// `ticks` ticks as one scan. Inputs: the ports, those of `rows` with a row for each tick. Outputs:
// what is looked at in each tick, as rows; behind it, where lines may clash, whether they do; then,
// where it may stop, a number that is 0 if it has.
Diagram *pick_ticks(World *, const System *, int64_t ticks, const bool *rows, const SightList *);
// States that flow as inputs, then tangents of them; the change of the rates.
Diagram *pick_tangent(World *, const System *);
// The same of a tick: states that step, `time`, then tangents; what the states are after it, then
// their changes.
Diagram *pick_tick_tangent(World *, const System *);
// Steps of length h as one scan; the states move. Behind the ports, steps with noise take how far
// each noise goes, with a row for each step.
Diagram *pick_steps(World *, const System *, int64_t steps, double h, StepMethod);

// clashes.c: lines that set one place to different values at one tick
// In a diagram that the system was pasted into: a number that is above 0 where that happens.
Id clash_flag(World *, const System *, Diagram *to, const Id *map, Id time);
// In such a diagram, too: a number that is 0 where everything in it has stopped.
Id going_flag(World *, const System *, Diagram *to, const Id *map);
typedef bool TicksNow(const void *context, const SystemWriter *);
Engine *clash_engine(const Sim *); // what the lines say; NULL: there are none, or with a diagnostic
// False with a diagnostic that names two lines. `when`: "tick 3"
bool clash_told(const Sim *, Engine *, TicksNow *, const void *context, const char *when);

// ticks.c, follow.c
bool follow_ticks(Sim *, uint32_t number, Followed *);
bool follow_flow(Sim *, uint32_t number, Followed *);

// input_table.c: a table of numbers for the inputs, by the names of its columns
int64_t sim_rows(const Run *); // that it wants, each for a tick or a unit of time
bool table_inputs(Sim *, int64_t ticks, bool *rows, double **out);
// Its column `time`, where there is one and no port is called so: *n of them, growing; else *time is
// NULL. False with a diagnostic.
bool table_times(Sim *, const double **time, int64_t *n);
// The same of a set of data, by the names of its fields: its rows for training, in their order.
bool set_inputs(Sim *, int64_t ticks, bool *rows, double **out);

// nested.c: the system as it is nested, part by part, against the flat one
bool verify_nested(Elab *, Program *, const Check *, const SimOptions *, Verdict *);

// verify_boxes.c: both sides of an equation between boxes, on points
bool verify_boxes(World *, const Check *, const SimOptions *, Verdict *);

// structure.c: which number of the outputs depends on which of these inputs, laid side by side; NULL:
// not known
const Pattern *structure_find(World *, Arena *, const Diagram *, uint32_t first, uint32_t n);
bool structure_jumps(const Diagram *); // may what it gives jump?
// Does it only add and multiply? `steps`: or choose between such, by what is held.
bool structure_adds(const Diagram *, bool steps);

// flow.c: rates as functions on rows of numbers
typedef struct Flow Flow;
// NULL with a diagnostic. `holds`: what rates compare is held until a solver turns it.
Flow *flow_open(Sim *, bool holds);
bool flow_rates(void *flow, double t, const double *x, const double *late, double *dx);
// jacobian.c: [n n] row-major
bool flow_jacobian(void *flow, double t, const double *x, const double *late, double *j);
const char *flow_name(void *flow, uint32_t i);

#endif
