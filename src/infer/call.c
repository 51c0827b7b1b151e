// Calls: arguments are matched, an instance is found or made, and its diagram becomes a box here.
// Results get the caller's labels; if they name the axes of the first parameter, every axis stays
// where it was.
#include "call.h"

static uint32_t passing_number(const Body *b, const Value *args, uint32_t *number) {
  uint32_t next = 2; // 1 is the sample axis
  for (uint32_t id = 1; id <= b->npass; id++) {
    bool used = false;
    for (uint32_t i = 0; i < args->n; i++)
      for (uint32_t k = 0; k < args->at[i].type.rank; k++)
        used |= args->at[i].type.axis[k].pass == id;
    number[id] = !used ? 0 : id == PASS_SAMPLE && b->pass[0].pass == PASS_SAMPLE ? 1 : next++;
  }
  return next;
}

static Type callee_type(Body *b, const Val *arg, const Match *m, const uint32_t *number,
                        const uint32_t *where, uint32_t first, uint32_t *order, uint32_t *norder) {
  Axis axis[RANK_LIMIT];
  uint32_t n = 0;
  for (uint32_t i = 0; i < arg->type.rank; i++) {
    if (!arg->type.axis[i].pass) continue;
    axis[n] = arg->type.axis[i];
    axis[n].pass = number[arg->type.axis[i].pass];
    order[n++] = i;
  }
  for (uint32_t i = 0; i < m->nrest; i++) {
    axis[n] = arg->type.axis[m->rest[i]];
    axis[n].pass = first + where[i];
    axis[n].label = 0;
    axis[n].decl = 0;
    order[n++] = m->rest[i];
  }
  for (uint32_t i = 0; i < m->ntake; i++) {
    axis[n] = m->type.axis[i];
    axis[n].pass = 0;
    order[n++] = m->take[i];
  }
  *norder = n;
  Type t = arg->type;
  t.rank = n;
  t.axis = arena_copy(b->w->arena, axis, n * sizeof(Axis));
  return t;
}

static bool fill_literals(const Call *c, const Formals *f, Value *args) {
  for (uint32_t i = 0; i < args->n; i++) {
    if (!args->at[i].literal || i >= f->n) continue;
    Types t = {0};
    uint32_t count;
    const Node *items = formal_items(&f->at[i], &count);
    for (uint32_t k = 0; k < count; k++) // ...s of a bare number is no axes at all
      if (items->kid[k]->kind == N_SPREAD && !env_find(c->to, items->kid[k]->name))
        bind_spread(c->to, c->b->w, items->kid[k]->name,
                    (Binding){.kind = BIND_SPREAD, .span = args->at[i].span});
    if (f->at[i].fixed)
      vec_push(c->b->w->arena, &t, f->at[i].known);
    else if (f->at[i].type && !types_eval(c->b, c->to, f->at[i].type, true, &t, NULL))
      return false;
    if (!t.n) vec_push(c->b->w->arena, &t, (Type){.base = BASE_R});
    if (t.at[0].base == BASE_LABEL) {
      diag_error(c->b->w->diags, args->at[i].span, "a number is not a label");
      return false;
    }
    args->at[i] = val_fill(c->b, args->at[i], t.at[0]);
    for (uint32_t k = 0; k < args->at[i].type.rank; k++) args->at[i].type.axis[k].decl = 0;
  }
  return true;
}

// Puts the result's axes into the caller's words and places.
static Val outer_value(const Call *c, Body *callee, Id wire, const Type *inner, const Passing *p,
                       const uint32_t *number, uint32_t first, const uint32_t *stay, uint32_t nstay,
                       bool flows) {
  Body *b = c->b;
  World *w = b->w;
  Axis axis[RANK_LIMIT];
  uint32_t n = inner->rank;
  bool has[RANK_LIMIT + 2] = {false};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t pass = inner->axis[i].pass;
    if (pass >= first) {
      axis[i] = p->axis[pass - first];
      has[pass - first] = true;
    } else if (pass) {
      for (uint32_t id = 1; id <= b->npass; id++)
        if (number[id] == pass) axis[i] = b->pass[id - 1], axis[i].pass = id;
    } else {
      axis[i] = outer_axis(callee->env, &inner->axis[i], flows);
    }
  }
  Type t = type_make(w, inner->base, n, axis);
  t.count = inner->count;
  t.names = inner->names;
  b->d->wire.at[wire].type = t;
  Val v = val_wire(b, wire, c->span);
  bool missing = false;
  for (uint32_t i = 0; i < p->n; i++) missing |= !has[i];
  if (missing) { // a result that does not depend on an axis is the same along it
    Axis all[RANK_LIMIT];
    uint32_t k = 0, out[RANK_LIMIT], at = n;
    Val wide = v;
    memcpy(all, axis, n * sizeof(Axis));
    for (uint32_t i = 0; i < n; i++)
      if (axis[i].pass) out[k++] = i;
    for (uint32_t i = 0; i < p->n; i++) {
      uint32_t have = UINT32_MAX;
      for (uint32_t j = 0; j < n; j++)
        if (inner->axis[j].pass == first + i) have = j;
      if (have == UINT32_MAX) all[at] = p->axis[i], have = at++;
      out[k++] = have;
    }
    for (uint32_t i = 0; i < n; i++)
      if (!inner->axis[i].pass) out[k++] = i;
    wide.type = type_make(w, t.base, at, all);
    wide.type.count = t.count;
    Axis final[RANK_LIMIT];
    for (uint32_t i = 0; i < k; i++) final[i] = all[out[i]];
    Access access = access_plain(w, k, out);
    Type ft = type_make(w, t.base, k, final);
    ft.count = t.count;
    ft.names = t.names;
    return val_wire(b, val_emit(b, &wide, &access, ft, c->span), c->span);
  }
  if (nstay == n) return val_permute(b, v, stay, n);
  return v;
}

static bool check_arity(const Call *c, uint32_t want, uint32_t have) {
  if (want == have) return true;
  World *w = c->b->w;
  Id e = diag_error(w->diags, c->span, "`%s` takes %u %s, but %u %s given", call_name(c), want,
                    want == 1 ? "input" : "inputs", have, have == 1 ? "is" : "are");
  diag_note(w->diags, e, c->def->span, "declared here");
  return false;
}

// Of several headers, the one whose number and bases of inputs fit.
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
      const Node *base = f.at[i].type->kid[0];
      Base want = base->kind == N_LABELS                                 ? BASE_LABEL
                  : strcmp(name_text(b->w->names, base->name), "B") == 0 ? BASE_BIT
                                                                         : BASE_R;
      fits = args->at[i].type.base == want;
      uint32_t count, own[RANK_LIMIT];
      const Node *items = formal_items(&f.at[i], &count);
      if (fits && count && items->kid[0]->kind != N_SPREAD)
        fits = own_axes(&args->at[i].type, own) >= count;
    }
    if (fits) return o;
  }
  return d;
}

static bool weight_learner(const Def *d) { return is_learner(d) && !learner_has_input(d); }

Value call_def(Body *b, Env *env, Def *d, Body *home, const char *family, const Node *config,
               Value args, const Node *over, Span span, const Node *use, Name site_name) {
  World *w = b->w;
  d->used = true;
  if (d->broken) return value_error(b, span);
  if (d->kind == DEF_STALE && !d->of) return value_error(b, span);
  if (weight_learner(d)) {
    if (args.n) {
      Id e = diag_error(w->diags, span, "`%s` is a weight, not a function: it takes no input",
                        name_text(w->names, d->name));
      diag_note(w->diags, e, d->span, "declared here");
      return value_error(b, span);
    }
    if (home == b) return value_error(b, span); // its value is bound by its statement
    return learner_weight(b, env, d, home, family, span);
  }
  for (uint32_t i = 0; i < args.n; i++) {
    if (args.at[i].error) return value_error(b, span);
    val_settle(b, &args.at[i]);
  }
  if (is_learner(d) && !args.n) {
    Id e = diag_error(w->diags, span, "`%s` is a learner with inputs; a value is wanted here",
                      name_text(w->names, d->name));
    diag_help(w->diags, e, "give it its wires: `%s(x)`", name_text(w->names, d->name));
    return value_error(b, span);
  }
  d = choose_overload(b, d, &args);
  Header h = header_of(d);
  Call c = {.b = b, .env = env, .def = d, .h = &h, .over = over, .span = span};
  Env *outer = home ? home->env : NULL;
  c.to = env_new(b->in, outer, h.scope, NULL);
  Formals formals = {0};
  bool good = true;
  if (!bind_options(b, env, d, &h, config, c.to, false, span)) return value_error(b, span);
  bool typed = header_formals(b, c.to, &h, &formals, &good);
  if (is_learner(d) && !h.params && !(h.result && h.result->kind == N_SIG)) {
    const Def *real = d->kind == DEF_STALE ? d->of : d;
    if (real->refined &&
        real->node->kid[2]) { // types from the declaration, names from the refinement
      Header declared = h;
      declared.params = real->node->kid[2];
      typed = header_formals(b, c.to, &declared, &formals, &good);
    }
  }
  if (!good) return value_error(b, span);
  if (typed && !check_arity(&c, formals.n, args.n)) return value_error(b, span);
  if (!typed)
    for (uint32_t i = 0; i < args.n; i++) vec_push(w->arena, &formals, (Formal){.span = span});
  Match *m = NEW_ARRAY(w->arena, Match, args.n);
  bool literals = false;
  for (uint32_t i = 0; i < args.n; i++) {
    literals |= args.at[i].literal;
    if (!args.at[i].literal && !match_formal(&c, &formals.at[i], &args.at[i], &m[i]))
      return value_error(b, span);
  }
  if (literals && !fill_literals(&c, &formals, &args)) return value_error(b, span);
  for (uint32_t i = 0; i < args.n; i++)
    if (!m[i].type.base && !match_formal(&c, &formals.at[i], &args.at[i], &m[i]))
      return value_error(b, span);
  for (uint32_t i = 1; over && i < over->nkid; i++) {
    bool met = false;
    for (uint32_t a = 0; a < args.n; a++)
      for (uint32_t k = 0; k < m[a].nrest; k++)
        met |= args.at[a].type.axis[m[a].rest[k]].label == over->kid[i]->name;
    if (!met) {
      diag_error(w->diags, over->kid[i]->span, "no argument has an axis %s to go over",
                 name_text(w->names, over->kid[i]->name));
      return value_error(b, span);
    }
  }
  Passing passing = {0};
  uint32_t(*where)[RANK_LIMIT] = arena_alloc(w->arena, sizeof(uint32_t[RANK_LIMIT]) * (args.n + 1));
  if (!merge_passing(&c, &args, m, &passing, where)) return value_error(b, span);
  uint32_t number[RANK_LIMIT + 2] = {0}, first = passing_number(b, &args, number);
  if (first + passing.n >= RANK_LIMIT) {
    diag_error(w->diags, span, "more than %d axes", RANK_LIMIT);
    return value_error(b, span);
  }
  Inputs in = {NEW_ARRAY(w->arena, Type, args.n), args.n};
  Id *wires = NEW_ARRAY(w->arena, Id, args.n);
  for (uint32_t i = 0; i < args.n; i++) {
    uint32_t order[RANK_LIMIT], n;
    in.in[i] = callee_type(b, &args.at[i], &m[i], number, where[i], first, order, &n);
    Val v = val_permute(b, args.at[i], order, n);
    wires[i] = val_to_wire(b, &v, 0);
    if (!wires[i]) return value_error(b, span);
  }
  bool training = b->in->training;
  if (is_learner(d) && (d->frozen || d->kind == DEF_STALE)) b->in->training = false;
  Body *callee = instance_renamed(&c, home, &in);
  if (!callee) callee = instance(&c, home, family, &formals, &in, false);
  b->in->training = training;
  if (!callee || !work_on(b, callee->d->param.n, span)) return value_error(b, span);
  // Where the first argument's axes stood, if the result has the same ones.
  uint32_t stay[RANK_LIMIT], nstay = 0;
  const Node *result = result_types(&h);
  if (args.n && keeps_places(&h, &formals, only_type(result))) {
    uint32_t at[RANK_LIMIT], n = 0; // at[old position] = place in the callee's order
    const Type *t = &args.at[0].type;
    for (uint32_t i = 0; i < t->rank; i++)
      if (t->axis[i].pass) at[i] = n++;
    for (uint32_t i = 0; i < m[0].nrest; i++) at[m[0].rest[i]] = n++;
    for (uint32_t i = 0; i < m[0].ntake; i++) at[m[0].take[i]] = n++;
    for (uint32_t i = 0; i < t->rank; i++) stay[nstay++] = at[i];
  }
  Id first_out = body_call(b, callee, wires, d, home, family, use, site_name, span);
  Value out = {.n = callee->d->out.n,
               .at = NEW_ARRAY(w->arena, Val, callee->d->out.n),
               .space = callee->space};
  bool flows = !typed && !result;
  for (uint32_t i = 0; i < out.n; i++) {
    Type inner = callee->out_type.at[i];
    out.at[i] = outer_value(&c, callee, first_out + i, &inner, &passing, number, first, stay,
                            out.n == 1 ? nstay : 0, flows);
  }
  return out;
}
