// The run folder: found or made, and locked while the run lasts, so two runs never share one. The
// lock is flock, so the operating system releases it even if the process is killed.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/within.h"
#include "run/runs/runs.h"

#include "run/runs/weights.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 20 };

const char *folder_path(const RunFolder *f, const char *name) {
  return arena_format(f->arena, "%s/%s", f->dir, name);
}

static bool exists(const RunFolder *f, const char *name) {
  return path_exists(folder_path(f, name));
}

const char *folder_weights(Arena *a, const char *from) {
  return path_is_folder(from) ? arena_format(a, "%s/model.safetensors", from) : from;
}

bool folder_read(Arena *a, const char *path, Arrays *out, const char **error) {
  struct stat s;
  if (lstat(path, &s) || !S_ISLNK(s.st_mode)) return safetensors_read(a, path, out, error);
  return file_error(
      a, error, "cannot read %s: it is a link, and links in a folder of limn's are not followed",
      path);
}

bool folder_read_weights(Arena *a, const char *from, Arrays *out, const char **error) {
  const char *file = folder_weights(a, from);
  return (file == from ? safetensors_read : folder_read)(a, file, out, error);
}

// Letters of ASCII, and those of Latin, Greek and Cyrillic whose UTF-8 has two bytes.
static uint32_t lower_case(uint32_t c) {
  bool twenty = (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
                (c >= 0x391 && c <= 0x3A9) || (c >= 0x410 && c <= 0x42F);
  bool pairs = (c >= 0x100 && c <= 0x12F) || (c >= 0x460 && c <= 0x481);
  if (c == 0x3C2) return 0x3C3; // a final sigma
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  return twenty ? c + 32 : pairs ? c | 1 : c;
}

const char *file_name_folded(Arena *a, const char *name) {
  char *to = arena_text(a, name, strlen(name));
  for (unsigned char *c = (unsigned char *)to; *c; c++) {
    bool two = *c >= 0xC2 && *c <= 0xDF && (c[1] & 0xC0) == 0x80;
    uint32_t low = lower_case(two ? (uint32_t)(*c & 31) << 6 | (c[1] & 63) : *c < 0x80 ? *c : 0);
    if (two) {
      *c = (unsigned char)(0xC0 | low >> 6), c[1] = (unsigned char)(0x80 | (low & 63));
      c++;
    } else if (*c < 0x80)
      *c = (unsigned char)low;
  }
  return to;
}

Outcome folder_outcome(Arena *a, const char *dir, const char *name) {
  return file_is_foreign(a, dir, name) ? OUTCOME_WRONG : OUTCOME_SYSTEM;
}

// -- which folder ---------------------------------------------------------------------------------
static const char *default_name(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  return arena_format(a, "runs/%.*s", (int)n, base);
}

static const char *make_next(RunFolder *f, const char *program) {
  const char *name = default_name(f->arena, program), *why = folder_make(f->arena, "runs", 0777);
  f->dir = name;
  for (uint32_t k = 2; !why && mkdir(f->dir, 0777) != 0; k++) {
    if (errno != EEXIST) why = os_error(f->arena, errno);
    if (!why) f->dir = arena_format(f->arena, "%s.%u", name, k);
  }
  return why;
}

// limn's lock is empty, or has the number of a process.
static bool is_own_lock(const RunFolder *f) {
  struct stat info;
  const char *path = folder_path(f, "lock");
  if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (!info.st_size) return true;
  FileText file = file_read(f->arena, path, 32);
  size_t n = file.text ? strspn(file.text, "0123456789") : 0;
  return n && n + 1 == file.n && file.text[n] == '\n';
}

// A picture or array of a `show`: 01-x.svg, 1.000300.safetensors
static const char *first_shown(const RunFolder *f) {
  FolderNames names = {0};
  folder_names(f->arena, folder_path(f, "shown"), &names);
  for (uint32_t i = 0; i < names.n; i++) {
    const char *name = names.at[i], *end = name + strspn(name, "0123456789");
    bool kind =
        text_ends(name, ".svg") || text_ends(name, ".png") || text_ends(name, ".safetensors");
    if (kind && end > name && (*end == '-' || *end == '.'))
      return arena_format(f->arena, "shown/%s", name);
  }
  return NULL;
}

static bool refuse_file(const RunFolder *f, const char *name, const char **why) {
  return file_error(f->arena, why,
                    "%s exists already and belongs to no run: it would be overwritten; --out "
                    "names another folder",
                    folder_path(f, name));
}

// A folder without a run may hold files that the run would overwrite: the program itself, for
// example, the weights it starts from, or the table it reads. A run that was killed before it wrote
// run.json has left a lock and the program.
static bool has_no_files_of_run(const RunFolder *f, const char **why) {
  static const char *const names[] = {"program.limn", "model.safetensors", "best.safetensors",
                                      "metrics.csv",  "changes.csv",       "changes.asked",
                                      "report.html"};
  bool own = is_own_lock(f), killed = own && exists(f, "program.limn");
  if (!own && exists(f, "lock")) return refuse_file(f, "lock", why);
  for (uint32_t i = 0; i < f->writes.n; i++) {
    bool copy = strncmp(f->writes.at[i], "used/", 5) == 0;
    if (!(copy && killed) && exists(f, f->writes.at[i]))
      return refuse_file(f, f->writes.at[i], why);
  }
  if (killed) return true;
  for (uint32_t i = 0; i < COUNT(names); i++)
    if (exists(f, names[i])) return refuse_file(f, names[i], why);
  const char *shown = first_shown(f);
  return !shown || refuse_file(f, shown, why);
}

static bool has_no_run(const RunFolder *f, const char *instead, const char **why, Outcome *end) {
  *end = OUTCOME_WRONG;
  if (!exists(f, "state.safetensors") && !exists(f, "run.json")) return has_no_files_of_run(f, why);
  return file_error(f->arena, why, "%s holds a run already: %s", f->dir, instead);
}

// Checks twice, without and with the lock: of two runs that start at once, the second may get the
// lock when the first has ended.
bool folder_new(RunFolder *f, const char *out, const char *program, const char *instead,
                const char **why, Outcome *end) {
  f->dir = out;
  const char *error = out ? folder_make(f->arena, out, 0777) : make_next(f, program);
  *end = OUTCOME_SYSTEM;
  if (error) return file_error(f->arena, why, "cannot make the folder %s: %s", f->dir, error);
  if (!out) return true;
  if (!has_no_run(f, instead, why, end) || !folder_lock(f, why, end)) return false;
  if (has_no_run(f, instead, why, end)) return true;
  folder_unlock(f);
  return false;
}

static bool is_empty(const char *path) {
  DIR *d = opendir(path);
  uint32_t n = 0;
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n <= 2;
}

// A run that was killed before its first checkpoint cannot be resumed, and starts again.
bool folder_resume(RunFolder *f, const char *dir, const char **why, Outcome *end) {
  struct stat info;
  f->dir = dir;
  *end = OUTCOME_WRONG;
  if (stat(dir, &info) != 0)
    return file_error(f->arena, why, "cannot resume %s: %s", dir, os_error(f->arena, errno));
  if (!S_ISDIR(info.st_mode))
    return file_error(f->arena, why, "cannot resume %s: it is not a folder", dir);
  if (exists(f, "lock") || exists(f, "state.safetensors") || is_empty(dir)) return true;
  return file_error(f->arena, why, "%s holds no run: there is no state.safetensors in it", dir);
}

bool folder_has(const RunFolder *f, const char *name, int fd) {
  struct stat there, opened;
  return fd < 0 || fstat(fd, &opened) != 0 ||
         (lstat(folder_path(f, name), &there) == 0 && there.st_dev == opened.st_dev &&
          there.st_ino == opened.st_ino);
}

const char *folder_is_gone(const RunFolder *f) {
  if (folder_has(f, "lock", f->lock)) return NULL;
  return arena_format(f->arena, "%s is no longer the folder in which the run began", f->dir);
}

// -- the lock -------------------------------------------------------------------------------------
// A process that was just killed may hold its lock until the disk has answered it.
static bool lock_with_retries(int fd) {
  for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || tries == LOCK_TRIES) return false;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  }
  return true;
}

// The process of a temporary file, NAME.PID.part; 0: the name is another.
static long temporary_process(const char *name) {
  size_t n = strlen(name), end = strlen(".part"), digits = 0;
  if (!text_ends(name, ".part")) return 0;
  while (digits < n - end && name[n - end - digits - 1] >= '0' && name[n - end - digits - 1] <= '9')
    digits++;
  if (!digits || digits >= n - end || name[n - end - digits - 1] != '.') return 0;
  return strtol(name + n - end - digits, NULL, 10);
}

// Is the process running, and not a zombie? If unknown, it is.
static bool process_is_running(Arena *a, long pid) {
  char text[512];
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) return false;
  int fd = open(arena_format(a, "/proc/%ld/stat", pid), O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = 0;
  const char *state = strrchr(text, ')'); // after the process name
  return !state || strncmp(state, ") Z", 3) != 0;
}

// Deletes temporary files of killed processes. Files of running processes stay: a report is written
// without the lock.
static void remove_temporary_files(const RunFolder *f) {
  FolderNames names = {0};
  folder_names(f->arena, f->dir, &names);
  for (uint32_t i = 0; i < names.n; i++) {
    long pid = temporary_process(names.at[i]);
    if (pid > 0 && !process_is_running(f->arena, pid)) unlink(folder_path(f, names.at[i]));
  }
}

bool folder_lock(RunFolder *f, const char **why, Outcome *end) {
  if (f->lock >= 0) return true;
  const char *path = folder_path(f, "lock");
  const char *wrong = file_append_in(f->arena, f->dir, "lock", &f->lock);
  *end = wrong ? folder_outcome(f->arena, f->dir, "lock") : OUTCOME_SYSTEM;
  if (wrong) return file_error(f->arena, why, "cannot write %s: %s", path, wrong);
  if (!lock_with_retries(f->lock)) {
    int error = errno;
    close(f->lock);
    f->lock = -1;
    if (error != EWOULDBLOCK)
      return file_error(f->arena, why, "cannot lock %s: %s", path, os_error(f->arena, error));
    *end = OUTCOME_WRONG;
    return file_error(f->arena, why, "another run is under way in %s", f->dir);
  }
  const char *who = arena_format(f->arena, "%ld\n", (long)getpid());
  if (ftruncate(f->lock, 0) != 0 || write(f->lock, who, strlen(who)) < 0) errno = 0; // informative
  f->at = open(*f->dir ? f->dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  remove_temporary_files(f);
  return true;
}

// The process number is not part of the results of a run.
void folder_unlock(RunFolder *f) {
  if (f->lock < 0) return;
  if (ftruncate(f->lock, 0) != 0) errno = 0; // informative
  close(f->lock);
  f->lock = -1;
  if (f->at >= 0) close(f->at);
  f->at = -1;
}

const char *folder_write(const RunFolder *f, Arena *a, const char *name, const void *bytes,
                         size_t n) {
  if (f->lock < 0 || f->at < 0) return file_write_in(a, f->dir, name, bytes, n);
  return file_write_at(a, f->at, ".", name, bytes, n);
}

void folder_resume_command(const RunFolder *f, const char *verb, const char *program,
                           const char *settings, Buf *b) {
  buf_printf(b, "limn %s %s", verb, program);
  for (const char *s = settings; *s; s += strspn(s, " ")) {
    int n = (int)strcspn(s, " ");
    buf_printf(b, " --set %.*s", n, s);
    s += n;
  }
  buf_printf(b, " --resume %s", f->dir);
}
