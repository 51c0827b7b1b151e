// pthread.h for a machine with one thread: none can be made, and nobody is waited for.
#ifndef LIMN_WASI_PTHREAD_H
#define LIMN_WASI_PTHREAD_H

#include <errno.h>
#include <time.h>

typedef int LimnWasiThread, LimnWasiLock;
#define pthread_t LimnWasiThread
#define pthread_mutex_t LimnWasiLock
#define pthread_cond_t LimnWasiLock
#define pthread_condattr_t LimnWasiLock
#define pthread_attr_t LimnWasiLock
#define PTHREAD_MUTEX_INITIALIZER 0

static inline int pthread_create(pthread_t *t, const void *how, void *(*call)(void *), void *with) {
  (void)t, (void)how, (void)call, (void)with;
  return ENOTSUP;
}
static inline int limn_wasi_nothing(const void *a, const void *b) {
  (void)a, (void)b;
  return 0;
}
#define pthread_attr_init(how) limn_wasi_nothing(how, NULL)
#define pthread_attr_destroy(how) limn_wasi_nothing(how, NULL)
#define pthread_attr_setstacksize(how, n) ((void)(n), limn_wasi_nothing(how, NULL))
#define pthread_join(t, result) ((void)(t), limn_wasi_nothing(NULL, result))
#define pthread_mutex_init(lock, how) limn_wasi_nothing(lock, how)
#define pthread_mutex_destroy(lock) limn_wasi_nothing(lock, NULL)
#define pthread_mutex_lock(lock) limn_wasi_nothing(lock, NULL)
#define pthread_mutex_unlock(lock) limn_wasi_nothing(lock, NULL)
#define pthread_cond_init(cond, how) limn_wasi_nothing(cond, how)
#define pthread_cond_destroy(cond) limn_wasi_nothing(cond, NULL)
#define pthread_cond_wait(cond, lock) limn_wasi_nothing(cond, lock)
#define pthread_cond_timedwait(cond, lock, until) ((void)(until), limn_wasi_nothing(cond, lock))
#define pthread_cond_broadcast(cond) limn_wasi_nothing(cond, NULL)
#define pthread_condattr_init(how) limn_wasi_nothing(how, NULL)
#define pthread_condattr_setclock(how, clock) ((void)(clock), limn_wasi_nothing(how, NULL))
#define pthread_condattr_destroy(how) limn_wasi_nothing(how, NULL)

#endif
