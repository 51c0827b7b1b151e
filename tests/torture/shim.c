// A system that fails, for LD_PRELOAD: the k-th call of a kind gives an error, or does only a part
// of what is asked; a signal comes at the k-th write; the clock jumps; folders are not there.
// Only a program called limn is attacked: the compiler that it starts is left alone.
//
//   TORTURE=write:28:3      the third write, and all after it, fail with error 28 (ENOSPC)
//   TORTURE=write:28:3:1    only that one
//   TORTURE=read:0:2        error 0: the second read and all after it give a third of what is asked
//   TORTURE=any:5:40:1      the fortieth call of any kind
//   TORTURE_SIGNAL=15:3     signal 15 before the third call that changes a file
//   TORTURE_CLOCK=7         clocks jump, at random from seed 7
//   TORTURE_HIDE=/proc:/dev/shm      what begins so is not there
//   TORTURE_READONLY=1      nothing can be written, made, renamed or removed
//   TORTURE_COUNTS=FILE     how many calls of each kind there were, at the end
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// clang-format off
#define KINDS(X) X(open) X(read) X(write) X(pread) X(fsync) X(rename) X(close) X(mkdir) X(mmap) X(ftruncate) X(stat) X(unlink) \
  X(opendir) X(flock) X(fork) X(execve) X(pthread_create) X(pthread_join) X(alloc)
// clang-format on
#define NUMBER(name) K_##name,
#define NAME(name) #name,
typedef enum { KINDS(NUMBER) KIND_COUNT } Kind;
static const char *const kind_name[] = {KINDS(NAME)};

static struct {
  bool on, readonly, allocs;
  int kind, error, signal; // kind: KIND_COUNT for any
  long first, count, signal_at;
  unsigned long clock;
  const char *hide, *counts;
} plan;
static atomic_long calls[KIND_COUNT], all_calls, changes, ticks;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void read_fault(const char *fault) {
  char name[32] = "";
  plan.kind = -1, plan.count = 1L << 60;
  if (!fault ||
      sscanf(fault, "%31[^:]:%d:%ld:%ld", name, &plan.error, &plan.first, &plan.count) < 3)
    return;
  if (!strcmp(name, "any")) plan.kind = KIND_COUNT;
  for (int i = 0; i < KIND_COUNT; i++)
    if (!strcmp(name, kind_name[i])) plan.kind = i;
}

__attribute__((constructor)) static void begin(void) {
  const char *text;
  if (strcmp(program_invocation_short_name, "limn")) return;
  read_fault(getenv("TORTURE"));
  if ((text = getenv("TORTURE_SIGNAL"))) sscanf(text, "%d:%ld", &plan.signal, &plan.signal_at);
  if ((text = getenv("TORTURE_CLOCK"))) plan.clock = strtoul(text, NULL, 10) + 1;
  plan.readonly = getenv("TORTURE_READONLY");
  plan.hide = getenv("TORTURE_HIDE");
  plan.counts = getenv("TORTURE_COUNTS");
  plan.on = true;
}

__attribute__((destructor)) static void end(void) {
  if (!plan.on || !plan.counts) return;
  plan.on = false;
  FILE *f = fopen(plan.counts, "w");
  if (!f) return;
  for (int i = 0; i < KIND_COUNT; i++) fprintf(f, "%s %ld\n", kind_name[i], (long)calls[i]);
  fprintf(f, "any %ld\nchanges %ld\n", (long)all_calls, (long)changes);
  fclose(f);
}

// -- deciding -------------------------------------------------------------------------------------
// Does this call fail? Counts. Memory is not among "any": it has its own attack.
static bool fails(Kind kind) {
  if (!plan.on) return false;
  long k = atomic_fetch_add(&calls[kind], 1) + 1;
  if (kind != K_alloc) {
    long any = atomic_fetch_add(&all_calls, 1) + 1;
    if (plan.kind == KIND_COUNT) k = any;
  }
  bool mine = plan.kind == (int)kind || (plan.kind == KIND_COUNT && kind != K_alloc);
  return mine && k >= plan.first && k - plan.first < plan.count;
}

// A call that fails, and not only by half.
static bool broken(Kind kind) {
  if (!fails(kind) || !plan.error) return false;
  errno = plan.error;
  return true;
}

static bool hidden(const char *path) {
  for (const char *at = plan.on ? plan.hide : NULL; at && *at;) {
    size_t n = strcspn(at, ":");
    if (n && !strncmp(path, at, n) && (!path[n] || path[n] == '/')) {
      errno = ENOENT;
      return true;
    }
    at += n + (at[n] == ':');
  }
  return false;
}

// Before whatever changes a file.
static bool frozen(bool writes) {
  if (!plan.on || !writes) return false;
  if (plan.signal && atomic_fetch_add(&changes, 1) + 1 == plan.signal_at) raise(plan.signal);
  if (!plan.signal) atomic_fetch_add(&changes, 1);
  if (plan.readonly) errno = EROFS;
  return plan.readonly;
}

// -- files ----------------------------------------------------------------------------------------
static bool to_write(int flags) { return (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT; }

static int opened(int folder, const char *path, int flags, mode_t mode) {
  bool device = !strncmp(path, "/dev/", 5);
  if (hidden(path) || (!device && frozen(to_write(flags))) || broken(K_open)) return -1;
  return REAL(openat)(folder, path, flags, mode);
}

#define MODE_OF(flags)                                                                             \
  mode_t mode = 0;                                                                                 \
  if (flags & (O_CREAT | O_TMPFILE)) {                                                             \
    va_list args;                                                                                  \
    va_start(args, flags);                                                                         \
    mode = va_arg(args, mode_t);                                                                   \
    va_end(args);                                                                                  \
  }
int open(const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  MODE_OF(flags)
  return opened(folder, path, flags, mode);
}
int __open_2(const char *, int);
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __openat_2(int, const char *, int);
int __openat_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0); }

// A third, but something.
static size_t part(size_t n) { return n > 3 ? n / 3 : n; }

ssize_t read(int fd, void *to, size_t n) {
  if (fails(K_read)) {
    if (plan.error) return errno = plan.error, -1;
    n = part(n);
  }
  return REAL(read)(fd, to, n);
}
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room) {
  if (n > room) abort();
  return read(fd, to, n);
}
ssize_t pread(int fd, void *to, size_t n, off_t at) {
  if (fails(K_pread)) {
    if (plan.error) return errno = plan.error, -1;
    n = part(n);
  }
  return REAL(pread)(fd, to, n, at);
}
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room) {
  if (n > room) abort();
  return pread(fd, to, n, at);
}
ssize_t write(int fd, const void *bytes, size_t n) {
  if (fd > 2 && frozen(true)) return -1;
  if (fails(K_write)) {
    if (plan.error) return errno = plan.error, -1;
    n = part(n);
  }
  return REAL(write)(fd, bytes, n);
}
int fsync(int fd) {
  if (frozen(true) && !plan.readonly) return -1;
  return broken(K_fsync) ? -1 : REAL(fsync)(fd);
}
int rename(const char *from, const char *to) {
  return frozen(true) || broken(K_rename) ? -1 : REAL(rename)(from, to);
}
int renameat(int at, const char *from, int there, const char *to) {
  return frozen(true) || broken(K_rename) ? -1 : REAL(renameat)(at, from, there, to);
}
// It is closed all the same, as Linux does.
int close(int fd) {
  bool bad = broken(K_close);
  int why = errno, closed = REAL(close)(fd);
  return bad ? errno = why, -1 : closed;
}
int mkdir(const char *path, mode_t mode) {
  if (plan.on && plan.readonly && !access(path, F_OK)) return errno = EEXIST, -1;
  return frozen(true) || broken(K_mkdir) ? -1 : REAL(mkdir)(path, mode);
}
void *mmap(void *at, size_t n, int how, int flags, int fd, off_t from) {
  return broken(K_mmap) ? MAP_FAILED : REAL(mmap)(at, n, how, flags, fd, from);
}
int ftruncate(int fd, off_t n) {
  return frozen(true) || broken(K_ftruncate) ? -1 : REAL(ftruncate)(fd, n);
}
int truncate(const char *path, off_t n) {
  return frozen(true) || broken(K_ftruncate) ? -1 : REAL(truncate)(path, n);
}
int stat(const char *path, struct stat *out) {
  return hidden(path) || broken(K_stat) ? -1 : REAL(stat)(path, out);
}
int lstat(const char *path, struct stat *out) {
  return hidden(path) || broken(K_stat) ? -1 : REAL(lstat)(path, out);
}
int fstat(int fd, struct stat *out) { return broken(K_stat) ? -1 : REAL(fstat)(fd, out); }
int fstatat(int folder, const char *path, struct stat *out, int flags) {
  return hidden(path) || broken(K_stat) ? -1 : REAL(fstatat)(folder, path, out, flags);
}
int access(const char *path, int how) { return hidden(path) ? -1 : REAL(access)(path, how); }
int unlink(const char *path) { return frozen(true) || broken(K_unlink) ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
  return frozen(true) || broken(K_unlink) ? -1 : REAL(unlinkat)(folder, path, flags);
}
DIR *opendir(const char *path) {
  return hidden(path) || broken(K_opendir) ? NULL : REAL(opendir)(path);
}
int flock(int, int);
int flock(int fd, int how) { return broken(K_flock) ? -1 : REAL(flock)(fd, how); }

// -- processes and threads ------------------------------------------------------------------------
pid_t fork(void) { return broken(K_fork) ? -1 : REAL(fork)(); }
int execve(const char *path, char *const *argument, char *const *environment) {
  return broken(K_execve) ? -1 : REAL(execve)(path, argument, environment);
}
int execv(const char *path, char *const *argument) {
  return broken(K_execve) ? -1 : REAL(execv)(path, argument);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *what) {
  if (fails(K_pthread_create)) return plan.error ? plan.error : EAGAIN;
  return REAL(pthread_create)(thread, how, run, what);
}

// It has waited, and says that it has not.
int pthread_join(pthread_t thread, void **what) {
  int done = REAL(pthread_join)(thread, what);
  return fails(K_pthread_join) ? plan.error : done;
}

// -- memory ---------------------------------------------------------------------------------------
#ifndef SANITIZED // whose memory is its own
// As glibc has it inside: looking names up takes memory too.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
static bool no_memory(void) {
  bool none = plan.on && fails(K_alloc);
  if (none) errno = ENOMEM;
  return none;
}
void *malloc(size_t n) { return no_memory() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return no_memory() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return no_memory() ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t align, size_t n) {
  return no_memory() ? NULL : __libc_memalign(align, n);
}
#endif

// -- clocks ---------------------------------------------------------------------------------------
// Where a clock may be found: before 1970, at the ends of small and large counters, far away; or
// some seconds off.
static long jump(void) {
  static const long place[] = {0, -1, 2147483647, 4294967296, -62135596800, 253402300800, 1L << 40};
  unsigned long k = plan.clock * 2862933555777941757u +
                    (unsigned long)atomic_fetch_add(&ticks, 1) * 6364136223846793005u;
  k ^= k >> 29, k *= 0x9E3779B97F4A7C15u, k ^= k >> 32;
  if (k % 3 == 0) return (long)(k / 3 % 2000) - 1000;
  return k % 3 == 1 ? place[k / 3 % (sizeof place / sizeof *place)] : 0;
}
int clock_gettime(clockid_t clock, struct timespec *out) {
  int status = REAL(clock_gettime)(clock, out);
  if (plan.on && plan.clock) out->tv_sec += jump();
  return status;
}
time_t time(time_t *out) {
  struct timespec now;
  REAL(clock_gettime)(CLOCK_REALTIME, &now);
  time_t t = now.tv_sec + (plan.on && plan.clock ? jump() : 0);
  if (out) *out = t;
  return t;
}
