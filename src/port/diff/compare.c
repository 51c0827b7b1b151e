// Two outlines laid beside each other, and what is said of it.
#include "port/diff/diff.h"

#include <math.h>

enum { MOST_PAIRS = 16 << 20, NOBODY = -1, MOST_LEVELS = 12 };

typedef struct {
  Arena *arena;
  Buf *out;
  DiffCount *count;
} Compare;

// Whom each box meets on the other side, or NOBODY.
typedef struct {
  int32_t *a, *b;
} Meeting;

static bool same_kind(const OutlineBox *a, const OutlineBox *b) {
  return !strcmp(a->kind, b->kind);
}

static uint32_t worth(const OutlineBox *a, const OutlineBox *b) {
  if (!same_kind(a, b)) return 0;
  return a->hash == b->hash ? 4 : strcmp(a->name, b->name) == 0 ? 3 : 2;
}

// The best way to let boxes meet in their order: by the longest common subsequence.
static bool meet(Compare *c, const Outline *a, const Outline *b, Meeting *m) {
  uint64_t n = a->box.n, k = b->box.n, wide = k + 1;
  if ((n + 1) * wide > MOST_PAIRS) return false;
  uint32_t *best = NEW_ARRAY(c->arena, uint32_t, (n + 1) * wide);
  m->a = NEW_ARRAY(c->arena, int32_t, n + 1);
  m->b = NEW_ARRAY(c->arena, int32_t, k + 1);
  for (uint64_t i = n; i-- > 0;)
    for (uint64_t j = k; j-- > 0;) {
      uint32_t w = worth(&a->box.at[i], &b->box.at[j]);
      uint32_t most = w ? w + best[(i + 1) * wide + j + 1] : 0;
      if (best[(i + 1) * wide + j] > most) most = best[(i + 1) * wide + j];
      if (best[i * wide + j + 1] > most) most = best[i * wide + j + 1];
      best[i * wide + j] = most;
    }
  for (uint64_t i = 0; i < n; i++) m->a[i] = NOBODY;
  for (uint64_t j = 0; j < k; j++) m->b[j] = NOBODY;
  for (uint64_t i = 0, j = 0; i < n && j < k;) {
    uint32_t w = worth(&a->box.at[i], &b->box.at[j]), here = best[i * wide + j];
    if (w && here == w + best[(i + 1) * wide + j + 1])
      m->a[i] = (int32_t)j, m->b[j] = (int32_t)i, i++, j++;
    else if (here == best[(i + 1) * wide + j])
      i++;
    else
      j++;
  }
  return true;
}

static void line(Compare *c, uint32_t level, char sign, const OutlineBox *box) {
  for (uint32_t i = 0; i <= level; i++) buf_text(c->out, "  ");
  buf_printf(c->out, "%c %s", sign, box->name);
}

// Behind whom it stands: what it reads first, by name.
static const char *behind(const Outline *all, const OutlineBox *box) {
  for (uint32_t i = 0; i < box->nin; i++) {
    if (box->in[i] >= 0 && box->in[i] < all->box.n) return all->box.at[box->in[i]].name;
    if (box->in[i] != NO_BOX) return "the input";
  }
  return "nothing";
}

static bool compare(Compare *c, uint32_t level, const Outline *a, const Outline *b);

// The weights inside whose sizes are others.
static void weights_changed(Compare *c, const Outline *a, const Outline *b) {
  for (uint32_t i = 0; i < a->weight.n && i < b->weight.n; i++) {
    const OutlineWeight *x = &a->weight.at[i], *y = &b->weight.at[i];
    if (strcmp(x->path, y->path) == 0 && strcmp(x->type, y->type) != 0)
      buf_printf(c->out, ", %s %s -> %s", x->path, x->type, y->type);
  }
}

static bool changed(Compare *c, uint32_t level, const OutlineBox *x, const OutlineBox *y) {
  c->count->changed++;
  line(c, level, '~', x);
  if (strcmp(x->name, y->name) != 0) buf_printf(c->out, " -> %s", y->name);
  buf_printf(c->out, "  %s", x->type);
  if (strcmp(x->type, y->type) != 0) buf_printf(c->out, " -> %s", y->type);
  bool inside = x->inside && y->inside;
  if (inside) weights_changed(c, x->inside, y->inside);
  buf_char(c->out, '\n');
  if (!inside || x->form == y->form || level >= MOST_LEVELS) return true;
  DiffCount outer = *c->count; // what is inside counts as one change
  bool good = compare(c, level + 1, x->inside, y->inside);
  *c->count = outer;
  return good;
}

// Is what a box reads on one side what its partner reads on the other? What was put in between, or
// taken out, is told by its own line.
static void fed_otherwise(Compare *c, uint32_t level, const Outline *a, const Outline *b,
                          const Meeting *m, uint32_t i) {
  const OutlineBox *x = &a->box.at[i], *y = &b->box.at[m->a[i]];
  for (uint32_t k = 0; k < x->nin && k < y->nin; k++) {
    int64_t from = x->in[k], to = y->in[k];
    bool box = from >= 0 && from < a->box.n, other = to >= 0 && to < b->box.n;
    if (box && (m->a[from] == NOBODY || m->a[from] == to)) continue;
    if (other && m->b[to] == NOBODY) continue;
    if (!box && !other && from == to) continue;
    line(c, level, '~', x);
    buf_printf(c->out, "  reads %s instead of %s\n",
               other          ? b->box.at[to].name
               : to == NO_BOX ? "a weight"
                              : "the input",
               box              ? a->box.at[from].name
               : from == NO_BOX ? "a weight"
                                : "the input");
    c->count->changed++;
    return;
  }
}

// Boxes that met nobody, and are on the other side among those that met nobody either: they have
// moved. Each has one partner.
static Meeting movings(Compare *c, const Outline *a, const Outline *b, const Meeting *m) {
  Meeting moved = {NEW_ARRAY(c->arena, int32_t, a->box.n + 1),
                   NEW_ARRAY(c->arena, int32_t, b->box.n + 1)};
  for (uint32_t j = 0; j < b->box.n; j++) moved.b[j] = NOBODY;
  for (uint32_t i = 0; i < a->box.n; i++) {
    const OutlineBox *x = &a->box.at[i];
    moved.a[i] = NOBODY;
    for (uint32_t j = 0; m->a[i] == NOBODY && moved.a[i] == NOBODY && j < b->box.n; j++) {
      const OutlineBox *y = &b->box.at[j];
      if (m->b[j] != NOBODY || moved.b[j] != NOBODY || x->hash != y->hash || !same_kind(x, y))
        continue;
      moved.a[i] = (int32_t)j, moved.b[j] = (int32_t)i;
    }
  }
  return moved;
}

static void added(Compare *c, uint32_t level, const Outline *b, uint32_t j) {
  line(c, level, '+', &b->box.at[j]);
  buf_printf(c->out, "  %s, behind %s\n", b->box.at[j].type, behind(b, &b->box.at[j]));
  c->count->added++;
}

static void left(Compare *c, uint32_t level, const Outline *a, const Outline *b, uint32_t i,
                 int32_t to) {
  const OutlineBox *x = &a->box.at[i];
  line(c, level, to == NOBODY ? '-' : '>', x);
  if (to == NOBODY) {
    buf_printf(c->out, "  %s, was behind %s\n", x->type, behind(a, x));
    c->count->gone++;
  } else {
    buf_printf(c->out, "  moved: was behind %s, is behind %s\n", behind(a, x),
               behind(b, &b->box.at[to]));
    c->count->moved++;
  }
}

static bool compare(Compare *c, uint32_t level, const Outline *a, const Outline *b) {
  Meeting m;
  if (!meet(c, a, b, &m)) return false;
  Meeting moved = movings(c, a, b, &m);
  uint32_t j = 0;
  for (uint32_t i = 0; i <= a->box.n; i++) {
    uint32_t until = i == a->box.n ? b->box.n : m.a[i] == NOBODY ? j : (uint32_t)m.a[i];
    for (; j < until; j++) // those in front of it
      if (m.b[j] == NOBODY && moved.b[j] == NOBODY) added(c, level, b, j);
    if (i == a->box.n) break;
    int32_t to = m.a[i];
    if (to == NOBODY) {
      left(c, level, a, b, i, moved.a[i]);
      continue;
    }
    bool same = a->box.at[i].hash == b->box.at[to].hash;
    c->count->same += same;
    if (!same && !changed(c, level, &a->box.at[i], &b->box.at[to])) return false;
    fed_otherwise(c, level, a, b, &m, i);
  }
  return true;
}

// -- weights --------------------------------------------------------------------------------------
static bool same_shape(const Array *a, const Array *b) {
  if (a->rank != b->rank) return false;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->shape[i] != b->shape[i]) return false;
  return true;
}

static void shape_put(Buf *out, const Array *a) {
  buf_text(out, "R[");
  for (uint32_t i = 0; i < a->rank; i++)
    buf_printf(out, "%s%lld", i ? " " : "", (long long)a->shape[i]);
  buf_char(out, ']');
}

typedef struct {
  double far, length; // the distance between the two, the length of the first
} WeightChange;

static WeightChange weight_change(const Array *a, const Array *b) {
  double far = 0, length = 0;
  for (int64_t i = 0; i < a->count; i++) {
    double x = a->data[i], d = x - b->data[i];
    far += d * d, length += x * x;
  }
  return (WeightChange){sqrt(far), sqrt(length)};
}

static void weights_text(Compare *c, const DiffSides *sides) {
  const Arrays *a = sides->weights[0], *b = sides->weights[1];
  uint32_t same = 0;
  Buf lines = buf_new(c->arena);
  for (uint32_t i = 0; i < a->array.n; i++) {
    const Array *x = &a->array.at[i], *y = arrays_find(b, x->name);
    if (y && same_shape(x, y)) {
      WeightChange d = weight_change(x, y);
      if (d.far == 0) {
        same++;
        continue;
      }
      buf_printf(&lines, "  ~ %s  ", x->name);
      shape_put(&lines, x);
      buf_printf(&lines, "  distance %.3g, of a length of %.3g\n", d.far, d.length);
    } else {
      buf_printf(&lines, "  %c %s  ", y ? '~' : '-', x->name);
      shape_put(&lines, x);
      if (y) buf_text(&lines, " -> "), shape_put(&lines, y);
      buf_char(&lines, '\n');
    }
    c->count->weights++;
  }
  for (uint32_t i = 0; i < b->array.n; i++)
    if (!arrays_find(a, b->array.at[i].name)) {
      buf_printf(&lines, "  + %s  ", b->array.at[i].name);
      shape_put(&lines, &b->array.at[i]);
      buf_char(&lines, '\n');
      c->count->weights++;
    }
  buf_printf(c->out, "weights: %u the same, %u not\n%s", same, c->count->weights, lines.at);
}

// -- both -----------------------------------------------------------------------------------------
static const Outline *find(const Outlines *all, const char *name) {
  for (uint32_t i = 0; i < all->n; i++)
    if (strcmp(all->at[i].name, name) == 0) return &all->at[i];
  return NULL;
}

static bool learner_text(Compare *c, const Outline *a, const Outline *b) {
  DiffCount before = *c->count;
  Buf lines = buf_new(c->arena), *out = c->out;
  c->out = &lines;
  bool good = compare(c, 0, a, b);
  c->out = out;
  const DiffCount *n = c->count;
  uint32_t same = n->same - before.same, changed = n->changed - before.changed;
  uint32_t added = n->added - before.added, gone = n->gone - before.gone,
           moved = n->moved - before.moved;
  buf_printf(out, "%s", a->name);
  if (strcmp(a->name, b->name) != 0) buf_printf(out, " -> %s", b->name);
  if (changed + added + gone + moved == 0)
    buf_printf(out, ": the same, %u box%s\n", same, same == 1 ? "" : "es");
  else
    buf_printf(out, ": %u the same, %u changed, %u added, %u gone, %u moved\n", same, changed,
               added, gone, moved);
  buf_text(out, lines.at);
  return good;
}

bool diff_text(Arena *arena, const Outlines *a, const Outlines *b, const DiffSides *sides, Buf *out,
               DiffCount *count) {
  Compare c = {arena, out, count};
  buf_printf(out, "--- %s\n+++ %s\n", sides->a, sides->b);
  bool alone = a->n == 1 && b->n == 1; // two models, whatever they are called
  for (uint32_t i = 0; i < a->n; i++) {
    const Outline *x = &a->at[i], *y = alone ? &b->at[0] : find(b, x->name);
    if (y && !learner_text(&c, x, y)) return false;
    if (!y) buf_printf(out, "%s: gone\n", x->name), count->gone++;
  }
  for (uint32_t i = 0; i < b->n; i++)
    if (!alone && !find(a, b->at[i].name))
      buf_printf(out, "%s: added\n", b->at[i].name), count->added++;
  if (sides->weights[0] && sides->weights[1]) weights_text(&c, sides);
  return true;
}
