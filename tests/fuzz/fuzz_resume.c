// A run that was stopped, gone on with from a folder in which anything may have been changed: a
// message, or a run that ends. An input is files, as folder.h has it, and lines that change the state:
//
//   == state
//   step=18446744073709551615      what is noted there
//   -f/dense/w                     an array or a note is missing
//   !f/dense/w                     an array has another shape
//   ~f/dense/w                     an array is not finite
#define _XOPEN_SOURCE 700
#include "folder.h"
#include "io/bytes/bytes.h"
#include "limn.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char program[] = "given x from normal[2]\n"
                              "learn f : R[2] -> R[2] = dense[2] ; batch_norm\n"
                              "stale old = f by 0.9\n"
                              "goal near : f(x) ~ x + old(x) by l2\n"
                              "measure far : f(x) ~ x by l2\n"
                              "train 4 steps, batch 2, adam(0.1)\n"
                              "train 2 steps, batch 2, momentum(0.1, 0.9)\n";
static const char *const names[] = {"run.json", "metrics.csv", "model.safetensors"};
enum { NAMES = sizeof names / sizeof names[0], KEPT_BYTES = 1 << 14 };
typedef struct {
  char text[KEPT_BYTES];
  size_t n;
} Kept;

static Limn *loaded; // of this process, with a folder of its own
static Kept kept[NAMES], state;

static void keep(const char *folder, const char *name, Kept *k) {
  char path[1200];
  snprintf(path, sizeof path, "%s/run/%s", folder, name);
  FILE *f = fopen(path, "rb");
  must(f != NULL);
  k->n = fread(k->text, 1, KEPT_BYTES, f);
  must(k->n < KEPT_BYTES);
  fclose(f);
}

// A run of which some steps are made.
static void begin(const char *folder) {
  char path[1200];
  snprintf(path, sizeof path, "%s/run", folder);
  loaded = limn_new();
  must(loaded && !limn_load_text(loaded, "run.limn", program, sizeof program - 1));
  LimnTrain how = {.size = sizeof how, .out = path, .pause = 3, .threads = 1, .quiet = true};
  how.plain = true;
  must(!limn_train(loaded, &how));
  for (uint32_t i = 0; i < NAMES; i++) keep(folder, names[i], &kept[i]);
  keep(folder, "state.safetensors", &state);
}

static void change_array(Arena *a, Array *x, char how) {
  if (how == '~' && x->count && x->kind <= EL_F16) x->data[0] = 1e308 * 10;
  if (how != '!') return;
  x->rank = 1;
  x->shape = NEW_ARRAY(a, int64_t, 1);
  x->shape[0] = x->count = x->count / 2;
}

static void change(Arena *a, Arrays *all, const char *line, size_t n) {
  const char *is = memchr(line, '=', n);
  uint32_t left = 0;
  const char *name = n ? arena_text(a, line + 1, n - 1) : "";
  if (is) {
    const char *key = arena_text(a, line, (size_t)(is - line));
    const char *value = arena_text(a, is + 1, n - (size_t)(is - line) - 1);
    for (uint32_t i = 0; i < all->metadata.n; i++)
      if (strcmp(all->metadata.at[i].key, key) == 0) all->metadata.at[i].value = value;
    return;
  }
  for (uint32_t i = 0; i < all->array.n; i++) {
    bool it = strcmp(all->array.at[i].name, name) == 0;
    if (it) change_array(a, &all->array.at[i], line[0]);
    if (!it || line[0] != '-') all->array.at[left++] = all->array.at[i];
  }
  all->array.n = left;
  left = 0;
  for (uint32_t i = 0; i < all->metadata.n; i++)
    if (line[0] != '-' || strcmp(all->metadata.at[i].key, name) != 0)
      all->metadata.at[left++] = all->metadata.at[i];
  all->metadata.n = left;
}

// The lines of == state, wherever they are.
static void put_state(const char *path, const char *text, size_t n) {
  Arena *a = arena_new();
  Arrays all = {0};
  const char *error;
  must(a && safetensors_read_bytes(a, state.text, state.n, &all, &error));
  const char *begin_at = strstr(arena_text(a, text, n), "== state\n");
  for (const char *at = begin_at ? strchr(begin_at, '\n') + 1 : ""; *at && strncmp(at, "== ", 3);) {
    size_t length = strcspn(at, "\n");
    change(a, &all, at, length);
    at += length + (at[length] == '\n');
  }
  if (!safetensors_write(a, path, &all, &error)) put_file(path, "", 0);
  arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *folder = own_folder();
  char path[1200], run[1100];
  if (!loaded) begin(folder);
  snprintf(run, sizeof run, "%s/run", folder);
  put_parts(run, (const char *)bytes, n, names, NAMES);
  for (uint32_t i = 0; i < NAMES; i++) {
    snprintf(path, sizeof path, "%s/%s", run, names[i]);
    if (access(path, F_OK) != 0) put_file(path, kept[i].text, kept[i].n);
  }
  snprintf(path, sizeof path, "%s/state.safetensors", run);
  put_state(path, (const char *)bytes, n);
  LimnTrain how = {.size = sizeof how, .resume = run, .threads = 1, .quiet = true, .plain = true};
  LimnStatus status = limn_train(loaded, &how);
  must(!status || limn_errors(loaded));
  limn_forget(loaded);
  return 0;
}
