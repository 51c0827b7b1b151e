// Use of trained weights: the weights of a run or a file, and a store for them. Measures give the same numbers as in the run: the
// weights file has the run's seed, which determines the splits of data, and its precision.
#include "base/diag.h"
#include "base/files.h"
#include "base/table.h"
#include "run/use/use_own.h"

#include "run/runs/runs.h"
#include "run/runs/weights.h"

#include <stdlib.h>

bool use_wrong(Use *u, Outcome status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  diag_verror(u->w->diags, (Span){0}, format, args);
  va_end(args);
  u->status = status;
  return false;
}

Outcome use_guarded(Elab *in, Program *p, const UseCall *call, bool (*work)(Use *, void *),
                    void *context) {
  World *w = elab_world(in);
  Use *u = NEW(w->arena, Use);
  *u = (Use){.in = in, .w = w, .p = p, .call = call, .how = call->how};
  if (GUARDED(w->arena, &u->guard)) {
    u->arena = u->own = arena_child(w->arena);
    bool good = use_open(u) && work(u, context);
    if (!good && u->status == OUTCOME_GOOD) u->status = OUTCOME_WRONG;
    guard_leave(&u->guard);
  } else {
    u->status = OUTCOME_SYSTEM;
  }
  use_close(u);
  return u->status;
}

void use_close(Use *u) {
  if (u->probe) probe_close(u->probe);
  if (u->gauges) gauges_close(u->gauges);
  if (u->callable) callable_close(u->callable);
  store_free(u->store);
  arena_free(u->own);
}

// -- weights --------------------------------------------------------------------------------------
static const char *metadata(const Use *u, const char *key) {
  const char *text = arrays_metadata(&u->weight, key);
  return text ? text : "";
}

// The program may compute something else than what was trained.
void use_tell_settings(Elab *in, Arena *a, const char *from) {
  World *w = elab_world(in);
  const char *error;
  RunNote note;
  Buf now = buf_new(w->arena);
  if (!path_is_folder(from) || !note_read(a, from, &note, &error)) return;
  elab_settings(in, &now);
  if (strcmp(note.set, now.at) == 0) return;
  Id said = diag_warning(w->diags, (Span){0}, "%s was trained with %s%s, and is used with %s%s",
                         from, *note.set ? "--set " : "no --set", note.set,
                         *now.at ? "--set " : "no --set", now.at);
  diag_help(w->diags, said, "what it computes may not be what was trained");
}

// --precision auto depends on the device in use, not on the run.
static void choose_precision(Use *u) {
  const char *said;
  u->precision = engine_precision(u->arena, u->how->reference ? NULL : u->device, &said);
  if (u->how->say) u->how->say(u->how->say_to, said);
}

static void report_precision(const Use *u) {
  const char *there = engine_precision_note(u->device, u->precision);
  if (there && u->how->say) u->how->say(u->how->say_to, there);
}

bool use_open(Use *u) {
  const char *error, *from = u->how->from;
  if (from) u->file = folder_weights(u->arena, from);
  if (from && !folder_read_weights(u->arena, from, &u->weight, &error))
    return use_wrong(u, OUTCOME_WRONG, "%s", error);
  if (from) use_tell_settings(u->in, u->arena, from);
  u->seed = u->how->has_seed ? u->how->seed : weights_seed(u->in, u->p, &u->weight);
  if (!engine_device(u->w, u->how->device, &u->device, &error))
    return use_wrong(u, OUTCOME_SYSTEM, "%s", error);
  if (u->how->precision == LIMN_PRECISION_AUTO) return choose_precision(u), true;
  if (precision_from_option(u->how->precision, &u->precision)) return report_precision(u), true;
  const char *precision = *metadata(u, "precision") ? metadata(u, "precision") : "32";
  return precision_from(precision, &u->precision) ||
         use_wrong(u, OUTCOME_WRONG, "a precision is 32, 64, bf16 or tf32, not %s", precision);
}

Data *use_data(Use *u) {
  Data *d = data_new(u->in, u->p, u->arena);
  d->exact = u->precision == PRECISION_64;
  return data_read_words(d, &u->weight, u->file ? u->file : "") ? d : NULL;
}

// Weights come from the file or from sources that the program names; with `begins` they may be
// initialised.
static bool is_missing(Use *u, const State *s) {
  const char *path = s->path;
  if (u->begins || has_source(u->in, u->p, s->as ? s->as : path)) return false;
  if (u->file) return !use_wrong(u, OUTCOME_WRONG, "%s has no weight %s", u->file, path);
  return !use_wrong(u, OUTCOME_USAGE, "weight %s has no value: --from DIR names a run folder",
                    path);
}

bool use_load_states(Use *u, Store *s, const Table *model) {
  return use_load_states_from(u, s, 0, model);
}

bool use_load_states_from(Use *u, Store *s, uint32_t first, const Table *model) {
  Table *known = table_new(u->arena);
  paths_add(known, &u->weight);
  paths_add(known, u->call->set);
  for (uint32_t i = 0; i < first; i++)
    table_put(known, store_at(s, i)->path, strlen(store_at(s, i)->path), 1);
  if (!store_load_sources(u->in, u->p, s, known)) return false;
  for (uint32_t i = first; i < store_count(s); i++) {
    State *state = store_at(s, i);
    const Array *a = u->call->set ? state_find(u->call->set, state) : NULL;
    if (!a) a = state_find(&u->weight, state);
    if (a && !state_from_array(u->w, state, a, u->file ? u->file : "memory")) return false;
    if (!a && table_get(model, state->path, strlen(state->path)) && is_missing(u, state))
      return false;
  }
  return true;
}

Target use_target(const Use *u) {
  return (Target){.threads = u->how->threads,
                  .device = u->device,
                  .reference = u->how->reference,
                  .seed = u->seed,
                  .say = u->how->say,
                  .say_to = u->how->say_to,
                  .stop = u->how->stop};
}

bool use_new_store(Use *u) {
  u->store = store_new(u->precision);
  if (!u->store) return use_wrong(u, OUTCOME_SYSTEM, "out of memory");
  store_set_threads(u->store, u->how->threads);
  return true;
}
