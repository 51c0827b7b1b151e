// Private to c: what an exported file is made of.
#ifndef LIMN_PORT_C_C_OWN_H
#define LIMN_PORT_C_C_OWN_H

#include "port/c/c_out.h"
#include "run/engine/c/emit.h"

// -- c_names.c: identifiers -----------------------------------------------------------------------
// A name as C has them: "f/dense.1/W" is f_dense_1_W.
const char *c_identifier(Arena *, const char *name);
// The same, of something that others link with: no keyword, and nothing that the file's own text or
// the C library has.
const char *c_public_name(Arena *, const char *name);
const char *c_upper(Arena *, const char *name); // for macros
// Not among the first n of `taken`: with a number behind it, if need be.
const char *c_distinct(Arena *, const char *name, const char *const *taken, uint32_t n);

// -- c_used.c -------------------------------------------------------------------------------------
// Of the definitions in a text, those that another text uses, one by another or itself.
const char *c_used(Arena *, const char *text, const char *by);

// c_record.c: a struct of arrays, the widest numbers first, so that there is nothing between them
typedef struct {
  const char *path, *name; // as the program has it, and as a member of the struct
  const char *says;        // its type
  Number number;
  int64_t count;
  const void *data; // as it lies in memory; NULL: zeros
} CMember;
typedef struct {
  const char *name; // of the type
  const char *head; // what stands in front of the arrays, as text; NULL: nothing
  int64_t head_bytes;
  uint64_t seed; // the first number of the head; the others are 0
  VEC(CMember);
} CRecord;
uint32_t c_record_add(Arena *, CRecord *, CMember); // its number; .name is made of the path
void c_record_type(Arena *, const CRecord *, Buf *h);
void c_record_value(Arena *, const CRecord *, Buf *c); // { … }, for an initialiser
void c_record_bytes(Arena *, const CRecord *, Buf *bytes);
int64_t c_record_size(const CRecord *);
const char *c_number_text(Number); // "float", "int32_t", …

// -- c_unit.c: one diagram as one function --------------------------------------------------------
typedef struct {
  const char *name; // NULL: it is no argument; nothing reads it
  const char *size; // the macro that has its count, without what stands in front
  Type type;
  Number number; // as the caller has it: reals are of one type
  Number inside; // as kernels do: a real without axes is a double
  int64_t count;
} CArgument;
typedef struct {
  World *w;
  const Diagram *d; // samples may be open
  Plan *p;
  const char *name;    // of the function
  CArgument *in, *out; // [input], [output] of the diagram
  const char **param;  // [param] an expression: the address of its first number
  bool wide;           // reals are doubles
  bool noise;          // it wants a seed and a step,
  bool stepped;        // which the state has
  int64_t bytes;       // of memory
  int64_t scratch_at;  // in it
  uint32_t axes;       // the most of a line of its products
  EmitExport emit;
} CUnit;
// Plans it, and finds what it needs; params are still to be said. False with a diagnostic.
bool c_unit_plan(Export *, CUnit *, int64_t samples, bool wide);
bool c_unit_reads(const CUnit *, uint32_t param); // some kernel sees this param
void c_unit_kernels(CUnit *, Buf *c);             // the functions of its kernels
// The statements that run them, in a function whose arguments are there: tables, context, results.
// It returns 2 before all else where a label or bit of its arguments is outside of its range.
void c_unit_body(CUnit *, const char *memory, Buf *c);
void c_unit_arguments(const CUnit *, Buf *); // "const float *x, float *y"
void c_unit_passed(const CUnit *, Buf *);    // "x, y"
void c_unit_says(const CUnit *, Buf *h);     // its arguments in words, as comments

// -- c_products.c: descriptions of matrix products ------------------------------------------------
uint32_t c_product_axes(const Plan *, const PlanNode *); // the most of one of its lines
int64_t c_product_bytes(const Plan *, const PlanNode *); // of scratch
void c_product_write(const Plan *, const PlanNode *, const char *name, Buf *c);

// -- c_file.c: the two files ----------------------------------------------------------------------
typedef struct {
  Export *e;
  const char *name;   // in front of everything that others see
  const char *path;   // of the .c
  const char *header; // its name, as it is included
  bool wide, beside;
  int64_t batch;
  Buf c, h;
  Buf kernels,
      body; // of the .c: definitions, of which those that are used stay; and what uses them
} CFile;
bool c_file_open(Export *, CFile *); // false with a diagnostic: no C file can be called so
// The .c, out of its parts.
void c_file_join(CFile *, uint32_t axes, bool products);
bool c_file_close(CFile *, const CRecord *beside); // written

// -- c_train.c ------------------------------------------------------------------------------------
bool c_export_step(CFile *);

extern const char product_text[]; // product_text.h, embedded
extern const size_t product_text_size;

#endif
