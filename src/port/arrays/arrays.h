// arrays: lowers a diagram to a graph of array operations, the common input of the ONNX, PyTorch
// and JAX exporters. The operations are those of ONNX; for exporters that keep calls (Python),
// scalar functions keep their names of ops.def.
//
//   ArrayGraph g = {.e = e, .w = w, .a = arena, .real = OUT_FLOAT, …};
// the boundary is made by the caller
// all boxes; sets g.failed with a diagnostic
//
// Values are tensors and nodes are operations; both refer to each other by index. Constants, above
// all weights, are folded through operations that only move data, and become initializers when the
// graph is written, if a live node reads them. Dead nodes are not written.
#ifndef LIMN_PORT_ARRAYS_ARRAYS_H
#define LIMN_PORT_ARRAYS_ARRAYS_H

#include "core/diagram/subst.h"
#include "port/onnx/write.h"
#include "port/out/out.h"

typedef struct {
  const char *name; // preferred name
  OutType type;
  uint32_t rank;
  Size *dim;
  Id node;             // the node that makes it; 0: an input or constant
  uint32_t port;       // index of the output of that node
  const double *data;  // a constant; otherwise NULL
  int64_t count;       // number of elements in `data`
  bool weight;         // its name is a path
  Id form_of;          // of a transposed or reshaped weight: the original; 0: it is the original
  const int64_t *turn; // [rank] the source axis of each axis; NULL: only reshaped
} GraphValue;

typedef struct GraphLevel GraphLevel;
typedef struct {
  const char *op;
  bool each; // elementwise
  Ids in, out;
  VEC(OutAttribute) attribute;
  GraphLevel *inside; // of a Scan: its body
} GraphNode;

// A graph, or the body of a Scan: its nodes in order.
struct GraphLevel {
  GraphLevel *around;
  Ids node, in, out;
  VEC(Replaced) size; // sizes computed at this level: .var is the value, .value the size
};

// An input from whose shape a size variable can be read.
typedef struct {
  Id var, value; // an input
  uint32_t axis;
} SizeSource;

// How an exporter handles calls, custom gradients and noise. Without it, calls have been inlined
// and noise is refused.
typedef struct ArrayGraph ArrayGraph;
typedef struct {
  void (*call)(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);
  Id (*noise)(ArrayGraph *, const Type *, Noise);
  void *work; // the exporter's state
} ArrayCalls;

struct ArrayGraph {
  Export *e;
  World *w;
  Arena *a;
  OutType real; // element type of real numbers
  VEC(GraphValue) value;
  VEC(GraphNode) node;
  GraphLevel *level;
  Table *constant; // small constants by contents
  VEC(SizeSource) source;
  Name said;               // the name of the wire being lowered
  const ArrayCalls *calls; // or NULL
  bool failed;
};

// -- graph.c: values and nodes --------------------------------------------------------------------
bool arrays_refuse(ArrayGraph *, Id origin, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
OutType arrays_type_of(const ArrayGraph *, Base);
GraphValue *arrays_value(ArrayGraph *, Id);
bool arrays_is_known(const ArrayGraph *, Id); // it is a constant
bool arrays_is_one(ArrayGraph *, Size);
bool arrays_is_number(ArrayGraph *, Size, int64_t *);
Size arrays_one(ArrayGraph *);
Id arrays_input(ArrayGraph *, const char *name, OutType, uint32_t rank, const Size *dim);
Id arrays_data(ArrayGraph *, OutType, uint32_t rank, const Size *dim, const double *data); // copied
Id arrays_number(ArrayGraph *, OutType, double);
Id arrays_list(ArrayGraph *, uint32_t n, const int64_t *); // [n]
// Adds a node with one result of the type of `like`.
Id arrays_node(ArrayGraph *, const char *op, uint32_t nin, const Id *in, const GraphValue *like);
Id arrays_add_result(ArrayGraph *, Id value, OutType, uint32_t rank,
                     const Size *dim); // adds a result to its node
void arrays_attribute_number(ArrayGraph *, Id value, const char *name, int64_t);
void arrays_attribute_real(ArrayGraph *, Id value, const char *name, double);
void arrays_attribute_text(ArrayGraph *, Id value, const char *name, const char *);
void arrays_attribute_list(ArrayGraph *, Id value, const char *name, uint32_t n, const int64_t *);
GraphNode *arrays_maker(ArrayGraph *, Id value);
// The broadcast type of operands of an elementwise node.
GraphValue arrays_common(ArrayGraph *, OutType, uint32_t nin, const Id *in);
Id arrays_each(ArrayGraph *, const char *op, OutType, uint32_t nin, const Id *in);

// -- move.c: operations that only move data -------------------------------------------------------
Id arrays_transpose(ArrayGraph *, Id, const uint32_t *axis); // [rank] the source axis of each axis
Id arrays_reshape(ArrayGraph *, Id, uint32_t rank, const Size *);
Id arrays_unsqueeze(ArrayGraph *, Id, uint32_t rank, const bool *fresh); // rank: of the result
Id arrays_expand(ArrayGraph *, Id, uint32_t rank, const Size *);
Id arrays_gather(ArrayGraph *, Id, Id places, uint32_t axis);
Id arrays_slice(ArrayGraph *, Id, uint32_t axis, int64_t from, int64_t to, int64_t step);
Id arrays_pad(ArrayGraph *, Id, uint32_t axis, int64_t before, int64_t behind, double with);
Id arrays_cast(ArrayGraph *, Id, OutType);

// -- size.c: sizes as values ----------------------------------------------------------------------
Id arrays_size(ArrayGraph *, Size);                         // [1]
Id arrays_shape(ArrayGraph *, uint32_t rank, const Size *); // [rank]
Id arrays_count_up(ArrayGraph *, Size);                     // 0, 1, …, n - 1
// An operation on integers; folded if both are constants.
Id arrays_whole(ArrayGraph *, const char *op, Id a, Id b);
Size arrays_product(ArrayGraph *, uint32_t n, const Size *);

// The lowering of one loop.
typedef struct {
  ArrayGraph *o;
  const Diagram *d;
  const Box *box;
  const Loop *loop;
  // The iteration space of the lowered loop: its indices of more than one element, kept ones before
  // reduced ones.
  uint32_t n, kept, *order;
  Id *operand; // [nin] broadcast to the iteration space, axes aligned at the end
  Id live;     // the points at which all operands are in bounds; 0: all
  Id *in;      // [wire] values of the diagram
} LoopWork;
Id body_value(LoopWork *);
// A scalar pattern with an ONNX operator of its own; 0: none. value: of the preceding scalars.
Id body_operator(LoopWork *, uint32_t scalar, const Id *value);

// -- place.c: operands on the iteration space -----------------------------------------------------
// A tensor each of whose axes is one index.
typedef struct {
  Id value;
  uint32_t rank, *index; // [rank]
  Id live;               // where the read is in bounds; 0: everywhere
} Placed;
// False: the access needs `place_flat`.
bool place_axes(LoopWork *, uint32_t operand, Placed *);
Id place_flat(LoopWork *, uint32_t operand, Id *live); // gathers by computed offsets
Id place_on_box(LoopWork *, const Placed *);
Id place_coord(LoopWork *, const Coord *); // an affine coordinate at each point
// Is it in bounds for an axis of this size at all points?
bool coord_is_inside(LoopWork *, const Coord *, Size axis);
Id coord_live(LoopWork *, const Coord *, Size axis); // where it is in bounds
void mask_and(LoopWork *, Id *live, Id more);        // logical and of two masks
// Indices that together enumerate an axis in row-major order, each completely.
bool coord_counts(LoopWork *, const Coord *, Size axis, uint32_t *n, uint32_t *index);
// One index that enumerates the axis.
bool coord_is_whole(LoopWork *, const Coord *, Size axis, uint32_t *index);

// -- loop.c ---------------------------------------------------------------------------------------
void arrays_loop(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);
bool index_is_reduced(const LoopWork *, uint32_t index);
// Stores a value over the kept indices as the output is laid out.
Id put_output(LoopWork *, Id value);
// Is the body a product of the marked operands, each once?
bool loop_is_product(const Loop *, bool *of);

// -- known.c, window.c, pattern.c: loops with an operator of their own; 0: none -------------------
Id known_product(LoopWork *);
Id known_window(LoopWork *);
Id known_pattern(ArrayGraph *, const Diagram *, const Box *, const Id *of_wire);

// -- pattern.c: matching --------------------------------------------------------------------------
enum { PATTERN_VALUES = 5, PATTERN_NUMBERS = 2 }; // a b c d e; k l
typedef struct {
  uint32_t value[PATTERN_VALUES]; // scalar + 1; 0: not bound
  uint32_t number[PATTERN_NUMBERS];
} ScalarMatch;
bool scalar_number(const ArrayGraph *, const Loop *, uint32_t at, double *);
bool matches_text(ArrayGraph *, const Loop *, uint32_t at, const char *text, ScalarMatch *);
double match_number(const ArrayGraph *, const Loop *, const ScalarMatch *, uint32_t which);
// The operand that a variable of the match is bound to; false: it is no operand.
bool match_operand(const Loop *, const ScalarMatch *, uint32_t which, uint32_t *operand);
// The loop that makes a wire as its first result; or NULL.
const Box *loop_maker(const Diagram *, Id wire);
// The index of each axis, if every coordinate is a single index and all differ; or NULL.
uint32_t *plain_axes(ArrayGraph *, const Loop *, const Access *, const Type *);
// An elementwise loop with this body; or NULL.
const Box *each_box(ArrayGraph *, const Diagram *, Id wire, const char *text, ScalarMatch *);
// Does an operand have all axes of the output, in order, possibly except `but`?
bool reads_in_order(ArrayGraph *, const Diagram *, const Box *, uint32_t operand, uint32_t but);
Id known_softmax(ArrayGraph *, const Diagram *, const Box *, const Id *of_wire); // softmax.c

// -- scan.c ---------------------------------------------------------------------------------------
void arrays_scan(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);

// -- boxes.c --------------------------------------------------------------------------------------
GraphValue arrays_like(ArrayGraph *, const Type *); // a value of this type
void arrays_boxes(ArrayGraph *, const Diagram *, Id *of_wire);
// From which axes size variables can be read.
void arrays_note_sizes(ArrayGraph *, Id value, const Type *);

#endif
