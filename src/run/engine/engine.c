// Which engine runs a diagram. What every kind needs is made here: the states behind the params,
// and the check that all sizes are numbers but for the samples.
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

static bool fits(Engine *e, const Param *p, const Type *t, const State *s) {
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
    if (p->role == ROLE_CLOCK && !e->state[i]) continue; // the engine's own
    if (!e->state[i])
      diag_error(e->w->diags, (Span){0}, "there is no value for %s : %s", p->path,
                 type_text(e->w, &d->wire.at[p->wire].type));
    if (!e->state[i] || !fits(e, p, &d->wire.at[p->wire].type, e->state[i])) return false;
  }
  return true;
}

static bool has_sizes(Engine *e) {
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

// An engine goes with its arena, and that with the world at the latest.
static void drop(void *what) {
  Engine *e = what;
  if (e->kind && e->kind->free) e->kind->free(e);
}

// Why this device cannot be had for these numbers, or NULL.
static const char *lacks_units(const Engine *e) {
  Precision p = store_precision(e->store);
  return p == PRECISION_BF16 || p == PRECISION_TF32 ? device_lacks_units(e->arena, e->how.device, p)
                                                    : NULL;
}

static bool open_on_device(Engine *e, const char **why) {
  *why = lacks_units(e);
  return !*why && cuda_open(e, why);
}

static bool on_device(const Engine *e) { return e->how.device && !e->how.reference; }

// What a device does not do is no fault of the program.
static void blame_machine(Engine *e) {
  if (on_device(e) && !e->refused && !e->w->diags->muted) e->w->diags->machine_failed = true;
}

// Whether something that was said since has a place in it.
static bool blames_program(const Diags *d, uint32_t since) {
  while (since < d->list.n && !d->list.at[since].span.file) since++;
  return since < d->list.n;
}

Engine *engine_new(World *w, const Diagram *d, Store *store, int64_t samples, const Target *how) {
  Arena *arena = arena_child(w->arena);
  Engine *e = NEW(arena, Engine);
  *e = (Engine){.arena = arena, .w = w, .d = d, .store = store, .samples = samples, .how = *how};
  e->in = NEW_ARRAY(arena, void *, d->in.n + 1);
  e->out = NEW_ARRAY(arena, void *, d->out.n + 1);
  arena_on_free(arena, drop, e);
  if (find_states(e) && has_sizes(e)) {
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

// For fewer *samples where a device has no room for all of them, if these may come in parts; NULL: there is none.
static Engine *find_room(World *w, const Diagram *d, Store *store, int64_t *samples, bool parts,
                         const Target *how) {
  int64_t fewer = *samples;
  Engine *e = try_engine(w, d, store, fewer, how);
  while (!e && w->device_full && parts && fewer > 1)
    e = try_engine(w, d, store, fewer = (fewer + 1) / 2, how);
  if (e) *samples = fewer;
  return e;
}

Engine *engine_with_room(World *w, const Diagram *d, Store *store, int64_t *samples, bool parts,
                         const Target *how) {
  Target cpu = *how;
  if (!how->device || how->reference) return engine_new(w, d, store, *samples, how);
  Engine *e = find_room(w, d, store, samples, parts, how);
  if (e) return e;
  if (!w->device_full || !how->or_cpu) return engine_new(w, d, store, *samples, how); // it says why
  cpu.device = NULL;
  e = engine_new(w, d, store, *samples, &cpu);
  if (e)
    diag_warning(w->diags, (Span){0}, "%s has no room for what is asked for here: the CPU does it",
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

// Files give states, and places in memory are made of labels: what is none never gets there.
static bool labels_fit(Engine *e) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const Type *t = &e->d->wire.at[e->d->param.at[i].wire].type;
    const State *s = e->state[i];
    int64_t count;
    if (t->base != BASE_LABEL || !s || !size_value(e->w, t->count, &count)) continue;
    for (int64_t k = 0; k < s->count; k++) {
      int32_t x = ((const int32_t *)state_here(s))[k];
      if (x >= 0 && x < count) continue;
      e->refused = true;
      e->error = arena_format(e->arena, "%s holds %d, which is not one of its %lld labels", s->path,
                              (int)x, (long long)count);
      return false;
    }
  }
  return e->ran = true;
}

static RunStatus looked_at(Engine *e, RunStatus status) {
  if (status == RUN_FAILED) blame_machine(e);
  return status;
}

// A run here of what is on a device, too: what that has changed comes here first, and what the run changes goes there again.
static void bring_states(Engine *e) {
  if (on_device(e) || !store_is_mirrored(e->store)) return;
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    if (!e->state[i]) continue;
    if (e->d->param.at[i].next)
      state_changed(e->state[i]);
    else
      state_here(e->state[i]);
  }
}

static RunStatus run_now(Engine *e, int64_t n, uint64_t step) {
  bring_states(e);
  return e->kind->run(e, n, step);
}

RunStatus engine_run(Engine *e, int64_t n, uint64_t step) {
  return looked_at(e, e->ran || labels_fit(e) ? run_now(e, n, step) : RUN_FAILED);
}

// On a CPU a run is done when it is queued.
uint32_t engine_room(const Engine *e) { return e->kind->room ? e->kind->room(e) : 1; }

bool engine_queue(Engine *e, int64_t n, uint64_t step) {
  if (!e->ran && !labels_fit(e)) return false;
  if (e->kind->queue)
    return looked_at(e, e->kind->queue(e, n, step) ? RUN_GOOD : RUN_FAILED) == RUN_GOOD;
  e->waits = run_now(e, n, step);
  return e->waits != RUN_FAILED;
}

RunStatus engine_next(Engine *e) {
  return looked_at(e, e->kind->next ? e->kind->next(e) : e->waits);
}

const char *engine_error(const Engine *e) { return e->error ? e->error : ""; }
void engine_plan(const Engine *e, Buf *b) { e->kind->plan(e, b); }
const char *engine_says(const Engine *e) { return e->says; }
bool engine_prebuilt(const Engine *e) { return e->prebuilt; }
bool engine_is_whole(const Engine *e) { return e->whole; }
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
bool engine_brings(const Engine *e, uint32_t i) {
  const State *s = e->state[i];
  return s && !s->rank && s->base == BASE_R && s->number != NUMBER_F64;
}

void engine_cache_word(const Engine *e, const char *word) {
  if (word && !e->w->cc_warned) diag_warning(e->w->diags, (Span){0}, "%s", word);
  e->w->cc_warned |= word != NULL;
}

void engine_clocks(const Engine *e, uint64_t step, double *clock) {
  for (uint32_t i = 0; i < e->d->param.n; i++) {
    const Param *p = &e->d->param.at[i];
    if (p->role != ROLE_CLOCK || e->state[i]) continue;
    size_t n = strlen(p->path);
    clock[i] = n >= 5 && !strcmp(p->path + n - 5, "steps") ? e->how.steps : (double)step;
  }
}

bool engine_finite(const Engine *e) {
  for (uint32_t i = 0; i < e->d->out.n; i++) {
    const Type *t = &e->d->wire.at[e->d->out.at[i]].type;
    if (!t->rank && t->base == BASE_R && !isfinite(*(const double *)e->out[i])) return false;
  }
  return true;
}

bool engine_takes(Engine *e, int64_t n) {
  if (!e->whole || n == e->samples) return true;
  e->refused = true;
  e->error = arena_format(e->arena,
                          "this program is compiled for %lld samples at once, not for %lld: a "
                          "size in it is not a multiple of their number",
                          (long long)e->samples, (long long)n);
  return false;
}
