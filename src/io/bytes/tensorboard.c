// TensorBoard event files: a sequence of records, one event each.
//
//   length | checksum of it | event  | checksum of it        little-endian
//     8            4          length         4               checksums are CRC-32C, masked
//
// An event is a protocol buffer: fields of a key (field number and wire type) and a value. Four
// fields are used:
//
//   Event    1 wall_time: double    2 step: varint    3 file_version: text    5 summary: message
//   Summary  1 value: message       Value  1 tag: text    2 simple_value: float
//
// Events are buffered and written by events_flush, so a file ends after a complete record unless a
// write was interrupted; an incomplete tail is truncated when the file is opened again.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "io/bytes/bytes.h"

#include <errno.h>
#include <unistd.h>

struct Events {
  Arena *arena;
  const char *path;
  int fd;
  Buf wait; // buffered records
};

uint32_t crc32c(const void *bytes, size_t n) {
  const uint8_t *p = bytes;
  uint32_t table[16], sum = ~0u; // a table per nibble, small enough to be computed each time
  for (uint32_t i = 0; i < 16; i++) {
    table[i] = i;
    for (int k = 0; k < 4; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
  }
  for (size_t i = 0; i < n; i++) {
    sum ^= p[i];
    sum = sum >> 4 ^ table[sum & 15];
    sum = sum >> 4 ^ table[sum & 15];
  }
  return ~sum;
}

static uint32_t masked(uint32_t sum) { return (sum >> 15 | sum << 17) + 0xa282ead8u; }

static void put_fixed(Buf *b, uint64_t x, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) buf_char(b, (char)(x >> 8 * i));
}

static void put_varint(Buf *b, uint64_t x) {
  for (; x >= 0x80; x >>= 7) buf_char(b, (char)(x | 0x80));
  buf_char(b, (char)x);
}

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };
static void put_key(Buf *b, uint32_t field, uint32_t coding) { put_varint(b, field << 3 | coding); }

static void put_bytes(Buf *b, uint32_t field, const char *text, size_t n) {
  put_key(b, field, BYTES);
  put_varint(b, n);
  buf_add(b, text, n);
}

static void put_double(Buf *b, uint32_t field, double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  put_key(b, field, FIXED64);
  put_fixed(b, bits, 8);
}

static void put_float(Buf *b, uint32_t field, float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  put_key(b, field, FIXED32);
  put_fixed(b, bits, 4);
}

static void put_record(Buf *b, const Buf *event) {
  size_t from = b->n;
  put_fixed(b, event->n, 8);
  put_fixed(b, masked(crc32c(b->at + from, 8)), 4);
  buf_add(b, event->at, event->n);
  put_fixed(b, masked(crc32c(event->at, event->n)), 4);
}

static uint64_t fixed(const uint8_t *p, uint32_t bytes) { return bytes_load(p, bytes, false); }

// The length of the complete records.
static size_t whole_records(const uint8_t *p, size_t n) {
  size_t at = 0;
  while (n - at >= 16) {
    uint64_t length = fixed(p + at, 8);
    if (masked(crc32c(p + at, 8)) != fixed(p + at + 8, 4) || length > n - at - 16) break;
    if (masked(crc32c(p + at + 12, (size_t)length)) != fixed(p + at + 12 + length, 4)) break;
    at += 16 + (size_t)length;
  }
  return at;
}

static void close_file(void *what) {
  Events *e = what;
  if (e->fd >= 0) close(e->fd);
}

// Truncates the file after its last complete record, and seeks to its end.
static bool continue_file(Events *e, const char **error) {
  Arena *scratch = arena_child(e->arena);
  FileText f = file_bytes(scratch, e->path);
  size_t whole = f.text ? whole_records((const uint8_t *)f.text, f.n) : 0;
  bool foreign = f.n && !whole, good = f.text && !foreign && ftruncate(e->fd, (off_t)whole) == 0 &&
                                       lseek(e->fd, 0, SEEK_END) >= 0;
  int why = errno;
  arena_free(scratch);
  if (foreign) return file_error(e->arena, error, "%s is not a file of events", e->path);
  return good ||
         file_error(e->arena, error, "cannot write %s: %s", e->path, os_error(e->arena, why));
}

Events *events_open(Arena *a, const char *path, double wall_time, const char **error) {
  Events *e = NEW(a, Events);
  *e = (Events){.arena = a, .path = arena_format(a, "%s", path), .fd = -1, .wait = buf_new(a)};
  arena_on_free(a, close_file, e);
  const char *name, *dir = path_folder(a, path, &name);
  const char *why = file_append_in(a, dir, name, &e->fd);
  if (why) {
    file_error(a, error, "cannot write %s: %s", path, why);
    return NULL;
  }
  if (!continue_file(e, error)) return NULL;
  if (lseek(e->fd, 0, SEEK_CUR) > 0) return e;
  Buf event = buf_new(a);
  put_double(&event, 1, wall_time);
  put_bytes(&event, 3, "brain.Event:2", 13);
  put_record(&e->wait, &event);
  return events_flush(e, error) ? e : NULL;
}

void events_scalar(Events *e, int64_t step, double wall_time, const char *tag, double value) {
  Arena *scratch = arena_child(e->arena);
  Buf v = buf_new(scratch), summary = buf_new(scratch), event = buf_new(scratch);
  put_bytes(&v, 1, tag, strlen(tag));
  put_float(&v, 2, (float)value);
  put_bytes(&summary, 1, v.at, v.n);
  put_double(&event, 1, wall_time);
  put_key(&event, 2, VARINT);
  put_varint(&event, (uint64_t)step);
  put_bytes(&event, 5, summary.at, summary.n);
  put_record(&e->wait, &event);
  arena_free(scratch);
}

bool events_flush(Events *e, const char **error) {
  for (size_t at = 0; at < e->wait.n;) {
    ssize_t put = write(e->fd, e->wait.at + at, e->wait.n - at);
    if (put > 0) at += (size_t)put;
    if (put > 0 || (put < 0 && errno == EINTR)) continue;
    int why = errno;
    memmove(e->wait.at, e->wait.at + at, e->wait.n -= at); // the rest is kept for the next flush
    return file_error(e->arena, error, "cannot write %s: %s", e->path, os_error(e->arena, why));
  }
  e->wait.n = 0;
  return true;
}
