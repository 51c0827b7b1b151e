// canvas: drawing primitives common to all kinds of pictures.
#ifndef LIMN_SHOW_CANVAS_STROKES_H
#define LIMN_SHOW_CANVAS_STROKES_H

#include "show/canvas/canvas.h"

typedef struct {
  double x, y;
} Knee;

// strokes.c
// A point at a distance along a unit direction, and at a distance to its right.
Knee knee_along(Knee from, Knee way, double by, double aside);
// A polyline with rounded corners.
void knees_path(Canvas *, const Knee *, uint32_t n, double corner, double x, double y);
void line_draw(Canvas *, double x0, double y0, double x1, double y1, Ink, double width);
void shape_draw(Canvas *, const Knee *, uint32_t n, const Paint *); // closed
// Groups of their own: a dot; words, plain or in the markup of math.c
void dot_draw(Canvas *, double x, double y, double r, Ink);
void words_draw(Canvas *, const char *class, double x, double y, const Text *, const char *);
void label_draw(Canvas *, double x, double y, const Text *, const char *);
// An arrowhead centred here; back: to the left; turn: rotated by 90 degrees, down or, with back,
// up.
void arrowhead(Canvas *, double x, double y, bool back, bool turn, Ink);
void tip_draw(Canvas *, double x, double y);    // an arrowhead to the right with its tip here
void plus_circle(Canvas *, double x, double y); // where changes are added

#endif
