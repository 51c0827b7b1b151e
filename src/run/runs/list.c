// Lists runs. A run is a folder with run.json (what it is), metrics.csv (what was measured),
// model.safetensors (weights) and, for runs of machines, which checks hold. Files that are missing
// are skipped, since a run may be starting; files that cannot be read are reported.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/table.h"
#include "run/runs/runs.h"

#include "run/runs/weights.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

static bool is_absent(const char *path) {
  struct stat file;
  return lstat(path, &file) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// Reads the last value of each measure.
static void read_values(Arena *a, RunInfo *r) {
  const char *error, *path = arena_format(a, "%s/metrics.csv", r->dir);
  MetricRows rows = {0};
  bool good = rows_read(a, path, &rows, &error);
  if (!good && !is_absent(path)) r->wrong = error;
  r->value = NEW_ARRAY(a, RunMeasure, r->note.measure.n + 1);
  for (uint32_t i = 0; i < r->note.measure.n; i++) {
    RunMeasure *m = &r->value[i];
    uint32_t column, width = rows.name.n;
    if (!good || !rows_find(&rows, r->note.measure.at[i].name, &column)) continue;
    for (int64_t k = rows.rows; k-- > 0 && !m->known;) {
      m->known = rows.known.at[k * width + column];
      m->value = rows.value.at[k * width + column];
    }
  }
}

// Reads the learners of the model: weights are named learner/…, or learner.2/… in a family.
static void read_learners(Arena *a, RunInfo *r) {
  const char *error, *path = arena_format(a, "%s/model.safetensors", r->dir);
  Arrays all = {0};
  Arena *own = arena_child(a);
  Table *seen = table_new(a);
  bool good = folder_read(own, path, &all, &error);
  if (!good && !is_absent(path)) r->wrong = arena_text(a, error, strlen(error));
  if (good)
    for (uint32_t i = 0; i < all.array.n; i++) {
      const char *name = all.array.at[i].name;
      size_t n = strcspn(name, "/");
      const char *dot = memchr(name, '.', n);
      if (dot && dot > name) n = (size_t)(dot - name);
      if (table_get(seen, name, n)) continue;
      table_put(seen, name, n, 1);
      vec_push(a, &r->learner, arena_text(a, name, n));
    }
  arena_free(own);
}

// False: there is no run in this folder.
static bool read_run(Arena *a, const char *dir, RunInfo *r) {
  const char *path = arena_format(a, "%s/run.json", dir);
  char date[40];
  struct stat file;
  struct tm day;
  *r = (RunInfo){.dir = dir};
  if (is_absent(path)) return false;
  r->unknown = !note_read(a, dir, &r->note, &r->wrong);
  if (r->unknown) return true;
  if (stat(path, &file) != 0) {
    file_error(a, &r->wrong, "cannot read %s: %s", path, os_error(a, errno));
    file.st_mtime = 0;
  }
  strftime(date, sizeof date, "%Y-%m-%d %H:%M", gmtime_r(&file.st_mtime, &day));
  r->date = arena_format(a, "%s", date);
  if (!r->note.machine) read_values(a, r), read_learners(a, r);
  return true;
}

bool runs_read(Arena *a, const char *dir, RunInfos *out, const char **why) {
  RunInfo one;
  if (read_run(a, dir, &one)) {
    vec_push(a, out, one);
    return true;
  }
  FolderNames names = {0};
  const char *error = folder_names(a, dir, &names);
  if (error) return file_error(a, why, "cannot read the folder %s: %s", dir, error);
  for (uint32_t i = 0; i < names.n; i++)
    if (read_run(a, arena_format(a, "%s/%s", dir, names.at[i]), &one)) vec_push(a, out, one);
  return true;
}

// Does the run have this learner? Unknown if a file cannot be read.
bool run_has(const RunInfo *r, const char *learner) {
  if (r->wrong) return true;
  for (uint32_t i = 0; i < r->learner.n; i++)
    if (strcmp(r->learner.at[i], learner) == 0) return true;
  return false;
}

// -- printing -------------------------------------------------------------------------------------
static void print_check(const RunCheck *c, Buf *b) {
  buf_printf(b, "  %s %s%s%s",
             c->holds  ? "holds"
             : c->done ? "FAILS"
                       : "open ",
             c->of, *c->of ? " : " : "", claim_text(b->arena, c));
  if (*c->figure) buf_printf(b, "   %s", c->figure);
  buf_char(b, '\n');
}

static void print_run(const RunInfo *r, Buf *b) {
  const RunNote *note = &r->note;
  if (r->unknown) {
    buf_printf(b, "%s: unreadable: %s\n", r->dir, r->wrong);
    return;
  }
  buf_printf(b, "%s: %s, %s, %s after %.0f step%s, seed %.0f\n", r->dir, note->program, r->date,
             *note->state ? note->state : "unknown", note->steps, note->steps == 1 ? "" : "s",
             note->seed);
  for (uint32_t i = 0; i < note->measure.n; i++) {
    const NoteMeasure *m = &note->measure.at[i];
    buf_printf(b, "%s%s ", i ? ", " : "  ", m->name);
    if (r->value[i].known)
      buf_printf(b, "%.4g", r->value[i].value);
    else
      buf_char(b, '?');
    if (*m->on) buf_printf(b, " on %s", m->on);
  }
  if (note->measure.n) buf_char(b, '\n');
  for (uint32_t i = 0; i < note->change.n; i++)
    buf_printf(b, "  changed: %s\n", change_text(b->arena, &note->change.at[i]));
  for (uint32_t i = 0; i < note->check.n; i++) print_check(&note->check.at[i], b);
  for (uint32_t i = 0; i < r->learner.n; i++)
    buf_printf(b, "%s %s", i ? "," : "  learners", r->learner.at[i]);
  if (r->learner.n) buf_char(b, '\n');
  if (r->wrong) buf_printf(b, "  unreadable: %s\n", r->wrong);
}

static void json_run(const RunInfo *r, JsonOut *j) {
  const RunNote *note = &r->note;
  json_object(j, NULL);
  json_text(j, "dir", r->dir);
  if (r->wrong) json_text(j, "unreadable", r->wrong);
  if (r->unknown) {
    json_end(j);
    return;
  }
  json_text(j, "program", note->program);
  json_text(j, "date", r->date);
  json_text(j, "state", note->state);
  json_text(j, "kind", note->machine ? "machine" : "training");
  json_number(j, "steps", note->steps);
  json_number(j, "seed", note->seed);
  json_object(j, "measures");
  for (uint32_t i = 0; i < note->measure.n; i++) {
    if (r->value[i].known)
      json_value(j, note->measure.at[i].name, r->value[i].value);
    else
      json_print(j, note->measure.at[i].name, "null");
  }
  json_end(j);
  changes_print(note, j);
  json_list(j, "learners");
  for (uint32_t i = 0; i < r->learner.n; i++) json_text(j, NULL, r->learner.at[i]);
  json_end(j);
  if (note->machine) {
    json_list(j, "checks");
    for (uint32_t i = 0; i < note->check.n; i++) check_print(&note->check.at[i], true, j);
    json_end(j);
  }
  json_end(j);
}

void runs_print(const RunInfos *runs, bool json, Buf *b) {
  JsonOut j = json_out(b);
  if (json) json_list(&j, NULL);
  for (uint32_t i = 0; i < runs->n; i++)
    if (json)
      json_run(&runs->at[i], &j);
    else
      print_run(&runs->at[i], b);
  if (json) json_end(&j);
}
