// `limn data`: what sets there are, and what is in one of them.
#include "io/data/set_own.h"

#include <math.h>

enum { LOOK = 4096, LOOK_LABELS = 1 << 20, NAMES = 12, ACROSS = 16, DOWN = 10 };

static const char *const split_word[] = {"train", "valid", "test"};

// -- all sets -------------------------------------------------------------------------------------
static void list_fields(Arena *a, Buf *out, const char *set, bool json) {
  Field f;
  for (uint32_t k = 0; set_known_field(set, k, &f); k++)
    buf_printf(out, json ? "%s{\"name\": \"%s\", \"type\": \"%s\"}" : "%s%s : %s", k ? ", " : "",
               f.name, field_type(a, &f));
}

static void list_json(Arena *a, Buf *out, const char *set) {
  const char *folder = find_folder(a, set), *get = get_advice(set);
  buf_printf(out, "{\"name\": \"%s\", \"fields\": [", set);
  list_fields(a, out, set, true);
  buf_text(out, "], \"rows\": {");
  for (Split s = 0; s < SPLITS; s++)
    buf_printf(out, "%s\"%s\": %lld", s ? ", " : "", split_word[s], (long long)known_rows(set, s));
  buf_printf(out, "}, \"made\": %s, \"folder\": ", get ? "false" : "true");
  if (get && folder)
    buf_json(out, folder, strlen(folder));
  else
    buf_text(out, "null");
  buf_text(out, ", \"get\": ");
  if (get)
    buf_json(out, get, strlen(get));
  else
    buf_text(out, "null");
  buf_char(out, '}');
}

static void list_line(Arena *a, Buf *out, const char *set) {
  Buf fields = buf_new(a), rows = buf_new(a);
  list_fields(a, &fields, set, false);
  for (Split s = 0; s < SPLITS; s++)
    if (known_rows(set, s))
      buf_printf(&rows, "%s%lld %s", rows.n ? ", " : "", (long long)known_rows(set, s),
                 split_word[s]);
  buf_printf(out, "  %-12s %-42s %s\n", set, fields.at, rows.at);
  const char *folder = find_folder(a, set), *get = get_advice(set);
  if (get && folder)
    buf_printf(out, "               in %s\n", folder);
  else if (get)
    buf_printf(out, "               not here. %s\n", get);
}

void data_list(Arena *a, Buf *out, bool json) {
  if (json) {
    buf_char(out, '[');
    for (uint32_t k = 0; set_known(k); k++) {
      buf_text(out, k ? ", " : "");
      list_json(a, out, set_known(k));
    }
    buf_char(out, ']');
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
// Of the rows for training, at most so many are looked at: then some of all.
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
  double *x = NEW_ARRAY(a, double, count), sum = 0, squares = 0, all = (double)n * (double)count;
  *out = (ColumnRange){INFINITY, -INFINITY, 0, 0};
  for (int64_t i = 0; i < n; i++) {
    int64_t row = some_row(s, n, i);
    if (!set_read(s, SPLIT_TRAIN, field, &row, 1, NUMBER_F64, x, why)) return false;
    for (int64_t k = 0; k < count; k++) {
      out->low = fmin(out->low, x[k]), out->high = fmax(out->high, x[k]);
      sum += x[k], squares += x[k] * x[k];
    }
  }
  out->mean = sum / all;
  out->deviation = sqrt(fmax(0, squares / all - out->mean * out->mean));
  return true;
}

static bool count_labels(Arena *a, Set *s, uint32_t field, int64_t *times, const char **why) {
  const Field *f = set_field(s, field);
  int64_t n = some_rows(s, LOOK_LABELS), count = field_count(f);
  int32_t *x = NEW_ARRAY(a, int32_t, count);
  for (int64_t i = 0; i < n; i++) {
    int64_t row = some_row(s, n, i);
    if (!set_read(s, SPLIT_TRAIN, field, &row, 1, NUMBER_I32, x, why)) return false;
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

static bool show_labels(Arena *a, Buf *out, Set *s, uint32_t field, bool json, const char **why) {
  const Field *f = set_field(s, field);
  int64_t *times = NEW_ARRAY(a, int64_t, f->labels);
  if (!count_labels(a, s, field, times, why)) return false;
  buf_text(out, json ? ", \"labels\": [" : "      ");
  for (int64_t k = 0; k < f->labels && (json || k < NAMES); k++) {
    const char *name = label_name(a, f, k);
    if (json) {
      buf_text(out, k ? ", {\"name\": " : "{\"name\": ");
      buf_json(out, name, strlen(name));
      buf_printf(out, ", \"times\": %lld}", (long long)times[k]);
    } else {
      buf_printf(out, "%s%s %lld", k ? ", " : "", name, (long long)times[k]);
    }
  }
  buf_text(out, json ? "]" : f->labels > NAMES ? ", …\n" : "\n");
  return true;
}

static bool show_range(Arena *a, Buf *out, Set *s, uint32_t field, bool json, const char **why) {
  ColumnRange r;
  if (!find_range(a, s, field, &r, why)) return false;
  buf_printf(out,
             json ? ", \"low\": %.6g, \"high\": %.6g, \"mean\": %.6g, \"deviation\": %.6g"
                  : "      from %.6g to %.6g, mean %.6g, deviation %.6g\n",
             r.low, r.high, r.mean, r.deviation);
  return true;
}

static bool show_field(Arena *a, Buf *out, Set *s, uint32_t k, bool json, const char **why) {
  const Field *f = set_field(s, k);
  const char *name = text_shown(a, f->name, strlen(f->name));
  buf_printf(out, json ? "%s{\"name\": \"%s\", \"type\": \"%s\"" : "%s  %s : %s\n",
             json && k ? ", " : "", name, field_type(a, f));
  bool good = (f->kind == FIELD_LABEL ? show_labels : show_range)(a, out, s, k, json, why);
  if (json) buf_char(out, '}');
  return good;
}

// -- pictures -------------------------------------------------------------------------------------
static bool is_image(const Field *f) {
  return f->kind == FIELD_REAL && (f->rank == 2 || (f->rank == 3 && f->shape[2] == 3)) &&
         f->shape[0] <= 512 && f->shape[1] <= 512;
}

static uint8_t tone(float x) { return (uint8_t)(fminf(fmaxf(x, 0), 1) * 255 + 0.5f); }

// A sheet of the first images, each `zoom` times as large, with a line between them.
static bool draw_images(Arena *a, Set *s, uint32_t field, Picture *p, const char **why) {
  const Field *f = set_field(s, field);
  uint32_t high = (uint32_t)f->shape[0], wide = (uint32_t)f->shape[1], zoom = wide < 64 ? 2 : 1;
  float *x = NEW_ARRAY(a, float, field_count(f));
  uint32_t high_step = high * zoom + 2, wide_step = wide * zoom + 2;
  *p = (Picture){DOWN * high_step, ACROSS * wide_step, f->rank == 3 ? 3 : 1, NULL};
  p->at = arena_alloc(a, (size_t)p->height * p->width * p->channels);
  for (int64_t r = 0; r < ACROSS * DOWN && r < set_rows(s, SPLIT_TRAIN); r++) {
    if (!set_read(s, SPLIT_TRAIN, field, &r, 1, NUMBER_F32, x, why)) return false;
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

// Points of the plane, coloured by a label.
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
    if (!set_read(s, SPLIT_TRAIN, field, &r, 1, NUMBER_F64, x, why)) return false;
    if (label != FIELD_NONE && !set_read(s, SPLIT_TRAIN, label, &r, 1, NUMBER_I32, &kind, why))
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

static bool show_all(Arena *a, Buf *out, Set *s, bool json, const char **why) {
  bool good = true;
  const char *says = set_says(s);
  if (json) {
    buf_text(out, "{\"says\": ");
    buf_json(out, says, strlen(says));
    buf_text(out, ", \"rows\": {");
    for (Split i = 0; i < SPLITS; i++)
      buf_printf(out, "%s\"%s\": %lld", i ? ", " : "", split_word[i], (long long)set_rows(s, i));
    buf_text(out, "}, \"fields\": [");
  } else {
    buf_printf(out, "%s\n", says);
  }
  for (uint32_t k = 0; good && k < set_fields(s); k++) good = show_field(a, out, s, k, json, why);
  if (json) buf_text(out, "]}");
  return good;
}

// -- rows -----------------------------------------------------------------------------------------
static bool rows_read(Arena *a, Set *s, Split split, uint32_t field, Array *out, const char **why) {
  const Field *f = set_field(s, field);
  int64_t n = set_rows(s, split), count = field_count(f), *row = NEW_ARRAY(a, int64_t, n);
  *out = (Array){.name = arena_format(a, "%s_%s", f->name, split_word[split]),
                 .rank = f->rank + 1,
                 .shape = NEW_ARRAY(a, int64_t, f->rank + 1),
                 .kind = f->kind == FIELD_REAL ? EL_F32 : EL_I32};
  for (int64_t i = 0; i < n; i++) row[i] = i;
  out->shape[0] = n;
  for (uint32_t i = 0; i < f->rank; i++) out->shape[i + 1] = f->shape[i];
  if (!array_count(out->rank, out->shape, &out->count))
    return file_error(a, why, "%s is too large for one array", out->name);
  out->data = NEW_ARRAY(a, double, n *count);
  return set_read(s, split, field, row, n, NUMBER_F64, out->data, why);
}

bool data_arrays(Arena *a, const char *name, Arrays *out, const char **why) {
  Set *s = set_open(a, name, &(SetOptions){0}, why);
  if (!s) return false;
  bool good = true;
  for (Split i = 0; i < SPLITS; i++)
    for (uint32_t k = 0; good && set_rows(s, i) && k < set_fields(s); k++) {
      Array x;
      good = rows_read(a, s, i, k, &x, why);
      if (good) vec_push(a, &out->array, x);
    }
  if (!good) *why = arena_format(a, "%s", *why);
  set_close(s);
  return good;
}

bool data_show(Arena *a, Buf *out, const char *name, bool json, Picture *p, const char **why) {
  Set *s = set_open(a, name, &(SetOptions){0}, why);
  if (!s) return false;
  bool good = show_all(a, out, s, json, why) && (!p || draw_any(a, s, p, why));
  if (!good) *why = arena_format(a, "%s", *why);
  set_close(s);
  return good;
}
