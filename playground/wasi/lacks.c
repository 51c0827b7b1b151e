// What WASI's C library does not have and limn calls. There are no links, so realpath is the path from
// the root, without `.` and `..`; nobody else has a file, so a lock is there at once.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// Nobody else is there, and what was written before this page was opened is of nobody.
int kill(int pid, int signal) {
  (void)pid, (void)signal;
  errno = ESRCH;
  return -1;
}

// One part is put behind those that are there already. False: there is no room.
static int add_part(char *to, size_t *n, const char *part, size_t length) {
  if (!length || (length == 1 && part[0] == '.')) return 1;
  if (length == 2 && part[0] == '.' && part[1] == '.') {
    while (*n && to[--*n] != '/') continue;
    return 1;
  }
  if (*n + 1 + length >= PATH_MAX) return 0;
  to[(*n)++] = '/';
  memcpy(to + *n, part, length);
  *n += length;
  return 1;
}

static int add_parts(char *to, size_t *n, const char *path) {
  for (size_t length; *path; path += length + (path[length] == '/')) {
    length = strcspn(path, "/");
    if (!add_part(to, n, path, length)) return 0;
  }
  return 1;
}

char *realpath(const char *path, char *to) {
  char here[PATH_MAX], made[PATH_MAX];
  size_t n = 0;
  if (path[0] != '/' && (!getcwd(here, sizeof here) || !add_parts(made, &n, here))) return NULL;
  if (!add_parts(made, &n, path)) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  if (!n) made[n++] = '/';
  made[n] = 0;
  if (access(made, F_OK)) return NULL;
  if (!to) to = malloc(n + 1);
  return to ? memcpy(to, made, n + 1) : NULL;
}

int flock(int fd, int how) {
  (void)fd, (void)how;
  return 0;
}

// Debian's compiler library was made with guards on the stack.
uintptr_t __stack_chk_guard = 0x5afec0de;
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { abort(); }
