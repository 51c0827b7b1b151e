// Goals and measures as diagrams: two sides, a distance, the mean over samples; and the weights
// that each goal trains.
#include "base/diag.h"
#include "base/names.h"
#include "base/number.h"
#include "base/table.h"
#include "core/diagram/ops.h"
#include "core/pass/pass.h"
#include "lang/declare/statements.h"

#include <float.h>
#include <math.h>

// -- goals and measures ---------------------------------------------------------------------------
Body *goal_body(Elab *in, Program *p, Name name) {
  World *w = in->w;
  Body *b = body_new(in, name);
  b->env = env_new(in, NULL, p->acting, b);
  body_pass(b, PASS_SAMPLE, (Axis){.label = name_from(w->names, "batch"), .size = in->sample});
  b->fields = table_new(w->arena);
  return b;
}

// Gives literals on one side the type of the other.
static bool fill_literals(Body *b, Value *left, Value *right, Span span) {
  if (value_failed(left) || value_failed(right)) return false;
  if (left->n != right->n) {
    if (left->n == 1 && left->at[0].literal)
      *left = (Value){0};
    else if (right->n == 1 && right->at[0].literal)
      *right = (Value){0};
    return diag_refuse(b->w->diags, span,
                       "the two sides of a goal must fit: %u %s on the left, %u on the right",
                       left->n, left->n == 1 ? "wire" : "wires", right->n);
  }
  for (uint32_t i = 0; i < left->n; i++) {
    Val *l = &left->at[i], *r = &right->at[i];
    val_settle(b, l);
    val_settle(b, r);
    if (l->literal && r->literal)
      return diag_refuse(b->w->diags, span, "both sides of this goal are numbers");
    if (l->literal) *l = val_fill(b, *l, r->type);
    if (r->literal && l->type.base != BASE_LABEL) *r = val_fill(b, *r, l->type);
  }
  return true;
}

static Value one_distance(Body *b, Env *env, const Syntax *distance, Value left, Value right,
                          Span span) {
  Value both = value_concat(b, left, right);
  both.at = arena_copy(b->w->arena, both.at, both.n * sizeof(Val));
  b->distance = true; // used for better messages about the two sides
  for (uint32_t i = 0; i < both.n; i++)
    b->distance &= both.at[i].span.at >= span.at && both.at[i].span.at < span.at + span.n;
  Value v = apply(b, env, distance, both, NULL, span);
  b->distance = false;
  return v;
}

// With several wires on both sides, and a distance of two, the distances of the pairs are added.
static Value distance_between(Body *b, Env *env, const Syntax *distance, Value left, Value right,
                              Span span) {
  if (left.n < 2 || left.n != right.n || arity_of(b, env, distance) != 2)
    return one_distance(b, env, distance, left, right, span);
  Value sum = {0};
  for (uint32_t i = 0; i < left.n; i++) {
    Value v =
        one_distance(b, env, distance, value_one(b, left.at[i]), value_one(b, right.at[i]), span);
    if (v.n != 1 || v.at[0].error) return v;
    Val pair[2] = {i ? sum.at[0] : v.at[0], v.at[0]};
    sum = i ? value_one(b, val_fn(b, FN_add, pair, 2, span, NULL)) : v;
  }
  return sum;
}

static void no_distance(Body *b, const Value *left, const Value *right, Span span) {
  World *w = b->w;
  Buf types = buf_new(w->arena);
  for (uint32_t i = 0; i < left->n; i++) {
    Type shown = left->at[i].type;
    if (shown.rank && shown.axis[0].pass == PASS_SAMPLE) shown.axis++, shown.rank--;
    buf_printf(&types, "%s%s", i ? ", " : "", own_text(w, &shown));
  }
  uint8_t base = left->n ? left->at[0].type.base : BASE_R,
          other = right->n ? right->at[0].type.base : BASE_R;
  const char *distance = other == BASE_LABEL ? "cross_entropy" : base == BASE_BIT ? "xor" : "l2";
  Id e = diag_error(w->diags, span, "these two cannot be compared: %s has no distance", types.at);
  diag_help(w->diags, e, "give one here, `by %s`, or to the space: `space S = %s by %s`", distance,
            types.at, distance);
}

static Value distance_value(Body *b, const Syntax *by, Value left, Value right, Span span,
                            const char **name) {
  World *w = b->w;
  if (by) {
    const Syntax *base = use_base(by_distance(by));
    *name = name_text(w->names, base->name);
    return distance_between(b, b->env, by_distance(by), left, right, span);
  }
  const Def *space = left.space && space_distance(left.space->node)     ? left.space
                     : right.space && space_distance(right.space->node) ? right.space
                                                                        : NULL;
  if (!space) {
    no_distance(b, &left, &right, span);
    return value_error(b, span);
  }
  const Syntax *d = space_distance(space->node);
  *name = name_text(w->names, use_base(d)->name);
  return distance_between(b, env_new(b->in, NULL, space->scope, b), d, left, right, span);
}

Val mean_of_all(Body *b, Val v, Span span) {
  bool axes[RANK_LIMIT];
  Size n = size_of(b->w, 1);
  val_settle(b, &v);
  for (uint32_t i = 0; i < v.type.rank; i++)
    axes[i] = true, n = size_mul(b->w, n, v.type.axis[i].size);
  if (!v.type.rank) return v;
  v = val_reduce(b, v, SUM, axes);
  val_settle(b, &v);
  Val pair[2] = {v, val_size(b, n, span)};
  return val_fn(b, FN_div, pair, 2, span, NULL);
}

// Every weight must belong to a learner: otherwise two goals would train two copies.
bool weights_owned(Body *b, Span span) {
  for (uint32_t i = 0; i < b->d->param.n; i++) {
    const Param *p = &b->d->param.at[i];
    if (p->rooted || p->role == ROLE_CONST) continue;
    Span at = b->param_site.at[i] ? b->site.at[b->param_site.at[i] - 1].use->span : span;
    Id e = diag_error(b->w->diags, at, "this box has a weight, %s, that belongs to no learner",
                      p->path);
    return diag_help(b->w->diags, e,
                     "write `learn f = …` and use f: a learner is one thing, a box is a pattern");
  }
  return true;
}

// The factor of `times`, which must be finite also in 32 bits.
static void read_factor(Body *b, const Syntax *times, double *out) {
  char found[NUMBER_ROOM];
  if (!static_number(b, b->env, times_factor(times), out)) {
    diag_error(b->w->diags, times->span, "`times` wants a number that is known beforehand");
  } else if (!(fabs(*out) <= FLT_MAX)) {
    number_print(found, *out);
    diag_error(b->w->diags, times->span,
               "`times` wants a finite number of at most 3.4e38, but this is %s", found);
  }
}

// The loss is the displayed value times a factor.
static bool goal_output(Body *b, Value v, double factor, Span span, Id *shown) {
  if (v.n != 1 || v.at[0].error) {
    if (v.n != 1)
      diag_error(b->w->diags, span, "a distance is one number, but this gives %u wires", v.n);
    return false;
  }
  Val one = v.at[0];
  if (one.literal) one = val_fill(b, one, (Type){.base = BASE_R});
  if (one.type.base == BASE_BIT) { // a loss over bits is a count
    val_settle(b, &one);
    one = val_fn(b, FN_number, &one, 1, span, NULL);
  }
  if (one.type.base != BASE_R)
    return diag_refuse(b->w->diags, span, "a loss is a real number, but this is %s",
                       own_text(b->w, &one.type));
  one = mean_of_all(b, one, span);
  Id wire = val_to_wire(b, &one, factor == 1 ? b->d->name : 0);
  *shown = wire;
  if (factor != 1) {
    Val pair[2] = {one, val_literal(b, factor, span)};
    one = val_fn(b, FN_mul, pair, 2, span, NULL);
    wire = val_to_wire(b, &one, b->d->name);
  }
  if (!wire) return false;
  diagram_output(b->w, b->d, wire);
  vec_push(b->w->arena, &b->out_type, b->d->wire.at[wire].type);
  body_finish(b);
  return weights_owned(b, span);
}

// Refuses a reduction over the samples where no sample is read or drawn: their number is unknown.
bool samples_are_read(Body *b, Span span) {
  bool counted = false;
  for (Id i = 1; i < b->d->wire.n; i++)
    for (uint32_t k = 0; k < b->d->wire.at[i].type.rank; k++)
      counted |= b->d->wire.at[i].type.axis[k].pass == PASS_SAMPLE;
  if (!counted || b->d->noisy || table_count(b->fields)) return true;
  Id e = diag_error(b->w->diags, span,
                    "this adds up over the samples, but reads none: how many is not known");
  return diag_help(b->w->diags, e,
                   "`sum[batch](0 * x + 1)` is the number of samples in the data of `x`");
}

static Ids goal_fields(Body *b) {
  Ids fields = {0};
  for (uint32_t i = 0; i < table_count(b->fields); i++) {
    Id id;
    memcpy(&id, table_key(b->fields, i, NULL), sizeof id);
    vec_push(b->w->arena, &fields, id);
  }
  return fields;
}

// The value to maximise or minimise must be one number per sample; it is not reduced implicitly.
static bool one_number(Body *b, Value *v, const Syntax *claim) {
  uint32_t own[RANK_LIMIT];
  if (v->n != 1 || v->at[0].error || v->at[0].literal) return true;
  val_settle(b, &v->at[0]);
  if (!own_axes(&v->at[0].type, own)) return true;
  Id e = diag_error(b->w->diags, claim->span,
                    "one number is wanted here for each sample, but this is %s",
                    own_text(b->w, &v->at[0].type));
  return diag_help(b->w->diags, e, "`sum(…)` or `mean(…)` says which number of them is meant");
}

bool distance_is_box(Elab *in, Scope *s, const Syntax *distance) {
  Body b = {.in = in, .w = in->w};
  Env *env = env_new(in, NULL, s, &b);
  const Syntax *base = use_base(distance);
  const Def *d = base->kind == N_NAME ? scope_meaning(s, base) : NULL;
  if (is_box(&b, env, distance) || (d && d->broken)) return true;
  if (base->kind == N_NAME && !d)
    unknown_name(&b, env, base, "box");
  else
    diag_error(in->w->diags, distance->span,
               "a distance is a box with two inputs and one number out, and this is no box");
  return false;
}

static bool goal_value(Body *b, const Syntax *claim, const Syntax *by, Span span,
                       const char **distance, Value *out) {
  if (!claim) return false;
  if (claim->kind != N_EQUAL) {
    *out = eval_alone(b, b->env, claim_left(claim));
    if (by)
      diag_error(b->w->diags, by->span, "`by` compares two sides, and there is only one here");
    return one_number(b, out, claim_left(claim));
  }
  Value left = eval_alone(b, b->env, equal_left(claim)),
        right = eval_alone(b, b->env, equal_right(claim));
  if (!fill_literals(b, &left, &right, claim->span)) {
    if (by)
      distance_is_box(b->in, b->env->scope, by_distance(by)); // reports errors in the distance too
    return false;
  }
  *out = distance_value(b, by, left, right,
                        claim->span.file == span.file && !by ? claim->span : span, distance);
  return true;
}

// -- trained weights ------------------------------------------------------------------------------
// Reports a name that is no learner, as in f.base.
static Def *no_learner(Elab *in, Scope *s, const Syntax *path) {
  World *w = in->w;
  const Syntax *root = path_root(path);
  const Def *d = root->kind == N_NAME ? scope_meaning(s, root) : NULL;
  const char *text = path_text(in, path);
  if (!d && root->kind == N_NAME) unknown_in(in, s, root, "learner");
  if (root->kind == N_NAME && (!d || d->broken)) return NULL;
  Id e = text ? diag_error(w->diags, path->span, "there is no learner `%s` here", text)
              : diag_error(w->diags, path->span, "the name of a learner is wanted here");
  if (!d) return NULL;
  const char *name = name_text(w->names, root->name);
  if (is_learner(d))
    diag_help(
        w->diags, e,
        "a part of `%s` has no name of its own: declare it, `learn part = …`, and use it there",
        name);
  diag_note(w->diags, e, d->span, "`%s` is declared here", name);
  return NULL;
}

Def *learner_named(Elab *in, Scope *s, const Syntax *n) {
  const Syntax *path = use_base(n);
  const char *text = path_text(in, path);
  if (path->kind != N_NAME) {
    Def *d = text ? scope_find(s, name_from(in->w->names, text)) : NULL;
    if (!d || !is_learner(d)) return no_learner(in, s, path);
    use_of_name(in, path, d->span, NAMED_MAP);
    return d;
  }
  Def *d = scope_meaning(s, path);
  if (d && is_learner(d)) return d;
  if (!d)
    unknown_in(in, s, path, "learner");
  else if (!d->broken) {
    Id e = diag_error(in->w->diags, path->span, "`%s` is not a learner",
                      name_text(in->w->names, path->name));
    diag_note(in->w->diags, e, d->span, "declared here");
  }
  return NULL;
}

void def_closure(Elab *in, Def *d, Ids *out) {
  for (uint32_t i = 0; i < out->n; i++)
    if (out->at[i] == d->id) return;
  vec_push(in->w->arena, out, d->id);
  if (d->kind == DEF_STALE) return;
  if (learner_body(d->node)) add_closure(in, d->scope, learner_body(d->node), out);
  if (d->refined) add_closure(in, d->refined_in, refine_body(d->refined), out);
}

// The learners reachable from an expression, through boxes and other learners.
void add_closure(Elab *in, Scope *s, const Syntax *n, Ids *out) {
  if (!n) return;
  if (n->kind == N_NAME) {
    Def *d = scope_meaning(s, n);
    if (d && d->kind == DEF_LEARNER) def_closure(in, d, out);
    if (d && d->kind == DEF_BOX && d->scope->library && d->visited != in->closure) {
      d->visited = in->closure;
      add_closure(in, d->scope, box_body(d->node), out);
    }
  }
  for (uint32_t i = 0; i < syntax_parts(n).n; i++) add_closure(in, s, syntax_parts(n).at[i], out);
}

// A learner and those reachable from it.
void add_whole_learner(Elab *in, Def *d, Ids *out) {
  in->closure++;
  def_closure(in, d, out);
}

// Does this param belong to the learner, or to this member of the family?
bool def_owns(World *w, const Param *p, const Def *d, const char *member) {
  const char *name = name_text(w->names, d->name);
  size_t n = strlen(name), m = member ? strlen(member) : 0;
  if (!p->rooted || strncmp(p->path, name, n) != 0) return false;
  if (m && strncmp(p->path + n, member, m) != 0) return false;
  char end = p->path[n + m];
  return end == 0 || end == '/' || (end == '.' && family_of(d) && !m);
}

static bool is_among(Elab *in, const Param *p, const Ids *learners) {
  for (uint32_t i = 0; i < learners->n; i++)
    if (def_owns(in->w, p, in->def.at[learners->at[i]], NULL)) return true;
  return false;
}

static Ids frozen_learners(Elab *in, const Program *p) {
  Ids frozen = {0};
  for (uint32_t i = 0; i < p->learner.n; i++)
    if (p->learner.at[i]->frozen) add_whole_learner(in, p->learner.at[i], &frozen);
  return frozen;
}

bool is_frozen(Elab *in, const Program *p, const Param *param) {
  Ids frozen = frozen_learners(in, p);
  return is_among(in, param, &frozen);
}

const char *target_member(Elab *in, Body *b, const Syntax *target, const Def *d) {
  if (target->kind != N_AT) return NULL;
  if (family_of(d)) return family_member(b, b->env, d, at_brackets(target));
  diag_error(in->w->diags, target->span, "`%s` is not a family", name_text(in->w->names, d->name));
  return NULL;
}

static void find_trained(Elab *in, Program *p, Body *b, Goal *g, bool *doubtful) {
  World *w = in->w;
  const Syntax *trains = clause(g->node, N_TRAINS);
  uint32_t n = b->d->param.n;
  g->trains = NEW_ARRAY(w->arena, bool, n + 1);
  for (uint32_t i = 0; i < n && !trains; i++) g->trains[i] = b->d->param.at[i].role == ROLE_WEIGHT;
  for (uint32_t k = 0; trains && k < trains_targets(trains).n; k++) {
    Def *d = learner_named(in, p->acting, trains_targets(trains).at[k]);
    if (!d) continue;
    if (d->kind == DEF_STALE) {
      diag_error(w->diags, trains_targets(trains).at[k]->span,
                 "`%s` is a stale copy: nothing trains it", name_text(w->names, d->name));
      continue;
    }
    Ids closure = {0};
    add_whole_learner(in, d, &closure);
    vec_push(w->arena, &g->targets, d->id);
    const char *member = target_member(in, b, trains_targets(trains).at[k], d);
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
      const Param *param = &b->d->param.at[i];
      if (param->role != ROLE_WEIGHT) continue;
      bool mine = member ? def_owns(w, param, d, member) : is_among(in, param, &closure);
      g->trains[i] |= mine;
      any |= mine;
    }
    if (!any)
      diag_warning(w->diags, trains_targets(trains).at[k]->span,
                   "`%s` does not occur in this goal, so the goal cannot train it",
                   name_text(w->names, d->name));
    else if (d->frozen)
      diag_warning(w->diags, trains_targets(trains).at[k]->span,
                   "`%s` is frozen: nothing trains it", name_text(w->names, d->name));
    if (!any || d->frozen) *doubtful = true;
  }
  Ids frozen = frozen_learners(in, p);
  for (uint32_t i = 0; i < n; i++)
    if (g->trains[i] && is_among(in, &b->d->param.at[i], &frozen)) g->trains[i] = false;
}

// A goal does not train weights its value does not depend on, for instance behind `stop`.
static void drop_unreached(World *w, const Diagram *d, bool *trains) {
  if (diagram_boxes(w, d) > BOXES_LIMIT) return; // too large to train
  const Diagram *flat = diagram_inline(w, d);
  const bool *moving = output_dependence(w, flat) + flat->in.n;
  for (uint32_t i = 0; i < d->param.n; i++) trains[i] &= moving[i];
}

// The same goal with another claim.
static const Syntax *goal_saying(World *w, const Syntax *goal, const Syntax *claim) {
  Syntax *copy = syntax_copy(w->arena, goal);
  goal_set_claim(copy, (Syntax *)claim);
  return copy;
}

void do_goal(Elab *in, Program *p, const Syntax *n, Env *loop, const char *suffix) {
  World *w = in->w;
  Goal g = {.name = n->name,
            .node = n,
            .span = n->span,
            .weight = 1,
            .sign = goal_claim(n)->kind == N_MAXIMISE ? -1 : 1,
            .scope = p->acting,
            .turn = loop};
  Name name =
      n->name ? n->name : name_from(w->names, arena_format(w->arena, "goal%u", p->goal.n + 1));
  if (suffix)
    name = name_from(w->names, arena_format(w->arena, "%s%s", name_text(w->names, name), suffix));
  g.name = name;
  use_of_name(in, n, n->name_span, NAMED_GOAL);
  const Syntax *times = clause(n, N_TIMES), *by = clause(n, N_BY);
  in->training = true;
  Body *b = goal_body(in, p, name);
  if (loop) loop->body = b, loop->scope = p->acting, b->env = loop;
  if (times && !uses_broken(b->env, times_factor(times))) read_factor(b, times, &g.weight);
  Value v;
  uint32_t errors = w->diags->met;
  const Syntax *claim = claim_written_out(b, p, goal_claim(n));
  if (claim && claim != goal_claim(n)) g.node = goal_saying(w, n, claim);
  bool good = goal_value(b, claim, by, n->span, &g.distance, &v) &&
              goal_output(b, v, g.sign * g.weight, by ? by_distance(by)->span : n->span, &g.shown);
  in->training = false;
  if (good && w->diags->met == errors) {
    diagram_clamp_step(w, b->d);
    g.diagram = b->d;
    g.fields = goal_fields(b);
    bool any = false, doubtful = false;
    find_trained(in, p, b, &g, &doubtful);
    drop_unreached(w, b->d, g.trains);
    if (doubtful) in->doubtful = true;
    for (uint32_t i = 0; i < b->d->param.n; i++) any |= g.trains[i];
    if (!any && !doubtful && w->diags->met == errors)
      diag_warning(w->diags, n->name ? n->name_span : n->span, "this goal moves no learner");
  }
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (n->name && p->goal.at[i].name == name && p->goal.at[i].node != n) {
      Id e =
          diag_error(w->diags, n->name_span, "there are two goals `%s`", name_text(w->names, name));
      diag_note(w->diags, e, p->goal.at[i].node->name_span, "the other one");
    }
  vec_push(w->arena, &p->goal, g);
}

void measure_value(Elab *in, Program *p, const Syntax *claim, const Syntax *by, double factor,
                   Measure *m) {
  Body *b = goal_body(in, p, m->name);
  Value v;
  Id shown;
  uint32_t errors = in->w->diags->met;
  claim = claim_written_out(b, p, claim);
  bool good = goal_value(b, claim, by, m->span, &m->distance, &v) &&
              goal_output(b, v, factor, m->span, &shown);
  if (good && m->node->kind != N_GOAL) good = samples_are_read(b, m->span); // a goal has a batch
  if (good && in->w->diags->met == errors) m->diagram = b->d, m->fields = goal_fields(b);
}

void goal_outside(Elab *in, Program *p, const Goal *g, Measure *m) {
  Scope *acting = p->acting;
  *m = (Measure){.name = g->name, .node = g->node, .span = g->span};
  p->acting = g->scope;
  measure_value(in, p, goal_claim(g->node), clause(g->node, N_BY), g->sign * g->weight, m);
  p->acting = acting;
}

// Each wire of a value becomes an output; a literal is a real number.
void goal_outputs(Body *b, Value v, Ids *fields) {
  for (uint32_t i = 0; i < v.n; i++) {
    if (v.at[i].literal) v.at[i] = val_fill(b, v.at[i], (Type){.base = BASE_R});
    Id wire = v.at[i].error ? 0 : val_to_wire(b, &v.at[i], 0);
    if (wire) diagram_output(b->w, b->d, wire);
  }
  body_finish(b);
  *fields = goal_fields(b);
}

// A literal takes the type of the other side.
static void fill_side(Body *b, Value *v, const Value *other) {
  for (uint32_t i = 0; i < v->n && i < other->n; i++)
    if (v->at[i].literal && !v->at[i].error && !other->at[i].literal && !other->at[i].error &&
        other->at[i].type.base != BASE_LABEL)
      v->at[i] = val_fill(b, v->at[i], other->at[i].type);
}

void goal_sides(Elab *in, Program *p, const Goal *g, Diagram *side[2], Ids fields[2]) {
  const Syntax *claim = goal_claim(g->node);
  uint32_t n = claim->kind == N_EQUAL ? 2 : 1;
  Body *b[2];
  Value v[2];
  side[0] = side[1] = NULL;
  for (uint32_t k = 0; k < n; k++) {
    b[k] = goal_body(in, p, name_from(in->w->names, "side"));
    if (g->turn) g->turn->body = b[k], b[k]->env = g->turn;
    v[k] = eval_alone(b[k], b[k]->env, k ? equal_right(claim) : claim_left(claim));
    v[k].at = arena_copy(in->w->arena, v[k].at, v[k].n * sizeof(Val));
    for (uint32_t i = 0; i < v[k].n; i++)
      if (!v[k].at[i].error) val_settle(b[k], &v[k].at[i]);
  }
  for (uint32_t k = 0; k < n; k++) {
    if (n == 2) fill_side(b[k], &v[k], &v[1 - k]);
    goal_outputs(b[k], v[k], &fields[k]);
    side[k] = b[k]->d;
  }
}
