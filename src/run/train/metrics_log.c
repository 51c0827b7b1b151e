// The logs of a run: metrics.csv, with a row for each report and for points between, and the same
// values as TensorBoard events.
//
// Rows are buffered in memory, and written when there are enough or when a checkpoint is due. A
// checkpoint records the length of both files, and a resumed run truncates them to that length, so
// no row is lost or duplicated. A row that could not be written completely is removed, and written
// again later.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/names.h"
#include "run/train/train_own.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WAITING_BYTES = 8192 };

static double wall_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void failed(Trainer *t, const char *name, const char *why) {
  if (!t->record.failed)
    tell_wrong(t, "cannot write %s: %s; it is tried again later", folder_path(&t->folder, name),
               why);
  t->record.failed = name;
}

static int64_t bytes_of(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

int64_t record_events_bytes(const Trainer *t) { return bytes_of(t->record.events_path); }

// -- opening --------------------------------------------------------------------------------------
static int64_t bytes_noted(const Arrays *state, const char *key) {
  const char *text = state ? arrays_metadata(state, key) : NULL;
  return text ? strtoll(text, NULL, 10) : 0;
}

// Opens a file and truncates it to the length in the checkpoint.
static bool open_cut(Trainer *t, const char *name, int64_t bytes, int *fd) {
  const char *path = folder_path(&t->folder, name);
  const char *why = file_append_in(t->arena, t->folder.dir, name, fd);
  int64_t have = why ? 0 : bytes_of(path);
  if (!why && have < bytes) tell_wrong(t, "%s is shorter than it was: rows are lost", path);
  if (!why && have > bytes && ftruncate(*fd, (off_t)bytes) != 0) why = os_error(t->arena, errno);
  return !why || train_refuse(t, folder_outcome(t->arena, t->folder.dir, name),
                              "cannot write %s: %s", path, why);
}

static void name_cell(Trainer *t, const char *name, double value) {
  (void)value;
  csv_put(&t->record.row, name);
}

static void header_row(Trainer *t) {
  CsvOut *row = &t->record.row;
  csv_put(row, "step");
  csv_put(row, "epoch");
  csv_put(row, "time");
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    csv_put(row, name_text(t->w->names, t->p->goal.at[i].name));
  for (uint32_t i = 0; i < t->gauge.n; i++) csv_put(row, t->gauge.at[i].label);
  traces_cells(t, &(TraceCells){.cell = name_cell});
  csv_end_row(row);
}

static bool csv_open(Trainer *t, int64_t bytes) {
  MetricsLog *r = &t->record;
  const char *path = folder_path(&t->folder, "metrics.csv");
  if (!open_cut(t, "metrics.csv", bytes, &r->fd)) return false;
  r->bytes = bytes_of(path);
  r->waiting = buf_new(t->arena);
  r->row = csv_out(&r->waiting);
  if (!r->bytes) header_row(t);
  return true;
}

static const char *new_events(const Trainer *t) {
  return arena_format(t->arena, "events.out.tfevents.%.0f.limn", wall_time() * 1000);
}

// If the event file cannot be continued, it stays as it is, and a new file is started.
static bool events_start(Trainer *t, const Arrays *state) {
  MetricsLog *r = &t->record;
  int fd;
  const char *error, *name = state ? arrays_metadata(state, "events") : NULL;
  bool ours = name && strncmp(name, "events.out.tfevents.", 20) == 0 && !strchr(name, '/');
  if (!ours) name = new_events(t);
  r->events_path = folder_path(&t->folder, name);
  if (!open_cut(t, name, bytes_noted(state, "events_bytes"), &fd)) return false;
  close(fd);
  r->events = events_open(t->arena, r->events_path, wall_time(), &error);
  if (!r->events) {
    r->events_path = folder_path(&t->folder, new_events(t));
    r->events = events_open(t->arena, r->events_path, wall_time(), &error);
  }
  return r->events || train_refuse(t, OUTCOME_SYSTEM, "%s", error);
}

bool record_open(Trainer *t, const Arrays *state) {
  if (!t->folder.dir) return true;
  return csv_open(t, bytes_noted(state, "metrics_bytes")) && events_start(t, state);
}

void record_close(Trainer *t) {
  if (t->record.fd >= 0) close(t->record.fd);
  t->record.fd = -1;
}

// -- writing --------------------------------------------------------------------------------------
static bool append(MetricsLog *r) {
  size_t at = 0;
  while (at < r->waiting.n) {
    ssize_t put = write(r->fd, r->waiting.at + at, r->waiting.n - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) break;
    at += (size_t)put;
  }
  int why = errno;
  if (at < r->waiting.n) { // all or nothing: removes a partial write
    bool back = ftruncate(r->fd, (off_t)r->bytes) == 0;
    errno = back ? why : errno;
    return false;
  }
  r->bytes += (int64_t)at;
  r->waiting.n = 0;
  return true;
}

// If the run folder was moved or deleted, rows stay buffered, with a message.
static bool append_where_it_is(Trainer *t) {
  if (!folder_has(&t->folder, "metrics.csv", t->record.fd))
    return failed(t, "metrics.csv", "it was removed or replaced during the run"), false;
  if (append(&t->record)) return true;
  return failed(t, "metrics.csv", os_error(t->arena, errno)), false;
}

void record_flush(Trainer *t) {
  if (!t->folder.dir) return;
  const char *error;
  bool good = append_where_it_is(t);
  bool events = events_flush(t->record.events, &error);
  if (!events) failed(t, "events", error);
  if (good && events) t->record.failed = NULL;
}

static void value_cell(Trainer *t, const char *name, double value) {
  csv_put_number(&t->record.row, value);
  events_scalar(t->record.events, (int64_t)(t->base + t->step), wall_time(), name, value);
}

static void cell_if(Trainer *t, const char *name, bool known, double value) {
  if (known)
    value_cell(t, name, value);
  else
    csv_next(&t->record.row);
}

void record_row(Trainer *t) {
  if (!t->folder.dir) return;
  MetricsLog *r = &t->record;
  double epoch = t->epoch_steps ? (double)t->step / (double)t->epoch_steps : 0;
  csv_put_number(&r->row, (double)(t->base + t->step));
  csv_next(&r->row), buf_printf(&r->waiting, "%.6g", epoch);
  csv_next(&r->row), buf_printf(&r->waiting, "%.3f", trainer_seconds(t));
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    cell_if(t, name_text(t->w->names, t->p->goal.at[i].name), t->row.weight[i] > 0,
            t->row.sum[i] / t->row.weight[i]);
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    Gauge *g = &t->gauge.at[i];
    cell_if(t, g->label, g->fresh, g->value);
    g->fresh = false;
  }
  traces_cells(t, &(TraceCells){.cell = value_cell, .values = true});
  csv_end_row(&r->row);
  if (r->waiting.n > WAITING_BYTES) record_flush(t);
}
