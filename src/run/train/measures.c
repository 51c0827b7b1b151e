// Measures during training, and the loss on validation data where a program measures nothing.
//
// A measure is a diagram with one number, a mean over samples. It is run over its data in batches,
// and the batches' numbers are averaged by their samples, so the short last one counts as much as
// it holds; sums over all samples are added up instead (whole.c). `on mnist.test` puts that split,
// whole and in order, in the place of every source of the set.
#include "run/train/train_own.h"

enum { GAUGE_BATCH = 128 }; // at least: what is only measured needs little memory

static bool part_open(Trainer *t, Gauge *g, Diagram *d, Ids fields, const Instead *instead) {
  uint32_t k = g->parts;
  Diagram *each, *rest;
  if (whole_split(t->w, d, &each, &rest)) {
    whole_add_count(t->in, rest);
    g->rest[k] = rest;
    d = each;
  }
  d = compose_noise(t->in, t->p, d, &fields);
  if (!d || !store_add_params(t->w, t->store, d, t->seed)) return false;
  bool samples = has_sample_axis(t->w, d);
  g->batch = !samples ? 0 : t->batch > GAUGE_BATCH ? t->batch : GAUGE_BATCH;
  Target how = {.threads = t->o->threads, .reference = t->o->reference, .seed = t->seed};
  g->engine[k] = engine_new(t->w, d, t->store, g->batch, &how);
  if (!g->engine[k]) return false;
  g->parts++;
  return feed_add(t->data, &g->feed[k], &fields, g->engine[k], instead, &g->inlet[k]);
}

static Gauge gauge_new(Trainer *t, uint32_t parts) {
  return (Gauge){.rest = NEW_ARRAY(t->arena, Diagram *, parts),
                 .engine = NEW_ARRAY(t->arena, Engine *, parts),
                 .inlet = NEW_ARRAY(t->arena, Inlets, parts),
                 .feed = NEW_ARRAY(t->arena, Feed, parts)};
}

static bool label_taken(const Trainer *t, const char *label) {
  for (uint32_t i = 0; i < t->p->goal.n; i++)
    if (strcmp(name_text(t->w->names, t->p->goal.at[i].name), label) == 0) return true;
  for (uint32_t i = 0; i < t->gauge.n; i++)
    if (strcmp(t->gauge.at[i].label, label) == 0) return true;
  return false;
}

// A measure of a goal by another distance is told apart from the goal by that: fit.hits
static const char *label_of(const Trainer *t, const Measure *m) {
  const char *name = name_text(t->w->names, m->name), *label = name;
  if (label_taken(t, label) && m->distance)
    label = name = arena_format(t->arena, "%s.%s", name, m->distance);
  for (uint32_t k = 2; label_taken(t, label); k++) label = arena_format(t->arena, "%s.%u", name, k);
  return label;
}

static const char *where_of(const Trainer *t, const Measure *m, const Feed *f) {
  const char *set = m->path ? m->path : name_text(t->w->names, m->set);
  const char *split = name_text(t->w->names, m->split);
  if (!f->given.n) return "";
  return *set ? arena_format(t->arena, "%s%s%s", set, *split ? "." : "", split) : "training data";
}

static bool is_up(const Measure *m) {
  return (m->distance && strcmp(m->distance, "hits") == 0) || m->node->kid[0]->kind == N_MAXIMISE;
}

// Does it read a weight that a goal of this phase trains?
static bool is_moved(const Trainer *t, const Diagram *d) {
  for (uint32_t i = 0; i < t->regime.goals.n; i++) {
    const Goal *g = &t->p->goal.at[t->regime.goals.at[i]];
    for (uint32_t k = 0; k < g->diagram->param.n; k++)
      for (uint32_t j = 0; g->trains[k] && j < d->param.n; j++)
        if (strcmp(g->diagram->param.at[k].path, d->param.at[j].path) == 0) return true;
  }
  return false;
}

// The first measure of what is being trained; a program that trains one thing after the other may
// measure all of them.
const Gauge *gauge_judge(const Trainer *t) {
  for (uint32_t i = 0; i < t->gauge.n; i++)
    if (t->gauge.at[i].moved) return &t->gauge.at[i];
  return t->gauge.n ? &t->gauge.at[0] : NULL;
}

static bool measure_open(Trainer *t, const Measure *m) {
  Diagram *d = m->diagram;
  Ids fields = m->fields;
  if (!d) d = learn_exploitability(t->in, t->p, &fields); // the one measure that is not written out
  if (!d) {
    diag_error(t->w->diags, m->span, "there are no players: no goal trains a `simplex`");
    return false;
  }
  Instead instead = {.set = m->set, .path = m->path, .on = m->set || m->path, .ordered = true};
  split_from(name_text(t->w->names, m->split), &instead.split);
  Gauge g = gauge_new(t, 1);
  bool good = part_open(t, &g, d, fields, &instead);
  g.label = label_of(t, m);
  g.where = where_of(t, m, &g.feed[0]);
  g.up = is_up(m);
  g.moved = is_moved(t, d);
  vec_push(t->arena, &t->gauge, g);
  return good;
}

// Is there validation data for all that the goals read?
static bool can_validate(Trainer *t) {
  bool any = false;
  for (uint32_t i = 0; i < t->regime.goals.n; i++) {
    const Ids *fields = &t->p->goal.at[t->regime.goals.at[i]].fields;
    for (uint32_t k = 0; k < fields->n; k++) {
      const Set *set = t->data->set[def_of(t->in, fields->at[k])->given];
      if (set && set_rows(set, SPLIT_VALID) <= 0) return false;
      any |= set != NULL;
    }
  }
  return any;
}

static bool valid_open(Trainer *t) {
  if (!can_validate(t)) return true;
  Gauge g = gauge_new(t, t->regime.goals.n);
  Instead instead = {.every = true, .split = SPLIT_VALID, .ordered = true};
  bool good = true;
  for (uint32_t i = 0; good && i < t->regime.goals.n; i++) {
    Measure m;
    if (!elab_outside(t->in, t->p, &t->p->goal.at[t->regime.goals.at[i]], &m)) continue;
    good = part_open(t, &g, m.diagram, m.fields, &instead);
  }
  g.label = label_taken(t, "valid") ? "valid.loss" : "valid";
  g.where = "validation data";
  if (g.parts) vec_push(t->arena, &t->gauge, g);
  return good;
}

bool gauges_open(Trainer *t) {
  gauges_close(t);
  for (uint32_t i = 0; i < t->p->measure.n; i++)
    if (!measure_open(t, &t->p->measure.at[i])) return false;
  return t->p->measure.n || valid_open(t);
}

// -- running --------------------------------------------------------------------------------------
static bool part_failed(Trainer *t, const Gauge *g, uint32_t k, const char *why) {
  diag_error(t->w->diags, (Span){0}, "%s cannot be measured: %s", g->label,
             why ? why : engine_error(g->engine[k]));
  return false;
}

// What a batch gave: a mean that counts as much as there are samples, or sums.
static void add_batch(Arena *a, const Gauge *g, uint32_t k, double each, Tensor *sum) {
  Engine *e = g->engine[k];
  const Diagram *rest = g->rest[k];
  if (!rest) {
    sum[0].data[0] += *(const double *)engine_out(e, 0) * each;
    return;
  }
  for (uint32_t i = 0; i + 1 < rest->in.n; i++) {
    double *own = NEW_ARRAY(a, double, sum[i].count);
    numbers_get(engine_out_number(e, i), engine_out(e, i), own, sum[i].count);
    for (int64_t j = 0; j < sum[i].count; j++) sum[i].data[j] += own[j];
  }
}

static Tensor *sums_new(Trainer *t, Arena *a, const Diagram *rest) {
  Tensor *sum = NEW_ARRAY(a, Tensor, rest ? rest->in.n : 1);
  int64_t shape[ARRAY_RANK_LIMIT];
  for (uint32_t i = 0; rest && i + 1 < rest->in.n; i++) {
    const Type *type = &rest->wire.at[rest->in.at[i]].type;
    engine_shape(t->w, type, 0, shape);
    sum[i] = tensor_new(a, type->rank, shape);
  }
  if (!rest) sum[0] = tensor_new(a, 0, shape);
  return sum;
}

static bool part_batches(Trainer *t, Gauge *g, uint32_t k, Arena *a, double *mean) {
  Feed *f = &g->feed[k];
  double weight = 0;
  Tensor *sum = sums_new(t, a, g->rest[k]);
  if (!feed_start(t->data, f, g->batch, 0, 0)) return false;
  int64_t batches = f->samples ? feed_batches(f) : 1;
  for (int64_t i = 0; i < batches; i++) {
    const char *why = NULL;
    int64_t n = f->samples ? feed_next(f, &g->inlet[k], &why) : g->batch;
    if (n < 0 || engine_run(g->engine[k], n, (uint64_t)i) == RUN_FAILED)
      return part_failed(t, g, k, why);
    double each = n ? (double)n : 1;
    add_batch(a, g, k, each, sum);
    weight += each;
  }
  feed_stop(f);
  const char *why = NULL;
  if (!g->rest[k]) return *mean = sum[0].data[0] / weight, true;
  return whole_value(t->w, a, g->rest[k], sum, (int64_t)weight, mean, &why) ||
         part_failed(t, g, k, why);
}

static bool part_run(Trainer *t, Gauge *g, uint32_t k, double *mean) {
  Arena *a = arena_child(t->arena);
  bool good = part_batches(t, g, k, a, mean);
  arena_free(a);
  return good;
}

bool gauges_run(Trainer *t) {
  for (uint32_t i = 0; i < t->gauge.n; i++) {
    Gauge *g = &t->gauge.at[i];
    double value = 0, mean = 0;
    for (uint32_t k = 0; k < g->parts; k++, value += mean)
      if (!part_run(t, g, k, &mean)) return false;
    g->value = value;
    g->known = g->fresh = true;
  }
  return true;
}

void gauges_close(Trainer *t) {
  for (uint32_t i = 0; i < t->gauge.n; i++)
    for (uint32_t k = 0; k < t->gauge.at[i].parts; k++) {
      feed_stop(&t->gauge.at[i].feed[k]);
      engine_free(t->gauge.at[i].engine[k]);
    }
  t->gauge.n = 0;
}
