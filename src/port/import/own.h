// Private to the import: values, lines, nodes.
#ifndef LIMN_PORT_IMPORT_OWN_H
#define LIMN_PORT_IMPORT_OWN_H

#include "port/import/import.h"
#include "port/onnx/onnx.h"

// A size: a number, or a text that the program knows it by.
typedef struct {
  int64_t n;
  const char *text; // NULL: n is the size
} ImpSize;
typedef struct {
  uint32_t rank;
  ImpSize dim[ONNX_RANK_LIMIT];
} ImpShape;

typedef enum {
  IMP_INPUT,  // of the graph
  IMP_CONST,  // its numbers are known
  IMP_WEIGHT, // the same, from an initializer that may be learned
  IMP_MADE,   // by a line
} ImpKind;

typedef struct {
  const char *onnx; // its name in the model, or one that was made up
  const char *name; // in the program
  OnnxType type;
  ImpShape shape;
  ImpKind kind;
  const char *box;  // of a weight: the box of a scan that has it; NULL: the model
  const char *path; // of a weight that a box of the library has: where; or NULL
  double *data;     // IMP_CONST, IMP_WEIGHT: [count]
  ImpSize *known;   // of whole numbers some of which are symbols: [count]; or NULL
  const char *from; // the input of the graph that it is computed from, if it is only one; or NULL
  int64_t labels;   // an input that only points into an axis of so many places; 0: it is numbers
  uint32_t reads;   // by lines and outputs
} ImpValue;

// A value with the indices it is read at, as "i 2*j+1 (k l)"; NULL: whole. A value without axes has none.
// A place of the list may be another read, `$1`, which then points; its own list begins with @.
typedef struct {
  Id value;
  const char *index;
} ImpRead;

// y[left] = right pad: `$0` in the right side is the first of the reads. Without left, names of the results stand alone.
typedef struct {
  const char *left, *right, *pad;
} ImpForm;

// A box of a line that is a chain of boxes: `conv2d[8]` with the weights that it has of its own.
typedef struct {
  const char *box, *text;
  struct {
    Id value;
    const char *tail; // behind the box: "W", "linear/W"
  } own[4];
  uint32_t n;
  Id block; // one of the program's own boxes, from 1 on; 0: the library's
} ImpPart;

typedef struct {
  VEC(Id) out;
  ImpForm form;
  VEC(ImpPart) part; // not empty: the line is this chain, of the first read
  VEC(ImpRead) read;
  const OnnxNode *node; // that it is for
  const char *scope;    // of the node: its name in the model
} ImpLine;

// A box of the program's own: lines that were there `times` over.
typedef struct {
  const char *name;
  uint32_t n, times;
  ImpLine *line; // [times * n]; what is written is the first time
  Id in, out;
  Ids more; // further inputs, the same each time
} ImpBlock;

// The names of a graph, of one inside it, or of a function.
typedef struct ImpScope {
  Table *names;           // to values
  struct ImpScope *outer; // NULL: none is seen
  const char *path;       // of the call, "" at the top
  const OnnxOpsets *opset;
  uint32_t depth;  // of functions around it
  uint32_t nested; // graphs around it
} ImpScope;

typedef struct Importer {
  Arena *arena;
  Diags *diags;
  const ImportOptions *how;
  const OnnxModel *model;
  VEC(ImpValue) value; // value.at[0] is unused
  VEC(ImpLine) line;
  VEC(ImpBlock) block;
  VEC(const char *) box; // texts of boxes that are for one node
  Ids input, output;
  Table *taken;   // names of the program
  Table *symbols; // sizes with a name: of the file, to 1
  size_t memory;  // that may be in use before a node
  uint32_t work;  // nodes so far, with those of functions and loops
} Importer;

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

// value.c: values and lines
ImpValue *value_at(Importer *, Id);
Id value_new(Importer *, OnnxType, const ImpShape *, ImpKind, const char *onnx);
Id value_const(Importer *, OnnxType, const ImpShape *, double *data); // [count]
Id value_number(Importer *, OnnxType, double);                        // without axes
int64_t shape_count(const ImpShape *);                                // -1: not a number
ImpShape shape_of(uint32_t rank, const int64_t *dim);
ImpSize dim_of(int64_t);
bool dim_same(ImpSize, ImpSize);
bool dim_is(ImpSize, int64_t);
ImpSize dim_op(Importer *, char op, ImpSize, ImpSize); // + - * /, rounded down
bool dim_divide(Importer *, ImpSize, ImpSize,
                ImpSize *); // false: not without a rest, as far as can be told
const char *dim_text(Importer *, ImpSize);
const char *dim_inside(Importer *, ImpSize); // the same for an index or a value: `size[N]`
enum { IMP_LETTERS = 2 * ONNX_RANK_LIMIT };
extern const char *const imp_letter[IMP_LETTERS]; // indices: no wire is called so
const char *letters(Importer *, uint32_t rank);   // "i j k"
// The indices of a value that is broadcast to a shape whose indices are the letters.
const char *letters_of(Importer *, Id, const ImpShape *to);
// "a b c" from a list of texts
const char *words(Importer *, uint32_t n, const char *const *text);
// line.c
const char *
next_index(const char *at,
           size_t *n); // of a list of indices: where it begins, and its length; NULL: none
#define READS(...) (const ImpRead[]){__VA_ARGS__}, COUNT(((const ImpRead[]){__VA_ARGS__}))
Id say(ImpNode *, OnnxType, const ImpShape *, ImpForm, const ImpRead *, uint32_t n);
Id say_number(ImpNode *, Id);                // bits as 0 and 1
Id say_bits(ImpNode *, Id);                  // and back: what is not 0
const char *number_term(Importer *, double); // as it may stand in a term
const char *short_term(Importer *, float);   // the same for an attribute: as short as it can be

// node.c: a node and what it has
const char *node_shown(Arena *, const OnnxNode *); // for messages
bool op_refuse(ImpNode *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void op_give(ImpNode *, uint32_t k, Id);
Id op_in(const ImpNode *, uint32_t k);                   // 0: left out, or not there
ImpValue *op_value(const ImpNode *, uint32_t k);         // of an input that is there
bool op_wants(ImpNode *, uint32_t least, uint32_t most); // so many inputs
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
bool op_sizes(ImpNode *, uint32_t k, ImpShape *); // an input that is a shape, perhaps with symbols
bool op_axis(ImpNode *, int64_t axis, uint32_t rank, uint32_t *out); // from the end where negative
bool op_scalar(ImpNode *, uint32_t k, double *); // an input that is one known number
bool op_known(ImpNode *, uint32_t k);            // its numbers are known. False with a message
bool op_fixed(ImpNode *, uint32_t k);            // all its sizes are numbers. False with a message
bool broadcast(ImpNode *, const Id *in, uint32_t n, ImpShape *);
bool is_float(OnnxType);
bool is_whole(OnnxType);

// import.c
bool import_nodes(Importer *, ImpScope *, const OnnxNode *, uint32_t n);
bool import_initializers(Importer *, ImpScope *, const OnnxGraph *);
ImpScope *imp_new(Importer *, ImpScope *outer, const OnnxOpsets *, const char *path);
Id imp_find(const ImpScope *, const char *name); // 0: nobody has made it
void imp_put(ImpScope *, const char *name, Id);

// control.c: the nodes of a graph inside a function, with the attributes that the call has given
OnnxNode *nodes_with(Importer *, const OnnxFunction *, const OnnxNode *call, const OnnxNode *,
                     uint32_t n);

// fold.c: what can be computed now. False: it cannot
bool fold_node(ImpNode *);

// rows.c
const ImpRow *row_find(const char *op, const char *domain);
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

// cut.c: the value at places of an axis whose size is a number
Id say_taken(ImpNode *, Id, uint32_t axis, const int64_t *place, int64_t count);

Id say_padded(ImpNode *, Id, int64_t *before, int64_t *after, Id with); // 0 with a message

// nn.c
Id say_product(ImpNode *, Id a, Id b, OnnxType); // of matrices; 0 with a message

// conv.c
Id say_conv(ImpNode *, Id x, Id w, Id bias, OnnxType); // 0 with a message

// index.c
Id pointer(ImpNode *, Id, ImpSize axis,
           bool table); // labels for an axis, or 0: it has to be compared with every place

// names.c
const char *name_make(Importer *, const char *onnx, const char *otherwise); // one that is free
const char *symbol_make(Importer *, const char *symbol);

// batch.c: the axis of the samples is left out where it only passes over
void batch_leave_out(Importer *, const bool *live); // [line]

// calls.c: what a box of the library says is said by it, and boxes that follow each other become a chain
void calls_make(Importer *, bool *live);        // [line]
void calls_place(Importer *, const bool *live); // the weights of boxes get their paths

// plumbing.c: axes that only change places
void plumbing_fold(Importer *, bool *live);

// repeats.c: lines that are said several times over become a box
void repeats_make(Importer *, bool *live);

// write.c
void write_program(Importer *, Imported *);

#endif
