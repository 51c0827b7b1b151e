// A parser of scalar expressions (recursive descent): the derivatives of ops.def, and small loops
// written as text.
//
//   scalar  = sum { ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) sum }
//   sum     = product { ( "+" | "-" ) product }            product = unary { ( "*" | "/" ) unary }
//   unary   = [ "-" ] power                                power   = primary [ "^" unary ]
//   primary = number | name | row "(" scalar { "," scalar } ")" | "(" scalar ")"
//
// Scalars are appended in post-order, equal scalars once. The base of a number is inferred: from
// the signature of the function that it is an argument of, or from the other argument where the
// signature has stars. An unconstrained number is real; conflicting bases are an error. All texts
// are part of limn, so there are no messages.
#include "base/number.h"
#include "core/diagram/diagram.h"
#include "core/diagram/ops.h"
#include "core/diagram/print.h"

typedef struct {
  World *w;
  Loop *loop;
  uint32_t first; // the first scalar of this text
  const char *at;
  const char *const *name;
  const uint32_t *value;
  uint32_t n;
  bool failed;
} ScalarText;

static const struct ScalarSign {
  char sign[3]; // a sign precedes its own prefixes in the table
  uint8_t level, fn;
  bool swapped;
} signs[] = {{"=", 0, FN_eq, false},  {"!=", 0, FN_ne, false}, {"<=", 0, FN_le, false},
             {"<", 0, FN_lt, false},  {">=", 0, FN_le, true},  {">", 0, FN_lt, true},
             {"+", 1, FN_add, false}, {"-", 1, FN_sub, false}, {"*", 2, FN_mul, false},
             {"/", 2, FN_div, false}};
enum { LEVELS = 3 };

static uint32_t read_level(ScalarText *t, uint32_t level);

// -- scalars --------------------------------------------------------------------------------------
static uint32_t push_once(ScalarText *t, Scalar s) {
  for (uint32_t i = t->first; i < t->loop->nscalar; i++) {
    const Scalar *o = &t->loop->scalar[i];
    if (o->fn == s.fn && memcmp(o->arg, s.arg, sizeof s.arg) == 0 &&
        memcmp(&o->k, &s.k, sizeof s.k) == 0)
      return i;
  }
  return scalar_push(t->w, t->loop, s);
}

static uint8_t base_of_letter(char letter, uint8_t star) {
  if (letter == 'R') return BASE_R;
  return letter == 'B' ? BASE_BIT : star;
}

static uint32_t push_row(ScalarText *t, Fn fn, const uint32_t arg[3]) {
  const FnRow *row = &fn_rows[fn];
  Scalar *scalar = t->loop->scalar, s = {.fn = (uint8_t)fn};
  uint8_t star = BASE_NONE;
  if (t->failed) return 0;
  for (uint32_t i = 0; i < row->arity; i++)
    if (row->sig[i] == '*' && !star) star = scalar[arg[i]].base;
  if (!star) star = BASE_R;
  for (uint32_t i = 0; i < row->arity; i++) {
    uint8_t base = base_of_letter(row->sig[i], star);
    s.arg[i] = arg[i];
    if (!scalar[arg[i]].base) scalar[arg[i]].base = base;
    t->failed |= scalar[arg[i]].base != base;
  }
  s.base = base_of_letter(row->sig[row->arity + 1], star);
  return push_once(t, s);
}

// -- words and signs ------------------------------------------------------------------------------
static void skip_spaces(ScalarText *t) { t->at += strspn(t->at, " "); }

static bool accept(ScalarText *t, const char *sign) {
  skip_spaces(t);
  bool here = strncmp(t->at, sign, strlen(sign)) == 0;
  if (here) t->at += strlen(sign);
  return here;
}

static void expect(ScalarText *t, const char *sign) { t->failed |= !accept(t, sign); }

static bool accept_number(ScalarText *t, double *k) {
  skip_spaces(t);
  const char *from = t->at;
  *k = number_read(from, &t->at);
  return t->at != from;
}

static const char *accept_name(ScalarText *t) {
  const char *from = t->at;
  while (char_is_word(*t->at) || *t->at == '_') t->at++;
  return arena_text(t->w->arena, from, (size_t)(t->at - from));
}

// -- expressions ----------------------------------------------------------------------------------
static uint32_t read_application(ScalarText *t, const char *name) {
  Fn fn = fn_find(name);
  uint32_t arg[3] = {0};
  t->failed |= fn == FN_COUNT;
  for (uint32_t i = 0; !t->failed && i < fn_rows[fn].arity; i++) {
    if (i) expect(t, ",");
    arg[i] = read_level(t, 0);
  }
  expect(t, ")");
  return push_row(t, fn, arg);
}

static uint32_t read_primary(ScalarText *t) {
  Scalar number = {.fn = FN_CONST};
  if (accept(t, "(")) {
    uint32_t inside = read_level(t, 0);
    expect(t, ")");
    return inside;
  }
  if (accept_number(t, &number.k)) return push_once(t, number);
  const char *name = accept_name(t);
  if (accept(t, "(")) return read_application(t, name);
  for (uint32_t i = 0; i < t->n; i++)
    if (strcmp(t->name[i], name) == 0) return t->value[i];
  t->failed = true;
  return 0;
}

static uint32_t read_unary(ScalarText *t);

static uint32_t read_power(ScalarText *t, uint32_t a) {
  return accept(t, "^") ? push_row(t, FN_pow, (uint32_t[3]){a, read_unary(t)}) : a;
}

// A minus before a number belongs to the number, unless the number is raised to a power.
static uint32_t read_unary(ScalarText *t) {
  Scalar number = {.fn = FN_CONST};
  if (!accept(t, "-")) return read_power(t, read_primary(t));
  const char *after_sign = t->at;
  if (accept_number(t, &number.k) && !accept(t, "^")) {
    number.k = -number.k;
    return push_once(t, number);
  }
  t->at = after_sign;
  return push_row(t, FN_neg, (uint32_t[3]){read_unary(t)});
}

static const struct ScalarSign *accept_sign(ScalarText *t, uint32_t level) {
  for (uint32_t i = 0; i < COUNT(signs); i++)
    if (signs[i].level == level && accept(t, signs[i].sign)) return &signs[i];
  return NULL;
}

static uint32_t read_level(ScalarText *t, uint32_t level) {
  if (level == LEVELS) return read_unary(t);
  uint32_t a = read_level(t, level + 1);
  const struct ScalarSign *s;
  while (!t->failed && (s = accept_sign(t, level))) {
    uint32_t b = read_level(t, level + 1);
    a = push_row(t, (Fn)s->fn, s->swapped ? (uint32_t[3]){b, a} : (uint32_t[3]){a, b});
  }
  return a;
}

bool scalar_read(World *w, Loop *loop, const char *text, const char *const *name,
                 const uint32_t *value, uint32_t n, uint32_t *out) {
  ScalarText t = {.w = w,
                  .loop = loop,
                  .first = loop->nscalar,
                  .at = text,
                  .name = name,
                  .value = value,
                  .n = n};
  *out = read_level(&t, 0);
  for (uint32_t i = t.first; i < loop->nscalar; i++)
    if (!loop->scalar[i].base) loop->scalar[i].base = BASE_R;
  return !t.failed && !*t.at;
}
