// The table of scalar functions, generated from ops.def (X-macros).
//
// Each row S becomes a C function of three doubles and an entry of fn_rows with a pointer to the
// function and the expression as text, for compiled code. The four leaves (constant, argument,
// index value, size) come first and have no function: the interpreter evaluates them. The arity is
// the number of letters of the signature before '>'. ops_markdown prints the table as a page of the
// manual, so the page agrees with the compiler.
#include "core/diagram/ops.h"

#include <math.h>

static double quotient(double a, double b) { return a / b; }
static double sigmoid(double a) { return 1 / (1 + exp(-a)); }
static double softplus(double a) { return (a < 0 ? 0 : a) + log1p(exp(-fabs(a))); }

#define S(name, sig, expression, ...)                                                              \
  static double value_##name(double a, double b, double c) {                                       \
    (void)a, (void)b, (void)c;                                                                     \
    return expression;                                                                             \
  }
#include "core/diagram/ops.def"
#undef S

// Texts of bounds: the least or most of an operation on the ends of two intervals; a bound that is known only
// under a condition; a full turn.
#define EITHER(f, of) f "(" f "(a" of "b, a" of "B), " f "(A" of "b, A" of "B))"
#define UNLESS(c) " + select(" c ", 0, log(-1))"
#define TURN "6.283185307179586"

const FnRow fn_rows[FN_COUNT] = {
    [FN_CONST] = {.name = "const", .sig = ">*", .doc = "a number"},
    [FN_ARG] = {.name = "arg", .sig = ">*", .doc = "the value of an operand"},
    [FN_AT] = {.name = "at", .sig = ">*", .doc = "the position of an index"},
    [FN_SIZE] = {.name = "size", .sig = ">*", .doc = "a size as a number"},
#define S(name_, sig_, expression, ...)                                                            \
  [FN_##name_] = {.name = #name_,                                                                  \
                  .sig = sig_,                                                                     \
                  .arity = (uint32_t)sizeof sig_ - 3,                                              \
                  .value = value_##name_,                                                          \
                  .text = #expression,                                                             \
                  __VA_ARGS__},
#include "core/diagram/ops.def"
#undef S
};

#define S(...) +1
_Static_assert(FN_SIZE + 1
#include "core/diagram/ops.def"
                   == FN_COUNT,
               "fn_names.def is not the list of the names of ops.def: make writes it");
#undef S

Fn fn_find(const char *name) {
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++)
    if (strcmp(fn_rows[fn].name, name) == 0) return (Fn)fn;
  return FN_COUNT;
}

static void markdown_cell(Buf *b, const char *text) {
  buf_text(b, " ");
  for (; *text; text++) {
    if (*text == '|') buf_char(b, '\\');
    buf_char(b, *text);
  }
  buf_text(b, " |");
}

static void scalar_row(Buf *b, const FnRow *row) {
  buf_char(b, '|');
  markdown_cell(b, arena_format(b->arena, "`%s`", row->name));
  markdown_cell(b, arena_format(b->arena, "`%s`", row->sig));
  markdown_cell(b, row->doc);
  for (uint32_t i = 0; i < 3; i++)
    markdown_cell(b, i < row->arity && row->d[i] ? arena_format(b->arena, "`%s`", row->d[i]) : "");
  markdown_cell(b, arena_format(b->arena, "%u", row->flops));
  markdown_cell(b, row->glyph);
  buf_char(b, '\n');
}

void ops_markdown(Buf *b) {
  buf_text(b, "# Operations\n\nMade from `src/core/diagram/ops.def`; do not edit.\n\n"
              "## Scalar functions\n\n"
              "Bases: R real, B bit, * any, the same at every star. Derivatives: a b c are the "
              "arguments, y the\n"
              "result, g what comes in; an empty cell lets nothing through.\n\n"
              "| name | bases | meaning | by a | by b | by c | flops | drawn |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) scalar_row(b, &fn_rows[fn]);
  buf_text(b, "\n## Boxes\n\n| name | meaning |\n|---|---|\n");
#define BOX(name, doc) buf_text(b, "| `" #name "` | " doc " |\n");
#include "core/diagram/boxes.def"
#undef BOX
}
