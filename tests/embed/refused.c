// What is refused, and with which words: arrays that are none, weights that are not there.
#include "host.h"

static void says(Limn *l, const char *text) {
  const char *all = limn_messages(l, false);
  if (!strstr(all, text)) printf("wanted: %s\nsaid: %s\n", text, all), wrong++;
  limn_forget(l);
}

static void eval_refused(Limn *l, LimnArray x, const char *text) {
  LimnInput in = {.name = "x", .array = &x};
  LimnEval how = {.size = sizeof how, .in = &in, .nin = 1};
  LimnArrays out;
  CHECK(limn_eval_arrays(l, "g", &how, &out, NULL) != LIMN_GOOD);
  says(l, text);
}

int main(void) {
  double x[] = {1, 2, 3};
  int64_t three[] = {3}, below[] = {-3}, huge[] = {INT64_MAX / 2, 1};
  Limn *l = loaded(program);
  eval_refused(l, (LimnArray){.type = (LimnType)9, .rank = 1, .shape = three, .data = x},
               "an array has a type that is not one");
  eval_refused(l, (LimnArray){.rank = 999, .shape = three, .data = x}, "an array has 999 axes");
  eval_refused(l, (LimnArray){.rank = 1, .data = x}, "an array has 1 axes, and no shape");
  eval_refused(l, (LimnArray){.rank = 1, .shape = below, .data = x},
               "an array has the size -3 along axis 0");
  eval_refused(l, (LimnArray){.rank = 2, .shape = huge, .data = x}, "an array is too large");
  eval_refused(l, (LimnArray){.rank = 1, .shape = three}, "an array has no data");

  LimnInput none = {.name = "x"};
  const char *text;
  LimnEval how = {.size = sizeof how, .in = &none, .nin = 1};
  CHECK(limn_eval(l, "g", &how, &text) != LIMN_GOOD);
  limn_forget(l);

  LimnTrainer *t = NULL;
  LimnArray one = {.rank = 1, .shape = three, .data = x};
  LimnTrain both = {.size = sizeof both, .in_memory = true, .out = "somewhere"};
  CHECK(limn_trainer_open(l, &both, &t) == LIMN_USAGE && !t);
  says(l, "training in memory has no folder: not out, and not resume");
  LimnTrain memory = {.size = sizeof memory, .in_memory = true};
  GOOD(l, limn_trainer_open(l, &memory, &t));
  CHECK(limn_trainer_weight_set(t, "net/nothing", &one) == LIMN_WRONG);
  says(l, "there is no weight `net/nothing` in this run");
  CHECK(limn_trainer_weight_set(t, "net/dense.1/b", &one) == LIMN_WRONG);
  says(l, "weight net/dense.1/b has another shape than ");
  limn_trainer_close(t);
  limn_free(l);
  return ended();
}
