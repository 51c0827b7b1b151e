// The values allowed for the options of a box and the settings of an optimiser.
#ifndef LIMN_LANG_VALUE_DOMAIN_H
#define LIMN_LANG_VALUE_DOMAIN_H

#include "lang/value/value.h"

// The first violated domain under the bindings of `env`, or NULL.
const Syntax *domain_broken(Body *, Env *, Nodes domains);
bool domain_names(const Syntax *domain, Name);
bool domains_sound(
    Body *, Env *,
    Nodes domains); // they mention only options and numbers; otherwise false with diagnostics
// Appends "p is 2" to a text for domain_refuse, with the reason if 2 is outside every domain.
void domain_value(Buf *text, const char *name, double value);
void domain_refuse(Body *, const char *what, const Syntax *domain, const char *values, Span);
// Checks the domains of all options of a box; false with diagnostics. `given`: the argument of a
// call for each option, or NULL; if none of those a domain mentions is given, the message blames
// the defaults. generic: the box is elaborated without a use.
bool domains_hold(Body *, Env *, const char *what, Nodes options, const Syntax *const *given,
                  bool generic);

#endif
