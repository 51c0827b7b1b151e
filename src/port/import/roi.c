// RoiAlign: interpolates each region of an image on a grid. Along an axis that is a matrix per
// region, so an average is a matrix product; a maximum is taken over the weighted four neighbours
// of each point, as other implementations do.
#include "port/import/own.h"

#include <math.h>

enum { ROI_POINTS_LIMIT = 4096 };

typedef struct {
  int64_t out[2], points[2]; // per axis: bins, and sampling points per bin
  bool shifted, adaptive;    // by half a pixel; points per bin depend on the region's size
  float scale;
} Regions;

// -- along an axis --------------------------------------------------------------------------------
// The start of each region along an axis, or the size of a bin: columns 1 - axis and 3 - axis of
// rois.
static Id add_region_start(ImpNode *n, const Regions *r, uint32_t axis) {
  return equation(n, n->in, "[i] = $1[i %u] * %s%s", 1 - axis, short_term(n->m, r->scale),
                  r->shifted ? " - 0.5" : "");
}

static Id add_bin_size(ImpNode *n, const Regions *r, uint32_t axis) {
  const char *scale = short_term(n->m, r->scale);
  const char *size =
      arena_format(n->m->arena, "($1[i %u] - $1[i %u]) * %s", 3 - axis, 1 - axis, scale);
  return equation(n, n->in, r->shifted ? "[i] = %s / %lld" : "[i] = max(%s, 1) / %lld", size,
                  (long long)r->out[axis]);
}

// The number of points per bin; bin: how its size is read.
static const char *points_text(Importer *m, const Regions *r, uint32_t axis, const char *bin) {
  return r->adaptive ? arena_format(m->arena, "max(0 - floor(0 - %s), 1)", bin)
                     : arena_format(m->arena, "%lld", (long long)r->points[axis]);
}

// The sampling points of each bin, [regions bins points].
static Id add_sampling_points(ImpNode *n, const Regions *r, uint32_t axis, Id bin) {
  return equation(n, IN(add_region_start(n, r, axis), bin),
                  "[i j:%lld k:%lld] = $0[i] + (j + (k + 0.5) / %s) * $1[i]",
                  (long long)r->out[axis], (long long)r->points[axis],
                  points_text(n->m, r, axis, "$1[i]"));
}

// The weight of each position for a bin, [regions bins positions].
static Id add_bin_weights(ImpNode *n, const Regions *r, uint32_t axis, ImpSize size) {
  Importer *m = n->m;
  Id bin = add_bin_size(n, r, axis), points = add_sampling_points(n, r, axis, bin);
  const char *s = dim_inside(m, size);
  return equation(n, IN(points, bin),
                  "[i j k:%s] = sum[i1]((max(1 - abs(k - min(max($0[i j i1], 0), %s - 1)), 0) "
                  "when ($0[i j i1] >= 0 - 1) and ($0[i j i1] <= %s)%s else 0)) / %s",
                  dim_text(m, size), s, s, r->adaptive ? " and (i1 < 0 - floor(0 - $1[i]))" : "",
                  points_text(m, r, axis, "$1[i]"));
}

// The same per point and for both of its neighbours, [regions bins points 2 positions].
static Id add_corner_weights(ImpNode *n, const Regions *r, uint32_t axis, ImpSize size) {
  const char *s = dim_inside(n->m, size);
  Id points = add_sampling_points(n, r, axis, add_bin_size(n, r, axis));
  Id at = equation(n, IN(points), "[*] = min(max($0, 0), %s - 1)", s);
  return equation(n, IN(points, at),
                  "[i j k l:2 m:%s] = (1 - $1[i j k] + floor($1[i j k]) when (l = 0) else "
                  "$1[i j k] - floor($1[i j k])) when ($0[i j k] >= 0 - 1) and ($0[i j k] <= %s) "
                  "and (m = min(floor($1[i j k]) + l, %s - 1)) else 0",
                  dim_text(n->m, size), s, s);
}

// -- the node -------------------------------------------------------------------------------------
// The number of points that the largest region needs.
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

// The image of each region: gathered by labels, or compared.
static Id add_region_images(ImpNode *n, const ImpShape *x) {
  Id p = label_index(n, n->in[2], x->dim[0], true);
  if (p) return equation(n, IN(n->in[0], p), "[i j k l] = $0[$1[i] j k l]");
  return equation(n, n->in, "[i j k l] = sum[m](($0[m j k l] when (m = $2[i]) else 0))");
}

bool op_roialign(ImpNode *n) {
  bool most = !strcmp(attr_text(n, "mode", "avg"), "max");
  ImpShape x = op_value(n, 0)->shape, rois = op_value(n, 1)->shape;
  Regions r = {0};
  if (x.rank != 4 || rois.rank != 2 || !dim_is(rois.dim[1], 4) || op_value(n, 2)->shape.rank != 1)
    return op_refuse(n,
                     "it wants pictures, regions of four numbers, and a picture for each region");
  if (!roi_read(n, &r)) return false;
  if (most && r.adaptive) return op_refuse(n, "mode max is only known with a sampling_ratio");
  Id picture = add_region_images(n, &x);
  if (!most)
    return op_set_result(n, 0,
                         equation(n,
                                  IN(picture, add_bin_weights(n, &r, 0, x.dim[2]),
                                     add_bin_weights(n, &r, 1, x.dim[3])),
                                  "[i j k l] = $0[i j m n] $1[i k m] $2[i l n]"));
  Id row = add_corner_weights(n, &r, 0, x.dim[2]), column = add_corner_weights(n, &r, 1, x.dim[3]);
  Id all = equation(n, IN(picture, row, column),
                    "[i j k l m n o p] = $0[i j q r] $1[i k m o q] $2[i l n p r]");
  return op_set_result(n, 0, equation(n, IN(all), "[i j k l] = max[m n o p]($0[i j k l m n o p])"));
}
