// Private to import: scopes, nodes, and helpers for operators.
#ifndef LIMN_PORT_IMPORT_OWN_H
#define LIMN_PORT_IMPORT_OWN_H

#include "core/diagram/ops.h"
#include "port/import/import.h"
#include "port/onnx/onnx.h"

// The names in a graph, a subgraph, or a function.
typedef struct ImpScope {
  Table *names;           // to values
  struct ImpScope *outer; // enclosing graph; NULL: none is visible
  const OnnxGraph *graph; // NULL for a function
  Table *declared;        // indices + 1 of declared value infos: `value`, then `output`
  const char *path;       // prefix of the call, "" at the top
  const OnnxOpsets *opset;
  uint32_t depth;  // nesting depth of functions
  uint32_t nested; // nesting depth of graphs
} ImpScope;

struct ImpRow;
typedef struct ImpNode {
  Importer *m;
  ImpScope *scope;
  const OnnxNode *node;
  const struct ImpRow *row;
  Id *in; // [nin] 0: omitted
  uint32_t nin, nout;
  int64_t version; // opset version
} ImpNode;

typedef enum { IMP_SAME, IMP_BOOL, IMP_INT, IMP_WRAP } ImpResult; // result type of a template
typedef struct ImpRow {
  const char *ops, *domain; // ops: separated by spaces
  bool (*write)(ImpNode *);
  const char *right, *whole; // templates: for floats, and for integers (NULL: the same)
  ImpResult result;
} ImpRow;

// line.c
#define READS(...) (const ImpRead[]){__VA_ARGS__}, COUNT(((const ImpRead[]){__VA_ARGS__}))
Id add_line(ImpNode *, OnnxType, const ImpShape *, ImpForm, const ImpRead *, uint32_t n);
// Do the values read have the axes and sizes that their indices require? False with a message.
bool reads_fit(ImpNode *, const char *right, const ImpRead *, uint32_t n);
Id bits_to_number(ImpNode *, Id); // converts bits to 0 and 1
Id number_to_bits(ImpNode *, Id); // and back: nonzero is true

// equation.c: adds a line from an equation, inferring its sizes. 0 with a message
enum { EQUATIONS_MOST = 8 };
typedef struct { // results of previous equations
  const char *name[EQUATIONS_MOST];
  Id value[EQUATIONS_MOST];
} Named;
#define IN(...)                                                                                    \
  (const Id[]) { __VA_ARGS__ }
Id add_equation(ImpNode *, OnnxType, const Id *in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The same with the type of the first operand.
Id equation(ImpNode *, const Id *in, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Sets result 0 to an equation of the node's inputs. False with a message.
bool op_gives(ImpNode *, const char *format, ...) __attribute__((format(printf, 2, 3)));
Id equation_text(ImpNode *, OnnxType, const Id *in, const Named *, const char *text);
// The equations of the node's row, of these operands: y, y1 and y2. False with a message.
bool row_equations(ImpNode *, OnnxType, const Id *in, Named *, Id result[3]);

// node.c: access to a node's inputs, attributes and results
bool op_refuse(ImpNode *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Sets result k; false with a message: there is no such output.
bool op_set_result(ImpNode *, uint32_t k, Id);
Id op_in(const ImpNode *, uint32_t k);           // 0: omitted
ImpValue *op_value(const ImpNode *, uint32_t k); // of an input that is present
int64_t attr_int(const ImpNode *, const char *name, int64_t otherwise);
float attr_float(const ImpNode *, const char *name, float otherwise);
const char *attr_text(const ImpNode *, const char *name, const char *otherwise);
typedef struct {
  bool there;
  uint32_t n;
  int64_t *at;
} ImpInts;
ImpInts attr_ints(const ImpNode *, const char *name);
// The integers of an attribute, or of input k, which must be constant. False with a message.
bool op_list(ImpNode *, const char *name, uint32_t k, ImpInts *);
const char *symbol_names(Importer *); // names of the model's symbolic sizes: `t`, `b`
// Adds to a refusal that a size is symbolic; returns false.
bool op_wants_sizes(ImpNode *);
bool op_misfit(ImpNode *, ImpSize, ImpSize); // reports that these sizes differ; returns false
// Reads an input that is a shape, possibly symbolic.
bool op_sizes(ImpNode *, uint32_t k, ImpShape *);
// Negative values count from the end.
bool op_axis(ImpNode *, int64_t axis, uint32_t rank, uint32_t *out);
bool op_scalar(ImpNode *, uint32_t k, double *); // an input that is one known number
bool op_known(ImpNode *, uint32_t k);            // is it constant? False with a message.
bool op_fixed(ImpNode *, uint32_t k);            // are all its sizes numbers? False with a message.
bool op_fixed_axis(ImpNode *, uint32_t k, uint32_t axis); // is that size a number?
bool broadcast_shape(ImpNode *, const Id *in, uint32_t n, ImpShape *);
bool is_float(OnnxType);
bool is_whole(OnnxType);

// import.c
bool import_nodes(Importer *, ImpScope *, const OnnxNode *, uint32_t n);
bool import_initializers(Importer *, ImpScope *, const OnnxGraph *);
ImpScope *imp_new(Importer *, ImpScope *outer, const OnnxOpsets *, const OnnxGraph *);
Id imp_find(const ImpScope *, const char *name); // 0: undefined
void imp_put(ImpScope *, const char *name, Id);
// Defines a new name in its graph. False with a message.
bool imp_define(Importer *, ImpScope *, const char *name, Id);

// learned.c: decides which initializers are trainable
bool trainable_begin(Importer *); // false with a message
bool is_trainable(Importer *, const OnnxTensor *, const double *data);
void trainable_note(Importer *, const OnnxTensor *, Id, const double *data);
void trainable_warn(Importer *);

// declared.c: checks declared types and shapes against inferred ones. False with a message
void declared_record(Importer *, ImpScope *);
bool declared_fits(Importer *, const OnnxNode *, const OnnxValueInfo *, Id); // node may be NULL
bool declared_made(ImpNode *); // the results of a node

// control.c: the nodes of a function body, with the attributes of the call substituted
OnnxNode *nodes_with(Importer *, const OnnxFunction *, const OnnxNode *call, const OnnxNode *,
                     uint32_t n);

// Its results; NULL with a message.
Id *run_graph(ImpNode *, const OnnxGraph *, const Id *in, uint32_t nin);

// steps.c: a graph executed step by step, as a scan
typedef struct {
  const OnnxGraph *graph;
  ImpSize steps;
  uint32_t rows, carried, gathered;
  const Id *row, *start; // [rows] with the step axis in front; [carried]
  Id *in;                // [inputs of the graph]: only those that are equal in every step are set
  // Positions of rows and carried values in the graph; gathered outputs come last.
  uint32_t row_in, carry_in, carry_out;
  Id *last, *all; // [carried], [gathered]: the results
} Steps;
bool add_step_scan(ImpNode *, Steps *); // false: not possible; no lines were added

// fold.c: constant folding. False: not constant
bool fold_node(ImpNode *);

// rows.c
// NULL: the operator is not known.
const ImpRow *row_find(Arena *, const OnnxNode *);
Fn operator_function(const char *op);        // limn's function that this operator is; or FN_COUNT
const char *scalar_function(const char *op); // its name, of one real number; or NULL
// elementwise.c: elementwise templates with broadcasting, and other families
bool op_map(ImpNode *);
// Wraps to the range of an integer type.
const char *wrap_integer(Importer *, OnnxType, const char *right);
#define ROW(ops, domain, write, right, whole, result) bool write(ImpNode *);
#include "port/import/ops.def"
#undef ROW

// shape.c: also used for constants
bool reshape_shape(ImpNode *, ImpShape *);
bool squeeze_shape(ImpNode *, ImpShape *);
bool unsqueeze_shape(ImpNode *, ImpShape *);
Id add_reshape(ImpNode *, Id, const ImpShape *);
int64_t slice_from(int64_t start, int64_t size, int64_t step);
int64_t slice_to(int64_t end, int64_t size, int64_t step);
int64_t slice_count(int64_t from, int64_t to, int64_t step);

// cast.c: a template that converts a value
const char *cast_text(Importer *, const char *x, OnnxType from, OnnxType to, bool saturate,
                      const char *mode);

// cut.c: slices and splits, also used for constants. False with a message
typedef struct {
  uint32_t axis;
  int64_t start, end, step;
} SliceCut;
bool slice_cuts(ImpNode *, SliceCut *, uint32_t *n);          // [ONNX_RANK_LIMIT]
bool split_sizes(ImpNode *, uint32_t *axis, int64_t **sizes); // [node->out.n]
// Gathers constant positions of an axis whose size is a number.
Id add_gather(ImpNode *, Id, uint32_t axis, const int64_t *place, int64_t count);

Id add_pad(ImpNode *, Id, int64_t *before, int64_t *after, Id with); // 0 with a message

// nn.c
Id add_matmul(ImpNode *, Id a, Id b, OnnxType); // matrix product; 0 with a message

// conv.c
Id add_convolution(ImpNode *, Id x, Id w, Id bias, OnnxType); // 0 with a message

// index.c
// Labels for an axis; 0: it has to be compared with all positions.
Id label_index(ImpNode *, Id, ImpSize axis, bool table);

#endif
