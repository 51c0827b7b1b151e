// Memory by lifetime. An arena is a list of blocks; allocation moves a pointer, and everything goes
// at once. In a sanitized build (LIMN_GUARD) each allocation is a block of its own, so that an
// overrun is seen. When memory is exhausted the arena jumps to the place its owner named, or stops
// the program when there is none.
#include "base.h"

#include <stdlib.h>

typedef struct Block {
  struct Block *before;
  size_t used, size;
  _Alignas(max_align_t) unsigned char bytes[];
} Block;

struct Arena {
  Block *last;
  size_t used;
  jmp_buf *on_failure;
};

#ifdef LIMN_GUARD
enum { BLOCK_BYTES = 0 };
#else
enum { BLOCK_BYTES = 1 << 16 };
#endif

Arena *arena_new(void) { return calloc(1, sizeof(Arena)); }

void arena_free(Arena *a) {
  if (!a) return;
  for (Block *b = a->last, *before; b; b = before) {
    before = b->before;
    free(b);
  }
  free(a);
}

void arena_on_failure(Arena *a, jmp_buf *place) { a->on_failure = place; }
size_t arena_used(const Arena *a) { return a->used; }

static void arena_fail(Arena *a) {
  if (a->on_failure) longjmp(*a->on_failure, 1);
  fputs("limn: out of memory\n", stderr);
  abort();
}

static Block *block_new(Arena *a, size_t bytes) {
  size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
  if (size > SIZE_MAX / 2) arena_fail(a);
  Block *b = calloc(1, sizeof(Block) + size);
  if (!b) arena_fail(a);
  b->size = size;
  b->before = a->last;
  a->last = b;
  return b;
}

void *arena_alloc(Arena *a, size_t bytes) {
  const size_t align = _Alignof(max_align_t);
  if (bytes > SIZE_MAX / 2) arena_fail(a);
#ifndef LIMN_GUARD
  bytes = (bytes + align - 1) / align * align;
#else
  (void)align;
#endif
  a->used += bytes;
  Block *b = a->last;
  if (!b || b->size - b->used < bytes) b = block_new(a, bytes);
  void *p = b->bytes + b->used;
  b->used += bytes;
  return p;
}

void *arena_copy(Arena *a, const void *from, size_t bytes) {
  void *p = arena_alloc(a, bytes);
  if (bytes) memcpy(p, from, bytes);
  return p;
}

char *arena_text(Arena *a, const char *text, size_t n) {
  char *p = arena_alloc(a, n + 1);
  if (n) memcpy(p, text, n);
  return p;
}

char *arena_format(Arena *a, const char *format, ...) {
  va_list args;
  Buf b = buf_new(a);
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  return b.at;
}

void vec_grow(Arena *a, void **at, uint32_t *cap, size_t item) {
  uint32_t bigger = *cap ? *cap * 2 : 4;
  void *p = arena_alloc(a, (size_t)bigger * item);
  if (*cap) memcpy(p, *at, (size_t)*cap * item);
  *at = p;
  *cap = bigger;
}
