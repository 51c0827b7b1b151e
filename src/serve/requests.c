// Requests: most are a question of limn_edit_ask under another name.
#include "serve/serve.h"

static bool natural(const Json *j, uint32_t *out) {
  if (!j || j->kind != JSON_NUMBER || !j->natural || j->number > 2e9) return false;
  *out = (uint32_t)j->number;
  return true;
}

bool serve_place(const Json *j, uint32_t *line, uint32_t *character) {
  return natural(rpc_member(j, "line"), line) && natural(rpc_member(j, "character"), character);
}

LimnAsk serve_asking(const LimnServer *s) {
  return (LimnAsk){
      .size = sizeof(LimnAsk), .utf8 = s->utf8, .library = s->library, .root = s->how.root};
}

ServedText *serve_asked(const ServeCall *c, bool now) {
  const char *uri = rpc_text(rpc_member(c->params, "textDocument"), "uri");
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

// What a request is called here, and what it is about.
typedef enum { ABOUT_TEXT, ABOUT_PLACE, ABOUT_RANGE } AskedAbout;
static const struct {
  const char *method, *question;
  AskedAbout about;
  bool now; // about the text as it is now, whatever that takes
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
  const Json *range = rpc_member(c->params, "range");
  if (about == ABOUT_PLACE)
    return serve_place(rpc_member(c->params, "position"), &a->line, &a->character);
  if (about == ABOUT_TEXT) return true;
  return serve_place(rpc_member(range, "start"), &a->line, &a->character) &&
         serve_place(rpc_member(range, "end"), &a->end_line, &a->end_character);
}

// The last one that has no place, or else the last.
static const char *reason(Limn *l) {
  LimnMessage m = {.size = sizeof m};
  uint32_t n = limn_message_count(l);
  for (uint32_t i = n; i-- > 0;)
    if (limn_message(l, i, &m) == LIMN_GOOD && !*m.file) return m.text;
  return n && limn_message(l, n - 1, &m) == LIMN_GOOD ? m.text : "there is no answer";
}

void serve_refuse_said(const ServeCall *c, Limn *l) {
  serve_refuse(c, RPC_REQUEST_FAILED, "%s", reason(l));
  limn_forget_last(l);
}

static void ask(const ServeCall *c, uint32_t i) {
  LimnAsk a = serve_asking(c->s);
  ServedText *d = serve_asked(c, asked[i].now);
  if (!d) return;
  if (d->path[0] != '/') a.own = d->uri;
  const Json *declaration = rpc_member(rpc_member(c->params, "context"), "includeDeclaration");
  a.no_declaration = declaration && declaration->kind == JSON_FALSE;
  a.text = rpc_text(c->params, "newName");
  if (!a.text) a.text = rpc_text(c->params, "at"); // of `palette`: the wire
  if (!read_place(c, asked[i].about, &a)) {
    serve_refuse(c, RPC_INVALID_PARAMS, "a place is a line and a character, both from 0");
    return;
  }
  if (strcmp(asked[i].question, "rename") == 0) {
    serve_rename(c, d, &a);
    return;
  }
  const char *answer = limn_edit_ask(d->shown, asked[i].question, &a);
  if (answer)
    serve_answer(c, answer);
  else
    serve_refuse_said(c, d->shown);
}

// -- layout ---------------------------------------------------------------------------------------
static void serve_format(const ServeCall *c) {
  const char *uri = rpc_text(rpc_member(c->params, "textDocument"), "uri");
  ServedText *d = served_at(c->s, uri);
  if (!d) {
    serve_refuse(c, RPC_INVALID_PARAMS, "this text is not open");
    return;
  }
  Limn *l = limn_new();
  const char *text = l ? limn_format(l, d->path, d->text, d->n) : NULL;
  bool same = !text || (strlen(text) == d->n && memcmp(text, d->text, d->n) == 0);
  Buf b = buf_new(c->s->scratch);
  uint32_t lines = 0;
  for (size_t i = 0; i < d->n; i++) lines += d->text[i] == '\n';
  buf_char(&b, '[');
  if (!same) {
    buf_printf(&b,
               "{\"range\":{\"start\":{\"line\":0,\"character\":0},\"end\":{\"line\":%u,"
               "\"character\":0}},\"newText\":",
               lines + 1);
    buf_json(&b, text, strlen(text));
    buf_char(&b, '}');
  }
  buf_char(&b, ']');
  serve_answer(c, b.at);
  limn_free(l);
}

// -- symbols of all texts -------------------------------------------------------------------------
void serve_copy(Buf *b, const Json *j) {
  if (j->kind == JSON_TEXT) buf_json(b, j->text, j->n);
  if (j->kind == JSON_NUMBER) buf_number(b, j->number);
  if (j->kind == JSON_TRUE || j->kind == JSON_FALSE)
    buf_text(b, j->kind == JSON_TRUE ? "true" : "false");
  if (j->kind == JSON_NULL) buf_text(b, "null");
  bool object = j->kind == JSON_OBJECT;
  if (!object && j->kind != JSON_LIST) return;
  const Json *one = json_first(j);
  buf_char(b, object ? '{' : '[');
  for (uint32_t i = 0; i < j->n; i++, one = json_next(one)) {
    if (i) buf_char(b, ',');
    if (object) {
      buf_json(b, one->text, one->n);
      buf_char(b, ':');
      one++;
    }
    serve_copy(b, one);
  }
  buf_char(b, object ? '}' : ']');
}

// Letters of the query in this order, as editors expect.
static bool matches(const char *name, const char *query) {
  for (; *query; query++, name++) {
    while (*name && char_upper(*name) != char_upper(*query)) name++;
    if (!*name) return false;
  }
  return true;
}

static void add_symbols(const ServeCall *c, const ServedText *d, const char *query, Buf *b) {
  LimnAsk a = serve_asking(c->s);
  const char *text = limn_edit_ask(d->shown, "symbols", &a), *error;
  const Json *list = text ? json_read(c->s->scratch, text, strlen(text), &error) : NULL;
  const Json *one = list && list->kind == JSON_LIST ? json_first(list) : NULL;
  for (uint32_t i = 0; one && i < list->n; i++, one = json_next(one)) {
    const char *name = rpc_text(one, "name");
    if (!name || !matches(name, query)) continue;
    if (b->n > 1) buf_char(b, ',');
    buf_text(b, "{\"name\":");
    buf_json(b, name, strlen(name));
    buf_text(b, ",\"kind\":");
    serve_copy(b, rpc_member(one, "kind"));
    buf_text(b, ",\"location\":{\"uri\":");
    buf_json(b, d->uri, strlen(d->uri));
    buf_text(b, ",\"range\":");
    serve_copy(b, rpc_member(one, "selectionRange"));
    buf_text(b, "}}");
  }
}

static void serve_symbols(const ServeCall *c) {
  const char *query = rpc_text(c->params, "query");
  Buf b = buf_new(c->s->scratch);
  buf_char(&b, '[');
  for (uint32_t i = 0; i < c->s->doc.n; i++)
    if (served_ready(c->s, c->s->doc.at[i], false))
      add_symbols(c, c->s->doc.at[i], query ? query : "", &b);
  buf_char(&b, ']');
  serve_answer(c, b.at);
}

// -- commands -------------------------------------------------------------------------------------
// limn.openPicture [{"uri", "position"}]: the box there as svg.
static void open_picture(const ServeCall *c, const Json *where) {
  LimnAsk a = serve_asking(c->s);
  ServedText *d = served_at(c->s, rpc_text(where, "uri"));
  if (!d || !serve_place(rpc_member(where, "position"), &a.line, &a.character)) {
    serve_refuse(c, RPC_INVALID_PARAMS,
                 "limn.openPicture wants {\"uri\", \"position\"} of a text that is open");
    return;
  }
  if (!served_ready(c->s, d, false)) {
    serve_refuse(c, RPC_INTERNAL_ERROR, "nothing is known of this text");
    return;
  }
  const char *box = limn_edit_ask(d->shown, "box", &a), *error, *svg;
  const Json *named = box ? json_read(c->s->scratch, box, strlen(box), &error) : NULL;
  const char *name = rpc_text(named, "name");
  LimnDraw how = {.size = sizeof how, .out = "picture.svg"};
  size_t n;
  if (limn_draw_bytes(d->shown, name, &how, &svg, &n) != LIMN_GOOD) {
    serve_refuse_said(c, d->shown);
    return;
  }
  Buf b = buf_new(c->s->scratch);
  buf_text(&b, "{\"name\":");
  buf_json(&b, name ? name : "", name ? strlen(name) : 0);
  buf_text(&b, ",\"svg\":");
  buf_json(&b, svg, n);
  buf_char(&b, '}');
  serve_answer(c, b.at);
}

static void serve_command(const ServeCall *c) {
  const char *command = rpc_text(c->params, "command");
  const Json *arguments = rpc_member(c->params, "arguments");
  bool one = arguments && arguments->kind == JSON_LIST && arguments->n == 1;
  if (!command || strcmp(command, "limn.openPicture"))
    serve_refuse(c, RPC_INVALID_PARAMS, "there is no command `%s`", command ? command : "");
  else
    open_picture(c, one ? json_first(arguments) : NULL);
}

// limn/document {"uri"}: the text behind an address that is no file.
static void serve_document(const ServeCall *c) {
  const char *uri = rpc_text(c->params, "uri");
  Limn *l = limn_new();
  const char *name = uri && strncmp(uri, "limn:", 5) == 0 ? uri + 5 : "";
  while (*name == '/') name++;
  const char *text = l ? limn_edit_document(l, name) : NULL;
  Buf b = buf_new(c->s->scratch);
  if (text) buf_json(&b, text, strlen(text));
  serve_answer(c, text ? b.at : NULL);
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
      ask(c, i);
      return true;
    }
  for (uint32_t i = 0; i < COUNT(own); i++)
    if (strcmp(own[i].method, c->method) == 0) {
      own[i].take(c);
      return true;
    }
  return false;
}

const char *serve_capabilities(LimnServer *s) {
  Limn *l = limn_new();
  LimnAsk a = {.size = sizeof a};
  const char *legend =
      l && !limn_edit_load(l, "legend.limn", "", 0, NULL) ? limn_edit_ask(l, "legend", &a) : NULL;
  Buf b = buf_new(s->scratch);
  buf_printf(
      &b,
      "{\"serverInfo\":{\"name\":\"limn\",\"version\":\"%s\"},\"capabilities\":{"
      "\"positionEncoding\":\"%s\","
      "\"textDocumentSync\":{\"openClose\":true,\"change\":2,\"save\":true},\"hoverProvider\":true,"
      "\"definitionProvider\":true,\"referencesProvider\":true,\"documentHighlightProvider\":true,"
      "\"renameProvider\":{\"prepareProvider\":true},\"completionProvider\":{\"triggerCharacters\":"
      "[\".\",\"[\",\"(\"]},"
      "\"signatureHelpProvider\":{\"triggerCharacters\":[\"(\",\"[\",\",\"]},"
      "\"documentFormattingProvider\":true,"
      "\"documentSymbolProvider\":true,\"workspaceSymbolProvider\":true,\"codeActionProvider\":"
      "true,"
      "\"inlayHintProvider\":true,\"foldingRangeProvider\":true,"
      "\"executeCommandProvider\":{\"commands\":[\"limn.openPicture\"]},"
      "\"workspace\":{\"workspaceFolders\":{\"supported\":true,\"changeNotifications\":true}},"
      "\"semanticTokensProvider\":{\"full\":true,\"legend\":",
      limn_version(), s->utf8 ? "utf-8" : "utf-16");
  buf_text(&b, legend ? legend : "{\"tokenTypes\":[],\"tokenModifiers\":[]}");
  buf_text(&b, "}}}");
  limn_free(l);
  return b.at;
}
