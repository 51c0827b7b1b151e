// Scatter to gather. A kernel loops over its output, so a loop that writes at computed coordinates
// is rewritten until its output is plain. The first rule that applies is used:
//
//   slice   y[… 2 …] += e         The sum is made without that axis, and an element-wise select places
//                                 it.
//   label   y[… a·i + L …] = e    A new index v replaces the label, and the body is selected where
//                                 v = L. For labels of few values, or when nothing is summed: then
//                                 p − onehot is element-wise.
//   stride  y[2·i + rest] += e    For products: operands read at i are dilated with zeros, and read at an
//                                 index over the dilated axis: then it is a shift.
//   spread  y[i + rest] += e      Of a product that does not read i: one factor is broadcast along i
//                                 (the gradient of a mean, before a convolution).
//   shift   y[i + rest] += e      o = i + rest is a new index and i = o − rest everywhere. The bounds of
//                                 i must be those of an operand that is read at i itself, so that out
//                                 of bounds means skipped, as before.
//
// A sum over the samples and other indices (the gradient of a bias after a convolution, of a norm's
// scale) is made for each sample, fused with its operands, and then over the samples: two short
// sums in a fixed order instead of a long one.
//
// A product with accesses out of bounds reads a padded copy (halo), so that matrix kernels need no
// bounds checks. What no rule covers remains a scatter: filled, then added to, in order.
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "run/plan/plan.h"

#include "core/pass/rewrite.h"

enum { STRIDE_MOST = 4 };
enum { FEW_LABELS = 4, HALO_POINTS = 4096, FEW_POINTS = 8, MANY_CELLS = 64 * 1024 };

static bool is_number(World *w, Size s, int64_t k) { return size_now(w, s) == size_of(w, k); }

static uint32_t push_index(World *w, Loop *loop, Name name, Size size) {
  return loop_push_index(w, loop, (Index){name, size});
}

static bool has_label(const Coord *c) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->term[i].operand) return true;
  return false;
}

static bool is_product(const Loop *loop) {
  return is_product_body(loop->combine, loop->scalar, loop->nscalar, loop->nin);
}

static double points_known(World *w, const Loop *loop) {
  double points = 1;
  int64_t n;
  for (uint32_t i = 0; i < loop->nindex; i++)
    points *= size_value(w, size_now(w, loop->index[i].size), &n) ? (double)n : 1;
  return points;
}

// The draft becomes the loop `loop` over this wire.
static void draft_over(World *w, Draft *f, Loop *loop, Id wire) {
  *f = (Draft){.loop = loop};
  vec_push(w->arena, &f->in, wire);
}

// -- slice ----------------------------------------------------------------------------------------
static bool is_slice(World *w, const Loop *loop, const Type *out, uint32_t axis) {
  return !loop->out.coord[axis].n && !is_number(w, out->axis[axis].size, 1);
}

bool loop_sums(World *w, const Loop *loop) {
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (loop_is_reduced(w, loop, i)) return true;
  return false;
}

// A sum into a slice: the slice is made alone, and the draft places it in the whole.
static void solve_slice(World *w, Diagram *to, Draft *f, const Type *type, Id origin) {
  Loop *loop = f->loop, *lay = NEW(w->arena, Loop);
  uint32_t slices = 0, n = 0;
  if (loop->combine != SUM || type->base != BASE_R) return;
  for (uint32_t i = 0; i < type->rank; i++) {
    slices += is_slice(w, loop, type, i);
    if (has_label(&loop->out.coord[i])) return;
  }
  if (!slices || !loop_sums(w, loop)) return;
  Type small = {.base = type->base, .axis = NEW_ARRAY(w->arena, Axis, type->rank)};
  Coord *coord = NEW_ARRAY(w->arena, Coord, type->rank);
  uint32_t *plain = NEW_ARRAY(w->arena, uint32_t, type->rank),
           *inner = NEW_ARRAY(w->arena, uint32_t, type->rank);
  *lay = (Loop){.nin = 1, .in = NEW_ARRAY(w->arena, Access, 1)};
  for (uint32_t i = 0; i < type->rank; i++) {
    plain[i] = push_index(w, lay, type->axis[i].label, type->axis[i].size);
    if (is_slice(w, loop, type, i)) continue;
    coord[n] = loop->out.coord[i];
    inner[n] = i;
    small.axis[n++] = type->axis[i];
  }
  small.rank = n;
  lay->out = access_plain(w, type->rank, plain);
  lay->in[0] = access_plain(w, n, inner);
  uint32_t value = scalar_push(w, lay, (Scalar){.fn = FN_ARG, .base = BASE_R});
  uint32_t zero = scalar_push(w, lay, (Scalar){.fn = FN_CONST, .base = BASE_R});
  for (uint32_t i = 0; i < type->rank; i++) {
    if (!is_slice(w, loop, type, i)) continue;
    uint32_t at = scalar_push(w, lay, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = plain[i]});
    uint32_t where = scalar_push(
        w, lay, (Scalar){.fn = FN_SIZE, .base = BASE_R, .ref = size_now(w, loop->out.coord[i].c)});
    uint32_t same =
        scalar_push(w, lay, (Scalar){.fn = FN_eq, .base = BASE_BIT, .arg = {at, where}});
    value =
        scalar_push(w, lay, (Scalar){.fn = FN_select, .base = BASE_R, .arg = {same, value, zero}});
  }
  loop->out = (Access){.rank = n, .coord = coord};
  draft_over(w, f, lay, box_loop_shared(w, to, loop, f->in.at, f->in.n, small, origin));
}

// -- label ----------------------------------------------------------------------------------------
static bool sums_nothing(const Loop *loop) {
  for (uint32_t i = 0; i < loop->nindex; i++)
    if (!loop_writes_index(loop, i)) return false;
  return true;
}

static bool solve_label(World *w, const Diagram *d, Draft *f) {
  Loop *loop = f->loop;
  if (loop->combine != SUM || d->wire.at[f->in.at[0]].type.base == BASE_NONE) return false;
  for (uint32_t i = 0; i < loop->out.rank; i++)
    for (uint32_t k = 0; k < loop->out.coord[i].n; k++) {
      Coord *c = &loop->out.coord[i];
      Term t = c->term[k];
      int64_t labels;
      if (!t.operand || !is_number(w, t.coef, 1)) continue;
      Size count = d->wire.at[f->in.at[t.var]].type.count;
      bool alone = c->n == 1 && is_number(w, c->c, 0) && sums_nothing(loop);
      if (!alone && !(size_value(w, count, &labels) && labels <= FEW_LABELS)) continue;
      uint32_t v = push_index(w, loop, 0, count), body = loop->nscalar - 1;
      Base base = loop->scalar[body].base;
      c->term[k] = (Term){t.coef, v, false};
      uint32_t at = scalar_push(w, loop, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = v});
      uint32_t label =
          scalar_push(w, loop, (Scalar){.fn = FN_ARG, .base = BASE_LABEL, .ref = t.var});
      uint32_t number =
          scalar_push(w, loop, (Scalar){.fn = FN_number, .base = BASE_R, .arg = {label}});
      uint32_t same =
          scalar_push(w, loop, (Scalar){.fn = FN_eq, .base = BASE_BIT, .arg = {at, number}});
      uint32_t zero = scalar_push(w, loop, (Scalar){.fn = FN_CONST, .base = (uint8_t)base});
      scalar_push(w, loop,
                  (Scalar){.fn = FN_select, .base = (uint8_t)base, .arg = {same, body, zero}});
      return true;
    }
  return false;
}

// -- stride ---------------------------------------------------------------------------------------
static uint32_t uses_in(const Access *a, uint32_t index) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->rank; i++)
    for (uint32_t k = 0; k < a->coord[i].n; k++)
      n += !a->coord[i].term[k].operand && a->coord[i].term[k].var == index;
  return n;
}

// The only operand that is read at the index, and its axis. The index must cover that axis, and
// nothing else may read it.
static bool read_once(World *w, const Diagram *d, const Draft *f, uint32_t index, uint32_t *operand,
                      uint32_t *axis) {
  uint32_t uses = 0, k;
  bool plain = false;
  for (uint32_t j = 0; j < f->loop->nin; j++) {
    const Type *t = &d->wire.at[f->in.at[j]].type;
    uses += uses_in(&f->loop->in[j], index);
    for (uint32_t i = 0; !f->loop->in[j].padded && i < t->rank; i++) {
      if (!coord_is_plain(w, &f->loop->in[j].coord[i], &k) || k != index ||
          size_now(w, f->loop->index[index].size) != size_now(w, t->axis[i].size))
        continue;
      plain = true;
      *operand = j, *axis = i;
    }
  }
  return plain && uses == 1 && !loop_reads_index(f->loop, index);
}

// z[… s·i + r …] = x[… i …] where r = 0, else 0.
static Id spread_axis(World *w, Diagram *to, Id wire, uint32_t axis, int64_t stride, Id origin) {
  Type type = to->wire.at[wire].type;
  Loop *lay = NEW(w->arena, Loop);
  *lay = (Loop){.nin = 1, .in = NEW_ARRAY(w->arena, Access, 1)};
  for (uint32_t i = 0; i < type.rank; i++)
    push_index(w, lay, type.axis[i].label, type.axis[i].size);
  uint32_t between = push_index(w, lay, 0, size_of(w, stride));
  lay->in[0] = access_from(w, 0, type.rank);
  lay->out = access_from(w, 0, type.rank);
  Coord c = {.c = size_of(w, 0)};
  c = coord_add(w, c, size_of(w, stride), axis, false);
  lay->out.coord[axis] = coord_add(w, c, size_of(w, 1), between, false);
  uint32_t x = scalar_push(w, lay, (Scalar){.fn = FN_ARG, .base = BASE_R});
  uint32_t at = scalar_push(w, lay, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = between});
  uint32_t zero = scalar_push(w, lay, (Scalar){.fn = FN_CONST, .base = BASE_R});
  uint32_t same = scalar_push(w, lay, (Scalar){.fn = FN_eq, .base = BASE_BIT, .arg = {at, zero}});
  scalar_push(w, lay, (Scalar){.fn = FN_select, .base = BASE_R, .arg = {same, x, zero}});
  type.axis = arena_copy(w->arena, type.axis, type.rank * sizeof *type.axis);
  type.axis[axis].size = size_mul(w, size_of(w, stride), size_now(w, type.axis[axis].size));
  return box_loop_shared(w, to, lay, &wire, 1, type, origin);
}

// A second term that is a window. A window as long as the stride would fill the output like digits,
// without zeros between.
static bool is_window(World *w, const Loop *loop, const Term *t, int64_t stride) {
  int64_t n;
  return is_number(w, t->coef, 1) && size_value(w, size_now(w, loop->index[t->var].size), &n) &&
         n != stride;
}

static bool solve_stride(World *w, Diagram *to, Draft *f, Id origin) {
  Loop *loop = f->loop;
  if (!is_product(loop) || points_known(w, loop) < HALO_POINTS) return false;
  for (uint32_t i = 0; i < loop->out.rank; i++) {
    Coord *c = &loop->out.coord[i];
    for (uint32_t k = 0; k < c->n && c->n <= 2 && !has_label(c); k++) {
      uint32_t index = c->term[k].var, operand = 0, axis = 0;
      int64_t stride, n;
      if (!size_value(w, size_now(w, c->term[k].coef), &stride) || stride < 2 ||
          stride > STRIDE_MOST || (c->n == 2 && !is_window(w, loop, &c->term[1 - k], stride)) ||
          !size_value(w, size_now(w, loop->index[index].size), &n) ||
          uses_in(&loop->out, index) != 1 || !read_once(w, to, f, index, &operand, &axis))
        continue;
      f->in.at[operand] = spread_axis(w, to, f->in.at[operand], axis, stride, origin);
      loop->index[index].size = to->wire.at[f->in.at[operand]].type.axis[axis].size;
      c->term[k].coef = size_of(w, 1);
      return true;
    }
  }
  return false;
}

// -- spread ---------------------------------------------------------------------------------------
// Is the coordinate a mixed radix, such as y[32·h + k]? Such outputs are plain enough.
static bool is_merge(World *w, const Loop *loop, const Coord *c) {
  Size below = size_of(w, 1);
  if (c->n < 2 || !is_number(w, c->c, 0)) return false;
  for (uint32_t round = 0; round < c->n; round++) {
    uint32_t k = 0;
    while (k < c->n && size_now(w, c->term[k].coef) != below) k++;
    if (k == c->n) return false;
    below = size_now(w, size_mul(w, below, size_now(w, loop->index[c->term[k].var].size)));
  }
  return true;
}

static bool is_unread(const Loop *loop, uint32_t index) {
  for (uint32_t j = 0; j < loop->nin; j++)
    if (uses_in(&loop->in[j], index)) return false;
  return !loop_reads_index(loop, index);
}

// The only one of two factors that reads no other index of the coordinate; nin: there is none.
static uint32_t free_factor(const Loop *loop, const Coord *c, uint32_t index) {
  bool bound[2] = {false, false};
  for (uint32_t k = 0; k < c->n; k++)
    for (uint32_t j = 0; j < 2; j++)
      bound[j] |= c->term[k].var != index && uses_in(&loop->in[j], c->term[k].var);
  return bound[0] == bound[1] ? loop->nin : bound[0];
}

// z[… i] = x[…]
static Id repeat_along(World *w, Diagram *to, Id wire, Size size, Id origin) {
  Type type = to->wire.at[wire].type;
  Axis *axis = NEW_ARRAY(w->arena, Axis, type.rank + 1);
  Loop *lay = NEW(w->arena, Loop);
  *lay = (Loop){.nin = 1, .in = NEW_ARRAY(w->arena, Access, 1)};
  memcpy(axis, type.axis, type.rank * sizeof *axis);
  axis[type.rank] = (Axis){.size = size};
  for (uint32_t i = 0; i <= type.rank; i++) push_index(w, lay, axis[i].label, axis[i].size);
  lay->in[0] = access_from(w, 0, type.rank);
  lay->out = access_from(w, 0, type.rank + 1);
  scalar_push(w, lay, (Scalar){.fn = FN_ARG, .base = BASE_R});
  type.rank++;
  type.axis = axis;
  return box_loop_shared(w, to, lay, &wire, 1, type, origin);
}

static bool solve_spread(World *w, Diagram *to, Draft *f, Id origin) {
  Loop *loop = f->loop;
  int64_t n;
  if (!is_product(loop) || loop->nin != 2 || points_known(w, loop) < HALO_POINTS) return false;
  for (uint32_t i = 0; i < loop->out.rank; i++) {
    const Coord *c = &loop->out.coord[i];
    if (c->n < 2 || has_label(c) || is_merge(w, loop, c)) continue;
    for (uint32_t k = 0; k < c->n; k++) {
      uint32_t index = c->term[k].var, j = free_factor(loop, c, index);
      if (j == loop->nin || loop->in[j].padded || !is_unread(loop, index) ||
          uses_in(&loop->out, index) != 1 ||
          !size_value(w, size_now(w, loop->index[index].size), &n))
        continue;
      Access *a = &loop->in[j], now = {.rank = a->rank + 1};
      now.coord = NEW_ARRAY(w->arena, Coord, now.rank);
      memcpy(now.coord, a->coord, a->rank * sizeof *now.coord);
      now.coord[a->rank] = coord_index(w, index);
      *a = now;
      f->in.at[j] = repeat_along(w, to, f->in.at[j], loop->index[index].size, origin);
      return true;
    }
  }
  return false;
}

// -- shift ----------------------------------------------------------------------------------------
// Some operand without padding is read at the index itself, over the whole axis.
static bool bounded_by_operand(World *w, const Diagram *d, const Draft *f, uint32_t index) {
  uint32_t k;
  for (uint32_t j = 0; j < f->loop->nin; j++) {
    const Type *t = &d->wire.at[f->in.at[j]].type;
    for (uint32_t i = 0; !f->loop->in[j].padded && i < t->rank; i++)
      if (coord_is_plain(w, &f->loop->in[j].coord[i], &k) && k == index &&
          size_now(w, f->loop->index[index].size) == size_now(w, t->axis[i].size))
        return true;
  }
  return false;
}

static bool solve_shift(World *w, const Diagram *d, Draft *f, const Type *out) {
  Loop *loop = f->loop;
  if (loop->combine != SUM) return false;
  for (uint32_t i = 0; i < loop->out.rank; i++) {
    Coord *c = &loop->out.coord[i];
    uint32_t best = PLAN_NONE, at = 0;
    int64_t best_size = -1, n;
    if (has_label(c) || (c->n == 1 && is_number(w, c->c, 0))) continue;
    for (uint32_t k = 0; k < c->n; k++) {
      uint32_t index = c->term[k].var;
      if (!is_number(w, c->term[k].coef, 1) || uses_in(&loop->out, index) != 1 ||
          loop_reads_index(loop, index) || !bounded_by_operand(w, d, f, index) ||
          !size_value(w, loop->index[index].size, &n) || n <= best_size)
        continue;
      best = index, at = k, best_size = n;
    }
    for (uint32_t k = 0; k < c->n;
         k++) // a strided window: looping over all its starts for each cell would be waste
      if (!size_value(w, loop->index[c->term[k].var].size, &n) || n > best_size) best = PLAN_NONE;
    if (best == PLAN_NONE || is_merge(w, loop, c)) continue;
    uint32_t o = push_index(w, loop, loop->index[best].name, out->axis[i].size);
    Coord by = coord_index(w, o); // o − rest
    Size zero = size_of(w, 0);
    by.c = size_sub(w, zero, size_now(w, c->c));
    for (uint32_t k = 0; k < c->n; k++)
      if (k != at)
        by = coord_add(w, by, size_sub(w, zero, size_now(w, c->term[k].coef)), c->term[k].var,
                       false);
    *c = coord_index(w, o);
    for (uint32_t j = 0; j < loop->nin; j++) access_replace(w, &loop->in[j], best, &by);
    loop_drop_index(loop, best);
    return true;
  }
  return false;
}

// -- halo -----------------------------------------------------------------------------------------
// Lower and upper bound of a coordinate over all indices, when they are numbers.
static bool coord_reach(World *w, const Loop *loop, const Coord *c, int64_t *low, int64_t *high) {
  int64_t k, coef, n;
  if (!size_value(w, size_now(w, c->c), &k)) return false;
  *low = *high = k;
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->term[i].operand || !size_value(w, size_now(w, c->term[i].coef), &coef) ||
        !size_value(w, size_now(w, loop->index[c->term[i].var].size), &n))
      return false;
    *(coef < 0 ? low : high) += coef * (n - 1);
  }
  return true;
}

// Replaces operand k by a padded copy: x[i + low] inside, 0 (or the operand's pad) outside.
static void with_halo(World *w, Diagram *to, Draft *f, uint32_t k, Id origin) {
  Access *a = &f->loop->in[k];
  Type type = to->wire.at[f->in.at[k]].type;
  uint32_t rank = type.rank, index;
  Axis *axis = NEW_ARRAY(w->arena, Axis, rank);
  Loop *copy = NEW(w->arena, Loop);
  *copy = (Loop){.nindex = rank,
                 .nin = 1,
                 .index = NEW_ARRAY(w->arena, Index, rank),
                 .in = NEW_ARRAY(w->arena, Access, 1)};
  copy->in[0] = (Access){.rank = rank,
                         .coord = NEW_ARRAY(w->arena, Coord, rank),
                         .padded = true,
                         .pad = a->padded ? a->pad : 0};
  int64_t *low = NEW_ARRAY(w->arena, int64_t, rank), high, dim;
  for (uint32_t i = 0; i < rank; i++) {
    axis[i] = type.axis[i];
    if (!(coord_is_plain(w, &a->coord[i], &index) &&
          size_now(w, f->loop->index[index].size) == size_now(w, axis[i].size))) {
      if (!coord_reach(w, f->loop, &a->coord[i], &low[i], &high) ||
          !size_value(w, size_now(w, axis[i].size), &dim))
        return;
      if (low[i] > 0) low[i] = 0;
      if (high < dim - 1) high = dim - 1;
      axis[i].size = size_of(w, high - low[i] + 1);
    }
    copy->index[i] = (Index){0, axis[i].size};
    copy->in[0].coord[i] = coord_index(w, i);
    copy->in[0].coord[i].c = size_of(w, low[i]);
    a->coord[i].c = size_sub(w, size_now(w, a->coord[i].c), size_of(w, low[i]));
  }
  copy->out = access_from(w, 0, rank);
  scalar_push(w, copy, (Scalar){.fn = FN_ARG, .base = BASE_R});
  type.axis = axis;
  f->in.at[k] = box_loop_shared(w, to, copy, &f->in.at[k], 1, type, origin);
  a->padded = false;
}

static void add_halos(World *w, Diagram *to, Draft *f, Id origin) {
  if (!is_product(f->loop) || points_known(w, f->loop) < HALO_POINTS) return;
  for (uint32_t k = 0; k < 2; k++) {
    bool labels = false;
    for (uint32_t i = 0; i < f->loop->in[k].rank; i++)
      labels |= has_label(&f->loop->in[k].coord[i]);
    if (!labels && !access_in_bounds(w, f->loop, &f->loop->in[k], &to->wire.at[f->in.at[k]].type))
      with_halo(w, to, f, k, origin);
  }
}

// -- sums over samples ----------------------------------------------------------------------------
static bool is_samples(World *w, Size size) {
  Id var;
  return size_is_var(w, size_now(w, size), &var) && size_var_kind(w, var) == VAR_SAMPLE;
}

// Makes the sum for each sample, with the samples as the first axis; the draft sums over these.
static void sum_each_sample(World *w, Diagram *to, Draft *f, const Type *type, Id origin) {
  Loop *loop = f->loop, *over = NEW(w->arena, Loop);
  uint32_t samples = PLAN_NONE, others = 0;
  double points = 1, cells = 1;
  int64_t n;
  if (loop->combine != SUM || type->base != BASE_R || is_product(loop)) return;
  for (uint32_t i = 0; i < type->rank; i++) {
    uint32_t index;
    if (!coord_is_plain(w, &loop->out.coord[i], &index) ||
        !size_value(w, size_now(w, type->axis[i].size), &n))
      return;
    cells *= (double)n;
  }
  for (uint32_t i = 0; i < loop->nindex; i++) {
    if (!loop_is_reduced(w, loop, i)) continue;
    if (is_samples(w, loop->index[i].size))
      samples = i;
    else if (size_value(w, size_now(w, loop->index[i].size), &n))
      others++, points *= (double)n;
    else
      return;
  }
  if (samples == PLAN_NONE || !others || points < FEW_POINTS || cells > MANY_CELLS) return;
  Type each = {
      .base = BASE_R, .rank = type->rank + 1, .axis = NEW_ARRAY(w->arena, Axis, type->rank + 1)};
  Coord *coord = NEW_ARRAY(w->arena, Coord, type->rank + 1);
  each.axis[0] = (Axis){.size = loop->index[samples].size, .pass = PASS_SAMPLE};
  coord[0] = coord_index(w, samples);
  *over = (Loop){.nin = 1, .in = NEW_ARRAY(w->arena, Access, 1)};
  push_index(w, over, 0, each.axis[0].size);
  for (uint32_t i = 0; i < type->rank; i++) {
    each.axis[i + 1] = type->axis[i];
    coord[i + 1] = loop->out.coord[i];
    push_index(w, over, 0, type->axis[i].size);
  }
  over->in[0] = access_from(w, 0, each.rank);
  over->out = access_from(w, 1, type->rank);
  scalar_push(w, over, (Scalar){.fn = FN_ARG, .base = BASE_R});
  loop->out = (Access){.rank = each.rank, .coord = coord};
  draft_over(w, f, over, box_loop_shared(w, to, loop, f->in.at, f->in.n, each, origin));
}

// -- the rewrite ----------------------------------------------------------------------------------
static bool solve_loop(const Rewriting *r, const Box *b) {
  World *w = r->w;
  Diagram *to = r->to;
  if (b->op != OP_loop) return false;
  Draft f = {loop_copy(w, b->loop), {0}};
  const Type *type = &r->from->wire.at[b->out[0]].type;
  for (uint32_t i = 0; i < b->nin; i++) vec_push(w->arena, &f.in, r->map[b->in[i]]);
  if (b->nout == 1 && b->nin) solve_slice(w, to, &f, type, b->origin);
  while (b->nin && (solve_label(w, to, &f) || solve_spread(w, to, &f, b->origin) ||
                    solve_stride(w, to, &f, b->origin) || solve_shift(w, to, &f, type)))
    continue;
  if (b->nout == 1 && f.in.n) sum_each_sample(w, to, &f, type, b->origin);
  add_halos(w, to, &f, b->origin);
  Id first = box_loop_shared(w, to, f.loop, f.in.at, f.in.n, *type, b->origin);
  for (uint32_t i = 0; i < b->nout; i++) {
    to->wire.at[first + i].type = r->from->wire.at[b->out[i]].type;
    to->wire.at[first + i].name = r->from->wire.at[b->out[i]].name;
    r->map[b->out[i]] = first + i;
  }
  return true;
}

Diagram *plan_scatter_to_gather(World *w, const Diagram *d) {
  return rewrite_boxes(w, d, solve_loop);
}
