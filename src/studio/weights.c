// Inspection of a run: its weights, the values of wires, and their gradients, each as a range, a
// histogram and a picture.
//
// Weights are read from the last checkpoint. Wires and gradients are computed from them on one
// batch of the run's data (limn_gradients).
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/within.h"
#include "studio/runs.h"

#include <math.h>
#include <stdlib.h>

enum { MODEL_LIMIT = 1 << 30, BINS = 48, SIDE_MOST = 32, TILES = 2, AT_ONCE = 4000 };

// -- the run --------------------------------------------------------------------------------------
// Reads the model, or the last checkpoint if there is no model yet.
static bool read_weights(HostCall *c, const char *dir, Arrays *out, const char **error) {
  static const char *const file[] = {"model.safetensors", "state.safetensors"};
  for (uint32_t i = 0; i < COUNT(file); i++) {
    const char *name = arena_format(c->arena, "%s/%s", dir, file[i]);
    FileText f = file_read_in(c->arena, c->studio->folder, name, MODEL_LIMIT);
    if (f.text) return safetensors_read_bytes(c->arena, f.text, f.n, out, error);
    *error = f.error;
  }
  return false;
}

// Applies the --set options of the run, as in "n=3 f=dense[2] ; relu".
static bool set_all(HostCall *c, Limn *l, const char *settings) {
  const char *at = settings;
  while (*at) {
    const char *equals = strchr(at, '='), *end = equals ? equals : at, *next = NULL;
    if (!equals) return false;
    // a value extends to the next word that contains `=`
    while ((end = strchr(end + 1, ' '))) {
      size_t n = strcspn(end + 1, " =");
      next = end + 1;
      if (next[n] == '=') break;
      next = NULL;
    }
    if (!end) end = at + strlen(at);
    const char *name = arena_text(c->arena, at, (size_t)(equals - at));
    const char *value = arena_text(c->arena, equals + 1, (size_t)(end - equals - 1));
    if (limn_set(l, name, value) != LIMN_GOOD) return false;
    at = next ? next : end;
  }
  return true;
}

// Loads the current program of a run; NULL: *l has the messages.
static Limn *program_loaded(HostCall *c, const char *dir, Limn **l) {
  RunNow now = run_now(c->studio, c->arena, dir);
  const Json *set = now.note ? json_get(now.note, "set") : NULL;
  *l = host_handle(c);
  bool good = *l != NULL;
  for (uint32_t i = 0; good && c->studio->read[i]; i++)
    good = limn_allow(*l, c->studio->read[i]) == LIMN_GOOD;
  if (good && set && set->kind == JSON_TEXT) good = set_all(c, *l, set->text);
  return good && limn_load(*l, run_program(c, &now)) == LIMN_GOOD ? *l : NULL;
}

// -- as JSON --------------------------------------------------------------------------------------
static void add_shape(JsonOut *j, const Array *x) {
  json_list(j, "shape");
  for (uint32_t i = 0; i < x->rank; i++) json_number(j, NULL, (double)x->shape[i]);
  json_end(j);
}

static void add_goals(HostCall *c, JsonOut *j, const char *names) {
  const char *error;
  const Json *all = names ? json_read(c->arena, names, strlen(names), &error) : NULL;
  const Json *goals = json_get(all, "goals");
  json_list(j, "goals");
  for (const Json *one = json_items(goals); one; one = json_after(goals, one))
    if (one->kind == JSON_TEXT && one->n) json_text(j, NULL, one->text);
  json_end(j);
}

static void answer_names(HostCall *c, const Arrays *all, Limn *program) {
  const char *wires = program ? limn_wires(program, NULL) : NULL;
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_list(&j, "names");
  for (uint32_t i = 0; i < all->array.n; i++) {
    json_object(&j, NULL);
    json_text(&j, "name", all->array.at[i].name);
    add_shape(&j, &all->array.at[i]);
    json_end(&j);
  }
  json_end(&j);
  json_key(&j, "wires");
  buf_text(c->out, wires ? wires : "[]");
  add_goals(c, &j, program ? limn_names(program) : NULL);
  json_end(&j);
  host_done(c);
}

static void range_of(const Array *x, double *least, double *most) {
  *least = INFINITY, *most = -INFINITY;
  for (int64_t i = 0; i < x->count; i++) {
    if (!isfinite(x->data[i])) continue;
    if (x->data[i] < *least) *least = x->data[i];
    if (x->data[i] > *most) *most = x->data[i];
  }
}

static void add_histogram(JsonOut *j, const Array *x, double least, double most) {
  double bin[BINS] = {0};
  for (int64_t i = 0; i < x->count; i++) {
    if (!isfinite(x->data[i])) continue;
    double at = most > least ? (x->data[i] - least) / (most - least) * BINS : 0;
    bin[at < BINS ? (int)at : BINS - 1]++;
  }
  json_list(j, "histogram");
  for (int i = 0; i < BINS; i++) json_number(j, NULL, bin[i]);
  json_end(j);
}

// The mean of the values in one cell of the picture; rows are the first axis.
static double cell_mean(const Array *x, int64_t rows, int64_t columns, const int64_t at[4]) {
  double sum = 0, n = 0;
  for (int64_t r = at[0]; r < at[1] && r < rows; r++)
    for (int64_t k = at[2]; k < at[3] && k < columns; k++) sum += x->data[r * columns + k], n++;
  return n > 0 ? sum / n : 0;
}

// Blue below 0, red above, white at 0.
static void add_cell(Buf *b, int64_t column, int64_t row, double share) {
  double away = fabs(share) < 1 ? fabs(share) : 1;
  int light = (int)(255 - 175 * away), full = (int)(255 - 45 * away);
  buf_printf(
      b, "<rect x=\"%lld\" y=\"%lld\" width=\"1.02\" height=\"1.02\" fill=\"#%02x%02x%02x\"/>",
      (long long)column, (long long)row, share < 0 ? light : full, light, share < 0 ? full : light);
}

// The value with full colour: the largest one, or less if there are outliers.
static double full_colour(const double *cell, int64_t n) {
  double most = 0, squares = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(cell[i])) continue;
    most = fmax(most, fabs(cell[i]));
    squares += cell[i] * cell[i];
  }
  return fmin(most, 3 * sqrt(squares / (double)n));
}

static const char *numbers_picture(Arena *a, const Array *x) {
  int64_t rows = x->rank ? x->shape[0] : 1, columns = rows ? x->count / rows : 0;
  if (x->rank < 2) columns = x->count, rows = 1;
  if (!x->count) return NULL;
  int64_t high = rows < SIDE_MOST ? rows : SIDE_MOST;
  int64_t wide = columns < SIDE_MOST * 2 ? columns : SIDE_MOST * 2;
  double *cell = NEW_ARRAY(a, double, high *wide);
  for (int64_t r = 0; r < high; r++)
    for (int64_t k = 0; k < wide; k++) {
      const int64_t at[4] = {r * rows / high, (r + 1) * rows / high, k * columns / wide,
                             (k + 1) * columns / wide};
      cell[r * wide + k] = cell_mean(x, rows, columns, at);
    }
  double full = full_colour(cell, high * wide);
  Buf b = buf_new(a);
  buf_printf(&b,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %lld %lld\" width=\"%lld\" "
             "height=\"%lld\" role=\"img\">",
             (long long)wide, (long long)high, (long long)wide * 8, (long long)high * 8);
  for (int64_t i = 0; i < high * wide; i++)
    add_cell(&b, i % wide, i / wide, full > 0 && isfinite(cell[i]) ? cell[i] / full : 0);
  buf_text(&b, "</svg>");
  return b.at;
}

// The first few pictures of a batch side by side; other arrays unchanged.
static Array tiled(Arena *a, const Array *x) {
  if (x->rank != 3 || x->shape[1] < 4 || x->shape[2] < 4) return *x;
  int64_t tiles = x->shape[0] < TILES ? x->shape[0] : TILES, high = x->shape[1], wide = x->shape[2];
  int64_t *shape = NEW_ARRAY(a, int64_t, 2);
  shape[0] = high, shape[1] = tiles * wide;
  Array out = {.name = x->name, .rank = 2, .shape = shape, .count = tiles * high * wide};
  out.data = NEW_ARRAY(a, double, out.count);
  for (int64_t i = 0; i < out.count; i++)
    out.data[i / wide % high * tiles * wide + i / wide / high * wide + i % wide] = x->data[i];
  return out;
}

static void answer_numbers(HostCall *c, const Array *x) {
  double least, most;
  Array shown = tiled(c->arena, x);
  range_of(x, &least, &most);
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_text(&j, "name", x->name);
  add_shape(&j, x);
  json_number(&j, "least", least);
  json_number(&j, "most", most);
  add_histogram(&j, x, least, most);
  json_text_or_null(&j, "picture", numbers_picture(c->arena, &shown));
  json_end(&j);
  host_done(c);
}

// -- requests -------------------------------------------------------------------------------------
static int64_t numbers_of(const Arrays *all) {
  int64_t n = 0;
  for (uint32_t i = 0; i < all->array.n; i++) n += all->array.at[i].count;
  return n;
}

// A wire or gradient. Small programs run in the interpreter, without compiling.
static void answer_computed(HostCall *c, const char *dir, const char *name, const Arrays *weights,
                            bool gradient) {
  LimnArrays found;
  Limn *l = NULL, *program = program_loaded(c, dir, &l);
  LimnUse how = {.size = sizeof how,
                 .from = dir,
                 .threads = 1,
                 .reference = numbers_of(weights) <= AT_ONCE,
                 .stop = &c->session->slow.stop};
  LimnStatus status = program
                          ? limn_gradients(program, json_get_text(c->params, "goal"), name, &how,
                                           gradient ? NULL : &found, gradient ? &found : NULL)
                          : LIMN_WRONG;
  if (status != LIMN_GOOD || !found.n) {
    host_refuse(c, "%s", first_error(l));
    return;
  }
  const LimnArray *x = &found.at[0].array;
  Array a = {.name = found.at[0].name, .rank = x->rank, .data = x->data, .count = 1};
  a.shape = arena_copy(c->arena, x->shape, x->rank * sizeof *x->shape);
  for (uint32_t i = 0; i < a.rank; i++) a.count *= a.shape[i];
  answer_numbers(c, &a);
}

void host_weights(HostCall *c) {
  const char *dir = host_path(c, "run"), *name = json_get_text(c->params, "name"), *error = "";
  const char *of = json_get_text(c->params, "of");
  Arrays all = {0};
  if (!dir) return;
  bool gradient = of && strcmp(of, "gradient") == 0;
  if (of && !gradient && strcmp(of, "value")) {
    host_refuse(c, "`of` is \"value\" or \"gradient\"");
    return;
  }
  if (!read_weights(c, dir, &all, &error)) {
    host_refuse(c, "the weights of %s cannot be read: %s", dir, error);
    return;
  }
  if (!name) {
    Limn *l;
    answer_names(c, &all, program_loaded(c, dir, &l));
    return;
  }
  const Array *weight = arrays_find(&all, name);
  if (weight && !gradient)
    answer_numbers(c, weight);
  else
    answer_computed(c, dir, name, &all, gradient);
}
