// Few-shot episodes of a labelled set. Episode k of a split is a function of seed, split and k:
// some classes, and of each class some samples as the support set and others as queries. Labels are
// renumbered in each episode: the first class is 0.
//
// The underlying set stays as it is; an episode is read by reading its samples.
#include "io/data/set_own.h"

typedef struct {
  int64_t *row;            // rows of the split, grouped by class
  int64_t *first;          // [class] offset of its rows; [classes] the end
  int64_t *full, how_many; // classes with enough samples
} Classes;

struct Tasks {
  Set *base;
  Episodes e;
  uint32_t sample, label; // fields of the underlying set
  Classes of[SPLITS];
};

// -- fields ---------------------------------------------------------------------------------------
static bool find_parts(const Field *f, uint32_t n, uint32_t *sample, uint32_t *label) {
  *sample = *label = n;
  for (uint32_t i = n; i-- > 0;) {
    if (f[i].kind == FIELD_LABEL && !f[i].rank)
      *label = i;
    else if (f[i].rank < FIELD_RANK_LIMIT)
      *sample = i;
  }
  return *sample < n && *label < n;
}

static Field several(Field f, const char *name, int64_t n) {
  memmove(f.shape + 1, f.shape, f.rank++ * sizeof *f.shape);
  f.shape[0] = n;
  f.name = name;
  return f;
}

bool episode_fields(const Episodes *e, const Field *f, uint32_t n, Field out[EPISODE_FIELDS]) {
  uint32_t sample, label;
  if (!find_parts(f, n, &sample, &label)) return false;
  Field number = {.kind = FIELD_LABEL, .labels = e->way};
  out[0] = several(f[sample], f[sample].name, e->way * e->shot);
  out[1] = several(number, f[label].name, e->way * e->shot);
  out[2] = several(f[sample], "query", e->way * e->ask);
  out[3] = several(number, "answer", e->way * e->ask);
  return true;
}

// -- classes --------------------------------------------------------------------------------------
static bool read_labels(struct Tasks *t, Split split, int64_t rows, int32_t *label,
                        const char **why) {
  SetRows all = {.split = split, .field = t->label, .n = rows};
  return set_read_from(t->base, 0, all, NUMBER_I32, label, why);
}

static bool sort_classes(struct Tasks *t, Arena *a, Split split, const char **why) {
  int64_t rows = set_rows(t->base, split), classes = set_field(t->base, t->label)->labels;
  Classes *c = &t->of[split];
  int32_t *label = NEW_ARRAY(a, int32_t, rows + 1);
  int64_t *at = NEW_ARRAY(a, int64_t, classes + 2);
  if (!read_labels(t, split, rows, label, why)) return false;
  c->row = NEW_ARRAY(a, int64_t, rows + 1);
  c->full = NEW_ARRAY(a, int64_t, classes + 1);
  for (int64_t r = 0; r < rows; r++) at[label[r] + 2]++;
  for (int64_t k = 2; k < classes + 2; k++) {
    if (at[k] >= t->e.shot + t->e.ask) c->full[c->how_many++] = k - 2;
    at[k] += at[k - 1];
  }
  for (int64_t r = 0; r < rows; r++) c->row[at[label[r] + 1]++] = r;
  c->first = at;
  return true;
}

static bool has_enough(Set *s, const char **why) {
  bool any = false;
  const Episodes *e = &s->tasks->e;
  for (Split split = 0; split < SPLITS; split++) {
    if (s->tasks->of[split].how_many < e->way) continue;
    s->part[split] = (SetPart){.rows = e->count};
    any = true;
  }
  return any || file_error(s->arena, why,
                           "%s: no split has %lld classes with %lld samples each, as episodes want",
                           s->name, (long long)e->way, (long long)(e->shot + e->ask));
}

bool set_to_episodes(Set *s, const char **why) {
  struct Tasks *t = NEW(s->arena, struct Tasks);
  Field field[EPISODE_FIELDS];
  t->e = s->options.episodes;
  t->base = NEW(s->arena, Set);
  *t->base = *s;
  t->base->options.episodes = (Episodes){0};
  if (!find_parts(s->field.at, s->field.n, &t->sample, &t->label) ||
      !episode_fields(&t->e, s->field.at, s->field.n, field))
    return file_error(s->arena, why, "%s: episodes want samples with one label each", s->name);
  for (Split split = 0; split < SPLITS; split++)
    if (!sort_classes(t, s->arena, split, why)) return false;
  *s = (Set){.arena = s->arena, .name = s->name, .options = s->options, .window = 1, .tasks = t};
  s->summary = arena_format(s->arena, "%lld classes, %lld and %lld samples of each",
                            (long long)t->e.way, (long long)t->e.shot, (long long)t->e.ask);
  for (uint32_t i = 0; i < EPISODE_FIELDS; i++) vec_push(s->arena, &s->field, field[i]);
  return has_enough(s, why);
}

// -- reading --------------------------------------------------------------------------------------
static bool is_among(const int64_t *list, int64_t n, int64_t x) {
  for (int64_t i = 0; i < n; i++)
    if (list[i] == x) return true;
  return false;
}

// Draws n distinct numbers below `of`.
static void choose(Dice *d, int64_t n, int64_t of, int64_t *out) {
  for (int64_t i = 0; i < n; i++) do {
      out[i] = dice_below(d, (uint32_t)of);
    } while (is_among(out, i, out[i]));
}

// The rows of one episode: its support set or its queries, class by class.
static void episode_rows(const Set *s, Split split, int64_t episode, bool asked, int64_t *out) {
  const struct Tasks *t = s->tasks;
  const Classes *c = &t->of[split];
  int64_t class[EPISODE_LIMIT], pick[EPISODE_LIMIT], n = asked ? t->e.ask : t->e.shot;
  Dice d = dice_for(split == SPLIT_TRAIN ? s->options.seed : 0, "episodes", split, episode);
  choose(&d, t->e.way, c->how_many, class);
  for (int64_t k = 0; k < t->e.way; k++) {
    int64_t own = c->full[class[k]], first = c->first[own], there = c->first[own + 1] - first;
    choose(&d, t->e.shot + t->e.ask, there, pick);
    for (int64_t i = 0; i < n; i++) *out++ = c->row[first + pick[asked ? t->e.shot + i : i]];
  }
}

static void read_numbers(const Set *s, bool asked, Number number, void *out) {
  const Episodes *e = &s->tasks->e;
  int64_t n = asked ? e->ask : e->shot, total = e->way * n;
  for (int64_t i = 0; i < total; i++) {
    int32_t label = (int32_t)(i / n);
    Column c = column_new(&label, 1, EL_I32);
    column_read(&c, &(int64_t){0}, 1, 1, number, (uint8_t *)out + (size_t)i * number_bytes(number));
  }
}

// The precision loss of its samples; labels are exact.
bool episodes_precision_loss(const Set *s, uint32_t field, PrecisionLoss *out) {
  return field % 2 == 0 && set_precision_loss(s->tasks->base, s->tasks->sample, out);
}

const Set *episodes_base(const Set *s) { return s->tasks->base; }

bool episode_read(Set *s, SetRows of, Number number, void *out, const char **why) {
  const struct Tasks *t = s->tasks;
  uint32_t field = of.field;
  bool asked = field >= 2;
  size_t bytes = (size_t)field_count(&s->field.at[field]) * number_bytes(number);
  int64_t row[EPISODE_LIMIT], rows = t->e.way * (asked ? t->e.ask : t->e.shot);
  for (int64_t i = 0; i < of.n; i++, out = (uint8_t *)out + bytes) {
    if (field % 2) {
      read_numbers(s, asked, number, out);
      continue;
    }
    episode_rows(s, of.split, of.row[i], asked, row);
    if (!set_read(t->base, (SetRows){of.split, t->sample, row, rows}, number, out, why))
      return false;
  }
  return true;
}
