// layout: messages on plates beside a picture.
#ifndef LIMN_SHOW_LAYOUT_PLATE_H
#define LIMN_SHOW_LAYOUT_PLATE_H

#include "show/canvas/strokes.h"

typedef struct {
  const char *head, *text; // text is broken into lines
  uint32_t number;         // its number; 0: the only message
  bool mild;               // a warning
  bool note;               // a remark of the author
  bool tied;               // it has a position in the picture:
  double x, y0, y1;        // centre, top and bottom
} Message;
typedef VEC(Message) Messages;

typedef struct {
  Message plate;
  VEC(const char *) line; // lines of its text
  bool above;             // it is above the picture
  double tail;            // x of its tail
  double x, w, h;         // left side, width, height
} MessagePlace;

typedef struct {
  VEC(MessagePlace) place;
  double width, above, below; // total width; space needed above and below the picture
} Plating;

// plate.c
typedef struct {
  double height; // height of the canvas without plates
  double left;   // no plates to the left of this
  bool below;    // all plates are below the picture
  bool all;      // show all messages, however many
} PlateRoom;
// Plans the plates for what is on the canvas. They are painted on the picture after it was moved
// down by `above`.
Plating plates_plan(Arena *, const Canvas *, const Messages *, PlateRoom);
void plates_size(Arena *, const Messages *, double *width, double *height); // arranged in a row
void plates_paint(Canvas *, const Plating *, double height);
// A finished picture with plates around it.
Canvas *plates_around(Arena *, const Canvas *, const Messages *, const char *about);

#endif
