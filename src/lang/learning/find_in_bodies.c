// `limn find 'dense ; relu' FILE`: searches a program for a route of boxes. The body of a box or
// learner becomes a graph whose vertices are wires and whose edges are calls, and the pattern is
// matched in it as in a learning diagram.
//
// A step is a box or learner, `_` for any, or in a learning diagram an edge; brackets must be equal
// if given. A call with several inputs has an edge from each. Arithmetic between wires ends a
// chain.
#include "base/diag.h"
#include "base/json_write.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

#include <stdlib.h>

enum { FOUND_LIMIT = 10000 };

typedef Ids Wires; // vertices

typedef struct {
  Elab *in;
  World *w;
  Scope *s;
  Graph *g;
  VEC(const Syntax *) call; // [edge]
  Table *name;              // name of a wire to an index into `value`
  VEC(Wires) value;
} GraphBuilder;

// -- bodies as graphs -----------------------------------------------------------------------------
static Wires walk_value(GraphBuilder *k, const Syntax *);
static Wires walk_box(GraphBuilder *k, const Syntax *, Wires);
static void walk_body(GraphBuilder *k, const Syntax *params, const Syntax *body);

static uint32_t new_wire(GraphBuilder *k) {
  return graph_vertex(k->g, (Vertex){.name = arena_format(k->w->arena, "%06u", k->g->vertex.n)});
}

static Wires one_wire(GraphBuilder *k) {
  Wires w = {0};
  vec_push(k->w->arena, &w, new_wire(k));
  return w;
}

static void add_wires(GraphBuilder *k, Wires *to, Wires more) {
  for (uint32_t i = 0; i < more.n; i++) vec_push(k->w->arena, to, more.at[i]);
}

// Boxes in options: residual[dense[64] ; relu]
static void walk_options(GraphBuilder *k, const Syntax *brackets) {
  for (uint32_t i = 0; i < brackets_slots(brackets).n; i++) {
    const Syntax *item = brackets_slots(brackets).at[i];
    while (item->kind == N_ITEMS && items_in(item).n == 1) item = items_in(item).at[0];
    if (item->kind == N_PIPE || item->kind == N_FAN || item->kind == N_AT)
      walk_box(k, item, one_wire(k));
  }
}

static Wires call_of(GraphBuilder *k, const Syntax *box, Wires in) {
  Wires out = one_wire(k);
  Id what = same_map(k->in, k->s, use_base(box));
  for (uint32_t i = 0; i < in.n; i++) {
    const char *name = arena_format(k->w->arena, "%06u", k->g->edge.n);
    graph_edge(k->g, (Edge){.name = name, .what = what, .from = in.at[i], .to = out.at[0]});
    vec_push(k->w->arena, &k->call, box);
  }
  if (box->kind == N_AT) walk_options(k, at_brackets(box));
  return out;
}

static Wires walk_each(GraphBuilder *k, const Syntax *n, Wires in, bool beside) {
  Wires out = {0};
  Nodes each = chain_terms(n);
  for (uint32_t i = 0; i < each.n; i++) {
    Wires own = in;
    if (beside && in.n == each.n) own = (Wires){.at = in.at + i, .n = 1};
    add_wires(k, &out, walk_box(k, each.at[i], own));
  }
  return out;
}

static Wires walk_box(GraphBuilder *k, const Syntax *n, Wires in) {
  switch ((SyntaxKind)n->kind) {
  case N_PAREN:
  case N_OVER:
  case N_POW: return walk_box(k, first_box(n), in);
  case N_PADDED: return walk_box(k, padded_value(n), in);
  case N_PIPE:
    for (uint32_t i = 0; i < pipe_stages(n).n; i++) in = walk_box(k, pipe_stages(n).at[i], in);
    return in;
  case N_FAN: return walk_each(k, n, in, false);
  case N_TUPLE: return walk_each(k, n, in, true);
  case N_WHEN: {
    Wires out = walk_box(k, when_then(n), in);
    add_wires(k, &out, walk_box(k, when_otherwise(n), in));
    return out;
  }
  case N_NAME:
  case N_AT:
  case N_DOT: return call_of(k, n, in);
  default: return walk_value(k, n);
  }
}

static Wires walk_value(GraphBuilder *k, const Syntax *n) {
  if (!n) return (Wires){0};
  if (n->kind == N_NAME) {
    Id id = table_get(k->name, &n->name, sizeof n->name);
    return id ? k->value.at[id - 1] : one_wire(k);
  }
  Wires in = {0};
  if (n->kind == N_ARG) return walk_value(k, arg_value(n));
  if (n->kind == N_PAREN || n->kind == N_OVER) return walk_value(k, first_box(n));
  Nodes part = n->kind == N_CALL ? call_args(n) : syntax_parts(n);
  for (uint32_t i = 0; i < part.n; i++) add_wires(k, &in, walk_value(k, part.at[i]));
  if (n->kind == N_CALL) return walk_box(k, call_callee(n), in);
  return n->kind == N_TUPLE ? in : one_wire(k);
}

static void bind_wires(GraphBuilder *k, Name name, Wires w) {
  vec_push(k->w->arena, &k->value, w);
  table_put(k->name, &name, sizeof name, k->value.n);
}

static void walk_equation(GraphBuilder *k, const Syntax *n) {
  Wires v = walk_value(k, equation_value(n));
  Nodes left = lhss_in(equation_lhss(n));
  for (uint32_t i = 0; i < left.n; i++) {
    Wires own = v.n == left.n ? (Wires){.at = v.at + i, .n = 1} : v;
    bind_wires(k, left.at[i]->name, own);
  }
}

static void walk_statements(GraphBuilder *k, const Syntax *block) {
  for (uint32_t i = 0; i < block_statements(block).n; i++) {
    const Syntax *n = block_statements(block).at[i];
    const Syntax *what = n->kind == N_RETURN ? return_what(n) : n;
    if (what->kind == N_EQUATION)
      walk_equation(k, what);
    else if (n->kind == N_RETURN)
      walk_value(k, what);
    if (n->kind == N_FOR) walk_statements(k, for_body(n));
    for (uint32_t j = 0; n->kind == N_LEARN && j < learn_learners(n).n; j++) {
      const Syntax *learner = learn_learners(n).at[j];
      if (learner_body(learner)) walk_body(k, learner_params(learner), learner_body(learner));
    }
  }
}

static void walk_body(GraphBuilder *k, const Syntax *params, const Syntax *body) {
  for (uint32_t i = 0; params && i < params_in(params).n; i++)
    bind_wires(k, params_in(params).at[i]->name, one_wire(k));
  if (body->kind == N_BLOCK)
    walk_statements(k, body);
  else if (params)
    walk_value(k, body->kind == N_PADDED ? padded_value(body) : body);
  else
    walk_box(k, body, one_wire(k));
}

// -- patterns -------------------------------------------------------------------------------------
typedef struct {
  Elab *in;
  World *w;
  VEC(const Syntax *) step;
  Buf *out;
  bool json;
  JsonOut json_out;
  uint32_t found;
} RouteSearch;

static bool is_any(const RouteSearch *k, const Syntax *step) {
  return step->kind == N_NAME && !strcmp(name_text(k->w->names, step->name), "_");
}

static bool read_steps(RouteSearch *k, const char *text) {
  World *w = k->w;
  const char *program = arena_format(w->arena, "find %s in _ => freeze\n", text);
  DiagMark before = diags_mark(w->diags);
  uint32_t file = source_add(w->sources, "PATTERN", program, strlen(program));
  const Syntax *tree = parse(&k->in->front, file);
  bool good = w->diags->met == before.met && program_declarations(tree).n == 1 &&
              program_declarations(tree).at[0]->kind == N_FIND;
  const Syntax *n = good ? find_route(program_declarations(tree).at[0]) : NULL;
  if (!n) { // diagnostics about synthesised text are dropped
    diags_rewind(w->diags, before);
    return diag_refuse(w->diags, (Span){0},
                       "a pattern is a route of boxes, as in 'dense ; relu', not '%s'", text);
  }
  for (uint32_t i = 0; i < (n->kind == N_PIPE ? pipe_stages(n).n : 1); i++)
    vec_push(w->arena, &k->step, n->kind == N_PIPE ? pipe_stages(n).at[i] : n);
  return true;
}

// The pattern resolved in a scope. pinned: steps that are edges of the learning diagram.
static Graph *pattern_in(RouteSearch *k, Scope *s, const Learning *g, uint32_t *pinned) {
  Graph *p = graph_new(k->w->arena);
  graph_vertex(p, (Vertex){.name = "0"});
  for (uint32_t i = 0; i < k->step.n; i++) {
    const Syntax *step = k->step.at[i];
    const char *path = path_text(k->in, step);
    pinned[i] = g && path ? edge_at(g, path) : NOWHERE;
    Edge e = {.name = "", .from = i};
    e.to = graph_vertex(p, (Vertex){.name = ""});
    if (!is_any(k, step) && pinned[i] == NOWHERE) e.what = same_map(k->in, s, use_base(step));
    graph_edge(p, e);
  }
  return p;
}

static bool fits(const RouteSearch *k, uint32_t i, const Syntax *call) {
  const Syntax *step = k->step.at[i];
  return step->kind != N_AT ||
         (call->kind == N_AT && tree_equal(at_brackets(step), at_brackets(call)));
}

// -- matches --------------------------------------------------------------------------------------
static void print_match(RouteSearch *k, const char *kind, const char *name, Span first,
                        const char *text) {
  uint32_t line, column;
  const char *path = k->w->sources->file.at[first.file].path;
  source_place(k->w->sources, first, &line, &column);
  if (!k->json) {
    buf_printf(k->out, "%s:%u:%u: in %s `%s`: %s\n", path, line, column, kind, name, text);
  } else {
    JsonOut *j = &k->json_out;
    json_object(j, NULL);
    json_print(j, "line", "%u", line);
    json_print(j, "column", "%u", column);
    json_text(j, "file", path);
    json_text(j, "kind", kind);
    json_text(j, "name", name);
    json_text(j, "found", text);
    json_end(j);
  }
  k->found++;
}

static bool find_in(RouteSearch *k, const Graph *pattern, const Graph *g, Matches *out) {
  if (graph_find(k->w->arena, pattern, g, true, FOUND_LIMIT, out)) return true;
  return diag_refuse(k->w->diags, (Span){0}, "this is found more than %d times", FOUND_LIMIT);
}

static const char *written(const RouteSearch *k, Span span) {
  return arena_text(k->w->arena, k->w->sources->file.at[span.file].text + span.at, span.n);
}

static void seek_body(RouteSearch *k, const Def *d) {
  const Syntax *n = d->node;
  bool learner = d->kind == DEF_LEARNER;
  const Syntax *params = declared_params(n), *body = declared_body(n);
  if (learner && d->refined) {
    body = refine_body(d->refined);
    if (refine_params(d->refined)) params = refine_params(d->refined);
  }
  if (!body) return;
  GraphBuilder s = {.in = k->in, .w = k->w, .s = d->scope, .g = graph_new(k->w->arena)};
  s.name = table_new(k->w->arena);
  walk_body(&s, params, body);
  uint32_t *pinned = NEW_ARRAY(k->w->arena, uint32_t, k->step.n + 1);
  Matches all = {0};
  if (!find_in(k, pattern_in(k, d->scope, NULL, pinned), s.g, &all)) return;
  for (uint32_t i = 0; i < all.n; i++) {
    Buf text = buf_new(k->w->arena);
    bool good = true;
    for (uint32_t j = 0; j < k->step.n; j++) {
      const Syntax *call = s.call.at[all.at[i].edge[j]];
      good &= fits(k, j, call);
      buf_printf(&text, "%s%s", j ? " ; " : "", written(k, call->span));
    }
    if (good)
      print_match(k, learner ? "learner" : "box", name_text(k->w->names, d->name),
                  s.call.at[all.at[i].edge[0]]->span, text.at);
  }
}

// The graph of a learning diagram, its edges identified by their maps without brackets.
static void seek_learning(RouteSearch *k, const Learning *g) {
  Graph copy = *g->graph;
  uint32_t *pinned = NEW_ARRAY(k->w->arena, uint32_t, k->step.n + 1);
  copy.edge.at = arena_copy(k->w->arena, copy.edge.at, copy.edge.n * sizeof(Edge));
  for (uint32_t e = 0; e < copy.edge.n; e++) {
    const GraphEdge *edge = &g->edge.at[e];
    if (edge->body && edge->body->kind == N_AT)
      copy.edge.at[e].what = same_map(k->in, edge->home, at_base(edge->body));
  }
  Matches all = {0};
  if (!find_in(k, pattern_in(k, g->inside, g, pinned), &copy, &all)) return;
  for (uint32_t i = 0; i < all.n; i++) {
    Route at = {0};
    bool good = true;
    for (uint32_t j = 0; j < k->step.n; j++) {
      uint32_t e = all.at[i].edge[j];
      vec_push(k->w->arena, &at, e);
      good &= pinned[j] == NOWHERE ? is_any(k, k->step.at[j]) || !g->edge.at[e].body ||
                                         fits(k, j, g->edge.at[e].body)
                                   : pinned[j] == e;
    }
    if (good)
      print_match(k, "learning diagram", name_text(k->w->names, g->name), g->edge.at[at.at[0]].span,
                  route_text(k->w->arena, g->graph, &at));
  }
}

bool elab_find(Elab *in, const Program *p, const char *pattern, bool json, Buf *out) {
  RouteSearch k = {.in = in, .w = in->w, .out = out, .json = json, .json_out = json_out(out)};
  uint32_t errors = in->w->diags->errors;
  if (!read_steps(&k, pattern)) return false;
  if (json) json_list(&k.json_out, NULL);
  for (uint32_t i = 1; i < in->def.n; i++) {
    const Def *d = in->def.at[i];
    bool body = d->kind == DEF_BOX || d->kind == DEF_LEARNER;
    if (body && d->scope->library && !d->broken && d->scope->tree) seek_body(&k, d);
  }
  for (uint32_t i = 0; i < p->learning.n; i++) seek_learning(&k, p->learning.at[i]);
  if (json) json_end(&k.json_out);
  if (!k.found && !json) buf_text(out, "it is not found here\n");
  return in->w->diags->errors == errors;
}
