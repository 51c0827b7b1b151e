// A queue between two threads: a linked list with a mutex and a condition variable.
#define _POSIX_C_SOURCE 200809L
#include "rpc/queue.h"
#include "base/stop.h"

#include <time.h>

void queue_open(MessageQueue *q) {
  *q = (MessageQueue){.first = NULL};
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->changed, NULL);
  q->last = &q->first;
}

void queue_close(MessageQueue *q) {
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->changed);
}

bool queue_put(MessageQueue *q, QueueItem *item, bool first) {
  pthread_mutex_lock(&q->lock);
  bool open = !q->ended;
  item->next = NULL;
  if (open && first) {
    item->next = q->first;
    if (!q->first) q->last = &item->next;
    q->first = item;
  } else if (open) {
    *q->last = item;
    q->last = &item->next;
  }
  stop_ask(&q->stop, 1);
  pthread_cond_signal(&q->changed);
  pthread_mutex_unlock(&q->lock);
  return open;
}

bool queue_waiting(const MessageQueue *q) { return stop_asked(&q->stop); }

void queue_finish(MessageQueue *q, bool at_once) {
  pthread_mutex_lock(&q->lock);
  q->ended = true;
  q->at_once = at_once;
  if (at_once) stop_ask(&q->stop, 1);
  pthread_cond_signal(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

static struct timespec time_after(int milliseconds) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_sec += milliseconds / 1000;
  t.tv_nsec += (milliseconds % 1000) * 1000000L;
  if (t.tv_nsec >= 1000000000L) t.tv_sec++, t.tv_nsec -= 1000000000L;
  return t;
}

QueueItem *queue_take(MessageQueue *q, int wait, bool *ended) {
  struct timespec until = time_after(wait < 0 ? 0 : wait);
  int late = 0;
  pthread_mutex_lock(&q->lock);
  while (!q->first && !q->ended && !late)
    late = wait < 0 ? pthread_cond_wait(&q->changed, &q->lock)
                    : pthread_cond_timedwait(&q->changed, &q->lock, &until);
  QueueItem *item = q->first;
  if (item) q->first = item->next;
  if (!q->first) q->last = &q->first, stop_ask(&q->stop, q->at_once);
  *ended = !item && q->ended;
  pthread_mutex_unlock(&q->lock);
  return item;
}
