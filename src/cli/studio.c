// `limn studio`: opens the studio. Built without libmicrohttpd, it reports that there is none.
#include "cli/cli.h"

#include <stdlib.h>

#ifdef LIMN_HTTP
#include "studio/studio.h"

int run_studio(Limn *l, Options *o) {
  (void)l;
  const char *read[66] = {NULL};
  StudioHow how = {.path = o->file,
                   .limn = "limn",
                   .port = o->port,
                   .no_browser = o->no_browser,
                   .read = read,
                   .room = sizeof read / sizeof *read};
  for (; how.nread < o->nread; how.nread++) read[how.nread] = o->read[how.nread];
  o->understood = true;
  int status = studio_serve(&how);
  fflush(stdout);
  if (!status) _Exit(0); // _Exit: threads may still run work whose results nobody waits for
  return status;
}
#else
int run_studio(Limn *l, Options *o) {
  (void)l;
  o->understood = true;
  fputs("limn studio: this limn was built without libmicrohttpd: install it (Debian: "
        "libmicrohttpd-dev) "
        "and build limn again\n",
        stderr);
  return LIMN_USAGE;
}
#endif
