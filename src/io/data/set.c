// Sets: opening by name or path, division into splits, reading rows.
//
// A maker (points.c, named_set_files.c, file_rows.c, …) provides columns and the division of rows;
// this file adds windows and conversion to bits. A row of a split is found in two steps: its
// position in the block that the split reads from, then its bytes.
//
// In a file without splits, each group of ten rows gives one row to validation and one to testing,
// chosen by a hash of seed and group. So the mapping of rows needs no table, neighbouring rows stay
// close, and sorted labels are divided evenly.
#include "base/hash.h"
#include "base/source.h"
#include "io/data/set_own.h"

#include <assert.h>

// -- construction ---------------------------------------------------------------------------------
void set_add(Set *s, const Field *f, const Column block[SPLITS]) {
  vec_push(s->arena, &s->field, *f);
  for (uint32_t b = 0; b < SPLITS; b++) vec_push(s->arena, &s->column[b], block[b]);
}

void set_add_one(Set *s, const Field *f, Column c) { set_add(s, f, (Column[]){c, c, c}); }

const char *const split_word[SPLITS] = {"train", "valid", "test"};

static bool cut_nothing(Set *s, int64_t rows) {
  if (s->options.whole) s->part[SPLIT_TRAIN] = (SetPart){.rows = rows};
  return s->options.whole;
}

// A window over all rows: a single sample, for training.
static bool cut_whole(Set *s, int64_t rows) {
  if (s->options.window >= 0 && s->options.window != rows) return false;
  s->part[SPLIT_TRAIN] = (SetPart){.rows = rows};
  s->window = rows;
  return true;
}

void set_cut_given(Set *s, int64_t train, int64_t valid, int64_t test) {
  if (cut_whole(s, train)) return;
  s->part[SPLIT_TRAIN] = (SetPart){.block = SPLIT_TRAIN, .rows = train};
  s->part[SPLIT_VALID] = (SetPart){.block = SPLIT_VALID, .rows = valid};
  s->part[SPLIT_TEST] = (SetPart){.block = SPLIT_TEST, .rows = test};
  if (valid || !s->options.valid) return;
  int64_t held = train / 12;
  s->part[SPLIT_TRAIN].rows = train - held;
  s->part[SPLIT_VALID] = (SetPart){.block = SPLIT_TRAIN, .first = train - held, .rows = held};
}

void set_cut_shares(Set *s, int64_t rows, double train, double valid) {
  if (cut_whole(s, rows) || cut_nothing(s, rows)) return;
  int64_t a = (int64_t)((double)rows * train), b = (int64_t)((double)rows * (train + valid));
  s->part[SPLIT_TRAIN] = (SetPart){.rows = a};
  s->part[SPLIT_VALID] = (SetPart){.first = a, .rows = b - a};
  s->part[SPLIT_TEST] = (SetPart){.first = b, .rows = rows - b};
}

void set_cut_hash(Set *s, int64_t rows, uint32_t of, bool valid) {
  if (s->window > 1 || s->options.window < 0) {
    double held = 1.0 / of;
    set_cut_shares(s, rows, 1 - held - (valid ? held : 0), valid ? held : 0);
    return;
  }
  if (cut_nothing(s, rows)) return;
  int64_t groups = rows / of;
  uint32_t take = of - 1 - valid;
  s->part[SPLIT_TRAIN] = (SetPart){.rows = rows - groups * (of - take), .of = of, .take = take};
  s->part[SPLIT_VALID] = (SetPart){.rows = valid ? groups : 0, .of = of, .take = 1};
  s->part[SPLIT_TEST] = (SetPart){.rows = groups, .of = of, .take = 1};
}

// Maps a row of a split to its position in the block: in each group one row is for testing, perhaps
// one for validation; the others keep their order.
static int64_t hash_place(const Set *s, Split split, int64_t row) {
  const SetPart *p = &s->part[split], *train = &s->part[SPLIT_TRAIN];
  int64_t group = row / p->take, k = row % p->take;
  bool valid = train->take + 2 == p->of;
  uint64_t h = mix_bits(mix_bits(s->options.seed) + (uint64_t)group);
  int64_t test = (int64_t)((h >> 32) * p->of >> 32);
  int64_t held = valid ? (int64_t)((h & 0xffffffffu) * (p->of - 1) >> 32) : p->of;
  if (held >= test && valid) held++;
  if (split == SPLIT_TEST) return group * p->of + test;
  if (split == SPLIT_VALID) return group * p->of + held;
  int64_t groups = s->part[SPLIT_TEST].rows;
  // Rows after the last complete group.
  if (group >= groups) return row + groups * (p->of - p->take);
  int64_t low = test < held ? test : held, high = test < held ? held : test;
  k += k >= low;
  k += k >= high;
  return group * p->of + k;
}

int64_t set_place(const Set *s, Split split, int64_t row) {
  return s->part[split].of ? hash_place(s, split, row) : s->part[split].first + row;
}

int64_t *set_order(Set *s, int64_t rows) {
  int64_t *order = NEW_ARRAY(s->arena, int64_t, rows), n = 0;
  for (Split split = 0; split < SPLITS; split++) {
    int64_t first = n;
    if (s->part[split].block) continue;
    for (int64_t r = 0; r < s->part[split].rows; r++) order[n++] = set_place(s, split, r);
    s->part[split].first = first;
  }
  for (Split split = 0; split < SPLITS; split++) s->part[split].of = 0;
  assert(n == rows);
  s->order = order;
  return order;
}

// -- opening --------------------------------------------------------------------------------------
static bool add_window_axis(Set *s, const char **why) {
  int64_t there = s->part[SPLIT_TRAIN].rows;
  if (there < s->window)
    return file_error(s->arena, why, "%s: a sample is %lld rows, but only %lld are for training",
                      s->name, (long long)s->window, (long long)there);
  for (uint32_t i = 0; i < s->field.n && s->options.window; i++) {
    Field *f = &s->field.at[i];
    if (f->rank == FIELD_RANK_LIMIT)
      return file_error(s->arena, why, "%s: `%s` has too many axes for a window", s->name, f->name);
    memmove(f->shape + 1, f->shape, f->rank++ * sizeof *f->shape);
    f->shape[0] = s->window;
  }
  return true;
}

static void describe_splits(Set *s) {
  static const char *const word[] = {"to train", "to validate", "to test"};
  Buf b = buf_new(s->arena);
  buf_printf(&b, "%s: %s", s->name, s->summary);
  const char *sign = "; ";
  for (Split split = 0; split < SPLITS; split++) {
    if (!s->part[split].rows) continue;
    buf_printf(&b, "%s%lld %s", sign, (long long)s->part[split].rows, word[split]);
    sign = ", ";
  }
  if (s->window > 1) buf_printf(&b, "; a sample is %lld rows", (long long)s->window);
  s->summary = b.at;
}

static bool open_path(Set *s, const char *name, const char **why) {
  const char *path = data_file(s->arena, s->options.beside, name);
  const char *no = rights_refuse(s->arena, s->options.rights, path);
  return no ? file_error(s->arena, why, "cannot read %s: %s", path, no) : open_file(s, path, why);
}

static bool open_any(Set *s, const char *name, const char **why) {
  const SetOptions *o = &s->options;
  bool good = !o->file && set_is_known(name) ? open_known(s, why) : open_path(s, name, why);
  if (!good) return false;
  if (o->pieces && (s->field.n != 1 || strcmp(s->field.at[0].name, "text") != 0))
    return file_error(s->arena, why, "%s is no text: only texts have pieces", s->name);
  if (!set_match_words(s, why)) return false;
  if (o->bits && !set_to_bits(s, why)) return false;
  if (o->episodes.way && !set_to_episodes(s, why)) return false;
  describe_splits(s);
  return add_window_axis(s, why);
}

Set *set_open(Arena *a, const char *name, const SetOptions *o, const char **why) {
  Arena *own = arena_child(a);
  Set *s = NEW(own, Set);
  *s = (Set){.arena = own, .options = *o, .summary = ""};
  s->name = arena_format(own, "%s", name);
  s->window = o->window > 1 ? o->window : 1;
  if (open_any(s, name, why)) return s;
  *why = arena_format(a, "%s", *why);
  arena_free(own);
  return NULL;
}

void set_close(Set *s) {
  if (s) arena_free(s->arena);
}

// -- queries --------------------------------------------------------------------------------------
uint32_t set_fields(const Set *s) { return s->field.n; }
const Field *set_field(const Set *s, uint32_t k) { return &s->field.at[k]; }
const char *set_summary(const Set *s) { return s->summary; }
bool set_is_whole(const Set *s, Split split, uint32_t field) {
  return !s->lazy.read && !s->tasks && !s->column[s->part[split].block].at[field].drawn;
}
bool set_is_table(const Set *s) { return s->table; }
int64_t set_stride(const Set *s) { return s->window; }

static uint64_t column_sum(const Set *s, Split split, uint32_t field, uint64_t sum) {
  const SetPart *p = &s->part[split];
  const Column *c = &s->column[p->block].at[field];
  size_t bytes = (size_t)c->count * element_info[c->kind].bytes;
  if (c->drawn || (s->lazy.read && field == s->lazy_field) || !p->rows) return sum;
  if (!p->of && c->step == (int64_t)bytes)
    return hash_sum(sum, c->at + p->first * c->step, (size_t)p->rows * bytes);
  for (int64_t r = 0; r < p->rows; r++)
    sum = hash_sum(sum, c->at + set_place(s, split, r) * c->step, bytes);
  return sum;
}

uint64_t set_sum(const Set *s, uint32_t fields) {
  const Set *of = s->tasks ? episodes_base(s) : s;
  uint64_t sum = HASH_START ^ of->lazy.sum;
  for (uint32_t k = 0; k < (s->tasks ? of->field.n : fields); k++)
    for (Split split = 0; split < SPLITS; split++) sum = column_sum(of, split, k, sum);
  return sum;
}

int64_t set_rows(const Set *s, Split split) {
  int64_t rows = s->part[split].rows - s->window + 1;
  return rows > 0 ? rows : 0;
}

static uint32_t find_field(const Set *s, const char *name, size_t n) {
  for (uint32_t i = 0; i < s->field.n; i++)
    if (strlen(s->field.at[i].name) == n && memcmp(s->field.at[i].name, name, n) == 0) return i;
  return FIELD_NONE;
}

// Adds a range of columns as one field. The columns of a table are interleaved in memory, so a
// range of columns is a column too.
static uint32_t add_column_range(Set *s, const char *name, uint32_t from, uint32_t to) {
  Column run[SPLITS];
  Field f = s->field.at[from];
  if (!s->table || f.kind == FIELD_LABEL || f.rank == FIELD_RANK_LIMIT) return FIELD_NONE;
  for (uint32_t b = 0; b < SPLITS; b++) {
    const Column *first = &s->column[b].at[from], *last = &s->column[b].at[to];
    ptrdiff_t apart = last->at - first->at;
    run[b] = *first;
    if (first->step != last->step || first->kind != last->kind) return FIELD_NONE;
    if (apart < 0 || apart >= first->step || first->count != 1) return FIELD_NONE;
    run[b].count = apart / (ptrdiff_t)element_info[first->kind].bytes + 1;
  }
  f.name = arena_format(s->arena, "%s", name);
  f.shape[f.rank++] = run[0].count;
  int64_t rows = 0;
  for (Split split = 0; split < SPLITS; split++) rows += s->part[split].rows;
  f.peak = NULL; // rows of the file are in another order here
  if (f.kind == FIELD_REAL) f.labels = column_largest(&run[0], rows, &(int64_t){0}) + 1;
  set_add(s, &f, run);
  return s->field.n - 1;
}

uint32_t set_find(Set *s, const char *name) {
  uint32_t k = find_field(s, name, strlen(name));
  if (k != FIELD_NONE) return k;
  if (strcmp(name, "index") == 0) return FIELD_INDEX;
  const char *dots = strstr(name, "..");
  uint32_t from = dots ? find_field(s, name, (size_t)(dots - name)) : FIELD_NONE;
  uint32_t to = dots ? find_field(s, dots + 2, strlen(dots + 2)) : FIELD_NONE;
  return from == FIELD_NONE || to == FIELD_NONE ? FIELD_NONE : add_column_range(s, name, from, to);
}

// Adds a field of given columns, copied next to each other.
static uint32_t add_gathered(Set *s, const char *name, const uint32_t *from, uint32_t n) {
  int64_t rows = 0;
  for (Split split = 0; split < SPLITS; split++) rows += s->part[split].rows;
  double *to = NEW_ARRAY(s->arena, double, rows *n + 1);
  for (int64_t r = 0; r < rows; r++)
    for (uint32_t k = 0; k < n; k++)
      column_read(&s->column[0].at[from[k]], &r, 1, 1, NUMBER_F64, &to[r * n + k]);
  Column c = column_new(to, n, EL_F64);
  Field f = s->field.at[from[0]];
  f.name = name;
  f.shape[f.rank++] = n;
  f.peak = NULL;
  f.labels = column_largest(&c, rows, &(int64_t){0}) + 1;
  set_add_one(s, &f, c);
  return s->field.n - 1;
}

uint32_t set_find_as(Set *s, const Set *like, const char *name) {
  const char *dots = strstr(name, "..");
  uint32_t from = dots ? find_field(like, name, (size_t)(dots - name)) : FIELD_NONE;
  uint32_t to = dots ? find_field(like, dots + 2, strlen(dots + 2)) : FIELD_NONE, n = 0;
  if (from == FIELD_NONE || to == FIELD_NONE) return set_find(s, name);
  const char *own = arena_format(s->arena, "%s of %s", name, like->name);
  uint32_t k = find_field(s, own, strlen(own)), *column = NEW_ARRAY(s->arena, uint32_t, to + 2);
  if (k != FIELD_NONE) return k;
  for (uint32_t i = from; i <= to; i++) {
    if (like->field.at[i].kind != FIELD_REAL) continue;
    column[n] = find_field(s, like->field.at[i].name, strlen(like->field.at[i].name));
    if (column[n] == FIELD_NONE || s->field.at[column[n]].kind != FIELD_REAL) return FIELD_NONE;
    n++;
  }
  bool room = s->table && n && s->field.at[column[0]].rank < FIELD_RANK_LIMIT;
  return room ? add_gathered(s, own, column, n) : FIELD_NONE;
}

// -- reading --------------------------------------------------------------------------------------
enum { CHUNK = 64 };

static bool can_be(const Field *f, Number number) {
  if (number == NUMBER_F32 || number == NUMBER_F64 || f->kind == FIELD_BIT) return true;
  return f->labels > 0 && (number == NUMBER_I32 || f->labels <= 256);
}

static void read_index(const int64_t *row, int64_t n, Number number, void *out) {
  Column c = {.at = (const uint8_t *)row, .step = 8, .count = 1, .kind = EL_I64};
  for (int64_t i = 0; i < n; i++)
    column_read(&c, &i, 1, 1, number, (uint8_t *)out + (size_t)i * number_bytes(number));
}

// Reads a window of rows at each position place[i] of a block; in one call if rows are contiguous.
static bool read_places(Set *s, uint32_t block, SetRows of, Number number, void *out,
                        const char **why) {
  const Column *c = &s->column[block].at[of.field];
  const int64_t *place = of.row, n = of.n;
  bool lazy_field = s->lazy.read && of.field == s->lazy_field;
  if (c->drawn) column_draw(s, c, place, n);
  if (!lazy_field && (s->window == 1 || c->step == c->count * element_info[c->kind].bytes)) {
    column_read(c, place, n, c->count * s->window, number, out);
    return true;
  }
  size_t bytes = (size_t)c->count * number_bytes(number);
  uint8_t *to = out;
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = place[i]; k < place[i] + s->window; k++, to += bytes) {
      if (!lazy_field)
        column_read(c, &k, 1, c->count, number, to);
      else if (!s->lazy.read(s, block, k, number, to, why))
        return false;
    }
  return true;
}

bool set_read(Set *s, SetRows of, Number number, void *out, const char **why) {
  const SetPart *p = &s->part[of.split];
  const int64_t *row = of.row, n = of.n;
  int64_t rows = set_rows(s, of.split);
  for (int64_t i = 0; i < n; i++)
    if ((uint64_t)row[i] >= (uint64_t)rows) return *why = "a row is not there", false;
  if (of.field == FIELD_INDEX) return read_index(row, n, number, out), true;
  if (!can_be(&s->field.at[of.field], number)) return *why = "a field is not whole numbers", false;
  if (s->tasks) return episode_read(s, of, number, out, why);
  if (!p->of && !p->first) return read_places(s, p->block, of, number, out, why);
  size_t bytes =
      (size_t)(s->column[p->block].at[of.field].count * s->window) * number_bytes(number);
  for (int64_t at = 0; at < n; at += CHUNK) {
    int64_t place[CHUNK], m = n - at < CHUNK ? n - at : CHUNK;
    for (int64_t i = 0; i < m; i++) place[i] = set_place(s, of.split, row[at + i]);
    SetRows some = {of.split, of.field, place, m};
    if (!read_places(s, p->block, some, number, (uint8_t *)out + (size_t)at * bytes, why))
      return false;
  }
  return true;
}

bool set_read_from(Set *s, int64_t first, SetRows of, Number number, void *out, const char **why) {
  int64_t count = of.field == FIELD_INDEX ? 1 : field_count(set_field(s, of.field)), row[CHUNK];
  size_t bytes = (size_t)count * number_bytes(number);
  for (int64_t at = 0; at < of.n; at += CHUNK) {
    int64_t m = of.n - at < CHUNK ? of.n - at : CHUNK;
    for (int64_t i = 0; i < m; i++) row[i] = first + at + i;
    SetRows some = {of.split, of.field, row, m};
    if (!set_read(s, some, number, (uint8_t *)out + (size_t)at * bytes, why)) return false;
  }
  return true;
}
