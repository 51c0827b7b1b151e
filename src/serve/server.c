// A language server independent of its transport: messages go in by limn_server_take and out by
// `send`. The command line connects it to a pipe; a page in a browser calls it directly.
//
// Messages are handled in order. Checking a changed text is slow, so limn_server_work does it after
// a pause, and abandons it when the caller signals a newer message.
#include "base/files.h"
#include "base/json_write.h"
#include "serve/serve.h"

#include <stdlib.h>

// -- messages out ---------------------------------------------------------------------------------
static void send_text(LimnServer *s, const Buf *b) {
  if (s->how.send && b->n) s->how.send(s->how.context, b->at, b->n);
}

JsonOut serve_result(const ServeCall *c) { return rpc_result(c->out, c->id); }

void serve_done(const ServeCall *c) { rpc_end(c->out); }

void serve_answer(const ServeCall *c, const char *json) {
  JsonOut j = serve_result(c);
  json_print(&j, NULL, "%s", json ? json : "null");
  serve_done(c);
}

void serve_refuse_at(const ServeCall *c, RpcError code, const char *text, const char *data) {
  if (!c->id) return;
  c->out->n = 0; // discards a result that was begun
  rpc_error(c->out, c->id, code, text, data);
}

void serve_refuse(const ServeCall *c, RpcError code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  serve_refuse_at(c, code, arena_vformat(c->s->scratch, format, args), NULL);
  va_end(args);
}

JsonOut serve_notify(LimnServer *s, Buf *b, const char *method) {
  *b = buf_new(s->scratch);
  return rpc_notification(b, method);
}

void serve_send(LimnServer *s, Buf *b) {
  rpc_end(b);
  send_text(s, b);
}

// -- beginning and end ----------------------------------------------------------------------------
// Writes the library's text to a file, for editors that can only open files.
static const char *library_file(LimnServer *s) {
  const char *error, *folder = cache_folder(s->own, NULL, &error);
  Limn *l = folder ? limn_new() : NULL;
  const char *text = l ? limn_edit_document(l, "library.limn") : NULL;
  const char *wrong = text ? file_write_in(s->own, folder, "library.limn", text, strlen(text)) : "";
  limn_free(l);
  return wrong ? NULL : arena_format(s->own, "file://%s/library.limn", folder);
}

static void serve_initialize(const ServeCall *c) {
  LimnServer *s = c->s;
  if (s->stage != SERVE_BEGINS) {
    serve_refuse(c, RPC_INVALID_REQUEST, "`initialize` comes once");
    return;
  }
  const Json *general = json_get(json_get(c->params, "capabilities"), "general");
  const Json *encodings = json_get(general, "positionEncodings");
  for (const Json *e = json_items(encodings); e; e = json_after(encodings, e))
    s->utf8 |= e->kind == JSON_TEXT && strcmp(e->text, "utf-8") == 0;
  bool documents = json_get_true(json_get(c->params, "initializationOptions"), "limnDocuments");
  s->library = documents ? "limn:library.limn" : library_file(s);
  s->stage = SERVE_RUNS;
  serve_capabilities(c);
}

// A cancellation may come before its request: a client with a queue can send it first.
static void serve_cancel(const ServeCall *c) {
  const Json *id = json_get(c->params, "id");
  LimnServer *s = c->s;
  const char *text = id ? rpc_id(s->scratch, id) : NULL;
  if (!text || strlen(text) >= sizeof s->cancelled[0]) return;
  memcpy(s->cancelled[s->cancels++ % CANCELLED], text, strlen(text) + 1);
}

static bool was_cancelled(const ServeCall *c) {
  LimnServer *s = c->s;
  for (uint32_t i = 0; i < CANCELLED; i++) {
    if (strcmp(s->cancelled[i], c->id)) continue;
    s->cancelled[i][0] = 0;
    serve_refuse(c, RPC_CANCELLED, "cancelled");
    return true;
  }
  return false;
}

// -- messages in ----------------------------------------------------------------------------------
static void serve_nothing(const ServeCall *c) { (void)c; }

static const struct {
  const char *method;
  void (*take)(const ServeCall *);
} notices[] = {{"initialized", serve_nothing},
               {"$/cancelRequest", serve_cancel},
               {"$/setTrace", serve_nothing},
               {"textDocument/didOpen", serve_open},
               {"textDocument/didChange", serve_change},
               {"textDocument/didClose", serve_close},
               {"textDocument/didSave", serve_save},
               {"workspace/didChangeConfiguration", serve_nothing},
               {"workspace/didChangeWatchedFiles", serve_save},
               {"workspace/didChangeWorkspaceFolders", serve_nothing}};

static void handle_notification(const ServeCall *c) {
  LimnServer *s = c->s;
  if (strcmp(c->method, "exit") == 0) {
    s->status = s->stage == SERVE_SHUT ? 0 : 1;
    s->stage = SERVE_OVER;
    return;
  }
  bool runs = s->stage == SERVE_RUNS || strcmp(c->method, "$/cancelRequest") == 0;
  for (uint32_t i = 0; runs && i < COUNT(notices); i++)
    if (strcmp(notices[i].method, c->method) == 0) notices[i].take(c);
}

static void handle_request(const ServeCall *c) {
  LimnServer *s = c->s;
  if (was_cancelled(c)) return;
  if (strcmp(c->method, "initialize") == 0) {
    serve_initialize(c);
  } else if (s->stage == SERVE_BEGINS) {
    serve_refuse(c, RPC_NOT_INITIALIZED, "`initialize` comes first");
  } else if (s->stage == SERVE_SHUT) {
    serve_refuse(c, RPC_INVALID_REQUEST, "nothing comes after `shutdown` but `exit`");
  } else if (strcmp(c->method, "shutdown") == 0) {
    s->stage = SERVE_SHUT;
    serve_answer(c, NULL);
  } else if (!serve_request(c)) {
    serve_refuse(c, RPC_NO_METHOD, "there is no request `%s`", c->method);
  }
}

// j = NULL: the message is no JSON; `error` says why.
static void handle_message(LimnServer *s, const Json *j, const char *error) {
  Buf out = buf_new(s->scratch);
  RpcMessage m = {.id = "null"};
  bool good = j && rpc_read(s->scratch, j, &m);
  ServeCall c = {.s = s, .id = m.id, .method = m.method, .params = m.params, .out = &out};
  if (!j)
    serve_refuse(&c, RPC_PARSE_ERROR, "this is not JSON: %s", error);
  else if (!good)
    serve_refuse(&c, RPC_INVALID_REQUEST, "%s", m.wrong);
  else if (!m.id)
    handle_notification(&c);
  else if (m.method) // a response: this server sends no requests
    handle_request(&c);
  send_text(s, &out);
}

// A message, or a batch of them in a list.
static void handle_text(LimnServer *s, const char *message, size_t n) {
  const char *error = "";
  const Json *j = json_read(s->scratch, message, n, &error);
  for (const Json *one = json_items(j); one; one = json_after(j, one))
    handle_message(s, one, error);
  if (!json_items(j)) handle_message(s, j, error);
}

// -- the public functions -------------------------------------------------------------------------
LimnServer *limn_server_open(const LimnServe *how) {
  LimnServer *s = calloc(1, sizeof *s);
  if (!s || !how || how->size < sizeof(size_t)) {
    free(s);
    return NULL;
  }
  memcpy(&s->how, how, how->size < sizeof s->how ? how->size : sizeof s->how);
  s->own = arena_new();
  if (!s->own) {
    free(s);
    return NULL;
  }
  for (uint32_t i = 0; s->how.read && s->how.read[i] && i + 1 < COUNT(s->read); i++)
    s->read[i] = s->how.read[i];
  return s;
}

void limn_server_close(LimnServer *s) {
  if (!s) return;
  plays_close(s);
  for (uint32_t i = 0; i < s->doc.n; i++) served_free(s->doc.at[i]);
  arena_free(s->own);
  free(s);
}

LimnStatus limn_server_take(LimnServer *s, const char *message, size_t n) {
  Guard g;
  if (!s || (!message && n)) return LIMN_USAGE;
  if (!GUARDED(s->own, &g)) {
    static const char lost[] = RPC_NO_MEMORY;
    if (s->how.send) s->how.send(s->how.context, lost, sizeof lost - 1);
    return LIMN_SYSTEM;
  }
  s->scratch = arena_child(s->own);
  handle_text(s, message, n);
  arena_free(s->scratch);
  s->scratch = NULL;
  guard_leave(&g);
  return LIMN_GOOD;
}

int limn_server_ended(const LimnServer *s) { return s && s->stage == SERVE_OVER ? s->status : -1; }

// The document whose check has been due longest; NULL: none.
static ServedText *first_due(LimnServer *s) {
  ServedText *first = NULL;
  for (uint32_t i = 0; i < s->doc.n; i++) {
    ServedText *d = s->doc.at[i];
    if ((d->stale || d->needs_dry_run) && (!first || d->due < first->due)) first = d;
  }
  return first;
}

static void work_on_documents(LimnServer *s, const volatile sig_atomic_t *stop) {
  ServedText *d = first_due(s);
  if (!d || d->due > clock_seconds()) return;
  if (d->stale)
    served_check(s, d, stop);
  else
    served_dry_run(s, d);
}

int limn_server_work(LimnServer *s, const volatile sig_atomic_t *stop) {
  Guard g;
  if (!s) return -1;
  if (!GUARDED(s->own, &g)) return -1;
  s->scratch = arena_child(s->own);
  work_on_documents(s, stop);
  arena_free(s->scratch);
  s->scratch = NULL;
  guard_leave(&g);
  const ServedText *d = first_due(s);
  if (!d) return -1;
  double wait = d->due - clock_seconds();
  return wait > 0 ? (int)(wait * 1000) + 1 : 0;
}
