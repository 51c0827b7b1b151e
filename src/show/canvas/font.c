// Fonts: character widths and outlines.
//
// glyphs.inc has the characters of each face, sorted; missing ones are taken from FACE_MATH,
// FACE_SERIF or FACE_SANS in this order, and otherwise drawn as a box. An outline is a string: a
// letter for each step, followed by coordinate differences in 1/1000 em, y upwards:
//
//   m dx dy        a new contour; the one before closes
//   l dx dy, h dx, v dy
//   c ax ay bx by x y      each from the point before
//   i ax bx by y, j ay bx by x     a curve that begins level and ends upright, and the converse
//
// A number is one digit below 50 (minus 25), or two: (first − 50) × 90 + second − 1800. Digits are
// the printable characters from # on, without ? and \.
#include "show/canvas/marks.h"

#include <stdlib.h>

typedef struct {
  const FontGlyph *at;
  uint32_t n;
  const char *kern; // kerning of ASCII pairs, sorted: left, right, 45 + a quarter of the distance
  uint32_t kerns;
  uint16_t ascent, descent; // of letters and digits
} Letters;

#include "show/canvas/glyphs.inc"

static bool is_control(uint32_t rune) {
  return rune < 0x20 || (rune >= 0x7f && rune < 0xa0) || rune == 0xfffe || rune == 0xffff ||
         (rune >= 0x200b && rune <= 0x200f) || rune == 0x2060 || rune == 0xfeff;
}

// Decodes one valid character of `n` bytes.
static uint32_t rune_value(const char *at, size_t n) {
  uint32_t lead = (unsigned char)at[0], rune = n == 1 ? lead : lead & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) rune = rune << 6 | ((unsigned char)at[i] & 0x3f);
  return rune;
}

uint32_t rune_next(const char **utf8) {
  while (**utf8) {
    size_t left = 1;
    while (left < 4 && (*utf8)[left]) left++;
    size_t n = character_length(*utf8, left);
    uint32_t rune = n ? rune_value(*utf8, n) : RUNE_UNKNOWN;
    *utf8 += n ? n : 1;
    if (rune == '\n' || rune == '\t') return ' ';
    if (!is_control(rune)) return rune;
  }
  return 0;
}

void rune_put(Buf *b, uint32_t rune) {
  static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  uint32_t n = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
  buf_char(b, (char)(lead[n] | rune >> 6 * (n - 1)));
  for (uint32_t i = n - 1; i-- > 0;) buf_char(b, (char)(0x80 | (rune >> 6 * i & 0x3f)));
}

// Compares table rows by their leading character.
int by_rune(const void *one, const void *two) {
  uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)two;
  return (a > b) - (a < b);
}

static const FontGlyph *glyph_in(Face face, uint32_t rune) {
  return bsearch(&rune, letters[face].at, letters[face].n, sizeof(FontGlyph), by_rune);
}

// Maps the mathematical alphanumeric symbols of Unicode to a letter and a face.
static uint32_t plain_letter(uint32_t rune, Face *face) {
  static const struct {
    uint32_t first, count, plain;
    Face face;
  } rows[] = {
      {0x1d400, 26, 'A', FACE_BOLD},     {0x1d41a, 26, 'a', FACE_BOLD},
      {0x1d434, 26, 'A', FACE_ITALIC},   {0x1d44e, 26, 'a', FACE_ITALIC},
      {0x1d6a8, 25, 0x391, FACE_BOLD},   {0x1d6c2, 25, 0x3b1, FACE_BOLD},
      {0x1d6e2, 25, 0x391, FACE_ITALIC}, {0x1d6fc, 25, 0x3b1, FACE_ITALIC},
      {0x210e, 1, 'h', FACE_ITALIC},
  };
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (rune - rows[i].first < rows[i].count) {
      *face = rows[i].face;
      return rows[i].plain + rune - rows[i].first;
    }
  return rune;
}

FoundGlyph glyph_find(Face face, uint32_t rune) {
  rune = plain_letter(rune, &face);
  const Face turn[] = {face, FACE_MATH, FACE_SERIF, FACE_SANS};
  for (uint32_t i = 0; i < COUNT(turn); i++) {
    const FontGlyph *g = glyph_in(turn[i], rune);
    if (g) return (FoundGlyph){turn[i], g};
  }
  return (FoundGlyph){FACE_SANS, glyph_in(FACE_SANS, RUNE_UNKNOWN)};
}

static int digit(const char **at) {
  int c = *(*at)++;
  return c - 35 - (c > '?') - (c > '\\');
}

static int number(const char **at) {
  int d = digit(at);
  return d < 50 ? d - 25 : (d - 50) * 90 + digit(at) - 1800;
}

// Reads the numbers of a step into six differences; absent ones are 0.
static void step_read(char kind, const char **at, int d[6]) {
  static const struct {
    char kind;
    uint8_t n, place[6];
  } rows[] = {{'m', 2, {4, 5}},
              {'l', 2, {4, 5}},
              {'h', 1, {4}},
              {'v', 1, {5}},
              {'i', 4, {0, 2, 3, 5}},
              {'j', 4, {1, 2, 3, 4}},
              {'c', 6, {0, 1, 2, 3, 4, 5}}};
  memset(d, 0, 6 * sizeof *d);
  for (uint32_t r = 0; r < COUNT(rows); r++)
    if (rows[r].kind == kind)
      for (uint32_t i = 0; i < rows[r].n; i++) d[rows[r].place[i]] = number(at);
}

void glyph_path(Arena *a, const FontGlyph *g, Path *path) {
  int x = 0, y = 0, x0 = 0, y0 = 0, d[6];
  path->n = 0;
  for (const char *at = g->outline; *at;) {
    char kind = *at++;
    step_read(kind, &at, d);
    if (kind == 'm' && path->n) vec_push(a, path, (PathStep){.kind = STEP_CLOSE, .x = x0, .y = y0});
    int ax = x + d[0], ay = y + d[1], bx = ax + d[2], by = ay + d[3];
    x = bx + d[4], y = by + d[5];
    if (kind == 'm') x0 = x, y0 = y;
    StepKind step = kind == 'm' ? STEP_MOVE : strchr("cij", kind) ? STEP_CUBIC : STEP_LINE;
    vec_push(a, path, (PathStep){step, x, y, ax, ay, bx, by});
  }
  if (path->n) vec_push(a, path, (PathStep){.kind = STEP_CLOSE, .x = x0, .y = y0});
}

static int by_pair(const void *one, const void *two) { return memcmp(one, two, 2); }

// The kerning between two letters, in 1/1000 em
static int kern_of(FoundGlyph left, FoundGlyph right) {
  if (!left.glyph || left.face != right.face) return 0;
  if (left.glyph->code > '~' || right.glyph->code > '~') return 0;
  const Letters *l = &letters[right.face];
  const char want[2] = {(char)left.glyph->code, (char)right.glyph->code};
  const char *pair = bsearch(want, l->kern, l->kerns, 3, by_pair);
  if (!pair) return 0;
  pair += 2;
  return 4 * (digit(&pair) - 45);
}

bool run_next(GlyphRun *r) {
  uint32_t rune = rune_next(&r->rest);
  if (!rune) return false;
  FoundGlyph f = glyph_find(r->face, rune);
  r->kern = kern_of(r->found, f);
  r->x = r->end + r->kern;
  r->end = r->x + f.glyph->advance;
  r->found = f;
  return true;
}

double text_width(Face face, double size, const char *utf8) {
  GlyphRun run = {.face = face, .rest = utf8};
  while (run_next(&run)) continue;
  return (double)run.end * size / EM;
}

double text_ascent(Face face, double size) { return letters[face].ascent * size / EM; }
double text_descent(Face face, double size) { return letters[face].descent * size / EM; }
