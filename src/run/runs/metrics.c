// metrics.csv, read back: what record.c wrote. A header, step, epoch and time, then a column for
// each goal, each measure and each number of a path; a name with a comma is in quotes. A cell is
// empty where nothing was measured. A last line that is not whole is left out: the run may have
// been killed while it wrote.
#include "run/train/train.h"

#include <math.h>
#include <stdlib.h>

enum { FIXED = 3, CELL_LIMIT = 64 };

typedef struct {
  const char *at, *end;
} CsvPiece;

static bool next_line(CsvPiece *text, CsvPiece *line) {
  const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
  if (!end) return false;
  *line = (CsvPiece){text->at, end > text->at && end[-1] == '\r' ? end - 1 : end};
  text->at = end + 1;
  return true;
}

// The next cell of a line; what stands behind it is left in `line`.
static bool next_cell(CsvPiece *line, CsvPiece *cell) {
  if (!line->at) return false;
  size_t left = (size_t)(line->end - line->at);
  const char *quote = left && *line->at == '"' ? memchr(line->at + 1, '"', left - 1) : NULL;
  const char *from = quote ? quote : line->at;
  const char *comma = memchr(from, ',', (size_t)(line->end - from));
  *cell = (CsvPiece){line->at, comma ? comma : line->end};
  if (quote) *cell = (CsvPiece){line->at + 1, quote};
  line->at = comma ? comma + 1 : NULL;
  return true;
}

static bool cell_value(CsvPiece cell, double *out) {
  char text[CELL_LIMIT + 1];
  const char *end;
  size_t n = (size_t)(cell.end - cell.at);
  if (!n || n > CELL_LIMIT) return false;
  memcpy(text, cell.at, n);
  text[n] = 0;
  *out = number_read(text, &end);
  return *end == 0;
}

static const char *cell_shown(Arena *a, CsvPiece cell) {
  return text_shown(a, cell.at, (size_t)(cell.end - cell.at));
}

static bool read_header(Arena *a, const char *path, CsvPiece line, MetricRows *r,
                        const char **error) {
  static const char *const fixed[FIXED] = {"step", "epoch", "time"};
  CsvPiece cell;
  while (next_cell(&line, &cell)) {
    const char *name = arena_text(a, cell.at, (size_t)(cell.end - cell.at));
    if (r->name.n < FIXED && strcmp(name, fixed[r->name.n]) != 0)
      return file_error(a, error, "%s: found %s in the header, wanted %s", path,
                        cell_shown(a, cell), fixed[r->name.n]);
    vec_push(a, &r->name, text_is_utf8(name, strlen(name)) ? name : "?");
  }
  if (r->name.n >= FIXED) return true;
  return file_error(a, error, "%s: the header ends before %s", path, fixed[r->name.n]);
}

// Missing cells at the end are empty ones; there is no row without a step.
static bool read_row(Arena *a, const char *path, CsvPiece line, MetricRows *r, const char **error) {
  CsvPiece cell;
  for (uint32_t i = 0; i < r->name.n; i++) {
    double value = (double)NAN;
    bool there = next_cell(&line, &cell), known = there && cell_value(cell, &value);
    if (!known && there && (cell.end > cell.at || i == 0))
      return file_error(a, error, "%s:%lld: found %s, wanted a number", path,
                        (long long)r->rows + 2, cell_shown(a, cell));
    vec_push(a, &r->value, value);
    vec_push(a, &r->known, known);
  }
  r->rows++;
  return true;
}

bool rows_read(Arena *a, const char *path, MetricRows *r, const char **error) {
  *r = (MetricRows){0};
  View file;
  if (!file_view(a, path, &file, error)) return false;
  CsvPiece text = {(const char *)file.at, (const char *)file.at + file.n}, line;
  if (!next_line(&text, &line)) return true; // a run that has not begun
  if (!read_header(a, path, line, r, error)) return false;
  while (next_line(&text, &line))
    if (!read_row(a, path, line, r, error)) return false;
  return true;
}

bool rows_find(const MetricRows *r, const char *name, uint32_t *column) {
  for (*column = 0; *column < r->name.n; ++*column)
    if (strcmp(r->name.at[*column], name) == 0) return true;
  return false;
}
