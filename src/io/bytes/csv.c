// Reads and writes tables as text: cells separated by commas, semicolons or tabs, quoted or not.
//
//   name,height,"kind"            a header row, or none
//   rose,0.9,bush                 height is a column of numbers, kind one of words
//   "say ""oak""",21,tree         a quote inside quotes is doubled
//
// csv_read_… returns columns; a CsvCursor iterates over cells. Reading takes two passes with the
// same cursor: the first counts rows and decides for each column between numbers and words, the
// second fills arrays of exact size. Every row must have as many cells as the first, and no cell
// may be missing; both errors name the line. An empty line is a missing cell in a table of one
// column, and is skipped otherwise. The first row is a header if it has a word above a column of
// numbers, or if it consists of distinct words that do not occur below themselves.
#include "base/table.h"
#include "io/bytes/bytes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
  CsvCell first; // the cell in the first row
  bool first_number;
  bool word;            // some cell below the first row is a word
  bool number;          // some cell below the first row is a number
  int64_t word_line;    // line of the first word
  CsvCell first_word;   // the first word
  bool repeated;        // the first cell occurs again below
  int64_t missing_line; // line of the first NA or similar; 0 = none
  CsvCell missing;
  int64_t hex_line; // line of the first hexadecimal number
  CsvCell hex;
} FoundCell;

// -- cells ----------------------------------------------------------------------------------------
static bool at_line_end(const CsvCursor *c) {
  return c->at == c->end || *c->at == '\n' || *c->at == '\r';
}

static void skip_line_end(CsvCursor *c) {
  if (c->at < c->end && *c->at == '\r') c->at++;
  if (c->at < c->end && *c->at == '\n') c->at++;
  c->line++;
}

static bool is_blank(const CsvCursor *c, char x) {
  return (x == ' ' || x == '\t') && x != c->separator;
}

static void skip_blanks(CsvCursor *c) {
  while (c->at < c->end && is_blank(c, *c->at)) c->at++;
}

// cell = '"' ([^"] | '""')* '"'
static bool read_quoted(CsvCursor *c, CsvCell *cell) {
  int64_t line = c->line;
  *cell = (CsvCell){.at = ++c->at, .quoted = true};
  for (; c->at < c->end; c->at++) {
    if (*c->at == '\n') c->line++;
    if (*c->at != '"') continue;
    if (c->at + 1 < c->end && c->at[1] == '"') {
      c->at++;
      continue;
    }
    cell->n = (size_t)(c->at++ - cell->at);
    skip_blanks(c);
    if (at_line_end(c) || *c->at == c->separator) return true;
    return file_error(c->arena, c->error, "line %lld: `%s` follows a closing quote",
                      (long long)c->line, text_shown(c->arena, c->at, 1));
  }
  return file_error(c->arena, c->error, "line %lld: a quote is never closed", (long long)line);
}

bool csv_cell(CsvCursor *c, CsvCell *cell) {
  skip_blanks(c);
  if (c->at < c->end && *c->at == '"') return read_quoted(c, cell);
  const char *from = c->at;
  while (!at_line_end(c) && *c->at != c->separator) c->at++;
  *cell = (CsvCell){.at = from, .n = (size_t)(c->at - from)};
  while (cell->n && is_blank(c, cell->at[cell->n - 1])) cell->n--;
  return true;
}

bool csv_row(CsvCursor *c) {
  while (c->at < c->end && at_line_end(c)) skip_line_end(c);
  return c->at < c->end;
}

bool csv_more(CsvCursor *c) {
  if (c->at < c->end && *c->at == c->separator) {
    c->at++;
    return true;
  }
  skip_line_end(c);
  return false;
}

static CsvCursor cursor_at_start(const CsvCursor *c, const char *text) {
  CsvCursor start = *c;
  start.at = text;
  start.line = 1;
  return start;
}

const char *csv_text(Arena *a, const CsvCell *cell, size_t *n) {
  char *text = arena_text(a, cell->at, cell->n);
  size_t to = 0;
  for (size_t i = 0; i < cell->n; i++) {
    text[to++] = cell->at[i];
    if (cell->quoted && cell->at[i] == '"') i++;
  }
  text[to] = 0;
  *n = to;
  return text;
}

static bool same_cell(const CsvCell *a, const CsvCell *b) {
  return a->n == b->n && a->quoted == b->quoted && memcmp(a->at, b->at, a->n) == 0;
}

static bool is_word_of(const CsvCell *cell, const char *const *words, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (cell->n == strlen(words[i]) && memcmp(cell->at, words[i], cell->n) == 0) return true;
  return false;
}

static bool is_missing(const CsvCell *cell) {
  return !cell->n || (cell->n == 1 && *cell->at == '?');
}

// Words that mean a missing number in a column of numbers, and a word in a column of words.
static bool is_missing_word(const CsvCell *cell) {
  static const char *const words[] = {"NA",   "N/A",  "na",   "nan", "NaN",  "NAN",
                                      "null", "NULL", "None", "inf", "-inf", "Infinity"};
  return is_word_of(cell, words, COUNT(words));
}

// A decimal that overflows a double, such as 1e400 or 400 digits.
static bool is_overflow(const CsvCell *cell) {
  bool digit = false, power = false, point = false;
  for (size_t i = 0; i < cell->n; i++) {
    char c = cell->at[i], before = i ? cell->at[i - 1] : 'e';
    bool e = c == 'e' || c == 'E', sign = c == '+' || c == '-';
    if (sign && before != 'e' && before != 'E') return false;
    if (!sign && !e && c != '.' && !(c >= '0' && c <= '9')) return false;
    if ((e && (power || !digit)) || (c == '.' && (point || power))) return false;
    power |= e;
    point |= c == '.';
    digit |= c >= '0' && c <= '9';
  }
  return digit && cell->at[cell->n - 1] >= '0' && cell->at[cell->n - 1] <= '9';
}

// A hexadecimal number, which is not accepted as a number.
static bool is_hex(const CsvCell *cell) {
  size_t i = cell->n && (*cell->at == '-' || *cell->at == '+');
  if (cell->n < i + 3 || cell->at[i] != '0' || (cell->at[i + 1] != 'x' && cell->at[i + 1] != 'X'))
    return false;
  for (i += 2; i < cell->n; i++)
    if (!strchr("0123456789abcdefABCDEF", cell->at[i])) return false;
  return true;
}

static const char *scan_digits(const char *p, const char *end, uint64_t *value, int *digits) {
  for (; p < end && *p >= '0' && *p <= '9'; p++) {
    if (*value < (uint64_t)1 << 56) *value = *value * 10 + (uint64_t)(*p - '0');
    if (*value) (*digits)++;
  }
  return p;
}

// number = [+-]? (digits ("." digits?)? | "." digits) ([eE] [+-]? digits)?
// Up to 15 digits and powers of ten up to 22 are exact doubles, so one rounding gives the correct
// result; other numbers take the slow path.
static bool cell_number(const CsvCell *cell, double *out) {
  static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *p = cell->at, *end = p + cell->n;
  uint64_t value = 0, power = 0;
  int digits = 0, none = 0;
  bool minus = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  const char *whole = p;
  p = scan_digits(p, end, &value, &digits);
  bool any = p > whole;
  int64_t exponent = 0;
  if (p < end && *p == '.') {
    const char *from = ++p;
    p = scan_digits(p, end, &value, &digits);
    any |= p > from;
    exponent = -(p - from);
  }
  if (!any) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    bool down = ++p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *from = p;
    p = scan_digits(p, end, &power, &none);
    if (p == from) return false;
    if (power > 10000) power = 10000;
    exponent += down ? -(int64_t)power : (int64_t)power;
  }
  if (p != end) return false;
  if (digits > 15 || exponent < -22 || exponent > 22) {
    size_t plus = *cell->at == '+';
    return number_value(cell->at + plus, cell->n - plus, out);
  }
  *out = exponent < 0 ? (double)value / ten[-exponent] : (double)value * ten[exponent];
  if (minus) *out = -*out;
  return true;
}

bool csv_number(const CsvCell *cell, double *out) {
  static const char *const words[] = {"nan", "inf", "-inf"};
  const double value[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (uint32_t i = 0; i < COUNT(words); i++)
    if (is_word_of(cell, &words[i], 1)) return *out = value[i], true;
  return cell_number(cell, out);
}

// -- first pass -----------------------------------------------------------------------------------
// The number of cells of a row; 0: a malformed row, or (whole) a quote inside an unquoted cell.
static uint32_t count_cells(CsvCursor *c, bool whole) {
  uint32_t n = 0;
  CsvCell cell;
  do {
    if (!csv_cell(c, &cell)) return 0;
    if (whole && !cell.quoted && memchr(cell.at, '"', cell.n)) return 0;
  } while (n++ < CSV_COLUMNS_LIMIT && csv_more(c));
  return n;
}

// True if the separator splits the first 10 rows into equally many cells, more than one. *first:
// cells of the first row.
static bool splits_evenly(CsvCursor try, char separator, bool whole, uint32_t *first) {
  const char *ignored;
  uint32_t rows = 0, n = 0;
  try.separator = separator;
  try.error = &ignored;
  *first = 0;
  for (; rows < 10 && csv_row(&try); rows++) {
    n = count_cells(&try, whole);
    if (!rows) *first = n;
    if (n != *first) break;
  }
  return *first > 1 && n == *first;
}

// Tries tab, semicolon, comma: the first one that splits the first rows evenly, preferably with
// quotes only around cells; otherwise the one that splits the first row most.
static char find_separator(const CsvCursor *c) {
  static const char tried[] = {'\t', ';', ','};
  uint32_t most = 1, first;
  char best = ',';
  for (uint32_t i = 0; i < COUNT(tried); i++)
    if (splits_evenly(*c, tried[i], true, &first)) return tried[i];
  for (uint32_t i = 0; i < COUNT(tried); i++) {
    if (splits_evenly(*c, tried[i], false, &first)) return tried[i];
    if (first > most) most = first, best = tried[i];
  }
  return best;
}

static bool first_row(CsvCursor *c, FoundCell **found, uint32_t *columns) {
  VEC(FoundCell) all = {0};
  if (!csv_row(c)) return file_error(c->arena, c->error, "the table is empty");
  do {
    FoundCell f = {0};
    double number;
    if (!csv_cell(c, &f.first)) return false;
    f.first_number = cell_number(&f.first, &number);
    if (all.n == CSV_COLUMNS_LIMIT)
      return file_error(c->arena, c->error, "the first row has more than %d cells",
                        CSV_COLUMNS_LIMIT);
    vec_push(c->arena, &all, f);
  } while (csv_more(c));
  *found = all.at;
  *columns = all.n;
  return true;
}

static bool missing_error(const CsvCursor *c, int64_t line, uint32_t column, const CsvCell *cell) {
  if (!cell->n)
    return file_error(c->arena, c->error, "line %lld, column %u: a value is missing",
                      (long long)line, column + 1);
  return file_error(c->arena, c->error,
                    "line %lld, column %u: found `%s`, where a finite number was wanted",
                    (long long)line, column + 1, text_shown(c->arena, cell->at, cell->n));
}

static bool classify_cell(const CsvCursor *c, int64_t line, uint32_t k, FoundCell *f,
                          const CsvCell *cell) {
  double number;
  if (is_missing(cell)) return missing_error(c, line, k, cell);
  if (cell_number(cell, &number)) return f->number = true;
  if (!f->first_number) f->repeated |= same_cell(&f->first, cell);
  if (is_missing_word(cell) || is_overflow(cell)) {
    if (!f->missing_line) f->missing_line = line, f->missing = *cell;
    return true;
  }
  if (is_hex(cell)) {
    if (!f->hex_line) f->hex_line = line, f->hex = *cell;
    return true;
  }
  if (!f->word) f->word_line = line, f->first_word = *cell;
  return f->word = true;
}

static bool row_length_error(const CsvCursor *c, int64_t line, uint32_t cells, uint32_t wanted,
                             bool more) {
  return file_error(c->arena, c->error, "line %lld has %s%u %s, but the first row has %u",
                    (long long)line, more ? "more than " : "", cells, cells == 1 ? "cell" : "cells",
                    wanted);
}

// Scans all rows but the first.
static bool scan_rows(CsvCursor *c, FoundCell *found, uint32_t columns, int64_t *rows) {
  for (*rows = 0;; ++*rows) {
    int64_t behind = c->line;
    if (!csv_row(c)) break;
    int64_t line = c->line;
    if (columns == 1 && line > behind) return missing_error(c, behind, 0, &(CsvCell){0});
    uint32_t k = 0;
    bool more = true;
    for (; more && k < columns; k++) {
      CsvCell cell;
      int64_t here = c->line;
      if (!csv_cell(c, &cell) || !classify_cell(c, here, k, &found[k], &cell)) return false;
      more = csv_more(c);
    }
    if (more || k < columns) return row_length_error(c, line, k, columns, more);
  }
  return true;
}

// Hexadecimal numbers are words in a column without decimal numbers.
static void hex_to_words(FoundCell *found, uint32_t columns) {
  for (uint32_t k = 0; k < columns; k++) {
    FoundCell *f = &found[k];
    if (!f->hex_line || f->number || f->first_number || f->word) continue;
    f->word = true, f->word_line = f->hex_line, f->first_word = f->hex;
  }
}

static int compare_cells(const void *a, const void *b) {
  const CsvCell *x = a, *y = b;
  int order = memcmp(x->at, y->at, x->n < y->n ? x->n : y->n);
  return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

static bool all_different(Arena *a, const FoundCell *found, uint32_t columns) {
  CsvCell *sorted = NEW_ARRAY(a, CsvCell, columns);
  for (uint32_t i = 0; i < columns; i++) sorted[i] = found[i].first;
  qsort(sorted, columns, sizeof *sorted, compare_cells);
  for (uint32_t i = 1; i < columns; i++)
    if (!compare_cells(&sorted[i - 1], &sorted[i])) return false;
  return true;
}

// A missing-number word is no column name if the row has numbers, or nothing else.
static bool first_is_header(Arena *a, const FoundCell *found, uint32_t columns, int64_t below) {
  bool words = true, holes = false, numbers = false, names = false;
  for (uint32_t i = 0; i < columns; i++) {
    bool hole = is_missing(&found[i].first) || is_missing_word(&found[i].first) ||
                is_hex(&found[i].first) || is_overflow(&found[i].first);
    bool over = below && !found[i].first_number && !found[i].word; // a word above numbers
    if (over && !hole) return true;
    holes |= over;
    numbers |= found[i].first_number;
    names |= !found[i].first_number && !hole;
    words &= !found[i].first_number && !found[i].repeated;
  }
  if (holes) return names && !numbers;
  return words && all_different(a, found, columns);
}

// -- columns --------------------------------------------------------------------------------------
static void name_column(Arena *a, Table *taken, const CsvCell *cell, Csv *t, uint32_t k) {
  size_t n = 0;
  const char *text = cell && cell->n ? csv_text(a, cell, &n) : arena_format(a, "c%u", k + 1);
  const char *name = text;
  Id first = table_get(taken, text, strlen(text));
  if (first) t->column[k].twice = t->column[first - 1].twice = true;
  for (uint32_t i = k + 1; table_get(taken, name, strlen(name)); i += CSV_COLUMNS_LIMIT)
    name = arena_format(a, "%s_%u", text, i);
  table_put(taken, name, strlen(name), k + 1);
  t->column[k].name = name;
}

// Decides between numbers and words. A column of words may contain NA, a column of numbers may not.
static bool column_kinds(const CsvCursor *c, Csv *t, const FoundCell *found, const bool *words) {
  Table *taken = table_new(c->arena);
  for (uint32_t k = 0; k < t->columns; k++) {
    const FoundCell *f = &found[k];
    CsvColumn *x = &t->column[k];
    name_column(c->arena, taken, t->header ? &f->first : NULL, t, k);
    x->number = !f->word && (t->header || f->first_number) && !(words && words[k]);
    if (x->number && f->missing_line) return missing_error(c, f->missing_line, k, &f->missing);
    if (x->number && f->hex_line) return missing_error(c, f->hex_line, k, &f->hex);
    bool seems = is_missing_word(&f->first) || is_hex(&f->first) || is_overflow(&f->first);
    bool hole = is_missing(&f->first) || (seems && !f->first_number && !f->word);
    if (!t->header && hole) return missing_error(c, c->line, k, &f->first);
    bool header_word = !t->header && !f->first_number;
    if (!x->number && (f->number || (!t->header && f->first_number)) && (f->word || header_word)) {
      const CsvCell *first_word = header_word ? &f->first : &f->first_word;
      x->first_word_line = header_word ? c->line : f->word_line;
      x->first_word = text_shown(c->arena, first_word->at, first_word->n);
    }
    if (x->number)
      x->value = NEW_ARRAY(c->arena, double, t->rows);
    else
      x->label = NEW_ARRAY(c->arena, uint32_t, t->rows);
  }
  return true;
}

static void add_word(Arena *a, CsvColumn *x, Table *words, int64_t row, const CsvCell *cell) {
  size_t n = cell->n;
  const char *plain = cell->at;
  if (!x->label) return;
  if (cell->quoted && memchr(plain, '"', n)) plain = csv_text(a, cell, &n);
  Id id = table_get(words, plain, n);
  if (!id && table_count(words) == CSV_WORDS_LIMIT) {
    x->label = NULL; // too many distinct words
    return;
  }
  if (!id) table_put(words, plain, n, id = table_count(words) + 1);
  x->label[row] = id - 1;
}

static void read_rows(CsvCursor *c, Csv *t, Table **words) {
  for (int64_t row = 0; row < t->rows && csv_row(c); row++) {
    for (uint32_t k = 0; k < t->columns; k++, csv_more(c)) {
      CsvCell cell;
      CsvColumn *x = &t->column[k];
      bool good = csv_cell(c, &cell);
      if (x->number)
        good &= cell_number(&cell, &x->value[row]);
      else
        add_word(c->arena, x, words[k], row, &cell);
      assert(good), (void)good; // the first pass accepted the cell
    }
  }
}

typedef struct {
  const char *text;
  uint32_t was;
} CsvWord;

static int compare_words(const void *a, const void *b) {
  return strcmp(((const CsvWord *)a)->text, ((const CsvWord *)b)->text);
}

// Sorts the words, so that labels do not depend on the order of rows.
static void sort_words(Arena *a, CsvColumn *x, const Table *words, int64_t rows) {
  uint32_t n = table_count(words);
  CsvWord *sorted = NEW_ARRAY(a, CsvWord, n);
  uint32_t *place = NEW_ARRAY(a, uint32_t, n);
  const char **text = NEW_ARRAY(a, const char *, n);
  for (uint32_t i = 0; i < n; i++) {
    size_t length;
    const char *key = table_key(words, i, &length);
    sorted[i] = (CsvWord){arena_text(a, key, length), i};
  }
  qsort(sorted, n, sizeof *sorted, compare_words);
  for (uint32_t i = 0; i < n; i++) place[sorted[i].was] = i, text[i] = sorted[i].text;
  for (int64_t r = 0; r < rows; r++) x->label[r] = place[x->label[r]];
  x->labels = n;
  x->words = text;
}

static bool read_columns(CsvCursor *c, Csv *t, const FoundCell *found, const bool *as_words) {
  Table **words = NEW_ARRAY(c->arena, Table *, t->columns);
  t->column = NEW_ARRAY(c->arena, CsvColumn, t->columns);
  csv_row(c);
  if (!column_kinds(c, t, found, as_words)) return false;
  for (uint32_t k = 0; k < t->columns; k++)
    if (!t->column[k].number) words[k] = table_new(c->arena);
  if (t->header) count_cells(c, false);
  read_rows(c, t, words);
  for (uint32_t k = 0; k < t->columns; k++)
    if (t->column[k].label) sort_words(c->arena, &t->column[k], words[k], t->rows);
  return true;
}

static size_t byte_order_mark(const char *text, size_t n) {
  return n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

// Rejects zero bytes and invalid UTF-8: in another encoding, equal words would differ between
// files.
static bool is_text(Arena *a, const char *text, size_t n, const char **error) {
  const char *zero = n ? memchr(text, 0, n) : NULL;
  size_t good = text_utf8(text, n), line = 1;
  if (zero)
    return file_error(a, error, "byte %zu is zero: this is not text", (size_t)(zero - text));
  if (good == n) return true;
  for (size_t i = 0; i < good; i++) line += text[i] == '\n';
  return file_error(a, error,
                    "line %zu: found the byte %s, where text in UTF-8 was wanted: `iconv -f latin1 "
                    "-t utf-8` makes it of Latin-1",
                    line, text_shown(a, text + good, 1));
}

bool csv_read_bytes(Arena *a, const char *text, size_t n, Csv *out, const char **error) {
  return csv_read_words(a, text, n, NULL, out, error);
}

bool csv_read_words(Arena *a, const char *text, size_t n, const bool *words, Csv *out,
                    const char **error) {
  size_t mark = byte_order_mark(text, n);
  if (!is_text(a, text, n, error)) return false;
  CsvCursor c = {.arena = a, .error = error, .at = text + mark, .end = text + n, .line = 1};
  Csv t = {0};
  FoundCell *found = NULL;
  c.separator = t.separator = find_separator(&c);
  CsvCursor start = cursor_at_start(&c, text + mark);
  if (!first_row(&c, &found, &t.columns)) return false;
  if (!scan_rows(&c, found, t.columns, &t.rows)) return false;
  hex_to_words(found, t.columns);
  t.header = first_is_header(a, found, t.columns, t.rows);
  if (!t.header) t.rows++;
  if (!t.rows) return file_error(a, error, "the table has names of columns, but no rows");
  if (!read_columns(&start, &t, found, words)) return false;
  *out = t;
  return true;
}

int64_t csv_line_of(Arena *a, const char *text, size_t n, const Csv *t, int64_t row) {
  const char *ignored;
  CsvCursor c = {.arena = a,
                 .error = &ignored,
                 .at = text + byte_order_mark(text, n),
                 .end = text + n,
                 .separator = t->separator,
                 .line = 1};
  for (row += t->header; csv_row(&c) && row > 0; row--) count_cells(&c, false);
  return c.line;
}

// -- cursor and writer ----------------------------------------------------------------------------
CsvCursor csv_begin(Arena *a, const View *text, const char **error) {
  const char *at = (const char *)text->at;
  return (CsvCursor){a, error, at, at + text->n, ',', 1};
}

CsvOut csv_out(Buf *out) { return (CsvOut){.out = out}; }

void csv_next(CsvOut *o) {
  if (o->any) buf_char(o->out, ',');
  o->any = true;
}

// Blanks around a cell that is not quoted are no part of it.
void csv_put(CsvOut *o, const char *text) {
  size_t n = strlen(text);
  bool quoted = strpbrk(text, ",;\t\"\r\n") || (n && (*text == ' ' || text[n - 1] == ' '));
  csv_next(o);
  if (!quoted) {
    buf_text(o->out, text);
    return;
  }
  buf_char(o->out, '"');
  for (; *text; text++) {
    if (*text == '"') buf_char(o->out, '"');
    buf_char(o->out, *text);
  }
  buf_char(o->out, '"');
}

void csv_put_number(CsvOut *o, double x) {
  csv_next(o);
  buf_number(o->out, x);
}

void csv_end_row(CsvOut *o) {
  buf_char(o->out, '\n');
  o->any = false;
}
