// The heights form one optimisation problem. A strand has a variable for its horizontal part, and
// one at the glyphs of each stage that changes the order; otherwise both are the same. Strands are
// pulled straight: passing ones hardest, copies least.
#include "show/layout/lay_own.h"

// weights
enum {
  WORD = 4000,
  MEET = 700,
  STRAIGHT = 300,
  PORTS = 200,
  CUP = 60,
  JOIN = 20,
  LOOSE = 5,
  JOINED = 2
};

uint32_t var_new(Lay *y) { return y->p.n++; }

void add_pull(Lay *y, uint32_t a, uint32_t b, double offset, int64_t weight) {
  if (a != b) vec_push(y->arena, &y->p.pull, (Pull){a, b, (int64_t)offset, weight});
}

static void add_tie(Lay *y, uint32_t a, uint32_t b, double offset) {
  vec_push(y->arena, &y->p.tie, (Tie){a, b, (int64_t)offset});
}

// The strands of all items in order, except those that begin or end on another one.
static Ids item_strands(Lay *y, const Items *items, bool out) {
  Ids all = {0};
  for (uint32_t i = 0; i < items->n; i++) {
    const Item *m = &items->at[i];
    const Ids *ids = out ? &m->out : &m->in;
    if (!out && is_merge(m)) {
      vec_push(y->arena, &all, m->in.at[m->straight]);
      continue;
    }
    for (uint32_t k = 0; k < ids->n; k++) vec_push(y->arena, &all, ids->at[k]);
  }
  return all;
}

// Marks strands that cross no other: their order equals the order in the row.
static bool *uncrossed(const Lay *y, const Ids *strands) {
  bool *is = NEW_ARRAY(y->arena, bool, strands->n + 1);
  uint32_t low = 0, high = UINT32_MAX;
  for (uint32_t i = 0; i < strands->n; i++) {
    uint32_t at = y->where[strands->at[i]] + 1;
    is[i] = at > low;
    if (is[i]) low = at;
  }
  for (uint32_t i = strands->n; i-- > 0;) {
    uint32_t at = y->where[strands->at[i]];
    is[i] = is[i] && at < high;
    if (at < high) high = at;
  }
  return is;
}

static bool has_inset(const Items *items) {
  for (uint32_t i = 0; i < items->n; i++)
    if (items->at[i].glyph && items->at[i].glyph->kind == GLYPH_INSET) return true;
  return false;
}

// The weight of keeping a strand horizontal up to the glyphs; low for concatenated tensors and
// before cups.
static int64_t straightness(const Sketch *s, const Stage *t, uint32_t strand) {
  for (uint32_t i = 0; i < t->glyph.n && t->in.n > 1; i++) {
    const Glyph *g = &t->glyph.at[i];
    if (g->kind == GLYPH_BAR && ids_find(&g->in, strand) < g->in.n)
      return s->strand.at[strand].bundle == t->in.at[0] ? JOIN : JOINED;
  }
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].kind == LINK_CUP && (t->link.at[i].a == strand || t->link.at[i].to == strand))
      return CUP;
  return STRAIGHT;
}

// Creates the variables of a stage: a strand that crosses none keeps its variable. Ports of insets
// are fixed relative to each other, so their strands may bend.
static void stage_variables(Lay *y, uint32_t k) {
  const Stage *t = &y->s->stage.at[k];
  const Items *items = &y->items[k];
  find_where(y, &t->in);
  Ids behind = find_where(y, &t->out);
  Ids left = item_strands(y, items, false), right = item_strands(y, items, true);
  bool inset = has_inset(items);
  const bool *level_in = uncrossed(y, &left), *level_out = uncrossed(y, &right);
  for (uint32_t i = 0; i < left.n; i++) {
    uint32_t x = left.at[i];
    y->mid_in[x] = inset || !level_in[i] ? var_new(y) : y->level[x];
    add_pull(y, y->level[x], y->mid_in[x], 0, straightness(y->s, t, x));
  }
  for (uint32_t i = 0, out = 0; i < items->n; i++) {
    const Item *m = &items->at[i];
    bool pass = !m->glyph && m->out.n == 1 && m->in.n;
    bool through = m->glyph && glyph_is_passed(m->glyph) && m->in.n == m->out.n;
    for (uint32_t j = 0; j < m->out.n; j++) {
      uint32_t x = m->out.at[j];
      y->mid_out[x] = pass      ? y->mid_in[m->in.at[m->straight]]
                      : through ? y->mid_in[m->in.at[j]]
                                : var_new(y);
      y->level[x] = inset || !level_out[out++] ? var_new(y) : y->mid_out[x];
      add_pull(y, y->level[x], y->mid_out[x], 0, STRAIGHT);
    }
  }
  for (uint32_t i = 0; i < behind.n; i++) // copies
    if (y->level[behind.at[i]] == UINT32_MAX) y->level[behind.at[i]] = var_new(y);
}

// -- pulls ----------------------------------------------------------------------------------------
static bool are_same(const Lay *y, const Item *m) {
  for (uint32_t i = 0; i < m->out.n; i++)
    if (!same_label(y->s, m->in.at[i], m->out.at[i])) return false;
  return true;
}

// The number of ports aligned in pairs: all if the numbers agree, those of the first axes if they
// are unchanged, one for a concatenation: the upper. This prevents rows of boxes from drifting.
// Otherwise the results are centred.
static uint32_t level_ports(const Lay *y, const Item *m, uint32_t *first) {
  uint32_t in = m->in.n, out = m->out.n;
  *first = 0;
  if (!in || in < out) return 0;
  if (in == out || are_same(y, m)) return out;
  if (m->glyph->kind != GLYPH_BAR) return 0;
  for (uint32_t i = 1; i < in; i++)
    if (y->where[m->in.at[i]] < y->where[m->in.at[*first]]) *first = i;
  bool joined = y->s->strand.at[m->in.at[0]].bundle != y->s->strand.at[m->in.at[in - 1]].bundle;
  return joined ? 1 : 0;
}

static void pull_ports(Lay *y, const Item *m) {
  uint32_t first, n = level_ports(y, m, &first);
  int64_t weight = m->glyph->kind == GLYPH_REDUCE ? WORD : PORTS; // a word is too low for a bend
  for (uint32_t i = 0; i < n; i++)
    add_pull(y, y->mid_in[m->in.at[first + i]], y->mid_out[m->out.at[i]], 0,
             weight / (int64_t)n + 1);
  for (uint32_t a = 0; !n && a < m->in.n; a++)
    for (uint32_t b = 0; b < m->out.n; b++)
      add_pull(y, y->mid_in[m->in.at[a]], y->mid_out[m->out.at[b]], 0,
               PORTS / (int64_t)(m->in.n * m->out.n) + 1);
}

// Fixes the ports of an inset relative to each other.
static void tie_ports(Lay *y, const Item *m) {
  const Layout *l = m->glyph->inset;
  Ids in = strands_of(&(Lay){.arena = y->arena, .s = l->s}, &l->s->in);
  Ids out = strands_of(&(Lay){.arena = y->arena, .s = l->s}, &l->s->out);
  uint32_t first = 0;
  double top = 0;
  for (uint32_t i = 0; i < in.n + out.n; i++) {
    bool is_in = i < in.n;
    uint32_t var = is_in ? y->mid_in[m->in.at[i]] : y->mid_out[m->out.at[i - in.n]];
    double at = l->y[is_in ? in.at[i] : out.at[i - in.n]];
    if (!i)
      first = var, top = at;
    else
      add_tie(y, first, var, at - top);
  }
}

static void item_pulls(Lay *y, const Item *m) {
  if (m->glyph && m->glyph->kind == GLYPH_INSET)
    tie_ports(y, m);
  else if (m->glyph)
    pull_ports(y, m);
  else if (is_merge(m))
    for (uint32_t a = 0; a < m->in.n; a++)
      add_pull(y, y->level[m->in.at[a]], y->mid_out[m->out.at[0]], 0, LOOSE);
  else if (!m->out.n && m->in.n == 2)
    add_pull(y, y->mid_in[m->in.at[0]], y->mid_in[m->in.at[1]], PITCH, MEET);
}

// Centres what begins on a cup.
static void cup_pulls(Lay *y, const Stage *t) {
  const Link *begin, *cup = stage_cup(t, &begin);
  if (!cup) return;
  uint32_t a = y->mid_in[cup->a], b = y->mid_in[cup->to], x = y->mid_out[begin->to];
  if (y->where[cup->a] > y->where[cup->to]) a = y->mid_in[cup->to], b = y->mid_in[cup->a];
  add_pull(y, a, x, PITCH / 2.0, PORTS);
  add_pull(y, x, b, PITCH / 2.0, PORTS);
}

static void stage_pulls(Lay *y, uint32_t k) {
  const Stage *t = &y->s->stage.at[k];
  for (uint32_t i = 0; i < y->items[k].n; i++) item_pulls(y, &y->items[k].at[i]);
  cup_pulls(y, t);
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].kind == LINK_COPY)
      add_pull(y, y->level[t->link.at[i].a], y->level[t->link.at[i].to], 0, LOOSE);
}

void find_variables(Lay *y) {
  const Sketch *s = y->s;
  for (uint32_t x = 0; x < s->strand.n; x++)
    y->level[x] = y->mid_in[x] = y->mid_out[x] = UINT32_MAX;
  Ids in = strands_of(y, &s->in);
  for (uint32_t i = 0; i < in.n; i++) y->level[in.at[i]] = var_new(y);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    stage_variables(y, k);
    stage_pulls(y, k);
    y->floats[k] = y->p.n;
    for (uint32_t g = 0; g < s->stage.at[k].glyph.n; g++)
      if (s->stage.at[k].glyph.at[g].kind == GLYPH_WISE) var_new(y);
  }
}
