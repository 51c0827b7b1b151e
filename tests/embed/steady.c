// One handle for a long time: after thousands of calls it holds as many blocks and bytes as after a
// few. Linked with --wrap, so that all memory is counted.
#include "counted.h"
#include "host.h"

static void calls(Limn *l, int i) {
  const char *text = NULL;
  LimnArrays out;
  double x = i;
  LimnArray array = {LIMN_F64, 0, NULL, NULL, &x};
  LimnInput in = {"x", NULL, &array};
  LimnEval eval = {.size = sizeof eval, .in = &in, .nin = 1};
  LimnDraw draw = {.size = sizeof draw, .ascii = i % 2};
  CHECK(limn_eval_arrays(l, "f", &eval, &out, NULL) == LIMN_GOOD);
  CHECK(*(double *)out.at[0].array.data == 0.5 * i + 1.25);
  CHECK(limn_draw_text(l, i % 2 ? "f" : "g", &draw, &text) == LIMN_GOOD);
  CHECK(limn_summary(l, i % 2));
  if (i % 10) return;
  CHECK(limn_eval(l, "f", &eval, &text) == LIMN_GOOD && limn_print(l, "f", "reverse", false));
  CHECK(!limn_print(l, "nothing", NULL, false) && limn_set(l, "a", "1") == LIMN_GOOD);
  CHECK(limn_format(l, "a.limn", "box f(x:R[])->R[]=x\n", 20) && limn_quote(l, "a"));
  CHECK(!limn_format(l, "a.limn", "box f(\n", 7) && !limn_find(l, "tanhh ;", false));
  CHECK(*limn_messages(l, false));
  double w[] = {1, 2, 3};
  int64_t shape[] = {3};
  LimnArray bias = {LIMN_F64, 1, shape, NULL, w};
  CHECK(limn_weight_set(l, "net/dense.2/b", i % 20 ? &bias : NULL) == LIMN_GOOD);
  if (i % 100) return;
  LimnTrain train = {.size = sizeof train, .in_memory = true, .reference = true, .steps = 2};
  CHECK(limn_train(l, &train) == LIMN_GOOD);
  if (i % 1000) return;
  CHECK(limn_set(l, "a", NULL) == LIMN_GOOD); // the program has no `a`, which a load would refuse
  CHECK(limn_load_text(l, "host.limn", program, strlen(program)) == LIMN_GOOD);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 10000;
  long before = blocks, first = 0;
  Limn *l = loaded(program);
  for (int i = 1; i <= n; i++) {
    calls(l, i);
    // the messages of 400 calls may be there, and then they are forgotten
    if (i == n / 2) limn_forget(l), limn_quote(l, ""), first = blocks;
  }
  limn_forget(l), limn_quote(l, "");
  if (blocks != first)
    printf("%ld blocks after %d calls, %ld after %d\n", first, n / 2, (long)blocks, n);
  CHECK(blocks == first);
  limn_free(l);
  CHECK(blocks == before);
  return ended();
}
