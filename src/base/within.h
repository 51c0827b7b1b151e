// Files below a folder: no link is followed below it, in reading as in writing.
#ifndef LIMN_BASE_WITHIN_H
#define LIMN_BASE_WITHIN_H

#include "base/base.h"

// write.c
// A regular file of at most `limit` bytes; what is no regular file is refused, and not waited for.
FileText file_read_in(Arena *, const char *dir, const char *name, size_t limit);
// As file_write_in; DIR is relative to the folder that is open as `at`.
const char *file_write_at(Arena *, int at, const char *dir, const char *name, const void *bytes,
                          size_t n);
// From a name on which bytes may not stand there: how a name from outside has to look.
// NULL, or what is wrong with it: it is empty, begins at the root, goes up, has a hidden part.
const char *name_refuse(const char *name);
// The same of a name below a folder, and that no link is on the way there.
const char *name_refuse_in(Arena *, const char *dir, const char *name);

#endif
