// `train` statements: length, optimisers, turns.
//
// A statement is read twice: when the program is checked, for diagnostics, and when the steps are
// made. Reported here is all that needs no step diagram: wrong or repeated options, settings of
// optimisers, learners without a turn, optimisers that do not fit their weights.
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/table.h"
#include "lang/declare/statements.h"

#include <math.h>

typedef struct {
  Elab *in;
  Program *p;
  World *w;
  Training *out;
  Table *seen; // words, and learners with an optimiser, to the place of their first use
  VEC(Span) place;
  bool again; // second reading: no warnings
} TrainReading;

static const char *text_of(const TrainReading *r, Name name) {
  return name_text(r->w->names, name);
}

// False, with a diagnostic, if the key occurred before.
static bool first_time(TrainReading *r, const char *key, Span span, const char *message) {
  Id old = table_get(r->seen, key, strlen(key));
  if (!old) {
    vec_push(r->w->arena, &r->place, span);
    table_put(r->seen, key, strlen(key), r->place.n);
    return true;
  }
  Id e = diag_error(r->w->diags, span, "%s", message);
  return diag_note(r->w->diags, e, r->place.at[old - 1], "the other one");
}

// -- settings of optimisers -----------------------------------------------------------------------
// A setting of an optimiser is one number, perhaps a schedule.
static void check_setting(TrainReading *r, const Syntax *n) {
  if (n->kind == N_CMP && cmp_sign(n) == SIGN_EQUAL && cmp_left(n)->kind == N_NAME) {
    diag_error(r->w->diags, n->span, "a setting is given with a colon: `%s: …`",
               text_of(r, cmp_left(n)->name));
    return;
  }
  Body *b = body_new(r->in, name_from(r->w->names, "setting"));
  b->env = env_new(r->in, NULL, r->p->scope, b);
  Value v = eval_alone(b, b->env, n);
  if (v.n == 1 && !v.at[0].error && (v.at[0].type.rank || v.at[0].type.base != BASE_R))
    diag_error(r->w->diags, n->span, "a setting is one number, but this is %s",
               own_text(r->w, &v.at[0].type));
  for (uint32_t i = 0; i < b->d->param.n; i++)
    if (b->d->param.at[i].role == ROLE_BUFFER) {
      diag_error(r->w->diags, n->span,
                 "a schedule goes by `step` and `steps`: it keeps no `state`, and this has one");
      return;
    }
}

static void no_such_setting(TrainReading *r, const Def *d, const Syntax *arg) {
  World *w = r->w;
  const Syntax *params = optimiser_settings(d->node);
  const char *text = text_of(r, d->name);
  bool named = arg->kind == N_ARG;
  Nearest near = nearest_to(named ? text_of(r, arg->name) : "");
  Buf all = buf_new(w->arena);
  uint32_t count = params ? params_in(params).n : 0;
  for (uint32_t k = 0; k < count; k++) {
    nearest_try(&near, text_of(r, params_in(params).at[k]->name));
    buf_printf(&all, "%s%s", k ? ", " : "", text_of(r, params_in(params).at[k]->name));
  }
  Id e =
      named ? diag_error(w->diags, arg->name_span.file ? arg->name_span : arg->span,
                         "optimiser `%s` has no setting `%s`", text, near.text)
            : diag_error(w->diags, arg->span,
                         count ? "optimiser `%s` has only %u %s" : "optimiser `%s` has no settings",
                         text, count, count == 1 ? "setting" : "settings");
  if (count)
    diag_help(w->diags, e, "%s%s%sits setting%s %s", near.best ? "did you mean `" : "",
              near.best ? near.best : "", near.best ? "`? " : "", count == 1 ? " is" : "s are",
              all.at);
  diag_note(w->diags, e, d->span, "declared here");
}

static void check_settings(TrainReading *r, const Def *d, const Syntax *call) {
  const Syntax *params = optimiser_settings(d->node);
  uint32_t n = params ? params_in(params).n : 0;
  bool *given = NEW_ARRAY(r->w->arena, bool, n + 1), by_name = false;
  for (uint32_t i = 0; i < call_args(call).n; i++) {
    const Syntax *arg = call_args(call).at[i];
    uint32_t k = arg->kind == N_ARG ? 0 : i;
    while (arg->kind == N_ARG && k < n && params_in(params).at[k]->name != arg->name) k++;
    if (k >= n) {
      no_such_setting(r, d, arg);
      continue;
    }
    if (by_name && arg->kind != N_ARG)
      diag_error(r->w->diags, arg->span,
                 "settings in their order come first, then those with a name");
    else if (given[k])
      diag_error(r->w->diags, arg->span, "setting `%s` is given twice",
                 text_of(r, params_in(params).at[k]->name));
    by_name |= arg->kind == N_ARG;
    given[k] = true;
    check_setting(r, arg_given(arg));
  }
}

void check_optimiser_call(Elab *in, Program *p, const Def *d, const Syntax *call) {
  TrainReading r = {.in = in, .p = p, .w = in->w};
  check_settings(&r, d, call);
  check_domains(in, p, d, call);
}

// -- options with a number ------------------------------------------------------------------------
static const struct {
  const char *word, *like, *wants;
  double most; // the maximum of a whole number; 0: it may be fractional
  bool zero;   // 0 is allowed
} words[] = {
    {"batch", "batch 64", "a whole number above 0", 1e9, false},
    {"clip", "clip 1", "a finite number above 0", 0, false},
    {"seed", "seed 1", "a whole number that is not below 0", 9007199254740991, true},
    {"accumulate", "accumulate 4", "a whole number above 0", 1e6, false},
    {"patience", "patience 5", "a whole number above 0", 1e9, false},
    {"decay", "decay 5e-4", "a finite number that is not below 0", 0, true},
    {"turns", "turns[dis: 5, gen: 1]", "", 0, false},
};

static uint32_t word_number(const char *text) {
  uint32_t i = 0;
  while (i < COUNT(words) && strcmp(words[i].word, text)) i++;
  return i;
}

static bool read_number(TrainReading *r, uint32_t word, const Syntax *option, double *out) {
  const Syntax *value = option_value(option);
  const char *text = words[word].word;
  if (option_what(option)->kind != N_NAME || !value)
    return diag_refuse(r->w->diags, option->span, "`%s` wants its number after it, as in `%s`",
                       text, words[word].like);
  if (uses_broken(scope_env(r->p->scope), value)) return false; // reported already
  if (!scope_number(r->in, r->p->scope, value, out))
    return diag_refuse(r->w->diags, value->span, "`%s` wants a number that is known beforehand",
                       text);
  double most = words[word].most;
  bool right = isfinite(*out) && (*out > 0 || (words[word].zero && *out == 0)) &&
               (most == 0 || *out == floor(*out));
  if (right && (most == 0 || *out <= most)) return true;
  char found[NUMBER_ROOM];
  number_print(found, *out);
  if (right)
    return diag_refuse(r->w->diags, value->span, "`%s` is at most %.0f, but this is %s", text, most,
                       found);
  return diag_refuse(r->w->diags, value->span, "`%s` wants %s, but this is %s", text,
                     words[word].wants, found);
}

// -- turns ----------------------------------------------------------------------------------------
// The learner named by a turn or an option; NULL after an error.
static Def *trained_learner(TrainReading *r, const Syntax *name) {
  Def *d = learner_named(r->in, r->p->scope, name);
  if (!d || d->kind != DEF_STALE) return d;
  diag_error(r->w->diags, name->span, "`%s` is a stale copy: nothing trains it",
             text_of(r, name->name));
  return NULL;
}

static Def *labelled_learner(TrainReading *r, const Syntax *n) {
  Syntax name = {.kind = N_NAME, .name = n->name, .span = n->name_span, .name_span = n->name_span};
  return trained_learner(r, &name);
}

// other.go, or f[2]: a learner of a learning diagram, or a member of a family. NULL after an error.
static Def *stepped_learner(TrainReading *r, const Syntax *whom, const char **member) {
  Def *d = trained_learner(r, use_base(whom));
  *member = NULL;
  if (!d || whom->kind != N_AT) return d;
  Body b = {.in = r->in, .w = r->w};
  b.env = env_new(r->in, NULL, r->p->scope, &b);
  *member = target_member(r->in, &b, whom, d);
  return *member ? d : NULL;
}

static void read_turns(TrainReading *r, const Syntax *option) {
  enum { TIMES_LIMIT = 1000, TURNS_LIMIT = 64 };
  const Syntax *at = option_what(option), *brackets = use_brackets(at);
  Body b = {.in = r->in, .w = r->w};
  Env *env = env_new(r->in, NULL, r->p->scope, &b);
  bool good = brackets && brackets_slots(brackets).n && !option_value(option);
  if (good && brackets_slots(brackets).n > TURNS_LIMIT) {
    diag_error(r->w->diags, option->span, "a round has at most %d turns, but these are %u",
               TURNS_LIMIT, brackets_slots(brackets).n);
    return;
  }
  for (uint32_t i = 0; good && i < brackets_slots(brackets).n; i++) {
    const Syntax *n = slot_item(brackets_slots(brackets).at[i]);
    good = n->kind == N_SIZED;
    if (!good) break;
    Def *d = labelled_learner(r, n);
    Size s = size_eval(&b, env, sized_value(n), false);
    int64_t times = 0;
    if (!d || !s) continue;
    if (!size_value(r->w, s, &times) || times < 1 || times > TIMES_LIMIT)
      diag_error(r->w->diags, sized_value(n)->span,
                 "how often `%s` steps in its turn is a whole number from 1 to %d",
                 text_of(r, n->name), TIMES_LIMIT);
    else
      vec_push(r->w->arena, &r->out->turn, (LearnerTurn){d, (uint32_t)times, n->span});
  }
  if (!good)
    diag_error(r->w->diags, option->span,
               "`turns` says how often each learner steps, as in `turns[dis: 5, gen: 1]`");
}

// -- options --------------------------------------------------------------------------------------
static void read_word(TrainReading *r, uint32_t word, const Syntax *option) {
  Training *t = r->out;
  double k = 0;
  if (!first_time(r, words[word].word, option->span,
                  arena_format(r->w->arena, "`%s` is given twice", words[word].word)))
    return;
  if (strcmp(words[word].word, "turns") == 0) {
    read_turns(r, option);
    return;
  }
  if (!read_number(r, word, option, &k)) return;
  switch (words[word].word[0]) {
  case 'b': t->batch = (int64_t)k; break;
  case 'c': t->clip = k; break;
  case 's':
    t->seed = (uint64_t)k;
    t->has_seed = true;
    break;
  case 'a': t->accumulate = (int64_t)k; break;
  case 'p': t->patience = (int64_t)k; break;
  case 'd': t->decay = k; break;
  default: break;
  }
}

static const Syntax *base_of(const Syntax *n) {
  while (n->kind == N_CALL || n->kind == N_AT) n = use_base(use_callee(n));
  return n;
}

// The optimiser named by a call; NULL after an error.
static Def *optimiser_of(TrainReading *r, const Syntax *call, Def *learner) {
  World *w = r->w;
  const Syntax *base = base_of(call);
  if (base->kind != N_NAME) {
    diag_error(w->diags, call->span, "an optimiser is wanted here, as in `adam(0.001)`");
    return NULL;
  }
  const char *text = text_of(r, base->name);
  Def *d = scope_meaning(r->p->scope, base);
  if (d && d->kind == DEF_OPTIMISER) {
    if (call->kind == N_NAME || (call->kind == N_CALL && call_callee(call)->kind == N_NAME))
      return d;
    diag_error(w->diags, call->span, "the settings of an optimiser go in parentheses: `%s(0.001)`",
               text);
    return NULL;
  }
  if (d && d->broken) return NULL;
  if (d) {
    Id e = diag_error(w->diags, base->span, "`%s` is not an optimiser", text);
    diag_note(w->diags, e, d->span, "declared here");
    return NULL;
  }
  if (learner && word_number(text) < COUNT(words)) {
    diag_error(w->diags, base->span, "`%s` is for all learners: only an optimiser can be for one",
               text);
    return NULL;
  }
  unknown_in(r->in, r->p->scope, base, "optimiser or setting");
  return NULL;
}

static void read_optimiser(TrainReading *r, const Syntax *call, Def *learner, const char *member,
                           Span span) {
  Def *d = optimiser_of(r, call, learner);
  if (!d || d->broken) return;
  if (call->kind == N_CALL)
    check_optimiser_call(r->in, r->p, d, call);
  else
    check_domains(r->in, r->p, d, NULL);
  const char *name = learner ? text_of(r, learner->name) : "",
             *which = member ? arena_format(r->w->arena, "[%s]", member + 1) : "",
             *key = arena_format(r->w->arena, "%s%s:", name, which),
             *message = learner
                            ? arena_format(r->w->arena, "`%s%s` has two optimisers", name, which)
                            : "there are two optimisers for all learners";
  if (first_time(r, key, span, message))
    vec_push(r->w->arena, &r->out->stepper,
             (Stepper){learner, member, call, text_of(r, d->name), call->span});
}

static void read_stepper(TrainReading *r, const Syntax *o, Def *d, const char *member, Span name) {
  const Syntax *call = o->kind == N_ARG ? arg_value(o) : stepped_call(o);
  if (d && d->frozen && !r->again)
    diag_warning(r->w->diags, name, "`%s` is frozen: nothing trains it", text_of(r, d->name));
  if (d)
    read_optimiser(r, call, d, member, o->span);
  else
    optimiser_of(r, call, NULL);
}

static void read_option(TrainReading *r, const Syntax *o) {
  const char *member = NULL;
  if (o->kind == N_ARG) read_stepper(r, o, labelled_learner(r, o), NULL, o->name_span);
  if (o->kind == N_STEPPED) {
    Def *d = stepped_learner(r, stepped_whom(o), &member);
    read_stepper(r, o, d, member, stepped_whom(o)->span);
  }
  if (o->kind != N_OPTION) return;
  const Syntax *base = base_of(option_what(o));
  uint32_t word = base->kind == N_NAME ? word_number(text_of(r, base->name)) : COUNT(words);
  if (word < COUNT(words)) {
    read_word(r, word, o);
  } else if (option_value(o) && base->kind == N_NAME && scope_meaning(r->p->scope, base)) {
    const char *text = text_of(r, base->name);
    diag_error(r->w->diags, o->span, "the settings of an optimiser go in parentheses: `%s(0.001)`",
               text);
  } else {
    read_optimiser(r, option_what(o), NULL, NULL, o->span);
  }
}

// -- length ---------------------------------------------------------------------------------------
static const double LENGTH_MOST = 1e12; // so that step counts fit in 64 bits

static void read_length(TrainReading *r, const Syntax *n) {
  World *w = r->w;
  const char *unit = text_of(r, n->name);
  bool epochs = !strcmp(unit, "epochs") || !strcmp(unit, "epoch") || !strcmp(unit, "pass") ||
                !strcmp(unit, "passes"),
       steps = !strcmp(unit, "steps") || !strcmp(unit, "step");
  double k = train_count(n)->num;
  if (!epochs && !steps)
    diag_error(w->diags, n->name_span.file ? n->name_span : n->span,
               "training lasts a number of `epochs` or `steps`, not `%s`", unit);
  else if (!(k > 0) || !isfinite(k) || (steps && k != floor(k)))
    diag_error(w->diags, train_count(n)->span,
               steps ? "training lasts a whole number of steps above 0, not %g"
                     : "training lasts a number of epochs above 0, not %g",
               k);
  else if (k > LENGTH_MOST)
    diag_error(w->diags, train_count(n)->span,
               "this is too long: training lasts at most %.0f %s, and this says %.0f", LENGTH_MOST,
               epochs ? "epochs" : "steps", k);
  if (epochs) r->out->epochs = k;
  if (steps) r->out->steps = k;
}

// -- consistency with the goals -------------------------------------------------------------------
const Stepper *training_stepper(Elab *in, const Training *t, const Param *p) {
  const Stepper *rest = NULL, *inside = NULL, *own = NULL;
  for (uint32_t i = 0; i < t->stepper.n; i++) {
    const Stepper *s = &t->stepper.at[i];
    if (!s->learner)
      rest = s;
    else if (s->member && def_owns(in->w, p, s->learner, s->member))
      return s;
    else if (!s->member && def_owns(in->w, p, s->learner, NULL))
      own = s;
    else if (!inside && !def_owns(in->w, p, s->learner, NULL) && learner_holds(in, s->learner, p))
      inside = s;
  }
  return own ? own : inside ? inside : rest;
}

bool learner_holds(Elab *in, Def *d, const Param *p) {
  Ids closure = {0};
  add_whole_learner(in, d, &closure);
  for (uint32_t i = 0; i < closure.n; i++)
    if (def_owns(in->w, p, in->def.at[closure.at[i]], NULL)) return true;
  return false;
}

static void check_turn(TrainReading *r, const Syntax *n, const Goal *g, const Param *param) {
  for (uint32_t i = 0; i < r->out->turn.n; i++)
    if (learner_holds(r->in, r->out->turn.at[i].learner, param)) return;
  size_t length = strcspn(param->path, "/.");
  Id e = diag_error(r->w->diags, n->span,
                    "`turns` does not say when `%.*s` steps, which goal `%s` trains", (int)length,
                    param->path, text_of(r, g->name));
  diag_note(r->w->diags, e, g->span, "the goal");
}

static void check_idle_turns(TrainReading *r) {
  for (uint32_t i = 0; i < r->out->turn.n; i++) {
    const LearnerTurn *turn = &r->out->turn.at[i];
    bool trained = false;
    for (uint32_t g = 0; g < r->out->goals.n; g++) {
      const Goal *goal = &r->p->goal.at[r->out->goals.at[g]];
      for (uint32_t k = 0; goal->diagram && !trained && k < goal->diagram->param.n; k++)
        trained =
            goal->trains[k] && learner_holds(r->in, turn->learner, &goal->diagram->param.at[k]);
    }
    if (!trained)
      diag_error(r->w->diags, turn->span, "no goal trains `%s`, so it cannot have a turn",
                 text_of(r, turn->learner->name));
  }
}

static const Syntax *turns_node(const TrainReading *r, const Syntax *train) {
  for (uint32_t i = 0; i < train_options(train).n; i++) {
    const Syntax *o = train_options(train).at[i],
                 *base = o->kind == N_OPTION ? base_of(option_what(o)) : NULL;
    if (base && base->kind == N_NAME && !strcmp(text_of(r, base->name), "turns")) return o;
  }
  return train;
}

// Does the optimiser exist for vectors or matrices of this base?
static bool steps_base(TrainReading *r, const Stepper *s, Base base) {
  const Def *d = optimiser_named(r->in, r->p, s->name);
  if (d && d->broken) return true; // reported already
  for (uint32_t rank = 1; rank <= 2; rank++) {
    Type t = weight_type(r->w, base, rank, s->span);
    if (elab_optimiser(r->in, r->p, s->name, s->call, t, true)) return true;
  }
  return false;
}

static void check_base(TrainReading *r, const Param *param, Base base) {
  const Stepper *s = training_stepper(r->in, r->out, param);
  if (!s) return;
  const char *key = arena_format(r->w->arena, "%p %d", (const void *)s, base);
  if (table_get(r->seen, key, strlen(key))) return;
  table_put(r->seen, key, strlen(key), 1);
  if (steps_base(r, s, base)) return;
  Id e = diag_error(r->w->diags, s->span, "`%s` cannot step weight %s, which is made of %s",
                    s->name, param->path, base == BASE_BIT ? "bits" : "numbers");
  diag_help(r->w->diags, e, base == BASE_BIT ? "`rda` steps bits" : "`adam(0.001)` steps numbers");
}

static void check_goals(TrainReading *r, const Syntax *n) {
  for (uint32_t g = 0; g < r->out->goals.n; g++) {
    const Goal *goal = &r->p->goal.at[r->out->goals.at[g]];
    for (uint32_t i = 0; goal->diagram && i < goal->diagram->param.n; i++) {
      const Param *param = &goal->diagram->param.at[i];
      if (!goal->trains[i]) continue;
      if (r->out->turn.n) check_turn(r, turns_node(r, n), goal, param);
      check_base(r, param, (Base)goal->diagram->wire.at[param->wire].type.base);
    }
  }
  check_idle_turns(r);
}

// -- goals of the statement -----------------------------------------------------------------------
static void add_goals(TrainReading *r, const Learning *g) {
  for (uint32_t i = 0; i < r->p->goal.n; i++)
    if (r->p->goal.at[i].learning == g) vec_push(r->w->arena, &r->out->goals, i);
}

static void no_learning(TrainReading *r, const Syntax *path) {
  if (path->kind == N_NAME && !scope_meaning(r->p->scope, path))
    unknown_in(r->in, r->p->scope, path, "learning diagram");
  else
    diag_error(r->w->diags, path->span, "`%s` is not a learning diagram, so it cannot be trained",
               path_text(r->in, path));
}

// `train` without a name: the goals of the program; without goals, the only learning diagram that
// is not part of another.
static void read_whole(TrainReading *r, const Syntax *n) {
  const Learning *only = NULL;
  uint32_t several = 0;
  add_goals(r, NULL);
  if (r->out->goals.n) return;
  for (uint32_t i = 0; i < r->p->learning.n; i++) {
    const Learning *g = r->p->learning.at[i];
    if (g->is_part || g->pattern) continue;
    only = several++ ? only : g;
  }
  if (several < 2) {
    if (only) add_goals(r, only);
    return;
  }
  Id e = diag_error(r->w->diags, n->span, "which learning diagram? there are %u", several);
  diag_help(r->w->diags, e, "as in `train %s %g %s`", text_of(r, only->name), train_count(n)->num,
            text_of(r, n->name));
}

static void read_what(TrainReading *r, const Syntax *n) {
  const Syntax *path = train_path(n);
  if (!path) {
    read_whole(r, n);
    return;
  }
  Def *d = path->kind == N_NAME ? scope_meaning(r->p->scope, path) : NULL;
  if (d && d->kind == DEF_DIAGRAM && d->learning) {
    add_goals(r, d->learning);
    if (d->learning->pattern)
      diag_error(r->w->diags, path->span,
                 "`%s` is a pattern: some of its spaces or edges may be anything",
                 text_of(r, d->name));
  } else if (!(d && d->broken)) {
    no_learning(r, path);
  }
}

static void check_batches(const TrainReading *r, const Syntax *n) {
  enum { BATCHES_LIMIT = 10000000 };
  double batches = 0;
  for (uint32_t i = 0; i < r->out->turn.n; i++) batches += r->out->turn.at[i].times;
  batches *= (double)r->out->accumulate;
  if (batches > BATCHES_LIMIT)
    diag_error(r->w->diags, n->span, "a step reads at most %d batches, but this one reads %.0f",
               BATCHES_LIMIT, batches);
}

bool elab_training(Elab *in, Program *p, const Syntax *n, Training *out) {
  World *w = in->w;
  uint32_t errors = w->diags->met;
  *out = (Training){.accumulate = 1};
  TrainReading r = {.in = in, .p = p, .w = w, .out = out, .seen = table_new(w->arena)};
  for (uint32_t i = 0; i < p->train.n; i++) r.again |= p->train.at[i] == n;
  read_length(&r, n);
  read_what(&r, n);
  for (uint32_t i = 0; i < train_options(n).n; i++) read_option(&r, train_options(n).at[i]);
  check_batches(&r, n);
  if (w->diags->met == errors) check_goals(&r, n);
  if (w->diags->met == errors && out->steps > 0) schedules_hold(in, p, out, out->steps);
  return w->diags->met == errors;
}

// Does training read a data set, which defines an epoch? Noise has no end.
static bool reads_a_set(Elab *in, const Program *p, const Training *t) {
  for (uint32_t i = 0; i < t->goals.n; i++) {
    const Goal *g = &p->goal.at[t->goals.at[i]];
    for (uint32_t k = 0; k < g->fields.n; k++)
      if (!p->given.at[in->def.at[g->fields.at[k]]->given].noise) return true;
    if (!g->diagram) return true; // errors are reported already
  }
  return false;
}

void do_train(Elab *in, Program *p, const Syntax *n) {
  Training training;
  if (elab_training(in, p, n, &training) && training.epochs > 0 && training.goals.n &&
      !reads_a_set(in, p, &training))
    diag_error(in->w->diags, n->span,
               "without a finite set of data there are no epochs: give a number of `steps`");
  vec_push(in->w->arena, &p->train, n);
}
