// base: what every room stands on. No diagrams and no language here.
//
//   Arena *a = arena_new();
//   VEC(int) v = {0};
//   vec_push(a, &v, 7);
//   Buf b = buf_new(a);
//   buf_printf(&b, "%d", v.at[0]);
//   arena_free(a);
//
// Memory is taken from arenas and given back with them; nobody frees a node.
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
Arena *
arena_child(Arena *); // freed with its parent at the latest, fails as its parent does; never NULL
void arena_free(Arena *); // NULL is allowed
// drop(what) is called when the arena goes, before its memory does; the last one first.
void arena_on_free(Arena *, void (*drop)(void *), void *what);
void *arena_alloc(Arena *, size_t bytes);              // zeroed, aligned for anything; never NULL
void *arena_copy(Arena *, const void *, size_t bytes); // a copy that lives as long as the arena
char *arena_text(Arena *, const char *text, size_t n); // the same, ended by 0
char *arena_vformat(Arena *, const char *format, va_list);
char *arena_format(Arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void arena_exhausted(Arena *); // as if an allocation in it failed: to its last guard
size_t arena_used(const Arena *);        // bytes handed out so far
#ifdef LIMN_GUARD                        // for tests
void arena_fail_at(
    long long k); // the k-th allocation from here on fails, and all after it; 0: none
long long arena_allocations(void); // of all arenas, so far
#endif

// Where to go when memory is exhausted: the guard that was set up last for the arena, those inside
// it and those around it, which have one stack of guards together. A guard is taken away by the
// function that set it up, or by the failure that goes to it; those before it are then in force
// again.
//
//   Guard g;
//   if (GUARDED(arena, &g)) { work(arena); guard_leave(&g); } else { it failed }
//
// What the function changed in its own variables after GUARDED is not known after a failure.
typedef struct Guard {
  jmp_buf place;
  Arena *arena;
  struct Guard *before;
} Guard;
void guard_enter(Arena *, Guard *);
void guard_leave(Guard *);
_Noreturn void guard_fail(Guard *); // as if memory were exhausted
#define GUARDED(arena, guard) (guard_enter(arena, guard), setjmp((guard)->place) == 0)

// Everything in an arena as it is now, to come back to as often as wanted: what was added since is
// gone, what was changed is as it was. Arenas inside it are left alone if they are older.
typedef struct ArenaCopy ArenaCopy;
ArenaCopy *arena_save(Arena *); // NULL when memory is exhausted
void arena_restore(Arena *, const ArenaCopy *);
void arena_copy_free(ArenaCopy *); // NULL is allowed
#define NEW(arena, Type) ((Type *)arena_alloc(arena, sizeof(Type)))
#define NEW_ARRAY(arena, Type, n) ((Type *)arena_alloc(arena, sizeof(Type) * (size_t)(n)))

// A growing array. `at` moves when it grows: keep indices, not pointers.
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

// buf.c: text under construction, always ended by 0
typedef struct {
  Arena *arena;
  char *at;
  size_t n, cap;
} Buf;
Buf buf_new(Arena *);
void buf_add(Buf *, const char *text, size_t n);
void buf_text(Buf *, const char *text);
void buf_char(Buf *, char c);
// As printf, but numbers have a point whatever the locale is.
void buf_printf(Buf *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *, const char *format, va_list);
void buf_number(Buf *, double);                    // as number_print
bool text_ends(const char *text, const char *end); // with this
void buf_json(Buf *, const char *text, size_t n);  // quoted and escaped; always UTF-8

// text.c: what may be shown of a text from outside
size_t character_length(const char *text, size_t n); // UTF-8, at the start; 0 = none
size_t shown_length(const char *text, size_t n); // the same; 0: its first byte is to be written out
// What a terminal would obey, and bytes that are not UTF-8, as \x1b. Ends of lines too.
void buf_shown(Buf *, const char *text, size_t n);

// number.c: numbers as text, whatever the locale of the program says
// As strtod without hexadecimal: what is nearest to the decimal that the text begins with. *end (if
// not NULL) is behind it, or `text` when there is none.
double number_read(const char *text, const char **end);
enum { NUMBER_ROOM = 40 };
// The shortest decimal that reads back to the same bits; how many characters it has.
size_t number_print(char out[NUMBER_ROOM], double);
// As printf with these flags ("", "+", "#"), this precision (-1: none) and 'f', 'e', 'g' or 'a'.
// How many characters; 0: there is not enough room.
size_t number_format(char *out, size_t room, const char *flags, int precision, char as, double);

// Letters of ASCII, whatever the locale says of other bytes.
static inline bool char_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
static inline bool char_is_word(char c) { return char_is_letter(c) || (c >= '0' && c <= '9'); }
static inline char char_upper(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c; }

// json_write.c: JSON, with commas where they belong. In a list the key is NULL.
//
//   JsonOut j = json_out(&buf);
//   json_object(&j, NULL);
//   json_text(&j, "name", "iris");
//   json_number(&j, "rows", 150);
//   json_end(&j);                  {"name": "iris", "rows": 150}
enum { JSON_OUT_DEPTH = 16 };
typedef struct {
  char end;
  bool lines, any; // each item on a line of its own; there was one
} JsonLevel;
typedef struct {
  Buf *out;
  bool tight; // no spaces
  uint32_t depth;
  JsonLevel level[JSON_OUT_DEPTH];
} JsonOut;
JsonOut json_out(Buf *);
void json_object(JsonOut *, const char *key);
void json_list(JsonOut *, const char *key);
void json_object_lines(JsonOut *, const char *key);
void json_list_lines(JsonOut *, const char *key);
void json_end(JsonOut *); // of the innermost object or list
void json_text(JsonOut *, const char *key, const char *text);
void json_text_or_null(JsonOut *, const char *key, const char *text); // NULL: null
void json_number(JsonOut *, const char *key, double);                 // what is not finite: null
void json_bool(JsonOut *, const char *key, bool);
void json_key(JsonOut *, const char *key);                           // the caller writes the value
void json_print(JsonOut *, const char *key, const char *format, ...) // as JSON writes it
    __attribute__((format(printf, 3, 4)));

// hash.c: FNV-1a. The first call gets HASH_START, the next one what the last one gave.
#define HASH_START 0xCBF29CE484222325u
#define HASH_START_32 2166136261u
uint64_t hash_bytes(uint64_t, const void *, size_t n);
uint64_t hash_sum(uint64_t, const void *, size_t n); // not FNV: a check sum of much
uint32_t hash_bytes_32(uint32_t, const void *, size_t n);

// table.c: byte strings to numbers; iteration order is insertion order
typedef struct Table Table;
Table *table_new(Arena *);
Id table_get(const Table *, const void *key, size_t n);       // 0 = absent
void table_put(Table *, const void *key, size_t n, Id value); // replaces
uint32_t table_count(const Table *);
const char *table_key(const Table *, uint32_t i, size_t *n); // the i-th key put in
Id table_value(const Table *, uint32_t i);

// Names are interned: equal names have equal ids, and 0 is not a name.
typedef Id Name;
typedef struct Names Names;
Names *names_new(Arena *);
Name name_of(Names *, const char *text, size_t n);
Name name_from(Names *, const char *text);
const char *name_text(const Names *, Name); // ended by 0; "" for 0

// rights.c: which files a program may read
typedef struct {
  VEC(const char *) folder; // without links; what is below them too
} ReadRights;
void rights_add(Arena *, ReadRights *, const char *folder);    // one that is not there is none
void rights_add_list(Arena *, ReadRights *, const char *list); // with colons between; or NULL
// NULL: it may be read, or is not there. Otherwise why not, and what would allow it. Rights of NULL
// are everything.
const char *rights_refuse(Arena *, const ReadRights *, const char *path);

// source.c: the texts that spans point into
typedef struct {
  uint32_t file;  // index into Sources; 0 = nowhere
  uint32_t at, n; // first byte, number of bytes
} Span;
typedef struct {
  const char *path; // as the user wrote it
  const char *text; // ended by 0
  uint32_t n;
  uint32_t nline;
  uint32_t *line; // where each line begins
} Source;
typedef struct Sources {
  Arena *arena;
  VEC(Source) file;         // file.at[0] is unused
  const ReadRights *rights; // of the program
} Sources;
Sources *sources_new(Arena *);
uint32_t source_add(Sources *, const char *path, const char *text, size_t n);

// A number for each place of the sources at which something begins, 0 at first. Much of a text has
// one, and who asks goes from place to place: that is why this is no Table.
typedef struct {
  Arena *arena;
  const Sources *sources;
  VEC(uint32_t *) of; // each file
} SpanNumbers;
SpanNumbers *span_numbers_new(Arena *, const Sources *);
uint32_t *span_number(SpanNumbers *, Span);
const char *source_words(Arena *, const Sources *, Span); // on one line, without comments
uint32_t source_line(const uint32_t *line, uint32_t n,
                     uint32_t at); // of lines that begin there, from 0
void source_place(const Sources *, Span, uint32_t *line,
                  uint32_t *column); // from 1, columns in characters
Span span_join(Span first, Span last);

// diag.c: what we tell the user
typedef enum { DIAG_ERROR, DIAG_WARNING } DiagKind;
typedef struct {         // a span, looked up
  const char *path;      // "": nowhere
  uint32_t line, column; // from 1
  uint32_t length;       // in characters, as columns are
  const char *lines;     // the line of the source with marks under it
} DiagPlace;
typedef struct {
  DiagKind kind;
  Span span;
  const char *text;
  Span note_span; // a second place, when note is not NULL
  const char *note;
  const char *help; // one more line, or NULL
  bool settled;
  DiagPlace place, note_place; // once it is settled
} Diag;
typedef struct Diags {
  Arena *arena;
  Sources *sources;
  VEC(Diag) list;
  uint32_t errors;
  uint32_t
      met; // errors, also those that are not said again: these tell whether something went wrong
  uint32_t muted;      // while above 0, nothing is added
  uint32_t unsaid;     // beyond the limit: counted, but not kept
  bool machine_failed; // one of them says that memory is exhausted, a GPU is lost …
  uint32_t since;      // entries before this one are of earlier work: they drop nothing
} Diags;
Diags *diags_new(Arena *, Sources *);
// The index of the new entry, to hang a note on. One message per span: a second one is dropped.
Id diag_error(Diags *, Span, const char *format, ...) __attribute__((format(printf, 3, 4)));
Id diag_verror(Diags *, Span, const char *format, va_list);
#define diag_refuse(...) (diag_error(__VA_ARGS__), false) // for who gives up: always false
// What failed is the machine, and neither text nor data: the call ends with LIMN_SYSTEM. Always false.
bool diag_machine(Diags *, const char *format, ...) __attribute__((format(printf, 2, 3)));
Id diag_warning(Diags *, Span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_note(Diags *, Id, Span, const char *format, ...) __attribute__((format(printf, 4, 5)));
void diag_help(Diags *, Id, const char *format, ...) __attribute__((format(printf, 3, 4)));
typedef struct {
  uint32_t said, errors, met, unsaid;
} DiagMark;
DiagMark diags_mark(const Diags *);
void diags_back(Diags *, DiagMark);          // what was said since then is not said
void diags_take(Diags *, const Diags *from); // what others said, in memory of its own
void diags_sort(Diags *);
void diags_settle(Diags *);       // from here on the sources are not looked at
void diags_print(Diags *, Buf *); // with carets
void diags_json(Diags *, Buf *);  // an array of objects

// "did you mean": of the names that are tried, the one nearest to a text.
//
//   Nearest near = nearest_to("drpoout");
//   for (…) nearest_try(&near, name);
//   diag_suggest(diags, message, near.best);
typedef struct {
  const char *text, *best; // best: NULL when none is near
  uint32_t least;          // strictly nearer than this
} Nearest;
Nearest nearest_to(const char *text);
void nearest_try(Nearest *, const char *name);
const char *nearest_name(const char *text, const char *const *candidate, uint32_t count);
bool diag_suggest(Diags *, Id, const char *name); // as help, unless it is NULL: then false

// os.c: files that are read, folders, paths and the clock
double os_memory(void);                  // bytes in this machine, infinite when nobody knows
const char *os_error(Arena *, int code); // as strerror(errno), in any thread
typedef struct {
  const char *text; // ended by 0; NULL when it could not be read
  size_t n;
  const char *error; // why not
} FileText;
FileText file_read(Arena *, const char *path, size_t limit);
// A regular file as it is now, all of it, for as long as the arena lives. What is no regular file is
// refused, and not waited for.
FileText file_bytes(Arena *, const char *path);
// The folder for what can be made again: `set` or $LIMN_CACHE, $XDG_CACHE_HOME/limn, ~/.cache/limn.
// It is ours and closed to others; NULL when it cannot be.
const char *cache_folder(Arena *, const char *set, const char **error);
// Of the files there with this ending, those that were not used for 90 days are removed, and the
// oldest, until `most` bytes are left. A file is used when its time of change is set.
void cache_sweep(Arena *, const char *folder, const char *ending, double most);
// What is in a folder, without what begins with a dot, in the order of names. NULL, or what went
// wrong.
typedef VEC(const char *) FolderNames;
const char *folder_names(Arena *, const char *path, FolderNames *);
bool path_exists(const char *path);
bool path_is_file(const char *path); // a regular one
bool path_is_folder(const char *path);
const char *folder_make(Arena *, const char *path,
                        unsigned mode); // with those around it. NULL, or what went wrong
const char *path_join(Arena *, const char *beside_file, const char *relative);
const char *path_folder(Arena *, const char *path, const char **name); // "a/" and "b" of "a/b"
const char *path_real(Arena *, const char *path); // without links; NULL: it is not there
bool path_is_below(const char *folder,
                   const char *path); // or the folder itself; both without links
double clock_seconds(void);

// write.c: the one door through which files are written. All give NULL, or what went wrong.
// A file that the user named: whole or absent, through a link, into a device or a pipe.
const char *file_write(Arena *, const char *path, const void *bytes, size_t n);
// Below a folder of our own, as "shown/1.svg": no link there is followed.
const char *file_write_in(Arena *, const char *dir, const char *name, const void *bytes, size_t n);
// To read, and to write at its end: what is there, or a new one. It is regular and has no other name.
const char *file_append_in(Arena *, const char *dir, const char *name, int *fd);
const char *folder_make_in(Arena *, const char *dir, const char *name);
// Whether it is there to be read: a regular file, reached without a link.
const char *file_check_in(Arena *, const char *dir, const char *name);
const char *file_check(Arena *, const char *path); // the same, of its last part alone
// Is what stands there, or on the way there, a reason not to write: a link, another kind of file, a
// file with a second name? Then the folder is wrong, and not the disk.
bool file_is_foreign(Arena *, const char *dir, const char *name);

#endif
