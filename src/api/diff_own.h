// Private to the files of limn_diff.
#ifndef LIMN_API_DIFF_OWN_H
#define LIMN_API_DIFF_OWN_H

#include "api/api_own.h"

#include "run/step/step.h"
#include "show/diff/diff.h"

typedef enum { SIDE_PROGRAM, SIDE_RUN, SIDE_ONNX, SIDE_WEIGHTS } DiffSideKind;

// One side of a comparison, loaded into its own handle.
typedef struct {
  Limn *l;
  const char *path;
  bool second;
  DiffSideKind kind;
  Arrays weights;
  MetricRows rows; // metrics of a run
  RunNote note;
  bool has_weights, has_rows, noted;
  OutlineNames names; // names of learners
  // the graph name of an ONNX model, which stands for the learner that was exported; or NULL
  const char *graph;
} DiffSide;

typedef struct {
  Outline *shown;    // NULL: it cannot be written as boxes
  uint64_t whole[2]; // fingerprints of what it computes: in use, and in training
  const Goal *goal;
  double work; // cost for one sample; infinite: unknown
} DiffModel;

// diff_sides.c
LimnStatus diff_load(ApiCall *, DiffSide *);
DiffSource diff_source(ApiCall *, DiffSide *);
// The model of a thing on this side; `models`: as in use, not in training.
DiffModel diff_model(ApiCall *, DiffSide *, const DiffThing *, bool models);
// The fingerprint of its diagram with all boxes inlined; 0: it has none.
uint64_t diff_flat(ApiCall *, DiffSide *, const char *name, bool training);
// Do goals or measures read the same fields? In one place, or of one name.
bool diff_same_fields(const DiffSide[2], const Ids *, const Ids *);
// Do both sides' measures compute the same of the same data?
bool diff_same_measure(ApiCall *, DiffSide[2], const DiffThing *);
// The name of a file that both sides name and whose contents differ; or NULL.
const char *diff_other_file(ApiCall *, const DiffSide[2], const DiffThing *);

// diff_values.c: do both models give the same results on test inputs? *apart: the largest
// difference, relative to the largest number of a result.
bool diff_values(ApiCall *, DiffSide[2], const DiffThing *, const DiffModel *const[2],
                 double *apart);

#endif
