// Training sessions in memory, step by step: games and small models on a page. Each has its own
// handle with the text at the time it was opened; the oldest session is closed when there are too
// many.
//
// Small models run in the interpreter: they start at once, without a compiler.
#include "base/files.h"
#include "base/json_write.h"
#include "serve/serve.h"

#include <math.h>
#include <stdlib.h>

enum { SMALL = 4000 };                   // number of weights
static const double STEP_SECONDS = 0.25; // time limit of one answer: slow models make fewer steps

static void play_close(ServedPlay *p) {
  if (p->trainer) limn_trainer_close(p->trainer);
  limn_free(p->l);
  *p = (ServedPlay){0};
}

void plays_close(LimnServer *s) {
  for (uint32_t i = 0; i < PLAYS; i++) play_close(&s->play[i]);
}

static ServedPlay *play_asked(const ServeCall *c) {
  const Json *id = json_get(c->params, "play");
  for (uint32_t i = 0; id && id->kind == JSON_NUMBER && i < PLAYS; i++)
    if (c->s->play[i].id && c->s->play[i].id == id->number) return &c->s->play[i];
  serve_refuse(c, RPC_INVALID_PARAMS, "there is no such play: it was closed, or never opened");
  return NULL;
}

// -- weights --------------------------------------------------------------------------------------
static uint32_t numbers_in(const Json *j, double *out, uint32_t room) {
  if (j->kind == JSON_NUMBER) {
    if (room) *out = j->number;
    return 1;
  }
  uint32_t n = 0;
  for (const Json *one = json_items(j); one; one = json_after(j, one))
    n += numbers_in(one, n < room ? out + n : out, n < room ? room - n : 0);
  return n;
}

static int64_t count_of(const LimnArray *x) {
  int64_t n = 1;
  for (uint32_t i = 0; i < x->rank; i++) n *= x->shape[i];
  return n;
}

// Sets weights from {name: numbers}. False: refused.
static bool set_weights(const ServeCall *c, ServedPlay *p) {
  const Json *all = json_get(c->params, "weights");
  LimnArrays now;
  if (!json_keys(all)) return true;
  if (limn_trainer_weights(p->trainer, &now) != LIMN_GOOD) return false;
  for (const Json *key = json_keys(all); key; key = json_after(all, key)) {
    const LimnArray *old = limn_array(&now, key->text);
    uint32_t n = numbers_in(key + 1, NULL, 0);
    if (!old || count_of(old) != (int64_t)n) {
      serve_refuse(c, RPC_REQUEST_FAILED,
                   old ? "the weight `%s` has %lld numbers, not %u" : "there is no weight `%s`",
                   key->text, (long long)(old ? count_of(old) : 0), n);
      return false;
    }
    double *data = NEW_ARRAY(c->s->scratch, double, n + 1);
    numbers_in(key + 1, data, n);
    LimnArray x = {.type = LIMN_F64, .rank = old->rank, .shape = old->shape, .data = data};
    if (limn_trainer_weight_set(p->trainer, key->text, &x) == LIMN_GOOD) continue;
    serve_refuse(c, RPC_REQUEST_FAILED, "%s", first_error(p->l));
    return false;
  }
  return true;
}

static void add_weights(const ServeCall *c, ServedPlay *p, JsonOut *j) {
  const Json *names = json_get(c->params, "read");
  LimnArrays now = {0};
  if (json_items(names)) limn_trainer_weights(p->trainer, &now);
  json_object(j, "weights");
  for (const Json *one = json_items(names); one; one = json_after(names, one)) {
    const LimnArray *x = one->kind == JSON_TEXT ? limn_array(&now, one->text) : NULL;
    if (x) serve_array(j, one->text, NULL, x);
  }
  json_end(j);
}

// -- opened ---------------------------------------------------------------------------------------
static ServedPlay *free_play(LimnServer *s) {
  ServedPlay *oldest = &s->play[0];
  for (uint32_t i = 0; i < PLAYS; i++)
    if (s->play[i].id < oldest->id) oldest = &s->play[i];
  play_close(oldest);
  return oldest;
}

static double number_or(const Json *j, double none) {
  return j && j->kind == JSON_NUMBER && j->number >= 0 && j->number <= 1e9 ? j->number : none;
}

static bool is_small(Limn *l) {
  LimnArrays w;
  int64_t n = 0;
  if (limn_weights(l, NULL, &w) != LIMN_GOOD) return false;
  for (uint32_t i = 0; i < w.n; i++) n += count_of(&w.at[i].array);
  return n <= SMALL;
}

// Reports are rare because they compute the measures: a game of 5000 steps has twenty.
static void note_report(void *context, const LimnMetrics *m) {
  ServedPlay *p = context;
  if (m->reported) p->measured = m->step;
}

static bool is_without_data(const ServeCall *c, Limn *l) {
  const Json *given = json_get(served_names(c->s, l), "given");
  return given && !given->n;
}

static bool play_open(const ServeCall *c, ServedText *d, ServedPlay *p) {
  const Json *seed = json_get(c->params, "seed");
  LimnTrain how = {.size = sizeof how, .in_memory = true, .quiet = true, .plain = true};
  how.batch = (int64_t)number_or(json_get(c->params, "batch"), 0);
  how.seed = (uint64_t)number_or(seed, 0);
  how.has_seed = seed && seed->kind == JSON_NUMBER;
  p->l = served_handle(c->s);
  if (!p->l || limn_load_text(p->l, d->path, d->text, d->n) != LIMN_GOOD) return false;
  how.reference = is_small(p->l);
  how.tell = (LimnTell){.context = p, .metrics = note_report};
  p->measured_now = how.reference && is_without_data(c, p->l);
  return limn_trainer_open(p->l, &how, &p->trainer) == LIMN_GOOD;
}

static void answer_opened(const ServeCall *c, ServedPlay *p) {
  LimnMetrics m = {.size = sizeof m};
  LimnArrays w = {0};
  JsonOut j = serve_result(c);
  limn_trainer_metrics(p->trainer, &m);
  json_object(&j, NULL);
  json_number(&j, "play", p->id);
  json_number(&j, "steps", (double)m.steps);
  json_list(&j, "names");
  limn_trainer_weights(p->trainer, &w);
  for (uint32_t i = 0; i < w.n; i++) json_text(&j, NULL, w.at[i].name);
  json_end(&j);
  json_end(&j);
  serve_done(c);
}

void serve_play_open(const ServeCall *c) {
  ServedText *d = serve_asked(c, true);
  if (!d) return;
  ServedPlay *p = free_play(c->s);
  bool open = play_open(c, d, p);
  if (!open) serve_refuse(c, RPC_REQUEST_FAILED, "%s", first_error(p->l));
  if (!open || !set_weights(c, p)) {
    play_close(p);
    return;
  }
  p->id = ++c->s->plays;
  answer_opened(c, p);
}

// -- played ---------------------------------------------------------------------------------------
// False: the step failed.
static bool make_steps(ServedPlay *p, double steps) {
  double end = clock_seconds() + STEP_SECONDS, most = 1; // the first step gives the time per step
  for (double made = 0; made < steps && !p->done; most = fmin(2 * most, 16)) {
    uint64_t some = (uint64_t)fmin(steps - made, most);
    if (!some || clock_seconds() > end) break;
    if (limn_trainer_step(p->trainer, some, &p->done) != LIMN_GOOD) return false;
    made += (double)some;
  }
  return true;
}

// Measures of the current weights; empty where they need data.
static LimnArrays measures_now(ServedPlay *p) {
  LimnUse how = {.size = sizeof how, .reference = true};
  LimnArrays out = {0}, now, of;
  if (limn_weights(p->l, NULL, &of) != LIMN_GOOD ||
      limn_trainer_weights(p->trainer, &now) != LIMN_GOOD)
    return out;
  for (uint32_t i = 0; i < now.n; i++)
    if (limn_array(&of, now.at[i].name)) limn_weight_set(p->l, now.at[i].name, &now.at[i].array);
  if (limn_measure_arrays(p->l, &how, &out) != LIMN_GOOD) out = (LimnArrays){0};
  return out;
}

static double first_number(const LimnArray *x) {
  return x->type == LIMN_F64 ? *(const double *)x->data : (double)*(const float *)x->data;
}

// Losses are of the last step; measures are current, or of the step `measured`.
static void add_metrics(ServedPlay *p, const LimnMetrics *m, JsonOut *j) {
  LimnArrays now = {0};
  if (p->measured_now) now = measures_now(p);
  json_number(j, "measured", (double)(p->measured_now ? m->step : p->measured));
  json_object(j, "metrics");
  for (uint32_t i = 0; i < m->n; i++)
    if (!limn_array(&now, m->name[i])) json_number(j, m->name[i], m->value[i]);
  for (uint32_t i = 0; i < now.n; i++)
    json_number(j, now.at[i].name, first_number(&now.at[i].array));
  json_end(j);
}

void serve_play_step(const ServeCall *c) {
  ServedPlay *p = play_asked(c);
  LimnMetrics m = {.size = sizeof m};
  if (!p) return;
  if (!make_steps(p, number_or(json_get(c->params, "steps"), 1)) ||
      limn_trainer_metrics(p->trainer, &m) != LIMN_GOOD) {
    serve_refuse(c, RPC_REQUEST_FAILED, "%s", first_error(p->l));
    return;
  }
  JsonOut j = serve_result(c);
  json_object(&j, NULL);
  json_number(&j, "step", (double)m.step);
  json_bool(&j, "done", p->done);
  add_metrics(p, &m, &j);
  add_weights(c, p, &j);
  json_end(&j);
  serve_done(c);
}

void serve_play_set(const ServeCall *c) {
  ServedPlay *p = play_asked(c);
  if (p && set_weights(c, p)) serve_answer(c, NULL);
}

void serve_play_close(const ServeCall *c) {
  ServedPlay *p = play_asked(c);
  if (!p) return;
  play_close(p);
  serve_answer(c, NULL);
}
