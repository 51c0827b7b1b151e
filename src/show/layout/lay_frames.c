// Coordinates of glyphs and frames, from heights and sections. A frame that is cut at the end of a
// row extends to it.
#include "show/layout/lay_own.h"

#include <math.h>

void place_glyphs(Lay *y, const int64_t *place) {
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
}

// -- frames ---------------------------------------------------------------------------------------
static void frame_add(Layout *l, uint32_t block, double x0, double x1, double y0, double y1) {
  l->left[block] = fmin(l->left[block], x0), l->right[block] = fmax(l->right[block], x1);
  l->top[block] = fmin(l->top[block], y0), l->bottom[block] = fmax(l->bottom[block], y1);
}

static void frame_stage(Lay *y, uint32_t k) {
  Layout *l = y->l;
  const Stage *t = &y->s->stage.at[k];
  const Section *s = &l->section.at[l->at[k]];
  Ids before = strands_of(y, &t->in), behind = strands_of(y, &t->out);
  for (uint32_t i = 0; i < before.n; i++)
    frame_add(l, t->block, s->gather, s->end, l->in[before.at[i]] - NEAR,
              l->in[before.at[i]] + NEAR);
  for (uint32_t i = 0; i < behind.n; i++)
    frame_add(l, t->block, s->gather, s->end, l->y[behind.at[i]] - NEAR, l->y[behind.at[i]] + NEAR);
}

// Extends a frame over the bends at the ends of a row: up at the left, down at the right.
static void frame_cut(Lay *y, const Ids *bundles, double x, double over, double under) {
  for (uint32_t i = 0; i < bundles->n; i++) {
    const Bundle *b = &y->s->bundle.at[bundles->at[i]];
    for (uint32_t k = 0; b->block && k < b->n; k++)
      frame_add(y->l, b->block, x, x, y->l->y[b->first + k] - NEAR - over,
                y->l->y[b->first + k] + NEAR + under);
  }
}

static void frame_close(Lay *y, uint32_t b) {
  Layout *l = y->l;
  const Block *k = &y->s->block.at[b];
  if (l->top[b] > l->bottom[b]) return; // it has nothing in this row
  l->top[b] -= title_room(y->s, b), l->bottom[b] += foot_room(y->s, b);
  l->left[b] = k->before ? MARGIN : l->left[b] - FRAME;
  l->right[b] = k->after ? l->width - MARGIN : l->right[b] + FRAME_END;
  frame_add(l, k->parent, l->left[b], l->right[b], l->top[b], l->bottom[b]);
}

void find_frames(Lay *y) {
  Layout *l = y->l;
  for (uint32_t b = 0; b < y->s->block.n; b++)
    l->left[b] = l->top[b] = INFINITY, l->right[b] = l->bottom[b] = -INFINITY;
  for (uint32_t k = 0; k < y->s->stage.n; k++) frame_stage(y, k);
  if (y->s->before) frame_cut(y, &y->s->in, l->section.at[0].data, ROW_DROP, 0);
  if (y->s->after) frame_cut(y, &y->s->out, l->section.at[y->o->sections].gather, 0, ROW_DROP);
  for (uint32_t i = 0; i < l->placed.n; i++) {
    double y0, y1;
    const Placed *p = &l->placed.at[i];
    glyph_extent(l, p, &y0, &y1);
    frame_add(l, y->s->stage.at[p->stage].block, p->x, p->x, y0, y1);
  }
  for (uint32_t x = 1; x < y->s->strand.n; x++) {
    const Bundle *b = &y->s->bundle.at[y->s->strand.at[x].bundle];
    bool operand = b->as && x == b->first && l->there[y->s->strand.at[x].bundle];
    double over = label_reach(l->label[x] ? y->s->strand.at[x].label : NULL);
    if (l->label[x] || operand)
      frame_add(l, b->block, INFINITY, -INFINITY, l->y[x] - over, l->y[x]);
  }
  for (uint32_t b = y->s->block.n; b-- > 1;) frame_close(y, b);
  for (uint32_t x = 1; x < y->s->strand.n; x++)
    if (l->there[y->s->strand.at[x].bundle])
      frame_add(l, 0, MARGIN, l->width, l->y[x] - NEAR, l->y[x] + NEAR);
}

// -- insets ---------------------------------------------------------------------------------------
double inset_width(const Layout *l) {
  return l->section.at[l->section.n - 1].gather - l->section.at[0].data;
}

double inset_shift(const Layout *l, const Placed *p) {
  const Glyph *g = p->glyph;
  const Sketch *s = g->inset->s;
  double here = g->in.n ? l->in[g->in.at[0]] : l->out[g->out.at[0]];
  return here - g->inset->y[s->bundle.at[g->in.n ? s->in.at[0] : s->out.at[0]].first];
}

void inset_extent(const Layout *l, double *y0, double *y1) { *y0 = l->top[0], *y1 = l->bottom[0]; }

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
