// What WASI's C library does not declare and limn calls; included before every file. There is one
// user, and rights are not looked at. It includes nothing: who comes after it says which names it wants.
#ifndef LIMN_WASI_LACKS_H
#define LIMN_WASI_LACKS_H

static inline unsigned getuid(void) { return 0; }
static inline unsigned geteuid(void) { return 0; }
static inline int chmod(const char *path, unsigned mode) {
  (void)path, (void)mode;
  return 0;
}
static inline int fchmod(int fd, unsigned mode) {
  (void)fd, (void)mode;
  return 0;
}
char *realpath(const char *path, char *to); // lacks.c
int kill(int pid, int signal);              // lacks.c

#endif
