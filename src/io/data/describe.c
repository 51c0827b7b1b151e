// The command `limn data`: lists the sets, and describes one.
#include "base/json_write.h"
#include "io/data/one_sample.h"
#include "io/data/set_own.h"

#include <math.h>

enum { LOOK = 4096, LOOK_LABELS = 1 << 20, NAMES = 12, ACROSS = 16, DOWN = 10 };

// -- all sets -------------------------------------------------------------------------------------
static void put_rows(JsonOut *j, const int64_t *rows) {
  json_object(j, "rows");
  for (Split s = 0; s < SPLITS; s++) json_print(j, split_word[s], "%lld", (long long)rows[s]);
  json_end(j);
}

static void list_json(Arena *a, JsonOut *j, const char *set) {
  const char *get = get_advice(set), *why;
  int64_t rows[SPLITS];
  Field f;
  json_object(j, NULL);
  json_text(j, "name", set);
  json_list(j, "fields");
  for (uint32_t k = 0; set_known_field(set, k, &f); k++) {
    json_object(j, NULL);
    json_text(j, "name", f.name);
    json_text(j, "type", field_type(a, &f));
    json_end(j);
  }
  json_end(j);
  for (Split s = 0; s < SPLITS; s++) rows[s] = known_rows(set, s);
  put_rows(j, rows);
  json_bool(j, "made", !get);
  json_text_or_null(j, "folder", get ? find_folder(a, set, &why) : NULL);
  json_text_or_null(j, "get", get);
  json_end(j);
}

static void list_line(Arena *a, Buf *out, const char *set) {
  Buf fields = buf_new(a), rows = buf_new(a);
  Field f;
  for (uint32_t k = 0; set_known_field(set, k, &f); k++)
    buf_printf(&fields, "%s%s : %s", k ? ", " : "", f.name, field_type(a, &f));
  for (Split s = 0; s < SPLITS; s++)
    if (known_rows(set, s))
      buf_printf(&rows, "%s%lld %s", rows.n ? ", " : "", (long long)known_rows(set, s),
                 split_word[s]);
  buf_printf(out, "  %-12s %-42s %s\n", set, fields.at, rows.at);
  const char *why, *folder = find_folder(a, set, &why), *get = get_advice(set);
  if (get && folder)
    buf_printf(out, "               in %s\n", folder);
  else if (get)
    buf_printf(out, "               not here. %s\n", get);
}

void data_list(Arena *a, Buf *out, bool json) {
  if (json) {
    JsonOut j = json_out(out);
    json_list(&j, NULL);
    for (uint32_t k = 0; set_known(k); k++) list_json(a, &j, set_known(k));
    json_end(&j);
    return;
  }
  buf_text(out, "made by code\n");
  for (uint32_t k = 0; set_known(k); k++)
    if (!get_advice(set_known(k))) list_line(a, out, set_known(k));
  buf_text(out, "on disk, in $LIMN_DATA, ./data, ../shared/data or ~/.local/share/limn\n");
  for (uint32_t k = 0; set_known(k); k++)
    if (get_advice(set_known(k))) list_line(a, out, set_known(k));
  buf_text(out, "any csv, idx, npy, npz or text file, or folder of png pictures, by its path\n");
}

// -- one set --------------------------------------------------------------------------------------
// Statistics use at most this many rows for training, a random sample if there are more.
static int64_t some_rows(const Set *s, int64_t most) {
  int64_t all = set_rows(s, SPLIT_TRAIN);
  return all < most ? all : most;
}

static int64_t some_row(const Set *s, int64_t n, int64_t i) {
  int64_t all = set_rows(s, SPLIT_TRAIN);
  return n < all ? shuffle_place(1, all, i) : i;
}

typedef struct {
  double low, high, mean, deviation;
} ColumnRange;

static bool find_range(Arena *a, Set *s, uint32_t field, ColumnRange *out, const char **why) {
  int64_t n = some_rows(s, LOOK), count = field_count(set_field(s, field));
  double *x = NEW_ARRAY(a, double, count), met = 0, squares = 0; // of differences from the mean
  *out = (ColumnRange){INFINITY, -INFINITY, 0, 0};
  for (int64_t i = 0; i < n; i++) {
    int64_t row = some_row(s, n, i);
    if (!set_read(s, (SetRows){SPLIT_TRAIN, field, &row, 1}, NUMBER_F64, x, why)) return false;
    for (int64_t k = 0; k < count; k++) {
      out->low = fmin(out->low, x[k]), out->high = fmax(out->high, x[k]);
      double far = x[k] - out->mean;
      out->mean += far / ++met;
      squares += far * (x[k] - out->mean);
    }
  }
  out->deviation = met > 0 ? sqrt(squares / met) : NAN;
  return true;
}

static bool count_labels(Arena *a, Set *s, uint32_t field, int64_t *times, const char **why) {
  const Field *f = set_field(s, field);
  int64_t n = some_rows(s, LOOK_LABELS), count = field_count(f);
  int32_t *x = NEW_ARRAY(a, int32_t, count);
  for (int64_t i = 0; i < n; i++) {
    int64_t row = some_row(s, n, i);
    if (!set_read(s, (SetRows){SPLIT_TRAIN, field, &row, 1}, NUMBER_I32, x, why)) return false;
    for (int64_t k = 0; k < count; k++) times[x[k]]++;
  }
  return true;
}

static const char *label_name(Arena *a, const Field *f, int64_t k) {
  if (!f->label) return arena_format(a, "%lld", (long long)k);
  if (!*f->label[k]) return "(none)";
  return strcmp(f->label[k], " ") == 0 ? "(space)"
                                       : text_shown(a, f->label[k], strlen(f->label[k]));
}

// The output: JSON or text.
typedef struct {
  Arena *arena;
  Buf *out;
  bool json;
  JsonOut j;
  const char **why;
} Describe;

static bool show_labels(Describe *d, Set *s, uint32_t field) {
  const Field *f = set_field(s, field);
  int64_t *times = NEW_ARRAY(d->arena, int64_t, f->labels);
  if (!count_labels(d->arena, s, field, times, d->why)) return false;
  if (d->json) json_list(&d->j, "labels");
  for (int64_t k = 0; k < f->labels && (d->json || k < NAMES); k++) {
    const char *name = label_name(d->arena, f, k);
    if (!d->json) {
      buf_printf(d->out, "%s%s %lld", k ? ", " : "      ", name, (long long)times[k]);
      continue;
    }
    json_object(&d->j, NULL);
    json_text(&d->j, "name", name);
    json_print(&d->j, "times", "%lld", (long long)times[k]);
    json_end(&d->j);
  }
  if (d->json)
    json_end(&d->j);
  else
    buf_text(d->out, f->labels > NAMES ? ", …\n" : "\n");
  return true;
}

static bool show_range(Describe *d, Set *s, uint32_t field) {
  ColumnRange r;
  if (!find_range(d->arena, s, field, &r, d->why)) return false;
  if (!d->json) {
    buf_printf(d->out, "      from %.6g to %.6g, mean %.6g, deviation %.6g\n", r.low, r.high,
               r.mean, r.deviation);
    return true;
  }
  json_print(&d->j, "low", "%.6g", r.low);
  json_print(&d->j, "high", "%.6g", r.high);
  json_print(&d->j, "mean", "%.6g", r.mean);
  json_print(&d->j, "deviation", "%.6g", r.deviation);
  return true;
}

static bool show_field(Describe *d, Set *s, uint32_t k) {
  const Field *f = set_field(s, k);
  const char *name = text_shown(d->arena, f->name, strlen(f->name));
  if (d->json) {
    json_object(&d->j, NULL);
    json_text(&d->j, "name", name);
    json_text(&d->j, "type", field_type(d->arena, f));
  } else {
    buf_printf(d->out, "  %s : %s\n", name, field_type(d->arena, f));
  }
  bool good = (f->kind == FIELD_LABEL ? show_labels : show_range)(d, s, k);
  if (d->json) json_end(&d->j);
  return good;
}

// -- pictures -------------------------------------------------------------------------------------
static bool is_image(const Field *f) {
  return f->kind == FIELD_REAL && (f->rank == 2 || (f->rank == 3 && f->shape[2] == 3)) &&
         f->shape[0] <= 512 && f->shape[1] <= 512;
}

static uint8_t tone(float x) { return (uint8_t)(fminf(fmaxf(x, 0), 1) * 255 + 0.5f); }

// Draws a contact sheet of the first images, magnified by `zoom`, with gaps.
static bool draw_images(Arena *a, Set *s, uint32_t field, Picture *p, const char **why) {
  const Field *f = set_field(s, field);
  uint32_t high = (uint32_t)f->shape[0], wide = (uint32_t)f->shape[1], zoom = wide < 64 ? 2 : 1;
  float *x = NEW_ARRAY(a, float, field_count(f));
  uint32_t high_step = high * zoom + 2, wide_step = wide * zoom + 2;
  *p = (Picture){DOWN * high_step, ACROSS * wide_step, f->rank == 3 ? 3 : 1, NULL};
  p->at = arena_alloc(a, (size_t)p->height * p->width * p->channels);
  for (int64_t r = 0; r < ACROSS * DOWN && r < set_rows(s, SPLIT_TRAIN); r++) {
    if (!set_read(s, (SetRows){SPLIT_TRAIN, field, &r, 1}, NUMBER_F32, x, why)) return false;
    uint32_t top = (uint32_t)(r / ACROSS) * high_step, left = (uint32_t)(r % ACROSS) * wide_step;
    for (uint32_t j = 0; j < high * zoom; j++)
      for (uint32_t i = 0; i < wide * zoom * p->channels; i++) {
        uint32_t column = i / p->channels / zoom, c = i % p->channels;
        p->at[((size_t)(top + j) * p->width + left) * p->channels + i] =
            tone(x[(j / zoom * wide + column) * p->channels + c]);
      }
  }
  return true;
}

// Draws a scatter plot, coloured by label.
static bool draw_points(Arena *a, Set *s, uint32_t field, uint32_t label, Picture *p,
                        const char **why) {
  static const uint8_t colour[4][3] = {
      {200, 60, 50}, {50, 100, 200}, {60, 150, 70}, {150, 90, 170}};
  enum { SIDE = 512 };
  ColumnRange range;
  if (!find_range(a, s, field, &range, why)) return false;
  double scale = (SIDE - 40) / fmax(range.high - range.low, 1e-9);
  *p = (Picture){SIDE, SIDE, 3, arena_alloc(a, SIDE * SIDE * 3)};
  memset(p->at, 255, SIDE * SIDE * 3);
  for (int64_t r = 0; r < set_rows(s, SPLIT_TRAIN); r++) {
    double x[2];
    int32_t kind = 0;
    if (!set_read(s, (SetRows){SPLIT_TRAIN, field, &r, 1}, NUMBER_F64, x, why)) return false;
    if (label != FIELD_NONE &&
        !set_read(s, (SetRows){SPLIT_TRAIN, label, &r, 1}, NUMBER_I32, &kind, why))
      return false;
    uint32_t u = (uint32_t)(20 + (x[0] - range.low) * scale),
             v = (uint32_t)(20 + (range.high - x[1]) * scale);
    for (uint32_t j = v - 2; j <= v + 2; j++)
      for (uint32_t i = u - 2; i <= u + 2; i++)
        if (i < SIDE && j < SIDE) memcpy(p->at + (j * SIDE + i) * 3, colour[kind % 4], 3);
  }
  return true;
}

static bool draw_any(Arena *a, Set *s, Picture *p, const char **why) {
  uint32_t label = FIELD_NONE;
  for (uint32_t k = 0; k < set_fields(s); k++)
    if (set_field(s, k)->kind == FIELD_LABEL && !set_field(s, k)->rank) label = k;
  for (uint32_t k = 0; k < set_fields(s); k++) {
    const Field *f = set_field(s, k);
    if (is_image(f)) return draw_images(a, s, k, p, why);
    if (f->kind == FIELD_REAL && f->rank == 1 && f->shape[0] == 2)
      return draw_points(a, s, k, label, p, why);
  }
  return file_error(a, why, "%s has no field that can be drawn: images, or points of the plane",
                    s->name);
}

static bool show_all(Describe *d, Set *s) {
  bool good = true;
  int64_t rows[SPLITS];
  for (Split i = 0; i < SPLITS; i++) rows[i] = set_rows(s, i);
  if (d->json) {
    json_object(&d->j, NULL);
    json_text(&d->j, "says", set_summary(s));
    put_rows(&d->j, rows);
    json_list(&d->j, "fields");
  } else {
    buf_printf(d->out, "%s\n", set_summary(s));
  }
  for (uint32_t k = 0; good && k < set_fields(s); k++) good = show_field(d, s, k);
  if (d->json) json_end(&d->j), json_end(&d->j);
  return good;
}

// -- rows -----------------------------------------------------------------------------------------
// Reads rows from `first` on; one: the axis of the rows is left out.
static bool rows_read(Arena *a, Set *s, int64_t first, SetRows of, bool one, Array *out,
                      const char **why) {
  const Field *f = set_field(s, of.field);
  *out = (Array){.rank = f->rank + !one,
                 .shape = NEW_ARRAY(a, int64_t, f->rank + 1),
                 .kind = f->kind != FIELD_REAL ? EL_I32
                         : one                 ? EL_F64
                                               : EL_F32};
  out->name = one ? arena_format(a, "%s", f->name)
                  : arena_format(a, "%s_%s", f->name, split_word[of.split]);
  out->shape[0] = of.n;
  memcpy(out->shape + !one, f->shape, f->rank * sizeof *f->shape);
  if (!array_count(out->rank, out->shape, &out->count))
    return file_error(a, why, "%s is too large for one array", out->name);
  out->data = NEW_ARRAY(a, double, out->count + 1);
  return set_read_from(s, first, of, NUMBER_F64, out->data, why);
}

// Parses shakespeare[pieces: 300]: returns the name, and *pieces or leaves it.
static const char *split_pieces(Arena *a, const char *name, int64_t *pieces) {
  const char *open = strrchr(name, '[');
  int end = 0;
  unsigned long n = 0;
  if (open) sscanf(open, "[pieces: %7lu]%n", &n, &end);
  if (!end || open[end]) return name;
  *pieces = (int64_t)n;
  return arena_text(a, name, (size_t)(open - name));
}

// Opens a set. On failure NULL, with a reason that suggests a similar name.
static Set *open_or_suggest(Arena *a, const char *text, const char **why) {
  SetOptions how = {0};
  const char *name = split_pieces(a, text, &how.pieces);
  Set *s = set_open(a, name, &how, why);
  const char *near = s || set_is_known(name) ? NULL : set_nearest(name);
  if (near) *why = arena_format(a, "%s; did you mean `%s`?", *why, near);
  return s;
}

// The reason of a failure outlives the set.
static bool close_set(Arena *a, Set *s, bool good, const char **why) {
  if (!good) *why = arena_format(a, "%s", *why);
  set_close(s);
  return good;
}

bool data_arrays(Arena *a, const char *name, Arrays *out, const char **why) {
  Set *s = open_or_suggest(a, name, why);
  if (!s) return false;
  bool good = true;
  for (Split i = 0; i < SPLITS; i++)
    for (uint32_t k = 0; good && set_rows(s, i) && k < set_fields(s); k++) {
      Array x;
      good = rows_read(a, s, 0, (SetRows){i, k, NULL, set_rows(s, i)}, false, &x, why);
      if (good) vec_push(a, &out->array, x);
    }
  return close_set(a, s, good, why);
}

bool data_sample(Arena *a, const char *set, uint64_t at, Arrays *out, const char **why) {
  Set *s = open_or_suggest(a, set, why);
  if (!s) return false;
  Split split = set_rows(s, SPLIT_TEST) ? SPLIT_TEST : SPLIT_TRAIN;
  int64_t n = set_rows(s, split), row = n ? (int64_t)(at % (uint64_t)n) : 0;
  bool good = n > 0 || file_error(a, why, "%s has no samples", set);
  for (uint32_t k = 0; good && k < set_fields(s); k++) {
    Array x;
    good = rows_read(a, s, row, (SetRows){split, k, NULL, 1}, true, &x, why);
    if (good) vec_push(a, &out->array, x);
  }
  return close_set(a, s, good, why);
}

bool data_show(Arena *a, Buf *out, const char *name, bool json, Picture *p, const char **why) {
  Set *s = open_or_suggest(a, name, why);
  if (!s) return false;
  Describe d = {a, out, json, json_out(out), why};
  bool good = show_all(&d, s) && (!p || draw_any(a, s, p, why));
  return close_set(a, s, good, why);
}
