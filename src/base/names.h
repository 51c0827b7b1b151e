// names.h: interned names: equal names have equal ids; 0 is no name.
#ifndef LIMN_BASE_NAMES_H
#define LIMN_BASE_NAMES_H

#include "base/base.h"

Names *names_new(Arena *);
Name name_of(Names *, const char *text, size_t n);
Name name_from(Names *, const char *text);
const char *name_text(const Names *, Name); // terminated by 0; "" for 0

#endif
