// derive_help: diagrams written briefly, random tensors for them, and the checks that every
// derivative must pass.
//
//   T *t = t_new(7);
//   Id x = t_input(t, d, BASE_R, "5 3"), w = t_input(t, d, BASE_R, "3 3");
//   Id y = t_loop(t, d, "i:5 c:3 p:3", SUM, "i c", "5 3", "a*b", 2, (Operand[]){{x, "i+p-1 c"}, {w,
//   "p c"}});
#ifndef LIMN_DERIVE_HELP_H
#define LIMN_DERIVE_HELP_H

#include "core/diagram/diagram.h"
#include "core/diagram/interpret.h"

typedef struct {
  Arena *arena;
  World *w;
  uint64_t random;
} T;

typedef struct {
  Id wire;
  const char *access; // coordinates separated by spaces; an index is a letter, label operand k is
                      // #k: "2*i+p-1 #0"; after a bar the number that pads: "i+p-1 | 0.5"
} Operand;

T *t_new(uint64_t seed);
void t_free(T *);
uint32_t t_below(T *, uint32_t n);
double t_uniform(T *, double low, double high);

Diagram *t_diagram(T *, const char *name);
Type t_type(T *, Base, const char *sizes); // "5 3"
Id t_input(T *, Diagram *, Base, const char *sizes);
Id t_label(T *, Diagram *, int64_t count, const char *sizes);
Id t_param(T *, Diagram *, Base, const char *path, const char *sizes);
// The body's operands are called a b c d e, positions at_i for index i.
Id t_loop(T *, Diagram *, const char *box, Combine, const char *out, const char *sizes,
          const char *body, uint32_t n, const Operand *);

// Tensors for the inputs, then the params of a diagram: reals from low..high, labels and bits at
// random.
Tensor *t_tensors(T *, const Diagram *, double low, double high);
Tensor t_tensor(T *, const Type *, double low, double high);
Tensor t_copy(T *, const Tensor *);
Tensor *t_run(T *, const Diagram *, const Tensor *in,
              uint64_t *multiplications); // the outputs, then the next values
void t_valid(T *, const Diagram *);
void t_same_bits(T *, const Diagram *, const Diagram *,
                 const Tensor *in); // equal results, bit for bit
void t_near(const Tensor *, const Tensor *, uint32_t n, double limit);
double t_dot(const Tensor *, const Tensor *, uint32_t n);

// Reverse against differences, forward against reverse, and the reverse of the reverse in the same
// way.
void t_check(T *, const Diagram *, const Tensor *in);
void t_check_adjoint(T *, const Diagram *, const Tensor *in); // forward against reverse only
void t_check_bits(T *, const Diagram *, const Tensor *in, bool multilinear);

#endif
