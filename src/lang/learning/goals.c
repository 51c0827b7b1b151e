// Goals of learning diagrams: each pair of paths becomes an ordinary goal, synthesised as syntax:
// image ; guess <= label is the goal `guess(image) ~ label` by the distance of the space where both
// end. goal.c elaborates it.
//
// Goals are made for diagrams that a `train` or a `measure` names, and for those that are not part
// of another.
#include "base/diag.h"
#include "base/names.h"
#include "lang/learning/learning_own.h"

// -- warnings -------------------------------------------------------------------------------------
static void idle_edges(LearningReader *r) {
  const Graph *g = r->g->graph;
  bool *used = NEW_ARRAY(r->w->arena, bool, g->edge.n + 1);
  graph_used(g, &r->g->pairs, used);
  for (uint32_t e = 0; e < g->edge.n; e++)
    if (!used[e] && r->g->edge.at[e].home == r->g->inside)
      diag_warning(r->w->diags, r->g->edge.at[e].span, "no pair of paths runs along edge `%s`",
                   g->edge.at[e].name);
}

// Reports orders between routes whose ends have no distance.
static void idle_orders(LearningReader *r) {
  const Graph *g = r->g->graph;
  for (uint32_t i = 0; i < g->order.n; i++) {
    uint32_t to = g->edge.at[g->order.at[i].left.at[g->order.at[i].left.n - 1]].to;
    bool counts = false;
    for (uint32_t k = 0; !counts && k < r->g->pairs.n; k++)
      counts = r->g->pairs.at[k].order == i + 1;
    if (counts || g->vertex.at[to].distance) continue;
    Id e = drawing_error(r, r->g->order.at[i].span,
                         "both routes end in `%s`, which has no distance: they cannot be compared",
                         g->vertex.at[to].name);
    diag_note(r->w->diags, e, r->g->space.at[to].span, "the space");
    diag_help(r->w->diags, e, "give it one, as in `space %s = … by l2`", g->vertex.at[to].name);
  }
}

// Warns about spaces without a distance where several edges end and none begins.
static void blind_spaces(LearningReader *r) {
  const Graph *g = r->g->graph;
  uint32_t *in = NEW_ARRAY(r->w->arena, uint32_t, g->vertex.n + 1),
           *out = NEW_ARRAY(r->w->arena, uint32_t, g->vertex.n + 1);
  for (uint32_t e = 0; e < g->edge.n; e++) in[g->edge.at[e].to]++, out[g->edge.at[e].from]++;
  for (uint32_t v = 0; v < g->vertex.n; v++) {
    if (in[v] < 2 || out[v] || g->vertex.at[v].distance) continue;
    Id e =
        diag_warning(r->w->diags, r->g->space.at[v].span,
                     "several paths end in `%s`, which has no distance: nothing makes them equal",
                     g->vertex.at[v].name);
    diag_help(r->w->diags, e, "give it one, as in `space %s = … by l2`", g->vertex.at[v].name);
  }
}

static void nothing_asked(LearningReader *r) {
  Id e = drawing_error(
      r, r->g->node->name_span,
      "`%s` has no goals: no two paths from a set of data end in one space with a distance",
      name_text(r->w->names, r->g->name));
  diag_help(r->w->diags, e,
            r->g->graph->order.n ? "what is ordered with `<=` counts, and only that"
                                 : "a set of data is a space too: `space N = mnist`");
}

// -- goals ----------------------------------------------------------------------------------------
static Syntax *from_edge(LearningReader *r, uint32_t edge, Syntax *value) {
  Syntax *marked = node_paren(r->w->arena, value->span, (ParenParts){value});
  return syntax_named(marked, learning_key(r, r->g->graph->edge.at[edge].name), value->span);
}

// guess(image): the maps of a route, nested.
Syntax *value_along(LearningReader *r, const uint32_t *edge, uint32_t n, bool asked, Span span) {
  Syntax *value = from_edge(r, edge[0], index_read(r, edge[0], asked));
  for (uint32_t i = 1; i < n; i++) {
    Name name = name_from(r->w->names, r->g->graph->edge.at[edge[i]].name);
    Syntax *callee = syntax_name(r->w->arena, name, span);
    value = node_call(r->w->arena, span, (CallParts){callee, NODES(value)});
    value = from_edge(r, edge[i], value);
  }
  return value;
}

Syntax *distance_in(LearningReader *r, uint32_t vertex) {
  const Def *space = r->g->space.at[vertex].def;
  return copy_resolved(r->in, space->scope, r->g->inside, space_distance(space->node));
}

// trains f, g: the learners that an order trains, by names known inside
static Syntax *trains_node(LearningReader *r, const GraphOrder *o) {
  Arena *a = r->w->arena;
  VEC(Syntax *) target = {0};
  for (uint32_t i = 0; i < o->trains.n; i++) {
    const OrderTarget *t = &o->trains.at[i];
    if (t->edge == NOWHERE && !t->learner) {
      vec_push(a, &target, copy_resolved(r->in, t->home, r->g->inside, t->node));
      continue;
    }
    Ids all = {0};
    target_learners(r->in, r->g, t, &all);
    if (!all.n)
      diag_warning(r->w->diags, t->node->span,
                   "there is nothing to train in `%s`: no learner is in it",
                   path_text(r->in, t->node));
    for (uint32_t k = 0; k < all.n; k++) {
      Name name = name_of_def(r->in, r->g->inside, def_of(r->in, all.at[k]));
      vec_push(a, &target, syntax_name(a, name, t->node->span));
    }
  }
  return node_trains(a, o->span, (TrainsParts){{target.n, target.at}});
}

static Syntax *goal_node(LearningReader *r, const Pair *pair, const Route *left, const Route *right,
                         Name name) {
  Arena *a = r->w->arena;
  Span span = pair->order ? r->g->order.at[pair->order - 1].span : r->g->node->name_span;
  Syntax *l = value_along(r, left->at, left->n, false, span),
         *m = value_along(r, right->at, right->n, false, span),
         *distance = distance_in(r, pair->to);
  Syntax *by = node_by(a, distance->span, (ByParts){distance}),
         *times = node_times(a, span, (TimesParts){syntax_num(a, pair->times, span)});
  const GraphOrder *order = pair->order ? &r->g->order.at[pair->order - 1] : NULL;
  Syntax *clause[3] = {by};
  Nodes clauses = {1, clause};
  if (pair->times != 1) clause[clauses.n++] = times;
  if (order && order->trains.n && !pair->chain.n) clause[clauses.n++] = trains_node(r, order);
  Syntax *goal = node_goal(a, span, (GoalParts){node_equal(a, span, (EqualParts){l, m}), clauses});
  return syntax_named(goal, name, span);
}

// The name of the order that states the pair directly, or NULL.
static const char *order_name(const Learning *g, const Pair *p) {
  return p->order && !p->chain.n ? g->graph->order.at[p->order - 1].name : NULL;
}

// Pairs that share a goal name: those of one named order, except the stated pair; or unnamed ones
// that end in one space.
static bool are_alike(const Learning *g, const Pair *a, const Pair *b) {
  const char *x = order_name(g, a), *y = order_name(g, b);
  if (x || y) return x && y && a->order == b->order;
  return a->to == b->to;
}

// distill.keep for the pair stated by `keep : f <= g`, distill.keep.1, … for those that follow from
// it. Unnamed: distill.G, or distill.G.1, … if several pairs end in G.
static Name goal_name(LearningReader *r, uint32_t pair) {
  const Learning *g = r->g;
  const Pair *own = &g->pairs.at[pair];
  uint32_t n = 0, before = 0, stated = 0;
  for (uint32_t i = 0; i < g->pairs.n; i++) {
    if (!are_alike(g, &g->pairs.at[i], own)) continue;
    stated += pair_is_stated(g->graph, &g->pairs.at[i]);
  }
  bool single = order_name(g, own) && stated == 1;
  for (uint32_t i = 0; i < g->pairs.n; i++) {
    if (!are_alike(g, &g->pairs.at[i], own)) continue;
    if (single && pair_is_stated(g->graph, &g->pairs.at[i])) continue;
    n++;
    before += i < pair;
  }
  const char *to = order_name(g, own);
  bool bare = to ? single && pair_is_stated(g->graph, own) : n < 2;
  if (!to) to = g->graph->vertex.at[own->to].name;
  return learning_key(r, bare ? to : arena_format(r->w->arena, "%s.%u", to, before + 1));
}

static void make_goals(LearningReader *r) {
  Learning *g = r->g;
  Scope *acting = r->p->acting;
  r->p->acting = g->inside;
  for (uint32_t i = 0; i < g->pairs.n; i++) {
    const Pair *pair = &g->pairs.at[i];
    Name name = goal_name(r, i);
    FreezeStack frozen = learning_freeze(r->in, g, pair);
    do_goal(r->in, r->p, goal_node(r, pair, &pair->left, &pair->right, name), NULL, NULL);
    learning_thaw(r->in, &frozen);
    r->p->goal.at[r->p->goal.n - 1].learning = g;
  }
  r->p->acting = acting;
}

static void learning_goals(Elab *in, Program *p, Learning *g) {
  LearningReader r = {in, p, in->w, g};
  if (g->broken || g->pattern) return;
  idle_orders(&r);
  if (!g->broken && !g->pairs.n) nothing_asked(&r);
  if (g->broken) return;
  idle_edges(&r);
  blind_spaces(&r);
  make_goals(&r);
}

// -- all diagrams ---------------------------------------------------------------------------------
void learnings_goals(Elab *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < p->learning.n; i++) {
    Learning *g = p->learning.at[i];
    if (g->def->scope != s) continue;
    learning_pairs(in, p, g);
    if (learning_is_asked(p, g)) learning_goals(in, p, g);
  }
}
