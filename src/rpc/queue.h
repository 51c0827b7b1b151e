// A queue of messages between two threads: one thread puts messages, the other takes them in order.
//
//   typedef struct { QueueItem item; char text[9]; } Message;
//   queue_put(&queue, &m->item, false);
//   Message *next = (Message *)queue_take(&queue, 200, &ended); // waits for 0.2 s at most
//
// While the queue is not empty, `stop` is not 0: the work on an older message can be abandoned.
#ifndef LIMN_RPC_QUEUE_H
#define LIMN_RPC_QUEUE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct QueueItem {
  struct QueueItem *next;
} QueueItem; // must be the first member of a message

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  QueueItem *first, **last;
  bool ended;   // no more messages are accepted
  bool at_once; // and the work on the current message may be abandoned
  volatile sig_atomic_t stop;
} MessageQueue;

void queue_open(MessageQueue *);
void queue_close(MessageQueue *);
// first: put it before all others, as for a message that cancels one of them. False: the queue has
// ended and did not accept the message.
bool queue_put(MessageQueue *, QueueItem *, bool first);
void queue_finish(MessageQueue *, bool at_once);
// Waits up to `wait` milliseconds (-1: without limit). NULL: no message; *ended: there will be
// none.
QueueItem *queue_take(MessageQueue *, int wait, bool *ended);
bool queue_waiting(const MessageQueue *); // `stop` is not 0

#endif
