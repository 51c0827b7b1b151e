// What is written into files of the limn that made them: LIMN_VERSION, which stands in the public header
// alone, and which build of it.
#ifndef LIMN_BASE_VERSION_H
#define LIMN_BASE_VERSION_H

#include "limn.h"

// Which build this is, in 16 letters: of the sources, the compiler and its options, made by make.
extern const char build_id[];

#endif
