// Detects columns that lose information in single precision: whether rounding to float loses
// differences between values, in which row first, and by how much.
//
// Rounding 0.1 changes it by less than a part in 10⁷, and is not reported. Reported are:
//
//   a number that becomes infinite
//   in a column of integers, one that becomes another integer (above 2²⁴, such as an identifier)
//   differences between consecutive rows, if they change by 10 % on average
//   a change of more than 1e-4 of the range of the column
//   a constant column that is not 0 and becomes 0
//
// Otherwise values keep seven digits, and most differences one.
#include "base/number.h"
#include "io/data/set_own.h"

#include <float.h>
#include <math.h>

static const double differences_may_change = 0.1, spread_may_change = 1e-4;

// Statistics of one number of the rows, over all rows.
typedef struct {
  double before, low, high; // before: value in the previous row
  double most;              // largest change
  double moved, moves;      // sums over rows: changes of differences, differences
  bool fraction, whole_changes, infinite, any;
} NumberStats;

// The value in a kernel: subnormal floats are flushed to 0.
static double rounded_to_float(double x) {
  double y = (double)(float)x;
  return fabs(y) < (double)FLT_MIN ? 0 : y;
}

static bool whole_and_exact(double x) { return x == floor(x) && fabs(x) <= 0x1p53; }

static void stats_add(NumberStats *l, double x) {
  double is = rounded_to_float(x), change = fabs(is - x);
  if (l->any) {
    l->moves += fabs(x - l->before);
    l->moved += fabs((is - rounded_to_float(l->before)) - (x - l->before));
  }
  l->low = l->any && l->low < x ? l->low : x;
  l->high = l->any && l->high > x ? l->high : x;
  l->infinite |= isinf(is);
  l->fraction |= !whole_and_exact(x);
  l->whole_changes |= change > 0;
  if (change > l->most) l->most = change;
  l->before = x;
  l->any = true;
}

static bool is_lossy(const NumberStats *l) {
  if (!(l->most > 0)) return false;
  if (l->infinite || (!l->fraction && l->whole_changes)) return true;
  if (l->low == l->high) return rounded_to_float(l->low) == 0;
  return l->moved > differences_may_change * l->moves ||
         l->most > spread_may_change * (l->high - l->low);
}

// True for kinds whose values are all floats.
static bool is_exact(const Column *c) {
  switch (c->kind) {
  case EL_F64:
  case EL_I64:
  case EL_U64:
  case EL_I32:
  case EL_U32: return c->label_of != NULL;
  default: return true;
  }
}

// Finds the first row of the file in which the number changes.
static void find_row(Set *s, uint32_t field, uint32_t k, Split split, PrecisionLoss *out) {
  const SetPart *p = &s->part[split];
  const Column *c = &s->column[p->block].at[field];
  Column one = *c;
  one.at += k * element_info[c->kind].bytes;
  for (int64_t r = 0; r < p->rows; r++) {
    int64_t place = set_place(s, split, r), row = s->order ? s->order[place] : place;
    double x;
    column_read(&one, &place, 1, 1, NUMBER_F64, &x);
    if (rounded_to_float(x) == x || (out->row >= 0 && row > out->row)) continue;
    out->row = row, out->was = x, out->is = rounded_to_float(x);
  }
}

static void stats_of_split(Set *s, uint32_t field, Split split, NumberStats *look, double *cell) {
  const SetPart *p = &s->part[split];
  const Column *c = &s->column[p->block].at[field];
  for (int64_t r = 0; r < p->rows; r++) {
    int64_t place = set_place(s, split, r);
    column_read(c, &place, 1, c->count, NUMBER_F64, cell);
    for (int64_t k = 0; k < c->count; k++) stats_add(&look[k], cell[k]);
  }
}

// The name of the column of a range that holds number k.
static const char *column_of_number(const Set *s, uint32_t field, int64_t k) {
  const Column *c = &s->column[0].at[field];
  const uint8_t *at = c->at + k * element_info[c->kind].bytes;
  for (uint32_t i = 0; s->table && i < s->field.n; i++)
    if (s->column[0].at[i].at == at && s->column[0].at[i].count == 1) return s->field.at[i].name;
  return s->field.at[field].name;
}

bool set_precision_loss(Set *s, uint32_t field, PrecisionLoss *out) {
  if (field == FIELD_INDEX) return false;
  if (s->tasks) return episodes_precision_loss(s, field, out);
  const Column *c = &s->column[s->part[SPLIT_TRAIN].block].at[field];
  if (is_exact(c) || c->drawn || (s->lazy.read && field == s->lazy_field)) return false;
  Arena *scratch = arena_child(s->arena);
  NumberStats *look = NEW_ARRAY(scratch, NumberStats, c->count + 1);
  double *cell = NEW_ARRAY(scratch, double, c->count + 1);
  int64_t worst = -1;
  for (Split split = 0; split < SPLITS; split++) stats_of_split(s, field, split, look, cell);
  for (int64_t k = c->count; k-- > 0;)
    if (is_lossy(&look[k])) worst = k;
  *out = (PrecisionLoss){.row = -1};
  if (worst >= 0) {
    out->column = column_of_number(s, field, worst);
    out->most = look[worst].most;
    // Splits in other blocks have rows of other arrays.
    for (Split split = 0; split < SPLITS; split++)
      if (out->row < 0 || !s->part[split].block) find_row(s, field, (uint32_t)worst, split, out);
  }
  arena_free(scratch);
  return worst >= 0;
}

bool numbers_precision_loss(Arena *a, const double *x, int64_t rows, int64_t each,
                            PrecisionLoss *out) {
  Set s = {.arena = a, .part = {{.rows = rows}}};
  Column c = column_new(x, each, EL_F64);
  set_add_one(&s, &(Field){.name = ""}, c);
  return set_precision_loss(&s, 0, out);
}

const char *precision_loss_text(Arena *a, const PrecisionLoss *r) {
  char was[NUMBER_ROOM], is[NUMBER_ROOM], most[NUMBER_ROOM];
  int nwas = (int)number_print(was, r->was), nis = (int)number_print(is, r->is);
  int nmost = (int)number_format(most, sizeof most, "", 3, 'g', r->most);
  return arena_format(a,
                      "rounded to 32 bits: in row %lld, counted from 0, %.*s becomes %.*s; the "
                      "largest change is %.*s",
                      (long long)r->row, nwas, was, nis, is, nmost, most);
}
