// Watches files that pages have open. Files are polled five times a second and compared by
// contents, not by time. Many programs write a file by truncating or recreating it, so a change is
// reported only after two polls without another change.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/hash.h"
#include "base/json_write.h"
#include "base/within.h"
#include "studio/studio_own.h"

#include <sys/stat.h>
#include <time.h>

enum {
  WATCHED = 1000,
  QUIET_LOOKS = 2,
  MOST_LOOKS = 10 // polls of a file that keeps changing, after which its contents are reported
};

typedef struct {
  char path[1001]; // relative to the folder
  char stamp[48];  // "": it does not exist
  int64_t seconds, nanoseconds, bytes;
  uint32_t looks, quiet; // polls since it changed, and since its last change; 0, 0: unchanged
} WatchedFile;
struct StudioWatch {
  WatchedFile file[WATCHED];
  uint32_t n;
};

void watch_open(Studio *s) { s->watch = NEW(s->arena, StudioWatch); }

const char *file_stamp(Arena *a, const char *text, size_t n) {
  return arena_format(a, "%zu-%016llx", n, (unsigned long long)hash_bytes(HASH_START, text, n));
}

static bool has_changed(const Studio *s, WatchedFile *f) { // has the file's status changed?
  char path[4096];
  struct stat now = {0};
  int n = snprintf(path, sizeof path, "%s/%s", s->folder, f->path);
  if (n < 0 || (size_t)n >= sizeof path || lstat(path, &now) != 0) now = (struct stat){0};
  bool other = f->seconds != (int64_t)now.st_mtime || f->bytes != (int64_t)now.st_size ||
               f->nanoseconds != (int64_t)now.st_mtim.tv_nsec;
  f->seconds = (int64_t)now.st_mtime;
  f->nanoseconds = (int64_t)now.st_mtim.tv_nsec;
  f->bytes = (int64_t)now.st_size;
  return other;
}

static WatchedFile *find_watched(StudioWatch *w, const char *path) {
  for (uint32_t i = 0; i < w->n; i++)
    if (!strcmp(w->file[i].path, path)) return &w->file[i];
  return NULL;
}

// Pages are told of writes by other pages directly, so this is no change.
void watch_written(Studio *s, const char *path, const char *stamp) {
  StudioWatch *w = s->watch;
  WatchedFile *f = find_watched(w, path);
  if (!f && w->n == WATCHED) return;
  if (!f) {
    f = &w->file[w->n++];
    *f = (WatchedFile){0};
    snprintf(f->path, sizeof f->path, "%s", path);
  }
  snprintf(f->stamp, sizeof f->stamp, "%s", stamp);
  has_changed(s, f);
  f->looks = f->quiet = 0;
}

// A page has read a version that others may not know yet: a pending report stays pending.
void watch_read(Studio *s, const char *path, const char *stamp) {
  if (!find_watched(s->watch, path)) watch_written(s, path, stamp);
}

// Has it changed and settled?
static bool has_settled(const Studio *s, WatchedFile *f) {
  bool other = has_changed(s, f);
  if (!other && !f->looks) return false;
  f->looks++;
  f->quiet = other ? 0 : f->quiet + 1;
  if (f->quiet < QUIET_LOOKS && f->looks < MOST_LOOKS) return false;
  f->looks = f->quiet = 0;
  return true;
}

void watch_send(Studio *s, Arena *a, const StudioSession *but, const char *path,
                const char *stamp) {
  Buf b = buf_new(a);
  JsonOut j = studio_notify(&b, "host/changed");
  json_object(&j, NULL);
  json_text(&j, "path", path);
  json_text_or_null(&j, "stamp", stamp);
  json_end(&j);
  studio_send(s, but, &b);
}

static void poll_all_files(Studio *s, Arena *a) {
  for (uint32_t i = 0; i < s->watch->n; i++) {
    WatchedFile *f = &s->watch->file[i];
    if (!has_settled(s, f)) continue;
    FileText text = file_read_in(a, s->folder, f->path, STUDIO_TEXT_LIMIT);
    const char *stamp = text.text ? file_stamp(a, text.text, text.n) : "";
    if (strcmp(stamp, f->stamp) == 0) continue;
    snprintf(f->stamp, sizeof f->stamp, "%s", stamp);
    watch_send(s, a, NULL, f->path, *f->stamp ? f->stamp : NULL);
  }
}

void watch_tick(Studio *s) {
  Arena *a = arena_new();
  Guard g;
  if (!a) return;
  pthread_mutex_lock(&s->disk);
  if (GUARDED(a, &g)) {
    poll_all_files(s, a);
    guard_leave(&g);
  }
  pthread_mutex_unlock(&s->disk);
  arena_free(a);
}
