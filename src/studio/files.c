// Files of the served folder: listing, reading, writing. Paths are below the folder and contain no
// links. A file is replaced atomically, and only if it is still the version that the page has read.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/within.h"
#include "studio/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_LIMIT = 5000, DEPTH_LIMIT = 6 };

// -- listed ---------------------------------------------------------------------------------------
static const char *kind_of(const char *name) {
  static const char *const kind[][2] = {
      {".limn", "program"}, {".onnx", "model"}, {".safetensors", "model"},
      {".csv", "data"},     {".npy", "data"},   {".npz", "data"},
      {".png", "data"},     {".txt", "data"},   {"-ubyte", "data"}};
  for (uint32_t i = 0; i < COUNT(kind); i++)
    if (text_ends(name, kind[i][0])) return kind[i][1];
  return NULL;
}

static void list_folder(HostCall *c, JsonOut *j, const char *below, uint32_t depth, uint32_t *n) {
  FolderNames names = {0};
  Arena *a = c->arena;
  folder_names(a, arena_format(a, "%s/%s", c->studio->folder, below), &names);
  for (uint32_t i = 0; i < names.n && *n < FILES_LIMIT; i++) {
    const char *path = arena_format(a, "%s%s%s", below, *below ? "/" : "", names.at[i]);
    const char *whole = arena_format(a, "%s/%s", c->studio->folder, path);
    struct stat s;
    if (name_refuse(path) || lstat(whole, &s) != 0) continue;
    bool folder = S_ISDIR(s.st_mode);
    bool run = folder && run_is_one(c->studio, a, path);
    const char *kind = run ? "run" : S_ISREG(s.st_mode) ? kind_of(path) : NULL;
    if (kind) {
      json_object(j, NULL);
      json_text(j, "path", path);
      json_text(j, "kind", kind);
      if (run) json_text(j, "state", run_state_word[run_now(c->studio, a, path).state]);
      json_end(j);
      ++*n;
    } else if (folder && depth < DEPTH_LIMIT && strcmp(names.at[i], "node_modules"))
      list_folder(c, j, path, depth + 1, n);
  }
}

void host_files(HostCall *c) {
  JsonOut j = host_result(c);
  uint32_t n = 0;
  disk_lock(c);
  json_list(&j, NULL);
  list_folder(c, &j, "", 0, &n);
  json_end(&j);
  host_done(c);
  disk_unlock(c);
}

// -- files left by a killed server ----------------------------------------------------------------
// While a file is written it is called NAME.PID.part; it is stale once that process is gone.
static bool is_stale_part(const char *name, const char *of) {
  size_t n = strlen(of);
  if (strncmp(name, of, n) || name[n] != '.' || !text_ends(name, ".part")) return false;
  size_t digits = strspn(name + n + 1, "0123456789");
  long pid = digits && digits < 10 ? strtol(name + n + 1, NULL, 10) : 0;
  return pid > 1 && strcmp(name + n + 1 + digits, ".part") == 0 && kill((pid_t)pid, 0) != 0 &&
         errno == ESRCH;
}

static void remove_stale_parts(HostCall *c, const char *path) {
  Arena *a = c->arena;
  const char *whole = arena_format(a, "%s/%s", c->studio->folder, path), *name;
  const char *folder = path_folder(a, whole, &name);
  FolderNames names = {0};
  folder_names(a, folder, &names);
  for (uint32_t i = 0; i < names.n; i++)
    if (is_stale_part(names.at[i], name)) unlink(arena_format(a, "%s%s", folder, names.at[i]));
}

// -- read and written -----------------------------------------------------------------------------
void host_read(HostCall *c) {
  const char *path = host_path(c, "path");
  if (!path) return;
  disk_lock(c);
  FileText f = file_read_in(c->arena, c->studio->folder, path, STUDIO_TEXT_LIMIT);
  const char *stamp = f.text ? file_stamp(c->arena, f.text, f.n) : "";
  bool text = f.text && text_is_utf8(f.text, f.n);
  if (text) watch_read(c->studio, path, stamp);
  if (text) remove_stale_parts(c, path);
  disk_unlock(c);
  if (!text) {
    host_refuse(c, "cannot read %s: %s", path, f.text ? "it is not text (UTF-8)" : f.error);
    return;
  }
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_key(&j, "text");
  buf_json(c->out, f.text, f.n);
  json_text(&j, "stamp", stamp);
  json_end(&j);
  host_done(c);
}

// Refuses the write because the file has changed; the refusal contains its present text.
static void refuse_other(HostCall *c, const char *path, const FileText *now) {
  if (now->text && !text_is_utf8(now->text, now->n)) {
    host_refuse(c, "cannot write %s: it was changed by another program, and is not text (UTF-8)",
                path);
    return;
  }
  Buf b = buf_new(c->arena);
  JsonOut j = json_out(&b);
  json_object(&j, NULL);
  json_key(&j, "text");
  if (now->text)
    buf_json(&b, now->text, now->n);
  else
    buf_text(&b, "null");
  json_text_or_null(&j, "stamp", now->text ? file_stamp(c->arena, now->text, now->n) : NULL);
  json_end(&j);
  host_refuse_with(c, b.at,
                   arena_format(c->arena, "%s was %s by another program", path,
                                now->text ? "changed" : "removed"));
}

static bool is_there(const HostCall *c, const char *path) {
  struct stat s;
  return lstat(arena_format(c->arena, "%s/%s", c->studio->folder, path), &s) == 0;
}

// Needs the disk lock.
static const char *write_text(HostCall *c, const char *path, const Json *text, const char *old) {
  bool there = is_there(c, path);
  FileText now = {0};
  if (there) now = file_read_in(c->arena, c->studio->folder, path, STUDIO_TEXT_LIMIT);
  if (there && !now.text) {
    host_refuse(c, "cannot write %s: %s", path, now.error);
    return NULL;
  }
  const char *stamp = now.text ? file_stamp(c->arena, now.text, now.n) : NULL;
  if (there ? !old || strcmp(old, stamp) : old != NULL) {
    refuse_other(c, path, &now);
    return NULL;
  }
  const char *wrong = file_write_in(c->arena, c->studio->folder, path, text->text, text->n);
  if (wrong) {
    host_refuse(c, "cannot write %s: %s", path, wrong);
    return NULL;
  }
  const char *made = file_stamp(c->arena, text->text, text->n);
  watch_written(c->studio, path, made);
  return made;
}

void host_write(HostCall *c) {
  const char *path = host_path(c, "path");
  if (!path) return;
  const Json *text = json_get(c->params, "text");
  if (!text || text->kind != JSON_TEXT) {
    host_refuse(c, "`text` is wanted: what is to be in %s", path);
    return;
  }
  if (text->n > STUDIO_TEXT_LIMIT) {
    host_refuse(c, "cannot write %s: it would be larger than %d bytes", path, STUDIO_TEXT_LIMIT);
    return;
  }
  disk_lock(c);
  const char *stamp = write_text(c, path, text, json_get_text(c->params, "stamp"));
  disk_unlock(c);
  if (!stamp) return;
  watch_send(c->studio, c->arena, c->session, path, stamp);
  host_answer(c, "stamp", stamp);
}

// -- new ones -------------------------------------------------------------------------------------
const char *make_parent_folders(HostCall *c, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return NULL;
  return folder_make_in(c->arena, c->studio->folder,
                        arena_text(c->arena, path, (size_t)(slash - path)));
}

void host_new(HostCall *c) {
  const char *path = host_path(c, "path");
  if (!path) return;
  disk_lock(c);
  const char *wrong =
      is_there(c, path) ? "there is something of this name" : make_parent_folders(c, path);
  if (!wrong) wrong = file_write_in(c->arena, c->studio->folder, path, "", 0);
  const char *stamp = file_stamp(c->arena, "", 0);
  if (!wrong) watch_written(c->studio, path, stamp);
  disk_unlock(c);
  if (wrong)
    host_refuse(c, "cannot make %s: %s", path, wrong);
  else
    host_answer(c, "stamp", stamp);
}

void host_rename(HostCall *c) {
  const char *path = host_path(c, "path"), *to = path ? host_path(c, "to") : NULL;
  if (!to) return;
  Arena *a = c->arena;
  disk_lock(c);
  const char *wrong = file_check_in(a, c->studio->folder, path);
  if (!wrong && is_there(c, to)) wrong = arena_format(a, "there is something called %s", to);
  if (!wrong) wrong = make_parent_folders(c, to);
  if (!wrong && rename(arena_format(a, "%s/%s", c->studio->folder, path),
                       arena_format(a, "%s/%s", c->studio->folder, to)) != 0)
    wrong = os_error(a, errno);
  disk_unlock(c);
  if (wrong) {
    host_refuse(c, "cannot rename %s: %s", path, wrong);
    return;
  }
  watch_send(c->studio, c->arena, c->session, path, NULL);
  host_answer(c, "path", to);
}
