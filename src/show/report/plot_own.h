// What the files of plots share: one job, scales with round ticks, lines, captions.
//
// A plot is made in two steps: everything is measured with text_width, then marks are put where
// there is room. So no text covers another one, whatever the numbers are.
#ifndef LIMN_SHOW_REPORT_PLOT_OWN_H
#define LIMN_SHOW_REPORT_PLOT_OWN_H

#include "show/report/plot.h"

enum {
  PLOT_WIDTH = 640, // of a plot alone
  PLOT_HEIGHT = 300,
  LABEL_SIZE = 11, // of ticks, captions and legends
  HEAD_SIZE = 12,  // of headings over panels
  LINE_STEP = 16,  // from one line of text to the next
  LINE_LIMIT = 24, // lines in one frame
  POINT_LIMIT = 2000,
  SERIES = 8, // inks for series
};

typedef struct {
  Arena *arena;
  const Shown *s;
  const char **error;
  VEC(const char *) note; // for the caption: what the eye cannot see
  PlotCursor *cursor;     // to be told where time is; or NULL
} Plot;

typedef struct {
  double low, high;
  bool any; // false: nothing finite was seen
} PlotRange;

typedef struct {
  double x, y, w, h;
} PlotArea;

// -- plot.c ---------------------------------------------------------------------------------------
bool plot_wrong(Plot *, const Array *, const char *wanted); // sets the error; always false
void plot_note(Plot *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void plot_note_gaps(Plot *, int64_t count, const char *of); // nothing when count is 0
// Puts what was noted below y; the picture, which is whole then.
Canvas *plot_end(Plot *, Canvas *, double width, double y);
void soft_text(Canvas *, double x, double y, Anchor, const char *); // of ticks and captions
double small_width(const char *);                                   // of such a text
Canvas *plot_canvas(Plot *, const char *kind);  // of the default size, to be made larger or smaller
const char *shape_text(Arena *, const Array *); // [64 28 28]
const char *label_text(Plot *, uint32_t array, int64_t label); // its name, or its number
const char *line_name(Plot *, uint32_t array, int64_t k, int64_t of);
const char *with_unit(Plot *, uint32_t array, const char *name); // level (m)
bool labels_known(const Plot *, uint32_t array);
// A whole number from 1 to `most`: an option of the view, or `otherwise` where it is not given.
bool plot_option(Plot *, uint32_t i, int64_t otherwise, int64_t most, int64_t *out);

// -- plot_scale.c ---------------------------------------------------------------------------------
typedef struct {
  double low, high;
  bool log;
  double from, to; // where they are on the canvas
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
  PlotArea outer; // with everything that is written around it
  PlotRange x, y;
  const char *x_title, *y_title;
  double right;          // kept free to the right, for names of lines
  bool log_y, equal;     // equal: one unit is as long on both axes
  bool tight_x, whole_x; // no room beside the ends; ticks at whole numbers only
  bool fixed_y;          // the range is taken as it is
} FrameWish;

bool is_seen(double);                // finite, and not so large that a scale would overflow
bool is_label(double);               // it can be one
void range_add(PlotRange *, double); // what is not seen is passed over
PlotRange array_range(const Array *, int64_t *gaps); // gaps: values that are not seen
bool wants_log(PlotRange, double ratio); // all positive, and the largest is so many times the least
double scale_at(const Scale *, double);
Ticks scale_ticks(Arena *, const Scale *, uint32_t most, bool whole);
const char *number_fixed(Arena *, double, int decimals);
const char *text_fit(Arena *, double size, const char *text, double room); // ended by …
bool frame_add(FrameWish *, double x, double y); // a point; false: it is not seen
PlotFrame frame_draw(Plot *, Canvas *, const FrameWish *);
void time_along(Plot *, const Scale *x, double y, double h); // time runs to the right there

// -- plot_lines.c: series in a frame --------------------------------------------------------------
typedef struct {
  const char *name;
  const char *label;   // where it ends; NULL: its name
  const double *x, *y; // [n], one in `stride` numbers; x NULL: the index
  int64_t n, stride;
  bool mark_best, up;
  bool smooth;        // where points lie close, a running mean stands out from them
  bool held;          // a value holds until the next one
  const double *mark; // [marks] moments at which it may jump, in their order
  uint32_t marks;
  uint32_t as; // + 1: drawn as this series, whatever its place; beyond SERIES dashed
} PlotLine;
typedef struct {
  const char *x_title, *y_title;
  bool whole_x;
  double log_from; // a logarithmic scale where values differ by more than this factor; 0: 1000
  double log_most; // but not by more than that; 0: any
  bool marks;      // where something happened
} LinesWish;
Ink series_ink(uint32_t i);
double line_x(const PlotLine *, int64_t i), line_y(const PlotLine *, int64_t i);
int64_t line_range(FrameWish *,
                   const PlotLine *); // makes room for it; how many points are not seen
void curve_draw(Canvas *, const PlotFrame *, const PlotLine *, const Paint *);
const char *line_words(Plot *, const PlotLine *); // for a reader without eyes
double lines_draw(Plot *, Canvas *, double y, const PlotLine *, uint32_t n, const LinesWish *);
// Pushes [n] places apart so that they keep `gap`, inside low to high where they fit.
void labels_spread(double *place, uint32_t n, double gap, double low, double high);
// A path that grows stronger towards its end, which is marked.
void trail_draw(Canvas *, Arena *, const double (*point)[2], int64_t n, Ink);

// Two arrays [n], or one [n 2], as points; false: *error. plot_points.c
typedef struct {
  double (*at)[2]; // [n]
  int64_t n;
  const char *x_name, *y_name;
  uint32_t next; // the array behind those that were used
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
bool is_simplex(const double *row, int64_t k); // plot_paths.c: false too where not finite

// plot_axes.c: the two axes of most spread
// Projects x [n z] on them, to [n 2]. Rows that are not finite stay so. share: of the spread.
void principal_axes(Arena *, const double *x, int64_t n, int64_t z, double (*to)[2],
                    double share[2]);

#endif
