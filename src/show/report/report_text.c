// Text as HTML: escaped, with syntax colouring, or as a table.
//
// External text only enters a page through html_text, which escapes markup and quotes and replaces
// invalid characters.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "show/report/report_own.h"

#include "lang/syntax/syntax.h"

#include <math.h>

// -- escaping -------------------------------------------------------------------------------------
static void html_char(Buf *b, const char *at, size_t n) {
  bool control = ((unsigned char)*at < 32 && *at != '\n' && *at != '\t') || *at == 127;
  if (!control && !put_entity(b, *at)) buf_add(b, at, n);
}

void html_text(Buf *b, const char *text, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t m = character_length(text + i, n - i);
    if (m)
      html_char(b, text + i, m);
    else
      buf_text(b, "\ufffd");
    i += m ? m : 1;
  }
}

// -- a program ------------------------------------------------------------------------------------
// element: the enclosing tag; NULL: none
static void put_piece(Buf *b, const char *element, const char *text, size_t n) {
  if (element) buf_printf(b, "<%s>", element);
  html_text(b, text, n);
  if (element) buf_printf(b, "</%s>", element);
}

// White space and comments between tokens.
static void put_gap(Buf *b, const char *at, const char *end) {
  while (at < end) {
    bool comment = *at == '#';
    const char *next = memchr(at, comment ? '\n' : '#', (size_t)(end - at));
    if (!next) next = end;
    put_piece(b, comment ? "i" : NULL, at, (size_t)(next - at));
    at = next;
  }
}

void html_program(Buf *b, const char *text, size_t n) {
  static const char *const element[] = {
      [TK_WORD] = "b", [TK_NUM] = "u", [TK_STR] = "q", [TK_SYMBOL] = NULL};
  Arena *scratch = arena_child(b->arena);
  Front front = {.arena = scratch, .names = names_new(scratch), .sources = sources_new(scratch)};
  front.diags = diags_new(scratch, front.sources);
  Tokens tokens = lex(&front, source_add(front.sources, "", text, n));
  const char *at = text;
  for (uint32_t i = 0; i < tokens.n; i++) {
    const Token *t = &tokens.at[i];
    const char *start = text + t->span.at;
    if (!t->span.n) continue; // a generated token
    put_gap(b, at, start);
    put_piece(b, element[t->kind], start, t->span.n);
    at = start + t->span.n;
  }
  put_gap(b, at, text + n);
  arena_free(scratch);
}

// -- the table ------------------------------------------------------------------------------------
typedef struct {
  const char *at;
  size_t n;
} CodeWord;

static bool next_word(const char **line, CodeWord *w) {
  const char *at = *line + strspn(*line, " \t");
  w->at = at;
  w->n = strcspn(at, " \t\n");
  *line = at + w->n;
  return w->n > 0;
}

static uint32_t count_words(const char *line) {
  uint32_t n = 0;
  for (CodeWord w; next_word(&line, &w);) n++;
  return n;
}

// Learners in the first line, then goals with a word for each learner.
static bool is_table(const char *text) {
  uint32_t columns = count_words(text), rows = 0;
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
    if (count_words(line + 1) != columns + 1) return false;
    rows++;
  }
  return columns && rows;
}

static void who_row(Buf *b, const char *line, bool head) {
  CodeWord w;
  buf_text(b, head ? "<thead><tr><td></td>" : "<tr>");
  for (uint32_t i = 0; next_word(&line, &w); i++) {
    bool name = head || i == 0, none = w.n == 2 && memcmp(w.at, "·", 2) == 0;
    buf_text(b, head   ? "<th scope=\"col\">"
                : name ? "<th scope=\"row\">"
                : none ? "<td class=\"none\">"
                       : "<td>");
    html_text(b, w.at, w.n);
    buf_text(b, name ? "</th>" : "</td>");
  }
  buf_text(b, head ? "</tr></thead><tbody>\n" : "</tr>\n");
}

void html_who(Buf *b, const char *text) {
  if (!is_table(text)) {
    buf_text(b, "<pre tabindex=\"0\">");
    html_text(b, text, strlen(text));
    buf_text(b, "</pre>\n");
    return;
  }
  buf_text(b, "<div class=\"wide\"><table>");
  who_row(b, text, true);
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
    who_row(b, line + 1, false);
  buf_text(b, "</tbody></table></div>\n");
}

// -- time -----------------------------------------------------------------------------------------
const char *time_text(Arena *a, double s) {
  if (!(s >= 0) || s > 1e12) return "?";
  if (s < 60) return arena_format(a, s < 10 ? "%.1f s" : "%.0f s", s);
  long long minutes = (long long)(s / 60);
  if (minutes < 60)
    return arena_format(a, "%lld min %.0f s", minutes, floor(s - 60.0 * (double)minutes));
  return arena_format(a, "%lld h %lld min", minutes / 60, minutes % 60);
}
