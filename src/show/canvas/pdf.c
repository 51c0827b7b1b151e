// A picture as PDF 1.4, one page.
//
// The page content is written first, since it determines the fonts, images and opacities in use;
// then the objects and the cross-reference table. A unit is 3/4 point, as in SVG; the content flips
// the y axis, so it uses the coordinates of marks. Text is searchable: each face is a type 3 font
// drawn by outlines, with a map to Unicode. No dates and no random ids: the output is
// deterministic.
#define ZLIB_CONST
#include "base/table.h"
#include "show/canvas/marks.h"
#include <math.h>
#include <zlib.h>

enum { FONT_LETTERS = 255, DECIMALS = 3 };

typedef struct {
  Face face;
  VEC(const FontGlyph *) glyph; // characters 1, 2, … of the font
} Font;

typedef struct {
  Arena *arena; // scratch
  const Canvas *canvas;
  Theme theme;
  Buf *out;
  size_t start;       // offset of the file in `out`
  VEC(size_t) offset; // of each object; object 1 is offset.at[0]
  Buf content;
  VEC(Font) font;
  Table *letters; // face and rune, to font index × 256 + character code
  VEC(const Mark *) image;
  bool opacity[1001]; // [thousandths] in use
} Pdf;

static void *take(void *arena, unsigned n, unsigned size) {
  return arena_alloc(arena, (size_t)n * size);
}
static void give(void *arena, void *what) { (void)arena, (void)what; }

static Buf deflated(Arena *arena, const void *bytes, size_t n) {
  uint8_t chunk[1 << 14];
  Buf b = buf_new(arena);
  Arena *scratch = arena_child(arena);
  z_stream z = {.zalloc = take, .zfree = give, .opaque = scratch};
  int result = deflateInit(&z, 9);
  const uint8_t *at = bytes;
  while (result == Z_OK) {
    size_t part = n < (1u << 30) ? n : 1u << 30;
    z.next_in = at, z.avail_in = (unsigned)part;
    z.next_out = chunk, z.avail_out = sizeof chunk;
    result = deflate(&z, part == n ? Z_FINISH : Z_NO_FLUSH);
    at += part - z.avail_in, n -= part - z.avail_in;
    buf_add(&b, (const char *)chunk, sizeof chunk - z.avail_out);
  }
  arena_free(scratch);
  return b;
}

// The number of the next object
static uint32_t object_next(const Pdf *p) { return p->offset.n + 1; }

static uint32_t object_open(Pdf *p) {
  vec_push(p->arena, &p->offset, p->out->n - p->start);
  buf_printf(p->out, "%u 0 obj\n", p->offset.n);
  return p->offset.n;
}

static void object_close(Pdf *p) { buf_text(p->out, "\nendobj\n"); }

static uint32_t object_put(Pdf *p, const Buf *b) {
  uint32_t id = object_open(p);
  buf_add(p->out, b->at, b->n);
  object_close(p);
  return id;
}

// Adds a compressed stream object. `keys`: its dictionary entries.
static uint32_t object_stream(Pdf *p, const char *keys, const void *bytes, size_t n) {
  Buf packed = deflated(p->arena, bytes, n);
  uint32_t id = object_open(p);
  buf_printf(p->out, "<<%s/Filter/FlateDecode/Length %zu>>\nstream\n", keys, packed.n);
  buf_add(p->out, packed.at, packed.n);
  buf_text(p->out, "\nendstream");
  object_close(p);
  return id;
}

static void put_operator(Buf *b, const double *x, int n, const char *operator) {
  for (int i = 0; i < n; i++) {
    put_number(b, x[i], DECIMALS);
    buf_char(b, ' ');
  }
  buf_text(b, operator);
  buf_char(b, '\n');
}
#define PUT(b, operator, ...)                                                                      \
  put_operator(b, (const double[]){__VA_ARGS__},                                                   \
               (int)COUNT(((const double[]){__VA_ARGS__})), operator)

static void put_steps(Buf *b, const PathStep *step, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const PathStep *s = &step[i];
    switch (s->kind) {
    case STEP_MOVE: PUT(b, "m", s->x, s->y); break;
    case STEP_LINE: PUT(b, "l", s->x, s->y); break;
    case STEP_CUBIC: PUT(b, "c", s->ax, s->ay, s->bx, s->by, s->x, s->y); break;
    case STEP_CLOSE: buf_text(b, "h\n"); break;
    }
  }
}

static void put_ink(Pdf *p, Ink ink, const char *operator) {
  uint32_t rgb = ink_rgb(ink, p->theme);
  PUT(&p->content, operator,(rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
}

static void put_opacity(Pdf *p, double opacity) {
  int thousandths = (int)(opacity * 1000 + 0.5);
  p->opacity[thousandths] = true;
  buf_printf(&p->content, "/G%d gs\n", thousandths);
}

static void put_pen(Pdf *p, const Paint *paint) {
  Buf *b = &p->content;
  put_ink(p, paint->stroke, "RG");
  PUT(b, "w", paint->width);
  buf_text(b, paint->round ? "1 J 1 j\n" : "0 J 0 j\n");
  buf_char(b, '[');
  if (paint->dash[1] > 0) {
    put_number(b, paint->dash[0], DECIMALS), buf_char(b, ' ');
    put_number(b, paint->dash[1], DECIMALS);
  }
  buf_text(b, "] 0 d\n");
}

// Fills and strokes separately, so that a translucent stroke shows the fill below.
static void put_drawn(Pdf *p, const Mark *m) {
  const Paint *paint = &m->path.paint;
  const PathStep *step = p->canvas->path.at + m->path.first;
  Buf *b = &p->content;
  put_opacity(p, paint->opacity);
  if (paint->fill) {
    put_ink(p, paint->fill, "rg");
    put_steps(b, step, m->path.n);
    buf_text(b, "f\n");
  }
  if (paint->stroke) {
    put_pen(p, paint);
    put_steps(b, step, m->path.n);
    buf_text(b, "S\n");
  }
}

// The font of a face with a free character code
static uint32_t font_open(Pdf *p, Face face) {
  for (uint32_t i = 0; i < p->font.n; i++)
    if (p->font.at[i].face == face && p->font.at[i].glyph.n < FONT_LETTERS) return i;
  vec_push(p->arena, &p->font, (Font){.face = face});
  return p->font.n - 1;
}

// Font index × 256 + character code
static uint32_t letter_of(Pdf *p, FoundGlyph f) {
  uint32_t key[2] = {f.face, f.glyph->code}, known = table_get(p->letters, key, sizeof key);
  if (known) return known;
  uint32_t i = font_open(p, f.face);
  Font *font = &p->font.at[i];
  vec_push(p->arena, &font->glyph, f.glyph);
  known = i << 8 | font->glyph.n;
  table_put(p->letters, key, sizeof key, known);
  return known;
}

static void put_words(Pdf *p, const Mark *m) {
  Buf *b = &p->content;
  double c, s;
  angle_parts(m->text.how.angle, &c, &s);
  put_opacity(p, 1);
  put_ink(p, m->text.how.ink, "rg");
  buf_text(b, "BT\n");
  PUT(b, "Tm", c, s, s, -c, m->text.x + c * m->text.start, m->text.y + s * m->text.start);
  uint32_t font = UINT32_MAX;
  for (GlyphRun r = {.face = m->text.how.face, .rest = m->text.words}; run_next(&r);) {
    uint32_t letter = letter_of(p, r.found);
    if (letter >> 8 != font) {
      if (font != UINT32_MAX) buf_text(b, ">]TJ\n");
      font = letter >> 8;
      buf_printf(b, "/F%u ", font);
      PUT(b, "Tf", m->text.how.size);
      buf_text(b, "[<");
    } else if (r.kern) {
      buf_printf(b, ">%d<", -r.kern);
    }
    buf_printf(b, "%02x", letter & 255);
  }
  buf_text(b, ">]TJ\nET\n");
}

static void put_image(Pdf *p, const Mark *m) {
  Buf *b = &p->content;
  put_opacity(p, 1);
  buf_text(b, "q\n");
  PUT(b, "cm", m->image.w, 0, 0, -m->image.h, m->image.x, m->image.y + m->image.h);
  buf_printf(b, "/I%u Do\nQ\n", p->image.n);
  vec_push(p->arena, &p->image, m);
}

static const double UNIT = 0.75; // points

static void put_content(Pdf *p) {
  PUT(&p->content, "cm", UNIT, 0, 0, -UNIT, 0, p->canvas->height * UNIT);
  buf_text(&p->content, "4 M\n");
  if (ink_rgb(INK_PAPER, p->theme) != 0xffffff) {
    put_ink(p, INK_PAPER, "rg");
    PUT(&p->content, "re", 0, 0, p->canvas->width, p->canvas->height);
    buf_text(&p->content, "f\n");
  }
  for (uint32_t i = 0; i < p->canvas->mark.n; i++) {
    const Mark *m = &p->canvas->mark.at[i];
    if (m->kind == MARK_PATH)
      put_drawn(p, m);
    else if (m->kind == MARK_TEXT)
      put_words(p, m);
    else if (m->kind == MARK_IMAGE)
      put_image(p, m);
  }
}

// The bounding box of a path: left, bottom, right, top
static void box_of(const Path *path, double box[4]) {
  memset(box, 0, 4 * sizeof *box);
  for (uint32_t i = 0; i < path->n; i++) {
    const PathStep *s = &path->at[i];
    bool curve = s->kind == STEP_CUBIC;
    double x[] = {s->x, curve ? s->ax : s->x, curve ? s->bx : s->x};
    double y[] = {s->y, curve ? s->ay : s->y, curve ? s->by : s->y};
    for (int k = 0; k < 3; k++) {
      box[0] = i ? fmin(box[0], x[k]) : x[k], box[1] = i ? fmin(box[1], y[k]) : y[k];
      box[2] = i ? fmax(box[2], x[k]) : x[k], box[3] = i ? fmax(box[3], y[k]) : y[k];
    }
  }
}

static void object_glyph(Pdf *p, const FontGlyph *g, double all[4]) {
  Path path = {0};
  Buf b = buf_new(p->arena);
  double box[4];
  glyph_path(p->arena, g, &path);
  box_of(&path, box);
  PUT(&b, "d1", g->advance, 0, box[0], box[1], box[2], box[3]);
  put_steps(&b, path.at, path.n);
  if (path.n) buf_text(&b, "f\n");
  for (int i = 0; i < 4; i++) all[i] = i < 2 ? fmin(all[i], box[i]) : fmax(all[i], box[i]);
  object_stream(p, "", b.at, b.n);
}

// UTF-16 big endian as hexadecimal digits
static void put_utf16(Buf *b, uint32_t rune) {
  if (rune < 0x10000)
    buf_printf(b, "%04X", rune);
  else
    buf_printf(b, "%04X%04X", 0xd800 + ((rune - 0x10000) >> 10), 0xdc00 + (rune & 0x3ff));
}

static uint32_t object_unicode(Pdf *p, const Font *font) {
  Buf b = buf_new(p->arena);
  buf_text(&b, "/CIDInit/ProcSet findresource begin 12 dict begin begincmap\n"
               "/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def\n"
               "/CMapName/limn def/CMapType 2 def\n"
               "1 begincodespacerange <00><FF> endcodespacerange\n");
  for (uint32_t i = 0; i < font->glyph.n; i++) {
    uint32_t left = font->glyph.n - i;
    if (i % 100 == 0) buf_printf(&b, "%u beginbfchar\n", left < 100 ? left : 100);
    buf_printf(&b, "<%02X><", i + 1);
    put_utf16(&b, font->glyph.at[i]->code);
    buf_text(&b, ">\n");
    if (i % 100 == 99 || left == 1) buf_text(&b, "endbfchar\n");
  }
  buf_text(&b, "endcmap CMapName currentdict/CMap defineresource pop end end\n");
  return object_stream(p, "", b.at, b.n);
}

static uint32_t object_font(Pdf *p, const Font *font) {
  Buf b = buf_new(p->arena);
  double all[4] = {0};
  uint32_t first = object_next(p), n = font->glyph.n;
  for (uint32_t i = 0; i < n; i++) object_glyph(p, font->glyph.at[i], all);
  buf_text(&b, "<</Type/Font/Subtype/Type3/FontMatrix[.001 0 0 .001 0 0]/FontBBox[");
  for (int i = 0; i < 4; i++) put_number(&b, all[i], 0), buf_char(&b, ' ');
  buf_text(&b, "]/Resources<<>>/CharProcs<<");
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "/g%u %u 0 R", i + 1, first + i);
  buf_text(&b, ">>/Encoding<</Type/Encoding/Differences[1");
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "/g%u", i + 1);
  buf_printf(&b, "]>>/FirstChar 1/LastChar %u/Widths[", n);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%u ", font->glyph.at[i]->advance);
  buf_printf(&b, "]/ToUnicode %u 0 R>>", object_unicode(p, font));
  return object_put(p, &b);
}

static uint32_t object_image(Pdf *p, const Picture *picture) {
  const char *keys = arena_format(p->arena,
                                  "/Type/XObject/Subtype/Image/Width %u/Height %u/ColorSpace/%s"
                                  "/BitsPerComponent 8",
                                  picture->width, picture->height,
                                  picture->channels == 3 ? "DeviceRGB" : "DeviceGray");
  return object_stream(p, keys, picture->at,
                       (size_t)picture->width * picture->height * picture->channels);
}

// The resource dictionary of the page
static uint32_t object_resources(Pdf *p) {
  Buf b = buf_new(p->arena);
  buf_text(&b, "<</Font<<");
  for (uint32_t i = 0; i < p->font.n; i++)
    buf_printf(&b, "/F%u %u 0 R", i, object_font(p, &p->font.at[i]));
  buf_text(&b, ">>/XObject<<");
  for (uint32_t i = 0; i < p->image.n; i++)
    buf_printf(&b, "/I%u %u 0 R", i, object_image(p, &p->image.at[i]->image.picture));
  buf_text(&b, ">>/ExtGState<<");
  for (uint32_t i = 0; i < COUNT(p->opacity); i++) {
    if (!p->opacity[i]) continue;
    buf_printf(&b, "/G%u<</CA ", i), put_number(&b, i / 1000.0, DECIMALS);
    buf_text(&b, "/ca "), put_number(&b, i / 1000.0, DECIMALS), buf_text(&b, ">>");
  }
  buf_text(&b, ">>>>");
  return object_put(p, &b);
}

static void put_string(Buf *b, const char *key, const char *text) {
  if (!text[0]) return;
  buf_printf(b, "/%s<FEFF", key);
  for (uint32_t rune; (rune = rune_next(&text));) put_utf16(b, rune);
  buf_char(b, '>');
}

static uint32_t object_info(Pdf *p) {
  Buf b = buf_new(p->arena);
  buf_text(&b, "<</Producer(limn)");
  put_string(&b, "Title", p->canvas->title);
  put_string(&b, "Subject", p->canvas->about);
  buf_text(&b, ">>");
  return object_put(p, &b);
}

// Adds the page, the page tree and the catalogue; returns the latter's number.
static uint32_t object_page(Pdf *p, uint32_t content, uint32_t resources) {
  Buf page = buf_new(p->arena), pages = buf_new(p->arena), catalogue = buf_new(p->arena);
  uint32_t id = object_next(p);
  buf_printf(&page, "<</Type/Page/Parent %u 0 R/MediaBox[0 0 ", id + 1);
  put_number(&page, p->canvas->width * UNIT, DECIMALS), buf_char(&page, ' ');
  put_number(&page, p->canvas->height * UNIT, DECIMALS);
  buf_printf(&page, "]/Contents %u 0 R/Resources %u 0 R>>", content, resources);
  buf_printf(&pages, "<</Type/Pages/Kids[%u 0 R]/Count 1>>", id);
  buf_printf(&catalogue, "<</Type/Catalog/Pages %u 0 R>>", id + 1);
  object_put(p, &page);
  object_put(p, &pages);
  return object_put(p, &catalogue);
}

static void put_offsets(Pdf *p, uint32_t catalogue, uint32_t info) {
  size_t at = p->out->n - p->start;
  buf_printf(p->out, "xref\n0 %u\n0000000000 65535 f \n", p->offset.n + 1);
  for (uint32_t i = 0; i < p->offset.n; i++)
    buf_printf(p->out, "%010zu 00000 n \n", p->offset.at[i]);
  buf_printf(p->out, "trailer\n<</Size %u/Root %u 0 R/Info %u 0 R>>\nstartxref\n%zu\n%%%%EOF\n",
             p->offset.n + 1, catalogue, info, at);
}

void canvas_pdf(Canvas *c, const Look *look, Buf *out) {
  Arena *scratch = arena_child(c->arena);
  Pdf p = {.arena = scratch, .canvas = c, .theme = look->theme, .out = out, .start = out->n};
  p.content = buf_new(scratch);
  p.letters = table_new(scratch);
  put_content(&p);
  buf_text(out, "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n");
  uint32_t content = object_stream(&p, "", p.content.at, p.content.n);
  uint32_t resources = object_resources(&p);
  uint32_t info = object_info(&p);
  uint32_t catalogue = object_page(&p, content, resources);
  put_offsets(&p, catalogue, info);
  arena_free(scratch);
}
