// Any bytes as a diagram in JSON: a message, or a program that can be laid out. Names and sizes
// that were read are words of the language by then, so the text holds nothing else.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/syntax.h"
#include "port/json/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  Arena *a = arena_new();
  const char *error = NULL;
  JsonProgram p = {0};
  if (!a) abort();
  bool good = json_program(a, (const char *)bytes, n, n % 2, &p, &error);
  if (good ? !p.text : !error) abort();
  if (good) {
    Sources *sources = sources_new(a);
    Diags *diags = diags_new(a, sources);
    Front front = {a, names_new(a), diags, sources};
    uint32_t file = source_add(sources, "read.limn", p.text, strlen(p.text));
    parse(&front, file);
    if (diags->errors) abort();
  }
  arena_free(a);
  return 0;
}
