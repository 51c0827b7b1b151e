// Starts compilers by execve, never by a shell, and waits for them.
//
// A compiler inherits one pipe for its output, default signal handlers, and the environment variables
// that compilers need. All compilers are in one process group, led by a watcher process that reads a pipe
// held open by limn: when limn ends for any reason, the read ends, and the watcher kills the group. At the
// time limit, or when all compilers have ended, limn kills the group, with any grandchildren.
//
// The end of a compiler is polled every few milliseconds, so a grandchild that holds a pipe open blocks
// nothing.
#define _GNU_SOURCE
#include "run/engine/c/compiler.h"
#include "base/files.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

enum { MOST_VARIABLES = 256, FEW_MS = 10, MOST_DESCRIPTORS = 65536 };

extern char **environ;

// -- the child's environment ----------------------------------------------------------------------
// The search path, the compiler's own folders, and variables of wrappers (ccache, Nix). Other variables
// could change what is compiled or where output is written.
static bool passes_variable(const char *variable) {
  static const char *const whole[] = {
      "PATH",          "HOME",    "LD_LIBRARY_PATH", "GCC_EXEC_PREFIX",
      "COMPILER_PATH", "SDKROOT", "DEVELOPER_DIR"};
  size_t n = strcspn(variable, "=");
  for (uint32_t i = 0; i < COUNT(whole); i++)
    if (strlen(whole[i]) == n && !memcmp(variable, whole[i], n)) return true;
  return !strncmp(variable, "CCACHE_", 7) || !strncmp(variable, "NIX_", 4);
}

static char **environment(Arena *a, const char *folder) {
  char **out = NEW_ARRAY(a, char *, MOST_VARIABLES + 4);
  uint32_t n = 0;
  for (char **at = environ; at && *at && n < MOST_VARIABLES; at++)
    if (passes_variable(*at)) out[n++] = *at;
  if (!getenv("PATH")) out[n++] = arena_format(a, "PATH=/usr/local/bin:/usr/bin:/bin");
  out[n++] = arena_format(a, "TMPDIR=%s", folder);
  out[n++] = arena_format(a, "LC_ALL=C");
  return out;
}

// From here to the end of `start`, a child calls async-signal-safe functions only, because it was forked
// from a process with threads.
static void close_from(int low) {
#if defined __linux__ && defined SYS_close_range
  if (!syscall(SYS_close_range, (unsigned)low, ~0U, 0)) return;
#endif
  struct rlimit r;
  int high = getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur > MOST_DESCRIPTORS ? MOST_DESCRIPTORS
                                                                           : (int)r.rlim_cur;
  for (int fd = low; fd < high; fd++) close(fd);
}

static void reset_signals(void) {
  sigset_t none;
  for (int s = 1; s < 32; s++)
    if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

static void become_compiler(const char *const *argument, char **variables, int says, pid_t group) {
  setpgid(0, group);
  reset_signals();
  int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(says, 1) < 0 || dup2(says, 2) < 0) _exit(127);
  close_from(3);
  umask(077);
  execve(argument[0], (char *const *)argument, variables);
  _exit(127);
}

static void become_watcher(int life) {
  char end;
  setpgid(0, 0);
  reset_signals();
  for (int s = 1; s < 32; s++) // signals of the terminal (Ctrl-C) must not end it
    if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_IGN);
  if (dup2(life, 0) < 0) _exit(1);
  close_from(1);
  while (read(0, &end, 1) < 0 && errno == EINTR) continue;
  kill(0, SIGKILL);
  _exit(0);
}

// -- pipes and processes --------------------------------------------------------------------------
// A pipe with descriptors of at least 3, because standard streams may be closed. False: no pipe is left.
static bool open_pipe(int end[2]) {
  int made[2];
  if (pipe(made)) return false;
  for (int i = 0; i < 2; i++) {
    end[i] = fcntl(made[i], F_DUPFD_CLOEXEC, 3);
    close(made[i]);
  }
  if (end[0] >= 0 && end[1] >= 0) return true;
  for (int i = 0; i < 2; i++)
    if (end[i] >= 0) close(end[i]);
  return false;
}

static pid_t start_watcher(int *life) {
  int end[2];
  if (!open_pipe(end)) return -1;
  pid_t watcher = fork();
  if (watcher == 0) {
    close(end[1]);
    become_watcher(end[0]);
  }
  close(end[0]);
  if (watcher < 0)
    close(end[1]);
  else
    setpgid(watcher, watcher); // also called by the child: either may run first
  *life = end[1];
  return watcher;
}

static bool start(CompilerRun *r, char **variables, pid_t group) {
  int end[2];
  if (!open_pipe(end)) return false;
  fcntl(end[0], F_SETFL, O_NONBLOCK);
  pid_t child = fork();
  if (child == 0) become_compiler(r->argument, variables, end[1], group);
  close(end[1]);
  if (child < 0) {
    close(end[0]);
    return false;
  }
  setpgid(child, group);
  r->process = child;
  r->output_fd = end[0];
  return true;
}

// Reads output, and keeps its first OUTPUT_BYTES. False: the pipe is at its end.
static bool read_output(CompilerRun *r) {
  char bytes[4096];
  ssize_t n = read(r->output_fd, bytes, sizeof bytes);
  for (ssize_t i = 0; i < n && r->output_bytes + 1 < OUTPUT_BYTES; i++)
    r->output[r->output_bytes++] = bytes[i];
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void close_output(CompilerRun *r) {
  if (r->output_fd >= 0) close(r->output_fd);
  r->output_fd = -1;
}

// The process has ended. If the host program reaps all children, the status is lost: the process counts
// as succeeded, and loading its output file tells.
static bool has_ended(CompilerRun *r) {
  int status = 0;
  pid_t got = waitpid((pid_t)r->process, &status, WNOHANG);
  if (!got || (got < 0 && errno == EINTR)) return false;
  r->succeeded = got < 0 || (WIFEXITED(status) && !WEXITSTATUS(status));
  if (r->output_fd >= 0) read_output(r);
  close_output(r);
  r->process = 0;
  return true;
}

// Waits a few milliseconds, or until there is output.
static void poll_outputs(CompilerRun *r, uint32_t first, uint32_t n) {
  struct pollfd at[64];
  uint32_t which[64], m = 0;
  for (uint32_t i = first; i < n && m < COUNT(at); i++)
    if (r[i].process && r[i].output_fd >= 0)
      at[m] = (struct pollfd){.fd = r[i].output_fd, .events = POLLIN}, which[m++] = i;
  poll(at, m, FEW_MS);
  for (uint32_t i = 0; i < m; i++)
    if (at[i].revents && !read_output(&r[which[i]])) close_output(&r[which[i]]);
}

static CompilerEnd run_all(CompilerRun *r, uint32_t n, const CompilerLimits *how, char **variables,
                           pid_t group) {
  double begun = clock_seconds();
  bool said = false;
  uint32_t started = 0, running = 0;
  for (uint32_t done = 0; done < n;) {
    while (started < n && running < how->parallel) {
      if (!start(&r[started], variables, group)) return COMPILER_NOT_STARTED;
      started++, running++;
    }
    poll_outputs(r, 0, started);
    for (uint32_t i = 0; i < started; i++)
      if (r[i].process && has_ended(&r[i])) {
        done++, running--;
        if (!r[i].succeeded) return COMPILER_DONE; // one failure fails the step
      }
    if (done < n && stop_asked(how->stop)) return COMPILER_STOPPED;
    double passed = clock_seconds() - begun;
    if (done < n && how->seconds > 0 && passed > how->seconds) return COMPILER_SLOW;
    if (done < n && !said && passed > how->say_after) {
      if (how->say) how->say(how->say_to);
      said = true;
    }
  }
  return COMPILER_DONE;
}

CompilerEnd compiler_run(Arena *a, CompilerRun *r, uint32_t n, const CompilerLimits *how) {
  int life;
  char **variables = environment(a, how->folder);
  for (uint32_t i = 0; i < n; i++) r[i].output_fd = -1;
  pid_t watcher = start_watcher(&life);
  if (watcher < 0) return COMPILER_NOT_STARTED;
  CompilerEnd end = run_all(r, n, how, variables, watcher);
  kill(-watcher, SIGKILL);
  close(life);
  for (uint32_t i = 0; i < n; i++) {
    if (r[i].process)
      while (waitpid((pid_t)r[i].process, NULL, 0) < 0 && errno == EINTR) continue;
    close_output(&r[i]);
  }
  while (waitpid(watcher, NULL, 0) < 0 && errno == EINTR) continue;
  return end;
}
