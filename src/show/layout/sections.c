// Orders a settled sketch. Horizontally: each stage gets a section, as far left as its inputs
// allow; stages with disjoint bundles share a section. Vertically: all bundles get ranks that are
// consistent with the row at every moment.
//
// Two lists are maintained: all bundles so far, in which a stage's results follow its first input,
// and the bundles that are currently in the row.
#include "show/layout/sketch.h"

// A circular list of bundles, top to bottom, with sentinel 0.
typedef struct {
  uint32_t *next, *last;
} Ring;

static Ring ring_new(Arena *a, uint32_t n) {
  return (Ring){NEW_ARRAY(a, uint32_t, n), NEW_ARRAY(a, uint32_t, n)};
}

static void insert(const Ring *r, uint32_t after, uint32_t bundle) {
  r->next[bundle] = r->next[after];
  r->last[bundle] = after;
  r->last[r->next[after]] = bundle;
  r->next[after] = bundle;
}

static void remove_from(const Ring *r, uint32_t bundle) {
  r->next[r->last[bundle]] = r->next[bundle];
  r->last[r->next[bundle]] = r->last[bundle];
}

typedef struct {
  const Sketch *s;
  Order *o;
  Ring ever, row;
  uint32_t *behind; // [bundle in the row] the first section after what ended just below it
  Ids *from;        // [block] outside stages that make its inputs
  uint32_t *start;  // [block] its earliest section + 1; 0: unknown
} Sorting;

static void larger(uint32_t *x, uint32_t than) {
  if (than > *x) *x = than;
}

bool block_is_inside(const Sketch *s, uint32_t block, uint32_t of) {
  while (block > of) block = s->block.at[block].parent; // parents come first
  return block == of;
}

// A block begins when all of its inputs exist, so a block after another one does not begin beside
// it with independent contents.
static void find_needs(const Sorting *t, Arena *a) {
  const Sketch *s = t->s;
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++) {
      uint32_t maker = t->o->maker[s->stage.at[k].in.at[i]];
      uint32_t from = maker ? s->stage.at[maker - 1].block : 0;
      for (uint32_t b = s->stage.at[k].block; maker && b && !block_is_inside(s, from, b);
           b = s->block.at[b].parent)
        vec_push(a, &t->from[b], maker - 1);
    }
}

static uint32_t block_start(const Sorting *t, uint32_t b) {
  if (!b || t->start[b]) return b ? t->start[b] - 1 : 0;
  uint32_t at = block_start(t, t->s->block.at[b].parent);
  for (uint32_t i = 0; i < t->from[b].n; i++) larger(&at, t->o->at[t->from[b].at[i]] + 1);
  t->start[b] = at + 1;
  return at;
}

// The earliest section: after its inputs and after what was between them. Inside a block, after the
// block's start, so that frames do not begin where strands still bend.
static uint32_t earliest(const Sorting *t, const Stage *stage) {
  const Ids *in = &stage->in;
  uint32_t at = block_start(t, stage->block);
  for (uint32_t i = 0; i < in->n; i++) {
    uint32_t maker = t->o->maker[in->at[i]];
    const Stage *from = maker ? &t->s->stage.at[maker - 1] : NULL;
    larger(&at, bundle_born(t->o, in->at[i]));
    if (from && !from->in.n && from->block) larger(&at, block_start(t, from->block) + 1);
    if (i + 1 < in->n) larger(&at, t->behind[in->at[i]]);
  }
  return at;
}

// A stage without inputs waits for its neighbour.
static uint32_t earliest_source(const Sorting *t, const Stage *stage) {
  uint32_t maker = stage->beside ? t->o->maker[stage->beside] : 0;
  if (!maker) return 0;
  return t->o->at[maker - 1] + (t->s->stage.at[maker - 1].in.n > 0);
}

// Nothing continues it.
static bool has_ended(const Sorting *t, uint32_t bundle) {
  uint32_t taker = bundle ? t->o->taker[bundle] : 0;
  return taker && !t->s->stage.at[taker - 1].out.n;
}

// Avoids placing a new bundle between bundles of another source that have ended: returns its
// position below (or above) this one and next to the following one in the row.
static uint32_t position_past_ended(const Sorting *t, uint32_t ever, uint32_t next, bool below) {
  if (below)
    while (t->ever.next[ever] != next && has_ended(t, t->ever.next[ever]))
      ever = t->ever.next[ever];
  else
    while (ever != next && has_ended(t, ever)) ever = t->ever.last[ever];
  return ever;
}

static void put_results(const Sorting *t, const Stage *stage, uint32_t at) {
  const Ids *in = &stage->in, *out = &stage->out;
  uint32_t first = in->n ? in->at[0] : stage->beside;
  bool below = in->n || stage->below;
  uint32_t ever = below ? first : t->ever.last[first];
  uint32_t row = in->n ? t->row.last[first] : below ? first : t->row.last[first];
  if (stage->early && first)
    ever = position_past_ended(t, ever, below ? t->row.next[first] : row, below);
  uint32_t behind = in->n ? t->behind[in->at[in->n - 1]] : below ? t->behind[first] : 0;
  for (uint32_t i = 0; i < in->n; i++) {
    if (!out->n) larger(&behind, t->behind[in->at[i]]);
    remove_from(&t->row, in->at[i]);
  }
  for (uint32_t i = 0; i < out->n; ever = row = out->at[i++]) {
    insert(&t->ever, ever, out->at[i]);
    insert(&t->row, row, out->at[i]);
  }
  if (in->n && !out->n) larger(&behind, at + 1);
  larger(&t->behind[row], behind);
}

// Does a string end at the last glyphs? Then late sources get a section of their own.
static bool ends_last(const Sketch *s, const Order *o) {
  for (uint32_t k = 0; s->strings && k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    if (o->at[k] + 1 == o->sections && !t->out.n && !t->glyph.n) return true;
  }
  return false;
}

// Copies and crossings alone.
static bool is_late(const Stage *t) {
  bool more = stage_has(t, ~(LINKS(PASS) | LINKS(COPY)));
  return !more && (t->in.n ? !t->glyph.n : !t->early);
}

// Where a use begins: its stage, or the outermost block around it that does not contain the other
// stage.
static uint32_t use_begins(const Sorting *t, uint32_t user, uint32_t block) {
  uint32_t at = t->o->at[user];
  for (uint32_t b = t->s->stage.at[user].block; b && !block_is_inside(t->s, block, b);
       b = t->s->block.at[b].parent)
    at = block_start(t, b) < at ? block_start(t, b) : at;
  return at;
}

// Moves sources, copies and crossings to just before the first use, but not after what begins
// beside it, which must not separate their inputs.
static void move_late(const Sorting *sorting, Arena *a) {
  const Sketch *s = sorting->s;
  Order *o = sorting->o;
  uint32_t *latest = NEW_ARRAY(a, uint32_t, s->stage.n + 1);
  memset(latest, 0xff, (s->stage.n + 1) * sizeof *latest);
  for (uint32_t k = s->stage.n; k-- > 0;) {
    const Stage *t = &s->stage.at[k];
    uint32_t next = o->sections, late = o->at[k];
    for (uint32_t i = 0; i < t->out.n; i++) {
      uint32_t taker = o->taker[t->out.at[i]];
      if (!taker) continue;
      uint32_t at = use_begins(sorting, taker - 1, t->block);
      if (at < next) next = at;
    }
    if (!t->in.n) late = next ? next - 1 : 0;
    if (next) larger(&late, next - 1);
    if (late > latest[k]) late = latest[k];
    bool alone = s->apart && t->glyph.n > 0; // it needs a section without other glyphs
    if (is_late(t) && t->out.n && !alone) o->at[k] = late;
    uint32_t beside = !t->in.n && t->beside ? o->maker[t->beside] : 0;
    uint32_t before = beside && s->stage.at[beside - 1].in.n > 0;
    if (beside && o->at[k] >= before && o->at[k] - before < latest[beside - 1])
      latest[beside - 1] = o->at[k] - before;
  }
}

Order *order_new(Arena *a, const Sketch *s) {
  Order *o = NEW(a, Order);
  o->at = NEW_ARRAY(a, uint32_t, s->stage.n + 1);
  o->rank = NEW_ARRAY(a, uint32_t, s->bundle.n);
  o->maker = NEW_ARRAY(a, uint32_t, s->bundle.n);
  o->taker = NEW_ARRAY(a, uint32_t, s->bundle.n);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++) o->taker[s->stage.at[k].in.at[i]] = k + 1;
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++) o->maker[s->stage.at[k].out.at[i]] = k + 1;
  }
  return o;
}

static uint32_t depth(const Sketch *s, uint32_t block) {
  uint32_t n = 0;
  for (; block; block = s->block.at[block].parent) n++;
  return n;
}

uint32_t block_of_both(const Sketch *s, uint32_t a, uint32_t b) {
  while (a != b) {
    if (depth(s, a) >= depth(s, b))
      a = s->block.at[a].parent;
    else
      b = s->block.at[b].parent;
  }
  return a;
}

static void find_blocks(Sketch *s, const Order *o) {
  for (uint32_t b = 1; b < s->bundle.n; b++)
    if (o->maker[b] && o->taker[b])
      s->bundle.at[b].block =
          block_of_both(s, s->stage.at[o->maker[b] - 1].block, s->stage.at[o->taker[b] - 1].block);
}

uint32_t bundle_born(const Order *o, uint32_t b) {
  return o->maker[b] ? o->at[o->maker[b] - 1] + 1 : 0;
}

uint32_t bundle_dies(const Order *o, uint32_t b) {
  return o->taker[b] ? o->at[o->taker[b] - 1] : o->sections;
}

Ids bundles_by_rank(Arena *a, const Sketch *s, const Order *o) {
  Ids all = {0};
  uint32_t most = 0;
  for (uint32_t b = 1; b < s->bundle.n; b++) larger(&most, o->rank[b]);
  uint32_t *with = NEW_ARRAY(a, uint32_t, most + 1);
  for (uint32_t b = 1; b < s->bundle.n; b++) with[o->rank[b]] = b;
  for (uint32_t rank = 1; rank <= most; rank++)
    if (with[rank]) vec_push(a, &all, with[rank]);
  return all;
}

BlockReach *block_reach(Arena *a, const Sketch *s, const Order *o) {
  BlockReach *reach = NEW_ARRAY(a, BlockReach, s->block.n);
  for (uint32_t b = 0; b < s->block.n; b++) reach[b] = (BlockReach){UINT32_MAX, 0};
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t b = s->stage.at[k].block, at = o->at[k]; b; b = s->block.at[b].parent) {
      if (at < reach[b].first) reach[b].first = at;
      larger(&reach[b].last, at);
    }
  return reach;
}

// wait: [stage] its earliest section
static Order *order_with(Arena *a, Sketch *s, const uint32_t *wait) {
  Order *o = order_new(a, s);
  Sorting t = {.s = s, .o = o, .ever = ring_new(a, s->bundle.n), .row = ring_new(a, s->bundle.n)};
  t.behind = NEW_ARRAY(a, uint32_t, s->bundle.n);
  t.from = NEW_ARRAY(a, Ids, s->block.n);
  t.start = NEW_ARRAY(a, uint32_t, s->block.n);
  find_needs(&t, a);
  for (uint32_t i = 0, after = 0; i < s->in.n; after = s->in.at[i++])
    insert(&t.ever, after, s->in.at[i]), insert(&t.row, after, s->in.at[i]);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *stage = &s->stage.at[k];
    o->at[k] = stage->in.n ? earliest(&t, stage) : earliest_source(&t, stage);
    if (s->apart && stage->glyph.n) larger(&o->at[k], o->sections);
    larger(&o->at[k], wait[k]);
    larger(&o->sections, o->at[k] + 1);
    put_results(&t, stage, o->at[k]);
  }
  for (uint32_t b = t.ever.next[0], n = 0; b; b = t.ever.next[b]) o->rank[b] = ++n;
  o->sections += ends_last(s, o);
  move_late(&t, a);
  find_blocks(s, o);
  return o;
}

// Would results of one stage separate results of the other, where both begin?
static bool separates_results(const Sketch *s, const Order *o, uint32_t one, uint32_t other) {
  const Ids *in = &s->stage.at[one].out, *around = &s->stage.at[other].out;
  uint32_t low = UINT32_MAX, high = 0;
  if (one == other || o->at[one] != o->at[other]) return false;
  for (uint32_t i = 0; i < around->n; i++) {
    uint32_t rank = o->rank[around->at[i]];
    larger(&high, rank);
    if (rank < low) low = rank;
  }
  for (uint32_t i = 0; i < in->n; i++)
    if (o->rank[in->at[i]] > low && o->rank[in->at[i]] < high) return true;
  return false;
}

// A source whose results separate those of another begins after it.
static bool delay_source(const Sketch *s, const Order *o, uint32_t *wait) {
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t j = 0; s->stage.at[k].early && j < s->stage.n; j++)
      if (s->stage.at[j].early && separates_results(s, o, k, j)) {
        wait[k] = o->at[j] + 1;
        return true;
      }
  return false;
}

Order *sketch_order(Arena *a, Sketch *s) {
  uint32_t *wait = NEW_ARRAY(a, uint32_t, s->stage.n + 1);
  Order *o = order_with(a, s, wait);
  for (uint32_t k = 0; k < s->stage.n && delay_source(s, o, wait); k++) o = order_with(a, s, wait);
  return o;
}
