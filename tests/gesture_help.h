// For tests of edits in pictures: a text as in the page, gestures, and the resulting edits.
#ifndef LIMN_TESTS_GESTURE_HELP_H
#define LIMN_TESTS_GESTURE_HELP_H

#include "io/bytes/bytes.h"
#include "limn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t at, n; // what went
  const char *text;
} SheetEdit;

typedef struct {
  Arena *arena;
  const char *name; // of the file that it would be
  const char *text;
  size_t n;
  Limn *l;
} Sheet;

typedef struct {
  const char *refused; // NULL: it was taken
  bool has_range;
  VEC(SheetEdit) edit;
  size_t select, select_end; // in the text that comes out
  const char *text;
  size_t n;
} SheetAnswer;

Sheet sheet_open(Arena *, const char *name, const char *text, size_t n);
void sheet_close(Sheet *);
const char *sheet_place(const Sheet *, size_t from, size_t to); // as a picture has it
size_t sheet_byte(const char *text, size_t n, unsigned line, unsigned character);
SheetAnswer sheet_ask(Sheet *, const char *edit); // JSON; the text stays as it is
// What was changed, back: the text before.
const char *sheet_undo(Arena *, const SheetAnswer *, const char *before, size_t *n);

#endif
