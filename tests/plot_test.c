// Plots: every view draws its data, no text covers another or leaves the picture, numbers that are
// not finite are reported and not drawn, wrong shapes are refused with a reason.
#define _GNU_SOURCE
#include "base/files.h"
#include "show/canvas/marks.h"
#include "show/report/plot_own.h"
#include "show/report/report.h"

#include "show/report/report.h"
#include "shown_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/stat.h>
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

static Canvas *plot(Arena *a, const Shown *s) {
  const char *error = NULL;
  Canvas *c = plot_shown(a, s, &error);
  if (!c) fail_msg("%s as %s: %s", s->text, s->view ? s->view : "?", error);
  return c;
}

static void refused(Arena *a, const Shown *s, const char *message) {
  const char *error = NULL;
  assert_null(plot_shown(a, s, &error));
  assert_string_equal(error, message);
}

// -- what is on a canvas --------------------------------------------------------------------------
static uint32_t count_kind(const Canvas *c, MarkKind kind) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->mark.n; i++) n += c->mark.at[i].kind == kind;
  return n;
}

static bool has_text(const Canvas *c, const char *words) {
  for (uint32_t i = 0; i < c->mark.n; i++)
    if (c->mark.at[i].kind == MARK_TEXT && strcmp(c->mark.at[i].text.words, words) == 0)
      return true;
  return false;
}

static const Picture *picture_at(const Canvas *c, uint32_t k) {
  for (uint32_t i = 0; i < c->mark.n; i++)
    if (c->mark.at[i].kind == MARK_IMAGE && k-- == 0) return &c->mark.at[i].image.picture;
  return NULL;
}

typedef struct {
  double x0, y0, x1, y1;
} Place;

static Place text_box(const Mark *m) {
  const Text *t = &m->text.how;
  double w = text_width(t->face, t->size, m->text.words), up = 0.72 * t->size,
         down = 0.05 * t->size;
  double s = m->text.start;
  if (t->angle == 0)
    return (Place){m->text.x + s, m->text.y - up, m->text.x + s + w, m->text.y + down};
  assert_true(t->angle == -90);
  return (Place){m->text.x - up, m->text.y - s - w, m->text.x + down, m->text.y - s};
}

static bool overlap(Place a, Place b) {
  return a.x0 < b.x1 - 0.01 && b.x0 < a.x1 - 0.01 && a.y0 < b.y1 - 0.01 && b.y0 < a.y1 - 0.01;
}

static void check_texts(const Canvas *c) {
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind != MARK_TEXT) continue;
    Place b = text_box(m);
    if (b.x0 < -0.5 || b.y0 < -0.5 || b.x1 > c->width + 0.5 || b.y1 > c->height + 2)
      fail_msg("%s: \"%s\" at %g %g %g %g leaves the picture of %g %g", c->title, m->text.words,
               b.x0, b.y0, b.x1, b.y1, c->width, c->height);
    for (uint32_t k = i + 1; k < c->mark.n; k++) {
      const Mark *n = &c->mark.at[k];
      if (n->kind == MARK_TEXT && overlap(b, text_box(n)))
        fail_msg("%s: \"%s\" covers \"%s\"", c->title, m->text.words, n->text.words);
    }
  }
}

// -- all views ------------------------------------------------------------------------------------
static void test_gallery(void **state) {
  Arena *a = *state;
  Shows all = {0};
  shown_gallery(a, &all);
  for (uint32_t i = 0; i + 1 < all.n; i++) {
    Canvas *c = plot(a, &all.at[i]);
    check_texts(c);
    assert_true(c->mark.n > 0 && c->open == 0);
    Buf one = buf_new(a), two = buf_new(a);
    canvas_svg(c, &(Look){0}, &one);
    canvas_svg(plot(a, &all.at[i]), &(Look){0}, &two);
    assert_string_equal(one.at, two.at);
  }
  refused(a, &all.at[all.n - 1],
          "`f(x)` cannot be shown as images: found values [10 7], wanted [n h w], [n h w 3], or "
          "[n p] with p a square");
}

// Every view with numbers of every size and with gaps: it draws or refuses, and texts keep apart.
static void test_any_numbers(void **state) {
  static const double scale[] = {0, 1e-300, 1e-9, 1, 12345.678, 1e9, 1e99, 1e308};
  Arena *a = arena_child(*state);
  for (uint32_t k = 0; k < 8 * COUNT(scale); k++) {
    Shows all = {0};
    shown_gallery(a, &all);
    for (uint32_t i = 0; i < all.n; i++) {
      const char *error = NULL;
      Shown *s = &all.at[i];
      Array *x = &s->value.array.at[0];
      for (int64_t j = 0; j < x->count; j++) {
        double u = shown_noise((uint32_t)j + 7919 * k);
        if (s->name && s->name[0] && !strcmp(s->view ? s->view : "", "text")) continue;
        x->data[j] = (k % 2 ? x->data[j] : u - 0.5) * scale[k / 8] + (k % 4 == 3 ? 1000 : 0);
        if (k % 8 >= 4 && u < 0.1) x->data[j] = u < 0.03 ? NAN : u < 0.06 ? INFINITY : -INFINITY;
        if (k % 8 == 7) x->data[j] = NAN;
      }
      Canvas *c = plot_shown(a, s, &error);
      if (c)
        check_texts(c);
      else
        assert_non_null(error);
    }
    arena_free(a);
    a = arena_child(*state);
  }
  arena_free(a);
}

// Names that are far too long, on every view.
static void test_long_names(void **state) {
  Arena *a = *state;
  static const char *const label[] = {"a very long label that fits nowhere at all",
                                      "Übergrößenträger & <Söhne>",
                                      "",
                                      "x",
                                      "y",
                                      "one more of those that are much too long",
                                      "z",
                                      "a b",
                                      "ffffffffffffffffffffffffffffff",
                                      "w",
                                      "k"};
  Shows all = {0};
  shown_gallery(a, &all);
  for (uint32_t i = 0; i + 1 < all.n; i++) {
    Shown *s = &all.at[i];
    const char *const **name = NEW_ARRAY(a, const char *const *, s->value.array.n);
    for (uint32_t k = 0; k < s->value.array.n; k++) {
      s->value.array.at[k].name =
          "softmax(classify(image, other_image, \"a\")[i j k]) * 0.001 + rest";
      name[k] = s->name && s->name[k] ? label : NULL;
    }
    s->name = (const char *const *const *)name;
    check_texts(plot(a, s));
  }
}

static void many(Arena *a, const char *view, const int64_t *shape, bool samples, uint32_t moments) {
  Shown *s = shown_new(a, "confusion(x)", view);
  double *x = shown_add(a, s, "x", shape), *t = NEW_ARRAY(a, double, moments + 1);
  const Array *array = &s->value.array.at[0];
  int64_t k = array->shape[array->rank - 1];
  for (int64_t i = 0; i < array->count; i++)
    x[i] = strcmp(view, "paths") ? 1000 * shown_noise((uint32_t)i) : 1.0 / (double)k;
  for (uint32_t i = 0; i < moments; i++) t[i] = -1.234 + 0.01 * i;
  s->samples = samples;
  if (moments) s->over = "t", s->moments = moments, s->moment = t;
  check_texts(plot(a, s));
}

static void test_many(void **state) {
  Arena *a = *state;
  many(a, "curves", SHAPE(50, 40), false, 0);
  many(a, "curves", SHAPE(24, 90), true, 0);
  many(a, "curves", SHAPE(1), false, 0);
  many(a, "images", SHAPE(1000, 28, 28), true, 0);
  many(a, "images", SHAPE(1, 700, 900), true, 0);
  many(a, "strip", SHAPE(9, 30, 16, 16), true, 30);
  many(a, "strip", SHAPE(60, 16, 16), false, 60);
  many(a, "matrix", SHAPE(64, 64), false, 0);
  many(a, "matrix", SHAPE(100, 30), false, 0);
  many(a, "matrix", SHAPE(1, 12), false, 0);
  many(a, "matrix", SHAPE(40, 2), false, 0);
  many(a, "spacetime", SHAPE(5000, 3), false, 0);
  many(a, "spacetime", SHAPE(1, 1), false, 0);
  for (int64_t k = 2; k < 60; k += k < 12 ? 1 : 9) many(a, "paths", SHAPE(20, 7, k), false, 0);
  many(a, "table", SHAPE(50, 4, 5), true, 0);
  many(a, "table", SHAPE(50, 3), false, 50);
  many(a, "latent", SHAPE(5000, 40), true, 0);
}

static void test_words(void **state) {
  Arena *a = *state;
  Shows all = {0};
  shown_gallery(a, &all);
  Canvas *confusion = plot(a, &all.at[0]), *strip = plot(a, &all.at[2]);
  assert_true(has_text(confusion, "truth") && has_text(confusion, "said"));
  assert_true(has_text(confusion, "seven") && has_text(confusion, "985"));
  assert_true(has_text(strip, "t = 0.25") && has_text(strip, "t = 1"));
  assert_int_equal(count_kind(strip, MARK_IMAGE), 20);
  Canvas *paths = plot(a, &all.at[6]), *curves = plot(a, &all.at[7]);
  assert_true(has_text(paths, "rock") && has_text(paths, "scissors"));
  assert_true(has_text(paths, "q: probability of 0") && has_text(paths, "4"));
  assert_true(has_text(curves, "rabbits") && has_text(curves, "foxes"));
  Canvas *latent = plot(a, &all.at[4]), *table = plot(a, &all.at[11]);
  assert_true(has_text(latent, "nine") && has_text(table, "nan") && has_text(table, "…"));
  assert_true(has_text(table, "20 of 30 rows"));
}

// -- pictures -------------------------------------------------------------------------------------
static void test_pixels(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "images");
  double *x = shown_add(a, s, "x", SHAPE(2, 2, 3));
  s->samples = true;
  for (int i = 0; i < 12; i++) x[i] = i / 11.0;
  Canvas *c = plot(a, s);
  const Picture *q = picture_at(c, 1);
  assert_int_equal(count_kind(c, MARK_IMAGE), 2);
  assert_true(q->height == 2 && q->width == 3 && q->channels == 1);
  assert_int_equal(q->at[0], (int)(6 / 11.0 * 255 + 0.5)); // as it is
  assert_int_equal(q->at[5], 255);
  x[0] = -1, x[11] = 3;
  q = picture_at(plot(a, s), 1);
  assert_int_equal(q->at[5], 255); // to the range that was seen
  assert_int_equal(q->at[0], (int)((6 / 11.0 + 1) / 4 * 255 + 0.5));
  assert_true(has_text(plot(a, s), "x: black is −1, white is 3"));
}

static void test_picture_size(void **state) {
  Arena *a = *state;
  static const int64_t side[] = {2, 8, 28, 32, 64, 200};
  for (uint32_t i = 0; i < COUNT(side); i++) {
    Shown *s = shown_new(a, "x", "images");
    shown_add(a, s, "x", SHAPE(5, side[i] * side[i]));
    s->samples = true;
    Canvas *c = plot(a, s);
    const Mark *m = &c->mark.at[0];
    assert_true(m->kind == MARK_IMAGE && m->image.w >= 28 && m->image.w == m->image.h);
    assert_true(fmod(m->image.w, (double)side[i]) == 0);
    assert_true(c->mark.at[1].image.x == m->image.w + 2); // a gap
    assert_true(c->mark.at[3].image.y == m->image.h + 2); // three in a row
    assert_int_equal(count_kind(c, MARK_IMAGE), 5);
  }
}

static void test_planes(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "images"), *t = shown_new(a, "x", "images");
  double *x = shown_add(a, s, "x", SHAPE(1, 4, 4, 3)), *y = shown_add(a, t, "x", SHAPE(1, 3, 4, 4));
  s->samples = t->samples = true;
  for (int i = 0; i < 48; i++) x[i] = shown_noise((uint32_t)i), y[i % 3 * 16 + i / 3] = x[i];
  const Picture *p = picture_at(plot(a, s), 0), *q = picture_at(plot(a, t), 0);
  assert_true(p->channels == 3 && q->channels == 3);
  assert_memory_equal(p->at, q->at, 48);
}

static void test_holes(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "images");
  double *x = shown_add(a, s, "x", SHAPE(1, 8, 8));
  s->samples = true;
  x[9] = NAN, x[10] = INFINITY;
  Canvas *c = plot(a, s);
  assert_int_equal(count_kind(c, MARK_PATH), 1);
  assert_true(has_text(c, "2 values of x are not finite and left out"));
}

static void test_options(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "images");
  shown_add(a, s, "x", SHAPE(10, 8, 8));
  s->samples = true;
  s->options = 2;
  s->option[0] = 2, s->option[1] = 3;
  assert_int_equal(count_kind(plot(a, s), MARK_IMAGE), 6);
  s->option[0] = 4, s->option[1] = 4; // places stay empty
  assert_int_equal(count_kind(plot(a, s), MARK_IMAGE), 10);
  s->option[0] = 2.5;
  refused(a, s, "`x` as images: found 2.5 in the brackets, wanted a whole number from 1 to 4096");
  s->option[0] = NAN;
  refused(a, s, "`x` as images: found nan in the brackets, wanted a whole number from 1 to 4096");
  s->option[0] = s->option[1] = 4096;
  refused(a, s, "`x` as images[4096, 4096]: at most 4096 are shown");
}

// -- which view -----------------------------------------------------------------------------------
static const char *chosen(Arena *a, const int64_t *shape, bool samples) {
  Shown *s = shown_new(a, "x", NULL);
  double *x = shown_add(a, s, "x", shape);
  for (int64_t i = 0; i < s->value.array.at[0].count; i++) x[i] = shown_noise((uint32_t)i);
  s->samples = samples;
  const char *about = plot(a, s)->about;
  return arena_text(a, about, strcspn(about, " "));
}

static void test_choice(void **state) {
  Arena *a = *state;
  assert_string_equal(chosen(a, SHAPE(4, 8, 8), true), "Pictures");
  assert_string_equal(chosen(a, SHAPE(4, 32, 32, 3), true), "Pictures");
  assert_string_equal(chosen(a, SHAPE(4, 7, 8), true), "Table");
  assert_string_equal(chosen(a, SHAPE(5, 5), false), "Matrix");
  assert_string_equal(chosen(a, SHAPE(5, 5), true), "Table");
  assert_string_equal(chosen(a, SHAPE(9, 2), true), "Points");
  assert_string_equal(chosen(a, SHAPE(9), true), "Table");
  Shown *s = shown_new(a, "x", NULL);
  shown_add(a, s, "x", (const int64_t[]){0}); // one number
  assert_true(has_text(plot(a, s), "0"));
}

static void test_refusals(void **state) {
  Arena *a = *state;
  static const struct {
    const char *view, *message;
  } want[] = {
      {"imgaes", "`x` cannot be shown as imgaes: did you mean images?"},
      {"scatter",
       "`x` cannot be shown as scatter: found values [2 4 4 5], wanted [n z] with z of 2 "
       "or more, or two arrays [n]"},
      {"latent",
       "`x` cannot be shown as latent: found values [2 4 4 5], wanted [n z] with z of 2 or more"},
      {"curves", "`x` cannot be shown as curves: found values [2 4 4 5], wanted [t] or [t k]"},
      {"matrix", "`x` cannot be shown as matrix: found values [2 4 4 5], wanted [rows columns]"},
      {"spacetime", "`x` cannot be shown as spacetime: found values [2 4 4 5], wanted [t x]"},
      {"phase",
       "`x` cannot be shown as phase: found values [2 4 4 5], wanted two arrays [t], or one [t 2]"},
      {"paths", "`x` cannot be shown as paths: found values [2 4 4 5], wanted [steps k] with k of "
                "2 or more, rows that sum to 1"},
      {"text", "`x` cannot be shown as text: found values [2 4 4 5], wanted labels that have "
               "names, as letters do, [t] or [n t]"},
      {"images", "`x` cannot be shown as images: found values [2 4 4 5], wanted [n h w], "
                 "[n h w 3], or [n p] with p a square"},
  };
  for (uint32_t i = 0; i < COUNT(want); i++) {
    Shown *s = shown_new(a, "x", want[i].view);
    shown_add(a, s, "x", SHAPE(2, 4, 4, 5));
    refused(a, s, want[i].message);
  }
  Shown *s = shown_new(a, "x", "table");
  refused(a, s, "`x`: there is nothing to show");
  s = shown_new(a, "p", "paths");
  shown_add(a, s, "p", SHAPE(3, 3))[0] = 1.5;
  refused(a, s,
          "`p` cannot be shown as paths: found a row that sums to 1.5, or with a negative "
          "number; wanted probabilities");
  s = shown_new(a, "x, y", "scatter");
  shown_add(a, s, "x", SHAPE(5, 2)), shown_add(a, s, "y", SHAPE(4));
  refused(a, s,
          "`y` cannot be shown as scatter: found values [4], wanted [5]: a label or a number "
          "for each point");
  s = shown_new(a, "x", "strip");
  shown_add(a, s, "x", SHAPE(4, 3, 8, 8));
  s->samples = true, s->over = "t", s->moments = 5, s->moment = (const double[]){0, 1, 2, 3, 4};
  refused(a, s,
          "`x` cannot be shown as strip: found values [4 3 8 8], wanted an axis of 5 values "
          "of t behind the samples");
}

// -- scales ---------------------------------------------------------------------------------------
static void test_ticks(void **state) {
  Arena *a = arena_child(*state);
  for (uint32_t k = 0; k < 2000; k++) {
    double size = pow(10, 24 * shown_noise(k) - 12), low = (shown_noise(k + 5000) - 0.5) * size;
    Scale s = {low, low + size * (0.01 + shown_noise(k + 9000)), false, 0, 400};
    Ticks t = scale_ticks(a, &s, 6, false);
    assert_true(t.n >= 2 && t.n <= 7);
    for (uint32_t i = 0; i < t.n; i++) {
      double step = t.at[1] - t.at[0], digit = step / pow(10, floor(log10(step) + 1e-6));
      assert_true(fabs(digit - 1) < 1e-6 || fabs(digit - 2) < 1e-6 || fabs(digit - 5) < 1e-6);
      assert_true(t.at[i] >= s.low - 1e-9 * size && t.at[i] <= s.high + 1e-9 * size);
      assert_true(!i || strcmp(t.text[i], t.text[i - 1]) != 0);
    }
  }
  Ticks t = scale_ticks(a, &(Scale){1e-6, 200, true, 0, 300}, 6, false);
  assert_string_equal(t.text[0], "1e−6");
  assert_string_equal(t.text[t.n - 1], "100");
  arena_free(a);
}

static void test_numbers(void **state) {
  Arena *a = *state;
  assert_string_equal(number_text(a, 1e-7), "1e−7");
  assert_string_equal(number_text(a, -2.5e+30), "−2.5e30");
  assert_string_equal(number_text(a, -0.0), "0");
  assert_string_equal(number_text(a, 469), "469");
  assert_string_equal(number_fixed(a, -0.0001, 2), "0.00");
  const char *cut = text_cut(a, FACE_SANS, 11, "äöüäöüäöüäöü", 30);
  assert_true(text_width(FACE_SANS, 11, cut) <= 30 && text_is_utf8(cut, strlen(cut)));
}

static void test_spread(void **state) {
  (void)state;
  for (uint32_t k = 0; k < 500; k++) {
    double place[12];
    uint32_t n = 1 + k % 12;
    for (uint32_t i = 0; i < n; i++) place[i] = 200 * shown_noise(100 * k + i);
    for (uint32_t i = 1; i < n; i++) // in order, as lines end
      for (uint32_t j = i; j && place[j] < place[j - 1]; j--) {
        double x = place[j];
        place[j] = place[j - 1], place[j - 1] = x;
      }
    labels_spread(place, n, 14, 0, 200);
    for (uint32_t i = 0; i < n; i++) {
      assert_true(place[i] >= -1e-9 && place[i] <= 200 + 1e-9);
      assert_true(!i || place[i] - place[i - 1] >= 14 - 1e-9);
    }
  }
}

// A million points are as cheap as a thousand, and no spike is lost.
static void test_thinning(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "curves");
  double *x = shown_add(a, s, "x", SHAPE(1000000));
  for (uint32_t i = 0; i < 1000000; i++) x[i] = 0.1 * shown_noise(i);
  x[654321] = 1;
  Canvas *c = plot(a, s);
  double top = 1e9;
  assert_true(c->path.n < 3000);
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind != MARK_PATH || m->path.paint.stroke != INK_SERIES1) continue;
    for (uint32_t k = 0; k < m->path.n; k++) top = fmin(top, c->path.at[m->path.first + k].y);
  }
  assert_true(top < 40);
}

static void test_gaps(void **state) {
  Arena *a = *state;
  Shown *s = shown_new(a, "x", "curves");
  double *x = shown_add(a, s, "x", SHAPE(9));
  for (int i = 0; i < 9; i++) x[i] = i;
  x[3] = NAN, x[5] = INFINITY; // 4 stands alone
  Canvas *c = plot(a, s);
  uint32_t moves = 0, dots = 0;
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind != MARK_PATH) continue;
    dots += m->path.paint.fill == INK_SERIES1;
    if (m->path.paint.stroke != INK_SERIES1 || m->path.paint.width != 1.5) continue;
    for (uint32_t k = 0; k < m->path.n; k++)
      moves += c->path.at[m->path.first + k].kind == STEP_MOVE;
  }
  assert_true(moves >= 2 && dots == 1);
  assert_true(has_text(c, "2 values of x are not finite and left out"));
}

// -- principal axes -------------------------------------------------------------------------------
static void test_axes(void **state) {
  Arena *a = *state;
  enum { N = 500, Z = 6 };
  double *x = NEW_ARRAY(a, double, N *Z), (*to)[2] = (double(*)[2])NEW_ARRAY(a, double, 2 * N);
  double share[2], u[Z] = {1, 2, 0, -1, 0, 1}, v[Z] = {2, -1, 0, 0, 3, 0}; // orthogonal
  double lu = sqrt(7), lv = sqrt(14), all = 0, one = 0, two = 0;
  for (int i = 0; i < N; i++) {
    double p = 5 * cos(i), q = 2 * sin(1.7 * i);
    for (int k = 0; k < Z; k++) x[i * Z + k] = 3 + p * u[k] / lu + q * v[k] / lv;
  }
  x[7 * Z + 2] = NAN;
  principal_axes(a, x, N, Z, to, share);
  assert_true(isnan(to[7][0]) && isnan(to[7][1]));
  for (int i = 0; i < N; i++) {
    if (i == 7) continue;
    for (int j = i + 1; j < N; j += 37) { // distances stay, since all lies in a plane
      double d = 0, e = 0;
      if (j == 7) continue;
      for (int k = 0; k < Z; k++) d += pow(x[i * Z + k] - x[j * Z + k], 2);
      for (int k = 0; k < 2; k++) e += pow(to[i][k] - to[j][k], 2);
      assert_true(fabs(sqrt(d) - sqrt(e)) < 1e-6);
    }
    one += to[i][0] * to[i][0], two += to[i][1] * to[i][1], all += to[i][0] * to[i][1];
  }
  assert_true(one > two && fabs(all) < 1e-3 * sqrt(one * two)); // the wider first, uncorrelated
  assert_true(fabs(share[0] + share[1] - 1) < 1e-9);
  double flat[4 * 3] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}; // no spread at all
  principal_axes(a, flat, 4, 3, to, share);
  assert_true(to[0][0] == to[3][0] && share[0] == 0);
}

// -- metrics --------------------------------------------------------------------------------------
static const char *folder(Arena *a) {
  const char *dir = arena_format(a, "/tmp/limn_plot_%ld", (long)getpid());
  mkdir(dir, 0777);
  return dir;
}

static bool metrics(Arena *a, const char *text, const char *run, Metrics *m, const char **error) {
  const char *path = arena_format(a, "%s/m.csv", folder(a)),
             *said = arena_format(a, "%s/run.json", folder(a));
  RunNote note = {0};
  assert_null(file_write(a, path, text, strlen(text)));
  if (run) assert_null(file_write(a, said, run, strlen(run)));
  if (run) assert_true(note_read(a, folder(a), &note, error));
  bool good = metrics_read(a, path, &note, m, error);
  unlink(path);
  unlink(said);
  rmdir(folder(a));
  return good;
}

static void test_metrics(void **state) {
  Arena *a = *state;
  Metrics m;
  const char *error;
  const char *text = "step,epoch,time,fit,hits\n1,0,0.1,2.5,\n2,0,0.2,nan,\n3,1,0.3,1e-3,0.5\n"
                     "4,1,0.4,inf,\r\n5,2,0.5,0.1,0.25\n6,2,0.";
  assert_true(metrics(a, text, NULL, &m, &error));
  assert_true(m.rows == 5 && m.curves == 2);
  assert_true(m.curve[0].n == 5 && !m.curve[0].measure && m.curve[1].n == 2 && m.curve[1].measure);
  assert_true(isnan(m.curve[0].value[1]) && m.curve[1].step[1] == 5 &&
              !m.curve[1].judged); // its name says nothing
  assert_int_equal(best_of(m.curve[1].value, m.curve[1].n, 1, true), 0);
  assert_int_equal(best_of(m.curve[0].value, m.curve[0].n, 1, m.curve[0].up), 2);
  check_texts(plot_metrics(a, &m, false));
  assert_true(has_text(plot_metrics(a, &m, false), "2 values of fit are not finite and left out"));
  assert_true(has_text(plot_metrics(a, &m, true), "hits 0.25"));
  assert_true(metrics(a, text, "{\"measures\": [{\"name\": \"fit\", \"up\": true}]}", &m, &error));
  assert_true(m.curve[0].measure && m.curve[0].up && !m.curve[1].measure);
  assert_true(metrics(a, "", NULL, &m, &error) && !m.curves && !plot_metrics(a, &m, true));
  assert_true(metrics(a, "step,epoch,time,fit\n", NULL, &m, &error) && m.curves == 1);
  assert_null(plot_metrics(a, &m, false));
  assert_false(metrics(a, "step,time\n", NULL, &m, &error));
  assert_non_null(strstr(error, "m.csv: found time in the header, wanted epoch"));
  assert_false(metrics(a, "step,epoch,time,fit\n1,0,0,x<y\n", NULL, &m, &error));
  assert_non_null(strstr(error, "m.csv:2: found x<y, wanted a number"));
}

// -- the report -----------------------------------------------------------------------------------
static const char *page_of(Arena *a, const char *dir) {
  FileText f = file_read(a, arena_format(a, "%s/report.html", dir), 1 << 24);
  assert_non_null(f.text);
  return f.text;
}

static void remove_folder(const char *dir) {
  char *command = NULL;
  assert_true(asprintf(&command, "rm -r '%s'", dir) > 0);
  assert_int_equal(system(command), 0);
  free(command);
}

static void test_report(void **state) {
  Arena *a = *state;
  const char *dir = folder(a), *error;
  Shows all = {0};
  shown_gallery(a, &all);
  Report r = {.dir = dir, .shown = &all, .who = "     f  g\nfit  moves  ·\n"};
  assert_false(report_write(a, &r, &error));
  assert_non_null(strstr(error, "is not a run folder: cannot read"));
  assert_true(shown_folder(a, dir));
  if (!report_write(a, &r, &error)) fail_msg("%s", error);
  const char *page = page_of(a, dir);
  assert_null(strstr(page, "<script"));
  assert_null(strstr(page, "src=\"http")); // nothing is fetched
  assert_non_null(strstr(page, "<pre class=\"words\">"));
  assert_non_null(strstr(page, "&lt;script&gt;alert(&quot;no&quot;)&lt;/script&gt;"));
  assert_non_null(strstr(page, "<b>given</b> image, label <b>from</b> mnist"));
  assert_non_null(strstr(page, "<th scope=\"row\">fit.hits <small>on mnist.test</small></th>"));
  assert_non_null(
      strstr(page, "<th scope=\"row\">fit</th><td>moves</td><td class=\"none\">·</td>"));
  assert_non_null(strstr(page, "`f(x)` cannot be shown as images: found values [10 7]"));
  assert_non_null(strstr(page, "<dt>hash</dt><dd>2f57880dfa99edb5</dd>"));
  assert_true(path_exists(arena_format(a, "%s/shown/03-put-s-t.svg", dir)));
  assert_true(path_exists(arena_format(a, "%s/shown/03-put-s-t.png", dir)));
  assert_true(report_write(a, &r, &error));
  assert_string_equal(page, page_of(a, dir));
  remove_folder(dir);
}

static void test_bare_report(void **state) {
  Arena *a = *state;
  const char *dir = folder(a), *error,
             *run = "{\"program\": \"a/<b>.limn\", \"state\": \"stopped\"}";
  const char *path = arena_format(a, "%s/run.json", dir);
  assert_null(file_write(a, path, run, strlen(run)));
  if (!report_write(a, &(Report){.dir = dir}, &error)) fail_msg("%s", error);
  assert_non_null(strstr(page_of(a, dir), "<h1>&lt;b&gt;</h1>"));
  assert_null(file_write(a, path, "[1]", 3));
  assert_false(report_write(a, &(Report){.dir = dir}, &error));
  assert_non_null(strstr(error, "run.json: found no object, wanted one"));
  remove_folder(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_gallery, setup, teardown),
      cmocka_unit_test_setup_teardown(test_any_numbers, setup, teardown),
      cmocka_unit_test_setup_teardown(test_long_names, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many, setup, teardown),
      cmocka_unit_test_setup_teardown(test_words, setup, teardown),
      cmocka_unit_test_setup_teardown(test_pixels, setup, teardown),
      cmocka_unit_test_setup_teardown(test_picture_size, setup, teardown),
      cmocka_unit_test_setup_teardown(test_planes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_holes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_options, setup, teardown),
      cmocka_unit_test_setup_teardown(test_choice, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_ticks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
      cmocka_unit_test(test_spread),
      cmocka_unit_test_setup_teardown(test_thinning, setup, teardown),
      cmocka_unit_test_setup_teardown(test_gaps, setup, teardown),
      cmocka_unit_test_setup_teardown(test_axes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_metrics, setup, teardown),
      cmocka_unit_test_setup_teardown(test_report, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bare_report, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
