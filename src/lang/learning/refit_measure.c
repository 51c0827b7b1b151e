// `measure task.Y by hits refit 100 steps, gd(0.05)`: measures a learning diagram after training on
// each episode.
//
// Input: the goal of a pair, left <= right, of a diagram over episodes. The left route is cut
// before the first edge that is trained:
//
//   image ; m ; h      before: image ; m, frozen      behind: h, trained
//
// Output: a claim over one episode, with support x and query q:
//
//   refit[behind, gd(0.05), steps: 100, by: DISTANCE](before(x), right(x), before(q)) ~ right(q)
//
// So refit.c remains the only training inside a diagram; it leaves frozen learners unchanged.
#include "base/diag.h"
#include "base/names.h"
#include "lang/learning/learning_own.h"

typedef struct {
  LearningReader draw;
  const Pair *pair;
  const Syntax *clause; // N_REFIT
  uint32_t cut;         // number of frozen edges at the start of the left route
} Refitting;

// -- checks ---------------------------------------------------------------------------------------
static bool trains_edge(Refitting *x, uint32_t edge) {
  Ids all = {0};
  edge_learners(x->draw.in, &x->draw.g->edge.at[edge], &all);
  for (uint32_t i = 0; i < all.n; i++)
    if (!pair_freezes(x->draw.in, x->draw.g, x->pair, all.at[i])) return true;
  return false;
}

static uint32_t first_moved(Refitting *x, const Route *route) {
  uint32_t i = 0;
  while (i < route->n && !trains_edge(x, route->at[i])) i++;
  return i;
}

static const char *diagram_name(const Refitting *x) {
  return name_text(x->draw.w->names, x->draw.g->name);
}

static bool has_tasks(Refitting *x) {
  const LearningReader *r = &x->draw;
  if (index_has_tasks(r, x->pair->from)) return true;
  Id e = diag_error(r->w->diags, x->clause->span,
                    "`refit` trains on each small task by itself, but `%s` of `%s` has none",
                    r->g->graph->vertex.at[x->pair->from].name, diagram_name(x));
  diag_note(r->w->diags, e, r->g->space.at[x->pair->from].span, "its samples");
  return diag_help(r->w->diags, e, "as in `set %s.%s = omniglot[way: 5, shot: 1]`", diagram_name(x),
                   r->g->graph->vertex.at[x->pair->from].name);
}

static bool is_one_pair(Refitting *x) {
  if (x->draw.g->pairs.n == 1) return true;
  return diag_refuse(x->draw.w->diags, x->clause->span,
                     "`refit` trains one pair of paths, but `%s` has %u of them", diagram_name(x),
                     x->draw.g->pairs.n);
}

static bool can_be_cut(Refitting *x) {
  const LearningReader *r = &x->draw;
  const Route *left = &x->pair->left, *right = &x->pair->right;
  uint32_t other = first_moved(x, right);
  x->cut = first_moved(x, left);
  if (other == right->n && x->cut > 0 && x->cut < left->n) return true;
  if (other == right->n && x->cut == left->n)
    return diag_refuse(r->w->diags, x->clause->span,
                       "there is nothing to refit: `%s` moves no learner", diagram_name(x));
  uint32_t edge = other < right->n ? right->at[other] : left->at[x->cut];
  Id e = diag_error(
      r->w->diags, x->clause->span,
      "`refit` trains edges of the left route after the index, but `%s` moves learners too",
      r->g->graph->edge.at[edge].name);
  return diag_note(r->w->diags, e, r->g->edge.at[edge].span, "this edge");
}

static bool is_in_steps(Refitting *x) {
  const Syntax *n = refit_count(x->clause);
  if (strcmp(name_text(x->draw.w->names, x->clause->name), "steps") == 0 && n->num >= 1)
    return true;
  return diag_refuse(x->draw.w->diags, x->clause->span,
                     "`refit` wants a number of steps, as in `refit 100 steps, gd(0.05)`");
}

// -- the claim ------------------------------------------------------------------------------------
static Syntax *named_option(Refitting *x, const char *name, Syntax *value) {
  Syntax *node = node_sized(x->draw.w->arena, x->clause->span, (SizedParts){value});
  return syntax_named(node, name_from(x->draw.w->names, name), node->span);
}

// The trained part as a box: h, or h ; out.
static Syntax *trained_box(Refitting *x) {
  const Route *left = &x->pair->left;
  VEC(Syntax *) step = {0};
  for (uint32_t i = x->cut; i < left->n; i++) {
    Name name = name_from(x->draw.w->names, x->draw.g->graph->edge.at[left->at[i]].name);
    vec_push(x->draw.w->arena, &step, syntax_name(x->draw.w->arena, name, x->clause->span));
  }
  if (step.n == 1) return step.at[0];
  return node_pipe(x->draw.w->arena, x->clause->span, (PipeParts){{step.n, step.at}});
}

// The only option of `refit`: an optimiser.
static bool read_optimiser(Refitting *x, Syntax **out) {
  *out = NULL;
  for (uint32_t i = 0; i < refit_options(x->clause).n; i++) {
    const Syntax *o = refit_options(x->clause).at[i];
    bool good = !*out && o->kind == N_OPTION && !option_value(o) &&
                (option_what(o)->kind == N_NAME || option_what(o)->kind == N_CALL);
    if (!good)
      return diag_refuse(x->draw.w->diags, o->span, "`refit` takes an optimiser, and nothing else");
    *out = option_what(o);
  }
  return true;
}

static Syntax *claim_made(Refitting *x, Syntax *optimiser) {
  LearningReader *r = &x->draw;
  const Route *left = &x->pair->left, *right = &x->pair->right;
  Span span = x->clause->span;
  Arena *a = r->w->arena;
  Nodes options = NODES(trained_box(x), named_option(x, "steps", refit_count(x->clause)),
                        named_option(x, "by", distance_in(r, x->pair->to)), optimiser);
  if (!optimiser) options.n = 3;
  Syntax *refit = syntax_name(a, name_from(r->w->names, "refit"), span),
         *brackets = node_brackets(a, span, (BracketsParts){options});
  Nodes args = NODES(value_along(r, left->at, x->cut, false, span),
                     value_along(r, right->at, right->n, false, span),
                     value_along(r, left->at, x->cut, true, span));
  Syntax *call =
      node_call(a, span, (CallParts){node_at(a, span, (AtParts){refit, brackets}), args});
  Syntax *wanted = value_along(r, right->at, right->n, true, span);
  return node_equal(a, span, (EqualParts){call, wanted});
}

const Syntax *learning_refit(Elab *in, Program *p, Learning *g, const Syntax *clause) {
  Refitting x = {.draw = {in, p, in->w, g}, .clause = clause};
  Syntax *optimiser;
  if (g->broken || !is_one_pair(&x)) return NULL;
  x.pair = &g->pairs.at[0];
  if (!has_tasks(&x) || !can_be_cut(&x) || !is_in_steps(&x) || !read_optimiser(&x, &optimiser))
    return NULL;
  return claim_made(&x, optimiser);
}
