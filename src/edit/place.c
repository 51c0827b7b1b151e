// Converts positions: line and character, as editors count, to and from byte offsets; offsets in
// the current text to and from offsets in the checked text, which differ in one changed region.
#include "base/files.h"
#include "base/json_write.h"
#include "base/source.h"
#include "edit/edit_own.h"

EditText edit_text(Arena *a, const EditIndex *x, const char *text, size_t n) {
  const Source *old = &x->sources->file.at[x->file];
  EditText t = {.text = text, .n = (uint32_t)n};
  VEC(uint32_t) line = {0};
  vec_push(a, &line, 0);
  for (const char *at = text; n && (at = memchr(at, '\n', n - (size_t)(at - text)));)
    vec_push(a, &line, (uint32_t)(++at - text));
  t.line = line.at;
  t.nline = line.n;
  uint32_t least = t.n < old->n ? t.n : old->n;
  while (t.same_before < least && text[t.same_before] == old->text[t.same_before]) t.same_before++;
  while (t.same_after < least - t.same_before &&
         text[t.n - 1 - t.same_after] == old->text[old->n - 1 - t.same_after])
    t.same_after++;
  t.shift = (int64_t)t.n - old->n;
  return t;
}

// -- lines and characters -------------------------------------------------------------------------
// The length of the character at `text`, in units of the protocol; *n: in bytes.
static uint32_t units_at(const char *text, size_t left, bool utf8, uint32_t *n) {
  size_t length = character_length(text, left);
  *n = length ? (uint32_t)length : 1;
  return utf8 ? *n : *n == 4 ? 2 : 1;
}

uint32_t position_offset(const EditQuestion *q, EditPosition p) {
  const EditText *t = q->now;
  if (p.line >= t->nline) return t->n;
  uint32_t at = t->line[p.line], end = p.line + 1 < t->nline ? t->line[p.line + 1] - 1 : t->n, n;
  for (uint32_t c = 0; c < p.character && at < end; at += n)
    c += units_at(t->text + at, end - at, q->utf8, &n);
  return at;
}

typedef struct {
  const char *text;
  uint32_t n, nline;
  const uint32_t *line;
} LinedText;

static EditPosition position_in(const EditQuestion *q, LinedText t, uint32_t at) {
  uint32_t n;
  EditPosition p = {.line = source_line(t.line, t.nline, at)};
  for (uint32_t i = t.nline ? t.line[p.line] : 0; i < at && i < t.n; i += n)
    p.character += units_at(t.text + i, t.n - i, q->utf8, &n);
  return p;
}

static void json_position(JsonOut *j, const char *key, EditPosition p) {
  json_object(j, key);
  json_number(j, "line", p.line);
  json_number(j, "character", p.character);
  json_end(j);
}

static void json_ends(const EditQuestion *q, JsonOut *j, const char *key, LinedText t, Span s) {
  json_object(j, key);
  json_position(j, "start", position_in(q, t, s.at));
  json_position(j, "end", position_in(q, t, s.at + s.n));
  json_end(j);
}

static LinedText text_now(const EditQuestion *q) {
  return (LinedText){q->now->text, q->now->n, q->now->nline, q->now->line};
}

EditPosition position_at(const EditQuestion *q, uint32_t offset) {
  return position_in(q, text_now(q), offset);
}

void json_range_in(const EditQuestion *q, JsonOut *j, const char *key, const char *text, size_t n,
                   Span s) {
  VEC(uint32_t) line = {0};
  vec_push(q->arena, &line, 0);
  for (uint32_t i = 0; i < n; i++)
    if (text[i] == '\n') vec_push(q->arena, &line, i + 1);
  json_ends(q, j, key, (LinedText){text, (uint32_t)n, line.n, line.at}, s);
}

void json_range_now(const EditQuestion *q, JsonOut *j, const char *key, uint32_t at, uint32_t n) {
  json_ends(q, j, key, text_now(q), (Span){0, at, n});
}

bool json_span(const EditQuestion *q, JsonOut *j, const char *key, Span s) {
  uint32_t at;
  if (s.file == q->index->file) {
    if (!span_offset_now(q, s, &at)) return false;
    json_range_now(q, j, key, at, s.n);
    return true;
  }
  const Source *f = &q->index->sources->file.at[s.file];
  json_ends(q, j, key, (LinedText){f->text, f->n, f->nline, f->line}, s);
  return true;
}

void json_location(const EditQuestion *q, JsonOut *j, const char *key, Span s) {
  json_object(j, key);
  json_text(j, "uri", edit_uri(q, s.file));
  json_span(q, j, "range", s);
  json_end(j);
}

void json_edit(const EditQuestion *q, JsonOut *j, uint32_t at, uint32_t n, const char *text) {
  json_object(j, NULL);
  json_range_now(q, j, "range", at, n);
  json_text(j, "newText", text);
  json_end(j);
}

const char *text_with_changes(const EditQuestion *q, const TextChanges *change, size_t *n) {
  Buf b = buf_new(q->arena);
  uint32_t done = 0;
  for (uint32_t i = 0; i < change->n; i++) {
    const TextChange *c = &change->at[i];
    buf_add(&b, q->now->text + done, c->at - done);
    buf_text(&b, c->text);
    done = c->at + c->n;
  }
  buf_add(&b, q->now->text + done, q->now->n - done);
  *n = b.n;
  return b.n ? b.at : "";
}

// -- then and now ---------------------------------------------------------------------------------
bool offset_when_checked(const EditQuestion *q, uint32_t now, uint32_t *then) {
  const EditText *t = q->now;
  if (now <= t->same_before) {
    *then = now;
    return true;
  }
  if (now < t->n - t->same_after) return false;
  *then = (uint32_t)(now - t->shift);
  return true;
}

bool span_offset_now(const EditQuestion *q, Span s, uint32_t *at) {
  const EditText *t = q->now;
  uint32_t old = (uint32_t)(t->n - t->shift);
  *at = s.at;
  if (s.at + s.n <= t->same_before) return true;
  *at = (uint32_t)(s.at + t->shift);
  return s.at >= old - t->same_after && s.at + s.n <= old;
}

// -- words and addresses --------------------------------------------------------------------------
bool is_word_byte(char c) { return char_is_word(c) || c == '_' || (unsigned char)c >= 0x80; }

uint32_t word_around(const EditText *t, uint32_t offset, uint32_t *at) {
  uint32_t from = offset, to = offset;
  while (from && is_word_byte(t->text[from - 1])) from--;
  while (to < t->n && is_word_byte(t->text[to])) to++;
  *at = from;
  return to - from;
}

static void add_path(Buf *b, const char *path) {
  for (const char *c = path; *c; c++)
    if (char_is_word(*c) || strchr("/-_.~", *c))
      buf_char(b, *c);
    else
      buf_printf(b, "%%%02X", (unsigned char)*c);
}

const char *edit_uri(const EditQuestion *q, uint32_t file) {
  const Source *f = &q->index->sources->file.at[file];
  const Scope *library = q->index->program->scope->library;
  if (library && library->file == file) return q->library ? q->library : "limn:library.limn";
  if (f->path[0] != '/') return q->own ? q->own : f->path;
  Buf b = buf_new(q->arena);
  bool below = q->root && path_is_below(q->root, f->path);
  buf_text(&b, "file://");
  add_path(&b, f->path + (below ? strlen(q->root) : 0));
  return b.at;
}
