// Observable values of a system, and expressions over them at one moment.
//
// Ports and states have their names, inner values their paths; `a.b[2].x` is the name `a.b.x` with
// an index.
#include "base/diag.h"
#include "base/names.h"
#include "base/table.h"
#include "core/pass/pass.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/program/claim_own.h"

// -- names ----------------------------------------------------------------------------------------
static Name sight_name(World *w, const char *path) {
  Buf b = buf_new(w->arena);
  for (; *path; path++) buf_char(&b, *path == '/' ? '.' : *path);
  return name_from(w->names, b.at);
}

static Sight sight_inside(const System *s, uint32_t i) {
  const SystemInside *x = &s->inside.at[i];
  return (Sight){x->name, s->d->wire.at[x->wire].type, SEES_INSIDE, i};
}

void system_sights(World *w, const System *s, Sights *out) {
  for (uint32_t i = 0; i < s->out.n; i++)
    vec_push(w->arena, out,
             (Sight){s->out.at[i].name, s->d->wire.at[s->d->out.at[i]].type, SEES_OUT, i});
  for (uint32_t i = 0; i < s->in.n; i++)
    vec_push(w->arena, out,
             (Sight){s->in.at[i].name, s->d->wire.at[s->d->in.at[i]].type, SEES_IN, i});
  for (uint32_t i = 0; i < s->state.n; i++)
    vec_push(w->arena, out,
             (Sight){sight_name(w, s->state.at[i].path),
                     s->d->wire.at[s->d->param.at[s->state.at[i].param].wire].type, SEES_STATE, i});
  for (uint32_t i = 0; i < s->inside.n; i++) vec_push(w->arena, out, sight_inside(s, i));
}

static void name_sight(Looker *l, uint32_t i) {
  Name name = l->sights.at[i].name;
  if (!table_get(l->named, &name, sizeof name)) table_put(l->named, &name, sizeof name, i + 1);
}

Looker looker_new(Elab *in, Program *p, System *s) {
  Looker l = {.in = in, .p = p, .s = s, .named = table_new(in->w->arena)};
  if (s) system_sights(in->w, s, &l.sights);
  for (uint32_t i = 0; i < l.sights.n; i++) name_sight(&l, i);
  return l;
}

Type without_pass(World *w, Type t) {
  t.axis = arena_copy(w->arena, t.axis, t.rank * sizeof(Axis));
  for (uint32_t i = 0; i < t.rank; i++) t.axis[i].pass = 0;
  return t;
}

// -- paths ----------------------------------------------------------------------------------------
// The observable name of a path, found on demand; 0: nothing is there.
static Name name_of_path(Looker *l, const InsidePath *path) {
  World *w = l->in->w;
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < path->n; i++)
    buf_printf(&b, "%s%s", i ? "." : "", name_text(w->names, path->at[i].name));
  Name name = name_from(w->names, b.at);
  if (table_get(l->named, &name, sizeof name)) return name;
  Id wire = l->s ? inside_wire(l->s, path->at, path->n) : 0;
  if (!wire) return 0;
  vec_push(w->arena, &l->s->inside, (SystemInside){name, wire});
  vec_push(w->arena, &l->sights, sight_inside(l->s, l->s->inside.n - 1));
  name_sight(l, l->sights.n - 1);
  return name;
}

// Does it begin with a part, or with an unbound name?
static bool leads_inside(const Looker *l, const InsidePath *path) {
  Name first = path->at[0].name;
  return path->n > 1 && l->s &&
         (inside_is_part(l->s, first) ||
          (!table_get(l->named, &first, sizeof first) && !scope_find(l->p->scope, first)));
}

// Replaces p.y by one name, and p[2].y by an element of it. looker: a Looker
static Syntax *dotted_names(void *looker, const Syntax *n) {
  Looker *l = looker;
  World *w = l->in->w;
  InsidePath path = {0};
  Syntax *brackets = NULL;
  bool named = inside_path(w, l->s, n, &path) && (path.n > 1 || n->kind == N_NAME);
  Name name = named ? name_of_path(l, &path) : 0;
  if (name && inside_brackets(w, l->s, &path, &brackets)) {
    Syntax *whole = syntax_name(w->arena, name, n->span);
    Syntax *index = brackets ? syntax_map(w->arena, brackets, dotted_names, l) : NULL;
    return index ? node_at(w->arena, n->span, (AtParts){whole, index}) : whole;
  }
  if (name) return node_error(w->arena, n->span, (ErrorParts){.names = {0, NULL}});
  if (named && path.n > 1) return (Syntax *)n; // unknown: reported later
  return syntax_map(w->arena, n, dotted_names, looker);
}

static bool is_sight(void *looker, const Syntax *n) {
  const Looker *l = looker;
  return n->kind == N_NAME && table_get(l->named, &n->name, sizeof n->name);
}

static bool is_path_inside(void *looker, const Syntax *n) {
  const Looker *l = looker;
  InsidePath path = {0};
  return n->kind == N_DOT && inside_path(l->in->w, l->s, n, &path) && leads_inside(l, &path);
}

bool speaks_of_sights(Looker *l, const Syntax *expr) {
  if (!expr || !l->s) return false;
  uint32_t errors = l->in->w->diags->met;
  if (syntax_any(expr, is_path_inside, l)) return true;
  return syntax_any(dotted_names(l, expr), is_sight, l) || l->in->w->diags->met > errors;
}

// mode = on.hot: a label, resolved by the other side
static bool may_be_label(const Looker *l, const Syntax *n) {
  InsidePath path = {0};
  return n->kind == N_DOT && inside_path(l->in->w, l->s, n, &path) && l->s &&
         !inside_is_part(l->s, path.at[0].name);
}

// Reports unknown paths into parts; false: there are some.
static bool paths_are_known(const Looker *l, const Syntax *n) {
  InsidePath path = {0};
  if (n->kind == N_ERROR) return false;
  if (is_path_inside((void *)l, n)) {
    inside_path(l->in->w, l->s, n, &path);
    inside_unknown(l->in->w, l->s, &path);
    return false;
  }
  bool part = n->kind == N_NAME && !table_get(l->named, &n->name, sizeof n->name) && l->s &&
              inside_is_part(l->s, n->name) && !scope_meaning(l->p->scope, n);
  if (part) {
    inside_path(l->in->w, l->s, n, &path);
    inside_unknown(l->in->w, l->s, &path);
    return false;
  }
  if (n->kind == N_CMP && may_be_label(l, cmp_right(n))) return paths_are_known(l, cmp_left(n));
  bool known = true;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) known &= paths_are_known(l, syntax_parts(n).at[i]);
  return known;
}

// -- expressions ----------------------------------------------------------------------------------
Id only_wire(Body *b, const Syntax *expr) {
  Value v = eval_alone(b, b->env, expr);
  return v.n == 1 ? val_to_wire(b, &v.at[0], 0) : 0;
}

// Only names in the expression become inputs, so the cost does not depend on the size of the
// system.
static void bind_named(const Looker *l, Body *b, const Syntax *n, Ids *sight) {
  World *w = l->in->w;
  Id at = n->kind == N_NAME ? table_get(l->named, &n->name, sizeof n->name) : 0;
  bool bound = b->env->names && table_get(b->env->names, &n->name, sizeof n->name);
  if (at && !bound) {
    const Sight *x = &l->sights.at[at - 1];
    Id wire = diagram_input(w, b->d, without_pass(w, x->type), x->name, 0);
    vec_push(w->arena, sight, at - 1);
    bind_value(b->env, x->name, value_one(b, val_wire(b, wire, n->span)), (Span){0});
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) bind_named(l, b, syntax_parts(n).at[i], sight);
}

// In continuous time, noise has no value at a moment.
static bool noise_is_unseen(Looker *l, const Diagram *d, const Ids *sight, Span span) {
  World *w = l->in->w;
  if (!l->s || !l->s->flows) return true;
  if (d->noisy)
    return diag_refuse(w->diags, span,
                       "nothing is drawn here: `%s` flows, and noise is for its ticks and events",
                       name_text(w->names, l->s->name));
  for (uint32_t i = 0; i < sight->n; i++) {
    const Sight *x = &l->sights.at[sight->at[i]];
    if (x->kind == SEES_INSIDE &&
        !noise_has_value(w, l->s, l->s->inside.at[x->at].wire, name_text(w->names, x->name)))
      return false;
  }
  return true;
}

bool look_at(Looker *l, const Syntax *expr, Seen *out, Type *type) {
  World *w = l->in->w;
  Body *b = body_new(l->in, name_from(w->names, "seen"));
  b->timed = true;
  b->env = env_new(l->in, NULL, l->p->scope, b);
  Ids sight = {0};
  const Syntax *named = dotted_names(l, expr);
  if (!paths_are_known(l, named)) return false;
  bind_named(l, b, named, &sight);
  Id wire = only_wire(b, named);
  if (!wire) return false;
  if (type) *type = b->d->wire.at[wire].type;
  diagram_output(w, b->d, wire);
  body_finish(b);
  diagram_resolve(w, b->d);
  Diagram *flat = passes_flat(w, b->d);
  if (!noise_is_unseen(l, flat, &sight, expr->span)) return false;
  Ids kept = diagram_drop_inputs(w, flat);
  for (uint32_t i = 0; i < kept.n; i++) vec_push(w->arena, &out->sight, sight.at[kept.at[i]]);
  out->diagram = flat;
  return true;
}
