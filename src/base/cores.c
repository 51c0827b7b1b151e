// The cores this process may use. A file of its own: _GNU_SOURCE changes what strerror_r returns in os.c.
#define _GNU_SOURCE // sched_getaffinity
#include "base/base.h"
#include "base/files.h"

#include <sched.h>
#include <unistd.h>

uint32_t os_cores(void) {
#ifdef CPU_COUNT
  cpu_set_t set; // fails on machines with more than 1024 cores
  if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0)
    return (uint32_t)CPU_COUNT(&set);
#endif
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : (uint32_t)n;
}
