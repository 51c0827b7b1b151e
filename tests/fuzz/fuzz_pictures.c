// A folder of pictures of any size and kind, whole and broken, at any place: a set whose rows can
// all be read, or a message. The first byte says how it is opened; then come files:
//
//   place  kind  width  height  length  bytes…
//
// A picture's header says what the input says, and its check sums are right; its bytes are as many
// as the input has, again and again, and may be too few. Other kinds: no picture, a folder, a pipe.
#define _XOPEN_SOURCE 700
#include "folder.h"
#include "io/data/data.h"

#include <ftw.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { FILES = 12, PICTURE_BYTES = 1 << 14 };
typedef struct {
  uint8_t at[PICTURE_BYTES];
  size_t n;
} PngText;

static void put_number(PngText *p, uint32_t x) {
  for (int i = 3; i >= 0; i--) p->at[p->n++] = (uint8_t)(x >> 8 * i);
}

static void put_chunk(PngText *p, const char *name, const uint8_t *bytes, size_t n) {
  size_t begin = p->n + 4;
  if (p->n + n + 12 > PICTURE_BYTES) return;
  put_number(p, (uint32_t)n);
  memcpy(p->at + p->n, name, 4);
  if (n) memcpy(p->at + p->n + 4, bytes, n);
  p->n += 4 + n;
  put_number(p, (uint32_t)crc32(0, p->at + begin, (uInt)(n + 4)));
}

static uint32_t side(uint8_t byte) {
  static const uint32_t odd[] = {0, 0x7fffffff, 0x80000000, 65536, 1000000, 0xffffffff};
  return byte < 250 ? byte % 9 : odd[byte - 250];
}

// kind: the depth of its numbers and the kind of its colours.
static void make_png(PngText *p, const uint8_t *f, const uint8_t *bytes, size_t n) {
  static const uint8_t depth[] = {8, 8, 8, 8, 16, 1, 8, 16, 8, 3},
                       colour[] = {0, 2, 6, 4, 0, 0, 3, 2, 7, 0};
  static const uint8_t begin[] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10},
                       palette[] = {255, 0, 0, 0, 255, 0, 9, 9, 9};
  static uint8_t raw[4096], packed[8192];
  uint32_t w = side(f[2]), h = side(f[3]);
  uint8_t header[13] = {(uint8_t)(w >> 24),
                        (uint8_t)(w >> 16),
                        (uint8_t)(w >> 8),
                        (uint8_t)w,
                        (uint8_t)(h >> 24),
                        (uint8_t)(h >> 16),
                        (uint8_t)(h >> 8),
                        (uint8_t)h,
                        depth[f[1] % 10],
                        colour[f[1] % 10],
                        0,
                        0,
                        f[1] >= 240};
  size_t want = w < 10 && h < 10 ? (size_t)h * (1 + 8 * (size_t)w) : 20;
  for (size_t i = 0; i < want; i++) raw[i] = n ? bytes[i % n] % 251 : 0;
  for (size_t i = 0; i < want && n > 2; i += 1 + 8 * (size_t)w) raw[i] %= 6;
  uLongf m = sizeof packed;
  must(compress2(packed, &m, raw, (uLong)(f[1] & 16 ? want / 2 : want), 1) == Z_OK);
  p->n = sizeof begin;
  memcpy(p->at, begin, sizeof begin);
  put_chunk(p, "IHDR", header, sizeof header);
  if (colour[f[1] % 10] == 3) put_chunk(p, "PLTE", palette, sizeof palette);
  put_chunk(p, "IDAT", packed, m);
  if (!(f[1] & 32)) put_chunk(p, "IEND", NULL, 0);
}

static int drop(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s, (void)kind;
  return at->level ? remove(path) : 0;
}

static size_t make_file(const char *folder, const uint8_t *f, size_t n) {
  static const char *const places[] = {
      "a.png",         "b.png",         "x/a.png",      "x/b.png",       "y/a.PNG",      "y/c.png",
      "train/x/a.png", "train/y/b.png", "test/x/c.png", "valid/y/d.png", "test/z/e.png", "x/.h.png",
      "x/t.txt",       "y/u.jpg",       "train/f.png",  "x/x/deep.png"};
  static PngText png;
  char path[1300];
  size_t length = n - 5 < f[4] ? n - 5 : f[4];
  snprintf(path, sizeof path, "%s/%s", folder, places[f[0] % COUNT(places)]);
  for (char *c = path + strlen(folder) + 1; *c; c++)
    if (*c == '/') *c = 0, mkdir(path, 0700), *c = '/';
  if (access(path, F_OK) == 0) return 5 + length;
  if (f[1] % 64 == 63)
    mkdir(path, 0700);
  else if (f[1] % 64 == 62)
    put_file(path, f + 5, length);
  else if (f[1] % 64 == 61)
    mkfifo(path, 0600);
  else
    make_png(&png, f, f + 5, length), put_file(path, png.at, png.n);
  return 5 + length;
}

static void read_rows(Arena *a, Set *s) {
  const char *why = NULL;
  for (Split split = 0; split < SPLITS; split++)
    for (uint32_t i = 0; i < set_fields(s); i++) {
      const Field *f = set_field(s, i);
      if (field_count(f) > 100000) continue; // as doubles, they are the harness's own memory
      double *out = NEW_ARRAY(a, double, field_count(f) + 1);
      for (int64_t row = 0; row < set_rows(s, split) && row < FILES; row++) {
        must(set_read(s, (SetRows){split, i, &row, 1}, NUMBER_F64, out, &why) || why);
        must(f->kind != FIELD_LABEL || (out[0] >= 0 && out[0] < (double)f->labels));
      }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  const char *folder = own_folder(), *why = NULL;
  Arena *a = arena_new();
  if (!n) return arena_free(a), 0;
  nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
  uint32_t files = 0;
  for (size_t at = 1; at + 5 <= n && files < FILES; files++)
    at += make_file(folder, bytes + at, n - at);
  SetOptions how = {
      .file = true, .valid = bytes[0] & 1, .whole = bytes[0] & 2, .bits = bytes[0] & 4};
  if (bytes[0] & 8) how.episodes = (Episodes){2, 1, 1, 10};
  Set *s = set_open(a, folder, &how, &why);
  must(s || why);
  if (s) read_rows(a, s);
  Buf out = buf_new(a);
  Picture p = {0};
  must(data_show(a, &out, folder, bytes[0] & 1, &p, &why) || why);
  arena_free(a);
  return 0;
}
