// Any bytes: a message or an array, in little memory; and what is read is written and read
// unchanged. The same bytes, up to their first zero, go through the reader of typed arrays.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

static void rewrite(Arena *a, const Array *x) {
  Array y;
  Bytes once, twice;
  const char *error;
  must(npy_bytes(a, x, &once, &error));
  must(npy_read_bytes(a, once.at, once.n, &y, &error));
  must(npy_bytes(a, &y, &twice, &error));
  must(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  Array x;
  const char *error = NULL;
  must(a);
  bool good = npy_read_bytes(a, bytes, n, &x, &error);
  must(good || error);
  must(arena_used(a) <= 10 * n + (64 << 10));
  if (good) rewrite(a, &x);
  const char *text = arena_text(a, (const char *)bytes, n);
  size_t before = arena_used(a);
  bool parsed = array_parse(a, text, &x, &error);
  must(arena_used(a) - before <= 10 * n + (64 << 10));
  if (parsed) rewrite(a, &x);
  arena_free(a);
  return 0;
}
