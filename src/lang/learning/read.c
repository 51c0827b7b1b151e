// Reads a learning diagram to a graph: spaces are vertices, boxes and learners are edges, `f ; g <=
// h` is an order between routes.
//
// Input: an N_DIAGRAM. Output: a Learning with an attribute record for each vertex and edge. The
// map of an edge is a box declared inside, with the types of its ends; if the end has a distance,
// the result may be anything comparable with its points, as scores are with a label. An edge from
// an index set has no map: it is an expression over the fields of a sample.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

#include "io/data/data.h"

// -- names ----------------------------------------------------------------------------------------

// The index of a name, here or in a part: one.h.
static uint32_t thing_at(const Learning *g, const char *path, bool edge) {
  Id id = table_get(edge ? g->edge_of : g->vertex_of, path, strlen(path));
  if (id) return id - 1;
  for (uint32_t i = 0; i < g->part.n; i++) {
    const GraphPart *part = &g->part.at[i];
    const char *name = name_text(g->inside->in->w->names, part->name);
    size_t n = strlen(name);
    if (strncmp(path, name, n) != 0 || path[n] != '.') continue;
    uint32_t inner = thing_at(part->of, path + n + 1, edge);
    if (inner != NOWHERE) return edge ? part->in.edge[inner] : part->in.vertex[inner];
  }
  return NOWHERE;
}

uint32_t vertex_at(const Learning *g, const char *path) { return thing_at(g, path, false); }
uint32_t edge_at(const Learning *g, const char *path) { return thing_at(g, path, true); }

uint32_t vertex_meant(LearningReader *r, const Syntax *n, const char *path) {
  uint32_t v = vertex_at(r->g, path);
  if (v != NOWHERE) use_of_name(r->in, n, r->g->space.at[v].span, NAMED_SPACE);
  return v;
}

uint32_t edge_meant(LearningReader *r, const Syntax *n, const char *path) {
  uint32_t e = edge_at(r->g, path);
  if (e != NOWHERE) use_of_name(r->in, n, r->g->edge.at[e].span, NAMED_MAP);
  return e;
}

void goal_is_of(Elab *in, const Learning *g, const Syntax *path) {
  LearningReader r = {.in = in, .w = in->w, .g = (Learning *)g};
  vertex_meant(&r, path, name_text(in->w->names, path->name));
}

static void report_unknown(LearningReader *r, const Syntax *n, const char *path, bool edge) {
  Nearest near = nearest_to(path);
  const Graph *graph = r->g->graph;
  for (uint32_t i = 0; !edge && i < graph->vertex.n; i++)
    nearest_try(&near, graph->vertex.at[i].name);
  for (uint32_t i = 0; edge && i < graph->edge.n; i++) nearest_try(&near, graph->edge.at[i].name);
  Id e = drawing_error(r, n->span, "learning diagram `%s` has no %s `%s`",
                       name_text(r->w->names, r->g->name), edge ? "edge" : "space", path);
  diag_suggest(r->w->diags, e, near.best);
}

Name learning_key(LearningReader *r, const char *name) {
  return name_from(r->w->names,
                   arena_format(r->w->arena, "%s.%s", name_text(r->w->names, r->g->name), name));
}

static Scope *inside_new(Elab *in, Scope *around) {
  Scope *s = NEW(in->w->arena, Scope);
  *s = (Scope){.in = in,
               .path = around->path,
               .file = around->file,
               .tree = around->tree,
               .library = around->library,
               .lost = around->lost,
               .names = table_new(in->w->arena)};
  for (uint32_t i = 0; i < around->uses.n; i++)
    vec_push(in->w->arena, &s->uses, around->uses.at[i]);
  vec_push(in->w->arena, &s->uses, around); // searched first
  return s;
}

// -- spaces ---------------------------------------------------------------------------------------
static uint32_t put_space(LearningReader *r, Name name, Vertex v, GraphSpace space) {
  v.name = name_text(r->w->names, name);
  v.what = same_space(r->in, &space);
  v.index = space.source != NULL;
  v.distance = space.def && space_distance(space.def->node);
  uint32_t number = graph_vertex(r->g->graph, v);
  vec_push(r->w->arena, &r->g->space, space);
  table_put(r->g->vertex_of, v.name, strlen(v.name), number + 1);
  return number;
}

// Reports a name that is neither a type nor a space nor a data set.
static bool is_unknown(LearningReader *r, const Syntax *types) {
  const Syntax *type = nodes_only(types_in(types)),
               *name =
                   type && type->kind == N_TYPE && !type_brackets(type) ? type_base(type) : NULL;
  while (name && name->kind == N_DOT) name = dot_base(name);
  if (!name || name->kind != N_NAME || scope_meaning(r->g->inside, name)) return false;
  const char *text = name_text(r->w->names, name->name);
  if (!strcmp(text, "R") || !strcmp(text, "B")) return false;
  Id e = diag_error(r->w->diags, name->span, "there is no type, space or set of data `%s`", text);
  diag_suggest(r->w->diags, e, set_nearest(text));
  return true;
}

static void read_space(LearningReader *r, const Syntax *n) {
  GraphSpace space = {.span = n->name_span, .home = r->g->inside};
  const char *name = name_text(r->w->names, n->name);
  if (!n->name) return;
  use_of_name(r->in, n, n->name_span, NAMED_SPACE);
  if (table_get(r->g->vertex_of, name, strlen(name))) {
    Id e = diag_error(r->w->diags, n->name_span, "there are two spaces `%s`", name);
    diag_note(r->w->diags, e, r->g->space.at[vertex_at(r->g, name)].span, "the other one");
    return;
  }
  if (space_types(n) && space_is_index(r->in, r->g->inside, space_types(n))) {
    space.source = index_source(r->in, space_types(n));
    if (space_distance(n))
      diag_error(r->w->diags, space_distance(n)->span,
                 "`%s` is a set of data: its samples are not compared, so it has no distance",
                 name);
  } else if (space_types(n) && is_unknown(r, space_types(n))) {
    r->g->broken = true;
  } else if (space_types(n)) {
    Def *d = scope_add(r->g->inside, DEF_SPACE, n->name, n->name, n->name_span, n);
    uint32_t errors = r->w->diags->met;
    space.def = d;
    put_space(r, n->name, (Vertex){0}, space);
    if (space_distance(n)) distance_is_box(r->in, r->g->inside, space_distance(n));
    if (r->w->diags->met > errors) d->broken = r->g->broken = true;
    return;
  }
  put_space(r, n->name, (Vertex){0}, space);
}

// A space of the file becomes a vertex when an edge refers to it.
static uint32_t outer_space(LearningReader *r, const Syntax *path) {
  Def *d = path->kind == N_NAME ? scope_meaning(r->g->inside, path) : NULL;
  if (!d || d->kind != DEF_SPACE) return NOWHERE;
  GraphSpace space = {.span = d->span, .home = d->scope};
  if (space_is_index(r->in, d->scope, space_types(d->node)))
    space.source = index_source(r->in, space_types(d->node));
  else
    space.def = d;
  d->used = true;
  return put_space(r, path->name, (Vertex){0}, space);
}

// One end of an edge: the name of a space.
static uint32_t read_end(LearningReader *r, const Syntax *types, Span span) {
  const Syntax *type =
      types && types->kind == N_TYPES && types_in(types).n == 1 ? types_in(types).at[0] : types;
  const char *path =
      type && type->kind == N_TYPE && !type_brackets(type) && type_base(type)->kind != N_TYPES
          ? path_text(r->in, type_base(type))
          : NULL;
  if (!path || !strcmp(path, "R") || !strcmp(path, "B")) {
    Id e = drawing_error(r, types ? types->span : span,
                         "an edge runs from one space to another, each with its name");
    diag_help(r->w->diags, e, "as in `space X = R[2]` and `box f : X -> Y = …`");
    return NOWHERE;
  }
  uint32_t v = vertex_meant(r, type_base(type), path);
  if (v == NOWHERE) v = outer_space(r, type_base(type));
  if (v == NOWHERE) report_unknown(r, type, path, false);
  return v;
}

// -- edges ----------------------------------------------------------------------------------------
static uint32_t put_edge(LearningReader *r, Edge e, GraphEdge edge) {
  uint32_t number = graph_edge(r->g->graph, e);
  vec_push(r->w->arena, &r->g->edge, edge);
  table_put(r->g->edge_of, e.name, strlen(e.name), number + 1);
  return number;
}

static bool is_new_edge(LearningReader *r, Name name, Span span) {
  const char *text = name_text(r->w->names, name);
  Id old = table_get(r->g->edge_of, text, strlen(text));
  if (!old) return true;
  Id e = drawing_error(r, span, "there are two edges `%s`", text);
  return diag_note(r->w->diags, e, r->g->edge.at[old - 1].span, "the other one");
}

static Syntax *types_of(LearningReader *r, uint32_t vertex, Span span) {
  Arena *a = r->w->arena;
  Name name = name_from(r->w->names, r->g->graph->vertex.at[vertex].name);
  Syntax *type = node_type(a, span, (TypeParts){.base = syntax_name(a, name, span)});
  return node_types(a, span, (TypesParts){NODES(type)});
}

// X -> Y; without a result type if the end has a distance
static Syntax *signature(LearningReader *r, const Edge *e, bool loose, const Syntax *n,
                         const Syntax *written) {
  bool ends = written && written->kind == N_SIG && sig_to(written);
  Span from = ends ? sig_from(written)->span : n->span, to = ends ? sig_to(written)->span : n->span;
  Arena *a = r->w->arena;
  Syntax *whatever = node_types(a, to, (TypesParts){{0, NULL}});
  return node_sig(a, written ? written->span : n->span,
                  (SigParts){.from = types_of(r, e->from, from),
                             .to = loose ? whatever : types_of(r, e->to, to)});
}

// The header of a map: as written, with the types of its ends.
static Syntax *with_header(LearningReader *r, const Syntax *n, const Edge *e, bool loose) {
  Syntax *copy = syntax_copy(r->w->arena, n);
  if (!declared_params(n))
    declared_set_result(copy, signature(r, e, loose, n, declared_result(n)));
  else if (loose)
    declared_set_result(copy, NULL);
  return copy;
}

void edge_map(LearningReader *r, uint32_t number) {
  Edge *e = &r->g->graph->edge.at[number];
  GraphEdge *edge = &r->g->edge.at[number];
  const Syntax *n = edge->node;
  bool learner = n->kind == N_LEARNER;
  bool loose = r->g->graph->vertex.at[e->to].distance && edge->body;
  Name key = name_from(r->w->names, e->name);
  const Syntax *header = with_header(r, n, e, loose);
  DefKind kind = learner ? DEF_LEARNER : DEF_BOX;
  Name outer = learning_key(r, e->name);
  if (edge->def) { // replaces an earlier map
    edge->def = def_new(r->in, kind, outer, edge->span, r->g->inside, header);
    scope_put(r->g->inside, key, edge->def);
    scope_put(r->g->def->scope, outer, edge->def);
  } else {
    edge->def = scope_add(r->g->inside, kind, key, outer, edge->span, header);
    scope_alias(r->g->def->scope, outer, edge->def);
  }
  edge->loose = loose;
  e->what = learner ? same_map(r->in, r->g->inside, syntax_name(r->w->arena, key, edge->span))
                    : same_map(r->in, edge->home, edge->body);
}

// An edge of a part gets its own map if one of its ends is another space here.
static void own_map(LearningReader *r, uint32_t number) {
  GraphEdge *edge = &r->g->edge.at[number];
  Syntax *own = syntax_copy(r->w->arena, edge->node);
  declared_set_body(own, copy_resolved(r->in, edge->home, r->g->inside, edge->body));
  edge->node = own;
  edge->body = declared_body(own);
  edge->home = r->g->inside;
  edge_map(r, number);
}

void space_set(LearningReader *r, uint32_t vertex, const Syntax *types, const Syntax *by,
               Span span) {
  Vertex *v = &r->g->graph->vertex.at[vertex];
  GraphSpace *space = &r->g->space.at[vertex];
  Syntax *n = node_space(r->w->arena, span, (SpaceParts){(Syntax *)types, (Syntax *)by});
  syntax_named(n, name_from(r->w->names, v->name), span);
  uint32_t errors = r->w->diags->met;
  Def *own = NULL;
  *space = (GraphSpace){.span = span, .home = r->g->inside};
  if (v->index) {
    space->source = index_source(r->in, types);
  } else {
    own = def_new(r->in, DEF_SPACE, n->name, span, r->g->inside, n);
    scope_put(r->g->inside, n->name, own);
    space->def = own;
  }
  v->what = same_space(r->in, space);
  v->distance = by != NULL;
  if (by) distance_is_box(r->in, r->g->inside, by);
  if (r->w->diags->met > errors) {
    if (own) own->broken = true;
    r->g->broken = true;
    return;
  }
  for (uint32_t e = 0; e < r->g->edge.n; e++) {
    const Edge *edge = &r->g->graph->edge.at[e];
    if (r->g->edge.at[e].def && (edge->from == vertex || edge->to == vertex)) own_map(r, e);
  }
}

static void ends_of(const Syntax *n, const Syntax **from, const Syntax **to) {
  const Syntax *params = declared_params(n), *sig = declared_result(n);
  const Syntax *only = params ? nodes_only(params_in(params)) : NULL;
  *from = *to = NULL;
  if (params) {
    *from = only ? param_type(only) : NULL;
    *to = sig;
  } else if (sig && sig->kind == N_SIG) {
    *from = sig_from(sig);
    *to = sig_to(sig);
  }
}

// In the body of an edge, its own name refers to the box or learner of the file.
static Syntax *with_outer_name(LearningReader *r, const Syntax *n, const Def *d, Name own,
                               Name outer) {
  if (!n) return NULL;
  Syntax *copy = syntax_copy(r->w->arena, n);
  if (n->kind == N_NAME && n->name == own) copy->name = outer, use_of_def(r->in, n->span, d);
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    syntax_put(copy, i, with_outer_name(r, syntax_parts(n).at[i], d, own, outer));
  return copy;
}

const Syntax *body_of_edge(LearningReader *r, Name own, const Syntax *body) {
  Def *d = body ? scope_find(r->g->def->scope, own) : NULL;
  if (!d || (d->kind != DEF_BOX && !is_learner(d))) return body;
  const char *text = name_text(r->w->names, own);
  Name key = name_from(r->w->names, arena_format(r->w->arena, "%s#%u", text, d->id));
  scope_alias(r->g->inside, key, d);
  return with_outer_name(r, body, d, own, key);
}

static uint32_t read_most(LearningReader *r, const Syntax *most) {
  if (!most) return 0;
  double n = most->num;
  if (n >= 1 && n <= 1000 && n == (double)(uint32_t)n) return (uint32_t)n;
  diag_error(r->w->diags, most->span,
             "a path runs along an edge a whole number of times, 1 to 1000");
  return 1;
}

// n: N_BOX or N_LEARNER
static void read_edge(LearningReader *r, const Syntax *n, Name name, Span span,
                      const Syntax *most) {
  bool learner = n->kind == N_LEARNER;
  const Syntax *from, *to, *body = declared_body(n);
  const Syntax *brackets = learner ? learner_family(n) : box_cfg(n);
  ends_of(n, &from, &to);
  Edge e = {.name = name_text(r->w->names, name), .most = read_most(r, most)};
  if (!name || !is_new_edge(r, name, span)) return;
  if (brackets) {
    drawing_error(r, brackets->span, "an edge is one map: it has no brackets");
    return;
  }
  e.from = read_end(r, from, span);
  if (e.from == NOWHERE) return;
  e.to = read_end(r, to, span);
  if (e.to == NOWHERE) return;
  const Syntax *meant = body_of_edge(r, name, body);
  if (meant != body) {
    Syntax *own = syntax_copy(r->w->arena, n);
    declared_set_body(own, (Syntax *)meant);
    n = own, body = meant;
  }
  GraphEdge edge = {.span = span, .node = n, .body = body, .home = r->g->inside};
  bool index = r->g->graph->vertex.at[e.from].index;
  if (r->g->graph->vertex.at[e.to].index) {
    Id m = drawing_error(r, span, "`%s` ends in `%s`, which is a set of data", e.name,
                         r->g->graph->vertex.at[e.to].name);
    diag_note(r->w->diags, m, r->g->space.at[e.to].span, "declared here");
    return;
  }
  if (index &&
      (learner || box_params(n) || (body && (body->kind == N_BLOCK || body->kind == N_PADDED)))) {
    Id m = drawing_error(
        r, span, "`%s` begins in a set of data: it reads fields of a sample and nothing else",
        e.name);
    diag_note(r->w->diags, m, r->g->space.at[e.from].span, "the set of data");
    diag_help(r->w->diags, m, "as in `box image : N -> X = mnist.image`");
    return;
  }
  if (index && body) e.what = same_map(r->in, edge.home, body);
  if (r->g->pattern && body && !learner) e.what = same_map(r->in, edge.home, body);
  uint32_t number = put_edge(r, e, edge);
  bool known = r->g->space.at[e.from].def && r->g->space.at[e.to].def;
  if (!index && !r->g->pattern && known) edge_map(r, number);
}

static void read_edges(LearningReader *r, const Syntax *n) {
  const Syntax *most = n->kind == N_MOST ? most_times(n) : NULL;
  if (most) n = most_edge(n);
  if (n->kind == N_BOX) {
    use_of_name(r->in, n, n->name_span, NAMED_MAP);
    read_edge(r, n, n->name, n->name_span, most);
  }
  for (uint32_t i = 0; n->kind == N_LEARN && i < learn_learners(n).n; i++) {
    const Syntax *learner = learn_learners(n).at[i];
    Nodes name = names_in(learner_names(learner));
    for (uint32_t k = 0; k < name.n; k++) {
      use_of_name(r->in, name.at[k], name.at[k]->span, NAMED_MAP);
      read_edge(r, learner, name.at[k]->name, name.at[k]->span, most);
    }
  }
}

// -- orders ---------------------------------------------------------------------------------------
static bool read_route(LearningReader *r, const Syntax *n, Route *out) {
  const Graph *graph = r->g->graph;
  uint32_t steps = n->kind == N_PIPE ? pipe_stages(n).n : 1;
  for (uint32_t i = 0; i < steps; i++) {
    const Syntax *step = n->kind == N_PIPE ? pipe_stages(n).at[i] : n;
    const char *path = path_text(r->in, step);
    uint32_t e = path ? edge_meant(r, step, path) : NOWHERE;
    if (e == NOWHERE) {
      report_unknown(r, step, path ? path : "…", true);
      return false;
    }
    const Edge *edge = &graph->edge.at[e], *last = i ? &graph->edge.at[out->at[i - 1]] : NULL;
    if (last && last->to != edge->from) {
      Id m = drawing_error(r, step->span, "`%s` begins in %s, but `%s` ends in %s", edge->name,
                           graph->vertex.at[edge->from].name, last->name,
                           graph->vertex.at[last->to].name);
      return diag_note(r->w->diags, m, r->g->edge.at[e].span, "`%s` is declared here", edge->name);
    }
    vec_push(r->w->arena, out, e);
    uint32_t times = 0;
    for (uint32_t k = 0; k < out->n; k++) times += out->at[k] == e;
    if (edge->most && times > edge->most) {
      Id m = drawing_error(r, step->span, "a path runs along `%s` at most %u %s", edge->name,
                           edge->most, edge->most == 1 ? "time" : "times");
      return diag_note(r->w->diags, m, r->g->edge.at[e].span, "declared here");
    }
  }
  return true;
}

static bool are_parallel(LearningReader *r, const Syntax *n, const Route *a, const Route *b) {
  const Graph *g = r->g->graph;
  uint32_t from[2] = {g->edge.at[a->at[0]].from, g->edge.at[b->at[0]].from},
           to[2] = {g->edge.at[a->at[a->n - 1]].to, g->edge.at[b->at[b->n - 1]].to};
  if (from[0] == from[1] && to[0] == to[1]) return true;
  drawing_error(r, n->span,
                "two routes that are compared have the same ends, but the left one runs from %s to "
                "%s and the right one from %s to %s",
                g->vertex.at[from[0]].name, g->vertex.at[to[0]].name, g->vertex.at[from[1]].name,
                g->vertex.at[to[1]].name);
  return false;
}

// The targets of `trains`: learners, or edges for their learners. Returns them as text, for the
// graph.
static const char *read_trains(LearningReader *r, const Syntax *trains, OrderTargets *out) {
  Buf words = buf_new(r->w->arena);
  if (!trains) return NULL;
  for (uint32_t i = 0; i < trains_targets(trains).n; i++) {
    const Syntax *n = trains_targets(trains).at[i];
    const char *path = path_text(r->in, n);
    OrderTarget t = {path ? edge_meant(r, n, path) : NOWHERE, n, r->g->inside, NULL};
    if (t.edge == NOWHERE)
      t.learner = path ? scope_find(r->g->inside, name_from(r->w->names, path)) : NULL;
    if (t.learner && t.learner->kind != DEF_LEARNER) t.learner = NULL;
    if (t.edge == NOWHERE && !t.learner && !learner_named(r->in, r->g->inside, n))
      r->g->broken = true;
    const Source *file = &r->w->sources->file.at[n->span.file];
    buf_printf(&words, "%s%.*s", i ? ", " : "", (int)n->span.n, file->text + n->span.at);
    vec_push(r->w->arena, out, t);
  }
  return words.at;
}

// An order is named like its goal, so the name must be new in the diagram.
static const char *read_order_name(LearningReader *r, const Syntax *n) {
  const char *name = n->name ? name_text(r->w->names, n->name) : NULL;
  const Graph *g = r->g->graph;
  uint32_t v = name ? vertex_at(r->g, name) : NOWHERE, e = name ? edge_at(r->g, name) : NOWHERE,
           k = 0;
  while (name && k < g->order.n && !(g->order.at[k].name && !strcmp(g->order.at[k].name, name)))
    k++;
  bool taken = name && k < g->order.n;
  if (!taken && v == NOWHERE && e == NOWHERE) return name;
  Id m = drawing_error(r, n->name_span, "there is %s `%s` already",
                       taken          ? "an order"
                       : e != NOWHERE ? "an edge"
                                      : "a space",
                       name);
  diag_note(r->w->diags, m,
            taken          ? r->g->order.at[k].span
            : e != NOWHERE ? r->g->edge.at[e].span
                           : r->g->space.at[v].span,
            "this one");
  return name;
}

static void read_order(LearningReader *r, const Syntax *n) {
  Route left = {0}, right = {0};
  double times = 1;
  if (!read_route(r, order_left(n), &left) || !read_route(r, order_right(n), &right)) return;
  if (!are_parallel(r, n, &left, &right)) return;
  if (order_times(n) && !uses_broken(scope_env(r->g->inside), order_times(n)) &&
      (!scope_number(r->in, r->g->inside, order_times(n), &times) || !(times > 0)))
    diag_error(r->w->diags, order_times(n)->span,
               "`times` wants a number above 0 that is known beforehand");
  GraphOrder order = {.span = n->span};
  const char *whom = read_trains(r, order_trains(n), &order.trains); // it is a goal of its own
  graph_order(r->g->graph, (PathOrder){left, right, times, whom || order_is_only(n), whom,
                                       read_order_name(r, n)});
  vec_push(r->w->arena, &r->g->order, order);
}

// -- freeze ---------------------------------------------------------------------------------------
void edge_learners(Elab *in, const GraphEdge *e, Ids *out) {
  in->closure++;
  if (e->def && e->def->kind == DEF_LEARNER)
    def_closure(in, e->def, out);
  else if (e->body)
    add_closure(in, e->home, e->body, out);
}

// Suggests the edge or learner with the most similar name.
void near_edge(LearningReader *r, Id message, const char *path) {
  Nearest near = nearest_to(path);
  for (uint32_t i = 0; i < r->g->graph->edge.n; i++)
    nearest_try(&near, r->g->graph->edge.at[i].name);
  for (uint32_t i = 1; i < r->in->def.n; i++)
    if (r->in->def.at[i]->kind == DEF_LEARNER)
      nearest_try(&near, name_text(r->w->names, r->in->def.at[i]->name));
  diag_suggest(r->w->diags, message, near.best);
}

static void freeze_in(LearningReader *r, const Syntax *n, const char *path) {
  OrderTarget t = {edge_meant(r, n, path), n, r->g->inside, NULL};
  Def *d = scope_find(r->g->inside, name_from(r->w->names, path));
  if (t.edge == NOWHERE && d && d->kind == DEF_LEARNER) t.learner = d;
  if (t.edge != NOWHERE || t.learner) {
    vec_push(r->w->arena, &r->g->frozen, t);
    return;
  }
  if (d && d->broken) return;
  Id m = diag_error(r->w->diags, n->span, "`%s` is neither an edge of `%s` nor a learner", path,
                    name_text(r->w->names, r->g->name));
  near_edge(r, m, path);
}

static void read_freeze(LearningReader *r, const Syntax *n) {
  if (freeze_inside(n))
    diag_error(r->w->diags, freeze_inside(n)->span,
               "inside a learning diagram, `freeze` takes no `in`");
  Nodes each = names_in(freeze_paths(n));
  for (uint32_t i = 0; i < each.n; i++) {
    const char *path = path_text(r->in, each.at[i]);
    if (path) freeze_in(r, each.at[i], path);
  }
}

// -- whole diagrams -------------------------------------------------------------------------------
// Spaces first, then edges, then what refers to them, so that textual order does not matter.
static void read_block(LearningReader *r, const Syntax *block) {
  Nodes line = block_statements(block);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind == N_ERROR) r->g->broken = true;
    if (line.at[i]->kind == N_SPACE) read_space(r, line.at[i]);
  }
  for (uint32_t i = 0; i < line.n; i++) read_edges(r, line.at[i]);
  for (uint32_t i = 0; i < line.n; i++) {
    if (line.at[i]->kind == N_ORDER) read_order(r, line.at[i]);
    if (line.at[i]->kind == N_FREEZE) read_freeze(r, line.at[i]);
  }
}

static bool is_pattern(const Syntax *block) {
  for (uint32_t i = 0; block && i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    if (n->kind == N_MOST) n = most_edge(n);
    if ((n->kind == N_SPACE && !space_types(n)) || (n->kind == N_BOX && !box_body(n))) return true;
  }
  return false;
}

static void apply_edits(Elab *in, Program *p, Scope *s, Learning *g);

Learning *learning_of(Elab *in, Program *p, Def *d) {
  if (d->learning) return d->learning;
  World *w = in->w;
  Learning *g = NEW(w->arena, Learning);
  *g = (Learning){.name = d->name,
                  .node = d->node,
                  .def = d,
                  .inside = inside_new(in, d->scope),
                  .graph = graph_new(w->arena),
                  .vertex_of = table_new(w->arena),
                  .edge_of = table_new(w->arena),
                  .fitting = table_new(w->arena),
                  .pattern = is_pattern(diagram_block(d->node)),
                  .broken = d->broken};
  LearningReader r = {in, p, w, g};
  d->busy = true;
  bool whole = !diagram_parts(d->node) || read_glued(&r);
  if (whole && diagram_block(d->node)) read_block(&r, diagram_block(d->node));
  if (whole) apply_edits(in, p, d->scope, g);
  d->busy = false;
  d->learning = g;
  vec_push(w->arena, &p->learning, g);
  return g;
}

// -- edits ----------------------------------------------------------------------------------------
// Does the path begin with the diagram?
static bool is_of(Scope *s, const Syntax *path, const Learning *g) {
  const Syntax *root = path_root(path);
  return root->kind == N_NAME && scope_meaning(s, root) == g->def;
}

// Is it the diagram itself?
static bool is_it(Scope *s, const Syntax *path, const Learning *g) {
  return path->kind == N_NAME && is_of(s, path, g);
}

static void edit_freeze(LearningReader *r, Scope *s, const Syntax *n) {
  for (uint32_t i = 0; i < names_in(freeze_paths(n)).n; i++) {
    const Syntax *path = names_in(freeze_paths(n)).at[i];
    const char *text = path_text(r->in, path), *dot = text ? strchr(text, '.') : NULL;
    if (!text) continue;
    if (freeze_inside(n) && is_it(s, freeze_inside(n), r->g))
      freeze_in(r, path, text);
    else if (!freeze_inside(n) && dot && is_of(s, path, r->g))
      freeze_in(r, path, dot + 1);
  }
}

// Warns about frozen edges whose maps have no learner.
static void idle_freezes(LearningReader *r) {
  for (uint32_t i = 0; i < r->g->frozen.n; i++) {
    const OrderTarget *t = &r->g->frozen.at[i];
    Ids all = {0};
    if (!t->node) continue;
    target_learners(r->in, r->g, t, &all);
    if (!all.n)
      diag_warning(r->w->diags, t->node->span,
                   "there is nothing to freeze in `%s`: no learner is in it",
                   r->g->graph->edge.at[t->edge].name);
  }
}

static void apply_edit(LearningReader *r, Scope *s, const Syntax *n) {
  if (n->kind == N_FREEZE) edit_freeze(r, s, n);
  if (n->kind == N_SET && set_path(n)->kind == N_DOT && is_of(s, set_path(n), r->g))
    learning_set(r, n, strchr(path_text(r->in, set_path(n)), '.') + 1);
  if (n->kind == N_FIND && is_it(s, find_path(n), r->g)) learning_find(r, n, s);
}

// Applies the statements that edit a diagram, in order, before it is glued to others: those of its
// file, of the program, and of the command line.
static void apply_edits(Elab *in, Program *p, Scope *s, Learning *g) {
  LearningReader r = {in, p, in->w, g};
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++)
    apply_edit(&r, s, program_declarations(s->tree).at[i]);
  for (uint32_t i = 0; s != p->scope && i < program_declarations(p->tree).n; i++)
    apply_edit(&r, p->scope, program_declarations(p->tree).at[i]);
  for (uint32_t i = 0; i < in->extra.n; i++) apply_edit(&r, p->scope, in->extra.at[i]);
  idle_freezes(&r);
}

// Resolves distill.guess in an expression to the map of that edge.
static void name_paths(Scope *s, Syntax *n) {
  const char *path = n->kind == N_DOT ? path_text(s->in, n) : NULL;
  Def *d = path ? scope_find(s, name_from(s->in->w->names, path)) : NULL;
  if (d) use_of_name(s->in, n, d->span, NAMED_MAP);
  if (d) syntax_become_name(n, name_from(s->in->w->names, path));
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) name_paths(s, syntax_parts(n).at[i]);
}

void learnings_name(Scope *s) {
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++) {
    Syntax *n = program_declarations(s->tree).at[i];
    bool about = n->kind == N_FREEZE || n->kind == N_SET || n->kind == N_FIND ||
                 n->kind == N_DIAGRAM || n->kind == N_TRAIN;
    if (!about) name_paths(s, n);
  }
}

bool learning_meant(Elab *in, Scope *s, const Syntax *path) {
  const Syntax *root = path_root(path);
  const Def *d = scope_meaning(s, root);
  if (d && d->kind == DEF_DIAGRAM && path->kind == N_NAME) return true;
  if (!d) {
    unknown_in(in, s, root, "learning diagram");
  } else if (!d->broken) {
    Id e =
        diag_error(in->w->diags, path->span, "`%s` is not a learning diagram", path_text(in, path));
    diag_note(in->w->diags, e, d->span, "`%s` is declared here", name_text(in->w->names, d->name));
  }
  return false;
}

// Checks that the edited diagram exists. A learner of the file is set at once.
static void check_spoken_of(Elab *in, Scope *s, const Syntax *n) {
  const Syntax *path = n->kind == N_FIND ? find_path(n) : set_path(n), *root = path_root(path);
  const Def *d = scope_meaning(s, root);
  if (n->kind == N_FIND) {
    learning_meant(in, s, path);
  } else if (path->kind == N_NAME && d && d->kind == DEF_SPACE) {
    return; // spaces are set earlier
  } else if (path->kind == N_NAME && !d) {
    unknown_in(in, s, path, "learner or space");
  } else if (path->kind == N_NAME) {
    Def *learner = learner_named(in, s, path);
    if (learner && learner->kind == DEF_LEARNER) learner_set(in, s, learner, set_value(n));
  } else {
    learning_meant(in, s, root);
  }
}

void learnings_read(Elab *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++) {
    const Syntax *n = program_declarations(s->tree).at[i];
    if (n->kind == N_SET || n->kind == N_FIND) check_spoken_of(in, s, n);
  }
  for (uint32_t i = 0; s == p->scope && i < in->extra.n; i++)
    check_spoken_of(in, s, in->extra.at[i]);
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++) {
    const Syntax *n = program_declarations(s->tree).at[i];
    Def *d = n->kind == N_DIAGRAM && n->name ? scope_meaning(s, n) : NULL;
    if (d && d->kind == DEF_DIAGRAM && d->node == n) learning_of(in, p, d);
  }
}
