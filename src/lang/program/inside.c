// Ports, states and lines inside a system, by path.
//
// Nothing is stored but the wire maps made when parts are connected. A path is followed into the
// parts, and the wire at its end is mapped back out. Lines are inlined, except those the program
// asks for by name.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "lang/program/claim_own.h"

// -- paths ----------------------------------------------------------------------------------------
static bool path_steps(Arena *a, const Syntax *n, InsidePath *out) {
  const Syntax *brackets = NULL, *name = n;
  if (n->kind == N_AT) brackets = at_brackets(n), name = at_base(n);
  if (name->kind == N_DOT && !path_steps(a, dot_base(name), out)) return false;
  if (name->kind != N_DOT && name->kind != N_NAME) return false;
  vec_push(a, out, (InsideStep){name->name, brackets, n->span});
  return true;
}

static const SystemInner *inner_named(const System *s, Name name) {
  for (uint32_t i = 0; i < s->inner.n; i++) {
    const SystemInner *x = &s->inner.at[i];
    if (x->name == name) return x;
    const SystemInner *deeper = x->name ? NULL : inner_named(x->of, name);
    if (deeper) return deeper;
  }
  return NULL;
}

// A part made by a `for` has its number in its name.
static void name_member(World *w, const System *s, InsideStep *step) {
  Nodes item = brackets_items(step->brackets);
  Buf b = buf_new(w->arena);
  buf_printf(&b, "%s[", name_text(w->names, step->name));
  for (uint32_t i = 0; i < item.n; i++) {
    if (item.at[i]->kind != N_NUM) return;
    buf_printf(&b, "%s%.17g", i ? " " : "", item.at[i]->num);
  }
  buf_text(&b, "]");
  Name name = name_from(w->names, b.at);
  if (!item.n || !inner_named(s, name)) return;
  step->name = name;
  step->brackets = NULL;
}

bool inside_path(World *w, const System *s, const Syntax *n, InsidePath *out) {
  if (!path_steps(w->arena, n, out)) return false;
  for (uint32_t i = 0; s && i + 1 < out->n; i++) {
    name_member(w, s, &out->at[i]);
    const SystemInner *x = inner_named(s, out->at[i].name);
    s = x ? x->of : NULL;
  }
  return true;
}

bool inside_is_part(const System *s, Name name) { return s && inner_named(s, name); }

static Id wire_here(const System *s, Name name) {
  int out = port_named(s->out.at, s->out.n, name), in = port_named(s->in.at, s->in.n, name);
  if (out >= 0 && !s->shares) return s->d->out.at[out];
  if (in >= 0) return s->d->in.at[in];
  for (uint32_t i = 0; i < s->line.n; i++)
    if (s->line.at[i].name == name) return s->line.at[i].wire;
  bool dressed =
      s->inner.n && !s->inner.at[0].name; // its states are found through the inner system
  for (uint32_t i = 0; i < s->own.n && !dressed; i++)
    if (s->own.at[i].name == name) return s->d->param.at[s->state.at[i].param].wire;
  return 0;
}

Id inside_wire(const System *s, const InsideStep *step, uint32_t n) {
  Id here = n == 1 ? wire_here(s, step->name) : 0;
  for (uint32_t i = 0; !here && i < s->inner.n; i++) {
    const SystemInner *x = &s->inner.at[i];
    bool into = x->name && n > 1 && x->name == step->name;
    Id there = !x->name ? inside_wire(x->of, step, n)
               : into   ? inside_wire(x->of, step + 1, n - 1)
                        : 0;
    if (there) here = x->map[there];
  }
  return here;
}

// -- arrays of parts ------------------------------------------------------------------------------
static Syntax *brackets_joined(World *w, const Syntax *a, const Syntax *b) {
  const Syntax *first = nodes_only(brackets_slots(a)), *second = nodes_only(brackets_slots(b));
  if (!first || !second) return NULL;
  return brackets_of(w->arena, span_join(a->span, b->span),
                     nodes_join(w->arena, items_in(first), items_in(second)));
}

static const char *step_text(World *w, const InsidePath *path, uint32_t n) {
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(&b, "%s%s", i ? "." : "", name_text(w->names, path->at[i].name));
  return b.n ? b.at : "";
}

bool inside_brackets(World *w, const System *s, const InsidePath *path, Syntax **brackets) {
  const char *whole = NULL; // an earlier array on the path without brackets: all members
  *brackets = NULL;
  for (uint32_t i = 0; i < path->n; i++) {
    const InsideStep *step = &path->at[i];
    const SystemInner *x = i + 1 < path->n ? inner_named(s, step->name) : NULL;
    if (x && !x->array && step->brackets)
      return diag_refuse(w->diags, step->span, "`%s` is one part and has no members",
                         step_text(w, path, i + 1));
    if (step->brackets && whole && x) {
      Id e =
          diag_error(w->diags, step->span, "`%s` is an array: which member of it is meant?", whole);
      return diag_help(w->diags, e, "write `%s[0]`, or leave all members in", whole);
    }
    if (x && x->array && !step->brackets) whole = step_text(w, path, i + 1);
    if (step->brackets)
      *brackets =
          *brackets ? brackets_joined(w, *brackets, step->brackets) : (Syntax *)step->brackets;
    if (step->brackets && !*brackets)
      return diag_refuse(w->diags, step->span, "one index for each axis is wanted here");
    if (x) s = x->of;
  }
  return true;
}

// -- reporting unknown paths ----------------------------------------------------------------------
typedef struct {
  World *w;
  Nearest near;
  Buf list;
  uint32_t n;
} InsideNames;

enum { NAMES_TOLD = 8 };

static void tell_name(InsideNames *t, Name name) {
  const char *text = name_text(t->w->names, name);
  nearest_try(&t->near, text);
  if (++t->n <= NAMES_TOLD) buf_printf(&t->list, "%s`%s`", t->n > 1 ? ", " : "", text);
  if (t->n == NAMES_TOLD + 1) buf_text(&t->list, ", …");
}

static void tell_inside(InsideNames *t, const System *s, bool parts) {
  for (uint32_t i = 0; i < s->in.n && !parts; i++) tell_name(t, s->in.at[i].name);
  for (uint32_t i = 0; i < s->out.n && !s->shares && !parts; i++) tell_name(t, s->out.at[i].name);
  for (uint32_t i = 0; i < s->own.n && !parts; i++)
    if (port_named(s->out.at, s->out.n, s->own.at[i].name) < 0) tell_name(t, s->own.at[i].name);
  for (uint32_t i = 0; i < s->line.n && !parts; i++) tell_name(t, s->line.at[i].name);
  for (uint32_t i = 0; i < s->inner.n; i++)
    if (s->inner.at[i].name)
      tell_name(t, s->inner.at[i].name);
    else
      tell_inside(t, s->inner.at[i].of, parts);
}

void inside_unknown(World *w, const System *s, const InsidePath *path) {
  uint32_t i = 0;
  const SystemInner *x = NULL;
  for (; i < path->n && (x = inner_named(s, path->at[i].name)); i++) s = x->of;
  uint32_t at = i < path->n ? i : path->n - 1;
  InsideNames told = {.w = w, .near = nearest_to(name_text(w->names, path->at[at].name))};
  told.list = buf_new(w->arena);
  tell_inside(&told, s, i + 1 < path->n);
  const char *part = step_text(w, path, i);
  Id e;
  if (i == path->n)
    e = diag_error(w->diags, path->at[at].span, "`%s` is a part, and a part is no value", part);
  else
    e = diag_error(w->diags, path->at[at].span, "%s`%s` has %s `%s`", i ? "part " : "",
                   i ? part : name_text(w->names, s->name),
                   i + 1 < path->n ? "no part" : "nothing that is called", told.near.text);
  if (i < path->n && diag_suggest(w->diags, e, told.near.best)) return;
  if (told.n) diag_help(w->diags, e, "in it there is %s", told.list.at);
}
