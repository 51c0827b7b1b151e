// Private to pages of machines: what is shown of a run, as numbers for plots.
#ifndef LIMN_SHOW_REPORT_MACHINES_OWN_H
#define LIMN_SHOW_REPORT_MACHINES_OWN_H

#include "show/report/report_own.h"
#include "show/wiring/wiring.h"

// -- machines_shown.c -----------------------------------------------------------------------------
typedef struct {
  Shown shown;
  const WiringTimes *strip, *moving; // a wiring over time, in the place of a plot; or NULL
  const char *why;                   // it cannot be shown; or NULL
} RanShown;
typedef VEC(RanShown) RanShows;
void ran_shows(const Results *, uint32_t run, RanShows *);

#endif
