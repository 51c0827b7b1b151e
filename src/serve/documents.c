// Open documents: the server tracks their text and checks it after a pause.
//
// A check loads the whole program into a second handle, which then replaces the first. Until then
// the first one answers and is given the current text.
#include "base/files.h"
#include "base/json_write.h"
#include "base/stop.h"
#include "base/within.h"
#include "serve/serve.h"

static const double PAUSE = 0.15;     // after a change, before the check
static const double TRY_PAUSE = 0.35; // before the dry run
// A short text whose last check was quick is checked before every answer.
static const double QUICK = 0.3;
enum { SHORT = 16 << 10, GIVE_UP_LIMIT = 20, DOCUMENTS_LIMIT = 1000 };

ServedText *served_at(LimnServer *s, const char *uri) {
  for (uint32_t i = 0; uri && i < s->doc.n; i++)
    if (strcmp(s->doc.at[i]->uri, uri) == 0) return s->doc.at[i];
  return NULL;
}

void served_free(ServedText *d) {
  limn_free(d->shown);
  limn_free(d->next);
}

// -- addresses ------------------------------------------------------------------------------------
static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  char up = char_upper(c);
  return up >= 'A' && up <= 'F' ? up - 'A' + 10 : -1;
}

// The path of file:///a/b%20c; for another scheme the last component, the name of a text without a
// file.
static const char *path_of(Arena *a, const char *uri) {
  if (strncmp(uri, "file://", 7)) {
    const char *last = strrchr(uri, '/');
    last = last ? last + 1 : strrchr(uri, ':') ? strrchr(uri, ':') + 1 : uri;
    return *last ? arena_text(a, last, strlen(last)) : "untitled.limn";
  }
  Buf b = buf_new(a);
  for (const char *at = uri + 7; *at; at++) {
    int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
    if (low >= 0 && (high || low)) {
      buf_char(&b, (char)(high * 16 + low));
      at += 2;
    } else
      buf_char(&b, *at);
  }
  return b.n ? b.at : "untitled.limn";
}

const char *served_file_path(const LimnServer *s, Arena *a, const char *uri) {
  const char *path = path_of(a, uri);
  if (!s->how.root) return path;
  if (*path == '/') path++;
  return name_refuse_in(a, s->how.root, path) ? NULL : arena_format(a, "%s/%s", s->how.root, path);
}

// -- the text -------------------------------------------------------------------------------------
// Copies the text into a new arena before it frees the old one.
static void set_text(ServedText *d, Arena *a, const char *text, size_t n) {
  Arena *old = d->text_arena;
  d->text_arena = a;
  d->text = text;
  d->n = n;
  d->stale = true;
  d->shown_is_current = d->needs_dry_run = false;
  d->due = clock_seconds() + PAUSE;
  arena_free(old);
}

static void report_to_user(LimnServer *s, const char *text) {
  Buf b;
  JsonOut j = serve_notify(s, &b, "window/showMessage");
  json_object(&j, NULL);
  json_number(&j, "type", 1);
  json_text(&j, "message", text);
  json_end(&j);
  serve_send(s, &b);
}

void serve_open(const ServeCall *c) {
  LimnServer *s = c->s;
  const Json *item = json_get(c->params, "textDocument"), *text = json_get(item, "text");
  const char *uri = json_get_text(item, "uri");
  if (!uri || !text || text->kind != JSON_TEXT || text->n > SERVED_LIMIT) {
    report_to_user(s, "a text was opened that has no address or is too large");
    return;
  }
  ServedText *d = served_at(s, uri);
  if (!d && s->doc.n >= DOCUMENTS_LIMIT) return;
  if (!d) {
    Arena *a = arena_child(s->own);
    d = NEW(a, ServedText);
    d->arena = a;
    d->uri = arena_text(a, uri, strlen(uri));
    d->path = served_file_path(s, a, uri);
    if (!d->path) {
      report_to_user(s, "a text was opened that is not below the folder");
      arena_free(a);
      return;
    }
    vec_push(s->own, &s->doc, d);
  }
  d->version = json_get_number(item, "version", 0);
  Arena *a = arena_child(s->own);
  set_text(d, a, arena_text(a, text->text, text->n), text->n);
  d->due = clock_seconds();
}

void serve_close(const ServeCall *c) {
  LimnServer *s = c->s;
  const char *uri = json_get_text(json_get(c->params, "textDocument"), "uri");
  ServedText *d = served_at(s, uri);
  for (uint32_t i = 0; d && i < s->doc.n; i++)
    if (s->doc.at[i] == d) s->doc.at[i] = s->doc.at[--s->doc.n];
  if (!d) return;
  Buf b;
  JsonOut j = serve_notify(s, &b, "textDocument/publishDiagnostics");
  json_object(&j, NULL);
  json_text(&j, "uri", uri);
  json_print(&j, "diagnostics", "[]");
  json_end(&j);
  serve_send(s, &b);
  served_free(d);
  arena_free(d->text_arena);
  arena_free(d->arena);
}

// A file was saved: programs that use it have to be checked again.
void serve_save(const ServeCall *c) {
  for (uint32_t i = 0; i < c->s->doc.n; i++) {
    c->s->doc.at[i]->stale = true;
    c->s->doc.at[i]->due = clock_seconds();
  }
}

// -- changes --------------------------------------------------------------------------------------
size_t served_offset(const LimnServer *s, const ServedText *d, uint32_t line, uint32_t character) {
  size_t at = 0;
  for (; line && at <= d->n; line--) {
    const char *end = at < d->n ? memchr(d->text + at, '\n', d->n - at) : NULL;
    if (!end) return d->n;
    at = (size_t)(end - d->text) + 1;
  }
  const char *end = at < d->n ? memchr(d->text + at, '\n', d->n - at) : NULL;
  size_t last = end ? (size_t)(end - d->text) : d->n;
  for (uint32_t c = 0; c < character && at < last;) {
    size_t n = character_length(d->text + at, last - at);
    n = n ? n : 1;
    c += s->utf8 ? (uint32_t)n : n == 4 ? 2 : 1;
    at += n;
  }
  return at;
}

bool served_range(const LimnServer *s, const ServedText *d, const Json *range, size_t *from,
                  size_t *to) {
  uint32_t line, character, end_line, end_character;
  if (!serve_place(json_get(range, "start"), &line, &character) ||
      !serve_place(json_get(range, "end"), &end_line, &end_character))
    return false;
  *from = served_offset(s, d, line, character);
  *to = served_offset(s, d, end_line, end_character);
  return true;
}

// Applies one change, of a range or of the whole text. False: the range is invalid.
static bool apply_change(LimnServer *s, ServedText *d, const Json *one) {
  const Json *text = json_get(one, "text"), *range = json_get(one, "range");
  if (!text || text->kind != JSON_TEXT) return false;
  size_t from = 0, to = d->n;
  if (range && range->kind != JSON_NULL && !served_range(s, d, range, &from, &to)) return false;
  if (from > to || d->n - (to - from) + text->n > SERVED_LIMIT) return false;
  Arena *a = arena_child(s->own);
  size_t n = d->n - (to - from) + text->n;
  char *all = arena_alloc(a, n + 1);
  memcpy(all, d->text, from);
  memcpy(all + from, text->text, text->n);
  memcpy(all + from + text->n, d->text + to, d->n - to);
  set_text(d, a, all, n);
  return true;
}

void serve_change(const ServeCall *c) {
  LimnServer *s = c->s;
  const Json *item = json_get(c->params, "textDocument");
  const Json *list = json_get(c->params, "contentChanges");
  ServedText *d = served_at(s, json_get_text(item, "uri"));
  bool good = d && list && list->kind == JSON_LIST;
  for (const Json *one = json_items(list); good && one; one = json_after(list, one))
    good = apply_change(s, d, one);
  if (good) d->version = json_get_number(item, "version", d->version);
  if (!good)
    report_to_user(s, d ? "a change does not fit the text that it is of"
                        : "a change is of a text that is not open");
}

// -- checking -------------------------------------------------------------------------------------
Limn *served_handle(const LimnServer *s) {
  Limn *l = limn_new();
  for (uint32_t i = 0; l && s->read[i]; i++) limn_allow(l, s->read[i]);
  return l;
}

static void publish_messages(LimnServer *s, const ServedText *d) {
  LimnAsk ask = serve_asking(s);
  const char *messages = limn_edit_ask(d->shown, "messages", &ask);
  Buf b;
  JsonOut j = serve_notify(s, &b, "textDocument/publishDiagnostics");
  json_object(&j, NULL);
  json_text(&j, "uri", d->uri);
  json_print(&j, "version", "%.0f", d->version);
  json_print(&j, "diagnostics", "%s", messages ? messages : "[]");
  json_end(&j);
  serve_send(s, &b);
}

bool served_check(LimnServer *s, ServedText *d, const volatile sig_atomic_t *stop) {
  if (!d->next) d->next = served_handle(s);
  if (!d->next) return false;
  if (d->abandoned >= GIVE_UP_LIMIT) stop = NULL;
  double begin = clock_seconds();
  LimnStatus status = limn_edit_load(d->next, d->path, d->text, d->n, stop);
  if (stop_asked(stop) && status) {
    d->abandoned++;
    d->due = clock_seconds() + PAUSE;
    return false;
  }
  limn_free(d->shown);
  d->shown = d->next;
  d->next = NULL;
  d->seconds = clock_seconds() - begin;
  d->abandoned = 0;
  d->stale = false;
  d->shown_is_current = true;
  d->needs_dry_run = !limn_errors(d->shown);
  d->due = clock_seconds() + TRY_PAUSE + 10 * d->seconds; // a dry run cannot be interrupted
  publish_messages(s, d);
  if (!s->how.editor) served_send_pictures(s, d);
  return true;
}

void served_dry_run(LimnServer *s, ServedText *d) {
  uint32_t before = limn_message_count(d->shown);
  d->needs_dry_run = false;
  limn_check(d->shown);
  if (limn_message_count(d->shown) != before) publish_messages(s, d);
}

bool served_ready(LimnServer *s, ServedText *d, bool now) {
  if (d->stale && (now || !d->shown || (d->n < SHORT && d->seconds < QUICK)))
    served_check(s, d, NULL);
  if (!d->shown) return false;
  if (!d->shown_is_current)
    d->shown_is_current = limn_edit_text(d->shown, d->text, d->n) == LIMN_GOOD;
  return d->shown_is_current;
}
