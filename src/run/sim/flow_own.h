// Private to sim: a system whose states flow, as a problem for a solver.
#ifndef LIMN_RUN_SIM_FLOW_OWN_H
#define LIMN_RUN_SIM_FLOW_OWN_H

#include "run/sim/brownian.h"
#include "run/sim/sim_own.h"

typedef VEC(int64_t) Counts;

typedef struct {
  State *state;
  uint32_t number; // of the system's states, or lags
  uint32_t offset; // in the row
  int64_t count;
} Flowing;

typedef struct {
  State *state;
  double *value; // [count] what it will be
  uint32_t *by;  // [count] the event that sets it, its number + 1; 0: none
  bool open;     // some event of this moment sets it
} Fresh;         // a state while something happens

// Ports that a table moves: each row is held for one unit of time, or, with times, values run
// straight from row to row.
typedef struct {
  bool *rows;         // [in-port] is it moved?
  double **table;     // [in-port][row cells]
  const double *time; // [n] or NULL
  int64_t n;
  int64_t at;    // the row that holds now, or that was passed last
  double passed; // with times: jumps behind it are still to come
} Driven;

typedef struct {
  Brownian *path;
  int64_t cells, room;
  double *goes; // [cells] in a step
  double *rows; // [room cells] in many
} FlowWhite;

typedef struct {
  double every, by; // the period, as a fraction every / by
  uint64_t done;    // ticks so far
} TickClock;

// The last moment whose numbers were not finite: a step that is only tried may meet such.
typedef struct {
  Engine *e; // that made them; NULL: there were none
  double t;
  double *x, *late;
} OddMoment;

typedef struct { // wires of the system
  Ids rate, late, guard;
} FlowWires;

// What rates compare and is held between two turns: switches.c
typedef struct {
  const Diagram *d; // rates, late values, guards of events; then those of switches, and
  uint32_t rates, lates, guards; // what they are by themselves; NULL: there are none
  Counts cells;                  // of each
  uint32_t n;                    // all cells
  bool *bit;                     // [n] is it a comparison?
  State **held, **loose;         // what it was found to be; is it as it is by itself instead?
  Engine *values;                // what they are
  double *row, *kept;            // [n]
} FlowSwitches;

// Guards over a stretch of time: ranges.c
typedef struct {
  Engine *e;     // what they are at least, and at most; NULL: it cannot be said
  uint32_t outs; // results of each kind
  State **high;  // [flowing] the most that each is; NULL: no guard reads it
  State *time;
} FlowRanges;

typedef struct {
  const char *path, *what; // what: NULL: not yet found
  uint32_t place;          // of the one that was found last
} HappeningName;

struct Flow {
  Sim *m;
  SimRecord *record; // where events are noted; or NULL
  // Is told how all is between two rounds of a moment; or NULL. `rounds`: of this moment, so far.
  void (*between)(void *follower, double t, const double *x, const double *late);
  void *follower;
  uint32_t rounds;
  Problem problem;
  uint32_t n;
  uint32_t events; // those of the system; behind them in the problem's row, switches
  FlowSwitches switches;
  FlowRanges ranges;
  VEC(Flowing) flowing, lag;
  VEC(uint32_t) stepping; // states with a next value
  VEC(TickClock) clock;   // of those: one for each period
  double moment;          // when something happened last; not a number: nothing that still goes on
  double **birth;         // [event][state] what a part is born with, as it was before the moment
  bool *unborn; // [guard] it is there, or not, from the start: it is not born or dies then
  Engine *rates, *guards, *values, *lates, *nexts, *tangent;
  Counts rate_cells, guard_cells, lag_cells;
  State *time;
  double *unit, *column;
  double *value, *mask; // room for the largest state
  uint32_t *named;      // [event][state] the output of `values` with the places it sets; 0: all
  VEC(Fresh) fresh;     // beside each state, where there are events
  Driven *driven;       // or NULL
  Engine *step;         // a whole step, with noise; or NULL
  VEC(FlowWhite) white; // beside each `white`
  uint64_t *draws;      // [guard] how often something of its part and member has happened
  uint32_t *drawer;     // [guard] the first guard of its part and member, which counts for all
  bool *drawn;          // [guard] at this moment
  bool chance;          // what events set is drawn
  Engine *lines;        // that may set one place at one tick; or NULL
  Engine *look;         // what is looked at, whose ports are moved too; or NULL
  double begun;         // up to there, what happens has been noted before
  OddMoment odd;
  bool broken;                   // what happened could not be done: it was said why
  HappeningName *happening_name; // [guard], once something has happened
};

// Runs an engine; its outputs, of so many numbers each, side by side.
bool flow_ask(Flow *, Engine *, const Counts *, double *out);
void flow_put(Flow *, double t, const double *x, const double *late);
// The diagnostic of a solver that stopped where numbers are not finite; always false.
bool flow_blame(Flow *, const char *what);
// noisy_flow.c: steps with white noise, and numbers that events draw
bool flow_noise(Flow *, const Run *); // false with a diagnostic
bool flow_usual_step(Sim *);          // where none is said, the run gets one
StepMethod flow_step_kind(const Run *);
void flow_noise_rows(Flow *, Engine *, uint64_t first, int64_t steps); // for steps as one scan
void flow_draws(Flow *);                                               // opens what events draw
uint64_t flow_draw(Flow *, uint32_t guard);                            // the step of what it draws
void flow_drawn(Flow *, const uint8_t *which);                         // they have happened
bool flow_drive(Flow *);                        // reads the table of the run, if it has one
double flow_next_row(const Flow *, double now); // when the next row begins; infinite: never
void flow_row(Flow *, double t);                // the row that holds from now on
void flow_start(const Flow *, double *x);
bool flow_halted(const Flow *);
// happenings.c
// which: of all guards. place: of the part's state, the only one that is set, + 1; 0: all, or several
Happening flow_happening(Flow *, double t, uint32_t which, uint32_t place);
// births.c
bool flow_births_open(Flow *);
bool flow_births(Flow *, double t); // keeps what is born then, before anything happens
void flow_births_first(const Flow *, uint8_t *which); // all else waits until what is born is there
// clocks.c
void flow_clocks(Flow *);                          // for the states that step
double flow_next_tick(const Flow *, double end);   // when that is; `end` if both are one moment
bool flow_tick(Flow *, double t, const double *x); // all that tick then
// slide_place.c: where it is written that a rate jumps; no file: not found
Span flow_slide_span(Flow *, const SolverSlide *, const double *late);
// switches.c
void switches_find(Flow *, const FlowWires *);
Diagram *switched_rates(const Flow *);
Diagram *switched_lates(const Flow *);
Diagram *switched_guards(const Flow *); // of events, then of switches
bool switches_open(Flow *);             // when the others are
bool switches_turn(void *flow, double t, const double *x, const double *late);
void switches_loosen(void *flow, uint32_t which);
void switches_free(Flow *, bool free);          // all of them, and as they were
void switches_mend(const Flow *, double *turn); // [n] all of them comparable
// ranges.c
void ranges_open(Flow *, const Diagram *conditions);
bool ranges_between(void *flow, const double t[2], const double *const x[2], double *const g[2]);
// jacobian.c: how the rates change when the states change by v.
bool flow_change(void *flow, double t, const double *x, const double *late, const double *v,
                 double *out);
const uint8_t *flow_constrained(const Flow *); // [n] found from an equation? NULL: none is
const Pattern *flow_pattern(void *flow);       // where that can be other than 0; NULL: anywhere

#endif
