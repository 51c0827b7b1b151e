// The lifetime of the studio: choosing the folder and the token, printing the address, serving
// until interrupted. Pending writes are completed; runs continue on their own.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/stop.h"
#include "base/within.h"
#include "studio/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t interrupted; // set by the signal handler

static void interrupt(int signal) {
  (void)signal;
  stop_ask(&interrupted, 1);
}

static void install_handlers(void) {
  struct sigaction act = {.sa_handler = interrupt}, ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&act.sa_mask);
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGINT, &act, NULL);
  sigaction(SIGTERM, &act, NULL);
  sigaction(SIGHUP, &act, NULL);
  sigaction(SIGPIPE, &ignore, NULL);
}

// -- the folder -----------------------------------------------------------------------------------
static bool report_path_error(const char *path, const char *why) {
  fprintf(stderr, "limn studio: cannot open %s: %s\n", path, why);
  return false;
}

// A folder; or a program, which is created if missing, and its folder.
static bool find_folder(Studio *s, const char *path) {
  Arena *a = s->arena;
  const char *name = NULL, *folder = path ? path : ".";
  if (path && !path_is_folder(path)) folder = path_folder(a, path, &name);
  if (name && !text_ends(name, ".limn"))
    return report_path_error(path, "a program (NAME.limn) or a folder is wanted");
  s->folder = path_real(a, folder);
  if (!s->folder) return report_path_error(folder, os_error(a, errno));
  if (strcmp(s->folder, "/") == 0)
    return report_path_error("/", "a folder below it is wanted, not the whole disk");
  if (!name) return true;
  const char *why = name_refuse(name);
  bool there = path_exists(path);
  if (!why && !there) why = file_write_in(a, s->folder, name, "", 0);
  if (!why && there) why = file_check_in(a, s->folder, name);
  s->open = name;
  return why ? report_path_error(path, why) : true;
}

// The path of this executable, searched in PATH if needed.
static const char *own_program(Arena *a, const char *called) {
  static const char itself[] = "/proc/self/exe";
  char path[4096];
  ssize_t n = readlink(itself, path, sizeof path - 1);
  if (n > 0) return arena_text(a, path, (size_t)n);
  return strchr(called, '/') ? path_real(a, called) : arena_text(a, called, strlen(called));
}

// -- a browser ------------------------------------------------------------------------------------
static void open_browser(const char *address) {
#ifdef __APPLE__
  char program[] = "open";
#else
  char program[] = "xdg-open";
#endif
  char *copy = strdup(address);
  char *const args[] = {program, copy, NULL};
  posix_spawn_file_actions_t files;
  pid_t child;
  if (!copy || posix_spawn_file_actions_init(&files)) {
    free(copy);
    return;
  }
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  if (posix_spawnp(&child, program, &files, NULL, args, environ))
    fputs("limn studio: no browser was found: the address is to be opened by hand\n", stderr);
  posix_spawn_file_actions_destroy(&files);
  free(copy);
}

// -- serving --------------------------------------------------------------------------------------
static void wait_a_moment(long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
}

static void serve_until_interrupted(Studio *s) {
  for (uint32_t k = 0; !stop_asked(&interrupted); k++) {
    wait_a_moment(200);
    watch_tick(s);
    if (k % 5) continue;
    http_tick(s);
    sessions_tick(s);
    runs_tick(s);
  }
}

static bool still_works(Studio *s) {
  pthread_mutex_lock(&s->lock);
  bool works = s->working > 0;
  pthread_mutex_unlock(&s->lock);
  return works;
}

static void end_studio(Studio *s) {
  sessions_end(s);
  for (int k = 0; k < 100 && still_works(s); k++) wait_a_moment(50);
  http_close(s);
}

// Makes paths absolute: the process changes to the served folder, and so do processes that it
// starts.
static void prepare(Studio *s, StudioHow *how) {
  s->port = how->port;
  s->limn = own_program(s->arena, how->limn);
  how->read[how->nread < how->room - 2 ? how->nread : how->room - 2] = s->folder;
  how->read[how->nread < how->room - 2 ? how->nread + 1 : how->room - 1] = NULL;
  for (uint32_t i = 0; how->read[i]; i++) {
    const char *real = path_real(s->arena, how->read[i]);
    if (real) how->read[i] = real;
  }
  s->read = how->read;
  pthread_mutex_init(&s->lock, NULL);
  pthread_mutex_init(&s->disk, NULL);
  watch_open(s);
}

// Paths of the environment are those of the folder where the studio was started: below the served
// folder they would name what somebody else has put there.
static void settle_paths(Arena *a) {
  static const char *const name[] = {"LIMN_DATA", "XDG_DATA_HOME", "LIMN_READ", "LIMN_CACHE"};
  const char *here = path_real(a, ".");
  for (uint32_t i = 0; here && i < COUNT(name); i++) {
    bool list = strcmp(name[i], "LIMN_READ") == 0;
    const char *at = getenv(name[i]);
    if (!at || !*at) continue;
    Buf b = buf_new(a);
    for (size_t n; *at; at += n) {
      n = list ? strcspn(at, ":") : strlen(at);
      if (n && *at != '/') buf_printf(&b, "%s/", here);
      buf_printf(&b, "%.*s", (int)n, at);
      if (at[n]) buf_char(&b, ':'), at++;
    }
    setenv(name[i], b.at, 1);
  }
}

static int begin(Studio *s, StudioHow *how) {
  if (!find_folder(s, how->path)) return LIMN_WRONG;
  settle_paths(s->arena);
  prepare(s, how);
  if (!random_letters(s->token, STUDIO_TOKEN)) {
    fputs("limn studio: the system gives no random numbers (/dev/urandom)\n", stderr);
    return LIMN_SYSTEM;
  }
  install_handlers();
  if (chdir(s->folder) != 0) {
    report_path_error(s->folder, os_error(s->arena, errno));
    return LIMN_SYSTEM;
  }
  if (!http_open(s)) return LIMN_SYSTEM;
  const char *address = arena_format(s->arena, "http://127.0.0.1:%u/?token=%s", s->port, s->token);
  printf("%s\n", address);
  fflush(stdout);
  if (!how->no_browser) open_browser(address);
  return LIMN_GOOD;
}

int studio_serve(StudioHow *how) {
  Arena *a = arena_new();
  Guard g;
  if (!a || !GUARDED(a, &g)) {
    fputs("limn studio: memory is exhausted\n", stderr);
    return LIMN_SYSTEM;
  }
  Studio *s = NEW(a, Studio);
  s->arena = a;
  int status = begin(s, how);
  guard_leave(&g);
  if (!status)
    serve_until_interrupted(s), end_studio(s); // other threads may still use the memory
  else
    arena_free(a);
  return status;
}
