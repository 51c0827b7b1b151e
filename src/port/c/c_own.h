// Private to c: parts of an exported file.
#ifndef LIMN_PORT_C_C_OWN_H
#define LIMN_PORT_C_C_OWN_H

#include "port/c/c_out.h"
#include "run/engine/c/emit.h"

// -- c_names.c: identifiers -----------------------------------------------------------------------
// A C identifier for a name: "f/dense.1/W" becomes f_dense_1_W.
const char *c_identifier(Arena *, const char *name);
// The same for names with external linkage: also distinct from keywords, the C library and the
// file's own text.
const char *c_public_name(Arena *, const char *name);
const char *c_upper(Arena *, const char *name); // upper case, for macros
// A name not among the first n of `taken`; with a number appended if necessary.
const char *c_distinct(Arena *, const char *name, const char *const *taken, uint32_t n);

// -- c_used.c -------------------------------------------------------------------------------------
// Removes definitions from a text that neither `by` nor a definition that it uses refers to.
const char *c_used(Arena *, const char *text, const char *by);

// c_record.c: a struct of arrays, in decreasing order of element width, so that it has no padding
typedef struct {
  const char *path, *name; // the path in the program, and the member of the struct
  const char *says;        // its type, for a comment
  Number number;
  int64_t count;
  const void *data; // in memory representation; NULL: zeros
} CMember;
typedef struct {
  const char *name; // name of the type
  const char *head; // text of members before the arrays; NULL: none
  int64_t head_bytes;
  uint64_t seed; // initial value of the first head member; the others are 0
  VEC(CMember);
} CRecord;
// Returns its index; .name is derived from the path.
uint32_t c_record_add(Arena *, CRecord *, CMember);
void c_record_type(Arena *, const CRecord *, Buf *h);
void c_record_value(Arena *, const CRecord *, Buf *c); // { … }, as an initialiser
void c_record_bytes(Arena *, const CRecord *, Buf *bytes);
int64_t c_record_size(const CRecord *);
const char *c_number_text(Number); // "float", "int32_t", …

// -- c_unit.c: one diagram as one C function ------------------------------------------------------
typedef struct {
  const char *name; // NULL: no kernel reads it, so it is no argument
  const char *size; // the macro with its element count, without its prefix
  Type type;
  Number number; // the caller's type: all reals have the same type
  Number inside; // the type inside kernels: a scalar real is a double
  int64_t count;
} CArgument;
typedef struct {
  World *w;
  const Diagram *d; // its sample axis may be open
  Plan *p;
  const char *name;    // of the function
  CArgument *in, *out; // [input], [output] of the diagram
  const char **param;  // [param] an expression for its address
  bool wide;           // reals are doubles
  bool noise;          // takes a seed and a step,
  bool stepped;        // which are in the state struct
  int64_t bytes;       // of working memory
  int64_t scratch_at;  // offset in it
  uint32_t axes;       // maximal number of axes of a line of its products
  EmitExport emit;
} CUnit;
// Plans the diagram; params are assigned later. False with a diagnostic.
bool c_unit_plan(Export *, CUnit *, int64_t samples, bool wide);
bool c_unit_reads(const CUnit *, uint32_t param); // does a kernel read this param?
void c_unit_kernels(CUnit *, Buf *c);             // the functions of its kernels
// The statements that run the kernels inside a function with its arguments: tables, context,
// results. They return 2 before any other effect if a label or bit argument is out of range.
void c_unit_body(CUnit *, const char *memory, Buf *c);
void c_unit_arguments(const CUnit *, Buf *);      // "const float *x, float *y"
void c_unit_call_arguments(const CUnit *, Buf *); // "x, y"
void c_unit_describe(const CUnit *, Buf *h);      // comments that describe its arguments

// -- c_products.c: descriptions of matrix products ------------------------------------------------
uint32_t c_product_axes(const Plan *, const PlanNode *); // the maximal number of axes of a line
int64_t c_product_bytes(const Plan *, const PlanNode *); // of scratch
void c_product_write(const Plan *, const PlanNode *, const char *name, Buf *c);

// -- c_file.c: the .c and the .h ------------------------------------------------------------------
typedef struct {
  Export *e;
  const char *name;   // prefix of all public names
  const char *path;   // of the .c
  const char *header; // its name in #include
  bool wide, beside;
  int64_t batch;
  Buf c, h;
  // Of the .c: definitions, of which unused ones are removed; and the code that uses them.
  Buf kernels, body;
} CFile;
bool c_file_open(Export *, CFile *); // false with a diagnostic: invalid file name
// Assembles the .c.
void c_file_join(CFile *, uint32_t axes, bool products);
bool c_file_close(CFile *, const CRecord *beside); // writes both files

// -- c_train.c ------------------------------------------------------------------------------------
bool c_export_step(CFile *);

extern const char product_text[]; // product_text.h, embedded
extern const size_t product_text_size;

#endif
