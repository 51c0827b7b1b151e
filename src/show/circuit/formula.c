// The body of a loop as a short formula above its wires, in the markup of math.c. What the wires
// show is left out: a product, or a plain read, has no formula.
#include "base/names.h"
#include "core/diagram/ops.h"
#include "show/circuit/circuit_own.h"

#include <math.h>
#include <stdlib.h>

enum { FORMULA_MOST = 2000 }; // characters

typedef struct {
  const FormulaOf *of;
  Buf *out;
  bool named; // operands have the names of their wires
} Formula;

static const char *infix(Fn fn, int *level) {
  static const struct {
    Fn fn;
    int level;
    const char *sign;
  } rows[] = {{FN_select, 1, ""},  {FN_lt, 2, " < "},  {FN_le, 2, " ≤ "},  {FN_eq, 2, " = "},
              {FN_ne, 2, " ≠ "},   {FN_or, 3, " ∨ "},  {FN_xor, 3, " ⊕ "}, {FN_and, 4, " ∧ "},
              {FN_add, 5, " + "},  {FN_sub, 5, " − "}, {FN_mul, 6, " · "}, {FN_div, 6, "/"},
              {FN_mod, 6, " mod "}};
  for (uint32_t i = 0; i < COUNT(rows); i++)
    if (rows[i].fn == fn) {
      *level = rows[i].level;
      return rows[i].sign;
    }
  *level = 9;
  return NULL;
}

static bool is_index(const FormulaOf *of, const char *name) {
  for (uint32_t i = 0; i < of->l->nindex; i++)
    if (strcmp(name_text(of->w->names, of->l->index[i].name), name) == 0) return true;
  return false;
}

// Letters distinct from those of axes, which label wires too.
static const char *operand_name(const FormulaOf *of, bool named, uint32_t i) {
  if (named) return name_text(of->w->names, of->d->wire.at[of->in[i]].name);
  static const char *const letters[] = {"x", "y", "z", "u", "v", "w"};
  uint32_t n = 0;
  for (uint32_t k = 0; k < COUNT(letters); k++)
    if ((of->l->nin < 2 || !is_index(of, letters[k])) && n++ == i) return letters[k];
  return letters[i % COUNT(letters)];
}

// At most seven significant digits, as few as necessary; … marks truncation.
static void digits(Buf *b, double x) {
  char text[32];
  int n = 1;
  do snprintf(text, sizeof text, "%.*g", n, x);
  while (fabs(strtod(text, NULL) - x) > 1e-15 * x && n++ < 7);
  buf_printf(b, "%s%s", text, n > 7 ? "…" : "");
}

static void number(Buf *b, double k) {
  double size = fabs(k), power = size > 0 ? floor(log10(size) + 1e-9) : 0;
  double first = size / pow(10, power);
  if (k < 0) buf_text(b, "−");
  if (isnan(k))
    buf_text(b, "nan");
  else if (isinf(k))
    buf_text(b, "∞");
  else if (size == floor(size) && size < 1e7)
    buf_printf(b, "%.0f", size);
  else if (fabs(power) < 4)
    digits(b, size);
  else if (fabs(first - 1) < 1e-12)
    buf_printf(b, "10^{%s%.0f}", power < 0 ? "−" : "", fabs(power));
  else
    digits(b, first), buf_printf(b, "·10^{%s%.0f}", power < 0 ? "−" : "", fabs(power));
}

const char *formula_number(Arena *a, double k) {
  Buf b = buf_new(a);
  number(&b, k);
  return b.at;
}

static void write_scalar(const Formula *f, uint32_t i, int level);

// f(x), but √x and ¬x, and exponents as superscripts.
static void write_call(const Formula *f, const Scalar *x) {
  const Loop *l = f->of->l;
  bool sign = x->fn == FN_sqrt || x->fn == FN_not || x->fn == FN_neg;
  bool bare = sign && l->scalar[x->arg[0]].fn <= FN_SIZE;
  if (x->fn == FN_abs || x->fn == FN_floor) {
    buf_text(f->out, x->fn == FN_abs ? "|" : "⌊");
    write_scalar(f, x->arg[0], 0);
    buf_text(f->out, x->fn == FN_abs ? "|" : "⌋");
    return;
  }
  if (x->fn == FN_number) {
    write_scalar(f, x->arg[0], 9);
    return;
  }
  buf_text(f->out, fn_rows[x->fn].glyph);
  if (!bare) buf_char(f->out, '(');
  for (uint32_t k = 0; k < fn_rows[x->fn].arity; k++) {
    if (k) buf_text(f->out, ", ");
    write_scalar(f, x->arg[k], 0);
  }
  if (!bare) buf_char(f->out, ')');
}

static void write_leaf(const Formula *f, const Scalar *x) {
  World *w = f->of->w;
  if (x->fn == FN_CONST)
    number(f->out, x->k);
  else if (x->fn == FN_ARG)
    buf_text(f->out, operand_name(f->of, f->named, x->ref));
  else if (x->fn == FN_AT)
    buf_text(f->out, name_text(w->names, f->of->l->index[x->ref].name));
  else
    buf_text(f->out, size_label(w, f->out->arena, x->ref));
}

static bool is_square(const Loop *l, const Scalar *x) {
  if (x->fn != FN_mul) return false;
  const Scalar *a = &l->scalar[x->arg[0]], *b = &l->scalar[x->arg[1]];
  if (a->fn == FN_ARG && b->fn == FN_ARG) return a->ref == b->ref;
  return x->arg[0] == x->arg[1] && b->fn > FN_SIZE;
}

static bool is_zero(const Scalar *x) { return x->fn == FN_CONST && !(x->k < 0) && !(x->k > 0); }

static void write_power(const Formula *f, const Scalar *x) {
  write_scalar(f, x->arg[0], 9);
  buf_text(f->out, "^{");
  if (x->fn == FN_mul)
    buf_char(f->out, '2');
  else
    write_scalar(f, x->arg[1], 0);
  buf_char(f->out, '}');
}

static void write_scalar(const Formula *f, uint32_t i, int level) {
  const Scalar *x = &f->of->l->scalar[i];
  int own;
  const char *sign = infix((Fn)x->fn, &own);
  bool brackets = own < level;
  if (x->fn <= FN_SIZE) {
    write_leaf(f, x);
  } else if (x->fn == FN_pow || is_square(f->of->l, x)) {
    write_power(f, x);
  } else if (x->fn == FN_sub && is_zero(&f->of->l->scalar[x->arg[0]])) {
    buf_text(f->out, "−");
    write_scalar(f, x->arg[1], 6);
  } else if (!sign) {
    write_call(f, x);
  } else {
    if (brackets) buf_char(f->out, '(');
    write_scalar(f, x->arg[x->fn == FN_select], x->fn == FN_select ? own + 1 : own);
    if (x->fn == FN_select) {
      buf_text(f->out, " if ");
      write_scalar(f, x->arg[0], own + 1);
      buf_text(f->out, " else ");
      write_scalar(f, x->arg[2], own + 1);
    } else {
      buf_text(f->out, sign);
      write_scalar(f, x->arg[1], x->fn == FN_add || x->fn == FN_mul ? own : own + 1);
    }
    if (brackets) buf_char(f->out, ')');
  }
}

static bool is_factor(const Loop *l, uint32_t i, uint64_t *read) {
  const Scalar *x = &l->scalar[i];
  if (x->fn == FN_mul || x->fn == FN_and)
    return is_factor(l, x->arg[0], read) && is_factor(l, x->arg[1], read);
  if (x->fn != FN_ARG || x->ref >= 64 || *read >> x->ref & 1) return false;
  *read |= 1ull << x->ref;
  return true;
}

// With distinct factors: wires show multiplication, but not a square.
bool is_product(const Loop *l, uint32_t i) {
  uint64_t read = 0;
  return is_factor(l, i, &read);
}

static bool is_arg(const Loop *l, uint32_t i) { return l->scalar[i].fn == FN_ARG; }

// Does it depend on an operand? Scalars refer to earlier ones only.
static bool reads_arg(const Loop *l, uint32_t i) {
  const Scalar *x = &l->scalar[i];
  if (x->fn <= FN_SIZE) return x->fn == FN_ARG;
  for (uint32_t k = 0; k < fn_rows[x->fn].arity; k++)
    if (reads_arg(l, x->arg[k])) return true;
  return false;
}

// A single function of the operands in order: only its operator is written.
static bool is_sign(const Loop *l, const Scalar *x) {
  uint32_t n = fn_rows[x->fn].arity, last = UINT32_MAX;
  if (x->fn <= FN_SIZE || x->fn == FN_select || x->fn == FN_pow || x->fn == FN_neg) return false;
  for (uint32_t k = 0; k < n; k++) {
    const Scalar *a = &l->scalar[x->arg[k]];
    bool swaps = x->fn == FN_add || x->fn == FN_mul || x->fn == FN_eq || x->fn == FN_ne;
    if (a->fn != FN_ARG || (k && a->ref == last) || (k && a->ref < last && !swaps)) return false;
    last = a->ref;
  }
  return true;
}

static bool all_named(const FormulaOf *of) {
  for (uint32_t i = 0; of->d && i < of->l->nin; i++) {
    const char *name = name_text(of->w->names, of->d->wire.at[of->in[i]].name);
    if (!*name || strlen(name) > 3) return false;
    for (uint32_t k = 0; k < i; k++)
      if (of->d->wire.at[of->in[k]].name == of->d->wire.at[of->in[i]].name) return false;
  }
  return of->d && of->l->nin > 1;
}

// A scale factor: *k^{−1/2}, /n.
static void write_divisor(const Formula *f, uint32_t i) {
  const Loop *l = f->of->l;
  const Scalar *x = &l->scalar[i];
  if (x->fn == FN_sqrt && l->scalar[x->arg[0]].fn <= FN_SIZE) {
    buf_char(f->out, '*');
    write_scalar(f, x->arg[0], 7);
    buf_text(f->out, "^{−1/2}");
  } else {
    buf_char(f->out, '/');
    write_scalar(f, i, 7);
  }
}

// Shared subexpressions are written repeatedly, except squares: the derivative of a long chain
// could be exponentially long.
bool formula_is_endless(const Loop *l, Arena *a) {
  double *signs = NEW_ARRAY(a, double, l->nscalar + 1); // [scalar] its length when written out
  for (uint32_t i = 0; i < l->nscalar; i++) {
    const Scalar *x = &l->scalar[i];
    uint32_t arity = x->fn > FN_SIZE ? fn_rows[x->fn].arity : 0;
    signs[i] = 1;
    for (uint32_t k = 0; k < arity; k++)
      if (!k || x->arg[k] != x->arg[k - 1]) signs[i] += signs[x->arg[k]];
  }
  return signs[l->nscalar - 1] > FORMULA_MOST;
}

const char *formula_text(const FormulaOf *of, Arena *a) {
  const Loop *l = of->l;
  const Scalar *x = &l->scalar[l->nscalar - 1];
  if (is_product(l, l->nscalar - 1)) return NULL;
  if (formula_is_endless(l, a)) return "…";
  if (is_sign(l, x)) return x->fn == FN_sub ? "−" : fn_rows[x->fn].glyph;
  Buf b = buf_new(a);
  Formula f = {of, &b, all_named(of)};
  if (is_square(l, x)) {
    write_power(&f, x);
  } else if (l->nin == 1 && x->fn == FN_div && is_arg(l, x->arg[0]) && !reads_arg(l, x->arg[1])) {
    write_divisor(&f, x->arg[1]);
  } else if (l->nin == 1 && x->fn == FN_mul && is_arg(l, x->arg[0]) && !reads_arg(l, x->arg[1])) {
    buf_char(&b, '*'), write_scalar(&f, x->arg[1], 7);
  } else if (l->nin == 1 && x->fn == FN_mul && is_arg(l, x->arg[1]) && !reads_arg(l, x->arg[0])) {
    buf_char(&b, '*'), write_scalar(&f, x->arg[0], 7);
  } else {
    write_scalar(&f, l->nscalar - 1, 0);
  }
  return b.at;
}

// A commutative operator alone.
static bool is_free_sign(const Loop *l) {
  static const Fn fn[] = {FN_add,     FN_mul, FN_eq, FN_ne, FN_maximum,
                          FN_minimum, FN_and, FN_or, FN_xor};
  const Scalar *x = &l->scalar[l->nscalar - 1];
  for (uint32_t i = 0; i < COUNT(fn); i++)
    if (x->fn == fn[i]) return is_sign(l, x);
  return false;
}

const char *formula_named(const FormulaOf *of, Arena *a) {
  const Loop *l = of->l;
  if (l->nin < 2 || is_free_sign(l) || !is_sign(l, &l->scalar[l->nscalar - 1])) return NULL;
  Buf b = buf_new(a);
  write_scalar(&(Formula){of, &b, all_named(of)}, l->nscalar - 1, 0);
  return b.at;
}

const char *formula_operand(const FormulaOf *of, uint32_t operand) {
  return of->l->nin < 2 || is_free_sign(of->l) ? NULL : operand_name(of, all_named(of), operand);
}

uint32_t formula_letters(const char *text) {
  uint32_t n = 0;
  for (; *text; text++) n += (*text & 0xC0) != 0x80 && !strchr("^_{}", *text);
  return n;
}
