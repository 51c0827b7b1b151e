// cyclic: private to connect.c: diagrams whose boxes have cyclic dependencies as wholes. Element by
// element there may be an evaluation order.
#ifndef LIMN_CORE_PASS_CYCLIC_H
#define LIMN_CORE_PASS_CYCLIC_H

#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

typedef struct {
  Diagram *d;             // boxes in any order; wires without a box are inputs
  VEC(ConnectPlace) from; // [box] the part and the element that it computes; [0] is unused
} Cyclic;

typedef struct {
  World *w;
  const char *const *prefix; // [part] prefix of its noise sites; NULL: none
  uint32_t pieces;           // boxes made by unrolling
  uint32_t depth;            // nesting of unrolled cycles
  bool stub;                 // see Connect.stub
  ConnectAnswer answer;
  ConnectPlaces loop;
} CyclicRun;

// connect.c: prefixes the box's noise site, so that two uses of one part draw different noise
void noise_of_part(Box *, const char *prefix);

// cyclic_order.c
void cyclic_begin(World *, Cyclic *, Name);
// The place with one more axis fixed at `at`; -1: a scan runs along the axis, which is removed.
// `axis` counts the axes that are left.
ConnectPlace place_fixed(ConnectPlace, uint32_t axis, int64_t at);
Id cyclic_wire(World *, Cyclic *, const Type *, Name, Id origin);
void cyclic_box(World *, Cyclic *, const Box *, const Id *in, const Id *out, ConnectPlace);
// Emits all boxes into `to` in an evaluation order; cycles are ordered element by element. map:
// [wire] on entry the known inputs, on return all wires. False: an algebraic loop, or no order is
// found.
bool cyclic_emit(CyclicRun *, const Cyclic *, Diagram *to, Id *map);

// -- scan_slice.c: a scan restricted to one position of an axis -----------------------------------
typedef struct BodyCut BodyCut;
// From an axis of one of its outputs; NULL: the body does not treat the positions independently.
BodyCut *scan_cut(World *, const Scan *, uint32_t port, int32_t axis);
// The axis of an input; -1: the input is read whole.
int32_t scan_cut_in(const BodyCut *, uint32_t port);
int32_t scan_cut_out(const BodyCut *, uint32_t port);
Scan *scan_of_one(BodyCut *);                  // the scan with the axis of size 1
Type type_of_one(World *, Type, int32_t axis); // axis -1: unchanged

// -- cyclic_axes.c: the axes along which a cycle is cut -------------------------------------------
typedef struct {
  World *w;
  const Cyclic *k;
  const Ids *box; // the boxes of the cycle
  bool *inside;   // [box]
  int32_t *axis;  // [wire] the axis along which it is cut; -1: not cut
  int32_t *index; // [box] the loop's index, or the axis of a join or an order; -1: not cut
  BodyCut **scan; // [box] for a cut scan, whose `index` is 0
} CyclicCut;
CyclicCut cyclic_cut(World *, const Cyclic *, const Ids *box, Id wire, uint32_t axis);
// Cuts each remaining box along its first possible axis.
void cut_remaining(CyclicCut *);
bool in_cycle(const CyclicCut *, Id wire); // true if a box of the cycle produces the wire
// The axis at which a cut box reads an operand; -1: the operand is read whole; -2: at several axes.
int32_t operand_axis(const CyclicCut *, Id box, uint32_t operand);
// True if the coordinate has a term of this index.
// The only axis that uses the index; -1: none; -2: several.
int32_t access_axis(const Access *, uint32_t index);

// cyclic_scan.c: evaluates the cycle by a scan along the cut axis (alone: no element depends on
// another one). False: the dependencies have another form. *good: the body has an order.
bool cyclic_scan(CyclicRun *, const CyclicCut *, bool alone, Diagram *to, Id *map, bool *good);

// cyclic_unroll.c: one box per element. False: sizes are unknown, or there are too many elements.
bool cyclic_unroll(CyclicRun *, CyclicCut *, Diagram *to, Id *map, bool *good);

#endif
