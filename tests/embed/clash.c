// A host whose own functions are called as limn's inner ones once were: nobody takes the other's.
#include "host.h"

#include <sys/times.h>

int parse(const char *text);
int eval(int x);
int apply(int x);
_Noreturn void fail(const char *why);

static int parsed;

int parse(const char *text) { return parsed += (int)strlen(text); }
int eval(int x) { return x + 1; }
int apply(int x) { return x + 2; }
_Noreturn void fail(const char *why) {
  puts(why);
  exit(1);
}

int main(void) {
  struct tms t;
  CHECK(times(&t) != (clock_t)-1); // the operating system's
  Limn *l = loaded(program);
  CHECK(limn_print(l, "f", "reverse", false));
  const char *text = NULL;
  LimnInput in = {"x", "2", NULL};
  LimnEval how = {.size = sizeof how, .in = &in, .nin = 1};
  GOOD(l, limn_eval(l, "f", &how, &text));
  CHECK(text && !strcmp(text, "2.25\n"));
  CHECK(parsed == 0 && parse("four") == 4 && eval(1) == 2 && apply(1) == 3);
  if (wrong > 99) fail("");
  limn_free(l);
  return ended();
}
