// A set as bits: each number says whether it is above the middle between the smallest and the
// largest of its kind among the rows for training; a label is one-hot. The bits of every split are
// in memory.
#include "data/set.h"

#include <math.h>

enum { BITS_LIMIT = 1 << 30 }; // bytes, for all that is made here

typedef struct {
  Set *set;
  uint32_t field;
  int64_t count; // numbers of a row
  double *low, *high, *row;
} Bits;

static bool read_row(Bits *b, Split split, int64_t r, const char **why) {
  return set_read(b->set, split, b->field, &r, 1, NUMBER_F64, b->row, why);
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

static void put_row(const Bits *b, const Field *f, uint8_t *to) {
  for (int64_t k = 0; k < b->count; k++) {
    if (f->kind == FIELD_LABEL)
      to[k * f->labels + (int64_t)b->row[k]] = 1;
    else
      to[k] = f->kind == FIELD_BIT ? b->row[k] != 0 : b->row[k] > (b->low[k] + b->high[k]) / 2;
  }
}

static bool field_to_bits(Set *s, uint32_t field, Column out[SPLITS], Field *f, const char **why) {
  Bits b = {.set = s, .field = field, .count = field_count(f)};
  double *room = NEW_ARRAY(s->arena, double, 3 * b.count);
  b.low = room, b.high = room + b.count, b.row = room + 2 * b.count;
  int64_t wide = b.count * (f->kind == FIELD_LABEL ? f->labels : 1), rows = 0;
  for (Split split = 0; split < SPLITS; split++) rows += s->part[split].rows;
  if (wide > BITS_LIMIT / (rows ? rows : 1) || f->rank == FIELD_RANK_LIMIT)
    return file_error(s->arena, why, "%s: `%s` is too large to be made bits", s->name, f->name);
  if (f->kind == FIELD_REAL && !find_range(&b, why)) return false;
  for (Split split = 0; split < SPLITS; split++) {
    uint8_t *to = arena_alloc(s->arena, (size_t)(wide * s->part[split].rows));
    out[split] = column_new(to, wide, EL_U8);
    for (int64_t r = 0; r < s->part[split].rows; r++, to += wide) {
      if (!read_row(&b, split, r, why)) return false;
      put_row(&b, f, to);
    }
  }
  if (f->kind == FIELD_LABEL) f->shape[f->rank++] = f->labels;
  f->kind = FIELD_BIT;
  f->labels = 0;
  f->label = NULL;
  return true;
}

bool set_to_bits(Set *s, const char **why) {
  int64_t window = s->window;
  s->window = 1; // windows are put over the bits
  for (uint32_t i = 0; i < s->field.n; i++) {
    Column made[SPLITS];
    Field f = s->field.at[i];
    if (!field_to_bits(s, i, made, &f, why)) return false;
    s->field.at[i] = f;
    for (uint32_t b = 0; b < SPLITS; b++) s->column[b].at[i] = made[b];
  }
  for (Split split = 0; split < SPLITS; split++)
    s->part[split] = (Part){.block = split, .rows = s->part[split].rows};
  s->lazy = (Lazy){0};
  s->window = window;
  return true;
}
