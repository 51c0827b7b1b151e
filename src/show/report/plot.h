// plot: arrays as pictures.
#ifndef LIMN_SHOW_REPORT_PLOT_H
#define LIMN_SHOW_REPORT_PLOT_H

#include "run/runs/runs.h"
#include "show/canvas/canvas.h"

// -- plot.c: what a `show` asked for --------------------------------------------------------------
Canvas *plot_shown(Arena *, const Shown *, const char **error);

typedef struct {            // the time axis of a picture
  double x, y, w, h;        // along one side of this area; w = 0: none
  double from, to;          // times at its ends
  bool down;                // downwards instead of rightwards
  const double (*point)[2]; // [points] for a path: its position at each moment; or NULL
  int64_t points;
} PlotCursor;
Canvas *plot_shown_timed(Arena *, const Shown *, PlotCursor *, const char **error);

// -- plot_family.c: the same of several runs, in one picture --------------------------------------
typedef struct {
  const Shown *run;         // [n] each one thing, as curves or phase portrait
  const char *const *label; // [n] k = 0.5
  uint32_t n;
} ShownFamily;
Canvas *plot_family(Arena *, const ShownFamily *, PlotCursor *, const char **error);

// -- plot_scale.c ---------------------------------------------------------------------------------
const char *number_text(Arena *, double); // in short form

// plot_table.c: text views as plain text, for a page that sets it; NULL: another view
const char *plot_words(Arena *, const Shown *);

// -- plot_metrics.c: the curves of a run ----------------------------------------------------------
typedef struct {
  const char *name;
  bool measure;
  bool up, judged; // more is better; judged: or less, if not `up`
  const char *on;  // the data it is measured on; "": unknown
  int64_t n;
  double *step, *value; // [n] nonempty cells
  uint32_t ink;         // + 1: index of its colour; 0: by position
  bool dashed;          // (with an ink)
} Curve;
typedef struct {
  Curve *curve;
  uint32_t curves;
  int64_t rows;
} Metrics;
// run: run.json, which lists the measures; or zero.
bool metrics_read(Arena *, const char *path, const RunNote *run, Metrics *, const char **error);
Canvas *plot_metrics(Arena *, const Metrics *, bool measures); // NULL: there are none
// The index of the best of n strided values; -1: none is finite.
int64_t best_of(const double *, int64_t n, int64_t stride, bool up);

#endif
