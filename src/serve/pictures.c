// Pictures of an open document: the list of pictures, sent after each check, and drawing one on
// request.
#include "base/json_write.h"
#include "serve/serve.h"

// -- the list of pictures -------------------------------------------------------------------------
static const struct {
  const char *list, *kind; // `list`: a key of limn_names
} groups[] = {{"diagrams", "diagram"},
              {"machines", "machine"},
              {"learners", "learner"},
              {"boxes", "box"},
              {"goals", "goal"}};

const Json *served_names(LimnServer *s, Limn *l) {
  const char *error, *text = limn_names(l);
  return text ? json_read(s->scratch, text, strlen(text), &error) : NULL;
}

static void add_picture(JsonOut *j, const char *name, const char *kind) {
  json_object(j, NULL);
  json_text_or_null(j, "name", name);
  json_text(j, "kind", kind);
  json_end(j);
}

// The last declaration usually builds on the others.
static const char *main_name(const Json *list) {
  const char *last = NULL;
  for (const Json *one = json_items(list); one; one = json_after(list, one)) last = one->text;
  return last;
}

// The default picture: the first kind that the program has; goals, or else its last declaration.
static const char *add_first(const Json *names, JsonOut *j) {
  if (json_items(json_get(names, "goals"))) {
    add_picture(j, NULL, "goals");
    return NULL;
  }
  for (uint32_t g = 0; g < COUNT(groups); g++) {
    const char *name = main_name(json_get(names, groups[g].list));
    if (!name) continue;
    add_picture(j, name, groups[g].kind);
    return name;
  }
  return NULL;
}

static void add_pictures(LimnServer *s, Limn *l, JsonOut *j) {
  const Json *names = served_names(s, l);
  const char *first = add_first(names, j);
  for (uint32_t g = 0; g < COUNT(groups); g++) {
    const Json *list = json_get(names, groups[g].list);
    for (const Json *one = json_items(list); one; one = json_after(list, one))
      if (!first || strcmp(first, one->text)) add_picture(j, one->text, groups[g].kind);
  }
}

void served_send_pictures(LimnServer *s, ServedText *d) {
  Buf b;
  JsonOut j = serve_notify(s, &b, "limn/looked");
  json_object(&j, NULL);
  json_text(&j, "uri", d->uri);
  json_number(&j, "version", d->version);
  json_number(&j, "errors", limn_errors(d->shown));
  json_list(&j, "pictures");
  add_pictures(s, d->shown, &j);
  json_end(&j);
  json_end(&j);
  serve_send(s, &b);
}

// -- one of them ----------------------------------------------------------------------------------
// The strings of a list, terminated by NULL; NULL: there is no list. False: malformed.
static bool read_names(Arena *a, const Json *list, const char *const **out) {
  *out = NULL;
  if (!list || list->kind == JSON_NULL) return true;
  if (list->kind != JSON_LIST) return false;
  const char **at = NEW_ARRAY(a, const char *, list->n + 1);
  uint32_t n = 0;
  for (const Json *one = json_items(list); one; one = json_after(list, one)) {
    if (one->kind != JSON_TEXT) return false;
    at[n++] = one->text;
  }
  *out = at;
  return true;
}

static bool read_view(const char *view, LimnDraw *how) {
  if (!view || !strcmp(view, "plain")) return true;
  how->lens = !strcmp(view, "lens");
  how->grad = !strcmp(view, "grad");
  how->who = !strcmp(view, "who");
  how->unfold = !strcmp(view, "unfold");
  return how->lens || how->grad || how->who || how->unfold;
}

static const char *width_text(Arena *a, const Json *width) {
  if (width && width->kind == JSON_TEXT) return width->text;
  return width && width->kind == JSON_NUMBER ? arena_format(a, "%.0f", width->number) : NULL;
}

// False: refused.
static bool read_drawing(const ServeCall *c, LimnDraw *how) {
  static const char *const known[] = {"svg", "pdf", "tex", "txt"};
  Arena *a = c->s->scratch;
  const char *as = json_get_text(c->params, "as"), *view = json_get_text(c->params, "view");
  bool good = !as;
  for (uint32_t i = 0; as && i < COUNT(known); i++) good |= strcmp(as, known[i]) == 0;
  if (!good) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`as` is svg, pdf, tex or txt, not %s", as);
    return false;
  }
  if (!read_view(view, how)) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`view` is plain, lens, grad, who or unfold, not %s", view);
    return false;
  }
  if (!read_names(a, json_get(c->params, "open"), &how->open) ||
      !read_names(a, json_get(c->params, "close"), &how->close)) {
    serve_refuse(c, RPC_INVALID_PARAMS, "`open` and `close` are lists of names");
    return false;
  }
  how->out = arena_format(a, "picture.%s", as ? as : "svg");
  how->level = json_get_text(c->params, "level");
  how->theme = json_get_text(c->params, "theme");
  how->places = true;
  how->width = width_text(a, json_get(c->params, "width"));
  return true;
}

// Bytes as a quoted text.
static void put_base64(Buf *b, const char *bytes, size_t n) {
  static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  buf_char(b, '"');
  for (size_t i = 0; i < n; i += 3) {
    uint32_t x = 0;
    for (size_t k = 0; k < 3; k++) x = x << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0);
    for (int k = 0; k < 4; k++)
      buf_char(b, k < 2 || i + (size_t)k - 1 < n ? letter[x >> (18 - 6 * k) & 63] : '=');
  }
  buf_char(b, '"');
}

static bool is_binary(const char *out) { return text_ends(out, ".pdf") || text_ends(out, ".png"); }

// The requested name; by default the goals, or the best substitute.
static const char *name_asked(const ServeCall *c, ServedText *d) {
  const char *name = json_get_text(c->params, "name");
  Buf b = buf_new(c->s->scratch);
  JsonOut none = json_out(&b);
  json_list(&none, NULL);
  return name ? name : add_first(served_names(c->s, d->shown), &none);
}

static void answer_picture(const ServeCall *c, ServedText *d, const char *name, LimnDraw *how) {
  const char *bytes, *words = NULL;
  size_t n;
  if (limn_draw_bytes(d->shown, name, how, &bytes, &n) != LIMN_GOOD) {
    serve_refuse_said(c, d->shown);
    return;
  }
  limn_forget_last(d->shown); // errors of the text were reported by the check
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_text_or_null(&j, "name", name);
  json_number(&j, "version", d->version);
  json_key(&j, "picture");
  if (is_binary(how->out))
    put_base64(c->out, bytes, n);
  else
    buf_json(c->out, bytes, n);
  how->out = NULL;
  LimnDraw wide = *how; // the textual description is not limited by the width of a pane
  wide.width = NULL;
  limn_draw_text(d->shown, name, &wide, &words);
  limn_forget_last(d->shown);
  json_text_or_null(&j, "text", words);
  bool counts = json_get_true(c->params, "cost") && name && !limn_errors(d->shown);
  const char *cost = counts ? limn_cost(d->shown, name, true) : NULL;
  if (!cost) limn_forget_last(d->shown);
  if (cost) json_print(&j, "cost", "%s", cost);
  json_end(&j);
  serve_done(c);
}

void serve_picture(const ServeCall *c) {
  LimnDraw how = {.size = sizeof how, .places = true};
  ServedText *d = serve_asked(c, true);
  if (d && read_drawing(c, &how)) answer_picture(c, d, name_asked(c, d), &how);
}
