// diff: two programs or models as one picture.
//
//   Canvas *c = diff_draw(arena, &answer, &(DiffRuns){{"runs/a", "runs/b"}});
//
// What both have is drawn once, in grey. What only the first has is dashed, what only the second
// has is drawn with a double line; so a picture in one colour says the same.
#ifndef LIMN_SHOW_DIFF_PICTURE_H
#define LIMN_SHOW_DIFF_PICTURE_H

#include "show/canvas/canvas.h"
#include "show/diff/diff.h"

typedef struct {
  const char *dir[2]; // folders of runs, whose curves are drawn; NULL: it is none
} DiffRuns;
enum { DIFF_UNITS_MOST = 500 };
// NULL: there are more boxes than this in one body.
Canvas *diff_draw(Arena *, const DiffAnswer *, const DiffRuns *);
// A page with the picture and the text.
void diff_page(Arena *, const DiffAnswer *, Canvas *, Buf *);

#endif
