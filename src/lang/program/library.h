// The standard library's text, embedded in the binary from lib/.
#ifndef LIMN_LANG_PROGRAM_LIBRARY_H
#define LIMN_LANG_PROGRAM_LIBRARY_H
#include <stddef.h>

extern const char limn_library[];
extern const size_t limn_library_size;

#endif
