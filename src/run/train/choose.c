// What computes where nobody says it, the CPU or a GPU that is there and is worth it, and in which
// numbers.
#include "run/train/train_own.h"

// Of a step and of a whole run, in multiplications: with less, the way to a GPU and its compiler take
// longer than the CPU.
static const double step_worth = 2e7, run_worth = 1e11;

const char *device_worth(Arena *a) {
  return arena_format(
      a,
      "a GPU for `train` where a step has at least %.0f million multiplications and "
      "the run %.0f thousand million, otherwise the CPU",
      step_worth / 1e6, run_worth / 1e9);
}

static double work_of_step(Trainer *t) {
  double sum = 0, samples = (double)(t->batch ? t->batch : 1);
  for (uint32_t i = 0; i < t->turns; i++)
    sum += multiplications_of(t->w, t->regime.step.at[t->turn[i]].diagram, samples);
  return sum;
}

// --device auto: a GPU where there is one and the work is worth it; a run that goes on stays where it
// was.
void choose_device(Trainer *t, bool resumed) {
  const char *why;
  if (!t->device_open || t->device || t->o->reference || t->own) return;
  double work = resumed ? 0 : work_of_step(t);
  bool worth = work >= step_worth && work * (double)t->total >= run_worth;
  if (resumed ? t->was_on_gpu : worth) engine_device(t->w, "cuda", &t->device, &why);
  if (resumed && t->was_on_gpu && !t->device)
    tell_wrong(t,
               "the run began on a GPU, and now the CPU goes on, since %s: the last digits may "
               "differ",
               why);
}

// --precision auto, while nothing has been computed: by what computes.
void choose_precision(Trainer *t) {
  if (!t->precision_open) return;
  t->precision = engine_precision(t->arena, t->o->reference ? NULL : t->device, &t->precision_says);
  store_round(t->store, t->precision);
}
