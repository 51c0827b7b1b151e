// diag.h: diagnostics, and the nearest name for "did you mean".
#ifndef LIMN_BASE_DIAG_H
#define LIMN_BASE_DIAG_H

#include "base/base.h"

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
struct Diags {
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
};
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
// Add a line to a message. Always false, so that a refusal can end with it.
bool diag_note(Diags *, Id, Span, const char *format, ...) __attribute__((format(printf, 4, 5)));
bool diag_help(Diags *, Id, const char *format, ...) __attribute__((format(printf, 3, 4)));
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

#endif
