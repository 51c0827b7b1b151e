// plot: arrays as pictures.
#ifndef LIMN_SHOW_REPORT_PLOT_H
#define LIMN_SHOW_REPORT_PLOT_H

#include "run/runs/runs.h"
#include "show/canvas/canvas.h"

// -- plot.c: what a `show` asked for --------------------------------------------------------------
Canvas *plot_shown(Arena *, const Shown *, const char **error);

typedef struct {            // where time is in a picture
  double x, y, w, h;        // along this side of this area; w = 0: along none
  double from, to;          // the times at its ends
  bool down;                // it runs downwards, not to the right
  const double (*point)[2]; // [points] of a path, where it is at each moment; NULL: it is none
  int64_t points;
} PlotCursor;
Canvas *plot_shown_timed(Arena *, const Shown *, PlotCursor *, const char **error);

// -- plot_family.c: the same of several runs, in one picture --------------------------------------
typedef struct {
  const Shown *run;         // [n] each one thing as curves, or as a phase portrait
  const char *const *label; // [n] k = 0.5
  uint32_t n;
} ShownFamily;
Canvas *plot_family(Arena *, const ShownFamily *, PlotCursor *, const char **error);

// -- plot_scale.c ---------------------------------------------------------------------------------
const char *number_text(Arena *, double); // short, for people

// plot_table.c: the words of a show as text, for a page that has letters of its own; NULL: other
// view
const char *plot_words(Arena *, const Shown *);

// -- plot_metrics.c: the curves of a run ----------------------------------------------------------
typedef struct {
  const char *name;
  bool measure;
  bool up, judged; // more is better; judged: or less, if not up
  const char *on;  // where it is measured; "" where that is not known
  int64_t n;
  double *step, *value; // [n], the cells that are filled
  uint32_t ink;         // + 1: of the ink of this number; 0: of its place
  bool dashed;          // if it has an ink
} Curve;
typedef struct {
  Curve *curve;
  uint32_t curves;
  int64_t rows;
} Metrics;
// run: run.json, which says what is a measure; or all 0.
bool metrics_read(Arena *, const char *path, const RunNote *run, Metrics *, const char **error);
Canvas *plot_metrics(Arena *, const Metrics *, bool measures); // NULL: there is nothing
// The index of the best of n values, one in `stride` numbers; -1: none is finite.
int64_t best_of(const double *, int64_t n, int64_t stride, bool up);

#endif
