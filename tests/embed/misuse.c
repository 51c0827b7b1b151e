// Every public function where it makes no sense: without a handle, before a load, after a failed
// one, with NULL where something is wanted, twice. It says LIMN_USAGE, NULL or 0, and the handle is
// as good as before.
#include "host.h"

#include <math.h>

static const char *text;
static size_t bytes;
static LimnArrays arrays;
static LimnArray array;
static bool flag;

static const LimnUse use = {.size = sizeof use};
static const LimnExport leaving = {.size = sizeof leaving, .as = "safetensors"};
static const LimnEval evaluation = {.size = sizeof evaluation};
static const LimnTrain training = {.size = sizeof training};
static const LimnRun running = {.size = sizeof running};
static const LimnDraw drawing = {.size = sizeof drawing, .out = "misuse.svg"};

// Those that ask about a program.
static void no_program(Limn *l, bool draws) {
  LimnTrainer *t = NULL;
  CHECK(!limn_summary(l, false) && !limn_who(l, true) && !limn_paths(l, NULL, false));
  CHECK(!limn_find(l, "dense", false) && !limn_print(l, "f", NULL, false) &&
        !limn_print(l, NULL, NULL, false));
  CHECK(!limn_cost(l, "f", false) && !limn_cost(l, NULL, true));
  CHECK(limn_eval(l, "f", &evaluation, &text) == LIMN_USAGE);
  CHECK(limn_eval_arrays(l, "f", &evaluation, &arrays, &arrays) == LIMN_USAGE);
  CHECK(limn_measure(l, &use, &text) == LIMN_USAGE);
  CHECK(limn_predict(l, "net", &use, &text) == LIMN_USAGE);
  CHECK(limn_sample(l, NULL, &use, &text) == LIMN_USAGE);
  CHECK(limn_measure_arrays(l, &use, &arrays) == LIMN_USAGE);
  CHECK(limn_predict_arrays(l, "net", &use, &arrays) == LIMN_USAGE);
  CHECK(limn_sample_arrays(l, NULL, &use, &arrays) == LIMN_USAGE);
  CHECK(limn_gradients(l, NULL, NULL, &use, &arrays, &arrays) == LIMN_USAGE);
  CHECK(!limn_wires(l, NULL));
  CHECK(limn_weights(l, NULL, &arrays) == LIMN_USAGE);
  CHECK(limn_weight_get(l, "net/dense.1/linear/W", &array) == LIMN_USAGE);
  CHECK(limn_weight_set(l, "net/dense.1/linear/W", &array) == LIMN_USAGE);
  CHECK(limn_weights_read(l, "runs") == LIMN_USAGE);
  CHECK(limn_report(l, &use, &text) == LIMN_USAGE);
  CHECK(limn_export(l, "net", &leaving, &text) == LIMN_USAGE);
  CHECK(limn_train(l, &training) == LIMN_USAGE);
  CHECK(limn_trainer_open(l, &training, &t) == LIMN_USAGE && !t);
  CHECK(limn_run(l, &running, &text) == LIMN_USAGE);
  if (draws) return;
  CHECK(limn_draw(l, "f", &drawing) == LIMN_USAGE);
  CHECK(limn_draw_text(l, NULL, &drawing, &text) == LIMN_USAGE);
  CHECK(limn_draw_bytes(l, "f", &drawing, &text, &bytes) == LIMN_USAGE);
  CHECK(limn_draw_check(l, "f", &drawing, &text) == LIMN_USAGE);
}

// What a refused call was to fill is empty, not what happened to be there.
static void nothing_is_left(Limn *l) {
  LimnArrays junk = {.n = 7}, grads = {.n = 7};
  LimnArray one = {.rank = 7};
  const char *said = "junk";
  size_t n = 7;
  CHECK(limn_eval(l, "net", &evaluation, &said) && !said);
  CHECK((said = "junk", limn_predict(l, "net", &use, &said)) && !said);
  CHECK((said = "junk", limn_report(l, &use, &said)) && !said);
  CHECK((said = "junk", limn_export(l, "net", &leaving, &said)) && !said);
  CHECK((said = "junk", limn_draw_bytes(l, "f", &drawing, &said, &n)) && !said && !n);
  CHECK(limn_eval_arrays(l, "net", &evaluation, &junk, &grads) && !junk.n && !grads.n);
  CHECK((junk.n = 7, limn_weights(l, NULL, &junk)) && !junk.n);
  CHECK(limn_weight_get(l, "net/dense.1/linear/W", &one) && !one.rank);
}

// Lengths that are not.
static void odd_lengths(Limn *l) {
  const double odd[] = {-1, 1e300, INFINITY, NAN};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    LimnTrain steps = {.size = sizeof steps, .steps = odd[i]},
              epochs = {.size = sizeof epochs, .epochs = odd[i]};
    CHECK(limn_train(l, &steps) == LIMN_USAGE && limn_train(l, &epochs) == LIMN_USAGE);
  }
  CHECK(limn_train(l, &(LimnTrain){.size = sizeof(LimnTrain), .batch = -1}) == LIMN_USAGE);
  CHECK(limn_train(l, &(LimnTrain){.size = sizeof(LimnTrain), .batch = INT64_MAX}) == LIMN_USAGE);
  LimnExport half = {.size = sizeof half, .as = "c", .precision = LIMN_PRECISION_BF16},
             open = {.size = sizeof open, .as = "c", .precision = LIMN_PRECISION_AUTO};
  CHECK(limn_export(l, "net", &half, &text) == LIMN_USAGE);
  CHECK(limn_export(l, "net", &open, &text) == LIMN_USAGE); // a file has one that is known
  CHECK(strstr(limn_messages(l, false), "what leaves limn has floats or doubles"));
  CHECK(strstr(limn_messages(l, false), "`steps` wants a number from 0 on"));
  CHECK(strstr(limn_messages(l, false), "`epochs` is at most 1e12, not 1e+300"));
  limn_forget(l);
}

static void no_handle(void) {
  LimnMessage m = {.size = sizeof m};
  no_program(NULL, false);
  limn_free(NULL);
  limn_forget(NULL);
  CHECK(limn_allow(NULL, "a") == LIMN_USAGE);
  CHECK(limn_set(NULL, "a", "1") == LIMN_USAGE && limn_load(NULL, "a.limn") == LIMN_USAGE);
  CHECK(limn_load_text(NULL, "a", "", 0) == LIMN_USAGE);
  CHECK(limn_message_count(NULL) == 0 && limn_errors(NULL) == 0);
  CHECK(limn_message(NULL, 0, &m) == LIMN_USAGE);
  CHECK(!strcmp(limn_messages(NULL, false), "") && !strcmp(limn_messages(NULL, true), "[]"));
  CHECK(!limn_format(NULL, "a", "", 0) && limn_format_file(NULL, "a", true, &flag) == LIMN_USAGE);
  CHECK(limn_data(NULL, NULL, NULL, false, &text) == LIMN_USAGE);
  CHECK(limn_runs(NULL, ".", NULL, NULL, false, &text) == LIMN_USAGE);
  CHECK(limn_change(NULL, ".", "rate", 1) == LIMN_USAGE);
  CHECK(limn_data_sample(NULL, "iris", 0, &arrays) == LIMN_USAGE);
  CHECK(!limn_ops(NULL) && !limn_quote(NULL, "a") && !limn_array(NULL, "a"));
  CHECK(limn_trainer_step(NULL, 1, &flag) == LIMN_USAGE && flag);
  CHECK(limn_trainer_close(NULL) == LIMN_USAGE &&
        limn_trainer_weights(NULL, &arrays) == LIMN_USAGE);
  CHECK(limn_trainer_metrics(NULL, NULL) == LIMN_USAGE);
  CHECK(limn_trainer_weight_set(NULL, "w", &array) == LIMN_USAGE);
}

// What needs no program works on any handle.
static void around(Limn *l) {
  CHECK(limn_format(l, "a.limn", "box f(x:R[])->R[]=x\n", 20));
  CHECK(limn_data(l, NULL, NULL, false, &text) == LIMN_GOOD && text);
  CHECK(limn_ops(l) && !strcmp(limn_quote(l, "a\"b"), "\"a\\\"b\""));
  CHECK(!strcmp(limn_quote(l, limn_quote(l, "a")), "\"\\\"a\\\"\"")); // its own answer
  CHECK(!strcmp(limn_quote(l, "\033\302\233\377\363\240\200\201"),    // controls, no UTF-8, a tag
                "\"\\u001b\\u009b\\ufffd\\udb40\\udc01\""));
  char shown[12];
  CHECK(limn_shown("a\n\t\033\303\251", shown, sizeof shown) == 9 &&
        !strcmp(shown, "a\n\t\\x1b\303\251"));
  CHECK(limn_shown("\342\200\256", shown, 3) == 12 && !strcmp(shown, "\\x") &&
        !limn_shown(NULL, NULL, 0));
}

static void before_a_load(void) {
  Limn *l = limn_new();
  no_program(l, false);
  nothing_is_left(l);
  CHECK(limn_errors(l) > 0 && strstr(limn_messages(l, false), "no program is loaded"));
  around(l);
  limn_forget(l);
  CHECK(limn_errors(l) == 0 && limn_message_count(l) == 0 && !*limn_messages(l, false));
  limn_free(l);
}

static void after_a_failed_one(void) {
  Limn *l = limn_new();
  CHECK(limn_load(l, "there/is/no.limn") == LIMN_WRONG && limn_errors(l) == 1);
  no_program(l, false);
  CHECK(limn_errors(l) == 1); // the load says why
  const char bad[] = "box f(x: R[3]) -> R[4] = x\n";
  CHECK(limn_load_text(l, "bad.limn", bad, strlen(bad)) == LIMN_WRONG);
  uint32_t errors = limn_errors(l);
  CHECK(errors >= 1 && strstr(limn_messages(l, false), "bad.limn:1:"));
  no_program(l, true);
  CHECK(limn_errors(l) == errors);
  CHECK(limn_draw_text(l, "f", &drawing, &text) == LIMN_GOOD && text && *text);
  CHECK(limn_draw_bytes(l, "f", &drawing, &text, &bytes) == LIMN_GOOD && bytes > 100);
  limn_forget(l);
  no_program(l, true); // forgotten, and still wrong
  CHECK(limn_errors(l) > 0);
  CHECK(limn_load_text(l, "host.limn", program, strlen(program)) == LIMN_GOOD);
  CHECK(limn_errors(l) == 0 && limn_summary(l, true));
  around(l);
  limn_free(l);
}

static void with_null(void) {
  Limn *l = loaded(program);
  odd_lengths(l);
  LimnTrainer *t = NULL;
  LimnMessage m = {.size = sizeof m};
  LimnInput none = {"x", NULL, NULL};
  LimnEval eval = evaluation;
  CHECK(limn_set(l, NULL, "1") == LIMN_USAGE && limn_load(l, NULL) == LIMN_USAGE);
  CHECK(!limn_summary(l, false)); // that load has taken the program away
  limn_load_text(l, "host.limn", program, strlen(program));
  CHECK(!limn_find(l, NULL, false) && !limn_quote(l, NULL) && !limn_format(l, NULL, "", 0));
  CHECK(!limn_format(l, "a", NULL, 3) && limn_format_file(l, NULL, true, &flag) == LIMN_USAGE);
  CHECK(limn_format_file(l, "a", true, NULL) == LIMN_USAGE);
  CHECK(limn_eval(l, NULL, &evaluation, &text) == LIMN_USAGE);
  CHECK(limn_eval(l, "f", &evaluation, NULL) == LIMN_USAGE);
  CHECK(limn_eval(l, "f", NULL, &text) == LIMN_WRONG); // all defaults: its input is missing
  eval.nin = 1;
  CHECK(limn_eval(l, "f", &eval, &text) == LIMN_USAGE);
  eval.in = &none;
  CHECK(limn_eval(l, "f", &eval, &text) == LIMN_USAGE);
  CHECK(limn_eval_arrays(l, "f", &eval, NULL, NULL) == LIMN_USAGE);
  CHECK(limn_predict(l, NULL, &use, &text) == LIMN_USAGE &&
        limn_predict(l, "net", &use, NULL) == LIMN_USAGE);
  CHECK(limn_predict(l, "net", NULL, &text) == LIMN_WRONG);
  CHECK(limn_measure(l, NULL, NULL) == LIMN_USAGE &&
        limn_sample_arrays(l, "net", &use, NULL) == LIMN_USAGE);
  CHECK(limn_gradients(l, NULL, NULL, &use, NULL, NULL) == LIMN_USAGE);
  CHECK(limn_weights(l, NULL, NULL) == LIMN_USAGE &&
        limn_weight_get(l, NULL, &array) == LIMN_USAGE);
  CHECK(limn_weight_get(l, "w", NULL) == LIMN_USAGE &&
        limn_weight_set(l, NULL, &array) == LIMN_USAGE);
  CHECK(limn_weights_read(l, NULL) == LIMN_USAGE && limn_report(l, &use, NULL) == LIMN_USAGE);
  CHECK(limn_report(l, NULL, &text) == LIMN_USAGE &&
        limn_trainer_open(l, NULL, NULL) == LIMN_USAGE);
  CHECK(limn_export(l, "net", &leaving, NULL) == LIMN_USAGE &&
        limn_export(l, "net", NULL, &text) == LIMN_USAGE);
  LimnRead reading = {.size = sizeof reading};
  LimnDiff comparing = {.size = sizeof comparing};
  CHECK(limn_read(l, NULL, &reading, &text) == LIMN_USAGE &&
        limn_read(l, "a.json", &reading, NULL) == LIMN_USAGE);
  CHECK(limn_diff(l, "a.limn", NULL, &comparing, &text) == LIMN_USAGE &&
        limn_diff(l, "a.limn", "b.limn", &comparing, NULL) == LIMN_USAGE);
  comparing.theme = "red";
  CHECK(limn_diff(l, "a.limn", "b.limn", &comparing, &text) == LIMN_USAGE && !text);
  CHECK(limn_run(l, NULL, NULL) == LIMN_USAGE && limn_draw(l, "f", NULL) == LIMN_USAGE);
  CHECK(limn_draw_text(l, "f", NULL, NULL) == LIMN_USAGE &&
        limn_draw_text(l, "f", NULL, &text) == LIMN_GOOD);
  CHECK(limn_draw_bytes(l, "f", &drawing, NULL, &bytes) == LIMN_USAGE);
  CHECK(limn_draw_bytes(l, "f", &drawing, &text, NULL) == LIMN_USAGE);
  CHECK(limn_draw_check(l, "f", &drawing, NULL) == LIMN_USAGE);
  CHECK(limn_data(l, NULL, NULL, false, NULL) == LIMN_USAGE &&
        limn_runs(l, NULL, NULL, NULL, false, &text) == LIMN_USAGE);
  CHECK(limn_change(l, NULL, "rate", 1) == LIMN_USAGE &&
        limn_change(l, ".", NULL, 1) == LIMN_USAGE);
  CHECK(limn_message(l, 0, NULL) == LIMN_USAGE && limn_message(l, 1u << 30, &m) == LIMN_USAGE);
  CHECK(limn_summary(l, false));
  LimnTrain memory = {.size = sizeof memory, .in_memory = true, .reference = true};
  GOOD(l, limn_trainer_open(l, &memory, &t));
  CHECK(limn_trainer_metrics(t, NULL) == LIMN_USAGE && limn_trainer_weights(t, NULL) == LIMN_USAGE);
  CHECK(limn_trainer_weight_set(t, NULL, &array) == LIMN_USAGE);
  CHECK(limn_trainer_weight_set(t, "net/dense.1/linear/W", NULL) == LIMN_USAGE);
  GOOD(l, limn_trainer_step(t, 1, NULL));
  limn_free(l); // with its trainer
}

// Options of another size: none, a newer one that asks for nothing unknown, one that does.
static void sizes(void) {
  Limn *l = loaded(program);
  struct {
    LimnDraw draw;
    char more[64];
  } newer = {{.size = sizeof newer, .out = "a.svg"}, {0}};
  LimnDraw unset = {0},
           older = {.size = offsetof(LimnDraw, level), .out = "a.svg", .level = "nonsense"};
  CHECK(limn_draw_text(l, "f", &unset, &text) == LIMN_USAGE);
  CHECK(limn_draw_text(l, "f", &older, &text) == LIMN_GOOD); // the rest is not looked at
  CHECK(limn_draw_text(l, "f", &newer.draw, &text) == LIMN_GOOD);
  newer.more[63] = 1;
  CHECK(limn_draw_text(l, "f", &newer.draw, &text) == LIMN_USAGE);
  LimnTrain train = {.size = sizeof train, .precision = (LimnPrecision)9};
  CHECK(limn_train(l, &train) == LIMN_USAGE);
  limn_free(l);
}

// Nothing that was asked, right or wrong, changes what is answered next.
static void twice(void) {
  Limn *l = loaded(program);
  char first[4096];
  LimnInput in = {"x", "2", NULL};
  LimnEval eval = {.size = sizeof eval, .in = &in, .nin = 1};
  snprintf(first, sizeof first, "%s", limn_print(l, "net", "reverse", true));
  for (int i = 0; i < 3; i++) {
    CHECK(!strcmp(limn_print(l, "net", "reverse", true), first));
    CHECK(!limn_print(l, "nett", NULL, false) &&
          strstr(limn_messages(l, false), "did you mean `net`"));
    CHECK(limn_errors(l) == 1 && limn_message_count(l) == 1);
    CHECK(!limn_print(l, "net", "simplfy", false) &&
          limn_errors(l) == 2); // a second one is said too
    CHECK(limn_draw_text(l, "net", NULL, &text) == LIMN_GOOD &&
          limn_draw_text(l, NULL, NULL, &text) == LIMN_GOOD);
    CHECK(limn_eval(l, "f", &eval, &text) == LIMN_GOOD && !strcmp(text, "2.25\n"));
    limn_forget(l);
  }
  CHECK(limn_load_text(l, "b.limn", "box f(x: R[]) -> R[] = 3 * x\n", 29) == LIMN_GOOD);
  CHECK(limn_eval(l, "f", &eval, &text) == LIMN_GOOD && !strcmp(text, "6\n"));
  CHECK(!limn_print(l, "net", NULL, false)); // the second program has replaced the first
  limn_free(l);
}

// A program reads its own folder, and what is allowed.
static void allowed(void) {
  const char text_of[] = "use \"/etc/passwd\"\n", refused[] = "--read /etc/ allows it";
  Limn *l = limn_new();
  CHECK(limn_load_text(l, "a.limn", text_of, strlen(text_of)) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), refused));
  GOOD(l, limn_allow(l, "/etc"));
  limn_load_text(l, "a.limn", text_of, strlen(text_of));
  CHECK(!strstr(limn_messages(l, false), refused));
  GOOD(l, limn_allow(l, NULL));
  CHECK(limn_load_text(l, "a.limn", text_of, strlen(text_of)) == LIMN_WRONG);
  CHECK(strstr(limn_messages(l, false), refused));
  limn_free(l);
}

// limn_set holds for every load after it.
static void settings(void) {
  const char text_of[] = "axis n = 3\nbox f(x: R[n]) -> R[] = sum[n](x)\n";
  Limn *l = limn_new();
  for (int i = 0; i < 3; i++) {
    GOOD(l, limn_set(l, "n", i ? "5" : "4"));
    GOOD(l, limn_load_text(l, "a.limn", text_of, strlen(text_of)));
    CHECK(strstr(limn_print(l, "f", NULL, false), i ? "R[n:5]" : "R[n:4]"));
  }
  GOOD(l, limn_set(l, "n", NULL));
  GOOD(l, limn_load_text(l, "a.limn", text_of, strlen(text_of)));
  CHECK(strstr(limn_print(l, "f", NULL, false), "R[n:3]"));
  limn_free(l);
}

int main(void) {
  no_handle();
  before_a_load();
  after_a_failed_one();
  with_null();
  sizes();
  twice();
  settings();
  allowed();
  // what a handle returned may be loaded into it
  Limn *same = limn_new();
  const char *laid = limn_format(same, "x.limn", program, strlen(program));
  GOOD(same, limn_load_text(same, "x.limn", laid, strlen(laid)));
  CHECK(limn_load_text(same, "bad.limn", "box f(", 6) == LIMN_WRONG);
  LimnMessage said = {.size = sizeof said};
  CHECK(limn_message(same, 0, &said) == LIMN_GOOD);
  GOOD(same, limn_load_text(same, said.file, program, strlen(program)));
  limn_free(same);
  return ended();
}
