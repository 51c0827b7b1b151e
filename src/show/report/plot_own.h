// Private to plot: scales with round ticks, lines, captions.
//
// A plot is made in two steps: everything is measured with text_width, then drawn where there is
// space. So texts never overlap.
#ifndef LIMN_SHOW_REPORT_PLOT_OWN_H
#define LIMN_SHOW_REPORT_PLOT_OWN_H

#include "show/canvas/strokes.h"
#include "show/report/plot.h"

enum {
  PLOT_WIDTH = 640, // default width
  PLOT_HEIGHT = 300,
  LABEL_SIZE = 11, // of ticks, captions and legends
  HEAD_SIZE = 12,  // of headings over panels
  LINE_STEP = 16,  // from one line of text to the next
  LINE_LIMIT = 24, // lines in one frame
  POINT_LIMIT = 2000,
  SERIES = 8, // number of colours for series
};

typedef struct {
  Arena *arena;
  const Shown *s;
  const char **error;
  VEC(const char *) note; // remarks for the caption, such as missing values
  PlotCursor *cursor;     // output: position of the time axis; or NULL
} Plot;

typedef struct {
  double low, high;
  bool any; // false: there were no finite values
} PlotRange;

typedef struct {
  double x, y, w, h;
} PlotArea;

// -- plot.c ---------------------------------------------------------------------------------------
bool plot_wrong(Plot *, const Array *, const char *wanted); // sets the error; returns false
void plot_note(Plot *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void plot_note_gaps(Plot *, int64_t count, const char *of); // no note if count is 0
// Writes the notes below y and finishes the picture.
Canvas *plot_end(Plot *, Canvas *, double width, double y);
void soft_text(Canvas *, double x, double y, Anchor, const char *); // for ticks and captions
double small_width(const char *);                                   // of such a text
Canvas *plot_canvas(Plot *, const char *kind);                 // of the default size, to be resized
const char *shape_text(Arena *, const Array *);                // [64 28 28]
const char *label_text(Plot *, uint32_t array, int64_t label); // its name, or its number
const char *line_name(Plot *, uint32_t array, int64_t k, int64_t of);
const char *with_unit(Plot *, uint32_t array, const char *name); // level (m)
bool labels_known(const Plot *, uint32_t array);
// An integer option of the view from 1 to `most`, or `otherwise`.
bool plot_option(Plot *, uint32_t i, int64_t otherwise, int64_t most, int64_t *out);

// -- plot_scale.c ---------------------------------------------------------------------------------
typedef struct {
  double low, high;
  bool log;
  double from, to; // on the canvas
} Scale;
enum { TICK_LIMIT = 16 };
typedef struct {
  uint32_t n;
  double at[TICK_LIMIT];
  const char *text[TICK_LIMIT];
} Ticks;
typedef struct {
  PlotArea area;
  Scale x, y;
} PlotFrame;
typedef struct {
  PlotArea outer; // including ticks and titles
  PlotRange x, y;
  const char *x_title, *y_title;
  double right;          // space on the right for names of lines
  bool log_y, equal;     // equal: the same unit length on both axes
  bool tight_x, whole_x; // no margins at the ends; integral ticks only
  bool fixed_y;          // use the range without rounding
} FrameWish;

bool is_seen(double);                // finite, and not so large that a scale would overflow
bool is_label(double);               // a possible label
void range_add(PlotRange *, double); // ignores values that cannot be shown
PlotRange array_range(const Array *, int64_t *gaps); // gaps: number of values that cannot be shown
// All positive, with at least this ratio of maximum to minimum.
bool wants_log(PlotRange, double ratio);
double scale_at(const Scale *, double);
Ticks scale_ticks(Arena *, const Scale *, uint32_t most, bool whole);
const char *number_fixed(Arena *, double, int decimals);
bool frame_add(FrameWish *, double x, double y); // adds a point; false: it cannot be shown
PlotFrame frame_draw(Plot *, Canvas *, const FrameWish *);
typedef struct {
  double y;
  PlotArea outer; // its texts stay inside
  const char *title;
  bool whole, marked; // integral ticks only; with ticks
} AxisWish;
void axis_draw(Plot *, Canvas *, const Scale *x, const AxisWish *);
void time_along(Plot *, const Scale *x, double y, double h); // records the time axis

// -- plot_lines.c: series in a frame --------------------------------------------------------------
typedef struct {
  const char *name;
  const char *label;   // name at the end; NULL: its name
  const double *x, *y; // [n] strided; x = NULL: the index
  int64_t n, stride;
  bool mark_best, up;
  bool smooth;        // dense points: with a running mean
  bool held;          // a step function
  const double *mark; // [marks] times of events, at which it may jump, sorted
  uint32_t marks;
  uint32_t as; // + 1: drawn like this series; beyond SERIES dashed
} PlotLine;
typedef struct {
  const char *x_title, *y_title;
  bool whole_x;
  double log_from; // logarithmic if the ratio of values exceeds this; 0: 1000
  double log_most; // but not this; 0: any
  bool marks;      // show events
} LinesWish;
Ink series_ink(uint32_t i);
double line_x(const PlotLine *, int64_t i), line_y(const PlotLine *, int64_t i);
// The frame of these lines, whose scale may be logarithmic.
PlotFrame lines_frame(Plot *, Canvas *, FrameWish *, const PlotLine *, uint32_t n, double log_from,
                      double log_most);
void curve_draw(Canvas *, const PlotFrame *, const PlotLine *, const Paint *);
const char *line_words(Plot *, const PlotLine *); // for screen readers
double lines_draw(Plot *, Canvas *, double y, const PlotLine *, uint32_t n, const LinesWish *);
// Moves [n] positions apart to a minimal gap, inside low to high if possible.
void labels_spread(double *place, uint32_t n, double gap, double low, double high);
// A path that fades in towards its marked end.
void trail_draw(Canvas *, Arena *, const double (*point)[2], int64_t n, Ink);

// Reads two arrays [n], or one [n 2]; false: *error. plot_points.c
typedef struct {
  double (*at)[2]; // [n]
  int64_t n;
  const char *x_name, *y_name;
  uint32_t next; // the first array not used
} Points;
bool phase_points(Plot *, Points *);

// The views, each in a file by its kind
Canvas *plot_images(Plot *), *plot_strip(Plot *);                        // plot_image.c
Canvas *plot_matrix(Plot *), *plot_spacetime(Plot *);                    // plot_matrix.c
Canvas *plot_scatter(Plot *), *plot_latent(Plot *), *plot_phase(Plot *); // plot_points.c
Canvas *plot_curves(Plot *);                                             // plot_curves.c
Canvas *plot_paths(Plot *);                                              // plot_paths.c
Canvas *plot_bands(Plot *);                                              // plot_bands.c
Canvas *plot_table(Plot *), *plot_text(Plot *);                          // plot_table.c
bool looks_like_images(const Shown *);                                   // plot_image.c
bool all_simplex(const Array *); // plot_paths.c: are its rows probabilities, if they are finite?

// Projects x [n z] to [n 2]. Non-finite rows stay so. share: of the variance.
void principal_axes(Arena *, const double *x, int64_t n, int64_t z, double (*to)[2],
                    double share[2]);

#endif
