// Private to studio: runs of training. A run is a folder below the served one; whether it runs is asked of
// its lock, so that a new server sees what an old one has begun.
#ifndef LIMN_STUDIO_RUNS_H
#define LIMN_STUDIO_RUNS_H

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
  const char *dir; // below the folder
  RunState state;
  pid_t pid;          // of the process that is at it; 0: none
  const Json *note;   // run.json; NULL: there is none
  const Json *report; // the last line that the process has said; NULL: none
  const char *wrong;  // why it failed; NULL: nobody knows
} RunNow;

// runs.c: of a process and its folder
RunNow run_now(Studio *, Arena *, const char *dir);
bool run_is_one(Studio *, Arena *, const char *dir); // whether this folder is a run
void run_names(Studio *, Arena *, FolderNames *);    // all of them
// `limn report` on what was last saved, in a process of its own; its number, or 0.
int report_begin(HostCall *, const RunNow *);
const char *run_asked(HostCall *);          // a run that is there; NULL: it was refused
void run_done(HostCall *, const char *dir); // the answer: {"run"}
void host_train(HostCall *);
void host_pause(HostCall *);
void host_resume(HostCall *);
void host_stop(HostCall *);
void host_change(HostCall *);
const char *run_program(HostCall *, const RunNow *); // where it is gone, the run's own copy

// metrics.c: its numbers and pictures
void host_runs(HostCall *);
void host_metrics(HostCall *);
void host_shown(HostCall *);
void runs_tick(Studio *); // tells what has gone on

void host_weights(HostCall *); // weights.c
void host_delete(HostCall *);  // delete.c

#endif
