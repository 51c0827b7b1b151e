// Private to sim: a system with its memory, and its functions.
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
  const Run *run; // NULL: none, only points are evaluated
  const SimOptions *how;
  Store *store;
  Arena *own; // freed with the simulation, and the store with it
  Sights sights;
  double **input;  // [in-port] its values
  bool *prebuilt;  // engines use prebuilt kernels while this holds
  int64_t numbers; // cells of all wires of the system
  Table *constant; // paths of constants of the program
  bool ticks;      // engines run many ticks at once: noise depends on the tick alone
} Sim;

// sim.c
bool sim_begin(const SimOptions *, Store *); // sets states that another run left
bool sim_fill(const SimOptions *, Store *);  // then sets trained weights
bool sim_params(World *, const SimOptions *, const Diagram *, Arena *,
                Tensor *param); // of no system
bool sim_open(Sim *, Elab *, Program *, const System *, const Run *, const SimOptions *);
void sim_close(Sim *);
uint64_t
sim_prebuilt_runs(const Sim *); // steps or ticks with prebuilt kernels, before the compiler is
                                // used
State *sim_state(const Sim *, uint32_t state);
State *sim_clock(const Sim *, const char *path);         // `time`, or a delay; NULL: not read
const char *sim_state_name(const Sim *, uint32_t state); // the name in the program: ball.v
const char *sim_place(const Sim *, uint32_t state, int64_t cell); // one element: v[0 1]
const char *sim_place_of(const Sim *, const char *path, const Type *, int64_t cell);
Engine *sim_engine(const Sim *, const Diagram *);
bool sim_run(const Sim *, Engine *, uint64_t step); // false with a diagnostic
// The same, but values that are not finite are no error.
bool sim_run_trial(const Sim *, Engine *, uint64_t step, bool *finite);
// Reports where values that were not finite in the last run come from. what: the message, or NULL.
// Always false.
bool sim_report_nonfinite(const Sim *, Engine *, uint64_t step, const char *what);
bool sim_set(const Sim *, const RunStart *); // an input or a state
int64_t sim_cells(const Sim *, const Type *);
int64_t sim_in_cells(const Sim *, uint32_t port);

// -- sim_diagrams.c: diagrams derived from a system's
// The part of the system that these wires depend on. Its clocks are states in the store.
Diagram *pick_wires(World *, const System *, const Id *wire, uint32_t n);
// The same, before loop fusion.
Diagram *pick_whole(World *, const System *, const Id *wire, uint32_t n);
Id sight_wire(const System *, const Sight *); // the wire of the system that is observed
typedef struct {                              // what is observed
  const Sights *sights;
  const uint32_t *sight; // indices of these
  uint32_t n;
  const Seen *const *seen; // expressions over observables
  uint32_t nseen;
} SightList;
// The part of the system that observed values depend on.
Diagram *pick_seen(World *, const System *, const SightList *);
// `ticks` ticks as one scan. Inputs: the ports; those in `rows` have a row for each tick. Outputs:
// observed values as rows; then the number of write conflicts, if lines may conflict; then a number
// that is 0 if the system has stopped, if it may stop.
Diagram *pick_ticks(World *, const System *, int64_t ticks, const bool *rows, const SightList *);
// Inputs: states with rates, then their tangents. Outputs: the tangents of the rates.
Diagram *pick_tangent(World *, const System *);
// The same for a tick. Inputs: states with next values, `time`, then tangents. Outputs: the next
// states, then their tangents.
Diagram *pick_tick_tangent(World *, const System *);
// Steps of length h as one scan, which advances the states. With noise, inputs after the ports are
// the increments of each noise, with a row for each step.
Diagram *pick_steps(World *, const System *, int64_t steps, double h, StepMethod);

// -- write_conflicts.c: lines that set one element to different values at one tick
// In a diagram with the system inlined: a number above 0 if lines conflict.
Id conflict_flag(World *, const System *, Diagram *to, const Id *map, Id time);
// Likewise: a number that is 0 if the whole system has stopped.
Id going_flag(World *, const System *, Diagram *to, const Id *map);
typedef bool TicksNow(const void *context, const SystemWriter *);
Engine *conflict_engine(const Sim *); // evaluates the lines; NULL: there are none, or with a
                                      // diagnostic
// Reports which two lines conflict; always false. `when`: "tick 3"
bool conflict_report(const Sim *, Engine *, TicksNow *, const void *context, const char *when);

// discrete.c, continuous.c
bool follow_ticks(Sim *, uint32_t number, Followed *);

// -- table_inputs.c: inputs from a table, by the names of its columns
int64_t sim_rows(const Run *); // number of rows needed, one for each tick or unit of time
bool table_inputs(Sim *, int64_t ticks, bool *rows, double **out);
// The column `time`, if it exists and is no port: *n increasing times; otherwise *time is NULL.
// False with a diagnostic.
bool table_times(Sim *, const double **time, int64_t *n);
// The same for a data set, by the names of its fields: its rows for training, in order.
bool set_inputs(Sim *, int64_t ticks, bool *rows, double **out);

// nested.c: compares the nested system with the flattened one
bool verify_nested(Elab *, Program *, const Check *, const SimOptions *, Verdict *);

// verify_boxes.c: the number of values of a label or bit; 0: reals
int64_t values_of(World *, const Type *);
// Number `element` of input `number`: value by value from *rest, or (NULL) random.
double case_value(int64_t values, uint64_t seed, uint64_t number, uint64_t element, uint64_t *rest);
// Evaluates both sides of an equation between boxes on points
bool verify_boxes(World *, const Check *, const SimOptions *, Verdict *);

// structure.c: the sparsity of the Jacobian of the outputs by inputs first … first + n - 1, all
// concatenated; NULL: not known
const Pattern *structure_find(World *, Arena *, const Diagram *, uint32_t first, uint32_t n);
bool structure_jumps(const Diagram *); // may its outputs be discontinuous?
// Does it only add and multiply? `steps`: or select by held comparisons.
bool structure_adds(const Diagram *, bool steps);

// rates.c: rates as functions of vectors
typedef struct Flow Flow;
// NULL with a diagnostic. `holds`: comparisons in rates are held until the solver finds that they
// turn.
Flow *flow_open(Sim *, bool holds);
bool flow_rates(void *flow, double t, const double *x, const double *delayed, double *dx);
// jacobian.c: [n n] row-major
bool flow_jacobian(void *flow, double t, const double *x, const double *delayed, double *j);
const char *flow_name(void *flow, uint32_t i);

#endif
