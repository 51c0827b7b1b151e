// Requests of the protocol: most map to one question of limn_edit_ask.
#include "base/json_write.h"
#include "serve/serve.h"

static bool read_natural(const Json *j, uint32_t *out) {
  if (!j || j->kind != JSON_NUMBER || !j->natural || j->number > 2e9) return false;
  *out = (uint32_t)j->number;
  return true;
}

bool serve_place(const Json *j, uint32_t *line, uint32_t *character) {
  return read_natural(json_get(j, "line"), line) &&
         read_natural(json_get(j, "character"), character);
}

LimnAsk serve_asking(const LimnServer *s) {
  return (LimnAsk){
      .size = sizeof(LimnAsk), .utf8 = s->utf8, .library = s->library, .root = s->how.root};
}

const Json *serve_question(LimnServer *s, Limn *l, const char *question, const LimnAsk *a) {
  const char *answer = limn_edit_ask(l, question, a), *error;
  if (!answer) return NULL;
  size_t n = strlen(answer);
  return json_read(s->scratch, arena_text(s->scratch, answer, n), n, &error);
}

ServedText *serve_asked(const ServeCall *c, bool now) {
  const char *uri = json_get_text(json_get(c->params, "textDocument"), "uri");
  ServedText *d = served_at(c->s, uri);
  if (!d) {
    serve_refuse(c, RPC_INVALID_PARAMS, uri ? "this text is not open: %s" : "a text is wanted",
                 uri);
    return NULL;
  }
  if (served_ready(c->s, d, now)) return d;
  serve_refuse(c, RPC_INTERNAL_ERROR, "nothing is known of this text");
  return NULL;
}

// Maps methods of the protocol to questions, with the parameters that they need.
typedef enum { ABOUT_TEXT, ABOUT_PLACE, ABOUT_RANGE } AskedAbout;
static const struct {
  const char *method, *question;
  AskedAbout about;
  bool now; // needs the current text to be checked first
} asked[] = {{"textDocument/hover", "hover", ABOUT_PLACE, false},
             {"textDocument/definition", "definition", ABOUT_PLACE, false},
             {"textDocument/references", "references", ABOUT_PLACE, false},
             {"textDocument/documentHighlight", "highlight", ABOUT_PLACE, false},
             {"textDocument/prepareRename", "prepareRename", ABOUT_PLACE, false},
             {"textDocument/rename", "rename", ABOUT_PLACE, false},
             {"textDocument/completion", "completion", ABOUT_PLACE, false},
             {"textDocument/signatureHelp", "signature", ABOUT_PLACE, false},
             {"textDocument/documentSymbol", "symbols", ABOUT_TEXT, false},
             {"textDocument/semanticTokens/full", "tokens", ABOUT_TEXT, false},
             {"textDocument/foldingRange", "folding", ABOUT_TEXT, false},
             {"textDocument/codeAction", "actions", ABOUT_RANGE, false},
             {"textDocument/inlayHint", "hints", ABOUT_RANGE, false},
             {"limn/palette", "palette", ABOUT_TEXT, false},
             {"limn/numbers", "numbers", ABOUT_TEXT, true}};

static bool read_place(const ServeCall *c, AskedAbout about, LimnAsk *a) {
  const Json *range = json_get(c->params, "range");
  if (about == ABOUT_PLACE)
    return serve_place(json_get(c->params, "position"), &a->line, &a->character);
  if (about == ABOUT_TEXT) return true;
  return serve_place(json_get(range, "start"), &a->line, &a->character) &&
         serve_place(json_get(range, "end"), &a->end_line, &a->end_character);
}

// The last message without a span, else the last message.
static const char *refusal_reason(Limn *l) {
  LimnMessage m = {.size = sizeof m};
  uint32_t n = limn_message_count(l);
  for (uint32_t i = n; i-- > 0;)
    if (limn_message(l, i, &m) == LIMN_GOOD && !*m.file) return m.text;
  return n && limn_message(l, n - 1, &m) == LIMN_GOOD ? m.text : "there is no answer";
}

void serve_refuse_said(const ServeCall *c, Limn *l) {
  serve_refuse(c, RPC_REQUEST_FAILED, "%s", refusal_reason(l));
  limn_forget_last(l);
}

void serve_answer_or_refuse(const ServeCall *c, ServedText *d, const char *json) {
  if (json)
    serve_answer(c, json);
  else
    serve_refuse_said(c, d->shown);
}

static void answer_question(const ServeCall *c, uint32_t i) {
  LimnAsk a = serve_asking(c->s);
  ServedText *d = serve_asked(c, asked[i].now);
  if (!d) return;
  if (d->path[0] != '/') a.own = d->uri;
  const Json *declaration = json_get(json_get(c->params, "context"), "includeDeclaration");
  a.no_declaration = declaration && declaration->kind == JSON_FALSE;
  a.text = json_get_text(c->params, "newName");
  if (!a.text) a.text = json_get_text(c->params, "at"); // of `palette`: a range in "L:C-L:C" form
  if (!read_place(c, asked[i].about, &a)) {
    serve_refuse(c, RPC_INVALID_PARAMS, "a place is a line and a character, both from 0");
    return;
  }
  if (strcmp(asked[i].question, "rename") == 0) {
    serve_rename(c, d, &a);
    return;
  }
  serve_answer_or_refuse(c, d, limn_edit_ask(d->shown, asked[i].question, &a));
}

// -- layout ---------------------------------------------------------------------------------------
static void put_place(JsonOut *j, const char *key, uint32_t line) {
  json_object(j, key);
  json_number(j, "line", line);
  json_number(j, "character", 0);
  json_end(j);
}

// A TextEdit that replaces the whole text.
static void put_whole_text(JsonOut *j, const ServedText *d, const char *text) {
  uint32_t lines = 0;
  for (size_t i = 0; i < d->n; i++) lines += d->text[i] == '\n';
  json_object(j, NULL);
  json_object(j, "range");
  put_place(j, "start", 0);
  put_place(j, "end", lines + 1);
  json_end(j);
  json_text(j, "newText", text);
  json_end(j);
}

static void serve_format(const ServeCall *c) {
  const char *uri = json_get_text(json_get(c->params, "textDocument"), "uri");
  ServedText *d = served_at(c->s, uri);
  if (!d) {
    serve_refuse(c, RPC_INVALID_PARAMS, "this text is not open");
    return;
  }
  Limn *l = limn_new();
  const char *text = l ? limn_format(l, d->path, d->text, d->n) : NULL;
  bool same = !text || (strlen(text) == d->n && memcmp(text, d->text, d->n) == 0);
  JsonOut j = serve_result(c);
  json_list(&j, NULL);
  if (!same) put_whole_text(&j, d, text);
  json_end(&j);
  serve_done(c);
  limn_free(l);
}

// -- symbols of all texts -------------------------------------------------------------------------
// Does the name contain the query's letters in order, as editors expect of fuzzy search?
static bool matches_query(const char *name, const char *query) {
  for (; *query; query++, name++) {
    while (*name && char_upper(*name) != char_upper(*query)) name++;
    if (!*name) return false;
  }
  return true;
}

static void add_symbols(const ServeCall *c, const ServedText *d, const char *query, JsonOut *j) {
  LimnAsk a = serve_asking(c->s);
  const Json *list = serve_question(c->s, d->shown, "symbols", &a);
  for (const Json *one = json_items(list); one; one = json_after(list, one)) {
    const char *name = json_get_text(one, "name");
    if (!name || !matches_query(name, query)) continue;
    json_object(j, NULL);
    json_text(j, "name", name);
    json_copy(j, "kind", json_get(one, "kind"));
    json_object(j, "location");
    json_text(j, "uri", d->uri);
    json_copy(j, "range", json_get(one, "selectionRange"));
    json_end(j);
    json_end(j);
  }
}

static void serve_symbols(const ServeCall *c) {
  const char *query = json_get_text(c->params, "query");
  JsonOut j = serve_result(c);
  json_list(&j, NULL);
  for (uint32_t i = 0; i < c->s->doc.n; i++)
    if (served_ready(c->s, c->s->doc.at[i], false))
      add_symbols(c, c->s->doc.at[i], query ? query : "", &j);
  json_end(&j);
  serve_done(c);
}

// -- commands -------------------------------------------------------------------------------------
// limn.openPicture [{"uri", "position"}]: the box at the position as svg.
static void open_picture(const ServeCall *c, const Json *where) {
  LimnAsk a = serve_asking(c->s);
  ServedText *d = served_at(c->s, json_get_text(where, "uri"));
  if (!d || !serve_place(json_get(where, "position"), &a.line, &a.character)) {
    serve_refuse(c, RPC_INVALID_PARAMS,
                 "limn.openPicture wants {\"uri\", \"position\"} of a text that is open");
    return;
  }
  if (!served_ready(c->s, d, false)) {
    serve_refuse(c, RPC_INTERNAL_ERROR, "nothing is known of this text");
    return;
  }
  const char *name = json_get_text(serve_question(c->s, d->shown, "box", &a), "name"), *svg;
  LimnDraw how = {.size = sizeof how, .out = "picture.svg"};
  size_t n;
  if (limn_draw_bytes(d->shown, name, &how, &svg, &n) != LIMN_GOOD) {
    serve_refuse_said(c, d->shown);
    return;
  }
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_text(&j, "name", name ? name : "");
  json_key(&j, "svg");
  buf_json(c->out, svg, n);
  json_end(&j);
  serve_done(c);
}

static void serve_command(const ServeCall *c) {
  const char *command = json_get_text(c->params, "command");
  const Json *arguments = json_get(c->params, "arguments");
  bool one = arguments && arguments->kind == JSON_LIST && arguments->n == 1;
  if (!command || strcmp(command, "limn.openPicture"))
    serve_refuse(c, RPC_INVALID_PARAMS, "there is no command `%s`", command ? command : "");
  else
    open_picture(c, one ? json_first(arguments) : NULL);
}

// limn/document {"uri"}: the text of a URI that is no file.
static void serve_document(const ServeCall *c) {
  const char *uri = json_get_text(c->params, "uri");
  Limn *l = limn_new();
  const char *name = uri && strncmp(uri, "limn:", 5) == 0 ? uri + 5 : "";
  while (*name == '/') name++;
  const char *text = l ? limn_edit_document(l, name) : NULL;
  JsonOut j = serve_result(c);
  json_text_or_null(&j, NULL, text);
  serve_done(c);
  limn_free(l);
}

// -- all of them ----------------------------------------------------------------------------------
bool serve_request(const ServeCall *c) {
  static const struct {
    const char *method;
    void (*take)(const ServeCall *);
  } own[] = {{"textDocument/formatting", serve_format},
             {"workspace/symbol", serve_symbols},
             {"workspace/executeCommand", serve_command},
             {"limn/document", serve_document},
             {"limn/picture", serve_picture},
             {"limn/cost", serve_cost},
             {"limn/who", serve_who},
             {"limn/summary", serve_summary},
             {"limn/machine", serve_machine},
             {"limn/eval", serve_eval},
             {"limn/sample", serve_sample},
             {"limn/play/open", serve_play_open},
             {"limn/play/step", serve_play_step},
             {"limn/play/set", serve_play_set},
             {"limn/play/close", serve_play_close},
             {"limn/edit", serve_edit}};
  for (uint32_t i = 0; i < COUNT(asked); i++)
    if (strcmp(asked[i].method, c->method) == 0) {
      answer_question(c, i);
      return true;
    }
  for (uint32_t i = 0; i < COUNT(own); i++)
    if (strcmp(own[i].method, c->method) == 0) {
      own[i].take(c);
      return true;
    }
  return false;
}

// The constant part of the server's capabilities, as JSON.
#define PROVIDERS                                                                                  \
  "\"textDocumentSync\":{\"openClose\":true,\"change\":2,\"save\":true},\"hoverProvider\":true,"   \
  "\"definitionProvider\":true,\"referencesProvider\":true,\"documentHighlightProvider\":true,"    \
  "\"renameProvider\":{\"prepareProvider\":true},"                                                 \
  "\"completionProvider\":{\"triggerCharacters\":[\".\",\"[\",\"(\"]},"                            \
  "\"signatureHelpProvider\":{\"triggerCharacters\":[\"(\",\"[\",\",\"]},"                         \
  "\"documentFormattingProvider\":true,\"documentSymbolProvider\":true,"                           \
  "\"workspaceSymbolProvider\":true,\"codeActionProvider\":true,\"inlayHintProvider\":true,"       \
  "\"foldingRangeProvider\":true,"                                                                 \
  "\"executeCommandProvider\":{\"commands\":[\"limn.openPicture\"]},"                              \
  "\"workspace\":{\"workspaceFolders\":{\"supported\":true,\"changeNotifications\":true}}"

void serve_capabilities(const ServeCall *c) {
  Limn *l = limn_new();
  LimnAsk a = {.size = sizeof a};
  const char *legend =
      l && !limn_edit_load(l, "legend.limn", "", 0, NULL) ? limn_edit_ask(l, "legend", &a) : NULL;
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_object(&j, "serverInfo");
  json_text(&j, "name", "limn");
  json_text(&j, "version", limn_version());
  json_end(&j);
  json_print(&j, "capabilities",
             "{\"positionEncoding\":\"%s\"," PROVIDERS
             ",\"semanticTokensProvider\":{\"full\":true,\"legend\":%s}}",
             c->s->utf8 ? "utf-8" : "utf-16",
             legend ? legend : "{\"tokenTypes\":[],\"tokenModifiers\":[]}");
  json_end(&j);
  serve_done(c);
  limn_free(l);
}
