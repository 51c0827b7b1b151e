// Opens an engine of the right kind for a target: the interpreter, compiled or prebuilt kernels on the
// CPU, or a GPU. Shared by all kinds: params are looked up in the store, all sizes but the number of
// samples are checked to be known, runs are dispatched to the kind.
#include "base/diag.h"
#include "base/names.h"
#include "run/engine/engine_own.h"

#include <math.h>

bool engine_shape(World *w, const Type *t, int64_t samples, int64_t *shape) {
  for (uint32_t i = 0; i < t->rank; i++) {
    if (size_value(w, t->axis[i].size, &shape[i])) continue;
    Id var;
    if (!size_is_var(w, t->axis[i].size, &var) || size_var_kind(w, var) != VAR_SAMPLE) return false;
    shape[i] = samples;
  }
  return true;
}

static bool state_matches(Engine *e, const Param *p, const Type *t, const State *s) {
  int64_t shape[64];
  bool same = s->rank == t->rank && t->rank <= COUNT(shape) && s->base == t->base &&
              engine_shape(e->w, t, 0, shape);
  for (uint32_t i = 0; same && i < t->rank; i++) same = shape[i] == s->shape[i];
  if (!same)
    diag_error(e->w->diags, (Span){0}, "state %s is kept with a type other than %s", p->path,
               type_text(e->w, t));
  return same;
}

static bool find_states(Engine *e) {
  const Diagram *d = e->d;
  e->state = NEW_ARRAY(e->arena, State *, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *p = &d->param.at[i];
    e->state[i] = store_find(e->store, p->path);
    if (p->role == ROLE_CLOCK && !e->state[i]) continue; // engine_set_clocks gives its value
    if (!e->state[i])
      diag_error(e->w->diags, (Span){0}, "there is no value for %s : %s", p->path,
                 type_text(e->w, &d->wire.at[p->wire].type));
    if (!e->state[i] || !state_matches(e, p, &d->wire.at[p->wire].type, e->state[i])) return false;
  }
  return true;
}

static bool check_sizes(Engine *e) {
  const Diagram *d = e->d;
  for (uint32_t i = 0; i < d->in.n + d->out.n; i++) {
    const Wire *wire = &d->wire.at[i < d->in.n ? d->in.at[i] : d->out.at[i - d->in.n]];
    int64_t shape[64];
    if (wire->type.rank <= COUNT(shape) && engine_shape(e->w, &wire->type, e->samples, shape))
      continue;
    diag_error(
        e->w->diags, origin_span(e->w, wire->origin), "the size of %s is not known: it is %s",
        wire->name ? name_text(e->w->names, wire->name) : "this", type_text(e->w, &wire->type));
  }
  return true;
}

// Called when the engine's arena is freed: by engine_free, or with the world.
static void close_kind(void *what) {
  Engine *e = what;
  if (e->kind && e->kind->free) e->kind->free(e);
}

// NULL, or why the device cannot compute in the store's precision.
static const char *lacks_tensor_cores(const Engine *e) {
  Precision p = store_precision(e->store);
  return p == PRECISION_BF16 || p == PRECISION_TF32
             ? device_lacks_tensor_cores(e->arena, e->target.device, p)
             : NULL;
}

static bool open_on_device(Engine *e, const char **why) {
  *why = lacks_tensor_cores(e);
  return !*why && cuda_open(e, why);
}

static bool on_device(const Engine *e) { return e->target.device && !e->target.reference; }

// A failure of a device is a failure of the machine, not of the program.
static void blame_machine(Engine *e) {
  if (on_device(e) && !e->input_refused && !e->w->diags->muted) e->w->diags->machine_failed = true;
}

// Some diagnostic since number `since` has a place in the source.
static bool blames_program(const Diags *d, uint32_t since) {
  while (since < d->list.n && !d->list.at[since].span.file) since++;
  return since < d->list.n;
}

Engine *engine_new(World *w, const Diagram *d, Store *store, int64_t samples, const Target *how) {
  Arena *arena = arena_child(w->arena);
  Engine *e = NEW(arena, Engine);
  *e = (Engine){.arena = arena, .w = w, .d = d, .store = store, .samples = samples, .target = *how};
  e->in = NEW_ARRAY(arena, void *, d->in.n + 1);
  e->out = NEW_ARRAY(arena, void *, d->out.n + 1);
  arena_on_free(arena, close_kind, e);
  if (find_states(e) && check_sizes(e)) {
    const char *why = NULL;
    uint32_t said = w->diags->list.n;
    bool open = how->reference ? reference_open(e)
                : how->device  ? open_on_device(e, &why)
                               : compiled_open(e, &why);
    if (open) return e;
    if (why) diag_error(w->diags, (Span){0}, "%s", why);
    if (!blames_program(w->diags, said)) blame_machine(e);
  }
  engine_free(e);
  return NULL;
}

static Engine *try_engine(World *w, const Diagram *d, Store *store, int64_t samples,
                          const Target *how) {
  w->device_full = false;
  w->diags->muted++;
  Engine *e = engine_new(w, d, store, samples, how);
  w->diags->muted--;
  return e;
}

// Halves *samples until the engine fits in the device's memory, if `parts` allows it. NULL: nothing fits.
static Engine *find_fitting(World *w, const Diagram *d, Store *store, int64_t *samples, bool parts,
                            const Target *how) {
  int64_t fewer = *samples;
  Engine *e = try_engine(w, d, store, fewer, how);
  while (!e && w->device_full && parts && fewer > 1)
    e = try_engine(w, d, store, fewer = (fewer + 1) / 2, how);
  if (e) *samples = fewer;
  return e;
}

Engine *engine_new_fitting(World *w, const Diagram *d, Store *store, int64_t *samples, bool parts,
                           const Target *how) {
  Target cpu = *how;
  if (!how->device || how->reference) return engine_new(w, d, store, *samples, how);
  Engine *e = find_fitting(w, d, store, samples, parts, how);
  if (e) return e;
  if (!w->device_full || !how->cpu_fallback)
    return engine_new(w, d, store, *samples, how); // reports the error
  cpu.device = NULL;
  e = engine_new(w, d, store, *samples, &cpu);
  if (e)
    diag_warning(w->diags, (Span){0}, "%s has too little memory for this: the CPU computes it",
                 engine_device_name(w->arena, how->device));
  return e;
}

void engine_free(Engine *e) {
  if (e) arena_free(e->arena);
}

void *engine_in(Engine *e, uint32_t input) { return e->in[input]; }
const void *engine_out(const Engine *e, uint32_t output) { return e->out[output]; }
int32_t *engine_table(Engine *e, uint32_t input, const EngineTable *t) {
  return e->kind->table ? e->kind->table(e, input, t) : NULL;
}

// Addresses are computed from labels, and states may come from files: out-of-range labels are refused
// before the first run.
static bool labels_fit(Engine *e) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const Type *t = &e->d->wire.at[e->d->param.at[i].wire].type;
    const State *s = e->state[i];
    int64_t count;
    if (t->base != BASE_LABEL || !s || !size_value(e->w, t->count, &count)) continue;
    for (int64_t k = 0; k < s->count; k++) {
      int32_t x = ((const int32_t *)state_data(s))[k];
      if (x >= 0 && x < count) continue;
      e->input_refused = true;
      e->error = arena_format(e->arena, "%s holds %d, which is not one of its %lld labels", s->path,
                              (int)x, (long long)count);
      return false;
    }
  }
  return e->states_checked = true;
}

static RunStatus note_failure(Engine *e, RunStatus status) {
  if (status == RUN_FAILED) blame_machine(e);
  return status;
}

// A run on the CPU over states that also have copies on a device: newer values are fetched first, and
// the states that the run overwrites are marked as newer on the host.
static void sync_states(Engine *e) {
  if (on_device(e) || !store_is_mirrored(e->store)) return;
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!e->state[i]) continue;
    if (e->d->param.at[i].next)
      state_writable_data(e->state[i]);
    else
      state_data(e->state[i]);
  }
}

static RunStatus run_now(Engine *e, int64_t n, uint64_t step) {
  sync_states(e);
  return e->kind->run(e, n, step);
}

RunStatus engine_run(Engine *e, int64_t n, uint64_t step) {
  return note_failure(e, e->states_checked || labels_fit(e) ? run_now(e, n, step) : RUN_FAILED);
}

// On the CPU, queueing a run runs it.
uint32_t engine_queue_limit(const Engine *e) {
  return e->kind->queue_limit ? e->kind->queue_limit(e) : 1;
}

bool engine_queue(Engine *e, int64_t n, uint64_t step) {
  if (!e->states_checked && !labels_fit(e)) return false;
  if (e->kind->queue)
    return note_failure(e, e->kind->queue(e, n, step) ? RUN_GOOD : RUN_FAILED) == RUN_GOOD;
  e->queued_status = run_now(e, n, step);
  return e->queued_status != RUN_FAILED;
}

RunStatus engine_next(Engine *e) {
  return note_failure(e, e->kind->next ? e->kind->next(e) : e->queued_status);
}

const char *engine_error(const Engine *e) { return e->error ? e->error : ""; }
void engine_plan(const Engine *e, Buf *b) { e->kind->plan(e, b); }
const char *engine_description(const Engine *e) { return e->description; }
bool engine_prebuilt(const Engine *e) { return e->prebuilt; }
bool engine_full_batches_only(const Engine *e) { return e->full_batches_only; }
int64_t engine_bytes(const Engine *e) { return e->bytes; }

Number engine_number(const Engine *e, Id wire) {
  const Type *t = &e->d->wire.at[wire].type;
  return number_of(store_precision(e->store), t->base, t->rank);
}

Number engine_in_number(const Engine *e, uint32_t input) {
  return engine_number(e, e->d->in.at[input]);
}

Number engine_out_number(const Engine *e, uint32_t output) {
  return engine_number(e, e->d->out.at[output]);
}

void engine_set(Engine *e, uint32_t input, const double *from, int64_t n) {
  numbers_set(engine_in_number(e, input), engine_in(e, input), from, n);
}

void engine_get(const Engine *e, uint32_t output, double *to, int64_t n) {
  numbers_get(engine_out_number(e, output), engine_out(e, output), to, n);
}

// -- what kinds share -----------------------------------------------------------------------------
bool engine_widens(const Engine *e, uint32_t i) {
  const State *s = e->state[i];
  return s && !s->rank && s->base == BASE_R && s->number != NUMBER_F64;
}

void engine_warn_cache(const Engine *e, const char *word) {
  if (word && !e->w->cc_warned) diag_warning(e->w->diags, (Span){0}, "%s", word);
  e->w->cc_warned |= word != NULL;
}

void engine_set_clocks(const Engine *e, uint64_t step, double *clock) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const Param *p = &e->d->param.at[i];
    if (p->role != ROLE_CLOCK || e->state[i]) continue;
    size_t n = strlen(p->path);
    clock[i] = n >= 5 && !strcmp(p->path + n - 5, "steps") ? e->target.steps : (double)step;
  }
}

bool engine_finite(const Engine *e) {
  for (uint32_t i = 0; i < e->d->out.n; i++) {
    const Type *t = &e->d->wire.at[e->d->out.at[i]].type;
    if (!t->rank && t->base == BASE_R && !isfinite(*(const double *)e->out[i])) return false;
  }
  return true;
}

bool engine_accepts(Engine *e, int64_t n) {
  if (!e->full_batches_only || n == e->samples) return true;
  e->input_refused = true;
  e->error = arena_format(e->arena,
                          "this program is compiled for %lld samples at once, not for %lld: a "
                          "size in it is not a multiple of their number",
                          (long long)e->samples, (long long)n);
  return false;
}
