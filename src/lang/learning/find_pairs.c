// The pairs of paths that a learning diagram makes equal, and why some are refused.
//
// Input: a diagram that is read. First the fields of its samples are declared, which gives the types
// of paths from the data; core/graph finds the pairs; those that the distance of their space cannot
// compare are dropped with a diagnostic.
#include "base/diag.h"
#include "base/names.h"
#include "lang/learning/learning_own.h"

// -- samples --------------------------------------------------------------------------------------
// Is it named by `train distill …` or `measure distill.Y …`, or not part of another diagram?
bool learning_is_asked(const Program *p, const Learning *g) {
  if (!g->is_part) return true;
  for (uint32_t i = 0; i < program_declarations(p->tree).n; i++) {
    const Syntax *n = program_declarations(p->tree).at[i],
                 *root = syntax_parts(n).n ? syntax_parts(n).at[0] : NULL;
    while (n->kind == N_MEASURE && root->kind == N_DOT) root = dot_base(root);
    if ((n->kind == N_TRAIN || n->kind == N_MEASURE) && root && root->kind == N_NAME &&
        scope_meaning(p->scope, root) == g->def)
      return true;
  }
  return false;
}

// One example of an episode: the type without its first own axis.
static Type one_example(World *w, const Type *t) {
  uint32_t at = 0;
  while (at < t->rank && t->axis[at].pass) at++;
  return at == t->rank ? *t : type_without(w, t, at);
}

static void check_index_edge(LearningReader *r, uint32_t edge) {
  GraphEdge *e = &r->g->edge.at[edge];
  Scope *acting = r->p->acting;
  uint32_t errors = r->w->diags->met;
  r->p->acting = r->g->inside;
  Body *b = goal_body(r->in, r->p, name_from(r->w->names, r->g->graph->edge.at[edge].name));
  Value v = eval_alone(b, b->env, index_read(r, edge, false));
  r->p->acting = acting;
  Types types = {0};
  for (uint32_t i = 0; i < v.n; i++) {
    if (v.at[i].error) r->g->broken = true;
    val_settle(b, &v.at[i]);
    bool task = index_has_tasks(r, r->g->graph->edge.at[edge].from);
    Type one = task ? one_example(r->w, &v.at[i].type) : v.at[i].type;
    vec_push(r->w->arena, &types, own_type(r->w, &one));
  }
  e->gives = types.at, e->given = types.n;
  if (!r->g->broken && r->w->diags->met == errors)
    fits_space(r, &types, r->g->graph->edge.at[edge].to, e->body->span);
}

// Declares the fields that edges read, and sets the types of these edges.
static void read_samples(LearningReader *r) {
  const Graph *graph = r->g->graph;
  for (uint32_t v = 0; v < graph->vertex.n; v++)
    if (graph->vertex.at[v].index) index_given(r, v);
  for (uint32_t e = 0; e < graph->edge.n && !r->g->broken; e++)
    if (graph->vertex.at[graph->edge.at[e].from].index) check_index_edge(r, e);
}

static const char *name_of_learning(const LearningReader *r) {
  return name_text(r->w->names, r->g->name);
}

// -- pairs ----------------------------------------------------------------------------------------

static void report_cycle(LearningReader *r, const PairsFault *f) {
  const Graph *g = r->g->graph;
  uint32_t first = f->route.at[0];
  Id e = diag_error(r->w->diags, r->g->edge.at[first].span,
                    "paths of `%s` run in a cycle here: %s ; %s …", name_of_learning(r),
                    route_text(r->w->arena, g, &f->route), g->edge.at[first].name);
  if (f->route.n > 1)
    diag_note(r->w->diags, e, r->g->edge.at[f->route.at[f->route.n - 1]].span, "and back here");
  diag_help(r->w->diags, e, "`at most 3 times` after an edge says how often a path may use it");
}

static bool is_learned(LearningReader *r, const Route *route) {
  Ids learners = {0};
  for (uint32_t i = 0; i < route->n; i++)
    edge_learners(r->in, &r->g->edge.at[route->at[i]], &learners);
  return learners.n > 0;
}

static void report_unordered(LearningReader *r, const PairsFault *f) {
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

static void report_many(LearningReader *r, const PairsFault *f) {
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

// A part without orders asks for all its pairs; glued to one with orders, these become orders.
static void keep_pairs(LearningReader *r) {
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
      graph_order(whole, (PathOrder){side[0], side[1], .times = pair->times});
      GraphOrder said = {.span = part->of->node->name_span};
      Ids frozen = pair_frozen_in_part(r->in, r->g, part, pair);
      OrderTargets each = {0};
      for (uint32_t m = 0; m < frozen.n; m++)
        vec_push(r->w->arena, &each,
                 (OrderTarget){.edge = NOWHERE, .learner = def_of(r->in, frozen.at[m])});
      vec_push(r->w->arena, &said.frozen, each);
      vec_push(r->w->arena, &r->g->order, said);
    }
  }
}

static void find_symmetric(LearningReader *r) {
  for (uint32_t v = 0; v < r->g->graph->vertex.n; v++) {
    Vertex *x = &r->g->graph->vertex.at[v];
    if (x->distance) x->symmetric = is_symmetric(r->in, &r->g->space.at[v]);
  }
}

static bool may_stand(void *on, uint32_t left, uint32_t right) {
  return ends_fit(on, left, right) == FITS;
}

static bool ends_with(const Route *whole, const Route *end) {
  return whole->n >= end->n &&
         !memcmp(whole->at + whole->n - end->n, end->at, end->n * sizeof *end->at);
}

bool pair_is_stated(const Graph *g, const Pair *p) {
  if (!p->order || p->chain.n) return false;
  const PathOrder *o = &g->order.at[p->order - 1];
  return ends_with(&p->left, &o->left) && ends_with(&p->right, &o->right) &&
         p->left.n - o->left.n == p->right.n - o->right.n;
}

static const char *lost_text(LearningReader *r, const Pair *p) {
  uint32_t right = p->right.at[p->right.n - 1];
  const char *space = r->g->graph->vertex.at[p->to].name;
  if (ends_fit(r, p->left.at[p->left.n - 1], right) == FITS_NOT)
    return arena_format(r->w->arena, "the distance of `%s` does not compare what they give", space);
  return arena_format(r->w->arena,
                      "`%s` gives scores, which the distance of `%s` does not take on its right: "
                      "it would fall without end",
                      r->g->graph->edge.at[right].name, space);
}

// A pair that cannot be compared is an error if stated, and a warning if it only follows.
static void report_lost(LearningReader *r) {
  const Graph *g = r->g->graph;
  Ids said = {0};
  for (uint32_t i = 0; i < r->g->lost.n; i++) {
    const Pair *p = &r->g->lost.at[i];
    bool known = !p->order;
    for (uint32_t k = 0; k < said.n; k++) known |= said.at[k] == p->order;
    if (known) continue;
    vec_push(r->w->arena, &said, p->order);
    Span span = r->g->order.at[p->order - 1].span;
    const char *why = lost_text(r, p);
    const char *left = route_text(r->w->arena, g, &p->left);
    const char *right = route_text(r->w->arena, g, &p->right);
    Id e = pair_is_stated(g, p)
               ? drawing_error(r, span, "%s", why)
               : diag_warning(r->w->diags, span,
                              "from this, `%s <= %s` would follow, which is left out: %s", left,
                              right, why);
    diag_note(r->w->diags, e, space_distance(r->g->space.at[p->to].def->node)->span,
              "this distance");
    if (!pair_is_stated(g, p))
      diag_help(r->w->diags, e, "nothing follows from what ends with `only`");
  }
}

void learning_pairs(Elab *in, Program *p, Learning *g) {
  LearningReader r = {in, p, in->w, g};
  PairsFault fault;
  if (g->counted || g->pattern || g->broken) return;
  g->counted = true;
  for (uint32_t i = 0; i < g->part.n; i++) {
    learning_pairs(in, p, g->part.at[i].of);
    g->broken |= g->part.at[i].of->broken;
  }
  if (g->broken) return;
  if (learning_is_asked(p, g)) read_samples(&r);
  if (g->broken) return;
  find_symmetric(&r);
  keep_pairs(&r);
  Comparing by = {.fits = may_stand, .on = &r};
  bool good = graph_pairs(in->w->arena, g->graph, PAIRS_LIMIT, &by, &g->pairs, &fault);
  g->lost = by.lost;
  if (good) report_lost(&r);
  if (good) return;
  g->broken = true;
  if (fault.kind == PAIRS_CYCLE) report_cycle(&r, &fault);
  if (fault.kind == PAIRS_UNORDERED) report_unordered(&r, &fault);
  if (fault.kind == PAIRS_MANY) report_many(&r, &fault);
}
