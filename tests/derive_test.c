// Derivatives of every scalar function, of every box, and of diagrams; masks of goals; inlining;
// costs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "derive_help.h"

// -- every row ------------------------------------------------------------------------------------
static bool near_kink(const FnRow *row, double x) {
  for (const char *s = row->kinks; s && *s;) {
    char *end;
    if (fabs(strtod(s, &end) - x) < 0.01) return true;
    s = *end ? end + 1 : end;
  }
  return false;
}

// Each operand is read at a random part of the indices, the output keeps another: broadcasts and
// sums.
static const char *random_part(T *t, uint32_t nindex, const uint32_t *size, const char **sizes) {
  Buf access = buf_new(t->arena), shape = buf_new(t->arena);
  for (uint32_t i = 0; i < nindex; i++) {
    if (!t_below(t, 3)) continue;
    buf_printf(&access, "%s%c", access.n ? " " : "", "ijk"[i]);
    buf_printf(&shape, "%s%u", shape.n ? " " : "", size[i]);
  }
  *sizes = shape.at;
  return access.at;
}

static Diagram *row_diagram(T *t, const FnRow *row, Base star) {
  Diagram *d = t_diagram(t, row->name);
  uint32_t nindex = t_below(t, 4), size[3];
  Buf box = buf_new(t->arena), body = buf_new(t->arena);
  Operand operand[3] = {{0}};
  const char *sizes;
  for (uint32_t i = 0; i < nindex; i++) {
    size[i] = 1 + t_below(t, 3);
    buf_printf(&box, "%s%c:%u", i ? " " : "", "ijk"[i], size[i]);
  }
  buf_printf(&body, "%s(", row->name);
  for (uint32_t k = 0; k < row->arity; k++) {
    operand[k].access = random_part(t, nindex, size, &sizes);
    operand[k].wire = t_input(t, d,
                              row->sig[k] == 'R'   ? BASE_R
                              : row->sig[k] == 'B' ? BASE_BIT
                                                   : star,
                              sizes);
    buf_printf(&body, "%s%c", k ? ", " : "", "abc"[k]);
  }
  buf_char(&body, ')');
  const char *out = random_part(t, nindex, size, &sizes);
  diagram_output(t->w, d, t_loop(t, d, box.at, SUM, out, sizes, body.at, row->arity, operand));
  return d;
}

static void check_row(T *t, const FnRow *row, Base star) {
  Diagram *d = row_diagram(t, row, star);
  Tensor *x = t_tensors(t, d, row->low, row->high);
  bool real = d->wire.at[d->out.at[0]].type.base == BASE_R;
  bool true_slope = strcmp(row->name, "stop") != 0 && strcmp(row->name, "through") != 0;
  for (uint32_t i = 0; i < d->in.n; i++)
    for (int64_t k = 0; d->wire.at[d->in.at[i]].type.base == BASE_R && k < x[i].count; k++)
      while (near_kink(row, x[i].data[k])) x[i].data[k] = t_uniform(t, row->low, row->high);
  for (uint32_t k = 0; !real && k < row->arity; k++) true_slope &= row->d[k] != NULL;
  if (!real)
    t_check_bits(t, d, x, true_slope);
  else if (true_slope)
    t_check(t, d, x);
  else
    t_check_adjoint(t, d, x);
}

static void test_rows(void **state) {
  (void)state;
  uint32_t rows = 0;
  for (int fn = FN_SIZE + 1; fn < FN_COUNT; fn++) {
    const FnRow *row = &fn_rows[fn];
    if (!row->d[0] && !row->d[1] && !row->d[2]) continue;
    rows++;
    for (uint32_t i = 0; i < 25; i++) {
      T *t = t_new((uint64_t)fn * 100 + i);
      check_row(t, row, BASE_R);
      if (strchr(row->sig, '*')) check_row(t, row, BASE_BIT);
      t_free(t);
    }
  }
  assert_true(rows > 25);
}

static void test_through_and_stop(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id a = t_input(t, d, BASE_R, "3"), b = t_input(t, d, BASE_R, "3");
  diagram_output(t->w, d,
                 t_loop(t, d, "i:3", SUM, "i", "3", "through(a, b) + stop(a)", 2,
                        (Operand[]){{a, "i"}, {b, "i"}}));
  Diagram *r = diagram_reverse(t->w, d, NULL);
  Tensor *x = t_tensors(t, r, -1, 1), *out = t_run(t, r, x, NULL);
  for (int i = 0; i < 3; i++) {
    assert_true(out[0].data[i] == 0);
    assert_true(out[1].data[i] == x[2].data[i]);
  }
  t_free(t);
}

// A slope that is infinite in the branch not taken does no harm.
static void test_branches(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id a = t_input(t, d, BASE_R, "2");
  diagram_output(t->w, d,
                 t_loop(t, d, "i:2", SUM, "i", "2", "select(a > 0, log(a) + 1/a, a)", 1,
                        (Operand[]){{a, "i"}}));
  Diagram *r = diagram_reverse(t->w, d, NULL);
  Tensor *x = t_tensors(t, r, -1, 1);
  x[0].data[0] = 0;
  x[0].data[1] = 0.5;
  Tensor *out = t_run(t, r, x, NULL);
  assert_true(out[0].data[0] == x[1].data[0]);
  assert_true(fabs(out[0].data[1] + 2 * x[1].data[1]) < 1e-12);
  t_free(t);
}

// -- every kind of loop ---------------------------------------------------------------------------
__attribute__((format(printf, 2, 3))) static const char *number(T *t, const char *format, ...) {
  Buf b = buf_new(t->arena);
  va_list args;
  va_start(args, format);
  buf_vprintf(&b, format, args);
  va_end(args);
  return b.at;
}

static const char *padded(T *t, const char *access, double pad) { // 0 = not
  return pad != 0 ? number(t, "%s | %g", access, pad) : access;
}

static Diagram *conv(T *t, bool transposed, double pad) {
  int h = 3 + (int)t_below(t, 4), k = 1 + (int)t_below(t, 3), s = 1 + (int)t_below(t, 3),
      dil = 1 + (int)t_below(t, 2), p = (int)t_below(t, 3);
  int o = (h + 2 * p - dil * (k - 1) - 1) / s + 1 + (int)t_below(t, 2), g = 1 + (int)t_below(t, 2);
  if (o < 1) o = 1;
  Diagram *d = t_diagram(t, "conv");
  const char *box = number(t, "i:%d p:%d g:%d c:2 o:2", o, k, g),
             *at = number(t, "%d*i+%d*p-%d 2*g+c", s, dil, p);
  const char *large = number(t, "%d %d", h, 2 * g), *small = number(t, "%d %d", o, 2 * g);
  Id w = t_input(t, d, BASE_R, number(t, "%d %d 2 2", k, g)),
     x = t_input(t, d, BASE_R, transposed ? small : large);
  Operand in[] = {{x, transposed ? "i 2*g+o" : padded(t, at, pad)}, {w, "p g c o"}};
  diagram_output(t->w, d,
                 t_loop(t, d, box, SUM, transposed ? at : "i 2*g+o", transposed ? large : small,
                        "a*b", 2, in));
  return d;
}

static Diagram *pool(T *t, Combine how, double pad) {
  int h = 3 + (int)t_below(t, 5), k = 1 + (int)t_below(t, 3), s = 1 + (int)t_below(t, 3),
      p = (int)t_below(t, 2);
  int o = (h + 2 * p - k) / s + 1;
  Diagram *d = t_diagram(t, "pool");
  Id x = t_input(t, d, BASE_R, number(t, "%d %d 2", h, h)),
     m = t_input(t, d, BASE_R, number(t, "%d", k));
  const char *at = number(t, "%d*i+p-%d %d*j+q-%d c", s, p, s, p);
  Operand in[] = {{x, padded(t, at, pad)}, {m, "p"}};
  Id y = t_loop(t, d, number(t, "i:%d p:%d j:%d q:%d c:2", o, k, o, k), how, "i j c",
                number(t, "%d %d 2", o, o), t_below(t, 2) ? "a" : "a*b + 0.1*at_q*b", 2, in);
  diagram_output(t->w, d, y);
  return d;
}

static Diagram *view(T *t) {
  Diagram *d = t_diagram(t, "view");
  uint32_t kind = t_below(t, 7);
  static const struct {
    const char *in, *out, *box, *read, *write;
  } v[] = {{"2 3 2", "6 2", "h:2 w:3 c:2", "h w c", "3*h+w c"},
           {"6 2", "2 2 3", "h:2 w:3 c:2", "3*h+w c", "c h w"},
           {"4 4", "4", "i:4", "i i", "i"},
           {"4 2", "4 4 2", "i:4 j:2", "i j", "i i j"},
           {"7", "4 4", "i:4 j:4", "3+i-j", "i j"},
           {"5 5", "5", "i:5", "i 4-i", "i"},
           {"4 3", "3", "i:4 j:3 k:2", "i j", "j"}};
  Id x = t_input(t, d, BASE_R, v[kind].in);
  diagram_output(t->w, d,
                 t_loop(t, d, v[kind].box, SUM, v[kind].write, v[kind].out, "exp(a)", 1,
                        (Operand[]){{x, v[kind].read}}));
  return d;
}

static const char *random_affine(T *t, uint32_t rank) {
  Buf b = buf_new(t->arena);
  static const int coefs[] = {-2, -1, 1, 1, 2, 3};
  for (uint32_t r = 0; r < rank; r++) {
    buf_printf(&b, "%s%d", r ? " " : "", (int)t_below(t, 3) - 1);
    for (uint32_t i = 0; i < 3; i++)
      if (t_below(t, 2)) buf_printf(&b, "%+d*%c", coefs[t_below(t, 6)], "ijk"[i]);
  }
  return b.at;
}

static const char *random_sizes(T *t, uint32_t rank) {
  Buf b = buf_new(t->arena);
  for (uint32_t r = 0; r < rank; r++) buf_printf(&b, "%s%u", r ? " " : "", 1 + t_below(t, 5));
  return b.at;
}

// Any accesses at all, a wire in two roles, an operand that only guards, a padded one.
static Diagram *affine(T *t) {
  static const char *const body[] = {"a*b", "a + sin(b)*c",     "a*a*b", "tanh(a*c)",
                                     "c",   "a*at_i + b*c*at_k"};
  Diagram *d = t_diagram(t, "affine");
  Operand in[3];
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t rank = t_below(t, 3);
    in[k] = (Operand){t_input(t, d, BASE_R, random_sizes(t, rank)),
                      padded(t, random_affine(t, rank), t_below(t, 4) ? 0 : 0.7)};
    if (k && d->wire.at[in[0].wire].type.rank == rank && t_below(t, 2)) in[k].wire = in[0].wire;
  }
  uint32_t rank = t_below(t, 3);
  const char *box =
      number(t, "i:%u j:%u k:%u", 1 + t_below(t, 4), 1 + t_below(t, 4), 1 + t_below(t, 4));
  diagram_output(t->w, d,
                 t_loop(t, d, box, SUM, random_affine(t, rank), random_sizes(t, rank),
                        body[t_below(t, COUNT(body))], 3, in));
  return d;
}

static Diagram *labels(T *t) {
  Diagram *d = t_diagram(t, "labels");
  Id l = t_label(t, d, 4, "5"), e = t_input(t, d, BASE_R, "4 3"), m = t_input(t, d, BASE_R, "5 3"),
     s = t_input(t, d, BASE_R, "2 3");
  Id y;
  switch (t_below(t, 5)) {
  case 0:
    y = t_loop(t, d, "t:5 m:3", SUM, "t m", "5 3", "b*c", 3,
               (Operand[]){{l, "t"}, {e, "#0 m"}, {m, "t m"}});
    break;
  case 1:
    y = t_loop(t, d, "t:5 m:3", SUM, "#0 m", "4 3", "sin(b)", 2, (Operand[]){{l, "t"}, {m, "t m"}});
    break;
  case 2:
    y = t_loop(t, d, "t:5 m:3", SUM, "#0-1 m", "2 3", "b*number(a)*c", 3,
               (Operand[]){{l, "t"}, {m, "t m"}, {e, "#0 m"}});
    break;
  case 3:
    y = t_loop(t, d, "t:5 m:3", SUM, "t m", "5 3", "b + c", 3,
               (Operand[]){{l, "t"}, {m, "t m"}, {s, "#0 m"}});
    break;
  default:
    y = t_loop(t, d, "t:5 m:3", MAX, "t", "5", "b*c", 3,
               (Operand[]){{l, "t"}, {e, "#0+1 m"}, {m, "t m"}});
  }
  diagram_output(t->w, d, y);
  return d;
}

static Diagram *product(T *t) {
  Diagram *d = t_diagram(t, "product");
  Id x = t_input(t, d, BASE_R, "3 4"), y = t_input(t, d, BASE_R, "4");
  Operand in[] = {{x, padded(t, t_below(t, 2) ? "i j" : "i+j-1 j", t_below(t, 2) ? 1.5 : 0)},
                  {y, "j"}};
  if (t_below(t, 2))
    diagram_output(t->w, d, t_loop(t, d, "i:3 j:4", PROD, "i", "3", "a + b*b", 2, in));
  else
    diagram_output(t->w, d, t_loop(t, d, "j:4 i:3", PROD, "", "", "a*at_j + b", 2, in));
  return d;
}

static void check_many(Diagram *(*make)(T *), uint32_t times, uint64_t seed) {
  for (uint32_t i = 0; i < times; i++) {
    T *t = t_new(seed + i);
    Diagram *d = make(t);
    t_check(t, d, t_tensors(t, d, -1, 1));
    t_free(t);
  }
}

static Diagram *conv_plain(T *t) { return conv(t, false, 0); }
static Diagram *conv_padded(T *t) { return conv(t, false, 0.3); }
static Diagram *conv_transposed(T *t) { return conv(t, true, 0); }
static Diagram *pool_max(T *t) { return pool(t, MAX, 0); }
static Diagram *pool_min(T *t) { return pool(t, MIN, t_below(t, 2) ? 0.2 : 0); }

static void test_loops(void **state) {
  (void)state;
  check_many(conv_plain, 30, 1000);
  check_many(conv_padded, 20, 1100);
  check_many(conv_transposed, 30, 1200);
  check_many(view, 30, 1300);
  check_many(affine, 150, 1400);
  check_many(labels, 40, 1600);
}

static void test_max_min_prod(void **state) {
  (void)state;
  check_many(pool_max, 40, 2000);
  check_many(pool_min, 40, 2100);
  check_many(product, 30, 2200);
}

static void test_prod_of_zeros(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "f");
  Id x = t_input(t, d, BASE_R, "3");
  diagram_output(t->w, d, t_loop(t, d, "i:3", PROD, "", "", "a", 1, (Operand[]){{x, "i"}}));
  Diagram *r = diagram_reverse(t->w, d, NULL);
  Tensor *in = t_tensors(t, r, 1, 2);
  in[0].data[1] = 0;
  Tensor *out = t_run(t, r, in, NULL);
  assert_true(out[0].data[0] == 0 && out[0].data[2] == 0);
  assert_true(fabs(out[0].data[1] - in[1].data[0] * in[0].data[0] * in[0].data[2]) < 1e-15);
  t_free(t);
}

// -- other boxes ----------------------------------------------------------------------------------
static Diagram *joined(T *t) {
  Diagram *d = t_diagram(t, "joined");
  uint32_t axis = t_below(t, 2);
  Id a = t_input(t, d, BASE_R, axis ? "2 1" : "1 2"),
     b = t_input(t, d, BASE_R, axis ? "2 3" : "3 2");
  Id j = box_join(t->w, d, axis, (Id[]){a, b, a}, 3, 0);
  Id y =
      t_loop(t, d, "i:5 j:2", SUM, "i", "5", "sin(a)", 1, (Operand[]){{j, axis ? "j i" : "i j"}});
  diagram_output(t->w, d, y);
  diagram_output(t->w, d, box_order(t->w, d, axis, j, 0));
  return d;
}

// An Elman cell with a label slice, noise, a hold and a param; it emits twice, and has a counter as
// a second carry.
static Diagram *cell_body(T *t) {
  Diagram *b = t_diagram(t, "cell");
  Id x = t_input(t, b, BASE_R, "2"), l = t_label(t, b, 2, ""), h = t_input(t, b, BASE_R, "3"),
     n = t_input(t, b, BASE_R, "");
  Id hold = t_input(t, b, BASE_R, "3 2"), p = t_param(t, b, BASE_R, "U", "3 3");
  Id z = box_random(t->w, b, NOISE_NORMAL, 77, t_type(t, BASE_R, "3"), 0);
  Id u = t_loop(t, b, "i:3 j:3", SUM, "i", "3", "a*b", 2, (Operand[]){{p, "i j"}, {h, "j"}});
  Id v = t_loop(t, b, "i:3 k:2", SUM, "i", "3", "a*b", 2, (Operand[]){{hold, "i k"}, {x, "k"}});
  Id y = t_loop(t, b, "i:3", SUM, "i", "3", "tanh(a + b + 0.3*c*d)", 4,
                (Operand[]){{u, "i"}, {v, "i"}, {z, "i"}, {n, ""}});
  Id one = t_loop(t, b, "", SUM, "", "", "a + 0.5", 1, (Operand[]){{n, ""}});
  Id e = t_loop(t, b, "", SUM, "", "", "b*b", 2, (Operand[]){{l, ""}, {y, "#0"}});
  diagram_output(t->w, b, y);
  diagram_output(t->w, b, one);
  diagram_output(t->w, b, e);
  diagram_output(t->w, b, l);
  diagram_output(t->w, b, t_loop(t, b, "k:2", SUM, "k", "2", "a*a", 1, (Operand[]){{x, "k"}}));
  return b;
}

static Diagram *scanned(T *t) {
  Diagram *d = t_diagram(t, "scanned");
  Id x = t_input(t, d, BASE_R, "4 2"), l = t_label(t, d, 2, "4"), h = t_input(t, d, BASE_R, "3"),
     n = t_input(t, d, BASE_R, "");
  Id hold = t_input(t, d, BASE_R, "3 2"), p = t_param(t, d, BASE_R, "U", "3 3");
  Scan s = {.body = cell_body(t),
            .slice = 2,
            .carry = 2,
            .hold = 1,
            .axis = {.size = size_of(t->w, 4)},
            .back = t_below(t, 2)};
  Id first = box_scan(t->w, d, &s, (Id[]){x, l, h, n, hold, p}, 6, 0);
  switch (t_below(t, 4)) {
  case 0: diagram_output(t->w, d, first); break;
  case 1: diagram_output(t->w, d, first + 2); break;
  default:
    for (uint32_t i = 0; i < 5; i++) diagram_output(t->w, d, first + i);
  }
  return d;
}

// A scan in the body of a scan.
static Diagram *scanned_twice(T *t) {
  Diagram *outer = t_diagram(t, "outer"), *d = t_diagram(t, "twice");
  Id x = t_input(t, outer, BASE_R, "4 2"), l = t_label(t, outer, 2, "4"),
     h = t_input(t, outer, BASE_R, "3"), n = t_input(t, outer, BASE_R, "");
  Id hold = t_input(t, outer, BASE_R, "3 2"), p = t_param(t, outer, BASE_R, "U", "3 3");
  Scan s = {.body = cell_body(t),
            .slice = 2,
            .carry = 2,
            .hold = 1,
            .axis = {.size = size_of(t->w, 4)},
            .back = t_below(t, 2)};
  Id first = box_scan(t->w, outer, &s, (Id[]){x, l, h, n, hold, p}, 6, 0);
  diagram_output(t->w, outer, first);
  diagram_output(t->w, outer, n);
  diagram_output(t->w, outer, first + 2);
  Id ox = t_input(t, d, BASE_R, "2 4 2"), ol = t_label(t, d, 2, "2 4"),
     oh = t_input(t, d, BASE_R, "3"), on = t_input(t, d, BASE_R, "");
  Id ohold = t_input(t, d, BASE_R, "3 2"), op = t_param(t, d, BASE_R, "U", "3 3");
  Scan o = {.body = outer,
            .slice = 2,
            .carry = 2,
            .hold = 1,
            .axis = {.size = size_of(t->w, 2)},
            .back = t_below(t, 2)};
  Id all = box_scan(t->w, d, &o, (Id[]){ox, ol, oh, on, ohold, op}, 6, 0);
  diagram_output(t->w, d, all);
  diagram_output(t->w, d, all + 2);
  return d;
}

static void test_boxes(void **state) {
  (void)state;
  check_many(joined, 10, 3000);
  check_many(scanned, 20, 3100);
  check_many(scanned_twice, 6, 3200);
}

// y = x W with its own reverse (which doubles the cotangent, to be recognised).
static Diagram *own_reverse(T *t, double scale) {
  Diagram *f = t_diagram(t, "own"), *r = t_diagram(t, "own_back");
  Id x = t_input(t, f, BASE_R, "2"), l = t_label(t, f, 3, ""),
     w = t_param(t, f, BASE_R, "W", "2 3");
  diagram_output(t->w, f,
                 t_loop(t, f, "i:2 j:3", SUM, "j", "3", "a*b*number(c)", 3,
                        (Operand[]){{x, "i"}, {w, "i j"}, {l, ""}}));
  Id rx = t_input(t, r, BASE_R, "2"), rl = t_label(t, r, 3, ""), g = t_input(t, r, BASE_R, "3"),
     rw = t_param(t, r, BASE_R, "W", "2 3");
  const char *body = number(t, "a*b*number(c)*%.1f", scale);
  diagram_output(t->w, r,
                 t_loop(t, r, "i:2 j:3", SUM, "i", "2", body, 3,
                        (Operand[]){{g, "j"}, {rw, "i j"}, {rl, ""}}));
  diagram_output(t->w, r,
                 t_loop(t, r, "i:2 j:3", SUM, "i j", "2 3", body, 3,
                        (Operand[]){{g, "j"}, {rx, "i"}, {rl, ""}}));
  f->reverse = r;
  return f;
}

static Diagram *calling_own(T *t, double scale) {
  Diagram *d = t_diagram(t, "caller"), *f = own_reverse(t, scale);
  Id x = t_input(t, d, BASE_R, "2"), l = t_label(t, d, 3, ""),
     w = t_param(t, d, BASE_R, "f/W", "2 3");
  Id a = t_loop(t, d, "i:2", SUM, "i", "2", "sin(a)", 1, (Operand[]){{x, "i"}});
  Id b = box_call(t->w, d, f, (Id[]){a, l, w}, 3, 0);
  diagram_output(t->w, d, t_loop(t, d, "i:3", SUM, "i", "3", "a*a", 1, (Operand[]){{b, "i"}}));
  return d;
}

// The same in the body of a scan.
static Diagram *scanning_own(T *t) {
  Diagram *d = t_diagram(t, "scanning"), *body = calling_own(t, 1), *f = t_diagram(t, "step");
  Id x = t_input(t, f, BASE_R, "2"), l = t_label(t, f, 3, ""), h = t_input(t, f, BASE_R, "3");
  Id w = t_param(t, f, BASE_R, "f/W", "2 3"), y = box_call(t->w, f, body, (Id[]){x, l, w}, 3, 0);
  diagram_output(
      t->w, f, t_loop(t, f, "i:3", SUM, "i", "3", "tanh(a*b)", 2, (Operand[]){{y, "i"}, {h, "i"}}));
  Id xs = t_input(t, d, BASE_R, "4 2"), ls = t_label(t, d, 3, "4"),
     start = t_input(t, d, BASE_R, "3");
  Scan s = {.body = f, .slice = 2, .carry = 1, .axis = {.size = size_of(t->w, 4)}};
  diagram_output(
      t->w, d,
      box_scan(t->w, d, &s, (Id[]){xs, ls, start, t_param(t, d, BASE_R, "f/W", "2 3")}, 4, 0));
  return d;
}

static Diagram *calling_own_right(T *t) { return calling_own(t, 1); }

static void test_own_reverse(void **state) {
  (void)state;
  check_many(calling_own_right, 3, 3300);
  check_many(scanning_own, 3, 3350);
  T *t = t_new(1);
  Diagram *one = diagram_reverse(t->w, calling_own(t, 1), NULL),
          *two = diagram_reverse(t->w, calling_own(t, 2), NULL);
  Tensor *in = t_tensors(t, one, -1, 1), *a = t_run(t, one, in, NULL), *b = t_run(t, two, in, NULL);
  for (int i = 0; i < 2; i++) assert_true(b[0].data[i] == 2 * a[0].data[i]);
  for (int i = 0; i < 6; i++) assert_true(b[1].data[i] == 2 * a[1].data[i]);
  Diagram *f = own_reverse(t, 2), *direct = diagram_reverse(t->w, f, NULL); // from outside too
  t_same_bits(t, f->reverse, direct, t_tensors(t, direct, -1, 1));
  t_free(t);
}

// -- over B ---------------------------------------------------------------------------------------
static void test_bits(void **state) {
  (void)state;
  static const char *const body[] = {"xor(a, and(b, c))", "or(a, and(b, not(c)))",
                                     "select(a, b, c)", "and(and(a, b), c)"};
  static const Combine how[] = {SUM, PROD, MAX, MIN};
  for (uint32_t i = 0; i < 80; i++) {
    T *t = t_new(4000 + i);
    Diagram *d = t_diagram(t, "bits");
    bool select = i % 4 == 2; // its condition has no slope
    Id a = t_input(t, d, BASE_BIT, "3 4"), b = t_input(t, d, BASE_BIT, "4"),
       c = t_input(t, d, BASE_BIT, "3");
    Combine combine = how[i / 4 % 4];
    bool alone = combine == SUM; // other combinations read b and c many times: a product of sums
    Operand in[] = {{a, "i j"}, {b, "j"}, {c, "i"}};
    diagram_output(t->w, d, t_loop(t, d, "i:3 j:4", combine, "i", "3", body[i % 4], 3, in));
    t_check_bits(t, d, t_tensors(t, d, 0, 1), alone && !select);
    t_free(t);
  }
}

// A product, a conjunction or a disjunction of different bits is multilinear: the brute force
// decides.
static void test_bits_reduced(void **state) {
  (void)state;
  static const Combine how[] = {SUM, PROD, MAX, MIN};
  for (uint32_t i = 0; i < 40; i++) {
    T *t = t_new(4200 + i);
    Diagram *d = t_diagram(t, "bits");
    Id a = t_input(t, d, BASE_BIT, "3 4"), b = t_input(t, d, BASE_BIT, "3 4");
    Operand in[] = {{a, "i j"}, {b, "i j"}};
    Id y =
        t_loop(t, d, "i:3 j:4", how[i % 4], "i", "3", i / 4 % 2 ? "and(a, b)" : "xor(a, b)", 2, in);
    diagram_output(t->w, d,
                   t_loop(t, d, "i:3", how[i / 8 % 4], "", "", "a", 1, (Operand[]){{y, "i"}}));
    t_check_bits(t, d, t_tensors(t, d, 0, 1), true);
    t_free(t);
  }
}

// x and x: the rules give 0 where the brute force gives dy. The rules are the meaning.
static void test_bits_square(void **state) {
  (void)state;
  T *t = t_new(1);
  Diagram *d = t_diagram(t, "square");
  Id x = t_input(t, d, BASE_BIT, "2");
  diagram_output(
      t->w, d, t_loop(t, d, "i:2", SUM, "i", "2", "and(a, b)", 2, (Operand[]){{x, "i"}, {x, "i"}}));
  Diagram *r = diagram_reverse(t->w, d, NULL);
  Tensor *in = t_tensors(t, r, 0, 1);
  for (int i = 0; i < 2; i++) in[1].data[i] = 1;
  Tensor *out = t_run(t, r, in, NULL);
  assert_true(out[0].data[0] == 0 && out[0].data[1] == 0);
  t_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),         cmocka_unit_test(test_through_and_stop),
      cmocka_unit_test(test_branches),     cmocka_unit_test(test_loops),
      cmocka_unit_test(test_max_min_prod), cmocka_unit_test(test_prod_of_zeros),
      cmocka_unit_test(test_boxes),        cmocka_unit_test(test_own_reverse),
      cmocka_unit_test(test_bits),         cmocka_unit_test(test_bits_reduced),
      cmocka_unit_test(test_bits_square),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
