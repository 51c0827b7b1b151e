// Private to the files that look for faults in a picture.
//
//   lint_scene.c   marks ─► things by their class, strokes as segments, and a grid to find them
//   lint_wires.c   what is wrong with lines: crossings, bends, dividers
//   lint_begin.c   where lines begin
//   lint.c         what is wrong with labels, glyphs, frames, titles; the whole
#ifndef LIMN_SHOW_CANVAS_LINT_OWN_H
#define LIMN_SHOW_CANVAS_LINT_OWN_H

#include "show/canvas/lint.h"
#include "show/canvas/marks.h"

typedef enum {
  THING_WIRE,
  THING_CUP,
  THING_DIVIDER,
  THING_STROKE, // any other line: a parenthesis, a brace
  THING_LABEL,
  THING_TITLE,
  THING_GLYPH, // and whatever has a class that is not known here
  THING_DOT,
  THING_FRAME,
} ThingKind;

typedef struct { // a group of marks, or a mark outside of all groups
  ThingKind kind;
  Area area;         // of its ink
  const char *words; // what it is called
  const char *id;    // of its group; "": none
  uint32_t first, n; // segments
  double least;      // the size of its smallest letters; INFINITY: it has none
} Thing;

typedef struct { // of a stroke, or of the outline of an area
  double x0, y0, x1, y1;
  double half;    // half of the stroke's width; 0: an outline
  uint32_t thing; // whose it is
  bool begins;    // a piece of a path begins here
} Segment;

typedef struct {
  double size; // of a cell, which is a square
  uint32_t columns, rows;
  uint32_t *first; // [cell] where its list begins; and one more
  uint32_t *item;
} LintGrid;

typedef struct {
  Arena *arena;
  const Canvas *canvas;
  VEC(Thing) thing;
  VEC(Segment) segment;
  LintGrid things, segments;
  Ids near; // what was found last
  Faults *out;
} Scene;

typedef struct { // what may meet an area
  Scene *s;
  const Segment *line; // NULL: things are looked for
  const Thing *thing;  // or that of the line
  uint32_t index;      // of the thing
  uint32_t next;
} Near;

// -- lint_scene.c ---------------------------------------------------------------------------------
void scene_of(Scene *);
bool areas_meet(const Area *, const Area *);
Area area_grown(Area, double by); // by less than 0: it shrinks
Area segment_area(const Segment *);
bool segment_enters(const Segment *, const Area *); // does a part of it lie inside?
double segment_distance(const Segment *, double x, double y);
bool thing_touches(const Scene *, const Thing *, const Segment *); // its outline, or inside it
bool area_holds(const Area *, double x, double y);
// What may meet an area, each once, in order; good until one looks for something else:
// for (Near n = near_lines(s, area); near_next(&n);) …
Near near_things(Scene *, Area), near_lines(Scene *, Area);
bool near_next(Near *);
uint32_t grid_cell(const LintGrid *, double x, double y); // in which it lies, or the nearest

// -- lint_wires.c ---------------------------------------------------------------------------------
void check_crossings(Scene *);
void check_bends(Scene *);
void check_dividers(Scene *);

// -- lint_begin.c ---------------------------------------------------------------------------------
void check_beginnings(Scene *, bool air); // at dots; air: in the air, where inputs are at the left

// -- lint.c ---------------------------------------------------------------------------------------
bool is_solid(const Thing *); // a glyph or a dot
__attribute__((format(printf, 5, 6))) void fault(Scene *, FaultKind, double x, double y,
                                                 const char *format, ...);

#endif
