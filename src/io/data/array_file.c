// Reads one array of numbers from a file: npy, npz, safetensors, or csv as an array of rows and
// columns.
#include "io/data/data.h"

#include <math.h>

static bool from_csv(Arena *a, const View *view, Array *out, const char **why) {
  Csv c;
  if (!csv_read_bytes(a, (const char *)view->at, view->n, &c, why)) return false;
  for (uint32_t k = 0; k < c.columns; k++)
    if (!c.column[k].number)
      return file_error(a, why, "column %s holds words; an array is made of numbers",
                        c.column[k].name);
  int64_t shape[2] = {c.rows, c.columns};
  *out = (Array){.name = "", .rank = 2, .shape = arena_copy(a, shape, sizeof shape)};
  if (!array_count(2, shape, &out->count)) return file_error(a, why, "the table is too large");
  out->data = NEW_ARRAY(a, double, (size_t)out->count + 1);
  for (int64_t i = 0; i < c.rows; i++)
    for (uint32_t k = 0; k < c.columns; k++) out->data[i * c.columns + k] = c.column[k].value[i];
  return true;
}

// The array with the name of the constant, or the only array.
static bool from_npz(Arena *a, const View *view, const char *name, Array *out, const char **why) {
  Raws all = {0};
  if (!npz_look(a, view->at, view->n, &all, why)) return false;
  const Raw *x = all.n == 1 ? &all.at[0] : NULL;
  for (uint32_t i = 0; i < all.n; i++)
    if (strcmp(all.at[i].name, name) == 0) x = &all.at[i];
  if (!x)
    return file_error(a, why, "none of its %u arrays is called %s", all.n,
                      text_shown(a, name, strlen(name)));
  return raw_load(a, x, out, why);
}

static bool from_safetensors(Arena *a, const View *view, const char *name, Array *out,
                             const char **why) {
  Arrays all = {0};
  if (!safetensors_read_bytes(a, view->at, view->n, &all, why)) return false;
  const Array *x = arrays_find(&all, name);
  if (!x)
    return file_error(a, why, "none of its %u arrays is called %s", all.array.n,
                      text_shown(a, name, strlen(name)));
  *out = *x;
  return true;
}

static bool all_are_numbers(Arena *a, const Array *x, const char **why) {
  Buf at = buf_new(a);
  for (int64_t i = 0; i < x->count; i++) {
    if (!isnan(x->data[i])) continue;
    buf_indices(&at, x->rank, x->shape, i);
    return file_error(a, why, "found NaN%s%s, where a number was wanted", at.n ? " at " : "",
                      at.n ? at.at : "");
  }
  return true;
}

bool array_from_file(Arena *a, const char *path, const char *name, Array *out, const char **why) {
  const char *end = strrchr(path, '.');
  View view;
  bool good;
  if (!file_view(a, path, &view, why)) return false;
  if (bytes_are_zip(view.at, view.n))
    good = from_npz(a, &view, name, out, why);
  else if (end && strcmp(end, ".npy") == 0)
    good = npy_read_bytes(a, view.at, view.n, out, why);
  else if (end && strcmp(end, ".safetensors") == 0)
    good = from_safetensors(a, &view, name, out, why);
  else
    good = from_csv(a, &view, out, why);
  good = good && all_are_numbers(a, out, why);
  if (!good) *why = arena_format(a, "%s: %s", path, *why);
  return good;
}
