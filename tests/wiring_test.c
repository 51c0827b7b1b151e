// Pictures of wirings: they have no faults, contain every part, and are reproducible. $WIRINGS: a
// folder to which they are written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/files.h"
#include "base/names.h"
#include "wiring_help.h"

static int setup(void **state) {
  Arena *a = arena_new();
  Kit *k = NEW(a, Kit);
  *k = (Kit){world_new(a), a};
  *state = k;
  return 0;
}

static int teardown(void **state) {
  arena_free(((Kit *)*state)->arena);
  return 0;
}

static void save(Kit *k, Canvas *c, const char *name) {
  const char *folder = getenv("WIRINGS"), *error = NULL;
  static const char *const kinds[] = {"png", "svg", "txt"};
  for (uint32_t i = 0; folder && i < COUNT(kinds); i++)
    if (!canvas_write(c, arena_format(k->arena, "%s/%s.%s", folder, name, kinds[i]),
                      &(Look){.theme = THEME_LIGHT}, &error))
      print_message("%s\n", error);
}

static void has_no_faults(Kit *k, Canvas *c, const char *name) {
  Faults faults = {0};
  Buf text = buf_new(k->arena);
  save(k, c, name);
  canvas_check(k->arena, c, &faults);
  faults_print(&faults, &text);
  if (faults.n) print_message("%s:\n%s", name, text.at);
  assert_int_equal(faults.n, 0);
}

static void drawn_well(Kit *k, const System *s, uint32_t depth, const char *name) {
  has_no_faults(k, wiring_draw(k->w, k->arena, s, &(WiringOptions){.depth = depth}), name);
}

static void draws_or(void **state) {
  drawn_well(*state, kit_or(*state), 0, "or");
  drawn_well(*state, kit_or(*state), 1, "or_closed");
}
static void draws_adder(void **state) {
  drawn_well(*state, kit_full_adder(*state), 0, "full_adder");
  drawn_well(*state, kit_adder(*state, 4), 1, "adder_closed");
  drawn_well(*state, kit_adder(*state, 4), 2, "adder");
}
static void draws_lotka(void **state) { drawn_well(*state, kit_lotka(*state), 0, "lotka"); }
static void draws_house(void **state) { drawn_well(*state, kit_house(*state), 0, "house"); }
static void draws_handover(void **state) { drawn_well(*state, kit_handover(*state), 0, "cell"); }
static void draws_team(void **state) { drawn_well(*state, kit_team(*state), 0, "team"); }
static void draws_fibonacci(void **state) {
  drawn_well(*state, kit_fibonacci(*state), 0, "fibonacci");
}
static void draws_machine(void **state) {
  Kit *k = *state;
  drawn_well(k, kit_house(k)->part.at[0].of, 0, "heater");
}

static void unfolded_well(Kit *k, uint32_t inputs, const uint32_t *layer, uint32_t n, bool peers,
                          const char *name) {
  Canvas *c = wiring_unfold_draw(k->w, k->arena, kit_network(k, inputs, layer, n, peers));
  assert_non_null(c);
  has_no_faults(k, c, name);
}

static void unfolds_networks(void **state) {
  unfolded_well(*state, 3, (uint32_t[]){1}, 1, false, "unfold1");
  unfolded_well(*state, 2, (uint32_t[]){2, 1}, 2, false, "unfold2");
  unfolded_well(*state, 3, (uint32_t[]){3, 2, 1}, 3, false, "unfold3");
  unfolded_well(*state, 2, (uint32_t[]){3, 1}, 2, true, "unfold4");
}

// Three workers; the world changes its mind in the middle.
static WiringTimes changing(Kit *k, double *weight, double *value, const char **when) {
  static const char *const name[] = {"w1", "w2", "w3"};
  for (uint32_t m = 0; m < 12; m++) {
    double a = m < 6 ? 1.13 * m / 5 : fmax(0, 1.13 - 0.4 * (m - 5)), b = m < 6 ? 0 : 0.19 * (m - 5);
    double w[9] = {0, a, b, a, 0, -0.1 * a, b, 0.05 * m, 0};
    memcpy(weight + (size_t)m * 9, w, sizeof w);
    double v[3] = {0.47, m < 6 ? 0.47 : 0.06, m < 6 ? 0.06 : 0.47};
    memcpy(value + (size_t)m * 3, v, sizeof v);
    when[m] = arena_format(k->arena, "t = %u", 500 * m);
  }
  return (WiringTimes){"Team", 3, 12, name, when, weight, value, 0};
}

static void draws_times(void **state) {
  Kit *k = *state;
  double weight[108], value[36];
  const char *when[12], *folder = getenv("WIRINGS");
  WiringTimes t = changing(k, weight, value, when);
  has_no_faults(k, wiring_strip_draw(k->arena, &t), "strip");
  Buf once = buf_new(k->arena), twice = buf_new(k->arena);
  wiring_animated(k->arena, &t, &(Look){0}, &once);
  wiring_animated(k->arena, &t, &(Look){0}, &twice);
  assert_string_equal(once.at, twice.at);
  assert_non_null(strstr(once.at, "@keyframes"));
  if (folder) file_write(k->arena, arena_format(k->arena, "%s/moves.svg", folder), once.at, once.n);
}

// -- from programs --------------------------------------------------------------------------------
static System *from_text(Kit *k, const char *text, const char *name) {
  Elab *in = elab_new(k->w);
  Program *p = elab_program(in, "test.limn", text, strlen(text));
  System *s = elab_system(in, p, name, NULL);
  assert_int_equal(k->w->diags->errors, 0);
  assert_non_null(s);
  return s;
}

static void draws_programs(void **state) {
  static const char logic[] = "machine Nand(a, b: B[]) -> (y: B[]) = 1 + a * b\n"
                              "wiring Not(a: B[]) -> (y: B[]) {\n"
                              "  n : Nand\n"
                              "  a -> n.a, a -> n.b, n.y -> y\n"
                              "}\n"
                              "wiring Or(a, b: B[]) -> (y: B[]) {\n"
                              "  p, q : Not\n"
                              "  r    : Nand\n"
                              "  a -> p.a, b -> q.a\n"
                              "  p.y -> r.a, q.y -> r.b, r.y -> y\n"
                              "}\n";
  static const char net[] = "box unit(w: R[n], b: R[], x: R[n]) -> R[] = tanh(w[i] x[i] + b)\n"
                            "machine Neuron(x: R[2], dy: R[]) -> (y: R[], dx: R[2]) {\n"
                            "  state w : R[2] = 0, b : R[] = 0\n"
                            "  y = unit(w, b, x)\n"
                            "  dw, db, dx = rev[unit](w, b, x, dy)\n"
                            "  next w = w - 0.3 * dw\n"
                            "  next b = b - 0.3 * db\n"
                            "}\n"
                            "wiring Net(x: R[2], dy: R[]) -> (y: R[]) {\n"
                            "  h[2] : Neuron\n"
                            "  out : Neuron\n"
                            "  x[j] -> h[i].x[j]\n"
                            "  h.y -> out.x, out.dx -> h.dy\n"
                            "  dy -> out.dy\n"
                            "  y = 2 * out.y\n"
                            "}\n";
  Kit *k = *state;
  drawn_well(k, from_text(k, logic, "Or"), 0, "program_or");
  drawn_well(k, from_text(k, logic, "Nand"), 0, "program_nand");
  System *s = from_text(k, net, "Net");
  drawn_well(k, s, 0, "program_net");
  has_no_faults(k, wiring_unfold_draw(k->w, k->arena, s), "program_unfold");
}

// -- many -----------------------------------------------------------------------------------------
static uint64_t next_random(uint64_t *state) { // splitmix64
  uint64_t x = *state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// One draw a statement: C leaves open in which order arguments are evaluated, and a seed is to give
// the same wiring with every compiler.
static System *random_wiring(Kit *k, uint64_t seed, uint32_t parts, uint32_t depth);
static System *random_part(Kit *k, uint64_t *r, uint32_t depth) {
  static const char *const ins[] = {"a", "a b", "a b c"}, *const outs[] = {"y", "y z"};
  if (depth > 1 && next_random(r) % 4 == 0) {
    uint32_t parts = 2 + next_random(r) % 4;
    return random_wiring(k, next_random(r), parts, depth - 1);
  }
  bool state = next_random(r) % 2;
  const char *out = outs[next_random(r) % 2], *in = ins[next_random(r) % 3];
  return kit_machine(k, "Box", in, out, state);
}

// Every input has one source: mostly a part that came before, sometimes any part at all.
static System *random_wiring(Kit *k, uint64_t seed, uint32_t parts, uint32_t depth) {
  uint64_t r = seed;
  System *s = kit_wiring(k, "Random", "a b", "y z");
  for (uint32_t i = 0; i < parts; i++) {
    System *of = random_part(k, &r, depth);
    kit_part(k, s, arena_format(k->arena, "p%u", i), of);
  }
  for (uint32_t i = 0; i <= parts; i++) {
    uint32_t takes = i < parts ? s->part.at[i].of->in.n : s->out.n;
    for (uint32_t j = 0; j < takes; j++) {
      WireRoute w = {.plain = true, .to = {i < parts ? i + 1 : 0, j}};
      uint32_t far = next_random(&r) % 6 == 0 ? parts : i;
      uint32_t from = far ? (uint32_t)(next_random(&r) % (far + 1)) : 0;
      if (far && from + 5 < far && next_random(&r) % 3)
        from = far - (uint32_t)(next_random(&r) % 4);
      uint32_t gives = from ? s->part.at[from - 1].of->out.n : s->in.n;
      vec_push(k->arena, &w.from, (PortEnd){from, (uint32_t)(next_random(&r) % gives)});
      vec_push(k->arena, &s->route, w);
    }
  }
  return s;
}

static void draws_random_ones(void **state) {
  Kit *k = *state;
  const char *count = getenv("RUNS"), *first = getenv("FIRST");
  uint32_t runs = count ? (uint32_t)atoi(count) : 60, bad = 0,
           from = first ? (uint32_t)atoi(first) : 0;
  for (uint32_t i = from; i < from + runs; i++) {
    Faults faults = {0};
    Buf text = buf_new(k->arena);
    Canvas *c = wiring_draw(k->w, k->arena, random_wiring(k, i, 2 + i % 12, 2), NULL);
    canvas_check(k->arena, c, &faults);
    faults_print(&faults, &text);
    if (faults.n) print_message("random %u:\n%s", i, text.at);
    if (faults.n && bad < 3) save(k, c, arena_format(k->arena, "random%u", i));
    bad += faults.n > 0;
  }
  assert_int_equal(bad, 0);
}

// A thousand parts: a picture all the same, in a time that grows with them.
static void draws_many(void **state) {
  Kit *k = *state;
  System *chain = kit_wiring(k, "Chain", "a", "y"), *of = kit_machine(k, "Box", "a", "y", true);
  for (uint32_t i = 0; i < 1000; i++) kit_part(k, chain, arena_format(k->arena, "p%u", i), of);
  kit_wires(k, chain, "a -> p0.a, p999.y -> y");
  for (uint32_t i = 1; i < 1000; i++)
    kit_wire(k, chain, arena_format(k->arena, "p%u.y -> p%u.a", i - 1, i));
  const struct {
    const char *name;
    System *s;
    uint32_t depth;
  } all[] = {{"chain", chain, 1},
             {"adder of 100 bits", kit_adder(k, 100), 2},
             {"random", random_wiring(k, 1, 1000, 1), 1}};
  for (uint32_t i = 0; i < COUNT(all); i++) {
    double start = clock_seconds();
    Canvas *c =
        wiring_draw(k->w, k->arena, all[i].s, &(WiringOptions){.depth = all[i].depth, .width = -1});
    double took = clock_seconds() - start;
    if (getenv("RUNS"))
      print_message("%s: %.2f s, %.0f x %.0f\n", all[i].name, took, canvas_width(c),
                    canvas_height(c));
    assert_true(canvas_width(c) > 1000 && took < 60);
  }
}

// -- every file, the same bytes, hostile names ----------------------------------------------------
static void writes_every_file(void **state) {
  Kit *k = *state;
  static const char *const kinds[] = {"a.svg", "a.pdf", "a.tex", "a.txt"};
  for (uint32_t i = 0; i < COUNT(kinds); i++) {
    Buf once = buf_new(k->arena), twice = buf_new(k->arena);
    System *s = kit_team(k);
    assert_true(canvas_file(wiring_draw(k->w, k->arena, s, NULL), kinds[i], &(Look){0}, &once));
    assert_true(canvas_file(wiring_draw(k->w, k->arena, s, NULL), kinds[i], &(Look){0}, &twice));
    assert_true(once.n > 500 && once.n == twice.n);
    assert_memory_equal(once.at, twice.at, once.n);
  }
}

// Parts, ports and states can be found in the picture, and the sentence names them.
static void says_what_is_there(void **state) {
  Kit *k = *state;
  Buf svg = buf_new(k->arena);
  canvas_svg(wiring_draw(k->w, k->arena, kit_or(k), NULL), &(Look){0}, &svg);
  assert_non_null(strstr(svg.at, "data-id=\"p.n\""));
  assert_non_null(strstr(svg.at, "data-id=\"q\""));
  assert_non_null(strstr(svg.at, "Or is a wiring of 3 parts"));
  svg = buf_new(k->arena);
  canvas_svg(wiring_draw(k->w, k->arena, kit_team(k), NULL), &(Look){0}, &svg);
  assert_non_null(strstr(svg.at, "state g: R[k k], learns"));
  assert_non_null(strstr(svg.at, "g[i j] · worker[j].say when i ≠ j else 0"));
}

static void cuts_hostile_names(void **state) {
  Kit *k = *state;
  char name[600];
  memset(name, 'W', sizeof name - 1), name[sizeof name - 1] = 0;
  System *of = kit_machine(k, name, name, name, true), *s = kit_wiring(k, name, name, name);
  vec_push(k->arena, &of->mode, name_from(k->w->names, name));
  kit_state(k, s, name, "", true);
  Part part = {.name = name_from(k->w->names, "<&\">"), .of = of, .axes = 1};
  vec_push(k->arena, &s->part, part);
  WireRoute in = {.plain = true, .to = {1, 0}}, out = {.to = {0, 0}};
  vec_push(k->arena, &in.from, (PortEnd){0, 0});
  vec_push(k->arena, &out.from, (PortEnd){1, 0});
  out.value = kit_expression(k, arena_format(k->arena, "%s + %s", name, name));
  vec_push(k->arena, &s->route, in);
  vec_push(k->arena, &s->route, out);
  Canvas *c = wiring_draw(k->w, k->arena, s, NULL);
  assert_true(canvas_width(c) < 3000);
  has_no_faults(k, c, "hostile");
}

// Ends that point nowhere are left out.
static void survives_nonsense(void **state) {
  Kit *k = *state;
  System *s = kit_or(k);
  for (uint32_t i = 0; i < 4; i++) {
    WireRoute r = {.plain = true, .to = {i * 7, 3}};
    vec_push(k->arena, &r.from, (PortEnd){i, 9});
    vec_push(k->arena, &r.states, 5);
    vec_push(k->arena, &s->route, r);
  }
  drawn_well(k, s, 0, "nonsense");
  drawn_well(k, kit_wiring(k, "Nothing", "", ""), 0, "nothing");
  assert_null(wiring_unfold_draw(k->w, k->arena, kit_wiring(k, "Nothing", "", "")));
  has_no_faults(k, wiring_strip_draw(k->arena, &(WiringTimes){0}), "no moments");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(draws_or, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_adder, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_lotka, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_house, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_handover, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_team, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_fibonacci, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_machine, setup, teardown),
      cmocka_unit_test_setup_teardown(unfolds_networks, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_times, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_random_ones, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_programs, setup, teardown),
      cmocka_unit_test_setup_teardown(draws_many, setup, teardown),
      cmocka_unit_test_setup_teardown(writes_every_file, setup, teardown),
      cmocka_unit_test_setup_teardown(says_what_is_there, setup, teardown),
      cmocka_unit_test_setup_teardown(cuts_hostile_names, setup, teardown),
      cmocka_unit_test_setup_teardown(survives_nonsense, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
