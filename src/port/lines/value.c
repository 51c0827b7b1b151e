// Values and their symbolic sizes.
#include "base/number.h"
#include "port/lines/lines.h"

#include <math.h>

bool has_loops(const Importer *m) { return m->box.n || m->cell.n; }

// -- sizes ----------------------------------------------------------------------------------------
int64_t whole_of(double x) {
  if (x != x) return 0;
  return x >= 0x1p62 ? INT64_C(1) << 62 : x <= -0x1p62 ? -(INT64_C(1) << 62) : (int64_t)x;
}

ImpSize dim_of(int64_t n) { return (ImpSize){n, NULL}; }

bool dim_is(ImpSize s, int64_t n) { return !s.text && s.n == n; }

bool dim_same(ImpSize a, ImpSize b) {
  if (!a.text || !b.text) return !a.text && !b.text && a.n == b.n;
  return !strcmp(a.text, b.text);
}

static int64_t divided(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static bool size_compute(char op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
  case '+': return !__builtin_add_overflow(a, b, out);
  case '-': return !__builtin_sub_overflow(a, b, out);
  case '*': return !__builtin_mul_overflow(a, b, out);
  default: return b && (*out = divided(a, b), true);
  }
}

// A monomial: a coefficient and named factors in alphabetical order.
typedef struct {
  int64_t number;
  const char *factor[16];
  uint32_t n;
} Monomial;

static bool monomial_add(Monomial *p, const char *factor) {
  if (p->n == COUNT(p->factor)) return false;
  uint32_t i = p->n++;
  for (; i && strcmp(p->factor[i - 1], factor) > 0; i--) p->factor[i] = p->factor[i - 1];
  p->factor[i] = factor;
  return true;
}

// Multiplies by a size: by its factors, or by a sum as a whole.
static bool monomial_multiply(Importer *m, Monomial *p, ImpSize s) {
  if (!s.text) return !__builtin_mul_overflow(p->number, s.n, &p->number);
  int depth = 0;
  bool sum = false;
  for (const char *c = s.text; *c; c++) {
    depth += (*c == '(') - (*c == ')');
    sum |= !depth && (*c == '+' || *c == '-' || *c == '/');
  }
  if (sum) return monomial_add(p, arena_format(m->arena, "(%s)", s.text));
  for (const char *c = s.text, *from = c;; c++) {
    depth += (*c == '(') - (*c == ')');
    if (*c && (*c != '*' || depth)) continue;
    const char *factor = arena_text(m->arena, from, (size_t)(c - from)), *end;
    double x = number_read(factor, &end);
    bool number = !*end;
    if (number ? __builtin_mul_overflow(p->number, (int64_t)x, &p->number)
               : !monomial_add(p, factor))
      return false;
    if (!*c) return true;
    from = c + 1;
  }
}

static ImpSize monomial_size(Importer *m, const Monomial *p) {
  Buf b = buf_new(m->arena);
  if (!p->n || !p->number) return dim_of(p->number);
  if (p->number != 1) buf_printf(&b, "%lld", (long long)p->number);
  for (uint32_t i = 0; i < p->n; i++) buf_printf(&b, "%s%s", b.n ? "*" : "", p->factor[i]);
  size_t n = b.n;
  bool alone = p->n == 1 && p->number == 1 && *b.at == '(';
  return (ImpSize){-1, alone ? arena_text(m->arena, b.at + 1, n - 2) : b.at};
}

bool dim_divide(Importer *m, ImpSize a, ImpSize b, ImpSize *out) {
  Monomial p = {.number = 1}, q = {.number = 1};
  if (!monomial_multiply(m, &p, a) || !monomial_multiply(m, &q, b) || !q.number ||
      p.number % q.number)
    return false;
  for (uint32_t i = 0; i < q.n; i++) {
    uint32_t k = 0;
    while (k < p.n && strcmp(p.factor[k], q.factor[i]) != 0) k++;
    if (k == p.n) return false;
    for (p.n--; k < p.n; k++) p.factor[k] = p.factor[k + 1];
  }
  p.number /= q.number;
  *out = monomial_size(m, &p);
  return true;
}

// Adds parentheses if precedence requires.
static const char *size_term(Importer *m, ImpSize s) {
  const char *text = dim_text(m, s);
  return strpbrk(text, "+-*/") ? arena_format(m->arena, "(%s)", text) : text;
}

// Splits `n+3` into n and the number.
static ImpSize size_split(Importer *m, ImpSize s, int64_t *number) {
  *number = 0;
  if (!s.text) return *number = s.n, dim_of(0);
  size_t n = strlen(s.text), at = n;
  while (at && s.text[at - 1] >= '0' && s.text[at - 1] <= '9') at--;
  if (at == n || n - at > 15 || !at || (s.text[at - 1] != '+' && s.text[at - 1] != '-')) return s;
  *number = (int64_t)number_read(s.text + at, NULL) * (s.text[at - 1] == '-' ? -1 : 1);
  return (ImpSize){-1, arena_text(m->arena, s.text, at - 1)};
}

// Sums and differences, with the numbers collected at the end.
static ImpSize size_sum(Importer *m, char op, ImpSize a, ImpSize b) {
  int64_t x, y, number;
  ImpSize left = size_split(m, a, &x), right = size_split(m, b, &y), sum = left;
  if (!size_compute(op, x, y, &number)) // leave it unsimplified: the number overflows
    return (ImpSize){-1, arena_format(m->arena, "%s%c%s", dim_text(m, a), op, size_term(m, b))};
  if (op == '-' && dim_same(left, right)) return dim_of(number);
  if (op == '-' && !left.text)
    return (ImpSize){-1, arena_format(m->arena, "%lld-%s", (long long)number, size_term(m, right))};
  if (!left.text) sum = right;
  if (left.text && right.text)
    sum.text = arena_format(m->arena, "%s%c%s", left.text, op,
                            op == '+' ? right.text : size_term(m, right));
  if (number)
    sum.text =
        arena_format(m->arena, "%s%s%lld", sum.text, number > 0 ? "+" : "", (long long)number);
  return sum;
}

// Floor division by a number, simplified: (n-2)//2 is n//2-1.
static ImpSize size_divide(Importer *m, ImpSize s, int64_t by) {
  int64_t number;
  ImpSize front = size_split(m, s, &number);
  if (number % by) front = s, number = 0;
  ImpSize part = {-1, arena_format(m->arena, "%s//%lld", size_term(m, front), (long long)by)};
  return size_sum(m, '+', part, dim_of(number / by));
}

ImpSize dim_op(Importer *m, char op, ImpSize a, ImpSize b) {
  int64_t n;
  Monomial p = {.number = 1};
  ImpSize exact;
  if (!a.text && !b.text && size_compute(op, a.n, b.n, &n)) return dim_of(n);
  if (op == '+' || op == '-') return size_sum(m, op, a, b);
  if (op == '*' && monomial_multiply(m, &p, a) && monomial_multiply(m, &p, b))
    return monomial_size(m, &p);
  if (op == '/' && dim_divide(m, a, b, &exact)) return exact;
  if (op == '/' && a.text && !b.text && b.n > 0) return size_divide(m, a, b.n);
  return (ImpSize){-1, arena_format(m->arena, "%s%s%s", size_term(m, a), op == '/' ? "//" : "*",
                                    size_term(m, b))};
}

const char *dim_text(Importer *m, ImpSize s) {
  return s.text ? s.text : arena_format(m->arena, "%lld", (long long)s.n);
}

const char *dim_inside(Importer *m, ImpSize s) {
  return s.text ? arena_format(m->arena, "size[%s]", s.text) : dim_text(m, s);
}

ImpShape shape_of(uint32_t rank, const int64_t *dim) {
  ImpShape s = {.rank = rank};
  for (uint32_t i = 0; i < rank; i++) s.dim[i] = dim_of(dim[i]);
  return s;
}

int64_t shape_count(const ImpShape *s) {
  int64_t n = 1;
  for (uint32_t i = 0; i < s->rank; i++)
    if (s->dim[i].text || __builtin_mul_overflow(n, s->dim[i].n, &n)) return -1;
  return n;
}

// -- values ---------------------------------------------------------------------------------------
ImpValue *value_at(Importer *m, Id v) { return &m->value.at[v]; }

Id value_new(Importer *m, OnnxType type, const ImpShape *shape, ImpKind kind, const char *onnx) {
  ImpValue v = {.onnx = onnx, .type = type, .shape = *shape, .kind = kind};
  vec_push(m->arena, &m->value, v);
  return m->value.n - 1;
}

Id value_const(Importer *m, OnnxType type, const ImpShape *shape, double *data) {
  Id v = value_new(m, type, shape, IMP_CONST, "");
  value_at(m, v)->data = data;
  return v;
}

Id value_number(Importer *m, OnnxType type, double x) {
  double *data = NEW(m->arena, double);
  *data = x;
  return value_const(m, type, &(ImpShape){0}, data);
}

bool value_is_number(const ImpValue *v) {
  return v->kind == IMP_CONST && v->data && shape_count(&v->shape) == 1;
}

bool is_output(const Importer *m, Id v) {
  for (uint32_t i = 0; i < m->output.n; i++)
    if (m->output.at[i] == v) return true;
  return false;
}

uint32_t *line_makers(const Importer *m, const bool *live) {
  uint32_t room = 2 * m->value.n, *maker = NEW_ARRAY(m->arena, uint32_t, room);
  for (uint32_t i = 0; i < room; i++) maker[i] = UINT32_MAX;
  for (uint32_t i = 0; i < m->line.n; i++)
    for (uint32_t k = 0; live[i] && k < m->line.at[i].out.n; k++)
      maker[m->line.at[i].out.at[k]] = i;
  return maker;
}

// -- indices --------------------------------------------------------------------------------------
const char *const imp_letter[IMP_LETTERS] = {
    "i",  "j",  "k",  "l",  "m",  "n",  "o",  "p",  "q",  "r",  "s",  "t",  "u",  "v",  "w",  "z",
    "i1", "j1", "k1", "l1", "m1", "n1", "o1", "p1", "q1", "r1", "s1", "t1", "u1", "v1", "w1", "z1",
};

const char *join_words(Importer *m, uint32_t n, const char *const *text) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = 0; i < n; i++) buf_printf(&b, "%s%s", i ? " " : "", text[i]);
  return b.at;
}

const char *index_letters(Importer *m, uint32_t rank) { return join_words(m, rank, imp_letter); }

const char *letters_of_one(Importer *m, uint32_t from, uint32_t to) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = from; i < to; i++) buf_printf(&b, "%s%s:1", i > from ? " " : "", imp_letter[i]);
  return b.n ? b.at : "";
}

const char *letters_sized(Importer *m, const ImpShape *x, uint32_t from, uint32_t to) {
  Buf b = buf_new(m->arena);
  for (uint32_t i = 0; i < x->rank; i++) {
    buf_printf(&b, "%s%s", i ? " " : "", imp_letter[i]);
    if (i >= from && i < to) buf_printf(&b, ":%s", dim_text(m, x->dim[i]));
  }
  return b.n ? b.at : "";
}

const char *letters_of(Importer *m, Id v, const ImpShape *to) {
  const ImpShape *s = &value_at(m, v)->shape;
  const char *at[ONNX_RANK_LIMIT];
  for (uint32_t i = 0; i < s->rank; i++) {
    uint32_t k = to->rank - s->rank + i;
    at[i] = dim_is(s->dim[i], 1) && !dim_is(to->dim[k], 1) ? "0" : imp_letter[k];
  }
  return join_words(m, s->rank, at);
}

// -- numbers --------------------------------------------------------------------------------------
const char *number_term(Importer *m, double x) {
  char text[NUMBER_ROOM];
  if (isnan(x)) return "(0/0)";
  if (isinf(x)) return x > 0 ? "inf" : "(-inf)";
  number_print(text, x);
  return arena_format(m->arena, x < 0 ? "(%s)" : "%s", text);
}

const char *short_term(Importer *m, float x) {
  char text[NUMBER_ROOM];
  for (int digits = 1; digits <= 9; digits++) {
    number_format(text, sizeof text, "", digits, 'g', (double)x);
    double back = number_read(text, NULL);
    if ((float)back == x) return number_term(m, back);
  }
  return number_term(m, (double)x);
}

// -- texts ----------------------------------------------------------------------------------------
const char *next_index(const char *at, size_t *n) {
  int depth = 0;
  while (*at == ' ') at++;
  for (*n = 0; at[*n] && (at[*n] != ' ' || depth); (*n)++)
    depth += (at[*n] == '(') - (at[*n] == ')');
  return *n ? at : NULL;
}

// The end of a long name says most.
static const char *name_end(Arena *a, const char *name) {
  enum { LONG = 40, END = 36 };
  size_t n = strlen(name);
  if (n <= LONG) return text_shown(a, name, n);
  return arena_format(a, "…%s", text_shown(a, name + n - END, END));
}

const char *node_shown(Arena *a, const OnnxNode *node) {
  const char *name = *node->name ? node->name : node->out.n ? node->out.at[0] : "";
  return arena_format(a, "node `%s` (%s)", name_end(a, name),
                      text_shown(a, node->op, strlen(node->op)));
}
