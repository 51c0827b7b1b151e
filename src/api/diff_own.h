// Private to the two files of limn_diff.
#ifndef LIMN_API_DIFF_OWN_H
#define LIMN_API_DIFF_OWN_H

#include "api/api_own.h"

#include "port/diff/diff.h"
#include "run/step/step.h"

typedef enum { SIDE_PROGRAM, SIDE_RUN, SIDE_ONNX, SIDE_WEIGHTS } DiffSideKind;

// One of the two, in a handle of its own.
typedef struct {
  Limn *l;
  const char *path;
  bool second;
  DiffSideKind kind;
  Arrays weights;
  MetricRows rows; // of a run
  RunNote note;
  bool has_weights, has_rows, noted;
  OutlineNames names; // of learners
} DiffSide;

typedef struct {
  Outline *shown;    // NULL: it cannot be said
  uint64_t whole[2]; // what it computes in use, and in training
  const Goal *goal;
} DiffModel;

// diff_sides.c
LimnStatus diff_load(ApiCall *, DiffSide *);
DiffSource diff_source(ApiCall *, DiffSide *);
// What a thing of this side is made of. models: as it is in use.
DiffModel diff_model(ApiCall *, DiffSide *, const DiffThing *, bool models);
// The same words, and a file of the same name with other bytes: its name, or NULL.
const char *diff_other_file(ApiCall *, const DiffSide[2], const DiffThing *);

#endif
