// Math in labels: italic letters, upright digits, subscripts x_{i}, superscripts x^{2}, bold !{W}.
// One function measures and draws. Names of more than LONGEST letters and texts of more than MOST
// end in "…": they come from programs and may be long.
#include "show/canvas/canvas.h"

#include <math.h>

enum { LONGEST = 48, MOST = 240, LEAST = 8 }; // letters; the size of the smallest, 6 points

typedef struct {
  Canvas *c; // NULL: measure only
  double x, y, size;
  Face face; // of letters; FACE_ITALIC usually
  Ink ink;
  int *left; // letters left in this name; -1: it was truncated
  int *all;  // and in the whole text
} Setter;

static size_t letter_bytes(const char *at) {
  size_t n = 1;
  while ((at[n] & 0xC0) == 0x80) n++;
  return n;
}

static bool is_upright(const char *at) {
  if (strncmp(at, "−", strlen("−")) == 0 || strncmp(at, "·", strlen("·")) == 0) return true;
  return (*at >= '0' && *at <= '9') || strchr("()[]+-*/=<>,.:|!?'\"&%#@ ", *at) != NULL;
}

static bool is_small(const char *at) { return (*at == '_' || *at == '^') && at[1] == '{'; }
static bool is_bold(const char *at) { return *at == '!' && at[1] == '{'; }

// The bytes of a run in one face, up to the next markup character.
static size_t run_bytes(const char *at) {
  bool upright = is_upright(at);
  size_t n = 0;
  while (at[n] && at[n] != '}' && !is_small(at + n) && !is_bold(at + n) &&
         is_upright(at + n) == upright)
    n += letter_bytes(at + n);
  return n;
}

static void set_run(Setter *s, const char *at, size_t n) {
  char text[256];
  Face face = is_upright(at) && s->face == FACE_ITALIC ? FACE_SERIF : s->face;
  if (n >= sizeof text) n = sizeof text - 1;
  memcpy(text, at, n);
  text[n] = 0;
  if (s->c)
    canvas_text(s->c, s->x, s->y, &(Text){.face = face, .size = s->size, .ink = s->ink}, text);
  s->x += text_width(face, s->size, text);
}

// Truncates n bytes to the letters that are left, and counts them.
static size_t truncate_letters(Setter *s, const char *at, size_t n) {
  size_t cut = 0;
  for (; cut<n && * s->left> 0; --*s->left, --*s->all) {
    if (strchr(" ,()[]", at[cut])) *s->left = LONGEST; // another name begins
    if (*s->left > *s->all) *s->left = *s->all;
    cut += letter_bytes(at + cut);
  }
  return cut;
}

static const char *cut_off(Setter *s, const char *at) {
  if (*s->left == 0) set_run(s, "…", strlen("…"));
  *s->left = -1;
  return at + strlen(at);
}

// Sets text up to its end, or up to the closing brace.
static const char *set_text(Setter *s, const char *at, bool inner) {
  while (*at && !(inner && *at == '}')) {
    if (*s->left <= 0) return cut_off(s, at);
    if (is_small(at) || is_bold(at)) --*s->left;
    if (is_small(at)) {
      Setter small = *s;
      small.size = fmax(s->size * 0.7, fmin(s->size, LEAST));
      small.y += *at == '_' ? s->size * 0.22 : -s->size * 0.38;
      at = set_text(&small, at + 2, true);
      at += *at == '}';
      s->x = small.x + 0.5;
      continue;
    }
    if (is_bold(at)) {
      Face face = s->face;
      s->face = FACE_BOLD;
      at = set_text(s, at + 2, true);
      at += *at == '}';
      s->face = face;
      continue;
    }
    size_t n = run_bytes(at);
    n = truncate_letters(s, at, n ? n : 1);
    set_run(s, at, n);
    at += n;
  }
  return at;
}

double math_width(Face face, double size, const char *text) {
  int left = LONGEST, all = MOST;
  Setter s = {.size = size, .face = face, .left = &left, .all = &all};
  set_text(&s, text, false);
  return s.x;
}

void math_text(Canvas *c, double x, double y, const Text *how, const char *text) {
  double width = math_width(how->face, how->size, text);
  double by = how->anchor == ANCHOR_MIDDLE ? width / 2 : how->anchor == ANCHOR_END ? width : 0;
  int left = LONGEST, all = MOST;
  Setter s = {.c = c,
              .x = x - by,
              .y = y,
              .size = how->size,
              .face = how->face,
              .ink = how->ink,
              .left = &left,
              .all = &all};
  set_text(&s, text, false);
}
