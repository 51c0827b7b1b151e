// rewrite: what passes are written with: copying boxes from one diagram into another, and putting
// loops together.
#ifndef LIMN_CORE_PASS_REWRITE_H
#define LIMN_CORE_PASS_REWRITE_H

#include "core/diagram/diagram.h"

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
typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  uint32_t *reads; // [wire of from] how often it is read; what comes out counts as two
} Rewriting;
typedef bool Rewrite(const Rewriting *, const Box *);
Diagram *rewrite_boxes(World *, const Diagram *, Rewrite *);
Diagram *inline_calls(World *, const Diagram *, bool keep_own_reverse);
Id *new_map(World *, const Diagram *);

// prune.c
// A loop under construction, with the wires of `d` that it reads.
typedef struct {
  Loop *loop;
  Ids in;
} Draft;
uint32_t draft_operand(World *, Draft *, Id wire, Access); // its number
// Makes scalar `result` the body, drops scalars that nothing reads and operands that neither count
// nor guard; without a diagram, those that only guard too.
void draft_tidy(World *, const Diagram *d, Draft *, uint32_t result, const Type *out);
bool access_in_bounds(World *, const Loop *, const Access *,
                      const Type *); // at every point of the box, for sure
bool access_outside(World *, const Loop *, const Access *,
                    const Type *); // no point of the box reads inside, for sure
bool access_same(World *, const Access *, const Access *);

// compose.c
// Whether a loop writes each cell of its output exactly once, at plain coordinates.
bool access_has_operands(const Access *); // it reads labels
bool loop_fills(World *, const Loop *, const Type *out);
// in[A(i)] for i at `outer`: how a loop that fills its wire reads an operand, after the access of its
// reader.
Access access_composed(World *, const Loop *, uint32_t operand, const Access *outer);
Diagram *diagram_prune(World *, const Diagram *); // without the boxes that nothing reads

#endif
