// Laws of machines and wirings on random systems. Every law is a pair of programs that must have
// the same trace: outputs and states at each tick, bit by bit.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/print.h"
#include "diagram_help.h"
#include "machine_help.h"

#ifdef LIMN_GUARD
enum { SYSTEMS = 25, COMPILED = 2 }; // the sanitizers are slow
#else
enum { SYSTEMS = 120, COMPILED = 4 };
#endif
enum { TICKS = 20 };

typedef struct {
  uint64_t cases, numbers;
} Tally;

static void tell(const char *law, Tally t) {
  print_message("%s: %llu systems, %llu numbers\n", law, (unsigned long long)t.cases,
                (unsigned long long)t.numbers);
}

static RandomHow how_of(uint64_t seed) {
  return (RandomHow){.levels = 1 + (uint32_t)(seed % 3),
                     .arrays = seed / 3 % 2,
                     .modes = seed / 6 % 2,
                     .own = seed / 12 % 2};
}

static const char *with_run(Arena *a, const char *text, const char *name, const char *starts) {
  return arena_format(a, "%srun %s%s for %d ticks\n", text, name, starts, TICKS);
}

// One number of the trace of a program, by its name in the nested or the flat one.
static const SimChannel *traced(const Ran *r, const Traced *x, bool flat, uint32_t *cell) {
  const SimChannel *c = ran_channel(r, 0, flat ? x->flat : x->nested);
  *cell = flat ? x->flat_cell : x->cell;
  if (!flat) assert_int_equal(c->cells, x->cells);
  assert_int_equal(c->value.n, x->value.n * (uint64_t)c->cells);
  return c;
}

// The trace of a program against that of the definition; compiled code has a tanh of its own, so it
// is held to the bits of the other program instead.
static uint64_t same_trace(const Ran *r, const Traces *t, bool flat, const Ran *other) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    const Traced *x = &t->at[i];
    uint32_t cell, its = 0;
    const SimChannel *c = traced(r, x, flat, &cell),
                     *o = other ? traced(other, x, !flat, &its) : NULL;
    for (uint32_t k = 0; k < x->value.n; k++, n++) {
      double found = c->value.at[k * (uint32_t)c->cells + cell],
             want = o ? o->value.at[k * (uint32_t)o->cells + its] : x->value.at[k];
      if (!same_bits(found, want) || fabs(found - x->value.at[k]) > 1e-12)
        fail_msg("%s[%u] at tick %u is %.17g, but %.17g is wanted\n%s", c->name, cell, k, found,
                 want, r->text);
    }
  }
  return n;
}

// Laws 2 and 9: a nested system, the same one written flat by hand, and the definition of a wiring
// (all reads, then all updates) leave the same bits. Two and three levels, machines that show
// their inputs at once and those that do not, arrays of parts, ports with an axis, modes with
// guarded wires, and wirings with states of their own (Orgs: the product of the states).
static void nested_is_flat(void **state) {
  (void)state;
  Tally t = {0};
  for (uint64_t seed = 1; seed <= SYSTEMS; seed++) {
    Arena *a = arena_new();
    RandomHow how = how_of(seed);
    Made *r = random_system(a, seed, &how);
    const char *starts = random_starts(a, r, seed);
    Traces trace = {0};
    random_trace(a, r, BY_TICKS, seed, TICKS, &trace);
    bool compiled = seed <= COMPILED;
    Ran nested =
        ran_text(with_run(a, random_nested(a, r, &(Written){0}), "Whole", starts), compiled);
    Ran flat = ran_text(with_run(a, random_flat(a, r, BY_TICKS), "Flat", starts), compiled);
    t.numbers += same_trace(&nested, &trace, false, compiled ? &flat : NULL) +
                 same_trace(&flat, &trace, true, compiled ? &nested : NULL);
    t.cases++;
    ran_free(&nested);
    ran_free(&flat);
    arena_free(a);
  }
  tell("2, 9 nested = flat = the definition", t);
}

// The law holds of many systems.
typedef uint64_t Law(Arena *, const Made *, uint64_t seed); // how many numbers were compared
static void for_all(const char *name, Law *law, RandomHow (*how)(uint64_t seed)) {
  Tally t = {0};
  for (uint64_t seed = 1; seed <= SYSTEMS; seed++, t.cases++) {
    Arena *a = arena_new();
    RandomHow h = how(seed);
    t.numbers += law(a, random_system(a, seed, &h), seed);
    arena_free(a);
  }
  tell(name, t);
}

static Ran run_whole(Arena *a, const Made *r, const Written *how, uint64_t seed) {
  return ran_text(with_run(a, random_nested(a, r, how), "Whole", random_starts(a, r, seed)), false);
}

// Every channel of `inner` is in `outer` under its name behind this prefix, bit by bit; outputs go
// by names of their own.
static uint64_t same_inside(const Ran *inner, const Ran *outer, uint32_t run, const char *prefix,
                            const char *output) {
  const SimRecord *x = &inner->f[0].record;
  uint64_t n = 0;
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *c = &x->channel.at[i];
    if (c->name[0] == 'x') continue; // an input
    const char *name = c->name[0] == 'y' ? arena_format(outer->arena, "%s%s", output, c->name)
                                         : arena_format(outer->arena, "%s%s", prefix, c->name);
    n += same_channel(c, ran_channel(outer, run, name));
  }
  return n;
}

// -- 1 --------------------------------------------------------------------------------------------
static void write_ports(const Made *r, const char *before, bool in, Buf *b) {
  uint32_t n = in ? random_inputs(r) : random_outputs(r);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(b, "%s%s%s%u: R[]", i ? ", " : "", before, in ? "x" : "y", i);
}

static void write_around(const Made *r, const char *part, const char *before, Buf *b) {
  for (uint32_t i = 0; i < random_inputs(r); i++)
    buf_printf(b, "  %sx%u -> %s.x%u\n", before, i, part, i);
  for (uint32_t i = 0; i < random_outputs(r); i++)
    buf_printf(b, "  %sy%u = %s.y%u\n", before, i, part, i);
}

// A wiring that only passes ports on, around any system, twice.
static uint64_t identity(Arena *a, const Made *r, uint64_t seed) {
  Buf b = buf_new(a);
  buf_text(&b, random_nested(a, r, &(Written){0}));
  for (uint32_t i = 0; i < 2; i++) {
    buf_printf(&b, "wiring Same%u(", i);
    write_ports(r, "", true, &b);
    buf_text(&b, ") -> (");
    write_ports(r, "", false, &b);
    buf_printf(&b, ") {\n  p : %s\n", i ? "Same0" : "Whole");
    write_around(r, "p", "", &b);
    buf_text(&b, "}\n");
  }
  Ran one = run_whole(a, r, &(Written){0}, seed);
  Ran around = ran_text(with_run(a, b.at, "Same1", random_starts(a, r, seed)), false);
  uint64_t n = same_inside(&one, &around, 0, "p.p.", "");
  ran_free(&one);
  ran_free(&around);
  return n;
}
static void identity_changes_nothing(void **state) {
  (void)state;
  for_all("1 identity wirings", identity, how_of);
}

// -- 3 --------------------------------------------------------------------------------------------
// Declarations, parts, wires, states and lines (inside modes too) in two other orders: the same
// outputs, states and modes, bit by bit.
static uint64_t permuted(Arena *a, const Made *r, uint64_t seed) {
  uint64_t n = 0;
  Ran one = run_whole(a, r, &(Written){0}, seed);
  for (uint64_t k = 0; k < 2; k++) {
    Ran other = run_whole(a, r, &(Written){.order = 2 * seed + k}, seed);
    n += same_runs(&one, 0, &other, 0);
    ran_free(&other);
  }
  ran_free(&one);
  return n;
}
static void order_means_nothing(void **state) {
  (void)state;
  for_all("3 permuted", permuted, how_of);
}

// -- 4 --------------------------------------------------------------------------------------------
// Two systems side by side without wires: each leaves the trace that it leaves alone, whatever the
// other one gets.
static uint64_t parallel(Arena *a, const Made *r, uint64_t seed) {
  Buf b = buf_new(a), starts = buf_new(a);
  buf_printf(&b, "%swiring Both(", random_nested(a, r, &(Written){0}));
  write_ports(r, "a", true, &b);
  buf_text(&b, ", ");
  write_ports(r, "b", true, &b);
  buf_text(&b, ") -> (");
  write_ports(r, "a", false, &b);
  buf_text(&b, ", ");
  write_ports(r, "b", false, &b);
  buf_text(&b, ") {\n  p, q : Whole\n");
  write_around(r, "p", "a", &b);
  write_around(r, "q", "b", &b);
  buf_text(&b, "}\n");
  for (uint32_t half = 0; half < 2; half++) { // (ax0: …, bx0: …)
    const char *x = random_starts(a, r, seed + half);
    for (; *x && *x != ')'; x++) {
      if (*x == 'x') buf_text(&starts, half ? "b" : "a");
      if (*x != '(' || !half) buf_printf(&starts, "%c", *x);
    }
    buf_text(&starts, half ? ")" : ", ");
  }
  Ran both = ran_text(with_run(a, b.at, "Both", starts.at), false);
  Ran one = run_whole(a, r, &(Written){0}, seed), two = run_whole(a, r, &(Written){0}, seed + 1);
  uint64_t n = same_inside(&one, &both, 0, "p.", "a") + same_inside(&two, &both, 0, "q.", "b");
  ran_free(&both);
  ran_free(&one);
  ran_free(&two);
  return n;
}
static void parallel_is_independent(void **state) {
  (void)state;
  for_all("4 parallel", parallel, how_of);
}

// -- 5 --------------------------------------------------------------------------------------------
static RandomHow flowing(uint64_t seed) {
  return (RandomHow){
      .levels = 1 + (uint32_t)(seed % 3), .arrays = seed / 3 % 2, .own = seed / 6 % 2};
}

// Rates, composed and then followed by Euler's steps, leave the bits of machines that each make
// Euler's step themselves, composed; and of the definition. The same with a watched number, where
// the solver makes the steps one by one.
static uint64_t euler(Arena *a, const Made *r, uint64_t seed) {
  const char *starts = random_starts(a, r, seed);
  const char *rates = random_nested(a, r, &(Written){.step = BY_RATES});
  const char *run = arena_format(a, "run Whole%s to %g by euler[%g] every %g\n", starts,
                                 (TICKS - 1) * random_step, random_step, random_step);
  Traces trace = {0};
  random_trace(a, r, BY_EULER, seed, TICKS, &trace);
  if (trace.n == random_outputs(r)) return 0; // without a state nothing flows
  Ran flow = ran_text(arena_format(a, "%s%s", rates, run), false);
  Ran seen = ran_text(arena_format(a, "%s%scheck last(y0) < 2\n", rates, run), false);
  Ran ticks = run_whole(a, r, &(Written){.step = BY_EULER}, seed);
  uint64_t n = same_runs(&flow, 0, &ticks, 0) + same_trace(&ticks, &trace, false, NULL);
  const SimChannel *x = ran_channel(&seen, 0, "y0"), *y = ran_channel(&ticks, 0, "y0");
  assert_int_equal(x->value.n, y->value.n);
  for (uint32_t i = 0; i < x->value.n; i++)
    assert_true(fabs(x->value.at[i] - y->value.at[i]) < 1e-12);
  ran_free(&flow);
  ran_free(&seen);
  ran_free(&ticks);
  return n;
}
static void euler_commutes(void **state) {
  (void)state;
  for_all("5 Euler's steps", euler, flowing);
}

// -- 8 --------------------------------------------------------------------------------------------
static RandomHow with_own(uint64_t seed) {
  RandomHow how = how_of(seed);
  how.own = true;
  return how;
}

// Wirings with states that never change, against the same with numbers in the place of the states.
static uint64_t frozen(Arena *a, const Made *r, uint64_t seed) {
  Ran state = run_whole(a, r, &(Written){.frozen = true}, seed),
      number = run_whole(a, r, &(Written){.frozen = true, .numbers = true}, seed);
  uint64_t n = 0;
  const SimRecord *x = &number.f[0].record;
  for (uint32_t i = 0; i < x->sights; i++)
    n += same_channel(&x->channel.at[i], ran_channel(&state, 0, x->channel.at[i].name));
  ran_free(&state);
  ran_free(&number);
  return n;
}

// The same of compiled code, whose numbers live in variables.
static void frozen_when_compiled(void **state) {
  (void)state;
  Ran r = ran_text("machine Still(x: R[]) -> (y: R[], z: R[]) {\n"
                   "  state k : R[] = 0.5, s : R[] = 0, m : {red, green} = green\n"
                   "  next s = s + k * x when m = green else 7\n  y = s\n  z = k\n}\n"
                   "run Still(x: 2) for 10 ticks\n",
                   true);
  const SimChannel *y = ran_channel(&r, 0, "y"), *z = ran_channel(&r, 0, "z");
  for (uint32_t i = 0; i < 10; i++) assert_true(y->value.at[i] == i && z->value.at[i] == 0.5);
  ran_free(&r);
}
static void frozen_is_static(void **state) {
  (void)state;
  for_all("8 frozen wirings", frozen, with_own);
}

// -- 16 -------------------------------------------------------------------------------------------
// Machines whose states are four times as large, read as a quarter, with one more state that nobody
// reads: the map from one state space to the other keeps read and step, so the traces are the same
// bits, and the states are the map of each other at each tick.
static uint64_t mapped(Arena *a, const Made *r, uint64_t seed) {
  Ran one = run_whole(a, r, &(Written){0}, seed),
      four = run_whole(a, r, &(Written){.scaled = true}, seed);
  const SimRecord *x = &one.f[0].record;
  uint64_t n = 0;
  for (uint32_t i = 0; i < x->sights; i++) {
    const SimChannel *c = &x->channel.at[i], *d = ran_channel(&four, 0, c->name);
    assert_int_equal(c->value.n, d->value.n);
    for (uint32_t k = 0; k < c->value.n; k++, n++)
      if (!same_bits(c->value.at[k], d->value.at[k]) &&
          (c->name[0] == 'y' || !same_bits(4 * c->value.at[k], d->value.at[k])))
        fail_msg("%s: %.17g, %.17g\n%s", c->name, c->value.at[k], d->value.at[k], four.text);
  }
  ran_free(&one);
  ran_free(&four);
  return n;
}
static void maps_of_states(void **state) {
  (void)state;
  for_all("16 maps of states", mapped, how_of);
}

// -- 17 -------------------------------------------------------------------------------------------
static const char *formatted(const char *text, Arena *a) {
  Front front = {.arena = a, .names = names_new(a), .sources = sources_new(a)};
  front.diags = diags_new(a, front.sources);
  uint32_t file = source_add(front.sources, "text.limn", text, strlen(text));
  Syntax *tree = parse(&front, file);
  assert_int_equal(front.diags->errors, 0);
  Buf b = buf_new(a);
  format_program(&front, file, tree, &b);
  return b.at;
}

static const char *printed(const Ran *r, const Diagram *d) {
  Buf b = buf_new(r->arena);
  diagram_print(r->w, d, &b, false);
  return b.at;
}

// The text in its layout means the same flat diagram, and its layout is its own; the printed
// diagram, read and printed again, is the same text, with all states, rates and next values.
static uint64_t round_trip(Arena *a, const Made *r, uint64_t seed) {
  Stepping step = seed % 2 ? BY_TICKS : BY_EULER;
  const char *text = with_run(a, random_nested(a, r, &(Written){.step = step, .order = seed % 3}),
                              "Whole", random_starts(a, r, seed)),
             *neat = formatted(text, a);
  assert_string_equal(neat, formatted(neat, a));
  Ran one = ran_read(text), two = ran_read(neat);
  assert_int_equal(two.w->diags->errors, 0);
  const char *flat = printed(&one, one.p->ran->run.at[0].system->d);
  assert_string_equal(flat, printed(&two, two.p->ran->run.at[0].system->d));
  uint32_t file = source_add(one.w->sources, "flat.graph", flat, strlen(flat));
  Diagram *again = diagram_read(one.w, file);
  if (!again) fail_msg("%s\n%s", ran_messages(&one), flat);
  assert_string_equal(flat, printed(&one, again));
  uint64_t n = strlen(flat);
  ran_free(&one);
  ran_free(&two);
  return n;
}
static void texts_come_back(void **state) {
  (void)state;
  for_all("17 texts and diagrams there and back, in bytes", round_trip, how_of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identity_changes_nothing), cmocka_unit_test(nested_is_flat),
      cmocka_unit_test(order_means_nothing),      cmocka_unit_test(parallel_is_independent),
      cmocka_unit_test(euler_commutes),           cmocka_unit_test(frozen_is_static),
      cmocka_unit_test(frozen_when_compiled),     cmocka_unit_test(maps_of_states),
      cmocka_unit_test(texts_come_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
