// What an editor asks: of a program, of one with errors, and of a text that has gone on since.
#include "host.h"

static const char text[] = "# How long a row is.\n"                                  // 0
                           "box length(x: R[n]) -> R[] = sqrt(sum[n](x * x))\n"      // 1
                           "box unit(x: R[n]) -> R[n] {\n"                           // 2
                           "  s = length(x)   # its size\n"                          // 3
                           "  y[i] = x[i] / s\n"                                     // 4
                           "  return y\n"                                            // 5
                           "}\n"                                                     // 6
                           "axis z = 4\n"                                            // 7
                           "given v : R[z] from iris.x\n"                            // 8
                           "learn enc : R[z] -> R[z]\n"                              // 9
                           "goal same : enc(unit(v)) ~ v by l2\n"                    // 10
                           "box three[k, plus: 1](x: R[n]) -> R[n] = k * x + plus\n" // 11
                           "box use(x: R[n]) -> R[n] = three[2, plus: 3](x)\n";      // 12

static const char *at(Limn *l, const char *question, uint32_t line, uint32_t character) {
  LimnAsk a = {.size = sizeof a, .line = line, .character = character, .end_line = line};
  a.end_character = character;
  const char *answer = limn_edit_ask(l, question, &a);
  return answer ? answer : "refused";
}

static bool has(const char *answer, const char *part) {
  if (strstr(answer, part)) return true;
  printf("no %s\nin %s\n", part, answer);
  return false;
}

static const char *renamed(Limn *l, uint32_t line, uint32_t character, const char *to) {
  LimnAsk a = {.size = sizeof a, .line = line, .character = character, .text = to};
  limn_forget(l);
  const char *answer = limn_edit_ask(l, "rename", &a);
  return answer ? answer : limn_messages(l, false);
}

static void load(Limn *l, const char *program_text) {
  limn_edit_load(l, "/p/net.limn", program_text, strlen(program_text), NULL);
}

static void what_names_mean(Limn *l) {
  load(l, text);
  if (limn_errors(l)) printf("%s", limn_messages(l, false));
  CHECK(!limn_errors(l));
  CHECK(has(at(l, "hover", 3, 7), "box length(x: R[n]) -> R[]"));
  CHECK(has(at(l, "hover", 3, 7), "How long a row is."));
  CHECK(has(at(l, "hover", 3, 7), "Costs "));
  CHECK(has(at(l, "hover", 3, 2), "s : R[]"));
  CHECK(has(at(l, "hover", 4, 16), "its size"));
  CHECK(has(at(l, "hover", 4, 2), "y : R[i:n]"));
  CHECK(has(at(l, "hover", 4, 2), "in its last use `R[i:4]`"));
  CHECK(has(at(l, "hover", 1, 30), "sqrt(a)"));
  CHECK(has(at(l, "hover", 9, 1), "Declares a learner"));
  CHECK(has(at(l, "hover", 8, 6), "given v : R["));
  CHECK(has(at(l, "hover", 9, 7), "in its place: `dense"));
  CHECK(has(at(l, "hover", 8, 22), "* `x : R[4]`"));
  CHECK(!strcmp(at(l, "hover", 3, 20), "null")); // a comment
  CHECK(has(at(l, "definition", 3, 7), "\"line\":1,\"character\":4"));
  CHECK(has(at(l, "definition", 3, 7), "file:///p/net.limn"));
  CHECK(has(at(l, "definition", 4, 11), "\"line\":4,\"character\":4"));    // the index
  CHECK(has(at(l, "definition", 12, 37), "\"line\":11,\"character\":13")); // an option
  CHECK(has(at(l, "definition", 10, 33), "limn:library.limn"));
  CHECK(!strcmp(at(l, "definition", 0, 4), "null"));
  CHECK(has(at(l, "references", 3, 7), "\"line\":1,\"character\":4"));
  CHECK(has(at(l, "highlight", 9, 14), "\"line\":7,\"character\":5"));
  CHECK(has(at(l, "box", 10, 14), "enc"));
}

static void what_could_be_there(Limn *l) {
  load(l, text);
  CHECK(has(at(l, "completion", 10, 33), "\"l2\""));
  CHECK(!strstr(at(l, "completion", 10, 33), "\"length\""));
  CHECK(has(at(l, "completion", 12, 35), "\"plus: \""));
  CHECK(has(at(l, "completion", 8, 25), "\"x\""));
  CHECK(has(at(l, "signature", 12, 36), "\"activeParameter\":1"));
  CHECK(has(at(l, "symbols", 0, 0), "\"selectionRange\""));
  CHECK(has(at(l, "folding", 0, 0), "\"startLine\":2,\"endLine\":5"));
  CHECK(has(at(l, "tokens", 0, 0), "{\"data\":[1,4,6,3,1"));
  CHECK(has(at(l, "legend", 0, 0), "typeParameter"));
  CHECK(has(at(l, "hints", 4, 0), " : R[i:n]"));
  CHECK(has(at(l, "actions", 9, 8), "Give `enc` a body"));
  CHECK(has(at(l, "actions", 9, 8), " = dense[128] ; relu"));
}

static void names_that_change(Limn *l) {
  load(l, text);
  CHECK(has(renamed(l, 3, 7, "size_of"), "\"newText\":\"size_of\""));
  CHECK(has(renamed(l, 4, 16, "length"), "`length` is already used in line 4"));
  CHECK(has(renamed(l, 3, 7, "box"), "`box` is a word of the language"));
  CHECK(has(renamed(l, 3, 7, "2x"), "`2x` is not a name"));
  CHECK(has(renamed(l, 3, 7, "tanh"), "`tanh` means something in the language already"));
  CHECK(has(renamed(l, 10, 33, "far"), "`l2` belongs to the library"));
  CHECK(has(renamed(l, 1, 0, "far"), "`box` is a word of the language"));
  CHECK(has(renamed(l, 1, 30, "far"), "`sqrt` belongs to the language"));
  CHECK(has(renamed(l, 0, 3, "far"), "the meaning of `How` is not known here yet"));
  CHECK(has(renamed(l, 6, 1, "far"), "there is no name here"));
  load(l, "box f(x) { return x }\nbox g(a: R[n]) -> R[n] = f(a)\nbox h(x) { return f(x) }\n");
  CHECK(has(renamed(l, 0, 4, "far"),
            "`f` is also used in line 3, where its meaning is not known yet"));
  // the name of an axis that another box asks for by its label
  load(l, "box two(x: R[]) -> R[b:2] = [x, x]\nbox one(x: R[]) -> R[] = sum[b](two(x))\n");
  CHECK(has(renamed(l, 0, 21, "c"), "names would mean something else then"));
}

static void with_errors(Limn *l) {
  load(l, "box length(x: R[n]) -> R[] = sqrt(sum[n](x * x))\nbox f(x: R[n]) -> R[] = lengt(x)\n"
          "box broken(x: R[n] = 3\nbox g(x: R[n]) -> R[] = length(x)\n");
  CHECK(limn_errors(l) >= 2);
  CHECK(has(at(l, "messages", 0, 0), "\"line\":1,\"character\":24"));
  CHECK(has(at(l, "actions", 1, 26), "Did you mean `length`?"));
  CHECK(has(at(l, "definition", 3, 26), "\"line\":0,\"character\":4"));
  load(l, "given x, y from iris\nlearn f : R[4] -> R[4]\ngoal g : f(x) ~ x\n");
  CHECK(has(at(l, "actions", 2, 12), "Give a distance: `by l2`"));
}

// The text has a new line in front of what is asked about.
static void while_typing(Limn *l) {
  char now[sizeof text + 64];
  load(l, text);
  snprintf(now, sizeof now, "%.*s  t = le\n%s", (int)(strstr(text, "  y[i]") - text), text,
           strstr(text, "  y[i]"));
  GOOD(l, limn_edit_text(l, now, strlen(now)));
  CHECK(has(at(l, "hover", 5, 16), "s : R[]"));
  CHECK(has(at(l, "completion", 4, 8), "\"length\""));
  CHECK(has(at(l, "definition", 11, 19), "\"line\":2,\"character\":4"));
  CHECK(has(renamed(l, 5, 16, "q"), "the text has changed since it was checked"));
  CHECK(!strcmp(at(l, "definition", 4, 7), "null"));
  CHECK(limn_edit_text(l, NULL, 3) == LIMN_USAGE);
}

// Characters beyond the first plane are two units of UTF-16, and four of UTF-8.
static void characters(Limn *l) {
  load(l, "# \xF0\x9D\x94\xB8\nbox \xC3\xA9(x: R[n]) -> R[n] = x\nbox f(x: R[n]) -> R[n] = "
          "\xC3\xA9(\xC3\xA9(x))\n");
  if (limn_errors(l)) printf("%s", limn_messages(l, false));
  CHECK(!limn_errors(l));
  CHECK(has(at(l, "definition", 2, 27), "\"end\":{\"line\":1,\"character\":5}"));
  LimnAsk a = {.size = sizeof a, .line = 2, .character = 28, .utf8 = true};
  CHECK(has(limn_edit_ask(l, "definition", &a), "\"end\":{\"line\":1,\"character\":6}"));
  CHECK(has(at(l, "hover", 100, 100), "null"));
}

int main(void) {
  Limn *l = limn_new();
  CHECK(!limn_edit_ask(l, "hover", NULL) && limn_edit_text(l, "", 0) == LIMN_USAGE);
  what_names_mean(l);
  what_could_be_there(l);
  names_that_change(l);
  with_errors(l);
  while_typing(l);
  characters(l);
  CHECK(!limn_edit_ask(l, "weather", NULL) && !limn_edit_ask(l, NULL, NULL));
  CHECK(strstr(limn_edit_document(l, "library.limn"), "box softmax") &&
        !limn_edit_document(l, "x"));
  volatile sig_atomic_t stop = 1;
  CHECK(limn_edit_load(l, "a.limn", text, sizeof text - 1, &stop) == LIMN_WRONG);
  limn_free(l);
  return ended();
}
