// A measure of a whole set, in two: what is summed over samples, and what is made of the sums.
//
// `mean[batch](…)` in a measure means all samples, not those of a batch. So the sums are added up
// over all batches, and the rest is computed once, behind the last one. Where that cannot be done
// (the largest of all samples; samples compared with their own mean), the measure stays a mean over
// batches.
#include "core/pass/pipeline.h"
#include "run/feed/feed_own.h"

// The wires at which samples have been summed up; false: they go otherwise, or come back.
static bool find_sums(World *w, const Diagram *d, Ids *sums) {
  bool *late = NEW_ARRAY(w->arena, bool, d->wire.n + 1); // follows from a sum
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    bool samples = any_sample_axis(w, d, b->in, b->nin), after = false;
    for (uint32_t k = 0; k < b->nin; k++) after |= late[b->in[k]];
    if (samples && after) return false;
    if (samples && !any_sample_axis(w, d, b->out, b->nout)) {
      if (b->op != OP_loop || b->loop->combine != SUM) return false;
      vec_push(w->arena, sums, b->out[0]);
      after = true;
    }
    for (uint32_t k = 0; k < b->nout; k++) late[b->out[k]] = after;
  }
  return sums->n > 0;
}

// Is it one sum, divided by how many samples there are? The mean over batches says the same.
static bool is_mean(World *w, const Diagram *rest) {
  if (rest->in.n != 1 || rest->box.n != 2 || rest->box.at[1].op != OP_loop) return false;
  const Loop *l = rest->box.at[1].loop;
  Id var;
  for (uint32_t i = 0; i < l->nscalar; i++)
    if (l->scalar[i].fn == FN_SIZE && size_is_var(w, l->scalar[i].ref, &var) &&
        size_var_kind(w, var) == VAR_SAMPLE)
      return l->nscalar == 3 && l->scalar[2].fn == FN_div;
  return false;
}

bool whole_split(World *w, const Diagram *d, Diagram **each, Diagram **rest) {
  Ids sums = {0};
  const Diagram *flat = passes_flat(w, d);
  return find_sums(w, flat, &sums) && diagram_cut(w, flat, &sums, each, rest) && !is_mean(w, *rest);
}

// One more input, of nothing, says how many samples there were.
void whole_add_count(Elab *in, Diagram *rest) {
  Axis axis = elab_samples(in);
  World *w = elab_world(in);
  diagram_input(w, rest, type_make(w, BASE_R, 1, &axis), 0, 0);
}

bool whole_value(World *w, Arena *a, const Diagram *rest, Tensor *sum, int64_t samples,
                 double *value, const char **why) {
  Tensor out = {0};
  sum[rest->in.n - 1] = tensor_new(a, 1, &samples);
  Eval e = {.arena = a, .in = sum, .out = &out};
  if (!diagram_eval(w, rest, &e)) return *why = e.error, false;
  *value = out.data[0];
  return true;
}
