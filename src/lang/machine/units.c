// Checks units: `flow: R[] in m^3/s`. Quantities that a machine's text adds, compares or connects
// must have equal units.
//
// The check is syntactic. Values without a unit are of two kinds: a number is pure, fits any sum
// and leaves the unit of a product; a port, state or result of a box without a unit is open, and so
// is every expression that contains it. Units of one dimension and different scale, as km and m,
// differ: the message names the conversion constant. Time is in s.
#include "lang/machine/units.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "core/diagram/ops.h"

#include <math.h>
#include <stdlib.h>

enum { UNIT_NAMES = 12, SI_UNITS = 7, UNIT_LINES = 64 };

typedef enum { UNIT_OPEN, UNIT_PURE, UNIT_KNOWN } UnitKind;
typedef struct {
  UnitKind kind;
  uint32_t n;
  struct {
    Name name;
    double power;
  } at[UNIT_NAMES];
} PortUnit;

// The declarations in the text of one machine, by name.
typedef struct {
  Table *port, *typed, *option; // Name to index in `node` + 1
  VEC(const Syntax *) node;
  bool seconds; // continuous time and units: time is in s
} SaidOf;

typedef struct { // cached by the machine's node
  Table *at;
  VEC(SaidOf *) said;
} SaidTexts;

typedef struct {
  Elab *in;
  World *w;
  Scope *scope;
  SaidTexts *texts;
  const Syntax *machine;
  Table *line;         // Name to line + 1
  VEC(PortUnit) units; // [line] the unit of its value
  VEC(const Syntax *) value;
  VEC(bool) known;
  Table *part; // Name to line + 1
  uint32_t deep;
} Units;

static const PortUnit open_unit = {.kind = UNIT_OPEN}, pure_unit = {.kind = UNIT_PURE};

// -- units ----------------------------------------------------------------------------------------
// m kg s A K mol cd
static const struct {
  const char *name;
  double factor;
  int8_t power[SI_UNITS];
} known_units[] = {
    {"m", 1, {1}},
    {"g", 1e-3, {0, 1}},
    {"s", 1, {0, 0, 1}},
    {"A", 1, {0, 0, 0, 1}},
    {"K", 1, {0, 0, 0, 0, 1}},
    {"mol", 1, {0, 0, 0, 0, 0, 1}},
    {"cd", 1, {0, 0, 0, 0, 0, 0, 1}},
    {"rad", 1, {0}},
    {"sr", 1, {0}},
    {"N", 1, {1, 1, -2}},
    {"J", 1, {2, 1, -2}},
    {"W", 1, {2, 1, -3}},
    {"Pa", 1, {-1, 1, -2}},
    {"bar", 1e5, {-1, 1, -2}},
    {"Hz", 1, {0, 0, -1}},
    {"C", 1, {0, 0, 1, 1}},
    {"V", 1, {2, 1, -3, -1}},
    {"ohm", 1, {2, 1, -3, -2}},
    {"\u03a9", 1, {2, 1, -3, -2}},
    {"\u2126", 1, {2, 1, -3, -2}},
    {"S", 1, {-2, -1, 3, 2}},
    {"F", 1, {-2, -1, 4, 2}},
    {"H", 1, {2, 1, -2, -2}},
    {"Wb", 1, {2, 1, -2, -1}},
    {"T", 1, {0, 1, -2, -1}},
    {"Bq", 1, {0, 0, -1}},
    {"Gy", 1, {2, 0, -2}},
    {"Sv", 1, {2, 0, -2}},
    {"kat", 1, {0, 0, -1, 0, 0, 1}},
    {"lm", 1, {0, 0, 0, 0, 0, 0, 1}},
    {"lx", 1, {-2, 0, 0, 0, 0, 0, 1}},
    {"L", 1e-3, {3}},
    {"min", 60, {0, 0, 1}},
    {"h", 3600, {0, 0, 1}},
    {"day", 86400, {0, 0, 1}},
};
static const struct {
  char letter;
  double factor;
} prefixes[] = {{'T', 1e12}, {'G', 1e9},  {'M', 1e6},  {'k', 1e3},  {'c', 1e-2},
                {'m', 1e-3}, {'u', 1e-6}, {'n', 1e-9}, {'p', 1e-12}};

typedef struct { // in SI base units, and those with unknown names
  double factor, power[SI_UNITS];
  PortUnit other;
} UnitMeaning;

static int known_unit(const char *name) {
  for (uint32_t i = 0; i < COUNT(known_units); i++)
    if (!strcmp(known_units[i].name, name)) return (int)i;
  return -1;
}

static void unit_times(PortUnit *u, Name name, double power) {
  uint32_t i = 0;
  while (i < u->n && u->at[i].name != name) i++;
  if (i == UNIT_NAMES) {
    u->kind = UNIT_OPEN;
    return;
  }
  if (i == u->n) u->at[u->n++].name = name, u->at[i].power = 0;
  u->at[i].power += power;
  if (fabs(u->at[i].power) < 1e-9) u->at[i] = u->at[--u->n];
}

static UnitMeaning meaning_of(World *w, const PortUnit *u) {
  UnitMeaning m = {.factor = 1, .other = {.kind = UNIT_KNOWN}};
  for (uint32_t i = 0; i < u->n; i++) {
    const char *name = name_text(w->names, u->at[i].name);
    int k = known_unit(name);
    double factor = 1, power = u->at[i].power;
    for (uint32_t p = 0; k < 0 && p < COUNT(prefixes); p++)
      if (name[0] == prefixes[p].letter && name[1]) {
        k = known_unit(name + 1);
        factor = prefixes[p].factor;
      }
    if (k < 0) {
      unit_times(&m.other, u->at[i].name, power);
      continue;
    }
    m.factor *= pow(factor * known_units[k].factor, power);
    for (uint32_t b = 0; b < SI_UNITS; b++) m.power[b] += known_units[k].power[b] * power;
  }
  return m;
}

static bool same_kind(const UnitMeaning *a, const UnitMeaning *b) {
  PortUnit rest = a->other;
  for (uint32_t i = 0; i < b->other.n; i++)
    unit_times(&rest, b->other.at[i].name, -b->other.at[i].power);
  for (uint32_t i = 0; i < SI_UNITS; i++)
    if (fabs(a->power[i] - b->power[i]) > 1e-9) return false;
  return !rest.n;
}

// *factor: a / b; 0: different dimensions
static bool units_agree(World *w, const PortUnit *a, const PortUnit *b, double *factor) {
  *factor = 1;
  if (a->kind != UNIT_KNOWN || b->kind != UNIT_KNOWN) return true;
  UnitMeaning x = meaning_of(w, a), y = meaning_of(w, b);
  *factor = same_kind(&x, &y) ? x.factor / y.factor : 0;
  return fabs(*factor - 1) < 1e-9;
}

static bool is_pure(World *w, const PortUnit *u) {
  PortUnit one = {.kind = UNIT_KNOWN};
  double factor;
  return u->kind != UNIT_KNOWN || units_agree(w, u, &one, &factor);
}

static void put_power(Buf *b, World *w, const PortUnit *u, uint32_t i, const char *between) {
  double power = fabs(u->at[i].power);
  buf_printf(b, "%s%s", between, name_text(w->names, u->at[i].name));
  if (fabs(power - 1) > 1e-9) buf_printf(b, "^%g", power);
}

static const char *unit_text(World *w, const PortUnit *u) {
  Buf b = buf_new(w->arena);
  for (uint32_t i = 0; i < u->n; i++)
    if (u->at[i].power > 0) put_power(&b, w, u, i, b.n ? "*" : "");
  if (!b.n) buf_text(&b, "1");
  for (uint32_t i = 0; i < u->n; i++)
    if (u->at[i].power < 0) put_power(&b, w, u, i, "/");
  return b.at;
}

// -- reading units --------------------------------------------------------------------------------
static bool number_of(const Syntax *n, double *out) {
  if (n->kind == N_PAREN) return number_of(paren_inner(n), out);
  if (n->kind == N_NEG && number_of(neg_operand(n), out)) return *out = -*out, true;
  if (n->kind == N_PROD && prod_factors(n).n == 2 && prod_sign(n, 1) == SIGN_DIVIDE) {
    double below;
    bool good = number_of(prod_factors(n).at[0], out) && number_of(prod_factors(n).at[1], &below);
    if (good) *out /= below;
    return good;
  }
  if (n->kind != N_NUM) return false;
  *out = n->num;
  return true;
}

static bool read_unit(const Syntax *n, double power, PortUnit *u) {
  double k;
  switch (n->kind) {
  case N_PAREN: return read_unit(paren_inner(n), power, u);
  case N_NAME: unit_times(u, n->name, power); return true;
  case N_NUM: return n->num == 1;
  case N_POW: return number_of(pow_exponent(n), &k) && read_unit(pow_base(n), power * k, u);
  case N_PROD:
    for (uint32_t i = 0; i < prod_factors(n).n; i++) {
      bool below = i && prod_sign(n, i) == SIGN_DIVIDE;
      if (!read_unit(prod_factors(n).at[i], below ? -power : power, u)) return false;
    }
    return true;
  default: return false;
  }
}

// The declared unit, or open.
static PortUnit unit_said(const Syntax *unit) {
  PortUnit u = {.kind = UNIT_KNOWN};
  return unit && read_unit(unit, 1, &u) ? u : open_unit;
}

static const Syntax *param_named(const Syntax *params, Name name) {
  Nodes all = params && params->kind == N_PARAMS ? params_in(params) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->kind == N_PARAM && all.at[i]->name == name) return all.at[i];
  return NULL;
}

static const Syntax *unit_in(const Syntax *n) {
  return n->kind == N_PARAM ? param_unit(n) : n->kind == N_TYPED ? typed_unit(n) : NULL;
}

static bool has_unit(void *none, const Syntax *n) {
  (void)none;
  return unit_in(n) != NULL;
}

static bool is_rate(void *none, const Syntax *n) {
  (void)none;
  return n->kind == N_LHS && lhs_is_rate(n);
}

static void put_said(Arena *a, SaidOf *to, Table *table, Name name, const Syntax *n) {
  if (table_get(table, &name, sizeof name)) return; // the first declaration holds
  vec_push(a, &to->node, n);
  table_put(table, &name, sizeof name, to->node.n);
}

static void put_ports(Arena *a, SaidOf *to, const Syntax *params) {
  Nodes all = params && params->kind == N_PARAMS ? params_in(params) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < all.n; i++)
    if (all.at[i]->kind == N_PARAM) put_said(a, to, to->port, all.at[i]->name, all.at[i]);
}

// Collects the declarations of a machine in one walk.
static SaidOf *said_in(Arena *a, const Syntax *machine) {
  SaidOf *to = NEW(a, SaidOf);
  to->port = table_new(a), to->typed = table_new(a), to->option = table_new(a);
  put_ports(a, to, machine_params(machine));
  put_ports(a, to, machine_result(machine));
  const Syntax *cfg = machine_cfg(machine);
  for (uint32_t i = 0; cfg && i < cfg_in(cfg).n; i++)
    put_said(a, to, to->option, cfg_in(cfg).at[i]->name, cfg_in(cfg).at[i]);
  Nodes line = lines_of_block(machine_body(machine));
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    Nodes all = n->kind == N_STATES   ? states_in(n)
                : n->kind == N_CONSTS ? consts_in(n)
                                      : (Nodes){0, NULL};
    for (uint32_t k = 0; k < all.n; k++) put_said(a, to, to->typed, all.at[k]->name, all.at[k]);
    if (n->kind != N_MODE) continue;
    put_ports(a, to, mode_params(n));
    put_ports(a, to, mode_result(n));
  }
  to->seconds = syntax_any(machine, is_rate, NULL) && syntax_any(machine, has_unit, NULL);
  return to;
}

static const SaidOf *said_of(Units *x, const Syntax *machine) {
  Id at = table_get(x->texts->at, &machine, sizeof machine);
  if (!at) {
    vec_push(x->w->arena, &x->texts->said, said_in(x->w->arena, machine));
    at = x->texts->said.n;
    table_put(x->texts->at, &machine, sizeof machine, at);
  }
  return x->texts->said.at[at - 1];
}

static const Syntax *named_in(const SaidOf *said, const Table *table, Name name) {
  Id at = table_get(table, &name, sizeof name);
  return at ? said->node.at[at - 1] : NULL;
}

// A port of a machine or of its modes, or NULL.
static const Syntax *port_said(Units *x, const Syntax *machine, Name name) {
  const SaidOf *said = said_of(x, machine);
  return named_in(said, said->port, name);
}

// A state or constant of the machine.
static const Syntax *typed_said(Units *x, Name name) {
  const SaidOf *said = said_of(x, x->machine);
  return named_in(said, said->typed, name);
}

const char *unit_declared(World *w, const Syntax *machine, Name name) {
  const SaidOf *said = said_in(w->arena, machine);
  const Syntax *port = named_in(said, said->port, name), *typed = named_in(said, said->typed, name);
  const Syntax *unit = port ? param_unit(port) : NULL;
  if (!unit && typed) unit = typed_unit(typed);
  PortUnit u = unit_said(unit);
  return u.kind == UNIT_KNOWN ? unit_text(w, &u) : NULL;
}

// -- units of names -------------------------------------------------------------------------------
static PortUnit unit_of(Units *, const Syntax *);

static const Syntax *machine_named(const Units *x, const Syntax *use) {
  const Syntax *name = use_base(use);
  const Def *d = name->kind == N_NAME ? scope_meaning(x->scope, name) : NULL;
  return d && d->kind == DEF_MACHINE && d->node->kind == N_MACHINE ? d->node : NULL;
}

// p.y, p[i].y
static PortUnit unit_of_part(Units *x, const Syntax *n) {
  const Syntax *base = dot_base(n);
  if (base->kind == N_AT) base = at_base(base);
  uint32_t at = base->kind == N_NAME ? table_get(x->part, &base->name, sizeof(Name)) : 0;
  if (!at) return open_unit;
  const Syntax *part = lines_of_block(machine_body(x->machine)).at[at - 1];
  const Syntax *machine = machine_named(x, part_machine(part));
  const Syntax *port = machine ? port_said(x, machine, n->name) : NULL;
  return port ? unit_said(param_unit(port)) : open_unit;
}

static PortUnit unit_of_line(Units *x, uint32_t at) {
  if (!x->known.at[at] && x->deep < UNIT_LINES) {
    x->known.at[at] = true; // a cyclic definition is open
    x->deep++;
    PortUnit u = unit_of(x, x->value.at[at]);
    x->units.at[at] = u;
    x->deep--;
  }
  return x->units.at[at];
}

static PortUnit unit_of_const(const Syntax *typed) {
  if (typed_unit(typed)) return unit_said(typed_unit(typed));
  return typed_value(typed) && typed_value(typed)->kind == N_NUM ? pure_unit : open_unit;
}

static PortUnit unit_of_name(Units *x, Name name) {
  const Syntax *port = port_said(x, x->machine, name), *typed = typed_said(x, name);
  if (port && param_unit(port)) return unit_said(param_unit(port));
  if (typed && typed_unit(typed)) return unit_said(typed_unit(typed));
  const SaidOf *said = said_of(x, x->machine);
  if (port || typed || named_in(said, said->option, name)) return open_unit;
  uint32_t line = table_get(x->line, &name, sizeof name);
  if (line) return unit_of_line(x, line - 1);
  // `time` counted in ticks has no unit, and needs none in a machine without units. White noise is
  // the derivative of a Brownian path, whose square grows like time, hence s^-1/2.
  const char *word = name_text(x->w->names, name);
  double seconds = !strcmp(word, "time") ? 1 : !strcmp(word, "white") ? -0.5 : 0;
  if (said->seconds && seconds != 0) {
    PortUnit s = {.kind = UNIT_KNOWN};
    unit_times(&s, name_from(x->w->names, "s"), seconds);
    return s;
  }
  const Def *d = scope_find(x->scope, name);
  return d && d->kind == DEF_CONST && d->node->kind == N_TYPED ? unit_of_const(d->node) : open_unit;
}

// -- units of expressions -------------------------------------------------------------------------
static PortUnit unit_product(PortUnit a, PortUnit b, double power) {
  if (a.kind == UNIT_OPEN || b.kind == UNIT_OPEN) return open_unit;
  if (a.kind == UNIT_PURE && b.kind == UNIT_PURE) return pure_unit;
  a.kind = UNIT_KNOWN;
  for (uint32_t i = 0; i < b.n; i++) unit_times(&a, b.at[i].name, power * b.at[i].power);
  return a;
}

static bool is_text_of(double x, const char *text) {
  return fabs(strtod(text, NULL) - x) <= 1e-14 * x;
}

// A conversion factor as an exact short literal: 1000, 1/60, 1/3.6, 25/9.
static const char *factor_text(World *w, double x) {
  const char *text = arena_format(w->arena, "%.10g", x),
             *under = arena_format(w->arena, "%.10g", 1 / x);
  if (is_text_of(x, text)) return text;
  if (is_text_of(1 / x, under)) return arena_format(w->arena, "1/%s", under);
  for (int by = 2; by < 1000; by++)
    if (fabs(x * by - round(x * by)) <= 1e-14 * x * by)
      return arena_format(w->arena, "%.0f/%d", x * by, by);
  return arena_format(w->arena, "%.17g", x);
}

// Suggests a conversion constant; it has a unit, since pure numbers change none.
static void tell_factor(Units *x, Id e, const PortUnit *from, const PortUnit *to, double factor) {
  PortUnit between = unit_product(*to, *from, -1);
  if (!(factor > 0)) return;
  const char *by = factor_text(x->w, factor);
  diag_help(x->w->diags, e, "1 %s is %s %s: multiply by a constant, `const c = %s in %s`",
            unit_text(x->w, from), by, unit_text(x->w, to), by, unit_text(x->w, &between));
}

// The unit of a sum or comparison of both; `how` describes it in the message.
static PortUnit units_beside(Units *x, PortUnit a, PortUnit b, const Syntax *n, const char *how) {
  double factor;
  if (!units_agree(x->w, &b, &a, &factor)) {
    Id e = diag_error(x->w->diags, n->span, "%s in %s, but this is in %s", how, unit_text(x->w, &a),
                      unit_text(x->w, &b));
    tell_factor(x, e, &b, &a, factor);
    return open_unit;
  }
  if (a.kind == UNIT_KNOWN) return a;
  if (b.kind == UNIT_KNOWN) return b;
  return a.kind == UNIT_OPEN ? a : b;
}

static PortUnit unit_power(Units *x, const Syntax *n) {
  PortUnit base = unit_of(x, pow_base(n)), exponent = unit_of(x, pow_exponent(n));
  PortUnit none = {.kind = UNIT_KNOWN};
  double k;
  if (!is_pure(x->w, &exponent))
    diag_error(x->w->diags, pow_exponent(n)->span,
               "an exponent is a pure number, but this is in %s", unit_text(x->w, &exponent));
  if (base.kind != UNIT_KNOWN || !base.n) return base;
  return number_of(pow_exponent(n), &k) ? unit_product(none, base, k) : open_unit;
}

static bool is_one_of(const char *word, const char *const *words, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (!strcmp(words[i], word)) return true;
  return false;
}

static PortUnit unit_call(Units *x, const Syntax *n) {
  static const char *const same[] = {"min", "max", "sum", "mean", "delay", "roll", "concat"};
  const Syntax *callee = use_base(call_callee(n));
  const char *word = callee->kind == N_NAME ? name_text(x->w->names, callee->name) : "";
  Fn fn = fn_find(word);
  FnUnit unit = fn == FN_COUNT ? UNIT_UNKNOWN : fn_rows[fn].unit;
  bool wants_pure = unit == UNIT_OF_PURE;
  bool keeps = unit == UNIT_OF_ARGUMENTS || is_one_of(word, same, COUNT(same));
  PortUnit all = pure_unit, none = {.kind = UNIT_KNOWN};
  for (uint32_t i = 0; i < call_args(n).n; i++) {
    const Syntax *arg = arg_given(call_args(n).at[i]);
    PortUnit u = unit_of(x, arg);
    if (wants_pure && !is_pure(x->w, &u))
      diag_error(x->w->diags, arg->span, "`%s` wants a pure number, but this is in %s", word,
                 unit_text(x->w, &u));
    all = keeps && i ? units_beside(x, all, u, arg, "beside it stands what is") : u;
  }
  if (unit == UNIT_ROOT) return all.kind == UNIT_KNOWN ? unit_product(none, all, 0.5) : all;
  return wants_pure ? pure_unit : keeps ? all : open_unit;
}

static PortUnit unit_chain(Units *x, const Syntax *n) {
  PortUnit all = pure_unit;
  Nodes factor = n->kind == N_RUN ? run_factors(n) : prod_factors(n);
  for (uint32_t i = 0; i < factor.n; i++) {
    bool below = n->kind == N_PROD && i && prod_sign(n, i) == SIGN_DIVIDE;
    PortUnit u = unit_of(x, factor.at[i]);
    all = unit_product(all, u, below ? -1 : 1);
  }
  return all;
}

static PortUnit unit_sum(Units *x, const Syntax *n) {
  PortUnit all = unit_of(x, sum_terms(n).at[0]);
  for (uint32_t i = 1; i < sum_terms(n).n; i++)
    all = units_beside(x, all, unit_of(x, sum_terms(n).at[i]), sum_terms(n).at[i],
                       "it is added to what is");
  return all;
}

static PortUnit unit_inside(Units *x, const Syntax *n) {
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) unit_of(x, syntax_parts(n).at[i]);
  return open_unit;
}

static PortUnit unit_of(Units *x, const Syntax *n) {
  switch (n->kind) {
  case N_NUM: return pure_unit;
  case N_NAME: return unit_of_name(x, n->name);
  case N_DOT: return unit_of_part(x, n);
  case N_AT: return unit_of(x, at_base(n));
  case N_PAREN: return unit_of(x, paren_inner(n));
  case N_NEG: return unit_of(x, neg_operand(n));
  case N_SUM: return unit_sum(x, n);
  case N_PROD:
  case N_RUN: return unit_chain(x, n);
  case N_POW: return unit_power(x, n);
  case N_CALL: return unit_call(x, n);
  case N_CMP:
    units_beside(x, unit_of(x, cmp_left(n)), unit_of(x, cmp_right(n)), cmp_right(n),
                 "it is compared with what is");
    return pure_unit;
  case N_WHEN:
    unit_of(x, when_cond(n));
    return units_beside(x, unit_of(x, when_then(n)), unit_of(x, when_otherwise(n)),
                        when_otherwise(n), "the other choice is");
  default: return unit_inside(x, n);
  }
}

// -- units of lines -------------------------------------------------------------------------------
static void wants_unit(Units *x, const char *what, const PortUnit *want, const Syntax *value) {
  PortUnit u = unit_of(x, value);
  double factor;
  if (units_agree(x->w, &u, want, &factor)) return;
  Id e = diag_error(x->w->diags, value->span, "%s is in %s, but this is in %s", what,
                    unit_text(x->w, want), unit_text(x->w, &u));
  tell_factor(x, e, &u, want, factor);
}

static void check_equation(Units *x, const Syntax *n) {
  Nodes to = lhss_in(equation_lhss(n));
  const Syntax *first = to.at[0];
  const char *name = name_text(x->w->names, first->name);
  if (equation_cond(n)) unit_of(x, equation_cond(n));
  if (to.n > 1) return;
  bool said = port_said(x, x->machine, first->name) || typed_said(x, first->name);
  PortUnit want = said ? unit_of_name(x, first->name) : open_unit;
  if (lhs_is_rate(first) && want.kind == UNIT_KNOWN)
    unit_times(&want, name_from(x->w->names, "s"), -1);
  if (!said) {
    uint32_t line = table_get(x->line, &first->name, sizeof first->name);
    if (line && x->value.at[line - 1] == equation_value(n))
      unit_of_line(x, line - 1);
    else
      unit_of(x, equation_value(n));
    return;
  }
  wants_unit(x, arena_format(x->w->arena, lhs_is_rate(first) ? "`%s'`" : "`%s`", name), &want,
             equation_value(n));
}

static void check_route(Units *x, const Syntax *n) {
  const Syntax *to = route_to(n);
  if (to->kind == N_AT) to = at_base(to);
  PortUnit want = unit_of(x, to);
  const char *port =
      arena_text(x->w->arena, x->w->sources->file.at[to->span.file].text + to->span.at, to->span.n);
  wants_unit(x, arena_format(x->w->arena, "port `%s`", port), &want, route_value(n));
  if (route_cond(n)) unit_of(x, route_cond(n));
}

// Growth(rabbits): the variable must have the unit that the share declares.
static void check_sharing(Units *x, const Syntax *n) {
  const Syntax *machine = machine_named(x, call_callee(n));
  const Syntax *params = machine ? machine_params(machine) : NULL;
  for (uint32_t i = 0; params && i < call_args(n).n && i < params_in(params).n; i++) {
    const Syntax *param = params_in(params).at[i];
    PortUnit want = unit_said(param_unit(param));
    wants_unit(x,
               arena_format(x->w->arena, "`%s` of `%s`", name_text(x->w->names, param->name),
                            name_text(x->w->names, machine->name)),
               &want, call_args(n).at[i]);
  }
}

static void check_lines(Units *x, const Syntax *block);

static void check_line(Units *x, const Syntax *n) {
  switch (n->kind) {
  case N_EQUATION: check_equation(x, n); break;
  case N_ROUTE: check_route(x, n); break;
  case N_CALL: check_sharing(x, n); break;
  case N_MODE: check_lines(x, mode_block(n)); break;
  case N_FOR: check_lines(x, for_body(n)); break;
  case N_JUMP: unit_of(x, jump_cond(n)); break;
  case N_STEP: {
    PortUnit want = unit_of_name(x, n->name);
    wants_unit(x, arena_format(x->w->arena, "`%s`", name_text(x->w->names, n->name)), &want,
               step_value(n));
    if (step_cond(n)) unit_of(x, step_cond(n));
    break;
  }
  default: break;
  }
}

static void check_lines(Units *x, const Syntax *block) {
  for (uint32_t i = 0; i < lines_of_block(block).n; i++) check_line(x, lines_of_block(block).at[i]);
}

static void find_names(Units *x) {
  Arena *a = x->w->arena;
  Nodes line = lines_of_block(machine_body(x->machine));
  for (uint32_t i = 0; i < line.n; i++) {
    const Syntax *n = line.at[i];
    Nodes to = n->kind == N_EQUATION ? lhss_in(equation_lhss(n))
               : n->kind == N_PART   ? lhss_in(part_lhss(n))
                                     : (Nodes){0, NULL};
    for (uint32_t k = 0; k < to.n; k++) {
      Name name = to.at[k]->name;
      if (n->kind == N_PART) table_put(x->part, &name, sizeof name, i + 1);
      if (n->kind == N_PART || lhs_is_rate(to.at[k]) || to.n > 1) continue;
      vec_push(a, &x->value, equation_value(n));
      vec_push(a, &x->units, open_unit);
      vec_push(a, &x->known, false);
      table_put(x->line, &name, sizeof name, x->value.n);
    }
  }
}

// Reports each malformed unit once. (a, b: R[] in m) share one node.
static void check_written(World *w, const Syntax *n, const Syntax **last) {
  PortUnit u = {.kind = UNIT_KNOWN};
  const Syntax *unit = unit_in(n);
  if (unit && unit != *last && unit->kind != N_ERROR && !read_unit(unit, 1, &u))
    diag_error(w->diags, unit->span, "a unit is written `m`, `m/s` or `kg*m^2/s^3`");
  if (unit) *last = unit;
  for (uint32_t i = 0; i < syntax_parts(n).n; i++)
    if (syntax_parts(n).at[i]) check_written(w, syntax_parts(n).at[i], last);
}

static void check_machine(Elab *in, Scope *s, SaidTexts *texts, const Syntax *n) {
  Arena *a = in->w->arena;
  Units x = {.in = in, .w = in->w, .scope = s, .texts = texts, .machine = n};
  x.line = table_new(a), x.part = table_new(a);
  find_names(&x);
  if (machine_body(n)->kind == N_BLOCK) {
    check_lines(&x, machine_body(n));
    return;
  }
  const Syntax *result = machine_result(n);
  if (!result || result->kind != N_PARAMS || params_in(result).n != 1) return;
  PortUnit want = unit_said(param_unit(params_in(result).at[0]));
  wants_unit(&x, "what it shows", &want, machine_body(n));
}

// run Plant to 10 on World: ports of equal names are connected.
static void check_source(Elab *in, Scope *s, const Syntax *n) {
  Units x = {.in = in, .w = in->w, .scope = s};
  const Syntax *on = clause(n, N_ON), *to = machine_named(&x, use_callee(simulate_what(n)));
  const Syntax *from = on ? machine_named(&x, on_source(on)) : NULL;
  Nodes port = to && from && machine_params(to) ? params_in(machine_params(to)) : (Nodes){0, NULL};
  for (uint32_t i = 0; i < port.n; i++) {
    const Syntax *source = param_named(machine_result(from), port.at[i]->name);
    PortUnit want = unit_said(param_unit(port.at[i]));
    PortUnit u = source ? unit_said(param_unit(source)) : open_unit;
    double factor;
    if (units_agree(in->w, &u, &want, &factor)) continue;
    Id e = diag_error(in->w->diags, on->span, "port `%s` is in %s, but `%s` shows it in %s",
                      name_text(in->w->names, port.at[i]->name), unit_text(in->w, &want),
                      name_text(in->w->names, from->name), unit_text(in->w, &u));
    tell_factor(&x, e, &u, &want, factor);
  }
}

void check_units(Elab *in, Scope *s) {
  SaidTexts texts = {.at = table_new(in->w->arena)};
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++) {
    const Syntax *n = program_declarations(s->tree).at[i], *last = NULL;
    check_written(in->w, n, &last);
    if (n->kind == N_MACHINE && machine_body(n) && machine_body(n)->kind != N_ERROR)
      check_machine(in, s, &texts, n);
    else if (n->kind == N_SIMULATE)
      check_source(in, s, n);
    else if (n->kind != N_CONSTS && syntax_any(n, has_unit, NULL))
      diag_error(in->w->diags, n->span, "units are for machines, and for constants in them");
  }
}
