// Private to the files of limn_diff.
#ifndef LIMN_API_DIFF_OWN_H
#define LIMN_API_DIFF_OWN_H

#include "api/api_own.h"

#include "run/step/step.h"
#include "show/diff/diff.h"

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
  const char *graph;  // what an ONNX model calls itself: ours by their learner; or NULL
} DiffSide;

typedef struct {
  Outline *shown;    // NULL: it cannot be said
  uint64_t whole[2]; // what it computes in use, and in training
  const Goal *goal;
  double work; // what it computes for a sample; infinite: that is not known
} DiffModel;

// diff_sides.c
LimnStatus diff_load(ApiCall *, DiffSide *);
DiffSource diff_source(ApiCall *, DiffSide *);
// What a thing of this side is made of. models: as it is in use.
DiffModel diff_model(ApiCall *, DiffSide *, const DiffThing *, bool models);
// What it computes, whatever boxes it is made of.
uint64_t diff_flat(ApiCall *, DiffSide *, const char *name, bool training);
// The same words, and a file of the same name with other bytes: its name, or NULL.
const char *diff_other_file(ApiCall *, const DiffSide[2], const DiffThing *);

// diff_values.c: whether what both compute is the same where it was looked at; apart: how far it is
// from each other there at most, of the largest number of a result
bool diff_values(ApiCall *, DiffSide[2], const DiffThing *, const DiffModel *const[2],
                 double *apart);

#endif
