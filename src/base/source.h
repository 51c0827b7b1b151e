// source.h: source texts, places in them, and what a program may read.
#ifndef LIMN_BASE_SOURCE_H
#define LIMN_BASE_SOURCE_H

#include "base/base.h"

// rights.c: read permissions of a program
struct ReadRights {
  VEC(const char *) folder; // real paths; the permission includes everything below
};
void rights_add(Arena *, ReadRights *, const char *folder);    // a missing folder is ignored
void rights_add_list(Arena *, ReadRights *, const char *list); // separated by colons; may be NULL
// NULL if the path may be read or does not exist; otherwise the reason, with the option that would
// allow it. NULL rights allow everything.
const char *rights_refuse(Arena *, const ReadRights *, const char *path);

// source.c
typedef struct {
  const char *path; // as given by the user
  const char *text; // terminated by 0
  uint32_t n;
  uint32_t nline;
  uint32_t *line; // [line] offset of its first byte
} Source;
struct Sources {
  Arena *arena;
  VEC(Source) file;         // file.at[0] is unused
  const ReadRights *rights; // read permissions of the program
};
Sources *sources_new(Arena *);
uint32_t source_add(Sources *, const char *path, const char *text, size_t n);

// A uint32_t for each byte offset of the sources, initially 0, as an array per file. Faster than a
// Table, because most offsets are used and accesses are local.
struct SpanNumbers {
  Arena *arena;
  const Sources *sources;
  VEC(uint32_t *) of; // [file] the array, or NULL
};
SpanNumbers *span_numbers_new(Arena *, const Sources *);
uint32_t *span_number(SpanNumbers *, Span);
// The text of the span on one line, without comments.
const char *source_words(Arena *, const Sources *, Span);
// The line (from 0) that contains offset `at`; line[i] is where line i starts.
uint32_t source_line(const uint32_t *line, uint32_t n, uint32_t at);
// Line and column, both from 1; columns count characters.
void source_place(const Sources *, Span, uint32_t *line, uint32_t *column);
Span span_join(Span first, Span last);

#endif
