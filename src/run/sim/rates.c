// Rates, guards and delayed values of a system as functions of a vector, as a solver calls them.
// States with rates are concatenated to the vector; all else (modes, states that change at ticks)
// stays in the store, where events read and write it.
#include "base/diag.h"
#include "base/names.h"
#include "run/sim/rates_own.h"

#include <math.h>

static void state_write(State *s, const double *x) {
  if (s->number == NUMBER_F64)
    memcpy(s->data, x, (size_t)s->count * sizeof(double));
  else
    state_set(s, x);
}

// -- inputs from a table --------------------------------------------------------------------------
static void set_port(Flow *f, uint32_t port, const double *value, int64_t cells) {
  Engine *all[] = {f->rates,    f->guards, f->values, f->to_delay,        f->nexts,   f->tangent,
                   f->observer, f->step,   f->lines,  f->switches.values, f->ranges.e};
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i]) engine_set(all[i], port, value, cells);
}

static void set_row(Flow *f, int64_t row, double part) {
  const TableInputs *d = f->table_inputs;
  for (uint32_t i = 0; i < f->m->s->in.n; i++) {
    if (!d->rows[i]) continue;
    int64_t cells = sim_in_cells(f->m, i);
    double *value = f->m->input[i];
    const double *from = d->table[i] + row * cells, *to = from + (part > 0 ? cells : 0);
    for (int64_t k = 0; k < cells; k++) value[k] = from[k] + part * (to[k] - from[k]);
    set_port(f, i, value, cells);
  }
}

// Two rows at one time are a discontinuity: a step that ends there sees the first of them.
static bool is_discontinuity_ahead(const TableInputs *d, int64_t row) {
  return d->time[row] == d->time[row + 1] && d->time[row] > d->passed;
}

// Interpolates linearly between rows.
static void set_interpolated(Flow *f, double t) {
  TableInputs *d = f->table_inputs;
  while (d->at > 0 && t < d->time[d->at]) d->at--;
  while (d->at + 2 < d->n && t >= d->time[d->at + 1] && !is_discontinuity_ahead(d, d->at + 1))
    d->at++;
  double wide = d->time[d->at + 1] - d->time[d->at];
  double part = wide > 0 ? (t - d->time[d->at]) / wide : 1;
  set_row(f, d->at, fmin(fmax(part, 0), 1));
}

double flow_next_row(const Flow *f, double now) {
  const TableInputs *d = f->table_inputs;
  if (!d) return INFINITY;
  if (!d->time) return (double)(d->at + 1);
  for (int64_t i = 0; i < d->n; i++)
    if (d->time[i] > now) return d->time[i];
  return INFINITY;
}

void flow_select_row(Flow *f, double t) {
  TableInputs *d = f->table_inputs;
  d->passed = t;
  if (d->time) return;
  d->at = (int64_t)(t + 0.5);
  if (d->at < d->n) set_row(f, d->at, 0);
}

bool flow_open_table(Flow *f) {
  Sim *m = f->m;
  if (!m->run || (!m->run->path && !m->run->set)) return true;
  TableInputs *d = NEW(m->arena, TableInputs);
  d->rows = NEW_ARRAY(m->arena, bool, m->s->in.n + 1);
  d->table = NEW_ARRAY(m->arena, double *, m->s->in.n + 1);
  if (!table_times(m, &d->time, &d->n)) return false;
  if (!d->time) d->n = sim_rows(m->run);
  if (!(m->run->path ? table_inputs : set_inputs)(m, d->n, d->rows, d->table)) return false;
  f->table_inputs = d;
  f->problem.timeless &= !d->time;
  if (d->time) f->problem.between = NULL;
  f->problem.adds = false;
  for (uint32_t i = 0; d->time && i < m->s->in.n; i++)
    if (d->rows[i] && m->s->d->wire.at[m->s->d->in.at[i]].type.base != BASE_R)
      return diag_refuse(m->w->diags, m->run->span,
                         "`%s` is no number, and cannot be interpolated: without the column `time` "
                         "each row is held for one unit of time",
                         name_text(m->w->names, m->s->in.at[i].name));
  return true;
}

void flow_set_point(Flow *f, double t, const double *x, const double *delayed) {
  if (f->table_inputs && f->table_inputs->time) set_interpolated(f, t);
  state_write(f->time, &t);
  for (uint32_t i = 0; i < f->flowing.n; i++)
    state_write(f->flowing.at[i].state, x + f->flowing.at[i].offset);
  for (uint32_t i = 0; delayed && i < f->lag.n; i++)
    state_write(f->lag.at[i].state, delayed + f->lag.at[i].offset);
}

bool flow_run_engine(Flow *f, Engine *e, const Counts *c, double *out) {
  if (!sim_run(f->m, e, 0)) return false;
  for (uint32_t i = 0; i < c->n; out += c->at[i++]) engine_get(e, i, out, c->at[i]);
  return true;
}

static bool all_finite(const double *x, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += 0 * x[i];
  return sum == 0;
}

// Runs with switches held. After a switch turns, holding it may leave the domain of a function for
// a moment (the root of a negative number): if values are not finite, runs once more with all
// switches released.
static bool try_held(Flow *f, Engine *e, bool *finite) {
  if (!sim_run_trial(f->m, e, 0, finite)) return false;
  if (*finite || !f->switches.d) return true;
  switches_release_all(f, true);
  bool good = sim_run_trial(f->m, e, 0, finite);
  switches_release_all(f, false);
  return good;
}

// Evaluates at a trial point of the solver: values that are not finite are recorded, not reported,
// because the solver may retry with a shorter step.
static bool evaluate_trial(Flow *f, Engine *e, const Counts *c, const NonFinitePoint *at,
                           double *out) {
  bool finite;
  flow_set_point(f, at->t, at->x, at->delayed);
  if (!try_held(f, e, &finite)) return false;
  if (!finite && all_finite(at->x, f->n)) { // only the first one: later ones follow from it
    NonFinitePoint *odd = &f->nonfinite;
    odd->e = e, odd->t = at->t;
    memcpy(odd->x, at->x, f->n * sizeof(double));
    if (at->delayed) memcpy(odd->delayed, at->delayed, f->problem.delayed * sizeof(double));
  }
  for (uint32_t i = 0; i < c->n; out += c->at[i++]) engine_get(e, i, out, c->at[i]);
  return true;
}

Ids flow_rate_wires(const Flow *f) {
  Ids rate = {0};
  for (uint32_t i = 0; i < f->flowing.n; i++)
    vec_push(f->m->arena, &rate, f->m->s->state.at[f->flowing.at[i].number].rate);
  return rate;
}

// An engine for the rates without held switches, so that the diagnostic names the user's
// expression.
static Engine *engine_as_written(Flow *f, Engine *e) {
  if (!f->switches.d || e != f->rates) return e;
  Ids rate = flow_rate_wires(f);
  Engine *plain = sim_engine(f->m, pick_wires(f->m->w, f->m->s, rate.at, rate.n));
  return plain ? plain : e;
}

bool flow_report_nonfinite(Flow *f, const char *what) {
  const NonFinitePoint *odd = &f->nonfinite;
  Engine *e = engine_as_written(f, odd->e);
  flow_set_point(f, odd->t, odd->x, odd->delayed);
  sim_report_nonfinite(f->m, e, 0, what);
  if (e != odd->e) engine_free(e);
  return false;
}

bool flow_rates(void *flow, double t, const double *x, const double *delayed, double *dx) {
  Flow *f = flow;
  NonFinitePoint at = {.t = t, .x = (double *)x, .delayed = (double *)delayed};
  return evaluate_trial(f, f->rates, &f->rate_cells, &at, dx);
}

static bool guards(void *flow, double t, const double *x, const double *delayed, double *g) {
  Flow *f = flow;
  const FlowSwitches *s = &f->switches;
  NonFinitePoint at = {.t = t, .x = (double *)x, .delayed = (double *)delayed};
  if (!evaluate_trial(f, f->guards, &f->guard_cells, &at, g)) return false;
  double *turn = g + f->events;
  for (uint32_t i = 0; i < s->cells.n; turn += s->cells.at[i++])
    engine_get(f->guards, f->guard_cells.n + i, turn, s->cells.at[i]);
  switches_replace_nan(f, g + f->events);
  return true;
}

static bool to_delay(void *flow, double t, const double *x, const double *delayed, double *value) {
  Flow *f = flow;
  bool finite;
  flow_set_point(f, t, x, delayed);
  if (!try_held(f, f->to_delay, &finite)) return false;
  if (!finite) return sim_report_nonfinite(f->m, f->to_delay, 0, NULL);
  for (uint32_t i = 0; i < f->lag_cells.n; value += f->lag_cells.at[i++])
    engine_get(f->to_delay, i, value, f->lag_cells.at[i]);
  return true;
}

// -- events ---------------------------------------------------------------------------------------
// The name in the program: ball.v.
static const char *state_name(const Flow *f, uint32_t state) { return sim_state_name(f->m, state); }

// The event and member that the k-th guard belongs to.
static const SystemEvent *event_at(const Flow *f, uint32_t k, uint32_t *number, int64_t *member,
                                   int64_t *members) {
  uint32_t i = 0;
  for (; k >= f->guard_cells.at[i]; i++) k -= (uint32_t)f->guard_cells.at[i];
  *members = f->guard_cells.at[i];
  *member = k;
  *number = i;
  return &f->m->s->event.at[i];
}

static const char *event_name(void *flow, uint32_t which) {
  Flow *f = flow;
  uint32_t number;
  int64_t member, members;
  const SystemEvent *e = event_at(f, which, &number, &member, &members);
  World *w = f->m->w;
  const char *what =
      e->birth   ? "the birth"
      : e->death ? "the death"
      : e->jump  ? arena_format(w->arena, "the jump to `%s`", name_text(w->names, e->jump))
      : e->each  ? arena_format(w->arena, "`next %s`", sim_place(f->m, e->state.at[0], member))
                 : arena_format(w->arena, "`next %s`", state_name(f, e->state.at[0]));
  if (e->each) members = 1;
  const char *where = *e->path ? e->path : name_text(w->names, f->m->s->name);
  return members > 1
             ? arena_format(w->arena, "%s in member %lld of `%s`", what, (long long)member, where)
             : arena_format(w->arena, "%s in `%s`", what, where);
}

// Reports that two events of one moment set one state to different values.
static bool refuse_conflict(Flow *f, double t, uint32_t state, int64_t place, uint32_t one,
                            uint32_t other) {
  World *w = f->m->w;
  uint32_t number;
  int64_t member, members;
  const SystemEvent *e = event_at(f, other, &number, &member, &members);
  Id d = diag_error(w->diags, e->span, "two events set `%s` at t = %.10g: %s and %s",
                    sim_place(f->m, state, place), t, event_name(f, one), event_name(f, other));
  e = event_at(f, one, &number, &member, &members);
  diag_note(w->diags, d, e->span, "the other one");
  return diag_help(
      w->diags, d,
      "events of one moment are simultaneous: let one of the conditions exclude the other");
}

// Does the earlier jump win because it is in an outer mode?
static bool outer_jump(const Flow *f, uint32_t one, const SystemEvent *e) {
  uint32_t number;
  int64_t member, members;
  const SystemEvent *first = event_at(f, one, &number, &member, &members);
  return first->jump && e->jump && first->level < e->level;
}

// Writes what the event `which` sets into the updates.
static bool apply_event(Flow *f, double t, uint32_t which) {
  uint32_t number, at = 0, set = 0,
                   place = 0; // number of elements set in the first state, and the last of these
  int64_t member, members;
  const SystemEvent *e = event_at(f, which, &number, &member, &members);
  if ((e->birth || e->death) && f->true_at_start[which]) {
    f->true_at_start[which] = false;
    return true;
  }
  for (uint32_t i = 0; i < number; i++) at += f->m->s->event.at[i].state.n;
  for (uint32_t i = 0; i < e->state.n; i++) {
    StateUpdate *to = &f->updates.at[e->state.at[i]];
    int64_t part = to->state->count / members;
    if (f->named[at + i]) engine_get(f->values, f->named[at + i], f->mask, to->state->count);
    engine_get(f->values, at + i, f->value, to->state->count);
    if (f->birth[at + i])
      memcpy(f->value, f->birth[at + i], (size_t)to->state->count * sizeof(double));
    for (int64_t k = member * part; k < (member + 1) * part; k++) {
      if (f->named[at + i] && f->mask[k] == 0) continue;
      if (f->named[at] && i == 0) set++, place = (uint32_t)(k - member * part) + 1;
      if (to->by[k] && outer_jump(f, to->by[k] - 1, e)) return true;
      if (to->by[k] && to->value[k] != f->value[k])
        return refuse_conflict(f, t, e->state.at[i], k, to->by[k] - 1, which);
      to->value[k] = f->value[k];
      to->by[k] = which + 1;
    }
  }
  if (f->record && t > f->begun)
    vec_push(f->m->arena, &f->record->events_logged,
             flow_log_entry(f, t, which, set == 1 ? place : 0));
  return true;
}

bool flow_halted(const Flow *f) {
  const System *s = f->m->s;
  for (uint32_t i = 0; i < s->halt.n; i++) {
    const State *mode = sim_state(f->m, s->halt.at[i].state);
    state_get(mode, f->value);
    for (int64_t k = 0; k < mode->count; k++)
      if (!(s->halt.at[i].stops >> (uint32_t)f->value[k] & 1)) return false;
  }
  return s->halt.n > 0;
}

// Starts updates of the states that the event sets; other states are not touched.
static void begin_updates(Flow *f, uint32_t which) {
  uint32_t number;
  int64_t member, members;
  const SystemEvent *e = event_at(f, which, &number, &member, &members);
  for (uint32_t i = 0; i < e->state.n; i++) {
    StateUpdate *y = &f->updates.at[e->state.at[i]];
    if (y->open) continue;
    state_get(y->state, y->value);
    memset(y->by, 0, (size_t)y->state->count * sizeof *y->by);
    y->open = true;
  }
}

static bool apply_events(Flow *f, double t, uint8_t *which, const double *delayed, double *x) {
  flow_set_point(f, t, x, delayed);
  if (!f->chance && !sim_run(f->m, f->values, 0)) return false;
  if (!flow_births(f, t)) return false;
  flow_mask_before_births(f, which);
  for (uint32_t i = 0; i < f->events; i++) {
    if (!which[i]) continue;
    begin_updates(f, i);
    if (f->chance && !sim_run(f->m, f->values, flow_event_key(f, i))) return false;
    if (!apply_event(f, t, i)) return false;
  }
  flow_count_events(f, which);
  for (uint32_t i = 0; i < f->updates.n; i++) {
    StateUpdate *y = &f->updates.at[i];
    if (y->open) state_set(y->state, y->value);
    y->open = false;
  }
  flow_start(f, x);
  return true;
}

static bool on_events(void *flow, double t, uint8_t *which, const double *delayed, double *x) {
  Flow *f = flow;
  if (f->rounds++ && f->between) f->between(f->follower, t, x, delayed);
  f->broken = !apply_events(f, t, which, delayed, x);
  return !f->broken;
}

// -- opening --------------------------------------------------------------------------------------
const char *flow_name(void *flow, uint32_t i) {
  Flow *f = flow;
  for (uint32_t k = 0; k < f->flowing.n; k++) {
    const Flowing *y = &f->flowing.at[k];
    if (i >= y->offset + (uint32_t)y->count) continue;
    return sim_place(f->m, y->number, i - y->offset);
  }
  return "?";
}

static void count_wires(Flow *f, const Id *wire, uint32_t n, Counts *c) {
  for (uint32_t i = 0; i < n; i++)
    vec_push(f->m->arena, c, sim_cells(f->m, &f->m->s->d->wire.at[wire[i]].type));
}

static Engine *wires_engine(Flow *f, const Ids *wires, Counts *c) {
  if (c) count_wires(f, wires->at, wires->n, c);
  return sim_engine(f->m, pick_wires(f->m->w, f->m->s, wires->at, wires->n));
}

static void find_wires(Flow *f, FlowWires *of) {
  const System *s = f->m->s;
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].rate) vec_push(f->m->arena, &of->rate, s->state.at[i].rate);
  for (uint32_t i = 0; i < s->lag.n; i++) vec_push(f->m->arena, &of->delayed, s->lag.at[i].value);
  for (uint32_t i = 0; i < s->event.n; i++) vec_push(f->m->arena, &of->guard, s->event.at[i].guard);
}

// Opens the rates; `holds`: with held switches.
static bool open_rates(Flow *f, const FlowWires *of, bool holds) {
  Sim *m = f->m;
  Diagram *rates = pick_wires(m->w, m->s, of->rate.at, of->rate.n);
  f->problem.jumps = structure_jumps(rates);
  bool delayed = !f->problem.jumps && of->delayed.n &&
                 structure_jumps(pick_wires(m->w, m->s, of->delayed.at, of->delayed.n));
  if (holds && (f->problem.jumps || delayed)) switches_find(f, of);
  f->problem.adds = structure_adds(rates, holds && !f->problem.jumps) && !of->delayed.n;
  count_wires(f, of->rate.at, of->rate.n, &f->rate_cells);
  f->rates = sim_engine(m, f->switches.d ? switched_rates(f) : rates);
  return f->rates;
}

static bool open_states(Flow *f) {
  const System *s = f->m->s;
  Ids next = {0};
  for (uint32_t i = 0; i < s->state.n; i++) {
    // Conditions act at the moment they become true, not at the next tick.
    if (s->state.at[i].next && !event_setting(s, i, true)) {
      vec_push(f->m->arena, &next, s->state.at[i].next);
      vec_push(f->m->arena, &f->stepping, i);
    }
    if (!s->state.at[i].rate) continue;
    State *state = sim_state(f->m, i);
    vec_push(f->m->arena, &f->flowing, (Flowing){state, i, f->n, state->count});
    f->n += (uint32_t)state->count;
  }
  if (next.n) f->nexts = wires_engine(f, &next, NULL);
  if (next.n) f->lines = conflict_engine(f->m);
  flow_clocks(f);
  return !next.n || f->nexts;
}

static bool is_read(const Diagram *d, const char *path) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (strcmp(d->param.at[i].path, path)) continue;
    Id wire = d->param.at[i].wire;
    for (uint32_t k = 0; k < d->out.n; k++)
      if (d->out.at[k] == wire) return true;
    for (uint32_t b = 1; b < d->box.n; b++)
      for (uint32_t k = 0; k < d->box.at[b].nin; k++)
        if (d->box.at[b].in[k] == wire) return true;
  }
  return false;
}

// Marks the states that guards read: dense output between steps is needed for these only.
static void find_guarded(Flow *f, const Diagram *d) {
  const System *s = f->m->s;
  NumberRange *range = NEW_ARRAY(f->m->arena, NumberRange, f->flowing.n + 1);
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->flowing.n; i++) {
    const Flowing *y = &f->flowing.at[i];
    uint32_t end = y->offset + (uint32_t)y->count;
    if (!is_read(d, s->d->param.at[s->state.at[y->number].param].path)) continue;
    if (n && range[n - 1].to == y->offset)
      range[n - 1].to = end;
    else
      range[n++] = (NumberRange){y->offset, end};
  }
  f->problem.guarded = range;
  f->problem.nguarded = n;
}

// Opens what events set: new values, then masks of the elements that are set.
static bool open_values(Flow *f) {
  const System *s = f->m->s;
  Ids value = {0};
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].value.n; k++)
      vec_push(f->m->arena, &value, s->event.at[i].value.at[k]);
  f->named = NEW_ARRAY(f->m->arena, uint32_t, value.n + 1);
  for (uint32_t i = 0, at = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].named.n; k++, at++) {
      if (!s->event.at[i].named.at[k]) continue;
      f->named[at] = value.n;
      vec_push(f->m->arena, &value, s->event.at[i].named.at[k]);
    }
  for (uint32_t i = 0; i < s->state.n; i++) {
    State *state = sim_state(f->m, i);
    StateUpdate fresh = {.state = state,
                         .value = NEW_ARRAY(f->m->arena, double, state->count),
                         .by = NEW_ARRAY(f->m->arena, uint32_t, state->count)};
    vec_push(f->m->arena, &f->updates, fresh);
  }
  f->values = wires_engine(f, &value, NULL);
  flow_open_draws(f);
  return f->values && flow_births_open(f);
}

static bool open_guards(Flow *f, const Ids *guard) {
  count_wires(f, guard->at, guard->n, &f->guard_cells);
  for (uint32_t i = 0; i < guard->n; i++) f->events += (uint32_t)f->guard_cells.at[i];
  f->problem.events = f->events + f->switches.n;
  f->problem.switches = f->switches.n;
  if (!f->problem.events) return true;
  Diagram *conditions =
      f->switches.d ? switched_guards(f) : pick_wires(f->m->w, f->m->s, guard->at, guard->n);
  find_guarded(f, conditions);
  f->problem.guards_add = structure_adds(conditions, false);
  f->guards = sim_engine(f->m, conditions);
  if (!f->problem.guards_add) ranges_open(f, conditions);
  return f->guards && switches_open(f) && (!guard->n || open_values(f));
}

static bool open_lags(Flow *f, const Ids *value) {
  const System *s = f->m->s;
  VEC(double) by = {0};
  for (uint32_t i = 0; i < s->lag.n; i++) {
    const SystemLag *lag = &s->lag.at[i];
    State *state = store_find(f->m->store, s->d->param.at[lag->param].path);
    vec_push(f->m->arena, &f->lag, (Flowing){state, i, f->problem.delayed, state->count});
    for (int64_t k = 0; k < state->count; k++) vec_push(f->m->arena, &by, lag->time);
    f->problem.delayed += (uint32_t)state->count;
  }
  f->problem.lag = by.at;
  if (!value->n) return true;
  count_wires(f, value->at, value->n, &f->lag_cells);
  f->to_delay =
      f->switches.d ? sim_engine(f->m, switched_to_delay(f)) : wires_engine(f, value, NULL);
  return f->to_delay != NULL;
}

Flow *flow_open(Sim *m, bool holds) {
  Flow *f = NEW(m->arena, Flow);
  FlowWires of = {0};
  f->m = m;
  f->time = sim_clock(m, "time");
  f->begun = -INFINITY;
  find_wires(f, &of);
  if (!open_rates(f, &of, holds) || !open_states(f) || !open_guards(f, &of.guard) ||
      !open_lags(f, &of.delayed))
    return NULL;
  int64_t most = 1;
  for (uint32_t i = 0; i < m->s->state.n; i++) {
    int64_t n = sim_state(m, i)->count;
    most = n > most ? n : most;
  }
  f->value = NEW_ARRAY(m->arena, double, most);
  f->mask = NEW_ARRAY(m->arena, double, most);
  f->unit = NEW_ARRAY(m->arena, double, f->n + 1);
  f->column = NEW_ARRAY(m->arena, double, f->n + 1);
  f->nonfinite.x = NEW_ARRAY(m->arena, double, f->n + 1);
  f->nonfinite.delayed = NEW_ARRAY(m->arena, double, f->problem.delayed + 1);
  f->problem.context = f;
  f->problem.n = f->n;
  f->problem.rates = flow_rates;
  f->problem.change = flow_change;
  f->problem.pattern = flow_pattern;
  f->problem.constrained = flow_constrained(f);
  f->problem.timeless = !m->s->time && !f->to_delay;
  f->problem.guards = f->guards ? guards : NULL;
  f->problem.between = f->ranges.e ? ranges_between : NULL;
  f->problem.happen = f->events ? on_events : NULL;
  f->problem.turn = f->switches.d ? switches_turn : NULL;
  f->problem.release = f->switches.d ? switches_release : NULL;
  f->problem.to_delay = f->to_delay ? to_delay : NULL;
  f->problem.name = flow_name;
  f->problem.event_name = event_name;
  return f;
}

void flow_start(const Flow *f, double *x) {
  for (uint32_t i = 0; i < f->flowing.n; i++)
    state_get(f->flowing.at[i].state, x + f->flowing.at[i].offset);
}
