// Private to pass: shared by the files of differentiation.
#ifndef LIMN_CORE_PASS_DERIVE_OWN_H
#define LIMN_CORE_PASS_DERIVE_OWN_H

#include "core/pass/rewrite.h"

// -- derive.c -------------------------------------------------------------------------------------
typedef struct {
  World *w;
  const Diagram *f; // the primal: flat, but for calls with a custom reverse
  Diagram *to;      // the derivative under construction
  Id *map;          // [wire of f] its copy in `to`
  Why why;          // WHY_REVERSE or WHY_FORWARD
} Derive;

bool type_has_tangent(const Type *);             // true if it has a tangent: real or bit
Name name_d(World *, Name);                      // S becomes dS
Id origin_of_derived(const Derive *, Id origin); // a new child of the origin
// Their sum (xor over bits).
Id sum_wires(World *, Diagram *, const Id *part, uint32_t n, Id origin);
// The derivative of a flat diagram; zero[i]: the i-th derivative among the outputs is identically
// zero.
typedef struct {
  Diagram *diagram;
  bool *zero;
} Derived;
// (in, d out where have_out; params) -> (d in where want[i], d param where want[in.n + i])
Derived reverse_flat(World *, const Diagram *, const bool *want, const bool *have_out);
// (in, d in where have[i], d param where have[in.n + i]; params) ->
// (out, d out of every output whose type has tangents)
Derived forward_flat(World *, const Diagram *, const bool *have);

// -- derive_loop.c --------------------------------------------------------------------------------
// [operand] whether the loop's value may depend on it differentiably.
bool *loop_dependence(World *, const Loop *);
// Cotangents of the wanted operands, given the cotangent g of the output: wires of `to`, 0 = zero.
void reverse_loop(const Derive *, const Box *, Id g, const bool *want, Id *d_in);
// The tangent of the output, 0 if it is zero; d_in[k] = 0: operand k has no tangent.
Id forward_loop(const Derive *, const Box *, const Id *d_in);

// Emits the scan with one more result per carry: the carry before each step, saved for the reverse
// pass. Returns the first of these wires.
Id scan_saving_carries(const Derive *, const Box *);
void reverse_scan(const Derive *, const Box *, Id saved, const Id *d_out, const bool *want,
                  Id *d_in);
// Emits the scan and its tangents as one scan.
void forward_scan(const Derive *, const Box *, const Id *d_in, Id *d_out);

#endif
