// Which goal trains which learner: goals × learners, the members of a family one by one.
//   moves    the goal changes the learner
//   through  the learner occurs and the gradient flows through it, but the goal does not change it
#include "run/step/step.h"

typedef struct {
  const Def *def;
  Ids parts;          // a learner is moved with its parts (DEF ids)
  const char *member; // ".2" of a family, or NULL
  const char *title;
} WhoColumn;
typedef VEC(WhoColumn) WhoColumns;

static Effect effect(Elab *in, const Goal *g, const WhoColumn *c) {
  Effect e = WHO_ABSENT;
  for (uint32_t i = 0; g->diagram && i < g->diagram->param.n; i++) {
    const Param *p = &g->diagram->param.at[i];
    bool mine = false;
    for (uint32_t k = 0; k < c->parts.n; k++)
      mine |= def_owns(elab_world(in), p, def_of(in, c->parts.at[k]), k ? NULL : c->member);
    if (!p->rooted || p->role == ROLE_CLOCK || p->role == ROLE_CONST || !mine) continue;
    if (g->trains[i]) return WHO_MOVES;
    e = WHO_THROUGH;
  }
  return e;
}

// The members of a family that occur in some goal, in the order of their numbers.
static void add_members(World *w, const Program *p, const Def *d, const Ids *parts,
                        WhoColumns *out) {
  const char *name = name_text(w->names, d->name);
  for (uint32_t k = 0, missing = 0; missing < 1; k++) {
    const char *member = arena_format(w->arena, ".%u", k);
    bool found = false;
    for (uint32_t g = 0; g < p->goal.n && !found; g++)
      for (uint32_t i = 0; p->goal.at[g].diagram && i < p->goal.at[g].diagram->param.n && !found;
           i++)
        found = def_owns(w, &p->goal.at[g].diagram->param.at[i], d, member);
    if (found)
      vec_push(w->arena, out,
               (WhoColumn){d, *parts, member, arena_format(w->arena, "%s[%u]", name, k)});
    else
      missing++;
  }
}

static WhoColumns columns(Elab *in, const Program *p) {
  World *w = elab_world(in);
  WhoColumns out = {0};
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Def *d = p->learner.at[i];
    Ids parts = {0};
    def_closure(in, d, &parts);
    uint32_t before = out.n;
    if (d->kind == DEF_LEARNER && learner_family(d->node)) add_members(w, p, d, &parts, &out);
    if (out.n == before)
      vec_push(w->arena, &out, (WhoColumn){d, parts, NULL, name_text(w->names, d->name)});
  }
  return out;
}

WhoTable learn_who_table(Elab *in, const Program *p) {
  World *w = elab_world(in);
  WhoColumns c = columns(in, p);
  WhoTable t = {.goals = p->goal.n, .learners = c.n};
  t.goal = NEW_ARRAY(w->arena, const char *, t.goals + 1);
  t.learner = NEW_ARRAY(w->arena, const char *, t.learners + 1);
  t.def = NEW_ARRAY(w->arena, const Def *, t.learners + 1);
  t.effect = NEW_ARRAY(w->arena, Effect, (size_t)t.goals * t.learners + 1);
  for (uint32_t i = 0; i < c.n; i++) t.learner[i] = c.at[i].title, t.def[i] = c.at[i].def;
  for (uint32_t g = 0; g < t.goals; g++) {
    t.goal[g] = name_text(w->names, p->goal.at[g].name);
    for (uint32_t i = 0; i < c.n; i++)
      t.effect[g * t.learners + i] = effect(in, &p->goal.at[g], &c.at[i]);
  }
  return t;
}

static void padded(Buf *out, const char *text, uint32_t shown, uint32_t width) {
  buf_text(out, text);
  for (uint32_t k = shown; k < width; k++) buf_char(out, ' ');
}

static void end_line(Buf *out) {
  while (out->n && out->at[out->n - 1] == ' ') out->at[--out->n] = 0;
  buf_char(out, '\n');
}

static uint32_t length(const char *text) { return (uint32_t)strlen(text); }

void learn_who(Elab *in, const Program *p, Buf *out) {
  static const char *const word[] = {"·", "through", "moves"};
  static const uint32_t shown[] = {1, 7, 5};
  WhoTable t = learn_who_table(in, p);
  uint32_t first = 4;
  for (uint32_t g = 0; g < t.goals; g++)
    if (length(t.goal[g]) > first) first = length(t.goal[g]);
  padded(out, "", 0, first);
  for (uint32_t i = 0; i < t.learners; i++) {
    buf_text(out, "  ");
    padded(out, t.learner[i], length(t.learner[i]), 7);
  }
  end_line(out);
  for (uint32_t g = 0; g < t.goals; g++) {
    padded(out, t.goal[g], length(t.goal[g]), first);
    for (uint32_t i = 0; i < t.learners; i++) {
      Effect e = t.effect[g * t.learners + i];
      uint32_t wide = length(t.learner[i]);
      buf_text(out, "  ");
      padded(out, word[e], shown[e], wide > 7 ? wide : 7);
    }
    end_line(out);
  }
}

void learn_who_json(Elab *in, const Program *p, Buf *out) {
  static const char *const word[] = {"absent", "through", "moves"};
  WhoTable t = learn_who_table(in, p);
  JsonOut j = json_out(out);
  json_object(&j, NULL);
  for (uint32_t g = 0; g < t.goals; g++) {
    json_object(&j, t.goal[g]);
    for (uint32_t i = 0; i < t.learners; i++)
      json_text(&j, t.learner[i], word[t.effect[g * t.learners + i]]);
    json_end(&j);
  }
  json_end(&j);
}
