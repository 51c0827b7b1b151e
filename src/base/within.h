// Reading and writing below a folder without following links.
#ifndef LIMN_BASE_WITHIN_H
#define LIMN_BASE_WITHIN_H

#include "base/base.h"

// Reads a regular file of at most `limit` bytes. Anything else is refused without blocking.
FileText file_read_in(Arena *, const char *dir, const char *name, size_t limit);
// As file_write_in; `dir` is relative to the open folder `at`.
const char *file_write_at(Arena *, int at, const char *dir, const char *name, const void *bytes,
                          size_t n);
// Validates an untrusted relative name. NULL, or what is wrong: it is empty, absolute or too long,
// it has an empty part, a part that begins with a dot, or a control character.
const char *name_refuse(const char *name);
// The same, and no link is on the path below `dir`.
const char *name_refuse_in(Arena *, const char *dir, const char *name);

#endif
