// A session belongs to one page. It has a LimnServer in one thread, a second thread for files and
// runs, so that saving never waits for a picture, a third for slow requests, and a queue of events
// for the page.
//
// It is reference-counted by its threads, requests and stream. It ends when its page has been
// silent for a minute; its threads then finish their work and exit.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "studio/studio_own.h"

#include <stdlib.h>

enum { STACK_WANTED = 8 << 20 }; // the same as for the command line, for deeply nested programs
static const double AWAY = 60, SILENCE = 15;

// -- requests -------------------------------------------------------------------------------------
void request_answer(StudioRequest *ask, const char *text, size_t n) {
  if (ask->answer) return;
  ask->answer = malloc(n + 1);
  if (!ask->answer) return;
  memcpy(ask->answer, text, n);
  ask->answer[n] = 0;
  ask->answer_n = n;
}

// Hands the request back to the HTTP thread.
static void request_done(Studio *s, StudioRequest *ask) {
  pthread_mutex_lock(&s->lock);
  s->working--;
  pthread_mutex_unlock(&s->lock);
  MHD_resume_connection(ask->connection);
}

// -- events ---------------------------------------------------------------------------------------
static void drop_event(StudioSession *p) {
  StudioEvent *first = p->event;
  p->event = first->next;
  if (!p->event) p->last_event = &p->event;
  p->event_bytes -= first->n;
  p->sent = 0;
  free(first);
}

static void wake_stream(StudioSession *p) {
  StudioStream *w = p->stream;
  if (!w || !w->waits) return;
  w->waits = false;
  MHD_resume_connection(w->connection);
}

// Drops the oldest events. If the page has read only part of the first one, it has stopped reading:
// its stream is closed, so that it never gets a partial event.
static void make_room(StudioSession *p, size_t more) {
  if (p->event_bytes + more <= STUDIO_EVENTS_LIMIT) return;
  if (p->sent && p->stream) {
    wake_stream(p);
    p->stream = NULL;
  }
  while (p->event && p->event_bytes + more > STUDIO_EVENTS_LIMIT) drop_event(p);
}

// An event must be one line. Line breaks in JSON occur only between tokens, so they become spaces.
static void push_event(StudioSession *p, const char *json, size_t n) {
  static const char begin[] = "data: ", end[] = "\n\n";
  size_t all = n + sizeof begin - 1 + sizeof end - 1;
  StudioEvent *e = malloc(sizeof *e + all);
  if (!e) return;
  memcpy(e->text, begin, sizeof begin - 1);
  for (size_t i = 0; i < n; i++)
    e->text[sizeof begin - 1 + i] = json[i] == '\n' || json[i] == '\r' ? ' ' : json[i];
  memcpy(e->text + sizeof begin - 1 + n, end, sizeof end - 1);
  e->next = NULL;
  e->n = all;
  pthread_mutex_lock(&p->studio->lock);
  make_room(p, all);
  *p->last_event = e;
  p->last_event = &e->next;
  p->event_bytes += all;
  wake_stream(p);
  pthread_mutex_unlock(&p->studio->lock);
}

// The next bytes for the page. Suspends the connection if there are none.
static ssize_t next_bytes(StudioStream *w, char *to, size_t room) {
  StudioSession *p = w->session;
  double now = clock_seconds();
  if (p->ended || p->stream != w) return MHD_CONTENT_READER_END_OF_STREAM;
  if (p->event) {
    size_t n = p->event->n - p->sent < room ? p->event->n - p->sent : room;
    memcpy(to, p->event->text + p->sent, n);
    p->sent += n;
    if (p->sent == p->event->n) drop_event(p);
    w->said = now;
    return (ssize_t)n;
  }
  if (now - w->said >= SILENCE && room >= 3) {
    memcpy(to, ":\n\n", 3);
    w->said = now;
    p->seen = now;
    return 3;
  }
  w->waits = true;
  MHD_suspend_connection(w->connection);
  return 0;
}

static ssize_t read_events(void *what, uint64_t at, char *to, size_t room) {
  StudioStream *w = what;
  Studio *s = w->session->studio;
  (void)at;
  pthread_mutex_lock(&s->lock);
  ssize_t n = next_bytes(w, to, room);
  pthread_mutex_unlock(&s->lock);
  return n;
}

static void close_events(void *what) {
  StudioStream *w = what;
  StudioSession *p = w->session;
  pthread_mutex_lock(&p->studio->lock);
  if (p->stream == w) p->stream = NULL;
  p->seen = clock_seconds();
  pthread_mutex_unlock(&p->studio->lock);
  session_leave(p);
  free(w);
}

struct MHD_Response *session_events(StudioSession *p, struct MHD_Connection *connection) {
  StudioStream *w = calloc(1, sizeof *w);
  if (!w) return NULL;
  *w = (StudioStream){.session = p, .connection = connection};
  w->said = clock_seconds() - SILENCE; // the first comment line is due at once and confirms the
                                       // connection
  struct MHD_Response *r =
      MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16 << 10, read_events, w, close_events);
  if (!r) {
    free(w);
    return NULL;
  }
  pthread_mutex_lock(&p->studio->lock);
  p->users++;
  wake_stream(p); // one stream per page: a reconnect replaces the old one
  p->stream = w;
  if (p->event && p->sent) p->sent = 0; // the old stream did not send all of it
  pthread_mutex_unlock(&p->studio->lock);
  return r;
}

JsonOut studio_notify(Buf *b, const char *method) { return rpc_notification(b, method); }

void studio_send(Studio *s, const StudioSession *but, Buf *b) {
  StudioSession *all[STUDIO_SESSIONS];
  uint32_t n = 0;
  rpc_end(b);
  pthread_mutex_lock(&s->lock);
  for (uint32_t i = 0; i < s->sessions; i++)
    if (s->session[i] != but) all[n++] = s->session[i], s->session[i]->users++;
  pthread_mutex_unlock(&s->lock);
  for (uint32_t i = 0; i < n; i++) {
    push_event(all[i], b->at, b->n);
    session_leave(all[i]);
  }
}

// -- threads --------------------------------------------------------------------------------------
static void session_free(StudioSession *p) {
  while (p->event) drop_event(p);
  queue_close(&p->language);
  queue_close(&p->host);
  queue_close(&p->slow);
  free(p);
}

void session_leave(StudioSession *p) {
  pthread_mutex_lock(&p->studio->lock);
  bool last = --p->users == 0;
  pthread_mutex_unlock(&p->studio->lock);
  if (last) session_free(p);
}

// A response answers the current request; other messages become events.
static void receive_message(void *context, const char *message, size_t n) {
  StudioSession *p = context;
  if (p->now && rpc_is_response(message, n))
    request_answer(p->now, message, n);
  else
    push_event(p, message, n);
}

static void *language_thread(void *what) {
  StudioSession *p = what;
  int wait = -1;
  for (bool over = false; !over;) {
    StudioRequest *ask = (StudioRequest *)queue_take(&p->language, wait, &over);
    p->now = ask;
    if (ask) limn_server_take(p->server, ask->body, ask->n);
    p->now = NULL;
    if (ask) request_done(p->studio, ask);
    if (!over)
      wait = queue_waiting(&p->language) ? 0 : limn_server_work(p->server, &p->language.stop);
  }
  limn_server_close(p->server);
  session_leave(p);
  return NULL;
}

static void *answer_requests(StudioSession *p, MessageQueue *queue) {
  for (bool over = false; !over;) {
    StudioRequest *ask = (StudioRequest *)queue_take(queue, -1, &over);
    if (!ask) continue;
    host_answer_request(p, ask);
    request_done(p->studio, ask);
  }
  session_leave(p);
  return NULL;
}

static void *host_thread(void *what) {
  return answer_requests(what, &((StudioSession *)what)->host);
}
static void *slow_thread(void *what) {
  return answer_requests(what, &((StudioSession *)what)->slow);
}

static bool start_thread(void *(*work)(void *), StudioSession *p) {
  pthread_attr_t how;
  pthread_t thread;
  if (pthread_attr_init(&how)) return false;
  bool good = !pthread_attr_setstacksize(&how, STACK_WANTED) &&
              !pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED) &&
              !pthread_create(&thread, &how, work, p);
  pthread_attr_destroy(&how);
  return good;
}

// -- sessions -------------------------------------------------------------------------------------
static void session_end(StudioSession *p) { // under the studio's lock
  Studio *s = p->studio;
  p->ended = true;
  for (uint32_t i = 0; i < s->sessions; i++)
    if (s->session[i] == p) s->session[i] = s->session[--s->sessions];
  wake_stream(p);
  queue_finish(&p->language, true);
  queue_finish(&p->host, true);
  queue_finish(&p->slow, true);
}

static bool session_enter(Studio *s, StudioSession *p) {
  pthread_mutex_lock(&s->lock);
  bool room = s->sessions < STUDIO_SESSIONS && !s->ends;
  if (room) s->session[s->sessions++] = p;
  pthread_mutex_unlock(&s->lock);
  return room;
}

StudioSession *session_new(Studio *s) {
  StudioSession *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  LimnServe how = {.size = sizeof how,
                   .send = receive_message,
                   .context = p,
                   .read = s->read,
                   .root = s->folder};
  *p = (StudioSession){.studio = s, .users = 4, .seen = clock_seconds()};
  p->last_event = &p->event;
  queue_open(&p->language);
  queue_open(&p->host);
  queue_open(&p->slow);
  p->server = random_letters(p->name, STUDIO_TOKEN) ? limn_server_open(&how) : NULL;
  if (!p->server || !session_enter(s, p)) {
    limn_server_close(p->server);
    session_free(p);
    return NULL;
  }
  bool language = start_thread(language_thread, p), host = start_thread(host_thread, p);
  bool slow = start_thread(slow_thread, p);
  if (language && host && slow) return p; // the remaining reference is the caller's
  pthread_mutex_lock(&s->lock);
  session_end(p);
  pthread_mutex_unlock(&s->lock);
  if (!language) limn_server_close(p->server), session_leave(p);
  if (!host) session_leave(p);
  if (!slow) session_leave(p);
  session_leave(p);
  return NULL;
}

StudioSession *session_find(Studio *s, const char *name) {
  StudioSession *found = NULL;
  pthread_mutex_lock(&s->lock);
  for (uint32_t i = 0; name && i < s->sessions && !found; i++)
    if (strcmp(s->session[i]->name, name) == 0) found = s->session[i];
  if (found) found->users++, found->seen = clock_seconds();
  pthread_mutex_unlock(&s->lock);
  return found;
}

// Chooses the thread by the method, which is read from the message.
bool session_queue(StudioSession *p, StudioRequest *ask) {
  Studio *s = p->studio;
  const char *body = ask->body ? ask->body : "";
  bool host = rpc_names_method(body, "host/"), cancels = rpc_names_method(body, "$/cancelRequest");
  bool slow = rpc_names_method(body, "host/weights") || rpc_names_method(body, "host/diff");
  pthread_mutex_lock(&s->lock);
  s->working++;
  pthread_mutex_unlock(&s->lock);
  if (queue_put(slow ? &p->slow : host ? &p->host : &p->language, &ask->item, cancels)) return true;
  pthread_mutex_lock(&s->lock);
  s->working--;
  pthread_mutex_unlock(&s->lock);
  return false;
}

void sessions_tick(Studio *s) {
  double now = clock_seconds();
  pthread_mutex_lock(&s->lock);
  for (uint32_t i = s->sessions; i-- > 0;) {
    StudioSession *p = s->session[i];
    if (p->stream && now - p->stream->said >= SILENCE) wake_stream(p);
    if (!p->stream && now - p->seen > AWAY) session_end(p);
  }
  pthread_mutex_unlock(&s->lock);
}

// Queued requests are still handled, so that a text sent for saving is saved.
void sessions_end(Studio *s) {
  pthread_mutex_lock(&s->lock);
  s->ends = true;
  while (s->sessions) session_end(s->session[0]);
  pthread_mutex_unlock(&s->lock);
}
