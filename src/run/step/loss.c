// One loss of several goals. Each goal is a diagram of its own; here all are called side by side
// over the union of their inputs and of their weights. Masks, which the gradient pass reads, say
// which goal may move which weight.
//
// States of boxes (running means) move with the goals that train their learner, to the mean of the
// values that all uses in these goals propose. A goal gives the mean of its own uses, and counts as
// often as there are of them.
#include "base/names.h"
#include "core/diagram/each.h"
#include "run/step/step_own.h"

Id field_input(World *w, Diagram *d, Ids *fields, Id field, const Wire *like) {
  for (uint32_t i = 0; i < fields->n; i++)
    if (fields->at[i] == field) return d->in.at[i];
  vec_push(w->arena, fields, field);
  return diagram_input(w, d, like->type, like->name, like->origin);
}

typedef VEC(uint32_t) GoalNumbers;
typedef struct {
  Id wire;
  uint32_t uses; // the mean of so many uses
} ProposedState;
typedef VEC(ProposedState) ProposedStates;
typedef VEC(ProposedStates) Proposals; // [param]

typedef struct {
  Elab *in;
  World *w;
  Diagram *d;
  Ids fields;
  Proposals proposal;
} LossJoining;

bool goal_moves_state(Elab *in, const Goal *g, const Param *p) {
  for (uint32_t i = 0; i < g->targets.n; i++)
    if (learner_holds(in, def_of(in, g->targets.at[i]), p)) return true;
  return !g->targets.n;
}

// The goal's diagram, with the goal's shown value as a second output.
static Diagram *with_shown(World *w, const Goal *g) {
  Diagram *d = diagram_new(w, g->diagram->name);
  Id id = d->id;
  *d = *g->diagram;
  d->id = id;
  d->out = (Ids){0};
  diagram_output(w, d, g->diagram->out.at[0]);
  diagram_output(w, d, g->shown);
  return d;
}

// Gives the first output, the loss. The shown value follows if the diagram has one.
static Id call_goal(LossJoining *j, const Goal *g, Diagram *f, GoalNumbers *number) {
  World *w = j->w;
  Diagram *d = j->d;
  Ids in = {0};
  for (uint32_t i = 0; i < f->in.n; i++)
    vec_push(w->arena, &in,
             field_input(w, d, &j->fields, g->fields.at[i], &f->wire.at[f->in.at[i]]));
  for (uint32_t i = 0; i < f->param.n; i++) {
    Param p = f->param.at[i];
    const Wire *inner = &f->wire.at[p.wire];
    p.next = 0;
    uint32_t k = diagram_param(w, d, p, inner->type, inner->name, inner->origin);
    vec_push(w->arena, number, k);
    vec_push(w->arena, &in, d->param.at[k].wire);
    while (j->proposal.n < d->param.n) vec_push(w->arena, &j->proposal, (ProposedStates){0});
  }
  Id out = box_call(w, d, f, in.at, in.n, origin_new(w, g->span, 0, WHY_SOURCE));
  d->wire.at[out].name = g->name;
  if (f->noisy) d->box.at[d->box.n - 1].site = site_hash(0, name_text(w->names, g->name));
  for (uint32_t i = 0, next = out + f->out.n; i < f->param.n; i++) {
    if (!f->param.at[i].next) continue;
    if (goal_moves_state(j->in, g, &f->param.at[i]))
      vec_push(w->arena, &j->proposal.at[number->at[i]],
               (ProposedState){next, f->param.at[i].uses});
    next++;
  }
  return out;
}

static Id next_state(World *w, Diagram *d, const ProposedStates *all) {
  Id sum = all->at[0].wire, origin = d->wire.at[sum].origin;
  Type t = d->wire.at[sum].type;
  uint32_t uses = 0;
  bool equal = true;
  for (uint32_t k = 0; k < all->n; k++) {
    uses += all->at[k].uses;
    equal &= all->at[k].uses == all->at[0].uses;
  }
  for (uint32_t k = 0; k < all->n; k++) {
    Id term = all->at[k].wire;
    if (!equal && all->at[k].uses > 1)
      term = map_text(w, d, t, arena_format(w->arena, "%u*a", all->at[k].uses), &term, 1, origin);
    sum = k ? map_text(w, d, t, "a + b", (Id[]){sum, term}, 2, origin) : term;
  }
  if (all->n == 1) return sum;
  return map_text(w, d, t, arena_format(w->arena, "a/%u", equal ? all->n : uses), &sum, 1, origin);
}

static void settle_states(LossJoining *j) {
  for (uint32_t i = 0; i < j->proposal.n; i++)
    if (j->proposal.at[i].n) j->d->param.at[i].next = next_state(j->w, j->d, &j->proposal.at[i]);
}

static Loss join_goals(Elab *in, const Program *p, const Ids *goals, bool shown) {
  World *w = elab_world(in);
  LossJoining j = {.in = in, .w = w, .d = diagram_new(w, name_from(w->names, "loss"))};
  GoalNumbers *number = NEW_ARRAY(w->arena, GoalNumbers, goals->n);
  Ids show = {0};
  for (uint32_t g = 0; g < goals->n; g++) {
    const Goal *goal = &p->goal.at[goals->at[g]];
    if (!goal->diagram) return (Loss){0};
    Id out = call_goal(&j, goal, shown ? with_shown(w, goal) : goal->diagram, &number[g]);
    diagram_output(w, j.d, out);
    if (shown) vec_push(w->arena, &show, out + 1);
  }
  for (uint32_t i = 0; i < show.n; i++) diagram_output(w, j.d, show.at[i]);
  settle_states(&j);
  const bool **mask = NEW_ARRAY(w->arena, const bool *, j.d->out.n + 1);
  bool *none = NEW_ARRAY(w->arena, bool, j.d->param.n + 1);
  for (uint32_t o = 0; o < j.d->out.n; o++) {
    bool *row = o < goals->n ? NEW_ARRAY(w->arena, bool, j.d->param.n + 1) : none;
    for (uint32_t i = 0; o < goals->n && i < number[o].n; i++)
      row[number[o].at[i]] = p->goal.at[goals->at[o]].trains[i];
    mask[o] = row;
  }
  return (Loss){.diagram = j.d, .fields = j.fields, .mask = mask};
}

Loss loss_with_shown(Elab *in, const Program *p, const Ids *goals) {
  return join_goals(in, p, goals, true);
}

// Of some goals, by number.
static Loss learn_loss_of(Elab *in, const Program *p, const Ids *goals) {
  return goals->n ? join_goals(in, p, goals, false) : (Loss){0};
}

Loss learn_loss(Elab *in, const Program *p) {
  Ids all = {0};
  for (uint32_t g = 0; g < p->goal.n; g++) vec_push(elab_world(in)->arena, &all, g);
  return learn_loss_of(in, p, &all);
}
