// rewrite: helpers for passes: copying boxes between diagrams, building and tidying loops.
#ifndef LIMN_CORE_PASS_REWRITE_H
#define LIMN_CORE_PASS_REWRITE_H

#include "core/diagram/diagram.h"

// Copy the boundary of `from` to `to`: inputs, params (without next values), next values. map[wire
// of from] is the wire of `to`.
void copy_inputs(World *, Diagram *to, const Diagram *from, Id *map);
void copy_params(World *, Diagram *to, const Diagram *from, Id *map);
void copy_nexts(Diagram *to, const Diagram *from, const Id *map);
// A new diagram with the inputs and params of `from`, and the map; then, after its boxes, with its
// outputs and next values.
Diagram *copy_begin(World *, const Diagram *from, Id **map);
Diagram *copy_end(World *, Diagram *to, const Diagram *from, const Id *map);
// Copies a box: its inputs are looked up in `map`, its outputs are entered.
void copy_box(World *, Diagram *to, const Diagram *from, const Box *, Id *map, Id origin);
void copy_boxes(World *, Diagram *to, const Diagram *from, Id *map);
// Copies a diagram with some boxes rewritten. `rewrite` adds the replacement of a box to `to` and
// its outputs to `map`; if it returns false, the box is copied. The body of a scan is rewritten
// before the scan.
typedef struct {
  World *w;
  const Diagram *from;
  Diagram *to;
  Id *map;
  uint32_t *reads; // [wire of from] number of reads; an output or next value counts as two
} Rewriting;
typedef bool Rewrite(const Rewriting *, const Box *);
Diagram *rewrite_boxes(World *, const Diagram *, Rewrite *);
Diagram *inline_calls(World *, const Diagram *, bool keep_own_reverse);
Id *new_map(World *, const Diagram *);

// A loop under construction, with its operands.
typedef struct {
  Loop *loop;
  Ids in;
} Draft;
uint32_t draft_operand(World *, Draft *, Id wire, Access); // returns the operand's index
// Makes scalar `result` the body; removes scalars that nothing reads, and operands that are neither
// read nor guards. With d = NULL, removes operands that are only guards too.
void draft_tidy(World *, const Diagram *d, Draft *, uint32_t result, const Type *out);
// Proves that the access is in bounds at every point.
bool access_in_bounds(World *, const Loop *, const Access *, const Type *);
// Proves that the access is out of bounds at every point.
bool access_outside(World *, const Loop *, const Access *, const Type *);
// True if some coordinate of the loop is computed from this operand: the output's (gather, scatter).
bool operand_places(const Loop *, uint32_t operand);
bool access_same(World *, const Access *, const Access *);

// fuse_producers.c
// True if the access has no padding and no label operands, and is in bounds at every point.
bool access_is_plain(World *, const Loop *, const Access *, const Type *);
bool reads_plainly(World *, const Diagram *, const Box *); // every access of the box is plain
// True if each point of the loop has an element of its own, at plain coordinates, and each element a point.
bool access_permutes(World *, const Loop *, const Access *, const Type *);
// True if the loop writes each element of its output exactly once, at plain coordinates.
bool loop_fills(World *, const Loop *, const Type *out);
// Composition of accesses: the operand's access of a loop with loop_fills, as a function of the
// point at which a reader (with access `outer`) reads the loop's output.
Access access_composed(World *, const Loop *, uint32_t operand, const Access *outer);

// prune.c: marks what the marked wires depend on, and what depends on them
void mark_needed(const Diagram *, bool *wire);
void mark_dependent(const Diagram *, bool *wire);
Diagram *diagram_prune(World *, const Diagram *); // dead code elimination

#endif
