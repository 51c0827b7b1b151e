// The law of draws: the context of a random draw determines for which indices it is drawn anew. The
// text is one draw in a random context: in an index equation, in a box with or without arguments,
// in functions, sums and conditions, under `over`, in a scan, and named in an earlier line. If all
// other values are the same for all samples and indices, the number of different results is the
// number of draws. A draw shared by all places of an index gives a warning, unless a name or an
// index says so. All engines draw the same numbers.
#include "whole_laws.h"

#include <stdlib.h>

enum { SAMPLES = 3, ROWS = 2, COLUMNS = 4, STEPS = 2 };
enum { EACH_SAMPLE = 1, EACH_ROW = 2, EACH_COLUMN = 4, EACH_STEP = 8 };

typedef struct {
  const char *lines, *value; // lines before it, and the text of the value
  bool told;
  uint32_t each;
} DrawText;

typedef struct {
  Maker m;
  Arena *arena;
  bool left; // the equation has a left side
  uint32_t sums;
} DrawMaker;

// What `i j` are read at is said; %D is a number that is drawn, %S more in brackets, %i a constant.
typedef struct {
  const char *lines, *value;
  uint32_t each; // beside what all of its place are
  bool place;    // a name or a place says what it is for
} DrawForm;

enum { ALL = EACH_ROW | EACH_COLUMN };
static const DrawForm forms[] = {{"", "normal[]", ALL, false},
                                 {"", "uniform[]", ALL, false},
                                 {"", "one()", ALL, false},
                                 {"", "two()", ALL, false},
                                 {"", "deep()", ALL, false},
                                 {"", "noisy(0.5)", ALL, false},
                                 {"", "noisy(one_of(p[i j]))", ALL, false},
                                 {"", "noisy(q[i])", ALL, false},
                                 {"", "(noisy ; bent)(q[i])", ALL, false},
                                 {"", "(noisy(r[j]) * noisy(q[i]))", ALL, false},
                                 {"", "(uniform[] * one_of(r[j]))", ALL, false},
                                 {"", "noisy(max(p))", ALL, false},
                                 {"  u = normal[]\n", "u", 0, true},
                                 {"  u = two()\n", "u", 0, true},
                                 {"  u = normal[n]\n", "u[i]", EACH_ROW, true},
                                 {"  u = uniform[m]\n", "u[j]", EACH_COLUMN, true},
                                 {"  u = normal[n m]\n", "u[i j]", ALL, true},
                                 {"  u[k] = noisy(q[k])\n", "u[i]", EACH_ROW, true}};
// Drawn as a whole: read at a place, or reduced over all axes.
static const DrawForm wholes[] = {{"", "normal[m][j]", EACH_COLUMN, true},
                                  {"", "rows(uniform[n])[i]", EACH_ROW, true},
                                  {"", "normal[m][1]", 0, false},
                                  {"", "sum(normal[m])", 0, false},
                                  {"", "max(uniform[n])", 0, false}};

static DrawText drawn(DrawMaker *k) {
  const DrawForm *f = one_in(&k->m, 4) ? &PICK(&k->m, wholes) : &PICK(&k->m, forms);
  bool whole = f >= wholes && f < wholes + COUNT(wholes);
  uint32_t each = f->each;
  if (!k->left && !f->place && !whole)
    each &= (strstr(f->value, "q[i") || strstr(f->value, "p[i") ? EACH_ROW : 0u) |
            (strstr(f->value, "noisy(r[j") || strstr(f->value, " j]") ? EACH_COLUMN : 0u);
  return (DrawText){.lines = f->lines,
                    .value = f->value,
                    .each = each | EACH_SAMPLE,
                    .told =
                        !f->place && (each != ALL || (!k->left && strstr(f->value, "* noisy")))};
}

// Each keeps different numbers different. % is the value, $ an index of its own.
static const char *const around[] = {"exp(0.1 * (%))",
                                     "(3 - (%))",
                                     "bent(%)",
                                     "(0.5 + %)",
                                     "max(%, 0 - 99)",
                                     "(% when p[i j] > -9 else 7)",
                                     "(bent ; bent)(%)",
                                     "same[bent](%)",
                                     "sum[$:3]((1 + $) * (%))",
                                     "(p[i j] * (%))",
                                     "-(%)"};

static const char *filled(DrawMaker *k, const char *form, const char *value) {
  Buf text = buf_new(k->arena);
  const char *index = arena_format(k->arena, "k%u", k->sums++);
  for (const char *c = form; *c; c++) {
    if (*c == '%' || *c == '$')
      buf_text(&text, *c == '%' ? value : index);
    else
      buf_char(&text, *c);
  }
  return arena_format(k->arena, "%s", text.at);
}

static const char *draws_program(DrawMaker *k, DrawText *t) {
  static const char head[] = "axis n = 2, m = 4, s = 2\n"
                             "box one() -> R[] = normal[]\n"
                             "box two() -> R[] = one() * 2\n"
                             "box deep() -> R[] {\n  y[l:3] = two()\n  return sum[l](y[l])\n}\n"
                             "box noisy(a: R[]) -> R[] = a + uniform[]\n"
                             "box rows(a: R[c]) -> R[c] = a * normal[c]\n"
                             "box one_of(a: R[]) -> R[] = 0 * a + 1\n"
                             "box bent(a: R[]) -> R[] = 1 + a / 2\n"
                             "box same[f](a: R[]) -> R[] = f(a)\n";
  for (uint32_t turn = below(&k->m, 4); turn; turn--) {
    const char *form = PICK(&k->m, around);
    bool equation = strstr(form, "i j") != NULL; // with free indices, a draw in it is shared
    if (!k->left && equation) continue;
    t->value = filled(k, form, t->value);
  }
  const char *lines = t->lines, *value = t->value;
  const char *body =
      k->left ? arena_format(k->arena, "%s  y[i j] = p[i j] + %s\n  return y\n", lines, value)
              : arena_format(k->arena, "%s  return p[i j] + %s\n", lines, value);
  return arena_format(k->arena,
                      "%sbox f(p: R[n m]) -> R[n m] {\n  q = sum[m](p)\n  r = sum[n](p)\n%s}\n"
                      "box passed(x: R[s n m]) -> R[s n m] = f(x) over s\n"
                      "box again(x: R[s n m]) -> R[s n m] {\n  return z[t n m] = f(x[t n m])\n}\n"
                      "box cell(p: R[n m], c: R[n m]) -> R[n m] = f(p) + 0 * c\n"
                      "box scanned(x: R[s n m]) -> R[s n m] = scan[s, cell](x)\n",
                      head, body);
}

// -- the law --------------------------------------------------------------------------------------
static bool told_shared(Limn *l) {
  LimnMessage m = {.size = sizeof m};
  bool told = false;
  for (uint32_t i = 0; i < limn_message_count(l); i++)
    told |= limn_message(l, i, &m) == LIMN_GOOD &&
            (strstr(m.text, "the same for all of") || strstr(m.text, "one number for all of"));
  return told;
}

static int by_size(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

// Those that differ by more than rounding.
static uint32_t different(Arena *a, const Value *v) {
  double *x = arena_copy(a, v->data, (size_t)v->n * sizeof(double));
  uint32_t n = v->n > 0;
  qsort(x, (size_t)v->n, sizeof *x, by_size);
  for (int64_t i = 1; i < v->n; i++) n += x[i] - x[i - 1] > 1e-12;
  return n;
}

static bool drawn_by(Case *c, Limn *l, const char *name, bool steps, int way, Value *out) {
  int64_t shape[] = {SAMPLES, STEPS, ROWS, COLUMNS}, flat[] = {SAMPLES, ROWS, COLUMNS};
  double ones[SAMPLES * STEPS * ROWS * COLUMNS];
  for (uint32_t i = 0; i < COUNT(ones); i++) ones[i] = 1;
  LimnArray x = {
      .type = LIMN_F64, .rank = steps ? 4 : 3, .shape = steps ? shape : flat, .data = ones};
  LimnInput in = {.name = "", .array = &x};
  LimnUse use = {.size = sizeof use, .in = &in, .nin = 1, .threads = 1};
  use.precision = LIMN_PRECISION_64;
  by_engine(way, &use.reference, &use.device);
  LimnArrays got = {0};
  Values v = {0};
  if (limn_predict_arrays(l, name, &use, &got) != LIMN_GOOD)
    return case_says(c, "draws: %s is refused: %s", name, limn_messages(l, false));
  case_take(c, &got, &v);
  *out = v.at[0];
  return true;
}

bool law_draws(Case *c) {
  static const char *const boxes[] = {"f", "passed", "again", "scanned"};
  DrawMaker k = {.m = {.state = c->p->seed * 2654435761u + 3}, .arena = c->arena};
  k.left = !one_in(&k.m, 4);
  DrawText t = drawn(&k);
  const char *text = draws_program(&k, &t);
  Limn *l = case_load(c, text);
  if (!l) return false;
  bool good = limn_check(l) == LIMN_GOOD || case_says(c, "draws: %s", limn_messages(l, false));
  if (good && told_shared(l) != t.told)
    good = case_says(c, "draws: it is %s that one is shared", t.told ? "not told" : "told");
  uint32_t each = SAMPLES;
  if (t.each & EACH_ROW) each *= ROWS;
  if (t.each & EACH_COLUMN) each *= COLUMNS;
  for (uint32_t i = 0; good && i < COUNT(boxes); i++) {
    Value want, have;
    uint32_t should = i ? each * STEPS : each, are;
    good = drawn_by(c, l, boxes[i], i > 0, BY_INTERPRETER, &want);
    if (good && (are = different(c->arena, &want)) != should)
      good = case_says(c, "draws: %s has %u different numbers, and should have %u", boxes[i], are,
                       should);
    for (int way = BY_PREBUILT; good && way <= BY_GPU; way++)
      if (way == BY_PREBUILT || c->p->seed % 8 == (uint64_t)way + 4)
        good = drawn_by(c, l, boxes[i], i > 0, way, &have) &&
               values_near(c, arena_format(c->arena, "draws: %s by another engine", boxes[i]),
                           &have, &want, 1e-7);
  }
  if (!good) case_says(c, "%s", text);
  limn_free(l);
  return good;
}
