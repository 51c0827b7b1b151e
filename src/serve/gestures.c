// limn/edit {"edit": {"kind", …}}: a gesture in a picture as one change of the text. What is refused has
// the place that it is about with it, so that a page can show it where the wire would go.
#include "serve/serve.h"

// JSON that was read, as text again.
static void put_json(Buf *b, const Json *j) {
  bool list = j->kind == JSON_LIST, object = j->kind == JSON_OBJECT;
  if (j->kind == JSON_NULL) buf_text(b, "null");
  if (j->kind == JSON_TRUE) buf_text(b, "true");
  if (j->kind == JSON_FALSE) buf_text(b, "false");
  if (j->kind == JSON_NUMBER) buf_number(b, j->number);
  if (j->kind == JSON_TEXT) buf_json(b, j->text, j->n);
  if (!list && !object) return;
  const Json *one = json_first(j);
  buf_char(b, list ? '[' : '{');
  for (uint32_t i = 0; i < j->n; i++, one = json_next(one)) {
    if (i) buf_char(b, ',');
    put_json(b, one);
    if (!object) continue;
    buf_char(b, ':');
    put_json(b, ++one);
  }
  buf_char(b, list ? ']' : '}');
}

static const char *range_of(const ServeCall *c, const Json *answer) {
  const Json *range = json_get(answer, "range");
  Buf b = buf_new(c->s->scratch);
  buf_text(&b, "{\"range\":");
  if (range) put_json(&b, range);
  buf_char(&b, '}');
  return range ? b.at : NULL;
}

void serve_edit(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  const Json *edit = rpc_member(c->params, "edit");
  LimnAsk a = serve_asking(c->s);
  Buf b = buf_new(c->s->scratch);
  const char *error;
  if (!d) return;
  if (edit) put_json(&b, edit);
  a.text = b.n ? b.at : "";
  const char *text = limn_edit_ask(d->shown, "gesture", &a);
  const Json *answer = text ? json_read(c->s->scratch, text, strlen(text), &error) : NULL;
  const char *refused = rpc_text(answer, "refused");
  if (!answer)
    serve_refuse_said(c, d->shown);
  else if (refused)
    serve_refuse_at(c, refused, range_of(c, answer));
  else
    serve_answer(c, text);
}
