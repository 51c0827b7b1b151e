// Any bytes: a message or arrays, in little memory; and what is read is written and read unchanged.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

static void rewrite(Arena *a, const Arrays *x) {
  Arrays y;
  Bytes once, twice;
  const char *error;
  must(safetensors_bytes(a, x, &once, &error));
  must(safetensors_read_bytes(a, once.at, once.n, &y, &error));
  must(y.array.n == x->array.n && y.metadata.n == x->metadata.n);
  for (uint32_t i = 0; i < x->array.n; i++)
    must(arrays_find(&y, x->array.at[i].name) == &y.array.at[i]);
  must(safetensors_bytes(a, &y, &twice, &error));
  must(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  Arrays x;
  const char *error = NULL;
  must(a);
  bool good = safetensors_read_bytes(a, bytes, n, &x, &error);
  must(good || error);
  must(arena_used(a) <= 10 * n + (64 << 10));
  if (good) rewrite(a, &x);
  arena_free(a);
  return 0;
}
