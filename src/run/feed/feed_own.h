// Private to feed.
#ifndef LIMN_RUN_FEED_FEED_OWN_H
#define LIMN_RUN_FEED_FEED_OWN_H

#include "run/feed/feed.h"

// -- measure_split.c: measures over a whole set ---------------------------------------------------
typedef enum {
  SAMPLES_ALONE,   // a mean over samples, which is the mean over batches
  SAMPLES_SUMMED,  // a function of sums over samples: *each and *rest
  SAMPLES_AT_ONCE, // any other dependence between samples: all samples must be one batch
} SampleUse;
SampleUse measure_split(World *, const Diagram *, Diagram **each, Diagram **rest);
// *batch: the number of samples, if finite. False with a diagnostic: too many for one batch.
bool samples_in_one_batch(Data *, Span, const Diagram *, const Ids *fields, const DataOverride *,
                          int64_t *batch);
void measure_add_count(Elab *, Diagram *rest);
// sum: one for each input; the last one is set by this function
bool measure_from_sums(World *, Arena *, const Diagram *rest, Tensor *sum, int64_t samples,
                       double *value, const char **why);

#endif
