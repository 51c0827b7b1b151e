// The pairs of a learning diagram become goals of the ordinary kind, written as a person would:
// image ; guess <= label is the goal `guess(image) ~ label` by the distance of the space where both
// end. What a goal is, costs and moves is said in one place only, goal.c.
//
// Goals are made for diagrams that are asked for: those that a `train` or a `measure` names, and
// those that are not part of another.
#include "lang/learning/learning_own.h"

// -- pairs ----------------------------------------------------------------------------------------
static const char *name_of_learning(const Drawing *r) { return name_text(r->w->names, r->g->name); }

static void say_cycle(Drawing *r, const PairsFault *f) {
  const Graph *g = r->g->graph;
  uint32_t first = f->route.at[0];
  Id e = diag_error(r->w->diags, r->g->edge.at[first].span,
                    "paths of `%s` run in a cycle here: %s ; %s …", name_of_learning(r),
                    route_text(r->w->arena, g, &f->route), g->edge.at[first].name);
  if (f->route.n > 1)
    diag_note(r->w->diags, e, r->g->edge.at[f->route.at[f->route.n - 1]].span, "and back here");
  diag_help(r->w->diags, e, "`at most 3 times` after an edge says how often a path may use it");
}

static bool is_learned(Drawing *r, const Route *route) {
  Ids learners = {0};
  for (uint32_t i = 0; i < route->n; i++)
    edge_learners(r->in, &r->g->edge.at[route->at[i]], &learners);
  return learners.n > 0;
}

static void say_unordered(Drawing *r, const PairsFault *f) {
  const Graph *g = r->g->graph;
  bool turn = is_learned(r, &f->other) && !is_learned(r, &f->route); // the prediction comes first
  const Route *left = turn ? &f->other : &f->route, *right = turn ? &f->route : &f->other;
  const char *l = route_text(r->w->arena, g, left), *m = route_text(r->w->arena, g, right);
  uint32_t last = left->at[left->n - 1];
  const Syntax *by = space_distance(r->g->space.at[f->to].def->node);
  Id e = diag_error(r->w->diags, r->g->edge.at[last].span,
                    "`%s` and `%s` both end in `%s`, whose distance has a left and a right side: "
                    "say which is compared with which",
                    l, m, g->vertex.at[f->to].name);
  diag_note(r->w->diags, e, by->span, "this distance");
  diag_help(r->w->diags, e, "as in `%s <= %s`; what is on the left is the prediction", l, m);
}

static void say_many(Drawing *r, const PairsFault *f) {
  const Syntax *n = r->g->node;
  if (f->count == UINT64_MAX)
    diag_error(r->w->diags, n->name_span,
               "`%s` has more paths than can be counted; at most %d pairs of them are allowed",
               name_of_learning(r), PAIRS_LIMIT);
  else
    diag_error(r->w->diags, n->name_span,
               "`%s` has %llu paths or pairs of them; at most %d are allowed", name_of_learning(r),
               (unsigned long long)f->count, PAIRS_LIMIT);
}

// A part that states nothing wants all its pairs; glued to one that states something, it says so.
static void keep_pairs(Drawing *r) {
  Graph *whole = r->g->graph;
  if (!whole->order.n) return;
  for (uint32_t i = 0; i < r->g->part.n; i++) {
    const GraphPart *part = &r->g->part.at[i];
    for (uint32_t k = 0; !part->of->graph->order.n && k < part->of->pairs.n; k++) {
      const Pair *pair = &part->of->pairs.at[k];
      Route side[2] = {{0}, {0}};
      bool there = true;
      for (uint32_t j = 0; j < 2; j++) {
        const Route *own = j ? &pair->right : &pair->left;
        for (uint32_t m = 0; m < own->n; m++) {
          uint32_t e = part->in.edge[own->at[m]];
          there &= e != NOWHERE;
          vec_push(r->w->arena, &side[j], e);
        }
      }
      if (!there) continue;
      graph_order(whole, side[0], side[1], pair->times);
      vec_push(r->w->arena, &r->g->order, part->of->node->name_span);
    }
  }
}

static void find_symmetric(Drawing *r) {
  for (uint32_t v = 0; v < r->g->graph->vertex.n; v++) {
    Vertex *x = &r->g->graph->vertex.at[v];
    if (x->distance) x->symmetric = is_symmetric(r->in, &r->g->space.at[v]);
  }
}

void learning_pairs(Elab *in, Program *p, Learning *g) {
  Drawing r = {in, p, in->w, g};
  PairsFault fault;
  if (g->counted || g->pattern || g->broken) return;
  g->counted = true;
  for (uint32_t i = 0; i < g->part.n; i++) {
    learning_pairs(in, p, g->part.at[i].of);
    g->broken |= g->part.at[i].of->broken;
  }
  if (g->broken) return;
  find_symmetric(&r);
  keep_pairs(&r);
  if (graph_pairs(in->w->arena, g->graph, PAIRS_LIMIT, &g->pairs, &fault)) return;
  g->broken = true;
  if (fault.kind == PAIRS_CYCLE) say_cycle(&r, &fault);
  if (fault.kind == PAIRS_UNORDERED) say_unordered(&r, &fault);
  if (fault.kind == PAIRS_MANY) say_many(&r, &fault);
}

// -- what is useless ------------------------------------------------------------------------------
static void idle_edges(Drawing *r) {
  const Graph *g = r->g->graph;
  bool *used = NEW_ARRAY(r->w->arena, bool, g->edge.n + 1);
  graph_used(g, &r->g->pairs, used);
  for (uint32_t e = 0; e < g->edge.n; e++)
    if (!used[e] && r->g->edge.at[e].home == r->g->inside)
      diag_warning(r->w->diags, r->g->edge.at[e].span, "no pair of paths runs along edge `%s`",
                   g->edge.at[e].name);
}

// A statement between routes behind which nothing can be compared.
static void idle_orders(Drawing *r) {
  const Graph *g = r->g->graph;
  for (uint32_t i = 0; i < g->order.n; i++) {
    uint32_t to = g->edge.at[g->order.at[i].left.at[g->order.at[i].left.n - 1]].to;
    bool counts = false;
    for (uint32_t k = 0; !counts && k < r->g->pairs.n; k++)
      counts = r->g->pairs.at[k].order == i + 1;
    if (counts || g->vertex.at[to].distance) continue;
    Id e = drawing_error(r, r->g->order.at[i],
                         "both routes end in `%s`, which has no distance: they cannot be compared",
                         g->vertex.at[to].name);
    diag_note(r->w->diags, e, r->g->space.at[to].span, "the space");
    diag_help(r->w->diags, e, "give it one, as in `space %s = … by l2`", g->vertex.at[to].name);
  }
}

// Several edges come to a space without a distance, and none goes on.
static void blind_spaces(Drawing *r) {
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

static void nothing_asked(Drawing *r) {
  Id e = drawing_error(
      r, r->g->node->name_span,
      "`%s` has no goals: no two paths from a set of data end in one space with a distance",
      name_of_learning(r));
  diag_help(r->w->diags, e,
            r->g->graph->order.n ? "what is ordered with `<=` counts, and only that"
                                 : "a set of data is a space too: `space N = mnist`");
}

// -- goals ----------------------------------------------------------------------------------------
// guess(image): the edges of a route, one around the other.
Syntax *value_along(Drawing *r, const uint32_t *edge, uint32_t n, bool asked, Span span) {
  Syntax *value = index_read(r, edge[0], asked);
  for (uint32_t i = 1; i < n; i++) {
    Name name = name_from(r->w->names, r->g->graph->edge.at[edge[i]].name);
    Syntax *callee = syntax_name(r->w->arena, name, span);
    value = node_call(r->w->arena, span, (CallParts){callee, NODES(value)});
  }
  return value;
}

Syntax *distance_in(Drawing *r, uint32_t vertex) {
  const Def *space = r->g->space.at[vertex].def;
  return copy_resolved(r->in, space->scope, r->g->inside, space_distance(space->node));
}

static Syntax *goal_node(Drawing *r, const Pair *pair, const Route *left, const Route *right,
                         Name name) {
  Arena *a = r->w->arena;
  Span span = pair->order ? r->g->order.at[pair->order - 1] : r->g->node->name_span;
  Syntax *l = value_along(r, left->at, left->n, false, span),
         *m = value_along(r, right->at, right->n, false, span),
         *distance = distance_in(r, pair->to);
  Syntax *by = node_by(a, distance->span, (ByParts){distance}),
         *times = node_times(a, span, (TimesParts){syntax_num(a, pair->times, span)});
  Nodes clauses = NODES(by, times);
  if (pair->times == 1) clauses.n = 1;
  Syntax *goal = node_goal(a, span, (GoalParts){node_equal(a, span, (EqualParts){l, m}), clauses});
  goal->name = name;
  goal->name_span = span;
  return goal;
}

// distill.G; where several pairs end in G, distill.G.1 and so on
static Name goal_name(Drawing *r, uint32_t pair) {
  const Pairs *all = &r->g->pairs;
  uint32_t n = 0, before = 0;
  for (uint32_t i = 0; i < all->n; i++) {
    if (all->at[i].to != all->at[pair].to) continue;
    n++;
    before += i < pair;
  }
  const char *to = r->g->graph->vertex.at[all->at[pair].to].name;
  if (n < 2) return learning_key(r, to);
  return learning_key(r, arena_format(r->w->arena, "%s.%u", to, before + 1));
}

// Of a small task, one example: without the axis in front of it, which is behind those that pass.
static Type one_example(World *w, const Type *t) {
  uint32_t at = 0;
  while (at < t->rank && t->axis[at].pass) at++;
  return at == t->rank ? *t : type_without(w, t, at);
}

static void check_index_edge(Drawing *r, uint32_t edge) {
  const GraphEdge *e = &r->g->edge.at[edge];
  Scope *acting = r->p->acting;
  uint32_t errors = r->w->diags->errors;
  r->p->acting = r->g->inside;
  Body *b = goal_body(r->in, r->p, name_from(r->w->names, r->g->graph->edge.at[edge].name));
  Value v = eval_alone(b, b->env, index_read(r, edge, false));
  r->p->acting = acting;
  Types types = {0};
  for (uint32_t i = 0; i < v.n; i++) {
    if (v.at[i].error) r->g->broken = true;
    val_settle(b, &v.at[i]);
    bool task = index_has_tasks(r, r->g->graph->edge.at[edge].from);
    vec_push(r->w->arena, &types, task ? one_example(r->w, &v.at[i].type) : v.at[i].type);
  }
  if (!r->g->broken && r->w->diags->errors == errors)
    fits_space(r, &types, r->g->graph->edge.at[edge].to, e->body->span);
}

bool *learning_freeze(Elab *in, Learning *g) {
  bool *was = NEW_ARRAY(in->w->arena, bool, g->frozen.n + 1);
  for (uint32_t i = 0; i < g->frozen.n; i++) {
    Def *d = def_of(in, g->frozen.at[i]);
    was[i] = d->frozen;
    d->frozen = true;
  }
  in->freezes = g->frozen.n ? g->def->id : 0;
  return was;
}

void learning_thaw(Elab *in, Learning *g, const bool *was) {
  for (uint32_t i = g->frozen.n; i-- > 0;) def_of(in, g->frozen.at[i])->frozen = was[i];
  in->freezes = 0;
}

static void make_goals(Drawing *r) {
  Learning *g = r->g;
  Scope *acting = r->p->acting;
  r->p->acting = g->inside;
  const bool *was = learning_freeze(r->in, g);
  for (uint32_t i = 0; i < g->pairs.n; i++) {
    const Pair *pair = &g->pairs.at[i];
    Name name = goal_name(r, i);
    do_goal(r->in, r->p, goal_node(r, pair, &pair->left, &pair->right, name), NULL, NULL);
    r->p->goal.at[r->p->goal.n - 1].learning = g;
  }
  learning_thaw(r->in, g, was);
  r->p->acting = acting;
}

static void learning_goals(Elab *in, Program *p, Learning *g) {
  Drawing r = {in, p, in->w, g};
  if (g->broken || g->pattern) return;
  for (uint32_t v = 0; v < g->graph->vertex.n; v++)
    if (g->graph->vertex.at[v].index) index_given(&r, v);
  for (uint32_t e = 0; e < g->edge.n && !g->broken; e++)
    if (g->graph->vertex.at[g->graph->edge.at[e].from].index) check_index_edge(&r, e);
  if (g->broken) return;
  idle_orders(&r);
  if (!g->broken && !g->pairs.n) nothing_asked(&r);
  if (g->broken) return;
  idle_edges(&r);
  blind_spaces(&r);
  make_goals(&r);
}

// -- all of them ----------------------------------------------------------------------------------
// train distill …, measure distill.Y …
static bool is_wanted(const Program *p, const Learning *g) {
  for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
    const Syntax *n = program_declarations(p->tree).at[i],
                 *root = syntax_parts(n).n ? syntax_parts(n).at[0] : NULL;
    while (n->kind == N_MEASURE && root->kind == N_DOT) root = dot_base(root);
    if ((n->kind == N_TRAIN || n->kind == N_MEASURE) && root && root->kind == N_NAME &&
        scope_find(p->scope, root->name) == g->def)
      return true;
  }
  return false;
}

void learnings_goals(Elab *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < p->learning.n; i++) {
    Learning *g = p->learning.at[i];
    if (g->def->scope != s) continue;
    learning_pairs(in, p, g);
    if (!g->is_part || is_wanted(p, g)) learning_goals(in, p, g);
  }
}
