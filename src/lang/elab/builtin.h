// What the files about built-in boxes share.
#ifndef LIMN_LANG_ELAB_BUILTIN_H
#define LIMN_LANG_ELAB_BUILTIN_H

#include "lang/elab/call.h"
#include "lang/elab/elab.h"

// join.c
// Permutes and broadcasts a value to these axes: batch axes are found by number, own axes keep
// their order.
Val arrange_axes(Body *, Val, const Axis *want, uint32_t n, Span);
// Broadcasts to `want`, whose first `rows` own axes are rows of values.
Val with_rows(Body *, Val, const Type *want, uint32_t rows, Span);
Val broadcast_to(Body *, Val, const Axis *pass, uint32_t npass,
                 Span); // broadcasts to batch axes it lacks
// With all of these batch axes: missing ones are added in front.
Val for_each_row(Body *, Val, const Axis *pass, uint32_t npass, Span);
uint32_t all_passing(const Value *args, Axis *pass); // the union of the batch axes of the arguments
Value builtin_concat(const BuiltinUse *);

// builtin.c
const Syntax *boxed_option(Body *, const Syntax *config, uint32_t at, Span, const char *word);
Def *box_called(Body *, const char *name);
// Like box_alone, with more parameters.
typedef struct {
  Env *env;
  const Syntax *box;
  const Type *in; // input types
  uint32_t n;
  uint64_t *over; // [input] out: the axes that are batch axes of every box it goes into; or NULL
  const Syntax *named; // … over h, or NULL
  bool rows;           // results have every batch axis, even if they do not vary along it
  Span span;
} Alone;
Body *box_for_itself(Body *, const Alone *);
// Stores the options from slot `from` on with the diagram.
void config_keep(Body *, Env *, const Syntax *config, uint32_t from, Diagram *to);

// lift.c: vectorises a built-in box of a box: axes beyond those the inner box takes become batch
// axes.
typedef struct {
  Body *b;
  const char *word;
  Span span;
  uint32_t npass; // the batch axes of the body before
  Axis *pass;
  Id wires;
} Lift;
void lift_begin(Lift *, Body *, const char *word, Span);
bool lift_over(Lift *, Value *args,
               const Match *); // the axes m->rest of the arguments become batch axes
void mark_axis(Body *, Val *, uint32_t at, uint32_t number);
void lift_end(Lift *, Value *out);

// header.c
// fwd or rev, unless the name has another meaning; or NULL
const BuiltinBox *derivative_named(Body *, Env *, const Syntax *);

// derivative.c
enum { FORTH, BACK };
Value builtin_derivative(const BuiltinUse *);
bool derivative_inputs(Body *, Env *, const BuiltinBox *, const Syntax *config,
                       BoxInputs *); // false: the inputs of f are unknown

// scan.c
Value builtin_scan(const BuiltinUse *);

#endif
