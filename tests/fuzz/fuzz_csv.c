// Any bytes: a message with a line, or a table whose labels are in range and whose words are
// sorted.
#include "io/bytes/bytes.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

static void look(const CsvColumn *x, int64_t rows) {
  must(x->name && *x->name);
  for (uint32_t i = 1; i < x->labels; i++) must(strcmp(x->words[i - 1], x->words[i]) < 0);
  for (int64_t r = 0; r < rows; r++) {
    if (x->number) must(isfinite(x->value[r]));
    if (x->label) must(x->label[r] < x->labels);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  Csv t;
  must(a);
  bool good = csv_read_bytes(a, (const char *)bytes, n, &t, &error);
  must(good || error);
  must(arena_used(a) <= 10 * n + (2 << 20)); // a little: some bytes for each column and word
  for (uint32_t k = 0; good && k < t.columns; k++) look(&t.column[k], t.rows);
  arena_free(a);
  return 0;
}
