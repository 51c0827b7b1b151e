// Calls: match arguments with parameters, find or make an instance, emit a call box. Results get
// the caller's labels; if they name the axes of the first parameter in order, every axis keeps its
// position.
#include "lang/elab/call.h"
#include "base/diag.h"
#include "base/names.h"

static uint32_t passing_number(const Body *b, const Value *args, bool all, uint32_t *number) {
  uint32_t next = 2; // 1 is the sample axis
  for (uint32_t id = 1; id <= b->npass; id++) {
    bool used = is_member_axis(b->in, id) || // members have the same number everywhere
                (all && b->pass[id - 1].size);
    for (uint32_t i = 0; i < args->n; i++)
      for (uint32_t k = 0; k < args->at[i].type.rank; k++)
        used |= args->at[i].type.axis[k].pass == id;
    number[id] = !used ? 0 : id == PASS_SAMPLE && b->pass[0].pass == PASS_SAMPLE ? 1 : next++;
  }
  return next;
}

typedef struct {
  uint32_t n, at[RANK_LIMIT];
} AxisOrder;

// The type of an argument inside the callee; *order: the permutation of its axes.
static Type callee_type(Body *b, const Val *arg, const Match *m, const Passing *p,
                        uint32_t argument, AxisOrder *order) {
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (!arg->type.axis[i].pass) continue;
    axis[n] = arg->type.axis[i];
    axis[n].pass = p->number[arg->type.axis[i].pass];
    order->at[n++] = i;
  }
  for (uint32_t i = 0; i < m->nrest; i++) {
    axis[n] = arg->type.axis[m->rest[i]];
    axis[n].pass = p->first + p->where[argument][i];
    axis[n].label = 0;
    axis[n].decl = 0;
    order->at[n++] = m->rest[i];
  }
  for (uint32_t i = 0; i < m->ntake; i++) {
    axis[n] = m->type.axis[i];
    axis[n].pass = 0;
    order->at[n++] = m->take[i];
  }
  order->n = n;
  return type_like(b->w, &arg->type, n, axis);
}

static bool fill_literals(const Call *c, const Formals *f, Value *args) {
  for (uint32_t i = 0; i < args->n; i++) {
    if (!args->at[i].literal || i >= f->n) continue;
    Types t = {0};
    uint32_t count;
    const Syntax *items = formal_items(&f->at[i], &count);
    for (uint32_t k = 0; k < count; k++) // a literal has no axes for ...s
      if (items_in(items).at[k]->kind == N_SPREAD && !env_meaning(c->to, items_in(items).at[k]))
        bind_spread(c->to, c->b->w, items_in(items).at[k]->name,
                    (Binding){.kind = BIND_SPREAD,
                              .span = args->at[i].span,
                              .named = items_in(items).at[k]->name_span});
    bool typed = f->at[i].fixed || f->at[i].type;
    if (typed && !formal_types(c->b, c->to, &f->at[i], &t)) return false;
    if (!t.n) vec_push(c->b->w->arena, &t, (Type){.base = BASE_R});
    if (t.at[0].base == BASE_LABEL)
      return diag_refuse(c->b->w->diags, args->at[i].span, "a number is not a label");
    args->at[i] = val_fill(c->b, args->at[i], t.at[0]);
    for (uint32_t k = 0; k < args->at[i].type.rank; k++) args->at[i].type.axis[k].decl = 0;
  }
  return true;
}

// Broadcasts a result to batch axes it does not depend on.
static Val along_missing(const Call *c, Val v, const Type *inner, const Passing *p) {
  World *w = c->b->w;
  Axis all[RANK_LIMIT], final[RANK_LIMIT];
  uint32_t n = v.type.rank, k = 0, out[RANK_LIMIT], at = n;
  if (v.error || !rank_fits(w, (uint64_t)n + p->n, c->span)) return val_error(c->span);
  memcpy(all, v.type.axis, n * sizeof(Axis));
  for (uint32_t i = 0; i < n; i++)
    if (all[i].pass) out[k++] = i;
  for (uint32_t i = 0; i < p->n; i++) {
    uint32_t have = UINT32_MAX;
    for (uint32_t j = 0; j < n; j++)
      if (inner->axis[j].pass == p->first + i) have = j;
    if (have == UINT32_MAX) all[at] = p->axis[i], have = at++;
    out[k++] = have;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!inner->axis[i].pass) out[k++] = i;
  for (uint32_t i = 0; i < k; i++) final[i] = all[out[i]];
  Type wide = type_like(w, &v.type, k, final);
  v.type = type_like(w, &v.type, at, all);
  Access access = access_plain(w, k, out);
  return val_wire(c->b, val_emit(c->b, &v, &access, wide, c->span), c->span);
}

// Labels pass through unchanged if the parameter and the result have no types, or if there is no
// header.
static void let_labels_flow(Call *c, const Formals *formals, bool typed, const Value *args) {
  c->flows = !typed && !result_types(c->h);
  for (uint32_t i = 0; !result_types(c->h) && i < args->n; i++)
    for (uint32_t k = 0; !formals->at[i].type && !formals->at[i].fixed && k < args->at[i].type.rank;
         k++)
      if (args->at[i].type.axis[k].label)
        vec_push(c->b->w->arena, &c->flow, args->at[i].type.axis[k].label);
}

static bool label_flows(const Call *c, const Axis *axis) {
  bool flows = c->flows;
  for (uint32_t i = 0; i < c->flow.n; i++) flows |= c->flow.at[i] == axis->label;
  return flows;
}

// The first argument, if the result keeps the places of its axes.
typedef struct {
  const Type *type; // NULL: the passing axes come first
  const Match *match;
} FirstArg;

static bool has_passing(const Type *t, uint32_t pass) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->axis[i].pass == pass) return true;
  return false;
}

// The positions of the axes of the first argument before permutation; none if only another argument
// has batch axes. Samples pass over a result only if it depends on them.
static AxisOrder old_places(const FirstArg *first, const Passing *p, const Type *result) {
  const Type *t = first->type;
  const Match *m = first->match;
  AxisOrder stay = {0};
  uint32_t at[RANK_LIMIT], n = 0;
  if (m->nrest != p->n) return (AxisOrder){.n = UINT32_MAX};
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->axis[i].pass) at[i] = has_passing(result, t->axis[i].pass) ? n++ : UINT32_MAX;
  for (uint32_t i = 0; i < m->nrest; i++) at[m->rest[i]] = n++;
  for (uint32_t i = 0; i < m->ntake; i++) at[m->take[i]] = n++;
  for (uint32_t i = 0; i < t->rank; i++)
    if (at[i] != UINT32_MAX) stay.at[stay.n++] = at[i];
  return stay;
}

// A result with the caller's axes. `first`: axes return to their positions in the first argument.
static Val outer_value(const Call *c, Body *callee, uint32_t result, Id wire, const Passing *p,
                       const FirstArg *first) {
  const Type *inner = &callee->out_type.at[result];
  Body *b = c->b;
  Axis axis[RANK_LIMIT];
  uint32_t n = inner->rank, met = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t pass = inner->axis[i].pass;
    if (pass >= p->first) {
      axis[i] = p->axis[pass - p->first];
      met++;
    } else if (pass) {
      for (uint32_t id = 1; id <= b->npass; id++)
        if (p->number[id] == pass) axis[i] = b->pass[id - 1], axis[i].pass = id;
    } else {
      axis[i] = outer_axis(callee->env, &inner->axis[i], label_flows(c, &inner->axis[i]));
    }
  }
  b->d->wire.at[wire].type = type_like(b->w, inner, n, axis);
  Val v = val_wire(b, wire, c->span);
  if (met < p->n) v = along_missing(c, v, inner, p);
  AxisOrder stay = {0};
  if (!v.error && first->type) stay = old_places(first, p, &v.type);
  return stay.n == v.type.rank ? val_permute(b, v, stay.at, stay.n) : v;
}

static bool check_arity(const Call *c, uint32_t want, uint32_t have) {
  if (want == have) return true;
  World *w = c->b->w;
  Id e = diag_error(w->diags, c->span, "`%s` takes %u %s, but %u %s given", call_name(c), want,
                    want == 1 ? "input" : "inputs", have, have == 1 ? "is" : "are");
  return diag_note(w->diags, e, c->def->span, "declared here");
}

// Overload resolution: the first header that fits the number and bases of the arguments.
static Def *choose_overload(Body *b, Def *d, const Value *args) {
  for (Def *o = d; o && d->overload; o = o->overload) {
    Header h = header_of(o);
    Formals f = {0};
    bool good, fits;
    Env *env = env_new(b->in, NULL, o->scope, b);
    if (!header_formals(b, env, &h, &f, &good) || f.n != args->n) continue;
    fits = good;
    for (uint32_t i = 0; fits && i < f.n; i++) {
      if (args->at[i].literal || args->at[i].error || !f.at[i].type) continue;
      fits = args->at[i].type.base == wanted_base(b->w, &f.at[i]);
      uint32_t count, own[RANK_LIMIT];
      const Syntax *items = formal_items(&f.at[i], &count);
      if (fits && count && items_in(items).at[0]->kind != N_SPREAD)
        fits = own_axes(&args->at[i].type, own) >= count;
    }
    if (fits) return o;
  }
  return d;
}

static bool weight_learner(const Def *d) { return is_learner(d) && !learner_has_input(d); }

// Handles learners that are weights and names that cannot be called. True: *out is the result.
static bool refuse_call(Body *b, const BoxUse *use, Value *args, Value *out) {
  World *w = b->w;
  Def *d = use->def;
  Span span = use->span;
  const char *name = name_text(w->names, d->name);
  *out = value_error(b, span);
  if (d->broken || !learner_of(d)) return true;
  if (weight_learner(d)) {
    if (!args->n) {
      LearnerMode before = learner_begin(b->in, use);
      *out = learner_weight(b, d, use->home, use->family, span);
      learner_end(b->in, before);
      return true;
    }
    Id e = diag_error(w->diags, span, "`%s` is a weight, not a function: it takes no input", name);
    diag_note(w->diags, e, d->span, "declared here");
    return true;
  }
  for (uint32_t i = 0; i < args->n; i++) {
    if (args->at[i].error) return true;
    val_settle(b, &args->at[i]);
  }
  if (!is_learner(d) || args->n) return false;
  Id e = diag_error(w->diags, span, "`%s` is a learner with inputs; a value is wanted here", name);
  diag_help(w->diags, e, "give it its wires: `%s(x)`", name);
  return true;
}

// The parameters of the callee, one for each argument. *typed: they come from a header.
static bool read_formals(const Call *c, uint32_t nargs, Formals *formals, bool *typed) {
  bool good = true;
  *typed = formals_of(c->b, c->to, c->def, c->h, formals, &good);
  if (!good || (*typed && !check_arity(c, formals->n, nargs))) return false;
  for (uint32_t i = 0; !*typed && i < nargs; i++)
    vec_push(c->b->w->arena, formals, (Formal){.span = c->span});
  return true;
}

// Matches typed arguments first; their bindings then give literals their types.
static bool match_args(const Call *c, const Formals *formals, Value *args, Match *m) {
  for (uint32_t i = 0; i < args->n; i++)
    if (!args->at[i].literal && !match_formal(c, &formals->at[i], &args->at[i], &m[i]))
      return false;
  if (!fill_literals(c, formals, args)) return false;
  for (uint32_t i = 0; i < args->n; i++)
    if (!m[i].type.base && !match_formal(c, &formals->at[i], &args->at[i], &m[i])) return false;
  return true;
}

static bool over_something(const Call *c, const Value *args, const Match *m) {
  for (uint32_t i = 0; c->over && i < over_names(c->over).n; i++) {
    const Syntax *name = over_names(c->over).at[i];
    bool met = false;
    for (uint32_t a = 0; a < args->n; a++)
      for (uint32_t k = 0; k < m[a].nrest; k++)
        met |= args->at[a].type.axis[m[a].rest[k]].label == name->name;
    if (met) continue;
    return diag_refuse(c->b->w->diags, name->span, "no argument has an axis %s to go over",
                       name_text(c->b->w->names, name->name));
  }
  return true;
}

static bool add_batch_axes(const Call *c, const Value *args, const Match *m, Passing *p) {
  World *w = c->b->w;
  p->where = arena_alloc(w->arena, sizeof(uint32_t[RANK_LIMIT]) * (args->n + 1));
  if (!over_something(c, args, m) || !merge_passing(c, args, m, p)) return false;
  p->first = passing_number(c->b, args, false, p->number);
  return rank_fits(w, (uint64_t)p->first + p->n + 1, c->span);
}

// A box that draws noise is mapped over every batch axis of this body and every enclosing index,
// even where no argument varies. False: it is so already.
static bool add_draw_axes(const Call *c, const Value *args, Passing *p, Inputs *in) {
  World *w = c->b->w;
  Axis index[RANK_LIMIT], own[RANK_LIMIT];
  uint32_t nown = 0, before = p->n;
  bool more = false;
  for (uint32_t i = 0; i < args->n; i++)
    for (uint32_t k = 0; k < args->at[i].type.rank && nown < RANK_LIMIT; k++)
      if (!args->at[i].type.axis[k].pass) own[nown++] = args->at[i].type.axis[k];
  uint32_t n = draw_axes(c->b, own, nown, index);
  for (uint32_t id = 1; id <= c->b->npass; id++) more |= c->b->pass[id - 1].size && !p->number[id];
  for (uint32_t i = 0; i < n && p->n < RANK_LIMIT; i++) p->axis[p->n++] = index[i];
  if (!more && p->n == before) return false;
  p->first = passing_number(c->b, args, true, p->number);
  if (!rank_fits(w, (uint64_t)p->first + p->n + 1, c->span)) return false;
  in->pass = NEW_ARRAY(w->arena, Axis, p->first + p->n);
  for (uint32_t id = 1; id <= c->b->npass; id++)
    if (p->number[id]) {
      in->pass[in->npass] = c->b->pass[id - 1];
      in->pass[in->npass++].pass = p->number[id];
    }
  for (uint32_t i = 0; i < p->n; i++)
    in->pass[in->npass++] = (Axis){.size = p->axis[i].size, .pass = p->first + i};
  return true;
}

static void callee_types(const Call *c, const Value *args, const Match *m, const Passing *p,
                         Inputs *in, AxisOrder *order) {
  for (uint32_t i = 0; i < args->n; i++)
    in->in[i] = callee_type(c->b, &args->at[i], &m[i], p, i, &order[i]);
}

// Lowers the arguments to wires, with axes in the callee's order.
static bool emit_args(Body *b, const Value *args, const AxisOrder *order, Id *wires) {
  for (uint32_t i = 0; i < args->n; i++) {
    Val v = val_permute(b, args->at[i], order[i].at, order[i].n);
    wires[i] = val_to_wire(b, &v, 0);
    if (!wires[i]) return false;
  }
  return true;
}

static Body *find_callee_body(const Call *c, const BoxUse *use, const Formals *formals,
                              const Inputs *in) {
  Elab *infer = c->b->in;
  LearnerMode before = learner_begin(infer, use);
  if (is_learner(c->def) && (c->def->frozen || c->def->kind == DEF_STALE)) infer->training = false;
  Body *callee = instance_by_substitution(c, use->home, in);
  if (!callee) callee = find_instance(c, use->home, use->family, formals, in);
  learner_end(infer, before);
  return callee && work_on(c->b, callee->d->param.n, c->span) ? callee : NULL;
}

// Records batch axes in Body.over, if set.
static void note_over(Body *b, const Value *args, const Match *m) {
  for (uint32_t i = 0; b->over && i < args->n; i++)
    for (uint32_t k = 0; k < b->d->in.n; k++) {
      if (!val_is_plain(b, &args->at[i]) || args->at[i].x->wire != b->d->in.at[k]) continue;
      uint64_t rest = 0;
      for (uint32_t r = 0; r < m[i].nrest; r++) rest |= (uint64_t)1 << m[i].rest[r];
      b->over[k] &= rest;
    }
}

Value call_def(Body *b, Env *env, const BoxUse *written, const Syntax *config, Value args,
               const Syntax *over) {
  World *w = b->w;
  Value out;
  BoxUse use = *written;
  use.def->used = true;
  if (!find_own(b, &use)) return value_error(b, use.span);
  if (refuse_call(b, &use, &args, &out)) return out;
  use.def = choose_overload(b, use.def, &args);
  Header h = header_of(use.def);
  Call c = {.b = b, .env = env, .def = use.def, .h = &h, .over = over, .span = use.span};
  c.to = env_new(b->in, use.home ? home_env(use.home, use.def) : NULL, h.scope, NULL);
  Formals formals = {0};
  bool typed;
  Match *m = NEW_ARRAY(w->arena, Match, args.n);
  Passing passing = {0};
  Inputs in = {.in = NEW_ARRAY(w->arena, Type, args.n), .n = args.n};
  Id *wires = NEW_ARRAY(w->arena, Id, args.n);
  AxisOrder *order = NEW_ARRAY(w->arena, AxisOrder, args.n);
  if (!bind_options(&c, config, false) || !read_formals(&c, args.n, &formals, &typed) ||
      !match_args(&c, &formals, &args, m) || !add_batch_axes(&c, &args, m, &passing))
    return out;
  callee_types(&c, &args, m, &passing, &in, order);
  if (!emit_args(b, &args, order, wires)) return out;
  note_over(b, &args, m);
  Body *callee = find_callee_body(&c, &use, &formals, &in);
  if (callee && callee->d->noisy && add_draw_axes(&c, &args, &passing, &in)) {
    callee_types(&c, &args, m, &passing, &in, order);
    callee = find_callee_body(&c, &use, &formals, &in);
  }
  if (!callee) return out;
  FirstArg first_arg = {0};
  const Syntax *result = result_types(&h);
  let_labels_flow(&c, &formals, typed, &args);
  if (args.n && callee->d->out.n == 1 && keeps_places(&formals, only_type(result)))
    first_arg = (FirstArg){&args.at[0].type, &m[0]};
  Id first = body_call(b, callee, wires, &use);
  out = (Value){callee->d->out.n, NEW_ARRAY(w->arena, Val, callee->d->out.n), callee->space};
  for (uint32_t i = 0; i < out.n; i++)
    out.at[i] = outer_value(&c, callee, i, first + i, &passing, &first_arg);
  return out;
}
