// The goals of a program as one module of PyTorch, which gives a number for each; which goal moves
// which learner; and a loop that trains.
#include "port/export/python_own.h"

static const char *const loop =
    "\n\ndef slopes_of(model, *data):\n"
    "    \"\"\"What each goal gives, and the slope of each weight: a goal moves only what it "
    "trains.\"\"\"\n"
    "    losses = model(*data)\n"
    "    slopes = {}\n"
    "    for loss, learners in zip(losses, TRAINS):\n"
    "        moved = [(name, weight) for name, weight in model.named_parameters()\n"
    "                 if weight.requires_grad and (name + \".\").startswith(learners)]\n"
    "        if not moved or not loss.requires_grad:\n"
    "            continue\n"
    "        found = torch.autograd.grad(loss, [weight for _, weight in moved], "
    "retain_graph=True,\n"
    "                                    allow_unused=True)\n"
    "        for (name, _), slope in zip(moved, found):\n"
    "            if slope is not None:\n"
    "                slopes[name] = slopes[name] + slope if name in slopes else slope\n"
    "    return losses, slopes\n"
    "\n\ndef train(model, batches, optimiser):\n"
    "    \"\"\"A step for each batch, which is a tuple of what `forward` takes; gives the last "
    "losses.\"\"\"\n"
    "    losses = None\n"
    "    for batch in batches:\n"
    "        losses, slopes = slopes_of(model, *batch)\n"
    "        for name, weight in model.named_parameters():\n"
    "            weight.grad = slopes.get(name)\n"
    "        optimiser.step()\n"
    "    return losses\n";

static bool same_learner(const char *a, const char *b, size_t n) {
  return strncmp(a, b, n) == 0 && (b[n] == '/' || !b[n]);
}

// Does the goal move every weight of this learner that it uses?
static bool moves_all(const Loss *loss, const Goal *g, uint32_t goal, const char *path, size_t n) {
  for (uint32_t i = 0; i < loss->diagram->param.n; i++) {
    const Param *p = &loss->diagram->param.at[i];
    if (p->role != ROLE_WEIGHT || loss->mask[goal][i] || !same_learner(path, p->path, n)) continue;
    for (uint32_t k = 0; k < g->diagram->param.n; k++)
      if (!strcmp(g->diagram->param.at[k].path, p->path)) return false;
  }
  return true;
}

static void put_trained(Python *p, const Loss *loss, const Goal *g, uint32_t goal, Buf *b) {
  Table *there = table_new(p->a);
  buf_text(b, "    (");
  for (uint32_t i = 0; i < loss->diagram->param.n; i++) {
    const Param *param = &loss->diagram->param.at[i];
    const char *end = strchr(param->path, '/');
    size_t n = end ? (size_t)(end - param->path) : strlen(param->path);
    if (!loss->mask[goal][i] || param->role != ROLE_WEIGHT) continue;
    if (!moves_all(loss, g, goal, param->path, n)) n = strlen(param->path);
    const char *own = arena_text(p->a, param->path, n);
    if (table_get(there, own, n)) continue;
    table_put(there, own, n, 1);
    buf_printf(b, "\"%s.\", ", python_path(p, own) + strlen("self."));
  }
  buf_printf(b, "),  # %s\n", name_text(p->w->names, g->name));
}

// States that a step moves have no form yet.
static bool states_move(Export *e, const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    const Param *param = &d->param.at[i];
    if (param->role == ROLE_WEIGHT || param->role == ROLE_CONST) continue;
    export_wrong(e, OUTCOME_WRONG,
                 "training moves `%s`, a state, and states have no form in PyTorch yet: name a "
                 "learner",
                 param->path);
    return true;
  }
  return false;
}

const Diagram *python_goals(Python *p, Loss *loss) {
  *loss = learn_loss(p->e->in, p->e->p);
  if (!loss->diagram) {
    export_wrong(p->e, OUTCOME_WRONG, "the program has no goals: name a box or learner");
    return NULL;
  }
  return states_move(p->e, loss->diagram) ? NULL : loss->diagram;
}

void python_training(Python *p, const Loss *loss, Buf *b) {
  const Program *program = p->e->p;
  buf_text(b, "\n\n# What each goal moves: weights whose names begin so.\nTRAINS = (\n");
  for (uint32_t g = 0; g < program->goal.n; g++) put_trained(p, loss, &program->goal.at[g], g, b);
  buf_text(b, ")\n");
  buf_text(b, loop);
}
