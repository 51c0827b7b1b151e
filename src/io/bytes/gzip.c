// Decompression of deflate streams: gzip files and entries of zip archives.
//
// The size in the trailer of a gzip file is only a hint for the first buffer, bounded by the
// caller's limit and by the maximal ratio of deflate; zlib verifies the size and the CRC. Several
// members form one file, and zeros after the last are padding. zlib allocates in an arena of its
// own, so that running out of memory leaks nothing.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/hash.h"
#include "io/bytes/bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ZLIB_CONST
#include <zlib.h>

enum {
  DEFLATE_RATIO = 1032,
  CHUNK = 1 << 30,
  CACHE_MIN_BYTES = 1 << 20,
  CACHE_MAX_BYTES = 1 << 30
};

static void *zlib_alloc(void *arena, unsigned items, unsigned size) {
  return arena_alloc(arena, (size_t)items * size);
}

static void zlib_free(void *arena, void *at) { (void)arena, (void)at; }

// A stream. zlib's counters have 32 bits, so input and output are passed in chunks.
typedef struct {
  z_stream z;
  const uint8_t *in;
  size_t in_left;
  uint8_t *out;
  size_t cap, n;
} Stream;

static Stream stream_new(Arena *scratch, const void *bytes, size_t n) {
  return (Stream){.z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = scratch},
                  .in = bytes,
                  .in_left = n};
}

static int stream_more(Stream *s) {
  size_t room = s->cap - s->n, in = s->in_left < CHUNK ? s->in_left : CHUNK;
  if (room > CHUNK) room = CHUNK;
  s->z.next_in = s->in;
  s->z.avail_in = (unsigned)in;
  s->z.next_out = s->out + s->n;
  s->z.avail_out = (unsigned)room;
  int r = inflate(&s->z, Z_NO_FLUSH);
  s->in += in - s->z.avail_in;
  s->in_left -= in - s->z.avail_in;
  s->n += room - s->z.avail_out;
  return r;
}

static bool stream_error(Arena *a, const Stream *s, int r, const char **error) {
  if (r == Z_OK || (r == Z_BUF_ERROR && !s->in_left))
    return file_error(a, error, "it ends in the middle, after %zu bytes unpacked", s->n);
  return file_error(a, error, "it is damaged: %s, after %zu bytes unpacked",
                    s->z.msg ? s->z.msg : "it cannot be unpacked", s->n);
}

bool bytes_are_gzip(const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  return n >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

uint32_t bytes_crc32(const uint8_t *p, size_t n) {
  uLong sum = crc32(0, NULL, 0);
  for (size_t part; n; p += part, n -= part)
    part = n < CHUNK ? n : CHUNK, sum = crc32(sum, p, (uInt)part);
  return (uint32_t)sum;
}

size_t unpack_limit(size_t n) {
  const size_t more = (size_t)64 << 20;
  return n > (SIZE_MAX - more) / 10 ? SIZE_MAX : 10 * n + more;
}

static size_t initial_capacity(const uint8_t *p, size_t n, size_t limit) {
  size_t says = n < 18 ? 0 : (size_t)bytes_load(p + n - 4, 4, false);
  if (says > limit) says = limit;
  if (says / DEFLATE_RATIO > n) says = n * DEFLATE_RATIO;
  return says + 64;
}

static void stream_grow(Arena *a, Stream *s, size_t limit) {
  size_t cap = s->cap > limit / 2 ? limit + 1 : 2 * s->cap + 4096;
  uint8_t *bigger = arena_alloc(a, cap);
  memcpy(bigger, s->out, s->n);
  s->out = bigger;
  s->cap = cap;
}

// After a member: another member, padding, or an error.
static bool member_follows(Arena *a, Stream *s, bool *more, const char **error) {
  *more = bytes_are_gzip(s->in, s->in_left);
  if (*more) return inflateReset(&s->z) == Z_OK;
  for (size_t i = 0; i < s->in_left; i++)
    if (s->in[i])
      return file_error(a, error, "%zu bytes follow that are not packed by gzip", s->in_left);
  return true;
}

static bool decompress(Arena *a, Stream *s, size_t limit, const char **error) {
  for (bool more = true; more;) {
    int r = stream_more(s);
    if (s->n > limit)
      return file_error(
          a, error,
          "it unpacks to more than %zu bytes: unpack it with gunzip, plain files have "
          "no limit",
          limit);
    if (r == Z_STREAM_END) {
      if (!member_follows(a, s, &more, error)) return false;
    } else if (s->n == s->cap && (r == Z_OK || r == Z_BUF_ERROR)) {
      stream_grow(a, s, limit);
    } else if (r != Z_OK || !s->in_left) {
      return stream_error(a, s, r, error);
    }
  }
  return true;
}

bool gzip_read_bytes(Arena *a, const void *bytes, size_t n, size_t limit, View *out,
                     const char **error) {
  if (!bytes_are_gzip(bytes, n))
    return file_error(a, error, "it begins with `%s`, where a gzip file begins with \\x1f\\x8b",
                      text_shown(a, bytes, n < 2 ? n : 2));
  if (limit > SIZE_MAX / 2) limit = SIZE_MAX / 2;
  Arena *scratch = arena_child(a);
  Stream s = stream_new(scratch, bytes, n);
  s.cap = initial_capacity(bytes, n, limit);
  s.out = arena_alloc(a, s.cap);
  bool good = inflateInit2(&s.z, 15 + 16) == Z_OK ? decompress(a, &s, limit, error)
                                                  : file_error(a, error, "zlib cannot be started");
  arena_free(scratch);
  *out = (View){s.out, s.n};
  return good;
}

bool inflate_bytes(Arena *a, const void *bytes, size_t n, uint8_t *to, size_t want,
                   const char **error) {
  uint8_t beyond; // must stay unused; also the output buffer if `want` is 0
  Arena *scratch = arena_child(a);
  Stream s = stream_new(scratch, bytes, n);
  s.out = to;
  s.cap = want;
  int r = inflateInit2(&s.z, -15);
  while (r == Z_OK && s.n < want) r = stream_more(&s);
  if (r == Z_OK) { // the end-of-stream mark may not have been read yet
    s.z.next_in = s.in, s.z.avail_in = (unsigned)(s.in_left < CHUNK ? s.in_left : CHUNK);
    s.z.next_out = &beyond, s.z.avail_out = 1;
    r = inflate(&s.z, Z_FINISH);
    if (!s.z.avail_out) r = Z_DATA_ERROR;
  }
  bool good = r == Z_STREAM_END && s.n == want;
  arena_free(scratch);
  return good || file_error(a, error, "its packed bytes do not unpack to just %zu bytes", want);
}

// -- cache of decompressed files ------------------------------------------------------------------
// Unpacked data are cached. A copy is used only if its length and its CRC-32 are those in the trailer of the
// gzip file, which finds damage but no forgery: the folder is private to the user. The trailer describes one
// member, so a file with several members gets no copy.
static uint32_t word_at(const FileText *f, size_t back) {
  return (uint32_t)bytes_load((const uint8_t *)f->text + f->n - back, 4, false);
}

static bool matches_trailer(const FileText *packed, View v) {
  return word_at(packed, 4) == (uint32_t)v.n && word_at(packed, 8) == bytes_crc32(v.at, v.n);
}

// The path of the cached copy: hash of the real path, CRC and length of the gzip file. NULL: not
// cached.
static const char *cached_path(Arena *a, const char *path, const FileText *f, const char **folder) {
  char real[4096];
  const char *error;
  if (f->n < CACHE_MIN_BYTES || !realpath(path, real)) return NULL;
  *folder = cache_folder(a, NULL, &error);
  if (!*folder) return NULL;
  uint64_t sum = hash_bytes(HASH_START, real, strlen(real));
  return arena_format(a, "%s/%016llx-%08x-%llx.unpacked", *folder, (unsigned long long)sum,
                      word_at(f, 8), (unsigned long long)f->n);
}

static bool read_cached(Arena *a, const char *copy, const FileText *f, View *out) {
  FileText k = file_bytes(a, copy);
  View v = {(const uint8_t *)k.text, k.n};
  if (!k.text || !matches_trailer(f, v)) return false;
  utimensat(AT_FDCWD, copy, NULL, AT_SYMLINK_NOFOLLOW); // marks the copy as recently used
  *out = v;
  return true;
}

bool file_view(Arena *a, const char *path, View *out, const char **error) {
  FileText f = file_bytes(a, path);
  if (!f.text) return file_error(a, error, "cannot read %s: %s", path, f.error);
  *out = (View){(const uint8_t *)f.text, f.n};
  if (!bytes_are_gzip(f.text, f.n)) return true;
  const char *folder, *copy = cached_path(a, path, &f, &folder);
  if (copy && read_cached(a, copy, &f, out)) return true;
  if (!gzip_read_bytes(a, f.text, f.n, unpack_limit(f.n), out, error))
    return file_error(a, error, "%s: %s", path, *error);
  if (!copy || out->n > CACHE_MAX_BYTES || !matches_trailer(&f, *out)) return true;
  if (!file_write(a, copy, out->at, out->n)) // failures of the cache are ignored
    cache_sweep(a, folder, ".unpacked", CACHE_MAX_BYTES);
  return true;
}
