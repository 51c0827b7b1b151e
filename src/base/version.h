// What files record about the limn that wrote them: LIMN_VERSION, which the public header defines,
// and the build.
#ifndef LIMN_BASE_VERSION_H
#define LIMN_BASE_VERSION_H

#include "limn.h"

// Identifies the build, in 16 letters: a hash of sources, compiler and options, computed by make.
extern const char build_id[];

#endif
