// A differentiable step of `flow` with events.
//
// A step consists of rounds, each up to the first event or to the end. If a guard is positive at
// the end of a round, its zero is located by bisection on the cubic Hermite interpolant, then
// refined by Newton iteration on the states. Bisection adds constants and has no derivative; that
// of the Newton steps is the one of the implicit function theorem. So the derivative accounts for
// the moving event time and for the jump of the rates (saltation) without a special rule.
//
// What cannot be followed (more events in a step than rounds, conflicting events, decreasing times)
// makes the states NaN.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/pass/pass.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/machine/flow_own.h"

enum { ROUNDS = 5, HALVINGS = 40, NEWTONS = 3 };
static const double too_short = 1e-12; // relative length below which no step is left

// The arming of an event: 1 if its guard was at or below 0, 1/2 if it has just happened and its
// guard is falling, 0 if the guard must first fall.
typedef struct {
  World *w;
  const System *s;
  Diagram *d;
  Type number, bit; // scalars of the system, with batch axes
  Diagram *rates, *guards, *values, *slopes;
  uint32_t n, held, events;
  Ids port, x, m; // arguments of the functions
  Id time;
} EventStep;

// -- helpers --------------------------------------------------------------------------------------
static Id map2(EventStep *b, Type t, const char *text, Id x, Id y) {
  return map_text(b->w, b->d, t, text, (Id[]){x, y}, y ? 2 : 1, 0);
}
static Id number(EventStep *b, double k) { return wire_filled(b->w, b->d, &b->number, k, 0, 0); }
static Id num2(EventStep *b, const char *text, Id x, Id y) {
  return map2(b, b->number, text, x, y);
}
static Id bit2(EventStep *b, const char *text, Id x, Id y) { return map2(b, b->bit, text, x, y); }
static Id choose(EventStep *b, Id c, Id x, Id y) { return wire_choice(b->w, b->d, c, x, y); }
static Id above(EventStep *b, Id x, double k) { return bit2(b, "a < b", number(b, k), x); }

static Type type_of(const EventStep *b, Id wire) { return b->d->wire.at[wire].type; }

// -- functions of all states ----------------------------------------------------------------------
// Inputs: ports, continuous states, other states.
static Diagram *function_of(World *w, const System *s, const Ids *wire, const char *name) {
  const Diagram *d = s->d;
  Diagram *to = diagram_new(w, name_from(w->names, name));
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  for (int held = 0; held < 2; held++)
    for (uint32_t i = 0; i < s->state.n; i++) {
      Id of = d->param.at[s->state.at[i].param].wire;
      if ((held != 0) == !s->state.at[i].rate)
        map[of] = diagram_input(w, to, d->wire.at[of].type, d->wire.at[of].name, 0);
    }
  hold_rest(w, to, d, map);
  copy_boxes(w, to, d, map);
  for (uint32_t i = 0; i < wire->n; i++) diagram_output(w, to, map[wire->at[i]]);
  diagram_resolve(w, to);
  return passes_flat(w, to);
}

static void make_functions(EventStep *b) {
  World *w = b->w;
  const System *s = b->s;
  Ids rate = {0}, guard = {0}, value = {0};
  for (uint32_t i = 0; i < s->state.n; i++) {
    if (s->state.at[i].rate)
      vec_push(w->arena, &rate, s->state.at[i].rate);
    else
      b->held++;
  }
  b->n = rate.n;
  b->events = s->event.n;
  for (uint32_t i = 0; i < s->event.n; i++) {
    vec_push(w->arena, &guard, s->event.at[i].guard);
    for (uint32_t k = 0; k < s->event.at[i].value.n; k++)
      vec_push(w->arena, &value, s->event.at[i].value.at[k]);
  }
  for (uint32_t i = 0; i < s->event.n; i++) // then the elements that are set
    for (uint32_t k = 0; k < s->event.at[i].named.n; k++)
      if (s->event.at[i].named.at[k]) vec_push(w->arena, &value, s->event.at[i].named.at[k]);
  b->rates = function_of(w, s, &rate, "rates");
  b->guards = function_of(w, s, &guard, "guards");
  b->values = function_of(w, s, &value, "values");
  bool *want = NEW_ARRAY(w->arena, bool, b->guards->in.n + 1),
       *none = NEW_ARRAY(w->arena, bool, b->guards->param.n + 1);
  for (uint32_t i = 0; i < b->n; i++) want[s->d->in.n + i] = true;
  b->slopes = diagram_forward(w, b->guards, &(Wanted){.want_in = want, .want_param = none});
}

static Id call_function(EventStep *b, Diagram *f, const Id *x, const Id *m, const Id *along) {
  World *w = b->w;
  Ids in = {0};
  for (uint32_t i = 0; i < b->port.n; i++) vec_push(w->arena, &in, b->port.at[i]);
  for (uint32_t i = 0; i < b->n; i++) vec_push(w->arena, &in, x[i]);
  for (uint32_t i = 0; i < b->held; i++) vec_push(w->arena, &in, m[i]);
  for (uint32_t i = 0; along && i < b->n; i++) vec_push(w->arena, &in, along[i]);
  called_params(w, b->d, f, &in);
  return box_call(w, b->d, f, in.at, in.n, 0);
}

static Id *new_ids(const EventStep *b, uint32_t n) { return NEW_ARRAY(b->w->arena, Id, n + 1); }

static Id *rates_at(EventStep *b, const Id *x, const Id *m) {
  Id *out = new_ids(b, b->n), first = call_function(b, b->rates, x, m, NULL);
  for (uint32_t i = 0; i < b->n; i++) out[i] = first + i;
  return out;
}

// The time derivative of the guards.
static Id slopes_at(EventStep *b, const Id *x, const Id *m) {
  return call_function(b, b->slopes, x, m, rates_at(b, x, m)) + b->slopes->out.n - b->events;
}

// A Runge-Kutta step of length h.
static Id *rk4_step(EventStep *b, const Id *x, const Id *m, Id h) {
  static const double at[4] = {0, 0.5, 0.5, 1};
  Id *y = new_ids(b, b->n), *out = new_ids(b, b->n), *k[4];
  for (uint32_t stage = 0; stage < 4; stage++) {
    for (uint32_t i = 0; i < b->n; i++)
      y[i] = stage ? step_moved(b->w, b->d, x[i], at[stage], h, k[stage - 1][i]) : x[i];
    k[stage] = rates_at(b, y, m);
  }
  for (uint32_t i = 0; i < b->n; i++) {
    Id all[4] = {k[0][i], k[1][i], k[2][i], k[3][i]};
    out[i] = step_moved(b->w, b->d, x[i], 1.0 / 6, h, step_weighed(b->w, b->d, all));
  }
  return out;
}

// -- bisection ------------------------------------------------------------------------------------
typedef struct {
  Id *x, *far, *left, *right; // x, y - x, h times the rates at both ends
} Cubic;

// Hermite: x + q^2 (3 - 2q) far + q (1 - q) ((1 - q) left - q right)
static Id cubic_at(EventStep *b, const Cubic *c, uint32_t i, Id q) {
  Type t = type_of(b, c->x[i]);
  Id line = map_text(b->w, b->d, t, "a + c*c*(3 - 2*c)*b", (Id[]){c->x[i], c->far[i], q}, 3, 0);
  return map_text(b->w, b->d, t, "a + d*(1 - d)*((1 - d)*b - d*c)",
                  (Id[]){line, c->left[i], c->right[i], q}, 4, 0);
}

static Id input_like(EventStep *in, const EventStep *of, Id wire) {
  return diagram_input(in->w, in->d, type_of(of, wire), 0, 0);
}

static EventStep inside_of(const EventStep *b, const char *name) {
  EventStep in = *b;
  in.d = diagram_new(b->w, name_from(b->w->names, name));
  in.port = in.x = in.m = (Ids){0};
  return in;
}

static void hold(EventStep *in, const EventStep *b, const Id *wire, uint32_t n, Ids *inside,
                 Ids *outside) {
  for (uint32_t i = 0; i < n; i++) {
    vec_push(b->w->arena, inside, input_like(in, b, wire[i]));
    vec_push(b->w->arena, outside, wire[i]);
  }
}

// A scan whose body's params are those of the whole; its first result.
static Id scan_of(EventStep *b, EventStep *in, Scan *scan, Ids *outside, int64_t turns) {
  World *w = b->w;
  scan->body = in->d;
  scan->axis = (Index){name_from(w->names, "turn"), size_of(w, turns)};
  called_params(w, b->d, in->d, outside);
  diagram_resolve(w, in->d);
  return box_scan(w, b->d, scan, outside->at, outside->n, 0);
}

// Bisection for each guard on the cubic, as a fraction of the step: carried are the lower bounds,
// and the width.
static Id bisect(EventStep *b, const Cubic *c, const Id *m) {
  EventStep in = inside_of(b, "halves");
  World *w = b->w;
  Ids outside = {0}, low = {0}, x = {0}, far = {0}, left = {0}, right = {0}, held = {0};
  Id *zero = new_ids(b, b->events);
  for (uint32_t e = 0; e < b->events; e++) zero[e] = number(b, 0);
  Id one = number(b, 1);
  hold(&in, b, zero, b->events, &low, &outside);
  Ids width = {0};
  hold(&in, b, &one, 1, &width, &outside);
  uint32_t carry = outside.n;
  hold(&in, b, c->x, b->n, &x, &outside);
  hold(&in, b, c->far, b->n, &far, &outside);
  hold(&in, b, c->left, b->n, &left, &outside);
  hold(&in, b, c->right, b->n, &right, &outside);
  hold(&in, b, m, b->held, &held, &outside);
  hold(&in, b, b->port.at, b->port.n, &in.port, &outside);
  Cubic own = {x.at, far.at, left.at, right.at};
  Id half = num2(&in, "a*b", width.at[0], number(&in, 0.5));
  for (uint32_t e = 0; e < b->events; e++) {
    Id middle = num2(&in, "a + b", low.at[e], half), *y = new_ids(b, b->n);
    for (uint32_t i = 0; i < b->n; i++) y[i] = cubic_at(&in, &own, i, middle);
    Id up = above(&in, call_function(&in, in.guards, y, held.at, NULL) + e, 0);
    diagram_output(w, in.d, choose(&in, up, low.at[e], middle));
  }
  diagram_output(w, in.d, half);
  Scan scan = {.carry = carry, .hold = outside.n - carry};
  return scan_of(b, &in, &scan, &outside, HALVINGS);
}

// -- a round --------------------------------------------------------------------------------------
typedef struct {
  Id *x, *m, *armed, rest; // at its start
  Id *now, *later, *part;  // [event] happens now, happens later, and when
} EventRound;

static void find_moments(EventStep *b, EventRound *r) {
  Id *y = rk4_step(b, r->x, r->m, r->rest), *fx = rates_at(b, r->x, r->m),
     *fy = rates_at(b, y, r->m);
  Id begin = call_function(b, b->guards, r->x, r->m, NULL),
     end = call_function(b, b->guards, y, r->m, NULL);
  Cubic c = {r->x, new_ids(b, b->n), new_ids(b, b->n), new_ids(b, b->n)};
  for (uint32_t i = 0; i < b->n; i++) {
    Type t = type_of(b, r->x[i]);
    c.far[i] = map2(b, t, "a - b", y[i], r->x[i]);
    c.left[i] = map2(b, t, "a*b", fx[i], r->rest);
    c.right[i] = map2(b, t, "a*b", fy[i], r->rest);
  }
  Id low = bisect(b, &c, r->m), some = above(b, r->rest, 0), one = number(b, 1);
  for (uint32_t e = 0; e < b->events; e++) {
    r->now[e] = bit2(b, "and(a, b)", above(b, r->armed[e], 0.75), above(b, begin + e, 0));
    Id rises = bit2(b, "and(a, b)", above(b, r->armed[e], 0.25), above(b, end + e, 0));
    Id then = bit2(b, "and(a, b)", rises, some);
    r->later[e] = bit2(b, "and(a, b)", then, bit2(b, "not(a)", r->now[e], 0));
    r->part[e] = choose(b, r->later[e], low + e, one);
  }
}

static void sharpen_moments(EventStep *b, EventRound *r) {
  Id one = number(b, 1), zero = number(b, 0);
  for (uint32_t e = 0; e < b->events; e++) {
    for (uint32_t turn = 0; turn < NEWTONS; turn++) {
      Id *z = rk4_step(b, r->x, r->m, num2(b, "a*b", r->part[e], r->rest));
      Id g = call_function(b, b->guards, z, r->m, NULL) + e;
      Id fast = num2(b, "a*b", slopes_at(b, z, r->m) + e, r->rest);
      Id by = num2(b, "a/b", g, choose(b, r->later[e], fast, one));
      r->part[e] = num2(b, "a - b", r->part[e], choose(b, r->later[e], by, zero));
    }
    r->part[e] = choose(b, r->now[e], zero, r->part[e]);
  }
}

// The index of a state: continuous states first, then the others.
static uint32_t place_of(const EventStep *b, uint32_t state) {
  uint32_t flows = 0, held = 0;
  for (uint32_t i = 0; i < state; i++) {
    if (b->s->state.at[i].rate)
      flows++;
    else
      held++;
  }
  return b->s->state.at[state].rate ? flows : b->n + held;
}

static uint32_t values_of_events(const System *s) {
  uint32_t n = 0;
  for (uint32_t e = 0; e < s->event.n; e++) n += s->event.at[e].value.n;
  return n;
}

// Simultaneous events read the old states; two that set one state must agree.
static Id *set_states(EventStep *b, const Id *z, const Id *m, const Id *fired, Id *bad) {
  Id *out = new_ids(b, b->n + b->held), first = call_function(b, b->values, z, m, NULL), at = first;
  Id named = first + values_of_events(b->s);
  for (uint32_t i = 0; i < b->n + b->held; i++) out[i] = i < b->n ? z[i] : m[i - b->n];
  for (int check = 0; check < 2; check++, at = first)
    for (uint32_t e = 0; e < b->events; e++)
      for (uint32_t k = 0; k < b->s->event.at[e].state.n; k++, at++) {
        Id *to = &out[place_of(b, b->s->event.at[e].state.at[k])];
        Type t = type_of(b, *to);
        bool some = b->s->event.at[e].named.at[k];
        Id value = !check && some ? choose(b, named++, at, *to) : at;
        if (!check) *to = choose(b, fired[e], value, *to);
        if (!check || t.rank > b->number.rank) continue;
        Id differs = bit2(b, "and(a, b)", fired[e], bit2(b, "a != b", at, *to));
        *bad = choose(b, differs, number(b, 1), *bad);
      }
  return out;
}

static void arm_events(EventStep *b, const EventRound *r, const Id *all, const Id *fired,
                       Id *armed) {
  Id half = number(b, 0.5), one = number(b, 1), zero = number(b, 0);
  Id g = call_function(b, b->guards, all, all + b->n, NULL), grows = slopes_at(b, all, all + b->n);
  for (uint32_t e = 0; e < b->events; e++) {
    Id up = above(b, g + e, 0), rising = bit2(b, "a <= b", zero, grows + e);
    Id stuck = bit2(b, "and(a, b)", up, rising);
    armed[e] = choose(b, fired[e], choose(b, stuck, zero, half), choose(b, up, r->armed[e], one));
  }
}

static Id make_round(EventStep *b, EventRound *r, Id bad) {
  World *w = b->w;
  r->now = new_ids(b, b->events), r->later = new_ids(b, b->events), r->part = new_ids(b, b->events);
  find_moments(b, r);
  sharpen_moments(b, r);
  Id first = number(b, 1), close = number(b, 1e-12), *fired = new_ids(b, b->events),
     *armed = new_ids(b, b->events);
  for (uint32_t e = 0; e < b->events; e++) first = num2(b, "minimum(a, b)", first, r->part[e]);
  for (uint32_t e = 0; e < b->events; e++) {
    Id happens = bit2(b, "or(a, b)", r->now[e], r->later[e]);
    Id here = bit2(b, "a <= b", r->part[e], num2(b, "a + b", first, close));
    fired[e] = bit2(b, "and(a, b)", happens, here);
  }
  Id *z = rk4_step(b, r->x, r->m, num2(b, "a*b", first, r->rest));
  Id *all = set_states(b, z, r->m, fired, &bad);
  arm_events(b, r, all, fired, armed);
  for (uint32_t i = 0; i < b->n + b->held; i++) diagram_output(w, b->d, all[i]);
  for (uint32_t e = 0; e < b->events; e++) diagram_output(w, b->d, armed[e]);
  Id part = num2(b, "a - b", number(b, 1), first), rest = num2(b, "a*b", r->rest, part);
  Id none = bit2(b, "a < b", part, number(b, too_short));
  diagram_output(w, b->d, choose(b, none, number(b, 0), rest));
  return bad;
}

// -- a step ---------------------------------------------------------------------------------------
// Carried through the rounds: states, arming, remaining length, failure.
static Id scan_rounds(EventStep *b, const Id *carried, uint32_t n) {
  EventStep in = inside_of(b, "round");
  Ids outside = {0}, own = {0};
  hold(&in, b, carried, n, &own, &outside);
  hold(&in, b, b->port.at, b->port.n, &in.port, &outside);
  EventRound r = {.x = own.at, .m = own.at + b->n, .armed = own.at + b->n + b->held};
  r.rest = own.at[n - 2];
  diagram_output(b->w, in.d, make_round(&in, &r, own.at[n - 1]));
  Scan scan = {.carry = n, .hold = b->port.n};
  return scan_of(b, &in, &scan, &outside, ROUNDS);
}

// NaN if it failed.
static Id nan_if_failed(EventStep *b, Id x, Id bad) {
  return map2(b, type_of(b, x), "select(0 < b, 1e308*1e308 - 1e308*1e308, a)", x, bad);
}

Diagram *system_event_step(World *w, const System *s, const Type *length) {
  EventStep b = {.w = w, .s = s, .number = *length, .bit = *length};
  b.bit.base = BASE_BIT;
  make_functions(&b);
  b.d = diagram_new(w, name_from(w->names, "step"));
  Ids carried = {0};
  for (uint32_t i = 0; i < b.rates->in.n; i++) {
    const Wire *wire = &b.rates->wire.at[b.rates->in.at[i]];
    vec_push(w->arena, i < s->d->in.n ? &b.port : &carried,
             diagram_input(w, b.d, wire->type, wire->name, 0));
  }
  for (uint32_t e = 0; e < b.events; e++)
    vec_push(w->arena, &carried, diagram_input(w, b.d, *length, name_from(w->names, "armed"), 0));
  vec_push(w->arena, &carried, diagram_input(w, b.d, *length, name_from(w->names, "h"), 0));
  Id back = above(&b, num2(&b, "a - b", number(&b, 0), carried.at[carried.n - 1]), 0);
  vec_push(w->arena, &carried, choose(&b, back, number(&b, 1), number(&b, 0)));
  uint32_t n = b.n + b.held + b.events;
  Id first = scan_rounds(&b, carried.at, carried.n);
  Id bad = choose(&b, above(&b, first + n, 0), number(&b, 1), first + n + 1);
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, b.d, i < b.n ? nan_if_failed(&b, first + i, bad) : first + i);
  return passes_flat(w, b.d);
}
