// The saved state of a run in continuous time: clocks, counts of random numbers, pending births,
// Brownian paths, and the solver with its step size, guards and delayed values.
//
// The end of a run shortens its last steps, so a longer run would make other steps. If it did, the
// saved file also holds a snapshot from before the first shortened step: a run that continues with
// the same dynamics starts from the snapshot, makes the steps of the longer run, and observes only
// what is after the end of the shorter one. If the dynamics have changed, it starts from the end.
#include "base/diag.h"
#include "base/hash.h"
#include "base/names.h"
#include "core/diagram/print.h"
#include "run/sim/continuous_own.h"

#include <math.h>

// -- as vectors -----------------------------------------------------------------------------------
static uint64_t kind_of(const Run *r) {
  return r->follow == FOLLOW_USUAL ? FOLLOW_DORMAND : (uint64_t)r->follow;
}

static void archive_births(Flow *f, Archive *c) {
  const System *s = f->m->s;
  uint32_t at = 0;
  archive_reals(c, &f->moment, 1);
  archive_bytes(c, f->true_at_start, f->events);
  archive_counts(c, f->event_count, f->events);
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].state.n; k++, at++)
      if (f->birth[at])
        archive_reals(c, f->birth[at],
                      (uint64_t)f->updates.at[s->event.at[i].state.at[k]].state->count);
}

static void archive_flow(Flow *f, Archive *c) {
  archive_same(c, f->events);
  archive_same(c, f->clock.n);
  archive_same(c, f->white.n);
  archive_same(c, f->table_inputs != NULL);
  if (c->wrong) return;
  for (uint32_t i = 0; i < f->clock.n; i++) archive_counts(c, &f->clock.at[i].done, 1);
  if (f->events) archive_births(f, c);
  for (uint32_t i = 0; i < f->white.n; i++) brownian_archive(f->white.at[i].path, c);
  if (!f->table_inputs) return;
  uint64_t row = (uint64_t)f->table_inputs->at;
  archive_counts(c, &row, 1); // with times, the row follows from the time
  if (c->reading && !f->table_inputs->time) flow_select_row(f, (double)row);
}

// The present state without the solver; *solved: a solver exists.
static void archive_moment(ContinuousRun *g, Archive *c, double *step, bool *solved) {
  double now = g->reached;
  *step = g->m->run->step;
  *solved = g->solver != NULL;
  archive_same(c, kind_of(g->m->run));
  archive_reals(c, step, 1);
  archive_reals(c, &now, 1);
  archive_counts(c, &g->steps, 1);
  if (c->reading) g->reached = now;
  archive_flow(g->flow, c);
  archive_bytes(c, solved, 1);
}

static void archive_event_log(ContinuousRun *g, Archive *c) {
  SimRecord *r = &g->f->record;
  uint64_t n = r->events_logged.n;
  archive_counts(c, &n, 1);
  for (uint64_t i = 0; i < n && !c->wrong; i++) {
    LoggedEvent h = c->reading ? (LoggedEvent){0} : r->events_logged.at[i];
    archive_reals(c, &h.time, 1);
    archive_counts32(c, &h.which, 1);
    archive_counts32(c, &h.place, 1);
    c->wrong |= h.which >= g->flow->events;
    if (c->reading && !c->wrong)
      vec_push(g->m->arena, &r->events_logged, flow_log_entry(g->flow, h.time, h.which, h.place));
  }
}

static void archive_seen(ContinuousRun *g, Archive *c) {
  bool turn = g->records;
  archive_bytes(c, &turn, 1);
  archive_reals(c, &g->begun, 1);
  archive_bytes(c, &g->seen, 1);
  archive_reals(c, &g->reached, 1);
  archive_counts(c, &g->moment, 1);
  archive_counts(c, &g->f->record.steps, 1);
  archive_bytes(c, &g->over, 1);
  archive_text(c, &g->note);
  archive_event_log(g, c);
}

// -- hash of the dynamics -------------------------------------------------------------------------
static uint64_t hash_ids(uint64_t h, const Ids *x) {
  return x->n ? hash_bytes(h, x->at, x->n * sizeof *x->at) : h;
}

static uint64_t hash_inputs(const ContinuousRun *g, uint64_t h) {
  const TableInputs *d = g->flow->table_inputs;
  h = d ? saved_inputs(g->m, h, d->rows, d->table, d->n) : saved_inputs(g->m, h, NULL, NULL, 0);
  return d && d->time ? hash_bytes(h, d->time, (size_t)d->n * sizeof *d->time) : h;
}

// A hash of all that determines how states change.
static const char *dynamics_hash(const ContinuousRun *g) {
  const System *s = g->m->s;
  Buf b = buf_new(g->m->arena);
  diagram_print(g->m->w, s->d, &b, false);
  uint64_t h = hash_bytes(HASH_START, b.at, b.n);
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    h = hash_bytes(h, (Id[]){x->rate, x->next}, 2 * sizeof(Id));
    h = hash_bytes(h, &x->every, sizeof x->every);
  }
  for (uint32_t i = 0; i < s->event.n; i++) {
    const SystemEvent *x = &s->event.at[i];
    h = hash_ids(hash_ids(hash_bytes(h, &x->guard, sizeof x->guard), &x->value), &x->named);
  }
  for (uint32_t i = 0; i < s->lag.n; i++) {
    h = hash_bytes(h, &s->lag.at[i].value, sizeof(Id));
    h = hash_bytes(h, &s->lag.at[i].time, sizeof(double));
  }
  h = hash_bytes(h, &g->m->how->seed, sizeof g->m->how->seed);
  return arena_format(g->m->arena, "%016llx", (unsigned long long)hash_inputs(g, h));
}

// -- saving ---------------------------------------------------------------------------------------
static const char snapshot_prefix[] =
    "shot:"; // prefix of the arrays of the snapshot before the last steps

static void add_moment(ContinuousRun *g, Arena *a, Arrays *all) {
  Archive c = {.arena = a};
  double step;
  bool solved;
  archive_moment(g, &c, &step, &solved);
  if (solved) solver_archive(g->solver, &c);
  saved_states(a, all, g->m);
  saved_row(a, all, "run:flow", c.row.at, c.row.n);
}

void follow_take_snapshot(ContinuousRun *g) {
  if (!g->m->how->save || !g->records) return;
  if (g->snapshot) arena_free(g->snapshot);
  g->snapshot = arena_child(g->m->arena);
  g->snapshot_arrays = (Arrays){0};
  add_moment(g, g->snapshot, &g->snapshot_arrays);
}

bool follow_save(ContinuousRun *g) {
  const SimOptions *how = g->m->how;
  if (!how->save) return true;
  Arena *a = arena_child(g->m->arena);
  Arrays all = {0};
  Archive seen = {.arena = a};
  sum_begin(a, &all);
  vec_push(a, &all.metadata, (Metadata){"time", arena_format(a, "%.17g", g->reached)});
  vec_push(a, &all.metadata, (Metadata){"halted", g->f->record.halted ? "1" : "0"});
  vec_push(a, &all.metadata, (Metadata){"law", g->dynamics});
  for (uint32_t i = 0; g->over && g->limited && i < g->snapshot_arrays.array.n; i++) {
    Array x = g->snapshot_arrays.array.at[i];
    x.name = arena_format(a, "%s%s", snapshot_prefix, x.name);
    vec_push(a, &all.array, x);
  }
  if (g->over && g->solver) // the last evaluation may have been at an earlier time
    flow_set_point(g->flow, g->reached, solver_state(g->solver),
                   solver_delayed(g->solver, g->reached));
  add_moment(g, a, &all);
  archive_seen(g, &seen);
  saved_row(a, &all, "run:followed", seen.row.at, seen.row.n);
  saved_seen(a, &all, &g->f->record, &g->watchers);
  bool good = how->save(how->context, g->number, &all);
  arena_free(a);
  return good;
}

// Saves, unless the end of the run has shortened steps: few steps remain then.
bool follow_save_now(ContinuousRun *g) {
  if (!g->m->how->save || g->limited || !saved_due(&g->clock)) return true;
  bool good = follow_save(g);
  saved_done(&g->clock);
  return good;
}

// -- restoring ------------------------------------------------------------------------------------
static bool read_row(Sim *m, const SavedRun *from, const char *name, Archive *c) {
  SavedRow row = {0};
  *c = (Archive){.arena = m->arena, .reading = true};
  if (!saved_row_read(m->arena, from, name, &row)) return saved_refuse_other(m, from);
  for (uint32_t i = 0; i < row.n; i++) vec_push(m->arena, &c->row, row.at[i]);
  return true;
}

static bool is_of_flow(Sim *m, const SavedRun *from) {
  if (!arrays_metadata(from->arrays, "tick")) return true;
  return diag_refuse(m->w->diags, m->run->span, "%s is of a run by ticks, and `%s` flows",
                     from->file, name_text(m->w->names, m->s->name));
}

bool follow_from(Sim *m, uint32_t number, SavedRun *saved, SavedRun *before) {
  const SimOptions *how = m->how;
  *saved = *before = (SavedRun){0};
  if (how->saved && !how->saved(how->context, number, saved)) return false;
  if (how->before && !how->before(how->context, number, before)) return false;
  if (saved->arrays && !is_of_flow(m, saved)) return false;
  if (!before->arrays) return true;
  return is_of_flow(m, before) && !saved_has_ended(m, before);
}

bool follow_saved_in_second_pass(Sim *m, const SavedRun *saved) {
  SavedRow row = {0};
  return saved->arrays && saved_row_read(m->arena, saved, "run:followed", &row) && row.n &&
         row.at[0] > 0;
}

bool follow_saved_step(Sim *m, const SavedRun *from) {
  const Run *r = m->run;
  SavedRow row = {0};
  bool noisy = r->follow == FOLLOW_MARUYAMA || r->follow == FOLLOW_MILSTEIN;
  if (!noisy || r->step > 0 || !from->arrays || !saved_row_read(m->arena, from, "run:flow", &row) ||
      row.n < 2 || !(row.at[1] > 0))
    return flow_default_step(m);
  Run *own = NEW(m->arena, Run);
  *own = *r;
  own->step = row.at[1];
  m->run = own;
  return true;
}

static bool is_elsewhere(const ContinuousRun *g) {
  if (g->resumed) return saved_refuse_other(g->m, g->from);
  return diag_refuse(
      g->m->w->diags, g->m->run->span,
      "%s was left by another system, or by another method: its state does not fit `%s`",
      g->from->file, name_text(g->m->w->names, g->m->s->name));
}

static bool ends_later(const ContinuousRun *g) {
  const Run *r = g->m->run;
  if (g->begun < r->end) return true;
  return diag_refuse(
      g->m->w->diags, r->span,
      "%s has reached %.10g, and this run is `to %.10g`: a run that continues it must end later",
      g->from->file, g->begun, r->end);
}

// Increments of noise are known at the ends of steps only.
static bool has_its_steps(const ContinuousRun *g, double step) {
  const Run *r = g->m->run;
  if (!g->flow->white.n || step == r->step) return true;
  return diag_refuse(
      g->m->w->diags, r->span,
      "%s has steps of %.10g, and this run has steps of %.10g: with noise both must be equal",
      g->from->file, step, r->step);
}

static bool same_dynamics(const ContinuousRun *g) {
  const char *law = arrays_metadata(g->from->arrays, "law");
  return law && !strcmp(law, g->dynamics);
}

// The prefix of the arrays to start from: the snapshot, if the dynamics are the same.
static const char *moment_of(ContinuousRun *g) {
  g->changed = !g->resumed && !same_dynamics(g);
  bool has_shot =
      arrays_find(g->from->arrays, arena_format(g->m->arena, "%srun:flow", snapshot_prefix));
  return has_shot && !g->resumed && !g->changed ? snapshot_prefix : "";
}

// Ticks are counted from time 0, also if a period has changed.
static void recount_ticks(ContinuousRun *g) {
  for (uint32_t i = 0; i < g->flow->clock.n; i++) {
    TickClock *c = &g->flow->clock.at[i];
    c->done = (uint64_t)(g->time * c->by / c->every * (1 + 1e-12));
  }
}

// Restores a run: all of it if it was interrupted; if it continues another run, all but the
// observations.
bool follow_restore(ContinuousRun *g) {
  Archive seen;
  double step;
  bool solved;
  if (g->m->how->save || g->from->arrays) g->dynamics = dynamics_hash(g);
  if (!g->from->arrays) return true;
  const char *moment = moment_of(g);
  if (!read_row(g->m, g->from, "run:followed", &seen) ||
      !read_row(g->m, g->from, arena_format(g->m->arena, "%srun:flow", moment), &g->archive))
    return false;
  Followed unused = {0};
  ContinuousRun other = {.m = g->m, .f = &unused, .flow = g->flow};
  archive_seen(g->resumed ? g : &other, &seen);
  if (seen.wrong) return is_elsewhere(g);
  if (g->resumed) {
    if (!saved_seen_read(g->m, g->from, &g->f->record, &g->watchers)) return false;
    g->f->record.halted = saved_number(g->from, "halted");
  } else {
    g->begun = other.reached;
    if (!ends_later(g)) return false;
    if (g->records) saved_starts(g->m, g->from);
  }
  double reached = g->reached;
  archive_moment(g, &g->archive, &step, &solved);
  if (g->archive.wrong) return is_elsewhere(g);
  if (g->resumed && !same_dynamics(g)) return saved_refuse_inputs(g->m, g->from);
  if (!has_its_steps(g, step) || !saved_states_read(g->m, g->from, moment)) return false;
  g->time = g->reached;
  g->solved = solved;
  if (g->changed) recount_ticks(g);
  if (g->flow->table_inputs && g->flow->table_inputs->time) flow_select_row(g->flow, g->time);
  if (g->resumed) g->reached = reached;
  if (g->begun > 0 && g->time <= g->begun && !g->changed) g->flow->begun = g->begun * (1 + 1e-12);
  return true;
}

bool follow_restore_solver(ContinuousRun *g) {
  if (!g->solved) return true;
  solver_archive(g->solver, &g->archive);
  if (g->archive.wrong) return is_elsewhere(g);
  if (g->changed) solver_inputs_changed(g->solver);
  return true;
}
