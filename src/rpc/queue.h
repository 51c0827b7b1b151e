// A queue of messages between two threads: one thread puts them, another takes them in this order.
//
//   typedef struct { QueueItem item; char text[9]; } Message;
//   queue_put(&queue, &m->item, false);
//   Message *next = (Message *)queue_take(&queue, 200, &ended); // waits for 0.2 s at most
//
// While the queue is not empty, `stop` is not 0: work on an older message may be given up.
#ifndef LIMN_RPC_QUEUE_H
#define LIMN_RPC_QUEUE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct QueueItem {
  struct QueueItem *next;
} QueueItem; // the first member of each message

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  QueueItem *first, **last;
  bool ended;   // nothing more is put
  bool at_once; // and the message at work need not be finished
  volatile sig_atomic_t stop;
} MessageQueue;

void queue_open(MessageQueue *);
void queue_close(MessageQueue *);
// first: before all others, as a message that cancels one of them. False: the queue has ended, and the
// message is not in it.
bool queue_put(MessageQueue *, QueueItem *, bool first);
void queue_finish(MessageQueue *, bool at_once);
// Waits up to so many milliseconds (-1: without a limit). NULL: there is none; *ended: and none will come.
QueueItem *queue_take(MessageQueue *, int wait, bool *ended);
bool queue_waiting(const MessageQueue *); // `stop` is not 0

#endif
