// What a picture is made of, for those who add marks and for the back ends.
//
// A canvas is a list of marks in the order they are painted. Everything in it is clean: coordinates
// are finite and within ±COORDINATE_LIMIT, every piece of a path begins with a move, texts are
// UTF-8 without control characters, groups are closed. Back ends need not ask.
#ifndef LIMN_SHOW_CANVAS_MARKS_H
#define LIMN_SHOW_CANVAS_MARKS_H

#include "show/canvas/canvas.h"

enum { COORDINATE_LIMIT = 1000000 };

typedef enum { STEP_MOVE, STEP_LINE, STEP_CUBIC, STEP_CLOSE } StepKind;
typedef struct {
  StepKind kind;
  double x, y;           // where it ends
  double ax, ay, bx, by; // STEP_CUBIC: its two other points
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
      double x, y, start; // start: where the first letter is, along the line, from the point
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
  bool cut;        // it was to be larger than a page can be
  double shift[2]; // how far what is added is moved
  const char *title, *about;
  Path path;         // all paths, one after the other
  uint32_t painted;  // steps before this one belong to marks
  double from[2];    // where the piece under construction began
  bool drawing, gap; // a piece is under construction; it lost a point
  VEC(Mark) mark;
  uint32_t open; // groups
  uint32_t lost; // points and marks that were no numbers, or too far away
};

// -- canvas.c -------------------------------------------------------------------------------------
uint32_t ink_rgb(Ink, Theme); // 0xRRGGBB
const char *ink_name(Ink);    // "text"
// cos and sin of so many degrees, exact for quarter turns
void angle_parts(double degrees, double *c, double *s);

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
// The next character, past control characters. 0 at the end; RUNE_UNKNOWN for what is no UTF-8.
uint32_t rune_next(const char **utf8);
void rune_put(Buf *, uint32_t);
FoundGlyph glyph_find(Face, uint32_t rune);          // never without a glyph
void glyph_path(Arena *, const FontGlyph *, Path *); // replaces the path; in 1/1000 em, y upwards
// The letters of a line, one after the other: for (Run r = {.face = …, .rest = …}; run_next(&r);) …
typedef struct {
  Face face;
  const char *rest; // what is to come
  FoundGlyph found; // the letter,
  int64_t x, end;   // where it begins and ends, in 1/1000 em,
  int kern;         // and how much of x is nearness to the letter before
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
// A side of an area. Areas are what the sides wind around, in either direction, at least once.
typedef void SideAdd(void *to, Point from, Point until);
// Replaces Lines; the transform NULL: as it is.
void path_flatten(Arena *, const PathStep *, uint32_t n, const Transform *, Lines *);
void lines_fill(const Lines *, SideAdd *, void *to);
// Width and dash of the paint are in the units of the lines, times `scale`.
void lines_stroke(Arena *, const Lines *, const Paint *, double scale, SideAdd *, void *to);

// -- signs.c: characters by other means -----------------------------------------------------------
bool sign_tex(Buf *, uint32_t rune);   // in mathematics; false: TeX has no name for it
void sign_ascii(Buf *, uint32_t rune); // "alpha", "->"; "?" if it has none

// -- svg.c ----------------------------------------------------------------------------------------
void put_number(Buf *, double, int decimals);              // at most so many, no zeros at the end
void put_label(Buf *, const char *name, const char *text); // an attribute

// -- svg_places.c ---------------------------------------------------------------------------------
// What a group is of, as attributes. outer: the place of the group around it; gives the place of this
// one, or that of the one around it.
Span put_group_of(Buf *, const Look *, const GroupOf *, Span outer);

#endif
