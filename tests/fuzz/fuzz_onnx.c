// Any bytes, read as an ONNX model: refused with a message, or a program that `limn check` accepts. Memory is bounded.
#include "base/diag.h"
#include "base/source.h"
#include "lang/program/program.h"
#include "port/import/import.h"

#include "whole.h"

enum { TEXT_MOST = 1 << 14 };

static void must_check(Program *p, Buf *out) {
  (void)p;
  diags_print(world->diags, out);
  if (world->diags->errors) fprintf(stderr, "%s\n", out->at), abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  if (!a || n > 1 << 20) return arena_free(a), 0;
  Diags *diags = diags_new(a, sources_new(a));
  ImportOptions how = {.bytes = bytes, .n = n, .weights = "w.safetensors"};
  Imported made = {0};
  bool good = import_onnx(a, diags, &how, &made);
  if (good == (diags->errors > 0) || arena_used(a) > 100 * n + (200 << 20)) abort();
  bool beside =
      good && strstr(made.text, "const "); // its numbers may be in a file, which is not here
  if (good && !beside && strlen(made.text) <= TEXT_MOST)
    with_program(made.text, strlen(made.text), must_check);
  arena_free(a);
  return 0;
}
