// Everything that a run by ticks needs to go on: what is in the store (states, weights, those of
// optimisers, clocks, delays), how many ticks there were, what it has kept and what its watchers
// have seen. Noise depends on the tick, so no generator has a state.
#include "run/sim/ticks_own.h"

#include <math.h>
#include <stdlib.h>

enum { WATCHED = 17 }; // numbers of a watcher

static void watcher_numbers(Watcher *w, double *x, bool put) {
  double *real[] = {&w->first, &w->last,        &w->high,       &w->low,     &w->peak,
                    &w->area,  &w->from,        &w->to,         &w->settled, &w->level,
                    &w->half,  &w->cross_first, &w->cross_last, &w->found};
  uint64_t *count[] = {&w->moments, &w->crossings, &w->periods};
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

// -- saved ----------------------------------------------------------------------------------------
static void add_row(Arena *a, Arrays *all, const char *name, double *data, int64_t n) {
  int64_t *shape = NEW_ARRAY(a, int64_t, 1);
  shape[0] = n;
  vec_push(
      a, &all->array,
      (Array){.name = name, .rank = 1, .shape = shape, .count = n, .data = data, .kind = EL_F64});
}

static void add_states(Arena *a, Arrays *all, Store *s) {
  for (uint32_t i = 0; i < store_count(s); i++) {
    const State *x = store_at(s, i);
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

// No path of a state has a colon in it.
static void add_seen(Arena *a, Arrays *all, const Ticking *t) {
  SimRecord *r = &t->f->record;
  double *watched = NEW_ARRAY(a, double, t->watchers.n *WATCHED + 1);
  for (uint32_t i = 0; i < t->watchers.n; i++) {
    watcher_numbers(&t->watchers.at[i], watched + i * WATCHED, false);
    add_row(a, all, arena_format(a, "run:history.%u", i), t->history[i].at, t->history[i].n);
  }
  add_row(a, all, "run:watch", watched, t->watchers.n * WATCHED);
  add_row(a, all, "run:time", r->time.at, r->time.n);
  for (uint32_t i = 0; i < r->channel.n; i++)
    add_row(a, all, arena_format(a, "run:channel.%u", i), r->channel.at[i].value.at,
            r->channel.at[i].value.n);
}

bool ticks_save(const Ticking *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  if (!how->save) return true;
  Arena *a = arena_child(t->m->arena);
  Arrays all = {0};
  sum_begin(a, &all);
  vec_push(a, &all.metadata,
           (Metadata){"tick", arena_format(a, "%llu", (unsigned long long)t->done)});
  vec_push(a, &all.metadata,
           (Metadata){"begun", arena_format(a, "%llu", (unsigned long long)t->begun)});
  vec_push(a, &all.metadata, (Metadata){"halted", t->f->record.halted ? "1" : "0"});
  add_states(a, &all, t->m->store);
  add_seen(a, &all, t);
  bool good = how->save(how->context, number, &all);
  arena_free(a);
  return good;
}

// -- read back ------------------------------------------------------------------------------------
static uint64_t noted(const Arrays *all, const char *key) {
  const char *text = arrays_metadata(all, key);
  return text ? strtoull(text, NULL, 10) : 0;
}

static bool read_states(const Ticking *t, const SavedRun *from) {
  Store *s = t->m->store;
  for (uint32_t i = 0; i < store_count(s); i++) {
    State *x = store_at(s, i);
    const Array *a = arrays_find(from->arrays, x->path);
    if (!a)
      return diag_refuse(t->m->w->diags, t->m->run->span, "%s has no %s", from->file, x->path);
    if (!state_from_array(t->m->w, x, a, from->file)) return false;
  }
  return true;
}

bool ticks_begin(Ticking *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  SavedRun from = {0};
  t->ticks = (uint64_t)t->m->run->end;
  if (!how->before) return true;
  if (!how->before(how->context, number, &from)) return false;
  if (!from.arrays) return true;
  if (noted(from.arrays, "halted"))
    return diag_refuse(t->m->w->diags, t->m->run->span, "%s has stopped: it does not go on",
                       from.file);
  t->done = t->begun = noted(from.arrays, "tick");
  t->ticks += t->begun;
  return read_states(t, &from);
}

static bool take_row(Arena *a, const Arrays *all, const char *name, TickHistory *to) {
  const Array *x = arrays_find(all, name);
  for (int64_t i = 0; x && i < x->count; i++) vec_push(a, to, x->data[i]);
  return x;
}

static bool read_seen(Ticking *t, const SavedRun *from) {
  SimRecord *r = &t->f->record;
  Arena *a = t->m->arena;
  TickHistory watched = {0}, time = {0};
  bool good = take_row(a, from->arrays, "run:watch", &watched) &&
              watched.n == t->watchers.n * WATCHED && take_row(a, from->arrays, "run:time", &time);
  for (uint32_t i = 0; good && i < t->watchers.n; i++) {
    watcher_numbers(&t->watchers.at[i], watched.at + i * WATCHED, true);
    good = take_row(a, from->arrays, arena_format(a, "run:history.%u", i), &t->history[i]);
  }
  for (uint32_t i = 0; good && i < time.n; i++) vec_push(a, &r->time, time.at[i]);
  for (uint32_t i = 0; good && i < r->channel.n; i++) {
    TickHistory row = {0};
    good = take_row(a, from->arrays, arena_format(a, "run:channel.%u", i), &row);
    for (uint32_t k = 0; good && k < row.n; k++) vec_push(a, &r->channel.at[i].value, row.at[k]);
  }
  return good ||
         diag_refuse(t->m->w->diags, t->m->run->span, "%s is not what this run left", from->file);
}

bool ticks_go_on(Ticking *t, uint32_t number) {
  const SimOptions *how = t->m->how;
  SavedRun from = {0};
  if (!how->saved) return true;
  if (!how->saved(how->context, number, &from)) return false;
  if (!from.arrays) return true;
  t->done = noted(from.arrays, "tick");
  t->begun = noted(from.arrays, "begun");
  t->ticks = t->begun + (uint64_t)t->m->run->end;
  t->f->record.halted = noted(from.arrays, "halted");
  if (t->f->record.halted) t->ticks = t->done;
  if (t->done > t->ticks)
    return diag_refuse(t->m->w->diags, t->m->run->span, "%s is not what this run left", from.file);
  return read_states(t, &from) && read_seen(t, &from);
}
