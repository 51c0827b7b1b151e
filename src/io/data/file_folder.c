// A folder of pictures: each file is a row, each sub-folder a label.
//
//   faces/happy/1.png faces/happy/2.png faces/sad/1.png      image and label {2}: happy, sad
//   walls/a.png walls/b.png                                   image only
//   digits/train/0/… digits/test/0/…                          splits, if sub-folders have these names
//
// Opening reads only the sizes in the headers, which must be equal. Pixels are read on demand into
// a bounded direct-mapped cache: row r has slot r mod places.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "base/hash.h"
#include "base/source.h"
#include "io/data/set_own.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_BYTES = 256 << 20, HEADER = 33 };

typedef struct {
  const char *path;
  int32_t label;
} File;

typedef struct {
  VEC(File) file[SPLITS];
  FolderNames label;
  bool labelled; // the folder has sub-folders
  Picture like;  // the common size
  size_t bytes;  // bytes of one picture
  pthread_mutex_t lock;
  uint64_t sum;         // of the files
  int64_t places, *row; // [places] the row in each slot, numbered over all splits; -1 = none
  uint8_t *pixels;      // [places bytes]
  char message[512];
} ImageFolder;

// -- listing files --------------------------------------------------------------------------------
static bool list_folder(Arena *a, const char *path, FolderNames *out, const char **why) {
  *out = (FolderNames){0};
  const char *error = folder_names(a, path, out);
  return !error || file_error(a, why, "cannot read %s: %s", path, error);
}

// The contents of a permitted folder are permitted, except links to elsewhere.
static bool is_refused_link(Set *s, const char *path, const char **why) {
  struct stat info;
  if (!s->options.rights || lstat(path, &info) != 0 || !S_ISLNK(info.st_mode)) return false;
  const char *no = rights_refuse(s->arena, s->options.rights, path);
  if (no) file_error(s->arena, why, "cannot read %s: %s", path, no);
  return no;
}

static bool has_end(const char *name, const char *const *ends, uint32_t n) {
  const char *dot = strrchr(name, '.');
  for (uint32_t i = 0; dot && i < n; i++)
    if (strcmp(dot, ends[i]) == 0) return true;
  return false;
}

static bool add_files(Set *s, ImageFolder *f, Split split, const char *path, int32_t label,
                      const char **why) {
  static const char *const read[] = {".png", ".PNG"};
  static const char *const other[] = {".jpg", ".jpeg", ".JPG",  ".JPEG",
                                      ".gif", ".bmp",  ".webp", ".tif"};
  FolderNames names;
  if (!list_folder(s->arena, path, &names, why)) return false;
  for (uint32_t i = 0; i < names.n; i++) {
    const char *file = arena_format(s->arena, "%s/%s", path, names.at[i]);
    if (has_end(file, other, COUNT(other)))
      return file_error(s->arena, why, "%s: only png pictures are read", file);
    if (is_refused_link(s, file, why)) return false;
    if (has_end(file, read, COUNT(read))) vec_push(s->arena, &f->file[split], (File){file, label});
  }
  return true;
}

static int32_t label_number(const ImageFolder *f, const char *name) {
  for (uint32_t i = 0; i < f->label.n; i++)
    if (strcmp(f->label.at[i], name) == 0) return (int32_t)i;
  return -1;
}

// Determines whether a path is a folder. False if that is impossible: the set would silently be
// incomplete.
static bool check_folder(Set *s, const char *path, bool *folder, const char **why) {
  struct stat info;
  bool there = stat(path, &info) == 0;
  *folder = there && S_ISDIR(info.st_mode);
  return there || errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
         file_error(s->arena, why, "cannot determine whether %s is a folder: %s", path,
                    os_error(s->arena, errno));
}

// Adds the pictures of one split: in sub-folders, whose names are labels, or in the folder itself.
static bool add_split(Set *s, ImageFolder *f, Split split, const char *path, const char **why) {
  FolderNames names;
  if (!list_folder(s->arena, path, &names, why)) return false;
  bool first = split == SPLIT_TRAIN, any = false, folder;
  for (uint32_t i = 0; i < names.n; i++) {
    const char *inner = arena_format(s->arena, "%s/%s", path, names.at[i]);
    if (!check_folder(s, inner, &folder, why)) return false;
    if (!folder) continue;
    if (is_refused_link(s, inner, why)) return false;
    any = true;
    if (first) vec_push(s->arena, &f->label, names.at[i]);
    int32_t label = label_number(f, names.at[i]);
    if (label < 0)
      return file_error(s->arena, why, "%s is a label that the pictures for training do not have",
                        inner);
    if (!add_files(s, f, split, inner, label, why)) return false;
  }
  if (first) f->labelled = any;
  if (f->labelled) return true;
  return add_files(s, f, split, path, 0, why);
}

// *given: all sub-folders are called train, valid or test, and there is one for training.
static bool find_splits(Set *s, const char *path, const FolderNames *names, bool *given,
                        const char **why) {
  bool train = false, folder;
  *given = false;
  for (uint32_t i = 0; i < names->n; i++) {
    const char *name = names->at[i];
    const char *inner = arena_format(s->arena, "%s/%s", path, name);
    if (!check_folder(s, inner, &folder, why)) return false;
    if (!folder) continue;
    if (strcmp(name, "train") && strcmp(name, "valid") && strcmp(name, "test")) return true;
    train |= strcmp(name, "train") == 0;
  }
  *given = train;
  return true;
}

static bool find_files(Set *s, ImageFolder *f, const char *path, bool *given, const char **why) {
  FolderNames names;
  if (!list_folder(s->arena, path, &names, why)) return false;
  if (!find_splits(s, path, &names, given, why)) return false;
  if (!*given) return add_split(s, f, SPLIT_TRAIN, path, why);
  for (Split split = 0; split < SPLITS; split++) {
    const char *inner = arena_format(s->arena, "%s/%s", path, split_word[split]);
    bool folder;
    if (!check_folder(s, inner, &folder, why)) return false;
    if (!folder) continue;
    if (is_refused_link(s, inner, why) || !add_split(s, f, split, inner, why)) return false;
  }
  return true;
}

// -- sizes ----------------------------------------------------------------------------------------
// False if a file of this size cannot contain the picture of its header, because memory is
// allocated before pixels are read. A pixel has at least one bit, and deflate has a ratio of at
// most 1032.
static bool is_plausible_size(const Picture *p, uint64_t bytes) {
  uint64_t pixels = (uint64_t)p->width * p->height;
  return pixels / 8 <= 1032 * bytes && pixels <= unpack_limit((size_t)bytes) / p->channels;
}

// Adds the name of a file, its size and its last bytes to a checksum: a png ends with the checksum
// of its pixels.
static uint64_t sum_file(uint64_t sum, const char *path, int fd, int64_t bytes) {
  enum { TAIL = 16 };
  uint8_t tail[TAIL] = {0};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (bytes >= TAIL && pread(fd, tail, TAIL, (off_t)bytes - TAIL) != TAIL) memset(tail, 0, TAIL);
  sum = hash_bytes(hash_bytes(sum, name, strlen(name)), &bytes, sizeof bytes);
  return hash_bytes(sum, tail, TAIL);
}

static bool read_picture_size(Arena *a, const char *path, Picture *p, uint64_t *sum,
                              const char **why) {
  uint8_t head[HEADER];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t n = fd < 0 ? -1 : read(fd, head, HEADER);
  int error = errno;
  struct stat info = {0};
  if (n >= 0 && fstat(fd, &info) == 0) *sum = sum_file(*sum, path, fd, info.st_size);
  if (fd >= 0) close(fd);
  if (n < 0) return file_error(a, why, "cannot read %s: %s", path, os_error(a, error));
  if (!png_size(head, (size_t)n, p)) return file_error(a, why, "%s is not a png picture", path);
  if (!p->width || !p->height)
    return file_error(a, why, "%s has %u×%u pixels: there is nothing in it", path, p->width,
                      p->height);
  return is_plausible_size(p, (uint64_t)info.st_size) ||
         file_error(a, why, "%s: its %u×%u pixels are too many for its bytes", path, p->width,
                    p->height);
}

static bool check_sizes(Set *s, ImageFolder *f, const char **why) {
  const char *first = NULL;
  for (Split split = 0; split < SPLITS; split++)
    for (uint32_t i = 0; i < f->file[split].n; i++) {
      const char *path = f->file[split].at[i].path;
      Picture p;
      if (!read_picture_size(s->arena, path, &p, &f->sum, why)) return false;
      if (!first) f->like = p, first = path;
      if (p.width != f->like.width || p.height != f->like.height)
        return file_error(s->arena, why,
                          "%s has %u×%u pixels, but %s has %u×%u: they must be equal", path,
                          p.width, p.height, first, f->like.width, f->like.height);
      if (p.channels > f->like.channels) f->like.channels = p.channels;
    }
  uint64_t pixels = (uint64_t)f->like.width * f->like.height;
  f->bytes = (size_t)pixels * f->like.channels;
  return pixels < CACHE_BYTES / 3 || file_error(s->arena, why, "%s is too large", first);
}

// -- reading --------------------------------------------------------------------------------------
static bool read_picture(Arena *a, const ImageFolder *f, const char *path, const uint8_t **out,
                         const char **why) {
  View v;
  Picture p;
  if (!file_view(a, path, &v, why)) return false;
  if (!png_read_bytes(a, v.at, v.n, &p, why)) return file_error(a, why, "%s: %s", path, *why);
  if (p.width != f->like.width || p.height != f->like.height || p.channels > f->like.channels)
    return file_error(a, why, "%s has changed since the folder was opened", path);
  *out = p.at;
  if (p.channels == f->like.channels) return true;
  uint8_t *wide = arena_alloc(a, f->bytes);
  for (size_t i = 0; i < f->bytes; i++) wide[i] = p.at[i / 3];
  *out = wide;
  return true;
}

static bool read_cached(ImageFolder *f, const Column *c, int64_t row, Number number, void *out) {
  int64_t place = row % f->places;
  pthread_mutex_lock(&f->lock);
  bool there = f->row[place] == row;
  if (there) column_read(c, &place, 1, c->count, number, out);
  pthread_mutex_unlock(&f->lock);
  return there;
}

static void cache_pixels(ImageFolder *f, int64_t row, const uint8_t *pixels) {
  pthread_mutex_lock(&f->lock);
  memcpy(f->pixels + (size_t)(row % f->places) * f->bytes, pixels, f->bytes);
  f->row[row % f->places] = row;
  pthread_mutex_unlock(&f->lock);
}

static bool failed(ImageFolder *f, const char *what, const char **why) {
  pthread_mutex_lock(&f->lock);
  snprintf(f->message, sizeof f->message, "%s", what);
  pthread_mutex_unlock(&f->lock);
  *why = f->message;
  return false;
}

// A separate function: local variables changed after setjmp would be indeterminate after a jump.
__attribute__((noinline)) static bool read_and_keep(Arena *a, ImageFolder *f, const Column *c,
                                                    const char *path, int64_t row, Number number,
                                                    void *out, const char **why) {
  const uint8_t *pixels = NULL;
  const char *what;
  if (!read_picture(a, f, path, &pixels, &what)) return failed(f, what, why);
  Column one = *c;
  one.at = pixels;
  column_read(&one, &(int64_t){0}, 1, c->count, number, out);
  cache_pixels(f, row, pixels);
  return true;
}

// Runs in any thread, so out of memory is caught here by a guard, not by the guard of the thread
// that opened the set.
static bool read_file(ImageFolder *f, const Column *c, const char *path, int64_t row, Number number,
                      void *out, const char **why) {
  Guard g;
  Arena *a = arena_new();
  if (!a) return failed(f, "out of memory", why);
  if (!GUARDED(a, &g)) {
    arena_free(a);
    return failed(f, "out of memory", why);
  }
  bool good = read_and_keep(a, f, c, path, row, number, out, why);
  arena_free(a);
  return good;
}

static bool read_lazy(Set *s, uint32_t block, int64_t row, Number number, void *out,
                      const char **why) {
  ImageFolder *f = s->lazy.state;
  const Column *c = &s->column[block].at[s->lazy_field];
  int64_t all = row;
  for (uint32_t b = 0; b < block; b++) all += f->file[b].n;
  return read_cached(f, c, all, number, out) ||
         read_file(f, c, f->file[block].at[row].path, all, number, out, why);
}

// -- opening --------------------------------------------------------------------------------------
static void add_pictures(Set *s, ImageFolder *f, int64_t files) {
  Field image = {.name = "image", .rank = f->like.channels == 3 ? 3 : 2};
  image.shape[0] = f->like.height, image.shape[1] = f->like.width,
  image.shape[2] = f->like.channels;
  f->places = files < (int64_t)(CACHE_BYTES / f->bytes) ? files : (int64_t)(CACHE_BYTES / f->bytes);
  f->pixels = arena_alloc(s->arena, (size_t)f->places * f->bytes);
  f->row = NEW_ARRAY(s->arena, int64_t, f->places);
  for (int64_t i = 0; i < f->places; i++) f->row[i] = -1;
  f->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  Column c = column_new(f->pixels, (int64_t)f->bytes, EL_U8);
  c.picture = true;
  s->lazy_field = s->field.n;
  s->lazy = (Lazy){.read = read_lazy, .state = f, .sum = f->sum};
  set_add_one(s, &image, c);
}

static void add_labels(Set *s, ImageFolder *f) {
  Column c[SPLITS];
  for (Split split = 0; split < SPLITS; split++) {
    int32_t *label = NEW_ARRAY(s->arena, int32_t, f->file[split].n);
    for (uint32_t i = 0; i < f->file[split].n; i++) label[i] = f->file[split].at[i].label;
    c[split] = column_new(label, 1, EL_I32);
  }
  set_add(
      s, &(Field){.name = "label", .kind = FIELD_LABEL, .labels = f->label.n, .label = f->label.at},
      c);
}

bool open_folder(Set *s, const char *path, const char **why) {
  ImageFolder *f = NEW(s->arena, ImageFolder);
  bool given;
  int64_t files = 0;
  if (!find_files(s, f, path, &given, why)) return false;
  for (Split split = 0; split < SPLITS; split++) files += f->file[split].n;
  if (!f->file[SPLIT_TRAIN].n)
    return file_error(s->arena, why, "folder %s has no png pictures", path);
  if (!check_sizes(s, f, why)) return false;
  add_pictures(s, f, files);
  if (f->labelled) add_labels(s, f);
  if (given)
    set_cut_given(s, f->file[SPLIT_TRAIN].n, f->file[SPLIT_VALID].n, f->file[SPLIT_TEST].n);
  else
    set_cut_hash(s, f->file[SPLIT_TRAIN].n, 10, true);
  s->summary = arena_format(s->arena, "%lld pictures, image : %s", (long long)files,
                            field_type(s->arena, &s->field.at[0]));
  if (f->labelled)
    s->summary = arena_format(s->arena, "%s, label with %u names", s->summary, f->label.n);
  return true;
}
