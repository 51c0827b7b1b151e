// A line between two threads: a list under a lock, and a wait that ends with the time or with the line.
#define _POSIX_C_SOURCE 200809L
#include "line/line.h"
#include "base/stop.h"

#include <time.h>

void line_open(Line *l) {
  *l = (Line){.first = NULL};
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->came, NULL);
  l->last = &l->first;
}

void line_close(Line *l) {
  pthread_mutex_destroy(&l->lock);
  pthread_cond_destroy(&l->came);
}

bool line_put(Line *l, Waiting *one, bool first) {
  pthread_mutex_lock(&l->lock);
  bool open = !l->ends;
  one->next = NULL;
  if (open && first) {
    one->next = l->first;
    if (!l->first) l->last = &one->next;
    l->first = one;
  } else if (open) {
    *l->last = one;
    l->last = &one->next;
  }
  stop_ask(&l->stop, 1);
  pthread_cond_signal(&l->came);
  pthread_mutex_unlock(&l->lock);
  return open;
}

bool line_waits(const Line *l) { return stop_asked(&l->stop); }

void line_finish(Line *l, bool at_once) {
  pthread_mutex_lock(&l->lock);
  l->ends = true;
  l->at_once = at_once;
  if (at_once) stop_ask(&l->stop, 1);
  pthread_cond_signal(&l->came);
  pthread_mutex_unlock(&l->lock);
}

static struct timespec after(int milliseconds) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += milliseconds / 1000;
  t.tv_nsec += (milliseconds % 1000) * 1000000L;
  if (t.tv_nsec >= 1000000000L) t.tv_sec++, t.tv_nsec -= 1000000000L;
  return t;
}

Waiting *line_take(Line *l, int wait, bool *over) {
  struct timespec until = after(wait < 0 ? 0 : wait);
  int late = 0;
  pthread_mutex_lock(&l->lock);
  while (!l->first && !l->ends && !late)
    late = wait < 0 ? pthread_cond_wait(&l->came, &l->lock)
                    : pthread_cond_timedwait(&l->came, &l->lock, &until);
  Waiting *one = l->first;
  if (one) l->first = one->next;
  if (!l->first) l->last = &l->first, stop_ask(&l->stop, l->at_once);
  *over = !one && l->ends;
  pthread_mutex_unlock(&l->lock);
  return one;
}
