// lines: a model as values and equations, the intermediate form of the ONNX import. The import
// makes lines; this room simplifies them and writes the program.
#ifndef LIMN_PORT_LINES_LINES_H
#define LIMN_PORT_LINES_LINES_H

#include "io/bytes/bytes.h"
#include "port/onnx/onnx.h"

typedef struct {
  const char *name; // in the model
  int64_t n;
} ImportSize;

typedef struct {
  const char *path; // of the model
  // Or the model in memory, which must outlive the import; without external data.
  const void *bytes;
  size_t n;
  const char *weights;    // the name of the weights file as the program refers to it
  bool flat;              // one line per node, without simplification
  bool numbers_inside;    // all constants are written into the text, without a weights file
  const Arrays *given;    // inputs of the graph, by name, to be replaced by constants; or NULL
  const ImportSize *size; // symbolic sizes to be replaced by numbers
  uint32_t sizes;
  // Initializers to be trained, and not to be trained: comma-separated names, `*` at the end of one
  // matches any suffix; or NULL.
  const char *learned, *fixed;
} ImportOptions;

typedef struct {
  const char *text;
  Arrays weights;
  const char *graph;      // the model's name
  uint32_t before;        // number of lines of helper boxes at the beginning
  VEC(const char *) node; // the node of each line after them: "node `a` (Add)", or NULL
} Imported;

// A size: a number, or an expression of the program.
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
  IMP_CONST,  // a constant
  IMP_WEIGHT, // an initializer that may be trained
  IMP_MADE,   // the result of a line
} ImpKind;

typedef struct {
  const char *onnx; // its name in the model, or a generated one
  const char *name; // in the program
  OnnxType type;
  ImpShape shape;
  ImpKind kind;
  const char *box;    // of a weight: the box of the scan that uses it; NULL: the model
  const char *path;   // of a weight owned by a library box: its path; or NULL
  double *data;       // IMP_CONST, IMP_WEIGHT: [count]
  ImpSize *known;     // of integers, some symbolic: [count]; or NULL
  const char *symbol; // of a symbolic size: its name in the model
  const char *from;   // the only graph input that it depends on; or NULL
  int64_t labels;     // an input used only as labels into an axis of this size; 0: otherwise
  uint32_t reads;     // number of reads by lines and outputs
  // A scalar constant that needs a name: a loop runs over its axes, or it is a bit that is
  // returned.
  bool spelt;
} ImpValue;

// A value and the indices at which it is read, as "i 2*j+1 (k l)"; NULL: without indices. An index
// may be another read, `$1`, used as label; the index list of that one begins with @.
typedef struct {
  Id value;
  const char *index;
} ImpRead;

// y[left] = right pad: `$0` in `right` is the first read. left = NULL: only names on the left.
typedef struct {
  const char *left, *right, *pad;
} ImpForm;

// One box of a chain: `conv2d[8]` with the weights that it owns.
typedef struct {
  const char *box, *text;
  struct {
    Id value;
    const char *tail; // the path below the box: "W", "linear/W"
  } own[4];
  uint32_t n;
  Id block; // a box defined by the program, from 1; 0: of the library
} ImpPart;

typedef struct {
  VEC(Id) out;
  ImpForm form;
  VEC(ImpPart) part; // if not empty: a chain of boxes applied to the first read
  VEC(ImpRead) read;
  const OnnxNode *node; // the node that it implements
  const char *scope;    // the name prefix of the node
} ImpLine;

// A box defined by the program: a sequence of lines that occurred `times` times.
typedef struct {
  const char *name;
  uint32_t n, times;
  ImpLine *line; // [times * n]; the first n are written
  Id in, out;
  Ids more; // further inputs, equal in each repetition
  // "o, p" if repetitions differ in sizes, "" if only sizes of wires differ; NULL: neither.
  const char *sizes;
} ImpBlock;

// The body of a scan: a box with lines of its own.
typedef struct {
  const char *name;
  Ids in, out;
  VEC(ImpLine) line;
} ImpCell;

typedef struct ImpLearned ImpLearned; // defined by the import
typedef struct Importer {
  Arena *arena;
  Diags *diags;
  const ImportOptions *how;
  const OnnxModel *model;
  VEC(ImpValue) value; // value.at[0] is unused
  VEC(ImpLine) line;
  VEC(ImpBlock) block;
  VEC(const char *) box; // helper boxes for single nodes
  VEC(ImpCell) cell;     // used cells come before their users
  Ids input, output;
  Table *taken;       // names of the program
  Table *symbols;     // symbolic sizes of the model
  size_t memory;      // limit of the memory in use when a node is imported
  uint32_t work;      // nodes so far, including those of functions and loops
  Table *initializer; // address of an initializer to its value
  ImpLearned *learned;
  bool wide_told; // the warning about integers too large for single precision was given
} Importer;

// value.c: values and symbolic sizes
ImpValue *value_at(Importer *, Id);
Id value_new(Importer *, OnnxType, const ImpShape *, ImpKind, const char *onnx);
Id value_const(Importer *, OnnxType, const ImpShape *, double *data); // data: [count]
Id value_number(Importer *, OnnxType, double);                        // a scalar
bool value_is_number(const ImpValue *);                               // a known constant
bool is_output(const Importer *, Id);
// The line that makes each value, or UINT32_MAX; with room for as many values again.
uint32_t *line_makers(const Importer *, const bool *live);
int64_t shape_count(const ImpShape *); // -1: symbolic
ImpShape shape_of(uint32_t rank, const int64_t *dim);
ImpSize dim_of(int64_t);
// 0 for non-integers; clamped to ±2^62, since slices use huge numbers for ends.
int64_t whole_of(double);
bool dim_same(ImpSize, ImpSize);
bool dim_is(ImpSize, int64_t);
ImpSize dim_op(Importer *, char op, ImpSize, ImpSize); // + - * /, rounding down
// false: there may be a remainder.
bool dim_divide(Importer *, ImpSize, ImpSize, ImpSize *);
const char *dim_text(Importer *, ImpSize);
const char *dim_inside(Importer *, ImpSize); // the same as an index or operand: `size[N]`
enum { IMP_LETTERS = 2 * ONNX_RANK_LIMIT };
// Index letters: no wire has such a name.
extern const char *const imp_letter[IMP_LETTERS];
const char *index_letters(Importer *, uint32_t rank);               // "i j k"
const char *letters_of_one(Importer *, uint32_t from, uint32_t to); // "k:1 l:1"
// "i j:3 k": these axes have their sizes written
const char *letters_sized(Importer *, const ImpShape *, uint32_t from, uint32_t to);
// The indices of a value that is broadcast to a shape with index letters.
const char *letters_of(Importer *, Id, const ImpShape *to);
// "a b c" from a list of texts
const char *join_words(Importer *, uint32_t n, const char *const *text);
// The next index of a list and its length; NULL: none.
const char *next_index(const char *at, size_t *n);
const char *number_term(Importer *, double); // as a factor of a term
const char *short_term(Importer *, float);   // the same for a float attribute, in the shortest form
const char *node_shown(Arena *, const OnnxNode *); // for messages
bool has_loops(const Importer *);                  // loops refer to axes by name

// names.c
const char *name_make(Importer *, const char *onnx, const char *otherwise); // an unused name
const char *symbol_make(Importer *, const char *symbol);

// batch.c: removes the sample axis if the model is only mapped over it
void batch_axis_remove(Importer *, const bool *live); // [line]

// attend.c: recognises attention
void attention_match(Importer *, bool *live); // [line]

// calls.c: replaces lines by library boxes, and consecutive boxes by chains
void library_calls_make(Importer *, bool *live);        // [line]
void weight_paths_assign(Importer *, const bool *live); // assigns paths to the weights of boxes

// plumbing.c: removes lines that only move axes
void axis_moves_fold(Importer *, bool *live);

// letters.c: names indices by their position
void index_letters_assign(Importer *, const bool *live);

// repeats.c: makes boxes of repeated lines
void repeats_to_blocks(Importer *, bool *live);

// write.c
void write_program(Importer *, Imported *);
bool line_is_placewise(const Importer *,
                       const ImpLine *); // elementwise, so it is written without indices

#endif
