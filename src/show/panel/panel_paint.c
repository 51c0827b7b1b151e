// Draws panels: the frame and title, cables, units, labels; and the wires outside of the outermost.
#include "show/panel/panel_own.h"

#include <math.h>

enum { EDGE = 14 };

// The visible parts of sheets behind a panel, leaving out names of its ports.
static void sheets_behind(Canvas *c, const Panel *p, double x, double y) {
  for (int k = 2; k > 0; k--) {
    double step = LIFT / 2.0, left = x + k * step, top = y - k * step, right = left + p->width;
    Knee edge[] = {{left, top + step},
                   {left, top},
                   {right, top},
                   {right, top + p->height},
                   {right - step, top + p->height}};
    knees_path(c, edge, COUNT(edge), step, 0, 0);
    canvas_paint(c, &(Paint){.stroke = INK_SERIES1, .width = 1});
  }
}

// -- the panel itself -----------------------------------------------------------------------------
static Ink panel_fill(uint32_t depth) {
  static const Ink fill[] = {INK_FRAME8, INK_FRAME4, INK_FRAME7, INK_FRAME3, INK_FRAME2};
  return fill[depth < COUNT(fill) ? depth : 1 + (depth - 1) % (COUNT(fill) - 1)];
}

// Returns its width; c = NULL: only measures.
static double title_paint(Canvas *c, const Panel *p, double x, double y) {
  const Text how[] = {{.face = FACE_ITALIC, .size = TITLE_SIZE},
                      {.face = p->depth ? FACE_SANS : FACE_SANS_BOLD, .size = TITLE_SIZE - 1},
                      {.face = FACE_SERIF, .size = TITLE_SIZE}};
  const char *text[] = {p->name, p->of, p->count};
  double width = 0;
  for (uint32_t i = 0; i < COUNT(how); i++) {
    if (!text[i] || !text[i][0]) continue;
    if (c) canvas_text(c, x + width, y, &how[i], text[i]);
    width += text_width(how[i].face, how[i].size, text[i]) + 5;
  }
  return width;
}

void panel_title(Panel *p) { p->title = title_paint(NULL, p, 0, 0); }

void panel_paint(Canvas *c, const Panel *p, double x, double y, const char *path) {
  if (!p->bare) {
    canvas_open(c, path, "frame", p->words);
    canvas_of(c, p->said);
    if (p->count) sheets_behind(c, p, x, y);
    path_rect(c, x, y, p->width, p->height, 8);
    canvas_paint(c, &(Paint){.fill = p->ink ? p->ink : panel_fill(p->depth),
                             .stroke = p->edge ? p->edge : INK_SERIES1,
                             .width = p->depth ? 1 : 1.4});
    canvas_close(c);
  }
  if (p->title > 0) {
    canvas_open(c, "", "title", "");
    title_paint(c, p, x + 10, y + 16);
    canvas_close(c);
  }
  for (uint32_t i = 0; i < p->cable.n; i++) cable_paint(c, p, &p->cable.at[i], x, y);
  for (uint32_t i = 0; i < p->unit.n; i++) unit_paint(c, p, &p->unit.at[i], x, y, path);
  for (uint32_t i = 0; i < p->cable.n; i++) tag_paint(c, &p->cable.at[i], x, y);
}

// -- the whole ------------------------------------------------------------------------------------
static double outer_width(const Panel *p, UnitKind kind) {
  double w = 0;
  for (uint32_t i = 0; i < p->unit.n; i++)
    if (p->unit.at[i].kind == kind) w = fmax(w, pin_width(only_pin(&p->unit.at[i])));
  return w > 0 ? w + STUB + 5 : 0;
}

double panel_left(const Panel *p) { return outer_width(p, UNIT_IN); }
double panel_right(const Panel *p) { return outer_width(p, UNIT_OUT); }
double panel_outside(const Panel *p) { return panel_left(p) + panel_right(p) + 2 * EDGE; }

// The wires outside, with names of ports
void panel_stubs(Canvas *c, const Panel *p, double x, double y) {
  for (uint32_t i = 0; i < p->unit.n; i++) {
    const Unit *u = &p->unit.at[i];
    bool in = u->kind == UNIT_IN;
    if (!in && u->kind != UNIT_OUT) continue;
    const Pin *pin = only_pin(u);
    double at = y + u->y + pin->y, from = in ? x - STUB : x + p->width;
    canvas_open(c, "", "wire", pin->words ? pin->words : "");
    canvas_of(c, pin->said);
    Paint paint = wire_paint(p->shares ? INK_SERIES1 : pin->ink, false, p->shares);
    line_draw(c, from, at, from + STUB, at, paint.stroke, paint.width);
    canvas_close(c);
    if (!p->shares) small_arrow(c, from + STUB / 2.0, at, 1, pin->ink);
    port_label(c, pin, in ? from - 5 : from + STUB + 5, at + 3.5, in);
    if (!p->bare) port_mark(c, pin, in ? x : x + p->width, at);
  }
}

Canvas *panel_draw(Arena *a, const Panel *p, const char *title, const char *about) {
  double left = panel_left(p) + EDGE;
  Canvas *c =
      canvas_new(a, left + p->width + panel_right(p) + EDGE, p->height + 2 * EDGE, title, about);
  panel_paint(c, p, left, EDGE, "");
  panel_stubs(c, p, left, EDGE);
  return c;
}
