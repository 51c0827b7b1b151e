// Source positions of SVG groups: data-at="L:C-L:C", 0-based lines and characters as editors count,
// in the text that is drawn. For sources elsewhere (the library or a used file), data-at is the
// call in the drawn text, and data-in="PATH:L:C-L:C" the source itself.
#include "base/source.h"
#include "show/canvas/marks.h"

typedef struct {
  uint32_t line, character;
} LinePlace;

// Characters are UTF-16 units: code points beyond the BMP count twice.
static LinePlace line_place(const Source *s, uint32_t at) {
  uint32_t low = source_line(s->line, s->nline, at);
  LinePlace p = {.line = low};
  for (uint32_t i = s->nline ? s->line[low] : 0; i < at && i < s->n;) {
    size_t n = character_length(s->text + i, s->n - i);
    p.character += n == 4 ? 2 : 1;
    i += n ? (uint32_t)n : 1;
  }
  return p;
}

static void put_range(Buf *b, const Source *s, Span at) {
  LinePlace from = line_place(s, at.at), to = line_place(s, at.at + at.n);
  buf_printf(b, "%u:%u-%u:%u", from.line, from.character, to.line, to.character);
}

static void put_named(Buf *b, const char *name, const char *text) {
  if (text && *text) put_label(b, name, text);
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// Does the source contain this name, or its part after the last dot? Not so if it was substituted,
// as an option for a box.
static bool is_said(const Sources *all, Span at, const char *name) {
  const Source *s = &all->file.at[at.file];
  const char *dot = strrchr(name, '.'), *own = dot ? dot + 1 : name;
  size_t n = strlen(own);
  for (size_t i = at.at; at.file && i + n <= (size_t)at.at + at.n && i + n <= s->n; i++)
    if (memcmp(s->text + i, own, n) == 0) return true;
  return false;
}

Span put_group_of(Buf *b, const Look *look, const GroupOf *of, Span outer) {
  if (!of) return outer;
  Span own = of->place ? of->place->at : (Span){0}, at = own;
  for (const SaidAt *p = of->place; p && at.file != look->file; p = p->around) at = p->at;
  if (at.file != look->file) at = own.file ? outer : (Span){0};
  if (at.file) {
    buf_text(b, " data-at=\"");
    put_range(b, &look->places->file.at[at.file], at);
    buf_char(b, '"');
  }
  if (own.file && own.file != at.file) {
    const Source *s = &look->places->file.at[own.file];
    Buf in = buf_new(b->arena);
    buf_printf(&in, "%s:", file_name(s->path));
    put_range(&in, s, own);
    put_label(b, "data-in", in.at);
  }
  if (of->box && is_said(look->places, own, of->box)) put_named(b, "data-box", of->box);
  put_named(b, "data-wire", of->wire);
  put_named(b, "data-open", of->open);
  put_named(b, "data-type", of->type);
  return at.file ? at : outer;
}
