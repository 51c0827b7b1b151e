// elab: what the files about built-in boxes share.
#ifndef LIMN_LANG_ELAB_BUILTIN_H
#define LIMN_LANG_ELAB_BUILTIN_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// join.c
// The axes of a value in this order: what passes over is found by its number, or the value is the
// same along it; its own axes follow each other as they stand.
Val arranged(Body *, Val, const Axis *want, uint32_t n, Span);
// As `want`, whose first own axes are rows: the value is the same along those that it lacks.
Val with_rows(Body *, Val, const Type *want, uint32_t rows, Span);
Val widen(Body *, Val, const Axis *pass, uint32_t npass,
          Span); // the same along axes that it does not have yet
// With all of these axes: those that are missing in front, the others as they stand.
Val for_each_row(Body *, Val, const Axis *pass, uint32_t npass, Span);
uint32_t all_passing(const Value *args, Axis *pass); // axes that pass over any of them
Value builtin_concat(const BuiltinUse *);

// builtin.c
const Syntax *boxed_option(Body *, const Syntax *config, uint32_t at, Span, const char *word);
Def *box_called(Body *, const char *name);
// box_alone, with more to say.
typedef struct {
  Env *env;
  const Syntax *box;
  const Type *in; // of its inputs
  uint32_t n;
  uint64_t *over;      // [input] gets the axes that pass over all boxes it goes into; or NULL
  const Syntax *named; // … over h; or NULL
  bool rows; // what comes out has every axis that passes over, even if it is the same along it
  Span span;
} Alone;
Body *box_for_itself(Body *, const Alone *);
// The options in these brackets, from this one on, stay with the diagram.
void config_keep(Body *, Env *, const Syntax *config, uint32_t from, Diagram *to);

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

// header.c
// fwd or rev, where nothing else is called so; or NULL
const BuiltinBox *derivative_named(Body *, Env *, const Syntax *);

// derivative.c
enum { FORTH, BACK };
Value builtin_derivative(const BuiltinUse *);
bool derivative_inputs(Body *, Env *, const BuiltinBox *, const Syntax *config,
                       BoxInputs *); // false: f does not say what it takes

// scan.c
Value builtin_scan(const BuiltinUse *);

#endif
