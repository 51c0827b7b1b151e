// A session with the language server: a text, then lines that change it or ask about it, or are messages
// as they stand. Every request has one answer, everything that is sent is JSON, and nothing that is said of
// the text lies outside of it by more than a line.
//
//   box f(x: R[n]) -> R[] = sum(x)
//   --
//   c 0 4 0 5 g           a change: from line 0, character 4 to line 0, character 5
//   q 2 0 4 name          question 2 at line 0, character 4
//   l 20                  so many lines of a comment go in front: a long text is not looked at for each question
//   w                     what is due is done
//   {"jsonrpc": …         a message
#include "io/bytes/bytes.h"
#include "limn.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

typedef struct {
  Arena *arena;
  uint32_t answers; // since the last question
} Heard;

static void hear(void *context, const char *text, size_t n) {
  Heard *h = context;
  const char *error;
  const Json *j = json_read(h->arena, text, n, &error);
  must(j && j->kind == JSON_OBJECT);
  if (json_get(j, "id")) h->answers++;
  must(json_get(j, "result") || json_get(j, "error") || json_get(j, "method"));
}

static const char *const methods[] = {"textDocument/hover",
                                      "textDocument/definition",
                                      "textDocument/references",
                                      "textDocument/documentHighlight",
                                      "textDocument/prepareRename",
                                      "textDocument/rename",
                                      "textDocument/completion",
                                      "textDocument/signatureHelp",
                                      "textDocument/documentSymbol",
                                      "textDocument/semanticTokens/full",
                                      "textDocument/foldingRange",
                                      "textDocument/codeAction",
                                      "textDocument/inlayHint",
                                      "textDocument/formatting",
                                      "limn/picture",
                                      "limn/palette",
                                      "limn/numbers",
                                      "limn/cost",
                                      "limn/edit"};
static const char uri[] = "\"textDocument\":{\"uri\":\"file:///none/a.limn\",\"version\":2}";

static void tell(LimnServer *s, Arena *a, const char *message) {
  (void)a;
  limn_server_take(s, message, strlen(message));
}

static unsigned number(const char **at) {
  char *end;
  unsigned long v = strtoul(*at, &end, 10);
  *at = end;
  return (unsigned)(v % 4000000000u);
}

static const char *quoted(Arena *a, const char *text, size_t n) {
  Buf b = buf_new(a);
  buf_json(&b, text, n);
  return b.at;
}

static void change(LimnServer *s, Arena *a, const char *line) {
  unsigned p[4];
  for (int i = 0; i < 4; i++) p[i] = number(&line);
  if (*line == ' ') line++;
  tell(s, a,
       arena_format(a,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/"
                    "didChange\",\"params\":{%s,\"contentChanges\":[{"
                    "\"range\":{\"start\":{\"line\":%u,\"character\":%u},\"end\":{\"line\":%u,"
                    "\"character\":%u}},"
                    "\"text\":%s}]}}",
                    uri, p[0], p[1], p[2], p[3], quoted(a, line, strlen(line))));
}

static void question(LimnServer *s, Heard *h, const char *line) {
  unsigned which = number(&line) % COUNT(methods), l = number(&line), c = number(&line);
  if (*line == ' ') line++;
  const char *words = quoted(h->arena, line, strlen(line));
  const char *place = arena_format(h->arena, "{\"line\":%u,\"character\":%u}", l % 3000, c % 3000);
  h->answers = 0;
  tell(s, h->arena,
       arena_format(h->arena,
                    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":{%s,"
                    "\"position\":%s,\"range\":{\"start\":%s,\"end\":%s},\"newName\":%s,"
                    "\"name\":%s,\"edit\":{\"kind\":%s,\"at\":\"%u:%u-%u:%u\",\"box\":%s}}}",
                    methods[which], uri, place, place, place, words, words, words, l % 3000,
                    c % 3000, l % 3000, c % 3000 + 1, words));
  must(h->answers == 1);
}

static void lengthen(LimnServer *s, Arena *a, unsigned lines) {
  Buf b = buf_new(a);
  buf_text(&b, "c 0 0 0 0 ");
  for (unsigned i = 0; i < lines % 30; i++)
    for (unsigned k = 0; k < 40; k++) buf_text(&b, k % 8 ? "# a long comment …" : "#\n");
  buf_char(&b, '\n');
  change(s, a, b.at + 1);
}

static void line(LimnServer *s, Heard *h, const char *text, size_t n) {
  char *own = arena_text(h->arena, text, n);
  if (*own == 'c') change(s, h->arena, own + 1);
  if (*own == 'q') question(s, h, own + 1);
  if (*own == 'l') lengthen(s, h->arena, (unsigned)strtoul(own + 1, NULL, 10));
  if (*own == 'w') limn_server_work(s, NULL);
  if (*own == '{' || *own == '[') limn_server_take(s, text, n);
}

static size_t text_end(const char *at, size_t n) {
  for (size_t i = 0; i + 3 < n; i++)
    if (memcmp(at + i, "\n--\n", 4) == 0) return i + 1;
  return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *at = (const char *)bytes;
  if (n > 4000) return 0;
  Heard h = {.arena = arena_new()};
  must(h.arena);
  LimnServe how = {.size = sizeof how, .send = hear, .context = &h};
  LimnServer *s = limn_server_open(&how);
  must(s);
  tell(s, h.arena,
       "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"capabilities\":{},"
       "\"initializationOptions\":{\"limnDocuments\":true}}}");
  must(h.answers == 1);
  size_t end = text_end(at, n);
  tell(s, h.arena,
       arena_format(h.arena,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/"
                    "didOpen\",\"params\":{\"textDocument\":{\"uri\":"
                    "\"file:///none/a.limn\",\"languageId\":\"limn\",\"version\":1,\"text\":%s}}}",
                    quoted(h.arena, at, end)));
  for (size_t i = end + 3, k = 0; i < n && k < 12; k++) {
    const char *stop = memchr(at + i, '\n', n - i);
    size_t length = stop ? (size_t)(stop - at) - i : n - i;
    line(s, &h, at + i, length);
    i += length + 1;
  }
  limn_server_close(s);
  arena_free(h.arena);
  return 0;
}
