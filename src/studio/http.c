// HTTP: access control, routing, and response headers.
//
// A request is refused unless its Host header is this address, its origin is this page or none, and
// it has the token; this is checked before the body is read. Slow requests are queued for a thread
// of the session, and the connection is suspended until the answer is ready.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/hash.h"
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
// Seconds within which a complete request must arrive.
static const double FIRST_REQUEST = 5, NEXT_REQUEST = 60;

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
// A file of the served folder may be hostile: it is displayed, but nothing in it is executed.
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

static enum MHD_Result respond(Connection *c, unsigned status, Response *r) {
  if (!r) return MHD_NO;
  enum MHD_Result done = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return done;
}

static Response *copied_response(const char *bytes, size_t n, const char *type) {
  Response *r = MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
  if (r) add_heads(r, type, PAGE_POLICY);
  return r;
}

static enum MHD_Result respond_text(Connection *c, unsigned status, const char *text) {
  return respond(c, status, copied_response(text, strlen(text), "text/plain; charset=utf-8"));
}

// Refuses and closes the connection: the rest of an unread body must not be parsed as a request.
static enum MHD_Result refuse_and_close(Connection *c, const char *text) {
  Response *r = copied_response(text, strlen(text), "text/plain; charset=utf-8");
  if (r) MHD_add_response_header(r, "Connection", "close");
  return respond(c, MHD_HTTP_BAD_REQUEST, r);
}

// -- access control -------------------------------------------------------------------------------
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

// Rejects DNS rebinding (another host name for this address) and requests of other origins.
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

// Compares in constant time.
static bool is_token(const Studio *s, const char *text) {
  unsigned other = 0;
  if (!text || strlen(text) != STUDIO_TOKEN) return false;
  for (size_t i = 0; i < STUDIO_TOKEN; i++) other |= (unsigned char)(text[i] ^ s->token[i]);
  return !other;
}

// Cookies ignore the port, so the port is part of the name and two studios do not conflict.
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

static enum MHD_Result respond_file(const Studio *s, Connection *c) {
  static const char key[] = "path";
  const char *path = NULL;
  size_t n = 0;
  MHD_lookup_connection_value_n(c, MHD_GET_ARGUMENT_KIND, key, sizeof key - 1, &path, &n);
  const char *wrong = !path               ? "a path is wanted"
                      : strlen(path) != n ? "there is a zero byte in the path"
                                          : name_refuse(path);
  if (wrong) return respond_text(c, MHD_HTTP_FORBIDDEN, wrong);
  Arena *a = arena_new();
  Guard g;
  if (!a || !GUARDED(a, &g)) {
    arena_free(a);
    return respond_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "memory is exhausted");
  }
  FileText f = file_read_in(a, s->folder, path, FILE_LIMIT);
  Response *r = f.text ? MHD_create_response_from_buffer(f.n, (void *)(uintptr_t)f.text,
                                                         MHD_RESPMEM_MUST_COPY)
                       : NULL;
  if (r) add_heads(r, type_of(path), FILE_POLICY);
  enum MHD_Result done =
      r ? respond(c, MHD_HTTP_OK, r) : respond_text(c, MHD_HTTP_NOT_FOUND, f.error);
  guard_leave(&g);
  arena_free(a);
  return done;
}

static enum MHD_Result respond_page(const Studio *s, Connection *c, const char *url) {
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
    return respond(c, MHD_HTTP_OK, r);
  }
  return respond_text(c, MHD_HTTP_NOT_FOUND, "there is no such address");
}

// -- sessions -------------------------------------------------------------------------------------
static enum MHD_Result respond_session(Studio *s, Connection *c) {
  StudioSession *p = session_new(s);
  char text[80];
  if (!p) return respond_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "there are too many sessions");
  snprintf(text, sizeof text, "{\"session\":\"%s\"}", p->name);
  session_leave(p);
  return respond(c, MHD_HTTP_OK, copied_response(text, strlen(text), "application/json"));
}

static StudioSession *session_asked(Studio *s, Connection *c) {
  return session_find(s, MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "session"));
}

static enum MHD_Result respond_events(Studio *s, Connection *c) {
  StudioSession *p = session_asked(s, c);
  if (!p) return respond_text(c, MHD_HTTP_NOT_FOUND, "there is no such session");
  Response *r = session_events(p, c);
  session_leave(p);
  if (!r) return MHD_NO;
  add_heads(r, "text/event-stream", PAGE_POLICY);
  return respond(c, MHD_HTTP_OK, r);
}

static enum MHD_Result respond_answer(Connection *c, StudioRequest *ask) {
  if (!ask->answer) return respond(c, MHD_HTTP_NO_CONTENT, copied_response("", 0, ""));
  Response *r = MHD_create_response_from_buffer(ask->answer_n, ask->answer, MHD_RESPMEM_MUST_FREE);
  if (!r) return MHD_NO;
  ask->answer = NULL;
  add_heads(r, "application/json", PAGE_POLICY);
  return respond(c, MHD_HTTP_OK, r);
}

static enum MHD_Result queue_request(Studio *s, Connection *c, StudioRequest *ask) {
  if (ask->too_large)
    return respond_text(c, MHD_HTTP_CONTENT_TOO_LARGE, "a message has at most 9 MB, an upload 96");
  ask->session = session_asked(s, c);
  if (!ask->session) return respond_text(c, MHD_HTTP_NOT_FOUND, "there is no such session");
  ask->queued = true;
  MHD_suspend_connection(c);
  if (!session_queue(ask->session, ask)) {
    static const char over[] = RPC_ERROR_TEXT(-32803, "the session is over");
    request_answer(ask, over, sizeof over - 1);
    MHD_resume_connection(c);
  }
  return MHD_YES;
}

// -- idle connections -----------------------------------------------------------------------------
typedef struct ConnectionTimer {
  struct ConnectionTimer *before, *next;
  int fd;
  double until; // deadline of the request being received; 0: none
} ConnectionTimer;
struct ConnectionTimers {
  pthread_mutex_t lock;
  ConnectionTimer *first;
};

static void on_connection(void *what, Connection *c, void **own,
                          enum MHD_ConnectionNotificationCode k) {
  struct ConnectionTimers *timers = what;
  ConnectionTimer *d = *own;
  pthread_mutex_lock(&timers->lock);
  if (k == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    *own = d = info ? calloc(1, sizeof *d) : NULL;
    if (d) {
      *d =
          (ConnectionTimer){NULL, timers->first, info->connect_fd, clock_seconds() + FIRST_REQUEST};
      if (d->next) d->next->before = d;
      timers->first = d;
    }
  } else if (d) {
    *(d->before ? &d->before->next : &timers->first) = d->next;
    if (d->next) d->next->before = d->before;
    *own = NULL;
    free(d);
  }
  pthread_mutex_unlock(&timers->lock);
}

static void set_deadline(struct ConnectionTimers *timers, Connection *c, double until) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  ConnectionTimer *d = info ? info->socket_context : NULL;
  pthread_mutex_lock(&timers->lock);
  if (d) d->until = until;
  pthread_mutex_unlock(&timers->lock);
}

void http_tick(Studio *s) {
  double now = clock_seconds();
  pthread_mutex_lock(&s->timers->lock);
  for (ConnectionTimer *d = s->timers->first; d; d = d->next)
    if (d->until > 0 && now > d->until) shutdown(d->fd, SHUT_RDWR);
  pthread_mutex_unlock(&s->timers->lock);
}

// -- requests -------------------------------------------------------------------------------------
// Collects the body. Messages may have 9 MB; uploads more, which their prefix reveals.
static void collect_body(StudioRequest *ask, const char *bytes, size_t n) {
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
                                    StudioRequest *ask) {
  bool get = !strcmp(method, "GET"), post = !strcmp(method, "POST");
  if (post && !strcmp(url, "/message")) return queue_request(s, c, ask);
  if (post && !strcmp(url, "/session")) return respond_session(s, c);
  if (get && !strcmp(url, "/events")) return respond_events(s, c);
  if (get && !strcmp(url, "/file")) return respond_file(s, c);
  if (get) return respond_page(s, c, url);
  return respond_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or POST is wanted");
}

static enum MHD_Result handle_request(void *what, Connection *c, const char *url,
                                      const char *method, const char *version, const char *bytes,
                                      size_t *n, void **own) {
  Studio *s = what;
  StudioRequest *ask = *own;
  (void)version;
  if (!ask) {
    HttpHeads h = {0};
    MHD_get_connection_values(c, MHD_HEADER_KIND, count_head, &h);
    if (h.lengths + h.codings > 1) return refuse_and_close(c, "a request says once how long it is");
    if (!is_from_here(s, c, &h) || !has_token(s, c))
      return respond_text(c, MHD_HTTP_FORBIDDEN,
                          "this needs the address that `limn studio` printed, with its token");
    ask = calloc(1, sizeof *ask);
    if (!ask) return MHD_NO;
    ask->connection = c;
    *own = ask;
    return MHD_YES;
  }
  if (*n) {
    collect_body(ask, bytes, *n);
    *n = 0;
    return MHD_YES;
  }
  set_deadline(s->timers, c, 0);
  return ask->queued ? respond_answer(c, ask) : answer_whole(s, c, url, method, ask);
}

static void completed(void *what, Connection *c, void **own, enum MHD_RequestTerminationCode why) {
  Studio *s = what;
  StudioRequest *ask = *own;
  (void)why;
  set_deadline(s->timers, c, clock_seconds() + NEXT_REQUEST);
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
// Reports a port in use with the system's message.
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

// Browsers store data by origin: each folder is given the same few ports, so that the page finds
// its data again. They lie below the ephemeral ports of the system.
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
  if (!http_library_open()) return false;
  int fd = asked ? listen_on(asked, &s->port) : listen_anywhere(s);
  if (fd < 0) {
    fprintf(stderr, "limn studio: cannot listen on port %u: %s\n", asked,
            os_error(s->arena, errno));
    return false;
  }
  s->timers = NEW(s->arena, struct ConnectionTimers);
  pthread_mutex_init(&s->timers->lock, NULL);
  s->daemon = MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
      handle_request, s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_EXTERNAL_LOGGER, say_nothing,
      NULL, MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
      s->timers, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADS, MHD_OPTION_CONNECTION_TIMEOUT, 30u,
      MHD_OPTION_END);
  if (s->daemon) return true;
  fputs("limn studio: the server cannot be started\n", stderr);
  close(fd);
  return false;
}

// A suspended connection cannot be closed: while threads are working, it is left to the end of the
// process.
void http_close(Studio *s) {
  pthread_mutex_lock(&s->lock);
  bool works = s->working > 0;
  pthread_mutex_unlock(&s->lock);
  if (!works) MHD_stop_daemon(s->daemon);
}
