// What is changed while a run goes on.
//
// In: changes by name, in their order. Out: calls of optimisers with other numbers in them, and goals
// with other weights; everything else of a step is as it was, its states too, so that a run goes on
// with what it has. A schedule that is changed becomes a number.
#include "run/step/step_own.h"

static const char *owner_of(World *w, const Stepper *s) {
  if (!s || !s->learner) return NULL;
  return arena_format(w->arena, "%s%s", name_text(w->names, s->learner->name),
                      s->member ? s->member : "");
}

// Is `what` this setting, of all or of this owner?
static bool is_about(const char *what, const char *owner, const char *setting) {
  const char *dot = strrchr(what, '.');
  if (strcmp(dot ? dot + 1 : what, setting)) return false;
  size_t n = dot ? (size_t)(dot - what) : 0;
  return !dot || (owner && strlen(owner) == n && memcmp(what, owner, n) == 0);
}

// The last change of it; NULL: there is none.
static const Change *change_of(const Changes *all, const char *owner, const char *setting) {
  for (uint32_t i = all->n; i-- > 0;)
    if (is_about(all->at[i].what, owner, setting)) return &all->at[i];
  return NULL;
}

// -- optimisers -----------------------------------------------------------------------------------
static const Syntax *call_now(Regimen *plan, const char *optimiser, const Syntax *call,
                              const char *owner) {
  Settings has = optimiser_has(plan->in, plan->p, optimiser, call);
  for (uint32_t i = 0; i < has.n; i++) {
    const Change *c = change_of(plan->change, owner, has.at[i].name);
    if (!c) continue;
    Setting other = {has.at[i].name, c->value, true};
    call = elab_call_with(plan->in, plan->p, optimiser, call, other);
  }
  return call;
}

void change_calls(Regimen *plan) {
  const Training *t = plan->training;
  plan->call = NEW_ARRAY(plan->w->arena, const Syntax *, t->stepper.n + 1);
  for (uint32_t i = 0; i < t->stepper.n; i++) {
    const Stepper *s = &t->stepper.at[i];
    plan->call[i] = call_now(plan, s->name, s->call, owner_of(plan->w, s));
  }
  plan->call[t->stepper.n] = call_now(plan, "adam", NULL, NULL);
}

// -- goals ----------------------------------------------------------------------------------------
// Another output is put behind what the goal shows. The diagram that was there is left as it is.
static void weigh(World *w, Goal *g, double weight) {
  Diagram *d = diagram_new(w, g->diagram->name);
  const Diagram *old = g->diagram;
  Id id = d->id, out = g->shown;
  *d = *old;
  d->id = id;
  d->wire.at = arena_copy(w->arena, old->wire.at, old->wire.n * sizeof(Wire));
  d->wire.cap = old->wire.n;
  d->box.cap = old->box.n; // what is added goes into a copy
  d->out = (Ids){0};
  if (g->sign * weight != 1)
    out = map_text(w, d, d->wire.at[g->shown].type,
                   arena_format(w->arena, "a*(%.17g)", g->sign * weight), &g->shown, 1,
                   d->wire.at[old->out.at[0]].origin);
  d->wire.at[out].name = old->wire.at[old->out.at[0]].name;
  diagram_output(w, d, out);
  g->diagram = d;
  g->weight = weight;
}

void change_goals(World *w, Program *p, const Changes *all) {
  for (uint32_t i = 0; i < p->goal.n; i++) {
    Goal *g = &p->goal.at[i];
    const char *name = name_text(w->names, g->name);
    for (uint32_t k = all->n; g->diagram && k-- > 0;)
      if (strchr(all->at[k].what, '.') && is_about(all->at[k].what, name, "weight")) {
        if (g->weight != all->at[k].value) weigh(w, g, all->at[k].value);
        break;
      }
  }
}

// -- what can be changed --------------------------------------------------------------------------
typedef struct {
  World *w;
  const Changes *change;
  Table *seen;
  Settings all;
} SettingList;

static void list_one(SettingList *l, const char *owner, Setting s) {
  const char *name = owner ? arena_format(l->w->arena, "%s.%s", owner, s.name) : s.name;
  const Change *c = change_of(l->change, owner, s.name);
  Id old = table_get(l->seen, name, strlen(name));
  if (c) s.value = c->value, s.known = true;
  if (old) {
    Setting *same = &l->all.at[old - 1];
    same->known &= s.known && same->value == s.value; // of several that differ there is no value
    return;
  }
  s.name = name;
  vec_push(l->w->arena, &l->all, s);
  table_put(l->seen, name, strlen(name), l->all.n);
}

static void list_settings(SettingList *l, Elab *in, Program *p, const Stepper *s) {
  Settings has = optimiser_has(in, p, s ? s->name : "adam", s ? s->call : NULL);
  const char *owner = owner_of(l->w, s);
  for (uint32_t i = 0; i < has.n; i++) {
    Setting all = has.at[i];
    const Change *c = owner ? change_of(l->change, owner, all.name) : NULL;
    if (c) all.value = c->value, all.known = true;
    list_one(l, NULL, all);
    if (owner) list_one(l, owner, has.at[i]);
  }
}

static bool is_left_over(Elab *in, const Program *p, const Training *t) {
  for (uint32_t k = 0; k < t->goals.n; k++) {
    const Goal *g = &p->goal.at[t->goals.at[k]];
    for (uint32_t i = 0; g->diagram && i < g->diagram->param.n; i++) {
      const Param *q = &g->diagram->param.at[i];
      if (g->trains[i] && g->diagram->wire.at[q->wire].type.base == BASE_R &&
          !training_stepper(in, t, q))
        return true;
    }
  }
  return false;
}

Settings learn_settings(Elab *in, Program *p, const Changes *change) {
  World *w = elab_world(in);
  SettingList l = {.w = w, .change = change, .seen = table_new(w->arena)};
  for (uint32_t k = 0; k < p->train.n; k++) {
    Training t;
    if (!elab_training(in, p, p->train.at[k], &t)) continue;
    for (uint32_t i = 0; i < t.stepper.n; i++) list_settings(&l, in, p, &t.stepper.at[i]);
    if (is_left_over(in, p, &t)) list_settings(&l, in, p, NULL);
    for (uint32_t i = 0; i < t.goals.n; i++) {
      const Goal *g = &p->goal.at[t.goals.at[i]];
      list_one(&l, name_text(w->names, g->name), (Setting){"weight", g->weight, true});
    }
  }
  return l.all;
}

const char *change_outside(Elab *in, Program *p, const char *what, double value) {
  for (uint32_t k = 0; k < p->train.n; k++) {
    Training t;
    if (!elab_training(in, p, p->train.at[k], &t)) continue;
    for (uint32_t i = 0; i <= t.stepper.n; i++) { // the last: what is stepped by adam
      const Stepper *s = i < t.stepper.n ? &t.stepper.at[i] : NULL;
      const char *name = s ? s->name : "adam";
      Settings has = optimiser_has(in, p, name, s ? s->call : NULL);
      if (!s && !is_left_over(in, p, &t)) continue;
      for (uint32_t j = 0; j < has.n; j++) {
        if (!is_about(what, owner_of(elab_world(in), s), has.at[j].name)) continue;
        const char *why = setting_outside(in, p, name, s ? s->call : NULL,
                                          (Setting){has.at[j].name, value, true});
        if (why) return why;
      }
    }
  }
  return NULL;
}
