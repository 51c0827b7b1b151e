// The table of operators: the rows of ops.def, and the scalar functions of limn that ONNX has as operators.
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"
#include "port/import/own.h"

static const ImpRow rows[] = {
#define ROW(op, domain, write, right, whole, result) {op, domain, write, right, whole, result},
#include "port/import/ops.def"
#undef ROW
};

// Whether an ONNX expression is this operator, applied to the argument of a function.
static bool is_operator(const char *onnx, const char *op) {
  size_t n = strlen(op);
  return onnx && strncmp(onnx, op, n) == 0 && strcmp(onnx + n, "(a)") == 0;
}

const char *scalar_function(const char *op) {
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const FnRow *row = &fn_rows[fn];
    if (!row->written && strcmp(row->sig, "R>R") == 0 && is_operator(row->onnx, op))
      return row->name;
  }
  return NULL;
}

static const ImpRow *row_of_function(Arena *a, const char *op) {
  const char *function = scalar_function(op);
  if (!function) return NULL;
  ImpRow *row = NEW(a, ImpRow);
  *row = (ImpRow){op, "", op_map, arena_format(a, "%s($0)", function), NULL, IMP_SAME};
  return row;
}

const ImpRow *row_find(Arena *a, const char *op, const char *domain) {
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (!strcmp(rows[i].op, op) && !strcmp(rows[i].domain, domain)) return &rows[i];
  return *domain ? NULL : row_of_function(a, op);
}
