// All blocks of memory that a host and the library hold, counted. For programs that are linked with
// --wrap (test.sh).
#ifndef EMBED_COUNTED_H
#define EMBED_COUNTED_H

#include <stdatomic.h>
#include <stdlib.h>

void *__real_calloc(size_t, size_t);
void *__real_malloc(size_t);
void *__real_aligned_alloc(size_t, size_t);
void __real_free(void *);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *);
static atomic_long blocks;

static void *counted(void *p) {
  blocks += p != NULL;
  return p;
}
void *__wrap_calloc(size_t n, size_t bytes) { return counted(__real_calloc(n, bytes)); }
void *__wrap_malloc(size_t bytes) { return counted(__real_malloc(bytes)); }
void *__wrap_aligned_alloc(size_t align, size_t bytes) {
  return counted(__real_aligned_alloc(align, bytes));
}
void __wrap_free(void *p) {
  blocks -= p != NULL;
  __real_free(p);
}

#endif
