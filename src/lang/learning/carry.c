// Orders of a learning diagram after double-pushout rewriting.
//
// Input: the graph before and after, and both sides of the rule embedded in it. A route along
// removed edges is redirected: to the new edge of the same name between the same spaces, or to the
// only path of the right side with the same ends. Several such paths are an error. Without one, the
// order is removed with a warning; removing the last order is an error, since then all pairs would
// count. The orders of the right side are added.
#include "base/diag.h"
#include "base/names.h"
#include "lang/learning/learning_own.h"

typedef VEC(Route) CarriedRoutes;

// -- paths of the right side ----------------------------------------------------------------------
static bool is_new(const Carrying *c, uint32_t right) {
  for (uint32_t e = 0; e < c->old->edge.n; e++)
    if (c->now->kept.edge[e] == c->now->made.edge[right]) return false;
  return true;
}

static void walk_right(const Carrying *c, uint32_t at, uint32_t to, Route *path, bool *been,
                       CarriedRoutes *out) {
  Arena *a = c->draw->w->arena;
  bool fresh = false;
  for (uint32_t i = 0; i < path->n; i++) fresh |= is_new(c, path->at[i]);
  if (at == to && fresh) {
    Route found = {0};
    for (uint32_t i = 0; i < path->n; i++) vec_push(a, &found, c->now->made.edge[path->at[i]]);
    vec_push(a, out, found);
    return;
  }
  if (been[at] || out->n > 1) return;
  been[at] = true;
  for (uint32_t e = 0; e < c->right->edge.n; e++) {
    if (c->right->edge.at[e].from != at) continue;
    vec_push(a, path, e);
    walk_right(c, c->right->edge.at[e].to, to, path, been, out);
    path->n--;
  }
  been[at] = false;
}

static uint32_t right_vertex(const Carrying *c, uint32_t old) {
  for (uint32_t v = 0; v < c->right->vertex.n; v++)
    if (c->now->made.vertex[v] == c->now->kept.vertex[old]) return v;
  return NOWHERE;
}

// The new edge that has the name of this one in the rule, and the same ends.
static uint32_t namesake(const Carrying *c, uint32_t edge) {
  const Edge *was = &c->old->edge.at[edge];
  uint32_t from = right_vertex(c, was->from), to = right_vertex(c, was->to);
  for (uint32_t p = 0; p < c->left->edge.n; p++)
    for (uint32_t e = 0; c->at->edge[p] == edge && e < c->right->edge.n; e++) {
      const Edge *x = &c->right->edge.at[e];
      if (strcmp(x->name, c->left->edge.at[p].name) == 0 && x->from == from && x->to == to)
        return c->now->made.edge[e];
    }
  return NOWHERE;
}

// -- routes ---------------------------------------------------------------------------------------
static void add_route(const Carrying *c, const Route *more, Route *out) {
  for (uint32_t i = 0; i < more->n; i++) vec_push(c->draw->w->arena, out, more->at[i]);
}

// The number of replacements of the edges first..last, at most 2.
static uint32_t replacement(const Carrying *c, uint32_t first, uint32_t last, Route *out) {
  Arena *a = c->draw->w->arena;
  uint32_t same = first == last ? namesake(c, first) : NOWHERE;
  if (same != NOWHERE) {
    vec_push(a, out, same);
    return 1;
  }
  uint32_t from = right_vertex(c, c->old->edge.at[first].from),
           to = right_vertex(c, c->old->edge.at[last].to);
  if (from == NOWHERE || to == NOWHERE) return 0;
  CarriedRoutes found = {0};
  Route path = {0};
  walk_right(c, from, to, &path, NEW_ARRAY(a, bool, c->right->vertex.n + 1), &found);
  if (found.n == 1) add_route(c, &found.at[0], out);
  return found.n < 2 ? found.n : 2;
}

static uint32_t carry_route(const Carrying *c, const Route *old, Route *out) {
  *out = (Route){0};
  for (uint32_t i = 0; i < old->n; i++) {
    uint32_t stays = c->now->kept.edge[old->at[i]], first = old->at[i];
    if (stays != NOWHERE) {
      vec_push(c->draw->w->arena, out, stays);
      continue;
    }
    while (i + 1 < old->n && c->now->kept.vertex[c->old->edge.at[old->at[i]].to] == NOWHERE) i++;
    uint32_t ways = replacement(c, first, old->at[i], out);
    if (ways != 1) return ways;
  }
  return 1;
}

// -- attributes of an order -----------------------------------------------------------------------
// Redirects a trained edge; if it has no replacement, its learners become the targets.
static void carry_target(const Carrying *c, OrderTarget t, OrderTargets *out) {
  Elab *in = c->draw->in;
  Arena *a = in->w->arena;
  Route came = {0};
  Ids learners = {0};
  if (t.edge == NOWHERE) {
    vec_push(a, out, t);
    return;
  }
  if (carry_route(c, &(Route){.at = &t.edge, .n = 1}, &came) != 1)
    edge_learners(in, &c->was[t.edge], &learners);
  for (uint32_t i = 0; i < came.n; i++) {
    t.edge = came.at[i];
    vec_push(a, out, t);
  }
  for (uint32_t i = 0; i < learners.n; i++) {
    t.edge = NOWHERE, t.learner = def_of(in, learners.at[i]);
    vec_push(a, out, t);
  }
}

static OrderTargets carry_targets(const Carrying *c, const OrderTargets *old) {
  OrderTargets now = {0};
  for (uint32_t i = 0; i < old->n; i++) carry_target(c, old->at[i], &now);
  return now;
}

void add_targets(Arena *a, const OrderTargets *own, const uint32_t *edge, OrderTargets *out) {
  for (uint32_t i = 0; i < own->n; i++) {
    OrderTarget t = own->at[i];
    if (t.edge != NOWHERE) t.edge = edge[t.edge];
    vec_push(a, out, t);
  }
}

static const char *name_of_order(const Carrying *c, const Graph *now, const char *name) {
  const char *free = name;
  for (uint32_t k = 2, i = 0; name && i < now->order.n; i++) {
    if (!now->order.at[i].name || strcmp(now->order.at[i].name, free) != 0) continue;
    free = arena_format(c->draw->w->arena, "%s_%u", name, k++);
    i = UINT32_MAX; // start again
  }
  return free;
}

// -- all orders -----------------------------------------------------------------------------------
static void carry_old(const Carrying *c, uint32_t i, GraphOrder said, Learning *g) {
  World *w = c->draw->w;
  PathOrder o = c->old->order.at[i];
  uint32_t left = carry_route(c, &c->old->order.at[i].left, &o.left),
           right = carry_route(c, &c->old->order.at[i].right, &o.right);
  if (left != 1 || right != 1) {
    bool several = left == 2 || right == 2;
    Id e =
        several
            ? drawing_error(c->draw, said.span,
                            "along which path does this run, now that an edge in it is replaced?")
            : diag_warning(w->diags, said.span, "this goes with an edge in it that is replaced");
    diag_note(w->diags, e, c->place, several ? "by several, here" : "here");
    return;
  }
  said.trains = carry_targets(c, &said.trains);
  for (uint32_t k = 0; k < said.frozen.n; k++)
    said.frozen.at[k] = carry_targets(c, &said.frozen.at[k]);
  graph_order(g->graph, o);
  vec_push(w->arena, &g->order, said);
}

static void add_right(const Carrying *c, uint32_t i, Learning *g) {
  Arena *a = c->draw->w->arena;
  PathOrder o = c->right->order.at[i];
  const GraphOrder *own = &c->comes->order.at[i];
  GraphOrder said = {.span = own->span};
  Route left = o.left, right = o.right;
  o.left = o.right = (Route){0};
  for (uint32_t k = 0; k < left.n; k++) vec_push(a, &o.left, c->now->made.edge[left.at[k]]);
  for (uint32_t k = 0; k < right.n; k++) vec_push(a, &o.right, c->now->made.edge[right.at[k]]);
  add_targets(a, &own->trains, c->now->made.edge, &said.trains);
  for (uint32_t k = 0; k < own->frozen.n; k++) {
    OrderTargets each = {0};
    add_targets(a, &own->frozen.at[k], c->now->made.edge, &each);
    vec_push(a, &said.frozen, each);
  }
  o.name = name_of_order(c, g->graph, o.name);
  graph_order(g->graph, o);
  vec_push(a, &g->order, said);
}

void orders_carry(const Carrying *c) {
  Learning *g = c->draw->g;
  VEC(GraphOrder) said = {0};
  for (uint32_t i = 0; i < g->order.n; i++) vec_push(c->draw->w->arena, &said, g->order.at[i]);
  g->order.n = g->graph->order.n = 0;
  g->frozen = carry_targets(c, &g->frozen);
  if (c->comes) add_targets(c->draw->w->arena, &c->comes->frozen, c->now->made.edge, &g->frozen);
  for (uint32_t i = 0; i < said.n; i++) carry_old(c, i, said.at[i], g);
  for (uint32_t i = 0; c->comes && i < c->right->order.n; i++) add_right(c, i, g);
  if (said.n && !g->order.n && !g->broken)
    drawing_error(c->draw, c->place, "with what is replaced here, all orders of `%s` go",
                  name_text(c->draw->w->names, g->name));
}
