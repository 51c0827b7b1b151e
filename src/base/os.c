// Files and the clock. A written file is whole or absent: a temporary one beside it is filled,
// synced and renamed, and the folder is synced after it.
#define _POSIX_C_SOURCE 200809L
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

FileText file_read(Arena *a, const char *path, size_t limit) {
  FileText f = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    f.error = arena_format(a, "%s", strerror(errno));
    return f;
  }
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    f.error = "it is a folder";
    close(fd);
    return f;
  }
  Buf b = buf_new(a);
  static const size_t chunk = 1 << 16;
  char *piece = arena_alloc(a, chunk);
  for (;;) {
    ssize_t got = read(fd, piece, chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) f.error = arena_format(a, "%s", strerror(errno));
    if (got <= 0) break;
    if (b.n + (size_t)got > limit) {
      f.error = arena_format(a, "it is larger than %zu bytes", limit);
      break;
    }
    buf_add(&b, piece, (size_t)got);
  }
  close(fd);
  if (!f.error) f.text = b.at, f.n = b.n;
  return f;
}

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n) {
    ssize_t put = write(fd, bytes, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes += put;
    n -= (size_t)put;
  }
  return true;
}

static void sync_folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *folder = slash ? arena_text(a, path, (size_t)(slash - path) + 1) : ".";
  int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

const char *file_write(Arena *a, const char *path, const void *bytes, size_t n) {
  const char *beside = arena_format(a, "%s.%ld.part", path, (long)getpid());
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return arena_format(a, "%s", strerror(errno));
  bool good = write_all(fd, bytes, n) && fsync(fd) == 0;
  int why = errno;
  if (close(fd) != 0 && good) good = false, why = errno;
  if (good && rename(beside, path) != 0) good = false, why = errno;
  if (!good) {
    unlink(beside);
    return arena_format(a, "%s", strerror(why));
  }
  sync_folder_of(a, path);
  return NULL;
}

const char *path_join(Arena *a, const char *beside_file, const char *relative) {
  const char *slash = strrchr(beside_file, '/');
  if (relative[0] == '/' || !slash) return arena_format(a, "%s", relative);
  return arena_format(a, "%.*s%s", (int)(slash - beside_file) + 1, beside_file, relative);
}

double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
