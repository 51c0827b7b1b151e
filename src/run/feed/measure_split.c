// Splits a measure over a whole set into sums over samples and a function of the sums.
//
// `mean[batch](…)` in a measure is over all samples, not over those of a batch. So the sums are
// accumulated over all batches, and the function of the sums is evaluated once, at the end. Where this is
// impossible (the maximum over samples; samples compared with their own mean), all samples are one
// batch.
#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pipeline.h"
#include "run/feed/feed_own.h"

#include <math.h>

#define AT_ONCE_BYTES 16.0e9 // limit for samples that must be one batch
#define TOGETHER_BYTES 1.0e9 // limit for other batches
#define TOGETHER_WORK 3.0e10 // some seconds: training may be stopped between batches

static bool is_samples(World *w, Size size) {
  Id var;
  return size_is_var(w, size, &var) && size_var_kind(w, var) == VAR_SAMPLE;
}

// Does the box go from one sample to the next? A scan without carry is a map over samples.
static bool links_samples(World *w, const Diagram *d, const Box *b) {
  if (b->op == OP_scan) return b->scan->carry && is_samples(w, b->scan->axis.size);
  if (b->op != OP_order && b->op != OP_join) return false;
  return !b->axis && any_sample_axis(w, d, b->in, b->nin);
}

// Finds the sums over samples. False: samples are combined otherwise, or a sum is used with samples
// again.
static bool find_sample_sums(World *w, const Diagram *d, Ids *sums) {
  bool *after_sum = NEW_ARRAY(w->arena, bool, d->wire.n + 1); // depends on a sum
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool samples = any_sample_axis(w, d, b->in, b->nin), depends = false;
    for (uint32_t k = 0; k < b->nin; k++) depends |= after_sum[b->in[k]];
    if ((samples && depends) || links_samples(w, d, b)) return false;
    if (samples && !any_sample_axis(w, d, b->out, b->nout)) {
      if (b->op != OP_loop || b->loop->combine != SUM) return false;
      vec_push(w->arena, sums, b->out[0]);
      depends = true;
    }
    for (uint32_t k = 0; k < b->nout; k++) after_sum[b->out[k]] = depends;
  }
  return true;
}

// Is it one sum, divided by the number of samples? Then the mean over batches is the same.
static bool is_mean(World *w, const Diagram *rest) {
  if (rest->in.n != 1 || rest->box.n != 2 || rest->box.at[1].op != OP_loop) return false;
  const Loop *l = rest->box.at[1].loop;
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_SIZE && is_samples(w, l->scalar[i].ref))
      return l->nscalar == 3 && l->scalar[2].fn == FN_div;
  return false;
}

SampleUse measure_split(World *w, const Diagram *d, Diagram **each, Diagram **rest) {
  Ids sums = {0};
  const Diagram *flat = passes_flat(w, d);
  if (!find_sample_sums(w, flat, &sums)) return SAMPLES_AT_ONCE;
  if (!sums.n) return SAMPLES_ALONE;
  if (!diagram_split(w, flat, &sums, each, rest)) return SAMPLES_AT_ONCE;
  return is_mean(w, *rest) ? SAMPLES_ALONE : SAMPLES_SUMMED;
}

// An upper bound: no memory is reused.
static double bytes_of_sample(World *w, const Diagram *d) {
  const Diagram *flat = passes_flat(w, d);
  double bytes = 0;
  for (Id i = 1; i < flat->wire.n; i++) {
    Type t = flat->wire.at[i].type;
    int64_t n;
    if (!is_sample_axis(w, &t)) continue;
    t.axis++, t.rank--;
    if (type_count(w, &t, &n)) bytes += (double)n * sizeof(float);
  }
  return bytes;
}

double multiplications_of(World *w, const Diagram *d, double samples) {
  double work = 0, *value = NEW_ARRAY(w->arena, double, size_var_count(w) + 1);
  for (uint32_t i = 0; i < size_var_count(w); i++) value[i] = samples;
  return size_at(w, diagram_cost(w, d).multiplications, value, &work) ? work : 0;
}

int64_t samples_per_batch(World *w, const Diagram *d, int64_t most) {
  double fit = (double)most;
  fit = fmin(fit, TOGETHER_BYTES / fmax(bytes_of_sample(w, d), 1));
  fit = fmin(fit, TOGETHER_WORK / fmax(multiplications_of(w, d, 1), 1));
  return fit < 1 ? 1 : (int64_t)fit;
}

bool samples_interact(World *w, const Diagram *d) {
  Ids sums = {0};
  return !find_sample_sums(w, passes_flat(w, d), &sums) || sums.n;
}

bool samples_in_one_batch(Data *data, Span span, const Diagram *d, const Ids *fields,
                          const DataOverride *override, int64_t *batch) {
  Feed f = {0};
  if (!feed_draws(data, &f, fields, override)) return false;
  if (!f.samples) return true; // endless: one batch is as good as any
  double bytes = bytes_of_sample(data->w, d) * (double)f.samples;
  if (bytes > AT_ONCE_BYTES)
    return diag_refuse(data->w->diags, span,
                       "this compares %lld samples with each other, which wants %.0f GB of memory",
                       (long long)f.samples, bytes / 1e9);
  *batch = f.samples;
  return true;
}

// One more input, which is not read, gives the number of samples.
void measure_add_count(Elab *in, Diagram *rest) {
  Axis axis = elab_samples(in);
  World *w = elab_world(in);
  diagram_input(w, rest, type_make(w, BASE_R, 1, &axis), 0, 0);
}

bool measure_from_sums(World *w, Arena *a, const Diagram *rest, Tensor *sum, int64_t samples,
                       double *value, const char **why) {
  Tensor out = {0};
  sum[rest->in.n - 1] = tensor_new(a, 1, &samples);
  Eval e = {.arena = a, .in = sum, .out = &out};
  if (!diagram_eval(w, rest, &e)) return *why = e.error, false;
  *value = out.data[0];
  return true;
}
