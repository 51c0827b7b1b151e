// Any text that is a program without errors, through all passes.
#include "passes.h"
#include "tokens.h"

static void work(Program *p, Buf *out) {
  if (!world->diags->errors) all_passes(p, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n <= INPUT_LIMIT) with_program((const char *)data, n, work);
  return 0;
}
