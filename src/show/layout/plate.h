// layout: messages on plates beside a picture.
#ifndef LIMN_SHOW_LAYOUT_PLATE_H
#define LIMN_SHOW_LAYOUT_PLATE_H

#include "show/layout/strokes.h"

typedef struct {
  const char *head, *text; // text is broken into lines
  uint32_t number;         // among all of a picture; 0: it is the only one
  bool mild;               // a warning
  bool tied;               // it is about a place of the picture:
  double x, y0, y1;        // its middle, its top and its bottom
} Message;
typedef VEC(Message) Messages;

typedef struct {
  Message plate;
  VEC(const char *) line; // of its text
  bool above;             // it stands above the picture
  double tail;            // x of its tail in the picture
  double x, w, h;         // its left side, how wide and how high it is
} MessagePlace;

typedef struct {
  VEC(MessagePlace) place;
  double width, above, below; // of the whole; what is wanted above and below the picture
} Plating;

// plate.c
typedef struct {
  double height; // of the canvas without plates
  double left;   // what is left of this is not for plates
  bool below;    // they are all below the picture
} PlateRoom;
// Where plates go beside what is on the canvas. They are to be painted on the picture, moved down by
// `above`.
Plating plates_plan(Arena *, const Canvas *, const Messages *, PlateRoom);
void plates_size(Arena *, const Messages *, double *width, double *height); // as a row
void plates_paint(Canvas *, const Plating *, double height);

#endif
