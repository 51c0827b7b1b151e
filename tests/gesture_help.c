// A page without a page: it opens a text, asks for edits, applies what comes back as an editor does, and
// can take it back.
#include "gesture_help.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

Sheet sheet_open(Arena *a, const char *name, const char *text, size_t n) {
  Sheet p = {a, name, arena_text(a, text, n), n, limn_new()};
  assert_non_null(p.l);
  limn_edit_load(p.l, name, p.text, n, NULL);
  return p;
}

void sheet_close(Sheet *p) {
  limn_free(p->l);
  p->l = NULL;
}

static void put_place(Buf *b, const char *text, size_t at) {
  unsigned line = 0, character = 0;
  for (size_t i = 0; i < at;) {
    size_t n = character_length(text + i, at - i);
    n = n ? n : 1;
    character += n == 4 ? 2 : 1;
    if (text[i] == '\n') line++, character = 0;
    i += n;
  }
  buf_printf(b, "%u:%u", line, character);
}

const char *sheet_place(const Sheet *p, size_t from, size_t to) {
  Buf b = buf_new(p->arena);
  put_place(&b, p->text, from);
  buf_char(&b, '-');
  put_place(&b, p->text, to);
  return b.at;
}

size_t sheet_byte(const char *text, size_t n, unsigned line, unsigned character) {
  size_t at = 0;
  for (; line && at < n; at++) line -= text[at] == '\n';
  for (unsigned c = 0; c < character && at < n;) {
    size_t length = character_length(text + at, n - at);
    length = length ? length : 1;
    c += length == 4 ? 2 : 1;
    at += length;
  }
  return at;
}

static size_t json_byte(const char *text, size_t n, const Json *place) {
  return sheet_byte(text, n, (unsigned)json_get(place, "line")->number,
                    (unsigned)json_get(place, "character")->number);
}

// Editors apply edits from the last to the first, so that places stay what they were.
static void apply(const Sheet *p, SheetAnswer *a) {
  Buf b = buf_new(p->arena);
  size_t done = 0;
  for (uint32_t i = 0; i < a->edit.n; i++) {
    const SheetEdit *e = &a->edit.at[i];
    assert_true(e->at >= done && e->at + e->n <= p->n);
    buf_add(&b, p->text + done, e->at - done);
    buf_text(&b, e->text);
    done = e->at + e->n;
  }
  buf_add(&b, p->text + done, p->n - done);
  a->text = b.n ? b.at : "", a->n = b.n;
}

SheetAnswer sheet_ask(Sheet *p, const char *edit) {
  LimnAsk ask = {.size = sizeof ask, .text = edit};
  SheetAnswer a = {0};
  const char *json = limn_edit_ask(p->l, "gesture", &ask), *error = NULL;
  if (!json) fail_msg("%s: no answer: %s", edit, limn_messages(p->l, false));
  json = arena_format(p->arena, "%s", json);
  const Json *j = json_read(p->arena, json, strlen(json), &error);
  assert_non_null(j);
  const Json *refused = json_get(j, "refused"), *list = json_get(j, "edits");
  a.has_range = json_get(j, "range") != NULL;
  if (refused) {
    a.refused = refused->text;
    return a;
  }
  const Json *one = json_first(list);
  for (uint32_t i = 0; i < list->n; i++, one = json_next(one)) {
    const Json *range = json_get(one, "range");
    SheetEdit e = {.text = json_get(one, "newText")->text};
    e.at = json_byte(p->text, p->n, json_get(range, "start"));
    e.n = json_byte(p->text, p->n, json_get(range, "end")) - e.at;
    vec_push(p->arena, &a.edit, e);
  }
  apply(p, &a);
  const Json *select = json_get(j, "select");
  a.select = json_byte(a.text, a.n, json_get(select, "start"));
  a.select_end = json_byte(a.text, a.n, json_get(select, "end"));
  return a;
}

const char *sheet_undo(Arena *arena, const SheetAnswer *a, const char *before, size_t *n) {
  Buf b = buf_new(arena);
  size_t done = 0;
  int64_t moved = 0;
  for (uint32_t i = 0; i < a->edit.n; i++) {
    const SheetEdit *e = &a->edit.at[i];
    size_t at = (size_t)((int64_t)e->at + moved), came = strlen(e->text);
    buf_add(&b, a->text + done, at - done);
    buf_add(&b, before + e->at, e->n);
    done = at + came;
    moved += (int64_t)came - (int64_t)e->n;
  }
  buf_add(&b, a->text + done, a->n - done);
  *n = b.n;
  return b.n ? b.at : "";
}
