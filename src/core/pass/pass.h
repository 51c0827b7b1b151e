// pass: the compiler passes: inlining, simplification, differentiation, composition, cost model.
// Each maps a diagram to a new diagram.
//
//   Diagram *flat = diagram_inline(w, d);
//   Diagram *grad = diagram_reverse(w, flat, &(Wanted){0});
#ifndef LIMN_CORE_PASS_PASS_H
#define LIMN_CORE_PASS_PASS_H

#include "core/diagram/diagram.h"

// -- inline.c -------------------------------------------------------------------------------------
// Replaces every call by the callee's boxes, in bodies of scans too, except calls of diagrams with
// a custom reverse.
Diagram *diagram_inline(World *, const Diagram *);
// Inlines calls with a custom reverse too; used after differentiation.
Diagram *diagram_inline_all(World *, const Diagram *);
// Keeps calls of diagrams with this name too.
Diagram *diagram_inline_but(World *, const Diagram *, Name kept);
// The number of boxes after inlining. Callees are shared, so it may be exponential in the size of
// the diagram. Passes accept up to BOXES_LIMIT (each box costs kilobytes and some ten
// microseconds); the interpreter runs calls without inlining and accepts more.
enum { BOXES_LIMIT = 100000, BOXES_INTERPRETED = 1000000 };
uint64_t diagram_boxes(World *, const Diagram *); // saturates below UINT32_MAX

// -- derive.c -------------------------------------------------------------------------------------
// forward: (in, params, d in, d params) -> (out, d out)          Jacobian–vector product
// reverse: (in, params, d out) -> (d in, d params)               vector–Jacobian product
// Real and bit wires have tangents; labels have none. Params stay params; the derivatives (d …) are
// inputs after `in`. Forward and gradient keep next values of params; reverse keeps them if
// keep_out. A derivative that is zero is returned as a wire filled with 0.
typedef struct {
  const bool *want_in;    // [input]; NULL = all
  const bool *want_param; // [param]; NULL = all weights
  bool keep_out;          // reverse returns the outputs too, before the cotangents
} Wanted;
Diagram *diagram_reverse(World *, const Diagram *, const Wanted *);
Diagram *diagram_forward(World *, const Diagram *, const Wanted *);
uint32_t label_results(const Diagram *); // number of results that are labels, and have no gradient
// One reverse pass for several scalar outputs (losses), each of which trains only some weights:
// output o contributes to the params p with mask[o][p]. A wire has one cotangent for each class of
// outputs that reach the same classes of weights upstream. The result returns the outputs, then d
// param for every param in some mask, in order.
Diagram *diagram_gradient(World *, const Diagram *, const bool *const *mask);
// The same for a flat diagram. The result also returns each of `wires`, followed by the wire's
// cotangent: the gradient of the sum of all outputs.
Diagram *diagram_gradient_at(World *, const Diagram *flat, const bool *const *mask,
                             const Ids *wires);
// For a flat diagram: [output][input, then param] whether the derivative of the output by the input
// may be nonzero.
bool *output_dependence(World *, const Diagram *);

bool has_calls(const Diagram *); // of other diagrams, here or in a body

// clamp_step.c: in a diagram that reads both clocks, `step` and `steps`, replaces `step` by
// min(step, steps - 1), in place.
void diagram_clamp_step(World *, Diagram *);

// -- simplify.c -----------------------------------------------------------------------------------
// Common subexpression elimination, dead code elimination, constant folding, and composition of
// permuting copies.
Diagram *diagram_simplify(World *, const Diagram *);

// fuse_producers.c: Fuses a producer loop into its only reader if the reader has fewer points.
Diagram *diagram_fuse(World *, const Diagram *);

// contract.c: contraction order. Splits a product of several operands into binary products, in the
// order with the fewest multiplications (as einsum does). Reorders sums, so rounding changes.
Diagram *diagram_contract(World *, const Diagram *);

// scan_hoist.c: Loop-invariant code motion for scans: computations that do not depend on the
// carries are done for all steps at once; sums that a scan carries become reductions outside. For
// flat diagrams. Reorders carried sums.
Diagram *diagram_hoist_scans(World *, const Diagram *);

// loop_hoist.c: Loop-invariant code motion for loops: scalars that are the same at every point
// become loops without indices.
Diagram *diagram_hoist_loops(World *, const Diagram *);

// split.c: The part of a diagram up to these wires, which become its outputs, with all its inputs and
// params; without next values.
Diagram *diagram_up_to(World *, const Diagram *, const Ids *wires);
// Leaves out the inputs that nothing reads, in place; returns the indices of the others.
Ids diagram_drop_inputs(World *, Diagram *);
// Cuts a diagram in two: `before` has these wires as outputs, `after` has them as inputs.
// False: an output depends on something else.
bool diagram_split(World *, const Diagram *, const Ids *wires, Diagram **before, Diagram **after);

// vmap.c: Vectorisation over a batch (vmap): the given inputs and all results get one more axis in
// front. Samples of the batch are independent. Values that do not depend on the given inputs, and
// noise, are shared by all samples.
Diagram *diagram_vmap(World *, const Diagram *, const bool *given, Index);

// -- connect.c ------------------------------------------------------------------------------------
typedef struct {
  uint32_t part; // part number + 1; 0: the boundary of the result
  uint32_t port; // output of the part, or input of the result
} ConnectEnd;
typedef struct {
  const Diagram *d;
  const char *prefix;   // prefix of the paths of its params, or NULL
  const ConnectEnd *in; // [input] where its value comes from
} ConnectPart;
typedef struct {
  uint32_t nparts, nin, nout;
  const ConnectPart *part;
  const ConnectEnd *like; // [nin] an input of the result has the type and name of this part's input
  const ConnectEnd *out;  // [nout] outputs of parts
  // If an evaluation order depends on unknown sizes: instead of failing, fill the wires with zeros;
  // only their types are used.
  bool stub;
} Connect;
enum { CONNECT_PLACES = 4 };
typedef struct { // a box of a part, or one element of it
  uint32_t part;
  uint32_t n; // number of axes with a fixed position
  uint32_t axis[CONNECT_PLACES];
  int64_t at[CONNECT_PLACES];
} ConnectPlace;
typedef VEC(ConnectPlace) ConnectPlaces;
// CYCLE: an algebraic loop, an element depends on itself. OPEN: the order depends on unknown sizes.
// LARGE: too many elements to unroll. WHOLE: the cycle goes through a box that cannot be split into
// elements.
typedef enum { CONNECT_CYCLE, CONNECT_OPEN, CONNECT_LARGE, CONNECT_WHOLE } ConnectAnswer;
typedef struct {
  ConnectAnswer answer;
  ConnectPlaces loop; // the elements on the cycle
} ConnectFault;
// map[part][wire] is set to the wire of the result. NULL: an algebraic loop or an unknown order,
// see the fault.
Diagram *diagram_connect(World *, Name, const Connect *, Id ***map, ConnectFault *);

// -- flat_view.c: tensors stored in a flat buffer; all sizes are constant -------------------------
Id wire_view(World *, Diagram *, Id row, int64_t offset, Type, Name, Id origin);
Id wire_flatten(World *, Diagram *, Id tensor, Id origin); // the tensor as a rank-1 buffer
// True if the box is a view as made by wire_view: the result may alias the operand.
bool box_is_view(World *, const Diagram *, const Box *, int64_t *offset);

// -- cost.c ---------------------------------------------------------------------------------------
typedef struct {
  Size multiplications, additions, functions; // polynomials
  Size memory_all;                            // elements of all wires
  // The largest total of wires alive at once: by value if all sizes are known, otherwise by degree
  // of the polynomial.
  Size memory_peak;
} Cost;
Cost diagram_cost(World *, const Diagram *);
// The cost of the gradient by forward mode: the forward derivative, once per element of inputs and
// weights.
Cost diagram_cost_forward_mode(World *, const Diagram *);

#endif
