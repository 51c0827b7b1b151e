// A wish to stop, which a signal handler or another thread has: who works looks at it now and then. It is
// written and read as one, so that two threads may; nothing else is ordered by it.
#ifndef LIMN_BASE_STOP_H
#define LIMN_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

static inline bool stop_asked(const volatile sig_atomic_t *stop) { // NULL: nobody can ask
  return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

static inline void stop_ask(volatile sig_atomic_t *stop, int why) { // 0: not any more
  __atomic_store_n(stop, why, __ATOMIC_RELAXED);
}

#endif
