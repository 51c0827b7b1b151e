// The law of engines: the interpreter, prebuilt kernels and compiled code have the same results in
// every command: results of boxes, measures, samples, training steps and machines. The law of GPUs:
// so have kernels for a GPU, which the emulated GPU runs (tests/gpu).
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include "whole_laws.h"

#include <stdlib.h>

static const char *const engines[] = {"the interpreter", "prebuilt kernels", "compiled code",
                                      "kernels for a GPU"};

void by_engine(int way, bool *reference, const char **device) {
  *reference = way == BY_INTERPRETER;
  *device = way == BY_GPU ? "cuda" : NULL;
  const char *quick = getenv("WHOLE_CC"); // a compiler that takes no trouble
  if (way == BY_PREBUILT)
    setenv("LIMN_CC", "", 1);
  else if (way == BY_COMPILED && quick)
    setenv("LIMN_CC", quick, 1);
  else
    unsetenv("LIMN_CC");
}

static bool all_near(Case *c, const char *what, const Values *are, const Values *should) {
  if (are->n != should->n) return case_says(c, "%s: other results", what);
  for (uint32_t i = 0; i < are->n; i++)
    if (!values_near(c, arena_format(c->arena, "%s: %s", what, should->at[i].name), &are->at[i],
                     &should->at[i], 1e-7))
      return false;
  return true;
}

// -- what boxes give ------------------------------------------------------------------------------
static bool predict_by(Case *c, Limn *l, const WholeDecl *d, int way, Values *out) {
  const char *name = whole_name(c->p, d->name, false);
  LimnInput in[4];
  LimnArray array[4];
  Value v[4];
  for (uint32_t i = 0; i < d->in.n; i++) {
    v[i] = value_stack(c, d, i);
    array[i] =
        (LimnArray){.type = LIMN_F64, .rank = v[i].rank, .shape = v[i].shape, .data = v[i].data};
    in[i] = (LimnInput){.name = "", .array = &array[i]};
  }
  LimnUse use = {.size = sizeof use, .in = in, .nin = d->in.n, .threads = 1};
  use.precision = LIMN_PRECISION_64;
  by_engine(way, &use.reference, &use.device);
  LimnArrays got = {0};
  if (limn_predict_arrays(l, name, &use, &got) != LIMN_GOOD)
    return case_says(c, "predict by %s: %s: %s", engines[way], name, limn_messages(l, false));
  case_take(c, &got, out);
  return true;
}

// A label that is none is refused in every way.
static bool refuses(Case *c, Limn *l, const WholeDecl *d) {
  static const double wrong[] = {-1, 1.5, 1e8};
  const WholeType *t = &d->in.at[0].type;
  if (d->in.n != 1 || !t->labels || t->rank) return true;
  for (uint32_t k = 0; k < 8; k++) {
    double x = k / 2 < 3 ? wrong[k / 2] : (double)t->range.n;
    LimnArray array = {.type = LIMN_F64, .rank = 0, .data = &x};
    LimnInput in = {.name = "", .array = &array};
    LimnUse use = {.size = sizeof use, .in = &in, .nin = 1, .threads = 1, .reference = k % 2 == 0};
    LimnArrays got = {0};
    if (limn_predict_arrays(l, whole_name(c->p, d->name, false), &use, &got) == LIMN_GOOD)
      return case_says(c, "label outside: %g is taken by %s (%s)", x,
                       whole_name(c->p, d->name, false), k % 2 ? "kernels" : "interpreter");
  }
  return true;
}

// Which engines are held against the interpreter.
typedef uint32_t Ways;
enum { PREBUILT = 1 << BY_PREBUILT, COMPILED = 1 << BY_COMPILED, GPU = 1 << BY_GPU };

static bool engines_agree(Case *c, Limn *l, const WholeDecl *d, Ways ways) {
  Values one = {0};
  LimnArrays w = {0};
  const char *name = whole_name(c->p, d->name, false);
  if (limn_weights(l, name, &w) != LIMN_GOOD) return limn_forget(l), true; // open sizes
  for (uint32_t i = 0; i < w.n; i++)
    if (limn_weight_set(l, w.at[i].name, &w.at[i].array) != LIMN_GOOD)
      return limn_forget(l), true; // another box has a weight of this name
  if (!predict_by(c, l, d, 0, &one)) return false;
  for (int way = BY_PREBUILT; way <= BY_GPU; way++) {
    Values two = {0};
    if (!(ways & 1u << way)) continue;
    if (!predict_by(c, l, d, way, &two)) return false;
    if (!all_near(c, arena_format(c->arena, "%s by %s", name, engines[way]), &two, &one))
      return false;
  }
  for (uint32_t i = 0; i < w.n; i++) limn_weight_set(l, w.at[i].name, NULL);
  return refuses(c, l, d);
}

// -- what a run gives -----------------------------------------------------------------------------
typedef LimnStatus Asking(Limn *, const LimnUse *, LimnArrays *);
static LimnStatus sample_shown(Limn *l, const LimnUse *use, LimnArrays *out) {
  return limn_sample_arrays(l, NULL, use, out);
}

// What a verb gives of a run, with its weights, by the interpreter and by prebuilt kernels.
static bool verb_agrees(Case *c, Limn *l, const char *verb, Asking *ask) {
  Values by[2] = {{0}, {0}};
  for (int way = 0; way < 2; way++) {
    LimnUse use = {.size = sizeof use, .from = "run", .threads = 1};
    use.precision = LIMN_PRECISION_64;
    by_engine(way, &use.reference, &use.device);
    LimnArrays got = {0};
    if (!asked(c, l, verb, NULL, ask(l, &use, &got) == LIMN_GOOD)) return false;
    case_take(c, &got, &by[way]);
  }
  return all_near(c, verb, &by[1], &by[0]);
}

static bool uses_agree(Case *c, Limn *l) {
  LimnTrain how = in_doubles;
  how.out = "run";
  setenv("LIMN_CC", "", 1);
  if (system("rm -rf run")) return false;
  return asked(c, l, "train", NULL, limn_train(l, &how) == LIMN_GOOD) &&
         (!c->p->measures || verb_agrees(c, l, "measure", limn_measure_arrays)) &&
         (!c->p->shows || verb_agrees(c, l, "sample", sample_shown));
}

// Behind dead units a norm gives equal numbers, and rounding decides which is the largest: what is measured by hits is
// not compared there.
static bool counts_ties(Case *c, const char *measure) {
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  const char *at = strstr(text, arena_format(c->arena, "measure %s :", measure)), *hits;
  if (!at || !(hits = strstr(at, "by hits")) || hits > at + strcspn(at, "\n")) return false;
  return strstr(text, "layer_norm") || strstr(text, "batch_norm");
}

// Where two steps of training lead: losses, measures and weights, by the interpreter, prebuilt kernels
// or compiled code. Gradients and optimisers are in them.
static bool steps_by(Case *c, Limn *l, int way, Values *out) {
  LimnTrainer *t = NULL;
  LimnTrain how = in_doubles;
  how.in_memory = true;
  by_engine(way, &how.reference, &how.device);
  LimnMetrics m = {.size = sizeof m};
  LimnArrays w = {0};
  bool good = limn_trainer_open(l, &how, &t) == LIMN_GOOD;
  for (uint32_t step = 0; good && step < 2; step++) {
    good = limn_trainer_step(t, 1, NULL) == LIMN_GOOD && limn_trainer_metrics(t, &m) == LIMN_GOOD;
    for (uint32_t i = 0; good && i < m.n; i++) {
      if (counts_ties(c, m.name[i])) continue;
      Value v = {.name = arena_format(c->arena, "%s of step %u", m.name[i], step + 1), .n = 1};
      v.data = NEW(c->arena, double);
      v.data[0] = m.value[i];
      vec_push(c->arena, out, v);
    }
    good = good && limn_trainer_weights(t, &w) == LIMN_GOOD;
    if (good) case_take(c, &w, out);
  }
  if (!good) case_says(c, "not trained by %s: %s", engines[way], limn_messages(l, false));
  if (t) limn_trainer_close(t);
  return good;
}

// A slope that is 0 but for rounding, as that of a bias before batch_norm, has any sign: lion steps by
// the sign alone.
static bool steps_by_rounding(Case *c) {
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  return strstr(text, "lion(") && strstr(text, "batch_norm");
}

static bool steps_agree(Case *c, Limn *l, Ways ways) {
  Values one = {0};
  if (steps_by_rounding(c)) return true;
  if (!steps_by(c, l, 0, &one)) return false;
  for (int way = BY_PREBUILT; way <= BY_GPU; way++) {
    Values two = {0};
    if (!(ways & 1u << way)) continue;
    if (!steps_by(c, l, way, &two)) return false;
    if (!all_near(c, arena_format(c->arena, "steps by %s", engines[way]), &two, &one)) return false;
  }
  return true;
}

// -- what machines do -----------------------------------------------------------------------------
// Every number of every run, in order.
static bool runs_by(Case *c, Limn *l, int way, Values *out) {
  LimnRun how = {.size = sizeof how, .threads = 1, .plain = true, .json = true, .numbers = true};
  const char *text = NULL;
  by_engine(way, &how.reference, &how.device);
  if (limn_run(l, &how, &text) != LIMN_GOOD)
    return case_says(c, "not run by %s: %s", engines[way], limn_messages(l, false));
  VEC(double) all = {0};
  for (const char *at = strstr(text, "\"rows\""); at; at = strstr(at + 1, "\"rows\""))
    for (const char *x = at + strcspn(at, "["), *end; *x && *x != '"'; x = end) {
      double number = strtod(x, (char **)&end);
      if (end == x)
        end++;
      else
        vec_push(c->arena, &all, number);
    }
  vec_push(c->arena, out, ((Value){.name = "a run", .n = all.n, .data = all.at}));
  return true;
}

static bool runs_agree(Case *c, Limn *l, Ways ways) {
  Values one = {0};
  if (!runs_by(c, l, BY_INTERPRETER, &one)) return false;
  for (int way = BY_PREBUILT; way <= BY_GPU; way++) {
    Values two = {0};
    if (!(ways & 1u << way)) continue;
    if (!runs_by(c, l, way, &two)) return false;
    if (!all_near(c, engines[way], &two, &one)) return false;
  }
  return true;
}

static bool its_engines_agree(Case *c, Limn *l, const WholeDecl *d) {
  return engines_agree(c, l, d, d->scope % 16 == 5 ? PREBUILT | COMPILED : PREBUILT);
}

bool law_engines(Case *c) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = each_quiet_box(c, l, its_engines_agree);
  if (good && c->p->trains)
    good = steps_agree(c, l, c->p->seed % 16 == 5 ? PREBUILT | COMPILED : PREBUILT);
  if (good && c->p->trains && !c->p->noisy) good = uses_agree(c, l);
  if (good && c->p->runs) good = runs_agree(c, l, PREBUILT);
  limn_free(l);
  return good;
}

static bool compiled_too(Case *c, Limn *l, const WholeDecl *d) {
  return engines_agree(c, l, d, COMPILED);
}

bool law_compiled(Case *c) {
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = c->p->trains ? steps_agree(c, l, COMPILED) : each_quiet_box(c, l, compiled_too);
  if (good && c->p->runs) good = runs_agree(c, l, COMPILED);
  limn_free(l);
  return good;
}

static bool on_gpu_too(Case *c, Limn *l, const WholeDecl *d) { return engines_agree(c, l, d, GPU); }

// Each kernel is compiled, which takes a while: of boxes, only where nothing trains. Of every two programs one
// is run as large ones are, kernel by kernel.
bool law_gpu(Case *c) {
  if (c->p->seed % 2)
    setenv("LIMN_LAUNCHES", "1", 1);
  else
    unsetenv("LIMN_LAUNCHES");
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  bool good = c->p->trains ? steps_agree(c, l, GPU) : each_quiet_box(c, l, on_gpu_too);
  if (good && c->p->runs) good = runs_agree(c, l, GPU);
  limn_free(l);
  return good;
}

// -- a step that is not finite --------------------------------------------------------------------
// A weight that one step carries over zero, and its logarithm.
static const char doom[] = "\nlearn doomed : R[] = 1e-9\ngoal doom : minimise log(doomed)\n";

static bool keeps_all(Case *c, Limn *l, int way) {
  LimnTrainer *t = NULL;
  LimnTrain how = in_doubles;
  how.in_memory = true;
  by_engine(way, &how.reference, &how.device);
  LimnArrays w = {0};
  Values before = {0}, after = {0};
  bool good = limn_trainer_open(l, &how, &t) == LIMN_GOOD &&
              limn_trainer_step(t, 1, NULL) == LIMN_GOOD &&
              limn_trainer_weights(t, &w) == LIMN_GOOD;
  if (good) case_take(c, &w, &before);
  if (!good) case_says(c, "not trained by %s: %s", engines[way], limn_messages(l, false));
  if (good && limn_trainer_step(t, 1, NULL) == LIMN_GOOD)
    good = case_says(c, "finite: by %s the logarithm of a negative number is one", engines[way]);
  good = good && limn_trainer_weights(t, &w) == LIMN_GOOD;
  if (good) case_take(c, &w, &after);
  for (uint32_t i = 0; good && i < before.n; i++)
    good = values_near(c, arena_format(c->arena, "finite: a bad step by %s", engines[way]),
                       &after.at[i], &before.at[i], 0);
  if (t) limn_trainer_close(t);
  return good;
}

// A step in which a loss is not finite changes nothing, whoever does it.
bool law_finite(Case *c) {
  if (!c->p->trains || c->p->diagram) return true;
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  Limn *l = case_load(c, arena_format(c->arena, "%s%s", text, doom));
  if (!l) return false;
  bool good = true;
  for (int way = BY_INTERPRETER; good && way <= BY_GPU; way++)
    good = way == BY_COMPILED || keeps_all(c, l, way); // its plan is that of prebuilt kernels
  limn_free(l);
  return good;
}
