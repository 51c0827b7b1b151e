// studio: a page on this machine, and what answers it. docs/protocol.md says what they say to each other.
#ifndef LIMN_STUDIO_STUDIO_H
#define LIMN_STUDIO_STUDIO_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *path;     // a program or a folder; NULL: this one
  const char *limn;     // this program as it was called, which is started to train
  uint32_t port;        // 0: any that is free
  bool no_browser;      // nothing is opened
  const char **read;    // folders that programs may read besides the one that is served
  uint32_t nread, room; // of `read`; one place more is needed
} StudioHow;
// Serves until it is interrupted. The exit status.
int studio_serve(StudioHow *);

#endif
