// A host with a decimal comma: every text, file and number is the same as without one.
#include "host.h"

#include <locale.h>

typedef struct {
  char *text;
  size_t n;
} Kept;

static Kept kept[64];
static int nkept, at;

// The first time round it is kept, the second time compared.
static void same(const char *what, const char *text, size_t n) {
  if (!text) text = "", n = 0;
  if (at == nkept) {
    kept[nkept].text = malloc(n + 1);
    memcpy(kept[nkept].text, text, n);
    kept[nkept++].n = n;
  } else if (kept[at].n != n || memcmp(kept[at].text, text, n) != 0) {
    wrong++;
    printf("%s is another under this locale: %.*s\n", what, (int)(n < 400 ? n : 400), text);
  }
  at++;
}

static void same_text(const char *what, const char *text) {
  same(what, text, text ? strlen(text) : 0);
}

static void same_file(const char *path) {
  static char bytes[1 << 20];
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
  if (f) fclose(f);
  CHECK(n > 0);
  same(path, bytes, n);
}

static const char machine[] = "machine pendulum() -> (angle: R[]) {\n"
                              "  state angle = 0.25\n"
                              "  state speed = 0.5\n"
                              "  angle' = speed\n"
                              "  speed' = -1.5 * sin(angle)\n"
                              "}\n"
                              "run pendulum to 2.5\n";

static void pictures(Limn *l) {
  static const char *const files[] = {"a.svg", "a.pdf", "a.tex", "a.txt"};
  for (size_t i = 0; i < 4; i++) {
    const char *bytes = NULL;
    size_t n = 0;
    LimnDraw draw = {.size = sizeof draw};
    draw.out = files[i];
    GOOD(l, limn_draw_bytes(l, "net", &draw, &bytes, &n));
    same(files[i], bytes, n);
  }
}

static void values(Limn *l) {
  const char *text = NULL;
  LimnInput in = {"x", "2.5", NULL};
  LimnEval eval = {.size = sizeof eval};
  eval.in = &in, eval.nin = 1, eval.dy = "1.5";
  GOOD(l, limn_eval(l, "f", &eval, &text));
  same_text("eval", text);
  CHECK(text && strstr(text, "2.5\n") && strstr(text, "0.75"));
  in.value = "[0.5, 1e-3, -2.5e2]";
  eval.dy = NULL;
  GOOD(l, limn_eval(l, "g", &eval, &text));
  same_text("eval of a row", text);
}

static void training(Limn *l, const char *dir) {
  char path[64];
  const char *text = NULL;
  LimnTrain train = {.size = sizeof train};
  train.out = dir, train.every = "7.0";
  GOOD(l, limn_train(l, &train));
  snprintf(path, sizeof path, "%s/model.safetensors", dir);
  same_file(path);
  LimnUse use = {.size = sizeof use};
  use.from = dir;
  GOOD(l, limn_measure(l, &use, &text));
  same_text("measures", text);
  LimnInput in = {"x", "rows.csv", NULL};
  use.in = &in, use.nin = 1;
  GOOD(l, limn_predict(l, "net", &use, &text));
  same_text("predictions", text);
}

static void all(const char *dir) {
  Limn *l = loaded(program);
  same_text("print", limn_print(l, "f", "simplify", false));
  CHECK(strstr(limn_print(l, "f", NULL, false), "0.5"));
  CHECK(strstr(limn_print(l, "f", NULL, false), "1.25"));
  same_text("step", limn_print(l, NULL, "step", false));
  same_text("cost", limn_cost(l, "net", false));
  const char *text = NULL;
  GOOD(l, limn_data(l, "iris", NULL, false, &text));
  same_text("data", text);
  pictures(l);
  values(l);
  training(l, dir);
  limn_free(l);
  l = loaded(machine);
  LimnRun run = {.size = sizeof run};
  char path[64];
  snprintf(path, sizeof path, "%s.machine", dir);
  run.out = path;
  GOOD(l, limn_run(l, &run, &text));
  snprintf(path, sizeof path, "%s.machine/pendulum.csv", dir);
  same_file(path);
  limn_free(l);
}

int main(void) {
  FILE *f = fopen("rows.csv", "w");
  fputs("a,b,c,d\n5.1,3.5,1.4,0.2\n6.25,2.5,4.75,1.5\n", f);
  fclose(f);
  all("plain");
  char number[16];
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) return puts("there is no de_DE.UTF-8"), 2;
  snprintf(number, sizeof number, "%g", 0.5);
  CHECK(!strcmp(number, "0,5")); // it is at work
  at = 0;
  all("comma");
  CHECK(at == nkept);
  return ended();
}
