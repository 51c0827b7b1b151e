// `run`, `check` and `show` of machines.
//
// A claim is an expression with numbers that only a whole run gives: period(foxes). Each is a
// Watch; after the run its number is substituted for the call, and the rest is an ordinary
// expression.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "core/diagram/interpret.h"
#include "core/pass/pipeline.h"
#include "lang/declare/statements.h"
#include "lang/program/claim_own.h"

#include <math.h>

// -- equations ------------------------------------------------------------------------------------
// Only the stiff solver handles algebraic equations.
static void check_constrained_run(Elab *in, Run *r, const Syntax *by) {
  const SystemState *x = first_constrained(r->system);
  if (!x) return;
  if (r->system->white.n) {
    diag_error(in->w->diags, by->span,
               "`%s` has noise and equations `0 = …`, and no method follows both",
               name_text(in->w->names, r->system->name));
    return;
  }
  if (r->follow == FOLLOW_USUAL) r->follow = FOLLOW_STIFF;
  if (r->follow == FOLLOW_STIFF) return;
  Id e = diag_error(in->w->diags, by->span,
                    "`%s` has no rate, only an equation `0 = …`, which this method cannot follow",
                    x->path);
  diag_help(in->w->diags, e, "`by stiff` does, and so does a run without `by`");
}

// -- run ------------------------------------------------------------------------------------------
static void tell_one_number(World *w, Span span, const Type *t) {
  Id e = diag_error(w->diags, span, "one number is wanted here, but this is %s", own_text(w, t));
  if (t->rank) diag_help(w->diags, e, "one of them is `x[0]`, all together `sum(x)` or `max(x)`");
}

// Does it depend on something whose errors are reported?
static bool has_reported_error(const Program *p, const Syntax *n) {
  return uses_broken(scope_env(p->scope), n);
}

// The single number in brackets.
static bool number_in(Elab *in, Program *p, const Syntax *brackets, double *out) {
  const Syntax *slot = nodes_only(brackets_slots(brackets));
  return slot && scope_number(in, p->scope, slot, out);
}

// dormand[1e-6, step: 0.1]: a positive number, and the maximal step.
static void read_numbers(Elab *in, Program *p, const Syntax *brackets, double *first,
                         double *step) {
  Nodes slot = brackets_slots(brackets);
  for (uint32_t i = 0; i < slot.n; i++) {
    const Syntax *n = nodes_only(items_in(slot.at[i]));
    bool named = n && n->kind == N_SIZED;
    double *to = named && !strcmp(name_text(in->w->names, n->name), "step") ? step
                 : n && !named && i == 0                                    ? first
                                                                            : NULL;
    if (n && has_reported_error(p, n)) continue;
    if (!to || *to > 0 || !scope_number(in, p->scope, named ? sized_value(n) : n, to) || !(*to > 0))
      diag_error(in->w->diags, slot.at[i]->span, "a number above 0 is wanted here");
  }
}

// The integration method and its options.
static void read_by(Elab *in, Program *p, const Syntax *by, Run *r) {
  static const char *const words[] = {
      [FOLLOW_USUAL] = "",           [FOLLOW_DORMAND] = "dormand", [FOLLOW_RK4] = "rk4",
      [FOLLOW_EULER] = "euler",      [FOLLOW_STIFF] = "stiff",     [FOLLOW_MARUYAMA] = "maruyama",
      [FOLLOW_MILSTEIN] = "milstein"};
  const Syntax *name = use_base(by);
  const char *text = name->kind == N_NAME ? name_text(in->w->names, name->name) : "";
  uint32_t i = FOLLOW_DORMAND;
  while (i < COUNT(words) && strcmp(words[i], text)) i++;
  if (i == COUNT(words)) {
    diag_error(in->w->diags, by->span,
               "a run is followed by `dormand`, `stiff`, `rk4[0.01]` or `euler[0.01]`; with white "
               "noise, by `maruyama[0.01]` or `milstein[0.01]`");
    return;
  }
  r->follow = (Follow)i;
  bool noise = r->follow == FOLLOW_MARUYAMA || r->follow == FOLLOW_MILSTEIN;
  bool fixed = r->follow == FOLLOW_RK4 || r->follow == FOLLOW_EULER || noise;
  if (r->system->white.n && !noise) {
    Id e = diag_error(in->w->diags, by->span, "`%s` does not follow white noise", text);
    diag_help(in->w->diags, e, "`maruyama[0.01]` does, and `milstein[0.01]`");
  }
  uint32_t errors = in->w->diags->met;
  if (by->kind == N_AT)
    read_numbers(in, p, at_brackets(by), fixed ? &r->step : &r->tolerance, &r->step);
  if (fixed && !(r->step > 0) && in->w->diags->met == errors)
    diag_error(in->w->diags, by->span, "`%s` wants its step: `%s[0.01]`", text, text);
}

static void check_milstein(Elab *in, const Run *r, Span span) {
  bool late = r->system->lag.n;
  if (!late && milstein_fits(in->w, r->system)) return;
  Id e = diag_error(in->w->diags, span,
                    late ? "`milstein` does not follow delays"
                         : "`milstein` is for noises of which none changes how strongly another "
                           "one works");
  diag_help(in->w->diags, e, "`by maruyama[%g]` follows them", r->step);
}

static void read_length(Elab *in, Program *p, const Syntax *n, Run *r) {
  World *w = in->w;
  bool said = false;
  for (uint32_t i = 0; i < simulate_clauses(n).n; i++) {
    const Syntax *c = simulate_clauses(n).at[i];
    double k = 0;
    bool length = c->kind == N_LASTS || c->kind == N_TO;
    if (!length && c->kind != N_EVERY) continue;
    said |= length;
    if (has_reported_error(p, clause_value(c))) continue;
    bool zero = c->kind == N_TO; // `to 0`: the initial moment and its events
    if (!scope_number(in, p->scope, clause_value(c), &k) || !(k > 0 || (zero && k == 0)) ||
        !(k <= 1e15)) {
      diag_error(w->diags, clause_value(c)->span,
                 k > 0  ? "the most is 1e15"
                 : zero ? "a number that is 0 or more is wanted here"
                        : "a number above 0 is wanted here");
      continue;
    }
    if (c->kind == N_EVERY) {
      r->every = k;
      continue;
    }
    r->end = k;
    bool ticks = c->kind == N_LASTS && !strcmp(name_text(w->names, c->name), "ticks");
    if (c->kind == N_LASTS && !ticks)
      diag_error(w->diags, c->name_span, "a run lasts `for 100 ticks`, or `to 100` in time");
    if (ticks && k != floor(k)) diag_error(w->diags, lasts_length(c)->span, "ticks are whole");
    if (ticks && r->system && r->system->flows)
      diag_error(w->diags, c->span, "`%s` flows, so it has no ticks: say how far, `to %g`",
                 name_text(w->names, r->system->name), k);
    if (c->kind == N_TO && r->system && !r->system->flows)
      diag_error(w->diags, c->span, "`%s` goes by ticks: say how many, `for %g ticks`",
                 name_text(w->names, r->system->name), ceil(k));
  }
  if (!said)
    diag_error(w->diags, n->span,
               r->system && !r->system->flows ? "a run wants a length: `for 100 ticks`"
                                              : "a run wants a length: `to 100`");
}

// The system without its source.
static System *run_alone(Elab *in, Program *p, const Run *r) {
  return system_in(in, p, use_callee(simulate_what(r->node)), r->time);
}

// on World: connects the outputs of World to the inputs of the same names.
static System *driven_by(Elab *in, Program *p, System *s, const Syntax *on, Run *r) {
  World *w = in->w;
  const Syntax *n = on_source(on), *name = use_base(n);
  if (n->kind == N_STR) {
    r->path = data_file(w->arena, p->scope->path, n->text);
    return s;
  }
  Def *d = name->kind == N_NAME ? scope_meaning(p->scope, name) : NULL;
  if (!d && name == n && name->kind == N_NAME && set_is_known(name_text(w->names, name->name))) {
    r->set = name_text(w->names, name->name);
    return s;
  }
  if (!d || d->kind != DEF_MACHINE) {
    diag_error(w->diags, n->span, "`on` wants a machine, a set of data, or a table in quotes");
    return NULL;
  }
  System *source = system_in(in, p, n, r->time);
  return source ? system_on(in, s, source, n->span) : NULL;
}

// Shared variables without parts, as in a chain of length 1: the run determines the time.
static System *shared_in_time(Elab *in, const Run *r) {
  const System *s = r->system;
  if (s->flows || s->state.n || s->event.n || s->part.n || !clause(r->node, N_TO)) return r->system;
  System *rests = NEW(in->w->arena, System);
  *rests = *s;
  rests->flows = true;
  return rests;
}

// The system of a run.
static void run_system(Elab *in, Program *p, Run *r) {
  const Syntax *on = clause(r->node, N_ON);
  r->system = run_alone(in, p, r);
  if (r->system && r->system->shares) {
    r->shared = r->system->in.n;
    r->system = system_closed(in, shared_in_time(in, r));
  }
  r->own = r->system;
  if (r->system && on) r->system = driven_by(in, p, r->system, on, r);
}

static Name run_name(World *w, const Run *r) {
  if (!r->turn) return r->base;
  return name_from(w->names, arena_format(w->arena, "%s, %s", name_text(w->names, r->base),
                                          turn_text(w->arena, w, r->turn)));
}

// A written name must be unique, and may not name another machine.
static void check_name(Elab *in, const Program *p, const Run *r, const Def *machine) {
  World *w = in->w;
  const char *name = name_text(w->names, r->base);
  const Def *other = r->node->name ? scope_find(p->scope, r->base) : NULL;
  if (other && other->kind == DEF_MACHINE && other != machine) {
    Id e = diag_error(w->diags, r->node->name_span,
                      "a run is called `%s`, and so is a machine that it does not run", name);
    diag_note(w->diags, e, other->span, "the machine");
  }
  for (uint32_t i = 0; i < p->ran->run.n; i++) {
    const Run *x = &p->ran->run.at[i];
    if (x->name != r->name || x->said == r->said || !(x->node->name || r->node->name)) continue;
    Id e = diag_error(w->diags, r->node->name ? r->node->name_span : r->span,
                      "there are two runs `%s`", name_text(w->names, r->name));
    diag_note(w->diags, e, x->node->name ? x->node->name_span : x->span, "the other one");
    return;
  }
}

void read_run(Elab *in, Program *p, const Syntax *n, const Syntax *said) {
  World *w = in->w;
  const Syntax *call = simulate_what(n), *use = use_callee(call);
  const Syntax *name = use_base(use), *by = clause(n, N_BY);
  Run r = {.node = n, .said = said, .span = n->span, .base = n->name, .turn = p->ran->turn};
  uint32_t errors = w->diags->met;
  if (name->kind != N_NAME) {
    diag_error(w->diags, call->span, "a machine is run: `run Name(x: 1) to 10`");
    return;
  }
  if (!r.base) r.base = name->name;
  r.name = run_name(w, &r);
  r.order = p->ran->ordered++;
  Def *d = scope_meaning(p->scope, name);
  check_name(in, p, &r, d);
  if (d && d->kind == DEF_MACHINE) {
    if (!d->broken) run_system(in, p, &r);
    if (r.system && r.system->timeless) {
      r.time = time_of(r.system, clause(n, N_TO) ? TIME_FLOWS : TIME_TICKS);
      run_system(in, p, &r);
    }
  } else {
    unknown_in(in, p->scope, name, "machine");
  }
  if (r.system && !check_ticks(in, r.system, call->span)) r.system = NULL;
  if (r.system) {
    Looker l = looker_new(in, p, r.system);
    l.runs = true;
    if (call->kind == N_CALL) read_starts(&l, call, &r);
    if (w->diags->met == errors) r.system = system_moved(in, &r);
  }
  if (r.system) {
    if (w->diags->met == errors) check_given(in, &r);
    if (w->diags->met == errors) check_shared(in, &r);
    if (w->diags->met == errors) check_starts_finite(in, &r);
    read_length(in, p, n, &r);
    if (by) read_by(in, p, by_distance(by), &r);
    check_run_size(in, &r, call->span);
    bool noise = noise_has_place(w, r.system, false) && r.system->white.n;
    if (noise && !by) r.follow = FOLLOW_MARUYAMA; // the run chooses the step
    if (noise && r.follow == FOLLOW_MILSTEIN) check_milstein(in, &r, by->span);
    check_constrained_run(in, &r, by ? by_distance(by) : n);
    if (by && !r.system->flows)
      diag_error(w->diags, by->span, "`%s` goes by ticks, and `by` says how rates are followed",
                 name_text(w->names, r.system->name));
  }
  vec_push(w->arena, &p->ran->run, r);
}

// -- check ----------------------------------------------------------------------------------------
static int watch_kind(Elab *in, const Syntax *n) {
  static const char *const word[] = {
#define WATCH(name, text) text,
#include "lang/program/watches.def"
#undef WATCH
  };
  if (n->kind != N_CALL) return -1;
  const Syntax *name = use_base(call_callee(n));
  if (name->kind != N_NAME) return -1;
  for (int i = 0; i < WATCH_KINDS; i++)
    if (!strcmp(word[i], name_text(in->w->names, name->name))) return i;
  return -1;
}

static void read_watch(Looker *l, const Syntax *n, int kind, Check *c) {
  World *w = l->in->w;
  Watch x = {.kind = (WatchKind)kind, .node = n, .number = 1};
  bool point = kind == WATCH_FIXED || kind == WATCH_DIVERGENCE;
  const Syntax *brackets = use_brackets(call_callee(n));
  if (brackets && !number_in(l->in, l->p, brackets, &x.number))
    diag_error(w->diags, brackets->span, "a number is wanted here");
  if (kind == WATCH_AT && !brackets)
    diag_error(w->diags, n->span, "`at` wants a moment: `at[5](x)`");
  double most = 9007199254740991;
  if (kind == WATCH_WHEN && !(x.number >= 1 && x.number <= most && x.number == floor(x.number)))
    diag_error(w->diags, brackets ? brackets->span : n->span,
               "`when_first` counts from 1: a whole number above 0 is wanted here");
  const Run *run = c->run ? &l->p->ran->run.at[c->run - 1] : NULL;
  bool flows = run && run->system && run->system->flows;
  double last = !run || run->path ? INFINITY : flows ? run->end : run->end - 1;
  if (kind == WATCH_AT && last >= 0 && (x.number > last || x.number < 0))
    diag_error(w->diags, brackets ? brackets->span : n->span, "the run goes from %s 0 to %g",
               flows ? "time" : "tick", last);
  else if (kind == WATCH_AT && run && !flows && x.number != floor(x.number))
    diag_error(w->diags, brackets ? brackets->span : n->span,
               "the run goes by ticks, and %g is between two of them", x.number);
  if (kind == WATCH_EXPONENT && call_args(n).n)
    diag_error(w->diags, call_args(n).at[0]->span,
               "`exponent()` is of all states together, so nothing stands here");
  if (point) {
    for (uint32_t i = 0; i < call_args(n).n; i++) {
      RunStart s;
      const Syntax *arg = call_args(n).at[i];
      if (arg->kind != N_ARG)
        diag_error(w->diags, arg->span, "a point is given by names: `fixed(x: 1, y: 2)`");
      else if (read_start(l, arg, 0, &s))
        vec_push(w->arena, &x.point, s);
    }
  } else if (kind != WATCH_EXPONENT) {
    bool root = kind == WATCH_WHEN || kind == WATCH_COUNT;
    Type t = {0};
    if (call_args(n).n != 1) {
      diag_error(w->diags, n->span, "one value is wanted here: `%s(x)`",
                 name_text(w->names, use_base(call_callee(n))->name));
      return;
    }
    const Syntax *what = root ? as_root(w, call_args(n).at[0]) : call_args(n).at[0];
    if (!look_at(l, what, &x.seen, &t)) return;
    bool moment = kind == WATCH_LAST || kind == WATCH_AT;
    x.truth = moment && t.base == BASE_BIT;
    bool settles =
        kind == WATCH_SETTLED && !(t.rank && flows); // in discrete time, of a whole array
    if (!settles && (t.rank || t.base == BASE_LABEL))
      tell_one_number(w, call_args(n).at[0]->span, &t);
  }
  if (l->s) check_watch(l->in, run, l->s, &x);
  vec_push(w->arena, &c->watch, x);
}

static bool is_watch(void *in, const Syntax *n) { return watch_kind(in, n) >= 0; }

// `within` has no meaning for labels and bits.
static void refuse_within(Elab *in, const Syntax *n) {
  if (check_within(n))
    diag_error(in->w->diags, check_within(n)->span,
               "labels and bits are equal or not: `within` is for numbers");
}

// last(c) = green becomes last(c = green), since label names are resolved by comparison. The actual
// label is watched too, for the message.
static const Syntax *compare_labels(Looker *l, const Syntax *n, Check *c) {
  World *w = l->in->w;
  Syntax *call = check_left(n), *right = check_right(n);
  int kind = right ? watch_kind(l->in, call) : -1;
  Watch aside = {.kind = (WatchKind)kind, .aside = true, .number = 1};
  Type t = {0};
  if ((kind != WATCH_LAST && kind != WATCH_AT) || call_args(call).n != 1 ||
      syntax_any(right, is_watch, l->in))
    return n;
  Syntax *what = call_args(call).at[0];
  if (!look_at(l, what, &aside.seen, &t) || t.base != BASE_LABEL || t.rank) return n;
  refuse_within(l->in, n);
  Span span = span_join(call->span, right->span);
  Syntax *same =
      syntax_signed(w->arena, node_cmp(w->arena, span, (CmpParts){what, right}), SIGN_EQUAL);
  Syntax *left = node_call(w->arena, span, (CallParts){call_callee(call), NODES(same)});
  const Syntax *brackets = use_brackets(call_callee(call));
  if (brackets) number_in(l->in, l->p, brackets, &aside.number);
  aside.names = t.names;
  vec_push(w->arena, &c->watch, aside);
  return node_check(w->arena, n->span, (CheckParts){.left = left});
}

static void read_watches(Looker *l, const Syntax *n, Check *c) {
  if (!n) return;
  int kind = watch_kind(l->in, n);
  if (kind >= 0) {
    read_watch(l, n, kind, c);
    return;
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) read_watches(l, syntax_parts(n).at[i], c);
}

static bool is_word(Elab *in, const Syntax *n, const char *word) {
  return n && n->kind == N_NAME && !strcmp(name_text(in->w->names, n->name), word);
}

// y = a or b, for all inputs
static void read_truth(Looker *l, const Syntax *n, Check *c) {
  World *w = l->in->w;
  Syntax *claim = (Syntax *)check_left(n);
  if (check_right(n)) {
    Syntax *left = check_left(n), *right = check_right(n);
    Span span = span_join(left->span, right->span);
    claim = syntax_signed(w->arena, node_cmp(w->arena, span, (CmpParts){left, right}), SIGN_EQUAL);
    Type t = {0};
    Seen seen = {0};
    if (!look_at(l, left, &seen, &t)) return;
    if (t.base != BASE_R) refuse_within(l->in, n);
    if (t.base == BASE_R)
      claim = syntax_signed(w->arena, node_sum(w->arena, span, (SumParts){NODES(left, right)}),
                            SIGN_MINUS);
  }
  c->kind = CHECK_TRUTH;
  if (look_at(l, claim, &c->truth, NULL) && !c->truth.sight.n && !c->truth.diagram->param.n)
    c->kind = CHECK_CLAIM; // a constant expression
  if (c->kind == CHECK_TRUTH && c->system->flows)
    diag_error(w->diags, c->span,
               "a claim about all inputs is for machines that do not flow, but `%s` flows",
               name_text(w->names, c->system->name));
}

static const char *source_text(World *w, Span a, Span b) {
  Span span = span_join(a, b);
  return arena_text(w->arena, w->sources->file.at[span.file].text + span.at, span.n);
}

// `Adder` names the runs of that name; `Adder[Slow]` only runs of exactly this.
static bool speaks_of(World *w, const Run *r, const Syntax *use, const Syntax *name) {
  if (name->kind != N_NAME || r->base != name->name) return false;
  if (use == name) return true;
  const Syntax *ran = use_callee(simulate_what(r->node));
  return !strcmp(source_text(w, use->span, use->span), source_text(w, ran->span, ran->span));
}

static void no_run(Elab *in, Program *p, const Syntax *name) {
  World *w = in->w;
  const char *text = name->kind == N_NAME ? name_text(w->names, name->name) : "";
  if (has_reported_error(p, name)) return;
  Nearest near = nearest_to(text);
  for (uint32_t i = 0; i < p->ran->run.n; i++)
    nearest_try(&near, name_text(w->names, p->ran->run.at[i].base));
  for (uint32_t i = 0; i < in->def.n; i++)
    if (in->def.at[i] && in->def.at[i]->kind == DEF_MACHINE)
      nearest_try(&near, name_text(w->names, in->def.at[i]->name));
  Id e = diag_error(w->diags, name->span, "there is no run and no machine `%s` here", text);
  diag_suggest(w->diags, e, near.best);
}

static void read_within(Elab *in, Program *p, const Syntax *n, Check *c) {
  if (check_within(n) && !has_reported_error(p, check_within(n)) &&
      (!scope_number(in, p->scope, check_within(n), &c->within) || c->within < 0))
    diag_error(in->w->diags, check_within(n)->span, "a tolerance is a number, 0 or more");
}

// Does it contain watches, or names of observable values of the previous run?
static bool speaks_of_run(Elab *in, Program *p, const Syntax *n) {
  if (syntax_any(check_left(n), is_watch, in) || syntax_any(check_right(n), is_watch, in))
    return true;
  System *s = p->ran->run.n ? p->ran->run.at[p->ran->run.n - 1].system : NULL;
  if (!s) return p->ran->run.n;
  Looker l = looker_new(in, p, s);
  return speaks_of_sights(&l, check_left(n)) || speaks_of_sights(&l, check_right(n));
}

typedef struct {
  World *w;
  const Check *c;
  const double *watch;
} WatchNumbers;

// Substitutes numbers for watches. of: WatchNumbers
static Syntax *with_numbers(void *of, const Syntax *n) {
  const WatchNumbers *k = of;
  for (uint32_t i = 0; i < k->c->watch.n; i++)
    if (k->c->watch.at[i].node == n) {
      Syntax *number = syntax_num(k->w->arena, k->watch ? k->watch[i] : 0, n->span);
      number->text = "";
      if (!k->c->watch.at[i].truth) return number;
      Syntax *half = syntax_num(k->w->arena, 0.5, n->span);
      return syntax_signed(k->w->arena, node_cmp(k->w->arena, n->span, (CmpParts){number, half}),
                           SIGN_MORE);
    }
  return syntax_map(k->w->arena, n, with_numbers, of);
}

// The type of a side after the run, a scalar number or bit; false after an error.
static bool side_type(Elab *in, Program *p, const Check *c, const Syntax *side, Type *out) {
  World *w = in->w;
  WatchNumbers numbers = {w, c, NULL};
  Body *b = body_new(in, name_from(w->names, "claim"));
  b->env = env_new(in, NULL, p->scope, b);
  Id wire = only_wire(b, with_numbers(&numbers, side));
  if (!wire) return false;
  *out = b->d->wire.at[wire].type;
  if (out->base != BASE_LABEL && !out->rank) return true;
  return diag_refuse(w->diags, side->span, "one number is wanted here, but this is %s",
                     own_text(w, out));
}

// last(x) < 2: a comparison of numbers, which `within` applies to and whose sides are reported.
static void read_comparison(Elab *in, Program *p, Check *c) {
  const Syntax *left = check_left(c->node);
  Type a, b;
  SyntaxSign sign = left->kind == N_CMP ? cmp_sign(left) : SIGN_NONE;
  bool order =
      sign == SIGN_LESS || sign == SIGN_MORE || sign == SIGN_AT_MOST || sign == SIGN_AT_LEAST;
  c->compares =
      order && side_type(in, p, c, cmp_left(left), &a) && side_type(in, p, c, cmp_right(left), &b);
  if (!c->compares && check_within(c->node))
    diag_error(in->w->diags, check_within(c->node)->span,
               "`within` is for numbers that are compared, and this is true or not");
}

// A claim with one side is a condition, or a drift such as conserved(x), which must be 0.
static void read_condition(Elab *in, Program *p, Check *c) {
  World *w = in->w;
  const Syntax *left = check_left(c->node);
  bool drifts = false;
  Type t;
  for (uint32_t i = 0; i < c->watch.n; i++) drifts |= c->watch.at[i].kind == WATCH_DRIFT;
  if (!side_type(in, p, c, left, &t)) return;
  if (check_right(c->node)) {
    bool bit = t.base == BASE_BIT;
    if (side_type(in, p, c, check_right(c->node), &t) && (bit || t.base == BASE_BIT))
      refuse_within(in, c->node);
    return;
  }
  c->condition = t.base == BASE_BIT;
  if (c->condition) read_comparison(in, p, c);
  if (c->condition || drifts) return;
  Id e = diag_error(w->diags, left->span, "a number alone is no claim");
  diag_help(w->diags, e, "say what it is: `check %s = 1   within 0.01`, or `> 1`",
            source_text(w, left->span, left->span));
}

// The last matching run, its index + 1; 0: none.
static uint32_t run_meant(Elab *in, const Program *p, const Syntax *use) {
  uint32_t run = 0;
  for (uint32_t i = 0; i < p->ran->run.n; i++)
    if (!use || speaks_of(in->w, &p->ran->run.at[i], use, use_base(use))) run = i + 1;
  return run;
}

// After a loop, a statement about its last run applies to all its runs.
static bool is_meant_too(const Elab *in, const Program *p, const Syntax *use, uint32_t run,
                         uint32_t last) {
  const Run *r = &p->ran->run.at[run], *of = &p->ran->run.at[last];
  if (run == last) return true;
  if (use && !speaks_of(in->w, r, use, use_base(use))) return false;
  return of->turn != p->ran->turn && r->said == of->said && turn_is_in(r->turn, p->ran->turn);
}

// The system of a claim: that of a run, or a machine.
static System *system_meant(Elab *in, Program *p, const Syntax *n, const Check *c, bool nested) {
  const Syntax *use = check_target(n);
  const Run *run = c->run ? &p->ran->run.at[c->run - 1] : NULL;
  Def *d = use ? scope_meaning(p->scope, use_base(use)) : NULL;
  // for laws and nested checks, without the source of the run
  bool law = !syntax_any(check_left(n), is_watch, in) && !syntax_any(check_right(n), is_watch, in);
  System *s = run && law  ? run->own
              : run       ? run->system
              : d->broken ? NULL
                          : system_in(in, p, use, TIME_OPEN);
  if (s && !run && s->timeless) s = system_in(in, p, use, time_of(s, TIME_TICKS));
  if (s && nested && run) s = run_alone(in, p, run);
  if (s && s->shares && !nested) s = system_closed(in, s);
  return s;
}

static void read_claim(Elab *in, Program *p, const Syntax *n, Check *c) {
  World *w = in->w;
  Looker l = looker_new(in, p, c->system);
  uint32_t errors = w->diags->met;
  c->node = n = compare_labels(&l, n, c);
  read_watches(&l, check_left(n), c);
  read_watches(&l, check_right(n), c);
  bool run = false;
  for (uint32_t i = 0; i < c->watch.n; i++)
    run |= c->watch.at[i].kind != WATCH_FIXED && c->watch.at[i].kind != WATCH_DIVERGENCE;
  if (!c->watch.n && w->diags->met == errors) read_truth(&l, n, c);
  if (c->kind == CHECK_CLAIM && w->diags->met == errors) read_condition(in, p, c);
  if (run && !c->run)
    diag_error(w->diags, n->span, "this is about a run of `%s`, and there is none before it",
               name_text(w->names, c->system->name));
}

static void check_of(Elab *in, Program *p, const Syntax *n, uint32_t run) {
  World *w = in->w;
  Check c = {.node = n, .span = n->span, .run = run, .order = p->ran->ordered++};
  const Syntax *use = check_target(n);
  const Syntax *last = check_right(n) ? check_right(n) : check_left(n);
  bool nested = is_word(in, check_left(n), "nested") && is_word(in, check_right(n), "flat");
  c.text = source_text(w, check_left(n)->span, last->span);
  read_within(in, p, n, &c);
  bool swept = run && p->ran->run.at[run - 1].turn;
  c.of = use && !swept ? source_text(w, use->span, use->span)
                       : name_text(w->names, p->ran->run.at[run - 1].name);
  c.system = system_meant(in, p, n, &c, nested);
  if (!c.system || !check_ticks(in, c.system, n->span)) return;
  if (nested)
    c.kind = CHECK_NESTED;
  else
    read_claim(in, p, n, &c);
  if (nested && c.system->d->noisy)
    diag_error(w->diags, n->span, "`%s` has noise in it, which is not the same twice",
               name_text(w->names, c.system->name));
  vec_push(w->arena, &p->ran->check, c);
}

void read_check(Elab *in, Program *p, const Syntax *n) {
  World *w = in->w;
  const Syntax *use = check_target(n), *name = use ? use_base(use) : NULL;
  if (!use && !speaks_of_run(in, p, n)) {
    Check c = {.node = n, .span = n->span, .order = p->ran->ordered++};
    const Syntax *last = check_right(n) ? check_right(n) : check_left(n);
    c.text = source_text(w, check_left(n)->span, last->span);
    read_within(in, p, n, &c);
    if (do_box_check(in, p, n, &c)) {
      vec_push(w->arena, &p->ran->check, c);
      return;
    }
  }
  uint32_t run = run_meant(in, p, use), runs = p->ran->run.n, errors = w->diags->met;
  Def *d = name && name->kind == N_NAME ? scope_meaning(p->scope, name) : NULL;
  if (!run && name && (!d || d->kind != DEF_MACHINE)) {
    no_run(in, p, name);
    return;
  }
  if (!run && !name) {
    Id e = diag_error(w->diags, n->span,
                      "`check` speaks of a run, and there is none before it that this could mean");
    diag_help(w->diags, e, "`run Name to 10` goes before it; of all inputs it is `check Name : …`");
    return;
  }
  if (!run) check_of(in, p, n, 0);
  for (uint32_t i = 0; run && i < runs && w->diags->met == errors; i++)
    if (is_meant_too(in, p, use, i, run - 1)) check_of(in, p, n, i + 1);
}

static bool number_now(Elab *in, Program *p, const Syntax *n, const ClaimWeights *weights,
                       double *out) {
  World *w = in->w;
  Body *b = body_new(in, name_from(w->names, "claim"));
  b->env = env_new(in, NULL, p->scope, b);
  Id wire = only_wire(b, n);
  if (!wire || b->d->wire.at[wire].type.rank) return false;
  diagram_output(w, b->d, wire);
  body_finish(b);
  Arena *a = arena_child(w->arena);
  Tensor result = {0}, *param = NEW_ARRAY(a, Tensor, b->d->param.n + 1);
  bool good = weights->of(weights->context, b->d, a, param);
  Eval e = {.arena = a, .out = &result, .param = param};
  good = good && diagram_eval(w, diagram_inline_all(w, b->d), &e);
  if (good) *out = result.data[0];
  arena_free(a);
  return good;
}

bool claim_sides(Elab *in, Program *p, const Check *c, const double *watch,
                 const ClaimWeights *weights, double side[2]) {
  WatchNumbers numbers = {in->w, c, watch};
  const Syntax *left = check_left(c->node), *right = check_right(c->node);
  if (c->compares) right = cmp_right(left), left = cmp_left(left);
  side[1] = c->condition;
  return number_now(in, p, with_numbers(&numbers, left), weights, &side[0]) &&
         (!right || number_now(in, p, with_numbers(&numbers, right), weights, &side[1]));
}

// -- show -----------------------------------------------------------------------------------------
static void show_of(Elab *in, Program *p, const Syntax *n, uint32_t run) {
  World *w = in->w;
  RunShow show = {.node = n, .run = run};
  const Syntax *as = clause(n, N_AS), *every = clause(n, N_EVERY), *what = show_what(n);
  Looker l = looker_new(in, p, p->ran->run.at[run].system);
  Show views = {0};
  Body *b = goal_body(in, p, name_from(w->names, "shown"));
  if (as) read_views(b, as, &views);
  show.views = views.views;
  memcpy(show.view, views.view, sizeof show.view);
  if (every && !has_reported_error(p, every_count(every)) &&
      (!scope_number(in, p->scope, every_count(every), &show.every) || !(show.every > 0)))
    diag_error(w->diags, every->span, "`every` wants a number above 0");
  bool tuple = what->kind == N_TUPLE;
  for (uint32_t i = 0; i < (tuple ? tuple_values(what).n : 1); i++) {
    const Syntax *e = tuple ? tuple_values(what).at[i] : what;
    Seen seen = {0};
    if (!look_at(&l, e, &seen, NULL)) continue;
    vec_push(w->arena, &show.seen, seen);
    vec_push(w->arena, &show.text, source_text(w, e->span, e->span));
  }
  vec_push(w->arena, &p->ran->show, show);
}

bool read_run_show(Elab *in, Program *p, const Syntax *n) {
  if (!p->ran->run.n) return false;
  uint32_t last = p->ran->run.n - 1, errors = in->w->diags->met;
  System *s = p->ran->run.at[last].system;
  if (!s) return true; // it has errors
  Looker l = looker_new(in, p, s);
  if (!speaks_of_sights(&l, show_what(n))) return false;
  for (uint32_t i = 0; i <= last && in->w->diags->met == errors; i++)
    if (is_meant_too(in, p, NULL, i, last) && p->ran->run.at[i].system) show_of(in, p, n, i);
  return true;
}

bool has_machine(Elab *in, const Program *p, const char *name) {
  const Def *d = scope_find(p->scope, name_from(in->w->names, name));
  return d && d->kind == DEF_MACHINE;
}
