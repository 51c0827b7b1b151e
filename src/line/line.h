// Messages that wait: one thread puts them, another takes them, each in its turn.
//
//   typedef struct { Waiting in; char text[9]; } Message;
//   line_put(&line, &m->in, false);
//   Message *next = (Message *)line_take(&line, 200, &over); // waits for 0.2 s at most
//
// While something waits, `stop` is not 0: who works on something older may give it up.
#ifndef LIMN_LINE_LINE_H
#define LIMN_LINE_LINE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

typedef struct Waiting {
  struct Waiting *next;
} Waiting; // what waits begins with it

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t came;
  Waiting *first, **last;
  bool ends;    // nothing more comes
  bool at_once; // and what is being done need not be finished
  volatile sig_atomic_t stop;
} Line;

void line_open(Line *);
void line_close(Line *);
// first: before all that waits, as what cancels one of them. False: the line has ended, and it is not in it.
bool line_put(Line *, Waiting *, bool first);
void line_finish(Line *, bool at_once);
// The next one, waited for up to so many milliseconds (-1: for good). NULL: there is none; *over: and
// there will be none.
Waiting *line_take(Line *, int wait, bool *over);
bool line_waits(const Line *); // `stop` is not 0

// -- method.c: is this JSON object a message of this method, "$/cancelRequest"? Of one of these, "host/"? --
bool message_is(const char *message, const char *method);

#endif
