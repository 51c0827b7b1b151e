// Private to serve: a language server, its documents, and messages to be sent.
#ifndef LIMN_SERVE_SERVE_H
#define LIMN_SERVE_SERVE_H

#include "base/base.h"
#include "io/bytes/bytes.h"
#include "limn.h"
#include "rpc/first_error.h"
#include "rpc/rpc.h"

// A text that is open in an editor, with two handles: `shown`, the last complete check, which
// answers requests; and `next`, into which the current text is loaded.
typedef struct {
  Arena *arena;
  const char *uri, *path;
  Arena *text_arena;
  const char *text;
  size_t n;
  double version; // as the editor numbers versions
  Limn *shown, *next;
  bool stale;            // the text has changed since its last check
  bool shown_is_current; // `shown` was given the current text
  bool needs_dry_run;    // it was checked, but no dry run was made
  double due;            // the time at which a check or dry run is due
  double seconds;        // duration of the last check
  uint32_t abandoned;    // consecutive checks that were abandoned
} ServedText;

enum { CANCELLED = 64, PLAYS = 8, SERVED_LIMIT = 8 << 20 }; // SERVED_LIMIT: bytes of a text
// A training session in memory, step by step.
typedef struct {
  uint32_t id; // 0: the entry is free
  Limn *l;
  LimnTrainer *trainer;
  bool done;
  bool measured_now; // measures need no data, so they are computed for every answer
  uint64_t measured; // otherwise: the step of the last report
} ServedPlay;
typedef enum { SERVE_BEGINS, SERVE_RUNS, SERVE_SHUT, SERVE_OVER } ServeStage;
struct LimnServer {
  Arena *own, *scratch; // scratch: memory of the current message
  LimnServe how;
  const char *read[64];
  ServeStage stage;
  int status;
  bool utf8;
  const char *library; // the URI of the library's text
  VEC(ServedText *) doc;
  char cancelled[CANCELLED][40]; // the latest ids, as JSON
  uint32_t cancels;
  ServedPlay play[PLAYS];
  uint32_t plays; // the number of sessions opened so far
};

// A request or notification. `id` is JSON; NULL for a notification.
typedef struct {
  LimnServer *s;
  const char *id, *method;
  const Json *params; // NULL: none
  Buf *out;           // the response, sent when the request is done
} ServeCall;

// server.c
// A result is written between serve_result and serve_done.
JsonOut serve_result(const ServeCall *);
void serve_done(const ServeCall *);
// a result that is written already; NULL: null
void serve_answer(const ServeCall *, const char *json);
void serve_refuse(const ServeCall *, RpcError, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// data: JSON, or NULL.
void serve_refuse_at(const ServeCall *, RpcError, const char *text, const char *data);
// A notification: its params are written between serve_notify and serve_send.
JsonOut serve_notify(LimnServer *, Buf *, const char *method);
void serve_send(LimnServer *, Buf *);

// documents.c
ServedText *served_at(LimnServer *, const char *uri); // NULL: it is not open
void serve_open(const ServeCall *);
void serve_change(const ServeCall *);
void serve_close(const ServeCall *);
void serve_save(const ServeCall *);
void served_free(ServedText *);
// checks the text; false: abandoned
bool served_check(LimnServer *, ServedText *, const volatile sig_atomic_t *stop);
// a dry run: would the program run?
void served_dry_run(LimnServer *, ServedText *);
// The document can answer; now: for exactly the current text.
bool served_ready(LimnServer *, ServedText *, bool now);

// The file of a URI; NULL: it is outside the served folder.
const char *served_file_path(const LimnServer *, Arena *, const char *uri);

// renames.c
void serve_rename(const ServeCall *, ServedText *, const LimnAsk *);

// gestures.c
void serve_edit(const ServeCall *);

// requests.c
bool serve_request(const ServeCall *); // false: unknown method
void serve_capabilities(const ServeCall *);
// The answer of limn_edit_ask as JSON; NULL: none.
const Json *serve_question(LimnServer *, Limn *, const char *question, const LimnAsk *);
// Reads a Position of the protocol; false: malformed.
bool serve_place(const Json *, uint32_t *line, uint32_t *character);
LimnAsk serve_asking(const LimnServer *);
// The document of a request, checked; now: up to date. NULL: refused.
ServedText *serve_asked(const ServeCall *, bool now);
// Answers with a result in JSON; NULL: refuses as serve_refuse_said.
void serve_answer_or_refuse(const ServeCall *, ServedText *, const char *json);
// Refuses with the message of the last call, and forgets it: it is not about the text.
void serve_refuse_said(const ServeCall *, Limn *);

// documents.c: a new handle with the server's rights; NULL: out of memory
Limn *served_handle(const LimnServer *);
size_t served_offset(const LimnServer *, const ServedText *, uint32_t line, uint32_t character);
// The bytes of a Range of the protocol; false: malformed.
bool served_range(const LimnServer *, const ServedText *, const Json *range, size_t *from,
                  size_t *to);
// values.c
// Writes {"name", "shape", "data"}; key and name may be NULL.
void serve_array(JsonOut *, const char *key, const char *name, const LimnArray *);
void serve_cost(const ServeCall *);
void serve_who(const ServeCall *);
void serve_summary(const ServeCall *);
void serve_machine(const ServeCall *);
void serve_eval(const ServeCall *);
void serve_sample(const ServeCall *);

// plays.c
void serve_play_open(const ServeCall *);
void serve_play_step(const ServeCall *);
void serve_play_set(const ServeCall *);
void serve_play_close(const ServeCall *);
void plays_close(LimnServer *); // closes all sessions

// pictures.c
void served_send_pictures(LimnServer *, ServedText *); // sends limn/looked
void serve_picture(const ServeCall *);
const Json *served_names(LimnServer *, Limn *); // what limn_names lists; NULL: nothing

#endif
