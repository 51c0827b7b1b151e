// One training step as one diagram.
//
//   rows of weights ─look─► weights ─► goals and their gradient
//                                       ─► gradients as rows ─► optimisers ─► next rows
//
// The gradient of the goals is one diagram, made by the gradient pass. It is called with slices of
// the weight rows, and its gradients are concatenated to rows of the same layout. Then, in this
// order: batches are accumulated, the norm of the whole gradient is clipped to `clip`, `decay`
// times the weight is added, and each group's optimiser is called. Everything reads the values
// before the step.
//
// An optimiser with a `look` is called twice: first for the weights that the model sees, where its
// gradient is not used, then for the update. Unused outputs are pruned.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/pass/pipeline.h"
#include "run/step/step_own.h"

typedef struct {
  RegimeBuilder *regime;
  World *w;
  Diagram *d;
  const StepOptions *how;
  Id *seen; // [group] the weights that the model sees; 0: not made yet
  Id *grad; // [group] gradient; 0: the group is not stepped
  Id *next; // [group] next weights
} StepBuild;

// -- params ---------------------------------------------------------------------------------------
static uint32_t add_param(StepBuild *b, Param p, Type t, Name name, Id origin) {
  return diagram_param(b->w, b->d, p, t, name, origin);
}

static uint32_t copy_param(StepBuild *b, const Diagram *from, const Param *p, const char *path) {
  Param copy = *p;
  const Wire *x = &from->wire.at[p->wire];
  copy.path = path;
  copy.next = 0;
  return diagram_param(b->w, b->d, copy, x->type, x->name, x->origin);
}

static Id param_wire(const StepBuild *b, uint32_t number) { return b->d->param.at[number].wire; }

static uint32_t group_param(StepBuild *b, uint32_t group) {
  const WeightGroup *g = &b->regime->group.at[group];
  const Weight *first = &b->regime->weight.at[g->weight.at[0]];
  Param p = {.path = g->path, .role = ROLE_WEIGHT, .init = {.kind = INIT_CONST}};
  if (g->flat)
    return add_param(b, p, g->type, name_from(b->w->names, "weights"), b->regime->origin);
  p.rooted = first->rooted;
  p.init = first->init;
  return add_param(b, p, g->type, first->name, first->origin);
}

static uint32_t clock_param(StepBuild *b) {
  Name name = name_from(b->w->names, "step");
  Param p = {.path = "step", .rooted = true, .role = ROLE_CLOCK, .init = {.kind = INIT_CONST}};
  return add_param(b, p, (Type){.base = BASE_R}, name, b->regime->origin);
}

// -- optimisers -----------------------------------------------------------------------------------
// Calls the group's optimiser on p and grad, which have the group's type. Gives the weights that
// the model sees and the next p. `states`: the optimiser's states are updated.
static void call_optimiser(StepBuild *b, uint32_t group, Id p, Id grad, bool states, Id *look,
                           Id *next) {
  World *w = b->w;
  const WeightGroup *g = &b->regime->group.at[group];
  Diagram *f = g->diagram;
  Id origin = b->regime->origin;
  Ids in = {0}, number = {0};
  Type t = g->matrix ? type_as_matrix(w, &g->type) : g->type;
  vec_push(w->arena, &in, g->matrix ? wire_as_matrix(w, b->d, p, origin) : p);
  vec_push(w->arena, &in, g->matrix ? wire_as_matrix(w, b->d, grad, origin) : grad);
  for (uint32_t i = 0; i < f->param.n; i++) {
    const Param *q = &f->param.at[i];
    const Wire *x = &f->wire.at[q->wire];
    Param own = {.path = arena_format(w->arena, "%s/%s", g->states, q->path),
                 .role = ROLE_BUFFER,
                 .init = q->init};
    uint32_t k = q->role == ROLE_BUFFER
                     ? add_param(b, own, x->type.rank ? t : x->type, x->name, origin)
                     : copy_param(b, f, q, q->path);
    vec_push(w->arena, &number, k);
    vec_push(w->arena, &in, param_wire(b, k));
  }
  Id out = box_call(w, b->d, f, in.at, in.n, origin), after = out + f->out.n;
  for (uint32_t i = 0; states && i < f->param.n; i++)
    if (f->param.at[i].next) b->d->param.at[number.at[i]].next = after++;
  *look = g->matrix ? wire_from_matrix(w, b->d, out, g->type, origin) : out;
  *next = g->matrix ? wire_from_matrix(w, b->d, out + 1, g->type, origin) : out + 1;
}

static Id group_seen(StepBuild *b, uint32_t group) {
  const WeightGroup *g = &b->regime->group.at[group];
  Id p = param_wire(b, group_param(b, group)), next;
  if (b->seen[group]) return b->seen[group];
  b->seen[group] = p;
  if (g->has_look)
    call_optimiser(b, group, p, wire_filled(b->w, b->d, &g->type, 0, 0, b->regime->origin), false,
                   &b->seen[group], &next);
  return b->seen[group];
}

// A weight: a slice of its group's row, or the group's param if the weight is alone.
static Id weight_in(StepBuild *b, const Weight *x, Id row) {
  if (!b->regime->group.at[x->group].flat) return row;
  return wire_view(b->w, b->d, row, x->offset, x->type, x->name, x->origin);
}

// -- goals and their gradient ---------------------------------------------------------------------
static bool is_moved(const StepBuild *b, const Weight *x) {
  return !b->how->turn || b->regime->group.at[x->group].turns & b->how->turn;
}

static Ids goals_of(const StepBuild *b) {
  Ids goals = {0};
  for (uint32_t k = 0; k < b->regime->training->goals.n; k++) {
    uint32_t g = b->regime->training->goals.at[k];
    const Goal *goal = &b->regime->p->goal.at[g];
    bool any = !b->how->turn;
    for (uint32_t i = 0; !any && i < goal->diagram->param.n; i++)
      any = goal->trains[i] && is_moved(b, regime_weight(b->regime, &goal->diagram->param.at[i]));
    if (any) vec_push(b->w->arena, &goals, g);
  }
  return goals;
}

// Only the goals' losses, which are the first outputs, move weights.
static const bool *const *masks_of(const StepBuild *b, const Loss *loss, uint32_t ngoal) {
  const Diagram *d = loss->diagram;
  const bool **mask = NEW_ARRAY(b->w->arena, const bool *, d->out.n);
  bool *moved = NEW_ARRAY(b->w->arena, bool, d->param.n + 1);
  bool *none = NEW_ARRAY(b->w->arena, bool, d->param.n + 1);
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Weight *x = regime_weight(b->regime, &d->param.at[i]);
    moved[i] = x && is_moved(b, x);
  }
  for (uint32_t o = 0; o < d->out.n; o++) {
    bool *row = o < ngoal ? NEW_ARRAY(b->w->arena, bool, d->param.n + 1) : none;
    for (uint32_t i = 0; o < ngoal && i < d->param.n; i++) row[i] = loss->mask[o][i] && moved[i];
    mask[o] = row;
  }
  return mask;
}

// The gradient of one group, of the type of its weights. d[weight]: gradient wires.
static Id group_gradient(StepBuild *b, const WeightGroup *g, const Id *d) {
  World *w = b->w;
  Id origin = b->regime->origin;
  Ids piece = {0};
  if (!g->flat) return d[g->weight.at[0]];
  int64_t at = 0;
  for (uint32_t i = 0; i < g->weight.n; i++) {
    const Weight *x = &b->regime->weight.at[g->weight.at[i]];
    int64_t count = 0,
            end = i + 1 < g->weight.n ? b->regime->weight.at[g->weight.at[i + 1]].offset : g->count;
    type_count(w, &x->type, &count);
    vec_push(w->arena, &piece, wire_flatten(w, b->d, d[g->weight.at[i]], origin));
    at = x->offset + count;
    Type gap = type_make(w, g->base, 1, &(Axis){.size = size_of(w, end - at)});
    if (at < end) vec_push(w->arena, &piece, wire_filled(w, b->d, &gap, 0, 0, origin));
  }
  if (piece.n == 1) return piece.at[0];
  Id row = box_join(w, b->d, 0, piece.at, piece.n, origin);
  b->d->wire.at[row].type = g->type;
  return row;
}

// Calls the gradient of the goals. Its outputs become those of the step, and gradients of groups.
static void run_goals(StepBuild *b, const Loss *loss, uint32_t ngoal) {
  World *w = b->w;
  RegimeBuilder *regime = b->regime;
  const bool *const *mask = masks_of(b, loss, ngoal);
  Diagram *f = diagram_gradient(w, passes_shared(w, loss->diagram), mask);
  Ids in = {0}, number = {0};
  Id *d = NEW_ARRAY(w->arena, Id, regime->weight.n);
  for (uint32_t i = 0; i < f->in.n; i++) {
    const Wire *x = &f->wire.at[f->in.at[i]];
    vec_push(w->arena, &in, diagram_input(w, b->d, x->type, x->name, x->origin));
  }
  for (uint32_t i = 0; i < f->param.n; i++) {
    const Weight *x = regime_weight(regime, &f->param.at[i]);
    uint32_t k = x ? 0 : copy_param(b, f, &f->param.at[i], f->param.at[i].path);
    vec_push(w->arena, &number, k);
    vec_push(w->arena, &in, x ? weight_in(b, x, group_seen(b, x->group)) : param_wire(b, k));
  }
  Id out = box_call(w, b->d, f, in.at, in.n, regime->origin);
  for (uint32_t i = 0; i < ngoal; i++) {
    Name name = b->d->wire.at[out + i].name;
    diagram_output(w, b->d, out + ngoal + i);
    b->d->wire.at[out + ngoal + i].name = name;
  }
  Id after = out + 2 * ngoal;
  bool *moved = NEW_ARRAY(w->arena, bool, f->param.n + 1);
  for (uint32_t o = 0; o < ngoal; o++)
    for (uint32_t i = 0; i < f->param.n; i++) moved[i] |= mask[o][i];
  for (uint32_t i = 0; i < f->param.n; i++)
    if (moved[i]) d[regime_weight(regime, &f->param.at[i]) - regime->weight.at] = after++;
  for (uint32_t i = 0; i < f->param.n; i++)
    if (f->param.at[i].next) b->d->param.at[number.at[i]].next = after++;
  for (uint32_t g = 0; g < regime->group.n; g++)
    if (is_moved(b, &regime->weight.at[regime->group.at[g].weight.at[0]]))
      b->grad[g] = group_gradient(b, &regime->group.at[g], d);
}

// -- from gradients to next weights ---------------------------------------------------------------
// Adds this batch's share to the accumulated gradient. Only the last batch of several is followed
// by an update.
static void accumulate(StepBuild *b, uint32_t group) {
  World *w = b->w;
  const WeightGroup *g = &b->regime->group.at[group];
  Id origin = b->regime->origin;
  Param p = {.path = arena_format(w->arena, "%s/gathered", g->states),
             .role = ROLE_BUFFER,
             .init = {.kind = INIT_CONST}};
  uint32_t k = add_param(b, p, g->type, name_from(w->names, "gathered"), origin);
  const char *text = g->base == BASE_BIT ? "xor(a, b)"
                                         : arena_format(w->arena, "a + b/%lld",
                                                        (long long)b->regime->training->accumulate);
  Id sum = map_text(w, b->d, g->type, text, (Id[]){param_wire(b, k), b->grad[group]}, 2, origin);
  bool ends = b->how->kind == STEP_ENDS;
  b->d->param.at[k].next = ends ? wire_filled(w, b->d, &g->type, 0, 0, origin) : sum;
  b->grad[group] = ends ? sum : 0;
}

static void clip(StepBuild *b) {
  World *w = b->w;
  Id total = 0, origin = b->regime->origin;
  Type number = {.base = BASE_R};
  for (uint32_t g = 0; g < b->regime->group.n; g++) {
    if (!b->grad[g] || b->regime->group.at[g].base != BASE_R) continue;
    Id square = fold_text(w, b->d, SUM, "a*a", &b->grad[g], 1, origin);
    total = total ? map_text(w, b->d, number, "a + b", (Id[]){total, square}, 2, origin) : square;
  }
  if (!total) return;
  const char *text =
      arena_format(w->arena, "minimum(1, %.17g/(sqrt(a) + 1e-6))", b->regime->training->clip);
  Id factor = map_text(w, b->d, number, text, &total, 1, origin);
  for (uint32_t g = 0; g < b->regime->group.n; g++)
    if (b->grad[g] && b->regime->group.at[g].base == BASE_R)
      b->grad[g] = map_text(w, b->d, b->regime->group.at[g].type, "a*b", (Id[]){b->grad[g], factor},
                            2, origin);
}

static void step_groups(StepBuild *b) {
  World *w = b->w;
  RegimeBuilder *regime = b->regime;
  const Training *t = regime->training;
  for (uint32_t g = 0; b->how->kind != STEP_PLAIN && g < regime->group.n; g++)
    if (b->grad[g]) accumulate(b, g);
  if (t->clip > 0) clip(b);
  for (uint32_t g = 0; g < regime->group.n; g++) {
    if (!b->grad[g]) continue;
    uint32_t k = group_param(b, g);
    Id look, grad = b->grad[g];
    if (t->decay > 0 && regime->group.at[g].base == BASE_R)
      grad = map_text(w, b->d, regime->group.at[g].type,
                      arena_format(w->arena, "a + %.17g*b", t->decay),
                      (Id[]){grad, group_seen(b, g)}, 2, regime->origin);
    call_optimiser(b, g, param_wire(b, k), grad, true, &look, &b->next[g]);
    b->d->param.at[k].next = b->next[g];
  }
}

// -- stale copies and the clock -------------------------------------------------------------------
// The value of a param after this step.
static Id value_after(StepBuild *b, const Copy *c) {
  Param named = {.path = c->of, .rooted = c->rooted, .role = ROLE_WEIGHT};
  const Weight *x = regime_weight(b->regime, &named);
  if (x) {
    uint32_t k = group_param(b, x->group);
    return weight_in(b, x, b->next[x->group] ? b->next[x->group] : param_wire(b, k));
  }
  for (uint32_t i = 0; i < b->d->param.n; i++) {
    const Param *p = &b->d->param.at[i];
    if (p->rooted == c->rooted && strcmp(p->path, c->of) == 0) return p->next ? p->next : p->wire;
  }
  return 0;
}

static void update_stale_copy(StepBuild *b, const Copy *c) {
  World *w = b->w;
  Id origin = b->regime->origin, after = value_after(b, c);
  if (!after) return;
  Param p = {.path = c->path, .rooted = c->rooted, .role = ROLE_BUFFER, .init = c->init};
  uint32_t k = add_param(b, p, c->type, c->name, c->origin);
  Id old = param_wire(b, k);
  if (!stale_is_by(c->def->node)) {
    const char *text =
        arena_format(w->arena, "select(mod(c + 1, %.17g) = 0, a, b)", c->def->number);
    Id in[3] = {after, old, param_wire(b, clock_param(b))};
    b->d->param.at[k].next = map_text(w, b->d, c->type, text, in, 3, origin);
  } else {
    double keep = c->def->number;
    const char *text = arena_format(w->arena, "%.17g*b + %.17g*a", keep, 1 - keep);
    b->d->param.at[k].next = map_text(w, b->d, c->type, text, (Id[]){after, old}, 2, origin);
  }
}

static void end_round(StepBuild *b) {
  for (uint32_t i = 0; i < b->regime->copy.n; i++) update_stale_copy(b, &b->regime->copy.at[i]);
  if (!b->regime->counts_rounds) return;
  uint32_t k = clock_param(b);
  Id now = param_wire(b, k);
  b->d->param.at[k].next =
      map_text(b->w, b->d, (Type){.base = BASE_R}, "a + 1", &now, 1, b->regime->origin);
}

Step regime_step(RegimeBuilder *regime, const StepOptions *how) {
  World *w = regime->w;
  StepBuild b = {.regime = regime, .w = w, .how = how};
  b.d = diagram_new(w, name_from(w->names, "step"));
  b.seen = NEW_ARRAY(w->arena, Id, regime->group.n);
  b.grad = NEW_ARRAY(w->arena, Id, regime->group.n);
  b.next = NEW_ARRAY(w->arena, Id, regime->group.n);
  Step step = {.goals = goals_of(&b)};
  Loss loss = loss_with_shown(regime->in, regime->p, &step.goals);
  step.fields = loss.fields;
  run_goals(&b, &loss, step.goals.n);
  step_groups(&b);
  if (how->last) end_round(&b);
  step.diagram = passes_step(w, b.d);
  return step;
}
