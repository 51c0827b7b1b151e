// Private to the files that look for faults in a picture.
//
//   lint_scene.c   marks ─► things by their class, strokes as segments, and a grid to find them
//   lint_wires.c   what is wrong with lines: crossings, bends, dividers
//   lint.c         what is wrong with labels, glyphs, frames, titles; the whole
#ifndef LIMN_SHOW_LINT_LINT_OWN_H
#define LIMN_SHOW_LINT_LINT_OWN_H

#include "show/canvas/marks.h"
#include "show/lint/lint.h"

typedef struct {
  double x0, y0, x1, y1;
} LintArea;

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
  LintArea area;     // of its ink
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
  Faults *out;
} Scene;

// -- lint_scene.c ---------------------------------------------------------------------------------
void scene_of(Scene *);
bool areas_meet(const LintArea *, const LintArea *);
LintArea area_grown(LintArea, double by); // by less than 0: it shrinks
LintArea segment_area(const Segment *);
bool segment_enters(const Segment *, const LintArea *); // does a part of it lie inside?
double segment_distance(const Segment *, double x, double y);
bool thing_touches(const Scene *, const Thing *, const Segment *); // its outline, or inside it
// What may meet an area: indices of things or segments, each once, in order. The list is good until
// the next call with the same Ids.
void grid_find(const Scene *, const LintGrid *, const LintArea *, Ids *out);

// -- lint_wires.c ---------------------------------------------------------------------------------
void check_crossings(Scene *);
void check_bends(Scene *);
void check_dividers(Scene *);

// -- lint.c ---------------------------------------------------------------------------------------
__attribute__((format(printf, 5, 6))) void fault(Scene *, FaultKind, double x, double y,
                                                 const char *format, ...);

#endif
