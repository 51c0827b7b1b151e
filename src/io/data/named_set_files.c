// The named sets on disk: mnist and similar, smiles and omniglot (idx files), cifar10, digits,
// shakespeare.
//
// Files are found in the set's folder, gzipped or not, and must have the known shapes, because
// programs were type-checked against them before anything was read.
#define _POSIX_C_SOURCE 200809L
#include "base/source.h"
#include "io/data/set_own.h"

#include <unistd.h>

// Reads a file that the program may read: links in the folder may lead elsewhere.
static bool view_allowed(Set *s, Arena *a, const char *path, View *out, const char **why) {
  const char *no = rights_refuse(s->arena, s->options.rights, path);
  return no ? file_error(s->arena, why, "cannot read %s: %s", path, no)
            : file_view(a, path, out, why);
}

// Reads a file of the folder, plain or gzipped.
static bool view_in(Set *s, const char *folder, const char *file, View *out, const char **why) {
  const char *plain = arena_format(s->arena, "%s/%s", folder, file);
  const char *packed = arena_format(s->arena, "%s.gz", plain);
  const char *path = access(plain, R_OK) == 0 ? plain : packed;
  if (access(path, R_OK) == 0) return view_allowed(s, s->arena, path, out, why);
  return file_error(s->arena, why, "set %s: %s has no file %s, nor %s.gz", s->name, folder, file,
                    file);
}

static bool file_wrong(Set *s, const char *folder, const char *file, const Raw *x, const char *want,
                       const char **why) {
  return file_error(s->arena, why, "set %s: %s/%s has %s, where %s was wanted", s->name, folder,
                    file, raw_type(s->arena, x), want);
}

// -- idx ------------------------------------------------------------------------------------------
static bool idx_in(Set *s, const char *folder, const char *file, Raw *x, const char **why) {
  View v;
  return view_in(s, folder, file, &v, why) &&
         (idx_look(s->arena, v.at, v.n, x, why) ||
          file_error(s->arena, why, "set %s: %s/%s: %s", s->name, folder, file, *why));
}

static bool images_in(Set *s, const char *folder, const char *file, const Field *f, Raw *x,
                      const char **why) {
  if (!idx_in(s, folder, file, x, why)) return false;
  if (x->rank == 3 && x->kind == EL_U8 && x->shape[1] == f->shape[0] && x->shape[2] == f->shape[1])
    return true;
  const char *want = arena_format(s->arena, "bytes of n×%lld×%lld", (long long)f->shape[0],
                                  (long long)f->shape[1]);
  return file_wrong(s, folder, file, x, want, why);
}

static bool labels_in(Set *s, const char *folder, const char *file, int64_t rows, int64_t labels,
                      Column *out, const char **why) {
  Raw x;
  if (!idx_in(s, folder, file, &x, why)) return false;
  if (x.rank != 1 || x.shape[0] != rows)
    return file_wrong(s, folder, file, &x, arena_format(s->arena, "%lld labels", (long long)rows),
                      why);
  *out = column_of(&x);
  int64_t row, most = column_largest(out, rows, &row);
  if (most >= 0 && most < labels) return true;
  return file_error(s->arena, why, "set %s: %s/%s has labels that are not below %lld", s->name,
                    folder, file, (long long)labels);
}

typedef struct {
  const char *images, *labels; // files
} FilePair;

// Opens pairs of files for training and testing, or one pair for both.
static bool open_pairs(Set *s, const char *folder, const FilePair pair[2], const char **why) {
  Field image, label;
  Column pixel[SPLITS] = {{0}}, name[SPLITS] = {{0}};
  int64_t rows[2] = {0};
  set_known_field(s->name, 0, &image);
  set_known_field(s->name, 1, &label);
  for (uint32_t i = 0; i < 2 && pair[i].images; i++) {
    Split block = i ? SPLIT_TEST : SPLIT_TRAIN;
    Raw x;
    if (!images_in(s, folder, pair[i].images, &image, &x, why)) return false;
    pixel[block] = column_of(&x);
    pixel[block].picture = true;
    rows[i] = x.shape[0];
    if (!labels_in(s, folder, pair[i].labels, rows[i], label.labels, &name[block], why))
      return false;
  }
  set_add(s, &image, pixel);
  set_add(s, &label, name);
  if (pair[1].images)
    set_cut_given(s, rows[0], 0, rows[1]);
  else
    set_cut_hash(s, rows[0], 10, true);
  s->summary =
      arena_format(s->arena, "%s %s, %s %s, from %s", image.name, field_type(s->arena, &image),
                   label.name, field_type(s->arena, &label), folder);
  return true;
}

// -- cifar10 --------------------------------------------------------------------------------------
enum {
  CIFAR_ROWS = 10000,
  CIFAR_PIXELS = 32 * 32,
  CIFAR_BYTES = 3 * CIFAR_PIXELS,
  CIFAR_FILES = 6
};

const char *const cifar_words[CIFAR_WORDS] = {"airplane", "automobile", "bird",  "cat",  "deer",
                                              "dog",      "frog",       "horse", "ship", "truck"};

// Reads a picture with 10 000 rows, each with the pixels of one image.
static bool read_cifar_png(Set *s, const char *folder, const char *file, uint8_t *to,
                           const char **why) {
  Arena *scratch = arena_child(s->arena);
  const char *path = arena_format(scratch, "%s/%s.png", folder, file);
  View v;
  Picture p;
  bool good =
      view_allowed(s, scratch, path, &v, why) && png_read_bytes(scratch, v.at, v.n, &p, why);
  if (good && (p.width != CIFAR_PIXELS || p.height != CIFAR_ROWS || p.channels != 3))
    good = file_error(s->arena, why, "it is not a picture of 1024×10000 colours");
  if (good) memcpy(to, p.at, (size_t)CIFAR_ROWS * CIFAR_BYTES);
  if (!good) file_error(s->arena, why, "set cifar10: %s: %s", path, *why);
  arena_free(scratch);
  return good;
}

static bool read_cifar_labels(Set *s, const char *folder, const char *file, int64_t n, uint8_t *to,
                              const char **why) {
  View v;
  if (!view_in(s, folder, file, &v, why)) return false;
  const Json *list = json_read(s->arena, (const char *)v.at, v.n, why);
  bool good = list && list->kind == JSON_LIST && list->n == n;
  for (const Json *item = good ? json_items(list) : NULL; good && item;
       item = json_after(list, item)) {
    good = item->kind == JSON_NUMBER && item->natural && item->number < 10;
    if (good) *to++ = (uint8_t)item->number;
  }
  return good ||
         file_error(s->arena, why, "set cifar10: %s/%s is not a list of %lld labels below 10",
                    folder, file, (long long)n);
}

// Reads the binary form: a label, then the planes red, green, blue. They are converted to
// interleaved pixels.
static bool read_cifar_bin(Set *s, const char *folder, const char *file, uint8_t *to,
                           uint8_t *label, const char **why) {
  View v;
  if (!view_in(s, folder, arena_format(s->arena, "%s.bin", file), &v, why)) return false;
  if (v.n != (size_t)CIFAR_ROWS * (1 + CIFAR_BYTES))
    return file_error(s->arena, why, "set cifar10: %s/%s.bin has %zu bytes, where %zu were wanted",
                      folder, file, v.n, (size_t)CIFAR_ROWS * (1 + CIFAR_BYTES));
  for (int64_t r = 0; r < CIFAR_ROWS; r++) {
    const uint8_t *from = v.at + r * (1 + CIFAR_BYTES);
    if (from[0] > 9)
      return file_error(s->arena, why, "set cifar10: %s/%s.bin has a label beyond 9", folder, file);
    label[r] = from[0];
    for (int64_t k = 0; k < CIFAR_PIXELS; k++)
      for (int64_t c = 0; c < 3; c++)
        to[r * CIFAR_BYTES + 3 * k + c] = from[1 + c * CIFAR_PIXELS + k];
  }
  return true;
}

static bool open_cifar(Set *s, const char *folder, const char **why) {
  const size_t block = (size_t)CIFAR_ROWS * CIFAR_BYTES;
  bool png = access(arena_format(s->arena, "%s/test_batch.png", folder), R_OK) == 0;
  uint8_t *pixels = arena_alloc(s->arena, CIFAR_FILES * block);
  uint8_t *label = arena_alloc(s->arena, CIFAR_FILES * CIFAR_ROWS), *test = label + 5 * CIFAR_ROWS;
  for (uint32_t i = 0; i < CIFAR_FILES; i++) {
    const char *file = i < 5 ? arena_format(s->arena, "data_batch_%u", i + 1) : "test_batch";
    if (!(png ? read_cifar_png(s, folder, file, pixels + i * block, why)
              : read_cifar_bin(s, folder, file, pixels + i * block, label + i * CIFAR_ROWS, why)))
      return false;
  }
  if (png && !(read_cifar_labels(s, folder, "train_lables.json", 5 * CIFAR_ROWS, label, why) &&
               read_cifar_labels(s, folder, "test_lables.json", CIFAR_ROWS, test, why)))
    return false;
  Column pixel[SPLITS], name[SPLITS];
  for (uint32_t b = 0; b < SPLITS; b++) {
    pixel[b] = column_new(b == SPLIT_TEST ? pixels + 5 * block : pixels, CIFAR_BYTES, EL_U8);
    pixel[b].picture = true;
    name[b] = column_new(b == SPLIT_TEST ? test : label, 1, EL_U8);
  }
  set_add(s, &(Field){.name = "image", .rank = 3, .shape = {32, 32, 3}}, pixel);
  set_add(s, &(Field){.name = "label", .kind = FIELD_LABEL, .labels = 10, .label = cifar_words},
          name);
  set_cut_given(s, 5 * CIFAR_ROWS, 0, CIFAR_ROWS);
  s->summary = arena_format(s->arena, "image R[32 32 3], label {10}, from %s", folder);
  return true;
}

// -- digits and shakespeare -----------------------------------------------------------------------
static bool open_digits(Set *s, const char *folder, const char **why) {
  enum { PIXELS = 64 };
  View v;
  Csv t;
  if (!view_in(s, folder, "digits.csv", &v, why)) return false;
  if (!csv_read_bytes(s->arena, (const char *)v.at, v.n, &t, why))
    return file_error(s->arena, why, "set digits: %s/digits.csv: %s", folder, *why);
  if (t.columns != PIXELS + 1)
    return file_error(s->arena, why,
                      "set digits: %s/digits.csv has %u columns, where 65 were wanted", folder,
                      t.columns);
  set_cut_hash(s, t.rows, 10, true);
  int64_t *order = set_order(s, t.rows);
  float *pixel = NEW_ARRAY(s->arena, float, t.rows *PIXELS);
  uint8_t *label = arena_alloc(s->arena, (size_t)t.rows);
  for (int64_t r = 0; r < t.rows; r++)
    for (uint32_t k = 0; k <= PIXELS; k++) {
      double x = t.column[k].number ? t.column[k].value[order[r]] : -1;
      if (!(x >= 0 && x <= (k < PIXELS ? 16 : 9)) || x != (double)(int)x)
        return file_error(
            s->arena, why,
            "set digits: %s/digits.csv: row %lld is not 64 pixels from 0 to 16 and a label", folder,
            (long long)order[r] + 1);
      if (k < PIXELS)
        pixel[r * PIXELS + k] = (float)x / 16;
      else
        label[r] = (uint8_t)x;
    }
  Column pixels = column_new(pixel, PIXELS, EL_F32), name = column_new(label, 1, EL_U8);
  set_add_one(s, &(Field){.name = "image", .rank = 2, .shape = {8, 8}}, pixels);
  set_add_one(s, &(Field){.name = "label", .kind = FIELD_LABEL, .labels = 10}, name);
  s->summary = arena_format(s->arena, "image R[8 8], label {10}, from %s", folder);
  return true;
}

static bool open_shakespeare(Set *s, const char *folder, const char **why) {
  View v;
  if (!view_in(s, folder, "input.txt", &v, why)) return false;
  if (!open_text(s, arena_format(s->arena, "%s/input.txt", folder), v, why)) return false;
  if (s->field.at[0].labels == 65 || s->options.pieces) return true;
  return file_error(s->arena, why,
                    "set shakespeare: %s/input.txt has %lld different characters, where "
                    "65 were wanted",
                    folder, (long long)s->field.at[0].labels);
}

bool open_named(Set *s, const char *folder, const char **why) {
  static const FilePair mnist[2] = {{"train-images-idx3-ubyte", "train-labels-idx1-ubyte"},
                                    {"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}};
  static const FilePair smiles[2] = {{"smiles32-images-idx3-ubyte", "smiles32-labels-idx1-ubyte"}};
  static const FilePair omniglot[2] = {
      {"omniglot28-background-images-idx3-ubyte", "omniglot28-background-labels-idx1-ushort"},
      {"omniglot28-evaluation-images-idx3-ubyte", "omniglot28-evaluation-labels-idx1-ushort"}};
  if (strcmp(s->name, "cifar10") == 0) return open_cifar(s, folder, why);
  if (strcmp(s->name, "digits") == 0) return open_digits(s, folder, why);
  if (strcmp(s->name, "shakespeare") == 0) return open_shakespeare(s, folder, why);
  return open_pairs(s, folder,
                    strcmp(s->name, "smiles") == 0     ? smiles
                    : strcmp(s->name, "omniglot") == 0 ? omniglot
                                                       : mnist,
                    why);
}
