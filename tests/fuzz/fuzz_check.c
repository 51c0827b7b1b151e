// Any text: checked as a program, with messages in both forms; if it has no errors, its first box or learner is printed after
// inlining and after the reverse derivative, and its cost is counted. No crash, no leak, no hang.
#include "limn.h"

#include "tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

// The word after the first `box` or `learn` at the start of a line.
static bool first_name(const char *text, size_t n, char *name, size_t room) {
  for (size_t at = 0; at < n;) {
    size_t skip = n - at > 4 && !memcmp(text + at, "box ", 4) ? 4 : n - at > 6 && !memcmp(text + at, "learn ", 6) ? 6 : 0, k = 0;
    for (size_t i = at + skip; skip && i < n && k + 1 < room && is_word((uint8_t)text[i]); i++) name[k++] = text[i];
    name[k] = 0;
    if (k) return true;
    while (at < n && text[at] != '\n') at++;
    at++;
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  char name[64];
  const char *text = (const char *)data;
  if (n > TEXT_LIMIT) return 0;
  Limn *l = limn_new();
  if (!l) return 0;
  if (limn_load_text(l, "fuzz.limn", text, n) == LIMN_GOOD) {
    limn_summary(l, false);
    limn_who(l, false);
    if (first_name(text, n, name, sizeof name)) {
      limn_print(l, name, "inline", true);
      limn_print(l, name, "reverse", false);
      limn_cost(l, name, true);
    }
    limn_print(l, NULL, "gradient", false);
  } else if (!limn_errors(l)) {
    abort();
  }
  if (!limn_messages(l, false) || !limn_messages(l, true)) abort();
  limn_free(l);
  return 0;
}
