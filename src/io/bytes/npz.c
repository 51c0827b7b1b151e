// A zip archive of npy files, as written by NumPy's savez and savez_compressed.
//
//   entry entry … | directory | [zip64 end, its locator] | end
//
// Entries are found by the central directory at the end. The local header of an entry only gives
// its length, and must have the same name, because no checksum covers names. Stored entries are not
// copied, deflated ones are decompressed. Names are keys, never paths: one with a slash, backslash
// or zero is refused. CRCs are verified. All decompressed entries together must stay below 10 times
// the file plus 64 MB.
#include "base/table.h"
#include "io/bytes/bytes.h"

enum {
  END_BYTES = 22,
  END64_BYTES = 56,
  LOCATOR_BYTES = 20,
  DIRECTORY_BYTES = 46,
  LOCAL_BYTES = 30,
  ENTRIES_LIMIT = 1 << 16,
};

typedef struct {
  Arena *arena;
  const uint8_t *at;
  size_t n;
  const char **error;
  uint64_t entries, directory, directory_bytes; // number of entries; span of the directory
  size_t room;                                  // budget of bytes to decompress
  uint64_t left; // budget of entry bytes: overlapping entries exceed it
} Zip;

typedef struct {
  const char *name;
  uint32_t method, crc;
  uint64_t packed, size, local;
} ZipEntry;

static uint64_t number(const uint8_t *p, uint32_t bytes) { return bytes_load(p, bytes, false); }

static bool inside(const Zip *z, uint64_t from, uint64_t bytes) {
  return from <= z->n && bytes <= z->n - from;
}

static bool zip_error(const Zip *z, const char *what) {
  return file_error(z->arena, z->error, "the zip archive is damaged: %s", what);
}

bool bytes_are_zip(const void *bytes, size_t n) {
  return n >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0);
}

// The end record may be followed by a comment, whose length it holds.
static bool find_end(const Zip *z, size_t *at) {
  for (size_t back = END_BYTES; back <= z->n && back <= END_BYTES + 0xffff; back++) {
    const uint8_t *p = z->at + z->n - back;
    if (memcmp(p, "PK\5\6", 4) || END_BYTES + number(p + 20, 2) != back) continue;
    *at = z->n - back;
    return true;
  }
  return false;
}

// Zip64: larger counts and offsets are in a second end record.
static bool read_end64(Zip *z, size_t end) {
  if (end < LOCATOR_BYTES || memcmp(z->at + end - LOCATOR_BYTES, "PK\6\7", 4) != 0)
    return zip_error(z, "the end record of a large archive is missing");
  uint64_t at = number(z->at + end - LOCATOR_BYTES + 8, 8);
  if (!inside(z, at, END64_BYTES) || memcmp(z->at + at, "PK\6\6", 4) != 0)
    return zip_error(z, "the end record of a large archive is not where it should be");
  z->entries = number(z->at + at + 32, 8);
  z->directory_bytes = number(z->at + at + 40, 8);
  z->directory = number(z->at + at + 48, 8);
  return true;
}

static bool read_end(Zip *z) {
  size_t end;
  if (!find_end(z, &end)) return zip_error(z, "its end is missing");
  const uint8_t *p = z->at + end;
  z->entries = number(p + 10, 2);
  z->directory_bytes = number(p + 12, 4);
  z->directory = number(p + 16, 4);
  bool large =
      z->entries == 0xffff || z->directory_bytes == 0xffffffff || z->directory == 0xffffffff;
  if (large && !read_end64(z, end)) return false;
  if (!inside(z, z->directory, z->directory_bytes))
    return zip_error(z, "its directory is not inside it");
  if (z->entries > z->directory_bytes / DIRECTORY_BYTES)
    return zip_error(z, "its directory is too short for its entries");
  return z->entries <= ENTRIES_LIMIT ||
         file_error(z->arena, z->error, "the zip archive has %llu entries, more than %d",
                    (unsigned long long)z->entries, ENTRIES_LIMIT);
}

// Zip64: sizes and offsets beyond 32 bits are in an extra field, in this order.
static bool read_extra64(const Zip *z, const uint8_t *p, size_t n, ZipEntry *e) {
  uint64_t *wide[] = {&e->size, &e->packed, &e->local};
  bool wanted = false;
  for (uint32_t i = 0; i < 3; i++) wanted |= *wide[i] == 0xffffffff;
  while (wanted && n >= 4) {
    size_t length = (size_t)number(p + 2, 2), at = 4;
    if (length > n - 4) break;
    if (number(p, 2) == 1) {
      for (uint32_t i = 0; i < 3; i++) {
        if (*wide[i] != 0xffffffff) continue;
        if (at + 8 > 4 + length) return zip_error(z, "the size of an entry is missing");
        *wide[i] = number(p + at, 8);
        at += 8;
      }
      return true;
    }
    p += 4 + length;
    n -= 4 + length;
  }
  return !wanted || zip_error(z, "the size of an entry is missing");
}

static bool good_name(const Zip *z, const uint8_t *text, size_t n, ZipEntry *e) {
  const char *shown = text_shown(z->arena, (const char *)text, n);
  if (!n || memchr(text, 0, n) || memchr(text, '/', n) || memchr(text, '\\', n))
    return file_error(z->arena, z->error, "entry `%s` of the archive is not a plain name", shown);
  if (n < 5 || memcmp(text + n - 4, ".npy", 4) != 0)
    return file_error(z->arena, z->error, "entry `%s` of the archive is not an npy file", shown);
  e->name = arena_text(z->arena, (const char *)text, n - 4);
  return true;
}

static bool read_entry(const Zip *z, uint64_t *at, ZipEntry *e) {
  uint64_t end = z->directory + z->directory_bytes;
  if (end - *at < DIRECTORY_BYTES || memcmp(z->at + *at, "PK\1\2", 4) != 0)
    return zip_error(z, "its directory has something else where an entry was wanted");
  const uint8_t *p = z->at + *at;
  size_t name = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2),
         comment = (size_t)number(p + 32, 2);
  if (name + extra + comment > end - *at - DIRECTORY_BYTES)
    return zip_error(z, "an entry of its directory is too long");
  *e = (ZipEntry){.method = (uint32_t)number(p + 10, 2), .crc = (uint32_t)number(p + 16, 4)};
  e->packed = number(p + 20, 4);
  e->size = number(p + 24, 4);
  e->local = number(p + 42, 4);
  *at += DIRECTORY_BYTES + name + extra + comment;
  if (number(p + 8, 2) & 1)
    return file_error(z->arena, z->error, "the archive is encrypted, which is not supported");
  return good_name(z, p + DIRECTORY_BYTES, name, e) &&
         read_extra64(z, p + DIRECTORY_BYTES + name, extra, e);
}

static bool entry_error(const Zip *z, const ZipEntry *e, const char *what) {
  return file_error(z->arena, z->error, "%s.npy: %s",
                    text_shown(z->arena, e->name, strlen(e->name)), what);
}

static bool same_name(const Zip *z, const ZipEntry *e, uint64_t n) {
  const uint8_t *own = z->at + e->local + LOCAL_BYTES;
  size_t stem = strlen(e->name);
  return inside(z, e->local + LOCAL_BYTES, n) && n == stem + 4 && !memcmp(own, e->name, stem) &&
         !memcmp(own + stem, ".npy", 4);
}

static bool find_entry_bytes(Zip *z, const ZipEntry *e, const uint8_t **out) {
  if (!inside(z, e->local, LOCAL_BYTES) || memcmp(z->at + e->local, "PK\3\4", 4) != 0)
    return entry_error(z, e, "it is not where the directory says");
  const uint8_t *p = z->at + e->local;
  uint64_t name = number(p + 26, 2), from = e->local + LOCAL_BYTES + name + number(p + 28, 2);
  if (!same_name(z, e, name))
    return entry_error(z, e, "it has another name in the directory than in its own header");
  if (!inside(z, from, e->packed))
    return entry_error(z, e, "it reaches beyond the end of the file");
  if (e->packed > z->left) return zip_error(z, "its entries overlap");
  z->left -= e->packed;
  *out = z->at + from;
  return true;
}

static bool unpack(Zip *z, const ZipEntry *e, const uint8_t *from, const uint8_t **out) {
  if (e->size > z->room || e->size / 1032 > e->packed)
    return entry_error(z, e, "it unpacks to more than is allowed: save it uncompressed");
  uint8_t *to = arena_alloc(z->arena, (size_t)e->size);
  z->room -= (size_t)e->size;
  *out = to;
  const char *why;
  return inflate_bytes(z->arena, from, (size_t)e->packed, to, (size_t)e->size, &why) ||
         entry_error(z, e, why);
}

static bool read_array(Zip *z, const ZipEntry *e, Raw *out) {
  const uint8_t *from = NULL, *bytes;
  const char *why;
  if (!find_entry_bytes(z, e, &from)) return false;
  bytes = from;
  if (e->method == 8) {
    if (!unpack(z, e, from, &bytes)) return false;
  } else if (e->method != 0) {
    return entry_error(z, e, "its compression is not supported (only deflate is)");
  } else if (e->packed != e->size) {
    return entry_error(z, e, "its two sizes differ, though it is not compressed");
  }
  if (bytes_crc32(bytes, (size_t)e->size) != e->crc)
    return entry_error(z, e, "its checksum is wrong: the file is damaged");
  if (!npy_look(z->arena, bytes, (size_t)e->size, out, &why)) return entry_error(z, e, why);
  out->name = e->name;
  return true;
}

bool npz_look(Arena *a, const void *bytes, size_t n, Raws *out, const char **error) {
  Zip z = {.arena = a, .at = bytes, .n = n, .error = error, .room = unpack_limit(n)};
  z.left = n;
  Table *names = table_new(a);
  *out = (Raws){0};
  if (!bytes_are_zip(bytes, n))
    return file_error(a, error, "it begins with `%s`, where a zip archive begins with PK",
                      text_shown(a, bytes, n < 4 ? n : 4));
  if (!read_end(&z)) return false;
  uint64_t at = z.directory;
  for (uint64_t i = 0; i < z.entries; i++) {
    ZipEntry e;
    Raw x;
    if (!read_entry(&z, &at, &e)) return false;
    if (table_get(names, e.name, strlen(e.name))) return entry_error(&z, &e, "it is there twice");
    table_put(names, e.name, strlen(e.name), 1);
    if (!read_array(&z, &e, &x)) return false;
    vec_push(a, out, x);
  }
  return true;
}
