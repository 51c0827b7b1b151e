// Which goal trains which learner: goals × learners, the members of a family one by one.
//   moves    the goal changes the learner
//   through  the learner occurs and the gradient flows through it, but the goal does not change it
//   stopped  the learner occurs, and no gradient reaches it
#include "base/diag.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "run/step/step.h"

#include <stdlib.h>

enum { PLACES_LIMIT = 2000000 };

typedef struct {
  const Def *def;
  Ids parts;          // the definition and its parts (DEF ids), which move with it
  const char *member; // ".2": a member of a family; NULL: none
  const char *title;
} WhoColumn;
typedef VEC(WhoColumn) WhoColumns;

// A goal, and the weights that its loss depends on differentiably.
typedef struct {
  const Goal *g;
  const bool *moving; // [param]
} WhoRow;

static WhoRow row_of(World *w, const Goal *g) {
  if (!g->diagram || diagram_boxes(w, g->diagram) > BOXES_LIMIT) return (WhoRow){g, NULL};
  const Diagram *flat = diagram_inline(w, g->diagram);
  return (WhoRow){g, output_dependence(w, flat) + flat->in.n};
}

// Does the diagram call a diagram of this name, directly or indirectly?
static bool calls(const Diagram *d, Name name, Table *seen) {
  if (table_get(seen, &d, sizeof d)) return false;
  table_put(seen, &d, sizeof d, 1);
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    const Diagram *inner = b->op == OP_call ? b->callee : b->op == OP_scan ? b->scan->body : NULL;
    if (inner && (inner->name == name || calls(inner, name, seen))) return true;
  }
  return false;
}

static bool occurs(Elab *in, const Goal *g, const WhoColumn *c) {
  World *w = elab_world(in);
  for (uint32_t i = 0; i < g->diagram->param.n; i++)
    if (def_owns(w, &g->diagram->param.at[i], c->def, c->member)) return true;
  return !c->member && calls(g->diagram, c->def->name, table_new(w->arena));
}

static Effect effect(Elab *in, const WhoRow *r, const WhoColumn *c) {
  const Goal *g = r->g;
  Effect e = WHO_ABSENT;
  if (!g->diagram || !occurs(in, g, c)) return e;
  for (uint32_t i = 0; i < g->diagram->param.n; i++) {
    const Param *p = &g->diagram->param.at[i];
    bool mine = false;
    for (uint32_t k = 0; k < c->parts.n; k++)
      mine |= def_owns(elab_world(in), p, def_of(in, c->parts.at[k]), k ? NULL : c->member);
    if (!p->rooted || p->role == ROLE_CLOCK || p->role == ROLE_CONST || !mine) continue;
    Effect one = r->moving && !r->moving[i] ? WHO_STOPPED : g->trains[i] ? WHO_MOVES : WHO_THROUGH;
    if (one > e) e = one;
  }
  return e;
}

// Adds the members of a family that occur in some goal, in the order of their numbers.
static void add_members(World *w, const Program *p, const Def *d, const Ids *parts,
                        WhoColumns *out) {
  const char *name = name_text(w->names, d->name);
  size_t n = strlen(name);
  long last = -1;
  Table *known = table_new(w->arena); // numbers that occur
  for (uint32_t g = 0; g < p->goal.n; g++)
    for (uint32_t i = 0; p->goal.at[g].diagram && i < p->goal.at[g].diagram->param.n; i++) {
      const Param *x = &p->goal.at[g].diagram->param.at[i];
      if (!def_owns(w, x, d, NULL) || x->path[n] != '.') continue;
      long k = strtol(x->path + n + 1, NULL, 10);
      if (k > last) last = k;
      table_put(known, &k, sizeof k, 1);
    }
  for (long k = 0; k <= last; k++) {
    if (!table_get(known, &k, sizeof k)) continue;
    const char *member = arena_format(w->arena, ".%ld", k);
    vec_push(w->arena, out,
             (WhoColumn){d, *parts, member, arena_format(w->arena, "%s[%ld]", name, k)});
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
  if ((uint64_t)p->goal.n * c.n > PLACES_LIMIT) {
    diag_error(w->diags, (Span){0},
               "%u goals and %u learners are too many for one table: %d places are the most",
               p->goal.n, c.n, PLACES_LIMIT);
    return (WhoTable){0};
  }
  WhoTable t = {.goals = p->goal.n, .learners = c.n};
  t.goal = NEW_ARRAY(w->arena, const char *, t.goals + 1);
  t.learner = NEW_ARRAY(w->arena, const char *, t.learners + 1);
  t.def = NEW_ARRAY(w->arena, const Def *, t.learners + 1);
  t.effect = NEW_ARRAY(w->arena, Effect, (size_t)t.goals * t.learners + 1);
  for (uint32_t i = 0; i < c.n; i++) t.learner[i] = c.at[i].title, t.def[i] = c.at[i].def;
  for (uint32_t g = 0; g < t.goals; g++) {
    t.goal[g] = name_text(w->names, p->goal.at[g].name);
    WhoRow row = row_of(w, &p->goal.at[g]);
    for (uint32_t i = 0; i < c.n; i++) t.effect[g * t.learners + i] = effect(in, &row, &c.at[i]);
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
  static const char *const word[] = {"·", "stopped", "through", "moves"};
  static const uint32_t shown[] = {1, 7, 7, 5};
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
  static const char *const word[] = {"absent", "stopped", "through", "moves"};
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
