// A disk that fails, for LD_PRELOAD: calls on files of tensors give an error, or do only a part of
// what is asked.
//
//   FAULT=write:28:3    the third write, and all after it, fail with error 28 (ENOSPC)
//   FAULT=fsync:5:1     FAULT=rename:5:2    FAULT=open:28:1
//   FAULT=write:28:3:2  only two of them
//   NO_THREADS=1        besides, no thread can be had
//   CLOCK=6000          time passes so much faster
//   FAULT=short:0:1     writes put a third of their bytes;  FAULT=eintr:0:1  every other write is
//   interrupted;  FAULT=slow:0:1  a sync takes a tenth of a second
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool ours[1024]; // by descriptor
static atomic_int calls;

static bool is_ours(const char *path) { return strstr(path, ".safetensors") != NULL; }

// Does this call fail? Counts those of the kind that is asked for.
static bool fails(const char *call, int *error) {
  char name[16] = "";
  int first = 1, count = 1 << 30;
  const char *fault = getenv("FAULT");
  if (!fault || sscanf(fault, "%15[^:]:%d:%d:%d", name, error, &first, &count) < 3) return false;
  if (strcmp(name, call) != 0) return false;
  int k = atomic_fetch_add(&calls, 1) + 1;
  return k >= first && k < first + count;
}

int open(const char *path, int flags, ...) {
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  int error = 0;
  bool mine = is_ours(path) && (flags & O_ACCMODE) != O_RDONLY;
  if (mine && fails("open", &error)) return errno = error, -1;
  int fd = real(path, flags, mode);
  if (fd >= 0 && fd < 1024) ours[fd] = mine;
  return fd;
}

int openat(int folder, const char *path, int flags, ...) {
  int (*real)(int, const char *, int, ...) =
      (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
  va_list args;
  va_start(args, flags);
  mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  int error = 0;
  bool mine = is_ours(path) && (flags & O_ACCMODE) != O_RDONLY;
  if (mine && fails("open", &error)) return errno = error, -1;
  int fd = real(folder, path, flags, mode);
  if (fd >= 0 && fd < 1024) ours[fd] = mine;
  return fd;
}

ssize_t write(int fd, const void *bytes, size_t n) {
  ssize_t (*real)(int, const void *, size_t) =
      (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int error = 0;
  if (fd < 0 || fd >= 1024 || !ours[fd]) return real(fd, bytes, n);
  if (fails("write", &error)) return errno = error, -1;
  if (fails("short", &error)) return real(fd, bytes, n > 3 ? n / 3 : n);
  if (fails("eintr", &error) && calls % 2) return errno = EINTR, -1;
  return real(fd, bytes, n);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int error = 0;
  if (fd >= 0 && fd < 1024 && ours[fd] && fails("fsync", &error)) return errno = error, -1;
  if (fd >= 0 && fd < 1024 && ours[fd] && fails("slow", &error)) usleep(100000);
  return real(fd);
}

int renameat(int from, const char *old, int to, const char *new) {
  int (*real)(int, const char *, int, const char *) =
      (int (*)(int, const char *, int, const char *))dlsym(RTLD_NEXT, "renameat");
  int error = 0;
  if (is_ours(new) && fails("rename", &error)) return errno = error, -1;
  return real(from, old, to, new);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *what) {
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
                                                                                     __func__);
  return getenv("NO_THREADS") ? EAGAIN : real(thread, how, run, what);
}

int clock_gettime(clockid_t which, struct timespec *out) {
  int (*real)(clockid_t, struct timespec *) =
      (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  const char *faster = getenv("CLOCK");
  int result = real(which, out);
  if (result || !faster || which != CLOCK_MONOTONIC) return result;
  double now = ((double)out->tv_sec + 1e-9 * (double)out->tv_nsec) * atof(faster);
  out->tv_sec = (time_t)now;
  out->tv_nsec = (long)(1e9 * (now - (double)out->tv_sec));
  return 0;
}
