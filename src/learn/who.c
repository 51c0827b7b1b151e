// Who trains whom: goals × learners, the members of a family one by one.
//   moves    the goal changes the learner
//   through  the learner occurs and the gradient flows through it, but the goal does not change it
#include "learn.h"

typedef enum { ABSENT, THROUGH, MOVES } Effect;

typedef struct {
  Ids parts;          // a learner is moved with its parts (DEF ids)
  const char *member; // ".2" of a family, or NULL
  const char *title;
} Column;
typedef VEC(Column) Columns;

static Effect effect(Infer *in, const Goal *g, const Column *c) {
  Effect e = ABSENT;
  for (uint32_t i = 0; g->diagram && i < g->diagram->param.n; i++) {
    const Param *p = &g->diagram->param.at[i];
    bool mine = false;
    for (uint32_t k = 0; k < c->parts.n; k++)
      mine |= def_owns(infer_world(in), p, def_of(in, c->parts.at[k]), k ? NULL : c->member);
    if (!p->rooted || p->role == ROLE_CLOCK || p->role == ROLE_CONST || !mine) continue;
    if (g->trains[i]) return MOVES;
    e = THROUGH;
  }
  return e;
}

// The members of a family that occur in some goal, in the order of their numbers.
static void add_members(World *w, const Program *p, const Def *d, const Ids *parts, Columns *out) {
  const char *name = name_text(w->names, d->name);
  for (uint32_t k = 0, missing = 0; missing < 1; k++) {
    const char *member = arena_format(w->arena, ".%u", k);
    bool found = false;
    for (uint32_t g = 0; g < p->goal.n && !found; g++)
      for (uint32_t i = 0; p->goal.at[g].diagram && i < p->goal.at[g].diagram->param.n && !found;
           i++)
        found = def_owns(w, &p->goal.at[g].diagram->param.at[i], d, member);
    if (found)
      vec_push(w->arena, out, (Column){*parts, member, arena_format(w->arena, "%s[%u]", name, k)});
    else
      missing++;
  }
}

static Columns columns(Infer *in, const Program *p) {
  World *w = infer_world(in);
  Columns out = {0};
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Def *d = p->learner.at[i];
    Ids parts = {0};
    def_closure(in, d, &parts);
    uint32_t before = out.n;
    if (d->kind == DEF_LEARNER && d->node->kid[1]) add_members(w, p, d, &parts, &out);
    if (out.n == before)
      vec_push(w->arena, &out, (Column){parts, NULL, name_text(w->names, d->name)});
  }
  return out;
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

void learn_who(Infer *in, const Program *p, Buf *out) {
  static const char *const word[] = {"·", "through", "moves"};
  static const uint32_t shown[] = {1, 7, 5};
  World *w = infer_world(in);
  Columns c = columns(in, p);
  uint32_t first = 4;
  for (uint32_t g = 0; g < p->goal.n; g++) {
    uint32_t n = length(name_text(w->names, p->goal.at[g].name));
    if (n > first) first = n;
  }
  padded(out, "", 0, first);
  for (uint32_t i = 0; i < c.n; i++) {
    buf_text(out, "  ");
    padded(out, c.at[i].title, length(c.at[i].title), 7);
  }
  end_line(out);
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const char *name = name_text(w->names, p->goal.at[g].name);
    padded(out, name, length(name), first);
    for (uint32_t i = 0; i < c.n; i++) {
      Effect e = effect(in, &p->goal.at[g], &c.at[i]);
      uint32_t wide = length(c.at[i].title);
      buf_text(out, "  ");
      padded(out, word[e], shown[e], wide > 7 ? wide : 7);
    }
    end_line(out);
  }
}

void learn_who_json(Infer *in, const Program *p, Buf *out) {
  static const char *const word[] = {"absent", "through", "moves"};
  World *w = infer_world(in);
  Columns c = columns(in, p);
  buf_char(out, '{');
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const char *name = name_text(w->names, p->goal.at[g].name);
    buf_text(out, g ? ", " : "");
    buf_json(out, name, strlen(name));
    buf_text(out, ": {");
    for (uint32_t i = 0; i < c.n; i++) {
      buf_text(out, i ? ", " : "");
      buf_json(out, c.at[i].title, strlen(c.at[i].title));
      buf_printf(out, ": \"%s\"", word[effect(in, &p->goal.at[g], &c.at[i])]);
    }
    buf_char(out, '}');
  }
  buf_char(out, '}');
}
