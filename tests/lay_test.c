// Layout: its work is linear in the size of the picture for every shape; rows are cut without loss
// and are not wider than the limit.
#include "show/layout/sketch.h"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int setup(void **state) {
  *state = arena_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(*state);
  return 0;
}

// -- sketches -------------------------------------------------------------------------------------
static uint32_t box_of(Sketch *s, const uint32_t *from, uint32_t n) {
  uint32_t stage = sketch_stage(s, 0, "f"), use[2];
  for (uint32_t i = 0; i < n; i++) use[i] = sketch_use(s, stage, from[i]);
  uint32_t made = sketch_make(s, stage, NULL, 2);
  Glyph *g = stage_glyph(s, stage, GLYPH_BOX, "f");
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < 2; k++) vec_push(s->arena, &g->in, strand_at(s, use[i], k));
  for (uint32_t k = 0; k < 2; k++) {
    strand_of(s, made, k)->label = k ? "m" : "x";
    vec_push(s->arena, &g->out, strand_at(s, made, k));
  }
  return made;
}

static uint32_t input_of(Sketch *s, const char *name) {
  uint32_t b = sketch_input(s, name, 2);
  for (uint32_t k = 0; k < 2; k++) strand_of(s, b, k)->label = k ? "m" : "x";
  return b;
}

static Sketch *pipe_of(Arena *a, uint32_t n) {
  Sketch *s = sketch_new(a, "pipe");
  uint32_t x = input_of(s, "X");
  for (uint32_t i = 0; i < n; i++) x = box_of(s, &x, 1);
  sketch_output(s, x);
  return s;
}

static Sketch *two_of(Arena *a, uint32_t n) { // each reads the two before
  Sketch *s = sketch_new(a, "two");
  uint32_t x[2] = {input_of(s, "X"), input_of(s, "Y")};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t next = box_of(s, x, 2);
    x[0] = x[1], x[1] = next;
  }
  sketch_output(s, x[1]);
  return s;
}

static Sketch *chain_of(Arena *a, uint32_t n) { // all read the input, and the one before
  Sketch *s = sketch_new(a, "chain");
  uint32_t x[2] = {input_of(s, "X"), input_of(s, "Y")};
  for (uint32_t i = 0; i < n; i++) x[0] = box_of(s, x, 2);
  sketch_output(s, x[0]);
  return s;
}

// -- work -----------------------------------------------------------------------------------------
static void work_grows_evenly(void **state) {
  Sketch *(*const shapes[])(Arena *, uint32_t) = {pipe_of, two_of, chain_of};
  for (uint32_t k = 0; k < COUNT(shapes); k++) {
    uint64_t steps[2];
    for (uint32_t i = 0; i < 2; i++) {
      SketchPage *p = lay_page(*state, shapes[k](*state, i ? 2000 : 500), 0);
      assert_non_null(p);
      steps[i] = p->steps;
    }
    if (steps[1] > 5 * steps[0] || steps[1] > 2000 * 2000)
      fail_msg("shape %u: %llu steps, then %llu", k, (unsigned long long)steps[0],
               (unsigned long long)steps[1]);
  }
}

// -- rows -----------------------------------------------------------------------------------------
static void rows_hold_everything(void **state) {
  enum { BOXES = 60 };
  for (double width = 300; width < 3000; width *= 1.7) {
    Sketch *s = two_of(*state, BOXES);
    SketchPage *p = lay_page(*state, s, width);
    uint32_t boxes = 0;
    assert_non_null(p);
    for (uint32_t i = 0; i < p->row.n; i++) {
      const Layout *l = p->row.at[i];
      bool last = i + 1 == p->row.n;
      for (uint32_t k = 0; k < l->placed.n; k++) boxes += l->placed.at[k].glyph->kind == GLYPH_BOX;
      assert_true(l->s->before == (i > 0) && l->s->after == !last);
      if (!last) assert_int_equal(l->s->out.n, p->row.at[i + 1]->s->in.n);
      if (l->section.n > 3 && l->width > width)
        fail_msg("a row is %.0f wide, and may be %.0f", l->width, width);
    }
    assert_int_equal(boxes, BOXES);
  }
}

static void one_row_if_asked(void **state) {
  SketchPage *p = lay_page(*state, pipe_of(*state, 100), -1);
  assert_int_equal(p->row.n, 1);
  assert_true(p->width > ROW_WIDTH);
}

// What passes, and what many boxes read one after the other, is one straight line.
static void chains_do_not_drift(void **state) {
  Layout *l = lay_out(*state, chain_of(*state, 20));
  double high = 0, low = 0;
  for (uint32_t i = 0; i < l->placed.n; i++) {
    double y0, y1;
    glyph_extent(l, &l->placed.at[i], &y0, &y1);
    if (!i || y0 < high) high = y0;
    if (!i || y0 > low) low = y0;
  }
  assert_true(low - high < 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(work_grows_evenly, setup, teardown),
      cmocka_unit_test_setup_teardown(rows_hold_everything, setup, teardown),
      cmocka_unit_test_setup_teardown(one_row_if_asked, setup, teardown),
      cmocka_unit_test_setup_teardown(chains_do_not_drift, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
