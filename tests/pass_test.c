// Passes on random diagrams: inlining, simplifying and pruning keep every bit; derivatives obey
// their laws; goals with masks agree with one reverse pass for each; costs agree with the counts of
// the interpreter.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "derive_help.h"
#include "diagram_help.h"
#include "random_diagram.h"

// Random diagrams for each law.
static uint64_t seeds(void) {
#ifdef LIMN_GUARD
  return 400; // the sanitizers are slow
#else
  return getenv("FULL") ? 4000 : 1500;
#endif
}

// Whether no number on any wire of a diagram, nor on any of its forward derivative, is large or
// infinite: what is said of derivatives holds up to rounding only then.
static bool is_tame(T *t, const Diagram *d, uint64_t seed) {
  Diagram *open = diagram_forward(t->w, diagram_inline(t->w, d), NULL);
  for (Id i = 1; i < open->wire.n; i++) diagram_output(t->w, open, i);
  const Tensor *x = t_run(t, open, random_tensors(t->w, t->arena, open, seed), NULL);
  for (uint32_t i = 0; i < open->out.n; i++)
    for (int64_t k = 0; k < x[i].count; k++)
      if (!(fabs(x[i].data[k]) < 1e4)) return false;
  return true;
}

// -- passes keep the result -----------------------------------------------------------------------
static void test_passes_keep_bits(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d =
        random_diagram(t->w, seed, &(Chance){.odd = seed % 5 == 0, .smooth = seed % 3 == 0});
    Tensor *in = random_tensors(t->w, t->arena, d, seed);
    t_valid(t, d);
    Diagram *flat = diagram_inline(t->w, d), *simple = diagram_simplify(t->w, flat);
    assert_false(has_calls(flat));
    t_same_bits(t, d, flat, in);
    t_same_bits(t, d, diagram_simplify(t->w, d), in);
    t_same_bits(t, d, simple, in);
    t_same_bits(t, d, diagram_simplify(t->w, simple), in);
    t_same_bits(t, d, diagram_hoist_loops(t->w, simple), in);
    assert_true(simple->box.n <= flat->box.n);
    t_free(t);
  }
}

static void check_text(T *t, const Diagram *d) {
  Buf b = buf_new(t->arena);
  diagram_print(t->w, d, &b, false);
  const Diagram *again = diagram_read(t->w, source_add(t->w->sources, "printed", b.at, b.n));
  assert_non_null(again);
  assert_true(diagram_equal(t->w, d, again));
}

// What the passes make can be printed and read back.
static void test_passes_print(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(t->w, seed + 60000, &(Chance){.odd = seed % 2});
    check_text(t, diagram_inline(t->w, d));
    check_text(t, diagram_simplify(t->w, d));
    check_text(t, diagram_reverse(t->w, d, NULL));
    check_text(t, diagram_forward(t->w, d, NULL));
    t_free(t);
  }
}

// -- laws of derivatives --------------------------------------------------------------------------
static void test_derivatives_by_chance(void **state) {
  (void)state;
  uint32_t done = 0;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(t->w, seed, &(Chance){.smooth = true});
    if (is_tame(t, d, seed)) t_check(t, d, random_tensors(t->w, t->arena, d, seed)), done++;
    t_free(t);
  }
  assert_true(done > seeds() / 2);
}

static void test_rough_derivatives(void **state) {
  (void)state;
  uint32_t done = 0;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(t->w, seed + 10000, &(Chance){.odd = seed % 4 == 0});
    Tensor *in = random_tensors(t->w, t->arena, d, seed);
    if (is_tame(t, d, seed)) t_check_adjoint(t, d, in), done++;
    t_free(t);
  }
  assert_true(done > seeds() / 2);
}

// Simplifying before or after the derivative: the first changes no derivative, the second no bit.
static void test_simplify_and_reverse(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d =
        random_diagram(t->w, seed + 20000, &(Chance){.smooth = seed % 2, .real = seed % 3 == 0});
    Diagram *r = diagram_reverse(t->w, d, &(Wanted){.keep_out = true}),
            *s = diagram_simplify(t->w, r);
    Tensor *in = random_tensors(t->w, t->arena, r, seed);
    t_same_bits(t, r, s, in);
    Diagram *before = diagram_reverse(t->w, diagram_simplify(t->w, diagram_inline(t->w, d)),
                                      &(Wanted){.keep_out = true});
    t_valid(t, before);
    if (is_tame(t, d, seed))
      t_near(t_run(t, r, in, NULL), t_run(t, before, in, NULL), r->out.n, 1e-9);
    Diagram *f = diagram_forward(t->w, d, NULL);
    t_same_bits(t, f, diagram_simplify(t->w, f), random_tensors(t->w, t->arena, f, seed));
    t_free(t);
  }
}

// The boxes first..last of a flat diagram, with every wire that crosses as input or output.
static Diagram *part(T *t, const Diagram *d, Id first, Id last, const Ids *in, const Ids *out) {
  Diagram *p = t_diagram(t, "part");
  Id *map = NEW_ARRAY(t->arena, Id, d->wire.n);
  for (uint32_t i = 0; i < in->n; i++)
    map[in->at[i]] = diagram_input(t->w, p, d->wire.at[in->at[i]].type, 0, 0);
  for (Id i = first; i <= last; i++) {
    const Box *b = &d->box.at[i];
    Id wires[8], made = 0;
    for (uint32_t k = 0; k < b->nin; k++) wires[k] = map[b->in[k]];
    const Type *type = &d->wire.at[b->out[0]].type;
    switch (b->op) {
    case OP_loop: made = box_loop(t->w, p, b->loop, wires, b->nin, *type, 0); break;
    case OP_join: made = box_join(t->w, p, b->axis, wires, b->nin, 0); break;
    case OP_order: made = box_order(t->w, p, b->axis, wires[0], 0); break;
    case OP_scan: made = box_scan(t->w, p, b->scan, wires, b->nin, 0); break;
    case OP_random: made = box_random(t->w, p, b->random->noise, b->random->site, *type, 0); break;
    default: fail_msg("a box of another kind");
    }
    for (uint32_t k = 0; k < b->nout; k++) map[b->out[k]] = made + k;
  }
  for (uint32_t i = 0; i < out->n; i++) diagram_output(t->w, p, map[out->at[i]]);
  return p;
}

static Ids boundary_of(T *t, const Diagram *d) {
  Ids all = {0};
  for (uint32_t i = 0; i < d->in.n; i++) vec_push(t->arena, &all, d->in.at[i]);
  for (uint32_t i = 0; i < d->param.n; i++) vec_push(t->arena, &all, d->param.at[i].wire);
  return all;
}

// (f, Df) ; (g, Dg) = (f ; g, D[f ; g]), for a diagram cut into f and g anywhere.
static void test_chain_rule(void **state) {
  (void)state;
  uint32_t done = 0;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = diagram_inline(
        t->w, random_diagram(t->w, seed + 30000, &(Chance){.boxes = 6, .smooth = seed % 2}));
    Ids start = boundary_of(t, d), cut = {0};
    Id at = t_below(t, d->box.n);
    for (Id i = 1; i < d->wire.n; i++)
      if (d->wire.at[i].box <= at) vec_push(t->arena, &cut, i);
    Diagram *f = part(t, d, 1, at, &start, &cut),
            *g = part(t, d, at + 1, d->box.n - 1, &cut, &d->out);
    Diagram *whole = part(t, d, 1, d->box.n - 1, &start, &d->out);
    Diagram *df = diagram_forward(t->w, f, NULL), *dg = diagram_forward(t->w, g, NULL),
            *dh = diagram_forward(t->w, whole, NULL);
    Tensor *in = random_tensors(t->w, t->arena, df, seed);
    assert_int_equal(df->out.n, dg->in.n); // (f, Df) gives just what (g, Dg) takes
    Tensor *apart = t_run(t, dg, t_run(t, df, in, NULL), NULL), *together = t_run(t, dh, in, NULL);
    if (is_tame(t, d, seed)) t_near(apart, together, dh->out.n, 1e-11), done++;
    t_free(t);
  }
  assert_true(done > seeds() / 2);
}

// -- goals ----------------------------------------------------------------------------------------
// The sum of the tanh of each real output of a diagram: goals.
static Diagram *goals_of(T *t, Diagram *d) {
  Diagram *g = t_diagram(t, "goals");
  Ids in = {0};
  for (uint32_t i = 0; i < d->in.n; i++)
    vec_push(t->arena, &in, diagram_input(t->w, g, d->wire.at[d->in.at[i]].type, 0, 0));
  for (uint32_t i = 0; i < d->param.n; i++) {
    Param p = d->param.at[i];
    p.next = 0;
    uint32_t n = diagram_param(t->w, g, p, d->wire.at[p.wire].type, 0, 0);
    vec_push(t->arena, &in, g->param.at[n].wire);
  }
  Id first = box_call(t->w, g, d, in.at, in.n, 0);
  for (uint32_t i = 0; i < d->out.n; i++) {
    const Type type = g->wire.at[first + i].type;
    if (type.base != BASE_R) continue;
    Loop loop = {.nindex = type.rank,
                 .nin = 1,
                 .index = NEW_ARRAY(t->arena, Index, type.rank),
                 .in = NEW_ARRAY(t->arena, Access, 1)};
    uint32_t plain[8];
    for (uint32_t k = 0; k < type.rank; k++) loop.index[plain[k] = k].size = type.axis[k].size;
    loop.in[0] = access_plain(t->w, type.rank, plain);
    scalar_push(t->w, &loop, (Scalar){.fn = FN_ARG, .base = BASE_R});
    scalar_fn(t->w, &loop, FN_tanh, 0, 0, 0);
    diagram_output(t->w, g,
                   box_loop(t->w, g, &loop, (Id[]){first + i}, 1, t_type(t, BASE_R, ""), 0));
  }
  return g;
}

static void check_masks(T *t, const Diagram *g, const bool *const *mask, const Tensor *in) {
  const Diagram *all = diagram_gradient(t->w, g, mask);
  t_valid(t, all);
  Tensor *got = t_run(t, all, in, NULL);
  t_near(got, t_run(t, g, in, NULL), g->out.n, 1e-15);
  Tensor *sum = NEW_ARRAY(t->arena, Tensor, g->param.n);
  bool *no_in = NEW_ARRAY(t->arena, bool, g->in.n);
  for (uint32_t i = 0; i < g->param.n; i++) sum[i] = t_copy(t, &in[g->in.n + i]);
  for (uint32_t i = 0; i < g->param.n; i++)
    memset(sum[i].data, 0, (size_t)sum[i].count * sizeof(double));
  for (uint32_t o = 0; o < g->out.n; o++) { // one reverse pass for each goal
    Diagram *r = diagram_reverse(t->w, g, &(Wanted){.want_in = no_in, .want_param = mask[o]});
    Tensor *r_in = NEW_ARRAY(t->arena, Tensor, g->in.n + g->out.n + g->param.n);
    for (uint32_t i = 0; i < g->in.n; i++) r_in[i] = in[i];
    for (uint32_t i = 0; i < g->out.n; i++) {
      r_in[g->in.n + i] = tensor_new(t->arena, 0, NULL);
      r_in[g->in.n + i].data[0] = i == o;
    }
    for (uint32_t i = 0; i < g->param.n; i++) r_in[g->in.n + g->out.n + i] = in[g->in.n + i];
    const Tensor *d = t_run(t, r, r_in, NULL);
    for (uint32_t i = 0; i < g->param.n; i++) {
      if (!mask[o][i]) continue;
      for (int64_t k = 0; k < sum[i].count; k++) sum[i].data[k] += d->data[k];
      d++;
    }
  }
  const Tensor *next = got + g->out.n;
  for (uint32_t i = 0; i < g->param.n; i++) {
    bool any = false;
    for (uint32_t o = 0; o < g->out.n; o++) any |= mask[o][i];
    if (any) t_near(next++, &sum[i], 1, 1e-10);
  }
  assert_ptr_equal(next, got + all->out.n);
}

static void test_masks_by_chance(void **state) {
  (void)state;
  uint32_t used = 0;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *g =
        goals_of(t, random_diagram(t->w, seed + 40000, &(Chance){.boxes = 8, .smooth = true}));
    const bool **mask = NEW_ARRAY(t->arena, const bool *, g->out.n);
    for (uint32_t o = 0; o < g->out.n; o++) {
      bool *row = NEW_ARRAY(t->arena, bool, g->param.n);
      for (uint32_t i = 0; i < g->param.n; i++)
        row[i] = g->wire.at[g->param.at[i].wire].type.base == BASE_R && t_below(t, 2);
      mask[o] = row;
    }
    used += g->param.n > 0;
    check_masks(t, g, mask, random_tensors(t->w, t->arena, g, seed));
    t_free(t);
  }
  assert_true(used > seeds() / 2);
}

// Two goals, different trains, one shared wire: gen makes h, dis judges it; dis learns one, gen the
// other.
static Diagram *adversaries(T *t) {
  Diagram *d = t_diagram(t, "adversaries");
  Id x = t_input(t, d, BASE_R, "4"), gen = t_param(t, d, BASE_R, "gen/W", "4 3"),
     dis = t_param(t, d, BASE_R, "dis/W", "3");
  Id h = t_loop(t, d, "i:4 j:3", SUM, "j", "3", "a*b", 2, (Operand[]){{x, "i"}, {gen, "i j"}});
  Id s = t_loop(t, d, "j:3", SUM, "", "", "tanh(a)*b", 2, (Operand[]){{h, "j"}, {dis, "j"}});
  diagram_output(t->w, d, t_loop(t, d, "", SUM, "", "", "softplus(a)", 1, (Operand[]){{s, ""}}));
  diagram_output(t->w, d, t_loop(t, d, "", SUM, "", "", "a*a", 1, (Operand[]){{s, ""}}));
  return d;
}

static void test_two_goals(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = adversaries(t);
  const bool *both[] = {(bool[]){true, true}, (bool[]){true, true}},
             *apart[] = {(bool[]){true, false}, (bool[]){false, true}};
  Tensor *in = t_tensors(t, d, -1, 1);
  check_masks(t, d, both, in);
  check_masks(t, d, apart, in);
  // Together the cotangents of s are added, then flow on. Apart, s has two, but neither goal
  // computes the gradient of what it may not move: as many loops, less the addition.
  uint32_t one = diagram_gradient(t->w, d, both)->box.n,
           two = diagram_gradient(t->w, d, apart)->box.n;
  const bool *none[] = {(bool[]){false, false}, (bool[]){false, true}};
  uint32_t less = diagram_gradient(t->w, d, none)->box.n;
  assert_int_equal(two, one - 1);
  assert_true(less < two);
  t_free(t);
}

// -- inlining with sizes --------------------------------------------------------------------------
// twice[n]: x ↦ (x, n x) laid end to end; its own variable n is another size at every call.
static Diagram *twice(T *t) {
  Diagram *f = t_diagram(t, "twice");
  Size n = size_var(t->w, name_from(t->w->names, "n"), VAR_LOCAL, (Span){0});
  Id x = diagram_input(t->w, f, type_make(t->w, BASE_R, 1, &(Axis){.size = n}), 0, 0);
  Loop loop = {.nin = 1, .in = &(Access){0}};
  uint32_t a = scalar_push(t->w, &loop, (Scalar){.fn = FN_ARG, .base = BASE_R});
  uint32_t s = scalar_push(t->w, &loop, (Scalar){.fn = FN_SIZE, .base = BASE_R, .ref = n});
  scalar_fn(t->w, &loop, FN_mul, a, s, 0);
  Diagram *step = t_diagram(t, "step"); // n occurs in it, but not in the type of its input
  Id slice = t_input(t, step, BASE_R, "");
  loop.in[0] = loop.out = access_plain(t->w, 0, NULL);
  diagram_output(t->w, step, box_loop(t->w, step, &loop, &slice, 1, step->wire.at[slice].type, 0));
  Id y = box_scan(t->w, f, &(Scan){.body = step, .slice = 1, .axis = {.size = n}}, &x, 1, 0);
  diagram_output(t->w, f, box_join(t->w, f, 0, (Id[]){x, y}, 2, 0));
  return f;
}

static void test_inline_sizes(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *f = twice(t), *d = t_diagram(t, "eight");
  Id x = t_input(t, d, BASE_R, "2");
  for (uint32_t i = 0; i < 2; i++) x = box_call(t->w, d, f, &x, 1, 0);
  diagram_output(t->w, d, x);
  int64_t n = 0;
  Diagram *flat = diagram_inline(t->w, d);
  Tensor *in = t_tensors(t, d, -1, 1);
  t_same_bits(t, d, flat, in);
  assert_true(type_count(t->w, &flat->wire.at[flat->out.at[0]].type, &n) && n == 8);
  t_check(t, d, in);
  Cost c = diagram_cost(t->w, d); // 2 + 4 multiplications
  assert_true(size_value(t->w, c.multiplications, &n) && n == 6);
  t_free(t);
}

// -- costs ----------------------------------------------------------------------------------------
static void test_counted_multiplications(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(t->w, seed + 50000, &(Chance){.boxes = 6});
    Diagram *some[] = {d, diagram_inline(t->w, d), diagram_reverse(t->w, d, NULL),
                       diagram_forward(t->w, d, NULL)};
    for (uint32_t i = 0; i < COUNT(some); i++) {
      uint64_t counted;
      int64_t n;
      t_run(t, some[i], random_tensors(t->w, t->arena, some[i], seed), &counted);
      assert_true(size_value(t->w, diagram_cost(t->w, some[i]).multiplications, &n));
      assert_int_equal(counted, n);
    }
    t_free(t);
  }
}

static void assert_size(T *t, Size s, const char *text) {
  assert_string_equal(size_text(t->w, s), text);
}

static Id matmul(T *t, Diagram *d, Id a, Id b, const Size *mkn) {
  Loop loop = {.nindex = 3,
               .nin = 2,
               .index = NEW_ARRAY(t->arena, Index, 3),
               .in = NEW_ARRAY(t->arena, Access, 2)};
  for (uint32_t i = 0; i < 3; i++) loop.index[i].size = mkn[i];
  loop.in[0] = access_plain(t->w, 2, (uint32_t[]){0, 1});
  loop.in[1] = access_plain(t->w, 2, (uint32_t[]){1, 2});
  loop.out = access_plain(t->w, 2, (uint32_t[]){0, 2});
  for (uint32_t i = 0; i < 2; i++)
    scalar_push(t->w, &loop, (Scalar){.fn = FN_ARG, .base = BASE_R, .ref = i});
  scalar_fn(t->w, &loop, FN_mul, 0, 1, 0);
  return box_loop(t->w, d, &loop, (Id[]){a, b}, 2,
                  type_make(t->w, BASE_R, 2, (Axis[]){{.size = mkn[0]}, {.size = mkn[2]}}), 0);
}

static void test_symbolic_cost(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "product");
  Size s[3];
  for (uint32_t i = 0; i < 3; i++)
    s[i] = size_var(t->w, name_of(t->w->names, &"mkn"[i], 1), VAR_AXIS, (Span){0});
  Id a = diagram_input(t->w, d,
                       type_make(t->w, BASE_R, 2, (Axis[]){{.size = s[0]}, {.size = s[1]}}), 0, 0);
  Id b = diagram_input(t->w, d,
                       type_make(t->w, BASE_R, 2, (Axis[]){{.size = s[1]}, {.size = s[2]}}), 0, 0);
  diagram_output(t->w, d, matmul(t, d, a, b, s));
  Cost c = diagram_cost(t->w, d);
  Size mkn = size_mul(t->w, size_mul(t->w, s[0], s[1]), s[2]);
  assert_true(c.multiplications == mkn);
  assert_true(c.additions == size_sub(t->w, mkn, size_mul(t->w, s[0], s[2])));
  assert_true(c.memory_peak == c.memory_all);
  assert_size(t, c.functions, "0");
  // The reverse is two such products; the naive way runs the forward derivative for every number
  // that may move.
  Cost r = diagram_cost(t->w, diagram_reverse(t->w, d, NULL));
  assert_true(r.multiplications == size_mul(t->w, size_of(t->w, 2), mkn));
  Cost naive = diagram_cost_forward_mode(t->w, d);
  Size numbers = size_add(t->w, size_mul(t->w, s[0], s[1]), size_mul(t->w, s[1], s[2]));
  assert_true(naive.multiplications ==
              size_mul(t->w, size_mul(t->w, size_of(t->w, 3), mkn), numbers));
  t_free(t);
}

// -- simplification -------------------------------------------------------------------------------
static void test_simplify_folds(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id x = t_input(t, d, BASE_R, "3 4");
  Id p = t_loop(t, d, "i:4 j:3", SUM, "i j", "4 3", "a", 1, (Operand[]){{x, "j i"}}); // transposed
  Id q = t_loop(t, d, "i:3 j:2", SUM, "i j", "3 2", "a", 1,
                (Operand[]){{p, "2*j+1 2-i"}}); // sliced and flipped
  Id one = t_loop(t, d, "i:3", SUM, "i", "3", "1", 0, NULL);
  Id y = t_loop(t, d, "i:3 j:2", SUM, "i", "3", "a*b", 2, (Operand[]){{q, "i j"}, {one, "i"}});
  Id z = t_loop(t, d, "i:3 k:2", SUM, "i", "3", "a", 1, (Operand[]){{q, "i k"}});
  diagram_output(t->w, d,
                 t_loop(t, d, "i:3", SUM, "i", "3", "a + b", 2, (Operand[]){{y, "i"}, {z, "i"}}));
  Diagram *s = diagram_simplify(t->w, d);
  t_same_bits(t, d, s, t_tensors(t, d, -1, 1));
  assert_int_equal(s->box.n - 1, 2); // y = z read x directly and are one; then their sum
  assert_int_equal(s->box.at[1].in[0], s->in.at[0]);
  assert_int_equal(s->box.at[2].nin, 1);
  t_free(t);
}

// A guard is kept: x[i+p-1] · ones[i+p-1] has a border that x alone, padded, has not.
static void test_simplify_keeps_guards(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id x = t_input(t, d, BASE_R, "5"), one = t_loop(t, d, "i:5", SUM, "i", "5", "1", 0, NULL);
  Id y = t_loop(t, d, "i:5 p:3", SUM, "i", "5", "a*b", 2,
                (Operand[]){{x, "i+p-1 | 7"}, {one, "i+p-1"}});
  diagram_output(t->w, d, y);
  Id r =
      t_loop(t, d, "i:5", PROD, "i", "5", "a", 1, (Operand[]){{x, "i"}}); // a copy, though by prod
  diagram_output(t->w, d, t_loop(t, d, "i:7", SUM, "i", "7", "a", 1, (Operand[]){{r, "i-1"}}));
  t_same_bits(t, d, diagram_simplify(t->w, d), t_tensors(t, d, -1, 1));
  t_free(t);
}

// Chains of renamings, fills and maps, read in and out of bounds, padded or not, of strange
// numbers.
static const char *some_access(T *t, uint32_t rank) {
  static const char *const at[] = {"i",   "j",   "i", "j",   "2-i",  "i+1",
                                   "j-1", "i+j", "1", "2*j", "i-j+2"};
  static const char *const pad[] = {"", "", "", "| 0", "| 2"};
  Buf b = buf_new(t->arena);
  for (uint32_t i = 0; i < rank; i++) buf_printf(&b, "%s ", at[t_below(t, COUNT(at))]);
  buf_text(&b, pad[t_below(t, COUNT(pad))]);
  return b.at;
}

static Id some_loop(T *t, Diagram *d) {
  static const char *const body[] = {"a + b", "a*b",     "a + 0",  "0 + b",
                                     "a - 0", "a*1 + b", "a + -0", "select(a < b, a, 1*b)",
                                     "-(-a)", "a - b"};
  static const char *const size[] = {"3 3", "3 4", "4 3"}, *const box[] = {"i:3 j:3", "i:3 j:4",
                                                                           "i:4 j:3"};
  uint32_t shape = t_below(t, 3), kind = t_below(t, 5);
  Id a = 1 + t_below(t, d->wire.n - 1), b = t_below(t, 3) ? 1 + t_below(t, d->wire.n - 1) : a;
  uint32_t ranks[] = {d->wire.at[a].type.rank, d->wire.at[b].type.rank};
  if (kind == 0)
    return t_loop(t, d, box[shape], SUM, "i j", size[shape], t_below(t, 2) ? "0" : "-0", 0, NULL);
  const char *plain =
      ranks[0] == 2 && t_below(t, 2) ? t_below(t, 2) ? "i j" : "j i" : some_access(t, ranks[0]);
  if (kind < 3)
    return t_loop(t, d, box[shape], (Combine)t_below(t, 4), t_below(t, 4) ? "i j" : "j i",
                  t_below(t, 8) ? size[shape] : "4 4", "a", 1, (Operand[]){{a, plain}});
  Operand in[] = {{a, plain}, {b, some_access(t, ranks[1])}};
  return t_loop(t, d, arena_format(t->arena, "%s k:2", box[shape]), SUM, "i j", size[shape],
                body[t_below(t, COUNT(body))], 2, in);
}

static void test_simplify_hostile(void **state) {
  (void)state;
  static const double strange[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5};
  for (uint64_t seed = 0; seed < 8 * seeds(); seed++) {
    T *t = t_new(seed);
    Diagram *d = t_diagram(t, "f");
    t_input(t, d, BASE_R, "3 4");
    t_input(t, d, BASE_R, "3");
    for (uint32_t i = 0; i < 6; i++) diagram_output(t->w, d, some_loop(t, d));
    Tensor *in = t_tensors(t, d, -1, 1);
    for (uint32_t i = 0; i < 2; i++)
      for (int64_t k = 0; k < in[i].count; k++)
        if (t_below(t, 2)) in[i].data[k] = strange[t_below(t, COUNT(strange))];
    t_same_bits(t, d, diagram_simplify(t->w, d), in);
    t_free(t);
  }
}

// Tensors in a row, and back: nothing moves. Readers of a part of a param do not look through it.
static void test_parts(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id row = t_param(t, d, BASE_R, "row", "40");
  Id part = wire_view(t->w, d, row, 10, t_type(t, BASE_R, "2 1 3"), 0, 0);
  Id one = wire_view(t->w, d, row, 39, t_type(t, BASE_R, ""), 0, 0);
  Id y =
      t_loop(t, d, "i:3 j:2", SUM, "i j", "3 2", "a*b", 2, (Operand[]){{part, "j 0 i"}, {one, ""}});
  Id back = wire_flatten(t->w, d, y, 0);
  diagram_output(t->w, d, back);
  Diagram *s = diagram_simplify(t->w, d);
  Tensor *in = t_tensors(t, d, -1, 1);
  t_same_bits(t, d, s, in);
  const Tensor *out = t_run(t, s, in, NULL);
  for (int64_t i = 0; i < 3; i++)
    for (int64_t j = 0; j < 2; j++)
      assert_true(out[0].data[2 * i + j] == in[0].data[10 + 3 * j + i] * in[0].data[39]);
  int64_t offset;
  assert_int_equal(s->box.n, 5);
  assert_true(box_is_view(t->w, s, &s->box.at[1], &offset) && offset == 10);
  assert_true(box_is_view(t->w, s, &s->box.at[2], &offset) && offset == 39);
  assert_true(!box_is_view(t->w, s, &s->box.at[3], &offset));
  Id other = t_loop(t, d, "i:3 j:2", SUM, "i j", "3 2", "a", 1, (Operand[]){{row, "3*i+j"}});
  assert_true(other && !box_is_view(t->w, d, &d->box.at[d->box.n - 1], &offset));
  other = t_loop(t, d, "i:3 j:2", SUM, "i j", "3 2", "a", 1, (Operand[]){{row, "2*i+j+35"}});
  assert_true(other && !box_is_view(t->w, d, &d->box.at[d->box.n - 1], &offset)); // not inside
  t_free(t);
}

static void test_hoist(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id x = t_input(t, d, BASE_R, "5"), k = t_input(t, d, BASE_R, "");
  diagram_output(
      t->w, d,
      t_loop(t, d, "i:5", SUM, "i", "5", "a/(1 - 0.9^b) + 2*b", 2, (Operand[]){{x, "i"}, {k, ""}}));
  Diagram *h = diagram_hoist_loops(t->w, d);
  t_valid(t, h);
  t_same_bits(t, d, h, t_tensors(t, d, 1, 2));
  assert_int_equal(h->box.n, 3); // the power once, the product where it was
  assert_int_equal(h->box.at[1].loop->nindex, 0);
  assert_int_equal(h->box.at[2].nin, 3);
  t_free(t);
}

// -- products -------------------------------------------------------------------------------------
typedef struct {
  Diagram *d;
  Base base;
} Einsum;

// A random sum of products.
static Einsum some_product(T *t, uint64_t seed) {
  static const char letter[] = "ijklm";
  Einsum e = {t_diagram(t, "f"), seed % 4 ? BASE_R : BASE_BIT};
  uint32_t size[5], n = 2 + t_below(t, 4), nout = t_below(t, 3), first = t_below(t, 3);
  Buf box = buf_new(t->arena), body = buf_new(t->arena), out = buf_new(t->arena),
      shape = buf_new(t->arena);
  for (uint32_t i = 0; i < 5; i++) {
    size[i] = 1 + t_below(t, 4);
    buf_printf(&box, "%c:%u ", letter[i], size[i]);
  }
  Operand in[5];
  for (uint32_t k = 0; k < n; k++) {
    Buf at = buf_new(t->arena), sizes = buf_new(t->arena);
    for (uint32_t r = t_below(t, 4); r-- > 0;) {
      uint32_t i = t_below(t, 5);
      buf_printf(&at, "%c ", letter[i]);
      buf_printf(&sizes, "%u ", size[i]);
    }
    buf_text(&at, "");
    buf_text(&sizes, "");
    in[k] = (Operand){t_input(t, e.d, e.base, sizes.at), at.at};
    if (k + 1 < n) buf_printf(&body, e.base == BASE_BIT ? "and(%c, " : "%c*", 'a' + (int)k);
  }
  buf_char(&body, (char)('a' + n - 1));
  for (uint32_t k = 1; e.base == BASE_BIT && k < n; k++) buf_char(&body, ')');
  if (e.base == BASE_R && seed % 3 == 0) buf_text(&body, "*-2");
  for (uint32_t i = first; i < first + nout; i++) {
    buf_printf(&out, "%c ", letter[i]);
    buf_printf(&shape, "%u ", size[i]);
  }
  buf_text(&out, "");
  buf_text(&shape, "");
  diagram_output(t->w, e.d, t_loop(t, e.d, box.at, SUM, out.at, shape.at, body.at, n, in));
  return e;
}

// The same numbers, by no more multiplications; over bits the same bits.
static void test_contract_by_chance(void **state) {
  (void)state;
  uint32_t split = 0;
  for (uint64_t seed = 0; seed < seeds() / 5; seed++) {
    T *t = t_new(seed);
    Einsum e = some_product(t, seed);
    Diagram *c = diagram_contract(t->w, e.d);
    t_valid(t, c);
    split += c->box.n > e.d->box.n;
    Tensor *x = t_tensors(t, e.d, -1, 1);
    uint64_t before, after;
    const Tensor *want = t_run(t, e.d, x, &before), *got = t_run(t, c, x, &after);
    t_near(want, got, 1, 1e-12);
    assert_true(after <= before);
    if (e.base == BASE_BIT) t_same_bits(t, e.d, c, x);
    t_free(t);
  }
  assert_true(split > seeds() / 50);
}

static void test_contract_chain(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id a = t_input(t, d, BASE_R, "10 30"), b = t_input(t, d, BASE_R, "30 5"),
     c = t_input(t, d, BASE_R, "5 20");
  Operand in[] = {{a, "i j"}, {b, "j k"}, {c, "k l"}};
  diagram_output(t->w, d, t_loop(t, d, "i:10 j:30 k:5 l:20", SUM, "l i", "20 10", "a*b*c", 3, in));
  Diagram *s = diagram_contract(t->w, d);
  Tensor *x = t_tensors(t, d, -1, 1);
  uint64_t count;
  assert_int_equal(s->box.n, 3);
  t_near(t_run(t, d, x, NULL), t_run(t, s, x, &count), 1, 1e-12);
  assert_int_equal(count, 10 * 30 * 5 + 10 * 5 * 20);        // (a b) c, not a (b c)
  Operand slid[] = {{a, "i 2*j+k"}, {b, "j 0"}, {c, "k l"}}; // any access, if it is inside
  Id y = t_loop(t, d, "i:10 j:13 k:4 l:20", SUM, "i l", "10 20", "a*b*c", 3, slid);
  d->out.at[0] = y;
  s = diagram_contract(t->w, d);
  t_near(t_run(t, d, x, NULL), t_run(t, s, x, &count), 1, 1e-12);
  assert_int_equal(count, 10 * 13 * 4 + 10 * 4 * 20);
  t_free(t);
}

// P[i j] = a[i] b[j], then its diagonal or its sum: nobody computes all of P.
static Diagram *of_outer_product(T *t, const char *box, const char *at, const char *out,
                                 const char *shape) {
  Diagram *d = t_diagram(t, "f");
  Id a = t_input(t, d, BASE_R, "10"), b = t_input(t, d, BASE_R, "10");
  Operand in[] = {{a, "i"}, {b, "j"}};
  Operand read[] = {{t_loop(t, d, "i:10 j:10", SUM, "i j", "10 10", "a*b", 2, in), at}};
  diagram_output(t->w, d, t_loop(t, d, box, SUM, out, shape, "a", 1, read));
  return d;
}

static void test_outer_product(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = of_outer_product(t, "i:10", "i i", "i", "10"),
          *s = diagram_fuse(t->w, diagram_simplify(t->w, d));
  Tensor *x = t_tensors(t, d, -1, 1);
  uint64_t count;
  t_valid(t, s);
  t_near(t_run(t, d, x, NULL), t_run(t, s, x, &count), 1, 0);
  assert_int_equal(count, 10);
  d = of_outer_product(t, "i:10 j:10", "i j", "", "");
  s = diagram_contract(t->w, diagram_simplify(t->w, d));
  t_valid(t, s);
  t_near(t_run(t, d, x, NULL), t_run(t, s, x, &count), 1, 1e-12);
  assert_true(count <= 10 + 10 + 1);
  t_free(t);
}

// Equal whatever the order of what is added or multiplied, within a loop and between loops.
static void test_commuted(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id a = t_input(t, d, BASE_R, "5"), b = t_input(t, d, BASE_R, "5");
  Operand one[] = {{a, "i"}, {b, "i"}}, two[] = {{b, "i"}, {a, "i"}};
  Id p = t_loop(t, d, "i:5", SUM, "i", "5", "a*b + b*a", 2, one),
     q = t_loop(t, d, "i:5", SUM, "i", "5", "a*b + b*a", 2, two);
  diagram_output(t->w, d, p);
  diagram_output(t->w, d, q);
  Diagram *s = diagram_simplify(t->w, d);
  assert_int_equal(s->box.n, 2);
  assert_int_equal(s->box.at[1].loop->nscalar, 4); // two reads, one product, one sum
  assert_int_equal(s->out.at[0], s->out.at[1]);
  t_free(t);
}

// What would skip points, or sums over an index that nobody reads, or saves nothing, stays.
static void test_contract_leaves_alone(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "g");
  Id y = t_input(t, d, BASE_R, "6"), z = t_input(t, d, BASE_R, "3 6");
  diagram_output(t->w, d,
                 t_loop(t, d, "i:6 p:3", SUM, "p", "3", "a*b*c", 3,
                        (Operand[]){{y, "i+p-1"}, {z, "p i"}, {y, "i"}}));
  diagram_output(t->w, d,
                 t_loop(t, d, "i:6 p:3 k:2", SUM, "", "", "a*b*c", 3,
                        (Operand[]){{y, "i"}, {z, "p i"}, {y, "i"}}));
  diagram_output(t->w, d, t_loop(t, d, "i:6", SUM, "i", "6", "a*a*a", 1, (Operand[]){{y, "i"}}));
  assert_int_equal(diagram_contract(t->w, d)->box.n, d->box.n);
  t_free(t);
}

// -- scans ----------------------------------------------------------------------------------------
// By chance, and after the reverse, where scans carry sums.
static void test_widen_by_chance(void **state) {
  (void)state;
  uint32_t changed = 0, done = 0;
  for (uint64_t seed = 0; seed < seeds() / 2; seed++) {
    T *t = t_new(seed);
    Diagram *d = random_diagram(t->w, seed + 70000, &(Chance){.smooth = seed % 2 == 0});
    Diagram *flat = diagram_simplify(t->w, diagram_inline(t->w, d)),
            *wide = diagram_hoist_scans(t->w, flat);
    t_valid(t, wide);
    changed += wide->box.n != flat->box.n;
    bool tame = is_tame(t, d, seed);
    Tensor *in = random_tensors(t->w, t->arena, d, seed);
    if (tame) t_near(t_run(t, flat, in, NULL), t_run(t, wide, in, NULL), d->out.n, 1e-9);
    Diagram *r = diagram_reverse(t->w, wide, NULL), *s = diagram_simplify(t->w, r),
            *u = diagram_simplify(t->w, diagram_hoist_scans(t->w, s));
    t_valid(t, u);
    changed += u->box.n != s->box.n;
    Tensor *all = random_tensors(t->w, t->arena, r, seed);
    if (tame) {
      t_near(t_run(t, s, all, NULL), t_run(t, u, all, NULL), r->out.n, 1e-9);
      Diagram *plain = diagram_reverse(t->w, flat, NULL);
      t_near(t_run(t, plain, all, NULL), t_run(t, u, all, NULL), r->out.n, 1e-9);
      done++;
    }
    t_free(t);
  }
  assert_true(changed > seeds() / 100 && done > seeds() / 4);
}

// h' = tanh(x U + h V): the product with x goes in front; in the reverse, only the product that the
// carry needs stays inside.
static Diagram *recurrent(T *t) {
  Diagram *d = t_diagram(t, "recurrent"), *body = t_diagram(t, "cell");
  Id x = t_input(t, body, BASE_R, "2 3"), h = t_input(t, body, BASE_R, "2 4"),
     u = t_param(t, body, BASE_R, "U", "3 4"), v = t_param(t, body, BASE_R, "V", "4 4");
  Id a = t_loop(t, body, "b:2 i:3 o:4", SUM, "b o", "2 4", "a*b", 2,
                (Operand[]){{x, "b i"}, {u, "i o"}}),
     c = t_loop(t, body, "b:2 i:4 o:4", SUM, "b o", "2 4", "a*b", 2,
                (Operand[]){{h, "b i"}, {v, "i o"}}),
     y = t_loop(t, body, "b:2 o:4", SUM, "b o", "2 4", "tanh(a + b)", 2,
                (Operand[]){{a, "b o"}, {c, "b o"}});
  diagram_output(t->w, body, y);
  diagram_output(t->w, body, y);
  Scan s = {.body = body, .slice = 1, .carry = 1};
  s.axis = (Index){name_from(t->w->names, "t"), size_of(t->w, 5)};
  Id in[] = {t_input(t, d, BASE_R, "5 2 3"), t_input(t, d, BASE_R, "2 4"),
             t_param(t, d, BASE_R, "U", "3 4"), t_param(t, d, BASE_R, "V", "4 4")};
  Id out = box_scan(t->w, d, &s, in, 4, 0);
  diagram_output(t->w, d, out);
  diagram_output(t->w, d, out + 1);
  return d;
}

static uint32_t products_inside(const Diagram *d) {
  uint32_t n = 0;
  for (Id i = 1; i < d->box.n; i++) {
    const Diagram *body = d->box.at[i].op == OP_scan ? d->box.at[i].scan->body : NULL;
    for (Id k = 1; body && k < body->box.n; k++)
      n += body->box.at[k].op == OP_loop && body->box.at[k].loop->nindex == 3;
  }
  return n;
}

static void test_widen_recurrent(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = recurrent(t), *wide = diagram_simplify(t->w, diagram_hoist_scans(t->w, d));
  Tensor *in = t_tensors(t, d, -1, 1);
  t_valid(t, wide);
  t_same_bits(t, d, wide, in);
  assert_int_equal(products_inside(d), 2);
  assert_int_equal(products_inside(wide), 1);
  t_check(t, wide, in);
  Diagram *r = diagram_simplify(t->w, diagram_reverse(t->w, d, NULL)),
          *u = diagram_simplify(t->w, diagram_hoist_scans(t->w, r));
  Tensor *all = t_tensors(t, r, -1, 1);
  t_near(t_run(t, r, all, NULL), t_run(t, u, all, NULL), r->out.n, 1e-12);
  assert_int_equal(products_inside(r), 2 + 2 + 4); // forward; the same again; dx dh dU dV
  assert_int_equal(products_inside(u), 2);         // h V forward, dh = g V
  t_free(t);
}

// A sum that begins somewhere, and nothing else: no scan is left.
static void test_widen_sum(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "summing"), *body = t_diagram(t, "add");
  Id x = t_input(t, body, BASE_R, "3"), s = t_input(t, body, BASE_R, "2"),
     w = t_input(t, body, BASE_R, "3 2");
  Id e = t_loop(t, body, "i:3 o:2", SUM, "o", "2", "a*b", 2, (Operand[]){{x, "i"}, {w, "i o"}});
  diagram_output(
      t->w, body,
      t_loop(t, body, "o:2", SUM, "o", "2", "a + b", 2, (Operand[]){{e, "o"}, {s, "o"}}));
  Scan scan = {.body = body, .slice = 1, .carry = 1, .hold = 1};
  scan.axis = (Index){name_from(t->w->names, "t"), size_of(t->w, 5)};
  Id in[] = {t_input(t, d, BASE_R, "5 3"), t_input(t, d, BASE_R, "2"),
             t_input(t, d, BASE_R, "3 2")};
  diagram_output(t->w, d, box_scan(t->w, d, &scan, in, 3, 0));
  Diagram *wide = diagram_hoist_scans(t->w, d);
  Tensor *some = t_tensors(t, d, -1, 1);
  t_valid(t, wide);
  t_near(t_run(t, d, some, NULL), t_run(t, wide, some, NULL), 1, 1e-12);
  for (Id i = 1; i < wide->box.n; i++) assert_int_equal(wide->box.at[i].op, OP_loop);
  t_free(t);
}

static void test_noise_is_not_merged(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  for (int i = 0; i < 2; i++)
    diagram_output(t->w, d, box_random(t->w, d, NOISE_NORMAL, 9, t_type(t, BASE_R, "3"), 0));
  assert_int_equal(diagram_simplify(t->w, d)->box.n, 3);
  t_free(t);
}

// -- length ---------------------------------------------------------------------------------------
// A long chain with a shared weight: every pass must be linear.
static void test_long_diagram(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "long");
  Id x = t_input(t, d, BASE_R, "2"), w = t_param(t, d, BASE_R, "W", "2");
  for (uint32_t i = 0; i < 5000; i++)
    x = t_loop(t, d, "i:2", SUM, "i", "2", i % 2 ? "tanh(a*b)" : "a + b", 2,
               (Operand[]){{x, "i"}, {w, "i"}});
  diagram_output(t->w, d, x);
  double start = clock_seconds();
  Diagram *r = diagram_reverse(t->w, d, NULL), *s = diagram_simplify(t->w, r);
  diagram_cost(t->w, s);
  assert_true(clock_seconds() - start < 20);
  t_same_bits(t, r, s, t_tensors(t, r, -1, 1));
  t_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_passes_keep_bits),
      cmocka_unit_test(test_passes_print),
      cmocka_unit_test(test_derivatives_by_chance),
      cmocka_unit_test(test_rough_derivatives),
      cmocka_unit_test(test_simplify_and_reverse),
      cmocka_unit_test(test_chain_rule),
      cmocka_unit_test(test_masks_by_chance),
      cmocka_unit_test(test_two_goals),
      cmocka_unit_test(test_inline_sizes),
      cmocka_unit_test(test_counted_multiplications),
      cmocka_unit_test(test_symbolic_cost),
      cmocka_unit_test(test_simplify_folds),
      cmocka_unit_test(test_simplify_keeps_guards),
      cmocka_unit_test(test_simplify_hostile),
      cmocka_unit_test(test_contract_by_chance),
      cmocka_unit_test(test_contract_chain),
      cmocka_unit_test(test_widen_by_chance),
      cmocka_unit_test(test_widen_recurrent),
      cmocka_unit_test(test_widen_sum),
      cmocka_unit_test(test_contract_leaves_alone),
      cmocka_unit_test(test_outer_product),
      cmocka_unit_test(test_commuted),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_hoist),
      cmocka_unit_test(test_noise_is_not_merged),
      cmocka_unit_test(test_long_diagram),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
