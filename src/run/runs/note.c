// run.json: the description of a run of any kind, written and read. It holds all that a report
// states in words, so the report can be made again from it.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/table.h"
#include "base/version.h"
#include "run/runs/runs.h"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_MOST = 1 << 24 }; // bytes of run.json, at most

void tell_line(const LimnTell *to, const char *text) {
  if (!to->line) return;
  if (to->redraw) to->redraw(to->context, "");
  to->line(to->context, text);
}

// -- writing --------------------------------------------------------------------------------------
static void put_machine(JsonOut *j) {
  struct utsname u;
  if (uname(&u) != 0) return;
  json_text(j, "system", u.sysname);
  json_text(j, "release", u.release);
  json_text(j, "machine", u.machine);
  json_number(j, "cores", os_cores());
}

static void put_date(JsonOut *j) {
  char text[40];
  time_t now = time(NULL);
  struct tm day;
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &day));
  json_text(j, "date", text);
}

static void put_measures(const RunNote *n, JsonOut *j) {
  json_list(j, "measures");
  for (uint32_t i = 0; i < n->measure.n; i++) {
    json_object(j, NULL);
    json_text(j, "name", n->measure.at[i].name);
    json_text(j, "on", n->measure.at[i].on);
    if (n->measure.at[i].known) json_bool(j, "up", n->measure.at[i].up);
    json_end(j);
  }
  json_end(j);
}

static void put_settings(const RunNote *n, JsonOut *j) {
  json_object(j, "settings");
  for (uint32_t i = 0; i < n->setting.n; i++)
    if (n->setting.at[i].known)
      json_number(j, n->setting.at[i].name, n->setting.at[i].value);
    else
      json_print(j, n->setting.at[i].name, "null");
  json_end(j);
}

void changes_print(const RunNote *n, JsonOut *j) {
  if (!n->change.n) return;
  json_list(j, "changes");
  for (uint32_t i = 0; i < n->change.n; i++) {
    json_object(j, NULL);
    json_number(j, "step", n->change.at[i].step);
    json_text(j, "what", n->change.at[i].what);
    json_number(j, "value", n->change.at[i].value);
    json_end(j);
  }
  json_end(j);
}

const char *change_text(Arena *a, const NoteChange *c) {
  return arena_format(a, "%s = %.10g from step %.0f on", c->what, c->value, c->step + 1);
}

static void put_runs(const RunNote *n, JsonOut *j) {
  json_list_lines(j, "runs");
  for (uint32_t i = 0; i < n->run.n; i++) {
    const NoteRun *run = &n->run.at[i];
    json_object(j, NULL);
    json_text(j, "name", run->name);
    json_text(j, "for", run->words);
    json_text(j, "file", run->file);
    json_number(j, "steps", run->steps);
    json_number(j, "moments", run->moments);
    json_number(j, "happened", run->happened);
    json_print(j, "seconds", "%.3f", run->seconds);
    if (run->reached > 0) json_number(j, "reached", run->reached);
    json_text(j, "state", run->state);
    json_end(j);
  }
  json_end(j);
}

const char *claim_text(Arena *a, const RunCheck *c) {
  if (!(c->within > 0)) return c->text;
  char *text = arena_format(a, "%s within %.10g", c->text, c->within);
  char *zero = strstr(text + strlen(c->text), "e-0");
  if (zero) memmove(zero + 2, zero + 3, strlen(zero + 3) + 1); // 1e-9, as in the program
  return text;
}

void check_print(const RunCheck *c, bool figure, JsonOut *j) {
  json_object(j, NULL);
  json_text(j, "of", c->of);
  json_text(j, "text", c->text);
  if (c->within > 0) json_print(j, "within", "%.10g", c->within);
  if (figure) json_text(j, "figure", c->figure);
  json_print(j, "holds", c->done ? c->holds ? "true" : "false" : "null");
  json_end(j);
}

static void put_checks(const RunNote *n, JsonOut *j) {
  json_list_lines(j, "checks");
  for (uint32_t i = 0; i < n->check.n; i++) check_print(&n->check.at[i], n->check.at[i].done, j);
  json_end(j);
}

void note_print(const RunNote *n, Buf *b) {
  JsonOut j = json_out(b);
  json_object_lines(&j, NULL);
  json_text(&j, "limn", LIMN_VERSION);
  json_text(&j, "build", build_id);
  if (n->machine) json_text(&j, "kind", "machine");
  json_text(&j, "program", n->program);
  json_text(&j, "set", n->set);
  json_number(&j, "seed", n->seed);
  if (!n->machine) json_number(&j, "batch", n->batch);
  if (n->precision) json_text(&j, "precision", n->precision);
  if (n->device)
    json_text(&j, "device", n->device),
        json_text(&j, "device_is", n->device_is ? n->device_is : "");
  json_number(&j, "threads", n->threads);
  if (n->engine) json_text(&j, "engine", n->engine);
  put_machine(&j);
  if (n->machine) put_date(&j);
  if (n->dir) json_text(&j, "dir", n->dir);
  json_text(&j, "state", n->state);
  json_number(&j, "steps", n->steps);
  json_print(&j, "seconds", "%.3f", n->seconds);
  if (n->has_best) json_number(&j, "best", n->best);
  if (n->has_best) json_number(&j, "best_step", n->best_step);
  if (n->message) json_text(&j, "message", n->message);
  if (n->machine)
    put_runs(n, &j), put_checks(n, &j);
  else
    put_measures(n, &j), put_settings(n, &j), changes_print(n, &j);
  if (n->hash) json_text(&j, "hash", n->hash);
  json_bool(&j, "finished", strcmp(n->state, "finished") == 0);
  json_end(&j);
  buf_char(b, '\n');
}

const char *note_write(Arena *a, const char *dir, const RunNote *n, Outcome *end) {
  Buf b = buf_new(a);
  note_print(n, &b);
  const char *why = file_write_in(a, dir, "run.json", b.at, b.n);
  if (!why) return NULL;
  *end = folder_outcome(a, dir, "run.json");
  return arena_format(a, "cannot write %s/run.json: %s", dir, why);
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

const char *note_text(const RunNote *n, const char *key) {
  const Json *x = json_get(n->json, key);
  return x && x->kind == JSON_TEXT ? x->text : NULL;
}

bool note_number(const RunNote *n, const char *key, double *out) {
  const Json *x = json_get(n->json, key);
  if (!x || x->kind != JSON_NUMBER) return false;
  return *out = x->number, true;
}

// The objects of a list; *n = 0 if it is missing or of another type.
static const Json *object_list(const Json *object, const char *key, uint32_t *n) {
  const Json *list = json_get(object, key);
  *n = list && list->kind == JSON_LIST ? list->n : 0;
  return *n ? json_first(list) : NULL;
}

// Measures are identified by name: those without a name, and duplicates, are skipped.
static void read_measures(Arena *a, RunNote *n) {
  uint32_t count;
  Table *before = table_new(a);
  const Json *one = object_list(n->json, "measures", &count);
  for (uint32_t i = 0; i < count; i++, one = json_next(one)) {
    const Json *up = json_get(one, "up");
    NoteMeasure m = {.name = text_at(one, "name"), .on = text_at(one, "on")};
    m.up = up && up->kind == JSON_TRUE;
    m.known = up != NULL;
    size_t length = strlen(m.name);
    if (!length || table_get(before, m.name, length)) continue;
    table_put(before, m.name, length, 1);
    vec_push(a, &n->measure, m);
  }
}

static void read_changes(Arena *a, RunNote *n) {
  uint32_t count;
  const Json *one = object_list(n->json, "changes", &count);
  for (uint32_t i = 0; i < count; i++, one = json_next(one)) {
    NoteChange c = {number_at(one, "step"), number_at(one, "value"), text_at(one, "what")};
    if (*c.what) vec_push(a, &n->change, c);
  }
}

static void read_runs(Arena *a, RunNote *n) {
  uint32_t count;
  const Json *one = object_list(n->json, "runs", &count);
  for (uint32_t i = 0; i < count; i++, one = json_next(one)) {
    NoteRun run = {.name = text_at(one, "name"), .state = text_at(one, "state")};
    run.steps = number_at(one, "steps");
    run.moments = number_at(one, "moments");
    run.seconds = number_at(one, "seconds");
    run.reached = number_at(one, "reached");
    vec_push(a, &n->run, run);
  }
}

static void read_checks(Arena *a, RunNote *n) {
  uint32_t count;
  const Json *one = object_list(n->json, "checks", &count);
  for (uint32_t i = 0; i < count; i++, one = json_next(one)) {
    const Json *holds = json_get(one, "holds");
    RunCheck c = {
        text_at(one, "of"),      text_at(one, "text"), text_at(one, "figure"), false, false,
        number_at(one, "within")};
    c.holds = holds && holds->kind == JSON_TRUE;
    c.done = c.holds || (holds && holds->kind == JSON_FALSE);
    vec_push(a, &n->check, c);
  }
}

bool note_read(Arena *a, const char *dir, RunNote *n, const char **error) {
  const char *path = arena_format(a, "%s/run.json", dir), *why = "";
  const char *wrong = file_check_in(a, dir, "run.json");
  if (wrong) return file_error(a, error, "cannot read %s: %s", path, wrong);
  FileText file = file_read(a, path, NOTE_MOST);
  if (!file.text) return file_error(a, error, "cannot read %s: %s", path, file.error);
  const Json *j = json_read(a, file.text, file.n, &why);
  if (!j || j->kind != JSON_OBJECT)
    return file_error(a, error, "%s: %s", path, j ? "found no object, wanted one" : why);
  *n = (RunNote){.json = j,
                 .machine = strcmp(text_at(j, "kind"), "machine") == 0,
                 .program = text_at(j, "program"),
                 .set = text_at(j, "set"),
                 .state = text_at(j, "state"),
                 .seed = number_at(j, "seed"),
                 .threads = number_at(j, "threads"),
                 .steps = number_at(j, "steps"),
                 .seconds = number_at(j, "seconds"),
                 .batch = number_at(j, "batch")};
  n->message = note_text(n, "message");
  n->device = note_text(n, "device");
  n->device_is = note_text(n, "device_is");
  n->precision = note_text(n, "precision");
  if (n->machine)
    read_runs(a, n), read_checks(a, n);
  else
    read_measures(a, n), read_changes(a, n);
  return true;
}
