// Writes a picture as a TeX document with one tikzpicture, meant to be edited.
//
// The file compiles with pdflatex, lualatex and xelatex. The preamble defines what an author may
// change: the unit, a colour for each ink in use, a style for each class of groups, a command for
// each face. Paths keep their exact coordinates. Text stays text: special characters are escaped,
// signs become math commands, and characters that pdflatex lacks are shown by code point. Groups
// are scopes, described in a comment; texts contain no line break that could end it.
//
// TeX's lengths are limited to 16383 points: larger pictures are scaled to LARGEST, and points far
// outside of the page are clamped.
#include "base/table.h"
#include "show/canvas/marks.h"
#include <math.h>

enum { LARGEST = 16000, LARGEST_LETTER = 2000, PIXELS = 64, DECIMALS = 3, COMMENT = 400 };

typedef struct {
  const Canvas *canvas;
  Theme theme;
  double shrink; // a scale; 1 unless the page is too large
  bool used[INK_COUNT];
  Table *classes;
  Buf out;
} Tikz;

static void put_length(Tikz *t, double x) {
  put_number(&t->out, fmax(-LARGEST, fmin(x * t->shrink, LARGEST)), DECIMALS);
}

static void put_point(Tikz *t, double x, double y) {
  buf_char(&t->out, '('), put_length(t, x);
  buf_char(&t->out, ','), put_length(t, y);
  buf_char(&t->out, ')');
}

static void put_units(Tikz *t, double x) {
  put_length(t, x);
  buf_text(&t->out, "\\limnunit");
}

// limntext: colour names of xcolor are alphanumeric
static void put_ink(Buf *b, Ink ink) {
  buf_text(b, "limn");
  for (const char *c = ink_name(ink); *c; c++)
    if (*c != '_') buf_char(b, (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c));
}

static void put_inked(Tikz *t, const char *key, Ink ink) {
  t->used[ink] = true;
  buf_text(&t->out, key);
  put_ink(&t->out, ink);
}

// A comment up to the end of the line, truncated: TeX limits line lengths.
static void put_comment(Buf *b, const char *text) {
  uint32_t rune = 0;
  for (int n = 0; n < COMMENT && (rune = rune_next(&text)); n++) rune_put(b, rune);
  if (rune && rune_next(&text)) buf_text(b, "...");
}

// -- words ----------------------------------------------------------------------------------------
// Latin-1 letters available in every TeX encoding
static bool is_accented(uint32_t rune) {
  return rune >= 0xc0 && rune <= 0xff && !strchr("\xd0\xd7\xde\xf0\xf7\xfe", (char)rune);
}

static void put_ascii(Buf *b, uint32_t rune) {
  static const char own[] = "\\^~<>|\"`";
  static const char *const name[] = {"textbackslash", "textasciicircum", "textasciitilde",
                                     "textless",      "textgreater",     "textbar",
                                     "char34",        "char96"};
  const char *at = strchr(own, (int)rune);
  if (at) {
    buf_printf(b, "\\%s{}", name[at - own]);
  } else {
    if (strchr("{}$%#&_", (int)rune)) buf_char(b, '\\');
    buf_char(b, (char)rune);
  }
}

static void put_rune(Buf *b, uint32_t rune) {
  if (sign_tex(b, rune)) return;
  if (is_accented(rune)) {
    rune_put(b, rune);
    return;
  }
  buf_text(b, "\\limnrune{");
  rune_put(b, rune);
  buf_printf(b, "}{%X}", (unsigned)rune);
}

// Escapes text, breaks ligatures, and keeps every blank.
static void put_escaped(Buf *b, const char *text) {
  uint32_t last = ' ', rune;
  for (; (rune = rune_next(&text)); last = rune) {
    bool joins =
        rune < 0x7f && last < 0x7f && strchr("-'`,", (int)rune) && strchr("-'`,?!", (int)last);
    if (joins) buf_text(b, "{}");
    if (rune == ' ' && (last == ' ' || !*text))
      buf_text(b, "\\ ");
    else if (rune < 0x7f)
      put_ascii(b, rune);
    else
      put_rune(b, rune);
  }
}

static const char *const faces[] = {"sans", "sansbold", "serif", "italic", "bold", "math"};

static void put_font(Tikz *t, const Text *how) {
  double size = fmax(1, fmin(how->size * t->shrink, LARGEST_LETTER));
  buf_printf(&t->out, "\\limn%s{", faces[how->face]), put_number(&t->out, size, 2);
  buf_char(&t->out, '}');
}

static double words_start(const Mark *m) { return m->text.x + m->text.start; }

static double words_end(const Mark *m) {
  return words_start(m) + text_width(m->text.how.face, m->text.how.size, m->text.words);
}

// Do the words continue the previous ones in another face?
static bool words_join(const Mark *m, const Mark *next) {
  return next->kind == MARK_TEXT && next->text.y == m->text.y && m->text.how.angle == 0 &&
         next->text.how.angle == 0 && next->text.how.ink == m->text.how.ink &&
         fabs(words_start(next) - words_end(m)) < 0.3;
}

// Writes the words from mark `i` on as one node, and returns the mark after them. TeX's letters have
// other widths than ours, so a group of words is centred in its place.
static uint32_t put_words(Tikz *t, uint32_t i) {
  static const char *const anchor[] = {"base west", "base", "base east"};
  const Canvas *c = t->canvas;
  const Mark *m = &c->mark.at[i];
  const Text *how = &m->text.how;
  Buf *b = &t->out;
  uint32_t end = i + 1;
  while (end < c->mark.n && words_join(&c->mark.at[end - 1], &c->mark.at[end])) end++;
  bool one = end == i + 1;
  buf_printf(b, "\\node[anchor=%s", anchor[one ? how->anchor : ANCHOR_MIDDLE]);
  if (how->angle != 0) buf_text(b, ", rotate="), put_number(b, -how->angle, 2);
  put_inked(t, ", text=", how->ink);
  if (one) buf_text(b, ", font="), put_font(t, how);
  buf_text(b, "] at ");
  put_point(t, one ? m->text.x : (words_start(m) + words_end(&c->mark.at[end - 1])) / 2, m->text.y);
  buf_text(b, " {");
  for (; i < end; i++) {
    if (!one) put_font(t, &c->mark.at[i].text.how);
    put_escaped(b, c->mark.at[i].text.words);
  }
  buf_text(b, "};\n");
  return end;
}

// -- paths ----------------------------------------------------------------------------------------
static void put_step(Tikz *t, const PathStep *s) {
  Buf *b = &t->out;
  switch (s->kind) {
  case STEP_MOVE: break;
  case STEP_LINE: buf_text(b, "-- "); break;
  case STEP_CUBIC:
    buf_text(b, ".. controls "), put_point(t, s->ax, s->ay);
    buf_text(b, " and "), put_point(t, s->bx, s->by);
    buf_text(b, " .. ");
    break;
  case STEP_CLOSE: buf_text(b, "-- cycle"); return;
  }
  put_point(t, s->x, s->y);
}

static void put_steps(Tikz *t, const Mark *m) {
  buf_char(&t->out, ']');
  for (uint32_t i = 0; i < m->path.n; i++) {
    buf_text(&t->out, i && i % 4 == 0 ? "\n  " : " ");
    put_step(t, &t->canvas->path.at[m->path.first + i]);
  }
  buf_text(&t->out, ";\n");
}

static void put_opacity(Tikz *t, const Paint *p) {
  if (p->opacity < 1) buf_text(&t->out, ", opacity="), put_number(&t->out, p->opacity, DECIMALS);
}

static void put_pen(Tikz *t, const Paint *p) {
  Buf *b = &t->out;
  if (p->width != 1) buf_text(b, ", line width="), put_units(t, p->width);
  if (p->round) buf_text(b, ", limnround");
  if (p->dash[1] <= 0) return;
  buf_text(b, ", dash pattern=on "), put_units(t, p->dash[0]);
  buf_text(b, " off "), put_units(t, p->dash[1]);
}

// Fills and strokes separately, so that a translucent stroke shows the fill below.
static void put_drawn(Tikz *t, const Mark *m) {
  const Paint *p = &m->path.paint;
  bool both = p->fill && p->stroke && p->opacity >= 1;
  if (both) {
    put_inked(t, "\\filldraw[fill=", p->fill), put_inked(t, ", draw=", p->stroke);
    put_pen(t, p), put_steps(t, m);
    return;
  }
  if (p->fill) put_inked(t, "\\fill[", p->fill), put_opacity(t, p), put_steps(t, m);
  if (p->stroke) {
    put_inked(t, "\\draw[", p->stroke), put_pen(t, p);
    put_opacity(t, p), put_steps(t, m);
  }
}

// -- images ---------------------------------------------------------------------------------------
static uint32_t pixel(const Picture *p, uint32_t x, uint32_t y) {
  const uint8_t *at = p->at + ((size_t)y * p->width + x) * p->channels;
  return p->channels == 3 ? (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2] : at[0] * 0x10101u;
}

// Runs of equal pixels become one rectangle.
static void put_row(Tikz *t, const Mark *m, uint32_t y) {
  const Picture *p = &m->image.picture;
  double w = m->image.w / p->width, h = m->image.h / p->height;
  for (uint32_t x = 0, end; x < p->width; x = end) {
    uint32_t rgb = pixel(p, x, y);
    for (end = x + 1; end < p->width && pixel(p, end, y) == rgb;) end++;
    buf_printf(&t->out, "\\fill[color={rgb,255:red,%u;green,%u;blue,%u}] ", (unsigned)(rgb >> 16),
               (unsigned)(rgb >> 8 & 255), (unsigned)(rgb & 255));
    put_point(t, m->image.x + x * w, m->image.y + y * h), buf_text(&t->out, " rectangle ");
    put_point(t, m->image.x + end * w, m->image.y + (y + 1) * h), buf_text(&t->out, ";\n");
  }
}

static void put_image(Tikz *t, const Mark *m) {
  const Picture *p = &m->image.picture;
  bool small = p->width <= PIXELS && p->height <= PIXELS;
  buf_printf(&t->out, "%% an image of %u x %u pixels%s\n", p->width, p->height,
             small ? "" : ", too many to be drawn: its frame");
  if (small) {
    for (uint32_t y = 0; y < p->height; y++) put_row(t, m, y);
    return;
  }
  double x1 = m->image.x + m->image.w, y1 = m->image.y + m->image.h;
  put_inked(t, "\\filldraw[fill=", INK_PLATE), put_inked(t, ", draw=", INK_SOFT);
  buf_text(&t->out, "] "), put_point(t, m->image.x, m->image.y);
  buf_text(&t->out, " rectangle "), put_point(t, x1, y1), buf_text(&t->out, ";\n");
}

// -- the document ---------------------------------------------------------------------------------
static bool is_word(const char *text) {
  size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789");
  return n && n < 40 && !text[n];
}

static void put_group(Tikz *t, const Mark *m) {
  const char *class = m->group.class;
  Buf *b = &t->out;
  buf_text(b, "\\begin{scope}");
  if (is_word(class)) {
    buf_printf(b, "[limn %s]", class);
    table_put(t->classes, class, strlen(class), 1);
  }
  buf_text(b, " % "), put_comment(b, class);
  if (m->group.words[0]) buf_text(b, class[0] ? ": " : ""), put_comment(b, m->group.words);
  buf_char(b, '\n');
}

static void put_paper(Tikz *t) {
  if (ink_rgb(INK_PAPER, t->theme) != 0xffffff) {
    put_inked(t, "\\fill[", INK_PAPER);
    buf_text(&t->out, "] (0,0) rectangle ");
    put_point(t, t->canvas->width, t->canvas->height);
    buf_text(&t->out, ";\n");
  }
}

// Writes a mark, or several combined into one; returns the mark after them.
static uint32_t put_mark(Tikz *t, uint32_t i) {
  const Mark *m = &t->canvas->mark.at[i];
  switch (m->kind) {
  case MARK_PATH: put_drawn(t, m); break;
  case MARK_TEXT: return put_words(t, i);
  case MARK_IMAGE: put_image(t, m); break;
  case MARK_OPEN: put_group(t, m); break;
  case MARK_CLOSE: buf_text(&t->out, "\\end{scope}\n"); break;
  }
  return i + 1;
}

static void put_marks(Tikz *t) {
  for (uint32_t i = 0; i < t->canvas->mark.n;) i = put_mark(t, i);
  for (uint32_t i = 0; i < t->canvas->open; i++) buf_text(&t->out, "\\end{scope}\n");
}

static const char packages[] =
    "\\documentclass[tikz]{standalone}\n"
    "\\usepackage{amssymb}\n"
    "\\usepackage{fix-cm}\n"
    "\\IfFileExists{tgpagella.sty}{\\usepackage[T1]{fontenc}\\usepackage{tgpagella,tgheros}}{}\n";

static const char commands[] =
    "\\newcommand\\limnsize[1]{\\fontsize{#1\\limnunit}{#1\\limnunit}\\selectfont}\n"
    "\\newcommand\\limnsans{\\normalfont\\sffamily\\limnsize}\n"
    "\\newcommand\\limnsansbold{\\normalfont\\sffamily\\bfseries\\boldmath\\limnsize}\n"
    "\\newcommand\\limnserif{\\normalfont\\rmfamily\\limnsize}\n"
    "\\newcommand\\limnitalic{\\normalfont\\rmfamily\\itshape\\limnsize}\n"
    "\\newcommand\\limnbold{\\normalfont\\rmfamily\\bfseries\\boldmath\\limnsize}\n"
    "\\newcommand\\limnmath{\\normalfont\\rmfamily\\limnsize}\n"
    "% a letter and its number, which is shown where there is no such letter\n"
    "\\ifdefined\\Umathchar\n"
    "  \\newcommand\\limnrune[2]{#1}\n"
    "\\else\n"
    "  \\newcommand\\limnrune[2]{\\ifcsname u8:\\detokenize{#1}\\endcsname#1\\else"
    "\\textsf{U+#2}\\fi}\n"
    "\\fi\n";

static void put_preamble(Tikz *t) {
  Buf *b = &t->out;
  if (t->canvas->title[0]) buf_text(b, "% "), put_comment(b, t->canvas->title), buf_char(b, '\n');
  if (t->canvas->about[0]) buf_text(b, "% "), put_comment(b, t->canvas->about), buf_char(b, '\n');
  buf_text(b, packages);
  buf_text(b, "% the size of the picture: the length of a unit\n"
              "\\newlength\\limnunit\n\\setlength\\limnunit{0.5bp}\n% colours\n");
  for (Ink i = INK_NONE + 1; i < INK_COUNT; i++) {
    if (!t->used[i]) continue;
    buf_text(b, "\\definecolor{"), put_ink(b, i);
    buf_printf(b, "}{HTML}{%06X}\n", (unsigned)ink_rgb(i, t->theme));
  }
  buf_text(b, "% styles\n\\tikzset{\n"
              "  limn/.style={x=\\limnunit, y=-\\limnunit, line width=\\limnunit, "
              "miter limit=4, inner sep=0pt, outer sep=0pt},\n"
              "  limnround/.style={line cap=round, line join=round},\n");
  for (uint32_t i = 0; i < table_count(t->classes); i++) {
    size_t n;
    const char *class = table_key(t->classes, i, &n);
    buf_printf(b, "  limn %.*s/.style={},\n", (int)n, class);
  }
  buf_text(b, "}\n% faces\n");
  buf_text(b, commands);
}

void canvas_tikz(Canvas *c, const Look *look, Buf *out) {
  Arena *scratch = arena_child(c->arena);
  Tikz t = {.canvas = c, .theme = look->theme, .out = buf_new(scratch)};
  t.shrink = fmin(1, LARGEST / fmax(c->width, c->height));
  t.classes = table_new(scratch);
  put_paper(&t);
  put_marks(&t);
  Buf body = t.out;
  t.out = buf_new(scratch);
  put_preamble(&t);
  buf_text(&t.out, "\\begin{document}\n\\begin{tikzpicture}[limn]\n"
                   "\\useasboundingbox (0,0) rectangle ");
  put_point(&t, c->width, c->height), buf_text(&t.out, ";\n");
  buf_add(&t.out, body.at, body.n);
  buf_text(&t.out, "\\end{tikzpicture}\n\\end{document}\n");
  buf_add(out, t.out.at, t.out.n);
  arena_free(scratch);
}
