// First values of what lasts. A weight or state starts from noise at the site of its path, so its
// first value depends on the seed and its name alone.
#include "run/engine/engine.h"

bool store_shape(World *w, const Type *t, int64_t *shape, const char *path) {
  if (t->rank <= ARRAY_RANK_LIMIT && engine_shape(w, t, 0, shape)) return true;
  if (type_over_open(w, t, (Span){0})) return false;
  return diag_refuse(w->diags, (Span){0}, "the size of %s is not known: it is %s", path,
                     type_text(w, t));
}

bool store_full(World *w, const char *path, const Type *t) {
  diag_error(w->diags, (Span){0}, "out of memory for %s : %s", path, type_text(w, t));
  int64_t count;
  if (type_count(w, t, &count) && count <= STORE_MOST) w->diags->no_memory = true;
  return false;
}

bool state_begin(World *w, State *state, const Init *init, const Type *t, uint64_t seed) {
  Arena *a = arena_child(w->arena);
  Tensor value = {0};
  bool good = init_eval(w, a, init, t, seed, site_hash(0, state->path), &value) &&
              value.count == state->count;
  if (good)
    state_set(state, value.data);
  else
    diag_error(w->diags, (Span){0}, "%s : %s has no first value", state->path, type_text(w, t));
  arena_free(a);
  return good;
}

// A clock that no step moves is the engine's business.
bool store_add_params(World *w, Store *s, const Diagram *d, uint64_t seed) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *q = &d->param.at[i];
    const Type *t = &d->wire.at[q->wire].type;
    int64_t shape[ARRAY_RANK_LIMIT];
    if ((q->role == ROLE_CLOCK && !q->next) || store_find(s, q->path)) continue;
    if (!store_shape(w, t, shape, q->path)) return false;
    uint32_t number = store_add(s, q->path, t->base, t->rank, shape);
    if (number == STORE_NONE) return store_full(w, q->path, t);
    store_at(s, number)->of = q->init.of;
    if (!state_begin(w, store_at(s, number), &q->init, t, seed)) return false;
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

bool store_put(World *w, Store *s, const Arrays *all, const char *file) {
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *state = store_at(s, i);
    const Array *a = arrays_find(all, state->path);
    const Array *of = !a && state->of ? arrays_find(all, state->of) : NULL;
    if (a && !state_from_array(w, state, a, file)) return false;
    if (of && !state_from_learner(w, state, of, file)) return false;
  }
  return true;
}
