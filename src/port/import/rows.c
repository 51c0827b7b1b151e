// The table of operators: the rows of ops.def, and the scalar functions of limn that ONNX has as operators.
#include "base/number.h"
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"
#include "port/import/own.h"

static const ImpRow rows[] = {
#define ROW(ops, domain, write, right, whole, result) {ops, domain, write, right, whole, result},
#include "port/import/ops.def"
#undef ROW
};

Fn operator_function(const char *op) {
  size_t n = strlen(op);
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const char *onnx = fn_rows[fn].onnx;
    if (!onnx || strncmp(onnx, op, n) != 0 || onnx[n] != '(') continue;
    const char *rest = onnx + n + strspn(onnx + n, "(abc, ");
    if (*rest == ')' && (!rest[1] || rest[1] == ' ')) return (Fn)fn;
  }
  return FN_COUNT;
}

const char *scalar_function(const char *op) {
  Fn fn = operator_function(op);
  bool named = fn != FN_COUNT && !fn_rows[fn].written && !strcmp(fn_rows[fn].sig, "R>R");
  return named ? fn_rows[fn].name : NULL;
}

static const ImpRow *row_of_function(Arena *a, const char *op) {
  const char *function = scalar_function(op);
  if (!function) return NULL;
  ImpRow *row = NEW(a, ImpRow);
  *row = (ImpRow){op, "", op_map, arena_format(a, "%s($0)", function), NULL, IMP_SAME};
  return row;
}

// Whether conditions `[name=value]` after an operator hold for its attributes, texts or numbers.
static bool conditions_hold(Arena *arena, const OnnxNode *node, const char *at) {
  for (; *at == '['; at = strchr(at, ']') + 1) {
    size_t name = strcspn(at, "=");
    const OnnxAttribute *a = onnx_attribute(node, arena_text(arena, at + 1, name - 1));
    const char *value = at + name + 1;
    bool number = a && a->type == ONNX_ATTR_INT, text = a && a->type == ONNX_ATTR_STRING;
    if (!(number && a->i == (int64_t)number_read(value, NULL)) &&
        !(text && !strncmp(value, a->s, strcspn(value, "]"))))
      return false;
  }
  return true;
}

const ImpRow *row_find(Arena *a, const OnnxNode *node) {
  size_t n = strlen(node->op);
  for (uint32_t i = 0; i < COUNT(rows); i++) {
    const char *at = strcmp(rows[i].domain, node->domain) ? NULL : rows[i].ops;
    for (; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
      if (!strncmp(at, node->op, n) && (!at[n] || at[n] == ' ' || at[n] == '[') &&
          conditions_hold(a, node, at + n))
        return &rows[i];
  }
  return *node->domain ? NULL : row_of_function(a, node->op);
}
