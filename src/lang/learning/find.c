// `find P in D => …`: matches of a pattern in a learning diagram, and what is done to them.
//
// A pattern is a route, whose steps are edges of the diagram, maps, or `_` for any; or a diagram
// whose spaces and edges without `=` are variables. Matches are injective, in an order independent
// of the text. `freeze` and `set` apply to the matched edges. `replace` is double-pushout
// rewriting: a route becomes one new edge; a diagram becomes another one, and what both name alike
// is kept. A rewriting that would leave dangling edges is refused. Orders are redirected (carry.c).
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

enum { MATCHES_LIMIT = 10000 };

typedef struct {
  LearningReader *r;
  const Syntax *node;
  Scope *s;
  const Graph *pattern;
  const Learning *shape; // the pattern, if it is a diagram
  VEC(uint32_t) pinned;  // [edge of the pattern] the edge it must match; NOWHERE: any
  Matches match;
  const Syntax *value; // the replacement
} Finding;

// -- patterns -------------------------------------------------------------------------------------
static const Learning *shape_of(Finding *f, const Syntax *n) {
  Def *d = n->kind == N_NAME ? scope_meaning(f->s, n) : NULL;
  if (!d || d->kind != DEF_DIAGRAM || d->busy) return NULL;
  return learning_of(f->r->in, f->r->p, d);
}

// A known box or learner, perhaps with brackets.
static bool is_map(LearningReader *r, const Syntax *n) {
  Body b = {.in = r->in, .w = r->w};
  return is_box(&b, env_new(r->in, NULL, r->g->inside, &b), n);
}

static bool read_step(Finding *f, const Syntax *n, Edge *e) {
  LearningReader *r = f->r;
  const char *path = path_text(r->in, n);
  uint32_t edge = path ? edge_meant(r, n, path) : NOWHERE;
  vec_push(r->w->arena, &f->pinned, edge);
  if (edge != NOWHERE || (path && !strcmp(path, "_"))) return true;
  if (!is_map(r, n)) {
    Id m = diag_error(r->w->diags, n->span,
                      "a step of a pattern is an edge of `%s`, a box, a learner or `_`",
                      name_text(r->w->names, r->g->name));
    Nearest near = nearest_to(path ? path : "");
    for (uint32_t i = 0; i < r->g->edge.n; i++) nearest_try(&near, r->g->graph->edge.at[i].name);
    diag_suggest(r->w->diags, m, near.best);
    return false;
  }
  e->what = same_map(r->in, r->g->inside, n);
  return true;
}

static bool read_pattern(Finding *f) {
  LearningReader *r = f->r;
  const Syntax *n = find_route(f->node);
  f->shape = shape_of(f, n);
  if (f->shape) {
    f->pattern = f->shape->graph;
    for (uint32_t i = 0; i < f->pattern->edge.n; i++) vec_push(r->w->arena, &f->pinned, NOWHERE);
    return !f->shape->broken;
  }
  Graph *route = graph_new(r->w->arena);
  uint32_t steps = n->kind == N_PIPE ? pipe_stages(n).n : 1;
  graph_vertex(route, (Vertex){.name = "0"});
  for (uint32_t i = 0; i < steps; i++) {
    const char *name = arena_format(r->w->arena, "%u", i + 1);
    uint32_t to = graph_vertex(route, (Vertex){.name = name});
    Edge e = {.name = name, .from = i, .to = to};
    if (!read_step(f, n->kind == N_PIPE ? pipe_stages(n).at[i] : n, &e)) return false;
    graph_edge(route, e);
  }
  f->pattern = route;
  return true;
}

static bool is_at_pins(const Finding *f, const PatternMatch *m) {
  for (uint32_t i = 0; i < f->pinned.n; i++)
    if (f->pinned.at[i] != NOWHERE && f->pinned.at[i] != m->edge[i]) return false;
  return true;
}

static bool find_all(Finding *f) {
  LearningReader *r = f->r;
  Matches all = {0};
  if (!graph_find(r->w->arena, f->pattern, r->g->graph, true, MATCHES_LIMIT, &all))
    return diag_refuse(r->w->diags, find_route(f->node)->span, "this is found more than %d times",
                       MATCHES_LIMIT);
  for (uint32_t i = 0; i < all.n; i++)
    if (is_at_pins(f, &all.at[i])) vec_push(r->w->arena, &f->match, all.at[i]);
  if (!f->match.n)
    diag_warning(r->w->diags, find_route(f->node)->span, "this is not found in `%s`",
                 name_text(r->w->names, r->g->name));
  return f->match.n > 0;
}

static Route edges_at(Finding *f, const PatternMatch *m) {
  Route at = {0};
  for (uint32_t i = 0; i < f->pattern->edge.n; i++) vec_push(f->r->w->arena, &at, m->edge[i]);
  return at;
}

static void note_found(Finding *f, const char *text) {
  vec_push(f->r->w->arena, &f->r->g->found, (GraphFound){f->node, text});
}

// -- freeze and set -------------------------------------------------------------------------------
// The edge of the pattern that an action refers to; NOWHERE with a diagnostic.
static uint32_t piece_of(Finding *f, const Syntax *piece) {
  LearningReader *r = f->r;
  const char *path = path_text(r->in, piece);
  const Syntax *n = find_route(f->node);
  uint32_t at = f->shape && path ? edge_at(f->shape, path) : NOWHERE, times = at != NOWHERE;
  for (uint32_t i = 0; !f->shape && i < f->pattern->edge.n; i++)
    if (tree_equal(n->kind == N_PIPE ? pipe_stages(n).at[i] : n, piece)) at = i, times++;
  if (times == 1) return at;
  Id e = drawing_error(
      r, piece->span, times ? "the pattern has several steps `%s`" : "the pattern has no edge `%s`",
      path ? path : "…");
  diag_note(r->w->diags, e, n->span, "the pattern");
  return NOWHERE;
}

static void freeze_all(Finding *f, const Syntax *deed) {
  uint32_t only = deed_piece(deed) ? piece_of(f, deed_piece(deed)) : NOWHERE;
  if (deed_piece(deed) && only == NOWHERE) return;
  for (uint32_t i = 0; i < f->match.n; i++)
    for (uint32_t k = 0; k < f->pattern->edge.n; k++)
      if (only == NOWHERE || only == k)
        vec_push(f->r->w->arena, &f->r->g->frozen, (OrderTarget){.edge = f->match.at[i].edge[k]});
}

static void set_all(Finding *f, const Syntax *deed) {
  LearningReader *r = f->r;
  uint32_t only = deed_piece(deed) ? piece_of(f, deed_piece(deed)) : 0;
  if (!deed_piece(deed) && f->pattern->edge.n != 1) {
    diag_error(r->w->diags, deed_value(deed)->span,
               "`set` gives one edge another map, but the pattern has %u; `set f = …` says which",
               f->pattern->edge.n);
    return;
  }
  for (uint32_t i = 0; only != NOWHERE && i < f->match.n; i++)
    edge_set(r, f->match.at[i].edge[only], deed_value(deed), r->g->inside);
}

// -- replace --------------------------------------------------------------------------------------
typedef struct {
  RewriteRule rule;
  const Learning *to; // the replacement, if it is a diagram
} FindChange;

static void keep_vertex(LearningReader *r, RewriteRule *rule, uint32_t left, uint32_t right) {
  vec_push(r->w->arena, &rule->kept_vertex, (PartVertex){0, left});
  vec_push(r->w->arena, &rule->kept_vertex, (PartVertex){1, right});
}

// Things of the same name in both diagrams are kept.
static bool change_to_shape(Finding *f, FindChange *c) {
  LearningReader *r = f->r;
  const Learning *left = f->shape, *right = c->to;
  c->rule = (RewriteRule){.left = left->graph, .right = right->graph};
  for (uint32_t v = 0; v < right->space.n; v++) {
    uint32_t old = vertex_at(left, right->graph->vertex.at[v].name);
    if (old != NOWHERE)
      keep_vertex(r, &c->rule, old, v);
    else if (!right->graph->vertex.at[v].what) {
      Id e = diag_error(r->w->diags, right->space.at[v].span, "`%s` is new, so it needs a type",
                        right->graph->vertex.at[v].name);
      return diag_note(r->w->diags, e, f->node->span, "it replaces something here");
    }
  }
  for (uint32_t k = 0; k < right->edge.n; k++) {
    uint32_t old = edge_at(left, right->graph->edge.at[k].name);
    bool same = old != NOWHERE && (!right->edge.at[k].body ||
                                   right->graph->edge.at[k].what == left->graph->edge.at[old].what);
    if (same) {
      vec_push(r->w->arena, &c->rule.kept_edge, (PartEdge){0, old});
      vec_push(r->w->arena, &c->rule.kept_edge, (PartEdge){1, k});
    } else if (!right->edge.at[k].body) {
      Id e = diag_error(r->w->diags, right->edge.at[k].span, "`%s` is new, so it needs a map",
                        right->graph->edge.at[k].name);
      return diag_note(r->w->diags, e, f->node->span, "it replaces something here");
    }
  }
  return true;
}

static bool read_change(Finding *f, FindChange *c) {
  LearningReader *r = f->r;
  c->to = f->shape ? shape_of(f, f->value) : NULL;
  if (f->shape && !c->to)
    return diag_refuse(r->w->diags, f->value->span,
                       "a diagram is replaced by a diagram: the name of one is wanted here");
  if (c->to) return !c->to->broken && change_to_shape(f, c);
  Graph *one = graph_new(r->w->arena);
  graph_vertex(one, (Vertex){.name = "from"});
  graph_vertex(one, (Vertex){.name = "to"});
  graph_edge(one, (Edge){.name = "new", .from = 0, .to = 1});
  c->rule = (RewriteRule){.left = f->pattern, .right = one};
  keep_vertex(r, &c->rule, 0, 0);
  keep_vertex(r, &c->rule, f->pattern->vertex.n - 1, 1);
  return true;
}

static const char *free_name(LearningReader *r, const Table *taken, const char *name) {
  const char *free = name;
  for (uint32_t k = 2; table_get(taken, free, strlen(free)); k++)
    free = arena_format(r->w->arena, "%s_%u", name, k);
  return free;
}

// Rebuilds the arrays of the diagram for its new graph.
static void rebuild_arrays(LearningReader *r, const Graph *old, Graph *now, const Inclusion *kept) {
  Learning *g = r->g, before = *g;
  Arena *a = r->w->arena;
  g->graph = now;
  g->space.n = g->edge.n = 0, g->space.cap = g->edge.cap = 0, g->space.at = NULL, g->edge.at = NULL;
  g->vertex_of = table_new(a), g->edge_of = table_new(a);
  for (uint32_t v = 0; v < now->vertex.n; v++) vec_push(a, &g->space, (GraphSpace){0});
  for (uint32_t e = 0; e < now->edge.n; e++) vec_push(a, &g->edge, (GraphEdge){0});
  for (uint32_t v = 0; v < old->vertex.n; v++)
    if (kept->vertex[v] != NOWHERE) {
      g->space.at[kept->vertex[v]] = before.space.at[v];
      table_put(g->vertex_of, old->vertex.at[v].name, strlen(old->vertex.at[v].name),
                kept->vertex[v] + 1);
    }
  for (uint32_t e = 0; e < old->edge.n; e++)
    if (kept->edge[e] != NOWHERE) {
      g->edge.at[kept->edge[e]] = before.edge.at[e];
      table_put(g->edge_of, old->edge.at[e].name, strlen(old->edge.at[e].name), kept->edge[e] + 1);
    }
  for (uint32_t i = 0; i < g->part.n; i++) {
    GraphPart *part = &g->part.at[i];
    for (uint32_t v = 0; v < part->of->graph->vertex.n; v++)
      if (part->in.vertex[v] != NOWHERE) part->in.vertex[v] = kept->vertex[part->in.vertex[v]];
    for (uint32_t e = 0; e < part->of->graph->edge.n; e++)
      if (part->in.edge[e] != NOWHERE) part->in.edge[e] = kept->edge[part->in.edge[e]];
  }
}

// Fills in new spaces, then new edges with their maps.
static void put_new(Finding *f, const FindChange *c, const PatternMatch *made, const char *name) {
  LearningReader *r = f->r;
  Learning *g = r->g;
  const Graph *right = c->rule.right;
  for (uint32_t v = 0; v < right->vertex.n; v++) {
    uint32_t at = made->vertex[v];
    if (g->space.at[at].def || g->space.at[at].source) continue;
    g->space.at[at] = c->to->space.at[v];
    Vertex *x = &g->graph->vertex.at[at];
    x->name = free_name(r, g->vertex_of, x->name);
    table_put(g->vertex_of, x->name, strlen(x->name), at + 1);
    scope_alias(g->inside, name_from(r->w->names, x->name), g->space.at[at].def);
  }
  for (uint32_t k = 0; k < right->edge.n; k++) {
    uint32_t at = made->edge[k];
    if (g->edge.at[at].node) continue;
    Edge *e = &g->graph->edge.at[at];
    e->name = free_name(r, g->edge_of, name ? name : e->name);
    table_put(g->edge_of, e->name, strlen(e->name), at + 1);
    const Syntax *body = c->to ? c->to->edge.at[k].body : f->value;
    Span span = c->to ? c->to->edge.at[k].span : f->value->span;
    Name key = name_from(r->w->names, e->name);
    Syntax *box = syntax_name(r->w->arena, key, span);
    g->edge.at[at].node = box;
    g->edge.at[at].span = span;
    g->edge.at[at].def = scope_find(g->inside, key); // of a removed edge
    edge_set(r, at, body, c->to ? c->to->inside : g->inside);
  }
}

static void report_dangling(Finding *f, const RewriteFault *fault) {
  LearningReader *r = f->r;
  const Graph *g = r->g->graph;
  Id e = drawing_error(r, f->node->span,
                       "what is replaced goes through `%s`, but edge `%s` is attached there too "
                       "and would be left dangling",
                       g->vertex.at[fault->vertex].name, g->edge.at[fault->edge].name);
  diag_note(r->w->diags, e, r->g->edge.at[fault->edge].span, "this edge");
}

static bool replace_at(Finding *f, const FindChange *c, const PatternMatch *m, Inclusion *kept) {
  LearningReader *r = f->r;
  Graph *old = r->g->graph;
  Rewritten now;
  RewriteFault fault;
  const char *name = c->to ? NULL : old->edge.at[m->edge[0]].name;
  VEC(GraphEdge) edges = {0};
  for (uint32_t e = 0; e < r->g->edge.n; e++) vec_push(r->w->arena, &edges, r->g->edge.at[e]);
  if (!graph_rewrite(r->w->arena, &c->rule, old, m, &now, &fault)) {
    report_dangling(f, &fault);
    return false;
  }
  *kept = now.kept;
  rebuild_arrays(r, old, now.graph, kept);
  put_new(f, c, &now.made, name);
  Carrying carry = {.draw = r, .old = old, .was = edges.at, .left = c->rule.left};
  carry.right = c->rule.right, carry.at = m, carry.now = &now, carry.comes = c->to;
  carry.place = f->node->span;
  orders_carry(&carry);
  return true;
}

// Replaces match by match, mapping later matches to the new graph; those that lost something are
// skipped.
static void replace_all(Finding *f) {
  LearningReader *r = f->r;
  FindChange c = {0};
  if (!read_change(f, &c)) {
    r->g->broken = true;
    return;
  }
  for (uint32_t i = 0; i < f->match.n; i++) {
    Inclusion kept;
    bool whole = true;
    PatternMatch *m = &f->match.at[i];
    for (uint32_t k = 0; k < f->pattern->edge.n; k++) whole &= m->edge[k] != NOWHERE;
    for (uint32_t k = 0; k < f->pattern->vertex.n; k++) whole &= m->vertex[k] != NOWHERE;
    if (!whole) continue;
    if (!replace_at(f, &c, m, &kept)) return;
    for (uint32_t j = i + 1; j < f->match.n; j++) {
      PatternMatch *other = &f->match.at[j];
      for (uint32_t k = 0; k < f->pattern->edge.n; k++)
        if (other->edge[k] != NOWHERE) other->edge[k] = kept.edge[other->edge[k]];
      for (uint32_t k = 0; k < f->pattern->vertex.n; k++)
        if (other->vertex[k] != NOWHERE) other->vertex[k] = kept.vertex[other->vertex[k]];
    }
  }
}

void learning_find(LearningReader *r, const Syntax *n, Scope *s) {
  Finding f = {.r = r, .node = n, .s = s};
  if (r->g->broken || !read_pattern(&f) || !find_all(&f)) return;
  for (uint32_t i = 0; i < f.match.n; i++) {
    Route at = edges_at(&f, &f.match.at[i]);
    note_found(&f, route_text(r->w->arena, r->g->graph, &at));
  }
  for (uint32_t i = 0; i < find_deeds(n).n; i++) {
    const Syntax *deed = find_deeds(n).at[i];
    if (deed_kind(deed) == SIGN_FREEZE) freeze_all(&f, deed);
    if (deed_kind(deed) == SIGN_SET) set_all(&f, deed);
    if (deed_kind(deed) != SIGN_REPLACE) continue;
    f.value = deed_value(deed);
    if (find_deeds(n).n == 1)
      replace_all(&f);
    else
      drawing_error(r, deed->span, "after `replace` the pattern is gone: it is all that is done");
  }
}
