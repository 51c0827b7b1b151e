// The glyphs of lenses. A lens is a round box: values enter on the left and leave on the right,
// changes the other way, each pair with the value above. Opened, it shows its two maps: fwd, at the
// upper left, hands what it keeps (its inputs) to bwd, at the lower right, by a line that runs
// below both. Lines that cross inside have gaps in the lower one.
#include "show/layout/sketch.h"

#include <math.h>

enum { TEXT = 16, WORD = 13, ROUND = 5, SIDE = 34, PART = 44, MIDDLE = 26, PART_HEIGHT = 26 };

static double words(const Glyph *g, double size) {
  return g->text ? math_width(FACE_ITALIC, size, g->text) : 0;
}

double lens_width(const Glyph *g) {
  double above = g->above ? math_width(FACE_SANS, WORD, g->above) + 14 : 0;
  switch (g->kind) {
  case GLYPH_EFFECT: return words(g, 14) + 20;
  case GLYPH_STOP: return 12;
  case GLYPH_RATE: return words(g, 14) + 26;
  case GLYPH_OPTIC: return fmax(above, 2 * SIDE + 2 * PART + MIDDLE);
  default: return fmax(fmax(46, words(g, TEXT) + 18), above);
  }
}

double lens_height(const Glyph *g) {
  switch (g->kind) {
  case GLYPH_EFFECT: return 32;
  case GLYPH_STOP: return 40;
  case GLYPH_OPTIC: return 2 * PART_HEIGHT + 82;
  default: return 42;
  }
}

double lens_stub(const Glyph *g) {
  bool lens = g->kind == GLYPH_LENS || g->kind == GLYPH_OPTIC;
  return lens && g->bold && !g->above ? 28 : 0;
}

void arrowhead(Canvas *c, double x, double y, bool back, bool turn, Ink ink) {
  static const double shape[4][2] = {{5, 0}, {-5, 4.6}, {-2, 0}, {-5, -4.6}};
  double s = back ? -1 : 1;
  canvas_open(c, "", "arrow", "");
  for (int i = 0; i < 4; i++) {
    double u = s * shape[i][0], v = s * shape[i][1];
    (i ? path_line : path_move)(c, x + (turn ? v : u), y + (turn ? u : v));
  }
  path_close(c);
  canvas_paint(c, &(Paint){.fill = ink});
  canvas_close(c);
}

void plus_circle(Canvas *c, double x, double y) {
  canvas_open(c, "", "dot", "");
  path_circle(c, x, y, 5);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  path_move(c, x - 3, y), path_line(c, x + 3, y), path_move(c, x, y - 3), path_line(c, x, y + 3);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  canvas_close(c);
}

static void word(Canvas *c, double x, double y, double size, const char *text) {
  math_text(c, x, y + size * 0.33,
            &(Text){.face = FACE_ITALIC, .size = size, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
            text);
}

static void box(Canvas *c, double x0, double y0, double x1, double y1, Ink fill, bool faint) {
  Paint p = {.fill = fill, .stroke = faint ? INK_SOFT : INK_LINE, .width = 1};
  if (faint) p.dash[0] = 4, p.dash[1] = 3;
  path_rect(c, x0, y0, x1 - x0, y1 - y0, ROUND);
  canvas_paint(c, &p);
}

static void stop(Canvas *c, const Placed *p, double y) {
  double in = p->x - 6, out = p->x + 6;
  path_move(c, in, y), path_line(c, out, y);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1});
  path_move(c, p->x, y - 8), path_line(c, p->x, y + 8);
  canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 4});
  math_text(c, p->x, y + 20,
            &(Text){.face = FACE_SANS, .size = 11, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT},
            p->glyph->text);
}

static void effect(Canvas *c, const Placed *p, double y0, double y1) {
  double w = lens_width(p->glyph), l = p->x - w / 2;
  path_move(c, l, y0), path_line(c, l + w, (y0 + y1) / 2), path_line(c, l, y1), path_close(c);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  word(c, p->x - 5, (y0 + y1) / 2, 14, p->glyph->text);
}

// A half disc on a short box: what comes out forward goes back times the rate.
static void cap(Canvas *c, const Placed *p, double y0, double y1) {
  double w = lens_width(p->glyph), l = p->x - w / 2, r = p->x + w / 2, h = (y1 - y0) / 2;
  double k = fmin(h, 16), b = 0.5523;
  path_move(c, l, y0), path_line(c, r - k, y0);
  path_cubic(c, r - k + k * b, y0, r, y0 + h - h * b, r, y0 + h);
  path_cubic(c, r, y0 + h + h * b, r - k + k * b, y1, r - k, y1);
  path_line(c, l, y1), path_close(c);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1});
  word(c, p->x - 3, (y0 + y1) / 2, 14, p->glyph->text);
}

// -- opened ---------------------------------------------------------------------------------------
typedef struct {
  Canvas *c;
  const Layout *l;
  const Glyph *g;
  double left, right;        // of the outer box
  double fwd[2], bwd[2];     // x of the inner boxes
  double upper[2], lower[2]; // y of the inner boxes
} Optic;

static void curve(const Optic *o, double x0, double y0, double x1, double y1, double until) {
  double m = (x0 + x1) / 2;
  for (int line = 0; line < 2; line++) {
    if (line)
      path_move(o->c, x0, y0), path_cubic(o->c, m, y0, m, y1, x1, y1);
    else
      path_move(o->c, x0 + (x1 - x0) / 4, y0), path_cubic(o->c, m, y0, m, y1, x1, y1);
    if (line) path_line(o->c, until, y1);
    canvas_paint(o->c, &(Paint){.stroke = line ? INK_LINE : INK_FUNCTION, .width = line ? 1 : 5});
  }
}

// How many of these strands have this direction, and the place of each among them on a side.
static double share(double from, double to, uint32_t i, uint32_t n) {
  return from + (to - from) * (i + 1.0) / (n + 1.0);
}

static uint32_t of_line(const Layout *l, const Ids *ids, Line line) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < ids->n; i++) n += l->s->strand.at[ids->at[i]].line == line;
  return n;
}

static void side_lines(const Optic *o, const Ids *ids, const double *y, bool in, Line line) {
  const Sketch *s = o->l->s;
  uint32_t n = of_line(o->l, ids, line), k = 0;
  bool forth = line == LINE_FORTH;
  const double *box_y = forth ? o->upper : o->lower, *box_x = forth ? o->fwd : o->bwd;
  for (uint32_t i = 0; i < ids->n; i++) {
    if (s->strand.at[ids->at[i]].line != line) continue;
    double at = share(box_y[0], box_y[1], k++, n), port = y[ids->at[i]];
    if (in)
      curve(o, o->left, port, o->left + SIDE, at, box_x[0]);
    else
      curve(o, o->right, port, o->right - SIDE, at, box_x[1]);
  }
}

static void kept(const Optic *o) {
  double x0 = o->fwd[0] + 14, x1 = o->bwd[1] - 14, y = o->lower[1] + 14, r = 6;
  for (int line = 0; line < 2; line++) {
    path_move(o->c, x0, o->upper[1] + (line ? 0 : 2));
    path_line(o->c, x0, y - r), path_cubic(o->c, x0, y - r / 2, x0 + r / 2, y, x0 + r, y);
    path_line(o->c, x1 - r, y), path_cubic(o->c, x1 - r / 2, y, x1, y - r / 2, x1, y - r);
    path_line(o->c, x1, o->lower[1]);
    canvas_paint(o->c, &(Paint){.stroke = line ? INK_SOFT : INK_FUNCTION, .width = line ? 1 : 5});
  }
  arrowhead(o->c, (x0 + x1) / 2, y, false, false, INK_SOFT);
}

// Weights come into fwd from above, their change leaves bwd upwards.
static void weights(const Optic *o, double top, double x) {
  double down = x - 8, up = x + 8, y0 = o->upper[0], y1 = o->lower[0];
  double a = (o->fwd[0] + o->fwd[1]) / 2, b = (o->bwd[0] + o->bwd[1]) / 2;
  path_move(o->c, down, top), path_cubic(o->c, down, top + 8, a, y0 - 8, a, y0);
  canvas_paint(o->c, &(Paint){.stroke = INK_LINE, .width = 1});
  path_move(o->c, b, y1 - 2), path_line(o->c, b, y0);
  canvas_paint(o->c, &(Paint){.stroke = INK_FUNCTION, .width = 5});
  path_move(o->c, up, top), path_cubic(o->c, up, top + 8, b, y0 - 8, b, y0);
  path_line(o->c, b, y1);
  canvas_paint(o->c, &(Paint){.stroke = INK_LINE, .width = 1});
}

static void optic(Canvas *c, const Layout *l, const Placed *p, double y0, double y1) {
  const Glyph *g = p->glyph;
  double w = lens_width(g), h = (y0 + y1) / 2;
  Optic o = {.c = c, .l = l, .g = g, .left = p->x - w / 2, .right = p->x + w / 2};
  o.fwd[0] = p->x - MIDDLE / 2 - PART, o.fwd[1] = o.fwd[0] + PART;
  o.bwd[0] = p->x + MIDDLE / 2, o.bwd[1] = o.bwd[0] + PART;
  o.upper[0] = h - PART_HEIGHT - 12, o.upper[1] = h - 12;
  o.lower[0] = h, o.lower[1] = h + PART_HEIGHT;
  box(c, o.left, y0, o.right, y1, INK_FUNCTION, g->faint);
  kept(&o);
  side_lines(&o, &g->in, l->in, true, LINE_BACK);
  side_lines(&o, &g->out, l->out, false, LINE_BACK);
  side_lines(&o, &g->in, l->in, true, LINE_FORTH);
  side_lines(&o, &g->out, l->out, false, LINE_FORTH);
  if (g->bold) weights(&o, y0, p->x);
  box(c, o.fwd[0], o.upper[0], o.fwd[1], o.upper[1], INK_PAPER, false);
  box(c, o.bwd[0], o.lower[0], o.bwd[1], o.lower[1], INK_PAPER, false);
  word(c, (o.fwd[0] + o.fwd[1]) / 2, (o.upper[0] + o.upper[1]) / 2, WORD, "fwd");
  word(c, (o.bwd[0] + o.bwd[1]) / 2, (o.lower[0] + o.lower[1]) / 2, WORD, "bwd");
  word(c, p->x, y1 - 11, WORD, g->text);
}

void lens_paint(Canvas *c, const Layout *l, const Placed *p, double y0, double y1) {
  const Glyph *g = p->glyph;
  double w = lens_width(g);
  switch (g->kind) {
  case GLYPH_EFFECT: effect(c, p, y0, y1); break;
  case GLYPH_STOP: stop(c, p, (y0 + y1) / 2); break;
  case GLYPH_RATE: cap(c, p, y0, y1); break;
  case GLYPH_OPTIC: optic(c, l, p, y0, y1); break;
  default:
    box(c, p->x - w / 2, y0, p->x + w / 2, y1, g->faint ? INK_PAPER : INK_FUNCTION, g->faint);
    word(c, p->x, (y0 + y1) / 2, TEXT, g->text ? g->text : "");
    break;
  }
}
