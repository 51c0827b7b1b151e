// elab: what the files about built-in boxes share.
#ifndef LIMN_LANG_ELAB_BUILTIN_H
#define LIMN_LANG_ELAB_BUILTIN_H

#include "lang/elab/elab.h"

// builtin.c
Val widen(Body *, Val, const Axis *pass, uint32_t npass,
          Span); // the same along axes that it does not have yet
const Syntax *boxed_option(Body *, const Syntax *config, uint32_t at, Span, const char *word);
Def *box_called(Body *, const char *name);
uint32_t all_passing(const Value *args, Axis *pass); // axes that pass over any of them

// scan.c
Value builtin_scan(const BuiltinUse *);

#endif
