// Settings that are changed during a run.
//
// In: changes by name, in their order. Out: calls of optimisers with other constants, and goals
// with other weights. Everything else of a step stays the same, states too, so a run continues from
// its state. A schedule that is changed becomes a constant.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/each.h"
#include "run/step/step_own.h"

static const char *owner_of(World *w, const Stepper *s) {
  if (!s || !s->learner) return NULL;
  return arena_format(w->arena, "%s%s", name_text(w->names, s->learner->name),
                      s->member ? s->member : "");
}

// Does `what` name this setting, of all owners or of this one?
static bool is_about(const char *what, const char *owner, const char *setting) {
  const char *dot = strrchr(what, '.');
  if (strcmp(dot ? dot + 1 : what, setting)) return false;
  size_t n = dot ? (size_t)(dot - what) : 0;
  return !dot || (owner && strlen(owner) == n && memcmp(what, owner, n) == 0);
}

// The last change of a setting; NULL: there is none.
static const Change *change_of(const Changes *all, const char *owner, const char *setting) {
  for (uint32_t i = all->n; i-- > 0;)
    if (is_about(all->at[i].what, owner, setting)) return &all->at[i];
  return NULL;
}

// -- optimisers -----------------------------------------------------------------------------------
static const Syntax *changed_call(RegimeBuilder *regime, const char *optimiser, const Syntax *call,
                                  const char *owner) {
  Settings has = optimiser_has(regime->in, regime->p, optimiser, call);
  for (uint32_t i = 0; i < has.n; i++) {
    const Change *c = change_of(regime->change, owner, has.at[i].name);
    if (!c) continue;
    Setting other = {has.at[i].name, c->value, true};
    call = elab_call_with(regime->in, regime->p, optimiser, call, other);
  }
  return call;
}

void change_calls(RegimeBuilder *regime) {
  const Training *t = regime->training;
  regime->call = NEW_ARRAY(regime->w->arena, const Syntax *, t->stepper.n + 1);
  for (uint32_t i = 0; i < t->stepper.n; i++) {
    const Stepper *s = &t->stepper.at[i];
    regime->call[i] = changed_call(regime, s->name, s->call, owner_of(regime->w, s));
  }
  regime->call[t->stepper.n] = changed_call(regime, default_optimiser(BASE_R), NULL, NULL);
}

// -- goals ----------------------------------------------------------------------------------------
// Gives the goal another weight: a new output, the scaled shown value. The old diagram is not
// modified.
static void set_goal_weight(World *w, Goal *g, double weight) {
  Diagram *d = diagram_new(w, g->diagram->name);
  const Diagram *old = g->diagram;
  Id id = d->id, out = g->shown;
  *d = *old;
  d->id = id;
  d->wire.at = arena_copy(w->arena, old->wire.at, old->wire.n * sizeof(Wire));
  d->wire.cap = old->wire.n;
  d->box.cap = old->box.n; // the first push copies the boxes
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
        if (g->weight != all->at[k].value) set_goal_weight(w, g, all->at[k].value);
        break;
      }
  }
}

// -- list of settings -----------------------------------------------------------------------------
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
    same->known &= s.known && same->value == s.value; // if several differ, the value is unknown
    return;
  }
  s.name = name;
  vec_push(l->w->arena, &l->all, s);
  table_put(l->seen, name, strlen(name), l->all.n);
}

static void list_settings(SettingList *l, Elab *in, Program *p, const Stepper *s) {
  Settings has = optimiser_has(in, p, s ? s->name : default_optimiser(BASE_R), s ? s->call : NULL);
  const char *owner = owner_of(l->w, s);
  for (uint32_t i = 0; i < has.n; i++) {
    Setting all = has.at[i];
    const Change *c = owner ? change_of(l->change, owner, all.name) : NULL;
    if (c) all.value = c->value, all.known = true;
    list_one(l, NULL, all);
    if (owner) list_one(l, owner, has.at[i]);
  }
}

static bool uses_default_optimiser(Elab *in, const Program *p, const Training *t) {
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
    if (uses_default_optimiser(in, p, &t)) list_settings(&l, in, p, NULL);
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
    for (uint32_t i = 0; i <= t.stepper.n; i++) { // the last one: weights that default to adam
      const Stepper *s = i < t.stepper.n ? &t.stepper.at[i] : NULL;
      const char *name = s ? s->name : default_optimiser(BASE_R);
      Settings has = optimiser_has(in, p, name, s ? s->call : NULL);
      if (!s && !uses_default_optimiser(in, p, &t)) continue;
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
