// Operators whose result size depends on values: Unique and NonMaxSuppression. Their inputs must be
// constant.
#include "port/import/own.h"

#include <math.h>
#include <stdlib.h>

// -- Unique ---------------------------------------------------------------------------------------
// A slice of the value at one index of the axis, flattened.
typedef struct {
  const double *at;
  int64_t width, index; // index: along the axis
} UniqueRow;

// A row of the result: the first slice with these values.
typedef struct {
  UniqueRow row;
  int64_t count, place;
} UniqueGroup;

static int row_compare(const UniqueRow *a, const UniqueRow *b) {
  for (int64_t i = 0; i < a->width; i++)
    if (a->at[i] != b->at[i]) return a->at[i] < b->at[i] ? -1 : 1;
  return 0;
}

static int row_order(const void *x, const void *y) {
  const UniqueRow *a = x, *b = y;
  int c = row_compare(a, b);
  return c ? c : (a->index > b->index) - (a->index < b->index);
}

static int group_order(const void *x, const void *y) {
  const UniqueGroup *a = x, *b = y;
  return (a->row.index > b->row.index) - (a->row.index < b->row.index);
}

// The slices along an axis, sorted. The value is [before size after].
static UniqueRow *sorted_rows(Importer *m, const double *data, int64_t before, int64_t size,
                              int64_t after) {
  int64_t width = before * after;
  double *copy = NEW_ARRAY(m->arena, double, size *width + 1);
  UniqueRow *row = NEW_ARRAY(m->arena, UniqueRow, size + 1);
  for (int64_t i = 0; i < size; i++) {
    double *to = copy + i * width;
    for (int64_t k = 0; k < before; k++)
      memcpy(to + k * after, data + (k * size + i) * after, sizeof *to * (size_t)after);
    row[i] = (UniqueRow){to, width, i};
  }
  qsort(row, (size_t)size, sizeof *row, row_order);
  return row;
}

static void set_row_result(ImpNode *n, uint32_t k, int64_t count, double *data) {
  if (k >= n->node->out.n || !*n->node->out.at[k]) return;
  op_set_result(n, k, value_const(n->m, ONNX_INT64, &(ImpShape){1, {dim_of(count)}}, data));
}

static void set_unique_results(ImpNode *n, const ImpShape *x, uint32_t axis,
                               const UniqueGroup *group, int64_t groups) {
  Importer *m = n->m;
  ImpShape out = *x;
  int64_t after = 1;
  for (uint32_t i = axis + 1; i < x->rank; i++) after *= x->dim[i].n;
  out.dim[axis] = dim_of(groups);
  double *data = NEW_ARRAY(m->arena, double, shape_count(&out) + 1),
         *first = NEW_ARRAY(m->arena, double, groups + 1),
         *count = NEW_ARRAY(m->arena, double, groups + 1);
  for (int64_t g = 0; g < groups; g++) {
    const UniqueRow *row = &group[g].row;
    for (int64_t k = 0; k < row->width; k++)
      data[(k / after * groups + g) * after + k % after] = row->at[k];
    first[g] = (double)row->index, count[g] = (double)group[g].count;
  }
  op_set_result(n, 0, value_const(m, op_value(n, 0)->type, &out, data));
  set_row_result(n, 1, groups, first);
  set_row_result(n, 3, groups, count);
}

bool op_unique(ImpNode *n) {
  Importer *m = n->m;
  uint32_t axis = 0;
  const OnnxAttribute *along = onnx_attribute(n->node, "axis");
  if (!op_known(n, 0)) return false;
  const double *data = op_value(n, 0)->data;
  ImpShape x = op_value(n, 0)->shape;
  int64_t all = shape_count(&x), before = 1;
  if (along && !op_axis(n, along->i, x.rank, &axis)) return false;
  if (!along) x = (ImpShape){1, {dim_of(all)}};
  for (int64_t i = 0; i < all; i++)
    if (isnan(data[i])) return op_refuse(n, "a number of its input is none, and equals nothing");
  for (uint32_t i = 0; i < axis; i++) before *= x.dim[i].n;
  int64_t size = x.dim[axis].n, groups = 0;
  if (all < 1) return op_refuse(n, "its input has no places: an axis has at least one");
  UniqueRow *row = sorted_rows(m, data, before, size, all / before / size);
  UniqueGroup *group = NEW_ARRAY(m->arena, UniqueGroup, size + 1);
  int64_t *of = NEW_ARRAY(m->arena, int64_t, size + 1);
  for (int64_t i = 0; i < size; i++) {
    if (!i || row_compare(&row[i - 1], &row[i]) != 0)
      group[groups] = (UniqueGroup){row[i], 0, groups}, groups++;
    group[groups - 1].count++;
    of[row[i].index] = groups - 1;
  }
  if (!attr_int(n, "sorted", 1)) qsort(group, (size_t)groups, sizeof *group, group_order);
  double *place = NEW_ARRAY(m->arena, double, groups + 1),
         *inverse = NEW_ARRAY(m->arena, double, size + 1);
  for (int64_t g = 0; g < groups; g++) place[group[g].place] = (double)g;
  for (int64_t i = 0; i < size; i++) inverse[i] = place[of[i]];
  set_unique_results(n, &x, axis, group, groups);
  set_row_result(n, 2, size, inverse);
  return true;
}

// -- optional coordinates -------------------------------------------------------------------------
bool op_hasoptional(ImpNode *n) {
  op_set_result(n, 0, value_number(n->m, ONNX_BOOL, op_in(n, 0) != 0));
  return true;
}

// -- NonMaxSuppression ----------------------------------------------------------------------------
typedef struct {
  double low[2], high[2], score;
  int64_t index;
} BoxChoice;

typedef struct {
  int64_t most;
  double overlap, least;
  bool centered;
  const double *boxes, *scores; // [samples places 4], [samples classes places]
  int64_t samples, classes, places;
} Suppression;

static int choice_order(const void *x, const void *y) {
  const BoxChoice *a = x, *b = y;
  if (a->score != b->score) return a->score > b->score ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static BoxChoice choice_of(const double *box, bool centered, double score, int64_t index) {
  BoxChoice c = {.score = score, .index = index};
  for (uint32_t i = 0; i < 2; i++) {
    double a = centered ? box[i] - box[2 + i] / 2 : box[i],
           b = centered ? box[i] + box[2 + i] / 2 : box[2 + i];
    c.low[i] = fmin(a, b), c.high[i] = fmax(a, b);
  }
  return c;
}

static double area(const BoxChoice *a) {
  return (a->high[0] - a->low[0]) * (a->high[1] - a->low[1]);
}

// Is the intersection over union larger than `part`?
static bool overlap(const BoxChoice *a, const BoxChoice *b, double part) {
  BoxChoice shared;
  for (uint32_t i = 0; i < 2; i++) {
    shared.low[i] = fmax(a->low[i], b->low[i]), shared.high[i] = fmin(a->high[i], b->high[i]);
    if (!(shared.high[i] > shared.low[i])) return false;
  }
  double both = area(&shared);
  return both / (area(a) + area(b) - both) > part;
}

// Suppresses boxes of one sample and class, best first; returns how many remain. `all` has room for
// all.
static int64_t suppress(const Suppression *s, int64_t sample, int64_t class, BoxChoice *all,
                        BoxChoice *kept) {
  const double *scores = s->scores + (sample * s->classes + class) * s->places;
  int64_t count = 0, stay = 0;
  for (int64_t i = 0; i < s->places; i++)
    if (scores[i] > s->least)
      all[count++] = choice_of(s->boxes + (sample * s->places + i) * 4, s->centered, scores[i], i);
  qsort(all, (size_t)count, sizeof *all, choice_order);
  for (int64_t i = 0; i < count && stay < s->most; i++) {
    bool free = true;
    for (int64_t k = 0; k < stay && free; k++) free = !overlap(&kept[k], &all[i], s->overlap);
    if (free) kept[stay++] = all[i];
  }
  return stay;
}

static bool suppression_read(ImpNode *n, Suppression *s) {
  double most = 0;
  *s = (Suppression){.least = -(double)INFINITY, .centered = attr_int(n, "center_point_box", 0)};
  for (uint32_t k = 0; k < 2; k++)
    if (!op_known(n, k)) return false;
  if ((op_in(n, 2) && !op_scalar(n, 2, &most)) || (op_in(n, 3) && !op_scalar(n, 3, &s->overlap)) ||
      (op_in(n, 4) && !op_scalar(n, 4, &s->least)))
    return false;
  ImpShape boxes = op_value(n, 0)->shape, scores = op_value(n, 1)->shape;
  if (boxes.rank != 3 || scores.rank != 3 || !dim_same(boxes.dim[0], scores.dim[0]) ||
      !dim_same(boxes.dim[1], scores.dim[2]) || !dim_is(boxes.dim[2], 4))
    return op_refuse(n, "its scores do not fit its boxes");
  s->most = most < 1 ? 0 : most > 0x1p40 ? INT64_MAX : (int64_t)most;
  s->samples = scores.dim[0].n, s->classes = scores.dim[1].n, s->places = scores.dim[2].n;
  s->boxes = op_value(n, 0)->data, s->scores = op_value(n, 1)->data;
  for (int64_t i = 0; i < shape_count(&scores); i++)
    if (s->scores[i] == s->least || isnan(s->scores[i]))
      return op_refuse(n, "a score is the threshold itself, and whether it stays is not settled");
  return true;
}

bool op_nonmaxsuppression(ImpNode *n) {
  Importer *m = n->m;
  Suppression s;
  if (!suppression_read(n, &s)) return false;
  double *data = NEW_ARRAY(m->arena, double, s.samples *s.classes *s.places * 3 + 1);
  BoxChoice *kept = NEW_ARRAY(m->arena, BoxChoice, s.places + 1),
            *all = NEW_ARRAY(m->arena, BoxChoice, s.places + 1);
  int64_t count = 0;
  for (int64_t i = 0; i < s.samples * s.classes; i++) {
    int64_t stay = suppress(&s, i / s.classes, i % s.classes, all, kept);
    for (int64_t k = 0; k < stay; k++, count++) {
      data[3 * count] = (double)(i / s.classes), data[3 * count + 1] = (double)(i % s.classes);
      data[3 * count + 2] = (double)kept[k].index;
    }
  }
  op_set_result(n, 0, value_const(m, ONNX_INT64, &(ImpShape){2, {dim_of(count), dim_of(3)}}, data));
  return true;
}
