// Horizontal layout: the widths of sections, and which labels are shown. A label is shown where an
// axis begins or changes, and at the ends, in the part of a section in which strands are
// horizontal, so that it meets no curve or glyph.
#include "show/layout/lay_own.h"

#include <math.h>

typedef struct {
  double data, gather, glyph, spread, more;
  uint32_t begins, ends; // nested frames that begin after the labels, and that end there
} Widths;

static void stage_widths(Lay *y, uint32_t k, Widths *w) {
  const Layout *l = y->l;
  const Stage *t = &y->s->stage.at[k];
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *x = &t->link.at[i];
    if (x->kind == LINK_CUP) w->glyph = fmax(w->glyph, fabs(l->in[x->a] - l->in[x->to]) / 2 + 14);
    if (x->kind == LINK_MERGE || x->kind == LINK_COPY || x->kind == LINK_END)
      w->glyph = fmax(w->glyph, 8);
  }
  for (uint32_t i = 0; i < t->glyph.n; i++)
    w->glyph = fmax(w->glyph, glyph_width(&t->glyph.at[i]) + 16);
  w->gather = fmax(w->gather, l->gather[k]);
  w->spread = fmax(w->spread, l->spread[k]);
}

static bool is_kept(const Sketch *s, const Glyph *g, uint32_t x) {
  uint32_t at = ids_find(&g->out, x);
  if (!glyph_is_passed(g) || at >= g->out.n || at >= g->in.n) return false;
  return same_label(s, g->in.at[at], x);
}

static bool is_label_new(const Lay *y, uint32_t x) {
  uint32_t maker = y->o->maker[y->s->strand.at[x].bundle];
  if (!maker) return true;
  const Stage *t = &y->s->stage.at[maker - 1];
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *k = &t->link.at[i];
    if (k->to != x || k->kind == LINK_CUP) continue;
    return k->kind == LINK_BEGIN || !same_label(y->s, k->a, x);
  }
  for (uint32_t i = 0; i < t->glyph.n; i++) // a normalised axis keeps its label
    if (is_kept(y->s, &t->glyph.at[i], x)) return false;
  return true;
}

// The section in which its label is shown + 1; 0: none.
static uint32_t label_section(const Lay *y, uint32_t x) {
  const Sketch *s = y->s;
  uint32_t b = s->strand.at[x].bundle, born = bundle_born(y->o, b), sections = y->o->sections;
  bool first = !y->o->maker[b], last = !y->o->taker[b];
  if (!s->strand.at[x].label || (s->inset && (first || last))) return 0;
  bool is_new = is_label_new(y, x);
  if (is_new && !(last && s->after && born == sections)) return born + 1;
  return last && !s->after ? (born < sections ? sections : born) + 1 : 0;
}

// The name of an operand in a formula is on its first strand, before the stage that reads it.
static void find_operands(Lay *y, Widths *w) {
  for (uint32_t b = 1; b < y->s->bundle.n; b++) {
    const Bundle *k = &y->s->bundle.at[b];
    if (!y->o->rank[b] || !k->as || !k->n || !y->o->taker[b]) continue;
    uint32_t at = bundle_dies(y->o, b);
    double label =
        y->l->label[k->first] == at + 1 ? label_width(y->s->strand.at[k->first].label) : 0;
    w[at].data = fmax(w[at].data, label + 12 + operand_width(k->as) + 8);
  }
}

static void find_labels(Lay *y, Widths *w) {
  for (uint32_t b = 1; b < y->s->bundle.n; b++)
    for (uint32_t i = 0; y->o->rank[b] && i < y->s->bundle.at[b].n; i++) {
      uint32_t x = strand_at(y->s, b, i), at = y->l->label[x] = label_section(y, x);
      if (at) w[at - 1].data = fmax(w[at - 1].data, label_width(y->s->strand.at[x].label) + 12);
    }
}

// The space left of the first strands.
static double left_room(const Lay *y) {
  double names = y->s->before ? ROW_BEND : 0;
  for (uint32_t i = 0; i < y->s->in.n && !y->s->inset; i++) {
    const char *name = y->s->bundle.at[y->s->in.at[i]].name;
    if (name) names = fmax(names, name_width(name) + 8);
  }
  return MARGIN + names;
}

static void sections_from(Layout *l, Arena *a, const Widths *w, uint32_t n, double x) {
  double room = l->s->room > 0 ? l->s->room : ROOM;
  l->section.n = 0;
  for (uint32_t k = 0; k <= n; k++) {
    Section s = {.data = x};
    s.gather = s.data + fmax(w[k].data, room) + FRAME * w[k].begins;
    s.glyph = s.gather + w[k].gather;
    s.spread = s.glyph + w[k].glyph;
    s.end = s.spread + w[k].spread;
    x = s.end + (w[k].ends ? FRAME + FRAME_END * (w[k].ends - 1) : 0);
    vec_push(a, &l->section, s);
  }
}

// Counts nested frames that begin and end in a section: each needs an edge.
static void count_frames(const Lay *y, const BlockReach *reach, Widths *w) {
  const Sketch *s = y->s;
  for (uint32_t b = 1; b < s->block.n; b++) {
    uint32_t begins = 0, ends = 0, first = reach[b].first, last = reach[b].last;
    if (first == UINT32_MAX) continue;
    for (uint32_t o = b; o; o = s->block.at[o].parent) {
      begins += reach[o].first == first && !s->block.at[o].before;
      ends += reach[o].last == last && !s->block.at[o].after;
    }
    if (begins > w[first].begins) w[first].begins = begins;
    if (ends > w[last].ends) w[last].ends = ends;
  }
}

// A frame is at least as wide as its title.
static void widen_frames(const Lay *y, const BlockReach *reach, Widths *w) {
  const Sketch *s = y->s;
  for (uint32_t b = 1; b < s->block.n; b++) {
    const char *title = s->block.at[b].title;
    if (reach[b].first == UINT32_MAX || !title) continue;
    double wide = y->l->section.at[reach[b].last].end - y->l->section.at[reach[b].first].gather;
    double least = math_width(FACE_SANS, 13, title);
    Widths *last = &w[reach[b].last];
    last->more = fmax(last->more, least - wide);
  }
  for (uint32_t k = 0; k < y->o->sections; k++) w[k].glyph += fmax(0, w[k].more);
}

void find_x(Lay *y) {
  Layout *l = y->l;
  uint32_t sections = y->o->sections;
  Widths *w = NEW_ARRAY(y->arena, Widths, sections + 1);
  double x = left_room(y);
  for (uint32_t k = 0; k < y->s->stage.n; k++) stage_widths(y, k, &w[y->o->at[k]]);
  find_labels(y, w);
  find_operands(y, w);
  BlockReach *reach = block_reach(y->arena, y->s, y->o);
  count_frames(y, reach, w);
  sections_from(l, y->arena, w, sections, x);
  widen_frames(y, reach, w);
  sections_from(l, y->arena, w, sections, x);
  double ends = y->s->after ? ROW_BEND : 0;
  for (uint32_t i = 0; i < y->s->ends.n; i++) ends = fmax(ends, name_width(y->s->ends.at[i]) + 8);
  l->width = l->section.at[sections].gather + ends + MARGIN;
}
