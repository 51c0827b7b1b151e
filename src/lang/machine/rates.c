// The rates of a system as a diagram, and fixed steps made of it: Runge-Kutta 4, Euler; with noise
// Euler-Maruyama and Milstein. All are ordinary diagrams, so a run with fixed steps can be compiled
// and differentiated as a whole.
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/pass/pipeline.h"
#include "core/pass/rewrite.h"
#include "lang/machine/machine_own.h"

// -- updates of states ----------------------------------------------------------------------------
Id step_moved(World *w, Diagram *d, Id x, double c, Id h, Id y) {
  const char *by = c == 1 ? "" : arena_format(w->arena, "%.17g*", c);
  const char *text = arena_format(w->arena, "a + %s%s", by, y ? "c*b" : "b");
  return map_text(w, d, d->wire.at[x].type, text, y ? (Id[]){x, y, h} : (Id[]){x, h}, y ? 3 : 2, 0);
}

Id step_weighed(World *w, Diagram *d, const Id k[4]) {
  return map_text(w, d, d->wire.at[k[0]].type, "a + d + 2*(b + c)", k, 4, 0);
}

// -- rates ----------------------------------------------------------------------------------------
static Id changed_by(const SystemState *x, bool ticks) { return ticks ? x->next : x->rate; }

// Other params are unchanged; the simulator sets clocks.
void hold_rest(World *w, Diagram *to, const Diagram *d, Id *map) {
  for (uint32_t i = 0; i < d->param.n; i++) {
    if (map[d->param.at[i].wire]) continue;
    Param p = d->param.at[i];
    const Wire *x = &d->wire.at[p.wire];
    p.next = 0;
    if (p.role == ROLE_CLOCK) p.role = ROLE_BUFFER;
    uint32_t k = diagram_param(w, to, p, x->type, x->name, x->origin);
    map[d->param.at[i].wire] = to->param.at[k].wire;
  }
}

// The rates of states (or their next values) as a function of the states, and of white noise if
// `noise`.
static Diagram *system_function(World *w, const System *s, bool ticks, bool noise) {
  const Diagram *d = s->d;
  Diagram *to = diagram_new(w, name_from(w->names, ticks ? "nexts" : "rates"));
  Id *map = new_map(w, d);
  copy_inputs(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    const Wire *wire = &d->wire.at[d->param.at[x->param].wire];
    if (changed_by(x, ticks))
      map[d->param.at[x->param].wire] = diagram_input(w, to, wire->type, wire->name, wire->origin);
  }
  Id time = diagram_input(w, to, (Type){.base = BASE_R}, name_from(w->names, "time"), 0);
  if (s->time) map[s->time] = time;
  for (uint32_t i = 0; noise && i < s->white.n; i++) {
    Id white = d->param.at[s->white.at[i].param].wire;
    map[white] = diagram_input(w, to, d->wire.at[white].type, d->wire.at[white].name, 0);
  }
  hold_rest(w, to, d, map);
  copy_boxes(w, to, d, map);
  for (uint32_t i = 0; i < s->state.n; i++)
    if (changed_by(&s->state.at[i], ticks))
      diagram_output(w, to, map[changed_by(&s->state.at[i], ticks)]);
  diagram_resolve(w, to);
  return passes_flat(w, to);
}

Diagram *system_rates(World *w, const System *s) { return system_function(w, s, false, false); }
Diagram *system_noisy_rates(World *w, const System *s) {
  return system_function(w, s, false, true);
}
Diagram *system_nexts(World *w, const System *s) { return system_function(w, s, true, false); }

// -- steps ----------------------------------------------------------------------------------------
// A diagram that calls the rates at several states, with everything else fixed.
typedef struct {
  World *w;
  Diagram *d, *rates;
  Ids port, x, white;
  Id time, h;
} StepBuilder;

static Id like_input(StepBuilder *b, Id of) {
  const Wire *wire = &b->rates->wire.at[of];
  return diagram_input(b->w, b->d, wire->type, wire->name, 0);
}

static void step_begin(StepBuilder *b, const System *s, const char *name, const Type *length,
                       uint32_t whites) {
  World *w = b->w;
  Type number = {.base = BASE_R};
  uint32_t ports = s->d->in.n, n = b->rates->out.n;
  b->d = diagram_new(w, name_from(w->names, name));
  for (uint32_t i = 0; i < ports + n; i++)
    vec_push(w->arena, i < ports ? &b->port : &b->x, like_input(b, b->rates->in.at[i]));
  b->time = diagram_input(w, b->d, number, name_from(w->names, "time"), 0);
  if (length) b->h = diagram_input(w, b->d, *length, name_from(w->names, "h"), 0);
  for (uint32_t i = 0; i < whites * s->white.n; i++)
    vec_push(w->arena, &b->white, like_input(b, b->rates->in.at[ports + n + 1 + i % s->white.n]));
}

// Calls f, with the inputs of the rates and perhaps more, at x; its first result.
static Id call_at(StepBuilder *b, Diagram *f, const Id *x, Id time, const Ids *more) {
  World *w = b->w;
  Ids in = {0};
  for (uint32_t i = 0; i < b->port.n; i++) vec_push(w->arena, &in, b->port.at[i]);
  for (uint32_t i = 0; i < b->x.n; i++) vec_push(w->arena, &in, x[i]);
  vec_push(w->arena, &in, time);
  for (uint32_t i = 0; more && i < more->n; i++) vec_push(w->arena, &in, more->at[i]);
  called_params(w, b->d, f, &in);
  return box_call(w, b->d, f, in.at, in.n, 0);
}

static void smooth_step(StepBuilder *b, bool euler, bool timed) {
  static const double at[4] = {0, 0.5, 0.5, 1};
  World *w = b->w;
  Diagram *d = b->d;
  uint32_t n = b->x.n;
  Id *y = NEW_ARRAY(w->arena, Id, n + 1);
  Id(*k)[4] = (Id(*)[4])NEW_ARRAY(w->arena, Id, 4 * (size_t)n + 4);
  for (uint32_t stage = 0; stage < (euler ? 1 : 4); stage++) {
    for (uint32_t i = 0; i < n; i++)
      y[i] = stage ? step_moved(w, d, b->x.at[i], at[stage], b->h, k[i][stage - 1]) : b->x.at[i];
    Id now = stage && timed ? step_moved(w, d, b->time, at[stage], b->h, 0) : b->time;
    Id first = call_at(b, b->rates, y, now, NULL);
    for (uint32_t i = 0; i < n; i++) k[i][stage] = first + i;
  }
  for (uint32_t i = 0; i < n; i++)
    diagram_output(w, d,
                   euler ? step_moved(w, d, b->x.at[i], 1, b->h, k[i][0])
                         : step_moved(w, d, b->x.at[i], 1.0 / 6, b->h, step_weighed(w, d, k[i])));
}

// -- steps with noise -----------------------------------------------------------------------------
// Rates are affine in noise: f + G w. Euler-Maruyama: w is the noise increment divided by the
// length, x + h f + G dW. Milstein adds half the derivative of G along itself, G'[G] (dW dW - h);
// for noise whose components do not change each other's coefficients, this is the derivative of G 1
// along G (dW^2 - h): two tangents of the rates for any number of components.
static Id each_two(World *w, Diagram *d, const char *text, Id a, Id b) {
  return map_text(w, d, d->wire.at[a].type, text, (Id[]){a, b}, 2, 0);
}

static Ids whites_filled(StepBuilder *b, uint32_t n, double k) {
  Ids out = {0};
  for (uint32_t i = 0; i < n; i++) {
    Type t = b->d->wire.at[b->white.at[i]].type;
    vec_push(b->w->arena, &out, wire_filled(b->w, b->d, &t, k, 0, 0));
  }
  return out;
}

// The tangent of the rates along v, with noise a.
static Id change_at(StepBuilder *b, Diagram *tangent, const Ids *a, const Id *v) {
  Ids more = {0};
  for (uint32_t i = 0; i < a->n; i++) vec_push(b->w->arena, &more, a->at[i]);
  for (uint32_t i = 0; i < b->x.n; i++) vec_push(b->w->arena, &more, v[i]);
  return call_at(b, tangent, b->x.at, b->time, &more) + tangent->out.n - b->x.n;
}

// The derivative of G a along G b.
static void correction(StepBuilder *b, uint32_t whites, const Ids *one, const Ids *two, Id *out) {
  World *w = b->w;
  uint32_t n = b->x.n, ports = b->port.n;
  bool *want = NEW_ARRAY(w->arena, bool, b->rates->in.n + 1),
       *none = NEW_ARRAY(w->arena, bool, b->rates->param.n + 1);
  for (uint32_t i = 0; i < n; i++) want[ports + i] = true;
  Diagram *tangent = diagram_forward(w, b->rates, &(Wanted){.want_in = want, .want_param = none});
  Ids zero = whites_filled(b, whites, 0);
  Id with = call_at(b, b->rates, b->x.at, b->time, two),
     without = call_at(b, b->rates, b->x.at, b->time, &zero);
  Id *v = NEW_ARRAY(w->arena, Id, n + 1);
  for (uint32_t i = 0; i < n; i++) v[i] = each_two(w, b->d, "a - b", with + i, without + i);
  Id all = change_at(b, tangent, one, v), still = change_at(b, tangent, &zero, v);
  for (uint32_t i = 0; i < n; i++) out[i] = each_two(w, b->d, "a - b", all + i, still + i);
}

static void noisy_step(StepBuilder *b, uint32_t whites, bool milstein) {
  World *w = b->w;
  Ids per = {0}, square = {0};
  for (uint32_t i = 0; i < whites; i++) {
    vec_push(w->arena, &per, each_two(w, b->d, "a/b", b->white.at[i], b->h));
    if (milstein) vec_push(w->arena, &square, each_two(w, b->d, "a*a - b", b->white.at[i], b->h));
  }
  Id first = call_at(b, b->rates, b->x.at, b->time, &per);
  Id *more = NEW_ARRAY(w->arena, Id, b->x.n + 1);
  Ids one = whites_filled(b, whites, 1);
  if (milstein) correction(b, whites, &one, &square, more);
  for (uint32_t i = 0; i < b->x.n; i++) {
    Id x = step_moved(w, b->d, b->x.at[i], 1, b->h, first + i);
    diagram_output(w, b->d, milstein ? each_two(w, b->d, "a + 0.5*b", x, more[i]) : x);
  }
}

Diagram *system_correction(World *w, const System *s) {
  StepBuilder b = {.w = w, .rates = system_noisy_rates(w, s)};
  uint32_t n = s->white.n;
  step_begin(&b, s, "correction", NULL, 2);
  Ids one = {.at = b.white.at, .n = n}, two = {.at = b.white.at + n, .n = n};
  Id *out = NEW_ARRAY(w->arena, Id, b.x.n + 1);
  correction(&b, n, &one, &two, out);
  for (uint32_t i = 0; i < b.x.n; i++) diagram_output(w, b.d, out[i]);
  return passes_flat(w, b.d);
}

Diagram *system_step(World *w, const System *s, StepMethod kind, const Type *length) {
  bool noise = kind == STEP_MARUYAMA || kind == STEP_MILSTEIN;
  StepBuilder b = {.w = w, .rates = system_function(w, s, false, noise)};
  step_begin(&b, s, "step", length, noise);
  if (noise)
    noisy_step(&b, s->white.n, kind == STEP_MILSTEIN && s->white.n);
  else
    smooth_step(&b, kind == STEP_EULER, !length->rank);
  return passes_flat(w, b.d);
}

void called_params(World *w, Diagram *to, const Diagram *of, Ids *in) {
  for (uint32_t i = 0; i < of->param.n; i++) {
    const Wire *wire = &of->wire.at[of->param.at[i].wire];
    uint32_t k = diagram_param(w, to, of->param.at[i], wire->type, wire->name, 0);
    vec_push(w->arena, in, to->param.at[k].wire);
  }
}
