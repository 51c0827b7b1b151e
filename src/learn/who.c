// Who trains whom: goals × learners.
//   moves    the goal changes the learner
//   through  the learner occurs and the gradient flows through it, but the goal does not change it
#include "learn.h"

typedef enum { ABSENT, THROUGH, MOVES } Effect;

static bool owns(World *w, const Def *d, const char *path) {
  const char *name = name_text(w->names, d->name);
  size_t n = strlen(name);
  return strncmp(path, name, n) == 0 && (path[n] == 0 || path[n] == '/' || path[n] == '.');
}

// A learner is moved with its parts.
static Effect effect(Infer *in, const Goal *g, Def *d) {
  World *w = infer_world(in);
  Effect e = ABSENT;
  Ids parts = {0};
  def_closure(in, d, &parts);
  for (uint32_t i = 0; g->diagram && i < g->diagram->param.n; i++) {
    const Param *p = &g->diagram->param.at[i];
    bool mine = false;
    for (uint32_t k = 0; k < parts.n; k++) mine |= owns(w, def_of(in, parts.at[k]), p->path);
    if (!p->rooted || p->role == ROLE_CLOCK || p->role == ROLE_CONST || !mine) continue;
    if (g->trains[i]) return MOVES;
    e = THROUGH;
  }
  return e;
}

static uint32_t width(const Program *p, World *w) {
  uint32_t most = 4;
  for (uint32_t g = 0; g < p->goal.n; g++) {
    uint32_t n = (uint32_t)strlen(name_text(w->names, p->goal.at[g].name));
    if (n > most) most = n;
  }
  return most;
}

void learn_who(Infer *in, const Program *p, Buf *out) {
  static const char *const word[] = {"·", "through", "moves"};
  World *w = infer_world(in);
  int first = (int)width(p, w);
  buf_printf(out, "%-*s", first, "");
  for (uint32_t i = 0; i < p->learner.n; i++) buf_printf(out, "  %-8s", name_text(w->names, p->learner.at[i]->name));
  buf_char(out, '\n');
  for (uint32_t g = 0; g < p->goal.n; g++) {
    buf_printf(out, "%-*s", first, name_text(w->names, p->goal.at[g].name));
    for (uint32_t i = 0; i < p->learner.n; i++) {
      Effect e = effect(in, &p->goal.at[g], p->learner.at[i]);
      uint32_t wide = (uint32_t)strlen(name_text(w->names, p->learner.at[i]->name));
      buf_printf(out, "  %s", word[e]);
      for (uint32_t k = e == ABSENT ? 1 : (uint32_t)strlen(word[e]); k < (wide > 8 ? wide : 8); k++) buf_char(out, ' ');
    }
    while (out->n && out->at[out->n - 1] == ' ') out->at[--out->n] = 0;
    buf_char(out, '\n');
  }
}

void learn_who_json(Infer *in, const Program *p, Buf *out) {
  static const char *const word[] = {"absent", "through", "moves"};
  World *w = infer_world(in);
  buf_char(out, '{');
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const char *name = name_text(w->names, p->goal.at[g].name);
    buf_text(out, g ? ", " : "");
    buf_json(out, name, strlen(name));
    buf_text(out, ": {");
    for (uint32_t i = 0; i < p->learner.n; i++) {
      const char *learner = name_text(w->names, p->learner.at[i]->name);
      buf_text(out, i ? ", " : "");
      buf_json(out, learner, strlen(learner));
      buf_printf(out, ": \"%s\"", word[effect(in, &p->goal.at[g], p->learner.at[i])]);
    }
    buf_char(out, '}');
  }
  buf_char(out, '}');
}
