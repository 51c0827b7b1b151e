// Makes the scheme of a body: units and wires.
//
// A pair of boxes is one unit, a moved box two. Long unchanged stretches are folded into one unit
// if something else has changed; so are consecutive repetitions that look alike.
#include "base/hash.h"
#include "show/diff/picture_own.h"

enum {
  STRETCH = 6,
  PERIOD_MOST = 16,
  TURNS_LEAST = 2,
  EVERYTHING = 60,
  NAME_MOST = 28,
  WORDS_MOST = 48
};

typedef struct {
  DiffScheme *s;
  const DiffBody *d;
  const DiffDistances *far;
  uint32_t *unit[2]; // [box of the outline] its unit
  uint32_t *input;   // [input] + 1
  uint32_t boxes;    // units before this one are boxes
  bool words;        // boxes are statements
} UnitMaker;

// -- boxes ----------------------------------------------------------------------------------------
static const char *cut_name(Arena *a, const char *text) {
  return text ? text_letters(a, text, NAME_MOST) : NULL;
}

static void put_line(DiffUnit *u, const char *text) {
  for (uint32_t i = 0; i + 1 < UNIT_LINES && text && *text; i++)
    if (!u->line[i]) {
      u->line[i] = text;
      return;
    }
}

static const char *changed_or(Arena *a, const char *x, const char *y) {
  return diff_change(a, cut_name(a, x), cut_name(a, y), "→");
}

static DiffUnit box_unit(UnitMaker *m, const DiffBox *box, uint8_t sides) {
  Arena *a = m->s->arena;
  const OutlineBox *x = sides & SIDE_FIRST ? box->a : NULL,
                   *y = sides & SIDE_SECOND ? box->b : NULL;
  const OutlineBox *own = x ? x : y;
  DiffUnit u = {.sides = sides, .changed = box->mark == DIFF_CHANGED};
  double far = m->far && sides == SIDE_BOTH ? m->far->distance(m->far->context, own->name) : -1;
  bool both = x && y;
  if (m->words) { // old and new text below each other
    put_line(&u, text_letters(a, own->name, WORDS_MOST));
    if (both && strcmp(x->name, y->name) != 0)
      put_line(&u, arena_format(a, "→ %s", text_letters(a, y->name, WORDS_MOST)));
  } else
    put_line(&u, both ? changed_or(a, x->name, y->name) : cut_name(a, own->name));
  put_line(&u, both ? changed_or(a, x->type, y->type) : cut_name(a, own->type));
  if (both && strcmp(x->numbers, y->numbers) != 0)
    put_line(&u,
             changed_or(a, *x->numbers ? x->numbers : "none", *y->numbers ? y->numbers : "none"));
  if (box->mark == DIFF_MOVED) put_line(&u, sides == SIDE_FIRST ? "was here" : "is here now");
  if (both && box->reads && !m->words) put_line(&u, cut_name(a, box->reads));
  if (far > 0) put_line(&u, arena_format(a, "weights: %.2g", far));
  u.word = both ? changed_or(a, x->word, y->word) : cut_name(a, own->word);
  u.look = hash_bytes(HASH_START, &box->mark, sizeof box->mark);
  for (uint32_t i = 1; i < UNIT_LINES && u.line[i]; i++)
    u.look = hash_bytes(u.look, u.line[i], strlen(u.line[i]) + 1);
  u.look = hash_bytes(u.look, own->word, strlen(own->word));
  u.look = hash_bytes(u.look, both ? y->word : "", both ? strlen(y->word) : 0);
  return u;
}

static uint32_t add_unit(UnitMaker *m, DiffUnit u) {
  vec_push(m->s->arena, &m->s->unit, u);
  return m->s->unit.n - 1;
}

// In the order of both sides; a moved box of the second side follows its predecessor there.
static void add_boxes(UnitMaker *m) {
  const DiffBody *d = m->d;
  uint32_t j = 0;
  for (uint32_t i = 0; i <= d->box.n; i++) {
    uint32_t until = d->b->box.n;
    for (uint32_t k = i; k < d->box.n && until == d->b->box.n; k++)
      if (d->box.at[k].b && d->box.at[k].mark != DIFF_MOVED)
        until = (uint32_t)(d->box.at[k].b - d->b->box.at);
    for (; j < until; j++) {
      const DiffBox *box = &d->box.at[d->at_b[j]];
      if (box->mark == DIFF_MOVED) m->unit[1][j] = add_unit(m, box_unit(m, box, SIDE_SECOND));
    }
    if (i == d->box.n) break;
    const DiffBox *box = &d->box.at[i];
    uint8_t sides = box->mark == DIFF_MOVED ? SIDE_FIRST
                    : !box->b               ? SIDE_FIRST
                    : !box->a               ? SIDE_SECOND
                                            : SIDE_BOTH;
    if (box->mark == DIFF_SAME) sides = SIDE_BOTH;
    uint32_t unit = add_unit(m, box_unit(m, box, sides));
    if (box->a) m->unit[0][box->a - d->a->box.at] = unit;
    if (box->b && box->mark != DIFF_MOVED) m->unit[1][box->b - d->b->box.at] = unit;
  }
}

// -- wires ----------------------------------------------------------------------------------------
static void add_wire(UnitMaker *m, uint32_t from, uint32_t to, uint8_t side) {
  DiffScheme *s = m->s;
  if (from == to) return;
  for (uint32_t i = 0; i < s->wire.n; i++)
    if (s->wire.at[i].from == from && s->wire.at[i].to == to) {
      s->wire.at[i].sides |= side;
      return;
    }
  vec_push(s->arena, &s->wire, (DiffWire){.from = from, .to = to, .sides = side});
}

static uint32_t input_unit(UnitMaker *m, int64_t from, uint8_t side) {
  uint32_t k = (uint32_t)(-from - 1);
  const Outline *o = side == SIDE_FIRST ? m->d->a : m->d->b;
  if (!m->input[k]) {
    DiffUnit u = {.port = true, .edge = EDGE_FIRST};
    const char *name = k < o->input.n ? o->input.at[k] : "";
    put_line(&u, *name ? cut_name(m->s->arena, name)
                 : k   ? arena_format(m->s->arena, "in %u", k + 1)
                       : "in");
    m->input[k] = add_unit(m, u) + 1;
  }
  m->s->unit.at[m->input[k] - 1].sides |= side;
  return m->input[k] - 1;
}

static void read_wire(UnitMaker *m, int64_t from, uint32_t to, int side) {
  uint8_t bit = side ? SIDE_SECOND : SIDE_FIRST;
  const Outline *o = side ? m->d->b : m->d->a;
  if (from == NO_BOX || from >= o->box.n) return;
  add_wire(m, from >= 0 ? m->unit[side][from] : input_unit(m, from, bit), to, bit);
}

static void add_wires(UnitMaker *m, int side) {
  const Outline *o = side ? m->d->b : m->d->a;
  for (uint32_t i = 0; i < o->box.n; i++)
    for (uint32_t k = 0; k < o->box.at[i].args; k++)
      read_wire(m, o->box.at[i].in[k], m->unit[side][i], side);
}

static void add_outputs(UnitMaker *m) {
  uint32_t n[2] = {m->d->a->out.n, m->d->b->out.n}, most = n[0] > n[1] ? n[0] : n[1];
  for (uint32_t i = 0; i < most; i++) {
    DiffUnit u = {.port = true, .edge = EDGE_LAST};
    u.sides = (uint8_t)((i < n[0] ? SIDE_FIRST : 0) | (i < n[1] ? SIDE_SECOND : 0));
    put_line(&u, i ? arena_format(m->s->arena, "out %u", i + 1) : "out");
    uint32_t unit = add_unit(m, u);
    if (i < n[0]) read_wire(m, m->d->a->out.at[i], unit, 0);
    if (i < n[1]) read_wire(m, m->d->b->out.at[i], unit, 1);
  }
}

// -- folded ---------------------------------------------------------------------------------------
static bool is_quiet(const DiffUnit *u) { return u->sides == SIDE_BOTH && !u->changed; }

// Replaces the units first … last - 1 by the first of them.
static void fold_units(DiffScheme *s, uint32_t first, uint32_t last, const char *text) {
  DiffUnit *u = &s->unit.at[first];
  u->soft = true;
  u->line[0] = text, u->line[1] = NULL;
  for (uint32_t i = first + 1; i < last; i++) s->unit.at[i].stands = first + 1;
}

// Folds units that are unchanged and surrounded by unchanged ones.
static void fold_quiet(UnitMaker *m) {
  DiffScheme *s = m->s;
  uint32_t changed = 0;
  for (uint32_t i = 0; i < m->boxes; i++) changed += !is_quiet(&s->unit.at[i]);
  if ((!changed || m->words) && m->boxes <= EVERYTHING) return;
  for (uint32_t i = 0; i < m->boxes; i++) {
    uint32_t n = i;
    while (n < m->boxes && is_quiet(&s->unit.at[n]) && !s->unit.at[n].stands) n++;
    if (n - i >= STRETCH)
      fold_units(s, i + 1, n - 1, arena_format(s->arena, "… %u the same", n - i - 2));
    if (n > i) i = n - 1;
  }
}

static bool turns_alike(const DiffScheme *s, uint32_t a, uint32_t b, uint32_t period) {
  for (uint32_t i = 0; i < period; i++)
    if (s->unit.at[a + i].look != s->unit.at[b + i].look || s->unit.at[b + i].stands ||
        s->unit.at[a + i].stands || s->unit.at[b + i].soft)
      return false;
  return true;
}

// The period with which most boxes from here on repeat.
static uint32_t period_at(const UnitMaker *m, uint32_t at, uint32_t *turns) {
  uint32_t best = 0, most = 0;
  for (uint32_t p = 1; p <= PERIOD_MOST && at + 2 * p <= m->boxes; p++) {
    uint32_t n = 1;
    while (at + (n + 1) * p <= m->boxes && turns_alike(m->s, at, at + n * p, p)) n++;
    if (n >= TURNS_LEAST && n * p > most + (best ? 1 : 0)) best = p, most = n * p, *turns = n;
  }
  return best;
}

static void fold_turns(UnitMaker *m) {
  DiffScheme *s = m->s;
  for (uint32_t i = 0; i < m->boxes; i++) {
    uint32_t turns = 0, period = period_at(m, i, &turns);
    if (!period || turns * period < (period > 1 ? 2 * STRETCH : 3)) continue;
    for (uint32_t k = 0; k < turns * period; k++) {
      s->unit.at[i + k].times = turns;
      s->unit.at[i + k].opens = period > 1 && k == 0;
      s->unit.at[i + k].within = period > 1 && k + 1 < period;
      s->unit.at[i + k].closes = period > 1 && k + 1 == period;
      if (k >= period) s->unit.at[i + k].stands = i + k % period + 1;
    }
    i += turns * period - 1;
  }
}

static uint32_t representative(const DiffScheme *s, uint32_t unit) {
  return s->unit.at[unit].stands ? s->unit.at[unit].stands - 1 : unit;
}

// Redirects wires to the units that replace folded ones; wires inside a folded range run forward
// only.
static void wires_folded(UnitMaker *m) {
  DiffScheme *s = m->s;
  DiffScheme old = *s;
  s->wire.at = NULL, s->wire.n = s->wire.cap = 0;
  for (uint32_t i = 0; i < old.wire.n; i++) {
    const DiffWire *w = &old.wire.at[i];
    uint32_t from = representative(s, w->from), to = representative(s, w->to);
    bool around =
        s->unit.at[w->to].stands && s->unit.at[from].times && s->unit.at[to].times && from >= to;
    if (around) continue;
    add_wire(m, from, to, w->sides);
  }
}

// -- all of it ------------------------------------------------------------------------------------
// (dense, relu) × 6: the parentheses are in the first and last box.
static const char *repeated(Arena *a, const DiffUnit *u) {
  const char *word = u->soft ? u->line[0] : u->word;
  if (u->opens) return arena_format(a, "( %s", word);
  if (u->within) return word;
  return arena_format(a, u->closes ? "%s )  × %u" : "%s  × %u", word, u->times);
}

static void finish(DiffScheme *s) {
  for (uint32_t i = 0; i < s->unit.n; i++) {
    DiffUnit *u = &s->unit.at[i];
    Buf words = buf_new(s->arena);
    if (u->times > 1) u->line[0] = repeated(s->arena, u);
    for (uint32_t k = 0; k < UNIT_LINES && u->line[k]; k++)
      buf_printf(&words, "%s%s", k ? ", " : "", u->line[k]);
    u->words = words.at;
  }
}

DiffScheme scheme_of(Arena *arena, const DiffBody *d, const DiffDistances *far) {
  DiffScheme s = {.arena = arena};
  uint32_t in[2] = {d->a->input.n, d->b->input.n};
  UnitMaker m = {.s = &s, .d = d, .far = far, .words = d->a->words || d->b->words};
  m.unit[0] = NEW_ARRAY(arena, uint32_t, d->a->box.n + 1);
  m.unit[1] = NEW_ARRAY(arena, uint32_t, d->b->box.n + 1);
  m.input = NEW_ARRAY(arena, uint32_t, (in[0] > in[1] ? in[0] : in[1]) + 1);
  add_boxes(&m);
  m.boxes = s.unit.n;
  for (int side = 0; side < 2; side++) add_wires(&m, side);
  add_outputs(&m);
  if (!m.words) fold_turns(&m);
  fold_quiet(&m);
  wires_folded(&m);
  finish(&s);
  return s;
}
