// canvas: pictures as lists of marks, and back ends that write them as SVG, PDF, PNG, TikZ or text.
//
//   Canvas *c = canvas_new(arena, 200, 100, "Two dots", "A line between two dots");
//   path_move(c, 20, 50), path_line(c, 180, 50);
//   canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
//   canvas_text(c, 100, 45, &(Text){.size = 12, .anchor = ANCHOR_MIDDLE}, "between");
//   if (!canvas_write(c, "dots.svg", &(Look){0}, &error)) …
//
// A picture is made once as a list of marks, which back ends read. Colours are names; a theme
// defines them, and geometry never depends on it. Lengths are in units of about one pixel, y grows
// downwards. The output is deterministic.
#ifndef LIMN_SHOW_CANVAS_CANVAS_H
#define LIMN_SHOW_CANVAS_CANVAS_H

#include "base/base.h"
#include "io/bytes/bytes.h"

// -- inks.def: one row for each colour, with its look in each theme -------------------------------
typedef enum {
  INK_NONE, // not painted; the zero of Ink
#define INK(name, light, dark, mono) INK_##name,
#include "show/canvas/inks.def"
#undef INK
  INK_COUNT
} Ink;

typedef enum { THEME_AUTO, THEME_LIGHT, THEME_DARK, THEME_MONO } Theme;
typedef enum {
  FACE_SANS,
  FACE_SANS_BOLD,
  FACE_SERIF,
  FACE_ITALIC,
  FACE_BOLD,
  FACE_MATH,
  FACE_COUNT
} Face;
typedef enum { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } Anchor;

typedef struct {
  Ink fill, stroke;
  double width;   // of the stroke; 0: 1
  double dash[2]; // on, off; {0}: solid
  double opacity; // 0: 1
  bool round;     // ends and corners; otherwise butt and mitre
} Paint;

typedef struct {
  Face face;
  double size; // em size; 0: 12
  Ink ink;     // 0: INK_TEXT
  Anchor anchor;
  double angle; // degrees, clockwise, about the point
} Text;

typedef struct {
  Theme theme;           // AUTO: light, in SVG dark on screens with a dark theme
  double scale;          // pixels per unit (PNG); 0: 2
  bool ascii;            // text output in ASCII only
  const Sources *places; // SVG: groups refer to their source positions; NULL: they do not
  uint32_t file;         // the source whose positions are used directly
} Look;

// A source position, and the call that leads there; NULL: none.
typedef struct SaidAt SaidAt;
struct SaidAt {
  Span at;
  const SaidAt *around;
};
typedef struct { // what a group represents, for interaction; each may be NULL
  const SaidAt *place;
  const char *box;  // the box that is called
  const char *wire; // its own name
  const char *open; // the option value that opens it
  const char *type;
} GroupOf;

typedef struct Canvas Canvas;

// -- canvas.c: marks are added --------------------------------------------------------------------
Canvas *canvas_new(Arena *, double width, double height, const char *title, const char *about);
void canvas_resize(Canvas *, double width, double height);
void canvas_shift(Canvas *, double x, double y); // offsets everything added from now on
void path_move(Canvas *, double x, double y);
void path_line(Canvas *, double x, double y);
void path_cubic(Canvas *, double ax, double ay, double bx, double by, double x, double y);
void path_close(Canvas *);
void path_rect(Canvas *, double x, double y, double w, double h, double radius);
void path_circle(Canvas *, double x, double y, double r);
void canvas_paint(Canvas *, const Paint *); // paints the path since the last paint
void canvas_text(Canvas *, double x, double y, const Text *, const char *utf8); // y: the baseline
// Pixels stay sharp squares. The picture's memory is the caller's and must stay valid.
void canvas_image(Canvas *, double x, double y, double w, double h, const Picture *);
// Opens a group until the matching close: with a stable id and a description for readers.
void canvas_open(Canvas *, const char *id, const char *class, const char *words);
void canvas_of(Canvas *, const GroupOf *); // describes the group just opened; NULL: nothing
void canvas_close(Canvas *);
void canvas_fit(Canvas *, double width); // scales down everything if it is wider
void canvas_append(Canvas *, const Canvas *, double x, double y); // adds all marks of another one
const char *canvas_title(const Canvas *);
double canvas_width(const Canvas *), canvas_height(const Canvas *);
enum { SIZE_LIMIT = 100000 };       // units, in both directions
bool canvas_is_cut(const Canvas *); // a larger size was requested

// -- font.c: sizes of text are exact, since its outlines ship with limn ---------------------------
double text_width(Face, double size, const char *utf8);
double text_ascent(Face, double size), text_descent(Face, double size); // both positive

// -- wrap.c: texts that are cut, or broken into lines ---------------------------------------------
typedef VEC(const char *) TextLines;
const char *text_cut(Arena *, Face, double size, const char *text, double width); // with …
const char *text_letters(Arena *, const char *text, size_t most); // of more letters, with …
// The bytes of the first line: up to the last space that fits, or else up to the last letter.
size_t text_line(Arena *, Face, double size, const char *text, double width);
typedef struct {
  Face face;
  double size, width;
  uint32_t most; // lines
} PlateText;
// Breaks a formula before operators; the last line is cut if there are too many.
void text_lines(Arena *, const PlateText *, const char *text, TextLines *out);

// -- math.c: labels -------------------------------------------------------------------------------
double math_width(Face, double size, const char *text);
void math_text(Canvas *, double x, double y, const Text *, const char *text);

// -- free_area.c: free room in a picture ----------------------------------------------------------
typedef struct {
  double x0, y0, x1, y1;
} Area;
extern const Area area_none; // contains nothing
void area_add(Area *, double x, double y);
// The distance from an area to the nearest mark; 0: they overlap. but: without marks in
// groups of this class; NULL: all.
double canvas_room(const Canvas *, const Area *, const char *but);
// The same for many areas: the marks are measured once.
typedef struct MarkBoxes MarkBoxes;
MarkBoxes *boxes_new(const Canvas *, const char *but);
double boxes_room(const MarkBoxes *, const Area *);
void boxes_free(MarkBoxes *);

// -- svg.c, pdf.c, raster.c, tikz.c, terminal.c: the back ends ------------------------------------
void canvas_svg(Canvas *, const Look *, Buf *); // a complete file
void canvas_pdf(Canvas *, const Look *, Buf *);
void canvas_raster(Canvas *, const Look *, Picture *); // RGB
void canvas_tikz(Canvas *, const Look *, Buf *);       // a complete document
void canvas_art(Canvas *, const Look *, Buf *);        // lines of text, for a terminal
// Writes a character escaped for SVG and HTML; false: it needs no escape.
bool put_entity(Buf *, char);
// Chooses by the path's suffix: svg, pdf, tex, txt. False: another suffix.
bool canvas_file(Canvas *, const char *path, const Look *, Buf *);
// The same and png, written to a file atomically.
bool canvas_write(Canvas *, const char *path, const Look *, const char **error);

#endif
