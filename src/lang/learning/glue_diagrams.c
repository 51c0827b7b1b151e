// `diagram both = one + two along X, m`: learning diagrams side by side, with what is named after
// `along` made one. What is made one must be the same: a type and a distance, or a learner.
//
// The whole keeps where each part went, so that both.one.h still names something. Things of one
// part only are called one.h in the whole; the whole's goals leave alone what any part has frozen.
#include "lang/learning/learning_own.h"

typedef struct {
  Drawing *r;
  VEC(const Graph *) graph;
  VEC(const char *) name;
  Along along;
} Parts;

// -- the parts ------------------------------------------------------------------------------------
static Def *part_def(Drawing *r, const Syntax *path) {
  Scope *s = r->g->def->scope;
  Def *d = path->kind == N_NAME ? scope_find(s, path->name) : NULL;
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
    diag_help(w->diags, e, "give one of them another name: `%s as %s2`", name, name);
    return false;
  }
  return true;
}

static void read_part(Parts *p, const Syntax *n) {
  Drawing *r = p->r;
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
static void read_along(Parts *p, const Syntax *path) {
  Drawing *r = p->r;
  Arena *a = r->w->arena;
  const char *name = path_text(r->in, path);
  uint32_t first = NOWHERE, times = 0, at = 0;
  for (uint32_t pass = 0; pass < 2 && times < 2; pass++) {
    times = 0, first = NOWHERE;
    for (uint32_t i = 0; i < r->g->part.n; i++) {
      uint32_t k = pass ? edge_at(r->g->part.at[i].of, name) : vertex_at(r->g->part.at[i].of, name);
      if (k == NOWHERE) continue;
      times++;
      if (first == NOWHERE) {
        first = i, at = k;
      } else if (pass) {
        vec_push(a, &p->along.edge, (PartEdge){first, at});
        vec_push(a, &p->along.edge, (PartEdge){i, k});
      } else {
        vec_push(a, &p->along.vertex, (PartVertex){first, at});
        vec_push(a, &p->along.vertex, (PartVertex){i, k});
      }
    }
  }
  if (times >= 2) return;
  drawing_error(r, path->span,
                "diagrams are glued along what at least two of them have, but %s of these has a "
                "space or edge `%s`",
                times ? "only one" : "none", name);
}

static const char *space_text(Elab *in, const GraphSpace *s) {
  World *w = in->w;
  const Syntax *n = s->def ? s->def->node : NULL;
  const Source *file = &w->sources->file.at[n ? n->span.file : s->source->span.file];
  if (n && !space_types(n)) return "open";
  Span span = n ? space_types(n)->span : s->source->span;
  if (n && space_distance(n)) span = span_join(span, space_distance(n)->span);
  return arena_text(w->arena, file->text + span.at, span.n);
}

static void say_fault(Parts *p, const GlueFault *f) {
  Drawing *r = p->r;
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
static void take_spaces(Drawing *r) {
  Learning *g = r->g;
  for (uint32_t v = 0; v < g->graph->vertex.n; v++)
    vec_push(r->w->arena, &g->space, (GraphSpace){0});
  for (uint32_t i = g->part.n; i-- > 0;) // the first part that has it gives it
    for (uint32_t v = 0; v < g->part.at[i].of->space.n; v++)
      g->space.at[g->part.at[i].in.vertex[v]] = g->part.at[i].of->space.at[v];
  for (uint32_t v = 0; v < g->graph->vertex.n; v++) {
    const char *name = g->graph->vertex.at[v].name;
    table_put(g->vertex_of, name, strlen(name), v + 1);
    if (g->space.at[v].def)
      scope_alias(g->inside, name_from(r->w->names, name), g->space.at[v].def);
  }
}

static void take_edges(Drawing *r) {
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

static Span order_place(const Learning *g, const PathOrder *o) {
  for (uint32_t i = 0; i < g->part.n; i++) {
    const GraphPart *part = &g->part.at[i];
    for (uint32_t k = 0; k < part->of->graph->order.n; k++) {
      const PathOrder *own = &part->of->graph->order.at[k];
      if (is_moved(&o->left, &own->left, &part->in) && is_moved(&o->right, &own->right, &part->in))
        return part->of->order.at[k];
    }
  }
  return g->node->name_span;
}

void read_glued(Drawing *r) {
  Learning *g = r->g;
  const Syntax *parts = diagram_parts(g->node), *along = diagram_along(g->node);
  Parts p = {.r = r};
  GlueFault fault;
  for (uint32_t i = 0; i < names_in(parts).n; i++) read_part(&p, names_in(parts).at[i]);
  if (g->broken) return;
  for (uint32_t i = 0; along && i < names_in(along).n; i++) read_along(&p, names_in(along).at[i]);
  if (g->broken) return;
  Inclusion *in = NEW_ARRAY(r->w->arena, Inclusion, g->part.n + 1);
  Graph *whole;
  GlueParts glued = {p.graph.at, p.name.at, g->part.n};
  if (!graph_glue(r->w->arena, &glued, &p.along, &whole, in, &fault)) {
    say_fault(&p, &fault);
    return;
  }
  g->graph = whole;
  for (uint32_t i = 0; i < g->part.n; i++) {
    const Learning *of = g->part.at[i].of;
    g->part.at[i].in = in[i];
    for (uint32_t k = 0; k < of->frozen.n; k++) vec_push(r->w->arena, &g->frozen, of->frozen.at[k]);
  }
  take_spaces(r);
  take_edges(r);
  for (uint32_t i = 0; i < whole->order.n; i++)
    vec_push(r->w->arena, &g->order, order_place(g, &whole->order.at[i]));
}
