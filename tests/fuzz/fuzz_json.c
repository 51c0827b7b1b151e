// Any bytes: a message, or a tree whose counts are right, in little memory; what is read is written
// and read unchanged. The same bytes, up to their first zero, are read as numbers of the command
// line, and these are written and read unchanged.
#include "io/bytes/bytes.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(bool condition) {
  if (!condition) abort();
}

// As text again; what follows it in the tree.
static const Json *rewrite(const Json *v, Buf *out) {
  static const char *const words[] = {
      [JSON_NULL] = "null", [JSON_FALSE] = "false", [JSON_TRUE] = "true"};
  if (v->kind < JSON_NUMBER) buf_text(out, words[v->kind]);
  if (v->kind == JSON_NUMBER) buf_number(out, v->number);
  if (v->kind == JSON_TEXT) {
    must(v->text[v->n] == 0 && text_is_utf8(v->text, v->n));
    buf_json(out, v->text, v->n);
  }
  if (v->kind < JSON_LIST) return v + 1;
  const Json *at = json_first(v);
  buf_char(out, v->kind == JSON_LIST ? '[' : '{');
  for (uint32_t i = 0; i < v->n; i++) {
    if (i) buf_char(out, ',');
    if (v->kind == JSON_OBJECT) {
      must(at->kind == JSON_TEXT);
      at = rewrite(at, out);
      buf_char(out, ':');
    }
    at = rewrite(at, out);
  }
  buf_char(out, v->kind == JSON_LIST ? ']' : '}');
  must(at == json_next(v));
  return at;
}

static void numbers(Arena *a, const char *text) {
  const char *error = NULL;
  Array x, y;
  if (!array_parse(a, text, &x, &error)) {
    must(error != NULL);
    return;
  }
  Buf once = buf_new(a), twice = buf_new(a);
  array_print(&once, &x, false);
  must(array_parse(a, once.at, &y, &error) && x.rank == y.rank && x.count == y.count);
  array_print(&twice, &y, false);
  must(strcmp(once.at, twice.at) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  must(a);
  const Json *v = json_read(a, (const char *)bytes, n, &error);
  must(v || error);
  must(arena_used(a) <= 10 * n + (64 << 10));
  if (v) {
    Buf once = buf_new(a), twice = buf_new(a);
    rewrite(v, &once);
    const Json *again = json_read(a, once.at, once.n, &error);
    must(again != NULL);
    rewrite(again, &twice);
    must(once.n == twice.n && memcmp(once.at, twice.at, once.n) == 0);
  }
  numbers(a, arena_text(a, (const char *)bytes, n));
  arena_free(a);
  return 0;
}
