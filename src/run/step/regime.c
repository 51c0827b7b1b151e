// A `train` statement as diagrams.
//
// In: a program whose goals are diagrams, and the statement. Out: the steps of one round, in their
// order. Without turns and without accumulation there is one step. `turns[dis: 5, gen: 1]` has one
// step for each learner, in which its goals move that learner only. `accumulate 4` has two steps:
// one accumulates the gradient, the other accumulates, updates and resets. The last step of a round
// is a diagram of its own if something counts rounds.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "lang/value/value.h"
#include "run/step/step_own.h"

// -- what the goals need --------------------------------------------------------------------------
static bool reads_step(const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK && strcmp(d->param.at[i].path, "step") == 0) return true;
  return false;
}

static Def *stale_owner(const RegimeBuilder *regime, const Param *p) {
  for (uint32_t i = 0; i < regime->p->learner.n; i++) {
    Def *d = regime->p->learner.at[i];
    if (d->kind == DEF_STALE && learner_of(d) && def_owns(regime->w, p, d, NULL)) return d;
  }
  return NULL;
}

static bool is_in_goals(const RegimeBuilder *regime, const char *path) {
  const Ids *goals = &regime->training->goals;
  for (uint32_t g = 0; g < goals->n; g++) {
    const Diagram *d = regime->p->goal.at[goals->at[g]].diagram;
    for (uint32_t i = 0; i < d->param.n; i++)
      if (d->param.at[i].rooted && strcmp(d->param.at[i].path, path) == 0) return true;
  }
  return false;
}

static bool is_copied(const RegimeBuilder *regime, const char *path) {
  for (uint32_t i = 0; i < regime->copy.n; i++)
    if (strcmp(regime->copy.at[i].path, path) == 0) return true;
  return false;
}

// Adds a stale copy. A copy of a copy follows a path that is added first, even if no goal reads
// that.
static bool add_copy(RegimeBuilder *regime, const Diagram *d, const Param *p) {
  World *w = regime->w;
  const Wire *x = &d->wire.at[p->wire];
  const Def *stale = stale_owner(regime, p);
  if (!stale || is_copied(regime, p->path)) return true;
  const char *rest = p->path + strlen(name_text(w->names, stale->name));
  const char *of = arena_format(w->arena, "%s%s", followed_path(w, stale), rest);
  const char *root = arena_format(w->arena, "%s%s", learner_path(w, stale), rest);
  if (!is_in_goals(regime, root)) return true;
  if (x->type.base != BASE_R && stale_is_by(stale->node))
    return diag_refuse(w->diags, stale->span,
                       "%s is made of bits, which have no average: copy it with `every`", of);
  Param followed = *p;
  followed.path = of;
  if (!add_copy(regime, d, &followed)) return false;
  Copy c = {p->path, of, stale, p->rooted, x->name, x->type, p->init, x->origin};
  vec_push(w->arena, &regime->copy, c);
  vec_push(w->arena, &regime->out->start, (StaleStart){p->path, root});
  regime->counts_rounds |= !stale_is_by(stale->node);
  return true;
}

// Adds the stale copies of a weight that no goal reads: measures, `show` and users of the model
// read them.
static bool add_followers(RegimeBuilder *regime, const Diagram *d, const Param *p) {
  World *w = regime->w;
  for (uint32_t i = 0; p->rooted && i < regime->p->learner.n; i++) {
    const Def *stale = regime->p->learner.at[i];
    if (stale->kind != DEF_STALE || !learner_of(stale)) continue;
    const char *rest = path_after(p->path, learner_path(w, stale));
    if (!rest) continue;
    Param own = *p;
    own.path = arena_format(w->arena, "%s%s", name_text(w->names, stale->name), rest);
    if (!add_copy(regime, d, &own)) return false;
  }
  return true;
}

static bool read_followers(RegimeBuilder *regime) {
  const Ids *goals = &regime->training->goals;
  for (uint32_t g = 0; g < goals->n; g++) {
    const Diagram *d = regime->p->goal.at[goals->at[g]].diagram;
    for (uint32_t i = 0; i < d->param.n; i++)
      if (!add_followers(regime, d, &d->param.at[i])) return false;
  }
  return true;
}

// A state that several goals move gets a mean, which only numbers have.
static bool states_are_numbers(RegimeBuilder *regime, const Goal *g, Table *moved) {
  for (uint32_t i = 0; i < g->diagram->param.n; i++) {
    const Param *p = &g->diagram->param.at[i];
    const Type *t = &g->diagram->wire.at[p->wire].type;
    if (!p->next || t->base == BASE_R || !goal_moves_state(regime->in, g, p)) continue;
    if (table_get(moved, p->path, strlen(p->path))) {
      no_mean_of_states(regime->w, g->span, t);
      return false;
    }
    table_put(moved, p->path, strlen(p->path), 1);
  }
  return true;
}

static bool read_goals(RegimeBuilder *regime) {
  World *w = regime->w;
  const Program *p = regime->p;
  const Ids *goals = &regime->training->goals;
  if (!goals->n)
    return diag_refuse(w->diags, regime->node->span,
                       "there is nothing to train: this program has no goals");
  for (uint32_t g = 0; g < goals->n; g++)
    if (!p->goal.at[goals->at[g]].diagram) return false;
  Table *moved = table_new(w->arena);
  uint64_t boxes = 0; // of all goals: these form one step
  for (uint32_t g = 0; g < goals->n; g++) {
    const Diagram *d = p->goal.at[goals->at[g]].diagram;
    boxes += diagram_boxes(w, d);
    if (boxes > BOXES_LIMIT)
      return diag_refuse(w->diags, p->goal.at[goals->at[g]].span,
                         "%s more than %d boxes, written out: too many to train",
                         g ? "this goal and those before it are" : "this goal is", BOXES_LIMIT);
    if (!states_are_numbers(regime, &p->goal.at[goals->at[g]], moved)) return false;
    regime->counts_rounds |= reads_step(d);
    for (uint32_t i = 0; i < d->param.n; i++) {
      table_put(regime->paths, d->param.at[i].path, strlen(d->param.at[i].path), 1);
      if (!add_copy(regime, d, &d->param.at[i])) return false;
    }
  }
  return read_followers(regime);
}

// -- rounds ---------------------------------------------------------------------------------------
typedef struct {
  RegimeBuilder *regime;
  Table *made; // StepOptions to number + 1
} Rounds;

static uint32_t step_number(Rounds *r, StepOptions how) {
  Regime *out = r->regime->out;
  how.last &= r->regime->counts_rounds || r->regime->copy.n;
  uint64_t key[2] = {how.turn, (uint64_t)how.kind << 1 | how.last};
  Id old = table_get(r->made, key, sizeof key);
  if (old) return old - 1;
  Step s = regime_step(r->regime, &how);
  vec_push(r->regime->w->arena, &out->step, s);
  table_put(r->made, key, sizeof key, out->step.n);
  return out->step.n - 1;
}

static void add_turn(Rounds *r, StepOptions how, uint32_t times) {
  Regime *out = r->regime->out;
  if (!times) return;
  uint32_t step = step_number(r, how);
  Turn *before = out->turn.n ? &out->turn.at[out->turn.n - 1] : NULL;
  if (before && before->step == step)
    before->times += times;
  else
    vec_push(r->regime->w->arena, &out->turn, (Turn){step, times});
}

// The turn of one learner, or of all: `times` steps, each over one or several batches.
static void add_steps(Rounds *r, uint64_t turn, uint32_t times, bool last) {
  uint32_t batches = (uint32_t)r->regime->training->accumulate;
  TurnStep ends = batches > 1 ? STEP_ENDS : STEP_PLAIN;
  for (uint32_t i = 0; i < times; i++) {
    add_turn(r, (StepOptions){turn, STEP_GATHERS, false}, batches - 1);
    add_turn(r, (StepOptions){turn, ends, last && i + 1 == times}, 1);
  }
}

static void make_rounds(RegimeBuilder *regime) {
  Rounds r = {regime, table_new(regime->w->arena)};
  const Training *t = regime->training;
  if (!t->turn.n) add_steps(&r, ALL_TURNS, 1, true);
  for (uint32_t i = 0; i < t->turn.n; i++) {
    uint32_t first = 0; // a learner with two turns has one step
    while (t->turn.at[first].learner != t->turn.at[i].learner) first++;
    add_steps(&r, (uint64_t)1 << first, t->turn.at[i].times, i + 1 == t->turn.n);
  }
}

// -- for exports that write optimisers themselves -------------------------------------------------
static void export_groups(RegimeBuilder *regime) {
  Arena *a = regime->w->arena;
  for (uint32_t i = 0; i < regime->group.n; i++) {
    const WeightGroup *g = &regime->group.at[i];
    OptimisedWeights s = {.optimiser = g->diagram,
                          .name = g->optimiser,
                          .base = g->base,
                          .has_look = g->has_look,
                          .row = g->flat,
                          .matrix = g->matrix,
                          .turns = g->turns};
    for (uint32_t k = 0; k < g->weight.n; k++)
      vec_push(a, &s, regime->weight.at[g->weight.at[k]].path);
    vec_push(a, &regime->out->stepped, s);
  }
  for (uint32_t i = 0; i < regime->copy.n; i++) {
    const Copy *c = &regime->copy.at[i];
    StaleCopy f = {
        .param = {.path = c->path, .rooted = c->rooted, .role = ROLE_BUFFER, .init = c->init},
        .type = c->type,
        .name = c->name,
        .of = c->of,
        .number = c->def->number,
        .by = stale_is_by(c->def->node)};
    vec_push(a, &regime->out->followed, f);
  }
}

bool learn_regime(Elab *in, Program *p, const Syntax *train, Regime *out) {
  return learn_changed(in, p, train, &(Changes){0}, out);
}

bool learn_changed(Elab *in, Program *p, const Syntax *train, const Changes *change, Regime *out) {
  World *w = elab_world(in);
  RegimeBuilder regime = {.in = in, .w = w, .p = p, .node = train, .out = out, .change = change};
  *out = (Regime){.node = train, .says = ""};
  regime.training = &out->training;
  if (!elab_training(in, p, train, &out->training)) return false;
  change_calls(&regime);
  change_goals(w, p, change);
  regime.origin = origin_new(w, train->span, 0, WHY_SOURCE);
  regime.paths = table_new(w->arena);
  regime.made = table_new(w->arena);
  regime.weight_of = table_new(w->arena);
  regime.says = buf_new(w->arena);
  if (!read_goals(&regime) || !regime_group_weights(&regime)) return false;
  for (uint32_t i = 0; i < regime.group.n; i++)
    regime.counts_rounds |= reads_step(regime.group.at[i].diagram);
  make_rounds(&regime);
  export_groups(&regime);
  out->says = regime.says.at ? regime.says.at : "";
  return true;
}
