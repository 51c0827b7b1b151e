// Handmade results of `show`, one for each view.
#ifndef SHOWN_HELP_H
#define SHOWN_HELP_H

#include "run/runs/runs.h"
#include "show/canvas/canvas.h"

Shown *shown_new(Arena *, const char *text, const char *view);
// One more array, all 0. The shape ends with 0.
double *shown_add(Arena *, Shown *, const char *name, const int64_t *shape);
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__, 0})
double shown_noise(uint32_t i); // from 0 to 1, always the same

// A show of each view as a program may have it.
void shown_gallery(Arena *, Shows *);
// A run folder with run.json, metrics.csv and program.limn. False: it could not be written.
bool shown_folder(Arena *, const char *dir);

#endif
