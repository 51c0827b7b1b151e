// view: pictures. What comes in is numbers or diagrams, what goes out is SVG, PDF, PNG, TikZ or
// text.
//
//   Canvas *c = canvas_new(arena, 200, 100, "Two dots", "A line between two dots");
//   path_move(c, 20, 50), path_line(c, 180, 50);
//   canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
//   canvas_text(c, 100, 45, &(Text){.size = 12, .anchor = ANCHOR_MIDDLE}, "between");
//   if (!canvas_write(c, "dots.svg", &(Look){0}, &error)) …
//
// A picture is made once, as a list of marks; a back end reads the list. Colours are names: a theme
// says what they look like, and geometry never depends on it. Lengths are in units of about a
// pixel, y grows downwards. Same marks, same bytes.
#ifndef LIMN_VIEW_H
#define LIMN_VIEW_H

#include "run/train/train.h"

// inks.def: one row for each colour, with its look in each theme
typedef enum {
  INK_NONE, // nothing is painted; the zero of Ink
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
  double dash[2]; // on, off; {0}: a whole line
  double opacity; // 0: 1
  bool round;     // ends and corners; otherwise butt and mitre
} Paint;

typedef struct {
  Face face;
  double size; // of the em; 0: 12
  Ink ink;     // 0: INK_TEXT
  Anchor anchor;
  double turn; // degrees, clockwise, about the point
} Text;

typedef struct {
  Theme theme;  // AUTO: light, and dark where the reader's screen is (SVG); light elsewhere
  double scale; // pixels for a unit (PNG); 0: 2
  bool ascii;   // text without letters and lines of Unicode
} Look;

typedef struct Canvas Canvas;

// canvas.c: marks are added
Canvas *canvas_new(Arena *, double width, double height, const char *title, const char *about);
void canvas_resize(Canvas *, double width, double height);
void canvas_shift(Canvas *, double x, double y); // all that is added from here on, by so much more
void path_move(Canvas *, double x, double y);
void path_line(Canvas *, double x, double y);
void path_cubic(Canvas *, double ax, double ay, double bx, double by, double x, double y);
void path_close(Canvas *);
void path_rect(Canvas *, double x, double y, double w, double h, double radius);
void path_circle(Canvas *, double x, double y, double r);
void canvas_paint(Canvas *, const Paint *); // the path since the last paint
void canvas_text(Canvas *, double x, double y, const Text *, const char *utf8); // y: the baseline
// Pixels stay sharp squares. The picture's memory is the caller's and stays.
void canvas_image(Canvas *, double x, double y, double w, double h, const Picture *);
// Everything until the matching close belongs together: an id that is stable, words for a reader.
void canvas_open(Canvas *, const char *id, const char *class, const char *words);
void canvas_close(Canvas *);
double canvas_width(const Canvas *), canvas_height(const Canvas *);
bool canvas_is_cut(const Canvas *); // more than 100 000 units wide or high were asked for

// font.c: sizes of text are exact, since its outlines ship with limn
double text_width(Face, double size, const char *utf8);
double text_ascent(Face, double size), text_descent(Face, double size); // both positive

// svg.c, pdf.c, raster.c, tikz.c, text.c: the back ends
void canvas_svg(Canvas *, const Look *, Buf *); // a whole file
void canvas_pdf(Canvas *, const Look *, Buf *);
void canvas_raster(Canvas *, const Look *, Picture *); // RGB
void canvas_tikz(Canvas *, const Look *, Buf *);       // a whole document
void canvas_art(Canvas *, const Look *, Buf *);        // lines of text, for a terminal
// By the path's extension: svg, pdf, tex, txt. False: it is none of these.
bool canvas_file(Canvas *, const char *path, const Look *, Buf *);
// The same and png, into the file, which is whole or absent.
bool canvas_write(Canvas *, const char *path, const Look *, const char **error);

// circuit.c: a diagram as a circuit of its axes
typedef enum {
  LEVEL_MODEL,   // axes, with the library's glyphs
  LEVEL_LAYER,   // axes, everything opened
  LEVEL_LEARNER, // a wire for each tensor, every box closed
} Level;
typedef struct {
  Level level;
  const char *const *open, *const *close; // names of boxes, ended by NULL; or NULL
  double width; // of a row, in units; 0: as usual; negative: everything is one row
  bool no_legend;
  bool notes; // comments at the ends of lines, beside what the lines make
  bool grad;  // it is a derivative: cotangents have an ink of their own
} CircuitOptions;
Canvas *circuit_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// broken.c: a box with errors, as far as it is known, with the messages; NULL: it is too large
Canvas *broken_draw(World *, Arena *, const PartialDiagram *, const CircuitOptions *);

// equation.c: the goals of a program, each as two pictures that should be equal
Canvas *goals_draw(Elab *, Arena *, Program *);

// graph.c: a learning diagram: spaces, maps, pairs; parts: one that is glued is shown with them
Canvas *learning_draw(Elab *, Arena *, const Program *, const Learning *, bool parts);

// lens.c: a goal, a learner or (NULL) all goals as parametric lenses. NULL: there is no such thing
Canvas *lens_draw(Elab *, Arena *, Program *, const char *name, Level);

// grad.c: the reverse derivative of a box as a circuit
Canvas *grad_draw(World *, Arena *, const Diagram *, const CircuitOptions *);

// who.c: which goals move which learners
Canvas *who_draw(Elab *, Arena *, Program *);

// wiring.c: a machine, or a wiring with its parts
typedef struct {
  uint32_t depth; // levels that are opened; 1: its own; 0: as many as can be read
  bool unfold;    // as a network, and unfolded
} WiringOptions;
typedef struct System System; // infer/machines.h
Canvas *wiring_draw(World *, Arena *, const System *, const WiringOptions *);
// A network from left to right, and the same from inside to outside. NULL: it is none, since parts
// hear each other in a circle, or nothing leaves it.
Canvas *wiring_unfold_draw(World *, Arena *, const System *);

// wiring_times.c: who hears whom, and how much, at several moments
typedef struct {
  const char *title;
  uint32_t parts, moments;
  const char *const *name; // [parts]
  const char *const *when; // [moments] "t = 500"; NULL: they are numbered
  const double *weight;    // [moments parts parts] at i j: how much i hears j
  const double *value;     // [moments parts] shown in the parts; NULL: nothing is
  double least;            // a weight below this share of the largest is no wire; 0: 0.02
} WiringTimes;
Canvas *wiring_strip_draw(Arena *, const WiringTimes *); // the moments side by side
// One SVG that goes through the moments, without script. Where nothing can move it is the last one.
void wiring_animated(Arena *, const WiringTimes *, const Look *, Buf *);

// check.c: what is wrong with a picture, in words; docs/drawing.md says when each is found
typedef enum {
#define FAULT(name, words) FAULT_##name,
#include "show/lint/faults.def"
#undef FAULT
  FAULT_KINDS
} FaultKind;
typedef struct {
  FaultKind kind;
  double x, y;
  const char *text; // "labels meet at 120, 44: a and b"
} Fault;
typedef VEC(Fault) Faults;
void canvas_check(Arena *, const Canvas *, Faults *);
const Diagram *circuit_unwrapped(const Diagram *); // circuit.c: what is drawn of it
// Are the lines of a diagram's picture the axes of its wires? strings: a line is a whole wire.
void circuit_check(World *, Arena *, const Diagram *, bool strings, const Canvas *, Faults *);
void faults_print(const Faults *, Buf *); // a line for each, and how many of each kind there are

// plot.c: what a `show` asked for
Canvas *plot_shown(Arena *, const Shown *, const char **error);

// ran.c: runs and checks of machines
LimnStatus machines_run(Elab *, Program *, const LimnRun *, Buf *json);
bool machines_ran(Arena *, const char *dir);                    // the folder is of such a run
LimnStatus machines_report(Elab *, Program *, const char *dir); // its page, made anew

// ran_draw.c: a machine or a wiring of a program
Canvas *machine_draw(Elab *, Arena *, Program *, const char *name, const WiringOptions *);
bool machine_known(Elab *, const Program *, const char *name);
const char *machine_last(World *, const Program *); // the last wiring, or machine; NULL: none

// report.c: a run folder as one page, DIR/report.html, and its pictures as files in DIR/shown
typedef struct {
  const char *dir;    // metrics.csv, run.json, program.limn are read there
  const Shows *shown; // what the program wants to be shown
  Canvas *goals;      // a picture of the goals; NULL: none
  const char *who;    // the table of goals by learners; NULL: none
} Report;
bool report_write(Arena *, const Report *, const char **error);

#endif
