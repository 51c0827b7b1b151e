// Any text, drawn: what a program without errors has, and what is known of one with errors. The
// text decides how.
#include "base/hash.h"
#include "pictures.h"
#include "tokens.h"

static uint64_t how;

static void draw(Program *p, Buf *out) { picture(p, how, out); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  how = hash_bytes(HASH_START, data, n);
  if (n <= INPUT_LIMIT) with_program((const char *)data, n, draw);
  return 0;
}
