// A stop request by a signal handler or another thread, polled by long computations. Accesses are
// atomic and relaxed: no other memory is ordered by them.
#ifndef LIMN_BASE_STOP_H
#define LIMN_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool stop_asked(const volatile sig_atomic_t *stop) { // NULL: cannot be stopped
  return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

static inline void stop_ask(volatile sig_atomic_t *stop, int why) { // 0 cancels the request
  __atomic_store_n(stop, why, __ATOMIC_RELAXED);
}

#endif
