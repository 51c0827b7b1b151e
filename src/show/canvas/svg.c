// A picture as SVG.
//
// The file is self-contained: letters are outlines, defined once and referenced, with the text in
// aria-label; images are data URIs. Only features that all SVG 1.1 readers draw alike are used: no
// filters, variables or live text. Colours are attributes from the theme; with THEME_AUTO they are
// also classes (ink-… fills, pen-… strokes), and a style sheet overrides them for dark screens.
// Class names are common to all pictures, and ids begin with a hash of the file, so several
// pictures can be embedded in one page.
#include "base/hash.h"
#include "base/table.h"
#include "show/canvas/marks.h"
#include <math.h>

typedef struct {
  Arena *arena; // scratch
  const Canvas *canvas;
  Theme theme;
  const Look *look;
  VEC(Span) inside; // source positions of the open groups
  Buf out;
  Table *glyphs;                            // glyphs in use: face and rune
  Table *ids;                               // of groups written so far
  bool filled[INK_COUNT], lined[INK_COUNT]; // inks in use
} Svg;

// A placeholder for the hash, which is known at the end. Texts cannot contain it: control
// characters were removed.
enum { HASH = 1 };

static int64_t ten_to(int n) { return n ? 10 * ten_to(n - 1) : 1; }

static void put_scaled(Buf *b, int64_t n, int decimals) {
  int64_t unit = ten_to(decimals), whole = n / unit, part = n % unit;
  if (n < 0) buf_char(b, '-'), whole = -whole, part = -part;
  if (whole || !part) buf_printf(b, "%lld", (long long)whole);
  if (!part) return;
  while (part % 10 == 0) part /= 10, decimals--;
  buf_printf(b, ".%0*lld", decimals, (long long)part);
}

void put_number(Buf *b, double x, int decimals) {
  put_scaled(b, llround(x * (double)ten_to(decimals)), decimals);
}

bool put_entity(Buf *b, char c) {
  static const char own[] = "&<>\"'";
  static const char *const name[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  const char *at = memchr(own, c, sizeof own - 1);
  if (at) buf_text(b, name[at - own]);
  return at;
}

static void put_escaped(Buf *b, const char *text) {
  for (; *text; text++)
    if (!put_entity(b, *text)) buf_char(b, *text);
}

void put_label(Buf *b, const char *name, const char *text) {
  buf_printf(b, " %s=\"", name);
  put_escaped(b, text);
  buf_char(b, '"');
}

static void put_element(Buf *b, const char *name, const char *text) {
  buf_printf(b, "<%s>", name);
  put_escaped(b, text);
  buf_printf(b, "</%s>\n", name);
}

static void put_attribute(Buf *b, const char *name, double x) {
  buf_printf(b, " %s=\"", name);
  put_number(b, x, 2);
  buf_char(b, '"');
}

// Steps are relative, in hundredths; differences of rounded positions do not accumulate errors.
typedef struct {
  Buf *out;
  double grid;
  int decimals;
  int64_t x, y; // current point
  char last;    // the letter of the last step
} SvgPen;

static int64_t on_grid(const SvgPen *p, double x) { return llround(x * p->grid); }

static void pen_numbers(SvgPen *p, char letter, const int64_t *d, int n) {
  bool same = letter == p->last && letter != 'm';
  if (!same) buf_char(p->out, letter);
  for (int i = 0; i < n; i++) {
    if ((i || same) && d[i] >= 0) buf_char(p->out, ' ');
    put_scaled(p->out, d[i], p->decimals);
  }
  p->last = letter;
}

static void pen_step(SvgPen *p, const PathStep *s) {
  int64_t x = on_grid(p, s->x), y = on_grid(p, s->y), dx = x - p->x, dy = y - p->y;
  int64_t ax = on_grid(p, s->ax) - p->x, ay = on_grid(p, s->ay) - p->y;
  int64_t bx = on_grid(p, s->bx) - p->x, by = on_grid(p, s->by) - p->y;
  switch (s->kind) {
  case STEP_MOVE: pen_numbers(p, 'M', (int64_t[]){x, y}, 2); break;
  case STEP_LINE:
    if (dy == 0)
      pen_numbers(p, 'h', &dx, 1);
    else if (dx == 0)
      pen_numbers(p, 'v', &dy, 1);
    else
      pen_numbers(p, 'l', (int64_t[]){dx, dy}, 2);
    break;
  case STEP_CUBIC: pen_numbers(p, 'c', (int64_t[]){ax, ay, bx, by, dx, dy}, 6); break;
  case STEP_CLOSE: pen_numbers(p, 'z', NULL, 0); break;
  }
  p->x = x, p->y = y;
}

static void put_path(Buf *b, const PathStep *step, uint32_t n, int decimals) {
  SvgPen pen = {.out = b, .grid = (double)ten_to(decimals), .decimals = decimals};
  buf_text(b, " d=\"");
  for (uint32_t i = 0; i < n; i++) pen_step(&pen, &step[i]);
  buf_char(b, '"');
}

static void put_lower(Buf *b, const char *name) {
  for (; *name; name++) buf_char(b, (char)(*name >= 'A' && *name <= 'Z' ? *name + 32 : *name));
}

static void put_class(Buf *b, const char *kind, Ink ink) {
  buf_text(b, kind);
  put_lower(b, ink_name(ink));
}

static void put_inks(Svg *s, Ink fill, Ink stroke) {
  Buf *b = &s->out;
  if (fill) buf_printf(b, " fill=\"#%06x\"", (unsigned)ink_rgb(fill, s->theme));
  if (stroke) buf_printf(b, " stroke=\"#%06x\"", (unsigned)ink_rgb(stroke, s->theme));
  if (s->theme != THEME_AUTO) return;
  buf_text(b, " class=\"");
  if (fill) put_class(b, "ink-", fill);
  if (fill && stroke) buf_char(b, ' ');
  if (stroke) put_class(b, "pen-", stroke);
  buf_char(b, '"');
  s->filled[fill] = s->lined[stroke] = true;
}

static void put_drawn(Svg *s, const Mark *m) {
  const Paint *p = &m->path.paint;
  Buf *b = &s->out;
  buf_text(b, "<path");
  put_inks(s, p->fill, p->stroke);
  if (p->fill && p->opacity < 1) put_attribute(b, "fill-opacity", p->opacity);
  if (p->stroke) {
    if (p->width != 1) put_attribute(b, "stroke-width", p->width);
    if (p->opacity < 1) put_attribute(b, "stroke-opacity", p->opacity);
    if (p->round) buf_text(b, " stroke-linecap=\"round\" stroke-linejoin=\"round\"");
    if (p->dash[1] > 0) {
      buf_text(b, " stroke-dasharray=\"");
      put_number(b, p->dash[0], 2), buf_char(b, ' '), put_number(b, p->dash[1], 2);
      buf_char(b, '"');
    }
  }
  put_path(b, s->canvas->path.at + m->path.first, m->path.n, 2);
  buf_text(b, "/>\n");
}

static void put_glyph_id(Buf *b, FoundGlyph f) {
  buf_char(b, HASH);
  buf_printf(b, "-%c%x", "abcdef"[f.face], (unsigned)f.glyph->code);
}

// A transform to the first letter with the em as unit: letters then advance in 1/1000 em
static void put_place(Svg *s, const Mark *m) {
  Buf *b = &s->out;
  double c, w;
  angle_parts(m->text.how.angle, &c, &w);
  buf_text(b, " transform=\"translate(");
  put_number(b, m->text.x + c * m->text.start, 2), buf_char(b, ' ');
  put_number(b, m->text.y + w * m->text.start, 2);
  if (m->text.how.angle != 0) buf_text(b, ")rotate("), put_number(b, m->text.how.angle, 2);
  buf_text(b, ")scale("), put_number(b, m->text.how.size / EM, 6);
  buf_text(b, ")\"");
}

static void put_words(Svg *s, const Mark *m) {
  Buf *b = &s->out;
  buf_text(b, "<g");
  put_inks(s, m->text.how.ink, INK_NONE);
  put_place(s, m);
  buf_text(b, " role=\"img\"");
  put_label(b, "aria-label", m->text.words);
  buf_char(b, '>');
  for (GlyphRun r = {.face = m->text.how.face, .rest = m->text.words}; run_next(&r);) {
    uint32_t key[2] = {r.found.face, r.found.glyph->code};
    if (!r.found.glyph->outline[0]) continue;
    table_put(s->glyphs, key, sizeof key, 1);
    buf_text(b, "<use xlink:href=\"#");
    put_glyph_id(b, r.found);
    if (r.x) buf_printf(b, "\" x=\"%lld", (long long)r.x);
    buf_text(b, "\"/>");
  }
  buf_text(b, "</g>\n");
}

static void put_base64(Buf *b, const uint8_t *at, size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    size_t left = n - i;
    uint32_t v = (uint32_t)at[i] << 16;
    if (left > 1) v |= (uint32_t)at[i + 1] << 8;
    if (left > 2) v |= at[i + 2];
    char four[4] = {digits[v >> 18], digits[v >> 12 & 63], left > 1 ? digits[v >> 6 & 63] : '=',
                    left > 2 ? digits[v & 63] : '='};
    buf_add(b, four, 4);
  }
}

static void put_image(Svg *s, const Mark *m) {
  Bytes png;
  const char *error;
  if (!png_bytes(s->arena, &m->image.picture, &png, &error)) return;
  Buf *b = &s->out;
  buf_text(b, "<image");
  put_attribute(b, "x", m->image.x), put_attribute(b, "y", m->image.y);
  put_attribute(b, "width", m->image.w), put_attribute(b, "height", m->image.h);
  buf_text(b, " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\""
              " xlink:href=\"data:image/png;base64,");
  put_base64(b, png.at, png.n);
  buf_text(b, "\"/>\n");
}

static void put_group(Svg *s, const Mark *m) {
  Buf *b = &s->out;
  buf_text(b, "<g");
  if (m->group.id[0]) {
    char *id = arena_text(s->arena, m->group.id, strlen(m->group.id));
    for (char *c = id; *c; c++)
      if (*c == ' ') *c = '-';
    if (!table_get(s->ids, id, strlen(id))) { // parts of one thing have the same data-id
      table_put(s->ids, id, strlen(id), 1);
      buf_text(b, " id=\""), buf_char(b, HASH), buf_char(b, '-');
      put_escaped(b, id), buf_char(b, '"');
    }
    put_label(b, "data-id", m->group.id);
  }
  if (m->group.class[0]) put_label(b, "class", m->group.class);
  if (s->look->places) {
    Span outer = s->inside.n ? s->inside.at[s->inside.n - 1] : (Span){0};
    vec_push(s->arena, &s->inside, put_group_of(b, s->look, m->group.of, outer));
  }
  buf_text(b, m->group.words[0] ? " role=\"group\"><title>" : ">");
  if (m->group.words[0]) put_escaped(b, m->group.words), buf_text(b, "</title>");
  buf_char(b, '\n');
}

static void put_marks(Svg *s) {
  for (uint32_t i = 0; i < s->canvas->mark.n; i++) {
    const Mark *m = &s->canvas->mark.at[i];
    switch (m->kind) {
    case MARK_PATH: put_drawn(s, m); break;
    case MARK_TEXT: put_words(s, m); break;
    case MARK_IMAGE: put_image(s, m); break;
    case MARK_OPEN: put_group(s, m); break;
    case MARK_CLOSE:
      buf_text(&s->out, "</g>\n");
      if (s->inside.n) s->inside.n--;
      break;
    }
  }
  for (uint32_t i = 0; i < s->canvas->open; i++) buf_text(&s->out, "</g>\n");
}

static void put_glyphs(Svg *s) {
  Path path = {0};
  uint32_t n = table_count(s->glyphs);
  if (n) buf_text(&s->out, "<defs>\n");
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    uint32_t key[2]; // face, rune
    memcpy(key, table_key(s->glyphs, i, &size), sizeof key);
    FoundGlyph f = glyph_find((Face)key[0], key[1]);
    glyph_path(s->arena, f.glyph, &path);
    for (uint32_t k = 0; k < path.n; k++) {
      PathStep *step = &path.at[k];
      step->y = -step->y, step->ay = -step->ay, step->by = -step->by;
    }
    buf_text(&s->out, "<path id=\"");
    put_glyph_id(&s->out, f);
    buf_char(&s->out, '"');
    put_path(&s->out, path.at, path.n, 0);
    buf_text(&s->out, "/>\n");
  }
  if (n) buf_text(&s->out, "</defs>\n");
}

static void put_dark(Svg *s) {
  Buf *b = &s->out;
  buf_text(b, "<style>@media (prefers-color-scheme:dark){");
  for (Ink i = INK_NONE + 1; i < INK_COUNT; i++) {
    unsigned rgb = ink_rgb(i, THEME_DARK);
    if (s->filled[i]) put_class(b, ".ink-", i), buf_printf(b, "{fill:#%06x}", rgb);
    if (s->lined[i]) put_class(b, ".pen-", i), buf_printf(b, "{stroke:#%06x}", rgb);
  }
  buf_text(b, "}</style>\n");
}

static void put_head(Svg *s) {
  Buf *b = &s->out;
  buf_text(b, "<svg xmlns=\"http://www.w3.org/2000/svg\""
              " xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
  put_attribute(b, "width", s->canvas->width), put_attribute(b, "height", s->canvas->height);
  buf_text(b, " viewBox=\"0 0 "), put_number(b, s->canvas->width, 2);
  buf_char(b, ' '), put_number(b, s->canvas->height, 2);
  buf_text(b, "\" fill=\"none\" role=\"img\">\n");
  if (s->canvas->title[0]) put_element(b, "title", s->canvas->title);
  if (s->canvas->about[0]) put_element(b, "desc", s->canvas->about);
}

static void put_paper(Svg *s) {
  buf_text(&s->out, "<rect width=\"100%\" height=\"100%\"");
  put_inks(s, INK_PAPER, INK_NONE);
  buf_text(&s->out, "/>\n");
}

// Writes the hash after a letter: an id must not start with a digit.
static void put_hash(Buf *b, const Buf *of) {
  buf_printf(b, "p%08x", (unsigned)hash_bytes_32(HASH_START_32, of->at, of->n));
}

static void put_hashed(Arena *scratch, const Buf *text, Buf *out) {
  Buf hash = buf_new(scratch);
  put_hash(&hash, text);
  const char *at = text->at, *end = at + text->n;
  for (const char *next; (next = memchr(at, HASH, (size_t)(end - at))); at = next + 1) {
    buf_add(out, at, (size_t)(next - at));
    buf_add(out, hash.at, hash.n);
  }
  buf_add(out, at, (size_t)(end - at));
}

void canvas_svg(Canvas *c, const Look *look, Buf *out) {
  Arena *scratch = arena_child(c->arena);
  Svg s = {
      .arena = scratch, .canvas = c, .theme = look->theme, .look = look, .out = buf_new(scratch)};
  s.ids = table_new(scratch);
  s.glyphs = table_new(scratch);
  put_paper(&s);
  put_marks(&s);
  Buf body = s.out;
  s.out = buf_new(scratch);
  put_head(&s);
  if (s.theme == THEME_AUTO) put_dark(&s);
  put_glyphs(&s);
  buf_add(&s.out, body.at, body.n);
  buf_text(&s.out, "</svg>\n");
  put_hashed(scratch, &s.out, out);
  arena_free(scratch);
}
