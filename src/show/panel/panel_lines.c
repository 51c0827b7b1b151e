// Draws cables: a line, bands beside it, dots where it branches, an arrowhead, and a label.
#include "show/panel/panel_own.h"

#include <math.h>

enum { TIP = 11, FLAKE = 12, NAME = 12, INNER = 14 }; // NAME, INNER: letters of labels
#define BAND 3.5                                      // distance of bands
#define FIRST 5.0                                     // from the line to the first band
#define SHARED_LINE 1.6                               // width of undirected lines

void small_head(Canvas *c, double x, double y, double dx, double dy, Ink ink) {
  Knee at = {x, y}, way = {dx, dy}, tip = knee_along(at, way, 4, 0);
  Knee right = knee_along(at, way, -3.5, 3.2), left = knee_along(at, way, -3.5, -3.2);
  shape_draw(c, (Knee[]){tip, right, knee_along(at, way, -1.6, 0), left}, 4,
             &(Paint){.fill = ink ? ink : INK_LINE});
}

void small_arrow(Canvas *c, double x, double y, double dx, Ink ink) {
  canvas_open(c, "", "arrow", "");
  small_head(c, x, y, dx, 0, ink);
  canvas_close(c);
}

Paint wire_paint(Ink ink, bool dashed, bool shared) {
  Paint p = {.stroke = ink ? ink : INK_LINE, .width = shared ? SHARED_LINE : 1.1};
  if (dashed) p.dash[0] = 4, p.dash[1] = 3;
  return p;
}

// -- lines ----------------------------------------------------------------------------------------
// The parallel of a rectilinear line at a distance to the right, shortened by `less` at the ends.
static void shift_line(const Knee *at, uint32_t n, double by, double less, Knee *out) {
  for (uint32_t i = 0; i < n; i++) {
    Knee k = at[i];
    for (int end = 0; end < 2; end++) { // the segments before and after
      if (end ? i + 1 == n : !i) continue;
      const Knee *a = end ? &at[i] : &at[i - 1], *b = a + 1;
      if (fabs(a->y - b->y) < 0.01)
        k.y = at[i].y + (b->x > a->x ? by : -by);
      else
        k.x = at[i].x + (b->y > a->y ? -by : by);
    }
    out[i] = k;
  }
  out[0].x += less;
  out[n - 1].x += out[n - 2].x < out[n - 1].x ? -less : less;
}

static Paint paint_of(const Cable *k) {
  return k->paint.width > 0 ? k->paint : wire_paint(k->ink, k->dashed, k->shared);
}

static void line_paint(Canvas *c, const Panel *p, const Cable *k, const CableLine *line, double x,
                       double y) {
  Knee *at = NEW_ARRAY(p->arena, Knee, line->n);
  for (uint32_t i = 0; i <= k->band.n; i++) { // the line, then its bands
    Paint paint = i ? k->band.at[i - 1] : paint_of(k);
    double by = i ? FIRST + BAND * (i - 1) : 0;
    shift_line(k->way.spot.at + line->first, line->n, by, i ? TIP : k->less, at);
    knees_path(c, at, line->n, p->kind->corner, x, y);
    canvas_paint(c, &paint);
  }
}

static bool meets_unit(const Unit *u, Knee end) {
  return (fabs(end.x - u->x) < 0.5 || fabs(end.x - u->x - u->width) < 0.5) && end.y > u->y &&
         end.y < u->y + u->height;
}

// An arrowhead where the line enters its unit: a cable between rows has a line in each.
static void head_paint(Canvas *c, const Panel *p, const Cable *k, const CableLine *line, double x,
                       double y) {
  const Knee *at = k->way.spot.at + line->first;
  Knee end = at[k->turned ? 0 : line->n - 1], before = at[k->turned ? 1 : line->n - 2];
  bool left = before.x > end.x;
  if (meets_unit(&p->unit.at[k->head - 1], end))
    arrowhead(c, end.x + x + (left ? 5 : -5), end.y + y, left, false, paint_of(k).stroke);
}

void cable_paint(Canvas *c, const Panel *p, const Cable *k, double x, double y) {
  canvas_open(c, "", "wire", k->words ? k->words : "");
  canvas_of(c, k->said);
  for (uint32_t i = 0; i < k->way.line.n; i++) line_paint(c, p, k, &k->way.line.at[i], x, y);
  canvas_close(c);
  for (uint32_t i = 0; i < k->way.line.n && k->head; i++)
    head_paint(c, p, k, &k->way.line.at[i], x, y);
  for (uint32_t i = 0; i < k->way.dot.n && !k->shared; i++)
    dot_draw(c, k->way.dot.at[i].x + x, k->way.dot.at[i].y + y, 2.6, paint_of(k).stroke);
  for (uint32_t i = 0; i < k->way.back.n && !k->head; i++)
    small_arrow(c, k->way.back.at[i].x + x, k->way.back.at[i].y + y, -1, k->ink);
}

double bands_height(const Cable *k) { return k->band.n ? FIRST + BAND * k->band.n : 0; }

// -- labels ---------------------------------------------------------------------------------------
static double label_gap(const CableLabel *k) { return k->name && k->inner ? 6 : 0; }

static double name_width(const CableLabel *k) {
  return k->name ? math_width(FACE_SANS, NAME, k->name) : 0;
}

void tag_measure(CableLabel *k) {
  double inner = k->inner ? math_width(FACE_ITALIC, INNER, k->inner) : 0;
  k->width = name_width(k) + label_gap(k) + inner + (k->frozen ? FLAKE + 4 : 0);
}

// Six arms with forked ends.
static void snowflake(Canvas *c, double x, double y) {
  canvas_open(c, "", "sign", "*");
  for (int i = 0; i < 6; i++) {
    double dx = sin(i * 1.0471975512), dy = cos(i * 1.0471975512);
    path_move(c, x, y), path_line(c, x + 5.2 * dx, y + 5.2 * dy);
    path_move(c, x + 4.8 * dx - 1.6 * dy, y + 4.8 * dy + 1.6 * dx);
    path_line(c, x + 3.2 * dx, y + 3.2 * dy);
    path_line(c, x + 4.8 * dx + 1.6 * dy, y + 4.8 * dy - 1.6 * dx);
  }
  canvas_paint(c, &(Paint){.stroke = INK_SOFT, .width = 0.9});
  canvas_close(c);
}

void tag_paint(Canvas *c, const Cable *k, double dx, double dy) {
  const CableLabel *t = &k->tag;
  double x = t->x + dx - t->width / 2, y = t->y + dy - 5.5;
  if (t->width <= 0) return;
  canvas_open(c, "", "label", k->words);
  canvas_of(c, k->said);
  if (t->frozen) snowflake(c, x + FLAKE / 2.0, y - 4), x += FLAKE + 4;
  if (t->name) math_text(c, x, y, &(Text){.face = FACE_SANS, .size = NAME, .ink = t->ink}, t->name);
  if (t->inner)
    math_text(c, x + name_width(t) + label_gap(t), y,
              &(Text){.face = FACE_ITALIC, .size = INNER, .ink = t->ink}, t->inner);
  canvas_close(c);
}
