// Private to pass: what the files of the derivative share.
#ifndef LIMN_CORE_PASS_DERIVE_OWN_H
#define LIMN_CORE_PASS_DERIVE_OWN_H

#include "core/pass/rewrite.h"

// -- derive.c -------------------------------------------------------------------------------------
typedef struct {
  World *w;
  const Diagram *f; // what is derived: flat, up to calls with their own reverse
  Diagram *to;      // its derivative, growing
  Id *map;          // [wire of f] the same value in `to`
  Why why;          // WHY_REVERSE or WHY_FORWARD
} Derive;

bool type_moves(const Type *);                   // whether it has a tangent: reals and bits
Name name_d(World *, Name);                      // S: dS
Id origin_of_derived(const Derive *, Id origin); // a child of it
Id added_wires(World *, Diagram *, const Id *part, uint32_t n, Id origin); // their sum, by the base
// The result of a derivative of a flat diagram; zero[i]: the i-th derivative among its outputs is
// zero everywhere.
typedef struct {
  Diagram *diagram;
  bool *zero;
} Derived;
// (in, d out where have_out; params) -> (d in where want[i], d param where want[in.n + i])
Derived reverse_flat(World *, const Diagram *, const bool *want, const bool *have_out);
// (in, d in where have[i], d param where have[in.n + i]; params) -> (out, d out of every moving
// output)
Derived forward_flat(World *, const Diagram *, const bool *have);

// -- derive_loop.c --------------------------------------------------------------------------------
bool *loop_moving(World *, const Loop *); // [operand] whether the loop's value moves with it
// What flows from the cotangent g of a loop's output to each operand that is wanted: wires of `to`,
// 0 = nothing.
void reverse_loop(const Derive *, const Box *, Id g, const bool *want, Id *d_in);
Id forward_loop(const Derive *, const Box *,
                const Id *d_in); // d_in[k] = 0: no tangent; 0 if the result has none

// derive_scan.c
// The scan itself, also giving its carries before each step. Returns the first wire of these.
Id scan_and_save(const Derive *, const Box *);
void reverse_scan(const Derive *, const Box *, Id saved, const Id *d_out, const bool *want,
                  Id *d_in);
void forward_scan(const Derive *, const Box *, const Id *d_in,
                  Id *d_out); // makes the scan itself too

#endif
