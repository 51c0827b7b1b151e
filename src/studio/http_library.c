// Opens libmicrohttpd when the studio starts. Linked, it and the ten libraries that it needs would be
// loaded at every start of limn.
#include "studio/http_library.h"

#ifdef LIMN_HTTP_LIBRARY
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

HttpLibrary http_library;

// A pointer to a function is not a pointer to an object in C: its bytes are copied.
static bool find_function(void *library, const char *name, void *to) {
  void *found = dlsym(library, name);
  memcpy(to, &found, sizeof found);
  if (!found) fprintf(stderr, "limn studio: %s has no %s\n", LIMN_HTTP_LIBRARY, name);
  return found;
}

bool http_library_open(void) {
  void *library = dlopen(LIMN_HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "limn studio: libmicrohttpd cannot be opened: %s\n", dlerror());
  bool all = library;
#define FIND(name) all = all && find_function(library, "MHD_" #name, &http_library.name);
  HTTP_FUNCTIONS(FIND)
#undef FIND
  return all;
}
#else
bool http_library_open(void) { return true; }
#endif
