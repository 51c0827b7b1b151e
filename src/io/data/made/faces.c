// Generated faces: 32×32, grey, with a label (smiling or not), and each face again with the
// opposite label as ground truth for an edit.
//
// A face has a head of some shape and skin tone, hair, brows, eyes, a nose and a mouth; it is
// turned, tilted, lit from one side, in front of a background. A smile widens the mouth and lifts
// its corners, shows teeth, narrows the eyes and rounds the cheeks; nothing else depends on it.
// Random numbers do not depend on the label, so both versions differ only by the smile, down to the
// noise. Lengths are in head units: the head extends about 0.78 to the sides and 1 up and down from
// (0, 0).
#include "io/data/set_own.h"

enum { SIDE = 32, TRAIN = 8000, TEST = 2000 };

typedef struct {
  Sprite c;
  Dice d;
  bool smile;
  double yaw;               // rotation to the right
  double skin, hair, light; // tones; light: direction, -1 left … 1 right
  double wide, jaw;         // widths of head and jaw
  double eye_v, eye_u, mouth_v, gaze;
} DrawnFace;

// Horizontal position of a feature on the rotated head (a sphere): features in the middle move
// most.
static double turned(const DrawnFace *f, double u) {
  double depth = 1 - 0.9 * u * u;
  return u + f->yaw * 0.3 * depth;
}

static void oval(DrawnFace *f, Ellipse e, double tone, double alpha, double soft) {
  canvas_ellipse(&f->c, e, &tone, alpha, soft);
}

static void line(DrawnFace *f, const double (*point)[2], uint32_t n, double width, double tone,
                 double alpha) {
  double at[16][2];
  for (uint32_t i = 0; i < n; i++) at[i][0] = turned(f, point[i][0]), at[i][1] = point[i][1];
  canvas_stroke(&f->c, (const double(*)[2])at, n, width, &tone, alpha);
}

// A parabolic arc of n points through (u - w, v), (u, v + deep), (u + w, v).
static void arc(double (*at)[2], uint32_t n, double u, double v, double w, double deep) {
  for (uint32_t i = 0; i < n; i++) {
    double t = 2.0 * i / (n - 1) - 1;
    at[i][0] = u + w * t;
    at[i][1] = v + deep * (1 - t * t);
  }
}

static void background(DrawnFace *f) {
  double low = dice_between(&f->d, 0.1, 0.9), high = low + dice_between(&f->d, -0.25, 0.25);
  double turn = dice_unit(&f->d), du = turn_cos(turn) / SIDE, dv = turn_sin(turn) / SIDE;
  for (int32_t j = 0; j < SIDE; j++)
    for (int32_t i = 0; i < SIDE; i++) {
      double t = 0.5 + (i - SIDE / 2) * du + (j - SIDE / 2) * dv;
      f->c.at[j * SIDE + i] = (float)(low + (high - low) * t);
    }
  if (!dice_chance(&f->d, 0.5)) return;
  double u = dice_between(&f->d, -1.5, 1.5), v = dice_between(&f->d, -1.5, 1);
  double wide = dice_between(&f->d, 0.3, 0.9), tall = dice_between(&f->d, 0.3, 1.2);
  oval(f, (Ellipse){u, v, wide, tall}, dice_unit(&f->d), 0.35, 3); // a blurred object
}

static void body(DrawnFace *f) {
  double cloth = dice_between(&f->d, 0.05, 0.95);
  oval(f, (Ellipse){-0.1 * f->yaw, 1.95, 1.35, 0.8}, cloth, 1, 0);
  oval(f, (Ellipse){0, 1.1, 0.34, 0.5}, f->skin * 0.82, 1, 0.3);
}

static void hair_behind(DrawnFace *f, bool is_long, double full) {
  oval(f, (Ellipse){-0.06 * f->yaw, -0.16, f->wide + 0.12 * full, 0.98 + 0.1 * full}, f->hair, 1,
       0.2);
  if (is_long) {
    oval(f, (Ellipse){-0.1 * f->yaw, 0.45, f->wide + 0.2 * full, 0.95}, f->hair, 1, 0.2);
    oval(f, (Ellipse){0, 1.1, 0.34, 0.42}, f->skin * 0.8, 1, 0.2);
  }
}

static void head(DrawnFace *f) {
  for (int side = -1; side <= 1; side += 2) { // an ear on the far side is hidden
    double u = side * f->wide - 0.1 * f->yaw;
    if (side * f->yaw < 0.55) oval(f, (Ellipse){u, 0.06, 0.13, 0.2}, f->skin * 0.9, 1, 0);
  }
  oval(f, (Ellipse){0, -0.08, f->wide, 0.92}, f->skin, 1, 0);
  oval(f, (Ellipse){0.06 * f->yaw, 0.3, f->jaw, 0.72}, f->skin, 1, 0);
  oval(f, (Ellipse){-0.42 * f->light, 0.1, 0.4, 0.8}, f->skin * 0.78, 0.45, 4);
  oval(f, (Ellipse){0.34 * f->light, -0.1, 0.32, 0.6}, f->skin + 0.5 * (1 - f->skin), 0.3, 4);
}

// Hair with the forehead cut out; the parting is off-centre.
static void hair_front(DrawnFace *f, double line_v) {
  double part = dice_between(&f->d, -0.35, 0.35) + 0.25 * f->yaw, tone = f->hair;
  double shine = tone + 0.25 * (1 - tone);
  oval(f, (Ellipse){-0.04 * f->yaw, -0.62, f->wide + 0.03, 0.48}, tone, 1, 0.1);
  oval(f, (Ellipse){0.3 * f->light, -0.85, 0.3, 0.16}, shine, 0.45, 1.5);
  oval(f, (Ellipse){part, line_v + 0.62, f->wide - 0.1, 0.66}, f->skin, 1, 0.1);
  oval(f, (Ellipse){0.12 * f->yaw, line_v + 0.72, f->wide - 0.12, 0.6}, f->skin, 1, 0.1);
}

static void brows(DrawnFace *f) {
  double raise = dice_between(&f->d, -0.05, 0.07), bend = dice_between(&f->d, 0.02, 0.1);
  double slope = dice_between(&f->d, -0.06, 0.06), tone = f->hair * 0.7, at[5][2];
  double width = dice_between(&f->d, 0.07, 0.13);
  if (tone > f->skin - 0.2) tone = f->skin - 0.2;
  for (int side = -1; side <= 1; side += 2) {
    arc(at, 5, side * (f->eye_u + 0.02), f->eye_v - 0.24 - raise, 0.19, -bend);
    for (uint32_t i = 0; i < 5; i++) at[i][1] += side * slope * (at[i][0] - side * f->eye_u) / 0.19;
    line(f, (const double(*)[2])at, 5, width, tone, 0.9);
  }
}

static void eyes(DrawnFace *f) {
  double open = dice_between(&f->d, 0.085, 0.13), iris = dice_between(&f->d, 0.02, 0.3), at[5][2];
  double white = 0.55 + 0.4 * f->skin, lift = f->smile ? 0.03 : 0;
  open -= lift;
  for (int side = -1; side <= 1; side += 2) {
    double u = turned(f, side * f->eye_u), v = f->eye_v - lift / 2;
    double narrow = 1 - 0.35 * (side * f->yaw > 0 ? side * f->yaw : 0);
    oval(f, (Ellipse){u, v + 0.01, 0.2 * narrow, open + 0.06}, f->skin * 0.8, 0.5, 1);
    oval(f, (Ellipse){u, v, 0.16 * narrow, open}, white, 1, 0);
    oval(f, (Ellipse){u + f->gaze + 0.03 * f->yaw, v, 0.09 * narrow, 0.1 < open ? 0.1 : open}, iris,
         1, 0);
    arc(at, 5, side * f->eye_u, v - 0.02, 0.17 * narrow, -open);
    line(f, (const double(*)[2])at, 5, 0.06, 0.25 * f->skin, 0.85);
    if (!f->smile) continue;
    arc(at, 5, side * f->eye_u, v + open + 0.07, 0.13, 0.04);
    line(f, (const double(*)[2])at, 5, 0.045, f->skin * 0.7, 0.5);
  }
}

static void glasses(DrawnFace *f) {
  double tone = dice_between(&f->d, 0.02, 0.35), ring[13][2];
  for (int side = -1; side <= 1; side += 2) {
    for (uint32_t i = 0; i < 13; i++) {
      ring[i][0] = side * f->eye_u + 0.25 * turn_cos(i / 12.0);
      ring[i][1] = f->eye_v + 0.02 + 0.2 * turn_sin(i / 12.0);
    }
    line(f, (const double(*)[2])ring, 13, 0.055, tone, 0.9);
  }
  double bridge[2][2] = {{-f->eye_u + 0.25, f->eye_v - 0.02}, {f->eye_u - 0.25, f->eye_v - 0.02}};
  line(f, (const double(*)[2])bridge, 2, 0.05, tone, 0.9);
}

static void nose(DrawnFace *f) {
  double side = f->light > 0 ? -1 : 1,
         at[3][2] = {{0.06 * side, 0.08}, {0.11 * side, 0.28}, {0, 0.33}};
  line(f, (const double(*)[2])at, 3, 0.07, f->skin * 0.66, 0.55);
  oval(f, (Ellipse){turned(f, 0), 0.34, 0.13, 0.05}, f->skin * 0.6, 0.55, 0.5);
  oval(f, (Ellipse){turned(f, -0.02 * side), 0.22, 0.06, 0.12}, f->skin + 0.6 * (1 - f->skin), 0.35,
       1);
}

static void cheeks(DrawnFace *f) {
  for (int side = -1; side <= 1; side += 2) {
    double at[4][2], u = side * 0.44;
    oval(f, (Ellipse){turned(f, u), 0.32, 0.17, 0.13}, f->skin + 0.45 * (1 - f->skin), 0.5, 1.5);
    arc(at, 4, side * 0.3, 0.42, 0.1, -0.02);
    at[0][1] += side * 0.06, at[3][1] -= side * 0.06;
    line(f, (const double(*)[2])at, 4, 0.05, f->skin * 0.7, 0.45);
  }
}

static void beard(DrawnFace *f) {
  double tone = 0.5 * f->hair + 0.35 * f->skin, grown = dice_between(&f->d, 0.25, 0.75);
  oval(f, (Ellipse){0.08 * f->yaw, 0.72, f->jaw - 0.02, 0.34}, tone, grown, 1.2);
  oval(f, (Ellipse){turned(f, 0), 0.43, 0.26, 0.07}, tone, grown, 0.8);
}

// The smile exaggerates the mouth's own width and curvature, so a neutral face determines its
// smile.
static void mouth(DrawnFace *f) {
  double v = f->mouth_v, lip = f->skin * dice_between(&f->d, 0.35, 0.5), at[7][2], low[7][2];
  double wide = dice_between(&f->d, 0.2, 0.26), deep = dice_between(&f->d, -0.06, 0.02);
  if (f->smile) {
    wide += 0.2, deep += 0.25, v -= deep * 0.6;
    double white = 0.8 + 0.2 * f->skin, teeth[5][2];
    arc(low, 7, 0, v + 0.03, wide * 0.86, deep + 0.16);
    line(f, (const double(*)[2])low, 7, 0.1, lip, 0.9);
    arc(teeth, 5, 0, v + 0.03, wide * 0.74, deep * 0.9 + 0.04);
    line(f, (const double(*)[2])teeth, 5, 0.15, white, 1);
    for (int side = -1; side <= 1; side += 2) // dimples
      oval(f, (Ellipse){turned(f, side * (wide + 0.06)), v - 0.01, 0.06, 0.08}, f->skin * 0.55, 0.6,
           0.6);
  } else {
    arc(low, 7, 0, v + 0.1, wide * 0.6, deep * 0.8 + 0.02);
    line(f, (const double(*)[2])low, 7, 0.11, lip + 0.1, 0.6);
  }
  arc(at, 7, 0, v, wide, deep * (f->smile ? 0.55 : 1));
  line(f, (const double(*)[2])at, 7, 0.1, lip * 0.75, 0.95);
}

static void shape_face(DrawnFace *f) {
  f->yaw = 0.12 * dice_normal(&f->d);
  f->yaw = f->yaw > 1 ? 1 : f->yaw < -1 ? -1 : f->yaw;
  f->skin = dice_between(&f->d, 0.38, 0.9);
  f->hair =
      dice_chance(&f->d, 0.2) ? dice_between(&f->d, 0.5, 0.9) : dice_between(&f->d, 0.03, 0.4);
  if (f->hair > f->skin - 0.15 && f->hair < f->skin + 0.12) f->hair = f->skin - 0.25;
  f->light = dice_between(&f->d, -1, 1);
  f->wide = dice_between(&f->d, 0.7, 0.82);
  f->jaw = f->wide - dice_between(&f->d, 0.04, 0.2);
  f->eye_v = dice_between(&f->d, -0.08, 0);
  f->eye_u = dice_between(&f->d, 0.3, 0.36);
  f->mouth_v = dice_between(&f->d, 0.58, 0.62);
  f->gaze = dice_between(&f->d, -0.04, 0.04);
}

static bool smiles(uint64_t seed, Split split, int64_t row) {
  Dice d = dice_for(seed, "smile", split, row);
  return dice_chance(&d, 0.5);
}

static void draw(uint64_t seed, Split split, int64_t row, bool smile, uint8_t *to) {
  float pixel[SIDE * SIDE];
  DrawnFace f = {.c = {.at = pixel, .size = SIDE, .channels = 1},
                 .d = dice_for(seed, "faces", split, row),
                 .smile = smile};
  shape_face(&f);
  double x = 16 + 0.2 * dice_normal(&f.d), y = 15.5 + 0.15 * dice_normal(&f.d);
  double scale = dice_between(&f.d, 12.3, 12.9);
  canvas_place(&f.c, x, y, scale, 0.005 * dice_normal(&f.d));
  background(&f);
  bool bald = dice_chance(&f.d, 0.08), is_long = dice_chance(&f.d, 0.4) && !bald;
  double full = dice_between(&f.d, 0.2, 1), line_v = dice_between(&f.d, -0.6, -0.42);
  body(&f);
  if (!bald) hair_behind(&f, is_long, full);
  head(&f);
  if (!bald) hair_front(&f, line_v);
  if (!is_long && dice_chance(&f.d, 0.25)) beard(&f);
  if (f.smile) cheeks(&f);
  nose(&f);
  mouth(&f);
  eyes(&f);
  brows(&f);
  if (dice_chance(&f.d, 0.15)) glasses(&f);
  canvas_noise(&f.c, &f.d, dice_between(&f.d, 0.005, 0.02));
  canvas_bytes(&f.c, to);
}

static void draw_face(uint64_t seed, Split split, int64_t row, uint8_t *to) {
  draw(seed, split, row, smiles(seed, split, row), to);
}

static void draw_other(uint64_t seed, Split split, int64_t row, uint8_t *to) {
  draw(seed, split, row, !smiles(seed, split, row), to);
}

void open_faces(Set *s) {
  static const int64_t rows[SPLITS] = {[SPLIT_TRAIN] = TRAIN, [SPLIT_TEST] = TEST};
  Column label[SPLITS];
  for (Split split = 0; split < SPLITS; split++) {
    uint8_t *smile = arena_alloc(s->arena, (size_t)rows[split]);
    for (int64_t r = 0; r < rows[split]; r++) smile[r] = smiles(s->options.seed, split, r);
    label[split] = column_new(smile, 1, EL_U8);
  }
  set_add_drawn(s, &(Field){.name = "face", .rank = 2, .shape = {SIDE, SIDE}}, rows, draw_face);
  set_add(s, &(Field){.name = "smile", .labels = 2}, label);
  set_add_drawn(s, &(Field){.name = "other", .rank = 2, .shape = {SIDE, SIDE}}, rows, draw_other);
  set_cut_given(s, TRAIN, 0, TEST);
  s->summary = "faces of 32×32 pixels, drawn by code; half of them smile; other: the same face, "
               "smiling or not";
}
