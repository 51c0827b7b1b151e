// Reads metrics.csv: a header, then rows of step, epoch and time, and a column for each goal, each
// measure and each number of a path. A cell is empty if nothing was measured. An incomplete last
// line is skipped: the run may have been killed while it wrote.
#include "base/files.h"
#include "run/runs/runs.h"

#include <math.h>

static bool wrong_cell(const CsvCursor *c, const char *path, int64_t line, const CsvCell *cell,
                       const char **error) {
  return file_error(c->arena, error, "%s:%lld: found %s, wanted a number", path, (long long)line,
                    text_shown(c->arena, cell->at, cell->n));
}

static bool read_header(CsvCursor *c, const char *path, MetricRows *r, const char **error) {
  static const char *const fixed[METRICS_FIXED] = {"step", "epoch", "time"};
  CsvCell cell;
  size_t n;
  do {
    if (!csv_cell(c, &cell)) return file_error(c->arena, error, "%s: %s", path, *error);
    const char *name = csv_text(c->arena, &cell, &n);
    if (r->name.n < METRICS_FIXED && strcmp(name, fixed[r->name.n]) != 0)
      return file_error(c->arena, error, "%s: found %s in the header, wanted %s", path,
                        text_shown(c->arena, name, n), fixed[r->name.n]);
    vec_push(c->arena, &r->name, text_is_utf8(name, n) ? name : "?");
  } while (csv_more(c));
  if (r->name.n >= METRICS_FIXED) return true;
  return file_error(c->arena, error, "%s: the header ends before %s", path, fixed[r->name.n]);
}

// Missing cells at the end are empty, additional cells are ignored; every row has a step.
static bool read_row(CsvCursor *c, const char *path, MetricRows *r, const char **error) {
  int64_t line = c->line;
  bool more = true;
  for (uint32_t i = 0; i < r->name.n || more; i++) {
    double value = (double)NAN;
    CsvCell cell = {0};
    if (more && !csv_cell(c, &cell)) return file_error(c->arena, error, "%s: %s", path, *error);
    bool known = more && csv_number(&cell, &value);
    if (i < r->name.n && !known && more && (cell.n || i == 0))
      return wrong_cell(c, path, line, &cell, error);
    more = more && csv_more(c);
    if (i >= r->name.n) continue;
    vec_push(c->arena, &r->value, value);
    vec_push(c->arena, &r->known, known);
  }
  r->rows++;
  return true;
}

bool rows_read(Arena *a, const char *path, MetricRows *r, const char **error) {
  View file;
  const char *wrong = file_check(a, path);
  *r = (MetricRows){0};
  if (wrong) return file_error(a, error, "cannot read %s: %s", path, wrong);
  if (!file_view(a, path, &file, error)) return false;
  while (file.n && file.at[file.n - 1] != '\n') file.n--;
  CsvCursor c = csv_begin(a, &file, error);
  if (!csv_row(&c)) return true; // a run that has not begun
  if (!read_header(&c, path, r, error)) return false;
  while (csv_row(&c))
    if (!read_row(&c, path, r, error)) return false;
  return true;
}

bool rows_find(const MetricRows *r, const char *name, uint32_t *column) {
  for (*column = 0; *column < r->name.n; ++*column)
    if (strcmp(r->name.at[*column], name) == 0) return true;
  return false;
}
