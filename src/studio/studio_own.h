// Private to studio: the server, its sessions, and messages on their way.
//
// Four kinds of threads: that of libmicrohttpd, which reads requests and writes answers; for each
// session one that its LimnServer works in, and one that answers host/…; and the first one, which
// waits for the end and looks after what has changed.
#ifndef LIMN_STUDIO_STUDIO_OWN_H
#define LIMN_STUDIO_STUDIO_OWN_H

#include "base/base.h"
#include "io/bytes/bytes.h"
#include "limn.h"
#include "rpc/queue.h"
#include "rpc/rpc.h"
#include "studio/studio.h"

#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>

enum {
  STUDIO_SESSIONS = 200,
  STUDIO_TEXT_LIMIT = 4 << 20,    // of a program that is read or written
  STUDIO_MESSAGE_LIMIT = 9 << 20, // one that has it, written as JSON
  STUDIO_UPLOAD_LIMIT = 96 << 20, // host/upload alone
  STUDIO_EVENTS_LIMIT = 4 << 20,  // bytes that wait for a page; the oldest go first
  STUDIO_TOKEN = 32,              // letters: 128 bits
  STUDIO_CHILDREN = 64,
  STUDIO_RUNS = 1000
};

// page files: made of studio/dist when limn is built
typedef struct {
  const char *name, *type;
  const char *bytes;
  size_t n;
} PageFile;
extern const PageFile page_files[];
extern const uint32_t page_file_count;
// and of examples/
extern const PageFile example_files[];
extern const uint32_t example_file_count;

// A request on its way, from thread to thread: what came and what goes are blocks of their own.
typedef struct StudioAsk {
  QueueItem item; // of a queue of the session
  struct MHD_Connection *connection;
  char *body; // ended by 0
  size_t n, room;
  char *answer; // NULL: it is empty
  size_t answer_n;
  struct StudioSession *session; // NULL: it is not of one
  bool too_large, passed_on;
} StudioAsk;

typedef struct StudioEvent {
  struct StudioEvent *next;
  size_t n;
  char text[];
} StudioEvent;

typedef struct StudioSession {
  struct Studio *studio;
  char name[STUDIO_TOKEN + 1];
  MessageQueue language, host, slow; // one for each thread
  LimnServer *server;
  StudioAsk *now; // what the server is asked
  // Under the studio's lock:
  uint32_t users; // threads, requests and streams: the last one frees it
  bool ended;
  double seen; // when the page was last heard of
  StudioEvent *event, **last_event;
  size_t event_bytes, sent; // sent: of the first one
  struct StudioStream *stream;
} StudioSession;

// The answer to GET /events.
typedef struct StudioStream {
  StudioSession *session;
  struct MHD_Connection *connection;
  bool waits; // it is suspended
  double said;
} StudioStream;

typedef struct StudioWatch StudioWatch;

// A process that was begun here, until it has ended.
typedef struct {
  int pid;
  char dir[1001]; // its run; "": it is at none
} StudioChild;
// What of a run was last told.
typedef struct {
  char dir[1001];
  int state; // a RunState; -1: none yet
  int64_t size, note;
  int reporter;    // the process that draws what it shows; 0: none
  double reported; // when that began
} StudioRun;

typedef struct Studio {
  Arena *arena;
  struct MHD_Daemon *daemon;
  uint32_t port;
  char token[STUDIO_TOKEN + 1];
  const char *folder; // without links
  const char *open;   // the program that was named, below it; NULL: none
  const char *limn;   // this program
  const char *const *read;
  pthread_mutex_t lock; // of sessions and events
  StudioSession *session[STUDIO_SESSIONS];
  uint32_t sessions;
  uint32_t working;     // asks that wait for a thread
  pthread_mutex_t disk; // of files that are read, compared and written
  StudioWatch *watch;
  StudioChild child[STUDIO_CHILDREN];
  StudioRun run[STUDIO_RUNS];
  uint32_t children, runs;
  struct StudioDoors *doors;
  bool ends; // under the lock
} Studio;

// http.c
bool http_open(Studio *); // false: it said why
void http_close(Studio *);
void http_tick(Studio *);                 // who says nothing is shown out
bool random_letters(char *out, size_t n); // hexadecimal; false: the system has none

// session.c
void ask_answer(StudioAsk *, const char *text, size_t n); // a copy
StudioSession *session_new(Studio *);                     // NULL: there are too many
StudioSession *session_take(Studio *, const char *name);  // NULL: there is none
void session_leave(StudioSession *);
bool session_ask(StudioSession *, StudioAsk *); // passed on to a thread; false: it has ended
struct MHD_Response *session_events(StudioSession *, struct MHD_Connection *);
// To all pages but one; params is JSON.
void studio_tell(Studio *, const StudioSession *but, const char *method, const char *params);
void sessions_tick(Studio *);
void sessions_end(Studio *);

// host.c: the methods called host/…
typedef struct {
  Studio *studio;
  StudioSession *session;
  Arena *arena;
  const char *id; // JSON
  const Json *params;
  Buf *out;
  bool answered;
  Arena *locked; // the disk's lock goes with it
} HostCall;
void host_take(StudioSession *, StudioAsk *);
JsonOut host_result(HostCall *); // to be filled with one value, and ended by:
void host_done(HostCall *);
void host_refuse(HostCall *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same, with `data` as JSON.
void host_refuse_with(HostCall *, const char *data, const char *text);
const char *host_path(HostCall *, const char *key); // NULL: it was refused

Limn *host_handle(HostCall *); // goes with the answer; NULL: no memory
void disk_lock(HostCall *);    // until the answer is there, or memory is exhausted
void disk_unlock(HostCall *);

// files.c
void host_files(HostCall *);
void host_read(HostCall *);
void host_write(HostCall *);
void host_new(HostCall *);
void host_rename(HostCall *);

// models.c
void host_upload(HostCall *);
void host_diff(HostCall *);
const char *last_error(Limn *); // NULL is allowed: memory is exhausted

// watch.c: files that pages have read
void watch_open(Studio *);
const char *file_stamp(Arena *, const char *text, size_t n);
void watch_read(Studio *, const char *path, const char *stamp); // both under the disk's lock
void watch_written(Studio *, const char *path, const char *stamp);
void watch_tick(Studio *);

#endif
