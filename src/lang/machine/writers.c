// Merges all lines for one state or port, element by element. Two unconditional lines may not
// assign the same element; for conditional ones this is checked at run time: they are recorded as
// writers.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/machine/machine_own.h"

// Never at once: exclusive modes, or disjoint elements.
static Meeting changes_meet(MachineBuilder *m, const Change *a, const Change *b, const Type *own,
                            const char **where) {
  *where = "";
  if (!(mode_bits(m, a->mode) & mode_bits(m, b->mode))) return MEET_NEVER;
  return places_meet(m, &a->places, &b->places, own, where);
}

// False: it was reported that both assign one element.
static bool check_pair(MachineBuilder *m, const Change *a, const Change *b, const Type *own,
                       const char *what) {
  const char *where;
  if (a->when || b->when || a->span.at == b->span.at) return true;
  Meeting meet = changes_meet(m, a, b, own, &where);
  bool told_by_run = a->kind == CHANGE_NEXT || (m->s->shares && !m->flows) || m->b->generic;
  if (meet == MEET_NEVER || (meet == MEET_PERHAPS && told_by_run)) return true;
  uint64_t x = mode_bits(m, a->mode), y = mode_bits(m, b->mode);
  const char *words = mode_words(m, (x & y) == x ? a->mode : b->mode);
  Id e = *where ? diag_error(m->w->diags, b->span, "place %s of %s is defined twice%s", where, what,
                             words)
                : diag_error(m->w->diags, b->span, "%s is defined twice%s", what, words);
  return diag_note(m->w->diags, e, a->span, "the first time");
}

static void check_pairs(MachineBuilder *m, ChangeKind kind, uint32_t at, const Type *own,
                        const char *what) {
  for (uint32_t i = last_change(m, kind, at); i; i = m->change.at[i - 1].before) {
    uint32_t k = m->change.at[i - 1].before;
    while (k && check_pair(m, &m->change.at[k - 1], &m->change.at[i - 1], own, what))
      k = m->change.at[k - 1].before;
  }
}

// The conjunction of two bits, or of bits for each element; `more`: 0 is true.
static Id both_bits(MachineBuilder *m, Id one, Id more, Span span) {
  if (!one || !more) return one ? one : more;
  Type t = m->b->d->wire.at[more].type, own = {.base = BASE_BIT, .rank = t.rank - m->npass};
  own.axis = t.axis + m->npass;
  return where_set(m, one, more, 0, &own, span, "a condition");
}

// The condition of a line, including its mode; 0: always
static Id change_when(MachineBuilder *m, const Change *c) {
  Type bit = {.base = BASE_BIT};
  if (c->mode == ANY_MODE) return c->when;
  Id in = fit_value(m, in_mode(m, c->mode, c->span), &bit, c->span, "a condition");
  return both_bits(m, in, c->when, c->span);
}

Id fold_changes(MachineBuilder *m, ChangeKind kind, uint32_t at, Id base, const Type *own,
                const char *what) {
  Id all = base;
  check_pairs(m, kind, at, own, what);
  for (uint32_t i = last_change(m, kind, at); i; i = m->change.at[i - 1].before) {
    const Change *c = &m->change.at[i - 1];
    Id named = where_set(m, c->places.named, c->value, all, own, c->span, what);
    all = where_set(m, change_when(m, c), named, all, own, c->span, what);
  }
  return all;
}

// -- assignment by elements -----------------------------------------------------------------------
Id said_by_places(MachineBuilder *m, const PlacesSaid *said) {
  World *w = m->w;
  LinePlaces *line = NEW_ARRAY(w->arena, LinePlaces, said->line.n + 1);
  uint32_t errors = w->diags->met;
  for (uint32_t i = 0; i < said->line.n; i++) {
    const PlaceLine *l = &said->line.at[i];
    Change c = {.kind = CHANGE_PLACES, .at = said->number, .mode = ANY_MODE, .span = l->span};
    c.places = line[i] = line_places(m, m->env, l->brackets, l->value, l->pad, said->own);
    if (w->diags->met > errors) return 0;
    PlaceLine x = line_moved(m, l, said->own);
    if (x.brackets != l->brackets)
      c.places.named = named_between(m, x.brackets, &c.places, said->own);
    Value v = eval_equation(m->b, m->env, x.brackets, x.value, x.pad, said->own, l->span);
    if (v.n != 1 || v.at[0].error) continue;
    c.value = fit_value(m, v.at[0], said->own, l->value->span, said->what);
    add_change(m, c);
  }
  if (w->diags->met > errors) return 0;
  const char *left = said->base ? NULL : places_left(m, line, said->line.n, said->own);
  if (left) {
    diag_error(w->diags, said->span, "nothing says what %s is at %s", said->what,
               *left ? left : "the other places");
    return 0;
  }
  return fold_changes(m, CHANGE_PLACES, said->number, said->base, said->own, said->what);
}

// -- writers at one tick --------------------------------------------------------------------------
// Two jumps clash only within one nesting depth: an outer one wins.
static bool may_clash(MachineBuilder *m, const Change *a, const Change *b, const Type *own) {
  const char *where;
  if (a->jump && b->jump && (a->level != b->level || a->jump == b->jump)) return false;
  return (a->when || b->when || changes_meet(m, a, b, own, &where) == MEET_PERHAPS) &&
         changes_meet(m, a, b, own, &where) != MEET_NEVER;
}

typedef struct {
  ChangeKind kind;
  uint32_t at;
  const Type *own;
  Name name;
} Written; // a state, or a shared variable

static bool may_clash_with_any(MachineBuilder *m, uint32_t line, const Written *of) {
  for (uint32_t i = last_change(m, of->kind, of->at); i; i = m->change.at[i - 1].before)
    if (i != line && may_clash(m, &m->change.at[i - 1], &m->change.at[line - 1], of->own))
      return true;
  return false;
}

// The value a line sets; lines for a shared variable give what is added.
static Id set_to(MachineBuilder *m, const Change *c, const Written *of) {
  if (of->kind == CHANGE_NEXT) return c->value;
  Val pair[2] = {val_wire(m->b, m->b->d->in.at[of->at], c->span),
                 val_wire(m->b, c->value, c->span)};
  return fit_value(m, val_fn(m->b, FN_add, pair, 2, c->span, NULL), of->own, c->span,
                   "a shared variable");
}

static void record_writers(MachineBuilder *m, const Written *of) {
  uint32_t first = m->s->writer.n;
  for (uint32_t i = last_change(m, of->kind, of->at); i; i = m->change.at[i - 1].before) {
    const Change *c = &m->change.at[i - 1];
    if (!may_clash_with_any(m, i, of)) continue;
    SystemWriter x = {.state = of->kind == CHANGE_NEXT ? of->at : NO_STATE,
                      .group = first,
                      .path = name_text(m->w->names, of->name),
                      .every = 1,
                      .when = both_bits(m, m->live, change_when(m, c), c->span),
                      .named = c->places.named,
                      .value = set_to(m, c, of),
                      .jump = c->jump,
                      .level = c->level,
                      .span = c->span};
    vec_push(m->w->arena, &m->s->writer, x);
  }
}

void note_writers(MachineBuilder *m, uint32_t state) {
  record_writers(m,
                 &(Written){CHANGE_NEXT, state, &m->held.at[state].own, m->s->own.at[state].name});
}

void note_sharers(MachineBuilder *m, uint32_t port) {
  const Port *of = &m->s->in.at[port];
  record_writers(m, &(Written){CHANGE_PORT, port, &of->type, of->name});
}
