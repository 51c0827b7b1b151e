// Measures and draws units.
//
// Everything can be told apart without colour: a machine with state has a double left edge, an
// array is a stack of sheets, a computed value is on a plate with sharp corners, a guarded wire is
// dashed. States of a wiring are in a row at its top; a learned one is bold with a circular arrow.
#include "show/panel/panel_own.h"

#include <math.h>

enum { PAD = 8, TURN = 14, SAID = 13 };

static const Text port_text = {.face = FACE_ITALIC, .size = PORT_SIZE, .ink = INK_TEXT};
static const Text type_text_how = {.face = FACE_SANS, .size = TYPE_SIZE, .ink = INK_SOFT};

// -- sizes ----------------------------------------------------------------------------------------
static double lift_of(const Unit *u) { return u->count ? LIFT : 0; } // of a stack of sheets

static double width_of(const Text *how, const char *text) {
  return text ? text_width(how->face, how->size, text) : 0;
}

double pin_width(const Pin *p) {
  double type = p->type ? width_of(&type_text_how, p->type) + 3 : 0;
  return p->name ? ceil(width_of(&port_text, p->name) + type) : 0;
}

static double pins_width(const Pins *p) {
  double w = 0;
  for (uint32_t i = 0; i < p->n; i++) w = fmax(w, pin_width(&p->at[i]));
  return w > 0 ? w + 6 : 0;
}

static void spread_pins(Unit *u, double height, double pitch, double from) {
  for (int right = 0; right < 2; right++) {
    Pins *p = right ? &u->out : &u->in;
    for (uint32_t i = 0; i < p->n; i++)
      p->at[i].y = from + floor((height - (p->n - 1) * pitch) / 2) + i * pitch;
  }
}

static double modes_width(const Unit *u) {
  double w = 0;
  for (uint32_t i = 0; i < u->mode.n; i++)
    w += text_width(FACE_SANS, WORD_SIZE, u->mode.at[i]) + (i ? 8 : 0);
  return w;
}

// The second line of a box: its name in the wiring and the array size. The name is omitted if it
// equals that of the machine.
static const char *second_line(const Unit *u) {
  size_t n = u->name ? strlen(u->name) : 0; // Team (3) contains it too
  bool same = u->of && !strncmp(u->name ? u->name : "", u->of, n) && strchr(" ", u->of[n]);
  return u->name && u->name[0] && !same && !u->unnamed ? u->name : NULL;
}

static double second_width(const Unit *u) {
  double name = second_line(u) ? text_width(FACE_ITALIC, WORD_SIZE, u->name) : 0;
  double count = u->count ? text_width(FACE_SERIF, WORD_SIZE, u->count) : 0;
  return name + count + (name > 0 && count > 0 ? 4 : 0);
}

static double said_width(const Unit *u) {
  double w = 0;
  for (uint32_t i = 0; i < u->line.n; i++)
    w = fmax(w, text_width(FACE_SANS, PORT_SIZE, u->line.at[i]));
  return w;
}

static double lines_height(const Unit *u) {
  return 14 + (second_width(u) > 0 ? 13 : 0) + (u->mode.n ? 15 : 0) +
         (u->line.n ? 6.0 + SAID * (double)u->line.n : 0);
}

static void measure_box(Unit *u) {
  double lift = lift_of(u), most = u->in.n > u->out.n ? u->in.n : u->out.n;
  double middle = fmax(text_width(FACE_SANS, KIND_SIZE, u->of ? u->of : ""), second_width(u));
  double high = fmax(lines_height(u) + 12, most * PIN_PITCH + 8);
  middle = fmax(fmax(middle, modes_width(u)), said_width(u));
  u->height = ceil(high) + lift;
  u->width = ceil(fmax(44, PAD + pins_width(&u->in) + middle + pins_width(&u->out) + PAD)) + lift;
  spread_pins(u, ceil(high), PIN_PITCH, lift);
}

static void measure_panel(Unit *u) {
  double lift = lift_of(u);
  uint32_t in = 0, out = 0;
  for (uint32_t i = 0; i < u->inner->unit.n; i++) {
    const Unit *port = &u->inner->unit.at[i];
    if (port->kind == UNIT_IN && in < u->in.n)
      u->in.at[in++].y = port->y + port->out.at[0].y + lift;
    if (port->kind == UNIT_OUT && out < u->out.n)
      u->out.at[out++].y = port->y + port->in.at[0].y + lift;
  }
  u->width = u->inner->width + lift, u->height = u->inner->height + lift;
}

// A label above a wire; wires from above end beside the label.
static void measure_labelled(Unit *u, double label) {
  double y = u->in.n > 1 ? 18 + LANE * (u->in.n - 2) : 15;
  u->width = ceil(label + 12), u->height = y + 3;
  spread_pins(u, 1, 0, y);
  for (uint32_t i = 0; i < u->in.n; i++) u->in.at[i].y = y - LANE * (u->in.n - 1 - i);
}

// As close to each other as pins.
static void measure_end(Unit *u) {
  u->width = u->text ? ceil(text_width(FACE_ITALIC, PORT_SIZE, u->text) + 28) : 1, u->height = 14;
  spread_pins(u, 1, 0, 11);
}

const Pin *only_pin(const Unit *port) {
  return port->kind == UNIT_IN ? &port->out.at[0] : &port->in.at[0];
}

static void measure_port(Unit *u, bool outside) {
  measure_labelled(u, pin_width(only_pin(u)));
  if (!outside) return;
  u->width = 6, u->height = 14;
  spread_pins(u, 1, 0, 7);
}

static void measure_shared(Unit *u) {
  u->width = ceil(fmax(14, text_width(FACE_ITALIC, KIND_SIZE, u->name) + 6));
  u->height = 28;
  spread_pins(u, 1, 0, 22);
}

static void measure_stack(Unit *u, double width, double least, double pitch) {
  uint32_t n = u->in.n > u->out.n ? u->in.n : u->out.n;
  u->width = ceil(width), u->height = fmax(least, (n ? n - 1 : 0) * pitch + 22);
  spread_pins(u, u->height, pitch, 0);
}

static Face state_face(const Unit *u) { return u->learns ? FACE_BOLD : FACE_ITALIC; }

static void measure_state(Unit *u) {
  double type = u->text ? text_width(FACE_SANS, TYPE_SIZE, u->text) + 4 : 0;
  double name = text_width(state_face(u), KIND_SIZE, u->name);
  measure_stack(u, name + type + 14 + (u->learns ? TURN : 0), 20, 14);
}

static void measure_plate(Unit *u) {
  double w = 0;
  for (uint32_t i = 0; i < u->line.n; i++)
    w = fmax(w, text_width(FACE_ITALIC, WORD_SIZE, u->line.at[i]));
  measure_stack(u, w + 2 * PAD, 10 + 14.0 * (double)u->line.n, 14);
}

void unit_measure(Unit *u, bool outside) {
  switch (u->kind) {
  case UNIT_BOX: measure_box(u); break;
  case UNIT_PANEL: measure_panel(u); break;
  case UNIT_CARD: card_measure(u); break;
  case UNIT_PLATE: measure_plate(u); break;
  case UNIT_LEAVES:
  case UNIT_ENTERS: measure_end(u); break;
  case UNIT_GUARD: measure_labelled(u, text_width(FACE_SANS, PORT_SIZE, u->text)); break;
  case UNIT_CHOICE: measure_stack(u, 12, 20, PIN_PITCH); break; // spaced like labels
  case UNIT_SHARED: measure_shared(u); break;
  case UNIT_START: // as close to labels as pins
    u->width = 10, u->height = 6;
    spread_pins(u, 1, 0, 3);
    break;
  case UNIT_STATE: measure_state(u); break;
  case UNIT_IN:
  case UNIT_OUT: measure_port(u, outside); break;
  }
}

// -- ports ----------------------------------------------------------------------------------------
void port_mark(Canvas *c, const Pin *p, double x, double y) {
  canvas_open(c, "", "touch", p->words ? p->words : "");
  canvas_of(c, p->said);
  path_circle(c, x, y, p->ring ? 3.2 : 2.1);
  canvas_paint(c, &(Paint){.fill = p->ring ? INK_PAPER : INK_LINE,
                           .stroke = p->ring ? INK_LINE : INK_NONE,
                           .width = 1.1});
  canvas_close(c);
}

static void port_name(Canvas *c, const Pin *p, double x, double y, bool right) {
  double at = right ? x - pin_width(p) : x;
  if (!p->name) return;
  canvas_text(c, at, y, &port_text, p->name);
  if (p->type) canvas_text(c, at + width_of(&port_text, p->name) + 3, y, &type_text_how, p->type);
}

void port_label(Canvas *c, const Pin *p, double x, double y, bool right) {
  canvas_open(c, "", "label", "");
  port_name(c, p, x, y, right);
  canvas_close(c);
}

// A port of a panel from inside. An unconnected wire ends in a dot.
static void inner_port(Canvas *c, const Pin *p, double x, double y, bool named, bool right) {
  double sign = right ? -1 : 1, stub = 12 + (named ? pin_width(p) : 0);
  if (named) port_label(c, p, x + sign * 6, y + p->y - 4, right);
  if (p->cable) return;
  canvas_open(c, "", "wire", p->words ? p->words : "");
  canvas_of(c, p->said);
  double from = right ? x - stub : x; // wires run to the right
  line_draw(c, from, y + p->y, from + stub, y + p->y, INK_LINE, 1.1);
  canvas_close(c);
  dot_draw(c, x + sign * stub, y + p->y, 2.6, INK_LINE);
}

// -- units ----------------------------------------------------------------------------------------
static void sheets(Canvas *c, double x, double y, double w, double h, double radius, Paint paint) {
  for (int k = 2; k > 0; k--) {
    path_rect(c, x + k * LIFT / 2.0, y - k * LIFT / 2.0, w, h, radius);
    canvas_paint(c, &paint);
  }
}

static void modes_paint(Canvas *c, const Unit *u, double middle, double y) {
  double x = middle - modes_width(u) / 2;
  for (uint32_t i = 0; i < u->mode.n; i++) {
    double w = text_width(FACE_SANS, WORD_SIZE, u->mode.at[i]);
    canvas_text(c, x, y, &(Text){.size = WORD_SIZE, .ink = INK_SOFT}, u->mode.at[i]);
    if (!i) line_draw(c, x, y + 2.5, x + w, y + 2.5, INK_SOFT, 1);
    x += w + 8;
  }
}

static void box_lines(Canvas *c, const Unit *u, double x, double y, double w, double h) {
  double left = pins_width(&u->in), right = pins_width(&u->out);
  double middle = x + PAD + left + (w - 2 * PAD - left - right) / 2;
  double at = y + (h - lines_height(u)) / 2 + 11;
  canvas_text(c, middle, at, &(Text){.size = KIND_SIZE, .anchor = ANCHOR_MIDDLE},
              u->of ? u->of : "");
  if (second_width(u) > 0) {
    double from = middle - second_width(u) / 2;
    at += 13;
    if (second_line(u)) {
      canvas_text(c, from, at, &(Text){.face = FACE_ITALIC, .size = WORD_SIZE, .ink = INK_SOFT},
                  u->name);
      from += text_width(FACE_ITALIC, WORD_SIZE, u->name) + 4;
    }
    if (u->count)
      canvas_text(c, from, at, &(Text){.face = FACE_SERIF, .size = WORD_SIZE}, u->count);
  }
  if (u->mode.n) modes_paint(c, u, middle, at += 15);
  double said = middle - said_width(u) / 2;
  for (uint32_t i = 0; i < u->line.n; i++)
    canvas_text(c, said, at + 6 + SAID * (i + 1), &(Text){.size = PORT_SIZE, .ink = INK_SOFT},
                u->line.at[i]);
}

static void box_paint(Canvas *c, const Unit *u, double x, double y, const char *id) {
  double lift = lift_of(u), w = u->width - lift, h = u->height - lift;
  Paint paint = {.fill = u->ink ? u->ink : INK_FUNCTION, .stroke = INK_LINE, .width = 1.1};
  if (u->dashed) paint.dash[0] = 4, paint.dash[1] = 3;
  y += lift;
  canvas_open(c, id, "glyph", u->words);
  canvas_of(c, u->said);
  if (u->count) sheets(c, x, y, w, h, 4, paint);
  path_rect(c, x, y, w, h, 4);
  canvas_paint(c, &paint);
  if (u->state) line_draw(c, x + 3.5, y + 1, x + 3.5, y + h - 1, INK_LINE, 1.1);
  if (u->stops) {
    path_rect(c, x + 3, y + 3, w - 6, h - 6, 2.5);
    canvas_paint(c, &(Paint){.stroke = INK_LINE, .width = 1.1});
  }
  box_lines(c, u, x, y, w, h);
  for (uint32_t i = 0; i < u->in.n; i++)
    port_name(c, &u->in.at[i], x + PAD, y - lift + u->in.at[i].y + 3, false);
  for (uint32_t i = 0; i < u->out.n; i++)
    port_name(c, &u->out.at[i], x + w - PAD + 1, y - lift + u->out.at[i].y + 3, true);
  canvas_close(c);
}

static void plate_paint(Canvas *c, const Unit *u, double x, double y) {
  canvas_open(c, "", "glyph", u->words);
  canvas_of(c, u->said);
  path_rect(c, x, y, u->width, u->height, 0);
  canvas_paint(c, &(Paint){.fill = INK_KEPT, .stroke = INK_LINE, .width = 0.8});
  if (u->state) line_draw(c, x + 3.5, y + 1, x + 3.5, y + u->height - 1, INK_LINE, 1.1);
  double first = y + u->height / 2 + 3.5 - 7 * ((double)u->line.n - 1);
  for (uint32_t i = 0; i < u->line.n; i++)
    canvas_text(c, x + u->width / 2, first + 14 * i,
                &(Text){.face = FACE_ITALIC, .size = WORD_SIZE, .anchor = ANCHOR_MIDDLE},
                u->line.at[i]);
  canvas_close(c);
}

// The line passes below the label.
static void guard_paint(Canvas *c, const Unit *u, double x, double y) {
  Paint paint = wire_paint(u->ink, u->dashed, u->ink);
  double at = y + u->out.at[0].y;
  canvas_open(c, "", "wire", u->words ? u->words : u->text);
  canvas_of(c, u->said);
  path_move(c, x, at), path_line(c, x + u->width, at);
  canvas_paint(c, &paint);
  canvas_close(c);
  Text how = {.size = PORT_SIZE, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT};
  if (u->in.n < 2) {
    words_draw(c, "label", x + u->width / 2, at - 4, &how, u->text);
    return;
  }
  double low = at - 3.5, top = y + 0.5; // wires that the guard reads end here
  canvas_open(c, "", "glyph", u->words ? u->words : u->text);
  canvas_of(c, u->said);
  path_rect(c, x, top, u->width, low - top, 5);
  canvas_paint(c, &(Paint){.fill = INK_PAPER, .stroke = INK_SOFT, .width = 0.8});
  canvas_text(c, x + u->width / 2, (low + top) / 2 + 3.5, &how, u->text);
  canvas_close(c);
}

// The end of a cable in a row: its name, and an arrow where it leaves.
static void end_paint(Canvas *c, const Panel *p, const Unit *u, double x, double y) {
  enum { FREE = 9 };
  bool leaves = u->kind == UNIT_LEAVES;
  const Pin *pin = leaves ? &u->in.at[0] : &u->out.at[0];
  double at = y + pin->y, from = leaves ? x : x + FREE, to = x + u->width - (leaves ? FREE : 0);
  Ink ink = pin->cable ? p->cable.at[pin->cable - 1].ink : INK_NONE;
  canvas_open(c, "", "wire", u->words);
  canvas_of(c, pin->cable ? p->cable.at[pin->cable - 1].said : NULL);
  line_draw(c, from, at, to, at, ink ? ink : INK_LINE, 1.1);
  canvas_close(c);
  if (leaves) small_head(c, to, at, 1, 0, ink);
  words_draw(c, "label", (from + to) / 2, at - 4,
             &(Text){.face = FACE_ITALIC, .size = PORT_SIZE, .anchor = ANCHOR_MIDDLE}, u->text);
}

// The switch symbol of circuit drawings: narrow on the side of the single wire.
static void choice_paint(Canvas *c, const Unit *u, double x, double y) {
  canvas_open(c, "", "glyph", u->words ? u->words : "one of these");
  canvas_of(c, u->said);
  double r = x + u->width, low = y + u->height;
  shape_draw(c, (Knee[]){{x, y}, {r, y + 5}, {r, low - 5}, {x, low}}, 4,
             &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1.1});
  canvas_close(c);
}

static void shared_paint(Canvas *c, const Unit *u, double x, double y) {
  double middle = x + floor(u->width / 2);
  canvas_open(c, "", "dot", u->words);
  canvas_of(c, u->said);
  path_circle(c, middle, y + 22, 4.6);
  canvas_paint(c, &(Paint){.fill = u->ink ? u->ink : INK_SERIES1});
  canvas_close(c);
  words_draw(c, "label", middle, y + 12,
             &(Text){.face = FACE_ITALIC, .size = KIND_SIZE, .anchor = ANCHOR_MIDDLE}, u->name);
}

static void marks_paint(Canvas *c, const Unit *u, double x, double y) {
  double lift = lift_of(u);
  for (uint32_t i = 0; u->graph && i < u->in.n; i++) {
    if (u->in.at[i].goes_on) continue;
    canvas_open(c, "", "touch", "");
    small_head(c, x - 4, y + u->in.at[i].y, 1, 0, INK_NONE);
    canvas_close(c);
  }
  for (uint32_t i = 0; u->graph && u->inner && i < u->out.n; i++) // from all nested modes
    if (!u->out.at[i].goes_on) port_mark(c, &u->out.at[i], x + u->width, y + u->out.at[i].y);
  if (u->graph) return;
  for (uint32_t i = 0; i < u->in.n; i++) port_mark(c, &u->in.at[i], x, y + u->in.at[i].y);
  for (uint32_t i = 0; i < u->out.n; i++)
    port_mark(c, &u->out.at[i], x + u->width - lift, y + u->out.at[i].y);
}

// A three-quarter circle with an arrowhead
static void learning_mark(Canvas *c, double x, double y) {
  double r = 3.4, k = 0.5522847498 * r;
  path_move(c, x, y - r);
  path_cubic(c, x - k, y - r, x - r, y - k, x - r, y);
  path_cubic(c, x - r, y + k, x - k, y + r, x, y + r);
  path_cubic(c, x + k, y + r, x + r, y + k, x + r, y);
  canvas_paint(c, &(Paint){.stroke = INK_SERIES3, .width = 1.3});
  shape_draw(c, (Knee[]){{x + r, y - 3.6}, {x + r - 2.8, y + 0.6}, {x + r + 2.8, y + 0.6}}, 3,
             &(Paint){.fill = INK_SERIES3});
}

static void state_paint(Canvas *c, const Unit *u, double x, double y) {
  double at = x + 7, line = y + u->height / 2 + 4;
  Face face = state_face(u);
  canvas_open(c, "", "glyph", u->words);
  canvas_of(c, u->said);
  path_rect(c, x, y, u->width, u->height, 3);
  canvas_paint(c, &(Paint){.fill = INK_LEARNED, .stroke = INK_SERIES3, .width = 1.1});
  if (u->learns) learning_mark(c, at + 4, y + u->height / 2), at += TURN;
  canvas_text(c, at, line, &(Text){.face = face, .size = KIND_SIZE}, u->name);
  at += text_width(face, KIND_SIZE, u->name) + 4;
  if (u->text) canvas_text(c, at, line, &type_text_how, u->text);
  canvas_close(c);
}

void unit_paint(Canvas *c, const Panel *p, const Unit *u, double x, double y, const char *path) {
  const char *name = u->name ? u->name : "";
  const char *id = arena_format(p->arena, "%s%s%.60s", path, path[0] ? "." : "", name);
  x += u->x, y += u->y;
  switch (u->kind) {
  case UNIT_BOX: box_paint(c, u, x, y, id); break;
  case UNIT_PANEL: panel_paint(c, u->inner, x, y + lift_of(u), id); break;
  case UNIT_CARD: card_paint(c, u, x, y); break;
  case UNIT_PLATE: plate_paint(c, u, x, y); break;
  case UNIT_GUARD: guard_paint(c, u, x, y); break;
  case UNIT_CHOICE: choice_paint(c, u, x, y); break;
  case UNIT_SHARED: shared_paint(c, u, x, y); break;
  case UNIT_START:
    canvas_open(c, "", "dot", u->words);
    path_circle(c, x + 5, y + 3, 4.6);
    canvas_paint(c, &(Paint){.fill = INK_LINE});
    canvas_close(c);
    break;
  case UNIT_STATE: state_paint(c, u, x, y); break;
  case UNIT_LEAVES:
  case UNIT_ENTERS: end_paint(c, p, u, x, y); break;
  case UNIT_IN:
    if (!p->graph) inner_port(c, only_pin(u), x, y, p->depth, false);
    break;
  case UNIT_OUT:
    if (!p->graph) inner_port(c, only_pin(u), x + u->width, y, p->depth, true);
    break;
  }
  if (u->kind == UNIT_BOX || u->kind == UNIT_PANEL) marks_paint(c, u, x, y);
}
