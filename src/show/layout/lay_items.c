// The items of each stage from top to bottom, ordered to minimise crossings before and after: by
// the barycentre of their strands, then by swapping neighbours while that helps.
#include "show/layout/lay_own.h"

bool is_merge(const Item *m) { return !m->glyph && m->out.n && m->in.n > 1; }

Ids strands_of(const Lay *y, const Ids *bundles) {
  Ids all = {0};
  for (uint32_t i = 0; i < bundles->n; i++)
    for (uint32_t k = 0; k < y->s->bundle.at[bundles->at[i]].n; k++)
      vec_push(y->arena, &all, strand_at(y->s, bundles->at[i], k));
  return all;
}

Ids find_where(Lay *y, const Ids *bundles) {
  Ids all = strands_of(y, bundles);
  for (uint32_t i = 0; i < all.n; i++) y->where[all.at[i]] = i;
  return all;
}

static Item *item_with_out(Items *items, uint32_t strand) {
  for (uint32_t i = 0; i < items->n; i++)
    if (ids_find(&items->at[i].out, strand) < items->at[i].out.n) return &items->at[i];
  return NULL;
}

// When whole tensors merge, the upper one continues straight as the main path. When a strand merges
// with one of a tensor whose other strands pass, the lower one does.
static Items items_of(Lay *y, const Stage *t) {
  Items items = {0};
  Arena *a = y->arena;
  bool upper = !stage_has(t, LINKS(PASS) | LINKS(CUP));
  for (uint32_t i = 0; i < t->glyph.n; i++) {
    const Glyph *g = &t->glyph.at[i];
    if (g->kind != GLYPH_WISE) vec_push(a, &items, (Item){.in = g->in, .out = g->out, .glyph = g});
  }
  for (uint32_t i = 0; i < t->link.n; i++) {
    const Link *k = &t->link.at[i];
    Item *made = k->kind == LINK_MERGE ? item_with_out(&items, k->to) : NULL;
    Item item = {0};
    if (k->kind == LINK_COPY) continue; // it begins on another strand
    if (made) {
      vec_push(a, &made->in, k->a);
      continue;
    }
    bool turned = k->kind == LINK_CUP && y->where[k->a] > y->where[k->to];
    if (turned) vec_push(a, &item.in, k->to);
    if (k->kind != LINK_BEGIN) vec_push(a, &item.in, k->a);
    if (k->kind == LINK_CUP && !turned) vec_push(a, &item.in, k->to);
    if (k->kind != LINK_CUP && k->kind != LINK_END) vec_push(a, &item.out, k->to);
    vec_push(a, &items, item);
  }
  for (uint32_t i = 0; i < items.n; i++) {
    Item *m = &items.at[i];
    if (!is_merge(m)) continue;
    for (uint32_t k = 1; k < m->in.n; k++)
      if ((y->where[m->in.at[k]] > y->where[m->in.at[m->straight]]) != upper) m->straight = k;
  }
  return items;
}

// Counts pairs of strands of two items that are in opposite order outside.
static uint32_t pair_crossings(const Lay *y, const Ids *upper, const Ids *lower) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < upper->n; i++)
    for (uint32_t k = 0; k < lower->n; k++) n += y->where[upper->at[i]] > y->where[lower->at[k]];
  return n;
}

static uint32_t crossings(const Lay *y, const Item *upper, const Item *lower) {
  return pair_crossings(y, &upper->in, &lower->in) + pair_crossings(y, &upper->out, &lower->out);
}

static double barycentre(const Lay *y, const Ids *own, uint32_t outside, double other) {
  double sum = 0;
  for (uint32_t i = 0; i < own->n; i++) sum += y->where[own->at[i]];
  return own->n ? sum / own->n / (outside ? outside : 1) : other;
}

// A stage that only permutes does so in one bend, before its glyphs.
static void sort_items(Lay *y, Items *items, uint32_t before, uint32_t behind, bool crosses) {
  KeyedItem *key = NEW_ARRAY(y->arena, KeyedItem, items->n + 1);
  Item *old = items->n ? arena_copy(y->arena, items->at, items->n * sizeof *old) : NULL;
  for (uint32_t i = 0; i < items->n; i++) {
    double in = barycentre(y, &old[i].in, before, -1), out = barycentre(y, &old[i].out, behind, in);
    key[i] = (KeyedItem){in < 0 || crosses ? out : (in + out) / 2, i};
  }
  sort_keyed(key, items->n);
  for (uint32_t i = 0; i < items->n; i++) items->at[i] = old[key[i].at];
}

static void swap_items(Lay *y, Items *items) {
  bool moved = true;
  for (uint32_t round = 0; moved && round < items->n; round++) {
    moved = false;
    for (uint32_t k = 1; k < items->n; k++) {
      Item *u = &items->at[k - 1], *v = &items->at[k], item = *u;
      if (crossings(y, v, u) >= crossings(y, u, v)) continue;
      *u = *v, *v = item;
      moved = true;
    }
  }
}

void find_items(Lay *y) {
  const Sketch *s = y->s;
  y->items = NEW_ARRAY(y->arena, Items, s->stage.n + 1);
  for (uint32_t k = 0; k < s->stage.n; k++) {
    const Stage *t = &s->stage.at[k];
    uint32_t before = find_where(y, &t->in).n, behind = find_where(y, &t->out).n;
    y->items[k] = items_of(y, t);
    sort_items(y, &y->items[k], before, behind, !t->glyph.n && !stage_has(t, ~LINKS(PASS)));
    swap_items(y, &y->items[k]);
  }
}
