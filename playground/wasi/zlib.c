// What of zlib is here: bytes stored in blocks of deflate, between the head and the check sum of a
// zlib stream; and the check sum of zip.
#include "zlib.h"

#include <stddef.h>
#include <string.h>

enum { BLOCK = 4096, FRAME = 16 }; // at most so many bytes are around a block

static uLong adler(uLong sum, const Bytef *at, uInt n) {
  uLong a = sum & 0xffff, b = sum >> 16;
  for (uInt i = 0; i < n; i++) a = (a + at[i]) % 65521, b = (b + a) % 65521;
  return b << 16 | a;
}

int deflateInit(z_stream *z, int level) {
  (void)level;
  z->sum = 1;
  z->state = 0;
  return Z_OK;
}

static void put(z_stream *z, uLong byte) {
  *z->next_out++ = (Bytef)byte;
  z->avail_out--;
}

int deflate(z_stream *z, int flush) {
  if (z->state == 0) put(z, 0x78), put(z, 0x01), z->state = 1;
  while (z->state == 1 && z->avail_out > BLOCK + FRAME && (z->avail_in || flush == Z_FINISH)) {
    uInt n = z->avail_in < BLOCK ? z->avail_in : BLOCK;
    int last = flush == Z_FINISH && n == z->avail_in;
    put(z, last ? 1 : 0);
    put(z, n & 255), put(z, n >> 8), put(z, ~n & 255), put(z, ~n >> 8 & 255);
    memcpy(z->next_out, z->next_in, n);
    z->sum = adler(z->sum, z->next_in, n);
    z->next_out += n, z->avail_out -= n, z->next_in += n, z->avail_in -= n;
    if (!last) continue;
    for (int shift = 24; shift >= 0; shift -= 8) put(z, z->sum >> shift & 255);
    z->state = 2;
  }
  return z->state == 2 ? Z_STREAM_END : Z_OK;
}

uLong crc32(uLong sum, const Bytef *at, uInt n) {
  if (!at) return 0;
  sum = ~sum & 0xffffffff;
  for (uInt i = 0; i < n; i++) {
    sum ^= at[i];
    for (int bit = 0; bit < 8; bit++) sum = sum & 1 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
  }
  return ~sum & 0xffffffff;
}
