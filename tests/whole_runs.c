// Laws of runs: accepted programs can be run, and training changes exactly the learners of the
// --who table.
#define _DEFAULT_SOURCE
#include "whole_laws.h"

#include <stdlib.h>

const LimnTrain in_doubles = {.size = sizeof(LimnTrain),
                              .threads = 1,
                              .precision = LIMN_PRECISION_64,
                              .quiet = true,
                              .plain = true};

// -- losses ---------------------------------------------------------------------------------------
bool case_losses(Case *c, Limn *l, Values *out) {
  LimnTrainer *t = NULL;
  LimnTrain how = in_doubles;
  how.reference = how.in_memory = true;
  LimnMetrics m = {.size = sizeof m};
  bool good = limn_trainer_open(l, &how, &t) == LIMN_GOOD;
  for (uint32_t step = 0; good && step < 2; step++) {
    good = limn_trainer_step(t, 1, NULL) == LIMN_GOOD && limn_trainer_metrics(t, &m) == LIMN_GOOD;
    for (uint32_t i = 0; good && i < m.n; i++) {
      Value v = {.name = arena_format(c->arena, "%s", m.name[i]), .n = 1};
      v.data = NEW(c->arena, double);
      v.data[0] = m.value[i];
      vec_push(c->arena, out, v);
    }
  }
  if (!good) case_says(c, "not trained: %s", limn_messages(l, false));
  if (t) limn_trainer_close(t);
  return good;
}

// -- what checks, runs ----------------------------------------------------------------------------
bool asked(Case *c, Limn *l, const char *verb, const char *name, bool good) {
  if (good) return true;
  return case_says(c, "%s: of %s: %s", verb, name ? name : "all", limn_messages(l, false));
}

static bool has_open_sizes(const WholeDecl *d) {
  bool open = false;
  for (uint32_t i = 0; i < d->in.n; i++)
    for (uint32_t k = 0; k < d->in.at[i].type.rank; k++)
      open |= d->in.at[i].type.axis[k].variable != 0;
  return open;
}

static bool printed(Case *c, Limn *l, const WholeDecl *d, const char *name) {
  static const char *const stages[] = {"tree", "check", "inline",  "simplify",
                                       "plan", "c",     "reverse", "forward"};
  bool real = d->out.n == 1 && !d->out.at[0].labels;
  for (uint32_t i = 0; i < (real ? COUNT(stages) : 6); i++)
    if ((i / 2 != 2 || !has_open_sizes(d)) && // those are not known when it is compiled
        !asked(c, l, arena_format(c->arena, "print %s", stages[i]), name,
               limn_print(l, name, stages[i], false) != NULL))
      return false;
  return true;
}

static bool looked_at(Case *c, Limn *l, const WholeDecl *d) {
  const char *name = whole_name(c->p, d->name, false), *text = NULL;
  Values in = {0}, out = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(c->arena, &in, value_input(c, d, i, 0));
  if (!case_eval(c, l, name, &in, NULL, &out, NULL)) return false;
  LimnDraw draw = {.size = sizeof draw};
  return asked(c, l, "draw", name, limn_draw_text(l, name, &draw, &text) == LIMN_GOOD) &&
         asked(c, l, "cost", name, limn_cost(l, name, false) != NULL) && printed(c, l, d, name);
}

static bool gives_the_same(Case *c, Limn *l, Limn *again, const WholeDecl *d) {
  const char *name = whole_name(c->p, d->name, false);
  Values in = {0}, one = {0}, two = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(c->arena, &in, value_input(c, d, i, 2));
  if (!case_eval(c, l, name, &in, NULL, &one, NULL)) return false;
  if (!case_eval(c, again, name, &in, NULL, &two, NULL)) return false;
  for (uint32_t i = 0; i < one.n; i++)
    if (!values_near(c, arena_format(c->arena, "format: of %s", name), &two.at[i], &one.at[i], 0))
      return false;
  return true;
}

static bool formatted(Case *c, Limn *l, const char *text) {
  const char *once = limn_format(l, "chance.limn", text, strlen(text));
  if (!asked(c, l, "format", NULL, once != NULL)) return false;
  once = arena_format(c->arena, "%s", once);
  const char *twice = limn_format(l, "chance.limn", once, strlen(once));
  if (!twice || strcmp(once, twice))
    return case_says(c, "format: twice is other\n%s\n%s", once, twice);
  Limn *again = case_load(c, once);
  bool good = again != NULL;
  for (uint32_t i = 0; good && i < c->p->decl.n; i++)
    if (c->p->decl.at[i]->asked && !c->p->decl.at[i]->noisy)
      good = gives_the_same(c, l, again, c->p->decl.at[i]);
  limn_free(again);
  return good;
}

static bool predicted(Case *c, Limn *l, const WholeDecl *d) {
  const char *name = whole_name(c->p, d->name, false);
  if (d->family) name = arena_format(c->arena, "%s[0]", name);
  Value v = value_stack(c, d, 0);
  LimnArray array = {.type = LIMN_F64, .rank = v.rank, .shape = v.shape, .data = v.data};
  LimnInput in = {.name = "", .array = &array};
  LimnUse use = {.size = sizeof use, .from = "run", .in = &in, .nin = 1, .threads = 1};
  LimnArrays out = {0};
  return asked(c, l, "predict", name, limn_predict_arrays(l, name, &use, &out) == LIMN_GOOD);
}

static bool trained(Case *c, Limn *l) {
  const char *text = NULL;
  LimnTrain how = in_doubles;
  LimnUse use = {.size = sizeof use, .from = "run", .threads = 1};
  if (system("rm -rf run")) return false;
  how.out = "run", how.pause = 1;
  if (!asked(c, l, "train", NULL, limn_train(l, &how) == LIMN_GOOD)) return false;
  how.out = NULL, how.pause = 0, how.resume = "run";
  bool good =
      asked(c, l, "resume", NULL, limn_train(l, &how) == LIMN_GOOD) &&
      asked(c, l, "measure", NULL, !c->p->measures || limn_measure(l, &use, &text) == LIMN_GOOD) &&
      asked(c, l, "report", NULL, limn_report(l, &use, &text) == LIMN_GOOD) &&
      asked(c, l, "print gradient", NULL, limn_print(l, NULL, "gradient", false) != NULL) &&
      asked(c, l, "print step", NULL, limn_print(l, NULL, "step", false) != NULL);
  for (uint32_t i = 0; good && i < c->p->decl.n; i++)
    if (c->p->decl.at[i]->kind == DECL_LEARNER && c->p->decl.at[i]->weighted &&
        !c->p->decl.at[i]->family)
      good = predicted(c, l, c->p->decl.at[i]);
  return good;
}

bool law_runs(Case *c) {
  const char *text = whole_text(c->arena, c->p, &(Printed){0});
  Limn *l = case_load(c, text);
  if (!l) return false;
  bool good = asked(c, l, "check", NULL, limn_check(l) == LIMN_GOOD);
  setenv("LIMN_CC", "", 1); // prebuilt kernels: compiling takes longer than all the rest
  for (uint32_t i = 0; good && i < c->p->decl.n; i++)
    if (c->p->decl.at[i]->asked) good = looked_at(c, l, c->p->decl.at[i]);
  LimnDraw draw = {.size = sizeof draw};
  const char *said = NULL;
  if (good && c->p->goal.n)
    good = asked(c, l, "draw", NULL, limn_draw_text(l, NULL, &draw, &said) == LIMN_GOOD);
  if (good && c->p->trains) good = trained(c, l);
  LimnRun run = {.size = sizeof run, .plain = true, .quiet = true};
  if (good && c->p->runs) good = asked(c, l, "run", NULL, limn_run(l, &run, &said) == LIMN_GOOD);
  if (good) good = formatted(c, l, text);
  limn_free(l);
  return good;
}

// -- who ------------------------------------------------------------------------------------------
// Does any goal move it? The table is {"goal": {"learner": "moves", …}, …}.
static bool is_said_to_move(Case *c, const char *table, const char *learner) {
  const char *entry = arena_format(c->arena, "\"%s\": \"moves\"", learner);
  return strstr(table, entry) != NULL;
}

static bool is_of(const char *path, const char *learner) {
  size_t n = strlen(learner);
  return !strncmp(path, learner, n) && (path[n] == '/' || !path[n]);
}

bool case_step_moves(Case *c, Limn *l, uint64_t seed, Values *changed) {
  LimnTrainer *t = NULL;
  LimnTrain how = in_doubles;
  how.reference = how.in_memory = how.has_seed = true;
  how.seed = seed;
  Values before = {0}, after = {0};
  LimnArrays w = {0};
  bool good =
      limn_trainer_open(l, &how, &t) == LIMN_GOOD && limn_trainer_weights(t, &w) == LIMN_GOOD;
  if (good) case_take(c, &w, &before);
  good = good && limn_trainer_step(t, 1, NULL) == LIMN_GOOD &&
         limn_trainer_weights(t, &w) == LIMN_GOOD;
  if (good) case_take(c, &w, &after);
  if (!good) case_says(c, "not trained: %s", limn_messages(l, false));
  for (uint32_t i = 0; good && i < before.n; i++) {
    const Value *now = value_named(&after, before.at[i].name);
    if (now && memcmp(now->data, before.at[i].data, (size_t)now->n * sizeof *now->data))
      vec_push(c->arena, changed, *now);
  }
  if (t) limn_trainer_close(t);
  return good;
}

static bool is_moved(const Values *changed, const char *learner) {
  for (uint32_t i = 0; i < changed->n; i++) {
    const char *path = changed->at[i].name;
    size_t n = strlen(path);
    bool state = n > 2 && (!strcmp(path + n - 2, "/m") || !strcmp(path + n - 2, "/v"));
    if (is_of(path, learner) && !state) return true; // running means of batch_norm are no weights
  }
  return false;
}

bool law_who(Case *c) {
  if (!c->p->trains) return true;
  Limn *l = case_load(c, whole_text(c->arena, c->p, &(Printed){0}));
  if (!l) return false;
  const char *table = limn_who(l, true);
  table = arena_format(c->arena, "%s", table ? table : "");
  Values changed = {0};
  bool good = true;
  for (uint64_t seed = 1; good && seed < 4; seed++) good = case_step_moves(c, l, seed, &changed);
  for (uint32_t i = 0; good && i < c->p->decl.n; i++) {
    const WholeDecl *d = c->p->decl.at[i];
    if (d->kind != DECL_LEARNER) continue;
    for (uint32_t k = 0; good && k < (d->family ? d->family : 1); k++) {
      const char *name = whole_name(c->p, d->name, false), *path = name;
      if (d->family) path = arena_format(c->arena, "%s.%u", name, k);
      if (d->family) name = arena_format(c->arena, "%s[%u]", name, k);
      bool said = is_said_to_move(c, table, name);
      bool moved = is_moved(&changed, path);
      if (said != moved)
        good =
            case_says(c, "who %s: %s\n%s", said ? "moves nothing" : "moves in secret", name, table);
    }
  }
  limn_free(l);
  return good;
}
