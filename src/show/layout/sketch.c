// A sketch is built stage by stage in the order of a diagram, in which wires may be read any number
// of times and in any order. Settling makes all uses explicit: copies for repeated uses, ends for
// unused wires, and crossings to bring operands together. Afterwards each bundle is made once and
// read once, and the bundles of a stage are adjacent in the row.
#include "show/layout/sketch.h"

#include <stdlib.h>

Sketch *sketch_new(Arena *a, const char *title) {
  Sketch *s = NEW(a, Sketch);
  *s = (Sketch){.arena = a, .title = title, .about = ""};
  vec_push(a, &s->strand, (Strand){0}); // index 0 means none
  vec_push(a, &s->bundle, (Bundle){0});
  vec_push(a, &s->block, (Block){0});
  return s;
}

uint32_t ids_find(const Ids *ids, Id x) {
  uint32_t i = 0;
  while (i < ids->n && ids->at[i] != x) i++;
  return i;
}

static uint32_t bundle_new(Sketch *s, const char *name, uint32_t n, uint32_t of) {
  uint32_t id = s->bundle.n;
  vec_push(s->arena, &s->bundle, (Bundle){.name = name, .first = s->strand.n, .n = n, .of = of});
  for (uint32_t i = 0; i < n; i++) {
    Strand like = of ? s->strand.at[s->bundle.at[of].first + i] : (Strand){0};
    like.bundle = id;
    vec_push(s->arena, &s->strand, like);
  }
  return id;
}

uint32_t sketch_block(Sketch *s, uint32_t parent, const char *title, Ink ink) {
  vec_push(s->arena, &s->block, (Block){.title = title, .parent = parent, .ink = ink});
  return s->block.n - 1;
}

uint32_t sketch_stage(Sketch *s, uint32_t block, const char *words) {
  vec_push(s->arena, &s->stage,
           (Stage){.block = block, .words = words, .origin = s->origin, .of = s->of});
  return s->stage.n - 1;
}

uint32_t sketch_input(Sketch *s, const char *name, uint32_t n) {
  uint32_t id = bundle_new(s, name, n, 0);
  vec_push(s->arena, &s->in, id);
  return id;
}

uint32_t sketch_make(Sketch *s, uint32_t stage, const char *name, uint32_t n) {
  uint32_t id = bundle_new(s, name, n, 0);
  for (uint32_t i = 0; i < n; i++) strand_of(s, id, i)->of = s->wire;
  vec_push(s->arena, &s->stage.at[stage].out, id);
  return id;
}

static uint32_t bundle_like(Sketch *s, uint32_t made) {
  return bundle_new(s, s->bundle.at[made].name, s->bundle.at[made].n, made);
}

uint32_t sketch_use(Sketch *s, uint32_t stage, uint32_t made) {
  uint32_t id = bundle_like(s, made);
  vec_push(s->arena, &s->stage.at[stage].in, id);
  return id;
}

void sketch_output(Sketch *s, uint32_t made) {
  uint32_t id = bundle_like(s, made);
  vec_push(s->arena, &s->out, id);
}

uint32_t strand_at(const Sketch *s, uint32_t bundle, uint32_t i) {
  return s->bundle.at[bundle].first + i;
}

Strand *strand_of(Sketch *s, uint32_t bundle, uint32_t i) {
  return &s->strand.at[strand_at(s, bundle, i)];
}

void stage_link(Sketch *s, uint32_t stage, LinkKind kind, uint32_t a, uint32_t to) {
  vec_push(s->arena, &s->stage.at[stage].link, (Link){kind, a, to});
}

void add_ports(Sketch *s, Ids *to, uint32_t bundle) {
  for (uint32_t i = 0; i < s->bundle.at[bundle].n; i++)
    vec_push(s->arena, to, strand_at(s, bundle, i));
}

bool stage_has(const Stage *t, uint32_t kinds) {
  for (uint32_t i = 0; i < t->link.n; i++)
    if (kinds >> t->link.at[i].kind & 1) return true;
  return false;
}

const Link *stage_cup(const Stage *t, const Link **begin) {
  const Link *cup = NULL;
  *begin = NULL;
  for (uint32_t i = t->link.n; i-- > 0;) {
    const Link *k = &t->link.at[i];
    if (k->kind == LINK_CUP)
      cup = k;
    else if (k->kind == LINK_BEGIN)
      *begin = k;
    else if (k->kind != LINK_END)
      return NULL;
  }
  return *begin ? cup : NULL;
}

bool same_label(const Sketch *s, uint32_t a, uint32_t b) {
  const char *x = s->strand.at[a].label, *y = s->strand.at[b].label;
  return x && y && strcmp(x, y) == 0;
}

Glyph *stage_glyph(Sketch *s, uint32_t stage, GlyphKind kind, const char *text) {
  Stage *t = &s->stage.at[stage];
  vec_push(s->arena, &t->glyph, (Glyph){.kind = kind, .text = text});
  return &t->glyph.at[t->glyph.n - 1];
}

// -- settling -------------------------------------------------------------------------------------
enum { LOOKS = 8 }; // look-ahead, in uses

typedef struct {        // a bundle before settling
  uint32_t stands;      // of a use: the settled bundle
  uint32_t left, total; // of a made bundle: remaining uses, all uses
  uint32_t seen;        // number of the last look-ahead that saw it
  uint32_t now;         // the bundle in the row that holds it
  uint32_t maker, user; // its stage and the first one that uses it, + 1; 0: an input, or unused
  uint32_t home;        // the innermost block that contains all its uses
} Unsettled;

typedef struct {
  Sketch *s;
  Arena *arena;
  VEC(Stage) stage; // settled stages
  uint32_t uses;    // bundles before settling
  Unsettled *of;    // [uses]
  uint32_t looks;   // number of look-aheads
  Ids holds;        // [bundle in the row] the value it holds
  Ids place;        // [bundle in the row] its position at the last look-ahead
  bool *put;        // [stage] a source that has been placed
  Ids row;
} Settle;

static void link_all(Sketch *s, Stage *t, LinkKind kind, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < s->bundle.at[from].n; i++)
    vec_push(s->arena, &t->link, (Link){kind, strand_at(s, from, i), strand_at(s, to, i)});
}

// Replaces `n` entries of the row from `at` on.
static void replace_in_row(Arena *a, Ids *row, uint32_t at, uint32_t n, const Ids *by) {
  uint32_t rest = row->n - at - n;
  for (uint32_t i = n; i < by->n; i++) vec_push(a, row, 0);
  if (rest) memmove(row->at + at + by->n, row->at + at + n, rest * sizeof *row->at);
  for (uint32_t i = 0; i < by->n; i++) row->at[at + i] = by->at[i];
  row->n = at + by->n + rest;
}

// Records which value a bundle of the row holds.
static void set_held_value(Settle *t, uint32_t bundle, uint32_t made) {
  while (t->holds.n <= bundle) vec_push(t->arena, &t->holds, 0);
  t->holds.at[bundle] = made;
  t->of[made].now = bundle;
}

static void put_stage(Settle *t, Stage stage, uint32_t at) {
  replace_in_row(t->arena, &t->row, at, stage.in.n, &stage.out);
  vec_push(t->arena, &t->stage, stage);
}

// Copies a value that is used again: one copy for this use, the other for later uses, above or
// below. With many uses to come, the copy for later continues straight, so that rows of boxes do
// not drift.
static void put_copy(Settle *t, uint32_t made, bool above, uint32_t use) {
  Sketch *s = t->s;
  uint32_t from = t->of[made].now, to[2];
  bool straight = above || t->of[made].total > 2;
  Stage copy = {.block = t->of[made].home, .words = "copy"};
  vec_push(t->arena, &copy.in, from);
  for (uint32_t k = 0; k < 2; k++) { // 0: above
    bool later = (k == 0) == above;
    to[later] = bundle_like(s, from);
    link_all(s, &copy, later == straight ? LINK_PASS : LINK_COPY, from, to[later]);
    vec_push(t->arena, &copy.out, to[later]);
  }
  put_stage(t, copy, ids_find(&t->row, from));
  t->of[use].stands = to[0];
  set_held_value(t, to[1], made);
}

static void take_use(Settle *t, uint32_t use, bool above) {
  uint32_t made = t->s->bundle.at[use].of;
  if (--t->of[made].left == 0)
    t->of[use].stands = t->of[made].now;
  else
    put_copy(t, made, above, use);
}

static void put_end(Settle *t, uint32_t bundle, uint32_t block) {
  Stage end = {.block = block, .words = "not used"};
  vec_push(t->arena, &end.in, bundle);
  for (uint32_t i = 0; i < t->s->bundle.at[bundle].n; i++)
    vec_push(t->arena, &end.link, (Link){LINK_END, strand_at(t->s, bundle, i), 0});
  put_stage(t, end, ids_find(&t->row, bundle));
}

// -- side by side ---------------------------------------------------------------------------------
// The number of unwanted bundles to place above `wanted` with the fewest crossings.
static uint32_t others_above(const Settle *t, const Ids *span, const bool *wanted,
                             uint32_t others) {
  const Sketch *s = t->s;
  int64_t all = 0, before = 0, cost = 0, least = 0;
  uint32_t best = 0, above = 0;
  for (uint32_t i = 0; i < span->n; i++) all += wanted[i] ? s->bundle.at[span->at[i]].n : 0;
  for (uint32_t i = 0; i < span->n && above < others; i++) {
    int64_t n = s->bundle.at[span->at[i]].n;
    if (wanted[i]) {
      before += n;
      continue;
    }
    above++;
    cost += n * before - n * (all - before); // it is placed above all of them, not below
    if (cost < least) least = cost, best = above;
  }
  return best;
}

// The part of the row that contains `wanted`, with these adjacent and the others above or below,
// whichever crosses least.
static Ids gathered(Settle *t, const Ids *span, const Ids *wanted, uint32_t low) {
  Ids order = {0};
  bool *is_wanted = NEW_ARRAY(t->arena, bool, span->n);
  uint32_t others = span->n - wanted->n, seen = 0;
  for (uint32_t i = 0; i < wanted->n; i++) is_wanted[t->place.at[wanted->at[i]] - low] = true;
  uint32_t above = others_above(t, span, is_wanted, others);
  for (uint32_t i = 0; i <= span->n; i++) {
    if (seen == above && order.n == above)
      for (uint32_t k = 0; k < wanted->n; k++) vec_push(t->arena, &order, wanted->at[k]);
    if (i == span->n || is_wanted[i]) continue;
    vec_push(t->arena, &order, span->at[i]);
    seen++;
  }
  return order;
}

bool same_ids(const Ids *a, const Ids *b) {
  return a->n == b->n && (!a->n || memcmp(a->at, b->at, a->n * sizeof *a->at) == 0);
}

// Sets t->place to the positions in the row.
static void find_places(Settle *t) {
  while (t->place.n < t->s->bundle.n) vec_push(t->arena, &t->place, 0);
  for (uint32_t i = 0; i < t->row.n; i++) t->place.at[t->row.at[i]] = i;
}

// Adds crossings so that these bundles are adjacent in this order.
static void make_adjacent(Settle *t, Ids *wanted, uint32_t block) {
  uint32_t low = UINT32_MAX, high = 0;
  Sketch *s = t->s;
  if (wanted->n < 2) return;
  find_places(t);
  for (uint32_t i = 0; i < wanted->n; i++) {
    uint32_t at = t->place.at[wanted->at[i]];
    if (at < low) low = at;
    if (at > high) high = at;
  }
  Stage cross = {.block = block, .words = "reorder"};
  for (uint32_t i = low; i <= high; i++) {
    uint32_t made = t->row.at[i] < t->holds.n ? t->holds.at[t->row.at[i]] : 0;
    if (made) cross.block = block_of_both(s, cross.block, t->of[made].home);
    vec_push(t->arena, &cross.in, t->row.at[i]);
  }
  Ids order = gathered(t, &cross.in, wanted, low);
  if (same_ids(&cross.in, &order)) return;
  uint32_t *renamed = NEW_ARRAY(t->arena, uint32_t, order.n);
  for (uint32_t i = 0; i < order.n; i++) {
    uint32_t from = order.at[i], to = bundle_like(s, from);
    link_all(s, &cross, LINK_PASS, from, to);
    vec_push(t->arena, &cross.out, to);
    renamed[t->place.at[from] - low] = to;
    set_held_value(t, to, t->holds.at[from]);
  }
  for (uint32_t i = 0; i < wanted->n; i++)
    wanted->at[i] = renamed[t->place.at[wanted->at[i]] - low];
  put_stage(t, cross, low);
}

// A different operand that is in the row. *place: its position.
static uint32_t partner_among(const Settle *t, const Ids *uses, uint32_t which, uint32_t *place) {
  for (uint32_t k = 0; k < uses->n; k++) {
    *place = ids_find(&t->row, t->of[t->s->bundle.at[uses->at[k]].of].now);
    if (k != which && *place < t->row.n) return k;
  }
  return uses->n;
}

// A source is placed when it is used, beside its co-operand or a later one, in the block of its
// uses.
static void put_source(Settle *t, uint32_t maker, const Ids *in, uint32_t which) {
  Stage stage = t->s->stage.at[maker];
  uint32_t at = t->row.n, made = stage.out.n ? stage.out.at[0] : 0;
  uint32_t home = made ? t->of[made].home : 0;
  if (stage.out.n == 1 && !stage.early && block_is_inside(t->s, home, stage.block))
    stage.block = home;
  bool used = in->n > 0;
  for (uint32_t look = 0; look < LOOKS && !stage.beside && in->n; look++) {
    uint32_t place, k = partner_among(t, in, which, &place);
    if (k < in->n) {
      stage.beside = t->row.at[place];
      stage.below = k < which;
      at = place + stage.below;
    }
    uint32_t user = made ? t->of[made].user : 0;
    const Stage *next = user ? &t->s->stage.at[user - 1] : NULL;
    made = next && next->out.n ? next->out.at[0] : 0;
    user = made ? t->of[made].user : 0;
    if (!user) break;
    in = &t->s->stage.at[user - 1].in;
    for (which = 0; which < in->n && t->s->bundle.at[in->at[which]].of != made;) which++;
  }
  if (!stage.beside && at && used) stage.beside = t->row.at[at - 1], stage.below = true;
  put_stage(t, stage, at);
  t->put[maker] = true;
  for (uint32_t i = 0; i < stage.out.n; i++)
    if (!t->of[stage.out.at[i]].left) put_end(t, stage.out.at[i], stage.block);
}

static void put_sources(Settle *t, const Ids *in) {
  for (uint32_t i = 0; i < in->n; i++) {
    uint32_t maker = t->of[t->s->bundle.at[in->at[i]].of].maker;
    if (maker && !t->s->stage.at[maker - 1].in.n && !t->put[maker - 1])
      put_source(t, maker - 1, in, i);
  }
}

// Does a stage have no inputs and no used results?
static bool is_idle(const Settle *t, uint32_t k) {
  const Stage *stage = &t->s->stage.at[k];
  bool idle = !stage->in.n && !t->put[k];
  for (uint32_t i = 0; i < stage->out.n; i++) idle &= !t->of[stage->out.at[i]].left;
  return idle;
}

static int by_key(const void *a, const void *b) {
  const KeyedItem *x = a, *z = b;
  return x->key != z->key ? (x->key < z->key ? -1 : 1) : x->at < z->at ? -1 : 1;
}

void sort_keyed(KeyedItem *all, uint32_t n) { qsort(all, n, sizeof *all, by_key); }

// Sorts uses by the position of what they use.
static void sort_by_row(Settle *t, Ids *uses) {
  KeyedItem *all = NEW_ARRAY(t->arena, KeyedItem, uses->n + 1);
  const uint32_t *old = arena_copy(t->arena, uses->at, uses->n * sizeof *old);
  find_places(t);
  for (uint32_t i = 0; i < uses->n; i++)
    all[i] = (KeyedItem){t->place.at[t->of[t->s->bundle.at[old[i]].of].now], i};
  sort_keyed(all, uses->n);
  for (uint32_t i = 0; i < uses->n; i++) uses->at[i] = old[all[i].at];
}

// The distinct values of these uses.
static Ids distinct_values(Settle *t, const Ids *uses) {
  Ids all = {0};
  t->looks++;
  for (uint32_t i = 0; i < uses->n; i++) {
    uint32_t made = t->s->bundle.at[uses->at[i]].of;
    if (t->of[made].seen == t->looks) continue;
    t->of[made].seen = t->looks;
    vec_push(t->arena, &all, t->of[made].now);
  }
  return all;
}

// The source position of a branch is where it is read; of the wire, where it is made.
static void set_branch_source(Settle *t, uint32_t use) {
  const Bundle *own = &t->s->bundle.at[use], *now = &t->s->bundle.at[t->of[use].stands];
  if (t->of[own->of].total < 2 || t->of[use].stands == own->of) return;
  for (uint32_t i = 0; i < own->n && i < now->n; i++)
    t->s->strand.at[now->first + i].of = t->s->strand.at[own->first + i].of;
}

// Brings all operands together and then copies them, so that a crossing serves later uses too. The
// copy of the first remaining value is above the others.
static Ids bring_operands_together(Settle *t, const Ids *uses, uint32_t block) {
  Ids wanted = distinct_values(t, uses);
  make_adjacent(t, &wanted, block);
  bool above = wanted.n > 1 && uses->n == wanted.n;
  for (uint32_t i = 0; i < uses->n; i++) take_use(t, uses->at[i], above && !i);
  wanted.n = 0;
  for (uint32_t i = 0; i < uses->n; i++) vec_push(t->arena, &wanted, t->of[uses->at[i]].stands);
  make_adjacent(t, &wanted, block);
  for (uint32_t i = 0; i < uses->n; i++) t->of[uses->at[i]].stands = wanted.at[i];
  for (uint32_t i = 0; i < uses->n; i++) set_branch_source(t, uses->at[i]);
  return wanted;
}

// A formula of a single operator reads its operands from top to bottom. If they are in another
// order, it names them.
static void settle_formula(Sketch *s, const Stage *stage, const Ids *uses) {
  bool turned = !same_ids(&stage->in, uses);
  for (uint32_t g = 0; g < stage->glyph.n; g++) {
    Glyph *glyph = &stage->glyph.at[g];
    if (!glyph->turned) continue;
    if (turned) glyph->text = glyph->turned;
    for (uint32_t i = 0; !turned && i < uses->n; i++) s->bundle.at[uses->at[i]].as = NULL;
  }
}

static void settle_stage(Settle *t, uint32_t k) {
  Stage stage = t->s->stage.at[k];
  if (!stage.in.n) return; // placed when it is used
  put_sources(t, &stage.in);
  Ids uses = {0};
  for (uint32_t i = 0; i < stage.in.n; i++) vec_push(t->arena, &uses, stage.in.at[i]);
  if (stage.free) sort_by_row(t, &uses);
  settle_formula(t->s, &stage, &uses);
  stage.in = bring_operands_together(t, &uses, stage.block);
  put_stage(t, stage, ids_find(&t->row, stage.in.at[0]));
  for (uint32_t i = 0; i < stage.out.n; i++)
    if (!t->of[stage.out.at[i]].left) put_end(t, stage.out.at[i], stage.block);
}

static uint32_t settled_strand(const Settle *t, uint32_t strand) {
  const Strand *x = &t->s->strand.at[strand];
  if (x->bundle >= t->uses || !t->of[x->bundle].stands) return strand;
  return strand - t->s->bundle.at[x->bundle].first + t->s->bundle.at[t->of[x->bundle].stands].first;
}

static void settle_strands(Settle *t) {
  for (uint32_t k = 0; k < t->stage.n; k++) {
    Stage *stage = &t->stage.at[k];
    for (uint32_t i = 0; i < stage->link.n; i++) {
      stage->link.at[i].a = settled_strand(t, stage->link.at[i].a);
      stage->link.at[i].to = settled_strand(t, stage->link.at[i].to);
    }
    for (uint32_t g = 0; g < stage->glyph.n; g++)
      for (int touch = 0; touch < 2; touch++) {
        Ids *ids = touch ? &stage->glyph.at[g].touch : &stage->glyph.at[g].in;
        for (uint32_t i = 0; i < ids->n; i++) ids->at[i] = settled_strand(t, ids->at[i]);
      }
  }
}

// A copy or crossing belongs to the innermost block that contains all uses.
static void find_homes(Settle *t) {
  Sketch *s = t->s;
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++) {
      uint32_t made = s->bundle.at[s->stage.at[k].in.at[i]].of, block = s->stage.at[k].block;
      bool first = t->of[made].user == k + 1;
      t->of[made].home = first ? block : block_of_both(s, t->of[made].home, block);
    }
  for (uint32_t i = 0; i < s->out.n; i++) t->of[s->bundle.at[s->out.at[i]].of].home = 0;
}

// Names of uses become names of the settled bundles.
static void settle_names(Settle *t) {
  for (uint32_t u = 1; u < t->uses; u++)
    if (t->of[u].stands) t->s->bundle.at[t->of[u].stands].as = t->s->bundle.at[u].as;
}

// Marks a faulty use and the unchanged bundles that lead to it.
static void settle_alarms(Settle *t) {
  Sketch *s = t->s;
  for (uint32_t u = 1; u < t->uses; u++)
    for (uint32_t i = 0; t->of[u].stands && i < s->bundle.at[u].n; i++)
      if (strand_of(s, u, i)->alarm) {
        strand_of(s, t->of[u].stands, i)->alarm = true;
        strand_of(s, t->of[u].stands, i)->label = strand_of(s, u, i)->label;
      }
  for (uint32_t k = t->stage.n; k-- > 0;) {
    const Stage *stage = &t->stage.at[k];
    bool crosses = !stage->glyph.n && stage->in.n > 1 && !stage_has(stage, ~LINKS(PASS));
    for (uint32_t i = 0; crosses && i < stage->link.n; i++)
      s->strand.at[stage->link.at[i].a].alarm |= s->strand.at[stage->link.at[i].to].alarm;
  }
}

void sketch_settle(Sketch *s) {
  if (s->settled) return;
  Arena *a = s->arena;
  Settle t = {.s = s, .arena = a, .uses = s->bundle.n};
  t.of = NEW_ARRAY(a, Unsettled, t.uses);
  t.put = NEW_ARRAY(a, bool, s->stage.n + 1);
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++)
      t.of[s->stage.at[k].out.at[i]].maker = k + 1;
  for (uint32_t k = s->stage.n; k-- > 0;)
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++)
      t.of[s->bundle.at[s->stage.at[k].in.at[i]].of].user = k + 1;
  find_homes(&t);
  for (uint32_t i = 1; i < t.uses; i++) {
    Unsettled *made = &t.of[s->bundle.at[i].of];
    if (s->bundle.at[i].of) made->total = ++made->left;
    set_held_value(&t, i, i);
  }
  for (uint32_t i = 0; i < s->in.n; i++) vec_push(a, &t.row, s->in.at[i]);
  for (uint32_t i = 0; i < s->in.n; i++)
    if (!t.of[s->in.at[i]].left) put_end(&t, s->in.at[i], 0);
  for (uint32_t k = 0; k < s->stage.n; k++) settle_stage(&t, k);
  Ids out = s->out, none = {0};
  for (uint32_t k = 0; k < s->stage.n; k++) // makes unused values end visibly
    if (is_idle(&t, k)) put_source(&t, k, &none, 0);
  put_sources(&t, &out);
  if (out.n) out = bring_operands_together(&t, &out, 0);
  settle_strands(&t);
  settle_alarms(&t);
  settle_names(&t);
  s->out = out;
  s->settled = true;
  s->stage.at = t.stage.at, s->stage.n = t.stage.n, s->stage.cap = t.stage.cap;
}
