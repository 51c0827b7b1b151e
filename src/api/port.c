// Import of ONNX models.
#include "api/api_own.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/number.h"
#include "port/import/import.h"

// The weights file of a program: model.safetensors next to model.limn.
static const char *weights_beside(Arena *a, const char *out, const char **name) {
  path_folder(a, out, name);
  const char *dot = strrchr(*name, '.');
  size_t n = dot && dot > *name ? (size_t)(dot - *name) : strlen(*name);
  *name = arena_format(a, "%.*s.safetensors", (int)n, *name);
  return path_join(a, out, *name);
}

static bool read_given(ApiCall *c, const LimnImport *how, Arrays *out, const char **why) {
  for (uint32_t i = 0; i < how->nin; i++) {
    const LimnInput *in = &how->in[i];
    const char *value = in->value ? in->value : "";
    Array x;
    bool good = in->array                  ? array_from_memory(c->scratch, in->array, &x, why)
                : text_ends(value, ".npy") ? npy_read(c->scratch, value, &x, why)
                                           : array_parse(c->scratch, value, &x, why);
    if (!good) return false;
    x.name = in->name ? in->name : "";
    vec_push(c->scratch, &out->array, x);
  }
  return true;
}

// Sizes given by limn_set.
static bool read_sizes(ApiCall *c, ImportOptions *out) {
  const ApiSettings *all = &c->l->setting;
  ImportSize *size = NEW_ARRAY(c->scratch, ImportSize, all->n + 1);
  for (uint32_t i = 0; i < all->n; i++) {
    const char *end;
    double x = number_read(all->at[i].value, &end);
    if (*end || end == all->at[i].value || !(x >= 1 && x <= 0x1p53) || x != (double)(int64_t)x)
      return diag_refuse(c->l->diags, (Span){0},
                         "`--set %s=%s`: a size is a whole number from 1 to %lld", all->at[i].name,
                         all->at[i].value, 1LL << 53);
    size[i] = (ImportSize){all->at[i].name, (int64_t)x};
  }
  out->size = size, out->sizes = all->n;
  return true;
}

// Checks the imported program before writing it: errors in it come from an inconsistent model.
static LimnStatus check_imported(ApiCall *c, const char *path, const Imported *made) {
  Limn *l = limn_new();
  LimnMessage said = {.size = sizeof said};
  LimnStatus status = l ? limn_load_text(l, path, made->text, strlen(made->text)) : LIMN_SYSTEM;
  if (status == LIMN_WRONG && limn_message(l, 0, &said) == LIMN_GOOD) {
    uint32_t at = said.line > made->before ? said.line - made->before - 1 : UINT32_MAX;
    const char *node = at < made->node.n ? made->node.at[at] : NULL;
    diag_error(c->l->diags, (Span){0}, "%s: what it makes does not hold together: %s",
               node ? node : "the model", said.text);
  }
  limn_free(l);
  return status;
}

static LimnStatus import(ApiCall *c, const char *path, const LimnImport *how) {
  Arena *a = c->scratch;
  const char *name, *why, *file = weights_beside(a, how->out, &name);
  ImportOptions options = {.path = path, .weights = name, .flat = how->flat};
  options.learned = how->learned, options.fixed = how->fixed;
  Imported made;
  Arrays given = {0};
  if (!read_given(c, how, &given, &why)) return call_fail(c, LIMN_WRONG, "%s", why);
  options.given = &given;
  if (!read_sizes(c, &options)) return LIMN_WRONG;
  if (!import_onnx(a, c->l->diags, &options, &made)) return LIMN_WRONG;
  bool kept = made.weights.array.n;
  // weights next to an existing program belong to that program
  if (kept && path_exists(file) && !path_exists(how->out)) {
    diag_error(c->l->diags, (Span){0},
               "%s is there already, and no %s that it belongs to: weights would be written over",
               file, how->out);
    diag_help(c->l->diags, c->l->diags->list.n - 1, "`--out` gives the program another name");
    return LIMN_WRONG;
  }
  bool good = !kept || safetensors_write(a, file, &made.weights, &why);
  LimnStatus looked = good ? check_imported(c, how->out, &made) : LIMN_GOOD;
  if (looked && kept) remove(file);
  if (looked) return looked;
  if (good) good = file_put(a, how->out, made.text, strlen(made.text), &why);
  if (!good) diag_error(c->l->diags, (Span){0}, "%s", why);
  return good ? LIMN_GOOD : LIMN_SYSTEM;
}

LimnStatus limn_import(Limn *l, const char *path, const LimnImport *options) {
  LimnImport how;
  ENTER(c, l, ANSWER_IMPORT, NEEDS_NOTHING, LIMN_USAGE, LIMN_SYSTEM);
  if (!OPTIONS(c, &how, options)) return call_end(c, LIMN_USAGE);
  if (!path || !how.out)
    return call_end(c, call_misuse(c, "limn_import wants a model and a file for the program"));
  if (text_ends(how.out, ".safetensors"))
    return call_end(c, call_misuse(c,
                                   "%s is where the weights would be: the program wants a file of "
                                   "its own, as NAME.limn",
                                   how.out));
  const char *name;
  CallFiles files = {.arena = c->scratch};
  files_read(&files, path);
  files_read_inputs(&files, how.in, how.nin);
  files_write(&files, how.out);
  files_write(&files, weights_beside(c->scratch, how.out, &name));
  if (!files_apart(c, &files)) return call_end(c, LIMN_USAGE);
  return call_end(c, import(c, path, &how));
}
