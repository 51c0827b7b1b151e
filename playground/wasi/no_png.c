// Pictures in png where there is no libpng: a size can be read, pixels cannot, and none are written.
#include "io/bytes/bytes.h"

bool bytes_are_png(const void *bytes, size_t n) {
  return n >= 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
}

bool png_size(const void *bytes, size_t n, Picture *out) {
  (void)bytes, (void)n, (void)out;
  return false;
}

static bool none(Arena *a, const char **error) {
  return file_error(a, error, "pictures in png are not read or written in the playground");
}

bool png_read_bytes(Arena *a, const void *bytes, size_t n, Picture *out, const char **error) {
  (void)bytes, (void)n, (void)out;
  return none(a, error);
}

bool png_bytes(Arena *a, const Picture *p, Bytes *out, const char **error) {
  (void)p, (void)out;
  return none(a, error);
}

bool png_write(Arena *a, const char *path, const Picture *p, const char **error) {
  (void)path, (void)p;
  return none(a, error);
}
