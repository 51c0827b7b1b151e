// Plates with messages beside a picture, connected to positions in it.
//
// Input: messages, each possibly with a position; output: a row of plates above and one below the
// picture, each with a tail to its position. A tail is vertical inside the picture, on the side
// where it crosses the fewest words and shapes, and is slanted only outside. Messages in a row are
// ordered by their tails, so tails do not cross and plates cover nothing.
#include "show/layout/plate.h"
#include "show/canvas/canvas.h"
#include "show/canvas/marks.h"

#include <math.h>

enum { SIZE = 12, LINE = 16, PAD = 10, GAP = 12, LEAN = 22, EDGE = 6 };
// Letters per line; units per letter; maximal number of plates.
enum { WRAP = 32, COLUMN = 6, MOST = 6 };

// -- words ----------------------------------------------------------------------------------------
static uint32_t runes(const char *text, size_t n) {
  uint32_t k = 0;
  for (size_t i = 0; i < n; i++) k += ((unsigned char)text[i] & 0xC0) != 0x80;
  return k;
}

// Breaks text at spaces into lines of at most `most` letters; longer words are not broken. Returns
// the number of lines and adds them to `p` unless it is NULL.
static uint32_t wrap_text(Arena *a, const char *at, uint32_t most, MessagePlace *p) {
  uint32_t lines = 0;
  for (at += strspn(at, " "); *at; lines++) {
    size_t end = 0, n = 0;
    while (at[n]) {
      size_t word = n + strspn(at + n, " ");
      word += strcspn(at + word, " ");
      if (end && runes(at, word) > most) break;
      end = n = word;
    }
    if (p) vec_push(a, &p->line, arena_text(a, at, end));
    at += end;
    at += strspn(at, " ");
  }
  return lines;
}

// As few lines as WRAP allows, of similar length.
static void wrap_evenly(Arena *a, MessagePlace *p) {
  uint32_t most = WRAP, lines = wrap_text(a, p->plate.text, WRAP, NULL);
  while (most > 8 && wrap_text(a, p->plate.text, most - 1, NULL) == lines) most--;
  wrap_text(a, p->plate.text, most, p);
}

// In text output a letter is COLUMN units wide, and the words must fit there too.
static double line_width(Face face, const char *text) {
  return fmax(text_width(face, SIZE, text), COLUMN * runes(text, strlen(text)));
}

static void measure_plate(MessagePlace *p) {
  p->w = line_width(FACE_SANS_BOLD, p->plate.head);
  for (uint32_t i = 0; i < p->line.n; i++) p->w = fmax(p->w, line_width(FACE_SANS, p->line.at[i]));
  p->w = ceil(p->w) + 2 * PAD;
  p->h = (p->line.n + (*p->plate.head != 0)) * LINE + 2 * PAD - 4;
}

// -- tails ----------------------------------------------------------------------------------------
typedef VEC(Area) Areas;

static void area_add(Area *a, double x, double y) {
  a->x0 = fmin(a->x0, x), a->x1 = fmax(a->x1, x);
  a->y0 = fmin(a->y0, y), a->y1 = fmax(a->y1, y);
}

static const Area nothing = {INFINITY, INFINITY, -INFINITY, -INFINITY};

static void add_words(Arena *a, const Mark *m, Areas *out) {
  Area x = nothing;
  double left = m->text.x + m->text.start;
  area_add(&x, left, m->text.y - text_ascent(m->text.how.face, m->text.how.size));
  area_add(&x, left + text_width(m->text.how.face, m->text.how.size, m->text.words),
           m->text.y + text_descent(m->text.how.face, m->text.how.size));
  vec_push(a, out, x);
}

// What a tail should avoid: words, and shapes of glyphs.
static Areas obstacles(Arena *a, const Canvas *c) {
  Areas out = {0};
  bool glyph = false;
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) glyph = strcmp(m->group.class, "glyph") == 0;
    if (m->kind == MARK_TEXT) add_words(a, m, &out);
    if (m->kind != MARK_PATH || !glyph) continue;
    Area x = nothing;
    for (uint32_t k = m->path.first; k < m->path.first + m->path.n; k++)
      area_add(&x, c->path.at[k].x, c->path.at[k].y);
    vec_push(a, &out, x);
  }
  return out;
}

static uint32_t hits(const Areas *o, double x, double y0, double y1) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < o->n; i++) {
    const Area *a = &o->at[i];
    n += a->x0 - 3 < x && x < a->x1 + 3 && a->y0 < y1 && y0 < a->y1;
  }
  return n;
}

static void choose_tail(MessagePlace *p, const Areas *o, double height, bool below) {
  static const double steps[] = {0, -6, 6, -12, 12, -18, 18};
  uint32_t least = UINT32_MAX;
  for (uint32_t i = 0; i < COUNT(steps); i++)
    for (int above = 0; above < (below ? 1 : 2); above++) {
      double x = p->plate.x + steps[i];
      uint32_t n = above ? hits(o, x, 0, p->plate.y0 - 1) : hits(o, x, p->plate.y1 + 1, height);
      if (n < least) least = n, p->tail = x, p->above = above;
    }
}

// -- rows -----------------------------------------------------------------------------------------
// Each plate is centred on its tail as far as the others allow.
static double place_row(Plating *g, bool above, double left, double width) {
  uint32_t order[MOST + 1], n = 0;
  for (uint32_t i = 0; i < g->place.n; i++) {
    if (g->place.at[i].above != above) continue;
    uint32_t k = n++;
    for (; k && g->place.at[order[k - 1]].tail > g->place.at[i].tail; k--) order[k] = order[k - 1];
    order[k] = i;
  }
  double x = left + EDGE, total = left + 2 * EDGE - GAP, high = 0;
  for (uint32_t i = 0; i < n; i++) {
    MessagePlace *p = &g->place.at[order[i]];
    p->x = p->plate.tied ? fmax(x, p->tail - p->w / 2) : x;
    x = p->x + p->w + GAP;
    total += p->w + GAP;
    high = fmax(high, p->h);
  }
  x = fmax(width, total) - EDGE;
  for (uint32_t i = n; i-- > 0;) {
    MessagePlace *p = &g->place.at[order[i]];
    p->x = fmin(p->x, x - p->w);
    x = p->x - GAP;
  }
  g->width = fmax(g->width, n ? total : 0);
  return n ? high + LEAN + EDGE : 0;
}

// The i-th plate with its lines; after the maximal number, a plate with the count of the rest.
static MessagePlace plate_of(Arena *a, const Messages *plates, uint32_t i) {
  MessagePlace p = {.plate = plates->at[i]};
  if (i + 1 == MOST && plates->n > MOST)
    p.plate = (Message){.head = "", .text = arena_format(a, "and %u more", plates->n - i)};
  else if (p.plate.number)
    p.plate.head =
        arena_format(a, "%u%s%s", p.plate.number, *p.plate.head ? "  " : "", p.plate.head);
  wrap_evenly(a, &p);
  measure_plate(&p);
  p.tail = 1e6; // messages without a position come last
  return p;
}

void plates_size(Arena *a, const Messages *plates, double *width, double *height) {
  *width = 2 * EDGE - GAP, *height = 0;
  for (uint32_t i = 0; i < plates->n && i < MOST; i++) {
    MessagePlace p = plate_of(a, plates, i);
    *width += p.w + GAP;
    *height = fmax(*height, p.h + LEAN + EDGE);
  }
}

Plating plates_plan(Arena *a, const Canvas *c, const Messages *plates, PlateRoom room) {
  Plating g = {.width = canvas_width(c)};
  Areas o = obstacles(a, c);
  for (uint32_t i = 0; i < plates->n && i < MOST; i++) {
    MessagePlace p = plate_of(a, plates, i);
    if (p.plate.tied) choose_tail(&p, &o, room.height, room.below);
    vec_push(a, &g.place, p);
  }
  g.above = place_row(&g, true, room.left, g.width);
  g.below = place_row(&g, false, room.left, g.width);
  return g;
}

// -- painting -------------------------------------------------------------------------------------
static double clamp_to(double x, double low, double high) { return fmin(fmax(x, low), high); }

static Ink ink_of(const MessagePlace *p) { return p->plate.mild ? INK_SOFT : INK_ALARM; }

// From the position to the edge of the picture, then widening to the plate.
static void paint_tail(Canvas *c, const MessagePlace *p, double place, double edge, double side) {
  double foot = clamp_to(p->tail, p->x + 12, p->x + p->w - 12), s = side > edge ? 7 : -7;
  canvas_open(c, "", "tail", "");
  path_move(c, p->tail, place), path_line(c, p->tail, edge), path_line(c, foot, side - s);
  canvas_paint(c, &(Paint){.stroke = ink_of(p), .width = 1.2});
  shape_draw(c, (Knee[]){{foot - 5, side}, {foot + 5, side}, {foot, side - s}}, 3,
             &(Paint){.fill = ink_of(p)});
  path_circle(c, p->tail, place, 2.5);
  canvas_paint(c, &(Paint){.fill = ink_of(p)});
  canvas_close(c);
}

static void paint_plate(Canvas *c, const MessagePlace *p, double y) {
  canvas_open(c, "", "label", p->plate.text);
  path_rect(c, p->x, y, p->w, p->h, 4);
  Ink fill = p->plate.mild ? INK_PLATE : INK_WRONG, ink = ink_of(p);
  canvas_paint(c, &(Paint){.fill = fill, .stroke = ink, .width = 1.2});
  y += PAD + SIZE - 3;
  if (*p->plate.head) {
    canvas_text(c, p->x + PAD, y, &(Text){.face = FACE_SANS_BOLD, .size = SIZE, .ink = ink},
                p->plate.head);
    y += LINE;
  }
  for (uint32_t i = 0; i < p->line.n; i++)
    canvas_text(c, p->x + PAD, y + LINE * i, &(Text){.face = FACE_SANS, .size = SIZE},
                p->line.at[i]);
  canvas_close(c);
}

void plates_paint(Canvas *c, const Plating *g, double height) {
  double bottom = g->above + height;
  for (uint32_t i = 0; i < g->place.n; i++) {
    const MessagePlace *p = &g->place.at[i];
    double y = p->above ? g->above - LEAN - p->h : bottom + LEAN;
    if (p->plate.tied && p->above)
      paint_tail(c, p, g->above + p->plate.y0, g->above, y + p->h);
    else if (p->plate.tied)
      paint_tail(c, p, g->above + p->plate.y1, bottom, y);
    paint_plate(c, p, y);
  }
}
