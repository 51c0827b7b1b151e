// Any bytes at all, read as the text of a diagram: refused with a diagnostic, or read into a
// diagram that is valid, prints, and reads back equal to itself.
#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/print.h"
#include "diagram_help.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  World *w = world_new(a);
  Buf out = buf_new(a), again = buf_new(a);
  Diagram *d = diagram_read(w, source_add(w->sources, "fuzz", (const char *)bytes, n));
  if (d) {
    diagram_print(w, d, &out, false);
    Diagram *e = diagram_read(w, source_add(w->sources, "again", out.at, out.n));
    if (!e || !diagram_equal(w, d, e)) abort();
    diagram_print(w, e, &again, false);
    if (strcmp(out.at, again.at) != 0) abort();
  } else if (!w->diags->errors) {
    abort();
  }
  arena_free(a);
  return 0;
}
