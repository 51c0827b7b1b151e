// Any text: checked as a program, with messages in both forms, and who moves whom. No crash, no
// leak, no hang. What is done with programs that are right: fuzz_pass, fuzz_draw.
#include "base/diag.h"
#include "run/step/step.h"

#include "tokens.h"
#include "whole.h"

static void say(Program *p, Buf *out) {
  if (!world->diags->errors) learn_who(infer, p, out);
  diags_print(world->diags, out);
  diags_json(world->diags, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n <= INPUT_LIMIT) with_program((const char *)data, n, say);
  return 0;
}
