// `diagram both = one + two along X, m`: gluing (a colimit) of learning diagrams along the things
// named after `along`. Glued things must be equal: type and distance of a space, or learner of an
// edge.
//
// The whole keeps the embedding of each part, so that both.one.h has a meaning. Things of one part
// only are named one.h in the whole. What a part freezes is frozen for its own orders.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

typedef struct {
  LearningReader *r;
  VEC(const Graph *) graph;
  VEC(const char *) name;
  Along along;
} Parts;

// -- the parts ------------------------------------------------------------------------------------
static Def *part_def(LearningReader *r, const Syntax *path) {
  Scope *s = r->g->def->scope;
  Def *d = path->kind == N_NAME ? scope_meaning(s, path) : NULL;
  if (d && d->kind == DEF_DIAGRAM && !d->busy) return d;
  r->g->broken = true;
  if (d && d->broken) return NULL;
  if (path->kind == N_NAME && !d)
    unknown_in(r->in, s, path, "learning diagram");
  else if (d && d->kind == DEF_DIAGRAM)
    diag_error(r->w->diags, path->span, "`%s` is glued from itself",
               name_text(r->w->names, d->name));
  else
    diag_error(r->w->diags, path->span, "only learning diagrams are glued, and `%s` is not one",
               path_text(r->in, path));
  return NULL;
}

static bool is_new_name(Parts *p, const Syntax *n, const char *name) {
  World *w = p->r->w;
  for (uint32_t i = 0; i < p->name.n; i++) {
    if (strcmp(p->name.at[i], name) != 0) continue;
    Id e = drawing_error(p->r, n->span, "two parts are called `%s`", name);
    return diag_help(w->diags, e, "give one of them another name: `%s as %s2`", name, name);
  }
  return true;
}

static void read_part(Parts *p, const Syntax *n) {
  LearningReader *r = p->r;
  const Syntax *path = arg_given(n);
  Def *d = part_def(r, path);
  if (!d) return;
  const char *name = name_text(r->w->names, n->kind == N_ARG ? n->name : d->name);
  if (!is_new_name(p, n, name)) return;
  Learning *of = learning_of(r->in, r->p, d);
  of->is_part = true;
  r->g->broken |= of->broken;
  r->g->pattern |= of->pattern;
  vec_push(r->w->arena, &p->graph, of->graph);
  vec_push(r->w->arena, &p->name, name);
  vec_push(r->w->arena, &r->g->part, (GraphPart){.name = name_from(r->w->names, name), .of = of});
}

// -- along ----------------------------------------------------------------------------------------
typedef struct {
  uint32_t part, at;
  const Syntax *path; // the path that names it
} GluedThing;
typedef VEC(GluedThing) GluedThings;

static bool has_word(const char *path, const char *word) {
  size_t n = strlen(word);
  return strncmp(path, word, n) == 0 && path[n] == '.';
}

// Everything a path names: the thing in each part that has it, or one.X of part one only.
static void things_named(Parts *p, const Syntax *path, bool edge, GluedThings *out) {
  const char *name = path_text(p->r->in, path);
  uint32_t before = out->n;
  for (uint32_t pass = 0; pass < 2 && out->n == before; pass++)
    for (uint32_t i = 0; i < p->name.n; i++) {
      const Learning *of = p->r->g->part.at[i].of;
      if (pass && !has_word(name, p->name.at[i])) continue;
      const char *own = pass ? name + strlen(p->name.at[i]) + 1 : name;
      uint32_t k = edge ? edge_at(of, own) : vertex_at(of, own);
      if (k != NOWHERE) vec_push(p->r->w->arena, out, (GluedThing){i, k, path});
    }
}

// Two different things of one part cannot be glued.
static bool are_of_different_parts(Parts *p, const GluedThings *all) {
  for (uint32_t i = 0; i < all->n; i++)
    for (uint32_t k = i + 1; k < all->n; k++) {
      const GluedThing *a = &all->at[i], *b = &all->at[k];
      if (a->part != b->part || a->at == b->at) continue;
      Id e = drawing_error(
          p->r, b->path->span, "%s has both `%s` and `%s`: which is glued to which?",
          p->name.at[a->part], path_text(p->r->in, a->path), path_text(p->r->in, b->path));
      return diag_help(p->r->w->diags, e, "`%s.%s` is the one of %s only", p->name.at[a->part],
                       path_text(p->r->in, a->path), p->name.at[a->part]);
    }
  return true;
}

static void glue_things(Parts *p, const GluedThings *all, bool edge) {
  Arena *a = p->r->w->arena;
  for (uint32_t i = 1; i < all->n; i++) {
    const GluedThing *x = &all->at[0], *y = &all->at[i];
    if (edge) {
      vec_push(a, &p->along.edge, (PartEdge){x->part, x->at});
      vec_push(a, &p->along.edge, (PartEdge){y->part, y->at});
    } else {
      vec_push(a, &p->along.vertex, (PartVertex){x->part, x->at});
      vec_push(a, &p->along.vertex, (PartVertex){y->part, y->at});
    }
  }
}

// X, or X = In: each name occurs in some part, and at least two things are glued.
static void read_along(Parts *p, const Syntax *n) {
  LearningReader *r = p->r;
  uint32_t names = n->kind == N_SAME ? same_paths(n).n : 1, times = 0;
  const Syntax *missing = NULL;
  for (uint32_t pass = 0; pass < 2; pass++) { // spaces first
    GluedThings all = {0};
    const Syntax *lacks = NULL;
    for (uint32_t i = 0; i < names; i++) {
      uint32_t before = all.n;
      const Syntax *path = n->kind == N_SAME ? same_paths(n).at[i] : n;
      things_named(p, path, pass == 1, &all);
      if (all.n == before && !lacks) lacks = path;
    }
    if (all.n > 1 && !lacks) {
      if (are_of_different_parts(p, &all)) glue_things(p, &all, pass == 1);
      return;
    }
    if (!pass || all.n > times) missing = lacks, times = all.n;
  }
  if (names == 1)
    drawing_error(r, n->span,
                  "diagrams are glued along what at least two of them have, but %s of these has a "
                  "space or edge `%s`",
                  times ? "only one" : "none", path_text(r->in, n));
  else
    drawing_error(r, missing ? missing->span : n->span,
                  "no part has a space or edge `%s` that could be glued to these",
                  path_text(r->in, missing ? missing : n));
}

static const char *space_text(Elab *in, const GraphSpace *s) {
  World *w = in->w;
  const Syntax *n = s->def ? s->def->node : NULL;
  if (n ? !space_types(n) : !s->source) return "open";
  const Source *file = &w->sources->file.at[n ? n->span.file : s->source->span.file];
  Span span = n ? space_types(n)->span : s->source->span;
  if (n && space_distance(n)) span = span_join(span, space_distance(n)->span);
  return arena_text(w->arena, file->text + span.at, span.n);
}

static void report_fault(Parts *p, const GlueFault *f) {
  LearningReader *r = p->r;
  Learning *a = r->g->part.at[f->part[0]].of, *b = r->g->part.at[f->part[1]].of;
  const char *one = p->name.at[f->part[0]], *two = p->name.at[f->part[1]];
  const Syntax *place = diagram_along(r->g->node) ? diagram_along(r->g->node) : r->g->node;
  r->g->broken = true;
  if (f->edge) {
    Id e = diag_error(r->w->diags, b->edge.at[f->at[1]].span,
                      "`%s` of %s and of %s are glued to one edge, but are different maps",
                      b->graph->edge.at[f->at[1]].name, one, two);
    diag_note(r->w->diags, e, a->edge.at[f->at[0]].span, "the other one");
    diag_help(r->w->diags, e, "one learner, declared outside, can be an edge of both");
    return;
  }
  const GraphSpace *x = &a->space.at[f->at[0]], *y = &b->space.at[f->at[1]];
  Id e =
      diag_error(r->w->diags, y->span.file ? y->span : place->span,
                 "`%s` of %s and `%s` of %s are glued to one space, but one is %s and the other %s",
                 a->graph->vertex.at[f->at[0]].name, one, b->graph->vertex.at[f->at[1]].name, two,
                 space_text(r->in, x), space_text(r->in, y));
  diag_note(r->w->diags, e, x->span, "the other one");
}

// -- the whole ------------------------------------------------------------------------------------
static void add_spaces(LearningReader *r) {
  Learning *g = r->g;
  for (uint32_t v = 0; v < g->graph->vertex.n; v++)
    vec_push(r->w->arena, &g->space, (GraphSpace){0});
  for (uint32_t i = g->part.n; i-- > 0;) // the first part that has it determines it
    for (uint32_t v = 0; v < g->part.at[i].of->space.n; v++)
      g->space.at[g->part.at[i].in.vertex[v]] = g->part.at[i].of->space.at[v];
  for (uint32_t v = 0; v < g->graph->vertex.n; v++) {
    const char *name = g->graph->vertex.at[v].name;
    table_put(g->vertex_of, name, strlen(name), v + 1);
    if (g->space.at[v].def)
      scope_alias(g->inside, name_from(r->w->names, name), g->space.at[v].def);
  }
}

// A glued thing is found by each of its names, unless the whole has something else of that name.
static void add_names(LearningReader *r) {
  Learning *g = r->g;
  for (uint32_t i = 0; g->part.n > 1 && i < g->part.n; i++) {
    const GraphPart *part = &g->part.at[i];
    for (uint32_t k = 0; k < part->of->graph->vertex.n + part->of->graph->edge.n; k++) {
      bool edge = k >= part->of->graph->vertex.n;
      uint32_t own = edge ? k - part->of->graph->vertex.n : k;
      uint32_t at = edge ? part->in.edge[own] : part->in.vertex[own];
      const char *name = edge ? part->of->graph->edge.at[own].name
                              : part->of->graph->vertex.at[own].name,
                 *whole = edge ? g->graph->edge.at[at].name : g->graph->vertex.at[at].name;
      bool alone = has_word(whole, name_text(r->w->names, part->name)) &&
                   !strcmp(whole + strlen(name_text(r->w->names, part->name)) + 1, name);
      Table *of = edge ? g->edge_of : g->vertex_of;
      if (alone || table_get(of, name, strlen(name))) continue;
      table_put(of, name, strlen(name), at + 1);
      const Def *d = edge ? g->edge.at[at].def : g->space.at[at].def;
      if (d) scope_alias(g->inside, name_from(r->w->names, name), (Def *)d);
    }
  }
}

static void add_edges(LearningReader *r) {
  Learning *g = r->g;
  Scope *file = g->def->scope;
  for (uint32_t e = 0; e < g->graph->edge.n; e++) vec_push(r->w->arena, &g->edge, (GraphEdge){0});
  for (uint32_t i = g->part.n; i-- > 0;) {
    const GraphPart *part = &g->part.at[i];
    for (uint32_t e = 0; e < part->of->edge.n; e++) {
      const GraphEdge *edge = &part->of->edge.at[e];
      g->edge.at[part->in.edge[e]] = *edge;
      const char *path = arena_format(r->w->arena, "%s.%s", name_text(r->w->names, part->name),
                                      part->of->graph->edge.at[e].name);
      if (edge->def) scope_alias(file, learning_key(r, path), edge->def);
    }
  }
  for (uint32_t e = 0; e < g->graph->edge.n; e++) {
    const char *name = g->graph->edge.at[e].name;
    table_put(g->edge_of, name, strlen(name), e + 1);
    if (!g->edge.at[e].def) continue;
    scope_alias(g->inside, name_from(r->w->names, name), g->edge.at[e].def);
    scope_alias(file, learning_key(r, name), g->edge.at[e].def);
  }
}

static bool is_moved(const Route *whole, const Route *own, const Inclusion *in) {
  bool same = whole->n == own->n;
  for (uint32_t i = 0; same && i < own->n; i++) same = in->edge[own->at[i]] == whole->at[i];
  return same;
}

static bool is_order_of(const PathOrder *whole, const PathOrder *own, const Inclusion *in) {
  bool whom = whole->whom && own->whom ? !strcmp(whole->whom, own->whom) : whole->whom == own->whom;
  return whom && whole->times == own->times && whole->only == own->only &&
         is_moved(&whole->left, &own->left, in) && is_moved(&whole->right, &own->right, in);
}

static void merge_order(LearningReader *r, const GraphPart *part, const GraphOrder *own, bool again,
                        GraphOrder *o) {
  Arena *a = r->w->arena;
  for (uint32_t i = 0; i < (own->frozen.n ? own->frozen.n : 1); i++) {
    OrderTargets frozen = {0};
    add_targets(a, &part->of->frozen, part->in.edge, &frozen);
    if (own->frozen.n) add_targets(a, &own->frozen.at[i], part->in.edge, &frozen);
    vec_push(a, &o->frozen, frozen);
  }
  if (again) return;
  o->span = own->span;
  add_targets(a, &own->trains, part->in.edge, &o->trains);
}

// The attributes of an order, from the parts that state it.
static GraphOrder order_of_parts(LearningReader *r, const PathOrder *o) {
  const Learning *g = r->g;
  GraphOrder found = {.span = g->node->name_span};
  bool again = false;
  for (uint32_t i = 0; i < g->part.n; i++) {
    const GraphPart *part = &g->part.at[i];
    for (uint32_t k = 0; k < part->of->graph->order.n; k++) {
      if (!is_order_of(o, &part->of->graph->order.at[k], &part->in)) continue;
      merge_order(r, part, &part->of->order.at[k], again, &found);
      again = true;
    }
  }
  return found;
}

// Limits the size of diagrams that are glued to themselves repeatedly.
static bool too_much_to_glue(const LearningReader *r, const GlueParts *parts) {
  enum { GLUED_LIMIT = 2000 };
  uint64_t n = 0;
  for (uint32_t i = 0; i < parts->n; i++)
    n += parts->graph[i]->vertex.n + parts->graph[i]->edge.n + parts->graph[i]->order.n;
  if (n <= GLUED_LIMIT) return false;
  diag_error(r->w->diags, r->g->node->name_span,
             "this diagram is too large: its parts have %llu spaces, edges and orders, and %d are "
             "the most",
             (unsigned long long)n, GLUED_LIMIT);
  return true;
}

// False after an error; the diagram then has no parts.
static bool glue_all(LearningReader *r) {
  Learning *g = r->g;
  const Syntax *parts = diagram_parts(g->node), *along = diagram_along(g->node);
  Parts p = {.r = r};
  GlueFault fault;
  for (uint32_t i = 0; i < names_in(parts).n; i++) read_part(&p, names_in(parts).at[i]);
  if (g->broken) return false;
  for (uint32_t i = 0; along && i < names_in(along).n; i++) read_along(&p, names_in(along).at[i]);
  if (g->broken) return false;
  Inclusion *in = NEW_ARRAY(r->w->arena, Inclusion, g->part.n + 1);
  Graph *whole;
  GlueParts glued = {p.graph.at, p.name.at, g->part.n};
  if (too_much_to_glue(r, &glued)) return false;
  if (!graph_glue(r->w->arena, &glued, &p.along, &whole, in, &fault)) {
    report_fault(&p, &fault);
    return false;
  }
  g->graph = whole;
  for (uint32_t i = 0; i < g->part.n; i++) g->part.at[i].in = in[i];
  return true;
}

bool read_glued(LearningReader *r) {
  Learning *g = r->g;
  if (!glue_all(r)) {
    g->broken = true;
    g->part.n = 0;
    return false;
  }
  add_spaces(r);
  add_edges(r);
  add_names(r);
  for (uint32_t i = 0; i < g->graph->order.n; i++)
    vec_push(r->w->arena, &g->order, order_of_parts(r, &g->graph->order.at[i]));
  return true;
}
