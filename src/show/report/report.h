// report: a run folder as a page.
#ifndef LIMN_SHOW_REPORT_REPORT_H
#define LIMN_SHOW_REPORT_REPORT_H

#include "run/train/train.h"
#include "show/canvas/canvas.h"

// report.c: a run folder as one page, DIR/report.html, and its pictures as files in DIR/shown
typedef struct {
  const char *dir;    // metrics.csv, run.json, program.limn are read there
  const Shows *shown; // what the program wants to be shown
  Canvas *goals;      // a picture of the goals; NULL: none
  const char *who;    // the table of goals by learners; NULL: none
} Report;
bool report_write(Arena *, const Report *, const char **error);

// machines.c: runs and checks of machines
LimnStatus machines_run(Elab *, Program *, const LimnRun *, Buf *json);
bool machines_ran(Arena *, const char *dir);                    // the folder is of such a run
LimnStatus machines_report(Elab *, Program *, const char *dir); // its page, made anew

#endif
