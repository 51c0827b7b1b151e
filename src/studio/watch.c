// Files that a page has read or written: what another program makes of them is told to all pages.
// A file is looked at once a second; what is new about it is what is in it, not when it was written.
#define _DEFAULT_SOURCE
#include "base/within.h"
#include "studio/studio_own.h"

#include <sys/stat.h>
#include <time.h>

enum { WATCHED = 1000 };

typedef struct {
  char path[1001]; // below the folder
  char stamp[48];  // "": it is not there
  int64_t seconds, nanoseconds, bytes;
} WatchedFile;
struct StudioWatch {
  WatchedFile file[WATCHED];
  uint32_t n;
};

void watch_open(Studio *s) { s->watch = NEW(s->arena, StudioWatch); }

const char *file_stamp(Arena *a, const char *text, size_t n) {
  return arena_format(a, "%zu-%016llx", n, (unsigned long long)hash_bytes(HASH_START, text, n));
}

static bool look(const Studio *s, WatchedFile *f) { // whether it is another since
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

void watch_file(Studio *s, const char *path, const char *stamp) {
  StudioWatch *w = s->watch;
  uint32_t i = 0;
  while (i < w->n && strcmp(w->file[i].path, path)) i++;
  if (i == WATCHED) return;
  WatchedFile *f = &w->file[i];
  if (i == w->n) {
    *f = (WatchedFile){0};
    snprintf(f->path, sizeof f->path, "%s", path);
    w->n++;
  }
  snprintf(f->stamp, sizeof f->stamp, "%s", stamp);
  look(s, f);
}

static void tell_changed(Studio *s, Arena *a, const WatchedFile *f) {
  Buf b = buf_new(a);
  JsonOut j = json_out(&b);
  json_object(&j, NULL);
  json_text(&j, "path", f->path);
  json_text_or_null(&j, "stamp", *f->stamp ? f->stamp : NULL);
  json_end(&j);
  studio_tell(s, NULL, "host/changed", b.at);
}

static void look_at_all(Studio *s, Arena *a) {
  for (uint32_t i = 0; i < s->watch->n; i++) {
    WatchedFile *f = &s->watch->file[i];
    if (!look(s, f)) continue;
    FileText text = file_read_in(a, s->folder, f->path, STUDIO_TEXT_LIMIT);
    const char *stamp = text.text ? file_stamp(a, text.text, text.n) : "";
    if (strcmp(stamp, f->stamp) == 0) continue;
    snprintf(f->stamp, sizeof f->stamp, "%s", stamp);
    tell_changed(s, a, f);
  }
}

void watch_tick(Studio *s) {
  Arena *a = arena_new();
  Guard g;
  if (!a) return;
  pthread_mutex_lock(&s->disk);
  if (GUARDED(a, &g)) {
    look_at_all(s, a);
    guard_leave(&g);
  }
  pthread_mutex_unlock(&s->disk);
  arena_free(a);
}
