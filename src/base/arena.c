// Arena allocation. An arena is a list of blocks; an allocation advances a pointer, and arena_free
// frees all blocks. When memory is exhausted, control jumps to the arena's last guard; without a
// guard the program aborts.
//
// In test builds (LIMN_GUARD), AddressSanitizer knows which bytes are allocated, with a gap after
// each allocation to detect overruns. LIMN_FAIL_ALLOC=k makes the k-th allocation of the process
// and all after it fail; k:1 makes only that one fail.
#include "base/base.h"

#include <stdatomic.h>
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
  Guard *guard; // top of the stack of guards; only in an arena without a parent
  Drop *drop;
  Arena *parent, *child, *before, *after; // before, after: siblings
};

enum { FIRST_BYTES = 1 << 12, BLOCK_BYTES = 1 << 16 };

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined LIMN_GUARD && (defined SANITIZED || defined __SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define GUARDED_GAPS 1
enum { GAP = 16 };
#else
#define GUARDED_GAPS 0
#define ASAN_POISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(at, n) ((void)(at), (void)(n))
enum { GAP = 0 };
#endif

// Fault injection for tests.
#ifdef LIMN_GUARD
// failing: the first allocation that fails; 0: none, -1: not initialised.
static _Atomic long long allocations, failing = -1;
static _Atomic long long failing_count = INT64_MAX;

void arena_fail_at(long long k) { failing = k > 0 ? allocations + k : 0; }
long long arena_allocations(void) { return allocations; }

static bool fails_now(void) {
  if (failing == -1) {
    const char *text = getenv("LIMN_FAIL_ALLOC"), *colon = text ? strchr(text, ':') : NULL;
    failing_count = colon ? atoll(colon + 1) : INT64_MAX;
    failing = text ? atoll(text) : 0;
  }
  long long k = ++allocations;
  return failing && k >= failing && k - failing < failing_count;
}
#else
static bool fails_now(void) { return false; }
#endif

Arena *arena_new(void) { return fails_now() ? NULL : calloc(1, sizeof(Arena)); }

Arena *arena_child(Arena *parent) {
  Arena *a = arena_new();
  if (!a) arena_exhausted(parent);
  a->parent = parent;
  a->after = parent->child;
  if (a->after) a->after->before = a;
  parent->child = a;
  return a;
}

static void unlink_from_parent(Arena *a) {
  if (a->before)
    a->before->after = a->after;
  else if (a->parent)
    a->parent->child = a->after;
  if (a->after) a->after->before = a->before;
}

void arena_free(Arena *a) {
  if (!a) return;
  while (a->child) arena_free(a->child);
  unlink_from_parent(a);
  for (Drop *d = a->drop; d; d = d->before) d->call(d->what);
  for (ArenaBlock *b = a->last, *before; b; b = before) {
    before = b->before;
    free(b);
  }
  free(a);
}

size_t arena_used(const Arena *a) { return a->used; }

void guard_enter(Arena *a, Guard *g) {
  while (a->parent) a = a->parent;
  g->arena = a;
  g->before = a->guard;
  a->guard = g;
}

// Guards above this one that were not left belong to functions that a failure jumped over.
void guard_leave(Guard *g) { g->arena->guard = g->before; }

_Noreturn void guard_fail(Guard *g) {
  guard_leave(g);
  longjmp(g->place, 1);
}

_Noreturn void arena_exhausted(Arena *a) {
  while (a->parent) a = a->parent;
  if (a->guard) guard_fail(a->guard);
  fputs("limn: out of memory\n", stderr);
  abort();
}

// Most arenas are short-lived and small, so the first block is small: all of it is cleared.
static size_t block_size(const Arena *a) {
  if (!a->last) return FIRST_BYTES;
  return a->last->size && a->last->size < BLOCK_BYTES / 4 ? 4 * a->last->size : BLOCK_BYTES;
}

static ArenaBlock *block_new(Arena *a, size_t bytes) {
  size_t usual = block_size(a), size = bytes > usual ? bytes : usual;
  if (size > SIZE_MAX / 2) arena_exhausted(a);
  ArenaBlock *b = calloc(1, sizeof(ArenaBlock) + size);
  if (!b) arena_exhausted(a);
  ASAN_POISON_MEMORY_REGION(b->bytes, size);
  b->size = size;
  if (bytes > BLOCK_BYTES && a->last &&
      a->last->size) { // a large block goes below the last one, whose free space stays in use
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
  if (bytes > SIZE_MAX / 2 || fails_now()) arena_exhausted(a);
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

// -- snapshots ------------------------------------------------------------------------------------
struct ArenaCopy {
  ArenaBlock *last;
  Drop *drop;
  Arena *child;
  size_t used, n;
  unsigned char *bytes[]; // [n] the bytes of each block, the last first
};

// Copies the gaps between allocations too, which AddressSanitizer would report.
#if GUARDED_GAPS
__attribute__((no_sanitize("address"))) static void
copy_bytes(unsigned char *to, const unsigned char *from, size_t n) {
  size_t words = n / sizeof(uint64_t); // blocks are aligned for any type
  for (size_t i = 0; i < words; i++)
    ((volatile uint64_t *)(void *)to)[i] = ((const uint64_t *)(const void *)from)[i];
  for (size_t i = words * sizeof(uint64_t); i < n; i++) ((volatile unsigned char *)to)[i] = from[i];
}
#else
static void copy_bytes(unsigned char *to, const unsigned char *from, size_t n) {
  if (n) memcpy(to, from, n);
}
#endif

// Closes the blocks of a snapshot by an empty block: later allocations go into new blocks.
static bool block_close(Arena *a) {
  ArenaBlock *b = fails_now() ? NULL : calloc(1, sizeof(ArenaBlock));
  if (!b) return false;
  b->before = a->last;
  a->last = b;
  return true;
}

ArenaCopy *arena_save(Arena *a) {
  size_t n = 0, i = 0;
  for (ArenaBlock *b = a->last; b; b = b->before) n++;
  ArenaCopy *c = fails_now() ? NULL : calloc(1, sizeof *c + n * sizeof *c->bytes);
  if (!c) return NULL;
  *c = (ArenaCopy){.last = a->last, .drop = a->drop, .child = a->child, .used = a->used, .n = n};
  for (ArenaBlock *b = a->last; b; b = b->before, i++) {
    c->bytes[i] = malloc(b->used + 1);
    if (!c->bytes[i]) return arena_copy_free(c), NULL;
    copy_bytes(c->bytes[i], b->bytes, b->used);
  }
  if (!block_close(a)) return arena_copy_free(c), NULL;
  c->last = a->last; // the empty block stays, so that arena_restore needs no memory
  return c;
}

void arena_restore(Arena *a, const ArenaCopy *c) {
  while (a->child && a->child != c->child) arena_free(a->child);
  for (; a->drop != c->drop; a->drop = a->drop->before) a->drop->call(a->drop->what);
  ArenaBlock **at = &a->last;
  while (*at != c->last) {
    ArenaBlock *b = *at;
    *at = b->before;
    free(b);
  }
  size_t i = 0;
  for (ArenaBlock *b = c->last->before; i < c->n; b = b->before, i++)
    copy_bytes(b->bytes, c->bytes[i], b->used);
  a->used = c->used;
}

void arena_copy_free(ArenaCopy *c) {
  for (size_t i = 0; c && i < c->n; i++) free(c->bytes[i]);
  free(c);
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

char *arena_vformat(Arena *a, const char *format, va_list args) {
  Buf b = buf_new(a);
  buf_vprintf(&b, format, args);
  return b.at;
}

char *arena_format(Arena *a, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = arena_vformat(a, format, args);
  va_end(args);
  return text;
}

void vec_grow(Arena *a, void **at, uint32_t *cap, size_t item) {
  uint32_t bigger = *cap ? *cap * 2 : item > 100 ? 1 : 4;
  if (bigger <= *cap) arena_exhausted(a);
  void *p = arena_alloc(a, (size_t)bigger * item);
  if (*cap) memcpy(p, *at, (size_t)*cap * item);
  *at = p;
  *cap = bigger;
}
