// The defaults of --device and --precision: a GPU if there is one and the work is large enough; the
// precision depends on the device.
#include "run/train/train_own.h"

// In multiplications, of one step and of a whole run: below this, transfers and compilation for the
// GPU take longer than the CPU.
static const double step_worth = 2e7, run_worth = 1e11;

const char *device_worth(Arena *a) {
  return arena_format(
      a,
      "a GPU for `train` where a step has at least %.0f million multiplications and "
      "the run %.0f thousand million, otherwise the CPU",
      step_worth / 1e6, run_worth / 1e9);
}

static bool was_on_gpu(const Trainer *t) { return t->was_on && !strncmp(t->was_on, "cuda", 4); }

static double work_of_step(Trainer *t) {
  double sum = 0, samples = (double)(t->batch ? t->batch : 1);
  for (uint32_t i = 0; i < t->regime.step.n; i++)
    sum += t->uses[i] * multiplications_of(t->w, t->regime.step.at[i].diagram, samples);
  return sum;
}

// --device auto: a GPU if there is one and the work is large enough. A resumed run stays on its
// device. A missing GPU is no error.
void choose_device(Trainer *t, bool resumed) {
  const char *why = NULL;
  if (!t->device_open || t->device || t->o->reference || t->caller_batch) return;
  double work = resumed ? 0 : work_of_step(t);
  bool worth = work >= step_worth && work * (double)t->total >= run_worth;
  if (resumed ? !was_on_gpu(t) : !worth) return;
  bool there = resumed && engine_device_ready(t->w, t->was_on, &t->device, &why);
  if (there || engine_device_ready(t->w, "cuda", &t->device, &why)) return;
  if (resumed)
    t->moved_since = why;
  else if (engine_has_gpu(t->arena))
    tell_wrong(t, "the CPU computes: %s", why);
}

void tell_moved(Trainer *t) {
  const char *now = engine_device_model(t->device);
  if (t->was_on && strcmp(now, t->was_is) != 0)
    tell_wrong(t, "the run was on %s, and continues on %s, %s%s%s: the last digits may differ",
               t->was_is, now, precision_label(t->precision), t->moved_since ? ", since " : "",
               t->moved_since ? t->moved_since : "");
}

// --precision auto, before anything is computed: depends on the device.
void choose_precision(Trainer *t) {
  if (!t->precision_open) return;
  t->precision = engine_precision(t->arena, t->o->reference ? NULL : t->device, &t->precision_says);
  store_set_precision(t->store, t->precision);
}
