// Resuming a run: reads state.safetensors and restores the trainer. A run can only be resumed
// unchanged: with the same program but for its length, and the same settings, seed, batch,
// precision and data. Options that are not given again are taken from the run.
#include "base/diag.h"
#include "base/files.h"
#include "base/number.h"
#include "base/version.h"

#include "run/runs/weights.h"
#include "run/train/train_own.h"

#include <math.h>
#include <stdlib.h>

#define STEP_LIMIT ((uint64_t)1 << 50)

static const char *noted(const Arrays *state, const char *key) {
  const char *text = arrays_metadata(state, key);
  return text ? text : "";
}

static uint64_t noted_count(const Arrays *state, const char *key) {
  return strtoull(noted(state, key), NULL, 10);
}

static double noted_number(const Arrays *state, const char *key) {
  return number_read(noted(state, key), NULL);
}

bool resume_read(Trainer *t, Arena *a, Arrays *state, bool *found) {
  const char *path = folder_path(&t->folder, "state.safetensors"), *error;
  *found = path_exists(path);
  if (!*found || folder_read(a, path, state, &error)) return true;
  return diag_refuse(t->w->diags, (Span){0}, "%s", error);
}

__attribute__((format(printf, 2, 3))) static bool refuse(Trainer *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *why = arena_vformat(t->arena, format, args);
  va_end(args);
  return diag_refuse(t->w->diags, (Span){0}, "cannot resume %s: %s", t->folder.dir, why);
}

static bool same_program(Trainer *t, const Arrays *state) {
  const char *program = arena_format(t->arena, "%016llx", (unsigned long long)t->program);
  Buf settings = buf_new(t->arena);
  elab_settings(t->in, &settings);
  if (strcmp(noted(state, "program"), program) != 0)
    return refuse(t, "the program has changed: %s", program_difference(t->w, t->p, t->folder.dir));
  if (strcmp(noted(state, "set"), settings.at) != 0)
    return refuse(t, "it was begun with --set %s, and now it is %s",
                  *noted(state, "set") ? noted(state, "set") : "nothing",
                  *settings.at ? settings.at : "nothing");
  return true;
}

// Another build may sum in another order. Checkpoints without a build number come from another
// build.
static void tell_build(Trainer *t, const Arrays *state) {
  if (strcmp(noted(state, "build"), build_id) != 0)
    tell_wrong(t, "the run began with another build of limn: the last digits may differ");
}

bool resume_options(Trainer *t, const Arrays *state) {
  uint64_t seed = noted_count(state, "seed"), number = noted_count(state, "precision");
  int64_t batch = (int64_t)noted_count(state, "batch");
  if (!same_program(t, state)) return false;
  if (t->o->has_seed && t->o->seed != seed)
    return refuse(t, "its seed is %llu, not %llu", (unsigned long long)seed,
                  (unsigned long long)t->o->seed);
  if (t->o->batch && t->o->batch != batch)
    return refuse(t, "its batch is %s, not %lld", batch ? noted(state, "batch") : "the program's",
                  (long long)t->o->batch);
  if (number >= PRECISIONS) return refuse(t, "its precision is not known");
  if (t->o->precision && !t->precision_open && t->precision != (Precision)number)
    return refuse(t, "its precision is %s, not %s", precision_text((Precision)number),
                  precision_text(t->precision));
  t->seed = seed;
  t->batch_asked = batch;
  t->precision = (Precision)number;
  if (t->precision_open)
    t->precision_says = arena_format(t->arena, "--precision auto is %s: the run began so",
                                     precision_text(t->precision));
  t->precision_open = false;
  t->prebuilt = strcmp(noted(state, "kernels"), "prebuilt") == 0;
  t->was_on = *noted(state, "device") ? noted(state, "device") : NULL;
  t->was_is = *noted(state, "device_is")                   ? noted(state, "device_is")
              : t->was_on && strcmp(t->was_on, "cpu") != 0 ? "a GPU"
                                                           : engine_device_model(NULL);
  t->was_compiled = strcmp(noted(state, "kernels"), "compiled") == 0;
  if (t->o->epochs <= 0 && t->o->steps <= 0) {
    t->epochs_asked = noted_number(state, "epochs");
    t->steps_asked = noted_number(state, "steps");
  }
  t->step = noted_count(state, "step");
  t->base = noted_count(state, "steps_before");
  if (t->step > STEP_LIMIT || t->base > STEP_LIMIT) return refuse(t, "it has no such step");
  if (t->o->steps > 0 && (double)t->step > t->o->steps)
    return refuse(t, "it has made %llu steps already, and --steps asks for %g in all",
                  (unsigned long long)t->step, t->o->steps);
  t->phase = (uint32_t)noted_count(state, "phase");
  tell_build(t, state);
  if (t->phase < t->p->train.n) return true;
  return refuse(t, "there is no `train` number %u in the program", t->phase + 1);
}

static bool read_mean(Trainer *t, const Arrays *state, const char *name, Mean *m) {
  const Array *a = arrays_find(state, name);
  uint32_t n = t->p->goal.n;
  if (!a || a->count != 2 * (int64_t)n) return refuse(t, "its state has no %s", name);
  memcpy(m->sum, a->data, mean_bytes(n));
  return true;
}

// Restores the best value, if the saved best weights still have the checksum recorded with it.
// Otherwise the search for the best starts again.
static void resume_best(Trainer *t, const Arrays *state) {
  Arena *a = arena_child(t->arena);
  Arrays best = {0};
  const char *why = "";
  t->has_best = noted_count(state, "has_best") != 0;
  if (t->has_best && !folder_read(a, folder_path(&t->folder, "best.safetensors"), &best, &why)) {
    tell_wrong(t, "the best weights so far are lost: %s", why);
    t->has_best = false;
  }
  t->best = noted_number(state, "best");
  t->best_step = noted_count(state, "best_step");
  // older checkpoints record the best value of their phase only
  bool whole = arrays_metadata(state, "judged_by") != NULL;
  t->judged = whole ? arena_format(t->arena, "%s", noted(state, "judged_by")) : judged_by(t);
  t->best_here = whole ? noted_number(state, "best_here") : t->has_best ? t->best : NAN;
  arena_free(a);
}

bool resume_position(Trainer *t, const Arrays *state) {
  int64_t samples = (int64_t)noted_count(state, "samples");
  if (samples != t->feed.samples)
    return refuse(t, "an epoch of its data had %lld samples, and now it has %lld",
                  (long long)samples, (long long)t->feed.samples);
  const char *changed = data_differs(t->data, t->arena, noted(state, "data"));
  if (changed) return refuse(t, "the data of the run have changed: %s", changed);
  if (!store_load(t->w, t->store, state, folder_path(&t->folder, "state.safetensors")))
    return false;
  if (!read_mean(t, state, "train/row", &t->row) ||
      !read_mean(t, state, "train/report", &t->report))
    return false;
  resume_best(t, state);
  t->idle_reports = (uint32_t)noted_count(state, "waited");
  t->owes_report = noted_count(state, "owes") != 0;
  t->seconds = noted_number(state, "seconds");
  return true;
}
