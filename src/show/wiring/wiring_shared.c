// Chooses the side of each part for its shared variables.
//
// Parts and junctions form an undirected bipartite graph. The level of each is its distance from
// one end, a part or junction of maximal eccentricity. A junction of a higher level is on the right
// of a part, so lines connect neighbouring levels only.
#include "show/wiring/wiring_own.h"

typedef struct {
  Arena *arena;
  const System *s;
  uint32_t n;      // parts, then junctions
  Ids *beside;     // neighbours
  uint32_t *level; // from 1; 0: unknown
  bool *done;      // its level is final
} Near;

static bool is_part(const Near *g, const PortEnd *e) { return e->part && e->part <= g->s->part.n; }

static void find_neighbours(Near *g) {
  const System *s = g->s;
  g->beside = NEW_ARRAY(g->arena, Ids, g->n + 1);
  for (uint32_t j = 0; j < s->junction.n; j++)
    for (uint32_t i = 0; i < s->junction.at[j].member.n; i++) {
      const PortEnd *e = &s->junction.at[j].member.at[i].end;
      if (!is_part(g, e)) continue;
      vec_push(g->arena, &g->beside[e->part - 1], s->part.n + j);
      vec_push(g->arena, &g->beside[s->part.n + j], e->part - 1);
    }
}

// Breadth-first search; returns the last node reached
static uint32_t walk_from(Near *g, uint32_t from, uint32_t *level) {
  uint32_t *queue = NEW_ARRAY(g->arena, uint32_t, g->n + 1), n = 0;
  queue[n++] = from, level[from] = 1;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < g->beside[queue[i]].n; k++) {
      uint32_t to = g->beside[queue[i]].at[k];
      if (!level[to]) level[to] = level[queue[i]] + 1, queue[n++] = to;
    }
  return queue[n - 1];
}

// Declarations that come first tend to be on the left.
static void find_levels(Near *g, uint32_t first, uint32_t *once, uint32_t *most) {
  uint32_t end = walk_from(g, first, once), last = walk_from(g, end, g->level);
  uint32_t high = g->level[last];
  if (high > *most) *most = high;
  bool turn = 2 * g->level[first] > high + 1;
  for (uint32_t i = 0; i < g->n; i++) {
    if (turn && g->level[i] && !g->done[i]) g->level[i] = high + 1 - g->level[i];
    g->done[i] = g->level[i] != 0;
  }
}

Sides shared_sides(Arena *a, const System *s, const bool *asked) {
  Near g = {.arena = a, .s = s, .n = s->part.n + s->junction.n};
  uint32_t most = 0, *once = NEW_ARRAY(a, uint32_t, g.n + 1);
  Sides out = {.right = NEW_ARRAY(a, bool *, s->part.n + 1),
               .out = NEW_ARRAY(a, bool, s->in.n + 1)};
  g.level = NEW_ARRAY(a, uint32_t, g.n + 1);
  g.done = NEW_ARRAY(a, bool, g.n + 1);
  find_neighbours(&g);
  for (uint32_t i = 0; i < g.n; i++)
    if (!g.level[i]) find_levels(&g, i, once, &most);
  for (uint32_t i = 0; i < s->part.n; i++)
    if (s->part.at[i].of->shares) out.right[i] = NEW_ARRAY(a, bool, s->part.at[i].of->in.n + 1);
  for (uint32_t j = 0; j < s->junction.n; j++) {
    const Junction *k = &s->junction.at[j];
    uint32_t level = g.level[s->part.n + j];
    for (uint32_t i = 0; i < k->member.n; i++) {
      const PortEnd *e = &k->member.at[i].end;
      if (!is_part(&g, e) || !out.right[e->part - 1]) continue;
      if (e->port < s->part.at[e->part - 1].of->in.n)
        out.right[e->part - 1][e->port] = level > g.level[e->part - 1];
    }
    for (uint32_t i = 0; k->outer && i < s->in.n; i++)
      if (s->in.at[i].name == k->name) out.out[i] = asked ? asked[i] : 2 * level > most + 1;
  }
  return out;
}
