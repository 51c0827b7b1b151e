// Cards: lines of text in an outline, centred. The outline may be double, or have sheets behind it.
#include "show/panel/panel.h"

#include <math.h>

enum { SHEET = 3, INSET = 3, ABOUT = 14 };

static double line_width(const Card *k, const CardLine *l) {
  return (k->math ? math_width : text_width)(l->how.face, l->how.size, l->text);
}

static double text_height(const Card *k) {
  double h = k->below;
  for (uint32_t i = 0; i < CARD_LINES && k->line[i].text; i++) h += k->line[i].drop;
  return h;
}

void card_measure(Unit *u) {
  const Card *k = u->card;
  double w = 0;
  for (uint32_t i = 0; i < CARD_LINES && k->line[i].text; i++)
    w = fmax(w, line_width(k, &k->line[i]));
  u->width = ceil(fmax(w + 2 * k->side, k->least));
  u->height = text_height(k) + (k->bare ? INSET : ABOUT);
}

static void outline_paint(Canvas *c, const Unit *u, double x, double y) {
  const Card *k = u->card;
  for (uint32_t i = k->sheets + 1; i-- > 0;) {
    path_rect(c, x - i * SHEET, y + i * SHEET, u->width, u->height, k->corner);
    canvas_paint(c, &k->outline);
  }
  if (k->inner > 0) {
    path_rect(c, x + INSET, y + INSET, u->width - 2 * INSET, u->height - 2 * INSET, k->inner);
    canvas_paint(c, &(Paint){.stroke = k->outline.stroke, .width = k->outline.width});
  }
  if (!k->alarm) return;
  path_rect(c, x, y, u->width, u->height, k->corner);
  canvas_paint(c, &(Paint){.stroke = INK_ALARM, .width = 2, .dash = {5, 3}});
}

void card_paint(Canvas *c, const Unit *u, double x, double y) {
  const Card *k = u->card;
  double middle = x + u->width / 2, at = y + (u->height - text_height(k)) / 2;
  canvas_open(c, "", "glyph", u->words);
  canvas_of(c, u->said);
  if (!k->bare) outline_paint(c, u, x, y);
  if (k->bare && u->in.n + u->out.n > 1) {
    double side = u->out.n ? x + u->width : x;
    line_draw(c, side, y + 4, side, y + u->height - 4, k->tie, 1.1);
  }
  for (uint32_t i = 0; i < CARD_LINES && k->line[i].text; i++) {
    Text how = k->line[i].how;
    how.anchor = ANCHOR_MIDDLE;
    (k->math ? math_text : canvas_text)(c, middle, at += k->line[i].drop, &how, k->line[i].text);
  }
  canvas_close(c);
}
