// diff: two models side by side.
//
//   Outlines a = {0}, b = {0};
//   outline_add(arena, w, "f", diagram, &a);     // each learner of one program
//   …
//   diff_text(arena, &a, &b, &(DiffNames){"old.limn", "new.limn"}, &text);
//
// An outline is a diagram as a list of boxes in texts, with no tie to the world it comes from. Two of
// them are laid beside each other so that as many boxes as possible meet one of their kind; what
// meets nobody was added or is gone, or has moved.
#ifndef LIMN_PORT_DIFF_DIFF_H
#define LIMN_PORT_DIFF_DIFF_H

#include "core/diagram/diagram.h"
#include "io/bytes/bytes.h"

typedef struct Outline Outline;
typedef struct {
  const char *name; // dense.1, or what a loop computes
  const char *kind; // boxes that may meet have the same
  const char *type; // of its results
  uint64_t hash;    // of all that it is, without names
  uint64_t form;    // the same without sizes
  uint32_t nin;
  int64_t *in; // what it reads: a box from 0 on; -1, -2, … inputs of the diagram; NO_BOX: a weight
  Outline *inside; // of a call; or NULL
} OutlineBox;
typedef struct {
  const char *path, *type;
} OutlineWeight;
struct Outline {
  const char *name;
  VEC(OutlineWeight) weight;
  VEC(OutlineBox) box;
};
typedef VEC(Outline) Outlines;
enum { NO_BOX = INT32_MIN };

void outline_add(Arena *, World *, const char *name, const Diagram *, Outlines *);

typedef struct {
  const char *a, *b;        // what the two are called
  const Arrays *weights[2]; // of both, by name; or NULL
} DiffSides;
typedef struct {
  uint32_t same, changed, added, gone, moved; // boxes
  uint32_t weights;                           // that differ
} DiffCount;
// False: there is too much of it to be laid side by side.
bool diff_text(Arena *, const Outlines *a, const Outlines *b, const DiffSides *, Buf *,
               DiffCount *);

#endif
