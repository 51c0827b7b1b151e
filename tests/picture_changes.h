// Does a picture show what was changed in a program? Of a box, learner, machine, wiring or learning
// diagram it is its own picture that has to, with everything opened and as it is usually drawn; of
// anything else one of all pictures.
#ifndef LIMN_PICTURE_CHANGES_H
#define LIMN_PICTURE_CHANGES_H

#include "text_changes.h"

#include "limn.h"

typedef struct PictureChanges PictureChanges;
// `dir` has the files that the program uses; was.limn and now.limn are written there. NULL: it is refused.
PictureChanges *picture_changes(Arena *, const char *dir, const char *text);
// NOTHING: it is no program, or the same (`limn diff`), or no picture speaks of what was changed.
typedef enum { SHOWN, HIDDEN, NOTHING } PictureChangeAnswer;
// `level`: at which it is hidden.
PictureChangeAnswer picture_change_try(PictureChanges *, const TextChange *, const char **level);
void picture_changes_free(PictureChanges *);

#endif
