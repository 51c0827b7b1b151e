// `set`: a learner gets another body, an edge another map, or a space another type or data, before
// anything is checked. In the text, `set distill.small = resnet[18]`, or on the command line,
// `--set distill.small='resnet[18]'`.
//
// A learner is one thing, so it changes wherever it is used. A map is an edge's own: in a diagram
// that is glued, `set both.one.h` changes the whole and leaves the part as it was.
#include "lang/learning/learning_own.h"

// -- learners -------------------------------------------------------------------------------------
// f[…] applied to the learner's named inputs.
static Syntax *applied(Elab *in, Syntax *body, const Syntax *params) {
  Syntax *call = NEW(in->w->arena, Syntax);
  *call = (Syntax){.kind = N_CALL, .span = body->span, .nkid = params->nkid + 1};
  call->kid = NEW_ARRAY(in->w->arena, Syntax *, call->nkid);
  call->kid[0] = body;
  for (uint32_t i = 0; i < params->nkid; i++)
    call->kid[i + 1] = name_node(in, params->kid[i]->name, body->span);
  return call;
}

void learner_set(Elab *in, Scope *s, Def *d, const Syntax *body) {
  Syntax *refine = NEW(in->w->arena, Syntax), *own = copy_resolved(in, s, d->scope, body);
  if (d->node->kid[2]) own = applied(in, own, d->node->kid[2]);
  *refine =
      (Syntax){.kind = N_REFINE, .name = d->name, .span = body->span, .name_span = body->span};
  refine->nkid = 2;
  refine->kid = NEW_ARRAY(in->w->arena, Syntax *, 2);
  refine->kid[1] = own;
  d->refined = refine;
  d->refined_in = d->scope;
}

// -- edges ----------------------------------------------------------------------------------------
void edge_set(Drawing *r, uint32_t number, const Syntax *body, Scope *home) {
  GraphEdge *e = &r->g->edge.at[number];
  Edge *edge = &r->g->graph->edge.at[number];
  if (e->def && e->def->kind == DEF_LEARNER && e->node->kind == N_LEARNER) {
    learner_set(r->in, home, e->def, body);
    return;
  }
  Syntax *box = NEW(r->w->arena, Syntax);
  *box = (Syntax){.kind = N_BOX, .name = e->node->name, .span = body->span, .nkid = 5};
  box->kid = NEW_ARRAY(r->w->arena, Syntax *, 5);
  box->kid[3] = (Syntax *)body;
  e->node = box;
  e->body = body;
  e->home = home;
  if (r->g->graph->vertex.at[edge->from].index || r->g->pattern)
    edge->what = same_map(r->in, home, body);
  else
    edge_map(r, number);
}

// -- spaces ---------------------------------------------------------------------------------------
// mnist, mnist.test, omniglot[way: 5], "t.csv", Image: what is written as an expression, as a type
static const Syntax *as_types(Elab *in, const Syntax *n) {
  if (n->kind == N_TYPES) return n;
  const Syntax *base = n->kind == N_AT ? n->kid[0] : n;
  if (base->kind != N_NAME && base->kind != N_DOT && base->kind != N_STR) return NULL;
  Syntax *types = copy_node(in, n), *type = NEW(in->w->arena, Syntax);
  *type = (Syntax){.kind = N_TYPE, .span = n->span, .nkid = 2};
  type->kid = NEW_ARRAY(in->w->arena, Syntax *, 2);
  type->kid[0] = (Syntax *)base;
  if (n->kind == N_AT) type->kid[1] = n->kid[1];
  *types = (Syntax){.kind = N_TYPES, .span = n->span, .nkid = 1};
  types->kid = NEW_ARRAY(in->w->arena, Syntax *, 1);
  types->kid[0] = type;
  return types;
}

static void set_of_space(Drawing *r, const Syntax *n, uint32_t vertex) {
  const Syntax *types = as_types(r->in, n->kid[1]);
  const Vertex *v = &r->g->graph->vertex.at[vertex];
  bool index = types && space_is_index(r->in, r->g->inside, types);
  if (types && index == v->index) {
    space_set(r, vertex, types, n->kid[2], n->kid[0]->span);
    return;
  }
  Id m = diag_error(r->w->diags, n->kid[1]->span,
                    v->index ? "`%s` is a set of data, and this is not one"
                             : "`%s` is a space, and this is not a type",
                    v->name);
  diag_note(r->w->diags, m, r->g->space.at[vertex].span, "declared here");
  r->g->broken = true;
}

static void no_map(Drawing *r, const Syntax *n, uint32_t edge) {
  Id m = diag_error(r->w->diags, n->kid[1]->span,
                    "`%s` is an edge: it wants a map, and this is a type",
                    r->g->graph->edge.at[edge].name);
  diag_note(r->w->diags, m, r->g->edge.at[edge].span, "declared here");
  r->g->broken = true;
}

static bool occurs(Drawing *r, const Def *d) {
  Ids all = {0};
  for (uint32_t i = 0; i < r->g->edge.n; i++) edge_learners(r->in, &r->g->edge.at[i], &all);
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i] == d->id) return true;
  return false;
}

void learning_set(Drawing *r, const Syntax *n, const char *path) {
  uint32_t e = edge_at(r->g, path), v = vertex_at(r->g, path);
  bool types = n->kid[1]->kind == N_TYPES;
  if (r->g->broken) return;
  if (v != NOWHERE && (e == NOWHERE || types)) {
    set_of_space(r, n, v);
    return;
  }
  if (e != NOWHERE && types) {
    no_map(r, n, e);
    return;
  }
  if (e != NOWHERE) {
    edge_set(r, e, n->kid[1], r->g->inside);
    return;
  }
  Def *d = scope_find(r->g->inside, name_from(r->w->names, path));
  if (d && d->kind == DEF_LEARNER && occurs(r, d)) {
    learner_set(r->in, r->g->inside, d, n->kid[1]);
    return;
  }
  const char *name = name_text(r->w->names, r->g->name);
  if (d && d->kind == DEF_LEARNER) {
    Id m =
        diag_error(r->w->diags, n->kid[0]->span, "learner `%s` does not occur in `%s`", path, name);
    diag_note(r->w->diags, m, d->span, "declared here");
    diag_help(r->w->diags, m, "`set %s = …` gives it another body wherever it occurs", path);
    return;
  }
  Id m = diag_error(r->w->diags, n->kid[0]->span, "`%s` has no space, edge or learner `%s`", name,
                    path);
  near_edge(r, m, path);
}

// -- the command line -----------------------------------------------------------------------------
// Whether a setting can replace it: the program's own axes, every const, every learner.
static bool takes_set(const Program *p, const Def *d) {
  return d->kind == DEF_CONST || d->kind == DEF_LEARNER ||
         (d->kind == DEF_AXIS && d->scope == p->scope);
}

static void no_set(Elab *in, const Program *p, const char *key, const char *value) {
  World *w = in->w;
  VEC(const char *) names = {0};
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->scope != in->library && takes_set(p, in->def.at[i]))
      vec_push(w->arena, &names, name_text(w->names, in->def.at[i]->name));
  const char *near = nearest_name(key, names.at, names.n);
  Id e = diag_error(w->diags, (Span){0},
                    "`--set %s=%s`: there is no axis, const or learner `%s` in this program", key,
                    value, key);
  if (near) diag_help(w->diags, e, "did you mean `%s`?", near);
}

// A setting that speaks of a learner or of something in a learning diagram is a `set` statement.
void sets_read(Elab *in, Program *p) {
  World *w = in->w;
  for (uint32_t i = 0; i < table_count(in->sets); i++) {
    const char *key = table_key(in->sets, i, NULL),
               *value = in->set_value.at[table_value(in->sets, i) - 1];
    const Def *d = scope_find(p->scope, name_from(w->names, key));
    if (!strchr(key, '.') && !(d && d->kind == DEF_LEARNER)) {
      if (!(d && takes_set(p, d))) no_set(in, p, key, value);
      continue;
    }
    const char *text = arena_format(w->arena, "set %s = %s\n", key, value);
    const Syntax *tree = parse(&in->front, source_add(w->sources, "--set", text, strlen(text)));
    for (uint32_t k = 0; k < tree->nkid; k++)
      if (tree->kid[k]->kind == N_SET) vec_push(w->arena, &in->extra, tree->kid[k]);
  }
}
