// host/delete {"run", "sure": true}: deletes a run. The folder must be a run below the served
// folder, without a process and without other runs inside. It is first renamed to a hidden name, so
// that it disappears as a whole, and then removed recursively without following links.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "studio/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, DEEP = 16 };

// Opens the parent folder of a path and gives its last component. Negative: see errno.
static int open_parent(HostCall *c, const char *path, const char **name) {
  int at = open(c->studio->folder, FOLDER);
  for (const char *slash; at >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
    int next = openat(at, arena_text(c->arena, path, (size_t)(slash - path)), FOLDER);
    int why = errno;
    close(at);
    errno = why;
    at = next;
  }
  *name = path;
  return at;
}

static bool remove_in(int above, const char *name, uint32_t depth);

// Empties an open folder and closes it; true if all entries were removed.
static bool empty_folder(int at, uint32_t depth) {
  DIR *d = depth ? fdopendir(at) : NULL;
  if (!d) close(at);
  if (!d) return false;
  bool good = true;
  for (struct dirent *e; (e = readdir(d));)
    if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
      good &= remove_in(dirfd(d), e->d_name, depth - 1);
  closedir(d);
  return good;
}

static bool remove_in(int above, const char *name, uint32_t depth) {
  int at = openat(above, name, FOLDER);
  if (at < 0) return unlinkat(above, name, 0) == 0; // a file, or a link itself
  return empty_folder(at, depth) && unlinkat(above, name, AT_REMOVEDIR) == 0;
}

static bool holds_a_run(HostCall *c, const char *dir) {
  FolderNames names = {0};
  folder_names(c->arena, arena_format(c->arena, "%s/%s", c->studio->folder, dir), &names);
  for (uint32_t i = 0; i < names.n; i++)
    if (run_is_one(c->studio, c->arena, arena_format(c->arena, "%s/%s", dir, names.at[i])))
      return true;
  return false;
}

// Holds the run's lock during the deletion, so that nobody resumes it. True with *lock = -1: there
// is no lock file. False: another process holds it.
static bool take_lock(HostCall *c, const char *dir, int *lock) {
  *lock = open(arena_format(c->arena, "%s/%s/lock", c->studio->folder, dir),
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return *lock < 0 || flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

// Returns NULL, or why the run still exists.
static const char *remove_run_folder(HostCall *c, const char *dir) {
  const char *name;
  int above = open_parent(c, dir, &name);
  if (above < 0) return os_error(c->arena, errno);
  const char *aside = arena_format(c->arena, ".%s.%ld.gone", name, (long)getpid());
  const char *wrong = NULL;
  if (renameat(above, name, above, aside) != 0) wrong = os_error(c->arena, errno);
  if (!wrong && !remove_in(above, aside, DEEP))
    wrong = arena_format(c->arena, "some of it is left in %s", aside);
  close(above);
  return wrong;
}

static const char *delete_run(HostCall *c, const char *dir) {
  RunNow now = run_now(c->studio, c->arena, dir);
  int lock = -1;
  const char *wrong = NULL;
  if (now.pid || !take_lock(c, dir, &lock))
    wrong = arena_format(c->arena, "it is %s; stop it first", run_state_word[now.state]);
  else if (holds_a_run(c, dir))
    wrong = "there are other runs in it";
  else
    wrong = remove_run_folder(c, dir);
  if (lock >= 0) close(lock);
  return wrong;
}

static void send_deleted(HostCall *c, const char *dir) {
  Buf b = buf_new(c->arena);
  JsonOut j = studio_notify(&b, "host/run");
  json_object(&j, NULL);
  json_text(&j, "run", dir);
  json_text(&j, "state", "deleted");
  json_end(&j);
  studio_send(c->studio, NULL, &b);
}

void host_delete(HostCall *c) {
  const char *dir = run_asked(c);
  if (!dir) return;
  if (!json_get_true(c->params, "sure")) {
    host_refuse(c, "%s is not deleted: `sure` is not true", dir);
    return;
  }
  disk_lock(c);
  const char *wrong = delete_run(c, dir);
  disk_unlock(c);
  if (wrong) {
    host_refuse(c, "%s is not deleted: %s", dir, wrong);
    return;
  }
  send_deleted(c, dir);
  run_done(c, dir);
}
