// Plates with messages and notes beside a picture, connected to positions in it.
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
// Letters per line, in notes too; units per letter; maximal number of plates.
enum { WRAP = 32, NOTE_WRAP = 24, COLUMN = 6, MOST = 6 };

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
  uint32_t most = p->plate.note ? NOTE_WRAP : WRAP;
  uint32_t lines = wrap_text(a, p->plate.text, most, NULL);
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

// What a tail should avoid: words, and shapes of glyphs.
static Areas obstacles(Arena *a, const Canvas *c) {
  Areas out = {0};
  bool glyph = false;
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_OPEN) glyph = strcmp(m->group.class, "glyph") == 0;
    if (m->kind == MARK_TEXT) vec_push(a, &out, text_area(m));
    if (m->kind == MARK_PATH && glyph)
      vec_push(a, &out, path_area(c->path.at + m->path.first, m->path.n));
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

// rest: the room in the rows below and above. Of two equal sides, notes take the nearer one with
// room.
static void choose_tail(MessagePlace *p, const Areas *o, PlateRoom room, const double rest[2]) {
  static const double steps[] = {0, -6, 6, -12, 12, -18, 18};
  uint32_t least = UINT32_MAX;
  bool up = p->plate.y0 < room.height - p->plate.y1;
  bool turn = p->plate.note && up == (rest[up] >= p->w);
  for (uint32_t i = 0; i < COUNT(steps); i++)
    for (int side = 0; side < (room.below ? 1 : 2); side++) {
      bool above = side != turn;
      double x = p->plate.x + steps[i];
      uint32_t n =
          above ? hits(o, x, 0, p->plate.y0 - 1) : hits(o, x, p->plate.y1 + 1, room.height);
      if (n < least) least = n, p->tail = x, p->above = above;
    }
}

// -- rows -----------------------------------------------------------------------------------------
// Each plate is centred on its tail as far as the others allow.
static double place_row(Arena *a, Plating *g, bool above, double left, double width) {
  uint32_t *order = NEW_ARRAY(a, uint32_t, g->place.n + 1), n = 0;
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
static MessagePlace plate_of(Arena *a, const Messages *plates, uint32_t i, bool all) {
  MessagePlace p = {.plate = plates->at[i]};
  if (i + 1 == MOST && plates->n > MOST && !all)
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
    MessagePlace p = plate_of(a, plates, i, false);
    *width += p.w + GAP;
    *height = fmax(*height, p.h + LEAN + EDGE);
  }
}

Plating plates_plan(Arena *a, const Canvas *c, const Messages *plates, PlateRoom room) {
  Plating g = {.width = canvas_width(c)};
  Areas o = obstacles(a, c);
  double rest[2] = {g.width, g.width};
  for (uint32_t i = 0; i < plates->n && (i < MOST || room.all); i++) {
    MessagePlace p = plate_of(a, plates, i, room.all);
    if (p.plate.tied) choose_tail(&p, &o, room, rest);
    rest[p.above] -= p.w + GAP;
    vec_push(a, &g.place, p);
  }
  g.above = place_row(a, &g, true, room.left, g.width);
  g.below = place_row(a, &g, false, room.left, g.width);
  return g;
}

// -- painting -------------------------------------------------------------------------------------
static double clamp_to(double x, double low, double high) { return fmin(fmax(x, low), high); }

static Ink ink_of(const MessagePlace *p) {
  return p->plate.mild || p->plate.note ? INK_SOFT : INK_ALARM;
}

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
  Ink ink = ink_of(p), fill = p->plate.note ? INK_NOTE : p->plate.mild ? INK_PLATE : INK_WRONG;
  canvas_open(c, "", p->plate.note ? "note" : "label", p->plate.text);
  path_rect(c, p->x, y, p->w, p->h, 4);
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

Canvas *plates_around(Arena *a, const Canvas *picture, const Messages *plates, const char *about) {
  double height = canvas_height(picture);
  Plating plan = plates_plan(a, picture, plates, (PlateRoom){.height = height});
  Canvas *c =
      canvas_new(a, plan.width, plan.above + height + plan.below, canvas_title(picture), about);
  canvas_append(c, picture, 0, plan.above);
  plates_paint(c, &plan, height);
  return c;
}
