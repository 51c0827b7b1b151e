// Algebraic equations `0 = …` in continuous time.
//
// The system is a differential-algebraic one: states without a rate or `next` are determined by the
// equations, and the solver computes them. There must be as many scalar equations as such states
// have elements. The residual of the i-th equation is stored as the rate of the i-th element; the
// pairing has no meaning, since all hold together.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/ops.h"
#include "lang/machine/machine_own.h"

enum { PLACED_LIMIT = 256 }; // scalar equations that are assigned one by one

// "0 = value", or an error
void add_constraint(MachineBuilder *m, Env *env, const Syntax *n, int mode) {
  if (mode != ANY_MODE) {
    diag_error(
        m->w->diags, n->span,
        "an equation `0 = …` holds in every mode: write `0 = … when … else …` outside of them");
    return;
  }
  Value v = eval_equation(m->b, env, NULL, constraint_value(n), constraint_pad(n), NULL, n->span);
  if (v.n != 1 || v.at[0].error) {
    m->broken = true;
    if (v.n != 1) diag_error(m->w->diags, n->span, "one value is 0, but these are %u", v.n);
    return;
  }
  vec_push(m->w->arena, &m->constraint, ((Constraint){v.at[0], constraint_value(n)->span}));
}

const SystemEvent *event_setting(const System *s, uint32_t state, bool either) {
  for (uint32_t i = 0; i < s->event.n; i++)
    for (uint32_t k = 0; k < s->event.at[i].state.n && (s->event.at[i].either || !either); k++)
      if (s->event.at[i].state.at[k] == state) return &s->event.at[i];
  return NULL;
}

static bool is_free(const MachineBuilder *m, uint32_t state) {
  return !event_setting(m->s, state, false) && m->held.at[state].own.base == BASE_R &&
         !last_change(m, CHANGE_RATE, state) && !last_change(m, CHANGE_NEXT, state) &&
         !m->s->own.at[state].learns;
}

// A machine that stops or dies cannot have algebraic equations.
static bool mortal_constraints(const MachineBuilder *m) {
  if (!m->live) return false;
  Id e = diag_error(m->w->diags, m->constraint.at[0].span,
                    "an equation `0 = …` holds at every moment, but `%s` stops or dies here",
                    name_text(m->w->names, m->def->name));
  if (m->life.mortal || m->life.halts) diag_note(m->w->diags, e, m->life.span, "the part");
  diag_help(m->w->diags, e, "let the part stay, and let what it takes be 0 instead");
  return true;
}

// -- assigning equations to states ----------------------------------------------------------------
static Type equation_type(const MachineBuilder *m, const Constraint *c) {
  return c->value.literal ? (Type){.base = BASE_R} : own_type(m->w, &c->value.type);
}

static bool has_shape(MachineBuilder *m, const Constraint *c, const Type *own) {
  Type t = equation_type(m, c);
  if (t.rank != own->rank) return false;
  for (uint32_t k = 0; k < t.rank; k++) {
    int64_t a, b;
    if (size_value(m->w, t.axis[k].size, &a) && size_value(m->w, own->axis[k].size, &b) && a != b)
      return false;
  }
  return true;
}

// Pairs each state with an equation of its shape, reordering the equations.
static bool match_one_by_one(MachineBuilder *m, const Ids *free) {
  if (free->n != m->constraint.n) return false;
  for (uint32_t i = 0; i < free->n; i++) {
    uint32_t k = i;
    while (k < free->n && !has_shape(m, &m->constraint.at[k], &m->held.at[free->at[i]].own)) k++;
    if (k == free->n) return false;
    Constraint found = m->constraint.at[k];
    for (; k > i; k--) m->constraint.at[k] = m->constraint.at[k - 1];
    m->constraint.at[i] = found;
  }
  return true;
}

// Counts scalar equations and elements of states; false: sizes are open.
static bool count_places(MachineBuilder *m, const Ids *free, int64_t *numbers, int64_t *places) {
  int64_t n;
  *numbers = *places = 0;
  for (uint32_t i = 0; i < m->constraint.n; i++, *numbers += n) {
    Type t = equation_type(m, &m->constraint.at[i]);
    if (!type_count(m->w, &t, &n)) return false;
  }
  for (uint32_t i = 0; i < free->n; i++, *places += n)
    if (!type_count(m->w, &m->held.at[free->at[i]].own, &n)) return false;
  return true;
}

// The access of element `cell`, after the batch axes.
static Access place_access(MachineBuilder *m, const Type *own, int64_t cell) {
  World *w = m->w;
  Access a = {.rank = m->npass + own->rank};
  a.coord = NEW_ARRAY(w->arena, Coord, a.rank + 1);
  for (uint32_t i = 0; i < m->npass; i++) a.coord[i] = coord_index(w, i);
  for (uint32_t i = own->rank; i-- > 0;) {
    int64_t n = 1;
    size_value(w, own->axis[i].size, &n);
    a.coord[m->npass + i] = coord_const(w, size_of(w, cell % n));
    cell /= n;
  }
  return a;
}

typedef struct {
  Id wire;
  Type own;
  int64_t cell;
  Span span;
} PlacedNumber;

// A value with the number at one element, and 0 elsewhere.
static Id place_number(MachineBuilder *m, const PlacedNumber *from, const Type *own, int64_t cell) {
  World *w = m->w;
  Loop loop = {.combine = SUM, .nindex = m->npass, .nin = 1};
  Access in = place_access(m, &from->own, from->cell);
  loop.index = NEW_ARRAY(w->arena, Index, m->npass + 1);
  for (uint32_t i = 0; i < m->npass; i++)
    loop.index[i] = (Index){m->pass[i].label, m->pass[i].size};
  loop.in = arena_copy(w->arena, &in, sizeof in);
  loop.out = place_access(m, own, cell);
  scalar_push(w, &loop, (Scalar){.fn = FN_ARG, .base = BASE_R});
  return box_loop(w, m->b->d, &loop, &from->wire, 1, full_type(m, own),
                  origin_at(m->b, from->span));
}

// All scalar residuals, in order.
static PlacedNumber *all_numbers(MachineBuilder *m, int64_t numbers) {
  PlacedNumber *all = NEW_ARRAY(m->w->arena, PlacedNumber, numbers + 1);
  int64_t at = 0, n = 0;
  for (uint32_t i = 0; i < m->constraint.n; i++) {
    const Constraint *c = &m->constraint.at[i];
    Type own = equation_type(m, c);
    Id wire = fit_value(m, c->value, &own, c->span, "an equation");
    if (!wire || !type_count(m->w, &own, &n)) return NULL;
    for (int64_t k = 0; k < n; k++) all[at++] = (PlacedNumber){wire, own, k, c->span};
  }
  return all;
}

static void settle_by_places(MachineBuilder *m, const Ids *free, int64_t numbers) {
  const PlacedNumber *next = all_numbers(m, numbers);
  for (uint32_t i = 0; next && i < free->n; i++) {
    Held *held = &m->held.at[free->at[i]];
    int64_t n = 0;
    Val sum = {0};
    Span span = next->span;
    if (!type_count(m->w, &held->own, &n)) return;
    for (int64_t k = 0; k < n; k++, next++) {
      Val pair[2] = {sum, val_wire(m->b, place_number(m, next, &held->own, k), next->span)};
      sum = k ? val_fn(m->b, FN_add, pair, 2, next->span, NULL) : pair[1];
    }
    held->constrained = true;
    Id wire = fit_value(m, sum, &held->own, span, "an equation");
    if (wire) add_change_always(m, CHANGE_RATE, free->at[i], wire, span);
  }
}

static void settle_one_by_one(MachineBuilder *m, const Ids *free) {
  World *w = m->w;
  for (uint32_t i = 0; i < free->n; i++) {
    Held *held = &m->held.at[free->at[i]];
    const Constraint *c = &m->constraint.at[i];
    const char *name = name_text(w->names, m->s->own.at[free->at[i]].name);
    Id wire = fit_value(m, c->value, &held->own, c->span, arena_format(w->arena, "`%s`", name));
    held->constrained = true;
    if (wire) add_change_always(m, CHANGE_RATE, free->at[i], wire, c->span);
  }
}

// Open sizes: only types matter here; the use with known sizes checks the rest.
static void settle_open(MachineBuilder *m, const Ids *free) {
  for (uint32_t i = 0; i < free->n; i++) {
    Held *held = &m->held.at[free->at[i]];
    held->constrained = true;
    add_change_always(m, CHANGE_RATE, free->at[i], held->wire, m->constraint.at[0].span);
  }
}

static void report_counts(MachineBuilder *m, uint32_t states, const char *names) {
  uint32_t n = m->constraint.n;
  Id e = diag_error(
      m->w->diags, m->constraint.at[0].span,
      "there %s %u equation%s `0 = …`, but %u state%s with neither a rate nor a `next`%s",
      n == 1 ? "is" : "are", n, n == 1 ? "" : "s", states, states == 1 ? "" : "s", names);
  diag_help(m->w->diags, e, "each such state is found from one equation");
}

static void report_places(MachineBuilder *m, int64_t numbers, int64_t places, const char *names) {
  const char *more = numbers == places ? ", too many to be placed one by one" : "";
  diag_error(
      m->w->diags, m->constraint.at[0].span,
      "equations `0 = …` are %lld %s, but what has neither a rate nor a `next` has %lld %s%s%s",
      (long long)numbers, numbers == 1 ? "number" : "numbers", (long long)places,
      places == 1 ? "place" : "places", names, more);
}

void settle_constraints(MachineBuilder *m) {
  World *w = m->w;
  Ids free = {0};
  Buf names = buf_new(w->arena);
  int64_t numbers = 0, places = 0;
  if (!m->constraint.n || mortal_constraints(m)) return;
  for (uint32_t i = 0; i < m->s->own.n; i++) {
    if (!is_free(m, i)) continue;
    buf_printf(&names, "%s `%s`", free.n ? "," : ":", name_text(w->names, m->s->own.at[i].name));
    vec_push(w->arena, &free, i);
  }
  bool known = count_places(m, &free, &numbers, &places);
  if (match_one_by_one(m, &free))
    settle_one_by_one(m, &free);
  else if (known && numbers == places && places <= PLACED_LIMIT)
    settle_by_places(m, &free, numbers);
  else if (!known && free.n && m->b->generic)
    settle_open(m, &free);
  else if (known && free.n && places > free.n)
    report_places(m, numbers, places, names.at);
  else
    report_counts(m, free.n, free.n ? names.at : "");
}

const SystemState *first_constrained(const System *s) {
  for (uint32_t i = 0; i < s->state.n; i++)
    if (s->state.at[i].constrained) return &s->state.at[i];
  return NULL;
}
