// knot: private to the weaving: boxes that are in no order, because some of them need each other as
// wholes. Element by element they may well have one.
#ifndef LIMN_CORE_PASS_KNOT_H
#define LIMN_CORE_PASS_KNOT_H

#include "core/pass/pass.h"
#include "core/pass/rewrite.h"

typedef struct {
  Diagram *d;           // its boxes in any order; wires without a box are known from outside
  VEC(WeavePlace) from; // [box] of which part, and which element of it; [0] is unused
} Knot;

typedef struct {
  World *w;
  const char *const *prefix; // [part] in front of the sites of its noise
  uint32_t pieces;           // boxes made by cutting
  uint32_t depth;            // of cuts in cuts
  bool stub;                 // what depends on open sizes is left out
  WeaveAnswer answer;
  WeavePlaces loop;
} Knotting;

// weave.c: the same part twice has noise of its own each time
void noise_of_part(Box *, const char *prefix);

// knot.c
void knot_begin(World *, Knot *, Name);
// One axis more is cut, as it is counted now: axes that scans go along (at -1) are gone.
WeavePlace place_with(WeavePlace, uint32_t axis, int64_t at);
Id knot_wire(World *, Knot *, const Type *, Name, Id origin);
void knot_box(World *, Knot *, const Box *, const Id *in, const Id *out, WeavePlace);
// Puts all boxes into `to`, those that need each other element by element. map: [wire] known from
// outside; then of all wires. False: a number needs itself, or the order cannot be found.
bool knot_emit(Knotting *, const Knot *, Diagram *to, Id *map);

// -- knot_body.c: a scan on one element of an axis that goes through it ---------------------------
typedef struct BodyCut BodyCut;
// From an axis of one of its outputs; NULL: the axis does not go through.
BodyCut *scan_cut(World *, const Scan *, uint32_t port, int32_t axis);
int32_t scan_cut_in(const BodyCut *, uint32_t port); // the axis of an input; -1: it stays whole
int32_t scan_cut_out(const BodyCut *, uint32_t port);
Scan *scan_of_one(BodyCut *);                  // with the axis of size 1
Type type_of_one(World *, Type, int32_t axis); // -1: as it is

// -- knot_cut.c: along which axis wires that need each other are cut ------------------------------
typedef struct {
  World *w;
  const Knot *k;
  const Ids *box; // those that need each other
  bool *inside;   // [box]
  int32_t *axis;  // [wire] along which it is cut; -1: it stays whole
  int32_t *index; // [box] of its loop, or the axis of a join or an order; -1: it stays whole
  BodyCut **scan; // [box] of a scan, which has 0 as its index
} KnotCut;
KnotCut knot_cut(World *, const Knot *, const Ids *box, Id wire, uint32_t axis);
void cut_the_rest(KnotCut *);              // what that leaves whole, each along its first axis
bool cut_inside(const KnotCut *, Id wire); // does one of the boxes make it?
// The axis at which a box that is cut reads an operand; -1: it reads it whole; -2: at several.
int32_t operand_axis(const KnotCut *, Id box, uint32_t operand);
// How many terms of a coordinate are this index; and whether an access mentions it anywhere else.
bool coord_has(const Coord *, uint32_t index);
int32_t access_axis(const Access *, uint32_t index); // the only axis with it; -1: none; -2: several

// knot_scan.c: one element after the other, by a scan; alone: where none needs another one. False:
// they do not follow each other so.
bool knot_scan(Knotting *, const KnotCut *, bool alone, Diagram *to, Id *map, bool *good);

// knot_unroll.c: each element for itself. False: sizes are open, or there are too many.
bool knot_unroll(Knotting *, KnotCut *, Diagram *to, Id *map, bool *good);

#endif
