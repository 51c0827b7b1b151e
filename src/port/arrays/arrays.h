// arrays: a diagram becomes a graph of array operations, which ONNX, PyTorch and JAX are written
// from. The operations are those of ONNX; where calls are kept (Python), what happens number by
// number keeps the names of ops.def.
//
//   ArrayGraph g = {.e = e, .w = w, .a = arena, .real = OUT_FLOAT, …};
//   of_wire[input] = arrays_input(&g, "x", …);    // the boundary is the caller's
//   arrays_boxes(&g, diagram, of_wire);           // all boxes; g.failed with a diagnostic
//
// Values are tensors of the graph under construction, nodes make them; both refer by number. A value
// whose numbers are known, a weight above all, stays a constant through everything that only moves
// numbers, and becomes an initializer when the graph is written, if something reads it. What nobody
// reads is not written either.
#ifndef LIMN_PORT_ARRAYS_ARRAYS_H
#define LIMN_PORT_ARRAYS_ARRAYS_H

#include "port/onnx/write.h"
#include "port/out/out.h"

typedef struct {
  const char *name; // that it would like
  OutType type;
  uint32_t rank;
  Size *dim;
  Id node;             // that makes it; 0: an input or a constant
  uint32_t port;       // which output of it
  const double *data;  // a constant; otherwise NULL
  int64_t count;       // of these
  bool weight;         // its name is a path
  Id form_of;          // of a weight in another form: what was moved; 0: it is as it is kept
  const int64_t *turn; // and how: [rank] which axis comes here; NULL: only sizes are others
} GraphValue;

typedef struct GraphLevel GraphLevel;
typedef struct {
  const char *op;
  bool each; // element by element
  Ids in, out;
  VEC(OutAttribute) attribute;
  GraphLevel *inside; // of a Scan: its body
} GraphNode;

// A graph, or the body of a Scan: its nodes in order.
struct GraphLevel {
  GraphLevel *around;
  Ids node, in, out;
  VEC(Replaced) size; // sizes that were computed here: .var is the value, .value the size
};

// Where the number behind a size variable is seen.
typedef struct {
  Id var, value; // an input
  uint32_t axis;
} SizeSource;

// Who keeps calls, slopes and noise. Without, calls were inlined, and noise is refused.
typedef struct ArrayGraph ArrayGraph;
typedef struct {
  void (*call)(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);
  Id (*noise)(ArrayGraph *, const Type *, Noise);
  void *work; // theirs
} ArrayCalls;

struct ArrayGraph {
  Export *e;
  World *w;
  Arena *a;
  OutType real; // of numbers
  VEC(GraphValue) value;
  VEC(GraphNode) node;
  GraphLevel *level;
  Table *constant; // small ones, by what is in them
  VEC(SizeSource) source;
  Name said;               // the name of the wire that is being made
  const ArrayCalls *calls; // or NULL
  bool failed;
};

// -- graph.c: values and nodes --------------------------------------------------------------------
bool arrays_refuse(ArrayGraph *, Id origin, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
OutType arrays_type_of(const ArrayGraph *, Base);
GraphValue *arrays_value(ArrayGraph *, Id);
bool arrays_is_known(const ArrayGraph *, Id); // its numbers are
bool arrays_is_one(ArrayGraph *, Size);
bool arrays_is_number(ArrayGraph *, Size, int64_t *);
Size arrays_one(ArrayGraph *);
Id arrays_input(ArrayGraph *, const char *name, OutType, uint32_t rank, const Size *dim);
Id arrays_data(ArrayGraph *, OutType, uint32_t rank, const Size *dim, const double *data); // copied
Id arrays_number(ArrayGraph *, OutType, double);
Id arrays_list(ArrayGraph *, uint32_t n, const int64_t *); // [n]
// A node with one result of this type and these sizes.
Id arrays_node(ArrayGraph *, const char *op, uint32_t nin, const Id *in, const GraphValue *like);
Id arrays_more(ArrayGraph *, Id value, OutType, uint32_t rank, const Size *dim); // one more result
void arrays_attribute_number(ArrayGraph *, Id value, const char *name, int64_t);
void arrays_attribute_real(ArrayGraph *, Id value, const char *name, double);
void arrays_attribute_text(ArrayGraph *, Id value, const char *name, const char *);
void arrays_attribute_list(ArrayGraph *, Id value, const char *name, uint32_t n, const int64_t *);
GraphNode *arrays_maker(ArrayGraph *, Id value);
// Element by element: the sizes are those of all, 1 being any.
GraphValue arrays_common(ArrayGraph *, OutType, uint32_t nin, const Id *in);
Id arrays_each(ArrayGraph *, const char *op, OutType, uint32_t nin, const Id *in);

// -- move.c: numbers that are only moved ----------------------------------------------------------
Id arrays_transpose(ArrayGraph *, Id, const uint32_t *axis); // [rank]: which axis comes here
Id arrays_reshape(ArrayGraph *, Id, uint32_t rank, const Size *);
Id arrays_unsqueeze(ArrayGraph *, Id, uint32_t rank, const bool *fresh); // rank: of the result
Id arrays_expand(ArrayGraph *, Id, uint32_t rank, const Size *);
Id arrays_gather(ArrayGraph *, Id, Id places, uint32_t axis);
Id arrays_slice(ArrayGraph *, Id, uint32_t axis, int64_t from, int64_t to, int64_t step);
Id arrays_pad(ArrayGraph *, Id, uint32_t axis, int64_t before, int64_t behind, double with);
Id arrays_cast(ArrayGraph *, Id, OutType);

// -- size.c: sizes as numbers of the graph --------------------------------------------------------
Id arrays_size(ArrayGraph *, Size);                         // [1]
Id arrays_shape(ArrayGraph *, uint32_t rank, const Size *); // [rank]
Id arrays_count_up(ArrayGraph *, Size);                     // 0, 1, … of so many
Id arrays_whole(ArrayGraph *, const char *op, Id a,
                Id b); // whole numbers: folded where both are known
Size arrays_product(ArrayGraph *, uint32_t n, const Size *);

// -- body.c: scalars ------------------------------------------------------------------------------
typedef struct {
  ArrayGraph *o;
  const Diagram *d;
  const Box *box;
  const Loop *loop;
  // The box of indices, as it is laid out here: those with more than one place, the kept before the
  // reduced ones.
  uint32_t n, kept, *order;
  Id *operand; // [nin] on the box: broadcast to it, axes aligned at the end
  Id live;     // the points that are not skipped; 0: all
  Id *in;      // the values of the box's wires
} LoopWork;
Id body_value(LoopWork *);
// A pattern that has an operator of its own; 0: none. value: of the scalars before it.
Id body_known(LoopWork *, uint32_t scalar, const Id *value);

// -- place.c: operands on the box of indices ------------------------------------------------------
// A tensor each of whose axes is an index.
typedef struct {
  Id value;
  uint32_t rank, *index; // [rank]
  Id live;               // where it is inside, on the box; 0: everywhere
} Placed;
// False: only `place_flat` can.
bool place_axes(LoopWork *, uint32_t operand, Placed *);
Id place_flat(LoopWork *, uint32_t operand, Id *live); // on the box, by places in a row
Id place_on_box(LoopWork *, const Placed *);
Id place_coord(LoopWork *, const Coord *); // whole numbers on the box
// Is it never outside of an axis of this size?
bool coord_is_inside(LoopWork *, const Coord *, Size axis);
Id coord_live(LoopWork *, const Coord *, Size axis); // where it is inside
void live_add(LoopWork *, Id *live, Id more);        // both hold
// Several indices that count through an axis, the first slowest, each as often as it has places.
bool coord_counts(LoopWork *, const Coord *, Size axis, uint32_t *n, uint32_t *index);
bool coord_is_whole(LoopWork *, const Coord *, Size axis, uint32_t *index); // one index, all places

// -- loop.c ---------------------------------------------------------------------------------------
void arrays_loop(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);
bool index_is_reduced(const LoopWork *, uint32_t index);
// A value on the kept indices, as the output has it.
Id put_output(LoopWork *, Id value);
bool loop_is_product(const Loop *, bool *of); // of the operands that are marked, each once

// -- known.c, window.c, pattern.c: what has an operator of its own; 0: it has none ----------------
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
// Which operand a value of a match is; false: it is none.
bool match_operand(const Loop *, const ScalarMatch *, uint32_t which, uint32_t *operand);
const Box *loop_maker(const Diagram *, Id wire); // a loop of which it is the first result, or NULL
// The index at each axis, if every coordinate is a whole index of its own; or NULL.
uint32_t *plain_axes(ArrayGraph *, const Loop *, const Access *, const Type *);
// A loop that only goes over its output, whose body is this; or NULL.
const Box *each_box(ArrayGraph *, const Diagram *, Id wire, const char *text, ScalarMatch *);
// Does an operand have all axes of the output, in order, or all but one?
bool reads_in_order(ArrayGraph *, const Diagram *, const Box *, uint32_t operand, uint32_t but);
Id known_softmax(ArrayGraph *, const Diagram *, const Box *, const Id *of_wire); // softmax.c

// -- scan.c ---------------------------------------------------------------------------------------
void arrays_scan(ArrayGraph *, const Diagram *, const Box *, Id *of_wire);

// -- boxes.c --------------------------------------------------------------------------------------
GraphValue arrays_like(ArrayGraph *, const Type *); // a value of this type
void arrays_boxes(ArrayGraph *, const Diagram *, Id *of_wire);
void arrays_see_sizes(ArrayGraph *, Id value,
                      const Type *); // where size variables are to be read off

#endif
