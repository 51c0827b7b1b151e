// Changes of settings during a run. changes.csv in the run folder has the columns step, what and
// value. A change applies to all steps after its step number. A run that is repeated or resumed
// from an earlier checkpoint applies the same changes at the same steps.
//
// A request for a change is a line, rate=0.001, appended to changes.asked. A running trainer polls
// that file between steps; a stopped one reads it when it is resumed. Writer and reader both lock
// the file, so no line is lost. It is deleted after its lines are in changes.csv.
#define _DEFAULT_SOURCE
#include "base/diag.h"
#include "base/files.h"
#include "base/number.h"
#include "run/train/train_own.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char RECORD[] = "changes.csv", REQUESTS[] = "changes.asked";
enum { REQUESTS_LIMIT = 1 << 16, CHANGES_LIMIT = 1 << 24 };

// -- changes.csv ----------------------------------------------------------------------------------
// Sorted by step; changes of one step in the order of the requests.
static void add_change(Arena *a, Changes *all, Change c) {
  vec_push(a, all, c);
  for (uint32_t i = all->n - 1; i > 0 && all->at[i - 1].step > c.step; i--)
    all->at[i] = all->at[i - 1], all->at[i - 1] = c;
}

static bool read_row(CsvCursor *cursor, Change *out) {
  CsvCell cell[3] = {0};
  uint32_t n = 0;
  long long line = (long long)cursor->line;
  double step, value;
  do {
    CsvCell one;
    if (!csv_cell(cursor, &one)) return false;
    if (n < COUNT(cell)) cell[n] = one;
    n++;
  } while (csv_more(cursor));
  if (n != COUNT(cell) || !csv_number(&cell[0], &step) || !csv_number(&cell[2], &value) ||
      !(step >= 0 && step < 1e15) || step != floor(step) || !isfinite(value))
    return file_error(cursor->arena, cursor->error, "line %lld is not a step, a name and a number",
                      line);
  size_t length;
  *out = (Change){(uint64_t)step, csv_text(cursor->arena, &cell[1], &length), value};
  return true;
}

static bool read_changes(Arena *a, const char *path, Changes *out, const char **error) {
  FileText f = file_read(a, path, CHANGES_LIMIT);
  *error = f.error;
  if (!f.text) return false;
  View text = {(const uint8_t *)f.text, f.n};
  CsvCursor c = csv_begin(a, &text, error);
  Change one;
  for (bool first = true; csv_row(&c); first = false) {
    if (first && strncmp(c.at, "step,", 5) == 0) {
      CsvCell skipped;
      do
        if (!csv_cell(&c, &skipped)) return false;
      while (csv_more(&c));
      continue;
    }
    if (!read_row(&c, &one)) return false;
    add_change(a, out, one);
  }
  return true;
}

static bool write_changes(Trainer *t) {
  Buf b = buf_new(t->arena);
  CsvOut row = csv_out(&b);
  csv_put(&row, "step"), csv_put(&row, "what"), csv_put(&row, "value");
  csv_end_row(&row);
  for (uint32_t i = 0; i < t->change.n; i++) {
    csv_put_number(&row, (double)t->change.at[i].step);
    csv_put(&row, t->change.at[i].what);
    csv_put_number(&row, t->change.at[i].value);
    csv_end_row(&row);
  }
  const char *why = folder_write(&t->folder, t->arena, RECORD, b.at, b.n);
  return !why || train_refuse(t, folder_outcome(t->arena, t->folder.dir, RECORD),
                              "cannot write %s: %s", folder_path(&t->folder, RECORD), why);
}

// -- changes that apply ---------------------------------------------------------------------------
const char *change_unknown(Arena *a, const Settings *all, const char *what) {
  Nearest near = nearest_to(what);
  Buf names = buf_new(a);
  for (uint32_t i = 0; i < all->n; i++) {
    if (strcmp(all->at[i].name, what) == 0) return NULL;
    nearest_try(&near, all->at[i].name);
    buf_printf(&names, "%s%s", i ? ", " : "", all->at[i].name);
  }
  return arena_format(a, "there is no `%s` to be changed: there is %s", what,
                      names.n ? names.at : "nothing");
}

static bool all_known(Trainer *t, const char *path) {
  Settings known = learn_settings(t->in, t->p, &(Changes){0});
  for (uint32_t i = 0; i < t->change.n; i++) {
    const Change *c = &t->change.at[i];
    const char *why = change_unknown(t->arena, &known, c->what);
    if (!why) why = change_outside(t->in, t->p, c->what, c->value);
    if (why) return train_refuse(t, OUTCOME_WRONG, "%s: %s", path, why);
  }
  return true;
}

bool changes_open(Trainer *t) {
  const char *path = t->o->changes, *error = "";
  if (path && t->o->resume)
    return train_refuse(t, OUTCOME_USAGE,
                        "a resumed run makes the changes of its own folder: "
                        "--changes cannot be combined with --resume");
  if (!path && t->folder.dir) path = folder_path(&t->folder, RECORD);
  if (!path || (!t->o->changes && !path_exists(path))) return true;
  if (!read_changes(t->arena, path, &t->change, &error))
    return train_refuse(t, OUTCOME_WRONG, "cannot read %s: %s", path, error);
  return all_known(t, path);
}

bool changes_copy(Trainer *t) { return !t->change.n || !t->folder.dir || write_changes(t); }

Changes changes_applied(const Trainer *t) {
  Changes some = t->change;
  some.n = 0;
  while (some.n < t->change.n && t->change.at[some.n].step <= t->base + t->step) some.n++;
  return some;
}

uint64_t changes_next_step(const Trainer *t) {
  uint32_t held = changes_applied(t).n;
  return held < t->change.n ? t->change.at[held].step - t->base : UINT64_MAX;
}

// -- requests -------------------------------------------------------------------------------------
static bool is_recorded(const Trainer *t, const Change *c) {
  for (uint32_t i = 0; i < t->change.n; i++)
    if (t->change.at[i].step >= c->step && t->change.at[i].value == c->value &&
        strcmp(t->change.at[i].what, c->what) == 0)
      return true;
  return false;
}

static void apply_request(Trainer *t, const Settings *known, char *line, bool first) {
  char *equals = strchr(line, '=');
  if (!equals) return;
  *equals = 0;
  Change c = {.step = t->base + t->step, .what = line, .value = number_read(equals + 1, NULL)};
  const char *why = change_unknown(t->arena, known, line);
  if (!isfinite(c.value)) why = "a change is a finite number";
  if (!why) why = change_outside(t->in, t->p, line, c.value);
  if (why) {
    tell_wrong(t, "not changed: %s", why);
    return;
  }
  if (first && is_recorded(t, &c))
    return; // recorded by a run that was killed before it deleted
            // the requests
  add_change(t->arena, &t->change, c);
  tell(t, "from step %llu on: %s = %.10g", (unsigned long long)c.step + 1, c.what, c.value);
}

static void apply_requests(Trainer *t, char *text, bool first) {
  Settings known = learn_settings(t->in, t->p, &(Changes){0});
  for (char *line = text, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    if (*end) *end++ = 0;
    apply_request(t, &known, line, first);
  }
}

bool changes_read_requests(Trainer *t, bool first) {
  if (!t->folder.dir) return true;
  const char *path = folder_path(&t->folder, REQUESTS);
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return true;
  char *text = NEW_ARRAY(t->arena, char, REQUESTS_LIMIT + 1);
  struct stat info;
  bool good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX) == 0;
  ssize_t n = good ? read(fd, text, REQUESTS_LIMIT) : 0;
  text[n > 0 ? n : 0] = 0;
  uint32_t before = t->change.n;
  apply_requests(t, text, first);
  bool written = t->change.n == before || write_changes(t);
  if (written) unlink(path);
  close(fd);
  return written;
}

// *again: the file was deleted while this waited for its lock, so a new file must be opened.
static const char *append_request(Arena *a, const char *dir, const char *line, bool *again) {
  int fd = -1;
  struct stat info;
  const char *why = file_append_in(a, dir, REQUESTS, &fd);
  if (why) return why;
  if (flock(fd, LOCK_EX) != 0 || fstat(fd, &info) != 0) why = os_error(a, errno);
  *again = !why && !info.st_nlink;
  if (!why && !*again && info.st_size > REQUESTS_LIMIT / 2)
    why = "too many changes are waiting already";
  size_t n = strlen(line);
  if (!why && !*again && write(fd, line, n) != (ssize_t)n) why = os_error(a, errno);
  close(fd);
  return why;
}

const char *change_request(Arena *a, const char *dir, const char *what, double value) {
  char number[NUMBER_ROOM];
  number[number_print(number, value)] = 0;
  const char *line = arena_format(a, "%s=%s\n", what, number), *why;
  bool again = true;
  do why = append_request(a, dir, line, &again);
  while (!why && again);
  return why ? arena_format(a, "cannot write %s/%s: %s", dir, REQUESTS, why) : NULL;
}
