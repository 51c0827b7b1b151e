// Initial values of elements and members of arrays: run A(x[0]: 1, x[i+1]: i, p[2].level: 5).
//
// All arguments for one port or state are merged into one value. Other elements have the value the
// run gives for the whole, or the declared initial value.
#include "base/diag.h"
#include "base/names.h"
#include "lang/program/claim_own.h"

#include <assert.h>

typedef struct {
  const Sight *sight;
  PlaceLines line;
} PlacedStart;
typedef VEC(PlacedStart) PlacedStarts;

static const Sight *sight_called(const Looker *l, Name name) {
  for (uint32_t i = 0; i < l->sights.n; i++) {
    const Sight *x = &l->sights.at[i];
    if (x->name == name && (x->kind == SEES_IN || x->kind == SEES_STATE)) return x;
  }
  return NULL;
}

// The port or state, and its brackets; NULL: reported.
static const Sight *place_meant(const Looker *l, const Syntax *whom, Syntax **brackets) {
  World *w = l->in->w;
  InsidePath path = {0};
  Buf name = buf_new(w->arena);
  bool is_path = inside_path(w, l->s, whom, &path);
  assert(is_path); // guaranteed by the parser
  (void)is_path;
  for (uint32_t i = 0; i < path.n; i++)
    buf_printf(&name, "%s%s", i ? "." : "", name_text(w->names, path.at[i].name));
  if (!inside_brackets(w, l->s, &path, brackets)) return NULL;
  Name found = name_from(w->names, name.at);
  const Sight *x = sight_called(l, found);
  if (!x) report_no_sight(l, found, whom->span);
  return x;
}

// p[1].v: the whole row of a member.
static Syntax *with_rest(World *w, const Syntax *brackets, uint32_t rank) {
  Nodes item = brackets_items(brackets), rest = {0, NEW_ARRAY(w->arena, Syntax *, rank + 1)};
  while (item.n && item.n + rest.n < rank) {
    Name name = name_from(w->names, arena_format(w->arena, "rest %u", rest.n));
    rest.at[rest.n++] = syntax_name(w->arena, name, brackets->span);
  }
  return rest.n ? brackets_of(w->arena, brackets->span, nodes_join(w->arena, item, rest))
                : (Syntax *)brackets;
}

static PlacedStart *start_of(const Looker *l, PlacedStarts *all, const Sight *x) {
  for (uint32_t i = 0; i < all->n; i++)
    if (all->at[i].sight == x) return &all->at[i];
  vec_push(l->in->w->arena, all, (PlacedStart){.sight = x});
  return &all->at[all->n - 1];
}

// The value of unassigned elements.
static Init base_of(const Looker *l, Run *r, const Sight *x, RunStart **given) {
  *given = NULL;
  for (uint32_t i = 0; i < r->start.n; i++)
    if (r->start.at[i].kind == x->kind && r->start.at[i].at == x->at) *given = &r->start.at[i];
  if (*given) return (Init){.kind = INIT_DIAGRAM, .diagram = (*given)->value};
  bool own = x->kind == SEES_STATE && x->at >= r->shared;
  return own ? l->s->d->param.at[l->s->state.at[x->at].param].init : (Init){.kind = INIT_NONE};
}

static void give_places(const Looker *l, Run *r, const PlacedStart *p) {
  World *w = l->in->w;
  const Sight *x = p->sight;
  RunStart *given;
  Init base = base_of(l, r, x, &given);
  Type own = without_pass(w, x->type);
  ValueWords words = {.timed = l->runs && x->kind == SEES_IN, .span = p->line.at[0].span};
  words.what = arena_format(w->arena, "`%s`", name_text(w->names, x->name));
  RunStart s = {x->name, x->kind, x->at,
                value_by_places(l->in, l->p, p->line, &base, &own, &words)};
  if (s.value && given)
    *given = s;
  else if (s.value)
    vec_push(w->arena, &r->start, s);
}

void read_place_starts(const Looker *l, Nodes args, Run *r) {
  World *w = l->in->w;
  PlacedStarts all = {0};
  for (uint32_t i = 0; i < args.n; i++) {
    const Syntax *arg = args.at[i];
    if (arg->kind != N_STEPPED) continue;
    Syntax *brackets;
    const Sight *x = place_meant(l, stepped_whom(arg), &brackets);
    if (!x) continue;
    PlaceLine line = {brackets, stepped_call(arg), NULL, arg->span};
    if (brackets) {
      line.brackets = with_rest(w, brackets, x->type.rank);
      vec_push(w->arena, &start_of(l, &all, x)->line, line);
      continue;
    }
    Syntax *whole =
        node_arg(w->arena, arg->span, (ArgParts){.value = stepped_call(arg)}); // p[1].x of a `for`
    RunStart s;
    whole->name = x->name;
    whole->name_span = stepped_whom(arg)->span;
    if (run_start(r, x->kind, x->at))
      diag_error(w->diags, arg->span, "`%s` is given twice", name_text(w->names, x->name));
    else if (read_start(l, whole, 0, &s))
      vec_push(w->arena, &r->start, s);
  }
  for (uint32_t i = 0; i < all.n; i++) give_places(l, r, &all.at[i]);
}
