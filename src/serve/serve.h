// Private to serve: a language server, its documents, and messages on their way.
#ifndef LIMN_SERVE_SERVE_H
#define LIMN_SERVE_SERVE_H

#include "base/base.h"
#include "io/bytes/bytes.h"
#include "limn.h"
#include "rpc/rpc.h"

// A text that is open in an editor. Two programs belong to it: the one that was last looked at as a
// whole, which answers, and the one that the text is read into next.
typedef struct {
  Arena *arena;
  const char *uri, *path;
  Arena *text_arena;
  const char *text;
  size_t n;
  double version; // as the editor counts
  Limn *shown, *next;
  bool stale;        // the text has changed since it was looked at
  bool told;         // what answers knows the text as it is by now
  bool untried;      // it was looked at, but not whether it would run
  double due;        // when something is to be done about it
  double seconds;    // that the last look took
  uint32_t given_up; // looks in a row
} ServedText;

enum { CANCELLED = 64, PLAYS = 8, SERVED_LIMIT = 8 << 20 }; // the last: bytes of a text
// Training in memory, a step at a time.
typedef struct {
  uint32_t id; // 0: there is none
  Limn *l;
  LimnTrainer *trainer;
  bool done;
  bool measured_now; // what it measures is asked for anew with each answer: it takes no data
  uint64_t measured; // the step of its last report otherwise
} ServedPlay;
typedef enum { SERVE_BEGINS, SERVE_RUNS, SERVE_SHUT, SERVE_OVER } ServeStage;
struct LimnServer {
  Arena *own, *scratch; // scratch: of the message at work
  LimnServe how;
  const char *read[64];
  ServeStage stage;
  int status;
  bool utf8;
  const char *library; // the address of the library's text
  VEC(ServedText *) doc;
  char cancelled[CANCELLED][40]; // the last ids, as JSON
  uint32_t cancels;
  ServedPlay play[PLAYS];
  uint32_t plays; // so many were opened
};

// What is asked: `id` is JSON, NULL for what wants no answer.
typedef struct {
  LimnServer *s;
  const char *id, *method;
  const Json *params; // NULL: none
  Buf *out;           // the response, which is sent when the request is done
} ServeCall;

// server.c
// The result of a request is what is written between these.
JsonOut serve_result(const ServeCall *);
void serve_done(const ServeCall *);
void serve_answer(const ServeCall *, const char *json); // the same at once; NULL: null
void serve_refuse(const ServeCall *, RpcError, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void serve_refuse_at(const ServeCall *, RpcError, const char *text,
                     const char *data); // data: JSON, or NULL
// A notification: its params are what is written between these.
JsonOut serve_notify(LimnServer *, Buf *, const char *method);
void serve_send(LimnServer *, Buf *);

// documents.c
ServedText *served_at(LimnServer *, const char *uri); // NULL: it is not open
void serve_open(const ServeCall *);
void serve_change(const ServeCall *);
void serve_close(const ServeCall *);
void serve_save(const ServeCall *);
void served_free(ServedText *);
void served_publish(LimnServer *, ServedText *);
bool served_look(LimnServer *, ServedText *, const volatile sig_atomic_t *stop); // false: given up
void served_try(LimnServer *, ServedText *);                                     // would it run?
bool served_ready(LimnServer *, ServedText *,
                  bool now); // questions can be asked; now: of this very text

// Where a text is on the disk; NULL: outside of the folder that is served.
const char *served_place(const LimnServer *, Arena *, const char *uri);

// renames.c
void serve_rename(const ServeCall *, ServedText *, const LimnAsk *);

// gestures.c
void serve_edit(const ServeCall *);

// requests.c
bool serve_request(const ServeCall *); // false: there is none of this name
void serve_capabilities(const ServeCall *);
// The answer to a question of limn_edit_ask. NULL: there is none.
const Json *serve_question(LimnServer *, Limn *, const char *question, const LimnAsk *);
// A place of the protocol; false: it is none.
bool serve_place(const Json *, uint32_t *line, uint32_t *character);
LimnAsk serve_asking(const LimnServer *);
// The text that a request is about, looked at; now: as it is now. NULL: it was refused.
ServedText *serve_asked(const ServeCall *, bool now);
// Refused for the reason that the last call gave, which is then forgotten: it is not about the text.
void serve_refuse_said(const ServeCall *, Limn *);

Limn *served_handle(const LimnServer *); // documents.c: one more, with its rights; NULL: no memory
size_t served_offset(const LimnServer *, const ServedText *, uint32_t line, uint32_t character);
// values.c
bool serve_numbers(Buf *, const Json *); // as limn writes arrays; false: these are none
// {"name", "shape", "data"}; the key or the name may be NULL
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
void plays_close(LimnServer *); // all of them

// pictures.c
void served_looked(LimnServer *, ServedText *); // limn/looked
void serve_picture(const ServeCall *);
void serve_base64(Buf *, const char *bytes, size_t n); // in quotes

#endif
