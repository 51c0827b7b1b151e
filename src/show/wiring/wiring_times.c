// A wiring whose weights change: a strip of pictures of several moments, or one animated picture.
//
// Parts are on a circle at fixed positions. The width and darkness of a wire is its weight;
// negative ones are dashed and have another colour; weights below a small share of the maximum are
// omitted. Wires bend to the right, so that wires in both directions are separate. The value of a
// part is the filled share of its disc.
//
// The animation contains every wire that occurs. Its marks show the last moment; style sheets
// animate width and opacity. So readers without animation, or with reduced motion, show the last
// moment.
#include "base/hash.h"
#include "show/wiring/wiring_own.h"

#include <math.h>

enum { EDGE = 14, CAPTION = 20, LEGEND = 26, BAR = 22, LETTERS = 11, WIDTH = 900 };
enum { TINY = 24, MANY = 60 }; // parts with names, moments with ticks
#define SECONDS 0.9            // seconds per moment
#define NOTHING 1e-4           // opacities below are written as 0

typedef struct {
  const WiringTimes *t;
  Arena *arena;
  double least, most, most_value;
  double ring, disc; // radii
  double side, high; // width and height of one picture
  double down;       // y of the centre of the circle
  const char *id;    // prefix of ids; "": none are written
  const char **name;
} Clock;

// -- numbers --------------------------------------------------------------------------------------
static double weight_at(const Clock *c, uint32_t moment, uint32_t i, uint32_t j) {
  size_t n = c->t->parts;
  double w = c->t->weight[(moment * n + i) * n + j];
  return isfinite(w) ? w : 0;
}

static double value_at(const Clock *c, uint32_t moment, uint32_t i) {
  if (!c->t->value) return 0;
  double v = c->t->value[(size_t)moment * c->t->parts + i];
  return isfinite(v) ? v : 0;
}

static void find_largest(Clock *c) {
  for (uint32_t m = 0; m < c->t->moments; m++)
    for (uint32_t i = 0; i < c->t->parts; i++) {
      c->most_value = fmax(c->most_value, fabs(value_at(c, m, i)));
      for (uint32_t j = 0; j < c->t->parts; j++)
        c->most = fmax(c->most, fabs(weight_at(c, m, i, j)));
    }
  c->least = (c->t->least > 0 ? c->t->least : 0.02) * c->most;
}

// The strength of a wire with this sign, from 0 to 1
static double strength_of(const Clock *c, uint32_t moment, uint32_t i, uint32_t j, int sign) {
  double w = weight_at(c, moment, i, j) * sign;
  return c->most > 0 && w > 0 && w >= c->least ? w / c->most : 0;
}

static bool is_ever(const Clock *c, uint32_t i, uint32_t j, int sign) {
  for (uint32_t m = 0; m < c->t->moments; m++)
    if (strength_of(c, m, i, j, sign) > 0) return true;
  return false;
}

static double share_width(double share) { return 0.8 + 3.2 * share; }
static double share_opacity(double share) { return share > 0 ? 0.3 + 0.7 * share : NOTHING; }

static Paint share_paint(double share, bool minus) {
  Paint p = {.stroke = minus ? INK_SERIES2 : INK_SERIES1, .width = share_width(share)};
  p.opacity = share_opacity(share);
  if (minus) p.dash[0] = 5, p.dash[1] = 3;
  return p;
}

static double fullness(const Clock *c, uint32_t moment, uint32_t i) {
  double v = fabs(value_at(c, moment, i));
  return c->most_value > 0 && v > 0 ? 0.6 * v / c->most_value : NOTHING;
}

// -- places ---------------------------------------------------------------------------------------
static Knee part_at(const Clock *c, uint32_t i) {
  double turn =
      6.283185307179586 * i / c->t->parts - (c->t->parts == 2 ? 3.14159265358979 : 1.5707963267949);
  return (Knee){c->side / 2 + c->ring * cos(turn), c->down + c->ring * sin(turn)};
}

static Clock clock_of(Arena *a, const WiringTimes *t) {
  Clock c = {.t = t, .arena = a, .id = ""};
  double letters = 0;
  uint32_t n = t->parts;
  find_largest(&c);
  c.name = NEW_ARRAY(a, const char *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    c.name[i] = text_cut(a, FACE_ITALIC, LETTERS, t->name[i], 70);
    letters = fmax(letters, text_width(FACE_ITALIC, LETTERS, c.name[i]));
  }
  c.disc = n > TINY ? 6 : fmax(12, ceil(letters / 2) + 4);
  c.ring = n < 2 ? 0 : fmax(40, n * (2 * c.disc + 16) / 6.2831853);
  c.side = ceil(2 * (c.ring + c.disc) + 28);
  double top = 0, bottom = 0;
  for (uint32_t i = 0; i < n; i++)
    top = fmin(top, part_at(&c, i).y), bottom = fmax(bottom, part_at(&c, i).y);
  c.down = ceil(c.disc + 14 - top), c.high = ceil(bottom - top + 2 * c.disc + 28);
  return c;
}

// -- marks ----------------------------------------------------------------------------------------
typedef struct {
  Knee a, p, q, b; // a cubic curve
  Knee head;       // its final direction, of length 1
} Bow;

static Knee unit_of(double x, double y) {
  double n = hypot(x, y);
  return n > 0 ? (Knee){x / n, y / n} : (Knee){1, 0};
}

// A part that reads itself has a loop on the outside.
static Bow loop_of(const Clock *c, uint32_t i) {
  Knee at = part_at(c, i), out = unit_of(at.x - c->side / 2, at.y - c->down);
  if (c->t->parts < 2) out = (Knee){0, -1};
  double r = c->disc, side = r * 0.6, up = r * 0.85, far = r + 18;
  Bow w = {.a = knee_along(at, out, up, -side), .b = knee_along(at, out, up, side)};
  w.p = knee_along(at, out, far, -r), w.q = knee_along(at, out, far, r);
  w.head = unit_of(w.b.x - w.q.x, w.b.y - w.q.y);
  return w;
}

static Bow bow_of(const Clock *c, uint32_t from, uint32_t to) {
  if (from == to) return loop_of(c, from);
  Knee a = part_at(c, from), b = part_at(c, to), way = unit_of(b.x - a.x, b.y - a.y);
  double far = hypot(b.x - a.x, b.y - a.y), bend = 0.14 * far, r = c->disc + 1;
  Knee p = knee_along(a, way, far * 0.35, bend), q = knee_along(a, way, far * 0.65, bend);
  Knee out = unit_of(p.x - a.x, p.y - a.y), in = unit_of(b.x - q.x, b.y - q.y);
  return (Bow){knee_along(a, out, r, 0), p, q, knee_along(b, in, -(r + 5), 0), in};
}

static void wire_paint(Canvas *k, const Bow *w, double part, int sign, Knee at, const char *id,
                       const char *words) {
  double x = at.x, y = at.y, s = 3.2 + 1.2 * part;
  Paint how = share_paint(part, sign < 0);
  canvas_open(k, id, "touch", words);
  path_move(k, w->a.x + x, w->a.y + y);
  path_cubic(k, w->p.x + x, w->p.y + y, w->q.x + x, w->q.y + y, w->b.x + x, w->b.y + y);
  canvas_paint(k, &how);
  Knee end = {w->b.x + x, w->b.y + y}, tip = knee_along(end, w->head, 5, 0);
  Knee right = knee_along(end, w->head, -4, s), left = knee_along(end, w->head, -4, -s);
  shape_draw(k, (Knee[]){tip, right, left}, 3,
             &(Paint){.fill = how.stroke, .opacity = how.opacity});
  canvas_close(k);
}

static const char *wire_words(const Clock *c, uint32_t moment, uint32_t i, uint32_t j) {
  return arena_format(c->arena, "%s hears %s: %.3g", c->name[i], c->name[j],
                      weight_at(c, moment, i, j));
}

static const char *id_of(const Clock *c, const char *kind, uint32_t i, uint32_t j) {
  if (!c->id[0]) return "";
  return arena_format(c->arena, "%s-%s-%u-%u", c->id, kind, i, j);
}

static void wires_paint(Canvas *k, const Clock *c, uint32_t moment, double x, double y) {
  for (uint32_t i = 0; i < c->t->parts; i++)
    for (uint32_t j = 0; j < c->t->parts; j++)
      for (int sign = 1; sign >= -1; sign -= 2) {
        double now = strength_of(c, moment, i, j, sign);
        if (now <= 0 && !(c->id[0] && is_ever(c, i, j, sign))) continue;
        Bow w = bow_of(c, j, i);
        wire_paint(k, &w, now, sign, (Knee){x, y}, id_of(c, sign > 0 ? "w" : "v", i, j),
                   c->id[0] ? "" : wire_words(c, moment, i, j));
      }
}

static void part_paint(Canvas *k, const Clock *c, uint32_t moment, uint32_t i, double x, double y) {
  Knee at = part_at(c, i);
  x += at.x, y += at.y;
  canvas_open(k, c->name[i], "glyph", c->t->name[i]);
  path_circle(k, x, y, c->disc);
  canvas_paint(k, &(Paint){.fill = INK_PAPER, .stroke = INK_LINE, .width = 1.2});
  if (c->t->value) {
    canvas_open(k, id_of(c, "n", i, 0), "", "");
    path_circle(k, x, y, c->disc);
    canvas_paint(k, &(Paint){.fill = INK_SERIES3, .opacity = fullness(c, moment, i)});
    canvas_close(k);
  }
  if (c->t->parts <= TINY)
    canvas_text(k, x, y + 3.6,
                &(Text){.face = FACE_ITALIC, .size = LETTERS, .anchor = ANCHOR_MIDDLE}, c->name[i]);
  canvas_close(k);
}

static const char *caption_of(const Clock *c, uint32_t moment) {
  if (!c->t->when) return arena_format(c->arena, "%u", moment + 1);
  return text_cut(c->arena, FACE_SANS, LETTERS, c->t->when[moment], c->side);
}

static void caption_paint(Canvas *k, const Clock *c, uint32_t moment, double x, double y) {
  words_draw(k, "label", x + c->side / 2, y,
             &(Text){.size = LETTERS, .anchor = ANCHOR_MIDDLE, .ink = INK_SOFT},
             caption_of(c, moment));
}

// The meaning of widths: the largest weight, and half of it
static void legend_paint(Canvas *k, const Clock *c, double x, double y) {
  Text how = {.size = LETTERS, .ink = INK_SOFT};
  for (int i = 0; i < 3; i++) {
    double part = i == 1 ? 0.5 : 1;
    bool minus = i == 2, any = false;
    for (uint32_t n = 0; minus && n < c->t->moments * c->t->parts * c->t->parts; n++)
      any |= isfinite(c->t->weight[n]) && c->t->weight[n] <= -c->least && c->least > 0;
    if (minus && !any) break;
    const char *text = minus ? "negative" : arena_format(c->arena, "weight %.3g", c->most * part);
    canvas_open(k, "", "touch", "");
    path_move(k, x, y), path_line(k, x + 26, y);
    Paint line = share_paint(minus ? 0.5 : part, minus);
    canvas_paint(k, &line);
    canvas_close(k);
    words_draw(k, "label", x + 32, y + 4, &how, text);
    x += 32 + text_width(FACE_SANS, LETTERS, text) + 18;
  }
}

static double legend_width(const Clock *c) {
  double w = text_width(FACE_SANS, LETTERS, arena_format(c->arena, "weight %.3g", c->most)) +
             text_width(FACE_SANS, LETTERS, arena_format(c->arena, "weight %.3g", c->most / 2));
  return 3 * 50 + w + text_width(FACE_SANS, LETTERS, "negative");
}

// -- the strip ------------------------------------------------------------------------------------
static const char *describe_times(const Clock *c) {
  return arena_format(c->arena,
                      "Connections of %u part%s at %u moment%s. The wider a wire, the larger its "
                      "weight; the largest is %.3g.",
                      c->t->parts, c->t->parts == 1 ? "" : "s", c->t->moments,
                      c->t->moments == 1 ? "" : "s", c->most);
}

Canvas *wiring_strip_draw(Arena *a, const WiringTimes *t) {
  Clock c = clock_of(a, t);
  double each = c.side + 8, fit = floor(WIDTH / each);
  uint32_t columns = fit < 1 ? 1 : fit > t->moments ? t->moments : (uint32_t)fit;
  if (!columns) columns = 1;
  uint32_t rows = (t->moments + columns - 1) / columns;
  columns = rows ? (t->moments + rows - 1) / rows : columns; // rows of equal length
  double width = fmax(columns * each, legend_width(&c)) + 2 * EDGE;
  double height = rows * (c.high + CAPTION) + LEGEND + EDGE;
  Canvas *k = canvas_new(a, width, height, t->title ? t->title : "", describe_times(&c));
  for (uint32_t m = 0; m < t->moments; m++) {
    double x = EDGE + (m % columns) * each + 4, y = EDGE + (m / columns) * (c.high + CAPTION);
    canvas_open(k, arena_format(a, "moment %u", m + 1), "", caption_of(&c, m));
    wires_paint(k, &c, m, x, y);
    for (uint32_t i = 0; i < t->parts; i++) part_paint(k, &c, m, i, x, y);
    caption_paint(k, &c, m, x, y + c.high + 6);
    canvas_close(k);
  }
  legend_paint(k, &c, EDGE + 4, height - EDGE);
  return k;
}

// -- the picture that moves -----------------------------------------------------------------------
// A unique prefix, so that style sheets of several pictures in one page do not conflict.
static const char *own_id(const Clock *c) {
  const WiringTimes *t = c->t;
  uint32_t h = HASH_START_32;
  for (uint32_t i = 0; i < t->parts; i++) h = hash_bytes_32(h, t->name[i], strlen(t->name[i]) + 1);
  for (uint32_t m = 0; m < t->moments; m++)
    for (uint32_t i = 0; i < t->parts; i++)
      for (uint32_t j = 0; j < t->parts; j++) {
        double w = weight_at(c, m, i, j);
        h = hash_bytes_32(h, &w, sizeof w);
      }
  return arena_format(c->arena, "a%08x", (unsigned)h);
}

static void put_percent(Buf *b, double part) { buf_printf(b, "%.4g%%", 100 * part); }

static void put_frame(Buf *b, const Clock *c, uint32_t moment) {
  put_percent(b, (double)moment / c->t->moments);
  if (moment + 1 == c->t->moments) buf_text(b, ",100%");
}

static void put_rule(Buf *b, const char *id, const Clock *c, bool steps) {
  buf_printf(b, "[data-id=\"%s\"]%s{animation:%s %.4gs %s infinite}\n@keyframes %s{", id,
             steps ? "" : " path", id, SECONDS * c->t->moments, steps ? "step-end" : "linear", id);
}

static void put_wire(Buf *b, const Clock *c, uint32_t i, uint32_t j, int sign) {
  put_rule(b, id_of(c, sign > 0 ? "w" : "v", i, j), c, false);
  for (uint32_t m = 0; m < c->t->moments; m++) {
    double part = strength_of(c, m, i, j, sign), opacity = part > 0 ? share_opacity(part) : 0;
    put_frame(b, c, m);
    buf_printf(b, "{stroke-width:%.3g;stroke-opacity:%.3g;fill-opacity:%.3g}", share_width(part),
               opacity, opacity);
  }
  buf_text(b, "}\n");
}

static void put_value(Buf *b, const Clock *c, uint32_t i) {
  put_rule(b, id_of(c, "n", i, 0), c, false);
  for (uint32_t m = 0; m < c->t->moments; m++) {
    put_frame(b, c, m);
    buf_printf(b, "{fill-opacity:%.3g}", fullness(c, m, i));
  }
  buf_text(b, "}\n");
}

// Each caption is visible in its moment; without animation, only the last one.
static void put_caption(Buf *b, const Clock *c, uint32_t moment) {
  const char *id = id_of(c, "t", moment, 0);
  bool last = moment + 1 == c->t->moments;
  if (!last) buf_printf(b, "[data-id=\"%s\"]{visibility:hidden}\n", id);
  put_rule(b, id, c, true);
  buf_printf(b, "0%%{visibility:%s}", moment ? "hidden" : "visible");
  if (moment) put_percent(b, (double)moment / c->t->moments), buf_text(b, "{visibility:visible}");
  if (!last) put_percent(b, (moment + 1.0) / c->t->moments), buf_text(b, "{visibility:hidden}");
  buf_text(b, "}\n");
}

static void put_style(Buf *b, const Clock *c) {
  buf_text(b, "<style>\n@media (prefers-reduced-motion:reduce){[data-id^=\"");
  buf_printf(b, "%s\"],[data-id^=\"%s\"] path{animation:none!important}}\n", c->id, c->id);
  for (uint32_t i = 0; i < c->t->parts; i++)
    for (uint32_t j = 0; j < c->t->parts; j++)
      for (int sign = 1; sign >= -1; sign -= 2)
        if (is_ever(c, i, j, sign)) put_wire(b, c, i, j, sign);
  for (uint32_t i = 0; c->t->value && i < c->t->parts; i++) put_value(b, c, i);
  for (uint32_t m = 0; m < c->t->moments; m++) put_caption(b, c, m);
  buf_text(b, "</style>\n");
}

static double tick_at(const Clock *c, uint32_t moment) {
  double part = c->t->moments > 1 ? (double)moment / (c->t->moments - 1) : 1;
  return 12 + (c->side - 24) * part;
}

// A time line with a tick per moment
static void bar_paint(Canvas *k, const Clock *c, double x, double y) {
  canvas_open(k, "", "touch", "");
  path_move(k, x + 12, y), path_line(k, x + c->side - 12, y);
  for (uint32_t m = 0; m < c->t->moments && c->t->moments <= MANY; m++) {
    double at = x + tick_at(c, m);
    path_move(k, at, y - 2.5), path_line(k, at, y + 2.5);
  }
  canvas_paint(k, &(Paint){.stroke = INK_SOFT, .width = 1});
  canvas_close(k);
}

// What is visible in one moment only: its caption, and a mark on the time line
static void moment_paint(Canvas *k, const Clock *c, uint32_t moment, double x, double y) {
  canvas_open(k, id_of(c, "t", moment, 0), "", "");
  caption_paint(k, c, moment, x, y);
  canvas_open(k, "", "touch", "");
  path_circle(k, x + tick_at(c, moment), y + CAPTION + 2, 4);
  canvas_paint(k, &(Paint){.fill = INK_SERIES1});
  canvas_close(k);
  canvas_close(k);
}

void wiring_animated(Arena *a, const WiringTimes *t, const Look *look, Buf *out) {
  Clock c = clock_of(a, t);
  if (t->moments) c.id = own_id(&c);
  double width = fmax(c.side, legend_width(&c)) + 2 * EDGE, x = floor((width - c.side) / 2);
  double height = c.high + CAPTION + BAR + LEGEND + EDGE;
  Canvas *k = canvas_new(a, width, height, t->title ? t->title : "", describe_times(&c));
  if (t->moments) {
    wires_paint(k, &c, t->moments - 1, x, EDGE);
    for (uint32_t i = 0; i < t->parts; i++) part_paint(k, &c, t->moments - 1, i, x, EDGE);
    bar_paint(k, &c, x, EDGE + c.high + CAPTION + 8);
    for (uint32_t m = 0; m < t->moments; m++) moment_paint(k, &c, m, x, EDGE + c.high + 6);
    legend_paint(k, &c, EDGE, height - EDGE);
  }
  Buf svg = buf_new(a);
  canvas_svg(k, look, &svg);
  size_t end = t->moments > 1 ? svg.n - strlen("</svg>\n") : svg.n;
  buf_add(out, svg.at, end);
  if (t->moments < 2) return;
  put_style(out, &c);
  buf_text(out, "</svg>\n");
}
