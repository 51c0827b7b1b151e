// The saved state that all runs share: the store (states, weights, optimiser states, clocks,
// delays), the record, and the watchers. Noise depends on the tick, so there is no generator state.
#include "base/diag.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/names.h"
#include "base/table.h"
#include "run/sim/saved_own.h"

#include <stdlib.h>

enum {
  WATCHED = 19, // numbers of a watcher
  SAVE_SECONDS = 1
};

static void watcher_numbers(Watcher *w, double *x, bool put) {
  double *real[] = {&w->first, &w->last,        &w->high,       &w->low,     &w->peak,
                    &w->area,  &w->from,        &w->to,         &w->settled, &w->level,
                    &w->half,  &w->cross_first, &w->cross_last, &w->found,   &w->lost};
  uint64_t *count[] = {&w->moments, &w->crossings, &w->periods, &w->looks};
  for (uint32_t i = 0; i < COUNT(real); i++) {
    if (put)
      *real[i] = x[i];
    else
      x[i] = *real[i];
  }
  for (uint32_t i = 0; i < COUNT(count); i++) {
    if (put)
      *count[i] = (uint64_t)x[COUNT(real) + i];
    else
      x[COUNT(real) + i] = (double)*count[i];
  }
}

// -- saving ---------------------------------------------------------------------------------------
void saved_row(Arena *a, Arrays *all, const char *name, double *data, int64_t n) {
  int64_t *shape = NEW_ARRAY(a, int64_t, 1);
  shape[0] = n;
  vec_push(
      a, &all->array,
      (Array){.name = name, .rank = 1, .shape = shape, .count = n, .data = data, .kind = EL_F64});
}

// Constants of the program are not saved: the program is read again and may have changed.
static bool is_constant(const Sim *m, const State *x) {
  return table_get(m->constant, x->path, strlen(x->path));
}

void saved_states(Arena *a, Arrays *all, const Sim *m) {
  for (uint32_t i = 0; i < store_count(m->store); i++) {
    const State *x = store_at(m->store, i);
    if (is_constant(m, x)) continue;
    double *data = NEW_ARRAY(a, double, x->count + 1);
    state_get(x, data);
    vec_push(a, &all->array,
             (Array){.name = x->path,
                     .rank = x->rank,
                     .shape = x->shape,
                     .count = x->count,
                     .data = data,
                     .kind = EL_F64});
  }
}

// A colon never occurs in the path of a state.
void saved_seen(Arena *a, Arrays *all, SimRecord *r, Watchers *w) {
  double *watched = NEW_ARRAY(a, double, w->n *WATCHED + 1);
  for (uint32_t i = 0; i < w->n; i++) watcher_numbers(&w->at[i], watched + i * WATCHED, false);
  saved_row(a, all, "run:watch", watched, w->n * WATCHED);
  saved_row(a, all, "run:time", r->time.at, r->time.n);
  for (uint32_t i = 0; i < r->channel.n; i++)
    saved_row(a, all, arena_format(a, "run:channel.%u", i), r->channel.at[i].value.at,
              r->channel.at[i].value.n);
}

// -- restoring ------------------------------------------------------------------------------------
uint64_t saved_number(const SavedRun *from, const char *key) {
  const char *text = arrays_metadata(from->arrays, key);
  return text ? strtoull(text, NULL, 10) : 0;
}

bool saved_states_read(const Sim *m, const SavedRun *from, const char *moment) {
  Store *s = m->store;
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *x = store_at(s, i);
    if (is_constant(m, x)) continue;
    const Array *a = arrays_find(from->arrays, arena_format(m->arena, "%s%s", moment, x->path));
    if (!a) return diag_refuse(m->w->diags, m->run->span, "%s has no %s", from->file, x->path);
    if (!state_from_array(m->w, x, a, from->file)) return false;
  }
  return true;
}

void saved_starts(const Sim *m, const SavedRun *from) {
  for (uint32_t i = 0; i < m->run->start.n; i++) {
    const RunStart *x = &m->run->start.at[i];
    if (x->kind != SEES_STATE || x->at < m->run->shared) continue;
    diag_warning(m->w->diags, m->run->span,
                 "`%s` continues from %s: the initial value of the run is ignored",
                 name_text(m->w->names, x->name), from->file);
  }
}

bool saved_row_read(Arena *a, const SavedRun *from, const char *name, SavedRow *to) {
  const Array *x = arrays_find(from->arrays, name);
  for (int64_t i = 0; x && i < x->count; i++) vec_push(a, to, x->data[i]);
  return x;
}

bool saved_seen_read(const Sim *m, const SavedRun *from, SimRecord *r, Watchers *w) {
  Arena *a = m->arena;
  SavedRow watched = {0}, time = {0};
  bool good = saved_row_read(a, from, "run:watch", &watched) && watched.n == w->n * WATCHED &&
              saved_row_read(a, from, "run:time", &time);
  for (uint32_t i = 0; good && i < w->n; i++)
    watcher_numbers(&w->at[i], watched.at + i * WATCHED, true);
  for (uint32_t i = 0; good && i < time.n; i++) vec_push(a, &r->time, time.at[i]);
  for (uint32_t i = 0; good && i < r->channel.n; i++) {
    SavedRow row = {0};
    good = saved_row_read(a, from, arena_format(a, "run:channel.%u", i), &row);
    for (uint32_t k = 0; good && k < row.n; k++) vec_push(a, &r->channel.at[i].value, row.at[k]);
  }
  return good || saved_refuse_other(m, from);
}

uint64_t saved_inputs(const Sim *m, uint64_t h, const bool *rows, double *const *table, int64_t n) {
  for (uint32_t i = 0; i < store_count(m->store); i++) {
    const State *x = store_at(m->store, i);
    bool constant = table_get(m->constant, x->path, strlen(x->path));
    if (constant) h = hash_bytes(h, state_data(x), (size_t)x->count * number_bytes(x->number));
  }
  for (uint32_t i = 0; i < m->s->in.n; i++) {
    size_t row = (size_t)sim_in_cells(m, i) * sizeof(double);
    bool moved = rows && rows[i];
    h = moved ? hash_bytes(h, table[i], (size_t)n * row) : hash_bytes(h, m->input[i], row);
  }
  return h;
}

bool saved_refuse_inputs(const Sim *m, const SavedRun *from) {
  return diag_refuse(
      m->w->diags, m->run->span,
      "%s was left by a run with other inputs: a table or a file of constants has changed since",
      from->file);
}

bool saved_refuse_other(const Sim *m, const SavedRun *from) {
  return diag_refuse(m->w->diags, m->run->span, "%s is not what this run left", from->file);
}

bool saved_has_ended(const Sim *m, const SavedRun *from) {
  if (!saved_number(from, "halted")) return false;
  return !diag_refuse(m->w->diags, m->run->span, "%s has stopped, and cannot be continued",
                      from->file);
}

// -- time of saving -------------------------------------------------------------------------------
bool saved_due(SaveClock *c) {
  double now = clock_seconds();
  if (!(c->last > 0)) c->last = now;
  if (now - c->last < SAVE_SECONDS || now - c->last < 20 * c->took) return false;
  c->begun = now;
  return true;
}

void saved_done(SaveClock *c) {
  c->last = clock_seconds();
  c->took = c->last - c->begun;
}
