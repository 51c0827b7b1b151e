// pass: diagrams made of diagrams: inlined, simplified, differentiated, put together, counted.
//
//   Diagram *flat = diagram_inline(w, d);
//   Diagram *grad = diagram_reverse(w, flat, &(Wanted){0});
#ifndef LIMN_CORE_PASS_PASS_H
#define LIMN_CORE_PASS_PASS_H

#include "core/diagram/diagram.h"

// -- inline.c -------------------------------------------------------------------------------------
// Every call replaced by what it calls (the body of a scan too), except calls of diagrams with their own
// reverse.
Diagram *diagram_inline(World *, const Diagram *);
Diagram *diagram_inline_all(World *, const Diagram *); // those too: for after the derivative
Diagram *diagram_inline_but(World *, const Diagram *, Name kept); // calls of that name stay too
// How many boxes that makes. Calls share what they call, so it may be exponentially more than there
// are: passes are for those within the limit, kilobytes and some ten microseconds for each box; the
// interpreter writes nothing out, and goes through more.
enum { BOXES_LIMIT = 100000, BOXES_INTERPRETED = 1000000 };
uint64_t diagram_boxes(World *, const Diagram *); // less than UINT32_MAX

// -- derive.c -------------------------------------------------------------------------------------
// forward: (in, params, d in, d params) -> (out, d out).          Real and bit wires have tangents;
// labels have none. reverse: (in, params, d out) -> (d in, d params). Params stay params, and the
// d's are inputs after `in`. Next values are kept by forward and gradient, and by reverse with
// keep_out. A zero d among the results is filled in.
typedef struct {
  const bool *want_in;    // one for each input; NULL = all
  const bool *want_param; // one for each param; NULL = all weights
  bool keep_out;          // the reverse gives the outputs as well, before the cotangents
} Wanted;
Diagram *diagram_reverse(World *, const Diagram *, const Wanted *);
Diagram *diagram_forward(World *, const Diagram *, const Wanted *);
// One reverse pass for several outputs, each of which may move only some weights: seed o of the
// diagram goes to the weights of mask[o]. A wire has one cotangent for each class of outputs that
// agree on what lies upstream. Outputs must be scalars; the result gives the outputs, then d param
// for every param in some mask (in order).
Diagram *diagram_gradient(World *, const Diagram *, const bool *const *mask);
// The same of a flat diagram, and behind that each of these wires, followed by its cotangent: the
// gradient of the sum of all outputs.
Diagram *diagram_gradient_at(World *, const Diagram *flat, const bool *const *mask,
                             const Ids *wires);
// Of a flat diagram: [output][input, then param] whether the one moves with the other.
bool *outputs_moving(World *, const Diagram *);

// hold.c: what reads both clocks, `step` and `steps`, sees `step` stay at the last planned step.
void diagram_hold_step(World *, Diagram *);

// -- simplify.c -----------------------------------------------------------------------------------
Diagram *diagram_simplify(
    World *,
    const Diagram *); // common boxes merged, dead ones dropped, permutations and constants folded

// compose.c
Diagram *diagram_compose(World *, const Diagram *); // what is read at fewer points, computed there

// contract.c
// Products of several operands two at a time, in the order of least multiplications. Changes the
// order of sums, and so their rounding.
Diagram *diagram_contract(World *, const Diagram *);

// scan_widen.c
// What a scan need not do step by step, done for all steps at once; sums that it carries are taken
// outside. For flat diagrams. Carried sums change their order.
Diagram *diagram_widen(World *, const Diagram *);

// loop_hoist.c
// Scalars that are the same at every point of a loop as loops of their own, without indices.
Diagram *diagram_hoist(World *, const Diagram *);

// cut.c
// The diagram up to these wires, which are its outputs, and from them on, where they are inputs.
// False: the outputs need more than these wires.
bool diagram_cut(World *, const Diagram *, const Ids *wires, Diagram **before, Diagram **behind);

// rows.c
// The same on many values of some inputs at once: these, and all results, have one more axis in
// front. No row sees another; what does not follow from them, and noise, is the same for all.
Diagram *diagram_rows(World *, const Diagram *, const bool *given, Index);

// -- weave.c --------------------------------------------------------------------------------------
typedef struct {
  uint32_t part; // its number + 1; 0: the whole
  uint32_t port; // of its outputs; of the whole's inputs
} WeaveEnd;
typedef struct {
  const Diagram *d;
  const char *prefix; // in front of the paths of its params; NULL: none
  const WeaveEnd *in; // where each input's value comes from
} WeavePart;
typedef struct {
  uint32_t nparts, nin, nout;
  const WeavePart *part;
  const WeaveEnd *like; // [nin] the inputs of the whole: each is like this input of this part
  const WeaveEnd *out;  // [nout] outputs of parts
  bool stub; // where the order depends on open sizes, only the types count; the fault says so
} Weave;
enum { WEAVE_PLACES = 4 };
typedef struct { // an element of what a part makes
  uint32_t part;
  uint32_t n; // of the axes that were cut
  uint32_t axis[WEAVE_PLACES];
  int64_t at[WEAVE_PLACES];
} WeavePlace;
typedef VEC(WeavePlace) WeavePlaces;
// A number needs itself; the order depends on sizes that are open; there are too many elements; on
// the way is a box that is not taken apart by elements.
typedef enum { WEAVE_LOOP, WEAVE_OPEN, WEAVE_LARGE, WEAVE_WHOLE } WeaveAnswer;
typedef struct {
  WeaveAnswer answer;
  WeavePlaces loop; // the parts on the way round
} WeaveFault;
// map[part][wire] becomes the wire of the result. NULL: there is no order.
Diagram *diagram_weave(World *, Name, const Weave *, Id ***map, WeaveFault *);

// -- row_parts.c: tensors that lie in a row of numbers, cell after cell. Sizes are constants. -----
Id wire_part(World *, Diagram *, Id row, int64_t offset, Type, Name, Id origin);
Id wire_row(World *, Diagram *, Id tensor, Id origin); // the tensor as a row
// Is this what wire_part makes? Then its result may be the memory of its operand.
bool box_is_part(World *, const Diagram *, const Box *, int64_t *offset);

// -- cost.c ---------------------------------------------------------------------------------------
typedef struct {
  Size multiplications, additions, functions; // polynomials
  Size memory_all;                            // elements of all wires
  Size memory_peak; // the largest section: wires alive at once (by the numbers, if all sizes are
                    // known, else the sum's largest degree)
} Cost;
Cost diagram_cost(World *, const Diagram *);
// What the gradient costs without the reverse: the forward derivative, once for each number among
// inputs and weights.
Cost diagram_cost_forward_mode(World *, const Diagram *);

#endif
