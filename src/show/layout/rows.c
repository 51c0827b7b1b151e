// Breaks a wide picture into rows, each a picture of its own: strands that cross a cut leave one
// row and enter the next, in order. So long networks do not drift downwards, and the cost of layout
// is that of rows.
//
// Cuts are between sections and are optimised together, like line breaks by Knuth and Plass: rows
// should be full, and blocks, above all repeats, should not be cut. Widths are estimated first and
// corrected by the measured rows, then cuts are chosen again.
#include "show/layout/sketch.h"

#include <math.h>

enum { ROUNDS = 5, NUMBERED = 3, NUMBER = 11 };
#define OVERRUN 0.15 // a row may exceed the default width by this share
#define PLANNED 0.8  // the share of the overrun that is planned for
#define LESS 0.02    // reduction of the planned width in each round
// Penalties, which are added; the shortfall of a row is squared.
#define LAST 0.25 // factor of the shortfall in the last row
#define BAD_OVERRUN 2.0
#define BAD_CUT 0.4    // cutting a block
#define BAD_REPEAT 0.4 // cutting a repeat
#define BAD_WHOLE 4.0  // cutting a block that would fit into a row
#define BAD_SHORT 2.0  // a piece of less than a third of the row
#define BAD_ROW 0.02
#define BAD_STRAND 0.03 // cutting a strand

typedef struct {
  Arena *arena;
  Sketch *s;
  Order *o;
  double width, over; // width of a row, and allowed overrun
  double aim;         // planned width
  double *wide;       // [section] its width
  double *upto;       // [section] sum of the widths before it
  BlockReach *span;   // [block]
  uint32_t *strands;  // [section] strands alive at its start
  Ids *cut;           // [section] blocks that a cut before it would cut, outermost first
  Ids at;             // first section of each row; then the number of sections
} Breaking;

// -- widths ---------------------------------------------------------------------------------------
typedef struct {
  double data, gather, glyph, spread;
} Guess;

static double curve_guess(uint32_t strands) { return fmin(90, fmax(30, 9.0 * strands)); }

static void guess_stage(const Breaking *r, const Stage *t, Guess *g) {
  uint32_t strands = 0;
  bool in = false, out = false;
  for (uint32_t i = 0; i < t->in.n; i++) strands += r->s->bundle.at[t->in.at[i]].n;
  for (uint32_t i = 0; i < t->link.n; i++) {
    LinkKind kind = t->link.at[i].kind;
    in |= kind == LINK_MERGE || kind == LINK_CUP, out |= kind == LINK_COPY;
    g->glyph = fmax(g->glyph, kind == LINK_CUP ? 24 : 8);
  }
  for (uint32_t i = 0; i < t->glyph.n; i++)
    g->glyph = fmax(g->glyph, glyph_width(&t->glyph.at[i]) + 16);
  if (!t->glyph.n && t->out.n == t->in.n && t->in.n > 1) in = true;
  if (in) g->gather = fmax(g->gather, curve_guess(strands));
  if (out) g->spread = fmax(g->spread, curve_guess(strands));
}

static void guess_widths(Breaking *r) {
  const Sketch *s = r->s;
  Guess *g = NEW_ARRAY(r->arena, Guess, r->o->sections + 1);
  for (uint32_t k = 0; k < s->stage.n; k++) guess_stage(r, &s->stage.at[k], &g[r->o->at[k]]);
  for (uint32_t b = 1; b < s->bundle.n; b++) {
    uint32_t maker = r->o->maker[b], born = bundle_born(r->o, b);
    bool is_new = !maker || s->stage.at[maker - 1].glyph.n;
    for (uint32_t i = 0; r->o->rank[b] && is_new && i < s->bundle.at[b].n; i++) {
      const char *label = s->strand.at[strand_at(s, b, i)].label;
      if (label) g[born].data = fmax(g[born].data, label_width(label) + 12);
    }
  }
  for (uint32_t k = 0; k <= r->o->sections; k++)
    r->wide[k] = fmax(14, g[k].data) + g[k].gather + g[k].glyph + g[k].spread;
}

static void add_up(Breaking *r) {
  for (uint32_t k = 0; k <= r->o->sections; k++) r->upto[k + 1] = r->upto[k] + r->wide[k];
}

// The width of sections i up to j, with the ends of strands.
static double row_width(const Breaking *r, uint32_t i, uint32_t j) {
  double ends = 24 + 14 + (i ? ROW_BEND + 24 : 0) + (j < r->o->sections ? ROW_BEND : 0);
  return r->upto[j] - r->upto[i] + ends;
}

// -- slices ---------------------------------------------------------------------------------------
static void find_spans(Breaking *r) {
  r->span = block_reach(r->arena, r->s, r->o);
  for (uint32_t b = 1; b < r->s->block.n; b++)
    for (uint32_t k = r->span[b].first; k < r->span[b].last; k++)
      vec_push(r->arena, &r->cut[k + 1], b);
}

static void count_strands(Breaking *r) {
  int32_t *change = NEW_ARRAY(r->arena, int32_t, r->o->sections + 2), now = 0;
  for (uint32_t b = 1; b < r->s->bundle.n; b++) {
    if (!r->o->rank[b]) continue;
    change[bundle_born(r->o, b)] += (int32_t)r->s->bundle.at[b].n;
    change[bundle_dies(r->o, b) + 1] -= (int32_t)r->s->bundle.at[b].n;
  }
  for (uint32_t k = 0; k <= r->o->sections; k++) r->strands[k] = (uint32_t)(now += change[k]);
}

static double block_width(const Breaking *r, uint32_t b) {
  return row_width(r, r->span[b].first, r->span[b].last + 1);
}

// A cut before section k.
static double badness_of_cut(const Breaking *r, uint32_t k) {
  double sum = BAD_STRAND * r->strands[k];
  for (uint32_t i = 0; i < r->cut[k].n; i++) {
    uint32_t b = r->cut[k].at[i];
    sum += BAD_CUT + (r->s->block.at[b].times ? BAD_REPEAT : 0);
    if (block_width(r, b) <= r->width) sum += BAD_WHOLE;
  }
  return sum;
}

// The penalty for the pieces of cut outermost blocks at the ends of a row.
static double badness_of_pieces(const Breaking *r, uint32_t i, uint32_t j) {
  double sum = 0;
  for (uint32_t end = 0; end < 2; end++) {
    const Ids *cut = &r->cut[end ? j : i];
    if (!cut->n) continue;
    const BlockReach *x = &r->span[cut->at[0]];
    uint32_t from = x->first > i ? x->first : i, to = x->last + 1 < j ? x->last + 1 : j;
    if (r->upto[to] - r->upto[from] < r->width / 3) sum += BAD_SHORT;
  }
  return sum;
}

static double badness_of_row(const Breaking *r, uint32_t i, uint32_t j) {
  double rest = (r->aim - row_width(r, i, j)) / r->aim, bad = BAD_ROW;
  if (rest < 0)
    bad += BAD_OVERRUN * rest * rest + (rest < -PLANNED * r->over ? 100 * -rest : 0);
  else
    bad += rest * rest * (j < r->o->sections ? 1 : LAST);
  return bad + badness_of_pieces(r, i, j) + (j < r->o->sections ? badness_of_cut(r, j) : 0);
}

static void choose_cuts(Breaking *r) {
  uint32_t n = r->o->sections, *from = NEW_ARRAY(r->arena, uint32_t, n + 1);
  double *best = NEW_ARRAY(r->arena, double, n + 1);
  for (uint32_t j = 1; j <= n; j++) {
    best[j] = INFINITY;
    for (uint32_t i = j; i-- > 0;) {
      double bad = best[i] + badness_of_row(r, i, j);
      if (bad < best[j]) best[j] = bad, from[j] = i;
      if (row_width(r, i, j) > r->aim * (1 + PLANNED * r->over)) break;
    }
  }
  r->at.n = 0;
  Ids turned = {0};
  for (uint32_t j = n; j; j = from[j]) vec_push(r->arena, &turned, j);
  vec_push(r->arena, &r->at, 0);
  for (uint32_t i = turned.n; i-- > 0;) vec_push(r->arena, &r->at, turned.at[i]);
}

// -- a row is a sketch ----------------------------------------------------------------------------
typedef struct {
  const Breaking *r;
  Arena *arena;
  Ids *stages;     // [row]
  Ids *alive;      // [row + 1] bundles alive at its start, top to bottom
  uint32_t *to;    // [bundle] its copy in the current row
  uint32_t *block; // [block] its copy in the current row
  uint32_t *known; // [block] the row of that copy + 1
  uint32_t row;
  Sketch *s;
  Order *o;
  Ids rank;
} Cutting;

static uint32_t row_of(const Breaking *r,
                       uint32_t section) { // the last one that begins there or before
  uint32_t low = 0, high = r->at.n - 1;
  while (high - low > 1) {
    uint32_t mid = (low + high) / 2;
    if (r->at.at[mid] <= section)
      low = mid;
    else
      high = mid;
  }
  return low;
}

// Determines the bundles that cross each cut, top to bottom.
static void find_alive(Cutting *c) {
  const Breaking *r = c->r;
  Ids all = bundles_by_rank(r->arena, r->s, r->o);
  for (uint32_t i = 0; i < all.n; i++) {
    uint32_t b = all.at[i], born = bundle_born(r->o, b), dies = bundle_dies(r->o, b);
    uint32_t k = row_of(r, born);
    if (r->at.at[k] < born) k++;
    for (; k < r->at.n && r->at.at[k] <= dies; k++) vec_push(r->arena, &c->alive[k], b);
  }
}

static uint32_t cut_block(Cutting *c, uint32_t b) {
  const Breaking *r = c->r;
  if (!b || c->known[b] == c->row + 1) return b ? c->block[b] : 0;
  Block k = r->s->block.at[b];
  k.parent = cut_block(c, k.parent);
  k.before = r->span[b].first < r->at.at[c->row];
  k.after = r->span[b].last >= r->at.at[c->row + 1];
  vec_push(c->arena, &c->s->block, k);
  c->known[b] = c->row + 1;
  return c->block[b] = c->s->block.n - 1;
}

static uint32_t cut_bundle(Cutting *c, uint32_t b, bool is_named) {
  const Bundle *old = &c->r->s->bundle.at[b];
  uint32_t id = c->s->bundle.n;
  Bundle k = {
      .name = is_named ? old->name : NULL, .first = c->s->strand.n, .n = old->n, .as = old->as};
  k.block = cut_block(c, old->block);
  for (uint32_t i = 0; i < old->n; i++) {
    Strand x = c->r->s->strand.at[old->first + i];
    x.bundle = id;
    vec_push(c->arena, &c->s->strand, x);
  }
  vec_push(c->arena, &c->s->bundle, k);
  vec_push(c->arena, &c->rank, c->r->o->rank[b]);
  return c->to[b] = id;
}

static uint32_t cut_strand(const Cutting *c, uint32_t x) {
  if (!x) return 0;
  uint32_t b = c->r->s->strand.at[x].bundle;
  return c->s->bundle.at[c->to[b]].first + x - c->r->s->bundle.at[b].first;
}

static Ids cut_strands(const Cutting *c, const Ids *ids) {
  Ids all = {0};
  for (uint32_t i = 0; i < ids->n; i++) vec_push(c->arena, &all, cut_strand(c, ids->at[i]));
  return all;
}

static void cut_stage(Cutting *c, uint32_t k) {
  const Stage *old = &c->r->s->stage.at[k];
  Stage t = *old;
  t.block = cut_block(c, old->block);
  t.in = t.out = (Ids){0};
  t.link.at = NULL, t.link.n = t.link.cap = 0;
  t.glyph.at = NULL, t.glyph.n = t.glyph.cap = 0;
  for (uint32_t i = 0; i < old->in.n; i++) vec_push(c->arena, &t.in, c->to[old->in.at[i]]);
  for (uint32_t i = 0; i < old->out.n; i++)
    vec_push(c->arena, &t.out, cut_bundle(c, old->out.at[i], false));
  for (uint32_t i = 0; i < old->link.n; i++) {
    const Link *x = &old->link.at[i];
    vec_push(c->arena, &t.link, (Link){x->kind, cut_strand(c, x->a), cut_strand(c, x->to)});
  }
  for (uint32_t i = 0; i < old->glyph.n; i++) {
    Glyph g = old->glyph.at[i];
    g.in = cut_strands(c, &g.in), g.out = cut_strands(c, &g.out);
    g.touch = cut_strands(c, &g.touch);
    g.over = g.over ? c->to[g.over] : 0;
    vec_push(c->arena, &t.glyph, g);
  }
  vec_push(c->arena, &c->s->stage, t);
}

static void cut_row(Cutting *c) {
  const Breaking *r = c->r;
  Arena *a = c->arena;
  uint32_t row = c->row, from = r->at.at[row], to = r->at.at[row + 1];
  c->s = sketch_new(a, r->s->title);
  c->s->strings = r->s->strings, c->s->settled = true;
  c->s->room = r->s->room, c->s->row = r->s->row;
  if (row + 2 == r->at.n) c->s->ends = r->s->ends;
  c->s->before = row > 0, c->s->after = row + 2 < r->at.n;
  c->rank = (Ids){0};
  vec_push(a, &c->rank, 0);
  for (uint32_t i = 0; i < c->alive[row].n; i++)
    vec_push(a, &c->s->in, cut_bundle(c, c->alive[row].at[i], row == 0));
  for (uint32_t i = 0; i < c->stages[row].n; i++) cut_stage(c, c->stages[row].at[i]);
  for (uint32_t i = 0; i < c->alive[row + 1].n; i++)
    vec_push(a, &c->s->out, c->to[c->alive[row + 1].at[i]]);
  c->o = order_new(a, c->s);
  c->o->sections = to - from, c->o->rank = c->rank.at;
  for (uint32_t i = 0; i < c->s->stage.n; i++) c->o->at[i] = r->o->at[c->stages[row].at[i]] - from;
}

// -- the page -------------------------------------------------------------------------------------
static void page_add(Arena *a, SketchPage *p, Layout *l) {
  p->width = fmax(p->width, l->width);
  p->height += l->height + (p->row.n ? ROW_GAP : 0);
  p->steps += l->steps;
  vec_push(a, &p->row, l);
}

static SketchPage *lay_rows(Breaking *r) {
  Arena *a = r->arena;
  uint32_t rows = r->at.n - 1;
  Cutting c = {.r = r, .arena = a};
  c.stages = NEW_ARRAY(a, Ids, rows + 1);
  c.alive = NEW_ARRAY(a, Ids, rows + 1);
  c.to = NEW_ARRAY(a, uint32_t, r->s->bundle.n);
  c.block = NEW_ARRAY(a, uint32_t, r->s->block.n);
  c.known = NEW_ARRAY(a, uint32_t, r->s->block.n);
  for (uint32_t k = 0; k < r->s->stage.n; k++) vec_push(a, &c.stages[row_of(r, r->o->at[k])], k);
  find_alive(&c);
  SketchPage *p = NEW(a, SketchPage);
  for (; c.row < rows; c.row++) {
    cut_row(&c);
    Layout *l = lay_ordered(a, c.s, c.o);
    if (!l) return NULL;
    for (uint32_t k = 0; k < c.o->sections; k++)
      r->wide[r->at.at[c.row] + k] = l->section.at[k].end - l->section.at[k].data;
    page_add(a, p, l);
  }
  return p;
}

static bool is_too_wide(const Breaking *r, const SketchPage *p) {
  for (uint32_t i = 0; i < p->row.n; i++)
    if (p->row.at[i]->width > r->width * (1 + r->over) && p->row.at[i]->section.n > 2) return true;
  return false;
}

static SketchPage *break_rows(Arena *a, Sketch *s, Order *o, double width, double over) {
  Breaking r = {.arena = a, .s = s, .o = o, .width = width, .over = over};
  r.wide = NEW_ARRAY(a, double, o->sections + 1);
  r.upto = NEW_ARRAY(a, double, o->sections + 2);
  r.strands = NEW_ARRAY(a, uint32_t, o->sections + 1);
  r.cut = NEW_ARRAY(a, Ids, o->sections + 1);
  guess_widths(&r);
  find_spans(&r);
  count_strands(&r);
  SketchPage *best = NULL;
  uint64_t steps = 0;
  for (uint32_t round = 0; round < ROUNDS && (!best || is_too_wide(&r, best)); round++) {
    r.aim = width * (1 - LESS * round);
    add_up(&r);
    choose_cuts(&r);
    SketchPage *p = lay_rows(&r);
    if (!p) return NULL;
    steps += p->steps;
    if (!best || p->width < best->width) best = p;
  }
  best->steps = steps;
  return best;
}

SketchPage *lay_page(Arena *a, Sketch *s, double width) {
  sketch_settle(s);
  Order *o = sketch_order(a, s);
  if (width > 0 && o->sections > 1) return break_rows(a, s, o, width, 0);
  if (width >= 0 && o->sections > 1) return break_rows(a, s, o, ROW_WIDTH, OVERRUN);
  Layout *l = lay_ordered(a, s, o);
  SketchPage *p = NEW(a, SketchPage);
  if (l) page_add(a, p, l);
  return l ? p : NULL;
}

void page_row_paint(Canvas *c, Arena *a, const SketchPage *p, uint32_t row) {
  paint(c, a, p->row.at[row]);
  if (p->row.n > NUMBERED)
    canvas_text(c, 3, NUMBER + 3, &(Text){.face = FACE_SANS, .size = NUMBER, .ink = INK_SOFT},
                arena_format(a, "%u", row + 1));
}

Canvas *page_paint(Arena *a, const SketchPage *p, const Sketch *s) {
  Canvas *c = canvas_new(a, p->width, p->height, s->title, s->about);
  double down = 0;
  for (uint32_t i = 0; i < p->row.n; i++) {
    page_row_paint(c, a, p, i);
    canvas_shift(c, 0, p->row.at[i]->height + ROW_GAP);
    down += p->row.at[i]->height + ROW_GAP;
  }
  canvas_shift(c, 0, -down);
  return c;
}
