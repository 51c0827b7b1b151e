// Anti-aliased shapes on a small picture.
//
// A shape is a signed distance function, negative inside, in pixels. The coverage of a pixel
// follows from the distance of its centre. Only pixels near a shape are visited.
#include "io/data/set_own.h"

#include <math.h>

enum { SIDE_MOST = 32 };

void canvas_place(Sprite *c, double x, double y, double scale, double turn) {
  c->x = x;
  c->y = y;
  c->unit = scale;
  c->a = scale * turn_cos(turn);
  c->b = scale * turn_sin(turn);
}

static void to_pixels(const Sprite *c, double u, double v, double *x, double *y) {
  *x = c->x + c->a * u - c->b * v;
  *y = c->y + c->b * u + c->a * v;
}

static inline float clamp(float x, float low, float high) {
  return x < low ? low : x > high ? high : x;
}

typedef struct {
  uint32_t x0, y0, x1, y1; // half-open ranges of pixels
} SpriteArea;

static uint32_t pixel(const Sprite *c, double x) {
  return x < 0 ? 0 : x > c->size ? c->size : (uint32_t)x;
}

static SpriteArea near(const Sprite *c, double x0, double y0, double x1, double y1) {
  return (SpriteArea){pixel(c, x0), pixel(c, y0), pixel(c, x1 + 1), pixel(c, y1 + 1)};
}

// Blends a row of pixels with a colour, weighted by coverage.
static void paint_row(Sprite *c, uint32_t y, uint32_t x0, uint32_t x1, const float *cover,
                      const double *paint) {
  float *p = c->at + (size_t)y * c->size * c->channels;
  float tone[3] = {(float)paint[0]};
  if (c->channels == 1) {
    for (uint32_t i = x0; i < x1; i++) p[i] += cover[i] * (tone[0] - p[i]);
    return;
  }
  for (int k = 1; k < 3; k++) tone[k] = (float)paint[k];
  for (uint32_t i = x0; i < x1; i++)
    for (uint32_t k = 0; k < 3; k++) p[3 * i + k] += cover[i] * (tone[k] - p[3 * i + k]);
}

// The approximate distance inside an ellipse: 1 - |(p, q)| with p = u/ru, q = v/rv, approximated
// near the edge by (1 - p² - q²) / 2, scaled to pixels by the smaller radius. No square root.
void canvas_ellipse(Sprite *c, Ellipse e, const double *paint, double alpha, double soft) {
  double ru = e.ru, rv = e.rv;
  double x, y, s = 1 / (c->unit * c->unit);
  float cover[SIDE_MOST], sharp = (float)((ru < rv ? ru : rv) * c->unit / (2 + 4 * soft));
  double reach = sqrt(1 + 0.5 / sharp), a = c->a, b = c->b;
  double wide = reach * sqrt(a * a * ru * ru + b * b * rv * rv);
  double high = reach * sqrt(b * b * ru * ru + a * a * rv * rv);
  float pu = (float)(a * s / ru), qu = (float)(-b * s / rv), strength = (float)alpha;
  to_pixels(c, e.u, e.v, &x, &y);
  SpriteArea part = near(c, x - wide - 1, y - high - 1, x + wide, y + high);
  for (uint32_t j = part.y0; j < part.y1; j++) {
    double dy = j + 0.5 - y;
    float p0 = (float)((b * dy + a * (0.5 - x)) * s / ru),
          q0 = (float)((a * dy - b * (0.5 - x)) * s / rv);
    for (uint32_t i = part.x0; i < part.x1; i++) {
      float p = p0 + pu * (float)(int32_t)i, q = q0 + qu * (float)(int32_t)i;
      cover[i] = clamp(0.5f + (1 - p * p - q * q) * sharp, 0, 1) * strength;
    }
    paint_row(c, j, part.x0, part.x1, cover, paint);
  }
}

// The distance to a polyline is the minimum over its segments, so joints are not blended twice.
// Distances stay squared until the end.
typedef struct {
  float d[SIDE_MOST * SIDE_MOST];
} NearestPoint;

static void segment_near(const Sprite *c, NearestPoint *f, const double *p, const double *q,
                         double half) {
  float px = (float)p[0] - 0.5f, py = (float)p[1] - 0.5f;
  float dx = (float)(q[0] - p[0]), dy = (float)(q[1] - p[1]), length = dx * dx + dy * dy;
  float per = length > 0 ? 1 / length : 0;
  SpriteArea part = near(c, fmin(p[0], q[0]) - half - 1, fmin(p[1], q[1]) - half - 1,
                         fmax(p[0], q[0]) + half, fmax(p[1], q[1]) + half);
  for (uint32_t j = part.y0; j < part.y1; j++) {
    float *d = f->d + j * SIDE_MOST, y = (float)(int32_t)j - py;
    for (uint32_t i = part.x0; i < part.x1; i++) {
      float x = (float)(int32_t)i - px, t = clamp((x * dx + y * dy) * per, 0, 1);
      float ex = x - t * dx, ey = y - t * dy, here = ex * ex + ey * ey;
      d[i] = here < d[i] ? here : d[i];
    }
  }
}

void canvas_stroke(Sprite *c, const double (*point)[2], uint32_t n, double width,
                   const double *paint, double alpha) {
  enum { MOST = 64 };
  double at[MOST][2], half = width * c->unit / 2, low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  NearestPoint f;
  float cover[SIDE_MOST], inside = (float)half + 0.5f, strength = (float)alpha;
  for (uint32_t i = 0; i < n && i < MOST; i++) {
    to_pixels(c, point[i][0], point[i][1], &at[i][0], &at[i][1]);
    for (int k = 0; k < 2; k++) low[k] = fmin(low[k], at[i][k]), high[k] = fmax(high[k], at[i][k]);
  }
  SpriteArea all = near(c, low[0] - half - 1, low[1] - half - 1, high[0] + half, high[1] + half);
  for (uint32_t j = all.y0; j < all.y1; j++)
    for (uint32_t i = all.x0; i < all.x1; i++) f.d[j * SIDE_MOST + i] = 1e9f;
  for (uint32_t k = 0; k + 1 < n && k + 1 < MOST; k++) segment_near(c, &f, at[k], at[k + 1], half);
  for (uint32_t j = all.y0; j < all.y1; j++) {
    for (uint32_t i = all.x0; i < all.x1; i++) {
      float d = f.d[j * SIDE_MOST + i];
      cover[i] = d < inside * inside ? clamp(inside - sqrtf(d), 0, 1) * strength : 0;
    }
    paint_row(c, j, all.x0, all.x1, cover, paint);
  }
}

// The inside of all edges; corners are clockwise on the screen.
void canvas_polygon(Sprite *c, const double (*point)[2], uint32_t n, const double *paint,
                    double alpha) {
  enum { MOST = 16 };
  double at[MOST][2], low[2] = {1e9, 1e9}, high[2] = {-1e9, -1e9};
  float edge[MOST][3], out[SIDE_MOST], strength = (float)alpha;
  for (uint32_t i = 0; i < n && i < MOST; i++) {
    to_pixels(c, point[i][0], point[i][1], &at[i][0], &at[i][1]);
    for (int k = 0; k < 2; k++) low[k] = fmin(low[k], at[i][k]), high[k] = fmax(high[k], at[i][k]);
  }
  for (uint32_t i = 0; i < n; i++) {
    const double *p = at[i], *q = at[(i + 1) % n];
    double dx = q[0] - p[0], dy = q[1] - p[1], length = sqrt(dx * dx + dy * dy);
    edge[i][0] = (float)(dy / length), edge[i][1] = (float)(-dx / length);
    edge[i][2] = (float)((dx * p[1] - dy * p[0]) / length);
  }
  SpriteArea part = near(c, low[0] - 1, low[1] - 1, high[0], high[1]);
  for (uint32_t j = part.y0; j < part.y1; j++) {
    for (uint32_t i = part.x0; i < part.x1; i++) out[i] = -1e9f;
    for (uint32_t k = 0; k < n; k++) {
      float from = edge[k][1] * ((float)(int32_t)j + 0.5f) + edge[k][2] + 0.5f * edge[k][0];
      for (uint32_t i = part.x0; i < part.x1; i++) {
        float d = edge[k][0] * (float)(int32_t)i + from;
        out[i] = d > out[i] ? d : out[i];
      }
    }
    for (uint32_t i = part.x0; i < part.x1; i++) out[i] = clamp(0.5f - out[i], 0, 1) * strength;
    paint_row(c, j, part.x0, part.x1, out, paint);
  }
}

// The sum of two random bytes: a triangular distribution around 0.
void canvas_noise(Sprite *c, Dice *d, double amount) {
  enum { BLOCK = 64 };
  size_t n = (size_t)c->size * c->size * c->channels;
  float scale = (float)amount / 104;
  for (size_t i = 0; i < n; i += BLOCK) {
    uint64_t bits[BLOCK / 4];
    uint8_t byte[BLOCK * 2];
    for (int k = 0; k < BLOCK / 4; k++) bits[k] = dice_next(d);
    for (int k = 0; k < BLOCK / 4; k++)
      for (int b = 0; b < 8; b++) byte[8 * k + b] = (uint8_t)(bits[k] >> 8 * b);
    for (size_t k = 0; k < BLOCK && i + k < n; k++)
      c->at[i + k] += scale * (float)(byte[k] + byte[k + BLOCK] - 255);
  }
}

void canvas_bytes(const Sprite *c, uint8_t *to) {
  size_t n = (size_t)c->size * c->size * c->channels;
  for (size_t i = 0; i < n; i++) to[i] = (uint8_t)(int32_t)(clamp(c->at[i], 0, 1) * 255 + 0.5f);
}
