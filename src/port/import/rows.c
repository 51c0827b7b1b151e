// The table of operators.
#include "port/import/own.h"

static const ImpRow rows[] = {
#define ROW(op, domain, write, right, whole, result) {op, domain, write, right, whole, result},
#include "port/import/ops.def"
#undef ROW
};

const ImpRow *row_find(const char *op, const char *domain) {
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (!strcmp(rows[i].op, op) && !strcmp(rows[i].domain, domain)) return &rows[i];
  return NULL;
}
