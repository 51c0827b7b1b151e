// JSON-RPC 2.0: messages read into structs, and responses written. Both servers, the language server and
// the studio, stand on it; who carries a message, and to whom, is theirs.
//
//   RpcMessage m;
//   if (!rpc_read(a, json, &m)) rpc_error(&b, m.id, RPC_INVALID_REQUEST, m.wrong, NULL);
//   JsonOut j = rpc_result(&b, m.id);
//   json_number(&j, NULL, 3);
//   rpc_end(&b);
#ifndef LIMN_RPC_RPC_H
#define LIMN_RPC_RPC_H

#include "io/bytes/bytes.h"

typedef enum { // error codes of JSON-RPC, and of the language server protocol
  RPC_PARSE_ERROR = -32700,
  RPC_INVALID_REQUEST = -32600,
  RPC_NO_METHOD = -32601,
  RPC_INVALID_PARAMS = -32602,
  RPC_INTERNAL_ERROR = -32603,
  RPC_NOT_INITIALIZED = -32002,
  RPC_CANCELLED = -32800,
  RPC_REQUEST_FAILED = -32803
} RpcError;

typedef struct {
  const char *id;     // as JSON; NULL: a notification
  const char *method; // NULL: a response
  const Json *params; // NULL: none
  const char *wrong;  // why the JSON is no message of the protocol; NULL: it is one
} RpcMessage;
// False: out->wrong says why. out->id is "null" then: an error response to a message without a usable id
// has that id.
bool rpc_read(Arena *, const Json *, RpcMessage *out);
const char *rpc_id(Arena *, const Json *id); // as JSON again; NULL: an id is a number or a text
// Does this object name this method, "$/cancelRequest", or one with this prefix, "host/"? The rest of
// the message is not read.
bool rpc_names_method(const char *message, const char *method); // method.c

// The result of a response, or the params of a notification, is what is written before rpc_end.
JsonOut rpc_result(Buf *, const char *id);
JsonOut rpc_notification(Buf *, const char *method);
void rpc_end(Buf *);
void rpc_error(Buf *, const char *id, RpcError, const char *text,
               const char *data); // data: JSON, or NULL
// Errors that are sent where there may be no memory: string literals of this code and text.
#define RPC_ERROR_TEXT(code, text)                                                                 \
  "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":" #code ",\"message\":\"" text "\"}}"
#define RPC_NO_MEMORY RPC_ERROR_TEXT(-32603, "memory is exhausted")
bool rpc_is_response(const char *message, size_t n); // of a message that was written here

#endif
