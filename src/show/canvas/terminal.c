// Draws a picture as lines of text, for a terminal.
//
// The result is a grid of cells: a column is COLUMN units wide, a row ROW units high. Rows are not
// uniform: each height with a horizontal line (a Tier) gets a row, with other rows between in
// proportion, and other marks are placed relative to the nearest tier. So a label is in the row
// above its line, and the edges of a box are next to its lines. Columns are not uniform either: a
// box is as wide as the words in it (terminal_words.c).
//
// A cell stores in which of four directions lines leave it; this determines the character: corners,
// tees, crossings. Shapes too small for an outline become one character. Filled shapes hide lines
// below them. Words are placed last: they hide lines but not each other, and are moved a little if
// necessary; sub- and superscripts join their base.
#include "show/canvas/terminal_own.h"
#include <math.h>
#include <stdlib.h>

enum { COLUMN = 6, ROW = 10, COLUMNS = 4000, ROWS = 1500, MARGIN = 2, SIDES = 256 };
enum { NORTH = 1, EAST = 2, SOUTH = 4, WEST = 8 };

typedef struct {
  uint8_t line; // bit set of directions
  bool solid, dashed, heavy;
  bool word; // occupied by words
  uint32_t rune;
} TextCell;

typedef struct {
  double y;
  int row;
} Tier;

typedef struct {
  Arena *arena; // scratch
  const Canvas *canvas;
  bool ascii;
  bool heavy;    // the group being drawn is marked as faulty
  double coarse; // a scale; 1 unless the page is too large
  WideColumns wide;
  VEC(Tier) tier;
  int columns, rows;
  TextCell *cell;
  Lines lines; // the current path, flattened
  Area box;    // the last filled shape of the group
  bool boxed;
} Art;

// -- the grid -------------------------------------------------------------------------------------
static int column_of(const Art *a, double x) {
  return (int)floor(x / (COLUMN * a->coarse) + columns_extra(&a->wide, x)) + MARGIN;
}

// The number of rows between two tiers
static int rows_between(const Art *a, double d) {
  double rows = d / (ROW * a->coarse);
  return rows < 0.5 ? 0 : (int)fmax(rows < 0.9 ? 1 : 2, ceil(rows - 0.2));
}

// Relative to the nearest tier.
static int row_of(const Art *a, double y) {
  uint32_t i = 0, n = a->tier.n;
  const Tier *at = a->tier.at;
  for (uint32_t last = n - 1; n && i < last;) {
    uint32_t k = (i + last) / 2;
    if (at[k + 1].y - y < y - at[k].y)
      i = k + 1;
    else
      last = k;
  }
  int off = (int)round((y - at[i].y) / (ROW * a->coarse));
  if (off > 0 && i + 1 < n) off = (int)fmin(off, (at[i + 1].row - at[i].row) / 2);
  if (off < 0 && i > 0) off = (int)fmax(off, (at[i - 1].row - at[i].row) / 2);
  return at[i].row + off;
}

static TextCell *cell_at(Art *a, int column, int row) {
  bool inside = column >= 0 && column < a->columns && row >= 0 && row < a->rows;
  return inside ? &a->cell[(size_t)row * (size_t)a->columns + (size_t)column] : NULL;
}

static void put_sign(Art *a, double x, double y, uint32_t rune) {
  TextCell *c = cell_at(a, column_of(a, x), row_of(a, y));
  if (c) c->rune = rune;
}

// -- tiers ----------------------------------------------------------------------------------------
static bool is_line(const Mark *m) {
  return m->kind == MARK_PATH && m->path.paint.stroke && m->path.paint.stroke != INK_GRID &&
         !m->path.paint.fill;
}

// A group of class `sign` is one character, named by its words.
static bool is_sign(const Mark *m) {
  return m->kind == MARK_OPEN && !strcmp(m->group.class, "sign") && m->group.words[0];
}

static uint32_t past_group(const Canvas *c, uint32_t i) {
  for (int depth = 0; i < c->mark.n; i++) {
    depth += (c->mark.at[i].kind == MARK_OPEN) - (c->mark.at[i].kind == MARK_CLOSE);
    if (!depth) return i;
  }
  return i;
}

static int by_height(const void *one, const void *two) {
  const double *a = one, *b = two;
  return (*a > *b) - (*a < *b);
}

// The heights of horizontal lines that are not edges of boxes
static void find_tiers(Art *a) {
  VEC(double) heights = {0};
  const Canvas *c = a->canvas;
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (is_sign(m)) i = past_group(c, i);
    const PathStep *s = c->path.at + (is_line(m) ? m->path.first : 0);
    if (!is_line(m) || s[m->path.n - 1].kind == STEP_CLOSE) continue;
    for (uint32_t k = 1; k < m->path.n; k++)
      if (s[k].kind == STEP_LINE && fabs(s[k].y - s[k - 1].y) < 0.01 &&
          fabs(s[k].x - s[k - 1].x) >= 2 * COLUMN && s[k].y >= 0 && s[k].y <= c->height)
        vec_push(a->arena, &heights, s[k].y);
  }
  if (!heights.n) vec_push(a->arena, &heights, 0);
  qsort(heights.at, heights.n, sizeof *heights.at, by_height);
  Tier last = {heights.at[0], (int)(heights.at[0] / (ROW * a->coarse)) + MARGIN};
  vec_push(a->arena, &a->tier, last);
  for (uint32_t i = 1; i < heights.n; i++) {
    int rows = rows_between(a, heights.at[i] - last.y);
    if (!rows) continue;
    last = (Tier){heights.at[i], last.row + rows};
    vec_push(a->arena, &a->tier, last);
  }
}

static void make_grid(Art *a) {
  const Canvas *c = a->canvas;
  find_tiers(a);
  a->columns = column_of(a, c->width) + MARGIN;
  a->rows = row_of(a, c->height) + MARGIN;
  a->cell = NEW_ARRAY(a->arena, TextCell, (size_t)a->columns * (size_t)a->rows);
}

// -- lines ----------------------------------------------------------------------------------------
static void add_line_end(Art *a, int column, int row, uint8_t direction, bool dashed) {
  TextCell *c = cell_at(a, column, row);
  if (!c) return;
  c->line |= direction;
  c->solid |= !dashed;
  c->dashed |= dashed;
  c->heavy |= a->heavy;
}

typedef struct {
  int column, row;
} TextPlace;

static void go(Art *a, TextPlace *at, TextPlace to, bool dashed) {
  while (at->column != to.column) {
    int by = to.column > at->column ? 1 : -1;
    add_line_end(a, at->column, at->row, by > 0 ? EAST : WEST, dashed);
    at->column += by;
    add_line_end(a, at->column, at->row, by > 0 ? WEST : EAST, dashed);
  }
  while (at->row != to.row) {
    int by = to.row > at->row ? 1 : -1;
    add_line_end(a, at->column, at->row, by > 0 ? SOUTH : NORTH, dashed);
    at->row += by;
    add_line_end(a, at->column, at->row, by > 0 ? NORTH : SOUTH, dashed);
  }
}

static TextPlace place_of(const Art *a, Point p) {
  return (TextPlace){column_of(a, p.x), row_of(a, p.y)};
}

// Clips a line to the page; false: it is outside.
static bool clip(const Art *a, Point *p, Point *q) {
  double from = 0, to = 1, d[2] = {q->x - p->x, q->y - p->y}, at[2] = {p->x, p->y};
  double most[2] = {a->canvas->width, a->canvas->height};
  for (int i = 0; i < 2; i++) {
    if (d[i] == 0 && (at[i] < 0 || at[i] > most[i])) return false;
    if (d[i] == 0) continue;
    double one = (0 - at[i]) / d[i], two = (most[i] - at[i]) / d[i];
    from = fmax(from, fmin(one, two)), to = fmin(to, fmax(one, two));
  }
  if (from > to) return false;
  *q = (Point){at[0] + to * d[0], at[1] + to * d[1]};
  *p = (Point){at[0] + from * d[0], at[1] + from * d[1]};
  return true;
}

static void draw_line(Art *a, Point p, Point q, bool dashed) {
  if (!clip(a, &p, &q)) return;
  TextPlace at = place_of(a, p);
  int n = 1 + (int)(fmax(fabs(q.x - p.x), fabs(q.y - p.y)) / a->coarse);
  for (int i = 1; i <= n; i++) {
    double t = (double)i / n;
    go(a, &at, place_of(a, (Point){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)}), dashed);
  }
}

static void walk_lines(Art *a, bool closed, bool dashed) {
  for (uint32_t i = 0; i < a->lines.piece.n; i++) {
    const PathPiece *piece = &a->lines.piece.at[i];
    const Point *p = a->lines.point.at + piece->first;
    for (uint32_t k = 1; k < piece->n; k++) draw_line(a, p[k - 1], p[k], dashed);
    if (closed || piece->closed) draw_line(a, p[piece->n - 1], p[0], dashed);
  }
}

// Removes stubs: where a line leaves a cell towards one that a shape has hidden, the line ends;
// `back`: the other direction.
static void remove_stubs(Art *a, bool back) {
  static const struct {
    uint8_t out, in;
    int column, row;
  } ways[] = {{EAST, WEST, 1, 0}, {WEST, EAST, -1, 0}, {SOUTH, NORTH, 0, 1}, {NORTH, SOUTH, 0, -1}};
  for (int row = 0; row < a->rows; row++)
    for (int column = 0; column < a->columns; column++)
      for (uint32_t k = 0; k < COUNT(ways); k++) {
        TextCell *from = cell_at(a, column, row);
        TextCell *to = cell_at(a, column + ways[k].column, row + ways[k].row);
        if (!to || !(from->line & ways[k].out)) continue;
        if (back && to->line) to->line |= ways[k].in;
        if (!back && !to->line && !to->rune) from->line &= (uint8_t)~ways[k].out;
      }
}

// Two lines that cross between two rows are drawn as two cells that look like > <.
static void mark_crossing(Art *a, int column, int row) {
  TextCell *left = cell_at(a, column, row), *right = cell_at(a, column + 1, row);
  for (int up = -1; up <= 1; up += 2) {
    const TextCell *l = cell_at(a, column, row + up), *r = cell_at(a, column + 1, row + up);
    uint8_t beyond = up < 0 ? NORTH : SOUTH;
    if (!l || !r || !(l->line & WEST) || !(r->line & EAST) || (l->line | r->line) & beyond) return;
  }
  if (left->line == (NORTH | EAST | SOUTH) && right->line == (NORTH | WEST | SOUTH))
    left->rune = '>', right->rune = '<';
}

static void mend(Art *a) {
  remove_stubs(a, false);
  remove_stubs(a, true);
  for (int row = 0; row < a->rows; row++)
    for (int column = 0; column + 1 < a->columns; column++) mark_crossing(a, column, row);
}

// -- shapes ---------------------------------------------------------------------------------------
static Area extent_of(const Lines *l) {
  Area b = area_none;
  for (uint32_t i = 0; i < l->point.n; i++) area_add(&b, l->point.at[i].x, l->point.at[i].y);
  return b;
}

static bool contains_point(const Area *b, double x, double y) {
  return x >= b->x0 - 0.1 && x <= b->x1 + 0.1 && y >= b->y0 - 0.1 && y <= b->y1 + 0.1;
}

static bool has_words(const Canvas *c, const Area *b) {
  for (uint32_t i = 0; i < c->mark.n; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind == MARK_TEXT && contains_point(b, m->text.x, m->text.y)) return true;
  }
  return false;
}

static double area_of(const Lines *l) {
  double sum = 0;
  for (uint32_t i = 0; i < l->point.n; i++) {
    Point p = l->point.at[i], q = l->point.at[i + 1 < l->point.n ? i + 1 : 0];
    sum += p.x * q.y - q.x * p.y;
  }
  return fabs(sum) / 2;
}

static bool is_inside(const Lines *l, double x, double y) {
  bool inside = false;
  for (uint32_t i = 0; i < l->piece.n; i++) {
    const Point *p = l->point.at + l->piece.at[i].first;
    uint32_t n = l->piece.at[i].n;
    for (uint32_t k = 0, j = n - 1; k < n; j = k++)
      if ((p[k].y > y) != (p[j].y > y) &&
          x < (p[j].x - p[k].x) * (y - p[k].y) / (p[j].y - p[k].y) + p[k].x)
        inside = !inside;
  }
  return inside;
}

static void hide(Art *a, const Area *b) {
  if (a->lines.point.n > SIDES) return;
  TextPlace from = place_of(a, (Point){fmax(b->x0, 0), fmax(b->y0, 0)});
  TextPlace to =
      place_of(a, (Point){fmin(b->x1, a->canvas->width), fmin(b->y1, a->canvas->height)});
  for (int row = from.row; row <= to.row; row++)
    for (int column = from.column; column <= to.column; column++) {
      TextCell *c = cell_at(a, column, row);
      double x = (column - MARGIN + 0.5) * COLUMN * a->coarse;
      double t = to.row > from.row ? (double)(row - from.row) / (to.row - from.row) : 0.5;
      double y = b->y0 + fmin(fmax(t, 0.05), 0.95) * (b->y1 - b->y0);
      if (c && is_inside(&a->lines, x, y)) *c = (TextCell){0};
    }
}

// The direction of a triangle or arrowhead. The tip of a triangle is opposite to its horizontal or
// vertical edge; that of an arrowhead is farthest from the centre.
static Point tip_of(const Lines *l) {
  const Point *p = l->point.at;
  Point middle = {0, 0};
  for (uint32_t i = 0; i < 3 && l->point.n == 3; i++) {
    Point q = p[(i + 1) % 3], r = p[(i + 2) % 3];
    if (q.x == r.x || q.y == r.y) return p[i];
  }
  for (uint32_t i = 0; i < l->point.n; i++)
    middle.x += p[i].x / l->point.n, middle.y += p[i].y / l->point.n;
  Point tip = middle;
  for (uint32_t i = 0; i < l->point.n; i++)
    if (hypot(p[i].x - middle.x, p[i].y - middle.y) >
        hypot(tip.x - middle.x, tip.y - middle.y) + 0.01)
      tip = p[i];
  return tip;
}

static uint32_t arrow_of(const Lines *l, const Area *b, bool full) {
  static const uint32_t signs[2][4] = {{0x25b7, 0x25c1, 0x25bd, 0x25b3},
                                       {0x25b6, 0x25c0, 0x25bc, 0x25b2}}; // ▷◁▽△ ▶◀▼▲
  Point tip = tip_of(l);
  double x = tip.x - (b->x0 + b->x1) / 2, y = tip.y - (b->y0 + b->y1) / 2;
  return fabs(x) >= fabs(y) ? signs[full][x < 0] : signs[full][2 + (y < 0)];
}

// ◣ ◤ ◥ ◢, by the corner with the right angle; 0: the triangle has none with axis-parallel legs
static uint32_t corner_of(const Lines *l, const Area *b) {
  for (uint32_t i = 0; i < 3; i++) {
    Point p = l->point.at[i], q = l->point.at[(i + 1) % 3], r = l->point.at[(i + 2) % 3];
    bool right = (p.x == q.x && p.y == r.y) || (p.x == r.x && p.y == q.y);
    bool left = p.x == b->x0, top = p.y == b->y0;
    if (right) return left ? (top ? 0x25e4 : 0x25e3) : (top ? 0x25e5 : 0x25e2);
  }
  return 0;
}

static bool is_curved(const Art *a, const Mark *m) {
  const PathStep *s = a->canvas->path.at + m->path.first;
  for (uint32_t i = 0; i < m->path.n; i++)
    if (s[i].kind == STEP_CUBIC) return true;
  return false;
}

// The character for a small shape; 0: it is large enough for an outline
static uint32_t sign_of(const Art *a, const Mark *m, const Area *b) {
  const Lines *l = &a->lines;
  double w = b->x1 - b->x0, h = b->y1 - b->y0, size = fmax(w, h) / a->coarse;
  bool curved = is_curved(a, m), block = area_of(l) >= 0.8 * w * h;
  if (!m->path.paint.fill || l->piece.n != 1 || size > 3 * ROW) return 0;
  if (size <= 12 && !m->path.paint.stroke)
    return curved ? 0x25cf : block || l->point.n > 4 ? 0x25a0 : arrow_of(l, b, true); // ● ■
  if (block || has_words(a->canvas, b)) return 0;
  if (curved) return 0x25cb; // ○
  uint32_t corner = l->point.n == 3 ? corner_of(l, b) : 0;
  return corner ? corner : l->point.n == 3 ? arrow_of(l, b, false) : 0;
}

// A character is smaller than its shape, so lines that end at the shape are extended to it.
static void put_small_shape(Art *a, const Area *b, uint32_t sign) {
  double x = (b->x0 + b->x1) / 2, y = (b->y0 + b->y1) / 2, side[2] = {b->x0, b->x1};
  for (int i = 0; i < 2; i++) {
    const TextCell *c = cell_at(a, column_of(a, side[i]), row_of(a, y));
    if (c && c->line) draw_line(a, (Point){side[i], y}, (Point){x, y}, false);
  }
  put_sign(a, x, y, sign);
}

static void put_bar(Art *a, const Area *b) {
  int last = row_of(a, b->y1 - 1);
  for (int row = row_of(a, b->y0 + 1); row <= last; row++) {
    TextCell *c = cell_at(a, column_of(a, (b->x0 + b->x1) / 2), row);
    if (c) *c = (TextCell){.rune = 0x2503, .line = c->line}; // ┃
  }
}

static void put_rectangle(Art *a, const Area *b, bool dashed) {
  Point p[] = {{b->x0, b->y0}, {b->x1, b->y0}, {b->x1, b->y1}, {b->x0, b->y1}};
  for (int i = 0; i < 4; i++) draw_line(a, p[i], p[(i + 1) % 4], dashed);
}

static void put_area(Art *a, const Mark *m, const Area *b) {
  const Paint *p = &m->path.paint;
  double w = b->x1 - b->x0, h = b->y1 - b->y0;
  uint32_t sign = sign_of(a, m, b);
  if (sign)
    put_small_shape(a, b, sign);
  else if (p->fill && w <= COLUMN * a->coarse && h >= 1.5 * ROW * a->coarse)
    put_bar(a, b);
  else {
    if (p->fill) hide(a, b), a->box = *b, a->boxed = true;
    if (!p->stroke && (p->fill == INK_PAPER || p->fill == INK_PLATE)) return;
    bool block = area_of(&a->lines) >= 0.8 * w * h, triangle = a->lines.point.n == 3;
    if (a->lines.piece.n == 1 && (block || (triangle && has_words(a->canvas, b))))
      put_rectangle(a, b, p->dash[1] > 0);
    else
      walk_lines(a, true, p->dash[1] > 0);
    Point tip = tip_of(&a->lines);
    if (triangle) put_sign(a, tip.x, tip.y, arrow_of(&a->lines, b, false));
  }
}

// Lines inside a filled shape of their group are ornaments and are omitted.
static bool is_ornament(const Art *a, const Area *b) {
  return a->boxed && contains_point(&a->box, b->x0, b->y0) && contains_point(&a->box, b->x1, b->y1);
}

static void put_path(Art *a, const Mark *m) {
  const PathStep *step = a->canvas->path.at + m->path.first;
  const Paint *p = &m->path.paint;
  path_flatten(a->arena, step, m->path.n, NULL, &a->lines);
  Area b = extent_of(&a->lines);
  bool whole = p->fill || (step[m->path.n - 1].kind == STEP_CLOSE && a->lines.piece.n == 1);
  if (p->stroke == INK_GRID || (p->fill && !p->stroke && p->opacity < 0.9)) return;
  if (whole)
    put_area(a, m, &b);
  else if (!is_ornament(a, &b)) {
    a->heavy = p->stroke == INK_ALARM && p->width > 2;
    walk_lines(a, false, p->dash[1] > 0);
    a->heavy = false;
  }
}

static void put_image(Art *a, const Mark *m) {
  static const uint32_t shade[] = {0x2588, 0x2593, 0x2592, 0x2591, ' '};
  const Picture *p = &m->image.picture;
  int row0 = row_of(a, fmax(m->image.y, 0));
  int row1 = row_of(a, fmin(m->image.y + m->image.h, a->canvas->height));
  int column0 = column_of(a, fmax(m->image.x, 0));
  int column1 = column_of(a, fmin(m->image.x + m->image.w, a->canvas->width));
  for (int row = row0; row < row1; row++)
    for (int column = column0; column < column1; column++) {
      uint32_t x = (uint32_t)((column - column0 + 0.5) / (column1 - column0) * p->width);
      uint32_t y = (uint32_t)((row - row0 + 0.5) / (row1 - row0) * p->height), sum = 0;
      const uint8_t *at = p->at + ((size_t)y * p->width + x) * p->channels;
      for (uint32_t k = 0; k < p->channels; k++) sum += at[k];
      TextCell *c = cell_at(a, column, row);
      if (c) *c = (TextCell){.rune = shade[sum * 5 / (256 * p->channels)]};
    }
}

static void put_marks(Art *a) {
  for (uint32_t i = 0; i < a->canvas->mark.n; i++) {
    const Mark *m = &a->canvas->mark.at[i];
    if (is_sign(m)) i = past_group(a->canvas, i);
    if (m->kind == MARK_PATH) put_path(a, m);
    if (m->kind == MARK_IMAGE) put_image(a, m);
    if (m->kind == MARK_OPEN || m->kind == MARK_CLOSE) a->boxed = false;
  }
}

// -- words ----------------------------------------------------------------------------------------
typedef struct {
  double x0, base, x1, y, size; // base: end of the text on the baseline, without scripts
  bool upright;                 // rotated by about 90 degrees
  Anchor anchor;                // which end is kept, as widths differ here
  VEC(uint32_t) rune;
  bool boxed; // inside a filled shape of its group:
  Area box;
} Phrase;
typedef VEC(Phrase) Phrases;

// A wide character is followed by 0, which is not printed.
static void phrase_add(Art *a, Phrase *p, const char *words, WordHeight h) {
  Buf ascii = buf_new(a->arena);
  bool fits = h != ON_LINE && !a->ascii;
  for (const char *at = words; *at;) {
    uint32_t rune = rune_next(&at);
    if (a->ascii && rune && !rune_combines(rune)) sign_ascii(&ascii, rune);
    fits = fits && (!rune || rune_small(rune, h));
  }
  if (h != ON_LINE && !fits) vec_push(a->arena, &p->rune, h == ABOVE ? '^' : '_');
  const char *rest = !a->ascii ? words : ascii.n ? ascii.at : "";
  for (uint32_t rune; (rune = rune_next(&rest));) {
    if (rune_combines(rune)) continue;
    vec_push(a->arena, &p->rune, fits ? rune_small(rune, h) : rune);
    if (rune_is_wide(rune)) vec_push(a->arena, &p->rune, 0);
  }
}

// Math labels are set letter by letter and have no anchor: they are centred.
static Phrase phrase_new(Art *a, const Mark *m, bool centred) {
  const Text *how = &m->text.how;
  double width = text_width(how->face, how->size, m->text.words), c, s;
  angle_parts(how->angle, &c, &s);
  Phrase p = {.size = how->size, .upright = fabs(s) > 0.7, .anchor = how->anchor};
  bool few = how->anchor == ANCHOR_START && strlen(m->text.words) < 8;
  if (centred || few || how->face > FACE_SANS_BOLD) p.anchor = ANCHOR_MIDDLE;
  p.x0 = m->text.x + m->text.start, p.base = p.x1 = p.x0 + width, p.y = m->text.y;
  if (p.upright) p.x0 = p.base = p.x1 = m->text.x, p.y += s * (m->text.start + width / 2);
  phrase_add(a, &p, m->text.words, ON_LINE);
  return p;
}

// Does the text continue the phrase, perhaps smaller or as a script?
static bool phrase_joins(Art *a, Phrase *p, const Mark *m) {
  double x = m->text.x + m->text.start, near = 2.5;
  if (p->upright || m->text.how.angle != 0 || fabs(m->text.y - p->y) > 0.6 * p->size) return false;
  if (fabs(x - p->x1) > near && fabs(x - p->base) > near) return false;
  WordHeight h = m->text.y < p->y - 1 ? ABOVE : m->text.y > p->y + 1 ? BELOW : ON_LINE;
  phrase_add(a, p, m->text.words, h);
  p->anchor = ANCHOR_MIDDLE;
  p->x1 = fmax(p->x1, x + text_width(m->text.how.face, m->text.how.size, m->text.words));
  if (h == ON_LINE) p->base = p->x1;
  return true;
}

static TextCell *letter_cell(Art *a, const Phrase *p, TextPlace at, int i) {
  return p->upright ? cell_at(a, at.column, at.row + i) : cell_at(a, at.column + i, at.row);
}

// The cost of placing words here: hidden lines and near words. Negative: impossible.
static int cost_at(Art *a, const Phrase *p, TextPlace at) {
  int n = (int)p->rune.n, cost = 0;
  for (int i = -1; i <= n; i++) {
    const TextCell *c = letter_cell(a, p, at, i);
    bool end = i < 0 || i == n;
    if (!c && !end) return -1;
    if (!c) continue;
    if (c->word && !end) return -1;
    cost += c->word ? 6 : end ? 0 : c->rune && c->rune != ' ' ? 4 : c->line ? 2 : 0;
  }
  return cost;
}

// The position of the first letter, ignoring boxes
static TextPlace phrase_alone(const Art *a, const Phrase *p) {
  int n = (int)p->rune.n;
  if (p->upright) return (TextPlace){column_of(a, p->x0), row_of(a, p->y) - n / 2};
  int row = row_of(a, p->y - p->size / 3);
  switch (p->anchor) {
  case ANCHOR_START: return (TextPlace){column_of(a, p->x0), row};
  case ANCHOR_END: return (TextPlace){column_of(a, p->x1) - n, row};
  case ANCHOR_MIDDLE: break;
  }
  return (TextPlace){column_of(a, (p->x0 + p->x1) / 2) - n / 2, row};
}

// Inside its box, as far as possible
static TextPlace phrase_place(const Art *a, const Phrase *p) {
  TextPlace at = phrase_alone(a, p);
  if (!p->boxed) return at;
  int first = column_of(a, p->box.x0) + 1, last = column_of(a, p->box.x1) - (int)p->rune.n;
  if (at.column > last) at.column = last;
  if (at.column < first) at.column = first;
  return at;
}

static void phrase_put(Art *a, const Phrase *p) {
  enum { UP = 3, ASIDE = 12 };
  int n = (int)p->rune.n, best = INT32_MAX;
  TextPlace from = phrase_place(a, p), at = from;
  from.column = (int)fmax(0, fmin(from.column, a->columns - (p->upright ? 1 : n)));
  from.row = (int)fmax(0, fmin(from.row, a->rows - (p->upright ? n : 1)));
  for (int up = -UP; up <= UP; up++)
    for (int aside = -ASIDE; aside <= ASIDE; aside++) {
      TextPlace to = {from.column + aside, from.row + up};
      int cost = cost_at(a, p, to), way = 5 * abs(up) + 2 * abs(aside);
      if (cost >= 0 && cost + way < best) best = cost + way, at = to;
    }
  if (best == INT32_MAX) return;
  for (int i = 0; i < n; i++) {
    *letter_cell(a, p, at, i) = (TextCell){.word = true, .rune = p->rune.at[i]};
  }
}

// A character sign, at the centre of its group
static Phrase phrase_sign(Art *a, uint32_t from, uint32_t end) {
  const Canvas *c = a->canvas;
  Area all = area_none;
  for (uint32_t i = from; i < end; i++) {
    const Mark *m = &c->mark.at[i];
    if (m->kind != MARK_PATH) continue;
    path_flatten(a->arena, c->path.at + m->path.first, m->path.n, NULL, &a->lines);
    Area b = extent_of(&a->lines);
    area_add(&all, b.x0, b.y0), area_add(&all, b.x1, b.y1);
  }
  Phrase p = {.x0 = all.x0, .base = all.x1, .x1 = all.x1, .y = (all.y0 + all.y1) / 2};
  p.anchor = ANCHOR_MIDDLE;
  phrase_add(a, &p, c->mark.at[from].group.words, ON_LINE);
  return p;
}

// The first filled shape of a group contains its words.
static void note_filled_shape(Art *a, const Mark *m) {
  const Paint *p = &m->path.paint;
  if (m->kind == MARK_OPEN || m->kind == MARK_CLOSE) a->boxed = false;
  if (m->kind != MARK_PATH || !p->fill || !p->stroke || a->boxed) return;
  path_flatten(a->arena, a->canvas->path.at + m->path.first, m->path.n, NULL, &a->lines);
  a->box = extent_of(&a->lines), a->boxed = true;
}

static void find_phrases(Art *a, Phrases *out) {
  bool after = false, inside = false; // after words; inside a glyph
  for (uint32_t i = 0; i < a->canvas->mark.n; i++) {
    const Mark *m = &a->canvas->mark.at[i];
    bool words = m->kind == MARK_TEXT;
    if (is_sign(m)) {
      uint32_t end = past_group(a->canvas, i);
      Phrase p = phrase_sign(a, i, end);
      vec_push(a->arena, out, p);
      i = end;
    }
    note_filled_shape(a, m);
    if (words && !(after && phrase_joins(a, &out->at[out->n - 1], m))) {
      Phrase p = phrase_new(a, m, inside);
      p.boxed = inside && a->boxed && !p.upright, p.box = a->box;
      vec_push(a->arena, out, p);
    }
    if (m->kind == MARK_OPEN || m->kind == MARK_CLOSE)
      inside = m->kind == MARK_OPEN && !strcmp(m->group.class, "glyph");
    after = words;
  }
}

static void widen_boxes(Art *a, const Phrases *phrases) {
  BoxedWords *words = NEW_ARRAY(a->arena, BoxedWords, phrases->n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < phrases->n; i++) {
    const Phrase *p = &phrases->at[i];
    if (p->boxed && contains_point(&p->box, (p->x0 + p->x1) / 2, p->y))
      words[n++] = (BoxedWords){p->box, p->y, (int)p->rune.n};
  }
  a->wide.column = COLUMN * a->coarse;
  if (n) columns_widen(a->arena, &a->wide, a->canvas->width, words, n);
}

// -- lines of text --------------------------------------------------------------------------------
static uint32_t sign_shown(uint32_t rune) {
  if (rune < 0x7f) return rune;
  static const struct {
    uint32_t rune;
    char ascii;
  } rows[] = {{0x2503, '#'}, {0x2588, '@'}, {0x2591, '.'}, {0x2592, '+'},
              {0x2593, '#'}, {0x25a0, '#'}, {0x25b2, '^'}, {0x25b3, '^'},
              {0x25b6, '>'}, {0x25b7, '>'}, {0x25bc, 'v'}, {0x25bd, 'v'},
              {0x25c0, '<'}, {0x25c1, '<'}, {0x25cb, 'O'}, {0x25cf, 'o'}};
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (rows[i].rune == rune) return (uint32_t)rows[i].ascii;
  return '%';
}

static uint32_t shown(const Art *a, const TextCell *c) {
  static const uint32_t lines[] = {' ',    0x2502, 0x2500, 0x2570, 0x2502, 0x2502, 0x256d, 0x251c,
                                   0x2500, 0x256f, 0x2500, 0x2534, 0x256e, 0x2524, 0x252c, 0x253c};
  bool level = c->line && !(c->line & ~(EAST | WEST)), upright = !(c->line & ~(NORTH | SOUTH));
  if (c->word) return c->rune;
  if (c->rune) return a->ascii ? sign_shown(c->rune) : c->rune;
  if (!c->line) return ' ';
  if (c->heavy && level) return a->ascii ? '=' : 0x2501;                 // ━
  if (c->heavy && upright) return a->ascii ? '"' : 0x2503;               // ┃
  if (c->dashed && !c->solid && level) return a->ascii ? '.' : 0x254c;   // ╌
  if (c->dashed && !c->solid && upright) return a->ascii ? ':' : 0x254e; // ╎
  if (a->ascii) return level ? '-' : upright ? '|' : '+';
  return lines[c->line];
}

static bool is_blank(Art *a, int column, int row) {
  return shown(a, cell_at(a, column, row)) == ' ';
}

// The bounding box of non-empty cells
static bool used_part(Art *a, TextPlace *from, TextPlace *to) {
  *from = (TextPlace){a->columns, a->rows}, *to = (TextPlace){-1, -1};
  for (int row = 0; row < a->rows; row++)
    for (int column = 0; column < a->columns; column++) {
      if (is_blank(a, column, row)) continue;
      if (column < from->column) from->column = column;
      if (row < from->row) from->row = row;
      to->row = row;
    }
  return to->row >= 0;
}

static void put_rows(Art *a, Buf *out) {
  TextPlace from, to;
  if (!used_part(a, &from, &to)) return;
  for (int row = from.row; row <= to.row; row++) {
    int end = a->columns;
    while (end > from.column && is_blank(a, end - 1, row)) end--;
    for (int column = from.column; column < end; column++) {
      uint32_t rune = shown(a, cell_at(a, column, row));
      if (rune) rune_put(out, rune);
    }
    buf_char(out, '\n');
  }
}

void canvas_art(Canvas *c, const Look *look, Buf *out) {
  Arena *scratch = arena_child(c->arena);
  Art a = {.arena = scratch, .canvas = c, .ascii = look->ascii};
  Phrases phrases = {0};
  a.coarse = fmax(1, fmax(c->width / COLUMN / COLUMNS, c->height / ROW / ROWS));
  find_phrases(&a, &phrases);
  widen_boxes(&a, &phrases);
  make_grid(&a);
  put_marks(&a);
  mend(&a);
  for (uint32_t i = 0; i < phrases.n; i++) phrase_put(&a, &phrases.at[i]);
  put_rows(&a, out);
  arena_free(scratch);
}
