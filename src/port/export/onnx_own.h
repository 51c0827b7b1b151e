// Private to export: a diagram on its way to an ONNX graph.
//
// Values are tensors of the graph under construction, nodes make them; both refer by number. A value
// whose numbers are known, a weight above all, stays a constant through everything that only moves
// numbers, and becomes an initializer when the graph is written, if something reads it. What nobody
// reads is not written either.
#ifndef LIMN_PORT_EXPORT_ONNX_OWN_H
#define LIMN_PORT_EXPORT_ONNX_OWN_H

#include "port/export/export.h"
#include "port/onnx/write.h"

typedef struct {
  const char *name; // that it would like
  OutType type;
  uint32_t rank;
  Size *dim;
  Id node;            // that makes it; 0: an input or a constant
  uint32_t port;      // which output of it
  const double *data; // a constant; otherwise NULL
  int64_t count;      // of these
  bool weight;        // its name is a path
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

typedef struct {
  Export *e;
  World *w;
  Arena *a;
  OutType real; // of numbers
  VEC(GraphValue) value;
  VEC(GraphNode) node;
  GraphLevel *level;
  Table *constant; // small ones, by what is in them
  VEC(SizeSource) source;
  Name said;                 // the name of the wire that is being made
  struct PythonWork *python; // not ONNX is written but Python: calls and slopes are kept
  bool failed;
} Onnx;

// -- onnx_graph.c: values and nodes ---------------------------------------------------------------
bool onnx_refuse(Onnx *, Id origin, const char *format, ...) __attribute__((format(printf, 3, 4)));
OutType onnx_type_of(const Onnx *, Base);
GraphValue *onnx_value(Onnx *, Id);
bool onnx_is_known(const Onnx *, Id); // its numbers are
bool onnx_is_one(Onnx *, Size);
bool onnx_is_number(Onnx *, Size, int64_t *);
Size onnx_one(Onnx *);
Id onnx_input(Onnx *, const char *name, OutType, uint32_t rank, const Size *dim);
Id onnx_data(Onnx *, OutType, uint32_t rank, const Size *dim, const double *data); // copied
Id onnx_number(Onnx *, OutType, double);
Id onnx_list(Onnx *, uint32_t n, const int64_t *); // [n]
// A node with one result of this type and these sizes.
Id onnx_node(Onnx *, const char *op, uint32_t nin, const Id *in, const GraphValue *like);
Id onnx_more(Onnx *, Id value, OutType, uint32_t rank, const Size *dim); // one more result
void onnx_attribute_number(Onnx *, Id value, const char *name, int64_t);
void onnx_attribute_real(Onnx *, Id value, const char *name, double);
void onnx_attribute_text(Onnx *, Id value, const char *name, const char *);
void onnx_attribute_list(Onnx *, Id value, const char *name, uint32_t n, const int64_t *);
GraphNode *onnx_maker(Onnx *, Id value);
// Element by element: the sizes are those of all, 1 being any.
GraphValue onnx_common(Onnx *, OutType, uint32_t nin, const Id *in);
Id onnx_each(Onnx *, const char *op, OutType, uint32_t nin, const Id *in);

// -- onnx_move.c: numbers that are only moved -----------------------------------------------------
Id onnx_transpose(Onnx *, Id, const uint32_t *axis); // [rank]: which axis comes here
Id onnx_reshape(Onnx *, Id, uint32_t rank, const Size *);
Id onnx_unsqueeze(Onnx *, Id, uint32_t rank, const bool *fresh); // rank: of the result
Id onnx_expand(Onnx *, Id, uint32_t rank, const Size *);
Id onnx_gather(Onnx *, Id, Id places, uint32_t axis);
Id onnx_slice(Onnx *, Id, uint32_t axis, int64_t from, int64_t to, int64_t step);
Id onnx_pad(Onnx *, Id, uint32_t axis, int64_t before, int64_t behind, double with);
Id onnx_cast(Onnx *, Id, OutType);

// -- onnx_size.c: sizes as numbers of the graph ---------------------------------------------------
Id onnx_size(Onnx *, Size);                         // [1]
Id onnx_shape(Onnx *, uint32_t rank, const Size *); // [rank]
Id onnx_count_up(Onnx *, Size);                     // 0, 1, … of so many
Id onnx_whole(Onnx *, const char *op, Id a, Id b);  // whole numbers: folded where both are known
Size onnx_product(Onnx *, uint32_t n, const Size *);

// -- onnx_body.c: scalars -------------------------------------------------------------------------
typedef struct {
  Onnx *o;
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

// -- onnx_place.c: operands on the box of indices --------------------------------------------------
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

// -- onnx_loop.c ----------------------------------------------------------------------------------
void onnx_loop(Onnx *, const Diagram *, const Box *, Id *of_wire);
bool index_is_reduced(const LoopWork *, uint32_t index);
// A value on the kept indices, as the output has it.
Id put_output(LoopWork *, Id value);
bool loop_is_product(const Loop *, bool *of); // of the operands that are marked, each once

// -- onnx_known.c, onnx_window.c, onnx_pattern.c: what has an operator of its own; 0: it has none --
Id known_product(LoopWork *);
Id known_window(LoopWork *);
Id known_pattern(Onnx *, const Diagram *, const Box *, const Id *of_wire);

// -- onnx_pattern.c: matching ---------------------------------------------------------------------
enum { PATTERN_VALUES = 5, PATTERN_NUMBERS = 2 }; // a b c d e; k l
typedef struct {
  uint32_t value[PATTERN_VALUES]; // scalar + 1; 0: not bound
  uint32_t number[PATTERN_NUMBERS];
} ScalarMatch;
bool scalar_number(const Onnx *, const Loop *, uint32_t at, double *);
bool matches_text(Onnx *, const Loop *, uint32_t at, const char *text, ScalarMatch *);
double match_number(const Onnx *, const Loop *, const ScalarMatch *, uint32_t which);
// Which operand a value of a match is; false: it is none.
bool match_operand(const Loop *, const ScalarMatch *, uint32_t which, uint32_t *operand);
const Box *loop_maker(const Diagram *, Id wire); // a loop of which it is the first result, or NULL
// The index at each axis, if every coordinate is a whole index of its own; or NULL.
uint32_t *plain_axes(Onnx *, const Loop *, const Access *, const Type *);
// A loop that only goes over its output, whose body is this; or NULL.
const Box *each_box(Onnx *, const Diagram *, Id wire, const char *text, ScalarMatch *);
// Does an operand have all axes of the output, in order, or all but one?
bool reads_in_order(Onnx *, const Diagram *, const Box *, uint32_t operand, uint32_t but);
Id known_softmax(Onnx *, const Diagram *, const Box *, const Id *of_wire); // onnx_softmax.c

// -- onnx_scan.c ----------------------------------------------------------------------------------
void onnx_scan(Onnx *, const Diagram *, const Box *, Id *of_wire);

// -- onnx.c ---------------------------------------------------------------------------------------
void onnx_boxes(Onnx *, const Diagram *, Id *of_wire);
void onnx_see_sizes(Onnx *, Id value, const Type *); // where size variables are to be read off

// -- python_module.c, for what only Python keeps ---------------------------------------------------
void python_call(Onnx *, const Diagram *, const Box *, Id *of_wire);
Id python_noise(Onnx *, const Type *, Noise);

// -- onnx_tidy.c: transposes sink until they meet --------------------------------------------------
void onnx_tidy(Onnx *);

// -- onnx_write.c ---------------------------------------------------------------------------------
bool onnx_written(Onnx *, const char *name, Bytes *);
void onnx_what_is_read(Onnx *, bool *node, bool *value); // [node], [value]: marked

#endif
