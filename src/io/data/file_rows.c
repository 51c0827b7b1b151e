// Files of rows: csv, idx, npy, npz. The format is recognised by the first bytes; csv and text by
// the name.
//
// The first axis of an array enumerates rows. Bytes with two or more further axes are pictures from
// 0 to 1; one integer per row is a label; other arrays are numbers. Each column of a table is a
// field; the numbers of a row are adjacent in memory, so that neighbouring columns can be read as
// one field.
#define _POSIX_C_SOURCE 200809L
#include "base/number.h"
#include "base/table.h"
#include "io/data/set_own.h"

#include <math.h>
#include <sys/stat.h>

enum { LABELS_MOST = 1 << 16 };

// -- arrays ---------------------------------------------------------------------------------------
static bool are_bits(const Raw *x) {
  for (int64_t i = 0; i < x->count; i++)
    if (x->bytes[i] > 1) return false;
  return true;
}

// False if a double cannot represent an integer of the array.
static bool fit_doubles(const Raw *x) {
  double ignored;
  if (x->kind != EL_I64 && x->kind != EL_U64) return true;
  for (int64_t i = 0; i < x->count; i++)
    if (!element_load(x->kind, x->bytes + 8 * i, x->big_endian, &ignored)) return false;
  return true;
}

// 0 times a number that is not finite is NaN.
static bool are_finite(const Raw *x) {
  double bad = 0, value;
  float single;
  if (x->kind > EL_BF16) return true; // an integer kind
  for (int64_t i = 0; i < x->count; i++) {
    const uint8_t *at = x->bytes + (size_t)i * element_info[x->kind].bytes;
    if (x->kind == EL_F32 && !x->big_endian)
      memcpy(&single, at, sizeof single), value = (double)single;
    else
      element_load(x->kind, at, x->big_endian, &value);
    bad += 0 * value;
  }
  return bad == 0;
}

// Reports the row and value of the first number that is not finite.
static bool not_finite(Arena *a, const Raw *x, const char *name, const char **why) {
  double value = 0;
  int64_t i = 0, each = x->shape[0] ? x->count / x->shape[0] : 1;
  for (; i < x->count; i++) {
    const uint8_t *at = x->bytes + (size_t)i * element_info[x->kind].bytes;
    element_load(x->kind, at, x->big_endian, &value);
    if (!isfinite(value)) break;
  }
  return file_error(a, why,
                    "row %lld of %s, counted from 0, has %s, where finite numbers were wanted",
                    (long long)(i / (each ? each : 1)), name,
                    isnan(value) ? "nan"
                    : value > 0  ? "inf"
                                 : "-inf");
}

static bool is_whole_kind(ElementKind k) { return k >= EL_I64 && k <= EL_U8; }

// The number of labels if a column is read as labels, and the row that determines it, numbered as
// in the file.
static void count_labels(Arena *a, const Column *c, int64_t rows, Field *f) {
  int64_t row, most = column_largest(c, rows, &row);
  double value = 0;
  f->labels = most + 1;
  if (!rows || c->count != 1) return;
  column_read(c, &row, 1, 1, NUMBER_F64, &value);
  char text[NUMBER_ROOM];
  size_t n = number_print(text, value);
  f->peak = arena_format(a, "row %lld, counted from 0, holds %.*s", (long long)row, (int)n, text);
}

// Determines the field of an array. pictures: bytes with one further axis are pixels too (idx).
static bool array_field(Set *s, Raw *x, bool pictures, Field *f, Column *c, const char **why) {
  if (!x->rank || x->rank - 1 > FIELD_RANK_LIMIT)
    return file_error(s->arena, why, "%s is %s, where 1 to %d axes were wanted", f->name,
                      raw_type(s->arena, x), FIELD_RANK_LIMIT + 1);
  if (!x->shape[0]) return file_error(s->arena, why, "%s has no rows", f->name);
  if (!x->count)
    return file_error(s->arena, why, "%s is %s: its rows have no numbers", f->name,
                      raw_type(s->arena, x));
  if (x->fortran_order && x->rank > 1) raw_to_rows(s->arena, x);
  if (!fit_doubles(x))
    return file_error(s->arena, why, "%s has a whole number that is too large to be exact",
                      f->name);
  if (!are_finite(x)) return not_finite(s->arena, x, f->name, why);
  f->rank = x->rank - 1;
  memcpy(f->shape, x->shape + 1, f->rank * sizeof *f->shape);
  *c = column_of(x);
  if (x->kind == EL_BOOL) {
    f->kind = FIELD_BIT;
    return are_bits(x) || file_error(s->arena, why, "%s has a byte that is not a bool", f->name);
  }
  if (x->kind == EL_U8 && f->rank >= (pictures ? 1 : 2)) c->picture = true;
  bool whole = is_whole_kind(x->kind) && !c->picture;
  if (!f->rank || whole) count_labels(s->arena, c, x->shape[0], f);
  if (!f->rank && whole && f->labels && f->labels <= LABELS_MOST) f->kind = FIELD_LABEL;
  return true;
}

static const char *array_name(const Raw *x, bool pictures) {
  if (x->kind == EL_U8 && x->rank >= (pictures ? 2 : 3)) return "image";
  return x->rank == 1 && is_whole_kind(x->kind) ? "label" : "x";
}

static bool open_array(Set *s, const char *path, Raw *x, bool pictures, const char **why) {
  Field f = {.name = array_name(x, pictures)};
  Column c;
  if (!array_field(s, x, pictures, &f, &c, why))
    return file_error(s->arena, why, "%s: %s", path, *why);
  set_add_one(s, &f, c);
  set_cut_hash(s, x->shape[0], 10, true);
  s->summary = arena_format(s->arena, "%lld rows, %s : %s%s", (long long)x->shape[0], f.name,
                            field_type(s->arena, &f), c.picture ? " from 0 to 1" : "");
  return true;
}

// -- npz ------------------------------------------------------------------------------------------
// "x_train" is field x for training; an array without such a suffix is for all splits.
static bool split_name(const char *name, size_t *n, Split *split) {
  const char *end = strrchr(name, '_');
  for (Split i = 0; end && end > name && i < SPLITS; i++)
    if (strcmp(end + 1, split_word[i]) == 0) return *n = (size_t)(end - name), *split = i, true;
  return false;
}

static const Raw *find_array(const Raws *all, const char *name, size_t n, Split split) {
  for (uint32_t i = 0; i < all->n; i++) {
    size_t length;
    Split is;
    const char *text = all->at[i].name;
    if (split_name(text, &length, &is) && is == split && length == n && memcmp(text, name, n) == 0)
      return &all->at[i];
  }
  return NULL;
}

static bool rows_differ(Set *s, const Raw *x, int64_t rows, const char **why) {
  return file_error(s->arena, why,
                    "array %s has %lld rows, but %s has %lld: fields have one length", x->name,
                    (long long)(x->rank ? x->shape[0] : 0), s->field.at[0].name, (long long)rows);
}

// The arrays x_train, x_valid, x_test as one field x.
static bool add_splits(Set *s, const Raws *all, const Raw *first, size_t n, int64_t rows[SPLITS],
                       const char **why) {
  Field f = {.name = arena_text(s->arena, first->name, n)};
  Column block[SPLITS] = {{0}};
  for (Split split = 0; split < SPLITS; split++) {
    const Raw *found = find_array(all, first->name, n, split);
    int64_t here = found && found->rank ? found->shape[0] : 0;
    Field g = {.name = found ? found->name : ""};
    if (!s->field.n) rows[split] = here;
    if (here != rows[split]) return rows_differ(s, found ? found : first, rows[split], why);
    if (!found) continue;
    Raw x = *found;
    if (!array_field(s, &x, false, &g, &block[split], why)) return false;
    if (split != SPLIT_TRAIN && (g.rank != f.rank || g.kind != f.kind ||
                                 memcmp(g.shape, f.shape, f.rank * sizeof *f.shape)))
      return file_error(s->arena, why, "array %s is %s a row, where %s was wanted", g.name,
                        field_type(s->arena, &g), field_type(s->arena, &f));
    int64_t labels = g.labels > f.labels ? g.labels : f.labels;
    if (split != SPLIT_TRAIN && g.peak && (!g.labels || (f.labels && g.labels > f.labels)))
      f.peak = arena_format(s->arena, "in %s, %s", g.name, g.peak);
    // Labels are counted in all splits or in none.
    if (split != SPLIT_TRAIN && (!g.labels || !f.labels)) labels = 0;
    if (split == SPLIT_TRAIN) g.name = f.name, f = g;
    f.labels = labels;
  }
  set_add(s, &f, block);
  return true;
}

static bool add_whole(Set *s, const Raw *array, int64_t *rows, const char **why) {
  Raw x = *array;
  Field f = {.name = x.name};
  Column c;
  if (!array_field(s, &x, false, &f, &c, why)) return false;
  if (!s->field.n) *rows = x.shape[0];
  if (x.shape[0] != *rows) return rows_differ(s, &x, *rows, why);
  set_add_one(s, &f, c);
  return true;
}

static bool add_arrays(Set *s, const Raws *all, const char **why) {
  int64_t rows[SPLITS] = {0};
  Split split;
  size_t n;
  bool given = true;
  for (uint32_t i = 0; i < all->n; i++) given &= split_name(all->at[i].name, &n, &split);
  for (uint32_t i = 0; i < all->n; i++) {
    if (!given && !add_whole(s, &all->at[i], rows, why)) return false;
    if (!given || !split_name(all->at[i].name, &n, &split) || split != SPLIT_TRAIN) continue;
    if (!add_splits(s, all, &all->at[i], n, rows, why)) return false;
  }
  if (!s->field.n) return file_error(s->arena, why, "it has no arrays to train on");
  if (given)
    set_cut_given(s, rows[SPLIT_TRAIN], rows[SPLIT_VALID], rows[SPLIT_TEST]);
  else
    set_cut_hash(s, rows[0], 10, true);
  return true;
}

static bool open_npz(Set *s, const char *path, View v, const char **why) {
  Raws all;
  if (!npz_look(s->arena, v.at, v.n, &all, why) || !add_arrays(s, &all, why))
    return file_error(s->arena, why, "%s: %s", path, *why);
  Buf b = buf_new(s->arena);
  buf_text(&b, "arrays ");
  for (uint32_t i = 0; i < s->field.n; i++)
    buf_printf(&b, "%s%s : %s", i ? ", " : "", s->field.at[i].name,
               field_type(s->arena, &s->field.at[i]));
  s->summary = b.at;
  return true;
}

// -- csv ------------------------------------------------------------------------------------------
// Converts a name to an identifier: letters, digits and _, not starting with a digit.
static const char *plain_name(Arena *a, const char *text) {
  Buf b = buf_new(a);
  for (; *text; text++) {
    bool digit = *text >= '0' && *text <= '9';
    bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    if (digit && !b.n) buf_char(&b, '_');
    if (digit || letter)
      buf_char(&b, *text);
    else if (b.n && b.at[b.n - 1] != '_')
      buf_char(&b, '_');
  }
  while (b.n && b.at[b.n - 1] == '_') b.at[--b.n] = 0;
  return b.n ? b.at : "c";
}

// Equal names are disambiguated by the number of the column.
static const char *column_name(Arena *a, Table *taken, const char *text, uint32_t k) {
  const char *plain = plain_name(a, text), *name = plain;
  for (uint32_t i = k + 1; table_get(taken, name, strlen(name)); i += CSV_COLUMNS_LIMIT)
    name = arena_format(a, "%s_%u", plain, i);
  table_put(taken, name, strlen(name), 1);
  return name;
}

typedef struct {
  double *number; // [rows wide]
  int64_t wide, next;
} NumberRows;

static Column number_column(NumberRows *n, const Csv *t, const CsvColumn *x, const int64_t *order) {
  double *at = n->number + n->next++;
  for (int64_t r = 0; r < t->rows; r++) at[r * n->wide] = x->value[order[r]];
  Column c = column_new(at, 1, EL_F64);
  c.step *= n->wide;
  return c;
}

static Column word_column(Arena *a, const Csv *t, const CsvColumn *x, const int64_t *order) {
  int32_t *at = NEW_ARRAY(a, int32_t, t->rows);
  for (int64_t r = 0; r < t->rows; r++) at[r] = (int32_t)x->label[order[r]];
  return column_new(at, 1, EL_I32);
}

static void csv_says(Set *s, const Csv *t) {
  Buf b = buf_new(s->arena);
  uint32_t numbers = 0, left_out = 0;
  for (uint32_t k = 0; k < t->columns; k++) {
    numbers += t->column[k].number;
    left_out += !t->column[k].number && !t->column[k].label;
  }
  buf_printf(&b, "%lld rows", (long long)t->rows);
  if (numbers) buf_printf(&b, ", %u number%s", numbers, numbers == 1 ? "" : "s");
  for (uint32_t k = 0; k < s->field.n; k++)
    if (s->field.at[k].kind == FIELD_LABEL)
      buf_printf(&b, ", label `%s` with %lld names%s%s%s", s->field.at[k].name,
                 (long long)s->field.at[k].labels, s->field.at[k].mixed ? " (" : "",
                 s->field.at[k].mixed ? s->field.at[k].mixed : "", s->field.at[k].mixed ? ")" : "");
  if (left_out)
    buf_printf(&b, ", %u column%s of too many words left out", left_out, left_out == 1 ? "" : "s");
  if (!t->header) buf_text(&b, ", no names: columns are c1, c2, …");
  s->summary = b.at;
}

// Reads a table, names its columns as fields, and maps words to the labels of given vocabularies.
// Words may look like numbers: a column with a vocabulary is read as words.
static bool read_table(Set *s, Arena *scratch, View v, Csv *t, const char **why) {
  const char *text = (const char *)v.at;
  if (!csv_read_bytes(scratch, text, v.n, t, why)) return false;
  Table *taken = table_new(scratch);
  bool *words = NEW_ARRAY(scratch, bool, t->columns), again = false;
  const char **name = NEW_ARRAY(scratch, const char *, t->columns);
  for (uint32_t k = 0; k < t->columns; k++) {
    name[k] = column_name(s->arena, taken, t->column[k].name, k);
    words[k] = words_for(&s->options, name[k]) != NULL;
    again |= words[k] && t->column[k].number;
  }
  if (again && !csv_read_words(scratch, text, v.n, words, t, why)) return false;
  for (uint32_t k = 0; k < t->columns; k++) {
    CsvColumn *x = &t->column[k];
    x->name = name[k];
    const Words *known = words[k] && x->label ? words_for(&s->options, x->name) : NULL;
    const char *wrong = known ? column_labels(scratch, &v, t, k, known, x->label) : NULL;
    if (wrong) return file_error(s->arena, why, "%s", wrong);
    if (known) x->labels = (uint32_t)known->n, x->words = known->word;
  }
  return true;
}

bool open_csv(Set *s, const char *path, View v, const char **why) {
  Csv t;
  Arena *scratch = arena_child(s->arena);
  if (!read_table(s, scratch, v, &t, why)) return file_error(s->arena, why, "%s: %s", path, *why);
  set_cut_hash(s, t.rows, 10, true);
  int64_t *order = set_order(s, t.rows);
  NumberRows n = {0};
  for (uint32_t k = 0; k < t.columns; k++) n.wide += t.column[k].number;
  n.number = NEW_ARRAY(s->arena, double, n.wide *t.rows);
  for (uint32_t k = 0; k < t.columns; k++) {
    const CsvColumn *x = &t.column[k];
    Field f = {.name = x->name};
    Column c;
    if (x->number) {
      Column own = column_new(x->value, 1, EL_F64);
      count_labels(s->arena, &own, t.rows, &f);
      if (f.labels > LABELS_MOST) {
        f.labels = 0;
        f.peak = arena_format(s->arena, "%s, and a label is at most %d", f.peak, LABELS_MOST - 1);
      }
      c = number_column(&n, &t, x, order);
    } else if (x->label) {
      const char **words = NEW_ARRAY(s->arena, const char *, x->labels);
      for (uint32_t i = 0; i < x->labels; i++) words[i] = arena_format(s->arena, "%s", x->words[i]);
      f.kind = FIELD_LABEL, f.labels = x->labels, f.label = words;
      if (x->first_word)
        f.mixed = arena_format(s->arena, "line %lld: `%s` is no number",
                               (long long)x->first_word_line, x->first_word);
      c = word_column(s->arena, &t, x, order);
    } else {
      continue;
    }
    set_add_one(s, &f, c);
  }
  csv_says(s, &t);
  s->table = true;
  arena_free(scratch);
  return s->field.n || file_error(s->arena, why, "%s: no column has numbers or labels", path);
}

// -- any file -------------------------------------------------------------------------------------
static bool is_table_name(const char *path) {
  static const char *const ends[] = {".csv", ".tsv", ".csv.gz", ".tsv.gz", ".data"};
  for (uint32_t i = 0; i < COUNT(ends); i++)
    if (text_ends(path, ends[i])) return true;
  return false;
}

static bool open_idx_or_npy(Set *s, const char *path, View v, bool npy, const char **why) {
  Raw x;
  if (!(npy ? npy_look : idx_look)(s->arena, v.at, v.n, &x, why))
    return file_error(s->arena, why, "%s: %s", path, *why);
  return open_array(s, path, &x, !npy, why);
}

bool open_file(Set *s, const char *path, const char **why) {
  struct stat info;
  View v;
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return open_folder(s, path, why);
  if (!file_view(s->arena, path, &v, why)) return false;
  if (is_table_name(path)) return open_csv(s, path, v, why);
  if (bytes_are_zip(v.at, v.n) || text_ends(path, ".npz")) return open_npz(s, path, v, why);
  bool npy = (v.n >= 6 && memcmp(v.at, "\x93NUMPY", 6) == 0) || text_ends(path, ".npy");
  if (npy || bytes_are_idx(v.at, v.n) || strstr(base, "idx"))
    return open_idx_or_npy(s, path, v, npy, why);
  if (bytes_are_png(v.at, v.n))
    return file_error(s->arena, why, "%s is one picture: a set of pictures is a folder of them",
                      path);
  return open_text(s, path, v, why);
}
