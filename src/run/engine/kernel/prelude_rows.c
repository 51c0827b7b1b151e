// Prints the beginning of generated C for a precision: the type `real`, the prelude, and each row of
// ops.def as two macros, op_exp(a) for reals and op_wide_exp(a) for doubles. The interpreter uses the same
// rows. A macro may evaluate an argument several times, so callers pass names and constants.
#include "core/diagram/ops.h"
#include "run/engine/kernel/prelude_text.h"

#include <ctype.h>

// Prints the expression of a row. Names of one letter are its arguments; longer names are functions and
// get the type as a prefix.
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
