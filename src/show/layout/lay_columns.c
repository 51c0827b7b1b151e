// Vertical gaps. The picture is cut in each section at the labels, before the glyphs and after
// them; each cut is a column of strands, glyphs and dividers, and neighbours in a column get a gap
// constraint.
#include "base/table.h"
#include "show/layout/lay_own.h"

#include <math.h>
#include <stdlib.h>

enum { HANG = 100, DIVIDER = 40, CLOSE = 1 }; // weights

typedef struct { // an entry of a column: strands, a floating glyph, a divider
  uint32_t var;
  double over, under; // its extent above and below
  uint32_t block;
  bool divider;
  uint32_t upper, lower; // ranks of what it belongs to; of a divider, of what it divides
  double label;          // the height of a label that may be on it; 0: none
  uint32_t bundle;       // if it is a bundle; 0: otherwise
} ColumnEntry;
typedef VEC(ColumnEntry) CutColumn;

typedef struct { // the contents of one slot among a section's glyphs: a stage, or a passing bundle
  uint32_t stage, bundle, rank; // stage + 1
} ColumnGroup;
typedef VEC(ColumnGroup) ColumnGroups;

typedef struct {        // a frame: a closed region
  uint32_t top, bottom; // variables
  BlockReach in;
  uint32_t upper, lower; // ranks of what it contains, or what enters or leaves it
} ClosedSpan;

typedef struct {
  Ids *row;            // [section] bundles from top to bottom
  ColumnGroups *group; // [section]
  uint32_t *in;        // [bundle] its group in the current section
  uint32_t *place;     // [bundle] its index in the next row + 1; 0: absent
  Table *carried;      // two neighbours of the next row: the divider between them + 1
  ClosedSpan *frame;   // [block]
  VEC(Gap) wish;       // gaps around frames; dropped if they contradict other constraints
} ColumnGrid;

// -- distances ------------------------------------------------------------------------------------
double title_room(const Sketch *s, uint32_t block) {
  const Block *b = &s->block.at[block];
  return PAD + (b->title || b->times ? TITLE : 0);
}

double foot_room(const Sketch *s, uint32_t block) {
  return PAD + (s->block.at[block].from ? TITLE : 0);
}

double label_reach(const char *label) {
  return LETTERS + (label && strstr(label, "^{") ? POWER : 0);
}

// Frames that end below the upper entry, and those that begin above the lower one.
static double frames_between(const Sketch *s, uint32_t upper, uint32_t lower) {
  double sum = 0;
  if (upper == lower) return 0;
  uint32_t both = block_of_both(s, upper, lower);
  for (uint32_t b = upper; b != both; b = s->block.at[b].parent) sum += foot_room(s, b);
  for (uint32_t b = lower; b != both; b = s->block.at[b].parent) sum += title_room(s, b);
  return sum;
}

static void keep_apart(Lay *y, const ColumnEntry *upper, const ColumnEntry *lower) {
  double base = upper->divider ? BELOW_DIVIDER : lower->divider ? ABOVE_DIVIDER : PITCH;
  double reach = upper->under + NEAR + lower->over;
  double frames = frames_between(y->s, upper->block, lower->block);
  int64_t least = (int64_t)ceil((base > reach ? base : reach) + frames);
  uint32_t key[2] = {upper->var, lower->var};
  if (upper->var == lower->var) return;
  uint32_t at = table_get(y->gaps, key, sizeof key);
  if (at && y->p.gap.at[at - 1].least < least) y->p.gap.at[at - 1].least = least;
  if (at) return;
  vec_push(y->arena, &y->p.gap, (Gap){upper->var, lower->var, least});
  table_put(y->gaps, key, sizeof key, y->p.gap.n);
  add_pull(y, upper->var, lower->var, (double)least, CLOSE);
}

// -- entries of columns ---------------------------------------------------------------------------
static void put_bundle(Lay *y, CutColumn *c, uint32_t b) {
  const Bundle *k = &y->s->bundle.at[b];
  ColumnEntry e = {.block = k->block, .bundle = b};
  e.upper = e.lower = y->o->rank[b];
  for (uint32_t i = 0; i < k->n; i++) {
    e.var = y->level[k->first + i];
    e.label = label_reach(y->s->strand.at[k->first + i].label);
    vec_push(y->arena, c, e);
  }
}

// How far a glyph extends beyond its first and last port.
static double overhang(const Glyph *g, uint32_t ports) {
  double rest = (glyph_height(g) - PITCH * (double)(ports ? ports - 1 : 0)) / 2;
  return rest > NEAR ? rest : NEAR;
}

static void inset_overhang(const Glyph *g, bool out, double *over, double *under) {
  const Layout *l = g->inset;
  const Ids *ids = out ? &l->s->out : &l->s->in;
  const Bundle *first = &l->s->bundle.at[ids->at[0]], *last = &l->s->bundle.at[ids->at[ids->n - 1]];
  double y0, y1;
  inset_extent(l, &y0, &y1);
  *over = l->y[first->first] - y0;
  *under = y1 - l->y[last->first + last->n - 1];
}

static void reach(const Glyph *g, uint32_t ports, bool out, double *over, double *under) {
  *over = *under = overhang(g, ports);
  *over += lens_stub(g);
  if (g->kind == GLYPH_INSET) inset_overhang(g, out, over, under);
}

// The highest and lowest rank that a stage reads or makes.
static void stage_ranks(const Lay *y, uint32_t k, uint32_t *upper, uint32_t *lower) {
  const Stage *t = &y->s->stage.at[k];
  *upper = UINT32_MAX, *lower = 0;
  for (uint32_t i = 0; i < t->in.n + t->out.n; i++) {
    uint32_t rank = y->o->rank[i < t->in.n ? t->in.at[i] : t->out.at[i - t->in.n]];
    if (rank < *upper) *upper = rank;
    if (rank > *lower) *lower = rank;
  }
}

static void put_item(Lay *y, CutColumn *c, const Item *m, uint32_t block, bool out) {
  const Ids *ids = out ? &m->out : &m->in;
  double over = 0, under = 0;
  if (!out && is_merge(m)) {
    vec_push(y->arena, c, (ColumnEntry){.var = y->mid_in[m->in.at[m->straight]], .block = block});
    return;
  }
  if (m->glyph && ids->n) reach(m->glyph, ids->n, out, &over, &under);
  for (uint32_t i = 0; i < ids->n; i++) {
    ColumnEntry e = {.var = out ? y->mid_out[ids->at[i]] : y->mid_in[ids->at[i]], .block = block};
    if (i == 0) e.over = over;
    if (i + 1 == ids->n) e.under = under;
    vec_push(y->arena, c, e);
  }
}

// A floating glyph is above the first strand of the resulting bundle.
static void put_floating_glyphs(Lay *y, CutColumn *c, uint32_t k, uint32_t strand) {
  const Stage *t = &y->s->stage.at[k];
  for (uint32_t g = 0, n = 0; g < t->glyph.n; g++) {
    const Glyph *glyph = &t->glyph.at[g];
    if (glyph->kind != GLYPH_WISE) continue;
    uint32_t var = y->floats[k] + n++;
    if (strand != strand_at(y->s, glyph->over, 0)) continue;
    double half = glyph_height(glyph) / 2;
    ColumnEntry e = {.var = var, .over = half, .under = half, .block = t->block};
    vec_push(y->arena, c, e);
    add_pull(y, var, y->mid_out[strand], half + NEAR, HANG);
  }
}

static void put_group(Lay *y, CutColumn *c, const ColumnGroup *g, bool out) {
  if (!g->stage) {
    put_bundle(y, c, g->bundle);
    return;
  }
  const Items *list = &y->items[g->stage - 1];
  uint32_t upper, lower, first = c->n;
  for (uint32_t i = 0; i < list->n; i++) {
    const Item *m = &list->at[i];
    if (m->out.n) put_floating_glyphs(y, c, g->stage - 1, m->out.at[0]);
    put_item(y, c, m, y->s->stage.at[g->stage - 1].block, out);
  }
  stage_ranks(y, g->stage - 1, &upper, &lower);
  for (uint32_t i = first; i < c->n; i++) c->at[i].upper = upper, c->at[i].lower = lower;
}

// A divider is in the frames that contain both of its neighbours.
static ColumnEntry rule_entry(const Lay *y, const LayRule *r) {
  const Bundle *all = y->s->bundle.at;
  ColumnEntry e = {.var = r->var, .divider = true};
  e.block = block_of_both(y->s, all[r->upper].block, all[r->lower].block);
  e.upper = y->o->rank[r->upper], e.lower = y->o->rank[r->lower];
  return e;
}

// -- frames ---------------------------------------------------------------------------------------
static void add_gap(Lay *y, uint32_t above, uint32_t below, double least) {
  vec_push(y->arena, &y->p.gap, (Gap){above, below, (int64_t)ceil(least)});
}

static void add_frame_gap(Lay *y, ColumnGrid *r, uint32_t above, uint32_t below, double least) {
  vec_push(y->arena, &r->wish, (Gap){above, below, (int64_t)ceil(least)});
}

// A bundle that enters or leaves a frame is inside it up to where it leaves horizontally.
static bool runs_inside(const Lay *y, const ColumnEntry *e, uint32_t b, const ClosedSpan *f,
                        uint32_t section, bool data) {
  if (block_is_inside(y->s, e->block, b)) return true;
  uint32_t maker = e->bundle ? y->o->maker[e->bundle] : 0;
  uint32_t taker = e->bundle ? y->o->taker[e->bundle] : 0;
  if (data && section == f->in.first) return false;
  if (section > f->in.last && maker && y->o->at[maker - 1] != f->in.last) return false;
  return (maker && block_is_inside(y->s, y->s->stage.at[maker - 1].block, b)) ||
         (taker && block_is_inside(y->s, y->s->stage.at[taker - 1].block, b));
}

// Contents of a frame stay inside, with the title above them. Bundles above or below all contents
// stay outside; bundles between contents pass through the frame.
static void keep_frame_apart(Lay *y, ColumnGrid *r, const CutColumn *c, uint32_t b,
                             uint32_t section, bool data) {
  const ClosedSpan *f = &r->frame[b];
  const ColumnEntry *above = NULL, *below = NULL;
  bool own = false;
  for (uint32_t i = 0; i < c->n; i++) own |= runs_inside(y, &c->at[i], b, f, section, data);
  for (uint32_t i = 0, before = own; i < c->n; i++) {
    const ColumnEntry *e = &c->at[i];
    if (runs_inside(y, e, b, f, section, data)) {
      double over = fmax(e->over, fmax(e->label, NEAR));
      add_gap(y, f->top, e->var, over + title_room(y->s, b));
      add_gap(y, e->var, f->bottom, fmax(e->under, NEAR) + foot_room(y->s, b));
      below = NULL, before = false;
    } else if (own ? before : e->lower < f->upper) {
      above = e;
    } else if (!below && (own || e->upper > f->lower)) {
      below = e;
    }
  }
  if (above) add_frame_gap(y, r, above->var, f->top, fmax(above->under, NEAR) + EDGE);
  if (below)
    add_frame_gap(y, r, f->bottom, below->var, fmax(below->over, fmax(below->label, NEAR)) + EDGE);
}

static void column_apart(Lay *y, ColumnGrid *r, const CutColumn *c, uint32_t section, bool data) {
  for (uint32_t i = 1; i < c->n; i++) keep_apart(y, &c->at[i - 1], &c->at[i]);
  for (uint32_t b = 1; b < y->s->block.n; b++) {
    const ClosedSpan *f = &r->frame[b];
    if (f->in.first <= section && section <= f->in.last + data)
      keep_frame_apart(y, r, c, b, section, data);
  }
}

static void find_closed(Lay *y, ColumnGrid *r) {
  const Sketch *s = y->s;
  const BlockReach *reach = block_reach(y->arena, s, y->o);
  for (uint32_t b = 0; b < s->block.n; b++)
    r->frame[b] = (ClosedSpan){var_new(y), var_new(y), reach[b], UINT32_MAX, 0};
  for (uint32_t k = 0; k < s->stage.n; k++) {
    uint32_t upper, lower;
    stage_ranks(y, k, &upper, &lower);
    for (uint32_t b = s->stage.at[k].block; b; b = s->block.at[b].parent) {
      ClosedSpan *f = &r->frame[b];
      if (upper < f->upper) f->upper = upper;
      if (lower > f->lower) f->lower = lower;
    }
  }
}

// A bundle that merges enters the frame at its horizontal height.
static void merges_inside(Lay *y, const ColumnGrid *r) {
  for (uint32_t k = 0; k < y->s->stage.n; k++) {
    const Stage *t = &y->s->stage.at[k];
    for (uint32_t i = 0; i < t->link.n && t->block; i++) {
      uint32_t x = t->link.at[i].a;
      if (t->link.at[i].kind != LINK_MERGE || y->mid_in[x] != UINT32_MAX) continue;
      add_gap(y, r->frame[t->block].top, y->level[x], NEAR + title_room(y->s, t->block));
      add_gap(y, y->level[x], r->frame[t->block].bottom, NEAR + foot_room(y->s, t->block));
    }
  }
}

// Separates frames in a common section that are stacked, and nests those that are inside others.
static void pairs_apart(Lay *y, ColumnGrid *r) {
  for (uint32_t b = 1; b < y->s->block.n; b++) {
    const ClosedSpan *f = &r->frame[b];
    uint32_t parent = y->s->block.at[b].parent;
    if (f->in.first > f->in.last) continue;
    if (parent) add_gap(y, r->frame[parent].top, f->top, title_room(y->s, parent));
    if (parent) add_gap(y, f->bottom, r->frame[parent].bottom, foot_room(y->s, parent));
    for (uint32_t o = 1; o < y->s->block.n; o++) {
      const ClosedSpan *g = &r->frame[o];
      bool share = g->in.first <= f->in.last && f->in.first <= g->in.last;
      if (share && f->lower < g->upper) add_frame_gap(y, r, f->bottom, g->top, EDGE);
    }
  }
}

// -- rows and groups ------------------------------------------------------------------------------
static int by_rank(const void *a, const void *b) {
  uint32_t x = ((const ColumnGroup *)a)->rank, z = ((const ColumnGroup *)b)->rank;
  return x < z ? -1 : x > z;
}

static void find_rows(Lay *y, ColumnGrid *r) {
  const Sketch *s = y->s;
  const Order *o = y->o;
  Ids all = bundles_by_rank(y->arena, s, o);
  for (uint32_t i = 0; i < all.n; i++) {
    uint32_t b = all.at[i], born = bundle_born(o, b), dies = bundle_dies(o, b);
    ColumnGroup passes = {.bundle = b, .rank = o->rank[b]};
    for (uint32_t k = born; k <= dies; k++) vec_push(y->arena, &r->row[k], b);
    for (uint32_t k = born; k < dies; k++) vec_push(y->arena, &r->group[k], passes);
  }
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    uint32_t first = t->in.n ? t->in.at[0] : t->out.n ? t->out.at[0] : 0;
    vec_push(y->arena, &r->group[o->at[k]], (ColumnGroup){.stage = k + 1, .rank = o->rank[first]});
  }
  for (uint32_t k = 0; k < o->sections; k++)
    if (r->group[k].n) qsort(r->group[k].at, r->group[k].n, sizeof(ColumnGroup), by_rank);
}

static void find_groups(const Lay *y, ColumnGrid *r, uint32_t section) {
  const ColumnGroups *groups = &r->group[section];
  for (uint32_t i = 0; i < groups->n; i++) {
    const ColumnGroup *g = &groups->at[i];
    if (!g->stage) r->in[g->bundle] = i;
    for (uint32_t k = 0; g->stage && k < y->s->stage.at[g->stage - 1].in.n; k++)
      r->in[y->s->stage.at[g->stage - 1].in.at[k]] = i;
  }
  for (uint32_t i = 0; i < r->row[section].n; i++) r->place[r->row[section].at[i]] = 0;
  for (uint32_t i = 0; i < r->row[section + 1].n; i++) r->place[r->row[section + 1].at[i]] = i + 1;
}

// -- dividers -------------------------------------------------------------------------------------
static uint32_t rule_between(Lay *y, ColumnGrid *r, uint32_t section, uint32_t a, uint32_t b) {
  uint32_t key[2] = {a, b}, at = section ? table_get(r->carried, key, sizeof key) : 0;
  if (at) return at - 1;
  vec_push(y->arena, &y->rule, (LayRule){.var = var_new(y), .first = section, .last = section});
  return y->rule.n - 1;
}

// The first or last bundle that leaves a group; 0: none.
static uint32_t leaving_bundle(const Lay *y, const ColumnGroup *g, bool last) {
  if (!g->stage) return g->bundle;
  const Ids *out = &y->s->stage.at[g->stage - 1].out;
  return out->n ? out->at[last ? out->n - 1 : 0] : 0;
}

// The column at the labels of a section: bundles with dividers between them. A divider continues if
// its neighbours do; otherwise it ends at the glyphs.
static void data_column(Lay *y, ColumnGrid *r, uint32_t section, Ids *rules) {
  CutColumn c = {0};
  const Ids *row = &r->row[section];
  for (uint32_t i = 0; i < row->n; i++) {
    if (i) {
      uint32_t rule = rule_between(y, r, section, row->at[i - 1], row->at[i]);
      y->rule.at[rule].last = section;
      y->rule.at[rule].upper = row->at[i - 1], y->rule.at[rule].lower = row->at[i];
      vec_push(y->arena, rules, rule);
      vec_push(y->arena, &c, rule_entry(y, &y->rule.at[rule]));
    }
    put_bundle(y, &c, row->at[i]);
  }
  column_apart(y, r, &c, section, true);
}

// A divider between two passing bundles continues at its height; if its neighbours change, it may
// have to move.
static uint32_t continue_divider(Lay *y, uint32_t rule, uint32_t section) {
  uint32_t var = var_new(y);
  vec_push(y->arena, &y->rule,
           (LayRule){.var = var, .first = section + 1, .last = section + 1, .follows = true});
  add_pull(y, y->rule.at[rule].var, var, 0, DIVIDER);
  return y->rule.at[rule].next = y->rule.n;
}

static bool are_taken(const Lay *y, uint32_t a, uint32_t b) {
  return y->o->taker[a] && y->o->taker[a] == y->o->taker[b];
}

// Do a and b share a frame that c is not in?
static bool share_block(const Sketch *s, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t both = block_of_both(s, s->bundle.at[a].block, s->bundle.at[b].block);
  return both && !block_is_inside(s, s->bundle.at[c].block, both);
}

// Chooses the neighbours between which a divider continues. If its neighbours are no longer
// adjacent, since something was inserted or ended, it follows the upper one, or else the lower one;
// also the lower one if the inserted bundle is used together with the upper one or shares a frame
// with it.
static bool pair_after(const Lay *y, const ColumnGrid *r, uint32_t section, bool near,
                       uint32_t key[2]) {
  const Ids *row = &r->row[section + 1];
  uint32_t upper = key[0] ? r->place[key[0]] : 0, lower = key[1] ? r->place[key[1]] : 0;
  if (upper && lower == upper + 1) return near;
  if (upper == row->n) upper = 0;
  if (near || (!upper && lower < 2)) return false;
  if (!upper || (lower > upper + 1 &&
                 (are_taken(y, row->at[upper - 1], row->at[upper]) ||
                  share_block(y->s, row->at[upper - 1], row->at[lower - 2], row->at[lower - 1]))))
    upper = lower - 1;
  key[0] = row->at[upper - 1], key[1] = row->at[upper];
  return !table_get(r->carried, key, 2 * sizeof *key);
}

// What a bundle continues as after the stage that reads it; 0: it does not.
static uint32_t continuation_of(const Lay *y, const Stage *t, uint32_t bundle) {
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *k = &t->link.at[i];
    if (k->kind == LINK_PASS && y->s->strand.at[k->a].bundle == bundle)
      return y->s->strand.at[k->to].bundle;
  }
  return 0;
}

// A stage that reads both neighbours may leave them adjacent.
static void carry_through_stage(Lay *y, ColumnGrid *r, uint32_t section, uint32_t rule,
                                const ColumnGroup *g, const uint32_t pair[2]) {
  const Stage *t = &y->s->stage.at[g->stage - 1];
  uint32_t key[2] = {continuation_of(y, t, pair[0]), continuation_of(y, t, pair[1])};
  if (!key[0] || !key[1] || r->place[key[1]] != r->place[key[0]] + 1) return;
  uint32_t next = continue_divider(y, rule, section);
  y->rule.at[next - 1].within = true;
  table_put(r->carried, key, sizeof key, next);
}

// The divider between groups a and b continues below `upper`. Groups that begin between them may be
// above it: returns the last of these, or a.
static uint32_t group_above(const Lay *y, const ColumnGrid *r, const ColumnGroups *groups,
                            uint32_t a, uint32_t b, uint32_t upper) {
  while (--b > a) {
    uint32_t out = leaving_bundle(y, &groups->at[b], true);
    if (out && r->place[out] && r->place[out] <= r->place[upper]) break;
  }
  return b;
}

static void carry_rules(Lay *y, ColumnGrid *r, uint32_t section, const Ids *rules, Ids *under) {
  const Ids *row = &r->row[section];
  const ColumnGroups *groups = &r->group[section];
  for (uint32_t pass = 0; pass < 2; pass++)
    for (uint32_t i = 1; i < row->n; i++) {
      uint32_t a = r->in[row->at[i - 1]], b = r->in[row->at[i]], rule = rules->at[i - 1];
      uint32_t key[2] = {leaving_bundle(y, &groups->at[a], true),
                         leaving_bundle(y, &groups->at[b], false)};
      if (a == b && !pass)
        carry_through_stage(y, r, section, rule, &groups->at[a], &row->at[i - 1]);
      if (a == b) continue;
      bool goes_on = pair_after(y, r, section, pass == 0, key);
      if (goes_on || !pass) under->at[a] = 0;
      under->at[goes_on ? group_above(y, r, groups, a, b, key[0]) : a] = rule + 1;
      if (!goes_on) continue;
      bool same = key[0] == row->at[i - 1] && key[1] == row->at[i];
      table_put(r->carried, key, sizeof key, same ? rule + 1 : continue_divider(y, rule, section));
    }
}

// -- columns --------------------------------------------------------------------------------------
// Places dividers below the groups that they follow, also if that group ends there.
static void glyph_column(Lay *y, ColumnGrid *r, uint32_t section, const Ids *under, bool out) {
  CutColumn c = {0};
  const ColumnGroups *groups = &r->group[section];
  for (uint32_t i = 0; i < groups->n; i++) {
    uint32_t before = c.n;
    put_group(y, &c, &groups->at[i], out);
    bool source = groups->at[i].stage && !y->s->stage.at[groups->at[i].stage - 1].in.n;
    const LayRule *rule = under->at[i] ? &y->rule.at[under->at[i] - 1] : NULL;
    if (rule && (c.n > before || source || rule->next)) vec_push(y->arena, &c, rule_entry(y, rule));
  }
  column_apart(y, r, &c, section, false);
}

// Separates glyphs one above the other, and the strands that enter one and leave the other.
static void glyphs_apart(Lay *y, ColumnGrid *r, uint32_t section) {
  const Item *above = NULL;
  uint32_t block = 0;
  for (uint32_t i = 0; i < r->group[section].n; i++) {
    const ColumnGroup *g = &r->group[section].at[i];
    const Items *items = g->stage ? &y->items[g->stage - 1] : NULL;
    if (!items) above = NULL;
    for (uint32_t k = 0; items && k < items->n; k++) {
      const Item *m = &items->at[k];
      uint32_t own = y->s->stage.at[g->stage - 1].block;
      for (uint32_t out = 0; above && m->glyph && out < 2; out++) {
        const Ids *upper = out ? &above->out : &above->in, *lower = out ? &m->in : &m->out;
        if (!upper->n || !lower->n) continue;
        uint32_t a = upper->at[upper->n - 1], b = lower->at[0];
        double over, under, none;
        reach(above->glyph, upper->n, out, &none, &under);
        reach(m->glyph, lower->n, !out, &over, &none);
        uint32_t var[2] = {out ? y->mid_out[a] : y->mid_in[a], out ? y->mid_in[b] : y->mid_out[b]};
        keep_apart(y, &(ColumnEntry){.var = var[0], .under = under, .block = block},
                   &(ColumnEntry){.var = var[1], .over = over, .block = own});
      }
      above = m->glyph ? m : NULL;
      block = own;
    }
  }
}

typedef struct { // constraint graph: gaps by the upper variable, and ties in both directions
  Ids *to;       // [var]
  uint32_t *met; // [var] the optional gap for which it was visited
  Ids stack;
} Web;

static bool leads_to(Lay *y, Web *w, uint32_t from, uint32_t to, uint32_t number) {
  w->stack.n = 0;
  vec_push(y->arena, &w->stack, from);
  w->met[from] = number;
  while (w->stack.n) {
    uint32_t v = w->stack.at[--w->stack.n];
    if (v == to) return true;
    for (uint32_t i = 0; i < w->to[v].n; i++) {
      uint32_t next = w->to[v].at[i];
      if (w->met[next] == number) continue;
      w->met[next] = number;
      vec_push(y->arena, &w->stack, next);
    }
  }
  return false;
}

// Adds optional frame gaps that cause no cycle: where strands cross, a frame cannot exclude both.
static void add_optional_gaps(Lay *y, const ColumnGrid *r) {
  Web w = {NEW_ARRAY(y->arena, Ids, y->p.n), NEW_ARRAY(y->arena, uint32_t, y->p.n), {0}};
  for (uint32_t i = 0; i < y->p.gap.n; i++)
    vec_push(y->arena, &w.to[y->p.gap.at[i].above], y->p.gap.at[i].below);
  for (uint32_t i = 0; i < y->p.tie.n; i++) {
    vec_push(y->arena, &w.to[y->p.tie.at[i].a], y->p.tie.at[i].b);
    vec_push(y->arena, &w.to[y->p.tie.at[i].b], y->p.tie.at[i].a);
  }
  for (uint32_t i = 0; i < r->wish.n; i++) {
    const Gap *g = &r->wish.at[i];
    if (leads_to(y, &w, g->below, g->above, i + 1)) continue;
    vec_push(y->arena, &y->p.gap, *g);
    vec_push(y->arena, &w.to[g->above], g->below);
  }
}

void constrain(Lay *y) {
  Arena *a = y->arena;
  ColumnGrid r = {.carried = table_new(a)};
  r.row = NEW_ARRAY(a, Ids, y->o->sections + 1);
  r.group = NEW_ARRAY(a, ColumnGroups, y->o->sections + 1);
  r.in = NEW_ARRAY(a, uint32_t, y->s->bundle.n);
  r.place = NEW_ARRAY(a, uint32_t, y->s->bundle.n);
  r.frame = NEW_ARRAY(a, ClosedSpan, y->s->block.n);
  find_rows(y, &r);
  find_closed(y, &r);
  pairs_apart(y, &r);
  merges_inside(y, &r);
  for (uint32_t k = 0; k <= y->o->sections; k++) {
    Ids rules = {0}, under = {0};
    data_column(y, &r, k, &rules);
    if (k == y->o->sections) break;
    find_groups(y, &r, k);
    for (uint32_t i = 0; i < r.group[k].n; i++) vec_push(a, &under, 0);
    carry_rules(y, &r, k, &rules, &under);
    glyph_column(y, &r, k, &under, false);
    glyph_column(y, &r, k, &under, true);
    glyphs_apart(y, &r, k);
  }
  add_optional_gaps(y, &r);
}
