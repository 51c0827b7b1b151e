// Repeats in pictures: a repeat is drawn once if all iterations have the same picture, otherwise
// every iteration is drawn.
#include "base/diag.h"
#include "core/pass/pass.h"
#include "lang/program/program.h"
#include "show/canvas/marks.h"
#include "show/circuit/circuit.h"

#include <setjmp.h>

#include <cmocka.h>

#define BOXES                                                                                      \
  "box f(x: R[n]) -> R[n] = x + 1\n"                                                               \
  "box g(x: R[n]) -> R[n] = x * x\n"                                                               \
  "box two(x: R[n], y: R[n]) -> R[n] = x * y\n"                                                    \
  "box half(x: R[n]) -> R[n/2] { return y[i] = x[2*i] }\n"

typedef struct {
  Arena *arena;
  World *w;
  const Diagram *d;
  Canvas *c;
} Drawn;

static int setup(void **state) {
  *state = arena_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  arena_free(*state);
  return 0;
}

static Drawn drawn_at(Arena *a, const char *text, Level level) {
  static const char *const closed[] = {"f", "g", "two", "half", "scaled", "cell", NULL};
  Drawn x = {.arena = a, .w = world_new(a)};
  const char *program = arena_format(a, "%s%s", BOXES, text);
  Elab *in = elab_new(x.w);
  Program *p = elab_program(in, "test.limn", program, strlen(program));
  x.d = elab_diagram(in, p, "main", NULL);
  Buf b = buf_new(a);
  diags_print(x.w->diags, &b);
  if (!x.d) print_error("%s\n", b.n ? b.at : "");
  assert_non_null(x.d);
  x.c = circuit_draw(x.w, a, x.d, &(CircuitOptions){.level = level, .close = closed});
  assert_non_null(x.c);
  return x;
}

static Drawn drawn(Arena *a, const char *text) { return drawn_at(a, text, LEVEL_MODEL); }

// Of a class, with these words, or with these and more.
static uint32_t groups(const Drawn *x, const char *class, const char *words) {
  uint32_t n = 0;
  size_t bytes = strlen(words);
  for (uint32_t i = 0; i < x->c->mark.n; i++) {
    const Mark *m = &x->c->mark.at[i];
    n += m->kind == MARK_OPEN && strcmp(m->group.class, class) == 0 &&
         strncmp(m->group.words, words, bytes) == 0 &&
         (!m->group.words[bytes] || (bytes && strchr(": ", m->group.words[bytes])));
  }
  return n;
}

static uint32_t repeats(const Drawn *x) { return groups(x, "parenthesis", ""); }

// Letters of a label stand apart: all words, one after the other.
static bool says(const Drawn *x, const char *words) {
  Buf b = buf_new(x->arena);
  for (uint32_t i = 0; i < x->c->mark.n; i++) {
    const Mark *m = &x->c->mark.at[i];
    if (m->kind == MARK_TEXT) buf_text(&b, m->text.words);
    if (m->kind == MARK_CLOSE) buf_text(&b, "\n");
  }
  return b.n && strstr(b.at, words) != NULL;
}

static void a_loop_is_drawn_once(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n]) -> R[n] { for l in 1..3 { X = f(X) }\n return X }");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "parenthesis", "repeated, l=1 to 3"), 1);
  assert_int_equal(groups(&x, "glyph", "f"), 1);
  x = drawn(*state, "box main(X: R[n]) -> R[n] { for l in 2..5 down { X = f(X) }\n return X }");
  assert_int_equal(groups(&x, "parenthesis", "repeated, l=5 to 2"), 1);
  x = drawn(*state, "box main(X: R[n]) -> R[n] { for l in [1, 2, 4] { X = f(X) }\n return X }");
  assert_int_equal(groups(&x, "parenthesis", "repeated, l=1,2,4 to 4"), 1);
}

static void a_power_is_drawn_once(void **state) {
  Drawn x = drawn(*state, "box main : R[n] -> R[n] = f ^ 4");
  assert_int_equal(groups(&x, "parenthesis", "repeated, λ=1 to 4"), 1);
  assert_int_equal(groups(&x, "glyph", "f"), 1);
  x = drawn(*state, "box main : R[n] -> R[n] = (f ; g) ^ 4 ; f");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "f"), 2);
  x = drawn(*state, "box main : R[n] -> R[n] = f ^ 1");
  assert_int_equal(repeats(&x), 0);
}

// What is said in one turn and becomes a box in the next belongs to the one where it is said.
static void what_is_said_late_belongs_to_its_turn(void **state) {
  Drawn x = drawn(*state, "box main : R[n] -> R[n] = (f ; relu) ^ 3 ; g");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "f"), 1);
  assert_int_equal(groups(&x, "glyph", "relu"), 1);
}

static void other_boxes_are_drawn_as_they_are(void **state) {
  Drawn x =
      drawn(*state, "box main(X: R[n]) -> R[n] { for l in 1..3 { X = f(X) when l == 2 else g(X) }\n"
                    " return X }");
  assert_int_equal(repeats(&x), 0);
  assert_int_equal(groups(&x, "glyph", "f"), 1);
  assert_int_equal(groups(&x, "glyph", "g"), 2);
}

static void other_numbers_are_drawn_as_they_are(void **state) {
  Drawn x =
      drawn(*state, "box main(X: R[n]) -> R[n] { for l in 1..3 { X = f(X) * l }\n return X }");
  assert_int_equal(repeats(&x), 0);
  x = drawn(*state, "box scaled[k](x: R[n]) -> R[n] = x * k\n"
                    "box main(X: R[n]) -> R[n] { for l in 1..3 { X = scaled[l](X) }\n return X }");
  assert_int_equal(repeats(&x), 0);
  assert_int_equal(groups(&x, "glyph", "scaled"), 3);
}

static void other_wiring_is_drawn_as_it_is(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n], Y: R[n]) -> R[n] {\n"
                          " for l in 1..4 { Z = two(X, Y)\n Y = X\n X = Z }\n return X }");
  assert_int_equal(repeats(&x), 0);
  assert_int_equal(groups(&x, "glyph", "two"), 4);
  x = drawn(*state, "box main(X: R[n], Y: R[n]) -> R[n] {\n"
                    " for l in 1..4 { X = two(X, Y) }\n return X }");
  assert_int_equal(repeats(&x), 1);
  x = drawn(*state, "box main(X: R[n]) -> R[n] { Z = X\n"
                    " for l in 1..4 { X = two(X, Z) }\n return X }");
  assert_int_equal(repeats(&x), 1);
}

static void loops_in_loops(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                          " for l in 1..2 { X = f(X)\n for k in 1..3 { X = g(X) } }\n return X }");
  assert_int_equal(repeats(&x), 2);
  assert_int_equal(groups(&x, "glyph", "g"), 1);
  x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                    " for l in 1..2 { X = f(X) when l == 1 else g(X)\n"
                    " for k in 1..3 { X = g(X) } }\n return X }");
  assert_int_equal(repeats(&x), 2);
  assert_int_equal(groups(&x, "glyph", "g"), 3);
  x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                    " for l in 1..3 { for k in 1..l { X = g(X) } }\n return X }");
  assert_int_equal(repeats(&x), 2); // of two and of three; one turn is no repeat
  assert_int_equal(groups(&x, "glyph", "g"), 3);
}

// What is the same in all turns is done once, before.
static void what_does_not_change_stands_outside(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n], Y: R[n]) -> R[n] {\n"
                          " for l in 1..3 { A = f(X)\n X = two(A, g(Y)) }\n return X }");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "g"), 1);
  assert_int_equal(groups(&x, "glyph", "two"), 1);
}

static void kept_wires_end_on_plates(void **state) {
  const char *text = "box main(X: R[n]) -> R[n] {\n"
                     " for l in 1..3 { X = f(X)\n C[l] = X\n X = g(X) }\n"
                     " for l in 1..3 { X = two(X, C[%s]) }\n return X }";
  Drawn x = drawn(*state, arena_format(*state, text, "l"));
  assert_int_equal(repeats(&x), 2);
  assert_int_equal(groups(&x, "glyph", "→ C_l"), 1);
  assert_int_equal(groups(&x, "glyph", "C_l →"), 1);
  x = drawn(*state, arena_format(*state, text, "4-l"));
  assert_int_equal(groups(&x, "glyph", "C_4−l →"), 1);
  x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                    " for l in 1..3 { X = f(X)\n C[l] = X\n X = g(X) }\n return two(X, C[2]) }");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "C_2 →"), 1);
  x = drawn_at(*state, arena_format(*state, text, "l"), LEVEL_LEARNER);
  assert_int_equal(repeats(&x), 2);
  assert_int_equal(groups(&x, "glyph", "C_l →"), 1);
}

// What another loop takes from here and there has no plate: it is drawn as often as it is done.
static void what_is_kept_and_read_in_no_order(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                          " for l in 1..4 { X = f(X)\n C[l] = X }\n"
                          " for l in 1..2 { X = two(X, C[l*l]) }\n return X }");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "two"), 2);
}

static void sizes_have_the_turn_as_index(void **state) {
  Drawn x =
      drawn(*state, "box main(X: R[n]) -> R[n/8] { for l in 1..3 { X = half(X) }\n return X }");
  assert_int_equal(repeats(&x), 1);
  assert_int_equal(groups(&x, "glyph", "half"), 1);
  assert_int_equal(groups(&x, "glyph", "Legend"), 1);
  assert_true(says(&x, "nl−1\n"));
  assert_true(says(&x, "nl=n, n/2, n/4, n/8"));
}

static void a_weight_of_each_turn(void **state) {
  Drawn x =
      drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                    " for l in 1..3 { learn W : R[i:n n]\n X[n] = X[i] W[i n] }\n return X }");
  assert_int_equal(repeats(&x), 1);
  assert_true(says(&x, "Wl\n"));
}

static void scans_are_opened(void **state) {
  Drawn x = drawn(*state, "box cell(x: R[n], h: R[n]) -> R[n] = tanh(x + h)\n"
                          "box main(X: R[t n]) -> R[t n] = scan[t, cell](X)");
  assert_int_equal(groups(&x, "parenthesis", "repeated, t=1 to T"), 1);
  assert_int_equal(groups(&x, "glyph", "cell"), 1);
  assert_int_equal(groups(&x, "glyph", "one step"), 1);
  assert_int_equal(groups(&x, "glyph", "all steps"), 1);
}

// Marks are in every box of a loop, and stay where boxes stay.
static void marks_survive(void **state) {
  Drawn x = drawn(*state, "box main(X: R[n]) -> R[n] {\n"
                          " for l in 1..3 { X = f(X)\n C[l] = X\n X = relu(X) }\n return X }");
  const Diagram *d = diagram_simplify(x.w, x.d);
  uint32_t marked = 0, kept = 0;
  for (Id b = 1; b < d->box.n; b++) marked += d->box.at[b].turn != 0;
  for (Id w = 1; w < d->wire.n; w++) kept += d->wire.at[w].kept != 0;
  assert_int_equal(marked, 6);
  assert_int_equal(kept, 3);
  d = diagram_inline_all(x.w, x.d);
  for (Id b = 1; b < d->box.n; b++) assert_int_equal(d->box.at[b].turn, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_loop_is_drawn_once, setup, teardown),
      cmocka_unit_test_setup_teardown(a_power_is_drawn_once, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_said_late_belongs_to_its_turn, setup, teardown),
      cmocka_unit_test_setup_teardown(other_boxes_are_drawn_as_they_are, setup, teardown),
      cmocka_unit_test_setup_teardown(other_numbers_are_drawn_as_they_are, setup, teardown),
      cmocka_unit_test_setup_teardown(other_wiring_is_drawn_as_it_is, setup, teardown),
      cmocka_unit_test_setup_teardown(loops_in_loops, setup, teardown),
      cmocka_unit_test_setup_teardown(what_does_not_change_stands_outside, setup, teardown),
      cmocka_unit_test_setup_teardown(kept_wires_end_on_plates, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_kept_and_read_in_no_order, setup, teardown),
      cmocka_unit_test_setup_teardown(sizes_have_the_turn_as_index, setup, teardown),
      cmocka_unit_test_setup_teardown(a_weight_of_each_turn, setup, teardown),
      cmocka_unit_test_setup_teardown(scans_are_opened, setup, teardown),
      cmocka_unit_test_setup_teardown(marks_survive, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
