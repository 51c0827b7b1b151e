// A solver for ordinary differential equations with events, delays and algebraic equations.
//
//   Solver *s = solver_new(arena, &problem, &(SolveOptions){.method = SOLVE_DORMAND}, 0, start);
//   while (solver_step(s, end)) … solver_at(s, t, x) for any t inside the last step …
//   if (solver_error(s)) …
//
// Independent of the language: the state is a vector with functions on it. Time never decreases.
// Between steps the solution is known by dense output of the order of the method; events, delayed
// values and recorded moments are found on it. `end` shortens a step, so it should be the end of
// the run; recorded moments are read by solver_at, and then do not affect the steps.
#ifndef LIMN_RUN_SOLVE_SOLVE_H
#define LIMN_RUN_SOLVE_SOLVE_H

#include "base/base.h"

typedef struct { // sparsity of a square matrix
  uint32_t n;
  const uint32_t *start, *row; // rows of column c: row[start[c]] … row[start[c + 1] - 1],
                               // increasing
} Pattern;

typedef struct {
  uint32_t from, to;
} NumberRange;

typedef struct {
  void *context;
  uint32_t n;       // size of the state
  uint32_t delayed; // number of delayed values, which all functions below get
  uint32_t events;
  // x[n], delayed[delayed] -> dx[n]. False: cannot be computed, and the solver stops with an error. A
  // rate that is not finite asks for a shorter step.
  bool (*rates)(void *context, double t, const double *x, const double *delayed, double *dx);
  // The derivative of the rates in direction v: out[n]. NULL: by differences.
  bool (*change)(void *context, double t, const double *x, const double *delayed, const double *v,
                 double *out);
  // Row r of column c: rate r may depend on component c. NULL, or gives NULL: dense.
  const Pattern *(*pattern)(void *context);
  bool timeless; // the rates do not depend on t
  bool jumps;    // the rates may jump where no switch turns: a pulse may be anywhere
  bool adds;     // the rates are polynomials of t and x: no pulse hides between samples
  // [n] 1: an algebraic variable: its entry of `rates` is an equation that equals 0. NULL: none.
  // Only for the stiff method.
  const uint8_t *constrained;
  // One number for each event, which happens when it rises through 0 from at or below, or if it is
  // above 0 at the start. If it is still above 0 after its event, it has to fall first.
  bool (*guards)(void *context, double t, const double *x, const double *delayed, double *g);
  // Bounds of the guards, g[2][events], while t and x are within bounds; NAN: unknown. False:
  // cannot be computed; NULL: never known.
  bool (*between)(void *context, const double t[2], const double *const x[2], double *const g[2]);
  // The last events are switches: values that rates compare, and that are held between events. Such
  // an event sets nothing: all switches get their present values. A switch that turns so often that
  // time hardly advances is released: its guard stays down, and the rates may jump.
  uint32_t switches;
  bool (*turn)(void *context, double t, const double *x, const double *delayed);
  void (*release)(void *context, uint32_t which); // which: index among the switches
  const NumberRange *guarded; // [nguarded] the components of x that guards read; NULL: all
  uint32_t nguarded;
  bool guards_add; // guards are polynomials, like `adds`
  // Applies all events of one round at once: which[events]. All read x as it was before; then x is
  // changed in place. Events removed from `which` have not happened; they happen in the next round
  // if their guard is still above 0. False: stop here, without an error.
  bool (*happen)(void *context, double t, uint8_t *which, const double *delayed, double *x);
  // Delayed values: lag[delayed], each above 0, and `to_delay`, which computes the expressions that will
  // be delayed. Before the start they have their value at the start.
  const double *lag;
  bool (*to_delay)(void *context, double t, const double *x, const double *delayed, double *value);
  // SOLVE_GIVEN: the problem's own step of length h, from x to next.
  bool (*step)(void *context, double t, double h, const double *x, const double *delayed,
               double *next);
  const char *(*name)(void *context, uint32_t i); // of component i, for messages; may be NULL
  const char *(*event_name)(void *context, uint32_t which); // as in a message
} Problem;

typedef enum { SOLVE_DORMAND, SOLVE_RK4, SOLVE_EULER, SOLVE_STIFF, SOLVE_GIVEN } Method;
typedef struct {
  Method method;
  double relative, absolute; // tolerances of the error of a step; 0: 1e-9, 1e-12
  double step;               // RK4, EULER: fixed; otherwise the first step, 0: chosen
  double largest;            // largest step; 0: no limit
  double look;    // longest distance between evaluations of rates and guards; 0: no limit
  uint64_t steps; // most steps, including rejected ones; 0: 10 million
  uint32_t storm; // most events of one kind in a unit of time; 0: 10000
  bool goes_on;   // solver_archive follows, which restores everything
} SolveOptions;

// The interpolation error of five equidistant values: their deviation from a polynomial of degree
// 3, and that of a sixth value, at CURVE_PROBE of the interval, from the polynomial of degree 4.
#define CURVE_PROBE 0.37
double interpolation_error(const double x[6]);
// Decides whether an interval is halved. Always, for the first few levels; then around a single
// bend or jump, which is in one half; if both halves oscillate, only as often as `oscillations` allows
// (then SPENT); and not for rounding noise, or functions that are rough at every scale (ROUGH:
// taken as it is, and values between samples are unknown).
typedef enum { HALVES_WHOLE, HALVES_SPLIT, HALVES_LOST, HALVES_SPENT, HALVES_ROUGH } HalvesEnd;
#define HALVES_OSCILLATIONS (1u << 18) // per run: more than 100 000 oscillations
typedef struct {
  void *context;
  // Samples an interval: is it smooth? False: give up. The last samples are kept.
  bool (*sample)(void *context, double from, double to, bool *smooth);
  bool (*matters)(void *context); // may it contain what is searched? NULL: always
  uint32_t *oscillations;         // how many more intervals may be halved because both halves
                                  // oscillate
} Halves;
// Is it taken whole (then its samples were taken last), or halved? `deep`: number of halvings so
// far.
HalvesEnd halves_or_whole(const Halves *, double from, double to, int deep);
// The maximum of the parabola through three points; false: not between them.
bool parabola_vertex(const double t[3], const double x[3], double *top, double *height);

typedef struct Solver Solver;
Solver *solver_new(Arena *, const Problem *, const SolveOptions *, double t, const double *x);
// One step, at most to `end` (exactly to it if it gets that far). It ends early at an event: then
// all events of that moment have happened, in rounds, and the state is the one after them. Events
// at the start are a step of length 0. False at `end`, or after an error.
bool solver_step(Solver *, double end);
// At the last moment: events that would happen within `by` after it happen now, as a step of length
// 0. False: none, or an error.
bool solver_events_at_end(Solver *, double by);
// Handles events at the present moment, without advancing time; repeat until false.
bool solver_events_now(Solver *);
// The state at `by` after now, by linear extrapolation. False: none.
bool solver_extrapolate(Solver *, double by, double *x);
// Notifies that other inputs of the functions have changed at this moment.
void solver_inputs_changed(Solver *);
double solver_time(const Solver *);
const double *solver_state(const Solver *);
double solver_from(const Solver *);                  // start of the last step
void solver_at(const Solver *, double t, double *x); // inside the last step, before its event
const double *solver_delayed(Solver *,
                             double t); // delayed values; at the end of the step, after its
                                        // event
// Delayed values of the last step, which at its end are those before the event or the break there.
const double *solver_delayed_inside(Solver *, double t);
bool solver_broke(const Solver *); // did delayed values jump or bend at the end of the last step?
// Did the last step end with an event? *which: the first one.
bool solver_happened(const Solver *, uint32_t *which);
bool solver_limited(const Solver *);         // did `end` shorten the last step, or a trial of it?
const char *solver_error(const Solver *);    // a sentence, or NULL
bool solver_ended_nonfinite(const Solver *); // was the error that rates or guards are not finite?
typedef struct { // a component whose rate jumps, and leads back to the jump from both sides
  uint32_t number;
  double t;
  const double *side[2]; // [n] right before and after the jump
} SolverSlide;
const SolverSlide *solver_slide(const Solver *); // was the error sliding? Otherwise NULL
const char *solver_note(const Solver *);         // a remark on the run, a sentence, or NULL
const char *solver_unsure(const Solver *);       // which events could not be decided, or NULL
uint64_t solver_count(const Solver *, uint64_t *rejected, uint64_t *rates); // number of steps

// archive.c: serialisation. The same walk writes and reads.
typedef struct {
  Arena *arena;
  bool reading;    // true: read; false: write
  VEC(double) row; // all of it, in the order of the walk
  uint32_t at;     // read: position
  bool wrong;      // read: the data do not fit this walk
} Archive;
void archive_reals(Archive *, double *x, uint64_t n);
void archive_bytes(Archive *, void *x, uint64_t n); // flags
void archive_counts(Archive *, uint64_t *x, uint64_t n);
void archive_counts32(Archive *, uint32_t *x, uint64_t n);
void archive_text(Archive *, const char **text); // or NULL
uint64_t archive_same(Archive *, uint64_t n);    // a number that must be equal when read
// Everything that the next step depends on. A solver that reads it was made for the same problem
// and method; if its fixed step has another size, steps are counted from this moment.
void solver_archive(Solver *, Archive *);

#endif
