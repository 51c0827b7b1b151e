// zlib.h where there is no zlib: nothing can be unpacked, which callers say, and what is packed is
// stored as it is, which every reader of deflate takes.
#ifndef LIMN_WASI_ZLIB_H
#define LIMN_WASI_ZLIB_H

typedef unsigned char Bytef;
typedef unsigned int uInt;
typedef unsigned long uLong;
typedef struct {
  const Bytef *next_in;
  Bytef *next_out;
  uInt avail_in, avail_out;
  const char *msg;
  void *(*zalloc)(void *, uInt, uInt);
  void (*zfree)(void *, void *);
  void *opaque;
  uLong sum; // of what was stored so far
  int state; // 0: nothing is written yet; 1: blocks; 2: all is
} z_stream;

enum { Z_OK, Z_STREAM_END, Z_VERSION_ERROR = -6, Z_BUF_ERROR = -5, Z_DATA_ERROR = -3 };
enum { Z_NO_FLUSH, Z_FINISH = 4 };

static inline int inflateInit2(z_stream *z, int bits) {
  (void)z, (void)bits;
  return Z_VERSION_ERROR;
}
static inline int inflate(z_stream *z, int flush) {
  (void)z, (void)flush;
  return Z_DATA_ERROR;
}
static inline int inflateReset(z_stream *z) {
  (void)z;
  return Z_DATA_ERROR;
}
int deflateInit(z_stream *, int level);
int deflate(z_stream *, int flush);
uLong crc32(uLong sum, const Bytef *, uInt n);

#endif
