// The visible content of a picture.
#ifndef PAINTED_HELP_H
#define PAINTED_HELP_H

#include "base/base.h"

// An SVG without what is not seen: titles, the description, ids.
const char *painted(Arena *, const char *svg, size_t n, size_t *bytes);

#endif
