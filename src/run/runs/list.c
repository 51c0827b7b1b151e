// RunInfos are folders, and a folder of runs is all the registry there is. A run says of itself
// what it is (run.json), what it measured (metrics.csv) and what it holds (model.safetensors); one
// of machines, which of its claims hold: here that is read back. What cannot be read is left out,
// not an error: a run may be beginning.
#define _DEFAULT_SOURCE
#include "run/train/train.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

static const char *text_at(const Json *object, const char *key) {
  const Json *x = json_get(object, key);
  return x && x->kind == JSON_TEXT ? x->text : "";
}

static double number_at(const Json *object, const char *key) {
  const Json *x = json_get(object, key);
  return x && x->kind == JSON_NUMBER ? x->number : 0;
}

// The last number of each measure.
static void read_measures(Arena *a, const Json *info, RunInfo *r) {
  const Json *list = json_get(info, "measures");
  const char *error;
  MetricRows rows = {0};
  bool good = rows_read(a, arena_format(a, "%s/metrics.csv", r->dir), &rows, &error);
  if (!list || list->kind != JSON_LIST) return;
  const Json *one = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, one = json_next(one)) {
    RunMeasure m = {.name = text_at(one, "name"), .on = text_at(one, "on")};
    uint32_t column, width = rows.name.n;
    for (int64_t k = rows.rows; good && rows_find(&rows, m.name, &column) && k-- > 0 && !m.known;) {
      m.known = rows.known.at[k * width + column];
      m.value = rows.value.at[k * width + column];
    }
    vec_push(a, &r->measure, m);
  }
}

static void read_checks(Arena *a, const Json *info, RunInfo *r) {
  const Json *list = json_get(info, "checks");
  if (!list || list->kind != JSON_LIST) return;
  const Json *one = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, one = json_next(one)) {
    const Json *holds = json_get(one, "holds");
    RunCheck c = {text_at(one, "of"), text_at(one, "text"), text_at(one, "figure"), false, false};
    c.holds = holds && holds->kind == JSON_TRUE;
    c.done = c.holds || (holds && holds->kind == JSON_FALSE);
    vec_push(a, &r->check, c);
  }
}

// Weights are called learner/…: the first parts of their names are the learners, or learner.2/… of
// a family.
static void read_learners(Arena *a, RunInfo *r) {
  const char *error;
  Arrays all = {0};
  Arena *own = arena_child(a);
  Table *seen = table_new(a);
  if (safetensors_read(own, arena_format(a, "%s/model.safetensors", r->dir), &all, &error))
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

static bool read_run(Arena *a, const char *dir, RunInfo *r) {
  const char *path = arena_format(a, "%s/run.json", dir), *error;
  struct stat file;
  struct tm day;
  View view;
  if (stat(path, &file) != 0 || !file_view(a, path, &view, &error)) return false;
  const Json *info = json_read(a, (const char *)view.at, view.n, &error);
  if (!info || info->kind != JSON_OBJECT) return false;
  *r = (RunInfo){.dir = dir,
                 .program = text_at(info, "program"),
                 .state = text_at(info, "state"),
                 .steps = number_at(info, "steps"),
                 .seed = number_at(info, "seed")};
  gmtime_r(&file.st_mtime, &day);
  r->date = arena_format(a, "%04d-%02d-%02d %02d:%02d", day.tm_year + 1900, day.tm_mon + 1,
                         day.tm_mday, day.tm_hour, day.tm_min);
  r->machine = strcmp(text_at(info, "kind"), "machine") == 0;
  if (r->machine)
    read_checks(a, info, r);
  else
    read_measures(a, info, r), read_learners(a, r);
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

bool run_has(const RunInfo *r, const char *learner) {
  for (uint32_t i = 0; i < r->learner.n; i++)
    if (strcmp(r->learner.at[i], learner) == 0) return true;
  return false;
}

// -- printing -------------------------------------------------------------------------------------
static void print_check(const RunCheck *c, Buf *b) {
  buf_printf(b, "  %s %s : %s", c->holds ? "holds" : c->done ? "FAILS" : "open ", c->of, c->text);
  if (*c->figure) buf_printf(b, "   %s", c->figure);
  buf_char(b, '\n');
}

static void print_run(const RunInfo *r, Buf *b) {
  buf_printf(b, "%s: %s, %s, %s after %.0f steps, seed %.0f\n", r->dir, r->program, r->date,
             *r->state ? r->state : "unknown", r->steps, r->seed);
  if (r->measure.n) buf_text(b, "  ");
  for (uint32_t i = 0; i < r->measure.n; i++) {
    const RunMeasure *m = &r->measure.at[i];
    buf_printf(b, "%s%s ", i ? ", " : "", m->name);
    if (m->known)
      buf_printf(b, "%.4g", m->value);
    else
      buf_char(b, '?');
    if (*m->on) buf_printf(b, " on %s", m->on);
  }
  if (r->measure.n) buf_char(b, '\n');
  for (uint32_t i = 0; i < r->check.n; i++) print_check(&r->check.at[i], b);
  if (r->learner.n) buf_text(b, "  learners");
  for (uint32_t i = 0; i < r->learner.n; i++)
    buf_printf(b, "%s %s", i ? "," : "", r->learner.at[i]);
  if (r->learner.n) buf_char(b, '\n');
}

static void json_pair(Buf *b, const char *key, const char *text) {
  buf_printf(b, "\"%s\": ", key);
  buf_json(b, text, strlen(text));
  buf_text(b, ", ");
}

static void json_checks(const RunInfo *r, Buf *b) {
  buf_text(b, ", \"checks\": [");
  for (uint32_t i = 0; i < r->check.n; i++) {
    const RunCheck *c = &r->check.at[i];
    buf_text(b, i ? ", {" : "{");
    json_pair(b, "of", c->of);
    json_pair(b, "text", c->text);
    json_pair(b, "figure", c->figure);
    buf_printf(b, "\"holds\": %s}", c->holds ? "true" : c->done ? "false" : "null");
  }
  buf_char(b, ']');
}

static void json_run(const RunInfo *r, Buf *b) {
  buf_char(b, '{');
  json_pair(b, "dir", r->dir);
  json_pair(b, "program", r->program);
  json_pair(b, "date", r->date);
  json_pair(b, "state", r->state);
  json_pair(b, "kind", r->machine ? "machine" : "training");
  buf_printf(b, "\"steps\": %.0f, \"seed\": %.0f, \"measures\": {", r->steps, r->seed);
  for (uint32_t i = 0; i < r->measure.n; i++) {
    if (i) buf_text(b, ", ");
    buf_json(b, r->measure.at[i].name, strlen(r->measure.at[i].name));
    buf_text(b, ": ");
    Array one = {.count = 1, .data = (double[1]){r->measure.at[i].value}};
    if (r->measure.at[i].known)
      array_print(b, &one, true);
    else
      buf_text(b, "null");
  }
  buf_text(b, "}, \"learners\": [");
  for (uint32_t i = 0; i < r->learner.n; i++) {
    if (i) buf_text(b, ", ");
    buf_json(b, r->learner.at[i], strlen(r->learner.at[i]));
  }
  buf_char(b, ']');
  if (r->machine) json_checks(r, b);
  buf_char(b, '}');
}

void runs_print(const RunInfos *runs, bool json, Buf *b) {
  if (json) buf_char(b, '[');
  for (uint32_t i = 0; i < runs->n; i++) {
    if (json && i) buf_text(b, ", ");
    if (json)
      json_run(&runs->at[i], b);
    else
      print_run(&runs->at[i], b);
  }
  if (json) buf_char(b, ']');
}
