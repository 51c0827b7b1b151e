// Messages of JSON-RPC 2.0. A response is written with its id first, so that it can be told from a
// notification by its beginning.
#include "rpc/rpc.h"
#include "base/json_write.h"

#include <math.h>

#define RESPONSE "{\"jsonrpc\":\"2.0\",\"id\":"

// -- reading --------------------------------------------------------------------------------------
const char *rpc_id(Arena *a, const Json *id) {
  Buf b = buf_new(a);
  if (id->kind == JSON_NUMBER && isfinite(id->number)) return arena_format(a, "%.17g", id->number);
  if (id->kind != JSON_TEXT) return NULL;
  buf_json(&b, id->text, id->n);
  return b.at;
}

bool rpc_read(Arena *a, const Json *j, RpcMessage *out) {
  const Json *method = json_get(j, "method"), *id = json_get(j, "id");
  *out = (RpcMessage){.id = id ? rpc_id(a, id) : NULL, .params = json_get(j, "params")};
  if (method && method->kind == JSON_TEXT) out->method = method->text;
  if (method ? !out->method : !id)
    out->wrong = "a message has a method, and this one has none";
  else if (id && !out->id)
    out->wrong = "an id is a number or a text";
  if (out->wrong) out->id = "null";
  return !out->wrong;
}

// -- writing --------------------------------------------------------------------------------------
static JsonOut tight_out(Buf *b) {
  JsonOut j = json_out(b);
  j.tight = true;
  return j;
}

JsonOut rpc_result(Buf *b, const char *id) {
  buf_printf(b, RESPONSE "%s,\"result\":", id);
  return tight_out(b);
}

JsonOut rpc_notification(Buf *b, const char *method) {
  buf_printf(b, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":", method);
  return tight_out(b);
}

void rpc_end(Buf *b) { buf_char(b, '}'); }

void rpc_error(Buf *b, const char *id, RpcError code, const char *text, const char *data) {
  buf_printf(b, RESPONSE "%s,\"error\":{\"code\":%d,\"message\":", id, (int)code);
  buf_json(b, text, strlen(text));
  if (data) buf_text(b, ",\"data\":"), buf_text(b, data);
  buf_text(b, "}}");
}

bool rpc_is_response(const char *message, size_t n) {
  return n >= sizeof RESPONSE && memcmp(message, RESPONSE, sizeof RESPONSE - 1) == 0;
}
