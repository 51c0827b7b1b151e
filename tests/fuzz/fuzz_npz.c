// Any bytes: a message, or arrays that can be looked at to their last number.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  Raws x;
  must(a);
  bool good = npz_look(a, bytes, n, &x, &error);
  must(good || error);
  must(arena_used(a) <= unpack_limit(n) + (8 << 20));
  for (uint32_t i = 0; good && i < x.n; i++) {
    uint32_t size = element_info[x.at[i].kind].bytes;
    must(!strchr(x.at[i].name, '/'));
    double number;
    if (x.at[i].count)
      element_load(x.at[i].kind, x.at[i].bytes + (size_t)(x.at[i].count - 1) * size,
                   x.at[i].big_endian, &number);
  }
  arena_free(a);
  return 0;
}
