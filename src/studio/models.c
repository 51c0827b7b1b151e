// Models from elsewhere: uploads, and comparison of two models.
#define _DEFAULT_SOURCE
#include "base/files.h"
#include "base/json_write.h"
#include "base/within.h"
#include "studio/runs.h"

#include <stdlib.h>
#include <unistd.h>

// -- uploads --------------------------------------------------------------------------------------
static int letter_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Decodes base64 with padding. False: malformed.
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

// The first unused name of model.onnx, model-2.onnx, …; its program and weights must be unused too.
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
  const char *wrong = make_parent_folders(c, path);
  return wrong ? wrong : file_write_in(c->arena, c->studio->folder, path, bytes->at, bytes->n);
}

// Imports a model to a program next to it; NULL: refused.
static const char *import_model(HostCall *c, const char *path) {
  const char *program =
      arena_format(c->arena, "%.*s.limn", (int)(strlen(path) - strlen(".onnx")), path);
  Limn *l = host_handle(c);
  LimnImport how = {.size = sizeof how, .out = program};
  bool good = l && limn_import(l, path, &how) == LIMN_GOOD;
  if (!good)
    host_refuse(c, "%s is in the folder, but does not become a program: %s", path, first_error(l));
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
  host_answer(c, "path", path);
}

// -- two things side by side ----------------------------------------------------------------------
// The picture of the difference, by a temporary file; NULL: none.
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
    host_refuse(c, "%s", first_error(l));
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
