// Measures during training, and the loss on validation data if a program has no measures.
//
// A measure is a diagram with one number, a mean over samples. It runs over its data in batches,
// and the results are averaged, weighted by the number of samples; sums over all samples are
// accumulated instead (measure_split.c). `on mnist.test` replaces every source of the set by that
// split, whole and in order.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "lang/value/value.h"
#include "run/feed/feed_own.h"

enum { GAUGE_BATCH = 128 }; // or the batch size of training, which needs more memory

static bool part_open(Gauges *all, Gauge *g, const Measure *m, Diagram *d, Ids fields,
                      const DataOverride *override) {
  uint32_t k = g->parts;
  Diagram *each, *rest;
  SampleUse use = measure_split(all->data->w, d, &each, &rest);
  if (use == SAMPLES_SUMMED) {
    measure_add_count(all->data->in, rest);
    g->rest[k] = rest;
    d = each;
  }
  d = compose_noise(all->data->in, all->data->p, d, &fields);
  if (!d) return false;
  bool samples = has_sample_axis(all->data->w, d);
  if (samples) g->batch[k] = samples_per_batch(all->data->w, d, GAUGE_BATCH);
  if (samples && g->batch[k] < all->batch) g->batch[k] = all->batch;
  if (samples && use == SAMPLES_AT_ONCE &&
      !samples_in_one_batch(all->data, m->span, d, &fields, override, &g->batch[k]))
    return false;
  if (all->data->dry_run)
    return feed_add(all->data, &g->feed[k], &fields, NULL, override, &g->inlet[k]);
  if (!store_add_params(all->data->w, all->store, d, all->target.seed)) return false;
  g->engine[k] = engine_new_fitting(all->data->w, d, all->store, &g->batch[k],
                                    samples && use != SAMPLES_AT_ONCE, &all->target);
  if (!g->engine[k]) return false;
  g->parts++;
  return feed_add(all->data, &g->feed[k], &fields, g->engine[k], override, &g->inlet[k]);
}

static Gauge gauge_new(Gauges *all, uint32_t parts) {
  return (Gauge){.rest = NEW_ARRAY(all->data->arena, Diagram *, parts),
                 .engine = NEW_ARRAY(all->data->arena, Engine *, parts),
                 .batch = NEW_ARRAY(all->data->arena, int64_t, parts),
                 .inlet = NEW_ARRAY(all->data->arena, Inlets, parts),
                 .feed = NEW_ARRAY(all->data->arena, Feed, parts)};
}

static bool label_taken(const Gauges *all, const char *label) {
  for (uint32_t i = 0; i < all->data->p->goal.n; i++)
    if (strcmp(name_text(all->data->w->names, all->data->p->goal.at[i].name), label) == 0)
      return true;
  for (uint32_t i = 0; i < all->n; i++)
    if (strcmp(all->at[i].label, label) == 0) return true;
  return false;
}

// A measure of a goal by another distance has that in its label: fit.hits.
static const char *label_of(const Gauges *all, const Measure *m) {
  const char *name = name_text(all->data->w->names, m->name), *label = name;
  if (label_taken(all, label) && m->distance)
    label = name = arena_format(all->data->arena, "%s.%s", name, m->distance);
  for (uint32_t k = 2; label_taken(all, label); k++)
    label = arena_format(all->data->arena, "%s.%u", name, k);
  return label;
}

static const char *where_of(const Gauges *all, const Measure *m, const Feed *f) {
  const char *set = m->on.path ? m->on.path : name_text(all->data->w->names, m->on.set);
  const char *split = name_text(all->data->w->names, m->on.split);
  if (!f->given.n) return "";
  return *set ? arena_format(all->data->arena, "%s%s%s", set, *split ? "." : "", split)
              : "training data";
}

static bool is_trained(const Gauges *all, const char *path) {
  for (uint32_t i = 0; i < all->goals.n; i++) {
    const Goal *g = &all->data->p->goal.at[all->goals.at[i]];
    for (uint32_t k = 0; k < g->diagram->param.n; k++)
      if (g->trains[k] && strcmp(g->diagram->param.at[k].path, path) == 0) return true;
  }
  return false;
}

// The path that a stale copy's weight follows; otherwise the param's own path.
static const char *followed(const Gauges *all, const Param *p) {
  World *w = all->data->w;
  for (uint32_t i = 0; i < all->data->p->learner.n; i++) {
    const Def *d = all->data->p->learner.at[i];
    if (d->kind == DEF_STALE && learner_of(d) && def_owns(w, p, d, NULL))
      return arena_format(all->data->arena, "%s%s", learner_path(w, d),
                          p->path + strlen(name_text(w->names, d->name)));
  }
  return p->path;
}

// Does the diagram read a weight that a goal of this phase trains, or a copy of one?
static bool is_moved(const Gauges *all, const Diagram *d) {
  for (uint32_t j = 0; j < d->param.n; j++)
    if (is_trained(all, followed(all, &d->param.at[j]))) return true;
  return false;
}

// The first measure of what is being trained that has a better direction. A program that trains one
// learner after the other may measure all of them.
const Gauge *gauge_for_best(const Gauges *all) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->at[i].moved && all->at[i].better && !all->at[i].failed) return &all->at[i];
  return NULL;
}

static bool measure_open(Gauges *all, const Measure *m) {
  Diagram *d = m->diagram;
  Ids fields = m->fields;
  if (!d)
    d = learn_exploitability(all->data->in, all->data->p,
                             // Exploitability, the only measure without a diagram in the program
                             &fields);
  if (!d)
    return diag_refuse(all->data->w->diags, m->span,
                       "there are no players: no goal trains a `simplex`");
  DataOverride override = samples_on(all->data->w, &m->on);
  Gauge g = gauge_new(all, 1);
  bool good = part_open(all, &g, m, d, fields, &override);
  g.label = label_of(all, m);
  g.where = where_of(all, m, &g.feed[0]);
  g.better = m->better;
  g.moved = is_moved(all, d);
  vec_push(all->data->arena, all, g);
  return good;
}

// Do all sources of the goals have validation data?
static bool can_validate(Gauges *all) {
  bool any = false;
  for (uint32_t i = 0; i < all->goals.n; i++) {
    const Ids *fields = &all->data->p->goal.at[all->goals.at[i]].fields;
    for (uint32_t k = 0; k < fields->n; k++) {
      const Set *set = all->data->set[def_of(all->data->in, fields->at[k])->given];
      if (set && set_rows(set, SPLIT_VALID) <= 0) return false;
      any |= set != NULL;
    }
  }
  return any;
}

static bool valid_open(Gauges *all) {
  if (!can_validate(all)) return true;
  Gauge g = gauge_new(all, all->goals.n);
  DataOverride override = {.every = true, .split = SPLIT_VALID, .ordered = true};
  bool good = true;
  for (uint32_t i = 0; good && i < all->goals.n; i++) {
    Measure m;
    if (!elab_outside(all->data->in, all->data->p, &all->data->p->goal.at[all->goals.at[i]], &m))
      continue;
    good = part_open(all, &g, &m, m.diagram, m.fields, &override);
  }
  g.label = label_taken(all, "valid") ? "valid.loss" : "valid";
  g.where = "validation data";
  g.better = -1;
  g.moved = true;
  if (g.parts) vec_push(all->data->arena, all, g);
  return good;
}

bool gauges_open(Gauges *all) {
  gauges_close(all);
  for (uint32_t i = 0; i < all->data->p->measure.n; i++)
    if (!measure_open(all, &all->data->p->measure.at[i])) return false;
  return all->data->p->measure.n || valid_open(all);
}

// -- running --------------------------------------------------------------------------------------
static bool part_failed(Gauges *all, const Gauge *g, uint32_t k, const char *why) {
  return diag_refuse(all->data->w->diags, (Span){0}, "%s cannot be measured: %s", g->label,
                     why ? why : engine_error(g->engine[k]));
}

// Adds the result of a batch: a mean weighted by the number of samples, or sums.
static void add_batch(Arena *a, const Gauge *g, uint32_t k, double each, Tensor *sum) {
  Engine *e = g->engine[k];
  const Diagram *rest = g->rest[k];
  if (!rest) {
    sum[0].data[0] += *(const double *)engine_out(e, 0) * each;
    return;
  }
  for (uint32_t i = 0; i + 1 < rest->in.n; i++) {
    double *own = NEW_ARRAY(a, double, sum[i].count);
    engine_get(e, i, own, sum[i].count);
    for (int64_t j = 0; j < sum[i].count; j++) sum[i].data[j] += own[j];
  }
}

static Tensor *sums_new(Gauges *all, Arena *a, const Diagram *rest) {
  Tensor *sum = NEW_ARRAY(a, Tensor, rest ? rest->in.n : 1);
  int64_t shape[ARRAY_RANK_LIMIT];
  for (uint32_t i = 0; rest && i + 1 < rest->in.n; i++) {
    const Type *type = &rest->wire.at[rest->in.at[i]].type;
    engine_shape(all->data->w, type, 0, shape);
    sum[i] = tensor_new(a, type->rank, shape);
  }
  if (!rest) sum[0] = tensor_new(a, 0, shape);
  return sum;
}

static bool must_stop(Gauges *all, const Gauge *g, double part) {
  all->stopped = all->may_continue && !all->may_continue(all->context, g, part);
  return all->stopped;
}

static bool part_batches(Gauges *all, Gauge *g, uint32_t k, int64_t most, Arena *a, double *mean) {
  Feed *f = &g->feed[k];
  double weight = 0;
  Tensor *sum = sums_new(all, a, g->rest[k]);
  if (!feed_start(all->data, f, g->batch[k], 0, 0)) return false;
  int64_t batches = f->samples ? feed_batches(f) : 1;
  if (most && batches > most) batches = most;
  for (int64_t i = 0; i < batches; i++) {
    const char *why = NULL;
    if (i && must_stop(all, g, (k + (double)i / (double)batches) / g->parts)) return false;
    int64_t n = f->samples ? feed_next(f, &g->inlet[k], &why) : g->batch[k];
    if (n < 0 || engine_run(g->engine[k], n, (uint64_t)i) == RUN_FAILED)
      return part_failed(all, g, k, why);
    double each = n ? (double)n : 1;
    add_batch(a, g, k, each, sum);
    weight += each;
  }
  const char *why = NULL;
  if (!g->rest[k]) return *mean = sum[0].data[0] / weight, true;
  return measure_from_sums(all->data->w, a, g->rest[k], sum, (int64_t)weight, mean, &why) ||
         part_failed(all, g, k, why);
}

// most: number of batches at most; 0: all
static bool gauge_run(Gauges *all, Gauge *g, int64_t most, double *value) {
  bool good = true;
  *value = 0;
  for (uint32_t k = 0; good && k < g->parts; k++) {
    double mean = 0;
    Arena *a = arena_child(all->data->arena);
    good = part_batches(all, g, k, most, a, &mean);
    feed_stop(&g->feed[k]);
    arena_free(a);
    *value += mean;
  }
  return good;
}

bool gauges_run_one_batch(Gauges *all) {
  double value;
  for (uint32_t i = 0; i < all->n; i++)
    if (!gauge_run(all, &all->at[i], 1, &value)) return false;
  return true;
}

bool gauges_run(Gauges *all) {
  typedef struct {
    bool failed;
    double value;
  } Found;
  Arena *a = arena_child(all->data->arena);
  Found *found = NEW_ARRAY(a, Found, all->n);
  bool good = true;
  all->stopped = false;
  for (uint32_t i = 0; i < all->n && !all->stopped; i++)
    found[i].failed = all->at[i].failed || !gauge_run(all, &all->at[i], 0, &found[i].value);
  for (uint32_t i = 0; i < all->n && !all->stopped; i++) {
    Gauge *g = &all->at[i];
    if (g->failed) continue;
    g->failed = found[i].failed;
    good &= !g->failed;
    g->known = g->fresh = !g->failed;
    if (g->known) g->value = found[i].value;
  }
  arena_free(a);
  return good;
}

void gauges_close(Gauges *all) {
  for (uint32_t i = 0; i < all->n; i++)
    for (uint32_t k = 0; k < all->at[i].parts; k++) {
      feed_stop(&all->at[i].feed[k]);
      engine_free(all->at[i].engine[k]);
    }
  all->n = 0;
}
