// Converts a set to bits: a number becomes "above the middle of its range among the rows for
// training", a label becomes one-hot. The bits of all splits are computed when the set is opened.
#include "io/data/set_own.h"

#include <math.h>

enum { BITS_LIMIT = 1 << 30 }; // limit in bytes for all converted fields

typedef struct {
  Set *set;
  uint32_t field;
  int64_t count; // numbers per row
  double *low, *high, *row;
} Bits;

static bool read_row(Bits *b, Split split, int64_t r, const char **why) {
  return set_read(b->set, (SetRows){split, b->field, &r, 1}, NUMBER_F64, b->row, why);
}

static bool find_range(Bits *b, const char **why) {
  for (int64_t k = 0; k < b->count; k++) b->low[k] = INFINITY, b->high[k] = -INFINITY;
  for (int64_t r = 0; r < b->set->part[SPLIT_TRAIN].rows; r++) {
    if (!read_row(b, SPLIT_TRAIN, r, why)) return false;
    for (int64_t k = 0; k < b->count; k++) {
      b->low[k] = fmin(b->low[k], b->row[k]);
      b->high[k] = fmax(b->high[k], b->row[k]);
    }
  }
  return true;
}

static void store_bits(const Bits *b, const Field *f, uint8_t *to) {
  for (int64_t k = 0; k < b->count; k++) {
    if (f->kind == FIELD_LABEL)
      to[k * f->labels + (int64_t)b->row[k]] = 1;
    else
      to[k] = f->kind == FIELD_BIT ? b->row[k] != 0 : b->row[k] > (b->low[k] + b->high[k]) / 2;
  }
}

static int64_t bits_of(const Field *f) {
  return field_count(f) * (f->kind == FIELD_LABEL ? f->labels : 1);
}

// Converts one field, into given memory.
static bool field_to_bits(Set *s, uint32_t field, const Column out[SPLITS],
                          uint8_t *const at[SPLITS], const char **why) {
  const Field *f = &s->field.at[field];
  Bits b = {.set = s, .field = field, .count = field_count(f)};
  double *room = NEW_ARRAY(s->arena, double, 3 * b.count);
  b.low = room, b.high = room + b.count, b.row = room + 2 * b.count;
  if (f->kind == FIELD_REAL && !find_range(&b, why)) return false;
  for (Split split = 0; split < SPLITS; split++)
    for (int64_t r = 0; r < s->part[split].rows; r++) {
      if (!read_row(&b, split, r, why)) return false;
      store_bits(&b, f, at[split] + r * out[split].step);
    }
  return true;
}

static Field bit_field(const Field *f) {
  Field g = *f;
  if (f->kind == FIELD_LABEL) g.shape[g.rank++] = f->labels;
  g.kind = FIELD_BIT;
  g.labels = 0;
  g.label = NULL;
  return g;
}

// Converts one field into the memory at at[split], and advances at[split].
static bool convert_field(Set *s, uint32_t i, int64_t wide, uint8_t *at[SPLITS], const char **why) {
  Column column[SPLITS];
  int64_t own = bits_of(&s->field.at[i]);
  for (Split split = 0; split < SPLITS; split++) {
    column[split] = column_new(at[split], own, EL_U8);
    column[split].step = wide;
  }
  if (!field_to_bits(s, i, column, at, why)) return false;
  s->field.at[i] = bit_field(&s->field.at[i]);
  for (Split split = 0; split < SPLITS; split++) {
    s->column[split].at[i] = column[split];
    at[split] += own;
  }
  return true;
}

// The fields of a row are stored side by side, labels last, so that neighbouring columns of a table
// stay neighbours.
bool set_to_bits(Set *s, const char **why) {
  int64_t window = s->window, wide = 0, rows = 0;
  uint8_t *at[SPLITS];
  for (Split split = 0; split < SPLITS; split++) rows += s->part[split].rows;
  for (uint32_t i = 0; i < s->field.n; i++) {
    const Field *f = &s->field.at[i];
    if (bits_of(f) > BITS_LIMIT / rows - wide || f->rank == FIELD_RANK_LIMIT)
      return file_error(s->arena, why, "%s: `%s` is too large to be made bits", s->name, f->name);
    wide += bits_of(f);
  }
  for (Split split = 0; split < SPLITS; split++)
    at[split] = arena_alloc(s->arena, (size_t)(wide * s->part[split].rows));
  s->window = 1; // windows are applied to the bits
  uint32_t n = s->field.n;
  bool *label = NEW_ARRAY(s->arena, bool, n);
  for (uint32_t i = 0; i < n; i++) label[i] = s->field.at[i].kind == FIELD_LABEL;
  for (uint32_t i = 0; i < 2 * n; i++)
    if (label[i % n] == (i >= n) && !convert_field(s, i % n, wide, at, why)) return false;
  for (Split split = 0; split < SPLITS; split++)
    s->part[split] = (SetPart){.block = split, .rows = s->part[split].rows};
  s->lazy = (Lazy){0};
  s->window = window;
  return true;
}
