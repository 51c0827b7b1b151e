// A JSON writer. It tracks the nesting, and inserts commas and line breaks.
#include "base/json_write.h"
#include "base/base.h"

#include <assert.h>
#include <math.h>

JsonOut json_out(Buf *out) { return (JsonOut){.out = out}; }

static void put_line(const JsonOut *j, uint32_t depth) {
  buf_char(j->out, '\n');
  for (uint32_t i = 0; i < depth; i++) buf_text(j->out, "  ");
}

void json_key(JsonOut *j, const char *key) {
  JsonLevel *at = &j->level[j->depth];
  bool lines = at->lines && j->depth;
  if (at->any) buf_text(j->out, lines || j->tight ? "," : ", ");
  if (lines) put_line(j, j->depth);
  at->any = true;
  if (!key) return;
  buf_json(j->out, key, strlen(key));
  buf_text(j->out, j->tight ? ":" : ": ");
}

static void open_level(JsonOut *j, const char *key, char begin, char end, bool lines) {
  json_key(j, key);
  buf_char(j->out, begin);
  assert(j->depth + 1 < JSON_OUT_DEPTH);
  j->level[++j->depth] = (JsonLevel){.end = end, .lines = lines};
}

void json_object(JsonOut *j, const char *key) { open_level(j, key, '{', '}', false); }
void json_list(JsonOut *j, const char *key) { open_level(j, key, '[', ']', false); }
void json_object_lines(JsonOut *j, const char *key) { open_level(j, key, '{', '}', true); }
void json_list_lines(JsonOut *j, const char *key) { open_level(j, key, '[', ']', true); }

void json_end(JsonOut *j) {
  const JsonLevel *at = &j->level[j->depth--];
  if (at->lines && at->any) put_line(j, j->depth);
  buf_char(j->out, at->end);
}

void json_text(JsonOut *j, const char *key, const char *text) {
  json_key(j, key);
  buf_json(j->out, text, strlen(text));
}

void json_text_or_null(JsonOut *j, const char *key, const char *text) {
  if (text)
    json_text(j, key, text);
  else
    json_print(j, key, "null");
}

void json_number(JsonOut *j, const char *key, double x) {
  json_key(j, key);
  if (isfinite(x))
    buf_number(j->out, x);
  else
    buf_text(j->out, "null");
}

void json_bool(JsonOut *j, const char *key, bool x) { json_print(j, key, x ? "true" : "false"); }

void json_print(JsonOut *j, const char *key, const char *format, ...) {
  va_list args;
  json_key(j, key);
  va_start(args, format);
  buf_vprintf(j->out, format, args);
  va_end(args);
}
