// Methods named host/…: files, processes and the disk. The requests of one page are handled in
// order; the disk lock covers reading a file and then writing it.
#include "base/json_write.h"
#include "base/within.h"
#include "studio/runs.h"

// -- answers --------------------------------------------------------------------------------------
JsonOut host_result(HostCall *c) { return rpc_result(c->out, c->id); }

void host_done(HostCall *c) { rpc_end(c->out); }

void host_answer(HostCall *c, const char *key, const char *text) {
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_text(&j, key, text);
  json_end(&j);
  host_done(c);
}

void host_refuse_with(HostCall *c, const char *data, const char *text) {
  c->out->n = 0;
  rpc_error(c->out, c->id, RPC_REQUEST_FAILED, text, data);
}

void host_refuse(HostCall *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = arena_vformat(c->arena, format, args);
  va_end(args);
  host_refuse_with(c, NULL, text);
}

const char *host_path(HostCall *c, const char *key) {
  const char *path = json_get_text(c->params, key);
  const char *wrong = path ? name_refuse_in(c->arena, c->studio->folder, path) : NULL;
  if (!path)
    host_refuse(c, "`%s` is wanted: a path below the folder", key);
  else if (wrong)
    host_refuse(c, "%s is not below the folder: %s", text_shown(c->arena, path, strlen(path)),
                wrong);
  return path && !wrong ? path : NULL;
}

static void drop_handle(void *what) { limn_free(*(Limn **)what); }

Limn *host_handle(HostCall *c) {
  Limn **l = NEW(c->arena, Limn *);
  arena_on_free(c->arena, drop_handle, l);
  return *l = limn_new();
}

typedef struct {
  pthread_mutex_t *lock;
  bool held;
} HeldLock;

static void drop_lock(void *what) {
  HeldLock *h = what;
  if (h->held) pthread_mutex_unlock(h->lock);
}

void disk_lock(HostCall *c) {
  c->locked = arena_child(c->arena);
  HeldLock *h = NEW(c->locked, HeldLock);
  h->lock = &c->studio->disk;
  arena_on_free(c->locked, drop_lock, h);
  pthread_mutex_lock(h->lock);
  h->held = true;
}

void disk_unlock(HostCall *c) {
  arena_free(c->locked);
  c->locked = NULL;
}

// -- general information --------------------------------------------------------------------------
// Is it a program that uses no other file? Only such examples can be copied alone.
static bool stands_alone(const PageFile *f) {
  return !strstr(f->bytes, "use \"") && !strstr(f->bytes, "from \"");
}

static void host_example(HostCall *c) {
  const char *name = json_get_text(c->params, "name");
  for (uint32_t i = 0; name && i < example_file_count; i++) {
    if (strcmp(example_files[i].name, name)) continue;
    host_answer(c, "text", example_files[i].bytes);
    return;
  }
  host_refuse(c, "there is no example `%s`", name ? text_shown(c->arena, name, strlen(name)) : "");
}

static void host_about(HostCall *c) {
  static const char *const can[] = {"files",   "train", "upload", "onnx",
                                    "weights", "diff",  "change", "delete"};
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_text(&j, "home", "studio");
  json_text(&j, "version", limn_version());
  json_text(&j, "folder", c->studio->folder);
  const char *open = c->studio->open;
  json_text_or_null(&j, "open", open ? arena_format(c->arena, "file:///%s", open) : NULL);
  json_list(&j, "examples");
  for (uint32_t i = 0; i < example_file_count; i++)
    if (stands_alone(&example_files[i])) json_text(&j, NULL, example_files[i].name);
  json_end(&j);
  json_list(&j, "can");
  for (uint32_t i = 0; i < COUNT(can); i++) json_text(&j, NULL, can[i]);
  json_end(&j);
  json_end(&j);
  host_done(c);
}

static const struct {
  const char *method;
  void (*take)(HostCall *);
} methods[] = {
    {"host/about", host_about},  {"host/files", host_files},     {"host/read", host_read},
    {"host/write", host_write},  {"host/new", host_new},         {"host/rename", host_rename},
    {"host/train", host_train},  {"host/pause", host_pause},     {"host/resume", host_resume},
    {"host/stop", host_stop},    {"host/runs", host_runs},       {"host/metrics", host_metrics},
    {"host/shown", host_shown},  {"host/upload", host_upload},   {"host/weights", host_weights},
    {"host/diff", host_diff},    {"host/example", host_example}, {"host/change", host_change},
    {"host/delete", host_delete}};

// -- messages -------------------------------------------------------------------------------------
static void dispatch(HostCall *c, const char *message, size_t n) {
  const char *error = "";
  const Json *j = json_read(c->arena, message, n, &error);
  RpcMessage m;
  if (!j || j->kind != JSON_OBJECT) {
    host_refuse(c, "this is not JSON: %s", j ? "an object is wanted" : error);
    return;
  }
  bool good = rpc_read(c->arena, j, &m);
  c->id = m.id ? m.id : "null";
  c->params = m.params;
  const char *name = good && m.method ? m.method : "";
  for (uint32_t i = 0; i < COUNT(methods); i++)
    if (strcmp(methods[i].method, name) == 0) {
      methods[i].take(c);
      return;
    }
  host_refuse(c, "there is no method `%s`", text_shown(c->arena, name, strlen(name)));
}

void host_answer_request(StudioSession *p, StudioRequest *ask) {
  static const char lost[] = RPC_NO_MEMORY;
  Arena *a = arena_new();
  Guard g;
  if (a && GUARDED(a, &g)) {
    Buf out = buf_new(a);
    HostCall c = {.studio = p->studio, .session = p, .arena = a, .out = &out, .id = "null"};
    dispatch(&c, ask->body ? ask->body : "", ask->n);
    request_answer(ask, out.at, out.n);
    guard_leave(&g);
  } else {
    request_answer(ask, lost, sizeof lost - 1);
  }
  arena_free(a);
}
