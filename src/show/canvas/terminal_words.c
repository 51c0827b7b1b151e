// Words in text pictures: sub- and superscript characters, and space for words in boxes. Characters
// are wider than in the picture, so boxes get additional columns, and everything to their right is
// shifted.
#include "show/canvas/terminal_own.h"

#include <math.h>

// -- letters --------------------------------------------------------------------------------------
uint32_t rune_small(uint32_t rune, WordHeight h) {
  static const char *const from[] = {"",
                                     "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW",
                                     "0123456789+-=()aehijklmnoprstuvx"};
  static const char *const to[] = {"",
                                   "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
                                   "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"};
  const char *other = to[h];
  for (const char *c = from[h]; *c; c++) {
    uint32_t there = rune_next(&other);
    if ((uint32_t)(unsigned char)*c == rune) return there;
  }
  return 0;
}

bool rune_combines(uint32_t rune) {
  return (rune >= 0x300 && rune < 0x370) || (rune >= 0x20d0 && rune < 0x2100);
}

bool rune_is_wide(uint32_t rune) {
  return (rune >= 0x1100 && rune < 0x1160) || (rune >= 0x2e80 && rune < 0xa4d0) ||
         (rune >= 0xac00 && rune < 0xd7a4) || (rune >= 0xf900 && rune < 0xfb00) ||
         (rune >= 0xfe30 && rune < 0xfe70) || (rune >= 0xff00 && rune < 0xff61) ||
         (rune >= 0x1f300 && rune < 0x1fb00) || (rune >= 0x20000 && rune < 0x3fffe);
}

// -- columns --------------------------------------------------------------------------------------
static int column_at(const WideColumns *c, double x) {
  return (int)floor(x / c->column + columns_extra(c, x));
}

double columns_extra(const WideColumns *c, double x) {
  if (!c->extra || !(x > 0)) return 0;
  double last = (double)c->n - 1, at = floor(fmin(x, last));
  uint32_t i = (uint32_t)at;
  return i + 1 < c->n ? c->extra[i] + (fmin(x, last) - at) * (c->extra[i + 1] - c->extra[i])
                      : c->extra[i];
}

// Adds columns evenly over the box, and shifts what is to its right.
static void widen_box(WideColumns *c, const Area *box, int more) {
  for (uint32_t i = 0; i < c->n; i++) {
    double part = (i - box->x0) / (box->x1 - box->x0);
    c->extra[i] += more * fmax(0, fmin(1, part));
  }
}

// The characters of all words in the same row of a box, with a space between words
static int letters_beside(const BoxedWords *all, uint32_t n, const BoxedWords *w) {
  enum { ROW_NEAR = 4 };
  int letters = -1;
  for (uint32_t i = 0; i < n; i++) {
    const Area *a = &all[i].box, *b = &w->box;
    bool same = a->x0 == b->x0 && a->x1 == b->x1 && a->y0 == b->y0 && a->y1 == b->y1;
    if (same && fabs(all[i].y - w->y) < ROW_NEAR) letters += all[i].letters + 1;
  }
  return letters;
}

void columns_widen(Arena *a, WideColumns *c, double width, const BoxedWords *all, uint32_t n) {
  enum { PASSES = 4, WIDEST = 20000, MOST = 5000 };
  int *letters = NEW_ARRAY(a, int, n + 1);
  if (!(width < WIDEST) || n > MOST) return;
  for (uint32_t i = 0; i < n; i++) letters[i] = letters_beside(all, n, &all[i]);
  c->n = (uint32_t)ceil(width) + 2;
  c->extra = NEW_ARRAY(a, double, c->n);
  for (int pass = 0, again = 1; again && pass < PASSES; pass++) {
    again = 0;
    for (uint32_t i = 0; i < n; i++) {
      const Area *box = &all[i].box;
      int room = column_at(c, box->x1) - column_at(c, box->x0) - 1;
      int lacks = letters[i] - room;
      if (lacks > 0 && box->x1 > box->x0) widen_box(c, box, lacks), again = 1;
    }
  }
}
