// metrics.csv, read back: what record.c wrote. A cell that was not known in its row is NaN. A last
// row that is not whole, of a run that goes on, is left away.
#include "train/train.h"

#include <math.h>
#include <stdlib.h>

// The next cell of a line; *at goes behind it, and behind its comma. A name may be in quotes.
static const char *next_cell(Arena *a, const char **at, const char *end) {
  const char *from = *at, *to = from;
  bool quoted = from < end && *from == '"';
  if (quoted) {
    for (to = ++from; to < end && *to != '"';) to++;
  } else {
    while (to < end && *to != ',') to++;
  }
  *at = to + quoted;
  if (*at < end) ++*at;
  return arena_format(a, "%.*s", (int)(to - from), from);
}

static void read_header(Arena *a, const char *at, const char *end, Rows *m) {
  while (at < end) vec_push(a, &m->name, next_cell(a, &at, end));
}

static bool read_row(Arena *a, const char *at, const char *end, Rows *m) {
  uint32_t n = 0, before = m->value.n;
  for (; n < m->name.n && at <= end; n++) {
    char *stop = NULL;
    double x = at < end && *at != ',' ? strtod(at, &stop) : (double)NAN;
    if (stop && (stop == at || stop > end || (stop < end && *stop != ','))) break;
    vec_push(a, &m->value, x);
    at = (stop ? stop : at) + 1;
  }
  if (n == m->name.n && at > end) return true;
  m->value.n = before;
  return false;
}

bool rows_read(Arena *a, const char *path, Rows *m, const char **error) {
  *m = (Rows){0};
  FileText f = file_read(a, path, SIZE_MAX / 2);
  if (!f.text) return *error = arena_format(a, "cannot read %s: %s", path, f.error), false;
  uint32_t line = 0;
  for (const char *at = f.text, *end; (end = memchr(at, '\n', (size_t)(f.text + f.n - at)));
       at = end + 1) {
    line++;
    if (line == 1)
      read_header(a, at, end, m);
    else if (read_row(a, at, end, m))
      m->rows++;
    else
      return *error = arena_format(a, "%s:%u: this is no row of the run", path, line), false;
  }
  if (m->name.n) return true;
  return *error = arena_format(a, "%s has no header", path), false;
}

bool rows_find(const Rows *m, const char *name, uint32_t *column) {
  for (*column = 0; *column < m->name.n; ++*column)
    if (strcmp(m->name.at[*column], name) == 0) return true;
  return false;
}
