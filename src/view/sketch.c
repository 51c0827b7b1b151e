// A sketch is put together stage by stage, as a diagram is, where a wire may be read often or never
// and in any order. To be drawn, every use must be seen: sketch_settle puts copies where something
// is used again, ends where nobody uses it, and crossings where things that are used together do
// not stand side by side. After it each bundle is made once and taken once, and a stage's bundles
// are neighbours in the row.
#include "view/sketch.h"

Sketch *sketch_new(Arena *a, const char *title) {
  Sketch *s = NEW(a, Sketch);
  *s = (Sketch){.arena = a, .title = title, .about = ""};
  vec_push(a, &s->strand, (Strand){0}); // 0 is none
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
  vec_push(s->arena, &s->stage, (Stage){.block = block, .words = words, .origin = s->origin});
  return s->stage.n - 1;
}

uint32_t sketch_input(Sketch *s, const char *name, uint32_t n) {
  uint32_t id = bundle_new(s, name, n, 0);
  vec_push(s->arena, &s->in, id);
  return id;
}

uint32_t sketch_make(Sketch *s, uint32_t stage, const char *name, uint32_t n) {
  uint32_t id = bundle_new(s, name, n, 0);
  vec_push(s->arena, &s->stage.at[stage].out, id);
  return id;
}

uint32_t sketch_use(Sketch *s, uint32_t stage, uint32_t made) {
  uint32_t id = bundle_new(s, s->bundle.at[made].name, s->bundle.at[made].n, made);
  vec_push(s->arena, &s->stage.at[stage].in, id);
  return id;
}

void sketch_output(Sketch *s, uint32_t made) {
  uint32_t id = bundle_new(s, s->bundle.at[made].name, s->bundle.at[made].n, made);
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

Glyph *stage_glyph(Sketch *s, uint32_t stage, GlyphKind kind, const char *text) {
  Stage *t = &s->stage.at[stage];
  vec_push(s->arena, &t->glyph, (Glyph){.kind = kind, .text = text});
  return &t->glyph.at[t->glyph.n - 1];
}

// -- settling -------------------------------------------------------------------------------------
typedef struct {
  Sketch *s;
  Arena *arena;
  VEC(Stage) stage; // as settled
  uint32_t uses;    // bundles before settling
  uint32_t *left;   // [bundle] uses to come
  uint32_t *now;    // [bundle made] the bundle in the row that holds it
  bool *put;        // [stage] that takes nothing: it is in the row
  uint32_t *maker;  // [bundle made] stage + 1, before settling; 0: it comes in
  uint32_t *stands; // [use] the bundle that it turned out to be
  uint32_t *home;   // [bundle made] the innermost block that holds all its uses
  Ids row;
} Settle;

static uint32_t common_block(const Sketch *s, uint32_t a, uint32_t b) {
  while (a != b) { // a block stands behind the one that it is in
    if (a > b)
      a = s->block.at[a].parent;
    else
      b = s->block.at[b].parent;
  }
  return a;
}

static void find_homes(Settle *t) {
  Sketch *s = t->s;
  t->home = NEW_ARRAY(t->arena, uint32_t, t->uses);
  for (uint32_t i = 0; i < t->uses; i++) t->home[i] = UINT32_MAX;
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].in.n; i++) {
      uint32_t *home = &t->home[s->bundle.at[s->stage.at[k].in.at[i]].of];
      *home =
          *home == UINT32_MAX ? s->stage.at[k].block : common_block(s, *home, s->stage.at[k].block);
    }
  for (uint32_t i = 0; i < s->out.n; i++) t->home[s->bundle.at[s->out.at[i]].of] = 0;
}

static void link_all(Sketch *s, Stage *t, LinkKind kind, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < s->bundle.at[from].n; i++)
    vec_push(s->arena, &t->link, (Link){kind, strand_at(s, from, i), strand_at(s, to, i)});
}

// In the row, `n` entries from `at` on give way to others.
static void replace(Arena *a, Ids *row, uint32_t at, uint32_t n, const Ids *by) {
  Ids made = {0};
  for (uint32_t i = 0; i < at; i++) vec_push(a, &made, row->at[i]);
  for (uint32_t i = 0; i < by->n; i++) vec_push(a, &made, by->at[i]);
  for (uint32_t i = at + n; i < row->n; i++) vec_push(a, &made, row->at[i]);
  *row = made;
}

static void put_stage(Settle *t, Stage stage, uint32_t at) {
  replace(t->arena, &t->row, at, stage.in.n, &stage.out);
  vec_push(t->arena, &t->stage, stage);
}

// What is used again: the first copy is for now, the other for later and stands below it.
static void put_copy(Settle *t, uint32_t made, uint32_t block) {
  Sketch *s = t->s;
  uint32_t from = t->now[made];
  Stage copy = {.block = block, .words = "copy"};
  vec_push(t->arena, &copy.in, from);
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t to = bundle_new(s, s->bundle.at[from].name, s->bundle.at[from].n, from);
    link_all(s, &copy, k ? LINK_COPY : LINK_PASS, from, to);
    vec_push(t->arena, &copy.out, to);
  }
  put_stage(t, copy, ids_find(&t->row, from));
}

static void take(Settle *t, uint32_t use) {
  uint32_t made = t->s->bundle.at[use].of;
  if (--t->left[made] == 0) {
    t->stands[use] = t->now[made];
    return;
  }
  put_copy(t, made, t->home[made]);
  const Stage *copy = &t->stage.at[t->stage.n - 1];
  t->stands[use] = copy->out.at[0];
  t->now[made] = copy->out.at[1];
}

static void put_end(Settle *t, uint32_t bundle, uint32_t block) {
  Stage end = {.block = block, .words = "not used"};
  vec_push(t->arena, &end.in, bundle);
  for (uint32_t i = 0; i < t->s->bundle.at[bundle].n; i++)
    vec_push(t->arena, &end.link, (Link){LINK_END, strand_at(t->s, bundle, i), 0});
  put_stage(t, end, ids_find(&t->row, bundle));
}

// -- side by side ---------------------------------------------------------------------------------
static bool is_wanted(const Ids *wanted, uint32_t bundle) {
  return ids_find(wanted, bundle) < wanted->n;
}

// How many strands cross when a row of bundles is put in another order.
static uint64_t crossings(const Sketch *s, const Ids *from, const Ids *to) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < from->n; i++)
    for (uint32_t k = i + 1; k < from->n; k++)
      if (ids_find(to, from->at[i]) > ids_find(to, from->at[k]))
        sum += (uint64_t)s->bundle.at[from->at[i]].n * s->bundle.at[from->at[k]].n;
  return sum;
}

// The part of the row that holds all of `wanted`, with them side by side: the others above or
// below, whichever crosses least.
static Ids gathered(Settle *t, const Ids *span, const Ids *wanted) {
  Ids best = {0};
  uint64_t least = UINT64_MAX;
  for (uint32_t above = 0; above <= span->n - wanted->n; above++) {
    Ids order = {0};
    uint32_t others = 0;
    for (uint32_t i = 0; i <= span->n; i++) {
      if (others == above && !is_wanted(&order, wanted->at[0]))
        for (uint32_t k = 0; k < wanted->n; k++) vec_push(t->arena, &order, wanted->at[k]);
      if (i < span->n && !is_wanted(wanted, span->at[i])) {
        vec_push(t->arena, &order, span->at[i]);
        others++;
      }
    }
    uint64_t n = crossings(t->s, span, &order);
    if (n < least) best = order, least = n;
  }
  return best;
}

static void renamed(Settle *t, uint32_t from, uint32_t to, Ids *wanted) {
  for (uint32_t i = 0; i < wanted->n; i++)
    if (wanted->at[i] == from) wanted->at[i] = to;
  for (uint32_t v = 0; v < t->uses; v++)
    if (t->now[v] == from) t->now[v] = to;
}

// Crossings, so that these stand side by side in this order.
static void gather(Settle *t, Ids *wanted, uint32_t block) {
  uint32_t low = UINT32_MAX, high = 0;
  Sketch *s = t->s;
  for (uint32_t i = 0; i < wanted->n; i++) {
    uint32_t at = ids_find(&t->row, wanted->at[i]);
    if (at < low) low = at;
    if (at > high) high = at;
  }
  Stage cross = {.block = block, .words = "reorder"};
  for (uint32_t i = low; i <= high; i++) vec_push(t->arena, &cross.in, t->row.at[i]);
  Ids order = gathered(t, &cross.in, wanted);
  if (!crossings(s, &cross.in, &order)) return;
  for (uint32_t i = 0; i < order.n; i++) {
    uint32_t from = order.at[i],
             to = bundle_new(s, s->bundle.at[from].name, s->bundle.at[from].n, from);
    link_all(s, &cross, LINK_PASS, from, to);
    vec_push(t->arena, &cross.out, to);
    renamed(t, from, to, wanted);
  }
  put_stage(t, cross, low);
}

// What is made of nothing enters the row when it is used, beside what it is used with.
static void put_source(Settle *t, uint32_t maker, const Ids *in, uint32_t which) {
  Stage stage = t->s->stage.at[maker];
  uint32_t at = t->row.n;
  for (uint32_t k = 0; k < in->n && !stage.beside; k++) {
    uint32_t other = t->now[t->s->bundle.at[in->at[k]].of];
    uint32_t place = ids_find(&t->row, other);
    if (k == which || place == t->row.n) continue;
    stage.beside = other;
    stage.below = k < which;
    at = place + stage.below;
  }
  if (!stage.beside && at && in->n) stage.beside = t->row.at[at - 1], stage.below = true;
  put_stage(t, stage, at);
  t->put[maker] = true;
  for (uint32_t i = 0; i < stage.out.n; i++)
    if (!t->left[stage.out.at[i]]) put_end(t, stage.out.at[i], stage.block);
}

static void put_sources(Settle *t, const Ids *in) {
  for (uint32_t i = 0; i < in->n; i++) {
    uint32_t maker = t->maker[t->s->bundle.at[in->at[i]].of];
    if (maker && !t->s->stage.at[maker - 1].in.n && !t->put[maker - 1])
      put_source(t, maker - 1, in, i);
  }
}

// Does a stage take nothing, and nobody what it makes?
static bool is_idle(const Settle *t, uint32_t k) {
  const Stage *stage = &t->s->stage.at[k];
  bool idle = !stage->in.n && !t->put[k];
  for (uint32_t i = 0; i < stage->out.n; i++) idle &= !t->left[stage->out.at[i]];
  return idle;
}

// In the order in which they stand; the uses are moved with them.
static void sort_by_row(const Ids *row, Ids *wanted, Ids *uses) {
  for (uint32_t i = 1; i < wanted->n; i++)
    for (uint32_t k = i; k && ids_find(row, wanted->at[k - 1]) > ids_find(row, wanted->at[k]);
         k--) {
      uint32_t x = wanted->at[k], u = uses->at[k];
      wanted->at[k] = wanted->at[k - 1], wanted->at[k - 1] = x;
      uses->at[k] = uses->at[k - 1], uses->at[k - 1] = u;
    }
}

static void settle_stage(Settle *t, uint32_t k) {
  Stage stage = t->s->stage.at[k];
  Ids wanted = {0};
  if (!stage.in.n) return; // when it is used
  put_sources(t, &stage.in);
  for (uint32_t i = 0; i < stage.in.n; i++) take(t, stage.in.at[i]);
  for (uint32_t i = 0; i < stage.in.n; i++) vec_push(t->arena, &wanted, t->stands[stage.in.at[i]]);
  if (stage.free) sort_by_row(&t->row, &wanted, &stage.in);
  gather(t, &wanted, stage.block);
  for (uint32_t i = 0; i < stage.in.n; i++) t->stands[stage.in.at[i]] = wanted.at[i];
  stage.in = wanted;
  put_stage(t, stage, ids_find(&t->row, wanted.at[0]));
  for (uint32_t i = 0; i < stage.out.n; i++)
    if (!t->left[stage.out.at[i]]) put_end(t, stage.out.at[i], stage.block);
}

static uint32_t settled_strand(const Settle *t, uint32_t strand) {
  const Strand *x = &t->s->strand.at[strand];
  if (x->bundle >= t->uses || !t->stands[x->bundle]) return strand;
  return strand - t->s->bundle.at[x->bundle].first + t->s->bundle.at[t->stands[x->bundle]].first;
}

static void settle_strands(Settle *t) {
  for (uint32_t k = 0; k < t->stage.n; k++) {
    Stage *stage = &t->stage.at[k];
    for (uint32_t i = 0; i < stage->link.n; i++) {
      stage->link.at[i].a = settled_strand(t, stage->link.at[i].a);
      stage->link.at[i].to = settled_strand(t, stage->link.at[i].to);
    }
    for (uint32_t g = 0; g < stage->glyph.n; g++)
      for (uint32_t i = 0; i < stage->glyph.at[g].in.n; i++)
        stage->glyph.at[g].in.at[i] = settled_strand(t, stage->glyph.at[g].in.at[i]);
    for (uint32_t g = 0; g < stage->glyph.n; g++)
      for (uint32_t i = 0; i < stage->glyph.at[g].touch.n; i++)
        stage->glyph.at[g].touch.at[i] = settled_strand(t, stage->glyph.at[g].touch.at[i]);
  }
}

void sketch_settle(Sketch *s) {
  Arena *a = s->arena;
  Settle t = {.s = s, .arena = a, .uses = s->bundle.n};
  t.left = NEW_ARRAY(a, uint32_t, t.uses);
  t.now = NEW_ARRAY(a, uint32_t, t.uses);
  t.stands = NEW_ARRAY(a, uint32_t, t.uses);
  t.maker = NEW_ARRAY(a, uint32_t, t.uses);
  t.put = NEW_ARRAY(a, bool, s->stage.n + 1);
  for (uint32_t k = 0; k < s->stage.n; k++)
    for (uint32_t i = 0; i < s->stage.at[k].out.n; i++) t.maker[s->stage.at[k].out.at[i]] = k + 1;
  for (uint32_t i = 1; i < t.uses; i++)
    t.left[s->bundle.at[i].of] += s->bundle.at[i].of > 0, t.now[i] = i;
  find_homes(&t);
  for (uint32_t i = 0; i < s->in.n; i++) vec_push(a, &t.row, s->in.at[i]);
  for (uint32_t i = 0; i < s->in.n; i++)
    if (!t.left[s->in.at[i]]) put_end(&t, s->in.at[i], 0);
  for (uint32_t k = 0; k < s->stage.n; k++) settle_stage(&t, k);
  Ids out = {0};
  for (uint32_t k = 0; k < s->stage.n; k++) // what nobody uses is seen to end
    if (is_idle(&t, k)) put_source(&t, k, &out, 0);
  put_sources(&t, &s->out);
  for (uint32_t i = 0; i < s->out.n; i++) take(&t, s->out.at[i]);
  for (uint32_t i = 0; i < s->out.n; i++) vec_push(a, &out, t.stands[s->out.at[i]]);
  if (out.n) gather(&t, &out, 0);
  settle_strands(&t);
  s->out = out;
  s->stage.at = t.stage.at, s->stage.n = t.stage.n, s->stage.cap = t.stage.cap;
}
