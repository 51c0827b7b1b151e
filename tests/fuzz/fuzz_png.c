// Any bytes: a message, or a picture; a small one is written and read unchanged. The check sums of
// chunks are put right first, so that more than the first chunk is met.
#include "io/bytes/bytes.h"

#include <stdlib.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

static void rewrite(Arena *a, const Picture *p) {
  Bytes out;
  Picture q;
  const char *error;
  must(png_bytes(a, p, &out, &error));
  must(png_read_bytes(a, out.at, out.n, &q, &error));
  must(p->width == q.width && p->height == q.height && p->channels == q.channels);
  must(!memcmp(p->at, q.at, (size_t)p->width * p->height * p->channels));
}

static void put_sums_right(uint8_t *p, size_t n) {
  for (size_t at = 8; n - at >= 12 && n > 8;) {
    size_t length =
        (size_t)p[at] << 24 | (size_t)p[at + 1] << 16 | (size_t)p[at + 2] << 8 | p[at + 3];
    if (length > n - at - 12) return;
    uint32_t sum = (uint32_t)crc32(0, p + at + 4, (uInt)length + 4);
    for (int i = 0; i < 4; i++) p[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
    at += 12 + length;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  Picture p;
  must(a);
  uint8_t *bytes = malloc(n ? n : 1);
  memcpy(bytes, data, n);
  if (n > 8) put_sums_right(bytes, n);
  bool good = png_read_bytes(a, bytes, n, &p, &error);
  must(good || error);
  must(arena_used(a) <= unpack_limit(n) + (1 << 20));
  must(!good || p.channels == 1 || p.channels == 3);
  if (good && (uint64_t)p.width * p.height < 10000) rewrite(a, &p);
  arena_free(a);
  free(bytes);
  return 0;
}
