// libFuzzer: any bytes are lexed and parsed without a crash; a text without errors is formatted,
// reads back as the same tree, and formatting it again changes nothing.
//
//   clang -g -fsanitize=fuzzer,address,undefined -Isrc tests/fuzz/fuzz_front.c src/base/*.c
//   src/lang/syntax/*.c -lm
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/syntax/syntax.h"

#include "tokens.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static Syntax *read_text(Front *front, const char *text, size_t n, uint32_t *file) {
  front->sources = sources_new(front->arena);
  front->diags = diags_new(front->arena, front->sources);
  *file = source_add(front->sources, "fuzz.limn", text, n);
  return parse(front, *file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  Arena *a = arena_new();
  Front front = {.arena = a, .names = names_new(a)};
  uint32_t file;
  Syntax *first = read_text(&front, (const char *)data, n, &file);
  Buf messages = buf_new(a), once = buf_new(a), twice = buf_new(a), print = buf_new(a);
  diags_sort(front.diags);
  diags_print(front.diags, &messages);
  tree_print(front.names, first, &print);
  if (!front.diags->errors) {
    format_program(&front, file, first, &once);
    Syntax *second = read_text(&front, once.at, once.n, &file);
    if (front.diags->errors || !tree_equal(first, second)) abort();
    format_program(&front, file, second, &twice);
    if (once.n != twice.n || memcmp(once.at, twice.at, once.n)) abort();
  }
  arena_free(a);
  return 0;
}
