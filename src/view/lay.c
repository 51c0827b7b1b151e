// Places for a sketch. In x a picture is a row of sections, each with a place for labels, one where
// strands curve together, one for glyphs and one where they curve apart; stages that touch
// different bundles share a section. In y everything is decided at once, by place.c: strands are
// pulled straight, and kept apart by what stands between them.
//
// Labels stand only where all strands are level, so they cannot meet a curve or a glyph.
#include "view/place.h"
#include "view/sketch.h"

#include <math.h>
#include <stdlib.h>

enum { PITCH = 20, ABOVE_DIVIDER = 10, BELOW_DIVIDER = 20, NEAR = 6, PAD = 6, TITLE = 16 };
enum { STRAIGHT = 300, PORTS = 200, HANG = 100, MEET = 60, LOOSE = 5, CLOSE = 1 }; // weights
enum { MARGIN = 12, ROOM = 14, CURVE_LEAST = 30, CURVE_MOST = 90, FRAME = 8 };

typedef struct { // a thing in a column: strands, glyphs that float, dividers
  uint32_t var;
  double over, under; // how far it reaches
  uint32_t block;
  bool divider;
} Entry;
typedef VEC(Entry) Column;

typedef struct { // a divider, while it lasts
  uint32_t var;
  uint32_t first, last; // sections in whose data it is
  bool into;            // it ends at the glyphs of the last one, not at its data
} Rule;

typedef struct {
  Arena *arena;
  Sketch *s;
  Layout *l;
  Places p;
  uint32_t *maker, *taker; // [bundle] stage + 1; 0: the picture's ends
  uint32_t *rank;          // [bundle] from top to bottom
  uint32_t *level;         // [strand] variables
  uint32_t *mid_in, *mid_out;
  uint32_t *floats; // [stage] first variable of its glyphs that float
  uint32_t sections;
  Table *gaps;
  VEC(Rule) rule;
} Lay;

// -- sections -------------------------------------------------------------------------------------
static void find_ends(Lay *y) {
  const Sketch *s = y->s;
  for (uint32_t k = 0; k < s->stage.n; k++) {
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++) y->taker[s->stage.at[k].in.at[i]] = k + 1;
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++) y->maker[s->stage.at[k].out.at[i]] = k + 1;
  }
}

// A ring of bundles, from top to bottom, that begins and ends at 0.
typedef struct {
  uint32_t *next, *last;
} Ring;

static void insert(const Ring *r, uint32_t after, uint32_t bundle) {
  r->next[bundle] = r->next[after];
  r->last[bundle] = after;
  r->last[r->next[after]] = bundle;
  r->next[after] = bundle;
}

// A stage stands as far left as what it takes allows, and behind what once stood between the things
// that it takes.
static uint32_t earliest(const Lay *y, const Ring *ring, uint32_t k) {
  const Ids *in = &y->s->stage.at[k].in;
  uint32_t at = 0;
  for (uint32_t i = 0; i < in->n; i++) {
    uint32_t maker = y->maker[in->at[i]];
    if (maker && y->l->at[maker - 1] + 1 > at) at = y->l->at[maker - 1] + 1;
  }
  for (uint32_t b = in->at[0]; b != in->at[in->n - 1]; b = ring->next[b])
    if (y->taker[b] != k + 1 && y->taker[b] && y->l->at[y->taker[b] - 1] + 1 > at)
      at = y->l->at[y->taker[b] - 1] + 1;
  return at;
}

// One that takes nothing waits until what it stands beside is there, or comes with it.
static uint32_t earliest_source(const Lay *y, uint32_t k) {
  uint32_t beside = y->s->stage.at[k].beside, maker = beside ? y->maker[beside] : 0;
  if (!maker) return 0;
  return y->l->at[maker - 1] + (y->s->stage.at[maker - 1].in.n > 0);
}

// Does a string end where the last glyphs stand? Then what begins late has a section of its own.
static bool ends_last(const Lay *y) {
  for (uint32_t k = 0; y->s->strings && k < y->s->stage.n; k++) {
    const Stage *t = &y->s->stage.at[k];
    if (y->l->at[k] + 1 == y->sections && !t->out.n && !t->glyph.n) return true;
  }
  return false;
}

// What a stage makes follows the first thing that it takes. One that takes nothing stands just
// before its use.
static void find_sections(Lay *y) {
  const Sketch *s = y->s;
  uint32_t *at = y->l->at, n = 0;
  Ring ring = {NEW_ARRAY(y->arena, uint32_t, s->bundle.n + 1),
               NEW_ARRAY(y->arena, uint32_t, s->bundle.n + 1)};
  for (uint32_t i = 0, after = 0; i < s->in.n; after = s->in.at[i++])
    insert(&ring, after, s->in.at[i]);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    uint32_t after = t->in.n ? t->in.at[0] : t->below ? t->beside : ring.last[t->beside];
    at[k] = t->in.n ? earliest(y, &ring, k) : earliest_source(y, k);
    if (s->apart && t->glyph.n && at[k] < y->sections) at[k] = y->sections;
    if (at[k] + 1 > y->sections) y->sections = at[k] + 1;
    for (uint32_t i = 0; i < t->out.n; after = t->out.at[i++]) insert(&ring, after, t->out.at[i]);
  }
  for (uint32_t b = ring.next[0]; b; b = ring.next[b]) y->rank[b] = ++n, y->l->there[b] = true;
  y->sections += ends_last(y);
  for (uint32_t k = s->stage.n; k-- > 0;) {
    if (s->stage.at[k].in.n || s->stage.at[k].early) continue;
    uint32_t next = y->sections;
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++) {
      uint32_t taker = y->taker[s->stage.at[k].out.at[i]];
      if (taker && at[taker - 1] < next) next = at[taker - 1];
    }
    at[k] = next ? next - 1 : 0;
  }
}

static void find_lives(Lay *y) {
  const Sketch *s = y->s;
  for (uint32_t b = 1; b < s->bundle.n; b++)
    for (uint32_t i = 0; i < s->bundle.at[b].n; i++) {
      uint32_t x = strand_at(s, b, i);
      y->l->born[x] = y->maker[b] ? y->l->at[y->maker[b] - 1] + 1 : 0;
      y->l->dies[x] = y->taker[b] ? y->l->at[y->taker[b] - 1] : y->sections;
    }
}

// -- the order at the glyphs ----------------------------------------------------------------------
// What a stage does, as items from top to bottom: a strand that passes (with those that merge into
// it), a glyph with its ports, a cup, an end. Their order is the one with the fewest crossings
// before and behind.
typedef struct {
  Ids in, out;
  const Glyph *glyph;
} Item;
typedef VEC(Item) Items;

static Item *item_with_out(Items *items, uint32_t strand) {
  for (uint32_t i = 0; i < items->n; i++)
    if (ids_find(&items->at[i].out, strand) < items->at[i].out.n) return &items->at[i];
  return NULL;
}

static Items items_of(Lay *y, const Stage *t) {
  Items items = {0};
  Arena *a = y->arena;
  for (uint32_t i = 0; i < t->glyph.n; i++) {
    const Glyph *g = &t->glyph.at[i];
    if (g->kind != GLYPH_WISE) vec_push(a, &items, (Item){.in = g->in, .out = g->out, .glyph = g});
  }
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *k = &t->link.at[i];
    Item *made = k->kind == LINK_MERGE ? item_with_out(&items, k->to) : NULL;
    Item item = {0};
    if (k->kind == LINK_COPY) continue; // it begins on another strand
    if (made) {                         // the lowest goes straight on
      vec_push(a, &made->in, k->a);
      continue;
    }
    if (k->kind != LINK_BEGIN) vec_push(a, &item.in, k->a);
    if (k->kind == LINK_CUP) vec_push(a, &item.in, k->to);
    if (k->kind != LINK_CUP && k->kind != LINK_END) vec_push(a, &item.out, k->to);
    vec_push(a, &items, item);
  }
  return items;
}

static Ids strands_of(Lay *y, const Ids *bundles) {
  Ids all = {0};
  for (uint32_t i = 0; i < bundles->n; i++)
    for (uint32_t k = 0; k < y->s->bundle.at[bundles->at[i]].n; k++)
      vec_push(y->arena, &all, strand_at(y->s, bundles->at[i], k));
  return all;
}

// Pairs of strands of two items that stand the other way round outside.
static uint32_t pair_crossings(const Ids *upper, const Ids *lower, const Ids *outside) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < upper->n; i++)
    for (uint32_t k = 0; k < lower->n; k++)
      n += ids_find(outside, upper->at[i]) > ids_find(outside, lower->at[k]);
  return n;
}

static double middle(const Ids *own, const Ids *outside, double other) {
  double sum = 0;
  for (uint32_t i = 0; i < own->n; i++) sum += ids_find(outside, own->at[i]);
  return own->n ? sum / own->n / (outside->n ? outside->n : 1) : other;
}

// First by the middle of where their strands are, then neighbours change places while that helps.
static void order_items(Lay *y, Items *items, const Ids *before, const Ids *behind) {
  double *key = NEW_ARRAY(y->arena, double, items->n + 1);
  for (uint32_t i = 0; i < items->n; i++) {
    double in = middle(&items->at[i].in, before, -1), out = middle(&items->at[i].out, behind, in);
    key[i] = in < 0 ? out : (in + out) / 2;
  }
  for (uint32_t i = 1; i < items->n; i++)
    for (uint32_t k = i; k && key[k - 1] > key[k]; k--) {
      Item item = items->at[k];
      double x = key[k];
      items->at[k] = items->at[k - 1], items->at[k - 1] = item;
      key[k] = key[k - 1], key[k - 1] = x;
    }
  bool moved = true;
  for (uint32_t round = 0; moved && round < items->n; round++) {
    moved = false;
    for (uint32_t k = 1; k < items->n; k++) {
      Item *u = &items->at[k - 1], *v = &items->at[k], item = *u;
      uint32_t now =
          pair_crossings(&u->in, &v->in, before) + pair_crossings(&u->out, &v->out, behind);
      uint32_t then =
          pair_crossings(&v->in, &u->in, before) + pair_crossings(&v->out, &u->out, behind);
      if (then >= now) continue;
      *u = *v, *v = item;
      moved = true;
    }
  }
}

// -- heights --------------------------------------------------------------------------------------
static uint32_t var_new(Lay *y) { return y->p.n++; }

static bool same_order(const Ids *a, const Ids *b) {
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->at[i] != b->at[i]) return false;
  return true;
}

// The strands of all items in order, without those that end on another one or begin there.
static Ids side(Lay *y, const Items *items, bool out) {
  Ids all = {0};
  for (uint32_t i = 0; i < items->n; i++) {
    const Item *m = &items->at[i];
    const Ids *ids = out ? &m->out : &m->in;
    bool merge = !out && !m->glyph && m->out.n && m->in.n > 1;
    for (uint32_t k = merge ? ids->n - 1 : 0; k < ids->n; k++) vec_push(y->arena, &all, ids->at[k]);
  }
  return all;
}

static Ids only(Lay *y, const Ids *from, const Ids *which) {
  Ids all = {0};
  for (uint32_t i = 0; i < from->n; i++)
    if (ids_find(which, from->at[i]) < which->n) vec_push(y->arena, &all, from->at[i]);
  return all;
}

static void pull(Lay *y, uint32_t a, uint32_t b, double offset, int64_t weight) {
  if (a != b) vec_push(y->arena, &y->p.pull, (Pull){a, b, (int64_t)offset, weight});
}

// Variables of a stage: where nothing changes its order, a strand is level up to the glyphs.
static void stage_variables(Lay *y, uint32_t k, const Items *items) {
  const Stage *t = &y->s->stage.at[k];
  Ids before = strands_of(y, &t->in), behind = strands_of(y, &t->out);
  Ids left = side(y, items, false), right = side(y, items, true);
  Ids own = only(y, &before, &left), made = only(y, &behind, &right);
  bool gather = !same_order(&own, &left), spread = !same_order(&made, &right);
  for (uint32_t i = 0; i < left.n; i++) {
    uint32_t x = left.at[i];
    y->mid_in[x] = gather ? var_new(y) : y->level[x];
    pull(y, y->level[x], y->mid_in[x], 0, STRAIGHT);
  }
  for (uint32_t i = 0; i < items->n; i++) {
    const Item *m = &items->at[i];
    bool pass = !m->glyph && m->out.n == 1 && m->in.n;
    for (uint32_t j = 0; j < m->out.n; j++) {
      uint32_t x = m->out.at[j];
      y->mid_out[x] = pass ? y->mid_in[m->in.at[m->in.n - 1]] : var_new(y);
      y->level[x] = spread ? var_new(y) : y->mid_out[x];
      pull(y, y->level[x], y->mid_out[x], 0, STRAIGHT);
    }
  }
  for (uint32_t i = 0; i < behind.n; i++) // copies
    if (y->level[behind.at[i]] == UINT32_MAX) y->level[behind.at[i]] = var_new(y);
}

static void stage_pulls(Lay *y, uint32_t k, const Items *items) {
  const Stage *t = &y->s->stage.at[k];
  for (uint32_t i = 0; i < items->n; i++) {
    const Item *m = &items->at[i];
    for (uint32_t a = 0; m->glyph && a < m->in.n; a++)
      for (uint32_t b = 0; b < m->out.n; b++)
        pull(y, y->mid_in[m->in.at[a]], y->mid_out[m->out.at[b]], 0,
             PORTS / (int64_t)(m->in.n * m->out.n));
    if (!m->glyph && m->out.n && m->in.n > 1)
      for (uint32_t a = 0; a + 1 < m->in.n; a++)
        pull(y, y->level[m->in.at[a]], y->mid_out[m->out.at[0]], 0, LOOSE);
    if (!m->glyph && !m->out.n && m->in.n == 2)
      pull(y, y->mid_in[m->in.at[0]], y->mid_in[m->in.at[1]], PITCH, MEET);
  }
  for (uint32_t i = 0; i < t->link.n; i++)
    if (t->link.at[i].kind == LINK_COPY)
      pull(y, y->level[t->link.at[i].a], y->level[t->link.at[i].to], 0, LOOSE);
}

// -- columns --------------------------------------------------------------------------------------
// What stands one above the other somewhere in the picture must keep its distance there.
static uint32_t parent(const Lay *y, uint32_t block) { return y->s->block.at[block].parent; }

static uint32_t depth(const Lay *y, uint32_t block) {
  uint32_t n = 0;
  for (; block; block = parent(y, block)) n++;
  return n;
}

static uint32_t common_block(const Lay *y, uint32_t a, uint32_t b) {
  while (a != b) {
    if (depth(y, a) >= depth(y, b))
      a = parent(y, a);
    else
      b = parent(y, b);
  }
  return a;
}

static double title_room(const Lay *y, uint32_t block) {
  const Block *b = &y->s->block.at[block];
  return PAD + (b->title || b->times ? TITLE : 0);
}

static double foot_room(const Lay *y, uint32_t block) {
  return PAD + (y->s->block.at[block].from ? TITLE : 0);
}

// Frames that end below the upper thing, and those that begin above the lower one.
static double frames_between(const Lay *y, uint32_t upper, uint32_t lower) {
  double sum = 0;
  uint32_t both = common_block(y, upper, lower);
  for (uint32_t b = upper; b != both; b = parent(y, b)) sum += foot_room(y, b);
  for (uint32_t b = lower; b != both; b = parent(y, b)) sum += title_room(y, b);
  return sum;
}

static void keep_apart(Lay *y, const Entry *upper, const Entry *lower) {
  double base = upper->divider ? BELOW_DIVIDER : lower->divider ? ABOVE_DIVIDER : PITCH;
  double reach = upper->under + NEAR + lower->over;
  double frames = frames_between(y, upper->block, lower->block);
  int64_t least = (int64_t)ceil((base > reach ? base : reach) + frames);
  uint32_t key[2] = {upper->var, lower->var};
  if (upper->var == lower->var) return;
  uint32_t at = table_get(y->gaps, key, sizeof key);
  if (at) {
    if (y->p.gap.at[at - 1].least < least) y->p.gap.at[at - 1].least = least;
    return;
  }
  vec_push(y->arena, &y->p.gap, (Gap){upper->var, lower->var, least});
  table_put(y->gaps, key, sizeof key, y->p.gap.n);
  pull(y, upper->var, lower->var, (double)least, CLOSE);
}

static void column_apart(Lay *y, const Column *c) {
  for (uint32_t i = 1; i < c->n; i++) keep_apart(y, &c->at[i - 1], &c->at[i]);
}

// The innermost block that a bundle runs inside of.
static uint32_t bundle_block(const Lay *y, uint32_t b) {
  uint32_t maker = y->maker[b], taker = y->taker[b];
  if (!maker || !taker) return 0;
  return common_block(y, y->s->stage.at[maker - 1].block, y->s->stage.at[taker - 1].block);
}

static void put_bundle(Lay *y, Column *c, uint32_t b) {
  for (uint32_t i = 0; i < y->s->bundle.at[b].n; i++)
    vec_push(y->arena, c,
             (Entry){.var = y->level[strand_at(y->s, b, i)], .block = bundle_block(y, b)});
}

// How far a glyph reaches beyond its first and last port.
static double overhang(const Glyph *g, uint32_t ports) {
  double rest = (glyph_height(g) - PITCH * (double)(ports ? ports - 1 : 0)) / 2;
  return rest > NEAR ? rest : NEAR;
}

static void put_item(Lay *y, Column *c, const Item *m, uint32_t block, bool out) {
  const Ids *ids = out ? &m->out : &m->in;
  bool merge = !out && !m->glyph && m->out.n && m->in.n > 1;
  for (uint32_t i = merge ? ids->n - 1 : 0; i < ids->n; i++) {
    Entry e = {.var = out ? y->mid_out[ids->at[i]] : y->mid_in[ids->at[i]], .block = block};
    if (m->glyph && i == 0) e.over = overhang(m->glyph, ids->n) + lens_stub(m->glyph);
    if (m->glyph && i + 1 == ids->n) e.under = overhang(m->glyph, ids->n);
    vec_push(y->arena, c, e);
  }
}

// A glyph that floats stands above the first strand of the bundle that comes out.
static void put_floats(Lay *y, Column *c, uint32_t k, uint32_t strand) {
  const Stage *t = &y->s->stage.at[k];
  for (uint32_t g = 0, n = 0; g < t->glyph.n; g++) {
    const Glyph *glyph = &t->glyph.at[g];
    if (glyph->kind != GLYPH_WISE) continue;
    uint32_t var = y->floats[k] + n++;
    if (strand != strand_at(y->s, glyph->over, 0)) continue;
    double half = glyph_height(glyph) / 2;
    vec_push(y->arena, c, (Entry){.var = var, .over = half, .under = half, .block = t->block});
    pull(y, var, y->mid_out[strand], half + NEAR, HANG);
  }
}

typedef struct { // what stands in one place of a section's glyphs: a stage, or a bundle that passes
  uint32_t stage, bundle, rank; // stage + 1
} Group;
typedef VEC(Group) Groups;

static int by_rank(const void *a, const void *b) {
  uint32_t x = ((const Group *)a)->rank, z = ((const Group *)b)->rank;
  return x < z ? -1 : x > z;
}

static void put_group(Lay *y, Column *c, const Group *g, Items *const *items, bool out) {
  if (!g->stage) {
    put_bundle(y, c, g->bundle);
    return;
  }
  const Items *list = items[g->stage - 1];
  for (uint32_t i = 0; i < list->n; i++) {
    const Item *m = &list->at[i];
    if (m->out.n) put_floats(y, c, g->stage - 1, m->out.at[0]);
    put_item(y, c, m, y->s->stage.at[g->stage - 1].block, out);
  }
}

// -- sections, one after the other ----------------------------------------------------------------
typedef struct {
  Ids *row;       // [section] bundles from top to bottom
  Groups *group;  // [section]
  Items **items;  // [stage]
  Table *carried; // two neighbours of the next row: the rule between them + 1
} Grid;

static void find_rows(Lay *y, Grid *r) {
  const Sketch *s = y->s;
  Groups all = {0};
  for (uint32_t b = 1; b < s->bundle.n; b++)
    if (y->rank[b]) vec_push(y->arena, &all, (Group){.bundle = b, .rank = y->rank[b]});
  if (all.n) qsort(all.at, all.n, sizeof *all.at, by_rank);
  for (uint32_t i = 0; i < all.n; i++) {
    uint32_t b = all.at[i].bundle, maker = y->maker[b], taker = y->taker[b];
    uint32_t born = maker ? y->l->at[maker - 1] + 1 : 0;
    uint32_t dies = taker ? y->l->at[taker - 1] : y->sections;
    for (uint32_t k = born; k <= dies; k++) vec_push(y->arena, &r->row[k], b);
    for (uint32_t k = born; k < dies; k++) vec_push(y->arena, &r->group[k], all.at[i]);
  }
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    uint32_t first = t->in.n ? t->in.at[0] : t->out.n ? t->out.at[0] : 0;
    vec_push(y->arena, &r->group[y->l->at[k]], (Group){.stage = k + 1, .rank = y->rank[first]});
  }
  for (uint32_t k = 0; k < y->sections; k++)
    if (r->group[k].n) qsort(r->group[k].at, r->group[k].n, sizeof(Group), by_rank);
}

static uint32_t rule_between(Lay *y, Grid *r, uint32_t section, uint32_t a, uint32_t b) {
  uint32_t key[2] = {a, b}, at = section ? table_get(r->carried, key, sizeof key) : 0;
  if (at) return at - 1;
  vec_push(y->arena, &y->rule, (Rule){.var = var_new(y), .first = section, .last = section});
  return y->rule.n - 1;
}

static uint32_t group_of(const Lay *y, const Groups *groups, uint32_t section, uint32_t b) {
  for (uint32_t i = 0; i < groups->n; i++) {
    const Group *g = &groups->at[i];
    if (g->stage ? y->taker[b] == g->stage && y->l->at[g->stage - 1] == section : g->bundle == b)
      return i;
  }
  return UINT32_MAX;
}

// What comes out of a group, at its top or bottom; 0: nothing.
static uint32_t comes_out(const Lay *y, const Group *g, bool last) {
  if (!g->stage) return g->bundle;
  const Ids *out = &y->s->stage.at[g->stage - 1].out;
  return out->n ? out->at[last ? out->n - 1 : 0] : 0;
}

static bool are_neighbours(const Ids *row, uint32_t a, uint32_t b) {
  for (uint32_t i = 1; a && b && i < row->n; i++)
    if (row->at[i - 1] == a && row->at[i] == b) return true;
  return false;
}

// The data of a section: bundles with rules between them. Rules go on to the next row if what they
// divide does; others end at the glyphs.
static void data_column(Lay *y, Grid *r, uint32_t section, Ids *rules) {
  Column c = {0};
  const Ids *row = &r->row[section];
  for (uint32_t i = 0; i < row->n; i++) {
    if (i) {
      uint32_t rule = rule_between(y, r, section, row->at[i - 1], row->at[i]);
      uint32_t block =
          common_block(y, bundle_block(y, row->at[i - 1]), bundle_block(y, row->at[i]));
      y->rule.at[rule].last = section;
      vec_push(y->arena, rules, rule);
      vec_push(y->arena, &c, (Entry){.var = y->rule.at[rule].var, .divider = true, .block = block});
    }
    put_bundle(y, &c, row->at[i]);
  }
  column_apart(y, &c);
}

static void carry_rules(Lay *y, Grid *r, uint32_t section, const Ids *rules, Ids *under) {
  const Ids *row = &r->row[section];
  const Groups *groups = &r->group[section];
  for (uint32_t i = 1; i < row->n; i++) {
    uint32_t a = group_of(y, groups, section, row->at[i - 1]);
    uint32_t b = group_of(y, groups, section, row->at[i]), rule = rules->at[i - 1];
    uint32_t key[2] = {comes_out(y, &groups->at[a], true), comes_out(y, &groups->at[b], false)};
    y->rule.at[rule].into = true;
    if (a == b) continue;
    under->at[a] = rule + 1;
    if (!are_neighbours(&r->row[section + 1], key[0], key[1])) continue;
    y->rule.at[rule].into = false;
    table_put(r->carried, key, sizeof key, rule + 1);
  }
}

static void glyph_column(Lay *y, Grid *r, uint32_t section, const Ids *under, bool out) {
  Column c = {0};
  const Groups *groups = &r->group[section];
  for (uint32_t i = 0; i < groups->n; i++) {
    uint32_t before = c.n;
    put_group(y, &c, &groups->at[i], r->items, out);
    if (!under->at[i] || c.n == before) continue;
    const Rule *rule = &y->rule.at[under->at[i] - 1];
    if (out && rule->into) continue;
    vec_push(y->arena, &c, (Entry){.var = rule->var, .divider = true});
  }
  column_apart(y, &c);
}

// Glyphs one above the other: what goes into one and what comes out of the other keep their
// distance too.
static void glyphs_apart(Lay *y, Grid *r, uint32_t section) {
  const Item *above = NULL;
  uint32_t block = 0;
  for (uint32_t i = 0; i < r->group[section].n; i++) {
    const Group *g = &r->group[section].at[i];
    const Items *items = g->stage ? r->items[g->stage - 1] : NULL;
    if (!items) above = NULL;
    for (uint32_t k = 0; items && k < items->n; k++) {
      const Item *m = &items->at[k];
      uint32_t own = y->s->stage.at[g->stage - 1].block;
      for (uint32_t out = 0; above && m->glyph && out < 2; out++) {
        const Ids *upper = out ? &above->out : &above->in, *lower = out ? &m->in : &m->out;
        if (!upper->n || !lower->n) continue;
        uint32_t a = upper->at[upper->n - 1], b = lower->at[0];
        double under = above->glyph ? overhang(above->glyph, upper->n) : NEAR;
        keep_apart(y, &(Entry){out ? y->mid_out[a] : y->mid_in[a], NEAR, under, block, false},
                   &(Entry){out ? y->mid_in[b] : y->mid_out[b], overhang(m->glyph, lower->n), NEAR,
                            own, false});
      }
      above = m->glyph ? m : NULL;
      block = own;
    }
  }
}

static void constrain(Lay *y, Grid *r) {
  for (uint32_t k = 0; k <= y->sections; k++) {
    Ids rules = {0}, under = {0};
    data_column(y, r, k, &rules);
    if (k == y->sections) return;
    for (uint32_t i = 0; i < r->group[k].n; i++) vec_push(y->arena, &under, 0);
    carry_rules(y, r, k, &rules, &under);
    glyph_column(y, r, k, &under, false);
    glyph_column(y, r, k, &under, true);
    glyphs_apart(y, r, k);
  }
}

// -- x --------------------------------------------------------------------------------------------
static double curve_room(double dy) {
  if (dy < 0.5) return 0;
  double x = 0.45 * dy;
  return x < CURVE_LEAST ? CURVE_LEAST : x > CURVE_MOST ? CURVE_MOST : x;
}

typedef struct {
  double data, gather, glyph, spread;
  bool frame; // a frame may begin behind the data
} Widths;

static void stage_widths(Lay *y, uint32_t k, Widths *w) {
  Layout *l = y->l;
  const Stage *t = &y->s->stage.at[k];
  double in = 0, out = 0;
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *x = &t->link.at[i];
    if (x->kind == LINK_MERGE) in = fmax(in, fabs(l->y[x->a] - l->out[x->to]));
    if (x->kind == LINK_COPY) out = fmax(out, fabs(l->y[x->a] - l->y[x->to]));
    if (x->kind == LINK_CUP) w->glyph = fmax(w->glyph, fabs(l->in[x->a] - l->in[x->to]) / 2 + 14);
    if (x->kind == LINK_MERGE || x->kind == LINK_COPY || x->kind == LINK_END)
      w->glyph = fmax(w->glyph, 8);
  }
  Ids before = strands_of(y, &t->in), behind = strands_of(y, &t->out);
  for (uint32_t i = 0; i < before.n; i++)
    in = fmax(in, fabs(l->y[before.at[i]] - l->in[before.at[i]]));
  for (uint32_t i = 0; i < behind.n; i++)
    out = fmax(out, fabs(l->y[behind.at[i]] - l->out[behind.at[i]]));
  for (uint32_t i = 0; i < t->glyph.n; i++)
    w->glyph = fmax(w->glyph, glyph_width(&t->glyph.at[i]) + 16);
  w->frame |= t->block > 0;
  w->gather = fmax(w->gather, l->gather[k] = curve_room(in));
  w->spread = fmax(w->spread, l->spread[k] = curve_room(out));
}

// A label stands where an axis begins or changes, and at the ends.
static bool is_label_new(const Lay *y, uint32_t x) {
  const Strand *strand = &y->s->strand.at[x];
  uint32_t maker = y->maker[strand->bundle];
  if (!maker) return true;
  const Stage *t = &y->s->stage.at[maker - 1];
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *k = &t->link.at[i];
    if (k->to != x || k->kind == LINK_CUP) continue;
    const char *was = k->kind == LINK_BEGIN ? NULL : y->s->strand.at[k->a].label;
    return !was || strcmp(was, strand->label) != 0;
  }
  for (uint32_t i = 0; i < t->glyph.n; i++) { // what is normalised stays the axis that it is
    const Glyph *g = &t->glyph.at[i];
    uint32_t at = ids_find(&g->out, x);
    bool same = g->kind == GLYPH_NORM || g->kind == GLYPH_SOFTMAX || g->kind == GLYPH_MASK;
    const char *was =
        same && at < g->out.n && at < g->in.n ? y->s->strand.at[g->in.at[at]].label : NULL;
    if (was && strcmp(was, strand->label) == 0) return false;
  }
  return true;
}

static void find_labels(Lay *y, Widths *w) {
  Layout *l = y->l;
  for (uint32_t b = 1; b < y->s->bundle.n; b++)
    for (uint32_t i = 0; y->rank[b] && i < y->s->bundle.at[b].n; i++) {
      uint32_t x = strand_at(y->s, b, i);
      const char *label = y->s->strand.at[x].label;
      bool last = !y->taker[b];
      if (!label || !(last || is_label_new(y, x))) continue;
      uint32_t at =
          last && l->born[x] < y->sections && !is_label_new(y, x) ? y->sections : l->born[x];
      l->label[x] = at + 1;
      w[at].data = fmax(w[at].data, label_width(label) + 12);
    }
}

// Frames that end behind a section keep what follows away.
static bool frame_ends(const Lay *y, uint32_t section) {
  const Sketch *s = y->s;
  for (uint32_t b = 1; b < s->block.n; b++) {
    uint32_t last = 0;
    for (uint32_t k = 0; k < s->stage.n; k++)
      if (common_block(y, s->stage.at[k].block, b) == b && y->l->at[k] > last) last = y->l->at[k];
    if (last == section) return true;
  }
  return false;
}

static void find_x(Lay *y) {
  Layout *l = y->l;
  Widths *w = NEW_ARRAY(y->arena, Widths, y->sections + 1);
  double x = MARGIN, names = 0;
  for (uint32_t i = 0; i < y->s->in.n; i++) {
    const char *name = y->s->bundle.at[y->s->in.at[i]].name;
    if (name) names = fmax(names, name_width(name) + 8);
  }
  x += names;
  for (uint32_t k = 0; k < y->s->stage.n; k++) stage_widths(y, k, &w[l->at[k]]);
  find_labels(y, w);
  for (uint32_t k = 0; k <= y->sections; k++) {
    Section s = {.data = x};
    s.gather =
        s.data + fmax(w[k].data, y->s->room > 0 ? y->s->room : ROOM) + (w[k].frame ? FRAME : 0);
    s.glyph = s.gather + w[k].gather;
    s.spread = s.glyph + w[k].glyph;
    s.end = s.spread + w[k].spread;
    x = s.end + (frame_ends(y, k) ? FRAME : 0);
    vec_push(y->arena, &l->section, s);
  }
  double ends = 0;
  for (uint32_t i = 0; i < y->s->ends.n; i++) ends = fmax(ends, name_width(y->s->ends.at[i]) + 8);
  l->width = l->section.at[y->sections].gather + ends + MARGIN;
}

// -- all ------------------------------------------------------------------------------------------
static void read_heights(Lay *y, const int64_t *place) {
  Layout *l = y->l;
  for (uint32_t x = 1; x < y->s->strand.n; x++) {
    if (y->level[x] == UINT32_MAX) continue;
    l->y[x] = (double)place[y->level[x]];
    l->in[x] = y->mid_in[x] == UINT32_MAX ? l->y[x] : (double)place[y->mid_in[x]];
    l->out[x] = y->mid_out[x] == UINT32_MAX ? l->y[x] : (double)place[y->mid_out[x]];
  }
}

static void place_glyphs(Lay *y, const int64_t *place) {
  Layout *l = y->l;
  for (uint32_t k = 0; k < y->s->stage.n; k++) {
    const Section *s = &l->section.at[l->at[k]];
    const Stage *t = &y->s->stage.at[k];
    for (uint32_t i = 0, n = 0; i < t->glyph.n; i++) {
      Placed p = {.glyph = &t->glyph.at[i], .stage = k, .x = (s->glyph + s->spread) / 2};
      if (p.glyph->kind == GLYPH_WISE) p.y = (double)place[y->floats[k] + n++];
      vec_push(y->arena, &l->placed, p);
    }
  }
  for (uint32_t i = 0; i < y->rule.n && !y->s->strings; i++) {
    const Rule *r = &y->rule.at[i];
    const Section *first = &l->section.at[r->first], *last = &l->section.at[r->last];
    vec_push(y->arena, &l->divider,
             (Divider){first->data,
                       r->into && last->glyph == last->gather ? last->glyph : last->gather,
                       (double)place[r->var]});
  }
}

// Frames: around everything of theirs, with those inside.
static void frame_add(Layout *l, uint32_t block, double x0, double x1, double y0, double y1) {
  l->left[block] = fmin(l->left[block], x0), l->right[block] = fmax(l->right[block], x1);
  l->top[block] = fmin(l->top[block], y0), l->bottom[block] = fmax(l->bottom[block], y1);
}

static void find_frames(Lay *y) {
  Layout *l = y->l;
  for (uint32_t b = 0; b < y->s->block.n; b++)
    l->left[b] = l->top[b] = INFINITY, l->right[b] = l->bottom[b] = -INFINITY;
  for (uint32_t k = 0; k < y->s->stage.n; k++) {
    const Stage *t = &y->s->stage.at[k];
    const Section *s = &l->section.at[l->at[k]];
    Ids before = strands_of(y, &t->in), behind = strands_of(y, &t->out);
    for (uint32_t i = 0; i < before.n; i++)
      frame_add(l, t->block, s->gather, s->end, l->in[before.at[i]] - NEAR,
                l->in[before.at[i]] + NEAR);
    for (uint32_t i = 0; i < behind.n; i++)
      frame_add(l, t->block, s->gather, s->end, l->y[behind.at[i]] - NEAR,
                l->y[behind.at[i]] + NEAR);
  }
  for (uint32_t i = 0; i < l->placed.n; i++) {
    double y0, y1;
    const Placed *p = &l->placed.at[i];
    glyph_extent(l, p, &y0, &y1);
    frame_add(l, y->s->stage.at[p->stage].block, p->x, p->x, y0, y1);
  }
  for (uint32_t b = y->s->block.n; b-- > 1;) {
    l->top[b] -= title_room(y, b), l->bottom[b] += foot_room(y, b);
    l->left[b] -= 8, l->right[b] += 4;
    frame_add(l, parent(y, b), l->left[b], l->right[b], l->top[b], l->bottom[b]);
  }
}

void layout_shift(Layout *l, double x, double y) {
  for (uint32_t i = 0; i < l->s->strand.n; i++) l->y[i] += y, l->in[i] += y, l->out[i] += y;
  for (uint32_t i = 0; i < l->placed.n; i++) l->placed.at[i].x += x, l->placed.at[i].y += y;
  for (uint32_t i = 0; i < l->divider.n; i++) {
    Divider *d = &l->divider.at[i];
    d->x0 += x, d->x1 += x, d->y += y;
  }
  for (uint32_t i = 0; i < l->section.n; i++) {
    Section *s = &l->section.at[i];
    s->data += x, s->gather += x, s->glyph += x, s->spread += x, s->end += x;
  }
  for (uint32_t b = 0; b < l->s->block.n; b++)
    l->top[b] += y, l->bottom[b] += y, l->left[b] += x, l->right[b] += x;
}

static Layout *layout_new(Arena *a, Sketch *s) {
  Layout *l = NEW(a, Layout);
  l->s = s;
  l->at = NEW_ARRAY(a, uint32_t, s->stage.n + 1);
  l->gather = NEW_ARRAY(a, double, s->stage.n + 1);
  l->spread = NEW_ARRAY(a, double, s->stage.n + 1);
  l->there = NEW_ARRAY(a, bool, s->bundle.n);
  l->y = NEW_ARRAY(a, double, s->strand.n);
  l->in = NEW_ARRAY(a, double, s->strand.n);
  l->out = NEW_ARRAY(a, double, s->strand.n);
  l->born = NEW_ARRAY(a, uint32_t, s->strand.n);
  l->dies = NEW_ARRAY(a, uint32_t, s->strand.n);
  l->label = NEW_ARRAY(a, uint32_t, s->strand.n);
  l->top = NEW_ARRAY(a, double, s->block.n);
  l->bottom = NEW_ARRAY(a, double, s->block.n);
  l->left = NEW_ARRAY(a, double, s->block.n);
  l->right = NEW_ARRAY(a, double, s->block.n);
  return l;
}

static void find_variables(Lay *y, Grid *r) {
  const Sketch *s = y->s;
  for (uint32_t x = 0; x < s->strand.n; x++)
    y->level[x] = y->mid_in[x] = y->mid_out[x] = UINT32_MAX;
  Ids in = strands_of(y, &s->in);
  for (uint32_t i = 0; i < in.n; i++) y->level[in.at[i]] = var_new(y);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    Ids before = strands_of(y, &t->in), behind = strands_of(y, &t->out);
    Items items = items_of(y, t);
    order_items(y, &items, &before, &behind);
    r->items[k] = arena_copy(y->arena, &items, sizeof items);
    stage_variables(y, k, &items);
    stage_pulls(y, k, &items);
    y->floats[k] = y->p.n;
    for (uint32_t g = 0; g < t->glyph.n; g++)
      if (t->glyph.at[g].kind == GLYPH_WISE) var_new(y);
  }
}

Layout *lay_out(Arena *a, Sketch *s) {
  sketch_settle(s);
  Layout *l = layout_new(a, s);
  Lay y = {.arena = a, .s = s, .l = l, .gaps = table_new(a)};
  y.maker = NEW_ARRAY(a, uint32_t, s->bundle.n);
  y.taker = NEW_ARRAY(a, uint32_t, s->bundle.n);
  y.rank = NEW_ARRAY(a, uint32_t, s->bundle.n);
  y.level = NEW_ARRAY(a, uint32_t, s->strand.n);
  y.mid_in = NEW_ARRAY(a, uint32_t, s->strand.n);
  y.mid_out = NEW_ARRAY(a, uint32_t, s->strand.n);
  y.floats = NEW_ARRAY(a, uint32_t, s->stage.n + 1);
  find_ends(&y);
  find_sections(&y);
  find_lives(&y);
  Grid r = {.carried = table_new(a)};
  r.row = NEW_ARRAY(a, Ids, y.sections + 1);
  r.group = NEW_ARRAY(a, Groups, y.sections + 1);
  r.items = NEW_ARRAY(a, Items *, s->stage.n + 1);
  find_rows(&y, &r);
  find_variables(&y, &r);
  constrain(&y, &r);
  int64_t *place = NEW_ARRAY(a, int64_t, y.p.n + 1);
  if (!places_solve(a, &y.p, place)) return NULL;
  read_heights(&y, place);
  find_x(&y);
  place_glyphs(&y, place);
  find_frames(&y);
  for (uint32_t x = 1; x < s->strand.n; x++)
    if (l->there[s->strand.at[x].bundle])
      frame_add(l, 0, MARGIN, l->width, l->y[x] - NEAR, l->y[x] + NEAR);
  layout_shift(l, 0, MARGIN + 14 - l->top[0]);
  l->height = l->bottom[0] + MARGIN;
  return l;
}
