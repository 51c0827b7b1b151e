// One thing changed in the text of a program: what a generator of programs that are nearly alike needs.
#ifndef LIMN_TEXT_CHANGES_H
#define LIMN_TEXT_CHANGES_H

#include "base/base.h"

typedef enum {
  CHANGE_NUMBER, // another number
  CHANGE_WORD,   // a function, operator, distance or optimiser is another one
  CHANGE_STAGE,  // `; relu` is gone from a row of boxes
  CHANGE_CALL,   // `relu(x)` is `(x)`
  CHANGE_OPTION, // one of the options in brackets is gone
  CHANGE_PHRASE, // `times 2`, `every 10`, `pad 0` is gone
  CHANGE_LINE,   // a line is gone
  CHANGE_KINDS
} TextChangeKind;
extern const char *const text_change_names[CHANGE_KINDS];

typedef struct {
  TextChangeKind kind;
  size_t at, n;     // these bytes
  const char *with; // are these instead
} TextChange;
typedef VEC(TextChange) TextChanges;

// All changes of these kinds (a mask of 1 << kind) in the order of the text. Comments and strings stay.
TextChanges text_changes(Arena *, const char *text, uint32_t kinds);
const char *text_changed(Arena *, const char *text, const TextChange *);
// The line that is changed, as it is and as it becomes: "3: x * 2 is x * 3".
const char *text_change_said(Arena *, const char *text, const TextChange *);

#endif
