// `set`: replaces the body of a learner, the map of an edge, or the type or data of a space, before
// anything is checked. In the text, `set distill.small = resnet[18]`; on the command line, `--set
// distill.small='resnet[18]'`.
//
// A learner changes wherever it is used. A map belongs to its edge: in a glued diagram, `set
// both.one.h` changes the whole and not the part.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/learning/learning_own.h"

// -- learners -------------------------------------------------------------------------------------
// f[…] applied to the learner's named inputs.
static Syntax *applied(Elab *in, Syntax *body, const Syntax *params) {
  Nodes input = params_in(params), args = {input.n, NEW_ARRAY(in->w->arena, Syntax *, input.n + 1)};
  for (uint32_t i = 0; i < input.n; i++)
    args.at[i] = syntax_name(in->w->arena, input.at[i]->name, body->span);
  return node_call(in->w->arena, body->span, (CallParts){body, args});
}

void learner_set(Elab *in, Scope *s, Def *d, const Syntax *body) {
  Syntax *own = copy_resolved(in, s, d->scope, body);
  if (learner_params(d->node)) own = applied(in, own, learner_params(d->node));
  Syntax *refine = node_refine(in->w->arena, body->span, (RefineParts){.body = own});
  d->refined = syntax_named(refine, d->name, body->span);
  d->refined_in = d->scope;
}

// -- edges ----------------------------------------------------------------------------------------
void edge_set(LearningReader *r, uint32_t number, const Syntax *body, Scope *home) {
  GraphEdge *e = &r->g->edge.at[number];
  Edge *edge = &r->g->graph->edge.at[number];
  if (e->def && e->def->kind == DEF_LEARNER && e->node->kind == N_LEARNER) {
    learner_set(r->in, home, e->def, body);
    return;
  }
  if (home == r->g->inside) body = body_of_edge(r, name_from(r->w->names, edge->name), body);
  Syntax *box = node_box(r->w->arena, body->span, (BoxParts){.body = (Syntax *)body});
  box->name = e->node->name;
  e->node = box;
  e->body = body;
  e->home = home;
  if (r->g->graph->vertex.at[edge->from].index || r->g->pattern)
    edge->what = same_map(r->in, home, body);
  else
    edge_map(r, number);
}

// -- spaces ---------------------------------------------------------------------------------------
// An expression as a type: mnist, mnist.test, omniglot[way: 5], "t.csv", Image
static const Syntax *as_types(Elab *in, const Syntax *n) {
  if (n->kind == N_TYPES) return n;
  Syntax *base = use_base(n);
  if (base->kind != N_NAME && base->kind != N_DOT && base->kind != N_STR) return NULL;
  Syntax *type = node_type(in->w->arena, n->span, (TypeParts){base, use_brackets(n)});
  return node_types(in->w->arena, n->span, (TypesParts){NODES(type)});
}

// Sets the type of a space of the file, open or not. Its distance is kept, unless given.
static void file_space_set(Elab *in, Scope *s, Def *d, const Syntax *n) {
  const Syntax *types = as_types(in, set_value(n)), *had = space_types(d->node);
  bool index = types && space_is_index(in, s, types);
  if (!types || (had && index != space_is_index(in, d->scope, had)) || (!had && index)) {
    Id m = diag_error(in->w->diags, set_value(n)->span,
                      had && space_is_index(in, d->scope, had)
                          ? "`%s` is a set of data, and this is not one"
                          : "`%s` is a space, and this is not a type",
                      name_text(in->w->names, d->name));
    diag_note(in->w->diags, m, d->span, "declared here");
    return;
  }
  Syntax *by = space_distance(d->node);
  if (set_distance(n)) by = copy_resolved(in, s, d->scope, set_distance(n));
  SpaceParts parts = {copy_resolved(in, s, d->scope, types), by};
  d->node = syntax_named(node_space(in->w->arena, n->span, parts), d->name, d->span);
}

static Def *space_named_by(Scope *s, const Syntax *n) {
  if (n->kind != N_SET || set_path(n)->kind != N_NAME) return NULL;
  Def *d = scope_meaning(s, set_path(n));
  return d && d->kind == DEF_SPACE ? d : NULL;
}

static const Syntax *setting_tree(Elab *in, const char *key, const char *value) {
  World *w = in->w;
  const char *text = arena_format(w->arena, "set %s = %s\n", key, value);
  return parse(&in->front, source_add(w->sources, "--set", text, strlen(text)));
}

// Replaces the value of a constant; its type and unit are kept, unless given.
static void const_set(Elab *in, Scope *s, Def *d, const char *key, const char *value) {
  World *w = in->w;
  const char *text = arena_format(w->arena, "const %s = %s\n", key, value);
  Nodes said =
      program_declarations(parse(&in->front, source_add(w->sources, "--set", text, strlen(text))));
  const Syntax *consts = nodes_only(said);
  const Syntax *one = consts && consts->kind == N_CONSTS ? nodes_only(consts_in(consts)) : NULL;
  if (!one || one->kind != N_TYPED || !typed_value(one)) {
    if (!w->diags->errors)
      diag_error(w->diags, (Span){0}, "a constant has one value, and this is none: `--set %s=%s`",
                 key, value);
    return;
  }
  TypedParts parts = {typed_brackets(d->node), typed_type(d->node),
                      copy_resolved(in, s, d->scope, typed_value(one)),
                      typed_unit(one) ? typed_unit(one) : typed_unit(d->node)};
  d->node = syntax_named(node_typed(w->arena, one->span, parts), d->name, d->node->name_span);
}

// Runs before anything else is read, since givens have types: first the text, then the command
// line.
void spaces_set(Elab *in, Scope *s, bool settings) {
  Nodes all = program_declarations(s->tree);
  for (uint32_t i = 0; i < all.n; i++) {
    Def *d = space_named_by(s, all.at[i]);
    if (d) file_space_set(in, s, d, all.at[i]);
  }
  for (uint32_t i = 0; settings && i < table_count(in->sets); i++) {
    const char *key = table_key(in->sets, i, NULL),
               *value = in->set_value.at[table_value(in->sets, i) - 1];
    Def *d = scope_find(s, name_from(in->w->names, key));
    if (d && d->kind == DEF_CONST) const_set(in, s, d, key, value);
    if (!d || d->kind != DEF_SPACE) continue;
    Nodes said = program_declarations(setting_tree(in, key, value));
    for (uint32_t k = 0; k < said.n; k++)
      if (said.at[k]->kind == N_SET) file_space_set(in, s, d, said.at[k]);
  }
}

static void set_of_space(LearningReader *r, const Syntax *n, uint32_t vertex) {
  const Syntax *types = as_types(r->in, set_value(n));
  const Vertex *v = &r->g->graph->vertex.at[vertex];
  bool index = types && space_is_index(r->in, r->g->inside, types);
  if (types && index == v->index) {
    space_set(r, vertex, types, set_distance(n), set_path(n)->span);
    return;
  }
  Id m = drawing_error(r, set_value(n)->span,
                       v->index ? "`%s` is a set of data, and this is not one"
                                : "`%s` is a space, and this is not a type",
                       v->name);
  diag_note(r->w->diags, m, r->g->space.at[vertex].span, "declared here");
}

static void no_map(LearningReader *r, const Syntax *n, uint32_t edge) {
  Id m = drawing_error(r, set_value(n)->span, "`%s` is an edge: it wants a map, and this is a type",
                       r->g->graph->edge.at[edge].name);
  diag_note(r->w->diags, m, r->g->edge.at[edge].span, "declared here");
}

static bool occurs(LearningReader *r, const Def *d) {
  Ids all = {0};
  for (uint32_t i = 0; i < r->g->edge.n; i++) edge_learners(r->in, &r->g->edge.at[i], &all);
  return names_have(&all, d->id);
}

void learning_set(LearningReader *r, const Syntax *n, const char *path) {
  bool types = set_value(n)->kind == N_TYPES; // then it names a space
  uint32_t v = types ? vertex_meant(r, set_path(n), path) : NOWHERE,
           e = v == NOWHERE ? edge_meant(r, set_path(n), path) : NOWHERE;
  if (v == NOWHERE && e == NOWHERE) v = vertex_meant(r, set_path(n), path);
  if (r->g->broken) return;
  if (v != NOWHERE) {
    set_of_space(r, n, v);
    return;
  }
  if (e != NOWHERE && types) {
    no_map(r, n, e);
    return;
  }
  if (e != NOWHERE) {
    edge_set(r, e, set_value(n), r->g->inside);
    return;
  }
  Def *d = scope_find(r->g->inside, name_from(r->w->names, path));
  if (d && d->kind == DEF_LEARNER && occurs(r, d)) {
    learner_set(r->in, r->g->inside, d, set_value(n));
    return;
  }
  const char *name = name_text(r->w->names, r->g->name);
  if (d && d->kind == DEF_LEARNER) {
    Id m = diag_error(r->w->diags, set_path(n)->span, "learner `%s` does not occur in `%s`", path,
                      name);
    diag_note(r->w->diags, m, d->span, "declared here");
    diag_help(r->w->diags, m, "`set %s = …` gives it another body wherever it occurs", path);
    return;
  }
  Id m = diag_error(r->w->diags, set_path(n)->span, "`%s` has no space, edge or learner `%s`", name,
                    path);
  near_edge(r, m, path);
}

// -- the command line -----------------------------------------------------------------------------
// Can the command line set it? Axes of the program, constants, spaces and learners.
static bool takes_set(const Program *p, const Def *d) {
  return d->kind == DEF_CONST || d->kind == DEF_LEARNER || d->kind == DEF_SPACE ||
         (d->kind == DEF_AXIS && d->scope == p->scope);
}

static void no_set(Elab *in, const Program *p, const char *key, const char *value) {
  World *w = in->w;
  Nearest near = nearest_to(key);
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->scope != in->library && takes_set(p, in->def.at[i]))
      nearest_try(&near, name_text(w->names, in->def.at[i]->name));
  Id e = diag_error(w->diags, (Span){0},
                    "`--set %s=%s`: there is no axis, const, space or learner `%s` in this program",
                    key, value, key);
  diag_suggest(w->diags, e, near.best);
}

// A setting that names a learner or a thing in a learning diagram is parsed as a `set` statement.
void sets_read(Elab *in, Program *p) {
  World *w = in->w;
  for (uint32_t i = 0; i < table_count(in->sets); i++) {
    const char *key = table_key(in->sets, i, NULL),
               *value = in->set_value.at[table_value(in->sets, i) - 1];
    const Def *d = scope_find(p->scope, name_from(w->names, key));
    if (scope_refuse_ambiguous(p->scope, name_from(w->names, key), (Span){0})) continue;
    if (!strchr(key, '.') && !(d && d->kind == DEF_LEARNER)) {
      if (!(d && takes_set(p, d))) no_set(in, p, key, value);
      continue;
    }
    const Syntax *tree = setting_tree(in, key, value);
    for (uint32_t k = 0; k < program_declarations(tree).n; k++)
      if (program_declarations(tree).at[k]->kind == N_SET)
        vec_push(w->arena, &in->extra, program_declarations(tree).at[k]);
  }
}
