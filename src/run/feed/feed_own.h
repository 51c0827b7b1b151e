// Private to feed.
#ifndef LIMN_RUN_FEED_FEED_OWN_H
#define LIMN_RUN_FEED_FEED_OWN_H

#include "run/feed/feed.h"

// -- measure_split.c: a measure of a whole set ----------------------------------------------------
typedef enum {
  SAMPLES_ALONE,   // a mean over samples: that of batches says the same
  SAMPLES_SUMMED,  // sums over samples, and what is made of them: *each and *rest
  SAMPLES_AT_ONCE, // samples meet each other, or what is made of all: they must be one batch
} SampleUse;
SampleUse whole_split(World *, const Diagram *, Diagram **each, Diagram **rest);
// How many samples there are, if they are finitely many. False with a diagnostic: they are too many
// for one batch.
bool samples_at_once(Data *, Span, const Diagram *, const Ids *fields, const Instead *,
                     int64_t *batch);
void whole_add_count(Elab *, Diagram *rest);
// sum: one for each input, and room for the last
bool whole_value(World *, Arena *, const Diagram *rest, Tensor *sum, int64_t samples, double *value,
                 const char **why);

#endif
