// The cache of compiled code: a private folder with one file for each key.
//
// Folder and files belong to the user and have mode 0700 and 0600, whatever the umask. A file is the
// object followed by a checksum. It is opened without following links, checked (a regular file of the
// user, private, with one name), read, and compared with its checksum. The shared
// object is then loaded from these bytes, through a memfd: a change of the file after the check has no
// effect, and a file system mounted noexec can hold the cache. Without /proc, the file itself is loaded.
//
// Compiling uses a temporary subfolder. Adding code also removes the subfolders of dead processes and the
// oldest code beyond a total size.
#define _GNU_SOURCE
#include "run/engine/c/code_cache.h"
#include "base/files.h"
#include "base/hash.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#endif

enum { SUM_BYTES = 8 + 32, MOST_BYTES = 1 << 28, DEAD_SECONDS = 600 };
static const char sum_mark[9] = "limnsum1";

// -- hashes ---------------------------------------------------------------------------------------
void code_hash(CodeHash *h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  h->a = hash_bytes(h->a, bytes, n);
  for (size_t i = 0; i < n; i++) {
    h->b = (h->b + at[i]) * 0x9E3779B97F4A7C15u;
    h->b ^= h->b >> 29;
  }
}

const char *code_key(Arena *a, CodeHash h) {
  return arena_format(a, "%016llx%016llx", (unsigned long long)h.a, (unsigned long long)h.b);
}

// -- the folder -----------------------------------------------------------------------------------
static bool is_private(const struct stat *s) {
  return s->st_uid == geteuid() && !(s->st_mode & 077);
}

static bool open_private(CodeFolder *f, const char *path) {
  struct stat s;
  f->path = path;
  f->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (f->fd < 0) return false;
  if (!fstat(f->fd, &s) && is_private(&s) && !faccessat(f->fd, ".", W_OK | X_OK, 0)) return true;
  close(f->fd);
  f->fd = -1;
  return false;
}

// Makes a folder of mode 0700, whatever the umask. chmod is called only if needed: a sandbox may forbid it.
static char *make_private(Arena *a, const char *beside, const char *name) {
  char *path = arena_format(a, "%s/%s.%ld.XXXXXX", beside, name, (long)getpid());
  struct stat s;
  if (!mkdtemp(path) || lstat(path, &s)) return NULL;
  return (s.st_mode & 0777) == 0700 || !chmod(path, 0700) ? path : NULL;
}

bool code_folder_open(CodeFolder *f, Arena *a, const char *set, const char **word,
                      const char **error) {
  *f = (CodeFolder){.fd = -1};
  const char *why = NULL, *cache = cache_folder(a, set, &why), *temporary = getenv("TMPDIR");
  if (cache && open_private(f, cache)) return true;
  if (!why) why = arena_format(a, "%s cannot be the cache: it cannot be written to", cache);
  const char *path = make_private(a, temporary && *temporary ? temporary : "/tmp", "limn");
  f->temporary = true;
  if (path && open_private(f, path)) {
    *word = arena_format(a, "%s; compiled code is not kept", why);
    return true;
  }
  *error = arena_format(a, "%s; nor can a folder be made in %s", why,
                        temporary && *temporary ? temporary : "/tmp");
  return false;
}

const char *code_work_folder(CodeFolder *f, Arena *a, const char **error) {
  if (!f->work) f->work = make_private(a, f->path, "work");
  if (!f->work)
    *error = arena_format(a, "cannot make a folder in %s: %s", f->path, os_error(a, errno));
  return f->work;
}

// Removes a folder of files; compilers leave no subfolders.
static void remove_folder(Arena *a, const char *path) {
  FolderNames names = {0};
  if (!folder_names(a, path, &names))
    for (uint32_t i = 0; i < names.n; i++) unlink(arena_format(a, "%s/%s", path, names.at[i]));
  rmdir(path);
}

// -- sweeping -------------------------------------------------------------------------------------
// The work folder of this process is abandoned: it is a day old, or the process has ended.
static bool is_abandoned(long process, double age) {
  return age > 86400 || (age > DEAD_SECONDS && kill((pid_t)process, 0) && errno == ESRCH);
}

static void sweep(const CodeFolder *f, Arena *a) {
  static const char *const before[] = {".so", ".sum", ".c", ".txt", ".part"}; // of older versions
  FolderNames names = {0};
  time_t now = time(NULL);
  if (folder_names(a, f->path, &names)) return;
  for (uint32_t i = 0; i < names.n; i++) {
    const char *name = names.at[i], *path = arena_format(a, "%s/%s", f->path, name);
    struct stat s;
    if (fstatat(f->fd, name, &s, AT_SYMLINK_NOFOLLOW)) continue;
    double age = difftime(now, s.st_mtime);
    if (!strncmp(name, "work.", 5) && S_ISDIR(s.st_mode)) {
      if (is_abandoned(strtol(name + 5, NULL, 10), age)) remove_folder(a, path);
    } else {
      for (uint32_t k = 0; k < COUNT(before); k++)
        if (text_ends(name, before[k]) && age > 86400) unlink(path);
    }
  }
  cache_sweep(a, f->path, ".code", MOST_BYTES);
}

void code_folder_close(CodeFolder *f, Arena *a) {
  if (f->work) remove_folder(a, f->work);
  if (f->changed && !f->temporary) sweep(f, a);
  if (f->temporary && f->fd >= 0) remove_folder(a, f->path);
  if (f->fd >= 0) close(f->fd);
  f->fd = -1;
}

// -- files ----------------------------------------------------------------------------------------
static void close_file(void *what) {
  int *fd = what;
  if (*fd >= 0) close(*fd);
}

// A regular file of the user with one name, private, and of a plausible size.
static bool is_trusted(const struct stat *s) {
  return S_ISREG(s->st_mode) && is_private(s) && s->st_nlink == 1 && s->st_size > 0 &&
         s->st_size <= MOST_BYTES;
}

// Reads a private file of the user. The descriptor is closed with `scratch`, so that an exhausted arena
// leaves no descriptor open.
static FileText read_private(Arena *a, int folder, const char *name) {
  FileText f = {0};
  Arena *scratch = arena_child(a);
  int *fd = NEW(scratch, int);
  *fd = -1;
  arena_on_free(scratch, close_file, fd);
  *fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat s;
  if (*fd >= 0 && !fstat(*fd, &s) && is_trusted(&s)) {
    char *bytes = arena_alloc(a, (size_t)s.st_size);
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n<(size_t)s.st_size; n += got> 0 ? (size_t)got : 0)
      got = read(*fd, bytes + n, (size_t)s.st_size - n);
    if (n == (size_t)s.st_size) f = (FileText){.text = bytes, .n = n};
  }
  if (f.text) futimens(*fd, NULL); // marks it as recently used, for the sweep
  arena_free(scratch);
  return f;
}

static bool write_all(int fd, const char *bytes, size_t n) {
  while (n) {
    ssize_t done = write(fd, bytes, n);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    n -= (size_t)done;
  }
  return true;
}

static const char *sum_of(Arena *a, const char *bytes, size_t n) {
  CodeHash h = {HASH_START, 0};
  code_hash(&h, bytes, n);
  return arena_format(a, "%s%s", sum_mark, code_key(a, h));
}

// Stores code; failures are ignored. `first`: an existing file stays, instead of being replaced.
static void store_file(CodeFolder *f, Arena *a, const char *key, const FileText *object,
                       bool first) {
  const char *part = arena_format(a, "%s/%s.part", f->work, key),
             *name = arena_format(a, "%s.code", key);
  int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  bool good = !fchmod(fd, 0600) && write_all(fd, object->text, object->n) &&
              write_all(fd, sum_of(a, object->text, object->n), SUM_BYTES);
  good = !close(fd) && good;
  bool moved = good && (first ? !linkat(AT_FDCWD, part, f->fd, name, 0)
                              : !renameat(AT_FDCWD, part, f->fd, name));
  if (first || !moved) unlink(part);
  f->changed = true;
}

// -- loading --------------------------------------------------------------------------------------
// The bytes contain all segments of an ELF object. A truncated object would cause a bus error, in the
// loader or later.
#ifdef __linux__
static bool is_complete(const char *bytes, size_t n) {
  ElfW(Ehdr) head;
  ElfW(Phdr) part;
  if (n < sizeof head) return false;
  memcpy(&head, bytes, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_type != ET_DYN ||
      head.e_phentsize != sizeof part || head.e_phoff > n ||
      head.e_phnum > (n - head.e_phoff) / sizeof part)
    return false;
  for (uint32_t i = 0; i < head.e_phnum; i++) {
    memcpy(&part, bytes + head.e_phoff + i * sizeof part, sizeof part);
    if (part.p_offset > n || part.p_filesz > n - part.p_offset) return false;
  }
  return head.e_phnum > 0;
}

static void *load_memory(const char *bytes, size_t n, int *fd) {
  char path[40];
  void *library = NULL;
  *fd = memfd_create("limn", MFD_CLOEXEC);
  snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
  if (*fd >= 0 && write_all(*fd, bytes, n)) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library && *fd >= 0) close(*fd), *fd = -1;
  return library;
}
#else
static bool is_complete(const char *bytes, size_t n) { return bytes && n > 4; }
static void *load_memory(const char *bytes, size_t n, int *fd) {
  (void)bytes, (void)n;
  *fd = -1;
  return NULL;
}
#endif

static void *load(const FileText *object, const char *path, int *fd) {
  if (!is_complete(object->text, object->n)) return NULL;
  void *library = load_memory(object->text, object->n, fd);
  return library ? library : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

FileText code_read(const CodeFolder *f, Arena *a, const char *key) {
  FileText file = read_private(a, f->fd, arena_format(a, "%s.code", key));
  if (file.n <= SUM_BYTES) return (FileText){0};
  FileText object = {.text = file.text, .n = file.n - SUM_BYTES};
  if (memcmp(sum_of(a, object.text, object.n), object.text + object.n, SUM_BYTES))
    return (FileText){0};
  return object;
}

void code_store(CodeFolder *f, Arena *a, const char *key, const char *bytes, size_t n) {
  const char *error;
  FileText object = {.text = bytes, .n = n};
  if (code_work_folder(f, a, &error)) store_file(f, a, key, &object, false);
}

FileText code_store_first(CodeFolder *f, Arena *a, const char *key, const char *bytes, size_t n) {
  const char *error;
  FileText object = {.text = bytes, .n = n}, kept;
  if (code_work_folder(f, a, &error)) store_file(f, a, key, &object, true);
  kept = code_read(f, a, key);
  if (kept.text) return kept;
  code_store(f, a, key, bytes, n); // the stored file is damaged
  return code_read(f, a, key);
}

void *code_load(const CodeFolder *f, Arena *a, const char *key, int *fd) {
  FileText object = code_read(f, a, key);
  return object.text ? load(&object, arena_format(a, "%s/%s.code", f->path, key), fd) : NULL;
}

void *code_load_new(CodeFolder *f, Arena *a, const char *file, const char *key, int *fd,
                    const char **error) {
  const char *path = arena_format(a, "%s/%s", f->work, file);
  FileText object = read_private(a, AT_FDCWD, path);
  void *library = object.text ? load(&object, path, fd) : NULL;
  if (library)
    store_file(f, a, key, &object, false);
  else
    *error = object.text ? "gave a file that cannot be loaded" : "gave no code";
  return library;
}
