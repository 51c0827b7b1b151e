// The run folder: found or made, locked for as long as the run lasts, and described in run.json.
// Two trainers never share one: the lock is the operating system's, so it goes when its holder
// does, however that ends.
#define _DEFAULT_SOURCE
#include "run/train/train_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 20 };

const char *folder_path(const Trainer *t, const char *name) {
  return arena_format(t->arena, "%s/%s", t->dir, name);
}

const char *folder_make(Arena *a, const char *path) {
  char *part = arena_text(a, path, strlen(path));
  for (char *p = part + 1;; p++) {
    if (*p && *p != '/') continue;
    char end = *p;
    *p = 0;
    if (mkdir(part, 0777) != 0 && errno != EEXIST) return arena_format(a, "%s", strerror(errno));
    if (!end) return NULL;
    *p = end;
  }
}

static bool exists(const Trainer *t, const char *name) {
  return access(folder_path(t, name), F_OK) == 0;
}

// -- which folder ---------------------------------------------------------------------------------
static const char *default_name(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  return arena_format(a, "runs/%.*s", (int)n, base);
}

const char *folder_next(Arena *a, const char *program, const char **dir) {
  const char *name = default_name(a, program), *why = folder_make(a, "runs");
  *dir = name;
  for (uint32_t k = 2; !why && mkdir(*dir, 0777) != 0; k++) {
    if (errno != EEXIST) why = strerror(errno);
    if (!why) *dir = arena_format(a, "%s.%u", name, k);
  }
  return why;
}

static bool make_next(Trainer *t) {
  const char *why = folder_next(t->arena, t->path, &t->dir);
  return why ? train_refuse(t, LIMN_SYSTEM, "cannot make the folder %s: %s", t->dir, why) : true;
}

bool folder_taken(Arena *a, const char *dir) {
  return path_exists(arena_format(a, "%s/state.safetensors", dir)) ||
         path_exists(arena_format(a, "%s/run.json", dir));
}

static bool make_named(Trainer *t) {
  t->dir = t->o->out;
  const char *why = folder_make(t->arena, t->dir);
  if (why) return train_refuse(t, LIMN_SYSTEM, "cannot make the folder %s: %s", t->dir, why);
  if (!folder_taken(t->arena, t->dir)) return true;
  return train_refuse(t, LIMN_WRONG,
                      "%s holds a run already: go on with --resume %s, or name another folder",
                      t->dir, t->dir);
}

static bool is_empty(const char *path) {
  DIR *d = opendir(path);
  uint32_t n = 0;
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n <= 2;
}

// A run that was killed before its first checkpoint has nothing to go on with, and begins anew.
static bool find_old(Trainer *t) {
  struct stat info;
  t->dir = t->o->resume;
  if (stat(t->dir, &info) != 0)
    return train_refuse(t, LIMN_WRONG, "cannot resume %s: %s", t->dir, strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return train_refuse(t, LIMN_WRONG, "cannot resume %s: it is no folder", t->dir);
  if (exists(t, "lock") || exists(t, "state.safetensors") || is_empty(t->dir)) return true;
  return train_refuse(t, LIMN_WRONG, "%s holds no run: there is no state.safetensors in it",
                      t->dir);
}

// A run that was just killed may hold its lock until the disk has answered it.
static bool lock_soon(int fd) {
  for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || tries == LOCK_TRIES) return false;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  return true;
}

static bool take_lock(Trainer *t) {
  const char *path = folder_path(t, "lock");
  t->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (t->lock < 0)
    return train_refuse(t, LIMN_SYSTEM, "cannot write %s: %s", path, strerror(errno));
  if (!lock_soon(t->lock)) {
    int why = errno;
    close(t->lock);
    t->lock = -1;
    if (why == EWOULDBLOCK)
      return train_refuse(t, LIMN_WRONG, "another run is under way in %s", t->dir);
    return train_refuse(t, LIMN_SYSTEM, "cannot lock %s: %s", path, strerror(why));
  }
  const char *who = arena_format(t->arena, "%ld\n", (long)getpid());
  if (ftruncate(t->lock, 0) != 0 || write(t->lock, who, strlen(who)) < 0) errno = 0; // only a note
  return true;
}

// What a killed run was writing.
static void sweep(Trainer *t) {
  FolderNames names = {0};
  folder_names(t->arena, t->dir, &names);
  for (uint32_t i = 0; i < names.n; i++) {
    size_t n = strlen(names.at[i]);
    if (n > 5 && strcmp(names.at[i] + n - 5, ".part") == 0) unlink(folder_path(t, names.at[i]));
  }
}

bool folder_open(Trainer *t) {
  bool found = t->o->resume ? find_old(t) : t->o->out ? make_named(t) : make_next(t);
  if (!found || !take_lock(t)) return false;
  sweep(t);
  return true;
}

void folder_close(Trainer *t) {
  if (t->lock >= 0) close(t->lock);
  t->lock = -1;
}

// -- run.json -------------------------------------------------------------------------------------
static void pair_text(Buf *b, const char *key, const char *value) {
  buf_printf(b, ",\n  \"%s\": ", key);
  buf_json(b, value, strlen(value));
}

static void pair_number(Buf *b, const char *key, double value) {
  buf_printf(b, ",\n  \"%s\": ", key);
  buf_number(b, value);
}

void note_machine(Buf *b) {
  struct utsname u;
  if (uname(&u) != 0) return;
  pair_text(b, "system", u.sysname);
  pair_text(b, "release", u.release);
  pair_text(b, "machine", u.machine);
  pair_number(b, "cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
}

// Which columns of metrics.csv are measures, where each is measured, and which should rise.
static void note_measures(Trainer *t, Buf *b) {
  buf_text(b, ",\n  \"measures\": [");
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    const Gauge *g = &t->gauge.at[i];
    buf_text(b, i ? ", {\"name\": " : "{\"name\": ");
    buf_json(b, g->label, strlen(g->label));
    buf_text(b, ", \"on\": ");
    buf_json(b, g->where, strlen(g->where));
    buf_printf(b, ", \"up\": %s}", g->up ? "true" : "false");
  }
  buf_char(b, ']');
}

void folder_note(Trainer *t, const char *how) {
  if (!t->dir) return;
  static const char *const precision[] = {"32", "64", "bf16"};
  Buf b = buf_new(t->arena);
  buf_text(&b, "{\n  \"limn\": ");
  buf_json(&b, LIMN_VERSION, strlen(LIMN_VERSION));
  pair_text(&b, "program", t->path);
  Buf settings = buf_new(t->arena);
  elab_settings(t->in, &settings);
  pair_text(&b, "set", settings.at);
  pair_number(&b, "seed", (double)t->seed);
  pair_number(&b, "batch", (double)t->batch);
  pair_text(&b, "precision", precision[t->precision]);
  pair_number(&b, "threads", t->o->threads);
  pair_text(&b, "engine", t->regime.step.n ? engine_says(t->engine[0]) : "");
  note_machine(&b);
  pair_text(&b, "state", how);
  pair_number(&b, "steps", (double)(t->base + t->step));
  pair_number(&b, "seconds", trainer_seconds(t));
  if (t->has_best) {
    pair_number(&b, "best", t->best);
    pair_number(&b, "best_step", (double)t->best_step);
  }
  note_measures(t, &b);
  if (strcmp(how, "running") != 0)
    pair_text(&b, "hash",
              arena_format(t->arena, "%016llx", (unsigned long long)store_hash(t->store)));
  buf_printf(&b, ",\n  \"finished\": %s\n}\n", strcmp(how, "finished") == 0 ? "true" : "false");
  const char *why = file_write(t->arena, folder_path(t, "run.json"), b.at, b.n);
  if (why) tell_wrong(t, "cannot write %s: %s", folder_path(t, "run.json"), why);
}
