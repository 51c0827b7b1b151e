// Training runs as processes: this executable is started again in its own process group, so that a
// run survives the server. Its output is written to DIR/said.jsonl. It is paused by SIGINT, on
// which it saves and stops, and resumed by `limn train --resume`.
//
// The server only remembers processes that it has just started. The state of a run follows from its
// folder:
//
//   lock held                 running
//   started, no lock yet      starting
//   run.json says finished    finished
//   the output has an error   failed
//   no run.json               failed before the first step
//   DIR/over exists           stopped; it can be resumed
//   otherwise                 paused, or killed
#define _DEFAULT_SOURCE
#include "studio/runs.h"
#include "base/files.h"
#include "base/json_write.h"
#include "base/within.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;
const char *const run_state_word[] = {"starting", "running",  "paused",
                                      "stopped",  "finished", "failed"};
enum { SAID_LIMIT = 64 << 20, NOTE_LIMIT = 4 << 20, OPTIONS_LIMIT = 40 };
static const char SAID[] = "said.jsonl", OVER[] = "over";

static const char *run_file_path(const Studio *s, Arena *a, const char *dir, const char *name) {
  return arena_format(a, "%s/%s/%s", s->folder, dir, name);
}

// The process that holds the lock of a folder; 0: none.
static pid_t lock_holder(const Studio *s, Arena *a, const char *dir) {
  char text[24] = "";
  int fd = open(run_file_path(s, a, dir, "lock"), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ssize_t n = held ? read(fd, text, sizeof text - 1) : 0;
  close(fd);
  long pid = n > 0 ? strtol(text, NULL, 10) : 0;
  return held && pid > 1 && pid < INT32_MAX ? (pid_t)pid : 0;
}

static const Json *read_note(const Studio *s, Arena *a, const char *dir) {
  const char *error;
  FileText f = file_read_in(a, s->folder, arena_format(a, "%s/run.json", dir), NOTE_LIMIT);
  const Json *j = f.text ? json_read(a, f.text, f.n, &error) : NULL;
  return j && j->kind == JSON_OBJECT ? j : NULL;
}

// Interprets a JSON line of the process; true: it reports a step.
static bool read_progress_line(const Json *j, bool last, RunNow *r) {
  const char *text = json_get_text(json_items(json_get(j, "messages")), "message");
  if (last && json_get_number(j, "errors", 0) > 0)
    r->wrong = text ? text : "it ended with an error";
  if (json_get(j, "step")) r->report = j;
  return r->report;
}

// Scans the output backwards, line by line. The last object may be an error.
static void read_progress(const Studio *s, Arena *a, RunNow *r) {
  const char *error;
  FileText f = file_read_in(a, s->folder, arena_format(a, "%s/%s", r->dir, SAID), SAID_LIMIT);
  size_t at = f.text ? f.n : 0, end = at;
  bool last = true;
  for (uint32_t lines = 0; at && lines < 400; lines++) {
    at--;
    while (at && f.text[at - 1] != '\n') at--;
    if (f.text[at] != '{') continue;
    const Json *j = json_read(a, f.text + at, end - at, &error);
    end = at;
    if (!j || j->kind != JSON_OBJECT) continue;
    if (read_progress_line(j, last, r)) return;
    last = false;
  }
}

// The first line that is no JSON: why a process failed before its first step.
static const char *first_plain_line(const Studio *s, Arena *a, const char *dir) {
  FileText f = file_read_in(a, s->folder, arena_format(a, "%s/%s", dir, SAID), SAID_LIMIT);
  for (size_t at = 0; f.text && at < f.n;) {
    const char *line = f.text + at, *end = memchr(line, '\n', f.n - at);
    size_t n = end ? (size_t)(end - line) : f.n - at;
    if (n && !strchr("{}[] \t\r", *line)) return text_shown(a, line, n);
    at += n + 1;
  }
  return "it ended before its first step, and said nothing";
}

static bool note_says(const RunNow *r, const char *state) {
  const char *is = json_get_text(r->note, "state");
  return is && strcmp(is, state) == 0;
}

static pid_t begun_for(const Studio *s, const char *dir) {
  for (uint32_t i = 0; i < s->children; i++)
    if (strcmp(s->child[i].dir, dir) == 0) return s->child[i].pid;
  return 0;
}

RunNow run_now(Studio *s, Arena *a, const char *dir) {
  RunNow r = {.dir = dir, .pid = lock_holder(s, a, dir)};
  bool held = r.pid != 0;
  r.note = read_note(s, a, dir);
  read_progress(s, a, &r);
  if (!held) r.pid = begun_for(s, dir);
  if (held)
    r.state = RUN_RUNNING;
  else if (r.pid)
    r.state = RUN_STARTING;
  else if (note_says(&r, "finished"))
    r.state = RUN_FINISHED;
  else if (!r.note && !r.report) {
    r.state = RUN_FAILED;
    if (!r.wrong) r.wrong = first_plain_line(s, a, dir);
  } else if (r.wrong || note_says(&r, "failed") || note_says(&r, "not finite"))
    r.state = RUN_FAILED;
  else
    r.state = path_exists(run_file_path(s, a, dir, OVER)) ? RUN_STOPPED : RUN_PAUSED;
  return r;
}

bool run_is_one(Studio *s, Arena *a, const char *dir) {
  return !file_check_in(a, s->folder, arena_format(a, "%s/run.json", dir)) ||
         !file_check_in(a, s->folder, arena_format(a, "%s/%s", dir, SAID));
}

void run_names(Studio *s, Arena *a, FolderNames *out) {
  FolderNames names = {0};
  struct stat info;
  const char *runs = arena_format(a, "%s/runs", s->folder);
  if (lstat(runs, &info) != 0 || !S_ISDIR(info.st_mode)) return;
  folder_names(a, runs, &names);
  for (uint32_t i = 0; i < names.n; i++) {
    const char *dir = arena_format(a, "runs/%s", names.at[i]);
    if (!name_refuse(dir) && run_is_one(s, a, dir)) vec_push(a, out, dir);
  }
}

// -- a process ------------------------------------------------------------------------------------
typedef struct {
  char *at[256]; // more than all arguments that can be given; terminated by NULL
  uint32_t n;
} RunArguments;

static void add_argument(HostCall *c, RunArguments *w, const char *text) {
  w->at[w->n++] = arena_text(c->arena, text, strlen(text));
}

// Starts a process in its own group, which outlives the server. Returns 0 or errno.
static int start_process(const Studio *s, RunArguments *w, int said, pid_t *child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t usual;
  int why = posix_spawn_file_actions_init(&files);
  if (why) return why;
  why = posix_spawnattr_init(&how);
  if (why) {
    posix_spawn_file_actions_destroy(&files);
    return why;
  }
  sigemptyset(&usual);
  posix_spawnattr_setsigmask(&how, &usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, said, 1);
  posix_spawn_file_actions_adddup2(&files, said, 2);
  why = posix_spawnp(child, s->limn, &files, &how, w->at, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return why;
}

static void remember_child(Studio *s, pid_t pid, const char *dir) {
  StudioChild *at = &s->child[s->children++];
  at->pid = pid;
  snprintf(at->dir, sizeof at->dir, "%s", dir);
}

// False: refused.
static bool start_run(HostCall *c, RunArguments *w, const char *dir) {
  Studio *s = c->studio;
  int said;
  pid_t child;
  const char *wrong =
      s->children == STUDIO_CHILDREN ? "too many runs are under way"
      : strlen(dir) >= sizeof s->child[0].dir
          ? "its path is too long"
          : file_append_in(c->arena, s->folder, arena_format(c->arena, "%s/%s", dir, SAID), &said);
  if (!wrong) {
    int why = start_process(s, w, said, &child);
    close(said);
    if (why)
      wrong = arena_format(c->arena, "%s cannot be started: %s", s->limn, os_error(c->arena, why));
  }
  if (wrong) {
    host_refuse(c, "cannot train in %s: %s", dir, wrong);
    return false;
  }
  remember_child(s, child, dir);
  return true;
}

// -- options --------------------------------------------------------------------------------------
// The values of options; numbers are checked against the limits of `limn train` before a process
// starts.
static const struct {
  const char *name;
  JsonKind kind;      // JSON_TRUE: an option without a value
  double least, most; // limits of integers; 0, 0: any positive number
} options[] = {{"epochs", JSON_NUMBER, 0, 0},     {"steps", JSON_NUMBER, 0, 0},
               {"batch", JSON_NUMBER, 1, 1e9},    {"seed", JSON_NUMBER, 0, 9e15},
               {"threads", JSON_NUMBER, 0, 4096}, {"precision", JSON_TEXT, 0, 0},
               {"every", JSON_TEXT, 0, 0},        {"pause", JSON_NUMBER, 1, 1e12},
               {"reference", JSON_TRUE, 0, 0},    {"plain", JSON_TRUE, 0, 0},
               {"sandbox", JSON_TRUE, 0, 0},      {"device", JSON_TEXT, 0, 0}};

// False: refused.
static bool fits_number(HostCall *c, uint32_t i, const Json *j) {
  Buf found = buf_new(c->arena);
  double least = options[i].least, most = options[i].most, x = j->number;
  bool whole_one = most > 0, number = j->kind == JSON_NUMBER;
  if (number && (whole_one ? floor(x) == x && x >= least && x <= most : x > 0 && x <= 1e12))
    return true;
  if (number)
    buf_number(&found, x);
  else
    buf_text(&found, j->kind == JSON_TEXT ? text_shown(c->arena, j->text, j->n) : "that");
  if (whole_one)
    host_refuse(c, "`%s` wants a whole number from %.0f to %.0f, not %s", options[i].name, least,
                most, found.at);
  else
    host_refuse(c, "`%s` wants a number above 0, and at most 1000000000000, not %s",
                options[i].name, found.at);
  return false;
}

// The value as an argument; NULL: not a value.
static const char *value_argument(HostCall *c, const Json *j) {
  Buf b = buf_new(c->arena);
  if (j->kind == JSON_TEXT && strlen(j->text) == j->n) return j->text;
  if (j->kind != JSON_NUMBER) return NULL;
  if (j->natural && j->number < 9e15)
    buf_printf(&b, "%.0f", j->number);
  else
    buf_number(&b, j->number);
  return b.at;
}

static bool add_set_options(HostCall *c, RunArguments *w, const Json *set) {
  bool good = set->kind == JSON_OBJECT && set->n <= OPTIONS_LIMIT / 2;
  for (const Json *key = json_keys(set); good && key; key = json_after(set, key)) {
    const char *value = value_argument(c, key + 1);
    good = value && strlen(key->text) == key->n;
    if (!good) break;
    add_argument(c, w, "--set");
    add_argument(c, w, arena_format(c->arena, "%s=%s", key->text, value));
  }
  if (!good) host_refuse(c, "`set` is an object of at most 20 names with numbers or texts");
  return good;
}

static bool add_option(HostCall *c, RunArguments *w, const char *name, const Json *value) {
  if (strcmp(name, "set") == 0) return add_set_options(c, w, value);
  for (uint32_t i = 0; i < COUNT(options); i++) {
    if (strcmp(options[i].name, name)) continue;
    bool flag = options[i].kind == JSON_TRUE;
    if (value->kind == JSON_NULL || (flag && value->kind == JSON_FALSE)) return true;
    if (options[i].kind == JSON_NUMBER && !fits_number(c, i, value)) return false;
    const char *text = flag ? value->kind == JSON_TRUE ? "" : NULL : value_argument(c, value);
    if (!text) break;
    add_argument(c, w, arena_format(c->arena, "--%s", name));
    if (!flag) add_argument(c, w, text);
    return true;
  }
  host_refuse(c, "`%s` is no option of training, or not of this kind",
              text_shown(c->arena, name, strlen(name)));
  return false;
}

static bool add_options(HostCall *c, RunArguments *w) {
  const Json *all = json_get(c->params, "options");
  if (!all || all->kind == JSON_NULL) return true;
  if (all->kind != JSON_OBJECT || all->n > COUNT(options) + 1) {
    host_refuse(c, "`options` is an object: what `limn train` has, by name");
    return false;
  }
  if (json_get(all, "epochs") && json_get(all, "steps")) {
    host_refuse(c, "`epochs` or `steps` is wanted, not both");
    return false;
  }
  for (const Json *key = json_keys(all); key; key = json_after(all, key))
    if (!add_option(c, w, key->text, key + 1)) return false;
  return true;
}

// -- requests -------------------------------------------------------------------------------------
void run_done(HostCall *c, const char *dir) { host_answer(c, "run", dir); }

static RunArguments first_arguments(HostCall *c, const char *command) {
  RunArguments w = {.n = 0};
  add_argument(c, &w, c->studio->limn);
  add_argument(c, &w, command);
  add_argument(c, &w, "--json");
  for (uint32_t i = 0; c->studio->read[i]; i++) {
    add_argument(c, &w, "--read");
    add_argument(c, &w, c->studio->read[i]);
  }
  return w;
}

// The next free folder: the library names and creates it.
static const char *new_folder(HostCall *c, const char *path) {
  Limn *l = host_handle(c);
  const char *dir = NULL;
  if (l && limn_run_folder(l, path, NULL, &dir) == LIMN_GOOD)
    dir = arena_text(c->arena, dir, strlen(dir));
  else
    host_refuse(c, "%s", first_error(l));
  return dir;
}

void host_train(HostCall *c) {
  const char *path = host_path(c, "path");
  RunArguments w = first_arguments(c, "train");
  if (!path || !add_options(c, &w)) return;
  const char *wrong = file_check_in(c->arena, c->studio->folder, path);
  if (wrong) {
    host_refuse(c, "cannot train %s: %s", path, wrong);
    return;
  }
  disk_lock(c);
  const char *dir = new_folder(c, path);
  if (dir) {
    add_argument(c, &w, "--out");
    add_argument(c, &w, dir);
    add_argument(c, &w, "--");
    add_argument(c, &w, path);
    if (start_run(c, &w, dir)) run_done(c, dir);
  }
  disk_unlock(c);
}

const char *run_asked(HostCall *c) {
  const char *dir = host_path(c, "run");
  if (!dir || run_is_one(c->studio, c->arena, dir)) return dir;
  host_refuse(c, "%s is no run: there is no run.json in it", dir);
  return NULL;
}

void host_pause(HostCall *c) {
  const char *dir = run_asked(c);
  if (!dir) return;
  disk_lock(c);
  RunNow now = run_now(c->studio, c->arena, dir);
  if (!now.pid)
    host_refuse(c, "%s is not under way: it is %s", dir, run_state_word[now.state]);
  else if (now.state == RUN_STARTING)
    host_refuse(c, "%s is still starting: from its first step on it can be paused", dir);
  else if (kill(now.pid, SIGINT) != 0)
    host_refuse(c, "%s cannot be paused: %s", dir, os_error(c->arena, errno));
  else
    run_done(c, dir);
  disk_unlock(c);
}

void host_stop(HostCall *c) {
  const char *dir = run_asked(c);
  if (!dir) return;
  disk_lock(c);
  RunNow now = run_now(c->studio, c->arena, dir);
  const char *over = arena_format(c->arena, "%s/%s", dir, OVER);
  bool ended = now.state == RUN_FINISHED || now.state == RUN_FAILED;
  const char *wrong = ended ? arena_format(c->arena, "it is %s", run_state_word[now.state])
                            : file_write_in(c->arena, c->studio->folder, over, "", 0);
  if (!wrong && now.pid && kill(now.pid, SIGINT) != 0) wrong = os_error(c->arena, errno);
  if (wrong)
    host_refuse(c, "%s cannot be stopped: %s", dir, wrong);
  else
    run_done(c, dir);
  disk_unlock(c);
}

// Writes the request; the run applies it and records the step.
void host_change(HostCall *c) {
  const char *dir = run_asked(c), *what = json_get_text(c->params, "what");
  const Json *value = dir ? json_get(c->params, "value") : NULL;
  if (!dir) return;
  if (!what || !value || value->kind != JSON_NUMBER) {
    host_refuse(c, "`what` is wanted, a name of `settings`, and a number as its `value`");
    return;
  }
  Limn *l = host_handle(c);
  const char *path = arena_format(c->arena, "%s/%s", c->studio->folder, dir);
  disk_lock(c);
  RunNow now = run_now(c->studio, c->arena, dir);
  if (now.pid && !now.note)
    host_refuse(c, "%s is %s: what can be changed is known when it has begun", dir,
                run_state_word[now.state]);
  else if (l && limn_change(l, path, what, value->number) == LIMN_GOOD)
    run_done(c, dir);
  else
    host_refuse(c, "%s", first_error(l));
  disk_unlock(c);
}

const char *run_program(HostCall *c, const RunNow *r) {
  const char *name = json_get_text(r->note, "program");
  if (name && !name_refuse(name) && !file_check_in(c->arena, c->studio->folder, name)) return name;
  return arena_format(c->arena, "%s/program.limn", r->dir);
}

int report_begin(HostCall *c, const RunNow *r) {
  RunArguments w = first_arguments(c, "report");
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  pid_t child = 0;
  add_argument(c, &w, "--from");
  add_argument(c, &w, r->dir);
  add_argument(c, &w, "--");
  add_argument(c, &w, run_program(c, r));
  bool begun = nowhere >= 0 && c->studio->children < STUDIO_CHILDREN &&
               !start_process(c->studio, &w, nowhere, &child);
  if (nowhere >= 0) close(nowhere);
  if (begun) remember_child(c->studio, child, "");
  return begun ? (int)child : 0;
}

static bool used_interpreter(const RunNow *r) {
  static const char says[] = "the reference interpreter";
  const char *engine = json_get_text(r->note, "engine");
  return engine && strncmp(engine, says, sizeof says - 1) == 0;
}

void host_resume(HostCall *c) {
  const char *dir = run_asked(c);
  RunArguments w = first_arguments(c, "train");
  if (!dir || !add_options(c, &w)) return;
  disk_lock(c);
  RunNow now = run_now(c->studio, c->arena, dir);
  if (now.pid) {
    host_refuse(c, "%s is under way: it is %s", dir, run_state_word[now.state]);
  } else {
    unlink(run_file_path(c->studio, c->arena, dir, OVER));
    if (used_interpreter(&now)) add_argument(c, &w, "--reference"); // continues bit for bit
    add_argument(c, &w, "--resume");
    add_argument(c, &w, dir);
    add_argument(c, &w, "--");
    add_argument(c, &w, run_program(c, &now));
    if (start_run(c, &w, dir)) run_done(c, dir);
  }
  disk_unlock(c);
}
