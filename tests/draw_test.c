// Sampling: the order of samples is a permutation and depends only on seed, epoch and batch; a
// loader has the batches that direct reading has.
#define _POSIX_C_SOURCE 200809L
#include "io/data/data.h"

#include <setjmp.h>
#include <stdlib.h>
#include <time.h>
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

static void is_permutation(uint64_t key, int64_t n) {
  uint8_t *seen = calloc((size_t)n, 1);
  for (int64_t i = 0; i < n; i++) {
    int64_t p = shuffle_place(key, n, i);
    assert_true(p >= 0 && p < n && !seen[p]);
    seen[p] = 1;
  }
  free(seen);
}

static void shuffles_are_permutations(void **state) {
  (void)state;
  static const int64_t large[] = {4095, 4096, 4097, 5000, 10007, 16384, 16385, 60000};
  for (int64_t n = 1; n < 100; n++) is_permutation((uint64_t)n * 17, n);
  is_permutation(5, 1000);
  for (uint32_t i = 0; i < COUNT(large); i++)
    if (large[i] > 4096) is_permutation(i, large[i]);
  Draw d = {.rows = 4096, .batch = 4096, .shuffle = true};
  int64_t row[4096];
  uint8_t seen[4096] = {0};
  assert_int_equal(draw_rows(&d, 0, 0, row), 4096);
  for (int i = 0; i < 4096; i++) assert_int_equal(seen[row[i]]++, 0);
}

// Beyond what can be tried out: inside, and no two of many are the same.
static void shuffles_of_very_many(void **state) {
  (void)state;
  static const int64_t n[] = {1 << 20, 4294967295, 4294967297, 1000000000000, (int64_t)1 << 61};
  for (uint32_t k = 0; k < COUNT(n); k++) {
    int64_t p[300];
    for (int i = 0; i < 300; i++) {
      p[i] = shuffle_place(9, n[k], n[k] - 1 - i);
      assert_true(p[i] >= 0 && p[i] < n[k]);
      for (int j = 0; j < i; j++) assert_true(p[i] != p[j]);
    }
  }
}

// Where a row goes is spread evenly over the places, and neighbours do not stay together.
static void shuffles_are_mixed(void **state) {
  (void)state;
  static const int64_t sizes[] = {10, 150, 5000, 60000};
  enum { BINS = 10, TRIES = 5000 };
  for (uint32_t k = 0; k < COUNT(sizes); k++) {
    int64_t n = sizes[k];
    uint32_t place[BINS] = {0}, apart[BINS] = {0};
    for (uint64_t key = 0; key < TRIES; key++) {
      int64_t i = (int64_t)(key % (uint64_t)(n - 1));
      int64_t p = shuffle_place(key, n, i), q = shuffle_place(key, n, i + 1);
      place[p * BINS / n]++;
      apart[((q - p + n) % n) * BINS / n]++;
    }
    double spread = 0, gaps = 0, even = (double)TRIES / BINS;
    for (int b = 0; b < BINS; b++) {
      spread += (place[b] - even) * (place[b] - even) / even;
      gaps += (apart[b] - even) * (apart[b] - even) / even;
    }
    assert_true(spread < 35); // 9 degrees of freedom: above 35 once in 10 000
    if (n > 100) assert_true(gaps < 35);
  }
}

static void epochs_see_every_row(void **state) {
  (void)state;
  Draw d = {.rows = 103, .batch = 10, .seed = 4, .stream = 2, .shuffle = true};
  int64_t first[103], row[10];
  assert_int_equal(draw_batches(&d), 11);
  for (int64_t epoch = 0; epoch < 3; epoch++) {
    uint8_t seen[103] = {0};
    uint32_t same = 0;
    for (int64_t b = 0, at = 0; b < 11; b++) {
      int64_t n = draw_rows(&d, epoch, b, row);
      assert_int_equal(n, b < 10 ? 10 : 3);
      for (int64_t i = 0; i < n; i++, at++) {
        assert_int_equal(seen[row[i]]++, 0);
        if (!epoch) first[at] = row[i];
        same += epoch && first[at] == row[i];
      }
    }
    assert_true(same < 20);
    assert_int_equal(draw_rows(&d, epoch, 11, row), 0);
  }
  d.shuffle = false;
  draw_rows(&d, 7, 3, row);
  for (int i = 0; i < 10; i++) assert_int_equal(row[i], 30 + i);
}

static void streams_are_independent(void **state) {
  (void)state;
  int64_t a[64], b[64];
  Draw d = {.rows = 10000, .batch = 64, .seed = 1, .shuffle = true}, e = d;
  e.stream = 1;
  draw_rows(&d, 0, 0, a);
  draw_rows(&e, 0, 0, b);
  assert_memory_not_equal(a, b, sizeof a);
  e = d;
  draw_rows(&e, 0, 0, b);
  assert_memory_equal(a, b, sizeof a);
}

// Beside a longer set, a short one goes round, each time in another order.
static void short_draws_go_round(void **state) {
  (void)state;
  Draw d = {.rows = 7, .batch = 10, .epoch = 25, .seed = 3, .shuffle = true};
  int64_t row[10], times[7] = {0}, all = 0;
  assert_int_equal(draw_batches(&d), 3);
  for (int64_t epoch = 0; epoch < 7; epoch++)
    for (int64_t b = 0; b < 3; b++) {
      int64_t n = draw_rows(&d, epoch, b, row);
      assert_int_equal(n, b < 2 ? 10 : 5);
      all += n;
      for (int64_t i = 0; i < n; i++) times[row[i]]++;
    }
  assert_int_equal(all, 175);
  for (int i = 0; i < 7; i++) assert_int_equal(times[i], 25); // 175 samples are 25 whole passes
}

// A pass over windows sees each row about once, and begins elsewhere each time.
static void strides_move(void **state) {
  (void)state;
  Draw d = {.rows = 1000, .batch = 64, .stride = 33, .seed = 1, .shuffle = true};
  int64_t row[64], offset[20], kinds = 0;
  assert_int_equal(draw_samples(&d), 30);
  for (int64_t epoch = 0; epoch < 20; epoch++) {
    uint8_t seen[1000] = {0};
    assert_int_equal(draw_rows(&d, epoch, 0, row), 30);
    offset[epoch] = row[0] % 33;
    for (int i = 0; i < 30; i++) {
      assert_true(row[i] >= 0 && row[i] < 1000 && !seen[row[i]]);
      assert_int_equal(row[i] % 33, offset[epoch]);
      seen[row[i]] = 1;
    }
    kinds += epoch && offset[epoch] != offset[0];
  }
  assert_true(kinds > 10);
  d.shuffle = false;
  assert_int_equal(draw_samples(&d), 31); // in order, no tail is left out
  draw_rows(&d, 0, 0, row);
  for (int i = 0; i < 31; i++) assert_int_equal(row[i], i * 33);
}

// -- the loader -----------------------------------------------------------------------------------
static Set *open_set(Arena *a, const char *name) {
  const char *why;
  Set *s = set_open(a, name, &(SetOptions){0}, &why);
  if (!s) fail_msg("%s", why);
  return s;
}

// Every batch of some epochs, begun at (epoch, batch), against rows that are drawn and read here.
// The user is busy between two batches if he is slow.
static void compare_slow(Arena *a, const LoaderPlan *p, int64_t epoch, int64_t batch,
                         int64_t batches, bool slow) {
  const char *why;
  Loader *l = loader_new(a, p, epoch, batch, &why);
  if (!l) fail_msg("%s", why);
  int64_t *row = NEW_ARRAY(a, int64_t, p->draw[0].batch);
  for (int64_t k = 0; k < batches; k++) {
    const Batch *b = loader_next(l);
    assert_non_null(b);
    assert_true(b->epoch == epoch && b->batch == batch);
    for (uint32_t i = 0; i < p->sources; i++) {
      const LoaderSource *s = &p->source[i];
      int64_t n = draw_rows(&p->draw[s->draw], epoch, batch, row);
      int64_t count = s->field == FIELD_INDEX ? 1 : field_count(set_field(s->set, s->field));
      size_t size = s->number == NUMBER_F64 ? 8 : s->number == NUMBER_U8 ? 1 : 4;
      size_t bytes = (size_t)(n * count) * size;
      void *want = malloc(bytes);
      assert_int_equal(n, b->n);
      assert_int_equal((uintptr_t)b->data[i] % 64, 0);
      assert_true(set_read(s->set, (SetRows){s->split, s->field, row, n}, s->number, want, &why));
      assert_memory_equal(want, b->data[i], bytes);
      free(want);
    }
    if (++batch == draw_batches(&p->draw[0])) batch = 0, epoch++;
    if (slow) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  assert_true(loader_waited(l) >= 0 && loader_waited(l) <= 1);
  loader_free(l);
}

static void compare(Arena *a, const LoaderPlan *p, int64_t epoch, int64_t batch, int64_t batches) {
  compare_slow(a, p, epoch, batch, batches, false);
}

static void small_batches(void **state) {
  Arena *a = *state;
  Set *iris = open_set(a, "iris"), *moons = open_set(a, "moons");
  Draw draw[] = {
      {.rows = 2000, .batch = 32, .seed = 5, .shuffle = true},
      {.rows = 100, .batch = 32, .epoch = 2000, .seed = 5, .stream = 1, .shuffle = true}};
  LoaderSource source[] = {{moons, SPLIT_TRAIN, 0, NUMBER_F32, 0},
                           {moons, SPLIT_TRAIN, 1, NUMBER_I32, 0},
                           {iris, SPLIT_TRAIN, 0, NUMBER_F64, 1},
                           {iris, SPLIT_TRAIN, FIELD_INDEX, NUMBER_I32, 1}};
  LoaderPlan plan = {2, draw, 4, source};
  compare(a, &plan, 0, 0, 200);
  compare(a, &plan, 3, 17, 100);
  compare(a, &plan, 1, 62, 5); // the last batch is short
}

static void large_batches(void **state) {
  Arena *a = *state;
  Set *glyphs = open_set(a, "glyphs"), *scenes = open_set(a, "scenes");
  Draw draw[] = {{.rows = 2000, .batch = 150, .epoch = 2000, .seed = 5, .shuffle = true},
                 {.rows = 2000, .batch = 150, .seed = 5, .stream = 9, .shuffle = true}};
  LoaderSource source[] = {{glyphs, SPLIT_TEST, 0, NUMBER_F32, 0},
                           {glyphs, SPLIT_TEST, 1, NUMBER_I32, 0},
                           {scenes, SPLIT_TEST, 0, NUMBER_F32, 1},
                           {scenes, SPLIT_TEST, 1, NUMBER_I32, 1}};
  LoaderPlan plan = {2, draw, 4, source};
  compare(a, &plan, 0, 0, 20);
  compare(a, &plan, 5, 11, 10);
}

// A filler begins while pictures are drawn, and retires when all are there.
static void fillers_retire(void **state) {
  Arena *a = *state;
  Set *glyphs = open_set(a, "glyphs");
  Draw draw = {.rows = 2000, .batch = 100, .seed = 5, .shuffle = true};
  LoaderSource source = {glyphs, SPLIT_TEST, 0, NUMBER_F32, 0};
  compare_slow(a, &(LoaderPlan){1, &draw, 1, &source}, 0, 0, 200, true);
}

// A loader that is given up with batches ready, being filled, or never asked for.
static void loaders_are_given_up(void **state) {
  Arena *a = *state;
  Set *glyphs = open_set(a, "glyphs");
  Draw draw = {.rows = 10000, .batch = 100, .shuffle = true};
  LoaderSource source = {glyphs, SPLIT_TRAIN, 0, NUMBER_F32, 0};
  const char *why;
  for (int k = 0; k < 30; k++) {
    Loader *l = loader_new(a, &(LoaderPlan){1, &draw, 1, &source}, 0, 0, &why);
    for (int i = 0; i < k % 15; i++) assert_non_null(loader_next(l)); // from 9 on by a thread
    if (k % 2) loader_free(l); // the others go with the arena
  }
}

static void loaders_refuse(void **state) {
  Arena *a = *state;
  Draw none = {.rows = 0, .batch = 10},
       some[] = {{.rows = 10, .batch = 10}, {.rows = 30, .batch = 10}};
  const char *why = NULL;
  assert_null(loader_new(a, &(LoaderPlan){1, &none, 0, NULL}, 0, 0, &why));
  assert_string_equal(why, "a split has no rows");
  assert_null(loader_new(a, &(LoaderPlan){2, some, 0, NULL}, 0, 0, &why));
  assert_string_equal(why, "draws have different batches or epochs");
}

// A picture that is gone is an error of the batch that needs it, from either way of loading.
static void loaders_fail(void **state) {
  Arena *a = *state;
  const char *folder = arena_format(a, "/tmp/limn_draw_%ld", (long)getpid()), *why;
  Picture p = {64, 64, 1, arena_alloc(a, 64 * 64)};
  if (system(arena_format(a, "mkdir -p %s", folder))) fail();
  for (int i = 0; i < 20; i++)
    assert_true(png_write(a, arena_format(a, "%s/%02d.png", folder, i), &p, &why));
  for (int64_t batch = 1; batch <= 4; batch += 3) { // 32 KB and 128 KB: inline, and by a thread
    Set *s = open_set(a, folder);
    Draw d = {.rows = set_rows(s, SPLIT_TRAIN), .batch = batch};
    LoaderSource source = {s, SPLIT_TRAIN, 0, NUMBER_F64, 0};
    const char *gone = arena_format(a, "%s/%s", folder, batch == 1 ? "05.png" : "06.png");
    assert_int_equal(unlink(gone), 0);
    Loader *l = loader_new(a, &(LoaderPlan){1, &d, 1, &source}, 0, 0, &why);
    int64_t good = 0;
    while (good < 100 && loader_next(l)) good++;
    assert_true(good < 8);
    assert_string_equal(loader_error(l),
                        arena_format(a, "cannot read %s: No such file or directory", gone));
    assert_null(loader_next(l));
    loader_free(l);
    set_close(s);
  }
  if (system(arena_format(a, "rm -r %s", folder))) fail();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(shuffles_are_permutations, setup, teardown),
      cmocka_unit_test_setup_teardown(shuffles_of_very_many, setup, teardown),
      cmocka_unit_test_setup_teardown(shuffles_are_mixed, setup, teardown),
      cmocka_unit_test_setup_teardown(epochs_see_every_row, setup, teardown),
      cmocka_unit_test_setup_teardown(streams_are_independent, setup, teardown),
      cmocka_unit_test_setup_teardown(short_draws_go_round, setup, teardown),
      cmocka_unit_test_setup_teardown(strides_move, setup, teardown),
      cmocka_unit_test_setup_teardown(small_batches, setup, teardown),
      cmocka_unit_test_setup_teardown(large_batches, setup, teardown),
      cmocka_unit_test_setup_teardown(fillers_retire, setup, teardown),
      cmocka_unit_test_setup_teardown(loaders_are_given_up, setup, teardown),
      cmocka_unit_test_setup_teardown(loaders_refuse, setup, teardown),
      cmocka_unit_test_setup_teardown(loaders_fail, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
