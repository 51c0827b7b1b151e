// Computes coordinates for a settled sketch. Horizontally, a picture is a row of sections, each
// with space for labels, for curves into glyphs, for glyphs, and for curves out of them.
// Vertically, all heights are found at once by place.c: strands are pulled straight and separated
// by gaps. This file combines the others (lay_own.h).
#include "base/table.h"
#include "show/layout/lay_own.h"

#include <stdlib.h>

enum { STRAIGHTENED = 2, SMALL_BEND = 10, FIRM = 8, HARDER = 20 };

static Layout *layout_new(Arena *a, const Sketch *s, const Order *o) {
  Layout *l = NEW(a, Layout);
  l->s = s;
  l->at = o->at;
  l->gather = NEW_ARRAY(a, double, s->stage.n + 1);
  l->spread = NEW_ARRAY(a, double, s->stage.n + 1);
  l->bend_in = NEW_ARRAY(a, Bend, s->strand.n);
  l->bend_out = NEW_ARRAY(a, Bend, s->strand.n);
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

static void find_lives(Layout *l, const Order *o) {
  for (uint32_t x = 1; x < l->s->strand.n; x++) {
    uint32_t b = l->s->strand.at[x].bundle;
    l->there[b] = o->rank[b] > 0;
    l->born[x] = bundle_born(o, b);
    l->dies[x] = bundle_dies(o, b);
  }
}

static void read_heights(Lay *y, const int64_t *place) {
  Layout *l = y->l;
  for (uint32_t x = 1; x < y->s->strand.n; x++) {
    if (y->level[x] == UINT32_MAX) continue;
    l->y[x] = (double)place[y->level[x]];
    l->in[x] = y->mid_in[x] == UINT32_MAX ? l->y[x] : (double)place[y->mid_in[x]];
    l->out[x] = y->mid_out[x] == UINT32_MAX ? l->y[x] : (double)place[y->mid_out[x]];
  }
}

// Minimising the sum of bends may leave small bends, which are the most visible. Pulls such strands
// harder. Are there any?
static bool straighten(Lay *y, const int64_t *place) {
  bool any = false;
  for (uint32_t i = 0; i < y->p.pull.n; i++) {
    Pull *p = &y->p.pull.at[i];
    int64_t bend = llabs(place[p->b] - place[p->a]);
    if (p->offset || p->weight < FIRM || !bend || bend > SMALL_BEND) continue;
    p->weight *= HARDER;
    any = true;
  }
  return any;
}

static bool find_heights(Lay *y, int64_t *place) {
  bool good = places_solve(y->arena, &y->p, place, &y->l->steps);
  for (uint32_t k = 0; k < STRAIGHTENED && good && straighten(y, place); k++)
    good = places_solve(y->arena, &y->p, place, &y->l->steps);
  return good;
}

Layout *lay_ordered(Arena *a, const Sketch *s, const Order *o) {
  Layout *l = layout_new(a, s, o);
  Arena *scratch = arena_child(a);
  Lay y = {.arena = scratch, .s = s, .o = o, .l = l, .gaps = table_new(scratch)};
  y.p.most = SIZE_LIMIT; // higher pictures are refused
  y.level = NEW_ARRAY(scratch, uint32_t, s->strand.n);
  y.mid_in = NEW_ARRAY(scratch, uint32_t, s->strand.n);
  y.mid_out = NEW_ARRAY(scratch, uint32_t, s->strand.n);
  y.where = NEW_ARRAY(scratch, uint32_t, s->strand.n);
  y.floats = NEW_ARRAY(scratch, uint32_t, s->stage.n + 1);
  find_lives(l, o);
  find_items(&y);
  find_variables(&y);
  constrain(&y);
  int64_t *place = NEW_ARRAY(scratch, int64_t, y.p.n + 1);
  bool good = find_heights(&y, place);
  if (good) {
    read_heights(&y, place);
    y.arena = a; // results must outlive the scratch arena
    find_curves(&y);
    find_x(&y);
    place_glyphs(&y, place);
    place_dividers(&y, place);
    find_frames(&y);
    layout_shift(l, 0, MARGIN + 14 - l->top[0]);
    l->height = l->bottom[0] + MARGIN;
  }
  arena_free(scratch);
  return good ? l : NULL;
}

Layout *lay_out(Arena *a, Sketch *s) {
  sketch_settle(s);
  return lay_ordered(a, s, sketch_order(a, s));
}
