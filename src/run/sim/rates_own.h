// Private to sim: a system in continuous time as a problem for the solver.
#ifndef LIMN_RUN_SIM_RATES_OWN_H
#define LIMN_RUN_SIM_RATES_OWN_H

#include "run/sim/brownian.h"
#include "run/sim/sim_own.h"

typedef VEC(int64_t) Counts;

typedef struct {
  State *state;
  uint32_t number; // index among the system's states, or its delays
  uint32_t offset; // in the solver's vector
  int64_t count;
} Flowing;

typedef struct {
  State *state;
  double *value; // [count] the new value
  uint32_t *by;  // [count] the event that sets it, its index + 1; 0: none
  bool open;     // some event of this moment sets the state
} StateUpdate;   // update of a state by the events of one moment

// Inputs from a table: each row is held for one unit of time; with a `time` column, values are
// interpolated linearly.
typedef struct {
  bool *rows;         // [in-port] is it in the table?
  double **table;     // [in-port][row cells]
  const double *time; // [n] or NULL
  int64_t n;
  int64_t at;    // the present row; with times, the row before the present time
  double passed; // with times: discontinuities after this time are still ahead
} TableInputs;

typedef struct {
  Brownian *path;
  int64_t cells, room;
  double *increment;  // [cells] increments over a step
  double *increments; // [room cells] increments over many steps
} FlowWhite;

typedef struct {
  double every, by; // the period, as a fraction every / by
  uint64_t done;    // number of ticks so far
} TickClock;

// The last point at which values were not finite. A trial step of the solver may meet such points.
typedef struct {
  Engine *e; // that computed them; NULL: none
  double t;
  double *x, *delayed;
} NonFinitePoint;

typedef struct { // wires of the system
  Ids rate, delayed, guard;
} FlowWires;

// switches.c: discontinuities of the rates, held between events
typedef struct {
  // Rates, delayed values, guards of events; then guards and values of switches. NULL: there are no
  // switches.
  const Diagram *d;
  uint32_t rates, to_delay, guards;
  Counts cells;          // of each output
  uint32_t n;            // number of switches
  bool *bit;             // [n] is it a comparison?
  State **held, **loose; // present value of each switch; is it released, that is, evaluated
                         // instead?
  Engine *values;        // evaluates all switches
  double *row, *kept;    // [n]
} FlowSwitches;

// ranges.c: bounds of guards over an interval of time
typedef struct {
  Engine *e;     // lower and upper bounds; NULL: not known
  uint32_t outs; // number of outputs of each kind
  State **high;  // [flowing] upper end of each state; NULL: no guard reads it
  State *time;
} FlowRanges;

typedef struct {
  const char *path, *what; // what: NULL: not computed yet
  uint32_t place;          // the element in the last name
} EventNames;

struct Flow {
  Sim *m;
  SimRecord *record; // the log of events; or NULL
  // Called between two rounds of events of one moment; or NULL. `rounds`: rounds of this moment so
  // far.
  void (*between)(void *follower, double t, const double *x, const double *delayed);
  void *follower;
  uint32_t rounds;
  Problem problem;
  uint32_t n;
  uint32_t events; // events of the system; in the solver's row, switches follow
  FlowSwitches switches;
  FlowRanges ranges;
  VEC(Flowing) flowing, lag;
  VEC(uint32_t) stepping; // states with a next value
  VEC(TickClock) clock;   // one for each period of these states
  double moment;          // the last moment with events; NAN: none yet
  double **birth;         // [event][state] initial value of a born part, computed before the events
                          // of the moment
  bool *
      true_at_start; // [guard] the condition of a birth or death already holds at the start, so the
                     // first event is no birth or death
  Engine *rates, *guards, *values, *to_delay, *nexts, *tangent;
  Counts rate_cells, guard_cells, lag_cells;
  State *time;
  double *unit, *column;
  double *value, *mask; // buffers for the largest state
  uint32_t *named;      // [event][state] the output of `values` with the mask of set elements; 0:
                        // all are set
  VEC(StateUpdate) updates;  // one for each state, if there are events
  TableInputs *table_inputs; // or NULL
  Engine *step;              // a whole step with noise; or NULL
  VEC(FlowWhite) white;      // one for each `white`
  uint64_t *event_count;     // [guard] number of earlier events of its part and member
  uint32_t *first_guard;     // [guard] the first guard of its part and member, whose count is used
  bool *had_event;           // [guard] has an event occurred at this moment?
  bool chance;               // events set random values
  Engine *lines;             // evaluates lines that may conflict at a tick; or NULL
  Engine *observer;          // evaluates observed values, and has the same inputs; or NULL
  double begun;              // events up to this time were logged by the earlier run
  NonFinitePoint nonfinite;
  bool broken;             // an event could not be applied; reported
  EventNames *event_names; // [guard] made when an event is first logged
};

Ids flow_rate_wires(const Flow *); // of the system, in the order of the vector
// Runs an engine and concatenates its outputs.
bool flow_run_engine(Flow *, Engine *, const Counts *, double *out);
void flow_set_point(Flow *, double t, const double *x, const double *delayed);
// Reports that the solver stopped because values were not finite; always false.
bool flow_report_nonfinite(Flow *, const char *what);
// noise.c: steps with white noise, and random values of events
bool flow_noise(Flow *, const Run *); // false with a diagnostic
bool flow_default_step(Sim *);        // chooses the step if the run does not give one
StepMethod flow_step_kind(const Run *);
void flow_noise_rows(Flow *, Engine *, uint64_t first, int64_t steps); // for steps as one scan
void flow_open_draws(Flow *);                         // opens random values of events
uint64_t flow_event_key(Flow *, uint32_t guard);      // the random number key of an event
void flow_count_events(Flow *, const uint8_t *which); // counts events
bool flow_open_table(Flow *);                         // reads the table of the run, if any
double flow_next_row(const Flow *, double now);       // time of the next row; infinite: none
void flow_select_row(Flow *, double t);               // selects the row that starts at this time
void flow_start(const Flow *, double *x);
bool flow_halted(const Flow *);
// -- event_log.c
// which: index among all guards. place: the only element set in the part's state, + 1; 0: all, or
// several
LoggedEvent flow_log_entry(Flow *, double t, uint32_t which, uint32_t place);
// births.c
bool flow_births_open(Flow *);
bool flow_births(Flow *, double t); // computes the initial states of births, before any event of
                                    // the moment
void flow_mask_before_births(const Flow *,
                             uint8_t *which); // all other events wait until births are done
// clocks.c
void flow_clocks(Flow *); // for states that change at ticks
double flow_next_tick(const Flow *,
                      double end); // time of the next tick; `end` if both are the same moment
bool flow_tick(Flow *, double t, const double *x); // all ticks of this moment
// slide_location.c: the expression at which a rate jumps; no file: not found
Span flow_slide_span(Flow *, const SolverSlide *, const double *delayed);
// switches.c
void switches_find(Flow *, const FlowWires *);
Diagram *switched_rates(const Flow *);
Diagram *switched_to_delay(const Flow *);
Diagram *switched_guards(const Flow *); // of events, then of switches
bool switches_open(Flow *);             // after the other engines
bool switches_turn(void *flow, double t, const double *x, const double *delayed);
void switches_release(void *flow, uint32_t which);
void switches_release_all(Flow *, bool free);          // releases all switches, or restores them
void switches_replace_nan(const Flow *, double *turn); // [n] replaces NAN
// ranges.c
void ranges_open(Flow *, const Diagram *conditions);
bool ranges_between(void *flow, const double t[2], const double *const x[2], double *const g[2]);
// jacobian.c: the directional derivative of the rates along v.
bool flow_change(void *flow, double t, const double *x, const double *delayed, const double *v,
                 double *out);
const uint8_t *flow_constrained(const Flow *); // [n] is it found by an algebraic equation? NULL:
                                               // none is
const Pattern *flow_pattern(void *flow);       // sparsity of the Jacobian; NULL: dense

#endif
