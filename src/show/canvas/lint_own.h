// Private to lint.
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
  THING_STROKE, // another line: a parenthesis, a brace
  THING_LABEL,
  THING_TITLE,
  THING_GLYPH, // also groups of unknown class
  THING_DOT,
  THING_FRAME,
} ThingKind;

typedef struct { // a group of marks, or a mark outside of groups
  ThingKind kind;
  Area area;         // bounding box
  const char *words; // its name
  const char *id;    // id of its group; "": none
  uint32_t first, n; // segments
  double least;      // smallest letter size; INFINITY: no letters
} Thing;

typedef struct { // of a stroke, or of an outline
  double x0, y0, x1, y1;
  double half;    // half of the stroke width; 0: an outline
  uint32_t thing; // the thing it belongs to
  bool begins;    // first segment of a subpath
} Segment;

typedef struct {
  double size; // side of a square cell
  uint32_t columns, rows;
  uint32_t *first; // [cell] offset of its list; one more at the end
  uint32_t *item;
} LintGrid;

typedef struct {
  Arena *arena;
  const Canvas *canvas;
  VEC(Thing) thing;
  VEC(Segment) segment;
  LintGrid things, segments;
  Ids near; // results of the last query
  Faults *out;
} Scene;

typedef struct { // a candidate near an area
  Scene *s;
  const Segment *line; // NULL for queries of things
  const Thing *thing;  // the thing, or that of the line
  uint32_t index;      // of the thing
  uint32_t next;
} Near;

// -- lint_scene.c ---------------------------------------------------------------------------------
void scene_of(Scene *);
bool areas_meet(const Area *, const Area *);
Area area_grown(Area, double by); // negative: shrunk
Area segment_area(const Segment *);
bool segment_enters(const Segment *, const Area *); // is a part of it inside?
double segment_distance(const Segment *, double x, double y);
// Touches its outline, or lies inside.
bool thing_touches(const Scene *, const Thing *, const Segment *);
bool area_holds(const Area *, double x, double y);
// Iterates over candidates that may touch an area, each once, in order; valid until the next query:
// for (Near n = near_lines(s, area); near_next(&n);) …
Near near_things(Scene *, Area), near_lines(Scene *, Area);
bool near_next(Near *);
// The cell of a point, or the nearest cell.
uint32_t grid_cell(const LintGrid *, double x, double y);

// -- lint_wires.c ---------------------------------------------------------------------------------
void check_crossings(Scene *);
void check_bends(Scene *);
void check_dividers(Scene *);

// -- lint_begin.c ---------------------------------------------------------------------------------
// air: a line may begin freely, where inputs are at the left.
void check_beginnings(Scene *, bool air);

// -- lint.c ---------------------------------------------------------------------------------------
bool is_solid(const Thing *); // a glyph or a dot
__attribute__((format(printf, 5, 6))) void add_fault(Scene *, FaultKind, double x, double y,
                                                     const char *format, ...);

#endif
