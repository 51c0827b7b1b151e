// An opened lens. A closed lens is a round box: values pass from left to right, changes from right
// to left, each above its counterpart. Opened, it shows its two maps: fwd, at the upper left,
// passes its residual (its inputs) to bwd, at the lower right, by a line below both. At crossings
// inside, the lower line has a gap.
#include "show/layout/sketch.h"

enum { WORD = 13, ROUND = 5, SIDE = 34, PART = 44, MIDDLE = 26, PART_HEIGHT = 26 };

static void word(Canvas *c, double x, double y, const char *text) {
  math_text(c, x, y + WORD * 0.33,
            &(Text){.face = FACE_ITALIC, .size = WORD, .anchor = ANCHOR_MIDDLE, .ink = INK_TEXT},
            text);
}

void lens_box(Canvas *c, double x0, double y0, double x1, double y1, Ink fill, bool faint) {
  Paint p = {.fill = fill, .stroke = faint ? INK_SOFT : INK_LINE, .width = 1};
  if (faint) p.dash[0] = 4, p.dash[1] = 3;
  path_rect(c, x0, y0, x1 - x0, y1 - y0, ROUND);
  canvas_paint(c, &p);
}

typedef struct {
  Canvas *c;
  const Layout *l;
  double left, right;        // of the outline
  double fwd[2], bwd[2];     // x of the inner boxes
  double upper[2], lower[2]; // y of the inner boxes
} Optic;

static void curve(const Optic *o, double x0, double y0, double x1, double y1, double until) {
  double m = (x0 + x1) / 2;
  for (int line = 0; line < 2; line++) {
    path_move(o->c, line ? x0 : x0 + (x1 - x0) / 4, y0);
    path_cubic(o->c, m, y0, m, y1, x1, y1);
    if (line) path_line(o->c, until, y1);
    canvas_paint(o->c, &(Paint){.stroke = line ? INK_LINE : INK_FUNCTION, .width = line ? 1 : 5});
  }
}

// Distributes the strands of one direction evenly along a side.
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
    double side = in ? o->left : o->right;
    curve(o, side, port, side + (in ? SIDE : -SIDE), at, box_x[!in]);
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

// Weights enter fwd from above; their change leaves bwd upwards.
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

void optic_paint(Canvas *c, const Layout *l, const Placed *p, double y0, double y1) {
  const Glyph *g = p->glyph;
  double w = glyph_width(g), h = (y0 + y1) / 2;
  Optic o = {.c = c, .l = l, .left = p->x - w / 2, .right = p->x + w / 2};
  o.fwd[0] = p->x - MIDDLE / 2 - PART, o.fwd[1] = o.fwd[0] + PART;
  o.bwd[0] = p->x + MIDDLE / 2, o.bwd[1] = o.bwd[0] + PART;
  o.upper[0] = h - PART_HEIGHT - 12, o.upper[1] = h - 12;
  o.lower[0] = h, o.lower[1] = h + PART_HEIGHT;
  lens_box(c, o.left, y0, o.right, y1, INK_FUNCTION, g->faint);
  kept(&o);
  side_lines(&o, &g->in, l->in, true, LINE_BACK);
  side_lines(&o, &g->out, l->out, false, LINE_BACK);
  side_lines(&o, &g->in, l->in, true, LINE_FORTH);
  side_lines(&o, &g->out, l->out, false, LINE_FORTH);
  if (g->bold) weights(&o, y0, p->x);
  lens_box(c, o.fwd[0], o.upper[0], o.fwd[1], o.upper[1], INK_PAPER, false);
  lens_box(c, o.bwd[0], o.lower[0], o.bwd[1], o.lower[1], INK_PAPER, false);
  word(c, (o.fwd[0] + o.fwd[1]) / 2, (o.upper[0] + o.upper[1]) / 2, "fwd");
  word(c, (o.bwd[0] + o.bwd[1]) / 2, (o.lower[0] + o.lower[1]) / 2, "bwd");
  word(c, p->x, y1 - 11, g->text);
}
