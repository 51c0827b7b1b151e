// `limn lsp`: the language server on standard input and output. A thread reads messages, so that a look
// at a text is given up when something newer has come.
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"
#include "line/line.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_LIMIT = 64 << 20, HEADER_LIMIT = 4096 };

typedef struct {
  Waiting in;
  size_t n;
  char text[];
} LspMessage;

typedef struct {
  Line line;
  bool damaged; // a header could not be read
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
  if (m->n == n) return m;
  free(m);
  return NULL;
}

static void *reader(void *what) {
  LspQueue *q = what;
  for (LspMessage *m; (m = read_message(q));)
    line_put(&q->line, &m->in, message_is(m->text, "$/cancelRequest"));
  line_finish(&q->line, false);
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
    LspMessage *m = (LspMessage *)line_take(&q->line, wait, &over);
    if (m) limn_server_take(s, m->text, m->n);
    free(m);
    if (over) break;
    wait = q->line.stop ? 0 : limn_server_work(s, &q->line.stop);
  }
  if (q->damaged)
    fputs("limn lsp: a header could not be read: `Content-Length: N` is wanted\n", stderr);
  return limn_server_ended(s) < 0 ? LIMN_WRONG : limn_server_ended(s);
}

int run_lsp(Limn *l, Options *o) {
  (void)l;
  LspQueue q = {.damaged = false};
  line_open(&q.line);
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
  if (!q.line.ends) exit(status); // the reader still waits for input
  Waiting *left;
  bool over = false;
  while ((left = line_take(&q.line, 0, &over))) free(left); // what came behind `exit`
  return status;
}
