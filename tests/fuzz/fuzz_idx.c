// Any bytes: a message, or an array that lies inside them.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  Raw x;
  must(a);
  bool good = idx_look(a, bytes, n, &x, &error);
  must(good || error);
  must(!good || bytes_are_idx(bytes, n));
  must(arena_used(a) <= 10 * n + (64 << 10));
  uint32_t size = good ? element_info[x.kind].bytes : 0;
  must(!good || x.bytes + (size_t)x.count * size == bytes + n);
  for (int64_t i = 0; good && i < x.count; i++) {
    double number;
    element_load(x.kind, x.bytes + (size_t)i * size, x.big_endian, &number);
  }
  arena_free(a);
  return 0;
}
