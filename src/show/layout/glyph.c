// Glyphs: how large they are, and how they are painted. Measures are those of the published neural
// circuit diagrams (docs/drawing.md).
#include "show/layout/sketch.h"

#include <math.h>

enum { LABEL = 14, NAME = 20, LETTER = 18, SMALL = 12 };
enum { REACH = 16 }; // from where lines bend to a circle that they touch

double label_width(const char *label) { return math_width(FACE_ITALIC, LABEL, label); }
double name_width(const char *name) { return math_width(FACE_ITALIC, NAME, name); }
double operand_width(const char *name) { return math_width(FACE_ITALIC, OPERAND, name); }

static double text_room(Face face, double size, const Glyph *g) {
  double small = fmax(g->above ? math_width(FACE_ITALIC, SMALL, g->above) : 0,
                      g->below ? math_width(FACE_SERIF, SMALL, g->below) : 0);
  return (g->text ? math_width(face, size, g->text) : 0) + small;
}

static double second_room(const Glyph *g) {
  return g->second ? math_width(FACE_SANS, SMALL, g->second) : 0;
}

static double norm_room(const Glyph *g) { return g->text ? 30 : 20; } // with a letter it is larger

double glyph_width(const Glyph *g) {
  switch (g->kind) {
  case GLYPH_BOX: return fmax(36, text_room(FACE_ITALIC, LETTER, g) + 16);
  case GLYPH_LEARNED: return fmax(35, text_room(FACE_BOLD, 24, g) + 16);
  case GLYPH_SOFTMAX: return 20;
  case GLYPH_NORM: return norm_room(g) + (g->touch.n ? 2 * REACH : 0);
  case GLYPH_MASK: return 30;
  case GLYPH_INDEX: return fmax(25, text_room(FACE_SERIF, 15, g) + 10) + 10;
  case GLYPH_WISE: return text_room(FACE_ITALIC, LETTER, g) + 40;
  case GLYPH_BAR: return 5;
  case GLYPH_CONV: return 30;
  case GLYPH_STAR: return fmax(30, text_room(FACE_SERIF, 14, g) + 12);
  case GLYPH_REDUCE: return text_room(FACE_SERIF, 15, g) + 22;
  case GLYPH_CAP: return 20;
  case GLYPH_START: return fmax(25, text_room(FACE_BOLD, 15, g) * 1.5 + 12);
  case GLYPH_SOURCE: return text_room(FACE_MATH, 22, g) + 12;
  case GLYPH_BLOCK: return fmax(50, fmax(text_room(FACE_SANS, 14, g), second_room(g)) + 24);
  case GLYPH_INSET: return inset_width(g->inset);
  case GLYPH_GHOST: return fmax(40, text_room(FACE_SANS, 14, g) + 20);
  case GLYPH_KEPT: return text_room(FACE_ITALIC, LETTER, g) + 14;
  case GLYPH_EFFECT:
  case GLYPH_STOP:
  case GLYPH_LENS:
  case GLYPH_OPTIC:
  case GLYPH_RATE: return lens_width(g);
  }
  return 0;
}

double glyph_port(const Glyph *g) {
  if (g->kind == GLYPH_NORM) return norm_room(g) / 2;
  return glyph_width(g) / 2 - (g->kind == GLYPH_LEARNED ? 6 : 0);
}

double glyph_height(const Glyph *g) {
  switch (g->kind) {
  case GLYPH_BOX: return 26;
  case GLYPH_LEARNED: return 30;
  case GLYPH_SOFTMAX: return 28;
  case GLYPH_NORM: return norm_room(g);
  case GLYPH_MASK: return 30;
  case GLYPH_INDEX: return 25;
  case GLYPH_WISE: return 16;
  case GLYPH_BAR: return 20;
  case GLYPH_CONV: return 36;
  case GLYPH_STAR: return 22;
  case GLYPH_REDUCE: return 18;
  case GLYPH_CAP: return 20;
  case GLYPH_START: return 30;
  case GLYPH_SOURCE: return 36;
  case GLYPH_BLOCK: return g->second ? 54 : 44;
  case GLYPH_INSET: return g->inset->height;
  case GLYPH_GHOST: return 34;
  case GLYPH_KEPT: return 30;
  case GLYPH_EFFECT:
  case GLYPH_STOP:
  case GLYPH_LENS:
  case GLYPH_OPTIC:
  case GLYPH_RATE: return lens_height(g);
  }
  return 0;
}

// The heights of its ports, first and last.
static void ports(const Layout *l, const Glyph *g, double *y0, double *y1) {
  *y0 = INFINITY, *y1 = -INFINITY;
  for (uint32_t i = 0; i < g->in.n; i++)
    *y0 = fmin(*y0, l->in[g->in.at[i]]), *y1 = fmax(*y1, l->in[g->in.at[i]]);
  for (uint32_t i = 0; i < g->out.n; i++)
    *y0 = fmin(*y0, l->out[g->out.at[i]]), *y1 = fmax(*y1, l->out[g->out.at[i]]);
}

void glyph_extent(const Layout *l, const Placed *p, double *y0, double *y1) {
  double least = glyph_height(p->glyph);
  if (p->glyph->kind == GLYPH_WISE) {
    *y0 = p->y - least / 2, *y1 = p->y + least / 2;
    return;
  }
  ports(l, p->glyph, y0, y1);
  if (p->glyph->kind == GLYPH_INSET) {
    double shift = inset_shift(l, p);
    inset_extent(p->glyph->inset, y0, y1);
    *y0 += shift, *y1 += shift;
    return;
  }
  if (p->glyph->kind == GLYPH_CAP) return;
  if (p->glyph->kind == GLYPH_STAR && *y1 - *y0 >= least - 2) return; // its edges lie on the wires
  double rest = fmax(6, (least - (*y1 - *y0)) / 2);
  *y0 -= rest, *y1 += rest;
}

// -- painting -------------------------------------------------------------------------------------
static void arrow(Canvas *c, double x, double y) { // its tip
  path_move(c, x, y), path_line(c, x - 10.72, y + 5.15), path_line(c, x - 7.12, y);
  path_line(c, x - 10.72, y - 5.15), path_close(c);
  canvas_paint(c, &(Paint){.fill = INK_LINE});
}

typedef struct {
  Canvas *c;
  const Glyph *g;
  double x, y0, y1, w; // its middle, its extent, its width
} Brush;

// A letter in the middle, with small ones to its right.
static void letter(const Brush *b, Face face, double size, Ink ink) {
  const Glyph *g = b->g;
  double y = (b->y0 + b->y1) / 2 + size * 0.33;
  double x = b->x - text_room(face, size, g) / 2;
  double width = g->text ? math_width(face, size, g->text) : 0;
  if (g->text) math_text(b->c, x, y, &(Text){.face = face, .size = size, .ink = ink}, g->text);
  if (g->above)
    math_text(b->c, x + width + 1, y - size * 0.42,
              &(Text){.face = FACE_ITALIC, .size = SMALL, .ink = ink}, g->above);
  if (g->below)
    math_text(b->c, x + width + 1, y + size * 0.18,
              &(Text){.face = FACE_SERIF, .size = SMALL, .ink = ink}, g->below);
}

static void rectangle(const Brush *b, Ink fill, double width) {
  path_rect(b->c, b->x - b->w / 2, b->y0, b->w, b->y1 - b->y0, 0);
  Paint paint = {.fill = fill, .stroke = width > 0 ? INK_LINE : INK_NONE, .width = width};
  if (b->g->faint)
    paint.fill = INK_PAPER, paint.stroke = INK_SOFT, paint.dash[0] = 4, paint.dash[1] = 3;
  canvas_paint(b->c, &paint);
}

static void learned(const Brush *b) {
  double l = b->x - b->w / 2, r = b->x + b->w / 2;
  path_move(b->c, l, b->y0), path_line(b->c, r, b->y0), path_line(b->c, r, b->y1);
  path_line(b->c, l + 8, b->y1), path_line(b->c, l, b->y1 - 8), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = INK_LEARNED});
  letter(b, FACE_BOLD, 24, INK_TEXT);
}

static void softmax(const Brush *b) {
  double y = (b->y0 + b->y1) / 2;
  path_move(b->c, b->x - 10, y), path_line(b->c, b->x + 10, y - 14.06),
      path_line(b->c, b->x + 10, y + 14.06);
  path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
}

// With a letter: V is drawn into the circle from rim to rim.
static void norm(const Brush *b) {
  double y = (b->y0 + b->y1) / 2, r = norm_room(b->g) / 2;
  bool mean = b->g->text && strcmp(b->g->text, "V") == 0;
  path_circle(b->c, b->x, y, r);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = b->g->bold ? 2 : 1});
  if (mean) {
    path_move(b->c, b->x - r * 0.75, y - r * 0.66), path_line(b->c, b->x, y + r);
    path_line(b->c, b->x + r * 0.75, y - r * 0.66);
    canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  } else if (b->g->text) {
    letter(b, FACE_BOLD, 15, INK_TEXT);
  }
}

// On both its wires, however far apart they are.
static void mask(const Brush *b) {
  double l = b->x - 15, r = l + 30, t = b->y0, low = b->y1;
  path_move(b->c, l, t), path_line(b->c, r, t), path_line(b->c, r, low), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = b->g->upper ? INK_MASK : INK_SOFT});
  path_move(b->c, l, t), path_line(b->c, r, low), path_line(b->c, l, low), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = b->g->upper ? INK_SOFT : INK_MASK});
  path_rect(b->c, l, t, 30, low - t, 0);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
}

static void ket(const Brush *b) {
  double l = b->x - b->w / 2, r = b->x + b->w / 2, y = (b->y0 + b->y1) / 2;
  if (b->g->flip) r = l, l = b->x + b->w / 2;
  double tip = l < r ? 10 : -10;
  path_move(b->c, l, b->y0), path_line(b->c, r - tip, b->y0), path_line(b->c, r, y);
  path_line(b->c, r - tip, b->y1), path_line(b->c, l, b->y1), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = INK_KET, .stroke = INK_LINE, .width = 1});
  Brush inner = *b;
  inner.x -= tip < 0 ? -4 : 4;
  letter(&inner, FACE_SERIF, 15, INK_ON_KET);
}

static void wise(const Brush *b) {
  double y = (b->y0 + b->y1) / 2, half = text_room(FACE_ITALIC, LETTER, b->g) / 2;
  arrow(b->c, b->x - half - 4, y);
  letter(b, FACE_ITALIC, LETTER, INK_TEXT);
  path_move(b->c, b->x + half + 3, y), path_line(b->c, b->x + half + 10, y);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  arrow(b->c, b->x + half + 18, y);
}

// An axis on the narrow side, places and window on the wide one. Where the diagonal ends stands the
// stride, where the window's axis meets it the dilation. Transposed, it is turned round.
static void conv(const Brush *b) {
  const Glyph *g = b->g;
  bool up = g->text != NULL;
  double wide = up ? b->x - 15 : b->x + 15, narrow = up ? b->x + 15 : b->x - 15;
  double to = up ? -1 : 1, middle = (b->y0 + b->y1) / 2;
  Text small = {.face = FACE_SERIF, .size = SMALL, .ink = INK_TEXT, .anchor = ANCHOR_MIDDLE};
  path_move(b->c, narrow, b->y0), path_line(b->c, wide, b->y0), path_line(b->c, wide, b->y1);
  path_line(b->c, narrow, b->y1 - 8), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = INK_CONV, .stroke = INK_LINE, .width = 1});
  path_move(b->c, narrow, b->y1 - 8), path_line(b->c, narrow + to * 17, middle);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_text(b->c, b->x - 11 + (up ? 10 : 0), b->y0 + 13, &(Text){.face = FACE_MATH, .size = 12},
              "★");
  if (g->above) math_text(b->c, narrow + to * 23, middle + 1, &small, g->above);
  if (g->below) math_text(b->c, narrow + to * 23, b->y1 - 4, &small, g->below);
  if (up) math_text(b->c, narrow - 6, b->y0 + 12, &small, "T");
}

static void reduce(const Brush *b) {
  double y = (b->y0 + b->y1) / 2, half = text_room(FACE_SERIF, 15, b->g) / 2;
  Brush inner = *b;
  inner.x -= 8;
  path_rect(b->c, b->x - b->w / 2, y - 9, half * 2 + 4, 18, 0);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER});
  letter(&inner, FACE_SERIF, 15, INK_TEXT);
  arrow(b->c, b->x + b->w / 2, y);
}

static void start(const Brush *b) {
  double l = b->x - b->w / 2, r = b->x + b->w / 2, y = (b->y0 + b->y1) / 2;
  path_move(b->c, l, y), path_line(b->c, r, b->y0), path_line(b->c, r, b->y1), path_close(b->c);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  Brush inner = *b;
  inner.x += b->w / 2 - 3 - text_room(b->g->bold ? FACE_BOLD : FACE_ITALIC, 15, b->g) / 2;
  letter(&inner, b->g->bold ? FACE_BOLD : FACE_ITALIC, 15, INK_TEXT);
}

static void cap(const Brush *b) {
  double x = b->x + b->w / 2, r = (b->y1 - b->y0) / 2, y = b->y0 + r, h = 0.5523;
  double wide = fmin(r, b->w);
  path_move(b->c, x, b->y0);
  path_cubic(b->c, x - wide * h, b->y0, x - wide, y - r * h, x - wide, y);
  path_cubic(b->c, x - wide, y + r * h, x - wide * h, b->y1, x, b->y1);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
}

static void source(const Brush *b) {
  double r = b->x + b->w / 2;
  for (int k = 0; k < 2; k++) {
    path_move(b->c, r - 5 * k, b->y0), path_line(b->c, r - 5 * k, b->y1);
    canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  }
  Brush inner = *b;
  inner.x -= 6;
  letter(&inner, FACE_MATH, 22, INK_TEXT);
}

static void block(const Brush *b) {
  double l = b->x - b->w / 2, r = b->x + b->w / 2 - 8, t = b->y0 + 8;
  path_move(b->c, l, t), path_line(b->c, l + 8, b->y0), path_line(b->c, r + 8, b->y0);
  path_line(b->c, r + 8, b->y1 - 8), path_line(b->c, r, b->y1), path_line(b->c, l, b->y1),
      path_close(b->c);
  canvas_paint(b->c,
               &(Paint){.fill = b->g->ink ? b->g->ink : INK_BLOCK, .stroke = INK_LINE, .width = 1});
  path_move(b->c, l, t), path_line(b->c, r, t), path_line(b->c, r + 8, b->y0);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  path_move(b->c, r, t), path_line(b->c, r, b->y1);
  canvas_paint(b->c, &(Paint){.stroke = INK_LINE, .width = 1});
  Brush inner = {b->c, b->g, b->x - 4, t, b->y1 - (b->g->second ? 16 : 0), b->w};
  letter(&inner, FACE_SANS, 14, INK_TEXT);
  if (b->g->second)
    math_text(b->c, b->x - 4, (t + b->y1) / 2 + 14,
              &(Text){.face = FACE_SANS, .size = SMALL, .ink = INK_TEXT, .anchor = ANCHOR_MIDDLE},
              b->g->second);
}

static void unknown(const Brush *b) {
  path_rect(b->c, b->x - b->w / 2, b->y0, b->w, b->y1 - b->y0, 0);
  Paint how = {.fill = b->g->alarm ? INK_WRONG : INK_PAPER,
               .stroke = b->g->alarm ? INK_ALARM : INK_LINE,
               .width = b->g->alarm ? 2.5 : 1,
               .dash = {6, 4}};
  canvas_paint(b->c, &how);
  letter(b, FACE_SANS, 14, INK_TEXT);
}

void glyph_paint(Canvas *c, const Layout *l, const Placed *p) {
  Brush b = {.c = c, .g = p->glyph, .x = p->x, .w = glyph_width(p->glyph)};
  glyph_extent(l, p, &b.y0, &b.y1);
  switch (p->glyph->kind) {
  case GLYPH_BOX:
    rectangle(&b, b.g->ink ? b.g->ink : INK_FUNCTION, 1), letter(&b, FACE_ITALIC, LETTER, INK_TEXT);
    break;
  case GLYPH_LEARNED: learned(&b); break;
  case GLYPH_SOFTMAX: softmax(&b); break;
  case GLYPH_NORM: norm(&b); break;
  case GLYPH_MASK: mask(&b); break;
  case GLYPH_INDEX: ket(&b); break;
  case GLYPH_WISE: wise(&b); break;
  case GLYPH_BAR: rectangle(&b, INK_LINE, 0); break;
  case GLYPH_CONV: conv(&b); break;
  case GLYPH_STAR: rectangle(&b, INK_STAR, 2), letter(&b, FACE_SERIF, 14, INK_TEXT); break;
  case GLYPH_REDUCE: reduce(&b); break;
  case GLYPH_CAP: cap(&b); break;
  case GLYPH_START: start(&b); break;
  case GLYPH_SOURCE: source(&b); break;
  case GLYPH_BLOCK: block(&b); break;
  case GLYPH_INSET: break; // paint.c
  case GLYPH_GHOST: unknown(&b); break;
  case GLYPH_KEPT: rectangle(&b, INK_KEPT, 0), letter(&b, FACE_ITALIC, LETTER, INK_TEXT); break;
  case GLYPH_EFFECT:
  case GLYPH_STOP:
  case GLYPH_LENS:
  case GLYPH_OPTIC:
  case GLYPH_RATE: lens_paint(c, l, p, b.y0, b.y1); break;
  }
}

// What takes its measure over axes that pass is touched by them, from both sides.
void glyph_touch(Canvas *c, const Layout *l, const Placed *p) {
  double y0, y1, r = glyph_port(p->glyph);
  glyph_extent(l, p, &y0, &y1);
  double y = (y0 + y1) / 2;
  for (uint32_t i = 0; i < p->glyph->touch.n; i++) {
    double from = l->in[p->glyph->touch.at[i]], up = from < y ? -1 : 1;
    for (int side = -1; side < 2; side += 2) {
      path_move(c, p->x + side * (r + REACH), from);
      path_cubic(c, p->x + side * (r + 4), from, p->x + side * (r * 0.9), y + up * (r + 2),
                 p->x + side * r * 0.64, y + up * r * 0.77);
      canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
    }
  }
}
