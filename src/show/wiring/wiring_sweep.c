// Heights for panels that are too large to be laid out exactly.
//
// Layer by layer, to the right and back: each unit wants to be where the ends it is tied to are,
// and passes want it most. In one layer the order is kept and the squares of what is missing are
// least: units that would be too near become a block, which stands at the mean of what its units
// want; blocks that meet become one. A sweep takes a time that grows with the units and cables.
#include "show/wiring/wiring_own.h"

#include <math.h>

enum { SWEEPS = 10 };

typedef struct {
  double want, weight; // of its units together
  uint32_t n;          // how many
} Stack;

// Where a unit would have to be for its cables of one side to be straight; its weight, 0: any place
static double wish(const Board *b, uint32_t unit, bool right, double *weight) {
  const Unit *u = &b->p->unit.at[unit];
  const Pins *pins = right ? &u->out : &u->in;
  double sum = 0, n = 0;
  for (uint32_t i = 0; i < pins->n; i++) {
    if (!pins->at[i].cable) continue;
    const CableEnd *end;
    uint32_t count =
        ends_in(b->p, pins->at[i].cable - 1, right ? u->layer + 1 : u->layer - 1, &end);
    for (uint32_t e = 0; e < count; e++)
      if (end[e].right != right) sum += end_y(b->p, &end[e]) - pins->at[i].y, n++;
  }
  *weight = n > 0 ? (u->kind == UNIT_PASS ? 8 : 1) : 0;
  return n > 0 ? sum / n : u->y;
}

static void place_layer(Board *b, const Ids *ids, bool right, Stack *stack) {
  uint32_t n = 0, at = 0;
  double down = 0;
  for (uint32_t i = 0; i < ids->n; i++) {
    double weight, want = wish(b, ids->at[i], right, &weight) - down;
    if (weight <= 0) weight = 0.01;
    stack[n++] = (Stack){want, weight, 1};
    for (; n > 1 && stack[n - 2].want > stack[n - 1].want; n--) {
      Stack *x = &stack[n - 2], *y = &stack[n - 1];
      x->want = (x->want * x->weight + y->want * y->weight) / (x->weight + y->weight);
      x->weight += y->weight, x->n += y->n;
    }
    if (i + 1 < ids->n) down += (double)units_apart(b->p, ids->at[i], ids->at[i + 1]);
  }
  down = 0;
  for (uint32_t s = 0; s < n; s++)
    for (uint32_t i = 0; i < stack[s].n; i++, at++) {
      b->p->unit.at[ids->at[at]].y = round(stack[s].want + down);
      if (at + 1 < ids->n) down += (double)units_apart(b->p, ids->at[at], ids->at[at + 1]);
    }
}

// Rounding must not bring two units too near to each other.
static void keep_apart(Board *b, const Ids *ids) {
  for (uint32_t i = 1; i < ids->n; i++) {
    Unit *above = &b->p->unit.at[ids->at[i - 1]], *u = &b->p->unit.at[ids->at[i]];
    u->y = fmax(u->y, above->y + (double)units_apart(b->p, ids->at[i - 1], ids->at[i]));
  }
}

void heights_sweep(Board *b) {
  Stack *stack = NEW_ARRAY(b->arena, Stack, b->p->unit.n + 1);
  for (uint32_t l = 0; l < b->layers; l++) keep_apart(b, &b->layer.at[l]);
  for (uint32_t round = 0; round < SWEEPS; round++)
    for (uint32_t i = 0; i < b->layers; i++) {
      bool right = round % 2;
      uint32_t l = right ? b->layers - 1 - i : i;
      place_layer(b, &b->layer.at[l], right, stack);
      keep_apart(b, &b->layer.at[l]);
    }
}
