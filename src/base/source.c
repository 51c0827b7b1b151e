// Source texts, and conversion of offsets to lines and columns.
#include "base/source.h"
#include "base/base.h"

#include <assert.h>

Sources *sources_new(Arena *a) {
  Sources *s = NEW(a, Sources);
  s->arena = a;
  vec_push(a, &s->file, (Source){.path = "", .text = ""});
  return s;
}

uint32_t source_add(Sources *s, const char *path, const char *text, size_t n) {
  VEC(uint32_t) line = {0};
  vec_push(s->arena, &line, 0);
  for (size_t i = 0; i < n; i++)
    if (text[i] == '\n') vec_push(s->arena, &line, (uint32_t)i + 1);
  Source file = {arena_text(s->arena, path, strlen(path)), arena_text(s->arena, text, n),
                 (uint32_t)n, line.n, line.at};
  vec_push(s->arena, &s->file, file);
  return s->file.n - 1;
}

uint32_t source_line(const uint32_t *line, uint32_t n, uint32_t at) {
  uint32_t low = 0, high = n;
  while (high - low > 1) {
    uint32_t mid = low + (high - low) / 2;
    *(line[mid] <= at ? &low : &high) = mid;
  }
  return low;
}

void source_place(const Sources *s, Span span, uint32_t *line, uint32_t *column) {
  const Source *f = &s->file.at[span.file];
  uint32_t low = source_line(f->line, f->nline, span.at);
  *line = low + 1;
  *column = 1;
  if (!f->nline) return;
  for (uint32_t i = f->line[low]; i < span.at && i < f->n; i++)
    // UTF-8 continuation bytes are not counted.
    *column += ((unsigned char)f->text[i] & 0xC0) != 0x80;
}

Span span_join(Span first, Span last) {
  if (!first.file) return last;
  if (last.file != first.file || last.at + last.n <= first.at) return first;
  return (Span){first.file, first.at, last.at + last.n - first.at};
}

const char *source_words(Arena *a, const Sources *all, Span span) {
  const char *text = all->file.at[span.file].text;
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < span.n; i++) {
    char c = text[span.at + i];
    if (c == '#')
      while (i + 1 < span.n && text[span.at + i + 1] != '\n') i++;
    else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
      buf_char(&b, c);
    else if (b.n && b.at[b.n - 1] != ' ')
      buf_char(&b, ' ');
  }
  return b.n ? b.at : "";
}

SpanNumbers *span_numbers_new(Arena *a, const Sources *sources) {
  SpanNumbers *m = NEW(a, SpanNumbers);
  m->arena = a;
  m->sources = sources;
  return m;
}

uint32_t *span_number(SpanNumbers *m, Span at) {
  while (m->of.n <= at.file) vec_push(m->arena, &m->of, NULL);
  uint32_t n = m->sources->file.at[at.file].n;
  assert(at.at <= n);
  if (!m->of.at[at.file]) m->of.at[at.file] = NEW_ARRAY(m->arena, uint32_t, (size_t)n + 1);
  return &m->of.at[at.file][at.at];
}
