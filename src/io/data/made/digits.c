// Generated digits: 28×28, grey.
//
// A digit consists of strokes, each a smooth curve through a list of points; a repeated point is a
// corner. Each sample perturbs the points, shears, rotates, scales and shifts the digit, varies
// width and intensity of the pen, and adds noise and sometimes a stray stroke. Some digits have two
// forms.
#include "io/data/set_own.h"

#include <math.h>

enum { SIDE = 28, TRAIN = 10000, TEST = 2000, POINTS = 14, CURVE = 56 };

typedef struct {
  uint32_t n; // number of points; 0 = no stroke
  int8_t at[POINTS][2];
} Stroke;

typedef struct {
  Stroke stroke[2];
} Digit;

// Coordinates from -1 to 1, right and down, in hundredths.
static const Digit digits[10][2] = {
    {{{{9,
        {{5, -100},
         {-50, -70},
         {-66, 0},
         {-50, 70},
         {0, 100},
         {50, 70},
         {66, 0},
         {50, -70},
         {0, -100}}}}},
     {{{9,
        {{30, -90},
         {-30, -85},
         {-60, -20},
         {-50, 60},
         {0, 100},
         {50, 60},
         {60, -10},
         {40, -75},
         {-10, -100}}}}}},
    {{{{4, {{-35, -55}, {10, -100}, {10, -100}, {10, 100}}}}},
     {{{3, {{15, -100}, {2, 0}, {-10, 100}}}, {2, {{-40, 100}, {25, 100}}}}}},
    {{{{9,
        {{-60, -55},
         {-35, -92},
         {15, -100},
         {55, -60},
         {35, -5},
         {-15, 45},
         {-62, 95},
         {-62, 95},
         {65, 92}}}}},
     {{{9,
        {{-55, -70},
         {0, -100},
         {50, -65},
         {25, 0},
         {-30, 70},
         {-60, 80},
         {-35, 60},
         {5, 85},
         {65, 80}}}}}},
    {{{{11,
        {{-55, -75},
         {-10, -100},
         {45, -80},
         {40, -30},
         {-10, -8},
         {-10, -8},
         {50, 15},
         {60, 60},
         {10, 100},
         {-35, 98},
         {-62, 75}}}}},
     {{{8,
        {{-50, -95}, {50, -95}, {50, -95}, {-5, -15}, {-5, -15}, {60, 25}, {35, 95}, {-60, 80}}}}}},
    {{{{5, {{5, -100}, {-65, 30}, {-65, 30}, {20, 34}, {70, 28}}}, {2, {{32, -35}, {22, 100}}}}},
     {{{4, {{-50, -90}, {-55, 5}, {-10, 15}, {50, 5}}}, {2, {{50, -100}, {40, 100}}}}}},
    {{{{11,
        {{55, -95},
         {-40, -95},
         {-40, -95},
         {-50, -15},
         {-50, -15},
         {10, -30},
         {55, 0},
         {58, 55},
         {20, 95},
         {-20, 100},
         {-60, 78}}}}},
     {{{8,
        {{-35, -95}, {-45, -10}, {-45, -10}, {20, -20}, {60, 25}, {45, 80}, {0, 100}, {-55, 85}}},
       {2, {{-35, -95}, {55, -90}}}}}},
    {{{{9,
        {{42, -98},
         {-10, -65},
         {-48, 0},
         {-50, 60},
         {-10, 98},
         {45, 75},
         {45, 25},
         {0, 2},
         {-46, 30}}}}},
     {{{9,
        {{10, -100},
         {-30, -40},
         {-50, 30},
         {-35, 90},
         {15, 98},
         {50, 60},
         {30, 15},
         {-15, 20},
         {-45, 55}}}}}},
    {{{{5, {{-60, -92}, {60, -92}, {60, -92}, {15, 0}, {-15, 100}}}}},
     {{{5, {{-55, -90}, {60, -95}, {60, -95}, {20, 0}, {0, 100}}}, {2, {{-25, 2}, {50, -2}}}}}},
    {{{{12,
        {{48, -62},
         {5, -100},
         {-42, -66},
         {-10, -15},
         {42, 25},
         {48, 72},
         {5, 100},
         {-45, 75},
         {-42, 30},
         {8, -12},
         {42, -42},
         {46, -66}}}}},
     {{{8, {{0, -8}, {-40, -45}, {-20, -92}, {25, -92}, {42, -50}, {0, -8}, {-5, -5}, {0, -8}}},
       {9,
        {{0, -8},
         {48, 30},
         {45, 80},
         {0, 100},
         {-45, 80},
         {-48, 30},
         {0, -8},
         {5, -5},
         {0, -8}}}}}},
    {{{{10,
        {{45, -60},
         {10, -100},
         {-42, -80},
         {-45, -30},
         {0, -5},
         {42, -35},
         {47, -75},
         {47, -75},
         {40, 20},
         {20, 100}}}}},
     {{{10,
        {{40, -75},
         {-5, -100},
         {-45, -60},
         {-25, -15},
         {25, -25},
         {45, -70},
         {45, -70},
         {50, 20},
         {20, 85},
         {-40, 95}}}}}},
};
// clang-format on

// Scale and shear of a sample.
typedef struct {
  double wide, lean;
} GlyphShape;

// A Catmull–Rom spline between the middle two of four points.
static double catmull_rom(double a, double b, double c, double d, double t) {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static uint32_t spline_points(const double (*p)[2], uint32_t n, double (*out)[2]) {
  uint32_t count = 0, steps = (CURVE - 1) / (n - 1);
  if (steps > 6) steps = 6;
  for (uint32_t i = 0; i + 1 < n; i++) {
    if (p[i][0] == p[i + 1][0] && p[i][1] == p[i + 1][1]) continue; // a corner
    for (uint32_t s = 0; s < steps; s++, count++)
      for (int k = 0; k < 2; k++)
        out[count][k] = catmull_rom(p[i ? i - 1 : 0][k], p[i][k], p[i + 1][k],
                                    p[i + 2 < n ? i + 2 : i + 1][k], (double)s / steps);
  }
  out[count][0] = p[n - 1][0];
  out[count][1] = p[n - 1][1];
  return count + 1;
}

static void draw_stroke(Sprite *c, Dice *d, const Stroke *s, const GlyphShape *hand, double pen,
                        double ink) {
  double point[POINTS][2], curve[CURVE][2];
  for (uint32_t i = 0; i < s->n; i++) {
    bool corner = i && s->at[i][0] == s->at[i - 1][0] && s->at[i][1] == s->at[i - 1][1];
    double u = s->at[i][0] / 100.0 + 0.06 * dice_normal(d);
    double v = s->at[i][1] / 100.0 + 0.06 * dice_normal(d);
    point[i][0] = corner ? point[i - 1][0] : hand->wide * u - hand->lean * v;
    point[i][1] = corner ? point[i - 1][1] : v;
  }
  uint32_t n = spline_points((const double(*)[2])point, s->n, curve);
  canvas_stroke(c, (const double(*)[2])curve, n, pen, &ink, 1);
}

static void draw_glyph(uint64_t seed, Split split, int64_t row, uint8_t *to) {
  float pixel[SIDE * SIDE];
  Sprite c = {.at = pixel, .size = SIDE, .channels = 1};
  Dice d = dice_for(seed, "glyphs", split, row);
  double paper = dice_chance(&d, 0.3) ? dice_between(&d, 0, 0.15) : 0;
  for (uint32_t i = 0; i < SIDE * SIDE; i++) pixel[i] = (float)paper;
  const Digit *digit = &digits[row % 10][dice_chance(&d, 0.35)];
  double scale = dice_between(&d, 7, 10), ink = dice_between(&d, 0.65, 1);
  double pen = dice_between(&d, 1.4, 3.6) / scale;
  double wide = dice_between(&d, 0.75, 1.15), lean = dice_between(&d, -0.2, 0.35);
  double x = 14 + 1.2 * dice_normal(&d), y = 14 + dice_normal(&d);
  GlyphShape hand = {wide, lean};
  canvas_place(&c, x, y, scale, 0.02 * dice_normal(&d));
  for (uint32_t i = 0; i < 2; i++)
    if (digit->stroke[i].n) draw_stroke(&c, &d, &digit->stroke[i], &hand, pen, ink);
  if (dice_chance(&d, 0.08)) { // a stray stroke
    Stroke stray = {.n = 2};
    for (int k = 0; k < 2; k++) {
      stray.at[0][k] = (int8_t)dice_between(&d, -127, 127);
      stray.at[1][k] = (int8_t)(stray.at[0][k] * dice_between(&d, 0.5, 1));
    }
    draw_stroke(&c, &d, &stray, &hand, pen, ink);
  }
  canvas_noise(&c, &d, dice_between(&d, 0.01, 0.07));
  canvas_bytes(&c, to);
}

void open_glyphs(Set *s) {
  static const int64_t rows[SPLITS] = {[SPLIT_TRAIN] = TRAIN, [SPLIT_TEST] = TEST};
  Column names[SPLITS];
  for (uint32_t b = 0; b < SPLITS; b++) {
    uint8_t *label = arena_alloc(s->arena, (size_t)rows[b]);
    for (int64_t r = 0; r < rows[b]; r++) label[r] = (uint8_t)(r % 10);
    names[b] = column_new(label, 1, EL_U8);
  }
  set_add_drawn(s, &(Field){.name = "image", .rank = 2, .shape = {SIDE, SIDE}}, rows, draw_glyph);
  set_add(s, &(Field){.name = "label", .kind = FIELD_LABEL, .labels = 10}, names);
  set_cut_given(s, TRAIN, 0, TEST);
  s->summary = "digits of 28×28 pixels, drawn by code";
}
