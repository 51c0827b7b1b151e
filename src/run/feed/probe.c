// The values of a `show`: an engine runs its diagram on a store of weights, over data. The results
// have samples as the first axis. In training the store is the one that is trained, so a probe
// shows the weights of the present step.
//
// The view determines the number of samples. A value made of noise alone is computed once for each
// sample.
#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "run/feed/feed_own.h"

enum { PROBE_BATCH = 256, POINTS = 1000, ROWS = 20, ALONE = 8 };

// -- opening --------------------------------------------------------------------------------------
static int64_t samples_wanted(const Show *s) {
  const ShowAs *v = &s->view[0];
  const char *name = s->views ? v->name : "";
  int64_t n = v->options ? (int64_t)v->option[0] : 0;
  if (s->kind == SHOW_CONFUSION) return INT64_MAX;
  if (!strcmp(name, "images")) return v->options > 1 ? n * (int64_t)v->option[1] : n ? n * n : 64;
  if (!strcmp(name, "scatter") || !strcmp(name, "latent")) return n ? n : POINTS;
  if (!strcmp(name, "table")) return n ? n : ROWS;
  return n ? n : ALONE;
}

bool probe_open(Data *d, Store *store, const Show *s, int64_t n, const Target *how, Probe *out) {
  Ids fields = s->fields;
  DataOverride override = samples_on(d->w, &s->on);
  *out = (Probe){.show = s, .wanted = n ? n : samples_wanted(s)};
  if (!data_need(d, &fields)) return false;
  out->d = compose_noise(d->in, d->p, s->diagram, &fields);
  if (!out->d) return false;
  out->samples = has_sample_axis(d->w, out->d);
  out->repeated = !out->samples && out->d->noisy;
  if (out->samples) out->batch = samples_per_batch(d->w, out->d, PROBE_BATCH);
  if (out->batch > out->wanted) out->batch = out->wanted;
  out->one_batch = out->samples && samples_interact(d->w, out->d);
  if (out->one_batch &&
      !samples_in_one_batch(d, s->node->span, out->d, &fields, &override, &out->batch))
    return false;
  if (d->dry_run) return feed_add(d, &out->feed, &fields, NULL, &override, &out->inlet);
  if (!store_add_params(d->w, store, out->d, how->seed)) return false;
  out->engine =
      engine_new_fitting(d->w, out->d, store, &out->batch, out->samples && !out->one_batch, how);
  return out->engine && feed_add(d, &out->feed, &fields, out->engine, &override, &out->inlet);
}

void probe_close(Probe *s) {
  feed_stop(&s->feed);
  engine_free(s->engine);
  s->engine = NULL;
}

// -- evaluating -----------------------------------------------------------------------------------
static const Type *out_type(const Probe *s, uint32_t i) {
  return &s->d->wire.at[s->d->out.at[i]].type;
}

static bool too_large(Data *d, const Probe *s, uint32_t rank, const int64_t *shape) {
  const double most = 1 << 30;
  double count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= (double)shape[i];
  return count > most &&
         !diag_refuse(d->w->diags, s->show->node->span,
                      "this cannot be shown: it has %g numbers, and %g are the most", count, most);
}

// Makes tensors for n samples. In a dry run their zeros are the result, and a size that only a file
// that is not installed would tell is arbitrary.
static bool make_room(Data *d, const Probe *s, int64_t n, Tensor *out) {
  enum { SOME = 2 };
  for (uint32_t i = 0; i < s->d->out.n; i++) {
    const Type *t = out_type(s, i);
    uint32_t rank = t->rank + s->repeated;
    int64_t shape[ARRAY_RANK_LIMIT + 1] = {n};
    engine_shape(d->w, t, n, shape + s->repeated);
    for (uint32_t k = 0; d->dry_run && k < rank; k++)
      if (!shape[k]) shape[k] = SOME;
    if (too_large(d, s, rank, shape)) return false;
    out[i] = tensor_new(d->arena, rank, shape);
    memset(out[i].data, 0, (size_t)out[i].count * sizeof *out[i].data);
  }
  return true;
}

static void copy_batch(Data *d, const Probe *s, int64_t first, int64_t n, int64_t all,
                       Tensor *out) {
  for (uint32_t i = 0; i < s->d->out.n; i++) {
    bool sliced = s->repeated || is_sample_axis(d->w, out_type(s, i));
    int64_t each = sliced && all ? out[i].count / all : out[i].count;
    engine_get(s->engine, i, out[i].data + (sliced ? first * each : 0), sliced ? n * each : each);
  }
}

static bool run(Data *d, Probe *s, int64_t n, uint64_t k, const char *why) {
  if (n >= 0 && engine_run(s->engine, s->samples ? n : 0, k) != RUN_FAILED) return true;
  return diag_refuse(d->w->diags, s->show->node->span, "this cannot be shown: %s",
                     why ? why : engine_error(s->engine));
}

static bool run_batches(Data *d, Probe *s, int64_t all, Tensor *out) {
  if (!feed_start(d, &s->feed, s->batch, 0, 0)) return false;
  bool good = true;
  uint64_t k = 0;
  for (int64_t first = 0, n; good && first < all; first += n, k++) {
    const char *why = NULL;
    int64_t left = all - first;
    n = s->feed.samples ? feed_next(&s->feed, &s->inlet, &why) : s->batch;
    if (n > left && !s->one_batch) n = left;
    good = run(d, s, n, k, why);
    if (n > left) n = left;
    if (good) copy_batch(d, s, first, n, all, out);
  }
  feed_stop(&s->feed);
  return good;
}

bool probe_evaluate_some(Data *d, Probe *s, bool one_batch, Tensor *out) {
  int64_t most = !s->samples ? 1 : s->one_batch ? s->batch : PROBE_BATCH;
  if (one_batch && s->wanted > most) s->wanted = most;
  return probe_evaluate(d, s, out);
}

bool probe_evaluate(Data *d, Probe *s, Tensor *out) {
  int64_t n = s->samples || s->repeated ? s->wanted : 0;
  if (s->feed.samples && s->feed.samples < n) n = s->feed.samples;
  if (n == INT64_MAX) n = POINTS; // the source is endless
  if (!make_room(d, s, n, out)) return false;
  if (d->dry_run) return true;
  if (s->samples) return run_batches(d, s, n, out);
  for (int64_t k = 0; k < (s->repeated ? n : 1); k++) {
    if (!run(d, s, 0, (uint64_t)k, NULL)) return false;
    copy_batch(d, s, k, 1, n, out);
  }
  return true;
}

// -- texts ----------------------------------------------------------------------------------------
static const char *source_text(World *w, Arena *a, const Syntax *from, const Syntax *to) {
  const Source *file = &w->sources->file.at[from->span.file];
  uint32_t end = to->span.at + to->span.n;
  return arena_format(a, "%.*s", (int)(end - from->span.at), file->text + from->span.at);
}

const char *show_text(World *w, Arena *a, const Show *s) {
  const Syntax *last = show_what(s->node);
  Nodes clauses = show_clauses(s->node);
  for (uint32_t i = 0; i < clauses.n; i++)
    if (clauses.at[i]->kind != N_AS && clauses.at[i]->kind != N_EVERY) last = clauses.at[i];
  return source_text(w, a, show_what(s->node), last);
}

// Each value has its own text if each expression has one value.
const char *shown_name(World *w, Arena *a, const Show *s, uint32_t i, uint32_t values) {
  const Syntax *expr = show_what(s->node);
  bool tuple = expr->kind == N_TUPLE && tuple_values(expr).n == values;
  const Syntax *own = tuple ? tuple_values(expr).at[i] : expr;
  const char *text = source_text(w, a, own, own);
  return tuple || values == 1 ? text : arena_format(a, "%s.%u", text, i + 1);
}

bool is_path(const Show *s) {
  for (uint32_t i = 0; i < s->views; i++)
    if (strcmp(s->view[i].name, "paths") == 0) return true;
  return false;
}

const char *frame_name(Arena *a, uint32_t show, uint64_t step) {
  return arena_format(a, "shown/%u.%09llu.safetensors", show + 1, (unsigned long long)step);
}
