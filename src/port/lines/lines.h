// lines: a model as values and the lines that make them, on its way to text. The import says lines; here they are made short and written.
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
  const void
      *bytes; // or the model itself, which must live as long; then there are no files beside it
  size_t n;
  const char *weights;    // what the program calls the file of weights, beside it
  bool flat;              // a line for each node
  bool numbers_inside;    // constants are in the text, however long: there is no file beside it
  const Arrays *given;    // inputs of the graph, by name, that are to be constants; or NULL
  const ImportSize *size; // sizes with a name that are to be numbers
  uint32_t sizes;
  const char *learned, *fixed; // initializers that are learned, and that are not: names with commas
                               // between, the end of one may be *; or NULL
} ImportOptions;

typedef struct {
  const char *text;
  Arrays weights;
  const char *graph;      // what the model calls itself
  uint32_t before;        // lines of small boxes, in front
  VEC(const char *) node; // of each line behind them: "node `a` (Add)", or NULL
} Imported;

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
  const char *box;    // of a weight: the box of a scan that has it; NULL: the model
  const char *path;   // of a weight that a box of the library has: where; or NULL
  double *data;       // IMP_CONST, IMP_WEIGHT: [count]
  ImpSize *known;     // of whole numbers some of which are symbols: [count]; or NULL
  const char *symbol; // of a size with a name: that in the model
  const char *from;   // the input of the graph that it is computed from, if it is only one; or NULL
  int64_t labels;     // an input that only points into an axis of so many places; 0: it is numbers
  uint32_t reads;     // by lines and outputs
  bool
      spelt; // a constant of one number that is not written as one: a loop goes along its axes, or it is a bit that is given back
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
  const char *
      sizes; // "o, p" where times differ in sizes, "" where only those of wires do; NULL: not at all
} ImpBlock;

// What a scan repeats: a box with lines of its own.
typedef struct {
  const char *name;
  Ids in, out;
  VEC(ImpLine) line;
} ImpCell;

typedef struct ImpLearned ImpLearned; // of the import
typedef struct Importer {
  Arena *arena;
  Diags *diags;
  const ImportOptions *how;
  const OnnxModel *model;
  VEC(ImpValue) value; // value.at[0] is unused
  VEC(ImpLine) line;
  VEC(ImpBlock) block;
  VEC(const char *) box; // texts of boxes that are for one node
  VEC(ImpCell) cell;     // those that others use come before them
  Ids input, output;
  Table *taken;       // names of the program
  Table *symbols;     // sizes with a name: of the file, to 1
  size_t memory;      // that may be in use before a node
  uint32_t work;      // nodes so far, with those of functions and loops
  Table *initializer; // of the address of one: the value that it is
  ImpLearned *learned;
  bool wide_told; // that whole numbers may be too large for single precision
} Importer;

// value.c: values and lines
ImpValue *value_at(Importer *, Id);
Id value_new(Importer *, OnnxType, const ImpShape *, ImpKind, const char *onnx);
Id value_const(Importer *, OnnxType, const ImpShape *, double *data); // [count]
Id value_number(Importer *, OnnxType, double);                        // without axes
int64_t shape_count(const ImpShape *);                                // -1: not a number
ImpShape shape_of(uint32_t rank, const int64_t *dim);
ImpSize dim_of(int64_t);
int64_t
whole_of(double); // 0 where it is no number; beyond 2^62, as ends of slices are written, that
bool dim_same(ImpSize, ImpSize);
bool dim_is(ImpSize, int64_t);
ImpSize dim_op(Importer *, char op, ImpSize, ImpSize); // + - * /, rounded down
bool dim_divide(Importer *, ImpSize, ImpSize,
                ImpSize *); // false: not without a rest, as far as can be told
const char *dim_text(Importer *, ImpSize);
const char *dim_inside(Importer *, ImpSize); // the same for an index or a value: `size[N]`
enum { IMP_LETTERS = 2 * ONNX_RANK_LIMIT };
extern const char *const imp_letter[IMP_LETTERS];                   // indices: no wire is called so
const char *letters(Importer *, uint32_t rank);                     // "i j k"
const char *letters_of_one(Importer *, uint32_t from, uint32_t to); // "k:1 l:1"
// "i j:3 k": those of these axes have their sizes
const char *letters_sized(Importer *, const ImpShape *, uint32_t from, uint32_t to);
// The indices of a value that is broadcast to a shape whose indices are the letters.
const char *letters_of(Importer *, Id, const ImpShape *to);
// "a b c" from a list of texts
const char *words(Importer *, uint32_t n, const char *const *text);
const char *
next_index(const char *at,
           size_t *n); // of a list of indices: where it begins, and its length; NULL: none
const char *number_term(Importer *, double); // as it may stand in a term
const char *short_term(Importer *, float);   // the same for an attribute: as short as it can be
const char *node_shown(Arena *, const OnnxNode *); // for messages
bool has_loops(const Importer *);                  // they go along the names of axes

// names.c
const char *name_make(Importer *, const char *onnx, const char *otherwise); // one that is free
const char *symbol_make(Importer *, const char *symbol);

// batch.c: the axis of the samples is left out where it only passes over
void batch_leave_out(Importer *, const bool *live); // [line]

// attend.c: attention is said by the library's box
void attends_make(Importer *, bool *live); // [line]

// calls.c: what a box of the library says is said by it, and boxes that follow each other become a chain
void calls_make(Importer *, bool *live);        // [line]
void calls_place(Importer *, const bool *live); // the weights of boxes get their paths

// plumbing.c: axes that only change places
void plumbing_fold(Importer *, bool *live);

// letters.c: an axis has the letter of its place
void letters_settle(Importer *, const bool *live);

// repeats.c: lines that are said several times over become a box
void repeats_make(Importer *, bool *live);

// write.c
void write_program(Importer *, Imported *);
bool line_is_placewise(const Importer *, const ImpLine *); // written without indices

#endif
