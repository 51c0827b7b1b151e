// Readers of gzip, idx, csv, npz and png, and the writer of curves: valid files, invalid files with
// their messages, files truncated at every length, and files with every bit flipped.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "base/json_write.h"
#include "io/bytes/bytes.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

static int setup(void **state) {
  *state = arena_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(*state);
  return 0;
}

static View load(Arena *a, const char *name) {
  FileText f = file_read(a, arena_format(a, "tests/data/%s", name), 1 << 20);
  if (!f.text) fail_msg("%s: %s", name, f.error);
  return (View){(const uint8_t *)f.text, f.n};
}

// A reader as the fuzzers see it: bytes to good or a message.
typedef bool Reader(Arena *, const void *, size_t, const char **error);

static bool read_gzip(Arena *a, const void *p, size_t n, const char **e) {
  View v;
  return gzip_read_bytes(a, p, n, 1 << 16, &v, e);
}

static bool read_idx(Arena *a, const void *p, size_t n, const char **e) {
  Raw x;
  return idx_look(a, p, n, &x, e);
}

static bool read_csv(Arena *a, const void *p, size_t n, const char **e) {
  Csv t;
  return csv_read_bytes(a, p, n, &t, e);
}

static bool read_npz(Arena *a, const void *p, size_t n, const char **e) {
  Raws x;
  return npz_look(a, p, n, &x, e);
}

static bool read_png(Arena *a, const void *p, size_t n, const char **e) {
  Picture x;
  return png_read_bytes(a, p, n, &x, e);
}

// In memory of just that size, so that a sanitizer sees a read beyond the end.
static bool try_bytes(Reader *read, const uint8_t *bytes, size_t n) {
  uint8_t *exact = malloc(n ? n : 1);
  memcpy(exact, bytes, n);
  Arena *a = arena_new();
  const char *error = NULL;
  bool good = read(a, exact, n, &error);
  assert_true(good || (error && *error));
  arena_free(a);
  free(exact);
  return good;
}

// Shorter at every length, and with every bit turned. `good` counts what is read all the same.
static void hurt(Reader *read, View v, uint32_t *cut_good, uint32_t *turned_good) {
  *cut_good = *turned_good = 0;
  assert_true(try_bytes(read, v.at, v.n));
  for (size_t n = 0; n < v.n; n++) *cut_good += try_bytes(read, v.at, n);
  uint8_t *copy = malloc(v.n);
  memcpy(copy, v.at, v.n);
  for (size_t i = 0; i < v.n; i++)
    for (int bit = 0; bit < 8; bit++) {
      copy[i] ^= (uint8_t)(1 << bit);
      *turned_good += try_bytes(read, copy, v.n);
      copy[i] ^= (uint8_t)(1 << bit);
    }
  free(copy);
}

static void refused(Arena *a, Reader *read, const void *bytes, size_t n, const char *message) {
  const char *error = NULL;
  assert_false(read(a, bytes, n, &error));
  assert_string_equal(error, message);
}

// -- gzip -----------------------------------------------------------------------------------------
static View pack(Arena *a, const void *bytes, size_t n) {
  z_stream z = {0};
  uint8_t *to = arena_alloc(a, n + 256);
  assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (uint8_t *)(uintptr_t)bytes, z.avail_in = (uInt)n;
  z.next_out = to, z.avail_out = (uInt)(n + 256);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  View v = {to, z.total_out};
  deflateEnd(&z);
  return v;
}

static View join(Arena *a, View x, View y) {
  uint8_t *to = arena_alloc(a, x.n + y.n);
  memcpy(to, x.at, x.n);
  memcpy(to + x.n, y.at, y.n);
  return (View){to, x.n + y.n};
}

static void gzip_reads(void **state) {
  Arena *a = *state;
  uint32_t cut, turned;
  const char *error;
  View v, one = pack(a, "hello hello hello", 17), none = pack(a, "", 0);
  assert_true(gzip_read_bytes(a, one.at, one.n, 100, &v, &error));
  assert_int_equal(v.n, 17);
  assert_memory_equal(v.at, "hello hello hello", 17);
  assert_true(gzip_read_bytes(a, none.at, none.n, 100, &v, &error));
  assert_int_equal(v.n, 0);
  View two = join(a, one, join(a, one, (View){(const uint8_t *)"\0\0\0", 3}));
  assert_true(gzip_read_bytes(a, two.at, two.n, 100, &v, &error));
  assert_int_equal(v.n, 34);
  hurt(read_gzip, one, &cut, &turned);
  assert_int_equal(cut, 0);
  assert_in_range(turned, 1, 8 * 8); // the header has fields that nobody needs
}

static void gzip_many(void **state) { // more than fits the first guess, more than a chunk of zlib's
  Arena *a = *state;
  enum { N = 3000000 };
  uint8_t *bytes = arena_alloc(a, N);
  const char *error;
  View v;
  for (uint32_t i = 0; i < N; i++) bytes[i] = (uint8_t)(i * i >> 7);
  View once = pack(a, bytes, N), thrice = join(a, once, join(a, once, once));
  assert_true(gzip_read_bytes(a, thrice.at, thrice.n, unpack_limit(thrice.n), &v, &error));
  assert_int_equal(v.n, 3 * N);
  for (uint32_t k = 0; k < 3; k++) assert_memory_equal(v.at + k * N, bytes, N);
}

static void gzip_refuses(void **state) {
  Arena *a = *state;
  View v, one = pack(a, "hello hello hello", 17);
  const char *error;
  refused(a, read_gzip, "PK", 2, "it begins with `PK`, where a gzip file begins with \\x1f\\x8b");
  refused(a, read_gzip, one.at, one.n - 9, "it ends in the middle, after 17 bytes unpacked");
  View more = join(a, one, (View){(const uint8_t *)"abc", 3});
  refused(a, read_gzip, more.at, more.n, "3 bytes follow that are not packed by gzip");
  assert_false(gzip_read_bytes(a, one.at, one.n, 16, &v, &error));
  assert_string_equal(error, "it unpacks to more than 16 bytes: unpack it with gunzip, plain files "
                             "have no limit");
  uint8_t *zeros = arena_alloc(a, 1 << 20);
  View bomb = pack(a, zeros, 1 << 20);
  size_t before = arena_used(a);
  assert_false(gzip_read_bytes(a, bomb.at, bomb.n, 10000, &v, &error));
  assert_in_range(arena_used(a) - before, 0, 100000);
}

// -- files, and copies of what they unpack to -----------------------------------------------------
typedef struct {
  Arena *arena;
  const char *folder, *path; // the cache, and the packed file
  View packed, plain;
} Kept;

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static Kept keep_open(Arena *a) {
  enum { N = 3 << 20 };
  char *folder = arena_text(a, "/tmp/limn.cache.XXXXXX", 22);
  Kept k = {.arena = a};
  uint8_t *bytes = arena_alloc(a, N);
  uint64_t state = 1;
  for (uint32_t i = 0; i < N; i++) bytes[i] = (uint8_t)(next_random(&state) & 63);
  k.folder = mkdtemp(folder);
  assert_non_null(k.folder);
  setenv("LIMN_CACHE", k.folder, 1);
  k.path = arena_format(a, "%s/packed.gz", k.folder);
  k.plain = (View){bytes, N};
  k.packed = pack(a, bytes, N);
  assert_null(file_write(a, k.path, k.packed.at, k.packed.n));
  return k;
}

// The copies that are there now; the first one's path.
static uint32_t copies(const Kept *k, const char **first) {
  FolderNames names = {0};
  uint32_t n = 0;
  assert_null(folder_names(k->arena, k->folder, &names));
  for (uint32_t i = 0; i < names.n; i++)
    if (text_ends(names.at[i], ".unpacked") && !n++)
      *first = arena_format(k->arena, "%s/%s", k->folder, names.at[i]);
  return n;
}

static void keep_close(Kept *k) {
  FolderNames names = {0};
  folder_names(k->arena, k->folder, &names);
  for (uint32_t i = 0; i < names.n; i++)
    unlink(arena_format(k->arena, "%s/%s", k->folder, names.at[i]));
  rmdir(k->folder);
  unsetenv("LIMN_CACHE");
}

static void views_as_packed(const Kept *k, View wanted) {
  Arena *a = arena_child(k->arena);
  const char *error = "";
  View v;
  if (!file_view(a, k->path, &v, &error)) fail_msg("%s", error);
  assert_int_equal(v.n, wanted.n);
  assert_memory_equal(v.at, wanted.at, wanted.n);
  arena_free(a);
}

// Whatever becomes of the copy, what is read is what the packed file holds.
static void copies_are_compared(void **state) {
  Kept k = keep_open(*state);
  const char *copy = NULL;
  uint64_t dice = 7;
  views_as_packed(&k, k.plain);
  assert_int_equal(copies(&k, &copy), 1);
  for (uint32_t i = 0; i < 12; i++) {
    Arena *a = arena_child(k.arena);
    uint8_t *bytes = arena_copy(a, k.plain.at, k.plain.n);
    size_t at = next_random(&dice) % (k.plain.n - 1), n = k.plain.n - (i % 4 == 3);
    if (i % 4 == 0) bytes[at] ^= (uint8_t)(1 << i % 8);
    if (i % 4 == 1) bytes[at] = bytes[at + 1], bytes[at + 1] = k.plain.at[at];
    if (i % 4 == 2) memset(bytes + at, 0, n - at);
    assert_null(file_write(a, copy, bytes, n));
    views_as_packed(&k, k.plain);
    arena_free(a);
  }
  View twice = join(k.arena, k.packed, k.packed), plain = join(k.arena, k.plain, k.plain);
  assert_null(file_write(k.arena, k.path, twice.at, twice.n)); // two members: no copy is kept
  views_as_packed(&k, plain);
  views_as_packed(&k, plain);
  assert_int_equal(copies(&k, &copy), 1);
  keep_close(&k);
}

// The oldest go, those that are used stay, and so does what is no copy.
static void copies_are_swept(void **state) {
  Kept k = keep_open(*state);
  const char *copy = NULL, *older, *aged;
  views_as_packed(&k, k.plain);
  assert_int_equal(copies(&k, &copy), 1);
  older = arena_format(k.arena, "%s/older.unpacked", k.folder);
  aged = arena_format(k.arena, "%s/aged.unpacked", k.folder);
  struct timespec day_ago[2], year_ago[2], now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (int i = 0; i < 2; i++) {
    day_ago[i] = year_ago[i] = now;
    day_ago[i].tv_sec -= 86400, year_ago[i].tv_sec -= 365 * 86400;
  }
  file_write(k.arena, older, "1234", 4), file_write(k.arena, aged, "1234", 4);
  assert_int_equal(utimensat(AT_FDCWD, older, day_ago, 0), 0);
  assert_int_equal(utimensat(AT_FDCWD, aged, year_ago, 0), 0);
  cache_sweep(k.arena, k.folder, ".unpacked", 1e9);
  assert_true(path_exists(older) && path_exists(copy) && !path_exists(aged));
  assert_int_equal(utimensat(AT_FDCWD, copy, year_ago, 0), 0);
  views_as_packed(&k, k.plain); // now it is the newest
  cache_sweep(k.arena, k.folder, ".unpacked", (double)k.plain.n);
  assert_true(!path_exists(older) && path_exists(copy) && path_exists(k.path));
  cache_sweep(k.arena, k.folder, ".unpacked", (double)k.plain.n - 1);
  assert_true(!path_exists(copy) && path_exists(k.path));
  keep_close(&k);
}

// Files that begin as a gzip file does, of every small length.
static void short_files(void **state) {
  Arena *a = *state;
  View v, none = pack(a, "", 0);
  char path[] = "/tmp/limn.short.XXXXXX";
  close(mkstemp(path));
  for (size_t n = 2; n < none.n; n++) {
    const char *error = "";
    assert_null(file_write(a, path, none.at, n));
    assert_false(file_view(a, path, &v, &error));
    assert_string_equal(error,
                        arena_format(a, "%s: it ends in the middle, after 0 bytes unpacked", path));
  }
  unlink(path);
}

// -- idx ------------------------------------------------------------------------------------------
static void idx_reads(void **state) {
  Arena *a = *state;
  static const uint8_t codes[] = {0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e};
  static const ElementKind kinds[] = {EL_U8, EL_I8, EL_I16, EL_I32, EL_F32, EL_F64};
  for (uint32_t i = 0; i < COUNT(codes); i++) {
    uint32_t size = element_info[kinds[i]].bytes, cut, turned;
    uint8_t file[12 + 6 * 8] = {0, 0, codes[i], 2, 0, 0, 0, 2, 0, 0, 0, 3};
    const char *error;
    Raw x;
    assert_true(idx_look(a, file, 12 + 6 * size, &x, &error));
    assert_true(x.kind == kinds[i] && x.rank == 2 && x.shape[0] == 2 && x.shape[1] == 3);
    assert_true(x.count == 6 && x.big_endian && x.bytes == file + 12);
    hurt(read_idx, (View){file, 12 + 6 * size}, &cut, &turned);
    assert_int_equal(cut, 0);
  }
}

static void idx_refuses(void **state) {
  Arena *a = *state;
  refused(a, read_idx, "\0\0", 2,
          "it begins with `\\x00\\x00`, where an idx file begins with two zeros");
  refused(a, read_idx, "ab\10\1\0\0\0\0", 8,
          "it begins with `ab\\x08\\x01`, where an idx file begins "
          "with two zeros");
  refused(a, read_idx, "\0\0\7\1\0\0\0\0", 8,
          "its numbers are of type 0x07, where one of 08 09 0b 0c 0d 0e was wanted");
  refused(a, read_idx, "\0\0\10\11\0\0\0\0", 8, "it has 9 axes, where 1 to 8 were wanted");
  refused(a, read_idx, "\0\0\10\2\0\0\0\1", 8, "it has 8 bytes and ends inside its header");
  refused(a, read_idx, "\0\0\10\1\0\0\0\3ab", 10,
          "the header says 3 uint8, 3 bytes, but only 2 follow");
  refused(a, read_idx, "\0\0\10\1\0\0\0\1ab", 10, "the header says 1 uint8, 1 bytes, but 2 follow");
  refused(a, read_idx, "\0\0\16\3\377\377\377\377\377\377\377\377\377\377\377\377", 16,
          "the header says 4294967295×4294967295×4294967295 float64, more than any memory holds");
}

// -- csv ------------------------------------------------------------------------------------------
static Csv csv_of(Arena *a, const char *text) {
  Csv t;
  const char *error;
  if (!csv_read_bytes(a, text, strlen(text), &t, &error)) fail_msg("%s", error);
  return t;
}

static void csv_reads(void **state) {
  Arena *a = *state;
  Csv t = csv_of(
      a, "\xEF\xBB\xBFname,height,kind\r\nrose,0.9,bush\r\n\"say \"\"oak\"\"\",21,tree\r\n\r\n"
         "ivy, -1.5e-3 ,bush");
  assert_true(t.header && t.separator == ',' && t.columns == 3 && t.rows == 3);
  assert_string_equal(t.column[0].name, "name");
  assert_true(t.column[1].number && t.column[1].value[0] == 0.9 && t.column[1].value[2] == -1.5e-3);
  assert_int_equal(t.column[0].labels, 3);
  assert_string_equal(t.column[0].words[2], "say \"oak\"");
  assert_int_equal(t.column[0].label[1], 2);
  assert_int_equal(t.column[2].labels, 2);
  assert_int_equal(t.column[2].label[1], 1);
  t = csv_of(a, "\"Year\";\"Lynx\";\"Hare\"\n1900;4;30\n1901;6.1;47.2\n");
  assert_true(t.header && t.separator == ';' && t.rows == 2 && t.column[2].value[1] == 47.2);
  t = csv_of(a, "a,\"b;c\",d\n1,2,\"x;y\"\n2,3,\"x;z\"\n"); // a semicolon inside of quotes
  assert_true(t.header && t.separator == ',' && t.columns == 3 && t.column[2].labels == 2);
  t = csv_of(a, "1\t2\n3\t4\n");
  assert_true(!t.header && t.separator == '\t' && t.rows == 2 && t.column[1].value[1] == 4);
  assert_string_equal(t.column[1].name, "c2");
  t = csv_of(a, "a,b\nx,y\nx,z\n"); // only words: a header, since a and b do not come again
  assert_true(t.header && t.rows == 2 && t.column[1].labels == 2);
  t = csv_of(a, "x,y\nx,z\n");
  assert_true(!t.header && t.rows == 2);
  t = csv_of(a, "\"two\nlines\",1\nb,2\n");
  assert_true(!t.header && t.rows == 2 && !strcmp(t.column[0].words[1], "two\nlines"));
  t = csv_of(a, "x,x,\n1,2,3\n");
  assert_string_equal(t.column[1].name, "x_2");
  assert_string_equal(t.column[2].name, "c3");
  t = csv_of(a, "NA,1\nb,2\n"); // among words it is a word
  assert_true(!t.column[0].number && t.column[0].labels == 2);
}

static void csv_numbers_are_exact(void **state) {
  Arena *a = *state;
  static const char *const text[] = {"0.1",
                                     "-0",
                                     "123456789012345678",
                                     "1e22",
                                     "1e23",
                                     "4.9e-324",
                                     ".5",
                                     "5.",
                                     "+7",
                                     "0.30000000000000004",
                                     "179769313486231570000e288"};
  for (uint32_t i = 0; i < COUNT(text); i++) {
    Csv t = csv_of(a, arena_format(a, "%s\n1\n", text[i]));
    double want = strtod(text[i], NULL);
    assert_true(t.column[0].number);
    assert_memory_equal(&t.column[0].value[0], &want, sizeof want);
  }
  static const char *const word[] = {"0x1g", "1e", "--1", "1.2.3", ".", "e5", "1 2", "infinity"};
  for (uint32_t i = 0; i < COUNT(word); i++)
    assert_false(csv_of(a, arena_format(a, "1\n%s\n", word[i])).column[0].number);
}

// Which column is words, and where it says so first; words that are asked for are words anyway.
static void csv_words_among_numbers(void **state) {
  Arena *a = *state;
  Csv t = csv_of(a, "DE,NA\n1,2\n3,4\n"); // a name of a column, beside another one
  assert_true(t.header && t.column[1].number && !t.column[1].first_word);
  t = csv_of(a, "size,n\n1,2\n\n\"x\",3\n4,5\n");
  assert_false(t.column[0].number);
  assert_string_equal(t.column[0].first_word, "x");
  assert_int_equal(t.column[0].first_word_line, 4);
  assert_int_equal(csv_line_of(a, "size,n\n1,2\n\n\"x\",3\n4,5\n", 24, &t, 2), 5);
  t = csv_of(a, "x,1\n2,3\n");
  assert_true(t.header);
  t = csv_of(a, "7\nx\n8\n");
  assert_int_equal(t.column[0].first_word_line, 2);
  t = csv_of(a, "kind\nx\ny\nx\n"); // words only
  assert_null(t.column[0].first_word);
  const char *error;
  assert_true(csv_read_words(a, "size\n30\n4\n", 10, (bool[]){true}, &t, &error));
  assert_true(!t.column[0].number && t.column[0].labels == 2);
  assert_string_equal(t.column[0].words[t.column[0].label[1]], "4");
}

// The law of tables: what csv_put writes is read as it was, names of columns and words. (An empty cell is a missing
// one.)
static const char *chance_word(Arena *a, uint64_t *random) {
  static const char letters[] = "ab1.,;\t\"\n\r '#-";
  char text[12];
  uint32_t n = 0, most = (uint32_t)(*random >> 60) % 10;
  for (; n < most; n++) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    text[n] = letters[(*random >> 33) % (sizeof letters - 1)];
  }
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return arena_text(a, text, n);
}

static void csv_reads_what_it_writes(void **state) {
  enum { ROWS = 4 };
  uint64_t random = 5;
  (void)state;
  for (int turn = 0; turn < 5000; turn++) {
    Arena *a = arena_new();
    Buf b = buf_new(a);
    CsvOut out = csv_out(&b);
    const char *word[1 + ROWS], *error;
    Csv t;
    for (int row = 0; row <= ROWS; row++) {
      word[row] = chance_word(a, &random);
      if (!*word[row]) word[row] = "name";
      csv_put(&out, word[row]);
      if (row)
        csv_put_number(&out, row);
      else
        csv_put(&out, word[0][0] == 'n' ? "m" : "n");
      csv_end_row(&out);
    }
    if (!csv_read_words(a, b.at, b.n, (bool[]){true, false}, &t, &error))
      fail_msg("%s in:\n%s", error, b.at);
    if (strcmp(t.column[0].name, word[0])) fail_msg("%s is read of:\n%s", t.column[0].name, b.at);
    assert_int_equal(t.rows, ROWS);
    for (int row = 0; row < ROWS; row++)
      if (strcmp(t.column[0].words[t.column[0].label[row]], word[row + 1]))
        fail_msg("%s is read of:\n%s", t.column[0].words[t.column[0].label[row]], b.at);
    arena_free(a);
  }
}

static void csv_refuses(void **state) {
  Arena *a = *state;
  refused(a, read_csv, "", 0, "the table is empty");
  refused(a, read_csv, "\n\n", 2, "the table is empty");
  refused(a, read_csv, "a,b\n", 4, "the table has names of columns, but no rows");
  refused(a, read_csv, "a,b\n1,2\n3\n", 10, "line 3 has 1 cell, but the first row has 2");
  refused(a, read_csv, "a,b\n1,2\n3,4,5\n", 14,
          "line 3 has more than 2 cells, but the first row has 2");
  refused(a, read_csv, "a,b\n1,2\n\n3,\n", 12, "line 4, column 2: a value is missing");
  refused(a, read_csv, "a,b\n1,2\n3,NA\n", 13,
          "line 3, column 2: found `NA`, where a finite number was wanted");
  refused(a, read_csv, "a,b\nx,2\n?,3\n", 12,
          "line 3, column 1: found `?`, where a finite number was wanted");
  refused(a, read_csv, "a,b\n1,2\n3,-1e400\n", 17,
          "line 3, column 2: found `-1e400`, where a finite number was wanted");
  refused(a, read_csv, "NA,1\n2,3\n", 9,
          "line 1, column 1: found `NA`, where a finite number was wanted");
  refused(a, read_csv, "nan\n2\n", 6,
          "line 1, column 1: found `nan`, where a finite number was wanted");
  refused(a, read_csv, ",1\n2,3\n", 7, "line 1, column 1: a value is missing");
  refused(a, read_csv, "a,b\n1,2\n3,\"\"\n", 13, "line 3, column 2: a value is missing");
  refused(a, read_csv, "a,b\n1,\"2\n", 9, "line 2: a quote is never closed");
  refused(a, read_csv, "a,b\n1,\"2\"x\n", 11, "line 2: `x` follows a closing quote");
  refused(a, read_csv, "a\0b", 3, "byte 1 is zero: this is not text");
  refused(
      a, read_csv, "a,b\ncaf\xe9,2\n", 11,
      "line 2: found the byte \\xe9, where text in UTF-8 was wanted: `iconv -f latin1 -t utf-8` "
      "makes it of Latin-1");
}

static void csv_is_hurt(void **state) {
  (void)state;
  static const char text[] = "a,\"b\",c\n1,x,\"2\"\n3.5e1,\"y\"\"\",4\n\n-5,x,6\n";
  uint32_t cut, turned;
  hurt(read_csv, (View){(const uint8_t *)text, sizeof text - 1}, &cut, &turned);
}

// A word of random letters, the same in UTF-8 and in Latin-1. True: all of them are of ASCII.
static bool random_word(uint64_t *dice, Buf *utf8, Buf *latin) {
  bool plain = true;
  for (uint64_t n = 1 + next_random(dice) % 30; n-- > 0;) {
    bool far = next_random(dice) % 40 == 0;
    unsigned c =
        far ? 0xc0 + (unsigned)(next_random(dice) % 64) : 'a' + (unsigned)(next_random(dice) % 26);
    plain &= !far;
    if (far) buf_char(utf8, (char)(0xc0 | c >> 6));
    buf_char(utf8, (char)(far ? 0x80 | (c & 0x3f) : c));
    buf_char(latin, (char)c);
  }
  return plain;
}

// What is not UTF-8 is refused in its line, and nothing else is: with a mark of its coding in front,
// a table is the same.
static void csv_codings(void **state) {
  Arena *a = *state;
  uint64_t dice = 3;
  uint32_t refusals = 0;
  for (uint32_t i = 0; i < 400; i++) {
    Buf utf8 = buf_new(a), latin = buf_new(a), marked = buf_new(a);
    size_t rows = 2 + next_random(&dice) % 4, bad = 0;
    for (size_t r = 1; r <= rows; r++) {
      if (!random_word(&dice, &utf8, &latin) && !bad) bad = r;
      buf_printf(&utf8, ",%zu\n", r), buf_printf(&latin, ",%zu\n", r);
    }
    buf_printf(&marked, "\xEF\xBB\xBF%s", utf8.at);
    Csv one = csv_of(a, utf8.at), two = csv_of(a, marked.at), other;
    assert_true(one.rows == (int64_t)rows && two.rows == one.rows);
    for (uint32_t k = 0; k < one.column[0].labels; k++)
      assert_string_equal(one.column[0].words[k], two.column[0].words[k]);
    const char *error = "";
    assert_true(csv_read_bytes(a, latin.at, latin.n, &other, &error) == !bad);
    if (bad) assert_memory_equal(error, arena_format(a, "line %zu: found the byte \\x", bad), 24);
    refusals += bad > 0;
  }
  assert_in_range(refusals, 100, 350);
}

// More words than labels there may be: such a column is left out, the others are read.
static void csv_many_words(void **state) {
  Arena *a = *state;
  Buf b = buf_new(a);
  for (uint32_t i = 0; i <= CSV_WORDS_LIMIT; i++) buf_printf(&b, "w%u,%u\n", i, i % 7);
  Csv t = csv_of(a, b.at);
  assert_true(!t.column[0].number && !t.column[0].label && !t.column[0].labels);
  assert_true(t.column[1].number && t.rows == CSV_WORDS_LIMIT + 1);
}

// -- npz ------------------------------------------------------------------------------------------
static void npz_reads(void **state) {
  Arena *a = *state;
  static const char *const file[] = {"two.npz", "packed.npz"};
  for (uint32_t f = 0; f < 2; f++) {
    View v = load(a, file[f]);
    Raws x;
    const char *error;
    double number;
    if (!npz_look(a, v.at, v.n, &x, &error)) fail_msg("%s", error);
    assert_int_equal(x.n, 2 + f);
    assert_string_equal(x.at[0].name, "x");
    assert_true(x.at[0].kind == EL_F32 && x.at[0].rank == 3 && x.at[0].count == 24);
    assert_true(element_load(EL_F32, x.at[0].bytes + 4 * 23, false, &number) && number == 5.75);
    assert_true(x.at[1].kind == EL_I64 && x.at[1].bytes[0] == 2);
    bool inside = x.at[0].bytes >= v.at && x.at[0].bytes < v.at + v.n;
    assert_int_equal(inside, f == 0); // what is not packed is looked at where it lies
  }
}

static void npz_is_hurt(void **state) {
  Arena *a = *state;
  uint32_t cut, turned;
  hurt(read_npz, load(a, "two.npz"), &cut, &turned);
  assert_int_equal(cut, 0);
  hurt(read_npz, load(a, "packed.npz"), &cut, &turned);
  assert_int_equal(cut, 0);
}

// One stored entry with a name and contents of our choice.
static View zip_of(Arena *a, const char *name, const void *bytes, uint32_t n, uint32_t method) {
  Buf b = buf_new(a);
  uint32_t length = (uint32_t)strlen(name), crc = (uint32_t)crc32(0, bytes, n);
  uint8_t local[30] = "PK\3\4", entry[46] = "PK\1\2", end[22] = "PK\5\6";
  for (int i = 0; i < 4; i++) {
    entry[16 + i] = (uint8_t)(crc >> 8 * i);
    entry[20 + i] = entry[24 + i] = (uint8_t)(n >> 8 * i);
    end[12 + i] = (uint8_t)((46 + length) >> 8 * i);
    end[16 + i] = (uint8_t)((30 + length + n) >> 8 * i);
  }
  local[26] = entry[28] = (uint8_t)length;
  entry[10] = (uint8_t)method;
  end[8] = end[10] = 1;
  buf_add(&b, (char *)local, 30), buf_text(&b, name), buf_add(&b, bytes, n);
  buf_add(&b, (char *)entry, 46), buf_text(&b, name), buf_add(&b, (char *)end, 22);
  return (View){(uint8_t *)b.at, b.n};
}

static void npz_refuses(void **state) {
  Arena *a = *state;
  static const char *const bad[] = {"../x.npy", "/etc/x.npy", "a\\x.npy"};
  View npy = load(a, "fortran.npy"), z;
  const char *error;
  for (uint32_t i = 0; i < 3; i++) {
    z = zip_of(a, bad[i], npy.at, (uint32_t)npy.n, 0);
    refused(a, read_npz, z.at, z.n,
            arena_format(a, "entry `%s` of the archive is not a plain name", bad[i]));
  }
  z = zip_of(a, "x.txt", npy.at, (uint32_t)npy.n, 0);
  refused(a, read_npz, z.at, z.n, "entry `x.txt` of the archive is not an npy file");
  z = zip_of(a, "x.npy", npy.at, (uint32_t)npy.n, 12);
  refused(a, read_npz, z.at, z.n, "x.npy: its compression is not supported (only deflate is)");
  z = zip_of(a, "x.npy", "hello", 5, 0);
  refused(a, read_npz, z.at, z.n,
          "x.npy: it begins with `hello`, where an npy file begins with `\\x93NUMPY`");
  z = zip_of(a, "x.npy", npy.at, (uint32_t)npy.n, 0);
  ((uint8_t *)(uintptr_t)z.at)[60] ^= 1;
  refused(a, read_npz, z.at, z.n, "x.npy: its checksum is wrong: the file is damaged");
  static const struct {
    uint32_t at;
    uint8_t byte;
    const char *name;
  } renamed[] = {{30, 'y', "x"}, {26, 4, "x"}, {35 + 46, 'y', "y"}};
  for (uint32_t i = 0; i < 3; i++) { // in its own header, its length there, in the directory
    z = zip_of(a, "x.npy", npy.at, (uint32_t)npy.n, 0);
    uint32_t at = renamed[i].at > 35 ? renamed[i].at + (uint32_t)npy.n : renamed[i].at;
    ((uint8_t *)(uintptr_t)z.at)[at] = renamed[i].byte;
    refused(a, read_npz, z.at, z.n,
            arena_format(a, "%s.npy: it has another name in the directory than in its own header",
                         renamed[i].name));
  }
  refused(a, read_npz, "PK\3\4", 4, "the zip archive is damaged: its end is missing");
  z = zip_of(a, "x.npy", npy.at, (uint32_t)npy.n, 0);
  assert_true(read_npz(a, z.at, z.n, &error));
}

// -- png ------------------------------------------------------------------------------------------
static void png_is(Arena *a, const char *name, uint32_t wide, uint32_t high, uint32_t channels,
                   const char *pixels) {
  View v = load(a, name);
  Picture p;
  const char *error;
  if (!png_read_bytes(a, v.at, v.n, &p, &error)) fail_msg("%s: %s", name, error);
  assert_true(p.width == wide && p.height == high && p.channels == channels);
  assert_memory_equal(p.at, pixels, wide * high * channels);
}

static void png_reads(void **state) {
  Arena *a = *state;
  png_is(a, "grey.png", 3, 2, 1, "\0\200\377\1\2\3");
  png_is(a, "interlaced.png", 3, 2, 1, "\0\200\377\1\2\3");
  png_is(a, "grey1.png", 3, 2, 1, "\377\0\377\0\377\0");
  png_is(a, "grey16.png", 3, 2, 1, "\0\200\377\1\2\3");
  png_is(a, "rgb.png", 2, 2, 3, "\1\2\3\4\5\6\7\10\11\12\13\14");
  png_is(a, "rgba.png", 2, 1, 3, "\12\24\36\377\377\377");
  png_is(a, "palette.png", 2, 1, 3, "\144\156\170\11\10\7");
  png_is(a, "palette2.png", 3, 1, 3, "\1\2\3\4\5\6\1\2\3");
  png_is(a, "palette_clear.png", 2, 1, 3, "\377\377\377\11\10\7");
}

static void png_round_trip(void **state) {
  Arena *a = *state;
  for (uint32_t channels = 1; channels <= 3; channels += 2) {
    Picture p = {37, 29, channels, arena_alloc(a, 37 * 29 * 3)}, q;
    Bytes bytes;
    const char *error;
    for (uint32_t i = 0; i < 37 * 29 * channels; i++) p.at[i] = (uint8_t)(i * i);
    assert_true(png_bytes(a, &p, &bytes, &error));
    assert_true(png_read_bytes(a, bytes.at, bytes.n, &q, &error));
    assert_true(q.height == 37 && q.width == 29 && q.channels == channels);
    assert_memory_equal(p.at, q.at, 37 * 29 * channels);
  }
}

static void png_is_hurt(void **state) {
  Arena *a = *state;
  static const char *const file[] = {"grey.png", "rgba.png", "palette.png", "interlaced.png"};
  for (uint32_t i = 0; i < COUNT(file); i++) {
    uint32_t cut, turned;
    hurt(read_png, load(a, file[i]), &cut, &turned);
    assert_int_equal(cut, 0);
  }
}

static void png_refuses(void **state) {
  Arena *a = *state;
  refused(a, read_png, "GIF89a", 6,
          "it begins with `GIF89a`, where a png begins with \\x89PNG and its size");
  View v = load(a, "palette_short.png");
  refused(a, read_png, v.at, v.n,
          "in row 0 and column 2, counted from 0, is colour 2 of a palette that has 2");
  v = load(a, "grey.png");
  uint8_t *wide = arena_copy(a, v.at, v.n);
  wide[16] = wide[20] = 0x7f; // 2130706435 × 2130706434
  uint32_t sum = (uint32_t)crc32(0, wide + 12, 17);
  for (int i = 0; i < 4; i++) wide[29 + i] = (uint8_t)(sum >> (24 - 8 * i));
  refused(a, read_png, wide, v.n, "the png is damaged: Invalid IHDR data");
  wide[16] = 0, wide[17] = 0x0f, wide[20] = 0, wide[21] = 0x7f; // within libpng's limits
  sum = (uint32_t)crc32(0, wide + 12, 17);
  for (int i = 0; i < 4; i++) wide[29 + i] = (uint8_t)(sum >> (24 - 8 * i));
  size_t before = arena_used(a);
  refused(a, read_png, wide, v.n, "its 983043×8323074 pixels are too many for its bytes");
  assert_in_range(arena_used(a) - before, 0, 10000);
}

// -- json -----------------------------------------------------------------------------------------
static void json_is_copied(void **state) {
  static const char text[] = "{\"a\":[true,false,null,1.5,\"x\"],\"b\":{}}";
  const char *error;
  Buf b = buf_new(*state);
  const Json *j = json_read(*state, text, sizeof text - 1, &error);
  assert_non_null(j);
  JsonOut out = json_out(&b);
  out.tight = true;
  json_copy(&out, NULL, j);
  assert_string_equal(b.at, text);
}

// -- events ---------------------------------------------------------------------------------------
static const char *temp(Arena *a, const char *name) {
  return arena_format(a, "/tmp/limn_readers_%ld_%s", (long)getpid(), name);
}

static void events_write(void **state) {
  Arena *a = *state;
  const char *path = temp(a, "events"), *error;
  Arena *own = arena_child(a);
  assert_int_equal(crc32c("123456789", 9), 0xe3069283);
  Events *e = events_open(own, path, 1.5, &error);
  assert_non_null(e);
  events_scalar(e, 300, 2.5, "loss", 0.25);
  assert_true(events_flush(e, &error));
  arena_free(own);
  FileText f = file_read(a, path, 1000);
  // made by hand from the definition of the form, sums included
  static const char want[] = "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"
                             "brain.Event:2";
  assert_memory_equal(f.text, want, sizeof want - 1);
  static const char event[] =
      "\x09\0\0\0\0\0\0\x04\x40\x10\xac\x02\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\x80\x3e";
  assert_memory_equal(f.text + 40 + 12, event, sizeof event - 1);
  assert_int_equal(f.n, 40 + 16 + sizeof event - 1);
  unlink(path);
}

// A file that was torn in a record goes on after the last whole one.
static void events_go_on(void **state) {
  Arena *a = *state;
  const char *path = temp(a, "torn"), *error;
  size_t whole[3];
  for (int k = 0; k < 3; k++) {
    Arena *own = arena_child(a);
    Events *e = events_open(own, path, 1, &error);
    assert_non_null(e);
    events_scalar(e, k, 1, "x", k);
    assert_true(events_flush(e, &error));
    arena_free(own);
    whole[k] = file_read(a, path, 10000).n;
    if (k == 1) assert_int_equal(truncate(path, (off_t)whole[k] - 3), 0);
  }
  assert_int_equal(whole[2], whole[1]); // record 1 was lost, record 2 is in its place
  file_write(a, path, "something else", 14);
  Arena *own = arena_child(a);
  assert_null(events_open(own, path, 1, &error));
  assert_string_equal(error, arena_format(a, "%s is not a file of events", path));
  arena_free(own);
  assert_int_equal(file_read(a, path, 100).n, 14);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(gzip_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(gzip_many, setup, teardown),
      cmocka_unit_test_setup_teardown(gzip_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(copies_are_compared, setup, teardown),
      cmocka_unit_test_setup_teardown(copies_are_swept, setup, teardown),
      cmocka_unit_test_setup_teardown(short_files, setup, teardown),
      cmocka_unit_test_setup_teardown(idx_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(idx_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_numbers_are_exact, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_words_among_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_reads_what_it_writes, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_is_hurt, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_codings, setup, teardown),
      cmocka_unit_test_setup_teardown(csv_many_words, setup, teardown),
      cmocka_unit_test_setup_teardown(npz_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(npz_is_hurt, setup, teardown),
      cmocka_unit_test_setup_teardown(npz_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(json_is_copied, setup, teardown),
      cmocka_unit_test_setup_teardown(png_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(png_round_trip, setup, teardown),
      cmocka_unit_test_setup_teardown(png_is_hurt, setup, teardown),
      cmocka_unit_test_setup_teardown(png_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(events_write, setup, teardown),
      cmocka_unit_test_setup_teardown(events_go_on, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
