// prelude_rows.c: the text that generated C begins with.
//
// In comes the precision, out goes C: which type `real` is, the prelude, and the rows of ops.def as
// macros, so that the value of a row is written once and serves the interpreter and compiled code
// alike. Arguments stand in parentheses there; one may be evaluated several times, so callers pass
// names and constants.
#include "run/engine/prelude/prelude_text.h"

#include <ctype.h>

// The expression of a row. Its arguments are the names of one letter.
static void write_value(Buf *b, const char *text) {
  for (const char *c = text; *c; c++) {
    bool alone = (c == text || !isalnum((unsigned char)c[-1])) && !isalnum((unsigned char)c[1]);
    if (alone && islower((unsigned char)*c)) {
      buf_char(b, '(');
      buf_char(b, *c);
      buf_char(b, ')');
    } else {
      buf_char(b, *c);
    }
  }
}

static void write_row(Buf *b, const FnRow *row) {
  const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
  buf_printf(b, "#define op_%s(%s) (", row->name, arguments[row->arity]);
  write_value(b, row->text);
  buf_text(b, ")\n");
}

void prelude_write(Buf *b, Precision precision) {
  buf_printf(b, "#define LIMN_REAL %s\n", precision == PRECISION_64 ? "double" : "float");
  buf_text(b, prelude_text);
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) write_row(b, &fn_rows[fn]);
}
