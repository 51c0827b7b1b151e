// Fill-reducing orders of the rows and columns of a matrix.
//
// In: a pattern, taken as an undirected graph: i and j are neighbours if entry (i, j) or (j, i) is
// nonzero. Out: the order, and the cost of elimination in that order.
//
// Reverse Cuthill–McKee: a breadth-first search from a peripheral vertex, vertices of low degree
// first, then reversed. Neighbours are close to each other in this order, so the matrix is a band.
//
// Minimum degree: the vertex of lowest degree is eliminated next; its neighbours become a clique. A
// clique is stored as the list of its members, and a clique that a later one contains is dropped,
// so memory never grows. Degrees are the upper bounds of Amestoy, Davis and Duff: vertices in
// several cliques are counted several times.
#include "run/solve/solve_own.h"

#define NOWHERE UINT32_MAX

// The pattern and its transpose, without the diagonal.
static Pattern *neighbours(Arena *a, const Pattern *p) {
  const Pattern *turned = pattern_transposed(a, p);
  Pattern *g = NEW(a, Pattern);
  uint32_t n = p->n, at = 0;
  uint32_t *start = NEW_ARRAY(a, uint32_t, (size_t)n + 1);
  uint32_t *row = NEW_ARRAY(a, uint32_t, 2 * (size_t)p->start[n] + 1);
  uint32_t *seen = NEW_ARRAY(a, uint32_t, (size_t)n + 1);
  for (uint32_t c = 0; c < n; c++) {
    seen[c] = c + 1;
    for (int side = 0; side < 2; side++) {
      const Pattern *q = side ? turned : p;
      for (uint32_t k = q->start[c]; k < q->start[c + 1]; k++)
        if (seen[q->row[k]] != c + 1) seen[q->row[k]] = c + 1, row[at++] = q->row[k];
    }
    start[c + 1] = at;
  }
  *g = (Pattern){n, start, row};
  return g;
}

static uint32_t degree(const Pattern *g, uint32_t i) { return g->start[i + 1] - g->start[i]; }

// -- bands ----------------------------------------------------------------------------------------
// Breadth-first search from `root`: appends the reached vertices that are not in `place` to
// `order`. Gives the number of levels; *far: a vertex of low degree in the last one.
static uint32_t breadth_first(const Pattern *g, uint32_t root, uint32_t *order, uint32_t *n,
                              uint32_t *place, uint32_t *far) {
  uint32_t from = *n, layers = 0;
  place[root] = *n, order[(*n)++] = root;
  while (from < *n) {
    uint32_t to = *n;
    *far = order[from];
    for (uint32_t i = from; i < to; i++)
      if (degree(g, order[i]) < degree(g, *far)) *far = order[i];
    for (; from < to; from++) {
      uint32_t first = *n;
      for (uint32_t k = g->start[order[from]]; k < g->start[order[from] + 1]; k++) {
        uint32_t x = g->row[k], at = *n;
        if (place[x] != NOWHERE) continue;
        for (; at > first && degree(g, order[at - 1]) > degree(g, x); at--) {
          order[at] = order[at - 1];
          place[order[at]] = at;
        }
        order[at] = x, place[x] = at;
        ++*n;
      }
    }
    layers++;
  }
  return layers;
}

// Repeats the search from a vertex of the last level while the number of levels grows (a
// pseudo-peripheral vertex).
static void pseudo_peripheral(const Pattern *g, uint32_t root, uint32_t *order, uint32_t *n,
                              uint32_t *place) {
  uint32_t begun = *n, far, layers = breadth_first(g, root, order, n, place, &far), before = 0;
  for (int turn = 0; turn < 8 && layers > before; turn++) {
    for (uint32_t i = begun; i < *n; i++) place[order[i]] = NOWHERE;
    *n = begun;
    before = layers;
    layers = breadth_first(g, far, order, n, place, &far);
  }
}

Band order_band(Arena *a, const Pattern *p, uint32_t *order) {
  Arena *own = arena_child(a);
  const Pattern *g = neighbours(own, p);
  uint32_t n = p->n, done = 0, *place = NEW_ARRAY(own, uint32_t, (size_t)n + 1);
  memset(place, 0xff, n * sizeof *place);
  for (uint32_t i = 0; i < n; i++)
    if (place[i] == NOWHERE) pseudo_peripheral(g, i, order, &done, place);
  for (uint32_t i = 0; i < n / 2; i++) {
    uint32_t x = order[i];
    order[i] = order[n - 1 - i], order[n - 1 - i] = x;
  }
  for (uint32_t i = 0; i < n; i++) place[order[i]] = i;
  Band b = {0};
  for (uint32_t c = 0; c < n; c++)
    for (uint32_t k = p->start[c]; k < p->start[c + 1]; k++) {
      uint32_t i = place[p->row[k]], j = place[c];
      if (i > j && i - j > b.below) b.below = i - j;
      if (j > i && j - i > b.above) b.above = j - i;
    }
  arena_free(own);
  return b;
}

// -- minimum degree -------------------------------------------------------------------------------
typedef VEC(uint32_t) Members;
typedef struct {
  Arena *a;
  uint32_t n;
  Members *near, *in; // [n] remaining direct neighbours; cliques of the vertex
  Members *clique;    // [n] the clique made by eliminating i
  uint8_t *gone;      // [n] eliminated
  uint8_t *dropped;   // [n] its clique is contained in a later one
  uint32_t *degree;
  uint32_t *first, *next, *before; // lists of the vertices of each degree
  uint32_t *mark, stamp;
  uint32_t *outside, *counted; // [n] members of a clique that are outside of the newest one
} Elimination;

static void list_remove(Elimination *e, uint32_t i) {
  uint32_t b = e->before[i], x = e->next[i];
  if (b == NOWHERE)
    e->first[e->degree[i]] = x;
  else
    e->next[b] = x;
  if (x != NOWHERE) e->before[x] = b;
}

static void list_add(Elimination *e, uint32_t i) {
  uint32_t x = e->first[e->degree[i]];
  e->next[i] = x, e->before[i] = NOWHERE;
  if (x != NOWHERE) e->before[x] = i;
  e->first[e->degree[i]] = i;
}

static void elimination_begin(Elimination *e, const Pattern *g) {
  uint32_t n = e->n, **row[] = {&e->degree, &e->first,   &e->next,   &e->before,
                                &e->mark,   &e->outside, &e->counted};
  e->near = NEW_ARRAY(e->a, Members, (size_t)n + 1);
  e->in = NEW_ARRAY(e->a, Members, (size_t)n + 1);
  e->clique = NEW_ARRAY(e->a, Members, (size_t)n + 1);
  e->gone = NEW_ARRAY(e->a, uint8_t, (size_t)n + 1);
  e->dropped = NEW_ARRAY(e->a, uint8_t, (size_t)n + 1);
  for (uint32_t i = 0; i < COUNT(row); i++) *row[i] = NEW_ARRAY(e->a, uint32_t, (size_t)n + 1);
  memset(e->first, 0xff, ((size_t)n + 1) * sizeof *e->first);
  for (uint32_t i = n; i-- > 0;) {
    for (uint32_t k = g->start[i]; k < g->start[i + 1]; k++) vec_push(e->a, &e->near[i], g->row[k]);
    e->degree[i] = degree(g, i);
    list_add(e, i);
  }
}

// The members of the new clique: direct neighbours of p, and members of its cliques, which it
// absorbs.
static Members *merge_cliques(Elimination *e, uint32_t p) {
  Members *c = &e->clique[p];
  e->stamp++;
  e->mark[p] = e->stamp;
  for (uint32_t k = 0; k < e->in[p].n; k++) {
    uint32_t old = e->in[p].at[k];
    if (e->dropped[old]) continue;
    e->dropped[old] = 1;
    for (uint32_t j = 0; j < e->clique[old].n; j++) {
      uint32_t x = e->clique[old].at[j];
      if (!e->gone[x] && e->mark[x] != e->stamp) e->mark[x] = e->stamp, vec_push(e->a, c, x);
    }
  }
  for (uint32_t k = 0; k < e->near[p].n; k++) {
    uint32_t x = e->near[p].at[k];
    if (!e->gone[x] && e->mark[x] != e->stamp) e->mark[x] = e->stamp, vec_push(e->a, c, x);
  }
  return c;
}

// Counts, for cliques that overlap the newest one, the members outside of it.
static void count_outside(Elimination *e, const Members *c) {
  for (uint32_t k = 0; k < c->n; k++) {
    Members *in = &e->in[c->at[k]];
    for (uint32_t j = 0; j < in->n; j++) {
      uint32_t q = in->at[j];
      if (e->dropped[q]) continue;
      if (e->counted[q] != e->stamp) {
        uint32_t alive = 0; // eliminated vertices are removed from the list
        for (uint32_t m = 0; m < e->clique[q].n; m++)
          if (!e->gone[e->clique[q].at[m]]) e->clique[q].at[alive++] = e->clique[q].at[m];
        e->clique[q].n = alive;
        e->counted[q] = e->stamp, e->outside[q] = alive;
      }
      e->outside[q]--;
    }
  }
}

// Updates a member of the newest clique: its neighbours, cliques and degree bound.
static void update_member(Elimination *e, uint32_t p, uint32_t i, uint32_t left) {
  uint32_t kept = 0, most = e->clique[p].n - 1, n = 0;
  Members *near = &e->near[i], *in = &e->in[i];
  for (uint32_t k = 0; k < near->n; k++)
    if (!e->gone[near->at[k]] && e->mark[near->at[k]] != e->stamp) near->at[n++] = near->at[k];
  near->n = n;
  most += n;
  for (uint32_t k = 0; k < in->n; k++) {
    uint32_t q = in->at[k];
    if (e->dropped[q]) continue;
    if (e->outside[q] == 0) {
      e->dropped[q] = 1;
      continue;
    }
    in->at[kept++] = q;
    most += e->outside[q];
  }
  in->n = kept;
  vec_push(e->a, in, p);
  list_remove(e, i);
  e->degree[i] = most < left ? most : left;
  list_add(e, i);
}

double order_least(Arena *a, const Pattern *p, uint32_t *order) {
  Arena *own = arena_child(a);
  Elimination e = {.a = own, .n = p->n};
  elimination_begin(&e, neighbours(own, p));
  double cost = 0;
  uint32_t low = 0;
  for (uint32_t done = 0; done < p->n; done++) {
    while (e.first[low] == NOWHERE) low++;
    uint32_t i = e.first[low];
    list_remove(&e, i);
    order[done] = i;
    const Members *c = merge_cliques(&e, i);
    e.gone[i] = 1;
    count_outside(&e, c);
    for (uint32_t k = 0; k < c->n; k++) update_member(&e, i, c->at[k], p->n - done - 2);
    for (uint32_t k = 0; k < c->n; k++)
      if (e.degree[c->at[k]] < low) low = e.degree[c->at[k]];
    cost += 2 * (double)c->n * c->n + c->n;
  }
  arena_free(own);
  return cost;
}
