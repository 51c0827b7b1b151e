// `limn lsp`: the language server on standard input and output. A separate thread reads messages,
// so that checking a text can be abandoned for a newer message.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include "rpc/queue.h"
#include "rpc/rpc.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_LIMIT = 64 << 20, HEADER_LIMIT = 4096 };

typedef struct {
  QueueItem item;
  const char *refused; // the error response, if the message was not kept; or NULL
  size_t n;
  char text[];
} LspMessage;

typedef struct {
  MessageQueue queue;
  const char *damaged; // why reading stopped; NULL: the input ended after a complete message
} LspQueue;

// -- reading --------------------------------------------------------------------------------------
// Reads a header line without its line break; false: end of input, or too long.
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
  line[n] = 0;
  return false;
}

static bool same_word(const char *line, const char *word) {
  for (; *word; line++, word++)
    if ((*line | 32) != (*word | 32)) return false;
  return true;
}

// Parses the value of `Content-Length:`: digits with optional blanks.
static bool read_length(const char *text, size_t *n) {
  const char *digits = text + strspn(text, " \t");
  char *end;
  errno = 0;
  unsigned long long length = strtoull(digits, &end, 10);
  bool good =
      *digits >= '0' && *digits <= '9' && !errno && length <= SIZE_MAX && !end[strspn(end, " \t")];
  *n = good ? (size_t)length : 0;
  return good;
}

// Reads the header and gives the length of the next message. False: end of input, or no valid length.
static bool read_header(LspQueue *q, size_t *n) {
  static const char key[] = "Content-Length:";
  char line[HEADER_LIMIT];
  bool any = false, known = false;
  while (read_line(line, sizeof line)) {
    size_t length;
    if (!*line && known) return true;
    if (!*line && any) break;
    if (!*line) continue;
    any = true;
    if (!same_word(line, key)) continue;
    if (!read_length(line + sizeof key - 1, &length) || (known && length != *n)) {
      known = false;
      break;
    }
    known = true;
    *n = length;
  }
  if (any || *line)
    q->damaged = known ? "the input ended within a message"
                       : "a header could not be read: `Content-Length: N` is wanted";
  return false;
}

static bool skip_bytes(size_t n) {
  char part[4096];
  while (n) {
    size_t some = n < sizeof part ? n : sizeof part;
    if (fread(part, 1, some, stdin) != some) return false;
    n -= some;
  }
  return true;
}

// Queues one message, or the reason why it is not kept. An oversized message is skipped, since its
// length is known, and reading goes on. False: end of input.
static bool read_message(LspQueue *q) {
  size_t n = 0;
  if (!read_header(q, &n)) return false;
  LspMessage *m = n <= MESSAGE_LIMIT ? malloc(sizeof *m + n + 1) : NULL;
  bool kept = m;
  if (!m) m = malloc(sizeof *m + 1);
  if (!m) return q->damaged = "memory is exhausted", false;
  m->refused = kept                ? NULL
               : n > MESSAGE_LIMIT ? RPC_ERROR_TEXT(-32600, "a message has at most 64 MiB")
                                   : RPC_NO_MEMORY;
  m->n = kept ? fread(m->text, 1, n, stdin) : 0;
  m->text[m->n] = 0;
  bool whole = !kept || m->n == n;
  if (whole)
    queue_put(&q->queue, &m->item, rpc_names_method(m->text, "$/cancelRequest"));
  else
    free(m);
  whole = whole && (kept || skip_bytes(n));
  if (!whole) q->damaged = "the input ended within a message";
  return whole;
}

static void *reader(void *what) {
  LspQueue *q = what;
  while (read_message(q)) continue;
  queue_finish(&q->queue, false);
  return NULL;
}

// -- answering ------------------------------------------------------------------------------------
static void send_message(void *none, const char *text, size_t n) {
  (void)none;
  printf("Content-Length: %zu\r\n\r\n", n);
  fwrite(text, 1, n, stdout);
  fflush(stdout);
}

static int serve(LimnServer *s, LspQueue *q) {
  int wait = -1;
  for (bool over = false; limn_server_ended(s) < 0;) {
    LspMessage *m = (LspMessage *)queue_take(&q->queue, wait, &over);
    if (m && m->refused)
      send_message(NULL, m->refused, strlen(m->refused));
    else if (m)
      limn_server_take(s, m->text, m->n);
    free(m);
    if (over || ferror(stdout)) break;
    wait = queue_waiting(&q->queue) ? 0 : limn_server_work(s, &q->queue.stop);
  }
  if (ferror(stdout)) return LIMN_SYSTEM;
  if (limn_server_ended(s) < 0 && q->damaged) SAY(stderr, "limn lsp: ", q->damaged, "\n");
  return limn_server_ended(s) < 0 ? LIMN_WRONG : limn_server_ended(s);
}

int run_lsp(Limn *l, Options *o) {
  (void)l;
  signal(SIGPIPE, SIG_IGN); // a client that has closed its end is noticed where it is written to
  LspQueue q = {.damaged = NULL};
  queue_open(&q.queue);
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
  if (ferror(stdout) && !q.queue.ended) fputs("limn lsp: the output was closed\n", stderr);
  if (!q.queue.ended) exit(status); // the reader thread still blocks on input
  QueueItem *left;
  bool over = false;
  while ((left = queue_take(&q.queue, 0, &over))) free(left); // messages after `exit`
  return status;
}
