// Following a system of rates through time.
//
//   Solver *s = solver_new(arena, &problem, &(SolveHow){.method = SOLVE_DORMAND}, 0, start);
//   while (solver_step(s, end)) … solver_at(s, t, x) for any t inside the step just made …
//   if (solver_error(s)) …
//
// Knows no language: what flows is a row of numbers and functions on it. Time never jumps back;
// what is between two steps is known from a dense output of the order of the method, and everything
// else (events, what is late, what is shown at round times) is found on it. `end` cuts a step; so
// let it be the end of the run, and ask solver_at for round times: then nothing depends on those.
#ifndef LIMN_RUN_SOLVE_SOLVE_H
#define LIMN_RUN_SOLVE_SOLVE_H

#include "base/base.h"

typedef struct { // where a square matrix can be other than 0
  uint32_t n;
  const uint32_t *start, *row; // those of column c: row[start[c]] … row[start[c + 1] - 1], rising
} Pattern;

typedef struct {
  uint32_t from, to;
} NumberRange;

typedef struct {
  void *context;
  uint32_t n;    // numbers that flow
  uint32_t late; // numbers that are late: they are given to all functions below
  uint32_t events;
  // x[n], late[late] -> dx[n]. False: it cannot be said, and the solver stops with an error. A rate
  // that is not finite asks for a smaller step instead.
  bool (*rates)(void *context, double t, const double *x, const double *late, double *dx);
  // How the rates change when x changes by v: out[n]. NULL: by differences.
  bool (*change)(void *context, double t, const double *x, const double *late, const double *v,
                 double *out);
  // Row r of column c: rate r may depend on number c. NULL, or what gives NULL: all on all.
  const Pattern *(*pattern)(void *context);
  bool timeless; // the rates depend on x alone
  bool jumps;    // they may jump where no switch turns: a pulse may stand between any two moments
  bool adds;     // they only add and multiply t and x: no pulse hides between two moments
  // [n] 1: this number has no rate; instead, what stands in its place is 0 at every moment. NULL: all
  // have one. Only for the stiff method.
  const uint8_t *constrained;
  // One number for each event, which happens when it rises through 0: it was at or below 0, and is
  // above; or when it is above 0 at the start. Still above 0 after its event, it has to come down
  // first.
  bool (*guards)(void *context, double t, const double *x, const double *late, double *g);
  // Between which numbers they are, g[2][events], while t and x are between two: not a number where that
  // is not known. False: it cannot be said; NULL: never.
  bool (*between)(void *context, const double t[2], const double *const x[2], double *const g[2]);
  // The last ones of the events are switches: what rates compare, which is held while no event
  // happens. At such an event nothing is set: all of them become what they are there. One that turns
  // so often that time hardly moves is loosened: its guard stays down, and the rates may jump.
  uint32_t switches;
  bool (*turn)(void *context, double t, const double *x, const double *late);
  void (*loosen)(void *context, uint32_t which); // of the switches
  const NumberRange *guarded; // [nguarded] the numbers of x that guards read; NULL: all
  uint32_t nguarded;
  bool guards_add; // they only add and multiply, like `adds`
  // What happens at one moment, all of it at once: which[events]. All of it reads x as it was before
  // the moment; then x is changed in place. What it takes out of `which` has not happened, and does so
  // at the same moment if its guard is above 0 behind the rest. False: stop here, without an error.
  bool (*happen)(void *context, double t, uint8_t *which, const double *late, double *x);
  // What is late, and by how much: lag[late], each above 0, and value(t, x) for the numbers that
  // will be late. Before the start, a value is the one at the start.
  const double *lag;
  bool (*lates)(void *context, double t, const double *x, const double *late, double *value);
  // SOLVE_GIVEN: a step of length h made by the problem itself, from x to next.
  bool (*step)(void *context, double t, double h, const double *x, const double *late,
               double *next);
  const char *(*name)(void *context, uint32_t i); // of the number i, for messages; may be NULL
  const char *(*event_name)(void *context, uint32_t which); // as it stands in a message
} Problem;

typedef enum { SOLVE_DORMAND, SOLVE_RK4, SOLVE_EULER, SOLVE_STIFF, SOLVE_GIVEN } Method;
typedef struct {
  Method method;
  double relative, absolute; // of the error of a step; 0: 1e-9, 1e-12
  double step;               // RK4, EULER: their step; otherwise the first one, 0: chosen
  double largest;            // step; 0: no limit
  double
      look; // from one look at the rates, or guards, to the next where a step saw nothing; 0: none
  uint64_t steps; // at most, with the rejected ones; 0: 10 million
  uint32_t storm; // one event more often than this in a unit of time: an error; 0: 10000
  bool goes_on;   // solver_carry follows, and says all that is known at the start
} SolveOptions;

// Do five values at equal distances say what is between them? How far they are from a curve of degree 3,
// and a sixth, at CURVE_PROBE of the way, from that of degree 4 through them.
#define CURVE_PROBE 0.37
double curve_off(const double x[6]);
// An interval whose samples may say too little, and so its halves: some times in any case, and then
// around a single bend or jump, which has one half; around what swings in both, as often as `swings`
// says (then SPENT), and never for what is rounding, or as rough as that at every length (ROUGH: it is
// taken whole, and what is between its samples is not known).
typedef enum { HALVES_WHOLE, HALVES_SPLIT, HALVES_LOST, HALVES_SPENT, HALVES_ROUGH } HalvesEnd;
#define HALVES_SWINGS (1u << 18) // in a run: more than 100 000 times up and down
typedef struct {
  void *context;
  // Takes the samples of an interval: are they tame? False: give up. The last ones taken are kept.
  bool (*sample)(void *context, double from, double to, bool *tame);
  bool (*matters)(void *context); // are they far enough from tame to swing? NULL: in any case
  uint32_t *swings;               // how many more may be halved because both halves swing
} Halves;
// Is it to be taken whole, its samples taken last, or in halves? `deep`: how often it was halved.
HalvesEnd halves_or_whole(const Halves *, double from, double to, int deep);
// The top of a parabola through three points: false: there is none between them.
bool parabola_top(const double t[3], const double x[3], double *top, double *height);

typedef struct Solver Solver;
Solver *solver_new(Arena *, const Problem *, const SolveOptions *, double t, const double *x);
// One step, at most to `end` (exactly to it if it comes that far), which ends early at an event:
// then the event has happened (all that fall on that moment, at once; then those whose guards these
// have lifted above 0) and the state is the one after it. What happens at the start is a step of no
// length. False at `end`, or after an error.
bool solver_step(Solver *, double end);
// The last moment: what would happen within `by` behind it, happens at it, as a step of no length. False:
// nothing, or an error.
bool solver_end(Solver *, double by);
// What holds where it begins happens, and no time goes by; again, until it is false.
bool solver_now(Solver *);
// The state `by` behind now, as far as a straight line says it. False: there is none.
bool solver_straight(Solver *, double by, double *x);
// Something else that the functions read has changed at this moment.
void solver_disturb(Solver *);
double solver_time(const Solver *);
const double *solver_state(const Solver *);
double solver_from(const Solver *);                  // where the last step began
void solver_at(const Solver *, double t, double *x); // inside the last step, before its event
const double *solver_late(Solver *, double t); // what is late then; after its event at its end
bool solver_happened(const Solver *,
                     uint32_t *which); // did the last step end with an event? which first?
bool solver_limited(const Solver *);   // was the last step, or one tried for it, as long as it was
                                       // because of `end`?
const char *solver_error(const Solver *); // in words, or NULL
bool solver_odd_end(const Solver *);      // was it that rates or guards are not finite?
typedef struct { // a number whose rate jumps, and leads back to where it does from both sides
  uint32_t number;
  double t;
  const double *side[2]; // [n] right before and behind the jump
} SolverSlide;
const SolverSlide *solver_slide(const Solver *); // was it that? Otherwise NULL
const char *solver_note(const Solver *); // what is to be known of the run, in words, or NULL
const char *
solver_unsure(const Solver *); // what could not be told of its events, in words, or NULL
uint64_t solver_count(const Solver *, uint64_t *rejected, uint64_t *rates); // steps made

// carry.c: what is known at one moment as a row of numbers, and back. One walk does both, so what is
// put back is what was taken.
typedef struct {
  Arena *arena;
  bool put;        // back; otherwise out
  VEC(double) row; // all of it, in the order of the walk
  uint32_t at;     // put: how much was read
  bool wrong;      // put: the row is not of this walk
} Carry;
void carry_reals(Carry *, double *x, uint64_t n);
void carry_bytes(Carry *, void *x, uint64_t n); // flags
void carry_counts(Carry *, uint64_t *x, uint64_t n);
void carry_counts32(Carry *, uint32_t *x, uint64_t n);
void carry_text(Carry *, const char **text); // or NULL
uint64_t carry_same(Carry *, uint64_t n);    // a number that has to be the same there
// Everything that the next step depends on. A solver that it is put into was made for the same
// problem and method; where its steps are given and of another size, they begin anew at this moment.
void solver_carry(Solver *, Carry *);

#endif
