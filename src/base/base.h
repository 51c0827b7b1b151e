// base: arenas, growing arrays, text, tables, messages, files. Used by every room; knows neither
// diagrams nor the language.
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
void buf_number(Buf *, double);                    // formatted by number_print
bool text_ends(const char *text, const char *end); // true if text ends with `end`
void buf_json(Buf *, const char *text, size_t n);  // a JSON string: quoted, escaped, valid UTF-8

// text.c: escaping of untrusted text
// Length of the UTF-8 character at the start; 0: none or invalid.
size_t character_length(const char *text, size_t n);
// The same; 0 if the first byte must be escaped.
size_t printable_length(const char *text, size_t n);
// Appends the text with control characters, line ends and invalid UTF-8 escaped as \x1b.
void buf_escaped(Buf *, const char *text, size_t n);

// number.c: conversion of numbers, independent of the locale
// As strtod without hexadecimal: correctly rounded. *end (if not NULL) is set to the end of the
// number, or to `text` if there is none.
double number_read(const char *text, const char **end);
enum { NUMBER_ROOM = 40 };
// Writes the shortest decimal that reads back as the same bits; returns its length.
size_t number_print(char out[NUMBER_ROOM], double);
// As printf with these flags ("", "+", "#"), precision (-1: default) and conversion 'f', 'e', 'g'
// or 'a'. Returns the length; 0 if `room` is too small.
size_t number_format(char *out, size_t room, const char *flags, int precision, char as, double);

// ASCII letters, independent of the locale.
static inline bool char_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool char_is_word(char c) { return char_is_letter(c) || (c >= '0' && c <= '9'); }
static inline char char_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

// json_write.c: a JSON writer, which inserts the commas. In a list, key is NULL.
//
//   JsonOut j = json_out(&buf);
//   json_object(&j, NULL);
//   json_text(&j, "name", "iris");
//   json_number(&j, "rows", 150);
//   json_end(&j);                  {"name": "iris", "rows": 150}
enum { JSON_OUT_DEPTH = 16 };
typedef struct {
  char end;
  bool lines, any; // one item per line; the level is not empty
} JsonLevel;
typedef struct {
  Buf *out;
  bool tight; // without spaces
  uint32_t depth;
  JsonLevel level[JSON_OUT_DEPTH];
} JsonOut;
JsonOut json_out(Buf *);
void json_object(JsonOut *, const char *key);
void json_list(JsonOut *, const char *key);
void json_object_lines(JsonOut *, const char *key);
void json_list_lines(JsonOut *, const char *key);
void json_end(JsonOut *); // closes the innermost object or list
void json_text(JsonOut *, const char *key, const char *text);
void json_text_or_null(JsonOut *, const char *key, const char *text); // writes null if text is NULL
void json_number(JsonOut *, const char *key, double);                 // writes null if not finite
void json_bool(JsonOut *, const char *key, bool);
// The caller appends the value to `out`.
void json_key(JsonOut *, const char *key);
// The formatted text must be valid JSON.
void json_print(JsonOut *, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// hash.c: FNV-1a. Start with HASH_START; pass the previous result to hash further bytes.
#define HASH_START 0xCBF29CE484222325u
#define HASH_START_32 2166136261u
uint64_t hash_bytes(uint64_t, const void *, size_t n);
uint64_t hash_sum(uint64_t, const void *, size_t n); // a faster checksum (not FNV) for large data
uint32_t hash_bytes_32(uint32_t, const void *, size_t n);

// table.c: a hash table from byte strings to ids, iterated in insertion order
typedef struct Table Table;
Table *table_new(Arena *);
Id table_get(const Table *, const void *key, size_t n);       // 0 = absent
void table_put(Table *, const void *key, size_t n, Id value); // inserts or replaces
uint32_t table_count(const Table *);
const char *table_key(const Table *, uint32_t i, size_t *n); // the i-th inserted key
Id table_value(const Table *, uint32_t i);

// Interned names: equal names have equal ids; 0 is no name.
typedef Id Name;
typedef struct Names Names;
Names *names_new(Arena *);
Name name_of(Names *, const char *text, size_t n);
Name name_from(Names *, const char *text);
const char *name_text(const Names *, Name); // terminated by 0; "" for 0

// rights.c: read permissions of a program
typedef struct {
  VEC(const char *) folder; // real paths; the permission includes everything below
} ReadRights;
void rights_add(Arena *, ReadRights *, const char *folder);    // a missing folder is ignored
void rights_add_list(Arena *, ReadRights *, const char *list); // separated by colons; may be NULL
// NULL if the path may be read or does not exist; otherwise the reason, with the option that would
// allow it. NULL rights allow everything.
const char *rights_refuse(Arena *, const ReadRights *, const char *path);

// source.c: source texts, and spans in them
typedef struct {
  uint32_t file;  // index into Sources.file; 0 = no source
  uint32_t at, n; // first byte, number of bytes
} Span;
typedef struct {
  const char *path; // as given by the user
  const char *text; // terminated by 0
  uint32_t n;
  uint32_t nline;
  uint32_t *line; // [line] offset of its first byte
} Source;
typedef struct Sources {
  Arena *arena;
  VEC(Source) file;         // file.at[0] is unused
  const ReadRights *rights; // read permissions of the program
} Sources;
Sources *sources_new(Arena *);
uint32_t source_add(Sources *, const char *path, const char *text, size_t n);

// A uint32_t for each byte offset of the sources, initially 0, as an array per file. Faster than a
// Table, because most offsets are used and accesses are local.
typedef struct {
  Arena *arena;
  const Sources *sources;
  VEC(uint32_t *) of; // [file] the array, or NULL
} SpanNumbers;
SpanNumbers *span_numbers_new(Arena *, const Sources *);
uint32_t *span_number(SpanNumbers *, Span);
// The text of the span on one line, without comments.
const char *source_words(Arena *, const Sources *, Span);
// The line (from 0) that contains offset `at`; line[i] is where line i starts.
uint32_t source_line(const uint32_t *line, uint32_t n, uint32_t at);
// Line and column, both from 1; columns count characters.
void source_place(const Sources *, Span, uint32_t *line, uint32_t *column);
Span span_join(Span first, Span last);

// diag.c: diagnostics
typedef enum { DIAG_ERROR, DIAG_WARNING } DiagKind;
typedef struct {         // a resolved span
  const char *path;      // "" if there is no place
  uint32_t line, column; // from 1
  uint32_t length;       // in characters
  const char *lines;     // the source line with carets under the span
} DiagPlace;
typedef struct {
  DiagKind kind;
  Span span;
  const char *text;
  Span note_span; // location of the note, if there is one
  const char *note;
  const char *help; // an additional line, or NULL
  bool settled;
  DiagPlace place, note_place; // valid if settled
} Diag;
typedef struct Diags {
  Arena *arena;
  Sources *sources;
  VEC(Diag) list;
  uint32_t errors;
  // Errors, including duplicates and those beyond the limit: compare before and after an operation
  // to see whether it failed.
  uint32_t met;
  uint32_t muted;      // while > 0, nothing is recorded
  uint32_t omitted;    // messages beyond the limit, only counted
  bool machine_failed; // an error of the system: out of memory, GPU lost …
  // Entries before this index belong to earlier work, and suppress no duplicates.
  uint32_t since;
} Diags;
Diags *diags_new(Arena *, Sources *);
// Returns the index of the new message, for diag_note and diag_help; 0 if it was dropped. A second
// message for the same span is dropped.
Id diag_error(Diags *, Span, const char *format, ...) __attribute__((format(printf, 3, 4)));
Id diag_verror(Diags *, Span, const char *format, va_list);
#define diag_refuse(...) (diag_error(__VA_ARGS__), false) // reports an error; always false
// Reports an error of the system, not of the program or data: the call returns LIMN_SYSTEM. Always
// false.
bool diag_machine(Diags *, const char *format, ...) __attribute__((format(printf, 2, 3)));
Id diag_warning(Diags *, Span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_note(Diags *, Id, Span, const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_help(Diags *, Id, const char *format, ...) __attribute__((format(printf, 3, 4)));
typedef struct {
  uint32_t said, errors, met, omitted;
} DiagMark;
DiagMark diags_mark(const Diags *);
void diags_rewind(Diags *, DiagMark);          // removes the messages added since the mark
void diags_append(Diags *, const Diags *from); // appends copies of the messages of `from`
void diags_sort(Diags *);
void diags_settle(Diags *);       // resolves all places; printing then needs no sources
void diags_print(Diags *, Buf *); // as text, with source lines and carets
void diags_json(Diags *, Buf *);  // as a JSON array

// "did you mean": the candidate with the smallest edit distance.
//
//   Nearest near = nearest_to("drpoout");
//   for (…) nearest_try(&near, name);
//   diag_suggest(diags, message, near.best);
typedef struct {
  const char *text, *best; // best: NULL if none is close enough
  uint32_t least;          // exclusive upper bound of the distance
} Nearest;
Nearest nearest_to(const char *text);
void nearest_try(Nearest *, const char *name);
const char *nearest_name(const char *text, const char *const *candidate, uint32_t count);
bool diag_suggest(Diags *, Id, const char *name); // adds the help line; false if name is NULL

// os.c: reading files, folders, paths and the clock
double os_memory(void);  // bytes of physical memory; infinite if unknown
uint32_t os_cores(void); // that this process may use (taskset, containers); at least 1
const char *os_error(Arena *, int code); // strerror(code), thread-safe
typedef struct {
  const char *text; // terminated by 0; NULL on failure
  size_t n;
  const char *error; // reason of the failure
} FileText;
FileText file_read(Arena *, const char *path, size_t limit);
// Reads a whole regular file into the arena. Anything else is refused without blocking.
FileText file_bytes(Arena *, const char *path);
// The cache folder: `set` or $LIMN_CACHE, $XDG_CACHE_HOME/limn, ~/.cache/limn. It is created, and
// must belong to the user and be closed to others; otherwise NULL and *error.
const char *cache_folder(Arena *, const char *set, const char **error);
// Deletes files with this ending that were not used for 90 days, then the least recently used ones,
// until at most `most` bytes are left. The time of last use is the modification time.
void cache_sweep(Arena *, const char *folder, const char *ending, double most);
// Lists a folder, sorted, without names that begin with a dot. Returns NULL, or an error.
typedef VEC(const char *) FolderNames;
const char *folder_names(Arena *, const char *path, FolderNames *);
bool path_exists(const char *path);
bool path_is_file(const char *path); // true for a regular file
bool path_is_folder(const char *path);
// Creates the folder and its parents. Returns NULL, or an error.
const char *folder_make(Arena *, const char *path, unsigned mode);
const char *path_join(Arena *, const char *beside_file, const char *relative);
// "a/" and name "b" for "a/b".
const char *path_folder(Arena *, const char *path, const char **name);
const char *path_real(Arena *, const char *path); // realpath; NULL if it does not exist
// True for the folder itself too. Both must be real paths.
bool path_is_below(const char *folder, const char *path);
double clock_seconds(void);

// write.c: all writing of files. Every function returns NULL, or an error.
// Writes a file named by the user: atomically, following a link; devices and pipes are written
// into.
const char *file_write(Arena *, const char *path, const void *bytes, size_t n);
// Writes a file below one of limn's own folders, as "shown/1.svg", without following links below
// it.
const char *file_write_in(Arena *, const char *dir, const char *name, const void *bytes, size_t n);
// Opens a file for reading and appending, creating it if needed. It must be regular and have no
// hard link.
const char *file_append_in(Arena *, const char *dir, const char *name, int *fd);
const char *folder_make_in(Arena *, const char *dir, const char *name);
// NULL if it is a regular file that is reached without a link.
const char *file_check_in(Arena *, const char *dir, const char *name);
const char *file_check(Arena *, const char *path); // the same, checking only the last component
// True if a link, a non-regular file or a file with a second hard link is at this name or on the
// way: the folder is wrong, not the disk.
bool file_is_foreign(Arena *, const char *dir, const char *name);

#endif
