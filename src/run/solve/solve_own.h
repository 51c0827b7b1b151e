// What a solver has inside; shared by the files that make its steps.
//
// A step is tried from (t, x, rate) to `next`; where it is good enough, its dense output is made,
// events are looked for on it, what will be late is remembered, and the solver moves on. All rows
// of numbers are taken once, when the solver is made.
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
void dense_some(const Dense *, uint32_t n, NumberRange, double t, double *x); // only those of x
// Between which numbers they are from t[0] to t[1].
void dense_range(const Dense *, uint32_t n, NumberRange, const double t[2], double *low,
                 double *high);
double dense_one(const Dense *, uint32_t n, uint32_t i, double t);
void dense_rest(Dense *, uint32_t n, double t, const double *x); // x, from t on
// Through both ends with the slopes there; part4 is 0.
typedef struct { // values and slopes at both ends of a step
  const double *x, *next, *slope, *slope_next;
} StepEnds;
void dense_hermite(Dense *, uint32_t n, double t, double h, StepEnds);
// Through five values at equal distances, [5 n].
void dense_five(Dense *, uint32_t n, double t, double h, const double *five);

// -- root.c: the first place where one of n functions of time rises through 0 ---------------------
typedef struct {
  uint32_t n;
  bool (*at)(void *context, double t, double *g); // false: give up
  // Between which numbers they are from t[0] to t[1]; not a number: not known. NULL: never. False: give up.
  bool (*between)(void *context, const double t[2], double *const g[2]);
  double *bound[2]; // [n] for that
  double *side[3];  // [n] values at both ends of a stretch, and in its middle
  uint32_t looks;   // at such stretches, that are left in the run
  void *context;
  uint8_t *live;  // [n] has been at or below 0 since it last went up; kept on the way
  double *noise;  // [n] and further below it than that
  bool noisy;     // some has noise, or had
  uint8_t *falls; // [n] one with noise was turned back: it has to fall
  uint32_t lost;  // one that had to fall, and rose above its noise: its number + 1; 0: none
  double *row[6]; // [n] each; row[0] comes in with the values at `from`, and goes out with those
                  // where the walk ended: at the place found, or at `to`
  double *beside; // [n] free
  double first, last; // the interval
  double longest;     // no piece of an interval that is longer is taken as it is
  double begin;       // on the way: where the values in row[0] are
  uint32_t *swings;   // as in Halves
  uint32_t
      rough; // the first that was as rough as rounding wherever it was looked at, its number + 1;
  double rough_from; // from when on
  uint32_t wild; // one that swung from `begin` on when these were used up: its number + 1; 0: none
} Root;
typedef enum {
  ROOT_NONE,
  ROOT_FOUND,
  ROOT_LOST
} RootEnd; // LOST: a function has given up, or swings
// `close`: also look closely behind `from`, where an event may follow on another.
RootEnd root_walk(Root *, double from, double to, bool close, double *when);

// -- delays.c: what was, for what is late ---------------------------------------------------------
typedef enum { SIDE_LEFT, SIDE_RIGHT } Side; // which value of two, where there was a jump
typedef struct {
  double t;
  uint32_t order; // how many times it has come through a delay, and become smoother
} Kink;
typedef struct {
  double start, longest, shortest;
  uint32_t smooth;  // orders after which a kink is forgotten
  double *first;    // [late] before the start
  VEC(double) lag;  // without repetitions
  Dense *ring;      // [cap] of values, step by step; the oldest at `head`
  uint32_t cap, n;  // places, steps kept
  uint64_t head;    // number of the oldest step; its place is head % cap
  uint64_t *cursor; // [late] the number of the step that was read last
  double *five;     // [5 late]
  double *sixth;    // [late] between them
  Dense trial;      // the curve through the five
  VEC(Kink) kink;   // moments that a step must end at, the next one last
} History;

typedef struct {
  double gap, first; // from the last time to the one before; the first of gaps that shrink
  double since;      // when those began
  uint32_t shrinks;
} EventPace; // of one event

typedef struct SolverStepper SolverStepper;
typedef struct Stiff Stiff;
typedef struct SlideWatch SlideWatch;
typedef struct GuardLook GuardLook;
struct Solver {
  Arena *arena;
  uint32_t swings;          // that may still be looked at closely
  double *lowest, *highest; // [n] over a stretch of time, where guards know what follows from it
  Problem problem;
  SolveOptions how;
  const SolverStepper *stepper;
  uint32_t n;
  double t, from;
  double *x;                // [n] at t
  double *rate;             // [n] at t, if `known`
  double *next, *next_rate; // [n] at the end of the step that was tried
  double *trial;            // [n] at a stage; Dormand–Prince: at its last inner one
  double *look;             // [n] on the dense output
  double *before;           // [n] before the last jump, for equations
  double *late;             // [late] as of the last late_at
  double *k[8];             // [n] stages
  Dense dense;
  bool known;          // the rate at t
  bool fresh;          // the first step, or the first after an event
  double h;            // the step that is wanted next
  double known_length; // of steps that were seen through lately
  double aim;          // just behind where an event seems to be; or infinite
  double anchor;       // fixed steps: step `ticks` ends at anchor + ticks step
  uint64_t ticks;
  double error,
      log_error;  // of the step tried: above 1 is too much; of the one before, as a logarithm
  uint32_t worst; // the number with the largest error
  bool rejected;  // the step before was
  bool odd;       // a rate was not finite: of this number, at this time
  uint32_t odd_number;
  double odd_time;
  uint32_t stiff_hits, stiff_misses; // dormand.c
  Stiff *stiff;
  SlideWatch *slides;
  const SolverSlide *slide; // that the solver stopped at; or NULL
  History *history;
  Root guard;                       // on the dense output
  double *guard_now;                // [events] at t, x
  uint8_t *armed, *fired;           // [events] may happen; happens at this moment
  double *event_last, *event_since; // [events] when it last happened; when its count began
  uint32_t *event_quick, *event_count;
  uint32_t *event_rounds; // [events] how often it happened at this moment
  EventPace *pace;        // [events]
  GuardLook *guard_look;  // zeno.c; or NULL
  bool happened, stopped, begun;
  bool turned;  // the last step ended where something happened, or a switch turned
  bool loose;   // a switch was loosened
  bool met;     // what happens at t has happened
  bool limited; // `end` had a say in how long the last step is
  uint32_t first_event;
  uint64_t steps, rejections, rates;
  const SolverStepper *instead; // the method that goes on from the next step; or NULL
  const char *message, *note;
};

// One way to make a step.
struct SolverStepper {
  const char *name;
  uint32_t stages;                   // rows of `k` it needs
  bool fixed;                        // its step is given, and no error is known
  bool gives_rate;                   // next_rate, with each step
  bool given;                        // by the problem: no rates, and between the ends
                                     // of a step nothing is known
  double exponent;                   // error ~ h^(1/exponent)
  bool (*try)(Solver *, double h);   // next, error; false: stop
  void (*dense)(Solver *, double h); // of the step just tried
  bool (*accepted)(Solver *, double h, double end); // may be NULL; false: stop
  // How far the state would be off if the rates were off by this, of the step just tried; NULL: h
  // times as far.
  void (*carried)(Solver *, double *off);
};
extern const SolverStepper dormand_stepper, rk4_stepper, euler_stepper, stiff_stepper,
    given_stepper;
extern const SolverStepper *const solver_steppers[]; // [Method]

// -- solve.c: for the steppers --------------------------------------------------------------------
bool solver_fail(Solver *, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool solver_rates(Solver *, double t, const double *x, Side, double *dx);
const char *solver_name(const Solver *, uint32_t i);
void solver_stages(Solver *, uint32_t n);           // as many rows of `k` as there are not yet
void solver_stiffen(Solver *, const char *note);    // the stiff method goes on from the next step
double solver_allowed(const Solver *, double size); // error of a number of that size, in a step
// The largest of |e| against what is allowed for a step from x to next, into error and worst.
void solver_norm(Solver *, const double *e, const double *next);
void solver_odd(Solver *, double t, const double *rate); // remembers the first that is not finite
// blind.c: a step whose error is very small is looked at between its stages; what it finds is in
// `error`. False: stop.
bool step_is_seen(Solver *, double h);
// stiff.c
void stiff_new(Solver *);
// How the equations change with the numbers that they say, at (t, x), with the others held: false:
// singular, or a message.
bool stiff_at_rest(Solver *);
bool stiff_is_lost(const Solver *);    // the last step was not tried: its Jacobian is not finite
void stiff_solve(Solver *, double *b); // with what was factored last
void stiff_row_sizes(const Solver *, double *x); // the largest in each row of the Jacobian
// slide.c
// At the beginning of a step, and when one was rejected; false: it slides, with a message.
bool slide_watch(Solver *);
bool slide_rejected(Solver *, double h);
void slide_carry(Solver *, Carry *);
// settle.c
void settle_before(Solver *);   // before something makes x jump
bool solver_settle(Solver *);   // makes the equations hold at (t, x)
bool settle_singular(Solver *); // the message: always false
// pattern.c
Pattern *pattern_full(Arena *, uint32_t n);
Pattern *pattern_turned(Arena *, const Pattern *); // rows instead of columns
// Columns without a common row are in one group: group[n]; gives how many there are.
uint32_t pattern_groups(Arena *, const Pattern *, uint32_t *group);
// order.c
typedef struct {
  uint32_t below, above; // the diagonal
} Band;
Band order_band(Arena *, const Pattern *, uint32_t *order);    // the band it is in that order
double order_least(Arena *, const Pattern *, uint32_t *order); // multiplications and additions then
// matrix.c: diagonal - share J, row by row, factored; J has its numbers as matrix_pattern says
typedef struct Matrix Matrix;
typedef enum { MATRIX_DENSE, MATRIX_BAND, MATRIX_SPARSE } MatrixWay;
Matrix *matrix_new(Arena *, const Pattern *);
const Pattern *matrix_pattern(const Matrix *); // that which was given, and the diagonal
MatrixWay matrix_way(const Matrix *, Band *);
bool matrix_factor(Matrix *, const double *j, const double *diagonal, const double *share);
void matrix_solve(Matrix *, double *b);
// band.c
size_t band_width(Band); // of a row
bool band_factor(uint32_t n, Band, double *a, uint32_t *swap);
void band_solve(uint32_t n, Band, const double *a, const uint32_t *swap, double *x);
// sparse.c: value[places of the pattern]; columns, and rows where they can, in this order
typedef struct SparseFactor SparseFactor;
SparseFactor *sparse_new(Arena *, const Pattern *, const uint32_t *order);
bool sparse_factor(SparseFactor *, const double *value);
void sparse_solve(const SparseFactor *, double *b);
// lu.c: a[n n] row-major into L and U with rows exchanged as in swap[n]; false: it is singular
bool lu_factor(uint32_t n, double *a, uint32_t *swap);
void lu_solve(uint32_t n, const double *a, const uint32_t *swap, double *b);
// delays.c
bool late_begin(Solver *);
bool late_settle(Solver *); // what equations say at the start, and what was late before it
void late_at(Solver *, double t, Side);        // into s->late
bool late_record(Solver *, double to);         // what will be late, of the step from t to `to`
void late_jump(Solver *);                      // the state has jumped at t
bool late_passed(Solver *);                    // was t a moment that a step must end at?
double late_limit(const Solver *, double end); // the next such moment, or end
void late_carry(Solver *, Carry *);
// zeno.c
// It happens: its guard has come to 0 while time flew, or something that happens lifted it at this moment.
void zeno_happens(Solver *, uint32_t event, bool crossed);
bool zeno_settled(Solver *); // all has happened at this moment; false: with a message
bool zeno_is_lost(const Solver *, uint32_t event); // its guard rose again, and had not fallen
bool zeno_shrinks(const Solver *, uint32_t event); // it follows itself ever faster

// events.c
void events_new(Solver *);
// Of all events at a place beside the way that is taken.
bool events_guards(Solver *, double t, const double *x, Side, double *g);
bool events_turn(Solver *);              // switches become what they are at (t, x)
double events_ahead(Solver *, double h); // how far, by their slopes now, within h; or infinite
bool solver_swings(Solver *, const char *what, double from); // too often: an error
RootEnd events_find(Solver *, double to, double *when);      // on the dense output
bool events_at_end(Solver *, double to);                     // the same without looking between
bool events_moved(Solver *);             // to where the last walk ended; what it found, happens
bool events_behind(Solver *, double by); // what would happen so shortly after t, happens
bool events_again(Solver *); // at the start, or after a break: what has lifted a guard, happens

#endif
