// Write conflicts in discrete time: two lines that set one element to different values at one tick
// are an error that names both. Ticks run as one compiled scan, which only counts conflicts; the
// tick is then run again, line by line.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "run/sim/sim_own.h"

// -- counting -------------------------------------------------------------------------------------
typedef struct {
  World *w;
  Diagram *to;
  Type t;      // of the state
  Id set, all; // the elements that earlier lines set, and their values; 0: none
  Id count;    // number of conflicts for each element; 0: none yet
} ConflictFold;

static Type with_base(Type t, Base base) {
  t.base = (uint8_t)base;
  t.names = 0, t.count = 0;
  return t;
}

// The elements that a line sets, if its condition holds.
static Id line_bits(const ConflictFold *c, Id when, Id named) {
  World *w = c->w;
  Each e = each_of(w, with_base(c->t, BASE_BIT));
  uint32_t x = 0, y = 0;
  if (when) x = each_read(w, &e, when, BASE_BIT, c->to->wire.at[when].type.rank);
  if (named) y = each_read(w, &e, named, BASE_BIT, c->t.rank);
  uint32_t all = when && named     ? scalar_fn(w, &e.loop, FN_and, x, y, 0)
                 : !when && !named ? each_number(w, &e, 1)
                                   : 0;
  if (when && named) e.loop.scalar[all].base = BASE_BIT;
  if (!when && !named) e.loop.scalar[all].base = BASE_BIT;
  return each_make(w, c->to, &e);
}

static Id differs(const ConflictFold *c, Id bits, Id value) {
  World *w = c->w;
  Each e = each_of(w, with_base(c->t, BASE_R));
  uint32_t a = each_read(w, &e, bits, BASE_BIT, c->t.rank),
           b = each_read(w, &e, c->set, BASE_BIT, c->t.rank),
           x = each_read(w, &e, value, (Base)c->t.base, c->t.rank),
           y = each_read(w, &e, c->all, (Base)c->t.base, c->t.rank);
  uint32_t one = each_number(w, &e, 1), zero = each_number(w, &e, 0);
  uint32_t other = scalar_fn(w, &e.loop, FN_ne, x, y, 0);
  uint32_t second =
      scalar_fn(w, &e.loop, FN_select, b, scalar_fn(w, &e.loop, FN_select, other, one, zero), zero);
  scalar_fn(w, &e.loop, FN_select, a, second, zero);
  return each_make(w, c->to, &e);
}

static Id binary_loop(const ConflictFold *c, Type t, Fn fn, Id a, Id b) {
  Each e = each_of(c->w, t);
  uint32_t x = each_read(c->w, &e, a, (Base)t.base, t.rank),
           y = each_read(c->w, &e, b, (Base)t.base, t.rank);
  uint32_t both =
      scalar_fn(c->w, &e.loop, fn, x, y, 0); // first, because it may reallocate the scalars
  e.loop.scalar[both].base = t.base;
  return each_make(c->w, c->to, &e);
}

static Id chosen_at(const ConflictFold *c, Id bits, Id yes, Id no) {
  Each e = each_of(c->w, c->t);
  uint32_t b = each_read(c->w, &e, bits, BASE_BIT, c->t.rank),
           x = each_read(c->w, &e, yes, (Base)c->t.base, c->t.rank),
           y = each_read(c->w, &e, no, (Base)c->t.base, c->t.rank);
  uint32_t one = scalar_fn(c->w, &e.loop, FN_select, b, x, y);
  e.loop.scalar[one].base = c->t.base;
  return each_make(c->w, c->to, &e);
}

static void add_line(ConflictFold *c, Id when, Id named, Id value) {
  Id bits = line_bits(c, when, named);
  if (c->set) {
    Id now = differs(c, bits, value);
    c->count = c->count ? binary_loop(c, with_base(c->t, BASE_R), FN_add, c->count, now) : now;
  }
  c->all = c->set ? chosen_at(c, bits, value, c->all) : value;
  c->set = c->set ? binary_loop(c, with_base(c->t, BASE_BIT), FN_or, c->set, bits) : bits;
}

static Id sum_of(World *w, Diagram *d, Id x) {
  Type t = d->wire.at[x].type, number = {.base = BASE_R};
  if (!t.rank) return x;
  Loop *loop = loop_over(w, &t);
  loop->combine = SUM;
  loop->out = (Access){0};
  loop->nin = 1;
  loop->in = NEW_ARRAY(w->arena, Access, 1);
  loop->in[0] = access_from(w, 0, t.rank);
  scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = 0});
  return box_loop(w, d, loop, &x, 1, number, 0);
}

// x at ticks that are multiples of `every`, 0 at others.
static Id when_due(World *w, Diagram *d, Id x, Id time, double every) {
  Each e = each_of(w, (Type){.base = BASE_R});
  uint32_t a = each_read(w, &e, x, BASE_R, 0), clock = each_read(w, &e, time, BASE_R, 0);
  uint32_t rest = scalar_fn(w, &e.loop, FN_mod, clock, each_number(w, &e, every), 0);
  uint32_t now = scalar_fn(w, &e.loop, FN_lt, rest, each_number(w, &e, 0.5), 0);
  scalar_fn(w, &e.loop, FN_select, now, a, each_number(w, &e, 0));
  return each_make(w, d, &e);
}

// The conflicts among lines of one state; jumps conflict only within one level of modes.
static Id group_flag(World *w, const System *s, Diagram *to, const Id *map, uint32_t first) {
  const SystemWriter *of = &s->writer.at[first];
  ConflictFold c = {.w = w, .to = to, .t = s->d->wire.at[of->value].type};
  for (uint32_t i = 0; i < s->writer.n; i++) {
    const SystemWriter *x = &s->writer.at[i];
    if (x->group != of->group || x->level != of->level) continue;
    if (i < first) return 0; // done before
    add_line(&c, x->when ? map[x->when] : 0, x->named ? map[x->named] : 0, map[x->value]);
  }
  return c.count ? sum_of(w, to, c.count) : 0;
}

Id conflict_flag(World *w, const System *s, Diagram *to, const Id *map, Id time) {
  Each zero = each_of(w, (Type){.base = BASE_R});
  each_number(w, &zero, 0);
  Id all = each_make(w, to, &zero);
  ConflictFold c = {.w = w, .to = to};
  for (uint32_t i = 0; i < s->writer.n; i++) {
    Id one = group_flag(w, s, to, map, i);
    double every = s->writer.at[i].every;
    if (one && every > 1) one = when_due(w, to, one, time, every);
    if (one) all = binary_loop(&c, (Type){.base = BASE_R}, FN_add, all, one);
  }
  return all;
}

// -- stopped systems ------------------------------------------------------------------------------
static Id how_many_go(World *w, Diagram *to, Id stopped) {
  Each e = each_of(w, with_base(to->wire.at[stopped].type, BASE_R));
  uint32_t bit = each_read(w, &e, stopped, BASE_BIT, e.t.rank), no = each_number(w, &e, 0);
  scalar_fn(w, &e.loop, FN_select, bit, no, each_number(w, &e, 1));
  return sum_of(w, to, each_make(w, to, &e));
}

Id going_flag(World *w, const System *s, Diagram *to, const Id *map) {
  ConflictFold c = {.w = w, .to = to};
  Id all = how_many_go(w, to, map[s->halt.at[0].is]);
  for (uint32_t i = 1; i < s->halt.n; i++)
    all = binary_loop(&c, (Type){.base = BASE_R}, FN_add, all,
                      how_many_go(w, to, map[s->halt.at[i].is]));
  return all;
}

// -- reporting ------------------------------------------------------------------------------------
Engine *conflict_engine(const Sim *m) {
  Ids wire = {0};
  for (uint32_t i = 0; i < m->s->writer.n; i++) {
    const SystemWriter *x = &m->s->writer.at[i];
    vec_push(m->arena, &wire, x->value);
    if (x->when) vec_push(m->arena, &wire, x->when);
    if (x->named) vec_push(m->arena, &wire, x->named);
  }
  return wire.n ? sim_engine(m, pick_wires(m->w, m->s, wire.at, wire.n)) : NULL;
}

typedef struct {
  bool *sets;    // [element]
  double *value; // [element]
} WriterRow;

static int64_t set_cells(const Sim *m, const SystemWriter *x) {
  return sim_cells(m, &m->s->d->wire.at[x->value].type);
}

static WriterRow writer_row(const Sim *m, Engine *e, const SystemWriter *x, uint32_t *out) {
  int64_t n = set_cells(m, x), some = n;
  WriterRow r = {NEW_ARRAY(m->arena, bool, n + 1), NEW_ARRAY(m->arena, double, n + 1)};
  double *bits = NEW_ARRAY(m->arena, double, n + 1);
  engine_get(e, (*out)++, r.value, n);
  for (int64_t k = 0; k < n; k++) r.sets[k] = true;
  if (x->when) {
    some = sim_cells(m, &m->s->d->wire.at[x->when].type);
    engine_get(e, (*out)++, bits, some);
    for (int64_t k = 0; k < n; k++) r.sets[k] &= bits[k / (n / some)] != 0;
  }
  if (x->named) {
    engine_get(e, (*out)++, bits, n);
    for (int64_t k = 0; k < n; k++) r.sets[k] &= bits[k] != 0;
  }
  return r;
}

static const char *value_words(const Sim *m, const SystemWriter *x, double value) {
  if (x->jump) return arena_format(m->arena, "`%s`", name_text(m->w->names, x->jump));
  const Type *t = &m->s->d->wire.at[x->value].type;
  const Ids *names = t->names ? &m->w->label_names.at[t->names] : NULL;
  if (names && value >= 0 && value < names->n)
    return arena_format(m->arena, "`%s`", name_text(m->w->names, names->at[(uint32_t)value]));
  return arena_format(m->arena, "%.10g", value);
}

static bool report_lines(const Sim *m, const SystemWriter *one, const SystemWriter *other,
                         int64_t place, const double value[2], const char *when) {
  World *w = m->w;
  Id e = diag_error(w->diags, other->span, "two lines set `%s` at %s: one to %s, one to %s",
                    sim_place_of(m, one->path, &m->s->d->wire.at[one->value].type, place), when,
                    value_words(m, one, value[0]), value_words(m, other, value[1]));
  diag_note(w->diags, e, one->span, "the other one");
  diag_help(w->diags, e,
            "let one of the conditions exclude the other, or write one line: `… when … else …`");
  return false;
}

static bool find_conflict(const Sim *m, Engine *e, TicksNow *ticks, const void *context,
                          const char *when) {
  const System *s = m->s;
  WriterRow *row = NEW_ARRAY(m->arena, WriterRow, s->writer.n + 1);
  uint32_t out = 0;
  for (uint32_t i = 0; i < s->writer.n; i++) row[i] = writer_row(m, e, &s->writer.at[i], &out);
  for (uint32_t i = s->writer.n; i-- > 0;) { // lines are stored from last to first
    const SystemWriter *a = &s->writer.at[i];
    int64_t n = set_cells(m, a);
    for (uint32_t k = i; k-- > 0 && s->writer.at[k].group == a->group;) {
      const SystemWriter *b = &s->writer.at[k];
      if (b->level != a->level || !ticks(context, a)) continue;
      for (int64_t j = 0; j < n; j++)
        if (row[i].sets[j] && row[k].sets[j] && row[i].value[j] != row[k].value[j])
          return report_lines(m, a, b, j, (double[2]){row[i].value[j], row[k].value[j]}, when);
    }
  }
  return true;
}

bool conflict_report(const Sim *m, Engine *e, TicksNow *ticks, const void *context,
                     const char *when) {
  Sim scratch = *m;
  scratch.arena = arena_child(m->arena);
  bool good = find_conflict(&scratch, e, ticks, context, when);
  arena_free(scratch.arena);
  return good;
}
