// flow[Machine, steps: 8](x, …, times): the states of a system at given times, starting at the
// first. In a goal it fits a system to data: Runge-Kutta steps between two times, a scan over the
// times; so it compiles and has a derivative like any box.
//
// Inputs: a value for each port, the start of each continuous state, the times. Results: each
// continuous state along the axis of the times. Batch axes of the arguments (samples) are batch
// axes of the system.
#include "base/diag.h"
#include "base/names.h"
#include "core/diagram/each.h"
#include "core/diagram/ops.h"
#include "lang/machine/flow_own.h"

enum { STEPS_USUAL = 8, STEPS_LIMIT = 256 };

typedef struct {
  Body *b;
  World *w;
  Span span;
  System *s;
  int64_t steps; // between two times
  Axis pass[RANK_LIMIT];
  uint32_t npass, ports, states;
  uint32_t more; // carried besides the states: those that events set, and the arming of events
} FlowCall;

static const char *state_words(const FlowCall *f) {
  Buf b = buf_new(f->w->arena);
  for (uint32_t i = 0; i < f->s->in.n; i++)
    buf_printf(&b, "%s, ", name_text(f->w->names, f->s->in.at[i].name));
  for (uint32_t i = 0; i < f->s->state.n; i++)
    if (f->s->state.at[i].rate) buf_printf(&b, "%s, ", f->s->state.at[i].path);
  buf_text(&b, "times");
  return b.at;
}

static bool read_options(FlowCall *f, Env *env, const Syntax *config) {
  for (uint32_t i = 1; i < brackets_slots(config).n; i++) {
    const Syntax *item = nodes_only(items_in(brackets_slots(config).at[i]));
    double k = 0;
    bool steps =
        item && item->kind == N_SIZED && !strcmp(name_text(f->w->names, item->name), "steps");
    if (steps && static_number(f->b, env, sized_value(item), &k) && k >= 1 && k <= STEPS_LIMIT)
      f->steps = (int64_t)k;
    else {
      return diag_refuse(f->w->diags, brackets_slots(config).at[i]->span,
                         "`flow` takes `steps: 8`, at most %d", STEPS_LIMIT);
    }
  }
  return true;
}

// Members of an array would have events at different times.
static bool events_vary(const FlowCall *f) {
  for (uint32_t i = 0; i < f->s->event.n; i++)
    if (f->s->d->wire.at[f->s->event.at[i].guard].type.rank > f->npass) return true;
  return false;
}

// The time of a birth has no derivative, since its condition is a step function.
static bool has_births(const System *s) {
  for (uint32_t i = 0; i < s->event.n; i++)
    if (s->event.at[i].birth) return true;
  return false;
}

// Discrete states must be set by events, and start with a constant.
static bool others_are_held(const FlowCall *f) {
  const System *s = f->s;
  for (uint32_t i = 0; i < s->state.n; i++) {
    const SystemState *x = &s->state.at[i];
    const char *name = name_text(f->w->names, s->name);
    if (x->rate) continue;
    const SystemEvent *set = event_setting(s, i, false);
    if (!set || (!set->either && x->next))
      return diag_refuse(f->w->diags, f->span,
                         "`%s` has a state that does not flow, `%s`: `flow` cannot fit it", name,
                         x->path);
    if (s->d->param.at[x->param].init.kind != INIT_CONST)
      return diag_refuse(f->w->diags, f->span,
                         "`%s` does not flow in `%s`, and does not start with one number: `flow` "
                         "cannot fit it",
                         x->path, name);
  }
  return true;
}

static bool find_system(FlowCall *f, Env *env, const Syntax *config) {
  const Syntax *use = boxed_option(f->b, config, 0, f->span, "flow");
  if (!use) return false;
  const Syntax *name = use_base(use);
  Def *d = name->kind == N_NAME ? scope_meaning(env->scope, name) : NULL;
  if (!d || d->kind != DEF_MACHINE) {
    if (name->kind == N_NAME && !d)
      unknown_name(f->b, env, name, "machine");
    else
      diag_error(f->w->diags, use->span, "`flow` wants a machine: `flow[Name](x, times)`");
    return false;
  }
  MachineUse machine = {.def = d,
                        .from = env,
                        .config = use_brackets(use),
                        .pass = f->pass,
                        .npass = f->npass,
                        .span = f->span};
  f->s = system_of(f->b->in, &machine);
  if (f->s && f->s->shares) f->s = system_closed(f->b->in, f->s);
  if (!f->s) return false;
  for (uint32_t i = 0; i < f->s->state.n; i++) f->states += f->s->state.at[i].rate != 0;
  f->more = f->s->state.n - f->states + f->s->event.n;
  f->ports = f->s->in.n;
  const char *why =
      !f->states                        ? "nothing flows in `%s`"
      : f->s->white.n || f->s->d->noisy ? "`%s` has noise, which `flow` does not follow"
      : f->s->lag.n                     ? "`%s` has delays, which `flow` does not follow"
      : first_constrained(f->s) ? "`%s` has equations `0 = …`, which `flow` does not follow"
      : has_births(f->s) ? "`%s` has parts that are born and die, which `flow` does not follow"
      : events_vary(f) ? "`%s` has events for each member of an array, which `flow` does not follow"
                       : NULL;
  if (why) diag_error(f->w->diags, f->span, why, name_text(f->w->names, f->s->name));
  return !why && others_are_held(f);
}

// An argument with the wanted type: batch axes in front, broadcast where missing.
static Id argument(FlowCall *f, Val v, const Type *want) {
  if (v.literal) v = val_fill(f->b, v, *want);
  val_settle(f->b, &v);
  v = broadcast_to(f->b, v, f->pass, f->npass, f->span);
  if (shapes_agree(f->b, &v.type, want, f->span, "a start")) return val_to_wire(f->b, &v, 0);
  diag_error(f->w->diags, v.span.file ? v.span : f->span, "this is %s, but %s is wanted",
             own_text(f->w, &v.type), own_text(f->w, want));
  return 0;
}

// The times with their axis in front, and the differences of neighbours.
static bool times_of(FlowCall *f, Val v, Id *times, Id *step, Type *length) {
  World *w = f->w;
  val_settle(f->b, &v);
  uint32_t own[RANK_LIMIT], n = own_axes(&v.type, own);
  if (v.literal || n != 1 || v.type.base != BASE_R)
    return diag_refuse(w->diags, v.span, "the times are a row of numbers, but this is %s",
                       own_text(w, &v.type));
  v = broadcast_to(f->b, v, f->pass, f->npass, f->span);
  uint32_t order[RANK_LIMIT];
  order[0] = f->npass;
  for (uint32_t i = 0; i < f->npass; i++) order[i + 1] = i;
  v = val_permute(f->b, v, order, f->npass + 1);
  *times = val_to_wire(f->b, &v, 0);
  Type t = f->b->d->wire.at[*times].type;
  Each e = each_of(w, t);
  uint32_t here = each_read(w, &e, *times, BASE_R, t.rank),
           before = each_read(w, &e, *times, BASE_R, t.rank),
           at = scalar_push(w, &e.loop, (Scalar){.fn = FN_AT, .base = BASE_R, .ref = 0}),
           zero = each_number(w, &e, 0), parts = each_number(w, &e, 1.0 / (double)f->steps);
  e.in[1].coord[0].c = size_of(w, -1);
  e.in[1].padded = true;
  e.origin = origin_at(f->b, f->span);
  uint32_t first = scalar_fn(w, &e.loop, FN_le, at, zero, 0);
  uint32_t gap =
      scalar_fn(w, &e.loop, FN_mul, scalar_fn(w, &e.loop, FN_sub, here, before, 0), parts, 0);
  scalar_fn(w, &e.loop, FN_select, first, zero, gap);
  *step = each_make(w, f->b->d, &e);
  *length = type_make(w, BASE_R, f->npass, f->pass);
  for (uint32_t i = 0; i < length->rank; i++) length->axis[i].pass = 0;
  return true;
}

// A diagram that repeats a step.
typedef struct {
  Diagram *d, *step;
  Id *x, *port; // [carried], [port]
  Id time, h;   // time: 0 with events
} FlowSteps;

static FlowSteps steps_begin(FlowCall *f, const char *name, Diagram *step, const Type *length) {
  World *w = f->w;
  FlowSteps b = {.d = diagram_new(w, name_from(w->names, name)), .step = step};
  uint32_t carried = f->states + f->more;
  bool inside = !strcmp(name, "steps");
  b.x = NEW_ARRAY(w->arena, Id, carried + 1);
  b.port = NEW_ARRAY(w->arena, Id, f->ports + 1);
  if (!inside) b.h = diagram_input(w, b.d, *length, name_from(w->names, "h"), 0);
  for (uint32_t i = 0; i < carried + f->ports; i++) {
    uint32_t at = i < carried ? f->ports + i : i - carried;
    const Wire *wire = &step->wire.at[step->in.at[at]];
    Id in = diagram_input(w, b.d, wire->type, wire->name, 0);
    *(i < carried ? &b.x[i] : &b.port[at]) = in;
  }
  if (inside) b.h = diagram_input(w, b.d, *length, name_from(w->names, "h"), 0);
  return b;
}

static void one_step(FlowCall *f, FlowSteps *b) {
  World *w = f->w;
  Ids in = {0};
  for (uint32_t i = 0; i < f->ports; i++) vec_push(w->arena, &in, b->port[i]);
  for (uint32_t i = 0; i < f->states + f->more; i++) vec_push(w->arena, &in, b->x[i]);
  if (b->time) vec_push(w->arena, &in, b->time);
  vec_push(w->arena, &in, b->h);
  called_params(w, b->d, b->step, &in);
  Id first = box_call(w, b->d, b->step, in.at, in.n, 0);
  for (uint32_t i = 0; i < f->states + f->more; i++) b->x[i] = first + i;
}

// Steps with events are large diagrams, so they are a scan.
static void scan_steps(FlowCall *f, FlowSteps *b, const Type *length) {
  World *w = f->w;
  uint32_t carried = f->states + f->more;
  FlowSteps in = steps_begin(f, "steps", b->step, length);
  one_step(f, &in);
  for (uint32_t i = 0; i < carried; i++) diagram_output(w, in.d, in.x[i]);
  Ids outside = {0};
  for (uint32_t i = 0; i < carried; i++) vec_push(w->arena, &outside, b->x[i]);
  for (uint32_t i = 0; i < f->ports; i++) vec_push(w->arena, &outside, b->port[i]);
  vec_push(w->arena, &outside, b->h);
  called_params(w, b->d, in.d, &outside);
  Scan scan = {.body = in.d, .carry = carried, .hold = f->ports + 1};
  scan.axis = (Index){name_from(w->names, "step"), size_of(w, f->steps)};
  Id first = box_scan(w, b->d, &scan, outside.at, outside.n, 0);
  for (uint32_t i = 0; i < carried; i++) b->x[i] = first + i;
}

// From one time to the next: several steps. With events, the states they set and their arming are
// carried too.
static Diagram *one_interval(FlowCall *f, const Type *length) {
  World *w = f->w;
  bool events = f->s->event.n;
  Diagram *step =
      events ? system_event_step(w, f->s, length) : system_step(w, f->s, STEP_RK4, length);
  FlowSteps b = steps_begin(f, "interval", step, length);
  if (events) {
    scan_steps(f, &b, length);
  } else {
    b.time = wire_filled(w, b.d, &(Type){.base = BASE_R}, 0, 0, 0);
    for (int64_t turn = 0; turn < f->steps; turn++) one_step(f, &b);
  }
  for (uint32_t i = 0; i < f->states + f->more; i++) diagram_output(w, b.d, b.x[i]);
  for (uint32_t i = 0; i < f->states; i++) diagram_output(w, b.d, b.x[i]); // outputs
  return b.d;
}

// Event-set states begin as declared; all events are armed.
static void begin_more(FlowCall *f, const Diagram *interval, Ids *in) {
  const System *s = f->s;
  uint32_t at = 1 + f->states;
  for (uint32_t i = 0; i < s->state.n + s->event.n; i++) {
    if (i < s->state.n && s->state.at[i].rate) continue;
    double k = i < s->state.n ? s->d->param.at[s->state.at[i].param].init.k : 1;
    Type t = interval->wire.at[interval->in.at[at++]].type;
    vec_push(f->w->arena, in, wire_filled(f->w, f->b->d, &t, k, 0, 0));
  }
}

static Body *body_of(Body *b, Diagram *d) {
  Body *own = NEW(b->w->arena, Body);
  *own = (Body){.in = b->in, .w = b->w, .d = d};
  return own;
}

// The whole as a diagram of its own.
static bool flow_body(FlowCall *f, const Syntax *use, const Value *args) {
  Body *b = f->b;
  Id times, step;
  Type length;
  if (!times_of(f, args->at[args->n - 1], &times, &step, &length)) return false;
  Diagram *interval = one_interval(f, &length);
  Ids in = {0};
  vec_push(b->w->arena, &in, step);
  for (uint32_t i = 0; i < f->states + f->ports; i++) {
    uint32_t arg = i < f->states ? f->ports + i : i - f->states;
    uint32_t at = i < f->states ? 1 + i : 1 + f->more + i;
    if (i == f->states) begin_more(f, interval, &in);
    Type want = interval->wire.at[interval->in.at[at]].type;
    want.axis = arena_copy(b->w->arena, want.axis, want.rank * sizeof(Axis));
    for (uint32_t k = 0; k < f->npass; k++) want.axis[k].pass = f->pass[k].pass;
    Id wire = argument(f, args->at[arg], &want);
    if (!wire) return false;
    vec_push(b->w->arena, &in, wire);
  }
  if (!f->ports) begin_more(f, interval, &in);
  BoxUse flow = {.def = box_called(b, "flow"),
                 .node = use,
                 .name = name_from(b->w->names, "flow"),
                 .span = f->span};
  body_params(b, body_of(b, interval), &flow, &in, NULL);
  Type row = b->d->wire.at[times].type;
  uint32_t carried = f->states + f->more;
  Scan scan = {.body = interval, .slice = 1, .carry = carried, .hold = f->ports};
  scan.axis = (Index){row.axis[0].label, row.axis[0].size};
  Id first = box_scan(b->w, b->d, &scan, in.at, in.n, origin_at(b, f->span)) + carried;
  for (uint32_t i = 0; i < f->states; i++) {
    Type *t = &b->d->wire.at[first + i].type;
    t->axis = arena_copy(b->w->arena, t->axis, t->rank * sizeof(Axis));
    t->axis[0].label = row.axis[0].label;
    t->axis[0].decl = row.axis[0].decl;
    for (uint32_t k = 0; k < f->npass; k++) t->axis[1 + k] = f->pass[k];
    uint32_t order[RANK_LIMIT];
    for (uint32_t k = 0; k < f->npass; k++) order[k] = 1 + k;
    order[f->npass] = 0;
    for (uint32_t k = f->npass + 1; k < t->rank; k++) order[k] = k;
    Val out = val_permute(b, val_wire(b, first + i, f->span), order, t->rank);
    diagram_output(b->w, b->d, val_to_wire(b, &out, 0));
    vec_push(b->w->arena, &b->out_type, out.type);
  }
  body_finish(b);
  return true;
}

static bool takes_these(const FlowCall *f, const Value *args) {
  World *w = f->w;
  if (args->n != f->ports + f->states + 1) {
    Id e = diag_error(w->diags, f->span, "`flow[%s]` takes %u values, but %u %s given",
                      name_text(w->names, f->s->name), f->ports + f->states + 1, args->n,
                      args->n == 1 ? "is" : "are");
    return diag_help(w->diags, e, "in this order: %s", state_words(f));
  }
  if (f->s->time)
    diag_error(w->diags, f->span, "`%s` uses `time`, which `flow` does not know",
               name_text(w->names, f->s->name));
  return !f->s->time;
}

// The rank of an argument: a port, a continuous state, or the times.
static uint32_t axes_taken(const FlowCall *f, uint32_t argument, uint32_t arguments) {
  const System *s = f->s;
  if (argument + 1 == arguments) return 1;
  if (argument < f->ports) return s->in.at[argument].type.rank - f->npass;
  const Param *state = &s->d->param.at[s->state.at[argument - f->ports].param];
  return s->d->wire.at[state->wire].type.rank - f->npass;
}

// Axes in front of these become batch axes.
static bool lift_args(FlowCall *f, Lift *l, Value *args) {
  Match *m = NEW_ARRAY(f->w->arena, Match, args->n);
  for (uint32_t i = 0; i < args->n; i++) {
    uint32_t own[RANK_LIMIT], n, want = axes_taken(f, i, args->n);
    if (args->at[i].literal) continue;
    val_settle(f->b, &args->at[i]);
    n = own_axes(&args->at[i].type, own);
    for (uint32_t k = 0; k + want < n; k++) m[i].rest[m[i].nrest++] = own[k];
  }
  return lift_over(l, args, m);
}

static Value flow_lifted(FlowCall *f, const BuiltinUse *u, Value args) {
  Body *b = f->b;
  World *w = f->w;
  Span span = f->span;
  uint32_t before = f->npass;
  f->npass = all_passing(&args, f->pass);
  if (f->npass > before) f->states = 0;
  if (f->npass > before && !find_system(f, u->env, u->config)) return value_error(b, span);
  Body *own = body_new(b->in, f->s->name); // one box, named after the machine
  Value inner = {.n = args.n, .at = NEW_ARRAY(w->arena, Val, args.n)};
  Ids wire = {0};
  own->env = u->env;
  own->generic = b->generic;
  for (uint32_t i = 0; i < f->npass; i++) body_pass(own, f->pass[i].pass, f->pass[i]);
  for (uint32_t i = 0; i < args.n; i++) {
    if (args.at[i].literal) args.at[i] = val_fill(b, args.at[i], (Type){.base = BASE_R});
    val_settle(b, &args.at[i]);
    Id outside = val_to_wire(b, &args.at[i], 0);
    Name name = i + 1 == args.n  ? name_from(w->names, "times")
                : i < f->s->in.n ? f->s->in.at[i].name
                                 : 0;
    vec_push(w->arena, &wire, outside);
    inner.at[i] = val_wire(own, diagram_input(w, own->d, args.at[i].type, name, origin_at(b, span)),
                           args.at[i].span);
  }
  f->b = own;
  config_keep(b, u->env, u->config, 1, own->d);
  if (!flow_body(f, u->use, &inner)) return value_error(b, span);
  BoxUse flow = {.def = box_called(b, "flow"), .node = u->use, .name = f->s->name, .span = span};
  Id first = body_call(b, own, wire.at, &flow);
  Value out = {.n = f->states, .at = NEW_ARRAY(w->arena, Val, f->states)};
  for (uint32_t i = 0; i < f->states; i++) {
    b->d->wire.at[first + i].type = own->out_type.at[i];
    out.at[i] = val_wire(b, first + i, span);
  }
  return out;
}

static Value do_flow(const BuiltinUse *u) {
  Body *b = u->b;
  Span span = u->span;
  Value args = u->args;
  FlowCall f = {.b = b, .w = b->w, .span = span, .steps = STEPS_USUAL};
  if (value_failed(&args)) return value_error(b, span);
  f.npass = all_passing(&args, f.pass);
  if (!u->config || !find_system(&f, u->env, u->config) || !read_options(&f, u->env, u->config) ||
      !takes_these(&f, &args))
    return value_error(b, span);
  Lift l;
  Value given = {args.n, arena_copy(b->w->arena, args.at, args.n * sizeof(Val)), NULL};
  lift_begin(&l, b, "flow", span);
  Value out = lift_args(&f, &l, &given) ? flow_lifted(&f, u, given) : value_error(b, span);
  lift_end(&l, &out);
  return out;
}

static const BuiltinBox boxes[] = {{"flow", do_flow, false, 0, false}};

void flow_builtins(Elab *in) { builtins_add(in, boxes, COUNT(boxes)); }
