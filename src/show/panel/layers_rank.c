// The first steps of a layered layout: adding units, pins and cables, cycle breaking, and rank
// assignment.
//
// 1. Cycle breaking: a depth-first walk along links, from the units of the first layer, finds those
//    that close a cycle. These run back. A unit that helps another is one with it.
// 2. Rank assignment: all other links run to the right, and the sum of their lengths is least
//    (place.h: network simplex).
#include "show/layout/place.h"
#include "show/panel/layers.h"

enum { EARLY = 1000 };

uint32_t layers_unit(Layers *l, LayerUnit u) {
  vec_push(l->arena, &l->unit, u);
  return l->unit.n - 1;
}

uint32_t layers_cable(Layers *l, LayerCable c) {
  vec_push(l->arena, &l->cable, c);
  return l->cable.n - 1;
}

uint32_t layers_pin(Layers *l, uint32_t unit, uint32_t cable, bool right, double y) {
  Ids *side = &l->unit.at[unit].side[right];
  LayerPin pin = {.unit = unit, .cable = cable, .right = right, .y = y, .rank = side->n};
  vec_push(l->arena, &l->pin, pin);
  vec_push(l->arena, side, l->pin.n - 1);
  vec_push(l->arena, &l->cable.at[cable].pin, l->pin.n - 1);
  return l->pin.n - 1;
}

uint32_t layers_wire(Layers *l, uint32_t from, uint32_t to) {
  uint32_t cable = layers_cable(l, (LayerCable){0});
  layers_pin(l, from, cable, true, 0), layers_pin(l, to, cable, false, 0);
  return cable;
}

// -- cycle breaking----------------------------------------------------------------------------------
typedef struct {
  uint32_t from, to; // units
  bool back;         // reversed, since it closes a cycle
  bool weak;
} UnitLink;

typedef struct {
  const Layers *l;
  Arena *arena;
  VEC(UnitLink) link;
  Ids *out;      // [unit] links that leave its group
  uint8_t *seen; // [unit] 1: on the search path, 2: finished
} CycleWalk;

typedef struct {
  uint32_t unit, next;
} Walked;

static uint32_t owner(const Layers *l, uint32_t unit) {
  return l->unit.at[unit].owner ? l->unit.at[unit].owner - 1 : unit;
}

static void find_links(CycleWalk *w) {
  const Layers *l = w->l;
  for (uint32_t c = 0; c < l->cable.n; c++) {
    const Ids *ids = &l->cable.at[c].pin;
    for (uint32_t i = 0; i < ids->n && !l->cable.at[c].peer; i++)
      for (uint32_t j = 0; j < ids->n; j++) {
        const LayerPin *from = &l->pin.at[ids->at[i]], *to = &l->pin.at[ids->at[j]];
        if (from->right && !to->right)
          vec_push(w->arena, &w->link, (UnitLink){from->unit, to->unit, to->weak, to->weak});
      }
  }
}

// A link to a unit on the search path closes a cycle.
static void walk_from(CycleWalk *w, uint32_t unit) {
  VEC(Walked) way = {0};
  if (w->seen[unit] || owner(w->l, unit) != unit) return;
  w->seen[unit] = 1;
  vec_push(w->arena, &way, (Walked){unit, 0});
  while (way.n) {
    Walked *s = &way.at[way.n - 1];
    if (s->next == w->out[s->unit].n) {
      w->seen[s->unit] = 2;
      way.n--;
      continue;
    }
    UnitLink *k = &w->link.at[w->out[s->unit].at[s->next++]];
    uint32_t to = owner(w->l, k->to);
    if (k->weak) continue;
    if (to == s->unit)
      k->back = k->from == to; // self-loops run back, except from a helper to its owner
    else if (w->seen[to] == 1)
      k->back = true;
    else if (!w->seen[to]) {
      w->seen[to] = 1;
      vec_push(w->arena, &way, (Walked){to, 0});
    }
  }
}

static void find_cycles(CycleWalk *w) {
  uint32_t units = w->l->unit.n;
  bool *fed = NEW_ARRAY(w->arena, bool, units + 1);
  w->out = NEW_ARRAY(w->arena, Ids, units + 1);
  w->seen = NEW_ARRAY(w->arena, uint8_t, units + 1);
  for (uint32_t i = 0; i < w->link.n; i++) {
    uint32_t from = owner(w->l, w->link.at[i].from), to = owner(w->l, w->link.at[i].to);
    vec_push(w->arena, &w->out[from], i);
    if (from != to && !w->link.at[i].weak) fed[to] = true;
  }
  for (int round = 0; round < 3; round++)
    for (uint32_t i = 0; i < units; i++)
      if (round == 2 || (round ? !fed[i] : w->l->unit.at[i].edge == EDGE_FIRST)) walk_from(w, i);
}

// Is there a forward path between groups?
static bool is_path(const CycleWalk *w, Arena *scratch, uint32_t from, uint32_t to) {
  uint8_t *been = NEW_ARRAY(scratch, uint8_t, w->l->unit.n + 1);
  Ids open = {0};
  vec_push(scratch, &open, from);
  been[from] = 1;
  while (open.n) {
    uint32_t unit = open.at[--open.n];
    if (unit == to) return true;
    for (uint32_t i = 0; i < w->out[unit].n; i++) {
      const UnitLink *k = &w->link.at[w->out[unit].at[i]];
      uint32_t next = owner(w->l, k->to);
      if (k->back || been[next]) continue;
      been[next] = 1;
      vec_push(scratch, &open, next);
    }
  }
  return false;
}

// Weak links stay forward if they close no cycle with all others.
static void find_weak_cycles(CycleWalk *w) {
  for (uint32_t i = 0; i < w->link.n; i++) {
    UnitLink *k = &w->link.at[i];
    if (!k->weak) continue;
    uint32_t from = owner(w->l, k->from), to = owner(w->l, k->to);
    k->back = from == to ? k->from == to : is_path(w, w->arena, to, from);
  }
}

// -- rank assignment----------------------------------------------------------------------------------
bool layers_rank(Layers *l) {
  Arena *scratch = arena_child(l->arena);
  CycleWalk w = {.l = l, .arena = scratch};
  uint32_t n = l->unit.n, left = n, right = n + 1;
  Places p = {.n = n + 2};
  int64_t *at = NEW_ARRAY(scratch, int64_t, n + 2);
  bool cycle = false;
  find_links(&w);
  find_cycles(&w);
  find_weak_cycles(&w);
  vec_push(scratch, &p.gap, (Gap){left, right, l->framed});
  for (uint32_t i = 0; i < n; i++) {
    const LayerUnit *u = &l->unit.at[i];
    if (u->edge) vec_push(scratch, &p.tie, (Tie){u->edge == EDGE_FIRST ? left : right, i, 0});
    if (u->edge) continue;
    vec_push(scratch, &p.gap, (Gap){left, i, l->framed});
    vec_push(scratch, &p.gap, (Gap){i, right, l->framed});
    vec_push(scratch, &p.pull, (Pull){left, i, l->framed, u->early ? EARLY : 1});
  }
  for (uint32_t i = 0; i < w.link.n; i++) {
    const UnitLink *k = &w.link.at[i];
    cycle |= k->back;
    if (k->back || k->from == k->to) continue;
    int64_t far = l->unit.at[k->from].away ? 2 : 1;
    vec_push(scratch, &p.gap, (Gap){k->from, k->to, far});
    vec_push(scratch, &p.pull, (Pull){k->from, k->to, far, 8});
  }
  vec_push(scratch, &p.pull, (Pull){left, right, l->framed, 4});
  places_solve(scratch, &p, at, NULL);
  for (uint32_t i = 0; i < n; i++) l->unit.at[i].layer = (uint32_t)(at[i] - at[left]);
  l->layers = (uint32_t)(at[right] - at[left]) + 1;
  arena_free(scratch);
  return !cycle;
}
