// Private to canvas: pictures as lines of text.
#ifndef LIMN_SHOW_CANVAS_TERMINAL_OWN_H
#define LIMN_SHOW_CANVAS_TERMINAL_OWN_H

#include "show/canvas/marks.h"

// terminal_words.c
typedef enum { ON_LINE, ABOVE, BELOW } WordHeight;
uint32_t rune_small(uint32_t rune, WordHeight); // the superscript or subscript form; 0: none
bool rune_combines(uint32_t), rune_is_wide(uint32_t);

typedef struct { // words inside a box
  Area box;
  double y;
  int letters;
} BoxedWords;
typedef struct {
  double column; // width of a column
  uint32_t n;
  double *extra; // [n] additional columns up to each unit; NULL: none
} WideColumns;
double columns_extra(const WideColumns *, double x);
// Widens boxes to fit the words in each of their rows; width: of the page
void columns_widen(Arena *, WideColumns *, double width, const BoxedWords *, uint32_t n);

#endif
