// Files below a folder, which are read as they are written there: no link is followed below it.
#ifndef LIMN_BASE_WITHIN_H
#define LIMN_BASE_WITHIN_H

#include "base/base.h"

// write.c
// A regular file of at most `limit` bytes; what is no regular file is refused, and not waited for.
FileText file_read_in(Arena *, const char *dir, const char *name, size_t limit);
// From a name on which bytes may not stand there: how a name from outside has to look.
// NULL, or what is wrong with it: it is empty, begins at the root, goes up, has a hidden part.
const char *name_refuse(const char *name);
// The same of a name below a folder, and that no link is on the way there.
const char *name_refuse_in(Arena *, const char *dir, const char *name);

#endif
