// Elaborates a whole program: loads the library and used files, checks boxes and learners, makes
// goals and measures, solves sizes.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "base/table.h"
#include "lang/learning/learning.h"
#include "lang/machine/flow.h"
#include "lang/program/claim.h"
#include "lang/program/library.h"
#include "lang/program/program_own.h"

#include <math.h>
#include <stdlib.h>

Elab *elab_new(World *w) {
  Elab *in = NEW(w->arena, Elab);
  in->w = w;
  in->front = (Front){w->arena, w->names, w->diags, w->sources};
  in->instances = table_new(w->arena);
  in->working = table_new(w->arena);
  in->scopes = table_new(w->arena);
  in->sets = table_new(w->arena);
  vec_push(w->arena, &in->def, NULL);
  in->work_limit = WORK_LIMIT;
  core_builtins(in);
  declare_builtins(in);
  machine_builtins(in);
  flow_builtins(in);
  in->library = scope_load(in, "library.limn", limn_library, limn_library_size, NULL);
  return in;
}

void elab_set(Elab *in, const char *name, const char *value) {
  vec_push(in->w->arena, &in->set_value, value);
  table_put(in->sets, name, strlen(name), in->set_value.n);
}

void elab_words(Elab *in, const char *const *words) { in->words = words; }

// The setting whose name comes first among those behind `after`, or behind none; its index in the table.
static uint32_t next_setting(const Elab *in, const char *after) {
  uint32_t n = table_count(in->sets), found = n;
  for (uint32_t i = 0; i < n; i++) {
    const char *name = table_key(in->sets, i, NULL);
    if (after && strcmp(name, after) <= 0) continue;
    if (found == n || strcmp(name, table_key(in->sets, found, NULL)) < 0) found = i;
  }
  return found;
}

// In the order of their names, so that equal settings have equal texts.
void elab_settings(Elab *in, Buf *b) {
  const char *name = NULL;
  for (uint32_t i; (i = next_setting(in, name)) < table_count(in->sets);) {
    const char *gap = name ? " " : "";
    name = table_key(in->sets, i, NULL);
    buf_printf(b, "%s%s=%s", gap, name, in->set_value.at[table_value(in->sets, i) - 1]);
  }
}

Axis elab_samples(Elab *in) {
  return (Axis){.label = name_from(in->w->names, "batch"), .size = in->sample, .pass = PASS_SAMPLE};
}

// -- declarations that change others --------------------------------------------------------------

static void do_refine(Elab *in, Scope *s, const Syntax *n) {
  World *w = in->w;
  Syntax name = {.kind = N_NAME, .name = n->name, .span = n->name_span, .name_span = n->name_span};
  Def *d = learner_named(in, s, &name);
  if (!d || d->kind != DEF_LEARNER) return;
  if (learner_body(d->node) || d->refined) {
    Id e =
        diag_error(w->diags, n->name_span, "`%s` has a body already", name_text(w->names, n->name));
    diag_note(w->diags, e, d->refined ? d->refined->name_span : learner_body(d->node)->span,
              "here");
    return;
  }
  d->refined = n;
  d->refined_in = s;
}

static bool speaks_of_learning(Scope *s, const Syntax *path) {
  const Syntax *root = path_root(path);
  const Def *d = root->kind == N_NAME ? scope_meaning(s, root) : NULL;
  return d && d->kind == DEF_DIAGRAM;
}

static void do_stale(Elab *in, Scope *s, const Syntax *n) {
  bool inside = speaks_of_learning(s, stale_path(n));
  Def *d = scope_meaning(s, n), *of = inside ? NULL : learner_named(in, s, stale_path(n));
  if (inside)
    diag_error(in->w->diags, stale_path(n)->span,
               "a stale copy follows a learner of the file, not one of a learning diagram");
  if (!d || d->kind != DEF_STALE) return;
  d->of = of;
  if (!of) d->broken = true;
  bool every = !stale_is_by(n);
  const Syntax *number = stale_number(n);
  d->has_number = scope_number(in, s, number, &d->number);
  if (!d->has_number)
    diag_error(in->w->diags, number->span, "`%s` wants a number that is known beforehand",
               every ? "every" : "by");
  else if (every && !(d->number >= 1 && d->number == floor(d->number) && d->number < 1e15))
    diag_error(in->w->diags, number->span, "`every` wants a whole number of steps, but this is %g",
               d->number);
  else if (!every && !(d->number >= 0 && d->number < 1))
    diag_error(in->w->diags, number->span,
               "`by` says how much of the old copy is kept, from 0 to below 1, but this is %g",
               d->number);
}

// The number of stale copies between this one and a learner; -1: a cycle or too many.
static int stale_depth(const Def *d) {
  int n = 0;
  for (const Def *at = d->of; at && at->kind == DEF_STALE; at = at->of)
    if (at == d || ++n > CHAIN_LIMIT) return -1;
  return n;
}

// stale g = f[1]: sets the member it follows.
static bool follow_member(Elab *in, Def *d) {
  const Syntax *path = stale_path(d->node);
  if (path->kind != N_AT) return true;
  Body b = {.in = in, .w = in->w};
  b.env = env_new(in, NULL, d->scope, &b);
  d->member = target_member(in, &b, path, d->of);
  return d->member != NULL;
}

// A chain of stale copies must end in a learner.
static void check_stale(Elab *in, Def *d) {
  World *w = in->w;
  const char *name = name_text(w->names, d->name);
  if (d->broken) { // it may still be part of a cycle
    d->of = NULL;
    return;
  }
  if (stale_depth(d) >= 0) {
    d->broken = !learner_of(d) || learner_of(d)->broken || !follow_member(in, d);
    return;
  }
  const Def *at = d->of;
  for (uint32_t i = 0; i < CHAIN_LIMIT && at != d; i++) at = at->of;
  Span path = stale_path(d->node)->span;
  if (at != d)
    diag_error(w->diags, path, "stale copy `%s` follows a learner through more than %d others",
               name, CHAIN_LIMIT);
  else if (d->of == d)
    diag_error(w->diags, path, "`%s` follows itself: a stale copy wants a learner to follow", name);
  else {
    Id e = diag_error(w->diags, path, "`%s` follows itself, through `%s`: no learner is at its end",
                      name, name_text(w->names, d->of->name));
    diag_note(w->diags, e, d->of->span, "`%s` is declared here", name_text(w->names, d->of->name));
  }
  d->broken = true;
  d->of = NULL;
}

// Copies that lead into a cycle are not reported: the cycle is.
static void check_stales(Elab *in) {
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->kind == DEF_STALE) check_stale(in, in->def.at[i]);
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->kind == DEF_STALE && !learner_of(in->def.at[i]))
      in->def.at[i]->broken = true;
}

// -- the program ----------------------------------------------------------------------------------
static void do_loop(Elab *in, Program *p, const Syntax *n) {
  World *w = in->w;
  Body b = {.in = in, .w = w};
  Env *env = env_new(in, NULL, p->acting, &b);
  const Syntax *range = for_range(n);
  if (range->kind != N_RANGE) {
    diag_error(w->diags, range->span, "a loop over goals runs over a range, `0..3`");
    return;
  }
  int64_t from, to;
  Size low = size_eval(&b, env, range_low(range), false),
       high = size_eval(&b, env, range_high(range), false);
  if (!low || !high) return;
  if (!size_value(w, low, &from) || !size_value(w, high, &to) ||
      (to > from && (uint64_t)to - (uint64_t)from > 10000)) {
    diag_error(w->diags, range->span, "the bounds of this loop must be numbers below 10000");
    return;
  }
  Nodes goal = program_declarations(for_body(n));
  for (int64_t k = from; k <= to; k++)
    for (uint32_t i = 0; i < goal.n; i++) {
      Env *turn = env_new(in, NULL, p->acting, &b);
      env_bind(turn, n->name,
               (Binding){.kind = BIND_LOOP, .size = size_of(w, k), .span = n->name_span});
      if (goal.at[i]->kind == N_GOAL)
        do_goal(in, p, goal.at[i], turn, arena_format(w->arena, ".%lld", (long long)k));
      else
        diag_error(w->diags, goal.at[i]->span,
                   "a loop at the top of a program holds goals, or runs and what is said of them");
    }
}

// `freeze` in a learning diagram is read with the diagram.
static void do_freeze(Elab *in, Scope *s, const Syntax *n) {
  if (freeze_inside(n)) {
    learning_meant(in, s, freeze_inside(n));
    return;
  }
  Nodes path = names_in(freeze_paths(n));
  for (uint32_t i = 0; i < path.n; i++) {
    if (path.at[i]->kind == N_DOT && speaks_of_learning(s, path.at[i])) continue;
    Def *d = learner_named(in, s, path.at[i]);
    if (d) d->frozen = true;
  }
}

static bool is_samples(void *names, const Syntax *n) {
  return n->kind == N_NAME && !strcmp(name_text(names, n->name), "batch");
}

// Refuses constants computed from the samples, which would differ in each batch.
static bool check_const(void *context, const Syntax *n) {
  World *w = context;
  for (uint32_t i = 0; n->kind == N_CONSTS && i < consts_in(n).n; i++) {
    const Syntax *typed = consts_in(n).at[i];
    if (!syntax_any(typed_value(typed), is_samples, w->names)) continue;
    Id e = diag_error(w->diags, typed_value(typed)->span,
                      "constant `%s` is computed from the samples, so it is another one for each "
                      "batch",
                      name_text(w->names, typed->name));
    diag_help(
        w->diags, e,
        "without `const` it is a wire of the batch; a `state` keeps what was seen in training");
  }
  return false;
}

static void prepare_file(Elab *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < program_declarations(s->tree).n; i++) {
    const Syntax *n = program_declarations(s->tree).at[i];
    if (n->kind == N_BOX || n->kind == N_LEARN || n->kind == N_REFINE)
      syntax_any(n, check_const, in->w);
    switch (n->kind) {
    case N_REFINE: do_refine(in, s, n); break;
    case N_FREEZE: do_freeze(in, s, n); break;
    case N_STALE: do_stale(in, s, n); break;
    case N_GIVEN: do_given(in, p, s, n, NULL); break;
    case N_MACHINE: p->machines++; break;
    default: break;
    }
  }
}

// Reports unknown names in a constant expression that is evaluated only where it is used.
static void check_names(Elab *in, Scope *s, const Syntax *n) {
  Body b = {.in = in, .w = in->w};
  if (n->kind == N_NAME && !scope_meaning(s, n) &&
      strcmp(name_text(in->w->names, n->name), "inf") && !is_box(&b, env_new(in, NULL, s, &b), n))
    unknown_in(in, s, n, "wire or value");
  bool sum = n->kind == N_SUM || n->kind == N_PROD || n->kind == N_NEG || n->kind == N_POW ||
             n->kind == N_PAREN;
  for (uint32_t i = 0; sum && i < syntax_parts(n).n; i++) check_names(in, s, syntax_parts(n).at[i]);
}

// Tries it on matrices of numbers, then of bits.
static void check_optimiser(Elab *in, Program *p, const Def *d) {
  const char *name = name_text(in->w->names, d->name);
  Type numbers = weight_type(in->w, BASE_R, 2, d->span),
       bits = weight_type(in->w, BASE_BIT, 2, d->span);
  if (!elab_optimiser(in, p, name, NULL, numbers, true) &&
      !elab_optimiser(in, p, name, NULL, bits, true))
    elab_optimiser(in, p, name, NULL, numbers, false);
}

static bool has_text(const char *text, size_t n, const char *word) {
  size_t length = strlen(word);
  const char *end = text + n;
  for (const char *at = text; length && (size_t)(end - at) >= length; at++) {
    at = memchr(at, *word, (size_t)(end - at) - length + 1);
    if (!at) return false;
    if (memcmp(at, word, length) == 0) return true;
  }
  return false;
}

// Is it among the declarations to check (elab_words)?
static bool is_asked_about(const Elab *in, const Def *d) {
  Span span = d->node->span;
  const char *text = in->w->sources->file.at[span.file].text + span.at;
  for (uint32_t i = 0; in->words && in->words[i]; i++)
    if (has_text(text, span.n, in->words[i])) return true;
  return !in->words;
}

// A constant that nothing uses fits its type, too. Files are read only if they are used.
static void check_declared_const(Elab *in, Def *d) {
  const Syntax *value = typed_value(d->node);
  uint32_t before = in->w->diags->met;
  if (value) check_names(in, d->scope, value);
  if (in->w->diags->met == before && value && value->kind != N_STR && typed_type(d->node))
    const_value(body_new(in, d->name), d, d->span);
  if (in->w->diags->met > before) d->broken = true;
}

static void check_boxes(Elab *in, Program *p, Scope *s) {
  for (uint32_t i = 0; i < table_count(s->names); i++) {
    Def *d = in->def.at[table_value(s->names, i)];
    if (d->scope != s) continue; // declared in a learning diagram
    if (d->kind == DEF_AXIS) axis_size(in, d);
    if (d->kind == DEF_SPACE && !space_is_index(in, d->scope, space_types(d->node))) {
      Types t = {0};
      space_points(in, d, &t);
      if (space_distance(d->node)) distance_is_box(in, d->scope, space_distance(d->node));
      vec_push(in->w->arena, &p->space, d);
    }
    if (d->kind == DEF_BOX) vec_push(in->w->arena, &p->box, d);
    if (d->kind == DEF_LEARNER || d->kind == DEF_STALE) vec_push(in->w->arena, &p->learner, d);
    if (d->kind == DEF_CONST && !d->broken) check_declared_const(in, d);
    if (d->kind == DEF_OPTIMISER && !d->broken) check_optimiser(in, p, d);
    if (d->kind != DEF_BOX || d->broken || !is_asked_about(in, d)) continue;
    uint32_t errors = in->w->diags->met;
    Body *b = instance_alone(in, d, NULL, NULL);
    if (in->w->diags->met > errors)
      d->broken = true;
    else
      d->alone = b;
  }
}

static void check_learners(Elab *in, Program *p) {
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Def *d = p->learner.at[i];
    if (d->broken || d->kind == DEF_STALE) continue;
    uint32_t errors = in->w->diags->met;
    if (learner_has_input(d)) {
      Body *b = instance_alone(in, d, family_of(d) ? ".0" : NULL, NULL);
      d->made = b ? b->d : NULL;
    } else {
      Body *b = body_new(in, d->name);
      b->env = env_new(in, NULL, d->scope, b);
      learner_weight(b, d, NULL, family_of(d) ? ".0" : NULL, d->span);
    }
    if (in->w->diags->met > errors) d->broken = true;
  }
}

static bool
is_overridden(const Program *p,
              const Syntax *goal) { // does the program itself declare a goal of this name?
  Nodes all = program_declarations(p->tree);
  for (uint32_t i = 0; i < all.n; i++)
    if (goal->name && all.at[i]->kind == goal->kind && all.at[i]->name == goal->name &&
        all.at[i] != goal)
      return true;
  return false;
}

// Makes the goals and measures of all files: a file that refines a learner of another file trains
// it by that file's goals.
static void make_goals(Elab *in, Program *p, uint32_t first) {
  for (uint32_t k = in->scope.n; k-- > first;) {
    p->acting = in->scope.at[k];
    const Syntax *tree = p->acting->tree;
    Nodes all = program_declarations(tree);
    for (uint32_t i = 0; i < all.n; i++) {
      if (all.at[i]->kind == N_GOAL && !(tree != p->tree && is_overridden(p, all.at[i])))
        do_goal(in, p, all.at[i], NULL, NULL);
      if (all.at[i]->kind == N_FOR && !loop_has_runs(all.at[i])) do_loop(in, p, all.at[i]);
    }
    learnings_goals(in, p, p->acting);
    for (uint32_t i = 0; i < all.n; i++)
      if (all.at[i]->kind == N_MEASURE && !(tree != p->tree && is_overridden(p, all.at[i])))
        do_measure(in, p, all.at[i]);
  }
  check_columns(in, p);
  Nodes own = program_declarations(p->tree);
  for (uint32_t i = 0; i < own.n; i++)
    if (own.at[i]->kind == N_TRAIN) do_train(in, p, own.at[i]);
  do_machines(in, p);
}

// Solves deferred equations between sizes until nothing changes.
static void settle_sizes(Elab *in) {
  World *w = in->w;
  bool moved = true;
  while (moved) {
    moved = false;
    for (uint32_t i = 0; i < in->open.n; i++) {
      OpenEquation *o = &in->open.at[i];
      if (!o->what) continue;
      SizeAnswer a = size_equate(w, o->left, o->right, false);
      if (a == SIZES_OPEN) continue;
      if (a == SIZES_CLASH) {
        Id e = diag_error(w->diags, o->span, "sizes disagree for %s: %s and %s", o->what,
                          size_text(w, o->left), size_text(w, o->right));
        if (o->other.at != o->span.at) diag_note(w->diags, e, o->other, "the other place");
      }
      o->what = NULL;
      moved = true;
    }
  }
  for (uint32_t i = 0; i < in->open.n; i++) {
    const OpenEquation *o = &in->open.at[i];
    Ids vars = {0};
    if (!o->what) continue;
    size_vars(w, o->left, &vars);
    size_vars(w, o->right, &vars);
    Buf names = buf_new(w->arena);
    for (uint32_t k = 0; k < vars.n; k++)
      buf_printf(&names, "%s%s", k ? " and " : "",
                 name_text(w->names, size_var_name(w, vars.at[k])));
    Id e = diag_error(w->diags, o->span,
                      "the sizes %s and %s must be equal here, which does not settle %s",
                      size_text(w, o->left), size_text(w, o->right), names.at);
    if (vars.n)
      diag_note(w->diags, e, size_var_span(w, vars.at[0]), "%s is not known",
                name_text(w->names, size_var_name(w, vars.at[0])));
  }
}

static bool is_frozen_somewhere(Elab *in, const Program *p, const Def *d) {
  for (uint32_t i = 0; i < p->learning.n; i++) {
    Ids frozen = learning_frozen(in, p->learning.at[i]);
    for (uint32_t k = 0; k < frozen.n; k++)
      if (frozen.at[k] == d->id) return true;
  }
  return false;
}

// Is a learner in some goal, and trained by one?
typedef struct {
  bool has, moved;
} LearnerUse;

static void use_param(World *w, const Program *p, const Table *named, const Param *x, bool moved,
                      LearnerUse *use) {
  for (size_t n = 1; x->rooted && x->path[0] && x->path[n - 1]; n++) {
    if (x->path[n] && x->path[n] != '/' && x->path[n] != '.') continue;
    Id k = table_get(named, x->path, n);
    if (!k || !def_owns(w, x, p->learner.at[k - 1], NULL)) continue;
    use[k - 1].has = true;
    use[k - 1].moved |= moved;
  }
}

static LearnerUse *learners_used(World *w, const Program *p) { // NULL: errors are reported
  LearnerUse *use = NEW_ARRAY(w->arena, LearnerUse, p->learner.n + 1);
  Table *named = table_new(w->arena);
  for (uint32_t i = 0; i < p->learner.n; i++) {
    const char *name = name_text(w->names, p->learner.at[i]->name);
    if (p->learner.at[i]->scope == p->scope) table_put(named, name, strlen(name), i + 1);
  }
  for (uint32_t g = 0; g < p->goal.n; g++) {
    const Diagram *d = p->goal.at[g].diagram;
    if (!d) return NULL;
    for (uint32_t k = 0; k < d->param.n; k++)
      use_param(w, p, named, &d->param.at[k], p->goal.at[g].trains[k], use);
  }
  return use;
}

static void idle_learners(Elab *in, const Program *p) {
  World *w = in->w;
  const LearnerUse *use = p->goal.n ? learners_used(w, p) : NULL;
  for (uint32_t i = 0; use && i < p->learner.n; i++) {
    const Def *d = p->learner.at[i];
    if (d->kind != DEF_LEARNER || d->frozen || d->scope != p->scope || d->broken) continue;
    if (is_frozen_somewhere(in, p, d)) continue;
    Ids own = {0};
    add_whole_learner(in, (Def *)d, &own);
    if (!use[i].moved && !d->refitted && !(own.n > 1 && !use[i].has))
      diag_warning(w->diags, d->span, "no goal moves learner `%s`", name_text(w->names, d->name));
  }
}

// `stale` and `from` are of the weights of one learner. Warns of learners in it that they leave out,
// unless these are frozen, or have a `from` of their own.
static void tell_left_out(Elab *in, Def *d) {
  World *w = in->w;
  const Def *learner = learner_of(d);
  const char *name = name_text(w->names, d->name);
  bool copy = d->kind == DEF_STALE;
  Ids all = {0};
  add_whole_learner(in, (Def *)learner, &all);
  for (uint32_t i = 1; i < all.n; i++) {
    const Def *inner = in->def.at[all.at[i]];
    const char *left = name_text(w->names, inner->name);
    if (inner->kind != DEF_LEARNER || inner->frozen || inner->broken) continue;
    if (!copy && learner_from(inner->node)) continue;
    Id e = diag_warning(
        w->diags, d->span,
        copy ? "`%s` is a copy of `%s` alone: `%s`, which that uses, is not delayed, and goals "
               "through the copy train it"
             : "the run gives `%s` its own weights: `%s` also uses `%s`, which starts anew",
        name, copy ? name_text(w->names, d->of->name) : name, left);
    diag_help(w->diags, e,
              copy ? "what is declared inside the learner, `learn %s = …`, is copied too"
                   : "`learn %s … from` takes its weights from the run as well",
              left);
  }
}

static void learners_left_out(Elab *in, const Program *p) {
  for (uint32_t i = 0; i < p->learner.n; i++) {
    Def *d = p->learner.at[i];
    if (d->broken || !learner_of(d) || d->scope != p->scope) continue;
    if (d->kind == DEF_STALE || learner_from(d->node)) tell_left_out(in, d);
  }
}

Program *elab_program(Elab *in, const char *path, const char *text, size_t n) {
  World *w = in->w;
  Program *p = NEW(w->arena, Program);
  in->program = p;
  in->sample = size_var(w, name_from(w->names, "batch"), VAR_SAMPLE, (Span){0});
  uint32_t first = in->scope.n;
  p->scope = scope_load(in, path, text, n, in->library);
  p->tree = p->scope->tree;
  for (uint32_t i = in->scope.n; i-- > first;) spaces_set(in, in->scope.at[i], i == first);
  for (uint32_t i = in->scope.n; i-- > first + 1;) prepare_file(in, p, in->scope.at[i]);
  prepare_file(in, p, p->scope);
  check_stales(in);
  sets_read(in, p);
  for (uint32_t i = in->scope.n; i-- > first;) learnings_read(in, p, in->scope.at[i]);
  for (uint32_t i = in->scope.n; i-- > first;) learnings_name(in->scope.at[i]);
  check_learner_names(in, first);
  for (uint32_t i = in->scope.n; i-- > first;) check_boxes(in, p, in->scope.at[i]);
  learnings_check(in, p);
  check_learners(in, p);
  for (uint32_t i = in->scope.n; i-- > first;) check_machines(in, in->scope.at[i]);
  make_goals(in, p, first);
  settle_sizes(in);
  if (!w->diags->errors) unsolved_sizes(in, p);
  if (!w->diags->errors && !in->doubtful) idle_learners(in, p);
  if (!w->diags->errors && !in->doubtful) learners_left_out(in, p);
  diagrams_resolve(w);
  in->stop = NULL; // later questions about the program cannot be cancelled
  return p;
}

// -- parts of a program ---------------------------------------------------------------------------
const char *elab_names(Elab *in, Program *p, const char *text) {
  World *w = in->w;
  Nearest near = nearest_to(text);
  for (uint32_t i = 1; i < in->def.n; i++)
    if (in->def.at[i]->kind == DEF_BOX || in->def.at[i]->kind == DEF_LEARNER)
      nearest_try(&near, name_text(w->names, in->def.at[i]->name));
  for (uint32_t i = 0; i < p->goal.n; i++)
    nearest_try(&near, name_text(w->names, p->goal.at[i].name));
  for (uint32_t i = 0; i < p->measure.n; i++)
    nearest_try(&near, name_text(w->names, p->measure.at[i].name));
  return near.best;
}

// How well an instance represents a box: best without a batch axis, and with numeric sizes.
static uint32_t use_rank(World *w, const Diagram *d) {
  bool sample = false, numbers = true;
  int64_t n;
  for (uint32_t i = 0; i < d->in.n; i++) {
    const Type *t = &d->wire.at[d->in.at[i]].type;
    for (uint32_t k = 0; k < t->rank; k++) {
      sample |= t->axis[k].pass == PASS_SAMPLE;
      numbers &= size_value(w, size_now(w, t->axis[k].size), &n);
    }
  }
  return 1 + (sample ? 0u : 2u) + (numbers ? 1u : 0u);
}

// The best instance of a box in the program, and its use; or NULL.
static Body *first_use(Elab *in, const Def *d, Span *where) {
  Body *b = NULL;
  uint32_t best = 0;
  for (uint32_t i = 0; i < in->made_body.n; i++) {
    Body *next = in->made_body.at[i];
    uint32_t rank = next && next->def == d ? use_rank(in->w, next->d) : 0;
    if (rank > best) b = next, best = rank;
  }
  for (uint32_t i = 1; b && i < in->w->diagram.n; i++) {
    const Diagram *by = in->w->diagram.at[i];
    for (Id k = 1; k < by->box.n; k++)
      if (by->box.at[k].op == OP_call && by->box.at[k].callee == b->d) {
        *where = origin_span(in->w, by->box.at[k].origin);
        return b;
      }
  }
  return NULL;
}

// Elaborates a box with untyped inputs on vectors; NULL if that fails or it has options.
static Body *elaborate_on_vectors(Elab *in, Def *d) {
  World *w = in->w;
  const Syntax *params = d->kind == DEF_BOX ? box_params(d->node) : NULL;
  uint32_t n = params ? params_in(params).n : 0;
  if (!n || box_cfg(d->node)) return NULL;
  Axis row = {.label = name_from(w->names, "n")};
  row.size = size_var(w, row.label, VAR_LOCAL, d->span);
  Type *types = NEW_ARRAY(w->arena, Type, n);
  for (uint32_t i = 0; i < n; i++) types[i] = type_make(w, BASE_R, 1, &row);
  w->diags->muted++;
  Body *b = instance_alone(in, d, NULL, &(Instance){.nin = n, .in = types});
  w->diags->muted--;
  return b;
}

static bool has_open_axis(World *w, const Type *t) {
  int64_t n;
  for (uint32_t i = 0; i < t->rank; i++)
    if (!size_value(w, t->axis[i].size, &n)) return true;
  return false;
}

// The number of members of a family; 0: it is not known.
static int64_t family_size(Elab *in, Program *p, Def *d) {
  Body b = {.in = in, .w = in->w};
  int64_t n = 0;
  const Syntax *count = brackets_first(family_of(d));
  b.env = env_new(in, NULL, p->scope, &b);
  Size size = count ? size_eval(&b, family_env(&b, b.env, d), count, false) : 0;
  return size && size_value(in->w, size, &n) ? n : 0;
}

int64_t family_members(Elab *in, Program *p, const char *name) {
  Def *d = scope_find(p->scope, name_from(in->w->names, name));
  return d && is_learner(d) && family_of(d) ? family_size(in, p, d) : 0;
}

// head.1 or head[1], a member of a family: gives ".1". NULL: it is none, or has an error.
static Def *member_named(Elab *in, Program *p, const char *name, const char **member) {
  size_t n = strlen(name), end = n && name[n - 1] == ']' ? n - 1 : n, at = end;
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') at--;
  if (at < 2 || at == end || end - at > 9 || name[at - 1] != (end < n ? '[' : '.')) return NULL;
  const char *family = arena_format(in->w->arena, "%.*s", (int)(at - 1), name);
  Def *d = scope_find(p->scope, name_from(in->w->names, family));
  if (!d || !is_learner(d) || !family_of(d)) return NULL;
  int64_t k = strtol(name + at, NULL, 10), size = family_size(in, p, d);
  *member = arena_format(in->w->arena, ".%lld", (long long)k);
  if (!size || k < size) return d;
  diag_error(in->w->diags, (Span){0}, "there is no `%s`: the family has %lld, counted from 0", name,
             (long long)size);
  return NULL;
}

Diagram *elab_diagram(Elab *in, Program *p, const char *name, const Instance *how) {
  World *w = in->w;
  Name id = name_from(w->names, name);
  for (uint32_t i = 0; i < p->goal.n; i++)
    if (p->goal.at[i].name == id) return p->goal.at[i].diagram;
  for (uint32_t i = 0; i < p->measure.n; i++)
    if (p->measure.at[i].name == id) return p->measure.at[i].diagram;
  Def *d = scope_find(p->scope, id);
  if (scope_refuse_ambiguous(p->scope, id, (Span){0})) return NULL;
  const char *member = NULL;
  if (!d) d = member_named(in, p, name, &member);
  if (d && d->kind == DEF_MACHINE) return machine_diagram(in, d);
  if (!d || (d->kind != DEF_BOX && d->kind != DEF_LEARNER && d->kind != DEF_STALE)) return NULL;
  if (!learner_of(d)) return NULL; // it follows nothing
  uint32_t errors = w->diags->met;
  in->training = how && how->training;
  if (!member && family_of(d)) member = ".0";
  Body *b;
  if (learner_has_input(d) || d->kind == DEF_BOX) {
    b = instance_alone(in, d, member, how);
    if (b && d->kind != DEF_BOX && !(how && how->nin) &&
        b->d->in.n) { // as in a use, so that weight paths begin with the learner's name
      Type *types = NEW_ARRAY(w->arena, Type, b->d->in.n);
      bool open = false;
      for (uint32_t i = 0; i < b->d->in.n; i++) {
        types[i] = b->d->wire.at[b->d->in.at[i]].type;
        open |= has_open_axis(w, &types[i]);
      }
      Instance use = {.training = in->training, .nin = b->d->in.n, .in = types, .open = open};
      b = instance_alone(in, d, member, &use);
    }
  } else {
    b = body_new(in, id);
    b->env = env_new(in, NULL, d->scope, b);
    Value v = learner_weight(b, d, NULL, member, d->span);
    Id wire = v.at[0].error ? 0 : val_to_wire(b, &v.at[0], 0);
    if (wire) diagram_output(w, b->d, wire);
    body_finish(b);
  }
  in->training = false;
  if (!b && how && how->use && w->diags->met == errors) {
    b = first_use(in, d, how->use);
    if (!b) b = elaborate_on_vectors(in, d);
  }
  settle_sizes(in);
  diagrams_resolve(w);
  if (!b && w->diags->met == errors)
    diag_error(w->diags, d->span,
               "`%s` cannot be shown alone: only a use gives the types of its inputs", name);
  return b && w->diags->met == errors ? b->d : NULL;
}

bool elab_outside(Elab *in, Program *p, const Goal *g, Measure *out) {
  uint32_t errors = in->w->diags->met;
  in->w->diags->muted++;
  goal_outside(in, p, g, out);
  settle_sizes(in);
  in->w->diags->muted--;
  diagrams_resolve(in->w);
  return out->diagram && in->w->diags->met == errors;
}

bool elab_sides(Elab *in, Program *p, const Goal *g, Diagram *side[2], Ids fields[2]) {
  uint32_t errors = in->w->diags->met;
  Scope *acting = p->acting;
  in->w->diags->muted++;
  p->acting = g->scope;
  goal_sides(in, p, g, side, fields);
  p->acting = acting;
  settle_sizes(in);
  in->w->diags->muted--;
  diagrams_resolve(in->w);
  return in->w->diags->met == errors && side[0] && side[0]->out.n && (!side[1] || side[1]->out.n);
}
