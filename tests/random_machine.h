// Random systems: machines with states and modes, wired and nested, with arrays of parts, ports
// with an axis and states of the wirings' own. One system can be written as a program in several
// ways that mean the same, and followed by the definition of a wiring alone.
#ifndef LIMN_RANDOM_MACHINE_H
#define LIMN_RANDOM_MACHINE_H

#include "base/base.h"

typedef VEC(const char *) Lines;

enum { MEMBERS = 3 }; // of an array of parts, and of a port or state with an axis

typedef struct {
  uint32_t levels;         // of wirings around the machines; at least 1
  bool arrays, modes, own; // own: wirings have states
} RandomHow;

typedef enum { BY_TICKS, BY_RATES, BY_EULER } Stepping; // next s = e; s' = e; next s = s + h * e

typedef struct {
  Stepping step;
  uint64_t order; // of lines, parts and declarations; 0: as they were made
  bool frozen;    // the wirings' own states never change
  bool numbers;   // and what is more, their first values stand in their place
  bool scaled;    // the machines' states are 4 times as large, and there is one more
} Written;

typedef struct Made Made;
// The same seed, the same system.
Made *random_system(Arena *, uint64_t seed, const RandomHow *);
// Declarations of machines and wirings; the outermost is `Whole`.
const char *random_nested(Arena *, const Made *, const Written *);
// The same with one wiring, `Flat`, around the machines alone: every member of every array is a
// part of its own.
const char *random_flat(Arena *, const Made *, Stepping);
uint32_t random_inputs(const Made *);  // of the outermost, all numbers: x0, x1 …
uint32_t random_outputs(const Made *); // y0, y1 …
const char *random_starts(Arena *, const Made *, uint64_t seed); // (x0: 0.5, x1: …)

// -- followed by the definition -------------------------------------------------------------------
typedef struct {
  const char *nested, *flat; // what it is called in both programs: y0, p1.q0.s1
  uint32_t cell, cells;      // its place in `nested`; `flat` has one
  uint32_t flat_cell;
  VEC(double) value; // [tick]
} Traced;
typedef VEC(Traced) Traces;
// Outputs and states of each tick, for the inputs of random_starts.
void random_trace(Arena *, const Made *, Stepping, uint64_t seed, uint32_t ticks, Traces *);

extern const double random_step; // the h of BY_EULER

// -- chance ---------------------------------------------------------------------------------------
typedef struct {
  uint64_t state;
} Chance;
uint64_t chance_draw(Chance *);
uint32_t chance_below(Chance *, uint32_t n);
double chance_number(Chance *); // between 0 and 1, short when printed
void chance_shuffle(Chance *, const char **at, uint32_t n);

#endif
