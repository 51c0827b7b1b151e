// Private to studio: training runs. A run is a folder below the served one. Its lock file says
// whether a process works on it, so a new server finds runs that an earlier one started.
#ifndef LIMN_STUDIO_RUNS_H
#define LIMN_STUDIO_RUNS_H

#include "base/files.h"
#include "studio/studio_own.h"

#include <sys/types.h>

typedef enum {
  RUN_STARTING,
  RUN_RUNNING,
  RUN_PAUSED,
  RUN_STOPPED,
  RUN_FINISHED,
  RUN_FAILED
} RunState;
extern const char *const run_state_word[];

typedef struct {
  const char *dir; // relative to the served folder
  RunState state;
  pid_t pid;          // the process that works on it; 0: none
  const Json *note;   // run.json; NULL: missing
  const Json *report; // the last progress line of the process; NULL: none
  const char *wrong;  // why it failed; NULL: unknown
} RunNow;

// runs.c: the processes and folders of runs
RunNow run_now(Studio *, Arena *, const char *dir);
bool run_is_one(Studio *, Arena *, const char *dir); // is this folder a run?
void run_names(Studio *, Arena *, FolderNames *);    // the names of all runs
// Starts `limn report` on the last checkpoint; returns the process, or 0.
int report_begin(HostCall *, const RunNow *);
const char *run_asked(HostCall *);          // the run that the request names; NULL: refused
void run_done(HostCall *, const char *dir); // answers {"run"}
void host_train(HostCall *);
void host_pause(HostCall *);
void host_resume(HostCall *);
void host_stop(HostCall *);
void host_change(HostCall *);
// The program's path; if it was deleted, that of the run's copy.
const char *run_program(HostCall *, const RunNow *);

// metrics.c: metrics and pictures
void host_runs(HostCall *);
void host_metrics(HostCall *);
void host_shown(HostCall *);
void runs_tick(Studio *); // tells pages of changes

void host_weights(HostCall *); // weights.c
void host_delete(HostCall *);  // delete.c

#endif
