// Private to solve: the state of a solver.
//
// A step is tried from (t, x, rate) to `next`; if it is accurate enough, its dense output is made,
// events are located on it, delayed values are stored, and the solver advances. All vectors are
// allocated when the solver is made.
#ifndef LIMN_RUN_SOLVE_SOLVE_OWN_H
#define LIMN_RUN_SOLVE_SOLVE_OWN_H

#include "run/solve/solve.h"

// dense.c: a step as a polynomial of degree 4, with q = (t - from) / h and p = 1 - q:
//   x(t) = part0 + q (part1 + p (part2 + q (part3 + p part4)))
typedef struct {
  double from, h;
  double *part; // [5 n]
} Dense;
void dense_at(const Dense *, uint32_t n, double t, double *x);
// Only these components.
void dense_part(const Dense *, uint32_t n, NumberRange, double t, double *x);
// Bounds of these components from t[0] to t[1].
void dense_range(const Dense *, uint32_t n, NumberRange, const double t[2], double *low,
                 double *high);
double dense_one(const Dense *, uint32_t n, uint32_t i, double t);
void dense_constant(Dense *, uint32_t n, double t, const double *x); // constant x, from t on
// The cubic through both ends and their slopes; part4 is 0.
typedef struct { // values and slopes at both ends of a step
  const double *x, *next, *slope, *slope_next;
} StepEnds;
void dense_hermite(Dense *, uint32_t n, double t, double h, StepEnds);
// The quartic through five equidistant values, [5 n].
void dense_quartic(Dense *, uint32_t n, double t, double h, const double *five);

// -- root.c: the first time at which one of n functions of time rises through 0 -------------------
typedef struct {
  uint32_t n;
  bool (*at)(void *context, double t, double *g); // false: give up
  // Bounds over t[0] to t[1]; NAN: unknown. NULL: never known. False: give up.
  bool (*between)(void *context, const double t[2], double *const g[2]);
  double *bound[2]; // [n] those bounds
  double *side[3];  // [n] values at both ends and in the middle of an interval
  uint32_t looks;   // remaining evaluations of such intervals in the run
  void *context;
  uint8_t *live;  // [n] was at or below 0 since its last crossing; updated during the walk
  double *noise;  // [n] rounding error: it must fall below 0 by more
  bool noisy;     // some `noise` is or was nonzero
  uint8_t *falls; // [n] its event turned it back: it has to fall below its noise
  uint32_t lost;  // one that had to fall, and rose instead: its index + 1; 0: none
  double *barely; // [n] its event happened, and it has not risen above this since: unless it falls
                  // below 0 by as much, that may be the error of the states; 0: it has risen
  bool uncertain; // some `barely` is or was nonzero
  double *row[6]; // [n] each; row[0] has the values at `from` on entry, and those at the end of the
                  // walk on exit: at the result, or at `to`
  double *beside; // [n] scratch
  double first, last;     // the interval
  double longest;         // longest interval that is not halved
  double begin;           // during the walk: the time of row[0]
  uint32_t *oscillations; // as in Halves
  uint32_t rough;         // the first that is rough at every scale: its index + 1; 0: none
  double rough_from;      // time of that
  uint32_t oscillating;   // one that oscillates when `oscillations` is 0: its index + 1; 0: none
} Root;
typedef enum {
  ROOT_NONE,
  ROOT_FOUND,
  ROOT_LOST
} RootEnd; // LOST: a function gave up, or oscillates
// `close`: also sample densely after `from`, where a second event may follow.
RootEnd root_walk(Root *, double from, double to, bool close, double *when);

// -- delays.c: stored values for delays -----------------------------------------------------------
typedef enum { SIDE_LEFT, SIDE_RIGHT } Side; // left or right limit at a jump
typedef struct {
  double t;
  uint32_t order; // number of delays it has passed, each of which makes it smoother
} BreakPoint;
typedef struct {
  double start, longest, shortest;
  uint32_t smooth;        // order after which a discontinuity is ignored
  double *first;          // [delayed] values before the start
  VEC(double) lag;        // without duplicates
  Dense *ring;            // [cap] delayed values of each step; the oldest at `head`
  uint32_t cap, n;        // capacity, and number of stored steps
  uint64_t head;          // number of the oldest step; stored at head % cap
  uint64_t *cursor;       // [delayed] number of the step that was read last
  double *five;           // [5 delayed]
  double *sixth;          // [delayed] samples between them
  Dense trial;            // the polynomial through the five
  VEC(BreakPoint) breaks; // breaking points, at which a step must end; the next one last
} History;

typedef struct {
  double gap, first; // interval between its last two events; the first of a shrinking sequence
  double since;      // start of that sequence
  uint32_t shrinks;
} EventPace; // intervals between events of one kind

typedef struct SolverStepper SolverStepper;
typedef struct Stiff Stiff;
typedef struct SlideWatch SlideWatch;
typedef struct GuardLook GuardLook;
struct Solver {
  Arena *arena;
  uint32_t oscillations;    // remaining halvings of oscillating intervals
  double *lowest, *highest; // [n] bounds of the state over an interval, for bounds of guards
  Problem problem;
  SolveOptions how;
  const SolverStepper *stepper;
  uint32_t n;
  double t, from;
  double *x;                // [n] at t
  double *rate;             // [n] at t, if `known`
  double *next, *next_rate; // [n] at the end of the tried step
  double *trial;            // [n] at a stage; Dormand–Prince: at its last inner one
  double *look;             // [n] point on the dense output
  double *before;           // [n] before the last jump, for algebraic equations
  double *delayed;          // [delayed] at the last delays_read
  double *k[8];             // [n] stages
  Dense dense;
  bool known;          // is `rate` valid?
  bool restarted;      // first step, or first after an event
  double h;            // length wanted for the next step
  double known_length; // recent length of steps that were checked for pulses
  double next_event;   // estimated time of the next event; or infinite
  double anchor;       // fixed steps: step `ticks` ends at anchor + ticks * step
  uint64_t ticks;
  double error;     // of the tried step, relative to the tolerance
  double log_error; // of the step before, as a logarithm
  uint32_t worst;   // the component with the largest error
  bool rejected;    // the step before was rejected
  bool nonfinite;   // a rate was not finite: of this component, at this time
  uint32_t odd_number;
  double odd_time;
  uint32_t stiff_hits, stiff_misses; // dormand.c
  Stiff *stiff;
  SlideWatch *slides;
  const SolverSlide *slide; // why the solver stopped; or NULL
  History *history;
  Root guard;                       // root search of guards on the dense output
  double *guard_now;                // [events] at t, x
  uint8_t *armed, *fired;           // [events] may happen; happens in this round
  double *event_last, *event_since; // [events] time of the last event; start of its count
  uint32_t *event_quick, *event_count;
  uint32_t *event_rounds; // [events] how often it happened at this moment
  EventPace *pace;        // [events]
  GuardLook *guard_look;  // zeno.c; or NULL
  bool happened, stopped, begun;
  bool turned;      // the last step ended with an event, or a switch turned
  bool broke;       // the last step ended at a breaking point of delayed values
  bool released;    // some switch was released
  bool events_done; // the events at t have happened
  bool limited;     // `end` has limited the last step
  uint32_t first_event;
  uint64_t steps, rejections, rates;
  const SolverStepper *next_stepper; // the method from the next step on; or NULL
  const char *message, *note;
};

// A method.
struct SolverStepper {
  const char *name;
  uint32_t stages;                   // number of rows of `k`
  bool fixed;                        // fixed step, no error estimate
  bool gives_rate;                   // computes next_rate in each step
  bool given;                        // a step by the problem: no rates, and linear dense output
  double exponent;                   // error ~ h^(1/exponent)
  bool (*try)(Solver *, double h);   // computes next and error; false: stop
  void (*dense)(Solver *, double h); // dense output of the step just tried
  // Called for each accepted step; may be NULL; false: stop.
  bool (*accepted)(Solver *, double h, double end);
  // Converts a deviation of the rates in the step just tried to an error of the state; NULL: h
  // times.
  void (*error_of)(Solver *, double *off);
};
extern const SolverStepper dormand_stepper, rk4_stepper, euler_stepper, stiff_stepper,
    given_stepper;
extern const SolverStepper *const solver_steppers[]; // [Method]

// -- solve.c: for the steppers --------------------------------------------------------------------
bool solver_fail(Solver *, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool solver_rates(Solver *, double t, const double *x, Side, double *dx);
const char *solver_name(const Solver *, uint32_t i);
void solver_stages(Solver *, uint32_t n); // allocates rows of `k`
// Switches to the stiff method from the next step on.
void solver_stiffen(Solver *, const char *note);
// Allowed error of a component of that size, in a step.
double solver_allowed(const Solver *, double size);
// The maximum of |e| relative to the allowed error for a step from x to next, into `error` and
// `worst`.
void solver_norm(Solver *, const double *e, const double *next);
// Records the first rate that is not finite.
void solver_note_nonfinite(Solver *, double t, const double *rate);
// pulses.c: checks a step with a very small error between its stages, and updates `error`. False:
// stop.
bool step_check_pulses(Solver *, double h);
// stiff.c
void stiff_new(Solver *);
// Factors the Jacobian of the equations by the algebraic variables at (t, x). False: singular, or
// an error.
bool stiff_factor_algebraic(Solver *);
bool stiff_is_lost(const Solver *);    // the last step was not tried: its Jacobian is not finite
void stiff_solve(Solver *, double *b); // with the last factors
void stiff_row_sizes(const Solver *, double *x); // *of: some pivot is so small that the solution is
                                                 // unreliable
// slide.c
// At the start of a step, and after a rejected one; false: it slides, with an error.
bool slide_watch(Solver *);
bool slide_rejected(Solver *, double h);
void slide_archive(Solver *, Archive *);
// algebraic.c
void algebraic_before_jump(Solver *);  // before x jumps
bool solver_solve_algebraic(Solver *); // solves the algebraic equations at (t, x)
// pattern.c
Pattern *pattern_full(Arena *, uint32_t n);
Pattern *pattern_transposed(Arena *, const Pattern *); // transposed
// Column colouring: columns without a common row may have one colour, group[n]. Gives the number of
// colours.
uint32_t pattern_colours(Arena *, const Pattern *, uint32_t *group);
// order.c
typedef struct {
  uint32_t below, above; // number of diagonals on each side
} Band;
Band order_band(Arena *, const Pattern *, uint32_t *order);    // gives the band in that order
double order_least(Arena *, const Pattern *, uint32_t *order); // gives the number of operations
// matrix.c: factors diagonal - share J, by rows; J has its values as in matrix_pattern
typedef struct Matrix Matrix;
typedef enum { MATRIX_DENSE, MATRIX_BAND, MATRIX_SPARSE } MatrixWay;
Matrix *matrix_new(Arena *, const Pattern *);
const Pattern *matrix_pattern(const Matrix *); // the given pattern with the diagonal
MatrixWay matrix_way(const Matrix *, Band *);
bool matrix_factor(Matrix *, const double *j, const double *diagonal, const double *share);
void matrix_solve(Matrix *, double *b);
// band.c
size_t band_width(Band); // of a row
bool band_factor(uint32_t n, Band, double *a, uint32_t *swap);
void band_solve(uint32_t n, Band, const double *a, const uint32_t *swap, double *x);
// sparse.c: value[places of the pattern]; columns, and rows if possible, in this order
typedef struct SparseFactor SparseFactor;
SparseFactor *sparse_new(Arena *, const Pattern *, const uint32_t *order);
bool sparse_factor(SparseFactor *, const double *value);
void sparse_solve(const SparseFactor *, double *b);
// lu.c: a[n n] row-major, overwritten by L and U, rows exchanged by swap[n]; false: singular
bool lu_factor(uint32_t n, double *a, uint32_t *swap);
void lu_solve(uint32_t n, const double *a, const uint32_t *swap, double *b);
// delays.c
bool delays_begin(Solver *);
bool delays_settle(Solver *);               // algebraic variables and delayed values at the start
void delays_read(Solver *, double t, Side); // writes s->delayed
// Delayed values at t of the last step, which include those at its end before a break there.
void delays_read_inside(Solver *, double t);
bool delays_store(Solver *, double to); // stores delayed expressions of the step from t to
                                        // `to`
void delays_jump(Solver *);             // the state has jumped at t
bool delays_at_break(Solver *);         // was t a breaking point?
double delays_next_break(const Solver *, double end); // the next breaking point, or end
void delays_archive(Solver *, Archive *);
// zeno.c
// The event happens: its guard crossed 0 in continuous time, or was lifted by another event of this
// moment.
void zeno_happens(Solver *, uint32_t event, bool crossed);
bool zeno_settled(Solver *); // after all events of this moment; false: with an error
bool zeno_is_lost(const Solver *, uint32_t event); // its guard rose again without having fallen
bool zeno_shrinks(const Solver *, uint32_t event); // its intervals shrink geometrically

// events.c
void events_new(Solver *);
// The guards of all events at any point.
bool events_guards(Solver *, double t, const double *x, Side, double *g);
bool events_turn(Solver *);                 // switches get their values at (t, x)
double events_estimate(Solver *, double h); // estimated time to the next event within h, by linear
                                            // extrapolation; or infinite
bool solver_fail_oscillation(Solver *, const char *what,
                             double from);              // reports too many oscillations
RootEnd events_find(Solver *, double to, double *when); // on the dense output
bool events_at_end(Solver *, double to);                // the same, sampling the end only
bool events_advance(Solver *); // advances guards to the end of the last walk; events
                               // found there happen
bool events_shortly_after(Solver *,
                          double by); // events that would happen shortly after t happen now
bool events_check(Solver *); // at the start, or after a change: events whose guard is up happen

#endif
