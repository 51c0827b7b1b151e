// limn/edit {"edit": {"kind", …}}: an edit in a picture, answered as a WorkspaceEdit. A refusal has
// the range that it is about, so that the page can show it at the wire.
#include "base/json_write.h"
#include "serve/serve.h"

static const char *place_refused(const ServeCall *c, const Json *answer) {
  const Json *range = json_get(answer, "range");
  Buf b = buf_new(c->s->scratch);
  JsonOut j = json_out(&b);
  j.tight = true;
  json_object(&j, NULL);
  if (range) json_copy(&j, "range", range);
  json_end(&j);
  return range ? b.at : NULL;
}

void serve_edit(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  const Json *edit = json_get(c->params, "edit");
  LimnAsk a = serve_asking(c->s);
  Buf b = buf_new(c->s->scratch);
  JsonOut gesture = json_out(&b), j;
  if (!d) return;
  if (edit) json_copy(&gesture, NULL, edit);
  a.text = b.at;
  const Json *answer = serve_question(c->s, d->shown, "gesture", &a);
  const char *refused = json_get_text(answer, "refused");
  if (!answer) {
    serve_refuse_said(c, d->shown);
  } else if (refused) {
    serve_refuse_at(c, RPC_REQUEST_FAILED, refused, place_refused(c, answer));
  } else {
    j = serve_result(c);
    json_copy(&j, NULL, answer);
    serve_done(c);
  }
}
