// elab: what the files about built-in boxes share.
#ifndef LIMN_LANG_ELAB_BUILTIN_H
#define LIMN_LANG_ELAB_BUILTIN_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// join.c
// The axes of a value in this order: what passes over is found by its number, or the value is the
// same along it; its own axes follow each other as they stand.
Val arranged(Body *, Val, const Axis *want, uint32_t n, Span);
Val widen(Body *, Val, const Axis *pass, uint32_t npass,
          Span); // the same along axes that it does not have yet
uint32_t all_passing(const Value *args, Axis *pass); // axes that pass over any of them
Value builtin_concat(const BuiltinUse *);

// builtin.c
const Syntax *boxed_option(Body *, const Syntax *config, uint32_t at, Span, const char *word);
Def *box_called(Body *, const char *name);
// box_alone that notes which axes of each input pass over all boxes it goes into.
Body *box_watched(Body *, Env *, const Syntax *box, const Inputs *, uint64_t *over, Span);

// lift.c: a built-in box of a box is given more axes than its box takes: they pass over it, as they
// do over any box.
typedef struct {
  Body *b;
  const char *word;
  Span span;
  uint32_t npass; // as they were before
  Axis *pass;
  Id wires;
} Lift;
void lift_begin(Lift *, Body *, const char *word, Span);
bool lift_over(Lift *, Value *args, const Match *); // what is left of them passes over from here on
void mark_axis(Body *, Val *, uint32_t at, uint32_t number);
void lift_end(Lift *, Value *out);

// derivative.c
enum { FORTH, BACK };
Value builtin_derivative(const BuiltinUse *);

// scan.c
Value builtin_scan(const BuiltinUse *);

#endif
