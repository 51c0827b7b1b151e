// Births of parts in continuous time. A birth is only known after the events of a moment, but the
// part's initial states are computed from the values before the moment, as all events of the moment
// read them. So the initial states of all possible births are computed at the beginning of each
// moment.
#include "run/sim/rates_own.h"

#include <math.h>

bool flow_births_open(Flow *f) {
  const System *s = f->m->s;
  Arena *a = f->m->arena;
  double *up = NEW_ARRAY(a, double, f->events + 1);
  uint32_t values = 0, at = 0;
  for (uint32_t i = 0; i < s->event.n; i++) values += s->event.at[i].state.n;
  f->moment = NAN;
  f->birth = NEW_ARRAY(a, double *, values + 1);
  f->true_at_start = NEW_ARRAY(a, bool, f->events + 1);
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].state.n; k++, at++)
      if (s->event.at[i].birth)
        f->birth[at] = NEW_ARRAY(a, double, f->updates.at[s->event.at[i].state.at[k]].state->count);
  if (!flow_run_engine(f, f->guards, &f->guard_cells, up)) return false;
  for (uint32_t i = 0; i < f->events; i++) f->true_at_start[i] = up[i] > 0;
  return true;
}

// The random number key of a birth: the number of earlier events in the part, over all members.
static uint64_t birth_key(const Flow *f, const SystemEvent *e, uint32_t guard, int64_t members) {
  uint64_t before = 0;
  for (int64_t k = 0; k < members; k++) before += f->event_count[f->first_guard[guard + k]];
  return site_step(site_hash(1, e->path), before);
}

bool flow_births(Flow *f, double t) {
  const System *s = f->m->s;
  uint32_t at = 0, guard = 0;
  if (t == f->moment) return true;
  f->moment = t;
  for (uint32_t i = 0; i < s->event.n; guard += (uint32_t)f->guard_cells.at[i++]) {
    const SystemEvent *e = &s->event.at[i];
    uint64_t draw = e->birth && f->chance ? birth_key(f, e, guard, f->guard_cells.at[i]) : 0;
    if (e->birth && f->chance && !sim_run(f->m, f->values, draw)) return false;
    for (uint32_t k = 0; k < e->state.n; k++, at++)
      if (e->birth)
        engine_get(f->values, at, f->birth[at], f->updates.at[e->state.at[k]].state->count);
  }
  return true;
}

// Masks all other events until births are done: an true_at_start part still has the states of its last
// life, which no condition may read, neither one of the part nor one that reads its outputs.
void flow_mask_before_births(const Flow *f, uint8_t *which) {
  const System *s = f->m->s;
  bool any = false;
  for (int clear = 0; clear < 2; clear++) {
    uint32_t guard = 0;
    for (uint32_t i = 0; i < s->event.n; i++)
      for (int64_t k = 0; k < f->guard_cells.at[i]; k++, guard++) {
        any |= s->event.at[i].birth && which[guard] && !f->true_at_start[guard];
        if (clear && any && !s->event.at[i].birth) which[guard] = 0;
      }
  }
}
