// The engine's compiler where there is none: steps run by prebuilt loops, and nothing is written as C.
#include "base/diag.h"
#include "port/c/c_out.h"
#include "run/engine/c/compile.h"
#include "run/engine/c/emit.h"
#include "run/engine/kernel/prelude_text.h"

const char prelude_text[] = "";
const size_t prelude_text_size = 0;

void emit_c(Plan *p, bool whole, uint32_t check_at, EmitKernel *kernel, Buf *out) {
  (void)p, (void)whole, (void)check_at, (void)kernel;
  buf_text(out, "// in the playground, nothing is written as C\n");
}

uint32_t compile_flags(const char **flag) {
  (void)flag;
  return 0;
}

const char *compile_compiler(Arena *a, const Target *how) {
  (void)a, (void)how;
  return NULL;
}

bool compile_c(Arena *a, const CText *text, const Target *how, Compiled *out) {
  (void)a, (void)text, (void)how;
  out->error = "there is no C compiler in the playground";
  return false;
}

void compile_close(Compiled *c) { (void)c; }

void *compile_find(const Compiled *c, const char *name) {
  (void)c, (void)name;
  return NULL;
}

bool export_c(Export *e) {
  diag_error(e->w->diags, (Span){0}, "in the playground, nothing is written as C");
  return false;
}
