// Reads weights in a run folder. Symbolic links in the folder are refused.
#ifndef LIMN_RUN_RUNS_WEIGHTS_H
#define LIMN_RUN_RUNS_WEIGHTS_H

#include "io/bytes/bytes.h"

// folder.c
// A file of a run folder by its path.
bool folder_read(Arena *, const char *path, Arrays *, const char **error);
// model.safetensors of a run folder; or `from` itself, which may be a link.
bool folder_read_weights(Arena *, const char *from, Arrays *, const char **error);

#endif
