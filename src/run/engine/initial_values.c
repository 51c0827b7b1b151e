// Initial values of weights and states: from the program, or from arrays of a file. The random noise of
// an entry is keyed by its path, so its initial value depends on the seed and its name alone.
#include "base/diag.h"
#include "core/diagram/interpret.h"
#include "run/engine/engine.h"

bool store_shape(World *w, const Type *t, int64_t *shape, const char *path) {
  if (t->rank <= ARRAY_RANK_LIMIT && engine_shape(w, t, 0, shape)) return true;
  if (type_over_open(w, t, (Span){0})) return false;
  return diag_refuse(w->diags, (Span){0}, "the size of %s is not known: it is %s", path,
                     type_text(w, t));
}

bool store_out_of_memory(World *w, const char *path, const Type *t) {
  diag_error(w->diags, (Span){0}, "out of memory for %s : %s", path, type_text(w, t));
  int64_t count;
  if (type_count(w, t, &count) && count <= STORE_CELLS_LIMIT) w->diags->machine_failed = true;
  return false;
}

// -- by cells -------------------------------------------------------------------------------------
enum { BLOCK = 256, CHUNK = 1 << 14 };

typedef struct {
  const InitCells *cells;
  Number number;
  char *to;
  int64_t count;
  // The caller's denormal mode: initial values keep denormals, which pool threads flush.
  uint64_t tiny;
} FillJob;

static void fill_chunk(void *filling, int64_t task, uint32_t thread) {
  const FillJob *f = filling;
  int64_t first = task * CHUNK, end = first + CHUNK < f->count ? first + CHUNK : f->count;
  double block[BLOCK];
  uint64_t before = pool_flush_denormals();
  (void)thread;
  pool_restore_denormals(f->tiny);
  for (int64_t i = first; i < end; i += BLOCK) {
    int64_t n = end - i < BLOCK ? end - i : BLOCK;
    init_draw(f->cells, i, n, block);
    numbers_set(f->number, f->to + (size_t)i * number_bytes(f->number), block, n);
  }
  pool_restore_denormals(before);
}

// Starting threads pays off for many numbers only.
static void fill_cells(State *s, const InitCells *cells) {
  FillJob f = {cells, s->number, state_writable_data(s), s->count, pool_flush_denormals()};
  pool_restore_denormals(f.tiny);
  int64_t tasks = (s->count + CHUNK - 1) / CHUNK;
  Pool *pool = tasks >= 16 ? pool_new(store_threads(s->store)) : NULL;
  if (pool)
    pool_run(pool, fill_chunk, &f, tasks);
  else
    for (int64_t i = 0; i < tasks; i++) fill_chunk(&f, i, 0);
  pool_free(pool);
}

// -- a state --------------------------------------------------------------------------------------
static bool initialise_whole(World *w, Arena *a, State *state, const Init *init, const Type *t,
                             uint64_t seed) {
  Tensor value = {0};
  if (!init_eval(w, a, init, t, seed, site_hash(0, state->path), &value) ||
      value.count != state->count)
    return false;
  return state_set(state, value.data), true;
}

void state_note_origin(State *state, const Init *init) {
  state->of = init->of;
  state->as = init->as;
}

static bool initialise(World *w, State *state, const Init *init, const Type *t, uint64_t seed,
                       bool added) {
  state_note_origin(state, init);
  Arena *a = arena_child(w->arena);
  const InitCells *cells = init_cells(w, a, init, t, seed, site_hash(0, state->path));
  bool good = cells ? init_cells_count(cells) == state->count
                    : initialise_whole(w, a, state, init, t, seed);
  if (good && cells && !(added && init_cells_zero(cells))) fill_cells(state, cells);
  if (!good)
    diag_error(w->diags, (Span){0}, "%s : %s has no first value", state->path, type_text(w, t));
  arena_free(a);
  return good;
}

bool state_initialise(World *w, State *state, const Init *init, const Type *t, uint64_t seed) {
  return initialise(w, state, init, t, seed, false);
}

bool state_initialise_new(World *w, State *state, const Init *init, const Type *t, uint64_t seed) {
  return initialise(w, state, init, t, seed, true);
}

// A clock without a next value is not stored: engine_set_clocks gives its value.
bool store_add_params(World *w, Store *s, const Diagram *d, uint64_t seed) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *q = &d->param.at[i];
    const Type *t = &d->wire.at[q->wire].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    if ((q->role == ROLE_CLOCK && !q->next) || store_find(s, q->path)) continue;
    if (!store_shape(w, t, shape, q->path)) return false;
    uint32_t number = store_add(s, q->path, t->base, t->rank, shape);
    if (number == STORE_NONE) return store_out_of_memory(w, q->path, t);
    if (!state_initialise_new(w, store_at(s, number), &q->init, t, seed)) return false;
  }
  return true;
}

bool state_from_array(World *w, State *s, const Array *a, const char *file) {
  bool same = a->rank == s->rank;
  for (uint32_t i = 0; same && i < s->rank; i++) same = a->shape[i] == s->shape[i];
  if (same) return state_set(s, a->data), true;
  Array wanted = {.rank = s->rank, .shape = s->shape, .kind = a->kind};
  return diag_refuse(w->diags, (Span){0}, "%s is %s in %s, but the program wants %s", s->path,
                     array_type(w->arena, a), file, array_type(w->arena, &wanted));
}

bool state_from_learner(World *w, State *s, const Array *a, const char *file) {
  bool fits = a->rank <= s->rank;
  uint32_t members = fits ? s->rank - a->rank : 0;
  for (uint32_t i = 0; fits && i < a->rank; i++) fits = a->shape[i] == s->shape[members + i];
  if (!fits) return state_from_array(w, s, a, file);
  Arena *own = arena_child(w->arena);
  double *all = NEW_ARRAY(own, double, s->count + 1);
  for (int64_t i = 0; i < s->count; i++) all[i] = a->data[i % a->count];
  state_set(s, all);
  arena_free(own);
  return true;
}

const Array *state_find(const Arrays *all, const State *s) {
  const Array *a = arrays_find(all, s->path);
  if (!a && s->of) a = arrays_find(all, s->of);
  if (!a && s->as) a = arrays_find(all, s->as);
  return a;
}

bool store_set_arrays(World *w, Store *s, const Arrays *all, const char *file) {
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *state = store_at(s, i);
    const Array *a = state_find(all, state);
    if (a &&
        !(state->of ? state_from_learner(w, state, a, file) : state_from_array(w, state, a, file)))
      return false;
  }
  return true;
}
