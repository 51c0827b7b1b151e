// Requests: who may ask at all, what is asked, and the heads of every answer.
//
// A request is refused unless it names this very address as its host, comes from the page itself (or
// from no page), and has the token. That is looked at before a body is read. What takes time is passed
// on to a thread of the session; the connection is suspended until there is an answer.
#define _DEFAULT_SOURCE
#include "base/within.h"
#include "studio/studio_own.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 600, HEADS = 32 << 10, FILE_LIMIT = 64 << 20 };
static const double FIRST_REQUEST = 5, NEXT_REQUEST = 60; // seconds until it is there as a whole

typedef struct MHD_Connection Connection;
typedef struct MHD_Response Response;

bool random_letters(char *out, size_t n) {
  unsigned char byte[64];
  int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  bool good = fd >= 0 && n <= sizeof byte && read(fd, byte, n) == (ssize_t)n;
  if (fd >= 0) close(fd);
  for (size_t i = 0; good && i < n; i++) out[i] = "0123456789abcdef"[byte[i] & 15];
  out[n] = 0;
  return good;
}

// -- answers --------------------------------------------------------------------------------------
static const char PAGE_POLICY[] =
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
// A file of the folder may be anything: it is looked at, and nothing in it runs.
static const char FILE_POLICY[] =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'none'";

static void add_heads(Response *r, const char *type, const char *policy) {
  const char *const head[][2] = {{"Content-Type", type},
                                 {"Content-Security-Policy", policy},
                                 {"X-Content-Type-Options", "nosniff"},
                                 {"X-Frame-Options", "DENY"},
                                 {"Referrer-Policy", "no-referrer"},
                                 {"Cross-Origin-Resource-Policy", "same-origin"},
                                 {"Cross-Origin-Opener-Policy", "same-origin"},
                                 {"Cache-Control", "no-store"}};
  for (uint32_t i = 0; i < COUNT(head); i++)
    if (*head[i][1]) MHD_add_response_header(r, head[i][0], head[i][1]);
}

static enum MHD_Result give(Connection *c, unsigned status, Response *r) {
  if (!r) return MHD_NO;
  enum MHD_Result done = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return done;
}

static Response *copy_of(const char *bytes, size_t n, const char *type) {
  Response *r = MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
  if (r) add_heads(r, type, PAGE_POLICY);
  return r;
}

static enum MHD_Result say(Connection *c, unsigned status, const char *text) {
  return give(c, status, copy_of(text, strlen(text), "text/plain; charset=utf-8"));
}

// The connection ends: where the request does is not known, and what comes next would be guessed.
static enum MHD_Result say_last(Connection *c, const char *text) {
  Response *r = copy_of(text, strlen(text), "text/plain; charset=utf-8");
  if (r) MHD_add_response_header(r, "Connection", "close");
  return give(c, MHD_HTTP_BAD_REQUEST, r);
}

// -- who asks -------------------------------------------------------------------------------------
typedef struct {
  uint32_t hosts, origins, lengths, codings;
  const char *host, *origin;
} HttpHeads;

static enum MHD_Result count_head(void *what, enum MHD_ValueKind kind, const char *key,
                                  const char *value) {
  HttpHeads *h = what;
  (void)kind;
  if (!value) return MHD_YES;
  if (strcasecmp(key, "Host") == 0) h->hosts++, h->host = value;
  if (strcasecmp(key, "Origin") == 0) h->origins++, h->origin = value;
  h->lengths += strcasecmp(key, "Content-Length") == 0;
  h->codings += strcasecmp(key, "Transfer-Encoding") == 0;
  return MHD_YES;
}

// A name that an attacker's server gave this address is not ours, nor is a page of another one.
static bool is_from_here(const Studio *s, Connection *c, const HttpHeads *h) {
  char own[2][40];
  snprintf(own[0], sizeof own[0], "127.0.0.1:%u", s->port);
  snprintf(own[1], sizeof own[1], "localhost:%u", s->port);
  bool host = h->hosts == 1 && (!strcmp(h->host, own[0]) || !strcmp(h->host, own[1]));
  bool origin = !h->origins || (h->origins == 1 && host && !strncmp(h->origin, "http://", 7) &&
                                !strcmp(h->origin + 7, h->host));
  const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
  return host && origin && (!site || !strcmp(site, "same-origin") || !strcmp(site, "none"));
}

// However much of it is right, it takes as long.
static bool is_token(const Studio *s, const char *text) {
  unsigned other = 0;
  if (!text || strlen(text) != STUDIO_TOKEN) return false;
  for (size_t i = 0; i < STUDIO_TOKEN; i++) other |= (unsigned char)(text[i] ^ s->token[i]);
  return !other;
}

// Cookies are of a host, whatever the port: the name has it, so that two studios do not meet.
static void cookie_name(const Studio *s, char *out, size_t room) {
  snprintf(out, room, "limn-%u", s->port);
}

static bool has_token(const Studio *s, Connection *c) {
  char name[20];
  cookie_name(s, name, sizeof name);
  return is_token(s, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token")) ||
         is_token(s, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-Limn-Token")) ||
         is_token(s, MHD_lookup_connection_value(c, MHD_COOKIE_KIND, name));
}

// -- files ----------------------------------------------------------------------------------------
static const char *type_of(const char *name) {
  static const char *const type[][2] = {{".svg", "image/svg+xml"},
                                        {".png", "image/png"},
                                        {".pdf", "application/pdf"},
                                        {".json", "application/json"}};
  for (uint32_t i = 0; i < COUNT(type); i++)
    if (text_ends(name, type[i][0])) return type[i][1];
  return "text/plain; charset=utf-8";
}

static enum MHD_Result give_file(const Studio *s, Connection *c) {
  static const char key[] = "path";
  const char *path = NULL;
  size_t n = 0;
  MHD_lookup_connection_value_n(c, MHD_GET_ARGUMENT_KIND, key, sizeof key - 1, &path, &n);
  const char *wrong = !path               ? "a path is wanted"
                      : strlen(path) != n ? "there is a zero byte in the path"
                                          : name_refuse(path);
  if (wrong) return say(c, MHD_HTTP_FORBIDDEN, wrong);
  Arena *a = arena_new();
  Guard g;
  if (!a || !GUARDED(a, &g)) {
    arena_free(a);
    return say(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "memory is exhausted");
  }
  FileText f = file_read_in(a, s->folder, path, FILE_LIMIT);
  Response *r = f.text ? MHD_create_response_from_buffer(f.n, (void *)(uintptr_t)f.text,
                                                         MHD_RESPMEM_MUST_COPY)
                       : NULL;
  if (r) add_heads(r, type_of(path), FILE_POLICY);
  enum MHD_Result done = r ? give(c, MHD_HTTP_OK, r) : say(c, MHD_HTTP_NOT_FOUND, f.error);
  guard_leave(&g);
  arena_free(a);
  return done;
}

static enum MHD_Result give_page(const Studio *s, Connection *c, const char *url) {
  const char *name = strcmp(url, "/") ? url + 1 : "index.html";
  char cookie[120], key[20];
  for (uint32_t i = 0; i < page_file_count; i++) {
    const PageFile *f = &page_files[i];
    if (strcmp(f->name, name)) continue;
    Response *r =
        MHD_create_response_from_buffer(f->n, (void *)(uintptr_t)f->bytes, MHD_RESPMEM_PERSISTENT);
    if (!r) return MHD_NO;
    add_heads(r, f->type, PAGE_POLICY);
    cookie_name(s, key, sizeof key);
    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict", key, s->token);
    if (!strcmp(url, "/")) MHD_add_response_header(r, "Set-Cookie", cookie);
    return give(c, MHD_HTTP_OK, r);
  }
  return say(c, MHD_HTTP_NOT_FOUND, "there is no such address");
}

// -- sessions -------------------------------------------------------------------------------------
static enum MHD_Result give_session(Studio *s, Connection *c) {
  StudioSession *p = session_new(s);
  char text[80];
  if (!p) return say(c, MHD_HTTP_SERVICE_UNAVAILABLE, "there are too many sessions");
  snprintf(text, sizeof text, "{\"session\":\"%s\"}", p->name);
  session_leave(p);
  return give(c, MHD_HTTP_OK, copy_of(text, strlen(text), "application/json"));
}

static StudioSession *session_asked(Studio *s, Connection *c) {
  return session_take(s, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "session"));
}

static enum MHD_Result give_events(Studio *s, Connection *c) {
  StudioSession *p = session_asked(s, c);
  if (!p) return say(c, MHD_HTTP_NOT_FOUND, "there is no such session");
  Response *r = session_events(p, c);
  session_leave(p);
  if (!r) return MHD_NO;
  add_heads(r, "text/event-stream", PAGE_POLICY);
  return give(c, MHD_HTTP_OK, r);
}

static enum MHD_Result give_answer(Connection *c, StudioAsk *ask) {
  if (!ask->answer) return give(c, MHD_HTTP_NO_CONTENT, copy_of("", 0, ""));
  Response *r = MHD_create_response_from_buffer(ask->answer_n, ask->answer, MHD_RESPMEM_MUST_FREE);
  if (!r) return MHD_NO;
  ask->answer = NULL;
  add_heads(r, "application/json", PAGE_POLICY);
  return give(c, MHD_HTTP_OK, r);
}

static enum MHD_Result pass_on(Studio *s, Connection *c, StudioAsk *ask) {
  if (ask->too_large)
    return say(c, MHD_HTTP_CONTENT_TOO_LARGE, "a message has at most 9 MB, an upload 96");
  ask->session = session_asked(s, c);
  if (!ask->session) return say(c, MHD_HTTP_NOT_FOUND, "there is no such session");
  ask->passed_on = true;
  MHD_suspend_connection(c);
  if (!session_ask(ask->session, ask)) {
    static const char over[] = RPC_ERROR_TEXT(-32803, "the session is over");
    ask_answer(ask, over, sizeof over - 1);
    MHD_resume_connection(c);
  }
  return MHD_YES;
}

// -- connections that say nothing -----------------------------------------------------------------
typedef struct StudioDoor {
  struct StudioDoor *before, *next;
  int fd;
  double until; // the request that is coming has to be there; 0: it is
} StudioDoor;
struct StudioDoors {
  pthread_mutex_t lock;
  StudioDoor *first;
};

static void door_notify(void *what, Connection *c, void **own,
                        enum MHD_ConnectionNotificationCode k) {
  struct StudioDoors *doors = what;
  StudioDoor *d = *own;
  pthread_mutex_lock(&doors->lock);
  if (k == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    *own = d = info ? calloc(1, sizeof *d) : NULL;
    if (d) {
      *d = (StudioDoor){NULL, doors->first, info->connect_fd, clock_seconds() + FIRST_REQUEST};
      if (d->next) d->next->before = d;
      doors->first = d;
    }
  } else if (d) {
    *(d->before ? &d->before->next : &doors->first) = d->next;
    if (d->next) d->next->before = d->before;
    *own = NULL;
    free(d);
  }
  pthread_mutex_unlock(&doors->lock);
}

static void door_until(struct StudioDoors *doors, Connection *c, double until) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  StudioDoor *d = info ? info->socket_context : NULL;
  pthread_mutex_lock(&doors->lock);
  if (d) d->until = until;
  pthread_mutex_unlock(&doors->lock);
}

void http_tick(Studio *s) {
  double now = clock_seconds();
  pthread_mutex_lock(&s->doors->lock);
  for (StudioDoor *d = s->doors->first; d; d = d->next)
    if (d->until > 0 && now > d->until) shutdown(d->fd, SHUT_RDWR);
  pthread_mutex_unlock(&s->doors->lock);
}

// -- requests -------------------------------------------------------------------------------------
// A message may be 9 MB, and an upload more: it says so at its beginning.
static void take_body(StudioAsk *ask, const char *bytes, size_t n) {
  size_t all = ask->n + n;
  if (ask->too_large) return;
  if (all > ask->room) {
    size_t room = all > 64 << 10 ? all * 2 : 64 << 10;
    char *more = realloc(ask->body, room + 1);
    ask->too_large = !more;
    if (!more) return;
    ask->body = more;
    ask->room = room;
  }
  memcpy(ask->body + ask->n, bytes, n);
  ask->n = all;
  ask->body[all] = 0;
  if (all <= STUDIO_MESSAGE_LIMIT) return;
  const char *upload = strstr(ask->body, "\"host/upload\"");
  ask->too_large = !upload || upload - ask->body > 200 || all > STUDIO_UPLOAD_LIMIT;
  if (ask->too_large) ask->n = 0;
}

static enum MHD_Result answer_whole(Studio *s, Connection *c, const char *url, const char *method,
                                    StudioAsk *ask) {
  bool get = !strcmp(method, "GET"), post = !strcmp(method, "POST");
  if (post && !strcmp(url, "/message")) return pass_on(s, c, ask);
  if (post && !strcmp(url, "/session")) return give_session(s, c);
  if (get && !strcmp(url, "/events")) return give_events(s, c);
  if (get && !strcmp(url, "/file")) return give_file(s, c);
  if (get) return give_page(s, c, url);
  return say(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or POST is wanted");
}

static enum MHD_Result http_take(void *what, Connection *c, const char *url, const char *method,
                                 const char *version, const char *bytes, size_t *n, void **own) {
  Studio *s = what;
  StudioAsk *ask = *own;
  (void)version;
  if (!ask) {
    HttpHeads h = {0};
    MHD_get_connection_values(c, MHD_HEADER_KIND, count_head, &h);
    if (h.lengths + h.codings > 1) return say_last(c, "a request says once how long it is");
    if (!is_from_here(s, c, &h) || !has_token(s, c))
      return say(c, MHD_HTTP_FORBIDDEN,
                 "this needs the address that `limn studio` printed, with its token");
    ask = calloc(1, sizeof *ask);
    if (!ask) return MHD_NO;
    ask->connection = c;
    *own = ask;
    return MHD_YES;
  }
  if (*n) {
    take_body(ask, bytes, *n);
    *n = 0;
    return MHD_YES;
  }
  door_until(s->doors, c, 0);
  return ask->passed_on ? give_answer(c, ask) : answer_whole(s, c, url, method, ask);
}

static void completed(void *what, Connection *c, void **own, enum MHD_RequestTerminationCode why) {
  Studio *s = what;
  StudioAsk *ask = *own;
  (void)why;
  door_until(s->doors, c, clock_seconds() + NEXT_REQUEST);
  if (!ask) return;
  if (ask->session) session_leave(ask->session);
  free(ask->body);
  free(ask->answer);
  free(ask);
  *own = NULL;
}

static void say_nothing(void *what, const char *format, va_list args) {
  (void)what, (void)format, (void)args;
}

// -- beginning and end ----------------------------------------------------------------------------
// A name of a port that is taken is said; the system's own words are enough.
static int listen_on(uint32_t port, uint32_t *given) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  socklen_t n = sizeof here;
  int on = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bool good = fd >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
              setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
              bind(fd, (struct sockaddr *)&here, sizeof here) == 0 && listen(fd, 128) == 0 &&
              getsockname(fd, (struct sockaddr *)&here, &n) == 0;
  if (good) {
    *given = ntohs(here.sin_port);
    return fd;
  }
  int why = errno;
  if (fd >= 0) close(fd);
  errno = why;
  return -1;
}

// A browser keeps texts for an address: a folder has the same few ports each time, so that they are
// found again. Below those that the system gives to whoever asks for any.
static int listen_anywhere(Studio *s) {
  enum { FIRST = 20000, PORTS = 12000, TRIED = 4 };
  uint64_t hash = hash_bytes(HASH_START, s->folder, strlen(s->folder));
  int fd = -1;
  for (uint32_t k = 0; fd < 0 && k < TRIED; k++)
    fd = listen_on(FIRST + (uint32_t)((hash + k) % PORTS), &s->port);
  return fd >= 0 ? fd : listen_on(0, &s->port);
}

bool http_open(Studio *s) {
  uint32_t asked = s->port;
  int fd = asked ? listen_on(asked, &s->port) : listen_anywhere(s);
  if (fd < 0) {
    fprintf(stderr, "limn studio: cannot listen on port %u: %s\n", asked,
            os_error(s->arena, errno));
    return false;
  }
  s->doors = NEW(s->arena, struct StudioDoors);
  pthread_mutex_init(&s->doors->lock, NULL);
  s->daemon = MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      http_take, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
      MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_NOTIFY_CONNECTION, door_notify,
      s->doors, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADS, MHD_OPTION_CONNECTION_TIMEOUT, 30u,
      MHD_OPTION_END);
  if (s->daemon) return true;
  fputs("limn studio: the server cannot be started\n", stderr);
  close(fd);
  return false;
}

// A connection that is suspended cannot be closed: with threads still at work, the process's end does.
void http_close(Studio *s) {
  pthread_mutex_lock(&s->lock);
  bool works = s->working > 0;
  pthread_mutex_unlock(&s->lock);
  if (!works) MHD_stop_daemon(s->daemon);
}
