// Private to the import: values, lines, nodes.
#ifndef LIMN_PORT_IMPORT_OWN_H
#define LIMN_PORT_IMPORT_OWN_H

#include "port/import/import.h"
#include "port/onnx/onnx.h"

// The names of a graph, of one inside it, or of a function.
typedef struct ImpScope {
  Table *names;           // to values
  struct ImpScope *outer; // NULL: none is seen
  const OnnxGraph *graph; // NULL: of a function
  Table *declared;        // what the graph says of them: from 1 on, first `value`, then `output`
  const char *path;       // of the call, "" at the top
  const OnnxOpsets *opset;
  uint32_t depth;  // of functions around it
  uint32_t nested; // graphs around it
} ImpScope;

struct ImpRow;
typedef struct ImpNode {
  Importer *m;
  ImpScope *scope;
  const OnnxNode *node;
  const struct ImpRow *row;
  Id *in; // [nin] 0: left out
  uint32_t nin, nout;
  int64_t version; // of the operator set
} ImpNode;

typedef enum { IMP_SAME, IMP_BOOL, IMP_INT, IMP_WRAP } ImpResult; // of a template: its type
typedef struct ImpRow {
  const char *op, *domain;
  bool (*write)(ImpNode *);
  const char *right, *whole; // templates: for floats, and for whole numbers (NULL: the same)
  ImpResult result;
} ImpRow;

// line.c
#define READS(...) (const ImpRead[]){__VA_ARGS__}, COUNT(((const ImpRead[]){__VA_ARGS__}))
Id say(ImpNode *, OnnxType, const ImpShape *, ImpForm, const ImpRead *, uint32_t n);
// Whether what is read has the axes and sizes that its indices want. False with a message
bool reads_fit(ImpNode *, const char *right, const ImpRead *, uint32_t n);
Id say_number(ImpNode *, Id); // bits as 0 and 1
Id say_bits(ImpNode *, Id);   // and back: what is not 0

// equation.c: a line as an equation of the language, which says its sizes. 0 with a message
enum { EQUATIONS_MOST = 8 };
typedef struct { // what equations before it have made
  const char *name[EQUATIONS_MOST];
  Id value[EQUATIONS_MOST];
} Named;
#define IN(...)                                                                                    \
  (const Id[]) { __VA_ARGS__ }
Id equation(ImpNode *, OnnxType, const Id *in, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
Id equation_text(ImpNode *, OnnxType, const Id *in, const Named *, const char *text);

// node.c: a node and what it has
bool op_refuse(ImpNode *, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool op_give(ImpNode *, uint32_t k, Id);         // false: there is none, as a message says
Id op_in(const ImpNode *, uint32_t k);           // 0: left out, or not there
ImpValue *op_value(const ImpNode *, uint32_t k); // of an input that is there
int64_t attr_int(const ImpNode *, const char *name, int64_t otherwise);
float attr_float(const ImpNode *, const char *name, float otherwise);
const char *attr_text(const ImpNode *, const char *name, const char *otherwise);
typedef struct {
  bool there;
  uint32_t n;
  int64_t *at;
} ImpInts;
ImpInts attr_ints(const ImpNode *, const char *name);
// Of an attribute, or of input k, whose numbers must be known. False with a message.
bool op_list(ImpNode *, const char *name, uint32_t k, ImpInts *);
const char *symbol_names(Importer *);             // of the model's open sizes: `t`, `b`
bool op_wants_sizes(ImpNode *);                   // more of what was refused; false
bool op_misfit(ImpNode *, ImpSize, ImpSize);      // that these two are not the same; false
bool op_sizes(ImpNode *, uint32_t k, ImpShape *); // an input that is a shape, perhaps with symbols
bool op_axis(ImpNode *, int64_t axis, uint32_t rank, uint32_t *out); // from the end where negative
bool op_scalar(ImpNode *, uint32_t k, double *); // an input that is one known number
bool op_known(ImpNode *, uint32_t k);            // its numbers are known. False with a message
bool op_fixed(ImpNode *, uint32_t k);            // all its sizes are numbers. False with a message
bool op_fixed_axis(ImpNode *, uint32_t k, uint32_t axis); // that one is
bool broadcast(ImpNode *, const Id *in, uint32_t n, ImpShape *);
bool is_float(OnnxType);
bool is_whole(OnnxType);

// import.c
bool import_nodes(Importer *, ImpScope *, const OnnxNode *, uint32_t n);
bool import_initializers(Importer *, ImpScope *, const OnnxGraph *);
ImpScope *imp_new(Importer *, ImpScope *outer, const OnnxOpsets *, const OnnxGraph *);
Id imp_find(const ImpScope *, const char *name); // 0: nobody has made it
void imp_put(ImpScope *, const char *name, Id);
// A name that is new in its graph. False with a message
bool imp_define(Importer *, ImpScope *, const char *name, Id);

// learned.c: which initializers are learned
bool learned_begin(Importer *); // false with a message
bool learned_is(Importer *, const OnnxTensor *, const double *data);
void learned_note(Importer *, const OnnxTensor *, Id, const double *data);
void learned_warn(Importer *);

// declared.c: what a file says of its values, held against what they are. False with a message
void declared_keep(Importer *, ImpScope *);
bool declared_fits(Importer *, const OnnxNode *, const OnnxValueInfo *, Id); // node: or NULL
bool declared_made(ImpNode *); // what the node has made

// control.c: the nodes of a graph inside a function, with the attributes that the call has given
OnnxNode *nodes_with(Importer *, const OnnxFunction *, const OnnxNode *call, const OnnxNode *,
                     uint32_t n);

Id *run_graph(ImpNode *, const OnnxGraph *, const Id *in,
              uint32_t nin); // its results; NULL with a message

// steps.c: a graph that runs step by step, as a scan
typedef struct {
  const OnnxGraph *graph;
  ImpSize steps;
  uint32_t rows, carried, gathered;
  const Id *row, *start; // [rows], with the steps in front; [carried]
  Id *in;                // [inputs of the graph]: those that are the same in every step are there
  uint32_t row_in, carry_in, carry_out; // where they stand in the graph; gathered ones come last
  Id *last, *all;                       // [carried], [gathered]: what comes out
} Steps;
bool say_steps(ImpNode *, Steps *); // false: it cannot be said so, and nothing is said

// fold.c: what can be computed now. False: it cannot
bool fold_node(ImpNode *);

// rows.c
const ImpRow *row_find(Arena *, const char *op,
                       const char *domain);  // NULL: the operator is not known
const char *scalar_function(const char *op); // the function of limn that is this operator, or NULL
// elementwise.c: a template at each place, with broadcasting; and other families
bool op_map(ImpNode *);
const char *wrapped(Importer *, OnnxType, const char *right); // into the range of a whole type
#define ROW(op, domain, write, right, whole, result) bool write(ImpNode *);
#include "port/import/ops.def"
#undef ROW

// shape.c: also for constants
bool reshape_shape(ImpNode *, ImpShape *);
bool squeeze_shape(ImpNode *, ImpShape *);
bool unsqueeze_shape(ImpNode *, ImpShape *);
Id say_reshaped(ImpNode *, Id, const ImpShape *);
int64_t slice_from(int64_t start, int64_t size, int64_t step);
int64_t slice_to(int64_t end, int64_t size, int64_t step);
int64_t slice_count(int64_t from, int64_t to, int64_t step);

// cast.c: a template of one type as another
const char *cast_text(Importer *, const char *x, OnnxType from, OnnxType to, bool saturate,
                      const char *mode);

// cut.c: slices and splits, also for constants. False with a message
typedef struct {
  uint32_t axis;
  int64_t start, end, step;
} SliceCut;
bool slice_cuts(ImpNode *, SliceCut *, uint32_t *n);          // [ONNX_RANK_LIMIT]
bool split_sizes(ImpNode *, uint32_t *axis, int64_t **sizes); // [node->out.n]
// The value at places of an axis whose size is a number
Id say_taken(ImpNode *, Id, uint32_t axis, const int64_t *place, int64_t count);

Id say_padded(ImpNode *, Id, int64_t *before, int64_t *after, Id with); // 0 with a message

// nn.c
Id say_product(ImpNode *, Id a, Id b, OnnxType); // of matrices; 0 with a message

// conv.c
Id say_conv(ImpNode *, Id x, Id w, Id bias, OnnxType); // 0 with a message

// index.c
Id pointer(ImpNode *, Id, ImpSize axis,
           bool table); // labels for an axis, or 0: it has to be compared with every place

#endif
