// Array operations in PyTorch and JAX. Scalar functions are columns of ops.def; other operations of
// the lowering are rows here. $0, $1 … are the operands, `T.` is the library.
#include "core/diagram/ops.h"
#include "port/python/python_own.h"

#include "core/diagram/diagram.h"

static const struct {
  const char *op, *torch, *jax;
} rows[] = {
    {"Add", "$0 + $1", NULL},
    {"Sub", "$0 - $1", NULL},
    {"Mul", "$0 * $1", NULL},
    {"Div", "$0 // $1", NULL},
    {"Mod", "$0 % $1", NULL},
    {"Pow", "$0 ** $1", NULL},
    {"Max", "T.maximum($0, $1)", NULL},
    {"Min", "T.minimum($0, $1)", NULL},
    {"Less", "$0 < $1", NULL},
    {"And", "$0 & $1", NULL},
    {"Or", "$0 | $1", NULL},
    {"Not", "~$0", NULL},
    {"Where", "T.where($0, $1, $2)", NULL},
    {"MatMul", "$0 @ $1", NULL},
    {"Identity", "$0", NULL},
    {"ScatterElements", "$0.scatter_add(0, $1, $2)", "$0.at[$1].add($2)"},
};

// The precedence of the outermost operator of a Python expression.
static int precedence_of(const char *text) {
  static const struct {
    const char *sign;
    int precedence;
  } infix[] = {{"**", PREC_POW},    {"*", PREC_MUL},    {"/", PREC_MUL},     {"%", PREC_MUL},
               {"@", PREC_MUL},     {"+", PREC_ADD},    {"-", PREC_ADD},     {"&", PREC_AND},
               {"^", PREC_XOR},     {"|", PREC_OR},     {"<", PREC_COMPARE}, {">", PREC_COMPARE},
               {"=", PREC_COMPARE}, {"!", PREC_COMPARE}};
  if (*text == '-' || *text == '~') return PREC_NEG;
  if (strcmp(text, "$0") == 0) return PREC_ANY;
  for (uint32_t i = 0; strncmp(text, "$0 ", 3) == 0 && i < COUNT(infix); i++)
    if (strncmp(text + 3, infix[i].sign, strlen(infix[i].sign)) == 0) return infix[i].precedence;
  return PREC_ATOM;
}

// Functions, `~` and `@` accept arrays only.
static PythonRow row_of(const char *torch, const char *jax) {
  int prec = precedence_of(torch);
  bool arrays = prec == PREC_ATOM || *torch == '~' || strstr(torch, " @ ");
  return (PythonRow){.torch = torch, .jax = jax, .prec = prec, .arrays = arrays};
}

bool python_row(const char *op, PythonRow *out) {
  Fn fn = fn_find(op);
  if (fn != FN_COUNT && !fn_rows[fn].torch) return false;
  if (fn != FN_COUNT) return *out = row_of(fn_rows[fn].torch, fn_rows[fn].jax), true;
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (!strcmp(rows[i].op, op)) return *out = row_of(rows[i].torch, rows[i].jax), true;
  return false;
}
