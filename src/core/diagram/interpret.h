// interpret.h: the reference interpreter, in double precision, noise and initial values.
#ifndef LIMN_CORE_DIAGRAM_INTERPRET_H
#define LIMN_CORE_DIAGRAM_INTERPRET_H

#include "core/diagram/diagram.h"

struct Tensor {
  uint32_t rank;
  int64_t *shape;
  int64_t count;
  double *data; // row-major; labels and bits are small integers
};
struct Eval {
  Arena *arena; // owns the results
  uint64_t seed, step;
  // `step` is the first tick of a scan over ticks: its noise uses step + position.
  bool ticks;
  const Tensor *in;    // [d->in]
  const Tensor *param; // [d->param]
  Tensor *out;         // [d->out], filled in
  // [d->param], filled in if not NULL; entries of params without a next value are untouched.
  Tensor *next;
  uint64_t multiplications; // counter: multiplications in loop bodies, at every point of the domain
  const char *error;        // the reason of a failure
};
Tensor tensor_new(Arena *, uint32_t rank, const int64_t *shape);
// Values of size variables are inferred from the shapes of the inputs. False: see .error. If memory
// is exhausted, control jumps to the world's last guard.
bool diagram_eval(World *, const Diagram *, Eval *);
// Philox 4x32-10; the result is in (0, 1).
double noise_uniform(uint64_t seed, uint64_t step, uint64_t site, uint64_t element);
double noise_normal(uint64_t seed, uint64_t step, uint64_t site, uint64_t element);
typedef struct {
  uint64_t seed, step, site;
} NoisePlace;
// The same numbers for elements first … first + n - 1, vectorised.
void noise_stretch(Noise, const NoisePlace *, int64_t first, int64_t n, double *to);
const char *init_fault(World *, const Type *); // the reason why init_eval fails for this type
InitKind init_word(const char *); // the kind for `zero`, `normal`, `glorot` …; INIT_NONE if unknown
bool init_eval(World *, Arena *, const Init *, const Type *, uint64_t seed, uint64_t site,
               Tensor *out);

// -- cells.c: initial values that can be computed element by element ------------------------------
typedef struct InitCells InitCells;
// NULL: the elements are not independent, or the initialiser fails. `init` must outlive the result.
const InitCells *init_cells(World *, Arena *, const Init *, const Type *, uint64_t seed,
                            uint64_t site);
int64_t init_cells_count(const InitCells *);
bool init_cells_zero(const InitCells *); // true if all elements are +0
// Writes elements first … first + n - 1, with the same bits as init_eval. Allocates nothing;
// thread-safe.
void init_draw(const InitCells *, int64_t first, int64_t n, double *to);

#endif
