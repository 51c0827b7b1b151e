// How a bench ends that cannot go on: a sentence, or the messages of what it read.
#ifndef LIMN_BENCH_FAIL_H
#define LIMN_BENCH_FAIL_H

#include "base/diag.h"
#include "core/diagram/diagram.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

__attribute__((noreturn)) static void fail_with_messages(World *w) {
  Buf b = buf_new(w->arena);
  diags_print(w->diags, &b);
  fail("%s", b.at);
}

#endif
