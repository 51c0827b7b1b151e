// The emulated GPU (tests/gpu) for tests; LIMN_GPU=1 selects a real one.
#ifndef LIMN_TESTS_GPU_HELP_H
#define LIMN_TESTS_GPU_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// From whatever folder it is looked for later.
static void have_gpu(void) {
  char folder[4096];
  if (getenv("LIMN_GPU") || !getcwd(folder, sizeof folder - 64)) return;
  size_t n = strlen(folder);
  snprintf(folder + n, sizeof folder - n, "/%s", FAKE_CUDA);
  setenv("LIMN_CUDA", folder, 1);
  snprintf(folder + n, sizeof folder - n, "/tests/gpu/emulated.h");
  setenv("FAKE_CUDA_HEADER", folder, 1);
}

#endif
