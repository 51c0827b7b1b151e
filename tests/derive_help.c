// The checks of derivatives, and a short notation for the diagrams they are done on.
//
// A diagram is checked by four numbers that must agree: differences of its values, the reverse
// derivative, the forward derivative, and again differences of the reverse with the reverse of the
// reverse. Cotangents and directions are random. A coordinate where the two one-sided differences
// disagree lies on a kink and is left out.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"
#include "core/pass/pass.h"
#include "derive_help.h"
#include "diagram_help.h"

T *t_new(uint64_t seed) {
  Arena *a = arena_new();
  T *t = NEW(a, T);
  t->arena = a;
  t->w = world_new(a);
  t->random = seed * 0x9E3779B97F4A7C15u + 1;
  return t;
}

void t_free(T *t) { arena_free(t->arena); }

static uint64_t next_random(T *t) { // splitmix64
  uint64_t x = t->random += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

uint32_t t_below(T *t, uint32_t n) { return (uint32_t)(next_random(t) % n); }
double t_uniform(T *t, double low, double high) {
  return low + (high - low) * (double)(next_random(t) >> 11) * 0x1p-53;
}

// -- notation -------------------------------------------------------------------------------------
Diagram *t_diagram(T *t, const char *name) {
  return diagram_new(t->w, name_from(t->w->names, name));
}

Type t_type(T *t, Base base, const char *sizes) {
  Axis axis[8];
  uint32_t rank = 0;
  for (const char *s = sizes; *s; rank++) {
    char *end;
    axis[rank] = (Axis){.size = size_of(t->w, strtoll(s, &end, 10))};
    for (s = end; *s == ' ';) s++;
  }
  return type_make(t->w, base, rank, axis);
}

static Name short_name(T *t, const Diagram *d) {
  return name_from(t->w->names, arena_format(t->arena, "x%u", d->wire.n));
}

Id t_input(T *t, Diagram *d, Base base, const char *sizes) {
  return diagram_input(t->w, d, t_type(t, base, sizes), short_name(t, d), 0);
}

Id t_label(T *t, Diagram *d, int64_t count, const char *sizes) {
  Type type = t_type(t, BASE_LABEL, sizes);
  type.count = size_of(t->w, count);
  return diagram_input(t->w, d, type, short_name(t, d), 0);
}

Id t_param(T *t, Diagram *d, Base base, const char *path, const char *sizes) {
  Param p = {.path = path, .role = ROLE_WEIGHT};
  uint32_t number =
      diagram_param(t->w, d, p, t_type(t, base, sizes), name_from(t->w->names, path), 0);
  return d->param.at[number].wire;
}

static uint32_t index_named(const Loop *loop, T *t, char letter) {
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (name_text(t->w->names, loop->index[i].name)[0] == letter) return i;
  fail_msg("no index %c", letter);
  return 0;
}

static Access access_of(T *t, const Loop *loop, const char *s) {
  Access a = {.coord = NEW_ARRAY(t->arena, Coord, 8)};
  while (*s == ' ') s++;
  while (*s && *s != '|') {
    Coord c = coord_const(t->w, size_of(t->w, 0));
    for (; *s && *s != ' ';) {
      int64_t sign = *s == '-' ? -1 : 1, k = 1;
      if (*s == '-' || *s == '+') s++;
      bool number = *s >= '0' && *s <= '9';
      if (number) k = strtoll(s, (char **)&s, 10);
      if (*s == '*') s++, number = false;
      if (number)
        c.c = size_add(t->w, c.c, size_of(t->w, sign * k));
      else if (*s == '#')
        c = coord_add(t->w, c, size_of(t->w, sign * k), (uint32_t)(s[1] - '0'), true), s += 2;
      else
        c = coord_add(t->w, c, size_of(t->w, sign * k), index_named(loop, t, *s), false), s++;
    }
    a.coord[a.rank++] = c;
    while (*s == ' ') s++;
  }
  if (*s) a.padded = true, a.pad = strtod(s + 1, NULL);
  return a;
}

static void read_box(T *t, Loop *loop, const char *s) {
  loop->index = NEW_ARRAY(t->arena, Index, 8);
  while (*s) {
    Index i = {.name = name_of(t->w->names, s, 1)};
    i.size = size_of(t->w, strtoll(s + 2, (char **)&s, 10));
    loop->index[loop->nindex++] = i;
    while (*s == ' ') s++;
  }
}

Id t_loop(T *t, Diagram *d, const char *box, Combine combine, const char *out, const char *sizes,
          const char *body, uint32_t n, const Operand *operand) {
  static const char *const letters[] = {"a", "b", "c", "d", "e"};
  Loop loop = {.combine = combine, .nin = n, .in = NEW_ARRAY(t->arena, Access, n)};
  const char *name[16];
  uint32_t value[16], names = 0, result = 0;
  Id in[8];
  read_box(t, &loop, box);
  loop.out = access_of(t, &loop, out);
  for (uint32_t i = 0; i < n; i++) {
    in[i] = operand[i].wire;
    loop.in[i] = access_of(t, &loop, operand[i].access);
    name[names] = letters[i];
    value[names++] = scalar_push(
        t->w, &loop, (Scalar){.fn = FN_ARG, .base = d->wire.at[in[i]].type.base, .ref = i});
  }
  for (uint32_t i = 0; i < loop.nindex; i++) {
    name[names] = arena_format(t->arena, "at_%s", name_text(t->w->names, loop.index[i].name));
    value[names++] = scalar_push(t->w, &loop, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = i});
  }
  assert_true(scalar_read(t->w, &loop, body, name, value, names, &result));
  if (result != loop.nscalar - 1) { // the last is the value
    Scalar copy = loop.scalar[result];
    scalar_push(t->w, &loop, copy);
  }
  Base base = loop.scalar[loop.nscalar - 1].base;
  return box_loop(t->w, d, &loop, in, n, t_type(t, base, sizes), 0);
}

// -- tensors --------------------------------------------------------------------------------------
Tensor t_tensor(T *t, const Type *type, double low, double high) {
  int64_t shape[8], count = 2;
  for (uint32_t i = 0; i < type->rank; i++)
    assert_true(size_value(t->w, type->axis[i].size, &shape[i]));
  Tensor x = tensor_new(t->arena, type->rank, shape);
  if (type->base == BASE_LABEL) assert_true(size_value(t->w, type->count, &count));
  for (int64_t i = 0; i < x.count; i++)
    x.data[i] =
        type->base == BASE_R ? t_uniform(t, low, high) : (double)t_below(t, (uint32_t)count);
  return x;
}

static Id source(const Diagram *d, uint32_t i) {
  return i < d->in.n ? d->in.at[i] : d->param.at[i - d->in.n].wire;
}
static const Type *type_at(const Diagram *d, Id wire) { return &d->wire.at[wire].type; }
static bool moves(const Type *t) { return t->base == BASE_R || t->base == BASE_BIT; }

Tensor *t_tensors(T *t, const Diagram *d, double low, double high) {
  Tensor *x = NEW_ARRAY(t->arena, Tensor, d->in.n + d->param.n);
  for (uint32_t i = 0; i < d->in.n + d->param.n; i++)
    x[i] = t_tensor(t, type_at(d, source(d, i)), low, high);
  return x;
}

Tensor t_copy(T *t, const Tensor *x) {
  Tensor y = tensor_new(t->arena, x->rank, x->shape);
  if (x->count) memcpy(y.data, x->data, (size_t)x->count * sizeof(double));
  return y;
}

void t_valid(T *t, const Diagram *d) {
  Buf why = buf_new(t->arena);
  if (!diagram_valid(t->w, d, &why)) fail_msg("not valid: %s", why.at);
}

Tensor *t_run(T *t, const Diagram *d, const Tensor *in, uint64_t *multiplications) {
  Tensor *out = NEW_ARRAY(t->arena, Tensor, d->out.n + d->param.n);
  Eval e = {.arena = t->arena,
            .seed = 5,
            .step = 3,
            .in = in,
            .param = in + d->in.n,
            .out = out,
            .next = out + d->out.n};
  if (!diagram_eval(t->w, d, &e)) fail_msg("%s", e.error);
  if (multiplications) *multiplications = e.multiplications;
  return out;
}

void t_same_bits(T *t, const Diagram *a, const Diagram *b, const Tensor *in) {
  t_valid(t, b);
  assert_int_equal(a->out.n, b->out.n);
  const Tensor *x = t_run(t, a, in, NULL), *y = t_run(t, b, in, NULL);
  for (uint32_t i = 0; i < a->out.n + a->param.n; i++) {
    assert_int_equal(x[i].count, y[i].count);
    for (int64_t k = 0; k < x[i].count; k++)
      if (memcmp(&x[i].data[k], &y[i].data[k], sizeof(double)) &&
          !(isnan(x[i].data[k]) && isnan(y[i].data[k])))
        fail_msg("output %u, element %d: %.17g became %.17g", i, (int)k, x[i].data[k],
                 y[i].data[k]);
  }
}

static double distance(double a, double b) { return fabs(a - b) / (1 + fabs(a) + fabs(b)); }

static void assert_near(const char *what, double a, double b, double limit) {
  if (!(distance(a, b) < limit) && !(a == b) && !(isnan(a) && isnan(b)))
    fail_msg("%s: %.12g and %.12g differ", what, a, b);
}

void t_near(const Tensor *a, const Tensor *b, uint32_t n, double limit) {
  for (uint32_t i = 0; i < n; i++) {
    assert_int_equal(a[i].count, b[i].count);
    for (int64_t k = 0; k < a[i].count; k++)
      assert_near("an element", a[i].data[k], b[i].data[k], limit);
  }
}

double t_dot(const Tensor *a, const Tensor *b, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++)
    for (int64_t k = 0; k < a[i].count; k++)
      if (b[i].data[k] != 0) sum += a[i].data[k] * b[i].data[k]; // 0 silences infinities
  return sum;
}

// -- derivatives ----------------------------------------------------------------------------------
typedef struct {
  const Diagram *d;
  uint32_t nsource, nmove, nout; // sources, moving sources, moving outputs
  const Tensor *x;               // [source]
  Tensor *w;                     // [moving output] cotangents
  Tensor *v;                     // [moving source] directions
  uint32_t *source_of;           // [moving source]
} Point;

static Wanted *want_all(T *t, const Diagram *d) {
  Wanted *want = NEW(t->arena, Wanted);
  bool *all = NEW_ARRAY(t->arena, bool, d->param.n);
  for (uint32_t i = 0; i < d->param.n; i++) all[i] = true;
  want->want_param = all;
  return want;
}

static Point point_new(T *t, const Diagram *d, const Tensor *x) {
  Point p = {.d = d, .nsource = d->in.n + d->param.n, .x = x};
  p.w = NEW_ARRAY(t->arena, Tensor, d->out.n);
  p.v = NEW_ARRAY(t->arena, Tensor, p.nsource);
  p.source_of = NEW_ARRAY(t->arena, uint32_t, p.nsource);
  for (uint32_t i = 0; i < p.nsource; i++) {
    const Type *type = type_at(d, source(d, i));
    if (!moves(type)) continue;
    p.source_of[p.nmove] = i;
    p.v[p.nmove++] = t_tensor(t, type, -1, 1);
  }
  const Tensor *y = t_run(t, d, x, NULL);
  for (uint32_t i = 0; i < d->out.n; i++) {
    if (!moves(type_at(d, d->out.at[i]))) continue;
    p.w[p.nout] = t_tensor(t, type_at(d, d->out.at[i]), -1, 1);
    for (int64_t k = 0; k < y[i].count; k++)
      if (!isfinite(y[i].data[k])) p.w[p.nout].data[k] = 0; // untouched cells of max and min
    p.nout++;
  }
  return p;
}

static Tensor *moving_outputs(T *t, const Point *p, const Tensor *out) {
  Tensor *y = NEW_ARRAY(t->arena, Tensor, p->d->out.n);
  for (uint32_t i = 0, n = 0; i < p->d->out.n; i++)
    if (moves(type_at(p->d, p->d->out.at[i]))) y[n++] = out[i];
  return y;
}

// Tensors for the inputs of the reverse: in, cotangents, params.
static Tensor *reverse_inputs(T *t, const Point *p) {
  Tensor *in = NEW_ARRAY(t->arena, Tensor, p->nsource + p->nout);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->d->in.n; i++) in[n++] = p->x[i];
  for (uint32_t i = 0; i < p->nout; i++) in[n++] = p->w[i];
  for (uint32_t i = p->d->in.n; i < p->nsource; i++) in[n++] = p->x[i];
  return in;
}

static Tensor *forward_inputs(T *t, const Point *p) {
  Tensor *in = NEW_ARRAY(t->arena, Tensor, p->nsource + p->nmove);
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->d->in.n; i++) in[n++] = p->x[i];
  for (uint32_t i = 0; i < p->nmove; i++) in[n++] = p->v[i];
  for (uint32_t i = p->d->in.n; i < p->nsource; i++) in[n++] = p->x[i];
  return in;
}

static Tensor *run_forward(T *t, const Point *p) {
  const Diagram *f = diagram_forward(t->w, p->d, want_all(t, p->d));
  t_valid(t, f);
  assert_int_equal(f->out.n, p->d->out.n + p->nout);
  return t_run(t, f, forward_inputs(t, p), NULL) + p->d->out.n;
}

static double value_at(T *t, const Point *p, const Tensor *x) {
  const Tensor *y = t_run(t, p->d, x, NULL);
  double sum = 0;
  for (uint32_t i = 0, n = 0; i < p->d->out.n; i++) {
    const Type *type = type_at(p->d, p->d->out.at[i]);
    if (type->base == BASE_R) sum += t_dot(&y[i], &p->w[n], 1);
    n += moves(type);
  }
  return sum;
}

// Central differences at one coordinate; false on a kink. Their own error is seen by doubling the
// step.
static bool difference(T *t, const Point *p, Tensor *x, double *at, double *slope, double *limit) {
  const double h = 1e-5, old = *at;
  double value[5];
  for (int i = 0; i < 5; i++) {
    *at = old + (i - 2) * h;
    value[i] = value_at(t, p, x);
  }
  *at = old;
  *slope = (value[3] - value[1]) / (2 * h);
  *limit = 1e-5 + distance(*slope, (value[4] - value[0]) / (4 * h)) + 1e-10 * fabs(value[2]);
  return distance((value[3] - value[2]) / h, (value[2] - value[1]) / h) < 0.02;
}

static void check_differences(T *t, const Point *p, const Tensor *d_in) {
  Tensor *x = NEW_ARRAY(t->arena, Tensor, p->nsource);
  for (uint32_t i = 0; i < p->nsource; i++) x[i] = t_copy(t, &p->x[i]);
  for (uint32_t m = 0; m < p->nmove; m++) {
    Tensor *xi = &x[p->source_of[m]];
    if (type_at(p->d, source(p->d, p->source_of[m]))->base != BASE_R) continue;
    for (int64_t k = 0; k < xi->count; k += 1 + xi->count / 12) {
      double slope, limit;
      if (difference(t, p, x, &xi->data[k], &slope, &limit))
        assert_near("difference and reverse", slope, d_in[m].data[k], limit);
    }
  }
}

// Along a direction, for diagrams with many inputs.
static void check_direction(T *t, const Point *p, const Tensor *d_in) {
  const double h = 1e-5;
  Tensor *up = NEW_ARRAY(t->arena, Tensor, p->nsource),
         *down = NEW_ARRAY(t->arena, Tensor, p->nsource);
  for (uint32_t i = 0; i < p->nsource; i++)
    up[i] = t_copy(t, &p->x[i]), down[i] = t_copy(t, &p->x[i]);
  for (uint32_t m = 0; m < p->nmove; m++)
    for (int64_t k = 0; k < p->v[m].count; k++) {
      if (type_at(p->d, source(p->d, p->source_of[m]))->base != BASE_R) p->v[m].data[k] = 0;
      up[p->source_of[m]].data[k] += h * p->v[m].data[k];
      down[p->source_of[m]].data[k] -= h * p->v[m].data[k];
    }
  double plus = value_at(t, p, up), minus = value_at(t, p, down), here = value_at(t, p, p->x);
  if (distance((plus - here) / h, (here - minus) / h) > 0.02) return;
  double slope = 0;
  for (uint32_t m = 0; m < p->nmove; m++)
    if (type_at(p->d, source(p->d, p->source_of[m]))->base == BASE_R)
      slope += t_dot(&d_in[m], &p->v[m], 1);
  assert_near("difference and second reverse", (plus - minus) / (2 * h), slope,
              2e-5 + 1e-10 * fabs(here));
}

static Diagram *reverse_all(T *t, const Diagram *d) {
  Diagram *r = diagram_reverse(t->w, d, want_all(t, d));
  t_valid(t, r);
  return r;
}

// ⟨Jv, w⟩ = ⟨v, Jᵀw⟩: over the reals, and modulo 2 over the bits.
static void check_pairing(T *t, const Point *p, const Tensor *d_in) {
  const Tensor *d_out = run_forward(t, p);
  double real[2] = {0, 0}, bits[2] = {0, 0};
  for (uint32_t i = 0, n = 0; i < p->d->out.n; i++) {
    const Type *type = type_at(p->d, p->d->out.at[i]);
    if (!moves(type)) continue;
    *(type->base == BASE_R ? &real[0] : &bits[0]) += t_dot(&d_out[n], &p->w[n], 1);
    n++;
  }
  for (uint32_t m = 0; m < p->nmove; m++)
    *(type_at(p->d, source(p->d, p->source_of[m]))->base == BASE_R ? &real[1] : &bits[1]) +=
        t_dot(&d_in[m], &p->v[m], 1);
  assert_near("forward and reverse", real[0], real[1], 1e-10);
  assert_true(fmod(bits[0], 2) == fmod(bits[1], 2));
}

void t_check_adjoint(T *t, const Diagram *d, const Tensor *x) {
  Point p = point_new(t, d, x);
  check_pairing(t, &p, t_run(t, reverse_all(t, d), reverse_inputs(t, &p), NULL));
}

void t_check(T *t, const Diagram *d, const Tensor *x) {
  t_valid(t, d);
  Point p = point_new(t, d, x);
  Diagram *r = reverse_all(t, d);
  assert_int_equal(r->out.n, p.nmove);
  Tensor *r_in = reverse_inputs(t, &p), *d_in = t_run(t, r, r_in, NULL);
  check_differences(t, &p, d_in);
  check_pairing(t, &p, d_in);
  Point q = point_new(t, r, r_in); // once more, on the reverse itself
  Tensor *d2_in = t_run(t, reverse_all(t, r), reverse_inputs(t, &q), NULL);
  check_pairing(t, &q, d2_in);
  check_direction(t, &q, d2_in);
}

// -- over B ---------------------------------------------------------------------------------------
static double parity(const Tensor *a, const Tensor *b, uint32_t n) {
  return fmod(t_dot(a, b, n), 2);
}

void t_check_bits(T *t, const Diagram *d, const Tensor *in, bool multilinear) {
  t_valid(t, d);
  Point p = point_new(t, d, in);
  const Tensor *d_in = t_run(t, reverse_all(t, d), reverse_inputs(t, &p), NULL);
  check_pairing(t, &p, d_in);
  Tensor *x = NEW_ARRAY(t->arena, Tensor, p.nsource);
  for (uint32_t i = 0; i < p.nsource; i++) x[i] = t_copy(t, &in[i]);
  double here = parity(moving_outputs(t, &p, t_run(t, d, x, NULL)), p.w, p.nout);
  for (uint32_t m = 0; multilinear && m < p.nmove; m++)
    for (int64_t k = 0; k < d_in[m].count; k++) {
      double *at = &x[p.source_of[m]].data[k];
      *at = 1 - *at;
      double there = parity(moving_outputs(t, &p, t_run(t, d, x, NULL)), p.w, p.nout);
      *at = 1 - *at;
      assert_true((here != there) == (d_in[m].data[k] != 0));
    }
}
