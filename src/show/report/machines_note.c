// run.json of a run of machines: the program, the machine it ran on, every run with its steps,
// every check with what was found. It says all that the page says in words, so the page can be made
// anew.
#define _DEFAULT_SOURCE
#include "show/report/machines_own.h"

#include <time.h>

// -- writing --------------------------------------------------------------------------------------
static void pair_text(Buf *b, const char *before, const char *key, const char *value) {
  buf_printf(b, "%s\"%s\": ", before, key);
  buf_json(b, value, strlen(value));
}

static void pair_number(Buf *b, const char *before, const char *key, double value) {
  buf_printf(b, "%s\"%s\": ", before, key);
  buf_number(b, value);
}

static void put_date(Buf *b) {
  time_t now = time(NULL);
  struct tm day;
  gmtime_r(&now, &day);
  buf_printf(b, ",\n  \"date\": \"%04d-%02d-%02dT%02d:%02d:%02dZ\"", day.tm_year + 1900,
             day.tm_mon + 1, day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec);
}

static void put_run(Buf *b, const RanRun *run, bool first) {
  buf_text(b, first ? "\n    {" : ",\n    {");
  pair_text(b, "", "name", run->name);
  pair_text(b, ", ", "for", run->words);
  pair_text(b, ", ", "file", run->file);
  pair_number(b, ", ", "steps", (double)run->record.steps);
  pair_number(b, ", ", "moments", run->record.time.n);
  pair_number(b, ", ", "happened", run->record.happening.n);
  buf_printf(b, ", \"seconds\": %.3f", run->seconds);
  pair_text(b, ", ", "state",
            run->failed    ? "failed"
            : run->stopped ? "stopped"
            : run->done    ? "finished"
                           : "not begun");
  buf_char(b, '}');
}

static void put_check(Buf *b, const RanCheck *c, bool first) {
  buf_text(b, first ? "\n    {" : ",\n    {");
  pair_text(b, "", "of", c->of);
  pair_text(b, ", ", "text", c->text);
  if (c->done) pair_text(b, ", ", "figure", c->figure);
  buf_printf(b, ", \"holds\": %s}", c->done ? c->holds ? "true" : "false" : "null");
}

void note_text(const Results *r, Buf *b) {
  double steps = 0;
  Buf settings = buf_new(r->arena);
  elab_settings(r->in, &settings);
  for (uint32_t i = 0; i < r->run.n; i++) steps += (double)r->run.at[i].record.steps;
  pair_text(b, "{\n  ", "limn", LIMN_VERSION);
  pair_text(b, ",\n  ", "kind", "machine");
  pair_text(b, ",\n  ", "program", r->path);
  pair_text(b, ",\n  ", "set", settings.at);
  pair_number(b, ",\n  ", "seed", r->seed);
  pair_number(b, ",\n  ", "threads", r->threads);
  note_machine(b);
  put_date(b);
  if (r->dir) pair_text(b, ",\n  ", "dir", r->dir);
  pair_text(b, ",\n  ", "state", r->state);
  pair_number(b, ",\n  ", "steps", steps);
  buf_printf(b, ",\n  \"seconds\": %.3f", r->seconds);
  if (r->why) pair_text(b, ",\n  ", "message", r->why);
  buf_text(b, ",\n  \"runs\": [");
  for (uint32_t i = 0; i < r->run.n; i++) put_run(b, &r->run.at[i], i == 0);
  buf_text(b, r->run.n ? "\n  ],\n  \"checks\": [" : "],\n  \"checks\": [");
  for (uint32_t i = 0; i < r->check.n; i++) put_check(b, &r->check.at[i], i == 0);
  buf_text(b, r->check.n ? "\n  ]" : "]");
  buf_printf(b, ",\n  \"finished\": %s\n}\n", strcmp(r->state, "finished") == 0 ? "true" : "false");
}

bool note_write(const Results *r, const char **error) {
  Buf b = buf_new(r->arena);
  note_text(r, &b);
  const char *path = arena_format(r->arena, "%s/run.json", r->dir);
  const char *why = file_write(r->arena, path, b.at, b.n);
  return !why || file_error(r->arena, error, "cannot write %s: %s", path, why);
}

// -- reading --------------------------------------------------------------------------------------
static const char *text_at(const Json *object, const char *key) {
  const Json *x = json_get(object, key);
  return x && x->kind == JSON_TEXT ? x->text : "";
}

static double number_at(const Json *object, const char *key) {
  const Json *x = json_get(object, key);
  return x && x->kind == JSON_NUMBER ? x->number : 0;
}

static void read_run(const Json *from, RanRun *run) {
  const char *state = text_at(from, "state");
  double steps = number_at(from, "steps");
  run->done = strcmp(state, "not begun") != 0;
  run->stopped = strcmp(state, "stopped") == 0;
  run->failed = strcmp(state, "failed") == 0;
  if (run->failed) run->done = number_at(from, "moments") > 0;
  run->seconds = number_at(from, "seconds");
  run->record.steps = steps > 0 && steps < 1e18 ? (uint64_t)steps : 0;
}

// A check is known by what it says: it may stand elsewhere in the program.
static void read_check(const Results *r, const Json *from) {
  const Json *holds = json_get(from, "holds");
  for (uint32_t i = 0; i < r->check.n; i++) {
    RanCheck *c = &r->check.at[i];
    if (c->done || strcmp(c->text, text_at(from, "text")) != 0 ||
        strcmp(c->of, text_at(from, "of")) != 0)
      continue;
    c->done = holds && (holds->kind == JSON_TRUE || holds->kind == JSON_FALSE);
    c->holds = holds && holds->kind == JSON_TRUE;
    c->figure = text_at(from, "figure");
    return;
  }
}

static bool read_runs(Results *r, const Json *list, const char **error) {
  const Json *one = list && list->kind == JSON_LIST ? json_first(list) : NULL;
  uint32_t n = one ? list->n : 0;
  for (uint32_t i = 0; i < r->run.n; i++, one = json_next(one)) {
    if (i == n || strcmp(text_at(one, "name"), r->run.at[i].name) != 0)
      return file_error(r->arena, error,
                        "%s was made by another program: it has no run %u called `%s`", r->dir,
                        i + 1, r->run.at[i].name);
    read_run(one, &r->run.at[i]);
  }
  return true;
}

bool note_read(Results *r, const char **error) {
  const char *path = arena_format(r->arena, "%s/run.json", r->dir), *why;
  FileText file = file_read(r->arena, path, NOTE_MOST);
  if (!file.text) return file_error(r->arena, error, "cannot read %s: %s", path, file.error);
  const Json *j = json_read(r->arena, file.text, file.n, &why);
  if (!j || j->kind != JSON_OBJECT)
    return file_error(r->arena, error, "%s: %s", path, j ? "found no object, wanted one" : why);
  r->state = text_at(j, "state");
  r->seed = number_at(j, "seed");
  if (json_get(j, "message")) r->why = text_at(j, "message");
  r->threads = number_at(j, "threads");
  r->seconds = number_at(j, "seconds");
  if (!read_runs(r, json_get(j, "runs"), error)) return false;
  const Json *checks = json_get(j, "checks");
  const Json *one = checks && checks->kind == JSON_LIST ? json_first(checks) : NULL;
  for (uint32_t i = 0; one && i < checks->n; i++, one = json_next(one)) read_check(r, one);
  return true;
}
