// diff: the picture of a difference of two programs or models.
//
//   Canvas *c = diff_draw(arena, &answer, &(DiffRuns){{"runs/a", "runs/b"}});
//
// Common parts are drawn once in grey. What only the first side has is dashed, what only the second
// side has is drawn with double lines, so the picture is readable in one colour.
#ifndef LIMN_SHOW_DIFF_PICTURE_H
#define LIMN_SHOW_DIFF_PICTURE_H

#include "show/canvas/canvas.h"
#include "show/diff/diff.h"

typedef struct {
  const char *dir[2]; // folders of runs whose curves are drawn; NULL: no run
} DiffRuns;
enum { DIFF_UNITS_MOST = 500 };
// NULL: a body has more boxes than this.
Canvas *diff_draw(Arena *, const DiffAnswer *, const DiffRuns *);
// An HTML page with the picture and the text.
void diff_page(Arena *, const DiffAnswer *, Canvas *, Buf *);

#endif
