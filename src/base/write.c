// The one door through which files are written.
//
//   file_write       what the user names. A link is kept, and what it points at is written; a device or
//                    a pipe is written into; everything else is replaced as a whole.
//   file_write_in    what limn keeps in a folder of its own: DIR and, below it, `shown/1.svg`. DIR is
//                    the user's word, so links on the way to it are followed. Below it none is: a
//                    folder of runs may come from elsewhere, and a link in it could point anywhere.
//   file_write_at    the same below a folder that is open, whatever its path leads to by now.
//   file_append_in   the same for files that grow: they are regular and have this one name, or are
//                    refused.
//
// A file that is replaced is whole or absent: a new one beside it is filled, synced and renamed, and
// the folder is synced after it. The new one is never one that was there before, nor a link.
//
// Nothing is allocated while something is open, so that running out of memory leaves nothing open.
#define _DEFAULT_SOURCE
#include "base.h"
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
  const char *name;   // there
  const char *beside; // of the new file
  const char *bytes;
  size_t n;
  const mode_t *mode; // of what is replaced; NULL: as the umask has it
} NewFile;

// What a process of this number left when it was killed is in the way, and nobody's any more.
static int open_new(const NewFile *f) {
  const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(f->folder, f->beside, how, NEW_MODE);
  if (fd < 0 && errno == EEXIST && unlinkat(f->folder, f->beside, 0) == 0)
    fd = openat(f->folder, f->beside, how, NEW_MODE);
  return fd;
}

// 0, or why not.
static int replace(const NewFile *f) {
  bool modes = f->mode && (*f->mode & 0777);      // a disk may have none
  if (modes && !(*f->mode & 0222)) return EACCES; // nobody may write it: nor in its place
  int fd = open_new(f);
  if (fd < 0) return errno;
  if (f->mode && fchmod(fd, *f->mode & 0777) != 0) errno = 0; // a disk without modes
  bool good = write_all(fd, f->bytes, f->n) && fsync(fd) == 0;
  int why = errno;
  if (close(fd) != 0 && good) good = false, why = errno;
  if (good && renameat(f->folder, f->beside, f->folder, f->name) != 0) good = false, why = errno;
  if (!good) unlinkat(f->folder, f->beside, 0);
  return good ? 0 : why;
}

static const char *name_beside(Arena *a, const char *name) {
  return arena_format(a, "%s.%ld.part", name, (long)getpid());
}

// -- what the user names --------------------------------------------------------------------------
// What cannot be synced was written as far as it goes.
static bool sync_whole(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

// 0, or why not. A folder that may be written and not read keeps the name as it keeps all others.
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

// A device or a pipe gets the bytes, and so does what a link points at that is not there yet.
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

// -- folders of our own ---------------------------------------------------------------------------
// The way from DIR to the folder that a name is in.
typedef struct {
  int at; // the open folder that `dir` is relative to, or AT_FDCWD
  const char *dir;
  char *part; // the name, cut at its last slash reached so far
  char *last; // behind it
  int folder;
  bool link; // `part` is one
  bool make; // folders that are not there are made
  int why;
} Way;

static Way way_new(Arena *a, const char *dir, const char *name, bool make) {
  char *own = arena_text(a, name, strlen(name));
  return (Way){.at = AT_FDCWD,
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

// One folder deeper. What is wrong is kept in the way.
static bool way_down(Way *w) {
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

static bool way_go(Way *w) {
  w->folder = openat(w->at, w->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (w->folder < 0) {
    w->why = errno;
    return false;
  }
  for (char *slash; (slash = strchr(w->last, '/')); *slash = '/', w->last = slash + 1) {
    *slash = 0;
    if (way_down(w)) continue;
    if (w->folder >= 0) close(w->folder);
    w->folder = -1;
    return false;
  }
  return true;
}

static const char *way_wrong(Arena *a, const Way *w) {
  if (!w->link) return os_error(a, w->why);
  return arena_format(a, "%s/%s is a link, and links in a folder of limn's are not followed",
                      w->dir, w->part);
}

const char *folder_make_in(Arena *a, const char *dir, const char *name) {
  Way w = way_new(a, dir, arena_format(a, "%s/", name), true);
  if (!way_go(&w)) return way_wrong(a, &w);
  close(w.folder);
  return NULL;
}

const char *file_write_at(Arena *a, int at, const char *dir, const char *name, const void *bytes,
                          size_t n) {
  Way w = way_new(a, dir, name, false);
  w.at = at;
  const char *slash = strrchr(name, '/'), *beside = name_beside(a, slash ? slash + 1 : name);
  if (!way_go(&w)) return way_wrong(a, &w);
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

// Whether it is a file of ours: NULL, or what is wrong with it.
static const char *foreign(int fd) {
  struct stat s;
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) return "it is not a regular file";
  return s.st_nlink > 1 ? "it has another name elsewhere (a hard link)" : NULL;
}

const char *file_append_in(Arena *a, const char *dir, const char *name, int *fd) {
  Way w = way_new(a, dir, name, false);
  *fd = -1;
  if (!way_go(&w)) return way_wrong(a, &w);
  *fd = openat(w.folder, w.last, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
               NEW_MODE);
  w.why = errno;
  w.link = *fd < 0 && is_link(w.folder, w.last);
  close(w.folder);
  if (*fd < 0) return way_wrong(a, &w);
  const char *wrong = foreign(*fd);
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
  Way w = way_new(a, dir, name, false);
  bool there = way_go(&w), link = there ? is_link(w.folder, w.last) : w.link;
  if (there) close(w.folder);
  return link ? "something there is a link" : NULL;
}

// All of it, into room that was taken before; its length, or -1 and errno.
static ssize_t read_whole(int fd, char *to, size_t room) {
  size_t n = 0;
  for (ssize_t got = 1; got && n < room; n += (size_t)got) {
    got = read(fd, to + n, room - n);
    if (got < 0 && errno != EINTR) return -1;
    if (got < 0) got = 1, n--;
  }
  return (ssize_t)n;
}

// The size is asked before room is taken and the file opened: who makes it longer meanwhile is cut.
FileText file_read_in(Arena *a, const char *dir, const char *name, size_t limit) {
  FileText f = {0};
  Way w = way_new(a, dir, name, false);
  struct stat s = {0};
  f.error = file_check_in(a, dir, name);
  if (f.error) return f;
  bool gone = !way_go(&w) || fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) != 0;
  if (w.folder >= 0) close(w.folder);
  size_t room = (size_t)s.st_size;
  if (gone)
    f.error = way_wrong(a, &w);
  else if (room > limit)
    f.error = arena_format(a, "it is larger than %zu bytes", limit);
  if (f.error) return f;
  char *text = arena_alloc(a, room + 1);
  Way again = way_new(a, dir, name, false);
  if (!way_go(&again)) {
    f.error = way_wrong(a, &again);
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
  Way w = way_new(a, dir, name, false);
  struct stat s;
  if (!way_go(&w)) return way_wrong(a, &w);
  bool there = fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) == 0;
  w.why = errno;
  w.link = there && S_ISLNK(s.st_mode);
  close(w.folder);
  if (!there || w.link) return way_wrong(a, &w);
  return S_ISREG(s.st_mode)   ? NULL
         : S_ISDIR(s.st_mode) ? "it is a folder"
                              : "it is not a regular file";
}

bool file_is_foreign(Arena *a, const char *dir, const char *name) {
  Way w = way_new(a, dir, name, false);
  struct stat s;
  if (!way_go(&w)) return w.link || w.why == ENOTDIR;
  bool there = fstatat(w.folder, w.last, &s, AT_SYMLINK_NOFOLLOW) == 0;
  close(w.folder);
  return there && (!S_ISREG(s.st_mode) || s.st_nlink > 1);
}

const char *file_check(Arena *a, const char *path) {
  const char *name, *dir = path_folder(a, path, &name);
  return file_check_in(a, dir, name);
}
