// Texts that are cut or broken into lines, by their exact width.
#include "show/canvas/canvas.h"

// -- texts that are cut ---------------------------------------------------------------------------
static size_t letter_end(const char *text, size_t at) {
  do at++;
  while ((text[at] & 0xC0) == 0x80);
  return at;
}

const char *text_cut(Arena *a, Face face, double size, const char *text, double width) {
  double more = text_width(face, size, "…");
  size_t cut = 0;
  if (strlen(text) < 400 && text_width(face, size, text) <= width) return text;
  for (size_t next = 0; text[next] && next < 400;) {
    next = letter_end(text, next);
    if (text_width(face, size, arena_text(a, text, next)) + more > width) break;
    cut = next;
  }
  return arena_format(a, "%.*s…", (int)cut, text);
}

const char *text_letters(Arena *a, const char *text, size_t most) {
  size_t n = 0;
  for (; text[n] && most; most--) n = letter_end(text, n);
  return text[n] ? arena_format(a, "%.*s…", (int)n, text) : text;
}

size_t text_line(Arena *a, Face face, double size, const char *text, double width) {
  size_t n = 0, word = 0;
  for (size_t next; text[n] && text[n] != '\n'; n = next) {
    next = letter_end(text, n);
    if (text[n] == ' ') word = n;
    if (text_width(face, size, arena_text(a, text, next)) > width)
      return word ? word : n ? n : next;
  }
  return n;
}

// -- texts in lines -------------------------------------------------------------------------------
// Possible line breaks: before an operator, after a comma.
static bool may_break(const char *text, size_t at) {
  static const char *const before[] = {" + ",    " − ",    " · ",   " / ",  " = ",
                                       " when ", " else ", " and ", " or ", " pad "};
  for (uint32_t i = 0; i < COUNT(before); i++)
    if (strncmp(text + at, before[i], strlen(before[i])) == 0) return true;
  return text[at] == ' ' && at && text[at - 1] == ',';
}

static uint32_t depth_after(uint32_t depth, char c) {
  if (strchr("([{", c)) return depth + 1;
  return strchr(")]}", c) && depth ? depth - 1 : depth;
}

// The cost of a break: high in nested brackets or within a product.
static uint32_t break_cost(const char *text, size_t at, uint32_t depth) {
  bool product = !strncmp(text + at, " · ", strlen(" · ")) || !strncmp(text + at, " / ", 3);
  return 2 * depth + product;
}

// The end of the first line: the last of the cheapest breaks that fit, preferably not shorter than
// a third of the width. 0: none.
static size_t line_end(Arena *a, const PlateText *how, const char *text, double width) {
  size_t best = 0;
  uint32_t depth = 0, least = UINT32_MAX;
  for (size_t at = 0; text[at]; depth = depth_after(depth, text[at]), at++) {
    if (!at || !may_break(text, at)) continue;
    double wide = text_width(how->face, how->size, arena_text(a, text, at));
    uint32_t cost = wide * 3 < width ? UINT32_MAX : break_cost(text, at, depth);
    if (wide > width) break;
    if (cost <= least) best = at, least = cost;
  }
  return best;
}

// Breaks a text into lines; returns their number. out may be NULL
static uint32_t lines_of_width(Arena *a, const PlateText *how, const char *text, double width,
                               TextLines *out) {
  uint32_t n = 1;
  for (; n < how->most && text_width(how->face, how->size, text) > width; n++) {
    size_t end = line_end(a, how, text, width);
    if (!end) break;
    if (out) vec_push(a, out, arena_text(a, text, end));
    text += end + 1;
  }
  bool fits = text_width(how->face, how->size, text) <= width;
  if (out) vec_push(a, out, text_cut(a, how->face, how->size, text, how->width));
  return fits ? n : UINT32_MAX;
}

void text_lines(Arena *a, const PlateText *how, const char *text, TextLines *out) {
  enum { STEP = 10, LETTERS = 1200 };
  if (strlen(text) > LETTERS) text = arena_text(a, text, LETTERS);
  double whole = text_width(how->face, how->size, text), width = how->width;
  if (whole <= width) {
    vec_push(a, out, text);
    return;
  }
  uint32_t n = lines_of_width(a, how, text, width, NULL);
  if (n <= how->most) // the minimal number of lines, as even as possible
    for (double w = whole / n; w < width; w += STEP)
      if (lines_of_width(a, how, text, w, NULL) == n) {
        width = w;
        break;
      }
  lines_of_width(a, how, text, width, out);
}
