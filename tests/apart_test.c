// Boxes with different meaning have different pictures. Many random bodies of one signature are
// made from a table of templates, so that many of them differ in one thing only: a function, axis,
// slice, operand, constant, pad, order, branch. Each is evaluated with its derivatives on two sets
// of inputs, and drawn with all boxes opened. Two bodies with equal pictures must have equal
// values.
//
//   apart_test                 the tests
//   apart_test FIRST RUNS      RUNS bodies from seed FIRST: lists different bodies with equal pictures
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "base/table.h"
#include "limn.h"
#include "painted_help.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BODIES = 2000, SETS = 2 };

// -- bodies ---------------------------------------------------------------------------------------
// A template makes a wire of its kind. In it, V is a row, M a table, S a number, K a label, T a row
// of labels, each a wire that is made before or comes in; # a place, % 1 or 2, the same in the whole line, ~
// a constant, @ a function, ! an operation, ? a comparison.
typedef struct {
  char kind;
  const char *text; // "  = …" with the left side; $ is the new wire
} BodyRule;
static const BodyRule rules[] = {
    {'V', "$ = @(V)"},
    {'V', "$ = V ! V"},
    {'V', "$ = S ! V"},
    {'V', "$ = V ! S"},
    {'V', "$ = V ! ~"},
    {'V', "$ = ~ ! V"},
    {'V', "$ = -V"},
    {'V', "$ = V * V * V"},
    {'V', "$ = S * S * V"},
    {'V', "$ = ~ * V + ~"},
    {'V', "$ = V ^ ~"},
    {'V', "$ = max(V, V)"},
    {'V', "$ = min(V, V)"},
    {'V', "$ = max(V, ~)"},
    {'V', "$ = min(V, ~)"},
    {'V', "$ = mod(V, V)"},
    {'V', "$ = V when V ? V else V"},
    {'V', "$ = V when V ? ~ else ~"},
    {'V', "$ = V when S ? ~ else V"},
    {'V', "$ = number(V ? V and V ? V)"},
    {'V', "$ = number(V ? V or V ? ~)"},
    {'V', "$ = number(not (V ? V))"},
    {'V', "$ = sum[m](M)"},
    {'V', "$ = max[m](M)"},
    {'V', "$ = min[m](M)"},
    {'V', "$ = mean[m](M)"},
    {'V', "$ = prod[m](M)"},
    {'V', "$ = stop(V)"},
    {'V', "$ = V * stop(V)"},
    {'V', "$ = through(V, V)"},
    {'V', "$ = softmax(V)"},
    {'V', "$ = log_softmax(V)"},
    {'V', "$ = clamp[~, ~](V)"},
    {'V', "$ = cumulative_sum(V)"},
    {'V', "$[n] = V[4-n]"},
    {'V', "$[n] = V[T[n]]"},
    {'V', "$[n] = M[n n]"},
    {'V', "$[n] = M[n #]"},
    {'V', "$[n] = M[# n]"},
    {'V', "$[n] = M[n K]"},
    {'V', "$[n] = M[K n]"},
    {'V', "$[n] = M[n T[n]]"},
    {'V', "$[n] = M[T[n] n]"},
    {'V', "$[n] = M[n i] V[i]"},
    {'V', "$[n] = M[i n] V[i]"},
    {'V', "$[n] = M[n i] M[n i]"},
    {'V', "$[n] = M[n i] M[i n]"},
    {'V', "$[n] = V[n] V[i]"},
    {'V', "$[n] = V[n] V[n]"},
    {'V', "$[n] = S * V[n]"},
    {'V', "$[n:5] = S"},
    {'V', "$[n:5] = V[#]"},
    {'V', "$[n:5] = V[K]"},
    {'V', "$[n] = V[n] V[#]"},
    {'V', "$[n] = V[n] V[K]"},
    {'V', "$[n] = V[n] when n <= # else V[n]"},
    {'V', "$[n] = V[n] when n < # else ~"},
    {'V', "$[n] = V[n] when n = # else 0"},
    {'V', "$[n] = V[n] when n = number(K) else 0"},
    {'V', "$[n] = V[n] + n"},
    {'V', "$[n] = V[n] * ~ * n"},
    {'V', "$[n:5] = V[n+%]   pad ~"},
    {'V', "$[n:5] = V[n-%]   pad ~"},
    {'V', "$[n:5] = max[p:3](V[n+p-%])   pad ~"},
    {'V', "$[n:5] = sum[p:2](V[n+p-%])   pad ~"},
    {'V', "$[n:5] = min[p:2](V[n+2*p-%])   pad ~"},
    {'V', "$[n:5] = max[p:2](V[2*n+p-%])   pad ~"},
    {'V', "$[n:5] = d[p] V[n+p-%]   pad ~"},
    {'V', "$[n:5] = d[p] V[n-p+%]   pad ~"},
    {'V', "$[n:5] = d[p] e[q] V[n+p-q]   pad ~"},
    {'V', "$[T[n]] = V[n]"},
    {'V', "$ = concat(V[%..2], V[1..%+2])"},
    {'V', "$ = concat(V[0..%], V[%+1..4])"},
    {'V', "$ = concat(V[%+1..4], V[0..%])"},
    {'V', "$ = roll[%](V)"},
    {'M', "$[n m] = V[n] V[m]"},
    {'M', "$[n m] = V[m] V[n]"},
    {'M', "$[n m] = M[m n]"},
    {'M', "$[n m] = M[n m] V[m]"},
    {'M', "$[n m] = M[n m] V[n]"},
    {'M', "$[n m] = M[n m] M[m n]"},
    {'M', "$[n m] = M[n i] M[i m]"},
    {'M', "$[n m] = M[n i] M[m i]"},
    {'M', "$[n m] = M[i n] M[i m]"},
    {'M', "$[n m] = M[n m] + V[n]"},
    {'M', "$[n m] = M[n m] - V[m]"},
    {'M', "$[n m] = M[n m] when n <= m else ~"},
    {'M', "$[n m] = M[n m] when m <= n else -inf"},
    {'M', "$[n m] = M[n m] when n < m else -inf"},
    {'M', "$[n m] = M[n m] when n <= m else -inf"},
    {'M', "$[n m] = M[n m] when n = m else 0"},
    {'M', "$[n m:5] = V[n] when n = m else 0"},
    {'M', "$[n m:5] = V[n]"},
    {'M', "$[n:5 m] = V[m]"},
    {'M', "$[n n] = V[n]"},
    {'M', "$[n m] = V[n] when n = number(T[m]) else 0"},
    {'M', "$ = @(M)"},
    {'M', "$ = M ! M"},
    {'M', "$ = S ! M"},
    {'M', "$ = softmax[n](M)"},
    {'M', "$ = softmax[m](M)"},
    {'S', "$ = sum(V)"},
    {'S', "$ = max(V)"},
    {'S', "$ = min(V)"},
    {'S', "$ = mean(V)"},
    {'S', "$ = prod(V)"},
    {'S', "$ = V[#]"},
    {'S', "$ = V[K]"},
    {'S', "$ = V[n] V[n]"},
    {'S', "$ = M[n n]"},
    {'S', "$ = V[n] M[n m] V[m]"},
    {'S', "$ = M[n m] M[n m]"},
    {'S', "$ = M[n m] M[m n]"},
    {'S', "$ = number(K)"},
    {'S', "$ = S ! S"},
    {'S', "$ = S ! ~"},
    {'S', "$ = ~ ! S"},
    {'S', "$ = S when number(K) = # else S"},
    {'S', "$ = number(K = K)"},
    {'S', "$ = @(S)"},
    {'S', "$ = sum[n](V * n)"},
    {'S', "$ = M[# #]"},
    {'S', "$ = M[K #]"},
    {'K', "$ = argmax(V)"},
    {'K', "$ = argmin(V)"},
    {'K', "$ = T[#]"},
    {'K', "$ = T[K]"},
    {'T', "$ = argmax[m](M)"},
    {'T', "$ = argmax[n](M)"},
    {'T', "$ = argmin[m](M)"},
    {'T', "$ = order(V)"},
    {'T', "$[n] = T[4-n]"},
    {'T', "$[n] = T[T[n]]"},
};

static const char *const functions[] = {"exp",     "log",      "sqrt",  "sin",   "cos",   "tan",
                                        "tanh",    "atan",     "erf",   "relu",  "abs",   "sign",
                                        "sigmoid", "softplus", "floor", "log1p", "expm1", "square"};
static const char *const constants[] = {"0",       "1",    "2",    "3",       "-1",
                                        "0.5",     "-2.5", "1e-4", "0.12345", "0.123456",
                                        "1234567", "1e20", "1e30", "-1e30",   "1e-30"};
static const char *const operations[] = {"+", "-", "*", "/"};
static const char *const comparisons[] = {"<", "<=", ">", ">=", "=", "!="};

typedef struct {
  uint64_t state;
  Arena *arena;
  Buf body;
  uint32_t made, small;
} BodyMaker;

static uint32_t below(BodyMaker *g, uint32_t n) {
  uint64_t x = g->state += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((x ^ (x >> 31)) % n);
}
#define PICK(g, list) (list)[below(g, COUNT(list))]

static const char *wire(BodyMaker *g, char kind, uint32_t depth);

static const char *given(BodyMaker *g, char kind) {
  static const char *const names[] = {"x", "y", "A", "C", "s", "u", "k", "l", "t", "r"};
  static const char kinds[] = "VVMMSSKKTT";
  uint32_t i;
  do i = below(g, COUNT(names));
  while (kinds[i] != kind);
  return names[i];
}

static bool is_kind(char c) { return c == 'V' || c == 'M' || c == 'S' || c == 'K' || c == 'T'; }

static void put_letter(BodyMaker *g, Buf *b, char c, const char *own, uint32_t depth) {
  if (c == '$')
    buf_text(b, own);
  else if (c == '#')
    buf_printf(b, "%u", below(g, 5));
  else if (c == '%')
    buf_printf(b, "%u", g->small);
  else if (c == '~')
    buf_text(b, PICK(g, constants));
  else if (c == '@')
    buf_text(b, PICK(g, functions));
  else if (c == '!')
    buf_text(b, PICK(g, operations));
  else if (c == '?')
    buf_text(b, PICK(g, comparisons));
  else if (is_kind(c))
    buf_text(b, wire(g, c, depth));
  else
    buf_char(b, c);
}

// A wire of a kind: one that comes in, or a line that makes one.
static const char *wire(BodyMaker *g, char kind, uint32_t depth) {
  if (!depth) return given(g, kind);
  const BodyRule *rule;
  do rule = &PICK(g, rules);
  while (rule->kind != kind);
  Buf line = buf_new(g->arena);
  const char *own = arena_format(g->arena, "w%u", g->made++);
  uint32_t small = 1 + below(g, 2);
  for (const char *at = rule->text; *at; at++) {
    uint32_t inner = below(g, 2) ? depth - 1 : 0;
    g->small = small;
    put_letter(g, &line, *at, own, inner);
  }
  buf_printf(&g->body, "  %s\n", line.at);
  return own;
}

// -- what they mean and how they look -------------------------------------------------------------
typedef VEC(double) Numbers;
typedef struct {
  char kind;
  const char *program;
  bool fits;      // it is a program
  Numbers values; // results and slopes
  const char *painted;
  size_t bytes;
} MadeBody;
typedef VEC(MadeBody) MadeBodies;

typedef struct {
  char name, kind;
  const char *type;
} BodyInput;
static const BodyInput inputs[] = {{'x', 'V', "R[n:5]"},     {'y', 'V', "R[n:5]"},
                                   {'A', 'M', "R[n:5 m:5]"}, {'C', 'M', "R[n:5 m:5]"},
                                   {'s', 'S', "R[]"},        {'u', 'S', "R[]"},
                                   {'k', 'K', "{5}"},        {'l', 'K', "{5}"},
                                   {'t', 'T', "{5}[n:5]"},   {'r', 'T', "{5}[n:5]"}};

// Does the body have this letter alone as a word?
static bool mentions(const char *text, char letter) {
  for (const char *at = text; (at = strchr(at, letter)); at++) {
    bool before = at > text && (char_is_word(at[-1])), after = char_is_word(at[1]);
    if (!before && !after) return true;
  }
  return false;
}

// What the body reads comes in, and sometimes something that it does not.
static const char *program_of(BodyMaker *g, char kind, const char *last) {
  static const char *const result[] = {
      ['V'] = "R[5]", ['M'] = "R[5 5]", ['S'] = "R[]", ['K'] = "{5}", ['T'] = "{5}[5]"};
  Buf b = buf_new(g->arena);
  uint32_t more = below(g, 3 * COUNT(inputs)), n = 0;
  buf_text(&b, "box f(");
  for (uint32_t i = 0; i < COUNT(inputs); i++) {
    if (i != more && !mentions(g->body.at, inputs[i].name)) continue;
    buf_printf(&b, "%s%c: %s", n++ ? ", " : "", inputs[i].name, inputs[i].type);
  }
  buf_printf(&b, ") -> %s {\n", result[(int)kind]);
  if (strstr(g->body.at, " d[")) buf_text(&b, "  const d : R[2] = [0.25, 2]\n");
  if (strstr(g->body.at, " e[")) buf_text(&b, "  const e : R[2] = [1, -0.5]\n");
  buf_printf(&b, "%s  return %s\n}\n", g->body.at, last);
  return b.at;
}

static MadeBody body_made(BodyMaker *g, uint64_t seed) {
  static const char kinds[] = "VVVVMSSKT";
  g->state = seed * 0x2545F4914F6CDD1Du, g->made = 0;
  g->body = buf_new(g->arena);
  MadeBody m = {.kind = kinds[below(g, 9)]};
  const char *last = wire(g, m.kind, 1 + below(g, 2));
  m.program = program_of(g, m.kind, last);
  return m;
}

static double chance(uint64_t *state) { // between -2 and 2, seldom a whole number
  BodyMaker g = {.state = *state};
  double x = (below(&g, 4000000) + 0.5) / 1e6 - 2;
  *state = g.state;
  return x;
}

static void add_numbers(Arena *a, const LimnArrays *from, Numbers *to) {
  for (uint32_t i = 0; i < from->n; i++) {
    const LimnArray *x = &from->at[i].array;
    int64_t n = 1;
    for (uint32_t k = 0; k < x->rank; k++) n *= x->shape[k];
    for (int64_t k = 0; k < n; k++)
      vec_push(a, to,
               x->type == LIMN_F64   ? ((double *)x->data)[k]
               : x->type == LIMN_F32 ? (double)((float *)x->data)[k]
               : x->type == LIMN_I64 ? (double)((int64_t *)x->data)[k]
               : x->type == LIMN_I32 ? (double)((int32_t *)x->data)[k]
                                     : (double)((uint8_t *)x->data)[k]);
  }
}

static void body_values(Arena *a, Limn *l, MadeBody *m, uint64_t seed) {
  static const int64_t shape[] = {5, 5};
  double number[COUNT(inputs)][25], back[25];
  LimnArray array[COUNT(inputs) + 1];
  LimnInput in[COUNT(inputs)];
  uint32_t n = 0;
  const char *head = strchr(m->program, '(');
  for (uint32_t i = 0; i < COUNT(inputs); i++) {
    char kind = inputs[i].kind;
    for (uint32_t k = 0; k < 25; k++) {
      double x = chance(&seed);
      number[i][k] = kind == 'K' || kind == 'T' ? floor((x + 2) * 1.25) : x;
    }
    array[i] =
        (LimnArray){LIMN_F64, kind == 'M' ? 2 : kind == 'V' || kind == 'T', shape, NULL, number[i]};
    char name[3] = {inputs[i].name, ':', 0};
    const char *at = strstr(head, name);
    if (at && at < strstr(head, ") ->"))
      in[n++] = (LimnInput){arena_text(a, name, 1), NULL, &array[i]};
  }
  for (uint32_t k = 0; k < 25; k++) back[k] = chance(&seed);
  LimnArray dy = {LIMN_F64, m->kind == 'M' ? 2 : m->kind == 'V', shape, NULL, back};
  bool slopes = m->kind == 'V' || m->kind == 'M' || m->kind == 'S';
  LimnEval how = {.size = sizeof how, .in = in, .nin = n, .dy_array = slopes ? &dy : NULL};
  LimnArrays out = {0}, grads = {0};
  if (limn_eval_arrays(l, "f", &how, &out, slopes ? &grads : NULL) != LIMN_GOOD)
    fail_msg("%s\n%s", m->program, limn_messages(l, false));
  add_numbers(a, &out, &m->values);
  add_numbers(a, &grads, &m->values);
}

static void body_look(Arena *a, MadeBody *m) {
  Limn *l = limn_new();
  const char *svg = NULL;
  size_t n = 0;
  m->fits = limn_load_text(l, "f.limn", m->program, strlen(m->program)) == LIMN_GOOD;
  if (m->fits) {
    LimnDraw how = {.size = sizeof how, .level = "layer", .out = "f.svg"};
    for (uint64_t i = 1; i <= SETS; i++) body_values(a, l, m, i);
    if (limn_draw_bytes(l, "f", &how, &svg, &n) != LIMN_GOOD)
      fail_msg("%s\n%s", m->program, limn_messages(l, false));
    m->painted = painted(a, svg, n, &m->bytes);
  } else if (getenv("REFUSED")) {
    printf("%s%s\n", m->program, limn_messages(l, false));
  }
  limn_free(l);
}

// -- the law --------------------------------------------------------------------------------------
static bool same_number(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a >= b && a <= b;
  return fabs(a - b) <= 1e-7 * fmax(1e-3, fmax(fabs(a), fabs(b)));
}

static bool same_meaning(const MadeBody *a, const MadeBody *b) {
  if (a->kind != b->kind || a->values.n != b->values.n) return false;
  for (uint32_t i = 0; i < a->values.n; i++)
    if (!same_number(a->values.at[i], b->values.at[i])) return false;
  return true;
}

typedef struct {
  Arena *arena;
  Table *seen; // pictures to bodies
  MadeBodies all;
  uint32_t tried, refused, alike, wrong;
  bool list;
} Apart;

static void compare(Apart *x, const MadeBody *m) {
  uint32_t k = table_get(x->seen, m->painted, m->bytes);
  if (!k) {
    vec_push(x->arena, &x->all, *m);
    table_put(x->seen, m->painted, m->bytes, x->all.n);
    return;
  }
  x->alike++;
  const MadeBody *other = &x->all.at[k - 1];
  if (same_meaning(m, other)) return;
  x->wrong++;
  if (x->list || x->wrong < 4)
    printf("look alike and are not:\n%s%s\n", other->program, m->program);
}

static void try_bodies(Apart *x, uint64_t first, uint64_t n) {
  BodyMaker g = {.arena = x->arena};
  x->seen = table_new(x->arena);
  for (uint64_t seed = first; seed < first + n; seed++) {
    MadeBody m = body_made(&g, seed);
    body_look(x->arena, &m);
    x->tried++, x->refused += !m.fits;
    if (m.fits) compare(x, &m);
  }
}

static void pictures_tell_apart(void **state) {
  (void)state;
  Apart x = {.arena = arena_new()};
  try_bodies(&x, 1, BODIES);
  uint32_t wrong = x.wrong, refused = x.refused;
  arena_free(x.arena);
  assert_int_equal(wrong, 0);
  assert_true(refused < BODIES / 8);
}

int main(int argc, char **argv) {
  if (argc > 2) {
    Apart x = {.arena = arena_new(), .list = true};
    try_bodies(&x, strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
    fprintf(stderr, "%u bodies, %u refused, %u look like another one, %u of them wrongly\n",
            x.tried, x.refused, x.alike, x.wrong);
    return x.wrong > 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_tell_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
