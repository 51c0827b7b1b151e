// Evaluates checks of systems: checks of runs, truths for all inputs, points.
#include "base/diag.h"
#include "base/hash.h"
#include "base/names.h"
#include "core/diagram/interpret.h"
#include "run/sim/rates_own.h"

#include <math.h>

enum { CASES_LIMIT = 1 << 20, STARTS_LIMIT = 1 << 14, SAMPLES = 1000, SETTLE_LIMIT = 4096 };

// -- points and exponents -------------------------------------------------------------------------
// The largest change of a number at a tick; a different label or bit counts as 1.
static bool tick_displacement(Sim *m, double *out) {
  Ids next = {0};
  for (uint32_t i = 0; i < m->s->state.n; i++)
    if (m->s->state.at[i].next) vec_push(m->arena, &next, m->s->state.at[i].next);
  *out = 0;
  if (!next.n) return true;
  Engine *e = sim_engine(m, pick_wires(m->w, m->s, next.at, next.n));
  if (!e || !sim_run(m, e, 0)) return false;
  for (uint32_t i = 0, at = 0; i < m->s->state.n; i++) {
    if (!m->s->state.at[i].next) continue;
    State *s = sim_state(m, i);
    const Type *t = &m->s->d->wire.at[m->s->state.at[i].next].type;
    double *old = NEW_ARRAY(m->arena, double, s->count + 1),
           *new = NEW_ARRAY(m->arena, double, s->count + 1);
    state_get(s, old);
    engine_get(e, at++, new, s->count);
    for (int64_t k = 0; k < s->count; k++)
      *out = fmax(*out, t->base == BASE_R ? fabs(new[k] - old[k]) : new[k] != old[k]);
  }
  return true;
}

// The speed at a point, or the trace of the Jacobian there.
static bool speed_at(Sim *m, const Watch *x, double *out) {
  Flow *f = flow_open(m, false);
  if (!f) return false;
  bool good = true;
  double *state = NEW_ARRAY(m->arena, double, f->n + 1),
         *row = NEW_ARRAY(m->arena, double, f->n + 1);
  double *delayed = NEW_ARRAY(m->arena, double, f->problem.delayed + 1);
  flow_start(f, state);
  if (f->problem.to_delay)
    good = f->problem.to_delay(
        f, 0, state, delayed,
        delayed); // delayed values equal the present ones: a point has no history
  *out = 0;
  if (x->kind == WATCH_FIXED) {
    good = good && flow_rates(f, 0, state, delayed, row);
    for (uint32_t i = 0; i < f->n; i++) *out = fmax(*out, fabs(row[i]));
  } else {
    double *j = NEW_ARRAY(m->arena, double, (size_t)f->n * f->n + 1);
    good = good && flow_jacobian(f, 0, state, delayed, j);
    for (uint32_t i = 0; i < f->n; i++) *out += j[(size_t)i * f->n + i];
  }
  return good;
}

static bool at_point(Elab *in, Program *p, const Check *c, const Watch *x, const SimOptions *how,
                     double *out) {
  Sim m;
  const Run *run =
      c->run ? &p->ran->run.at[c->run - 1] : NULL; // its inputs and initial values apply
  bool good = sim_open(&m, in, p, c->system, run, how);
  for (uint32_t i = 0; good && i < x->point.n; i++) good = sim_set(&m, &x->point.at[i]);
  good = good && (c->system->flows ? speed_at(&m, x, out) : tick_displacement(&m, out));
  sim_close(&m);
  return good;
}

// The rates of the state, and of a small perturbation after it.
static bool twin_rates(void *flow, double t, const double *x, const double *delayed, double *dx) {
  uint32_t n = ((Flow *)flow)->n;
  (void)delayed;
  return flow_rates(flow, t, x, NULL, dx) && flow_change(flow, t, x, NULL, x + n, dx + n);
}

// Normalises the perturbation, and gives the logarithm of its length before.
static double normalise(double *v, uint32_t n) {
  double norm = 0;
  for (uint32_t i = 0; i < n; i++) norm += v[i] * v[i];
  norm = sqrt(norm);
  for (uint32_t i = 0; i < n; i++) v[i] /= norm;
  return log(norm);
}

// The largest Lyapunov exponent: the growth rate of a perturbation, which is normalised after each
// unit of time. The first tenth of the run does not count.
static bool exponent_of_flow(Sim *m, const Check *c, double *out) {
  const Run *run = m->run;
  Flow *f = flow_open(m, false);
  if (!f) return false;
  uint32_t n = f->n;
  double *x = NEW_ARRAY(m->arena, double, 2 * (size_t)n + 1), sum = 0, counted = 0;
  Problem problem = {.context = f, .n = 2 * n, .rates = twin_rates};
  SolveOptions solve = {.relative = 1e-8, .absolute = 1e-10, .steps = UINT64_MAX};
  flow_start(f, x);
  for (uint32_t i = 0; i < n; i++) x[n + i] = 1 / sqrt(n);
  for (double t = 0; t < run->end; t++) {
    Solver *s = solver_new(m->arena, &problem, &solve, t, x);
    while (solver_step(s, t + 1)) continue;
    if (solver_error(s)) return diag_refuse(m->w->diags, c->span, "%s", solver_error(s));
    memcpy(x, solver_state(s), 2 * n * sizeof(double));
    double grown = normalise(x + n, n);
    if (t >= run->end / 10) sum += grown, counted++;
  }
  *out = sum / counted;
  return true;
}

typedef struct {
  Engine *e;
  VEC(State *) state; // states with next values
  double *x, *v;      // all of them concatenated, and their perturbation
  uint32_t n;
} TickTangent;

static bool open_tick_tangent(Sim *m, TickTangent *t) {
  for (uint32_t i = 0; i < m->s->state.n; i++) {
    if (!m->s->state.at[i].next) continue;
    State *state = sim_state(m, i);
    vec_push(m->arena, &t->state, state);
    t->n += (uint32_t)state->count;
  }
  t->x = NEW_ARRAY(m->arena, double, t->n + 1);
  t->v = NEW_ARRAY(m->arena, double, t->n + 1);
  uint32_t at = 0;
  for (uint32_t i = 0; i < t->state.n; i++, at += (uint32_t)t->state.at[i - 1]->count)
    state_get(t->state.at[i], t->x + at);
  for (uint32_t i = 0; i < t->n; i++) t->v[i] = 1 / sqrt(t->n);
  t->e = sim_engine(m, pick_tick_tangent(m->w, m->s));
  return t->e != NULL;
}

static bool tick_tangent(Sim *m, TickTangent *t, double time) {
  uint32_t ports = m->s->in.n, n = t->state.n, at = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t count = t->state.at[i]->count;
    engine_set(t->e, ports + i, t->x + at, count);
    engine_set(t->e, ports + n + 1 + i, t->v + at, count);
    at += (uint32_t)count;
  }
  engine_set(t->e, ports + n, &time, 1);
  if (!sim_run(m, t->e, (uint64_t)time)) return false;
  at = 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t count = t->state.at[i]->count;
    engine_get(t->e, i, t->x + at, count);
    engine_get(t->e, n + i, t->v + at, count);
    at += (uint32_t)count;
  }
  return true;
}

static bool exponent_of_map(Sim *m, double *out) {
  TickTangent t = {0};
  double sum = 0, counted = 0;
  if (!open_tick_tangent(m, &t)) return false;
  bool good = true;
  for (double tick = 0; good && tick < m->run->end; tick++) {
    good = tick_tangent(m, &t, tick);
    double grown = good ? normalise(t.v, t.n) : 0;
    if (tick >= m->run->end / 10) sum += grown, counted++;
  }
  engine_free(t.e);
  *out = sum / counted;
  return good;
}

static bool exponent(Elab *in, Program *p, const Check *c, const SimOptions *how, double *out) {
  Sim m;
  bool good = sim_open(&m, in, p, c->system, &p->ran->run.at[c->run - 1], how) &&
              (c->system->flows ? exponent_of_flow(&m, c, out) : exponent_of_map(&m, out));
  sim_close(&m);
  return good;
}

// -- checks ---------------------------------------------------------------------------------------
// Explains the numbers of a condition.
static void condition_figure(World *w, Buf *b, const Check *c, const double *watch) {
  const char *between = "";
  for (uint32_t i = 0; i < c->watch.n; i++) {
    const Watch *x = &c->watch.at[i];
    const Ids *names = x->names ? &w->label_names.at[x->names] : NULL;
    uint32_t label = watch[i] >= 0 ? (uint32_t)watch[i] : 0;
    if (x->truth && c->watch.n > 1 && c->watch.at[0].aside) continue;
    buf_text(b, between);
    between = ", ";
    if (names && label < names->n)
      buf_text(b, name_text(w->names, names->at[label]));
    else if (x->truth)
      buf_text(b, watch[i] > 0.5 ? "true" : "false");
    else
      buf_printf(b, "%.10g", watch[i]);
  }
}

// Explains why a watched value does not exist.
static void nothing_seen(Buf *b, const Check *c, const double *watch) {
  for (uint32_t i = 0; i < c->watch.n; i++) {
    WatchKind kind = c->watch.at[i].kind;
    if (!isnan(watch[i])) continue;
    bool once = c->watch.at[i].number <= 1;
    if (kind == WATCH_WHEN)
      buf_text(b, once ? ": it never comes true" : ": it does not come true so often");
    if (kind == WATCH_AT) buf_text(b, ": the run ended before");
    if (kind == WATCH_PERIOD)
      buf_text(b, ": in the second half of the run it crosses its middle upwards less than twice");
    if (kind == WATCH_EXPONENT)
      buf_printf(b, ": the run is too short, it has to last longer than 1%s",
                 c->system->flows ? "" : " tick");
    return;
  }
}

static bool compares_well(const Check *c, const double side[2]) {
  SyntaxSign sign = cmp_sign(check_left(c->node));
  bool less = sign == SIGN_LESS || sign == SIGN_AT_MOST;
  double over = less ? side[0] - side[1] : side[1] - side[0];
  bool strict = (sign == SIGN_LESS || sign == SIGN_MORE) && c->within == 0;
  if (side[0] == side[1]) return !strict; // also infinities
  return strict ? over < 0 : over <= c->within;
}

static void comparison_figure(Buf *b, const Check *c, const double side[2]) {
  const char *sign = "";
  switch (cmp_sign(check_left(c->node))) {
  case SIGN_LESS: sign = "<"; break;
  case SIGN_MORE: sign = ">"; break;
  case SIGN_AT_MOST: sign = "<="; break;
  default: sign = ">="; break;
  }
  buf_printf(b, "%.10g, not %s %.10g", side[0], sign, side[1]);
}

typedef struct {
  World *w;
  const SimOptions *how;
} ClaimLook;

static bool claim_weights(const void *context, const Diagram *d, Arena *a, Tensor *param) {
  const ClaimLook *l = context;
  return sim_params(l->w, l->how, d, a, param);
}

static bool claim_holds(const Check *c, const double side[2]) {
  if (c->compares) return compares_well(c, side);
  return fabs(side[0] - side[1]) <= c->within || (isinf(side[0]) && side[0] == side[1]);
}

// Counts are exact: no tolerance applies.
static bool only_counts(const Check *c) {
  bool counts = c->watch.n > 0;
  for (uint32_t i = 0; i < c->watch.n; i++) counts &= c->watch.at[i].kind == WATCH_COUNT;
  return counts;
}

static void equation_figure(Buf *b, const Check *c, const double side[2], bool holds) {
  double off = fabs(side[0] - side[1]);
  if (!check_right(c->node)) {
    buf_printf(b, "off by %.2g", off);
    return;
  }
  char left[32], right[32];
  snprintf(left, sizeof left, "%.10g", side[0]);
  snprintf(right, sizeof right, "%.10g", side[1]);
  buf_text(b, left);
  if (!holds && strcmp(left, right) != 0) buf_printf(b, ", not %s", right);
  if (off > 0) buf_printf(b, ", off by %.2g", off);
  bool nearly = off <= 1e-3 * (1 + fabs(side[1]));
  if (!holds && nearly && c->within == 0 && c->system && c->system->flows && !only_counts(c))
    buf_text(b, "; in continuous time a claim needs a tolerance, such as `within 1e-6`");
}

// The time up to which the watched values are known; 0: the end. -(t + 1): no number at tick t.
static double lost_at(const Check *c, const double *lost) {
  for (uint32_t i = 0; lost && i < c->watch.n; i++)
    if (lost[i] != 0) return lost[i];
  return 0;
}

static void lost_figure(World *w, double when, Verdict *v) {
  v->holds = false;
  if (when < 0) {
    v->figure = arena_format(w->arena, "not known: at tick %.0f it is not a number", -when - 1);
    return;
  }
  v->figure = arena_format(w->arena,
                           "not known: after t = %.10g it oscillates or jumps too often to be "
                           "resolved: make the run shorter, or make it a state with a rate",
                           when);
}

static bool verify_claim(Elab *in, Program *p, uint32_t number, const Followed *run,
                         const SimOptions *how, Verdict *v) {
  const Check *c = &p->ran->check.at[number];
  World *w = elab_world(in);
  const double *seen = run ? run->watch[number] : NULL;
  double lost = lost_at(c, run && run->lost ? run->lost[number] : NULL);
  if (lost != 0) return lost_figure(w, lost, v), true;
  double *watch = NEW_ARRAY(w->arena, double, c->watch.n + 1), side[2];
  for (uint32_t i = 0; i < c->watch.n; i++) {
    const Watch *x = &c->watch.at[i];
    watch[i] = seen ? seen[i] : 0;
    bool point = x->kind == WATCH_FIXED || x->kind == WATCH_DIVERGENCE;
    if (point && !at_point(in, p, c, x, how, &watch[i])) return false;
    if (x->kind == WATCH_EXPONENT && !exponent(in, p, c, how, &watch[i])) return false;
  }
  ClaimLook look = {w, how};
  if (!claim_sides(in, p, c, watch, &(ClaimWeights){claim_weights, &look}, side))
    return diag_refuse(w->diags, c->span, "this claim has no value");
  Buf b = buf_new(w->arena);
  v->holds = claim_holds(c, side);
  if (c->compares && !v->holds)
    comparison_figure(&b, c, side);
  else if (c->condition)
    condition_figure(w, &b, c, watch);
  else
    equation_figure(&b, c, side, v->holds);
  if (!v->holds) nothing_seen(&b, c, watch);
  v->figure = b.at;
  return true;
}

// -- truths ---------------------------------------------------------------------------------------
typedef struct {
  Sim m;
  Engine *look, *tick;
  int64_t cells; // cells of all inputs
  double cases;  // number of cases; 0: cases are random
  double starts; // number of initial states that are tried; 0: states start at 0
  uint64_t worst;
  bool restless; // the system does not settle
} Truths;

// The number of values of a wire; 0: reals.
static double values_of_wire(const Truths *t, Id wire) {
  const Type *type = &t->m.s->d->wire.at[wire].type;
  return pow((double)values_of(t->m.w, type), (double)sim_cells(&t->m, type));
}

static double count_cases(const Truths *t) {
  double n = 1;
  for (uint32_t i = 0; i < t->m.s->in.n; i++) n *= values_of_wire(t, t->m.s->d->in.at[i]);
  return n <= CASES_LIMIT ? n : 0;
}

// The inputs of one case, by its index, or random.
static void set_case(Truths *t, uint64_t number) {
  uint64_t rest = number, element = 0;
  for (uint32_t i = 0; i < t->m.s->in.n; i++) {
    const Type *type = &t->m.s->d->wire.at[t->m.s->d->in.at[i]].type;
    int64_t values = values_of(t->m.w, type), n = sim_cells(&t->m, type);
    for (int64_t k = 0; k < n; k++)
      t->m.input[i][k] =
          case_value(values, t->m.how->seed, number, element++, t->cases > 0 ? &rest : NULL);
    for (int e = 0; e < 2; e++) {
      Engine *engine = e ? t->tick : t->look;
      if (engine) engine_set(engine, i, t->m.input[i], n);
    }
  }
}

// The number of combinations of states; 0: too many to try each with each case.
static double count_starts(const Truths *t) {
  double n = 1;
  for (uint32_t i = 0; i < t->m.s->state.n; i++)
    n *= values_of_wire(t, t->m.s->d->param.at[t->m.s->state.at[i].param].wire);
  return t->cases > 0 && n * t->cases <= STARTS_LIMIT ? n : 0;
}

// The initial states of one start, by its index; the first is all 0.
static void set_start(Truths *t, uint64_t number) {
  for (uint32_t i = 0; i < t->m.s->state.n; i++) {
    State *s = sim_state(&t->m, i);
    const Diagram *d = t->m.s->d;
    uint64_t labels =
        (uint64_t)values_of(t->m.w, &d->wire.at[d->param.at[t->m.s->state.at[i].param].wire].type);
    memset(s->data, 0, (size_t)s->count * number_bytes(s->number));
    for (int64_t k = 0; labels && k < s->count; k++, number /= labels) {
      double value = (double)(number % labels);
      unsigned char *at = (unsigned char *)s->data + (size_t)k * number_bytes(s->number);
      numbers_set(s->number, at, &value, 1);
    }
  }
}

// Runs the system with constant inputs until its states no longer change.
static bool settle(Truths *t, uint64_t start) {
  uint64_t before = 0, ticks = 0;
  if (!t->tick) return true;
  set_start(t, start);
  for (; ticks < SETTLE_LIMIT; ticks++) {
    uint64_t now = HASH_START;
    for (uint32_t i = 0; i < t->m.s->state.n; i++) {
      const State *s = sim_state(&t->m, i);
      now = hash_bytes(now, s->data, (size_t)s->count * number_bytes(s->number));
    }
    if (ticks && now == before) break;
    before = now;
    if (!sim_run(&t->m, t->tick, ticks)) return false;
  }
  t->restless |= ticks == SETTLE_LIMIT;
  if (ticks - 1 > t->worst) t->worst = ticks - 1;
  return true;
}

static const char *case_text(const Truths *t) {
  Buf b = buf_new(t->m.w->arena);
  for (uint32_t i = 0; i < t->m.s->in.n; i++) {
    const Type *type = &t->m.s->d->wire.at[t->m.s->d->in.at[i]].type;
    int64_t n = sim_cells(&t->m, type);
    buf_printf(&b, "%s%s = ", i ? ", " : "", name_text(t->m.w->names, t->m.s->in.at[i].name));
    for (int64_t k = 0; k < n && k < 8; k++) buf_printf(&b, "%s%g", k ? " " : "", t->m.input[i][k]);
    if (n > 8) buf_text(&b, " …");
  }
  return b.n ? b.at : "without inputs";
}

static bool open_truths(Truths *t, Elab *in, Program *p, const Check *c, const SimOptions *how) {
  if (!sim_open(&t->m, in, p, c->system, NULL, how)) return false;
  const Seen *seen = &c->truth;
  SightList truth = {.sights = &t->m.sights, .seen = &seen, .nseen = 1};
  t->cases = count_cases(t);
  t->look = sim_engine(&t->m, pick_seen(t->m.w, c->system, &truth));
  bool steps = false;
  for (uint32_t i = 0; i < c->system->state.n; i++) steps |= c->system->state.at[i].next != 0;
  if (steps) {
    bool *rows = NEW_ARRAY(t->m.arena, bool, c->system->in.n + 1);
    SightList none = {.sights = &t->m.sights};
    t->tick = sim_engine(&t->m, pick_ticks(t->m.w, c->system, 1, rows, &none));
    t->starts = count_starts(t);
  }
  return t->look && (!steps || t->tick);
}

typedef struct {
  double *value; // the cells of the check
  int64_t cells;
  bool number; // they are differences, not bits
  double off;
} Claimed;

// Does the check hold for these inputs, from every start? False: it could not be evaluated.
static bool try_case(Truths *t, const Check *c, Claimed *x, uint64_t k, bool *holds) {
  set_case(t, k);
  *holds = true;
  for (uint64_t start = 0; start == 0 || (double)start < t->starts; start++) {
    if (!settle(t, start) || !sim_run(&t->m, t->look, k)) return false;
    engine_get(t->look, 0, x->value, x->cells);
    for (int64_t i = 0; i < x->cells; i++) {
      x->off = x->number ? fmax(x->off, fabs(x->value[i])) : x->off;
      *holds &= x->number ? fabs(x->value[i]) <= c->within : x->value[i] != 0;
    }
    *holds &= !t->restless;
  }
  return true;
}

static const char *truth_figure(const Truths *t, const Claimed *x, uint64_t right, uint64_t cases,
                                const char *wrong) {
  Buf b = buf_new(t->m.w->arena);
  buf_printf(&b, "%llu of %llu %s", (unsigned long long)right, (unsigned long long)cases,
             t->cases > 0 ? "inputs" : "drawn inputs");
  if (x->number) buf_printf(&b, ", off by %.2g at most", x->off);
  if (t->tick && !t->restless)
    buf_printf(&b, ", settled after %llu ticks at most%s", (unsigned long long)t->worst,
               t->starts > 0 ? ", from any start" : "");
  if (t->restless) buf_printf(&b, ", not settled after %d ticks", SETTLE_LIMIT);
  if (wrong) buf_printf(&b, "; not for %s", wrong);
  return b.at;
}

static bool verify_truth(Elab *in, Program *p, const Check *c, const SimOptions *how, Verdict *v) {
  Truths t = {0};
  bool good = open_truths(&t, in, p, c, how);
  uint64_t cases = t.cases > 0 ? (uint64_t)t.cases : SAMPLES, right = 0;
  const char *wrong = NULL;
  const Diagram *d = c->truth.diagram;
  const Type *type = good ? &d->wire.at[d->out.at[0]].type : NULL;
  Claimed x = {.cells = good ? sim_cells(&t.m, type) : 0, .number = good && type->base == BASE_R};
  x.value = NEW_ARRAY(t.m.arena, double, x.cells + 1);
  for (uint64_t k = 0; good && k < cases && !t.restless; k++) {
    bool holds;
    good = try_case(&t, c, &x, k, &holds);
    right += good && holds;
    if (good && !holds && !wrong) wrong = case_text(&t);
  }
  v->figure = truth_figure(&t, &x, right, cases, wrong);
  v->holds = right == cases;
  sim_close(&t.m);
  return good;
}

bool verify_check(Elab *in, Program *p, uint32_t number, const Followed *followed,
                  const SimOptions *how, Verdict *v) {
  const Check *c = &p->ran->check.at[number];
  switch (c->kind) {
  case CHECK_TRUTH: return verify_truth(in, p, c, how, v);
  case CHECK_BOXES: return verify_boxes(elab_world(in), c, how, v);
  case CHECK_NESTED: return verify_nested(in, p, c, how, v);
  default: return verify_claim(in, p, number, c->run ? &followed[c->run - 1] : NULL, how, v);
  }
}
