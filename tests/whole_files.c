// Data files of random programs: the same rows as csv, compressed csv, npy, npz and idx.
#include "whole_program.h"

static uint32_t crc_of(const char *at, size_t n) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < n; i++) {
    crc ^= (unsigned char)at[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

static void put_number(Buf *b, uint32_t x, int bytes) {
  for (int i = 0; i < bytes; i++) buf_char(b, (char)(x >> 8 * i));
}

// One block that is not compressed.
Buf whole_gzip(Arena *a, const Buf *in) {
  Buf b = buf_new(a);
  uint32_t n = (uint32_t)in->n;
  buf_add(&b, "\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  put_number(&b, n, 2);
  put_number(&b, ~n, 2);
  buf_add(&b, in->at, in->n);
  put_number(&b, crc_of(in->at, in->n), 4);
  put_number(&b, n, 4);
  return b;
}

Buf whole_npy(Arena *a, const double *x, uint32_t rows, uint32_t width) {
  Buf b = buf_new(a);
  char head[119];
  int n = snprintf(head, sizeof head,
                   "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %u), }", rows, width);
  memset(head + n, ' ', sizeof head - 1 - (size_t)n);
  head[117] = '\n';
  buf_add(&b, "\x93NUMPY\x01\x00\x76\x00", 10);
  buf_add(&b, head, 118);
  // of this machine: tests of little-endian ones
  buf_add(&b, (const char *)x, (size_t)rows * width * sizeof *x);
  return b;
}

// A zip with one array, x.npy, stored as it is.
Buf whole_npz(Arena *a, const Buf *npy) {
  Buf b = buf_new(a);
  uint32_t crc = crc_of(npy->at, npy->n), n = (uint32_t)npy->n;
  buf_add(&b, "PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0", 14);
  put_number(&b, crc, 4), put_number(&b, n, 4), put_number(&b, n, 4);
  put_number(&b, 5, 4);
  buf_text(&b, "x.npy");
  buf_add(&b, npy->at, npy->n);
  uint32_t at = (uint32_t)b.n;
  buf_add(&b, "PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\x21\0", 16);
  put_number(&b, crc, 4), put_number(&b, n, 4), put_number(&b, n, 4);
  put_number(&b, 5, 2);
  for (int i = 0; i < 4; i++) put_number(&b, 0, 4);
  buf_text(&b, "x.npy");
  uint32_t size = (uint32_t)b.n - at;
  buf_add(&b, "PK\x05\x06\0\0\0\0\x01\0\x01\0", 12);
  put_number(&b, size, 4), put_number(&b, at, 4), put_number(&b, 0, 2);
  return b;
}

// Doubles, the last byte first.
Buf whole_idx(Arena *a, const double *x, uint32_t rows, uint32_t width) {
  Buf b = buf_new(a);
  buf_add(&b, "\0\0\x0e\x02", 4);
  for (int i = 3; i >= 0; i--) buf_char(&b, (char)(rows >> 8 * i));
  for (int i = 3; i >= 0; i--) buf_char(&b, (char)(width >> 8 * i));
  for (uint32_t i = 0; i < rows * width; i++)
    for (int k = 7; k >= 0; k--) buf_char(&b, ((const char *)&x[i])[k]);
  return b;
}
