// studio: a local web page and its server. docs/protocol.md specifies their messages.
#ifndef LIMN_STUDIO_STUDIO_H
#define LIMN_STUDIO_STUDIO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *path;     // a program or a folder; NULL: the current folder
  const char *limn;     // path of this executable, which is started for training
  uint32_t port;        // 0: any free port
  bool no_browser;      // do not open a browser
  const char **read;    // folders besides the served one that programs may read
  uint32_t nread, room; // room: capacity of `read`, at least nread + 1
} StudioHow;
// Serves until interrupted. Returns the exit status.
int studio_serve(StudioHow *);

#endif
