// Generated pictures of coloured shapes, 32×32×3, each with a caption of up to 12 words from a
// vocabulary of 32.
//
//   a small red circle at the top          a large blue square left of a green star
//   a yellow ring and a white bar above a black diamond
//
// A scene is planned first: number, kind, colour, size and position of the shapes. Caption and
// picture are derived from the plan independently, so captions exist before pictures are drawn.
#include "io/data/set_own.h"

enum { SIDE = 32, TRAIN = 8000, TEST = 2000, WORDS = 12, MOST = 3 };

// Word 0 pads a caption.
const char *const scene_words[SCENE_WORDS] = {
    "",       "a",      "and",      "above",   "below", "left",   "right", "of",
    "at",     "the",    "top",      "bottom",  "in",    "middle", "small", "large",
    "red",    "pink",   "yellow",   "green",   "blue",  "purple", "white", "black",
    "circle", "square", "triangle", "diamond", "ring",  "cross",  "star",  "bar",
};
enum {
  A = 1,
  AND,
  ABOVE,
  BELOW,
  LEFT,
  RIGHT,
  OF,
  AT,
  THE,
  TOP,
  BOTTOM,
  IN,
  MIDDLE,
  SMALL,
  LARGE,
  RED
};
enum { BLACK = RED + 7, CIRCLE, SQUARE, TRIANGLE, DIAMOND, RING, CROSS, STAR, BAR };
enum { COLOURS = 8, SHAPES = 8 };

static const double colour[COLOURS][3] = {
    {0.85, 0.13, 0.15}, {0.95, 0.5, 0.68},  {0.95, 0.85, 0.2},  {0.2, 0.62, 0.25},
    {0.15, 0.35, 0.82}, {0.55, 0.25, 0.68}, {0.97, 0.97, 0.95}, {0.08, 0.08, 0.1},
};

typedef struct {
  uint32_t shape, colour; // as words
  uint32_t size;          // SMALL, LARGE, or 0: not mentioned
  double x, y, radius;    // in pixels
} SceneThing;

typedef struct {
  uint32_t n;
  SceneThing thing[MOST];
  // N = 1: TOP BOTTOM LEFT RIGHT MIDDLE; n > 1: position of the first relative to the last.
  uint32_t place;
} DrawnScene;

static SceneThing some_thing(Dice *d, double small, double large) {
  SceneThing t = {.shape = CIRCLE + dice_below(d, SHAPES)};
  t.colour = RED + dice_below(d, COLOURS);
  uint32_t kind = dice_below(d, 3);
  t.size = kind == 0 ? SMALL : kind == 1 ? LARGE : 0;
  t.radius = (t.size == SMALL   ? small
              : t.size == LARGE ? large
                                : (small + large) / 2) +
             dice_between(d, -0.4, 0.4);
  return t;
}

static bool is_taken(const DrawnScene *s, const SceneThing *t) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->thing[i].shape == t->shape || s->thing[i].colour == t->colour) return true;
  return false;
}

static void add_thing(DrawnScene *s, Dice *d, double small, double large, double x, double y) {
  SceneThing t;
  do t = some_thing(d, small, large);
  while (is_taken(s, &t));
  t.x = x + dice_between(d, -1.5, 1.5);
  t.y = y + dice_between(d, -1.5, 1.5);
  s->thing[s->n++] = t;
}

// The offset of the first of two shapes from the centre; the second has the opposite offset.
static void side_of(uint32_t place, double far, double *x, double *y) {
  *x = place == LEFT ? -far : place == RIGHT ? far : 0;
  *y = place == ABOVE || place == TOP ? -far : place == BELOW || place == BOTTOM ? far : 0;
}

static void plan_one(DrawnScene *s, Dice *d) {
  static const uint32_t places[] = {TOP, BOTTOM, LEFT, RIGHT, MIDDLE};
  double x, y;
  s->place = places[dice_below(d, 5)];
  side_of(s->place, 7, &x, &y);
  add_thing(s, d, 4.5, 8, 16 + x, 16 + y);
}

// The upper or left shape is named first, so that a picture has one caption.
static void plan_two(DrawnScene *s, Dice *d) {
  double x, y;
  s->place = dice_chance(d, 0.5) ? ABOVE : LEFT;
  side_of(s->place, 7.5, &x, &y);
  add_thing(s, d, 3.8, 6.4, 16 + x, 16 + y);
  add_thing(s, d, 3.8, 6.4, 16 - x, 16 - y);
}

// Two shapes side by side, and one above or below both.
static void plan_three(DrawnScene *s, Dice *d) {
  s->place = ABOVE + dice_below(d, 2);
  double y = s->place == ABOVE ? -7 : 7;
  add_thing(s, d, 4.8, 4.8, 8.5, 16 + y);
  add_thing(s, d, 4.8, 4.8, 23.5, 16 + y);
  add_thing(s, d, 4.8, 4.8, 16, 16 - y);
  for (uint32_t i = 0; i < 3; i++) s->thing[i].size = 0;
}

static DrawnScene plan(uint64_t seed, Split split, int64_t row) {
  Dice d = dice_for(seed, "plan", split, row);
  DrawnScene s = {0};
  uint32_t kind = dice_below(&d, 10);
  (kind < 3 ? plan_one : kind < 7 ? plan_two : plan_three)(&s, &d);
  return s;
}

// -- words ----------------------------------------------------------------------------------------
static uint32_t name_thing(const SceneThing *t, uint8_t *to) {
  uint32_t n = 0;
  to[n++] = A;
  if (t->size) to[n++] = (uint8_t)t->size;
  to[n++] = (uint8_t)t->colour;
  to[n++] = (uint8_t)t->shape;
  return n;
}

static void caption(const DrawnScene *s, uint8_t *to) {
  uint32_t n = name_thing(&s->thing[0], to);
  if (s->n == 1) {
    to[n++] = s->place == MIDDLE ? IN : AT;
    to[n++] = THE;
    to[n] = (uint8_t)s->place;
    return;
  }
  if (s->n == 3) {
    to[n++] = AND;
    n += name_thing(&s->thing[1], to + n);
  }
  to[n++] = (uint8_t)s->place;
  if (s->place == LEFT || s->place == RIGHT) to[n++] = OF;
  name_thing(&s->thing[s->n - 1], to + n);
}

// -- pictures -------------------------------------------------------------------------------------
static void regular(double (*at)[2], uint32_t n, double turn, double wide, double high) {
  for (uint32_t i = 0; i < n; i++) {
    at[i][0] = wide * turn_cos(turn + (double)i / n);
    at[i][1] = high * turn_sin(turn + (double)i / n);
  }
}

static void draw_polygon(Sprite *c, uint32_t n, double turn, double wide, double high,
                         const double *paint) {
  double at[8][2];
  regular(at, n, turn, wide, high);
  canvas_polygon(c, (const double(*)[2])at, n, paint, 1);
}

static void draw_thing(Sprite *c, const SceneThing *t, double turn, const double *paint) {
  static const double cross[2][2][2] = {{{-0.75, 0}, {0.75, 0}}, {{0, -0.75}, {0, 0.75}}};
  double ring[17][2];
  canvas_place(c, t->x, t->y, t->radius, turn);
  switch (t->shape) {
  case CIRCLE: canvas_ellipse(c, (Ellipse){0, 0, 0.92, 0.92}, paint, 1, 0); break;
  case SQUARE: draw_polygon(c, 4, 0.125, 1.15, 1.15, paint); break;
  case TRIANGLE: draw_polygon(c, 3, -0.25, 1.15, 1.15, paint); break;
  case DIAMOND: draw_polygon(c, 4, 0, 0.72, 1.15, paint); break;
  case RING:
    regular(ring, 16, 0, 0.72, 0.72);
    ring[16][0] = ring[0][0], ring[16][1] = ring[0][1];
    canvas_stroke(c, (const double(*)[2])ring, 17, 0.42, paint, 1);
    break;
  case CROSS:
    for (int i = 0; i < 2; i++) canvas_stroke(c, cross[i], 2, 0.45, paint, 1);
    break;
  case STAR:
    draw_polygon(c, 3, -0.25, 1.1, 1.1, paint);
    draw_polygon(c, 3, 0.25, 1.1, 1.1, paint);
    break;
  default: draw_polygon(c, 4, 0.125, 1.5, 0.55, paint); break;
  }
}

// A light or darker background, with contrast to the colours of the shapes.
static void background(Sprite *c, Dice *d, const DrawnScene *s) {
  bool dark = false, light = false;
  for (uint32_t i = 0; i < s->n; i++)
    dark |= s->thing[i].colour == BLACK, light |= s->thing[i].colour == BLACK - 1;
  double tone = dark && light ? 0.55
                : light       ? dice_between(d, 0.35, 0.6)
                              : dice_between(d, 0.62, 0.85);
  double tint[3], slope = dice_between(d, -0.12, 0.12);
  for (int k = 0; k < 3; k++) tint[k] = tone + dice_between(d, -0.05, 0.05);
  for (uint32_t j = 0; j < SIDE; j++)
    for (uint32_t i = 0; i < SIDE * 3; i++)
      c->at[j * SIDE * 3 + i] = (float)(tint[i % 3] + slope * ((double)j / SIDE - 0.5));
}

static void draw_scene(uint64_t seed, Split split, int64_t row, uint8_t *to) {
  float pixel[SIDE * SIDE * 3];
  Sprite c = {.at = pixel, .size = SIDE, .channels = 3};
  DrawnScene s = plan(seed, split, row);
  Dice d = dice_for(seed, "scenes", split, row);
  background(&c, &d, &s);
  for (uint32_t i = 0; i < s.n; i++) {
    double turn = 0.012 * dice_normal(&d), paint[3], bright = dice_between(&d, 0.9, 1.03);
    static const double shade[3] = {0.1, 0.1, 0.1};
    for (int k = 0; k < 3; k++)
      paint[k] = colour[s.thing[i].colour - RED][k] * bright + dice_between(&d, -0.02, 0.02);
    canvas_place(&c, s.thing[i].x + 0.8, s.thing[i].y + 1.2, s.thing[i].radius, 0);
    canvas_ellipse(&c, (Ellipse){0, 0, 0.9, 0.9}, shade, 0.18, 1.2); // its shadow
    draw_thing(&c, &s.thing[i], turn, paint);
  }
  canvas_noise(&c, &d, 0.012);
  canvas_bytes(&c, to);
}

void open_scenes(Set *s) {
  static const int64_t rows[SPLITS] = {[SPLIT_TRAIN] = TRAIN, [SPLIT_TEST] = TEST};
  Column text[SPLITS];
  for (Split split = 0; split < SPLITS; split++) {
    uint8_t *to = arena_alloc(s->arena, (size_t)(rows[split] * WORDS));
    for (int64_t r = 0; r < rows[split]; r++) {
      DrawnScene scene = plan(s->options.seed, split, r);
      caption(&scene, to + r * WORDS);
    }
    text[split] = column_new(to, WORDS, EL_U8);
  }
  set_add_drawn(s, &(Field){.name = "picture", .rank = 3, .shape = {SIDE, SIDE, 3}}, rows,
                draw_scene);
  set_add(s,
          &(Field){.name = "caption",
                   .kind = FIELD_LABEL,
                   .rank = 1,
                   .shape = {WORDS},
                   .labels = COUNT(scene_words),
                   .label = scene_words},
          text);
  set_cut_given(s, TRAIN, 0, TEST);
  s->summary =
      "pictures of 1 to 3 shapes, 32×32 in colour, with a caption of up to 12 words; drawn by code";
}
