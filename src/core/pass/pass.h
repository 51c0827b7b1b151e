// pass.h: what the passes of this layer share: substitution of sizes, copying boxes from one
// diagram into another, and putting loops together. For src/diagram and src/plan.
#ifndef LIMN_PASS_H
#define LIMN_PASS_H

#include "core/diagram/diagram.h"

// diagram.c: box_loop without a copy of the loop; loops are not changed once they are in a box
Id box_loop_shared(World *, Diagram *, Loop *, const Id *in, uint32_t nin, Type out, Id origin);

// inline.c: size variables replaced, one after the other
typedef struct {
  Id var;
  Size value;
} Replaced;
typedef VEC(Replaced) Subst;

// What the callee's variables are, given the wires it is called on; holds what is known from around
// before. The first `slices` inputs lose their first axis on the way in.
void subst_call(World *, Subst *, const Diagram *callee, const Diagram *d, const Id *in,
                uint32_t slices);
Size subst_size(World *, const Subst *, Size);
Type subst_type(World *, const Subst *, Type);

// The boundary of `from` on `to`: inputs, then params (without their next values).
void copy_inputs(World *, Diagram *to, const Diagram *from, Id *map);
void copy_params(World *, Diagram *to, const Diagram *from, Id *map);
void copy_nexts(Diagram *to, const Diagram *from, const Id *map);
// One box, its inputs found by `map`, its outputs put there.
void copy_box(World *, Diagram *to, const Diagram *from, const Box *, Id *map, Id origin);
void copy_boxes(World *, Diagram *to, const Diagram *from, Id *map);
// The same diagram with some boxes rewritten: `rewrite` puts what stands for a box into `to` and
// its outputs into `map`, or gives false, and the box is copied. Bodies of scans are rewritten
// before the scan is seen.
typedef bool Rewrite(World *, Diagram *to, const Diagram *from, const Box *, Id *map);
Diagram *rewrite_boxes(World *, const Diagram *, Rewrite *);
Diagram *inline_calls(World *, const Diagram *, bool keep_own_reverse);
Id *new_map(World *, const Diagram *);

// each.c: a loop over every element of tensors of one type
enum { EACH_LIMIT = 4 }; // wires that one reads
typedef struct {
  Loop loop;
  Access in[EACH_LIMIT];
  Id wire[EACH_LIMIT];
  Type t;
} Each;
Each each_of(World *, Type);
uint32_t each_read(World *, Each *, Id wire, Base, uint32_t rank); // of its first `rank` axes
uint32_t each_number(World *, Each *, double);
Id each_make(World *, Diagram *, Each *); // the last scalar is its value

// prune.c
// A loop under construction, with the wires of `d` that it reads.
typedef struct {
  Loop *loop;
  Ids in;
} Draft;
uint32_t draft_operand(World *, Draft *, Id wire, Access); // its number
// Makes scalar `result` the body, drops scalars that nobody reads and operands that neither count
// nor guard.
void draft_tidy(World *, const Diagram *d, Draft *, uint32_t result, const Type *out);
bool access_in_bounds(World *, const Loop *, const Access *,
                      const Type *); // at every point of the box, for sure
bool access_same(World *, const Access *, const Access *);
Diagram *diagram_prune(World *, const Diagram *); // without the boxes that nobody reads

#endif
