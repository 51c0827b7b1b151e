// Shared by the tests of the prelude: the functions of ops.def as computed by the prelude,
// arguments for them, and the comparison of values with the interpreter's.
#ifndef PRELUDE_HELP_H
#define PRELUDE_HELP_H

#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"

// prelude_rows.c
typedef struct {
  float (*floats)(float a, float b, float c);
  double (*doubles)(double a, double b, double c);
} PreludeRow;
extern const PreludeRow prelude_rows[FN_COUNT]; // empty for the leaves

// prelude_help.c
typedef struct {
  bool wide;
  int digits;
  double most, least; // of normal numbers
} Kind;
extern const Kind kinds[2]; // float and double

typedef struct {
  uint32_t n;
  double *x[3]; // by argument
} Arguments;

uint64_t next_random(uint64_t *state); // the next number of a test
double draw(uint64_t *state, double low, double high);
double rounded(double); // to a float
// Edges (0, infinity, NaN, huge, denormal, …) in every combination, and `draws` ordinary ones. They
// are values of the kind.
Arguments row_arguments(Arena *, const Kind *, Fn, uint32_t draws);
void row_check(const Kind *, Fn, const Arguments *, uint32_t i,
               double have); // fails unless it is right

#endif
