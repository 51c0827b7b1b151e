// A run in discrete time: some hundred ticks are one compiled scan, which is called repeatedly.
#include "base/diag.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/stop.h"
#include "run/sim/discrete_own.h"

#include <math.h>

enum {
  NUMBERS_AT_ONCE = 1 << 20,
  TICKS_AT_ONCE = 4096,
  MOMENTS_KEPT = 100000,
  WORK_AT_ONCE = 1 << 28
};

// -- watched values -------------------------------------------------------------------------------
// The ticks between the last two upward crossings of the middle.
static double row_period(const double *x, int64_t n) {
  double high = -1e300, low = 1e300, last = -1, before = -1;
  for (int64_t i = n / 2; i < n; i++)
    high = x[i] > high ? x[i] : high, low = x[i] < low ? x[i] : low;
  double middle = (high + low) / 2;
  for (int64_t i = n / 2 + 1; i < n; i++)
    if (x[i - 1] <= middle && x[i] > middle) before = last, last = (double)i;
  return before < 0 ? 0.0 / 0.0 : last - before;
}

// A label or an array as one number that changes when it does.
static double one_number(const double *x, int64_t cells) {
  if (cells == 1) return *x;
  return (double)(hash_bytes(1469598103934665603u, x, (size_t)cells * sizeof *x) >> 12);
}

// -- rows of ticks --------------------------------------------------------------------------------
// A long run does not record every tick; the last one is recorded.
static bool is_recorded(const DiscreteRun *t, uint64_t tick) {
  return tick % t->every == 0 || tick + 1 == t->ticks;
}

// Copies the values of one tick; false: not finite.
static bool get_tick(Engine *e, uint32_t out, const SimChannel *c, uint64_t i, double *row) {
  Number number = engine_out_number(e, out);
  const char *from = engine_out(e, out);
  numbers_get(number, from + i * (size_t)c->cells * number_bytes(number), row, c->cells);
  for (int64_t k = 0; c->base == BASE_R && k < c->cells; k++)
    if (!isfinite(row[k])) return false;
  return true;
}

static void record_tick(DiscreteRun *t, Engine *e, uint32_t out, SimChannel *c, uint64_t i,
                        double *row) {
  t->bad |= !get_tick(e, out, c, i, row);
  for (int64_t k = 0; k < c->cells; k++) vec_push(t->m->arena, &c->value, row[k]);
}

// Records the recorded ticks only.
static void record_ticks(DiscreteRun *t, Engine *e, uint32_t out, SimChannel *c, int64_t ticks,
                         double *row) {
  uint64_t end = (uint64_t)ticks, first = (t->every - t->done % t->every) % t->every;
  for (uint64_t i = first; i < end; i += t->every) record_tick(t, e, out, c, i, row);
  uint64_t last = t->ticks - 1;
  if (last >= t->done && last < t->done + end && last % t->every)
    record_tick(t, e, out, c, last - t->done, row);
}

// -- numbers that are not finite ------------------------------------------------------------------
// Writes the states of one tick of the scan into the store.
static void set_states(const DiscreteRun *t, Engine *e, uint64_t tick, double *row) {
  for (uint32_t i = 0; i < t->see.n; i++) {
    const Sight *x = &t->m->sights.at[t->see.sight[i]];
    if (x->kind != SEES_STATE) continue;
    get_tick(e, i, &t->f->record.channel.at[t->see.sight[i]], tick, row);
    state_set(sim_state(t->m, x->at), row);
  }
  for (uint32_t i = 0; i < t->m->s->in.n; i++) {
    int64_t n = sim_in_cells(t->m, i);
    if (t->rows[i])
      memcpy(t->m->input[i], t->table[i] + (int64_t)(t->done + tick) * n,
             (size_t)n * sizeof(double));
  }
  double time = (double)(t->done + tick);
  state_set(sim_clock(t->m, "time"), &time);
}

// The first tick with a value that is not finite, and its observable; a state had the value one
// tick earlier.
static uint32_t find_nonfinite(const DiscreteRun *t, Engine *e, int64_t ticks, double *row,
                               uint64_t *tick) {
  const SimRecord *r = &t->f->record;
  for (*tick = 0; *tick < (uint64_t)ticks; ++*tick)
    for (uint32_t i = t->shows; i-- > 0;) {
      uint32_t c = sight_channel(&t->see, r, i);
      if (!get_tick(e, i, &r->channel.at[c], *tick, row)) return c;
    }
  return 0;
}

// Truncates the record: values after the failing tick are invalid.
static void truncate_record(DiscreteRun *t, uint64_t last) {
  SimRecord *r = &t->f->record;
  while (r->time.n && r->time.at[r->time.n - 1] > (double)last) r->time.n--;
  for (uint32_t i = 0; i < r->channel.n; i++) {
    SimChannel *c = &r->channel.at[i];
    if ((int64_t)c->value.n > (int64_t)r->time.n * c->cells)
      c->value.n = r->time.n * (uint32_t)c->cells;
  }
}

// Runs the failing tick again by the interpreter, to report the expression that made the value.
static bool report_nonfinite(DiscreteRun *t, Engine *e, int64_t ticks, double *row) {
  Sim *m = t->m;
  uint64_t tick;
  uint32_t c = find_nonfinite(t, e, ticks, row, &tick);
  truncate_record(t, t->done + tick);
  bool state = c < m->sights.n && m->sights.at[c].kind == SEES_STATE;
  set_states(t, e, state && tick ? tick - 1 : tick, row);
  Ids wire = {0};
  for (uint32_t i = 0; i < m->s->out.n; i++) vec_push(m->arena, &wire, m->s->d->out.at[i]);
  for (uint32_t i = 0; i < m->s->state.n; i++)
    if (m->s->state.at[i].next) vec_push(m->arena, &wire, m->s->state.at[i].next);
  SimOptions how = *m->how;
  Sim again = *m;
  how.reference = true;
  again.how = &how;
  Engine *one = sim_engine(&again, pick_wires(m->w, m->s, wire.at, wire.n));
  Span span = {0};
  const char *why = NULL;
  if (one && engine_run(one, 0, 0) == RUN_NOT_FINITE)
    why = engine_trace_nonfinite(one, 0, 0, &span);
  if (state && !(t->done + tick))
    diag_error(m->w->diags, why && span.file ? span : m->run->span,
               "`%s` is not finite at the start", t->f->record.channel.at[c].name);
  else
    diag_error(m->w->diags, why && span.file ? span : m->run->span,
               "`%s` is not finite at tick %llu%s%s", t->f->record.channel.at[c].name,
               (unsigned long long)(t->done + tick), why ? ": " : "", why ? why : "");
  if (one) engine_free(one);
  return false;
}

static bool due_at(const void *context, const SystemWriter *x) {
  const DiscreteRun *t = context;
  return fmod((double)t->conflict, x->every) < 0.5;
}

// If lines conflicted at a tick: runs it again to report which.
static bool refuse_conflict(DiscreteRun *t, Engine *e, int64_t ticks, double *row) {
  Sim *m = t->m;
  if (!m->s->writer.n) return true;
  engine_get(e, t->see.n + t->see.nseen, row, ticks);
  for (int64_t i = 0; i < ticks; i++) {
    if (!(row[i] > 0)) continue;
    t->conflict = t->done + (uint64_t)i;
    truncate_record(t, t->conflict);
    set_states(t, e, (uint64_t)i, row);
    const char *when = arena_format(m->arena, "tick %llu", (unsigned long long)t->conflict);
    Engine *one = conflict_engine(m);
    if (one && sim_run(m, one, t->conflict)) conflict_report(m, one, due_at, t, when);
    if (one) engine_free(one);
    return false;
  }
  return true;
}

static int64_t seen_cells(const DiscreteRun *t, const Seen *x) {
  return sim_cells(t->m, &x->diagram->wire.at[x->diagram->out.at[0]].type);
}

// The number of ticks until the system stopped.
static int64_t ticks_until_stop(DiscreteRun *t, Engine *e, int64_t ticks, double *row) {
  const System *s = t->m->s;
  if (s->halt.n) engine_get(e, t->see.n + t->see.nseen + (s->writer.n > 0), row, ticks);
  for (int64_t i = 0; s->halt.n && i < ticks; i++) {
    if (row[i] > 0) continue;
    t->f->record.halted = true;
    t->ticks = t->done + (uint64_t)i + 1;
    return i + 1;
  }
  return ticks;
}

static bool run_ticks(DiscreteRun *t, Engine *e, int64_t ticks, Watchers *watchers, double *row) {
  SimRecord *r = &t->f->record;
  for (uint32_t i = 0; i < t->m->s->in.n; i++) {
    int64_t cells = sim_in_cells(t->m, i);
    if (t->rows[i]) engine_set(e, i, t->table[i] + (int64_t)t->done * cells, ticks * cells);
  }
  if (!sim_run(t->m, e, t->done)) return false;
  ticks = ticks_until_stop(t, e, ticks, row);
  for (int64_t i = 0; i < ticks; i++)
    if (is_recorded(t, t->done + (uint64_t)i))
      vec_push(t->m->arena, &r->time, (double)(t->done + (uint64_t)i));
  for (uint32_t i = 0; i < t->shows; i++)
    record_ticks(t, e, i, &r->channel.at[sight_channel(&t->see, r, i)], ticks, row);
  for (uint32_t i = 0; i < t->see.n; i++) // a long run records at least the last tick of each call
    t->bad |= !get_tick(e, i, &r->channel.at[t->see.sight[i]], (uint64_t)ticks - 1, row);
  if (t->bad) return report_nonfinite(t, e, ticks, row);
  if (!refuse_conflict(t, e, ticks, row)) return false;
  for (uint32_t i = 0; i < watchers->n; i++) {
    Watcher *x = &watchers->at[i];
    int64_t cells = seen_cells(t, &x->watch->seen);
    engine_get(e, t->shows + i, row, ticks * cells);
    for (int64_t k = 0; k < ticks; k++) {
      double number = one_number(row + k * cells, cells);
      watcher_tick(x, (double)(t->done + (uint64_t)k), number);
      if (x->watch->kind == WATCH_PERIOD) vec_push(t->m->arena, &t->history[i], number);
    }
  }
  t->done += (uint64_t)ticks;
  r->reached = (double)(t->done - 1);
  return true;
}

static Engine *rows_engine(DiscreteRun *t, int64_t ticks) {
  t->m->ticks = true;
  Engine *e = sim_engine(t->m, pick_ticks(t->m->w, t->m->s, ticks, t->rows, &t->see));
  t->m->ticks = false;
  return e;
}

static int64_t largest(const DiscreteRun *t, int64_t *all) {
  int64_t most = 1;
  *all = 0;
  for (uint32_t i = 0; i < t->see.n + t->see.nseen; i++) {
    int64_t n = i < t->see.n ? t->f->record.channel.at[t->see.sight[i]].cells
                             : seen_cells(t, t->see.seen[i - t->see.n]);
    *all += n;
    most = n > most ? n : most;
  }
  return most;
}

// Chooses the observed values, and the interval of recorded ticks.
static bool choose_observed(DiscreteRun *t, uint32_t number) {
  Sim *m = t->m;
  int64_t ticks = (int64_t)t->ticks;
  t->rows = NEW_ARRAY(m->arena, bool, m->s->in.n + 1);
  t->table = NEW_ARRAY(m->arena, double *, m->s->in.n + 1);
  if (m->run->path && !table_inputs(m, ticks, t->rows, t->table)) return false;
  if (m->run->set && !set_inputs(m, ticks, t->rows, t->table)) return false;
  uint64_t inputs = saved_inputs(m, HASH_START, t->rows, t->table, ticks);
  t->inputs = arena_format(m->arena, "%016llx", (unsigned long long)inputs);
  t->every = m->run->every > 1 ? (uint64_t)m->run->every : t->ticks / MOMENTS_KEPT + 1;
  record_channels(m->w, m->p, number, &t->f->record);
  watchers_find(m, number, t->f, &t->watchers);
  t->history = NEW_ARRAY(m->arena, SavedRow, t->watchers.n + 1);
  t->see = record_sights(m, number, &t->f->record, &t->watchers);
  t->shows = t->see.n + t->see.nseen - t->watchers.n;
  return true;
}

static int64_t ticks_per_call(DiscreteRun *t, int64_t *most) {
  int64_t all, left = (int64_t)(t->ticks - t->done);
  *most = largest(t, &all);
  int64_t chunk = NUMBERS_AT_ONCE / (all + 1) + 1;
  int64_t often = WORK_AT_ONCE / (t->m->numbers + 1) +
                  1; // limits the time of a call, so that the run can be stopped
  if (chunk > often) chunk = often;
  if (chunk > TICKS_AT_ONCE) chunk = TICKS_AT_ONCE;
  return chunk > left ? left : chunk;
}

static bool save_now(DiscreteRun *t, uint32_t number, SaveClock *c) {
  if (!saved_due(c)) return true;
  bool good = ticks_save(t, number);
  saved_done(c);
  return good;
}

// Runs `chunk` ticks per call, up to tick `end`.
static bool run_until(DiscreteRun *t, uint32_t number, uint64_t end, int64_t chunk, double *row) {
  Sim *m = t->m;
  if (chunk > (int64_t)(end - t->done)) chunk = (int64_t)(end - t->done);
  SaveClock clock = {.last = clock_seconds()};
  Engine *e = chunk ? rows_engine(t, chunk) : NULL;
  bool good = e || !chunk;
  while (good && chunk && t->done + (uint64_t)chunk <= end && !t->f->stopped &&
         !t->f->record.halted) {
    if (!(good = run_ticks(t, e, chunk, &t->watchers, row))) break;
    if (m->how->progress)
      m->how->progress(m->how->context,
                       (double)(t->done - t->begun) / (double)(t->ticks - t->begun));
    t->f->stopped = stop_asked(m->how->stop);
    good = save_now(t, number, &clock);
  }
  if (e) engine_free(e);
  int64_t rest = (int64_t)(end - t->done);
  if (!good || !rest || t->f->stopped || t->f->record.halted) return good;
  e = rows_engine(t, rest);
  good = e && run_ticks(t, e, rest, &t->watchers, row);
  if (e) engine_free(e);
  return good;
}

// The first ticks use prebuilt kernels: a short run ends before a compiler would. The number of
// these ticks is fixed, so a resumed run gives the same bits.
static bool run_all(DiscreteRun *t, uint32_t number, int64_t chunk, double *row) {
  uint64_t early = sim_prebuilt_runs(t->m);
  *t->m->prebuilt = t->done < early;
  if (*t->m->prebuilt && !run_until(t, number, early < t->ticks ? early : t->ticks, chunk, row))
    return false;
  *t->m->prebuilt = false;
  if (t->f->stopped || t->f->record.halted) return true;
  return t->done == t->ticks || run_until(t, number, t->ticks, chunk, row);
}

bool follow_ticks(Sim *m, uint32_t number, Followed *f) {
  DiscreteRun t = {.m = m, .f = f};
  int64_t most;
  if (!ticks_begin(&t, number) || !choose_observed(&t, number) || !ticks_go_on(&t, number))
    return false;
  if (!t.f->record.time.n && !ticks_save(&t, number)) return false; // the initial state
  int64_t chunk = ticks_per_call(&t, &most);
  double *row = NEW_ARRAY(m->arena, double, chunk *most + 1);
  if (!run_all(&t, number, chunk, row) || !ticks_save(&t, number)) return false;
  for (uint32_t i = 0; i < t.watchers.n; i++) {
    Watcher *x = &t.watchers.at[i];
    watcher_end(x);
    if (x->watch->kind == WATCH_PERIOD) *x->out = row_period(t.history[i].at, t.history[i].n);
  }
  f->record.steps = t.done - t.begun;
  return true;
}
