// Glyphs: sizes and drawing. Measures follow the published neural circuit diagrams
// (docs/drawing.md).
#include "show/layout/sketch.h"

#include <math.h>

enum { LABEL = 14, NAME = 20, LETTER = 18, SMALL = 12 };
enum { REACH = 16 }; // the distance at which lines bend towards a circle that they touch

double label_width(const char *label) { return math_width(FACE_ITALIC, LABEL, label); }
double name_width(const char *name) { return math_width(FACE_ITALIC, NAME, name); }
double operand_width(const char *name) { return math_width(FACE_ITALIC, OPERAND, name); }

static double text_room(const Glyph *g, Face face, double size) {
  double small = fmax(g->above ? math_width(FACE_ITALIC, SMALL, g->above) : 0,
                      g->below ? math_width(FACE_SERIF, SMALL, g->below) : 0);
  return (g->text ? math_width(face, size, g->text) : 0) + small;
}

static double norm_room(const Glyph *g) { return g->text ? 30 : 20; } // larger with a letter

// -- painting -------------------------------------------------------------------------------------
typedef struct GlyphLook GlyphLook;

typedef struct {
  Canvas *c;
  const Glyph *g;
  const GlyphLook *look;
  double x, y, y0, y1, w, l, r; // centre, vertical extent, width, left and right
} Brush;

struct GlyphLook {
  double height, least; // minimal height and width
  double more;          // width in addition to that of its text
  Face face;            // of its text,
  double size;          // 0: no text that determines the size
  void (*paint)(const Brush *);
  Ink fill;
  double line; // outline width
};

static const Paint thin = {.stroke = INK_LINE, .width = 1};
static const Paint paper = {.fill = INK_PAPER, .stroke = INK_LINE, .width = 1};

// A letter at the centre, or `by` to its right, with small ones after it.
static void letter(const Brush *b, double by, Ink ink) {
  const Glyph *g = b->g;
  Text how = {.face = b->look->face, .size = b->look->size, .ink = ink};
  double y = b->y + how.size * 0.33, x = b->x + by - text_room(g, how.face, how.size) / 2;
  double width = g->text ? math_width(how.face, how.size, g->text) : 0;
  if (g->text) math_text(b->c, x, y, &how, g->text);
  if (g->above)
    math_text(b->c, x + width + 1, y - how.size * 0.42,
              &(Text){.face = FACE_ITALIC, .size = SMALL, .ink = ink}, g->above);
  if (g->below)
    math_text(b->c, x + width + 1, y + how.size * 0.18,
              &(Text){.face = FACE_SERIF, .size = SMALL, .ink = ink}, g->below);
}

static void bar(const Brush *b) {
  double line = b->look->line;
  Paint paint = {.fill = b->look->fill, .stroke = line > 0 ? INK_LINE : INK_NONE, .width = line};
  if (b->g->faint)
    paint.fill = INK_PAPER, paint.stroke = INK_SOFT, paint.dash[0] = 4, paint.dash[1] = 3;
  path_rect(b->c, b->l, b->y0, b->w, b->y1 - b->y0, 0);
  canvas_paint(b->c, &paint);
}

static void plate(const Brush *b) {
  bar(b);
  letter(b, 0, INK_TEXT);
}

static void learned(const Brush *b) {
  double l = b->l, r = b->r, low = b->y1;
  shape_draw(b->c, (Knee[]){{l, b->y0}, {r, b->y0}, {r, low}, {l + 8, low}, {l, low - 8}}, 5,
             &(Paint){.fill = INK_LEARNED});
  letter(b, 0, INK_TEXT);
}

static void softmax(const Brush *b) {
  double r = b->x + 10;
  shape_draw(b->c, (Knee[]){{b->x - 10, b->y}, {r, b->y - 14.06}, {r, b->y + 14.06}}, 3, &paper);
}

// With a letter: a V inscribed in the circle.
static void norm(const Brush *b) {
  double y = b->y, r = norm_room(b->g) / 2;
  path_circle(b->c, b->x, y, r);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = b->g->bold ? 2 : 1});
  if (b->g->text && strcmp(b->g->text, "V") == 0) {
    path_move(b->c, b->x - r * 0.75, y - r * 0.66), path_line(b->c, b->x, y + r);
    path_line(b->c, b->x + r * 0.75, y - r * 0.66);
    canvas_paint(b->c, &thin);
  } else if (b->g->text) {
    letter(b, 0, INK_TEXT);
  }
}

// The diagonal is masked too: the kept triangle keeps a distance from it.
static void strict_mask(const Brush *b) {
  double l = b->l, r = b->r, in = b->w / 4, down = (b->y1 - b->y0) / 4;
  Knee above[] = {{l + in, b->y0}, {r, b->y0}, {r, b->y1 - down}};
  Knee below[] = {{l, b->y0 + down}, {r - in, b->y1}, {l, b->y1}};
  path_rect(b->c, l, b->y0, b->w, b->y1 - b->y0, 0);
  canvas_paint(b->c, &(Paint){.fill = INK_SOFT});
  shape_draw(b->c, b->g->upper ? above : below, 3, &(Paint){.fill = INK_MASK});
}

// Drawn across both of its wires, however far apart.
static void mask(const Brush *b) {
  Knee a = {b->l, b->y0}, z = {b->r, b->y1};
  Ink upper = b->g->upper ? INK_MASK : INK_SOFT, lower = b->g->upper ? INK_SOFT : INK_MASK;
  if (b->g->strict) {
    strict_mask(b);
  } else {
    shape_draw(b->c, (Knee[]){a, {z.x, a.y}, z}, 3, &(Paint){.fill = upper});
    shape_draw(b->c, (Knee[]){a, z, {a.x, z.y}}, 3, &(Paint){.fill = lower});
  }
  path_rect(b->c, a.x, a.y, b->w, z.y - a.y, 0);
  canvas_paint(b->c, &thin);
}

static void ket(const Brush *b) {
  double l = b->g->flip ? b->r : b->l, r = b->g->flip ? b->l : b->r, y0 = b->y0, y1 = b->y1;
  double neck = b->g->flip ? r + 10 : r - 10;
  shape_draw(b->c, (Knee[]){{l, y0}, {neck, y0}, {r, b->y}, {neck, y1}, {l, y1}}, 5,
             &(Paint){.fill = INK_KET, .stroke = INK_LINE, .width = 1});
  letter(b, b->g->flip ? 4 : -4, INK_ON_KET);
}

static void wise(const Brush *b) {
  double half = text_room(b->g, b->look->face, b->look->size) / 2;
  tip_draw(b->c, b->x - half - 4, b->y);
  letter(b, 0, INK_TEXT);
  line_draw(b->c, b->x + half + 3, b->y, b->x + half + 10, b->y, INK_LINE, 1);
  tip_draw(b->c, b->x + half + 18, b->y);
}

static double begin_room(const Glyph *g) {
  return g->second ? math_width(FACE_SERIF, SMALL, g->second) + (g->above ? 10 : 2) : 0;
}

// The axis is on the narrow side; positions and window on the wide one. The stride is at the end of
// the diagonal, the dilation where the window axis meets it, and the offset of the first window
// next to the star. A transposed convolution is mirrored.
static void conv(const Brush *b) {
  const Glyph *g = b->g;
  bool up = g->text != NULL;
  double wide = up ? b->l : b->r, narrow = up ? b->r : b->l, to = up ? -1 : 1, low = b->y1 - 8;
  Text small = {.face = FACE_SERIF, .size = SMALL, .ink = INK_TEXT, .anchor = ANCHOR_MIDDLE};
  shape_draw(b->c, (Knee[]){{narrow, b->y0}, {wide, b->y0}, {wide, b->y1}, {narrow, low}}, 4,
             &(Paint){.fill = INK_CONV, .stroke = INK_LINE, .width = 1});
  line_draw(b->c, narrow, low, narrow + to * 17, b->y, INK_LINE, 1);
  double star = up ? b->r - 16 : b->l + 4;
  double begin = g->second ? math_width(FACE_SERIF, SMALL, g->second) / 2 : 0;
  canvas_text(b->c, star, b->y0 + 13, &(Text){.face = FACE_MATH, .size = 12}, "★");
  if (g->second)
    math_text(b->c, up ? b->l + 4 + begin : b->r - 5 - begin, b->y0 + 13, &small, g->second);
  if (g->above) math_text(b->c, narrow + to * 23, b->y + 1, &small, g->above);
  if (g->below) math_text(b->c, narrow + to * 23, b->y1 - 4, &small, g->below);
  if (up) math_text(b->c, narrow - 6, b->y0 + 12, &small, "T");
}

static void reduce(const Brush *b) {
  double half = text_room(b->g, b->look->face, b->look->size) / 2;
  path_rect(b->c, b->l, b->y - 9, half * 2 + 4, 18, 0);
  canvas_paint(b->c, &(Paint){.fill = INK_PAPER});
  letter(b, -8, INK_TEXT);
  tip_draw(b->c, b->r, b->y);
}

static void start(const Brush *b) {
  GlyphLook look = *b->look;
  Brush inner = *b;
  inner.look = &look;
  if (!b->g->bold) look.face = FACE_ITALIC;
  shape_draw(b->c, (Knee[]){{b->l, b->y}, {b->r, b->y0}, {b->r, b->y1}}, 3, &paper);
  letter(&inner, b->w / 2 - 3 - text_room(b->g, look.face, look.size) / 2, INK_TEXT);
}

static void cap(const Brush *b) {
  double r = (b->y1 - b->y0) / 2, y = b->y0 + r, h = 0.5523, wide = fmin(r, b->w), x = b->r;
  path_move(b->c, x, b->y0);
  path_cubic(b->c, x - wide * h, b->y0, x - wide, y - r * h, x - wide, y);
  path_cubic(b->c, x - wide, y + r * h, x - wide * h, b->y1, x, b->y1);
  canvas_paint(b->c, &thin);
}

static void source(const Brush *b) {
  for (int k = 0; k < 2; k++)
    line_draw(b->c, b->r - 5 * k, b->y0, b->r - 5 * k, b->y1, INK_LINE, 1);
  letter(b, -6, INK_TEXT);
}

static void block(const Brush *b) {
  double l = b->l, r = b->r, t = b->y0 + 8, low = b->y1, in = r - 8;
  shape_draw(b->c, (Knee[]){{l, t}, {l + 8, b->y0}, {r, b->y0}, {r, low - 8}, {in, low}, {l, low}},
             6,
             &(Paint){.fill = b->g->ink ? b->g->ink : INK_BLOCK, .stroke = INK_LINE, .width = 1});
  path_move(b->c, l, t), path_line(b->c, in, t), path_line(b->c, r, b->y0);
  canvas_paint(b->c, &thin);
  line_draw(b->c, in, t, in, low, INK_LINE, 1);
  Brush inner = *b;
  inner.y = (t + low - (b->g->second ? 16 : 0)) / 2;
  letter(&inner, -4, INK_TEXT);
  if (b->g->second)
    math_text(b->c, b->x - 4, (t + low) / 2 + 14,
              &(Text){.face = FACE_SANS, .size = SMALL, .ink = INK_TEXT, .anchor = ANCHOR_MIDDLE},
              b->g->second);
}

static void unknown(const Brush *b) {
  bool alarm = b->g->alarm;
  path_rect(b->c, b->l, b->y0, b->w, b->y1 - b->y0, 0);
  canvas_paint(b->c, &(Paint){.fill = alarm ? INK_WRONG : INK_PAPER,
                              .stroke = alarm ? INK_ALARM : INK_LINE,
                              .width = alarm ? 2.5 : 1,
                              .dash = {6, 4}});
  letter(b, 0, INK_TEXT);
}

// -- lenses ---------------------------------------------------------------------------------------
static void word(const Brush *b, double by) {
  Text how = {.face = b->look->face, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT};
  how.size = b->look->size;
  math_text(b->c, b->x + by, b->y + how.size * 0.33, &how, b->g->text ? b->g->text : "");
}

static void stop(const Brush *b) {
  line_draw(b->c, b->l, b->y, b->r, b->y, INK_LINE, 1);
  line_draw(b->c, b->x, b->y - 8, b->x, b->y + 8, INK_LINE, 4);
  math_text(b->c, b->x, b->y + 20,
            &(Text){.face = FACE_SANS, .size = 11, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT},
            b->g->text);
}

static void effect(const Brush *b) {
  shape_draw(b->c, (Knee[]){{b->l, b->y0}, {b->r, b->y}, {b->l, b->y1}}, 3, &paper);
  word(b, -5);
}

// The learning rate: a half disc on a short box, where the forward value returns multiplied by the
// rate.
static void rate(const Brush *b) {
  double r = b->r, h = (b->y1 - b->y0) / 2, y = b->y0 + h, k = fmin(h, 16), m = 0.5523;
  path_move(b->c, b->l, b->y0), path_line(b->c, r - k, b->y0);
  path_cubic(b->c, r - k + k * m, b->y0, r, y - h * m, r, y);
  path_cubic(b->c, r, y + h * m, r - k + k * m, b->y1, r - k, b->y1);
  path_line(b->c, b->l, b->y1), path_close(b->c);
  canvas_paint(b->c, &paper);
  word(b, -3);
}

static void lens(const Brush *b) {
  lens_box(b->c, b->l, b->y0, b->r, b->y1, b->g->faint ? INK_PAPER : INK_FUNCTION, b->g->faint);
  word(b, 0);
}

// -- sizes ----------------------------------------------------------------------------------------
static const GlyphLook looks[] = {
    [GLYPH_BOX] = {26, 36, 16, FACE_ITALIC, LETTER, plate, INK_FUNCTION, 1},
    [GLYPH_LEARNED] = {30, 35, 16, FACE_BOLD, 24, .paint = learned},
    [GLYPH_SOFTMAX] = {28, 20, .paint = softmax},
    [GLYPH_NORM] = {.face = FACE_BOLD, .size = 15, .paint = norm},
    [GLYPH_MASK] = {30, 30, .paint = mask},
    [GLYPH_INDEX] = {25, 25, 10, FACE_SERIF, 15, .paint = ket},
    [GLYPH_WISE] = {16, 0, 40, FACE_ITALIC, LETTER, .paint = wise},
    [GLYPH_BAR] = {20, 5, .paint = bar, .fill = INK_LINE},
    [GLYPH_CONV] = {36, 30, .paint = conv},
    [GLYPH_STAR] = {22, 30, 12, FACE_SERIF, 14, plate, INK_STAR, 2},
    [GLYPH_REDUCE] = {18, 0, 22, FACE_SERIF, 15, .paint = reduce},
    [GLYPH_START] = {30, 25, 12, FACE_BOLD, 15, .paint = start},
    [GLYPH_CAP] = {20, 20, .paint = cap},
    [GLYPH_SOURCE] = {36, 0, 12, FACE_MATH, 22, .paint = source},
    [GLYPH_BLOCK] = {44, 50, 24, FACE_SANS, 14, .paint = block},
    [GLYPH_INSET] = {0}, // paint.c
    [GLYPH_KEPT] = {30, 0, 14, FACE_ITALIC, LETTER, plate, INK_KEPT, 0},
    [GLYPH_EFFECT] = {32, 0, 20, FACE_ITALIC, 14, .paint = effect},
    [GLYPH_STOP] = {40, 12, .paint = stop},
    [GLYPH_LENS] = {42, 46, 18, FACE_ITALIC, 16, .paint = lens},
    [GLYPH_OPTIC] = {.height = OPTIC_HEIGHT, .least = OPTIC_WIDTH}, // glyph_lens.c
    [GLYPH_RATE] = {42, 0, 26, FACE_ITALIC, 14, .paint = rate},
    [GLYPH_GHOST] = {34, 40, 20, FACE_SANS, 14, .paint = unknown},
};

// The optimiser of a lens is drawn above it.
static double above_room(const Glyph *g) {
  return g->above ? math_width(FACE_SANS, 13, g->above) + 14 : 0;
}

double glyph_width(const Glyph *g) {
  const GlyphLook *k = &looks[g->kind];
  bool lens = g->kind == GLYPH_LENS || g->kind == GLYPH_OPTIC;
  double own = lens && g->text ? math_width(k->face, k->size, g->text) : 0;
  double room = lens ? own : text_room(g, k->face, k->size);
  double least = k->size > 0 ? fmax(k->least, room + k->more) : k->least;
  switch (g->kind) {
  case GLYPH_NORM: return norm_room(g) + (g->touch.n ? 2 * REACH : 0);
  case GLYPH_INDEX: return least + 10;
  case GLYPH_CONV: return least + begin_room(g);
  case GLYPH_START: return fmax(k->least, room * 1.5 + k->more);
  case GLYPH_BLOCK:
    return fmax(least, (g->second ? math_width(FACE_SANS, SMALL, g->second) : 0) + k->more);
  case GLYPH_INSET: return inset_width(g->inset);
  default: return lens ? fmax(least, above_room(g)) : least;
  }
}

double glyph_port(const Glyph *g) {
  if (g->kind == GLYPH_NORM) return norm_room(g) / 2;
  return glyph_width(g) / 2 - (g->kind == GLYPH_LEARNED ? 6 : 0);
}

double glyph_height(const Glyph *g) {
  if (g->kind == GLYPH_NORM) return norm_room(g);
  if (g->kind == GLYPH_INSET) return g->inset->height;
  return looks[g->kind].height + (g->kind == GLYPH_BLOCK && g->second ? 10 : 0);
}

bool glyph_is_passed(const Glyph *g) {
  return g->kind == GLYPH_SOFTMAX || g->kind == GLYPH_NORM || g->kind == GLYPH_MASK;
}

double lens_stub(const Glyph *g) {
  bool lens = g->kind == GLYPH_LENS || g->kind == GLYPH_OPTIC;
  return lens && g->bold && !g->above ? 28 : 0;
}

// The heights of the first and last port.
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
  // Its edges coincide with the wires.
  if (p->glyph->kind == GLYPH_STAR && *y1 - *y0 >= least - 2) return;
  double rest = fmax(6, (least - (*y1 - *y0)) / 2);
  *y0 -= rest, *y1 += rest;
}

void glyph_paint(Canvas *c, const Layout *l, const Placed *p) {
  const GlyphLook *look = &looks[p->glyph->kind];
  Brush b = {.c = c, .g = p->glyph, .look = look, .x = p->x, .w = glyph_width(p->glyph)};
  glyph_extent(l, p, &b.y0, &b.y1);
  b.y = (b.y0 + b.y1) / 2, b.l = b.x - b.w / 2, b.r = b.x + b.w / 2;
  if (look->paint) look->paint(&b);
  if (p->glyph->kind == GLYPH_OPTIC) optic_paint(c, l, p, b.y0, b.y1);
}

// Axes over which a norm is taken but which pass are touched from both sides.
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
