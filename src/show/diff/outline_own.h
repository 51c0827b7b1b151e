// Private to diff: canonical hashes of diagrams.
#ifndef LIMN_SHOW_DIFF_OUTLINE_OWN_H
#define LIMN_SHOW_DIFF_OUTLINE_OWN_H

#include "show/diff/diff.h"

// form.c: hashes of diagrams, boxes, sizes and types, independent of names
typedef struct {
  uint64_t whole; // hash of the computed function
  uint32_t *met;  // [param] params in canonical order, by first visit
} DiffForm;
typedef struct {
  Arena *arena;
  World *w;
  const OutlineNames *names;
  DiffForm **known; // [Diagram.id]
  uint32_t vars, open;
  const char **var; // [size variable] its canonical name by first visit; NULL: not visited
} DiffForms;
DiffForms forms_new(Arena *, World *, const OutlineNames *);
const DiffForm *form_of(DiffForms *, const Diagram *);
uint64_t form_text(uint64_t, const char *);
uint64_t form_size(DiffForms *, uint64_t, Size);
uint64_t form_type(DiffForms *, uint64_t, const Type *);
// [nin] hashes of the operands; NULL: arbitrary.
uint64_t form_loop(DiffForms *, const Loop *, const uint64_t *reads);
uint64_t form_box(DiffForms *, const Diagram *, const Box *);
uint64_t form_begin(DiffForms *, const Diagram *, const Param *);

#endif
