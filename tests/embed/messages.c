// Messages as records.
#include "host.h"

int main(void) {
  const char text[] = "space Y = R[4]\n"
                      "box f(x: R[3]) -> Y = x\n"
                      "box g(x: R[3]) -> R[3] = tanhh(x)\n";
  Limn *l = limn_new();
  CHECK(limn_load_text(l, "bad.limn", text, strlen(text)) == LIMN_WRONG);
  CHECK(limn_message_count(l) == limn_errors(l) && limn_errors(l) == 2);
  LimnMessage m = {.size = sizeof m};
  CHECK(limn_message(l, 0, &m) == LIMN_GOOD);
  CHECK(m.severity == LIMN_ERROR && !strcmp(m.file, "bad.limn") && m.line == 2 && m.column > 1);
  CHECK(m.length == 1 && *m.text);
  CHECK(limn_message(l, 1, &m) == LIMN_GOOD);
  CHECK(m.line == 3 && m.column == 26 && m.length == 5 && strstr(m.text, "tanhh"));
  CHECK(m.help && strstr(m.help, "tanh"));
  LimnMessage small = {.size = offsetof(LimnMessage, text)};
  small.text = "kept"; // beyond what the caller has room for
  CHECK(limn_message(l, 1, &small) == LIMN_GOOD && small.line == 3 && !strcmp(small.text, "kept"));
  CHECK(limn_message(l, 2, &m) == LIMN_USAGE);

  // lengths are in characters, as columns are
  const char accents[] = "box f(x: R[]) -> R[] = \"é\" + x\n";
  CHECK(limn_load_text(l, "accents.limn", accents, strlen(accents)) == LIMN_WRONG);
  CHECK(limn_message(l, 0, &m) == LIMN_GOOD && m.column == 24 && m.length == 3);

  // a message without a place; and one with a second place
  CHECK(limn_load(l, "nowhere.limn") == LIMN_WRONG && limn_message_count(l) == 1);
  CHECK(limn_message(l, 0, &m) == LIMN_GOOD && !*m.file && strstr(m.text, "nowhere.limn"));
  const char two[] = "box f(x: R[3]) -> R[3] = x\nbox f(x: R[4]) -> R[4] = x\n";
  CHECK(limn_load_text(l, "two.limn", two, strlen(two)) == LIMN_WRONG);
  CHECK(limn_message(l, 0, &m) == LIMN_GOOD && m.note && !strcmp(m.note_file, "two.limn"));
  CHECK(m.note_line == 1 && m.note_column == 5 && m.line == 2);

  // of a text that is laid out, while another program is loaded
  limn_load_text(l, "host.limn", program, strlen(program));
  CHECK(!limn_format(l, "laid.limn", "box f(\n", 7) && limn_message_count(l) > 0);
  CHECK(limn_message(l, 0, &m) == LIMN_GOOD && !strcmp(m.file, "laid.limn"));
  CHECK(strstr(limn_messages(l, false), "box f(") && limn_summary(l, false));
  limn_free(l);
  return ended();
}
