// `limn lsp`: the language server on standard input and output. A thread reads messages, so that a look
// at a text is given up when something newer has come.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MESSAGE_LIMIT = 64 << 20, HEADER_LIMIT = 4096 };

typedef struct LspMessage {
  struct LspMessage *next;
  size_t n;
  char text[];
} LspMessage;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t came;
  LspMessage *first, **last;
  bool ended;   // nothing more comes
  bool damaged; // because a header could not be read
  volatile sig_atomic_t stop;
} LspQueue;

// -- reading --------------------------------------------------------------------------------------
// A line of a header without its end; false: there is none, or it is too long.
static bool read_line(char *line, size_t room) {
  size_t n = 0;
  for (int c; (c = getchar()) != EOF;) {
    if (c == '\n') {
      line[n && line[n - 1] == '\r' ? n - 1 : n] = 0;
      return true;
    }
    if (n + 1 >= room) return false;
    line[n++] = (char)c;
  }
  return false;
}

static bool same_word(const char *line, const char *word) {
  for (; *word; line++, word++)
    if ((*line | 32) != (*word | 32)) return false;
  return true;
}

// How long the next message is; 0: there is none, or its header is damaged.
static size_t read_header(LspQueue *q) {
  char line[HEADER_LIMIT];
  size_t n = 0;
  bool any = false;
  while (read_line(line, sizeof line)) {
    if (!*line && any) break;
    if (!*line) continue;
    any = true;
    if (!same_word(line, "Content-Length:")) continue;
    char *end;
    const char *digits = line + 15 + strspn(line + 15, " \t");
    unsigned long long length = strtoull(digits, &end, 10);
    n = *digits >= '0' && *digits <= '9' && !*end && length <= MESSAGE_LIMIT ? (size_t)length : 0;
    if (!n) break;
  }
  q->damaged = any && !n;
  return n;
}

static LspMessage *read_message(LspQueue *q) {
  size_t n = read_header(q);
  LspMessage *m = n ? malloc(sizeof *m + n + 1) : NULL;
  if (!m) return NULL;
  m->n = fread(m->text, 1, n, stdin);
  m->text[m->n] = 0;
  m->next = NULL;
  if (m->n == n) return m;
  free(m);
  return NULL;
}

static void queue_put(LspQueue *q, LspMessage *m) {
  bool cancels = strstr(m->text, "$/cancelRequest") != NULL;
  pthread_mutex_lock(&q->lock);
  if (cancels) { // before what it cancels, if that still waits
    m->next = q->first;
    if (!q->first) q->last = &m->next;
    q->first = m;
  } else {
    *q->last = m;
    q->last = &m->next;
  }
  q->stop = 1;
  pthread_cond_signal(&q->came);
  pthread_mutex_unlock(&q->lock);
}

static void *reader(void *what) {
  LspQueue *q = what;
  for (LspMessage *m; (m = read_message(q));) queue_put(q, m);
  pthread_mutex_lock(&q->lock);
  q->ended = true;
  pthread_cond_signal(&q->came);
  pthread_mutex_unlock(&q->lock);
  return NULL;
}

// -- answering ------------------------------------------------------------------------------------
static void send_message(void *none, const char *text, size_t n) {
  (void)none;
  printf("Content-Length: %zu\r\n\r\n", n);
  fwrite(text, 1, n, stdout);
  fflush(stdout);
}

// The next message, waited for as long as nothing else is to be done; NULL: there is none yet.
static LspMessage *queue_take(LspQueue *q, int wait) {
  pthread_mutex_lock(&q->lock);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += wait / 1000;
  until.tv_nsec += (wait % 1000) * 1000000L;
  if (until.tv_nsec >= 1000000000L) until.tv_sec++, until.tv_nsec -= 1000000000L;
  int late = 0;
  while (!q->first && !q->ended && !late)
    late = wait < 0 ? pthread_cond_wait(&q->came, &q->lock)
                    : pthread_cond_timedwait(&q->came, &q->lock, &until);
  LspMessage *m = q->first;
  if (m) q->first = m->next;
  if (!q->first) q->last = &q->first, q->stop = 0;
  pthread_mutex_unlock(&q->lock);
  return m;
}

static int serve(LimnServer *s, LspQueue *q) {
  int wait = -1;
  while (limn_server_ended(s) < 0) {
    LspMessage *m = queue_take(q, wait);
    if (m) limn_server_take(s, m->text, m->n);
    free(m);
    if (!m && q->ended) break;
    wait = q->stop ? 0 : limn_server_work(s, &q->stop);
  }
  if (q->damaged)
    fputs("limn lsp: a header could not be read: `Content-Length: N` is wanted\n", stderr);
  return limn_server_ended(s) < 0 ? LIMN_WRONG : limn_server_ended(s);
}

int run_lsp(Limn *l, Options *o) {
  (void)l;
  LspQueue q = {.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
  q.last = &q.first;
  o->read[o->nread < 63 ? o->nread : 63] = NULL;
  LimnServe how = {.size = sizeof how, .send = send_message, .read = o->read, .editor = true};
  LimnServer *s = limn_server_open(&how);
  pthread_t thread;
  if (!s || pthread_create(&thread, NULL, reader, &q)) {
    fputs("limn lsp: memory is exhausted\n", stderr);
    limn_server_close(s);
    return LIMN_SYSTEM;
  }
  pthread_detach(thread);
  int status = serve(s, &q);
  limn_server_close(s);
  fflush(stdout);
  if (!q.ended) exit(status); // the reader still waits for input
  return status;
}
