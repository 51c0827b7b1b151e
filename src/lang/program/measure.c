// `measure`: a goal or an expression on some data, or a learning diagram after training on each
// episode (refit).
#include "base/diag.h"
#include "base/names.h"
#include "lang/program/program_own.h"

#include "lang/learning/learning.h"

// A goal is named by a name or, in a learning diagram, a path.
static const Goal *goal_named(Elab *in, const Program *p, const Syntax *n) {
  const char *path = path_text(in, n);
  Name name = path ? name_from(in->w->names, path) : 0;
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (name && p->goal.at[i].name == name) return &p->goal.at[i];
  return NULL;
}

// Does it belong to a learning diagram with errors, which are reported?
static bool is_of_broken(const Program *p, const Syntax *path) {
  path = path_root(path);
  const Def *d = path->kind == N_NAME ? scope_meaning(p->acting, path) : NULL;
  return d && d->kind == DEF_DIAGRAM && (d->broken || (d->learning && d->learning->broken));
}

// measure task.Y … refit 100 steps: NULL with a diagnostic
static const Syntax *refit_claim(Elab *in, Program *p, Learning *g, const Syntax *refit) {
  if (g) return learning_refit(in, p, g, refit);
  Id e = diag_error(in->w->diags, refit->span,
                    "`refit` trains a learning diagram, and this does not measure a pair of one");
  diag_help(in->w->diags, e, "as in `measure task.Y by hits refit 100 steps`");
  return NULL;
}

// -- direction ------------------------------------------------------------------------------------
static const Def *distance_box(const Scope *s, const Syntax *distance) {
  const Syntax *base = distance ? use_base(distance) : NULL;
  const Def *d = base && base->kind == N_NAME ? scope_meaning((Scope *)s, base) : NULL;
  return d && d->kind == DEF_BOX ? d : NULL;
}

// Does a goal minimise this distance?
static bool is_made_small(const Program *p, const Def *d) {
  for (uint32_t i = 0; i < p->goal.n; i++) {
    const Goal *g = &p->goal.at[i];
    const Syntax *by = clause(g->node, N_BY);
    if (by && g->sign > 0 && distance_box(g->scope, by_distance(by)) == d) return true;
  }
  return false;
}

// The direction comes from the claim, from the box that compares its sides, or from a goal that
// minimises the same distance. Without `by` it is the distance of a goal or of a space, which is
// minimised.
static int better_of(Elab *in, const Program *p, const Syntax *claim, const Syntax *by) {
  if (claim->kind == N_MAXIMISE) return 1;
  if (claim->kind == N_MINIMISE) return -1;
  if (claim->kind != N_EQUAL) return 0;
  const Def *d = by ? distance_box(p->acting, by_distance(by)) : NULL;
  const Syntax *said = d ? box_better(d->node) : NULL;
  if (said) return strcmp(name_text(in->w->names, said->name), "maximise") == 0 ? 1 : -1;
  return !by || (d && is_made_small(p, d)) ? -1 : 0;
}

// Names the goals of learning diagrams that end like this path; if none do, all.
static const char *goals_like(World *w, const Program *p, const Syntax *path) {
  enum { GOALS_SAID = 8 };
  const char *last = arena_format(w->arena, ".%s", name_text(w->names, path->name));
  Buf all = buf_new(w->arena);
  for (uint32_t pass = 0, n = 0; pass < 2 && !n; pass++)
    for (uint32_t i = 0; i < p->goal.n; i++) {
      const char *goal = name_text(w->names, p->goal.at[i].name);
      if (!strchr(goal, '.') || (!pass && !text_ends(goal, last)) || n++ > GOALS_SAID) continue;
      buf_printf(&all, n > GOALS_SAID ? ", …" : "%s`%s`", n > 1 ? ", " : "", goal);
    }
  return all.at;
}

void do_measure(Elab *in, Program *p, const Syntax *n) {
  World *w = in->w;
  Measure m = {.name = n->name, .node = n, .span = n->span};
  const Syntax *claim = measure_claim(n), *by = clause(n, N_BY), *on = clause(n, N_ON);
  const Syntax *refit = clause(n, N_REFIT);
  Learning *learning = NULL;
  Scope *acting = p->acting;
  use_of_name(in, n, n->name_span, NAMED_GOAL);
  if (on) read_on(in, p, on, &m.on);
  if (claim->kind == N_NAME || claim->kind == N_DOT) {
    const Goal *g = goal_named(in, p, claim);
    if (g) {
      if (claim->kind == N_NAME) use_of_name(in, claim, g->node->name_span, NAMED_GOAL);
      if (claim->kind == N_DOT && g->learning) goal_is_of(in, g->learning, claim);
      claim = goal_claim(g->node); // the two sides of the goal
      if (!by) by = clause(g->node, N_BY);
      if (!m.name) m.name = g->name;
      p->acting = g->scope;
      learning = g->learning;
    } else if (claim->kind == N_DOT && is_of_broken(p, claim)) {
      return;
    } else if (claim->kind == N_DOT) {
      const char *path = path_text(in, claim); // NULL: not a path
      Id e = diag_error(w->diags, claim->span, "there is no goal `%s` to measure",
                        path ? path : name_text(w->names, claim->name));
      const char *goals = goals_like(w, p, claim);
      if (*goals) diag_help(w->diags, e, "of learning diagrams there is %s", goals);
      return;
    } else if (strcmp(name_text(w->names, claim->name), "exploitability") == 0) {
      m.name = claim->name;
      m.better = -1;
      vec_push(w->arena, &p->measure, m);
      return;
    } else if (by && !scope_meaning(p->acting, claim)) {
      Nearest near = nearest_to(name_text(w->names, claim->name));
      for (uint32_t i = 0; i < p->goal.n; i++)
        nearest_try(&near, name_text(w->names, p->goal.at[i].name));
      Id e = diag_error(w->diags, claim->span,
                        "there is no goal `%s` to measure by another distance", near.text);
      diag_suggest(w->diags, e, near.best);
      return;
    }
  }
  if (!m.name) m.name = name_from(w->names, arena_format(w->arena, "measure%u", p->measure.n + 1));
  if (refit) claim = refit_claim(in, p, learning, refit);
  FreezeStack frozen = {0};
  if (claim && refit) frozen = learning_freeze(in, learning, &learning->pairs.at[0]);
  if (claim) m.better = better_of(in, p, claim, by);
  if (claim) measure_value(in, p, claim, by, 1, &m);
  if (m.diagram) check_on(in, p, &m.fields, &m.on);
  learning_thaw(in, &frozen);
  p->acting = acting;
  vec_push(w->arena, &p->measure, m);
}

// -- columns of metrics.csv -----------------------------------------------------------------------
// A named goal or measure.
typedef struct {
  const Syntax *node;
  const char *kind;
} Column;
typedef VEC(Column) Columns;

static bool is_fixed_column(const char *name) {
  return !strcmp(name, "step") || !strcmp(name, "epoch") || !strcmp(name, "time");
}

static void check_column(World *w, const Columns *all, uint32_t at) {
  const Syntax *n = all->at[at].node;
  const char *name = name_text(w->names, n->name);
  if (is_fixed_column(name))
    diag_error(w->diags, n->name_span,
               "a %s cannot be called `%s`: metrics.csv has a column of this name",
               all->at[at].kind, name);
  for (uint32_t i = 0; i < at; i++) {
    const Syntax *other = all->at[i].node;
    bool goals = n->kind == N_GOAL && other->kind == N_GOAL; // reported by do_goal
    if (goals || other == n || other->name != n->name) continue;
    Id e = diag_error(w->diags, n->name_span, "there is a %s `%s` already: a %s wants another name",
                      all->at[i].kind, name, all->at[at].kind);
    diag_note(w->diags, e, other->name_span, "the other one");
    return;
  }
}

void check_columns(Elab *in, const Program *p) {
  World *w = in->w;
  Columns all = {0};
  for (uint32_t i = 0; i < p->goal.n; i++) {
    const Syntax *n = p->goal.at[i].node;
    if (n && n->kind == N_GOAL && n->name) vec_push(w->arena, &all, (Column){n, "goal"});
  }
  for (uint32_t i = 0; i < p->measure.n; i++) {
    const Syntax *n = p->measure.at[i].node;
    if (n->name) vec_push(w->arena, &all, (Column){n, "measure"});
  }
  for (uint32_t i = 0; i < all.n; i++) check_column(w, &all, i);
}
