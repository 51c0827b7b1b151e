// Private to studio: the server, its sessions, and messages in transit.
//
// Threads: one of libmicrohttpd reads requests and writes responses; each session has one for its
// LimnServer, one for host/… methods and one for slow host/… methods; the main thread waits for the
// end and polls files and runs.
#ifndef LIMN_STUDIO_STUDIO_OWN_H
#define LIMN_STUDIO_STUDIO_OWN_H

#include "base/base.h"
#include "io/bytes/bytes.h"
#include "limn.h"
#include "rpc/first_error.h"
#include "rpc/queue.h"
#include "rpc/rpc.h"
#include "studio/http_library.h"
#include "studio/studio.h"

#include <pthread.h>
#include <signal.h>

enum {
  STUDIO_SESSIONS = 200,
  STUDIO_TEXT_LIMIT = 4 << 20,    // of a program that is read or written
  STUDIO_MESSAGE_LIMIT = 9 << 20, // a message that contains such a program, as JSON
  STUDIO_UPLOAD_LIMIT = 96 << 20, // of host/upload
  STUDIO_EVENTS_LIMIT = 4 << 20,  // bytes of events queued for a page; the oldest are dropped
  STUDIO_TOKEN = 32,              // hex digits: 128 bits
  STUDIO_CHILDREN = 64,
  STUDIO_RUNS = 1000
};

// generated from studio/dist by the build
typedef struct {
  const char *name, *type;
  const char *bytes;
  size_t n;
} PageFile;
extern const PageFile page_files[];
extern const uint32_t page_file_count;
// generated from examples/
extern const PageFile example_files[];
extern const uint32_t example_file_count;

// A request that is passed between threads. Body and answer are allocated with malloc.
typedef struct StudioRequest {
  QueueItem item; // link in a queue of the session
  struct MHD_Connection *connection;
  char *body; // terminated by 0
  size_t n, room;
  char *answer; // NULL: empty
  size_t answer_n;
  struct StudioSession *session; // NULL: the request needs no session
  bool too_large, queued;
} StudioRequest;

typedef struct StudioEvent {
  struct StudioEvent *next;
  size_t n;
  char text[];
} StudioEvent;

typedef struct StudioSession {
  struct Studio *studio;
  char name[STUDIO_TOKEN + 1];
  MessageQueue language, host, slow; // one queue per thread
  LimnServer *server;
  StudioRequest *now; // the request that the server is handling
  // Protected by the studio's lock:
  uint32_t users; // references by threads, requests and streams: the last one frees the session
  bool ended;
  double seen; // time of the last sign of life of the page
  StudioEvent *event, **last_event;
  size_t event_bytes, sent; // sent: bytes of the first event that were sent
  struct StudioStream *stream;
} StudioSession;

// The response to GET /events.
typedef struct StudioStream {
  StudioSession *session;
  struct MHD_Connection *connection;
  bool waits; // the connection is suspended
  double said;
} StudioStream;

typedef struct StudioWatch StudioWatch;

// A process started by this server that has not ended.
typedef struct {
  int pid;
  char dir[1001]; // its run; "": none
} StudioChild;
// The state of a run that the pages were last told.
typedef struct {
  char dir[1001];
  int state; // a RunState; -1: not told yet
  int64_t size, note;
  int reporter;    // the process that draws its shows; 0: none
  double reported; // when that process was started
} StudioRun;

typedef struct Studio {
  Arena *arena;
  struct MHD_Daemon *daemon;
  uint32_t port;
  char token[STUDIO_TOKEN + 1];
  const char *folder; // canonical path
  const char *open;   // the program named on the command line, relative to the folder; NULL: none
  const char *limn;   // path of this executable
  const char *const *read;
  pthread_mutex_t lock; // protects sessions and events
  StudioSession *session[STUDIO_SESSIONS];
  uint32_t sessions;
  uint32_t working;     // requests that wait for a thread
  pthread_mutex_t disk; // held while files are read, compared and written
  StudioWatch *watch;
  StudioChild child[STUDIO_CHILDREN];
  StudioRun run[STUDIO_RUNS];
  uint32_t children, runs;
  struct ConnectionTimers *timers;
  bool ends; // protected by `lock`
} Studio;

// http.c
bool http_open(Studio *); // false: the reason was printed
void http_close(Studio *);
void http_tick(Studio *);                 // closes idle connections
bool random_letters(char *out, size_t n); // hexadecimal; false: the system has no random numbers

// session.c
void request_answer(StudioRequest *, const char *text, size_t n); // copies the text
StudioSession *session_new(Studio *);                             // NULL: too many sessions
StudioSession *session_find(Studio *, const char *name); // adds a reference; NULL: no such session
void session_leave(StudioSession *);
// Queues a request for a thread; false: the session has ended.
bool session_queue(StudioSession *, StudioRequest *);
struct MHD_Response *session_events(StudioSession *, struct MHD_Connection *);
// A notification to all pages except that of `but`: its params are written between studio_notify and
// studio_send.
JsonOut studio_notify(Buf *, const char *method);
void studio_send(Studio *, const StudioSession *but, Buf *);
void sessions_tick(Studio *);
void sessions_end(Studio *);

// host.c: the methods named host/…
typedef struct {
  Studio *studio;
  StudioSession *session;
  Arena *arena;
  const char *id; // as JSON
  const Json *params;
  Buf *out;
  Arena *locked; // freed with the request, which releases the disk lock
} HostCall;
void host_answer_request(StudioSession *, StudioRequest *);
JsonOut host_result(HostCall *); // one value is written between host_result and host_done
void host_done(HostCall *);
void host_answer(HostCall *, const char *key, const char *text); // answers {key: text}
void host_refuse(HostCall *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The same with `data`, which is JSON.
void host_refuse_with(HostCall *, const char *data, const char *text);
const char *host_path(HostCall *, const char *key); // NULL: refused

Limn *host_handle(HostCall *); // freed with the request; NULL: out of memory
void disk_lock(HostCall *);    // until the request ends or memory runs out
void disk_unlock(HostCall *);

// files.c
void host_files(HostCall *);
void host_read(HostCall *);
void host_write(HostCall *);
void host_new(HostCall *);
void host_rename(HostCall *);
const char *make_parent_folders(HostCall *, const char *path); // the missing ones; NULL, or why not

// models.c
void host_upload(HostCall *);
void host_diff(HostCall *);

// watch.c: files that pages have open
void watch_open(Studio *);
const char *file_stamp(Arena *, const char *text, size_t n);
void watch_read(Studio *, const char *path, const char *stamp); // both need the disk lock
void watch_written(Studio *, const char *path, const char *stamp);
// Tells pages of a new version of a file; NULL: it is gone.
void watch_send(Studio *, Arena *, const StudioSession *but, const char *path, const char *stamp);
void watch_tick(Studio *);

#endif
