// Pictures read at places that are computed: a sum over all places, with weights that are 0 but near by.
#include "port/import/window.h"

// The place along an axis that a number from -1 to 1 means.
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
  ImpShape points; // of the grid, without its last axis
} Grid;

// Where the points are along an axis.
static Id say_places(ImpNode *n, const Grid *g, uint32_t axis, uint32_t axes, ImpSize of) {
  Importer *m = n->m;
  const char *size = dim_inside(m, of), *place = grid_place(m, "$0", size, g->align);
  if (g->near) place = arena_format(m->arena, "round_even(%s)", place);
  if (!g->cubic) place = grid_inside(m, place, size, g->padding, g->align);
  ImpForm form = {.left = letters(m, g->points.rank), .right = place};
  const char *from = arena_format(m->arena, "%s %u", letters(m, g->points.rank), axes - 1 - axis);
  return say(n, op_value(n, 1)->type, &g->points, form, READS({n->in[1], from}));
}

// How much each place of an axis counts, [points places], of the four around a point. Those outside are others, or have no weight.
static Id say_cubics(ImpNode *n, const Grid *g, Id place, ImpSize of) {
  Importer *m = n->m;
  OnnxType type = value_at(m, place)->type;
  ImpShape four = g->points, out = g->points;
  const char *at = letters(m, four.rank), *tap = imp_letter[four.rank], *t = imp_letter[31];
  const char *size = dim_inside(m, of), *all = arena_format(m->arena, "%s %s", at, tap);
  four.dim[four.rank++] = dim_of(4);
  out.dim[out.rank++] = of;
  Id apart = say(n, type, &four,
                 (ImpForm){all, arena_format(m->arena, "%s - 1 - $0 + floor($0)", tap), NULL},
                 READS({place, at}));
  Id weight = say(n, type, &four, (ImpForm){all, "cubic_weight($0)", NULL}, READS({apart, all}));
  Id around =
      say(n, type, &four, (ImpForm){all, arena_format(m->arena, "floor($0) + %s - 1", tap), NULL},
          READS({place, at}));
  const char *inside = grid_inside(m, "$0", size, g->padding, g->align);
  around = say(n, type, &four, (ImpForm){all, inside, NULL}, READS({around, all}));
  const char *right = arena_format(m->arena, "sum[%s](($0 when (%s = $1) else 0))", t, tap),
             *in = arena_format(m->arena, "%s %s", at, t);
  return say(n, type, &out, (ImpForm){all, right, NULL}, READS({weight, in}, {around, in}));
}

// The sum over all places, with what each of them counts at a point.
static void give_sampled(ImpNode *n, const Grid *g, const ImpShape *x, const Id *place) {
  Importer *m = n->m;
  uint32_t axes = x->rank - 2;
  ImpShape out = {.rank = x->rank, .dim = {x->dim[0], x->dim[1]}};
  const char *in[ONNX_RANK_LIMIT] = {"i", "j"}, *at[ONNX_RANK_LIMIT] = {"i"};
  ImpRead read[8] = {{n->in[0], NULL}};
  Buf right = buf_new(m->arena);
  for (uint32_t i = 0; i < axes; i++)
    at[1 + i] = imp_letter[2 + i], out.dim[2 + i] = g->points.dim[1 + i];
  const char *here = words(m, axes + 1, at);
  buf_printf(&right, "sum[%s]($0", words(m, axes, imp_letter + ONNX_RANK_LIMIT));
  for (uint32_t i = 0; i < axes; i++) {
    const char *letter = in[2 + i] = imp_letter[ONNX_RANK_LIMIT + i];
    read[1 + i] =
        (ImpRead){place[i], g->cubic ? arena_format(m->arena, "%s %s", here, letter) : here};
    if (g->cubic)
      buf_printf(&right, " * $%u", 1 + i);
    else
      buf_printf(&right, g->near ? " * number(%s = $%u)" : " * max(1 - abs(%s - $%u), 0)", letter,
                 1 + i);
  }
  buf_char(&right, ')');
  read[0].index = words(m, x->rank, in);
  ImpForm form = {.left = letters(m, out.rank), .right = right.at};
  op_give(n, 0, say(n, op_value(n, 0)->type, &out, form, read, 1 + axes));
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
  ImpShape x = op_value(n, 0)->shape;
  g.points = op_value(n, 1)->shape;
  if (x.rank != g.points.rank || x.rank < 3 || x.rank > 6 ||
      !dim_is(g.points.dim[x.rank - 1], x.rank - 2))
    return op_refuse(n, "its grid does not fit its input");
  g.points.rank--;
  for (uint32_t i = 0; i + 2 < x.rank; i++) {
    place[i] = say_places(n, &g, i, x.rank - 2, x.dim[2 + i]);
    if (g.cubic) place[i] = say_cubics(n, &g, place[i], x.dim[2 + i]);
  }
  give_sampled(n, &g, &x, place);
  return true;
}

// -- DeformConv ----------------------------------------------------------------------------------
// i samples, j channels, k l places of the result; g groups of offsets, p q places in the window.
static Id deformed_at(ImpNode *n, Id offset, const Window *w, uint32_t axis, int64_t groups) {
  Importer *m = n->m;
  ImpShape o = value_at(m, offset)->shape,
           parted = {7,
                     {o.dim[0], dim_of(groups), dim_of(w->kernel[0]), dim_of(w->kernel[1]),
                      dim_of(2), o.dim[2], o.dim[3]}};
  ImpShape out = {
      6,
      {o.dim[0], dim_of(groups), dim_of(w->kernel[0]), dim_of(w->kernel[1]), o.dim[2], o.dim[3]}};
  Id all = say_reshaped(n, offset, &parted);
  if (!all) return 0;
  const char *right = arena_format(
      m->arena, "$0 + %lld * %s + %lld * %s - %lld", (long long)w->stride[axis], axis ? "n" : "m",
      (long long)w->dilation[axis], axis ? "l" : "k", (long long)w->before[axis]);
  return say(n, value_at(m, offset)->type, &out, (ImpForm){.left = "i j k l m n", .right = right},
             READS({all, arena_format(m->arena, "i j k l %u m n", axis)}));
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
  ImpShape seen = {6,
                   {x.dim[0], x.dim[1], dim_of(w.kernel[0]), dim_of(w.kernel[1]), dim_of(w.out[0]),
                    dim_of(w.out[1])}};
  const char *channel =
      groups == 1 ? "j" : arena_format(m->arena, "(%s:%lld j)", imp_letter[18], (long long)groups);
  const char *at =
      groups == 1 ? "i 0 k l m n" : arena_format(m->arena, "i %s k l m n", imp_letter[18]);
  const char *y = imp_letter[16], *z = imp_letter[17];
  const char *right = arena_format(
      m->arena, "sum[%s %s]($0 * max(1 - abs(%s - $1), 0) * max(1 - abs(%s - $2), 0))", y, z, y, z);
  OnnxType type = op_value(n, 0)->type;
  Id v =
      say(n, type, &seen, (ImpForm){arena_format(m->arena, "i %s k l m n", channel), right, NULL},
          READS({n->in[0], arena_format(m->arena, "i %s %s %s", channel, y, z)}, {row, at},
                {column, at}));
  if (op_in(n, 4)) {
    ImpShape mask = {6,
                     {x.dim[0], dim_of(groups), dim_of(w.kernel[0]), dim_of(w.kernel[1]),
                      dim_of(w.out[0]), dim_of(w.out[1])}};
    Id k = say_reshaped(n, n->in[4], &mask);
    if (!k) return false;
    const char *left = arena_format(m->arena, "i %s k l m n", channel);
    v = say(n, type, &seen, (ImpForm){.left = left, .right = "$0 * $1"}, READS({v, left}, {k, at}));
  }
  ImpShape out = {4, {x.dim[0], ws.dim[0], dim_of(w.out[0]), dim_of(w.out[1])}};
  bool bias = op_in(n, 3) != 0;
  const char *part = arena_format(m->arena, "%s:%lld", imp_letter[18], (long long)group);
  const char *to = group == 1 ? "j" : arena_format(m->arena, "(%s j)", part),
             *from = group == 1 ? "m" : arena_format(m->arena, "(%s m)", part);
  ImpForm form = {arena_format(m->arena, "i %s k l", to), bias ? "$0 $1 + $2" : "$0 $1", NULL};
  ImpRead read[] = {{v, arena_format(m->arena, "i %s n o k l", from)},
                    {n->in[1], arena_format(m->arena, "%s m n o", to)},
                    {op_in(n, 3), to}};
  op_give(n, 0, say(n, type, &out, form, read, bias ? 3 : 2));
  return true;
}
