// What others made: models that are dropped on the page, the weights of a run, two things side by side.
#define _DEFAULT_SOURCE
#include "base/within.h"
#include "studio/runs.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MODEL_LIMIT = 1 << 30, BINS = 48, SIDE_MOST = 32 };

// -- uploads --------------------------------------------------------------------------------------
static int letter_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Base 64, with its padding. False: it is none.
static bool read_base64(Arena *a, const Json *text, Bytes *out) {
  if (!text || text->kind != JSON_TEXT || text->n % 4) return false;
  size_t n = text->n, end = n;
  while (end && n - end < 2 && text->text[end - 1] == '=') end--;
  out->at = arena_alloc(a, n / 4 * 3 + 1);
  out->n = 0;
  uint32_t bits = 0, held = 0;
  for (size_t i = 0; i < end; i++) {
    int x = letter_value(text->text[i]);
    if (x < 0) return false;
    held = held << 6 | (uint32_t)x;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out->at[out->n++] = (uint8_t)(held >> bits);
  }
  return true;
}

static bool is_taken(HostCall *c, const char *path) {
  return path_exists(arena_format(c->arena, "%s/%s", c->studio->folder, path));
}

// model.onnx, model-2.onnx …: one that is free, and its program and weights too.
static const char *free_name(HostCall *c, const char *name) {
  Arena *a = c->arena;
  const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
  if (!dot || (slash && dot < slash)) dot = name + strlen(name);
  for (uint32_t k = 1; k < 10000; k++) {
    const char *stem = k > 1 ? arena_format(a, "%.*s-%u", (int)(dot - name), name, k)
                             : arena_format(a, "%.*s", (int)(dot - name), name);
    const char *path = arena_format(a, "%s%s", stem, dot);
    bool model = strcmp(dot, ".onnx") == 0;
    if (is_taken(c, path)) continue;
    if (!model || (!is_taken(c, arena_format(a, "%s.limn", stem)) &&
                   !is_taken(c, arena_format(a, "%s.safetensors", stem))))
      return path;
  }
  return name;
}

static const char *put_upload(HostCall *c, const char *path, const Bytes *bytes) {
  const char *slash = strrchr(path, '/'), *folder = c->studio->folder;
  const char *wrong = NULL;
  if (slash)
    wrong = folder_make_in(c->arena, folder, arena_text(c->arena, path, (size_t)(slash - path)));
  return wrong ? wrong : file_write_in(c->arena, folder, path, bytes->at, bytes->n);
}

static const char *last_error(Limn *l) {
  LimnMessage m = {.size = sizeof m};
  for (uint32_t i = 0; l && i < limn_message_count(l); i++)
    if (limn_message(l, i, &m) == LIMN_GOOD && m.severity == LIMN_ERROR) return m.text;
  return "memory is exhausted";
}

// The program beside a model; NULL: it was refused.
static const char *import_model(HostCall *c, const char *path) {
  const char *program =
      arena_format(c->arena, "%.*s.limn", (int)(strlen(path) - strlen(".onnx")), path);
  Limn *l = host_handle(c);
  LimnImport how = {.size = sizeof how, .out = program};
  bool good = l && limn_import(l, path, &how) == LIMN_GOOD;
  if (!good)
    host_refuse(c, "%s is in the folder, but does not become a program: %s", path, last_error(l));
  return good ? program : NULL;
}

void host_upload(HostCall *c) {
  const char *name = host_path(c, "name");
  Bytes bytes;
  if (!name) return;
  if (!read_base64(c->arena, json_get(c->params, "data"), &bytes)) {
    host_refuse(c, "`data` is wanted: the bytes of %s in base 64", name);
    return;
  }
  disk_lock(c);
  const char *path = free_name(c, name), *wrong = put_upload(c, path, &bytes);
  if (wrong) host_refuse(c, "cannot write %s: %s", path, wrong);
  disk_unlock(c);
  if (wrong) return;
  if (text_ends(path, ".onnx")) path = import_model(c, path);
  if (!path) return;
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_text(&j, "path", path);
  json_end(&j);
  host_done(c);
}

// -- the weights of a run -------------------------------------------------------------------------
// Of its model, or where there is none yet, of the state that was last saved.
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

static void add_shape(JsonOut *j, const Array *x) {
  json_list(j, "shape");
  for (uint32_t i = 0; i < x->rank; i++) json_number(j, NULL, (double)x->shape[i]);
  json_end(j);
}

static void answer_names(HostCall *c, const Arrays *all) {
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

// The mean of the numbers that a cell of the picture stands for; rows are the first axis.
static double cell_mean(const Array *x, int64_t rows, int64_t columns, const int64_t at[4]) {
  double sum = 0, n = 0;
  for (int64_t r = at[0]; r < at[1] && r < rows; r++)
    for (int64_t k = at[2]; k < at[3] && k < columns; k++) sum += x->data[r * columns + k], n++;
  return n > 0 ? sum / n : 0;
}

// Below 0 blue, above it red, 0 white.
static void add_cell(Buf *b, int64_t column, int64_t row, double share) {
  double away = fabs(share) < 1 ? fabs(share) : 1;
  int light = (int)(255 - 175 * away), full = (int)(255 - 45 * away);
  buf_printf(
      b, "<rect x=\"%lld\" y=\"%lld\" width=\"1.02\" height=\"1.02\" fill=\"#%02x%02x%02x\"/>",
      (long long)column, (long long)row, share < 0 ? light : full, light, share < 0 ? full : light);
}

static const char *weight_picture(Arena *a, const Array *x, double most) {
  int64_t rows = x->rank ? x->shape[0] : 1, columns = rows ? x->count / rows : 0;
  if (x->rank < 2) columns = x->count, rows = 1;
  if (!x->count || !isfinite(most)) return NULL;
  int64_t high = rows < SIDE_MOST ? rows : SIDE_MOST;
  int64_t wide = columns < SIDE_MOST * 2 ? columns : SIDE_MOST * 2;
  Buf b = buf_new(a);
  buf_printf(&b,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %lld %lld\" width=\"%lld\" "
             "height=\"%lld\" role=\"img\">",
             (long long)wide, (long long)high, (long long)wide * 8, (long long)high * 8);
  for (int64_t r = 0; r < high; r++)
    for (int64_t k = 0; k < wide; k++) {
      const int64_t at[4] = {r * rows / high, (r + 1) * rows / high, k * columns / wide,
                             (k + 1) * columns / wide};
      double mean = cell_mean(x, rows, columns, at);
      add_cell(&b, k, r, most > 0 && isfinite(mean) ? mean / most : 0);
    }
  buf_text(&b, "</svg>");
  return b.at;
}

static void answer_weight(HostCall *c, const Array *x) {
  double least, most;
  range_of(x, &least, &most);
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_text(&j, "name", x->name);
  add_shape(&j, x);
  json_number(&j, "least", least);
  json_number(&j, "most", most);
  add_histogram(&j, x, least, most);
  json_text_or_null(&j, "picture", weight_picture(c->arena, x, fmax(fabs(least), fabs(most))));
  json_end(&j);
  host_done(c);
}

void host_weights(HostCall *c) {
  const char *dir = host_path(c, "run"), *name = host_text(c, "name"), *error = "";
  Arrays all = {0};
  if (!dir) return;
  if (!read_weights(c, dir, &all, &error)) {
    host_refuse(c, "the weights of %s cannot be read: %s", dir, error);
    return;
  }
  if (!name) {
    answer_names(c, &all);
    return;
  }
  for (uint32_t i = 0; i < all.array.n; i++)
    if (strcmp(all.array.at[i].name, name) == 0) {
      answer_weight(c, &all.array.at[i]);
      return;
    }
  host_refuse(c, "there is no weight `%s` in %s", text_shown(c->arena, name, strlen(name)), dir);
}

// -- two things side by side ----------------------------------------------------------------------
// The picture, by a file that goes again; NULL: there is none.
static const char *diff_picture(HostCall *c, Limn *l, const char *a, const char *b) {
  const char *error, *text, *folder = cache_folder(c->arena, NULL, &error);
  if (!folder) return NULL;
  const char *out =
      arena_format(c->arena, "%s/studio-%ld-%s.svg", folder, (long)getpid(), c->session->name);
  LimnDiff how = {.size = sizeof how, .out = out, .theme = "auto"};
  LimnStatus status = limn_diff(l, a, b, &how, &text);
  FileText f = status <= LIMN_WRONG ? file_read(c->arena, out, 64 << 20) : (FileText){0};
  unlink(out);
  return f.text;
}

void host_diff(HostCall *c) {
  const char *a = host_path(c, "a"), *b = a ? host_path(c, "b") : NULL, *text = NULL;
  if (!b) return;
  bool same = false;
  LimnDiff how = {.size = sizeof how, .json = true, .same = &same};
  Limn *l = host_handle(c);
  if (!l || limn_diff(l, a, b, &how, &text) != LIMN_GOOD || !text) {
    host_refuse(c, "%s", last_error(l));
    return;
  }
  JsonOut j = host_result(c);
  json_object(&j, NULL);
  json_bool(&j, "same", same);
  json_key(&j, "diff");
  buf_text(c->out, text);
  json_text_or_null(&j, "picture", diff_picture(c, l, a, b));
  json_end(&j);
  host_done(c);
}
