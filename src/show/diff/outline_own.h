// What the files that read diagrams share.
#ifndef LIMN_SHOW_DIFF_OUTLINE_OWN_H
#define LIMN_SHOW_DIFF_OUTLINE_OWN_H

#include "show/diff/diff.h"

// form.c: what diagrams, boxes, sizes and types are, names apart
typedef struct {
  uint64_t whole; // of all that it computes
  uint32_t *met;  // [param] params in the order in which they are met
} DiffForm;
typedef struct {
  Arena *arena;
  World *w;
  const OutlineNames *names;
  DiffForm **known; // [Diagram.id]
  uint32_t vars, open;
  const char **var; // [size variable] as which it was met; NULL: it was not
} DiffForms;
DiffForms forms_new(Arena *, World *, const OutlineNames *);
const DiffForm *form_of(DiffForms *, const Diagram *);
uint64_t form_text(uint64_t, const char *);
uint64_t form_size(DiffForms *, uint64_t, Size);
uint64_t form_type(DiffForms *, uint64_t, const Type *);
uint64_t form_loop(DiffForms *, const Loop *,
                   const uint64_t *reads); // [nin], or NULL: whatever they are
uint64_t form_box(DiffForms *, const Diagram *, const Box *);
uint64_t form_begin(DiffForms *, const Diagram *, const Param *);

#endif
