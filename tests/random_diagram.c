// Random diagrams. A generator holds the diagram under construction; each turn adds one box
// whose inputs are wires that are there already. A loop is made from the outside in: its indices,
// accesses that use them in every way the data structure has (plain, repeated, strided, flipped,
// merged, constant, by a label), and a body built from whatever the operands and indices offer in
// the wanted base. Bodies of scans and callees are random diagrams with given inputs. Values are
// kept moderate: large ones are passed through tanh.
#include "random_diagram.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "core/diagram/ops.h"

#include <math.h>

typedef struct {
  World *w;
  Diagram *d;
  uint64_t state;
  const Chance *chance;
  uint32_t depth;
} Gen;

// -- chance ---------------------------------------------------------------------------------------
static uint64_t draw(Gen *g) {
  uint64_t x = g->state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
static uint32_t below(Gen *g, uint32_t n) { return (uint32_t)(draw(g) % n); }
static uint32_t between(Gen *g, uint32_t low, uint32_t high) {
  return low + below(g, high - low + 1);
}
static bool one_in(Gen *g, uint32_t n) { return below(g, n) == 0; }

static Name some_name(Gen *g) {
  static const char *const plain[] = {"a", "b", "c", "x", "y", "z", "h", "q"};
  static const char *const odd[] = {"a", "a", "over", "return", "dense.1", "x y", "\"",
                                    "π", "R", "x'",   "sum",    "t1",      "\n"};
  if (!g->chance->odd) return name_from(g->w->names, plain[below(g, COUNT(plain))]);
  return one_in(g, 6) ? 0 : name_from(g->w->names, odd[below(g, COUNT(odd))]);
}

// -- types ----------------------------------------------------------------------------------------
static int64_t length(Gen *g, Size s) {
  int64_t n = 0;
  size_value(g->w, s, &n);
  return n;
}

static Axis some_axis(Gen *g) {
  Axis a = {.size = size_of(g->w, between(g, 1, 4))};
  if (one_in(g, 2)) a.label = some_name(g);
  if (g->chance->odd && one_in(g, 4)) a.pass = between(g, 1, 3);
  return a;
}

static Type some_type(Gen *g, Base base, uint32_t rank) {
  Axis axis[4];
  for (uint32_t i = 0; i < rank; i++) axis[i] = some_axis(g);
  Type t = type_make(g->w, base, rank, axis);
  if (base == BASE_LABEL) t.count = size_of(g->w, between(g, 1, 4));
  if (base == BASE_LABEL && g->chance->odd && one_in(g, 3)) {
    Ids names = {0};
    for (int64_t i = 0; i < length(g, t.count); i++)
      vec_push(g->w->arena, &names, name_from(g->w->names, "label"));
    vec_push(g->w->arena, &g->w->label_names, names);
    t.names = g->w->label_names.n - 1;
  }
  return t;
}

static Base some_base(Gen *g) {
  uint32_t k = g->chance->real ? 0 : below(g, 8);
  return k == 6 ? BASE_BIT : k == 7 ? BASE_LABEL : BASE_R;
}

static Type any_type(Gen *g) {
  Base base = some_base(g);
  return some_type(g, base, below(g, 4));
}

static const Type *type_of(const Gen *g, Id wire) { return &g->d->wire.at[wire].type; }

// A wire that is already there: of this base, or of any; of this rank or more. 0 when there is
// none.
static Id some_wire(Gen *g, Base base, uint32_t rank) {
  uint32_t n = g->d->wire.n - 1, start = n ? below(g, n) : 0;
  for (uint32_t i = 0; i < n; i++) {
    Id wire = 1 + (start + i) % n;
    if ((!base || type_of(g, wire)->base == base) && type_of(g, wire)->rank >= rank) return wire;
  }
  return 0;
}

// -- loops: accesses ------------------------------------------------------------------------------
static Coord affine(Gen *g, const Loop *loop) {
  Coord c = coord_const(g->w, size_of(g->w, (int64_t)below(g, 4) - 1));
  for (uint32_t n = between(g, 0, 2); n > 0; n--) {
    int64_t coef = one_in(g, 4) ? -1 : (int64_t)between(g, 1, 3);
    c = coord_add(g->w, c, size_of(g->w, coef), below(g, loop->nindex), false);
  }
  return c;
}

static bool by_label(Gen *g, const Id *in, uint32_t n, Coord *c) {
  for (uint32_t i = 0; i < n; i++)
    if (type_of(g, in[i])->base == BASE_LABEL && one_in(g, 2)) {
      *c = coord_add(g->w, *c, size_of(g->w, 1), i, true);
      return true;
    }
  return false;
}

static Coord merged(Gen *g, const Loop *loop) { // (i j): i*J + j
  uint32_t i = below(g, loop->nindex), j = below(g, loop->nindex);
  Coord c = coord_add(g->w, coord_const(g->w, size_of(g->w, 0)), loop->index[j].size, i, false);
  return coord_add(g->w, c, size_of(g->w, 1), j, false);
}

static Coord read_coord(Gen *g, const Loop *loop, const Id *in, uint32_t n, Size size) {
  Coord c = coord_const(g->w, size_of(g->w, 0));
  if (one_in(g, 3) && by_label(g, in, n, &c)) return c;
  if (loop->nindex == 0) return coord_const(g->w, size_of(g->w, below(g, 2)));
  if (one_in(g, 4)) return affine(g, loop);
  if (one_in(g, 10)) return merged(g, loop);
  uint32_t start = below(g, loop->nindex);
  for (uint32_t k = 0; k < loop->nindex; k++) {
    uint32_t index = (start + k) % loop->nindex;
    if (loop->index[index].size != size) continue;
    if (!one_in(g, 8)) return coord_index(g->w, index);
    return coord_add(g->w, coord_const(g->w, size_of(g->w, length(g, size) - 1)), size_of(g->w, -1),
                     index, false);
  }
  return coord_index(g->w, start);
}

static Access read_access(Gen *g, const Loop *loop, const Id *in, uint32_t n) {
  const Type *t = type_of(g, in[n]);
  Access a = {.rank = t->rank, .coord = NEW_ARRAY(g->w->arena, Coord, t->rank)};
  for (uint32_t i = 0; i < t->rank; i++) a.coord[i] = read_coord(g, loop, in, n, t->axis[i].size);
  a.padded = one_in(g, 5);
  if (a.padded && t->base == BASE_R) a.pad = one_in(g, 2) ? 0.5 : 0;
  return a;
}

// -- loops: bodies --------------------------------------------------------------------------------
static uint32_t constant(Gen *g, Loop *loop, Base base, double k) {
  return scalar_push(g->w, loop, (Scalar){.fn = FN_CONST, .base = (uint8_t)base, .k = k});
}

static uint32_t real_leaf(Gen *g, Loop *loop) {
  static const double k[] = {0.5, -1.25, 2, 1e-3, 0, -0.75};
  if (loop->nindex && one_in(g, 3))
    return scalar_push(g->w, loop,
                       (Scalar){.fn = FN_AT, .base = BASE_R, .ref = below(g, loop->nindex)});
  if (one_in(g, 4))
    return scalar_push(
        g->w, loop,
        (Scalar){.fn = FN_SIZE, .base = BASE_R, .ref = size_of(g->w, between(g, 1, 3))});
  return constant(g, loop, BASE_R, k[below(g, COUNT(k))]);
}

// An operand in the wanted base, perhaps through a conversion; or a leaf.
static uint32_t leaf(Gen *g, Loop *loop, const Id *in, Base base) {
  uint32_t start = loop->nin ? below(g, loop->nin) : 0;
  for (uint32_t k = 0; k < loop->nin; k++) {
    uint32_t i = (start + k) % loop->nin;
    Base own = (Base)type_of(g, in[i])->base;
    if (own != base && !(base == BASE_R && one_in(g, 2))) continue;
    uint32_t s = scalar_push(g->w, loop, (Scalar){.fn = FN_ARG, .base = (uint8_t)own, .ref = i});
    return own == base ? s : scalar_fn(g->w, loop, FN_number, s, 0, 0);
  }
  return base == BASE_R ? real_leaf(g, loop)
                        : constant(g, loop, base, base == BASE_BIT ? below(g, 2) : 0);
}

static uint32_t expression(Gen *g, Loop *loop, const Id *in, Base base, uint32_t depth);

static uint32_t real_expression(Gen *g, Loop *loop, const Id *in, uint32_t depth) {
  static const Fn smooth1[] = {FN_tanh, FN_sin, FN_cos, FN_sigmoid,
                               FN_atan, FN_neg, FN_erf, FN_softplus};
  static const Fn smooth2[] = {FN_add, FN_sub, FN_mul};
  static const Fn rough1[] = {FN_relu, FN_abs, FN_sign, FN_floor, FN_stop};
  static const Fn rough2[] = {FN_maximum, FN_minimum, FN_through};
  bool smooth = g->chance->smooth;
  uint32_t a = expression(g, loop, in, BASE_R, depth - 1);
  if (!smooth && !g->chance->real && one_in(g, 6)) {
    uint32_t c = expression(g, loop, in, BASE_BIT, depth - 1),
             b = expression(g, loop, in, BASE_R, depth - 1);
    return scalar_fn(g->w, loop, FN_select, c, a, b);
  }
  if (one_in(g, 2)) {
    Fn fn = !smooth && one_in(g, 4) ? rough1[below(g, COUNT(rough1))]
                                    : smooth1[below(g, COUNT(smooth1))];
    return scalar_fn(g->w, loop, fn, a, 0, 0);
  }
  uint32_t b = one_in(g, 6) ? a : expression(g, loop, in, BASE_R, depth - 1);
  if (one_in(g, 10)) { // a quotient that stays away from 0
    b = scalar_fn(g->w, loop, FN_sigmoid, b, 0, 0);
    b = scalar_fn(g->w, loop, FN_add, b, constant(g, loop, BASE_R, 0.5), 0);
    return scalar_fn(g->w, loop, FN_div, a, b, 0);
  }
  Fn fn =
      !smooth && one_in(g, 5) ? rough2[below(g, COUNT(rough2))] : smooth2[below(g, COUNT(smooth2))];
  return scalar_fn(g->w, loop, fn, a, b, 0);
}

static uint32_t bit_expression(Gen *g, Loop *loop, const Id *in, uint32_t depth) {
  static const Fn compare[] = {FN_lt, FN_le, FN_eq, FN_ne}, gate[] = {FN_xor, FN_and, FN_or};
  if (!g->chance->smooth && one_in(g, 3)) {
    uint32_t a = expression(g, loop, in, BASE_R, depth - 1),
             b = expression(g, loop, in, BASE_R, depth - 1);
    return scalar_fn(g->w, loop, compare[below(g, COUNT(compare))], a, b, 0);
  }
  uint32_t a = expression(g, loop, in, BASE_BIT, depth - 1);
  if (one_in(g, 4)) return scalar_fn(g->w, loop, FN_not, a, 0, 0);
  uint32_t b = expression(g, loop, in, BASE_BIT, depth - 1);
  return scalar_fn(g->w, loop, gate[below(g, COUNT(gate))], a, b, 0);
}

static uint32_t expression(Gen *g, Loop *loop, const Id *in, Base base, uint32_t depth) {
  if (depth == 0 || one_in(g, 4) || base == BASE_LABEL) return leaf(g, loop, in, base);
  return base == BASE_R ? real_expression(g, loop, in, depth) : bit_expression(g, loop, in, depth);
}

// Labels must stay below their count, so a body of labels is an operand with few enough labels, or
// the first label.
static void label_body(Gen *g, Loop *loop, const Id *in, int64_t count) {
  for (uint32_t i = 0; i < loop->nin; i++)
    if (type_of(g, in[i])->base == BASE_LABEL && length(g, type_of(g, in[i])->count) <= count) {
      scalar_push(g->w, loop, (Scalar){.fn = FN_ARG, .base = BASE_LABEL, .ref = i});
      return;
    }
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (length(g, loop->index[i].size) <= count) {
      scalar_push(g->w, loop, (Scalar){.fn = FN_AT, .base = BASE_LABEL, .ref = i});
      return;
    }
  constant(g, loop, BASE_LABEL, 0);
}

static void body(Gen *g, Loop *loop, const Id *in, const Type *out) {
  if (out->base == BASE_LABEL) {
    label_body(g, loop, in, length(g, out->count));
    return;
  }
  uint32_t last = expression(g, loop, in, (Base)out->base, between(g, 1, 4));
  if (out->base == BASE_R && one_in(g, 2))
    scalar_fn(g->w, loop, FN_tanh, last, 0, 0);
  else
    loop->nscalar = last + 1;
}

// -- loops: the whole -----------------------------------------------------------------------------
static void indices(Gen *g, Loop *loop, const Type *out, bool plain) {
  uint32_t n = plain ? out->rank : 0, extra = n ? below(g, 3) : between(g, out->rank ? 1 : 0, 4);
  loop->index = NEW_ARRAY(g->w->arena, Index, n + extra);
  for (uint32_t i = 0; i < n + extra; i++) {
    Size size = i < n ? out->axis[i].size : size_of(g->w, between(g, 1, 3));
    loop->index[i] = (Index){some_name(g), size};
  }
  loop->nindex = n + extra;
}

static Coord write_coord(Gen *g, const Loop *loop, const Id *in) {
  Coord c = coord_const(g->w, size_of(g->w, 0));
  if (one_in(g, 3) && by_label(g, in, loop->nin, &c)) return c;
  if (one_in(g, 3)) return affine(g, loop);
  if (one_in(g, 6)) return merged(g, loop);
  return coord_index(g->w, below(g, loop->nindex));
}

static Id random_loop(Gen *g, Type out) {
  bool plain = g->chance->linear_out || out.base == BASE_LABEL || !one_in(g, 3);
  Loop loop = {.combine = SUM,
               .out = {.rank = out.rank, .coord = NEW_ARRAY(g->w->arena, Coord, out.rank)}};
  indices(g, &loop, &out, plain);
  Id in[4];
  uint32_t want = between(g, 0, 3);
  loop.in = NEW_ARRAY(g->w->arena, Access, want);
  for (uint32_t i = 0; i < want; i++) {
    in[i] = some_wire(g, i == 0 && !one_in(g, 3) ? (Base)out.base : BASE_NONE, 0);
    if (!in[i]) in[i] = some_wire(g, BASE_NONE, 0);
    if (!in[i]) break;
    loop.in[i] = read_access(g, &loop, in, i);
    loop.nin++;
  }
  for (uint32_t i = 0; i < out.rank; i++)
    loop.out.coord[i] = plain ? coord_index(g->w, i) : write_coord(g, &loop, in);
  if (plain && out.base != BASE_LABEL && one_in(g, 3))
    loop.combine = g->chance->smooth ? PROD : (Combine)between(g, PROD, MIN);
  if (out.base == BASE_LABEL) loop.combine = one_in(g, 2) ? MAX : MIN;
  body(g, &loop, in, &out);
  return box_loop(g->w, g->d, &loop, in, loop.nin, out, 0);
}

// -- other boxes ----------------------------------------------------------------------------------
static Id random_join(Gen *g) {
  Id in[3] = {some_wire(g, BASE_NONE, 1)};
  if (!in[0]) return 0;
  const Type *t = type_of(g, in[0]);
  uint32_t axis = below(g, t->rank), n = between(g, 1, 3);
  if (length(g, t->axis[axis].size) > 6) return 0;
  for (uint32_t i = 1; i < n; i++) in[i] = in[0];
  if (n > 1 && t->base != BASE_LABEL) {
    Type other = type_make(g->w, (Base)t->base, t->rank, t->axis);
    other.axis[axis].size = size_of(g->w, between(g, 1, 3));
    in[1] = random_loop(g, other);
  }
  return box_join(g->w, g->d, axis, in, n, 0);
}

static Id random_order(Gen *g) {
  Id in = some_wire(g, BASE_R, 1);
  if (!in || g->chance->smooth || g->chance->real) return 0;
  return box_order(g->w, g->d, below(g, type_of(g, in)->rank), in, 0);
}

static Id random_noise(Gen *g) {
  if (g->chance->quiet) return 0;
  Type t = some_type(g, BASE_R, below(g, 3));
  uint64_t site = draw(g);
  return box_random(g->w, g->d, site & 1 ? NOISE_NORMAL : NOISE_UNIFORM, site, t, 0);
}

static void add_boxes(Gen *g, uint32_t n);

static Gen inner_gen(Gen *g, const char *name) {
  Gen inner = {.w = g->w, .state = draw(g), .chance = g->chance, .depth = g->depth + 1};
  inner.d = diagram_new(g->w, name_from(g->w->names, name));
  return inner;
}

static void add_param(Gen *g, bool buffers) {
  Param p = {.path = one_in(g, 2) ? "W" : "layer.1/b", .rooted = one_in(g, 8)};
  p.role = (Role)below(g, ROLE_CONST + 1);
  if (p.role == ROLE_BUFFER && !buffers) p.role = ROLE_WEIGHT;
  if (p.rooted) p.path = arena_format(g->w->arena, "root.%u/%s", below(g, 1000000), p.path);
  Base base = p.role == ROLE_CONST ? BASE_R : some_base(g);
  Type t = some_type(g, base, below(g, 3));
  p.init.kind = t.base == BASE_R ? (InitKind)below(g, INIT_ORTHOGONAL + 1) : INIT_CONST;
  p.init.k = t.base == BASE_R ? 0.25 : 0;
  p.init.fan_in = size_of(g->w, 3);
  p.init.fan_out = size_of(g->w, between(g, 1, 5));
  if (p.role == ROLE_CONST) {
    int64_t count;
    type_count(g->w, &t, &count);
    double *data = NEW_ARRAY(g->w->arena, double, count);
    for (int64_t i = 0; i < count; i++) data[i] = (double)below(g, 9) / 8;
    p.init = (Init){.kind = INIT_DATA, .data = data};
  }
  uint32_t n = diagram_param(g->w, g->d, p, t, some_name(g), 0);
  if (p.role == ROLE_BUFFER)
    g->d->param.at[n].next = UINT32_MAX; // made at the end, when there is more to make it from
}

static void finish(Gen *g) {
  for (uint32_t i = 0; i < g->d->param.n; i++)
    if (g->d->param.at[i].next == UINT32_MAX) {
      Type t = *type_of(g, g->d->param.at[i].wire);
      t.names = 0;
      g->d->param.at[i].next = random_loop(g, t);
    }
  if (g->chance->odd)
    for (Id i = 1; i < g->d->wire.n; i++) g->d->wire.at[i].name = some_name(g);
}

// The params of `f` as params of the caller, under its name.
static void lift_params(Gen *g, const Diagram *f, Ids *in) {
  uint32_t place = below(g, 1000000);
  for (uint32_t i = 0; i < f->param.n; i++) {
    Param p = f->param.at[i];
    p.path = p.rooted ? p.path
                      : arena_format(g->w->arena, "%s.%u/%s", name_text(g->w->names, f->name),
                                     place, p.path);
    p.next = 0;
    uint32_t n = diagram_param(g->w, g->d, p, f->wire.at[f->param.at[i].wire].type, 0, 0);
    vec_push(g->w->arena, in, g->d->param.at[n].wire);
  }
}

static Id random_call(Gen *g) {
  Gen f = inner_gen(g, one_in(g, 2) ? "f" : "g");
  Ids in = {0};
  if (g->chance->flat || g->depth > 1) return 0;
  for (uint32_t n = between(g, 1, 3); n > 0; n--) {
    Id wire = some_wire(g, BASE_NONE, 0);
    if (!wire) return 0;
    vec_push(g->w->arena, &in, wire);
    diagram_input(g->w, f.d, *type_of(g, wire), some_name(&f), 0);
  }
  if (one_in(g, 2)) add_param(&f, true);
  add_boxes(&f, 2);
  for (uint32_t n = between(g, 1, 2); n > 0; n--)
    diagram_output(g->w, f.d, some_wire(&f, BASE_NONE, 0));
  finish(&f);
  lift_params(g, f.d, &in);
  return box_call(g->w, g->d, f.d, in.at, in.n, 0);
}

static Id random_scan(Gen *g) {
  Scan s = {.axis = {some_name(g), 0}, .back = one_in(g, 2)};
  if (g->chance->flat || g->depth > 1) return 0;
  Gen f = inner_gen(g, "step");
  Ids in = {0};
  Id sliced = one_in(g, 4) ? 0 : some_wire(g, BASE_NONE, 1), carry[2];
  s.body = f.d;
  s.axis.size = sliced ? type_of(g, sliced)->axis[0].size : size_of(g->w, between(g, 1, 4));
  if (sliced) {
    Type t = *type_of(g, sliced);
    t.axis++, t.rank--;
    vec_push(g->w->arena, &in, sliced);
    diagram_input(g->w, f.d, t, some_name(&f), 0);
    s.slice = 1;
  }
  s.carry = between(g, 0, 2);
  for (uint32_t i = 0; i < s.carry; i++) {
    carry[i] = some_wire(g, BASE_NONE, 0);
    if (type_of(g, carry[i])->names) carry[i] = some_wire(g, BASE_R, 0);
    if (!carry[i]) return 0;
    vec_push(g->w->arena, &in, carry[i]);
    diagram_input(g->w, f.d, *type_of(g, carry[i]), some_name(&f), 0);
  }
  s.hold = between(g, s.slice + s.carry ? 0 : 1, 1);
  if (s.hold) {
    vec_push(g->w->arena, &in, some_wire(g, BASE_NONE, 0));
    diagram_input(g->w, f.d, *type_of(g, in.at[in.n - 1]), some_name(&f), 0);
  }
  if (one_in(g, 3)) add_param(&f, false);
  add_boxes(&f, 2);
  for (uint32_t i = 0; i < s.carry; i++)
    diagram_output(g->w, f.d, random_loop(&f, *type_of(g, carry[i])));
  for (uint32_t n = between(g, s.carry ? 0 : 1, 2); n > 0; n--)
    diagram_output(g->w, f.d, some_wire(&f, BASE_NONE, 0));
  finish(&f);
  lift_params(g, f.d, &in);
  return box_scan(g->w, g->d, &s, in.at, in.n, 0);
}

// -- diagrams -------------------------------------------------------------------------------------
static void add_boxes(Gen *g, uint32_t n) {
  for (uint32_t tries = 0; n > 0 && tries < 50; tries++) {
    uint32_t k = below(g, 16);
    Id made = 0;
    if (k == 0)
      made = random_join(g);
    else if (k == 1)
      made = random_order(g);
    else if (k == 2)
      made = random_noise(g);
    else if (k == 3)
      made = random_call(g);
    else if (k == 4)
      made = random_scan(g);
    else
      made = random_loop(g, any_type(g));
    n -= made != 0;
  }
}

Diagram *random_diagram(World *w, uint64_t seed, const Chance *chance) {
  Gen g = {.w = w, .state = seed * 0x2545F4914F6CDD1Du + 1, .chance = chance};
  g.d = diagram_new(w, name_from(w->names, "chance"));
  for (uint32_t n = between(&g, 1, 3), i = 0; i < n; i++) {
    Type t = i ? any_type(&g) : some_type(&g, BASE_R, between(&g, 0, 2));
    diagram_input(w, g.d, t, some_name(&g), 0);
  }
  for (uint32_t n = below(&g, 3); n > 0; n--) add_param(&g, true);
  add_boxes(&g, chance->boxes ? between(&g, 1, 2 * chance->boxes) : between(&g, 1, 8));
  for (uint32_t n = between(&g, 1, 3); n > 0; n--)
    diagram_output(w, g.d, some_wire(&g, n == 1 ? BASE_R : BASE_NONE, 0));
  diagram_output(w, g.d, g.d->wire.n - 1);
  finish(&g);
  return g.d;
}

static Tensor random_tensor(Gen *g, Arena *a, const Type *t) {
  int64_t shape[8], n = 0;
  for (uint32_t i = 0; i < t->rank; i++) shape[i] = length(g, t->axis[i].size);
  Tensor x = tensor_new(a, t->rank, shape);
  if (t->base == BASE_LABEL) n = length(g, t->count);
  if (t->base == BASE_BIT) n = 2;
  for (int64_t i = 0; i < x.count; i++) // reals from -1 to 1
    x.data[i] = t->base == BASE_R ? (double)(draw(g) >> 11) / 4503599627370496.0 - 1
                                  : below(g, (uint32_t)n);
  return x;
}

Tensor *random_tensors(World *w, Arena *a, const Diagram *d, uint64_t seed) {
  Gen g = {.w = w, .state = seed ^ 0xA5A5A5A5u};
  Tensor *x = NEW_ARRAY(a, Tensor, d->in.n + d->param.n);
  for (uint32_t i = 0; i < d->in.n; i++) x[i] = random_tensor(&g, a, &d->wire.at[d->in.at[i]].type);
  for (uint32_t i = 0; i < d->param.n; i++)
    x[d->in.n + i] = random_tensor(&g, a, &d->wire.at[d->param.at[i].wire].type);
  return x;
}

bool is_testable(const Diagram *d) {
  for (uint32_t i = 0; i < d->param.n; i++)
    if (d->param.at[i].role == ROLE_CLOCK) return false;
  for (Id i = 1; i < d->box.n; i++) {
    const Box *b = &d->box.at[i];
    if (b->op == OP_scan && !is_testable(b->scan->body)) return false;
    if (b->op == OP_loop && b->loop->combine != SUM &&
        d->wire.at[b->out[0]].type.base == BASE_LABEL)
      return false;
  }
  return true;
}
