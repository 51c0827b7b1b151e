// Pictures: sizes of letters, output of the back ends, and pixels with known values.
//
//   canvas_test                 the tests
//   canvas_test draw DIR        pictures for tests/canvas/test.sh
//   canvas_test compare A B     the mean difference of two png files, per channel
//   canvas_test blocks A B      the same on their common area, and the mean of the worst block of 16 by 16 pixels
#define _POSIX_C_SOURCE 200809L
#include "base/files.h"
#include "show/canvas/marks.h"

#include <math.h>
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

// Everything that can be drawn, once
static Canvas *picture(Arena *a) {
  Canvas *c = canvas_new(a, 400, 260, "Every <mark> & \"quote\"", "Lines, words and an image");
  canvas_open(c, "frame", "plate", "the frame");
  path_rect(c, 10, 10, 380, 240, 8);
  canvas_paint(c, &(Paint){.fill = INK_PLATE, .stroke = INK_GRID});
  canvas_close(c);
  for (int i = 0; i < 8; i++) {
    path_move(c, 20, 20 + i * 10);
    for (int x = 1; x < 100; x++) path_line(c, 20 + x * 1.5, 25 + i * 10 + (x * x * (i + 1)) % 17);
    canvas_paint(c, &(Paint){.stroke = (Ink)(INK_SERIES1 + i),
                             .width = 0.5 + 0.3 * i,
                             .round = i % 2,
                             .dash = {i % 3 == 2 ? 6 : 0, i % 3 == 2 ? 4 : 0}});
  }
  static const char *const words[] = {"Sans: Hamburgefonstiv 0123456789",
                                      "Bold: AVATAR αβγ ↦ ∇",
                                      "Serif: x₁² + 10⁻³ ≤ λ",
                                      "Italic: f(x, θ) ⇌ g",
                                      "Bold: L → ★",
                                      "𝒜𝒳ℒ 𝔼ℝ ∞ ⊕ ∘ ′ 中"};
  for (int i = 0; i < FACE_COUNT; i++)
    canvas_text(c, 20, 130 + i * 20, &(Text){.face = (Face)i, .size = 15}, words[i]);
  canvas_text(c, 380, 130, &(Text){.anchor = ANCHOR_END, .angle = -90, .ink = INK_SERIES2},
              "turned");
  canvas_text(c, 330, 120, &(Text){.anchor = ANCHOR_MIDDLE, .angle = 30, .size = 10}, "by thirty");
  path_circle(c, 340, 50, 20);
  canvas_paint(c, &(Paint){.fill = INK_SERIES5, .stroke = INK_LINE, .width = 4, .opacity = 0.5});
  for (int i = 0; i < 2; i++) {
    int y = 20 + 60 * i;
    path_move(c, 200, y), path_line(c, 240, y + 40), path_line(c, 260, y),
        path_line(c, 262, y + 40);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 6, .round = i});
  }
  Picture image = {40, 60, 3,
                   arena_alloc(a, 40 * 60 * 3)}; // one of its pixels for each, at scale 2
  for (int i = 0; i < 40 * 60 * 3; i++) image.at[i] = (uint8_t)(i * i / 97);
  canvas_image(c, 290, 180, 30, 20, &image);
  path_move(c, 270, 80), path_cubic(c, 330, 80, 270, 130, 330, 130);
  canvas_paint(c, &(Paint){.stroke = INK_ALARM, .width = 2, .dash = {0, 5}, .round = true});
  return c;
}

static Picture raster(Canvas *c, double scale) {
  Picture p;
  canvas_raster(c, &(Look){.scale = scale}, &p);
  return p;
}

static uint32_t pixel(const Picture *p, uint32_t x, uint32_t y) {
  const uint8_t *at = p->at + ((size_t)y * p->width + x) * 3;
  return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

// How much black there is on white paper, in pixels
static double darkness(const Picture *p) {
  double sum = 0;
  for (size_t i = 0; i < (size_t)p->width * p->height; i++) sum += 255 - p->at[3 * i];
  return sum / 255;
}

// One shape in black on white, one pixel for a unit
static double area(Canvas *c, const Paint *paint) {
  Picture p;
  canvas_paint(c, paint);
  canvas_raster(c, &(Look){.theme = THEME_MONO, .scale = 1}, &p);
  return darkness(&p);
}

static Canvas *sheet(Arena *a) { return canvas_new(a, 40, 40, "", ""); }

static const char *svg_of(Canvas *c, Theme theme) {
  Buf b = buf_new(c->arena);
  canvas_svg(c, &(Look){.theme = theme}, &b);
  assert_int_equal(strlen(b.at), b.n);
  return b.at;
}

static uint32_t times_in(const char *text, const char *what) {
  uint32_t n = 0;
  for (; (text = strstr(text, what)); text += strlen(what)) n++;
  return n;
}

// Advances that FreeType gives for the fonts, and what hb-shape makes of a line, to a pair's
// rounding
static void widths_are_those_of_the_fonts(void **state) {
  (void)state;
  static const int lambda[] = {685, 757, 597, 569, 613}, digits[] = {5560, 5560, 5000, 5000, 5000};
  static const int line[] = {12764, 13416, 12972, 12290, 13537};
  for (int i = 0; i < 5; i++) {
    assert_true(text_width((Face)i, 1000, "λ") == lambda[i]);
    assert_true(text_width((Face)i, 1000, "0123456789") == digits[i]);
    double width = text_width((Face)i, 1000, "AVATAR To, Type Water f. LT");
    assert_true(fabs(width - line[i]) <= 10);
  }
  assert_true(text_width(FACE_MATH, 1000, "𝒜") == 783 && text_width(FACE_SANS, 1000, "⇌") == 929);
  assert_true(text_width(FACE_SANS, 1000, "A") == 667 && text_width(FACE_SANS, 12, "A") == 8.004);
  assert_true(text_width(FACE_SANS, 1000, "AV") < 2 * 667);
  assert_true(text_width(FACE_SANS, 1000, "11") == 2 * 556); // numbers stand in columns
  assert_true(text_width(FACE_SANS, 1000, "") == 0);
  assert_true(text_ascent(FACE_SANS, 1000) == 747 && text_descent(FACE_SERIF, 1000) == 283);
}

static void unknown_letters_are_boxes(void **state) {
  (void)state;
  static const char *const bad[] = {
      "中", "\xff", "\x80", "\xc3", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"};
  for (uint32_t i = 0; i < COUNT(bad); i++) {
    double width = text_width(FACE_BOLD, 1000, bad[i]);
    assert_true(width >= 500 && fmod(width, 500) == 0);
  }
  assert_true(text_width(FACE_SANS, 1000, "\x01\x7f\xe2\x80\x8b") == 0);
  assert_true(text_width(FACE_SANS, 1000, "a\nb") == text_width(FACE_SANS, 1000, "a b"));
  FoundGlyph x = glyph_find(FACE_SANS, 0x1d465), y = glyph_find(FACE_ITALIC, 'x'); // 𝑥
  assert_ptr_equal(x.glyph, y.glyph);
}

static void texts_come_through(void **state) {
  Buf b = buf_new(*state);
  const char *text = "aé→𝒜\x02 \xff", *at = text;
  for (uint32_t rune; (rune = rune_next(&at));) rune_put(&b, rune);
  assert_string_equal(b.at, "aé→𝒜 \xef\xbf\xbd");
}

static void every_outline_can_be_read(void **state) {
  Path path = {0};
  for (int face = 0; face < FACE_COUNT; face++)
    for (uint32_t rune = 0x20; rune < 0x20000; rune++) {
      const FontGlyph *g = glyph_find((Face)face, rune).glyph;
      if (g->code == RUNE_UNKNOWN && rune != RUNE_UNKNOWN) continue;
      glyph_path(*state, g, &path);
      assert_true(g->advance < 3000);
      if (!path.n) continue;
      assert_int_equal(path.at[0].kind, STEP_MOVE);
      assert_int_equal(path.at[path.n - 1].kind, STEP_CLOSE);
      for (uint32_t i = 0; i < path.n; i++)
        assert_true(fabs(path.at[i].x) < 3000 && fabs(path.at[i].y) < 1500);
    }
  glyph_path(*state, glyph_find(FACE_SANS, 'l').glyph, &path); // a box
  assert_int_equal(path.n, 5);
}

static void what_is_written_is_escaped(void **state) {
  Canvas *c = canvas_new(*state, 10, 10, "<a>&\"'\x01", "]]>\x1f");
  canvas_open(c, "an \"id\"", "<class>", "& words");
  canvas_text(c, 1, 1, &(Text){0}, "<script>\"&'\x02");
  canvas_close(c);
  const char *svg = svg_of(c, THEME_AUTO);
  assert_non_null(strstr(svg, "<title>&lt;a&gt;&amp;&quot;&#39;</title>"));
  assert_non_null(strstr(svg, "<desc>]]&gt;</desc>"));
  assert_non_null(strstr(svg, "-an-&quot;id&quot;\" data-id=\"an &quot;id&quot;\""));
  assert_non_null(strstr(svg, "class=\"&lt;class&gt;\" role=\"group\"><title>&amp; words</title>"));
  assert_non_null(strstr(svg, "aria-label=\"&lt;script&gt;&quot;&amp;&#39;\""));
  for (const char *at = svg; *at; at++) assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
}

static void numbers_are_short(void **state) {
  static const struct {
    double x;
    int decimals;
    const char *text;
  } rows[] = {{0, 2, "0"},          {1, 2, "1"},           {0.5, 2, ".5"},   {-0.25, 2, "-.25"},
              {1.005, 2, "1"},      {-0.001, 2, "0"},      {100, 2, "100"},  {12.3456, 3, "12.346"},
              {0.0115, 6, ".0115"}, {-1e6, 2, "-1000000"}, {0.05, 2, ".05"}, {-7.1, 0, "-7"}};
  for (uint32_t i = 0; i < COUNT(rows); i++) {
    Buf b = buf_new(*state);
    put_number(&b, rows[i].x, rows[i].decimals);
    assert_string_equal(b.at, rows[i].text);
  }
}

static void paths_are_written_as_differences(void **state) {
  Canvas *c = sheet(*state);
  path_move(c, 1, 2), path_line(c, 5, 2), path_line(c, 5, 1.333), path_line(c, 6, 2.5);
  path_cubic(c, 7, 2.5, 8, 3, 8, 4), path_close(c);
  path_line(c, 0, 0); // goes on where the closed piece began
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .dash = {3, 1.5}, .opacity = 0.25});
  const char *svg = svg_of(c, THEME_LIGHT);
  assert_non_null(strstr(svg, " d=\"M1 2h4v-.67l1 1.17c1 0 2 .5 2 1.5zM1 2l-1-2\"/>"));
  assert_non_null(strstr(svg, "<path stroke=\"#1f2328\" stroke-opacity=\".25\""
                              " stroke-dasharray=\"3 1.5\" d="));
  assert_null(strstr(svg, "<style>"));
  assert_null(strstr(svg, "class="));
}

static void ids_do_not_clash(void **state) {
  Canvas *c = sheet(*state), *d = sheet(*state);
  canvas_text(c, 1, 1, &(Text){0}, "aa"), canvas_text(d, 1, 2, &(Text){0}, "aa");
  const char *one = svg_of(c, THEME_AUTO), *two = svg_of(d, THEME_AUTO);
  const char *first = strstr(one, "id=\"") + 4, *second = strstr(two, "id=\"") + 4;
  assert_memory_not_equal(first, second, 9);
  assert_int_equal(times_in(one, arena_format(*state, "\"#%.9s-a61\"", first)), 2);
  assert_int_equal(times_in(one, "<path id="), 1);
  assert_non_null(strstr(one, "@media (prefers-color-scheme:dark){.ink-text{fill:#e6e6e6}"));
}

static void groups_are_closed(void **state) {
  Canvas *c = sheet(*state);
  canvas_close(c);
  canvas_open(c, "a", NULL, NULL), canvas_open(c, NULL, "b", "");
  canvas_close(c);
  const char *svg = svg_of(c, THEME_AUTO);
  assert_int_equal(times_in(svg, "<g"), 2);
  assert_int_equal(times_in(svg, "</g>"), 2);
}

static void an_empty_canvas_is_paper(void **state) {
  static const uint32_t paper[] = {0xffffff, 0xffffff, 0x1e1e1e, 0xffffff};
  Canvas *c = canvas_new(*state, 3.2, 2, NULL, NULL);
  canvas_paint(c, &(Paint){.fill = INK_TEXT});
  canvas_text(c, 0, 0, &(Text){0}, "");
  for (Theme t = THEME_AUTO; t <= THEME_MONO; t++) {
    Picture p;
    canvas_raster(c, &(Look){.theme = t}, &p);
    assert_true(p.width == 7 && p.height == 4 && p.channels == 3);
    for (uint32_t i = 0; i < 28; i++) assert_int_equal(pixel(&p, i % 7, i / 7), paper[t]);
  }
  assert_null(strstr(svg_of(c, THEME_LIGHT), "<title>"));
  assert_true(canvas_width(c) == 3.2 && canvas_height(c) == 2);
}

static void areas_are_exact(void **state) {
  Canvas *c = sheet(*state);
  path_rect(c, 10, 10, 5.5, 4.25, 0);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - 5.5 * 4.25) < 0.05);
  c = sheet(*state), path_circle(c, 20, 20, 12);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - 3.14159 * 144) < 1.5);
  c = sheet(*state), path_rect(c, 10, 10, 20, 20, 5);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - (400 - (4 - 3.14159) * 25)) < 0.5);
  c = sheet(*state), path_rect(c, 5, 5, 20, 20, 0), path_rect(c, 15, 15, 20, 20, 0);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - 700) < 0.05); // no hole where they overlap
  c = sheet(*state), path_rect(c, 5, 5, 20, 20, 0);
  path_move(c, 10, 10), path_line(c, 10, 20), path_line(c, 20, 20), path_line(c, 20, 10);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - 300) <
              0.05); // the other way round: a hole
  c = sheet(*state), path_rect(c, 10, 10, 10, 10, 0);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT, .opacity = 0.5}) - 50) < 0.3);
}

static void strokes_cover_what_they_should(void **state) {
  const Paint thick = {.stroke = INK_LINE, .width = 4};
  Paint round = thick, dashed = thick;
  round.round = true, dashed.dash[0] = 3, dashed.dash[1] = 2;
  Canvas *c = sheet(*state);
  path_move(c, 10, 20), path_line(c, 30, 20);
  assert_true(fabs(area(c, &thick) - 80) < 0.05);
  c = sheet(*state), path_move(c, 10, 20), path_line(c, 30, 20);
  assert_true(fabs(area(c, &round) - (80 + 3.14159 * 4)) < 0.3);
  c = sheet(*state), path_move(c, 10, 20), path_line(c, 30, 20);
  assert_true(fabs(area(c, &dashed) - 4 * 12) < 0.05);
  c = sheet(*state), path_rect(c, 10, 10, 20, 20, 0);
  assert_true(fabs(area(c, &thick) - (24 * 24 - 16 * 16)) < 0.05); // sharp corners, none twice
  c = sheet(*state), path_rect(c, 10, 10, 20, 20, 0);
  assert_true(fabs(area(c, &round) - (320 - (4 - 3.14159) * 4)) < 0.3);
  c = sheet(*state), path_circle(c, 20, 20, 10);
  assert_true(fabs(area(c, &thick) - 3.14159 * (144 - 64)) < 1.5);
  c = sheet(*state), path_move(c, 5, 30), path_line(c, 20, 10), path_line(c, 35, 30);
  double sharp = area(c, &thick);
  c = sheet(*state), path_move(c, 5, 30), path_line(c, 20, 10), path_line(c, 35, 30);
  assert_true(sharp >
              area(c, &(Paint){.stroke = INK_LINE, .width = 4, .round = true}) - 3.14159 * 4);
  c = sheet(*state), path_move(c, 20, 20), path_line(c, 20, 20);
  assert_true(fabs(area(c, &round) - 3.14159 * 4) < 0.3); // a line on the spot
  c = sheet(*state), path_move(c, 20, 20), path_line(c, 20, 20);
  assert_true(area(c, &thick) == 0);
}

static void what_is_no_number_is_a_gap(void **state) {
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  for (uint32_t i = 0; i < COUNT(bad); i++) {
    Canvas *c = sheet(*state);
    path_move(c, 5, 20), path_line(c, 10, 20), path_line(c, bad[i], 20), path_line(c, 30, 20);
    path_line(c, 35, 20), path_line(c, 36, bad[i]), path_close(c);
    assert_true(fabs(area(c, &(Paint){.stroke = INK_LINE, .width = 2}) - 20) < 0.05);
    path_circle(c, 20, bad[i], 3), path_circle(c, 20, 20, bad[i]);
    path_rect(c, bad[i], 1, 2, 3, 0), path_rect(c, 1, 1, bad[i], 3, bad[i]);
    path_cubic(c, 1, bad[i], 3, 4, 5, 6);
    canvas_paint(c, &(Paint){.fill = INK_TEXT, .width = bad[i], .opacity = bad[i]});
    canvas_text(c, bad[i], 1, &(Text){0}, "gone");
    canvas_text(c, 1, 1, &(Text){.size = bad[i], .angle = bad[i]}, "here");
    canvas_resize(c, bad[i], 50);
    assert_true(canvas_width(c) == 1);
    const char *svg = svg_of(c, THEME_AUTO);
    assert_true(!strstr(svg, "nan") && !strstr(svg, "inf") && !strstr(svg, "gone"));
  }
}

static void numbers_of_any_size_are_drawn(void **state) {
  Canvas *c = sheet(*state);
  path_move(c, -1e300, 20), path_line(c, 1e300, 20);
  assert_true(fabs(area(c, &(Paint){.stroke = INK_LINE, .width = 2}) - 80) < 0.1);
  c = sheet(*state), path_rect(c, -1e30, -1e30, 2e30, 2e30, 0);
  assert_true(fabs(area(c, &(Paint){.fill = INK_TEXT}) - 1600) < 0.1);
  c = sheet(*state), path_move(c, -1e9, -1e9), path_line(c, 1e9, 1e9);
  area(c, &(Paint){.stroke = INK_LINE, .dash = {1, 1}});
  path_move(c, 0, 0), path_cubic(c, 1e9, -1e9, 5, -1e300, 1e12, 3);
  assert_true(area(c, &(Paint){.stroke = INK_LINE, .width = 1e300, .round = true}) > 1500);
  canvas_text(c, 1e9, 1e9, &(Text){.size = 1e9, .angle = 1e9}, "far");
  char words[5000];
  memset(words, 'W', sizeof words), words[sizeof words - 1] = 0;
  canvas_text(c, -1e9, 20, &(Text){.size = 1e9}, words);
  canvas_text(c, 20, 20, &(Text){.size = 1e9, .anchor = ANCHOR_END, .angle = 45}, words);
  canvas_resize(c, 1e12, 1);
  Picture p = raster(c, 1e9);
  assert_true((uint64_t)p.width * p.height <= (1u << 26) + p.width + p.height);
}

static void odd_values_of_enums(void **state) {
  Canvas *c = sheet(*state);
  path_rect(c, 1, 1, 3, 3, -4);
  canvas_paint(c, &(Paint){.fill = INK_COUNT, .stroke = (Ink)1000});
  canvas_text(c, 1, 9, &(Text){.face = FACE_COUNT, .ink = (Ink)1000}, "plain");
  assert_int_equal(times_in(svg_of(c, THEME_LIGHT), "aria-label=\"plain\""), 1);
}

static void images_are_squares(void **state) {
  uint8_t grey[4] = {0, 50, 100, 200}, rgb[6] = {1, 2, 3, 250, 251, 252};
  Canvas *c = canvas_new(*state, 8, 8, "", "");
  canvas_image(c, 0, 0, 4, 4, &(Picture){2, 2, 1, grey});
  canvas_image(c, 4, 4, 4, 4, &(Picture){1, 2, 3, rgb});
  canvas_image(c, 5, 0, 1, 1, &(Picture){2, 2, 1, grey});       // smaller than its pixels: the mean
  canvas_image(c, 6.5, 0, 1, 1, &(Picture){1, 1, 1, grey});     // half on each of two pixels
  canvas_image(c, 0, 0, 4, 4, &(Picture){2, 2, 2, grey});       // no such kind
  canvas_image(c, 0, 0, 0, 4, &(Picture){2, 2, 1, grey});       // nothing
  canvas_image(c, -1e9, NAN, 3, 4, &(Picture){2, 2, 1, grey});  // nowhere
  canvas_image(c, -100, -100, 9, 9, &(Picture){2, 2, 1, grey}); // outside
  Picture p = raster(c, 1);
  assert_int_equal(pixel(&p, 0, 0), 0);
  assert_int_equal(pixel(&p, 1, 1), 0);
  assert_int_equal(pixel(&p, 2, 1), 0x323232);
  assert_int_equal(pixel(&p, 1, 2), 0x646464);
  assert_int_equal(pixel(&p, 3, 3), 0xc8c8c8);
  assert_int_equal(pixel(&p, 5, 6), 0x010203);
  assert_int_equal(pixel(&p, 6, 6), 0xfafbfc);
  assert_int_equal(pixel(&p, 5, 0), 0x585858);
  assert_int_equal(pixel(&p, 6, 0), 0x808080);
  assert_int_equal(pixel(&p, 7, 0), 0x808080);
  assert_int_equal(times_in(svg_of(c, THEME_AUTO), "xlink:href=\"data:image/png;base64,iVBOR"), 5);
}

// Where letters stand: a box of ink, in pixels
static void ink_box(const Picture *p, uint32_t box[4]) {
  box[0] = p->width, box[1] = p->height, box[2] = box[3] = 0;
  for (uint32_t y = 0; y < p->height; y++)
    for (uint32_t x = 0; x < p->width; x++) {
      if (pixel(p, x, y) == 0xffffff) continue;
      box[0] = x < box[0] ? x : box[0], box[1] = y < box[1] ? y : box[1];
      box[2] = x >= box[2] ? x + 1 : box[2], box[3] = y >= box[3] ? y + 1 : box[3];
    }
}

static void text_box(Arena *a, const Text *how, const char *words, uint32_t box[4]) {
  Canvas *c = canvas_new(a, 200, 200, "", "");
  canvas_text(c, 100, 100, how, words);
  Picture p = raster(c, 1);
  ink_box(&p, box);
}

// The letter l of FACE_SANS is a bar: from 68 to 151 across, 729 high, 222 to the next
static void letters_stand_on_the_point(void **state) {
  uint32_t b[4];
  text_box(*state, &(Text){.size = 100}, "l", b);
  assert_true(b[0] == 106 && b[2] == 116 && b[1] == 27 && b[3] == 100);
  text_box(*state, &(Text){.size = 100, .anchor = ANCHOR_END}, "l", b);
  assert_true(b[0] == 84 && b[2] == 93 && b[1] == 27 && b[3] == 100);
  text_box(*state, &(Text){.size = 100, .anchor = ANCHOR_MIDDLE}, "ll", b);
  assert_true(b[0] == 84 && b[2] == 116);
  text_box(*state, &(Text){.size = 100, .angle = 90}, "l", b); // downwards
  assert_true(b[0] == 100 && b[2] == 173 && b[1] == 106 && b[3] == 116);
  text_box(*state, &(Text){.size = 100, .angle = -90}, "l", b); // upwards
  assert_true(b[0] == 27 && b[2] == 100 && b[1] == 84 && b[3] == 94);
}

static void same_marks_same_bytes(void **state) {
  Canvas *c = picture(*state), *d = picture(*state);
  assert_string_equal(svg_of(c, THEME_AUTO), svg_of(d, THEME_AUTO));
  Buf one = buf_new(*state), two = buf_new(*state);
  canvas_pdf(c, &(Look){0}, &one), canvas_pdf(d, &(Look){0}, &two);
  assert_int_equal(one.n, two.n);
  assert_memory_equal(one.at, two.at, one.n);
  Picture p = raster(c, 2), q = raster(d, 2);
  assert_memory_equal(p.at, q.at, (size_t)p.width * p.height * 3);
  // The same on every machine: look at the picture before this number is changed.
  assert_int_equal(crc32c(p.at, (size_t)p.width * p.height * 3), 0xc27f71b2);
}

static void geometry_does_not_depend_on_the_theme(void **state) {
  Canvas *c = picture(*state);
  const char *light = svg_of(c, THEME_LIGHT), *dark = svg_of(c, THEME_DARK);
  assert_int_equal(strlen(light), strlen(dark));
  uint32_t other = 0;
  for (size_t i = 0; light[i]; i++) other += light[i] != dark[i];
  assert_true(other > 100 && other < strlen(light) / 10);
}

// Each offset of the table is where its object begins.
static void pdf_offsets_are_right(void **state) {
  Canvas *c = picture(*state);
  Buf b = buf_new(*state);
  buf_text(&b, "before");
  size_t start = b.n;
  canvas_pdf(c, &(Look){.theme = THEME_DARK}, &b);
  const char *file = b.at + start, *end = b.at + b.n;
  assert_memory_equal(file, "%PDF-1.4\n", 9);
  assert_memory_equal(end - 6, "%%EOF\n", 6);
  const char *last = end;
  while (strncmp(last, "startxref\n", 10) != 0) last--;
  const char *table = file + atol(last + 10);
  assert_memory_equal(table, "xref\n0 ", 7);
  uint32_t n = (uint32_t)atol(table + 7);
  const char *row = strchr(table + 7, '\n') + 1;
  assert_memory_equal(row, "0000000000 65535 f \n", 20);
  for (uint32_t i = 1; i < n; i++) {
    const char *head = arena_format(*state, "%u 0 obj\n", i);
    assert_memory_equal(file + atol(row + 20 * i), head, strlen(head));
    assert_memory_equal(row + 20 * i + 10, " 00000 n \n", 10);
  }
  assert_memory_equal(row + 20 * n, "trailer\n", 8);
}

// More letters than a font of type 3 can have
static void pdf_of_very_many_letters(void **state) {
  Canvas *c = sheet(*state);
  Buf words = buf_new(*state), b = buf_new(*state);
  for (uint32_t rune = 0x21; rune < 0x400; rune++) rune_put(&words, rune);
  canvas_text(c, 0, 10, &(Text){0}, words.at);
  canvas_pdf(c, &(Look){0}, &b);
  uint32_t fonts = 0;
  for (size_t i = 0; i + 14 < b.n; i++) fonts += !memcmp(b.at + i, "/Subtype/Type3", 14);
  assert_int_equal(fonts, 2);
}

static const char *tex_of(Canvas *c, Theme theme) {
  Buf b = buf_new(c->arena);
  canvas_tikz(c, &(Look){.theme = theme}, &b);
  assert_int_equal(strlen(b.at), b.n);
  return b.at;
}

static const char *art_of(Canvas *c, bool ascii) {
  Buf b = buf_new(c->arena);
  canvas_art(c, &(Look){.ascii = ascii}, &b);
  return b.n ? b.at : "";
}

// What TeX reads: without comments
static const char *without_comments(Arena *a, const char *tex) {
  Buf b = buf_new(a);
  while (*tex) {
    if (*tex == '%') tex += strcspn(tex, "\n");
    if (*tex == '\\' && tex[1]) buf_char(&b, *tex++);
    if (*tex) buf_char(&b, *tex++);
  }
  return b.at;
}

// Braces and scopes close what they open, and nothing else.
static void check_tex(const char *text) {
  int braces = 0, scopes = 0;
  for (const char *c = text; *c; c++) {
    scopes += !strncmp(c, "\\begin{scope}", 13);
    scopes -= !strncmp(c, "\\end{scope}", 11);
    if (*c == '\\')
      c++; // what follows is no brace
    else
      braces += (*c == '{') - (*c == '}');
    assert_true(braces >= 0 && scopes >= 0);
    assert_false(strchr("$#^~", *c) && c[-1] != '\\' && c[-1] != '{' && c[1] != '1' && c[1] != '2');
  }
  assert_int_equal(braces, 0);
  assert_int_equal(scopes, 0);
  assert_int_equal(times_in(text, "\\end{tikzpicture}\n\\end{document}\n"), 1);
}

// Words that would hurt if TeX read them as its own
static const char *const hostile[] = {"\\input{/etc/passwd}",
                                      "\\end{tikzpicture}\\end{document}",
                                      "100% $x$ #1 a_b^c ~ & {}}}{{{ \\",
                                      "a\nb\r\\write18{rm}\x01\x7f",
                                      "%\n\\input x",
                                      "^^5cinput",
                                      "--- '' `` ?` <<>> |\"",
                                      "\xff\xfe caf\xc3\xa9",
                                      "];\\node{"};

static Canvas *hostile_picture(Arena *a) {
  Canvas *c = canvas_new(a, 400, 20 * COUNT(hostile) + 20, hostile[0], hostile[4]);
  for (uint32_t i = 0; i < COUNT(hostile); i++) {
    canvas_open(c, hostile[i], hostile[i], hostile[i]);
    canvas_text(c, 10, 20 + 20 * i, &(Text){.face = (Face)(i % FACE_COUNT)}, hostile[i]);
  }
  return c;
}

static void tex_is_escaped(void **state) {
  for (uint32_t i = 0; i < COUNT(hostile); i++) {
    Canvas *c = canvas_new(*state, 40, 40, hostile[i], hostile[i]);
    canvas_open(c, hostile[i], hostile[i], hostile[i]);
    canvas_text(c, 1, 2, &(Text){.face = (Face)(i % FACE_COUNT)}, hostile[i]);
    const char *tex = without_comments(*state, tex_of(c, THEME_AUTO));
    check_tex(tex);
    assert_null(strstr(tex, "\\input"));
    assert_null(strstr(tex, "\\write"));
    assert_int_equal(times_in(tex, "\\node"), 1);
  }
  check_tex(without_comments(*state, tex_of(hostile_picture(*state), THEME_AUTO)));
  Canvas *c = sheet(*state);
  canvas_text(c, 1, 2, &(Text){.size = 9}, " \\a{b}  $%#&_^~ -- ?` <|\" \xc3\xa9\xe4\xb8\xad");
  assert_non_null(strstr(
      tex_of(c, THEME_AUTO),
      "\\node[anchor=base west, text=limntext, font=\\limnsans{9}] at (1,2) {\\ "
      "\\textbackslash{}a\\{b\\} \\ \\$\\%\\#\\&\\_\\textasciicircum{}\\textasciitilde{} -{}- "
      "?{}\\char96{} \\textless{}\\textbar{}\\char34{} "
      "\xc3\xa9\\limnrune{\xe4\xb8\xad}{4E2D}};\n"));
}

static void tex_has_signs_of_mathematics(void **state) {
  Canvas *c = sheet(*state);
  canvas_text(c, 1, 2, &(Text){.face = FACE_MATH, .angle = 90, .anchor = ANCHOR_END},
              "λ⇌↦★∇∑√𝒜𝔼ℝ₁²");
  assert_non_null(strstr(tex_of(c, THEME_AUTO),
                         "\\node[anchor=base east, rotate=-90, text=limntext, "
                         "font=\\limnmath{12}] at (1,2) {\\ensuremath{\\lambda}"
                         "\\ensuremath{\\rightleftharpoons}\\ensuremath{\\mapsto}"
                         "\\ensuremath{\\bigstar}\\ensuremath{\\nabla}\\ensuremath{\\sum}"
                         "\\ensuremath{\\surd}\\ensuremath{\\mathcal{A}}"
                         "\\ensuremath{\\mathbb{E}}\\ensuremath{\\mathbb{R}}"
                         "\\ensuremath{_{1}}\\ensuremath{^{2}}};\n"));
  Buf b = buf_new(*state);
  for (uint32_t rune = 0x20; rune < 0x20000; rune++) { // every sign is found, and none by mistake
    b.n = 0;
    bool known = sign_tex(&b, rune);
    assert_true(known == (b.n > 0) && !(known && rune < 0x7f));
    if (known) assert_memory_equal(b.at, "\\ensuremath{", 12);
  }
}

static void tex_has_exact_paths(void **state) {
  Canvas *c = sheet(*state);
  canvas_open(c, "", "wire", "of b");
  path_move(c, 1, 2), path_line(c, 5, 2.3456), path_cubic(c, 7, 2.5, 8, 3, 8, 4), path_close(c);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.5, .dash = {3, 1.5}, .round = true});
  path_move(c, 0, 0), path_line(c, 1, 1);
  canvas_paint(c, &(Paint){.fill = INK_ON_KET, .stroke = INK_LINE});
  path_move(c, 0, 0), path_line(c, 1, 1);
  canvas_paint(c, &(Paint){.fill = INK_SERIES1, .stroke = INK_LINE, .opacity = 0.5});
  const char *tex = tex_of(c, THEME_DARK);
  assert_non_null(strstr(
      tex, "\\begin{scope}[limn wire] % wire: of b\n"
           "\\draw[limnline, line width=1.5\\limnunit, limnround, dash pattern=on 3\\limnunit off "
           "1.5\\limnunit] (1,2) -- (5,2.346) .. controls (7,2.5) and (8,3) .. (8,4) -- cycle;\n"
           "\\filldraw[fill=limnonket, draw=limnline] (0,0) -- (1,1);\n"
           "\\fill[limnseries1, opacity=.5] (0,0) -- (1,1);\n"
           "\\draw[limnline, opacity=.5] (0,0) -- (1,1);\n\\end{scope}\n"));
  assert_non_null(strstr(tex, "\\definecolor{limnseries1}{HTML}{56B4E9}\n"));
  assert_non_null(strstr(tex, "\\fill[limnpaper] (0,0) rectangle (40,40);\n"));
  assert_null(strstr(tex, "limnseries2"));
  assert_non_null(strstr(tex, "  limn wire/.style={},\n"));
  check_tex(without_comments(*state, tex_of(picture(*state), THEME_MONO)));
}

static void tex_has_pixels_and_no_large_numbers(void **state) {
  Picture p = {.width = 65, .height = 2, .channels = 1, .at = arena_alloc(*state, 130)};
  for (int i = 0; i < 130; i++) p.at[i] = (uint8_t)(i % 65 < 2 ? 7 : 200);
  Canvas *c = sheet(*state);
  canvas_image(c, 0, 0, 40, 20, &p);
  assert_non_null(strstr(tex_of(c, THEME_AUTO), "% an image of 65 x 2 pixels, too many"));
  assert_int_equal(times_in(tex_of(c, THEME_AUTO), " rectangle "), 2);
  p.width = 5;
  c = sheet(*state), canvas_image(c, 0, 0, 40, 20, &p);
  assert_non_null(strstr(tex_of(c, THEME_AUTO), "\\fill[color={rgb,255:red,7;green,7;blue,7}] "
                                                "(0,0) rectangle (16,10);\n"));
  c = canvas_new(*state, 1e5, 10, "", "");
  path_move(c, 0, 0), path_line(c, 1e6, -1e6);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1e6});
  canvas_text(c, 1e5, 5, &(Text){.size = 1e6}, "x");
  const char *tex = tex_of(c, THEME_AUTO);
  assert_non_null(strstr(tex, "(0,0) -- (16000,-16000);"));
  assert_non_null(strstr(tex, "\\useasboundingbox (0,0) rectangle (16000,1.6);"));
  assert_non_null(strstr(tex, "\\limnsans{2000}"));
}

// A box on a line, an arrow, a dot where a curve leaves it, a dashed line
static Canvas *little_circuit(Arena *a) {
  Canvas *c = canvas_new(a, 240, 70, "", "");
  path_move(c, 10, 30), path_line(c, 100, 30);
  canvas_paint(c, &(Paint){.stroke = INK_LINE});
  path_move(c, 130, 30), path_line(c, 220, 30);
  canvas_paint(c, &(Paint){.stroke = INK_LINE});
  path_move(c, 40, 30), path_cubic(c, 60, 30, 60, 60, 80, 60), path_line(c, 220, 60);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .dash = {4, 4}});
  path_circle(c, 40, 30, 3), canvas_paint(c, &(Paint){.fill = INK_LINE});
  path_move(c, 200, 30), path_line(c, 190, 35), path_line(c, 193, 30), path_line(c, 190, 25);
  path_close(c), canvas_paint(c, &(Paint){.fill = INK_LINE});
  canvas_open(c, "", "glyph", "f");
  path_rect(c, 95, 17, 40, 26, 0);
  canvas_paint(c, &(Paint){.fill = INK_FUNCTION, .stroke = INK_LINE});
  canvas_text(c, 115, 35, &(Text){.face = FACE_ITALIC, .size = 18, .anchor = ANCHOR_MIDDLE}, "λ");
  canvas_close(c);
  canvas_text(c, 16, 25, &(Text){.face = FACE_ITALIC, .size = 14}, "x");
  canvas_text(c, 16 + text_width(FACE_ITALIC, 14, "x"), 28, &(Text){.size = 9.8}, "1");
  canvas_open(c, "", "sign", "⇌");
  path_move(c, 150, 52), path_line(c, 190, 40), canvas_paint(c, &(Paint){.stroke = INK_LINE});
  canvas_close(c);
  return c;
}

static void text_shows_lines_and_words(void **state) {
  Canvas *c = little_circuit(*state);
  assert_string_equal(art_of(c, false), " x₁           ╭──────╮\n"
                                        "─────●─┬──────┤   λ  ├─────────▶────\n"
                                        "       ╰╌╮    ╰──────╯\n"
                                        "         ╰╮                ⇌\n"
                                        "          ╰╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n");
  assert_string_equal(art_of(c, true), " x_1          +------+\n"
                                       "-----o-+------+lambda+--------->----\n"
                                       "       +.+    +------+\n"
                                       "         ++               <=>\n"
                                       "          +.........................\n");
  for (const char *at = art_of(picture(*state), true); *at; at++)
    assert_true(*at == '\n' || (*at >= ' ' && *at < 0x7f));
}

static void text_has_all_words(void **state) {
  Canvas *c = canvas_new(*state, 300, 100, "", "");
  for (int i = 0; i < 20; i++)
    canvas_text(c, 100, 50, &(Text){0}, arena_format(*state, "w%02d", i));
  const char *art = art_of(c, false);
  for (int i = 0; i < 20; i++) assert_int_equal(times_in(art, arena_format(*state, "w%02d", i)), 1);
  assert_null(strstr(art, " \n"));
  assert_string_equal(art_of(sheet(*state), false), "");
}

static void text_of_any_numbers(void **state) {
  static const double odd[] = {0, -1e6, 1e6, 1e5, 0.001, NAN, -5};
  for (uint32_t i = 0; i < COUNT(odd); i++)
    for (uint32_t k = 0; k < COUNT(odd); k++) {
      Canvas *c = canvas_new(*state, odd[i], odd[k], "", "");
      path_move(c, odd[k], odd[i]), path_line(c, 20, odd[k]), path_line(c, odd[i], 30);
      canvas_paint(c, &(Paint){.stroke = INK_LINE, .fill = k % 2 ? INK_TEXT : INK_NONE});
      path_move(c, odd[i], odd[k]), canvas_paint(c, &(Paint){.fill = INK_LINE});
      path_circle(c, odd[i], 3, odd[k]), canvas_paint(c, &(Paint){.fill = INK_LINE});
      canvas_text(c, odd[k], odd[i], &(Text){.size = odd[i], .angle = odd[k]}, "中 words");
      assert_true(strlen(art_of(c, k % 2)) < 40000000);
    }
}

static void same_marks_same_text(void **state) {
  Canvas *c = picture(*state), *d = picture(*state);
  assert_string_equal(tex_of(c, THEME_AUTO), tex_of(d, THEME_AUTO));
  assert_string_equal(art_of(c, false), art_of(d, false));
}

static void files_are_whole_or_absent(void **state) {
  Arena *a = *state;
  char dir[] = "/tmp/limn-canvas-XXXXXX";
  const char *error = NULL;
  assert_non_null(mkdtemp(dir));
  Canvas *c = picture(a);
  static const char *const name[] = {"a.svg", "a.pdf", "a.png", "a.tex", "a.txt"};
  for (uint32_t i = 0; i < COUNT(name); i++) {
    const char *path = arena_format(a, "%s/%s", dir, name[i]);
    assert_true(canvas_write(c, path, &(Look){0}, &error));
    assert_true(file_read(a, path, 1 << 22).n > 60);
    unlink(path);
    path = arena_format(a, "%s/no/%s", dir, name[i]);
    assert_false(canvas_write(c, path, &(Look){0}, &error));
    assert_non_null(strstr(error, "No such file or directory"));
    assert_non_null(strstr(error, path));
  }
  assert_false(canvas_write(c, "a.d/gif", &(Look){0}, &error));
  assert_string_equal(error,
                      "a.d/gif: a picture is a file that ends in .svg, .pdf, .png, .tex or .txt");
  rmdir(dir);
}

static int draw(const char *dir) {
  static const char *const kind[] = {"svg", "pdf", "png", "tex", "txt"};
  Arena *a = arena_new();
  Canvas *c = picture(a);
  const char *error;
  int bad = 0;
  for (uint32_t i = 0; i < COUNT(kind); i++) {
    Look look = {0};
    if (canvas_write(c, arena_format(a, "%s/all.%s", dir, kind[i]), &look, &error)) continue;
    puts(error);
    bad = 1;
  }
  bad |=
      !canvas_write(hostile_picture(a), arena_format(a, "%s/hostile.tex", dir), &(Look){0}, &error);
  arena_free(a);
  return bad;
}

static bool read_two(Arena *a, const char *one, const char *two, Picture *p, const char **error) {
  const char *path[2] = {one, two};
  for (int i = 0; i < 2; i++) {
    FileText f = file_read(a, path[i], 1 << 26);
    if (!f.text || !png_read_bytes(a, f.text, f.n, &p[i], error)) return false;
  }
  return true;
}

// The second may be larger: a window that is not filled.
static int blocks(const char *one, const char *two) {
  enum { SIDE = 16 };
  Arena *a = arena_new();
  const char *error = "it is smaller";
  Picture p[2];
  bool good = read_two(a, one, two, p, &error) && p[1].width + 2 >= p[0].width &&
              p[1].height + 2 >= p[0].height && p[0].channels == 3 && p[1].channels >= 3;
  if (!good) printf("%s\n", error);
  double sum = 0, worst = 0, n = 0;
  for (uint32_t y0 = 0; good && y0 + SIDE + 2 <= p[0].height; y0 += SIDE)
    for (uint32_t x0 = 0; x0 + SIDE + 2 <= p[0].width; x0 += SIDE) {
      double own = 0;
      for (uint32_t k = 0; k < SIDE * SIDE * 3; k++) {
        size_t y = y0 + k / (SIDE * 3), x = x0 + k / 3 % SIDE, c = k % 3;
        own += abs(p[0].at[(y * p[0].width + x) * 3 + c] -
                   p[1].at[(y * p[1].width + x) * p[1].channels + c]);
      }
      own /= SIDE * SIDE * 3;
      worst = fmax(worst, own), sum += own, n++;
    }
  if (good) printf("%.2f %.1f\n", sum / n, worst);
  arena_free(a);
  return !good;
}

static int compare(const char *one, const char *two) {
  Arena *a = arena_new();
  const char *error = "other sizes";
  Picture p[2];
  bool good = read_two(a, one, two, p, &error);
  good = good && p[0].width == p[1].width && p[0].height == p[1].height && p[0].channels == 3 &&
         p[1].channels == 3;
  double sum = 0, n = good ? 3.0 * p[0].width * p[0].height : 1;
  for (size_t i = 0; good && i < (size_t)n; i++) sum += abs(p[0].at[i] - p[1].at[i]);
  if (good)
    printf("%.3f\n", sum / n);
  else
    printf("%s\n", error);
  arena_free(a);
  return !good;
}

int main(int argc, char **argv) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(widths_are_those_of_the_fonts),
      TEST(unknown_letters_are_boxes),
      TEST(texts_come_through),
      TEST(every_outline_can_be_read),
      TEST(what_is_written_is_escaped),
      TEST(numbers_are_short),
      TEST(paths_are_written_as_differences),
      TEST(ids_do_not_clash),
      TEST(groups_are_closed),
      TEST(an_empty_canvas_is_paper),
      TEST(areas_are_exact),
      TEST(strokes_cover_what_they_should),
      TEST(what_is_no_number_is_a_gap),
      TEST(numbers_of_any_size_are_drawn),
      TEST(odd_values_of_enums),
      TEST(images_are_squares),
      TEST(letters_stand_on_the_point),
      TEST(same_marks_same_bytes),
      TEST(geometry_does_not_depend_on_the_theme),
      TEST(pdf_offsets_are_right),
      TEST(pdf_of_very_many_letters),
      TEST(tex_is_escaped),
      TEST(tex_has_signs_of_mathematics),
      TEST(tex_has_exact_paths),
      TEST(tex_has_pixels_and_no_large_numbers),
      TEST(text_shows_lines_and_words),
      TEST(text_has_all_words),
      TEST(text_of_any_numbers),
      TEST(same_marks_same_text),
      TEST(files_are_whole_or_absent),
  };
  if (argc == 3 && !strcmp(argv[1], "draw")) return draw(argv[2]);
  if (argc == 4 && !strcmp(argv[1], "compare")) return compare(argv[2], argv[3]);
  if (argc == 4 && !strcmp(argv[1], "blocks")) return blocks(argv[2], argv[3]);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
