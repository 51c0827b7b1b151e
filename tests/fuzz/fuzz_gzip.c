// Any bytes: a message, or what was packed, in bounded memory and time. The first byte chooses
// whether the rest is gzip or a raw stream of deflate.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  View out;
  must(a);
  if (n && bytes[0] == 'r') {
    uint8_t to[1000];
    must(inflate_bytes(a, bytes + 1, n - 1, to, n > 1 ? bytes[1] * 4u : 0, &error) || error);
  } else {
    bool good = gzip_read_bytes(a, bytes, n, 1 << 20, &out, &error);
    must(good ? out.n <= 1 << 20 : error != NULL);
    must(arena_used(a) <= 4 << 20);
  }
  arena_free(a);
  return 0;
}
