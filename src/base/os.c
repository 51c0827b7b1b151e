// Reading files, folders, paths and the clock. Writing is in write.c.
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *os_error(Arena *a, int code) {
  char text[200];
  if (strerror_r(code, text, sizeof text)) return arena_format(a, "error %d", code);
  return arena_text(a, text, strlen(text));
}

double os_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  double all = pages > 0 && bytes > 0 ? (double)pages * (double)bytes : INFINITY;
  // The limit of a 32-bit process.
  return sizeof(void *) < 8 ? fmin(all, (double)(PTRDIFF_MAX / 2)) : all;
}

// Reads until end of file or until `room` is full. -1: failure, see errno.
static ssize_t read_some(int fd, char *to, size_t room) {
  size_t n = 0;
  while (n < room) {
    ssize_t got = read(fd, to + n, room - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    n += (size_t)got;
  }
  return (ssize_t)n;
}

// The first bytes of a pipe that was opened with O_NONBLOCK. A writer has a second to open it; once it is
// open, reads block as usual.
static ssize_t pipe_begins(int fd, char *to, size_t room) {
  enum { TRIES = 20 };
  ssize_t got = 0;
  for (int tries = 0; got == 0 && tries < TRIES; tries++) {
    if (tries) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    got = read(fd, to, room);
  }
  return got;
}

// Reads from a file that was opened with O_NONBLOCK. *idle: it is a pipe without a writer. Anything else is
// switched back to blocking reads.
static ssize_t read_begin(int fd, char *to, size_t room, bool *idle) {
  struct stat info;
  ssize_t got = 0;
  bool is_pipe = fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode);
  if (is_pipe) got = pipe_begins(fd, to, room);
  *idle = is_pipe && got == 0;
  if (fcntl(fd, F_SETFL, 0) < 0) return -1;
  if (got < 0 && errno != EAGAIN && errno != EINTR) return -1;
  if (got < 0) got = 0;
  ssize_t more = read_some(fd, to + got, room - (size_t)got);
  *idle = *idle && more == 0;
  return more < 0 ? more : got + more;
}

// The buffer is allocated before the file is opened, so that running out of memory leaks no file
// descriptor. A pipe is read in chunks, which are joined at the end.
FileText file_read(Arena *a, const char *path, size_t limit) {
  enum { UNSIZED = 1 << 16 }; // chunk size for files of unknown size: pipes, /proc
  FileText f = {0};
  struct stat info = {0};
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    f.error = "it is a folder";
    return f;
  }
  bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
  size_t room = sized ? (size_t)info.st_size + 1 : limit < UNSIZED ? limit + 1 : UNSIZED;
  if (sized && (size_t)info.st_size > limit) {
    f.error = arena_format(a, "it is larger than %zu bytes", limit);
    return f;
  }
  bool idle;
  char *text = arena_alloc(a, room + 1);
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    f.error = os_error(a, errno);
    return f;
  }
  ssize_t n = read_begin(fd, text, room, &idle);
  int why = errno;
  if (n >= 0 && (size_t)n == room && room <= limit) { // the file is longer than its size said
    Buf b = buf_new(a);
    for (; n > 0 && b.n + (size_t)n <= limit; n = read_some(fd, text, room))
      buf_add(&b, text, (size_t)n);
    why = errno;
    room = limit + 1;
    if (n == 0)
      n = (ssize_t)b.n;
    else if (n > 0)
      n = (ssize_t)room;
    text = b.at;
  }
  close(fd);
  if (n < 0)
    f.error = os_error(a, why);
  else if (idle)
    f.error = "it is a pipe that nobody writes to";
  else if ((size_t)n > limit)
    f.error = arena_format(a, "it is larger than %zu bytes", limit);
  else {
    text[n] = 0;
    f.text = text;
    f.n = (size_t)n;
  }
  return f;
}

// The file is copied, not memory-mapped: access to a mapping of a file that was truncated raises
// SIGBUS. The buffer is allocated before the file is opened, so that running out of memory leaks no
// file descriptor. If the file grows meanwhile, the bytes beyond its former size are not read.
FileText file_bytes(Arena *a, const char *path) {
  FileText f = {0};
  struct stat info = {0};
  bool there = stat(path, &info) == 0;
  int why = errno;
  size_t room = there && S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
  char *text = arena_alloc(a, room + 1);
  // O_NONBLOCK: opening a pipe must not block.
  int fd = there ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
  if (there && (fd < 0 || fstat(fd, &info) != 0)) why = errno, there = false;
  bool regular = there && S_ISREG(info.st_mode);
  ssize_t n = regular ? read_some(fd, text, room) : 0;
  if (n < 0) why = errno, there = false;
  if (fd >= 0) close(fd);
  if (!there)
    f.error = os_error(a, why);
  else if (!regular)
    f.error = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file";
  else
    f.text = text, f.n = (size_t)n;
  return f;
}

static void close_folder(void *what) {
  DIR **d = what;
  if (*d) closedir(*d);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The folder is closed by an arena of its own, so that running out of memory leaks no handle.
const char *folder_names(Arena *a, const char *path, FolderNames *out) {
  Arena *scratch = arena_child(a);
  DIR **d = NEW(scratch, DIR *);
  arena_on_free(scratch, close_folder, d);
  *d = opendir(path);
  const char *error = *d ? NULL : os_error(a, errno);
  errno = 0;
  for (struct dirent *e; *d && (e = readdir(*d)); errno = 0)
    if (e->d_name[0] != '.') vec_push(a, out, arena_text(a, e->d_name, strlen(e->d_name)));
  if (*d && errno) error = os_error(a, errno);
  arena_free(scratch);
  if (out->n) qsort(out->at, out->n, sizeof *out->at, by_name);
  return error;
}

bool path_exists(const char *path) { return access(path, F_OK) == 0; }

bool path_is_file(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool path_is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *folder_make(Arena *a, const char *path, unsigned mode) {
  char *part = arena_text(a, path, strlen(path));
  for (char *p = part + 1;; p++) {
    if (*p && *p != '/') continue;
    char end = *p;
    *p = 0;
    if (mkdir(part, (mode_t)mode) != 0 && errno != EEXIST) return os_error(a, errno);
    if (!end) return NULL;
    *p = end;
  }
}

const char *path_join(Arena *a, const char *beside_file, const char *relative) {
  const char *slash = strrchr(beside_file, '/');
  if (relative[0] == '/' || !slash) return arena_format(a, "%s", relative);
  return arena_format(a, "%.*s%s", (int)(slash - beside_file) + 1, beside_file, relative);
}

const char *path_folder(Arena *a, const char *path, const char **name) {
  const char *slash = strrchr(path, '/');
  *name = slash ? slash + 1 : path;
  return slash ? arena_text(a, path, (size_t)(slash - path) + 1) : ".";
}

const char *path_real(Arena *a, const char *path) {
  char real[PATH_MAX];
  return realpath(path, real) ? arena_text(a, real, strlen(real)) : NULL;
}

// The path of a file that may be missing, in a folder that is there.
static const char *path_resolved(Arena *a, const char *path) {
  const char *real = path_real(a, path), *name;
  if (real) return real;
  const char *folder = path_real(a, path_folder(a, path, &name));
  return folder ? arena_format(a, "%s/%s", strcmp(folder, "/") ? folder : "", name) : path;
}

bool path_same(Arena *a, const char *one, const char *other) {
  struct stat s, t;
  bool first = stat(one, &s) == 0, second = stat(other, &t) == 0;
  if ((first && !S_ISREG(s.st_mode)) || (second && !S_ISREG(t.st_mode))) return false;
  if (first && second) return s.st_dev == t.st_dev && s.st_ino == t.st_ino;
  return strcmp(path_resolved(a, one), path_resolved(a, other)) == 0;
}

const char *paths_clash(Arena *a, const FolderNames *read, const FolderNames *written) {
  for (uint32_t i = 0; i < written->n; i++) {
    for (uint32_t k = 0; k < read->n; k++)
      if (path_same(a, written->at[i], read->at[k]))
        return arena_format(a, "%s is what this is made from: the result wants a file of its own",
                            written->at[i]);
    for (uint32_t k = 0; k < i; k++)
      if (path_same(a, written->at[i], written->at[k]))
        return arena_format(a, "%s would be written twice: each result wants a file of its own",
                            written->at[i]);
  }
  return NULL;
}

double clock_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// -- the cache ------------------------------------------------------------------------------------
static const char *cache_path(Arena *a, const char *set) {
  const char *home = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
  if (!set) set = getenv("LIMN_CACHE");
  if (set && *set) return set;
  if (xdg && *xdg) return arena_format(a, "%s/limn", xdg);
  if (home && *home) return arena_format(a, "%s/.cache/limn", home);
  return arena_format(a, "/tmp/limn-%u", (unsigned)getuid());
}

// True for a folder, no link, that belongs to the user and is closed to others. A umask may have
// removed the owner's permissions too; they are restored.
static bool is_private_folder(const char *path) {
  struct stat s;
  if (lstat(path, &s) || !S_ISDIR(s.st_mode)) return false;
  if (s.st_uid != geteuid() || (s.st_mode & 077)) return false;
  return s.st_mode & 0700 || !chmod(path, 0700);
}

const char *cache_folder(Arena *a, const char *set, const char **error) {
  const char *path = cache_path(a, set);
  if (*path && !folder_make(a, path, 0700) && is_private_folder(path)) return path;
  *error = arena_format(
      a, "%s cannot be the cache: it must be a folder of this user that is closed to all others",
      path);
  return NULL;
}

typedef struct {
  const char *path;
  time_t used;
  double bytes;
} CacheFile;

static int by_age(const void *a, const void *b) {
  const CacheFile *x = a, *y = b;
  return (x->used > y->used) - (x->used < y->used);
}

void cache_sweep(Arena *a, const char *folder, const char *ending, double most) {
  enum { OLD_SECONDS = 90 * 86400 };
  FolderNames names = {0};
  VEC(CacheFile) kept = {0};
  double bytes = 0;
  time_t now = time(NULL);
  if (folder_names(a, folder, &names)) return;
  for (uint32_t i = 0; i < names.n; i++) {
    struct stat s;
    if (!text_ends(names.at[i], ending)) continue;
    const char *path = arena_format(a, "%s/%s", folder, names.at[i]);
    if (lstat(path, &s)) continue;
    vec_push(a, &kept, (CacheFile){path, s.st_mtime, (double)s.st_size});
    bytes += (double)s.st_size;
  }
  if (kept.n) qsort(kept.at, kept.n, sizeof *kept.at, by_age);
  for (uint32_t i = 0; i < kept.n; i++) {
    if (bytes <= most && difftime(now, kept.at[i].used) < OLD_SECONDS) break;
    if (!unlink(kept.at[i].path)) bytes -= kept.at[i].bytes;
  }
}
