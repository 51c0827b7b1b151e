// Memory runs out at the k-th allocation, for every k, in every public function: it comes back with
// LIMN_SYSTEM or NULL, nothing is lost, and the next call on the same handle gives the answer that
// the first one gave. Where a function makes thousands of allocations, k goes in strides.
//
// Linked with an arena that counts (LIMN_GUARD).
#include "base/base.h"
#include "counted.h"
#include "host.h"

#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 160, FEWER = 30 }; // places where an allocation fails; without FULL=1
static const char bad[] = "box f(x: R[3]) -> R[4] = x\nbox g(x: R[3]) -> R[3] = tanhh(x)\n";
static const char machine[] = "machine decay() -> (x: R[]) {\n  state x = 1\n  x' = -0.5 * x\n}\n"
                              "run decay to 1\n";

typedef struct {
  LimnStatus status;
  uint64_t hash; // of what it gave
} Gave;

static void add(Gave *g, const void *bytes, size_t n) {
  for (size_t i = 0; bytes && i < n; i++)
    g->hash = (g->hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

static Gave gave_text(LimnStatus status, const char *text) {
  Gave g = {status, 0};
  if (status == LIMN_GOOD && text) add(&g, text, strlen(text));
  if (status == LIMN_GOOD && !text) g.status = LIMN_SYSTEM;
  return g;
}

static Gave gave_arrays(LimnStatus status, const LimnArrays *all) {
  Gave g = {status, 0};
  for (uint32_t i = 0; status == LIMN_GOOD && i < all->n; i++) {
    add(&g, all->at[i].name, strlen(all->at[i].name));
    add(&g, all->at[i].array.data, all->at[i].array.type == LIMN_F64 ? 8 : 4);
  }
  return g;
}

#define TEXT(name, ...)                                                                            \
  static Gave name(Limn *l) { return gave_text(LIMN_GOOD, __VA_ARGS__); }
TEXT(summary, limn_summary(l, false))
TEXT(who, limn_who(l, true))
TEXT(paths, limn_paths(l, NULL, false))
static LimnStatus edit_load(Limn *l) {
  return limn_edit_load(l, "host.limn", program, strlen(program), NULL);
}
#define ASKED(name, question)                                                                      \
  TEXT(edit_##name, (edit_load(l) ? NULL                                                           \
                                  : limn_edit_ask(l, question,                                     \
                                                  &(LimnAsk){.size = sizeof(LimnAsk),              \
                                                             .line = 4,                            \
                                                             .character = 12,                      \
                                                             .text = "nets"})))
ASKED(hover, "hover")
ASKED(rename, "rename")
ASKED(completion, "completion")
ASKED(tokens, "tokens")
ASKED(messages, "messages")
TEXT(find, limn_find(l, "dense ; tanh", true))
TEXT(print, limn_print(l, "net", "reverse", true))
TEXT(print_step, limn_print(l, NULL, "step", false))
TEXT(cost, limn_cost(l, NULL, false))
TEXT(format, limn_format(l, "a.limn", program, strlen(program)))
TEXT(ops, limn_ops(l))
TEXT(quote, limn_quote(l, program))

// An empty text is what limn_messages gives when memory runs out: there are some here.
static Gave messages(Limn *l) {
  const char *text = limn_messages(l, true);
  return gave_text(*text == '[' && text[1] == ']' ? LIMN_SYSTEM : LIMN_GOOD, text);
}

static Gave allow(Limn *l) { return (Gave){limn_allow(l, "/nowhere"), 0}; }
static Gave set(Limn *l) { return (Gave){limn_set(l, "unused", "1"), 0}; }
static Gave forget(Limn *l) {
  limn_forget(l);
  return (Gave){limn_message_count(l) ? LIMN_SYSTEM : LIMN_GOOD, 0};
}

static Gave load(Limn *l) {
  return (Gave){limn_load_text(l, "host.limn", program, strlen(program)), 0};
}

static Gave load_wrong(Limn *l) {
  LimnStatus s = limn_load_text(l, "bad.limn", bad, strlen(bad));
  Gave g = {s == LIMN_WRONG ? LIMN_GOOD : s == LIMN_GOOD ? LIMN_WRONG : s, 0};
  if (!g.status) g.hash = limn_message_count(l);
  return g;
}

static Gave load_file(Limn *l) { return (Gave){limn_load(l, "host.limn"), 0}; }

static Gave new_handle(Limn *l) {
  (void)l;
  Limn *other = limn_new();
  limn_free(other);
  return (Gave){other ? LIMN_GOOD : LIMN_SYSTEM, 0};
}

static Gave format_file(Limn *l) {
  bool same = false;
  return (Gave){limn_format_file(l, "host.limn", true, &same), 0};
}

static const LimnInput input = {"x", "2", NULL};

static Gave eval(Limn *l) {
  const char *text = NULL;
  LimnEval how = {.size = sizeof how, .in = &input, .nin = 1, .dy = "1"};
  LimnStatus s = limn_eval(l, "f", &how, &text);
  return gave_text(s, text);
}

static Gave eval_arrays(Limn *l) {
  LimnArrays out, grads;
  LimnEval how = {.size = sizeof how, .in = &input, .nin = 1};
  LimnStatus s = limn_eval_arrays(l, "f", &how, &out, &grads);
  return gave_arrays(s, &out);
}

static const LimnInput row = {"", "[5, 3, 1, 0.25]", NULL};
static const LimnExport leaving = {.size = sizeof leaving, .as = "safetensors", .out = "/dev/null"};
static const LimnUse used = {
    .size = sizeof used, .from = "run", .in = &row, .nin = 1, .reference = true, .n = 2};

#define USED(name, call)                                                                           \
  static Gave name(Limn *l) {                                                                      \
    const char *text = NULL;                                                                       \
    LimnStatus s = call;                                                                           \
    return gave_text(s, text);                                                                     \
  }
#define USED_ARRAYS(name, call)                                                                    \
  static Gave name(Limn *l) {                                                                      \
    LimnArrays out = {0, NULL};                                                                    \
    LimnStatus s = call;                                                                           \
    return gave_arrays(s, &out);                                                                   \
  }
USED(measure, limn_measure(l, &used, &text))
USED(predict, limn_predict(l, "net", &used, &text))
USED(sample, limn_sample(l, "net", &used, &text))
USED(report, limn_report(l, &used, &text))
USED(leaves, limn_export(l, "net", &leaving, &text))
USED(data, limn_data(l, "iris", NULL, false, &text))
USED(runs, limn_runs(l, ".", NULL, "dense", true, &text))
USED_ARRAYS(measure_arrays, limn_measure_arrays(l, &used, &out))
USED_ARRAYS(predict_arrays, limn_predict_arrays(l, "net", &used, &out))
USED_ARRAYS(sample_arrays, limn_sample_arrays(l, "net", &used, &out))
USED_ARRAYS(gradients, limn_gradients(l, NULL, NULL, &used, NULL, &out))
USED_ARRAYS(weights, limn_weights(l, NULL, &out))

static Gave weight_get(Limn *l) {
  LimnArray w = {0};
  LimnNamedArray one = {"w", w};
  LimnStatus s = limn_weight_get(l, "net/dense.2/b", &one.array);
  return gave_arrays(s, &(LimnArrays){1, &one});
}

static Gave weight_set(Limn *l) {
  double b[] = {1, 2, 3};
  int64_t shape[] = {3};
  LimnArray w = {LIMN_F64, 1, shape, NULL, b};
  return (Gave){limn_weight_set(l, "net/dense.2/b", &w), 0};
}

static Gave weights_read(Limn *l) { return (Gave){limn_weights_read(l, "run"), 0}; }

static Gave train(Limn *l) {
  LimnTrain how = {.size = sizeof how, .in_memory = true, .reference = true, .steps = 2};
  return (Gave){limn_train(l, &how), 0};
}

static Gave train_compiled(Limn *l) {
  LimnTrain how = {.size = sizeof how, .in_memory = true, .steps = 2, .threads = 2};
  return (Gave){limn_train(l, &how), 0};
}

static Gave trainer(Limn *l) {
  LimnTrainer *t = NULL;
  LimnTrain how = {.size = sizeof how, .in_memory = true, .reference = true, .steps = 3};
  LimnStatus s = limn_trainer_open(l, &how, &t);
  LimnArrays all = {0, NULL};
  LimnMetrics m = {.size = sizeof m};
  double b[] = {1, 2, 3};
  int64_t shape[] = {3};
  LimnArray w = {LIMN_F64, 1, shape, NULL, b};
  if (!s) s = limn_trainer_step(t, 1, NULL);
  if (!s) s = limn_trainer_weight_set(t, "net/dense.2/b", &w);
  if (!s) s = limn_trainer_step(t, 1, NULL);
  if (!s) s = limn_trainer_metrics(t, &m);
  if (!s) s = limn_trainer_weights(t, &all);
  Gave g = gave_arrays(s, &all);
  if (t && limn_trainer_close(t) && !g.status) g.status = LIMN_SYSTEM;
  return g;
}

static LimnStatus called(LimnFunction *f, const LimnInput *in, uint32_t n, const LimnArray *dy,
                         uint32_t ndy, LimnArrays *out, LimnArrays *grads) {
  LimnCall how = {.size = sizeof how, .in = in, .nin = n, .dy = dy, .ndy = ndy};
  return limn_function_call(f, &how, out, grads);
}

static Gave function(Limn *l) {
  LimnFunction *f = NULL;
  LimnPrepare how = {.size = sizeof how, .reference = true, .threads = 1};
  LimnStatus s = limn_function_open(l, "net", &how, &f);
  double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
  int64_t shape[] = {2, 4}, three[] = {3};
  LimnArray a = {LIMN_F64, 2, shape, NULL, x}, w = {LIMN_F64, 1, three, NULL, x};
  LimnInput in = {NULL, NULL, &a};
  LimnArrays out = {0, NULL}, grads = {0, NULL};
  if (!s) s = called(f, &in, 1, NULL, 0, &out, NULL);
  if (!s) s = limn_function_weight_set(f, "net/dense.2/b", &w);
  if (!s) s = limn_function_weights(f, &grads, NULL);
  if (!s) s = called(f, &in, 1, NULL, 0, &out, &grads);
  Gave g = {s, s ? 0 : (uint64_t)grads.n};
  for (uint32_t i = 0; !s && i < out.n; i++) add(&g, out.at[i].array.data, 6 * sizeof(float));
  limn_function_close(f);
  return g;
}

static Gave draw(Limn *l) {
  LimnDraw how = {.size = sizeof how, .out = "a.svg"};
  return (Gave){limn_draw(l, "net", &how), 0};
}

static const LimnDraw pdf = {.size = sizeof pdf, .out = "a.pdf"};
USED(draw_text, limn_draw_text(l, "net", &pdf, &text))
USED(draw_goals, limn_draw_text(l, NULL, &pdf, &text))
USED(draw_check, limn_draw_check(l, "net", &pdf, &text))

static Gave draw_bytes(Limn *l) {
  const char *bytes = NULL;
  size_t n = 0;
  Gave g = {limn_draw_bytes(l, "net", &pdf, &bytes, &n), 0};
  if (!g.status) add(&g, bytes, n);
  return g;
}

static Gave run(Limn *l) {
  const char *text = NULL;
  LimnRun how = {.size = sizeof how, .plain = true, .reference = true, .json = true};
  return (Gave){limn_run(l, &how, &text), 0};
}

static const struct {
  const char *name;
  Gave (*call)(Limn *);
  const char *text; // of the program; NULL: none is loaded
  bool loads;       // what was loaded before is gone when it fails
} functions[] = {
    {"limn_new", new_handle, NULL, false},
    {"limn_set", set, NULL, false},
    {"limn_allow", allow, NULL, false},
    {"limn_load_text", load, NULL, true},
    {"limn_load_text, wrong", load_wrong, NULL, true},
    {"limn_load", load_file, NULL, true},
    {"limn_messages", messages, bad, false},
    {"limn_forget", forget, bad, false},
    {"limn_summary", summary, program, false},
    {"limn_who", who, program, false},
    {"limn_paths", paths, program, false},
    {"limn_find", find, program, false},
    {"limn_edit_ask hover", edit_hover, program, false},
    {"limn_edit_ask rename", edit_rename, program, false},
    {"limn_edit_ask completion", edit_completion, program, false},
    {"limn_edit_ask tokens", edit_tokens, program, false},
    {"limn_edit_ask messages", edit_messages, program, false},
    {"limn_print", print, program, false},
    {"limn_print, step", print_step, program, false},
    {"limn_cost", cost, program, false},
    {"limn_format", format, NULL, false},
    {"limn_format_file", format_file, NULL, false},
    {"limn_eval", eval, program, false},
    {"limn_eval_arrays", eval_arrays, program, false},
    {"limn_measure", measure, program, false},
    {"limn_measure_arrays", measure_arrays, program, false},
    {"limn_predict", predict, program, false},
    {"limn_predict_arrays", predict_arrays, program, false},
    {"limn_sample", sample, program, false},
    {"limn_sample_arrays", sample_arrays, program, false},
    {"limn_report", report, program, false},
    {"limn_export", leaves, program, false},
    {"limn_gradients", gradients, program, false},
    {"limn_weights", weights, program, false},
    {"limn_weight_get", weight_get, program, false},
    {"limn_weight_set", weight_set, program, false},
    {"limn_weights_read", weights_read, program, false},
    {"limn_train", train, program, false},
    {"limn_train, compiled", train_compiled, program, false},
    {"limn_trainer_…", trainer, program, false},
    {"limn_function_…", function, program, false},
    {"limn_draw", draw, program, false},
    {"limn_draw_text", draw_text, program, false},
    {"limn_draw_text, goals", draw_goals, program, false},
    {"limn_draw_bytes", draw_bytes, program, false},
    {"limn_draw_check", draw_check, program, false},
    {"limn_run", run, machine, false},
    {"limn_data", data, NULL, false},
    {"limn_runs", runs, NULL, false},
    {"limn_ops", ops, NULL, false},
    {"limn_quote", quote, NULL, false},
};

static Limn *handle(const char *text) {
  Limn *l = limn_new();
  LimnStatus s = text ? limn_load_text(l, "host.limn", text, strlen(text)) : LIMN_GOOD;
  if (s != LIMN_GOOD && text != bad) printf("cannot load:\n%s", limn_messages(l, false)), wrong++;
  return l;
}

// One function; how many of its calls failed.
static int exhaust(size_t i) {
  int failed = 0;
  long before = blocks;
  Limn *l = handle(functions[i].text);
  Gave first = functions[i].call(l);
  long long made = arena_allocations();
  Gave right = functions[i].call(l);
  long long n = arena_allocations() - made, stride = n / (getenv("FULL") ? TRIES : FEWER) + 1;
  if (first.status || right.status || first.hash != right.hash) {
    printf("%s: status %d and %d\n%s", functions[i].name, (int)first.status, (int)right.status,
           limn_messages(l, false));
    wrong++;
  }
  for (long long k = 1; k <= n + stride; k += k < FEWER ? 1 : stride) {
    if (functions[i].text == bad) limn_load_text(l, "host.limn", bad, strlen(bad));
    arena_fail_at(k);
    Gave got = functions[i].call(l);
    arena_fail_at(0);
    failed += got.status == LIMN_SYSTEM;
    bool good = got.status == LIMN_SYSTEM || (got.status == LIMN_GOOD && got.hash == right.hash);
    if (functions[i].text != bad) limn_forget(l);
    Gave again = functions[i].call(l);
    if (good && again.status == LIMN_GOOD && again.hash == right.hash) continue;
    printf("%s: allocation %lld of %lld: status %d, then %d\n%s", functions[i].name, k, n,
           (int)got.status, (int)again.status, limn_messages(l, false));
    wrong++;
    if (wrong > 20) break;
  }
  limn_free(l);
  if (blocks != before) {
    printf("%s: %ld blocks are lost\n", functions[i].name, (long)blocks - before);
    wrong++;
  }
  return failed;
}

int main(int argc, char **argv) {
  int failed = 0;
  FILE *f = fopen("host.limn", "w");
  fputs(program, f);
  fclose(f);
  Limn *l = handle(program);
  LimnTrain how = {.size = sizeof how, .out = "run", .reference = true, .plain = true};
  GOOD(l, limn_train(l, &how));
  limn_free(l);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (argc > 1 && strcmp(argv[1], functions[i].name) != 0) continue;
    int n = exhaust(i);
    failed += n;
    if (!n) printf("%s never failed\n", functions[i].name), wrong++;
  }
  printf("%d calls failed as they should\n", failed);
  return ended();
}
