// Memory by lifetime. An arena is a list of blocks; allocation moves a pointer, and everything goes
// at once. In a test build (LIMN_GUARD) a sanitizer is told which bytes were handed out, with a gap
// after each piece, so that an overrun is seen; and LIMN_FAIL_ALLOC=k makes the k-th allocation of
// the process, and all after it, fail. When memory is exhausted the arena jumps to the place its
// owner named, or stops the program when there is none.
#include "base.h"

#include <stdlib.h>

typedef struct ArenaBlock {
  struct ArenaBlock *before;
  size_t used, size;
  _Alignas(max_align_t) unsigned char bytes[];
} ArenaBlock;

typedef struct Drop {
  void (*call)(void *);
  void *what;
  struct Drop *before;
} Drop;

struct Arena {
  ArenaBlock *last;
  size_t used;
  jmp_buf *on_failure;
  Drop *drop;
  Arena *parent, *child, *before, *after; // before and after: other children of the parent
};

enum { BLOCK_BYTES = 1 << 16 };

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined LIMN_GUARD && (defined SANITIZED || defined __SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
enum { GAP = 0 };
#endif

// Is it this allocation's turn to fail? The counter is for one thread: only tests set it.
static bool fails_now(void) {
#ifdef LIMN_GUARD
  static long long left = -1;
  if (left == -1) {
    const char *text = getenv("LIMN_FAIL_ALLOC");
    left = text ? atoll(text) : -2;
  }
  return left == 1 || (left > 1 && left-- == 1);
#else
  return false;
#endif
}

Arena *arena_new(void) { return fails_now() ? NULL : calloc(1, sizeof(Arena)); }

static _Noreturn void arena_fail(Arena *a);

Arena *arena_child(Arena *parent) {
  Arena *a = arena_new();
  if (!a) arena_fail(parent);
  a->parent = parent;
  a->after = parent->child;
  if (a->after) a->after->before = a;
  parent->child = a;
  return a;
}

static void leave_parent(Arena *a) {
  if (a->before)
    a->before->after = a->after;
  else if (a->parent)
    a->parent->child = a->after;
  if (a->after) a->after->before = a->before;
}

void arena_free(Arena *a) {
  if (!a) return;
  while (a->child) arena_free(a->child);
  leave_parent(a);
  for (Drop *d = a->drop; d; d = d->before) d->call(d->what);
  for (ArenaBlock *b = a->last, *before; b; b = before) {
    before = b->before;
    free(b);
  }
  free(a);
}

void arena_on_failure(Arena *a, jmp_buf *place) { a->on_failure = place; }
size_t arena_used(const Arena *a) { return a->used; }

static _Noreturn void arena_fail(Arena *a) {
  for (; a; a = a->parent)
    if (a->on_failure) longjmp(*a->on_failure, 1);
  fputs("limn: out of memory\n", stderr);
  abort();
}

static ArenaBlock *block_new(Arena *a, size_t bytes) {
  size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
  if (size > SIZE_MAX / 2) arena_fail(a);
  ArenaBlock *b = calloc(1, sizeof(ArenaBlock) + size);
  if (!b) arena_fail(a);
  ASAN_POISON_MEMORY_REGION(b->bytes, size);
  b->size = size;
  if (bytes > BLOCK_BYTES && a->last) { // what is left of the last block stays in use
    b->before = a->last->before;
    a->last->before = b;
    return b;
  }
  b->before = a->last;
  a->last = b;
  return b;
}

void *arena_alloc(Arena *a, size_t bytes) {
  const size_t align = _Alignof(max_align_t);
  if (bytes > SIZE_MAX / 2 || fails_now()) arena_fail(a);
  size_t room = (bytes + align - 1) / align * align + GAP;
  a->used += room - GAP;
  ArenaBlock *b = a->last;
  if (!b || b->size - b->used < room) b = block_new(a, room);
  void *p = b->bytes + b->used;
  b->used += room;
  ASAN_UNPOISON_MEMORY_REGION(p, bytes);
  return p;
}

void arena_on_free(Arena *a, void (*drop)(void *), void *what) {
  Drop *d = NEW(a, Drop);
  *d = (Drop){drop, what, a->drop};
  a->drop = d;
}

#ifdef LIMN_GUARD
struct ArenaCopy {
  ArenaBlock *last;
  Drop *drop;
  size_t used, n;
  unsigned char *bytes[]; // of each block, from the last
};

ArenaCopy *arena_save(Arena *a) {
  size_t n = 0, i = 0;
  for (ArenaBlock *b = a->last; b; b = b->before) n++;
  ArenaCopy *c = calloc(1, sizeof *c + n * sizeof *c->bytes);
  *c = (ArenaCopy){.last = a->last, .drop = a->drop, .used = a->used, .n = n};
  for (ArenaBlock *b = a->last; b; b = b->before) {
    ASAN_UNPOISON_MEMORY_REGION(b->bytes,
                                b->size); // from here on no overrun is seen in what is saved
    c->bytes[i] = malloc(b->used + 1);
    memcpy(c->bytes[i++], b->bytes, b->used);
  }
  block_new(a, 0);
  return c;
}

void arena_restore(Arena *a, const ArenaCopy *c) {
  while (a->child) arena_free(a->child);
  for (; a->drop != c->drop; a->drop = a->drop->before) a->drop->call(a->drop->what);
  while (a->last != c->last) {
    ArenaBlock *b = a->last;
    a->last = b->before;
    free(b);
  }
  size_t i = 0;
  for (ArenaBlock *b = a->last; b; b = b->before, i++) memcpy(b->bytes, c->bytes[i], b->used);
  a->used = c->used;
  block_new(a, 0);
}
#endif

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
  uint32_t bigger = *cap ? *cap * 2 : item > 100 ? 1 : 4;
  if (bigger <= *cap) arena_fail(a);
  void *p = arena_alloc(a, (size_t)bigger * item);
  if (*cap) memcpy(p, *at, (size_t)*cap * item);
  *at = p;
  *cap = bigger;
}
