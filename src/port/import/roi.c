// RoiAlign: regions of a picture, each as a grid of places that numbers are interpolated at. Along an axis that is a matrix for each
// region, so an average is a product; a maximum is of the four places around each point, each with its weight, as others do it, too.
#include "port/import/own.h"

#include <math.h>

enum { ROI_POINTS_LIMIT = 4096 };

typedef struct {
  int64_t out[2], points[2]; // of an axis: bins, and places to look at in each of them
  bool shifted, adaptive;    // by half a place; as many places as the region is large
  float scale;
  OnnxType type;
  ImpSize regions;
} Regions;

// -- along an axis -------------------------------------------------------------------------------
// Of each region: where it begins along an axis, or how large a bin is. Of rois these are columns 1 - axis and 3 - axis.
static Id say_begin(ImpNode *n, const Regions *r, uint32_t axis) {
  Importer *m = n->m;
  ImpShape row = {1, {r->regions}};
  const char *right =
      arena_format(m->arena, r->shifted ? "$0 * %s - 0.5" : "$0 * %s", short_term(m, r->scale));
  return say(n, r->type, &row, (ImpForm){"i", right, NULL},
             READS({n->in[1], arena_format(m->arena, "i %u", 1 - axis)}));
}

static Id say_bin(ImpNode *n, const Regions *r, uint32_t axis) {
  Importer *m = n->m;
  ImpShape row = {1, {r->regions}};
  const char *right =
      arena_format(m->arena, r->shifted ? "($0 - $1) * %s / %lld" : "max(($0 - $1) * %s, 1) / %lld",
                   short_term(m, r->scale), (long long)r->out[axis]);
  return say(n, r->type, &row, (ImpForm){"i", right, NULL},
             READS({n->in[1], arena_format(m->arena, "i %u", 3 - axis)},
                   {n->in[1], arena_format(m->arena, "i %u", 1 - axis)}));
}

// The points of each bin, [regions bins points].
static Id say_points(ImpNode *n, const Regions *r, uint32_t axis, Id bin) {
  Importer *m = n->m;
  ImpShape shape = {3, {r->regions, dim_of(r->out[axis]), dim_of(r->points[axis])}};
  const char *many = r->adaptive ? "max(0 - floor(0 - $1), 1)"
                                 : arena_format(m->arena, "%lld", (long long)r->points[axis]);
  ImpForm form = {"i j k", arena_format(m->arena, "$0 + (j + (k + 0.5) / %s) * $1", many), NULL};
  return say(n, r->type, &shape, form, READS({say_begin(n, r, axis), "i"}, {bin, "i"}));
}

// How much a place counts for a bin, [regions bins places].
static Id say_mean(ImpNode *n, const Regions *r, uint32_t axis, ImpSize size) {
  Importer *m = n->m;
  Id bin = say_bin(n, r, axis), points = say_points(n, r, axis, bin);
  ImpShape shape = {3, {r->regions, dim_of(r->out[axis]), size}};
  const char *s = dim_inside(m, size), *k = imp_letter[ONNX_RANK_LIMIT];
  const char *some = r->adaptive ? arena_format(m->arena, " and (%s < 0 - floor(0 - $1))", k) : "";
  const char *many = r->adaptive ? "max(0 - floor(0 - $1), 1)"
                                 : arena_format(m->arena, "%lld", (long long)r->points[axis]);
  const char *right =
      arena_format(m->arena,
                   "sum[%s]((max(1 - abs(k - min(max($0, 0), %s - 1)), 0) when ($0 >= 0 - 1) and "
                   "($0 <= %s)%s else 0)) / %s",
                   k, s, s, some, many);
  return say(n, r->type, &shape, (ImpForm){"i j k", right, NULL},
             READS({points, arena_format(m->arena, "i j %s", k)}, {bin, "i"}));
}

// The same of each point and each of the two places around it, [regions bins points 2 places].
static Id say_corners(ImpNode *n, const Regions *r, uint32_t axis, ImpSize size) {
  Importer *m = n->m;
  Id points = say_points(n, r, axis, say_bin(n, r, axis));
  ImpShape inside = value_at(m, points)->shape;
  ImpShape shape = {5,
                    {r->regions, dim_of(r->out[axis]), dim_of(r->points[axis]), dim_of(2), size}};
  const char *s = dim_inside(m, size);
  Id at = say(n, r->type, &inside,
              (ImpForm){"i j k", arena_format(m->arena, "min(max($0, 0), %s - 1)", s), NULL},
              READS({points, "i j k"}));
  const char *right = arena_format(
      m->arena,
      "(1 - $1 + floor($1) when (l = 0) else $1 - floor($1)) when ($0 >= 0 - 1) and ($0 <= %s) "
      "and (m = min(floor($1) + l, %s - 1)) else 0",
      s, s);
  return say(n, r->type, &shape, (ImpForm){"i j k l m", right, NULL},
             READS({points, "i j k"}, {at, "i j k"}));
}

// -- the node ------------------------------------------------------------------------------------
// As many points as the largest region wants.
static bool adaptive_points(ImpNode *n, Regions *r) {
  if (!op_known(n, 1)) return false;
  const ImpValue *rois = op_value(n, 1);
  r->points[0] = r->points[1] = 1;
  for (int64_t i = 0; i < rois->shape.dim[0].n; i++)
    for (uint32_t axis = 0; axis < 2; axis++) {
      const double *at = rois->data + 4 * i;
      double large = (at[3 - axis] - at[1 - axis]) * (double)r->scale;
      double many = ceil((r->shifted || large > 1 ? large : 1) / (double)r->out[axis]);
      if (!(many <= ROI_POINTS_LIMIT))
        return op_refuse(n, "region %lld is too large", (long long)i);
      if (many > (double)r->points[axis]) r->points[axis] = (int64_t)many;
    }
  return true;
}

static bool roi_read(ImpNode *n, Regions *r) {
  const char *how = attr_text(n, "coordinate_transformation_mode",
                              n->version < 16 ? "output_half_pixel" : "half_pixel");
  int64_t points = attr_int(n, "sampling_ratio", 0);
  r->shifted = !strcmp(how, "half_pixel");
  r->out[0] = attr_int(n, "output_height", 1), r->out[1] = attr_int(n, "output_width", 1);
  r->scale = attr_float(n, "spatial_scale", 1);
  if (r->out[0] < 1 || r->out[1] < 1 || r->out[0] > 1 << 20 || r->out[1] > 1 << 20 || points < 0 ||
      points > ROI_POINTS_LIMIT)
    return op_refuse(n, "its result has no size, or sampling_ratio is not a count");
  r->adaptive = points == 0;
  r->points[0] = r->points[1] = points;
  return !r->adaptive || adaptive_points(n, r);
}

// The picture of each region. Where numbers do not point, they are compared.
static Id say_pictures(ImpNode *n, const ImpShape *x, const Regions *r) {
  Importer *m = n->m;
  ImpShape shape = {4, {r->regions, x->dim[1], x->dim[2], x->dim[3]}};
  Id p = pointer(n, n->in[2], x->dim[0], true);
  if (!p && m->diags->errors) return 0;
  if (p)
    return say(n, r->type, &shape, (ImpForm){"i j k l", "$0", NULL},
               READS({n->in[0], "$1 j k l"}, {p, "@i"}));
  return say(n, r->type, &shape, (ImpForm){"i j k l", "sum[m](($0 when (m = $1) else 0))", NULL},
             READS({n->in[0], "m j k l"}, {n->in[2], "i"}));
}

bool op_roialign(ImpNode *n) {
  bool most = !strcmp(attr_text(n, "mode", "avg"), "max");
  ImpShape x = op_value(n, 0)->shape, rois = op_value(n, 1)->shape;
  Regions r = {.type = op_value(n, 0)->type, .regions = rois.dim[0]};
  if (x.rank != 4 || rois.rank != 2 || !dim_is(rois.dim[1], 4) || op_value(n, 2)->shape.rank != 1)
    return op_refuse(n,
                     "it wants pictures, regions of four numbers, and a picture for each region");
  if (!roi_read(n, &r)) return false;
  if (most && r.adaptive) return op_refuse(n, "mode max is only known with a sampling_ratio");
  Id picture = say_pictures(n, &x, &r);
  if (!picture) return false;
  ImpShape out = {4, {r.regions, x.dim[1], dim_of(r.out[0]), dim_of(r.out[1])}};
  if (!most) {
    Id row = say_mean(n, &r, 0, x.dim[2]), column = say_mean(n, &r, 1, x.dim[3]);
    op_give(n, 0,
            say(n, r.type, &out, (ImpForm){"i j k l", "$0 $1 $2", NULL},
                READS({picture, "i j m n"}, {row, "i k m"}, {column, "i l n"})));
    return true;
  }
  Id row = say_corners(n, &r, 0, x.dim[2]), column = say_corners(n, &r, 1, x.dim[3]);
  ImpShape each = {8,
                   {r.regions, x.dim[1], dim_of(r.out[0]), dim_of(r.out[1]), dim_of(r.points[0]),
                    dim_of(r.points[1]), dim_of(2), dim_of(2)}};
  Id all = say(n, r.type, &each, (ImpForm){"i j k l m n o p", "$0 $1 $2", NULL},
               READS({picture, "i j q r"}, {row, "i k m o q"}, {column, "i l n p r"}));
  op_give(n, 0,
          say(n, r.type, &out, (ImpForm){"i j k l", "max[m n o p]($0)", NULL},
              READS({all, "i j k l m n o p"})));
  return true;
}
