// A kernel without Landlock, for LD_PRELOAD: what is called by its number is not there.
#include <errno.h>
long syscall(long number, ...);
long syscall(long number, ...) {
  (void)number;
  errno = ENOSYS;
  return -1;
}
