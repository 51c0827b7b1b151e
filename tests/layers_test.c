// Layered layouts: cycles, ranks, cables that pass a layer, the order, and distances of lines.
#include "show/panel/layers.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

static const LayerRules rules = {
    .apart = {{12, 12}, {12, 18}},
    .pull = {{96, 32}, {32, 12}},
    .near = 6,
    .nearer = 5,
    .jog = 16,
    .margin = 6,
    .least = 12,
    .pad = 8,
    .pitch = 14,
    .growth = 6,
};

static Layers layers_new(bool framed) {
  Arena *a = arena_new();
  return (Layers){.arena = a, .out = a, .rules = &rules, .framed = framed};
}

static uint32_t box(Layers *l, bool free) {
  LayerUnit u = {.kind = 1, .width = 40, .height = 40, .right = 40, .free = free};
  return layers_unit(l, u);
}

// Three in a row and a cable past the second: it has a unit of its own there.
static void passes_layers(void **state) {
  (void)state;
  Layers l = layers_new(false);
  uint32_t a = box(&l, true), b = box(&l, true), c = box(&l, true);
  layers_wire(&l, a, b), layers_wire(&l, b, c), layers_wire(&l, a, c);
  assert_true(layers_rank(&l));
  assert_int_equal(l.layers, 3);
  layers_order(&l);
  assert_int_equal(l.unit.n, 4);
  assert_int_equal(l.unit.at[3].kind, LAYER_DUMMY);
  assert_int_equal(l.unit.at[3].layer, l.unit.at[b].layer);
  arena_free(l.arena);
}

static void finds_loops(void **state) {
  (void)state;
  Layers l = layers_new(false);
  uint32_t a = box(&l, true), b = box(&l, true), c = box(&l, true);
  layers_wire(&l, a, b), layers_wire(&l, b, c), layers_wire(&l, c, a);
  assert_false(layers_rank(&l));
  for (uint32_t i = 0; i < 3; i++) assert_int_equal(l.unit.at[i].layer, i);
  arena_free(l.arena);
}

// Early units are where their way from the left ends; others draw near to what they go to.
static void ranks_early(void **state) {
  (void)state;
  for (int early = 0; early < 2; early++) {
    Layers l = layers_new(false);
    uint32_t a = box(&l, true), b = box(&l, true), c = box(&l, true), d = box(&l, true);
    layers_wire(&l, a, b), layers_wire(&l, b, c), layers_wire(&l, d, c);
    l.unit.at[d].early = early;
    layers_rank(&l);
    assert_int_equal(l.unit.at[d].layer, early ? 0 : 1);
    arena_free(l.arena);
  }
}

// Two cables that would cross if units stood as they come, and both are straight.
static void uncrosses(void **state) {
  (void)state;
  Layers l = layers_new(false);
  uint32_t a = box(&l, true), b = box(&l, true), c = box(&l, true), d = box(&l, true);
  layers_wire(&l, a, d), layers_wire(&l, b, c);
  layers_rank(&l), layers_order(&l), layers_place(&l);
  for (uint32_t i = 0; i < 2; i++) {
    assert_int_equal(l.cable.at[i].way.line.n, 1);
    assert_int_equal(l.cable.at[i].way.spot.n, 2);
  }
  arena_free(l.arena);
}

// Blocks do not mix, whatever cables want.
static void keeps_blocks(void **state) {
  (void)state;
  Layers l = layers_new(false);
  uint32_t a = box(&l, true), b = box(&l, true), c = box(&l, true), d = box(&l, true);
  l.unit.at[b].block = l.unit.at[c].block = 1;
  layers_wire(&l, a, c), layers_wire(&l, b, d);
  layers_rank(&l), layers_order(&l), layers_place(&l);
  assert_true(l.unit.at[a].y < l.unit.at[b].y && l.unit.at[d].y < l.unit.at[c].y);
  arena_free(l.arena);
}

// -- random layouts -------------------------------------------------------------------------------
typedef struct {
  uint32_t cable;
  Knee a, b;
} LineSegment;
typedef VEC(LineSegment) LineSegments;

static LineSegments segments_of(const Layers *l) {
  LineSegments all = {0};
  for (uint32_t c = 0; c < l->cable.n; c++)
    for (uint32_t i = 0; i < l->cable.at[c].way.line.n; i++) {
      const CableLine *line = &l->cable.at[c].way.line.at[i];
      const Knee *at = &l->cable.at[c].way.spot.at[line->first];
      for (uint32_t k = 0; k + 1 < line->n; k++)
        vec_push(l->arena, &all, (LineSegment){c, at[k], at[k + 1]});
    }
  return all;
}

static bool overlap(double a, double b, double c, double d) {
  return fmin(fmax(a, b), fmax(c, d)) - fmax(fmin(a, b), fmin(c, d)) > 0.5;
}

static bool lie_on(const LineSegment *x, const LineSegment *y) {
  bool level = x->a.y == x->b.y && y->a.y == y->b.y && fabs(x->a.y - y->a.y) < 3;
  bool upright = x->a.x == x->b.x && y->a.x == y->b.x && fabs(x->a.x - y->a.x) < 3;
  return (level && overlap(x->a.x, x->b.x, y->a.x, y->b.x)) ||
         (upright && overlap(x->a.y, x->b.y, y->a.y, y->b.y));
}

static bool enters(const LineSegment *s, const LayerUnit *u) {
  return u->kind != LAYER_DUMMY && fmax(s->a.x, s->b.x) > u->x + 1 &&
         fmin(s->a.x, s->b.x) < u->x + u->width - 1 && fmax(s->a.y, s->b.y) > u->y + 1 &&
         fmin(s->a.y, s->b.y) < u->y + u->height - 1;
}

static uint32_t next(uint64_t *s, uint32_t n) {
  *s = *s * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*s >> 33) % n;
}

// Cables run on, or come back to their unit.
static Layers random_layers(uint64_t seed, uint32_t least) {
  Layers l = layers_new(seed % 2);
  uint32_t n = least + next(&seed, 10), wires = n + next(&seed, n);
  for (uint32_t i = 0; i < n; i++) box(&l, true);
  for (uint32_t i = 0; i < wires; i++) {
    uint32_t from = next(&seed, n), to = from + next(&seed, n - from);
    uint32_t cable = layers_cable(&l, (LayerCable){0});
    layers_pin(&l, from, cable, true, 0);
    layers_pin(&l, to, cable, from == to, 0);
  }
  return l;
}

// No line runs on another or through a unit.
static void keeps_lines_apart(void **state) {
  (void)state;
  uint32_t bad = 0, seen = 0;
  for (uint64_t seed = 1; seed <= 150; seed++) {
    Layers l = random_layers(seed, 3);
    layers_rank(&l), layers_order(&l), layers_place(&l);
    LineSegments all = segments_of(&l);
    for (uint32_t i = 0; i < all.n; i++) {
      for (uint32_t k = 0; k < i; k++)
        bad += all.at[i].cable != all.at[k].cable && lie_on(&all.at[i], &all.at[k]);
      for (uint32_t k = 0; k < l.unit.n; k++) bad += enters(&all.at[i], &l.unit.at[k]);
    }
    seen += all.n;
    arena_free(l.arena);
  }
  assert_int_equal(bad, 0);
  assert_true(seen > 1000);
}

// One that is too large to be laid out exactly: pins stand in their units, and units apart.
static void places_large_ones(void **state) {
  (void)state;
  Layers l = random_layers(7, 700);
  layers_rank(&l), layers_order(&l);
  assert_true(l.unit.n > 2000);
  layers_place(&l);
  for (uint32_t k = 0; k < l.layers; k++)
    for (uint32_t i = 1; i < l.layer[k].n; i++) {
      const LayerUnit *above = &l.unit.at[l.layer[k].at[i - 1]];
      assert_true(above->y + above->height < l.unit.at[l.layer[k].at[i]].y);
    }
  for (uint32_t i = 0; i < l.unit.n; i++)
    for (uint32_t k = 1; k < l.unit.at[i].side[1].n; k++) {
      const LayerPin *a = &l.pin.at[l.unit.at[i].side[1].at[k - 1]];
      const LayerPin *b = &l.pin.at[l.unit.at[i].side[1].at[k]];
      assert_true(b->y - a->y >= rules.pitch && b->y <= l.unit.at[i].height - rules.pad);
    }
  arena_free(l.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(passes_layers),     cmocka_unit_test(finds_loops),
      cmocka_unit_test(ranks_early),       cmocka_unit_test(uncrosses),
      cmocka_unit_test(keeps_blocks),      cmocka_unit_test(keeps_lines_apart),
      cmocka_unit_test(places_large_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
