// prelude_rows.c: the text that generated C begins with.
//
// In comes the precision, out goes C: which type `real` is, the prelude, and the rows of ops.def as
// macros, so that the value of a row is written once and serves the interpreter and compiled code
// alike: op_exp(a) for reals, op_wide_exp(a) for doubles. Arguments stand in parentheses there; one may be evaluated several times, so callers pass
// names and constants.
#include "run/engine/prelude/prelude_text.h"

#include <ctype.h>

// The expression of a row. Its arguments are the names of one letter; longer ones are functions, and
// get the type in front.
static void write_value(Buf *b, const char *text, const char *type) {
  for (const char *c = text; *c;) {
    size_t n = 0;
    while (isalnum((unsigned char)c[n])) n++;
    bool name = n && islower((unsigned char)*c);
    if (n == 1 && name)
      buf_printf(b, "(%c)", *c);
    else if (n)
      buf_printf(b, "%s%.*s", name ? type : "", (int)n, c);
    else
      buf_char(b, *c);
    c += n ? n : 1;
  }
}

static void write_row(Buf *b, const FnRow *row, const char *front, const char *type) {
  const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
  buf_printf(b, "#define %s_%s(%s) (", front, row->name, arguments[row->arity]);
  write_value(b, row->text, type);
  buf_text(b, ")\n");
}

void prelude_write(Buf *b, Precision precision) {
  const char *real = precision == PRECISION_64 ? "double" : "float";
  buf_printf(b, "#define LIMN_REAL %s\n", real);
  buf_text(b, prelude_text);
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    write_row(b, &fn_rows[fn], "op", precision == PRECISION_64 ? "double_" : "float_");
    write_row(b, &fn_rows[fn], "op_wide", "double_");
  }
}
