// Sampling at computed positions: a sum over all positions with weights that vanish except nearby.
#include "port/import/window.h"

// The position along an axis for a coordinate from -1 to 1.
static const char *grid_place(Importer *m, const char *x, const char *size, bool align) {
  return align ? arena_format(m->arena, "(%s + 1) / 2 * (%s - 1)", x, size)
               : arena_format(m->arena, "((%s + 1) * %s - 1) / 2", x, size);
}

static const char *grid_inside(Importer *m, const char *place, const char *size,
                               const char *padding, bool align) {
  if (!strcmp(padding, "border"))
    return arena_format(m->arena, "min(max(%s, 0), %s - 1)", place, size);
  if (strcmp(padding, "reflection") != 0) return place;
  const char *least = align ? "0" : "0.5",
             *round = align ? arena_format(m->arena, "max(%s - 1, 1)", size) : size;
  const char *turned =
      arena_format(m->arena, "reflect(%s + %s, %s) - %s", place, least, round, least);
  return arena_format(m->arena, "min(max(%s, 0), %s - 1)", turned, size);
}

typedef struct {
  const char *mode, *padding;
  bool align, near, cubic;
  const char *at, *tap; // index letters of the points, and one more
} Grid;

// The sampling positions along an axis.
static Id add_grid_positions(ImpNode *n, const Grid *g, uint32_t axis, uint32_t axes, ImpSize of) {
  Importer *m = n->m;
  const char *x = arena_format(m->arena, "$1[%s %u]", g->at, axes - 1 - axis),
             *size = dim_inside(m, of), *place = grid_place(m, x, size, g->align);
  if (g->near) place = arena_format(m->arena, "round_even(%s)", place);
  if (!g->cubic) place = grid_inside(m, place, size, g->padding, g->align);
  return add_equation(n, op_value(n, 1)->type, n->in, "[%s] = %s", g->at, place);
}

// Weights of all positions of an axis, [points positions], for cubic interpolation of four
// neighbours. Positions out of bounds are clamped or reflected, or have weight 0.
static Id add_cubic_weights(ImpNode *n, const Grid *g, Id place, ImpSize of) {
  Importer *m = n->m;
  const char *at = g->at, *tap = g->tap, *size = dim_inside(m, of);
  Id apart = equation(n, IN(place), "[%s %s:4] = %s - 1 - $0[%s] + floor($0[%s])", at, tap, tap, at,
                      at),
     weight = equation(n, IN(apart), "[*] = cubic_weight($0)"),
     around = equation(n, IN(place), "[%s %s:4] = floor($0[%s]) + %s - 1", at, tap, at, tap);
  around = equation(n, IN(around), "[*] = %s", grid_inside(m, "$0", size, g->padding, g->align));
  return equation(n, IN(weight, around),
                  "[%s %s:%s] = sum[z1](($0[%s z1] when (%s = $1[%s z1]) else 0))", at, tap,
                  dim_text(m, of), at, tap, at);
}

// The weighted sum over all positions, for each point.
static Id add_sampled_sum(ImpNode *n, const Grid *g, const ImpShape *x, const Id *place) {
  Importer *m = n->m;
  uint32_t axes = x->rank - 2;
  Id in[8] = {n->in[0]};
  Buf weight = buf_new(m->arena);
  const char *here = join_words(m, axes, imp_letter + 2);
  for (uint32_t i = 0; i < axes; i++) {
    const char *letter = imp_letter[ONNX_RANK_LIMIT + i];
    in[1 + i] = place[i];
    if (g->cubic)
      buf_printf(&weight, " * $%u[i %s %s]", 1 + i, here, letter);
    else
      buf_printf(&weight,
                 g->near ? " * number(%s = $%u[i %s])" : " * max(1 - abs(%s - $%u[i %s]), 0)",
                 letter, 1 + i, here);
  }
  const char *gone = join_words(m, axes, imp_letter + ONNX_RANK_LIMIT);
  return equation(n, in, "[i j %s] = sum[%s]($0[i j %s]%s)", here, gone, gone, weight.at);
}

static void grid_read(ImpNode *n, Grid *g) {
  g->mode = attr_text(n, "mode", "linear"), g->padding = attr_text(n, "padding_mode", "zeros");
  g->align = attr_int(n, "align_corners", 0), g->near = !strcmp(g->mode, "nearest");
  g->cubic = !strcmp(g->mode, "cubic") || !strcmp(g->mode, "bicubic");
}

bool op_gridsample(ImpNode *n) {
  Grid g;
  Id place[4];
  grid_read(n, &g);
  ImpShape x = op_value(n, 0)->shape, points = op_value(n, 1)->shape;
  if (x.rank != points.rank || x.rank < 3 || x.rank > 6 ||
      !dim_is(points.dim[x.rank - 1], x.rank - 2))
    return op_refuse(n, "its grid does not fit its input");
  g.at = index_letters(n->m, x.rank - 1), g.tap = imp_letter[x.rank - 1];
  for (uint32_t i = 0; i + 2 < x.rank; i++) {
    place[i] = add_grid_positions(n, &g, i, x.rank - 2, x.dim[2 + i]);
    if (g.cubic) place[i] = add_cubic_weights(n, &g, place[i], x.dim[2 + i]);
  }
  return op_set_result(n, 0, add_sampled_sum(n, &g, &x, place));
}

// -- DeformConv -----------------------------------------------------------------------------------
// i batch, j offset group, k l window positions, m n output positions.
static Id deformed_at(ImpNode *n, Id offset, const Window *w, uint32_t axis, int64_t groups) {
  ImpShape o = value_at(n->m, offset)->shape,
           parted = {7,
                     {o.dim[0], dim_of(groups), dim_of(w->kernel[0]), dim_of(w->kernel[1]),
                      dim_of(2), o.dim[2], o.dim[3]}};
  Id all = add_reshape(n, offset, &parted);
  if (!all) return 0;
  return add_equation(n, value_at(n->m, offset)->type, IN(all),
                      "[i j k l m n] = $0[i j k l %u m n] + %lld * %s + %lld * %s - %lld", axis,
                      (long long)w->stride[axis], axis ? "n" : "m", (long long)w->dilation[axis],
                      axis ? "l" : "k", (long long)w->before[axis]);
}

bool op_deformconv(ImpNode *n) {
  Importer *m = n->m;
  Window w;
  int64_t groups = attr_int(n, "offset_group", 1), group = attr_int(n, "group", 1);
  ImpShape x = op_value(n, 0)->shape, ws = op_value(n, 1)->shape;
  if (x.rank != 4 || ws.rank != 4 || group < 1 || groups < 1)
    return op_refuse(n, "it is known for pictures");
  if (!window_read(n, &x, ws.dim + 2, &w)) return false;
  ImpSize each;
  if (!dim_divide(m, x.dim[1], dim_of(groups), &each) ||
      !dim_divide(m, ws.dim[0], dim_of(group), &each) ||
      !dim_same(x.dim[1], dim_op(m, '*', ws.dim[1], dim_of(group))))
    return op_refuse(n, "its groups do not fit its channels");
  Id row = deformed_at(n, n->in[2], &w, 0, groups),
     column = row ? deformed_at(n, n->in[2], &w, 1, groups) : 0;
  if (!column) return false;
  const char *channel =
      groups == 1 ? "j" : arena_format(m->arena, "(%s:%lld j)", imp_letter[18], (long long)groups);
  const char *at =
      groups == 1 ? "i 0 k l m n" : arena_format(m->arena, "i %s k l m n", imp_letter[18]);
  Id v = equation(n, IN(n->in[0], row, column),
                  "[i %s k l m n] = sum[i1 j1]($0[i %s i1 j1] * max(1 - abs(i1 - $1[%s]), 0) * "
                  "max(1 - abs(j1 - $2[%s]), 0))",
                  channel, channel, at, at);
  if (op_in(n, 4)) {
    ImpShape mask = {6,
                     {x.dim[0], dim_of(groups), dim_of(w.kernel[0]), dim_of(w.kernel[1]),
                      dim_of(w.out[0]), dim_of(w.out[1])}};
    Id k = add_reshape(n, n->in[4], &mask);
    if (!k) return false;
    v = equation(n, IN(v, k), "[i %s k l m n] = $0[i %s k l m n] * $1[%s]", channel, channel, at);
  }
  const char *part = arena_format(m->arena, "%s:%lld", imp_letter[18], (long long)group);
  const char *to = group == 1 ? "j" : arena_format(m->arena, "(%s j)", part),
             *from = group == 1 ? "m" : arena_format(m->arena, "(%s m)", part);
  const char *bias = op_in(n, 3) ? arena_format(m->arena, " + $2[%s]", to) : "";
  return op_set_result(n, 0,
                       equation(n, IN(v, n->in[1], op_in(n, 3)),
                                "[i %s k l] = $0[i %s n o k l] $1[%s m n o]%s", to, from, to,
                                bias));
}
