#define _DEFAULT_SOURCE
#include "folder_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

int folder_enter(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/limn.XXXXXX");
  return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

int folder_leave(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}
