// The saved state of a run in continuous time: clocks, counts of random numbers, pending births,
// Brownian paths, and the solver with its step size, guards and delayed values.
//
// The end of a run shortens its last steps, so a longer run would make other steps. If it did, the
// saved file also holds a snapshot from before the first shortened step: a run that continues with
// the same dynamics starts from the snapshot, makes the steps of the longer run, and observes only
// what is after the end of the shorter one. If the dynamics have changed, it starts from the end.
#include "run/sim/follow_own.h"

#include <math.h>

// -- as vectors -----------------------------------------------------------------------------------
static uint64_t kind_of(const Run *r) {
  return r->follow == FOLLOW_USUAL ? FOLLOW_DORMAND : (uint64_t)r->follow;
}

static void carry_births(Flow *f, Carry *c) {
  const System *s = f->m->s;
  uint32_t at = 0;
  carry_reals(c, &f->moment, 1);
  carry_bytes(c, f->unborn, f->events);
  carry_counts(c, f->draws, f->events);
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].state.n; k++, at++)
      if (f->birth[at])
        carry_reals(c, f->birth[at],
                    (uint64_t)f->fresh.at[s->event.at[i].state.at[k]].state->count);
}

static void carry_flow(Flow *f, Carry *c) {
  carry_same(c, f->events);
  carry_same(c, f->clock.n);
  carry_same(c, f->white.n);
  carry_same(c, f->driven != NULL);
  if (c->wrong) return;
  for (uint32_t i = 0; i < f->clock.n; i++) carry_counts(c, &f->clock.at[i].done, 1);
  if (f->events) carry_births(f, c);
  for (uint32_t i = 0; i < f->white.n; i++) brownian_carry(f->white.at[i].path, c);
  if (!f->driven) return;
  uint64_t row = (uint64_t)f->driven->at;
  carry_counts(c, &row, 1); // with times, the row follows from the time
  if (c->put && !f->driven->time) flow_row(f, (double)row);
}

// The present state without the solver; *solved: a solver exists.
static void carry_moment(Following *g, Carry *c, double *step, bool *solved) {
  double now = g->reached;
  *step = g->m->run->step;
  *solved = g->solver != NULL;
  carry_same(c, kind_of(g->m->run));
  carry_reals(c, step, 1);
  carry_reals(c, &now, 1);
  carry_counts(c, &g->steps, 1);
  if (c->put) g->reached = now;
  carry_flow(g->flow, c);
  carry_bytes(c, solved, 1);
}

static void carry_happenings(Following *g, Carry *c) {
  SimRecord *r = &g->f->record;
  uint64_t n = r->happening.n;
  carry_counts(c, &n, 1);
  for (uint64_t i = 0; i < n && !c->wrong; i++) {
    Happening h = c->put ? (Happening){0} : r->happening.at[i];
    carry_reals(c, &h.time, 1);
    carry_counts32(c, &h.which, 1);
    carry_counts32(c, &h.place, 1);
    c->wrong |= h.which >= g->flow->events;
    if (c->put && !c->wrong)
      vec_push(g->m->arena, &r->happening, flow_happening(g->flow, h.time, h.which, h.place));
  }
}

static void carry_seen(Following *g, Carry *c) {
  bool turn = g->keeps;
  carry_bytes(c, &turn, 1);
  carry_reals(c, &g->begun, 1);
  carry_bytes(c, &g->seen, 1);
  carry_reals(c, &g->reached, 1);
  carry_counts(c, &g->moment, 1);
  carry_counts(c, &g->f->record.steps, 1);
  carry_bytes(c, &g->over, 1);
  carry_text(c, &g->note);
  carry_happenings(g, c);
}

// -- hash of the dynamics -------------------------------------------------------------------------
static uint64_t hash_ids(uint64_t h, const Ids *x) {
  return x->n ? hash_bytes(h, x->at, x->n * sizeof *x->at) : h;
}

static uint64_t hash_inputs(const Following *g, uint64_t h) {
  const Driven *d = g->flow->driven;
  h = d ? saved_inputs(g->m, h, d->rows, d->table, d->n) : saved_inputs(g->m, h, NULL, NULL, 0);
  return d && d->time ? hash_bytes(h, d->time, (size_t)d->n * sizeof *d->time) : h;
}

// A hash of all that determines how states change.
static const char *law_of(const Following *g) {
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
static const char shot[] = "shot:"; // prefix of the arrays of the snapshot before the last steps

static void add_moment(Following *g, Arena *a, Arrays *all) {
  Carry c = {.arena = a};
  double step;
  bool solved;
  carry_moment(g, &c, &step, &solved);
  if (solved) solver_carry(g->solver, &c);
  saved_states(a, all, g->m);
  saved_row(a, all, "run:flow", c.row.at, c.row.n);
}

void follow_shot(Following *g) {
  if (!g->m->how->save || !g->keeps) return;
  if (g->shot) arena_free(g->shot);
  g->shot = arena_child(g->m->arena);
  g->shot_all = (Arrays){0};
  add_moment(g, g->shot, &g->shot_all);
}

bool follow_save(Following *g) {
  const SimOptions *how = g->m->how;
  if (!how->save) return true;
  Arena *a = arena_child(g->m->arena);
  Arrays all = {0};
  Carry seen = {.arena = a};
  sum_begin(a, &all);
  vec_push(a, &all.metadata, (Metadata){"time", arena_format(a, "%.17g", g->reached)});
  vec_push(a, &all.metadata, (Metadata){"halted", g->f->record.halted ? "1" : "0"});
  vec_push(a, &all.metadata, (Metadata){"law", g->law});
  for (uint32_t i = 0; g->over && g->limited && i < g->shot_all.array.n; i++) {
    Array x = g->shot_all.array.at[i];
    x.name = arena_format(a, "%s%s", shot, x.name);
    vec_push(a, &all.array, x);
  }
  if (g->over && g->solver) // the last evaluation may have been at an earlier time
    flow_put(g->flow, g->reached, solver_state(g->solver), solver_late(g->solver, g->reached));
  add_moment(g, a, &all);
  carry_seen(g, &seen);
  saved_row(a, &all, "run:followed", seen.row.at, seen.row.n);
  saved_seen(a, &all, &g->f->record, &g->watchers);
  bool good = how->save(how->context, g->number, &all);
  arena_free(a);
  return good;
}

// Saves, unless the end of the run has shortened steps: few steps remain then.
bool follow_save_now(Following *g) {
  if (!g->m->how->save || g->limited || !saved_due(&g->clock)) return true;
  bool good = follow_save(g);
  saved_done(&g->clock);
  return good;
}

// -- restoring ------------------------------------------------------------------------------------
static bool read_row(Sim *m, const SavedRun *from, const char *name, Carry *c) {
  SavedRow row = {0};
  *c = (Carry){.arena = m->arena, .put = true};
  if (!saved_row_read(m->arena, from, name, &row)) return saved_strange(m, from);
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
  return is_of_flow(m, before) && !saved_stopped(m, before);
}

bool follow_saved_twice(Sim *m, const SavedRun *saved) {
  SavedRow row = {0};
  return saved->arrays && saved_row_read(m->arena, saved, "run:followed", &row) && row.n &&
         row.at[0] > 0;
}

bool follow_usual_step(Sim *m, const SavedRun *from) {
  const Run *r = m->run;
  SavedRow row = {0};
  bool noisy = r->follow == FOLLOW_MARUYAMA || r->follow == FOLLOW_MILSTEIN;
  if (!noisy || r->step > 0 || !from->arrays || !saved_row_read(m->arena, from, "run:flow", &row) ||
      row.n < 2 || !(row.at[1] > 0))
    return flow_usual_step(m);
  Run *own = NEW(m->arena, Run);
  *own = *r;
  own->step = row.at[1];
  m->run = own;
  return true;
}

static bool is_elsewhere(const Following *g) {
  if (g->resumed) return saved_strange(g->m, g->from);
  return diag_refuse(g->m->w->diags, g->m->run->span,
                     "%s was left by another system, or by another method: there is other to go on "
                     "with than `%s` wants",
                     g->from->file, name_text(g->m->w->names, g->m->s->name));
}

static bool goes_further(const Following *g) {
  const Run *r = g->m->run;
  if (g->begun < r->end) return true;
  return diag_refuse(g->m->w->diags, r->span,
                     "%s has come to %.10g, and this run is `to %.10g`: where it goes on, its end "
                     "has to be behind that",
                     g->from->file, g->begun, r->end);
}

// Increments of noise are known at the ends of steps only.
static bool has_its_steps(const Following *g, double step) {
  const Run *r = g->m->run;
  if (!g->flow->white.n || step == r->step) return true;
  return diag_refuse(g->m->w->diags, r->span,
                     "%s went by steps of %.10g, and this run has steps of %.10g: with noise they "
                     "have to be the same",
                     g->from->file, step, r->step);
}

static bool same_law(const Following *g) {
  const char *law = arrays_metadata(g->from->arrays, "law");
  return law && !strcmp(law, g->law);
}

// The prefix of the arrays to start from: the snapshot, if the dynamics are the same.
static const char *moment_of(Following *g) {
  g->changed = !g->resumed && !same_law(g);
  bool has_shot = arrays_find(g->from->arrays, arena_format(g->m->arena, "%srun:flow", shot));
  return has_shot && !g->resumed && !g->changed ? shot : "";
}

// Ticks are counted from time 0, also if a period has changed.
static void clocks_anew(Following *g) {
  for (uint32_t i = 0; i < g->flow->clock.n; i++) {
    TickClock *c = &g->flow->clock.at[i];
    c->done = (uint64_t)(g->time * c->by / c->every * (1 + 1e-12));
  }
}

// Restores a run: all of it if it was interrupted; if it continues another run, all but the
// observations.
bool follow_restore(Following *g) {
  Carry seen;
  double step;
  bool solved;
  if (g->m->how->save || g->from->arrays) g->law = law_of(g);
  if (!g->from->arrays) return true;
  const char *moment = moment_of(g);
  if (!read_row(g->m, g->from, "run:followed", &seen) ||
      !read_row(g->m, g->from, arena_format(g->m->arena, "%srun:flow", moment), &g->carry))
    return false;
  Followed unused = {0};
  Following other = {.m = g->m, .f = &unused, .flow = g->flow};
  carry_seen(g->resumed ? g : &other, &seen);
  if (seen.wrong) return is_elsewhere(g);
  if (g->resumed) {
    if (!saved_seen_read(g->m, g->from, &g->f->record, &g->watchers)) return false;
    g->f->record.halted = saved_number(g->from, "halted");
  } else {
    g->begun = other.reached;
    if (!goes_further(g)) return false;
    if (g->keeps) saved_starts(g->m, g->from);
  }
  double reached = g->reached;
  carry_moment(g, &g->carry, &step, &solved);
  if (g->carry.wrong) return is_elsewhere(g);
  if (g->resumed && !same_law(g)) return saved_elsewhere(g->m, g->from);
  if (!has_its_steps(g, step) || !saved_states_read(g->m, g->from, moment)) return false;
  g->time = g->reached;
  g->solved = solved;
  if (g->changed) clocks_anew(g);
  if (g->flow->driven && g->flow->driven->time) flow_row(g->flow, g->time);
  if (g->resumed) g->reached = reached;
  if (g->begun > 0 && g->time <= g->begun && !g->changed) g->flow->begun = g->begun * (1 + 1e-12);
  return true;
}

bool follow_restore_solver(Following *g) {
  if (!g->solved) return true;
  solver_carry(g->solver, &g->carry);
  if (g->carry.wrong) return is_elsewhere(g);
  if (g->changed) solver_disturb(g->solver);
  return true;
}
