// domain: which values the options of a box, and the settings of an optimiser, may have.
#ifndef LIMN_LANG_VALUE_DOMAIN_H
#define LIMN_LANG_VALUE_DOMAIN_H

#include "lang/value/value.h"

// The first that does not hold for what the names of the options are bound to; NULL: none.
const Syntax *domain_broken(Body *, Env *, Nodes domains);
bool domain_names(const Syntax *domain, Name);
bool domains_sound(Body *, Env *,
                   Nodes domains); // only options and numbers; false with diagnostics
void domain_refuse(Body *, const char *what, const Syntax *domain, const char *values, Span);
// Every option of a box is in its domain; false with diagnostics. `given`: what a call writes for each, or
// NULL; where it writes none of those that a domain names, the defaults are wrong. generic: the box is
// checked for itself.
bool domains_hold(Body *, Env *, const char *what, Nodes options, const Syntax *const *given,
                  bool generic);

#endif
