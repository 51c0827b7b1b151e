// The goals of a program as functions: methods of one module in PyTorch, functions of a weight tree
// in JAX. Each returns its loss before the factor of `times`, and the next values of the states
// that it updates, by name. training.c describes how they train.
#include "base/names.h"
#include "base/table.h"
#include "port/python/python_own.h"

// -- goals ----------------------------------------------------------------------------------------
const char *python_goal_word(const Python *p, uint32_t number) {
  const Goal *g = &p->e->p->goal.at[number];
  const char *said = g->name ? name_text(p->w->names, g->name) : "";
  return *said ? said : arena_format(p->a, "goal_%u", number + 1);
}

// A method must not shadow a learner, and a function must not shadow a definition.
static void name_goals(Python *p) {
  const Program *program = p->e->p;
  const Diagram *d = p->loss.diagram;
  Table *taken = p->methods = p->jax ? p->taken : table_new(p->a);
  for (uint32_t i = 0; !p->jax && i < d->param.n; i++) {
    const char *path = d->param.at[i].path;
    const char *own = python_name(p->a, arena_text(p->a, path, strcspn(path, "/")));
    table_put(taken, own, strlen(own), 1);
  }
  p->goal = NEW_ARRAY(p->a, const char *, program->goal.n + 1);
  for (uint32_t i = 0; i < program->goal.n; i++) {
    const char *own = python_name(p->a, python_goal_word(p, i));
    if (table_get(taken, own, strlen(own))) own = arena_format(p->a, "%s_goal", own);
    p->goal[i] = p->jax ? python_defined(p, own) : python_unique(p->a, taken, own);
  }
}

// Trained bits have no gradient in PyTorch and JAX: refused.
static bool bits_are_trained(Python *p) {
  for (uint32_t i = 0; i < p->regime.n; i++)
    for (uint32_t k = 0; k < p->regime.at[i].stepped.n; k++) {
      const OptimisedWeights *s = &p->regime.at[i].stepped.at[k];
      if (s->base == BASE_R) continue;
      export_error(p->e, OUTCOME_WRONG,
                   "training moves `%s`, which is made of bits, and %s has no slopes of bits: name "
                   "a learner",
                   s->at[0], p->jax ? "JAX" : "PyTorch");
      return true;
    }
  return false;
}

// Copies that no goal reads are weights of the model too.
static void add_copies(Python *p, Diagram *d) {
  for (uint32_t i = 0; i < p->regime.n; i++)
    for (uint32_t k = 0; k < p->regime.at[i].followed.n; k++) {
      const StaleCopy *c = &p->regime.at[i].followed.at[k];
      diagram_param(p->w, d, c->param, c->type, c->name, 0);
    }
}

const Diagram *python_program(Python *p) {
  Export *e = p->e;
  p->loss = learn_loss(e->in, e->p);
  if (!p->loss.diagram) {
    export_error(e, OUTCOME_WRONG, "the program has no goals: name a box or learner");
    return NULL;
  }
  for (uint32_t i = 0; i < e->p->train.n; i++) {
    Regime r;
    if (!learn_regime(e->in, e->p, e->p->train.at[i], &r)) return NULL;
    vec_push(p->a, &p->regime, r);
  }
  if (bits_are_trained(p)) return NULL;
  p->rounds = NEW_ARRAY(p->a, uint64_t, e->p->train.n + 1);
  train_lengths(e->in, e->p, p->rounds);
  p->masked = p->loss.diagram->param.n;
  add_copies(p, p->loss.diagram);
  name_goals(p);
  return p->loss.diagram;
}

// -- the functions --------------------------------------------------------------------------------
// Names the states that a goal updates: these are additional results.
static void note_states(Python *p, PythonWork *k, const Goal *g) {
  uint32_t at = 0;
  k->states = NEW_ARRAY(p->a, const char *, g->diagram->param.n + 1);
  for (uint32_t i = 0; i < g->diagram->param.n; i++) {
    const Param *param = &g->diagram->param.at[i];
    if (!param->next) continue;
    k->states[at++] = goal_moves_state(p->e->in, g, param) ? python_dotted(p, param->path) : "";
  }
}

static Diagram *goal_shown(Python *p, const Goal *g) {
  Diagram *d = diagram_new(p->w, g->diagram->name);
  Id id = d->id;
  *d = *g->diagram;
  d->id = id;
  d->out = (Ids){0};
  diagram_output(p->w, d, g->shown);
  return d;
}

// The text of a goal: its arguments and its body.
typedef struct {
  const char *arguments, *body;
  bool noisy;
} GoalText;

static bool trained_text(Python *p, PythonWork *k, uint32_t i, GoalText *to) {
  const Goal *g = &p->e->p->goal.at[i];
  k->d = k->now = goal_shown(p, g);
  note_states(p, k, g);
  to->noisy = g->diagram->noisy;
  return python_lowered(k, &to->arguments, &to->body);
}

// Params that are read only in use are not weights of the module.
static bool has_params(const Diagram *module, const Diagram *d) {
  for (uint32_t i = 0, k; i < d->param.n; i++) {
    for (k = 0; k < module->param.n; k++)
      if (!strcmp(module->param.at[k].path, d->param.at[i].path)) break;
    if (k == module->param.n) return false;
  }
  return true;
}

// The goal with `training` = 0, as a measure evaluates it; it updates no states.
static bool used_text(Python *p, PythonWork *k, uint32_t i, GoalText *to) {
  Diagram *d = goal_for_inference(p->e->in, p->e->p, &p->e->p->goal.at[i]);
  if (!d || !has_params(p->loss.diagram, d)) return to->arguments = to->body = "", true;
  k->d = k->now = d;
  to->noisy = d->noisy;
  return python_lowered(k, &to->arguments, &to->body);
}

static void put_function(const Python *p, const char *name, const GoalText *t, Buf *b) {
  buf_printf(b, p->jax ? "\n\ndef %s(p%s%s%s):\n" : "\n    def %s(self%s%s%s):\n", name,
             p->jax && t->noisy ? ", key" : "", *t->arguments ? ", " : "", t->arguments);
}

// Writes a goal; if it differs in use (running statistics of batch_norm, no dropout), writes both
// forms. PyTorch selects one by `eval()` and `train()`; in JAX the second is another function.
static void put_goal(Python *p, uint32_t i, const GoalText *t, const GoalText *used, Buf *b) {
  bool other = strcmp(t->arguments, used->arguments) != 0 || strcmp(t->body, used->body) != 0;
  const char *name = arena_format(p->a, "%s_in_use", p->goal[i]);
  name = p->jax ? python_defined(p, name) : python_unique(p->a, p->methods, name);
  bool can = *used->body && !strcmp(t->arguments, used->arguments);
  put_function(p, p->goal[i], t, b);
  if (other && !p->jax)
    buf_printf(b, "        if not self.training:\n            %s\n",
               can ? arena_format(p->a, "return self.%s(%s)", name, used->arguments)
                   : "raise NotImplementedError(\"in use, this goal reads something else\")");
  buf_text(b, t->body);
  if (!other || !can) return;
  put_function(p, name, used, b);
  buf_text(b, used->body);
}

const PythonMade *python_goals(Python *p) {
  Buf functions = buf_new(p->a);
  PythonWork k = {.p = p, .root = true, .goals = true};
  uint32_t n = p->e->p->goal.n;
  GoalText *trained = NEW_ARRAY(p->a, GoalText, n + 1), *used = NEW_ARRAY(p->a, GoalText, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!trained_text(p, &k, i, &trained[i])) return NULL;
  for (uint32_t i = 0; i < n; i++) // after the goals in training, whose modules own the weights
    if (!used_text(p, &k, i, &used[i])) return NULL;
  for (uint32_t i = 0; i < n; i++) put_goal(p, i, &trained[i], &used[i], &functions);
  k.d = p->loss.diagram;
  PythonMade *made = NEW(p->a, PythonMade);
  made->name = p->jax ? "goals" : "Goals";
  if (!p->jax) {
    Buf init = buf_new(p->a);
    python_members(&k, &init);
    buf_printf(&p->text,
               "\n\nclass %s(nn.Module):\n    def __init__(self):\n        super().__init__()\n%s",
               made->name, init.at);
    python_start_copies(p, &p->text);
  }
  buf_text(&p->text, functions.at);
  return made;
}
