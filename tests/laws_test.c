// Laws of all programs, on random programs: composition is associative, has units and obeys the
// interchange law; copying and swapping are natural; the chain rule holds; formatting keeps the
// meaning; passes keep the results; printed diagrams can be read back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "core/pass/rewrite.h"
#include "derive_help.h"
#include "diagram_help.h"
#include "lang/program/program.h"
#include "random_diagram.h"

#ifdef LIMN_GUARD
enum { DIAGRAMS = 2000, PROGRAMS = 100, BODIES = 200, DEEP = 3 }; // the sanitizers are slow
#else
enum { DIAGRAMS = 5000, PROGRAMS = 400, BODIES = 500, DEEP = 3 };
#endif

// -- random programs ------------------------------------------------------------------------------
static const char *const rough[] = {"tanh", "sin",      "relu",       "square", "sigmoid",
                                    "abs",  "scale[2]", "leaky_relu", "id"};
static const char *const smooth[] = {"tanh",    "sin",        "softplus", "square",
                                     "sigmoid", "scale[0.5]", "gelu",     "id"};

static const char *pick(T *t, const char *const *from, uint32_t n) { return from[t_below(t, n)]; }

// A box of one wire to one wire.
static const char *one(T *t, int depth, bool only_smooth) {
  uint32_t kind = depth > 0 ? t_below(t, 6) : 0;
  if (kind < 2) return only_smooth ? pick(t, smooth, COUNT(smooth)) : pick(t, rough, COUNT(rough));
  const char *f = one(t, depth - 1, only_smooth);
  if (kind == 2) return arena_format(t->arena, "(%s ; %s)", f, one(t, depth - 1, only_smooth));
  if (kind == 3)
    return arena_format(t->arena, "(%s & %s ; add)", f, one(t, depth - 1, only_smooth));
  if (kind == 4) return arena_format(t->arena, "(%s) ^ %u", f, 1 + t_below(t, 3));
  return arena_format(t->arena, "(copy ; (%s, %s) ; mixed)", f, one(t, depth - 1, only_smooth));
}

static const char *some(T *t, uint32_t in, uint32_t out, int depth);

// Boxes side by side, with their wires dealt out.
static const char *beside(T *t, uint32_t in, uint32_t out, int depth) {
  uint32_t i = 1 + t_below(t, in - 1), o = 1 + t_below(t, out - 1);
  return arena_format(t->arena, "(%s, %s)", some(t, i, o, depth), some(t, in - i, out - o, depth));
}

// A box of so many wires to so many, 1 to 3.
static const char *some(T *t, uint32_t in, uint32_t out, int depth) {
  static const char *const basic[3][3] = {{"tanh", "copy", "(copy ; (id, copy))"},
                                          {"mixed", "swap", "(id, copy)"},
                                          {"(mixed, id) ; add", "(id, mixed)", "(swap, sin)"}};
  if (in == 1 && out == 1) return one(t, depth, false);
  if (depth <= 0) return arena_format(t->arena, "(%s)", basic[in - 1][out - 1]);
  if (in > 1 && out > 1 && t_below(t, 2)) return beside(t, in, out, depth - 1);
  uint32_t middle = 1 + t_below(t, 3);
  return arena_format(t->arena, "(%s ; %s)", some(t, in, middle, depth - 1),
                      some(t, middle, out, depth - 1));
}

static const char *wires(T *t, uint32_t n, const char *type) {
  const char *s = type;
  for (uint32_t i = 1; i < n; i++) s = arena_format(t->arena, "%s, %s", s, type);
  return s;
}

static const char *ids(T *t, uint32_t n) {
  return n == 1 ? "id" : n == 2 ? "(id, id)" : arena_format(t->arena, "((id, id), id)");
}

typedef struct {
  T *t;
  Buf text;
  uint32_t n;
  const char *type;
} Laws;

// Two boxes that must be the same.
static void law(Laws *l, uint32_t in, uint32_t out, const char *left, const char *right) {
  const char *a = wires(l->t, in, l->type), *b = wires(l->t, out, l->type);
  buf_printf(&l->text, "box left%u : %s -> %s = %s\n", l->n, a, b, left);
  buf_printf(&l->text, "box right%u : %s -> %s = %s\n", l->n++, a, b, right);
}

static const char *pair(T *t, const char *format, const char *f, const char *g) {
  return arena_format(t->arena, format, f, g);
}

static void composition_laws(Laws *l) {
  T *t = l->t;
  uint32_t a = 1 + t_below(t, 3), b = 1 + t_below(t, 3), c = 1 + t_below(t, 3),
           d = 1 + t_below(t, 3);
  const char *f = some(t, a, b, DEEP), *g = some(t, b, c, DEEP), *h = some(t, c, d, DEEP);
  const char *u = one(t, DEEP, false), *v = one(t, DEEP, false), *p = one(t, DEEP, false),
             *q = one(t, DEEP, false);
  law(l, a, d, arena_format(t->arena, "(%s ; %s) ; %s", f, g, h),
      arena_format(t->arena, "%s ; (%s ; %s)", f, g, h));
  law(l, a, b, pair(t, "%s ; %s", f, ids(t, b)), f);
  law(l, a, b, pair(t, "%s ; %s", ids(t, a), f), f);
  law(l, 2, 2, arena_format(t->arena, "(%s, %s) ; (%s, %s)", u, v, p, q),
      arena_format(t->arena, "(%s ; %s, %s ; %s)", u, p, v, q));
  law(l, 3, 3, arena_format(t->arena, "((%s, %s), %s)", u, v, p),
      arena_format(t->arena, "(%s, (%s, %s))", u, v, p));
  law(l, 1, 2, pair(t, "copy ; (%s, %s)", u, u), pair(t, "%s ; %s", u, "copy"));
  law(l, 1, 2, pair(t, "%s & %s", u, v), pair(t, "copy ; (%s, %s)", u, v));
  law(l, 2, 2, pair(t, "swap ; (%s, %s)", v, u), pair(t, "(%s, %s) ; swap", u, v));
  law(l, 2, 2, "swap ; swap", "(id, id)");
  law(l, 1, 2, "copy ; swap", "copy");
  law(l, 1, 3, "copy ; (copy, id)", "copy ; (id, copy)");
  law(l, 1, 1, pair(t, "(%s) ^ %s", u, "3"), arena_format(t->arena, "%s ; %s ; %s", u, u, u));
}

// D[f ; g] = D[f] ; D[g], forward and backward.
static void chain_laws(Laws *l) {
  T *t = l->t;
  const char *f = one(t, DEEP - 1, true), *g = one(t, DEEP - 1, true), *y = l->type;
  buf_printf(&l->text,
             "box first : %s -> %s = %s\nbox second : %s -> %s = %s\nbox both : %s -> %s = first ; "
             "second\n",
             y, y, f, y, y, g, y, y);
  buf_printf(&l->text, "box left%u(x, dx: %s) -> %s = fwd[both](x, dx)\n", l->n, y, y);
  buf_printf(&l->text, "box right%u(x, dx: %s) -> %s = fwd[second](first(x), fwd[first](x, dx))\n",
             l->n++, y, y);
  buf_printf(&l->text, "box left%u(x, dy: %s) -> %s = rev[both](x, dy)\n", l->n, y, y);
  buf_printf(&l->text, "box right%u(x, dy: %s) -> %s = rev[first](x, rev[second](first(x), dy))\n",
             l->n++, y, y);
}

// -- reading them ---------------------------------------------------------------------------------
typedef struct {
  T *t;
  Elab *in;
  Program *program;
} Loaded;

static void fail_with(World *w, const char *text) {
  Buf b = buf_new(w->arena);
  diags_print(w->diags, &b);
  fail_msg("%s\n%s", b.at, text);
}

static Loaded load(const char *text, size_t n) {
  T *t = t_new(n);
  Loaded l = {.t = t, .in = elab_new(t->w)};
  l.program = elab_program(l.in, "chance.limn", text, n);
  if (t->w->diags->errors) fail_with(t->w, text);
  return l;
}

static Diagram *box(Loaded *l, const char *text, const char *name) {
  Diagram *d = elab_diagram(l->in, l->program, name, NULL);
  if (!d) fail_with(l->t->w, text);
  return d;
}

static const char *printed(World *w, const Diagram *d) {
  Buf b = buf_new(w->arena);
  diagram_print(w, d, &b, false);
  return b.at;
}

static const char *formatted(T *t, const char *text) {
  World *w = t->w;
  Front front = {w->arena, w->names, w->diags, w->sources};
  uint32_t file = source_add(w->sources, "chance.limn", text, strlen(text));
  Buf b = buf_new(t->arena);
  Syntax *tree = parse(&front, file);
  if (w->diags->errors) fail_with(w, text);
  format_program(&front, file, tree, &b);
  return b.at;
}

// Passes keep the value of what the front end makes.
static void check_passes(T *t, Diagram *d, const Tensor *in) {
  Diagram *flat = diagram_inline(t->w, d);
  t_valid(t, d);
  t_same_bits(t, d, flat, in);
  t_same_bits(t, d, diagram_simplify(t->w, flat), in);
}

// The layout is stable, and says the same.
static void check_layout(const char *text, const char *const *name, uint32_t n) {
  T *t = t_new(1);
  const char *once = formatted(t, text);
  assert_string_equal(once, formatted(t, once));
  Loaded a = load(text, strlen(text)), b = load(once, strlen(once));
  for (uint32_t i = 0; i < n; i++)
    assert_string_equal(printed(a.t->w, box(&a, text, name[i])),
                        printed(b.t->w, box(&b, once, name[i])));
  t_free(a.t);
  t_free(b.t);
  t_free(t);
}

static void check_laws(const Laws *l) {
  Loaded p = load(l->text.at, l->text.n);
  for (uint32_t i = 0; i < l->n; i++) {
    Diagram *left = box(&p, l->text.at, arena_format(p.t->arena, "left%u", i));
    Diagram *right = box(&p, l->text.at, arena_format(p.t->arena, "right%u", i));
    Tensor *in = t_tensors(p.t, left, -1.5, 1.5);
    check_passes(p.t, left, in);
    assert_int_equal(left->out.n, right->out.n);
    t_near(t_run(p.t, left, in, NULL), t_run(p.t, right, in, NULL), left->out.n, 1e-12);
  }
  t_free(p.t);
}

static void test_composition(void **state) {
  (void)state;
  static const char *const types[] = {"R[]", "R[3]", "R[2 2]"};
  for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
    T *t = t_new(seed);
    Laws l = {.t = t, .text = buf_new(t->arena), .type = types[seed % 3]};
    buf_text(&l.text, "box mixed(a, b: R[]) -> R[] = a * b - 0.5 * sin(b)\n");
    composition_laws(&l);
    chain_laws(&l);
    check_laws(&l);
    t_free(t);
  }
}

static void test_layout_of_compositions(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < PROGRAMS / 2; seed++) {
    T *t = t_new(seed + 5000);
    Laws l = {.t = t, .text = buf_new(t->arena), .type = "R[a]"};
    buf_text(&l.text, "axis a = 3\nbox mixed(a, b: R[]) -> R[] = a * b - 0.5 * sin(b)\n");
    composition_laws(&l);
    const char *names[] = {"left0", "right0", "left1", "left3", "right3", "left6"};
    check_layout(l.text.at, names, COUNT(names));
    t_free(t);
  }
}

// -- random bodies: wires, index equations, choices, loops ----------------------------------------
static const char *vector(T *t, uint32_t known, int depth);

static const char *number(T *t, uint32_t known, int depth) {
  static const char *const reductions[] = {"sum", "max", "min", "mean"};
  if (depth <= 0 || t_below(t, 4) == 0)
    return pick(t, (const char *const[]){"0.5", "2", "-1.5", "1e-1", "s"}, 5);
  if (t_below(t, 3))
    return arena_format(t->arena, "%s(%s)", pick(t, reductions, 4), vector(t, known, depth - 1));
  return arena_format(t->arena, "(%s %s %s)", number(t, known, depth - 1),
                      pick(t, (const char *const[]){"+", "-", "*"}, 3),
                      number(t, known, depth - 1));
}

static const char *vector(T *t, uint32_t known, int depth) {
  uint32_t kind = depth > 0 ? t_below(t, 7) : 0;
  if (kind < 2) return arena_format(t->arena, "v%u", t_below(t, known));
  const char *a = vector(t, known, depth - 1), *b = vector(t, known, depth - 1);
  if (kind == 2) return arena_format(t->arena, "%s(%s)", pick(t, rough, 6), a);
  if (kind == 3)
    return arena_format(t->arena, "(%s %s %s)", a, pick(t, (const char *const[]){"+", "-", "*"}, 3),
                        b);
  if (kind == 4)
    return arena_format(t->arena, "(%s when %s %s %s else %s)", a, a,
                        pick(t, (const char *const[]){"<", "<=", ">", ">="}, 4), b, b);
  if (kind == 5) return arena_format(t->arena, "(%s * %s)", a, number(t, known, depth - 1));
  return arena_format(t->arena, "-%s", a);
}

static void statement(T *t, Buf *b, uint32_t *known) {
  uint32_t n = *known, v = t_below(t, n), w = t_below(t, n), k = 1 + t_below(t, 3);
  switch (t_below(t, 7)) {
  case 0: buf_printf(b, "  v%u[i] = M[i j] v%u[j] %s v%u[i]\n", n, v, k == 1 ? "+" : "-", w); break;
  case 1: buf_printf(b, "  v%u[i] = M[j i] v%u[j] / size[n]\n", n, v); break;
  case 2: buf_printf(b, "  v%u[i:n] = v%u[i-1] * %u   pad 0.5\n", n, v, k); break;
  case 3: buf_printf(b, "  v%u[i] = sum[j](v%u[j] * (i - j)) + v%u[i]\n", n, v, w); break;
  case 4:
    buf_printf(b, "  v%u = v%u\n  for l in 1..%u { v%u = sin(v%u) * l + v%u }\n", n, v, k, n, n, w);
    break;
  case 5:
    buf_printf(b, "  v%u[i] = max[j](M[i j] * v%u[j]) when i < 2 else v%u[i]\n", n, v, w);
    break;
  default: buf_printf(b, "  v%u = %s\n", n, vector(t, n, 3)); break;
  }
  ++*known;
}

static const char *body(T *t) {
  Buf b = buf_new(t->arena);
  uint32_t known = 1;
  buf_text(&b, "box f(v0: R[n], M: R[n n], s: R[]) -> R[n] {\n");
  for (uint32_t i = 2 + t_below(t, 4); i; i--) statement(t, &b, &known);
  buf_printf(&b, "  return %s\n}\n", vector(t, known, 2));
  buf_text(&b, "box whole(x: R[4], M: R[4 4], s: R[]) -> R[4] = f(x, M, s)\n");
  return b.at;
}

static void test_bodies(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < BODIES; seed++) {
    T *t = t_new(seed + 9000);
    const char *text = body(t);
    Loaded p = load(text, strlen(text));
    Diagram *d = box(&p, text, "whole");
    check_passes(p.t, d, t_tensors(p.t, d, -1, 1));
    t_free(p.t);
    const char *names[] = {"f", "whole"};
    if (seed % 4 == 0) check_layout(text, names, 2);
    t_free(t);
  }
}

// -- text -----------------------------------------------------------------------------------------
static void test_print_and_read(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < DIAGRAMS; seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(
        t->w, seed + 100000,
        &(Chance){.boxes = 1 + (uint32_t)(seed % 6), .odd = seed % 3 == 0, .flat = seed % 4});
    const char *text = printed(t->w, d);
    Diagram *again = diagram_read(t->w, source_add(t->w->sources, "printed", text, strlen(text)));
    if (!again) fail_with(t->w, text);
    if (!diagram_equal(t->w, d, again)) fail_msg("seed %llu:\n%s", (unsigned long long)seed, text);
    assert_string_equal(text, printed(t->w, again));
    t_free(t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_composition),
      cmocka_unit_test(test_layout_of_compositions),
      cmocka_unit_test(test_bodies),
      cmocka_unit_test(test_print_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
