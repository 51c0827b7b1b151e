// canvas: free room in a picture.
#ifndef LIMN_SHOW_CANVAS_FREE_AREA_H
#define LIMN_SHOW_CANVAS_FREE_AREA_H

#include "show/canvas/canvas.h"

typedef struct {
  double x0, y0, x1, y1;
} Area;

// How far an area is from the nearest mark; 0: they meet. only: marks in groups of this class; but:
// not those; NULL: all.
double canvas_room(const Canvas *, const Area *, const char *only, const char *but);

#endif
