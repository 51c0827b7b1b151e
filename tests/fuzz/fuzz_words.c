// Texts of the command line, about a program that is right: a pattern for `limn find`, what `--set`
// puts in the place of an axis, a const, a space or a learner, the name of what is drawn or printed.
// The first byte says which.
#include "base/diag.h"
#include "core/diagram/print.h"
#include "lang/learning/learning.h"
#include "run/step/step.h"
#include "tokens.h"
#include "whole.h"

static const char program[] = "axis n = 4\n"
                              "const k = 3\n"
                              "space X = R[n] by l2\n"
                              "given x : X from normal[n]\n"
                              "learn f : X -> X = dense[8] ; relu ; dense[n]\n"
                              "learn g : X -> X\n"
                              "box both(x: X) -> X = f(x) + k * g(x)\n"
                              "goal same : both(x) ~ x\n"
                              "train 3 steps, adam(0.1)\n";

static const char *text;

static void find(Program *p, Buf *out) {
  if (world->diags->errors) abort();
  elab_find(infer, p, text, false, out);
  elab_find(infer, p, text, true, out);
  diags_print(world->diags, out);
}

static void named(Program *p, Buf *out) {
  Diagram *d = elab_diagram(infer, p, text, NULL);
  if (d) diagram_print(world, d, out, true);
  elab_names(infer, p, text);
  diags_print(world->diags, out);
}

static void say(Program *p, Buf *out) {
  if (!world->diags->errors) learn_who(infer, p, out);
  elab_settings(infer, out);
  diags_print(world->diags, out);
  diags_json(world->diags, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static const char *const names[] = {"n", "k", "X", "f", "g"};
  static char copy[INPUT_LIMIT + 1];
  if (!n || n > INPUT_LIMIT) return 0;
  memcpy(copy, data + 1, n - 1);
  copy[n - 1] = 0;
  text = copy;
  uint32_t which = data[0] % (2 + COUNT(names));
  setting = which < 2 ? NULL : names[which - 2], setting_value = copy;
  with_program(program, sizeof program - 1, which == 0 ? find : which == 1 ? named : say);
  return 0;
}
