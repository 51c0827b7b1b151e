// base: arenas, growing arrays, growing text. Used by every room; knows neither diagrams nor the
// language. Tables, messages, numbers and files have headers of their own.
//
//   Arena *a = arena_new();
//   VEC(int) v = {0};
//   vec_push(a, &v, 7);
//   Buf b = buf_new(a);
//   buf_printf(&b, "%d", v.at[0]);
//   arena_free(a);
//
// Memory is allocated in arenas and freed with them; single objects are never freed.
#ifndef LIMN_BASE_BASE_H
#define LIMN_BASE_BASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t Id; // an index into a table; 0 = none

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

// arena.c
typedef struct Arena Arena;
Arena *arena_new(void); // NULL when memory is exhausted
// Never NULL. Freed with its parent at the latest; if memory is exhausted, control jumps to the
// parent's guard.
Arena *arena_child(Arena *);
void arena_free(Arena *); // NULL is allowed
// Calls drop(what) in arena_free, before the memory is freed; the last registered first.
void arena_on_free(Arena *, void (*drop)(void *), void *what);
void *arena_alloc(Arena *, size_t bytes);              // zeroed, aligned for any type; never NULL
void *arena_copy(Arena *, const void *, size_t bytes); // a copy in the arena
char *arena_text(Arena *, const char *text, size_t n); // a copy of n bytes and a terminating 0
char *arena_vformat(Arena *, const char *format, va_list);
char *arena_format(Arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void arena_exhausted(Arena *); // jumps to the arena's last guard
size_t arena_used(const Arena *);        // bytes allocated so far
#ifdef LIMN_GUARD                        // for tests
// Makes the k-th allocation from now on fail, and all after it; 0: none.
void arena_fail_at(long long k);
long long arena_allocations(void); // number of allocations in all arenas so far
#endif

// A guard is a setjmp target for failures: out of memory, or guard_fail. An arena and all its
// descendants share one stack of guards; a failure jumps to the top one. The function that entered
// a guard leaves it; a jump leaves it too, and the guard below is in force again.
//
//   Guard g;
//   if (GUARDED(arena, &g)) { work(arena); guard_leave(&g); } else { it failed }
//
// As after any longjmp, local variables that were changed after GUARDED are indeterminate in the
// failure branch.
typedef struct Guard {
  jmp_buf place;
  Arena *arena;
  struct Guard *before;
} Guard;
void guard_enter(Arena *, Guard *);
void guard_leave(Guard *);
_Noreturn void guard_fail(Guard *); // jumps to this guard
#define GUARDED(arena, guard) (guard_enter(arena, guard), setjmp((guard)->place) == 0)

// A snapshot of an arena, which can be restored any number of times: later allocations are freed,
// changed bytes are restored. Child arenas that are older than the snapshot are left alone.
typedef struct ArenaCopy ArenaCopy;
ArenaCopy *arena_save(Arena *); // NULL when memory is exhausted
void arena_restore(Arena *, const ArenaCopy *);
void arena_copy_free(ArenaCopy *); // NULL is allowed
#define NEW(arena, Type) ((Type *)arena_alloc(arena, sizeof(Type)))
#define NEW_ARRAY(arena, Type, n) ((Type *)arena_alloc(arena, sizeof(Type) * (size_t)(n)))

// A growing array. `at` moves when the array grows: keep indices, not pointers.
#define VEC(Type)                                                                                  \
  struct {                                                                                         \
    Type *at;                                                                                      \
    uint32_t n, cap;                                                                               \
  }
#define vec_push(arena, v, ...)                                                                    \
  ((v)->n == (v)->cap ? vec_grow(arena, (void **)&(v)->at, &(v)->cap, sizeof *(v)->at) : (void)0,  \
   (v)->at[(v)->n++] = (__VA_ARGS__))
void vec_grow(Arena *, void **at, uint32_t *cap, size_t item);
typedef VEC(Id) Ids;

// Types that headers mention by name. They are defined in the header behind each, with functions.
typedef struct Table Table; // table.h
// Interned names: equal names have equal ids; 0 is no name.
typedef Id Name;
typedef struct Names Names; // names.h
// A range of a source text.
typedef struct {
  uint32_t file;  // index into Sources.file; 0 = no source
  uint32_t at, n; // first byte, number of bytes
} Span;
typedef struct Sources Sources;         // source.h
typedef struct SpanNumbers SpanNumbers; // source.h
typedef struct ReadRights ReadRights;   // source.h
typedef struct Diags Diags;             // diag.h
typedef struct FileText FileText;       // files.h
typedef struct JsonOut JsonOut;         // json_write.h

// buf.c: a growing text, always terminated by 0
typedef struct {
  Arena *arena;
  char *at;
  size_t n, cap;
} Buf;
Buf buf_new(Arena *);
void buf_add(Buf *, const char *text, size_t n);
void buf_text(Buf *, const char *text);
void buf_char(Buf *, char c);
// As printf, but the decimal point is '.' in every locale.
void buf_printf(Buf *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *, const char *format, va_list);
void buf_number(Buf *, double); // formatted by number_print
// The indices of an element in row-major order, "[3 0]"; nothing for a scalar.
void buf_indices(Buf *, uint32_t rank, const int64_t *shape, int64_t element);
bool text_ends(const char *text, const char *end); // true if text ends with `end`
void buf_json(Buf *, const char *text, size_t n);  // a JSON string: quoted, escaped, valid UTF-8

// text.c: escaping of untrusted text
// Length of the UTF-8 character at the start; 0: none or invalid.
size_t character_length(const char *text, size_t n);
size_t character_write(uint32_t, char to[4]); // encodes a code point as UTF-8; returns its length
// The same; 0 if the first byte must be escaped.
size_t printable_length(const char *text, size_t n);
// Appends the text with control characters, line ends and invalid UTF-8 escaped as \x1b.
void buf_escaped(Buf *, const char *text, size_t n);

// ASCII letters, independent of the locale.
static inline bool char_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool char_is_word(char c) { return char_is_letter(c) || (c >= '0' && c <= '9'); }
static inline char char_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

#endif
