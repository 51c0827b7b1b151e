// `show`: what is to be seen of a trained program. Expressions come in, a diagram goes out that has
// them as outputs, with the data it reads as inputs; and how they are to be looked at.
//
// `for t in [0, 0.5, 1]` needs no loop: t is a number with one more passing axis, as the samples
// have one. `confusion(f(x), y)` is the pair of both, to be
// counted; `generate[f]("to")` is text, which only grows letter by letter and has no diagram.
#include "lang/declare/statements.h"

#include <math.h>

// -- as -------------------------------------------------------------------------------------------
static bool is_view(Elab *in, const Syntax *name) {
  static const char *const views[] = {"images", "strip",     "scatter", "curves", "paths",
                                      "table",  "text",      "phase",   "wiring", "latent",
                                      "matrix", "spacetime", "bands"};
  const char *text = name_text(in->w->names, name->name);
  for (uint32_t i = 0; i < COUNT(views); i++)
    if (strcmp(views[i], text) == 0) return true;
  const char *near = nearest_name(text, views, COUNT(views));
  Id e = diag_error(in->w->diags, name->span, "there is no way to show things as `%s`", text);
  if (near) diag_help(in->w->diags, e, "did you mean `%s`?", near);
  return false;
}

static void read_options(Body *b, const Syntax *brackets, ShowAs *v) {
  for (uint32_t i = 0; i < brackets->nkid; i++) {
    const Syntax *item = brackets->kid[i]->nkid == 1 ? brackets->kid[i]->kid[0] : NULL;
    double k = 0;
    if (v->options < VIEW_OPTIONS && item && static_number(b, b->env, item, &k) && k >= 1 &&
        k <= 10000 && k == floor(k))
      v->option[v->options++] = k;
    else
      diag_error(b->w->diags, brackets->kid[i]->span,
                 "`%s` wants whole numbers here, as in `images[8, 8]`", v->name);
  }
}

void read_views(Body *b, const Syntax *as, Show *s) {
  if (as->nkid > VIEWS)
    diag_error(b->w->diags, as->span, "at most %d ways to show one thing", VIEWS);
  for (uint32_t i = 0; i < as->nkid && i < VIEWS; i++) {
    const Syntax *view = as->kid[i], *name = view->kind == N_AT ? view->kid[0] : view;
    if (!is_view(b->in, name)) continue;
    ShowAs *v = &s->view[s->views++];
    v->name = name_text(b->w->names, name->name);
    if (view->kind == N_AT) read_options(b, view->kid[1], v);
  }
}

// -- for ------------------------------------------------------------------------------------------
// The numbers as a list: those of a range are written out.
static const Syntax *listed(Body *b, const Syntax *range) {
  if (range->kind == N_LIST) return range;
  double low, high;
  if (!static_number(b, b->env, range->kid[0], &low) ||
      !static_number(b, b->env, range->kid[1], &high) || !(high >= low) || high - low > 1000) {
    diag_error(b->w->diags, range->span,
               "this runs over a list, or a range of at most 1000 numbers");
    return NULL;
  }
  Syntax *list = NEW(b->w->arena, Syntax);
  *list = (Syntax){.kind = N_LIST, .span = range->span, .nkid = (uint32_t)(high - low) + 1};
  list->kid = NEW_ARRAY(b->w->arena, Syntax *, list->nkid);
  for (uint32_t i = 0; i < list->nkid; i++) {
    list->kid[i] = NEW(b->w->arena, Syntax);
    *list->kid[i] = (Syntax){.kind = N_NUM, .num = low + i, .span = range->span};
  }
  return list;
}

static void read_moments(Body *b, const Syntax *forin, Show *s) {
  World *w = b->w;
  const Syntax *list = listed(b, forin->kid[0]);
  double *moment = list ? NEW_ARRAY(w->arena, double, list->nkid + 1) : NULL;
  s->over = forin->name;
  for (uint32_t i = 0; list && i < list->nkid; i++)
    if (!static_number(b, b->env, list->kid[i], &moment[i])) list = NULL;
  Value v = value_error(b, forin->span);
  if (list) {
    Axis axis = {.label = forin->name, .size = size_of(w, list->nkid), .pass = PASS_SAMPLE + 1};
    body_pass(b, axis.pass, axis);
    Type t = type_make(w, BASE_R, 1, &axis);
    v = list_value(b, b->env, list, name_text(w->names, forin->name), true, &t, forin->span);
    s->moments = list->nkid;
    s->moment = moment;
  }
  env_bind(b->env, forin->name, (Binding){.kind = BIND_VALUE, .value = v, .span = forin->span});
}

// -- what -----------------------------------------------------------------------------------------
static bool is_word(Elab *in, const Syntax *n, const char *word) {
  return n->kind == N_NAME && strcmp(name_text(in->w->names, n->name), word) == 0;
}

// confusion(a, b) becomes the tuple a, b.
static const Syntax *find_kind(Elab *in, const Syntax *expr, Show *s) {
  const Syntax *called = expr->kind == N_CALL ? expr->kid[0] : expr;
  if (is_word(in, called->kind == N_AT ? called->kid[0] : called, "generate")) s->kind = SHOW_TEXT;
  if (expr->kind != N_CALL || !is_word(in, called, "confusion")) return expr;
  s->kind = SHOW_CONFUSION;
  if (expr->nkid != 3)
    diag_error(in->w->diags, expr->span,
               "`confusion` wants what is predicted and what is true: `confusion(f(x), y)`");
  Syntax *both = NEW(in->w->arena, Syntax);
  *both =
      (Syntax){.kind = N_TUPLE, .span = expr->span, .nkid = expr->nkid - 1, .kid = expr->kid + 1};
  return both;
}

// Scores or a label, and a label of as many.
static void check_confusion(Body *b, const Value *v, Span span) {
  World *w = b->w;
  bool good = v->n == 2 && v->at[1].type.base == BASE_LABEL;
  for (uint32_t i = 0; i < v->n; i++)
    if (v->at[i].error) return;
  const Type *said = &v->at[0].type;
  good = good && (said->base == BASE_LABEL || (said->base == BASE_R && said->rank));
  if (!good)
    diag_error(w->diags, span, "`confusion` compares scores R[n], or a label, with a label {n}");
}

static void read_values(Body *b, const Syntax *expr, Show *s) {
  uint32_t errors = b->w->diags->errors;
  Value v = eval_alone(b, b->env, expr);
  if (s->kind == SHOW_CONFUSION) check_confusion(b, &v, expr->span);
  goal_outputs(b, v, &s->fields);
  if (b->w->diags->errors == errors && b->d->out.n) s->diagram = b->d;
}

void do_show(Elab *in, Program *p, const Syntax *n) {
  Show s = {.node = n};
  Body *b = goal_body(in, p, name_from(in->w->names, "shown"));
  const Syntax *as = clause(n, N_AS), *on = clause(n, N_ON), *forin = clause(n, N_FORIN),
               *every = clause(n, N_EVERY), *expr = find_kind(in, n->kid[0], &s);
  double steps = 0;
  if (as) read_views(b, as, &s);
  if (forin) read_moments(b, forin, &s);
  if (every && !(static_number(b, b->env, every->kid[0], &steps) && steps >= 1 && steps < 1e15))
    diag_error(in->w->diags, every->span, "`every` wants a number of steps");
  s.every = (uint64_t)steps;
  if (on) {
    Given g = {0};
    read_on(in, p, on, &g);
    s.set = g.set, s.split = g.split, s.path = g.path;
  }
  if (s.kind != SHOW_TEXT) read_values(b, expr, &s);
  vec_push(in->w->arena, &p->show, s);
}
