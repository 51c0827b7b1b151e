// All writing of files.
//
//   file_write       a file that the user names. A link is kept, and its target is written; devices and
//                    pipes are written into; everything else is replaced atomically.
//   file_write_in    a file below a folder of limn, as DIR and `shown/1.svg`. Links on the way to DIR,
//                    which the user gave, are followed; below DIR none is, because a folder of runs may
//                    come from elsewhere, and a link in it could point anywhere.
//   file_write_at    the same below an open folder, whatever its path refers to by now.
//   file_append_in   for files that grow: regular files with a single hard link; others are refused.
//
// Replacing is atomic: a new file in the same folder is written, synced and renamed, then the
// folder is synced. The new file is created exclusively, so it is neither an existing file nor a
// link.
//
// Nothing is allocated while a file is open, so running out of memory leaks no file descriptor.
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "base/files.h"
#include "base/within.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NEW_MODE = 0666 };

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

// -- a file as a whole ----------------------------------------------------------------------------
typedef struct {
  int folder;         // open, or AT_FDCWD
  const char *name;   // in `folder`
  const char *beside; // temporary name of the new file
  const char *bytes;
  size_t n;
  const mode_t *mode; // mode of the replaced file; NULL: default mode
} NewFile;

// A leftover of a killed process with the same number is removed.
static int open_new(const NewFile *f) {
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(f->folder, f->beside, how, NEW_MODE);
  if (fd < 0 && errno == EEXIST && unlinkat(f->folder, f->beside, 0) == 0)
    fd = openat(f->folder, f->beside, how, NEW_MODE);
  return fd;
}

// Replaces a file atomically. Returns 0 or errno.
static int replace(const NewFile *f) {
  bool modes = f->mode && (*f->mode & 0777);      // 0 on file systems without modes
  if (modes && !(*f->mode & 0222)) return EACCES; // a read-only file is not replaced
  int fd = open_new(f);
  if (fd < 0) return errno;
  if (f->mode && fchmod(fd, *f->mode & 0777) != 0) errno = 0; // file systems without modes
  bool good = write_all(fd, f->bytes, f->n) && fsync(fd) == 0;
  int why = errno;
  if (close(fd) != 0 && good) good = false, why = errno;
  if (good && renameat(f->folder, f->beside, f->folder, f->name) != 0) good = false, why = errno;
  if (!good) unlinkat(f->folder, f->beside, 0);
  return good ? 0 : why;
}

// NAME.PID.part; a long name is cut at a character, as a file name has at most 255 bytes.
static const char *name_beside(Arena *a, const char *name) {
  const char *slash = strrchr(name, '/'), *end = arena_format(a, ".%ld.part", (long)getpid());
  size_t n = strlen(name), folder = slash ? (size_t)(slash + 1 - name) : 0;
  size_t most = folder + 255 - strlen(end);
  if (n > most)
    for (n = most; n > folder && ((unsigned char)name[n] & 0xC0) == 0x80;) n--;
  return arena_format(a, "%.*s%s", (int)n, name, end);
}

// -- what the user names --------------------------------------------------------------------------
// File systems and devices that cannot sync count as synced.
static bool sync_whole(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

// Syncs the folder of a file. Returns 0 or errno. A folder without read permission cannot be
// opened, and is skipped.
static int sync_folder_of(Arena *a, const char *path) {
  const char *name, *folder = path_folder(a, path, &name);
  int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == EACCES ? 0 : errno;
  int why = sync_whole(fd) ? 0 : errno;
  close(fd);
  return why;
}

static bool is_of_system(const char *path) {
  return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

// Writes into a device or pipe, or creates the missing target of a link.
static const char *write_into(Arena *a, const char *path, const char *bytes, size_t n) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, NEW_MODE);
  if (fd < 0) return os_error(a, errno);
  bool good = write_all(fd, bytes, n);
  int why = errno;
  if (good && !sync_whole(fd)) good = false, why = errno;
  if (close(fd) != 0 && good) good = false, why = errno;
  return good ? NULL : os_error(a, why);
}

const char *file_write(Arena *a, const char *path, const void *bytes, size_t n) {
  struct stat itself, target;
  bool there = lstat(path, &itself) == 0, link = there && S_ISLNK(itself.st_mode);
  bool found = there && stat(path, &target) == 0;
  bool other = found && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode);
  const char *name = link && found && !is_of_system(path) ? path_real(a, path) : link ? NULL : path;
  if (other || !name) return write_into(a, path, bytes, n);
  const NewFile f = {AT_FDCWD, name, name_beside(a, name),
                     bytes,    n,    found ? &target.st_mode : NULL};
  int why = replace(&f);
  if (!why) why = sync_folder_of(a, name);
  return why ? os_error(a, why) : NULL;
}

// -- folders of limn ------------------------------------------------------------------------------
// The walk from DIR to the folder that contains a name.
typedef struct {
  int at; // `dir` is relative to this open folder, or AT_FDCWD
  const char *dir;
  char *part; // the name, cut at the slash reached so far
  char *last; // the component after it
  int folder;
  bool link; // `part` is a link
  bool make; // create missing folders
  int why;
} Walk;

static Walk walk_new(Arena *a, const char *dir, const char *name, bool make) {
  char *own = arena_text(a, name, strlen(name));
  return (Walk){.at = AT_FDCWD,
                .dir = *dir ? dir : ".",
                .part = own,
                .last = own,
                .folder = -1,
                .make = make};
}

static bool is_link(int folder, const char *name) {
  struct stat s;
  return fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(s.st_mode);
}

// Descends one folder. Errors are stored in the walk.
static bool walk_down(Walk *w) {
  const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  if (w->make && mkdirat(w->folder, w->last, 0777) != 0 && errno != EEXIST) {
    w->why = errno;
    return false;
  }
  int next = openat(w->folder, w->last, how);
  w->why = errno;
  w->link = next < 0 && is_link(w->folder, w->last);
  close(w->folder);
  w->folder = next;
  return next >= 0;
}

static bool walk(Walk *w) {
  w->folder = openat(w->at, w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (w->folder < 0) {
    w->why = errno;
    return false;
  }
  for (char *slash; (slash = strchr(w->last, '/')); *slash = '/', w->last = slash + 1) {
    *slash = 0;
    if (walk_down(w)) continue;
    if (w->folder >= 0) close(w->folder);
    w->folder = -1;
    return false;
  }
  return true;
}

static const char *walk_error(Arena *a, const Walk *w) {
  if (!w->link) return os_error(a, w->why);
  return arena_format(a, "%s/%s is a link, and links in a folder of limn's are not followed",
                      w->dir, w->part);
}

const char *folder_make_in(Arena *a, const char *dir, const char *name) {
  Walk w = walk_new(a, dir, arena_format(a, "%s/", name), true);
  if (!walk(&w)) return walk_error(a, &w);
  close(w.folder);
  return NULL;
}

const char *file_write_at(Arena *a, int at, const char *dir, const char *name, const void *bytes,
                          size_t n) {
  Walk w = walk_new(a, dir, name, false);
  w.at = at;
  const char *slash = strrchr(name, '/'), *beside = name_beside(a, slash ? slash + 1 : name);
  if (!walk(&w)) return walk_error(a, &w);
  struct stat old;
  bool there = fstatat(w.folder, w.last, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode);
  const NewFile f = {w.folder, w.last, beside, bytes, n, there ? &old.st_mode : NULL};
  int why = replace(&f);
  if (!why && !sync_whole(w.folder)) why = errno;
  close(w.folder);
  return why ? os_error(a, why) : NULL;
}

const char *file_write_in(Arena *a, const char *dir, const char *name, const void *bytes,
                          size_t n) {
  return file_write_at(a, AT_FDCWD, dir, name, bytes, n);
}

// NULL for a regular file with a single hard link; otherwise what is wrong.
static const char *why_foreign(int fd) {
  struct stat s;
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return "it is not a regular file";
  return s.st_nlink > 1 ? "it has another name elsewhere (a hard link)" : NULL;
}

const char *file_append_in(Arena *a, const char *dir, const char *name, int *fd) {
  Walk w = walk_new(a, dir, name, false);
  *fd = -1;
  if (!walk(&w)) return walk_error(a, &w);
  *fd = openat(w.folder, w.last, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
               NEW_MODE);
  w.why = errno;
  w.link = *fd < 0 && is_link(w.folder, w.last);
  close(w.folder);
  if (*fd < 0) return walk_error(a, &w);
  const char *wrong = why_foreign(*fd);
  if (wrong) close(*fd), *fd = -1;
  return wrong;
}

// -- reading below a folder -----------------------------------------------------------------------
const char *name_refuse(const char *name) {
  if (!*name || *name == '/') return "a path below the folder is wanted";
  if (strlen(name) > 1000) return "it is longer than 1000 bytes";
  for (const char *at = name, *end; *at; at = end + (*end == '/')) {
    end = at + strcspn(at, "/");
    if (end == at) return "it has an empty part";
    if (*at == '.') return "it has a part that begins with a dot";
    if (*end == '/' && !end[1]) return "it ends with a slash";
  }
  for (const char *at = name; *at; at++)
    if ((unsigned char)*at < 32 || *at == 127) return "there is a control character in it";
  return NULL;
}

const char *name_refuse_in(Arena *a, const char *dir, const char *name) {
  const char *wrong = name_refuse(name);
  if (wrong) return wrong;
  Walk w = walk_new(a, dir, name, false);
  bool there = walk(&w), link = there ? is_link(w.folder, w.last) : w.link;
  if (there) close(w.folder);
  return link ? "something there is a link" : NULL;
}

// Reads a whole file into a buffer; returns the length, or -1 and errno.
static ssize_t read_whole(int fd, char *to, size_t room) {
  size_t n = 0;
  for (ssize_t got = 1; got && n < room; n += (size_t)got) {
    got = read(fd, to + n, room - n);
    if (got < 0 && errno != EINTR) return -1;
    if (got < 0) got = 1, n--;
  }
  return (ssize_t)n;
}

// The size is queried, the buffer allocated, then the file opened: a file that grows meanwhile is
// truncated.
FileText file_read_in(Arena *a, const char *dir, const char *name, size_t limit) {
  FileText f = {0};
  Walk w = walk_new(a, dir, name, false);
  struct stat s = {0};
  f.error = file_check_in(a, dir, name);
  if (f.error) return f;
  bool gone = !walk(&w) || fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) != 0;
  if (w.folder >= 0) close(w.folder);
  size_t room = (size_t)s.st_size;
  if (gone)
    f.error = walk_error(a, &w);
  else if (room > limit)
    f.error = arena_format(a, "it is larger than %zu bytes", limit);
  if (f.error) return f;
  char *text = arena_alloc(a, room + 1);
  Walk again = walk_new(a, dir, name, false);
  if (!walk(&again)) {
    f.error = walk_error(a, &again);
    return f;
  }
  int fd = openat(again.folder, again.last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int why = errno;
  bool regular = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
  ssize_t n = regular ? read_whole(fd, text, room) : -1;
  if (regular && n < 0) why = errno;
  if (fd >= 0) close(fd);
  close(again.folder);
  if (n < 0)
    f.error = fd >= 0 && !regular ? "it is not a regular file" : os_error(a, why);
  else
    f.text = text, f.n = (size_t)n;
  return f;
}

const char *file_check_in(Arena *a, const char *dir, const char *name) {
  Walk w = walk_new(a, dir, name, false);
  struct stat s;
  if (!walk(&w)) return walk_error(a, &w);
  bool there = fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) == 0;
  w.why = errno;
  w.link = there && S_ISLNK(s.st_mode);
  close(w.folder);
  if (!there || w.link) return walk_error(a, &w);
  return S_ISREG(s.st_mode)   ? NULL
         : S_ISDIR(s.st_mode) ? "it is a folder"
                              : "it is not a regular file";
}

bool file_is_foreign(Arena *a, const char *dir, const char *name) {
  Walk w = walk_new(a, dir, name, false);
  struct stat s;
  if (!walk(&w)) return w.link || w.why == ENOTDIR;
  bool there = fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) == 0;
  close(w.folder);
  return there && (!S_ISREG(s.st_mode) || s.st_nlink > 1);
}

const char *file_check(Arena *a, const char *path) {
  const char *name, *dir = path_folder(a, path, &name);
  return file_check_in(a, dir, name);
}
