// Write conflicts in discrete time: two lines that set one element to different values at one tick
// are an error that names both. Ticks run as one compiled scan, which only counts conflicts; the
// tick is then run again, line by line.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
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
  Type bits = with_base(c->t, BASE_BIT);
  if (!when && !named) return wire_filled(c->w, c->to, &bits, 1, 0, 0);
  if (when && named) return map_text(c->w, c->to, bits, "and(a, b)", (Id[]){when, named}, 2, 0);
  return map_text(c->w, c->to, bits, "a", when ? &when : &named, 1, 0);
}

static Id differs(const ConflictFold *c, Id bits, Id value) {
  const char *text = "select(a, select(b, select(c != d, 1, 0), 0), 0)";
  return map_text(c->w, c->to, with_base(c->t, BASE_R), text, (Id[]){bits, c->set, value, c->all},
                  4, 0);
}

static Id sum_of_two(World *w, Diagram *to, Id a, Id b) {
  return map_text(w, to, to->wire.at[a].type, "a + b", (Id[]){a, b}, 2, 0);
}

static void add_line(ConflictFold *c, Id when, Id named, Id value) {
  Id bits = line_bits(c, when, named);
  if (c->set) {
    Id now = differs(c, bits, value);
    c->count = c->count ? sum_of_two(c->w, c->to, c->count, now) : now;
  }
  c->all = c->set ? wire_choice(c->w, c->to, bits, value, c->all) : value;
  c->set = c->set ? map_text(c->w, c->to, with_base(c->t, BASE_BIT), "or(a, b)",
                             (Id[]){c->set, bits}, 2, 0)
                  : bits;
}

static Id sum_of(World *w, Diagram *d, Id x) {
  return d->wire.at[x].type.rank ? fold_text(w, d, SUM, "a", &x, 1, 0) : x;
}

// x at ticks that are multiples of `every`, 0 at others.
static Id when_due(World *w, Diagram *d, Id x, Id time, double every) {
  const char *text = arena_format(w->arena, "select(mod(b, %.17g) < 0.5, a, 0)", every);
  return map_text(w, d, (Type){.base = BASE_R}, text, (Id[]){x, time}, 2, 0);
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
  Id all = wire_filled(w, to, &(Type){.base = BASE_R}, 0, 0, 0);
  for (uint32_t i = 0; i < s->writer.n; i++) {
    Id one = group_flag(w, s, to, map, i);
    double every = s->writer.at[i].every;
    if (one && every > 1) one = when_due(w, to, one, time, every);
    if (one) all = sum_of_two(w, to, all, one);
  }
  return all;
}

// -- stopped systems ------------------------------------------------------------------------------
static Id how_many_go(World *w, Diagram *to, Id stopped) {
  Type number = with_base(to->wire.at[stopped].type, BASE_R);
  return sum_of(w, to, map_text(w, to, number, "select(a, 0, 1)", &stopped, 1, 0));
}

Id going_flag(World *w, const System *s, Diagram *to, const Id *map) {
  Id all = how_many_go(w, to, map[s->halt.at[0].is]);
  for (uint32_t i = 1; i < s->halt.n; i++)
    all = sum_of_two(w, to, all, how_many_go(w, to, map[s->halt.at[i].is]));
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
  return diag_help(
      w->diags, e,
      "let one of the conditions exclude the other, or write one line: `… when … else …`");
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
