// Arrays in files: read from npy, csv, png or typed numbers; written as npy, csv, json, png or
// text.
#include "base/files.h"
#include "base/json_write.h"
#include "core/diagram/interpret.h"
#include "run/use/use_own.h"

#include <math.h>

// -- reading --------------------------------------------------------------------------------------
static bool bytes_of(Use *u, const char *path, View *view) {
  const char *error;
  return file_view(u->arena, path, view, &error) || use_wrong(u, OUTCOME_WRONG, "%s", error);
}

static uint32_t column_named(const Csv *c, const char *name, size_t n) {
  uint32_t i = 0;
  while (i < c->columns &&
         !(strlen(c->column[i].name) == n && memcmp(c->column[i].name, name, n) == 0))
    i++;
  return i;
}

// x.csv, or x.csv:a, or x.csv:a..d
static bool csv_columns(Use *u, const Csv *c, const char *path, const char *which, uint32_t *first,
                        uint32_t *last) {
  *first = 0, *last = c->columns - 1;
  if (!which) return true;
  const char *dots = strstr(which, "..");
  *first = column_named(c, which, dots ? (size_t)(dots - which) : strlen(which));
  *last = dots ? column_named(c, dots + 2, strlen(dots + 2)) : *first;
  if (*first < c->columns && *last < c->columns && *first <= *last) return true;
  return use_wrong(u, OUTCOME_WRONG, "%s has no columns %s", path, which);
}

// The words that number the labels of an input, in a column of this name: those of the type; else
// those that the run or the program's data have for a field of this name; else those of any field
// with as many labels.
static bool column_words(Use *u, const char *column, const char *path, const Type *t, Words *out) {
  int64_t count;
  bool several = false;
  if (t->base != BASE_LABEL)
    return use_wrong(u, OUTCOME_WRONG, "column %s of %s has words, where numbers are wanted",
                     column, path);
  Data *d = use_data(u);
  const Words *found = NULL;
  if (!d || !data_words_agree(d, t, column)) return false;
  if (type_words(u->w, t, column, out)) return true;
  if (size_value(u->w, t->count, &count)) {
    found = data_labels(d, count, column, &several);
    if (!found && !several) found = data_labels(d, count, NULL, &several);
  }
  if (found) return *out = *found, true;
  return use_wrong(u, OUTCOME_WRONG,
                   several
                       ? "column %s of %s has words, and several fields have as many labels: name "
                         "it as the field that is meant"
                       : "column %s of %s has words, and nothing says which labels they are",
                   column, path);
}

// Was a column of this name words when the weights were trained? Then its entries are words even if
// they look like numbers.
static bool had_words(Use *u, const char *column, const Type *t) {
  int64_t count;
  if (t->base != BASE_LABEL || t->names || !size_value(u->w, t->count, &count)) return false;
  Data *d = use_data(u);
  return d && data_has_words(d, count, column);
}

typedef struct {
  const char *path;
  View text;
  Csv table;
} CsvInput;

static bool read_columns(Use *u, CsvInput *in, const char *which, const Type *t, uint32_t *first,
                         uint32_t *last) {
  const char *error;
  Csv *c = &in->table;
  if (!bytes_of(u, in->path, &in->text)) return false;
  const char *text = (const char *)in->text.at;
  if (!csv_read_bytes(u->arena, text, in->text.n, c, &error))
    return use_wrong(u, OUTCOME_WRONG, "%s: %s", in->path, error);
  if (!csv_columns(u, c, in->path, which, first, last)) return false;
  bool *words = NEW_ARRAY(u->arena, bool, c->columns), again = false;
  for (uint32_t k = *first; k <= *last; k++) {
    words[k] = c->column[k].number && had_words(u, c->column[k].name, t);
    again |= words[k];
  }
  return !again || csv_read_words(u->arena, text, in->text.n, words, c, &error) ||
         use_wrong(u, OUTCOME_WRONG, "%s: %s", in->path, error);
}

// Reads one column as numbers, or words as the numbers of their labels.
static bool read_column(Use *u, const CsvInput *in, uint32_t k, const Type *t, double *to,
                        int64_t step) {
  const CsvColumn *x = &in->table.column[k];
  Words known;
  if (!x->number && !x->label)
    return use_wrong(u, OUTCOME_WRONG, "column %s of %s has too many words", x->name, in->path);
  for (int64_t r = 0; x->number && r < in->table.rows; r++) to[r * step] = x->value[r];
  if (x->number) return true;
  if (!column_words(u, x->name, in->path, t, &known)) return false;
  uint32_t *label = NEW_ARRAY(u->arena, uint32_t, in->table.rows + 1);
  const char *why = column_labels(u->arena, &in->text, &in->table, k, &known, label);
  for (int64_t r = 0; !why && r < in->table.rows; r++) to[r * step] = label[r];
  return !why || use_wrong(u, OUTCOME_WRONG, "%s: %s", in->path, why);
}

static bool from_csv(Use *u, const char *value, const Type *type, Array *out) {
  const char *colon = strstr(value, ".csv:");
  CsvInput in = {.path = colon ? arena_text(u->arena, value, (size_t)(colon - value) + 4) : value};
  uint32_t first = 0, last = 0;
  if (!read_columns(u, &in, colon ? colon + 5 : NULL, type, &first, &last)) return false;
  int64_t shape[2] = {in.table.rows, last - first + 1};
  Tensor t = tensor_new(u->arena, last == first && colon ? 1 : 2, shape);
  for (uint32_t k = first; k <= last; k++)
    if (!read_column(u, &in, k, type, t.data + k - first, shape[1])) return false;
  *out = tensor_array(&t, "");
  return true;
}

static bool from_png(Use *u, const char *path, const Type *type, Array *out) {
  View view;
  Picture p;
  const char *error;
  if (!bytes_of(u, path, &view)) return false;
  if (!png_read_bytes(u->arena, view.at, view.n, &p, &error))
    return use_wrong(u, OUTCOME_WRONG, "%s: %s", path, error);
  int64_t shape[3] = {p.height, p.width, p.channels};
  uint32_t rank = p.channels == 1 && type->rank < 3 ? 2 : 3;
  Tensor t = tensor_new(u->arena, rank, shape);
  for (int64_t i = 0; i < t.count; i++) t.data[i] = p.at[i] / 255.0;
  *out = tensor_array(&t, "");
  return true;
}

// Numbers must be finite; the message names the row, as for data sets.
static bool array_from_npy(Use *u, const char *path, Array *out) {
  const char *error;
  int64_t i = 0;
  if (!npy_read(u->arena, path, out, &error)) return use_wrong(u, OUTCOME_WRONG, "%s", error);
  while (i < out->count && isfinite(out->data[i])) i++;
  if (i == out->count) return true;
  int64_t each = out->rank ? out->count / out->shape[0] : 1;
  double x = out->data[i];
  return use_wrong(u, OUTCOME_WRONG,
                   "%s: row %lld, counted from 0, has %s, where finite numbers were wanted", path,
                   (long long)(i / each),
                   isnan(x) ? "nan"
                   : x > 0  ? "inf"
                            : "-inf");
}

bool array_from(Use *u, const char *value, const Type *type, Array *out) {
  const char *error;
  if (text_ends(value, ".csv") || strstr(value, ".csv:")) return from_csv(u, value, type, out);
  if (text_ends(value, ".png")) return from_png(u, value, type, out);
  if (!text_ends(value, ".npy") && !strchr("[+-.0123456789ni", *value))
    return use_wrong(u, OUTCOME_WRONG, "an input is an npy, csv or png file, or numbers, not %s",
                     value);
  if (text_ends(value, ".npy")) return array_from_npy(u, value, out);
  return array_parse(u->arena, value, out, &error) || use_wrong(u, OUTCOME_WRONG, "%s", error);
}

// -- writing --------------------------------------------------------------------------------------
static bool put_file(Use *u, const Buf *b) {
  const char *why = file_write(u->arena, u->how->out, b->at, b->n);
  return !why || use_wrong(u, OUTCOME_SYSTEM, "cannot write %s: %s", u->how->out, why);
}

static const char *numbered_path(Use *u, uint32_t i) { // y.npy, y.2.npy
  const char *path = u->how->out, *dot = strrchr(path, '.');
  if (!i) return path;
  return arena_format(u->arena, "%.*s.%u%s", (int)(dot - path), path, i + 1, dot);
}

static bool put_npy(Use *u, const Arrays *out) {
  const char *error;
  for (uint32_t i = 0; i < out->array.n; i++)
    if (!npy_write(u->arena, numbered_path(u, i), &out->array.at[i], &error))
      return use_wrong(u, OUTCOME_SYSTEM, "%s", error);
  return true;
}

// One row for each sample; a result with several numbers has as many columns.
static bool put_csv(Use *u, const Arrays *out) {
  Buf b = buf_new(u->arena);
  CsvOut csv = csv_out(&b);
  int64_t rows = u->many && out->array.n && out->array.at[0].rank ? out->array.at[0].shape[0] : 1;
  for (int64_t r = -1; r < rows; r++, csv_end_row(&csv)) // -1: header
    for (uint32_t i = 0; i < out->array.n; i++) {
      const Array *x = &out->array.at[i];
      for (int64_t k = 0, each = rows ? x->count / rows : 0; k < each; k++)
        if (r >= 0)
          csv_put_number(&csv, x->data[r * each + k]);
        else
          csv_put(&csv,
                  each == 1 ? x->name : arena_format(u->arena, "%s.%lld", x->name, (long long)k));
    }
  return put_file(u, &b);
}

static void put_json(const Arrays *out, Buf *b) {
  JsonOut j = json_out(b);
  json_object(&j, NULL);
  for (uint32_t i = 0; i < out->array.n; i++)
    json_array(&j, out->array.at[i].name, &out->array.at[i]);
  json_end(&j);
}

static uint8_t to_byte(double x) { return (uint8_t)(fmin(fmax(x, 0), 1) * 255 + 0.5); }

// Tiles pictures [n h w] or [n h w c] in a square, as far as possible.
static bool put_png(Use *u, const Array *x) {
  const char *error;
  bool colour = x->rank == 4 && x->shape[3] == 3;
  if (x->rank != 3 && !(x->rank == 4 && (colour || x->shape[3] == 1)))
    return use_wrong(u, OUTCOME_WRONG,
                     "%s is %s: a picture is rows by columns, perhaps by 1 or 3 colours", x->name,
                     array_type(u->arena, x));
  int64_t n = x->shape[0], h = x->shape[1], w = x->shape[2], c = colour ? 3 : 1;
  int64_t across = (int64_t)ceil(sqrt((double)n)), down = n ? (n + across - 1) / across : 0;
  if (n < 1 || h * down > 1 << 16 || w * across > 1 << 16)
    return use_wrong(u, OUTCOME_WRONG, "this is too large for a picture");
  Picture p = {
      .height = (uint32_t)(h * down), .width = (uint32_t)(w * across), .channels = (uint32_t)c};
  p.at = arena_alloc(u->arena, (size_t)(h * down * w * across * c));
  for (int64_t i = 0; i < x->count; i++) {
    int64_t k = i % c, col = i / c % w, row = i / c / w % h, which = i / c / w / h;
    p.at[(((which / across) * h + row) * (int64_t)p.width + (which % across) * w + col) * c + k] =
        to_byte(x->data[i]);
  }
  return png_write(u->arena, u->how->out, &p, &error) || use_wrong(u, OUTCOME_SYSTEM, "%s", error);
}

bool arrays_put(Use *u, const Arrays *out) {
  const char *path = u->how->out;
  Buf *text = u->call->text;
  if (u->call->out) {
    for (uint32_t i = 0; i < out->array.n; i++)
      arrays_keep(u->call->keep, u->call->out, &out->array.at[i]);
    return true;
  }
  if (!path) {
    if (u->how->json)
      put_json(out, text);
    else
      for (uint32_t i = 0; i < out->array.n; i++)
        array_print(text, &out->array.at[i], false), buf_char(text, '\n');
    return true;
  }
  if (u->how->json) buf_text(text, "{}");
  if (text_ends(path, ".npy")) return put_npy(u, out);
  if (text_ends(path, ".csv")) return put_csv(u, out);
  if (text_ends(path, ".png")) return put_png(u, &out->array.at[0]);
  if (!text_ends(path, ".json"))
    return use_wrong(u, OUTCOME_USAGE,
                     "results are written as .npy, .csv, .json or .png, not as %s", path);
  Buf b = buf_new(u->arena);
  put_json(out, &b);
  return put_file(u, &b);
}
