// The record of a run: the values of each observable at each moment, up to a limit of size, and of
// each shown expression.
#include "base/names.h"
#include "run/sim/watchers_own.h"

enum { CELLS_KEPT = 1024 }; // most cells of an observable, unless it is shown

static SimChannel channel_of(World *w, const System *s, const char *name, const Type *t) {
  SimChannel c = {
      .name = name, .base = (Base)t->base, .names = t->names, .rank = t->rank, .cells = 1};
  if (t->base == BASE_R) c.unit = sight_unit(w, s, name);
  c.shape = NEW_ARRAY(w->arena, int64_t, t->rank + 1);
  if (!type_count(w, t, &c.cells)) c.cells = 1;
  for (uint32_t i = 0; i < t->rank; i++) size_value(w, t->axis[i].size, &c.shape[i]);
  return c;
}

void record_channels(World *w, const Program *p, uint32_t number, SimRecord *r) {
  const System *s = p->ran->run.at[number].system;
  Sights sights = {0};
  system_sights(w, s, &sights);
  while (sights.n && sights.at[sights.n - 1].kind == SEES_INSIDE)
    sights.n--; // recorded only if shown
  *r = (SimRecord){.system = s, .flows = s->flows, .sights = sights.n};
  for (uint32_t i = 0; i < sights.n; i++)
    vec_push(w->arena, &r->channel,
             channel_of(w, s, name_text(w->names, sights.at[i].name), &sights.at[i].type));
  for (uint32_t i = 0; i < p->ran->show.n; i++) {
    const RunShow *show = &p->ran->show.at[i];
    for (uint32_t k = 0; show->run == number && k < show->seen.n; k++) {
      const Diagram *d = show->seen.at[k].diagram;
      vec_push(w->arena, &r->channel,
               channel_of(w, s, show->text.at[k], &d->wire.at[d->out.at[0]].type));
    }
  }
}

SightList record_sights(const Sim *m, uint32_t number, const SimRecord *r, const Watchers *x) {
  uint32_t *sight = NEW_ARRAY(m->arena, uint32_t, r->sights + 1);
  const Seen **seen = NEW_ARRAY(m->arena, const Seen *, r->channel.n - r->sights + x->n + 1);
  SightList see = {.sights = &m->sights, .sight = sight, .seen = seen};
  for (uint32_t i = 0; i < r->sights; i++) {
    const Sight *s = &m->sights.at[i];
    bool inner = s->kind == SEES_STATE && m->s->state.at[s->at].inner;
    if (!inner && r->channel.at[i].cells <= CELLS_KEPT) sight[see.n++] = i;
  }
  for (uint32_t i = 0; i < m->p->ran->show.n; i++) {
    const RunShow *show = &m->p->ran->show.at[i];
    for (uint32_t k = 0; show->run == number && k < show->seen.n; k++)
      seen[see.nseen++] = &show->seen.at[k];
  }
  for (uint32_t i = 0; i < x->n; i++) seen[see.nseen++] = &x->at[i].watch->seen;
  return see;
}

uint32_t sight_channel(const SightList *see, const SimRecord *r, uint32_t i) {
  return i < see->n ? see->sight[i] : r->sights + i - see->n;
}

static void copy_numbers(Arena *a, const double *from, uint32_t n, double **to) {
  *to = n ? arena_copy(a, from, n * sizeof *from) : NULL;
}

void followed_copy(World *w, const Program *p, uint32_t run, const Followed *from, Followed *to) {
  const SimRecord *x = &from->record;
  SimRecord *r = &to->record;
  *to = (Followed){.stopped = from->stopped};
  record_channels(w, p, run, r);
  r->steps = x->steps, r->halted = x->halted;
  copy_numbers(w->arena, x->time.at, x->time.n, &r->time.at);
  r->time.n = r->time.cap = x->time.n;
  for (uint32_t i = 0; i < x->channel.n; i++) {
    copy_numbers(w->arena, x->channel.at[i].value.at, x->channel.at[i].value.n,
                 &r->channel.at[i].value.at);
    r->channel.at[i].value.n = r->channel.at[i].value.cap = x->channel.at[i].value.n;
  }
  for (uint32_t i = 0; i < x->events_logged.n; i++) {
    LoggedEvent h = x->events_logged.at[i];
    h.path = arena_text(w->arena, h.path, strlen(h.path));
    h.what = arena_text(w->arena, h.what, strlen(h.what));
    vec_push(w->arena, &r->events_logged, h);
  }
  if (!from->watch) return;
  to->watch = NEW_ARRAY(w->arena, double *, p->ran->check.n + 1);
  to->lost = NEW_ARRAY(w->arena, double *, p->ran->check.n + 1);
  for (uint32_t i = 0; i < p->ran->check.n; i++) {
    uint32_t n = p->ran->check.at[i].watch.n + 1;
    if (from->watch[i]) copy_numbers(w->arena, from->watch[i], n, &to->watch[i]);
    if (from->watch[i]) copy_numbers(w->arena, from->lost[i], n, &to->lost[i]);
  }
}
