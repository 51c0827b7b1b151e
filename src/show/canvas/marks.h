// Private to canvas: marks, for code that adds them and for back ends.
//
// A canvas is a list of marks in painting order, all of them clean: coordinates are finite and
// within ±COORDINATE_LIMIT, subpaths begin with a move, texts are UTF-8 without control characters,
// groups are closed. Back ends rely on this.
#ifndef LIMN_SHOW_CANVAS_MARKS_H
#define LIMN_SHOW_CANVAS_MARKS_H

#include "show/canvas/canvas.h"

enum { COORDINATE_LIMIT = 1000000 };

typedef enum { STEP_MOVE, STEP_LINE, STEP_CUBIC, STEP_CLOSE } StepKind;
typedef struct {
  StepKind kind;
  double x, y;           // end point
  double ax, ay, bx, by; // STEP_CUBIC: control points
} PathStep;
typedef VEC(PathStep) Path;

typedef enum { MARK_PATH, MARK_TEXT, MARK_IMAGE, MARK_OPEN, MARK_CLOSE } MarkKind;
typedef struct {
  MarkKind kind;
  union {
    struct {
      uint32_t first, n; // of Canvas.path
      Paint paint;       // width and opacity are not 0
    } path;
    struct {
      double x, y, start; // start: offset of the first letter along the baseline
      Text how;           // size and ink are not 0
      const char *words;
    } text;
    struct {
      double x, y, w, h;
      Picture picture;
    } image;
    struct {
      const char *id, *class, *words; // "" when there is none
      const GroupOf *of;              // or NULL
    } group;
  };
} Mark;

struct Canvas {
  Arena *arena;
  double width, height;
  bool cut;        // the size was reduced to the limit of a page
  double shift[2]; // offset of added marks
  const char *title, *about;
  Path path;         // all paths, one after the other
  uint32_t painted;  // steps before this one have been painted
  double from[2];    // start of the current subpath
  bool drawing, gap; // in a subpath; it lost a point
  VEC(Mark) mark;
  uint32_t open; // groups
  uint32_t lost; // marks and points dropped as not finite or too far away
};

// -- canvas.c -------------------------------------------------------------------------------------
uint32_t ink_rgb(Ink, Theme); // 0xRRGGBB
const char *ink_name(Ink);    // "text"
// Cosine and sine of an angle in degrees, exact for multiples of 90.
void angle_parts(double degrees, double *c, double *s);

// -- free_area.c ----------------------------------------------------------------------------------
Area text_area(const Mark *);                 // of a text that is not rotated
Area path_area(const PathStep *, uint32_t n); // of its points

// -- font.c ---------------------------------------------------------------------------------------
typedef struct {
  uint32_t code;
  uint16_t advance;    // in 1/1000 em
  const char *outline; // see font.c
} FontGlyph;
typedef struct {
  Face face; // whose table it is in
  const FontGlyph *glyph;
} FoundGlyph;
enum { EM = 1000, RUNE_UNKNOWN = 0xfffd };
int by_rune(const void *, const void *); // of rows that begin with one, for qsort and bsearch
// Decodes the next character, skipping control characters. 0 at the end; RUNE_UNKNOWN for invalid
// UTF-8.
uint32_t rune_next(const char **utf8);
void rune_put(Buf *, uint32_t);
FoundGlyph glyph_find(Face, uint32_t rune);          // never fails: a box stands for missing glyphs
void glyph_path(Arena *, const FontGlyph *, Path *); // replaces the path; in 1/1000 em, y upwards
// Iterates over the glyphs of a line: for (Run r = {.face = …, .rest = …}; run_next(&r);) …
typedef struct {
  Face face;
  const char *rest; // the remaining text
  FoundGlyph found; // the current letter,
  int64_t x, end;   // its start and end, in 1/1000 em,
  int kern;         // and the kerning included in x
} GlyphRun;
bool run_next(GlyphRun *);

// -- stroke.c: paths as straight lines, and the areas that strokes cover --------------------------
typedef struct {
  double x, y;
} Point;
typedef struct {
  uint32_t first, n; // of Lines.point
  bool closed;
} PathPiece;
typedef struct {
  VEC(Point) point;
  VEC(PathPiece) piece;
} Lines;
typedef struct {
  double a, b, c, d, e, f; // x' = a x + c y + e, y' = b x + d y + f
} Transform;
// A directed edge of an area. The area is where the winding number is not 0.
typedef void SideAdd(void *to, Point from, Point until);
// Replaces Lines; transform = NULL: identity.
void path_flatten(Arena *, const PathStep *, uint32_t n, const Transform *, Lines *);
void lines_fill(const Lines *, SideAdd *, void *to);
// Width and dash of the paint are in the units of the lines, times `scale`.
void lines_stroke(Arena *, const Lines *, const Paint *, double scale, SideAdd *, void *to);

// -- signs.c: characters by other means -----------------------------------------------------------
bool sign_tex(Buf *, uint32_t rune);   // in math mode; false: TeX has no name for it
void sign_ascii(Buf *, uint32_t rune); // "alpha", "->"; "?" if it has none

// -- svg.c ----------------------------------------------------------------------------------------
// With at most this many decimals, without trailing zeros.
void put_number(Buf *, double, int decimals);
void put_label(Buf *, const char *name, const char *text); // an attribute

// -- svg_places.c ---------------------------------------------------------------------------------
// Writes attributes that say what a group represents. outer: the position of the enclosing group;
// returns that of this group, or outer.
Span put_group_of(Buf *, const Look *, const GroupOf *, Span outer);

#endif
