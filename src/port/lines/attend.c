// Recognises attention that equals the library's: scores Q K^T / sqrt(size), possibly with a causal
// mask, softmax, and a product with values. Four or five lines become `attend(Q, K, V)` or
// `causal(Q, K, V)`; leading axes are batch axes.
#include "port/lines/lines.h"

#include <math.h>

typedef struct {
  Importer *m;
  bool *live;
  uint32_t *maker; // [value] the line, or UINT32_MAX
} Attends;

// An index list, each index a single letter.
typedef struct {
  uint32_t n;
  const char *at[ONNX_RANK_LIMIT];
  size_t length[ONNX_RANK_LIMIT];
} Letters;

static bool letters_read(const char *list, Letters *out) {
  size_t n;
  out->n = 0;
  for (const char *at = list; at && (at = next_index(at, &n)); at += n) {
    if (out->n == ONNX_RANK_LIMIT || !char_is_letter(*at)) return false;
    for (size_t i = 0; i < n; i++)
      if (!char_is_word(at[i])) return false;
    out->at[out->n] = at, out->length[out->n++] = n;
  }
  return out->n >= 2;
}

static bool letter_same(const Letters *a, uint32_t i, const Letters *b, uint32_t k) {
  return a->length[i] == b->length[k] && !memcmp(a->at[i], b->at[k], a->length[i]);
}

// The line that makes a value with a single reader.
static ImpLine *single_reader_maker(const Attends *c, Id v) {
  uint32_t at = c->maker[v];
  if (at == UINT32_MAX || !c->live[at] || value_at(c->m, v)->reads != 1) return NULL;
  ImpLine *l = &c->m->line.at[at];
  return l->out.n == 1 && !l->part.n && !l->form.pad ? l : NULL;
}

static bool is_placewise_read(const ImpLine *l, uint32_t k) {
  return k < l->read.n && l->form.left && l->read.at[k].index &&
         !strcmp(l->read.at[k].index, l->form.left);
}

static const double *number_of(const Attends *c, const ImpLine *l, uint32_t k) {
  const ImpValue *v = k < l->read.n ? value_at(c->m, l->read.at[k].value) : NULL;
  return v && value_is_number(v) ? v->data : NULL;
}

// -- scaled ---------------------------------------------------------------------------------------
// Matches x / sqrt(size) or x * (1 / sqrt(size)): returns x, or 0.
static Id match_scaled(const Attends *c, Id v, int64_t size) {
  const ImpLine *l = single_reader_maker(c, v);
  const double *by = l ? number_of(c, l, 1) : NULL;
  if (!by || !is_placewise_read(l, 0)) return 0;
  float root = (float)sqrt((double)size);
  bool divides = !strcmp(l->form.right, "$0 / $1") && (float)*by == root;
  bool times = !strcmp(l->form.right, "$0 * $1") && (float)*by == 1 / root;
  return divides || times ? l->read.at[0].value : 0;
}

// -- causal masks ---------------------------------------------------------------------------------
// A constant that is `there` after the diagonal and `elsewhere` up to it.
static bool is_causal_mask(const Attends *c, Id mask, double there, double elsewhere) {
  const ImpValue *v = value_at(c->m, mask);
  uint32_t rank = v->shape.rank;
  int64_t count = shape_count(&v->shape);
  if (v->kind != IMP_CONST || !v->data || rank < 2) return false;
  int64_t columns = v->shape.dim[rank - 1].n, rows = v->shape.dim[rank - 2].n;
  if (count != rows * columns) return false;
  for (int64_t i = 0; i < count; i++)
    if (v->data[i] != (i % columns > i / columns ? there : elsewhere)) return false;
  return true;
}

// Matches a masked value: returns the scores without the mask, or 0.
static Id match_masked(const Attends *c, Id v, Id *mask) {
  const ImpLine *l = single_reader_maker(c, v);
  double far = -(double)INFINITY;
  if (!l || l->read.n < 2) return 0;
  const double *one = number_of(c, l, 0), *two = number_of(c, l, 2);
  *mask = l->read.at[1].value;
  if (!strcmp(l->form.right, "$0 when $1 else $2")) {
    bool first = one && *one == far, last = two && *two == far;
    uint32_t k = first ? 2 : 0;
    if (first != last && is_placewise_read(l, k) && is_causal_mask(c, *mask, first, last))
      return l->read.at[k].value;
  }
  for (uint32_t k = 0; k < 2 && !strcmp(l->form.right, "$0 + $1"); k++) {
    *mask = l->read.at[!k].value;
    if (is_placewise_read(l, k) && is_causal_mask(c, *mask, far, 0)) return l->read.at[k].value;
  }
  return *mask = 0;
}

// -- attention ------------------------------------------------------------------------------------
// Matches y[… a d] = x[… a c] z[… c d]; `turned` if z is read as [… d c].
static bool is_product(const ImpLine *l, bool *turned) {
  Letters left, x, z;
  if (!l || l->read.n != 2 || strcmp(l->form.right, "$0 $1") != 0 || l->form.pad) return false;
  if (!letters_read(l->form.left, &left) || !letters_read(l->read.at[0].index, &x) ||
      !letters_read(l->read.at[1].index, &z) || left.n != x.n || left.n != z.n)
    return false;
  uint32_t a = left.n - 2, d = left.n - 1;
  for (uint32_t i = 0; i < a; i++)
    if (!letter_same(&left, i, &x, i) || !letter_same(&left, i, &z, i)) return false;
  if (!letter_same(&left, a, &x, a) || letter_same(&left, d, &x, d)) return false;
  *turned = letter_same(&left, d, &z, a) && letter_same(&x, d, &z, d);
  return *turned || (letter_same(&left, d, &z, d) && letter_same(&x, d, &z, a));
}

static bool is_softmax(const ImpLine *l) {
  Letters at;
  if (!l || l->read.n != 1 || !letters_read(l->read.at[0].index, &at)) return false;
  size_t n = at.length[at.n - 1];
  return !strncmp(l->form.right, "softmax[", 8) &&
         !strncmp(l->form.right + 8, at.at[at.n - 1], n) && !strcmp(l->form.right + 8 + n, "]($0)");
}

// Letters for the leading axes, then these two.
static const char *front_and(Importer *m, uint32_t front, uint32_t a, uint32_t b) {
  const char *at[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < front; i++) at[i] = imp_letter[i];
  at[front] = imp_letter[front + a], at[front + 1] = imp_letter[front + b];
  return join_words(m, front + 2, at);
}

// Keys come as [… k x] and are wanted as [… x k]: reuses the line of the scores for the transpose.
static Id transpose_keys(const Attends *c, ImpLine *scores) {
  Importer *m = c->m;
  ImpRead keys = scores->read.at[1];
  ImpShape shape = value_at(m, keys.value)->shape;
  uint32_t rank = shape.rank, front = rank - 2;
  ImpSize swap = shape.dim[front];
  shape.dim[front] = shape.dim[front + 1], shape.dim[front + 1] = swap;
  Id v = value_new(m, value_at(m, keys.value)->type, &shape, IMP_MADE,
                   value_at(m, scores->out.at[0])->onnx);
  value_at(m, v)->reads = 1;
  scores->form = (ImpForm){.left = front_and(m, front, 0, 1), .right = "$0"};
  scores->read.at[0] = (ImpRead){keys.value, front_and(m, front, 1, 0)};
  scores->read.n = 1;
  scores->out.at[0] = v;
  return v;
}

// An attention that was matched, and the lines that it replaces.
typedef struct {
  ImpLine *values, *scores;
  Id query, mask; // mask: or 0
  bool turned;    // keys are [… x k]
  uint32_t gone[4], n;
} Attend;

static void mark_replaced(const Attends *c, Attend *a, Id v) { a->gone[a->n++] = c->maker[v]; }

// Matches x / sqrt(size) and marks its line for removal; otherwise returns the value unchanged.
static Id remove_scale(const Attends *c, Attend *a, Id v, ImpSize size) {
  Id inner = size.text ? 0 : match_scaled(c, v, size.n);
  if (inner) mark_replaced(c, a, v);
  return inner;
}

// Finds the scores without mask and scale; the scale may also be on the queries.
static bool find_scores(const Attends *c, Attend *a, Id s) {
  Importer *m = c->m;
  Id inner = match_masked(c, s, &a->mask);
  if (inner) mark_replaced(c, a, s), s = inner;
  const ImpLine *l = single_reader_maker(c, s);
  Id plain = l && !is_product(l, &a->turned) && l->read.n ? l->read.at[0].value : s;
  a->scores = single_reader_maker(c, plain);
  if (!is_product(a->scores, &a->turned)) return false;
  a->query = a->scores->read.at[0].value;
  const ImpShape *shape = &value_at(m, a->query)->shape;
  ImpSize size = shape->dim[shape->rank - 1];
  if (plain != s) return remove_scale(c, a, s, size) == plain;
  a->query = remove_scale(c, a, a->query, size);
  return a->query;
}

static void attend_at(const Attends *c, ImpLine *values) {
  Importer *m = c->m;
  Attend a = {.values = values};
  bool turned;
  if (!is_product(values, &turned) || turned) return;
  const ImpLine *soft = single_reader_maker(c, values->read.at[0].value);
  if (!is_softmax(soft) || !find_scores(c, &a, soft->read.at[0].value)) return;
  mark_replaced(c, &a, values->read.at[0].value);
  uint32_t front = value_at(m, soft->out.at[0])->shape.rank - 2;
  Id keys = a.scores->read.at[1].value, of = values->read.at[1].value;
  if (a.turned) mark_replaced(c, &a, a.scores->out.at[0]);
  for (uint32_t i = 0; i < a.n; i++) c->live[a.gone[i]] = false;
  if (a.mask) value_at(m, a.mask)->reads--;
  if (!a.turned) keys = transpose_keys(c, a.scores);
  values->form = (ImpForm){.right = a.mask ? "causal($0, $1, $2)" : "attend($0, $1, $2)"};
  values->read.n = 0;
  vec_push(m->arena, &values->read, ((ImpRead){a.query, front_and(m, front, 0, 1)}));
  vec_push(m->arena, &values->read, ((ImpRead){keys, front_and(m, front, 2, 1)}));
  vec_push(m->arena, &values->read, ((ImpRead){of, front_and(m, front, 2, 3)}));
}

void attention_match(Importer *m, bool *live) {
  Attends c = {m, live, line_makers(m, live)};
  for (uint32_t i = 0; i < m->line.n; i++)
    if (live[i]) attend_at(&c, &m->line.at[i]);
}
