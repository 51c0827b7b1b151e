// The progress of runs: state, metrics and shows, read from their folders; active runs are polled
// once a second.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/within.h"
#include "studio/runs.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANGES_LIMIT = 1 << 20, METRICS_LIMIT = 256 << 20, ROWS_AT_ONCE = 20000, METRICS_OWN = 3 };
static const double REPORT_PAUSE = 5; // seconds between two pictures of an active run

// -- metrics.csv ----------------------------------------------------------------------------------
typedef VEC(const char *) CsvNames;
typedef struct {
  const char *at, *end; // after the header line
  CsvNames name;
} MetricsText;

// The next cell of a CSV row; *at moves after its comma.
static const char *next_cell(Arena *a, const char **at, const char *end) {
  Buf b = buf_new(a);
  const char *p = *at;
  bool quoted = p < end && *p == '"';
  if (quoted) p++;
  for (; p < end; p++) {
    if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
      p++;
    else if (quoted && *p == '"')
      quoted = false, p++;
    if (p >= end || (!quoted && (*p == ',' || *p == '\n' || *p == '\r'))) break;
    buf_char(&b, *p);
  }
  *at = p < end && *p == ',' ? p + 1 : p;
  return b.at;
}

static bool read_metrics(Studio *s, Arena *a, const char *dir, MetricsText *m) {
  FileText f = file_read_in(a, s->folder, arena_format(a, "%s/metrics.csv", dir), METRICS_LIMIT);
  *m = (MetricsText){.at = f.text, .end = f.text ? f.text + f.n : NULL};
  if (!f.text) return false;
  while (m->end > m->at && m->end[-1] != '\n') m->end--; // drops a row that is still being written
  while (m->at < m->end && *m->at != '\n' && *m->at != '\r') {
    const char *before = m->at, *cell = next_cell(a, &m->at, m->end);
    vec_push(a, &m->name, cell);
    if (m->at == before) break;
  }
  while (m->at < m->end && (*m->at == '\n' || *m->at == '\r')) m->at++;
  return true;
}

static const char *line_end(const char *at, const char *end) {
  const char *found = memchr(at, '\n', (size_t)(end - at));
  return found ? found : end;
}

static void add_row(JsonOut *j, const char *at, const char *end) {
  json_list(j, NULL);
  while (at <= end) {
    const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end, *behind;
    double x = at < stop ? number_read(at, &behind) : NAN;
    json_number(j, NULL, at < stop && behind > at && behind <= stop ? x : NAN);
    at = stop + 1;
  }
  json_end(j);
}

void host_metrics(HostCall *c) {
  const char *dir = run_asked(c);
  double since = json_get_number(c->params, "since", 0);
  MetricsText m;
  if (!dir) return;
  read_metrics(c->studio, c->arena, dir, &m);
  double row = 0, first = since > 0 ? floor(since) : 0;
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_list(&j, "names");
  for (uint32_t i = 0; i < m.name.n; i++) json_text(&j, NULL, m.name.at[i]);
  json_end(&j);
  json_list(&j, "rows");
  for (; m.at < m.end && row < first + ROWS_AT_ONCE; row++) {
    const char *end = line_end(m.at, m.end);
    if (row >= first) add_row(&j, m.at, end);
    m.at = end + 1;
  }
  json_end(&j);
  json_number(&j, "next", row);
  json_bool(&j, "more", m.at < m.end);
  json_end(&j);
  host_done(c);
}

// -- all runs -------------------------------------------------------------------------------------
static bool is_measure(const Json *note, const char *name) {
  const Json *list = json_get(note, "measures");
  for (const Json *one = json_items(list); one; one = json_after(list, one)) {
    const char *own = json_get_text(one, "name");
    if (own && strcmp(own, name) == 0) return true;
  }
  return false;
}

// The number in a column of the row from `at` to `end`; false: there is none.
static bool number_in_row(const char *at, const char *end, uint32_t column, double *x) {
  const char *behind = at;
  for (; column && at; column--) {
    at = memchr(at, ',', (size_t)(end - at));
    if (at) at++;
  }
  bool any = at && at < end && *at != ',';
  *x = any ? number_read(at, &behind) : NAN;
  return any && behind > at;
}

// The row before `end`.
static const char *row_before(const MetricsText *m, const char *end) {
  for (end--; end > m->at && end[-1] != '\n';) end--;
  return end;
}

// The last value of each column that has one; measures are listed apart from losses.
static void add_numbers(JsonOut *j, const RunNow *r, const MetricsText *m, bool measures) {
  json_object(j, measures ? "measures" : "losses");
  for (uint32_t i = METRICS_OWN; i < m->name.n; i++) {
    if (strchr(m->name.at[i], '[') || is_measure(r->note, m->name.at[i]) != measures) continue;
    double x;
    bool known = false;
    const char *end = m->end, *at;
    for (uint32_t back = 0; !known && back < 5000 && end > m->at; back++, end = at)
      at = row_before(m, end), known = number_in_row(at, end - 1, i, &x);
    if (known) json_number(j, m->name.at[i], x);
  }
  json_end(j);
}

// The last row's value in a fixed column; NAN: none.
static double last_cell(const MetricsText *m, uint32_t column) {
  double x = NAN;
  if (m->at < m->end) number_in_row(row_before(m, m->end), m->end - 1, column, &x);
  return x;
}

// The settings that can be changed during training, and the changes made so far with their steps.
static void add_settings(JsonOut *j, const RunNow *r) {
  const Json *all = json_get(r->note, "settings");
  json_object(j, "settings");
  for (const Json *key = json_keys(all); key; key = json_after(all, key))
    json_number(j, key->text, key[1].kind == JSON_NUMBER ? key[1].number : NAN);
  json_end(j);
}

static void add_changes(HostCall *c, JsonOut *j, const char *dir) {
  const char *error = "";
  FileText f = file_read_in(c->arena, c->studio->folder,
                            arena_format(c->arena, "%s/changes.csv", dir), CHANGES_LIMIT);
  View text = {(const uint8_t *)f.text, f.text ? f.n : 0};
  CsvCursor row = csv_begin(c->arena, &text, &error);
  json_list(j, "changes");
  while (csv_row(&row)) {
    CsvCell cell[3] = {0}, one;
    uint32_t n = 0;
    double step = NAN, value = NAN;
    size_t length;
    do {
      if (!csv_cell(&row, &one)) break;
      if (n < COUNT(cell)) cell[n++] = one;
    } while (csv_more(&row));
    if (n < COUNT(cell) || !csv_number(&cell[0], &step) || !csv_number(&cell[2], &value)) continue;
    json_object(j, NULL);
    json_number(j, "step", step);
    json_text(j, "what", csv_text(c->arena, &cell[1], &length));
    json_number(j, "value", value);
    json_end(j);
  }
  json_end(j);
}

// What is known of every run: its state, and the step at which it is.
static void add_progress(JsonOut *j, const RunNow *r, const MetricsText *m) {
  double step = last_cell(m, 0);
  json_text(j, "state", run_state_word[r->state]);
  if (r->state == RUN_FAILED && r->wrong) json_text(j, "message", r->wrong);
  json_number(j, "step", isnan(step) ? json_get_number(r->note, "steps", 0) : step);
  json_number(j, "steps",
              json_get_number(r->report, "steps", json_get_number(r->note, "steps", NAN)));
}

static void add_run(HostCall *c, JsonOut *j, const char *dir) {
  RunNow r = run_now(c->studio, c->arena, dir);
  MetricsText m;
  read_metrics(c->studio, c->arena, dir, &m);
  json_object(j, NULL);
  json_text(j, "run", dir);
  json_text_or_null(j, "program", json_get_text(r.note, "program"));
  json_text(j, "kind", json_get(r.note, "checks") ? "machine" : "training");
  add_progress(j, &r, &m);
  json_number(j, "epoch", last_cell(&m, 1));
  json_number(j, "seconds", last_cell(&m, 2));
  json_number(j, "rate", json_get_number(r.report, "step_rate", NAN));
  add_numbers(j, &r, &m, false);
  add_numbers(j, &r, &m, true);
  add_settings(j, &r);
  add_changes(c, j, dir);
  json_end(j);
}

void host_runs(HostCall *c) {
  FolderNames names = {0};
  disk_lock(c);
  run_names(c->studio, c->arena, &names);
  JsonOut j = host_result(c);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < names.n; i++) add_run(c, &j, names.at[i]);
  json_end(&j);
  host_done(c);
  disk_unlock(c);
}

// -- shows of a run -------------------------------------------------------------------------------
// Pictures are named 01-confusion-guess-x.svg: a number and the show.
static const char *caption_of(Arena *a, const char *name) {
  size_t n = strlen(name) - strlen(".svg"), at = strspn(name, "0123456789");
  char *text = arena_text(a, name + at, n - at);
  for (char *p = text; *p; p++)
    if (*p == '-') *p = ' ';
  return *text == ' ' ? text + 1 : text;
}

// The state that pages were told of a run; NULL: too many runs.
static StudioRun *watched_run(Studio *s, const char *dir) {
  for (uint32_t i = 0; i < s->runs; i++)
    if (strcmp(s->run[i].dir, dir) == 0) return &s->run[i];
  if (s->runs == STUDIO_RUNS || strlen(dir) >= sizeof s->run[0].dir) return NULL;
  StudioRun *r = &s->run[s->runs++];
  *r = (StudioRun){.state = -1};
  snprintf(r->dir, sizeof r->dir, "%s", dir);
  return r;
}

static int64_t time_of(HostCall *c, const char *dir, const char *name) {
  struct stat info;
  const char *path = arena_format(c->arena, "%s/%s/%s", c->studio->folder, dir, name);
  return stat(path, &info) ? 0 : (int64_t)info.st_mtime;
}

// The pictures of a run are drawn when it ends. For an active run they are drawn on request, from
// the last checkpoint, and are seen by the next request.
static void draw_shown(HostCall *c, const char *dir) {
  StudioRun *r = watched_run(c->studio, dir);
  int64_t saved = time_of(c, dir, "model.safetensors"), drawn = time_of(c, dir, "report.html");
  bool late = saved && saved > drawn && r && !r->reporter;
  if (!late || clock_seconds() - r->reported < REPORT_PAUSE) return;
  RunNow now = run_now(c->studio, c->arena, dir);
  if (now.state != RUN_RUNNING && now.state != RUN_PAUSED && now.state != RUN_STOPPED) return;
  r->reported = clock_seconds();
  r->reporter = report_begin(c, &now);
}

void host_shown(HostCall *c) {
  const char *dir = run_asked(c);
  FolderNames names = {0};
  if (!dir) return;
  disk_lock(c);
  draw_shown(c, dir);
  disk_unlock(c);
  folder_names(c->arena, arena_format(c->arena, "%s/%s/shown", c->studio->folder, dir), &names);
  JsonOut j = host_result(c);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < names.n; i++) {
    const char *file = arena_format(c->arena, "%s/shown/%s", dir, names.at[i]);
    if (!text_ends(file, ".svg") || file_check_in(c->arena, c->studio->folder, file)) continue;
    json_object(&j, NULL);
    json_text(&j, "name", names.at[i]);
    json_text(&j, "file", file);
    json_text(&j, "caption", caption_of(c->arena, names.at[i]));
    json_end(&j);
  }
  json_end(&j);
  host_done(c);
}

// -- told -----------------------------------------------------------------------------------------
// Forgets ended processes: their runs are no longer starting.
static void drop_children(Studio *s) {
  for (uint32_t i = 0; i < s->children;)
    if (waitpid(s->child[i].pid, NULL, WNOHANG) != 0)
      s->child[i] = s->child[--s->children];
    else
      i++;
}

static void send_run(Studio *s, Arena *a, const RunNow *now, double rows) {
  MetricsText m;
  Buf b = buf_new(a);
  JsonOut j = studio_notify(&b, "host/run");
  read_metrics(s, a, now->dir, &m);
  json_object(&j, NULL);
  json_text(&j, "run", now->dir);
  add_progress(&j, now, &m);
  json_number(&j, "row", rows);
  json_end(&j);
  studio_send(s, NULL, &b);
}

static double count_rows(Studio *s, Arena *a, const char *dir) {
  MetricsText m;
  double n = 0;
  read_metrics(s, a, dir, &m);
  for (const char *at = m.at; at && at < m.end; at = line_end(at, m.end) + 1) n++;
  return n;
}

static bool is_child(const Studio *s, int pid) {
  for (uint32_t i = 0; i < s->children; i++)
    if (s->child[i].pid == pid) return true;
  return false;
}

// Inactive runs: only the sizes of two files are polled, which every activity changes.
static void poll_run(Studio *s, Arena *a, const char *dir) {
  StudioRun *r = watched_run(s, dir);
  struct stat info;
  if (!r) return;
  int64_t size =
      stat(arena_format(a, "%s/%s/metrics.csv", s->folder, dir), &info) ? 0 : (int64_t)info.st_size;
  int64_t note =
      stat(arena_format(a, "%s/%s/run.json", s->folder, dir), &info) ? 0 : (int64_t)info.st_mtime;
  bool rests = r->state >= RUN_PAUSED && size == r->size && note == r->note;
  bool first = r->state < 0, drawn = false;
  for (uint32_t i = 0; rests && i < s->children; i++) rests = strcmp(s->child[i].dir, dir) != 0;
  if (r->reporter && !is_child(s, r->reporter)) r->reporter = 0, drawn = true;
  if (rests && !drawn) return;
  RunNow now = run_now(s, a, dir);
  bool other = (int)now.state != r->state || size != r->size || drawn;
  r->state = (int)now.state;
  r->size = size;
  r->note = note;
  if (other && !(first && now.state >= RUN_PAUSED)) send_run(s, a, &now, count_rows(s, a, dir));
}

void runs_tick(Studio *s) {
  Arena *a = arena_new();
  Guard g;
  FolderNames names = {0};
  if (!a) return;
  pthread_mutex_lock(&s->disk);
  drop_children(s);
  if (GUARDED(a, &g)) {
    run_names(s, a, &names);
    for (uint32_t i = 0; i < names.n; i++) {
      Arena *own = arena_child(a);
      poll_run(s, own, names.at[i]);
      arena_free(own);
    }
    guard_leave(&g);
  }
  pthread_mutex_unlock(&s->disk);
  arena_free(a);
}
