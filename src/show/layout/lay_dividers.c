// The ends of dividers. A divider begins where the second of its two tensors arrives beside the
// first: at its glyph or dot, or where its curve has passed the divider's height. It ends where
// either tensor ends or curves to that height. Heights come from lay_columns.c, which keeps passing
// marks away; here, the ends avoid obstacles.
#include "show/layout/lay_own.h"

#include <math.h>

enum { LEAST = 26 }; // shorter ones are not visible
enum { FAR = 45 };   // jumping that far would cross too much
enum { CLEAR = 7 };  // a curve that comes nearer ends a divider
enum { REACH = 3 };  // distance from a glyph in its way

typedef struct { // the course of a strand
  double x0, y0; // start: its port or dot
  double x1, y1; // and end
  bool passes;   // it continues after the stage that reads it
} DividerRun;

typedef struct {
  Lay *y;
  DividerRun *run;    // [strand]
  const Ids *section; // [section] its glyphs
} Finder;

// -- strands --------------------------------------------------------------------------------------
static void plain_runs(const Lay *y, DividerRun *run) {
  const Layout *l = y->l;
  for (uint32_t x = 1; x < y->s->strand.n; x++) {
    uint32_t b = y->s->strand.at[x].bundle, maker = y->o->maker[b];
    if (!l->there[b]) continue;
    const Section *s = &l->section.at[l->dies[x]];
    run[x] = (DividerRun){l->section.at[0].data, l->y[x], s->glyph, l->in[x], false};
    if (!y->o->taker[b]) run[x].x1 = l->section.at[l->section.n - 1].gather, run[x].y1 = l->y[x];
    if (!maker) continue;
    s = &l->section.at[l->born[x] - 1];
    run[x].x0 = stage_has(&y->s->stage.at[maker - 1], LINKS(COPY)) ? s->spread - 4 : s->glyph;
    run[x].y0 = l->out[x];
  }
}

static void find_runs(const Lay *y, DividerRun *run) {
  const Layout *l = y->l;
  plain_runs(y, run);
  for (uint32_t k = 0; k < y->s->stage.n; k++)
    for (uint32_t i = 0; i < y->s->stage.at[k].link.n; i++) {
      const Link *x = &y->s->stage.at[k].link.at[i];
      if (x->kind == LINK_COPY) run[x->to].y0 = l->y[x->a];
      if (x->kind == LINK_BEGIN) run[x->to].x0 = l->section.at[l->at[k]].spread - 4;
      if (x->kind == LINK_MERGE) run[x->a].y1 = l->out[x->to];
      if (x->kind == LINK_PASS) run[x->a].passes = true;
    }
  for (uint32_t i = 0; i < l->placed.n; i++) {
    const Placed *p = &l->placed.at[i];
    double half = glyph_port(p->glyph);
    for (uint32_t k = 0; k < p->glyph->in.n; k++) run[p->glyph->in.at[k]].x1 = p->x - half;
    for (uint32_t k = 0; k < p->glyph->out.n; k++) run[p->glyph->out.at[k]].x0 = p->x + half;
  }
}

// The x at which a curve between two points reaches a height.
static double curve_at(double x0, double y0, double x1, double y1, double height) {
  double low = 0, high = 1;
  for (int i = 0; i < 30; i++) {
    double t = (low + high) / 2, y = y0 + (y1 - y0) * t * t * (3 - 2 * t);
    if ((y < height) == (y0 < height))
      low = t;
    else
      high = t;
  }
  return x0 + (x1 - x0) * (1.5 * low - 1.5 * low * low + low * low * low);
}

static bool is_beside(double y, double height, bool above) {
  return above ? y <= height : y >= height;
}

// Where a strand begins or ends to be above or below a divider.
static double strand_end(const Finder *k, uint32_t x, double height, bool above, bool begin) {
  const Layout *l = k->y->l;
  const DividerRun *r = &k->run[x];
  double clear = height + (above ? -CLEAR : CLEAR), own = begin ? r->x0 : r->x1;
  double y = begin ? r->y0 : r->y1; // of its port or dot
  bool bends = begin ? l->born[x] : k->y->o->taker[k->y->s->strand.at[x].bundle];
  if (!bends || is_beside(y, clear, above)) return own;
  const Section *s = &l->section.at[begin ? l->born[x] - 1 : l->dies[x]];
  double port = begin ? fmax(own, s->spread + l->bend_out[x].from) : s->glyph - l->bend_in[x].to;
  double level = begin ? s->spread + l->bend_out[x].to : s->glyph - l->bend_in[x].from;
  if (!is_beside(l->y[x], clear, above)) return level;
  return begin ? curve_at(port, y, level, l->y[x], clear)
               : curve_at(level, l->y[x], port, y, clear);
}

// -- ends -----------------------------------------------------------------------------------------
// Moves x out of glyphs at this height in a section.
static double beside_glyphs(const Finder *k, uint32_t section, double height, double x,
                            bool begin) {
  const Layout *l = k->y->l;
  for (uint32_t i = 0; i < k->section[section].n; i++) {
    const Placed *p = &l->placed.at[k->section[section].at[i]];
    double y0, y1, half = glyph_width(p->glyph) / 2;
    glyph_extent(l, p, &y0, &y1);
    if (height < y0 - REACH || height > y1 + REACH) continue;
    x = begin ? fmax(x, p->x + half) : fmin(x, p->x - half);
  }
  return x;
}

// Where a tensor begins or ends to be next to a divider: where its nearest strand begins or ends,
// or another strand crosses over.
static double bundle_end(const Finder *k, uint32_t bundle, double height, bool above, bool begin) {
  const Bundle *b = &k->y->s->bundle.at[bundle];
  double x = begin ? -INFINITY : INFINITY, least = INFINITY, nearest = x;
  for (uint32_t i = b->first; i < b->first + b->n; i++) {
    const DividerRun *r = &k->run[i];
    double end = strand_end(k, i, height, above, begin);
    double far = fabs((begin ? r->y0 : r->y1) - height);
    if (begin && end > r->x0) x = fmax(x, end);
    if (!begin && end < r->x1) x = fmin(x, end);
    if (far < least) least = far, nearest = end;
  }
  return begin ? fmax(x, nearest) : fmin(x, nearest);
}

static double rule_end(const Finder *k, const LayRule *r, double height, bool begin) {
  const Layout *l = k->y->l;
  const uint32_t bundle[2] = {r->upper, r->lower}, at = begin ? r->first - 1 : r->last;
  double x = begin ? -INFINITY : INFINITY;
  if (begin && !r->first) return l->section.at[0].data;
  for (uint32_t side = 0; side < 2; side++) {
    double end = bundle_end(k, bundle[side], height, side == 0, begin);
    if (begin && bundle_born(k->y->o, bundle[side]) == r->first) x = fmax(x, end);
    if (!begin && bundle_dies(k->y->o, bundle[side]) == r->last) x = fmin(x, end);
  }
  if (begin ? x < 0 : x == INFINITY) x = l->section.at[at].glyph;
  return beside_glyphs(k, at, height, x, begin);
}

// Two tensors are joined into one, and both sides of the divider continue as they are.
static bool is_product(const Finder *k, const LayRule *r, double x1) {
  const Bundle *u = &k->y->s->bundle.at[r->upper], *v = &k->y->s->bundle.at[r->lower];
  uint32_t taker = k->y->o->taker[r->upper];
  if (!taker || taker != k->y->o->taker[r->lower] || !u->n || !v->n) return false;
  return x1 >= k->y->l->section.at[r->last].glyph - 1 && k->run[u->first + u->n - 1].passes &&
         k->run[v->first].passes;
}

// A constant that is used at once is not separated from its neighbour.
static bool is_brief(const Finder *k, const LayRule *r) {
  const Order *o = k->y->o;
  const uint32_t bundle[2] = {r->upper, r->lower};
  if (r->next || r->first != r->last || !r->first || o->taker[r->upper] != o->taker[r->lower])
    return false;
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t maker = o->maker[bundle[side]];
    if (maker && o->at[maker - 1] + 1 == r->first && !k->y->s->stage.at[maker - 1].in.n)
      return true;
  }
  return false;
}

// The x range of a jog to the next piece: before the glyphs if its other neighbour begins there,
// after them if that ends there, so that nothing is crossed.
static void jog(const Layout *l, const LayRule *r, const LayRule *next, double down, double *from,
                double *to) {
  double data = l->section.at[next->first].data, spread = l->section.at[r->last].spread;
  bool early = down > 0 ? r->lower == next->lower : r->upper == next->upper;
  bool late = down > 0 ? r->upper == next->upper : r->lower == next->lower;
  double length = fabs(down);
  *to = data, *from = fmax(data - length, spread - 6);
  if (early && !late)
    *from = fmax(spread - 6 - length, l->section.at[r->first].data), *to = *from + length;
  if (late && !early) *from = spread, *to = fmin(spread + length, l->section.at[next->last].gather);
}

// Is the divider interrupted at a stage, since it would run through a glyph or jump too far?
static bool is_broken(const Finder *k, const LayRule *r, const LayRule *next,
                      const int64_t *place) {
  double height = (double)place[r->var];
  if (fabs((double)place[next->var] - height) > FAR) return true;
  if (!next->within) return false;
  return place[next->var] != place[r->var] ||
         isfinite(beside_glyphs(k, r->last, height, INFINITY, false));
}

// Places pieces up to an interruption; returns the piece that continues after it.
static const LayRule *place_pieces(const Finder *k, const LayRule *r, const int64_t *place) {
  Layout *l = k->y->l;
  uint32_t first = l->divider.n;
  double x0 = rule_end(k, r, (double)place[r->var], true), begin = x0, x1 = x0;
  for (;;) {
    const LayRule *next = r->next ? &k->y->rule.at[r->next - 1] : NULL, *rest = next;
    double height = (double)place[r->var], to = 0;
    if (next && is_broken(k, r, next, place)) next = NULL;
    if (next)
      jog(l, r, next, (double)place[next->var] - height, &x1, &to);
    else
      x1 = rule_end(k, r, height, false);
    x1 = fmax(x0, x1);
    Divider d = {.x0 = x0, .x1 = x1, .y = height, .follows = l->divider.n > first};
    d.product = !next && is_product(k, r, x1);
    vec_push(k->y->arena, &l->divider, d);
    if (!next && x1 - begin < LEAST) l->divider.n = first;
    if (!next) return rest;
    r = next, x0 = fmax(x1, to);
  }
}

void place_dividers(Lay *y, const int64_t *place) {
  Arena *scratch = arena_child(y->arena);
  Ids *section = NEW_ARRAY(scratch, Ids, y->o->sections + 1);
  Finder k = {.y = y, .run = NEW_ARRAY(scratch, DividerRun, y->s->strand.n), .section = section};
  find_runs(y, k.run);
  for (uint32_t i = 0; i < y->l->placed.n; i++)
    vec_push(scratch, &section[y->l->at[y->l->placed.at[i].stage]], i);
  for (uint32_t i = 0; i < y->rule.n && !y->s->strings; i++)
    for (const LayRule *r = y->rule.at[i].follows ? NULL : &y->rule.at[i]; r;)
      r = is_brief(&k, r) ? NULL : place_pieces(&k, r, place);
  arena_free(scratch);
}
