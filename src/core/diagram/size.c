// Sizes as polynomials. A size is a sum of monomials with rational coefficients over atoms; an atom
// is a variable, or a floor quotient, quotient or power that is not a polynomial. Polynomials are
// kept in normal form (monomials sorted, like terms added, zeros dropped) and hash-consed, so two
// sizes are equal exactly if their ids are. Variables may be bound later: size_now substitutes the
// bound ones and memoises the result until the next binding. A result that overflows 64-bit
// integers or exceeds a limit is HUGE_SIZE, which is absorbing.
#include "base/names.h"
#include "base/table.h"
#include "core/diagram/diagram.h"

#include <math.h>
#include <stdlib.h>

typedef enum { ATOM_VAR, ATOM_FLOOR, ATOM_QUOTIENT, ATOM_POWER } AtomKind;
typedef struct {
  AtomKind kind;
  uint32_t a, b; // the variable, or two sizes
} Atom;

typedef struct {
  uint32_t atom, power;
} SizeFactor;

typedef struct {
  int64_t num, den; // den > 0, lowest terms
  uint32_t n;
  SizeFactor *factor; // sorted by atom
} Mono;

typedef struct {
  uint32_t n;
  Mono *mono;
  bool open;       // mentions a variable
  bool is_whole;   // a whole number, stored in `whole` (the most frequent query)
  uint32_t weight; // number of nodes of the expression tree, including quotients and powers
  uint32_t stamp;  // value of Sizes.stamp at which `now` was computed
  Size now;
  int64_t whole;
} Poly;

typedef struct {
  Name name;
  VarKind kind;
  Span span;
  Size value; // 0 = unbound
} Var;

struct Sizes {
  Table *poly_table, *atom_table;
  VEC(Poly) poly; // poly.at[0] is unused, poly.at[HUGE_SIZE] is the absorbing element
  VEC(Atom) atom;
  VEC(Var) var;   // var.at[0] is unused
  Size small[64]; // cached ids of the sizes 0, 1, 2, …
  uint32_t stamp; // counts bindings
  Id settled;     // variables below existed at the last sizes_settle
  bool moved;     // one of these was bound since
};

enum { HUGE_SIZE = 1, TERMS_LIMIT = 4096, POWER_LIMIT = 64, WEIGHT_LIMIT = 20000 };

typedef VEC(Mono) Monos;
__extension__ typedef __int128 Wide;

static Sizes *sizes_of(World *w) {
  if (w->sizes) return w->sizes;
  Sizes *s = w->sizes = NEW(w->arena, Sizes);
  s->poly_table = table_new(w->arena);
  s->atom_table = table_new(w->arena);
  s->stamp = 1;
  vec_push(w->arena, &s->poly, (Poly){0});
  vec_push(w->arena, &s->poly, (Poly){0});
  vec_push(w->arena, &s->var, (Var){0});
  return s;
}

// -- rational coefficients ------------------------------------------------------------------------
static bool reduce(Wide num, Wide den, int64_t *out_num, int64_t *out_den) {
  if (den < 0) num = -num, den = -den;
  Wide a = num < 0 ? -num : num, b = den;
  while (b) {
    Wide r = a % b;
    a = b;
    b = r;
  }
  if (a > 1) num /= a, den /= a;
  if (num > INT64_MAX || num < -INT64_MAX || den > INT64_MAX) return false;
  *out_num = (int64_t)num;
  *out_den = (int64_t)den;
  return true;
}

// -- interning ------------------------------------------------------------------------------------
static int compare_factors(const Mono *a, const Mono *b) {
  uint32_t da = 0, db = 0;
  for (uint32_t i = 0; i < a->n; i++) da += a->factor[i].power;
  for (uint32_t i = 0; i < b->n; i++) db += b->factor[i].power;
  if (da != db) return da > db ? -1 : 1;
  for (uint32_t i = 0; i < a->n && i < b->n; i++) {
    if (a->factor[i].atom != b->factor[i].atom)
      return a->factor[i].atom < b->factor[i].atom ? -1 : 1;
    if (a->factor[i].power != b->factor[i].power)
      return a->factor[i].power > b->factor[i].power ? -1 : 1;
  }
  return a->n < b->n ? -1 : a->n > b->n;
}

static int compare_monos(const void *a, const void *b) { return compare_factors(a, b); }

static bool atom_open(World *w, uint32_t atom) {
  const Atom *a = &w->sizes->atom.at[atom];
  if (a->kind == ATOM_VAR) return true;
  return w->sizes->poly.at[a->a].open || w->sizes->poly.at[a->b].open;
}

static uint32_t atom_weight(World *w, uint32_t atom) {
  const Atom *a = &w->sizes->atom.at[atom];
  return a->kind == ATOM_VAR ? 1
                             : 1 + w->sizes->poly.at[a->a].weight + w->sizes->poly.at[a->b].weight;
}

static Size poly_intern(World *w, Monos *m) {
  Sizes *s = sizes_of(w);
  if (m->n > TERMS_LIMIT) return HUGE_SIZE;
  if (m->n > 1) qsort(m->at, m->n, sizeof(Mono), compare_monos);
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->n; i++) { // add like terms
    if (n && compare_factors(&m->at[n - 1], &m->at[i]) == 0) {
      Mono *a = &m->at[n - 1], *b = &m->at[i];
      if (!reduce((Wide)a->num * b->den + (Wide)b->num * a->den, (Wide)a->den * b->den, &a->num,
                  &a->den))
        return HUGE_SIZE;
    } else {
      m->at[n++] = m->at[i];
    }
    if (m->at[n - 1].num == 0) n--;
  }
  m->n = n;
  int64_t small[64];
  VEC(int64_t) text = {.at = small, .n = 0, .cap = 64};
  for (uint32_t i = 0; i < n; i++) {
    const Mono *mono = &m->at[i];
    vec_push(w->arena, &text, mono->num);
    vec_push(w->arena, &text, mono->den);
    vec_push(w->arena, &text, (int64_t)mono->n);
    for (uint32_t f = 0; f < mono->n; f++)
      vec_push(w->arena, &text, ((int64_t)mono->factor[f].atom << 32) | mono->factor[f].power);
  }
  Id id = table_get(s->poly_table, text.at, text.n * sizeof(int64_t));
  if (id) return id;
  Poly p = {.n = n, .mono = arena_copy(w->arena, m->at, n * sizeof(Mono)), .weight = 1};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t f = 0; f < p.mono[i].n; f++) {
      p.open |= atom_open(w, p.mono[i].factor[f].atom);
      p.weight += atom_weight(w, p.mono[i].factor[f].atom);
      if (p.weight > WEIGHT_LIMIT) return HUGE_SIZE;
    }
  p.is_whole = n == 0 || (n == 1 && !p.mono[0].n && p.mono[0].den == 1);
  if (n && p.is_whole) p.whole = p.mono[0].num;
  vec_push(w->arena, &s->poly, p);
  table_put(s->poly_table, text.at, text.n * sizeof(int64_t), s->poly.n - 1);
  return s->poly.n - 1;
}

static Size size_atom(World *w, AtomKind kind, uint32_t a, uint32_t b) {
  Sizes *s = sizes_of(w);
  uint32_t key[3] = {kind, a, b};
  Id id = table_get(s->atom_table, key, sizeof key);
  if (!id) {
    vec_push(w->arena, &s->atom, (Atom){kind, a, b});
    id = s->atom.n;
    table_put(s->atom_table, key, sizeof key, id);
  }
  Monos m = {0};
  vec_push(w->arena, &m,
           (Mono){1, 1, 1, arena_copy(w->arena, &(SizeFactor){id - 1, 1}, sizeof(SizeFactor))});
  return poly_intern(w, &m);
}

static bool is_constant(World *w, Size a, int64_t *num, int64_t *den) {
  const Poly *p = &sizes_of(w)->poly.at[a];
  if (!a || a == HUGE_SIZE || p->n > 1 || (p->n == 1 && p->mono[0].n)) return false;
  *num = p->n ? p->mono[0].num : 0;
  *den = p->n ? p->mono[0].den : 1;
  return true;
}

// -- construction ---------------------------------------------------------------------------------
Size size_fraction(World *w, int64_t num, int64_t den) {
  Mono mono = {.n = 0}, room[1];
  Monos m = {.at = room, .n = 0, .cap = 1};
  sizes_of(w);
  if (!den || !reduce(num, den, &mono.num, &mono.den)) return HUGE_SIZE;
  if (num) vec_push(w->arena, &m, mono);
  return poly_intern(w, &m);
}

Size size_of(World *w, int64_t n) {
  Sizes *s = sizes_of(w);
  if (n < 0 || n >= (int64_t)COUNT(s->small)) return size_fraction(w, n, 1);
  if (!s->small[n]) s->small[n] = size_fraction(w, n, 1);
  return s->small[n];
}

Size size_var(World *w, Name name, VarKind kind, Span span) {
  Sizes *s = sizes_of(w);
  vec_push(w->arena, &s->var, (Var){name, kind, span, 0});
  return size_atom(w, ATOM_VAR, s->var.n - 1, 0);
}

static void add_scaled(World *w, Monos *m, Size a, int64_t sign) {
  const Poly *p = &w->sizes->poly.at[a];
  for (uint32_t i = 0; i < p->n; i++) {
    Mono mono = p->mono[i];
    mono.num *= sign;
    vec_push(w->arena, m, mono);
  }
}

static Size combine(World *w, Size a, Size b, int64_t sign) {
  if (!a || !b) return 0;
  if (a == HUGE_SIZE || b == HUGE_SIZE) return HUGE_SIZE;
  Mono room[16];
  Monos m = {.at = room, .n = 0, .cap = 16};
  add_scaled(w, &m, a, 1);
  add_scaled(w, &m, b, sign);
  return poly_intern(w, &m);
}

Size size_add(World *w, Size a, Size b) { return combine(w, a, b, 1); }
Size size_sub(World *w, Size a, Size b) { return combine(w, a, b, -1); }

static SizeFactor *merge_factors(World *w, const Mono *a, const Mono *b, uint32_t *count) {
  SizeFactor *f = NEW_ARRAY(w->arena, SizeFactor, a->n + b->n);
  uint32_t n = 0, i = 0, j = 0;
  while (i < a->n || j < b->n) {
    if (j == b->n || (i < a->n && a->factor[i].atom < b->factor[j].atom))
      f[n++] = a->factor[i++];
    else if (i == a->n || b->factor[j].atom < a->factor[i].atom)
      f[n++] = b->factor[j++];
    else
      f[n] = a->factor[i++], f[n++].power += b->factor[j++].power;
  }
  *count = n;
  return f;
}

Size size_mul(World *w, Size a, Size b) {
  if (!a || !b) return 0;
  if (a == HUGE_SIZE || b == HUGE_SIZE) return HUGE_SIZE;
  if (b == size_of(w, 1)) return a;
  const Poly p = w->sizes->poly.at[a], q = w->sizes->poly.at[b];
  if ((uint64_t)p.n * q.n > TERMS_LIMIT) return HUGE_SIZE;
  Mono room[16];
  Monos m = {.at = room, .n = 0, .cap = 16};
  for (uint32_t i = 0; i < p.n; i++)
    for (uint32_t j = 0; j < q.n; j++) {
      Mono c = {0};
      const Mono *x = &p.mono[i], *y = &q.mono[j];
      if (!reduce((Wide)x->num * y->num, (Wide)x->den * y->den, &c.num, &c.den)) return HUGE_SIZE;
      c.factor = merge_factors(w, x, y, &c.n);
      for (uint32_t f = 0; f < c.n; f++)
        if (c.factor[f].power > POWER_LIMIT) return HUGE_SIZE;
      vec_push(w->arena, &m, c);
    }
  return poly_intern(w, &m);
}

// a / b for a monomial b that divides every monomial of a; 0 if it does not.
static Size divide_by_monomial(World *w, Size a, const Mono *b) {
  const Poly p = w->sizes->poly.at[a];
  Monos m = {0};
  for (uint32_t i = 0; i < p.n; i++) {
    Mono c = {.factor = NEW_ARRAY(w->arena, SizeFactor, p.mono[i].n)};
    if (!reduce((Wide)p.mono[i].num * b->den, (Wide)p.mono[i].den * b->num, &c.num, &c.den))
      return HUGE_SIZE;
    uint32_t j = 0;
    for (uint32_t f = 0; f < p.mono[i].n; f++) {
      SizeFactor x = p.mono[i].factor[f];
      if (j < b->n && b->factor[j].atom == x.atom) {
        if (b->factor[j].power > x.power) return 0;
        x.power -= b->factor[j++].power;
      }
      if (x.power) c.factor[c.n++] = x;
    }
    if (j < b->n) return 0;
    vec_push(w->arena, &m, c);
  }
  return poly_intern(w, &m);
}

Size size_quotient(World *w, Size a, Size b) {
  if (!a || !b) return 0;
  if (a == HUGE_SIZE || b == HUGE_SIZE) return HUGE_SIZE;
  const Poly q = sizes_of(w)->poly.at[b];
  if (q.n == 0) return 0;
  if (q.n == 1) {
    Size exact = divide_by_monomial(w, a, &q.mono[0]);
    if (exact) return exact;
  }
  if (a == b) return size_of(w, 1);
  return size_atom(w, ATOM_QUOTIENT, a, b);
}

static int64_t floor_div(int64_t a, int64_t b) {
  return a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
}

Size size_floor(World *w, Size a, Size b) {
  int64_t num, den, by, one;
  if (!a || !b) return 0;
  if (a == HUGE_SIZE || b == HUGE_SIZE) return HUGE_SIZE;
  if (is_constant(w, b, &by, &one) && one == 1) {
    if (by == 0) return 0;
    if (is_constant(w, a, &num, &den)) {
      if (den > INT64_MAX / (by < 0 ? -by : by)) return HUGE_SIZE;
      return size_of(w, floor_div(num, den * by));
    }
    // (by*q + r) // by = q + r // by, for the terms with integer coefficients divisible by `by`
    Monos whole = {0}, rest = {0};
    const Poly p = w->sizes->poly.at[a];
    for (uint32_t i = 0; i < p.n; i++) {
      Mono c = p.mono[i];
      if (c.den == 1 && c.num % by == 0) {
        c.num /= by;
        vec_push(w->arena, &whole, c);
      } else {
        vec_push(w->arena, &rest, c);
      }
    }
    Size q = poly_intern(w, &whole), r = poly_intern(w, &rest);
    if (is_constant(w, r, &num, &den) && den == 1)
      return size_add(w, q, size_of(w, floor_div(num, by)));
    return size_add(w, q, size_atom(w, ATOM_FLOOR, r, b));
  }
  if (a == b) return size_of(w, 1);
  return size_atom(w, ATOM_FLOOR, a, b);
}

Size size_power(World *w, Size a, Size b) {
  int64_t times, one;
  if (!a || !b) return 0;
  if (a == HUGE_SIZE || b == HUGE_SIZE) return HUGE_SIZE;
  if (!is_constant(w, b, &times, &one)) return size_atom(w, ATOM_POWER, a, b);
  if (one != 1 || times > 64) return HUGE_SIZE;
  if (times < 0) return size_quotient(w, size_of(w, 1), size_power(w, a, size_of(w, -times)));
  Size p = size_of(w, 1);
  for (int64_t i = 0; i < times; i++) p = size_mul(w, p, a);
  return p;
}

// -- variables ------------------------------------------------------------------------------------
static Size atom_now(World *w, uint32_t atom) {
  const Atom a = w->sizes->atom.at[atom];
  switch (a.kind) {
  case ATOM_VAR:
    if (w->sizes->var.at[a.a].value) return size_now(w, w->sizes->var.at[a.a].value);
    return size_atom(w, ATOM_VAR, a.a, 0);
  case ATOM_FLOOR: return size_floor(w, size_now(w, a.a), size_now(w, a.b));
  case ATOM_QUOTIENT: return size_quotient(w, size_now(w, a.a), size_now(w, a.b));
  case ATOM_POWER: return size_power(w, size_now(w, a.a), size_now(w, a.b));
  }
  return HUGE_SIZE;
}

static Size rebuild(World *w, Size a, Size (*atom)(World *, uint32_t, const void *),
                    const void *context) {
  const Poly p = w->sizes->poly.at[a];
  Size sum = size_of(w, 0);
  for (uint32_t i = 0; i < p.n; i++) {
    Size term = size_fraction(w, p.mono[i].num, p.mono[i].den);
    for (uint32_t f = 0; f < p.mono[i].n; f++) {
      Size x = atom(w, p.mono[i].factor[f].atom, context);
      if (!x) return 0;
      for (uint32_t k = 0; k < p.mono[i].factor[f].power; k++) term = size_mul(w, term, x);
    }
    sum = size_add(w, sum, term);
  }
  return sum;
}

static Size atom_now_for(World *w, uint32_t atom, const void *context) {
  (void)context;
  return atom_now(w, atom);
}

Size size_now(World *w, Size a) {
  if (!a || a == HUGE_SIZE) return a;
  Sizes *s = sizes_of(w);
  if (!s->poly.at[a].open) return a;
  if (s->poly.at[a].stamp == s->stamp) return s->poly.at[a].now;
  Size now = rebuild(w, a, atom_now_for, NULL);
  s->poly.at[a].now = now;
  s->poly.at[a].stamp = s->stamp;
  return now;
}

typedef struct {
  Id var;
  Size value;
} SizeBinding;

static Size atom_subst(World *w, uint32_t atom, const void *context) {
  const Atom a = w->sizes->atom.at[atom];
  const SizeBinding *b = context;
  switch (a.kind) {
  case ATOM_VAR: return a.a == b->var ? b->value : size_atom(w, ATOM_VAR, a.a, 0);
  case ATOM_FLOOR:
    return size_floor(w, size_subst(w, a.a, b->var, b->value),
                      size_subst(w, a.b, b->var, b->value));
  case ATOM_QUOTIENT:
    return size_quotient(w, size_subst(w, a.a, b->var, b->value),
                         size_subst(w, a.b, b->var, b->value));
  case ATOM_POWER:
    return size_power(w, size_subst(w, a.a, b->var, b->value),
                      size_subst(w, a.b, b->var, b->value));
  }
  return HUGE_SIZE;
}

Size size_subst(World *w, Size a, Id var, Size value) {
  if (!a || a == HUGE_SIZE || !sizes_of(w)->poly.at[a].open) return a;
  return rebuild(w, a, atom_subst, &(SizeBinding){var, value});
}

static void add_vars(World *w, Size a, Ids *out) {
  const Poly p = w->sizes->poly.at[a];
  if (!p.open) return;
  for (uint32_t i = 0; i < p.n; i++)
    for (uint32_t f = 0; f < p.mono[i].n; f++) {
      const Atom atom = w->sizes->atom.at[p.mono[i].factor[f].atom];
      if (atom.kind != ATOM_VAR) {
        add_vars(w, atom.a, out);
        add_vars(w, atom.b, out);
        continue;
      }
      bool known = false;
      for (uint32_t k = 0; k < out->n; k++) known |= out->at[k] == atom.a;
      if (!known) vec_push(w->arena, out, atom.a);
    }
}

void size_vars(World *w, Size a, Ids *out) {
  sizes_of(w);
  a = size_now(w, a);
  if (a && a != HUGE_SIZE) add_vars(w, a, out);
}

Name size_var_name(const World *w, Id var) { return w->sizes->var.at[var].name; }
VarKind size_var_kind(const World *w, Id var) { return w->sizes->var.at[var].kind; }
Span size_var_span(const World *w, Id var) { return w->sizes->var.at[var].span; }
uint32_t size_var_count(const World *w) { return w->sizes ? w->sizes->var.n : 1; }

void size_var_bind(World *w, Id var, Size value) {
  w->sizes->var.at[var].value = value;
  w->sizes->stamp++;
  w->sizes->moved |= var < w->sizes->settled;
}

bool sizes_settle(World *w) {
  Sizes *s = sizes_of(w);
  bool moved = s->moved;
  s->settled = s->var.n;
  s->moved = false;
  return moved;
}

bool size_is_var(World *w, Size a, Id *var) {
  a = size_now(w, a);
  if (!a || a == HUGE_SIZE) return false;
  const Poly *p = &w->sizes->poly.at[a];
  if (p->n != 1 || p->mono[0].n != 1 || p->mono[0].num != 1 || p->mono[0].den != 1) return false;
  const Atom *atom = &w->sizes->atom.at[p->mono[0].factor[0].atom];
  if (p->mono[0].factor[0].power != 1 || atom->kind != ATOM_VAR) return false;
  if (var) *var = atom->a;
  return true;
}

bool size_number(World *w, Size a, double *out) {
  int64_t num, den;
  if (!a || !is_constant(w, size_now(w, a), &num, &den)) return false;
  *out = (double)num / (double)den;
  return true;
}

bool size_value(World *w, Size a, int64_t *out) {
  if (!a) return false;
  const Poly *p = &sizes_of(w)->poly.at[a];
  if (p->open) {
    a = size_now(w, a);
    p = &w->sizes->poly.at[a];
  }
  if (p->is_whole) *out = p->whole;
  return p->is_whole;
}

bool size_too_large(World *w, Size a) { return size_now(w, a) == HUGE_SIZE; }

// -- solving --------------------------------------------------------------------------------------
// Solves zero = 0 for `var`, which must occur in exactly one monomial, linearly and with a constant
// coefficient. 0 if the equation has another form.
static Size solve_for(World *w, Size zero, Id var) {
  const Poly p = w->sizes->poly.at[zero];
  Monos rest = {0};
  Mono found = {0};
  for (uint32_t i = 0; i < p.n; i++) {
    const Mono *m = &p.mono[i];
    bool here = false;
    for (uint32_t f = 0; f < m->n; f++) {
      const Atom atom = w->sizes->atom.at[m->factor[f].atom];
      if (atom.kind == ATOM_VAR) {
        here |= atom.a == var;
        continue;
      }
      Ids inside = {0};
      add_vars(w, atom.a, &inside);
      add_vars(w, atom.b, &inside);
      for (uint32_t k = 0; k < inside.n; k++)
        if (inside.at[k] == var) return 0;
    }
    if (!here) {
      vec_push(w->arena, &rest, *m);
      continue;
    }
    if (found.num || m->n != 1 || m->factor[0].power != 1) return 0;
    found = *m;
  }
  if (!found.num) return 0;
  return size_quotient(w, poly_intern(w, &rest), size_fraction(w, -found.num, found.den));
}

static SizeAnswer bind(World *w, Id var, Size value) {
  int64_t num, den;
  if (is_constant(w, value, &num, &den) && (den != 1 || num <= 0)) return SIZES_CLASH;
  size_var_bind(w, var, value);
  return SIZES_SOLVED;
}

static bool is_rigid(const World *w, Id var) {
  VarKind kind = size_var_kind(w, var);
  return kind == VAR_SAMPLE || kind == VAR_SPACE;
}

bool size_open_space(World *w, Size a, Id *var) {
  Ids vars = {0};
  size_vars(w, a, &vars);
  for (uint32_t i = 0; i < vars.n; i++)
    if (size_var_kind(w, vars.at[i]) == VAR_SPACE) return *var = vars.at[i], true;
  return false;
}

SizeAnswer size_equate(World *w, Size a, Size b, bool free) {
  if (!a || !b || a == b) return SIZES_EQUAL;
  sizes_of(w);
  Size zero = size_sub(w, size_now(w, a), size_now(w, b));
  if (zero == HUGE_SIZE) return SIZES_EQUAL; // the overflow was reported where it arose
  int64_t num, den;
  if (is_constant(w, zero, &num, &den)) return num == 0 ? SIZES_EQUAL : SIZES_CLASH;
  Ids vars = {0}, unknown = {0};
  add_vars(w, zero, &vars);
  for (uint32_t i = 0; i < vars.n; i++)
    if (!is_rigid(w, vars.at[i])) vec_push(w->arena, &unknown, vars.at[i]);
  if (unknown.n == 0) return SIZES_CLASH;
  // An index is solved for even if other unknowns remain; the youngest first.
  for (uint32_t i = unknown.n; i-- > 0;) {
    if (w->sizes->var.at[unknown.at[i]].kind != VAR_INDEX && unknown.n > 1) continue;
    Size value = solve_for(w, zero, unknown.at[i]);
    if (value && value != HUGE_SIZE) return bind(w, unknown.at[i], value);
  }
  Id x, y;
  if (free && size_is_var(w, a, &x) && size_is_var(w, b, &y)) {
    if (x == y) return SIZES_EQUAL;
    if (is_rigid(w, x) || is_rigid(w, y)) return SIZES_CLASH;
    return x > y ? bind(w, x, size_now(w, b)) : bind(w, y, size_now(w, a));
  }
  return SIZES_OPEN;
}

// -- numbers and text -----------------------------------------------------------------------------
static bool atom_at(World *w, const Atom *a, const double *value, double *out) {
  double x, y;
  if (a->kind == ATOM_VAR) {
    *out = value[a->a];
    return !isnan(*out);
  }
  if (!size_at(w, a->a, value, &x) || !size_at(w, a->b, value, &y)) return false;
  *out = a->kind == ATOM_FLOOR ? floor(x / y) : a->kind == ATOM_QUOTIENT ? x / y : pow(x, y);
  return true;
}

bool size_at(World *w, Size a, const double *value, double *out) {
  a = size_now(w, a);
  if (!a || a == HUGE_SIZE) return false;
  const Poly *p = &w->sizes->poly.at[a];
  *out = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    double term = (double)p->mono[i].num, x;
    for (uint32_t f = 0; f < p->mono[i].n; f++) {
      if (!atom_at(w, &w->sizes->atom.at[p->mono[i].factor[f].atom], value, &x)) return false;
      for (uint32_t k = 0; k < p->mono[i].factor[f].power; k++) term *= x;
    }
    *out += term / (double)p->mono[i].den;
  }
  return true;
}

// Prints variables by their own names, or by name[variable]. With given names terms are sorted by
// their text, which does not depend on the order of construction.
static void print_poly(World *w, Size a, const char *const *name, Buf *out);

// True if the polynomial is printed without parentheses inside a quotient or power: a number, or a
// variable.
static bool is_bare(const Poly *p) {
  if (p->n == 0) return true;
  const Mono *m = &p->mono[0];
  if (p->n > 1 || m->den != 1 || m->num < 0) return false;
  if (m->n + (m->num != 1) > 1) return false;
  return m->n == 0 || m->factor[0].power == 1;
}

static void print_part(World *w, Size a, const char *const *name, Buf *out) {
  bool bare = is_bare(&w->sizes->poly.at[a]);
  if (!bare) buf_char(out, '(');
  print_poly(w, a, name, out);
  if (!bare) buf_char(out, ')');
}

static void print_atom(World *w, const Atom *a, const char *const *name, Buf *out) {
  static const char *const sign[] = {"", "//", "/", "^"};
  if (a->kind == ATOM_VAR) {
    const char *text = name ? name[a->a] : name_text(w->names, w->sizes->var.at[a->a].name);
    buf_text(out, *text ? text : "?");
    return;
  }
  buf_char(out, '(');
  print_part(w, a->a, name, out);
  buf_text(out, sign[a->kind]);
  print_part(w, a->b, name, out);
  buf_char(out, ')');
}

typedef struct {
  const Mono *mono;
  uint32_t degree;
  const char *text; // the text of the factors
} MonoText;

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}
static int compare_mono_texts(const void *a, const void *b) {
  const MonoText *x = a, *y = b;
  return x->degree != y->degree ? (x->degree > y->degree ? -1 : 1) : strcmp(x->text, y->text);
}

static MonoText mono_text(World *w, const Mono *m, const char *const *name) {
  MonoText t = {.mono = m};
  const char **factor = NEW_ARRAY(w->arena, const char *, m->n);
  for (uint32_t f = 0; f < m->n; f++) {
    Buf b = buf_new(w->arena);
    print_atom(w, &w->sizes->atom.at[m->factor[f].atom], name, &b);
    if (m->factor[f].power > 1) buf_printf(&b, "^%u", m->factor[f].power);
    t.degree += m->factor[f].power;
    factor[f] = b.at;
  }
  if (name && m->n > 1) qsort(factor, m->n, sizeof *factor, compare_texts);
  Buf b = buf_new(w->arena);
  for (uint32_t f = 0; f < m->n; f++) {
    if (f) buf_char(&b, '*');
    buf_text(&b, factor[f]);
  }
  t.text = b.at;
  return t;
}

static void print_poly(World *w, Size a, const char *const *name, Buf *out) {
  const Poly p = w->sizes->poly.at[a];
  MonoText *term = NEW_ARRAY(w->arena, MonoText, p.n);
  for (uint32_t i = 0; i < p.n; i++) term[i] = mono_text(w, &p.mono[i], name);
  if (name && p.n > 1) qsort(term, p.n, sizeof *term, compare_mono_texts);
  if (!p.n) buf_char(out, '0');
  for (uint32_t i = 0; i < p.n; i++) {
    const Mono *m = term[i].mono;
    int64_t num = m->num < 0 ? -m->num : m->num;
    if (m->num < 0)
      buf_char(out, '-');
    else if (i)
      buf_char(out, '+');
    if (num != 1 || !m->n) buf_printf(out, "%lld%s", (long long)num, m->n ? "*" : "");
    buf_text(out, term[i].text);
    if (m->den != 1) buf_printf(out, "/%lld", (long long)m->den);
  }
}

void size_print_as(World *w, Size a, const char *const *var_name, Buf *out) {
  a = size_now(w, a);
  if (!a || a == HUGE_SIZE)
    buf_text(out, a ? "(too large)" : "?");
  else
    print_poly(w, a, var_name, out);
}

void size_print(World *w, Size a, Buf *out) { size_print_as(w, a, NULL, out); }

const char *size_text(World *w, Size a) {
  Buf b = buf_new(w->arena);
  size_print(w, a, &b);
  return b.at;
}
