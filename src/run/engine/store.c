// The memory of weights and states. Takes paths and types; gives memory that outlives every step.
//
// Each entry is a block of its own, aligned for vector loads, that never moves: engines keep pointers
// into it. A part is a slice of another entry under its own path: the weights that one optimiser updates
// together are contiguous, and each keeps its name. The hash covers whole entries, in the order in which
// they were added.
#include "base/hash.h"
#include "base/table.h"
#include "run/engine/engine.h"

#include <stdlib.h>

enum { STATE_ALIGN = 64 };

struct Store {
  Arena *arena;
  Table *paths; // path → number of the entry + 1
  VEC(State *) state;
  uint32_t complete; // entries whose memory is allocated
  StoreMirror mirror;
  Precision precision;
  uint32_t threads;
};

// -- making ---------------------------------------------------------------------------------------
static bool store_make_paths(Store *s) {
  Guard g;
  if (!GUARDED(s->arena, &g)) return false;
  s->paths = table_new(s->arena);
  guard_leave(&g);
  return true;
}

Store *store_new(Precision precision) {
  Store *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->precision = precision;
  s->arena = arena_new();
  if (s->arena && store_make_paths(s)) return s;
  store_free(s);
  return NULL;
}

void store_free(Store *s) {
  if (!s) return;
  for (uint32_t i = 0; i < s->state.n; i++) {
    if (s->state.at[i]->device_address) s->mirror.drop(s->mirror.of, s->state.at[i]);
    free(s->state.at[i]->allocation);
  }
  arena_free(s->arena);
  free(s);
}

static bool count_of(uint32_t rank, const int64_t *shape, int64_t *count) {
  *count = 1;
  for (uint32_t i = 0; i < rank; i++)
    if (shape[i] < 0 || __builtin_mul_overflow(*count, shape[i], count)) return false;
  return *count <= STORE_CELLS_LIMIT;
}

// An entry without memory; the caller sets `data`. NULL: the path is taken or the shape is too large.
static State *state_new(Store *s, const char *path, uint32_t rank, const int64_t *shape) {
  int64_t count;
  if (store_find(s, path) || !count_of(rank, shape, &count)) return NULL;
  State *state = NEW(s->arena, State);
  state->path = arena_text(s->arena, path, strlen(path));
  state->rank = rank;
  state->shape = arena_copy(s->arena, shape, rank * sizeof *shape);
  state->count = count;
  state->store = s;
  return state;
}

static uint32_t state_put(Store *s, State *state) {
  vec_push(s->arena, &s->state, state);
  table_put(s->paths, state->path, strlen(state->path), s->state.n);
  return s->complete++;
}

// After a failed allocation: removes the incomplete entry.
static uint32_t store_rollback(Store *s) {
  s->state.n = s->complete;
  return STORE_NONE;
}

static uint32_t add_whole(Store *s, const char *path, Base base, uint32_t rank,
                          const int64_t *shape) {
  State *state = state_new(s, path, rank, shape);
  if (!state) return STORE_NONE;
  state->base = base;
  state->number = number_of(s->precision, base, rank);
  state->whole = s->complete;
  state_put(s, state);
  size_t bytes = (size_t)state->count * number_bytes(state->number);
  bytes = (bytes / STATE_ALIGN + 1) * STATE_ALIGN;
  state->allocation = calloc(1, bytes + STATE_ALIGN); // the kernel maps its pages on first use
  if (!state->allocation) return s->complete--, store_rollback(s);
  uintptr_t at = (uintptr_t)state->allocation;
  state->data = (char *)state->allocation + (STATE_ALIGN - at % STATE_ALIGN);
  return state->whole;
}

uint32_t store_add(Store *s, const char *path, Base base, uint32_t rank, const int64_t *shape) {
  Guard g;
  if (!GUARDED(s->arena, &g)) return store_rollback(s);
  uint32_t at = add_whole(s, path, base, rank, shape);
  guard_leave(&g);
  return at;
}

static uint32_t add_part(Store *s, const char *path, uint32_t whole, int64_t offset, uint32_t rank,
                         const int64_t *shape) {
  State *state = state_new(s, path, rank, shape);
  const State *of = s->state.at[whole];
  if (!state || offset < 0 || offset > of->count - state->count) return STORE_NONE;
  state->base = of->base;
  state->number = of->number;
  state->whole = whole;
  state->offset = offset;
  state->data = (char *)of->data + (size_t)offset * number_bytes(of->number);
  return state_put(s, state);
}

uint32_t store_part(Store *s, const char *path, uint32_t whole, int64_t offset, uint32_t rank,
                    const int64_t *shape) {
  Guard g;
  if (!GUARDED(s->arena, &g)) return store_rollback(s);
  uint32_t at = add_part(s, path, whole, offset, rank, shape);
  guard_leave(&g);
  return at;
}

// -- using ----------------------------------------------------------------------------------------
Precision store_precision(const Store *s) { return s->precision; }
uint32_t store_threads(const Store *s) { return s->threads; }
void store_set_threads(Store *s, uint32_t threads) { s->threads = threads; }
void store_set_precision(Store *s, Precision precision) { s->precision = precision; }
uint32_t store_count(const Store *s) { return s->state.n; }
State *store_at(Store *s, uint32_t i) { return s->state.at[i]; }

State *store_find(Store *s, const char *path) {
  Id at = table_get(s->paths, path, strlen(path));
  return at && at <= s->complete ? s->state.at[at - 1] : NULL;
}

void store_mirror(Store *s, const StoreMirror *mirror) { s->mirror = *mirror; }

bool store_is_mirrored(const Store *s) { return s->mirror.of != NULL; }

void *state_data(const State *s) {
  State *whole = s->store->state.at[s->whole];
  if (whole->device_newer) s->store->mirror.fetch(s->store->mirror.of, whole);
  whole->device_newer = false;
  return s->data;
}

void *state_writable_data(State *s) {
  void *data = state_data(s);
  State *whole = s->store->state.at[s->whole];
  whole->host_newer = true;
  whole->changes++;
  return data;
}

void state_set(State *s, const double *value) {
  numbers_set(s->number, state_writable_data(s), value, s->count);
}
void state_get(const State *s, double *value) {
  numbers_get(s->number, state_data(s), value, s->count);
}

// Hashes whole 64-bit words: the padding after the last number is 0.
uint64_t store_hash(const Store *s) {
  uint64_t h = HASH_START, word;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const State *state = s->state.at[i];
    const char *bytes = state_data(state);
    size_t n = (size_t)state->count * number_bytes(state->number);
    if (state->whole != i) continue;
    for (size_t k = 0; k < n; k += sizeof word) {
      memcpy(&word, bytes + k, sizeof word);
      h = (h ^ word) * 0x9E3779B97F4A7C15u;
      h ^= h >> 29;
    }
  }
  return h;
}
