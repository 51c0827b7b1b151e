// Private to feed.
#ifndef LIMN_RUN_FEED_FEED_OWN_H
#define LIMN_RUN_FEED_FEED_OWN_H

#include "run/feed/feed.h"

// -- measure_split.c: a measure of a whole set. False: it is a mean over batches. -------------------------
bool whole_split(World *, const Diagram *, Diagram **each, Diagram **rest);
void whole_add_count(Elab *, Diagram *rest);
// sum: one for each input, and room for the last
bool whole_value(World *, Arena *, const Diagram *rest, Tensor *sum, int64_t samples, double *value,
                 const char **why);

#endif
