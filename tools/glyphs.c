// glyphs: writes src/show/canvas/glyphs.inc, the outlines of the faces that pictures are set in.
//
// In comes a folder with the TeX Gyre fonts (OpenType, read by FreeType, unscaled), out comes C:
// for each face a sorted table of characters with their advances and outlines, in 1/1000 em, y
// upwards. An outline is one printable string: a letter for each step, and differences of
// coordinates, as src/show/canvas/font.c reads them. What a font lacks is made here: digits above and
// below the line from its digits, a star, a box for what is unknown.
//
//   make glyphs
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include FT_TRUETYPE_TABLES_H
#include FT_TRUETYPE_TAGS_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Which characters: ranges, and a text of single ones
typedef struct {
  uint32_t first, last;
} Range;
static const Range letters[] = {{0x20, 0x7e}, {0xa0, 0xff}, {0x391, 0x3a9}, {0x3b1, 0x3c9}, {0, 0}};
static const Range europe[] = {{0x20, 0x7e}, {0xa0, 0x17f}, {0x391, 0x3a9}, {0x3b1, 0x3c9}, {0, 0}};
static const Range script[] = {{0x1d49c, 0x1d4b5}, {0x1d538, 0x1d550}, {0, 0}};
static const char signs[] = "ϑϕϵ–—‘’‚“”„†‡•…‰€∂∆∇∏∑−√∞≈≠≤≥";
static const char math[] = "‖′″‴ℂℋℌℍℏℐℑℒℓℕℙℚℛℜℝℤℬℰℱℳℵ←↑→↓↔↕↖↗↘↙↞↠↣↦↩↪↺↻↼↽↾↿⇀⇁⇋⇌⇐⇑⇒⇓⇔⇕∀∃∅∈∉∋"
                           "∐∓∖∗∘∙∝∠∣∥∧∨∩∪∫∼≃≅≔≜≝≡≪≫≺≻⊂⊃⊆⊇⊓⊔⊕⊖⊗⊘⊙⊢⊣⊤⊥⊨⊸⋀⋁⋂⋃⋄⋅⋆⋈⋮⋯⋰⋱⌈⌉⌊⌋■□▲△▶"
                           "▷▼▽◀◁◊○●✓⟦⟧⟨⟩⟵⟶⟷⟸⟼⨁⨂"
                           "𝟙";

static const struct {
  const char *name, *file;
  const Range *range;
  const char *signs;
} faces[] = {
    {"sans", "tex-gyre/texgyreheros-regular.otf", europe, signs},
    {"sans_bold", "tex-gyre/texgyreheros-bold.otf", letters, signs},
    {"serif", "tex-gyre/texgyrepagella-regular.otf", letters, signs},
    {"italic", "tex-gyre/texgyrepagella-italic.otf", letters, signs},
    {"bold", "tex-gyre/texgyrepagella-bold.otf", letters, signs},
    {"math", "tex-gyre-math/texgyrepagella-math.otf", script, math},
};
enum { FACES = sizeof faces / sizeof faces[0] };

// Above and below the line: the character, and what it is made of
static const struct {
  uint32_t code, from;
  bool below;
} small[] = {
    {0x2070, '0', false}, {0xb9, '1', false},   {0xb2, '2', false},   {0xb3, '3', false},
    {0x2074, '4', false}, {0x2075, '5', false}, {0x2076, '6', false}, {0x2077, '7', false},
    {0x2078, '8', false}, {0x2079, '9', false}, {0x207a, '+', false}, {0x207b, 0x2212, false},
    {0x207d, '(', false}, {0x207e, ')', false}, {0x207f, 'n', false}, {0x1d40, 'T', false},
    {0x2080, '0', true},  {0x2081, '1', true},  {0x2082, '2', true},  {0x2083, '3', true},
    {0x2084, '4', true},  {0x2085, '5', true},  {0x2086, '6', true},  {0x2087, '7', true},
    {0x2088, '8', true},  {0x2089, '9', true},  {0x208a, '+', true},  {0x208b, 0x2212, true},
    {0x1d62, 'i', true},  {0x2c7c, 'j', true},  {0x2096, 'k', true},  {0x2098, 'm', true},
    {0x2099, 'n', true},  {0x209c, 't', true},  {0x2093, 'x', true},
};
enum { SMALL = sizeof small / sizeof small[0], SMALL_PERCENT = 64, ABOVE = 340, BELOW = -150 };

typedef struct {
  char text[1 << 14];
  size_t n;
  long x, y;          // the pen
  long x0, y0;        // where the contour began
  long percent, rise; // how the outline is made smaller and lifted
} Outline;

static void fail(const char *what, const char *which) {
  fprintf(stderr, "glyphs: %s %s\n", what, which);
  exit(1);
}

static void put(Outline *o, char c) {
  if (o->n + 1 >= sizeof o->text) fail("an outline is too long", "");
  o->text[o->n++] = c;
  o->text[o->n] = 0;
}

// 90 printable digits: no quote, no backslash, and no question mark, since C has trigraphs.
static void put_digit(Outline *o, long d) {
  int c = 35 + (int)d;
  if (c >= '?') c++;
  if (c >= '\\') c++;
  put(o, (char)c);
}

// −25 … 24 in one digit, −1800 … 1799 in two
static void put_number(Outline *o, long v) {
  if (v >= -25 && v < 25) {
    put_digit(o, v + 25);
    return;
  }
  if (v < -1800 || v >= 1800) fail("a step is too long", "");
  put_digit(o, 50 + (v + 1800) / 90);
  put_digit(o, (v + 1800) % 90);
}

static long fit(const Outline *o, long v, bool up) {
  return lround((double)v * (double)o->percent / 100) + (up ? o->rise : 0);
}

static void line_to(Outline *o, long x, long y) {
  if (x == o->x && y == o->y) return;
  if (y == o->y) {
    put(o, 'h'), put_number(o, x - o->x);
  } else if (x == o->x) {
    put(o, 'v'), put_number(o, y - o->y);
  } else {
    put(o, 'l'), put_number(o, x - o->x), put_number(o, y - o->y);
  }
  o->x = x, o->y = y;
}

static void move_to(Outline *o, long x, long y) {
  put(o, 'm'), put_number(o, x - o->x), put_number(o, y - o->y);
  o->x = o->x0 = x, o->y = o->y0 = y;
}

// A curve that begins level and ends upright (i), the other way round (j), or any (c)
static void cubic_to(Outline *o, long ax, long ay, long bx, long by, long x, long y) {
  long a[2] = {ax - o->x, ay - o->y}, b[2] = {bx - ax, by - ay}, c[2] = {x - bx, y - by};
  if (a[1] == 0 && c[0] == 0) {
    put(o, 'i'), put_number(o, a[0]), put_number(o, b[0]), put_number(o, b[1]);
    put_number(o, c[1]);
  } else if (a[0] == 0 && c[1] == 0) {
    put(o, 'j'), put_number(o, a[1]), put_number(o, b[0]), put_number(o, b[1]);
    put_number(o, c[0]);
  } else {
    put(o, 'c'), put_number(o, a[0]), put_number(o, a[1]), put_number(o, b[0]);
    put_number(o, b[1]), put_number(o, c[0]), put_number(o, c[1]);
  }
  o->x = x, o->y = y;
}

static int on_move(const FT_Vector *to, void *out) {
  Outline *o = out;
  move_to(o, fit(o, to->x, false), fit(o, to->y, true));
  return 0;
}

static int on_line(const FT_Vector *to, void *out) {
  Outline *o = out;
  long x = fit(o, to->x, false), y = fit(o, to->y, true);
  if (x != o->x0 || y != o->y0) line_to(o, x, y); // otherwise closing draws it
  return 0;
}

static int on_conic(const FT_Vector *by, const FT_Vector *to, void *out) {
  (void)by, (void)to, (void)out;
  fail("a font has conic curves", "");
  return 1;
}

static int on_cubic(const FT_Vector *a, const FT_Vector *b, const FT_Vector *to, void *out) {
  Outline *o = out;
  cubic_to(o, fit(o, a->x, false), fit(o, a->y, true), fit(o, b->x, false), fit(o, b->y, true),
           fit(o, to->x, false), fit(o, to->y, true));
  return 0;
}

static void write_glyph(uint32_t code, long advance, const Outline *o) {
  printf("    {0x%x, %ld, \"%s\"},\n", (unsigned)code, advance, o->text);
}

static void write_found(FT_Face face, uint32_t code, uint32_t from, long percent, long rise) {
  static const FT_Outline_Funcs steps = {on_move, on_line, on_conic, on_cubic, 0, 0};
  Outline *o = calloc(1, sizeof *o);
  if (!o) fail("out of memory", "");
  o->percent = percent, o->rise = rise;
  if (FT_Load_Char(face, from, FT_LOAD_NO_SCALE)) fail("a glyph cannot be read", "");
  if (FT_Outline_Decompose(&face->glyph->outline, &steps, o)) fail("an outline is broken", "");
  write_glyph(code, fit(o, face->glyph->metrics.horiAdvance, false), o);
  free(o);
}

static bool is_small(uint32_t code, uint32_t *from, bool *below) {
  for (int i = 0; i < SMALL; i++)
    if (small[i].code == code) return *from = small[i].from, *below = small[i].below, true;
  return false;
}

static bool wanted(int face, uint32_t code) {
  for (const Range *r = faces[face].range; r->first; r++)
    if (code >= r->first && code <= r->last) return true;
  const unsigned char *at = (const unsigned char *)faces[face].signs;
  while (*at) { // UTF-8
    int n = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    uint32_t rune = *at++ & (0x7fu >> n);
    for (int i = 1; i < n; i++) rune = rune << 6 | (*at++ & 0x3f);
    if (rune == code) return true;
  }
  return false;
}

static void write_star(void) {
  Outline *o = calloc(1, sizeof *o);
  if (!o) fail("out of memory", "");
  const double pi = 3.14159265358979323846;
  for (int i = 0; i < 10; i++) {
    double r = i % 2 ? 382 * 0.42 : 382, turn = pi / 2 - pi * i / 5;
    long x = lround(400 + r * cos(turn)), y = lround(330 + r * sin(turn));
    if (i)
      line_to(o, x, y);
    else
      move_to(o, x, y);
  }
  write_glyph(0x2605, 800, o);
  free(o);
}

// Half an em wide, with a wall of 40
static void write_box(void) {
  Outline *o = calloc(1, sizeof *o);
  if (!o) fail("out of memory", "");
  move_to(o, 50, 0), line_to(o, 50, 700), line_to(o, 450, 700), line_to(o, 450, 0);
  move_to(o, 90, 40), line_to(o, 410, 40), line_to(o, 410, 660), line_to(o, 90, 660);
  write_glyph(0xfffd, 500, o);
  free(o);
}

static void write_one(FT_Face face, int i, uint32_t code) {
  uint32_t from;
  bool below, is_math = i == FACES - 1;
  if (code == 0x2605 && is_math)
    write_star();
  else if (code == 0xfffd && i == 0)
    write_box();
  else if (code == 0x2009 || code == 0x202f) { // thin spaces
    if (is_math) printf("    {0x%x, 200, \"\"},\n", (unsigned)code);
  } else if (!is_math && is_small(code, &from, &below))
    write_found(face, code, from, SMALL_PERCENT, below ? BELOW : ABOVE);
  else if (wanted(i, code) && FT_Get_Char_Index(face, code))
    write_found(face, code, code, 100, 0);
}

// The highest and the lowest point of letters and digits
static void reach(FT_Face face, long *up, long *down) {
  *up = *down = 0;
  for (uint32_t c = '0'; c <= 'z'; c++) {
    if ((c > '9' && c < 'A') || (c > 'Z' && c < 'a')) continue;
    if (FT_Load_Char(face, c, FT_LOAD_NO_SCALE)) fail("a letter is missing in", face->family_name);
    long top = face->glyph->metrics.horiBearingY, low = top - face->glyph->metrics.height;
    if (top > *up) *up = top;
    if (low < *down) *down = low;
  }
}

// The table GPOS. Offsets are from the start of the table they stand in; whatever lies beyond the
// end reads as 0.
typedef struct {
  FT_Byte *at;
  FT_ULong n;
} Gpos;

static unsigned u16(const Gpos *g, size_t at) {
  return at + 2 <= g->n ? (unsigned)(g->at[at] << 8 | g->at[at + 1]) : 0;
}

static size_t u32(const Gpos *g, size_t at) { return (size_t)u16(g, at) << 16 | u16(g, at + 2); }

static Gpos gpos_load(FT_Face face) {
  Gpos g = {NULL, 0};
  if (FT_Load_Sfnt_Table(face, TTAG_GPOS, 0, NULL, &g.n)) return g;
  g.at = malloc(g.n);
  if (!g.at || FT_Load_Sfnt_Table(face, TTAG_GPOS, 0, g.at, &g.n))
    fail("no GPOS in", face->family_name);
  return g;
}

// The place of a glyph in a coverage table, or −1
static long covered(const Gpos *g, size_t at, unsigned glyph) {
  unsigned n = u16(g, at + 2);
  for (unsigned i = 0; i < n; i++) {
    if (u16(g, at) == 1) {
      if (u16(g, at + 4 + 2 * i) == glyph) return (long)i;
    } else {
      size_t range = at + 4 + 6 * i;
      unsigned first = u16(g, range);
      if (glyph >= first && glyph <= u16(g, range + 2))
        return (long)(u16(g, range + 4) + glyph - first);
    }
  }
  return -1;
}

static unsigned class_of(const Gpos *g, size_t at, unsigned glyph) {
  if (u16(g, at) == 1) {
    unsigned first = u16(g, at + 2);
    return glyph >= first && glyph - first < u16(g, at + 4) ? u16(g, at + 6 + 2 * (glyph - first))
                                                            : 0;
  }
  for (unsigned i = 0; i < u16(g, at + 2); i++) {
    size_t range = at + 4 + 6 * i;
    if (glyph >= u16(g, range) && glyph <= u16(g, range + 2)) return u16(g, range + 4);
  }
  return 0;
}

static size_t value_size(unsigned format) {
  size_t n = 0;
  for (; format; format &= format - 1) n += 2;
  return n;
}

// Whether a subtable of pairs knows this one; *kern is what it says about the advance.
static bool pair_find(const Gpos *g, size_t at, unsigned left, unsigned right, int *kern) {
  unsigned f1 = u16(g, at + 4), f2 = u16(g, at + 6);
  size_t advance = value_size(f1 & 3), size = value_size(f1) + value_size(f2), value = 0;
  long place = covered(g, at + u16(g, at + 2), left);
  if (place < 0 || !(f1 & 4)) return false;
  if (u16(g, at) == 1) {
    size_t set = at + u16(g, at + 10 + 2 * (size_t)place);
    for (unsigned i = 0; i < u16(g, set) && !value; i++)
      if (u16(g, set + 2 + i * (2 + size)) == right) value = set + 4 + i * (2 + size);
    if (!value) return false;
  } else {
    unsigned c1 = class_of(g, at + u16(g, at + 8), left);
    unsigned c2 = class_of(g, at + u16(g, at + 10), right);
    value = at + 16 + (c1 * u16(g, at + 14) + c2) * size;
  }
  *kern = (int16_t)u16(g, value + advance);
  return true;
}

static int lookup_kern(const Gpos *g, size_t lookup, unsigned left, unsigned right) {
  int kern = 0;
  for (unsigned i = 0; i < u16(g, lookup + 4); i++) {
    size_t at = lookup + u16(g, lookup + 6 + 2 * i);
    unsigned kind = u16(g, lookup);
    if (kind == 9) kind = u16(g, at + 2), at += u32(g, at + 4); // further away
    if (kind == 2 && pair_find(g, at, left, right, &kern)) return kern;
  }
  return 0;
}

// The features of the Latin script in no special language
static size_t latin(const Gpos *g) {
  size_t list = u16(g, 4), found = 0;
  for (unsigned i = 0; i < u16(g, list); i++) {
    size_t record = list + 2 + 6 * i, tag = u32(g, record);
    if (tag == FT_MAKE_TAG('l', 'a', 't', 'n') ||
        (!found && tag == FT_MAKE_TAG('D', 'F', 'L', 'T')))
      found = list + u16(g, record + 4);
  }
  return found + u16(g, found);
}

static int pair_kern(const Gpos *g, size_t language, unsigned left, unsigned right) {
  size_t features = u16(g, 6), lookups = u16(g, 8);
  int kern = 0;
  for (unsigned i = 0; i < u16(g, language + 4); i++) {
    size_t record = features + 2 + 6 * (size_t)u16(g, language + 6 + 2 * i);
    size_t feature = features + u16(g, record + 4);
    if (u32(g, record) != FT_MAKE_TAG('k', 'e', 'r', 'n')) continue;
    for (unsigned k = 0; k < u16(g, feature + 2); k++)
      kern += lookup_kern(g, lookups + u16(g, lookups + 2 + 2 * u16(g, feature + 4 + 2 * k)), left,
                          right);
  }
  return kern;
}

// Digits keep their widths, so that numbers stand in columns.
static bool may_kern(uint32_t c) {
  return c > ' ' && c != '"' && c != '\\' && c != '?' && (c < '0' || c > '9');
}

// Three characters a pair: left, right, and the difference as a digit around 45, in steps of 4
static void write_kerns(FT_Face face, const char *name) {
  Gpos g = gpos_load(face);
  size_t language = g.n ? latin(&g) : 0;
  printf("static const char kerns_%s[] =", name);
  for (uint32_t left = '!'; left <= '~'; left++) {
    Outline *o = calloc(1, sizeof *o);
    if (!o) fail("out of memory", "");
    for (uint32_t right = '!'; right <= '~' && g.n && may_kern(left); right++) {
      if (!may_kern(right)) continue;
      int kern =
          pair_kern(&g, language, FT_Get_Char_Index(face, left), FT_Get_Char_Index(face, right));
      long steps = lround(kern / 4.0);
      if (steps < -45) steps = -45;
      if (steps > 44) steps = 44;
      if (steps) put(o, (char)left), put(o, (char)right), put_digit(o, 45 + steps);
    }
    if (o->n) printf("\n    \"%s\"", o->text);
    free(o);
  }
  printf("\n    \"\";\n");
  free(g.at);
}

int main(int argc, char **argv) {
  FT_Library library;
  long up[FACES], down[FACES];
  if (argc != 2) fail("usage: glyphs FOLDER, where FOLDER holds tex-gyre and tex-gyre-math", "");
  if (FT_Init_FreeType(&library)) fail("FreeType does not start", "");
  printf("// Written by tools/glyphs.c (make glyphs) from the fonts TeX Gyre Heros and Pagella\n"
         "// (Copyright 2007-2018 B. Jackowski and J. M. Nowacki) and TeX Gyre Pagella Math "
         "(Copyright\n"
         "// 2012-2014 B. Jackowski, P. Strzelczyk and P. Pianowski). They are free under the GUST "
         "Font\n"
         "// License, an instance of the LaTeX Project Public License: see docs/dependencies.md. "
         "This\n"
         "// table holds some of their characters; it is not the fonts, and does not bear their "
         "names.\n");
  for (int i = 0; i < FACES; i++) {
    char path[4096];
    FT_Face face;
    snprintf(path, sizeof path, "%s/%s", argv[1], faces[i].file);
    if (FT_New_Face(library, path, 0, &face)) fail("cannot read", path);
    if (face->units_per_EM != 1000) fail("the em is not 1000 units in", path);
    reach(face, &up[i], &down[i]);
    printf("static const FontGlyph glyphs_%s[] = {\n", faces[i].name);
    for (uint32_t code = 0x20; code < 0x20000; code++) write_one(face, i, code);
    printf("};\n");
    write_kerns(face, faces[i].name);
    FT_Done_Face(face);
  }
  printf("static const Letters letters[FACE_COUNT] = {\n");
  for (int i = 0; i < FACES; i++)
    printf("    {glyphs_%s, COUNT(glyphs_%s), kerns_%s, COUNT(kerns_%s) / 3, %ld, %ld},\n",
           faces[i].name, faces[i].name, faces[i].name, faces[i].name, up[i], -down[i]);
  printf("};\n");
  FT_Done_FreeType(library);
  return 0;
}
