// A host that knows limn from its header and its pkg-config file only.
#include <limn.h>
#include <stdio.h>
#include <string.h>

static const char program[] = "box twice(x: R[n]) -> R[n] = 2 * x\n";

int main(void) {
  Limn *l = limn_new();
  const LimnInput in = {.name = "x", .value = "[1, 2, 3]"};
  const LimnEval how = {.in = &in, .nin = 1};
  const char *text = "";
  if (!l || strcmp(limn_version(), LIMN_VERSION)) return 1;
  if (limn_load_text(l, "twice.limn", program, sizeof program - 1) != LIMN_GOOD) return 2;
  if (limn_eval(l, "twice", &how, &text) != LIMN_GOOD) return 3;
  fputs(text, stdout);
  limn_free(l);
  return 0;
}
