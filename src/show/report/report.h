// report: the page of a run folder, DIR/report.html, and its pictures in DIR/shown.
#ifndef LIMN_SHOW_REPORT_REPORT_H
#define LIMN_SHOW_REPORT_REPORT_H

#include "run/sim/simulate.h"
#include "show/canvas/canvas.h"

// -- report.c: of training ------------------------------------------------------------------------
typedef struct {
  const char *dir;    // metrics.csv, run.json, program.limn are read there
  const Shows *shown; // the shows of the program
  Canvas *goals;      // the picture of the goals; NULL: none
  const char *who;    // the table of goals and learners; NULL: none
} Report;
bool report_write(Arena *, const Report *, const char **error);

// -- pages of other pictures ----------------------------------------------------------------------
void html_head(Buf *, const char *title, const char *style); // up to the body, which stays open
void html_text(Buf *, const char *text, size_t n);           // escaped; invalid UTF-8 is replaced

// report_page.c: can this be drawn? Otherwise *why.
bool report_can_show(Arena *, const Shown *, const char **why);

// -- machines_page.c: of runs of machines, from run.json in their folder and what is in memory ----
// Shows that fail are described on the page and in Results.unshown.
bool machines_page(Results *, const char **error);

// -- machines_ahead.c: false: something that is shown of a run has no picture, and that was said --
bool machines_can_show(Elab *, Program *);

#endif
